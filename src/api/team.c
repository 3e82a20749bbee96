/* SPDX-License-Identifier: MIT
 *
 * Teams by handle.
 */
#include "api/api.h"
#include "base/log.h"

/* The team behind a handle, for the functions that answer -1: NULL for INVALID; also for an unknown handle, but that
 * is an error. */
static struct rs_team *team_or_null(const char *function, rocshmem_team_t handle, const char *what)
{
    if (handle == ROCSHMEM_TEAM_INVALID) return NULL;
    struct rs_team *team = rs_team_get(rs_thread_job(rs_self), handle, what);
    if (!team) rs_raise(function);
    return team;
}

int rocshmem_team_my_pe(rocshmem_team_t handle)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) {
        rs_raise(__func__);
        return -1;
    }
    struct rs_team *team = team_or_null(__func__, handle, "team");
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
    struct rs_team *team = team_or_null(__func__, handle, "team");
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
    struct rs_team *src = team_or_null(__func__, src_team, "src_team");
    if (!src) return -1;
    struct rs_team *dest = team_or_null(__func__, dest_team, "dest_team");
    int pe = dest && src_pe >= 0 && src_pe < src->n_pes ? rs_team_position(dest, src->pes[src_pe]) : -1;
    rs_team_put(src);
    if (dest) rs_team_put(dest);
    return pe;
}

/* config and mask of a split, named in messages as the function names them. */
static int check_config(const rocshmem_team_config_t *config, long mask, const char *what)
{
    if (mask & ~(long)ROCSHMEM_TEAM_NUM_CONTEXTS)
        return rs_fail(RS_E_ARG,
                       "%smask %ld has unknown bits; known is ROCSHMEM_TEAM_NUM_CONTEXTS (1), and 0 for "
                       "defaults",
                       what, mask);
    if (!mask) return 0;
    if (!config)
        return rs_fail(RS_E_ARG, "%sconfig is NULL, but %smask %ld names fields of it", what, what, mask);
    if (config->num_contexts < 0)
        return rs_fail(RS_E_ARG, "%sconfig.num_contexts %d is negative", what, config->num_contexts);
    return 0;
}

static void finish(struct rs_team *team, const rocshmem_team_config_t *config, long mask,
                   rocshmem_team_t *team_out)
{
    if (!team) return;
    team->num_contexts = mask & ROCSHMEM_TEAM_NUM_CONTEXTS ? config->num_contexts : 0;
    *team_out = rs_team_handle(team);
}

static int split(struct rs_thread *t, rocshmem_team_t handle, int start, int stride, int size,
                 const rocshmem_team_config_t *config, long mask, rocshmem_team_t *team_out)
{
    struct rs_team *parent = rs_team_get(rs_thread_job(t), handle, "parent"), *team = NULL;
    if (!parent) return RS_E_ARG;
    int rc = team_out ? check_config(config, mask, "") : rs_fail(RS_E_ARG, "team_out is NULL");
    if (rc == 0) rc = rs_team_split(parent, RS_CALL_TEAM_SPLIT_STRIDED, start, stride, size, &team);
    if (rc == 0) finish(team, config, mask, team_out);
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

/* One axis of a two-dimensional split. */
struct axis {
    const char *name;
    const rocshmem_team_config_t *config;
    long mask;
    rocshmem_team_t *team_out;
    struct rs_team *team;
};

static int split_2d(struct rs_thread *t, rocshmem_team_t handle, int xrange, struct axis axes[2])
{
    struct rs_team *parent = rs_team_get(rs_thread_job(t), handle, "parent");
    if (!parent) return RS_E_ARG;
    int rc = 0;
    for (int k = 0; k < 2 && rc == 0; k++)
        rc = axes[k].team_out ? check_config(axes[k].config, axes[k].mask, axes[k].name)
                              : rs_fail(RS_E_ARG, "%steam is NULL", axes[k].name);
    if (rc == 0) {
        rc = rs_team_split_2d(parent, RS_CALL_TEAM_SPLIT_2D, xrange, &axes[0].team, &axes[1].team);
        for (int k = 0; k < 2; k++) finish(axes[k].team, axes[k].config, axes[k].mask, axes[k].team_out);
    }
    rs_team_put(parent);
    return rc;
}

int rocshmem_team_split_2d(rocshmem_team_t parent, int xrange, const rocshmem_team_config_t *xaxis_config,
                           long xaxis_mask, rocshmem_team_t *xaxis_team,
                           const rocshmem_team_config_t *yaxis_config, long yaxis_mask,
                           rocshmem_team_t *yaxis_team)
{
    struct axis axes[2] = {{"xaxis_", xaxis_config, xaxis_mask, xaxis_team, NULL},
                           {"yaxis_", yaxis_config, yaxis_mask, yaxis_team, NULL}};
    for (int k = 0; k < 2; k++)
        if (axes[k].team_out) *axes[k].team_out = ROCSHMEM_TEAM_INVALID;
    struct rs_thread *t = rs_enter(RS_CALL_TEAM_SPLIT_2D);
    if (RS_UNLIKELY(!t)) return rs_return(__func__);
    int rc = split_2d(t, parent, xrange, axes);
    rs_leave(t, RS_CALL_TEAM_SPLIT_2D);
    return RS_LIKELY(rc == 0) ? 0 : rs_return(__func__);
}

int rocshmem_team_get_config(rocshmem_team_t handle, long mask, rocshmem_team_config_t *config)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return rs_return(__func__);
    struct rs_team *team = rs_team_get(rs_thread_job(rs_self), handle, "team");
    if (!team) return rs_return(__func__);
    const rocshmem_team_config_t known = {.num_contexts = team->num_contexts};
    rs_team_put(team);
    if (check_config(config ? &known : NULL, mask, "") < 0) return rs_return(__func__);
    if (mask & ROCSHMEM_TEAM_NUM_CONTEXTS) config->num_contexts = known.num_contexts;
    return 0;
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
    rs_log(RS_LOG_API, "%s(team %lld)", __func__, (long long)handle);
    rs_team_destroy(team);
    rs_team_put(team);
}

static int active_set(struct rs_job *job, int start, int stride, int size, rocshmem_team_t *team_out)
{
    struct rs_team *team;
    if (!team_out) return rs_fail(RS_E_ARG, "team_out is NULL");
    RS_TRY(rs_active_set(job, start, stride, size, &team));
    *team_out = rs_team_handle(team);
    rs_log(RS_LOG_API, "rocshmemx_active_set(start %d, stride %d, size %d)", start, stride, size);
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
