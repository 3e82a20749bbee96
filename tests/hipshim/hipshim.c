/* SPDX-License-Identifier: MIT
 *
 * libamdhip64 for tests, on top of libcuda: what the runtime asks of HIP is passed on to CUDA's driver, after
 * HIP's rules have been enforced where they are stricter or other than CUDA's. So the runtime's HIP side runs
 * on a GPU of NVIDIA, and, over the fake libcuda, in continuous integration. It cannot show how memory of AMD
 * GPUs behaves, nor what anything costs there.
 *
 * HIPSHIM_MAJOR, at compile time: 5 or 6. Device code is CUDA's: ROCSHMEM_GPU_KERNELS names PTX, for the
 * runtime and for this library, which waits for >= with our kernel when HIPSHIM_EXACT=1: HIP compares as
 * unsigned, CUDA's driver by the sign of the difference.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/gpu_driver.h"

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(member, args, cuda, hip) EXPORT int hip args;
RS_GPU_COMMON(DECLARE)
RS_GPU_HIP(DECLARE)
RS_GPU_NEW(DECLARE)
#undef DECLARE

enum { /* hipError_t */
       OK = 0,
       INVALID_VALUE = 1,
       OUT_OF_MEMORY = 2,
       NO_DEVICE = 100,
       INVALID_DEVICE = 101,
       INVALID_HANDLE = 400,
       NOT_SUPPORTED = 801,
};
enum { MAX_DEVICES = 16, MAX_BLOCKS = 4096 };
static const size_t ipc_unit = (size_t)2 << 20;

/* ---- CUDA ---- */

#define MEMBER(member, args, cuda, hip) int(*member) args;
static struct {
    RS_GPU_COMMON(MEMBER)
    RS_GPU_CUDA(MEMBER)
    RS_GPU_NEW(MEMBER)
    int (*begin)(void *stream, int mode);
    int (*end)(void *stream, void **graph);
    int (*instantiate)(void **exec, void *graph, unsigned long long flags);
    int (*graph_launch)(void *exec, void *stream);
    int (*graph_destroy)(void *graph);
    int (*exec_destroy)(void *exec);
} cuda;
#undef MEMBER
static bool loaded; /* written once, before load_once returns */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    bool all = library != NULL;
#define FIND(member, args, name, hip)                                                                        \
    if (all) all = (*(void **)&cuda.member = dlsym(library, #name)) != NULL;
    RS_GPU_COMMON(FIND)
    RS_GPU_CUDA(FIND)
    RS_GPU_NEW(FIND)
    FIND(begin, , cuStreamBeginCapture_v2, )
    FIND(end, , cuStreamEndCapture, )
    FIND(instantiate, , cuGraphInstantiateWithFlags, )
    FIND(graph_launch, , cuGraphLaunch, )
    FIND(graph_destroy, , cuGraphDestroy, )
    FIND(exec_destroy, , cuGraphExecDestroy, )
#undef FIND
    loaded = all && cuda.init(0) == OK;
}

static bool ready(void)
{
    pthread_once(&once, load);
    return loaded;
}

/* ---- devices: a thread has one, of its own or 0, and CUDA's context of that is made current for each call ---- */

static _Thread_local int current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the contexts, the blocks */
static void *contexts[MAX_DEVICES];

static int enter(void)
{
    if (!ready()) return NO_DEVICE;
    int code = OK;
    pthread_mutex_lock(&lock);
    if (!contexts[current]) code = cuda.cuda_retain(&contexts[current], current);
    void *context = contexts[current];
    pthread_mutex_unlock(&lock);
    return code ? code : cuda.cuda_set_current(context);
}
#define ENTER                                                                                                \
    do {                                                                                                     \
        int entered_ = enter();                                                                              \
        if (entered_) return entered_;                                                                       \
    } while (0)

static bool is_device(int device)
{
    int n = 0;
    return ready() && cuda.device_count(&n) == OK && device >= 0 && device < n && device < MAX_DEVICES;
}

int hipInit(unsigned flags)
{
    if (flags) return INVALID_VALUE;
    return is_device(0) ? OK : HIPSHIM_MAJOR < 6 ? INVALID_DEVICE : NO_DEVICE;
}
int hipRuntimeGetVersion(int *version)
{
    *version = HIPSHIM_MAJOR * 10000000 + 400000;
    return OK;
}
int hipDeviceGet(int *device, int ordinal)
{
    if (!is_device(ordinal)) return INVALID_DEVICE;
    *device = ordinal;
    return OK;
}
int hipGetDeviceCount(int *count)
{
    *count = 0;
    if (!ready() || cuda.device_count(count) != OK || *count == 0) return NO_DEVICE;
    return OK;
}
int hipDeviceGetName(char *name, int nbytes, int device)
{
    return is_device(device) ? cuda.device_name(name, nbytes, device) : INVALID_DEVICE;
}
int hipDeviceGetUuid(struct rs_gpu_uuid *uuid, int device)
{
    return is_device(device) ? cuda.cuda_identity(uuid, device) : INVALID_DEVICE;
}
int hipGetDevice(int *device)
{
    *device = current;
    return ready() ? OK : NO_DEVICE;
}
int hipSetDevice(int device)
{
    if (!is_device(device)) return INVALID_DEVICE;
    current = device;
    return enter();
}
int hipDeviceSynchronize(void)
{
    ENTER;
    return cuda.cuda_sync();
}
EXPORT const char *hipGetErrorString(int code);
const char *hipGetErrorString(int code)
{
    const char *text = NULL;
    return ready() && cuda.cuda_error(code, &text) == OK && text ? text
                                                                 : "no HIP device, or an unknown error";
}

/* ---- memory ---- */

/* What was given by hipExtMallocWithFlags, under lock. */
static struct block {
    uintptr_t base;
    size_t nbytes;
} blocks[MAX_BLOCKS];

static struct block *block_at(uintptr_t base)
{
    for (int i = 0; i < MAX_BLOCKS; i++)
        if (blocks[i].base == base) return &blocks[i];
    return NULL;
}

/* Coarse memory (0) is never right for a symmetric heap, so it is refused. Signal memory is one word. */
int hipExtMallocWithFlags(void **ptr, size_t nbytes, unsigned flags)
{
    ENTER;
    if (flags > 3 || (flags == 3 && HIPSHIM_MAJOR < 6) || (flags == 2 && nbytes != 8)) return INVALID_VALUE;
    if (flags == 0) return NOT_SUPPORTED;
    uintptr_t address = 0;
    int code = cuda.cuda_alloc(&address, nbytes);
    if (code) return code;
    pthread_mutex_lock(&lock);
    struct block *b = block_at(0);
    if (b) *b = (struct block){address, nbytes};
    pthread_mutex_unlock(&lock);
    *ptr = (void *)address;
    return b ? OK : OUT_OF_MEMORY;
}
int hipFree(uintptr_t ptr)
{
    ENTER;
    if (!ptr) return OK;
    pthread_mutex_lock(&lock);
    struct block *b = block_at(ptr);
    if (b) *b = (struct block){0};
    pthread_mutex_unlock(&lock);
    return b ? cuda.free(ptr) : INVALID_VALUE;
}
/* Without the flag for coherent memory a CPU that polls may never see a GPU's store. */
int hipHostMalloc(void **ptr, size_t nbytes, unsigned flags)
{
    ENTER;
    if (flags & ~(0x7u | 0x20000000u | 0x40000000u | 0x80000000u)) return INVALID_VALUE;
    if ((flags & 0xc0000000u) == 0xc0000000u) return INVALID_VALUE;
    if (!(flags & 0x40000000u)) return NOT_SUPPORTED;
    return cuda.host_alloc(ptr, nbytes, flags & 7u);
}
int hipHostFree(void *ptr)
{
    ENTER;
    return ptr ? cuda.host_free(ptr) : OK;
}
/* 8 is read-only memory from 6 on, and coarse-grained memory before. */
int hipHostRegister(void *ptr, size_t nbytes, unsigned flags)
{
    ENTER;
    return flags & ~7u ? INVALID_VALUE : cuda.host_register(ptr, nbytes, flags);
}
int hipHostUnregister(void *ptr)
{
    ENTER;
    return cuda.host_unregister(ptr);
}
int hipHostGetDevicePointer(uintptr_t *ptr, void *host, unsigned flags)
{
    ENTER;
    return flags ? INVALID_VALUE : cuda.host_pointer(ptr, host, flags);
}

struct attributes { /* of 5.2 */
    int type, device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
};

/* 5.x: host 0, device 1, and unknown memory is an error; 6.x: unregistered 0, host 1, device 2. */
int hipPointerGetAttributes(struct rs_gpu_pointer_attributes *out, const void *ptr)
{
    unsigned type = 0;
    ENTER;
    if (!out || !ptr) return INVALID_VALUE;
    if (cuda.cuda_attribute(&type, 2, (uintptr_t)ptr) != OK) type = 0;
    if (type == 0 && HIPSHIM_MAJOR < 6) return INVALID_VALUE;
    struct attributes a = {.type = HIPSHIM_MAJOR < 6 ? (int)type - 1 : (int)type, .device = current};
    if (type == 1) a.host_pointer = (void *)(uintptr_t)ptr;
    if (type == 2) a.device_pointer = (void *)(uintptr_t)ptr;
    memcpy(out, &a, sizeof a);
    return OK;
}
int hipMemcpyDtoDAsync(uintptr_t dst, uintptr_t src, size_t nbytes, void *stream)
{
    ENTER;
    return cuda.copy_device(dst, src, nbytes, stream);
}
/* The other kinds say where memory lies; 4 finds it out. */
int hipMemcpyAsync(void *dst, const void *src, size_t nbytes, int kind, void *stream)
{
    ENTER;
    if (kind < 0 || kind > 4) return INVALID_VALUE;
    if (nbytes == 0) return OK;
    return dst && src ? cuda.cuda_copy((uintptr_t)dst, (uintptr_t)src, nbytes, stream) : INVALID_VALUE;
}
int hipMemsetD8Async(uintptr_t dst, unsigned char byte, size_t nbytes, void *stream)
{
    ENTER;
    return cuda.fill(dst, byte, nbytes, stream);
}

/* ---- memory of other processes ---- */

/* Of whole blocks only: HIP's handle carries an offset, CUDA's does not. Blocks of other sizes than multiples of
 * 2 MiB failed in old versions. */
int hipIpcGetMemHandle(struct rs_gpu_ipc *handle, uintptr_t ptr)
{
    ENTER;
    pthread_mutex_lock(&lock);
    const struct block *b = ptr ? block_at(ptr) : NULL;
    bool whole = b && (HIPSHIM_MAJOR >= 6 || b->nbytes % ipc_unit == 0);
    pthread_mutex_unlock(&lock);
    return whole ? cuda.ipc_get(handle, ptr) : INVALID_VALUE;
}
/* The one flag, lazy peer access, is 0 in the headers of 5.x and 1 in those of 6.x; none other is taken. */
int hipIpcOpenMemHandle(void **ptr, struct rs_gpu_ipc handle, unsigned flags)
{
    uintptr_t address = 0;
    ENTER;
    if (flags != (HIPSHIM_MAJOR < 6 ? 0u : 1u)) return INVALID_VALUE;
    int code = cuda.cuda_ipc_open(&address, handle, 1);
    *ptr = (void *)address;
    return code;
}
int hipIpcCloseMemHandle(uintptr_t ptr)
{
    ENTER;
    return cuda.ipc_close(ptr);
}

/* ---- streams and events ---- */

/* HIP has the default stream, and 2 for the thread's; 1 is no stream of its. */
static int on_stream(void *stream)
{
    int code = enter();
    return code ? code : stream == (void *)1 ? INVALID_HANDLE : OK;
}
#define ON_STREAM                                                                                            \
    do {                                                                                                     \
        int entered_ = on_stream(stream);                                                                    \
        if (entered_) return entered_;                                                                       \
    } while (0)

int hipStreamCreateWithFlags(void **stream, unsigned flags)
{
    ENTER;
    return flags > 1 ? INVALID_VALUE : cuda.stream_create(stream, flags);
}
int hipStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    ENTER;
    return flags > 1 ? INVALID_VALUE : cuda.stream_urgent(stream, flags, priority);
}
int hipStreamDestroy(void *stream)
{
    ON_STREAM;
    return (uintptr_t)stream <= 2 ? INVALID_HANDLE : cuda.stream_destroy(stream);
}
int hipStreamSynchronize(void *stream)
{
    ON_STREAM;
    return cuda.stream_sync(stream);
}
int hipStreamQuery(void *stream)
{
    ON_STREAM;
    return cuda.stream_query(stream);
}
int hipStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    ON_STREAM;
    return flags ? INVALID_VALUE : cuda.stream_wait(stream, event, 0);
}
int hipStreamIsCapturing(void *stream, int *status)
{
    ON_STREAM;
    return cuda.stream_capturing(stream, status);
}
int hipThreadExchangeStreamCaptureMode(int *mode)
{
    ENTER;
    return *mode < 0 || *mode > 2 ? INVALID_VALUE : cuda.capture_mode(mode);
}
/* The two high bits choose how far a record releases memory; only one may be given. */
int hipEventCreateWithFlags(void **event, unsigned flags)
{
    ENTER;
    if (flags & ~(0x7u | 0xc0000000u) || (flags & 0xc0000000u) == 0xc0000000u) return INVALID_VALUE;
    return cuda.event_create(event, flags & 7u);
}
int hipEventDestroy(void *event)
{
    ENTER;
    return cuda.event_destroy(event);
}
int hipEventRecord(void *event, void *stream)
{
    ON_STREAM;
    return cuda.event_record(event, stream);
}
int hipStreamWriteValue32(void *stream, uintptr_t word, uint32_t value, unsigned flags)
{
    ON_STREAM;
    return flags || word % 4 ? INVALID_VALUE : cuda.write32(stream, word, value, 0);
}
int hipStreamWriteValue64(void *stream, uintptr_t word, uint64_t value, unsigned flags)
{
    ON_STREAM;
    return flags || word % 8 ? INVALID_VALUE : cuda.write64(stream, word, value, 0);
}

/* ---- waits ---- */

static void *wait_module, *wait_kernel; /* under lock; for good */

static int load_wait_kernel(void)
{
    const char *path = getenv("ROCSHMEM_GPU_KERNELS");
    FILE *file = path && path[0] ? fopen(path, "rb") : NULL;
    if (!file) return INVALID_VALUE;
    static char text[1 << 20];
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    int mode = 2;
    cuda.capture_mode(&mode);
    int code = cuda.module_load(&wait_module, text);
    if (code == OK) code = cuda.module_function(&wait_kernel, wait_module, "rs_kernel_wait");
    cuda.capture_mode(&mode);
    return code;
}

static int wait_exactly(void *stream, uintptr_t word, uint64_t value)
{
    uint32_t cmp = 3; /* >= */
    void *arguments[] = {&word, &value, &cmp};
    pthread_mutex_lock(&lock);
    int code = wait_kernel ? OK : load_wait_kernel();
    pthread_mutex_unlock(&lock);
    return code ? code : cuda.launch(wait_kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}

static int wait_for(void *stream, uintptr_t word, uint64_t value, unsigned flags)
{
    const char *exact = getenv("HIPSHIM_EXACT");
    if (flags > 3 || word % 8) return INVALID_VALUE;
    if (flags == RS_GPU_WAIT_GE && exact && exact[0] == '1') return wait_exactly(stream, word, value);
    return cuda.cuda_wait64(stream, word, value, flags);
}

/* HIP's has a mask; CUDA can do without only. */
int hipStreamWaitValue64(void *stream, void *word, uint64_t value, unsigned flags, uint64_t mask)
{
    ON_STREAM;
    if (mask != UINT64_MAX) return NOT_SUPPORTED;
    return wait_for(stream, (uintptr_t)word, value, flags);
}

/* From 6.4 on. */
int hipStreamBatchMemOp(void *stream, unsigned n, union rs_gpu_op *ops, unsigned flags)
{
    ON_STREAM;
    if (HIPSHIM_MAJOR < 6) return NOT_SUPPORTED;
    if (flags || n == 0 || n > 256 || !ops) return INVALID_VALUE;
    for (unsigned i = 0; i < n; i++) {
        bool waits = ops[i].u.operation == RS_GPU_OP_WAIT64;
        if (!waits && ops[i].u.operation != RS_GPU_OP_WRITE64) return INVALID_VALUE;
        if (ops[i].u.address % 8 || ops[i].u.alias || ops[i].u.flags > (waits ? 3u : 0u))
            return INVALID_VALUE;
    }
    return cuda.batch(stream, n, ops, 0);
}
int hipLaunchHostFunc(void *stream, void (*function)(void *), void *arg)
{
    ON_STREAM;
    return function ? cuda.host_function(stream, function, arg) : INVALID_VALUE;
}

/* ---- modules ---- */

int hipModuleLoadData(void **module, const void *image)
{
    ENTER;
    return image ? cuda.module_load(module, image) : INVALID_VALUE;
}
int hipModuleUnload(void *module)
{
    ENTER;
    return module ? cuda.module_unload(module) : INVALID_HANDLE;
}
int hipModuleGetFunction(void **function, void *module, const char *name)
{
    ENTER;
    return module && name ? cuda.module_function(function, module, name) : INVALID_VALUE;
}
/* A block has at most 1024 work-items, and the grid is counted in them in 32 bits. */
int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, void *stream, void **arguments, void **extra)
{
    ON_STREAM;
    if (!function || (arguments && extra)) return INVALID_VALUE;
    if (!gx || !gy || !gz || !bx || !by || !bz || (uint64_t)bx * by * bz > 1024) return INVALID_VALUE;
    if ((uint64_t)gx * bx > UINT32_MAX) return INVALID_VALUE;
    return cuda.launch(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra);
}

/* ---- graphs, for tests ---- */

EXPORT int hipStreamBeginCapture(void *stream, int mode);
int hipStreamBeginCapture(void *stream, int mode)
{
    ON_STREAM;
    return stream ? cuda.begin(stream, mode) : INVALID_VALUE;
}
EXPORT int hipStreamEndCapture(void *stream, void **graph);
int hipStreamEndCapture(void *stream, void **graph)
{
    ON_STREAM;
    return cuda.end(stream, graph);
}
EXPORT int hipGraphInstantiate(void **exec, void *graph, void **node, char *log, size_t nbytes);
int hipGraphInstantiate(void **exec, void *graph, void **node, char *log, size_t nbytes)
{
    (void)node;
    (void)log;
    (void)nbytes;
    ENTER;
    return graph ? cuda.instantiate(exec, graph, 0) : INVALID_VALUE;
}
EXPORT int hipGraphLaunch(void *exec, void *stream);
int hipGraphLaunch(void *exec, void *stream)
{
    ON_STREAM;
    return exec ? cuda.graph_launch(exec, stream) : INVALID_VALUE;
}
EXPORT int hipGraphDestroy(void *graph);
int hipGraphDestroy(void *graph)
{
    ENTER;
    return cuda.graph_destroy(graph);
}
EXPORT int hipGraphExecDestroy(void *exec);
int hipGraphExecDestroy(void *exec)
{
    ENTER;
    return cuda.exec_destroy(exec);
}
