/* SPDX-License-Identifier: MIT
 *
 * How a host's line to host 0 comes about. Host 0's side runs in the vigil's thread and waits for nobody: a visitor has
 * a place until it has proved the key, or is late, or is the oldest when places run out. The other side runs in the
 * thread that is in init. A stranger learns from host 0 that something listens there, and a random number.
 */
#include "bootstrap/vigil_inside.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"
#include "bootstrap/address.h"
#include "bootstrap/link.h"
#include "bootstrap/siphash.h"

#define VISITOR_NS 5000000000u /* a hello must be complete by then */
#define CONNECT_NS 3000000000u /* for one address to answer */
#define RETRY_MIN_NS 1000000u  /* between two rounds over the addresses, doubling */

uint64_t rs_vigil_mac(const uint64_t key[2], char letter, const struct rs_vigil_challenge *challenge,
                      const struct rs_vigil_hello *hello)
{
    unsigned char text[1 + sizeof(*challenge) + offsetof(struct rs_vigil_hello, mac)] = {
        (unsigned char)letter};
    uint8_t bytes[16];
    memcpy(bytes, key, sizeof(bytes));
    memcpy(text + 1, challenge, sizeof(*challenge));
    memcpy(text + 1 + sizeof(*challenge), hello, offsetof(struct rs_vigil_hello, mac));
    return rs_siphash(bytes, text, sizeof(text));
}

static void set_nodelay(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* ---- host 0 ---- */

static void send_away(struct rs_vigil *vigil, struct rs_visitor *visitor)
{
    if (visitor->fd >= 0) rs_vigil_close_fd(vigil, visitor->fd);
    visitor->fd = -1;
}

/* A free place, made free at the cost of who has been silent for longest. */
static struct rs_visitor *place_of(struct rs_vigil *vigil)
{
    struct rs_visitor *oldest = &vigil->visitors[0];
    for (int i = 0; i < RS_VISITORS; i++) {
        struct rs_visitor *visitor = &vigil->visitors[i];
        if (visitor->fd < 0) return visitor;
        if (visitor->since_ns < oldest->since_ns) oldest = visitor;
    }
    send_away(vigil, oldest);
    return oldest;
}

/* When descriptors have run out: strangers may have them, for a while. */
static void no_accept(struct rs_vigil *vigil, int error)
{
    if (error == EAGAIN || error == EWOULDBLOCK) return;
    for (int i = 0; i < RS_VISITORS; i++) {
        if (vigil->visitors[i].fd < 0) continue;
        send_away(vigil, &vigil->visitors[i]);
        return;
    }
    char text[160];
    snprintf(text, sizeof(text), "the job's first host can't take the others' connections: %s%s",
             strerror(error), error == EMFILE ? "; raise its limit of open files (ulimit -n)" : "");
    rs_vigil_fail(vigil, text);
}

void rs_vigil_accept(struct rs_vigil *vigil, int listener)
{
    for (int i = 0; vigil->visitors && i < 64; i++) { /* level-triggered: more in the next turn */
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (fd < 0) {
            no_accept(vigil, errno);
            return;
        }
        struct rs_visitor *visitor = place_of(vigil);
        *visitor = (struct rs_visitor){.fd = fd,
                                       .since_ns = vigil->now_ns,
                                       .challenge = {.magic = RS_VIGIL_MAGIC, .version = RS_VIGIL_VERSION}};
        set_nodelay(fd);
        rs_os_random(visitor->challenge.nonce, sizeof(visitor->challenge.nonce));
        /* Into an empty send buffer: it takes all, or the connection is of no use. */
        ssize_t n = send(fd, &visitor->challenge, sizeof(visitor->challenge), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n != (ssize_t)sizeof(visitor->challenge) ||
            !rs_vigil_watch(vigil, fd, RS_EVENT_VISITOR, (int)(visitor - vigil->visitors)))
            send_away(vigil, visitor);
    }
}

/* Is the hello, as far as it has come, one of ours? */
static bool is_stranger(const struct rs_visitor *visitor)
{
    uint32_t magic = RS_VIGIL_MAGIC;
    size_t n = visitor->n_hello < sizeof(magic) ? visitor->n_hello : sizeof(magic);
    return memcmp(&visitor->hello.magic, &magic, n) != 0;
}

static void admit(struct rs_vigil *vigil, struct rs_visitor *visitor)
{
    const struct rs_vigil_options *o = &vigil->options;
    const struct rs_vigil_hello *hello = &visitor->hello;
    bool ours = hello->version == RS_VIGIL_VERSION && hello->job == o->job && hello->n_hosts == o->n_hosts &&
                hello->mac == rs_vigil_mac(o->key, 'c', &visitor->challenge, hello);
    if (!ours || hello->host < 1 || hello->host >= o->n_hosts ||
        vigil->lines[hello->host].state != RS_LINE_ABSENT) {
        send_away(vigil, visitor);
        return;
    }
    struct rs_vigil_verdict verdict = {.magic = RS_VIGIL_MAGIC,
                                       .version = RS_VIGIL_VERSION,
                                       .mac = rs_vigil_mac(o->key, 's', &visitor->challenge, hello)};
    int fd = visitor->fd;
    if (send(fd, &verdict, sizeof(verdict), MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof(verdict)) {
        send_away(vigil, visitor);
        return;
    }
    visitor->fd = -1;
    rs_vigil_came(vigil, hello->host, fd); /* may be the last one: no visitors then */
}

void rs_visitor_ready(struct rs_vigil *vigil, struct rs_visitor *visitor)
{
    while (visitor->fd >= 0) {
        ssize_t n = recv(visitor->fd, (unsigned char *)&visitor->hello + visitor->n_hello,
                         sizeof(visitor->hello) - visitor->n_hello, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n > 0) visitor->n_hello += (uint32_t)n;
        if (n <= 0 || is_stranger(visitor)) {
            send_away(vigil, visitor);
        } else if (visitor->n_hello == sizeof(visitor->hello)) {
            admit(vigil, visitor);
            return;
        }
    }
}

void rs_visitors_tick(struct rs_vigil *vigil)
{
    for (int i = 0; vigil->visitors && i < RS_VISITORS; i++)
        if (vigil->visitors[i].fd >= 0 && vigil->now_ns - vigil->visitors[i].since_ns > VISITOR_NS)
            send_away(vigil, &vigil->visitors[i]);
}

void rs_visitors_close(struct rs_vigil *vigil)
{
    for (int i = 0; vigil->visitors && i < RS_VISITORS; i++) send_away(vigil, &vigil->visitors[i]);
    free(vigil->visitors);
    vigil->visitors = NULL;
}

/* ---- another host ---- */

enum outcome { JOINED, NEXT_ADDRESS, GIVEN_UP, FAILED };
struct attempt {
    const struct rs_vigil_options *options;
    uint64_t deadline_ns; /* of this address */
    int rc;               /* of FAILED */
    char reason[80];      /* of NEXT_ADDRESS */
};

static enum outcome next_address(struct attempt *attempt, const char *what, int error)
{
    snprintf(attempt->reason, sizeof(attempt->reason), "%s%s%s", what, error ? ": " : "",
             error ? strerror(error) : "");
    return NEXT_ADDRESS;
}

/* Until fd is ready: JOINED. */
static enum outcome await(struct attempt *attempt, int fd, short events)
{
    for (;;) {
        struct pollfd ready[] = {{.fd = fd, .events = events},
                                 {.fd = attempt->options->bootstrap, .events = POLLIN}};
        int n = poll(ready, 2, 10);
        if (n > 0 && ready[0].revents) return JOINED;
        if (n > 0) return GIVEN_UP;
        attempt->rc = rs_link_hook();
        if (attempt->rc < 0) return FAILED;
        if (rs_os_now_ns() >= attempt->deadline_ns) return next_address(attempt, "no answer", 0);
    }
}

static enum outcome receive(struct attempt *attempt, int fd, void *data, size_t nbytes)
{
    for (size_t at = 0; at < nbytes;) {
        ssize_t n = recv(fd, (char *)data + at, nbytes - at, MSG_DONTWAIT);
        if (n > 0) {
            at += (size_t)n;
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            enum outcome outcome = await(attempt, fd, POLLIN);
            if (outcome != JOINED) return outcome;
        } else if (n == 0 || errno != EINTR) {
            return next_address(attempt, "closed", n == 0 ? 0 : errno);
        }
    }
    return JOINED;
}

static enum outcome connect_to(struct attempt *attempt, int fd, const struct sockaddr *to, socklen_t length)
{
    int error = 0;
    socklen_t error_length = sizeof(error);
    if (connect(fd, to, length) == 0) return JOINED;
    if (errno != EINPROGRESS && errno != EINTR) return next_address(attempt, "connect", errno);
    enum outcome outcome = await(attempt, fd, POLLOUT);
    if (outcome != JOINED) return outcome;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_length);
    return error ? next_address(attempt, "connect", error) : JOINED;
}

static enum outcome introduce(struct attempt *attempt, int fd)
{
    const struct rs_vigil_options *o = attempt->options;
    struct rs_vigil_challenge challenge;
    struct rs_vigil_verdict verdict;
    enum outcome outcome = receive(attempt, fd, &challenge, sizeof(challenge));
    if (outcome != JOINED) return outcome;
    if (challenge.magic != RS_VIGIL_MAGIC || challenge.version != RS_VIGIL_VERSION)
        return next_address(attempt, "another service answers there", 0);
    struct rs_vigil_hello hello = {.magic = RS_VIGIL_MAGIC,
                                   .version = RS_VIGIL_VERSION,
                                   .host = o->host,
                                   .n_hosts = o->n_hosts,
                                   .job = o->job};
    rs_os_random(hello.nonce, sizeof(hello.nonce));
    hello.mac = rs_vigil_mac(o->key, 'c', &challenge, &hello);
    int rc = rs_os_send_all(fd, &hello, sizeof(hello), attempt->deadline_ns);
    if (rc < 0) return next_address(attempt, "lost", errno);
    outcome = receive(attempt, fd, &verdict, sizeof(verdict));
    if (outcome != JOINED) return outcome;
    if (verdict.magic != RS_VIGIL_MAGIC || verdict.mac != rs_vigil_mac(o->key, 's', &challenge, &hello))
        return next_address(attempt, "what answers there does not know the job's key", 0);
    return JOINED;
}

static enum outcome try_address(struct attempt *attempt, const struct rs_uid_address *address, int *fd_out)
{
    struct sockaddr_storage to;
    socklen_t length = rs_address_socket(address, &to);
    uint64_t deadline_ns = rs_os_now_ns() + CONNECT_NS;
    attempt->deadline_ns =
        deadline_ns < attempt->options->deadline_ns ? deadline_ns : attempt->options->deadline_ns;
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return next_address(attempt, "socket", errno);
    set_nodelay(fd);
    enum outcome outcome = connect_to(attempt, fd, (struct sockaddr *)&to, length);
    if (outcome == JOINED) outcome = introduce(attempt, fd);
    if (outcome == JOINED)
        *fd_out = fd;
    else
        close(fd);
    return outcome;
}

int rs_vigil_join(const struct rs_vigil_options *options, int *fd_out)
{
    struct rs_vigil_address there;
    struct rs_uid_address addresses[RS_UID_ADDRESSES];
    struct attempt attempt = {.options = options};
    memcpy(&there, options->address, sizeof(there));
    int n = 0;
    *fd_out = -1;
    while (n < RS_UID_ADDRESSES && there.addresses[n].family) n++;
    n = rs_address_order(there.addresses, n, there.host_id, addresses);
    for (uint64_t pause_ns = RETRY_MIN_NS;;) {
        char tried[500] = "none", text[RS_ADDRESS_TEXT];
        size_t at = 0;
        for (int i = 0; i < n; i++) {
            enum outcome outcome = try_address(&attempt, &addresses[i], fd_out);
            if (outcome == JOINED || outcome == GIVEN_UP) return 0;
            if (outcome == FAILED) return attempt.rc;
            rs_address_text(&addresses[i], text);
            at += (size_t)snprintf(tried + at, sizeof(tried) - at, "%s%s (%s)", i ? ", " : "", text,
                                   attempt.reason);
            if (at >= sizeof(tried)) at = sizeof(tried) - 1;
        }
        if (rs_os_now_ns() >= options->deadline_ns)
            return rs_fail(RS_E_BOOTSTRAP,
                           "host %d of %d could not reach the job's first host in time; tried %s; is a "
                           "firewall between them, or is ROCSHMEM_BOOTSTRAP_SOCKET_IFNAME to name another "
                           "interface",
                           options->host, options->n_hosts, tried);
        int rc = rs_link_pause(&pause_ns, options->deadline_ns);
        if (rc < 0 && rc != RS_E_TIMEOUT) return rc;
    }
}
