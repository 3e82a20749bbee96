/* SPDX-License-Identifier: MIT
 *
 * See link.h. Called by threads of the program, in init.
 */
#include "bootstrap/link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"
#include "base/wait.h"
#include "bootstrap/bootstrap.h"

#define HOOK_MS 10 /* between two looks at the hook */
#define PAUSE_MAX_NS 100000000u

static _Atomic(int (*)(void)) wait_hook;

void rs_bootstrap_set_hook(int (*hook)(void))
{
    atomic_store(&wait_hook, hook);
}

int rs_link_hook(void)
{
    int (*hook)(void) = atomic_load(&wait_hook);
    return hook ? hook() : 0;
}

uint64_t rs_link_add_ns(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t rs_link_deadline(uint64_t timeout_ns)
{
    return timeout_ns ? rs_link_add_ns(rs_os_now_ns(), timeout_ns) : UINT64_MAX;
}

/* Until the socket is ready. 0, TIMEOUT, or what the hook said. */
static int wait_ready(int fd, short events, uint64_t deadline_ns)
{
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = events};
        uint64_t now = rs_os_now_ns(), ms = now >= deadline_ns ? 0 : (deadline_ns - now) / 1000000 + 1;
        if (poll(&ready, 1, ms < HOOK_MS ? (int)ms : HOOK_MS) > 0) return 0;
        RS_TRY(rs_link_hook());
        if (now < deadline_ns) continue;
        errno = ETIMEDOUT;
        return rs_fail(RS_E_TIMEOUT, "no answer in time");
    }
}

/* A connect to a port of this host where nobody listens yet may pick that very port as its own, and TCP then joins
 * the socket to itself: we would read our own bytes, and hold the port that the listener is about to take. */
static bool is_joined_to_itself(int fd)
{
    struct sockaddr_storage own = {0}, other = {0};
    socklen_t own_length = sizeof(own), other_length = sizeof(other);
    return getsockname(fd, (struct sockaddr *)&own, &own_length) == 0 &&
           getpeername(fd, (struct sockaddr *)&other, &other_length) == 0 && own_length == other_length &&
           memcmp(&own, &other, own_length) == 0;
}

int rs_link_connect(const struct sockaddr *address, socklen_t length, uint64_t deadline_ns)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return rs_fail(RS_E_SYSTEM, "could not create a socket: %s", strerror(errno));
    int rc = 0, error = 0, on = 1;
    if (connect(fd, address, length) != 0) {
        socklen_t error_length = sizeof(error);
        error = errno;
        if (error == EINPROGRESS || error == EINTR) {
            rc = wait_ready(fd, POLLOUT, deadline_ns);
            error = rc < 0 ? errno : 0;
            if (rc == 0) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_length);
        }
        if (rc == 0 && error) rc = rs_fail(RS_E_SYSTEM, "could not connect: %s", strerror(error));
    }
    if (rc == 0 && is_joined_to_itself(fd)) {
        const struct linger at_once = {.l_onoff = 1}; /* no TIME_WAIT: the port is free again */
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        error = ECONNREFUSED;
        rc = rs_fail(RS_E_SYSTEM, "could not connect: %s", strerror(error));
    }
    if (rc < 0) {
        close(fd);
        errno = error;
        return rc;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

int rs_link_receive(int fd, void *data, size_t nbytes, uint64_t deadline_ns)
{
    char *to = data;
    while (nbytes > 0) {
        ssize_t n = recv(fd, to, nbytes, MSG_DONTWAIT);
        if (n > 0) {
            to += n;
            nbytes -= (size_t)n;
            continue;
        }
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            RS_TRY(wait_ready(fd, POLLIN, deadline_ns));
            continue;
        }
        if (n == 0) errno = ECONNRESET;
        return rs_fail(RS_E_SYSTEM, "connection lost: %s", strerror(errno));
    }
    return 0;
}

int rs_link_pause(uint64_t *pause_ns, uint64_t deadline_ns)
{
    RS_TRY(rs_link_hook());
    uint64_t now = rs_os_now_ns();
    if (now >= deadline_ns) return rs_fail(RS_E_TIMEOUT, "no answer in time");
    rs_wait_sleep_ns(deadline_ns - now < *pause_ns ? deadline_ns - now : *pause_ns);
    *pause_ns = *pause_ns * 2 < PAUSE_MAX_NS ? *pause_ns * 2 : PAUSE_MAX_NS;
    return 0;
}
