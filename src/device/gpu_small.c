/* SPDX-License-Identifier: MIT
 *
 * Small copies for PEs that share a GPU. Whatever runs on the GPU's processors, kernels, copies within device
 * memory, copies to it of less than 64 KiB, waits for time slices as soon as two processes do it: 280 us with
 * 2, 1100 us with 8. What does not: memory operations, copies from the device, and copies of rows to it. So up
 * to 64 bytes of the host's go as the values of memory operations; a copy within device memory goes to a pinned
 * buffer and back in two rows.
 *
 * The PE that serves the others copies as usual: it alone uses the processors then.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "device/gpu.h"

#define MEMOPS_NBYTES 64u
#define BOUNCE_NBYTES ((size_t)64 << 10)
#define BOUNCES_MOST 64
#define PITCH_MOST ((uintptr_t)1 << 31) /* of CUDA's devices */

/* One stream's; its order keeps a copy's use of the buffer apart from the next one's. */
struct rs_gpu_bounce {
    struct rs_gpu_bounce *next;
    void *stream;
    unsigned char *buffer; /* pinned, owned: BOUNCE_NBYTES, and room that is read for nothing */
};

static bool of_host(const struct rs_gpu *gpu, const void *ptr)
{
    unsigned type = 0;
    if (gpu->drv->is_pageable(gpu->drv, ptr)) return true;
    return gpu->drv->cuda_attribute && gpu->drv->cuda_attribute(&type, 2, (uintptr_t)ptr) == 0 && type == 1;
}

int rs_gpu_small_put(struct rs_gpu *gpu, uintptr_t dst, const void *src, size_t nbytes, uint64_t *done,
                     uint64_t ticket)
{
    union rs_gpu_op ops[MEMOPS_NBYTES / 8 + 1];
    unsigned n = (unsigned)(nbytes / 8);
    if (nbytes > MEMOPS_NBYTES || (nbytes | dst) % 8 || (rs_gpu_served(gpu) && rs_gpu_sharers(gpu) > 2))
        return 1;
    if (!rs_gpu_in_any_window(gpu, dst, nbytes) || !of_host(gpu, src)) return 1;
    memset(ops, 0, sizeof ops);
    for (unsigned i = 0; i <= n; i++) {
        ops[i].u.operation = RS_GPU_OP_WRITE64;
        ops[i].u.address = i < n ? dst + 8 * (size_t)i : (uintptr_t)done;
        ops[i].u.value = ticket;
        if (i < n) memcpy(&ops[i].u.value, (const char *)src + 8 * (size_t)i, 8);
    }
    int code = 0;
    if (gpu->drv->batch)
        code = gpu->drv->batch(gpu->own, n + 1, ops, 0);
    else
        for (unsigned i = 0; i <= n && code == 0; i++)
            code = gpu->drv->write64(gpu->own, ops[i].u.address, ops[i].u.value, 0);
    return code ? rs_gpu_fail(gpu->drv, code, "write words") : 0;
}

/* ---- through pinned memory ---- */

static int bounce_of(struct rs_gpu *gpu, void *stream, unsigned char **buffer_out)
{
    int n = 0, rc = 0;
    pthread_mutex_lock(&gpu->lock);
    struct rs_gpu_bounce *bounce = gpu->bounces;
    while (bounce && bounce->stream != stream) {
        bounce = bounce->next;
        n++;
    }
    if (!bounce && n < BOUNCES_MOST) {
        void *buffer = NULL;
        int mode = 2; /* relaxed: no part of a capture in this thread */
        bounce = malloc(sizeof *bounce);
        gpu->drv->capture_mode(&mode);
        int code = bounce ? gpu->drv->host_alloc(&buffer, BOUNCE_NBYTES + 4096, gpu->drv->host_flags) : 0;
        gpu->drv->capture_mode(&mode);
        if (!bounce || code) {
            free(bounce);
            bounce = NULL;
            rc = code ? rs_gpu_fail(gpu->drv, code, "give pinned memory")
                      : rs_fail(RS_E_NOMEM, "no memory to copy");
        } else {
            *bounce = (struct rs_gpu_bounce){gpu->bounces, stream, buffer};
            gpu->bounces = bounce;
        }
    }
    if (bounce) *buffer_out = bounce->buffer;
    pthread_mutex_unlock(&gpu->lock);
    return bounce ? 0 : rc < 0 ? rc : 1;
}

static int push_rows(struct rs_gpu *gpu, void *stream, uintptr_t dst, size_t pitch, unsigned char *buffer,
                     size_t width, size_t distance)
{
    struct rs_gpu_rectangle r = {.src = {.type = 1, .host = buffer, .pitch = distance},
                                 .dst = {.type = 2, .device = dst, .pitch = pitch},
                                 .width = width,
                                 .height = 2};
    return gpu->drv->cuda_rectangle(&r, stream);
}

static bool far_rows(const struct rs_gpu *gpu, uintptr_t dst)
{
    uintptr_t spare = rs_gpu_spare(gpu, dst);
    return spare > dst && spare - dst < PITCH_MOST &&
           !atomic_load_explicit(&gpu->no_far_rows, memory_order_relaxed);
}

/* Up to a word, which nobody may see half written: the first of two rows, the second going where nothing is: behind the
 * flags of the window (pgas/heap.h), as far away as that is. Where the driver won't, in two halves; no driver has shown
 * them apart (bench/gpu/rows.c). */
static int push_word(struct rs_gpu *gpu, void *stream, uintptr_t dst, unsigned char *buffer, size_t width)
{
    int code = 1;
    if (far_rows(gpu, dst)) {
        code = push_rows(gpu, stream, dst, rs_gpu_spare(gpu, dst) - dst, buffer, width, 64);
        if (code) atomic_store_explicit(&gpu->no_far_rows, true, memory_order_relaxed);
    }
    return code && width > 1 ? push_rows(gpu, stream, dst, width / 2, buffer, width / 2, width / 2) : code;
}

/* From the buffer to the device, so that the words which are aligned there are written whole. */
static int to_device(struct rs_gpu *gpu, void *stream, uintptr_t dst, unsigned char *buffer, size_t nbytes)
{
    size_t at = 0;
    int code = 0;
    while (code == 0 && at < nbytes) {
        size_t left = nbytes - at, n;
        if ((dst + at) % 8 == 0 && left >= 16) { /* whole words, an even number of them */
            n = left & ~(size_t)15;
            code = push_rows(gpu, stream, dst + at, n / 2, buffer + at, n / 2, n / 2);
        } else {
            for (n = 8; (dst + at) % n || n > left;) n /= 2;
            size_t pair = at > 0 ? at - 1 : at; /* a lone byte may go with its neighbour, again */
            code = push_word(gpu, stream, dst + at, buffer + at, n);
            if (code && n == 1) code = push_rows(gpu, stream, dst + pair, 1, buffer + pair, 1, 1);
        }
        at += n;
    }
    return code ? rs_gpu_fail_stream(gpu, code, "copy", stream) : 0;
}

int rs_gpu_small_copy(struct rs_gpu *gpu, void *stream, uintptr_t dst, uintptr_t src, size_t nbytes, bool now)
{
    const struct rs_gpu_driver *drv = gpu->drv;
    const unsigned char *from = NULL;
    unsigned char *buffer = NULL;
    int capturing = 0;
    if (!drv->cuda_rectangle || !rs_gpu_served(gpu) || nbytes < 2 || nbytes > BOUNCE_NBYTES) return 1;
    if (!rs_gpu_in_any_window(gpu, dst, nbytes)) return 1;
    if (!rs_gpu_in_any_window(gpu, src, nbytes)) {
        if (!now || !of_host(gpu, (const void *)src)) return 1;
        from = (const unsigned char *)src;
    }
    if ((uintptr_t)stream == 2) return 1; /* one handle for every thread's own */
    int code = drv->stream_capturing(stream, &capturing);
    if (code) return rs_gpu_fail_stream(gpu, code, "look at a stream", stream);
    if (capturing) return 1; /* graphs run beside each other: one buffer would not do */
    int rc = bounce_of(gpu, stream, &buffer);
    if (rc) return rc;
    if (from) {
        memcpy(buffer, from, nbytes);
    } else {
        code = drv->copy(drv, (uintptr_t)buffer, src, nbytes, stream);
        if (code) return rs_gpu_fail_stream(gpu, code, "copy", stream);
    }
    return to_device(gpu, stream, dst, buffer, nbytes);
}

void rs_gpu_small_free(struct rs_gpu *gpu)
{
    while (gpu->bounces) {
        struct rs_gpu_bounce *bounce = gpu->bounces;
        gpu->bounces = bounce->next;
        gpu->drv->host_free(bounce->buffer);
        free(bounce);
    }
}
