/* SPDX-License-Identifier: MIT
 *
 * The board with PEs as threads: notes, the record of what broke the job, the dump. Run under the thread
 * sanitizer too.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
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
    assert_int_equal(rs_board_look(&boards[0], rs_os_now_ns(), NULL), 0); /* one that left is not dead */
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
        assert_int_equal(rs_board_look(&boards[i], rs_os_now_ns(), NULL), RS_E_MISMATCH);
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
        rs_note_detail(note, rs_os_now_ns(),
                       &(struct rs_waits){.text = "a wait of some length, so that a torn one would show"});
        rs_note_detail(note, 0, NULL);
        rs_note_leave(note, RS_CALL_BARRIER_ALL);
        rs_board_release_note(&boards[number % PES], note);
    }
}

static void dump(int fd, const void *arg)
{
    (void)arg;
    rs_dump_state(&boards[0], fd, RS_PAGE_ASKED);
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
    rs_note_detail(note, rs_os_now_ns() - 2000000000u, &(struct rs_waits){.text = "waits for PE 7"});
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

/* Details of equal letters: a torn one would have two. */
static void write_or_dump(int number, void *arg)
{
    _Atomic bool *over = arg;
    struct rs_waits detail = {0};
    char text[20000];
    if (number == 0) {
        struct rs_note *note = rs_board_claim_note(&boards[0], NULL);
        CHECK(note);
        rs_note_enter(note, RS_CALL_QUIET);
        for (int i = 0; !atomic_load(over); i++) {
            memset(detail.text, 'A' + i % 26, sizeof detail.text - 1);
            rs_note_detail(note, 1, &detail);
        }
        rs_board_release_note(&boards[0], note);
        return;
    }
    int n_seen = 0;
    for (int i = 0; i < 500 || (n_seen < 20 && i < 20000); i++) {
        pes_text_of(dump, NULL, text, sizeof text);
        const char *at = strstr(text, " s: ");
        if (!at) continue; /* it kept changing */
        n_seen++;
        CHECK(strspn(at + 4, (char[]){at[4], 0}) == RS_WAITS_TEXT - 1 && at[4] >= 'A');
    }
    CHECK(n_seen > 0);
    atomic_store(over, true);
}

static void a_detail_that_is_being_written_is_whole_or_absent_in_the_dump(void **state)
{
    (void)state;
    _Atomic bool over = false;
    pes_threads(2, write_or_dump, &over);
}

/* --- processes: these boards lie in shared memory --- */

static struct rs_board shared_board(void *shared, int local)
{
    struct rs_board board;
    CHECK(rs_board_attach(&board, shared, 2, local, 2) == 0);
    return board;
}

/* Be PE 1 in a process of its own, until killed, or leave properly. */
static pid_t start_peer(void *shared, bool leaves)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid > 0) return pid;
    struct rs_board board = shared_board(shared, 1);
    struct rs_note *note = rs_board_claim_note(&board, NULL);
    rs_note_enter(note, RS_CALL_BARRIER_ALL);
    rs_board_arrive(&board, 1);
    if (leaves) {
        rs_board_leave(&board);
        _exit(0);
    }
    for (;;) pause();
}

/* What looking gives, until it gives something or enough looks were made. */
static int look_for_a_while(struct rs_board *board)
{
    int rc = 0;
    for (int i = 0; i < 10 && rc == 0; i++) {
        rs_wait_sleep_ns(11000000); /* longer than from one look to the next */
        rc = rs_board_look(board, rs_os_now_ns(), NULL);
    }
    return rc;
}

static void a_killed_process_is_found_and_named(void **state)
{
    (void)state;
    for (int seen_alive = 0; seen_alive < 2; seen_alive++) { /* its descriptor is opened before, or after */
        size_t nbytes = rs_board_nbytes(2, 2);
        void *shared = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(shared, MAP_FAILED);
        struct rs_board board = shared_board(shared, 0);
        rs_board_arrive(&board, 0);
        pid_t pid = start_peer(shared, false);
        while (atomic_load(&board.vitals[1].state) != RS_PE_RUNNING) rs_wait_sleep_ns(1000000);
        if (seen_alive) assert_int_equal(look_for_a_while(&board), 0);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_int_equal(look_for_a_while(&board), RS_E_PEER);
        char text[128];
        snprintf(text, sizeof text,
                 "PE 1 (pid %d) died or exited without rocshmem_finalize; it was in rocshmem_barrier_all",
                 (int)pid);
        assert_non_null(strstr(rs_error_slot()->text, text));
        assert_int_equal(rs_error_slot()->pe, 1);
        rs_board_close(&board);
        munmap(shared, nbytes);
    }
}

static void a_process_that_left_properly_is_not_missed(void **state)
{
    (void)state;
    size_t nbytes = rs_board_nbytes(2, 2);
    void *shared = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    struct rs_board board = shared_board(shared, 0);
    rs_board_arrive(&board, 0);
    pid_t pid = start_peer(shared, true);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(atomic_load(&board.vitals[1].state), RS_PE_GONE);
    assert_int_equal(look_for_a_while(&board), 0);
    rs_board_close(&board);
    munmap(shared, nbytes);
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
        TEST(a_detail_that_is_being_written_is_whole_or_absent_in_the_dump),
        cmocka_unit_test(a_killed_process_is_found_and_named),
        cmocka_unit_test(a_process_that_left_properly_is_not_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
