/* SPDX-License-Identifier: MIT
 *
 * Transfers that are only begun: on a stream of their own, so that nothing else waits for them; and their end. It is
 * seen in a pinned word that the stream writes, as in gpu_now.c.
 */
#include "base/os.h"
#include "base/status.h"
#include "device/gpu.h"

/* Where PEs share a GPU, smaller ones are sooner done than begun: by other means, see gpu_small.c. */
#define SMALL_NBYTES ((size_t)64 << 10)

struct begun {
    struct rs_gpu_entry entry;
    int mode;
};

/* The calling thread may capture a graph on another stream: that is relaxed meanwhile. */
static int begin(struct rs_gpu *gpu, struct begun *begun)
{
    RS_TRY(rs_gpu_enter(gpu, &begun->entry));
    begun->mode = 2;
    gpu->drv->capture_mode(&begun->mode);
    return 0;
}

static int end(struct rs_gpu *gpu, struct begun *begun, int rc)
{
    gpu->drv->capture_mode(&begun->mode);
    rs_gpu_leave(gpu, &begun->entry);
    return rc;
}

static int start_locked(struct rs_gpu *gpu, uintptr_t dst, uintptr_t src, size_t nbytes)
{
    const struct rs_gpu_driver *drv = gpu->drv;
    int code = gpu->nbi_stream ? 0 : rs_gpu_stream_of_ours(drv, &gpu->nbi_stream);
    if (code) return rs_gpu_fail(drv, code, "make a stream");
    struct rs_copy copy = {(void *)dst, (const void *)src, nbytes};
    int rc = gpu->service ? rs_gpu_service_copies(gpu, gpu->nbi_stream, &copy, 1) : 1;
    if (rc == 1) rc = rs_gpu_push_copy(gpu, gpu->nbi_stream, dst, src, nbytes);
    RS_TRY(rc);
    /* Release: whoever sees it, in complete, has the stream too. */
    atomic_fetch_add_explicit(&gpu->nbi_begun, 1, memory_order_release);
    return 0;
}

int rs_gpu_transfer_nbi(struct rs_device *dev, void *dst, const void *src, size_t nbytes)
{
    struct rs_gpu *gpu = dev->state;
    struct begun begun;
    if (nbytes == 0) return 0;
    if (gpu->service && nbytes <= SMALL_NBYTES) return rs_gpu_transfer(dev, dst, src, nbytes);
    RS_TRY(begin(gpu, &begun));
    pthread_mutex_lock(&gpu->nbi_lock);
    int rc = start_locked(gpu, (uintptr_t)dst, (uintptr_t)src, nbytes);
    pthread_mutex_unlock(&gpu->nbi_lock);
    return end(gpu, &begun, rc);
}

/* Until the stream has written the ticket, or a later one: it does that in order. */
static int await(struct rs_gpu *gpu, uint64_t ticket)
{
    struct rs_wait wait;
    uint64_t look_ns = 0;
    rs_wait_begin(&wait, gpu->watch);
    while (__atomic_load_n(&gpu->words[RS_GPU_NBI_WORD], __ATOMIC_ACQUIRE) < ticket) {
        RS_TRY(rs_wait_pause(&wait));
        if (wait.polls < wait.spin_count) continue;
        uint64_t now = rs_os_now_ns();
        if (now < look_ns) continue;
        look_ns = now + 1000000u;
        int code = gpu->drv->stream_query(gpu->nbi_stream);
        if (code && code != gpu->drv->not_ready) return rs_gpu_fail(gpu->drv, code, "finish a transfer");
    }
    return 0;
}

int rs_gpu_complete(struct rs_device *dev)
{
    struct rs_gpu *gpu = dev->state;
    struct begun begun;
    uint64_t n = atomic_load_explicit(&gpu->nbi_begun, memory_order_acquire);
    if (RS_LIKELY(atomic_load_explicit(&gpu->nbi_done, memory_order_acquire) >= n)) return 0;
    RS_TRY(begin(gpu, &begun));
    pthread_mutex_lock(&gpu->nbi_lock);
    uint64_t ticket = ++gpu->nbi_ticket;
    n = atomic_load_explicit(&gpu->nbi_begun, memory_order_relaxed);
    int code = gpu->drv->write64(gpu->nbi_stream, (uintptr_t)&gpu->words[RS_GPU_NBI_WORD], ticket, 0);
    pthread_mutex_unlock(&gpu->nbi_lock);
    int rc = code ? rs_gpu_fail(gpu->drv, code, "write a word") : await(gpu, ticket);
    pthread_mutex_lock(&gpu->nbi_lock);
    if (rc == 0 && atomic_load_explicit(&gpu->nbi_done, memory_order_relaxed) < n)
        atomic_store_explicit(&gpu->nbi_done, n, memory_order_release);
    pthread_mutex_unlock(&gpu->nbi_lock);
    return end(gpu, &begun, rc);
}
