/* SPDX-License-Identifier: MIT
 *
 * Work in the order of a user's stream: copies, memory operations, and kernels where these can't do it.
 * Everything here may be captured in a graph.
 *
 * A copy with pageable memory would make the driver wait for the stream, so it returns at once only when the
 * stream is idle. Otherwise the bytes go through a pinned buffer, which functions of ours fill or empty in
 * the order of the stream.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "device/gpu.h"
#include "rocshmem/rocshmem.h"

/* ---- pageable memory ---- */

struct rs_gpu_staging {
    struct rs_gpu_staging *next; /* all of the device, under its lock */
    _Atomic bool used;           /* W: the taker, under the lock; the stream's last function, release */
    unsigned char *buffer;       /* pinned, owned */
};
struct piece { /* owned by the stream's function; by the device when it is captured */
    struct rs_gpu_staging *staging;
    void *dst;
    const void *src;
    size_t nbytes;
    bool captured, last;
};

static void copy_piece(void *arg)
{
    struct piece *piece = arg;
    if (piece->nbytes) memcpy(piece->dst, piece->src, piece->nbytes);
    if (piece->captured) return; /* it will be replayed: kept for good */
    if (piece->last) atomic_store_explicit(&piece->staging->used, false, memory_order_release);
    free(piece);
}

int rs_gpu_staging_take(struct rs_gpu *gpu, struct rs_gpu_staging **staging_out, unsigned char **buffer_out)
{
    int rc = 0;
    pthread_mutex_lock(&gpu->lock);
    struct rs_gpu_staging *staging = gpu->staging;
    while (staging && atomic_load_explicit(&staging->used, memory_order_acquire)) staging = staging->next;
    if (!staging) {
        void *buffer = NULL;
        int mode = 2; /* relaxed: this is no part of a capture in this thread */
        staging = calloc(1, sizeof *staging);
        gpu->drv->capture_mode(&mode);
        int code = staging ? gpu->drv->host_alloc(&buffer, RS_GPU_STAGING_NBYTES, gpu->drv->host_flags) : 0;
        gpu->drv->capture_mode(&mode);
        if (!staging || code) {
            free(staging);
            staging = NULL;
            rc = code ? rs_gpu_fail(gpu->drv, code, "give pinned memory")
                      : rs_fail(RS_E_NOMEM, "no memory to copy pageable memory");
        } else {
            staging->buffer = buffer;
            staging->next = gpu->staging;
            gpu->staging = staging;
        }
    }
    if (staging) atomic_store_explicit(&staging->used, true, memory_order_relaxed);
    pthread_mutex_unlock(&gpu->lock);
    *staging_out = staging;
    *buffer_out = staging ? staging->buffer : NULL;
    return rc;
}

struct rs_gpu_kept {
    struct rs_gpu_kept *next;
    void *memory;
};

int rs_gpu_keep(struct rs_gpu *gpu, void *memory)
{
    struct rs_gpu_kept *kept = malloc(sizeof *kept);
    if (!kept) return rs_fail(RS_E_NOMEM, "no memory to capture a copy");
    pthread_mutex_lock(&gpu->lock);
    *kept = (struct rs_gpu_kept){gpu->kept, memory};
    gpu->kept = kept;
    pthread_mutex_unlock(&gpu->lock);
    return 0;
}

void rs_gpu_staging_free(struct rs_gpu *gpu)
{
    while (gpu->kept) {
        struct rs_gpu_kept *kept = gpu->kept;
        gpu->kept = kept->next;
        free(kept->memory);
        free(kept);
    }
    while (gpu->staging) {
        struct rs_gpu_staging *staging = gpu->staging;
        gpu->staging = staging->next;
        gpu->drv->host_free(staging->buffer);
        free(staging);
    }
}

static int enqueue_piece(struct rs_gpu *gpu, void *stream, const struct piece *piece)
{
    struct piece *own = malloc(sizeof *own);
    if (!own) return rs_fail(RS_E_NOMEM, "no memory to copy pageable memory");
    *own = *piece;
    int code = gpu->drv->host_function(stream, copy_piece, own);
    if (code == 0) return piece->captured ? rs_gpu_keep(gpu, own) : 0; /* else it may be freed by now */
    free(own);
    return rs_gpu_fail_stream(gpu, code, "run a function in a stream", stream);
}

int rs_gpu_staging_give(struct rs_gpu *gpu, void *stream, struct rs_gpu_staging *staging, bool captured)
{
    struct piece last = {.staging = staging, .last = true};
    return captured ? 0 : enqueue_piece(gpu, stream, &last);
}

/* In pieces through one buffer: the stream's order keeps them apart. */
static int copy_staged(struct rs_gpu *gpu, void *stream, char *dst, const char *src, size_t nbytes,
                       bool from_host, bool captured)
{
    struct rs_gpu_staging *staging;
    unsigned char *buffer;
    RS_TRY(rs_gpu_staging_take(gpu, &staging, &buffer));
    int rc = 0;
    for (size_t at = 0; at < nbytes && rc == 0; at += RS_GPU_STAGING_NBYTES) {
        size_t n = nbytes - at < RS_GPU_STAGING_NBYTES ? nbytes - at : RS_GPU_STAGING_NBYTES;
        struct piece piece = {.staging = staging, .nbytes = n, .captured = captured};
        if (from_host) {
            piece.dst = buffer;
            piece.src = src + at;
            rc = enqueue_piece(gpu, stream, &piece);
        }
        uintptr_t to = from_host ? (uintptr_t)(dst + at) : (uintptr_t)buffer;
        uintptr_t from = from_host ? (uintptr_t)buffer : (uintptr_t)(src + at);
        if (rc == 0) rc = rs_gpu_push_copy(gpu, stream, to, from, n);
        if (rc == 0 && !from_host) {
            piece.dst = dst + at;
            piece.src = buffer;
            rc = enqueue_piece(gpu, stream, &piece);
        }
    }
    int end = rs_gpu_staging_give(gpu, stream, staging, captured);
    return rc < 0 ? rc : end;
}

/* ---- copies ---- */

int rs_gpu_push_copy(struct rs_gpu *gpu, void *stream, uintptr_t dst, uintptr_t src, size_t nbytes)
{
    const struct rs_gpu_driver *drv = gpu->drv;
    if (RS_UNLIKELY(rs_gpu_far(gpu, dst) >= 0 || rs_gpu_far(gpu, src) >= 0))
        return rs_gpu_far_copy(gpu, stream, dst, src, nbytes);
    int code =
        rs_gpu_in_windows(gpu, (const void *)dst, nbytes) && rs_gpu_in_windows(gpu, (const void *)src, nbytes)
            ? drv->copy_device(dst, src, nbytes, stream)
            : drv->copy(drv, dst, src, nbytes, stream);
    return RS_LIKELY(code == 0) ? 0 : rs_gpu_fail_stream(gpu, code, "copy", stream);
}

/* PEs share the GPU: without its processors, or by the PE that serves. 1: there is no way. */
static int copy_shared(struct rs_gpu *gpu, void *stream, void *dst, const void *src, size_t nbytes)
{
    if (rs_gpu_far(gpu, (uintptr_t)dst) >= 0 || rs_gpu_far(gpu, (uintptr_t)src) >= 0) return 1;
    int rc = rs_gpu_small_copy(gpu, stream, (uintptr_t)dst, (uintptr_t)src, nbytes, false);
    struct rs_copy copy = {dst, src, nbytes};
    return rc == 1 ? rs_gpu_service_copies(gpu, stream, &copy, 1) : rc;
}

static int copy_entered(struct rs_gpu *gpu, void *stream, void *dst, const void *src, size_t nbytes)
{
    const struct rs_gpu_driver *drv = gpu->drv;
    bool dst_known = rs_gpu_in_windows(gpu, dst, nbytes), src_known = rs_gpu_in_windows(gpu, src, nbytes);
    int code;
    if (gpu->service) {
        int rc = copy_shared(gpu, stream, dst, src, nbytes);
        if (rc <= 0) return rc;
    }
    if (RS_LIKELY(dst_known && src_known))
        return rs_gpu_push_copy(gpu, stream, (uintptr_t)dst, (uintptr_t)src, nbytes);
    bool far_dst = rs_gpu_far(gpu, (uintptr_t)dst) >= 0, far_src = rs_gpu_far(gpu, (uintptr_t)src) >= 0;
    bool to_pageable = !dst_known && !far_dst && drv->is_pageable(drv, dst);
    bool from_pageable = !src_known && !far_src && drv->is_pageable(drv, src);
    if ((to_pageable || from_pageable) && drv->host_function) {
        int capturing = 0;
        code = drv->stream_capturing(stream, &capturing);
        if (code == 0 && !capturing) code = drv->stream_query(stream);
        if (code && code != drv->not_ready) return rs_gpu_fail_stream(gpu, code, "look at a stream", stream);
        if (capturing || code == drv->not_ready)
            return copy_staged(gpu, stream, dst, src, nbytes, from_pageable, capturing != 0);
    }
    return rs_gpu_push_copy(gpu, stream, (uintptr_t)dst, (uintptr_t)src, nbytes);
}

int rs_gpu_copy(struct rs_device *dev, void *stream, void *dst, const void *src, size_t nbytes)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    RS_TRY(rs_gpu_enter_stream(gpu, &entry, stream));
    int rc = copy_entered(gpu, stream, dst, src, nbytes);
    rs_gpu_leave(gpu, &entry);
    return rc;
}

/* ---- memory operations ---- */

#define BATCH_MOST 256u /* the drivers take no more at once */

/* How a driver does one: false when it can't, so a kernel must. A driver that compares by the sign of a
 * difference does GE exactly while both are within 2^63 of each other; documented with the API. */
static bool as_memop(const struct rs_gpu_driver *drv, const struct rs_memop *op, union rs_gpu_op *out)
{
    memset(out, 0, sizeof *out);
    out->u.address = (uintptr_t)op->word;
    out->u.value = op->value;
    out->u.operation = op->kind == RS_MEMOP_WRITE ? RS_GPU_OP_WRITE64 : RS_GPU_OP_WAIT64;
    if (op->kind == RS_MEMOP_WRITE) return true;
    if (op->kind != RS_MEMOP_WAIT) return false;
    if (op->exact && !drv->wait_unsigned && op->cmp != ROCSHMEM_CMP_EQ) return false;
    if (op->cmp == ROCSHMEM_CMP_EQ) out->u.flags = RS_GPU_WAIT_EQ;
    if (op->cmp == ROCSHMEM_CMP_GE) out->u.flags = RS_GPU_WAIT_GE;
    if (op->cmp == ROCSHMEM_CMP_GT && op->value < UINT64_MAX) {
        out->u.flags = RS_GPU_WAIT_GE;
        out->u.value++;
        return true;
    }
    return op->cmp == ROCSHMEM_CMP_EQ || op->cmp == ROCSHMEM_CMP_GE;
}

static int one_memop(const struct rs_gpu_driver *drv, void *stream, const union rs_gpu_op *op)
{
    if (op->u.operation == RS_GPU_OP_WRITE64) return drv->write64(stream, op->u.address, op->u.value, 0);
    return drv->wait64(drv, stream, op->u.address, op->u.value, op->u.flags);
}

int rs_gpu_push_ops(const struct rs_gpu_driver *drv, void *stream, union rs_gpu_op *ops, unsigned n)
{
    int code = 0;
    if (n > 1 && drv->batch) return drv->batch(stream, n, ops, 0);
    for (unsigned i = 0; i < n && code == 0; i++) code = one_memop(drv, stream, &ops[i]);
    return code;
}

static int push_memops(const struct rs_gpu *gpu, void *stream, union rs_gpu_op *ops, unsigned n)
{
    int code = rs_gpu_push_ops(gpu->drv, stream, ops, n);
    return RS_LIKELY(code == 0)
               ? 0
               : rs_gpu_fail_stream(gpu, code, "write or wait for a word in a stream", stream);
}

static int push_kernel(struct rs_gpu *gpu, void *stream, const struct rs_memop *op)
{
    uint64_t *word = op->word, *result = NULL, value = op->value, none = 0;
    if (gpu->service && op->kind != RS_MEMOP_WAIT) {
        int rc = rs_gpu_service_word(gpu, stream, word, value, op->kind == RS_MEMOP_ADD);
        if (rc <= 0) return rc;
        if (rs_gpu_far(gpu, (uintptr_t)word) >= 0) return rs_gpu_no_kernels(gpu);
    }
    uint32_t cmp = (uint32_t)op->cmp, add = RS_AMO_ADD, width = 8;
    void *wait[] = {&word, &value, &cmp}, *amo[] = {&word, &value, &none, &result, &none, &add, &width};
    return op->kind == RS_MEMOP_WAIT ? rs_gpu_launch(gpu, RS_GPU_KERNEL_WAIT, 1, 1, stream, wait)
                                     : rs_gpu_launch(gpu, RS_GPU_KERNEL_AMO, 1, 1, stream, amo);
}

static int batch_entered(struct rs_gpu *gpu, void *stream, const struct rs_memop *ops, size_t n)
{
    union rs_gpu_op run[BATCH_MOST];
    unsigned n_run = 0;
    for (size_t i = 0; i < n; i++) {
        bool plain = as_memop(gpu->drv, &ops[i], &run[n_run]) && rs_gpu_far(gpu, (uintptr_t)ops[i].word) < 0;
        n_run += plain;
        if (n_run > 0 && (!plain || n_run == BATCH_MOST)) {
            RS_TRY(push_memops(gpu, stream, run, n_run));
            n_run = 0;
        }
        if (!plain) RS_TRY(push_kernel(gpu, stream, &ops[i]));
    }
    return n_run > 0 ? push_memops(gpu, stream, run, n_run) : 0;
}

int rs_gpu_batch(struct rs_device *dev, void *stream, const struct rs_memop *ops, size_t n)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    RS_TRY(rs_gpu_enter_stream(gpu, &entry, stream));
    int rc = batch_entered(gpu, stream, ops, n);
    rs_gpu_leave(gpu, &entry);
    return rc;
}

int rs_gpu_probe(struct rs_device *dev, void *stream)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    int capturing = 0;
    RS_TRY(rs_gpu_enter_stream(gpu, &entry, stream));
    int code = gpu->drv->stream_capturing(stream, &capturing);
    rs_gpu_leave(gpu, &entry);
    if (RS_UNLIKELY(code)) return rs_gpu_fail_stream(gpu, code, "look at a stream", stream);
    return capturing != 0;
}
