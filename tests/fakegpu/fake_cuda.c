/* SPDX-License-Identifier: MIT
 *
 * The fake driver's face as libcuda.so.1: what the runtime binds, and what tests need to capture graphs.
 * Every call but those that need none asks for a current context, as the real driver does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/gpu_driver.h"
#include "fake.h"

#define MAX_DEVICES 16
static struct context {
    int device;
    _Atomic int retained;
} primary[MAX_DEVICES];
static _Thread_local struct context *current;
static _Atomic bool started;

#define NEED_START                                                                                           \
    if (!started) return 3 /* not initialised */
#define NEED_CONTEXT                                                                                         \
    NEED_START;                                                                                              \
    if (!current || !current->retained) return INVALID_CONTEXT
#define NEED_DEVICE(device)                                                                                  \
    NEED_START;                                                                                              \
    if (device < 0 || device >= fake_devices()) return INVALID_DEVICE

/* The prototypes are those of gpu_driver.def: a definition that differs does not compile. */
#define DECLARE(member, args, cuda, hip) EXPORT int cuda args;
RS_GPU_COMMON(DECLARE)
RS_GPU_CUDA(DECLARE)
RS_GPU_NEW(DECLARE)
RS_GPU_VMM(DECLARE)

/* ---- devices and contexts ---- */

int cuInit(unsigned flags)
{
    if (flags) return INVALID_VALUE;
    if (fake_devices() == 0) return NO_DEVICE;
    started = true;
    return OK;
}
int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return OK;
}
int cuDeviceGet(int *device, int ordinal)
{
    NEED_DEVICE(ordinal);
    *device = ordinal;
    return OK;
}
int cuDeviceGetCount(int *count)
{
    NEED_START;
    *count = fake_devices();
    return OK;
}
int cuDeviceGetName(char *name, int nbytes, int device)
{
    NEED_DEVICE(device);
    snprintf(name, (size_t)nbytes, "Fake GPU %d", device);
    return OK;
}
int cuDeviceGetUuid_v2(struct rs_gpu_uuid *uuid, int device)
{
    NEED_DEVICE(device);
    memset(uuid, 0, sizeof *uuid);
    snprintf((char *)uuid->bytes, sizeof uuid->bytes, "fake %d", device);
    return OK;
}
int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    NEED_START;
    return fake_can_reach(can, device, peer);
}
int cuDevicePrimaryCtxRetain(void **context, int device)
{
    NEED_DEVICE(device);
    primary[device].device = device;
    primary[device].retained++;
    *context = &primary[device];
    return OK;
}
int cuDevicePrimaryCtxRelease_v2(int device)
{
    NEED_DEVICE(device);
    if (primary[device].retained == 0) return INVALID_CONTEXT;
    primary[device].retained--;
    return OK;
}
int cuCtxGetCurrent(void **context)
{
    NEED_START;
    *context = current;
    return OK;
}
int cuCtxSetCurrent(void *context)
{
    NEED_START;
    if (context && !((struct context *)context)->retained) return INVALID_CONTEXT;
    current = context;
    return OK;
}
int cuCtxGetDevice(int *device)
{
    NEED_CONTEXT;
    *device = current->device;
    return OK;
}
int cuCtxSynchronize(void)
{
    NEED_CONTEXT;
    return fake_sync_all();
}
int cuGetErrorString(int code, const char **text)
{
    *text = code == INVALID_VALUE         ? "invalid argument"
            : code == OUT_OF_MEMORY       ? "out of memory"
            : code == NO_DEVICE           ? "no CUDA-capable device is detected"
            : code == INVALID_CONTEXT     ? "invalid device context"
            : code == INVALID_HANDLE      ? "invalid resource handle"
            : code == CAPTURE_UNSUPPORTED ? "operation not permitted when stream is capturing"
                                          : "an error of the fake driver";
    return OK;
}

/* ---- memory ---- */

int cuMemAlloc_v2(uintptr_t *ptr, size_t nbytes)
{
    NEED_CONTEXT;
    int code = fake_unsafe();
    return code ? code : fake_alloc(ptr, nbytes, current->device);
}
int cuMemFree_v2(uintptr_t ptr)
{
    NEED_CONTEXT;
    int code = fake_unsafe();
    return code ? code : fake_free(ptr);
}
int cuMemHostAlloc(void **ptr, size_t nbytes, unsigned flags)
{
    NEED_CONTEXT;
    int code = fake_unsafe();
    if (flags & ~7u) return INVALID_VALUE;
    return code ? code : fake_host_alloc(ptr, nbytes);
}
int cuMemFreeHost(void *ptr)
{
    NEED_CONTEXT;
    return fake_host_free(ptr);
}
int cuMemHostRegister_v2(void *ptr, size_t nbytes, unsigned flags)
{
    NEED_CONTEXT;
    if (flags & ~15u) return INVALID_VALUE;
    int code = fake_unsafe();
    return code ? code : fake_host_register(ptr, nbytes);
}
int cuMemHostUnregister(void *ptr)
{
    NEED_CONTEXT;
    return fake_host_unregister(ptr);
}
int cuMemHostGetDevicePointer_v2(uintptr_t *ptr, void *host, unsigned flags)
{
    NEED_CONTEXT;
    if (flags || fake_kind((uintptr_t)host) != 1) return INVALID_VALUE;
    *ptr = (uintptr_t)host;
    return OK;
}
int cuMemGetInfo_v2(size_t *free_nbytes, size_t *all_nbytes)
{
    NEED_CONTEXT;
    fake_memory_info(free_nbytes, all_nbytes);
    return OK;
}
int cuPointerGetAttribute(void *out, int attribute, uintptr_t ptr)
{
    NEED_CONTEXT;
    int kind = fake_kind(ptr);
    if (attribute != 2 || !kind) return INVALID_VALUE;
    *(unsigned *)out = (unsigned)kind;
    return OK;
}
int cuMemcpyDtoDAsync_v2(uintptr_t dst, uintptr_t src, size_t nbytes, void *stream)
{
    NEED_CONTEXT;
    return fake_copy(dst, src, nbytes, stream, true);
}
int cuMemcpyAsync(uintptr_t dst, uintptr_t src, size_t nbytes, void *stream)
{
    NEED_CONTEXT;
    return fake_copy(dst, src, nbytes, stream, false);
}
int cuMemcpy2DAsync_v2(const struct rs_gpu_rectangle *r, void *stream)
{
    NEED_CONTEXT;
    if (r->src.x || r->src.y || r->dst.x || r->dst.y || r->src.pitch < r->width || r->dst.pitch < r->width)
        return INVALID_VALUE;
    if (r->src.type < 1 || r->src.type > 2 || r->dst.type < 1 || r->dst.type > 2) return INVALID_VALUE;
    uintptr_t src = r->src.type == 1 ? (uintptr_t)r->src.host : r->src.device;
    uintptr_t dst = r->dst.type == 1 ? (uintptr_t)r->dst.host : r->dst.device;
    int code = OK;
    for (size_t i = 0; i < r->height && code == OK; i++)
        code = fake_copy(dst + i * r->dst.pitch, src + i * r->src.pitch, r->width, stream, false);
    return code;
}
int cuMemsetD8Async(uintptr_t dst, unsigned char byte, size_t nbytes, void *stream)
{
    NEED_CONTEXT;
    return fake_fill(dst, byte, nbytes, stream);
}
int cuIpcGetMemHandle(struct rs_gpu_ipc *handle, uintptr_t ptr)
{
    NEED_CONTEXT;
    return fake_ipc_get(handle, ptr);
}
int cuIpcOpenMemHandle_v2(uintptr_t *ptr, struct rs_gpu_ipc handle, unsigned flags)
{
    NEED_CONTEXT;
    return flags == 1 ? fake_ipc_open(ptr, &handle, current->device) : INVALID_VALUE;
}
int cuIpcCloseMemHandle(uintptr_t ptr)
{
    NEED_CONTEXT;
    return fake_ipc_close(ptr);
}

/* ---- virtual memory ---- */

static bool no_vmm(void)
{
    const char *text = getenv("FAKEGPU_NO_VMM");
    return text && text[0] == '1';
}
int cuMemGetAllocationGranularity(size_t *nbytes, const struct rs_gpu_prop *prop, int option)
{
    NEED_START;
    if (no_vmm()) return NOT_SUPPORTED;
    if (prop->type != 1 || prop->location.type != 1 || option < 0 || option > 1) return INVALID_VALUE;
    *nbytes = FAKE_GRANULARITY;
    return OK;
}
int cuMemCreate(unsigned long long *handle, size_t nbytes, const struct rs_gpu_prop *prop,
                unsigned long long flags)
{
    NEED_START;
    if (no_vmm()) return NOT_SUPPORTED;
    if (flags || prop->type != 1 || prop->handle_types != 1 || prop->location.type != 1) return INVALID_VALUE;
    if (prop->location.id < 0 || prop->location.id >= fake_devices()) return INVALID_DEVICE;
    return fake_vmm_create(handle, nbytes, prop->location.id);
}
int cuMemRelease(unsigned long long handle)
{
    return fake_vmm_release(handle);
}
int cuMemExportToShareableHandle(void *out, unsigned long long handle, int type, unsigned long long flags)
{
    return type == 1 && !flags ? fake_vmm_export(out, handle) : INVALID_VALUE;
}
int cuMemImportFromShareableHandle(unsigned long long *handle, void *from, int type)
{
    NEED_CONTEXT;
    return type == 1 ? fake_vmm_import(handle, (int)(uintptr_t)from) : INVALID_VALUE;
}
int cuMemAddressReserve(uintptr_t *ptr, size_t nbytes, size_t align, uintptr_t hint, unsigned long long flags)
{
    (void)hint;
    return flags ? INVALID_VALUE : fake_vmm_reserve(ptr, nbytes, align);
}
int cuMemAddressFree(uintptr_t ptr, size_t nbytes)
{
    return fake_vmm_unreserve(ptr, nbytes);
}
int cuMemMap(uintptr_t ptr, size_t nbytes, size_t offset, unsigned long long handle, unsigned long long flags)
{
    return offset || flags ? INVALID_VALUE : fake_vmm_map(ptr, nbytes, handle);
}
int cuMemUnmap(uintptr_t ptr, size_t nbytes)
{
    return fake_vmm_unmap(ptr, nbytes);
}
int cuMemSetAccess(uintptr_t ptr, size_t nbytes, const struct rs_gpu_access *access, size_t n)
{
    if (n == 0 || access->flags != 3 || access->location.type != 1) return INVALID_VALUE;
    return fake_vmm_access(ptr, nbytes, access->location.id);
}

/* ---- streams and events ---- */

int cuStreamCreate(void **stream, unsigned flags)
{
    NEED_CONTEXT;
    return fake_stream_create(stream, flags);
}
int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    NEED_CONTEXT;
    (void)priority; /* any: it is clamped */
    return fake_stream_create(stream, flags);
}
int cuStreamDestroy_v2(void *stream)
{
    NEED_CONTEXT;
    return fake_stream_destroy(stream);
}
int cuStreamSynchronize(void *stream)
{
    NEED_CONTEXT;
    int code = fake_unsafe();
    return code ? code : fake_stream_sync(stream);
}
int cuStreamQuery(void *stream)
{
    NEED_CONTEXT;
    int code = fake_unsafe();
    return code ? code : fake_stream_query(stream);
}
int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    NEED_CONTEXT;
    return flags > 1 ? INVALID_VALUE : fake_stream_wait_event(stream, event);
}
int cuStreamIsCapturing(void *stream, int *status)
{
    NEED_CONTEXT;
    return fake_capture_status(stream, status);
}
int cuThreadExchangeStreamCaptureMode(int *mode)
{
    return fake_capture_mode(mode);
}
int cuEventCreate(void **event, unsigned flags)
{
    NEED_CONTEXT;
    return fake_event_create(event, flags);
}
int cuEventDestroy_v2(void *event)
{
    return fake_event_destroy(event);
}
int cuEventRecord(void *event, void *stream)
{
    NEED_CONTEXT;
    return fake_event_record(event, stream);
}
int cuStreamWriteValue32_v2(void *stream, uintptr_t word, uint32_t value, unsigned flags)
{
    NEED_CONTEXT;
    return fake_write(stream, word, value, 4, flags);
}
int cuStreamWriteValue64_v2(void *stream, uintptr_t word, uint64_t value, unsigned flags)
{
    NEED_CONTEXT;
    return fake_write(stream, word, value, 8, flags);
}
int cuStreamWaitValue64_v2(void *stream, uintptr_t word, uint64_t value, unsigned flags)
{
    NEED_CONTEXT;
    return fake_wait(stream, word, value, flags, true);
}
int cuStreamBatchMemOp_v2(void *stream, unsigned n, union rs_gpu_op *ops, unsigned flags)
{
    NEED_CONTEXT;
    struct op batch[256] = {{0}};
    if (flags || n == 0 || n > 256) return INVALID_VALUE; /* 256 is the real driver's limit */
    for (unsigned i = 0; i < n; i++) {
        uintptr_t word = ops[i].u.address;
        if (word % 8 || !fake_cpu(word, 8) || ops[i].u.flags > 1) return INVALID_VALUE;
        if (ops[i].u.operation != RS_GPU_OP_WAIT64 && ops[i].u.operation != RS_GPU_OP_WRITE64)
            return INVALID_VALUE;
        bool waits = ops[i].u.operation == RS_GPU_OP_WAIT64;
        batch[i] = (struct op){.kind = waits ? OP_WAIT : OP_WRITE,
                               .dst = word,
                               .nbytes = 8,
                               .value = ops[i].u.value,
                               .flags = ops[i].u.flags,
                               .ticket = waits};
    }
    return fake_push_batch(stream, batch, n);
}
int cuLaunchHostFunc(void *stream, void (*function)(void *), void *arg)
{
    NEED_CONTEXT;
    if (!function) return INVALID_VALUE;
    return fake_push(stream, &(struct op){.kind = OP_CALL, .fn = function, .arg = arg});
}

/* ---- modules ---- */

struct module {
    char magic[8];
    const char *text;
};
int cuModuleLoadData(void **module, const void *image)
{
    NEED_CONTEXT;
    int code = fake_unsafe();
    if (code) return code;
    if (!strstr(image, ".visible .entry")) return 218; /* invalid PTX */
    struct module *m = calloc(1, sizeof *m);
    if (!m) return OUT_OF_MEMORY;
    memcpy(m->magic, "module", 7);
    m->text = image;
    *module = m;
    return OK;
}
int cuModuleUnload(void *module)
{
    NEED_CONTEXT;
    free(module);
    return OK;
}
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    NEED_CONTEXT;
    char entry[128];
    snprintf(entry, sizeof entry, ".visible .entry %s(", name);
    if (!strstr(((struct module *)module)->text, entry)) return NOT_FOUND;
    *function = (void *)(uintptr_t)fake_kernel(name);
    return *function ? OK : NOT_FOUND;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra)
{
    NEED_CONTEXT;
    if (gx < 1 || gy != 1 || gz != 1 || bx < 1 || bx > 1024 || by != 1 || bz != 1 || shared || extra ||
        !arguments)
        return INVALID_VALUE;
    return fake_launch(function, stream, arguments);
}

/* ---- graphs, for tests ---- */

EXPORT int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamBeginCapture_v2(void *stream, int mode)
{
    NEED_CONTEXT;
    return fake_capture_begin(stream, mode);
}
EXPORT int cuStreamEndCapture(void *stream, void **graph);
int cuStreamEndCapture(void *stream, void **graph)
{
    NEED_CONTEXT;
    return fake_capture_end(stream, graph);
}
EXPORT int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
    if (flags || !graph) return INVALID_VALUE;
    *exec = graph;
    return OK;
}
EXPORT int cuGraphLaunch(void *exec, void *stream);
int cuGraphLaunch(void *exec, void *stream)
{
    NEED_CONTEXT;
    return exec ? fake_graph_launch(exec, stream) : INVALID_VALUE;
}
EXPORT int cuGraphDestroy(void *graph);
int cuGraphDestroy(void *graph)
{
    return fake_graph_destroy(graph);
}
EXPORT int cuGraphExecDestroy(void *exec);
int cuGraphExecDestroy(void *exec)
{
    return exec ? OK : INVALID_HANDLE; /* the graph's */
}
