/* SPDX-License-Identifier: MIT
 *
 * Waits for, and tests of, arrays of words: every form for every integer type, all six comparisons, statuses,
 * empty sets, fairness, partners that make one element after the other true.
 */
#include "conformance.h"

enum { N = 12 };

#define HOLDS(x, cmp, y)                                                                                     \
    ((cmp) == 0   ? (x) == (y)                                                                               \
     : (cmp) == 1 ? (x) != (y)                                                                               \
     : (cmp) == 2 ? (x) > (y)                                                                                \
     : (cmp) == 3 ? (x) >= (y)                                                                               \
     : (cmp) == 4 ? (x) < (y)                                                                                \
                  : (x) <= (y))

/* Indices that some gave: rising, and the set bits of mask, all of them. */
static void check_indices(const char *name, const size_t *indices, size_t n, unsigned mask)
{
    size_t k = 0;
    for (size_t i = 0; i < N; i++) {
        if (!(mask >> i & 1)) continue;
        if (k >= n || indices[k] != i) FAIL("%s: index %zu of %zu is not %zu", name, k, n, i);
        k++;
    }
    if (k != n) FAIL("%s: %zu indices instead of %zu", name, n, k);
}

/* Every form of a type against the reference, for words that do not change. Waits are tried when they hold. */
#define DEFINE(name, T, ...)                                                                                 \
    static void still_##name(T *words, const T *values, T value, const int *status, int cmp)                 \
    {                                                                                                        \
        T here[N];                                                                                           \
        unsigned one = 0, each = 0, set = 0;                                                                 \
        size_t indices[N], n, any;                                                                           \
        heap_read(here, words, sizeof here);                                                                 \
        for (int i = 0; i < N; i++) {                                                                        \
            if (status && status[i]) continue;                                                               \
            set |= 1u << i;                                                                                  \
            if (HOLDS(here[i], cmp, value)) one |= 1u << i;                                                  \
            if (HOLDS(here[i], cmp, values[i])) each |= 1u << i;                                             \
        }                                                                                                    \
        for (int vector = 0; vector < 2; vector++) {                                                         \
            unsigned want = vector ? each : one;                                                             \
            int all = vector ? rocshmem_##name##_test_all_vector(words, N, status, cmp, values)              \
                             : rocshmem_##name##_test_all(words, N, status, cmp, value);                     \
            if (all != (want == set)) FAIL("%s: test_all gives %d, cmp %d", #name, all, cmp);                \
            any = vector ? rocshmem_##name##_test_any_vector(words, N, status, cmp, values)                  \
                         : rocshmem_##name##_test_any(words, N, status, cmp, value);                         \
            if (want ? any >= N || !(want >> any & 1) : any != SIZE_MAX)                                     \
                FAIL("%s: test_any gives %zu, cmp %d", #name, any, cmp);                                     \
            n = vector ? rocshmem_##name##_test_some_vector(words, N, indices, status, cmp, values)          \
                       : rocshmem_##name##_test_some(words, N, indices, status, cmp, value);                 \
            check_indices(#name, indices, n, want);                                                          \
            if (want == set)                                                                                 \
                vector ? rocshmem_##name##_wait_until_all_vector(words, N, status, cmp, values)              \
                       : rocshmem_##name##_wait_until_all(words, N, status, cmp, value);                     \
            if (!want && set) continue;                                                                      \
            any = vector ? rocshmem_##name##_wait_until_any_vector(words, N, status, cmp, values)            \
                         : rocshmem_##name##_wait_until_any(words, N, status, cmp, value);                   \
            if (want ? any >= N || !(want >> any & 1) : any != SIZE_MAX)                                     \
                FAIL("%s: wait_until_any gives %zu, cmp %d", #name, any, cmp);                               \
            n = vector ? rocshmem_##name##_wait_until_some_vector(words, N, indices, status, cmp, values)    \
                       : rocshmem_##name##_wait_until_some(words, N, indices, status, cmp, value);           \
            check_indices(#name, indices, n, want);                                                          \
        }                                                                                                    \
    }                                                                                                        \
    static void comparisons_##name(void)                                                                     \
    {                                                                                                        \
        static const int skips[3][N] = {{0}, {0, 1, 0, -1, 0, 7}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};     \
        const T edge = (T)((uint64_t)1 << (8 * sizeof(T) - 1));                                              \
        const T values[N] = {0, 1, (T)-1, (T)-100, 100, edge, (T) ~(uint64_t)edge, 7, 7, 7, 7, (T)-7};       \
        T *words = symmetric(N * sizeof *words), here[N];                                                    \
        for (int shift = 0; shift < 3; shift++)                                                              \
            for (int cmp = 0; cmp < 6; cmp++)                                                                \
                for (int s = 0; s < 4; s++) {                                                                \
                    for (int i = 0; i < N; i++) here[i] = values[(i + shift * 2) % N];                       \
                    heap_write(words, here, sizeof here);                                                    \
                    still_##name(words, values, values[(cmp + shift) % N], s ? skips[s - 1] : NULL, cmp);    \
                }                                                                                            \
        for (int cmp = 0; cmp < 6; cmp++) { /* all hold: EQ, GE and LE only */                               \
            for (int i = 0; i < N; i++) here[i] = edge;                                                      \
            heap_write(words, here, sizeof here);                                                            \
            still_##name(words, here, edge, NULL, cmp);                                                      \
        }                                                                                                    \
        rocshmem_barrier_all();                                                                              \
        rocshmem_free(words);                                                                                \
    }
ROCSHMEM_SYNC_TYPES(DEFINE, )
#undef DEFINE

/* The left PE makes the words true, from the last to the first, one for each answer. */
#define DEFINE(name, T, ...)                                                                                 \
    static void partner_##name(void)                                                                         \
    {                                                                                                        \
        T *words = symmetric(N * sizeof *words), *answer = symmetric(sizeof *answer), values[N];             \
        size_t indices[N], found = 0;                                                                        \
        int status[N] = {0};                                                                                 \
        for (int i = 0; i < N; i++) values[i] = (T)(i + 1);                                                  \
        for (int i = N - 1; i >= 0; i--) {                                                                   \
            rocshmem_##name##_atomic_set(&words[i], (T)(i + 1), right());                                    \
            if (i % 4 == 0) {                                                                                \
                size_t at =                                                                                  \
                    rocshmem_##name##_wait_until_any_vector(words, N, status, ROCSHMEM_CMP_EQ, values);      \
                if (at != (size_t)i) FAIL("%s: any gives %zu, not %d", #name, at, i);                        \
            } else if (i % 4 == 1) {                                                                         \
                size_t at = rocshmem_##name##_wait_until_any(words, N, status, ROCSHMEM_CMP_NE, 0);          \
                if (at != (size_t)i) FAIL("%s: any gives %zu, not %d", #name, at, i);                        \
            } else if (i % 4 == 2) {                                                                         \
                size_t n = rocshmem_##name##_wait_until_some_vector(words, N, indices, status,               \
                                                                    ROCSHMEM_CMP_GE, values);                \
                if (n != 1 || indices[0] != (size_t)i)                                                       \
                    FAIL("%s: some gives %zu, %zu", #name, n, indices[0]);                                   \
            } else {                                                                                         \
                size_t n = rocshmem_##name##_wait_until_some(words, N, indices, status, ROCSHMEM_CMP_GT, 0); \
                if (n != 1 || indices[0] != (size_t)i)                                                       \
                    FAIL("%s: some gives %zu, %zu", #name, n, indices[0]);                                   \
            }                                                                                                \
            status[i] = 1;                                                                                   \
            found++;                                                                                         \
            rocshmem_##name##_atomic_inc(answer, left());                                                    \
            rocshmem_##name##_wait_until_all(answer, 1, NULL, ROCSHMEM_CMP_GE, (T)found);                    \
        }                                                                                                    \
        rocshmem_##name##_wait_until_all_vector(words, N, NULL, ROCSHMEM_CMP_EQ, values);                    \
        rocshmem_barrier_all();                                                                              \
        rocshmem_free(words);                                                                                \
        rocshmem_free(answer);                                                                               \
    }
ROCSHMEM_INTEGER_TYPES(DEFINE, )
#undef DEFINE

static void comparisons(void)
{
#define CALL(name, T, ...) comparisons_##name();
    ROCSHMEM_SYNC_TYPES(CALL, )
#undef CALL
}

static void partners(void)
{
#define CALL(name, T, ...) partner_##name();
    ROCSHMEM_INTEGER_TYPES(CALL, )
#undef CALL
}

/* Nothing to wait for: no address is looked at, and indices stay. */
static void empty(void)
{
    size_t indices[2] = {77, 78};
    int *words = symmetric(2 * sizeof *words), status[2] = {1, 2}, zeros[2] = {0};
    rocshmem_int_wait_until_all(NULL, 0, NULL, ROCSHMEM_CMP_EQ, 1);
    rocshmem_int_wait_until_all_vector(NULL, 0, NULL, ROCSHMEM_CMP_EQ, NULL);
    rocshmem_int_wait_until_all(words, 2, status, ROCSHMEM_CMP_EQ, 1);
    CHECK_EQ(rocshmem_int_wait_until_any(NULL, 0, NULL, ROCSHMEM_CMP_EQ, 1), SIZE_MAX);
    CHECK_EQ(rocshmem_int_wait_until_any_vector(NULL, 0, NULL, ROCSHMEM_CMP_EQ, NULL), SIZE_MAX);
    CHECK_EQ(rocshmem_int_wait_until_any(words, 2, status, ROCSHMEM_CMP_EQ, 0), SIZE_MAX);
    CHECK_EQ(rocshmem_int_wait_until_some(NULL, 0, NULL, NULL, ROCSHMEM_CMP_EQ, 1), 0);
    CHECK_EQ(rocshmem_int_wait_until_some(words, 2, indices, status, ROCSHMEM_CMP_EQ, 0), 0);
    CHECK_EQ(rocshmem_int_wait_until_some_vector(words, 2, indices, status, ROCSHMEM_CMP_EQ, zeros), 0);
    CHECK_EQ(rocshmem_int_test_all(NULL, 0, NULL, ROCSHMEM_CMP_EQ, 1), 1);
    CHECK_EQ(rocshmem_int_test_all(words, 2, status, ROCSHMEM_CMP_EQ, 1), 1);
    CHECK_EQ(rocshmem_int_test_any(NULL, 0, NULL, ROCSHMEM_CMP_EQ, 1), SIZE_MAX);
    CHECK_EQ(rocshmem_int_test_any(words, 2, status, ROCSHMEM_CMP_EQ, 0), SIZE_MAX);
    CHECK_EQ(rocshmem_int_test_some(NULL, 0, NULL, NULL, ROCSHMEM_CMP_EQ, 1), 0);
    CHECK_EQ(rocshmem_int_test_some(words, 2, indices, status, ROCSHMEM_CMP_EQ, 0), 0);
    CHECK_EQ(indices[0], 77);
    rocshmem_free(words);
}

/* Elements that hold all the time are each found, whatever else holds. */
static void fair(void)
{
    enum { MANY = 40 };
    long *words = symmetric(MANY * sizeof *words);
    int found[MANY] = {0};
    for (int i = 0; i < 3 * MANY; i++) {
        size_t at = i % 2 ? rocshmem_long_wait_until_any(words, MANY, NULL, ROCSHMEM_CMP_EQ, 0)
                          : rocshmem_long_test_any(words, MANY, NULL, ROCSHMEM_CMP_EQ, 0);
        if (at < MANY) found[at]++;
    }
    for (int i = 0; i < MANY; i++) CHECK_EQ(found[i], 3);
    rocshmem_barrier_all();
    rocshmem_free(words);
}

/* Every PE has a slot at every other: data, then its flag. Data are there when the flag is seen. */
static void gather(void)
{
    enum { ROUNDS = 50 };
    uint64_t *flags = symmetric((size_t)n_pes * 8), *data = symmetric((size_t)n_pes * 8);
    int *status = ordinary((size_t)n_pes * sizeof *status);
    size_t *indices = ordinary((size_t)n_pes * sizeof *indices);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (int pe = 0; pe < n_pes; pe++) {
            uint64_t value = round * 1000 + (uint64_t)me;
            rocshmem_uint64_p(&data[me], value, pe);
            rocshmem_fence();
            rocshmem_uint64_p(&flags[me], round, pe);
        }
        memset(status, 0, (size_t)n_pes * sizeof *status);
        for (size_t left_over = (size_t)n_pes; left_over > 0;) {
            size_t n = 1;
            if (round % 2)
                n = rocshmem_uint64_wait_until_some(flags, (size_t)n_pes, indices, status, ROCSHMEM_CMP_GE,
                                                    round);
            else
                indices[0] =
                    rocshmem_uint64_wait_until_any(flags, (size_t)n_pes, status, ROCSHMEM_CMP_GE, round);
            for (size_t i = 0; i < n; i++) {
                CHECK_EQ(GET(&data[indices[i]]), round * 1000 + indices[i]);
                status[indices[i]] = 1;
            }
            left_over -= n;
        }
        rocshmem_uint64_wait_until_all(flags, (size_t)n_pes, NULL, ROCSHMEM_CMP_GE, round);
        CHECK_EQ(rocshmem_uint64_test_all(flags, (size_t)n_pes, NULL, ROCSHMEM_CMP_EQ, round), 1);
        rocshmem_barrier_all();
    }
    free(status);
    free(indices);
    rocshmem_free(flags);
    rocshmem_free(data);
}

static void wrong(void)
{
    int *words = symmetric(10 * sizeof *words), local[4] = {0};
    size_t indices[10], got = 5;
    uint64_t *wide = (uint64_t *)(void *)words;
    EXPECT_ERROR(rocshmem_int_wait_until_all(words, 2, NULL, 6, 0), ROCSHMEMX_E_ARG,
                 "rocshmem_int_wait_until_all", "cmp", "6");
    EXPECT_ERROR(got = rocshmem_int_wait_until_any(words, 0, NULL, -1, 0), ROCSHMEMX_E_ARG,
                 "rocshmem_int_wait_until_any", "cmp", "-1");
    CHECK_EQ(got, SIZE_MAX);
    EXPECT_ERROR(got = rocshmem_int_wait_until_some(local, 2, indices, NULL, ROCSHMEM_CMP_EQ, 0),
                 ROCSHMEMX_E_ARG, "rocshmem_int_wait_until_some", "ivars");
    CHECK_EQ(got, 0);
    EXPECT_ERROR(rocshmem_int_test_all(words, 11, NULL, ROCSHMEM_CMP_EQ, 0), ROCSHMEMX_E_ARG,
                 "rocshmem_int_test_all", "ivars");
    EXPECT_ERROR(rocshmem_int_test_any(words, SIZE_MAX, NULL, ROCSHMEM_CMP_EQ, 0), ROCSHMEMX_E_ARG,
                 "rocshmem_int_test_any", "nelems", "18446744073709551615");
    EXPECT_ERROR(rocshmem_int_test_some(words, 2, NULL, NULL, ROCSHMEM_CMP_EQ, 0), ROCSHMEMX_E_ARG,
                 "rocshmem_int_test_some", "indices");
    EXPECT_ERROR(rocshmem_int_test_any(words, 2, (const int *)(uintptr_t)8, ROCSHMEM_CMP_EQ, 0),
                 ROCSHMEMX_E_ARG, "rocshmem_int_test_any", "status");
    EXPECT_ERROR(rocshmem_uint64_wait_until_all_vector(wide, 2, NULL, ROCSHMEM_CMP_EQ, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_uint64_wait_until_all_vector", "cmp_values");
    EXPECT_ERROR(rocshmem_uint64_test_all_vector((uint64_t *)(uintptr_t)((char *)words + 4), 2, NULL,
                                                 ROCSHMEM_CMP_EQ, wide),
                 ROCSHMEMX_E_ARG, "rocshmem_uint64_test_all_vector", "ivars", "aligned");
    rocshmem_free(words);
}

/* Threads wait for words of their own at the same time, each fairly. */
static void wait_for_mine(void *arg, int i)
{
    uint32_t *words = (uint32_t *)arg + i * 4;
    for (uint32_t k = 1; k <= 100; k++) {
        for (int w = 0; w < 4; w++) rocshmem_uint32_atomic_set(&words[w], k, right());
        rocshmem_uint32_wait_until_any(words, 4, NULL, ROCSHMEM_CMP_GE, k);
        rocshmem_uint32_wait_until_all(words, 4, NULL, ROCSHMEM_CMP_GE, k);
    }
}

static void threads(void)
{
    uint32_t *words = symmetric(16 * sizeof *words);
    run_threads(4, wait_for_mine, words);
    rocshmem_barrier_all();
    for (int i = 0; i < 16; i++) CHECK_EQ(GET(&words[i]), 100);
    rocshmem_free(words);
}

static const struct test_case wait_cases[] = {
    {"arrays_of_every_type_compare_as_their_elements_do", comparisons, 0},
    {"every_form_waits_for_what_a_partner_makes_true", partners, 0},
    {"an_empty_set_ends_at_once", empty, 0},
    {"any_passes_over_no_element_for_ever", fair, 0},
    {"the_data_is_there_when_an_element_holds", gather, 0},
    {"wrong_arguments_are_named", wrong, 0},
    {"four_threads_wait_for_arrays_at_the_same_time", threads, 0},
};
CHAPTER(wait);
