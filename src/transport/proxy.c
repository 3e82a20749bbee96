/* SPDX-License-Identifier: MIT
 *
 * A slot holds what one start_on_stream begins: requests, and two words that the CPU and streams reach, in chunks.
 *
 *   eager      The slot's number g grows with each use. The stream writes ready = g (or calls), waits for done >= g. Once
 *              done is g the slot is free for use g + 1: a stream that has not looked yet finds a number that is not less.
 *   captured   The slot belongs to the graph for good, and each replay does the same: the stream writes ready = 1, we clear
 *              it and begin, write done = 1; the stream has waited for that and clears it. Ready cannot be raised again
 *              before done was seen. A graph that runs twice at a time would need two slots; it can't have them.
 *
 * A transfer that fails leaves done as it is, and the job is told: its streams end with the job's reason, or, on a device
 * that can't end them, when the proxy stops. So no stream goes on with data that never came.
 *
 * Who writes what. A slot's fields: the thread that took it, until it is pushed on a stream or armed (release); then, by
 * acquire of the chunk's armed bits or by the stream's order, who begins it; the last done frees it under the lock, or
 * raises a captured done. The request has fixed widths and no pointer of ours: the same form can lie in a ring that
 * device code fills.
 */
#include "transport/proxy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "rocshmem/rocshmem.h"

#define CHUNK_SLOTS 64u /* bits of `armed` */
#define FEW 2
#define NEVER_LESS                                                                                           \
    (UINT64_MAX >> 1)        /* than any slot's number, also for who compares by the sign of a difference */
#define POLL_NS 2000000u     /* look without a pause for so long after the last thing that happened */
#define REST_NS 20000u       /* then sleep, this doubled up to ... */
#define REST_MOST_NS 160000u /* ... while streams have transfers before them */
#define REPLAYED_MOST_NS 640000u /* ... while there are only graphs, which may never be replayed */

struct rs_request {
    uint64_t here; /* an address of this process */
    uint64_t there, nbytes, word, value;
    int32_t pe;
    uint8_t put, region, word_region, sig_op;
};

struct slot;
struct part {
    struct slot *slot;
    struct rs_request request;
};
struct slot {
    struct rs_proxy *proxy;
    struct chunk *chunk;
    struct slot *next_free; /* under the lock */
    uint64_t number;        /* g */
    unsigned index;
    bool captured;
    uint32_t n, capacity;
    _Atomic uint32_t
        left; /* requests that are not done. W: all that finish one, acq_rel: the last has seen all */
    _Atomic int failed; /* relaxed, ordered by left */
    struct part *parts; /* few, or owned */
    struct part few[FEW];
};
struct chunk {
    struct chunk *next; /* constant */
    uint64_t *ready;    /* CHUNK_SLOTS words. W: streams, and we on captured ones. R: our thread, acquire */
    uint64_t
        *done; /* the same number. W: who finishes, release; of captured ones the stream too. R: streams */
    bool captured;
    /* Bits of slots whose ready word may rise. W: who arms, by release; our thread clears. R: it, acquire */
    _Atomic uint64_t armed;
    unsigned n_used; /* captured: taken so far, under the lock */
    struct slot slots[CHUNK_SLOTS];
};

struct rs_proxy {
    struct rs_device *device;
    struct rs_network *network;
    const struct rs_network_ops *ops;
    void (*broken)(void *arg, int status, int pe, const char *text);
    void *arg;
    _Atomic bool told; /* broken was called */
    _Atomic uint32_t
        beginning; /* threads that are inside the network's begin, stop waits for them. seq_cst with stop */
    _Atomic bool stop;
    _Atomic uint32_t flying; /* requests begun and not done: our thread makes progress meanwhile. relaxed */
    struct chunk
        *_Atomic chunks;      /* owned; newest first. W: under the lock, release. R: our thread, acquire */
    _Atomic uint32_t n_armed; /* eager slots. W: under the lock when it grows. R: our thread */
    _Atomic uint32_t n_registered; /* captured slots, never fewer */
    pthread_mutex_t lock;          /* free, n_used, chunks, thread_runs; words of done while stop is false */
    pthread_cond_t wake;
    struct slot *free;
    bool thread_runs;
    pthread_t thread;
};

/* ---- slots ---- */

static struct chunk *chunk_add_locked(struct rs_proxy *proxy, bool captured)
{
    struct chunk *chunk = calloc(1, sizeof *chunk);
    void *words = NULL;
    if (!chunk) {
        rs_fail(RS_E_NOMEM, "no memory to enqueue transfers to other hosts");
        return NULL;
    }
    if (proxy->device->ops->words_alloc(proxy->device, sizeof(uint64_t) * 2 * CHUNK_SLOTS, &words) < 0) {
        free(chunk);
        return NULL;
    }
    chunk->ready = words;
    chunk->done = chunk->ready + CHUNK_SLOTS;
    chunk->captured = captured;
    for (unsigned i = CHUNK_SLOTS; i-- > 0;) {
        struct slot *slot = &chunk->slots[i];
        *slot =
            (struct slot){.proxy = proxy, .chunk = chunk, .index = i, .captured = captured, .capacity = FEW};
        slot->parts = slot->few;
        if (captured) continue;
        slot->next_free = proxy->free;
        proxy->free = slot;
    }
    chunk->next = atomic_load_explicit(&proxy->chunks, memory_order_relaxed);
    atomic_store_explicit(&proxy->chunks, chunk, memory_order_release);
    return chunk;
}

static struct slot *take_captured_locked(struct rs_proxy *proxy)
{
    struct chunk *chunk = atomic_load_explicit(&proxy->chunks, memory_order_relaxed);
    while (chunk && (!chunk->captured || chunk->n_used == CHUNK_SLOTS)) chunk = chunk->next;
    if (!chunk) chunk = chunk_add_locked(proxy, true);
    return chunk ? &chunk->slots[chunk->n_used++] : NULL;
}

static void slot_free_locked(struct slot *slot)
{
    slot->next_free = slot->proxy->free;
    slot->proxy->free = slot;
}

/* For n requests. NULL (worded): no memory, or it has stopped. */
static struct slot *slot_take(struct rs_proxy *proxy, bool captured, size_t n)
{
    struct slot *slot = NULL;
    pthread_mutex_lock(&proxy->lock);
    if (atomic_load_explicit(&proxy->stop, memory_order_relaxed)) {
        rs_fail(RS_E_STATE, "the job ends: no transfers to other hosts any more");
    } else if (captured) {
        slot = take_captured_locked(proxy);
    } else if (proxy->free || chunk_add_locked(proxy, false)) {
        slot = proxy->free;
        proxy->free = slot->next_free;
    }
    pthread_mutex_unlock(&proxy->lock);
    if (!slot) return NULL;
    if (n > slot->capacity) {
        struct part *parts = malloc(n * sizeof *parts); /* of at most all PEs of the job */
        if (!parts) {
            rs_fail(RS_E_NOMEM, "no memory to enqueue %zu transfers to other hosts", n);
            pthread_mutex_lock(&proxy->lock);
            if (!captured) slot_free_locked(slot);
            pthread_mutex_unlock(&proxy->lock);
            return NULL;
        }
        if (slot->parts != slot->few) free(slot->parts);
        slot->parts = parts;
        slot->capacity = (uint32_t)n;
    }
    slot->n = (uint32_t)n;
    slot->number = captured ? 1 : slot->number + 1;
    return slot;
}

/* Everything of the slot is over: its stream goes on. */
static void slot_finish(struct slot *slot)
{
    struct rs_proxy *proxy = slot->proxy;
    uint64_t *done = &slot->chunk->done[slot->index];
    pthread_mutex_lock(&proxy->lock);
    if (!atomic_load_explicit(&proxy->stop, memory_order_relaxed)) { /* else the words may be gone */
        uint64_t value = slot->number;
        if (!slot->captured) slot_free_locked(slot);
        __atomic_store_n(done, value, __ATOMIC_RELEASE); /* a captured one may be begun anew from here */
    }
    pthread_mutex_unlock(&proxy->lock);
}

/* ---- beginning and ending ---- */

static void part_failed(struct part *part, int status)
{
    struct rs_proxy *proxy = part->slot->proxy;
    const rocshmemx_error_t *error = rs_error_slot();
    const char *why = error->status == status ? error->text : rs_status_text(status);
    char text[sizeof error->text + 64];
    atomic_store_explicit(&part->slot->failed, status, memory_order_relaxed);
    if (atomic_load(&proxy->stop) || atomic_exchange_explicit(&proxy->told, true, memory_order_relaxed))
        return;
    snprintf(text, sizeof text, "a transfer on a stream %s PE %d failed: %s",
             part->request.put ? "to" : "from", (int)part->request.pe, why);
    proxy->broken(proxy->arg, status, part->request.pe, text);
}

/* n requests of the slot are over. */
static void slot_count(struct slot *slot, uint32_t n)
{
    if (atomic_fetch_sub_explicit(&slot->left, n, memory_order_acq_rel) > n) return;
    if (!atomic_load_explicit(&slot->failed, memory_order_relaxed)) slot_finish(slot);
}

static void part_done(void *arg, int status)
{
    struct part *part = arg;
    atomic_fetch_sub_explicit(&part->slot->proxy->flying, 1, memory_order_relaxed);
    if (status < 0) part_failed(part, status);
    slot_count(part->slot, 1);
}

static int part_begin(struct rs_proxy *proxy, struct part *part)
{
    const struct rs_request *r = &part->request;
    struct rs_place there = {r->region, r->there}, word = {r->word_region, r->word};
    return proxy->ops->begin(proxy->network, r->pe, r->put, there, (void *)(uintptr_t)r->here, r->nbytes,
                             word, r->value, r->sig_op, part_done, part);
}

/* Never waits. */
static void slot_begin(struct slot *slot)
{
    struct rs_proxy *proxy = slot->proxy;
    uint32_t n = slot->n; /* the slot may be another use's as soon as the last one is begun */
    /* Who comes after stop begins nothing; who came before is waited for: one of the two sees the other. */
    atomic_fetch_add(&proxy->beginning, 1);
    if (!atomic_load(&proxy->stop)) {
        atomic_store_explicit(&slot->failed, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->left, n, memory_order_relaxed);
        for (uint32_t i = 0; i < n; i++) {
            atomic_fetch_add_explicit(&proxy->flying, 1, memory_order_relaxed);
            int rc = part_begin(proxy, &slot->parts[i]);
            if (rc >= 0) continue;
            atomic_fetch_sub_explicit(&proxy->flying, 1, memory_order_relaxed);
            part_failed(&slot->parts[i], rc);
            slot_count(slot, n - i);
            break;
        }
    }
    atomic_fetch_sub(&proxy->beginning, 1);
}

/* On a stream that calls. Dropped with its stream, it is over: the wait for it may have been enqueued behind the drop. */
static int begin_on_stream(void *arg, bool failed)
{
    if (failed)
        slot_finish(arg);
    else
        slot_begin(arg);
    return 0;
}

/* ---- the thread, for devices that don't call ---- */

static bool chunk_look(struct rs_proxy *proxy, struct chunk *chunk)
{
    uint64_t armed = atomic_load_explicit(&chunk->armed, memory_order_acquire);
    bool moved = false;
    while (armed) {
        unsigned i = (unsigned)__builtin_ctzll(armed);
        struct slot *slot = &chunk->slots[i];
        armed &= armed - 1;
        if (__atomic_load_n(&chunk->ready[i], __ATOMIC_ACQUIRE) != slot->number) continue;
        if (slot->captured) {
            __atomic_store_n(&chunk->ready[i], 0, __ATOMIC_RELAXED);
        } else {
            atomic_fetch_and_explicit(&chunk->armed, ~(UINT64_C(1) << i), memory_order_relaxed);
            atomic_fetch_sub_explicit(&proxy->n_armed, 1, memory_order_relaxed);
        }
        slot_begin(slot);
        moved = true;
    }
    return moved;
}

/* How long it has found nothing, and what it does then. */
struct rest {
    struct rs_wait wait;
    uint64_t since_ns, sleep_ns;
};

static void rest_begin(struct rest *rest)
{
    rs_wait_begin(&rest->wait, NULL);
    rest->since_ns = rs_os_now_ns();
    rest->sleep_ns = REST_NS;
}

/* What is under way ends the sleep early, where the network can. */
static void rest_a_while(const struct rs_proxy *proxy, struct rest *rest, bool flying, uint64_t most_ns)
{
    uint64_t ns = rest->sleep_ns < most_ns ? rest->sleep_ns : most_ns;
    if (rs_os_now_ns() - rest->since_ns < POLL_NS) {
        (void)rs_wait_pause(&rest->wait);
        return;
    }
    if (flying && proxy->ops->doze)
        proxy->ops->doze(proxy->network, ns);
    else
        rs_wait_sleep_ns(ns);
    rest->sleep_ns = rest->sleep_ns * 2 < REPLAYED_MOST_NS ? rest->sleep_ns * 2 : REPLAYED_MOST_NS;
}

/* Nothing is before any stream: until something is armed, or it stops. */
static void sleep_until_armed(struct rs_proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    while (!atomic_load(&proxy->stop) && !atomic_load(&proxy->n_armed) && !atomic_load(&proxy->n_registered))
        pthread_cond_wait(&proxy->wake, &proxy->lock);
    pthread_mutex_unlock(&proxy->lock);
}

static void *thread_run(void *arg)
{
    struct rs_proxy *proxy = arg;
    struct rest rest;
    rest_begin(&rest);
    while (!atomic_load_explicit(&proxy->stop, memory_order_relaxed)) {
        bool moved = false;
        for (struct chunk *chunk = atomic_load_explicit(&proxy->chunks, memory_order_acquire); chunk;
             chunk = chunk->next)
            moved |= chunk_look(proxy, chunk);
        bool flying = atomic_load_explicit(&proxy->flying, memory_order_relaxed) > 0;
        bool armed = atomic_load_explicit(&proxy->n_armed, memory_order_relaxed) > 0;
        if (flying) moved |= proxy->ops->progress(proxy->network) > 0;
        if (moved) {
            rest_begin(&rest);
        } else if (flying || armed) {
            rest_a_while(proxy, &rest, flying, REST_MOST_NS);
        } else if (atomic_load_explicit(&proxy->n_registered, memory_order_relaxed) > 0) {
            rest_a_while(proxy, &rest, false, REPLAYED_MOST_NS);
        } else {
            sleep_until_armed(proxy);
            rest_begin(&rest);
        }
    }
    return NULL;
}

/* From now on the thread looks at its ready word. */
static int slot_arm(struct slot *slot)
{
    struct rs_proxy *proxy = slot->proxy;
    int rc = 0;
    pthread_mutex_lock(&proxy->lock);
    if (!proxy->thread_runs) {
        rc = rs_os_thread_start(&proxy->thread, "rocshmem-proxy", thread_run, proxy);
        proxy->thread_runs = rc == 0;
    }
    if (rc == 0) {
        atomic_fetch_add(slot->captured ? &proxy->n_registered : &proxy->n_armed, 1);
        atomic_fetch_or_explicit(&slot->chunk->armed, UINT64_C(1) << slot->index, memory_order_release);
        pthread_cond_signal(&proxy->wake);
    } else if (!slot->captured) {
        slot_free_locked(slot);
    }
    pthread_mutex_unlock(&proxy->lock);
    return rc;
}

/* ---- enqueueing ---- */

static struct rs_request request_of(const struct rs_transfer *t)
{
    const void *here = t->put ? t->source : t->dest, *there = t->put ? t->dest : t->source;
    struct rs_place place = {RS_REGION_WINDOW, 0}, word = {RS_REGIONS, 0};
    if (t->nbytes > 0) place = rs_net_place(t->route, there);
    if (t->word) word = rs_net_place(t->route, t->word);
    return (struct rs_request){.here = (uintptr_t)here,
                               .there = place.offset,
                               .nbytes = t->nbytes,
                               .word = word.offset,
                               .value = t->value,
                               .pe = t->route->pe,
                               .put = t->put,
                               .region = (uint8_t)place.region,
                               .word_region = (uint8_t)word.region,
                               .sig_op = (uint8_t)t->sig_op};
}

int rs_proxy_start_on_stream(void *stream, const struct rs_transfer *transfers, size_t n,
                             struct rs_memop *finish_out, size_t *n_finish_out)
{
    struct rs_proxy *proxy = rs_net_of(transfers[0].route)->proxy;
    struct rs_device *device = proxy->device;
    int captured = device->ops->probe(device, stream);
    if (captured < 0) return captured;
    struct slot *slot = slot_take(proxy, captured != 0, n);
    if (!slot) return rs_error_slot()->status;
    uint64_t *ready = &slot->chunk->ready[slot->index], *done = &slot->chunk->done[slot->index];
    uint64_t number = slot->number; /* the slot may be free again before this returns */
    for (size_t i = 0; i < n; i++) slot->parts[i] = (struct part){slot, request_of(&transfers[i])};
    if (device->ops->call) {
        RS_TRY(device->ops->call(device, stream, begin_on_stream, slot)); /* frees the slot when it fails */
    } else {
        struct rs_memop raise = {.kind = RS_MEMOP_WRITE, .word = ready, .value = number};
        RS_TRY(slot_arm(slot));
        RS_TRY(device->ops->batch(device, stream, &raise,
                                  1)); /* armed for good when it fails: that is a lost device */
    }
    size_t k = 0;
    finish_out[k++] = (struct rs_memop){.kind = RS_MEMOP_WAIT,
                                        .cmp = captured ? ROCSHMEM_CMP_EQ : ROCSHMEM_CMP_GE,
                                        .word = done,
                                        .value = number};
    if (captured) finish_out[k++] = (struct rs_memop){.kind = RS_MEMOP_WRITE, .word = done, .value = 0};
    *n_finish_out = k;
    return 0;
}

static int transfer(void *stream, const struct rs_transfer *t)
{
    struct rs_memop finish[RS_FINISH_MOST];
    struct rs_device *device = rs_net_of(t->route)->proxy->device;
    size_t n = 0;
    RS_TRY(rs_proxy_start_on_stream(stream, t, 1, finish, &n));
    return device->ops->batch(device, stream, finish, n);
}

int rs_proxy_put_on_stream(const struct rs_route *route, void *stream, void *dest, const void *source,
                           size_t nbytes)
{
    return transfer(
        stream,
        &(struct rs_transfer){.route = route, .put = true, .dest = dest, .source = source, .nbytes = nbytes});
}

int rs_proxy_get_on_stream(const struct rs_route *route, void *stream, void *dest, const void *source,
                           size_t nbytes)
{
    return transfer(stream,
                    &(struct rs_transfer){.route = route, .dest = dest, .source = source, .nbytes = nbytes});
}

int rs_proxy_put_signal_on_stream(const struct rs_route *route, void *stream, void *dest, const void *source,
                                  size_t nbytes, uint64_t *word, uint64_t value, int sig_op)
{
    return transfer(stream, &(struct rs_transfer){.route = route,
                                                  .put = true,
                                                  .dest = dest,
                                                  .source = source,
                                                  .nbytes = nbytes,
                                                  .word = word,
                                                  .value = value,
                                                  .sig_op = sig_op});
}

int rs_proxy_signal_on_stream(const struct rs_route *route, void *stream, uint64_t *word, uint64_t value,
                              int sig_op)
{
    return rs_proxy_put_signal_on_stream(route, stream, NULL, NULL, 0, word, value, sig_op);
}

/* ---- life ---- */

int rs_proxy_open(struct rs_proxy **proxy_out, struct rs_device *device, struct rs_network *network,
                  const struct rs_network_ops *ops,
                  void (*broken)(void *arg, int status, int pe, const char *text), void *arg)
{
    struct rs_proxy *proxy = calloc(1, sizeof *proxy);
    if (!proxy) return rs_fail(RS_E_NOMEM, "no memory for transfers on streams to other hosts");
    proxy->device = device;
    proxy->network = network;
    proxy->ops = ops;
    proxy->broken = broken;
    proxy->arg = arg;
    pthread_mutex_init(&proxy->lock, NULL);
    pthread_cond_init(&proxy->wake, NULL);
    *proxy_out = proxy;
    return 0;
}

void rs_proxy_stop(struct rs_proxy *proxy)
{
    struct rs_wait wait;
    if (!proxy) return;
    pthread_mutex_lock(&proxy->lock);
    atomic_store(&proxy->stop, true);
    for (struct chunk *chunk = atomic_load(&proxy->chunks); chunk; chunk = chunk->next)
        for (unsigned i = 0; i < CHUNK_SLOTS; i++)
            __atomic_store_n(&chunk->done[i], chunk->captured ? 1 : NEVER_LESS, __ATOMIC_RELEASE);
    pthread_cond_signal(&proxy->wake);
    pthread_mutex_unlock(&proxy->lock);
    if (proxy->thread_runs) pthread_join(proxy->thread, NULL);
    proxy->thread_runs = false;
    rs_wait_begin(&wait, NULL);
    while (atomic_load(&proxy->beginning) > 0) (void)rs_wait_pause(&wait);
}

void rs_proxy_close(struct rs_proxy *proxy)
{
    if (!proxy) return;
    for (struct chunk *chunk = atomic_load(&proxy->chunks), *next; chunk; chunk = next) {
        next = chunk->next;
        if (proxy->device->ops->words_free) proxy->device->ops->words_free(chunk->ready);
        for (unsigned i = 0; i < CHUNK_SLOTS; i++)
            if (chunk->slots[i].parts != chunk->slots[i].few) free(chunk->slots[i].parts);
        free(chunk);
    }
    pthread_mutex_destroy(&proxy->lock);
    pthread_cond_destroy(&proxy->wake);
    free(proxy);
}
