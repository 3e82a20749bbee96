/* SPDX-License-Identifier: MIT
 *
 * Waiting: polls first, ticks while it lasts, and ends when a tick says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/os.h"
#include "base/status.h"
#include "base/wait.h"
#include "pes.h"

#define MS UINT64_C(1000000)

struct ticks {
    int n, n_first;
    uint64_t last_ns, end_after_ns;
    bool went_back;
};

static int on_tick(void *arg, uint64_t waited_ns, int first)
{
    struct ticks *ticks = arg;
    ticks->n++;
    ticks->n_first += first;
    if (first && ticks->n != 1) ticks->went_back = true;
    if (waited_ns < ticks->last_ns) ticks->went_back = true;
    ticks->last_ns = waited_ns;
    return waited_ns > ticks->end_after_ns ? rs_fail(RS_E_TIMEOUT, "long enough") : 0;
}

static void the_first_polls_cost_no_system_call_and_no_tick(void **state)
{
    (void)state;
    struct ticks ticks = {.end_after_ns = UINT64_MAX};
    struct rs_watch watch = {.spin_count = 1000, .tick = on_tick, .arg = &ticks};
    struct rs_wait wait;
    rs_wait_begin(&wait, &watch);
    for (int i = 0; i < 1000; i++) assert_int_equal(rs_wait_pause(&wait), 0);
    assert_int_equal(wait.polls, 1000);
    assert_int_equal(wait.yields, 0);
    assert_true(wait.start_ns == 0);
    assert_int_equal(ticks.n, 0);
}

static void a_wait_ticks_once_a_millisecond_and_the_first_says_so(void **state)
{
    (void)state;
    struct ticks ticks = {.end_after_ns = 60 * MS};
    struct rs_watch watch = {.tick = on_tick, .arg = &ticks};
    struct rs_wait wait;
    rs_wait_begin(&wait, &watch);
    uint64_t begin = rs_os_now_ns();
    int rc;
    while ((rc = rs_wait_pause(&wait)) == 0) assert_true(rs_os_now_ns() - begin < 20000 * MS);
    assert_int_equal(rc, RS_E_TIMEOUT);
    assert_string_equal(rs_error_slot()->text, "long enough");
    assert_false(ticks.went_back);
    assert_int_equal(ticks.n_first, 1);
    assert_true(ticks.n >= 2);
    /* At most one a millisecond. How many fewer is the machine's affair. */
    assert_true((uint64_t)ticks.n <= (rs_os_now_ns() - begin) / MS + 1);
}

static void the_status_of_the_first_tick_ends_the_wait_at_once(void **state)
{
    (void)state;
    struct ticks ticks = {0};
    struct rs_watch watch = {.tick = on_tick, .arg = &ticks};
    struct rs_wait wait;
    rs_wait_begin(&wait, &watch);
    int pauses = 1;
    while (rs_wait_pause(&wait) == 0) pauses++;
    assert_true(ticks.n <= 2); /* the first sees 0 ns */
    assert_true(pauses < 100000);
}

static void no_pause_sleeps_much_longer_than_a_millisecond(void **state)
{
    (void)state;
    struct ticks ticks = {.end_after_ns = 150 * MS};
    struct rs_watch watch = {.tick = on_tick, .arg = &ticks};
    struct rs_wait wait;
    rs_wait_begin(&wait, &watch);
    uint64_t most = 0;
    while (rs_wait_pause(&wait) == 0)
        if (wait.start_ns && wait.sleep_ns > most) most = wait.sleep_ns;
    assert_true(most == MS); /* it grew to the limit, and stayed there */
    assert_true(ticks.n > 5);
}

static void without_a_watch_a_wait_only_sleeps(void **state)
{
    (void)state;
    struct rs_watch silent = {.spin_count = 3};
    const struct rs_watch *watches[] = {NULL, &silent};
    for (int k = 0; k < 2; k++) {
        struct rs_wait wait;
        rs_wait_begin(&wait, watches[k]);
        assert_int_equal(wait.spin_count, k ? 3 : 0);
        uint64_t begin = rs_os_now_ns();
        while (!wait.start_ns || wait.sleep_ns < MS) {
            assert_int_equal(rs_wait_pause(&wait), 0);
            assert_true(rs_os_now_ns() - begin < 20000 * MS);
        }
    }
}

static void begin_starts_from_nothing_again(void **state)
{
    (void)state;
    struct ticks ticks = {.end_after_ns = 5 * MS};
    struct rs_watch watch = {.tick = on_tick, .arg = &ticks};
    struct rs_wait wait;
    for (int k = 0; k < 2; k++) {
        memset(&ticks, 0, sizeof ticks);
        ticks.end_after_ns = 5 * MS;
        rs_wait_begin(&wait, &watch);
        uint64_t begin = rs_os_now_ns();
        while (rs_wait_pause(&wait) == 0) continue;
        assert_true(rs_os_now_ns() - begin > 5 * MS);
        assert_int_equal(ticks.n_first, 1);
    }
}

struct word {
    _Atomic uint64_t value;
    uint64_t data;
};

static void poller(int number, void *arg)
{
    struct word *word = arg;
    if (number == 0) {
        for (uint64_t i = 1; i <= 20; i++) {
            rs_wait_sleep_ns(i % 4 ? 10000 : 4 * MS); /* into each phase of the wait */
            word->data = i * i;
            atomic_store_explicit(&word->value, i, memory_order_release);
            while (atomic_load_explicit(&word->value, memory_order_acquire) == i) rs_wait_sleep_ns(1000);
        }
        return;
    }
    for (uint64_t i = 1; i <= 20; i++) {
        struct rs_wait wait;
        rs_wait_begin(&wait, NULL);
        while (atomic_load_explicit(&word->value, memory_order_acquire) != i)
            CHECK(rs_wait_pause(&wait) == 0);
        CHECK(word->data == i * i);
        atomic_store_explicit(&word->value, 0, memory_order_release);
    }
}

static void a_word_that_comes_at_any_moment_of_the_wait_is_seen(void **state)
{
    (void)state;
    struct word word = {0};
    pes_threads(2, poller, &word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_polls_cost_no_system_call_and_no_tick),
        cmocka_unit_test(a_wait_ticks_once_a_millisecond_and_the_first_says_so),
        cmocka_unit_test(the_status_of_the_first_tick_ends_the_wait_at_once),
        cmocka_unit_test(no_pause_sleeps_much_longer_than_a_millisecond),
        cmocka_unit_test(without_a_watch_a_wait_only_sleeps),
        cmocka_unit_test(begin_starts_from_nothing_again),
        cmocka_unit_test(a_word_that_comes_at_any_moment_of_the_wait_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
