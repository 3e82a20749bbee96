/* SPDX-License-Identifier: MIT
 *
 * rocshmem-perf: what every PE calls: barriers, data collectives, collective allocation, teams. The slowest
 * PE's time counts. Statuses are gathered in the loop and checked after it.
 */
#include <stdlib.h>

#include <rocshmem/rocshmem.h>

#include "perf_cases.h"

#define WORLD ROCSHMEM_TEAM_WORLD

PERF_LOOP(barrier_all, rocshmem_barrier_all())
PERF_LOOP(sync_all, rocshmem_sync_all())
PERF_LOOP(barrier_world, rocshmem_barrier(WORLD))

/* A loop of one call that returns a status. */
#define STATUS_LOOP(name, call)                                                                              \
    static uint64_t name(size_t nbytes, long n)                                                              \
    {                                                                                                        \
        int status = 0;                                                                                      \
        (void)nbytes;                                                                                        \
        for (long i = 0; i < n; i++) status |= call;                                                         \
        perf_check(status, #call);                                                                           \
        return 0;                                                                                            \
    }

STATUS_LOOP(team_sync, rocshmem_team_sync(WORLD))
STATUS_LOOP(broadcast, rocshmem_broadcastmem(WORLD, perf.dest, perf.source, nbytes, 0))
STATUS_LOOP(alltoall, rocshmem_alltoallmem(WORLD, perf.dest, perf.source, nbytes))
STATUS_LOOP(fcollect, rocshmem_fcollectmem(WORLD, perf.dest, perf.source, nbytes))
STATUS_LOOP(sum,
            rocshmem_int64_sum_reduce(WORLD, (int64_t *)perf.dest, (const int64_t *)perf.source, nbytes / 8))
#undef STATUS_LOOP

static uint64_t malloc_free(size_t nbytes, long n)
{
    (void)nbytes;
    for (long i = 0; i < n; i++) {
        void *block = rocshmem_malloc(64);
        perf_check(!block, "rocshmem_malloc(64)");
        rocshmem_free(block);
    }
    return 0;
}

static uint64_t calloc_free(size_t nbytes, long n)
{
    (void)nbytes;
    for (long i = 0; i < n; i++) {
        void *block = rocshmem_calloc(8, 8);
        perf_check(!block, "rocshmem_calloc(8, 8)");
        rocshmem_free(block);
    }
    return 0;
}

static uint64_t team_split(size_t nbytes, long n)
{
    (void)nbytes;
    for (long i = 0; i < n; i++) {
        rocshmem_team_t team;
        perf_check(rocshmem_team_split_strided(WORLD, 0, 1, perf.n_pes, NULL, 0, &team),
                   "rocshmem_team_split_strided");
        rocshmem_team_destroy(team);
    }
    return 0;
}

/* clang-format off */
const struct perf_case perf_collective_cases[] = {
    {"barrier_all", "collective", NULL,                              PERF_ALL,  PERF_UNSIZED, 1, barrier_all},
    {"sync_all",    "collective", NULL,                              PERF_ALL,  PERF_UNSIZED, 1, sync_all},
    {"barrier",     "collective", "of TEAM_WORLD",                   PERF_ALL,  PERF_UNSIZED, 1, barrier_world},
    {"team_sync",   "collective", "of TEAM_WORLD",                   PERF_ALL,  PERF_UNSIZED, 1, team_sync},
    {"broadcast",   "collective", "from PE 0",                       PERF_ALL,  PERF_SIZED,   1, broadcast},
    {"alltoall",    "collective", "bytes of one block",              PERF_ALL,  PERF_SIZED,   1, alltoall},
    {"fcollect",    "collective", "bytes of one PE",                 PERF_ALL,  PERF_SIZED,   1, fcollect},
    {"sum",         "collective", "int64 sum_reduce",                PERF_ALL,  PERF_SIZED,   1, sum},
    {"malloc_free", "memory",     "malloc of 64 bytes, free",        PERF_ALL,  PERF_UNSIZED, 1, malloc_free},
    {"calloc_free", "memory",     "calloc of 64 bytes, free",        PERF_ALL,  PERF_UNSIZED, 1, calloc_free},
    {"team_split",  "team",       "team_split_strided, destroy",     PERF_ALL,  PERF_UNSIZED, 1, team_split},
};
/* clang-format on */
const size_t perf_n_collective_cases = sizeof(perf_collective_cases) / sizeof(perf_collective_cases[0]);
