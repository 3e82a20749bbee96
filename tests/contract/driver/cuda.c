/* SPDX-License-Identifier: MIT
 *
 * Compiled, not run: every row of gpu_driver.def assigned from CUDA's own declaration, and the layouts of
 * what is passed by address. A mismatch is a compiler's error.
 */
#define RS_GPU_CHECKED
#include <cuda.h>
#include <stddef.h>

#define GPU_RESULT CUresult
#define GPU_DEVICE CUdevice
#define GPU_CONTEXT CUcontext
#define GPU_PTR CUdeviceptr
#define GPU_STREAM CUstream
#define GPU_EVENT CUevent
#define GPU_MODULE CUmodule
#define GPU_FUNCTION CUfunction
#define GPU_CAPTURE CUstreamCaptureStatus
#define GPU_MODE CUstreamCaptureMode
#define GPU_IPC CUipcMemHandle
#define GPU_UUID CUuuid
#define GPU_POINTER_ATTRIBUTE CUpointer_attribute
#define GPU_POINTER_ATTRIBUTES void
#define GPU_COPY_KIND int
#define GPU_BATCH CUstreamBatchMemOpParams
#define GPU_RECTANGLE CUDA_MEMCPY2D
#define GPU_PROP CUmemAllocationProp
#define GPU_ACCESS CUmemAccessDesc
#define GPU_HANDLE CUmemGenericAllocationHandle
#define GPU_HANDLE_TYPE CUmemAllocationHandleType
#define GPU_GRANULARITY CUmemAllocationGranularity_flags
#include "device/gpu_driver.h"

#define ASSIGN(member, args, cuda, hip) drv->member = cuda;
void check(struct rs_gpu_driver *drv);
void check(struct rs_gpu_driver *drv)
{
    RS_GPU_COMMON(ASSIGN)
    RS_GPU_CUDA(ASSIGN)
    RS_GPU_NEW(ASSIGN)
    RS_GPU_VMM(ASSIGN)
}

_Static_assert(sizeof(struct rs_gpu_ipc) == sizeof(CUipcMemHandle), "IPC handle");
_Static_assert(sizeof(struct rs_gpu_uuid) == sizeof(CUuuid), "identity");
_Static_assert(sizeof(union rs_gpu_op) == sizeof(CUstreamBatchMemOpParams), "batch");
_Static_assert(offsetof(union rs_gpu_op, u.address) == offsetof(CUstreamBatchMemOpParams, waitValue.address),
               "batch");
_Static_assert(offsetof(union rs_gpu_op, u.value) == offsetof(CUstreamBatchMemOpParams, waitValue.value64),
               "batch");
_Static_assert(offsetof(union rs_gpu_op, u.flags) == offsetof(CUstreamBatchMemOpParams, waitValue.flags),
               "batch");
_Static_assert(sizeof(struct rs_gpu_rectangle) == sizeof(CUDA_MEMCPY2D), "rectangle");
_Static_assert(offsetof(struct rs_gpu_rectangle, src.pitch) == offsetof(CUDA_MEMCPY2D, srcPitch) &&
                   offsetof(struct rs_gpu_rectangle, dst.type) == offsetof(CUDA_MEMCPY2D, dstMemoryType) &&
                   offsetof(struct rs_gpu_rectangle, dst.device) == offsetof(CUDA_MEMCPY2D, dstDevice) &&
                   offsetof(struct rs_gpu_rectangle, height) == offsetof(CUDA_MEMCPY2D, Height),
               "rectangle");
_Static_assert(CU_MEMORYTYPE_HOST == 1 && CU_MEMORYTYPE_DEVICE == 2, "types of memory");
_Static_assert(RS_GPU_OP_WAIT64 == (int)CU_STREAM_MEM_OP_WAIT_VALUE_64, "batch");
_Static_assert(RS_GPU_OP_WRITE64 == (int)CU_STREAM_MEM_OP_WRITE_VALUE_64, "batch");
_Static_assert(RS_GPU_WAIT_GE == (int)CU_STREAM_WAIT_VALUE_GEQ &&
                   RS_GPU_WAIT_EQ == (int)CU_STREAM_WAIT_VALUE_EQ,
               "comparisons");
_Static_assert(sizeof(struct rs_gpu_prop) == sizeof(CUmemAllocationProp), "allocation");
_Static_assert(offsetof(struct rs_gpu_prop, location) == offsetof(CUmemAllocationProp, location),
               "allocation");
_Static_assert(offsetof(struct rs_gpu_prop, flags) == offsetof(CUmemAllocationProp, allocFlags),
               "allocation");
_Static_assert(sizeof(struct rs_gpu_access) == sizeof(CUmemAccessDesc), "access");
_Static_assert(CU_MEM_ALLOCATION_TYPE_PINNED == 1 && CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR == 1 &&
                   CU_MEM_LOCATION_TYPE_DEVICE == 1 && CU_MEM_ACCESS_FLAGS_PROT_READWRITE == 3,
               "values");
_Static_assert(CUDA_ERROR_NOT_READY == 600 && CUDA_ERROR_OUT_OF_MEMORY == 2, "codes");
_Static_assert(CU_POINTER_ATTRIBUTE_MEMORY_TYPE == 2, "the type of memory");
_Static_assert((CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) == 3, "flags");
