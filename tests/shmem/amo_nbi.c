/* SPDX-License-Identifier: MIT
 *
 * Fetching atomics that do not block: the old value is there behind quiet. Typed, generic, each with a context. Needs 1.5.
 */
#include "check.h"
#include "types.h"

static shmem_ctx_t ctx;

/* Each operation alone on the next PE's word, then a sum that all make. quiet: completes CALL's context. */
#define EXTENDED(form, NAME, T, CALL)                                                                        \
    static void form##extended_##NAME(char *block, void (*quiet)(void))                                      \
    {                                                                                                        \
        T *word = (T *)block, got[2] = {0, 0};                                                               \
        shmem_##NAME##_atomic_set(word, (T)(30 + me), right());                                              \
        shmem_quiet();                                                                                       \
        CALL(NAME, fetch, &got[0], word, right());                                                           \
        quiet();                                                                                             \
        CHECK_EQ_FOR(#form #NAME, got[0], 30 + me);                                                          \
        CALL(NAME, swap, &got[1], word, (T)(60 + me), right());                                              \
        quiet();                                                                                             \
        CHECK_EQ_FOR(#form #NAME, got[1], 30 + me);                                                          \
        CHECK_EQ_FOR(#form #NAME, shmem_##NAME##_atomic_fetch(word, right()), 60 + me);                      \
        shmem_barrier_all();                                                                                 \
    }
#define STANDARD(form, NAME, T, CALL)                                                                        \
    static void form##standard_##NAME(char *block, void (*quiet)(void))                                      \
    {                                                                                                        \
        T *word = (T *)block, *sum = (T *)block + 1, got[4] = {0, 0, 0, 0}, many[8];                         \
        shmem_##NAME##_atomic_set(word, (T)10, right());                                                     \
        shmem_##NAME##_atomic_set(sum, (T)0, me);                                                            \
        shmem_barrier_all();                                                                                 \
        CALL(NAME, compare_swap, &got[0], word, (T)11, (T)50, right());                                      \
        quiet();                                                                                             \
        CALL(NAME, compare_swap, &got[1], word, (T)10, (T)50, right());                                      \
        quiet();                                                                                             \
        CALL(NAME, fetch_inc, &got[2], word, right());                                                       \
        quiet();                                                                                             \
        CALL(NAME, fetch_add, &got[3], word, (T)20, right());                                                \
        quiet();                                                                                             \
        CHECK_EQ_FOR(#form #NAME, got[0], 10);                                                               \
        CHECK_EQ_FOR(#form #NAME, got[1], 10);                                                               \
        CHECK_EQ_FOR(#form #NAME, got[2], 50);                                                               \
        CHECK_EQ_FOR(#form #NAME, got[3], 51);                                                               \
        CHECK_EQ_FOR(#form #NAME, shmem_##NAME##_atomic_fetch(word, right()), 71);                           \
        for (int i = 0; i < 8; i++) CALL(NAME, fetch_add, &many[i], sum, (T)(i + 1), 0);                     \
        quiet();                                                                                             \
        for (int i = 0; i < 8; i++) CHECK_FOR(#form #NAME, many[i] < (T)(36 * n_pes));                       \
        shmem_barrier_all();                                                                                 \
        CHECK_EQ_FOR(#form #NAME, shmem_##NAME##_atomic_fetch(sum, 0), 36 * n_pes);                          \
        shmem_barrier_all();                                                                                 \
    }
#define BITWISE(form, NAME, T, CALL)                                                                         \
    static void form##bitwise_##NAME(char *block, void (*quiet)(void))                                       \
    {                                                                                                        \
        T *word = (T *)block, got[3] = {0, 0, 0};                                                            \
        shmem_##NAME##_atomic_set(word, (T)0xff, right());                                                   \
        shmem_quiet();                                                                                       \
        CALL(NAME, fetch_and, &got[0], word, (T)0x3c, right());                                              \
        quiet();                                                                                             \
        CALL(NAME, fetch_or, &got[1], word, (T)0x03, right());                                               \
        quiet();                                                                                             \
        CALL(NAME, fetch_xor, &got[2], word, (T)0x0f, right());                                              \
        quiet();                                                                                             \
        CHECK_EQ_FOR(#form #NAME, got[0], 0xff);                                                             \
        CHECK_EQ_FOR(#form #NAME, got[1], 0x3c);                                                             \
        CHECK_EQ_FOR(#form #NAME, got[2], 0x3f);                                                             \
        CHECK_EQ_FOR(#form #NAME, shmem_##NAME##_atomic_fetch(word, right()), 0x30);                         \
        shmem_barrier_all();                                                                                 \
    }

#define TYPED(NAME, operation, ...) shmem_##NAME##_atomic_##operation##_nbi(__VA_ARGS__)
#define CTX_TYPED(NAME, operation, ...) shmem_ctx_##NAME##_atomic_##operation##_nbi(ctx, __VA_ARGS__)
#define GENERIC(NAME, operation, ...) shmem_atomic_##operation##_nbi(__VA_ARGS__)
#define CTX_GENERIC(NAME, operation, ...) shmem_atomic_##operation##_nbi(ctx, __VA_ARGS__)

#define FORMS(KIND, NAME, T)                                                                                 \
    KIND(typed_, NAME, T, TYPED)                                                                             \
    KIND(ctx_typed_, NAME, T, CTX_TYPED)                                                                     \
    KIND(generic_, NAME, T, GENERIC)                                                                         \
    KIND(ctx_generic_, NAME, T, CTX_GENERIC)
#define EXTENDED_FORMS(NAME, T) FORMS(EXTENDED, NAME, T)
#define STANDARD_FORMS(NAME, T) FORMS(STANDARD, NAME, T)
#define BITWISE_FORMS(NAME, T) FORMS(BITWISE, NAME, T)
REAL_AMO_TYPES(EXTENDED_FORMS)
STANDARD_AMO_TYPES(EXTENDED_FORMS)
STANDARD_AMO_TYPES(STANDARD_FORMS)
BITWISE_AMO_TYPES(BITWISE_FORMS)

static const struct {
    void (*test)(char *block, void (*quiet)(void));
    int on_ctx;
} tests[] = {
#define ROWS(kind, NAME)                                                                                     \
    {typed_##kind##NAME, 0}, {ctx_typed_##kind##NAME, 1}, {generic_##kind##NAME, 0},                         \
        {ctx_generic_##kind##NAME, 1},
#define EXTENDED_ROWS(NAME, T) ROWS(extended_, NAME)
#define STANDARD_ROWS(NAME, T) ROWS(standard_, NAME)
#define BITWISE_ROWS(NAME, T) ROWS(bitwise_, NAME)
    REAL_AMO_TYPES(EXTENDED_ROWS) STANDARD_AMO_TYPES(EXTENDED_ROWS) STANDARD_AMO_TYPES(STANDARD_ROWS)
        BITWISE_AMO_TYPES(BITWISE_ROWS)};

static void quiet_ctx(void)
{
    shmem_ctx_quiet(ctx);
}

int main(void)
{
    check_begin("amo_nbi");
    static long long kept[2];
    char *block = symmetric(16);
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    check_case("all_forms");
    for (size_t i = 0; i < LENGTH(tests); i++)
        tests[i].test(block, tests[i].on_ctx ? quiet_ctx : shmem_quiet);
    check_case("on_static_memory");
    for (size_t i = 0; i < LENGTH(tests); i++)
        tests[i].test((char *)kept, tests[i].on_ctx ? quiet_ctx : shmem_quiet);
    shmem_ctx_destroy(ctx);
    shmem_free(block);
    return check_end();
}
