/* SPDX-License-Identifier: MIT
 *
 * Where memory lives and ordered work runs: the contract between the runtime and a kind of device. Two
 * implementations: host (host.c, host_stream.c), and gpu (gpu*.c, over the driver of either vendor). A device
 * knows nothing of PEs, teams or networks.
 *
 * Ordered work is enqueued on a stream and executed in its order; every enqueuing slot returns at once. A
 * stream is a handle as users give it (void *): the device resolves it, so an unknown one is an ARG error of
 * the call. NULL is the default stream.
 */
#ifndef RS_DEVICE_DEVICE_H
#define RS_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/wait.h"

struct rs_device;

/* One memory operation of a batch. Comparisons are ROCSHMEM_CMP_*, unsigned 64-bit. */
enum rs_memop_kind { RS_MEMOP_WRITE, RS_MEMOP_WAIT, RS_MEMOP_ADD };
struct rs_memop {
    enum rs_memop_kind kind;
    int cmp;
    bool exact;     /* a wait whose word may be 2^63 or more away from value */
    uint64_t *word; /* 8-byte aligned, reachable by the device */
    uint64_t value;
};

/* One atomic operation on a word. kernels.c has them in this order too. */
enum rs_amo_op {
    RS_AMO_FETCH,
    RS_AMO_SET,
    RS_AMO_SWAP,
    RS_AMO_COMPARE_SWAP,
    RS_AMO_ADD,
    RS_AMO_AND,
    RS_AMO_OR,
    RS_AMO_XOR
};

/* One of several copies that need no order among each other. */
struct rs_copy {
    void *dst;
    const void *src;
    size_t nbytes;
};
#define RS_COPIES_NBYTES                                                                                     \
    ((size_t)1 << 20) /* each at least: below, what it takes to run them side by side is more */

/* A reduction of one range of several PEs' memory, in their order. */
struct rs_reduction {
    void *const *dest; /* n_dests of them, reachable by the device; the arrays are copied */
    const void *const *source;
    int n_members, n_dests;
    size_t width, n; /* bytes of an element; elements */
    int type, op;
    /* What an element is, if it is one: signed or unsigned of width bytes, float of 4 or 8; and op. */
    enum rs_number { RS_NUMBER_OTHER, RS_NUMBER_SIGNED, RS_NUMBER_UNSIGNED, RS_NUMBER_FLOAT } number;
    enum rs_number_op { RS_SUM_OF, RS_PROD_OF, RS_MIN_OF, RS_MAX_OF, RS_AND_OF, RS_OR_OF, RS_XOR_OF } how;
    /* acc = acc op in, by the CPU. */
    void (*combine)(int type, int op, void *acc, const void *in, size_t n);
};

#define RS_WINDOW_PART ((size_t)2 << 20) /* windows grow in multiples of it */

#define RS_WINDOW_SPARE 64 /* bytes at the end of a window that a device may use for anything */

/* The windows of the PEs of a host, as they are mapped here. They may outlive the device's close. */
struct rs_windows {
    size_t nbytes, stride; /* of each: what is used; the distance where they lie side by side */
    size_t heap_nbytes;    /* of these, what may come later: the start of each */
    bool grows;            /* it does: nothing of it is there before window_grow. Set by window_make */
    size_t align;          /* that every window's start has, on every PE */
    int n_local, my_local;
    uintptr_t *base; /* owned, n_local of them; 0: there is no path to that one */
    bool *
        named; /* owned, n_local; NULL: none. Its base is a name only, which nobody but this device can use */
    void *state; /* the device's */
};
/* How a PE's window is found by another process: these bytes, and a descriptor where there is one. */
struct rs_window_export {
    unsigned char bytes[112];
};

struct rs_device_options {
    const char *library; /* the driver's, instead of the usual one; "" */
    const char *kernels; /* a file with device code, instead of what is built in; "" */
    bool asked;          /* the user wants this device: open its driver whatever the machine looks like */
    bool ipc;            /* export windows by IPC handle even where descriptors would do */
    size_t inline_nbytes;
};

#define RS_DEVICE_SHARED_NBYTES ((size_t)6623232)

struct rs_device_ops {
    const char *name;      /* "host", "cuda", "hip": what rocshmem-info prints */
    bool cpu_reaches_heap; /* the CPU may load and store the heap: blocking transfers are memcpy, atomics are
                              C11 */
    bool can_call;         /* the call slot is there */
    bool can_capture;      /* stream work can be captured in a graph */

    /* How many devices of this kind there are. 0: none, why says the reason. Before open; any thread. */
    int (*count)(const struct rs_device_options *options, char *why, size_t nbytes);
    /* The device that the calling thread chose by the driver's own means, -1 for none. NULL: never any. */
    int (*chosen)(const struct rs_device_options *options);
    /* Make device index modulo their number the calling thread's, by the driver's own means. NULL: it has none. */
    int (*pin)(const struct rs_device_options *options, int index);
    /* Start device ordinal. watch outlives it. */
    int (*open)(struct rs_device *dev, int ordinal, const struct rs_watch *watch,
                const struct rs_device_options *options);
    /* Drain and end it. Safe on a zeroed struct. */
    void (*close)(struct rs_device *dev);

    /* --- memory ---
     * Windows that one PE makes for all of its host, behind one descriptor (taken by the caller); ... */
    int (*windows_create)(struct rs_device *dev, size_t stride, int n_local, int *fd_out);
    /* ... and every PE maps (fd is borrowed); base is there, to be filled. Both NULL for the other way: */
    int (*windows_map)(struct rs_device *dev, int fd, struct rs_windows *windows);
    /* Every PE makes its own, with any contents, and exports it (*fd_out: taken by the caller, -1: bytes say it all),
     * ... */
    int (*window_make)(struct rs_device *dev, struct rs_windows *windows, struct rs_window_export *export_out,
                       int *fd_out);
    /* ... and imports each other's (fd is borrowed). */
    int (*window_open)(struct rs_device *dev, struct rs_windows *windows, int local,
                       const struct rs_window_export *export, int fd);
    /* Where windows grow: memory for [at, at + nbytes) of mine, both multiples of RS_WINDOW_PART (*fd_out as
     * above). NOMEM: the device has not got it; worded, nothing has changed. ... */
    int (*window_grow)(struct rs_device *dev, struct rs_windows *windows, size_t at, size_t nbytes,
                       int *fd_out);
    /* ... The same range of another one's (fd is borrowed). ... */
    int (*window_grown)(struct rs_device *dev, struct rs_windows *windows, int local, int fd);
    /* ... Undo the newest growth, as far as it came, of all windows here. Nobody uses it yet. */
    void (*window_shrink)(struct rs_device *dev, struct rs_windows *windows);
    /* Free and all memory of the device. NULL: as for window_grow, there is no such thing. */
    int (*memory)(struct rs_device *dev, size_t *free_out, size_t *all_out);
    /* Everything, base included; also of windows half made. */
    void (*windows_unmap)(struct rs_windows *windows);
    /* All windows are there: let PEs that share a device help each other. shared: zeroed memory that the CPUs of all PEs
     * of the host reach until they have closed their devices, RS_DEVICE_SHARED_NBYTES for each. NULL: nothing to do. */
    int (*serve)(struct rs_device *dev, const struct rs_windows *windows, void *shared);
    /* Zeroed memory that the CPU and streams reach at one address. Freed after close; NULL: close frees it. */
    int (*words_alloc)(struct rs_device *dev, size_t nbytes, void **words_out);
    void (*words_free)(void *words);

    /* --- done when they return; NULL where cpu_reaches_heap --- */
    /* Copy between any two of: windows, memory of the device, memory of the host. */
    int (*transfer)(struct rs_device *dev, void *dst, const void *src, size_t nbytes);
    /* The same, only begun (both may be NULL); done for sure when complete returns. */
    int (*transfer_nbi)(struct rs_device *dev, void *dst, const void *src, size_t nbytes);
    int (*complete)(struct rs_device *dev);
    /* A put from the host and the write or addition behind it, where one go does both. 1: it does not. May be NULL. */
    int (*put_signal)(struct rs_device *dev, void *dst, const void *src, size_t nbytes,
                      const struct rs_memop *signal);
    int (*fill)(struct rs_device *dev, void *dst, int byte, size_t nbytes);
    /* width 4 or 8, of FETCH also 2; atomic against those of all PEs and against stream work. old_out may be NULL. */
    int (*amo)(struct rs_device *dev, enum rs_amo_op op, void *word, size_t width, uint64_t value,
               uint64_t cond, uint64_t *old_out);

    /* --- ordered work --- */
    int (*stream_create)(struct rs_device *dev, void **stream_out);
    int (*stream_destroy)(struct rs_device *dev, void *stream);
    /* Wait for the stream's work; gives the first failure of it since the last synchronize. */
    int (*synchronize)(struct rs_device *dev, void *stream);
    int (*synchronize_all)(struct rs_device *dev);
    int (*query)(struct rs_device *dev, void *stream); /* 1 idle, 0 busy, or a status */
    /* Can work be enqueued on it? 0 yes; 1 yes, to be replayed: a graph is captured; or a status. */
    int (*probe)(struct rs_device *dev, void *stream);
    /* What a stream is at, for a dump: "stream 0x10 waits for ...". any: of the first stream that is busy. */
    void (*describe)(struct rs_device *dev, void *stream, bool any, char *out, size_t nbytes);
    int (*copy)(struct rs_device *dev, void *stream, void *dst, const void *src, size_t nbytes);
    /* n copies within windows, side by side as far as the device can. NULL: copy will do. */
    int (*copies)(struct rs_device *dev, void *stream, const struct rs_copy *copies, size_t n);
    /* n operations as one piece of work, executed in their order; a write is a release, a wait an acquire.
     * ops is copied. */
    int (*batch)(struct rs_device *dev, void *stream, const struct rs_memop *ops, size_t n);
    /* Run fn(arg) in stream order on a thread of ours; it must not block. Its negative status fails the
     * stream's later work. Always called exactly once, even when the stream has failed (then with failed
     * true, so that it can free arg). */
    int (*call)(struct rs_device *dev, void *stream, int (*fn)(void *arg, bool failed), void *arg);
    /* Combine the sources and store the result in every destination. NULL where call can do it. */
    int (*reduce)(struct rs_device *dev, void *stream, const struct rs_reduction *reduction);
    /* Are all PEs of the host on one device, which works for one of them at a time? Alike on all. NULL: never. */
    bool (*takes_turns)(const struct rs_device *dev);
};

struct rs_device {
    const struct rs_device_ops *ops; /* static */
    int ordinal;
    void *state; /* owned by the device between open and close */
};

/* Copy here and now, also to and from memory that the CPU can't reach; the ranges may overlap. */
static inline int rs_device_move(struct rs_device *dev, void *dst, const void *src, size_t nbytes)
{
    if (dev->ops->transfer) return dev->ops->transfer(dev, dst, src, nbytes);
    memmove(dst, src, nbytes);
    return 0;
}

static inline int rs_device_fill(struct rs_device *dev, void *dst, int byte, size_t nbytes)
{
    if (dev->ops->fill) return dev->ops->fill(dev, dst, byte, nbytes);
    memset(dst, byte, nbytes);
    return 0;
}

extern const struct rs_device_ops rs_device_host, rs_device_cuda, rs_device_hip;

#endif
