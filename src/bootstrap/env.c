/* SPDX-License-Identifier: MIT
 *
 * The job that the environment describes. The launchers are tried in the order of the table at the end; each
 * has a predicate over the environment and a way to get the unique id to every rank, after which all go the
 * way of rs_bootstrap_uid.
 *
 * A process may init and finalize any number of times under one launcher. So the name of rank 0's offer holds
 * a generation, how many times this process has joined: equal on all ranks, since init is collective.
 */
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "base/status.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/link.h"
#include "bootstrap/publish.h"
#include "bootstrap/siphash.h"
#include "bootstrap/uid.h"
#include "bootstrap/wire.h"

#define ASK_NS 1000000000u   /* for one service to answer as rank 0's offer would */
#define PAUSE_MIN_NS 200000u /* before asking again, doubling */
enum { PORTS = 16 };         /* MASTER_PORT + 1 to + 16: the first free one is rank 0's */

/* ---- variables ---- */

/* A variable's value; NULL when it is unset or empty. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int number(const char *name, long min, long max, int *out)
{
    const char *text = variable(name);
    char *end;
    errno = 0;
    long value = text ? strtol(text, &end, 10) : 0;
    if (!text || errno || *end || value < min || value > max)
        return rs_fail(RS_E_CONFIG, "%s is \"%.100s\"; give a whole number from %ld to %ld", name,
                       text ? text : "", min, max);
    *out = (int)value;
    return 0;
}

static int rank_and_size(const char *rank_name, const char *size_name, int *rank_out, int *size_out)
{
    RS_TRY(number(size_name, 1, INT_MAX, size_out));
    return number(rank_name, 0, (long)*size_out - 1, rank_out);
}

static int alone(struct rs_bootstrap *bootstrap_out, const char *launcher)
{
    *bootstrap_out = (struct rs_bootstrap){
        .nranks = 1, .socket = -1, .deadline_ns = UINT64_MAX, .launcher = launcher, .where = "this process"};
    return 0;
}

/* ---- rank 0 offers, the others ask ---- */

struct meeting_point { /* where, as all ranks work it out */
    const char *launcher;
    int rank, nranks;
    uint64_t cookie;
    char name[96];       /* of the abstract Unix socket: a job on one host */
    const char *address; /* NULL, or with port: a job on several hosts */
    int port;
    bool loopback; /* the rendezvous needs no other interface */
};

/* A cookie of texts that every rank knows (NULL ends them) and of the generation; it makes the socket's name
 * too. */
static void name_meeting_point(struct meeting_point *point, const char *prefix, const char *const *texts)
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

static int resolve(const struct meeting_point *point, int port, int flags, struct addrinfo **list_out)
{
    char service[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
    snprintf(service, sizeof(service), "%d", port);
    int rc = getaddrinfo(point->address, service, &hints, list_out);
    if (rc == 0) return 0;
    return rs_fail(RS_E_BOOTSTRAP, "MASTER_ADDR \"%.200s\" cannot be resolved: %s", point->address,
                   gai_strerror(rc));
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
static int listen_tcp(const struct meeting_point *point)
{
    struct meeting_point any = *point;
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
    return rs_fail(RS_E_BOOTSTRAP,
                   "rank 0 could not listen on any port from %d to %d (MASTER_PORT + 1 to + %d): %s",
                   point->port + 1, point->port + PORTS, PORTS, strerror(error));
}

/* The name may be held by this job's last offer, which is about to end. */
static int listen_unix(const struct meeting_point *point, uint64_t deadline_ns)
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

static int meet_as_first(const struct meeting_point *point, const struct rs_config *config,
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
static int ask_unix(const struct meeting_point *point, rocshmem_uniqueid_t *uid_out)
{
    int fd = rs_os_unix_connect(point->name);
    if (fd < 0) return fd;
    int rc = rs_os_peer_is_us(fd) ? rs_publish_ask(fd, point->cookie, rs_os_now_ns() + ASK_NS, uid_out)
                                  : rs_fail(RS_E_SYSTEM, "another user holds the socket");
    close(fd);
    return rc;
}

/* One try at all the ports. */
static int ask_tcp(const struct meeting_point *point, rocshmem_uniqueid_t *uid_out)
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

static int meet_as_other(const struct meeting_point *point, const struct rs_config *config,
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

static int meet(const struct meeting_point *point, const struct rs_config *config,
                struct rs_bootstrap *bootstrap_out)
{
    int rc = point->rank == 0 ? meet_as_first(point, config, bootstrap_out)
                              : meet_as_other(point, config, bootstrap_out);
    if (rc < 0) return rc;
    bootstrap_out->launcher = point->launcher;
    bootstrap_out->server = 0;
    return 0;
}

/* ---- the launchers ---- */

static bool is_rocshmem_run(void)
{
    return variable("ROCSHMEM_RUN_SOCKET") && variable("ROCSHMEM_RUN_RANK") && variable("ROCSHMEM_RUN_SIZE");
}

/* The launcher serves the rendezvous, and hands the unique id to processes of its user. */
static int join_rocshmem_run(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    int rank, nranks;
    rocshmem_uniqueid_t uid;
    RS_TRY(rank_and_size("ROCSHMEM_RUN_RANK", "ROCSHMEM_RUN_SIZE", &rank, &nranks));
    const char *name = variable("ROCSHMEM_RUN_SOCKET");
    int fd = rs_os_unix_connect(name);
    if (fd < 0)
        return rs_fail(
            RS_E_BOOTSTRAP,
            "could not reach rocshmem-run at ROCSHMEM_RUN_SOCKET \"%.100s\": %s; is it still running", name,
            strerror(errno));
    int rc = rs_os_peer_is_us(fd)
                 ? rs_link_receive(fd, &uid, sizeof(uid), rs_link_deadline(config->bootstrap_ns))
                 : rs_fail(RS_E_SYSTEM, "it belongs to another user");
    close(fd);
    if (rc == RS_E_SYSTEM || rc == RS_E_TIMEOUT) {
        char why[128];
        snprintf(why, sizeof(why), "%.120s", rs_error_slot()->text);
        return rs_fail(RS_E_BOOTSTRAP, "rocshmem-run at ROCSHMEM_RUN_SOCKET \"%.100s\" gave no unique id: %s",
                       name, why);
    }
    RS_TRY(rc);
    RS_TRY(rs_bootstrap_uid(bootstrap_out, config, &uid, rank, nranks));
    bootstrap_out->launcher = "rocshmem-run";
    return 0;
}

static bool is_torchrun(void)
{
    return variable("RANK") && variable("WORLD_SIZE") && variable("MASTER_ADDR") && variable("MASTER_PORT");
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static int join_torchrun(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    struct meeting_point point = {.launcher = "torchrun"};
    int local = 0;
    RS_TRY(rank_and_size("RANK", "WORLD_SIZE", &point.rank, &point.nranks));
    RS_TRY(number("MASTER_PORT", 1, 65535, &point.port));
    if (variable("LOCAL_WORLD_SIZE")) RS_TRY(number("LOCAL_WORLD_SIZE", 1, INT_MAX, &local));
    if (point.nranks == 1) return alone(bootstrap_out, point.launcher);
    const char *address = variable("MASTER_ADDR");
    const char *const texts[] = {address,
                                 variable("MASTER_PORT"),
                                 or_empty(variable("TORCHELASTIC_RUN_ID")),
                                 or_empty(variable("TORCHELASTIC_RESTART_COUNT")),
                                 variable("WORLD_SIZE"),
                                 NULL};
    name_meeting_point(&point, "torchrun", texts);
    bool one_host = local == point.nranks;
    point.address = one_host ? NULL : address;
    point.loopback = one_host || strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 ||
                     strcmp(address, "localhost") == 0;
    return meet(&point, config, bootstrap_out);
}

static const char *open_mpi_job(void)
{
    const char *space = variable("PMIX_NAMESPACE");
    return space ? space : variable("OMPI_MCA_ess_base_jobid");
}

static bool is_open_mpi(void)
{
    return variable("OMPI_COMM_WORLD_RANK") && variable("OMPI_COMM_WORLD_SIZE") && open_mpi_job();
}

static int join_open_mpi(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    struct meeting_point point = {.launcher = "Open MPI", .loopback = true};
    int local = 0;
    RS_TRY(rank_and_size("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", &point.rank, &point.nranks));
    if (variable("OMPI_COMM_WORLD_LOCAL_SIZE"))
        RS_TRY(number("OMPI_COMM_WORLD_LOCAL_SIZE", 1, INT_MAX, &local));
    if (point.nranks == 1) return alone(bootstrap_out, point.launcher);
    if (local != point.nranks)
        return rs_fail(
            RS_E_UNSUPPORTED,
            "mpirun started %d PEs, %d of them on this host: a job over several hosts under mpirun needs "
            "init_with_mpi or a unique id in this version",
            point.nranks, local);
    const char *const texts[] = {open_mpi_job(), variable("OMPI_COMM_WORLD_SIZE"), NULL};
    name_meeting_point(&point, "mpi", texts);
    return meet(&point, config, bootstrap_out);
}

static bool is_anything(void)
{
    return true;
}

static int join_alone(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    (void)config;
    return alone(bootstrap_out, "none");
}

/* The order of trial: the first whose variables are all there. */
static const struct {
    const char *name;
    bool (*detect)(void);
    int (*join)(struct rs_bootstrap *bootstrap_out, const struct rs_config *config);
} launchers[] = {
    {"rocshmem-run", is_rocshmem_run, join_rocshmem_run},
    {"torchrun", is_torchrun, join_torchrun},
    {"Open MPI", is_open_mpi, join_open_mpi},
    {"none", is_anything, join_alone},
};

static int detect(void)
{
    int i = 0;
    while (!launchers[i].detect()) i++;
    return i;
}

const char *rs_bootstrap_detect(void)
{
    return launchers[detect()].name;
}

int rs_bootstrap_env(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    int i = detect();
    RS_TRY(launchers[i].join(bootstrap_out, config));
    rs_log(RS_LOG_INFO, "launcher %s rank %d of %d rendezvous %s", launchers[i].name, bootstrap_out->rank,
           bootstrap_out->nranks, bootstrap_out->where);
    return 0;
}
