/* SPDX-License-Identifier: MIT
 *
 * Contexts: handles that are dead, invented or of another generation; thousands alive; many threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "pes.h"
#include "pgas/collective.h"

static struct pes pes;

static int set_up(void **state)
{
    (void)state;
    pes_create(&pes, 1, 4, 1 << 16);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pes_destroy(&pes);
    return 0;
}

static rocshmem_ctx_t create(int64_t options)
{
    rocshmem_ctx_t ctx = {0};
    CHECK(rs_context_create(pes.jobs[0], NULL, options, &ctx) == 0);
    return ctx;
}

static void a_context_keeps_its_options_while_it_lives(void **state)
{
    (void)state;
    rocshmem_ctx_t a = create(0), b = create(ROCSHMEM_CTX_NOSTORE | ROCSHMEM_CTX_SHARED);
    assert_ptr_not_equal(a.ctx_opaque, b.ctx_opaque);
    assert_true((uintptr_t)a.ctx_opaque > 1); /* not the default one */
    assert_true(rs_context_get(pes.jobs[0], a)->options == 0);
    assert_true(rs_context_get(pes.jobs[0], b)->options == (ROCSHMEM_CTX_NOSTORE | ROCSHMEM_CTX_SHARED));
    assert_int_equal(rs_context_destroy(pes.jobs[0], a), 0);
    assert_non_null(rs_context_get(pes.jobs[0], b));
    assert_int_equal(rs_context_destroy(pes.jobs[0], b), 0);
}

static void unknown_options_are_refused_by_value(void **state)
{
    (void)state;
    rocshmem_ctx_t ctx = {0};
    assert_int_equal(rs_context_create(pes.jobs[0], NULL, 1 << 20, &ctx), RS_E_ARG);
    assert_non_null(strstr(rs_error_slot()->text, "1048576"));
    assert_int_equal(rs_context_create(pes.jobs[0], NULL, -1, &ctx), RS_E_ARG);
    assert_null(ctx.ctx_opaque);
}

static void is_unknown(rocshmem_ctx_t ctx)
{
    rs_error_clear();
    assert_null(rs_context_get(pes.jobs[0], ctx));
    assert_int_equal(rs_error_slot()->status, RS_E_ARG);
    assert_non_null(strstr(rs_error_slot()->text, "is not a live context"));
    assert_int_equal(rs_context_destroy(pes.jobs[0], ctx), RS_E_ARG);
}

static void dead_and_invented_handles_are_none(void **state)
{
    (void)state;
    rocshmem_ctx_t ctx = create(0);
    uintptr_t word = (uintptr_t)ctx.ctx_opaque;
    assert_int_equal(rs_context_destroy(pes.jobs[0], ctx), 0);
    is_unknown(ctx);
    rocshmem_ctx_t again = create(0); /* in the same place */
    assert_true((uint32_t)(uintptr_t)again.ctx_opaque == (uint32_t)word);
    is_unknown(ctx);
    assert_non_null(rs_context_get(pes.jobs[0], again));
    uintptr_t invented[] = {0,
                            1,
                            word + 1000,
                            (uint32_t)word,
                            UINTPTR_MAX,
                            (uintptr_t)1 << 32 | UINT32_MAX,
                            word + ((uintptr_t)1 << 32),
                            (uintptr_t)&word};
    for (size_t i = 0; i < sizeof invented / sizeof *invented; i++)
        is_unknown((rocshmem_ctx_t){(void *)invented[i], NULL}); /* NOLINT: not an address */
    assert_int_equal(rs_context_destroy(pes.jobs[0], again), 0);
}

static void thousands_may_live_and_their_places_are_used_again(void **state)
{
    (void)state;
    enum { N = 3 * RS_CONTEXT_CHUNK + 5 };
    static rocshmem_ctx_t all[N];
    uint32_t n = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) all[i] = create(i % 2 ? ROCSHMEM_CTX_SERIALIZED : 0);
        for (int i = 0; i < N; i++)
            assert_true(rs_context_get(pes.jobs[0], all[i])->options ==
                        (i % 2 ? ROCSHMEM_CTX_SERIALIZED : 0));
        for (int i = 0; i < N; i++)
            assert_int_equal(rs_context_destroy(pes.jobs[0], all[(i * 7) % N]),
                             0); /* 7 and N share no factor */
        if (round == 0) n = pes.jobs[0]->contexts->n;
    }
    assert_true(pes.jobs[0]->contexts->n == n);
}

static rocshmem_ctx_t create_of(struct rs_job *job, struct rs_team *team)
{
    rocshmem_ctx_t ctx;
    CHECK(rs_team_get(job, rs_team_handle(team), "team") == team); /* the context takes this reference over */
    CHECK(rs_context_create(job, team, 0, &ctx) == 0);
    CHECK(ctx.team_opaque == rs_team_handle(team) && rs_context_get(job, ctx)->team == team);
    return ctx;
}

static struct rs_team *split(struct rs_job *job)
{
    struct rs_team *team = NULL;
    CHECK(rs_team_split(job->world, RS_CALL_TEAM_SPLIT_STRIDED, 0, 1, 1, &team) == 0);
    return team;
}

/* Thousands of them: nothing is left over, of contexts or of teams. */
static void contexts_of_teams(struct rs_job *job, void *arg)
{
    (void)arg;
    rocshmem_ctx_t other = create(0), of_team[3];
    struct rs_team *stays = split(job);
    rocshmem_ctx_t of_stays = create_of(job, stays);
    uint32_t n = 0;
    for (int round = 0; round < 2000; round++) {
        struct rs_team *team = split(job);
        int slot = team->slot;
        for (int i = 0; i < 3; i++) of_team[i] = create_of(job, team);
        CHECK(rs_context_destroy(job, of_team[1]) == 0);
        rs_team_destroy(team);
        for (int i = 0; i < 3; i++) CHECK(!rs_context_get(job, of_team[i]));
        CHECK(rs_context_get(job, other) && rs_context_get(job, of_stays));
        struct rs_team *next = split(job);
        CHECK(next->slot == slot); /* no context holds it */
        rs_team_destroy(next);
        if (round == 0) n = job->contexts->n;
    }
    CHECK(job->contexts->n == n && stays->n_contexts == 1);
    CHECK(rs_context_destroy(job, other) == 0 && rs_context_destroy(job, of_stays) == 0);
    CHECK(stays->n_contexts == 0);
    rs_team_destroy(stays);
}

static void contexts_end_with_their_team(void **state)
{
    (void)state;
    pes_run(&pes, contexts_of_teams, NULL);
}

struct private
{
    rocshmem_ctx_t ctx[2];
};

static void use_private(struct rs_job *job, void *arg)
{
    struct private *p = arg;
    CHECK(rs_context_get(job, p->ctx[0])); /* anyone's */
    CHECK(!rs_context_get(job, p->ctx[1]) && strstr(rs_error_slot()->text, "private to the thread"));
    CHECK(rs_context_destroy(job, p->ctx[1]) == RS_E_ARG);
    rocshmem_ctx_t mine;
    CHECK(rs_context_create(job, NULL, ROCSHMEM_CTX_WG_PRIVATE, &mine) == 0);
    CHECK(rs_context_get(job, mine) && rs_context_destroy(job, mine) == 0);
}

static void a_private_context_is_its_thread_s(void **state)
{
    (void)state;
    struct private p = {.ctx = {create(ROCSHMEM_CTX_SERIALIZED), create(ROCSHMEM_CTX_WG_PRIVATE)}};
    pes_run(&pes, use_private, &p);
    assert_non_null(rs_context_get(pes.jobs[0], p.ctx[1]));
    for (int i = 0; i < 2; i++) assert_int_equal(rs_context_destroy(pes.jobs[0], p.ctx[i]), 0);
}

static void make_and_give_back(int number, void *arg)
{
    (void)arg;
    rocshmem_ctx_t mine[20];
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 20; i++) mine[i] = create(number % 2 ? ROCSHMEM_CTX_SERIALIZED : 0);
        for (int i = 0; i < 20; i++) {
            const struct rs_context *context = rs_context_get(pes.jobs[0], mine[i]);
            CHECK(context && context->options == (number % 2 ? ROCSHMEM_CTX_SERIALIZED : 0));
            CHECK(rs_context_destroy(pes.jobs[0], mine[i]) == 0);
            CHECK(!rs_context_get(pes.jobs[0], mine[i]));
        }
    }
}

static void threads_never_get_the_same_context(void **state)
{
    (void)state;
    pes_threads(6, make_and_give_back, NULL);
}

struct same {
    rocshmem_ctx_t all[100];
    _Atomic int n_destroyed;
};

static void destroy_the_same(int number, void *arg)
{
    struct same *same = arg;
    (void)number;
    for (int i = 0; i < 100; i++)
        if (rs_context_destroy(pes.jobs[0], same->all[i]) == 0) atomic_fetch_add(&same->n_destroyed, 1);
}

static void of_many_threads_one_destroys(void **state)
{
    (void)state;
    struct same same = {.n_destroyed = 0};
    for (int i = 0; i < 100; i++) same.all[i] = create(0);
    pes_threads(4, destroy_the_same, &same);
    assert_int_equal(same.n_destroyed, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_context_keeps_its_options_while_it_lives),
        cmocka_unit_test(unknown_options_are_refused_by_value),
        cmocka_unit_test(dead_and_invented_handles_are_none),
        cmocka_unit_test(thousands_may_live_and_their_places_are_used_again),
        cmocka_unit_test(contexts_end_with_their_team),
        cmocka_unit_test(a_private_context_is_its_thread_s),
        cmocka_unit_test(threads_never_get_the_same_context),
        cmocka_unit_test(of_many_threads_one_destroys),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
