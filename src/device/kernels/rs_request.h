/* SPDX-License-Identifier: MIT
 *
 * What rs_kernel_serve takes: requests in pinned memory, one for each of its threads.
 */
#ifndef RS_DEVICE_KERNELS_RS_REQUEST_H
#define RS_DEVICE_KERNELS_RS_REQUEST_H

#include <stdint.h>

#define RS_REQUEST_PUT 8u /* beside enum rs_amo_op: copy width bytes from data to word */

/* What a reduction combines. */
enum {
    RS_KIND_S8,
    RS_KIND_S16,
    RS_KIND_S32,
    RS_KIND_S64,
    RS_KIND_U8,
    RS_KIND_U16,
    RS_KIND_U32,
    RS_KIND_U64,
    RS_KIND_F32,
    RS_KIND_F64
};

struct rs_request {
    uint64_t *word;
    uint64_t value, cond;
    const unsigned char *data; /* 8-byte aligned */
    uint64_t *signal;          /* of a put: then cond is the operation on it, with value; NULL: none */
    uint32_t op, width;
    uint64_t old;  /* W: the kernel */
    uint64_t done; /* W: the kernel, last: release. R: the CPU, acquire */
};

#endif
