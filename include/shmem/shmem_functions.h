/* SPDX-License-Identifier: MIT
 *
 * Every function of OpenSHMEM 1.5 that has the prefix. Included by shmem.h and, with other names, by pshmem.h:
 * SHMEM_NAME_(x) is what the function x is called; so there is no guard here. Without SHMEM_NAME_, shmem_x.
 *
 * T stands for each type of the list that a group names; ctx forms do the same on a context. "Collective" is said
 * of functions that all PEs of the team (or of the job) call with the same arguments. pe counts in the context's
 * team. Errors as shmem.h says; "ARG" is a wrong argument. Since 0.1.
 */
#include "shmem_defs.h"

#ifndef SHMEM_NAME_
#define SHMEM_NAME_(name) shmem_##name
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- setup, exit, queries ---- */

/** Join the job that oshrun (or torchrun, Open MPI) describes; without one, a job of one PE. Collective. A second
 * call is an error. A program that ends with status 0 and has not called shmem_finalize is finalized then.
 *  required, provided  SHMEM_THREAD_*; provided receives the same, and may be NULL; after shmem_init, which is asked for
 *                      none, shmem_query_thread says SHMEM_THREAD_MULTIPLE
 * shmem_init_thread returns 0 or a status. Errors: who is missing, what is configured wrongly.
 * Source: OpenSHMEM 1.5, Library Setup, Exit, and Query; Thread Support. */
SHMEM_API void SHMEM_NAME_(init)(void);
SHMEM_API int SHMEM_NAME_(init_thread)(int required, int *provided);
SHMEM_API void SHMEM_NAME_(query_thread)(int *provided);
/** Leave the job, after all PEs have come here. Collective. A second call does nothing. Source: as above. */
SHMEM_API void SHMEM_NAME_(finalize)(void);
/** End all PEs with this exit status, from one of them. Never returns. Source: as above. */
SHMEM_API void SHMEM_NAME_(global_exit)(int status);
/** This PE's number and how many there are; -1 outside a job. Source: as above. */
SHMEM_API int SHMEM_NAME_(my_pe)(void);
SHMEM_API int SHMEM_NAME_(n_pes)(void);
/** 1 when there is such a PE; when addr is symmetric and there is such a PE; else 0. Source: as above. */
SHMEM_API int SHMEM_NAME_(pe_accessible)(int pe);
SHMEM_API int SHMEM_NAME_(addr_accessible)(const void *addr, int pe);
/** Where this PE can load and store pe's copy of dest; NULL when dest is not symmetric or there is no such PE.
 * Source: as above. */
SHMEM_API void *SHMEM_NAME_(ptr)(const void *dest, int pe);
/** The specification's version, 1 and 5, and SHMEM_VENDOR_STRING into SHMEM_MAX_NAME_LEN bytes. Allowed any time.
 * Source: as above. */
SHMEM_API void SHMEM_NAME_(info_get_version)(int *major, int *minor);
SHMEM_API void SHMEM_NAME_(info_get_name)(char *name);
/** For profilers to replace: does nothing. Source: OpenSHMEM 1.5, Profiling Interface. */
SHMEM_API void SHMEM_NAME_(pcontrol)(int level, ...);

/* ---- memory ---- */

/** Allocate symmetric memory, aligned for every type (shmem_align: to alignment bytes, a power of two).
 *  size, count  bytes, elements; equal on all PEs, else each gets the largest. 0 gives NULL at once
 *  hints        SHMEM_MALLOC_*, ored; others are ignored, as a hint may be
 * Collective; a barrier at the end. shmem_calloc's memory is zero everywhere.
 * NULL on failure: no such block free (SHMEM_SYMMETRIC_SIZE is the heap's size), ARG.
 * Source: OpenSHMEM 1.5, Memory Management. */
SHMEM_API void *SHMEM_NAME_(malloc)(size_t size);
SHMEM_API void *SHMEM_NAME_(malloc_with_hints)(size_t size, long hints);
SHMEM_API void *SHMEM_NAME_(calloc)(size_t count, size_t size);
SHMEM_API void *SHMEM_NAME_(align)(size_t alignment, size_t size);
/** Free a block. Collective; a barrier at the start. NULL: nothing happens. Errors: ARG. Source: as above. */
SHMEM_API void SHMEM_NAME_(free)(void *ptr);
/** Move a block to one of size bytes with the same contents, as far as they fit. Collective; barriers at the start
 * and the end. ptr NULL: shmem_malloc. size 0: shmem_free, gives NULL. NULL on failure: the block stays as it was.
 * Source: as above. */
SHMEM_API void *SHMEM_NAME_(realloc)(void *ptr, size_t size);

/* ---- teams ---- */

/** This PE's number in a team and how many there are; -1 for SHMEM_TEAM_INVALID and where this PE is no member.
 * Source: OpenSHMEM 1.5, Team Management. */
SHMEM_API int SHMEM_NAME_(team_my_pe)(shmem_team_t team);
SHMEM_API int SHMEM_NAME_(team_n_pes)(shmem_team_t team);
/** The number in dest_team of the PE that is src_pe in src_team; -1 where there is none. Source: as above. */
SHMEM_API int SHMEM_NAME_(team_translate_pe)(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);
/** What a team was made with: the fields named in mask. 0 or a status. Source: as above. */
SHMEM_API int SHMEM_NAME_(team_get_config)(shmem_team_t team, long config_mask, shmem_team_config_t *config);
/** Make a team of parent's PEs start, start + stride, ... (size of them), or teams of the rows and columns of a
 * grid that is xrange PEs wide. PEs outside a team receive SHMEM_TEAM_INVALID. Collective over the parent.
 * config may be NULL when the mask is 0. 0 or a status: ARG, and then all teams are SHMEM_TEAM_INVALID.
 * Source: as above. */
SHMEM_API int SHMEM_NAME_(team_split_strided)(shmem_team_t parent_team, int start, int stride, int size,
                                              const shmem_team_config_t *config, long config_mask,
                                              shmem_team_t *new_team);
SHMEM_API int SHMEM_NAME_(team_split_2d)(shmem_team_t parent_team, int xrange,
                                         const shmem_team_config_t *xaxis_config, long xaxis_mask,
                                         shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,
                                         long yaxis_mask, shmem_team_t *yaxis_team);
/** Give a team back. Collective over it. SHMEM_TEAM_INVALID: nothing happens. Source: as above. */
SHMEM_API void SHMEM_NAME_(team_destroy)(shmem_team_t team);

/* ---- contexts ---- */

/** Make a context: operations that fence and quiet of their own order and complete. PE numbers used with it are
 * the team's. options: 0 or SHMEM_CTX_*, ored. 0 or a status. Source: OpenSHMEM 1.5, Communication Management. */
SHMEM_API int SHMEM_NAME_(ctx_create)(long options, shmem_ctx_t *ctx);
SHMEM_API int SHMEM_NAME_(team_create_ctx)(shmem_team_t team, long options, shmem_ctx_t *ctx);
/** Complete a context's operations and give it back. SHMEM_CTX_INVALID: nothing. Errors: ARG. Source: as above. */
SHMEM_API void SHMEM_NAME_(ctx_destroy)(shmem_ctx_t ctx);
/** The team of a context. 0 or a status; SHMEM_CTX_INVALID: SHMEM_TEAM_INVALID and non-zero. Source: as above. */
SHMEM_API int SHMEM_NAME_(ctx_get_team)(shmem_ctx_t ctx, shmem_team_t *team);

/* ---- transfers ---- */

/* One shape of transfer in its two forms, without a context and with one. */
#define SHMEM_BOTH_(result, name, ...)                                                                       \
    SHMEM_API result SHMEM_NAME_(name)(__VA_ARGS__);                                                         \
    SHMEM_API result SHMEM_NAME_(ctx_##name)(shmem_ctx_t ctx, __VA_ARGS__);

/** Copy nelems elements from source here to dest on pe (put), or from source on pe to dest here (get); strided
 * forms take every dst-th and sst-th element. T: ROCSHMEM_RMA_TYPES; sizes 8 to 128 bits; mem: bytes.
 *  The remote side is symmetric. put returns when source may be reused, get when the data is here, _nbi forms
 *  at once: shmem_quiet completes them. Errors: ARG. Source: OpenSHMEM 1.5, Remote Memory Access. */
#define SHMEM_DECLARE_(name, T, ...)                                                                         \
    SHMEM_BOTH_(void, name##_put, T *dest, const T *source, size_t nelems, int pe)                           \
    SHMEM_BOTH_(void, name##_get, T *dest, const T *source, size_t nelems, int pe)                           \
    SHMEM_BOTH_(void, name##_put_nbi, T *dest, const T *source, size_t nelems, int pe)                       \
    SHMEM_BOTH_(void, name##_get_nbi, T *dest, const T *source, size_t nelems, int pe)                       \
    SHMEM_BOTH_(void, name##_iput, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,    \
                int pe)                                                                                      \
    SHMEM_BOTH_(void, name##_iget, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,    \
                int pe)                                                                                      \
    SHMEM_BOTH_(void, name##_p, T *dest, T value, int pe)                                                    \
    SHMEM_BOTH_(T, name##_g, const T *source, int pe)
ROCSHMEM_RMA_TYPES(SHMEM_DECLARE_, )
#undef SHMEM_DECLARE_
#define SHMEM_DECLARE_(bits, ...)                                                                            \
    SHMEM_BOTH_(void, put##bits, void *dest, const void *source, size_t nelems, int pe)                      \
    SHMEM_BOTH_(void, get##bits, void *dest, const void *source, size_t nelems, int pe)                      \
    SHMEM_BOTH_(void, put##bits##_nbi, void *dest, const void *source, size_t nelems, int pe)                \
    SHMEM_BOTH_(void, get##bits##_nbi, void *dest, const void *source, size_t nelems, int pe)
SHMEM_SIZES_(SHMEM_DECLARE_, )
SHMEM_DECLARE_(mem, )
#undef SHMEM_DECLARE_
#define SHMEM_DECLARE_(bits, ...)                                                                            \
    SHMEM_BOTH_(void, iput##bits, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,              \
                size_t nelems, int pe)                                                                       \
    SHMEM_BOTH_(void, iget##bits, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,              \
                size_t nelems, int pe)
SHMEM_SIZES_(SHMEM_DECLARE_, )
#undef SHMEM_DECLARE_

/* ---- atomics ---- */

/** Read or change one element on pe, atomically against all other atomics, signals and waits; fetching forms give
 * the old value, _nbi forms store it in fetch, which shmem_quiet completes. T: ROCSHMEM_AMO_TYPES (fetch, set, swap),
 * ROCSHMEM_INTEGER_TYPES (compare_swap, inc, add), ROCSHMEM_BITWISE_TYPES (and, or, xor). Errors: ARG.
 * Source: OpenSHMEM 1.5, Atomic Memory Operations. */
#define SHMEM_DECLARE_(name, T, ...)                                                                         \
    SHMEM_BOTH_(T, name##_atomic_fetch, const T *source, int pe)                                             \
    SHMEM_BOTH_(void, name##_atomic_set, T *dest, T value, int pe)                                           \
    SHMEM_BOTH_(T, name##_atomic_swap, T *dest, T value, int pe)                                             \
    SHMEM_BOTH_(void, name##_atomic_fetch_nbi, T *fetch, const T *source, int pe)                            \
    SHMEM_BOTH_(void, name##_atomic_swap_nbi, T *fetch, T *dest, T value, int pe)
ROCSHMEM_AMO_TYPES(SHMEM_DECLARE_, )
#undef SHMEM_DECLARE_
#define SHMEM_DECLARE_(name, T, ...)                                                                         \
    SHMEM_BOTH_(T, name##_atomic_compare_swap, T *dest, T cond, T value, int pe)                             \
    SHMEM_BOTH_(T, name##_atomic_fetch_inc, T *dest, int pe)                                                 \
    SHMEM_BOTH_(void, name##_atomic_inc, T *dest, int pe)                                                    \
    SHMEM_BOTH_(T, name##_atomic_fetch_add, T *dest, T value, int pe)                                        \
    SHMEM_BOTH_(void, name##_atomic_add, T *dest, T value, int pe)                                           \
    SHMEM_BOTH_(void, name##_atomic_compare_swap_nbi, T *fetch, T *dest, T cond, T value, int pe)            \
    SHMEM_BOTH_(void, name##_atomic_fetch_inc_nbi, T *fetch, T *dest, int pe)                                \
    SHMEM_BOTH_(void, name##_atomic_fetch_add_nbi, T *fetch, T *dest, T value, int pe)
ROCSHMEM_INTEGER_TYPES(SHMEM_DECLARE_, )
#undef SHMEM_DECLARE_
#define SHMEM_DECLARE_(name, T, ...)                                                                         \
    SHMEM_BOTH_(T, name##_atomic_fetch_and, T *dest, T value, int pe)                                        \
    SHMEM_BOTH_(T, name##_atomic_fetch_or, T *dest, T value, int pe)                                         \
    SHMEM_BOTH_(T, name##_atomic_fetch_xor, T *dest, T value, int pe)                                        \
    SHMEM_BOTH_(void, name##_atomic_and, T *dest, T value, int pe)                                           \
    SHMEM_BOTH_(void, name##_atomic_or, T *dest, T value, int pe)                                            \
    SHMEM_BOTH_(void, name##_atomic_xor, T *dest, T value, int pe)                                           \
    SHMEM_BOTH_(void, name##_atomic_fetch_and_nbi, T *fetch, T *dest, T value, int pe)                       \
    SHMEM_BOTH_(void, name##_atomic_fetch_or_nbi, T *fetch, T *dest, T value, int pe)                        \
    SHMEM_BOTH_(void, name##_atomic_fetch_xor_nbi, T *fetch, T *dest, T value, int pe)
ROCSHMEM_BITWISE_TYPES(SHMEM_DECLARE_, )
#undef SHMEM_DECLARE_

/* ---- signals ---- */

/** As put, then change the word sig_addr on pe, where the data is visible before: sig_op SHMEM_SIGNAL_SET or _ADD.
 * nelems 0 still signals. Errors: ARG. Source: OpenSHMEM 1.5, Signaling Operations. */
#define SHMEM_DECLARE_PUT_(name, T)                                                                          \
    SHMEM_BOTH_(void, name##_signal, T *dest, const T *source, size_t nelems, uint64_t *sig_addr,            \
                uint64_t signal, int sig_op, int pe)                                                         \
    SHMEM_BOTH_(void, name##_signal_nbi, T *dest, const T *source, size_t nelems, uint64_t *sig_addr,        \
                uint64_t signal, int sig_op, int pe)
#define SHMEM_DECLARE_(name, T, ...) SHMEM_DECLARE_PUT_(name##_put, T)
ROCSHMEM_RMA_TYPES(SHMEM_DECLARE_, )
#undef SHMEM_DECLARE_
#define SHMEM_DECLARE_(bits, ...) SHMEM_DECLARE_PUT_(put##bits, void)
SHMEM_SIZES_(SHMEM_DECLARE_, )
SHMEM_DECLARE_(mem, )
#undef SHMEM_DECLARE_
#undef SHMEM_DECLARE_PUT_
/** This PE's own signal word; at once, or when it satisfies (word cmp cmp_value). Errors: ARG. Source: as above,
 * and Point-To-Point Synchronization. */
SHMEM_API uint64_t SHMEM_NAME_(signal_fetch)(const uint64_t *sig_addr);
SHMEM_API uint64_t SHMEM_NAME_(signal_wait_until)(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

/* ---- waits and tests ---- */

/** Wait until (*ivar cmp cmp_value), or until all, any one or some of ivars[nelems] do; _vector forms compare with
 * cmp_values[i]; test forms look once. Elements with status[i] != 0 are left out; status may be NULL.
 *  any gives an index, SIZE_MAX for none; some gives how many of indices it filled; test and test_all 1 or 0.
 *  T: ROCSHMEM_SYNC_TYPES. Errors: ARG, a PE that died.
 * Source: OpenSHMEM 1.5, Point-To-Point Synchronization. */
#define SHMEM_DECLARE_(name, T, ...)                                                                         \
    SHMEM_API void SHMEM_NAME_(name##_wait_until)(T * ivar, int cmp, T cmp_value);                           \
    SHMEM_API void SHMEM_NAME_(name##_wait_until_all)(T * ivars, size_t nelems, const int *status, int cmp,  \
                                                      T cmp_value);                                          \
    SHMEM_API size_t SHMEM_NAME_(name##_wait_until_any)(T * ivars, size_t nelems, const int *status,         \
                                                        int cmp, T cmp_value);                               \
    SHMEM_API size_t SHMEM_NAME_(name##_wait_until_some)(T * ivars, size_t nelems, size_t * indices,         \
                                                         const int *status, int cmp, T cmp_value);           \
    SHMEM_API void SHMEM_NAME_(name##_wait_until_all_vector)(T * ivars, size_t nelems, const int *status,    \
                                                             int cmp, const T *cmp_values);                  \
    SHMEM_API size_t SHMEM_NAME_(name##_wait_until_any_vector)(T * ivars, size_t nelems, const int *status,  \
                                                               int cmp, const T *cmp_values);                \
    SHMEM_API size_t SHMEM_NAME_(name##_wait_until_some_vector)(                                             \
        T * ivars, size_t nelems, size_t * indices, const int *status, int cmp, const T *cmp_values);        \
    SHMEM_API int SHMEM_NAME_(name##_test)(T * ivar, int cmp, T cmp_value);                                  \
    SHMEM_API int SHMEM_NAME_(name##_test_all)(T * ivars, size_t nelems, const int *status, int cmp,         \
                                               T cmp_value);                                                 \
    SHMEM_API size_t SHMEM_NAME_(name##_test_any)(T * ivars, size_t nelems, const int *status, int cmp,      \
                                                  T cmp_value);                                              \
    SHMEM_API size_t SHMEM_NAME_(name##_test_some)(T * ivars, size_t nelems, size_t * indices,               \
                                                   const int *status, int cmp, T cmp_value);                 \
    SHMEM_API int SHMEM_NAME_(name##_test_all_vector)(T * ivars, size_t nelems, const int *status, int cmp,  \
                                                      const T *cmp_values);                                  \
    SHMEM_API size_t SHMEM_NAME_(name##_test_any_vector)(T * ivars, size_t nelems, const int *status,        \
                                                         int cmp, const T *cmp_values);                      \
    SHMEM_API size_t SHMEM_NAME_(name##_test_some_vector)(T * ivars, size_t nelems, size_t * indices,        \
                                                          const int *status, int cmp, const T *cmp_values);
ROCSHMEM_SYNC_TYPES(SHMEM_DECLARE_, )
#undef SHMEM_DECLARE_

/* ---- order ---- */

/** fence: what this PE did before is visible on each PE before what it does after. quiet: everything it did is
 * complete. Source: OpenSHMEM 1.5, Memory Ordering. */
SHMEM_API void SHMEM_NAME_(fence)(void);
SHMEM_API void SHMEM_NAME_(quiet)(void);
SHMEM_API void SHMEM_NAME_(ctx_fence)(shmem_ctx_t ctx);
SHMEM_API void SHMEM_NAME_(ctx_quiet)(shmem_ctx_t ctx);

/* ---- collectives ---- */

/** Wait for all PEs (of the team); barrier_all completes the default context's operations first. team_sync gives 0
 * or a status. Source: OpenSHMEM 1.5, Collective Routines. */
SHMEM_API void SHMEM_NAME_(barrier_all)(void);
SHMEM_API void SHMEM_NAME_(sync_all)(void);
SHMEM_API int SHMEM_NAME_(team_sync)(shmem_team_t team);

/** broadcast: source of PE_root to dest everywhere. alltoall: block i of source goes to PE i, block j of dest comes
 * from PE j; alltoalls takes every sst-th and stores every dst-th element. collect, fcollect: dest receives the
 * sources of all PEs in order; nelems may differ in collect. All over a team, on symmetric memory, any nelems from 0;
 * elements of type T (ROCSHMEM_RMA_TYPES), bytes in mem forms. 0 or a status. Source: as above. */
#define SHMEM_DECLARE_COLLECTIVES_(broadcast, alltoall, alltoalls, collect, fcollect, T)                     \
    SHMEM_API int SHMEM_NAME_(broadcast)(shmem_team_t team, T * dest, const T *source, size_t nelems,        \
                                         int PE_root);                                                       \
    SHMEM_API int SHMEM_NAME_(alltoall)(shmem_team_t team, T * dest, const T *source, size_t nelems);        \
    SHMEM_API int SHMEM_NAME_(alltoalls)(shmem_team_t team, T * dest, const T *source, ptrdiff_t dst,        \
                                         ptrdiff_t sst, size_t nelems);                                      \
    SHMEM_API int SHMEM_NAME_(collect)(shmem_team_t team, T * dest, const T *source, size_t nelems);         \
    SHMEM_API int SHMEM_NAME_(fcollect)(shmem_team_t team, T * dest, const T *source, size_t nelems);
#define SHMEM_DECLARE_(name, T, ...)                                                                         \
    SHMEM_DECLARE_COLLECTIVES_(name##_broadcast, name##_alltoall, name##_alltoalls, name##_collect,          \
                               name##_fcollect, T)
ROCSHMEM_RMA_TYPES(SHMEM_DECLARE_, )
SHMEM_DECLARE_COLLECTIVES_(broadcastmem, alltoallmem, alltoallsmem, collectmem, fcollectmem, void)
#undef SHMEM_DECLARE_
#undef SHMEM_DECLARE_COLLECTIVES_

/** dest[k] = op over the team's PEs of source[k], k < nreduce, equal on all of them; dest may be source. T: sum and
 * prod ROCSHMEM_RMA_TYPES and ROCSHMEM_COMPLEX_TYPES, min and max the former, and, or, xor unsigned and fixed-width
 * integers. 0 or a status. Source: as above. */
#define SHMEM_DECLARE_(name, T, op)                                                                          \
    SHMEM_EXTENSION_ SHMEM_API int SHMEM_NAME_(name##_##op##_reduce)(shmem_team_t team, T * dest,            \
                                                                     const T *source, size_t nreduce);
ROCSHMEM_RMA_TYPES(SHMEM_DECLARE_, sum)
ROCSHMEM_RMA_TYPES(SHMEM_DECLARE_, prod)
ROCSHMEM_COMPLEX_TYPES(SHMEM_DECLARE_, sum)
ROCSHMEM_COMPLEX_TYPES(SHMEM_DECLARE_, prod)
ROCSHMEM_RMA_TYPES(SHMEM_DECLARE_, min)
ROCSHMEM_RMA_TYPES(SHMEM_DECLARE_, max)
SHMEM_LOGIC_TYPES_(SHMEM_DECLARE_, and)
SHMEM_LOGIC_TYPES_(SHMEM_DECLARE_, or)
SHMEM_LOGIC_TYPES_(SHMEM_DECLARE_, xor)
#undef SHMEM_DECLARE_

/* ---- locks ---- */

/** A lock that one PE of the job holds at a time; those that wait get it in the order in which they came. lock: a
 * symmetric variable, 0 on all PEs in the beginning. test_lock gives 0 when it took the lock, 1 when it is held.
 * clear_lock completes the default context's operations first. Errors: ARG (setting a lock that this PE holds, clearing
 * one that it does not hold), a PE that died. Source: OpenSHMEM 1.5, Distributed Locking. */
SHMEM_API void SHMEM_NAME_(set_lock)(long *lock);
SHMEM_API void SHMEM_NAME_(clear_lock)(long *lock);
SHMEM_API int SHMEM_NAME_(test_lock)(long *lock);

/* ---- deprecated: collectives over an active set ---- */

/** The collectives over PE_start, PE_start + 2^logPE_stride, ... (PE_size of them), called by these PEs only. Elements
 * of 32 or 64 bits; PE_root counts within the set, and its own dest stays as it is. pSync and pWrk are ignored.
 * Errors: ARG, also for a PE outside the set. Deprecated since 1.5. Source: OpenSHMEM 1.5, Collective Routines. */
SHMEM_API void SHMEM_NAME_(barrier)(int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEM_API void SHMEM_NAME_(sync)(int PE_start, int logPE_stride, int PE_size, long *pSync);
#define SHMEM_DECLARE_(bits)                                                                                 \
    SHMEM_API void SHMEM_NAME_(broadcast##bits)(void *dest, const void *source, size_t nelems, int PE_root,  \
                                                int PE_start, int logPE_stride, int PE_size, long *pSync);   \
    SHMEM_API void SHMEM_NAME_(collect##bits)(void *dest, const void *source, size_t nelems, int PE_start,   \
                                              int logPE_stride, int PE_size, long *pSync);                   \
    SHMEM_API void SHMEM_NAME_(fcollect##bits)(void *dest, const void *source, size_t nelems, int PE_start,  \
                                               int logPE_stride, int PE_size, long *pSync);                  \
    SHMEM_API void SHMEM_NAME_(alltoall##bits)(void *dest, const void *source, size_t nelems, int PE_start,  \
                                               int logPE_stride, int PE_size, long *pSync);                  \
    SHMEM_API void SHMEM_NAME_(alltoalls##bits)(void *dest, const void *source, ptrdiff_t dst,               \
                                                ptrdiff_t sst, size_t nelems, int PE_start,                  \
                                                int logPE_stride, int PE_size, long *pSync);
SHMEM_DECLARE_(32)
SHMEM_DECLARE_(64)
#undef SHMEM_DECLARE_
#define SHMEM_DECLARE_(name, T, op)                                                                          \
    SHMEM_EXTENSION_ SHMEM_API void SHMEM_NAME_(name##_##op##_to_all)(                                       \
        T * dest, const T *source, int nreduce, int PE_start, int logPE_stride, int PE_size, T *pWrk,        \
        long *pSync);
SHMEM_REAL_TYPES_(SHMEM_DECLARE_, sum)
SHMEM_REAL_TYPES_(SHMEM_DECLARE_, prod)
ROCSHMEM_COMPLEX_TYPES(SHMEM_DECLARE_, sum)
ROCSHMEM_COMPLEX_TYPES(SHMEM_DECLARE_, prod)
SHMEM_REAL_TYPES_(SHMEM_DECLARE_, min)
SHMEM_REAL_TYPES_(SHMEM_DECLARE_, max)
SHMEM_SIGNED_TYPES_(SHMEM_DECLARE_, and)
SHMEM_SIGNED_TYPES_(SHMEM_DECLARE_, or)
SHMEM_SIGNED_TYPES_(SHMEM_DECLARE_, xor)
SHMEM_DECLARE_(short, short, and)
SHMEM_DECLARE_(short, short, or)
SHMEM_DECLARE_(short, short, xor)
#undef SHMEM_DECLARE_

/* ---- deprecated: atomics, waits, cache ---- */

/** The atomics by their names before 1.4: finc is fetch_inc, fadd fetch_add, cswap compare_swap. The specification has
 * them for int, long, long long, float and double; other libraries, and so this one, for every type of the atomics.
 * Source: OpenSHMEM 1.5, Atomic Memory Operations. */
#define SHMEM_DECLARE_(name, T, ...)                                                                         \
    SHMEM_API T SHMEM_NAME_(name##_fetch)(const T *source, int pe);                                          \
    SHMEM_API void SHMEM_NAME_(name##_set)(T * dest, T value, int pe);                                       \
    SHMEM_API T SHMEM_NAME_(name##_swap)(T * dest, T value, int pe);
ROCSHMEM_AMO_TYPES(SHMEM_DECLARE_, )
#undef SHMEM_DECLARE_
#define SHMEM_DECLARE_(name, T, ...)                                                                         \
    SHMEM_API T SHMEM_NAME_(name##_cswap)(T * dest, T cond, T value, int pe);                                \
    SHMEM_API T SHMEM_NAME_(name##_finc)(T * dest, int pe);                                                  \
    SHMEM_API void SHMEM_NAME_(name##_inc)(T * dest, int pe);                                                \
    SHMEM_API T SHMEM_NAME_(name##_fadd)(T * dest, T value, int pe);                                         \
    SHMEM_API void SHMEM_NAME_(name##_add)(T * dest, T value, int pe);
ROCSHMEM_INTEGER_TYPES(SHMEM_DECLARE_, )
#undef SHMEM_DECLARE_
/** wait: until *ivar is no longer cmp_value. Since 1.4: wait_until. Source: OpenSHMEM 1.5, Point-To-Point
 * Synchronization. */
#define SHMEM_DECLARE_(name, T, ...) SHMEM_API void SHMEM_NAME_(name##_wait)(T * ivar, T cmp_value);
SHMEM_SIGNED_TYPES_(SHMEM_DECLARE_, )
SHMEM_DECLARE_(short, short, )
#undef SHMEM_DECLARE_
SHMEM_API void SHMEM_NAME_(wait)(long *ivar, long cmp_value);
SHMEM_API void SHMEM_NAME_(wait_until)(long *ivar, int cmp, long cmp_value);
/** Caches are coherent here: these do nothing. Deprecated since 1.3. Source: OpenSHMEM 1.5, Cache Management. */
SHMEM_API void SHMEM_NAME_(clear_cache_inv)(void);
SHMEM_API void SHMEM_NAME_(set_cache_inv)(void);
SHMEM_API void SHMEM_NAME_(clear_cache_line_inv)(void *dest);
SHMEM_API void SHMEM_NAME_(set_cache_line_inv)(void *dest);
SHMEM_API void SHMEM_NAME_(udcflush)(void);
SHMEM_API void SHMEM_NAME_(udcflush_line)(void *dest);

#undef SHMEM_BOTH_
#undef SHMEM_NAME_

#ifdef __cplusplus
}
#endif
