/* SPDX-License-Identifier: MIT
 *
 * The deprecated collectives over an active set (PE_start, logPE_stride, PE_size): the set's team, which the runtime
 * makes at first use and keeps, then the team's collective. Work arrays are not looked at. A failure ends the job,
 * for these functions have no status.
 */
#include "layer.h"

/* The sets that a thread used last, so that finding a team costs a compare. */
struct set {
    unsigned generation; /* layer_generation when it was found; 0: empty */
    int start, log_stride, size;
    rocshmem_team_t team;
};
enum { N_SETS = 4 };
static _Thread_local struct set sets[N_SETS] __attribute__((tls_model("initial-exec")));
static _Thread_local unsigned next_set __attribute__((tls_model("initial-exec")));

static rocshmem_team_t team_slow(const char *function, struct set set)
{
    if (set.log_stride < 0 || set.log_stride > 30) {
        layer_fail(function, "logPE_stride %d is out of range; it must be from 0 to 30", set.log_stride);
        return ROCSHMEM_TEAM_INVALID;
    }
    if (rocshmemx_active_set(set.start, 1 << set.log_stride, set.size, &set.team) != 0) {
        layer_raise(function);
        return ROCSHMEM_TEAM_INVALID;
    }
    sets[next_set++ % N_SETS] = set;
    return set.team;
}

static inline rocshmem_team_t team_of(const char *function, int start, int log_stride, int size)
{
    unsigned generation = __atomic_load_n(&layer_generation, __ATOMIC_RELAXED);
    for (int i = 0; i < N_SETS; i++) {
        const struct set *set = &sets[i];
        if (set->start == start && set->log_stride == log_stride && set->size == size &&
            set->generation == generation && generation)
            return set->team;
    }
    return team_slow(function, (struct set){generation, start, log_stride, size, ROCSHMEM_TEAM_INVALID});
}

#define SET int PE_start, int logPE_stride, int PE_size
#define TEAM(function) team_of(function, PE_start, logPE_stride, PE_size)

LAYER(void, barrier, (SET, long *pSync))
{
    (void)pSync;
    rocshmem_barrier(TEAM("shmem_barrier"));
}

LAYER(void, sync, (SET, long *pSync))
{
    (void)pSync;
    layer_check(rocshmem_team_sync(TEAM("shmem_sync")), "shmem_sync");
}

/* ---- data: the root of a broadcast keeps its dest, unlike over a team ---- */

static void broadcast(const char *function, void *dest, const void *source, size_t nbytes, int root,
                      rocshmem_team_t team)
{
    if (rocshmem_team_my_pe(team) == root) dest = (void *)(uintptr_t)source;
    layer_check(rocshmem_broadcastmem(team, dest, source, nbytes, root), function);
}

#define COLLECTIVES(bits)                                                                                    \
    LAYER(void, broadcast##bits,                                                                             \
          (void *dest, const void *source, size_t nelems, int PE_root, SET, long *pSync))                    \
    {                                                                                                        \
        (void)pSync;                                                                                         \
        broadcast("shmem_broadcast" #bits, dest, source, nelems *(bits / 8), PE_root,                        \
                  TEAM("shmem_broadcast" #bits));                                                            \
    }                                                                                                        \
    LAYER(void, collect##bits, (void *dest, const void *source, size_t nelems, SET, long *pSync))            \
    {                                                                                                        \
        (void)pSync;                                                                                         \
        layer_check(rocshmem_uint##bits##_collect(TEAM("shmem_collect" #bits), dest, source, nelems),        \
                    "shmem_collect" #bits);                                                                  \
    }                                                                                                        \
    LAYER(void, fcollect##bits, (void *dest, const void *source, size_t nelems, SET, long *pSync))           \
    {                                                                                                        \
        (void)pSync;                                                                                         \
        layer_check(rocshmem_uint##bits##_fcollect(TEAM("shmem_fcollect" #bits), dest, source, nelems),      \
                    "shmem_fcollect" #bits);                                                                 \
    }                                                                                                        \
    LAYER(void, alltoall##bits, (void *dest, const void *source, size_t nelems, SET, long *pSync))           \
    {                                                                                                        \
        (void)pSync;                                                                                         \
        layer_check(rocshmem_uint##bits##_alltoall(TEAM("shmem_alltoall" #bits), dest, source, nelems),      \
                    "shmem_alltoall" #bits);                                                                 \
    }                                                                                                        \
    LAYER(void, alltoalls##bits,                                                                             \
          (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, SET, long *pSync))   \
    {                                                                                                        \
        (void)pSync;                                                                                         \
        layer_check(                                                                                         \
            rocshmem_uint##bits##_alltoalls(TEAM("shmem_alltoalls" #bits), dest, source, dst, sst, nelems),  \
            "shmem_alltoalls" #bits);                                                                        \
    }
COLLECTIVES(32)
COLLECTIVES(64)

/* ---- reductions ---- */

#define TO_ALL(name, T, op)                                                                                  \
    LAYER(void, name##_##op##_to_all, (T * dest, const T *source, int nreduce, SET, T *pWrk, long *pSync))   \
    {                                                                                                        \
        static const char function[] = "shmem_" #name "_" #op "_to_all";                                     \
        (void)pWrk;                                                                                          \
        (void)pSync;                                                                                         \
        if (nreduce < 0) layer_fail(function, "nreduce %d is negative", nreduce);                            \
        layer_check(rocshmem_##name##_##op##_reduce(TEAM(function), dest, source, (size_t)nreduce),          \
                    function);                                                                               \
    }
SHMEM_REAL_TYPES_(TO_ALL, sum)
SHMEM_REAL_TYPES_(TO_ALL, prod)
SHMEM_REAL_TYPES_(TO_ALL, min)
SHMEM_REAL_TYPES_(TO_ALL, max)
ROCSHMEM_COMPLEX_TYPES(TO_ALL, sum)
ROCSHMEM_COMPLEX_TYPES(TO_ALL, prod)
SHMEM_SIGNED_TYPES_(TO_ALL, and)
SHMEM_SIGNED_TYPES_(TO_ALL, or)
SHMEM_SIGNED_TYPES_(TO_ALL, xor)
TO_ALL(short, short, and)
TO_ALL(short, short, or)
TO_ALL(short, short, xor)
