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

#ifdef __cplusplus
}
} // namespace rocshmem
#endif
#endif
