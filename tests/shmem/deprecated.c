/* SPDX-License-Identifier: MIT
 *
 * Deprecated names of versions 1.0 to 1.4, which libraries must keep. Deprecated collectives: active_sets.c.
 */
#include "check.h"

#include <mpp/shmem.h>

static long word, words[8];
static short small_word;

/* ---- setup, memory, caches ---- */

static void old_names(void)
{
    CHECK_EQ(_my_pe(), me);
    CHECK_EQ(_num_pes(), n_pes);
    long *block = shmalloc(4 * sizeof(long));
    CHECK(block != NULL);
    if (!block) return;
    shmem_long_p(block + 3, me, right());
    shmem_barrier_all();
    CHECK_EQ(block[3], left());
    shmem_barrier_all();
    block = shrealloc(block, 8 * sizeof(long));
    CHECK(block && block[3] == left());
    shfree(block);
    void *aligned = shmemalign(4096, 64);
    CHECK(aligned && (uintptr_t)aligned % 4096 == 0);
    shfree(aligned);
    int old[] = {_SHMEM_CMP_EQ, _SHMEM_CMP_NE, _SHMEM_CMP_GT, _SHMEM_CMP_GE, _SHMEM_CMP_LT, _SHMEM_CMP_LE};
    int new[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};
    for (size_t i = 0; i < LENGTH(old); i++) CHECK_EQ(old[i], new[i]);
    CHECK_EQ(_SHMEM_SYNC_VALUE, SHMEM_SYNC_VALUE);
    CHECK_EQ(_SHMEM_BARRIER_SYNC_SIZE, SHMEM_BARRIER_SYNC_SIZE);
    CHECK_EQ(_SHMEM_BCAST_SYNC_SIZE, SHMEM_BCAST_SYNC_SIZE);
    CHECK_EQ(_SHMEM_COLLECT_SYNC_SIZE, SHMEM_COLLECT_SYNC_SIZE);
    CHECK_EQ(_SHMEM_REDUCE_SYNC_SIZE, SHMEM_REDUCE_SYNC_SIZE);
    CHECK_EQ(_SHMEM_REDUCE_MIN_WRKDATA_SIZE, SHMEM_REDUCE_MIN_WRKDATA_SIZE);
    CHECK_EQ(_SHMEM_MAJOR_VERSION, SHMEM_MAJOR_VERSION);
    CHECK_EQ(_SHMEM_MINOR_VERSION, SHMEM_MINOR_VERSION);
    CHECK_EQ(_SHMEM_MAX_NAME_LEN, SHMEM_MAX_NAME_LEN);
#if HAVE_1_5 || defined _SHMEM_VENDOR_STRING
    CHECK(strcmp(_SHMEM_VENDOR_STRING, SHMEM_VENDOR_STRING) == 0);
#endif
}

static void caches(void)
{
    shmem_set_cache_inv();
    shmem_set_cache_line_inv(&word);
    shmem_clear_cache_inv();
    shmem_clear_cache_line_inv(&word);
    shmem_udcflush();
    shmem_udcflush_line(&word);
}

/* ---- waits: until the word is no longer the value ---- */

static void waits(void)
{
    static int int_word;
    static long long longlong_word;
    shmem_long_p(&word, 5, right());
    shmem_wait(&word, 0);
    shmem_int_p(&int_word, 6, right());
    shmem_int_wait(&int_word, 0);
    shmem_longlong_p(&longlong_word, 7, right());
    shmem_longlong_wait(&longlong_word, 0);
    shmem_short_p(&small_word, 8, right());
    shmem_short_wait(&small_word, 0);
    shmem_long_wait(&word, 0);
    shmem_wait_until(&word, SHMEM_CMP_EQ, 5);
    shmem_short_wait_until(&small_word, SHMEM_CMP_GE, 8);
    CHECK(word == 5 && int_word == 6 && longlong_word == 7 && small_word == 8);
    shmem_barrier_all();
}

/* ---- atomics without "atomic" in the name ---- */

#define SWAPS(NAME, T)                                                                                       \
    static void swaps_##NAME(void)                                                                           \
    {                                                                                                        \
        static T target;                                                                                     \
        shmem_##NAME##_set(&target, (T)(10 + me), right());                                                  \
        CHECK_EQ_FOR(#NAME, shmem_##NAME##_fetch(&target, right()), 10 + me);                                \
        CHECK_EQ_FOR(#NAME, shmem_##NAME##_swap(&target, (T)(20 + me), right()), 10 + me);                   \
        CHECK_EQ_FOR(#NAME, shmem_##NAME##_fetch(&target, right()), 20 + me);                                \
        shmem_barrier_all();                                                                                 \
        CHECK_EQ_FOR(#NAME, target, 20 + left());                                                            \
    }
SWAPS(int, int)
SWAPS(long, long)
SWAPS(longlong, long long)
SWAPS(float, float)
SWAPS(double, double)

#define ARITHMETIC(NAME, T)                                                                                  \
    static void arithmetic_##NAME(void)                                                                      \
    {                                                                                                        \
        static T target, all;                                                                                \
        CHECK_EQ_FOR(#NAME, shmem_##NAME##_cswap(&target, 1, 50, right()), 0);                               \
        CHECK_EQ_FOR(#NAME, shmem_##NAME##_cswap(&target, 0, 50, right()), 0);                               \
        CHECK_EQ_FOR(#NAME, shmem_##NAME##_finc(&target, right()), 50);                                      \
        shmem_##NAME##_inc(&target, right());                                                                \
        CHECK_EQ_FOR(#NAME, shmem_##NAME##_fadd(&target, 8, right()), 52);                                   \
        shmem_##NAME##_add(&target, 40, right());                                                            \
        for (int pe = 0; pe < n_pes; pe++) shmem_##NAME##_inc(&all, pe);                                     \
        shmem_barrier_all();                                                                                 \
        CHECK_EQ_FOR(#NAME, target, 100);                                                                    \
        CHECK_EQ_FOR(#NAME, all, n_pes);                                                                     \
    }
ARITHMETIC(int, int)
ARITHMETIC(long, long)
ARITHMETIC(longlong, long long)

static void generic_atomics(void)
{
    long *mine = &words[2];
    shmem_set(mine, 3L, right());
    CHECK_EQ(shmem_fetch(mine, right()), 3);
    CHECK_EQ(shmem_swap(mine, 4L, right()), 3);
    CHECK_EQ(shmem_cswap(mine, 4L, 5L, right()), 4);
    CHECK_EQ(shmem_finc(mine, right()), 5);
    shmem_inc(mine, right());
    CHECK_EQ(shmem_fadd(mine, 3L, right()), 7);
    shmem_add(mine, 5L, right());
    CHECK_EQ(shmem_fetch(mine, right()), 15);
    shmem_barrier_all();
}

/* start_pes is the old shmem_init; a second call does nothing. The end of main is the old shmem_finalize. */
int main(void)
{
    start_pes(0);
    check_begin_initialised("deprecated");
    check_case("old_names");
    old_names();
    check_case("caches");
    caches();
    check_case("waits");
    waits();
    check_case("swaps");
    swaps_int();
    swaps_long();
    swaps_longlong();
    swaps_float();
    swaps_double();
    check_case("arithmetic");
    arithmetic_long();
    arithmetic_longlong();
    arithmetic_int();
    check_case("generic_atomics");
    generic_atomics();
    check_case_end();
    if (me == 0) printf("deprecated: %d checks on PE 0 of %d\n", check_state.n_checks, n_pes);
    return check_state.n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
