/* SPDX-License-Identifier: MIT
 *
 * Teams: all strided splits, grids, teams of teams, numbers and their translation, configurations, life and death; what an
 * invalid handle gives. Needs 1.5.
 */
#include "check.h"

enum { MOST_PES = 64 };
static long source[4], dest[4 * MOST_PES];

/* The members of a team work together: numbers add up, and come in the order of the team. parent: of these PEs of the
 * world, in the order of their numbers. */
static void check_team(const char *what, shmem_team_t team, const int *pes, int size)
{
    int rank = shmem_team_my_pe(team);
    CHECK_EQ_FOR(what, shmem_team_n_pes(team), size);
    CHECK_FOR(what, rank >= 0 && rank < size);
    if (rank < 0 || rank >= size) return;
    CHECK_EQ_FOR(what, pes[rank], me);
    for (int i = 0; i < size; i++) {
        CHECK_EQ_FOR(what, shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD), pes[i]);
        CHECK_EQ_FOR(what, shmem_team_translate_pe(SHMEM_TEAM_WORLD, pes[i], team), i);
        CHECK_EQ_FOR(what, shmem_team_translate_pe(team, i, team), i);
    }
    for (int pe = 0, k = 0; pe < n_pes; pe++) {
        int member = 0;
        for (k = 0; k < size; k++) member |= pes[k] == pe;
        if (!member) CHECK_FOR(what, shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, team) < 0);
    }
    source[0] = 1000 + me;
    CHECK_EQ_FOR(what, shmem_team_sync(team), 0); /* all have read the dest of the team before */
    CHECK_EQ_FOR(what, shmem_long_fcollect(team, dest, source, 1), 0);
    for (int i = 0; i < size; i++) CHECK_EQ_FOR(what, dest[i], 1000 + pes[i]);
    CHECK_EQ_FOR(what, shmem_team_sync(team), 0);
}

/* ---- the teams that are there ---- */

static void predefined(void)
{
    int pes[MOST_PES];
    for (int i = 0; i < n_pes; i++) pes[i] = i;
    check_team("world", SHMEM_TEAM_WORLD, pes, n_pes);
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_WORLD), me);
    int size = shmem_team_n_pes(SHMEM_TEAM_SHARED);
    CHECK(size >= 1 && size <= n_pes);
    for (int i = 0; i < size; i++) {
        pes[i] = shmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD);
        CHECK(pes[i] >= 0 && pes[i] < n_pes);
        CHECK(shmem_ptr(source, pes[i]) != NULL); /* this is what is shared */
    }
    check_team("shared", SHMEM_TEAM_SHARED, pes, size);
    shmem_barrier_all();
}

static void invalid_handles(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD, other = SHMEM_TEAM_WORLD;
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_INVALID), -1);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID), -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, n_pes, SHMEM_TEAM_WORLD) < 0);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, -1, SHMEM_TEAM_WORLD) < 0);
    shmem_team_destroy(SHMEM_TEAM_INVALID); /* does nothing */
    shmem_team_config_t config = {.num_contexts = -7};
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0);
    CHECK_EQ(config.num_contexts, -7);
    CHECK_EQ(shmem_team_get_config(SHMEM_TEAM_WORLD, 0, NULL), 0);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &team, NULL, 0, &other) != 0);
    CHECK(team == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID);
    shmem_barrier_all();
}

/* Triplets that leave the parent: no team, and everybody is told. */
static void invalid_triplets(void)
{
    const int triplets[][3] = {{0, 1, n_pes + 1}, {n_pes, 1, 1}, {-1, 1, 1},
                               {1, n_pes, 2},     {0, 1, 0},     {0, 1, -1}};
    for (size_t k = 0; k < LENGTH(triplets); k++) {
        shmem_team_t team = SHMEM_TEAM_WORLD;
        const int *t = triplets[k];
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, t[0], t[1], t[2], NULL, 0, &team) != 0);
        CHECK(team == SHMEM_TEAM_INVALID);
    }
    shmem_barrier_all();
}

/* ---- splits ---- */

static void strided(shmem_team_t parent, int start, int stride, int size)
{
    int pes[MOST_PES], member = 0;
    for (int i = 0; i < size; i++) {
        pes[i] = shmem_team_translate_pe(parent, start + i * stride, SHMEM_TEAM_WORLD);
        member |= pes[i] == me;
    }
    shmem_team_t team = SHMEM_TEAM_WORLD;
    CHECK_EQ(shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team), 0);
    CHECK_EQ(team != SHMEM_TEAM_INVALID, member);
    if (team == SHMEM_TEAM_INVALID) return;
    check_team("strided", team, pes, size);
    shmem_team_destroy(team);
}

static void every_stride(void)
{
    for (int start = 0; start < n_pes; start++)
        for (int stride = 1; stride <= n_pes; stride++)
            for (int size = 1; start + (size - 1) * stride < n_pes; size++)
                if (stride < 4 || size < 3) strided(SHMEM_TEAM_WORLD, start, stride, size);
    strided(SHMEM_TEAM_WORLD, n_pes / 2, 0, 1);
    shmem_barrier_all();
}

static void grid(shmem_team_t parent, int width)
{
    int rank = shmem_team_my_pe(parent), size = shmem_team_n_pes(parent), row[MOST_PES], column[MOST_PES];
    int in_row = 0, in_column = 0;
    for (int i = 0; i < size; i++) {
        int pe = shmem_team_translate_pe(parent, i, SHMEM_TEAM_WORLD);
        if (i / width == rank / width) row[in_row++] = pe;
        if (i % width == rank % width) column[in_column++] = pe;
    }
    shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
    CHECK_EQ(shmem_team_split_2d(parent, width, NULL, 0, &x, NULL, 0, &y), 0);
    CHECK(x != SHMEM_TEAM_INVALID && y != SHMEM_TEAM_INVALID);
    CHECK_EQ(shmem_team_my_pe(x), rank % width);
    CHECK_EQ(shmem_team_my_pe(y), rank / width);
    check_team("x", x, row, in_row);
    check_team("y", y, column, in_column);
    shmem_team_destroy(y);
    shmem_team_destroy(x);
}

static void every_grid(void)
{
    for (int width = 1; width <= n_pes; width++) grid(SHMEM_TEAM_WORLD, width);
    shmem_barrier_all();
}

/* A cube by two splits: planes of the world, then rows and columns of each plane. */
static void a_cube(void)
{
    shmem_team_t plane, pillar, x, y;
    CHECK_EQ(shmem_team_split_2d(SHMEM_TEAM_WORLD, 4, NULL, 0, &plane, NULL, 0, &pillar), 0);
    CHECK_EQ(shmem_team_split_2d(plane, 2, NULL, 0, &x, NULL, 0, &y), 0);
    CHECK_EQ(shmem_team_my_pe(x) + 2 * shmem_team_my_pe(y) + 4 * shmem_team_my_pe(pillar), me);
    shmem_team_destroy(plane); /* its children live on */
    source[1] = me;
    CHECK_EQ(shmem_team_sync(x), 0);
    CHECK_EQ(shmem_long_max_reduce(x, dest, source + 1, 1), 0);
    CHECK_EQ(dest[0], shmem_team_translate_pe(x, shmem_team_n_pes(x) - 1, SHMEM_TEAM_WORLD));
    shmem_team_destroy(y);
    shmem_team_destroy(pillar);
    shmem_team_destroy(x);
    shmem_barrier_all();
}

/* Each half splits on, three deep; the halves do this at the same time, without knowing of each other. */
static void halves(shmem_team_t parent, int depth)
{
    int rank = shmem_team_my_pe(parent), size = shmem_team_n_pes(parent), low = (size + 1) / 2;
    if (depth == 0 || size < 2) return;
    shmem_team_t first = SHMEM_TEAM_INVALID, second = SHMEM_TEAM_INVALID;
    CHECK_EQ(shmem_team_split_strided(parent, 0, 1, low, NULL, 0, &first), 0);
    CHECK_EQ(shmem_team_split_strided(parent, low, 1, size - low, NULL, 0, &second), 0);
    CHECK((first != SHMEM_TEAM_INVALID) != (second != SHMEM_TEAM_INVALID));
    shmem_team_t mine = rank < low ? first : second;
    CHECK_EQ(shmem_team_my_pe(mine), rank < low ? rank : rank - low);
    source[2] = 1;
    CHECK_EQ(shmem_team_sync(mine), 0);
    CHECK_EQ(shmem_long_sum_reduce(mine, &dest[depth], source + 2, 1), 0);
    CHECK_EQ(dest[depth], rank < low ? low : size - low);
    for (int stride = 1; stride <= 2; stride++)
        strided(mine, 0, stride, (shmem_team_n_pes(mine) - 1) / stride + 1);
    grid(mine, 2);
    halves(mine, depth - 1);
    CHECK_EQ(shmem_team_translate_pe(mine, 0, parent), rank < low ? 0 : low);
    shmem_team_destroy(mine);
}

static void teams_of_teams(void)
{
    halves(SHMEM_TEAM_WORLD, 3);
    shmem_barrier_all();
}

/* ---- configuration ---- */

static void configuration(void)
{
    shmem_team_config_t config = {.num_contexts = 3}, got = {.num_contexts = -7};
    shmem_team_t team;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n_pes, &config, SHMEM_TEAM_NUM_CONTEXTS, &team),
             0);
    CHECK_EQ(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
    CHECK_EQ(got.num_contexts, 3);
    shmem_team_destroy(team);
    /* A mask without the field: the field is not looked at. */
    config.num_contexts = -1;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n_pes, &config, 0, &team), 0);
    got.num_contexts = -7;
    CHECK_EQ(shmem_team_get_config(team, 0, &got), 0);
    CHECK_EQ(got.num_contexts, -7);
    CHECK_EQ(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
    CHECK(got.num_contexts >= 0);
    shmem_team_destroy(team);
    shmem_team_config_t rows = {.num_contexts = 2}, columns = {.num_contexts = 5};
    shmem_team_t x, y;
    CHECK_EQ(shmem_team_split_2d(SHMEM_TEAM_WORLD, (n_pes + 1) / 2, &rows, SHMEM_TEAM_NUM_CONTEXTS, &x,
                                 &columns, SHMEM_TEAM_NUM_CONTEXTS, &y),
             0);
    CHECK_EQ(shmem_team_get_config(x, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
    CHECK_EQ(got.num_contexts, 2);
    CHECK_EQ(shmem_team_get_config(y, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
    CHECK_EQ(got.num_contexts, 5);
    shmem_team_destroy(x);
    shmem_team_destroy(y);
    shmem_barrier_all();
}

/* ---- life and death ---- */

static void many_generations(void)
{
    source[3] = me + 1;
    shmem_barrier_all();
    for (int i = 0; i < 150; i++) {
        shmem_team_t team;
        int size = 1 + i % n_pes;
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, n_pes - size, 1, size, NULL, 0, &team), 0);
        if (team == SHMEM_TEAM_INVALID) continue;
        CHECK_EQ(shmem_long_max_reduce(team, &dest[i % 100], &source[3], 1), 0);
        CHECK_EQ(dest[i % 100], n_pes);
        shmem_team_destroy(team);
    }
    shmem_barrier_all();
}

static void many_alive(void)
{
    enum { MANY = 20 };
    shmem_team_t teams[MANY];
    for (int i = 0; i < MANY; i++) {
        int size = 1 + (i * 3) % n_pes;
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, size, NULL, 0, &teams[i]), 0);
        CHECK_EQ(teams[i] != SHMEM_TEAM_INVALID, me < size);
        for (int k = 0; k < i; k++) CHECK(teams[i] == SHMEM_TEAM_INVALID || teams[i] != teams[k]);
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < MANY; i++) {
            if (teams[i] == SHMEM_TEAM_INVALID) continue;
            CHECK_EQ(shmem_long_sum_reduce(teams[i], &dest[i + round], &source[3], 1), 0);
            int size = 1 + (i * 3) % n_pes;
            CHECK_EQ(dest[i + round], (long)size * (size + 1) / 2);
            CHECK_EQ(shmem_team_sync(teams[i]), 0);
        }
    for (int i = 0; i < MANY; i++) shmem_team_destroy(teams[(i * 7) % MANY]); /* in another order */
    shmem_barrier_all();
}

int main(void)
{
    check_begin("teams");
    if (n_pes > MOST_PES) return check_end();
    check_case("predefined");
    predefined();
    check_case("invalid_handles");
    invalid_handles();
    check_case("invalid_triplets");
    invalid_triplets();
    check_case("every_stride");
    every_stride();
    check_case("every_grid");
    every_grid();
    check_case("a_cube");
    a_cube();
    check_case("teams_of_teams");
    teams_of_teams();
    check_case("configuration");
    configuration();
    check_case("many_generations");
    many_generations();
    check_case("many_alive");
    many_alive();
    return check_end();
}
