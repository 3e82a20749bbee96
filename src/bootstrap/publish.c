/* SPDX-License-Identifier: MIT
 *
 * Rank 0's offer of a unique id, see publish.h: one thread, poll(2), a fixed number of callers at a time. A
 * caller that says nothing holds up nobody: it is dropped when its place is needed.
 */
#include "bootstrap/publish.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"
#include "bootstrap/link.h"

#define PUBLISH_MAGIC 0x42505352u /* "RSPB" */
enum { PUBLISH_VERSION = 1, MAX_CALLERS = 128 };

struct ask {
    uint32_t magic, version;
    uint64_t cookie;
};

struct answer {
    struct ask same; /* as it was asked */
    rocshmem_uniqueid_t uid;
};

struct caller {
    int fd;
    size_t nbytes; /* of ask so far */
    struct ask ask;
};

struct rs_publisher {
    pthread_t thread;
    int listener, wake_fd;
    bool ours_only;
    struct answer answer;
    struct caller callers[MAX_CALLERS]; /* in the order in which they came */
    int n_callers;
};

static void drop(struct rs_publisher *publisher, int i)
{
    close(publisher->callers[i].fd);
    publisher->n_callers--;
    memmove(&publisher->callers[i], &publisher->callers[i + 1],
            (size_t)(publisher->n_callers - i) * sizeof(publisher->callers[0]));
}

static void accept_caller(struct rs_publisher *publisher)
{
    int fd = accept4(publisher->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if ((errno == EMFILE || errno == ENFILE) && publisher->n_callers > 0) drop(publisher, 0);
        return;
    }
    if (publisher->ours_only && !rs_os_peer_is_us(fd)) {
        close(fd);
        return;
    }
    if (publisher->n_callers == MAX_CALLERS) drop(publisher, 0);
    publisher->callers[publisher->n_callers++] = (struct caller){.fd = fd};
}

/* Read on. True when the caller is done with: answered, gone, or a stranger. */
static bool serve_caller(struct rs_publisher *publisher, struct caller *caller)
{
    ssize_t n =
        recv(caller->fd, (char *)&caller->ask + caller->nbytes, sizeof(caller->ask) - caller->nbytes, 0);
    if (n < 0) return errno != EAGAIN && errno != EINTR;
    caller->nbytes += (size_t)n;
    if (n > 0 && caller->nbytes < sizeof(caller->ask)) return false;
    if (n > 0 && memcmp(&caller->ask, &publisher->answer.same, sizeof(caller->ask)) == 0) {
        ssize_t sent = send(caller->fd, &publisher->answer, sizeof(publisher->answer), MSG_NOSIGNAL);
        (void)sent; /* it fits into any socket's buffer, or the caller is gone */
    }
    return true;
}

static void *publisher_main(void *arg)
{
    struct rs_publisher *publisher = arg;
    struct pollfd polls[2 + MAX_CALLERS];
    for (;;) {
        int n = publisher->n_callers;
        polls[0] = (struct pollfd){.fd = publisher->wake_fd, .events = POLLIN};
        polls[1] = (struct pollfd){.fd = publisher->listener, .events = POLLIN};
        for (int i = 0; i < n; i++)
            polls[2 + i] = (struct pollfd){.fd = publisher->callers[i].fd, .events = POLLIN};
        if (poll(polls, (nfds_t)n + 2, -1) < 0 && errno != EINTR) break;
        if (polls[0].revents) break;
        for (int i = n - 1; i >= 0; i--)
            if (polls[2 + i].revents && serve_caller(publisher, &publisher->callers[i])) drop(publisher, i);
        if (polls[1].revents) accept_caller(publisher);
    }
    while (publisher->n_callers > 0) drop(publisher, publisher->n_callers - 1);
    return NULL;
}

int rs_publisher_create(int listener, bool ours_only, uint64_t cookie, const rocshmem_uniqueid_t *uid,
                        struct rs_publisher **publisher_out)
{
    struct rs_publisher *publisher = calloc(1, sizeof(*publisher));
    if (!publisher) {
        close(listener);
        return rs_fail(RS_E_NOMEM, "no memory to offer the unique id to the other ranks");
    }
    publisher->listener = listener;
    publisher->ours_only = ours_only;
    publisher->answer.same = (struct ask){PUBLISH_MAGIC, PUBLISH_VERSION, cookie};
    publisher->answer.uid = *uid;
    publisher->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = publisher->wake_fd < 0
                 ? rs_fail(RS_E_SYSTEM, "could not create an event descriptor: %s", strerror(errno))
                 : 0;
    if (rc == 0) rc = rs_os_thread_start(&publisher->thread, "rocshmem-offer", publisher_main, publisher);
    if (rc < 0) {
        if (publisher->wake_fd >= 0) close(publisher->wake_fd);
        close(listener);
        free(publisher);
        return rc;
    }
    *publisher_out = publisher;
    return 0;
}

void rs_publisher_destroy(struct rs_publisher *publisher)
{
    if (!publisher) return;
    uint64_t one = 1;
    while (write(publisher->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    pthread_join(publisher->thread, NULL);
    close(publisher->wake_fd);
    close(publisher->listener);
    free(publisher);
}

int rs_publish_ask(int fd, uint64_t cookie, uint64_t deadline_ns, rocshmem_uniqueid_t *uid_out)
{
    struct ask ask = {PUBLISH_MAGIC, PUBLISH_VERSION, cookie};
    struct answer answer;
    RS_TRY(rs_os_send_all(fd, &ask, sizeof(ask), deadline_ns));
    RS_TRY(rs_link_receive(fd, &answer, sizeof(answer), deadline_ns));
    if (memcmp(&answer.same, &ask, sizeof(ask)) != 0) {
        errno = EPROTO;
        return rs_fail(RS_E_SYSTEM, "another service answers there");
    }
    *uid_out = answer.uid;
    return 0;
}
