/* SPDX-License-Identifier: MIT
 *
 * The life of a vigil, its thread, and what it makes of news. Host 0 hands on what it hears, so every host is told
 * everything over one connection, in the order of each teller.
 *
 * Silence is counted in lived time: a turn of the thread adds the time since the last turn, but never more than
 * turn_ns. When this process was stopped, starved or suspended, the time it could not listen is hardly counted, and
 * what came meanwhile is read before anybody is judged. So a job that is stopped and continued as a whole blames
 * nobody, however far apart its hosts continue, up to the time-out.
 */
#include "bootstrap/vigil.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"
#include "base/wait.h"
#include "bootstrap/address.h"
#include "bootstrap/link.h"
#include "bootstrap/vigil_inside.h"

#define LOOK_NS 20000000u
#define BEAT_MOST_NS 2000000000u
#define BEAT_LEAST_NS 5000000u
#define TURN_MOST_NS 1000000000u
#define TURN_LEAST_NS 40000000u
#define CHECK_MOST_NS 250000000u
#define LINGER_NS 1000000000u /* how long stop waits for others to take the last words */
enum { EVENTS = 64 };

/* ---- forked children ---- */

/* A child that goes on without exec would keep the connections open when this process dies, and nobody would hear of
 * that at once: it closes them. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rs_vigil *all; /* under all_lock */
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&all_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&all_lock);
}

static void close_copy(_Atomic int *fd)
{
    int copy = atomic_exchange_explicit(fd, -1, memory_order_relaxed);
    if (copy >= 0) close(copy);
}

static void in_child(void)
{
    for (struct rs_vigil *vigil = all; vigil; vigil = vigil->next) {
        for (int i = 0; i < vigil->n_lines; i++) close_copy(&vigil->lines[i].fd);
        for (int i = 0; i < vigil->n_listeners; i++) close_copy(&vigil->listeners[i]);
    }
    pthread_mutex_unlock(&all_lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

/* ---- descriptors ---- */

bool rs_vigil_watch(struct rs_vigil *vigil, int fd, uint32_t kind, int index)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = rs_event(kind, (uint32_t)index)};
    if (epoll_ctl(vigil->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0) return true;
    return errno == EEXIST && epoll_ctl(vigil->epoll_fd, EPOLL_CTL_MOD, fd, &event) == 0;
}

void rs_vigil_close_fd(struct rs_vigil *vigil, int fd)
{
    epoll_ctl(vigil->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    close(fd);
}

static void stop_listening(struct rs_vigil *vigil)
{
    for (int i = 0; i < vigil->n_listeners; i++) {
        int fd = atomic_exchange_explicit(&vigil->listeners[i], -1, memory_order_relaxed);
        if (fd >= 0) rs_vigil_close_fd(vigil, fd);
    }
    rs_visitors_close(vigil);
}

static void wake(struct rs_vigil *vigil)
{
    uint64_t one = 1;
    while (write(vigil->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

/* ---- news ---- */

static int host_of(const struct rs_vigil *vigil, const struct rs_line *line)
{
    return vigil->options.host == 0 ? (int)(line - vigil->lines) : 0;
}

static bool is_stopping(struct rs_vigil *vigil)
{
    return atomic_load_explicit(&vigil->stopping, memory_order_acquire);
}

static void deliver(struct rs_vigil *vigil, const struct rs_news *news)
{
    if (vigil->options.news && !is_stopping(vigil)) vigil->options.news(vigil->options.arg, news);
}

/* Host 0: to all but one. Another host: to host 0. */
static void send_all(struct rs_vigil *vigil, struct rs_piece *piece, int except)
{
    for (int i = 0; i < vigil->n_lines; i++)
        if (vigil->options.host != 0 || i != except) rs_line_send(vigil, &vigil->lines[i], piece);
}

static void hand_on(struct rs_vigil *vigil, const struct rs_news *news)
{
    if (vigil->options.host != 0 || news->kind == RS_NEWS_SEEN) return;
    bool lost = news->kind == RS_NEWS_LOST;
    struct rs_piece *piece =
        rs_piece_create(news->kind, news->host, news->ended, lost ? (const void *)news->text : news->bytes,
                        lost ? strlen(news->text) : news->nbytes);
    send_all(vigil, piece, news->host);
    rs_piece_release(piece);
}

void rs_vigil_lost(struct rs_vigil *vigil, struct rs_line *line, bool ended, const char *text)
{
    struct rs_news news = {
        .kind = RS_NEWS_LOST, .host = host_of(vigil, line), .bytes = "", .ended = ended, .text = text};
    rs_line_close(vigil, line);
    if (is_stopping(vigil)) return; /* the others close too */
    if (vigil->options.host == 0 && vigil->n_joined < vigil->options.n_hosts) {
        char why[200];
        snprintf(why, sizeof(why), "host %d of %d %s during start-up", news.host, vigil->options.n_hosts,
                 text);
        rs_vigil_fail(vigil, why);
    }
    hand_on(vigil, &news);
    deliver(vigil, &news);
}

void rs_vigil_heard(struct rs_vigil *vigil, struct rs_line *line, const struct rs_vigil_frame *frame,
                    const void *bytes)
{
    if (frame->kind == RS_FRAME_BEAT) return;
    if (frame->kind == RS_FRAME_BYE) {
        rs_line_close(vigil, line);
        return;
    }
    char text[RS_NEWS_NBYTES + 1] = "";
    bool lost = frame->kind == RS_NEWS_LOST;
    if (lost) memcpy(text, bytes, frame->nbytes);
    if (lost && vigil->options.host == 0) return; /* nobody tells us whom we lost */
    struct rs_news news = {.kind = frame->kind,
                           .host = vigil->options.host == 0 ? host_of(vigil, line) : frame->host,
                           .bytes = lost ? "" : bytes,
                           .nbytes = lost ? 0 : frame->nbytes,
                           .ended = frame->ended,
                           .text = text};
    hand_on(vigil, &news); /* first: the callback of an exit does not return */
    deliver(vigil, &news);
}

/* Give the lines what was told; *n_out: how many pieces that were in all. */
static void take_told(struct rs_vigil *vigil, uint64_t *n_out)
{
    pthread_mutex_lock(&vigil->lock);
    struct rs_piece *piece = vigil->told_first;
    vigil->told_first = vigil->told_last = NULL;
    *n_out = vigil->n_told;
    pthread_mutex_unlock(&vigil->lock);
    while (piece) {
        struct rs_piece *next = piece->next;
        send_all(vigil, piece, 0);
        rs_piece_release(piece);
        piece = next;
    }
}

/* ---- joining ---- */

void rs_vigil_fail(struct rs_vigil *vigil, const char *text)
{
    if (atomic_load_explicit(&vigil->phase, memory_order_relaxed) != RS_VIGIL_JOINING) return;
    snprintf(vigil->why, sizeof(vigil->why), "%s", text);
    stop_listening(vigil);
    atomic_store_explicit(&vigil->phase, RS_VIGIL_FAILED, memory_order_release);
}

void rs_vigil_came(struct rs_vigil *vigil, int host, int fd)
{
    if (rs_line_open(vigil, &vigil->lines[host], fd) < 0) {
        close(fd);
        rs_vigil_fail(vigil, "the job's first host can't watch the others: epoll takes no more descriptors");
        return;
    }
    if (++vigil->n_joined < vigil->options.n_hosts) return;
    stop_listening(vigil);
    atomic_store_explicit(&vigil->phase, RS_VIGIL_WATCHING, memory_order_release);
}

static void check_deadline(struct rs_vigil *vigil)
{
    if (vigil->now_ns < vigil->options.deadline_ns) return;
    char list[160] = "others", text[300];
    int n_hosts = vigil->options.n_hosts, n = 2;
    bool *has = calloc((size_t)n_hosts, sizeof(*has));
    for (int i = 0; has && i < n_hosts; i++) has[i] = i == 0 || vigil->lines[i].state != RS_LINE_ABSENT;
    if (has) n = rs_wire_ranks_text(list, sizeof(list), has, false, n_hosts);
    free(has);
    snprintf(text, sizeof(text),
             "%s %s did not reach the job's first host in time; is a firewall between them, or is "
             "ROCSHMEM_BOOTSTRAP_SOCKET_IFNAME to name another interface",
             n == 1 ? "host" : "hosts", list);
    rs_vigil_fail(vigil, text);
}

/* ---- the thread ---- */

static void check_silence(struct rs_vigil *vigil)
{
    uint64_t timeout_ns = vigil->options.timeout_ns;
    vigil->next_check_ns =
        vigil->now_ns +
        (vigil->beat_ns && vigil->beat_ns / 2 < CHECK_MOST_NS ? vigil->beat_ns / 2 : CHECK_MOST_NS);
    rs_visitors_tick(vigil);
    if (atomic_load_explicit(&vigil->phase, memory_order_relaxed) == RS_VIGIL_JOINING) check_deadline(vigil);
    for (int i = 0; timeout_ns && i < vigil->n_lines; i++) {
        struct rs_line *line = &vigil->lines[i];
        if (line->state != RS_LINE_OPEN || vigil->lived_ns - line->heard_ns < timeout_ns) continue;
        char text[80], seconds[32];
        rs_wire_seconds_text(seconds, sizeof(seconds), timeout_ns);
        snprintf(text, sizeof(text), "gave no sign of life for %s", seconds);
        rs_vigil_lost(vigil, line, false, text);
    }
}

static void beat(struct rs_vigil *vigil)
{
    struct rs_piece *piece = rs_piece_create(RS_FRAME_BEAT, vigil->options.host, false, NULL, 0);
    vigil->next_beat_ns = vigil->now_ns + vigil->beat_ns;
    for (int i = 0; piece && i < vigil->n_lines; i++) {
        struct rs_line *line = &vigil->lines[i];
        if (line->first) /* it has something to say, and does not take it */
            rs_line_ready(vigil, line, false, true);
        else
            rs_line_send(vigil, line, piece);
    }
    rs_piece_release(piece);
}

static int wait_ms(const struct rs_vigil *vigil)
{
    uint64_t most_ns = vigil->turn_ns / 2, next_ns = vigil->now_ns + most_ns, now = rs_os_now_ns();
    if (vigil->options.look && vigil->next_look_ns < next_ns) next_ns = vigil->next_look_ns;
    if (vigil->beat_ns && vigil->next_beat_ns < next_ns) next_ns = vigil->next_beat_ns;
    return next_ns <= now ? 0 : (int)((next_ns - now + 999999u) / 1000000u);
}

static void handle(struct rs_vigil *vigil, const struct epoll_event *event)
{
    uint32_t kind = (uint32_t)(event->data.u64 >> 32), index = (uint32_t)event->data.u64;
    uint64_t woken;
    if (kind == RS_EVENT_WAKE) {
        while (read(vigil->wake_fd, &woken, sizeof(woken)) < 0 && errno == EINTR)
            ;
    } else if (kind == RS_EVENT_LISTENER) {
        int fd = atomic_load_explicit(&vigil->listeners[index], memory_order_relaxed);
        if (fd >= 0) rs_vigil_accept(vigil, fd);
    } else if (kind == RS_EVENT_VISITOR) {
        if (vigil->visitors) rs_visitor_ready(vigil, &vigil->visitors[index]);
    } else {
        rs_line_ready(vigil, &vigil->lines[index], event->events & ~(uint32_t)EPOLLOUT,
                      event->events & EPOLLOUT);
    }
}

static void turn(struct rs_vigil *vigil)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(vigil->epoll_fd, events, EVENTS, wait_ms(vigil));
    uint64_t now = rs_os_now_ns(), passed = now - vigil->now_ns, told;
    vigil->lived_ns += passed < vigil->turn_ns ? passed : vigil->turn_ns;
    vigil->now_ns = now;
    for (int i = 0; i < n; i++) handle(vigil, &events[i]);
    take_told(vigil, &told);
    if (vigil->n_busy == 0) atomic_store_explicit(&vigil->n_sent, told, memory_order_release);
    if (vigil->beat_ns && now >= vigil->next_beat_ns) beat(vigil);
    if (n < EVENTS && now >= vigil->next_check_ns) check_silence(vigil); /* all that came has been read */
    if (vigil->options.look && now >= vigil->next_look_ns) {
        vigil->next_look_ns = now + LOOK_NS;
        vigil->options.look(vigil->options.arg);
    }
}

static bool has_open_line(const struct rs_vigil *vigil)
{
    for (int i = 0; i < vigil->n_lines; i++)
        if (vigil->lines[i].state == RS_LINE_OPEN) return true;
    return false;
}

/* The last words: what broke since the last look, what was told, then BYE. Others close when they have read it. */
static void part(struct rs_vigil *vigil)
{
    uint64_t told, deadline_ns = rs_os_now_ns() + LINGER_NS;
    stop_listening(vigil);
    if (vigil->options.look)
        vigil->options.look(vigil->options.arg); /* this process may know more than it told */
    take_told(vigil, &told);
    struct rs_piece *bye = rs_piece_create(RS_FRAME_BYE, vigil->options.host, false, NULL, 0);
    send_all(vigil, bye, 0);
    rs_piece_release(bye);
    vigil->options.look = NULL;
    vigil->beat_ns = 0;
    while (has_open_line(vigil) && rs_os_now_ns() < deadline_ns) turn(vigil);
}

static void *vigil_main(void *arg)
{
    struct rs_vigil *vigil = arg;
    while (!is_stopping(vigil)) turn(vigil);
    part(vigil);
    return NULL;
}

/* ---- for others ---- */

static void vigil_free(struct rs_vigil *vigil)
{
    for (int i = 0; i < vigil->n_lines; i++) rs_line_close(vigil, &vigil->lines[i]);
    stop_listening(vigil);
    while (vigil->told_first) {
        struct rs_piece *piece = vigil->told_first;
        vigil->told_first = piece->next;
        rs_piece_release(piece);
    }
    if (vigil->epoll_fd >= 0) close(vigil->epoll_fd);
    if (vigil->wake_fd >= 0) close(vigil->wake_fd);
    pthread_mutex_destroy(&vigil->lock);
    free(vigil->lines);
    free(vigil->in);
    free(vigil);
}

static int listen_there(const struct rs_config *config, struct rs_vigil *vigil, struct rs_vigil_address *here)
{
    int fds[RS_UID_ADDRESSES];
    int n = rs_address_list(config, false, here->addresses);
    if (n < 0) return n;
    n = rs_address_listen(here->addresses, n, fds, "the watch over the job's hosts");
    if (n < 0) return n;
    here->host_id = rs_os_host_id();
    for (int i = 0; i < n; i++) atomic_store_explicit(&vigil->listeners[i], fds[i], memory_order_relaxed);
    vigil->n_listeners = n;
    return 0;
}

int rs_vigil_listen(const struct rs_config *config, bool first, struct rs_vigil **vigil_out,
                    unsigned char address_out[RS_VIGIL_ADDRESS_NBYTES])
{
    struct rs_vigil_address here = {0};
    struct rs_vigil *vigil = calloc(1, sizeof(*vigil));
    if (!vigil) return rs_fail(RS_E_NOMEM, "no memory for the watch over the job's hosts");
    pthread_mutex_init(&vigil->lock, NULL);
    vigil->pid = getpid();
    vigil->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    vigil->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int rc = 0;
    if (vigil->wake_fd < 0 || vigil->epoll_fd < 0 || !rs_vigil_watch(vigil, vigil->wake_fd, RS_EVENT_WAKE, 0))
        rc = rs_fail(RS_E_SYSTEM, "could not create a descriptor for the watch over the job's hosts: %s",
                     strerror(errno));
    if (rc == 0 && first) rc = listen_there(config, vigil, &here);
    if (rc < 0) {
        vigil_free(vigil);
        return rc;
    }
    pthread_once(&fork_once, watch_forks);
    pthread_mutex_lock(&all_lock);
    vigil->next = all;
    all = vigil;
    pthread_mutex_unlock(&all_lock);
    memcpy(address_out, &here, sizeof(here));
    *vigil_out = vigil;
    return 0;
}

/* Until all have come: host 0's caller of start. */
static int await_all(struct rs_vigil *vigil)
{
    for (;;) {
        uint32_t phase = atomic_load_explicit(&vigil->phase, memory_order_acquire);
        if (phase == RS_VIGIL_WATCHING) return 0;
        if (phase == RS_VIGIL_FAILED) return rs_fail(RS_E_BOOTSTRAP, "%s", vigil->why);
        struct pollfd bootstrap = {.fd = vigil->options.bootstrap, .events = POLLIN};
        if (poll(&bootstrap, 1, 1) > 0) return 0; /* the exchange that follows says what failed */
        RS_TRY(rs_link_hook());
    }
}

/* What the thread needs; nothing of it is undone before vigil_free. */
static int prepare(struct rs_vigil *vigil)
{
    const struct rs_vigil_options *o = &vigil->options;
    int n_lines = o->host == 0 ? o->n_hosts : 1;
    struct rs_line *lines = calloc((size_t)n_lines, sizeof(*lines));
    vigil->in = malloc(RS_VIGIL_IN_NBYTES);
    if (o->host == 0) vigil->visitors = calloc(RS_VISITORS, sizeof(*vigil->visitors));
    if (!lines || !vigil->in || (o->host == 0 && !vigil->visitors)) {
        free(lines);
        return rs_fail(RS_E_NOMEM, "no memory to watch %d hosts", o->n_hosts);
    }
    for (int i = 0; i < n_lines; i++) atomic_init(&lines[i].fd, -1);
    for (int i = 0; vigil->visitors && i < RS_VISITORS; i++) vigil->visitors[i].fd = -1;
    pthread_mutex_lock(&all_lock); /* a child may be forked meanwhile */
    vigil->lines = lines;
    vigil->n_lines = n_lines;
    pthread_mutex_unlock(&all_lock);
    uint64_t fifth = o->timeout_ns / 5, quarter = o->timeout_ns / 4;
    vigil->beat_ns = fifth > BEAT_MOST_NS ? BEAT_MOST_NS : fifth < BEAT_LEAST_NS ? BEAT_LEAST_NS : fifth;
    vigil->turn_ns = quarter > TURN_MOST_NS || quarter == 0 ? TURN_MOST_NS
                     : quarter < TURN_LEAST_NS              ? TURN_LEAST_NS
                                                            : quarter;
    if (o->timeout_ns == 0) vigil->beat_ns = 0;
    vigil->now_ns = rs_os_now_ns();
    vigil->next_beat_ns = vigil->now_ns + vigil->beat_ns;
    for (int i = 0; i < vigil->n_listeners; i++)
        if (!rs_vigil_watch(vigil, atomic_load_explicit(&vigil->listeners[i], memory_order_relaxed),
                            RS_EVENT_LISTENER, i))
            return rs_fail(RS_E_SYSTEM, "could not watch the job's hosts: %s", strerror(errno));
    return 0;
}

int rs_vigil_start(struct rs_vigil *vigil, const struct rs_vigil_options *options)
{
    vigil->options = *options;
    if (options->n_hosts == 1) return 0;
    RS_TRY(prepare(vigil));
    vigil->n_joined = 1;
    if (options->host > 0) {
        int fd = -1;
        RS_TRY(rs_vigil_join(options, &fd));
        if (fd < 0) return 0;
        if (rs_line_open(vigil, &vigil->lines[0], fd) < 0) {
            close(fd);
            return rs_fail(RS_E_SYSTEM, "could not watch the job's first host: %s", strerror(errno));
        }
    }
    atomic_store_explicit(&vigil->phase, options->host == 0 ? RS_VIGIL_JOINING : RS_VIGIL_WATCHING,
                          memory_order_relaxed);
    vigil->threaded = true; /* the thread may tell already */
    int rc = rs_os_thread_start_small(&vigil->thread, "rocshmem-vigil", vigil_main, vigil);
    if (rc < 0) {
        vigil->threaded = false;
        return rc;
    }
    return await_all(vigil);
}

void rs_vigil_tell(struct rs_vigil *vigil, enum rs_news_kind kind, const void *bytes, size_t nbytes)
{
    if (!vigil->threaded || nbytes > RS_NEWS_NBYTES || kind < RS_NEWS_BROKEN || kind >= RS_NEWS_LOST) return;
    struct rs_piece *piece = rs_piece_create(kind, vigil->options.host, false, bytes, nbytes);
    if (!piece) return;
    pthread_mutex_lock(&vigil->lock);
    if (vigil->told_last)
        vigil->told_last->next = piece;
    else
        vigil->told_first = piece;
    vigil->told_last = piece;
    vigil->n_told++;
    pthread_mutex_unlock(&vigil->lock);
    wake(vigil);
}

bool rs_vigil_flush(struct rs_vigil *vigil, uint64_t deadline_ns)
{
    if (!vigil->threaded) return true;
    pthread_mutex_lock(&vigil->lock);
    uint64_t told = vigil->n_told;
    pthread_mutex_unlock(&vigil->lock);
    while (atomic_load_explicit(&vigil->n_sent, memory_order_acquire) < told) {
        if (rs_os_now_ns() >= deadline_ns) return false;
        rs_wait_sleep_ns(100000);
    }
    return true;
}

void rs_vigil_stop(struct rs_vigil *vigil)
{
    if (!vigil) return;
    pthread_mutex_lock(&all_lock);
    for (struct rs_vigil **at = &all; *at; at = &(*at)->next) {
        if (*at != vigil) continue;
        *at = vigil->next;
        break;
    }
    pthread_mutex_unlock(&all_lock);
    if (vigil->pid != getpid()) { /* a forked child: epoll is its parent's */
        close(vigil->epoll_fd);
        vigil->epoll_fd = -1;
    } else if (vigil->threaded) {
        atomic_store_explicit(&vigil->stopping, true, memory_order_release);
        wake(vigil);
        pthread_join(vigil->thread, NULL);
    }
    vigil_free(vigil);
}
