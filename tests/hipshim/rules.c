/* SPDX-License-Identifier: MIT
 *
 * What the shim refuses, as HIP does: this program links it, so that it is the shim that answers.
 */
#include <stdio.h>
#include <string.h>

#include "device/gpu_driver.h"

#define DECLARE(member, args, cuda, hip) int hip args;
RS_GPU_COMMON(DECLARE)
RS_GPU_HIP(DECLARE)
RS_GPU_NEW(DECLARE)

static int n_failed;
#define GIVES(call, want)                                                                                    \
    do {                                                                                                     \
        int got_ = (call);                                                                                   \
        if (got_ != (want))                                                                                  \
            n_failed += printf("FAIL line %d: %s gave %d, not %d\n", __LINE__, #call, got_, want) > 0;       \
    } while (0)

static void devices(void)
{
    int value = -1;
    GIVES(hipInit(1), 1);
    GIVES(hipInit(0), 0);
    GIVES(hipRuntimeGetVersion(&value), 0);
    GIVES(value, HIPSHIM_MAJOR * 10000000 + 400000);
    GIVES(hipGetDeviceCount(&value), 0);
    GIVES(hipSetDevice(value), 101);
    GIVES(hipDeviceGet(&value, -1), 101);
    GIVES(hipSetDevice(0), 0);
    GIVES(hipGetDevice(&value), 0);
    GIVES(value, 0);
}

static void memory(void)
{
    static char pageable[64];
    struct rs_gpu_pointer_attributes attributes;
    struct rs_gpu_ipc handle;
    void *ptr = NULL, *odd = NULL, *host = NULL, *opened = NULL;
    GIVES(hipExtMallocWithFlags(&ptr, 1 << 21, 0), 801);
    GIVES(hipExtMallocWithFlags(&ptr, 1 << 21, 4), 1);
    GIVES(hipExtMallocWithFlags(&ptr, 16, 2), 1); /* signal memory is one word */
    GIVES(hipExtMallocWithFlags(&ptr, 1 << 21, HIPSHIM_MAJOR < 6 ? 1 : 3), 0);
    if (HIPSHIM_MAJOR < 6) GIVES(hipExtMallocWithFlags(&odd, 1 << 21, 3), 1);
    GIVES(hipExtMallocWithFlags(&odd, 1000, 1), 0);
    GIVES(hipIpcGetMemHandle(&handle, (uintptr_t)odd), HIPSHIM_MAJOR < 6 ? 1 : 0);
    GIVES(hipIpcGetMemHandle(&handle, (uintptr_t)ptr + 4096), 1);
    GIVES(hipIpcGetMemHandle(&handle, (uintptr_t)ptr), 0);
    GIVES(hipIpcOpenMemHandle(&opened, handle, HIPSHIM_MAJOR < 6 ? 1 : 0), 1);
    GIVES(hipIpcOpenMemHandle(&opened, handle, 2), 1);
    GIVES(hipHostMalloc(&host, 64, 3), 801); /* coherent, or who polls may see nothing */
    GIVES(hipHostMalloc(&host, 64, 0xc0000000), 1);
    GIVES(hipHostMalloc(&host, 64, 0x40000003), 0);
    GIVES(hipHostRegister(pageable, 64, 8), 1);
    GIVES(hipPointerGetAttributes(&attributes, pageable), HIPSHIM_MAJOR < 6 ? 1 : 0);
    if (HIPSHIM_MAJOR >= 6) GIVES(attributes.type, 0);
    GIVES(hipPointerGetAttributes(&attributes, host), 0);
    GIVES(attributes.type, HIPSHIM_MAJOR < 6 ? 0 : 1);
    GIVES(hipPointerGetAttributes(&attributes, ptr), 0);
    GIVES(attributes.type, HIPSHIM_MAJOR < 6 ? 1 : 2);
    GIVES(hipMemcpyAsync(ptr, host, 8, 5, NULL), 1);
    GIVES(hipMemcpyAsync(ptr, host, 8, 4, NULL), 0);
    GIVES(hipDeviceSynchronize(), 0);
    GIVES(hipFree((uintptr_t)ptr + 8), 1);
    GIVES(hipFree((uintptr_t)ptr), 0);
    GIVES(hipFree((uintptr_t)ptr), 1);
    GIVES(hipFree((uintptr_t)odd), 0);
    GIVES(hipHostFree(host), 0);
}

static void streams(void)
{
    void *stream = NULL, *event = NULL, *word = NULL;
    union rs_gpu_op op[2] = {{{.operation = RS_GPU_OP_WRITE64, .value = 7}},
                             {{.operation = RS_GPU_OP_WAIT64, .value = 7}}};
    GIVES(hipExtMallocWithFlags(&word, 8, 1), 0);
    GIVES(hipStreamCreateWithFlags(&stream, 2), 1);
    GIVES(hipStreamCreateWithFlags(&stream, 1), 0);
    GIVES(hipStreamSynchronize((void *)1), 400);
    GIVES(hipEventCreateWithFlags(&event, 0xc0000000), 1);
    GIVES(hipEventCreateWithFlags(&event, 0x40000002), 0);
    GIVES(hipEventRecord(event, stream), 0);
    GIVES(hipStreamWaitEvent(stream, event, 1), 1);
    GIVES(hipStreamWriteValue64(stream, (uintptr_t)word, 5, 1), 1);
    GIVES(hipStreamWriteValue64(stream, (uintptr_t)word + 4, 5, 0), 1);
    GIVES(hipStreamWriteValue64(stream, (uintptr_t)word, 5, 0), 0);
    GIVES(hipStreamWaitValue64(stream, word, 5, 0, 0xff), 801);
    GIVES(hipStreamWaitValue64(stream, word, 5, 8, UINT64_MAX), 1);
    GIVES(hipStreamWaitValue64(stream, word, 5, 1, UINT64_MAX), 0);
    op[0].u.address = op[1].u.address = (uintptr_t)word;
    GIVES(hipStreamBatchMemOp(stream, 2, op, 0), HIPSHIM_MAJOR < 6 ? 801 : 0);
    op[1].u.operation = 9;
    if (HIPSHIM_MAJOR >= 6) GIVES(hipStreamBatchMemOp(stream, 2, op, 0), 1);
    GIVES(hipStreamSynchronize(stream), 0);
    GIVES(hipModuleLoadData(&event, NULL), 1);
    GIVES(hipModuleLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL), 1);
    GIVES(hipStreamDestroy(NULL), 400);
    GIVES(hipStreamDestroy(stream), 0);
    GIVES(hipFree((uintptr_t)word), 0);
}

int main(void)
{
    devices();
    memory();
    streams();
    if (n_failed == 0) printf("ok hipshim/the_rules_of_%d\n", HIPSHIM_MAJOR);
    return n_failed ? 1 : 0;
}
