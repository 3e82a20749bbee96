/* SPDX-License-Identifier: MIT
 *
 * One test of all collectives of one type on one team: every size from 0, every root, strides, counts that differ, results
 * in place. The functions come as a table of adapters (typed, generic, mem). Elements are small integers. Needs 1.5.
 */
#ifndef COLLECTIVES_H
#define COLLECTIVES_H

#include "check.h"

typedef int collective(shmem_team_t team, void *dest, const void *source, size_t n);

enum { AND, OR, XOR, MIN, MAX, SUM, PROD, OPERATIONS };

struct collective_type {
    const char *name;
    size_t size;
    void (*set)(void *elements, size_t i, int value);
    int (*at)(const void *elements, size_t i);
    int (*broadcast)(shmem_team_t team, void *dest, const void *source, size_t n, int root);
    int (*alltoalls)(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
                     size_t n);
    collective *collect, *fcollect, *alltoall;
    collective *reduce[OPERATIONS]; /* NULL: not of this type */
};

/* Room for the largest test: n elements of and for each of 8 PEs, with strides. */
enum { MOST_ELEMENTS = 8 * 3 * 37 + 1, COLLECTIVE_NBYTES = MOST_ELEMENTS * 16 };

struct buffers {
    void *dest, *source; /* symmetric, COLLECTIVE_NBYTES each */
};

static inline void clear(const struct collective_type *type, void *elements, size_t n)
{
    memset(elements, 0, (n + 1) * type->size); /* one behind the end: to be left alone */
}

#define ALL_MEET CHECK_EQ(shmem_team_sync(team), 0)

static void check_broadcast(const struct collective_type *type, shmem_team_t team, struct buffers b, size_t n)
{
    int rank = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    for (int root = 0; root < size; root++) {
        clear(type, b.dest, n);
        for (size_t i = 0; i < n; i++) type->set(b.source, i, pattern(rank, 1, i));
        ALL_MEET;
        CHECK_EQ_FOR(type->name, type->broadcast(team, b.dest, b.source, n, root), 0);
        for (size_t i = 0; i < n; i++) CHECK_EQ_FOR(type->name, type->at(b.dest, i), pattern(root, 1, i));
        CHECK_EQ_FOR(type->name, type->at(b.dest, n), 0);
        ALL_MEET;
    }
}

/* n for all; then by each rank: some give more, some nothing. */
static void check_collect(const struct collective_type *type, shmem_team_t team, struct buffers b, size_t n)
{
    int rank = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    size_t all = n * (size_t)size;
    for (size_t i = 0; i < 2 * n; i++) type->set(b.source, i, pattern(rank, 2, i));
    clear(type, b.dest, 2 * all);
    ALL_MEET;
    CHECK_EQ_FOR(type->name, type->fcollect(team, b.dest, b.source, n), 0);
    for (size_t i = 0; i < all; i++)
        CHECK_EQ_FOR(type->name, type->at(b.dest, i), pattern((int)(i / n), 2, i % n));
    CHECK_EQ_FOR(type->name, type->at(b.dest, all), 0);
    clear(type, b.dest, 2 * all);
    ALL_MEET;
    CHECK_EQ_FOR(type->name, type->collect(team, b.dest, b.source, n * (size_t)((rank + 1) % 3)), 0);
    size_t k = 0;
    for (int from = 0; from < size; from++)
        for (size_t i = 0; i < n * (size_t)((from + 1) % 3); i++)
            CHECK_EQ_FOR(type->name, type->at(b.dest, k++), pattern(from, 2, i));
    CHECK_EQ_FOR(type->name, type->at(b.dest, k), 0);
    ALL_MEET;
}

static void check_alltoall(const struct collective_type *type, shmem_team_t team, struct buffers b, size_t n)
{
    int rank = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    size_t all = n * (size_t)size, mine = n * (size_t)rank;
    for (size_t i = 0; i < 3 * all; i++) type->set(b.source, i, pattern(rank, 3, i));
    clear(type, b.dest, 3 * all);
    ALL_MEET;
    CHECK_EQ_FOR(type->name, type->alltoall(team, b.dest, b.source, n), 0);
    for (size_t i = 0; i < all; i++)
        CHECK_EQ_FOR(type->name, type->at(b.dest, i), pattern((int)(i / n), 3, mine + i % n));
    CHECK_EQ_FOR(type->name, type->at(b.dest, all), 0);
    for (size_t dst = 1; dst <= 3; dst++) {
        size_t sst = 4 - dst;
        clear(type, b.dest, 3 * all);
        ALL_MEET;
        CHECK_EQ_FOR(type->name, type->alltoalls(team, b.dest, b.source, (ptrdiff_t)dst, (ptrdiff_t)sst, n),
                     0);
        for (size_t i = 0; i < dst * all; i++) {
            size_t element = i / dst; /* from rank element / n */
            int value = i % dst ? 0 : pattern((int)(element / n), 3, (mine + element % n) * sst);
            CHECK_EQ_FOR(type->name, type->at(b.dest, i), value);
        }
    }
    ALL_MEET;
}

/* What a rank gives, and what comes out. Every type holds the results: sums and products stay below 128. */
static int given(int operation, int rank, size_t i)
{
    switch (operation) {
    case SUM:
        return rank < 8 ? (rank + (int)i) % 15 : 0;
    case PROD:
        return rank % 3 == 0 && rank < 9 ? 2 + (int)i % 3 : 1;
    default:
        return (rank * 29 + (int)i * 3) % 128;
    }
}

static int reduced(int operation, int size, size_t i)
{
    int result = given(operation, 0, i);
    for (int rank = 1; rank < size; rank++) {
        int value = given(operation, rank, i);
        switch (operation) {
        case AND:
            result &= value;
            break;
        case OR:
            result |= value;
            break;
        case XOR:
            result ^= value;
            break;
        case MIN:
            result = value < result ? value : result;
            break;
        case MAX:
            result = value > result ? value : result;
            break;
        case SUM:
            result += value;
            break;
        default:
            result *= value;
        }
    }
    return result;
}

static void check_reduce(const struct collective_type *type, shmem_team_t team, struct buffers b, size_t n)
{
    int rank = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int in_place = 0; type->reduce[operation] && in_place < 2; in_place++) {
            void *dest = in_place ? b.source : b.dest;
            clear(type, b.dest, n);
            clear(type, b.source, n);
            for (size_t i = 0; i < n; i++) type->set(b.source, i, given(operation, rank, i));
            ALL_MEET;
            CHECK_EQ_FOR(type->name, type->reduce[operation](team, dest, b.source, n), 0);
            for (size_t i = 0; i < n; i++)
                CHECK_EQ_FOR(type->name, type->at(dest, i), reduced(operation, size, i));
            CHECK_EQ_FOR(type->name, type->at(dest, n), 0);
            ALL_MEET;
        }
}

/* Collective over the team. */
MAYBE_UNUSED static void check_collectives(const struct collective_type *type, shmem_team_t team,
                                           struct buffers b)
{
    static const size_t sizes[] = {0, 1, 37};
    for (size_t k = 0; k < LENGTH(sizes); k++) {
        size_t n = shmem_team_n_pes(team) > 8 ? sizes[k] % 8 : sizes[k];
        if (type->broadcast) {
            check_broadcast(type, team, b, n);
            check_collect(type, team, b, n);
            check_alltoall(type, team, b, n);
        }
        check_reduce(type, team, b, n);
    }
}

/* ---- adapters ---- */

#define COLLECTIVE_ACCESS(form, NAME, T)                                                                     \
    static void form##set_##NAME(void *p, size_t i, int value)                                               \
    {                                                                                                        \
        ((T *)p)[i] = (T)value;                                                                              \
    }                                                                                                        \
    static int form##at_##NAME(const void *p, size_t i)                                                      \
    {                                                                                                        \
        return (int)((const T *)p)[i];                                                                       \
    }
#define COLLECTIVE_SAME(form, CALL, NAME, T, operation)                                                      \
    static int form##operation##_##NAME(shmem_team_t team, void *dest, const void *source, size_t n)         \
    {                                                                                                        \
        return CALL(NAME, operation, team, (T *)dest, (const T *)source, n);                                 \
    }
#define COLLECTIVE_MOVES(form, CALL, NAME, T)                                                                \
    COLLECTIVE_ACCESS(form, NAME, T)                                                                         \
    COLLECTIVE_SAME(form, CALL, NAME, T, collect)                                                            \
    COLLECTIVE_SAME(form, CALL, NAME, T, fcollect)                                                           \
    COLLECTIVE_SAME(form, CALL, NAME, T, alltoall)                                                           \
    static int form##broadcast_##NAME(shmem_team_t team, void *dest, const void *source, size_t n, int root) \
    {                                                                                                        \
        return CALL(NAME, broadcast, team, (T *)dest, (const T *)source, n, root);                           \
    }                                                                                                        \
    static int form##alltoalls_##NAME(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst,      \
                                      ptrdiff_t sst, size_t n)                                               \
    {                                                                                                        \
        return CALL(NAME, alltoalls, team, (T *)dest, (const T *)source, dst, sst, n);                       \
    }
#define COLLECTIVE_SUMS(form, CALL, NAME, T)                                                                 \
    COLLECTIVE_SAME(form, CALL, NAME, T, sum_reduce)                                                         \
    COLLECTIVE_SAME(form, CALL, NAME, T, prod_reduce)
#define COLLECTIVE_ARITHMETIC(form, CALL, NAME, T)                                                           \
    COLLECTIVE_SUMS(form, CALL, NAME, T)                                                                     \
    COLLECTIVE_SAME(form, CALL, NAME, T, min_reduce)                                                         \
    COLLECTIVE_SAME(form, CALL, NAME, T, max_reduce)
#define COLLECTIVE_LOGIC(form, CALL, NAME, T)                                                                \
    COLLECTIVE_ARITHMETIC(form, CALL, NAME, T)                                                               \
    COLLECTIVE_SAME(form, CALL, NAME, T, and_reduce)                                                         \
    COLLECTIVE_SAME(form, CALL, NAME, T, or_reduce)                                                          \
    COLLECTIVE_SAME(form, CALL, NAME, T, xor_reduce)

/* clang-format off */
#define COLLECTIVE_ACCESS_FIELDS(form, NAME, T)                                                              \
    .name = #form #NAME, .size = sizeof(T), .set = form##set_##NAME, .at = form##at_##NAME
#define COLLECTIVE_MOVE_FIELDS(form, NAME, T)                                                                \
    COLLECTIVE_ACCESS_FIELDS(form, NAME, T), .broadcast = form##broadcast_##NAME,                            \
    .alltoalls = form##alltoalls_##NAME, .collect = form##collect_##NAME,                                    \
    .fcollect = form##fcollect_##NAME, .alltoall = form##alltoall_##NAME
#define COLLECTIVE_SUM_FIELDS(form, NAME)                                                                    \
    .reduce[SUM] = form##sum_reduce_##NAME, .reduce[PROD] = form##prod_reduce_##NAME
#define COLLECTIVE_ARITHMETIC_FIELDS(form, NAME)                                                             \
    COLLECTIVE_SUM_FIELDS(form, NAME),                                                                       \
    .reduce[MIN] = form##min_reduce_##NAME, .reduce[MAX] = form##max_reduce_##NAME
#define COLLECTIVE_LOGIC_FIELDS(form, NAME)                                                                  \
    COLLECTIVE_ARITHMETIC_FIELDS(form, NAME), .reduce[AND] = form##and_reduce_##NAME,                        \
    .reduce[OR] = form##or_reduce_##NAME, .reduce[XOR] = form##xor_reduce_##NAME
/* clang-format on */

#endif
