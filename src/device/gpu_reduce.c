/* SPDX-License-Identifier: MIT
 *
 * A reduction in the order of a stream. Numbers that GPUs have, in windows that lie at equal distances: by one kernel,
 * where PEs share the GPU by that of the PE that serves them. All else: the members' bytes are copied to pinned memory,
 * combined there by a function that the stream runs, and the result is copied to every destination, in pieces through
 * one buffer. Both can be captured.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "device/gpu.h"
#include "device/kernels/rs_request.h"

/* ---- by a kernel ---- */

#define THREADS 256u
#define BLOCKS_MOST 528u /* more than one on each processor of any GPU */

int rs_gpu_reduce_launch(struct rs_gpu *gpu, void *stream, const struct rs_gpu_reduce *reduce)
{
    struct rs_gpu_reduce r = *reduce;
    uint64_t blocks = (r.n + THREADS - 1) / THREADS, stride = r.stride;
    void *arguments[] = {&r.dest, &r.source, &stride, &r.members, &r.n, &r.kind, &r.op};
    return rs_gpu_launch(gpu, RS_GPU_KERNEL_REDUCE, (unsigned)(blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST),
                         THREADS, stream, arguments);
}

static bool kind_of(const struct rs_reduction *r, uint32_t *kind_out)
{
    static const uint32_t first[] = {
        [RS_NUMBER_SIGNED] = RS_KIND_S8, [RS_NUMBER_UNSIGNED] = RS_KIND_U8, [RS_NUMBER_FLOAT] = RS_KIND_F32};
    if (r->number == RS_NUMBER_OTHER || r->width > 8) return false;
    uint32_t log = r->width == 8 ? 3 : r->width == 4 ? 2 : r->width == 2 ? 1 : 0;
    *kind_out = first[r->number] + (r->number == RS_NUMBER_FLOAT ? log - 2 : log);
    return true;
}

/* Does it suit the kernel? The members' windows, in ascending order, no further than a mask reaches. */
static bool as_kernel(const struct rs_gpu *gpu, const struct rs_reduction *r, struct rs_gpu_reduce *out)
{
    if (r->n_dests != r->n_members) return false; /* members on other hosts */
    if (!gpu->stride || !rs_gpu_has_kernels(gpu) || !kind_of(r, &out->kind)) return false;
    *out = (struct rs_gpu_reduce){.dest = (uintptr_t)r->dest[0],
                                  .source = (uintptr_t)r->source[0],
                                  .stride = gpu->stride,
                                  .n = r->n,
                                  .kind = out->kind,
                                  .op = (uint32_t)r->how};
    for (int i = 0; i < r->n_members; i++) {
        uintptr_t behind = (uintptr_t)r->source[i] - out->source, steps = behind / gpu->stride;
        if ((uintptr_t)r->source[i] < out->source || behind % gpu->stride || steps > 63) return false;
        if (out->members >> steps || (uintptr_t)r->dest[i] - out->dest != behind) return false;
        if (rs_gpu_far(gpu, (uintptr_t)r->source[i]) >= 0) return false;
        out->members |= (uint64_t)1 << steps;
    }
    return true;
}

static int reduce_by_kernel(struct rs_gpu *gpu, void *stream, const struct rs_gpu_reduce *r)
{
    int rc = gpu->service ? rs_gpu_service_reduce(gpu, stream, r) : 1;
    return rc <= 0 ? rc : rs_gpu_reduce_launch(gpu, stream, r);
}

/* The first kernel's code is loaded, for which drivers may wait until streams are idle: not for one that waits for a word,
 * which may be written only when this call has returned. */
static bool can_load(struct rs_gpu *gpu, void *stream)
{
    int capturing = 0;
    if (rs_gpu_kernels_loaded(gpu)) return true;
    if (gpu->drv->stream_capturing(stream, &capturing) != 0) return false;
    return capturing || gpu->drv->stream_query(stream) == 0;
}

/* ---- by the CPU ---- */

struct combine {
    struct rs_reduction reduction; /* without its arrays */
    struct rs_gpu_staging *staging;
    unsigned char *buffer;
    size_t n, room_nbytes;
    bool captured;
};

static void combine(void *arg)
{
    struct combine *c = arg;
    const struct rs_reduction *r = &c->reduction;
    for (int i = 1; i < r->n_members; i++)
        r->combine(r->type, r->op, c->buffer, c->buffer + (size_t)i * c->room_nbytes, c->n);
    if (!c->captured) free(c);
}

static int piece(struct rs_gpu *gpu, void *stream, const struct combine *c, size_t at)
{
    const struct rs_reduction *r = &c->reduction;
    size_t offset = at * r->width, nbytes = c->n * r->width;
    int rc = 0;
    for (int i = 0; i < r->n_members; i++)
        RS_TRY(rs_gpu_push_copy(gpu, stream, (uintptr_t)(c->buffer + (size_t)i * c->room_nbytes),
                                (uintptr_t)r->source[i] + offset, nbytes));
    struct combine *own = malloc(sizeof *own);
    if (!own) return rs_fail(RS_E_NOMEM, "no memory to enqueue a reduction");
    *own = *c;
    int code = gpu->drv->host_function(stream, combine, own);
    if (code) {
        free(own);
        return rs_gpu_fail_stream(gpu, code, "reduce in a stream", stream);
    }
    if (c->captured) RS_TRY(rs_gpu_keep(gpu, own));
    for (int i = 0; i < r->n_dests && rc == 0; i++)
        rc = rs_gpu_push_copy(gpu, stream, (uintptr_t)r->dest[i] + offset, (uintptr_t)c->buffer, nbytes);
    return rc;
}

static int reduce(struct rs_gpu *gpu, void *stream, const struct rs_reduction *r)
{
    int capturing = 0, rc = 0;
    int code = gpu->drv->stream_capturing(stream, &capturing);
    if (code) return rs_gpu_fail_stream(gpu, code, "look at a stream", stream);
    if (!gpu->drv->host_function)
        return rs_fail(RS_E_UNSUPPORTED,
                       "this %s driver runs no functions in a stream, so it can't reduce there",
                       gpu->drv->name);
    size_t room = RS_GPU_STAGING_NBYTES / (size_t)r->n_members / 64 * 64, most = room / r->width;
    if (most == 0)
        return rs_fail(RS_E_LIMIT, "a stream reduction takes at most %zu PEs, not %d",
                       RS_GPU_STAGING_NBYTES / 64, r->n_members);
    struct combine c = {.reduction = *r, .room_nbytes = room, .captured = capturing != 0};
    RS_TRY(rs_gpu_staging_take(gpu, &c.staging, &c.buffer));
    for (size_t at = 0; at < r->n && rc == 0; at += most) {
        c.n = r->n - at < most ? r->n - at : most;
        rc = piece(gpu, stream, &c, at);
    }
    int end = rs_gpu_staging_give(gpu, stream, c.staging, c.captured);
    return rc < 0 ? rc : end;
}

int rs_gpu_reduce(struct rs_device *dev, void *stream, const struct rs_reduction *reduction)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    RS_TRY(rs_gpu_enter_stream(gpu, &entry, stream));
    struct rs_gpu_reduce by_kernel;
    bool kernel = as_kernel(gpu, reduction, &by_kernel) && can_load(gpu, stream);
    int rc = kernel ? reduce_by_kernel(gpu, stream, &by_kernel) : reduce(gpu, stream, reduction);
    rs_gpu_leave(gpu, &entry);
    return rc;
}
