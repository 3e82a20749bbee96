/* SPDX-License-Identifier: MIT
 *
 * The GPU device, for both vendors: gpu.c (open), gpu_stream.c, gpu_window.c (memory that is shared), gpu_work.c
 * (copies, memory operations, kernels in the order of a stream), gpu_now.c and gpu_nbi.c (from the host), gpu_ask.c and
 * gpu_service.c (PEs that do something for each other), and what they use.
 *
 * Every entry from above makes this device's context current in the calling thread and puts the caller's back
 * (rs_gpu_enter, rs_gpu_leave). Work of our own runs on one stream, whose end the CPU sees in a word of
 * pinned memory that the stream writes: no call of the driver's that could wait for ever.
 */
#ifndef RS_DEVICE_GPU_H
#define RS_DEVICE_GPU_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/device.h"
#include "device/gpu_driver.h"

enum rs_gpu_kernel {
    RS_GPU_KERNEL_AMO,
    RS_GPU_KERNEL_WAIT,
    RS_GPU_KERNEL_SERVE,
    RS_GPU_KERNEL_REDUCE,
    RS_GPU_KERNELS
};

struct rs_gpu_staging; /* gpu_work.c: pinned buffers for pageable memory in the order of streams */
struct rs_gpu_stream;
struct rs_gpu_words;
struct rs_gpu_kept;
struct rs_gpu_service;
struct rs_gpu_bounce;
struct rs_gpu_lanes;

struct rs_gpu {
    const struct rs_gpu_driver *drv;
    const struct rs_watch *watch;
    struct rs_watch now_watch; /* gpu_now.c: for waits under now_lock; under it */
    int device;                /* the driver's number */
    void *context;
    struct rs_gpu_uuid identity;
    const char *kernels;      /* a file with device code; "": what is built in */
    void *mapping;            /* gpu_window.c: of the windows, while both live */
    uintptr_t low, high;      /* all windows lie in [low, high) */
    size_t stride;            /* between them; 0: they lie anywhere */
    _Atomic bool no_far_rows; /* gpu_small.c: the driver refuses them. W, R: any thread, relaxed */

    pthread_mutex_t now_lock; /* one thread at a time uses `own` and waits for it */
    void *own;                /* our stream */
    uint64_t *words;          /* pinned: [0] result, [1] ticket of a kernel, [2] ticket of the stream */
    uint64_t ticket;

#define RS_GPU_KNOWN_STREAMS 64
    _Atomic uintptr_t known[RS_GPU_KNOWN_STREAMS]; /* gpu_stream.c: handles that are streams, by hash */

    bool *shares; /* owned: which PEs of the host are on this GPU; NULL before windows are exchanged */
    struct rs_gpu_service *service; /* gpu_service.c; NULL: no other PE is on this GPU */

    pthread_mutex_t nbi_lock; /* gpu_nbi.c: order of its stream, and who writes what follows */
    void *nbi_stream;         /* made by the first transfer */
    uint64_t nbi_ticket;
    _Atomic uint64_t nbi_begun, nbi_done; /* transfers. W: under nbi_lock, release. R: any thread, acquire */

    pthread_mutex_t lanes_lock;
    struct rs_gpu_lanes *lanes; /* gpu_lanes.c */

    pthread_mutex_t lock; /* everything below */
    void *module;
    void *functions[RS_GPU_KERNELS];
    struct rs_gpu_stream *streams; /* made by stream_create, also those set aside */
    struct rs_gpu_staging *staging;
    struct rs_gpu_bounce *bounces; /* gpu_small.c: a pinned buffer for each stream */
    struct rs_gpu_kept *kept;      /* what captured work refers to: a graph may replay it until the end */
    struct rs_gpu_words *pinned;   /* all of words_alloc */
};

/* What rs_gpu_enter found, for rs_gpu_leave. */
struct rs_gpu_entry {
    void *before;
    bool changed;
};
int rs_gpu_enter(const struct rs_gpu *gpu, struct rs_gpu_entry *entry);
void rs_gpu_leave(const struct rs_gpu *gpu, const struct rs_gpu_entry *entry);
/* gpu_stream.c: the same, before anything is done with a stream of the caller's. ARG when it is none. */
int rs_gpu_enter_stream(struct rs_gpu *gpu, struct rs_gpu_entry *entry, void *handle);
int rs_gpu_stream_create(struct rs_device *dev, void **handle_out);
/* Waits for its work. */
int rs_gpu_stream_destroy(struct rs_device *dev, void *handle);
void rs_gpu_streams_free(struct rs_gpu *gpu); /* context entered by the caller */
/* The driver refused work on a user's stream: ARG for an unknown one, else DEVICE. */
int rs_gpu_fail_stream(const struct rs_gpu *gpu, int code, const char *what, void *stream);

/* All memory of the windows; then addresses in it are known to be the device's. */
static inline bool rs_gpu_in_windows(const struct rs_gpu *gpu, const void *p, size_t nbytes)
{
    uintptr_t at = (uintptr_t)p;
    return at >= gpu->low && at < gpu->high && nbytes <= gpu->high - at;
}

/* gpu_work.c: push a copy that the driver can make of itself, the local side being any memory, or that is made by way of
 * the PE whose window it is. */
int rs_gpu_push_copy(struct rs_gpu *gpu, void *stream, uintptr_t dst, uintptr_t src, size_t nbytes);
/* Memory operations as one piece, where the driver can. A code of the driver. */
int rs_gpu_push_ops(const struct rs_gpu_driver *drv, void *stream, union rs_gpu_op *ops, unsigned n);

/* gpu_window.c */
int rs_gpu_window_make(struct rs_device *dev, struct rs_windows *windows, struct rs_window_export *export_out,
                       int *fd_out);
int rs_gpu_window_open(struct rs_device *dev, struct rs_windows *windows, int local,
                       const struct rs_window_export *export, int fd);
int rs_gpu_window_grow(struct rs_device *dev, struct rs_windows *windows, size_t at, size_t nbytes,
                       int *fd_out);
int rs_gpu_window_grown(struct rs_device *dev, struct rs_windows *windows, int local, int fd);
void rs_gpu_window_shrink(struct rs_device *dev, struct rs_windows *windows);
int rs_gpu_memory(struct rs_device *dev, size_t *free_out, size_t *all_out);
void rs_gpu_windows_unmap(struct rs_windows *windows);
int rs_gpu_words_alloc(struct rs_device *dev, size_t nbytes, void **words_out);
void rs_gpu_words_free(struct rs_gpu *gpu); /* all of them; context entered by the caller */
/* The device closes. abandon: never unmap its windows, work that never ends may use them. */
void rs_gpu_windows_part(struct rs_gpu *gpu, bool abandon);
void rs_gpu_windows_choose(bool ipc); /* of the windows made from now on */

/* gpu_work.c; context entered by the callee */
int rs_gpu_copy(struct rs_device *dev, void *stream, void *dst, const void *src, size_t nbytes);
int rs_gpu_batch(struct rs_device *dev, void *stream, const struct rs_memop *ops, size_t n);
int rs_gpu_probe(struct rs_device *dev, void *stream);
/* A pinned buffer for work in a stream; given back in its order. A captured one is kept, for the replays. */
#define RS_GPU_STAGING_NBYTES ((size_t)1 << 20)
int rs_gpu_staging_take(struct rs_gpu *gpu, struct rs_gpu_staging **staging_out, unsigned char **buffer_out);
int rs_gpu_staging_give(struct rs_gpu *gpu, void *stream, struct rs_gpu_staging *staging, bool captured);
void rs_gpu_staging_free(struct rs_gpu *gpu);
/* Free malloc'ed memory when the device closes, not before. */
int rs_gpu_keep(struct rs_gpu *gpu, void *memory);
/* Context entered by the caller. Loads the device code when it is first needed, also inside a capture. */
int rs_gpu_launch(struct rs_gpu *gpu, enum rs_gpu_kernel kernel, unsigned blocks, unsigned threads,
                  void *stream, void **arguments);
bool rs_gpu_has_kernels(const struct rs_gpu *gpu);
bool rs_gpu_kernels_loaded(struct rs_gpu *gpu);
int rs_gpu_no_kernels(const struct rs_gpu *gpu); /* the error */
void rs_gpu_kernels_unload(struct rs_gpu *gpu);

/* gpu_nbi.c */
#define RS_GPU_NBI_WORD 64 /* of gpu->words */
int rs_gpu_transfer_nbi(struct rs_device *dev, void *dst, const void *src, size_t nbytes);
int rs_gpu_complete(struct rs_device *dev);

/* gpu_lanes.c */
int rs_gpu_copies(struct rs_device *dev, void *stream, const struct rs_copy *copies, size_t n);
void rs_gpu_lanes_free(struct rs_gpu *gpu);

/* gpu_reduce.c */
struct rs_gpu_reduce {      /* by a kernel: members whose windows lie at equal distances */
    uintptr_t dest, source; /* in the first one's */
    size_t stride;
    uint64_t members; /* bit i: the one i strides behind the first */
    uint64_t n;
    uint32_t kind, op; /* of kernels.c */
};
int rs_gpu_reduce(struct rs_device *dev, void *stream, const struct rs_reduction *reduction);
int rs_gpu_reduce_launch(struct rs_gpu *gpu, void *stream, const struct rs_gpu_reduce *reduce);

/* gpu_service.c: what this PE does for others. */
int rs_gpu_serve(struct rs_device *dev, const struct rs_windows *windows, void *shared);
void rs_gpu_service_end(struct rs_gpu *gpu);  /* it does nothing for others any more */
void rs_gpu_service_free(struct rs_gpu *gpu); /* after all work; context entered by the caller */

/* gpu_ask.c: what others do for this one. There is a service. 1: nobody does this; 0: done, or pushed; or a status. */
int rs_gpu_service_amo(struct rs_gpu *gpu, uint32_t op, void *word, size_t width, uint64_t value,
                       uint64_t cond, uint64_t *old_out);
/* signal: NULL, or an addition or a write that follows */
int rs_gpu_service_put(struct rs_gpu *gpu, void *dst, const void *src, size_t nbytes,
                       const struct rs_memop *signal);
int rs_gpu_service_copy_now(struct rs_gpu *gpu, uintptr_t dst, uintptr_t src, size_t nbytes);
int rs_gpu_service_word(struct rs_gpu *gpu, void *stream, uint64_t *word, uint64_t value, bool add);
int rs_gpu_service_copies(struct rs_gpu *gpu, void *stream, const struct rs_copy *copies, size_t n);
int rs_gpu_service_reduce(struct rs_gpu *gpu, void *stream, const struct rs_gpu_reduce *reduce);
/* 0, or why nobody does anything any more. */
int rs_gpu_service_look(struct rs_gpu *gpu);
/* How many PEs are on this GPU, and does another one serve this one? */
int rs_gpu_sharers(const struct rs_gpu *gpu);
bool rs_gpu_takes_turns(const struct rs_device *dev);
bool rs_gpu_served(const struct rs_gpu *gpu);
/* The window's place for what nobody reads; 0: not known. */
uintptr_t rs_gpu_spare(const struct rs_gpu *gpu, uintptr_t at);
/* Is it in the window of a PE of this host? */
bool rs_gpu_in_any_window(const struct rs_gpu *gpu, uintptr_t at, size_t nbytes);
/* The PE in whose window it is if that can't be reached from here, else -1. */
int rs_gpu_far(const struct rs_gpu *gpu, uintptr_t at);

/* gpu_far.c: a copy with such a window on one side or both. */
int rs_gpu_far_copy(struct rs_gpu *gpu, void *stream, uintptr_t dst, uintptr_t src, size_t nbytes);

/* gpu_small.c: small copies by what does not need the GPU's processors. The same results. */
int rs_gpu_small_put(struct rs_gpu *gpu, uintptr_t dst, const void *src, size_t nbytes, uint64_t *done,
                     uint64_t ticket);
int rs_gpu_small_copy(struct rs_gpu *gpu, void *stream, uintptr_t dst, uintptr_t src, size_t nbytes,
                      bool now);
void rs_gpu_small_free(struct rs_gpu *gpu);

/* gpu_now.c */
/* Begin a wait under now_lock. */
void rs_gpu_now_wait(struct rs_gpu *gpu, struct rs_wait *wait);
int rs_gpu_put_signal(struct rs_device *dev, void *dst, const void *src, size_t nbytes,
                      const struct rs_memop *signal);
int rs_gpu_transfer(struct rs_device *dev, void *dst, const void *src, size_t nbytes);
int rs_gpu_fill(struct rs_device *dev, void *dst, int byte, size_t nbytes);
int rs_gpu_amo(struct rs_device *dev, enum rs_amo_op op, void *word, size_t width, uint64_t value,
               uint64_t cond, uint64_t *old_out);
int rs_gpu_synchronize(struct rs_device *dev, void *stream);
int rs_gpu_synchronize_all(struct rs_device *dev);
/* Is all work of the device done, at the latest after limit_ns? */
bool rs_gpu_idle_within(struct rs_gpu *gpu, uint64_t limit_ns);

#endif
