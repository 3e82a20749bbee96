/* SPDX-License-Identifier: MIT
 *
 * What device code needs of a target: system-scope atomics and a pause. Three targets from one source:
 * nvptx64 (inline PTX for every ordered access: the builtins are wrong or missing there), amdgcn and the host
 * (the builtins, whose default scope is the system).
 */
#ifndef RS_DEVICE_KERNELS_RS_KERNEL_H
#define RS_DEVICE_KERNELS_RS_KERNEL_H

#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

#if defined(__NVPTX__)

#define LOAD_(T, bits)                                                                                       \
    INLINE T load_##T(const T *p)                                                                            \
    {                                                                                                        \
        T v;                                                                                                 \
        __asm__ volatile("ld.acquire.sys.u" #bits " %0,[%1];" : "=" REG_##bits(v) : "l"(p) : "memory");      \
        return v;                                                                                            \
    }                                                                                                        \
    INLINE void store_##T(T *p, T v)                                                                         \
    {                                                                                                        \
        __asm__ volatile("st.release.sys.u" #bits " [%0],%1;" ::"l"(p), REG_##bits(v) : "memory");           \
    }
#define ATOMIC_(T, bits, name, instruction)                                                                  \
    INLINE T name##_##T(T *p, T v)                                                                           \
    {                                                                                                        \
        T old;                                                                                               \
        __asm__ volatile("atom." instruction " %0,[%1],%2;"                                                  \
                         : "=" REG_##bits(old)                                                               \
                         : "l"(p), REG_##bits(v)                                                             \
                         : "memory");                                                                        \
        return old;                                                                                          \
    }
#define CAS_(T, bits)                                                                                        \
    INLINE T cas_##T(T *p, T cond, T v)                                                                      \
    {                                                                                                        \
        T old;                                                                                               \
        __asm__ volatile("atom.cas.acq_rel.sys.b" #bits " %0,[%1],%2,%3;"                                    \
                         : "=" REG_##bits(old)                                                               \
                         : "l"(p), REG_##bits(cond), REG_##bits(v)                                           \
                         : "memory");                                                                        \
        return old;                                                                                          \
    }
#define REG_32 "r"
#define REG_64 "l"
#define WORD_(T, bits)                                                                                       \
    LOAD_(T, bits)                                                                                           \
    CAS_(T, bits)                                                                                            \
    ATOMIC_(T, bits, swap, "exch.acq_rel.sys.b" #bits)                                                       \
    ATOMIC_(T, bits, add, "add.acq_rel.sys.u" #bits)                                                         \
    ATOMIC_(T, bits, and, "and.acq_rel.sys.b" #bits)                                                         \
    ATOMIC_(T, bits, or, "or.acq_rel.sys.b" #bits)                                                           \
    ATOMIC_(T, bits, xor, "xor.acq_rel.sys.b" #bits)
INLINE void pause_briefly(void)
{
    __asm__ volatile("nanosleep.u32 20;");
}
INLINE uint32_t thread_index(void)
{
    uint32_t index;
    __asm__("mov.u32 %0, %%tid.x;" : "=r"(index));
    return index;
}
/* Of all blocks. */
INLINE uint64_t global_index(void)
{
    uint32_t block, threads;
    __asm__("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    __asm__("mov.u32 %0, %%ntid.x;" : "=r"(threads));
    return (uint64_t)block * threads + thread_index();
}
INLINE uint64_t global_size(void)
{
    uint32_t blocks, threads;
    __asm__("mov.u32 %0, %%nctaid.x;" : "=r"(blocks));
    __asm__("mov.u32 %0, %%ntid.x;" : "=r"(threads));
    return (uint64_t)blocks * threads;
}

#else

#define WORD_(T, bits)                                                                                       \
    INLINE T load_##T(const T *p)                                                                            \
    {                                                                                                        \
        return __atomic_load_n(p, __ATOMIC_ACQUIRE);                                                         \
    }                                                                                                        \
    INLINE void store_##T(T *p, T v)                                                                         \
    {                                                                                                        \
        __atomic_store_n(p, v, __ATOMIC_RELEASE);                                                            \
    }                                                                                                        \
    INLINE T cas_##T(T *p, T cond, T v)                                                                      \
    {                                                                                                        \
        __atomic_compare_exchange_n(p, &cond, v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);                     \
        return cond;                                                                                         \
    }                                                                                                        \
    INLINE T swap_##T(T *p, T v)                                                                             \
    {                                                                                                        \
        return __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL);                                                  \
    }                                                                                                        \
    INLINE T add_##T(T *p, T v)                                                                              \
    {                                                                                                        \
        return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);                                                   \
    }                                                                                                        \
    INLINE T and_##T(T *p, T v)                                                                              \
    {                                                                                                        \
        return __atomic_fetch_and(p, v, __ATOMIC_ACQ_REL);                                                   \
    }                                                                                                        \
    INLINE T or_##T(T *p, T v)                                                                               \
    {                                                                                                        \
        return __atomic_fetch_or(p, v, __ATOMIC_ACQ_REL);                                                    \
    }                                                                                                        \
    INLINE T xor_##T(T *p, T v)                                                                              \
    {                                                                                                        \
        return __atomic_fetch_xor(p, v, __ATOMIC_ACQ_REL);                                                   \
    }
#ifdef RS_KERNEL_PAUSE
void RS_KERNEL_PAUSE(void);
#endif
INLINE void pause_briefly(void)
{
#if defined(__AMDGCN__)
    __builtin_amdgcn_s_sleep(1);
#elif defined(RS_KERNEL_PAUSE) /* the test drivers: PEs may outnumber the cores */
    RS_KERNEL_PAUSE();
#elif defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

INLINE uint32_t thread_index(void)
{
#if defined(__AMDGCN__)
    return __builtin_amdgcn_workitem_id_x();
#else
    return 0; /* the test drivers call once for each thread, with a request each */
#endif
}
#define RS_KERNEL_THREADS 256 /* of a block of many, for AMD */
INLINE uint64_t global_index(void)
{
#if defined(__AMDGCN__)
    return (uint64_t)__builtin_amdgcn_workgroup_id_x() * RS_KERNEL_THREADS + thread_index();
#else
    return 0;
#endif
}
INLINE uint64_t global_size(void)
{
#if defined(__AMDGCN__)
    return (uint64_t)__builtin_amdgcn_grid_size_x();
#else
    return 1;
#endif
}

#endif

WORD_(uint32_t, 32)
WORD_(uint64_t, 64)

#endif
