/* SPDX-License-Identifier: MIT
 *
 * OpenSHMEM 1.5 for C and C++, whole, deprecated parts included, Fortran not: a thin layer, each function calls
 * its namesake of rocshmem.h. Programs link with libshmem.so (oshcc does) and are started by oshrun.
 *
 * What the specification leaves open.
 *   Thread levels. Any is given as asked for, and all work as MULTIPLE does.
 *   Static data. Global and static variables of the executable are symmetric, those of shared libraries are not.
 *   Errors. A function that returns a status returns it and says on stderr what broke the job (a PE that died, PEs
 *   in different calls); a wrong argument is only returned. A function that returns a pointer returns NULL. All
 *   others print "PE n: function: what is wrong" and end the job.
 *   Work arrays (pSync, pWrk) are never used.
 *
 * SHMEM_NO_GENERIC, defined before: no type-generic names (shmem_put and such), functions only.
 */
#ifndef SHMEM_H
#define SHMEM_H

/* GCC and Clang know variadic macros and long long in C90 and C++98 too; warned of with -pedantic, but not here. */
#if defined(__GNUC__) && defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header
#elif defined(__GNUC__) && !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#pragma GCC system_header
#endif

#include "shmem/shmem_defs.h"

#define SHMEM_NAME_(name) shmem_##name
#include "shmem/shmem_functions.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Old names: start_pes is shmem_init (its argument is ignored; a second call does nothing), _my_pe and _num_pes
 * are shmem_my_pe and shmem_n_pes, shmalloc, shfree, shrealloc and shmemalign are shmem_malloc, _free, _realloc
 * and _align. Deprecated since 1.2. Source: OpenSHMEM 1.5, annex on deprecated API. */
SHMEM_API void start_pes(int npes);
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
SHMEM_API int _my_pe(void);
SHMEM_API int _num_pes(void);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
SHMEM_API void *shmalloc(size_t size);
SHMEM_API void shfree(void *ptr);
SHMEM_API void *shrealloc(void *ptr, size_t size);
SHMEM_API void *shmemalign(size_t alignment, size_t size);

#ifdef __cplusplus
}
#endif

#ifndef SHMEM_NO_GENERIC
#if defined(__cplusplus)
#include "shmem/shmem_overloads.h"
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#include "shmem/shmem_generic.h"
#endif
#endif

#endif
