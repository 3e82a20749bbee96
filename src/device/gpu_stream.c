/* SPDX-License-Identifier: MIT
 *
 * Streams of a GPU: those that are made here, and whether a handle is a stream at all. CUDA's driver follows any
 * handle that it is given, so a wrong one would end the process; here it is an error.
 *
 * Streams made here are never given back to the driver before the device closes: a destroyed one is drained, set aside
 * and taken again by the next stream_create. So its handle cannot become somebody else's meanwhile, and a use of it is
 * found for sure. Other handles (torch's, say) can only be judged by where they point.
 */
#include <stdlib.h>

#include "base/os.h"
#include "base/status.h"
#include "device/gpu.h"

struct rs_gpu_stream {
    struct rs_gpu_stream *next; /* all of the device, under its lock */
    void *handle;
    bool live; /* under the lock; false: set aside */
};

/* The driver's names for the default stream and the thread's default stream. */
#define HIGHEST_NAME 2u

/* W: who found that the handle is a stream, or destroys it. R: whoever uses a stream. Relaxed: the value says all, and
 * a stream that one thread destroys while another uses it is an error of the user's, found or not. */
static _Atomic uintptr_t *known_slot(struct rs_gpu *gpu, uintptr_t handle)
{
    return &gpu->known[(handle >> 4 ^ handle >> 10) % RS_GPU_KNOWN_STREAMS];
}

static struct rs_gpu_stream *find_locked(struct rs_gpu *gpu, const void *handle)
{
    struct rs_gpu_stream *stream = gpu->streams;
    while (stream && stream->handle != handle) stream = stream->next;
    return stream;
}

static int check(struct rs_gpu *gpu, void *handle)
{
    pthread_mutex_lock(&gpu->lock);
    struct rs_gpu_stream *stream = find_locked(gpu, handle);
    bool live = stream && stream->live, dead = stream && !stream->live;
    pthread_mutex_unlock(&gpu->lock);
    if (dead) return rs_fail(RS_E_ARG, "stream %p was destroyed by rocshmemx_stream_destroy", handle);
    if (!live && !rs_os_may_be_allocated(handle))
        return rs_fail(
            RS_E_ARG,
            "stream %p is no stream of the %s driver; give 0, a stream of rocshmemx_stream_create, or "
            "one of the driver's, such as torch.cuda.Stream.cuda_stream",
            handle, gpu->drv->name);
    atomic_store_explicit(known_slot(gpu, (uintptr_t)handle), (uintptr_t)handle, memory_order_relaxed);
    return 0;
}

int rs_gpu_enter_stream(struct rs_gpu *gpu, struct rs_gpu_entry *entry, void *handle)
{
    uintptr_t value = (uintptr_t)handle;
    if (value > HIGHEST_NAME && atomic_load_explicit(known_slot(gpu, value), memory_order_relaxed) != value)
        RS_TRY(check(gpu, handle));
    return rs_gpu_enter(gpu, entry);
}

/* One that was set aside, or NULL. */
static struct rs_gpu_stream *take(struct rs_gpu *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    struct rs_gpu_stream *stream = gpu->streams;
    while (stream && stream->live) stream = stream->next;
    if (stream) stream->live = true;
    pthread_mutex_unlock(&gpu->lock);
    return stream;
}

int rs_gpu_stream_create(struct rs_device *dev, void **handle_out)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    struct rs_gpu_stream *stream = take(gpu);
    if (!stream) {
        stream = malloc(sizeof *stream);
        if (!stream) return rs_fail(RS_E_NOMEM, "no memory for a stream");
        stream->live = true;
        int rc = rs_gpu_enter(gpu, &entry);
        if (rc == 0) {
            int code = gpu->drv->stream_create(&stream->handle, 1 /* apart from the default stream */);
            if (code) rc = rs_gpu_fail(gpu->drv, code, "make a stream");
            rs_gpu_leave(gpu, &entry);
        }
        if (rc < 0) {
            free(stream);
            return rc;
        }
        pthread_mutex_lock(&gpu->lock);
        stream->next = gpu->streams;
        gpu->streams = stream;
        pthread_mutex_unlock(&gpu->lock);
    }
    *handle_out = stream->handle;
    return 0;
}

int rs_gpu_stream_destroy(struct rs_device *dev, void *handle)
{
    struct rs_gpu *gpu = dev->state;
    pthread_mutex_lock(&gpu->lock);
    struct rs_gpu_stream *stream = find_locked(gpu, handle);
    bool live = stream && stream->live;
    pthread_mutex_unlock(&gpu->lock);
    if (!live)
        return rs_fail(RS_E_ARG, "stream %p was not made by rocshmemx_stream_create, or is destroyed already",
                       handle);
    RS_TRY(rs_gpu_synchronize(dev, handle));
    atomic_store_explicit(known_slot(gpu, (uintptr_t)handle), 0, memory_order_relaxed);
    pthread_mutex_lock(&gpu->lock);
    stream->live = false;
    pthread_mutex_unlock(&gpu->lock);
    return 0;
}

void rs_gpu_streams_free(struct rs_gpu *gpu)
{
    while (gpu->streams) {
        struct rs_gpu_stream *stream = gpu->streams;
        gpu->streams = stream->next;
        gpu->drv->stream_destroy(stream->handle);
        free(stream);
    }
}
