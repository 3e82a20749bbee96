/* SPDX-License-Identifier: MIT
 *
 * Transfers, atomics, signals and waits: what a PE does by itself to the memory of others. Part of
 * rocshmem.h, whose first comment holds here too.
 */
#ifndef ROCSHMEM_RMA_H
#define ROCSHMEM_RMA_H

#include "rocshmem_defs.h"

#ifdef __cplusplus
namespace rocshmem
{
extern "C" {
#endif

/* The sizes in bits of the sized forms. */
#define ROCSHMEM_SIZES_(X) X(8) X(16) X(32) X(64) X(128)

/* ---- transfers ---- */

/** Copy nelems bytes from source here to dest on pe; returns when source may be reused.
 *  dest    symmetric; [dest, dest + nelems) inside one live allocation
 *  source  readable here     nelems  bytes; 0 does nothing     pe  0 <= pe < rocshmem_n_pes()
 *  Local, blocking. Visible on pe after quiet, a barrier, or a later signal. Errors: ARG (dest, range, pe),
 *  STATE. Source: OpenSHMEM 1.5, Remote Memory Access. Since 0.1. */
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
 *  Source: OpenSHMEM 1.5 chapters Remote Memory Access, Non-blocking Remote Memory Access. Since 0.1.
 *  The same on a context: rocshmem_ctx_T_put(ctx, ...) and so on; pe is then a number of the context's team.
 *  Errors besides: ARG (an unknown or invalid context). Since 0.2. */
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API void rocshmem_##name##_put(T *dest, const T *source, size_t nelems, int pe);                \
    ROCSHMEM_API void rocshmem_##name##_get(T *dest, const T *source, size_t nelems, int pe);                \
    ROCSHMEM_API void rocshmem_##name##_put_nbi(T *dest, const T *source, size_t nelems, int pe);            \
    ROCSHMEM_API void rocshmem_##name##_get_nbi(T *dest, const T *source, size_t nelems, int pe);            \
    ROCSHMEM_API void rocshmem_##name##_p(T *dest, T value, int pe);                                         \
    ROCSHMEM_API T rocshmem_##name##_g(const T *source, int pe);                                             \
    ROCSHMEM_API void rocshmem_ctx_##name##_put(rocshmem_ctx_t ctx, T *dest, const T *source, size_t nelems, \
                                                int pe);                                                     \
    ROCSHMEM_API void rocshmem_ctx_##name##_get(rocshmem_ctx_t ctx, T *dest, const T *source, size_t nelems, \
                                                int pe);                                                     \
    ROCSHMEM_API void rocshmem_ctx_##name##_put_nbi(rocshmem_ctx_t ctx, T *dest, const T *source,            \
                                                    size_t nelems, int pe);                                  \
    ROCSHMEM_API void rocshmem_ctx_##name##_get_nbi(rocshmem_ctx_t ctx, T *dest, const T *source,            \
                                                    size_t nelems, int pe);                                  \
    ROCSHMEM_API void rocshmem_ctx_##name##_p(rocshmem_ctx_t ctx, T *dest, T value, int pe);                 \
    ROCSHMEM_API T rocshmem_ctx_##name##_g(rocshmem_ctx_t ctx, const T *source, int pe);
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_

/** For each size N of 8, 16, 32, 64 and 128 bits: rocshmem_putN, getN, putN_nbi, getN_nbi, and their ctx_ forms;
 *  nelems counts elements of N bits (put8 therefore counts bytes). As the typed forms otherwise.
 *  Source: OpenSHMEM 1.5 chapters Remote Memory Access, Non-blocking Remote Memory Access. Since 0.2. */
#define ROCSHMEM_DECLARE_(N)                                                                                 \
    ROCSHMEM_API void rocshmem_put##N(void *dest, const void *source, size_t nelems, int pe);                \
    ROCSHMEM_API void rocshmem_get##N(void *dest, const void *source, size_t nelems, int pe);                \
    ROCSHMEM_API void rocshmem_put##N##_nbi(void *dest, const void *source, size_t nelems, int pe);          \
    ROCSHMEM_API void rocshmem_get##N##_nbi(void *dest, const void *source, size_t nelems, int pe);          \
    ROCSHMEM_API void rocshmem_ctx_put##N(rocshmem_ctx_t ctx, void *dest, const void *source, size_t nelems, \
                                          int pe);                                                           \
    ROCSHMEM_API void rocshmem_ctx_get##N(rocshmem_ctx_t ctx, void *dest, const void *source, size_t nelems, \
                                          int pe);                                                           \
    ROCSHMEM_API void rocshmem_ctx_put##N##_nbi(rocshmem_ctx_t ctx, void *dest, const void *source,          \
                                                size_t nelems, int pe);                                      \
    ROCSHMEM_API void rocshmem_ctx_get##N##_nbi(rocshmem_ctx_t ctx, void *dest, const void *source,          \
                                                size_t nelems, int pe);
ROCSHMEM_SIZES_(ROCSHMEM_DECLARE_)
#undef ROCSHMEM_DECLARE_

/** Strided transfers: element i goes from source[i * sst] to dest[i * dst], for i < nelems. For each type T of
 *  ROCSHMEM_RMA_TYPES rocshmem_T_iput and _iget, for each size N rocshmem_iputN and igetN, and their ctx_ forms.
 *  dst, sst  strides in elements, 1 or more; 1 is contiguous     nelems  elements; 0 does nothing
 *  dest (iput) or source (iget) symmetric, from its first to its last element inside one live allocation.
 *  Local, blocking. Words of 4 and 8 bytes arrive whole. Errors: ARG (dest, source, range, dst, sst, pe, ctx),
 *  STATE. Source: OpenSHMEM 1.5, Remote Memory Access. Since 0.2. */
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API void rocshmem_##name##_iput(T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,         \
                                             size_t nelems, int pe);                                         \
    ROCSHMEM_API void rocshmem_##name##_iget(T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,         \
                                             size_t nelems, int pe);                                         \
    ROCSHMEM_API void rocshmem_ctx_##name##_iput(rocshmem_ctx_t ctx, T *dest, const T *source,               \
                                                 ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);       \
    ROCSHMEM_API void rocshmem_ctx_##name##_iget(rocshmem_ctx_t ctx, T *dest, const T *source,               \
                                                 ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_
#define ROCSHMEM_DECLARE_(N)                                                                                 \
    ROCSHMEM_API void rocshmem_iput##N(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,         \
                                       size_t nelems, int pe);                                               \
    ROCSHMEM_API void rocshmem_iget##N(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,         \
                                       size_t nelems, int pe);                                               \
    ROCSHMEM_API void rocshmem_ctx_iput##N(rocshmem_ctx_t ctx, void *dest, const void *source,               \
                                           ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);             \
    ROCSHMEM_API void rocshmem_ctx_iget##N(rocshmem_ctx_t ctx, void *dest, const void *source,               \
                                           ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
ROCSHMEM_SIZES_(ROCSHMEM_DECLARE_)
#undef ROCSHMEM_DECLARE_

/* ---- atomics ---- */

/** For each type T: rocshmem_T_atomic_OP(dest, ..., pe) and rocshmem_ctx_T_atomic_OP(ctx, dest, ..., pe).
 *  dest  symmetric, aligned to sizeof(T), on pe     pe  0 <= pe < rocshmem_n_pes()
 *  Local, blocking; fetching forms return the old value. Atomic against every PE, host calls and stream
 *  operations included. Values wrap as T does. Errors: ARG (dest, pe) -> handler, result 0. Source:
 *  OpenSHMEM 1.5, Atomic Memory Operations. Since 0.1. */
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

/** Fetching atomics that may complete later: as the forms without _nbi, but the old value is written to *fetch.
 *  fetch  one T, writable here; valid, and to be left alone, until quiet (of the context, in the ctx_ forms)
 *  Local. Errors: ARG (fetch, dest, pe, ctx), STATE; nothing is changed then. Source: OpenSHMEM 1.5,
 *  Non-Blocking Atomic Memory Operations. Since 0.2. */
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API void rocshmem_##name##_atomic_fetch_nbi(T *fetch, const T *dest, int pe);                   \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_fetch_nbi(rocshmem_ctx_t ctx, T *fetch, const T *dest,    \
                                                             int pe);                                        \
    ROCSHMEM_API void rocshmem_##name##_atomic_swap_nbi(T *fetch, T *dest, T value, int pe);                 \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_swap_nbi(rocshmem_ctx_t ctx, T *fetch, T *dest, T value,  \
                                                            int pe);
ROCSHMEM_AMO_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API void rocshmem_##name##_atomic_compare_swap_nbi(T *fetch, T *dest, T cond, T value, int pe); \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_compare_swap_nbi(rocshmem_ctx_t ctx, T *fetch, T *dest,   \
                                                                    T cond, T value, int pe);                \
    ROCSHMEM_API void rocshmem_##name##_atomic_fetch_add_nbi(T *fetch, T *dest, T value, int pe);            \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_fetch_add_nbi(rocshmem_ctx_t ctx, T *fetch, T *dest,      \
                                                                 T value, int pe);                           \
    ROCSHMEM_API void rocshmem_##name##_atomic_fetch_inc_nbi(T *fetch, T *dest, int pe);                     \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_fetch_inc_nbi(rocshmem_ctx_t ctx, T *fetch, T *dest,      \
                                                                 int pe);
ROCSHMEM_INTEGER_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API void rocshmem_##name##_atomic_fetch_and_nbi(T *fetch, T *dest, T value, int pe);            \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_fetch_and_nbi(rocshmem_ctx_t ctx, T *fetch, T *dest,      \
                                                                 T value, int pe);                           \
    ROCSHMEM_API void rocshmem_##name##_atomic_fetch_or_nbi(T *fetch, T *dest, T value, int pe);             \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_fetch_or_nbi(rocshmem_ctx_t ctx, T *fetch, T *dest,       \
                                                                T value, int pe);                            \
    ROCSHMEM_API void rocshmem_##name##_atomic_fetch_xor_nbi(T *fetch, T *dest, T value, int pe);            \
    ROCSHMEM_API void rocshmem_ctx_##name##_atomic_fetch_xor_nbi(rocshmem_ctx_t ctx, T *fetch, T *dest,      \
                                                                 T value, int pe);
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
/** The same two, on a context; pe is a number of the context's team. Errors besides: ARG (an unknown or invalid
 * context). Source: OpenSHMEM 1.5, Signaling Operations. Since 0.2. */
ROCSHMEM_API void rocshmem_ctx_putmem_signal(rocshmem_ctx_t ctx, void *dest, const void *source,
                                             size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
                                             int pe);
ROCSHMEM_API void rocshmem_ctx_putmem_signal_nbi(rocshmem_ctx_t ctx, void *dest, const void *source,
                                                 size_t nelems, uint64_t *sig_addr, uint64_t signal,
                                                 int sig_op, int pe);
/** For each type T of ROCSHMEM_RMA_TYPES rocshmem_T_put_signal and _put_signal_nbi, for each size N
 *  rocshmem_putN_signal and putN_signal_nbi, and their ctx_ forms; nelems counts elements. As
 *  rocshmem_putmem_signal otherwise. Source: OpenSHMEM 1.5, Signaling Operations. Since 0.2. */
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API void rocshmem_##name##_put_signal(T *dest, const T *source, size_t nelems,                  \
                                                   uint64_t *sig_addr, uint64_t signal, int sig_op, int pe); \
    ROCSHMEM_API void rocshmem_ctx_##name##_put_signal(rocshmem_ctx_t ctx, T *dest, const T *source,         \
                                                       size_t nelems, uint64_t *sig_addr, uint64_t signal,   \
                                                       int sig_op, int pe);                                  \
    ROCSHMEM_API void rocshmem_##name##_put_signal_nbi(                                                      \
        T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);   \
    ROCSHMEM_API void rocshmem_ctx_##name##_put_signal_nbi(rocshmem_ctx_t ctx, T *dest, const T *source,     \
                                                           size_t nelems, uint64_t *sig_addr,                \
                                                           uint64_t signal, int sig_op, int pe);
ROCSHMEM_RMA_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_
#define ROCSHMEM_DECLARE_(N)                                                                                 \
    ROCSHMEM_API void rocshmem_put##N##_signal(void *dest, const void *source, size_t nelems,                \
                                               uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);     \
    ROCSHMEM_API void rocshmem_ctx_put##N##_signal(rocshmem_ctx_t ctx, void *dest, const void *source,       \
                                                   size_t nelems, uint64_t *sig_addr, uint64_t signal,       \
                                                   int sig_op, int pe);                                      \
    ROCSHMEM_API void rocshmem_put##N##_signal_nbi(void *dest, const void *source, size_t nelems,            \
                                                   uint64_t *sig_addr, uint64_t signal, int sig_op, int pe); \
    ROCSHMEM_API void rocshmem_ctx_put##N##_signal_nbi(rocshmem_ctx_t ctx, void *dest, const void *source,   \
                                                       size_t nelems, uint64_t *sig_addr, uint64_t signal,   \
                                                       int sig_op, int pe);
ROCSHMEM_SIZES_(ROCSHMEM_DECLARE_)
#undef ROCSHMEM_DECLARE_
/** Set the 64-bit word sig_addr on pe to signal, or add signal to it; no data goes with it.
 *  sig_addr  symmetric, 8-byte aligned     signal  the value     pe  0 <= pe < rocshmem_n_pes()
 *  Local, blocking, atomic against every other operation on the word. Puts that this PE made before are not
 *  ordered with it by the specification: call fence, or use a put with signal. Errors: ARG (sig_addr, pe), STATE.
 *  Source: OpenSHMEM after 1.5, Signaling Operations. Since 0.2. */
ROCSHMEM_API void rocshmem_signal_set(uint64_t *sig_addr, uint64_t signal, int pe);
ROCSHMEM_API void rocshmem_signal_add(uint64_t *sig_addr, uint64_t signal, int pe);
/** The same two, on a context; pe is a number of the context's team. Errors besides: ARG (an unknown or invalid
 * context). Source: OpenSHMEM after 1.5, Signaling Operations. Since 0.2. */
ROCSHMEM_API void rocshmem_ctx_signal_set(rocshmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);
ROCSHMEM_API void rocshmem_ctx_signal_add(rocshmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);
/** Read this PE's own signal word. Local. Errors: ARG (not symmetric, not aligned), STATE -> handler, result
 * 0. Source: OpenSHMEM 1.5, Signaling Operations. Since 0.1. */
ROCSHMEM_API uint64_t rocshmem_signal_fetch(const uint64_t *sig_addr);
/** Wait until this PE's own signal word satisfies (word cmp cmp_value); returns the word that did.
 *  Local, blocking. Errors: ARG, PEER (a PE died), TIMEOUT, INTERRUPTED -> handler, returns the word as it
 *  is. Source: OpenSHMEM 1.5, Point-To-Point Synchronization. Since 0.1. */
ROCSHMEM_API uint64_t rocshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

/** For each type T of ROCSHMEM_SYNC_TYPES: wait until *ivar on this PE satisfies (value cmp cmp_value);
 * test asks once and returns 1 or 0. Compared as T. Errors as rocshmem_signal_wait_until. Source:
 * OpenSHMEM 1.5, Point-To-Point Synchronization. Since 0.1. */
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API void rocshmem_##name##_wait_until(T *ivar, int cmp, T cmp_value);                           \
    ROCSHMEM_API int rocshmem_##name##_test(T *ivar, int cmp, T cmp_value);
ROCSHMEM_SYNC_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_

/** Waits for, and tests of, arrays of words on this PE, for each type T of ROCSHMEM_SYNC_TYPES. The set is made of
 * the elements i < nelems whose status[i] is 0; the others are ignored. Element i is compared with cmp_value, in
 * the _vector forms with cmp_values[i].
 *  ivars   symmetric, aligned to sizeof(T), nelems elements inside one live allocation
 *  nelems  elements; with 0 nothing but cmp is looked at     status  nelems ints, or NULL: nothing is ignored
 *  cmp     ROCSHMEM_CMP_*, compared as T                     indices  room for nelems indices
 *  _wait_until_all   returns when each element of the set was seen to satisfy its comparison; at once when it is
 *                    empty
 *  _wait_until_any   returns the index of one that does, SIZE_MAX when the set is empty; the search begins behind the
 *                    one that this thread found last, so that none is passed over for ever
 *  _wait_until_some  returns how many do (at least one) and their indices, in rising order; 0 when the set is empty
 *  _test_all   1 when all of the set do, also when it is empty; else 0
 *  _test_any   the index of one that does, found as by _wait_until_any; SIZE_MAX when none does
 *  _test_some  how many do, and their indices; 0 when none does
 *  Local; waits block, tests do not. What came before the words' new values is visible afterwards. Errors: ARG,
 *  STATE, and of waits PEER (a PE died), TIMEOUT, INTERRUPTED -> handler; results then: all 0, any SIZE_MAX, some 0.
 *  Source: OpenSHMEM 1.5, Point-To-Point Synchronization. Since 0.2. */
#define ROCSHMEM_DECLARE_(name, T, ...)                                                                      \
    ROCSHMEM_API void rocshmem_##name##_wait_until_all(T *ivars, size_t nelems, const int *status, int cmp,  \
                                                       T cmp_value);                                         \
    ROCSHMEM_API size_t rocshmem_##name##_wait_until_any(T *ivars, size_t nelems, const int *status,         \
                                                         int cmp, T cmp_value);                              \
    ROCSHMEM_API size_t rocshmem_##name##_wait_until_some(T *ivars, size_t nelems, size_t *indices,          \
                                                          const int *status, int cmp, T cmp_value);          \
    ROCSHMEM_API void rocshmem_##name##_wait_until_all_vector(T *ivars, size_t nelems, const int *status,    \
                                                              int cmp, const T *cmp_values);                 \
    ROCSHMEM_API size_t rocshmem_##name##_wait_until_any_vector(T *ivars, size_t nelems, const int *status,  \
                                                                int cmp, const T *cmp_values);               \
    ROCSHMEM_API size_t rocshmem_##name##_wait_until_some_vector(                                            \
        T *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const T *cmp_values);          \
    ROCSHMEM_API int rocshmem_##name##_test_all(T *ivars, size_t nelems, const int *status, int cmp,         \
                                                T cmp_value);                                                \
    ROCSHMEM_API size_t rocshmem_##name##_test_any(T *ivars, size_t nelems, const int *status, int cmp,      \
                                                   T cmp_value);                                             \
    ROCSHMEM_API size_t rocshmem_##name##_test_some(T *ivars, size_t nelems, size_t *indices,                \
                                                    const int *status, int cmp, T cmp_value);                \
    ROCSHMEM_API int rocshmem_##name##_test_all_vector(T *ivars, size_t nelems, const int *status, int cmp,  \
                                                       const T *cmp_values);                                 \
    ROCSHMEM_API size_t rocshmem_##name##_test_any_vector(T *ivars, size_t nelems, const int *status,        \
                                                          int cmp, const T *cmp_values);                     \
    ROCSHMEM_API size_t rocshmem_##name##_test_some_vector(T *ivars, size_t nelems, size_t *indices,         \
                                                           const int *status, int cmp, const T *cmp_values);
ROCSHMEM_SYNC_TYPES(ROCSHMEM_DECLARE_, )
#undef ROCSHMEM_DECLARE_

#ifdef __cplusplus
}
} // namespace rocshmem
#endif
#endif
