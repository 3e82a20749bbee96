/* SPDX-License-Identifier: MIT
 *
 * What is done when it returns: transfers, fills and atomics from the host, and waits for streams.
 *
 * Transfers and atomics run on our own stream, which has nothing in it that waits. Its end is seen by the CPU
 * in a pinned word that the stream writes last: sooner than by the driver's own wait. The thread that waits
 * looks for dead peers and signals as every wait does, and at the driver now and then, so that a failed
 * device is noticed. Every call here may come while this thread captures a graph on another stream, so
 * capture is relaxed meanwhile.
 */
#include <stdlib.h>

#include "base/os.h"
#include "base/status.h"
#include "device/gpu.h"

enum { RESULT, KERNEL_TICKET, STREAM_TICKET };

struct now {
    struct rs_gpu_entry entry;
    int mode;
};

static int begin(struct rs_gpu *gpu, struct now *now)
{
    RS_TRY(rs_gpu_enter(gpu, &now->entry));
    now->mode = 2;
    gpu->drv->capture_mode(&now->mode);
    pthread_mutex_lock(&gpu->now_lock);
    return 0;
}

static int end(struct rs_gpu *gpu, struct now *now, int rc)
{
    pthread_mutex_unlock(&gpu->now_lock);
    gpu->drv->capture_mode(&now->mode);
    rs_gpu_leave(gpu, &now->entry);
    return rc;
}

/* What is waited for here, our stream or the PE that serves this one, waits for nobody, so at first nothing need be
 * looked at, and must not: who interrupts a wait may run code of the user's, which may call here again, and would wait
 * for now_lock. After this long something is wrong. */
#define UNWATCHED_NS UINT64_C(500000000)

static int late_tick(void *arg, uint64_t waited_ns, int first)
{
    const struct rs_gpu *gpu = arg;
    if (waited_ns < UNWATCHED_NS || !gpu->watch->tick) return 0;
    return gpu->watch->tick(gpu->watch->arg, waited_ns, first);
}

void rs_gpu_now_wait(struct rs_gpu *gpu, struct rs_wait *wait)
{
    gpu->now_watch = (struct rs_watch){.spin_count = gpu->watch->spin_count, .tick = late_tick, .arg = gpu};
    rs_wait_begin(wait, &gpu->now_watch);
}

/* Until our stream, or a kernel in it, has written the ticket. */
static int await(struct rs_gpu *gpu, int word, uint64_t ticket)
{
    struct rs_wait wait;
    uint64_t look_ns = 0;
    rs_gpu_now_wait(gpu, &wait);
    while (__atomic_load_n(&gpu->words[word], __ATOMIC_ACQUIRE) != ticket) {
        RS_TRY(rs_wait_pause(&wait));
        if (wait.polls < wait.spin_count) continue;
        uint64_t now = rs_os_now_ns();
        if (now < look_ns) continue;
        look_ns = now + 1000000u;
        int code = gpu->drv->stream_query(gpu->own);
        if (code && code != gpu->drv->not_ready) return rs_gpu_fail(gpu->drv, code, "finish a transfer");
    }
    return 0;
}

static int finish(struct rs_gpu *gpu)
{
    uint64_t ticket = ++gpu->ticket;
    int code = gpu->drv->write64(gpu->own, (uintptr_t)&gpu->words[STREAM_TICKET], ticket, 0);
    if (code) return rs_gpu_fail(gpu->drv, code, "write a word");
    return await(gpu, STREAM_TICKET, ticket);
}

/* PEs share this GPU: their kernels alternate by time slices, and the driver's copies in device memory, and
 * small ones to it, are kernels. So without them, if there is a way. 1: there is none. */
static int transfer_shared(struct rs_gpu *gpu, uintptr_t dst, uintptr_t src, size_t nbytes)
{
    uint64_t ticket = gpu->ticket + 1;
    if (rs_gpu_far(gpu, dst) >= 0 || rs_gpu_far(gpu, src) >= 0) return 1;
    int rc = rs_gpu_small_put(gpu, dst, (const void *)src, nbytes, &gpu->words[STREAM_TICKET], ticket);
    if (rc == 0) {
        gpu->ticket = ticket;
        return await(gpu, STREAM_TICKET, ticket);
    }
    if (rc > 0) rc = rs_gpu_service_put(gpu, (void *)dst, (const void *)src, nbytes, NULL);
    if (rc <= 0) return rc;
    rc = rs_gpu_small_copy(gpu, gpu->own, dst, src, nbytes, true);
    if (rc == 1) return rs_gpu_service_copy_now(gpu, dst, src, nbytes);
    return rc ? rc : finish(gpu);
}

static int transfer(struct rs_gpu *gpu, uintptr_t dst, uintptr_t src, size_t nbytes)
{
    if (gpu->service) {
        int rc = transfer_shared(gpu, dst, src, nbytes);
        if (rc <= 0) return rc;
    }
    RS_TRY(rs_gpu_push_copy(gpu, gpu->own, dst, src, nbytes));
    return finish(gpu);
}

int rs_gpu_transfer(struct rs_device *dev, void *dst, const void *src, size_t nbytes)
{
    struct rs_gpu *gpu = dev->state;
    struct now now;
    if (nbytes == 0) return 0;
    RS_TRY(begin(gpu, &now));
    return end(gpu, &now, transfer(gpu, (uintptr_t)dst, (uintptr_t)src, nbytes));
}

int rs_gpu_put_signal(struct rs_device *dev, void *dst, const void *src, size_t nbytes,
                      const struct rs_memop *signal)
{
    struct rs_gpu *gpu = dev->state;
    struct now now;
    if (!gpu->service || rs_gpu_sharers(gpu) <= 2) return 1;
    RS_TRY(begin(gpu, &now));
    return end(gpu, &now, rs_gpu_service_put(gpu, dst, src, nbytes, signal));
}

int rs_gpu_fill(struct rs_device *dev, void *dst, int byte, size_t nbytes)
{
    struct rs_gpu *gpu = dev->state;
    struct now now;
    RS_TRY(begin(gpu, &now));
    int code = gpu->drv->fill((uintptr_t)dst, (unsigned char)byte, nbytes, gpu->own);
    return end(gpu, &now, code ? rs_gpu_fail(gpu->drv, code, "fill memory") : finish(gpu));
}

/* A word is read by a copy and written by a memory operation: one access each, like the atomics'. */
static int fetch(struct rs_gpu *gpu, uintptr_t word, size_t width)
{
    gpu->words[RESULT] = 0;
    return transfer(gpu, (uintptr_t)&gpu->words[RESULT], word, width);
}

static int set(struct rs_gpu *gpu, uintptr_t word, size_t width, uint64_t value)
{
    if (rs_gpu_far(gpu, word) >= 0) {
        gpu->words[RESULT] = value; /* little-endian: the low bytes come first */
        return transfer(gpu, word, (uintptr_t)&gpu->words[RESULT], width);
    }
    int code = width == 4 ? gpu->drv->write32(gpu->own, word, (uint32_t)value, 0)
                          : gpu->drv->write64(gpu->own, word, value, 0);
    return code ? rs_gpu_fail(gpu->drv, code, "write a word") : finish(gpu);
}

static int modify(struct rs_gpu *gpu, enum rs_amo_op op, uint64_t *word, size_t width, uint64_t value,
                  uint64_t cond)
{
    uint64_t *result = &gpu->words[RESULT], ticket = ++gpu->ticket;
    uint32_t what = op, size = (uint32_t)width;
    void *arguments[] = {&word, &value, &cond, &result, &ticket, &what, &size};
    if (rs_gpu_far(gpu, (uintptr_t)word) >= 0) return rs_gpu_no_kernels(gpu); /* its PE would have done it */
    RS_TRY(rs_gpu_launch(gpu, RS_GPU_KERNEL_AMO, 1, 1, gpu->own, arguments));
    return await(gpu, KERNEL_TICKET, ticket);
}

int rs_gpu_amo(struct rs_device *dev, enum rs_amo_op op, void *word, size_t width, uint64_t value,
               uint64_t cond, uint64_t *old_out)
{
    struct rs_gpu *gpu = dev->state;
    struct now now;
    RS_TRY(begin(gpu, &now));
    int rc = gpu->service ? rs_gpu_service_amo(gpu, op, word, width, value, cond, old_out) : 1;
    if (rc <= 0) return end(gpu, &now, rc);
    rc = op == RS_AMO_FETCH ? fetch(gpu, (uintptr_t)word, width)
         : op == RS_AMO_SET ? set(gpu, (uintptr_t)word, width, value)
                            : modify(gpu, op, word, width, value, cond);
    if (rc == 0 && old_out) *old_out = op == RS_AMO_SET ? 0 : gpu->words[RESULT];
    return end(gpu, &now, rc);
}

/* ---- waiting for streams ---- */

int rs_gpu_synchronize(struct rs_device *dev, void *stream)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    struct rs_wait wait;
    int capturing = 0, rc = 0;
    RS_TRY(rs_gpu_enter_stream(gpu, &entry, stream));
    int code = gpu->drv->stream_capturing(stream, &capturing);
    if (code)
        rc = rs_gpu_fail_stream(gpu, code, "look at a stream", stream);
    else if (capturing)
        rc = rs_fail(RS_E_ARG, "stream %p is being captured in a graph; it can't be waited for", stream);
    rs_wait_begin(&wait, gpu->watch);
    while (rc == 0 && (code = gpu->drv->stream_query(stream)) == gpu->drv->not_ready)
        if ((rc = rs_wait_pause(&wait)) == 0) rc = rs_gpu_service_look(gpu);
    if (rc == 0 && code) rc = rs_gpu_fail_stream(gpu, code, "finish the work of a stream", stream);
    rs_gpu_leave(gpu, &entry);
    return rc;
}

/* The driver's wait for a whole device can't be left, so a thread of its own makes it. */
struct whole {
    _Atomic int refs; /* two */
    _Atomic int code; /* W: the thread, release. R: who waits. -1: not yet */
    const struct rs_gpu_driver *drv;
    void *context;
};

static void whole_unref(struct whole *whole)
{
    if (atomic_fetch_sub(&whole->refs, 1) == 1) free(whole);
}

static void *wait_for_whole(void *arg)
{
    struct whole *whole = arg;
    int code = whole->drv->set_current(whole->drv, whole->context);
    if (code == 0) code = whole->drv->sync(whole->drv);
    atomic_store_explicit(&whole->code, code, memory_order_release);
    whole_unref(whole);
    return NULL;
}

static int start_whole(struct rs_gpu *gpu, struct whole **whole_out)
{
    pthread_t thread;
    struct whole *whole = malloc(sizeof *whole);
    if (!whole) return rs_fail(RS_E_NOMEM, "no memory to wait for a device");
    *whole = (struct whole){.drv = gpu->drv, .context = gpu->context};
    atomic_init(&whole->refs, 2);
    atomic_init(&whole->code, -1);
    int rc = rs_os_thread_start(&thread, "rocshmem-sync", wait_for_whole, whole);
    if (rc < 0) {
        free(whole);
        return rc;
    }
    pthread_detach(thread);
    *whole_out = whole;
    return 0;
}

int rs_gpu_synchronize_all(struct rs_device *dev)
{
    struct rs_gpu *gpu = dev->state;
    struct whole *whole;
    struct rs_wait wait;
    int rc = 0, code;
    RS_TRY(start_whole(gpu, &whole));
    rs_wait_begin(&wait, gpu->watch);
    while (rc == 0 && (code = atomic_load_explicit(&whole->code, memory_order_acquire)) == -1)
        if ((rc = rs_wait_pause(&wait)) == 0) rc = rs_gpu_service_look(gpu);
    whole_unref(whole);
    if (rc < 0) return rc;
    return code == 0 ? 0 : rs_gpu_fail(gpu->drv, code, "finish its work");
}

bool rs_gpu_idle_within(struct rs_gpu *gpu, uint64_t limit_ns)
{
    struct whole *whole;
    uint64_t deadline_ns = rs_os_now_ns() + limit_ns;
    if (start_whole(gpu, &whole) < 0) return false;
    int code;
    while ((code = atomic_load_explicit(&whole->code, memory_order_acquire)) == -1 &&
           rs_os_now_ns() < deadline_ns)
        rs_wait_sleep_ns(50000);
    whole_unref(whole);
    return code != -1;
}
