/* SPDX-License-Identifier: MIT
 *
 * A GPU as a device: opening and closing it, and the caller's context. See gpu.h.
 */
#include "device/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "base/status.h"

int rs_gpu_enter(const struct rs_gpu *gpu, struct rs_gpu_entry *entry)
{
    entry->before = NULL;
    entry->changed = false;
    int code = gpu->drv->current(gpu->drv, &entry->before);
    if (RS_LIKELY(code == 0 && entry->before == gpu->context)) return 0;
    if (code == 0) code = gpu->drv->set_current(gpu->drv, gpu->context);
    entry->changed = code == 0;
    return code == 0 ? 0 : rs_gpu_fail(gpu->drv, code, "use the device of this job in this thread");
}

void rs_gpu_leave(const struct rs_gpu *gpu, const struct rs_gpu_entry *entry)
{
    if (RS_UNLIKELY(entry->changed)) gpu->drv->set_current(gpu->drv, entry->before);
}

int rs_gpu_fail_stream(const struct rs_gpu *gpu, int code, const char *what, void *stream)
{
    if (code == 400 || code == 201 || code == 709) /* invalid handle; of another context */
        return rs_fail(RS_E_ARG, "stream %p is not a stream of the %s device %d of this job", stream,
                       gpu->drv->name, gpu->device);
    return rs_gpu_fail(gpu->drv, code, what);
}

/* ---- opening ---- */

/* To look for a driver in all the places where libraries are takes longer than all else in init, so where nobody asked
 * for a GPU, the files by which any driver reaches one are looked for first. */
static bool may_have_devices(enum rs_gpu_vendor vendor)
{
    static const char *const cuda[] = {"/dev/nvidiactl", "/dev/nvgpu", "/dev/nvhost-gpu", "/dev/dxg", NULL};
    static const char *const hip[] = {"/dev/kfd", "/dev/dxg", NULL};
    for (const char *const *path = vendor == RS_GPU_VENDOR_CUDA ? cuda : hip; *path; path++)
        if (access(*path, F_OK) == 0) return true;
    return false;
}

static int count(enum rs_gpu_vendor vendor, const struct rs_device_options *options, char *why, size_t nbytes)
{
    if (!options->asked && !may_have_devices(vendor)) {
        snprintf(why, nbytes, "this machine has no %s; ROCSHMEM_DEVICE=%s looks for the driver all the same",
                 vendor == RS_GPU_VENDOR_CUDA ? "/dev/nvidiactl" : "/dev/kfd",
                 vendor == RS_GPU_VENDOR_CUDA ? "cuda" : "hip");
        return 0;
    }
    const struct rs_gpu_driver *drv = rs_gpu_driver_get(vendor, options->library, why, nbytes);
    int n = 0;
    if (!drv) return 0;
    int code = drv->device_count(&n);
    if (code == 0 && n > 0) return n;
    snprintf(why, nbytes, "%s finds no GPU", drv->library);
    return 0;
}

static int cuda_count(const struct rs_device_options *options, char *why, size_t nbytes)
{
    return count(RS_GPU_VENDOR_CUDA, options, why, nbytes);
}

static int hip_count(const struct rs_device_options *options, char *why, size_t nbytes)
{
    return count(RS_GPU_VENDOR_HIP, options, why, nbytes);
}

static int chosen(enum rs_gpu_vendor vendor, const struct rs_device_options *options)
{
    char why[128];
    int device = -1;
    const struct rs_gpu_driver *drv = rs_gpu_driver_get(vendor, options->library, why, sizeof why);
    return drv && drv->current_device(drv, &device) == 0 ? device : -1;
}

static int cuda_chosen(const struct rs_device_options *options)
{
    return chosen(RS_GPU_VENDOR_CUDA, options);
}

static int hip_chosen(const struct rs_device_options *options)
{
    return chosen(RS_GPU_VENDOR_HIP, options);
}

/* The context stays retained: the thread goes on with it. */
static int pin(enum rs_gpu_vendor vendor, const struct rs_device_options *options, int index)
{
    char why[256] = "";
    void *context;
    int n = count(vendor, options, why, sizeof why), device;
    if (n <= 0) return rs_fail(RS_E_DEVICE, "%s", why);
    const struct rs_gpu_driver *drv = rs_gpu_driver_get(vendor, options->library, why, sizeof why);
    int code = drv->get_device(&device, index % n);
    if (code == 0) code = drv->retain(drv, device, &context);
    if (code == 0) code = drv->set_current(drv, context);
    return code ? rs_gpu_fail(drv, code, "make a device current") : 0;
}

static int cuda_pin(const struct rs_device_options *options, int index)
{
    return pin(RS_GPU_VENDOR_CUDA, options, index);
}

static int hip_pin(const struct rs_device_options *options, int index)
{
    return pin(RS_GPU_VENDOR_HIP, options, index);
}

/* In the context: our stream and its words. */
static int open_entered(struct rs_gpu *gpu, struct rs_device *dev)
{
    void *words;
    int code = rs_gpu_stream_of_ours(gpu->drv, &gpu->own);
    if (code) return rs_gpu_fail(gpu->drv, code, "make a stream");
    RS_TRY(rs_gpu_words_alloc(dev, 4096, &words));
    gpu->words = words;
    return 0;
}

static void gpu_close(struct rs_device *dev);

static int open_device(enum rs_gpu_vendor vendor, struct rs_device *dev, int ordinal,
                       const struct rs_watch *watch, const struct rs_device_options *options)
{
    char why[256] = "";
    const struct rs_gpu_driver *drv = rs_gpu_driver_get(vendor, options->library, why, sizeof why);
    if (!drv) return rs_fail(RS_E_DEVICE, "%s", why);
    struct rs_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu) return rs_fail(RS_E_NOMEM, "no memory for a device");
    gpu->drv = drv;
    gpu->watch = watch;
    gpu->kernels = options->kernels;
    gpu->low = UINTPTR_MAX;
    pthread_mutex_init(&gpu->lock, NULL);
    pthread_mutex_init(&gpu->lanes_lock, NULL);
    pthread_mutex_init(&gpu->nbi_lock, NULL);
    pthread_mutex_init(&gpu->now_lock, NULL);
    dev->ordinal = ordinal;
    dev->state = gpu;
    rs_gpu_windows_choose(options->ipc);
    uint64_t begin_ns = rs_os_now_ns();
    int code = drv->get_device(&gpu->device, ordinal);
    if (code == 0) code = drv->identity(drv, gpu->device, &gpu->identity);
    if (code == 0) code = drv->retain(drv, gpu->device, &gpu->context);
    rs_log(RS_LOG_INFO, "init: %.2f ms to create the context of device %d",
           (double)(rs_os_now_ns() - begin_ns) * 1e-6, ordinal);
    if (code) {
        snprintf(why, sizeof why, "open device %d", ordinal);
        int rc = rs_gpu_fail(drv, code, why);
        gpu->context = NULL;
        gpu_close(dev);
        return rc;
    }
    struct rs_gpu_entry entry;
    int rc = rs_gpu_enter(gpu, &entry);
    if (rc == 0) rc = open_entered(gpu, dev);
    rs_gpu_leave(gpu, &entry);
    if (rc < 0) gpu_close(dev);
    return rc;
}

static int cuda_open(struct rs_device *dev, int ordinal, const struct rs_watch *watch,
                     const struct rs_device_options *options)
{
    return open_device(RS_GPU_VENDOR_CUDA, dev, ordinal, watch, options);
}

static int hip_open(struct rs_device *dev, int ordinal, const struct rs_watch *watch,
                    const struct rs_device_options *options)
{
    return open_device(RS_GPU_VENDOR_HIP, dev, ordinal, watch, options);
}

/* Streams that wait for a PE that is gone never end, and freeing memory would wait for them: then everything
 * is left to the end of the process. */
static void close_entered(struct rs_gpu *gpu)
{
    if (!rs_gpu_idle_within(gpu, 2000000000u)) {
        rs_log(RS_LOG_WARN, "device %d still waits for PEs that are gone; its memory is kept until exit",
               gpu->device);
        rs_gpu_windows_part(gpu, true);
        return;
    }
    rs_gpu_windows_part(gpu, false);
    rs_gpu_streams_free(gpu);
    rs_gpu_lanes_free(gpu);
    if (gpu->nbi_stream) gpu->drv->stream_destroy(gpu->nbi_stream);
    rs_gpu_staging_free(gpu);
    rs_gpu_small_free(gpu);
    rs_gpu_service_free(gpu);
    rs_gpu_kernels_unload(gpu);
    if (gpu->own) gpu->drv->stream_destroy(gpu->own);
    rs_gpu_words_free(gpu);
}

static void gpu_close(struct rs_device *dev)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    if (!gpu) return;
    if (gpu->context) {
        rs_gpu_service_end(gpu);
        if (rs_gpu_enter(gpu, &entry) == 0) close_entered(gpu);
        rs_gpu_leave(gpu, &entry);
        gpu->drv->release(gpu->drv, gpu->device);
    }
    pthread_mutex_destroy(&gpu->lock);
    pthread_mutex_destroy(&gpu->lanes_lock);
    pthread_mutex_destroy(&gpu->nbi_lock);
    pthread_mutex_destroy(&gpu->now_lock);
    free(gpu->shares);
    free(gpu);
    dev->state = NULL;
}

/* ---- what else a device does ---- */

static int gpu_query(struct rs_device *dev, void *stream)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    int capturing = 0;
    RS_TRY(rs_gpu_enter_stream(gpu, &entry, stream));
    int code = gpu->drv->stream_capturing(stream, &capturing);
    if (code == 0 && !capturing) code = gpu->drv->stream_query(stream);
    rs_gpu_leave(gpu, &entry);
    if (code == gpu->drv->not_ready || (code == 0 && capturing)) return 0;
    return code == 0 ? 1 : rs_gpu_fail_stream(gpu, code, "look at a stream", stream);
}

static void gpu_describe(struct rs_device *dev, void *stream, bool any, char *out, size_t nbytes)
{
    if (any)
        snprintf(out, nbytes, "waits for all work of %s device %d", dev->ops->name, dev->ordinal);
    else
        snprintf(out, nbytes, "waits for stream %p of %s device %d", stream, dev->ops->name, dev->ordinal);
}

/* clang-format off */
#define GPU_OPS(vendor)                                                                                      \
    .can_capture = true, .count = vendor##_count, .chosen = vendor##_chosen, .pin = vendor##_pin, .open = vendor##_open,          \
    .close = gpu_close, .serve = rs_gpu_serve, .window_make = rs_gpu_window_make, .window_open = rs_gpu_window_open,                \
    .window_grow = rs_gpu_window_grow, .window_grown = rs_gpu_window_grown, .window_shrink = rs_gpu_window_shrink, .memory = rs_gpu_memory, .windows_unmap = rs_gpu_windows_unmap, .words_alloc = rs_gpu_words_alloc, .transfer = rs_gpu_transfer, .transfer_nbi = rs_gpu_transfer_nbi, .complete = rs_gpu_complete, .put_signal = rs_gpu_put_signal, .fill = rs_gpu_fill, .amo = rs_gpu_amo,    \
    .stream_create = rs_gpu_stream_create, .stream_destroy = rs_gpu_stream_destroy,                                \
    .synchronize = rs_gpu_synchronize, .synchronize_all = rs_gpu_synchronize_all, .query = gpu_query,        \
    .probe = rs_gpu_probe, .describe = gpu_describe, .copy = rs_gpu_copy, .copies = rs_gpu_copies, .batch = rs_gpu_batch, .reduce = rs_gpu_reduce, .takes_turns = rs_gpu_takes_turns
const struct rs_device_ops rs_device_cuda = {.name = "cuda", GPU_OPS(cuda)};
const struct rs_device_ops rs_device_hip = {.name = "hip", GPU_OPS(hip)};
/* clang-format on */
