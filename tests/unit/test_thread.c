/* SPDX-License-Identifier: MIT
 *
 * What a thread has while it is attached, and what stays of it when it ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "pes.h"
#include "pgas/thread.h"

static struct pes pes;

static int set_up(void **state)
{
    (void)state;
    pes_create(&pes, 2, 2, 1 << 16);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pes_destroy(&pes);
    return 0;
}

static uint64_t quiets(struct rs_job *job)
{
    struct rs_counters sum;
    assert_int_equal(rs_counters_init(&sum, job->n_pes), 0);
    rs_threads_sum(job, &sum);
    uint64_t n = sum.calls[RS_CALL_QUIET];
    rs_counters_fini(&sum);
    return n;
}

static uint64_t put_nbytes(struct rs_job *job, int pe)
{
    struct rs_counters sum;
    rocshmemx_stats_t stats;
    assert_int_equal(rs_counters_init(&sum, job->n_pes), 0);
    rs_threads_sum(job, &sum);
    rs_counters_stats(&sum, pe, &stats);
    rs_counters_fini(&sum);
    return stats.put_nbytes;
}

static int notes_in_use(const struct rs_job *job)
{
    const struct rs_note *notes = job->board.notes + (size_t)job->my_local * RS_NOTES_A_PE;
    int n = 0;
    for (int i = 0; i < RS_NOTES_A_PE; i++)
        n += atomic_load_explicit(&notes[i].tid, memory_order_relaxed) != 0;
    return n;
}

static void unattached(int number, void *arg)
{
    (void)number;
    struct rs_thread **blank = arg;
    CHECK(!rs_self->job && !rs_self->note);
    blank[number] = rs_self;
}

static void before_its_first_call_a_thread_has_no_job(void **state)
{
    (void)state;
    struct rs_thread *blank[3];
    pes_threads(3, unattached, blank);
    assert_ptr_equal(blank[0], blank[1]);
    assert_ptr_equal(blank[0], blank[2]);
}

static void count_some(int number, void *arg)
{
    (void)arg;
    struct rs_job *job = pes.jobs[number % 2];
    CHECK(rs_thread_attach(job) == 0);
    CHECK(rs_self->job == job && rs_self->note && rs_self->counters.n_pes == 2);
    rs_note_enter(rs_self->note, RS_CALL_QUIET);
    for (int i = 0; i < 100; i++) rs_count(&rs_self->counters.calls[RS_CALL_QUIET], 1);
    rs_count(&rs_self->counters.peers[1].put_nbytes, 8);
    rs_note_leave(rs_self->note, RS_CALL_QUIET);
}

static void what_ended_threads_counted_is_kept_and_their_notes_are_free(void **state)
{
    (void)state;
    pes_threads(10, count_some, NULL);
    for (int pe = 0; pe < 2; pe++) {
        assert_true(quiets(pes.jobs[pe]) == 500);
        assert_true(put_nbytes(pes.jobs[pe], 1) == 40 && put_nbytes(pes.jobs[pe], 0) == 0);
        assert_true(put_nbytes(pes.jobs[pe], -1) == 40);
        assert_int_equal(notes_in_use(pes.jobs[pe]), 0);
    }
    rs_threads_zero(pes.jobs[0]);
    assert_true(quiets(pes.jobs[0]) == 0 && put_nbytes(pes.jobs[0], -1) == 0);
    assert_true(quiets(pes.jobs[1]) == 500);
    rs_threads_zero(pes.jobs[1]);
}

/* Counting threads, and one that reads the sum: it never goes back and never beyond what there is. */
struct crowd {
    _Atomic int n_counting;
};

static void count_or_read(int number, void *arg)
{
    struct crowd *crowd = arg;
    struct rs_job *job = pes.jobs[0];
    if (number > 0) {
        CHECK(rs_thread_attach(job) == 0);
        for (int i = 0; i < 20000; i++) rs_count(&rs_self->counters.calls[RS_CALL_QUIET], 1);
        atomic_fetch_sub(&crowd->n_counting, 1);
        return;
    }
    for (uint64_t seen = 0; atomic_load(&crowd->n_counting) > 0;) {
        struct rs_counters sum;
        CHECK(rs_counters_init(&sum, job->n_pes) == 0);
        rs_threads_sum(job, &sum);
        CHECK(sum.calls[RS_CALL_QUIET] >= seen && sum.calls[RS_CALL_QUIET] <= 80000);
        seen = sum.calls[RS_CALL_QUIET];
        rs_counters_fini(&sum);
    }
}

static void a_sum_over_counting_and_ending_threads_never_goes_back(void **state)
{
    (void)state;
    struct crowd crowd = {.n_counting = 4};
    pes_threads(5, count_or_read, &crowd);
    assert_true(quiets(pes.jobs[0]) == 80000);
    rs_threads_zero(pes.jobs[0]);
}

struct meeting {
    _Atomic int arrived, go;
};

static void attach_and_wait(int number, void *arg)
{
    struct meeting *meeting = arg;
    struct rs_job *job = pes.jobs[0];
    if (number == 0) {
        while (atomic_load(&meeting->arrived) < 3) rs_wait_sleep_ns(100000);
        rs_threads_detach(job);
        atomic_store(&meeting->go, 1);
        return;
    }
    CHECK(rs_thread_attach(job) == 0);
    struct rs_thread *self = rs_self;
    rs_count(&self->counters.calls[RS_CALL_QUIET], 1);
    atomic_fetch_add(&meeting->arrived, 1);
    while (!atomic_load(&meeting->go)) rs_wait_sleep_ns(100000);
    CHECK(rs_self == self && !self->job);      /* the next call finds no job */
    CHECK(rs_thread_attach(pes.jobs[1]) == 0); /* a later init */
    CHECK(rs_self == self && self->job == pes.jobs[1] && self->counters.calls[RS_CALL_QUIET] == 0);
    CHECK(self->hit[0].generation == 0 && self->hit[1].generation == 0);
    rs_count(&self->counters.calls[RS_CALL_QUIET], 10);
}

static void detach_takes_the_job_from_every_thread_and_another_may_follow(void **state)
{
    (void)state;
    struct meeting meeting = {0};
    pes_threads(4, attach_and_wait, &meeting);
    assert_true(quiets(pes.jobs[0]) == 3);
    assert_true(quiets(pes.jobs[1]) == 30);
    assert_int_equal(notes_in_use(pes.jobs[0]), 0);
    assert_int_equal(notes_in_use(pes.jobs[1]), 0);
    rs_threads_zero(pes.jobs[0]);
    rs_threads_zero(pes.jobs[1]);
}

static void attach_without_a_note(int number, void *arg)
{
    (void)number;
    (void)arg;
    CHECK(rs_thread_attach(pes.jobs[0]) == 0);
    CHECK(rs_self->note == &rs_self->spare_note);
    rs_note_enter(rs_self->note, RS_CALL_QUIET);
    rs_count(&rs_self->counters.calls[RS_CALL_QUIET], 1);
    rs_note_leave(rs_self->note, RS_CALL_QUIET);
}

static void without_a_free_note_a_thread_works_all_the_same(void **state)
{
    (void)state;
    struct rs_job *job = pes.jobs[0];
    struct rs_note spare = {0}, *taken[RS_NOTES_A_PE];
    for (int i = 0; i < RS_NOTES_A_PE; i++) taken[i] = rs_board_claim_note(&job->board, &spare);
    assert_ptr_equal(rs_board_claim_note(&job->board, &spare), &spare);
    pes_threads(2, attach_without_a_note, NULL);
    assert_int_equal(notes_in_use(job), RS_NOTES_A_PE);
    for (int i = 0; i < RS_NOTES_A_PE; i++) rs_board_release_note(&job->board, taken[i]);
    assert_true(quiets(job) == 2);
    rs_threads_zero(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_its_first_call_a_thread_has_no_job),
        cmocka_unit_test(what_ended_threads_counted_is_kept_and_their_notes_are_free),
        cmocka_unit_test(a_sum_over_counting_and_ending_threads_never_goes_back),
        cmocka_unit_test(detach_takes_the_job_from_every_thread_and_another_may_follow),
        cmocka_unit_test(without_a_free_note_a_thread_works_all_the_same),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
