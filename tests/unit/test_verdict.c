/* SPDX-License-Identifier: MIT
 *
 * The verdict of a state dump, over jobs that are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "observe/calls.h"
#include "observe/verdict.h"

#define PES 8
#define S 1000000000u
#define WORLD (UINT32_MAX - 1)

static struct rs_seen job[PES];
static char text[1100];

/* Everybody is in the program's own code, after a barrier. */
static int set_up(void **state)
{
    (void)state;
    memset(job, 0, sizeof job);
    for (int pe = 0; pe < PES; pe++) {
        job[pe].pe = pe;
        job[pe].pid = 100 + pe;
        job[pe].first = 1;
        job[pe].state = RS_SEEN_RUNNING;
        job[pe].call = RS_CALL_BARRIER_ALL;
    }
    return 0;
}

static void waits(int pe, uint32_t call, uint32_t team, uint64_t number, int n, const int *pes)
{
    struct rs_seen *it = &job[pe];
    it->call = call;
    it->active = 1;
    it->waited_ns = (uint64_t)(pe + 1) * S;
    it->waits = (struct rs_waits){.kind = RS_WAITS_PES, .team = team, .number = number, .n_pes = n};
    for (int k = 0; k < n && k < RS_WAITS_MOST; k++) it->waits.pes[k] = pes[k];
}
#define WAITS(pe, call, team, number, ...)                                                                   \
    waits(pe, call, team, number, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__})

static void waits_for_word(int pe)
{
    struct rs_seen *it = &job[pe];
    it->call = RS_CALL_SIGNAL_WAIT_UNTIL;
    it->active = 1;
    it->waited_ns = 5 * (uint64_t)S;
    it->waits.kind = RS_WAITS_WORD;
    snprintf(it->waits.text, sizeof it->waits.text, "waits for the word at W to be GE 3; it is 1");
}

static void at(int pe, const char *where)
{
    snprintf(job[pe].where, sizeof job[pe].where, "%s", where);
}

static void judge(int n)
{
    unsigned char marks[PES];
    rs_verdict(job, n, marks, text, sizeof text);
}

static void says(int n, const char *expected)
{
    judge(n);
    assert_string_equal(text, expected);
}

static void nobody_who_waits_is_told(void **state)
{
    (void)state;
    says(3, "no PE waits in a call");
    says(0, "");
}

static void the_pe_in_its_own_code_is_named_with_its_line(void **state)
{
    (void)state;
    for (int pe = 0; pe < 3; pe++) WAITS(pe, RS_CALL_BARRIER_ALL, WORLD, 3, 3);
    at(3, "train.py:41 in step");
    says(
        4,
        "PEs 0-2 wait in rocshmem_barrier_all #3 since 3.0 s for PE 3, which is in the program's own code at "
        "train.py:41 in step; its last call was rocshmem_barrier_all");
}

static void one_that_waits_is_no_plural(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER_ALL, WORLD, 1, 1);
    job[1].call = RS_CALL_NONE;
    says(2, "PE 0 waits in rocshmem_barrier_all #1 since 1.0 s for PE 1, which is in the program's own code "
            "and has "
            "called nothing yet");
}

static void one_in_a_long_call_is_named_with_the_call(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER_ALL, WORLD, 1, 1);
    job[1].call = RS_CALL_PUTMEM;
    job[1].active = 1;
    says(2, "PE 0 waits in rocshmem_barrier_all #1 since 1.0 s for PE 1, which is in rocshmem_putmem, and "
            "does not wait");
}

static void a_dead_pe_is_named_with_its_last_call(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER_ALL, WORLD, 4, 1);
    job[1].state = RS_SEEN_DEAD;
    says(2, "PE 0 waits in rocshmem_barrier_all #4 since 1.0 s for PE 1, which died, or exited without "
            "rocshmem_finalize; it was last in rocshmem_barrier_all");
}

static void a_dead_pe_that_nobody_waits_for_is_named(void **state)
{
    (void)state;
    waits_for_word(0);
    job[1].state = RS_SEEN_DEAD;
    judge(2);
    assert_non_null(strstr(text,
                           "PE 1 is the one which died, or exited without rocshmem_finalize; it was last in "
                           "rocshmem_barrier_all; PE 0 waits since 5.0 s"));
    job[1].call = RS_CALL_NONE;
    job[0].waited_ns = 0;
    says(2, "PE 1 is the one which died, or exited without rocshmem_finalize; no PE waits in a call");
}

static void a_stopped_pe_is_named_even_in_the_same_call(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER_ALL, WORLD, 4, 1);
    job[1].state = RS_SEEN_STOPPED;
    at(1, "a.py:2 in f");
    says(2, "PE 0 waits in rocshmem_barrier_all #4 since 1.0 s for PE 1, which is stopped, by a signal or a "
            "debugger; it "
            "was last in rocshmem_barrier_all at a.py:2 in f");
}

static void one_that_left_and_one_that_never_came_are_named(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER_ALL, WORLD, 4, 1);
    job[1].state = RS_SEEN_GONE;
    judge(2);
    assert_non_null(strstr(text, "for PE 1, which has left by rocshmem_finalize"));
    job[1].state = RS_SEEN_ABSENT;
    judge(2);
    assert_non_null(strstr(text, "for PE 1, which has not arrived"));
    job[1].state = RS_SEEN_SILENT;
    judge(2);
    assert_non_null(strstr(text, "for PE 1, whose host has not answered"));
}

static void two_teams_crosswise_are_a_cycle(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER, 5, 1, 1);
    WAITS(1, RS_CALL_BARRIER, 6, 2, 0);
    at(0, "a.py:1 in f");
    says(2,
         "a cycle, which can't end: PE 0 waits in rocshmem_barrier #1 at a.py:1 in f for PE 1, PE 1 waits in "
         "rocshmem_barrier #2 for PE 0");
}

static void a_ring_of_three_is_told_edge_by_edge(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER, 5, 1, 1);
    WAITS(1, RS_CALL_BARRIER, 6, 1, 2);
    WAITS(2, RS_CALL_BARRIER, 7, 1, 0);
    says(3, "a cycle, which can't end: PE 0 waits in rocshmem_barrier #1 for PE 1, PE 1 waits in "
            "rocshmem_barrier #1 for "
            "PE 2, PE 2 waits in rocshmem_barrier #1 for PE 0");
}

static void other_calls_of_one_team_are_a_cycle(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER_ALL, WORLD, 3, 1);
    WAITS(1, RS_CALL_FCOLLECTMEM, WORLD, 3, 0);
    judge(2);
    assert_non_null(strstr(text, "a cycle"));
    assert_non_null(strstr(text, "PE 1 waits in rocshmem_fcollectmem #3 for PE 0"));
}

static void a_host_and_a_stream_collective_are_a_cycle(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER_ALL, WORLD, 3, 1);
    WAITS(1, RS_CALL_STREAM_SYNCHRONIZE, WORLD, 0, 0);
    job[1].waits.kind = RS_WAITS_STREAM;
    judge(2);
    assert_non_null(strstr(text, "PE 1 waits in rocshmemx_stream_synchronize for PE 0"));
}

static void two_that_see_each_other_late_in_one_collective_are_no_cycle(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER_ALL, WORLD, 3, 1);
    WAITS(1, RS_CALL_BARRIER_ALL, WORLD, 3, 0);
    judge(2);
    assert_null(strstr(text, "cycle"));
}

/* PE 1 waits for its host's leader, PE 0, who waits for the other leader, PE 2, who waits for one of its own. */
static void blame_is_passed_on_over_hosts(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER_ALL, WORLD, 3, 2);
    WAITS(1, RS_CALL_BARRIER_ALL, WORLD, 3, 0);
    WAITS(2, RS_CALL_BARRIER_ALL, WORLD, 3, 3);
    says(4, "PEs 0-2 wait in rocshmem_barrier_all #3 since 3.0 s for PE 3, which is in the program's own "
            "code; its last "
            "call was rocshmem_barrier_all");
}

static void a_chain_through_another_call_says_who_waits_straight(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER, 5, 9, 1);
    WAITS(1, RS_CALL_BARRIER_ALL, WORLD, 3, 2);
    judge(3);
    assert_non_null(strstr(text, "PEs 0 1 wait since 2.0 s for PE 2 (PE 1 in rocshmem_barrier_all #3)"));
}

static void one_that_waits_for_a_word_is_to_blame_with_the_word(void **state)
{
    (void)state;
    WAITS(1, RS_CALL_BARRIER_ALL, WORLD, 3, 0);
    WAITS(2, RS_CALL_BARRIER_ALL, WORLD, 3, 0);
    waits_for_word(0);
    says(3, "PEs 1 2 wait in rocshmem_barrier_all #3 since 3.0 s for PE 0, which itself is in "
            "rocshmem_signal_wait_until: waits for the word at W to be GE 3; it is 1");
}

static void two_to_blame_are_both_told_the_one_with_more_waiters_first(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER, 5, 1, 2);
    WAITS(1, RS_CALL_BARRIER_ALL, WORLD, 1, 2, 3);
    judge(4);
    const char *more = strstr(text, "PEs 0 1 wait"), *less = strstr(text, "; PE 1 waits");
    assert_non_null(more);
    assert_non_null(less);
    assert_true(more < less);
    assert_non_null(strstr(less, "for PE 3"));
}

static void many_to_blame_are_counted(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER_ALL, WORLD, 1, 1, 2, 3, 4, 5);
    judge(6);
    assert_non_null(strstr(text, "; and so for 2 more"));
}

static void a_signal_that_nobody_sent_is_told(void **state)
{
    (void)state;
    waits_for_word(1);
    at(1, "a.py:7 in g");
    says(3, "PE 1 waits since 5.0 s in rocshmem_signal_wait_until at a.py:7 in g: waits for the word at W to "
            "be GE 3; it is "
            "1; nobody has sent that, and all other PEs are in the program's own code");
    says(1, "no PE waits in a call");
}

static void words_that_nobody_is_left_to_write_are_told(void **state)
{
    (void)state;
    for (int pe = 0; pe < 3; pe++) waits_for_word(pe);
    judge(3);
    assert_non_null(strstr(
        text,
        "PEs 0-2 wait for words that nobody has written yet, and no PE is left to write them; PE 0 waits"));
    judge(4);
    assert_null(strstr(text, "no PE is left"));
}

static void of_several_threads_the_one_that_waits_stands_for_its_pe(void **state)
{
    (void)state;
    job[1].pe = 0; /* a second thread of PE 0 */
    job[1].first = 0;
    job[2].pe = 1;
    WAITS(1, RS_CALL_BARRIER_ALL, WORLD, 2, 1);
    says(3, "PE 0 waits in rocshmem_barrier_all #2 since 2.0 s for PE 1, which is in the program's own code; "
            "its last call "
            "was rocshmem_barrier_all");
}

static void pes_of_which_nothing_is_known_do_no_harm(void **state)
{
    (void)state;
    WAITS(0, RS_CALL_BARRIER_ALL, WORLD, 2, 77);
    says(2, "PE 0 waits since 1.0 s in rocshmem_barrier_all #2 for PE 77, of which nothing is known here");
    job[0].waits.n_pes = 1000; /* more than there is room for */
    judge(2);
    assert_true(strlen(text) > 0);
}

static void a_small_buffer_is_kept_to(void **state)
{
    (void)state;
    unsigned char marks[PES];
    for (int pe = 0; pe < 3; pe++) WAITS(pe, RS_CALL_BARRIER_ALL, WORLD, 3, 3);
    for (size_t n = 0; n < 40; n++) {
        memset(text, '#', sizeof text);
        rs_verdict(job, 4, marks, text, n);
        assert_int_equal(text[n], '#');
        if (n) assert_true(strlen(text) < n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nobody_who_waits_is_told, set_up),
        cmocka_unit_test_setup(the_pe_in_its_own_code_is_named_with_its_line, set_up),
        cmocka_unit_test_setup(one_that_waits_is_no_plural, set_up),
        cmocka_unit_test_setup(one_in_a_long_call_is_named_with_the_call, set_up),
        cmocka_unit_test_setup(a_dead_pe_is_named_with_its_last_call, set_up),
        cmocka_unit_test_setup(a_dead_pe_that_nobody_waits_for_is_named, set_up),
        cmocka_unit_test_setup(a_stopped_pe_is_named_even_in_the_same_call, set_up),
        cmocka_unit_test_setup(one_that_left_and_one_that_never_came_are_named, set_up),
        cmocka_unit_test_setup(two_teams_crosswise_are_a_cycle, set_up),
        cmocka_unit_test_setup(a_ring_of_three_is_told_edge_by_edge, set_up),
        cmocka_unit_test_setup(other_calls_of_one_team_are_a_cycle, set_up),
        cmocka_unit_test_setup(a_host_and_a_stream_collective_are_a_cycle, set_up),
        cmocka_unit_test_setup(two_that_see_each_other_late_in_one_collective_are_no_cycle, set_up),
        cmocka_unit_test_setup(blame_is_passed_on_over_hosts, set_up),
        cmocka_unit_test_setup(a_chain_through_another_call_says_who_waits_straight, set_up),
        cmocka_unit_test_setup(one_that_waits_for_a_word_is_to_blame_with_the_word, set_up),
        cmocka_unit_test_setup(two_to_blame_are_both_told_the_one_with_more_waiters_first, set_up),
        cmocka_unit_test_setup(many_to_blame_are_counted, set_up),
        cmocka_unit_test_setup(a_signal_that_nobody_sent_is_told, set_up),
        cmocka_unit_test_setup(words_that_nobody_is_left_to_write_are_told, set_up),
        cmocka_unit_test_setup(of_several_threads_the_one_that_waits_stands_for_its_pe, set_up),
        cmocka_unit_test_setup(pes_of_which_nothing_is_known_do_no_harm, set_up),
        cmocka_unit_test_setup(a_small_buffer_is_kept_to, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
