/* SPDX-License-Identifier: MIT
 *
 * What a PE does on its GPU for other PEs of the host: a thread of it takes what they ask (gpu_service.h).
 *
 * One PE of a GPU, the first of the host on it, does so for all on that GPU: what several processes run on the GPU's
 * processors, kernels and copies within device memory, takes turns by time slices. And every PE does so for those whose
 * GPU can't reach this one's memory. Atomics and small puts of the CPUs go into one kernel, all that are asked at a
 * time; copies, words and reductions go to streams of this PE, which say themselves when they are done.
 *
 * An idle server sleeps in a futex. Who asks looks at `sleeping` after its store, the server at all requests
 * after its own; a full fence between the two on both sides lets at least one see the other.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/os.h"
#include "base/status.h"
#include "device/gpu_service.h"

#define SPIN_NS 100000u    /* after the last request: poll, */
#define YIELD_NS 2000000u  /* then yield, then nap or sleep */
#define BUSY_NS 200000000u /* until then naps are short */
#define NAP_NS 20000u
#define LONG_NAP_NS 200000u
#define SLEEP_NS 100000000u
#define LOOK_NS 5000000u     /* at the streams: did one fail? */
#define LEAVE_NS 2000000000u /* for a kernel, when the PE leaves */

/* ---- what is asked ---- */

/* Where it is: in a window, or in its PE's chunks. 0: never of ours. */
static uintptr_t address_of(const struct rs_gpu_service *s, int from, int local, uint64_t offset)
{
    if (local == -1)
        return offset < sizeof s->mine->chunks ? (uintptr_t)rs_service_block_of(s, from)->chunks + offset : 0;
    if (local < 0 || local >= s->n_local || offset >= s->window_nbytes || s->far[local]) return 0;
    return s->base[local] + offset;
}

static int push_one(struct rs_gpu_service *s, int from, const struct rs_ask *r, void *stream)
{
    const struct rs_gpu_driver *drv = s->gpu->drv;
    uintptr_t dst = address_of(s, from, r->dst_local, r->dst);
    uintptr_t src = r->op == RS_ASK_WRITE ? dst : address_of(s, from, r->src_local, r->src);
    if (!dst || !src) return 0;
    if (r->op == RS_ASK_REDUCE) {
        struct rs_gpu_reduce reduce = {.dest = dst,
                                       .source = src,
                                       .stride = s->gpu->stride,
                                       .members = r->value,
                                       .n = r->nbytes,
                                       .kind = (uint32_t)(r->cond >> 32),
                                       .op = (uint32_t)r->cond};
        return rs_gpu_reduce_launch(s->gpu, stream, &reduce);
    }
    int code = r->op == RS_ASK_WRITE                      ? drv->write64(stream, dst, r->value, 0)
               : r->dst_local == -1 || r->src_local == -1 ? drv->copy(drv, dst, src, r->nbytes, stream)
                                                          : drv->copy_device(dst, src, r->nbytes, stream);
    return code ? rs_gpu_fail(drv, code, "copy for other PEs") : 0;
}

/* The request and those that belong to it, as place i and the next ones of a ring of n. Its fields are used up then; the
 * stream says when it is done. */
static int push_group(struct rs_gpu_service *s, int from, struct rs_ask *ring, uint64_t i, unsigned n,
                      uint64_t ticket, bool captured)
{
    struct rs_ask *first = &ring[i % n];
    void *stream = s->streams[(unsigned)from % RS_SERVICE_STREAMS];
    unsigned more = first->more;
    for (unsigned k = 0; k <= more; k++) RS_TRY(push_one(s, from, &ring[(i + k) % n], stream));
    for (unsigned k = 1; k <= more && !captured; k++)
        atomic_store_explicit(&ring[(i + k) % n].done, ticket + k, memory_order_release);
    int code = s->gpu->drv->write64(stream, (uintptr_t)&first->done, ticket, 0);
    return code ? rs_gpu_fail(s->gpu->drv, code, "write a word for other PEs") : 0;
}

/* For the next kernel. */
static void take(struct rs_gpu_service *s, int from, struct rs_ask *r, uint64_t ticket, unsigned *n)
{
    struct rs_request *work = &s->work[*n];
    uintptr_t at = address_of(s, from, r->dst_local, r->dst);
    if (!at || r->dst_local == -1) return;
    unsigned char *room = s->data + (size_t)*n * RS_ASK_DATA_NBYTES;
    work->word = (uint64_t *)at;
    work->value = r->value;
    work->cond = r->cond;
    work->op = r->op;
    work->width = (uint32_t)r->nbytes;
    work->data = room;
    work->signal = NULL;
    if (r->op == RS_REQUEST_PUT && r->nbytes <= RS_ASK_DATA_NBYTES) {
        memcpy(room, rs_service_block_of(s, from)->data, r->nbytes);
        if (r->src_local >= 0) work->signal = (uint64_t *)address_of(s, from, r->src_local, r->src);
    }
    s->from[*n] = r;
    s->tickets[*n] = ticket;
    ++*n;
}

struct found {
    unsigned n;   /* for a kernel */
    bool any;     /* something was done or is to be done */
    bool waiting; /* streams will ask without a bell */
};

static int take_any(struct rs_gpu_service *s, int from, struct rs_ask *ring, uint64_t i, unsigned n,
                    uint64_t ticket, bool captured, struct found *found)
{
    struct rs_ask *r = &ring[i % n];
    found->any = true;
    if (r->op >= RS_ASK_COPY) return push_group(s, from, ring, i, n, ticket, captured);
    take(s, from, r, ticket, &found->n);
    return 0;
}

static int collect_ring(struct rs_gpu_service *s, int i, struct found *found)
{
    struct rs_service_block *block = rs_service_block_of(s, i);
    uint64_t *issued = s->issued + (size_t)i * (RS_ASK_RING + 1);
    uint64_t head = atomic_load_explicit(&block->head, memory_order_acquire);
    for (uint64_t t = s->tails[i] + 1; t <= head; t++) {
        struct rs_ask *r = &block->ring[(t - 1) % RS_ASK_RING];
        if (atomic_load_explicit(&r->done, memory_order_acquire) == t) {
            if (t == s->tails[i] + 1) s->tails[i] = t;
            continue;
        }
        if (r->to != s->my_local) continue;
        found->waiting = true;
        if (found->n == RS_SERVICE_BATCH || issued[(t - 1) % RS_ASK_RING] == t) continue;
        if (atomic_load_explicit(&r->asked, memory_order_acquire) != t) continue;
        issued[(t - 1) % RS_ASK_RING] = t;
        RS_TRY(take_any(s, i, block->ring, t - 1, RS_ASK_RING, t, false, found));
    }
    return 0;
}

static int collect_captured(struct rs_gpu_service *s, int i, struct found *found)
{
    struct rs_service_block *block = rs_service_block_of(s, i);
    uint32_t n = atomic_load_explicit(&block->n_captured, memory_order_acquire);
    for (uint32_t k = 0; k < n && k < RS_ASK_CAPTURED; k++) {
        struct rs_ask *r = &block->captured[k];
        if (r->to != s->my_local) continue;
        found->waiting = true;
        if (found->n == RS_SERVICE_BATCH) return 0;
        if (atomic_load_explicit(&r->asked, memory_order_acquire) == 0) continue;
        /* It is asked again only after it was done. */
        atomic_store_explicit(&r->asked, 0, memory_order_relaxed);
        RS_TRY(take_any(s, i, block->captured, k, RS_ASK_CAPTURED, 1, true, found));
    }
    return 0;
}

/* Everything that is asked. */
static int collect(struct rs_gpu_service *s, struct found *found)
{
    *found = (struct found){0};
    for (int i = 0; i < s->n_local; i++) {
        if (!s->asks[i]) continue;
        struct rs_ask *now = &rs_service_block_of(s, i)->now;
        uint64_t *issued = s->issued + (size_t)i * (RS_ASK_RING + 1) + RS_ASK_RING;
        uint64_t asked = atomic_load_explicit(&now->asked, memory_order_acquire);
        if (asked != *issued && found->n < RS_SERVICE_BATCH) {
            /* Asked by another ticket than before: the fields are this one's, also whose it is. */
            *issued = asked;
            if (now->to == s->my_local) RS_TRY(take_any(s, i, now, 0, 1, asked, false, found));
        }
        RS_TRY(collect_ring(s, i, found));
        RS_TRY(collect_captured(s, i, found));
    }
    return 0;
}

/* ---- serving ---- */

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
    RS_TRY(rs_gpu_launch(s->gpu, RS_GPU_KERNEL_SERVE, 1, n, s->stream, arguments));
    for (unsigned i = 0; i < n; i++) {
        RS_TRY(await(s, &work[i]));
        s->from[i]->old = work[i].old;
        atomic_store_explicit(&s->from[i]->done, s->tickets[i], memory_order_release);
    }
    return 0;
}

/* A copy that fails gives no sign but this. */
static int look_at_streams(const struct rs_gpu_service *s)
{
    const struct rs_gpu_driver *drv = s->gpu->drv;
    for (unsigned i = 0; i < RS_SERVICE_STREAMS; i++) {
        int code = drv->stream_query(s->streams[i]);
        if (code && code != drv->not_ready) return rs_gpu_fail(drv, code, "copy for other PEs");
    }
    return 0;
}

/* Until a bell, or soon. */
static int rest(struct rs_gpu_service *s, uint64_t idle_ns, bool waiting)
{
    struct rs_service_block *mine = s->mine;
    struct found found = {0};
    bool busy = s->gpu->watch->spin_count > 0; /* there are cores to spin on */
    int rc = 0;
    if (busy && idle_ns < SPIN_NS)
        rs_cpu_relax();
    else if (busy && idle_ns < YIELD_NS)
        sched_yield();
    else if (waiting)
        rs_wait_sleep_ns(idle_ns < BUSY_NS ? NAP_NS : LONG_NAP_NS);
    else {
        uint32_t bell = atomic_load_explicit(&mine->bell, memory_order_relaxed);
        atomic_store_explicit(&mine->sleeping, 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        rc = collect(s, &found);
        if (rc == 0 && !found.any && !found.waiting && !atomic_load_explicit(&s->stop, memory_order_acquire))
            rs_os_futex_wait(&mine->bell, bell, SLEEP_NS);
        atomic_store_explicit(&mine->sleeping, 0, memory_order_relaxed);
        if (rc == 0 && found.n > 0) rc = run(s, found.n);
    }
    return rc;
}

static int serve_once(struct rs_gpu_service *s, uint64_t *last_ns, uint64_t *look_ns)
{
    struct found found;
    RS_TRY(collect(s, &found));
    if (found.n > 0) RS_TRY(run(s, found.n));
    if (found.any) {
        *last_ns = rs_os_now_ns();
        return 0;
    }
    uint64_t now = rs_os_now_ns();
    if (found.waiting && now > *look_ns) {
        *look_ns = now + LOOK_NS;
        RS_TRY(look_at_streams(s));
    }
    return rest(s, now - *last_ns, found.waiting);
}

static void *serve(void *arg)
{
    struct rs_gpu_service *s = arg;
    const struct rs_gpu_driver *drv = s->gpu->drv;
    int mode = 2, code = drv->set_current(drv, s->gpu->context);
    int rc = code ? rs_gpu_fail(drv, code, "use the device of this job in a thread") : 0;
    drv->capture_mode(&mode); /* relaxed: no part of anybody's capture */
    uint64_t last_ns = rs_os_now_ns(), look_ns = 0;
    while (rc == 0 && !atomic_load_explicit(&s->stop, memory_order_acquire))
        rc = serve_once(s, &last_ns, &look_ns);
    if (rc < 0) {
        s->mine->status = rc;
        snprintf(s->mine->text, sizeof s->mine->text, "%.*s", (int)sizeof s->mine->text - 1,
                 rs_error_slot()->text);
        rs_log(RS_LOG_WARN, "the service of this GPU for other PEs ends: %s", s->mine->text);
    }
    atomic_store_explicit(&s->mine->state, rc < 0 ? RS_SERVICE_FAILED : RS_SERVICE_ENDED,
                          memory_order_release);
    return NULL;
}

/* ---- beginning and end ---- */

/* What streams here write to and wait for. */
static void register_block(struct rs_gpu_service *s, int local)
{
    const struct rs_gpu_driver *drv = s->gpu->drv;
    struct rs_service_block *block = rs_service_block_of(s, local);
    size_t nbytes = s->any_far ? sizeof *block : RS_SERVICE_HEAD_NBYTES;
    uintptr_t there = 0;
    int code = drv->host_register(block, nbytes, 3 /* all contexts, mapped */);
    if (code == 0 && drv->host_pointer(&there, block, 0) == 0 && there == (uintptr_t)block)
        s->registered[local] = true;
    else if (code == 0)
        drv->host_unregister(block);
    if (!s->registered[local])
        rs_log(RS_LOG_INFO, "shared memory can't be registered (%d): streams ask no other PE", code);
}

static int start_server(struct rs_device *dev, struct rs_gpu_service *s)
{
    void *words;
    s->tails = calloc((size_t)s->n_local, sizeof *s->tails);
    s->issued = calloc((size_t)s->n_local * (RS_ASK_RING + 1), sizeof *s->issued);
    if (!s->tails || !s->issued) return rs_fail(RS_E_NOMEM, "no memory to serve other PEs");
    RS_TRY(rs_gpu_words_alloc(dev, RS_SERVICE_BATCH * (sizeof *s->work + RS_ASK_DATA_NBYTES), &words));
    s->work = words;
    s->data = (unsigned char *)words + RS_SERVICE_BATCH * sizeof *s->work;
    int code = rs_gpu_stream_of_ours(s->gpu->drv, &s->stream);
    for (unsigned i = 0; code == 0 && i < RS_SERVICE_STREAMS; i++)
        code = rs_gpu_stream_of_ours(s->gpu->drv, &s->streams[i]);
    if (code) return rs_gpu_fail(s->gpu->drv, code, "make a stream");
    bool streams = true;
    for (int i = 0; i < s->n_local; i++) {
        if (!s->asks[i]) continue;
        register_block(s, i);
        streams = streams && s->registered[i];
    }
    s->mine->streams = streams;
    atomic_store_explicit(&s->mine->state, RS_SERVICE_RUNS, memory_order_release);
    RS_TRY(rs_os_thread_start(&s->thread, "rocshmem-gpu", serve, s));
    s->started = true;
    return 0;
}

/* Who is on this GPU, who can't be reached, and so who asks here. Whether there is anything to ask at all. */
static bool know_others(struct rs_gpu_service *s, const struct rs_windows *windows)
{
    const struct rs_gpu *gpu = s->gpu;
    bool asked = false;
    s->server = -1;
    for (int i = windows->n_local - 1; i >= 0; i--) {
        s->far[i] = windows->named && windows->named[i];
        s->any_far |= s->far[i];
        if (!gpu->shares[i]) continue;
        s->sharers++;
        s->server = i;
    }
    /* HIP has kernels of ours only if they are given. */
    s->is_shared = s->sharers > 1 && rs_gpu_has_kernels(gpu);
    for (int i = 0; i < windows->n_local; i++) {
        s->asks[i] =
            s->far[i] || (s->is_shared && s->server == s->my_local && gpu->shares[i] && i != s->my_local);
        asked |= s->asks[i];
    }
    if (!asked) {
        free(s->asks);
        s->asks = NULL;
    }
    return s->is_shared || s->any_far;
}

static void service_free(struct rs_gpu_service *s)
{
    pthread_mutex_destroy(&s->lock);
    free(s->tails);
    free(s->issued);
    free(s->base);
    free(s->far);
    free(s->registered);
    free(s->asks);
    free(s);
}

static int service_new(struct rs_gpu *gpu, const struct rs_windows *windows, void *shared,
                       struct rs_gpu_service **service_out)
{
    size_t n = (size_t)windows->n_local;
    struct rs_gpu_service *s = calloc(1, sizeof *s);
    if (!s) return rs_fail(RS_E_NOMEM, "no memory to share a GPU with other PEs");
    pthread_mutex_init(&s->lock, NULL);
    s->base = calloc(n, sizeof *s->base);
    s->far = calloc(n, sizeof *s->far);
    s->registered = calloc(n, sizeof *s->registered);
    s->asks = calloc(n, sizeof *s->asks);
    if (!s->base || !s->far || !s->registered || !s->asks) {
        service_free(s);
        return rs_fail(RS_E_NOMEM, "no memory to share a GPU with other PEs");
    }
    memcpy(s->base, windows->base, n * sizeof *s->base);
    s->gpu = gpu;
    s->shared = shared;
    s->n_local = windows->n_local;
    s->my_local = windows->my_local;
    s->window_nbytes = windows->nbytes;
    s->spare = (windows->nbytes - RS_WINDOW_SPARE + 15) & ~(size_t)15;
    s->mine = rs_service_block_of(s, s->my_local);
    *service_out = s;
    return 0;
}

int rs_gpu_serve(struct rs_device *dev, const struct rs_windows *windows, void *shared)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    struct rs_gpu_service *s = NULL;
    RS_TRY(service_new(gpu, windows, shared, &s));
    if (!know_others(s, windows)) {
        service_free(s);
        return 0;
    }
    gpu->service = s; /* closing frees it, also when this fails */
    RS_TRY(rs_gpu_enter(gpu, &entry));
    int rc = s->asks ? start_server(dev, s) : 0;
    if (rc == 0 && (rs_gpu_served(gpu) || s->any_far)) register_block(s, s->my_local);
    rs_gpu_leave(gpu, &entry);
    return rc;
}

void rs_gpu_service_end(struct rs_gpu *gpu)
{
    struct rs_gpu_service *s = gpu->service;
    if (!s || !s->started) return;
    atomic_store_explicit(&s->stop, true, memory_order_release);
    rs_service_wake(s, s->my_local);
    pthread_join(s->thread, NULL);
    s->started = false;
}

void rs_gpu_service_free(struct rs_gpu *gpu)
{
    struct rs_gpu_service *s = gpu->service;
    if (!s) return;
    for (int i = 0; i < s->n_local; i++)
        if (s->registered[i]) gpu->drv->host_unregister(rs_service_block_of(s, i));
    if (s->stream) gpu->drv->stream_destroy(s->stream);
    for (unsigned i = 0; i < RS_SERVICE_STREAMS; i++)
        if (s->streams[i]) gpu->drv->stream_destroy(s->streams[i]);
    service_free(s);
    gpu->service = NULL;
}
