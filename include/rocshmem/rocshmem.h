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
 */
#ifndef ROCSHMEM_ROCSHMEM_H
#define ROCSHMEM_ROCSHMEM_H

#include <stddef.h>
#include <stdint.h>

#include "rocshmem_types.def"

#if defined(__GNUC__)
#define ROCSHMEM_API __attribute__((visibility("default")))
#else
#define ROCSHMEM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- constants ---- */

enum { ROCSHMEM_SUCCESS = 0, ROCSHMEM_ERROR = 1 };

/* How a signal word is changed. */
enum { ROCSHMEM_SIGNAL_SET = 0, ROCSHMEM_SIGNAL_ADD = 1 };

/* Comparisons of waits and tests; signal words compare as unsigned 64-bit integers. */
enum {
    ROCSHMEM_CMP_EQ = 0,
    ROCSHMEM_CMP_NE = 1,
    ROCSHMEM_CMP_GT = 2,
    ROCSHMEM_CMP_GE = 3,
    ROCSHMEM_CMP_LT = 4,
    ROCSHMEM_CMP_LE = 5
};

typedef enum {
    ROCSHMEM_SUM = 0,
    ROCSHMEM_MAX = 1,
    ROCSHMEM_MIN = 2,
    ROCSHMEM_PROD = 3,
    ROCSHMEM_AND = 4,
    ROCSHMEM_OR = 5,
    ROCSHMEM_XOR = 6,
    ROCSHMEM_REPLACE = 7
} ROCSHMEM_OP;

enum {
    ROCSHMEM_THREAD_SINGLE = 0,
    ROCSHMEM_THREAD_FUNNELED = 1,
    ROCSHMEM_THREAD_WG_FUNNELED = 2,
    ROCSHMEM_THREAD_SERIALIZED = 3,
    ROCSHMEM_THREAD_MULTIPLE = 4
};

enum {
    ROCSHMEM_CTX_NOSTORE = 1,
    ROCSHMEM_CTX_SERIALIZED = 2,
    ROCSHMEM_CTX_WG_PRIVATE = 4,
    ROCSHMEM_CTX_SHARED = 8
};

enum { ROCSHMEM_INIT_WITH_MPI_COMM = 0, ROCSHMEM_INIT_WITH_UNIQUEID = 1 };

#define ROCSHMEM_TEAM_DEFAULT_CONFIGS 0
#define ROCSHMEM_TEAM_NUM_CONTEXTS 1
#define ROCSHMEM_MAX_NAME_LEN 64
#define ROCSHMEM_MAJOR_VERSION 1 /* of the OpenSHMEM specification that we follow */
#define ROCSHMEM_MINOR_VERSION 5
#define ROCSHMEM_UNIQUE_ID_BYTES 128

/* ---- types ---- */

typedef struct {
    void *ctx_opaque;
    void *team_opaque;
} rocshmem_ctx_t;

struct rocshmem_team; /* never defined: a handle carries a small number and is never dereferenced */
typedef struct rocshmem_team *rocshmem_team_t;

typedef struct {
    int num_contexts; /* a hint; contexts are not limited here */
} rocshmem_team_config_t;

typedef struct {
    unsigned char data[ROCSHMEM_UNIQUE_ID_BYTES];
} rocshmem_uniqueid_t;

typedef struct {
    int32_t rank;
    int32_t nranks;
    rocshmem_uniqueid_t uid;
    void *mpi_comm;
} rocshmem_init_attr_t;

#define ROCSHMEM_TEAM_INVALID ((rocshmem_team_t)0)
#define ROCSHMEM_TEAM_SHARED ((rocshmem_team_t)(intptr_t)1) /* the PEs of this host */
#define ROCSHMEM_TEAM_WORLD ((rocshmem_team_t)(intptr_t)-2) /* all PEs */

/* The default context. Its address is what rocshmem_get_device_ctx gives on the host device. */
extern ROCSHMEM_API const rocshmem_ctx_t ROCSHMEM_CTX_DEFAULT;
extern ROCSHMEM_API const rocshmem_ctx_t ROCSHMEM_CTX_INVALID;

/* ---- job ---- */

/** Join the job described by the environment: rocshmem-run, torchrun, Open MPI; without one, a job of one PE.
 *  Collective. Errors: STATE (already initialised), BOOTSTRAP (names the PEs that are missing), CONFIG,
 * SYSTEM. Source: rocSHMEM host API, same name. Since 0.1. */
ROCSHMEM_API void rocshmem_init(void);

/** As rocshmem_init; says which thread level is provided.
 *  required  ROCSHMEM_THREAD_*     provided  receives ROCSHMEM_THREAD_MULTIPLE; may be NULL
 *  Collective. Returns 0 or a status. Source: rocSHMEM host API. Since 0.1. */
ROCSHMEM_API int rocshmem_init_thread(int required, int *provided);

/** Join a job given by a unique id.
 *  flags  ROCSHMEM_INIT_WITH_UNIQUEID     attr  rank (0..nranks-1), nranks (> 0), uid (the same bytes on
 * every PE) Collective over nranks processes. Returns 0 or a status: ARG, STATE, BOOTSTRAP (who is missing,
 * who was refused and why), UNSUPPORTED (an MPI communicator). Source: rocSHMEM host API. Since 0.1. */
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
 * NOMEM (names the size, the largest free block, the heap and ROCSHMEM_HEAP_SIZE), MISMATCH, PEER, BROKEN,
 * STATE. Source: rocSHMEM host API; OpenSHMEM 1.5, Memory Management. Since 0.1. */
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
 * MISMATCH, PEER. Source: rocSHMEM host API. Since 0.1. */
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
 *  options  0 or ROCSHMEM_CTX_* ored     ctx  receives the context
 *  Local. Returns 0 or a status (ARG, STATE). Source: OpenSHMEM 1.5, Communication Management. Since 0.1. */
ROCSHMEM_API int rocshmem_ctx_create(int64_t options, rocshmem_ctx_t *ctx);
/** As rocshmem_ctx_create; PE numbers given with this context are the team's. Source: OpenSHMEM 1.5. Since
 * 0.1. */
ROCSHMEM_API int rocshmem_team_create_ctx(rocshmem_team_t team, int64_t options, rocshmem_ctx_t *ctx);
/** Complete a context's operations and give it back. Local. ARG: the default or an unknown context.
 *  ROCSHMEM_CTX_INVALID is a no-op. Source: OpenSHMEM 1.5. Since 0.1. */
ROCSHMEM_API void rocshmem_ctx_destroy(rocshmem_ctx_t ctx);

/* ---- transfers ---- */

/** Copy nelems bytes from source here to dest on pe; returns when source may be reused.
 *  dest    symmetric; [dest, dest + nelems) inside one live allocation
 *  source  readable here     nelems  bytes; 0 does nothing     pe  0 <= pe < rocshmem_n_pes()
 *  Local, blocking. Visible on pe after quiet, a barrier, or a later signal. Errors: ARG (dest, range, pe),
 * STATE. Source: OpenSHMEM 1.5, Remote Memory Access. Since 0.1. */
ROCSHMEM_API void rocshmem_putmem(void *dest, const void *source, size_t nelems, int pe);
/** Copy nelems bytes from source on pe to dest here; returns when the data is here. Arguments as
 * rocshmem_putmem, with source symmetric and dest writable here. Errors: ARG (source, range, pe), STATE.
 *  Source: OpenSHMEM 1.5, Remote Memory Access. Since 0.1. */
ROCSHMEM_API void rocshmem_getmem(void *dest, const void *source, size_t nelems, int pe);
/** As rocshmem_putmem; source may be reused after quiet. Source: OpenSHMEM 1.5, Non-blocking Remote Memory
 * Access. Since 0.1. */
ROCSHMEM_API void rocshmem_putmem_nbi(void *dest, const void *source, size_t nelems, int pe);
/** As rocshmem_getmem; the data is here after quiet. Source: OpenSHMEM 1.5, Non-blocking Remote Memory
 * Access. Since 0.1. */
ROCSHMEM_API void rocshmem_getmem_nbi(void *dest, const void *source, size_t nelems, int pe);
/** The same four, on a context. Errors besides: ARG (an unknown context). Source: OpenSHMEM 1.5. Since 0.1.
 */
ROCSHMEM_API void rocshmem_ctx_putmem(rocshmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
                                      int pe);
ROCSHMEM_API void rocshmem_ctx_getmem(rocshmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
                                      int pe);
ROCSHMEM_API void rocshmem_ctx_putmem_nbi(rocshmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
                                          int pe);
ROCSHMEM_API void rocshmem_ctx_getmem_nbi(rocshmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
                                          int pe);

/** For each type T of ROCSHMEM_RMA_TYPES: rocshmem_T_put, _get, _put_nbi, _get_nbi (nelems counts elements),
 *  rocshmem_T_p (one value to pe) and rocshmem_T_g (one value from pe). As the mem forms otherwise.
 *  Source: OpenSHMEM 1.5 chapters Remote Memory Access, Non-blocking Remote Memory Access. Since 0.1. */
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API void rocshmem_##name##_put(T *dest, const T *source, size_t nelems, int pe);                \
    ROCSHMEM_API void rocshmem_##name##_get(T *dest, const T *source, size_t nelems, int pe);                \
    ROCSHMEM_API void rocshmem_##name##_put_nbi(T *dest, const T *source, size_t nelems, int pe);            \
    ROCSHMEM_API void rocshmem_##name##_get_nbi(T *dest, const T *source, size_t nelems, int pe);            \
    ROCSHMEM_API void rocshmem_##name##_p(T *dest, T value, int pe);                                         \
    ROCSHMEM_API T rocshmem_##name##_g(const T *source, int pe);
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_

/* ---- atomics ---- */

/** For each type T: rocshmem_T_atomic_OP(dest, ..., pe) and rocshmem_ctx_T_atomic_OP(ctx, dest, ..., pe).
 *  dest  symmetric, aligned to sizeof(T), on pe     pe  0 <= pe < rocshmem_n_pes()
 *  Local, blocking; fetching forms return the old value. Atomic against every PE, host calls and stream
 * operations included. Values wrap as T does. Errors: ARG (dest, pe) -> handler, result 0. Source:
 * OpenSHMEM 1.5, Atomic Memory Operations. Since 0.1. */
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API T rocshmem_##name##_atomic_fetch(const T *dest, int pe);                                    \
    ROCSHMEM_API void rocshmem_##name##_atomic_set(T *dest, T value, int pe);                                \
    ROCSHMEM_API T rocshmem_##name##_atomic_swap(T *dest, T value, int pe);                                  \
    ROCSHMEM_API T rocshmem_ctx_##name##_atomic_fetch(rocshmem_ctx_t ctx, const T *dest, int pe);            \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_set(rocshmem_ctx_t ctx, T *dest, T value, int pe);        \
    ROCSHMEM_API T rocshmem_ctx_##name##_atomic_swap(rocshmem_ctx_t ctx, T *dest, T value, int pe);
ROCSHMEM_AMO_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API T rocshmem_##name##_atomic_compare_swap(T *dest, T cond, T value, int pe);                  \
    ROCSHMEM_API T rocshmem_##name##_atomic_fetch_add(T *dest, T value, int pe);                             \
    ROCSHMEM_API T rocshmem_##name##_atomic_fetch_inc(T *dest, int pe);                                      \
    ROCSHMEM_API void rocshmem_##name##_atomic_add(T *dest, T value, int pe);                                \
    ROCSHMEM_API void rocshmem_##name##_atomic_inc(T *dest, int pe);                                         \
    ROCSHMEM_API T rocshmem_ctx_##name##_atomic_compare_swap(rocshmem_ctx_t ctx, T *dest, T cond, T value,   \
                                                             int pe);                                        \
    ROCSHMEM_API T rocshmem_ctx_##name##_atomic_fetch_add(rocshmem_ctx_t ctx, T *dest, T value, int pe);     \
    ROCSHMEM_API T rocshmem_ctx_##name##_atomic_fetch_inc(rocshmem_ctx_t ctx, T *dest, int pe);              \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_add(rocshmem_ctx_t ctx, T *dest, T value, int pe);        \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_inc(rocshmem_ctx_t ctx, T *dest, int pe);
ROCSHMEM_INTEGER_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API T rocshmem_##name##_atomic_fetch_and(T *dest, T value, int pe);                             \
    ROCSHMEM_API T rocshmem_##name##_atomic_fetch_or(T *dest, T value, int pe);                              \
    ROCSHMEM_API T rocshmem_##name##_atomic_fetch_xor(T *dest, T value, int pe);                             \
    ROCSHMEM_API void rocshmem_##name##_atomic_and(T *dest, T value, int pe);                                \
    ROCSHMEM_API void rocshmem_##name##_atomic_or(T *dest, T value, int pe);                                 \
    ROCSHMEM_API void rocshmem_##name##_atomic_xor(T *dest, T value, int pe);                                \
    ROCSHMEM_API T rocshmem_ctx_##name##_atomic_fetch_and(rocshmem_ctx_t ctx, T *dest, T value, int pe);     \
    ROCSHMEM_API T rocshmem_ctx_##name##_atomic_fetch_or(rocshmem_ctx_t ctx, T *dest, T value, int pe);      \
    ROCSHMEM_API T rocshmem_ctx_##name##_atomic_fetch_xor(rocshmem_ctx_t ctx, T *dest, T value, int pe);     \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_and(rocshmem_ctx_t ctx, T *dest, T value, int pe);        \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_or(rocshmem_ctx_t ctx, T *dest, T value, int pe);         \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_xor(rocshmem_ctx_t ctx, T *dest, T value, int pe);
ROCSHMEM_BITWISE_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_

/* ---- signals and waits ---- */

/** As rocshmem_putmem, then change the 64-bit word sig_addr on pe: the data is visible before the signal.
 *  sig_addr  symmetric, 8-byte aligned     signal  the value     sig_op  ROCSHMEM_SIGNAL_SET or _ADD
 *  nelems 0 still signals. Errors: ARG. Source: OpenSHMEM 1.5, Signaling Operations. Since 0.1. */
ROCSHMEM_API void rocshmem_putmem_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr,
                                         uint64_t signal, int sig_op, int pe);
/** As rocshmem_putmem_signal; source may be reused after quiet. Source: OpenSHMEM 1.5, Signaling Operations.
 * Since 0.1.
 */
ROCSHMEM_API void rocshmem_putmem_signal_nbi(void *dest, const void *source, size_t nelems,
                                             uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
/** Read this PE's own signal word. Local. Errors: ARG (not symmetric, not aligned), STATE -> handler, result
 * 0. Source: OpenSHMEM 1.5, Signaling Operations. Since 0.1. */
ROCSHMEM_API uint64_t rocshmem_signal_fetch(const uint64_t *sig_addr);
/** Wait until this PE's own signal word satisfies (word cmp cmp_value); returns the word that did.
 *  Local, blocking. Errors: ARG, PEER (a PE died), TIMEOUT, INTERRUPTED -> handler, returns the word as it
 * is. Source: OpenSHMEM 1.5, Point-To-Point Synchronization. Since 0.1. */
ROCSHMEM_API uint64_t rocshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

/** For each type T of ROCSHMEM_INTEGER_TYPES: wait until *ivar on this PE satisfies (value cmp cmp_value);
 * test asks once and returns 1 or 0. Compared as T. Errors as rocshmem_signal_wait_until. Source:
 * OpenSHMEM 1.5, Point-To-Point Synchronization. Since 0.1. */
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API void rocshmem_##name##_wait_until(T *ivar, int cmp, T cmp_value);                           \
    ROCSHMEM_API int rocshmem_##name##_test(T *ivar, int cmp, T cmp_value);
ROCSHMEM_INTEGER_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_

/* ---- order ---- */

/** Order the default context's operations towards each PE: those before are visible there before those after.
 *  Local. Errors: STATE. Source: OpenSHMEM 1.5, Memory Ordering. Since 0.1. */
ROCSHMEM_API void rocshmem_fence(void);
/** Complete the default context's host-issued operations, nbi included: they are visible everywhere. Local,
 * blocking. Errors: STATE. Source: OpenSHMEM 1.5, Memory Ordering. Since 0.1. */
ROCSHMEM_API void rocshmem_quiet(void);
/** The same two on a context. Source: OpenSHMEM 1.5, Memory Ordering. Since 0.1. */
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
/** For each T of ROCSHMEM_REDUCE_TYPES: rocshmem_T_{sum,prod,min,max}_reduce; of ROCSHMEM_BITWISE_TYPES
 * besides: rocshmem_T_{and,or,xor}_reduce. dest[k] = op over the members of source[k], k < nreduce; equal
 * bits on every member; dest == source is allowed, another overlap is not. Collective, blocking. Returns 0 or
 * a status. Source: OpenSHMEM 1.5, Collective Routines. Since 0.1. */
#define ROCSHMEM_DECLARE_(name, T, op)                                                                       \
    ROCSHMEM_API int rocshmem_##name##_##op##_reduce(rocshmem_team_t team, T *dest, const T *source,         \
                                                     size_t nreduce);
ROCSHMEM_REDUCE_TYPES(ROCSHMEM_DECLARE_, sum)
ROCSHMEM_REDUCE_TYPES(ROCSHMEM_DECLARE_, prod)
ROCSHMEM_REDUCE_TYPES(ROCSHMEM_DECLARE_, min)
ROCSHMEM_REDUCE_TYPES(ROCSHMEM_DECLARE_, max)
ROCSHMEM_BITWISE_TYPES(ROCSHMEM_DECLARE_, and)
ROCSHMEM_BITWISE_TYPES(ROCSHMEM_DECLARE_, or)
ROCSHMEM_BITWISE_TYPES(ROCSHMEM_DECLARE_, xor)
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

/* ---- teams ---- */

/** This PE's number in a team, -1 for INVALID, unknown, and for non-members. Source: OpenSHMEM 1.5. Since
 * 0.1. */
ROCSHMEM_API int rocshmem_team_my_pe(rocshmem_team_t team);
/** The number of PEs in a team; -1 for INVALID and for unknown. Source: OpenSHMEM 1.5, Team Management. Since
 * 0.1.
 */
ROCSHMEM_API int rocshmem_team_n_pes(rocshmem_team_t team);
/** The number in dest_team of the PE that is src_pe in src_team; -1 where there is no such PE.
 *  Source: OpenSHMEM 1.5, Team Management. Since 0.1. */
ROCSHMEM_API int rocshmem_team_translate_pe(rocshmem_team_t src_team, int src_pe, rocshmem_team_t dest_team);
/** Make a team of parent's PEs start, start + stride, ... (size of them).
 *  config, mask  may be NULL, 0     team_out  receives the team, INVALID for those outside it
 *  Collective over parent. Returns 0 or a status (ARG: range, INVALID parent; MISMATCH).
 *  Source: OpenSHMEM 1.5, Team Management. Since 0.1. */
ROCSHMEM_API int rocshmem_team_split_strided(rocshmem_team_t parent, int start, int stride, int size,
                                             const rocshmem_team_config_t *config, long mask,
                                             rocshmem_team_t *team_out);
/** Give a team back. Collective over it, without waiting. WORLD, SHARED, INVALID: no-op. ARG: unknown or
 * destroyed. Source: OpenSHMEM 1.5, Team Management. Since 0.1. */
ROCSHMEM_API void rocshmem_team_destroy(rocshmem_team_t team);

#ifdef __cplusplus
}
#endif
#endif
