/* SPDX-License-Identifier: MIT
 *
 * One PE of a GPU, the first of the host on it, runs the kernels of all: those of several processes would take
 * turns by time slices. A thread of it takes what the others have put into the memory that the PEs of a host
 * share, all at once, and runs it by one launch.
 *
 * A request's life: its PE fills in the fields, then asked gets the request's ticket, from the CPU or, in the
 * order of a stream, by a memory operation; the server does it and gives done the ticket, which the PE polls or
 * its stream waits for. A PE has one request of its CPU and a ring of those of its streams.
 *
 * An idle server sleeps in a futex. Who asks looks at `sleeping` after its store, the server at all requests
 * after its own; a full fence between the two on both sides lets at least one see the other. Streams ring no
 * bell, so while a ring has requests that are not done the server naps instead.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/os.h"
#include "base/status.h"
#include "device/gpu.h"
#include "device/kernels/rs_request.h"

#define RING 256u
#define DATA_NBYTES 256u
#define BATCH_MOST 64u
#define SPIN_NS 100000u   /* after the last request: poll, */
#define YIELD_NS 2000000u /* then yield, then sleep */
#define NAP_NS 20000u
#define SLEEP_NS 100000000u
#define LEAVE_NS 2000000000u /* for a kernel, when the PE leaves */

struct request {
    _Alignas(64) _Atomic uint64_t
        asked; /* W: its PE's CPU, release, or stream, after the fields. R: server, acquire */
    uint64_t offset, value, cond; /* W: its PE, while it is not asked. R: server */
    uint32_t op, width;
    int32_t local;                      /* whose window */
    _Alignas(64) _Atomic uint64_t done; /* W: server, release. R: its PE, acquire; its stream */
    uint64_t old;                       /* W: server, before done */
};

enum { NOT_YET, SERVES, FAILED, ENDED };
struct block { /* a PE's */
    /* Of who serves. */
    _Alignas(128) _Atomic uint32_t state; /* W: server, release after status and text. R: anyone, acquire */
    int32_t status;
    char text[232];
    _Alignas(128) _Atomic uint32_t bell; /* W: who wakes, relaxed: the futex compares it. R: server */
    _Atomic uint32_t sleeping;           /* W: server. R: who asks. Both between full fences */
    /* Of who asks. */
    _Alignas(
        128) _Atomic uint64_t head; /* requests of streams so far. W: owner, release. R: server, acquire */
    struct request now;             /* its CPU's */
    _Alignas(64) unsigned char data[DATA_NBYTES]; /* of a put. As the request's fields */
    _Alignas(4096) struct request ring[RING];     /* ticket t is in ring[(t - 1) % RING] */
};
_Static_assert(sizeof(struct block) <= RS_DEVICE_SHARED_NBYTES, "a block has room");

struct rs_gpu_service {
    struct rs_gpu *gpu;
    unsigned char *shared; /* n_local blocks */
    int n_local, my_local, server, sharers;
    uintptr_t *base; /* owned: the windows as they are mapped here */
    size_t window_nbytes;
    struct block *mine, *servers;

    /* Of who asks. */
    uint64_t ticket;      /* of now; under the device's now_lock */
    pthread_mutex_t lock; /* the ring */
    uint64_t head;
    bool registered; /* streams reach the ring */

    /* Of the server's thread. */
    bool started;
    pthread_t thread;
    _Atomic bool stop; /* W: who closes, release. R: the thread, acquire */
    void *stream;
    struct rs_request *work; /* pinned: BATCH_MOST, and the data of as many puts behind */
    unsigned char *data;
    struct request *from[BATCH_MOST];
    uint64_t tickets[BATCH_MOST];
    uint64_t *tails; /* owned, n_local: what of the rings is done */
    uint64_t batch;
};

static struct block *block_of(const struct rs_gpu_service *s, int local)
{
    return (struct block *)(void *)(s->shared + (size_t)local * RS_DEVICE_SHARED_NBYTES);
}

int rs_gpu_sharers(const struct rs_gpu *gpu)
{
    return gpu->service ? gpu->service->sharers : 1;
}

bool rs_gpu_takes_turns(const struct rs_device *dev)
{
    const struct rs_gpu *gpu = dev->state;
    return gpu->service && gpu->service->sharers == gpu->service->n_local;
}

bool rs_gpu_served(const struct rs_gpu *gpu)
{
    return gpu->service && gpu->service->server != gpu->service->my_local;
}

/* The PE whose window it is in, or -1. */
static int locate(const struct rs_gpu_service *s, uintptr_t at, size_t nbytes)
{
    for (int i = 0; i < s->n_local; i++)
        if (at >= s->base[i] && at - s->base[i] < s->window_nbytes &&
            nbytes <= s->window_nbytes - (at - s->base[i]))
            return i;
    return -1;
}

bool rs_gpu_in_any_window(const struct rs_gpu *gpu, uintptr_t at, size_t nbytes)
{
    return rs_gpu_in_windows(gpu, (const void *)at, nbytes) ||
           (gpu->service && locate(gpu->service, at, nbytes) >= 0);
}

/* ---- asking ---- */

int rs_gpu_service_look(struct rs_gpu *gpu)
{
    struct rs_gpu_service *s = gpu->service;
    if (!s) return 0;
    uint32_t state = atomic_load_explicit(&s->servers->state, memory_order_acquire);
    if (state == FAILED)
        return rs_fail(s->servers->status, "the first PE on this GPU, which serves the others, failed: %s",
                       s->servers->text);
    if (state == ENDED && rs_gpu_served(gpu))
        return rs_fail(RS_E_STATE, "the first PE on this GPU, which serves the others, has left the job");
    return 0;
}

static void wake(struct rs_gpu_service *s)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&s->servers->sleeping, memory_order_relaxed)) return;
    atomic_fetch_add_explicit(&s->servers->bell, 1, memory_order_relaxed);
    rs_os_futex_wake(&s->servers->bell);
}

static void fill(const struct rs_gpu_service *s, struct request *r, int local, uintptr_t at)
{
    r->local = local;
    r->offset = at - s->base[local];
}

/* The request now is filled in, but for the place. */
static int ask(struct rs_gpu *gpu, uint64_t *old_out)
{
    struct rs_gpu_service *s = gpu->service;
    struct request *r = &s->mine->now;
    struct rs_wait wait;
    uint64_t ticket = ++s->ticket;
    atomic_store_explicit(&r->asked, ticket, memory_order_release);
    wake(s);
    rs_gpu_now_wait(gpu, &wait);
    while (atomic_load_explicit(&r->done, memory_order_acquire) != ticket) {
        RS_TRY(rs_wait_pause(&wait));
        RS_TRY(rs_gpu_service_look(gpu));
    }
    if (old_out) *old_out = r->old;
    return 0;
}

/* Nobody serves me, or a wait for the last request was broken off. */
static bool is_free(const struct rs_gpu *gpu)
{
    const struct rs_gpu_service *s = gpu->service;
    return rs_gpu_served(gpu) && atomic_load_explicit(&s->mine->now.done, memory_order_acquire) == s->ticket;
}

int rs_gpu_service_amo(struct rs_gpu *gpu, uint32_t op, void *word, size_t width, uint64_t value,
                       uint64_t cond, uint64_t *old_out)
{
    struct rs_gpu_service *s = gpu->service;
    struct request *r = &s->mine->now;
    bool simple = op == RS_AMO_FETCH || op == RS_AMO_SET; /* 2 PEs have it sooner by themselves */
    int local = locate(s, (uintptr_t)word, width);
    if (!is_free(gpu) || local < 0 || width < 4 || (simple && s->sharers == 2)) return 1;
    fill(s, r, local, (uintptr_t)word);
    r->op = op;
    r->width = (uint32_t)width;
    r->value = value;
    r->cond = cond;
    RS_TRY(ask(gpu, old_out));
    if (op == RS_AMO_SET && old_out) *old_out = 0;
    return 0;
}

int rs_gpu_service_put(struct rs_gpu *gpu, void *dst, const void *src, size_t nbytes)
{
    struct rs_gpu_service *s = gpu->service;
    struct request *r = &s->mine->now;
    int local = locate(s, (uintptr_t)dst, nbytes);
    if (!is_free(gpu) || nbytes > DATA_NBYTES || local < 0 || !gpu->drv->is_pageable(gpu->drv, src)) return 1;
    memcpy(s->mine->data, src, nbytes);
    fill(s, r, local, (uintptr_t)dst);
    r->op = RS_REQUEST_PUT;
    r->width = (uint32_t)nbytes;
    return ask(gpu, NULL);
}

/* The stream asks, and waits until it is done. */
static int push_add(struct rs_gpu *gpu, void *stream, struct request *r, uint64_t ticket)
{
    const struct rs_gpu_driver *drv = gpu->drv;
    union rs_gpu_op ops[2];
    int code;
    memset(ops, 0, sizeof ops);
    ops[0].u.operation = RS_GPU_OP_WRITE64;
    ops[0].u.address = (uintptr_t)&r->asked;
    ops[1].u.operation = RS_GPU_OP_WAIT64;
    ops[1].u.address = (uintptr_t)&r->done;
    ops[0].u.value = ops[1].u.value = ticket;
    ops[1].u.flags = RS_GPU_WAIT_EQ;
    if (drv->batch) {
        code = drv->batch(stream, 2, ops, 0);
    } else {
        code = drv->write64(stream, ops[0].u.address, ticket, 0);
        if (code == 0) code = drv->wait64(drv, stream, ops[1].u.address, ticket, RS_GPU_WAIT_EQ);
    }
    return code ? rs_gpu_fail_stream(gpu, code, "ask for an addition in a stream", stream) : 0;
}

int rs_gpu_service_add(struct rs_gpu *gpu, void *stream, uint64_t *word, uint64_t value)
{
    struct rs_gpu_service *s = gpu->service;
    int capturing = 0, local = locate(s, (uintptr_t)word, sizeof *word);
    if (!s->registered || !rs_gpu_served(gpu) || local < 0) return 1;
    int code = gpu->drv->stream_capturing(stream, &capturing);
    if (code) return rs_gpu_fail_stream(gpu, code, "look at a stream", stream);
    if (capturing) return 1; /* a replay needs a ticket that differs each time */
    RS_TRY(rs_gpu_service_look(gpu));
    pthread_mutex_lock(&s->lock);
    struct request *r = &s->mine->ring[s->head % RING];
    uint64_t ticket = s->head + 1, before = s->head < RING ? 0 : ticket - RING;
    int rc = 1;
    if (atomic_load_explicit(&r->done, memory_order_acquire) == before) {
        fill(s, r, local, (uintptr_t)word);
        r->op = RS_AMO_ADD;
        r->width = sizeof *word;
        r->value = value;
        /* The server looks at it from now on, and finds it asked when the stream gets there. Where the stream
         * takes only half, or nothing, the entry is lost: later ones find the ring full and go another way. */
        atomic_store_explicit(&s->mine->head, ++s->head, memory_order_release);
        rc = push_add(gpu, stream, r, ticket);
        wake(s);
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* ---- serving ---- */

static void take(struct rs_gpu_service *s, struct request *r, uint64_t ticket, const unsigned char *data,
                 unsigned *n)
{
    struct rs_request *work = &s->work[*n];
    if (r->local < 0 || r->local >= s->n_local || r->offset >= s->window_nbytes) return; /* never of ours */
    unsigned char *room = s->data + (size_t)*n * DATA_NBYTES;
    work->word = (uint64_t *)(s->base[r->local] + r->offset);
    work->value = r->value;
    work->cond = r->cond;
    work->op = r->op;
    work->width = r->width;
    work->data = room;
    if (r->op == RS_REQUEST_PUT && data && r->width <= DATA_NBYTES) memcpy(room, data, r->width);
    s->from[*n] = r;
    s->tickets[*n] = ticket;
    ++*n;
}

/* Everything that is asked. waiting: streams will ask without a bell. */
static unsigned collect(struct rs_gpu_service *s, bool *waiting)
{
    unsigned n = 0;
    *waiting = false;
    for (int i = 0; i < s->n_local; i++) {
        struct block *block = block_of(s, i);
        if (!s->gpu->shares[i] || i == s->my_local) continue;
        uint64_t asked = atomic_load_explicit(&block->now.asked, memory_order_acquire);
        uint64_t head = atomic_load_explicit(&block->head, memory_order_acquire);
        if (asked != atomic_load_explicit(&block->now.done, memory_order_relaxed) && n < BATCH_MOST)
            take(s, &block->now, asked, block->data, &n);
        for (uint64_t t = s->tails[i] + 1; t <= head; t++) {
            struct request *r = &block->ring[(t - 1) % RING];
            if (atomic_load_explicit(&r->done, memory_order_relaxed) == t) {
                if (t == s->tails[i] + 1) s->tails[i] = t;
                continue;
            }
            *waiting = true;
            if (n < BATCH_MOST && atomic_load_explicit(&r->asked, memory_order_acquire) == t)
                take(s, r, t, NULL, &n);
        }
    }
    return n;
}

static int await(struct rs_gpu_service *s, const struct rs_request *work)
{
    const struct rs_gpu_driver *drv = s->gpu->drv;
    uint64_t leave_ns = 0, look_ns = 0;
    for (uint32_t polls = 0; __atomic_load_n(&work->done, __ATOMIC_ACQUIRE) != s->batch; polls++) {
        rs_cpu_relax();
        if (polls < 64 || polls % 16) continue;
        uint64_t now = rs_os_now_ns();
        if (s->gpu->watch->spin_count == 0)
            rs_wait_sleep_ns(NAP_NS);
        else if (polls > 4096)
            sched_yield();
        if (look_ns == 0) look_ns = now + 1000000u;
        if (now < look_ns) continue;
        look_ns = now + 1000000u;
        int code = drv->stream_query(s->stream);
        if (code == 0 && __atomic_load_n(&work->done, __ATOMIC_ACQUIRE) != s->batch)
            return rs_fail(RS_E_DEVICE, "a kernel ended without a result");
        if (code && code != drv->not_ready) return rs_gpu_fail(drv, code, "run a kernel for other PEs");
        if (!atomic_load_explicit(&s->stop, memory_order_acquire)) continue;
        if (leave_ns == 0) leave_ns = now + LEAVE_NS;
        if (now > leave_ns) return rs_fail(RS_E_DEVICE, "a kernel does not end");
    }
    return 0;
}

static int run(struct rs_gpu_service *s, unsigned n)
{
    uint64_t ticket = ++s->batch;
    uint32_t count = n;
    struct rs_request *work = s->work;
    void *arguments[] = {&work, &ticket, &count};
    RS_TRY(rs_gpu_launch(s->gpu, RS_GPU_KERNEL_SERVE, n, s->stream, arguments));
    for (unsigned i = 0; i < n; i++) {
        RS_TRY(await(s, &work[i]));
        s->from[i]->old = work[i].old;
        atomic_store_explicit(&s->from[i]->done, s->tickets[i], memory_order_release);
    }
    return 0;
}

/* Until a bell, or soon. */
static void rest(struct rs_gpu_service *s, uint64_t idle_ns, bool waiting)
{
    struct block *mine = s->mine;
    bool busy = s->gpu->watch->spin_count > 0; /* there are cores to spin on */
    if (busy && idle_ns < SPIN_NS)
        rs_cpu_relax();
    else if (busy && idle_ns < YIELD_NS)
        sched_yield();
    else if (waiting)
        rs_wait_sleep_ns(NAP_NS);
    else {
        uint32_t bell = atomic_load_explicit(&mine->bell, memory_order_relaxed);
        atomic_store_explicit(&mine->sleeping, 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        if (collect(s, &waiting) == 0 && !waiting && !atomic_load_explicit(&s->stop, memory_order_acquire))
            rs_os_futex_wait(&mine->bell, bell, SLEEP_NS);
        atomic_store_explicit(&mine->sleeping, 0, memory_order_relaxed);
    }
}

static void *serve(void *arg)
{
    struct rs_gpu_service *s = arg;
    const struct rs_gpu_driver *drv = s->gpu->drv;
    int mode = 2, code = drv->set_current(drv, s->gpu->context);
    int rc = code ? rs_gpu_fail(drv, code, "use the device of this job in a thread") : 0;
    drv->capture_mode(&mode); /* relaxed: no part of anybody's capture */
    uint64_t last_ns = rs_os_now_ns();
    while (rc == 0 && !atomic_load_explicit(&s->stop, memory_order_acquire)) {
        bool waiting;
        unsigned n = collect(s, &waiting);
        if (n > 0) {
            rc = run(s, n);
            last_ns = rs_os_now_ns();
        } else {
            rest(s, rs_os_now_ns() - last_ns, waiting);
        }
    }
    if (rc < 0) {
        s->mine->status = rc;
        snprintf(s->mine->text, sizeof s->mine->text, "%.*s", (int)sizeof s->mine->text - 1,
                 rs_error_slot()->text);
        rs_log(RS_LOG_WARN, "the service of this GPU for other PEs ends: %s", s->mine->text);
    }
    atomic_store_explicit(&s->mine->state, rc < 0 ? FAILED : ENDED, memory_order_release);
    return NULL;
}

/* ---- beginning and end ---- */

static int start_server(struct rs_device *dev, struct rs_gpu_service *s)
{
    void *words;
    s->tails = calloc((size_t)s->n_local, sizeof *s->tails);
    if (!s->tails) return rs_fail(RS_E_NOMEM, "no memory to serve other PEs");
    RS_TRY(rs_gpu_words_alloc(dev, BATCH_MOST * (sizeof *s->work + DATA_NBYTES), &words));
    s->work = words;
    s->data = (unsigned char *)words + BATCH_MOST * sizeof *s->work;
    int code = rs_gpu_stream_of_ours(s->gpu->drv, &s->stream);
    if (code) return rs_gpu_fail(s->gpu->drv, code, "make a stream");
    atomic_store_explicit(&s->mine->state, SERVES, memory_order_release);
    RS_TRY(rs_os_thread_start(&s->thread, "rocshmem-gpu", serve, s));
    s->started = true;
    return 0;
}

/* Streams write and wait there. Where that can't be, they run kernels. */
static void register_ring(struct rs_gpu_service *s)
{
    const struct rs_gpu_driver *drv = s->gpu->drv;
    uintptr_t there = 0;
    int code = drv->host_register(s->mine->ring, sizeof s->mine->ring, 3 /* all contexts, mapped */);
    if (code == 0 && drv->host_pointer(&there, s->mine->ring, 0) == 0 && there == (uintptr_t)s->mine->ring)
        s->registered = true;
    else if (code == 0)
        drv->host_unregister(s->mine->ring);
    if (!s->registered)
        rs_log(RS_LOG_INFO, "shared memory can't be registered (%d): streams add by kernels", code);
}

int rs_gpu_serve(struct rs_device *dev, const struct rs_windows *windows, void *shared)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    int sharers = 0, server = -1;
    for (int i = windows->n_local - 1; i >= 0; i--) {
        if (!gpu->shares[i]) continue;
        sharers++;
        server = i;
    }
    if (sharers < 2 || (gpu->drv->vendor == RS_GPU_VENDOR_HIP && !gpu->kernels[0])) return 0;
    struct rs_gpu_service *s = calloc(1, sizeof *s);
    uintptr_t *base = calloc((size_t)windows->n_local, sizeof *base);
    if (!s || !base) {
        free(s);
        free(base);
        return rs_fail(RS_E_NOMEM, "no memory to share a GPU with other PEs");
    }
    memcpy(base, windows->base, (size_t)windows->n_local * sizeof *base);
    s->gpu = gpu;
    s->shared = shared;
    s->n_local = windows->n_local;
    s->my_local = windows->my_local;
    s->server = server;
    s->sharers = sharers;
    s->base = base;
    s->window_nbytes = windows->nbytes;
    s->mine = block_of(s, s->my_local);
    s->servers = block_of(s, server);
    pthread_mutex_init(&s->lock, NULL);
    gpu->service = s; /* closing frees it, also when this fails */
    RS_TRY(rs_gpu_enter(gpu, &entry));
    int rc = 0;
    if (server == s->my_local)
        rc = start_server(dev, s);
    else
        register_ring(s);
    rs_gpu_leave(gpu, &entry);
    return rc;
}

void rs_gpu_service_end(struct rs_gpu *gpu)
{
    struct rs_gpu_service *s = gpu->service;
    if (!s || !s->started) return;
    atomic_store_explicit(&s->stop, true, memory_order_release);
    wake(s);
    pthread_join(s->thread, NULL);
    s->started = false;
}

void rs_gpu_service_free(struct rs_gpu *gpu)
{
    struct rs_gpu_service *s = gpu->service;
    if (!s) return;
    if (s->registered) gpu->drv->host_unregister(s->mine->ring);
    if (s->stream) gpu->drv->stream_destroy(s->stream);
    pthread_mutex_destroy(&s->lock);
    free(s->tails);
    free(s->base);
    free(s);
    gpu->service = NULL;
}
