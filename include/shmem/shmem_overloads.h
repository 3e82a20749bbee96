/* SPDX-License-Identifier: MIT
 *
 * The type-generic names of OpenSHMEM 1.5 for C++: what shmem_generic.h is for C11, as overloaded functions. The
 * specification asks for them in C11 only; C++ programs that use them exist.
 */
#ifndef SHMEM_OVERLOADS_H
#define SHMEM_OVERLOADS_H

#include "../shmem.h" /* which includes this file at its end */

#ifdef __cplusplus

extern "C++" {

/* Each type once: the fixed-width types, size_t and ptrdiff_t are other names of these. */
/* clang-format off */
#define SHMEM_EACH_INTEGER_(X)               \
    X(int,       int)                        \
    X(longlong,  long long)                  \
    X(uint,      unsigned int)               \
    X(ulong,     unsigned long)              \
    X(ulonglong, unsigned long long)         \
    X(long,      long)
#define SHMEM_EACH_AMO_(X)                   \
    SHMEM_EACH_INTEGER_(X)                   \
    X(float,     float)                      \
    X(double,    double)
#define SHMEM_EACH_BITWISE_(X)               \
    X(int32,     int32_t)                    \
    X(int64,     int64_t)                    \
    X(uint,      unsigned int)               \
    X(ulong,     unsigned long)              \
    X(ulonglong, unsigned long long)
#define SHMEM_EACH_LOGIC_(X)                 \
    SHMEM_EACH_BITWISE_(X)                   \
    X(int8,      int8_t)                     \
    X(int16,     int16_t)                    \
    X(uchar,     unsigned char)              \
    X(ushort,    unsigned short)
#define SHMEM_EACH_SYNC_(X)                  \
    SHMEM_EACH_INTEGER_(X)                   \
    X(short,     short)                      \
    X(ushort,    unsigned short)
#define SHMEM_EACH_RMA_(X)                   \
    SHMEM_EACH_AMO_(X)                       \
    X(char,      char)                       \
    X(schar,     signed char)                \
    X(uchar,     unsigned char)              \
    X(short,     short)                      \
    X(ushort,    unsigned short)             \
    X(longdouble, long double)
/* clang-format on */

/* ---- transfers ---- */

#define SHMEM_OVERLOAD_(name, T)                                                                             \
    inline void shmem_put(T *dest, const T *source, size_t nelems, int pe)                                   \
    {                                                                                                        \
        shmem_##name##_put(dest, source, nelems, pe);                                                        \
    }                                                                                                        \
    inline void shmem_put(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe)                  \
    {                                                                                                        \
        shmem_ctx_##name##_put(ctx, dest, source, nelems, pe);                                               \
    }                                                                                                        \
    inline void shmem_get(T *dest, const T *source, size_t nelems, int pe)                                   \
    {                                                                                                        \
        shmem_##name##_get(dest, source, nelems, pe);                                                        \
    }                                                                                                        \
    inline void shmem_get(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe)                  \
    {                                                                                                        \
        shmem_ctx_##name##_get(ctx, dest, source, nelems, pe);                                               \
    }                                                                                                        \
    inline void shmem_put_nbi(T *dest, const T *source, size_t nelems, int pe)                               \
    {                                                                                                        \
        shmem_##name##_put_nbi(dest, source, nelems, pe);                                                    \
    }                                                                                                        \
    inline void shmem_put_nbi(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe)              \
    {                                                                                                        \
        shmem_ctx_##name##_put_nbi(ctx, dest, source, nelems, pe);                                           \
    }                                                                                                        \
    inline void shmem_get_nbi(T *dest, const T *source, size_t nelems, int pe)                               \
    {                                                                                                        \
        shmem_##name##_get_nbi(dest, source, nelems, pe);                                                    \
    }                                                                                                        \
    inline void shmem_get_nbi(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe)              \
    {                                                                                                        \
        shmem_ctx_##name##_get_nbi(ctx, dest, source, nelems, pe);                                           \
    }                                                                                                        \
    inline void shmem_iput(T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)    \
    {                                                                                                        \
        shmem_##name##_iput(dest, source, dst, sst, nelems, pe);                                             \
    }                                                                                                        \
    inline void shmem_iput(shmem_ctx_t ctx, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,          \
                           size_t nelems, int pe)                                                            \
    {                                                                                                        \
        shmem_ctx_##name##_iput(ctx, dest, source, dst, sst, nelems, pe);                                    \
    }                                                                                                        \
    inline void shmem_iget(T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)    \
    {                                                                                                        \
        shmem_##name##_iget(dest, source, dst, sst, nelems, pe);                                             \
    }                                                                                                        \
    inline void shmem_iget(shmem_ctx_t ctx, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,          \
                           size_t nelems, int pe)                                                            \
    {                                                                                                        \
        shmem_ctx_##name##_iget(ctx, dest, source, dst, sst, nelems, pe);                                    \
    }                                                                                                        \
    inline void shmem_p(T *dest, T value, int pe)                                                            \
    {                                                                                                        \
        shmem_##name##_p(dest, value, pe);                                                                   \
    }                                                                                                        \
    inline void shmem_p(shmem_ctx_t ctx, T *dest, T value, int pe)                                           \
    {                                                                                                        \
        shmem_ctx_##name##_p(ctx, dest, value, pe);                                                          \
    }                                                                                                        \
    inline T shmem_g(const T *source, int pe)                                                                \
    {                                                                                                        \
        return shmem_##name##_g(source, pe);                                                                 \
    }                                                                                                        \
    inline T shmem_g(shmem_ctx_t ctx, const T *source, int pe)                                               \
    {                                                                                                        \
        return shmem_ctx_##name##_g(ctx, source, pe);                                                        \
    }                                                                                                        \
    inline void shmem_put_signal(T *dest, const T *source, size_t nelems, uint64_t *sig_addr,                \
                                 uint64_t signal, int sig_op, int pe)                                        \
    {                                                                                                        \
        shmem_##name##_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe);                       \
    }                                                                                                        \
    inline void shmem_put_signal(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems,                   \
                                 uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)                    \
    {                                                                                                        \
        shmem_ctx_##name##_put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe);              \
    }                                                                                                        \
    inline void shmem_put_signal_nbi(T *dest, const T *source, size_t nelems, uint64_t *sig_addr,            \
                                     uint64_t signal, int sig_op, int pe)                                    \
    {                                                                                                        \
        shmem_##name##_put_signal_nbi(dest, source, nelems, sig_addr, signal, sig_op, pe);                   \
    }                                                                                                        \
    inline void shmem_put_signal_nbi(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems,               \
                                     uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)                \
    {                                                                                                        \
        shmem_ctx_##name##_put_signal_nbi(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe);          \
    }
SHMEM_EACH_RMA_(SHMEM_OVERLOAD_)
#undef SHMEM_OVERLOAD_

/* ---- atomics; the short names are deprecated ---- */

#define SHMEM_OVERLOAD_(name, T)                                                                             \
    inline T shmem_atomic_fetch(const T *source, int pe)                                                     \
    {                                                                                                        \
        return shmem_##name##_atomic_fetch(source, pe);                                                      \
    }                                                                                                        \
    inline T shmem_atomic_fetch(shmem_ctx_t ctx, const T *source, int pe)                                    \
    {                                                                                                        \
        return shmem_ctx_##name##_atomic_fetch(ctx, source, pe);                                             \
    }                                                                                                        \
    inline void shmem_atomic_set(T *dest, T value, int pe)                                                   \
    {                                                                                                        \
        shmem_##name##_atomic_set(dest, value, pe);                                                          \
    }                                                                                                        \
    inline void shmem_atomic_set(shmem_ctx_t ctx, T *dest, T value, int pe)                                  \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_set(ctx, dest, value, pe);                                                 \
    }                                                                                                        \
    inline T shmem_atomic_swap(T *dest, T value, int pe)                                                     \
    {                                                                                                        \
        return shmem_##name##_atomic_swap(dest, value, pe);                                                  \
    }                                                                                                        \
    inline T shmem_atomic_swap(shmem_ctx_t ctx, T *dest, T value, int pe)                                    \
    {                                                                                                        \
        return shmem_ctx_##name##_atomic_swap(ctx, dest, value, pe);                                         \
    }                                                                                                        \
    inline void shmem_atomic_fetch_nbi(T *fetch, const T *source, int pe)                                    \
    {                                                                                                        \
        shmem_##name##_atomic_fetch_nbi(fetch, source, pe);                                                  \
    }                                                                                                        \
    inline void shmem_atomic_fetch_nbi(shmem_ctx_t ctx, T *fetch, const T *source, int pe)                   \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_fetch_nbi(ctx, fetch, source, pe);                                         \
    }                                                                                                        \
    inline void shmem_atomic_swap_nbi(T *fetch, T *dest, T value, int pe)                                    \
    {                                                                                                        \
        shmem_##name##_atomic_swap_nbi(fetch, dest, value, pe);                                              \
    }                                                                                                        \
    inline void shmem_atomic_swap_nbi(shmem_ctx_t ctx, T *fetch, T *dest, T value, int pe)                   \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_swap_nbi(ctx, fetch, dest, value, pe);                                     \
    }                                                                                                        \
    inline T shmem_fetch(const T *source, int pe)                                                            \
    {                                                                                                        \
        return shmem_##name##_atomic_fetch(source, pe);                                                      \
    }                                                                                                        \
    inline void shmem_set(T *dest, T value, int pe)                                                          \
    {                                                                                                        \
        shmem_##name##_atomic_set(dest, value, pe);                                                          \
    }                                                                                                        \
    inline T shmem_swap(T *dest, T value, int pe)                                                            \
    {                                                                                                        \
        return shmem_##name##_atomic_swap(dest, value, pe);                                                  \
    }
SHMEM_EACH_AMO_(SHMEM_OVERLOAD_)
#undef SHMEM_OVERLOAD_

#define SHMEM_OVERLOAD_(name, T)                                                                             \
    inline T shmem_atomic_compare_swap(T *dest, T cond, T value, int pe)                                     \
    {                                                                                                        \
        return shmem_##name##_atomic_compare_swap(dest, cond, value, pe);                                    \
    }                                                                                                        \
    inline T shmem_atomic_compare_swap(shmem_ctx_t ctx, T *dest, T cond, T value, int pe)                    \
    {                                                                                                        \
        return shmem_ctx_##name##_atomic_compare_swap(ctx, dest, cond, value, pe);                           \
    }                                                                                                        \
    inline T shmem_atomic_fetch_inc(T *dest, int pe)                                                         \
    {                                                                                                        \
        return shmem_##name##_atomic_fetch_inc(dest, pe);                                                    \
    }                                                                                                        \
    inline T shmem_atomic_fetch_inc(shmem_ctx_t ctx, T *dest, int pe)                                        \
    {                                                                                                        \
        return shmem_ctx_##name##_atomic_fetch_inc(ctx, dest, pe);                                           \
    }                                                                                                        \
    inline void shmem_atomic_inc(T *dest, int pe)                                                            \
    {                                                                                                        \
        shmem_##name##_atomic_inc(dest, pe);                                                                 \
    }                                                                                                        \
    inline void shmem_atomic_inc(shmem_ctx_t ctx, T *dest, int pe)                                           \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_inc(ctx, dest, pe);                                                        \
    }                                                                                                        \
    inline T shmem_atomic_fetch_add(T *dest, T value, int pe)                                                \
    {                                                                                                        \
        return shmem_##name##_atomic_fetch_add(dest, value, pe);                                             \
    }                                                                                                        \
    inline T shmem_atomic_fetch_add(shmem_ctx_t ctx, T *dest, T value, int pe)                               \
    {                                                                                                        \
        return shmem_ctx_##name##_atomic_fetch_add(ctx, dest, value, pe);                                    \
    }                                                                                                        \
    inline void shmem_atomic_add(T *dest, T value, int pe)                                                   \
    {                                                                                                        \
        shmem_##name##_atomic_add(dest, value, pe);                                                          \
    }                                                                                                        \
    inline void shmem_atomic_add(shmem_ctx_t ctx, T *dest, T value, int pe)                                  \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_add(ctx, dest, value, pe);                                                 \
    }                                                                                                        \
    inline void shmem_atomic_compare_swap_nbi(T *fetch, T *dest, T cond, T value, int pe)                    \
    {                                                                                                        \
        shmem_##name##_atomic_compare_swap_nbi(fetch, dest, cond, value, pe);                                \
    }                                                                                                        \
    inline void shmem_atomic_compare_swap_nbi(shmem_ctx_t ctx, T *fetch, T *dest, T cond, T value, int pe)   \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_compare_swap_nbi(ctx, fetch, dest, cond, value, pe);                       \
    }                                                                                                        \
    inline void shmem_atomic_fetch_inc_nbi(T *fetch, T *dest, int pe)                                        \
    {                                                                                                        \
        shmem_##name##_atomic_fetch_inc_nbi(fetch, dest, pe);                                                \
    }                                                                                                        \
    inline void shmem_atomic_fetch_inc_nbi(shmem_ctx_t ctx, T *fetch, T *dest, int pe)                       \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_fetch_inc_nbi(ctx, fetch, dest, pe);                                       \
    }                                                                                                        \
    inline void shmem_atomic_fetch_add_nbi(T *fetch, T *dest, T value, int pe)                               \
    {                                                                                                        \
        shmem_##name##_atomic_fetch_add_nbi(fetch, dest, value, pe);                                         \
    }                                                                                                        \
    inline void shmem_atomic_fetch_add_nbi(shmem_ctx_t ctx, T *fetch, T *dest, T value, int pe)              \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_fetch_add_nbi(ctx, fetch, dest, value, pe);                                \
    }                                                                                                        \
    inline T shmem_cswap(T *dest, T cond, T value, int pe)                                                   \
    {                                                                                                        \
        return shmem_##name##_atomic_compare_swap(dest, cond, value, pe);                                    \
    }                                                                                                        \
    inline T shmem_finc(T *dest, int pe)                                                                     \
    {                                                                                                        \
        return shmem_##name##_atomic_fetch_inc(dest, pe);                                                    \
    }                                                                                                        \
    inline void shmem_inc(T *dest, int pe)                                                                   \
    {                                                                                                        \
        shmem_##name##_atomic_inc(dest, pe);                                                                 \
    }                                                                                                        \
    inline T shmem_fadd(T *dest, T value, int pe)                                                            \
    {                                                                                                        \
        return shmem_##name##_atomic_fetch_add(dest, value, pe);                                             \
    }                                                                                                        \
    inline void shmem_add(T *dest, T value, int pe)                                                          \
    {                                                                                                        \
        shmem_##name##_atomic_add(dest, value, pe);                                                          \
    }
SHMEM_EACH_INTEGER_(SHMEM_OVERLOAD_)
#undef SHMEM_OVERLOAD_

#define SHMEM_OVERLOAD_(name, T)                                                                             \
    inline T shmem_atomic_fetch_and(T *dest, T value, int pe)                                                \
    {                                                                                                        \
        return shmem_##name##_atomic_fetch_and(dest, value, pe);                                             \
    }                                                                                                        \
    inline T shmem_atomic_fetch_and(shmem_ctx_t ctx, T *dest, T value, int pe)                               \
    {                                                                                                        \
        return shmem_ctx_##name##_atomic_fetch_and(ctx, dest, value, pe);                                    \
    }                                                                                                        \
    inline void shmem_atomic_and(T *dest, T value, int pe)                                                   \
    {                                                                                                        \
        shmem_##name##_atomic_and(dest, value, pe);                                                          \
    }                                                                                                        \
    inline void shmem_atomic_and(shmem_ctx_t ctx, T *dest, T value, int pe)                                  \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_and(ctx, dest, value, pe);                                                 \
    }                                                                                                        \
    inline void shmem_atomic_fetch_and_nbi(T *fetch, T *dest, T value, int pe)                               \
    {                                                                                                        \
        shmem_##name##_atomic_fetch_and_nbi(fetch, dest, value, pe);                                         \
    }                                                                                                        \
    inline void shmem_atomic_fetch_and_nbi(shmem_ctx_t ctx, T *fetch, T *dest, T value, int pe)              \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_fetch_and_nbi(ctx, fetch, dest, value, pe);                                \
    }                                                                                                        \
    inline T shmem_atomic_fetch_or(T *dest, T value, int pe)                                                 \
    {                                                                                                        \
        return shmem_##name##_atomic_fetch_or(dest, value, pe);                                              \
    }                                                                                                        \
    inline T shmem_atomic_fetch_or(shmem_ctx_t ctx, T *dest, T value, int pe)                                \
    {                                                                                                        \
        return shmem_ctx_##name##_atomic_fetch_or(ctx, dest, value, pe);                                     \
    }                                                                                                        \
    inline void shmem_atomic_or(T *dest, T value, int pe)                                                    \
    {                                                                                                        \
        shmem_##name##_atomic_or(dest, value, pe);                                                           \
    }                                                                                                        \
    inline void shmem_atomic_or(shmem_ctx_t ctx, T *dest, T value, int pe)                                   \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_or(ctx, dest, value, pe);                                                  \
    }                                                                                                        \
    inline void shmem_atomic_fetch_or_nbi(T *fetch, T *dest, T value, int pe)                                \
    {                                                                                                        \
        shmem_##name##_atomic_fetch_or_nbi(fetch, dest, value, pe);                                          \
    }                                                                                                        \
    inline void shmem_atomic_fetch_or_nbi(shmem_ctx_t ctx, T *fetch, T *dest, T value, int pe)               \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_fetch_or_nbi(ctx, fetch, dest, value, pe);                                 \
    }                                                                                                        \
    inline T shmem_atomic_fetch_xor(T *dest, T value, int pe)                                                \
    {                                                                                                        \
        return shmem_##name##_atomic_fetch_xor(dest, value, pe);                                             \
    }                                                                                                        \
    inline T shmem_atomic_fetch_xor(shmem_ctx_t ctx, T *dest, T value, int pe)                               \
    {                                                                                                        \
        return shmem_ctx_##name##_atomic_fetch_xor(ctx, dest, value, pe);                                    \
    }                                                                                                        \
    inline void shmem_atomic_xor(T *dest, T value, int pe)                                                   \
    {                                                                                                        \
        shmem_##name##_atomic_xor(dest, value, pe);                                                          \
    }                                                                                                        \
    inline void shmem_atomic_xor(shmem_ctx_t ctx, T *dest, T value, int pe)                                  \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_xor(ctx, dest, value, pe);                                                 \
    }                                                                                                        \
    inline void shmem_atomic_fetch_xor_nbi(T *fetch, T *dest, T value, int pe)                               \
    {                                                                                                        \
        shmem_##name##_atomic_fetch_xor_nbi(fetch, dest, value, pe);                                         \
    }                                                                                                        \
    inline void shmem_atomic_fetch_xor_nbi(shmem_ctx_t ctx, T *fetch, T *dest, T value, int pe)              \
    {                                                                                                        \
        shmem_ctx_##name##_atomic_fetch_xor_nbi(ctx, fetch, dest, value, pe);                                \
    }
SHMEM_EACH_BITWISE_(SHMEM_OVERLOAD_)
#undef SHMEM_OVERLOAD_

/* ---- collectives ---- */

#define SHMEM_OVERLOAD_(name, T)                                                                             \
    inline int shmem_broadcast(shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root)      \
    {                                                                                                        \
        return shmem_##name##_broadcast(team, dest, source, nelems, PE_root);                                \
    }                                                                                                        \
    inline int shmem_alltoall(shmem_team_t team, T *dest, const T *source, size_t nelems)                    \
    {                                                                                                        \
        return shmem_##name##_alltoall(team, dest, source, nelems);                                          \
    }                                                                                                        \
    inline int shmem_collect(shmem_team_t team, T *dest, const T *source, size_t nelems)                     \
    {                                                                                                        \
        return shmem_##name##_collect(team, dest, source, nelems);                                           \
    }                                                                                                        \
    inline int shmem_fcollect(shmem_team_t team, T *dest, const T *source, size_t nelems)                    \
    {                                                                                                        \
        return shmem_##name##_fcollect(team, dest, source, nelems);                                          \
    }                                                                                                        \
    inline int shmem_alltoalls(shmem_team_t team, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,    \
                               size_t nelems)                                                                \
    {                                                                                                        \
        return shmem_##name##_alltoalls(team, dest, source, dst, sst, nelems);                               \
    }                                                                                                        \
    inline int shmem_min_reduce(shmem_team_t team, T *dest, const T *source, size_t nreduce)                 \
    {                                                                                                        \
        return shmem_##name##_min_reduce(team, dest, source, nreduce);                                       \
    }                                                                                                        \
    inline int shmem_max_reduce(shmem_team_t team, T *dest, const T *source, size_t nreduce)                 \
    {                                                                                                        \
        return shmem_##name##_max_reduce(team, dest, source, nreduce);                                       \
    }                                                                                                        \
    inline int shmem_sum_reduce(shmem_team_t team, T *dest, const T *source, size_t nreduce)                 \
    {                                                                                                        \
        return shmem_##name##_sum_reduce(team, dest, source, nreduce);                                       \
    }                                                                                                        \
    inline int shmem_prod_reduce(shmem_team_t team, T *dest, const T *source, size_t nreduce)                \
    {                                                                                                        \
        return shmem_##name##_prod_reduce(team, dest, source, nreduce);                                      \
    }
SHMEM_EACH_RMA_(SHMEM_OVERLOAD_)
#undef SHMEM_OVERLOAD_

#define SHMEM_OVERLOAD_(name, T)                                                                             \
    inline int shmem_and_reduce(shmem_team_t team, T *dest, const T *source, size_t nreduce)                 \
    {                                                                                                        \
        return shmem_##name##_and_reduce(team, dest, source, nreduce);                                       \
    }                                                                                                        \
    inline int shmem_or_reduce(shmem_team_t team, T *dest, const T *source, size_t nreduce)                  \
    {                                                                                                        \
        return shmem_##name##_or_reduce(team, dest, source, nreduce);                                        \
    }                                                                                                        \
    inline int shmem_xor_reduce(shmem_team_t team, T *dest, const T *source, size_t nreduce)                 \
    {                                                                                                        \
        return shmem_##name##_xor_reduce(team, dest, source, nreduce);                                       \
    }
SHMEM_EACH_LOGIC_(SHMEM_OVERLOAD_)
#undef SHMEM_OVERLOAD_

SHMEM_EXTENSION_ inline int shmem_sum_reduce(shmem_team_t team, float _Complex *dest,
                                             const float _Complex *source, size_t nreduce)
{
    return shmem_complexf_sum_reduce(team, dest, source, nreduce);
}
SHMEM_EXTENSION_ inline int shmem_sum_reduce(shmem_team_t team, double _Complex *dest,
                                             const double _Complex *source, size_t nreduce)
{
    return shmem_complexd_sum_reduce(team, dest, source, nreduce);
}
SHMEM_EXTENSION_ inline int shmem_prod_reduce(shmem_team_t team, float _Complex *dest,
                                              const float _Complex *source, size_t nreduce)
{
    return shmem_complexf_prod_reduce(team, dest, source, nreduce);
}
SHMEM_EXTENSION_ inline int shmem_prod_reduce(shmem_team_t team, double _Complex *dest,
                                              const double _Complex *source, size_t nreduce)
{
    return shmem_complexd_prod_reduce(team, dest, source, nreduce);
}

/* Beside the deprecated function of this name, which has four arguments. */
inline int shmem_sync(shmem_team_t team)
{
    return shmem_team_sync(team);
}

/* ---- waits and tests ---- */

#define SHMEM_OVERLOAD_(name, T)                                                                             \
    inline void shmem_wait_until_all(T *ivars, size_t nelems, const int *status, int cmp, T cmp_value)       \
    {                                                                                                        \
        shmem_##name##_wait_until_all(ivars, nelems, status, cmp, cmp_value);                                \
    }                                                                                                        \
    inline size_t shmem_wait_until_any(T *ivars, size_t nelems, const int *status, int cmp, T cmp_value)     \
    {                                                                                                        \
        return shmem_##name##_wait_until_any(ivars, nelems, status, cmp, cmp_value);                         \
    }                                                                                                        \
    inline size_t shmem_wait_until_some(T *ivars, size_t nelems, size_t *indices, const int *status,         \
                                        int cmp, T cmp_value)                                                \
    {                                                                                                        \
        return shmem_##name##_wait_until_some(ivars, nelems, indices, status, cmp, cmp_value);               \
    }                                                                                                        \
    inline void shmem_wait_until_all_vector(T *ivars, size_t nelems, const int *status, int cmp,             \
                                            const T *cmp_values)                                             \
    {                                                                                                        \
        shmem_##name##_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values);                        \
    }                                                                                                        \
    inline size_t shmem_wait_until_any_vector(T *ivars, size_t nelems, const int *status, int cmp,           \
                                              const T *cmp_values)                                           \
    {                                                                                                        \
        return shmem_##name##_wait_until_any_vector(ivars, nelems, status, cmp, cmp_values);                 \
    }                                                                                                        \
    inline size_t shmem_wait_until_some_vector(T *ivars, size_t nelems, size_t *indices, const int *status,  \
                                               int cmp, const T *cmp_values)                                 \
    {                                                                                                        \
        return shmem_##name##_wait_until_some_vector(ivars, nelems, indices, status, cmp, cmp_values);       \
    }                                                                                                        \
    inline int shmem_test_all(T *ivars, size_t nelems, const int *status, int cmp, T cmp_value)              \
    {                                                                                                        \
        return shmem_##name##_test_all(ivars, nelems, status, cmp, cmp_value);                               \
    }                                                                                                        \
    inline size_t shmem_test_any(T *ivars, size_t nelems, const int *status, int cmp, T cmp_value)           \
    {                                                                                                        \
        return shmem_##name##_test_any(ivars, nelems, status, cmp, cmp_value);                               \
    }                                                                                                        \
    inline size_t shmem_test_some(T *ivars, size_t nelems, size_t *indices, const int *status, int cmp,      \
                                  T cmp_value)                                                               \
    {                                                                                                        \
        return shmem_##name##_test_some(ivars, nelems, indices, status, cmp, cmp_value);                     \
    }                                                                                                        \
    inline int shmem_test_all_vector(T *ivars, size_t nelems, const int *status, int cmp,                    \
                                     const T *cmp_values)                                                    \
    {                                                                                                        \
        return shmem_##name##_test_all_vector(ivars, nelems, status, cmp, cmp_values);                       \
    }                                                                                                        \
    inline size_t shmem_test_any_vector(T *ivars, size_t nelems, const int *status, int cmp,                 \
                                        const T *cmp_values)                                                 \
    {                                                                                                        \
        return shmem_##name##_test_any_vector(ivars, nelems, status, cmp, cmp_values);                       \
    }                                                                                                        \
    inline size_t shmem_test_some_vector(T *ivars, size_t nelems, size_t *indices, const int *status,        \
                                         int cmp, const T *cmp_values)                                       \
    {                                                                                                        \
        return shmem_##name##_test_some_vector(ivars, nelems, indices, status, cmp, cmp_values);             \
    }                                                                                                        \
    inline int shmem_test(T *ivar, int cmp, T cmp_value)                                                     \
    {                                                                                                        \
        return shmem_##name##_test(ivar, cmp, cmp_value);                                                    \
    }
SHMEM_EACH_SYNC_(SHMEM_OVERLOAD_)
#undef SHMEM_OVERLOAD_

/* Not for long: the deprecated function of this name is that. */
#define SHMEM_OVERLOAD_(name, T)                                                                             \
    inline void shmem_wait_until(T *ivar, int cmp, T cmp_value)                                              \
    {                                                                                                        \
        shmem_##name##_wait_until(ivar, cmp, cmp_value);                                                     \
    }
SHMEM_OVERLOAD_(short, short)
SHMEM_OVERLOAD_(int, int)
SHMEM_OVERLOAD_(longlong, long long)
SHMEM_OVERLOAD_(ushort, unsigned short)
SHMEM_OVERLOAD_(uint, unsigned int)
SHMEM_OVERLOAD_(ulong, unsigned long)
SHMEM_OVERLOAD_(ulonglong, unsigned long long)
#undef SHMEM_OVERLOAD_

/* ---- flags and locks that are declared volatile, as the specification did before 1.4 ---- */

#define SHMEM_OVERLOAD_(name, T)                                                                             \
    inline void shmem_##name##_wait_until(volatile T *ivar, int cmp, T cmp_value)                            \
    {                                                                                                        \
        shmem_##name##_wait_until(const_cast<T *>(ivar), cmp, cmp_value);                                    \
    }                                                                                                        \
    inline int shmem_##name##_test(volatile T *ivar, int cmp, T cmp_value)                                   \
    {                                                                                                        \
        return shmem_##name##_test(const_cast<T *>(ivar), cmp, cmp_value);                                   \
    }                                                                                                        \
    inline void shmem_wait_until(volatile T *ivar, int cmp, T cmp_value)                                     \
    {                                                                                                        \
        shmem_##name##_wait_until(const_cast<T *>(ivar), cmp, cmp_value);                                    \
    }                                                                                                        \
    inline int shmem_test(volatile T *ivar, int cmp, T cmp_value)                                            \
    {                                                                                                        \
        return shmem_##name##_test(const_cast<T *>(ivar), cmp, cmp_value);                                   \
    }
SHMEM_EACH_SYNC_(SHMEM_OVERLOAD_)
#undef SHMEM_OVERLOAD_

#define SHMEM_OVERLOAD_(name, T)                                                                             \
    inline void shmem_##name(volatile T *ivar, T cmp_value)                                                  \
    {                                                                                                        \
        shmem_##name(const_cast<T *>(ivar), cmp_value);                                                      \
    }
SHMEM_OVERLOAD_(wait, long)
SHMEM_OVERLOAD_(long_wait, long)
SHMEM_OVERLOAD_(int_wait, int)
SHMEM_OVERLOAD_(short_wait, short)
SHMEM_OVERLOAD_(longlong_wait, long long)
#undef SHMEM_OVERLOAD_

inline void shmem_set_lock(volatile long *lock)
{
    shmem_set_lock(const_cast<long *>(lock));
}

inline void shmem_clear_lock(volatile long *lock)
{
    shmem_clear_lock(const_cast<long *>(lock));
}

inline int shmem_test_lock(volatile long *lock)
{
    return shmem_test_lock(const_cast<long *>(lock));
}

#undef SHMEM_EACH_INTEGER_
#undef SHMEM_EACH_AMO_
#undef SHMEM_EACH_BITWISE_
#undef SHMEM_EACH_LOGIC_
#undef SHMEM_EACH_SYNC_
#undef SHMEM_EACH_RMA_

} /* extern "C++" */

#endif

#endif
