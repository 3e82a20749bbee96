/* SPDX-License-Identifier: MIT
 *
 * Contexts by handle.
 */
#include "api/api.h"
#include "base/log.h"

const rocshmem_ctx_t ROCSHMEM_CTX_DEFAULT = {RS_CTX_DEFAULT, NULL};
const rocshmem_ctx_t ROCSHMEM_CTX_INVALID = {NULL, NULL};

int rocshmem_ctx_create(int64_t options, rocshmem_ctx_t *ctx)
{
    if (RS_UNLIKELY(!rs_thread_job(rs_self)) && !rs_enter_slow()) return rs_return(__func__);
    rs_log(RS_LOG_API, "%s(options %lld)", __func__, (long long)options);
    int rc = ctx ? rs_context_create(rs_thread_job(rs_self), NULL, options, ctx)
                 : rs_fail(RS_E_ARG, "ctx is NULL");
    return RS_LIKELY(rc == 0) ? 0 : rs_return(__func__);
}

int rocshmem_team_create_ctx(rocshmem_team_t handle, int64_t options, rocshmem_ctx_t *ctx)
{
    if (RS_UNLIKELY(!rs_thread_job(rs_self)) && !rs_enter_slow()) return rs_return(__func__);
    rs_log(RS_LOG_API, "%s(team %lld, options %lld)", __func__, (long long)handle, (long long)options);
    struct rs_job *job = rs_thread_job(rs_self);
    struct rs_team *team = rs_team_get(job, handle, "team");
    int rc = team ? 0 : RS_E_ARG;
    if (rc == 0 && !ctx) rc = rs_fail(RS_E_ARG, "ctx is NULL");
    if (rc == 0) rc = rs_context_create(job, team, options, ctx); /* keeps the reference */
    if (rc < 0 && team) rs_team_put(team);
    return RS_LIKELY(rc == 0) ? 0 : rs_return(__func__);
}

void rocshmem_ctx_destroy(rocshmem_ctx_t ctx)
{
    if (!ctx.ctx_opaque) return;
    if (RS_UNLIKELY(!rs_thread_job(rs_self)) && !rs_enter_slow()) {
        rs_raise(__func__);
        return;
    }
    rs_log(RS_LOG_API, "%s(ctx %p)", __func__, ctx.ctx_opaque);
    struct rs_job *job = rs_thread_job(rs_self);
    int rc = ctx.ctx_opaque == RS_CTX_DEFAULT ? rs_fail(RS_E_ARG, "ctx is the default context, which stays")
                                              : rs_context_destroy(job, ctx);
    if (rc == 0 && rs_probed(rs_self)) { /* which completes what is under way */
        struct rs_access access = {.kind = RS_ACCESS_QUIET, .pe = -1, .ctx = ctx.ctx_opaque};
        rc = rs_probe_access(&rs_self->probe, &access);
    }
    if (RS_UNLIKELY(rc < 0)) rs_raise(__func__);
}

int rocshmem_ctx_get_team(rocshmem_ctx_t ctx, rocshmem_team_t *team)
{
    if (team) *team = ROCSHMEM_TEAM_INVALID;
    if (RS_UNLIKELY(!rs_thread_job(rs_self)) && !rs_enter_slow()) return rs_return(__func__);
    const struct rs_context *context = NULL;
    int rc = 0;
    if (!team)
        rc = rs_fail(RS_E_ARG, "team is NULL");
    else if (!ctx.ctx_opaque)
        rc = rs_fail(RS_E_ARG, "ctx is ROCSHMEM_CTX_INVALID, which has no team");
    else if (ctx.ctx_opaque != RS_CTX_DEFAULT && !(context = rs_context_get(rs_thread_job(rs_self), ctx)))
        rc = RS_E_ARG;
    if (rc < 0) return rs_return(__func__);
    *team = context && context->team ? rs_team_handle(context->team) : ROCSHMEM_TEAM_WORLD;
    return 0;
}
