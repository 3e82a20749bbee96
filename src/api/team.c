/* SPDX-License-Identifier: MIT
 *
 * Teams by handle.
 */
#include "api/api.h"

/* The team behind a handle, or NULL without a word; for the functions that answer -1. */
static struct rs_team *team_or_null(rocshmem_team_t handle, const char *what)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return NULL;
    struct rs_team *team = rs_team_get(rs_thread_job(rs_self), handle, what);
    if (!team) rs_error_clear();
    return team;
}

int rocshmem_team_my_pe(rocshmem_team_t handle)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) {
        rs_raise(__func__);
        return -1;
    }
    struct rs_team *team = team_or_null(handle, "team");
    if (!team) return -1;
    int pe = team->my_pe;
    rs_team_put(team);
    return pe;
}

int rocshmem_team_n_pes(rocshmem_team_t handle)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) {
        rs_raise(__func__);
        return -1;
    }
    struct rs_team *team = team_or_null(handle, "team");
    if (!team) return -1;
    int n = team->n_pes;
    rs_team_put(team);
    return n;
}

int rocshmem_team_translate_pe(rocshmem_team_t src_team, int src_pe, rocshmem_team_t dest_team)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) {
        rs_raise(__func__);
        return -1;
    }
    struct rs_team *src = team_or_null(src_team, "src_team");
    struct rs_team *dest = team_or_null(dest_team, "dest_team");
    int pe =
        src && dest && src_pe >= 0 && src_pe < src->n_pes ? rs_team_position(dest, src->pes[src_pe]) : -1;
    if (src) rs_team_put(src);
    if (dest) rs_team_put(dest);
    return pe;
}

static int split(struct rs_thread *t, rocshmem_team_t handle, int start, int stride, int size,
                 const rocshmem_team_config_t *config, long mask, rocshmem_team_t *team_out)
{
    struct rs_team *parent = rs_team_get(rs_thread_job(t), handle, "parent"), *team = NULL;
    if (!parent) return RS_E_ARG;
    int rc = 0;
    if (!team_out)
        rc = rs_fail(RS_E_ARG, "team_out is NULL");
    else if (config && (mask & ROCSHMEM_TEAM_NUM_CONTEXTS) && config->num_contexts < 0)
        rc = rs_fail(RS_E_ARG, "config.num_contexts %d is negative", config->num_contexts);
    if (rc == 0) rc = rs_team_split(parent, RS_CALL_TEAM_SPLIT_STRIDED, start, stride, size, &team);
    if (rc == 0 && team) *team_out = rs_team_handle(team);
    rs_team_put(parent);
    return rc;
}

int rocshmem_team_split_strided(rocshmem_team_t parent, int start, int stride, int size,
                                const rocshmem_team_config_t *config, long mask, rocshmem_team_t *team_out)
{
    if (team_out) *team_out = ROCSHMEM_TEAM_INVALID;
    struct rs_thread *t = rs_enter(RS_CALL_TEAM_SPLIT_STRIDED);
    if (RS_UNLIKELY(!t)) return rs_return(__func__);
    int rc = split(t, parent, start, stride, size, config, mask, team_out);
    rs_leave(t, RS_CALL_TEAM_SPLIT_STRIDED);
    return RS_LIKELY(rc == 0) ? 0 : rs_return(__func__);
}

void rocshmem_team_destroy(rocshmem_team_t handle)
{
    if (handle == ROCSHMEM_TEAM_INVALID || handle == ROCSHMEM_TEAM_WORLD || handle == ROCSHMEM_TEAM_SHARED)
        return;
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) {
        rs_raise(__func__);
        return;
    }
    struct rs_team *team = rs_team_get(rs_thread_job(rs_self), handle, "team");
    if (!team) {
        rs_raise(__func__);
        return;
    }
    rs_team_destroy(team);
    rs_team_put(team);
}

static int active_set(struct rs_job *job, int start, int stride, int size, rocshmem_team_t *team_out)
{
    struct rs_team *team;
    if (!team_out) return rs_fail(RS_E_ARG, "team_out is NULL");
    RS_TRY(rs_active_set(job, start, stride, size, &team));
    *team_out = rs_team_handle(team);
    rs_team_put(team);
    return 0;
}

int rocshmemx_active_set(int start, int stride, int size, rocshmem_team_t *team_out)
{
    struct rs_thread *t = rs_enter(RS_CALL_ACTIVE_SET);
    if (RS_UNLIKELY(!t)) return rs_return(__func__);
    int rc = active_set(rs_thread_job(t), start, stride, size, team_out);
    rs_leave(t, RS_CALL_ACTIVE_SET);
    return RS_LIKELY(rc == 0) ? 0 : rs_return(__func__);
}
