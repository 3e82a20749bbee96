/* SPDX-License-Identifier: MIT
 *
 * rocSHMEM's host API for C++14 and later, in namespace rocshmem: programs written for upstream's header of this
 * name compile unchanged, as far as they run on the host. The functions are those of rocshmem.h, with their
 * comments; this header leaves the global namespace alone.
 *
 * Where a program can see that this is not upstream (3.x):
 *   - __device__ functions and the _wave and _wg forms are absent; hip/hip_runtime.h is not included. Streams and
 *     modules are void *, which a hipStream_t and a hipModule_t turn into by themselves.
 *   - Semantics are OpenSHMEM 1.5's: ROCSHMEM_MINOR_VERSION is 5 (upstream 4), alignment and errors are those of
 *     rocshmem.h. VERSION and ROCSHMEM_VERSION are of this library.
 *   - nelems and nreduce are size_t (upstream int in collectives). Functions that give a status give it where
 *     upstream has void: rocshmem_team_sync, the broadcasts.
 *   - rocshmem_team_t points to a struct that is never defined (upstream uint64_t *); teams are constants, so
 *     they can be used before init.
 *   - Collectives with a context ignore it, as upstream's host side does. Active sets need no pSync and no pWrk.
 *   - mpi.h is included when the compiler finds it (upstream: when built with it). The forms of init with a
 *     communicator are there then; they need librocshmem_mpi.so, see rocshmem_init_attr.
 *   - rocshmem_buffer_register_symmetric and its reverse are absent.
 */
#ifndef ROCSHMEM_ROCSHMEM_HPP
#define ROCSHMEM_ROCSHMEM_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if defined(__has_include)
#if __has_include(<mpi.h>)
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1 /* MPI's own C++ classes would need a library that nobody asked for */
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
#endif
#endif

#define ROCSHMEM_HPP_READS_IT
#include "rocshmem.h"
#include "rocshmemx.h"
#undef ROCSHMEM_HPP_READS_IT

namespace rocshmem
{

constexpr char VERSION[] = ROCSHMEM_VERSION;

/* For programs that still make work arrays; nothing reads them. */
constexpr std::size_t ROCSHMEM_REDUCE_MIN_WRKDATA_SIZE = 1024;
constexpr std::size_t ROCSHMEM_ATA_MAX_WRKDATA_SIZE = 4 * 1024 * 1024;
constexpr std::size_t ROCSHMEM_BARRIER_SYNC_SIZE = 256;
constexpr std::size_t ROCSHMEM_REDUCE_SYNC_SIZE = 256;
constexpr std::size_t ROCSHMEM_BCAST_SYNC_SIZE = 256;
constexpr std::size_t ROCSHMEM_ALLTOALL_SYNC_SIZE = 257;
constexpr std::size_t ROCSHMEM_FCOLLECT_SYNC_SIZE = 257;
constexpr std::size_t ROCSHMEM_SYNC_VALUE = 0;

inline bool operator==(const rocshmem_ctx_t &a, const rocshmem_ctx_t &b)
{
    return a.ctx_opaque == b.ctx_opaque && a.team_opaque == b.team_opaque;
}

inline bool operator!=(const rocshmem_ctx_t &a, const rocshmem_ctx_t &b)
{
    return !(a == b);
}

inline int rocshmem_hipmodule_init(void *module)
{
    return rocshmem_hipmodule_init(module, nullptr);
}

/* ---- init with a communicator ---- */

#ifdef MPI_VERSION
/** As rocshmem_init_thread, with the members of comm for PEs; MPI_COMM_NULL is MPI_COMM_WORLD. */
inline int rocshmem_init_thread(int required, int *provided, MPI_Comm comm)
{
    rocshmem_init_attr_t attr = {};
    (void)required;
    if (comm == MPI_COMM_NULL) comm = MPI_COMM_WORLD;
    attr.mpi_comm = &comm;
    int rc = rocshmem_init_attr(ROCSHMEM_INIT_WITH_MPI_COMM, &attr);
    if (rc == 0) rocshmem_query_thread(provided);
    return rc;
}

/** As rocshmem_init, with the members of comm for PEs. A failure is printed, and ends the process. */
inline void rocshmem_init(MPI_Comm comm)
{
    if (rocshmem_init_thread(ROCSHMEM_THREAD_MULTIPLE, nullptr, comm) == 0) return;
    rocshmemx_error_t error = {};
    rocshmemx_take_error(&error);
    std::fprintf(stderr, "rocshmem_init: %s\n", error.text);
    std::exit(1);
}
#endif

/* ---- collectives with a context, and over active sets ---- */

#define ROCSHMEM_HPP_REDUCE_(name, T, op)                                                                    \
    inline int rocshmem_ctx_##name##_##op##_reduce(rocshmem_ctx_t, rocshmem_team_t team, T *dest,            \
                                                   const T *source, std::size_t nreduce)                     \
    {                                                                                                        \
        return rocshmem_##name##_##op##_reduce(team, dest, source, nreduce);                                 \
    }                                                                                                        \
    inline int rocshmem_ctx_##name##_##op##_reduce_scatter(rocshmem_ctx_t, rocshmem_team_t team, T *dest,    \
                                                           const T *source, std::size_t nreduce)             \
    {                                                                                                        \
        return rocshmem_##name##_##op##_reduce_scatter(team, dest, source, nreduce);                         \
    }                                                                                                        \
    inline int rocshmem_ctx_##name##_##op##_to_all(rocshmem_ctx_t, T *dest, const T *source, int nreduce,    \
                                                   int pe_start, int log_pe_stride, int pe_size, T *,        \
                                                   long *)                                                   \
    {                                                                                                        \
        rocshmem_team_t team;                                                                                \
        int rc = rocshmemx_active_set(pe_start, 1 << log_pe_stride, pe_size, &team);                         \
        return rc ? rc : rocshmem_##name##_##op##_reduce(team, dest, source, std::size_t(nreduce));          \
    }
ROCSHMEM_REDUCTIONS(ROCSHMEM_HPP_REDUCE_)
#undef ROCSHMEM_HPP_REDUCE_

#define ROCSHMEM_HPP_BROADCAST_(name, T, ...)                                                                \
    inline int rocshmem_ctx_##name##_broadcast(rocshmem_ctx_t, rocshmem_team_t team, T *dest,                \
                                               const T *source, std::size_t nelems, int pe_root)             \
    {                                                                                                        \
        return rocshmem_##name##_broadcast(team, dest, source, nelems, pe_root);                             \
    }                                                                                                        \
    inline int rocshmem_ctx_##name##_broadcast(rocshmem_ctx_t, T *dest, const T *source, int nelems,         \
                                               int pe_root, int pe_start, int log_pe_stride, int pe_size,    \
                                               long *)                                                       \
    {                                                                                                        \
        rocshmem_team_t team;                                                                                \
        int rc = rocshmemx_active_set(pe_start, 1 << log_pe_stride, pe_size, &team);                         \
        return rc ? rc : rocshmem_##name##_broadcast(team, dest, source, std::size_t(nelems), pe_root);      \
    }
ROCSHMEM_RMA_TYPES(ROCSHMEM_HPP_BROADCAST_, )
#undef ROCSHMEM_HPP_BROADCAST_

} // namespace rocshmem
#endif
