/* SPDX-License-Identifier: MIT
 *
 * What a library of OpenSHMEM 1.4 (Open MPI's OSHMEM 4.1) lacks of 1.5, spelt in its closest form there: signals
 * by put, fence and p; collectives over teams by those over the active set of all PEs. With 1.5 each function
 * here is one call. BENCH_FORM_* says which form it is, and travels into the results as a note.
 */
#ifndef ROCSHMEM_BENCH_SHMEM_COMPAT_H
#define ROCSHMEM_BENCH_SHMEM_COMPAT_H

#include <shmem.h>
#include <stdint.h>

/* The active sets' work arrays. One may be used again when every PE has left its last use: BENCH_TURNS calls in a
 * row each take the next one, then shmem_bench.c puts a barrier (in its loop, for every library). */
enum { BENCH_TURNS = 64, BENCH_SYNC_MAX = 1024 };
static long *bench_sync;
static void *bench_work; /* for reductions: half of the largest count, and SHMEM_REDUCE_MIN_WRKDATA_SIZE */
static unsigned bench_turn;

static inline long *bench_next_sync(void)
{
    return bench_sync + bench_turn++ % BENCH_TURNS * BENCH_SYNC_MAX;
}

/* Collective; false where the heap is too small. nbytes: of the largest reduction. */
static inline int bench_work_arrays(size_t nbytes)
{
    _Static_assert(SHMEM_BCAST_SYNC_SIZE <= BENCH_SYNC_MAX && SHMEM_ALLTOALL_SYNC_SIZE <= BENCH_SYNC_MAX &&
                       SHMEM_ALLTOALLS_SYNC_SIZE <= BENCH_SYNC_MAX &&
                       SHMEM_COLLECT_SYNC_SIZE <= BENCH_SYNC_MAX &&
                       SHMEM_REDUCE_SYNC_SIZE <= BENCH_SYNC_MAX && SHMEM_BARRIER_SYNC_SIZE <= BENCH_SYNC_MAX,
                   "a work array is too small for this library");
    bench_sync = shmem_malloc(sizeof(long) * BENCH_TURNS * BENCH_SYNC_MAX);
    bench_work = shmem_malloc(nbytes / 2 + 64 + sizeof(double) * SHMEM_REDUCE_MIN_WRKDATA_SIZE);
    if (!bench_sync || !bench_work) return 0;
    for (int i = 0; i < BENCH_TURNS * BENCH_SYNC_MAX; i++) bench_sync[i] = SHMEM_SYNC_VALUE;
    return 1;
}

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5

#define BENCH_FORM_SIGNAL "putmem_signal, signal_wait_until"
#define BENCH_FORM_TEAM "team WORLD"
#define BENCH_COLLECTIVE(name, on_team, on_set) (on_team)

static inline void bench_put_signal(void *dest, const void *source, size_t nbytes, uint64_t *word,
                                    uint64_t value, int pe)
{
    shmem_putmem_signal(dest, source, nbytes, word, value, SHMEM_SIGNAL_SET, pe);
}
static inline void bench_signal_wait(uint64_t *word, uint64_t value)
{
    shmem_signal_wait_until(word, SHMEM_CMP_GE, value);
}

#else

#define BENCH_FORM_SIGNAL "putmem, fence, long_p; long_wait_until"
#define BENCH_FORM_TEAM "active set of all PEs"
#define BENCH_COLLECTIVE(name, on_team, on_set) ((on_set), 0)

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

#endif

/* Where the active set is all PEs, and the work arrays that follow it. */
#define BENCH_SET 0, 0, shmem_n_pes()

#define BENCH_COLLECTIVE_CALL(name, T, on_team, on_set)                                                      \
    static inline int bench_##name(T *dest, const T *source, size_t n)                                       \
    {                                                                                                        \
        (void)dest, (void)source, (void)n;                                                                   \
        return BENCH_COLLECTIVE(name, on_team, on_set);                                                      \
    }
BENCH_COLLECTIVE_CALL(team_sync, long, shmem_team_sync(SHMEM_TEAM_WORLD),
                      shmem_sync(BENCH_SET, bench_next_sync()))
BENCH_COLLECTIVE_CALL(broadcast, long, shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, n, 0),
                      shmem_broadcast64(dest, source, n, 0, BENCH_SET, bench_next_sync()))
BENCH_COLLECTIVE_CALL(alltoall, long, shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, n),
                      shmem_alltoall64(dest, source, n, BENCH_SET, bench_next_sync()))
BENCH_COLLECTIVE_CALL(alltoalls, long, shmem_long_alltoalls(SHMEM_TEAM_WORLD, dest, source, 2, 2, n),
                      shmem_alltoalls64(dest, source, 2, 2, n, BENCH_SET, bench_next_sync()))
BENCH_COLLECTIVE_CALL(collect, long, shmem_long_collect(SHMEM_TEAM_WORLD, dest, source, n),
                      shmem_collect64(dest, source, n, BENCH_SET, bench_next_sync()))
BENCH_COLLECTIVE_CALL(fcollect, long, shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, n),
                      shmem_fcollect64(dest, source, n, BENCH_SET, bench_next_sync()))
BENCH_COLLECTIVE_CALL(sum_long, long, shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n),
                      shmem_long_sum_to_all(dest, source, (int)n, BENCH_SET, bench_work, bench_next_sync()))
BENCH_COLLECTIVE_CALL(sum_double, double, shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n),
                      shmem_double_sum_to_all(dest, source, (int)n, BENCH_SET, bench_work, bench_next_sync()))
BENCH_COLLECTIVE_CALL(max_int, int, shmem_int_max_reduce(SHMEM_TEAM_WORLD, dest, source, n),
                      shmem_int_max_to_all(dest, source, (int)n, BENCH_SET, bench_work, bench_next_sync()))

#endif
