/* SPDX-License-Identifier: MIT
 *
 * The rendezvous server's sockets: one thread, poll(2), no blocking call. See server.h for the words.
 *
 * Order matters in one place: in each turn, what members did is looked at before what visitors say. A PE that
 * left one job and comes for the next closed its old connection first, so its leaving is seen before its
 * coming.
 */
#include "bootstrap/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"

#define VISITOR_NS 10000000000u /* a hello must be complete by then */
#define LEAVER_NS 2000000000u   /* how long a connection may take for its last words */
#define DRAIN_NS 500000000u     /* the same, for all of them, when the server is destroyed */
#define DRAIN_TURN_NS 10000000u
#define PAUSE_NS 50000000u    /* no accept for so long when descriptors have run out */
enum { MAX_VISITORS = 2048 }; /* then the oldest goes */

/* ---- input ---- */

/* Where the next bytes go and how many are wanted. */
static uint8_t *input_place(struct rs_server *server, struct rs_conn *conn, size_t *wanted_out)
{
    if (conn->in_blob) {
        struct rs_meeting *meeting = &server->meeting;
        *wanted_out = meeting->blob_nbytes;
        return meeting->gather->bytes + sizeof(struct rs_wire_frame) +
               (size_t)conn->hello.rank * meeting->blob_nbytes;
    }
    *wanted_out = conn->state == RS_VISITOR ? sizeof(conn->buffer.hello) : sizeof(conn->buffer.frame);
    return (uint8_t *)&conn->buffer;
}

/* A visitor's first bytes tell a stranger early: it need not send a whole hello to be sent away. */
static bool is_stranger(const struct rs_conn *conn)
{
    uint32_t magic = RS_WIRE_MAGIC;
    size_t n = conn->in_nbytes < sizeof(magic) ? conn->in_nbytes : sizeof(magic);
    return memcmp(&conn->buffer.hello.magic, &magic, n) != 0;
}

static void take_message(struct rs_server *server, struct rs_conn *conn)
{
    bool blob = conn->in_blob;
    conn->in_nbytes = 0;
    conn->in_blob = false;
    if (conn->state == RS_VISITOR)
        rs_meeting_hello(server, conn);
    else if (blob)
        rs_meeting_blob(server, conn);
    else
        rs_meeting_frame(server, conn);
}

/* Read what is there, message by message. */
static void read_conn(struct rs_server *server, struct rs_conn *conn)
{
    uint8_t waste[512];
    for (int turn = 0; turn < 64 && conn->state != RS_CLOSED; turn++) { /* others want their turn too */
        bool discard = conn->state == RS_LEAVER || conn->state == RS_GUEST ||
                       (conn->state == RS_MEMBER && conn->arrived);
        size_t wanted = sizeof(waste);
        uint8_t *place = discard ? waste : input_place(server, conn, &wanted) + conn->in_nbytes;
        ssize_t n = recv(conn->fd, place, discard ? wanted : wanted - conn->in_nbytes, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n <= 0) {
            rs_conn_close(server, conn);
            return;
        }
        if (discard) continue; /* a member does not speak before its answer: noise */
        conn->in_nbytes += (size_t)n;
        if (conn->state == RS_VISITOR && is_stranger(conn))
            rs_meeting_stranger(server, conn,
                                "this is the rendezvous of a rocshmem job, which speaks no other protocol");
        else if (conn->in_nbytes == wanted)
            take_message(server, conn);
    }
}

/* ---- connections ---- */

static bool remember_conn(struct rs_server *server, struct rs_conn *conn)
{
    if (server->n_conns == server->conns_room) {
        int room = server->conns_room ? server->conns_room * 2 : 16;
        struct rs_conn **conns = realloc(server->conns, (size_t)room * sizeof(*conns));
        if (!conns) return false;
        server->conns = conns;
        server->conns_room = room;
    }
    server->conns[server->n_conns++] = conn;
    return true;
}

/* Close the visitor that has been silent for longest, when there are too many or when descriptors have run
 * out. */
static bool drop_oldest_visitor(struct rs_server *server)
{
    struct rs_conn *oldest = NULL;
    for (int i = 0; i < server->n_conns; i++) {
        struct rs_conn *conn = server->conns[i];
        if (conn->state == RS_VISITOR && (!oldest || conn->since_ns < oldest->since_ns)) oldest = conn;
    }
    if (oldest) rs_conn_close(server, oldest);
    return oldest != NULL;
}

static void greet(struct rs_server *server, int fd)
{
    struct rs_conn *conn = calloc(1, sizeof(*conn));
    if (!conn || !remember_conn(server, conn)) {
        free(conn);
        close(fd);
        return;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    conn->fd = fd;
    conn->since_ns = server->now_ns;
    conn->challenge = (struct rs_wire_challenge){.magic = RS_WIRE_MAGIC, .version = RS_WIRE_VERSION};
    rs_os_random(conn->challenge.nonce, sizeof(conn->challenge.nonce));
    rs_conn_send(server, conn, &conn->challenge, sizeof(conn->challenge), NULL, 0);
}

static void accept_all(struct rs_server *server, int listener)
{
    for (int i = 0; i < 256; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            greet(server, fd);
            continue;
        }
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if ((errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) &&
            !drop_oldest_visitor(server))
            server->paused_ns = server->now_ns + PAUSE_NS;
        return;
    }
}

/* Time, and the end of closed connections. */
static void sweep(struct rs_server *server)
{
    int n_visitors = 0, kept = 0;
    for (int i = 0; i < server->n_conns; i++) {
        struct rs_conn *conn = server->conns[i];
        uint64_t age = server->now_ns - conn->since_ns;
        if ((conn->state == RS_VISITOR && age > VISITOR_NS) || (conn->state == RS_LEAVER && age > LEAVER_NS))
            rs_conn_close(server, conn);
        n_visitors += conn->state == RS_VISITOR;
    }
    for (; n_visitors > MAX_VISITORS && drop_oldest_visitor(server); n_visitors--)
        ;
    for (int i = 0; i < server->n_conns; i++) {
        struct rs_conn *conn = server->conns[i];
        if (conn->state == RS_CLOSED)
            free(conn);
        else
            server->conns[kept++] = conn;
    }
    server->n_conns = kept;
}

/* ---- the thread ---- */

static int poll_timeout(const struct rs_server *server)
{
    uint64_t next = rs_meeting_deadline(server), now = rs_os_now_ns();
    for (int i = 0; i < server->n_conns; i++) {
        const struct rs_conn *conn = server->conns[i];
        uint64_t due = conn->state == RS_VISITOR  ? conn->since_ns + VISITOR_NS
                       : conn->state == RS_LEAVER ? conn->since_ns + LEAVER_NS
                                                  : UINT64_MAX;
        if (due < next) next = due;
    }
    if (server->paused_ns && server->paused_ns < next) next = server->paused_ns;
    if (server->draining && now + DRAIN_TURN_NS < next) next = now + DRAIN_TURN_NS;
    if (next == UINT64_MAX) return -1;
    if (next <= now) return 0;
    uint64_t ms = (next - now) / 1000000 + 1;
    return ms > 60000 ? 60000 : (int)ms;
}

/* One turn: wait, then members, visitors, new ones, time. False when there is no memory to go on. */
static bool turn(struct rs_server *server, struct pollfd **polls, int *room)
{
    int n_conns = server->n_conns, n = 1 + server->n_listeners, all = n + n_conns;
    if (!*polls || all > *room) {
        struct pollfd *more = realloc(*polls, (size_t)all * 2 * sizeof(*more));
        if (!more) return false;
        *polls = more;
        *room = all * 2;
    }
    struct pollfd *p = *polls;
    p[0] = (struct pollfd){.fd = server->draining ? -1 : server->wake_fd, .events = POLLIN};
    for (int i = 0; i < server->n_listeners; i++)
        p[1 + i] = (struct pollfd){.fd = server->paused_ns || server->draining ? -1 : server->listeners[i],
                                   .events = POLLIN};
    for (int i = 0; i < n_conns; i++)
        p[n + i] = (struct pollfd){.fd = server->conns[i]->fd,
                                   .events = (short)(POLLIN | (server->conns[i]->n_queue ? POLLOUT : 0))};
    poll(p, (nfds_t)all, poll_timeout(server));
    uint64_t woken; /* for stopping, or for lost_pe: both are looked at anyway */
    if (p[0].revents && read(server->wake_fd, &woken, sizeof(woken)) < 0) p[0].revents = 0;
    server->now_ns = rs_os_now_ns();
    if (server->paused_ns <= server->now_ns) server->paused_ns = 0;
    for (int visitors = 0; visitors < 2; visitors++) {
        for (int i = 0; i < n_conns; i++) {
            struct rs_conn *conn = server->conns[i];
            if (!p[n + i].revents || (conn->state == RS_VISITOR) != visitors || conn->state == RS_CLOSED)
                continue;
            if (p[n + i].revents & POLLOUT) rs_conn_flush(server, conn);
            if (p[n + i].revents & ~POLLOUT && conn->state != RS_CLOSED) read_conn(server, conn);
            if (!visitors) p[n + i].revents = 0; /* once a turn, whatever it has become */
        }
    }
    for (int i = 0; i < server->n_listeners; i++)
        if (p[1 + i].revents) accept_all(server, server->listeners[i]);
    rs_meeting_tick(server);
    sweep(server);
    return true;
}

/* Before the end: the members hear of it, and what is queued gets some time to leave. */
static void drain(struct rs_server *server, struct pollfd **polls, int *room)
{
    server->now_ns = rs_os_now_ns();
    uint64_t deadline_ns = server->now_ns + DRAIN_NS;
    server->draining = true;
    rs_meeting_stop(server);
    for (int i = 0; i < server->n_conns; i++) /* visitors and guests: the closed connection says it */
        if (server->conns[i]->state != RS_LEAVER) rs_conn_close(server, server->conns[i]);
    sweep(server);
    while (server->n_conns > 0 && server->now_ns < deadline_ns)
        if (!turn(server, polls, room)) break;
}

/* Close all descriptors and free all memory except the server itself. */
static void release_all(struct rs_server *server)
{
    for (int i = 0; i < server->n_conns; i++) {
        server->conns[i]->state =
            server->conns[i]->state == RS_CLOSED ? RS_CLOSED : RS_LEAVER; /* nobody is to hear of it */
        rs_conn_close(server, server->conns[i]);
        free(server->conns[i]);
    }
    rs_meeting_clear(server);
    free(server->conns);
    server->conns = NULL;
    server->n_conns = server->conns_room = 0;
    for (int i = 0; i < server->n_listeners; i++) close(server->listeners[i]);
    server->n_listeners = 0;
}

static void *server_main(void *arg)
{
    struct rs_server *server = arg;
    struct pollfd *polls = NULL;
    int room = 0;
    while (!atomic_load(&server->stopping) && !(server->once && server->n_jobs > 0))
        if (!turn(server, &polls, &room)) break;
    drain(server, &polls, &room);
    free(polls);
    release_all(server);
    atomic_store(&server->ended, true);
    return NULL;
}

int rs_server_create(const uint8_t secret[16], const int *listeners, int n, uint64_t timeout_ns, bool once,
                     struct rs_server **server_out)
{
    int rc = 0;
    struct rs_server *server = calloc(1, sizeof(*server));
    int wake_fd = server ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (!server)
        rc = rs_fail(RS_E_NOMEM, "no memory for the rendezvous of a unique id");
    else if (wake_fd < 0)
        rc =
            rs_fail(RS_E_SYSTEM, "could not create an event descriptor for a unique id: %s", strerror(errno));
    if (rc < 0) {
        for (int i = 0; i < n; i++) close(listeners[i]);
        free(server);
        return rc;
    }
    memcpy(server->secret, secret, sizeof(server->secret));
    memcpy(server->listeners, listeners, (size_t)n * sizeof(*listeners));
    server->n_listeners = n;
    server->timeout_ns = timeout_ns;
    server->once = once;
    server->wake_fd = wake_fd;
    atomic_init(&server->lost_pe, -1);
    server->pid = getpid();
    rc = rs_os_thread_start(&server->thread, "rocshmem-uid", server_main, server);
    server->threaded = rc == 0;
    if (rc < 0)
        rs_server_destroy(server);
    else
        *server_out = server;
    return rc;
}

bool rs_server_ended(const struct rs_server *server)
{
    return atomic_load(&server->ended);
}

static void wake(struct rs_server *server)
{
    uint64_t one = 1;
    while (write(server->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

void rs_server_lose(struct rs_server *server, int pe, const char *text)
{
    if (atomic_load(&server->lost_pe) >= 0) return;
    snprintf(server->lost_text, sizeof(server->lost_text), "%s", text);
    atomic_store_explicit(&server->lost_pe, pe, memory_order_release);
    wake(server);
}

void rs_server_destroy(struct rs_server *server)
{
    if (!server) return;
    bool ours = server->pid == getpid();
    if (server->threaded && ours) {
        atomic_store(&server->stopping, true);
        wake(server);
        pthread_join(server->thread, NULL);
    } else {
        release_all(server);
    }
    close(server->wake_fd);
    free(server);
}
