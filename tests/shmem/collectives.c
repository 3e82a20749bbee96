/* SPDX-License-Identifier: MIT
 *
 * Collectives over teams by functions with a type in their names: on the world and on teams of every second and third PE,
 * on heap and static memory; large ones; one behind the other without synchronisation in between. Needs 1.5.
 */
#include <complex.h>

#include "collectives.h"
#include "types.h"

#define TYPED_CALL(NAME, operation, ...) shmem_##NAME##_##operation(__VA_ARGS__)
#define MOVES(NAME, T) COLLECTIVE_MOVES(shmem_, TYPED_CALL, NAME, T)
#define ARITHMETIC(NAME, T) COLLECTIVE_ARITHMETIC(shmem_, TYPED_CALL, NAME, T)
#define LOGIC(NAME, T) COLLECTIVE_LOGIC(shmem_, TYPED_CALL, NAME, T)
#define COMPLEX(NAME, T) COLLECTIVE_ACCESS(shmem_, NAME, T) COLLECTIVE_SUMS(shmem_, TYPED_CALL, NAME, T)
RMA_TYPES(MOVES)
ARITHMETIC_REDUCE_TYPES(ARITHMETIC)
LOGIC_REDUCE_TYPES(LOGIC)
COMPLEX_TYPES(COMPLEX)
#define ARITHMETIC_ROW(NAME, T)                                                                              \
    {COLLECTIVE_MOVE_FIELDS(shmem_, NAME, T), COLLECTIVE_ARITHMETIC_FIELDS(shmem_, NAME)},
#define LOGIC_ROW(NAME, T) {COLLECTIVE_MOVE_FIELDS(shmem_, NAME, T), COLLECTIVE_LOGIC_FIELDS(shmem_, NAME)},
#define COMPLEX_ROW(NAME, T) {COLLECTIVE_ACCESS_FIELDS(shmem_, NAME, T), COLLECTIVE_SUM_FIELDS(shmem_, NAME)},
static const struct collective_type types[] = {ARITHMETIC_REDUCE_TYPES(ARITHMETIC_ROW)
                                                   LOGIC_REDUCE_TYPES(LOGIC_ROW) COMPLEX_TYPES(COMPLEX_ROW)};

static void set_byte(void *p, size_t i, int value)
{
    ((unsigned char *)p)[i] = (unsigned char)value;
}
static int byte_at(const void *p, size_t i)
{
    return ((const unsigned char *)p)[i];
}
static const struct collective_type bytes = {.name = "mem",
                                             .size = 1,
                                             .set = set_byte,
                                             .at = byte_at,
                                             .broadcast = shmem_broadcastmem,
                                             .alltoalls = shmem_alltoallsmem,
                                             .collect = shmem_collectmem,
                                             .fcollect = shmem_fcollectmem,
                                             .alltoall = shmem_alltoallmem};

/* ---- large ---- */

enum { LARGE = 100003 };

static void large_moves(void)
{
    size_t all = (size_t)LARGE * (size_t)n_pes;
    int *source = symmetric(all * sizeof(int)), *dest = symmetric(all * sizeof(int));
    for (size_t i = 0; i < all; i++) source[i] = me * 1000000 + (int)(i % 999983);
    shmem_barrier_all();
    CHECK_EQ(shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, source, LARGE, n_pes - 1), 0);
    size_t wrong = 0;
    for (size_t i = 0; i < LARGE; i++) wrong += dest[i] != (n_pes - 1) * 1000000 + (int)(i % 999983);
    CHECK_EQ_FOR("broadcast", wrong, 0);
    shmem_barrier_all();
    CHECK_EQ(shmem_int_fcollect(SHMEM_TEAM_WORLD, dest, source, LARGE), 0);
    for (size_t i = 0; i < all; i++)
        wrong += dest[i] != (int)(i / LARGE) * 1000000 + (int)(i % LARGE % 999983);
    CHECK_EQ_FOR("fcollect", wrong, 0);
    shmem_barrier_all();
    CHECK_EQ(shmem_int_alltoall(SHMEM_TEAM_WORLD, dest, source, LARGE), 0);
    for (size_t i = 0; i < all; i++) {
        size_t at = (size_t)me * LARGE + i % LARGE;
        wrong += dest[i] != (int)(i / LARGE) * 1000000 + (int)(at % 999983);
    }
    CHECK_EQ_FOR("alltoall", wrong, 0);
    shmem_free(dest);
    shmem_free(source);
}

/* One PE has nearly all of it. */
static void large_collect(void)
{
    size_t mine = me == n_pes / 2 ? LARGE : (size_t)me, most = LARGE + (size_t)n_pes * (size_t)n_pes;
    long *source = symmetric(LARGE * sizeof(long) + 8), *dest = symmetric(most * sizeof(long));
    for (size_t i = 0; i < LARGE; i++) source[i] = me * 1000000L + (long)i;
    shmem_barrier_all();
    CHECK_EQ(shmem_long_collect(SHMEM_TEAM_WORLD, dest, source, mine), 0);
    size_t k = 0, wrong = 0;
    for (int from = 0; from < n_pes; from++)
        for (size_t i = 0; i < (from == n_pes / 2 ? (size_t)LARGE : (size_t)from); i++)
            wrong += dest[k++] != from * 1000000L + (long)i;
    CHECK_EQ(wrong, 0);
    shmem_free(dest);
    shmem_free(source);
}

static void large_reductions(void)
{
    double *source = symmetric(LARGE * sizeof(double)), *dest = symmetric(LARGE * sizeof(double));
    for (size_t i = 0; i < LARGE; i++) source[i] = (double)me + (double)(i % 1000);
    shmem_barrier_all();
    CHECK_EQ(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, source, LARGE), 0);
    size_t wrong = 0;
    for (size_t i = 0; i < LARGE; i++)
        wrong += dest[i] != n_pes * (n_pes - 1) / 2.0 + (double)n_pes * (double)(i % 1000);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(shmem_double_max_reduce(SHMEM_TEAM_WORLD, source, source, LARGE), 0);
    for (size_t i = 0; i < LARGE; i++) wrong += source[i] != n_pes - 1 + (double)(i % 1000);
    CHECK_EQ(wrong, 0);
    shmem_free(dest);
    shmem_free(source);
}

/* ---- one behind the other ---- */

/* A collective may follow at once where it does not write what others may still read: the buffers take turns. */
static void without_synchronisation_between(void)
{
    enum { ROUNDS = 60 };
    static long source[ROUNDS], dest[ROUNDS][64], sums[ROUNDS], roots[ROUNDS];
    if (n_pes > 64) return;
    for (int k = 0; k < ROUNDS; k++) {
        source[k] = 100 * k + me;
        CHECK_EQ(shmem_long_fcollect(SHMEM_TEAM_WORLD, dest[k], &source[k], 1), 0);
        CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sums[k], &source[k], 1), 0);
        CHECK_EQ(shmem_long_broadcast(SHMEM_TEAM_WORLD, &roots[k], &source[k], 1, k % n_pes), 0);
        if (k % 7 == me % 7) CHECK_EQ(roots[k], 100 * k + k % n_pes); /* some are slower than others */
    }
    for (int k = 0; k < ROUNDS; k++) {
        for (int pe = 0; pe < n_pes; pe++) CHECK_EQ(dest[k][pe], 100 * k + pe);
        CHECK_EQ(sums[k], 100L * k * n_pes + (long)n_pes * (n_pes - 1) / 2);
        CHECK_EQ(roots[k], 100 * k + k % n_pes);
    }
    shmem_barrier_all();
}

/* Puts before a collective are not completed by it, but by quiet; then team_sync tells. */
static void quiet_and_team_sync(void)
{
    static long words[4];
    for (long round = 1; round <= 50; round++) {
        shmem_long_p(&words[round % 4], round, right());
        shmem_quiet();
        CHECK_EQ(shmem_team_sync(SHMEM_TEAM_WORLD), 0);
        CHECK_EQ(words[round % 4], round);
    }
    shmem_barrier_all();
}

/* ---- floating point ---- */

static void numbers_that_are_none_of_small(void)
{
    static double source[4], dest[4];
    double values[4] = {me == 0 ? 1e300 : -1e300, me == n_pes - 1 ? -0.5 : 0.25, 1.0 / 1024,
                        me == 0 ? -1 : 1};
    memcpy(source, values, sizeof values);
    shmem_barrier_all();
    CHECK_EQ(shmem_double_max_reduce(SHMEM_TEAM_WORLD, dest, source, 4), 0);
    CHECK(dest[0] == 1e300 && dest[1] == (n_pes > 1 ? 0.25 : -0.5) && dest[2] == 1.0 / 1024);
    shmem_barrier_all();
    CHECK_EQ(shmem_double_min_reduce(SHMEM_TEAM_WORLD, dest, source, 4), 0);
    CHECK(dest[0] == (n_pes > 1 ? -1e300 : 1e300) && dest[1] == -0.5 && dest[3] == -1);
    shmem_barrier_all();
    CHECK_EQ(shmem_double_prod_reduce(SHMEM_TEAM_WORLD, dest + 3, source + 3, 1), 0);
    CHECK(dest[3] == -1);
    static double _Complex rotation, product;
    rotation = I;
    shmem_barrier_all();
    CHECK_EQ(shmem_complexd_prod_reduce(SHMEM_TEAM_WORLD, &product, &rotation, 1), 0);
    static const double real[] = {1, 0, -1, 0}, imaginary[] = {0, 1, 0, -1};
    CHECK(creal(product) == real[n_pes % 4] && cimag(product) == imaginary[n_pes % 4]);
    shmem_barrier_all();
}

int main(void)
{
    check_begin("collectives");
    if (n_pes > 64) return check_end();
    static ALIGNED char kept[2][COLLECTIVE_NBYTES];
    struct buffers heap = {symmetric(COLLECTIVE_NBYTES), symmetric(COLLECTIVE_NBYTES)};
    struct buffers statics = {kept[0], kept[1]};
    check_case("typed_on_the_world");
    for (size_t i = 0; i < LENGTH(types); i++) check_collectives(&types[i], SHMEM_TEAM_WORLD, heap);
    check_collectives(&bytes, SHMEM_TEAM_WORLD, heap);
    shmem_barrier_all();
    check_case("typed_on_parts_of_it");
    for (int stride = 2; stride <= 3; stride++) {
        shmem_team_t team;
        int start = n_pes > 1, size = (n_pes - 1 - start) / stride + 1;
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &team), 0);
        for (size_t i = 0; team != SHMEM_TEAM_INVALID && i < LENGTH(types); i++)
            check_collectives(&types[i], team, stride == 2 ? statics : heap);
        shmem_team_destroy(team);
        shmem_barrier_all();
    }
    check_case("large_moves");
    large_moves();
    check_case("large_collect");
    large_collect();
    check_case("large_reductions");
    large_reductions();
    check_case("without_synchronisation_between");
    without_synchronisation_between();
    check_case("quiet_and_team_sync");
    quiet_and_team_sync();
    check_case("numbers_that_are_none_of_small");
    numbers_that_are_none_of_small();
    return check_end();
}
