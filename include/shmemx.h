/* SPDX-License-Identifier: MIT
 *
 * The place that OpenSHMEM gives to an implementation's extensions: the one that programs written for other
 * libraries use. What this runtime adds is in rocshmem/rocshmemx.h, and may be called from the same program.
 */
#ifndef SHMEMX_H
#define SHMEMX_H

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Seconds since some moment in the past, which is the same for all PEs of a host and whatever is done to the clock.
 *  Any thread, any time. Source: extension (Sandia OpenSHMEM, OSSS). Since 0.2. */
SHMEM_API double shmemx_wtime(void);
#define HAVE_SHMEMX_WTIME /* programs that do not see this define the function themselves */

#ifdef __cplusplus
}
#endif

#endif
