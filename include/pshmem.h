/* SPDX-License-Identifier: MIT
 *
 * The profiling names of OpenSHMEM 1.5: pshmem_X is shmem_X under a name that a tool does not replace. A tool
 * defines shmem_X itself and calls pshmem_X; it includes this header with SHMEM_NO_GENERIC defined, so that
 * shmem_sync and shmem_wait_until are functions only.
 */
#ifndef PSHMEM_H
#define PSHMEM_H

/* As in shmem.h. */
#if defined(__GNUC__) && defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header
#elif defined(__GNUC__) && !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#pragma GCC system_header
#endif

#include "shmem.h"

#define SHMEM_NAME_(name) pshmem_##name
#include "shmem/shmem_functions.h"

#endif
