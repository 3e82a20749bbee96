/* SPDX-License-Identifier: MIT
 *
 * Compiled, not run: every row of gpu_driver.def assigned from HIP's own declaration. What HIP 5.2, the
 * oldest that counts, does not declare is left out (the rows of RS_GPU_NEW that are missing there).
 */
#define RS_GPU_CHECKED
#define __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_HCC__
#include <hip/hip_runtime_api.h>
#include <stddef.h>

#define GPU_RESULT hipError_t
#define GPU_DEVICE hipDevice_t
#define GPU_CONTEXT void *
#define GPU_PTR void *
#define GPU_STREAM hipStream_t
#define GPU_EVENT hipEvent_t
#define GPU_MODULE hipModule_t
#define GPU_FUNCTION hipFunction_t
#define GPU_CAPTURE hipStreamCaptureStatus
#define GPU_MODE hipStreamCaptureMode
#define GPU_IPC hipIpcMemHandle_t
#define GPU_UUID hipUUID
#define GPU_POINTER_ATTRIBUTE int
#define GPU_POINTER_ATTRIBUTES hipPointerAttribute_t
#define GPU_COPY_KIND hipMemcpyKind
#define GPU_BATCH void
#define GPU_RECTANGLE void
#define GPU_PROP hipMemAllocationProp
#define GPU_ACCESS hipMemAccessDesc
#define GPU_HANDLE hipMemGenericAllocationHandle_t
#define GPU_HANDLE_TYPE hipMemAllocationHandleType
#define GPU_GRANULARITY hipMemAllocationGranularity_flags
#include "device/gpu_driver.h"

#define ASSIGN(member, args, cuda, hip) drv->member = hip;
void check(struct rs_gpu_driver *drv);
void check(struct rs_gpu_driver *drv)
{
    RS_GPU_COMMON(ASSIGN)
    RS_GPU_HIP(ASSIGN)
    RS_GPU_VMM(ASSIGN)
    drv->host_function = hipLaunchHostFunc;
}

_Static_assert(sizeof(struct rs_gpu_ipc) == sizeof(hipIpcMemHandle_t), "IPC handle");
_Static_assert(sizeof(struct rs_gpu_uuid) == sizeof(hipUUID), "identity");
_Static_assert(sizeof(struct rs_gpu_pointer_attributes) >= sizeof(hipPointerAttribute_t), "attributes");
_Static_assert(sizeof(struct rs_gpu_prop) == sizeof(hipMemAllocationProp), "allocation");
_Static_assert(sizeof(struct rs_gpu_access) == sizeof(hipMemAccessDesc), "access");
_Static_assert((int)hipStreamWaitValueGte == RS_GPU_WAIT_GE && (int)hipStreamWaitValueEq == RS_GPU_WAIT_EQ,
               "comparisons");
_Static_assert(hipErrorNotReady == 600 && hipErrorOutOfMemory == 2, "codes");
_Static_assert(hipMemcpyDefault == 4, "copy kinds");
_Static_assert((hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent) == (3 | 0x40000000),
               "flags");
