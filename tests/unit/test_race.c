/* SPDX-License-Identifier: MIT
 *
 * What is a race and what is none, with PEs simulated: calls as they would be told, in every order that matters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "observe/race.h"

enum { N = 3, FLAG = 4096 };

static struct rs_race *race;
static struct rs_race_access other;

static int begin(void **state)
{
    (void)state;
    race = aligned_alloc(64, (rs_race_nbytes(N) + 63) & ~(size_t)63);
    assert_non_null(race);
    memset(race, 0, rs_race_nbytes(N));
    return rs_race_init(race, N);
}

static int end(void **state)
{
    (void)state;
    free(race);
    return 0;
}

static bool put(int pe, int owner, uint64_t place, uint64_t nbytes)
{
    struct rs_race_access a = {
        .owner = owner, .pe = pe, .begin = place, .nbytes = nbytes, .write = true, .hand = RS_HAND_PUT};
    return rs_race_access(race, &a, &other);
}

static bool get(int pe, int owner, uint64_t place, uint64_t nbytes)
{
    struct rs_race_access a = {.owner = owner, .pe = pe, .begin = place, .nbytes = nbytes};
    return rs_race_access(race, &a, &other);
}

static void barrier(uint64_t number)
{
    for (int pe = 0; pe < N; pe++) {
        rs_race_order(race, pe, true);
        (void)rs_race_meet(race, pe, 1, number, RS_RACE_NO_PLACE, RS_RACE_NO_PLACE);
    }
    for (int pe = 0; pe < N; pe++) rs_race_met(race, pe, 1, number);
}

static void a_get_without_order_races_with_a_put_and_is_told_once(void **state)
{
    (void)state;
    assert_false(put(0, 1, 0, 64));
    assert_true(get(1, 1, 32, 8));
    assert_true(other.pe == 0 && other.write);
    assert_false(get(1, 1, 32, 8));
}

static void so_does_a_put_with_a_get_before_it(void **state)
{
    (void)state;
    assert_false(get(1, 1, 0, 64));
    assert_true(put(0, 1, 63, 1));
    assert_true(other.pe == 1 && !other.write);
}

static void a_barrier_orders_all_and_the_next_round_is_told_apart(void **state)
{
    (void)state;
    put(0, 1, 0, 64);
    barrier(1);
    assert_false(get(1, 1, 0, 64));
    assert_false(get(2, 1, 0, 64));
    assert_true(put(0, 1, 0, 64)); /* no barrier after the gets */
    /* PE 0 is in its next barrier before PE 1 has left this one */
    for (int pe = 0; pe < N; pe++) assert_int_equal(rs_race_meet(race, pe, 1, 2, 8, 16), -1);
    rs_race_met(race, 0, 1, 2);
    put(0, 2, 0, 64);
    rs_race_order(race, 0, true);
    (void)rs_race_meet(race, 0, 1, 3, 8, RS_RACE_NO_PLACE);
    assert_int_equal(rs_race_meet(race, 1, 1, 3, 24, 16), 0);
    rs_race_met(race, 2, 1, 2);
    assert_true(get(2, 2, 0, 64));
}

static void neighbours_and_readers_do_not_race(void **state)
{
    (void)state;
    assert_false(put(0, 1, 0, 64));
    assert_false(put(2, 1, 64, 64));
    assert_false(get(1, 2, 0, 64));
    assert_false(get(0, 2, 0, 64));
}

static void a_signal_orders_what_was_fenced_before_it(void **state)
{
    (void)state;
    put(0, 1, 0, 64);
    rs_race_order(race, 0, false);
    rs_race_release(race, 0, 1, FLAG);
    rs_race_acquire(race, 1, 1, FLAG, 8);
    assert_false(get(1, 1, 0, 64));
    put(0, 1, 128, 64); /* without a fence */
    rs_race_release(race, 0, 1, FLAG);
    rs_race_acquire(race, 1, 1, FLAG, 8);
    assert_true(get(1, 1, 128, 64));
}

static void order_goes_through_a_third_pe(void **state)
{
    (void)state;
    put(0, 2, 0, 64);
    rs_race_order(race, 0, true);
    rs_race_release(race, 0, 1, FLAG);
    rs_race_acquire(race, 1, 1, FLAG, 8);
    rs_race_release(race, 1, 2, FLAG);
    rs_race_acquire(race, 2, 2, FLAG, 8);
    assert_false(get(2, 2, 0, 64));
}

static void what_cannot_be_seen_is_taken_for_order(void **state)
{
    (void)state;
    put(0, 1, 0, 64);
    rs_race_order(race, 0, true);
    rs_race_release(race, 0, -1, 0);      /* by a stream */
    rs_race_acquire(race, 1, 1, FLAG, 8); /* a word that nobody wrote by a call */
    assert_false(get(1, 1, 0, 64));
}

static void a_wait_inside_a_large_put_has_seen_it(void **state)
{
    (void)state;
    put(0, 1, 0, 64);
    rs_race_release(race, 0, 1, 512);
    rs_race_acquire(race, 1, 1, 56, 8);
    assert_false(get(1, 1, 0, 64));
}

static void rows_of_elements_meet_only_where_they_do(void **state)
{
    (void)state;
    struct rs_race_access even = {.owner = 1, .pe = 0, .nbytes = 120, .width = 8, .step = 16, .write = true};
    struct rs_race_access odd = even, wide = even;
    odd.pe = 2;
    odd.begin = 8;
    wide.pe = 2;
    wide.begin = 4;
    assert_false(rs_race_access(race, &even, &other));
    assert_false(rs_race_access(race, &odd, &other));
    assert_true(rs_race_access(race, &wide, &other));
    assert_true(get(1, 1, 32, 1));
}

static void more_accesses_and_words_than_are_kept_raise_no_alarm(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 40000; i++) {
        assert_false(put(0, 1, i * 64, 64));
        rs_race_order(race, 0, true);
        rs_race_release(race, 0, 2, i * 8);
    }
    for (uint64_t i = 0; i < 40000; i += 37) {
        rs_race_acquire(race, 1, 2, i * 8, 8);
        assert_false(get(1, 1, i * 64, 64));
    }
}

static void a_new_block_has_no_past(void **state)
{
    (void)state;
    put(0, 1, 0, 64);
    barrier(1);
    rs_race_forget(race, 1, 0, 64);
    assert_false(get(1, 1, 0, 64));
    put(0, 1, 64, 64); /* by one who has the block already */
    rs_race_forget(race, 1, 64, 64);
    assert_true(get(1, 1, 64, 64));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_get_without_order_races_with_a_put_and_is_told_once),
        CASE(so_does_a_put_with_a_get_before_it),
        CASE(a_barrier_orders_all_and_the_next_round_is_told_apart),
        CASE(neighbours_and_readers_do_not_race),
        CASE(a_signal_orders_what_was_fenced_before_it),
        CASE(order_goes_through_a_third_pe),
        CASE(what_cannot_be_seen_is_taken_for_order),
        CASE(a_wait_inside_a_large_put_has_seen_it),
        CASE(rows_of_elements_meet_only_where_they_do),
        CASE(more_accesses_and_words_than_are_kept_raise_no_alarm),
        CASE(a_new_block_has_no_past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
