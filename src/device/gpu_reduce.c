/* SPDX-License-Identifier: MIT
 *
 * A reduction in the order of a stream: the members' bytes are copied to pinned memory, combined there by a
 * function that the stream runs, and the result is copied to every destination. In pieces, through one
 * buffer. It serves every type and operation, and can be captured.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "device/gpu.h"

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
    int code = 0;
    for (int i = 0; i < r->n_members && code == 0; i++)
        code = gpu->drv->copy(gpu->drv, (uintptr_t)(c->buffer + (size_t)i * c->room_nbytes),
                              (uintptr_t)r->source[i] + offset, nbytes, stream);
    if (code) return rs_gpu_fail_stream(gpu, code, "reduce in a stream", stream);
    struct combine *own = malloc(sizeof *own);
    if (!own) return rs_fail(RS_E_NOMEM, "no memory to enqueue a reduction");
    *own = *c;
    code = gpu->drv->host_function(stream, combine, own);
    if (code) free(own);
    if (code == 0 && c->captured) RS_TRY(rs_gpu_keep(gpu, own));
    for (int i = 0; i < r->n_dests && code == 0; i++)
        code = gpu->drv->copy(gpu->drv, (uintptr_t)r->dest[i] + offset, (uintptr_t)c->buffer, nbytes, stream);
    return code ? rs_gpu_fail_stream(gpu, code, "reduce in a stream", stream) : 0;
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
    int rc = reduce(gpu, stream, reduction);
    rs_gpu_leave(gpu, &entry);
    return rc;
}
