/* SPDX-License-Identifier: MIT
 *
 * The rendezvous of a unique id: PEs are threads of this process. Covers src/bootstrap, except
 * env.c (test_env.c) and what needs no thread (test_wire.c).
 */
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os.h"
#include "base/status.h"
#include "bootstrap/address.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/wire.h"
#include "entries.h"

#define SECOND 1000000000u
#define LONG_NS (30ull * SECOND) /* never reached in a test that passes */

/* ---- PEs as threads ---- */

struct pe {
    pthread_t thread;
    struct rs_config config;
    rocshmem_uniqueid_t uid;
    int rank, nranks;
    size_t nbytes; /* of its blobs */
    int n_gathers; /* how many all-gathers it takes part in before it closes */
    int rc;
    uint64_t ns; /* how long it took */
    rocshmemx_error_t error;
};

static uint8_t blob_byte(int rank, int round, size_t i)
{
    return (uint8_t)(rank * 31 + round * 7 + (int)i);
}

static int gather_and_check(struct pe *pe, struct rs_bootstrap *bootstrap, int round)
{
    uint8_t *mine = malloc(pe->nbytes + 1), *all = malloc(pe->nbytes * (size_t)pe->nranks + 1);
    for (size_t i = 0; i < pe->nbytes; i++) mine[i] = blob_byte(pe->rank, round, i);
    int rc = rs_bootstrap_allgather(bootstrap, mine, pe->nbytes, all);
    for (int r = 0; rc == 0 && r < pe->nranks; r++)
        for (size_t i = 0; i < pe->nbytes; i++)
            if (all[(size_t)r * pe->nbytes + i] != blob_byte(r, round, i))
                rc = rs_fail(RS_E_BUG, "wrong byte of rank %d", r);
    free(mine);
    free(all);
    return rc;
}

static void *pe_main(void *arg)
{
    struct pe *pe = arg;
    struct rs_bootstrap bootstrap = {0};
    uint64_t start = rs_os_now_ns();
    pe->rc = rs_bootstrap_uid(&bootstrap, &pe->config, &pe->uid, pe->rank, pe->nranks);
    for (int i = 0; pe->rc == 0 && i < pe->n_gathers; i++) pe->rc = gather_and_check(pe, &bootstrap, i);
    pe->ns = rs_os_now_ns() - start;
    if (pe->rc < 0) pe->error = *rs_error_slot();
    rs_bootstrap_close(&bootstrap);
    return NULL;
}

static struct rs_config test_config(uint64_t timeout_ns)
{
    struct rs_config config;
    assert_int_equal(rs_config_read(&config), 0);
    config.bootstrap_ns = timeout_ns;
    return config;
}

static struct rs_config served_config;

static rocshmem_uniqueid_t serve(uint64_t timeout_ns)
{
    rocshmem_uniqueid_t uid;
    served_config = test_config(timeout_ns);
    assert_int_equal(rs_uid_serve(&served_config, 1, &uid), 0);
    return uid;
}

static struct pe make_pe(const rocshmem_uniqueid_t *uid, int rank, int nranks)
{
    return (struct pe){
        .config = served_config, .uid = *uid, .rank = rank, .nranks = nranks, .nbytes = 100, .n_gathers = 3};
}

static void start(struct pe *pe)
{
    assert_int_equal(pthread_create(&pe->thread, NULL, pe_main, pe), 0);
}

static void join(struct pe *pe)
{
    assert_int_equal(pthread_join(pe->thread, NULL), 0);
}

/* Has the thread ended? For "is refused while the others still wait". */
static void assert_refused(struct pe *pe, const char *words)
{
    join(pe);
    assert_int_equal(pe->rc, RS_E_BOOTSTRAP);
    if (!strstr(pe->error.text, words)) fail_msg("\"%s\" is not in \"%s\"", words, pe->error.text);
}

static void run_job(const rocshmem_uniqueid_t *uid, int nranks, size_t nbytes)
{
    struct pe *pes = calloc((size_t)nranks, sizeof(*pes));
    for (int i = 0; i < nranks; i++) {
        pes[i] = make_pe(uid, i, nranks);
        pes[i].nbytes = nbytes;
        start(&pes[i]);
    }
    for (int i = 0; i < nranks; i++) {
        join(&pes[i]);
        if (pes[i].rc != 0) fail_msg("rank %d: %s", i, pes[i].error.text);
    }
    free(pes);
}

/* A plain TCP connection to the id's loopback address. */
static int plain_connection(const rocshmem_uniqueid_t *uid)
{
    struct rs_uid_data data;
    struct sockaddr_storage to;
    assert_int_equal(rs_uid_decode(uid, &data), 0);
    socklen_t length = rs_address_socket(&data.addresses[data.n_addresses - 1], &to);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, length), 0);
    return fd;
}

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

/* Join by hand, up to the verdict: a member whose admission is certain. Its connection. */
static int raw_member(const rocshmem_uniqueid_t *uid, int rank, int nranks, uint64_t timeout_ns,
                      uint16_t version, struct rs_wire_verdict *verdict_out, char *text)
{
    struct rs_uid_data data;
    struct rs_wire_challenge challenge;
    uint64_t deadline_ns = rs_os_now_ns() + LONG_NS;
    int fd = plain_connection(uid);
    assert_int_equal(rs_uid_decode(uid, &data), 0);
    assert_int_equal(rs_os_recv_all(fd, &challenge, sizeof(challenge), deadline_ns), 0);
    struct rs_wire_hello hello = {
        .magic = RS_WIRE_MAGIC, .version = version, .rank = rank, .nranks = nranks, .timeout_ns = timeout_ns};
    hello.mac = rs_wire_hello_mac(data.secret, &challenge, &hello);
    assert_int_equal(rs_os_send_all(fd, &hello, sizeof(hello), deadline_ns), 0);
    assert_int_equal(rs_os_recv_all(fd, verdict_out, sizeof(*verdict_out), deadline_ns), 0);
    assert_true(verdict_out->nbytes <= RS_WIRE_TEXT);
    assert_int_equal(rs_os_recv_all(fd, text, verdict_out->nbytes, deadline_ns), 0);
    text[verdict_out->nbytes] = '\0';
    assert_true(verdict_out->mac == rs_wire_verdict_mac(data.secret, &challenge, &hello, verdict_out, text));
    return fd;
}

static int admitted(const rocshmem_uniqueid_t *uid, int rank, int nranks)
{
    struct rs_wire_verdict verdict;
    char text[RS_WIRE_TEXT + 1];
    int fd = raw_member(uid, rank, nranks, 0, RS_WIRE_VERSION, &verdict, text);
    assert_int_equal(verdict.accepted, 1);
    return fd;
}

static void expect_ready(int fd)
{
    struct rs_wire_frame frame;
    assert_int_equal(rs_os_recv_all(fd, &frame, sizeof(frame), rs_os_now_ns() + LONG_NS), 0);
    assert_int_equal(frame.op, RS_WIRE_READY);
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
        cmocka_unit_test(the_deadline_names_the_missing_ranks_to_all),
        cmocka_unit_test(the_least_patient_pe_sets_the_deadline),
        cmocka_unit_test(a_pe_that_leaves_in_an_all_gather_is_named_to_the_others),
        cmocka_unit_test(a_pe_that_leaves_before_all_have_come_is_named_to_the_others),
        cmocka_unit_test(a_pe_that_never_gathers_is_named_at_the_deadline),
        cmocka_unit_test(blobs_of_different_sizes_are_an_error_for_all),
        cmocka_unit_test(a_server_that_ends_is_told_to_those_who_wait),
        cmocka_unit_test(the_hook_ends_a_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
