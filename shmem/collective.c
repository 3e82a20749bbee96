/* SPDX-License-Identifier: MIT
 *
 * Collectives over teams.
 */
#include "layer.h"

#define COLLECTIVES(broadcast, alltoall, alltoalls, collect, fcollect, T)                                    \
    LAYER(int, broadcast, (shmem_team_t team, T * dest, const T *source, size_t nelems, int PE_root))        \
    {                                                                                                        \
        return layer_collective(team,                                                                        \
                                rocshmem_##broadcast(layer_team(team), dest, source, nelems, PE_root));      \
    }                                                                                                        \
    LAYER(int, alltoall, (shmem_team_t team, T * dest, const T *source, size_t nelems))                      \
    {                                                                                                        \
        return layer_collective(team, rocshmem_##alltoall(layer_team(team), dest, source, nelems));          \
    }                                                                                                        \
    LAYER(int, alltoalls,                                                                                    \
          (shmem_team_t team, T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems))       \
    {                                                                                                        \
        return layer_collective(team,                                                                        \
                                rocshmem_##alltoalls(layer_team(team), dest, source, dst, sst, nelems));     \
    }                                                                                                        \
    LAYER(int, collect, (shmem_team_t team, T * dest, const T *source, size_t nelems))                       \
    {                                                                                                        \
        return layer_collective(team, rocshmem_##collect(layer_team(team), dest, source, nelems));           \
    }                                                                                                        \
    LAYER(int, fcollect, (shmem_team_t team, T * dest, const T *source, size_t nelems))                      \
    {                                                                                                        \
        return layer_collective(team, rocshmem_##fcollect(layer_team(team), dest, source, nelems));          \
    }
#define TYPED(name, T, ...)                                                                                  \
    COLLECTIVES(name##_broadcast, name##_alltoall, name##_alltoalls, name##_collect, name##_fcollect, T)
ROCSHMEM_RMA_TYPES(TYPED, )
COLLECTIVES(broadcastmem, alltoallmem, alltoallsmem, collectmem, fcollectmem, void)

/* ---- reductions ---- */

#define REDUCE(name, T, op)                                                                                  \
    LAYER(int, name##_##op##_reduce, (shmem_team_t team, T * dest, const T *source, size_t nreduce))         \
    {                                                                                                        \
        return layer_collective(team,                                                                        \
                                rocshmem_##name##_##op##_reduce(layer_team(team), dest, source, nreduce));   \
    }
ROCSHMEM_RMA_TYPES(REDUCE, sum)
ROCSHMEM_RMA_TYPES(REDUCE, prod)
ROCSHMEM_RMA_TYPES(REDUCE, min)
ROCSHMEM_RMA_TYPES(REDUCE, max)
ROCSHMEM_COMPLEX_TYPES(REDUCE, sum)
ROCSHMEM_COMPLEX_TYPES(REDUCE, prod)
SHMEM_LOGIC_TYPES_(REDUCE, and)
SHMEM_LOGIC_TYPES_(REDUCE, or)
SHMEM_LOGIC_TYPES_(REDUCE, xor)
