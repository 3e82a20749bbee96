/* SPDX-License-Identifier: MIT
 *
 * The rocSHMEM host API under its own names, for C11 and C++. Every function has the same six facts in its
 * comment: arguments with units, who must call it, when its effect is visible, what can go wrong, where it
 * comes from.
 *
 * Terms. PE: one process of the job, numbered 0..n-1. Symmetric: allocated by the same collective call on
 * every PE; the same offset names the corresponding object everywhere. Collective: every PE of the team calls
 * it with the same arguments. On stream: enqueued, executed in the stream's order; the call returns at once.
 *
 * Errors. A function that returns a status (int) or a pointer returns it (non-zero, NULL) and leaves the
 * message for rocshmemx_take_error. All others call the job's error handler (rocshmemx_set_error_handler);
 * its default prints the message and ends the job. All functions may be called from any thread
 * (THREAD_MULTIPLE).
 *
 * C++. Everything is declared in namespace rocshmem with C linkage. This header makes the names visible without
 * the namespace, as in C; <rocshmem/rocshmem.hpp> does not.
 */
#ifndef ROCSHMEM_ROCSHMEM_H
#define ROCSHMEM_ROCSHMEM_H

#include "rocshmem_coll.h"
#include "rocshmem_defs.h"
#include "rocshmem_rma.h"

#ifdef __cplusplus
namespace rocshmem
{
extern "C" {
#endif

/* ---- job ---- */

/** Join the job described by the environment: rocshmem-run, torchrun, Open MPI; without one, a job of one PE.
 *  Collective. Errors: STATE (already initialised), BOOTSTRAP (names the PEs that are missing), CONFIG,
 *  SYSTEM. Source: rocSHMEM host API, same name. Since 0.1. */
ROCSHMEM_API void rocshmem_init(void);

/** As rocshmem_init; says which thread level is provided.
 *  required  ROCSHMEM_THREAD_*     provided  receives ROCSHMEM_THREAD_MULTIPLE; may be NULL
 *  Collective. Returns 0 or a status. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API int rocshmem_init_thread(int required, int *provided);

/** Join a job given by a unique id, or made of the members of an MPI communicator.
 *  flags  ROCSHMEM_INIT_WITH_UNIQUEID: attr has rank (0..nranks-1), nranks (> 0), uid (the same bytes on every
 *         PE). ROCSHMEM_INIT_WITH_MPI_COMM: attr->mpi_comm is the address of an MPI_Comm, not kept; the rest is
 *         ignored. The PEs are numbered as in the communicator. MPI is initialised where it is not yet, and
 *         finalised then when the process ends. librocshmem_mpi.so is loaded: build the library with MPI.
 *  Collective over these processes. Returns 0 or a status: ARG, STATE, BOOTSTRAP (who is missing, who was
 *  refused and why; MPI failed), UNSUPPORTED (no librocshmem_mpi.so, or for another MPI). Source: rocSHMEM host
 *  API. Since 0.1. */
ROCSHMEM_API int rocshmem_init_attr(unsigned int flags, const rocshmem_init_attr_t *attr);

/** Fill attr for rocshmem_init_attr. Returns 0 or ARG. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API int rocshmem_set_attr_uniqueid_args(int rank, int nranks, const rocshmem_uniqueid_t *uid,
                                                 rocshmem_init_attr_t *attr);

/** Make a unique id, and serve its rendezvous from this process until the job has met.
 *  uid  receives 128 bytes, to be given to the other processes out of band; they hold a secret
 *  Local, by one process of the coming job, before init. Returns 0 or SYSTEM.
 *  Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API int rocshmem_get_uniqueid(rocshmem_uniqueid_t *uid);

/** Leave the job. Waits for all PEs, then frees everything the job owned; init may be called again
 * afterwards. Collective. Errors: STATE; PEER, BROKEN (what this process holds is freed all the same).
 *  Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_finalize(void);

/** End every PE of the job with this exit status. Never returns. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_global_exit(int status);

/** This PE's number, 0..n-1; -1 before init. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API int rocshmem_my_pe(void);
/** The number of PEs; -1 before init. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API int rocshmem_n_pes(void);

/** The version of the OpenSHMEM specification that the library follows: ROCSHMEM_MAJOR_VERSION and _MINOR_. Any
 * pointer may be NULL. Allowed before init, never an error. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_info_get_version(int *major, int *minor);
/** Copy ROCSHMEM_VENDOR_STRING, with its NUL.
 *  name  room for ROCSHMEM_MAX_NAME_LEN bytes; NULL is a no-op
 *  Allowed before init. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_info_get_name(char *name);
/** The version of this library: ROCSHMEM_VENDOR_MAJOR_VERSION, _MINOR_ and _PATCH_. Any pointer may be NULL.
 *  Allowed before init, never an error. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_vendor_get_version_info(int *major, int *minor, int *patch);

/** The thread level provided: always ROCSHMEM_THREAD_MULTIPLE. Allowed before init.
 *  Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_query_thread(int *provided);

/** Print the always-on counters of this PE, one readable table, to stdout. Local. Errors: STATE.
 *  Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_dump_stats(void);
/** Zero the counters of this PE. Local. Errors: STATE. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_reset_stats(void);

/** Copy the runtime's device state into the symbols of a loaded GPU module.
 *  module  a driver module handle     stream  orders the copy
 *  Local. Returns 0, or 1 when the module has no such symbols (always, on the host device).
 *  Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API int rocshmem_hipmodule_init(void *module, void *stream);

/** The address of the device-visible default context (host device: of the host's). NULL before init.
 *  Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void *rocshmem_get_device_ctx(void);

/* ---- memory ---- */

/** Allocate symmetric memory.
 *  size  bytes, equal on every PE; 0 gives NULL, which is no error
 *  Collective over all PEs (mismatch is an error on each). Aligned to 256 bytes, not zeroed. NULL on failure:
 *  NOMEM (names the size, the largest free block, the heap and ROCSHMEM_HEAP_SIZE), MISMATCH, PEER, BROKEN,
 *  STATE. Source: rocSHMEM host API; OpenSHMEM 1.5, Memory Management. Since 0.1. */
ROCSHMEM_API void *rocshmem_malloc(size_t size);
/** As rocshmem_malloc for count * size bytes, zeroed on every PE before any of them returns. A zero count or
 * size, and an overflow, are ARG. Source: OpenSHMEM 1.5, Memory Management. Since 0.1. */
ROCSHMEM_API void *rocshmem_calloc(size_t count, size_t size);
/** As rocshmem_malloc, aligned to alignment bytes: a power of two and a multiple of 8, else ARG.
 *  Source: OpenSHMEM 1.5, Memory Management. Since 0.1. */
ROCSHMEM_API void *rocshmem_align(size_t alignment, size_t size);
/** Free a symmetric allocation.
 *  ptr  what malloc, calloc or align gave on this PE; NULL is a no-op
 *  Collective over all PEs. Waits for all of them first. Errors: ARG (never allocated, freed before),
 *  MISMATCH, PEER. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_free(void *ptr);

/** Where this PE can load and store pe's copy of dest; NULL when there is no such path, or dest is not
 * symmetric. Local, never an error after init. Source: OpenSHMEM 1.5, Library Setup, Exit, and Query. Since
 * 0.1. */
ROCSHMEM_API void *rocshmem_ptr(const void *dest, int pe);

/** Let ordinary memory be the local side of any transfer.
 *  addr, length  bytes; must not overlap a registered region
 *  Local. Returns 0 or ARG (NULL, length 0, overflow, overlap). Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API int rocshmem_buffer_register(void *addr, size_t length);
/** Undo rocshmem_buffer_register; any address inside names the region. Returns 0 or ARG (unknown).
 *  Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API int rocshmem_buffer_unregister(void *addr);
/** Undo every rocshmem_buffer_register. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API void rocshmem_buffer_unregister_all(void);

/* ---- contexts ---- */

/** Create a context: an independent stream of operations for fence and quiet.
 *  options  0 or ROCSHMEM_CTX_* ored. SERIALIZED: the caller lets no two threads use it at one time.
 *           WG_PRIVATE: only the thread that creates it uses it; another thread's call is ARG. NOSTORE: its
 *           quiet and fence need not order ordinary stores (here they do: puts are the CPU's stores).
 *           SHARED: the default. All others: ARG
 *  ctx      receives the context; unchanged on failure
 *  Local. Returns 0 or a status (ARG, NOMEM, LIMIT, STATE). Source: OpenSHMEM 1.5, Communication Management,
 *  whose CTX_PRIVATE is WG_PRIVATE here. Since 0.1. */
ROCSHMEM_API int rocshmem_ctx_create(int64_t options, rocshmem_ctx_t *ctx);
/** As rocshmem_ctx_create; PE numbers given with this context are the team's. It ends with its team at the
 * latest. Source: OpenSHMEM 1.5, Communication Management. Since 0.1. */
ROCSHMEM_API int rocshmem_team_create_ctx(rocshmem_team_t team, int64_t options, rocshmem_ctx_t *ctx);
/** Complete a context's operations and give it back. Local. ARG: the default or an unknown context.
 *  ROCSHMEM_CTX_INVALID is a no-op. Source: OpenSHMEM 1.5. Since 0.1. */
ROCSHMEM_API void rocshmem_ctx_destroy(rocshmem_ctx_t ctx);
/** The team a context was made with; WORLD for the default one and those of rocshmem_ctx_create.
 *  team  receives it, and INVALID on failure; must not be NULL
 *  Local. Returns 0, or ARG (ctx INVALID or unknown), STATE. Source: OpenSHMEM 1.5, Team Management. Since
 *  0.2. */
ROCSHMEM_API int rocshmem_ctx_get_team(rocshmem_ctx_t ctx, rocshmem_team_t *team);

/* ---- order ---- */

/** Order the default context's operations towards each PE: those before are visible there before those after.
 *  Local. Errors: STATE. Source: OpenSHMEM 1.5, Memory Ordering. Since 0.1. */
ROCSHMEM_API void rocshmem_fence(void);
/** Complete the default context's host-issued operations, nbi included: they are visible everywhere. Local,
 * blocking. Errors: STATE. Source: OpenSHMEM 1.5, Memory Ordering. Since 0.1. */
ROCSHMEM_API void rocshmem_quiet(void);
/** The same two on a context. ROCSHMEM_CTX_INVALID is a no-op. Source: OpenSHMEM 1.5, Memory Ordering. Since 0.1. */
ROCSHMEM_API void rocshmem_ctx_fence(rocshmem_ctx_t ctx);
ROCSHMEM_API void rocshmem_ctx_quiet(rocshmem_ctx_t ctx);

/** Complete this thread's and the default context's host-issued operations, then wait for all PEs (of the
 * team). Collective, blocking. Stream operations are ordered by their stream alone. Errors: ARG (team INVALID
 * or unknown), MISMATCH (another PE is in another collective), PEER, BROKEN, TIMEOUT, INTERRUPTED -> handler.
 *  Source: rocSHMEM host API; OpenSHMEM 1.5, Collective Routines. Since 0.1. */
ROCSHMEM_API void rocshmem_barrier_all(void);
ROCSHMEM_API void rocshmem_barrier(rocshmem_team_t team);
/** Wait for all PEs (of the team); orders local stores only. Errors as rocshmem_barrier. team_sync returns a
 * status. Source: OpenSHMEM 1.5, Collective Routines. Since 0.1. */
ROCSHMEM_API void rocshmem_sync_all(void);
ROCSHMEM_API int rocshmem_team_sync(rocshmem_team_t team);

/* ---- teams ---- */

/** This PE's number in a team; -1 for INVALID, which is what a split gives to non-members. Errors: ARG (unknown or
 * destroyed). Source: OpenSHMEM 1.5, Team Management. Since 0.1. */
ROCSHMEM_API int rocshmem_team_my_pe(rocshmem_team_t team);
/** The number of PEs in a team; -1 for INVALID. Errors: ARG (unknown or destroyed). Source: OpenSHMEM 1.5, Team
 * Management. Since 0.1. */
ROCSHMEM_API int rocshmem_team_n_pes(rocshmem_team_t team);
/** The number in dest_team of the PE that is src_pe in src_team; -1 where there is no such PE,
 *  and for INVALID. Errors: ARG (unknown or destroyed).
 *  Source: OpenSHMEM 1.5, Team Management. Since 0.1. */
ROCSHMEM_API int rocshmem_team_translate_pe(rocshmem_team_t src_team, int src_pe, rocshmem_team_t dest_team);
/** Make a team of parent's PEs start, start + stride, ... (size of them).
 *  parent    the PEs that call     start, stride, size  in parent's numbering. size >= 1; a negative stride
 *            counts down, and so numbers backwards; 0 needs size 1; every PE named must be in parent
 *  config    num_contexts, a hint; equal on the members; may be NULL when mask is 0
 *  mask      ROCSHMEM_TEAM_NUM_CONTEXTS or 0 (defaults); an unknown bit is ARG
 *  team_out  receives the team, INVALID for those outside it and on failure
 *  Collective over parent. All members of a team must ask for it alike; PEs may ask for different teams in one call
 *  where these have no member in common (extension). Returns 0 or a status: ARG (range, config, INVALID parent), LIMIT
 *  (a PE is in ROCSHMEM_MAX_NUM_TEAMS teams), MISMATCH. Source: OpenSHMEM 1.5, Team Management. Since 0.1. */
ROCSHMEM_API int rocshmem_team_split_strided(rocshmem_team_t parent, int start, int stride, int size,
                                             const rocshmem_team_config_t *config, long mask,
                                             rocshmem_team_t *team_out);
/** Lay parent's PEs out in rows of xrange and make two teams: of my row, and of my column. PE p of parent is
 * number p % xrange of x team p / xrange, and the other way round for the y team; the last row may be short.
 *  xrange  >= 1; more than parent's PEs is one row
 *  xaxis_config, xaxis_mask, yaxis_config, yaxis_mask  as config and mask of rocshmem_team_split_strided
 *  xaxis_team, yaxis_team  receive the teams, INVALID for one that could not be made
 *  Collective over parent. Returns 0 when both were made, else a status: ARG, LIMIT, MISMATCH.
 *  Source: OpenSHMEM 1.5, Team Management. Since 0.2. */
ROCSHMEM_API int rocshmem_team_split_2d(rocshmem_team_t parent, int xrange,
                                        const rocshmem_team_config_t *xaxis_config, long xaxis_mask,
                                        rocshmem_team_t *xaxis_team,
                                        const rocshmem_team_config_t *yaxis_config, long yaxis_mask,
                                        rocshmem_team_t *yaxis_team);
/** What a team was configured with; 0 contexts for WORLD, SHARED and where the split named none.
 *  mask    ROCSHMEM_TEAM_NUM_CONTEXTS or 0 (config is not touched and may be NULL); an unknown bit is ARG
 *  config  receives the fields that mask names
 *  Local. Returns 0 or a status: ARG (team INVALID or unknown, mask, config), STATE.
 *  Source: OpenSHMEM 1.5, Team Management. Since 0.2. */
ROCSHMEM_API int rocshmem_team_get_config(rocshmem_team_t team, long mask, rocshmem_team_config_t *config);
/** Give a team back, and the contexts made with it here. Collective over it, without waiting. WORLD, SHARED,
 * INVALID: no-op. ARG: unknown or destroyed. Source: OpenSHMEM 1.5, Team Management. Since 0.1. */
ROCSHMEM_API void rocshmem_team_destroy(rocshmem_team_t team);

#ifdef __cplusplus
}
} // namespace rocshmem
#endif
#endif

#if defined(__cplusplus) && !defined(ROCSHMEM_HPP_READS_IT)
using namespace rocshmem;
#endif
