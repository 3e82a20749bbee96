/* SPDX-License-Identifier: MIT
 *
 * The OpenSHMEM names that shmem_bench.c calls, over the rocshmem_ ones: only renaming, so both sides of a
 * comparison run the same loops. Compiled with BENCH_ROCSHMEM defined; without it <shmem.h> of the peer is
 * taken, and what a peer of OpenSHMEM 1.4 lacks is spelt in its closest form here (BENCH_FORM_* says which,
 * and travels into the results).
 */
#ifndef ROCSHMEM_BENCH_SHMEM_COMPAT_H
#define ROCSHMEM_BENCH_SHMEM_COMPAT_H

#include <stdint.h>

#ifdef BENCH_ROCSHMEM

#include <rocshmem/rocshmem.h>

#define BENCH_LIBRARY "rocshmem"
#define SHMEM_CMP_GE ROCSHMEM_CMP_GE
#define SHMEM_SIGNAL_SET ROCSHMEM_SIGNAL_SET
typedef rocshmem_ctx_t shmem_ctx_t;

#define shmem_init rocshmem_init
#define shmem_finalize rocshmem_finalize
#define shmem_my_pe rocshmem_my_pe
#define shmem_n_pes rocshmem_n_pes
#define shmem_global_exit rocshmem_global_exit
#define shmem_malloc rocshmem_malloc
#define shmem_free rocshmem_free
#define shmem_ptr rocshmem_ptr
#define shmem_putmem rocshmem_putmem
#define shmem_getmem rocshmem_getmem
#define shmem_long_p rocshmem_long_p
#define shmem_long_g rocshmem_long_g
#define shmem_double_p rocshmem_double_p
#define shmem_quiet rocshmem_quiet
#define shmem_fence rocshmem_fence
#define shmem_barrier_all rocshmem_barrier_all
#define shmem_long_atomic_fetch_add rocshmem_long_atomic_fetch_add
#define shmem_long_atomic_fetch_inc rocshmem_long_atomic_fetch_inc
#define shmem_long_atomic_swap rocshmem_long_atomic_swap
#define shmem_long_atomic_compare_swap rocshmem_long_atomic_compare_swap
#define shmem_ctx_create(options, ctx) rocshmem_ctx_create(options, ctx)
#define shmem_ctx_destroy rocshmem_ctx_destroy

#define BENCH_FORM_SIGNAL "putmem_signal, signal_wait_until"
#define BENCH_FORM_COLLECTIVE "team WORLD"
static inline void bench_collectives_init(void)
{
}
static inline void bench_put_signal(void *dest, const void *source, size_t nbytes, uint64_t *word,
                                    uint64_t value, int pe)
{
    rocshmem_putmem_signal(dest, source, nbytes, word, value, ROCSHMEM_SIGNAL_SET, pe);
}
static inline void bench_signal_wait(uint64_t *word, uint64_t value)
{
    rocshmem_signal_wait_until(word, ROCSHMEM_CMP_GE, value);
}
static inline int bench_broadcast(void *dest, const void *source, size_t nbytes)
{
    return rocshmem_broadcastmem(ROCSHMEM_TEAM_WORLD, dest, source, nbytes, 0);
}
static inline int bench_alltoall(void *dest, const void *source, size_t nbytes)
{
    return rocshmem_alltoallmem(ROCSHMEM_TEAM_WORLD, dest, source, nbytes);
}
static inline int bench_fcollect(void *dest, const void *source, size_t nbytes)
{
    return rocshmem_fcollectmem(ROCSHMEM_TEAM_WORLD, dest, source, nbytes);
}
static inline int bench_sum(void *dest, const void *source, size_t n)
{
    return rocshmem_int64_sum_reduce(ROCSHMEM_TEAM_WORLD, dest, source, n);
}

#else

#include <shmem.h>

#define BENCH_LIBRARY "oshmem"

#if SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION >= 5

#define BENCH_FORM_SIGNAL "putmem_signal, signal_wait_until"
#define BENCH_FORM_COLLECTIVE "team WORLD"
static inline void bench_collectives_init(void)
{
}
static inline void bench_put_signal(void *dest, const void *source, size_t nbytes, uint64_t *word,
                                    uint64_t value, int pe)
{
    shmem_putmem_signal(dest, source, nbytes, word, value, SHMEM_SIGNAL_SET, pe);
}
static inline void bench_signal_wait(uint64_t *word, uint64_t value)
{
    shmem_signal_wait_until(word, SHMEM_CMP_GE, value);
}
static inline int bench_broadcast(void *dest, const void *source, size_t nbytes)
{
    return shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, nbytes, 0);
}
static inline int bench_alltoall(void *dest, const void *source, size_t nbytes)
{
    return shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, source, nbytes);
}
static inline int bench_fcollect(void *dest, const void *source, size_t nbytes)
{
    return shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, nbytes);
}
static inline int bench_sum(void *dest, const void *source, size_t n)
{
    return shmem_int64_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n);
}

#else /* OpenSHMEM 1.4: no signals, no teams; active sets with work arrays */

#define BENCH_FORM_SIGNAL "putmem, fence, long_p; long_wait_until"
#define BENCH_FORM_COLLECTIVE "active set of all PEs (broadcast leaves the root's dest alone)"

/* A work array may be used again when every PE has left its last use. BENCH_TURNS calls in a row each take
 * the next one, then shmem_bench.c puts a barrier (in its loop for every library). */
enum { BENCH_TURNS = 64, BENCH_SUM_MAX = 131072, BENCH_SYNC_MAX = 1024 };
static long bench_sync[BENCH_TURNS][BENCH_SYNC_MAX];
static long bench_work[2][BENCH_SUM_MAX / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static unsigned bench_turn;

static inline void bench_collectives_init(void)
{
    _Static_assert(SHMEM_BCAST_SYNC_SIZE <= BENCH_SYNC_MAX && SHMEM_ALLTOALL_SYNC_SIZE <= BENCH_SYNC_MAX &&
                       SHMEM_COLLECT_SYNC_SIZE <= BENCH_SYNC_MAX && SHMEM_REDUCE_SYNC_SIZE <= BENCH_SYNC_MAX,
                   "a work array is too small for this library");
    for (int turn = 0; turn < BENCH_TURNS; turn++)
        for (int i = 0; i < BENCH_SYNC_MAX; i++) bench_sync[turn][i] = SHMEM_SYNC_VALUE;
}
static inline long *bench_next_sync(void)
{
    return bench_sync[bench_turn++ % BENCH_TURNS];
}
static inline void bench_put_signal(void *dest, const void *source, size_t nbytes, uint64_t *word,
                                    uint64_t value, int pe)
{
    shmem_putmem(dest, source, nbytes, pe);
    shmem_fence();
    shmem_long_p((long *)word, (long)value, pe);
}
static inline void bench_signal_wait(uint64_t *word, uint64_t value)
{
    shmem_long_wait_until((long *)word, SHMEM_CMP_GE, (long)value);
}
static inline int bench_broadcast(void *dest, const void *source, size_t nbytes)
{
    shmem_broadcast64(dest, source, nbytes / 8, 0, 0, 0, shmem_n_pes(), bench_next_sync());
    return 0;
}
static inline int bench_alltoall(void *dest, const void *source, size_t nbytes)
{
    shmem_alltoall64(dest, source, nbytes / 8, 0, 0, shmem_n_pes(), bench_next_sync());
    return 0;
}
static inline int bench_fcollect(void *dest, const void *source, size_t nbytes)
{
    shmem_fcollect64(dest, source, nbytes / 8, 0, 0, shmem_n_pes(), bench_next_sync());
    return 0;
}
static inline int bench_sum(void *dest, const void *source, size_t n)
{
    shmem_long_sum_to_all(dest, source, (int)n, 0, 0, shmem_n_pes(), bench_work[bench_turn % 2],
                          bench_next_sync());
    return 0;
}

#endif
#endif
#endif
