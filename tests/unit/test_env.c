/* SPDX-License-Identifier: MIT
 *
 * rs_bootstrap_env: PEs are child processes with the environment that a launcher would give them. Covers
 * src/bootstrap/env.c and publish.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <netinet/in.h>

#include <cmocka.h>

#include "base/os.h"
#include "base/status.h"
#include "bootstrap/bootstrap.h"
#include "entries.h"

enum { MAX_RANKS = 8 };

static const char *const launcher_variables[] = {"ROCSHMEM_RUN_SOCKET",
                                                 "ROCSHMEM_RUN_RANK",
                                                 "ROCSHMEM_RUN_SIZE",
                                                 "RANK",
                                                 "WORLD_SIZE",
                                                 "LOCAL_WORLD_SIZE",
                                                 "MASTER_ADDR",
                                                 "MASTER_PORT",
                                                 "TORCHELASTIC_RUN_ID",
                                                 "TORCHELASTIC_RESTART_COUNT",
                                                 "OMPI_COMM_WORLD_RANK",
                                                 "OMPI_COMM_WORLD_SIZE",
                                                 "OMPI_COMM_WORLD_LOCAL_SIZE",
                                                 "PMIX_NAMESPACE",
                                                 "OMPI_MCA_ess_base_jobid",
                                                 "ROCSHMEM_BOOTSTRAP_TIMEOUT"};

static int clear_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(launcher_variables) / sizeof(launcher_variables[0]); i++)
        unsetenv(launcher_variables[i]);
    setenv("ROCSHMEM_BOOTSTRAP_TIMEOUT", "30", 1);
    return 0;
}

static void set_number(const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", value);
    setenv(name, text, 1);
}

/* ---- a PE: a child process; its exit status says what was wrong ---- */

/* Join, all-gather, close. 0, or a letter for the exit status. */
static int one_job(const char *launcher, int rank, int nranks)
{
    struct rs_config config;
    struct rs_bootstrap bootstrap = {0};
    int all[MAX_RANKS];
    if (rs_config_read(&config) < 0 || rs_bootstrap_env(&bootstrap, &config) < 0) {
        fprintf(stderr, "rank %d: %s\n", rank, rs_error_slot()->text);
        return 'e';
    }
    if (strcmp(bootstrap.launcher, launcher) != 0 || strcmp(rs_bootstrap_detect(), launcher) != 0) return 'l';
    if (bootstrap.rank != rank || bootstrap.nranks != nranks) return 'r';
    if (rs_bootstrap_allgather(&bootstrap, &rank, sizeof(rank), all) < 0) {
        fprintf(stderr, "rank %d: %s\n", rank, rs_error_slot()->text);
        return 'g';
    }
    for (int i = 0; i < nranks; i++)
        if (all[i] != i) return 'v';
    rs_bootstrap_close(&bootstrap, true);
    rs_uid_stop(NULL);
    return 0;
}

/* Several jobs one after the other in the same environment, then nothing may be left. */
static int many_jobs(const char *launcher, int rank, int nranks, int n_jobs)
{
    int fds = 0, threads = 0;
    for (int i = 0; i < n_jobs; i++) {
        int letter = one_job(launcher, rank, nranks);
        if (letter) return letter;
        if (i == 0) {
            fds = count_descriptors();
            threads = count_threads();
        }
    }
    if (count_descriptors() != fds) return 'f';
    return count_threads_settled(threads) > threads ? 't' : 0;
}

static pid_t start_pe(const char *rank_variable, const char *launcher, int rank, int nranks, int n_jobs)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) return pid;
    if (rank_variable) set_number(rank_variable, rank);
    _exit(many_jobs(launcher, rank, nranks, n_jobs));
}

static void await_pe(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status)) fail_msg("a PE ended with '%c' (see one_job)", WEXITSTATUS(status));
}

static void run_job(const char *rank_variable, const char *launcher, int nranks, int n_jobs)
{
    pid_t pids[MAX_RANKS];
    for (int i = 0; i < nranks; i++) pids[i] = start_pe(rank_variable, launcher, i, nranks, n_jobs);
    for (int i = 0; i < nranks; i++) await_pe(pids[i]);
}

/* A free port whose next 16 are most likely free too. */
static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    close(fd);
    int port = ntohs(address.sin_port);
    return port > 65500 ? port - 100 : port;
}

static void torch_environment(int nranks, bool one_host)
{
    clear_environment(NULL);
    set_number("WORLD_SIZE", nranks);
    if (one_host) set_number("LOCAL_WORLD_SIZE", nranks);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    set_number("MASTER_PORT", free_port());
    setenv("TORCHELASTIC_RUN_ID", "test", 1);
}

/* ---- tests ---- */

static void nothing_set_is_a_job_of_one(void **state)
{
    (void)state;
    run_job(NULL, "none", 1, 2);
    setenv("RANK", "3", 1); /* a variable alone is no launcher */
    setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    run_job(NULL, "none", 1, 1);
}

static void torchrun_on_one_host_meets_again_and_again(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 8};
    for (int i = 0; i < 3; i++) {
        torch_environment(sizes[i], true);
        run_job("RANK", "torchrun", sizes[i], 20);
    }
}

static void torch_variables_without_local_size_meet_over_tcp(void **state)
{
    (void)state;
    torch_environment(4, false);
    run_job("RANK", "torchrun", 4, 10);
    setenv("MASTER_ADDR", "localhost", 1);
    run_job("RANK", "torchrun", 4, 2);
}

/* Another program on the first port: silent, as bad as it gets. */
static void a_foreign_service_on_a_port_is_skipped(void **state)
{
    (void)state;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, rc = -1;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    for (int i = 0; rc != 0 && i < 20; i++) { /* a connection of another test may hold the port */
        torch_environment(2, false);
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        address.sin_port = htons((uint16_t)(strtol(getenv("MASTER_PORT"), NULL, 10) + 1));
        rc = bind(fd, (struct sockaddr *)&address, sizeof(address));
    }
    assert_int_equal(rc, 0);
    assert_int_equal(listen(fd, 8), 0);
    run_job("RANK", "torchrun", 2, 1);
    close(fd);
}

static void open_mpi_on_one_host_meets(void **state)
{
    (void)state;
    set_number("OMPI_COMM_WORLD_SIZE", 3);
    set_number("OMPI_COMM_WORLD_LOCAL_SIZE", 3);
    char space[32];
    snprintf(space, sizeof(space), "prterun-%d@1", (int)getpid());
    setenv("PMIX_NAMESPACE", space, 1);
    run_job("OMPI_COMM_WORLD_RANK", "Open MPI", 3, 10);
}

static void open_mpi_on_several_hosts_says_what_to_do(void **state)
{
    (void)state;
    struct rs_config config;
    struct rs_bootstrap bootstrap = {0};
    set_number("OMPI_COMM_WORLD_RANK", 1);
    set_number("OMPI_COMM_WORLD_SIZE", 4);
    set_number("OMPI_COMM_WORLD_LOCAL_SIZE", 2);
    setenv("OMPI_MCA_ess_base_jobid", "1", 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_int_equal(rs_bootstrap_env(&bootstrap, &config), RS_E_UNSUPPORTED);
    assert_non_null(strstr(rs_error_slot()->text, "init_with_mpi"));
}

/* The launcher's part, as rocshmem-run plays it: every connection gets the unique id. */
static void rocshmem_run_hands_the_unique_id_over(void **state)
{
    (void)state;
    enum { N = 4, JOBS = 3 };
    struct rs_config config;
    rocshmem_uniqueid_t uid;
    char name[64];
    assert_int_equal(rs_config_read(&config), 0);
    snprintf(name, sizeof(name), "rocshmem-test-env-%d", (int)getpid());
    int listener = rs_os_unix_listen(name);
    assert_true(listener >= 0);
    setenv("ROCSHMEM_RUN_SOCKET", name, 1);
    set_number("ROCSHMEM_RUN_SIZE", N);
    pid_t pids[N];
    for (int i = 0; i < N; i++) pids[i] = start_pe("ROCSHMEM_RUN_RANK", "rocshmem-run", i, N, JOBS);
    assert_int_equal(rs_uid_serve(&config, 1, &uid), 0); /* after the forks: threads */
    for (int i = 0; i < N * JOBS; i++) {
        int fd = accept(listener, NULL, NULL);
        assert_true(fd >= 0);
        assert_true(rs_os_peer_is_us(fd));
        assert_int_equal(rs_os_send_all(fd, &uid, sizeof(uid), UINT64_MAX), 0);
        close(fd);
    }
    for (int i = 0; i < N; i++) await_pe(pids[i]);
    close(listener);
    rs_uid_stop(&uid);
}

static void expect_config_error(const char *variable, const char *value)
{
    struct rs_config config;
    struct rs_bootstrap bootstrap = {0};
    const char *before = getenv(variable);
    char saved[64];
    snprintf(saved, sizeof(saved), "%s", before ? before : "");
    setenv(variable, value, 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_int_equal(rs_bootstrap_env(&bootstrap, &config), RS_E_CONFIG);
    assert_non_null(strstr(rs_error_slot()->text, variable));
    assert_non_null(strstr(rs_error_slot()->text, value));
    if (before)
        setenv(variable, saved, 1);
    else
        unsetenv(variable);
}

static void bad_numbers_are_errors_naming_variable_and_value(void **state)
{
    (void)state;
    torch_environment(2, true);
    setenv("RANK", "0", 1);
    expect_config_error("RANK", "2");
    expect_config_error("RANK", "-1");
    expect_config_error("RANK", "zero");
    expect_config_error("WORLD_SIZE", "0");
    expect_config_error("WORLD_SIZE", "99999999999");
    expect_config_error("MASTER_PORT", "65536");
    expect_config_error("LOCAL_WORLD_SIZE", "2x");
    clear_environment(NULL);
    setenv("ROCSHMEM_RUN_SOCKET", "nobody", 1);
    setenv("ROCSHMEM_RUN_RANK", "0", 1);
    setenv("ROCSHMEM_RUN_SIZE", "2", 1);
    expect_config_error("ROCSHMEM_RUN_RANK", "2");
    expect_config_error("ROCSHMEM_RUN_SIZE", " ");
}

static void a_launcher_that_is_gone_is_an_error(void **state)
{
    (void)state;
    struct rs_config config;
    struct rs_bootstrap bootstrap = {0};
    setenv("ROCSHMEM_RUN_SOCKET", "rocshmem-test-nobody", 1);
    setenv("ROCSHMEM_RUN_RANK", "0", 1);
    setenv("ROCSHMEM_RUN_SIZE", "2", 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_int_equal(rs_bootstrap_env(&bootstrap, &config), RS_E_BOOTSTRAP);
    assert_non_null(strstr(rs_error_slot()->text, "rocshmem-test-nobody"));
}

static void expect_missing(const char *words, int pe)
{
    struct rs_config config;
    struct rs_bootstrap bootstrap = {0};
    setenv("ROCSHMEM_BOOTSTRAP_TIMEOUT", "200ms", 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_int_equal(rs_bootstrap_env(&bootstrap, &config), RS_E_BOOTSTRAP);
    if (!strstr(rs_error_slot()->text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, rs_error_slot()->text);
    assert_int_equal(rs_error_slot()->pe, pe);
}

static void a_missing_rank_is_named_at_the_deadline(void **state)
{
    (void)state;
    int fds = count_descriptors(), threads = count_threads();
    for (int one_host = 0; one_host < 2; one_host++) {
        torch_environment(2, one_host);
        setenv("RANK", "0", 1);
        expect_missing("rank 1 of 2 did not come within 0.2", 1);
        setenv("RANK", "1", 1);
        expect_missing("rank 1 of 2 (torchrun) did not find rank 0 within 0.2", 0);
    }
    assert_int_equal(count_descriptors(), fds);
    assert_true(count_threads_settled(threads) <= threads);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, clear_environment)
    const struct CMUnitTest tests[] = {
        TEST(nothing_set_is_a_job_of_one),
        TEST(torchrun_on_one_host_meets_again_and_again),
        TEST(torch_variables_without_local_size_meet_over_tcp),
        TEST(a_foreign_service_on_a_port_is_skipped),
        TEST(open_mpi_on_one_host_meets),
        TEST(open_mpi_on_several_hosts_says_what_to_do),
        TEST(rocshmem_run_hands_the_unique_id_over),
        TEST(bad_numbers_are_errors_naming_variable_and_value),
        TEST(a_launcher_that_is_gone_is_an_error),
        TEST(a_missing_rank_is_named_at_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
