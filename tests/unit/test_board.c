/* SPDX-License-Identifier: MIT
 *
 * The board with PEs as threads: notes, the record of what broke the job, the dump. Run under the thread
 * sanitizer too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os.h"
#include "base/status.h"
#include "observe/dump.h"
#include "pes.h"

#define PES 3

static unsigned char *memory;
static struct rs_board boards[PES];

static int set_up(void **state)
{
    (void)state;
    memory = aligned_alloc(4096, (rs_board_nbytes(PES, 4) + 4095) & ~(size_t)4095);
    if (!memory) return -1;
    memset(memory, 0, rs_board_nbytes(PES, 4));
    memset(boards, 0, sizeof boards);
    for (int i = 0; i < PES; i++) {
        if (rs_board_attach(&boards[i], memory, PES, i, 4) != 0) return -1;
        rs_board_arrive(&boards[i], i);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < PES; i++) rs_board_close(&boards[i]);
    free(memory);
    return 0;
}

static void every_pe_sees_who_the_others_are(void **state)
{
    (void)state;
    for (int i = 0; i < PES; i++) {
        assert_int_equal(boards[0].vitals[i].pe, i);
        assert_int_equal(boards[0].vitals[i].pid, getpid());
        assert_int_equal(atomic_load(&boards[1].vitals[i].state), RS_PE_RUNNING);
    }
    rs_board_leave(&boards[2]);
    assert_int_equal(atomic_load(&boards[1].vitals[2].state), RS_PE_GONE);
    assert_int_equal(rs_board_look(&boards[0], rs_os_now_ns()), 0); /* one that left is not dead */
}

static void the_first_record_of_a_failure_stays(void **state)
{
    (void)state;
    assert_int_equal(rs_board_broken(&boards[1]), 0);
    rs_board_abort(&boards[0], RS_E_MISMATCH, 2, "rocshmem_one", "the first");
    rs_board_abort(&boards[1], RS_E_PEER, 1, "rocshmem_two", "the second");
    for (int i = 0; i < PES; i++) {
        assert_true(rs_board_is_broken(&boards[i]));
        assert_int_equal(rs_board_broken(&boards[i]), RS_E_MISMATCH);
        assert_string_equal(rs_error_slot()->text, "the first");
        assert_int_equal(rs_error_slot()->pe, 2);
        assert_int_equal(rs_board_look(&boards[i], rs_os_now_ns()), RS_E_MISMATCH);
    }
}

static _Atomic int n_aborted;

static void abort_and_read(int number, void *arg)
{
    (void)arg;
    char text[40];
    snprintf(text, sizeof text, "failure %d %d %d", number, number, number);
    rs_board_abort(&boards[number % PES], RS_E_PEER, number, "rocshmem_x", text);
    CHECK(rs_board_broken(&boards[(number + 1) % PES]) == RS_E_PEER);
    int a, b, c;
    CHECK(sscanf(rs_error_slot()->text, "failure %d %d %d", &a, &b, &c) == 3 && a == b && b == c);
    CHECK(rs_error_slot()->pe == a);
    atomic_fetch_add(&n_aborted, 1);
}

static void many_at_once_record_one_whole_failure(void **state)
{
    (void)state;
    atomic_store(&n_aborted, 0);
    pes_threads(8, abort_and_read, NULL);
    assert_int_equal(atomic_load(&n_aborted), 8);
}

static void claim_and_release(int number, void *arg)
{
    (void)arg;
    struct rs_note spare;
    memset(&spare, 0, sizeof spare);
    for (int i = 0; i < 500; i++) {
        struct rs_note *note = rs_board_claim_note(&boards[number % PES], &spare);
        CHECK(note != &spare);
        rs_note_enter(note, RS_CALL_BARRIER_ALL);
        rs_note_detail(note, rs_os_now_ns(), "a wait of some length, so that a torn one would show");
        rs_note_detail(note, 0, NULL);
        rs_note_leave(note, RS_CALL_BARRIER_ALL);
        rs_board_release_note(&boards[number % PES], note);
    }
}

static void dump(int fd, const void *arg)
{
    (void)arg;
    rs_dump_state(&boards[0], fd);
}

static void churn_or_dump(int number, void *arg)
{
    if (number < 6) {
        claim_and_release(number, arg);
        return;
    }
    char text[20000];
    for (int i = 0; i < 30; i++) {
        pes_text_of(dump, NULL, text, sizeof text);
        CHECK(strstr(text, "state of the 3 PEs"));
    }
}

static void a_dump_while_threads_come_and_go_is_well_formed(void **state)
{
    (void)state;
    pes_threads(7, churn_or_dump, NULL);
}

static void more_threads_than_notes_get_the_spare_one(void **state)
{
    (void)state;
    struct rs_note spare;
    memset(&spare, 0, sizeof spare);
    for (int i = 0; i < RS_NOTES_A_PE; i++)
        assert_ptr_not_equal(rs_board_claim_note(&boards[0], &spare), &spare);
    assert_ptr_equal(rs_board_claim_note(&boards[0], &spare), &spare);
    struct rs_note *other = rs_board_claim_note(&boards[1], &spare); /* each PE has its own */
    assert_ptr_not_equal(other, &spare);
}

static void the_dump_says_what_is_waited_for(void **state)
{
    (void)state;
    char text[20000];
    struct rs_note spare, *note = rs_board_claim_note(&boards[1], &spare);
    rs_note_enter(note, RS_CALL_BARRIER_ALL);
    rs_note_detail(note, rs_os_now_ns() - 2000000000u, "waits for PE 7");
    pes_text_of(dump, NULL, text, sizeof text);
    assert_non_null(strstr(text, "PE 1 "));
    assert_non_null(strstr(text, "rocshmem_barrier_all for 2."));
    assert_non_null(strstr(text, "waits for PE 7"));
    rs_note_detail(note, 0, NULL);
    rs_note_leave(note, RS_CALL_BARRIER_ALL);
    pes_text_of(dump, NULL, text, sizeof text);
    assert_null(strstr(text, "waits for PE 7"));
    assert_non_null(strstr(text, "its last was rocshmem_barrier_all"));
    rs_board_release_note(&boards[1], note);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_pe_sees_who_the_others_are),
        TEST(the_first_record_of_a_failure_stays),
        TEST(many_at_once_record_one_whole_failure),
        TEST(a_dump_while_threads_come_and_go_is_well_formed),
        TEST(more_threads_than_notes_get_the_spare_one),
        TEST(the_dump_says_what_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
