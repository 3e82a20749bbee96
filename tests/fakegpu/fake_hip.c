/* SPDX-License-Identifier: MIT
 *
 * The fake driver's face as libamdhip64.so.5, with HIP's rules where they are stricter than CUDA's: kinds of
 * memory must be said, an IPC handle opens with the flag of its version only, a wait has a mask.
 * FAKEGPU_HIP_VERSION: 5 (default), 6 or 7.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/gpu_driver.h"
#include "fake.h"

#define DECLARE(member, args, cuda, hip) EXPORT int hip args;
RS_GPU_COMMON(DECLARE)
RS_GPU_HIP(DECLARE)
RS_GPU_NEW(DECLARE)

static _Thread_local int current;

static int major(void)
{
    const char *text = getenv("FAKEGPU_HIP_VERSION");
    return text && text[0] ? atoi(text) : 5;
}

#define NEED_DEVICE(device)                                                                                  \
    if (device < 0 || device >= fake_devices()) return INVALID_DEVICE

int hipInit(unsigned flags)
{
    if (flags) return INVALID_VALUE;
    return fake_devices() == 0 ? INVALID_DEVICE : OK; /* 101, not 100 */
}
int hipRuntimeGetVersion(int *version)
{
    *version = major() * 10000000 + 400000;
    return OK;
}
int hipDeviceGet(int *device, int ordinal)
{
    NEED_DEVICE(ordinal);
    *device = ordinal;
    return OK;
}
int hipGetDeviceCount(int *count)
{
    *count = fake_devices();
    return *count ? OK : NO_DEVICE;
}
int hipDeviceGetName(char *name, int nbytes, int device)
{
    NEED_DEVICE(device);
    snprintf(name, (size_t)nbytes, "Fake AMD GPU %d", device);
    return OK;
}
int hipDeviceGetUuid(struct rs_gpu_uuid *uuid, int device)
{
    NEED_DEVICE(device);
    memset(uuid, 0, sizeof *uuid);
    snprintf((char *)uuid->bytes, sizeof uuid->bytes, "fake %d", device);
    return OK;
}
int hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    return fake_can_reach(can, device, peer);
}
int hipGetDevice(int *device)
{
    *device = current;
    return OK;
}
int hipSetDevice(int device)
{
    NEED_DEVICE(device);
    current = device;
    return OK;
}
int hipDeviceSynchronize(void)
{
    return fake_sync_all();
}
EXPORT const char *hipGetErrorString(int code);
const char *hipGetErrorString(int code)
{
    return code == INVALID_VALUE ? "invalid argument" : code == OUT_OF_MEMORY ? "out of memory" : "an error";
}

/* ---- memory ---- */

int hipExtMallocWithFlags(void **ptr, size_t nbytes, unsigned flags)
{
    int code = fake_unsafe();
    if (flags != 0 && flags != 1 && flags != 2 && (flags != 3 || major() < 6)) return INVALID_VALUE;
    if (flags == 0) return NOT_SUPPORTED; /* coarse memory is never right for a symmetric heap */
    uintptr_t address = 0;
    if (code == OK) code = fake_alloc(&address, nbytes, current);
    *ptr = (void *)address;
    return code;
}
int hipFree(uintptr_t ptr)
{
    return fake_free(ptr);
}
int hipHostMalloc(void **ptr, size_t nbytes, unsigned flags)
{
    if ((flags & 0x40000000) == 0) return NOT_SUPPORTED; /* not coherent: polling would hang */
    int code = fake_unsafe();
    return code ? code : fake_host_alloc(ptr, nbytes);
}
int hipHostFree(void *ptr)
{
    return fake_host_free(ptr);
}
int hipHostRegister(void *ptr, size_t nbytes, unsigned flags)
{
    if (flags & ~15u) return INVALID_VALUE;
    return fake_host_register(ptr, nbytes);
}
int hipHostUnregister(void *ptr)
{
    return fake_host_unregister(ptr);
}
int hipHostGetDevicePointer(uintptr_t *ptr, void *host, unsigned flags)
{
    if (flags || fake_kind((uintptr_t)host) != 1) return INVALID_VALUE;
    *ptr = (uintptr_t)host;
    return OK;
}
int hipMemGetInfo(size_t *free_nbytes, size_t *all_nbytes)
{
    fake_memory_info(free_nbytes, all_nbytes);
    return OK;
}
int hipPointerGetAttributes(struct rs_gpu_pointer_attributes *out, const void *ptr)
{
    int kind = fake_kind((uintptr_t)ptr);
    if (!kind && major() < 6) return INVALID_VALUE;
    out->type = major() < 6 ? kind - 1 : kind; /* 5.x: host 0, device 1; 6.x: unregistered 0, 1, 2 */
    return OK;
}
int hipMemcpyDtoDAsync(uintptr_t dst, uintptr_t src, size_t nbytes, void *stream)
{
    return fake_copy(dst, src, nbytes, stream, true);
}
int hipMemcpyAsync(void *dst, const void *src, size_t nbytes, int kind, void *stream)
{
    return kind == 4 ? fake_copy((uintptr_t)dst, (uintptr_t)src, nbytes, stream, false) : INVALID_VALUE;
}
int hipMemsetD8Async(uintptr_t dst, unsigned char byte, size_t nbytes, void *stream)
{
    return fake_fill(dst, byte, nbytes, stream);
}
int hipIpcGetMemHandle(struct rs_gpu_ipc *handle, uintptr_t ptr)
{
    return fake_ipc_get(handle, ptr);
}
int hipIpcOpenMemHandle(void **ptr, struct rs_gpu_ipc handle, unsigned flags)
{
    if (flags != (major() < 6 ? 0u : 1u)) return INVALID_VALUE;
    uintptr_t address = 0;
    int code = fake_ipc_open(&address, &handle, current);
    *ptr = (void *)address;
    return code;
}
int hipIpcCloseMemHandle(uintptr_t ptr)
{
    return fake_ipc_close(ptr);
}

/* ---- streams and events ---- */

int hipStreamCreateWithFlags(void **stream, unsigned flags)
{
    return fake_stream_create(stream, flags);
}
int hipStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    (void)priority;
    return fake_stream_create(stream, flags);
}
int hipStreamDestroy(void *stream)
{
    return fake_stream_destroy(stream);
}
int hipStreamSynchronize(void *stream)
{
    int code = fake_unsafe();
    return code ? code : fake_stream_sync(stream);
}
int hipStreamQuery(void *stream)
{
    int code = fake_unsafe();
    return code ? code : fake_stream_query(stream);
}
int hipStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    return flags ? INVALID_VALUE : fake_stream_wait_event(stream, event);
}
int hipStreamIsCapturing(void *stream, int *status)
{
    return fake_capture_status(stream, status);
}
int hipThreadExchangeStreamCaptureMode(int *mode)
{
    return fake_capture_mode(mode);
}
int hipEventCreateWithFlags(void **event, unsigned flags)
{
    return fake_event_create(event, flags);
}
int hipEventDestroy(void *event)
{
    return fake_event_destroy(event);
}
int hipEventRecord(void *event, void *stream)
{
    return fake_event_record(event, stream);
}
int hipStreamWriteValue32(void *stream, uintptr_t word, uint32_t value, unsigned flags)
{
    return fake_write(stream, word, value, 4, flags);
}
int hipStreamWriteValue64(void *stream, uintptr_t word, uint64_t value, unsigned flags)
{
    return fake_write(stream, word, value, 8, flags);
}
int hipStreamWaitValue64(void *stream, void *word, uint64_t value, unsigned flags, uint64_t mask)
{
    return mask == UINT64_MAX ? fake_wait(stream, (uintptr_t)word, value, flags, false) : INVALID_VALUE;
}
int hipStreamBatchMemOp(void *stream, unsigned n, union rs_gpu_op *ops, unsigned flags)
{
    int code = flags || n == 0 || major() < 6 ? NOT_SUPPORTED : OK;
    for (unsigned i = 0; code == OK && i < n; i++)
        code = ops[i].u.operation == RS_GPU_OP_WAIT64
                   ? fake_wait(stream, ops[i].u.address, ops[i].u.value, ops[i].u.flags, false)
                   : fake_write(stream, ops[i].u.address, ops[i].u.value, 8, ops[i].u.flags);
    return code;
}
int hipLaunchHostFunc(void *stream, void (*function)(void *), void *arg)
{
    return function ? fake_push(stream, &(struct op){.kind = OP_CALL, .fn = function, .arg = arg})
                    : INVALID_VALUE;
}

/* ---- modules: any code object will do, the kernels are ours ---- */

int hipModuleLoadData(void **module, const void *image)
{
    int code = fake_unsafe();
    *module = (void *)(uintptr_t)image;
    return code ? code : image ? OK : INVALID_VALUE;
}
int hipModuleUnload(void *module)
{
    return module ? OK : INVALID_HANDLE;
}
int hipModuleGetFunction(void **function, void *module, const char *name)
{
    (void)module;
    *function = (void *)(uintptr_t)fake_kernel(name);
    return *function ? OK : NOT_FOUND;
}
int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, void *stream, void **arguments, void **extra)
{
    if (gx < 1 || gy != 1 || gz != 1 || bx < 1 || bx > 1024 || by != 1 || bz != 1 || shared || extra ||
        !arguments)
        return INVALID_VALUE;
    return fake_launch(function, stream, arguments);
}

/* ---- graphs, for tests ---- */

EXPORT int hipStreamBeginCapture(void *stream, int mode);
int hipStreamBeginCapture(void *stream, int mode)
{
    return fake_capture_begin(stream, mode);
}
EXPORT int hipStreamEndCapture(void *stream, void **graph);
int hipStreamEndCapture(void *stream, void **graph)
{
    return fake_capture_end(stream, graph);
}
EXPORT int hipGraphInstantiate(void **exec, void *graph, void **node, char *log, size_t nbytes);
int hipGraphInstantiate(void **exec, void *graph, void **node, char *log, size_t nbytes)
{
    (void)node;
    (void)log;
    (void)nbytes;
    *exec = graph;
    return graph ? OK : INVALID_VALUE;
}
EXPORT int hipGraphLaunch(void *exec, void *stream);
int hipGraphLaunch(void *exec, void *stream)
{
    return exec ? fake_graph_launch(exec, stream) : INVALID_VALUE;
}
EXPORT int hipGraphDestroy(void *graph);
int hipGraphDestroy(void *graph)
{
    return fake_graph_destroy(graph);
}
EXPORT int hipGraphExecDestroy(void *exec);
int hipGraphExecDestroy(void *exec)
{
    return exec ? OK : INVALID_HANDLE;
}
