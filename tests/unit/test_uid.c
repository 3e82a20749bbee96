/* SPDX-License-Identifier: MIT
 *
 * The rendezvous of a unique id: PEs are threads of this process. Covers src/bootstrap, except
 * env.c (test_env.c), those that are missing or leave (test_uid_lost.c), and what needs no thread (test_wire.c).
 */
#include "rendezvous.h"

/* ---- unique ids ---- */

static void damaged_bytes_are_no_unique_id(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS), damaged = uid;
    struct rs_bootstrap bootstrap = {0};
    damaged.data[40] ^= 1;
    assert_int_equal(rs_bootstrap_uid(&bootstrap, &served_config, &damaged, 0, 1), RS_E_ARG);
    assert_non_null(strstr(rs_error_slot()->text, "no unique id"));
    rs_uid_stop(&uid);
}

static void an_interface_that_is_absent_is_a_config_error(void **state)
{
    (void)state;
    struct rs_config config = test_config(LONG_NS);
    rocshmem_uniqueid_t uid;
    config.socket_ifname = "=nosuch0";
    assert_int_equal(rs_uid_serve(&config, 0, &uid), RS_E_CONFIG);
    assert_non_null(strstr(rs_error_slot()->text, "nosuch0"));
    config.socket_ifname = "lo";
    assert_int_equal(rs_uid_serve(&config, 0, &uid), 0);
    served_config = config;
    run_job(&uid, 2, 8);
    rs_uid_stop(&uid);
}

/* ---- jobs that meet ---- */

static void jobs_of_1_2_and_8_meet(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 8};
    for (int i = 0; i < 3; i++) {
        rocshmem_uniqueid_t uid = serve(LONG_NS);
        run_job(&uid, sizes[i], 100);
        rs_uid_stop(&uid);
    }
}

static void blobs_of_zero_and_many_bytes_travel(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    run_job(&uid, 3, 0);
    run_job(&uid, 3, 1);
    run_job(&uid, 3, 3000000);
    rs_uid_stop(&uid);
}

static void all_interfaces_serve_as_well(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid;
    served_config = test_config(LONG_NS);
    assert_int_equal(rs_uid_serve(&served_config, 0, &uid), 0);
    run_job(&uid, 4, 16);
    rs_uid_stop(&uid);
}

static void one_uid_serves_many_jobs_of_any_size(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    for (int i = 0; i < 20; i++) run_job(&uid, 1 + i % 4, 50);
    rs_uid_stop(&uid);
}

/* Each PE comes back at once, without waiting for the others to have closed: the next job must not mix with
 * the last. */
static void *come_again(void *arg)
{
    struct pe *pe = arg;
    for (int i = 0; i < 30; i++) {
        pe_main(pe);
        if (pe->rc < 0) return NULL;
    }
    return NULL;
}

static void a_pe_that_comes_again_early_waits_for_the_next_job(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    struct pe pes[3];
    for (int i = 0; i < 3; i++) {
        pes[i] = make_pe(&uid, i, 3);
        assert_int_equal(pthread_create(&pes[i].thread, NULL, come_again, &pes[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        join(&pes[i]);
        if (pes[i].rc < 0) fail_msg("rank %d: %s", i, pes[i].error.text);
    }
    rs_uid_stop(&uid);
}

static void a_hundred_servers_leave_no_thread_and_no_descriptor(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    run_job(&uid, 2, 8);
    rs_uid_stop(&uid);
    int fds = count_descriptors(), threads = count_threads();
    for (int i = 0; i < 100; i++) {
        uid = serve(LONG_NS);
        run_job(&uid, 2, 8);
        rs_uid_stop(&uid);
        rs_uid_stop(&uid); /* again does nothing */
    }
    assert_int_equal(count_descriptors(), fds);
    assert_true(count_threads_settled(threads) <= threads);
}

/* ---- those who do not belong ---- */

static void strangers_do_not_disturb(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    int silent = plain_connection(&uid), garbage = plain_connection(&uid), half = plain_connection(&uid);
    const char *request = "GET / HTTP/1.0\r\n\r\n";
    assert_int_equal(send(garbage, request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
    uint32_t magic = RS_WIRE_MAGIC;
    assert_int_equal(send(half, &magic, sizeof(magic), MSG_NOSIGNAL), sizeof(magic));
    uint64_t start_ns = rs_os_now_ns();
    run_job(&uid, 3, 100);
    assert_true(rs_os_now_ns() - start_ns <
                5ull * SECOND); /* nobody waited for a stranger's time-out, which is 10 s */
    char answer[512] = "";
    struct rs_wire_challenge challenge;
    struct rs_wire_verdict verdict;
    uint64_t deadline_ns = rs_os_now_ns() + LONG_NS;
    assert_int_equal(rs_os_recv_all(garbage, &challenge, sizeof(challenge), deadline_ns), 0);
    assert_int_equal(rs_os_recv_all(garbage, &verdict, sizeof(verdict), deadline_ns), 0);
    assert_int_equal(verdict.accepted, 0);
    assert_true(verdict.nbytes < sizeof(answer));
    assert_int_equal(rs_os_recv_all(garbage, answer, verdict.nbytes, deadline_ns), 0);
    assert_non_null(strstr(answer, "rocshmem"));
    close(silent);
    close(garbage);
    close(half);
    rs_uid_stop(&uid);
}

static void a_wrong_secret_is_refused(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS), wrong;
    struct rs_uid_data data;
    assert_int_equal(rs_uid_decode(&uid, &data), 0);
    data.secret[3] ^= 1;
    rs_uid_encode(&data, &wrong);
    struct pe pes[2] = {make_pe(&uid, 0, 2), make_pe(&uid, 1, 2)}, liar = make_pe(&wrong, 1, 2);
    start(&pes[0]);
    start(&liar);
    assert_refused(&liar, "wrong secret");
    start(&pes[1]);
    join(&pes[0]);
    join(&pes[1]);
    assert_int_equal(pes[0].rc, 0);
    assert_int_equal(pes[1].rc, 0);
    rs_uid_stop(&uid);
}

/* One that does not belong, while rank 0 of 3 waits; then the job meets all the same. */
static void refuse_one(int rank, int nranks, const char *words, const char *more_words)
{
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    int fd = admitted(&uid, 0, 3);
    struct pe other = make_pe(&uid, rank, nranks), rest[2] = {make_pe(&uid, 1, 3), make_pe(&uid, 2, 3)};
    start(&other);
    assert_refused(&other, words);
    assert_non_null(strstr(other.error.text, more_words));
    for (int i = 0; i < 2; i++) {
        rest[i].n_gathers = 0;
        start(&rest[i]);
    }
    expect_ready(fd);
    for (int i = 0; i < 2; i++) {
        join(&rest[i]);
        assert_int_equal(rest[i].rc, 0);
    }
    close(fd);
    rs_uid_stop(&uid);
}

static void a_rank_that_is_there_already_is_refused(void **state)
{
    (void)state;
    refuse_one(0, 3, "rank 0 of 3 is there already", "rank of its own");
}

static void a_rank_out_of_range_is_refused(void **state)
{
    (void)state;
    refuse_one(3, 3, "rank 3 is out of range", "ranks 0 to 2");
    refuse_one(-1, 3, "rank -1 is out of range", "ranks 0 to 2");
}

static void another_nranks_is_refused_naming_both(void **state)
{
    (void)state;
    refuse_one(1, 4, "rank 1 says nranks 4", "rank 0, the first to come, said 3");
    refuse_one(0, 0, "nranks is 0", "possible");
}

static void another_protocol_version_is_refused(void **state)
{
    (void)state;
    rocshmem_uniqueid_t uid = serve(LONG_NS);
    struct rs_wire_verdict verdict;
    char text[RS_WIRE_TEXT + 1];
    int fd = raw_member(&uid, 0, 1, 0, RS_WIRE_VERSION + 1, &verdict, text);
    assert_int_equal(verdict.accepted, 0);
    assert_non_null(strstr(text, "version"));
    close(fd);
    rs_uid_stop(&uid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_bytes_are_no_unique_id),
        cmocka_unit_test(an_interface_that_is_absent_is_a_config_error),
        cmocka_unit_test(jobs_of_1_2_and_8_meet),
        cmocka_unit_test(blobs_of_zero_and_many_bytes_travel),
        cmocka_unit_test(all_interfaces_serve_as_well),
        cmocka_unit_test(one_uid_serves_many_jobs_of_any_size),
        cmocka_unit_test(a_pe_that_comes_again_early_waits_for_the_next_job),
        cmocka_unit_test(a_hundred_servers_leave_no_thread_and_no_descriptor),
        cmocka_unit_test(strangers_do_not_disturb),
        cmocka_unit_test(a_wrong_secret_is_refused),
        cmocka_unit_test(a_rank_that_is_there_already_is_refused),
        cmocka_unit_test(a_rank_out_of_range_is_refused),
        cmocka_unit_test(another_nranks_is_refused_naming_both),
        cmocka_unit_test(another_protocol_version_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
