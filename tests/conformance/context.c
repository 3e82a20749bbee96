/* SPDX-License-Identifier: MIT
 *
 * Contexts: independent fence and quiet, and PE numbers relative to a team.
 */
#include "conformance.h"

static void options(void)
{
    for (int64_t option = 0; option < 16; option++) {
        rocshmem_ctx_t ctx = ROCSHMEM_CTX_INVALID;
        CHECK_EQ(rocshmem_ctx_create(option, &ctx), 0);
        rocshmem_ctx_fence(ctx);
        rocshmem_ctx_quiet(ctx);
        rocshmem_ctx_destroy(ctx);
    }
    rocshmem_ctx_t ctx = ROCSHMEM_CTX_INVALID;
    EXPECT_STATUS(rocshmem_ctx_create(16, &ctx), ROCSHMEMX_E_ARG, "rocshmem_ctx_create", "options", "16");
    EXPECT_STATUS(rocshmem_ctx_create(-1, &ctx), ROCSHMEMX_E_ARG, "rocshmem_ctx_create", "options", "-1");
}

static void transfers(void)
{
    rocshmem_ctx_t ctx;
    unsigned char *p = symmetric(4096), local[1000];
    CHECK_EQ(rocshmem_ctx_create(0, &ctx), 0);
    fill(local, sizeof local, (uint64_t)me);
    rocshmem_ctx_putmem(ctx, p, local, sizeof local, right());
    rocshmem_ctx_putmem_nbi(ctx, p + 1000, local, sizeof local, right());
    rocshmem_ctx_quiet(ctx);
    rocshmem_barrier_all();
    CHECK_FILLED(p, 1000, (uint64_t)left());
    CHECK_FILLED(p + 1000, 1000, (uint64_t)left());
    rocshmem_ctx_getmem(ctx, local, p, sizeof local, right());
    CHECK_FILLED(local, 1000, (uint64_t)me);
    memset(local, 0, sizeof local);
    rocshmem_ctx_getmem_nbi(ctx, local, p + 1000, sizeof local, right());
    rocshmem_ctx_fence(ctx);
    rocshmem_ctx_quiet(ctx);
    CHECK_FILLED(local, 1000, (uint64_t)me);
    rocshmem_ctx_destroy(ctx);
    rocshmem_barrier_all();
    rocshmem_free(p);
}

static void destroy_completes(void)
{
    uint64_t *word = symmetric(64);
    for (uint64_t i = 1; i <= 100; i++) {
        rocshmem_ctx_t ctx;
        CHECK_EQ(rocshmem_ctx_create(0, &ctx), 0);
        rocshmem_ctx_putmem_nbi(ctx, word, &i, sizeof i, right());
        rocshmem_ctx_destroy(ctx);
        rocshmem_sync_all();
        CHECK_EQ(GET(word), i);
        rocshmem_sync_all();
    }
    rocshmem_free(word);
}

/* In a context of a team, pe is the team's number, whatever the operation. */
static void team_numbers(void)
{
    rocshmem_team_t team;
    rocshmem_ctx_t ctx;
    uint64_t *word = symmetric(64), value;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, n_pes - 1, -1, n_pes, NULL, 0, &team),
             0); /* reversed */
    CHECK_EQ(rocshmem_team_create_ctx(team, 0, &ctx), 0);
    int mine = rocshmem_team_my_pe(team), next = (mine + 1) % n_pes;
    int previous = rocshmem_team_translate_pe(team, (mine + n_pes - 1) % n_pes, ROCSHMEM_TEAM_WORLD);
    value = (uint64_t)me + 1;
    rocshmem_ctx_putmem(ctx, &word[0], &value, sizeof value, next);
    rocshmem_ctx_putmem_nbi(ctx, &word[1], &value, sizeof value, next);
    rocshmem_ctx_uint64_atomic_add(ctx, &word[2], value, next);
    rocshmem_ctx_uint64_atomic_set(ctx, &word[3], value, next);
    rocshmem_ctx_quiet(ctx);
    rocshmem_barrier(team);
    for (int i = 0; i < 4; i++) CHECK_EQ(GET(&word[i]), previous + 1);
    rocshmem_ctx_getmem(ctx, &value, &word[0], sizeof value, next);
    CHECK_EQ(value, me + 1);
    CHECK_EQ(rocshmem_ctx_uint64_atomic_fetch(ctx, &word[2], next), me + 1);
    rocshmem_barrier_all();
    rocshmem_ctx_destroy(ctx);
    rocshmem_team_destroy(team);
    rocshmem_free(word);
}

static void team_range(void)
{
    rocshmem_team_t team;
    rocshmem_ctx_t ctx;
    char *p = symmetric(64), local[8] = {0};
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes - 1, NULL, 0, &team), 0);
    if (team != ROCSHMEM_TEAM_INVALID) {
        char number[16];
        snprintf(number, sizeof number, "%d", n_pes - 1);
        CHECK_EQ(rocshmem_team_create_ctx(team, 0, &ctx), 0);
        EXPECT_ERROR(rocshmem_ctx_putmem(ctx, p, local, 8, n_pes - 1), ROCSHMEMX_E_ARG, "rocshmem_ctx_putmem",
                     "pe", number);
        EXPECT_ERROR(rocshmem_ctx_int_atomic_inc(ctx, (int *)(void *)p, n_pes - 1), ROCSHMEMX_E_ARG,
                     "rocshmem_ctx_int_atomic_inc", "pe", number);
        rocshmem_ctx_destroy(ctx);
    }
    EXPECT_STATUS(rocshmem_team_create_ctx(ROCSHMEM_TEAM_INVALID, 0, &ctx), ROCSHMEMX_E_ARG,
                  "rocshmem_team_create_ctx", "team");
    rocshmem_team_destroy(team);
    rocshmem_barrier_all();
    rocshmem_free(p);
}

static void get_team(void)
{
    rocshmem_team_t team, got = ROCSHMEM_TEAM_INVALID;
    rocshmem_ctx_t ctx, plain;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &team), 0);
    CHECK_EQ(rocshmem_team_create_ctx(team, ROCSHMEM_CTX_SERIALIZED, &ctx), 0);
    CHECK_EQ(rocshmem_ctx_create(0, &plain), 0);
    CHECK_EQ(rocshmem_ctx_get_team(ctx, &got), 0);
    CHECK(got == team);
    CHECK_EQ(rocshmem_ctx_get_team(plain, &got), 0);
    CHECK(got == ROCSHMEM_TEAM_WORLD);
    got = ROCSHMEM_TEAM_INVALID;
    CHECK_EQ(rocshmem_ctx_get_team(ROCSHMEM_CTX_DEFAULT, &got), 0);
    CHECK(got == ROCSHMEM_TEAM_WORLD);
    EXPECT_STATUS(rocshmem_ctx_get_team(ROCSHMEM_CTX_INVALID, &got), ROCSHMEMX_E_ARG, "rocshmem_ctx_get_team",
                  "INVALID");
    CHECK(got == ROCSHMEM_TEAM_INVALID);
    EXPECT_STATUS(rocshmem_ctx_get_team(plain, NULL), ROCSHMEMX_E_ARG, "rocshmem_ctx_get_team", "team");
    rocshmem_ctx_destroy(plain);
    EXPECT_STATUS(rocshmem_ctx_get_team(plain, &got), ROCSHMEMX_E_ARG, "rocshmem_ctx_get_team", "ctx");
    rocshmem_team_destroy(team); /* ctx ends with it */
    EXPECT_STATUS(rocshmem_ctx_get_team(ctx, &got), ROCSHMEMX_E_ARG, "rocshmem_ctx_get_team", "ctx");
    EXPECT_ERROR(rocshmem_ctx_quiet(ctx), ROCSHMEMX_E_ARG, "rocshmem_ctx_quiet", "ctx");
}

struct private
{
    rocshmem_ctx_t ctx;
    uint64_t *word;
};

static void use_private(void *arg, int i)
{
    struct private *p = arg;
    (void)i;
    EXPECT_ERROR(rocshmem_ctx_uint64_atomic_inc(p->ctx, p->word, me), ROCSHMEMX_E_ARG,
                 "rocshmem_ctx_uint64_atomic_inc", "private to the thread");
    EXPECT_ERROR(rocshmem_ctx_quiet(p->ctx), ROCSHMEMX_E_ARG, "rocshmem_ctx_quiet", "private");
    EXPECT_ERROR(rocshmem_ctx_destroy(p->ctx), ROCSHMEMX_E_ARG, "rocshmem_ctx_destroy", "private");
}

static void private_to_a_thread(void)
{
    struct private p = {.word = symmetric(64)};
    CHECK_EQ(rocshmem_ctx_create(ROCSHMEM_CTX_WG_PRIVATE | ROCSHMEM_CTX_NOSTORE, &p.ctx), 0);
    run_threads(1, use_private, &p);
    rocshmem_ctx_uint64_atomic_inc(p.ctx, p.word, right());
    rocshmem_ctx_quiet(p.ctx);
    rocshmem_barrier_all();
    CHECK_EQ(GET(p.word), 1);
    rocshmem_ctx_destroy(p.ctx);
    rocshmem_free(p.word);
}

static void wrong(void)
{
    char *p = symmetric(64), local[8] = {0};
    rocshmem_ctx_t ctx = ROCSHMEM_CTX_INVALID, unknown = {&unknown, NULL};
    rocshmem_ctx_destroy(ROCSHMEM_CTX_INVALID);
    EXPECT_ERROR(rocshmem_ctx_destroy(ROCSHMEM_CTX_DEFAULT), ROCSHMEMX_E_ARG, "rocshmem_ctx_destroy", "ctx");
    EXPECT_ERROR(rocshmem_ctx_putmem(ctx, p, local, 8, me), ROCSHMEMX_E_ARG, "rocshmem_ctx_putmem", "ctx");
    EXPECT_ERROR(rocshmem_ctx_putmem(unknown, p, local, 8, me), ROCSHMEMX_E_ARG, "rocshmem_ctx_putmem",
                 "ctx");
    EXPECT_ERROR(rocshmem_ctx_quiet(unknown), ROCSHMEMX_E_ARG, "rocshmem_ctx_quiet", "ctx");
    EXPECT_ERROR(rocshmem_ctx_destroy(unknown), ROCSHMEMX_E_ARG, "rocshmem_ctx_destroy", "ctx");
    CHECK_EQ(rocshmem_ctx_create(0, &ctx), 0);
    rocshmem_ctx_destroy(ctx);
    EXPECT_ERROR(rocshmem_ctx_fence(ctx), ROCSHMEMX_E_ARG, "rocshmem_ctx_fence", "ctx");
    EXPECT_ERROR(rocshmem_ctx_destroy(ctx), ROCSHMEMX_E_ARG, "rocshmem_ctx_destroy", "ctx");
    rocshmem_barrier_all();
    CHECK_BYTES(p, 64, 0);
    rocshmem_free(p);
}

static void many(void)
{
    enum { MANY = 3000 };
    rocshmem_ctx_t *ctx = ordinary(MANY * sizeof *ctx);
    uint64_t *word = symmetric(64);
    for (int i = 0; i < MANY; i++) CHECK_EQ(rocshmem_ctx_create(0, &ctx[i]), 0);
    for (int i = 0; i < MANY; i++) rocshmem_ctx_uint64_atomic_inc(ctx[i], word, right());
    for (int i = 0; i < MANY; i++) rocshmem_ctx_destroy(ctx[(i * 7) % MANY]);
    rocshmem_barrier_all();
    CHECK_EQ(GET(word), MANY);
    free(ctx);
    rocshmem_free(word);
}

static void create_and_use(void *arg, int i)
{
    for (int k = 0; k < times(300); k++) {
        rocshmem_ctx_t ctx;
        CHECK_EQ(rocshmem_ctx_create(ROCSHMEM_CTX_SERIALIZED, &ctx), 0);
        rocshmem_ctx_uint64_atomic_inc(ctx, (uint64_t *)arg + i, right());
        rocshmem_ctx_destroy(ctx);
    }
}

static void threads(void)
{
    uint64_t *words = symmetric(64);
    run_threads(4, create_and_use, words);
    rocshmem_barrier_all();
    for (int i = 0; i < 4; i++) CHECK_EQ(GET(&words[i]), times(300));
    rocshmem_free(words);
}

static const struct test_case context_cases[] = {
    {"every_option_gives_a_context_and_unknown_ones_are_refused", options, 0},
    {"transfers_complete_with_the_quiet_of_their_context", transfers, 0},
    {"destroy_completes_what_is_under_way", destroy_completes, 0},
    {"pe_numbers_of_a_team_s_context_are_the_team_s", team_numbers, 0},
    {"a_pe_outside_the_team_of_the_context_is_refused", team_range, NEEDS_2_PES},
    {"a_context_tells_its_team_and_ends_with_it", get_team, 0},
    {"a_private_context_is_refused_to_other_threads", private_to_a_thread, 0},
    {"unknown_destroyed_and_invalid_contexts_are_refused", wrong, 0},
    {"three_thousand_contexts_live_at_the_same_time", many, 0},
    {"threads_make_contexts_of_their_own", threads, 0},
};
CHAPTER(context);
