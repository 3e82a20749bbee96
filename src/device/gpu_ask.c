/* SPDX-License-Identifier: MIT
 *
 * Asking another PE of the host to do something on its GPU: the one that serves the PEs of this GPU, or the one whose
 * window can't be reached from here. See gpu_service.h for a request's life.
 *
 * Streams ring no bell, so while a ring has requests that are not done, and once a PE has requests in graphs, the
 * server naps instead of sleeping.
 */
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "device/gpu_service.h"

int rs_gpu_sharers(const struct rs_gpu *gpu)
{
    return gpu->service ? gpu->service->sharers : 1;
}

bool rs_gpu_takes_turns(const struct rs_device *dev)
{
    const struct rs_gpu *gpu = dev->state;
    return gpu->service && gpu->service->is_shared && gpu->service->sharers == gpu->service->n_local;
}

bool rs_gpu_served(const struct rs_gpu *gpu)
{
    const struct rs_gpu_service *s = gpu->service;
    return s && s->is_shared && s->server != s->my_local;
}

int rs_service_locate(const struct rs_gpu_service *s, uintptr_t at, size_t nbytes)
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
           (gpu->service && rs_service_locate(gpu->service, at, nbytes) >= 0);
}

uintptr_t rs_gpu_spare(const struct rs_gpu *gpu, uintptr_t at)
{
    const struct rs_gpu_service *s = gpu->service;
    int local = rs_service_locate(s, at, 1);
    return local >= 0 ? s->base[local] + s->spare : 0;
}

int rs_gpu_far(const struct rs_gpu *gpu, uintptr_t at)
{
    const struct rs_gpu_service *s = gpu->service;
    if (RS_LIKELY(!s || !s->any_far)) return -1;
    int local = rs_service_locate(s, at, 1);
    return local >= 0 && s->far[local] ? local : -1;
}

/* Who does something in a window for this PE, or -1. */
static int who_serves(const struct rs_gpu *gpu, int local)
{
    const struct rs_gpu_service *s = gpu->service;
    if (local < 0) return -1;
    if (s->far[local]) return local;
    return rs_gpu_served(gpu) ? s->server : -1;
}

static int look_at(const struct rs_gpu_service *s, int local)
{
    const struct rs_service_block *block = rs_service_block_of(s, local);
    const char *who = s->far[local] ? "the PE" : "the first PE on this GPU";
    switch (atomic_load_explicit(&block->state, memory_order_acquire)) {
    case RS_SERVICE_FAILED:
        return rs_fail(block->status, "%s that serves others here failed: %s", who, block->text);
    case RS_SERVICE_ENDED:
        return rs_fail(RS_E_STATE, "%s that serves others here has left the job", who);
    case RS_SERVICE_NOT_YET:
        return rs_fail(
            RS_E_CONFIG,
            "the GPU of the PE with local number %d can't be reached from here, but this one's from "
            "there; let all PEs of a host see the same GPUs",
            local);
    default:
        return 0;
    }
}

int rs_gpu_service_look(struct rs_gpu *gpu)
{
    const struct rs_gpu_service *s = gpu->service;
    if (!s) return 0;
    if (rs_gpu_served(gpu)) RS_TRY(look_at(s, s->server));
    if (s->asks && atomic_load_explicit(&s->mine->state, memory_order_acquire) == RS_SERVICE_FAILED)
        return look_at(s, s->my_local);
    for (int i = 0; s->any_far && i < s->n_local; i++)
        if (s->far[i]) RS_TRY(look_at(s, i));
    return 0;
}

void rs_service_wake(const struct rs_gpu_service *s, int server)
{
    struct rs_service_block *block = rs_service_block_of(s, server);
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&block->sleeping, memory_order_relaxed)) return;
    atomic_fetch_add_explicit(&block->bell, 1, memory_order_relaxed);
    rs_os_futex_wake(&block->bell);
}

/* ---- by the CPU ---- */

/* One has not been given up waiting for. Under now_lock. */
static bool is_free(const struct rs_gpu_service *s)
{
    return atomic_load_explicit(&s->mine->now.done, memory_order_acquire) == s->ticket;
}

static void place(const struct rs_gpu_service *s, int local, uintptr_t at, int16_t *local_out,
                  uint64_t *offset_out)
{
    *local_out = (int16_t)local;
    *offset_out = at - s->base[local];
}

/* The request now is filled in. */
static int ask(struct rs_gpu *gpu, uint64_t *old_out)
{
    struct rs_gpu_service *s = gpu->service;
    struct rs_ask *r = &s->mine->now;
    struct rs_wait wait;
    uint64_t ticket = ++s->ticket;
    atomic_store_explicit(&r->asked, ticket, memory_order_release);
    rs_service_wake(s, r->to);
    rs_gpu_now_wait(gpu, &wait);
    while (atomic_load_explicit(&r->done, memory_order_acquire) != ticket) {
        RS_TRY(rs_wait_pause(&wait));
        RS_TRY(rs_gpu_service_look(gpu));
    }
    if (old_out) *old_out = r->old;
    return 0;
}

int rs_gpu_service_amo(struct rs_gpu *gpu, uint32_t op, void *word, size_t width, uint64_t value,
                       uint64_t cond, uint64_t *old_out)
{
    struct rs_gpu_service *s = gpu->service;
    struct rs_ask *r = &s->mine->now;
    bool simple = op == RS_AMO_FETCH || op == RS_AMO_SET;
    int local = rs_service_locate(s, (uintptr_t)word, width), to = who_serves(gpu, local);
    if (to < 0 || !is_free(s) || width < 4) return 1;
    /* 2 PEs of a GPU have it sooner by themselves; and a copy does it where the word is far. */
    if (simple && (s->far[local] || s->sharers == 2)) return 1;
    if (!rs_gpu_has_kernels(gpu)) return 1;
    place(s, local, (uintptr_t)word, &r->dst_local, &r->dst);
    r->to = (int16_t)to;
    r->op = op;
    r->nbytes = width;
    r->value = value;
    r->cond = cond;
    RS_TRY(ask(gpu, old_out));
    if (op == RS_AMO_SET && old_out) *old_out = 0;
    return 0;
}

int rs_gpu_service_put(struct rs_gpu *gpu, void *dst, const void *src, size_t nbytes,
                       const struct rs_memop *signal)
{
    struct rs_gpu_service *s = gpu->service;
    struct rs_ask *r = &s->mine->now;
    int local = rs_service_locate(s, (uintptr_t)dst, nbytes);
    int beside = signal ? rs_service_locate(s, (uintptr_t)signal->word, 8) : -1;
    if (!rs_gpu_served(gpu) || !is_free(s) || nbytes > RS_ASK_DATA_NBYTES || local < 0 || s->far[local])
        return 1;
    if (!gpu->drv->is_pageable(gpu->drv, src) || (signal && beside != local)) return 1;
    memcpy(s->mine->data, src, nbytes);
    place(s, local, (uintptr_t)dst, &r->dst_local, &r->dst);
    r->to = (int16_t)s->server;
    r->op = RS_REQUEST_PUT;
    r->nbytes = nbytes;
    r->src_local = -1;
    if (signal) {
        place(s, beside, (uintptr_t)signal->word, &r->src_local, &r->src);
        r->value = signal->value;
        r->cond = signal->kind == RS_MEMOP_ADD ? RS_AMO_ADD : RS_AMO_SET;
    }
    return ask(gpu, NULL);
}

int rs_gpu_service_copy_now(struct rs_gpu *gpu, uintptr_t dst, uintptr_t src, size_t nbytes)
{
    struct rs_gpu_service *s = gpu->service;
    struct rs_ask *r = &s->mine->now;
    int to_local = rs_service_locate(s, dst, nbytes), from_local = rs_service_locate(s, src, nbytes);
    if (!rs_gpu_served(gpu) || !is_free(s) || to_local < 0 || from_local < 0 || s->far[to_local] ||
        s->far[from_local] || !rs_service_block_of(s, s->server)->streams)
        return 1;
    place(s, to_local, dst, &r->dst_local, &r->dst);
    place(s, from_local, src, &r->src_local, &r->src);
    r->to = (int16_t)s->server;
    r->op = RS_ASK_COPY;
    r->nbytes = nbytes;
    return ask(gpu, NULL);
}

/* ---- in the order of a stream ---- */

/* The stream asks, waits until it is done, and in a graph makes room for the next time. */
static int push_memops(struct rs_gpu *gpu, void *stream, struct rs_ask *r, uint64_t ticket, bool captured)
{
    const struct rs_gpu_driver *drv = gpu->drv;
    union rs_gpu_op ops[3];
    unsigned n = captured ? 3 : 2;
    memset(ops, 0, sizeof ops);
    ops[0].u.operation = ops[2].u.operation = RS_GPU_OP_WRITE64;
    ops[1].u.operation = RS_GPU_OP_WAIT64;
    ops[0].u.address = (uintptr_t)&r->asked;
    ops[1].u.address = ops[2].u.address = (uintptr_t)&r->done;
    ops[0].u.value = ops[1].u.value = ticket;
    ops[1].u.flags = RS_GPU_WAIT_EQ;
    int code = rs_gpu_push_ops(drv, stream, ops, n);
    return code ? rs_gpu_fail_stream(gpu, code, "ask another PE in a stream", stream) : 0;
}

static void fill(struct rs_ask *r, const struct rs_ask *what)
{
    r->dst = what->dst;
    r->src = what->src;
    r->nbytes = what->nbytes;
    r->value = what->value;
    r->cond = what->cond;
    r->op = what->op;
    r->dst_local = what->dst_local;
    r->src_local = what->src_local;
    r->to = what->to;
    r->more = what->more;
}

static int push_captured(struct rs_gpu *gpu, void *stream, const struct rs_ask *asks, unsigned n, bool needed)
{
    struct rs_gpu_service *s = gpu->service;
    uint32_t first = atomic_load_explicit(&s->mine->n_captured, memory_order_relaxed);
    if (n > RS_ASK_CAPTURED - first)
        return needed
                   ? rs_fail(RS_E_LIMIT,
                             "graphs take at most %u operations on PEs whose GPU can't be reached from here",
                             RS_ASK_CAPTURED)
                   : 1;
    for (unsigned i = 0; i < n; i++) fill(&s->mine->captured[first + i], &asks[i]);
    /* The server looks at them from now on. */
    atomic_store_explicit(&s->mine->n_captured, first + n, memory_order_release);
    int rc = push_memops(gpu, stream, &s->mine->captured[first], 1, true);
    rs_service_wake(s, asks->to);
    return rc;
}

/* Where the stream takes only half, or nothing, the entries are lost: later ones find the ring full. */
static int push_locked(struct rs_gpu *gpu, void *stream, const struct rs_ask *asks, unsigned n)
{
    struct rs_gpu_service *s = gpu->service;
    uint64_t first = s->head + 1;
    for (uint64_t t = first; t < first + n; t++) {
        uint64_t before = t <= RS_ASK_RING ? 0 : t - RS_ASK_RING;
        const struct rs_ask *r = &s->mine->ring[(t - 1) % RS_ASK_RING];
        if (atomic_load_explicit(&r->done, memory_order_acquire) != before) return 1;
    }
    for (unsigned i = 0; i < n; i++) fill(&s->mine->ring[(first - 1 + i) % RS_ASK_RING], &asks[i]);
    s->head += n;
    /* The server looks at them from now on, and finds the first asked when the stream gets there. */
    atomic_store_explicit(&s->mine->head, s->head, memory_order_release);
    int rc = push_memops(gpu, stream, &s->mine->ring[(first - 1) % RS_ASK_RING], first, false);
    rs_service_wake(s, asks->to);
    return rc;
}

int rs_service_push(struct rs_gpu *gpu, void *stream, struct rs_ask *asks, unsigned n, bool needed)
{
    struct rs_gpu_service *s = gpu->service;
    struct rs_wait wait;
    int capturing = 0, rc;
    if (!s->registered[s->my_local] || !rs_service_block_of(s, asks->to)->streams) {
        RS_TRY(rs_gpu_service_look(gpu));
        return needed ? rs_fail(RS_E_UNSUPPORTED,
                                "the %s driver can't register shared memory, so no PE of "
                                "another GPU can be reached",
                                gpu->drv->name)
                      : 1;
    }
    int code = gpu->drv->stream_capturing(stream, &capturing);
    if (code) return rs_gpu_fail_stream(gpu, code, "look at a stream", stream);
    /* In a graph each PE works by itself, by turns, unless there is no other way. */
    if (capturing && !needed) return 1;
    RS_TRY(rs_gpu_service_look(gpu));
    asks->more = (uint16_t)(n - 1);
    rs_wait_begin(&wait, gpu->watch);
    do {
        pthread_mutex_lock(&s->lock);
        rc = capturing ? push_captured(gpu, stream, asks, n, needed) : push_locked(gpu, stream, asks, n);
        pthread_mutex_unlock(&s->lock);
        if (rc <= 0 || !needed) return rc;
        rc = rs_wait_pause(&wait);
    } while (rc == 0);
    return rc;
}

/* Each stream has one, and its order keeps the uses apart; so does a graph's for each copy in it. */
int rs_service_chunk(struct rs_gpu *gpu, void *stream, bool capturing, unsigned *chunk_out)
{
    const unsigned most = capturing ? RS_ASK_CHUNKS - RS_ASK_STREAM_CHUNKS : RS_ASK_STREAM_CHUNKS;
    struct rs_gpu_service *s = gpu->service;
    unsigned k = 0;
    int rc = 0;
    if (stream == (void *)2) stream = (void *)pthread_self(); /* another one in every thread */
    pthread_mutex_lock(&s->lock);
    if (capturing) {
        k = s->n_captured_chunks;
        if (k < most) s->n_captured_chunks++;
    } else {
        while (k < s->n_chunks && s->chunk_of[k] != stream) k++;
        if (k == s->n_chunks && k < most) s->chunk_of[s->n_chunks++] = stream;
    }
    pthread_mutex_unlock(&s->lock);
    if (k == most)
        rc = rs_fail(RS_E_LIMIT, "PEs whose GPU can't be reached from here are reached by at most %d %s",
                     (int)most, capturing ? "copies in graphs" : "streams");
    *chunk_out = capturing ? RS_ASK_STREAM_CHUNKS + k : k;
    return rc;
}

int rs_gpu_service_word(struct rs_gpu *gpu, void *stream, uint64_t *word, uint64_t value, bool add)
{
    struct rs_gpu_service *s = gpu->service;
    int local = rs_service_locate(s, (uintptr_t)word, sizeof *word), to = who_serves(gpu, local);
    if (to < 0) return 1;
    if (add && !rs_gpu_has_kernels(gpu)) return 1;
    struct rs_ask what = {.op = add ? RS_AMO_ADD : RS_ASK_WRITE, .nbytes = sizeof *word, .value = value};
    place(s, local, (uintptr_t)word, &what.dst_local, &what.dst);
    what.to = (int16_t)to;
    return rs_service_push(gpu, stream, &what, 1, s->far[local]);
}

int rs_gpu_service_copies(struct rs_gpu *gpu, void *stream, const struct rs_copy *copies, size_t n)
{
    enum { MOST = 32 };
    struct rs_gpu_service *s = gpu->service;
    struct rs_ask asks[MOST];
    if (!rs_gpu_served(gpu) || n > MOST || n == 0) return 1;
    memset(asks, 0, sizeof asks);
    for (size_t i = 0; i < n; i++) {
        int dst = rs_service_locate(s, (uintptr_t)copies[i].dst, copies[i].nbytes);
        int src = rs_service_locate(s, (uintptr_t)copies[i].src, copies[i].nbytes);
        if (dst < 0 || src < 0 || s->far[dst] || s->far[src]) return 1;
        place(s, dst, (uintptr_t)copies[i].dst, &asks[i].dst_local, &asks[i].dst);
        place(s, src, (uintptr_t)copies[i].src, &asks[i].src_local, &asks[i].src);
        asks[i].op = RS_ASK_COPY;
        asks[i].nbytes = copies[i].nbytes;
        asks[i].to = (int16_t)s->server;
    }
    return rs_service_push(gpu, stream, asks, (unsigned)n, false);
}

int rs_gpu_service_reduce(struct rs_gpu *gpu, void *stream, const struct rs_gpu_reduce *reduce)
{
    struct rs_gpu_service *s = gpu->service;
    int dst = rs_service_locate(s, reduce->dest, 1), src = rs_service_locate(s, reduce->source, 1);
    if (!rs_gpu_served(gpu) || dst < 0 || src < 0) return 1;
    struct rs_ask what = {.op = RS_ASK_REDUCE, .nbytes = reduce->n, .value = reduce->members};
    place(s, dst, reduce->dest, &what.dst_local, &what.dst);
    place(s, src, reduce->source, &what.src_local, &what.src);
    what.cond = (uint64_t)reduce->kind << 32 | reduce->op;
    what.to = (int16_t)s->server;
    return rs_service_push(gpu, stream, &what, 1, false);
}
