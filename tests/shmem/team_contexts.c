/* SPDX-License-Identifier: MIT
 *
 * Contexts of teams: PE numbers are the team's, for transfers, atomics and signals; where a context comes from; what an
 * invalid one gives. Needs 1.5.
 */
#include "check.h"

static long words[64], block[64];
static uint64_t signal_word;

/* Every PE writes to each member, by the member's number in the team. */
static void numbers_are_the_teams(void)
{
    int start = n_pes > 2, stride = n_pes > 2 ? 2 : 1, size = (n_pes - 1 - start) / stride + 1;
    shmem_team_t team;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &team), 0);
    if (team != SHMEM_TEAM_INVALID) {
        shmem_ctx_t ctx = SHMEM_CTX_INVALID;
        CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
        CHECK(ctx != SHMEM_CTX_INVALID);
        int rank = shmem_team_my_pe(team);
        for (int i = 0; i < size; i++) {
            shmem_ctx_long_p(ctx, &words[rank], 10 * rank + i, i);
            shmem_ctx_long_atomic_add(ctx, &words[40], i + 1, i);
            long value = 7 * rank + i;
            shmem_ctx_long_put_signal(ctx, &block[rank], &value, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, i);
        }
        shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, (uint64_t)size);
        shmem_ctx_quiet(ctx);
        CHECK_EQ(shmem_team_sync(team), 0);
        for (int i = 0; i < size; i++) {
            CHECK_EQ(words[i], 10 * i + rank);
            CHECK_EQ(block[i], 7 * i + rank);
            CHECK_EQ(shmem_ctx_long_g(ctx, &words[rank], i), 10 * rank + i);
            CHECK_EQ(shmem_ctx_long_atomic_fetch(ctx, &words[40], i), (long)size * (i + 1));
        }
        CHECK_EQ(words[size], 0);
        CHECK_EQ(shmem_team_sync(team), 0);
        shmem_ctx_destroy(ctx);
        shmem_team_destroy(team);
    } else {
        CHECK_EQ(words[0], 0);
        CHECK_EQ(words[40], 0);
    }
    shmem_barrier_all();
}

static void teams_of_contexts(void)
{
    shmem_team_t team, of_ctx = SHMEM_TEAM_INVALID;
    shmem_ctx_t ctx, plain;
    CHECK_EQ(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &of_ctx), 0);
    CHECK(of_ctx == SHMEM_TEAM_WORLD);
    CHECK_EQ(shmem_ctx_create(0, &plain), 0);
    of_ctx = SHMEM_TEAM_INVALID;
    CHECK_EQ(shmem_ctx_get_team(plain, &of_ctx), 0);
    CHECK(of_ctx == SHMEM_TEAM_WORLD);
    shmem_ctx_destroy(plain);
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, (n_pes + 1) / 2, NULL, 0, &team), 0);
    if (team != SHMEM_TEAM_INVALID) {
        CHECK_EQ(shmem_team_create_ctx(team, SHMEM_CTX_SERIALIZED, &ctx), 0);
        CHECK_EQ(shmem_ctx_get_team(ctx, &of_ctx), 0);
        CHECK(of_ctx == team);
        shmem_ctx_destroy(ctx);
        CHECK_EQ(shmem_team_create_ctx(SHMEM_TEAM_WORLD, 0, &ctx), 0);
        CHECK_EQ(shmem_ctx_get_team(ctx, &of_ctx), 0);
        CHECK(of_ctx == SHMEM_TEAM_WORLD);
        shmem_ctx_destroy(ctx);
        shmem_team_destroy(team);
    }
    shmem_barrier_all();
}

static void invalid_contexts(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0);
    CHECK(ctx == SHMEM_CTX_INVALID);
    shmem_barrier_all();
}

/* A team lives as long as somebody uses it: contexts that are not private end with it, or before. */
static void contexts_end_with_their_team(void)
{
    for (int round = 0; round < 20; round++) {
        shmem_team_t team;
        shmem_ctx_t all[4];
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &team), 0);
        for (int i = 0; i < 4; i++) {
            CHECK_EQ(shmem_team_create_ctx(team, i % 2 ? SHMEM_CTX_PRIVATE : 0, &all[i]), 0);
            shmem_ctx_long_atomic_inc(all[i], &words[50], right());
        }
        shmem_ctx_destroy(all[1]);
        shmem_ctx_destroy(all[3]);
        shmem_ctx_destroy(all[2]);
        shmem_ctx_quiet(all[0]);
        shmem_team_destroy(team);
    }
    shmem_barrier_all();
    CHECK_EQ(words[50], 80);
}

int main(void)
{
    check_begin("team_contexts");
    if (n_pes > 32) return check_end();
    check_case("numbers_are_the_teams");
    numbers_are_the_teams();
    check_case("teams_of_contexts");
    teams_of_contexts();
    check_case("invalid_contexts");
    invalid_contexts();
    check_case("contexts_end_with_their_team");
    contexts_end_with_their_team();
    return check_end();
}
