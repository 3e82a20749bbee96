/* SPDX-License-Identifier: MIT
 *
 * A GPU driver on host memory, for tests: as libcuda.so.1 (fake_cuda.c) and libamdhip64.so.5 (fake_hip.c)
 * over one core. Device memory is memfds, so that it can be shared between processes by descriptor and by IPC
 * handle; a stream is a queue with a thread; the kernels are C functions. It is strict: unknown pointers and
 * streams, a missing or wrong current context, and bad flags are errors, as they are in a real driver or are
 * undefined there.
 *
 * Environment: FAKEGPU_DEVICES (default 1), FAKEGPU_MEMORY (MiB of memory that each process can have, default 2048), FAKEGPU_NO_VMM=1, FAKEGPU_NO_PEER=1 (devices don't reach each other's memory), FAKEGPU_SMALL_ALIGN=1, FAKEGPU_STRICT=1: device memory is mapped
 * without any access at its addresses, so that a program or library that touches it by the CPU dies.
 */
#ifndef FAKEGPU_FAKE_H
#define FAKEGPU_FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

enum { /* codes that CUDA and HIP share */
       OK = 0,
       INVALID_VALUE = 1,
       OUT_OF_MEMORY = 2,
       NO_DEVICE = 100,
       NO_PEER = 217,
       INVALID_DEVICE = 101,
       INVALID_CONTEXT = 201,
       INVALID_HANDLE = 400,
       NOT_FOUND = 500,
       NOT_READY = 600,
       NOT_SUPPORTED = 801,
       CAPTURE_UNSUPPORTED = 900,
       CAPTURE_INVALIDATED = 901,
       CAPTURE_UNMATCHED = 903,
};

/* ---- memory ---- */

struct charge;
enum block_kind { BLOCK_DEVICE, BLOCK_HOST };
struct block {
    struct block *next;
    enum block_kind kind;
    unsigned char *base; /* the address that users have */
    unsigned char *cpu;  /* where this driver reaches it */
    size_t nbytes;
    int fd;        /* owned; -1: none */
    bool imported; /* by IPC */
    bool registered, mapped, accessible;
    int device;            /* whose memory it is */
    struct charge *charge; /* of a mapping of memory that this process made */
};

int fake_devices(void);
bool fake_strict(void);
int fake_can_reach(int *can, int device, int peer);
/* Where the CPU reaches [ptr, ptr + nbytes): inside one block; NULL: not the driver's memory. */
void *fake_cpu(uintptr_t ptr, size_t nbytes);
/* Is it known: 0 no, 1 host, 2 device. Base and size of its block, if wanted. */
int fake_kind(uintptr_t ptr);
int fake_alloc(uintptr_t *ptr, size_t nbytes, int device);
int fake_free(uintptr_t ptr);
int fake_host_alloc(void **ptr, size_t nbytes);
int fake_host_free(void *ptr);
int fake_host_register(void *ptr, size_t nbytes);
int fake_host_unregister(void *ptr);
void fake_memory_info(size_t *free_nbytes, size_t *all_nbytes);
int fake_ipc_get(void *handle64, uintptr_t ptr);
int fake_ipc_open(uintptr_t *ptr, const void *handle64, int device);
int fake_ipc_close(uintptr_t ptr);
int fake_vmm_create(unsigned long long *handle, size_t nbytes, int device);
int fake_vmm_release(unsigned long long handle);
int fake_vmm_export(int *fd, unsigned long long handle);
int fake_vmm_import(unsigned long long *handle, int fd);
int fake_vmm_reserve(uintptr_t *ptr, size_t nbytes, size_t align);
int fake_vmm_unreserve(uintptr_t ptr, size_t nbytes);
int fake_vmm_map(uintptr_t ptr, size_t nbytes, unsigned long long handle);
int fake_vmm_unmap(uintptr_t ptr, size_t nbytes);
int fake_vmm_access(uintptr_t ptr, size_t nbytes, int device);
#define FAKE_GRANULARITY ((size_t)2 << 20)

/* ---- streams ---- */

enum op_kind { OP_COPY, OP_FILL, OP_WRITE, OP_WAIT, OP_CALL, OP_KERNEL, OP_RECORD, OP_AWAIT, OP_GRAPH };
struct event;
struct graph;
struct kernel;
struct op {
    struct op *next;
    enum op_kind kind;
    uintptr_t dst, src; /* of a write or wait: dst is the word */
    void *owned;        /* a snapshot of pageable memory, freed with the op */
    size_t nbytes;      /* of a write or wait: 4 or 8 */
    uint64_t value;
    unsigned flags;
    void (*fn)(void *);
    void *arg;
    const struct kernel *kernel;
    uint64_t args[8];
    struct event *event;
    uint64_t ticket;
    struct graph *graph;
};
struct kernel { /* kernels.c of this folder */
    const char *name;
    int n_args;
    unsigned narrow, pointers; /* bit i: argument i has 4 bytes; is an address */
    void (*run)(const uint64_t *args);
};
const struct kernel *fake_kernel(const char *name);

/* All take a stream's handle: 0, 1 (legacy default), 2 (the thread's default) or one of fake_stream_create.
 */
int fake_stream_create(void **stream, unsigned flags);
int fake_stream_destroy(void *stream);
int fake_stream_sync(void *stream);
int fake_stream_query(void *stream);
int fake_sync_all(void);
int fake_push(void *stream, const struct op *op);
int fake_push_batch(void *stream, const struct op *ops, unsigned n);
int fake_copy(uintptr_t dst, uintptr_t src, size_t nbytes, void *stream, bool device_only);
int fake_fill(uintptr_t dst, unsigned char byte, size_t nbytes, void *stream);
int fake_event_create(void **event, unsigned flags);
int fake_event_destroy(void *event);
int fake_event_record(void *event, void *stream);
int fake_event_query(void *event);
int fake_stream_wait_event(void *stream, void *event);
int fake_write(void *stream, uintptr_t word, uint64_t value, size_t width, unsigned flags);
int fake_wait(void *stream, uintptr_t word, uint64_t value, unsigned flags, bool is_signed);
int fake_launch(const struct kernel *kernel, void *stream, void **arguments);

int fake_capture_begin(void *stream, int mode);
int fake_capture_end(void *stream, void **graph);
int fake_capture_status(void *stream, int *status);
int fake_capture_mode(int *mode);
/* For calls that a capture forbids: OK, or CAPTURE_UNSUPPORTED, and the captures are invalid. */
int fake_unsafe(void);
int fake_graph_launch(void *graph, void *stream);
int fake_graph_destroy(void *graph);

#endif
