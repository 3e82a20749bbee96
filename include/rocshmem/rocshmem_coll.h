/* SPDX-License-Identifier: MIT
 *
 * Collectives, and everything in the order of a stream. Part of rocshmem.h, whose first comment holds here
 * too.
 */
#ifndef ROCSHMEM_COLL_H
#define ROCSHMEM_COLL_H

#include "rocshmem_defs.h"

#ifdef __cplusplus
namespace rocshmem
{
extern "C" {
#endif

/* ---- collectives ---- */

/* What holds for all of them. Every member of the team calls, in the same order, with the same arguments
 * (nelems of collect apart); blocking. dest and source are symmetric and inside one live allocation each, on
 * every member; nelems counts elements, in the mem forms bytes; 0 moves nothing, and is a call like another.
 * On return dest is complete on this PE, and source may be reused. Return 0 or a status, the same mistake on
 * every member: ARG (team INVALID or unknown, pe_root, a range, an overlap that is not allowed); MISMATCH
 * (names both calls), PEER, BROKEN, TIMEOUT, INTERRUPTED. Types of equal width may meet in one call. */

/** Copy nelems elements of source on team PE pe_root to dest on every member (the root's dest included).
 *  team  collective over it     dest, source  symmetric; may be equal     pe_root  in the team's numbering
 *  The mem form, and rocshmem_T_broadcast for each T of ROCSHMEM_RMA_TYPES. Blocking. Returns 0 or a status.
 *  Source: OpenSHMEM 1.5, Collective Routines. Since 0.1; typed 0.2. */
ROCSHMEM_API int rocshmem_broadcastmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems,
                                       int pe_root);
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API int rocshmem_##name##_broadcast(rocshmem_team_t team, T *dest, const T *source,             \
                                                 size_t nelems, int pe_root);
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_

/** Block i (nelems elements) of source goes to team PE i; block j of dest comes from team PE j.
 *  dest, source  symmetric, nelems elements for each member; no overlap
 *  The mem form, and rocshmem_T_alltoall for each T of ROCSHMEM_RMA_TYPES. Collective, blocking. Returns 0 or
 *  a status. Source: OpenSHMEM 1.5, Collective Routines. Since 0.1; typed 0.2. */
ROCSHMEM_API int rocshmem_alltoallmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems);
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API int rocshmem_##name##_alltoall(rocshmem_team_t team, T *dest, const T *source,              \
                                                size_t nelems);
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_

/** As alltoall, with strides: element k of block i is source[(i * nelems + k) * sst] on the sender, and
 * dest[(j * nelems + k) * dst] on the receiver of block j.
 *  dst, sst  >= 1, in elements (mem form: bytes); equal on every member
 *  dest, source  symmetric up to the last element touched; no element of both
 *  The mem form, and rocshmem_T_alltoalls for each T of ROCSHMEM_RMA_TYPES. Collective, blocking. Returns 0
 *  or a status. Source: OpenSHMEM 1.5, Collective Routines. Since 0.2. */
ROCSHMEM_API int rocshmem_alltoallsmem(rocshmem_team_t team, void *dest, const void *source, ptrdiff_t dst,
                                       ptrdiff_t sst, size_t nelems);
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API int rocshmem_##name##_alltoalls(rocshmem_team_t team, T *dest, const T *source,             \
                                                 ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_

/** Gather the source of every member into dest of every member, in team order, without gaps.
 *  nelems  elements of this PE's source; may differ from member to member, and be 0
 *  dest    symmetric; room for the nelems of all members together; no overlap with source
 *  The mem form, and rocshmem_T_collect for each T of ROCSHMEM_RMA_TYPES. Collective, blocking. Returns 0 or
 *  a status; a dest without the room, or a bad source, is ARG on every member and names the PE; no dest is
 *  written then. Source: OpenSHMEM 1.5, Collective Routines. Since 0.2. */
ROCSHMEM_API int rocshmem_collectmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems);
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API int rocshmem_##name##_collect(rocshmem_team_t team, T *dest, const T *source, size_t nelems);
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_

/** As collect, with nelems equal on every member.
 *  The mem form, and rocshmem_T_fcollect for each T of ROCSHMEM_RMA_TYPES. Collective, blocking. Returns 0 or
 *  a status. Source: OpenSHMEM 1.5, Collective Routines. Since 0.1; typed 0.2. */
ROCSHMEM_API int rocshmem_fcollectmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems);
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API int rocshmem_##name##_fcollect(rocshmem_team_t team, T *dest, const T *source,              \
                                                size_t nelems);
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_

/* Every reduction there is: X(name, T, op) for the types that have the operation. Complex numbers are
 * no C++ types: C only. */
#ifdef __cplusplus
#define ROCSHMEM_COMPLEX_REDUCTIONS(X)
#else
#define ROCSHMEM_COMPLEX_REDUCTIONS(X) ROCSHMEM_COMPLEX_TYPES(X, sum) ROCSHMEM_COMPLEX_TYPES(X, prod)
#endif
#define ROCSHMEM_REDUCTIONS(X)                                                                               \
    ROCSHMEM_RMA_TYPES(X, sum)                                                                               \
    ROCSHMEM_RMA_TYPES(X, prod)                                                                              \
    ROCSHMEM_RMA_TYPES(X, min)                                                                               \
    ROCSHMEM_RMA_TYPES(X, max)                                                                               \
    ROCSHMEM_COMPLEX_REDUCTIONS(X)                                                                           \
    ROCSHMEM_LOGIC_TYPES(X, and)                                                                             \
    ROCSHMEM_LOGIC_TYPES(X, or)                                                                              \
    ROCSHMEM_LOGIC_TYPES(X, xor)

/** rocshmem_T_OP_reduce(team, dest, source, nreduce), for each T of ROCSHMEM_RMA_TYPES: sum, prod, min, max;
 * of ROCSHMEM_LOGIC_TYPES besides: and, or, xor; of ROCSHMEM_COMPLEX_TYPES: sum, prod. dest[k] = OP over the
 * members of source[k], k < nreduce, in team order, so bits are equal on every member; integers wrap. dest ==
 * source is allowed, another overlap is not. More types have and, or, xor than OpenSHMEM asks for.
 *  Collective, blocking. Returns 0 or a status. Source: OpenSHMEM 1.5, Collective Routines. Since 0.1. */
#define ROCSHMEM_DECLARE_(name, T, op)                                                                       \
    ROCSHMEM_API int rocshmem_##name##_##op##_reduce(rocshmem_team_t team, T *dest, const T *source,         \
                                                     size_t nreduce);
ROCSHMEM_REDUCTIONS(ROCSHMEM_DECLARE_)
#undef ROCSHMEM_DECLARE_

/** rocshmem_T_OP_reduce_scatter(team, dest, source, nreduce), types and operations as reduce: block i of
 * what reduce would give for source goes to team PE i.
 *  source   symmetric; one block of nreduce elements for each member
 *  dest     symmetric; nreduce elements; may be source, or this PE's own block of it; another overlap is ARG
 *  nreduce  elements of a block
 *  Collective, blocking. Equal bits to reduce. Returns 0 or a status.
 *  Source: rocSHMEM host API; not in OpenSHMEM 1.5. Since 0.2. */
#define ROCSHMEM_DECLARE_(name, T, op)                                                                       \
    ROCSHMEM_API int rocshmem_##name##_##op##_reduce_scatter(rocshmem_team_t team, T *dest, const T *source, \
                                                             size_t nreduce);
ROCSHMEM_REDUCTIONS(ROCSHMEM_DECLARE_)
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

/** Set pe's word to signal, or add signal to it, in the order of a stream: what the stream did before is
 * visible to whoever sees the word changed.
 *  sig_addr  symmetric, 8-byte aligned     signal  the value, or what is added     pe  of the world
 *  Local, returns at once. Errors: ARG (sig_addr, pe, stream), STATE: nothing is enqueued -> handler.
 *  Source: rocSHMEM host API. Since 0.2. */
ROCSHMEM_API void rocshmem_signal_set_on_stream(uint64_t *sig_addr, uint64_t signal, int pe, void *stream);
ROCSHMEM_API void rocshmem_signal_add_on_stream(uint64_t *sig_addr, uint64_t signal, int pe, void *stream);

/** Complete what was enqueued on this stream before, everywhere, before what is enqueued after.
 *  Local, returns at once. Errors: ARG (stream), STATE -> handler. Source: rocSHMEM host API. Since 0.2. */
ROCSHMEM_API void rocshmem_quiet_on_stream(void *stream);

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

/** rocshmem_fcollectmem in the order of a stream; nbytes bytes a member. INVALID: no-op.
 *  dest, source  symmetric, no overlap; source must not change, nor dest be read, before the stream has
 *  passed Collective, enqueued in the same order on every member; returns at once. Errors: ARG (range,
 *  overlap, stream; nothing is enqueued), MISMATCH -> handler; on the stream: its next synchronize. Source:
 *  rocSHMEM host API. Since 0.2. */
ROCSHMEM_API void rocshmem_fcollectmem_on_stream(rocshmem_team_t team, void *dest, const void *source,
                                                 size_t nbytes, void *stream);
/** rocshmem_T_OP_reduce_on_stream(team, dest, source, nreduce, stream): the reductions above in the order of
 * a stream, with equal bits. dest == source is allowed, another overlap is ARG. INVALID: no-op.
 *  Collective, enqueued in the same order on every member; returns at once. Errors as
 *  rocshmem_fcollectmem_on_stream. Source: rocSHMEM host API. Since 0.2. */
#define ROCSHMEM_DECLARE_(name, T, op)                                                                       \
    ROCSHMEM_API void rocshmem_##name##_##op##_reduce_on_stream(                                             \
        rocshmem_team_t team, T *dest, const T *source, size_t nreduce, void *stream);
ROCSHMEM_REDUCTIONS(ROCSHMEM_DECLARE_)
#undef ROCSHMEM_DECLARE_

#ifdef __cplusplus
}
} // namespace rocshmem
#endif
#endif
