/* SPDX-License-Identifier: MIT
 *
 * Fence, quiet, barriers and syncs issued by the host. Copies towards this host are complete when they
 * return, so there quiet is a full fence of the CPU: what was stored is visible to whoever looks afterwards.
 */
#include "api/api.h"
#include "pgas/checked.h"
#include "pgas/collective.h"

RS_HOT int complete(struct rs_job *job, bool order_only)
{
    if (order_only)
        atomic_thread_fence(memory_order_release); /* stores stay in order; x86 needs no instruction for it */
    else
        atomic_thread_fence(memory_order_seq_cst);
    return RS_UNLIKELY(job->can_be_outstanding) ? rs_job_complete(job, order_only) : 0;
}

static __attribute__((cold)) int tell(struct rs_thread *t, bool order_only, const void *ctx)
{
    struct rs_access access = {.kind = order_only ? RS_ACCESS_FENCE : RS_ACCESS_QUIET, .pe = -1, .ctx = ctx};
    return rs_probe_access(&t->probe, &access);
}

RS_HOT void order(const char *function, uint32_t call, bool order_only)
{
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) {
        rs_raise(function);
        return;
    }
    int rc = complete(rs_thread_job(t), order_only);
    if (RS_LIKELY(rc == 0) && rs_probed(t)) rc = tell(t, order_only, RS_CTX_DEFAULT);
    rs_leave(t, call);
    if (RS_UNLIKELY(rc < 0)) rs_raise(function);
}

void rocshmem_fence(void)
{
    order(__func__, RS_CALL_FENCE, true);
}

void rocshmem_quiet(void)
{
    order(__func__, RS_CALL_QUIET, false);
}

static void ctx_order(const char *function, uint32_t call, bool order_only, rocshmem_ctx_t ctx)
{
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) {
        rs_raise(function);
        return;
    }
    struct rs_job *job = rs_thread_job(t);
    bool invalid = !ctx.ctx_opaque; /* ROCSHMEM_CTX_INVALID: nothing to do */
    int rc = 0;
    if (!invalid && ctx.ctx_opaque != RS_CTX_DEFAULT && !rs_context_get(job, ctx)) rc = RS_E_ARG;
    if (rc == 0 && !invalid) rc = complete(job, order_only);
    if (rc == 0 && !invalid && rs_probed(t)) rc = tell(t, order_only, ctx.ctx_opaque);
    rs_leave(t, call);
    if (RS_UNLIKELY(rc < 0)) rs_raise(function);
}

void rocshmem_ctx_fence(rocshmem_ctx_t ctx)
{
    ctx_order(__func__, RS_CALL_FENCE, true, ctx);
}

void rocshmem_ctx_quiet(rocshmem_ctx_t ctx)
{
    ctx_order(__func__, RS_CALL_QUIET, false, ctx);
}

/* Barrier or sync. The step's release store and acquire loads order what was stored before it; only what a
 * network holds has to be completed first. */
static int meet(struct rs_thread *t, uint32_t call, enum rs_kind kind, rocshmem_team_t handle)
{
    struct rs_job *job = rs_thread_job(t);
    struct rs_team *team = rs_team_get(job, handle, "team");
    if (RS_UNLIKELY(!team)) return RS_E_ARG;
    int rc = 0;
    if (kind == RS_KIND_BARRIER && RS_UNLIKELY(job->can_be_outstanding)) rc = complete(job, false);
    struct rs_signature signature = {.call = call, .kind = kind, .team = team->id};
    const struct rs_gathering meeting = {.team = team, .signature = &signature};
    if (RS_LIKELY(rc == 0) && rs_probed(t)) rc = rs_probe_meet(t, RS_ACCESS_MEET, &meeting);
    if (RS_LIKELY(rc == 0)) rc = rs_collective_barrier(team, &signature);
    if (RS_LIKELY(rc == 0) && rs_probed(t)) rc = rs_probe_meet(t, RS_ACCESS_MET, &meeting);
    if (rs_checked(job) && rc == 0 && team == job->world) rc = rs_checked_guards(job);
    rs_team_put(team);
    return rc;
}

static void meet_or_raise(const char *function, uint32_t call, enum rs_kind kind, rocshmem_team_t team)
{
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) {
        rs_raise(function);
        return;
    }
    int rc = meet(t, call, kind, team);
    rs_leave(t, call);
    if (RS_UNLIKELY(rc < 0)) rs_raise(function);
}

void rocshmem_barrier_all(void)
{
    meet_or_raise(__func__, RS_CALL_BARRIER_ALL, RS_KIND_BARRIER, ROCSHMEM_TEAM_WORLD);
}

void rocshmem_barrier(rocshmem_team_t team)
{
    meet_or_raise(__func__, RS_CALL_BARRIER, RS_KIND_BARRIER, team);
}

void rocshmem_sync_all(void)
{
    meet_or_raise(__func__, RS_CALL_SYNC_ALL, RS_KIND_SYNC, ROCSHMEM_TEAM_WORLD);
}

int rocshmem_team_sync(rocshmem_team_t team)
{
    struct rs_thread *t = rs_enter(RS_CALL_TEAM_SYNC);
    if (RS_UNLIKELY(!t)) return rs_return(__func__);
    int rc = meet(t, RS_CALL_TEAM_SYNC, RS_KIND_SYNC, team);
    rs_leave(t, RS_CALL_TEAM_SYNC);
    return RS_LIKELY(rc == 0) ? 0 : rs_return(__func__);
}
