/* SPDX-License-Identifier: MIT
 *
 * See meet.h. Rank 0 serves the unique id and offers it on a socket; the others ask there until they have it. What
 * answers and is not rank 0 of this job does not know the cookie, and is passed over.
 *
 * A process may init and finalize any number of times under one launcher. So the name of rank 0's offer holds
 * a generation, how many times this process has joined: equal on all ranks, since init is collective.
 */
#include "bootstrap/meet.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"
#include "bootstrap/link.h"
#include "bootstrap/publish.h"
#include "bootstrap/siphash.h"
#include "bootstrap/uid.h"
#include "bootstrap/wire.h"

#define ASK_NS 1000000000u   /* for one service to answer as rank 0's offer would */
#define PAUSE_MIN_NS 200000u /* before asking again, doubling */
enum { PORTS = 16 };         /* port + 1 to + 16: the first free one is rank 0's */

/* A cookie of texts that every rank knows (NULL ends them) and of the generation; it makes the socket's name
 * too. */
void rs_meet_name(struct rs_meeting_point *point, const char *prefix, const char *const *texts)
{
    static atomic_uint generations;
    static const uint8_t key[16] = "rocshmem cookie"; /* a name, no secret */
    unsigned generation = atomic_fetch_add(&generations, 1) + 1;
    uint64_t cookie = rs_siphash(key, &generation, sizeof(generation));
    for (int i = 0; texts[i]; i++) {
        uint64_t part[2] = {cookie, rs_siphash(key, texts[i], strlen(texts[i]))};
        cookie = rs_siphash(key, part, sizeof(part));
    }
    point->cookie = cookie;
    snprintf(point->name, sizeof(point->name), "rocshmem-%s-%u-%016llx-%u", prefix, (unsigned)geteuid(),
             (unsigned long long)cookie, generation);
}

static int resolve(const struct rs_meeting_point *point, int port, int flags, struct addrinfo **list_out)
{
    char service[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
    snprintf(service, sizeof(service), "%d", port);
    int rc = getaddrinfo(point->address, service, &hints, list_out);
    if (rc == 0) return 0;
    return rs_fail(RS_E_BOOTSTRAP, "%s \"%.200s\" cannot be resolved: %s", point->address_name,
                   point->address, gai_strerror(rc));
}

static int listen_at(const struct addrinfo *at)
{
    int on = 1, off = 0, fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on,
               sizeof(on)); /* past connections of the last job do not matter */
    if (at->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* The first free port after MASTER_PORT, on all interfaces (on MASTER_ADDR alone when that is this host's
 * loopback). */
static int listen_tcp(const struct rs_meeting_point *point)
{
    struct rs_meeting_point any = *point;
    if (!point->loopback) any.address = NULL;
    int error = EADDRINUSE;
    for (int port = point->port + 1; port <= point->port + PORTS && port <= 65535; port++) {
        struct addrinfo *list;
        RS_TRY(resolve(&any, port, AI_PASSIVE, &list));
        int fd = -1;
        for (int family6 = 1; family6 >= 0; family6--) /* an IPv6 socket serves IPv4 too */
            for (struct addrinfo *at = list; at && fd < 0; at = at->ai_next)
                if ((at->ai_family == AF_INET6) == family6) fd = listen_at(at);
        error = errno;
        freeaddrinfo(list);
        if (fd >= 0) return fd;
    }
    return rs_fail(RS_E_BOOTSTRAP, "rank 0 could not listen on any port from %d to %d (%s + 1 to + %d): %s",
                   point->port + 1, point->port + PORTS, point->port_name, PORTS, strerror(error));
}

/* The name may be held by this job's last offer, which is about to end. */
static int listen_unix(const struct rs_meeting_point *point, uint64_t deadline_ns)
{
    uint64_t pause_ns = PAUSE_MIN_NS;
    for (;;) {
        int fd = rs_os_unix_listen(point->name);
        if (fd >= 0 || errno != EADDRINUSE) return fd;
        int rc = rs_link_pause(&pause_ns, deadline_ns);
        if (rc == RS_E_TIMEOUT)
            return rs_fail(RS_E_BOOTSTRAP,
                           "the abstract Unix socket \"%s\" is in use; is a job with the same %s "
                           "environment still running",
                           point->name, point->launcher);
        if (rc < 0) return rc;
    }
}

static int meet_as_first(const struct rs_meeting_point *point, const struct rs_config *config,
                         struct rs_bootstrap *bootstrap_out)
{
    rocshmem_uniqueid_t uid;
    struct rs_publisher *publisher = NULL;
    RS_TRY(rs_uid_serve_once(config, point->loopback, true, &uid));
    int rc = point->address ? listen_tcp(point) : listen_unix(point, rs_link_deadline(config->bootstrap_ns));
    if (rc >= 0) rc = rs_publisher_create(rc, !point->address, point->cookie, &uid, &publisher);
    if (rc == 0) rc = rs_bootstrap_uid(bootstrap_out, config, &uid, point->rank, point->nranks);
    rs_publisher_destroy(publisher); /* all have come, or none will */
    if (rc < 0) rs_uid_stop(&uid);   /* else it ends by itself, when all have closed */
    return rc;
}

/* One try on the host: 0, SYSTEM, TIMEOUT, or what the hook said. */
static int ask_unix(const struct rs_meeting_point *point, rocshmem_uniqueid_t *uid_out)
{
    int fd = rs_os_unix_connect(point->name);
    if (fd < 0) return fd;
    int rc = rs_os_peer_is_us(fd) ? rs_publish_ask(fd, point->cookie, rs_os_now_ns() + ASK_NS, uid_out)
                                  : rs_fail(RS_E_SYSTEM, "another user holds the socket");
    close(fd);
    return rc;
}

/* One try at all the ports. */
static int ask_tcp(const struct rs_meeting_point *point, rocshmem_uniqueid_t *uid_out)
{
    int rc = RS_E_SYSTEM;
    for (int port = point->port + 1; port <= point->port + PORTS && port <= 65535; port++) {
        struct addrinfo *list;
        RS_TRY(resolve(point, port, 0, &list));
        for (struct addrinfo *at = list; at; at = at->ai_next) {
            rc = rs_link_connect(at->ai_addr, at->ai_addrlen, rs_os_now_ns() + ASK_NS);
            if (rc >= 0) {
                int fd = rc;
                rc = rs_publish_ask(fd, point->cookie, rs_os_now_ns() + ASK_NS, uid_out);
                close(fd);
            }
            if (rc == 0 || (rc != RS_E_SYSTEM && rc != RS_E_TIMEOUT)) break;
        }
        freeaddrinfo(list);
        if (rc == 0 || (rc != RS_E_SYSTEM && rc != RS_E_TIMEOUT)) break;
    }
    return rc;
}

static int meet_as_other(const struct rs_meeting_point *point, const struct rs_config *config,
                         struct rs_bootstrap *bootstrap_out)
{
    rocshmem_uniqueid_t uid;
    uint64_t deadline_ns = rs_link_deadline(config->bootstrap_ns), pause_ns = PAUSE_MIN_NS;
    for (;;) {
        int rc = point->address ? ask_tcp(point, &uid) : ask_unix(point, &uid);
        if (rc == 0) return rs_bootstrap_uid(bootstrap_out, config, &uid, point->rank, point->nranks);
        if (rc != RS_E_SYSTEM && rc != RS_E_TIMEOUT) return rc;
        char where[300], waited[32], why[128];
        snprintf(why, sizeof(why), "%.120s", rs_error_slot()->text);
        rc = rs_link_pause(&pause_ns, deadline_ns);
        if (rc == 0) continue;
        if (rc != RS_E_TIMEOUT) return rc;
        rs_wire_seconds_text(waited, sizeof(waited), config->bootstrap_ns);
        if (point->address)
            snprintf(where, sizeof(where), "%.200s ports %d to %d", point->address, point->port + 1,
                     point->port + PORTS);
        else
            snprintf(where, sizeof(where), "the abstract Unix socket \"%s\"", point->name);
        return rs_fail_pe(
            RS_E_BOOTSTRAP, 0,
            "rank %d of %d (%s) did not find rank 0 within %s at %s (last: %s); does rank 0 call init too",
            point->rank, point->nranks, point->launcher, waited, where, why);
    }
}

int rs_meet(const struct rs_meeting_point *point, const struct rs_config *config,
            struct rs_bootstrap *bootstrap_out)
{
    int rc = point->rank == 0 ? meet_as_first(point, config, bootstrap_out)
                              : meet_as_other(point, config, bootstrap_out);
    if (rc < 0) return rc;
    bootstrap_out->launcher = point->launcher;
    bootstrap_out->server = 0;
    return 0;
}
