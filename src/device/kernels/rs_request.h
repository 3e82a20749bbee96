/* SPDX-License-Identifier: MIT
 *
 * What rs_kernel_serve takes: requests in pinned memory, one for each of its threads.
 */
#ifndef RS_DEVICE_KERNELS_RS_REQUEST_H
#define RS_DEVICE_KERNELS_RS_REQUEST_H

#include <stdint.h>

#define RS_REQUEST_PUT 8u /* beside enum rs_amo_op: copy width bytes from data to word */

struct rs_request {
    uint64_t *word;
    uint64_t value, cond;
    const unsigned char *data; /* 8-byte aligned */
    uint32_t op, width;
    uint64_t old;  /* W: the kernel */
    uint64_t done; /* W: the kernel, last: release. R: the CPU, acquire */
};

#endif
