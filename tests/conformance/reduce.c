/* SPDX-License-Identifier: MIT
 *
 * Reductions of every type and operation.
 */
#include <float.h>

#include "conformance.h"

static const size_t counts[] = {1, 2, 3, 7, 16, 100, 1001, 5003};
enum { N_COUNTS = sizeof counts / sizeof counts[0], COUNT_MAX = 5003 };

/* Element i of PE pe: small, of both signs where T has them, so that sums and products are exact in every
 * type. */
#define VALUE(T, pe, i) ((T)((int)(((i)*7 + (pe)*3) % 5) - ((long double)(T)-1 < 0 ? 2 : 0)))
#define OP_sum(a, b) ((a) + (b))
#define OP_prod(a, b) ((a) * (b))
#define OP_min(a, b) ((a) < (b) ? (a) : (b))
#define OP_max(a, b) ((a) > (b) ? (a) : (b))
#define OP_and(a, b) ((a) & (b))
#define OP_or(a, b) ((a) | (b))
#define OP_xor(a, b) ((a) ^ (b))

#define DEFINE(name, T, op)                                                                                  \
    static void op##_##name(rocshmem_team_t team, void *to, void *from, void *here, void *there)             \
    {                                                                                                        \
        T *dest = to, *source = from, *got = here, *kept = there;                                            \
        int n = rocshmem_team_n_pes(team), mine = rocshmem_team_my_pe(team);                                 \
        for (size_t c = 0; c < N_COUNTS; c++) {                                                              \
            size_t count = counts[c];                                                                        \
            for (size_t i = 0; i < count; i++) got[i] = VALUE(T, mine, i);                                   \
            heap_write(source, got, count * sizeof(T));                                                      \
            fill_byte(dest, (count + 1) * sizeof(T), 0x55);                                                  \
            unsigned char guard[sizeof(T)];                                                                  \
            memset(guard, 0x55, sizeof guard);                                                               \
            rocshmem_barrier(team);                                                                          \
            if (rocshmem_##name##_##op##_reduce(team, dest, source, count) != 0) FAIL(#name " " #op);        \
            heap_read(got, dest, (count + 1) * sizeof(T));                                                   \
            heap_read(kept, source, count * sizeof(T));                                                      \
            for (size_t i = 0; i < count; i++) {                                                             \
                T want = VALUE(T, 0, i);                                                                     \
                for (int pe = 1; pe < n; pe++) {                                                             \
                    T next = VALUE(T, pe, i);                                                                \
                    want = (T)OP_##op(want, next);                                                           \
                }                                                                                            \
                if (got[i] != want || kept[i] != VALUE(T, mine, i)) {                                        \
                    FAIL("%s: element %zu of %zu over %d PEs is wrong", #name " " #op, i, count, n);         \
                    break;                                                                                   \
                }                                                                                            \
            }                                                                                                \
            if (memcmp(&got[count], guard, sizeof(T)) != 0) FAIL(#name " " #op " wrote past the end");       \
            rocshmem_barrier(team);                                                                          \
        }                                                                                                    \
    }
ROCSHMEM_REDUCTIONS(DEFINE)
#undef DEFINE

#define CALL(name, T, op) op##_##name(team, dest, source, here, there);
static void every_op(rocshmem_team_t team)
{
    size_t room = (COUNT_MAX + 1) * sizeof(long double);
    void *dest = symmetric(room), *source = symmetric(room), *here = ordinary(room), *there = ordinary(room);
    if (rocshmem_team_my_pe(team) >= 0) {
        ROCSHMEM_REDUCTIONS(CALL)
    }
    rocshmem_barrier_all();
    free(here);
    free(there);
    rocshmem_free(dest);
    rocshmem_free(source);
}
#undef CALL

static void world(void)
{
    every_op(ROCSHMEM_TEAM_WORLD);
}

static void part(void)
{
    rocshmem_team_t team;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 1, 1, n_pes - 1, NULL, 0, &team), 0);
    every_op(team);
    rocshmem_team_destroy(team);
}

static void in_place(void)
{
    enum { N = 3001 };
    int64_t *p = symmetric(N * sizeof *p), here[N];
    for (int i = 0; i < N; i++) here[i] = i + me;
    heap_write(p, here, sizeof here);
    rocshmem_barrier_all();
    CHECK_EQ(rocshmem_int64_sum_reduce(ROCSHMEM_TEAM_WORLD, p, p, N), 0);
    heap_read(here, p, sizeof here);
    for (int i = 0; i < N; i++)
        if (here[i] != (int64_t)i * n_pes + n_pes * (n_pes - 1) / 2) {
            FAIL("element %d is %lld", i, (long long)here[i]);
            break;
        }
    rocshmem_barrier_all();
    rocshmem_free(p);
}

/* Rounding depends on the order of the additions, so equal bits mean an equal order. */
static void equal_bits(void)
{
    enum { N = 20011 };
    float *dest = symmetric(N * sizeof *dest), *source = symmetric(N * sizeof *source),
          *theirs = ordinary(N * sizeof *dest), *here = ordinary(N * sizeof *dest);
    uint64_t state = (uint64_t)me + 99;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) here[i] = (float)(next_random(&state) >> 40) * (i % 3 ? 1e-3f : 1e6f);
        heap_write(source, here, N * sizeof *here);
        rocshmem_barrier_all();
        CHECK_EQ(rocshmem_float_sum_reduce(ROCSHMEM_TEAM_WORLD, dest, source, N), 0);
        rocshmem_barrier_all();
        rocshmem_float_get(theirs, dest, N, right());
        heap_read(here, dest, N * sizeof *here);
        CHECK(memcmp(theirs, here, N * sizeof *here) == 0);
        rocshmem_barrier_all();
    }
    rocshmem_free(dest);
    rocshmem_free(source);
    free(theirs);
    free(here);
}

static void large(void)
{
    size_t n = (1 << 19) + 3;
    uint32_t *dest = symmetric(n * 4), *source = symmetric(n * 4), *here = ordinary(n * 4), wrong = 0;
    for (size_t i = 0; i < n; i++) here[i] = (uint32_t)i * 2654435761u + (uint32_t)me;
    heap_write(source, here, n * 4);
    rocshmem_barrier_all();
    CHECK_EQ(rocshmem_uint32_sum_reduce(ROCSHMEM_TEAM_WORLD, dest, source, n), 0);
    heap_read(here, dest, n * 4);
    for (size_t i = 0; i < n; i++)
        wrong += here[i] != (uint32_t)i * 2654435761u * (uint32_t)n_pes + (uint32_t)(n_pes * (n_pes - 1) / 2);
    CHECK_EQ(wrong, 0);
    free(here);
    rocshmem_barrier_all();
    rocshmem_free(dest);
    rocshmem_free(source);
}

static void back_to_back(void)
{
    int *dest = symmetric(2 * sizeof *dest), *source = symmetric(2 * sizeof *source);
    uint64_t state = (uint64_t)me;
    for (int i = 0; i < times(1000); i++) {
        SET(&source[i & 1], i + me);
        dawdle(&state);
        CHECK_EQ(rocshmem_int_sum_reduce(ROCSHMEM_TEAM_WORLD, &dest[i & 1], &source[i & 1], 1), 0);
        CHECK_EQ(GET(&dest[i & 1]), i * n_pes + n_pes * (n_pes - 1) / 2);
    }
    rocshmem_barrier_all();
    rocshmem_free(dest);
    rocshmem_free(source);
}

/* ---- reduce_scatter, and on a stream, against reduce ---- */

/* Bytes of a T that mean something: the x87's long double has 6 of padding. */
#define VALUE_NBYTES(T) (sizeof(T) == 16 && LDBL_MANT_DIG == 64 && IS_LONG_DOUBLE(T) ? 10 : sizeof(T))
#define IS_LONG_DOUBLE(T) _Generic((T)0, long double : true, default : false)

static bool equal(const void *a, const void *b, size_t n, size_t width, size_t nbytes)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp((const char *)a + i * width, (const char *)b + i * width, nbytes) != 0) return false;
    return true;
}

struct rooms {
    void *dest, *source, *model; /* symmetric */
    void *got, *want;            /* ordinary */
};

#define DEFINE(name, T, op)                                                                                  \
    static void op##_forms_##name(rocshmem_team_t team, struct rooms *rooms, void *stream)                   \
    {                                                                                                        \
        static const size_t blocks[] = {0, 1, 3, 300};                                                       \
        T *dest = rooms->dest, *source = rooms->source, *model = rooms->model;                               \
        T *got = rooms->got, *want = rooms->want;                                                            \
        size_t n = (size_t)rocshmem_team_n_pes(team), mine = (size_t)rocshmem_team_my_pe(team);              \
        for (size_t c = 0; c < 4; c++) {                                                                     \
            size_t block = blocks[c], all = block * n;                                                       \
            for (size_t i = 0; i < all; i++) got[i] = VALUE(T, (int)mine, i);                                \
            heap_write(source, got, all * sizeof(T));                                                        \
            fill_byte(dest, (all + 1) * sizeof(T), 0x55);                                                    \
            CHECK_EQ(rocshmem_##name##_##op##_reduce(team, model, source, all), 0);                          \
            heap_read(want, model, all * sizeof(T));                                                         \
            memset(&want[all], 0x55, sizeof(T));                                                             \
            rocshmem_barrier(team);                                                                          \
            rocshmem_##name##_##op##_reduce_on_stream(team, dest, source, all, stream);                      \
            CHECK_EQ(rocshmemx_stream_synchronize(stream), 0);                                               \
            heap_read(got, dest, (all + 1) * sizeof(T));                                                     \
            if (!equal(got, want, all + 1, sizeof(T), VALUE_NBYTES(T))) FAIL(#name " " #op " on stream");    \
            rocshmem_barrier(team);                                                                          \
            fill_byte(&dest[block], sizeof(T), 0x55);                                                        \
            T *part = c % 2 ? dest : source + mine * block;                                                  \
            CHECK_EQ(rocshmem_##name##_##op##_reduce_scatter(team, part, source, block), 0);                 \
            heap_read(got, part, block * sizeof(T));                                                         \
            if (!equal(got, want + mine * block, block, sizeof(T), VALUE_NBYTES(T)))                         \
                FAIL(#name " " #op " scattered");                                                            \
            heap_read(got, &dest[block], sizeof(T));                                                         \
            if (memcmp(got, &want[all], sizeof(T)) != 0) FAIL(#name " " #op " scattered too far");           \
            rocshmem_barrier(team);                                                                          \
        }                                                                                                    \
    }
ROCSHMEM_REDUCTIONS(DEFINE)
#undef DEFINE

static void forms(void)
{
    size_t room = ((size_t)n_pes * 300 + 1) * sizeof(long double);
    struct rooms rooms = {symmetric(room), symmetric(room), symmetric(room), ordinary(room), ordinary(room)};
    void *stream = NULL;
    rocshmem_team_t teams[2] = {ROCSHMEM_TEAM_WORLD, ROCSHMEM_TEAM_INVALID};
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, n_pes - 1, -1, n_pes - n_pes / 3, NULL, 0,
                                         &teams[1]),
             0);
    CHECK_EQ(rocshmemx_stream_create(&stream), 0);
#define CALL(name, T, op) op##_forms_##name(teams[t], &rooms, stream);
    for (int t = 0; t < 2; t++)
        if (teams[t] != ROCSHMEM_TEAM_INVALID) {
            ROCSHMEM_REDUCTIONS(CALL)
        }
#undef CALL
    rocshmem_barrier_all();
    CHECK_EQ(rocshmemx_stream_destroy(stream), 0);
    rocshmem_team_destroy(teams[1]);
    rocshmem_free(rooms.dest);
    rocshmem_free(rooms.source);
    rocshmem_free(rooms.model);
    free(rooms.got);
    free(rooms.want);
}

static void scatter_in_place(void)
{
    enum { N = 5000 };
    size_t nbytes = (size_t)n_pes * N * sizeof(int64_t);
    int64_t *p = symmetric(nbytes), *here = ordinary(nbytes);
    for (int i = 0; i < n_pes * N; i++) here[i] = i + me;
    heap_write(p, here, nbytes);
    CHECK_EQ(rocshmem_int64_sum_reduce_scatter(ROCSHMEM_TEAM_WORLD, p, p, N), 0);
    heap_read(here, p, nbytes);
    for (int i = 0; i < n_pes * N; i++) {
        int64_t sum = ((int64_t)me * N + i) * n_pes + n_pes * (n_pes - 1) / 2;
        if (here[i] != (i < N ? sum : i + me)) {
            FAIL("element %d is %lld", i, (long long)here[i]);
            break;
        }
    }
    free(here);
    rocshmem_barrier_all();
    rocshmem_free(p);
}

static void scatter_wrong(void)
{
    int *p = symmetric(4096), *q = symmetric(4096), local[4];
    rocshmem_team_t world = ROCSHMEM_TEAM_WORLD;
    EXPECT_STATUS(rocshmem_int_sum_reduce_scatter(ROCSHMEM_TEAM_INVALID, p, q, 1), ROCSHMEMX_E_ARG,
                  "rocshmem_int_sum_reduce_scatter", "team");
    EXPECT_STATUS(rocshmem_int_min_reduce_scatter(world, local, q, 1), ROCSHMEMX_E_ARG,
                  "rocshmem_int_min_reduce_scatter", "dest");
    EXPECT_STATUS(rocshmem_int_xor_reduce_scatter(world, p, q, 1025), ROCSHMEMX_E_ARG,
                  "rocshmem_int_xor_reduce_scatter", "dest");
    EXPECT_STATUS(rocshmem_int_max_reduce_scatter(world, p, q + 1020, 5), ROCSHMEMX_E_ARG,
                  "rocshmem_int_max_reduce_scatter", "source");
    EXPECT_STATUS(rocshmem_int_sum_reduce_scatter(world, q + 1, q, 100), ROCSHMEMX_E_ARG,
                  "rocshmem_int_sum_reduce_scatter", "overlap");
    EXPECT_STATUS(rocshmem_int_sum_reduce_scatter(world, p, q, SIZE_MAX / 2), ROCSHMEMX_E_ARG,
                  "rocshmem_int_sum_reduce_scatter", "nreduce");
    rocshmem_barrier_all();
    CHECK_BYTES(p, 4096, 0);
    rocshmem_free(p);
    rocshmem_free(q);
}

static void wrong(void)
{
    int *p = symmetric(64), local[16];
    rocshmem_team_t team = ROCSHMEM_TEAM_WORLD;
    CHECK_EQ(rocshmem_int_sum_reduce(team, p, p + 8, 0), 0);
    EXPECT_STATUS(rocshmem_int_sum_reduce(ROCSHMEM_TEAM_INVALID, p, p, 1), ROCSHMEMX_E_ARG,
                  "rocshmem_int_sum_reduce", "team", "INVALID");
    EXPECT_STATUS(rocshmem_int_sum_reduce(team, local, p, 1), ROCSHMEMX_E_ARG, "rocshmem_int_sum_reduce",
                  "dest");
    EXPECT_STATUS(rocshmem_int_max_reduce(team, p, local, 1), ROCSHMEMX_E_ARG, "rocshmem_int_max_reduce",
                  "source");
    EXPECT_STATUS(rocshmem_int_min_reduce(team, p, p, 17), ROCSHMEMX_E_ARG, "rocshmem_int_min_reduce",
                  "dest");
    EXPECT_STATUS(rocshmem_int_prod_reduce(team, p, p, SIZE_MAX / 2), ROCSHMEMX_E_ARG,
                  "rocshmem_int_prod_reduce", "nreduce");
    EXPECT_STATUS(rocshmem_int_sum_reduce(team, p, p + 1, 4), ROCSHMEMX_E_ARG, "rocshmem_int_sum_reduce",
                  "overlap");
    rocshmem_barrier_all();
    CHECK_BYTES(p, 64, 0);
    rocshmem_free(p);
}

static const struct test_case reduce_cases[] = {
    {"every_type_and_operation_reduces_over_world", world, 0},
    {"every_type_and_operation_reduces_over_a_part_of_the_pes", part, NEEDS_2_PES},
    {"a_reduction_in_place_is_fine", in_place, 0},
    {"floating_point_sums_have_equal_bits_on_every_pe", equal_bits, 0},
    {"half_a_million_elements_reduce", large, 0},
    {"reductions_back_to_back_do_not_disturb_each_other", back_to_back, 0},
    {"reduce_scatter_and_reductions_on_streams_have_the_bits_of_reduce", forms, 0},
    {"reduce_scatter_into_the_start_of_its_source_is_fine", scatter_in_place, 0},
    {"wrong_arguments_of_reduce_scatter_are_named", scatter_wrong, 0},
    {"wrong_arguments_are_named_and_nothing_is_written", wrong, 0},
};
CHAPTER(reduce);
