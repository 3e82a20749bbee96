/* SPDX-License-Identifier: MIT
 *
 * Peers, sending, progress. See engine.h.
 */
#include "transport/ucx/engine.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "rocshmem/rocshmem.h"
#include "transport/transport.h"

enum { AM_ID = 7 };
#define SMALL_NBYTES 4096 /* copied beside the head, so that the caller need not wait for UCX */
#define HOT_NS 50000u
#define FAIL(network, ...) (network)->host->fail(__VA_ARGS__)

static _Thread_local char self; /* its address is the thread's */

/* ---- the lock ---- */

void rs_engine_lock(struct rs_network *network)
{
    pthread_mutex_lock(&network->lock);
    atomic_store_explicit(&network->owner, &self, memory_order_relaxed);
}

void rs_engine_unlock(struct rs_network *network)
{
    atomic_store_explicit(&network->owner, NULL, memory_order_relaxed);
    pthread_mutex_unlock(&network->lock);
}

bool rs_engine_is_inside(const struct rs_network *network)
{
    return atomic_load_explicit(&network->owner, memory_order_relaxed) == &self;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- losing a peer ---- */

void rs_engine_finish(struct rs_network *network, struct rs_pending *pending, int status)
{
    void (*done)(void *, int) = pending->done;
    void *arg = pending->arg;
    pending->generation++;
    pending->next_free = network->free_pending;
    network->free_pending = (uint32_t)(pending - network->pending) + 1;
    if (done)
        done(arg, status);
    else if (arg)
        atomic_store_explicit((_Atomic int *)arg, status < 0 ? status : 1, memory_order_release);
    else
        network->n_gets--;
}

void rs_engine_lose(struct rs_network *network, struct rs_peer *peer, const char *why)
{
    if (peer->lost) return;
    peer->lost = true;
    if (peer->leaving || network->closing) return;
    for (uint32_t i = 0; i < network->n_pending; i++)
        if (network->pending[i].generation & 1 && network->pending[i].pe == peer->pe)
            rs_engine_finish(network, &network->pending[i], RS_E_PEER);
    for (struct rs_done *waiting; (waiting = peer->waiting);) {
        peer->waiting = waiting->next;
        if (!peer->waiting) peer->waiting_end = &peer->waiting;
        waiting->done(waiting->arg, RS_E_PEER);
        free(waiting);
    }
    network->host->lost(network->host, peer->pe, why);
}

static void on_endpoint_failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct rs_peer *peer = arg;
    (void)ep;
    rs_engine_lose(peer->network, peer, rs_ucp.status_string(status));
}

/* ---- peers ---- */

struct rs_peer *rs_engine_find(struct rs_network *network, int pe)
{
    if (pe < 0 || pe >= network->host->n_pes) return NULL;
    if (network->peers[pe]) return network->peers[pe];
    struct rs_peer *peer = calloc(1, sizeof *peer);
    if (!peer) return NULL;
    peer->network = network;
    peer->pe = pe;
    peer->waiting_end = &peer->waiting;
    peer->next = network->first;
    network->first = network->peers[pe] = peer;
    return peer;
}

int rs_engine_peer(struct rs_network *network, int pe, struct rs_peer **peer_out)
{
    struct rs_peer *peer = rs_engine_find(network, pe);
    if (!peer) return FAIL(network, RS_E_NOMEM, pe, "no memory to talk to PE %d", pe);
    *peer_out = peer;
    if (peer->lost) return FAIL(network, RS_E_PEER, pe, "PE %d can't be reached any more", pe);
    if (peer->ep) return 0;
    size_t nbytes;
    const void *address = network->host->address_of(network->host, pe, &nbytes);
    if (!address) return RS_E_BUG;
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_endpoint_failed, .arg = peer},
    };
    ucs_status_t status = rs_ucp.ep_create(network->worker, &params, &peer->ep);
    if (status == UCS_OK) return 0;
    peer->ep = NULL;
    return FAIL(network, RS_E_PEER, pe,
                "UCX can't connect to PE %d: %s; do both hosts have a network in common that UCX_TLS allows",
                pe, rs_ucp.status_string(status));
}

/* ---- sending ---- */

/* What UCX may still look at after a send. */
struct out {
    _Atomic int *flag; /* NULL: nobody waits */
    struct rs_wire wire;
    unsigned char bytes[]; /* head, and small or staged bytes */
};

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    struct out *out = arg;
    (void)status; /* a failure is the endpoint's: on_endpoint_failed */
    if (out->flag) atomic_fetch_sub_explicit(out->flag, 1, memory_order_release);
    free(out);
    rs_ucp.request_free(request);
}

int rs_engine_send(struct rs_network *network, struct rs_peer *peer, struct rs_wire *wire, const void *head,
                   const void *bytes, size_t nbytes, _Atomic int *flag)
{
    bool copy = nbytes > 0 && (nbytes <= SMALL_NBYTES || !flag);
    size_t head_nbytes = wire->head_nbytes;
    struct out *out = malloc(sizeof *out + head_nbytes + (copy ? nbytes : 0));
    if (!out) return FAIL(network, RS_E_NOMEM, peer->pe, "no memory for a message of %zu bytes", nbytes);
    wire->from = network->host->my_pe;
    wire->number = peer->sent++;
    out->flag = copy ? NULL : flag;
    out->wire = *wire;
    if (head && head_nbytes) memcpy(out->bytes, head, head_nbytes);
    if (copy) bytes = memcpy(out->bytes + head_nbytes, bytes, nbytes);
    ucp_request_param_t params = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_AM_SEND_FLAG_EAGER,
        .cb.send = on_sent,
        .user_data = out,
    };
    if (out->flag) atomic_fetch_add_explicit(out->flag, 1, memory_order_relaxed);
    ucs_status_ptr_t request =
        rs_ucp.am_send(peer->ep, AM_ID, &out->wire, sizeof out->wire + head_nbytes, bytes, nbytes, &params);
    if (UCS_PTR_IS_PTR(request)) return 0; /* on_sent comes */
    if (out->flag) atomic_fetch_sub_explicit(out->flag, 1, memory_order_relaxed);
    free(out);
    if (request == NULL) return 0;
    rs_engine_lose(network, peer, rs_ucp.status_string(UCS_PTR_STATUS(request)));
    return FAIL(network, RS_E_PEER, peer->pe, "PE %d can't be reached: %s", peer->pe,
                rs_ucp.status_string(UCS_PTR_STATUS(request)));
}

/* Device memory goes by way of a copy here. */
static int send_from(struct rs_network *network, struct rs_peer *peer, struct rs_wire *wire,
                     const void *source, size_t nbytes, _Atomic int *flag)
{
    struct rs_device *device = network->host->device;
    if (device->ops->cpu_reaches_heap || nbytes == 0)
        return rs_engine_send(network, peer, wire, NULL, source, nbytes, flag);
    void *room = malloc(nbytes);
    if (!room) return FAIL(network, RS_E_NOMEM, peer->pe, "no memory to send %zu bytes", nbytes);
    int rc = device->ops->transfer(device, room, source, nbytes);
    if (rc == 0) rc = rs_engine_send(network, peer, wire, NULL, room, nbytes, NULL);
    free(room);
    return rc;
}

static void add_signal(struct rs_wire *wire, const struct rs_signal *signal)
{
    wire->amo = signal->sig_op == ROCSHMEM_SIGNAL_ADD ? RS_AMO_ADD : RS_AMO_SET;
    wire->width = 8;
    wire->value = signal->value;
    wire->token = signal->word.offset;
    wire->cond = signal->word.region;
}

int rs_engine_put(struct rs_network *network, struct rs_peer *peer, struct rs_place dest, const void *source,
                  size_t nbytes, const struct rs_signal *signal, _Atomic int *flag)
{
    size_t at = 0, most = rs_ucx_segment();
    if (nbytes == 0 && !signal) return 0;
    do {
        size_t n = nbytes - at < most ? nbytes - at : most;
        struct rs_wire wire = {.op = RS_WIRE_PUT, .region = dest.region, .offset = dest.offset + at};
        if (signal && at + n == nbytes) add_signal(&wire, signal);
        int rc = send_from(network, peer, &wire, (const char *)source + at, n, flag);
        if (rc < 0) return rc;
        peer->issued++;
        at += n;
    } while (at < nbytes);
    return 0;
}

/* A slot of the table. */
static int pend(struct rs_network *network, const struct rs_pending *what, uint64_t *token_out)
{
    if (!network->free_pending) {
        uint32_t room = network->pending_room ? network->pending_room * 2 : 64;
        struct rs_pending *more = realloc(network->pending, room * sizeof *more);
        if (!more) return FAIL(network, RS_E_NOMEM, what->pe, "no memory for %u requests", room);
        network->pending = more;
        network->pending_room = room;
        for (uint32_t i = network->n_pending; i < room; i++)
            more[i] = (struct rs_pending){.next_free = i + 1 < room ? i + 2 : 0};
        network->free_pending = network->n_pending + 1;
        network->n_pending = room;
    }
    struct rs_pending *pending = &network->pending[network->free_pending - 1];
    uint32_t index = network->free_pending - 1, generation = pending->generation + 1;
    network->free_pending = pending->next_free;
    *pending = *what;
    pending->generation = generation;
    if (!what->done && !what->arg) network->n_gets++;
    *token_out = (uint64_t)generation << 32 | index;
    return 0;
}

struct rs_pending *rs_engine_pending(struct rs_network *network, uint64_t token)
{
    uint32_t index = (uint32_t)token, generation = (uint32_t)(token >> 32);
    if (index >= network->n_pending || !(generation & 1) || network->pending[index].generation != generation)
        return NULL;
    return &network->pending[index];
}

void rs_engine_forget(struct rs_network *network, const void *arg)
{
    for (uint32_t i = 0; i < network->n_pending; i++) {
        struct rs_pending *pending = &network->pending[i];
        if (!(pending->generation & 1) || pending->done || pending->arg != arg) continue;
        pending->generation++;
        pending->next_free = network->free_pending;
        network->free_pending = i + 1;
    }
}

int rs_engine_get(struct rs_network *network, struct rs_peer *peer, void *dest, struct rs_place source,
                  size_t nbytes, void (*done)(void *, int), void *arg)
{
    struct rs_wire wire = {
        .op = RS_WIRE_GET, .region = source.region, .offset = source.offset, .nbytes = nbytes};
    struct rs_pending pending = {.pe = peer->pe,
                                 .dest = dest,
                                 .staged = !network->host->device->ops->cpu_reaches_heap,
                                 .nbytes = nbytes,
                                 .left = nbytes,
                                 .done = done,
                                 .arg = arg};
    int rc = pend(network, &pending, &wire.token);
    if (rc < 0) return rc;
    return rs_engine_send(network, peer, &wire, NULL, NULL, 0, NULL);
}

int rs_engine_amo(struct rs_network *network, struct rs_peer *peer, enum rs_amo_op op, struct rs_place word,
                  size_t width, uint64_t value, uint64_t cond, uint64_t *old_out, _Atomic int *flag)
{
    struct rs_wire wire = {.op = RS_WIRE_AMO,
                           .amo = (uint8_t)op,
                           .width = (uint8_t)width,
                           .region = word.region,
                           .offset = word.offset,
                           .value = value,
                           .cond = cond};
    struct rs_pending pending = {.pe = peer->pe, .dest = old_out, .left = 1, .arg = flag};
    int rc = old_out ? pend(network, &pending, &wire.token) : 0;
    if (rc == 0) rc = rs_engine_send(network, peer, &wire, NULL, NULL, 0, NULL);
    if (rc == 0 && !old_out) peer->issued++;
    return rc;
}

/* ---- progress ---- */

static void send_reply(struct rs_network *network, struct rs_reply *reply)
{
    struct rs_peer *peer = NULL;
    if (rs_engine_peer(network, reply->pe, &peer) < 0 || !peer) return; /* lost: everyone hears of it */
    struct rs_wire *wire = &reply->wire;
    static _Atomic int ignored; /* bytes of the window are sent from where they are */
    if (wire->op == RS_WIRE_MESSAGE) {
        (void)rs_engine_send(network, peer, wire, reply->head, reply->body, reply->nbytes, NULL);
        return;
    }
    if (wire->op != RS_WIRE_DATA) {
        (void)rs_engine_send(network, peer, wire, NULL, NULL, 0, NULL);
        return;
    }
    bool cpu = network->regions[wire->region].cpu;
    for (size_t at = 0, most = rs_ucx_segment(); at < reply->nbytes; at += most) {
        size_t n = reply->nbytes - at < most ? reply->nbytes - at : most;
        const char *from = (const char *)reply->from + at; /* NOLINT: an address */
        struct rs_wire piece = *wire;
        piece.offset = at;
        if ((cpu ? rs_engine_send(network, peer, &piece, NULL, from, n, &ignored)
                 : send_from(network, peer, &piece, from, n, NULL)) < 0)
            return;
    }
}

static void settle(struct rs_network *network)
{
    while (network->replies) {
        struct rs_reply *reply = network->replies;
        network->replies = reply->next;
        if (!network->replies) network->replies_end = &network->replies;
        send_reply(network, reply);
        free(reply);
    }
    while (network->owed) {
        struct rs_peer *peer = network->owed, *same;
        network->owed = peer->next_owed;
        peer->owed = false;
        struct rs_wire ack = {.op = RS_WIRE_ACK, .value = peer->applied};
        if (!peer->lost && !peer->leaving && rs_engine_peer(network, peer->pe, &same) == 0)
            (void)rs_engine_send(network, peer, &ack, NULL, NULL, 0, NULL);
    }
}

static unsigned poll_locked(struct rs_network *network)
{
    unsigned n = rs_ucp.progress(network->worker);
    if (network->replies || network->owed) settle(network);
    return n;
}

unsigned rs_engine_poll(struct rs_network *network)
{
    if (rs_engine_is_inside(network) || pthread_mutex_trylock(&network->lock) != 0) return 0;
    atomic_store_explicit(&network->owner, &self, memory_order_relaxed);
    unsigned n = poll_locked(network);
    rs_engine_unlock(network);
    return n;
}

static void sleep_on(struct rs_network *network, struct pollfd *ready, nfds_t n, uint64_t ns)
{
    struct timespec span = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    rs_engine_lock(network);
    bool armed = rs_ucp.arm(network->worker) == UCS_OK; /* else something came since the last poll */
    rs_engine_unlock(network);
    if (armed) ppoll(ready, n, &span, NULL);
}

void rs_engine_doze(struct rs_network *network, uint64_t ns)
{
    struct pollfd ready = {.fd = network->efd, .events = POLLIN};
    sleep_on(network, &ready, 1, ns);
}

/* While others poll, looks every millisecond whether they still do; else sleeps until something comes, and stays awake for
 * a moment: more may. */
void *rs_engine_run(void *arg)
{
    struct rs_network *network = arg;
    uint64_t polls = UINT64_MAX, busy_ns = 0;
    while (!atomic_load_explicit(&network->stop, memory_order_acquire)) {
        uint64_t now = atomic_load_explicit(&network->n_polls, memory_order_relaxed), now_is = now_ns();
        struct pollfd ready[] = {{.fd = network->efd, .events = POLLIN},
                                 {.fd = network->wake_fd, .events = POLLIN}};
        if (now != polls) {
            polls = now;
            poll(&ready[1], 1, 1);
            continue;
        }
        if (rs_engine_poll(network) > 0) busy_ns = now_is;
        if (now_is - busy_ns < HOT_NS)
            sched_yield();
        else
            sleep_on(network, ready, 2, 1000000000u);
    }
    return NULL;
}

/* ---- start and stop ---- */

int rs_engine_start(struct rs_network *network)
{
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                    UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                      .id = AM_ID,
                                      .cb = rs_engine_receive,
                                      .arg = network};
    ucs_status_t status = rs_ucp.set_am_handler(network->worker, &handler);
    if (status == UCS_OK) status = rs_ucp.get_efd(network->worker, &network->efd);
    if (status != UCS_OK)
        return FAIL(network, RS_E_SYSTEM, -1, "UCX can't start: %s", rs_ucp.status_string(status));
    network->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (network->wake_fd < 0) return FAIL(network, RS_E_SYSTEM, -1, "eventfd: %s", strerror(errno));
    return 0;
}

/* Goodbye to all, then close; what does not close within two seconds is closed by force. */
static void close_endpoints(struct rs_network *network, bool orderly)
{
    uint64_t deadline_ns = now_ns() + (orderly ? 2000000000u : 200000000u);
    struct rs_wire bye = {.op = RS_WIRE_BYE};
    for (struct rs_peer *peer = network->first; orderly && peer; peer = peer->next)
        if (peer->ep && !peer->lost) (void)rs_engine_send(network, peer, &bye, NULL, NULL, 0, NULL);
    for (struct rs_peer *peer = network->first; peer; peer = peer->next) {
        if (!peer->ep) continue;
        ucp_request_param_t params = {
            .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
            .flags = orderly && !peer->lost ? 0 : UCP_EP_CLOSE_FLAG_FORCE,
        };
        void *request = rs_ucp.ep_close(peer->ep, &params);
        while (UCS_PTR_IS_PTR(request) && rs_ucp.request_check(request) == UCS_INPROGRESS &&
               now_ns() < deadline_ns)
            rs_ucp.progress(network->worker);
        if (UCS_PTR_IS_PTR(request)) rs_ucp.request_free(request);
        peer->ep = NULL;
    }
}

void rs_engine_stop(struct rs_network *network, bool orderly)
{
    uint64_t one = 1;
    atomic_store_explicit(&network->stop, true, memory_order_release);
    if (network->threaded) {
        (void)!write(network->wake_fd, &one, sizeof one);
        pthread_join(network->thread, NULL);
    }
    rs_engine_lock(network);
    settle(network);
    network->closing = true;
    close_endpoints(network, orderly);
    rs_engine_unlock(network);
    if (network->wake_fd >= 0) close(network->wake_fd);
}
