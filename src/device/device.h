/* SPDX-License-Identifier: MIT
 *
 * Where memory lives and ordered work runs: the contract between the runtime and a kind of device. Two
 * implementations: host (host.c, host_stream.c) and, later, gpu.c. A device knows nothing of PEs, teams or
 * networks.
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

#include "base/wait.h"

struct rs_device;

/* One memory operation of a batch. Comparisons are ROCSHMEM_CMP_*, unsigned 64-bit. */
enum rs_memop_kind { RS_MEMOP_WRITE, RS_MEMOP_WAIT, RS_MEMOP_ADD };
struct rs_memop {
    enum rs_memop_kind kind;
    int cmp;
    uint64_t *word; /* 8-byte aligned, reachable by the device */
    uint64_t value;
};

struct rs_device_ops {
    const char *name;      /* "host", "cuda", "hip": what rocshmem-info prints */
    bool cpu_reaches_heap; /* the CPU may load and store the heap: blocking transfers are memcpy, atomics are
                              C11 */
    bool can_call;         /* the call slot is there */
    bool can_capture;      /* stream work can be captured in a graph */

    /* Start this device. watch outlives it. */
    int (*open)(struct rs_device *dev, int ordinal, const struct rs_watch *watch, size_t inline_nbytes);
    /* Drain and end it. Safe on a zeroed struct. */
    void (*close)(struct rs_device *dev);

    /* --- memory --- */
    /* On one PE of the host: make the windows of all its n_local PEs, nbytes each, behind one descriptor
     * (taken by the caller). */
    int (*windows_create)(struct rs_device *dev, size_t nbytes, int n_local, int *fd_out);
    /* On every PE: map them at equal stride. fd is borrowed. */
    int (*windows_map)(struct rs_device *dev, int fd, size_t nbytes, int n_local, void **base_out);
    void (*windows_unmap)(void *base, size_t nbytes, int n_local);

    /* --- ordered work --- */
    int (*stream_create)(struct rs_device *dev, void **stream_out);
    int (*stream_destroy)(struct rs_device *dev, void *stream);
    /* Wait for the stream's work; gives the first failure of it since the last synchronize. */
    int (*synchronize)(struct rs_device *dev, void *stream);
    int (*synchronize_all)(struct rs_device *dev);
    int (*query)(struct rs_device *dev, void *stream); /* 1 idle, 0 busy, or a status */
    /* What a stream is at, for a dump: "stream 0x10 waits for ...". any: of the first stream that is busy. */
    void (*describe)(struct rs_device *dev, void *stream, bool any, char *out, size_t nbytes);
    int (*copy)(struct rs_device *dev, void *stream, void *dst, const void *src, size_t nbytes);
    /* n operations as one piece of work, executed in their order; a write is a release, a wait an acquire.
     * ops is copied. */
    int (*batch)(struct rs_device *dev, void *stream, const struct rs_memop *ops, size_t n);
    /* Run fn(arg) in stream order on a thread of ours; it must not block. Its negative status fails the
     * stream's later work. Always called exactly once, even when the stream has failed (then with failed
     * true, so that it can free arg). */
    int (*call)(struct rs_device *dev, void *stream, int (*fn)(void *arg, bool failed), void *arg);
};

struct rs_device {
    const struct rs_device_ops *ops; /* static */
    int ordinal;
    void *state; /* owned by the device between open and close */
};

extern const struct rs_device_ops rs_device_host;

#endif
