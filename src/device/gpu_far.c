/* SPDX-License-Identifier: MIT
 *
 * PEs of this host on another GPU that this one can't reach. Their windows are not mapped here: an address in one is
 * only a name (gpu_window.c reserves it), by which the PE is found. Copies go through memory that both CPUs share and
 * both GPUs reach, in pieces, and the PE's thread copies on between it and its window; it also writes words there and
 * runs atomics (gpu_ask.c). All in the order of streams, so it can be captured.
 */
#include "base/status.h"
#include "device/gpu_service.h"

static int by_its_pe(struct rs_gpu *gpu, void *stream, int local, uintptr_t at, unsigned chunk, size_t nbytes,
                     bool to_window)
{
    const struct rs_gpu_service *s = gpu->service;
    struct rs_ask what = {.op = RS_ASK_COPY, .nbytes = nbytes, .to = (int16_t)local};
    uint64_t offset = at - s->base[local], room = (uint64_t)chunk * RS_ASK_CHUNK_NBYTES;
    what.dst_local = what.src_local = -1;
    if (to_window)
        what.dst_local = (int16_t)local;
    else
        what.src_local = (int16_t)local;
    what.dst = to_window ? offset : room;
    what.src = to_window ? room : offset;
    return rs_service_push(gpu, stream, &what, 1, true);
}

static int by_driver(struct rs_gpu *gpu, void *stream, uintptr_t dst, uintptr_t src, size_t nbytes)
{
    int code = gpu->drv->copy(gpu->drv, dst, src, nbytes, stream);
    return code ? rs_gpu_fail_stream(gpu, code, "copy", stream) : 0;
}

int rs_gpu_far_copy(struct rs_gpu *gpu, void *stream, uintptr_t dst, uintptr_t src, size_t nbytes)
{
    int to = rs_gpu_far(gpu, dst), from = rs_gpu_far(gpu, src), capturing = 0;
    unsigned chunk;
    int code = gpu->drv->stream_capturing(stream, &capturing);
    if (code) return rs_gpu_fail_stream(gpu, code, "look at a stream", stream);
    RS_TRY(rs_service_chunk(gpu, stream, capturing != 0, &chunk));
    uintptr_t room = (uintptr_t)gpu->service->mine->chunks[chunk];
    for (size_t at = 0; at < nbytes; at += RS_ASK_CHUNK_NBYTES) {
        size_t n = nbytes - at < RS_ASK_CHUNK_NBYTES ? nbytes - at : RS_ASK_CHUNK_NBYTES;
        RS_TRY(from >= 0 ? by_its_pe(gpu, stream, from, src + at, chunk, n, false)
                         : by_driver(gpu, stream, room, src + at, n));
        RS_TRY(to >= 0 ? by_its_pe(gpu, stream, to, dst + at, chunk, n, true)
                       : by_driver(gpu, stream, dst + at, room, n));
    }
    return 0;
}
