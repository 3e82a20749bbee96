/* SPDX-License-Identifier: MIT
 *
 * Contexts by number. A handle carries an index and a generation, so that a destroyed or invented one is
 * recognised; a context is made and given back without allocation. Called by any thread.
 */
#include <stdlib.h>

#include "base/status.h"
#include "pgas/job.h"
#include "pgas/thread.h"

#define VALID_OPTIONS                                                                                        \
    (ROCSHMEM_CTX_NOSTORE | ROCSHMEM_CTX_SERIALIZED | ROCSHMEM_CTX_WG_PRIVATE | ROCSHMEM_CTX_SHARED)

int rs_contexts_create(struct rs_contexts **contexts_out)
{
    struct rs_contexts *contexts = calloc(1, sizeof *contexts);
    if (!contexts) return rs_fail(RS_E_NOMEM, "no memory for contexts");
    pthread_mutex_init(&contexts->lock, NULL);
    *contexts_out = contexts;
    return 0;
}

void rs_contexts_destroy(struct rs_contexts *contexts)
{
    if (!contexts) return;
    for (uint32_t i = 0; i < RS_CONTEXT_CHUNKS; i++) free(contexts->chunks[i]);
    pthread_mutex_destroy(&contexts->lock);
    free(contexts);
}

/* Handle: index + 2 in the low half (1 is the default context, 0 none), generation in the high half. */
static rocshmem_ctx_t handle_of(uint32_t index, uint32_t generation, const struct rs_team *team)
{
    return (rocshmem_ctx_t){(void *)((uintptr_t)generation << 32 | (index + 2)),
                            team ? rs_team_handle(team) : NULL};
}

static struct rs_context *slot_of(struct rs_contexts *contexts, uint32_t index)
{
    if (index / RS_CONTEXT_CHUNK >= RS_CONTEXT_CHUNKS) return NULL;
    struct rs_context *chunk =
        atomic_load_explicit(&contexts->chunks[index / RS_CONTEXT_CHUNK], memory_order_acquire);
    return chunk ? &chunk[index % RS_CONTEXT_CHUNK] : NULL;
}

static int take_locked(struct rs_contexts *contexts, uint32_t *index_out)
{
    if (contexts->first_free) {
        *index_out = contexts->first_free - 1;
        contexts->first_free = slot_of(contexts, *index_out)->next_free;
        return 0;
    }
    uint32_t chunk = contexts->n / RS_CONTEXT_CHUNK;
    if (chunk >= RS_CONTEXT_CHUNKS)
        return rs_fail(RS_E_LIMIT, "%u contexts are alive, more cannot be; destroy some", contexts->n);
    if (!contexts->chunks[chunk]) {
        struct rs_context *more = calloc(RS_CONTEXT_CHUNK, sizeof *more);
        if (!more) return rs_fail(RS_E_NOMEM, "no memory for more than %u contexts", contexts->n);
        atomic_store_explicit(&contexts->chunks[chunk], more, memory_order_release);
    }
    *index_out = contexts->n++;
    return 0;
}

int rs_context_create(struct rs_job *job, struct rs_team *team, int64_t options, rocshmem_ctx_t *ctx_out)
{
    if (options & ~(int64_t)VALID_OPTIONS)
        return rs_fail(RS_E_ARG, "options %lld has unknown bits; known are ROCSHMEM_CTX_*, together %d",
                       (long long)options, VALID_OPTIONS);
    struct rs_contexts *contexts = job->contexts;
    uint32_t index = 0;
    pthread_mutex_lock(&contexts->lock);
    int rc = take_locked(contexts, &index);
    if (rc == 0) {
        struct rs_context *context = slot_of(contexts, index);
        context->options = options;
        context->team = team;
        context->owner = rs_self;
        if (team) team->n_contexts++;
        uint32_t generation = atomic_load_explicit(&context->generation, memory_order_relaxed) + 1;
        atomic_store_explicit(&context->generation, generation, memory_order_release);
        *ctx_out = handle_of(index, generation, team);
    }
    pthread_mutex_unlock(&contexts->lock);
    return rc;
}

static struct rs_context *find(struct rs_job *job, rocshmem_ctx_t ctx)
{
    uintptr_t handle = (uintptr_t)ctx.ctx_opaque;
    uint32_t low = (uint32_t)handle, generation = (uint32_t)(handle >> 32);
    struct rs_context *context = low >= 2 ? slot_of(job->contexts, low - 2) : NULL;
    if (RS_UNLIKELY(!context || generation % 2 == 0 ||
                    atomic_load_explicit(&context->generation, memory_order_acquire) != generation)) {
        rs_fail(RS_E_ARG,
                "ctx %p is not a live context; rocshmem_ctx_create makes one, ROCSHMEM_CTX_DEFAULT is always "
                "there",
                ctx.ctx_opaque);
        return NULL;
    }
    if (RS_UNLIKELY(context->options & ROCSHMEM_CTX_WG_PRIVATE && context->owner != rs_self)) {
        rs_fail(
            RS_E_ARG,
            "ctx %p is private to the thread that made it; make it without ROCSHMEM_CTX_WG_PRIVATE, or one "
            "for each thread",
            ctx.ctx_opaque);
        return NULL;
    }
    return context;
}

const struct rs_context *rs_context_get(struct rs_job *job, rocshmem_ctx_t ctx)
{
    return find(job, ctx);
}

/* Its team, whose reference the caller puts when the lock is off. */
static struct rs_team *release_locked(struct rs_contexts *contexts, struct rs_context *context,
                                      uint32_t index)
{
    struct rs_team *team = context->team;
    context->team = NULL;
    if (team) team->n_contexts--;
    context->next_free = contexts->first_free;
    contexts->first_free = index + 1;
    return team;
}

int rs_context_destroy(struct rs_job *job, rocshmem_ctx_t ctx)
{
    struct rs_context *context = find(job, ctx);
    if (!context) return RS_E_ARG;
    if (job->can_be_outstanding) RS_TRY(rs_job_complete(job, false));
    pthread_mutex_lock(&job->contexts->lock);
    uint32_t generation = (uint32_t)((uintptr_t)ctx.ctx_opaque >> 32);
    bool mine = atomic_compare_exchange_strong(&context->generation, &generation, generation + 1);
    struct rs_team *team = NULL;
    if (mine) team = release_locked(job->contexts, context, (uint32_t)(uintptr_t)ctx.ctx_opaque - 2);
    pthread_mutex_unlock(&job->contexts->lock);
    if (team) rs_team_put(team);
    return mine ? 0 : rs_fail(RS_E_ARG, "ctx %p was destroyed by another thread", ctx.ctx_opaque);
}

void rs_contexts_forget(struct rs_job *job, struct rs_team *team)
{
    struct rs_contexts *contexts = job->contexts;
    int n = 0;
    pthread_mutex_lock(&contexts->lock);
    for (uint32_t index = 0; team->n_contexts > 0 && index < contexts->n; index++) {
        struct rs_context *context = slot_of(contexts, index);
        if (context->team != team) continue;
        atomic_fetch_add_explicit(&context->generation, 1, memory_order_release);
        release_locked(contexts, context, index);
        n++;
    }
    pthread_mutex_unlock(&contexts->lock);
    while (n-- > 0) rs_team_put(team); /* the table's reference is still there */
}
