/* SPDX-License-Identifier: MIT
 *
 * What fence, quiet, the barriers and sync promise.
 */
#include "check.h"

enum { ROUNDS = 60, WORDS = 200 };
static long data[WORDS], flags[4], fetched[WORDS];

/* Puts to one PE on either side of a fence arrive in this order, whatever their kind. */
static void fence_orders_puts_to_a_pe(void)
{
    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++) fetched[i] = round;
        shmem_long_put_nbi(data, fetched, WORDS, right());
        shmem_fence();
        shmem_long_p(&flags[0], round, right());
        shmem_fence();
        shmem_long_atomic_set(&flags[1], round, right());
        shmem_long_wait_until(&flags[1], SHMEM_CMP_EQ, round);
        CHECK_EQ(shmem_long_g(&flags[0], me), round);
        long wrong = 0;
        for (int i = 0; i < WORDS; i++) wrong += data[i] != round;
        CHECK_EQ(wrong, 0);
        shmem_barrier_all();
    }
}

/* Behind quiet, puts to all PEs are done: a third PE that is told so sees them. */
static void quiet_completes_puts_to_all(void)
{
    int teller = 0, told = n_pes - 1;
    for (long round = 1; round <= ROUNDS; round++) {
        if (me == teller) {
            for (int pe = 0; pe < n_pes; pe++) shmem_long_p(&data[7], 5000 + round, pe);
            shmem_quiet();
            shmem_long_atomic_set(&flags[2], round, told);
        }
        if (me == told) {
            shmem_long_wait_until(&flags[2], SHMEM_CMP_EQ, round);
            for (int pe = 0; pe < n_pes; pe++) CHECK_EQ(shmem_long_g(&data[7], pe), 5000 + round);
        }
        shmem_barrier_all();
    }
}

/* Non-blocking gets have delivered, and non-blocking puts have read their source, when quiet returns. */
static void quiet_completes_what_does_not_block(void)
{
    long source[WORDS];
    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++) data[i] = round * 10 + me;
        shmem_barrier_all();
        shmem_long_get_nbi(fetched, data, WORDS, right());
        shmem_quiet();
        long wrong = 0;
        for (int i = 0; i < WORDS; i++) wrong += fetched[i] != round * 10 + right();
        CHECK_EQ(wrong, 0);
        shmem_barrier_all();
        for (int i = 0; i < WORDS; i++) source[i] = round * 20 + me;
        shmem_long_put_nbi(data, source, WORDS, right());
        shmem_quiet();
        for (int i = 0; i < WORDS; i++) source[i] = -1;
        shmem_barrier_all();
        for (int i = 0; i < WORDS; i++) wrong += data[i] != round * 20 + left();
        CHECK_EQ(wrong, 0);
        shmem_barrier_all();
    }
}

/* barrier_all completes puts and atomics, also those that do not return anything. */
static void barrier_all_completes(void)
{
    flags[3] = 0;
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        for (int pe = 0; pe < n_pes; pe++) {
            shmem_long_atomic_inc(&flags[3], pe);
            shmem_long_p(&data[me], round, pe);
        }
        shmem_barrier_all();
        CHECK_EQ(flags[3], round * n_pes);
        for (int pe = 0; pe < n_pes; pe++) CHECK_EQ(data[pe], round);
        shmem_barrier_all();
    }
}

/* sync_all is a meeting: nobody leaves round n before all have entered it. Stores of one's own are seen behind it. */
static void sync_all_meets(void)
{
    for (long round = 1; round <= ROUNDS; round++) {
        shmem_long_atomic_set(&flags[0], round * 100, me);
        shmem_sync_all();
        for (int pe = 0; pe < n_pes; pe++) CHECK_EQ(shmem_long_atomic_fetch(&flags[0], pe), round * 100);
        shmem_sync_all();
    }
    shmem_barrier_all();
}

/* The two-writer litmus test: of two flags set and then the other read, with quiet between, one at least is seen. */
static void store_buffers_are_flushed(void)
{
    if (me > 1 || n_pes < 2) {
        for (int round = 0; round < 2 * ROUNDS; round++) shmem_barrier_all();
        return;
    }
    static long seen[2];
    for (long round = 1; round <= ROUNDS; round++) {
        int other = 1 - me;
        shmem_long_atomic_set(&flags[me], round + 9000, 0);
        shmem_quiet();
        shmem_long_atomic_set(&seen[me], shmem_long_atomic_fetch(&flags[other], 0), 0);
        shmem_barrier_all();
        if (me == 0) CHECK(seen[0] == round + 9000 || seen[1] == round + 9000);
        shmem_barrier_all();
    }
}

int main(void)
{
    check_begin("order");
    check_case("fence_orders_puts_to_a_pe");
    fence_orders_puts_to_a_pe();
    check_case("quiet_completes_puts_to_all");
    quiet_completes_puts_to_all();
    check_case("quiet_completes_what_does_not_block");
    quiet_completes_what_does_not_block();
    check_case("barrier_all_completes");
    barrier_all_completes();
    check_case("sync_all_meets");
    sync_all_meets();
    check_case("store_buffers_are_flushed");
    store_buffers_are_flushed();
    return check_end();
}
