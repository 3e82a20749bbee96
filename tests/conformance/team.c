/* SPDX-License-Identifier: MIT
 *
 * Teams: membership, numbers, splitting, life and death.
 */
#include "conformance.h"

static void predefined(void)
{
    CHECK_EQ(rocshmem_team_my_pe(ROCSHMEM_TEAM_WORLD), me);
    CHECK_EQ(rocshmem_team_n_pes(ROCSHMEM_TEAM_WORLD), n_pes);
    CHECK_EQ(rocshmem_team_my_pe(ROCSHMEM_TEAM_SHARED), my_near);
    CHECK_EQ(rocshmem_team_n_pes(ROCSHMEM_TEAM_SHARED), n_near);
    CHECK_EQ(rocshmem_team_my_pe(ROCSHMEM_TEAM_INVALID), -1);
    CHECK_EQ(rocshmem_team_n_pes(ROCSHMEM_TEAM_INVALID), -1);
    rocshmem_team_t unknown = (rocshmem_team_t)(intptr_t)99999;
    EXPECT_ERROR(rocshmem_team_my_pe(unknown), ROCSHMEMX_E_ARG, "rocshmem_team_my_pe", "99999");
    EXPECT_ERROR(rocshmem_team_n_pes(unknown), ROCSHMEMX_E_ARG, "rocshmem_team_n_pes", "99999");
    EXPECT_ERROR(rocshmem_team_translate_pe(unknown, 0, ROCSHMEM_TEAM_WORLD), ROCSHMEMX_E_ARG,
                 "rocshmem_team_translate_pe", "src_team", "99999");
    EXPECT_ERROR(rocshmem_team_translate_pe(ROCSHMEM_TEAM_WORLD, 0, unknown), ROCSHMEMX_E_ARG,
                 "rocshmem_team_translate_pe", "dest_team", "99999");
    rocshmem_team_destroy(ROCSHMEM_TEAM_WORLD);
    rocshmem_team_destroy(ROCSHMEM_TEAM_SHARED);
    rocshmem_team_destroy(ROCSHMEM_TEAM_INVALID);
    CHECK_EQ(rocshmem_team_n_pes(ROCSHMEM_TEAM_WORLD), n_pes);
    CHECK_EQ(rocshmem_team_n_pes(ROCSHMEM_TEAM_SHARED), n_near);
}

/* Every (start, stride, size) that fits gives a team of exactly these PEs; others get INVALID. */
static void every_split(void)
{
    for (int start = 0; start < n_pes; start++)
        for (int stride = 1; stride <= 3; stride++)
            for (int size = 1; start + (size - 1) * stride < n_pes; size++) {
                rocshmem_team_t team = ROCSHMEM_TEAM_WORLD;
                CHECK_EQ(
                    rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &team), 0);
                int k = me - start, mine = k >= 0 && k % stride == 0 && k / stride < size ? k / stride : -1;
                CHECK_EQ(rocshmem_team_my_pe(team), mine);
                CHECK(mine >= 0 || team == ROCSHMEM_TEAM_INVALID);
                CHECK(mine < 0 || team != ROCSHMEM_TEAM_INVALID);
                CHECK_EQ(rocshmem_team_n_pes(team), mine < 0 ? -1 : size);
                for (int i = 0; mine >= 0 && i < size; i++) {
                    CHECK_EQ(rocshmem_team_translate_pe(team, i, ROCSHMEM_TEAM_WORLD), start + i * stride);
                    CHECK_EQ(rocshmem_team_translate_pe(ROCSHMEM_TEAM_WORLD, start + i * stride, team), i);
                }
                if (mine >= 0) {
                    rocshmem_barrier(team);
                    CHECK_EQ(rocshmem_team_sync(team), 0);
                }
                rocshmem_team_destroy(team);
            }
}

static void negative_stride(void)
{
    rocshmem_team_t team;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, n_pes - 1, -1, n_pes, NULL, 0, &team), 0);
    CHECK_EQ(rocshmem_team_my_pe(team), n_pes - 1 - me);
    CHECK_EQ(rocshmem_team_translate_pe(team, 0, ROCSHMEM_TEAM_WORLD), n_pes - 1);
    rocshmem_barrier(team);
    rocshmem_team_destroy(team);
}

static void one_pe(void)
{
    rocshmem_team_t team;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, n_pes - 1, 1, 1, NULL, 0, &team), 0);
    CHECK_EQ(rocshmem_team_my_pe(team), me == n_pes - 1 ? 0 : -1);
    for (int i = 0; me == n_pes - 1 && i < 10; i++) {
        rocshmem_barrier(team);
        CHECK_EQ(rocshmem_team_sync(team), 0);
    }
    rocshmem_team_destroy(team);
}

static void bad_split(void)
{
    rocshmem_team_t world = ROCSHMEM_TEAM_WORLD, out = ROCSHMEM_TEAM_WORLD;
    char number[16];
    snprintf(number, sizeof number, "%d", n_pes + 1);
    EXPECT_STATUS(rocshmem_team_split_strided(world, 0, 1, n_pes + 1, NULL, 0, &out), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_strided", "size", number);
    EXPECT_STATUS(rocshmem_team_split_strided(world, 0, 1, 0, NULL, 0, &out), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_strided", "size", "0");
    EXPECT_STATUS(rocshmem_team_split_strided(world, 0, 1, -3, NULL, 0, &out), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_strided", "size", "-3");
    EXPECT_STATUS(rocshmem_team_split_strided(world, -1, 1, 1, NULL, 0, &out), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_strided", "start", "-1");
    EXPECT_STATUS(rocshmem_team_split_strided(world, n_pes, 1, 1, NULL, 0, &out), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_strided", "start");
    if (n_pes > 1) {
        EXPECT_STATUS(rocshmem_team_split_strided(world, 0, INT32_MAX, 2, NULL, 0, &out), ROCSHMEMX_E_ARG,
                      "rocshmem_team_split_strided", "stride", "2147483647");
        EXPECT_STATUS(rocshmem_team_split_strided(world, 0, 0, 2, NULL, 0, &out), ROCSHMEMX_E_ARG,
                      "rocshmem_team_split_strided", "stride", "0");
    }
    EXPECT_STATUS(rocshmem_team_split_strided(ROCSHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &out), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_strided", "parent", "INVALID");
    EXPECT_STATUS(rocshmem_team_split_strided((rocshmem_team_t)(intptr_t)777777, 0, 1, 1, NULL, 0, &out),
                  ROCSHMEMX_E_ARG, "rocshmem_team_split_strided", "parent", "777777");
    rocshmem_barrier_all();
}

static void config(void)
{
    rocshmem_team_config_t wanted = {.num_contexts = 7};
    rocshmem_team_t team;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes, &wanted,
                                         ROCSHMEM_TEAM_NUM_CONTEXTS, &team),
             0);
    CHECK_EQ(rocshmem_team_n_pes(team), n_pes);
    rocshmem_team_destroy(team);
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_SHARED, 0, 1, n_near, &wanted,
                                         ROCSHMEM_TEAM_DEFAULT_CONFIGS, &team),
             0);
    rocshmem_team_destroy(team);
}

static void get_config(void)
{
    rocshmem_team_config_t wanted = {.num_contexts = 7}, got = {.num_contexts = 99};
    rocshmem_team_t teams[2], world = ROCSHMEM_TEAM_WORLD, out;
    long mask = ROCSHMEM_TEAM_NUM_CONTEXTS;
    CHECK_EQ(rocshmem_team_split_strided(world, 0, 1, n_pes, &wanted, mask, &teams[0]), 0);
    CHECK_EQ(rocshmem_team_split_strided(world, 0, 1, n_pes, &wanted, 0, &teams[1]), 0);
    CHECK_EQ(rocshmem_team_get_config(teams[0], 0, &got), 0);
    CHECK_EQ(got.num_contexts, 99);
    CHECK_EQ(rocshmem_team_get_config(teams[0], mask, &got), 0);
    CHECK_EQ(got.num_contexts, 7);
    CHECK_EQ(rocshmem_team_get_config(teams[1], mask, &got), 0);
    CHECK_EQ(got.num_contexts, 0);
    got.num_contexts = 99;
    CHECK_EQ(rocshmem_team_get_config(world, mask, &got), 0);
    CHECK_EQ(got.num_contexts, 0);
    CHECK_EQ(rocshmem_team_get_config(ROCSHMEM_TEAM_SHARED, 0, NULL), 0);
    EXPECT_STATUS(rocshmem_team_get_config(world, mask, NULL), ROCSHMEMX_E_ARG, "rocshmem_team_get_config",
                  "config is NULL");
    EXPECT_STATUS(rocshmem_team_get_config(world, 6, &got), ROCSHMEMX_E_ARG, "rocshmem_team_get_config",
                  "mask 6");
    EXPECT_STATUS(rocshmem_team_get_config(ROCSHMEM_TEAM_INVALID, mask, &got), ROCSHMEMX_E_ARG,
                  "rocshmem_team_get_config", "INVALID");
    for (int i = 0; i < 2; i++) rocshmem_team_destroy(teams[i]);
    EXPECT_STATUS(rocshmem_team_get_config(teams[0], mask, &got), ROCSHMEMX_E_ARG, "rocshmem_team_get_config",
                  "team");
    wanted.num_contexts = -1;
    EXPECT_STATUS(rocshmem_team_split_strided(world, 0, 1, 1, &wanted, mask, &out), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_strided", "num_contexts -1");
    EXPECT_STATUS(rocshmem_team_split_strided(world, 0, 1, 1, &wanted, 2, &out), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_strided", "mask 2");
    EXPECT_STATUS(rocshmem_team_split_strided(world, 0, 1, 1, NULL, mask, &out), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_strided", "config is NULL");
    CHECK(out == ROCSHMEM_TEAM_INVALID);
    rocshmem_barrier_all();
}

/* Each PE tells the others where it is in the grid, by collectives of its row and its column. */
static void grid(void)
{
    int *places = symmetric(sizeof(int) * (size_t)(2 * n_pes + 2));
    for (int xrange = 1; xrange <= n_pes + 1; xrange++) {
        int width = xrange < n_pes ? xrange : n_pes, column = me % width, row = me / width;
        rocshmem_team_config_t x_config = {.num_contexts = row + 1}, y_config = {.num_contexts = column + 1};
        rocshmem_team_t x, y;
        CHECK_EQ(rocshmem_team_split_2d(ROCSHMEM_TEAM_WORLD, xrange, &x_config, ROCSHMEM_TEAM_NUM_CONTEXTS,
                                        &x, &y_config, ROCSHMEM_TEAM_NUM_CONTEXTS, &y),
                 0);
        CHECK_EQ(rocshmem_team_my_pe(x), column);
        CHECK_EQ(rocshmem_team_my_pe(y), row);
        CHECK_EQ(rocshmem_team_get_config(x, ROCSHMEM_TEAM_NUM_CONTEXTS, &y_config), 0);
        CHECK_EQ(y_config.num_contexts, row + 1);
        CHECK_EQ(rocshmem_team_get_config(y, ROCSHMEM_TEAM_NUM_CONTEXTS, &x_config), 0);
        CHECK_EQ(x_config.num_contexts, column + 1);
        SET(&places[0], me);
        CHECK_EQ(rocshmem_int_fcollect(x, &places[2], places, 1), 0);
        for (int i = 0; i < rocshmem_team_n_pes(x); i++) CHECK_EQ(GET(&places[2 + i]), row * width + i);
        rocshmem_barrier(x);
        CHECK_EQ(rocshmem_int_fcollect(y, &places[2], places, 1), 0);
        for (int i = 0; i < rocshmem_team_n_pes(y); i++) CHECK_EQ(GET(&places[2 + i]), column + i * width);
        rocshmem_barrier(y);
        /* A third dimension: the row in columns of two. */
        rocshmem_team_t xx, xy;
        CHECK_EQ(rocshmem_team_split_2d(x, 2, NULL, 0, &xx, NULL, 0, &xy), 0);
        CHECK_EQ(rocshmem_team_my_pe(xx), column % 2);
        CHECK_EQ(rocshmem_team_my_pe(xy), column / 2);
        rocshmem_barrier(xy);
        rocshmem_barrier(xx);
        rocshmem_team_destroy(xx);
        rocshmem_team_destroy(xy);
        rocshmem_team_destroy(y);
        rocshmem_team_destroy(x);
        rocshmem_barrier_all();
    }
    rocshmem_free(places);
}

static void bad_grid(void)
{
    rocshmem_team_t x = ROCSHMEM_TEAM_WORLD, y = ROCSHMEM_TEAM_WORLD, world = ROCSHMEM_TEAM_WORLD;
    EXPECT_STATUS(rocshmem_team_split_2d(world, 0, NULL, 0, &x, NULL, 0, &y), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_2d", "xrange 0");
    CHECK(x == ROCSHMEM_TEAM_INVALID && y == ROCSHMEM_TEAM_INVALID);
    EXPECT_STATUS(rocshmem_team_split_2d(world, -4, NULL, 0, &x, NULL, 0, &y), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_2d", "xrange -4");
    x = y = world;
    EXPECT_STATUS(rocshmem_team_split_2d(ROCSHMEM_TEAM_INVALID, 1, NULL, 0, &x, NULL, 0, &y), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_2d", "parent", "INVALID");
    CHECK(x == ROCSHMEM_TEAM_INVALID && y == ROCSHMEM_TEAM_INVALID);
    EXPECT_STATUS(rocshmem_team_split_2d(world, 1, NULL, 0, &x, NULL, 1, &y), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_2d", "yaxis_config is NULL");
    EXPECT_STATUS(rocshmem_team_split_2d(world, 1, NULL, 8, &x, NULL, 0, &y), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_2d", "xaxis_mask 8");
    EXPECT_STATUS(rocshmem_team_split_2d(world, 1, NULL, 0, &x, NULL, 0, NULL), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_2d", "yaxis_team is NULL");
    rocshmem_barrier_all();
}

/* Halve the team of the left half until one PE is left: numbers stay right at every depth. */
static void teams_of_teams(void)
{
    rocshmem_team_t chain[16];
    int depth = 0, size = n_pes;
    rocshmem_team_t parent = ROCSHMEM_TEAM_WORLD;
    while (size > 1 && parent != ROCSHMEM_TEAM_INVALID) {
        int half = (size + 1) / 2; /* the PEs at even places of the parent */
        rocshmem_team_t child;
        CHECK_EQ(rocshmem_team_split_strided(parent, 0, 2, half, NULL, 0, &child), 0);
        int mine = rocshmem_team_my_pe(parent);
        CHECK_EQ(rocshmem_team_my_pe(child), mine % 2 ? -1 : mine / 2);
        for (int i = 0; child != ROCSHMEM_TEAM_INVALID && i < half; i++) {
            CHECK_EQ(rocshmem_team_translate_pe(child, i, parent), 2 * i);
            CHECK_EQ(rocshmem_team_translate_pe(child, i, ROCSHMEM_TEAM_WORLD), i << (depth + 1));
        }
        if (child != ROCSHMEM_TEAM_INVALID) rocshmem_barrier(child);
        chain[depth++] = parent = child;
        size = half;
    }
    while (depth > 0) rocshmem_team_destroy(chain[--depth]);
    rocshmem_barrier_all();
}

static void translate(void)
{
    rocshmem_team_t even, last;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 2, (n_pes + 1) / 2, NULL, 0, &even), 0);
    CHECK_EQ(
        rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, n_pes / 2, 1, n_pes - n_pes / 2, NULL, 0, &last), 0);
    CHECK_EQ(rocshmem_team_translate_pe(ROCSHMEM_TEAM_WORLD, me, ROCSHMEM_TEAM_SHARED), my_near);
    CHECK_EQ(rocshmem_team_translate_pe(ROCSHMEM_TEAM_WORLD, n_pes, ROCSHMEM_TEAM_WORLD), -1);
    CHECK_EQ(rocshmem_team_translate_pe(ROCSHMEM_TEAM_WORLD, -1, ROCSHMEM_TEAM_WORLD), -1);
    CHECK_EQ(rocshmem_team_translate_pe(ROCSHMEM_TEAM_INVALID, 0, ROCSHMEM_TEAM_WORLD), -1);
    CHECK_EQ(rocshmem_team_translate_pe(ROCSHMEM_TEAM_WORLD, 0, ROCSHMEM_TEAM_INVALID), -1);
    if (even != ROCSHMEM_TEAM_INVALID && last != ROCSHMEM_TEAM_INVALID)
        for (int i = 0; i < rocshmem_team_n_pes(even); i++)
            CHECK_EQ(rocshmem_team_translate_pe(even, i, last), 2 * i >= n_pes / 2 ? 2 * i - n_pes / 2 : -1);
    if (even != ROCSHMEM_TEAM_INVALID && n_pes > 1)
        CHECK_EQ(rocshmem_team_translate_pe(ROCSHMEM_TEAM_WORLD, 1, even), -1);
    rocshmem_team_destroy(even);
    rocshmem_team_destroy(last);
}

static void destroyed(void)
{
    rocshmem_team_t team;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &team), 0);
    rocshmem_barrier(team);
    rocshmem_team_destroy(team);
    EXPECT_ERROR(rocshmem_team_my_pe(team), ROCSHMEMX_E_ARG, "rocshmem_team_my_pe", "team");
    EXPECT_ERROR(rocshmem_team_n_pes(team), ROCSHMEMX_E_ARG, "rocshmem_team_n_pes", "team");
    EXPECT_ERROR(rocshmem_team_destroy(team), ROCSHMEMX_E_ARG, "rocshmem_team_destroy", "team");
    EXPECT_ERROR(rocshmem_barrier(team), ROCSHMEMX_E_ARG, "rocshmem_barrier", "team");
    EXPECT_STATUS(rocshmem_team_sync(team), ROCSHMEMX_E_ARG, "rocshmem_team_sync", "team");
    rocshmem_team_t out;
    EXPECT_STATUS(rocshmem_team_split_strided(team, 0, 1, 1, NULL, 0, &out), ROCSHMEMX_E_ARG,
                  "rocshmem_team_split_strided", "parent");
    EXPECT_ERROR(rocshmem_team_destroy((rocshmem_team_t)(intptr_t)424242), ROCSHMEMX_E_ARG,
                 "rocshmem_team_destroy", "team", "424242");
    rocshmem_barrier_all();
}

/* A handle made after another was destroyed is not mistaken for it. */
static void stale_handle(void)
{
    rocshmem_team_t first, second;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &first), 0);
    rocshmem_team_destroy(first);
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &second), 0);
    CHECK(first != second);
    EXPECT_ERROR(rocshmem_team_n_pes(first), ROCSHMEMX_E_ARG, "rocshmem_team_n_pes", "team");
    CHECK_EQ(rocshmem_team_n_pes(second), n_pes);
    rocshmem_barrier(second);
    rocshmem_team_destroy(second);
}

static void many_alive(void)
{
    enum { MANY = 500 };
    rocshmem_team_t teams[MANY];
    uint64_t *word = symmetric(64);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &teams[i]), 0);
    for (int i = 0; i < MANY; i += 7) {
        rocshmem_uint64_atomic_inc(word, right());
        rocshmem_barrier(teams[i]);
        CHECK_EQ(GET(word), i / 7 + 1);
        rocshmem_barrier(teams[MANY - 1 - i]);
    }
    for (int i = 0; i < MANY; i++) rocshmem_team_destroy(teams[(i * 7) % MANY]);
    rocshmem_free(word);
}

static void many_after_each_other(void)
{
    for (int i = 0; i < 5000; i++) {
        rocshmem_team_t team = ROCSHMEM_TEAM_INVALID;
        int rc =
            rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, i % n_pes, 1, n_pes - i % n_pes, NULL, 0, &team);
        if (rc != 0) {
            FAIL("split %d gave %d", i, rc);
            break;
        }
        if (i % 50 == 0 && team != ROCSHMEM_TEAM_INVALID) rocshmem_barrier(team);
        rocshmem_team_destroy(team);
    }
}

/* Live handles are numbers that all members agree on: Python sorts them to destroy forgotten ones in step. */
static void handles_agree(void)
{
    uint64_t *handles = symmetric(64);
    rocshmem_team_t even, whole;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 2, (n_pes + 1) / 2, NULL, 0, &even), 0);
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &whole), 0);
    SET(&handles[0], (uint64_t)(uintptr_t)even);
    SET(&handles[1], (uint64_t)(uintptr_t)whole);
    rocshmem_barrier_all();
    CHECK_EQ(rocshmem_uint64_g(&handles[1], 0), (uintptr_t)whole);
    if (me % 2 == 0) CHECK_EQ(rocshmem_uint64_g(&handles[0], 0), (uintptr_t)even);
    rocshmem_barrier_all();
    rocshmem_team_destroy(even);
    rocshmem_team_destroy(whole);
    rocshmem_free(handles);
}

/* Disjoint teams split at the same time, without a word between them. */
static void disjoint(void)
{
    rocshmem_team_t half, mine;
    int first = n_pes / 2;
    uint64_t *word = symmetric(64);
    rocshmem_team_t low, high;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, first, NULL, 0, &low), 0);
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, first, 1, n_pes - first, NULL, 0, &high), 0);
    half = me < first ? low : high;
    int size = rocshmem_team_n_pes(half), place = rocshmem_team_my_pe(half);
    for (int i = 0; i < times(200); i++) {
        if (me < first || i % 2) rocshmem_barrier(half); /* the halves do different numbers of barriers */
        CHECK_EQ(rocshmem_team_split_strided(half, 0, 1, size, NULL, 0, &mine), 0);
        CHECK_EQ(rocshmem_team_my_pe(mine), place);
        int next = rocshmem_team_translate_pe(mine, (place + 1) % size, ROCSHMEM_TEAM_WORLD);
        rocshmem_uint64_atomic_inc(word, next);
        rocshmem_barrier(mine);
        CHECK_EQ(GET(word), i + 1);
        rocshmem_barrier(mine);
        rocshmem_team_destroy(mine);
    }
    rocshmem_team_destroy(low);
    rocshmem_team_destroy(high);
    rocshmem_barrier_all();
    rocshmem_free(word);
}

/* Each PE asks for a team of its own choice in one call; the teams have no member in common. */
static void alone_together(void)
{
    rocshmem_team_t alone, part;
    uint64_t *word = symmetric(64);
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, me, 1, 1, NULL, 0, &alone), 0);
    CHECK_EQ(rocshmem_team_n_pes(alone), 1);
    CHECK_EQ(rocshmem_team_translate_pe(alone, 0, ROCSHMEM_TEAM_WORLD), me);
    int first = (n_pes + 1) / 2, low = me < first;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, low ? 0 : first, 1, low ? first : n_pes - first,
                                         NULL, 0, &part),
             0);
    CHECK_EQ(rocshmem_team_my_pe(part), low ? me : me - first);
    for (int i = 1; i <= 20; i++) {
        int next = (rocshmem_team_my_pe(part) + 1) % rocshmem_team_n_pes(part);
        rocshmem_uint64_atomic_inc(word, rocshmem_team_translate_pe(part, next, ROCSHMEM_TEAM_WORLD));
        rocshmem_barrier(part);
        CHECK_EQ(GET(word), i);
        rocshmem_barrier(part);
    }
    rocshmem_team_destroy(alone);
    rocshmem_team_destroy(part);
    rocshmem_barrier_all();
    rocshmem_free(word);
}

/* Every set of up to 8 PEs with strides 1, 2 and 4; the members alone call. */
static void active_sets(void)
{
    int64_t *all = symmetric(64 * sizeof *all), *mine = symmetric(sizeof *mine);
    for (int start = 0; start < n_pes; start++)
        for (int stride = 1; stride <= 4; stride *= 2)
            for (int size = 1; start + stride * (size - 1) < n_pes; size++) {
                rocshmem_team_t set, again;
                int place = (me - start) / stride;
                if (me < start || (me - start) % stride != 0 || place >= size) continue;
                CHECK_EQ(rocshmemx_active_set(start, stride, size, &set), 0);
                CHECK_EQ(rocshmemx_active_set(start, stride, size, &again), 0);
                CHECK(set == again);
                CHECK_EQ(rocshmem_team_n_pes(set), size);
                CHECK_EQ(rocshmem_team_my_pe(set), place);
                SET(mine, me);
                CHECK_EQ(rocshmem_fcollectmem(set, all, mine, sizeof *mine), 0);
                for (int i = 0; i < size; i++) CHECK_EQ(GET(&all[i]), start + i * stride);
                rocshmem_team_destroy(set); /* leaves it alone */
                rocshmem_barrier(set);
            }
    rocshmem_barrier_all();
    rocshmem_free(all);
    rocshmem_free(mine);
}

static void bad_active_sets(void)
{
    rocshmem_team_t set;
    const char *op = "rocshmemx_active_set";
    EXPECT_STATUS(rocshmemx_active_set(-1, 1, 1, &set), ROCSHMEMX_E_ARG, op, "start -1");
    EXPECT_STATUS(rocshmemx_active_set(0, 0, 1, &set), ROCSHMEMX_E_ARG, op, "stride 0");
    EXPECT_STATUS(rocshmemx_active_set(0, 1, 0, &set), ROCSHMEMX_E_ARG, op, "size 0");
    EXPECT_STATUS(rocshmemx_active_set(0, 1, n_pes + 1, &set), ROCSHMEMX_E_ARG, op, "leaves the job");
    EXPECT_STATUS(rocshmemx_active_set(0, 1, n_pes, NULL), ROCSHMEMX_E_ARG, op, "team_out");
    if (me > 0) EXPECT_STATUS(rocshmemx_active_set(0, 1, 1, &set), ROCSHMEMX_E_ARG, op, "only its members");
}

/* This program did not ask for symmetric static data, and can't any more. */
static int no_symmetric_variable;
static void static_data(void)
{
    EXPECT_STATUS(rocshmemx_static_data(1), ROCSHMEMX_E_STATE, "rocshmemx_static_data", "before init");
    EXPECT_ERROR(rocshmem_int_p(&no_symmetric_variable, 1, me), ROCSHMEMX_E_ARG, "rocshmem_int_p", "dest",
                 "static variable of the program");
    CHECK_EQ(no_symmetric_variable, 0);
}

struct two_teams {
    rocshmem_team_t team[2];
    uint64_t *words;
};

static void barriers_of_team(void *arg, int i)
{
    struct two_teams *two = arg;
    uint64_t state = (uint64_t)(me + 10 * i);
    for (uint64_t k = 1; k <= (uint64_t)times(1000); k++) {
        rocshmem_uint64_atomic_inc(&two->words[i], right());
        dawdle(&state);
        rocshmem_barrier(two->team[i]);
        uint64_t now = GET(&two->words[i]);
        if (now != k && now != k + 1) FAIL("thread %d: after barrier %d the word is %d", i, (int)k, (int)now);
    }
}

static void two_threads(void)
{
    struct two_teams two = {.words = symmetric(64)};
    for (int i = 0; i < 2; i++)
        CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &two.team[i]), 0);
    run_threads(2, barriers_of_team, &two);
    rocshmem_barrier_all();
    for (int i = 0; i < 2; i++) rocshmem_team_destroy(two.team[i]);
    rocshmem_free(two.words);
}

static const struct test_case team_cases[] = {
    {"world_and_shared_hold_all_pes_and_survive_destroy", predefined, 0},
    {"every_split_has_exactly_its_members", every_split, 0},
    {"a_negative_stride_counts_backwards", negative_stride, 0},
    {"a_team_of_one_pe_is_a_team", one_pe, 0},
    {"a_split_out_of_range_names_the_argument", bad_split, 0},
    {"a_config_is_a_hint", config, 0},
    {"a_team_tells_its_config", get_config, 0},
    {"a_split_in_two_dimensions_gives_rows_and_columns", grid, 0},
    {"a_wrong_split_in_two_dimensions_names_the_argument", bad_grid, 0},
    {"teams_of_teams_keep_their_numbers", teams_of_teams, 0},
    {"translate_gives_minus_1_where_there_is_no_such_pe", translate, 0},
    {"a_destroyed_team_is_unknown_to_every_function", destroyed, 0},
    {"a_stale_handle_is_not_taken_for_a_new_team", stale_handle, 0},
    {"five_hundred_teams_live_at_the_same_time", many_alive, 0},
    {"five_thousand_teams_after_each_other_leave_nothing", many_after_each_other, 0},
    {"members_agree_on_the_handle", handles_agree, 0},
    {"disjoint_teams_split_and_meet_on_their_own", disjoint, NEEDS_2_PES},
    {"one_split_makes_disjoint_teams_of_different_ranges", alone_together, 0},
    {"active_sets_are_teams_that_their_members_make", active_sets, 0},
    {"a_wrong_active_set_names_the_argument", bad_active_sets, 0},
    {"static_variables_are_refused_where_nobody_asked_for_them", static_data, 0},
    {"two_threads_meet_in_two_teams_at_the_same_time", two_threads, 0},
};
CHAPTER(team);
