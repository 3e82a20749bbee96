/* SPDX-License-Identifier: MIT
 *
 * One test of all atomic operations of one type: each alone, with values that use the whole width; then all PEs at once on
 * the words of one, where nothing may get lost. The functions come as a table of adapters (typed, context, generic).
 * Operations that a type does not have are NULL. Values travel as long long.
 */
#ifndef AMO_H
#define AMO_H

#include "check.h"

struct amo_type {
    const char *name;
    size_t size;
    int real; /* float and double: no arithmetic, and only values that they can hold */
    long long (*at)(const void *word);
    long long (*fetch)(const void *word, int pe);
    void (*set)(void *word, long long value, int pe);
    long long (*swap)(void *word, long long value, int pe);
    long long (*compare_swap)(void *word, long long condition, long long value, int pe);
    long long (*fetch_inc)(void *word, int pe);
    void (*inc)(void *word, int pe);
    long long (*fetch_add)(void *word, long long value, int pe);
    void (*add)(void *word, long long value, int pe);
    long long (*fetch_and)(void *word, long long value, int pe);
    void (*bit_and)(void *word, long long value, int pe);
    long long (*fetch_or)(void *word, long long value, int pe);
    void (*bit_or)(void *word, long long value, int pe);
    long long (*fetch_xor)(void *word, long long value, int pe);
    void (*bit_xor)(void *word, long long value, int pe);
};

#define WANT(got, want) CHECK_EQ_FOR(type->name, got, want)

/* A value that needs the whole width of the type, and is positive in all of them. */
static inline long long wide(const struct amo_type *type, long long low)
{
    if (type->real) return 4096 + low;
    return (type->size == 8 ? 0x5a00000000000000LL : 0x5a000000LL) + low;
}

/* The word of the next PE, which nobody else touches. */
static void amo_alone(const struct amo_type *type, void *word, void (*quiet)(void))
{
    long long a = wide(type, me), b = wide(type, 500 + me);
    type->set(word, a, right());
    WANT(type->fetch(word, right()), a);
    WANT(type->swap(word, b, right()), a);
    WANT(type->fetch(word, right()), b);
    if (type->compare_swap) {
        WANT(type->compare_swap(word, b + 1, a, right()), b);
        WANT(type->fetch(word, right()), b);
        WANT(type->compare_swap(word, b, a, right()), b);
        WANT(type->fetch_inc(word, right()), a);
        type->inc(word, right());
        WANT(type->fetch_add(word, 40, right()), a + 2);
        type->add(word, 5, right());
        WANT(type->fetch_add(word, -7, right()), a + 47);
        WANT(type->fetch(word, right()), a + 40);
    }
    if (type->fetch_and) {
        type->set(word, wide(type, 0xff), right());
        WANT(type->fetch_and(word, wide(type, 0xf0), right()), wide(type, 0xff));
        type->bit_and(word, wide(type, 0x3c), right());
        WANT(type->fetch_or(word, 0x03, right()), wide(type, 0x30));
        type->bit_or(word, 0x0c, right());
        WANT(type->fetch_xor(word, 0xff, right()), wide(type, 0x3f));
        type->bit_xor(word, 0x40, right());
        WANT(type->fetch(word, right()), wide(type, 0x80));
    }
    type->set(word, b, right());
    quiet();
    shmem_barrier_all();
    WANT(type->at(word), wide(type, 500 + left()));
}

enum { TIMES = 12 };

/* All PEs on words[1...] of PE 0. */
static void amo_contended(const struct amo_type *type, char *words, void (*quiet)(void))
{
    char *counter = words + type->size, *sum = words + 2 * type->size, *casts = words + 3 * type->size;
    char *token = words + 4 * type->size, *bits = words + 5 * type->size, *clear = words + 6 * type->size;
    int target = 0;
    long long sum_of_fetched = 0, total = (long long)n_pes * TIMES, mine = (long long)1 << me % 30;
    if (type->fetch_and && me == 0) type->set(clear, 0x3fffffff, 0);
    quiet();
    shmem_barrier_all();
    for (int i = 0; i < TIMES; i++) {
        long long had = type->swap(token, me + 1, target); /* only values that somebody stored */
        CHECK_FOR(type->name, had >= 0 && had <= n_pes);
        if (!type->compare_swap) continue;
        sum_of_fetched += i % 2 ? type->fetch_inc(counter, target) : type->fetch_add(counter, 1, target);
        for (long long seen = 0, found; (found = type->compare_swap(casts, seen, seen + 2, target)) != seen;)
            seen = found;
        if (!type->fetch_and) continue;
        type->bit_xor(bits, mine, target); /* TIMES is even: all toggles cancel out */
    }
    if (type->compare_swap) type->add(sum, sum_of_fetched, target);
    if (type->fetch_and) {
        type->bit_or(bits, mine, target);
        type->fetch_and(clear, ~mine, target);
    }
    quiet();
    shmem_barrier_all();
    if (!type->compare_swap) return;
    WANT(type->fetch(counter, target), total);
    WANT(type->fetch(sum, target), total * (total - 1) / 2); /* each count was given once */
    WANT(type->fetch(casts, target), 2 * total);
    if (!type->fetch_and) return;
    long long all = n_pes >= 30 ? 0x3fffffff : ((long long)1 << n_pes) - 1;
    if (n_pes <= 30) WANT(type->fetch(bits, target), all);
    WANT(type->fetch(clear, target), 0x3fffffff & ~all);
}

/* Collective. words: 8 * 8 bytes of symmetric memory, any kind. */
MAYBE_UNUSED static void check_amo(const struct amo_type *type, void *words, void (*quiet)(void))
{
    memset(words, 0, 64);
    shmem_barrier_all();
    amo_alone(type, words, quiet);
    amo_contended(type, (char *)words, quiet);
    shmem_barrier_all();
}

/* ---- adapters ---- */

/* CALL(NAME, operation, arguments...) as in rma.h. V: the operation takes a value, and gives the old one or nothing. */
#define AMO_GIVES(form, CALL, NAME, T, operation)                                                            \
    static long long form##operation##_##NAME(void *word, long long value, int pe)                           \
    {                                                                                                        \
        return (long long)CALL(NAME, operation, (T *)word, (T)value, pe);                                    \
    }
#define AMO_TAKES(form, CALL, NAME, T, operation)                                                            \
    static void form##operation##_##NAME(void *word, long long value, int pe)                                \
    {                                                                                                        \
        CALL(NAME, operation, (T *)word, (T)value, pe);                                                      \
    }

#define AMO_EXTENDED(form, CALL, NAME, T)                                                                    \
    static long long form##at_##NAME(const void *word)                                                       \
    {                                                                                                        \
        return (long long)*(const T *)word;                                                                  \
    }                                                                                                        \
    static long long form##fetch_##NAME(const void *word, int pe)                                            \
    {                                                                                                        \
        return (long long)CALL(NAME, fetch, (const T *)word, pe);                                            \
    }                                                                                                        \
    AMO_TAKES(form, CALL, NAME, T, set)                                                                      \
    AMO_GIVES(form, CALL, NAME, T, swap)

#define AMO_STANDARD(form, CALL, NAME, T)                                                                    \
    static long long form##compare_swap_##NAME(void *word, long long condition, long long value, int pe)     \
    {                                                                                                        \
        return (long long)CALL(NAME, compare_swap, (T *)word, (T)condition, (T)value, pe);                   \
    }                                                                                                        \
    static long long form##fetch_inc_##NAME(void *word, int pe)                                              \
    {                                                                                                        \
        return (long long)CALL(NAME, fetch_inc, (T *)word, pe);                                              \
    }                                                                                                        \
    static void form##inc_##NAME(void *word, int pe)                                                         \
    {                                                                                                        \
        CALL(NAME, inc, (T *)word, pe);                                                                      \
    }                                                                                                        \
    AMO_GIVES(form, CALL, NAME, T, fetch_add)                                                                \
    AMO_TAKES(form, CALL, NAME, T, add)

#define AMO_BITWISE(form, CALL, NAME, T)                                                                     \
    AMO_GIVES(form, CALL, NAME, T, fetch_and)                                                                \
    AMO_TAKES(form, CALL, NAME, T, and)                                                                      \
    AMO_GIVES(form, CALL, NAME, T, fetch_or)                                                                 \
    AMO_TAKES(form, CALL, NAME, T, or)                                                                       \
    AMO_GIVES(form, CALL, NAME, T, fetch_xor)                                                                \
    AMO_TAKES(form, CALL, NAME, T, xor)

/* clang-format off */
#define AMO_EXTENDED_FIELDS(form, NAME, T)                                                                   \
    .name = #form #NAME, .size = sizeof(T), .real = (T)0.5 != 0, .at = form##at_##NAME,                      \
    .fetch = form##fetch_##NAME, .set = form##set_##NAME, .swap = form##swap_##NAME
#define AMO_STANDARD_FIELDS(form, NAME, T)                                                                   \
    AMO_EXTENDED_FIELDS(form, NAME, T), .compare_swap = form##compare_swap_##NAME,                           \
    .fetch_inc = form##fetch_inc_##NAME, .inc = form##inc_##NAME,                                            \
    .fetch_add = form##fetch_add_##NAME, .add = form##add_##NAME
#define AMO_BITWISE_FIELDS(form, NAME, T)                                                                    \
    AMO_STANDARD_FIELDS(form, NAME, T), .fetch_and = form##fetch_and_##NAME, .bit_and = form##and_##NAME,    \
    .fetch_or = form##fetch_or_##NAME, .bit_or = form##or_##NAME,                                            \
    .fetch_xor = form##fetch_xor_##NAME, .bit_xor = form##xor_##NAME
/* clang-format on */

#endif
