/* SPDX-License-Identifier: MIT
 *
 * The GPU driver as a table: libcuda or libamdhip64, opened when a job first asks for a GPU and kept. Where
 * the two differ, the difference is a field or an adapter here; gpu.c knows no vendor. No vendor's header is
 * needed: the prototypes are ours.
 *
 * A "context" is what must be current in a thread that calls the driver: a CUcontext, or a HIP device's
 * number plus one. Results are 0 or the vendor's code; rs_gpu_fail words one.
 */
#ifndef RS_DEVICE_GPU_DRIVER_H
#define RS_DEVICE_GPU_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/gpu_driver.def"

enum rs_gpu_vendor { RS_GPU_VENDOR_CUDA, RS_GPU_VENDOR_HIP };

struct rs_gpu_ipc { /* passed by value */
    unsigned char bytes[64];
};
struct rs_gpu_uuid {
    unsigned char bytes[16];
};
/* One memory operation of a batch: the same in both vendors. */
enum { RS_GPU_OP_WAIT64 = 4, RS_GPU_OP_WRITE64 = 5 };
enum { RS_GPU_WAIT_GE = 0, RS_GPU_WAIT_EQ = 1 };
union rs_gpu_op {
    struct {
        uint32_t operation;
        uintptr_t address;
        uint64_t value;
        uint32_t flags; /* of a wait: the comparison */
        uintptr_t alias;
    } u;
    uint64_t pad[6];
};
/* What memory is asked for, and who may access it. */
struct rs_gpu_location {
    int type, id; /* type 1: the device id */
};
struct rs_gpu_prop {
    int type, handle_types; /* 1 pinned; 1 POSIX descriptor */
    struct rs_gpu_location location;
    void *windows_only;
    unsigned char flags[8];
};
struct rs_gpu_access {
    struct rs_gpu_location location;
    int flags; /* 3: read and write */
};
/* CUDA's copy of rows. type 1: of the host, 2: of the device. */
struct rs_gpu_plane {
    size_t x, y;
    int type;
    const void *host;
    uintptr_t device;
    void *array;
    size_t pitch;
};
struct rs_gpu_rectangle {
    struct rs_gpu_plane src, dst;
    size_t width, height;
};
/* HIP's, which has a type first (5.x: an enum without "unregistered"), and grew over time. */
struct rs_gpu_pointer_attributes {
    int type;
    unsigned char rest[124];
};

#ifndef RS_GPU_CHECKED /* the contract check has the vendor's types */
#define GPU_RESULT int
#define GPU_DEVICE int
#define GPU_CONTEXT void *
#define GPU_PTR uintptr_t
#define GPU_STREAM void *
#define GPU_EVENT void *
#define GPU_MODULE void *
#define GPU_FUNCTION void *
#define GPU_CAPTURE int
#define GPU_MODE int
#define GPU_IPC struct rs_gpu_ipc
#define GPU_UUID struct rs_gpu_uuid
#define GPU_POINTER_ATTRIBUTE int
#define GPU_POINTER_ATTRIBUTES struct rs_gpu_pointer_attributes
#define GPU_COPY_KIND int
#define GPU_BATCH union rs_gpu_op
#define GPU_RECTANGLE struct rs_gpu_rectangle
#define GPU_PROP struct rs_gpu_prop
#define GPU_ACCESS struct rs_gpu_access
#define GPU_HANDLE unsigned long long
#define GPU_HANDLE_TYPE int
#define GPU_GRANULARITY int
#endif

#define RS_GPU_MEMBER_(member, args, cuda, hip) GPU_RESULT(*member) args;
struct rs_gpu_driver {
    enum rs_gpu_vendor vendor;
    const char *name;    /* "cuda", "hip" */
    const char *library; /* what was opened; static, or the environment's */
    int version;         /* the vendor's number */
    void *handle;
    RS_GPU_COMMON(RS_GPU_MEMBER_)
    RS_GPU_CUDA(RS_GPU_MEMBER_) /* NULL for HIP */
    RS_GPU_HIP(RS_GPU_MEMBER_)  /* NULL for CUDA */
    RS_GPU_NEW(RS_GPU_MEMBER_)
    RS_GPU_VMM(RS_GPU_MEMBER_)

    /* The differences. */
    int not_ready;       /* the code of a stream that is busy */
    unsigned host_flags; /* of host_alloc: all contexts, mapped, and coherent where that must be said */
    bool wait_unsigned;  /* a wait for >= compares as unsigned; else the sign of the difference decides */
    bool vmm;            /* all of RS_GPU_VMM is there, and good enough to be used */
    int (*identity)(const struct rs_gpu_driver *drv, int device, struct rs_gpu_uuid *out);
    int (*retain)(const struct rs_gpu_driver *drv, int device, void **context_out);
    int (*release)(const struct rs_gpu_driver *drv, int device);
    int (*current)(const struct rs_gpu_driver *drv, void **context_out);
    int (*set_current)(const struct rs_gpu_driver *drv, void *context);
    int (*current_device)(const struct rs_gpu_driver *drv, int *device_out); /* -1: the caller chose none */
    int (*sync)(const struct rs_gpu_driver *drv);
    int (*alloc)(const struct rs_gpu_driver *drv, uintptr_t *ptr_out, size_t nbytes);
    int (*copy)(const struct rs_gpu_driver *drv, uintptr_t dst, uintptr_t src, size_t nbytes, void *stream);
    int (*ipc_open)(const struct rs_gpu_driver *drv, uintptr_t *ptr_out, const struct rs_gpu_ipc *handle);
    int (*wait64)(const struct rs_gpu_driver *drv, void *stream, uintptr_t word, uint64_t value,
                  unsigned flags);
    bool (*is_pageable)(const struct rs_gpu_driver *drv, const void *ptr); /* unknown to the driver */
    void (*error_text)(const struct rs_gpu_driver *drv, int code, char *out, size_t nbytes);
};
#undef RS_GPU_MEMBER_

/* The vendor's driver, opened and initialised by the first call, kept for good; NULL: why tells the reason.
 * library: a path instead of the usual names; NULL or "": those. Any thread. */
const struct rs_gpu_driver *rs_gpu_driver_get(enum rs_gpu_vendor vendor, const char *library, char *why,
                                              size_t nbytes);
/* A stream for work of ours that never waits. Streams share a few queues of the hardware (8, as a rule), and in one
 * queue the work of a stream that waits holds up all behind it; streams of another priority have queues of their own.
 * The user's streams wait, for other PEs: this one is not to be behind them. A code of the driver. */
int rs_gpu_stream_of_ours(const struct rs_gpu_driver *drv, void **stream_out);
/* Word a driver's failure: DEVICE, or NOMEM. */
int rs_gpu_fail(const struct rs_gpu_driver *drv, int code, const char *what) __attribute__((cold));

#endif
