/* SPDX-License-Identifier: MIT
 *
 * The rendezvous of a unique id when PEs are missing, leave, or die, and when the server or an interrupt ends
 * the wait. Those that meet: test_uid.c.
 */
#include "rendezvous.h"

/* ---- those who are missing ---- */

static void the_deadline_names_the_missing_ranks_to_all(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(SECOND / 4);
    static const int come[] = {0, 1, 3, 4, 6};
    struct pe pes[5];
    for (int i = 0; i < 5; i++) {
        pes[i] = make_pe(&uid, come[i], 8);
        start(&pes[i]);
    }
    for (int i = 0; i < 5; i++) {
        assert_refused(&pes[i], "ranks 2 5 7 of 8 did not come within 0.2");
        assert_int_equal(pes[i].error.pe, -1);
    }
    served_config.bootstrap_ns = LONG_NS; /* and the server is ready for the next ones */
    rs_uid_stop(&uid);
    uid = serve(SECOND / 4);
    struct pe alone = make_pe(&uid, 1, 2), refused = make_pe(&uid, 0, 3);
    int fd = admitted(&uid, 1, 2);
    start(&refused);
    assert_refused(&refused, "rank 0 says nranks 3");
    close(fd);
    start(&alone);
    assert_refused(&alone, "rank 0 of 2 did not come");
    assert_int_equal(alone.error.pe, 0);
    rs_uid_stop(&uid);
}

static void the_least_patient_pe_sets_the_deadline(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    struct pe patient = make_pe(&uid, 0, 3), hasty = make_pe(&uid, 1, 3);
    hasty.config.bootstrap_ns = SECOND / 5;
    start(&patient);
    start(&hasty);
    assert_refused(&patient, "rank 2 of 3 did not come");
    assert_refused(&hasty, "rank 2 of 3 did not come");
    rs_uid_stop(&uid);
}

static void a_pe_that_leaves_in_an_all_gather_is_named_to_the_others(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    struct pe pes[4];
    for (int i = 0; i < 4; i++) {
        pes[i] = make_pe(&uid, i, 4);
        pes[i].n_gathers = i == 2 ? 1 : 2; /* rank 2 goes home after the first */
        start(&pes[i]);
    }
    for (int i = 0; i < 4; i++) {
        if (i == 2) {
            join(&pes[i]);
            assert_int_equal(pes[i].rc, 0);
            continue;
        }
        assert_refused(&pes[i], "rank 2 of 4 ended");
        assert_int_equal(pes[i].error.pe, 2);
        assert_true(pes[i].ns < 5ull * SECOND); /* at once, not at the deadline, which is 30 s */
    }
    run_job(&uid, 4, 10);
    rs_uid_stop(&uid);
}

static void a_pe_that_leaves_before_all_have_come_is_named_to_the_others(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    int stays = admitted(&uid, 0, 3), goes = admitted(&uid, 1, 3);
    close(goes);
    struct rs_wire_frame frame;
    assert_int_equal(rs_os_recv_all(stays, &frame, sizeof(frame), rs_os_now_ns() + LONG_NS), 0);
    assert_int_equal(frame.op, RS_WIRE_FAIL);
    assert_int_equal(frame.pe, 1);
    close(stays);
    rs_uid_stop(&uid);
}

/* The others are busy with something else, as in init between its all-gathers: they watch the connection. */
static void a_pe_that_dies_between_all_gathers_is_named_at_once(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    for (int gathers = 0; gathers < 2; gathers++) {
        int fds[3];
        for (int i = 0; i < 3; i++) fds[i] = admitted(&uid, i, 3);
        for (int i = 0; i < 3; i++) expect_ready(fds[i]);
        for (int i = 0; i < 3 && gathers; i++) send_frame(fds[i], RS_WIRE_GATHER, 0);
        for (int i = 0; i < 3 && gathers; i++) assert_int_equal(receive_frame(fds[i]).op, RS_WIRE_GATHER);
        close(fds[1]);
        for (int i = 0; i < 3; i += 2) {
            char text[RS_WIRE_TEXT + 1] = "";
            struct rs_wire_frame frame = receive_frame(fds[i]);
            assert_int_equal(frame.op, RS_WIRE_FAIL);
            assert_int_equal(frame.pe, 1);
            assert_int_equal(rs_os_recv_all(fds[i], text, frame.nbytes, rs_os_now_ns() + LONG_NS), 0);
            assert_non_null(strstr(text, "rank 1 of 3 ended or gave up during start-up"));
            close(fds[i]);
        }
    }
    run_job(&uid, 3, 10);
    rs_uid_stop(&uid);
}

static void a_pe_that_said_goodbye_is_no_failure_and_waits_for_the_next_job(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    int goes = admitted(&uid, 0, 2), stays = admitted(&uid, 1, 2);
    expect_ready(goes);
    expect_ready(stays);
    send_frame(goes, RS_WIRE_BYE, 0); /* and is slow to close */
    struct pe pes[2] = {make_pe(&uid, 0, 2), make_pe(&uid, 1, 2)};
    start(&pes[0]);
    rs_wait_sleep_ns(SECOND / 20);
    char byte;
    assert_int_equal(recv(stays, &byte, 1, MSG_DONTWAIT), -1);
    send_frame(stays, RS_WIRE_BYE, 0);
    close(stays);
    start(&pes[1]);
    for (int i = 0; i < 2; i++) {
        join(&pes[i]);
        if (pes[i].rc != 0) fail_msg("rank %d: %s", i, pes[i].error.text);
    }
    close(goes);
    rs_uid_stop(&uid);
}

static void a_pe_that_never_gathers_is_named_at_the_deadline(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(SECOND / 4);
    int idle = admitted(&uid, 1, 2);
    struct pe pe = make_pe(&uid, 0, 2);
    start(&pe);
    assert_refused(&pe, "rank 1 of 2 came, but did not take part");
    assert_int_equal(pe.error.pe, 1);
    close(idle);
    rs_uid_stop(&uid);
}

static void blobs_of_different_sizes_are_an_error_for_all(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    struct pe pes[2] = {make_pe(&uid, 0, 2), make_pe(&uid, 1, 2)};
    pes[1].nbytes = 50;
    start(&pes[0]);
    start(&pes[1]);
    assert_refused(&pes[0], "bytes to an exchange");
    assert_refused(&pes[1], "bytes to an exchange");
    rs_uid_stop(&uid);
}

static void a_server_that_ends_is_told_to_those_who_wait(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    int fd = admitted(&uid, 0, 3);
    struct pe pe = make_pe(&uid, 1, 3), late = make_pe(&uid, 2, 3);
    rs_uid_stop(&uid);
    struct rs_wire_frame frame;
    assert_int_equal(rs_os_recv_all(fd, &frame, sizeof(frame), rs_os_now_ns() + LONG_NS), 0);
    assert_int_equal(frame.op, RS_WIRE_FAIL);
    close(fd);
    pe.config.bootstrap_ns = late.config.bootstrap_ns = SECOND / 4;
    start(&pe);
    assert_refused(&pe, "tried 127.0.0.1:");
    assert_non_null(strstr(pe.error.text, "Connection refused"));
}

static atomic_int hook_calls;

static int interrupt(void)
{
    return atomic_fetch_add(&hook_calls, 1) < 3 ? 0 : rs_fail(RS_E_INTERRUPTED, "interrupted by a test");
}

static void the_hook_ends_a_wait(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    struct pe pe = make_pe(&uid, 0, 2);
    rs_bootstrap_set_hook(interrupt);
    start(&pe);
    join(&pe);
    rs_bootstrap_set_hook(NULL);
    assert_int_equal(pe.rc, RS_E_INTERRUPTED);
    assert_string_equal(pe.error.text, "interrupted by a test");
    rs_uid_stop(&uid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_deadline_names_the_missing_ranks_to_all),
        cmocka_unit_test(the_least_patient_pe_sets_the_deadline),
        cmocka_unit_test(a_pe_that_leaves_in_an_all_gather_is_named_to_the_others),
        cmocka_unit_test(a_pe_that_leaves_before_all_have_come_is_named_to_the_others),
        cmocka_unit_test(a_pe_that_dies_between_all_gathers_is_named_at_once),
        cmocka_unit_test(a_pe_that_said_goodbye_is_no_failure_and_waits_for_the_next_job),
        cmocka_unit_test(a_pe_that_never_gathers_is_named_at_the_deadline),
        cmocka_unit_test(blobs_of_different_sizes_are_an_error_for_all),
        cmocka_unit_test(a_server_that_ends_is_told_to_those_who_wait),
        cmocka_unit_test(the_hook_ends_a_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
