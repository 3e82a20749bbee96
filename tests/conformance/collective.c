/* SPDX-License-Identifier: MIT
 *
 * Broadcast, all-to-all and gather of bytes, over WORLD and over teams.
 */
#include "conformance.h"

static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 63, 64, 65, 100, 1000, 4096, 4097, 65537, 262144 + 5};
enum { N_SIZES = sizeof sizes / sizeof sizes[0], NBYTES_MAX = 262144 + 5, GUARD = 64 };

/* The teams a case runs over: WORLD, SHARED, the PEs of my parity, all PEs in reverse. */
struct teams {
    rocshmem_team_t team[4];
    int n;
};

static struct teams make_teams(void)
{
    struct teams teams = {{ROCSHMEM_TEAM_WORLD, ROCSHMEM_TEAM_SHARED}, 2};
    rocshmem_team_t even, odd;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 2, (n_pes + 1) / 2, NULL, 0, &even), 0);
    if (n_pes > 1)
        CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 1, 2, n_pes / 2, NULL, 0, &odd), 0);
    teams.team[teams.n++] = me % 2 ? odd : even;
    return teams;
}

static void free_teams(struct teams *teams)
{
    for (int i = 2; i < teams->n; i++) rocshmem_team_destroy(teams->team[i]);
}

static void broadcast(void)
{
    unsigned char *dest = symmetric(NBYTES_MAX + 2 * GUARD), *source = symmetric(NBYTES_MAX);
    struct teams teams = make_teams();
    for (int t = 0; t < teams.n; t++) {
        rocshmem_team_t team = teams.team[t];
        int n = rocshmem_team_n_pes(team);
        for (int root = 0; root < n; root++)
            for (size_t s = 0; s < N_SIZES; s++) {
                int world_root = rocshmem_team_translate_pe(team, root, ROCSHMEM_TEAM_WORLD);
                fill(source, sizes[s], (uint64_t)(me * 100 + root) + s);
                fill_byte(dest, sizes[s] + 2 * GUARD, 0xdd);
                rocshmem_barrier(team);
                CHECK_EQ(rocshmem_broadcastmem(team, dest + GUARD, source, sizes[s], root), 0);
                CHECK_BYTES(dest, GUARD, 0xdd);
                CHECK_FILLED(dest + GUARD, sizes[s], (uint64_t)(world_root * 100 + root) + s);
                CHECK_BYTES(dest + GUARD + sizes[s], GUARD, 0xdd);
            }
    }
    free_teams(&teams);
    rocshmem_free(dest);
    rocshmem_free(source);
}

static void broadcast_in_place(void)
{
    unsigned char *p = symmetric(5000);
    for (int root = 0; root < n_pes; root++) {
        fill(p, 5000, (uint64_t)me);
        rocshmem_barrier_all();
        CHECK_EQ(rocshmem_broadcastmem(ROCSHMEM_TEAM_WORLD, p, p, 5000, root), 0);
        CHECK_FILLED(p, 5000, (uint64_t)root);
        rocshmem_barrier_all();
    }
    rocshmem_free(p);
}

static void alltoall(void)
{
    size_t room = (size_t)n_pes * NBYTES_MAX;
    unsigned char *dest = symmetric(room), *source = symmetric(room);
    struct teams teams = make_teams();
    for (int t = 0; t < teams.n; t++) {
        rocshmem_team_t team = teams.team[t];
        int n = rocshmem_team_n_pes(team), mine = rocshmem_team_my_pe(team);
        for (size_t s = 0; s < N_SIZES; s++) {
            size_t block = sizes[s];
            for (int i = 0; i < n; i++)
                fill(source + (size_t)i * block, block, (uint64_t)(mine * 64 + i) + s * 10000 + (uint64_t)t);
            fill_byte(dest, (size_t)n * block, 0xdd);
            rocshmem_barrier_all();
            CHECK_EQ(rocshmem_alltoallmem(team, dest, source, block), 0);
            for (int j = 0; j < n; j++)
                CHECK_FILLED(dest + (size_t)j * block, block,
                             (uint64_t)(j * 64 + mine) + s * 10000 + (uint64_t)t);
            rocshmem_barrier_all();
        }
    }
    free_teams(&teams);
    rocshmem_free(dest);
    rocshmem_free(source);
}

static void fcollect(void)
{
    unsigned char *dest = symmetric((size_t)n_pes * NBYTES_MAX), *source = symmetric(NBYTES_MAX);
    struct teams teams = make_teams();
    for (int t = 0; t < teams.n; t++) {
        rocshmem_team_t team = teams.team[t];
        int n = rocshmem_team_n_pes(team), mine = rocshmem_team_my_pe(team);
        for (size_t s = 0; s < N_SIZES; s++) {
            fill(source, sizes[s], (uint64_t)mine + s * 100 + (uint64_t)t);
            fill_byte(dest, (size_t)n * sizes[s], 0xdd);
            rocshmem_barrier_all();
            CHECK_EQ(rocshmem_fcollectmem(team, dest, source, sizes[s]), 0);
            for (int j = 0; j < n; j++)
                CHECK_FILLED(dest + (size_t)j * sizes[s], sizes[s], (uint64_t)j + s * 100 + (uint64_t)t);
            rocshmem_barrier_all();
        }
    }
    free_teams(&teams);
    rocshmem_free(dest);
    rocshmem_free(source);
}

/* No barrier between the calls, two sets of buffers in turn: a later call never disturbs an earlier one. */
static void back_to_back(void)
{
    enum { N = 300, BLOCK = 100 };
    size_t room = (size_t)n_pes * BLOCK;
    unsigned char *dest = symmetric(room * 6), *source = symmetric(room * 2);
    uint64_t state = (uint64_t)me;
    for (uint64_t i = 0; i < N; i++) {
        unsigned char *all = dest + (i & 1) * room, *cast = all + 2 * room, *gather = all + 4 * room;
        unsigned char *out = source + (i & 1) * room;
        int root = (int)(i % (uint64_t)n_pes);
        for (int pe = 0; pe < n_pes; pe++) fill(out + pe * BLOCK, BLOCK, i * 100 + (uint64_t)(me * 10 + pe));
        dawdle(&state);
        CHECK_EQ(rocshmem_alltoallmem(ROCSHMEM_TEAM_WORLD, all, out, BLOCK), 0);
        for (int pe = 0; pe < n_pes; pe++)
            CHECK_FILLED(all + pe * BLOCK, BLOCK, i * 100 + (uint64_t)(pe * 10 + me));
        CHECK_EQ(rocshmem_broadcastmem(ROCSHMEM_TEAM_WORLD, cast, out, BLOCK, root), 0);
        CHECK_FILLED(cast, BLOCK, i * 100 + (uint64_t)root * 10);
        CHECK_EQ(rocshmem_fcollectmem(ROCSHMEM_TEAM_WORLD, gather, out, BLOCK), 0);
        for (int pe = 0; pe < n_pes; pe++)
            CHECK_FILLED(gather + pe * BLOCK, BLOCK, i * 100 + (uint64_t)(pe * 10));
    }
    rocshmem_barrier_all();
    rocshmem_free(dest);
    rocshmem_free(source);
}

/* Sources are not symmetric memory's privilege to be reused: when the call returns, the source is the
 * caller's again. */
static void source_reuse(void)
{
    enum { N = 200 };
    uint64_t *dest = symmetric(sizeof(uint64_t) * (size_t)n_pes), *source = symmetric(64);
    for (uint64_t i = 1; i <= N; i++) {
        *source = i * 100 + (uint64_t)me;
        CHECK_EQ(rocshmem_fcollectmem(ROCSHMEM_TEAM_WORLD, dest, source, sizeof *source), 0);
        *source = 0;
        for (int pe = 0; pe < n_pes; pe++) CHECK_EQ(dest[pe], i * 100 + (uint64_t)pe);
        rocshmem_sync_all(); /* dest is about to be written again */
    }
    rocshmem_free(dest);
    rocshmem_free(source);
}

static void zero_bytes(void)
{
    unsigned char *p = symmetric(64), *q = symmetric(64);
    CHECK_EQ(rocshmem_broadcastmem(ROCSHMEM_TEAM_WORLD, p, q, 0, 0), 0);
    CHECK_EQ(rocshmem_alltoallmem(ROCSHMEM_TEAM_WORLD, p, q, 0), 0);
    CHECK_EQ(rocshmem_fcollectmem(ROCSHMEM_TEAM_WORLD, p, q, 0), 0);
    CHECK_BYTES(p, 64, 0);
    rocshmem_free(p);
    rocshmem_free(q);
}

/* Refused before anybody is told, so every PE must make the same mistake here. */
static void wrong(void)
{
    unsigned char *p = symmetric(64), *q = symmetric(64), local[64];
    char number[16];
    rocshmem_team_t world = ROCSHMEM_TEAM_WORLD, none = ROCSHMEM_TEAM_INVALID;
    snprintf(number, sizeof number, "%d", n_pes);
    EXPECT_STATUS(rocshmem_broadcastmem(world, p, q, 8, n_pes), ROCSHMEMX_E_ARG, "rocshmem_broadcastmem",
                  "pe_root", number);
    EXPECT_STATUS(rocshmem_broadcastmem(world, p, q, 8, -1), ROCSHMEMX_E_ARG, "rocshmem_broadcastmem",
                  "pe_root", "-1");
    EXPECT_STATUS(rocshmem_broadcastmem(none, p, q, 8, 0), ROCSHMEMX_E_ARG, "rocshmem_broadcastmem", "team",
                  "INVALID");
    EXPECT_STATUS(rocshmem_alltoallmem(none, p, q, 8), ROCSHMEMX_E_ARG, "rocshmem_alltoallmem", "team",
                  "INVALID");
    EXPECT_STATUS(rocshmem_fcollectmem(none, p, q, 8), ROCSHMEMX_E_ARG, "rocshmem_fcollectmem", "team",
                  "INVALID");
    EXPECT_STATUS(rocshmem_broadcastmem(world, local, q, 8, 0), ROCSHMEMX_E_ARG, "rocshmem_broadcastmem",
                  "dest");
    EXPECT_STATUS(rocshmem_broadcastmem(world, p, q, 65, 0), ROCSHMEMX_E_ARG, "rocshmem_broadcastmem", "65");
    EXPECT_STATUS(rocshmem_alltoallmem(world, local, q, 1), ROCSHMEMX_E_ARG, "rocshmem_alltoallmem", "dest");
    EXPECT_STATUS(rocshmem_alltoallmem(world, p, local, 1), ROCSHMEMX_E_ARG, "rocshmem_alltoallmem",
                  "source");
    EXPECT_STATUS(rocshmem_alltoallmem(world, p, q, 65), ROCSHMEMX_E_ARG, "rocshmem_alltoallmem", "dest");
    EXPECT_STATUS(rocshmem_alltoallmem(world, p, q, SIZE_MAX), ROCSHMEMX_E_ARG, "rocshmem_alltoallmem",
                  "18446744073709551615");
    EXPECT_STATUS(rocshmem_fcollectmem(world, p, local, 1), ROCSHMEMX_E_ARG, "rocshmem_fcollectmem",
                  "source");
    EXPECT_STATUS(rocshmem_fcollectmem(world, p, q, 65), ROCSHMEMX_E_ARG, "rocshmem_fcollectmem", "dest");
    rocshmem_barrier_all();
    CHECK_BYTES(p, 64, 0);
    rocshmem_free(p);
    rocshmem_free(q);
}

static void overlap(void)
{
    unsigned char *p = symmetric(4096);
    size_t block = 64;
    EXPECT_STATUS(rocshmem_alltoallmem(ROCSHMEM_TEAM_WORLD, p, p + 1, block), ROCSHMEMX_E_ARG,
                  "rocshmem_alltoallmem", "overlap");
    EXPECT_STATUS(rocshmem_alltoallmem(ROCSHMEM_TEAM_WORLD, p, p, block), ROCSHMEMX_E_ARG,
                  "rocshmem_alltoallmem", "overlap");
    rocshmem_barrier_all();
    rocshmem_free(p);
}

struct two_teams {
    rocshmem_team_t team[2];
    unsigned char *dest[2], *source[2];
};

static void collectives_of_team(void *arg, int i)
{
    struct two_teams *two = arg;
    uint64_t state = (uint64_t)(me * 2 + i);
    for (uint64_t k = 0; k < 300; k++) {
        fill(two->source[i], 256, k * 100 + (uint64_t)(me * 2 + i));
        dawdle(&state);
        CHECK_EQ(rocshmem_fcollectmem(two->team[i], two->dest[i], two->source[i], 256), 0);
        for (int pe = 0; pe < n_pes; pe++)
            CHECK_FILLED(two->dest[i] + pe * 256, 256, k * 100 + (uint64_t)(pe * 2 + i));
        rocshmem_barrier(two->team[i]);
    }
}

static void two_threads(void)
{
    struct two_teams two;
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &two.team[i]), 0);
        two.dest[i] = symmetric((size_t)n_pes * 256);
        two.source[i] = symmetric(256);
    }
    run_threads(2, collectives_of_team, &two);
    rocshmem_barrier_all();
    for (int i = 0; i < 2; i++) {
        rocshmem_team_destroy(two.team[i]);
        rocshmem_free(two.dest[i]);
        rocshmem_free(two.source[i]);
    }
}

static const struct test_case collective_cases[] = {
    {"broadcast_gives_the_root_s_bytes_to_every_member", broadcast, 0},
    {"broadcast_in_place_is_fine", broadcast_in_place, 0},
    {"alltoall_gives_block_i_to_member_i", alltoall, 0},
    {"fcollect_gathers_in_team_order", fcollect, 0},
    {"collectives_back_to_back_do_not_disturb_each_other", back_to_back, 0},
    {"the_source_of_a_collective_may_be_reused_when_it_returns", source_reuse, 0},
    {"zero_bytes_are_no_error", zero_bytes, 0},
    {"wrong_arguments_are_named_and_nothing_is_written", wrong, 0},
    {"alltoall_refuses_overlap", overlap, 0},
    {"two_threads_work_in_two_teams_at_the_same_time", two_threads, 0},
};
CHAPTER(collective);
