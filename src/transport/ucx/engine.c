/* SPDX-License-Identifier: MIT
 *
 * Sending, receiving, progress. See engine.h.
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

static void finish(struct rs_network *network, struct rs_pending *pending, int status)
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

static void lose(struct rs_network *network, struct rs_peer *peer, const char *why)
{
    if (peer->lost) return;
    peer->lost = true;
    if (peer->leaving || network->closing) return;
    for (uint32_t i = 0; i < network->n_pending; i++)
        if (network->pending[i].generation & 1 && network->pending[i].pe == peer->pe)
            finish(network, &network->pending[i], RS_E_PEER);
    for (struct rs_done *waiting; (waiting = peer->waiting);) {
        peer->waiting = waiting->next;
        if (!peer->waiting) peer->waiting_end = &peer->waiting;
        waiting->done(waiting->arg, RS_E_PEER);
        free(waiting);
    }
    network->host->lost(network->host, peer->pe, why);
}

static struct rs_network
    *the_network; /* of the endpoint callback's peers: there is one a process. W: start, stop */

static void on_endpoint_failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)ep;
    if (the_network) lose(the_network, arg, rs_ucp.status_string(status));
}

/* ---- peers ---- */

static struct rs_peer *peer_of(struct rs_network *network, int pe)
{
    if (pe < 0 || pe >= network->host->n_pes) return NULL;
    if (network->peers[pe]) return network->peers[pe];
    struct rs_peer *peer = calloc(1, sizeof *peer);
    if (!peer) return NULL;
    peer->pe = pe;
    peer->waiting_end = &peer->waiting;
    peer->next = network->first;
    network->first = network->peers[pe] = peer;
    return peer;
}

int rs_engine_peer(struct rs_network *network, int pe, struct rs_peer **peer_out)
{
    struct rs_peer *peer = peer_of(network, pe);
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
    lose(network, peer, rs_ucp.status_string(UCS_PTR_STATUS(request)));
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

int rs_engine_put(struct rs_network *network, struct rs_peer *peer, struct rs_place dest, const void *source,
                  size_t nbytes, _Atomic int *flag)
{
    size_t most = rs_ucx_segment();
    for (size_t at = 0; at < nbytes; at += most) {
        size_t n = nbytes - at < most ? nbytes - at : most;
        struct rs_wire wire = {.op = RS_WIRE_PUT, .region = dest.region, .offset = dest.offset + at};
        int rc = send_from(network, peer, &wire, (const char *)source + at, n, flag);
        if (rc < 0) return rc;
        peer->issued++;
    }
    return 0;
}

int rs_engine_signal(struct rs_network *network, struct rs_peer *peer, struct rs_place word, uint64_t value,
                     int sig_op)
{
    struct rs_wire wire = {.op = RS_WIRE_SIGNAL,
                           .amo = sig_op == ROCSHMEM_SIGNAL_ADD ? RS_AMO_ADD : RS_AMO_SET,
                           .width = 8,
                           .region = word.region,
                           .offset = word.offset,
                           .value = value};
    int rc = rs_engine_send(network, peer, &wire, NULL, NULL, 0, NULL);
    if (rc == 0) peer->issued++;
    return rc;
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

static struct rs_pending *pending_of(struct rs_network *network, uint64_t token)
{
    uint32_t index = (uint32_t)token, generation = (uint32_t)(token >> 32);
    if (index >= network->n_pending || !(generation & 1) || network->pending[index].generation != generation)
        return NULL;
    return &network->pending[index];
}

int rs_engine_get(struct rs_network *network, struct rs_peer *peer, void *dest, struct rs_place source,
                  size_t nbytes, void (*done)(void *, int), void *arg)
{
    struct rs_wire wire = {
        .op = RS_WIRE_GET, .region = source.region, .offset = source.offset, .nbytes = nbytes};
    struct rs_pending pending = {.pe = peer->pe,
                                 .dest = dest,
                                 .staged = !network->host->device->ops->cpu_reaches_heap,
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

/* ---- receiving ---- */

/* Where a message points to; NULL when that is not in this PE's memory. */
static void *place_here(const struct rs_network *network, const struct rs_wire *wire, size_t nbytes)
{
    if (wire->region >= RS_REGIONS) return NULL;
    const struct rs_region *region = &network->regions[wire->region];
    if (wire->offset > region->nbytes || nbytes > region->nbytes - wire->offset) return NULL;
    return (void *)(region->base + wire->offset); /* NOLINT: an address */
}

static void owe(struct rs_network *network, struct rs_peer *peer)
{
    peer->applied++;
    if (peer->owed) return;
    peer->owed = true;
    peer->next_owed = network->owed;
    network->owed = peer;
}

static struct rs_reply *reply_create(struct rs_network *network, int pe, const struct rs_wire *wire,
                                     size_t room)
{
    struct rs_reply *reply = calloc(1, sizeof *reply + room);
    if (!reply) return NULL;
    reply->pe = pe;
    reply->wire = *wire;
    *network->replies_end = reply;
    network->replies_end = &reply->next;
    return reply;
}

/* Words are stored as one piece, so that who polls them sees old or new. */
static void store(void *dest, const void *source, size_t nbytes)
{
    if (nbytes == 8 && (uintptr_t)dest % 8 == 0) {
        uint64_t word;
        memcpy(&word, source, 8);
        __atomic_store_n((uint64_t *)dest, word, __ATOMIC_RELEASE);
    } else if (nbytes == 4 && (uintptr_t)dest % 4 == 0) {
        uint32_t word;
        memcpy(&word, source, 4);
        __atomic_store_n((uint32_t *)dest, word, __ATOMIC_RELEASE);
    } else {
        memcpy(dest, source, nbytes);
    }
}

static const char *apply_put(struct rs_network *network, struct rs_peer *peer, const struct rs_wire *wire,
                             const void *data, size_t nbytes)
{
    struct rs_device *device = network->host->device;
    void *to = place_here(network, wire, nbytes);
    if (!to) return "it put bytes outside of this PE's symmetric memory";
    if (network->regions[wire->region].cpu)
        store(to, data, nbytes);
    else if (device->ops->transfer(device, to, data, nbytes) < 0)
        return "the bytes that it put could not be copied to the device";
    owe(network, peer);
    return NULL;
}

static const char *apply_amo(struct rs_network *network, struct rs_peer *peer, const struct rs_wire *wire)
{
    struct rs_device *device = network->host->device;
    uint64_t old = 0;
    void *word = place_here(network, wire, wire->width);
    if (!word || (wire->width != 4 && wire->width != 8) || (uintptr_t)word % wire->width ||
        wire->amo > RS_AMO_XOR)
        return "its atomic operation is on no word of this PE's symmetric memory";
    enum rs_amo_op op = (enum rs_amo_op)wire->amo;
    if (!network->regions[wire->region].cpu) {
        if (device->ops->amo(device, op, word, wire->width, wire->value, wire->cond, &old) < 0)
            return "its atomic operation failed on the device";
    } else if (wire->width == 4) {
        old = rs_amo_on_uint32_t(op, word, (uint32_t)wire->value, (uint32_t)wire->cond);
    } else {
        old = rs_amo_on_uint64_t(op, word, wire->value, wire->cond);
    }
    if (!wire->token) {
        owe(network, peer);
        return NULL;
    }
    struct rs_wire value = {.op = RS_WIRE_VALUE, .token = wire->token, .value = old};
    return reply_create(network, peer->pe, &value, 0) ? NULL : "there is no memory to answer it";
}

static const char *queue_data(struct rs_network *network, struct rs_peer *peer, const struct rs_wire *wire)
{
    const void *from = place_here(network, wire, wire->nbytes);
    if (!from) return "it wants bytes outside of this PE's symmetric memory";
    struct rs_wire data = {.op = RS_WIRE_DATA, .region = wire->region, .token = wire->token};
    struct rs_reply *reply = reply_create(network, peer->pe, &data, 0);
    if (!reply) return "there is no memory to answer it";
    reply->from = (uintptr_t)from;
    reply->nbytes = wire->nbytes;
    return NULL;
}

static const char *take_data(struct rs_network *network, const struct rs_wire *wire, const void *data,
                             size_t nbytes)
{
    struct rs_device *device = network->host->device;
    struct rs_pending *pending = pending_of(network, wire->token);
    if (!pending) return NULL; /* given up */
    if (nbytes > pending->left) return "it answers with more bytes than were wanted";
    void *to = (char *)pending->dest + wire->offset;
    if (!pending->staged)
        store(to, data, nbytes);
    else if (device->ops->transfer(device, to, data, nbytes) < 0)
        return "the bytes that it sent could not be copied to the device";
    pending->left -= nbytes;
    if (pending->left == 0) finish(network, pending, 0);
    return NULL;
}

static void take_value(struct rs_network *network, const struct rs_wire *wire)
{
    struct rs_pending *pending = pending_of(network, wire->token);
    if (!pending) return;
    *(uint64_t *)pending->dest = wire->value;
    finish(network, pending, 0);
}

static void take_ack(struct rs_peer *peer, const struct rs_wire *wire)
{
    if (wire->value > peer->acked && wire->value <= peer->issued) peer->acked = wire->value;
    while (peer->waiting && peer->waiting->count <= peer->acked) {
        struct rs_done *waiting = peer->waiting;
        peer->waiting = waiting->next;
        if (!peer->waiting) peer->waiting_end = &peer->waiting;
        waiting->done(waiting->arg, 0);
        free(waiting);
    }
}

static const char *take_message(struct rs_network *network, struct rs_peer *peer, const struct rs_wire *wire,
                                const void *head, const void *data, size_t nbytes)
{
    if (wire->more || peer->parts_nbytes) {
        if (peer->parts_nbytes + nbytes > peer->parts_room) {
            size_t room = 2 * (peer->parts_nbytes + nbytes);
            unsigned char *more = realloc(peer->parts, room);
            if (!more) return "there is no memory for its message";
            peer->parts = more;
            peer->parts_room = room;
        }
        memcpy(peer->parts + peer->parts_nbytes, data, nbytes);
        peer->parts_nbytes += nbytes;
        if (wire->more) return NULL;
        data = peer->parts;
        nbytes = peer->parts_nbytes;
        peer->parts_nbytes = 0;
    }
    network->host->receive(network->host, peer->pe, head, wire->head_nbytes, data, nbytes);
    return NULL;
}

static const char *take(struct rs_network *network, struct rs_peer *peer, const struct rs_wire *wire,
                        const void *head, const void *data, size_t nbytes)
{
    switch (wire->op) {
    case RS_WIRE_PUT:
        return apply_put(network, peer, wire, data, nbytes);
    case RS_WIRE_GET:
        return queue_data(network, peer, wire);
    case RS_WIRE_DATA:
        return take_data(network, wire, data, nbytes);
    case RS_WIRE_AMO:
    case RS_WIRE_SIGNAL:
        return apply_amo(network, peer, wire);
    case RS_WIRE_VALUE:
        take_value(network, wire);
        return NULL;
    case RS_WIRE_ACK:
        take_ack(peer, wire);
        return NULL;
    case RS_WIRE_MESSAGE:
        return take_message(network, peer, wire, head, data, nbytes);
    case RS_WIRE_BYE:
        peer->leaving = true;
        return NULL;
    default:
        return "it sent what this library does not understand; use one version everywhere";
    }
}

static ucs_status_t on_message(void *arg, const void *header, size_t header_nbytes, void *data, size_t nbytes,
                               const ucp_am_recv_param_t *param)
{
    struct rs_network *network = arg;
    struct rs_wire wire;
    if (header_nbytes < sizeof wire || param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)
        return UCS_OK; /* no one of ours */
    memcpy(&wire, header, sizeof wire);
    struct rs_peer *peer = peer_of(network, wire.from);
    if (!peer || wire.head_nbytes != header_nbytes - sizeof wire) return UCS_OK;
    const char *wrong = wire.number != peer->come++ ? "its messages come out of order" : NULL;
    if (!wrong) wrong = take(network, peer, &wire, (const char *)header + sizeof wire, data, nbytes);
    if (wrong) lose(network, peer, wrong);
    return UCS_OK;
}

/* ---- progress ---- */

static void send_reply(struct rs_network *network, struct rs_reply *reply)
{
    struct rs_peer *peer;
    if (rs_engine_peer(network, reply->pe, &peer) < 0) return; /* lost: everyone hears of it */
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
        peer->told = peer->applied;
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
                                      .cb = on_message,
                                      .arg = network};
    ucs_status_t status = rs_ucp.set_am_handler(network->worker, &handler);
    if (status == UCS_OK) status = rs_ucp.get_efd(network->worker, &network->efd);
    if (status != UCS_OK)
        return FAIL(network, RS_E_SYSTEM, -1, "UCX can't start: %s", rs_ucp.status_string(status));
    network->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (network->wake_fd < 0) return FAIL(network, RS_E_SYSTEM, -1, "eventfd: %s", strerror(errno));
    the_network = network;
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
    the_network = NULL;
    if (network->wake_fd >= 0) close(network->wake_fd);
}
