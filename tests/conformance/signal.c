/* SPDX-License-Identifier: MIT
 *
 * Put with signal, and waiting for words: all six comparisons on every integer type.
 */
#include "conformance.h"

typedef void put_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,
                        int sig_op, int pe);

/* Does a satisfy the comparison with b? The reference for unsigned words. */
static bool holds(uint64_t a, int cmp, uint64_t b)
{
    switch (cmp) {
    case ROCSHMEM_CMP_EQ:
        return a == b;
    case ROCSHMEM_CMP_NE:
        return a != b;
    case ROCSHMEM_CMP_GT:
        return a > b;
    case ROCSHMEM_CMP_GE:
        return a >= b;
    case ROCSHMEM_CMP_LT:
        return a < b;
    default:
        return a <= b;
    }
}

static void set_and_add(put_signal *put, const char *name)
{
    static const size_t sizes[] = {0, 1, 7, 64, 1000, 65537, 1 << 20};
    unsigned char *dest = symmetric(1 << 20), *source = ordinary(1 << 20);
    uint64_t *signal = symmetric(64), sum = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t n = sizes[s];
        fill(source, n, s * 10 + (uint64_t)me);
        put(dest, source, n, signal, s + 1, ROCSHMEM_SIGNAL_SET, right());
        CHECK_EQ(rocshmem_signal_wait_until(signal, ROCSHMEM_CMP_EQ, s + 1), s + 1);
        CHECK_FILLED(dest, n, s * 10 + (uint64_t)left());
        CHECK_EQ(rocshmem_signal_fetch(signal), s + 1);
        rocshmem_quiet();
        rocshmem_barrier_all();
        fill(source, n, s * 10 + 5 + (uint64_t)me);
        put(dest, source, n, signal + 1, s + 3, ROCSHMEM_SIGNAL_ADD, right());
        sum += s + 3;
        CHECK_EQ(rocshmem_signal_wait_until(signal + 1, ROCSHMEM_CMP_GE, sum), sum);
        CHECK_FILLED(dest, n, s * 10 + 5 + (uint64_t)left());
        rocshmem_quiet();
        rocshmem_barrier_all();
    }
    CHECK_EQ(GET(&signal[2]), 0);
    char *p = (char *)signal;
    EXPECT_ERROR(put(dest, source, 8, signal, 1, 2, right()), ROCSHMEMX_E_ARG, name, "sig_op", "2");
    EXPECT_ERROR(put(dest, source, 8, signal, 1, -1, right()), ROCSHMEMX_E_ARG, name, "sig_op", "-1");
    EXPECT_ERROR(put(dest, source, 8, (uint64_t *)(uintptr_t)(p + 4), 1, 0, right()), ROCSHMEMX_E_ARG, name,
                 "sig_addr", "aligned");
    EXPECT_ERROR(put(dest, source, 8, &sum, 1, 0, right()), ROCSHMEMX_E_ARG, name, "sig_addr");
    EXPECT_ERROR(put(dest, source, 8, signal + 8, 1, 0, right()), ROCSHMEMX_E_ARG, name, "sig_addr");
    EXPECT_ERROR(put(source, dest, 8, signal, 1, 0, right()), ROCSHMEMX_E_ARG, name, "dest");
    EXPECT_ERROR(put(dest, source, 8, signal, 1, 0, n_pes), ROCSHMEMX_E_ARG, name, "pe");
    EXPECT_ERROR(put(dest, source, ((size_t)1 << 20) + 1, signal, 1, 0, right()), ROCSHMEMX_E_ARG, name,
                 "dest");
    rocshmem_barrier_all();
    CHECK_EQ(GET(&signal[0]), sizeof sizes / sizeof sizes[0]);
    CHECK_EQ(GET(&signal[1]), sum);
    rocshmem_free(dest);
    rocshmem_free(signal);
    free(source);
}

static void put_signal_blocking(void)
{
    set_and_add(rocshmem_putmem_signal, "rocshmem_putmem_signal");
}

static void put_signal_nbi(void)
{
    set_and_add(rocshmem_putmem_signal_nbi, "rocshmem_putmem_signal_nbi");
}

static void zero_bytes_signal(void)
{
    unsigned char *dest = symmetric(64);
    uint64_t *signal = symmetric(64);
    rocshmem_putmem_signal(dest, dest, 0, signal, UINT64_MAX, ROCSHMEM_SIGNAL_ADD, right());
    CHECK_EQ(rocshmem_signal_wait_until(signal, ROCSHMEM_CMP_NE, 0), -1);
    rocshmem_putmem_signal(dest, dest, 0, signal + 1, UINT64_MAX, ROCSHMEM_SIGNAL_SET, right());
    CHECK_EQ(rocshmem_signal_wait_until(signal + 1, ROCSHMEM_CMP_GT, (uint64_t)INT64_MAX), -1); /* unsigned */
    rocshmem_barrier_all();
    CHECK_BYTES(dest, 64, 0);
    rocshmem_free(dest);
    rocshmem_free(signal);
}

/* ---- put_signal of every type and size, and signals alone, on every context ---- */

static rocshmem_ctx_t contexts[3]; /* the default one, one of the world, one of the world backwards */
static rocshmem_team_t backwards;
static int right_in[3]; /* the right PE's number there */

static void begin_contexts(void)
{
    contexts[0] = ROCSHMEM_CTX_DEFAULT;
    CHECK_EQ(rocshmem_ctx_create(0, &contexts[1]), 0);
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, n_pes - 1, -1, n_pes, NULL, 0, &backwards), 0);
    CHECK_EQ(rocshmem_team_create_ctx(backwards, 0, &contexts[2]), 0);
    right_in[0] = right_in[1] = right();
    right_in[2] = n_pes - 1 - right();
}

static void end_contexts(void)
{
    rocshmem_ctx_destroy(contexts[1]);
    rocshmem_ctx_destroy(contexts[2]);
    rocshmem_team_destroy(backwards);
}

/* A form and its ctx_ form with T, of width bytes: 5 elements and a signal that is set, then 0 and one added. */
#define ONE_FORM(form, T, width)                                                                             \
    for (int k = 0; k < 3; k++) {                                                                            \
        uint64_t last = n_signals++ * 3 + 1;                                                                 \
        fill(source, 5 * (width), last + (uint64_t)me);                                                      \
        fill_byte(dest, 96, 0);                                                                              \
        rocshmem_barrier_all();                                                                              \
        if (k)                                                                                               \
            rocshmem_ctx_##form(contexts[k], (T *)dest, (T *)source, 5, signal, last, ROCSHMEM_SIGNAL_SET,   \
                                right_in[k]);                                                                \
        else                                                                                                 \
            rocshmem_##form((T *)dest, (T *)source, 5, signal, last, ROCSHMEM_SIGNAL_SET, right_in[k]);      \
        rocshmem_signal_wait_until(signal, ROCSHMEM_CMP_EQ, last);                                           \
        CHECK_FILLED(dest, 5 * (width), last + (uint64_t)left());                                            \
        CHECK_BYTES((char *)dest + 5 * (width), 96 - 5 * (width), 0);                                        \
        rocshmem_barrier_all();                                                                              \
        if (k)                                                                                               \
            rocshmem_ctx_##form(contexts[k], (T *)dest, (T *)source, 0, signal, 2, ROCSHMEM_SIGNAL_ADD,      \
                                right_in[k]);                                                                \
        else                                                                                                 \
            rocshmem_##form((T *)dest, (T *)source, 0, signal, 2, ROCSHMEM_SIGNAL_ADD, right_in[k]);         \
        rocshmem_signal_wait_until(signal, ROCSHMEM_CMP_EQ, last + 2);                                       \
        rocshmem_barrier_all();                                                                              \
    }

#define DEFINE(name, T, ...)                                                                                 \
    static void put_signal_##name(void *dest, void *source, uint64_t *signal)                                \
    {                                                                                                        \
        uint64_t n_signals = 1;                                                                              \
        ONE_FORM(name##_put_signal, T, sizeof(T))                                                            \
        ONE_FORM(name##_put_signal_nbi, T, sizeof(T))                                                        \
    }
ROCSHMEM_RMA_TYPES(DEFINE, )
#undef DEFINE

static void typed_put_signal(void)
{
    void *dest = symmetric(96), *source = ordinary(96);
    uint64_t *signal = symmetric(8), n_signals = 1;
    begin_contexts();
#define CALL(name, T, ...) put_signal_##name(dest, source, signal);
    ROCSHMEM_RMA_TYPES(CALL, )
#undef CALL
    ONE_FORM(putmem_signal, void, 1)
    ONE_FORM(putmem_signal_nbi, void, 1)
    ONE_FORM(put8_signal, void, 1)
    ONE_FORM(put8_signal_nbi, void, 1)
    ONE_FORM(put16_signal, void, 2)
    ONE_FORM(put16_signal_nbi, void, 2)
    ONE_FORM(put32_signal, void, 4)
    ONE_FORM(put32_signal_nbi, void, 4)
    ONE_FORM(put64_signal, void, 8)
    ONE_FORM(put64_signal_nbi, void, 8)
    ONE_FORM(put128_signal, void, 16)
    ONE_FORM(put128_signal_nbi, void, 16)
    end_contexts();
    rocshmem_free(dest);
    rocshmem_free(signal);
    free(source);
}

static void signals_alone(void)
{
    uint64_t *word = symmetric(24);
    begin_contexts();
    for (int k = 0; k < 3; k++) {
        SET(&word[0], 5);
        SET(&word[1], (uint64_t)k);
        rocshmem_barrier_all();
        rocshmem_ctx_signal_set(contexts[k], &word[0], UINT64_MAX, right_in[k]);
        rocshmem_ctx_signal_add(contexts[k], &word[1], 10, right_in[k]);
        CHECK_EQ(rocshmem_signal_wait_until(&word[0], ROCSHMEM_CMP_EQ, UINT64_MAX), -1);
        CHECK_EQ(rocshmem_signal_wait_until(&word[1], ROCSHMEM_CMP_EQ, (uint64_t)k + 10), k + 10);
        CHECK_EQ(GET(&word[2]), 0);
        rocshmem_barrier_all();
    }
    rocshmem_signal_set(&word[0], 1000, right());
    rocshmem_barrier_all();
    for (int i = 0; i < times(300); i++) rocshmem_signal_add(&word[0], 3, 0); /* none is lost */
    rocshmem_barrier_all();
    CHECK_EQ(rocshmem_signal_fetch(word), me == 0 ? 1000 + 3 * times(300) * n_pes : 1000);
    uint64_t local = 1;
    EXPECT_ERROR(rocshmem_signal_set(&local, 1, me), ROCSHMEMX_E_ARG, "rocshmem_signal_set", "sig_addr");
    EXPECT_ERROR(rocshmem_signal_add((uint64_t *)(uintptr_t)((char *)word + 4), 1, me), ROCSHMEMX_E_ARG,
                 "rocshmem_signal_add", "sig_addr", "aligned");
    EXPECT_ERROR(rocshmem_signal_set(word, 1, -3), ROCSHMEMX_E_ARG, "rocshmem_signal_set", "pe", "-3");
    EXPECT_ERROR(rocshmem_ctx_signal_add(ROCSHMEM_CTX_INVALID, word, 1, me), ROCSHMEMX_E_ARG,
                 "rocshmem_ctx_signal_add", "ctx");
    EXPECT_ERROR(rocshmem_ctx_putmem_signal(ROCSHMEM_CTX_INVALID, word, word, 8, word, 1, 0, me),
                 ROCSHMEMX_E_ARG, "rocshmem_ctx_putmem_signal", "ctx");
    EXPECT_ERROR(rocshmem_ctx_int_put_signal(contexts[2], (int *)(void *)word, (int *)(void *)word, 1, word,
                                             1, 0, n_pes),
                 ROCSHMEMX_E_ARG, "rocshmem_ctx_int_put_signal", "pe");
    EXPECT_ERROR(rocshmem_put128_signal_nbi(word, word, SIZE_MAX / 4, word, 1, 0, me), ROCSHMEMX_E_ARG,
                 "rocshmem_put128_signal_nbi", "dest");
    rocshmem_barrier_all();
    CHECK_EQ(GET(&word[1]), 12);
    end_contexts();
    rocshmem_free(word);
}

/* Word k of the pattern is checked the moment the signal is seen, over and over. */
static void data_before_signal(void)
{
    enum { N = 2000, BYTES = 4099 };
    unsigned char *dest = symmetric(2 * BYTES), source[BYTES];
    uint64_t *signal = symmetric(64), *answer = symmetric(64);
    for (uint64_t i = 1; i <= (uint64_t)times(N); i++) {
        size_t n = 1 + (size_t)(i * 37 % BYTES);
        unsigned char *slot = dest + (i & 1) * BYTES;
        memset(source, (int)(i % 251), n);
        rocshmem_putmem_signal(slot, source, n, signal, i, ROCSHMEM_SIGNAL_SET, right());
        rocshmem_signal_wait_until(signal, ROCSHMEM_CMP_GE, i);
        CHECK_BYTES(slot, n, (int)(i % 251));
        rocshmem_uint64_atomic_set(answer, i, left()); /* the slot before last may be written again */
        rocshmem_uint64_wait_until(answer, ROCSHMEM_CMP_GE, i);
    }
    rocshmem_barrier_all();
    rocshmem_free(dest);
    rocshmem_free(signal);
    rocshmem_free(answer);
}

static void ping_pong(void)
{
    enum { N = 5000 };
    uint64_t *word = symmetric(64);
    int peer = me ^ 1;
    if (peer < n_pes) {
        for (uint64_t i = 1; i <= (uint64_t)times(N); i++) {
            if (me & 1) {
                CHECK_EQ(rocshmem_signal_wait_until(word, ROCSHMEM_CMP_EQ, i), i);
                rocshmem_putmem_signal(word + 1, word, 0, word, i, ROCSHMEM_SIGNAL_SET, peer);
            } else {
                rocshmem_putmem_signal(word + 1, word, 0, word, i, ROCSHMEM_SIGNAL_SET, peer);
                CHECK_EQ(rocshmem_signal_wait_until(word, ROCSHMEM_CMP_EQ, i), i);
            }
        }
    }
    rocshmem_barrier_all();
    rocshmem_free(word);
}

/* A word that goes round the ring: each PE adds one and passes it on. */
static void ring(void)
{
    const int rounds = times(300);
    uint64_t *word = symmetric(64);
    for (uint64_t i = 0; i < (uint64_t)rounds; i++) {
        uint64_t turn = i * (uint64_t)n_pes + (uint64_t)me + 1;
        if (i > 0 || me > 0) {
            rocshmem_uint64_wait_until(word, ROCSHMEM_CMP_GE, turn - 1);
            CHECK_EQ(GET(word), turn - 1);
        }
        rocshmem_uint64_p(word, turn, right());
    }
    rocshmem_barrier_all();
    CHECK_EQ(GET(word), me == 0 ? rounds * n_pes : (rounds - 1) * n_pes + me);
    rocshmem_barrier_all();
    rocshmem_free(word);
}

static const uint64_t edges[] = {0, 1, 2, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX};
enum { N_EDGES = sizeof edges / sizeof edges[0] };

/* The waits that hold already return at once, with the word that did. */
static void comparisons(void)
{
    uint64_t *word = symmetric(64);
    for (int a = 0; a < N_EDGES; a++)
        for (int b = 0; b < N_EDGES; b++)
            for (int cmp = 0; cmp < 6; cmp++) {
                SET(word, edges[a]);
                CHECK_EQ(rocshmem_uint64_test(word, cmp, edges[b]), holds(edges[a], cmp, edges[b]));
                if (holds(edges[a], cmp, edges[b]))
                    CHECK_EQ(rocshmem_signal_wait_until(word, cmp, edges[b]), edges[a]);
            }
    rocshmem_barrier_all();
    rocshmem_free(word);
}

/* Each comparison, when it does not hold yet: the right PE changes the word from one that fails to one that
 * holds. */
static void comparisons_that_wait(void)
{
    static const struct {
        uint64_t before, after, value;
        int cmp;
    } rows[] = {
        {0, 5, 5, ROCSHMEM_CMP_EQ}, {5, 6, 5, ROCSHMEM_CMP_NE},          {5, UINT64_MAX, 5, ROCSHMEM_CMP_GT},
        {4, 5, 5, ROCSHMEM_CMP_GE}, {UINT64_MAX, 1, 5, ROCSHMEM_CMP_LT}, {6, 5, 5, ROCSHMEM_CMP_LE},
    };
    uint64_t *word = symmetric(64);
    for (int k = 0; k < 12; k++) {
        uint64_t before = rows[k % 6].before, after = rows[k % 6].after;
        SET(word, before);
        rocshmem_barrier_all();
        rocshmem_uint64_atomic_set(word, after, left());
        if (k < 6)
            CHECK_EQ(rocshmem_signal_wait_until(word, rows[k % 6].cmp, rows[k % 6].value), after);
        else
            rocshmem_uint64_wait_until(word, rows[k % 6].cmp, rows[k % 6].value);
        CHECK_EQ(GET(word), after);
        rocshmem_barrier_all();
    }
    rocshmem_free(word);
}

/* Every type compares as itself: (T)-1 is below 1 when T is signed, above when not. */
#define DEFINE(name, T, ...)                                                                                 \
    static void compare_##name(void)                                                                         \
    {                                                                                                        \
        T *word = symmetric(64);                                                                             \
        const T values[] = {0, 1, (T)-1, (T)-100, 100, (T)((uint64_t)1 << (8 * sizeof(T) - 1))};             \
        for (int a = 0; a < 6; a++)                                                                          \
            for (int b = 0; b < 6; b++) {                                                                    \
                T x = values[a], y = values[b];                                                              \
                const bool want[] = {x == y, x != y, x > y, x >= y, x < y, x <= y};                          \
                SET(word, x);                                                                                \
                for (int cmp = 0; cmp < 6; cmp++) {                                                          \
                    if (rocshmem_##name##_test(word, cmp, y) != want[cmp])                                   \
                        FAIL("%s: test %d of values %d and %d is not %d", #name, cmp, a, b, want[cmp]);      \
                    if (want[cmp]) rocshmem_##name##_wait_until(word, cmp, y);                               \
                }                                                                                            \
            }                                                                                                \
        SET(word, (T)-1);                                                                                    \
        rocshmem_barrier_all();                                                                              \
        rocshmem_##name##_p(word, (T)7, left());                                                             \
        rocshmem_##name##_wait_until(word, ROCSHMEM_CMP_EQ, (T)7);                                           \
        if (GET(word) != (T)7) FAIL("%s: wait_until returned too early", #name);                             \
        rocshmem_barrier_all();                                                                              \
        rocshmem_free(word);                                                                                 \
    }
ROCSHMEM_INTEGER_TYPES(DEFINE, )
#undef DEFINE

static void typed_comparisons(void)
{
#define CALL(name, T, ...) compare_##name();
    ROCSHMEM_INTEGER_TYPES(CALL, )
#undef CALL
}

/* The upper half of a 64-bit word must not be looked at by a wait for a 32-bit one. */
static void neighbours(void)
{
    int32_t *word = symmetric(64);
    SET(&word[1], 77);
    SET(&word[0], 5);
    rocshmem_int32_wait_until(word, ROCSHMEM_CMP_EQ, 5);
    rocshmem_int32_wait_until(word + 1, ROCSHMEM_CMP_EQ, 77);
    CHECK_EQ(rocshmem_int32_test(word, ROCSHMEM_CMP_EQ, 77), 0);
    rocshmem_barrier_all();
    rocshmem_free(word);
}

static void wrong(void)
{
    uint64_t *word = symmetric(64), local = 9;
    char *p = (char *)word;
    uint64_t got = 7;
    EXPECT_ERROR(rocshmem_signal_wait_until(word, 6, 1), ROCSHMEMX_E_ARG, "rocshmem_signal_wait_until", "cmp",
                 "6");
    EXPECT_ERROR(rocshmem_signal_wait_until(word, -1, 1), ROCSHMEMX_E_ARG, "rocshmem_signal_wait_until",
                 "cmp", "-1");
    EXPECT_ERROR(rocshmem_int_wait_until((int *)(void *)word, 99, 1), ROCSHMEMX_E_ARG,
                 "rocshmem_int_wait_until", "cmp", "99");
    EXPECT_ERROR(rocshmem_long_test((long *)(void *)word, 7, 1), ROCSHMEMX_E_ARG, "rocshmem_long_test", "cmp",
                 "7");
    EXPECT_ERROR(rocshmem_signal_wait_until(&local, ROCSHMEM_CMP_EQ, 9), ROCSHMEMX_E_ARG,
                 "rocshmem_signal_wait_until", "sig_addr");
    EXPECT_ERROR(rocshmem_uint64_wait_until(&local, ROCSHMEM_CMP_EQ, 9), ROCSHMEMX_E_ARG,
                 "rocshmem_uint64_wait_until", "ivar");
    EXPECT_ERROR(rocshmem_uint64_wait_until((uint64_t *)(uintptr_t)(p + 4), ROCSHMEM_CMP_EQ, 0),
                 ROCSHMEMX_E_ARG, "rocshmem_uint64_wait_until", "ivar", "aligned");
    EXPECT_ERROR(got = rocshmem_signal_fetch(&local), ROCSHMEMX_E_ARG, "rocshmem_signal_fetch", "sig_addr");
    CHECK_EQ(got, 0);
    EXPECT_ERROR(rocshmem_signal_fetch(word + 8), ROCSHMEMX_E_ARG, "rocshmem_signal_fetch", "sig_addr");
    rocshmem_free(word);
}

struct pair {
    uint64_t *words;
    uint64_t rounds;
};

/* Thread i of this PE plays with thread i of the right and the left PE, on a word of its own. */
static void play(void *arg, int i)
{
    struct pair *pair = arg;
    for (uint64_t k = 1; k <= pair->rounds; k++) {
        rocshmem_uint64_atomic_inc(&pair->words[i], right());
        rocshmem_uint64_wait_until(&pair->words[i], ROCSHMEM_CMP_GE, k);
    }
}

static void threads_wait(void)
{
    struct pair pair = {symmetric(64), (uint64_t)times(300)};
    run_threads(4, play, &pair);
    rocshmem_barrier_all();
    for (int i = 0; i < 4; i++) CHECK_EQ(GET(&pair.words[i]), pair.rounds);
    rocshmem_free(pair.words);
}

static const struct test_case signal_cases[] = {
    {"put_signal_sets_and_adds_after_the_data", put_signal_blocking, 0},
    {"put_signal_nbi_sets_and_adds_after_the_data", put_signal_nbi, 0},
    {"put_signal_of_zero_bytes_still_signals", zero_bytes_signal, 0},
    {"put_signal_of_every_type_and_size_on_every_context", typed_put_signal, 0},
    {"signals_alone_set_and_add_on_every_context", signals_alone, 0},
    {"the_data_is_there_whenever_the_signal_is", data_before_signal, 0},
    {"ping_pong_loses_no_signal", ping_pong, NEEDS_2_PES},
    {"a_word_goes_round_the_ring_in_order", ring, 0},
    {"signal_words_compare_as_unsigned_64_bit_integers", comparisons, 0},
    {"each_comparison_ends_its_wait_when_a_peer_makes_it_true", comparisons_that_wait, 0},
    {"every_type_compares_as_itself", typed_comparisons, 0},
    {"a_wait_looks_at_no_neighbour", neighbours, 0},
    {"wrong_arguments_are_named", wrong, 0},
    {"four_threads_wait_at_the_same_time", threads_wait, 0},
};
CHAPTER(signal);
