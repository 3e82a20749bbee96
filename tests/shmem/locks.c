/* SPDX-License-Identifier: MIT
 *
 * Locks: mutual exclusion, trying, several at once, on static and heap memory, and that everybody gets a turn.
 */
#include "check.h"

enum { TURNS = 30 };
static long lock, counter, inside, locks[5], counters[5], n_turns;

/* Not atomic on purpose: only the lock keeps the read and the write together, and clearing it completes the write. */
static void mutual_exclusion(void)
{
    for (int i = 0; i < TURNS; i++) {
        shmem_set_lock(&lock);
        CHECK_EQ(shmem_long_atomic_fetch_inc(&inside, 0), 0);
        long seen = shmem_long_g(&counter, 0);
        shmem_long_p(&counter, seen + 1, 0);
        shmem_quiet();
        shmem_long_atomic_add(&inside, -1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&counter, 0), (long)TURNS * n_pes);
    shmem_barrier_all();
}

/* Stores before clear_lock are complete, without a quiet of ours. The word is on another PE than the lock's first. */
static void clearing_completes_stores(void)
{
    static long words[2];
    int target = n_pes - 1;
    for (int i = 0; i < TURNS; i++) {
        shmem_set_lock(&lock);
        long a = shmem_long_g(&words[0], target), b = shmem_long_g(&words[1], target);
        CHECK_EQ(a, b);
        shmem_long_p(&words[0], a + 1, target);
        shmem_long_p(&words[1], b + 1, target);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&words[0], target), (long)TURNS * n_pes);
    CHECK_EQ(shmem_long_g(&words[1], target), (long)TURNS * n_pes);
    shmem_barrier_all();
}

/* test_lock takes a free lock, and returns at once from one that is held. */
static void trying(void)
{
    shmem_barrier_all();
    if (me == 0) CHECK_EQ(shmem_test_lock(&lock), 0);
    shmem_barrier_all();
    if (me != 0) CHECK_EQ(shmem_test_lock(&lock), 1);
    shmem_barrier_all();
    if (me == 0) shmem_clear_lock(&lock);
    shmem_barrier_all();
    counter = 0;
    shmem_barrier_all();
    for (int i = 0; i < TURNS / 3; i++) {
        while (shmem_test_lock(&lock)) shmem_fence();
        shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&counter, 0), (long)(TURNS / 3) * n_pes);
    shmem_barrier_all();
}

/* Some set, some try: the same lock. */
static void setting_and_trying(void)
{
    counter = 0;
    shmem_barrier_all();
    for (int i = 0; i < TURNS; i++) {
        if ((me + i) % 2)
            shmem_set_lock(&lock);
        else if (shmem_test_lock(&lock))
            continue;
        shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
        shmem_clear_lock(&lock);
        shmem_long_atomic_inc(&n_turns, 0);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&counter, 0), shmem_long_g(&n_turns, 0));
    CHECK(shmem_long_g(&counter, 0) >= (long)(TURNS / 2) * n_pes);
    shmem_barrier_all();
}

/* Locks do not know of each other: two are held at once, taken in one order by all. */
static void several_locks(void)
{
    long *more = symmetric(5 * sizeof(long));
    for (int i = 0; i < TURNS; i++) {
        int low = (i + me) % 4, high = low + 1;
        shmem_set_lock(&locks[low]);
        shmem_set_lock(&more[high]);
        shmem_long_p(&counters[low], shmem_long_g(&counters[low], 0) + 1, 0);
        shmem_clear_lock(&more[high]);
        shmem_clear_lock(&locks[low]);
    }
    shmem_barrier_all();
    long sum = 0;
    for (int k = 0; k < 5; k++) sum += shmem_long_g(&counters[k], 0);
    CHECK_EQ(sum, (long)TURNS * n_pes);
    shmem_barrier_all();
    shmem_free(more);
}

/* Waiting PEs get the lock in the order of coming: while one waits, another gets it a bounded number of times. */
static void everybody_gets_a_turn(void)
{
    static long turns[64];
    if (n_pes > 64) return;
    shmem_barrier_all();
    for (int i = 0; i < TURNS; i++) {
        shmem_set_lock(&lock);
        long mine = shmem_long_g(&turns[me], 0);
        CHECK_EQ(mine, i);
        shmem_long_p(&turns[me], mine + 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < n_pes; pe++) CHECK_EQ(shmem_long_g(&turns[pe], 0), TURNS);
}

int main(void)
{
    check_begin("locks");
    check_case("mutual_exclusion");
    mutual_exclusion();
    check_case("clearing_completes_stores");
    clearing_completes_stores();
    check_case("trying");
    trying();
    check_case("setting_and_trying");
    setting_and_trying();
    check_case("several_locks");
    several_locks();
    check_case("everybody_gets_a_turn");
    everybody_gets_a_turn();
    return check_end();
}
