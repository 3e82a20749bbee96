/* SPDX-License-Identifier: MIT
 *
 * Blocking data collectives: checks, then pgas/collective.c.
 */
#include "pgas/collective.h"
#include "api/api.h"

static int times(size_t n, size_t by, const char *what, size_t *out)
{
    if (!__builtin_mul_overflow(n, by, out)) return 0;
    return rs_fail(RS_E_ARG, "%s %zu times %zu overflows", what, n, by);
}

static int broadcast(struct rs_thread *t, rocshmem_team_t handle, void *dest, const void *source,
                     size_t nelems, int pe_root)
{
    struct rs_job *job = rs_thread_job(t);
    struct rs_team *team = rs_team_get(job, handle, "team");
    if (!team) return RS_E_ARG;
    int rc = 0;
    if (pe_root < 0 || pe_root >= team->n_pes) rc = rs_bad_pe(job, "pe_root", pe_root, team->n_pes);
    if (rc == 0) rc = rs_check_ranges(t, job, dest, nelems, source, nelems, true);
    struct rs_signature signature = {
        RS_CALL_BROADCASTMEM, RS_KIND_BROADCAST, team->id, {nelems, (uint64_t)pe_root, 0}};
    if (rc == 0) rc = rs_collective_broadcast(team, &signature, dest, source, nelems, pe_root);
    rs_team_put(team);
    return rc;
}

int rocshmem_broadcastmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems, int pe_root)
{
    struct rs_thread *t = rs_enter(RS_CALL_BROADCASTMEM);
    if (RS_UNLIKELY(!t)) return rs_return(__func__);
    int rc = broadcast(t, team, dest, source, nelems, pe_root);
    rs_leave(t, RS_CALL_BROADCASTMEM);
    return RS_LIKELY(rc == 0) ? 0 : rs_return(__func__);
}

/* alltoall and fcollect differ in the size of source and in the algorithm. */
static int all_blocks(struct rs_thread *t, uint32_t call, enum rs_kind kind, rocshmem_team_t handle,
                      void *dest, const void *source, size_t nelems)
{
    struct rs_job *job = rs_thread_job(t);
    struct rs_team *team = rs_team_get(job, handle, "team");
    if (!team) return RS_E_ARG;
    size_t whole;
    int rc = times(nelems, (size_t)team->n_pes, "nelems", &whole);
    if (rc == 0)
        rc = rs_check_ranges(t, job, dest, whole, source, kind == RS_KIND_ALLTOALL ? whole : nelems, false);
    struct rs_signature signature = {call, kind, team->id, {nelems, 0, 0}};
    if (rc == 0)
        rc = kind == RS_KIND_ALLTOALL ? rs_collective_alltoall(team, &signature, dest, source, nelems)
                                      : rs_collective_fcollect(team, &signature, dest, source, nelems);
    rs_team_put(team);
    return rc;
}

int rocshmem_alltoallmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems)
{
    struct rs_thread *t = rs_enter(RS_CALL_ALLTOALLMEM);
    if (RS_UNLIKELY(!t)) return rs_return(__func__);
    int rc = all_blocks(t, RS_CALL_ALLTOALLMEM, RS_KIND_ALLTOALL, team, dest, source, nelems);
    rs_leave(t, RS_CALL_ALLTOALLMEM);
    return RS_LIKELY(rc == 0) ? 0 : rs_return(__func__);
}

int rocshmem_fcollectmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems)
{
    struct rs_thread *t = rs_enter(RS_CALL_FCOLLECTMEM);
    if (RS_UNLIKELY(!t)) return rs_return(__func__);
    int rc = all_blocks(t, RS_CALL_FCOLLECTMEM, RS_KIND_FCOLLECT, team, dest, source, nelems);
    rs_leave(t, RS_CALL_FCOLLECTMEM);
    return RS_LIKELY(rc == 0) ? 0 : rs_return(__func__);
}

static int reduce(struct rs_thread *t, uint32_t call, rocshmem_team_t handle, void *dest, const void *source,
                  size_t nreduce, enum rs_type type, int op)
{
    struct rs_job *job = rs_thread_job(t);
    struct rs_team *team = rs_team_get(job, handle, "team");
    if (!team) return RS_E_ARG;
    size_t nbytes;
    int rc = times(nreduce, rs_type_nbytes(type), "nreduce", &nbytes);
    if (rc == 0) rc = rs_check_ranges(t, job, dest, nbytes, source, nbytes, dest == source);
    struct rs_signature signature = {call, RS_KIND_REDUCE, team->id, {nreduce, type, (uint64_t)op}};
    if (rc == 0) rc = rs_collective_reduce(team, &signature, dest, source, nreduce, type, op);
    rs_team_put(team);
    return rc;
}

static int reduce_call(const char *function, rocshmem_team_t team, void *dest, const void *source,
                       size_t nreduce, enum rs_type type, int op)
{
    uint32_t call = RS_CALL_REDUCTION(RS_CALL_REDUCE, type, op);
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) return rs_return(function);
    int rc = reduce(t, call, team, dest, source, nreduce, type, op);
    rs_leave(t, call);
    return RS_LIKELY(rc == 0) ? 0 : rs_return(function);
}

#define REDUCE(name, T, op, OP)                                                                              \
    int rocshmem_##name##_##op##_reduce(rocshmem_team_t team, T *dest, const T *source, size_t nreduce)      \
    {                                                                                                        \
        return reduce_call(__func__, team, dest, source, nreduce, RS_TYPE_##name, OP);                       \
    }
ROCSHMEM_RMA_TYPES(REDUCE, sum, ROCSHMEM_SUM)
ROCSHMEM_RMA_TYPES(REDUCE, prod, ROCSHMEM_PROD)
ROCSHMEM_COMPLEX_TYPES(REDUCE, sum, ROCSHMEM_SUM)
ROCSHMEM_COMPLEX_TYPES(REDUCE, prod, ROCSHMEM_PROD)
ROCSHMEM_RMA_TYPES(REDUCE, min, ROCSHMEM_MIN)
ROCSHMEM_RMA_TYPES(REDUCE, max, ROCSHMEM_MAX)
ROCSHMEM_LOGIC_TYPES(REDUCE, and, ROCSHMEM_AND)
ROCSHMEM_LOGIC_TYPES(REDUCE, or, ROCSHMEM_OR)
ROCSHMEM_LOGIC_TYPES(REDUCE, xor, ROCSHMEM_XOR)
#undef REDUCE
