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

/* ---- the typed forms ---- */

/* A value of T that tells its PE and place; small enough for every type. */
#define VALUE(T, pe, i) ((T)(((i)*3 + (size_t)(pe)*29) % 120))

static bool all_are(bool right, const char *what, size_t count)
{
    if (!right) FAIL("%s of %zu elements is wrong", what, count);
    return right;
}

/* Small and large; every form of T against the model, with one element of guard behind dest. */
#define DEFINE(name, T, ...)                                                                                 \
    static void typed_##name(rocshmem_team_t team, void *to, void *from, void *here)                         \
    {                                                                                                        \
        static const size_t counts[] = {0, 1, 2, 5, 301};                                                    \
        T *dest = to, *source = from, *got = here; /* in ordinary memory, as large as dest and source */     \
        size_t n = (size_t)rocshmem_team_n_pes(team), mine = (size_t)rocshmem_team_my_pe(team);              \
        for (size_t c = 0; c < 5; c++) {                                                                     \
            size_t count = counts[c], all = n * count, root = c % n, at = 0;                                 \
            bool right = true;                                                                               \
            for (size_t i = 0; i < 2 * all + n; i++) got[i] = VALUE(T, mine, i);                             \
            heap_write(source, got, (2 * all + n) * sizeof(T));                                              \
            T guard = VALUE(T, 99, 99);                                                                      \
            SET(&dest[count], guard);                                                                        \
            CHECK_EQ(rocshmem_##name##_broadcast(team, dest, source, count, (int)root), 0);                  \
            heap_read(got, dest, (count + 1) * sizeof(T));                                                   \
            for (size_t i = 0; i < count; i++) right &= got[i] == VALUE(T, root, i);                         \
            all_are(right &&got[count] == guard, #name "_broadcast", count);                                 \
            rocshmem_barrier(team);                                                                          \
            SET(&dest[all], guard);                                                                          \
            CHECK_EQ(rocshmem_##name##_fcollect(team, dest, source, count), 0);                              \
            heap_read(got, dest, (all + 1) * sizeof(T));                                                     \
            for (size_t i = 0; i < all; i++) right &= got[i] == VALUE(T, i / count, i % count);              \
            all_are(right &&got[all] == guard, #name "_fcollect", count);                                    \
            rocshmem_barrier(team);                                                                          \
            SET(&dest[all], guard);                                                                          \
            CHECK_EQ(rocshmem_##name##_alltoall(team, dest, source, count), 0);                              \
            heap_read(got, dest, (all + 1) * sizeof(T));                                                     \
            for (size_t i = 0; i < all; i++)                                                                 \
                right &= got[i] == VALUE(T, i / count, mine * count + i % count);                            \
            all_are(right &&got[all] == guard, #name "_alltoall", count);                                    \
            rocshmem_barrier(team);                                                                          \
            for (size_t i = 0; i < 3 * all; i++) got[i] = guard;                                             \
            heap_write(dest, got, 3 * all * sizeof(T));                                                      \
            CHECK_EQ(rocshmem_##name##_alltoalls(team, dest, source, 3, 2, count), 0);                       \
            heap_read(got, dest, 3 * all * sizeof(T));                                                       \
            for (size_t i = 0; i < 3 * all; i++)                                                             \
                right &=                                                                                     \
                    got[i] == (i % 3 ? guard : VALUE(T, i / 3 / count, 2 * (mine * count + i / 3 % count))); \
            all_are(right, #name "_alltoalls", count);                                                       \
            rocshmem_barrier(team);                                                                          \
            for (size_t pe = 0; pe < n; pe++) at += pe % 2 ? count : pe;                                     \
            SET(&dest[at], guard);                                                                           \
            CHECK_EQ(rocshmem_##name##_collect(team, dest, source, mine % 2 ? count : mine), 0);             \
            heap_read(got, dest, (at + 1) * sizeof(T));                                                      \
            right &= got[at] == guard;                                                                       \
            at = 0;                                                                                          \
            for (size_t pe = 0; pe < n; pe++)                                                                \
                for (size_t i = 0; i < (pe % 2 ? count : pe); i++) right &= got[at++] == VALUE(T, pe, i);    \
            all_are(right, #name "_collect", count);                                                         \
            rocshmem_barrier(team);                                                                          \
        }                                                                                                    \
    }
ROCSHMEM_RMA_TYPES(DEFINE, )
#undef DEFINE

static void typed(void)
{
    size_t room = ((size_t)n_pes * 301 * 3 + 20) * sizeof(long double);
    unsigned char *dest = symmetric(room), *source = symmetric(room), *here = ordinary(room);
    struct teams teams = make_teams();
    for (int t = 0; t < teams.n; t++) {
#define CALL(name, T, ...) typed_##name(teams.team[t], dest, source, here);
        ROCSHMEM_RMA_TYPES(CALL, )
#undef CALL
    }
    free(here);
    free_teams(&teams);
    rocshmem_free(dest);
    rocshmem_free(source);
}

/* ---- collect and alltoalls of bytes ---- */

static size_t share_of(int pe, size_t k)
{
    return k == 0 ? 0 : k < 4 ? (size_t)pe * k : pe % 3 == (int)k % 3 ? 0 : k * 1000 + (size_t)pe * 77;
}

static void collect(void)
{
    unsigned char *dest = symmetric((size_t)n_pes * 20000), *source = symmetric(20000);
    struct teams teams = make_teams();
    for (int t = 0; t < teams.n; t++)
        for (size_t k = 0; k < 16; k++) {
            rocshmem_team_t team = teams.team[t];
            int n = rocshmem_team_n_pes(team), mine = rocshmem_team_my_pe(team);
            size_t total = 0;
            for (int j = 0; j < n; j++) total += share_of(j, k);
            fill(source, share_of(mine, k), (uint64_t)mine + k * 100);
            fill_byte(dest + total, GUARD, 0xdd);
            CHECK_EQ(rocshmem_collectmem(team, dest, source, share_of(mine, k)), 0);
            CHECK_BYTES(dest + total, GUARD, 0xdd);
            total = 0;
            for (int j = 0; j < n; total += share_of(j, k), j++)
                CHECK_FILLED(dest + total, share_of(j, k), (uint64_t)j + k * 100);
            rocshmem_barrier(team);
        }
    free_teams(&teams);
    rocshmem_free(dest);
    rocshmem_free(source);
}

/* The last PE's arguments are wrong, the others' are right: all get the error, and the next call works. */
static void collect_wrong_on_one(void)
{
    size_t n = (size_t)n_pes * 200;
    unsigned char *dest = symmetric(n), *source = symmetric(1000), local[64];
    bool odd = me == n_pes - 1;
    char pe[24];
    snprintf(pe, sizeof pe, "on PE %d", n_pes - 1);
    rocshmem_team_t world = ROCSHMEM_TEAM_WORLD;
    EXPECT_STATUS(rocshmem_collectmem(world, odd ? dest + 1 : dest, source, 200), ROCSHMEMX_E_ARG,
                  "rocshmem_collectmem", "dest", pe, "has room for");
    EXPECT_STATUS(rocshmem_collectmem(world, odd ? local : dest, source, 2), ROCSHMEMX_E_ARG,
                  "rocshmem_collectmem", "dest", pe, "has room for 0");
    EXPECT_STATUS(
        rocshmem_short_collect(world, (short *)(void *)dest, (short *)(void *)(odd ? local : source), 9),
        ROCSHMEMX_E_ARG, "rocshmem_short_collect", "source", pe);
    EXPECT_STATUS(rocshmem_collectmem(world, dest, source, odd ? 1001 : 1), ROCSHMEMX_E_ARG,
                  "rocshmem_collectmem", "source", pe);
    EXPECT_STATUS(rocshmem_collectmem(world, source, odd ? source + 3 : source + 900, 4), ROCSHMEMX_E_ARG,
                  "rocshmem_collectmem", pe, "has room for 3");
    CHECK_BYTES(dest, n, 0);
    CHECK_BYTES(source, 1000, 0);
    fill(source, 200, (uint64_t)me);
    CHECK_EQ(rocshmem_collectmem(world, dest, source, 200), 0);
    for (int i = 0; i < n_pes; i++) CHECK_FILLED(dest + 200 * i, 200, (uint64_t)i);
    rocshmem_barrier_all();
    rocshmem_free(dest);
    rocshmem_free(source);
}

/* Bytes of dest and source lie between each other in one allocation. */
static void interleaved(void)
{
    enum { N = 100 };
    size_t nbytes = (size_t)n_pes * N * 3;
    unsigned char *p = symmetric(nbytes), *here = copy_of(p, nbytes);
    for (size_t i = 0; i < (size_t)n_pes * N; i++) here[3 * i] = (unsigned char)(i + (size_t)me * 7);
    heap_write(p, here, nbytes);
    CHECK_EQ(rocshmem_alltoallsmem(ROCSHMEM_TEAM_WORLD, p + 1, p, 3, 3, N), 0);
    bool right = true;
    heap_read(here, p, nbytes);
    for (size_t i = 0; i < (size_t)n_pes * N; i++) {
        size_t from = (size_t)me * N + i % N; /* its place on the sender */
        right &= here[3 * i + 1] == (unsigned char)(from + i / N * 7) && here[3 * i + 2] == 0;
    }
    all_are(right, "alltoallsmem", N);
    free(here);
    rocshmem_barrier_all();
    rocshmem_free(p);
}

static void alltoalls_wrong(void)
{
    int *p = symmetric(4096), *q = symmetric(4096);
    rocshmem_team_t world = ROCSHMEM_TEAM_WORLD;
    EXPECT_STATUS(rocshmem_int_alltoalls(world, p, q, 0, 1, 1), ROCSHMEMX_E_ARG, "rocshmem_int_alltoalls",
                  "dst 0");
    EXPECT_STATUS(rocshmem_int_alltoalls(world, p, q, 1, -2, 1), ROCSHMEMX_E_ARG, "rocshmem_int_alltoalls",
                  "sst -2");
    EXPECT_STATUS(rocshmem_int_alltoalls(world, p, q, PTRDIFF_MAX, 1, 1), ROCSHMEMX_E_ARG,
                  "rocshmem_int_alltoalls", "9223372036854775807");
    EXPECT_STATUS(rocshmem_int_alltoalls(world, p, q, 1, 1100, 2), ROCSHMEMX_E_ARG, "rocshmem_int_alltoalls",
                  "source");
    EXPECT_STATUS(rocshmem_int_alltoalls(world, p, q, 1, 1, SIZE_MAX), ROCSHMEMX_E_ARG,
                  "rocshmem_int_alltoalls", "nelems");
    EXPECT_STATUS(rocshmem_int_alltoalls(world, p, p + 1, 2, 3, 20), ROCSHMEMX_E_ARG,
                  "rocshmem_int_alltoalls", "overlap");
    EXPECT_STATUS(rocshmem_int_alltoalls(world, p, p + 2, 2, 2, 20), ROCSHMEMX_E_ARG,
                  "rocshmem_int_alltoalls", "overlap");
    EXPECT_STATUS(rocshmem_int_alltoalls(ROCSHMEM_TEAM_INVALID, p, q, 1, 1, 1), ROCSHMEMX_E_ARG,
                  "rocshmem_int_alltoalls", "team");
    EXPECT_STATUS(rocshmem_double_broadcast(world, (double *)(void *)p, (double *)(void *)q, 513, 0),
                  ROCSHMEMX_E_ARG, "rocshmem_double_broadcast", "dest");
    EXPECT_STATUS(rocshmem_long_fcollect(world, (long *)(void *)p, (long *)(void *)q, SIZE_MAX / 4),
                  ROCSHMEMX_E_ARG, "rocshmem_long_fcollect", "nelems");
    rocshmem_barrier_all();
    CHECK_BYTES(p, 4096, 0);
    rocshmem_free(p);
    rocshmem_free(q);
}

/* No barrier between the calls, two sets of buffers in turn: a later call never disturbs an earlier one. */
static void back_to_back(void)
{
    enum { BLOCK = 100 };
    size_t room = (size_t)n_pes * BLOCK;
    unsigned char *dest = symmetric(room * 6), *source = symmetric(room * 2);
    uint64_t state = (uint64_t)me;
    for (uint64_t i = 0; i < (uint64_t)times(300); i++) {
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
    const uint64_t n = (uint64_t)times(200);
    uint64_t *dest = symmetric(sizeof(uint64_t) * (size_t)n_pes), *source = symmetric(64);
    for (uint64_t i = 1; i <= n; i++) {
        SET(source, i * 100 + (uint64_t)me);
        CHECK_EQ(rocshmem_fcollectmem(ROCSHMEM_TEAM_WORLD, dest, source, sizeof *source), 0);
        SET(source, 0);
        for (int pe = 0; pe < n_pes; pe++) CHECK_EQ(GET(&dest[pe]), i * 100 + (uint64_t)pe);
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
    CHECK_EQ(rocshmem_collectmem(ROCSHMEM_TEAM_WORLD, p, q, 0), 0);
    CHECK_EQ(rocshmem_alltoallsmem(ROCSHMEM_TEAM_WORLD, p, q, 1, 1, 0), 0);
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
    for (uint64_t k = 0; k < (uint64_t)times(300); k++) {
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
    {"typed_forms_do_what_their_names_say", typed, 0},
    {"collect_joins_pieces_of_any_size_in_team_order", collect, 0},
    {"a_collect_that_one_pe_cannot_do_is_an_error_on_all_that_names_it", collect_wrong_on_one, 0},
    {"strided_elements_may_lie_between_each_other", interleaved, 0},
    {"wrong_strides_are_named_and_nothing_is_written", alltoalls_wrong, 0},
    {"collectives_back_to_back_do_not_disturb_each_other", back_to_back, 0},
    {"the_source_of_a_collective_may_be_reused_when_it_returns", source_reuse, 0},
    {"zero_bytes_are_no_error", zero_bytes, 0},
    {"wrong_arguments_are_named_and_nothing_is_written", wrong, 0},
    {"alltoall_refuses_overlap", overlap, 0},
    {"two_threads_work_in_two_teams_at_the_same_time", two_threads, 0},
};
CHAPTER(collective);
