/* SPDX-License-Identifier: MIT
 *
 * Deprecated, and in wide use: collectives over active sets (start, log2 of the stride, size). Every set that fits the job,
 * each collective on each; then sets that overlap, one behind the other without a barrier of all.
 */
#include <complex.h>

#include "check.h"
#include "types.h"

enum { MOST_PES = 64, ELEMENTS = 10, BLOCK = 32 };

struct set {
    int start, log_stride, size;
};

/* pSync arrays: a collective may find the one that the collective before it used still busy, so two are alternated. */
static long psyncs[2][SHMEM_SYNC_SIZE];
static int turn;
static ALIGNED char source[MOST_PES * BLOCK * 8], dest[MOST_PES * BLOCK * 8];
static ALIGNED char work[(ELEMENTS / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE) * 16];

static int pe_of(const struct set *set, int rank)
{
    return set->start + (rank << set->log_stride);
}

static int rank_in(const struct set *set)
{
    for (int rank = 0; rank < set->size; rank++)
        if (pe_of(set, rank) == me) return rank;
    return -1;
}

/* The next pSync, as left by its last use. */
static long *psync(void)
{
    long *next = psyncs[turn++ % 2];
    for (size_t i = 0; i < SHMEM_SYNC_SIZE; i++) CHECK_EQ_FOR("pSync", next[i], SHMEM_SYNC_VALUE);
    return next;
}

#define SET set->start, set->log_stride, set->size

/* ---- each collective on one set ---- */

static void meet(const struct set *set, long round)
{
    static long entered[MOST_PES];
    for (int rank = 0; rank < set->size; rank++) shmem_long_p(&entered[me], round, pe_of(set, rank));
    shmem_barrier(SET, psync()); /* completes the puts */
    for (int rank = 0; rank < set->size; rank++) CHECK_EQ(entered[pe_of(set, rank)], round);
    shmem_sync(SET, psync());
}

static void fill(int rank, size_t n, size_t size)
{
    memset(dest, 0x55, sizeof dest);
    for (size_t i = 0; i < n; i++) {
        if (size == 4)
            ((int32_t *)source)[i] = 1000 * rank + (int)i;
        else
            ((int64_t *)source)[i] = 1000 * rank + (int)i;
    }
}

static long at(size_t i, size_t size)
{
    return size == 4 ? ((int32_t *)dest)[i] : ((int64_t *)dest)[i];
}

static long untouched(size_t size)
{
    return size == 4 ? 0x55555555 : 0x5555555555555555;
}

/* Root, and the root's dest, which stays as it was. */
static void broadcast(const struct set *set, int rank, int root, size_t size)
{
    fill(rank, ELEMENTS, size);
    shmem_barrier(SET, psync()); /* all are ready to be written to */
    if (size == 4)
        shmem_broadcast32(dest, source, ELEMENTS, root, SET, psync());
    else
        shmem_broadcast64(dest, source, ELEMENTS, root, SET, psync());
    for (size_t i = 0; i < ELEMENTS; i++)
        CHECK_EQ(at(i, size), rank == root ? untouched(size) : 1000 * root + (long)i);
    CHECK_EQ(at(ELEMENTS, size), untouched(size));
}

static void collect(const struct set *set, int rank, size_t size)
{
    fill(rank, ELEMENTS, size);
    shmem_barrier(SET, psync());
    size_t mine = (size_t)(rank * 3 + set->start) % 5; /* some have none */
    if (size == 4)
        shmem_collect32(dest, source, mine, SET, psync());
    else
        shmem_collect64(dest, source, mine, SET, psync());
    size_t k = 0;
    for (int from = 0; from < set->size; from++)
        for (size_t i = 0; i < (size_t)(from * 3 + set->start) % 5; i++)
            CHECK_EQ(at(k++, size), 1000 * from + (long)i);
    CHECK_EQ(at(k, size), untouched(size));
    memset(dest, 0x55, sizeof dest);
    shmem_barrier(SET, psync());
    if (size == 4)
        shmem_fcollect32(dest, source, 3, SET, psync());
    else
        shmem_fcollect64(dest, source, 3, SET, psync());
    for (k = 0; k < 3 * (size_t)set->size; k++) CHECK_EQ(at(k, size), 1000 * (long)(k / 3) + (long)(k % 3));
    CHECK_EQ(at(k, size), untouched(size));
}

static void exchange(const struct set *set, int rank, size_t size)
{
    size_t n = 2, dst = 2, sst = 3;
    fill(rank, n * sst * (size_t)set->size, size);
    shmem_barrier(SET, psync());
    if (size == 4)
        shmem_alltoall32(dest, source, n, SET, psync());
    else
        shmem_alltoall64(dest, source, n, SET, psync());
    for (size_t k = 0; k < n * (size_t)set->size; k++)
        CHECK_EQ(at(k, size), 1000 * (long)(k / n) + rank * (long)n + (long)(k % n));
    CHECK_EQ(at(n * (size_t)set->size, size), untouched(size));
    memset(dest, 0x55, sizeof dest);
    shmem_barrier(SET, psync());
    if (size == 4)
        shmem_alltoalls32(dest, source, (ptrdiff_t)dst, (ptrdiff_t)sst, n, SET, psync());
    else
        shmem_alltoalls64(dest, source, (ptrdiff_t)dst, (ptrdiff_t)sst, n, SET, psync());
    for (size_t k = 0; k < n * dst * (size_t)set->size; k++) {
        long from = (long)(k / dst / n), element = rank * (long)n + (long)(k / dst % n);
        CHECK_EQ(at(k, size), k % dst ? untouched(size) : 1000 * from + element * (long)sst);
    }
}

/* ---- reductions: each type and operation, on sets of any size ---- */

/* operations: 0 and, 1 or, 2 xor, 3 min, 4 max, 5 sum, 6 prod */

/* What rank gives, and what is to come out. Products stay small: all but two ranks give 1. */
static long given(int operation, int rank, size_t i)
{
    return operation == 6 ? (rank < 2 ? rank + 2 : 1) : (rank * 5 + (int)i * 3) % 60 + 1;
}

static long reduced(int operation, int size, size_t i)
{
    long result = given(operation, 0, i);
    for (int rank = 1; rank < size; rank++) {
        long value = given(operation, rank, i);
        switch (operation) {
        case 0:
            result &= value;
            break;
        case 1:
            result |= value;
            break;
        case 2:
            result ^= value;
            break;
        case 3:
            result = value < result ? value : result;
            break;
        case 4:
            result = value > result ? value : result;
            break;
        case 5:
            result += value;
            break;
        default:
            result *= value;
        }
    }
    return result;
}

/* f: shmem_TYPE_OP_to_all. In place on every second set. */
#define REDUCE(T, f, operation)                                                                              \
    do {                                                                                                     \
        T *from = (T *)source, *to = in_place ? (T *)source : (T *)dest;                                     \
        for (size_t i = 0; i < ELEMENTS; i++) from[i] = (T)given(operation, rank, i);                        \
        shmem_barrier(SET, psync());                                                                         \
        f(to, from, ELEMENTS, SET, (T *)work, psync());                                                      \
        for (size_t i = 0; i < ELEMENTS; i++) CHECK_EQ_FOR(#f, to[i], reduced(operation, set->size, i));     \
        shmem_barrier(SET, psync()); /* nobody reads my source any more, nor uses work */                    \
    } while (0);
#define REDUCE_INTEGER(NAME, T)                                                                              \
    REDUCE(T, shmem_##NAME##_and_to_all, 0)                                                                  \
    REDUCE(T, shmem_##NAME##_or_to_all, 1)                                                                   \
    REDUCE(T, shmem_##NAME##_xor_to_all, 2)                                                                  \
    REDUCE_REAL(NAME, T)
#define REDUCE_REAL(NAME, T)                                                                                 \
    REDUCE(T, shmem_##NAME##_min_to_all, 3)                                                                  \
    REDUCE(T, shmem_##NAME##_max_to_all, 4)                                                                  \
    REDUCE_COMPLEX(NAME, T)
#define REDUCE_COMPLEX(NAME, T)                                                                              \
    REDUCE(T, shmem_##NAME##_sum_to_all, 5)                                                                  \
    REDUCE(T, shmem_##NAME##_prod_to_all, 6)

#define REDUCE_FUNCTION(NAME, T, KIND)                                                                       \
    static void reduce_##NAME(const struct set *set, int rank, int in_place)                                 \
    {                                                                                                        \
        KIND(NAME, T)                                                                                        \
    }
#define INTEGER_FUNCTION(NAME, T) REDUCE_FUNCTION(NAME, T, REDUCE_INTEGER)
#define REAL_FUNCTION(NAME, T) REDUCE_FUNCTION(NAME, T, REDUCE_REAL)
#define COMPLEX_FUNCTION(NAME, T) REDUCE_FUNCTION(NAME, T, REDUCE_COMPLEX)
ACTIVE_SET_INTEGER_TYPES(INTEGER_FUNCTION)
ACTIVE_SET_REAL_TYPES(REAL_FUNCTION)
COMPLEX_TYPES(COMPLEX_FUNCTION)
#define REDUCE_ROW(NAME, T) reduce_##NAME,
static void (*const reductions[])(const struct set *, int, int) = {
    ACTIVE_SET_INTEGER_TYPES(REDUCE_ROW) ACTIVE_SET_REAL_TYPES(REDUCE_ROW) COMPLEX_TYPES(REDUCE_ROW)};

/* ---- cases ---- */

static void all_on(const struct set *set, int count)
{
    int rank = rank_in(set);
    if (rank >= 0) {
        meet(set, count + 1);
        for (size_t size = 4; size <= 8; size += 4) {
            broadcast(set, rank, count % set->size, size);
            collect(set, rank, size);
            exchange(set, rank, size);
        }
        reductions[(size_t)count % LENGTH(reductions)](set, rank, count / (int)LENGTH(reductions) % 2);
    }
}

static int next_set(struct set *set)
{
    if (++set->size <= n_pes && pe_of(set, set->size - 1) < n_pes) return 1;
    set->size = 1;
    if (++set->start < n_pes) return 1;
    set->start = 0;
    return 1 << ++set->log_stride <= n_pes;
}

static void every_set(void)
{
    int count = 0;
    struct set set = {0, 0, 1};
    do {
        turn = 0; /* the members of the next set have used different numbers of them */
        all_on(&set, count++);
        shmem_barrier_all();
    } while (next_set(&set));
}

static void every_reduction(void)
{
    struct set all = {0, 0, n_pes}, odd = {n_pes > 1, 1, n_pes > 1 ? n_pes / 2 : 1};
    for (size_t i = 0; i < LENGTH(reductions); i++)
        for (int in_place = 0; in_place < 2; in_place++) {
            turn = 0;
            reductions[i](&all, me, in_place);
            shmem_barrier_all();
            turn = 0;
            if (rank_in(&odd) >= 0) reductions[i](&odd, rank_in(&odd), in_place);
            shmem_barrier_all();
        }
}

/* Members go from set to set at their own pace: there is a pSync for each, and nothing else in between. */
static void overlapping_sets(void)
{
    enum { MOST_SETS = 256 };
    static long own_psync[MOST_SETS][SHMEM_SYNC_SIZE], from[MOST_SETS], to[MOST_SETS], pwork[MOST_SETS][4];
    for (size_t k = 0; k < MOST_SETS; k++)
        for (size_t i = 0; i < SHMEM_SYNC_SIZE; i++) own_psync[k][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    size_t k = 0;
    struct set set = {0, 0, 1};
    do {
        long sum = 0;
        for (int rank = 0; rank < set.size; rank++) sum += pe_of(&set, rank) + (long)k;
        from[k] = me + (long)k;
        if (rank_in(&set) >= 0) {
            shmem_long_sum_to_all(&to[k], &from[k], 1, set.start, set.log_stride, set.size, pwork[k],
                                  own_psync[k]);
            CHECK_EQ(to[k], sum);
        } else {
            CHECK_EQ(to[k], 0);
        }
    } while (++k < MOST_SETS && next_set(&set));
    shmem_barrier_all();
}

/* The same pSync again and again, where the set does not change, is allowed for barrier and sync. */
static void one_psync_for_many_barriers(void)
{
    static long one[SHMEM_BARRIER_SYNC_SIZE];
    for (size_t i = 0; i < LENGTH(one); i++) one[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int i = 0; i < 100; i++) {
        if (i % 2)
            shmem_barrier(0, 0, n_pes, one);
        else
            shmem_sync(0, 0, n_pes, one);
    }
    for (size_t i = 0; i < LENGTH(one); i++) CHECK_EQ(one[i], SHMEM_SYNC_VALUE);
    shmem_barrier_all();
}

/* Zero elements, and a set of one, are sets and numbers like others. */
static void nothing_and_alone(void)
{
    struct set all = {0, 0, n_pes}, alone = {me, 0, 1}, *set = &all;
    turn = 0;
    memset(dest, 0x55, sizeof dest);
    shmem_barrier_all();
    shmem_broadcast64(dest, source, 0, n_pes - 1, SET, psync());
    shmem_collect32(dest, source, 0, SET, psync());
    shmem_barrier_all();
    shmem_fcollect64(dest, source, 0, SET, psync());
    shmem_alltoall64(dest, source, 0, SET, psync());
    shmem_barrier_all();
    shmem_long_sum_to_all((long *)dest, (long *)source, 0, SET, (long *)work, psync());
    CHECK_EQ(at(0, 8), untouched(8));
    shmem_barrier_all();
    turn = 0;
    all_on(&alone, 3 + me); /* all PEs at once, each with its own set */
    shmem_barrier_all();
}

int main(void)
{
    check_begin("active_sets");
    if (n_pes > MOST_PES) return check_end();
    for (size_t i = 0; i < SHMEM_SYNC_SIZE; i++) psyncs[0][i] = psyncs[1][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    check_case("every_set");
    every_set();
    check_case("every_reduction");
    every_reduction();
    check_case("overlapping_sets");
    overlapping_sets();
    check_case("one_psync_for_many_barriers");
    one_psync_for_many_barriers();
    check_case("nothing_and_alone");
    nothing_and_alone();
    return check_end();
}
