/* SPDX-License-Identifier: MIT
 *
 * Collectives, and everything in the order of a stream. Part of rocshmem.h, whose first comment holds here
 * too.
 */
#ifndef ROCSHMEM_COLL_H
#define ROCSHMEM_COLL_H

#include "rocshmem_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- collectives ---- */

/** Copy nelems bytes of source on team PE pe_root to dest on every member (the root's dest included).
 *  team  collective over it     dest, source  symmetric     pe_root  in the team's numbering
 *  Blocking. Returns 0 or a status. Source: OpenSHMEM 1.5, Collective Routines. Since 0.1. */
ROCSHMEM_API int rocshmem_broadcastmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems,
                                       int pe_root);
/** Block i (nelems bytes) of source goes to team PE i; block j of dest comes from team PE j. No overlap.
 *  Collective, blocking. Returns 0 or a status. Source: OpenSHMEM 1.5, Collective Routines. Since 0.1. */
ROCSHMEM_API int rocshmem_alltoallmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems);
/** Gather nelems bytes of source of every member into dest of every member, in team order.
 *  Collective, blocking. Returns 0 or a status. Source: OpenSHMEM 1.5, Collective Routines. Since 0.1. */
ROCSHMEM_API int rocshmem_fcollectmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems);
/** For each T of ROCSHMEM_RMA_TYPES: rocshmem_T_{sum,prod,min,max}_reduce; of ROCSHMEM_LOGIC_TYPES
 * besides: rocshmem_T_{and,or,xor}_reduce. dest[k] = op over the members of source[k], k < nreduce; equal
 * bits on every member; dest == source is allowed, another overlap is not. Collective, blocking. Returns 0 or
 * a status. Source: OpenSHMEM 1.5, Collective Routines. Since 0.1. */
#define ROCSHMEM_DECLARE_(name, T, op)                                                                       \
    ROCSHMEM_API int rocshmem_##name##_##op##_reduce(rocshmem_team_t team, T *dest, const T *source,         \
                                                     size_t nreduce);
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, sum)
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, prod)
#ifndef __cplusplus
ROCSHMEM_COMPLEX_TYPES(ROCSHMEM_DECLARE_, sum)
ROCSHMEM_COMPLEX_TYPES(ROCSHMEM_DECLARE_, prod)
#endif
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, min)
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, max)
ROCSHMEM_LOGIC_TYPES(ROCSHMEM_DECLARE_, and)
ROCSHMEM_LOGIC_TYPES(ROCSHMEM_DECLARE_, or)
ROCSHMEM_LOGIC_TYPES(ROCSHMEM_DECLARE_, xor)
#undef ROCSHMEM_DECLARE_

/* ---- on stream ---- */

/** Copy nelems bytes between here and pe in the order of a stream. Arguments as rocshmem_putmem and _getmem.
 *  stream  of the job's device; NULL is its default stream
 *  Local, returns at once. Local memory may be reused once the stream has passed this point.
 *  Errors: ARG (dest, source, range, pe, stream): nothing is enqueued. Source: rocSHMEM host API. Since 0.1.
 */
ROCSHMEM_API void rocshmem_putmem_on_stream(void *dest, const void *source, size_t nelems, int pe,
                                            void *stream);
ROCSHMEM_API void rocshmem_getmem_on_stream(void *dest, const void *source, size_t nelems, int pe,
                                            void *stream);
/** As rocshmem_putmem_signal in the order of a stream: data first, then the signal; nelems 0 still signals.
 *  Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_putmem_signal_on_stream(void *dest, const void *source, size_t nelems,
                                                   uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
                                                   void *stream);
/** The stream waits until this PE's own word satisfies (word cmp cmp_value), unsigned 64-bit.
 *  Local, returns at once. Errors: ARG (sig_addr, cmp, stream), STATE: nothing is enqueued.
 *  Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_signal_wait_until_on_stream(uint64_t *sig_addr, int cmp, uint64_t cmp_value,
                                                       void *stream);

/** Barriers and syncs in the order of a stream: the barrier completes what was enqueued before it on this
 * stream. Collective, enqueued in the same order on every member; returns at once. team INVALID: no-op.
 *  Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_barrier_all_on_stream(void *stream);
ROCSHMEM_API void rocshmem_barrier_on_stream(rocshmem_team_t team, void *stream);
ROCSHMEM_API void rocshmem_sync_all_on_stream(void *stream);
ROCSHMEM_API void rocshmem_team_sync_on_stream(rocshmem_team_t team, void *stream);
/** rocshmem_alltoallmem in the order of a stream; bytes_per_pe bytes a block. team INVALID: no-op.
 *  Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_alltoallmem_on_stream(rocshmem_team_t team, void *dest, const void *source,
                                                 size_t bytes_per_pe, void *stream);
/** rocshmem_broadcastmem in the order of a stream; nbytes bytes, pe_root in the team's numbering. INVALID:
 * no-op. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_broadcastmem_on_stream(rocshmem_team_t team, void *dest, const void *source,
                                                  size_t nbytes, int pe_root, void *stream);

#ifdef __cplusplus
}
#endif
#endif
