/* SPDX-License-Identifier: MIT
 *
 * Teams, contexts, order.
 */
#include "layer.h"

_Static_assert(sizeof(shmem_team_config_t) == sizeof(rocshmem_team_config_t) &&
                   offsetof(shmem_team_config_t, num_contexts) ==
                       offsetof(rocshmem_team_config_t, num_contexts),
               "a configuration is passed on as it is");

static inline const rocshmem_team_config_t *config_of(const shmem_team_config_t *config)
{
    return (const rocshmem_team_config_t *)config;
}

/* ---- teams ---- */

LAYER(int, team_my_pe, (shmem_team_t team))
{
    return rocshmem_team_my_pe(layer_team(team));
}

LAYER(int, team_n_pes, (shmem_team_t team))
{
    return rocshmem_team_n_pes(layer_team(team));
}

LAYER(int, team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team))
{
    return rocshmem_team_translate_pe(layer_team(src_team), src_pe, layer_team(dest_team));
}

LAYER(int, team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t *config))
{
    return layer_status(
        rocshmem_team_get_config(layer_team(team), config_mask, (rocshmem_team_config_t *)config));
}

LAYER(int, team_split_strided,
      (shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,
       long config_mask, shmem_team_t *new_team))
{
    return layer_status(rocshmem_team_split_strided(layer_team(parent_team), start, stride, size,
                                                    config_of(config), config_mask,
                                                    (rocshmem_team_t *)new_team));
}

LAYER(int, team_split_2d,
      (shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
       shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
       shmem_team_t *yaxis_team))
{
    return layer_status(rocshmem_team_split_2d(
        layer_team(parent_team), xrange, config_of(xaxis_config), xaxis_mask, (rocshmem_team_t *)xaxis_team,
        config_of(yaxis_config), yaxis_mask, (rocshmem_team_t *)yaxis_team));
}

LAYER(void, team_destroy, (shmem_team_t team))
{
    rocshmem_team_destroy(layer_team(team));
}

/* ---- contexts ---- */

LAYER(int, ctx_create, (long options, shmem_ctx_t *ctx))
{
    rocshmem_ctx_t made;
    int rc = rocshmem_ctx_create(options, ctx ? &made : NULL);
    if (ctx) *ctx = LAYER_LIKELY(rc == 0) ? made.ctx_opaque : SHMEM_CTX_INVALID;
    return layer_status(rc);
}

LAYER(int, team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx))
{
    rocshmem_ctx_t made;
    int rc = rocshmem_team_create_ctx(layer_team(team), options, ctx ? &made : NULL);
    if (ctx) *ctx = LAYER_LIKELY(rc == 0) ? made.ctx_opaque : SHMEM_CTX_INVALID;
    return layer_status(rc);
}

LAYER(void, ctx_destroy, (shmem_ctx_t ctx))
{
    rocshmem_ctx_destroy(layer_ctx(ctx));
}

LAYER(int, ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team))
{
    return layer_status(rocshmem_ctx_get_team(layer_ctx(ctx), (rocshmem_team_t *)team));
}

/* ---- order ---- */

LAYER(void, fence, (void))
{
    rocshmem_fence();
}

LAYER(void, quiet, (void))
{
    rocshmem_quiet();
}

LAYER(void, ctx_fence, (shmem_ctx_t ctx))
{
    rocshmem_ctx_fence(layer_ctx(ctx));
}

LAYER(void, ctx_quiet, (shmem_ctx_t ctx))
{
    rocshmem_ctx_quiet(layer_ctx(ctx));
}

LAYER(void, barrier_all, (void))
{
    rocshmem_barrier_all();
}

LAYER(void, sync_all, (void))
{
    rocshmem_sync_all();
}

LAYER(int, team_sync, (shmem_team_t team))
{
    return layer_status(rocshmem_team_sync(layer_team(team)));
}
