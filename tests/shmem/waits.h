/* SPDX-License-Identifier: MIT
 *
 * One test of waiting for, and looking at, words of one type: one word, all of several, any, some, each with one value or a
 * value a word, with and without a mask. The functions come as a table of adapters (typed and generic).
 */
#ifndef WAITS_H
#define WAITS_H

#include "check.h"

struct wait_type {
    const char *name;
    size_t size;
    void (*store)(void *words, size_t i, long long value);        /* here, while nobody else looks */
    void (*send)(void *words, size_t i, long long value, int pe); /* there, atomically */
    void (*wait_until)(void *word, int cmp, long long value);
    int (*test)(void *word, int cmp, long long value);
#if HAVE_1_5
    void (*wait_all)(void *words, size_t n, const int *status, int cmp, long long value);
    size_t (*wait_any)(void *words, size_t n, const int *status, int cmp, long long value);
    size_t (*wait_some)(void *words, size_t n, size_t *indices, const int *status, int cmp, long long value);
    int (*test_all)(void *words, size_t n, const int *status, int cmp, long long value);
    size_t (*test_any)(void *words, size_t n, const int *status, int cmp, long long value);
    size_t (*test_some)(void *words, size_t n, size_t *indices, const int *status, int cmp, long long value);
    /* values: of the type */
    void (*wait_all_vector)(void *words, size_t n, const int *status, int cmp, const void *values);
    size_t (*wait_any_vector)(void *words, size_t n, const int *status, int cmp, const void *values);
    size_t (*wait_some_vector)(void *words, size_t n, size_t *indices, const int *status, int cmp,
                               const void *values);
    int (*test_all_vector)(void *words, size_t n, const int *status, int cmp, const void *values);
    size_t (*test_any_vector)(void *words, size_t n, const int *status, int cmp, const void *values);
    size_t (*test_some_vector)(void *words, size_t n, size_t *indices, const int *status, int cmp,
                               const void *values);
#endif
};

static const int comparisons[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                                  SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};

static inline int holds(long long a, int cmp, long long b)
{
    switch (cmp) {
    case SHMEM_CMP_EQ:
        return a == b;
    case SHMEM_CMP_NE:
        return a != b;
    case SHMEM_CMP_GT:
        return a > b;
    case SHMEM_CMP_GE:
        return a >= b;
    case SHMEM_CMP_LT:
        return a < b;
    default:
        return a <= b;
    }
}

/* Every comparison with a smaller, an equal and a larger value: a wait for what holds already returns. */
static void one_word(const struct wait_type *type, void *words)
{
    for (size_t c = 0; c < LENGTH(comparisons); c++)
        for (long long value = 99; value <= 101; value++) {
            type->store(words, 0, 100);
            CHECK_EQ_FOR(type->name, type->test(words, comparisons[c], value),
                         holds(100, comparisons[c], value));
            if (holds(100, comparisons[c], value)) type->wait_until(words, comparisons[c], value);
        }
    /* Waiting for what a neighbour sends. From 100 to 200 or to 0: every comparison becomes true once. */
    for (size_t c = 0; c < LENGTH(comparisons); c++) {
        int cmp = comparisons[c], falls = cmp == SHMEM_CMP_LT || cmp == SHMEM_CMP_LE;
        long long to = falls ? 0 : 200, value = cmp == SHMEM_CMP_NE ? 100 : cmp == SHMEM_CMP_GT ? 199 : to;
        if (cmp == SHMEM_CMP_LT) value = 1;
        type->store(words, 1, 100);
        shmem_barrier_all();
        type->send(words, 1, to, right());
        type->wait_until((char *)words + type->size, cmp, value);
        CHECK_EQ_FOR(type->name, type->test((char *)words + type->size, SHMEM_CMP_EQ, to), 1);
        shmem_barrier_all();
    }
}

#if HAVE_1_5
enum { WAIT_WORDS = 9 };

/* Looking does not wait. words[i] is i; masked ones are as if they were not there. */
static void look_at_several(const struct wait_type *type, void *words)
{
    static const int none[WAIT_WORDS] = {0}, mask[WAIT_WORDS] = {0, 1, 0, 0, 1, 0, 0, 0, 1};
    static const int whole[WAIT_WORDS] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    size_t at[WAIT_WORDS], n = WAIT_WORDS;
    for (size_t i = 0; i < n; i++) type->store(words, i, (long long)i);
    CHECK_EQ_FOR(type->name, type->test_all(words, n, NULL, SHMEM_CMP_LT, 9), 1);
    CHECK_EQ_FOR(type->name, type->test_all(words, n, none, SHMEM_CMP_LT, 8), 0);
    CHECK_EQ_FOR(type->name, type->test_all(words, n, mask, SHMEM_CMP_LT, 8), 1);
    CHECK_EQ_FOR(type->name, type->test_all(words, n, mask, SHMEM_CMP_NE, 3), 0);
    CHECK_EQ_FOR(type->name, type->test_any(words, n, NULL, SHMEM_CMP_EQ, 4), 4);
    CHECK_FOR(type->name, type->test_any(words, n, mask, SHMEM_CMP_EQ, 4) == SIZE_MAX);
    CHECK_FOR(type->name, type->test_any(words, n, none, SHMEM_CMP_GT, 8) == SIZE_MAX);
    size_t found = type->test_any(words, n, mask, SHMEM_CMP_GE, 6);
    CHECK_FOR(type->name, found == 6 || found == 7);
    CHECK_EQ_FOR(type->name, type->test_some(words, n, at, mask, SHMEM_CMP_LE, 4), 3);
    size_t sum = at[0] + at[1] + at[2];
    CHECK_EQ_FOR(type->name, sum, 0 + 2 + 3);
    CHECK_EQ_FOR(type->name, type->test_some(words, n, at, NULL, SHMEM_CMP_LT, 0), 0);
    CHECK_EQ_FOR(type->name, type->wait_some(words, n, at, NULL, SHMEM_CMP_EQ, 8), 1);
    CHECK_EQ_FOR(type->name, at[0], 8);
    type->wait_all(words, n, NULL, SHMEM_CMP_LE, 8);
    CHECK_EQ_FOR(type->name, type->wait_any(words, n, none, SHMEM_CMP_EQ, 5), 5);
    /* Nothing to wait for: no words, or all of them masked. */
    type->wait_all(words, 0, NULL, SHMEM_CMP_EQ, 77);
    type->wait_all(words, n, whole, SHMEM_CMP_EQ, 77);
    CHECK_FOR(type->name, type->wait_any(words, 0, NULL, SHMEM_CMP_EQ, 77) == SIZE_MAX);
    CHECK_FOR(type->name, type->wait_any(words, n, whole, SHMEM_CMP_EQ, 77) == SIZE_MAX);
    CHECK_EQ_FOR(type->name, type->wait_some(words, 0, at, NULL, SHMEM_CMP_EQ, 77), 0);
    CHECK_EQ_FOR(type->name, type->wait_some(words, n, at, whole, SHMEM_CMP_EQ, 77), 0);
    CHECK_EQ_FOR(type->name, type->test_all(words, 0, NULL, SHMEM_CMP_EQ, 77), 1);
    CHECK_EQ_FOR(type->name, type->test_all(words, n, whole, SHMEM_CMP_EQ, 77), 1);
    CHECK_FOR(type->name, type->test_any(words, n, whole, SHMEM_CMP_EQ, 1) == SIZE_MAX);
    CHECK_EQ_FOR(type->name, type->test_some(words, n, at, whole, SHMEM_CMP_EQ, 1), 0);
}

/* words[i] is i, values[i] is i, but for one. */
static void look_at_a_vector(const struct wait_type *type, void *words)
{
    static ALIGNED char values[WAIT_WORDS * 8];
    static const int mask[WAIT_WORDS] = {0, 0, 0, 0, 0, 1, 0, 0, 0},
                     whole[WAIT_WORDS] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    size_t at[WAIT_WORDS], n = WAIT_WORDS;
    for (size_t i = 0; i < n; i++) type->store(words, i, (long long)i);
    for (size_t i = 0; i < n; i++) type->store(values, i, (long long)i);
    CHECK_EQ_FOR(type->name, type->test_all_vector(words, n, NULL, SHMEM_CMP_EQ, values), 1);
    CHECK_FOR(type->name, type->test_any_vector(words, n, NULL, SHMEM_CMP_NE, values) == SIZE_MAX);
    type->store(values, 5, 50);
    CHECK_EQ_FOR(type->name, type->test_all_vector(words, n, NULL, SHMEM_CMP_EQ, values), 0);
    CHECK_EQ_FOR(type->name, type->test_all_vector(words, n, mask, SHMEM_CMP_EQ, values), 1);
    CHECK_EQ_FOR(type->name, type->test_any_vector(words, n, NULL, SHMEM_CMP_LT, values), 5);
    CHECK_EQ_FOR(type->name, type->wait_any_vector(words, n, NULL, SHMEM_CMP_NE, values), 5);
    CHECK_FOR(type->name, type->test_any_vector(words, n, mask, SHMEM_CMP_LT, values) == SIZE_MAX);
    CHECK_EQ_FOR(type->name, type->test_some_vector(words, n, at, NULL, SHMEM_CMP_NE, values), 1);
    CHECK_EQ_FOR(type->name, at[0], 5);
    CHECK_EQ_FOR(type->name, type->test_some_vector(words, n, at, mask, SHMEM_CMP_NE, values), 0);
    CHECK_EQ_FOR(type->name, type->wait_some_vector(words, n, at, NULL, SHMEM_CMP_GE, values), 8);
    type->wait_all_vector(words, n, NULL, SHMEM_CMP_LE, values);
    type->wait_all_vector(words, n, mask, SHMEM_CMP_EQ, values);
    type->wait_all_vector(words, 0, NULL, SHMEM_CMP_EQ, values);
    type->wait_all_vector(words, n, whole, SHMEM_CMP_GT, values);
    CHECK_FOR(type->name, type->wait_any_vector(words, n, whole, SHMEM_CMP_EQ, values) == SIZE_MAX);
    CHECK_FOR(type->name, type->wait_any_vector(words, 0, NULL, SHMEM_CMP_EQ, values) == SIZE_MAX);
    CHECK_EQ_FOR(type->name, type->wait_some_vector(words, n, at, whole, SHMEM_CMP_EQ, values), 0);
    CHECK_EQ_FOR(type->name, type->wait_some_vector(words, 0, at, NULL, SHMEM_CMP_EQ, values), 0);
}

/* Words that a neighbour sends, last to first: taken by any, then by some, each exactly once; then all at once. */
static void take_from_neighbour(const struct wait_type *type, void *words)
{
    static ALIGNED char values[WAIT_WORDS * 8];
    int taken[WAIT_WORDS] = {0};
    size_t at[WAIT_WORDS], n = WAIT_WORDS;
    for (size_t i = 0; i < n; i++) type->store(words, i, 0);
    for (size_t i = 0; i < n; i++) type->store(values, i, (long long)i + 1);
    shmem_barrier_all();
    for (size_t i = n; i-- > 0;) type->send(words, i, (long long)i + 1, right());
    for (size_t k = 0; k < 3; k++) {
        size_t i = k == 1 ? type->wait_any_vector(words, n, taken, SHMEM_CMP_EQ, values)
                          : type->wait_any(words, n, taken, SHMEM_CMP_NE, 0);
        CHECK_FOR(type->name, i < n && !taken[i]);
        if (i < n) taken[i] = 1;
    }
    for (size_t k = 3, use_vector = 0; k < n; use_vector = !use_vector) {
        size_t got = use_vector ? type->wait_some_vector(words, n, at, taken, SHMEM_CMP_EQ, values)
                                : type->wait_some(words, n, at, taken, SHMEM_CMP_GE, 1);
        CHECK_FOR(type->name, got >= 1 && got <= n - k);
        for (size_t j = 0; j < got && j < n; j++) {
            CHECK_FOR(type->name, at[j] < n && !taken[at[j]]);
            taken[at[j] % n] = 1;
        }
        if (got < 1 || got > n - k) break;
        k += got;
    }
    type->wait_all(words, n, NULL, SHMEM_CMP_GT, 0);
    type->wait_all_vector(words, n, NULL, SHMEM_CMP_EQ, values);
    shmem_barrier_all();
}
#endif

/* Collective. words: 128 bytes of symmetric memory, any kind. */
MAYBE_UNUSED static void check_waits(const struct wait_type *type, void *words)
{
    one_word(type, words);
#if HAVE_1_5
    look_at_several(type, words);
    look_at_a_vector(type, words);
    take_from_neighbour(type, words);
#endif
}

/* ---- adapters ---- */

#define WAIT_ONE(form, CALL, NAME, T)                                                                        \
    static void form##store_##NAME(void *words, size_t i, long long value)                                   \
    {                                                                                                        \
        ((T *)words)[i] = (T)value;                                                                          \
    }                                                                                                        \
    static void form##send_##NAME(void *words, size_t i, long long value, int pe)                            \
    {                                                                                                        \
        WAIT_SEND(NAME, (T *)words + i, (T)value, pe);                                                       \
    }                                                                                                        \
    static void form##wait_until_##NAME(void *word, int cmp, long long value)                                \
    {                                                                                                        \
        CALL(NAME, wait_until, (T *)word, cmp, (T)value);                                                    \
    }                                                                                                        \
    static int form##test_##NAME(void *word, int cmp, long long value)                                       \
    {                                                                                                        \
        return CALL(NAME, test, (T *)word, cmp, (T)value);                                                   \
    }
#define WAIT_SEND(NAME, word, value, pe) shmem_##NAME##_atomic_set(word, value, pe)

/* R: what it returns; for void, `return` of a void expression is none of C11, so there are two macros. */
#define WAIT_SEVERAL(form, CALL, NAME, T, R, GIVE, operation)                                                \
    static R form##operation##_##NAME(void *words, size_t n, const int *status, int cmp, long long value)    \
    {                                                                                                        \
        GIVE CALL(NAME, operation, (T *)words, n, status, cmp, (T)value);                                    \
    }                                                                                                        \
    static R form##operation##_vector_##NAME(void *words, size_t n, const int *status, int cmp,              \
                                             const void *values)                                             \
    {                                                                                                        \
        GIVE CALL(NAME, operation##_vector, (T *)words, n, status, cmp, (const T *)values);                  \
    }
#define WAIT_SOME(form, CALL, NAME, T, operation)                                                            \
    static size_t form##operation##_##NAME(void *words, size_t n, size_t *indices, const int *status,        \
                                           int cmp, long long value)                                         \
    {                                                                                                        \
        return CALL(NAME, operation, (T *)words, n, indices, status, cmp, (T)value);                         \
    }                                                                                                        \
    static size_t form##operation##_vector_##NAME(void *words, size_t n, size_t *indices, const int *status, \
                                                  int cmp, const void *values)                               \
    {                                                                                                        \
        return CALL(NAME, operation##_vector, (T *)words, n, indices, status, cmp, (const T *)values);       \
    }

#if HAVE_1_5
#define WAIT_FUNCTIONS(form, CALL, NAME, T)                                                                  \
    WAIT_ONE(form, CALL, NAME, T)                                                                            \
    WAIT_SEVERAL(form, CALL, NAME, T, void, , wait_until_all)                                                \
    WAIT_SEVERAL(form, CALL, NAME, T, size_t, return, wait_until_any)                                        \
    WAIT_SOME(form, CALL, NAME, T, wait_until_some)                                                          \
    WAIT_SEVERAL(form, CALL, NAME, T, int, return, test_all)                                                 \
    WAIT_SEVERAL(form, CALL, NAME, T, size_t, return, test_any)                                              \
    WAIT_SOME(form, CALL, NAME, T, test_some)
/* clang-format off */
#define WAIT_ROW(form, NAME, T)                                                                              \
    {#form #NAME, sizeof(T), form##store_##NAME, form##send_##NAME, form##wait_until_##NAME,                 \
     form##test_##NAME, form##wait_until_all_##NAME, form##wait_until_any_##NAME,                            \
     form##wait_until_some_##NAME, form##test_all_##NAME, form##test_any_##NAME, form##test_some_##NAME,     \
     form##wait_until_all_vector_##NAME, form##wait_until_any_vector_##NAME,                                 \
     form##wait_until_some_vector_##NAME, form##test_all_vector_##NAME, form##test_any_vector_##NAME,        \
     form##test_some_vector_##NAME},
/* clang-format on */
#else
#define WAIT_FUNCTIONS(form, CALL, NAME, T) WAIT_ONE(form, CALL, NAME, T)
#define WAIT_ROW(form, NAME, T)                                                                              \
    {#form #NAME,      sizeof(T), form##store_##NAME, form##send_##NAME, form##wait_until_##NAME,            \
     form##test_##NAME},
#endif

#endif
