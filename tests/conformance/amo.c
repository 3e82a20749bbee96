/* SPDX-License-Identifier: MIT
 *
 * Atomic operations: what each does to a value of each type, how it wraps, and that none is lost when all PEs
 * call it on one word at the same time.
 */
#include <math.h>

#include "conformance.h"

static rocshmem_ctx_t ctx; /* of the running case: each operation is tried on it and on the default context */
static char *arena;        /* symmetric, zeroed before each type */

/* The owner of the words is every PE in turn, the caller is PE 0 (the others' turn is in the contended
 * cases). */
#define BEGIN_                                                                                               \
    fill_byte(arena, 64, 0);                                                                                 \
    rocshmem_barrier_all();                                                                                  \
    for (int pe = 0; me == 0 && pe < n_pes; pe++) {
#define END_                                                                                                 \
    }                                                                                                        \
    rocshmem_barrier_all();

#define IS(name, got, want)                                                                                  \
    do {                                                                                                     \
        if ((got) != (want)) FAIL("%s: %s is not %s, PE %d", #name, #got, #want, pe);                        \
    } while (0)

#define DEFINE(name, T, ...)                                                                                 \
    static void exchange_##name(void)                                                                        \
    {                                                                                                        \
        T *word = (T *)(void *)arena;                                                                        \
        BEGIN_                                                                                               \
        T low = (T) - (T)7, high = (T)100;                                                                   \
        IS(name, rocshmem_##name##_atomic_fetch(word, pe), (T)0);                                            \
        rocshmem_##name##_atomic_set(word, low, pe);                                                         \
        IS(name, rocshmem_##name##_atomic_fetch(word, pe), low);                                             \
        IS(name, rocshmem_##name##_atomic_swap(word, high, pe), low);                                        \
        IS(name, rocshmem_##name##_g(word, pe), high);                                                       \
        rocshmem_ctx_##name##_atomic_set(ctx, word, low, pe);                                                \
        IS(name, rocshmem_ctx_##name##_atomic_fetch(ctx, word, pe), low);                                    \
        IS(name, rocshmem_ctx_##name##_atomic_swap(ctx, word, (T)1, pe), low);                               \
        IS(name, rocshmem_##name##_g(word, pe), (T)1);                                                       \
        IS(name, rocshmem_##name##_g(word + 1, pe), (T)0); /* the neighbour stays */                         \
        END_                                                                                                 \
    }
ROCSHMEM_AMO_TYPES(DEFINE, )
#undef DEFINE

#define DEFINE(name, T, ...)                                                                                 \
    static void arithmetic_##name(void)                                                                      \
    {                                                                                                        \
        T *word = (T *)(void *)arena;                                                                        \
        /* the greatest value of T: all ones, shifted right by one when T is signed */                       \
        T top = (T)-1 > (T)0 ? (T)-1 : (T)(((uint64_t)1 << (8 * sizeof(T) - 1)) - 1);                        \
        T bottom = (T)-1 > (T)0 ? (T)0 : (T)((uint64_t)1 << (8 * sizeof(T) - 1));                            \
        BEGIN_                                                                                               \
        rocshmem_##name##_atomic_add(word, (T)5, pe);                                                        \
        rocshmem_##name##_atomic_inc(word, pe);                                                              \
        IS(name, rocshmem_##name##_atomic_fetch_add(word, (T)10, pe), (T)6);                                 \
        IS(name, rocshmem_##name##_atomic_fetch_inc(word, pe), (T)16);                                       \
        IS(name, rocshmem_##name##_atomic_compare_swap(word, (T)16, (T)1, pe), (T)17);                       \
        IS(name, rocshmem_##name##_g(word, pe), (T)17); /* the wrong condition changed nothing */            \
        IS(name, rocshmem_##name##_atomic_compare_swap(word, (T)17, top, pe), (T)17);                        \
        IS(name, rocshmem_##name##_atomic_fetch_inc(word, pe), top);                                         \
        IS(name, rocshmem_##name##_atomic_fetch(word, pe), bottom); /* wrapped */                            \
        IS(name, rocshmem_##name##_atomic_fetch_add(word, (T)-1, pe), bottom);                               \
        IS(name, rocshmem_##name##_atomic_fetch(word, pe), top);                                             \
        rocshmem_##name##_atomic_add(word, (T)2, pe);                                                        \
        IS(name, rocshmem_##name##_atomic_fetch(word, pe), (T)(bottom + 1));                                 \
        rocshmem_##name##_atomic_set(word, (T)0, pe);                                                        \
        rocshmem_ctx_##name##_atomic_add(ctx, word, (T)5, pe);                                               \
        rocshmem_ctx_##name##_atomic_inc(ctx, word, pe);                                                     \
        IS(name, rocshmem_ctx_##name##_atomic_fetch_add(ctx, word, (T)10, pe), (T)6);                        \
        IS(name, rocshmem_ctx_##name##_atomic_fetch_inc(ctx, word, pe), (T)16);                              \
        IS(name, rocshmem_ctx_##name##_atomic_compare_swap(ctx, word, (T)17, (T)3, pe), (T)17);              \
        IS(name, rocshmem_##name##_g(word, pe), (T)3);                                                       \
        IS(name, rocshmem_##name##_g(word + 1, pe), (T)0);                                                   \
        END_                                                                                                 \
    }
ROCSHMEM_INTEGER_TYPES(DEFINE, )
#undef DEFINE

#define DEFINE(name, T, ...)                                                                                 \
    static void bitwise_##name(void)                                                                         \
    {                                                                                                        \
        T *word = (T *)(void *)arena;                                                                        \
        BEGIN_                                                                                               \
        rocshmem_##name##_atomic_or(word, (T)0xf0, pe);                                                      \
        IS(name, rocshmem_##name##_atomic_fetch_or(word, (T)0x0f, pe), (T)0xf0);                             \
        rocshmem_##name##_atomic_and(word, (T)0x7e, pe);                                                     \
        IS(name, rocshmem_##name##_atomic_fetch_and(word, (T)0x3c, pe), (T)0x7e);                            \
        rocshmem_##name##_atomic_xor(word, (T)-1, pe);                                                       \
        IS(name, rocshmem_##name##_atomic_fetch_xor(word, (T)-1, pe), (T) ~(T)0x3c);                         \
        IS(name, rocshmem_##name##_g(word, pe), (T)0x3c);                                                    \
        rocshmem_ctx_##name##_atomic_or(ctx, word, (T)1, pe);                                                \
        IS(name, rocshmem_ctx_##name##_atomic_fetch_or(ctx, word, (T)2, pe), (T)0x3d);                       \
        rocshmem_ctx_##name##_atomic_and(ctx, word, (T)7, pe);                                               \
        IS(name, rocshmem_ctx_##name##_atomic_fetch_and(ctx, word, (T)6, pe), (T)7);                         \
        rocshmem_ctx_##name##_atomic_xor(ctx, word, (T)1, pe);                                               \
        IS(name, rocshmem_ctx_##name##_atomic_fetch_xor(ctx, word, (T)7, pe), (T)7);                         \
        IS(name, rocshmem_##name##_g(word, pe), (T)0);                                                       \
        IS(name, rocshmem_##name##_g(word + 1, pe), (T)0);                                                   \
        END_                                                                                                 \
    }
ROCSHMEM_BITWISE_TYPES(DEFINE, )
#undef DEFINE

/* The _nbi forms put the old value beside their neighbours, which stay; complete after quiet. The contexts: the
 * default one, and ctx. */
#define BOTH_(name, op, want, ...)                                                                           \
    memset(got, 0x55, sizeof got);                                                                           \
    if (k)                                                                                                   \
        rocshmem_ctx_##name##_atomic_##op##_nbi(ctx, &got[1], __VA_ARGS__, pe);                              \
    else                                                                                                     \
        rocshmem_##name##_atomic_##op##_nbi(&got[1], __VA_ARGS__, pe);                                       \
    rocshmem_ctx_quiet(k ? ctx : ROCSHMEM_CTX_DEFAULT);                                                      \
    if (got[1] != (want)) FAIL("%s: " #op "_nbi gave another value than " #want ", PE %d", #name, pe);       \
    if (memcmp(&got[0], &got[2], sizeof got[0]) != 0) FAIL("%s: " #op "_nbi wrote beside fetch", #name)

#define DEFINE(name, T, ...)                                                                                 \
    static void exchange_nbi_##name(void)                                                                    \
    {                                                                                                        \
        T *word = (T *)(void *)arena, got[3];                                                                \
        BEGIN_                                                                                               \
        for (int k = 0; k < 2; k++) {                                                                        \
            BOTH_(name, fetch, (T)0, word);                                                                  \
            BOTH_(name, swap, (T)0, word, (T)-7);                                                            \
            BOTH_(name, fetch, (T)-7, word);                                                                 \
            BOTH_(name, swap, (T)-7, word, (T)0);                                                            \
            IS(name, rocshmem_##name##_g(word + 1, pe), (T)0);                                               \
        }                                                                                                    \
        END_                                                                                                 \
    }
ROCSHMEM_AMO_TYPES(DEFINE, )
#undef DEFINE

#define DEFINE(name, T, ...)                                                                                 \
    static void arithmetic_nbi_##name(void)                                                                  \
    {                                                                                                        \
        T *word = (T *)(void *)arena, got[3];                                                                \
        BEGIN_                                                                                               \
        for (int k = 0; k < 2; k++) {                                                                        \
            BOTH_(name, fetch_add, (T)0, word, (T)-2);                                                       \
            BOTH_(name, fetch_inc, (T)-2, word);                                                             \
            BOTH_(name, fetch_inc, (T)-1, word);                                                             \
            BOTH_(name, compare_swap, (T)0, word, (T)1, (T)9);                                               \
            BOTH_(name, compare_swap, (T)0, word, (T)0, (T)9);                                               \
            BOTH_(name, fetch_add, (T)9, word, (T)-9);                                                       \
            IS(name, rocshmem_##name##_g(word, pe), (T)0);                                                   \
            IS(name, rocshmem_##name##_g(word + 1, pe), (T)0);                                               \
        }                                                                                                    \
        END_                                                                                                 \
    }
ROCSHMEM_INTEGER_TYPES(DEFINE, )
#undef DEFINE

#define DEFINE(name, T, ...)                                                                                 \
    static void bitwise_nbi_##name(void)                                                                     \
    {                                                                                                        \
        T *word = (T *)(void *)arena, got[3];                                                                \
        BEGIN_                                                                                               \
        for (int k = 0; k < 2; k++) {                                                                        \
            BOTH_(name, fetch_or, (T)0, word, (T)0xf0);                                                      \
            BOTH_(name, fetch_and, (T)0xf0, word, (T)0x3c);                                                  \
            BOTH_(name, fetch_xor, (T)0x30, word, (T)-1);                                                    \
            BOTH_(name, fetch_and, (T) ~(T)0x30, word, (T)0);                                                \
            IS(name, rocshmem_##name##_g(word, pe), (T)0);                                                   \
            IS(name, rocshmem_##name##_g(word + 1, pe), (T)0);                                               \
        }                                                                                                    \
        END_                                                                                                 \
    }
ROCSHMEM_BITWISE_TYPES(DEFINE, )
#undef DEFINE

static void begin(void)
{
    arena = symmetric(4096);
    CHECK_EQ(rocshmem_ctx_create(0, &ctx), 0);
}

static void end(void)
{
    rocshmem_ctx_destroy(ctx);
    rocshmem_free(arena);
}

#define CALL(name, T, prefix) prefix##_##name();
static void exchange(void)
{
    begin();
    ROCSHMEM_AMO_TYPES(CALL, exchange)
    end();
}

static void arithmetic(void)
{
    begin();
    ROCSHMEM_INTEGER_TYPES(CALL, arithmetic)
    end();
}

static void bitwise(void)
{
    begin();
    ROCSHMEM_BITWISE_TYPES(CALL, bitwise)
    end();
}

static void nbi(void)
{
    begin();
    ROCSHMEM_AMO_TYPES(CALL, exchange_nbi)
    ROCSHMEM_INTEGER_TYPES(CALL, arithmetic_nbi)
    ROCSHMEM_BITWISE_TYPES(CALL, bitwise_nbi)
    end();
}

/* Every PE draws numbers from one counter: each number comes once. */
static void nbi_tickets(void)
{
    enum { DRAWS = 50 };
    long *counter = symmetric(64), *seen = symmetric((size_t)n_pes * DRAWS * sizeof *seen), ticket[DRAWS];
    for (int i = 0; i < DRAWS; i++) rocshmem_long_atomic_fetch_inc_nbi(&ticket[i], counter, 0);
    rocshmem_quiet();
    for (int i = 0; i < DRAWS; i++) {
        if (ticket[i] < 0 || ticket[i] >= n_pes * DRAWS)
            FAIL("ticket %ld is out of range", ticket[i]);
        else
            rocshmem_long_atomic_inc(&seen[ticket[i]], 0);
    }
    rocshmem_barrier_all();
    for (int i = 0; me == 0 && i < n_pes * DRAWS; i++) CHECK_EQ(GET(&seen[i]), 1);
    rocshmem_barrier_all();
    rocshmem_free(counter);
    rocshmem_free(seen);
}

/* ---- all PEs on one word ---- */

#define ROUNDS times(400)

/* On the words of PE 0 of the type: add, inc, fetch_add, fetch_inc and compare_swap by all, each exactly
 * counted. */
#define DEFINE(name, T, ...)                                                                                 \
    static void sums_##name(void)                                                                            \
    {                                                                                                        \
        T *word = (T *)(void *)arena, seen = 0;                                                              \
        int pe = n_pes - 1;                                                                                  \
        fill_byte(arena, 128, 0);                                                                            \
        rocshmem_barrier_all();                                                                              \
        for (int i = 0; i < ROUNDS; i++) {                                                                   \
            rocshmem_##name##_atomic_add(word, (T)3, pe);                                                    \
            rocshmem_##name##_atomic_inc(word + 1, pe);                                                      \
            T old = rocshmem_##name##_atomic_fetch_add(word + 2, (T)2, pe);                                  \
            if (i > 0 && old <= seen) FAIL("%s: fetch_add went back", #name);                                \
            seen = old;                                                                                      \
            rocshmem_##name##_atomic_fetch_inc(word + 3, pe);                                                \
            for (T want = 0, got;                                                                            \
                 (got = rocshmem_##name##_atomic_compare_swap(word + 4, want, (T)(want + 1), pe)) != want;)  \
                want = got;                                                                                  \
        }                                                                                                    \
        rocshmem_barrier_all();                                                                              \
        if (me == pe) {                                                                                      \
            IS(name, GET(&word[0]), (T)(3 * ROUNDS * n_pes));                                                \
            IS(name, GET(&word[1]), (T)(ROUNDS * n_pes));                                                    \
            IS(name, GET(&word[2]), (T)(2 * ROUNDS * n_pes));                                                \
            IS(name, GET(&word[3]), (T)(ROUNDS * n_pes));                                                    \
            IS(name, GET(&word[4]), (T)(ROUNDS * n_pes));                                                    \
        }                                                                                                    \
        rocshmem_barrier_all();                                                                              \
    }
ROCSHMEM_INTEGER_TYPES(DEFINE, )
#undef DEFINE

/* Each PE owns bit me: sets and clears it with or, and, xor; nobody else's bit ever changes under it. */
#define DEFINE(name, T, ...)                                                                                 \
    static void bits_##name(void)                                                                            \
    {                                                                                                        \
        T *word = (T *)(void *)arena, mine = (T)((T)1 << me);                                                \
        int pe = 0;                                                                                          \
        fill_byte(arena, 128, 0);                                                                            \
        rocshmem_barrier_all();                                                                              \
        for (int i = 0; i < ROUNDS; i++) {                                                                   \
            IS(name, (T)(rocshmem_##name##_atomic_fetch_or(word, mine, pe) & mine), (T)0);                   \
            IS(name, (T)(rocshmem_##name##_atomic_fetch_and(word, (T)~mine, pe) & mine), mine);              \
            IS(name, (T)(rocshmem_##name##_atomic_fetch_xor(word, mine, pe) & mine), (T)0);                  \
            rocshmem_##name##_atomic_and(word, (T)~mine, pe);                                                \
            rocshmem_##name##_atomic_or(word, mine, pe);                                                     \
            IS(name, (T)(rocshmem_##name##_atomic_fetch(word, pe) & mine), mine);                            \
            rocshmem_##name##_atomic_xor(word, mine, pe);                                                    \
        }                                                                                                    \
        rocshmem_##name##_atomic_xor(word, mine, pe);                                                        \
        rocshmem_barrier_all();                                                                              \
        if (me == pe) IS(name, GET(&word[0]), (T)(((uint64_t)1 << n_pes) - 1));                              \
        rocshmem_barrier_all();                                                                              \
    }
ROCSHMEM_BITWISE_TYPES(DEFINE, )
#undef DEFINE

/* n_pes + 1 tokens, one in the word: swaps neither lose nor double one. */
#define DEFINE(name, T, ...)                                                                                 \
    static void tokens_##name(void)                                                                          \
    {                                                                                                        \
        T *word = (T *)(void *)arena, mine = (T)(me + 1), sum = 0;                                           \
        int pe = 0;                                                                                          \
        fill_byte(arena, 256, 0);                                                                            \
        rocshmem_barrier_all();                                                                              \
        for (int i = 0; i < ROUNDS; i++) mine = rocshmem_##name##_atomic_swap(word, mine, pe);               \
        rocshmem_##name##_atomic_set(word + 1 + me, mine, pe);                                               \
        rocshmem_barrier_all();                                                                              \
        for (int i = 0; i <= n_pes; i++) sum = (T)(sum + GET(&word[i]));                                     \
        if (me == pe) IS(name, sum, (T)(n_pes * (n_pes + 1) / 2));                                           \
        rocshmem_barrier_all();                                                                              \
    }
ROCSHMEM_AMO_TYPES(DEFINE, )
#undef DEFINE

static void sums(void)
{
    begin();
    ROCSHMEM_INTEGER_TYPES(CALL, sums)
    end();
}

static void bits(void)
{
    begin();
    if (n_pes <= 31) {
        ROCSHMEM_BITWISE_TYPES(CALL, bits)
    }
    end();
}

static void tokens(void)
{
    begin();
    ROCSHMEM_AMO_TYPES(CALL, tokens)
    end();
}
#undef CALL

static void add_one(void *arg, int i)
{
    (void)i;
    for (int k = 0; k < times(1000); k++) rocshmem_uint32_atomic_inc(arg, right());
}

static void threads(void)
{
    uint32_t *word = symmetric(64);
    run_threads(4, add_one, word);
    rocshmem_barrier_all();
    CHECK_EQ(GET(word), 4 * times(1000));
    rocshmem_free(word);
}

/* ADD on a stream, fetch_add, compare_swap and a signal's ADD on one word, from all PEs at the same time. */
static void mixed(void)
{
    uint64_t *word = symmetric(64), own = 0;
    void *stream = NULL;
    CHECK_EQ(rocshmemx_stream_create(&stream), 0);
    rocshmem_barrier_all();
    for (int i = 0; i < times(300); i++) {
        rocshmem_putmem_signal_on_stream(word + 1 + me % 7, &own, 0, word, 1, ROCSHMEM_SIGNAL_ADD, 0, stream);
        rocshmem_uint64_atomic_fetch_add(word, 1, 0);
        rocshmem_putmem_signal(word + 1 + me % 7, &own, 0, word, 1, ROCSHMEM_SIGNAL_ADD, 0);
        for (uint64_t want = 0, got;
             (got = rocshmem_uint64_atomic_compare_swap(word, want, want + 1, 0)) != want;)
            want = got;
    }
    CHECK_EQ(rocshmemx_stream_synchronize(stream), 0);
    rocshmem_barrier_all();
    if (me == 0) CHECK_EQ(GET(word), 4 * times(300) * n_pes);
    CHECK_EQ(rocshmemx_stream_destroy(stream), 0);
    rocshmem_free(word);
}

static void float_bits(void)
{
    float *f = symmetric(64);
    double *d = symmetric(64);
    rocshmem_float_atomic_set(f, -0.0f, right());
    rocshmem_double_atomic_set(d, NAN, right());
    rocshmem_barrier_all();
    float zero = GET(f);
    CHECK(signbit(zero) && zero == 0.0f);
    CHECK(isnan(rocshmem_double_atomic_swap(d, 0.1, me)));
    CHECK(rocshmem_double_atomic_fetch(d, me) == 0.1);
    rocshmem_barrier_all();
    rocshmem_free(f);
    rocshmem_free(d);
}

/* ---- wrong arguments ---- */

static void wrong(void)
{
    uint64_t *word = symmetric(64), local = 3;
    char number[32], address[32];
    snprintf(number, sizeof number, "%d", n_pes);
    snprintf(address, sizeof address, "%p", (void *)&local);
    EXPECT_ERROR(rocshmem_uint64_atomic_add(word, 1, n_pes), ROCSHMEMX_E_ARG, "rocshmem_uint64_atomic_add",
                 "pe", number);
    EXPECT_ERROR(rocshmem_uint64_atomic_set(word, 1, -1), ROCSHMEMX_E_ARG, "rocshmem_uint64_atomic_set", "pe",
                 "-1");
    uint64_t got = 9;
    EXPECT_ERROR(got = rocshmem_uint64_atomic_fetch_add(&local, 1, 0), ROCSHMEMX_E_ARG,
                 "rocshmem_uint64_atomic_fetch_add", "dest", address);
    CHECK_EQ(got, 0);
    CHECK_EQ(local, 3);
    EXPECT_ERROR(rocshmem_uint64_atomic_fetch(word + 8, 0), ROCSHMEMX_E_ARG, "rocshmem_uint64_atomic_fetch",
                 "dest");
    EXPECT_ERROR(rocshmem_int_atomic_inc(NULL, 0), ROCSHMEMX_E_ARG, "rocshmem_int_atomic_inc", "dest");
    EXPECT_ERROR(rocshmem_ctx_long_atomic_swap(ROCSHMEM_CTX_DEFAULT, (long *)(void *)&local, 1, 0),
                 ROCSHMEMX_E_ARG, "rocshmem_ctx_long_atomic_swap", "dest");
    rocshmem_barrier_all();
    CHECK_BYTES(word, 64, 0);
    rocshmem_free(word);
    EXPECT_ERROR(rocshmem_uint64_atomic_inc(word, 0), ROCSHMEMX_E_ARG, "rocshmem_uint64_atomic_inc", "dest");
    rocshmem_barrier_all();
}

static void wrong_nbi(void)
{
    int *word = symmetric(64), fetch = 7, local = 3;
    EXPECT_ERROR(rocshmem_int_atomic_fetch_inc_nbi(NULL, word, me), ROCSHMEMX_E_ARG,
                 "rocshmem_int_atomic_fetch_inc_nbi", "fetch");
    EXPECT_ERROR(rocshmem_int_atomic_fetch_nbi((int *)(uintptr_t)64, word, me), ROCSHMEMX_E_ARG,
                 "rocshmem_int_atomic_fetch_nbi", "fetch", "0x40");
    EXPECT_ERROR(rocshmem_int_atomic_swap_nbi(&fetch, &local, 1, me), ROCSHMEMX_E_ARG,
                 "rocshmem_int_atomic_swap_nbi", "dest");
    EXPECT_ERROR(rocshmem_int_atomic_compare_swap_nbi(&fetch, word, 0, 1, n_pes), ROCSHMEMX_E_ARG,
                 "rocshmem_int_atomic_compare_swap_nbi", "pe");
    EXPECT_ERROR(rocshmem_ctx_uint_atomic_fetch_or_nbi(ROCSHMEM_CTX_INVALID, (unsigned *)&fetch,
                                                       (unsigned *)word, 1, me),
                 ROCSHMEMX_E_ARG, "rocshmem_ctx_uint_atomic_fetch_or_nbi", "ctx");
    EXPECT_ERROR(rocshmem_int_atomic_fetch_add_nbi(&fetch, (int *)(uintptr_t)((char *)word + 2), 1, me),
                 ROCSHMEMX_E_ARG, "rocshmem_int_atomic_fetch_add_nbi", "dest", "aligned");
    CHECK_EQ(fetch, 7);
    CHECK_EQ(local, 3);
    rocshmem_barrier_all();
    CHECK_BYTES(word, 64, 0);
    rocshmem_free(word);
}

static void misaligned(void)
{
    char *p = symmetric(64);
    EXPECT_ERROR(rocshmem_uint64_atomic_inc((uint64_t *)(uintptr_t)(p + 4), 0), ROCSHMEMX_E_ARG,
                 "rocshmem_uint64_atomic_inc", "dest", "aligned");
    EXPECT_ERROR(rocshmem_int_atomic_fetch((int *)(uintptr_t)(p + 1), 0), ROCSHMEMX_E_ARG,
                 "rocshmem_int_atomic_fetch", "dest", "aligned");
    EXPECT_ERROR(rocshmem_float_atomic_set((float *)(uintptr_t)(p + 2), 1.0f, 0), ROCSHMEMX_E_ARG,
                 "rocshmem_float_atomic_set", "dest", "aligned");
    rocshmem_barrier_all();
    CHECK_BYTES(p, 64, 0);
    rocshmem_free(p);
}

static const struct test_case amo_cases[] = {
    {"fetch_set_and_swap_work_for_every_type_and_pe", exchange, 0},
    {"arithmetic_and_compare_swap_wrap_as_the_type_does", arithmetic, 0},
    {"bitwise_operations_work_for_every_type_and_pe", bitwise, 0},
    {"nbi_forms_fetch_the_old_value_for_every_type_and_pe", nbi, 0},
    {"tickets_drawn_with_nbi_come_once", nbi_tickets, 0},
    {"contended_sums_are_exact_for_every_type", sums, 0},
    {"contended_bits_belong_to_their_pe", bits, 0},
    {"contended_swaps_keep_every_token", tokens, 0},
    {"threads_of_all_pes_lose_no_increment", threads, 0},
    {"host_stream_and_signal_operations_are_atomic_against_each_other", mixed, 0},
    {"floating_point_values_keep_their_bits", float_bits, 0},
    {"wrong_arguments_change_nothing_and_are_named", wrong, 0},
    {"wrong_arguments_of_nbi_forms_are_named", wrong_nbi, 0},
    {"a_misaligned_word_is_refused", misaligned, 0},
};
CHAPTER(amo);
