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
#include "base/wait.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/launchers.h"
#include "bootstrap/link.h"
#include "entries.h"
#include "ports.h"

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
                                                 "PMIX_RANK",
                                                 "PMI_FD",
                                                 "PMI_JOBID",
                                                 "PMI_RANK",
                                                 "PMI_SIZE",
                                                 "PMI_LOCAL_SIZE",
                                                 "MPI_LOCALNRANKS",
                                                 "SLURM_PROCID",
                                                 "SLURM_STEP_NUM_TASKS",
                                                 "SLURM_STEP_NUM_NODES",
                                                 "SLURM_STEP_NODELIST",
                                                 "SLURM_JOB_ID",
                                                 "SLURM_STEP_ID",
                                                 "FLUX_JOB_ID",
                                                 "FLUX_TASK_RANK",
                                                 "FLUX_JOB_SIZE",
                                                 "FLUX_JOB_NNODES",
                                                 "PALS_APID",
                                                 "PALS_RANKID",
                                                 "PALS_LOCAL_SIZE",
                                                 "ROCSHMEM_MASTER_ADDR",
                                                 "ROCSHMEM_MASTER_PORT",
                                                 "ROCSHMEM_LAUNCHER",
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
    assert_non_null(strstr(rs_error_slot()->text, "rocshmem-run --hosts"));
}

static void slurm_environment(int nranks, int n_nodes)
{
    clear_environment(NULL);
    set_number("SLURM_STEP_NUM_TASKS", nranks);
    set_number("SLURM_STEP_NUM_NODES", n_nodes);
    set_number("SLURM_JOB_ID", (int)getpid());
    setenv("SLURM_STEP_ID", "0", 1);
    setenv("SLURM_STEP_NODELIST", n_nodes == 1 ? "node7" : "localhost,node[8-9]", 1);
}

static void slurm_on_one_host_and_on_several_meets(void **state)
{
    (void)state;
    slurm_environment(3, 1);
    run_job("SLURM_PROCID", "Slurm", 3, 5);
    slurm_environment(4, 3);
    run_job("SLURM_PROCID", "Slurm", 4, 5);
    setenv("SLURM_STEP_NODELIST", "no-such-host[1-2]", 1);
    setenv("ROCSHMEM_MASTER_ADDR", "127.0.0.1", 1);
    set_number("ROCSHMEM_MASTER_PORT", free_port());
    run_job("SLURM_PROCID", "Slurm", 4, 2);
}

static void flux_and_pals_on_one_host_meet(void **state)
{
    (void)state;
    setenv("FLUX_JOB_ID", "f2Yxnb3R", 1);
    set_number("FLUX_JOB_SIZE", 3);
    set_number("FLUX_JOB_NNODES", 1);
    run_job("FLUX_TASK_RANK", "Flux", 3, 3);
    clear_environment(NULL);
    setenv("PALS_APID", "8b7c-11", 1);
    set_number("PMI_SIZE", 3);
    set_number("PMI_LOCAL_SIZE", 3);
    run_job("PALS_RANKID", "PALS", 3, 3);
}

static void expect_unsupported(const char *words)
{
    struct rs_config config;
    struct rs_bootstrap bootstrap = {0};
    assert_int_equal(rs_config_read(&config), 0);
    assert_int_equal(rs_bootstrap_env(&bootstrap, &config), RS_E_UNSUPPORTED);
    assert_non_null(strstr(rs_error_slot()->text, words));
    assert_non_null(strstr(rs_error_slot()->text, "unique id"));
}

static void launchers_without_a_channel_name_the_remedy(void **state)
{
    (void)state;
    setenv("FLUX_JOB_ID", "f2Yxnb3R", 1);
    setenv("FLUX_TASK_RANK", "0", 1);
    set_number("FLUX_JOB_SIZE", 4);
    set_number("FLUX_JOB_NNODES", 2);
    expect_unsupported("-o pmi=simple");
    clear_environment(NULL);
    setenv("PALS_APID", "8b7c-11", 1);
    setenv("PALS_RANKID", "0", 1);
    set_number("PMI_SIZE", 4);
    set_number("PMI_LOCAL_SIZE", 2);
    expect_unsupported("--pmi=pmix");
}

static void the_inner_launcher_is_taken(void **state)
{
    (void)state;
    slurm_environment(2, 1);
    setenv("SLURM_PROCID", "0", 1);
    assert_string_equal(rs_bootstrap_detect(), "Slurm");
    setenv("PMI_FD", "7", 1); /* hydra, started by srun */
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "8", 1);
    assert_string_equal(rs_bootstrap_detect(), "PMI");
    char id[32];
    snprintf(id, sizeof(id), "%d.0", (int)getpid());
    setenv("PMI_JOBID", id, 1); /* srun's own */
    assert_string_equal(rs_bootstrap_detect(), "Slurm");
    setenv("PMIX_NAMESPACE", "prterun-1@1", 1);
    setenv("PMIX_RANK", "0", 1);
    unsetenv("PMI_FD");
    assert_string_equal(rs_bootstrap_detect(), "PMIx");
    setenv("PMIX_NAMESPACE", "slurm.pmix.5.0", 1);
    assert_string_equal(rs_bootstrap_detect(), "Slurm");
    setenv("RANK", "0", 1);
    setenv("WORLD_SIZE", "2", 1);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", "29500", 1);
    assert_string_equal(rs_bootstrap_detect(), "torchrun");
    setenv("ROCSHMEM_LAUNCHER", "slurm", 1);
    assert_string_equal(rs_bootstrap_detect(), "Slurm");
}

/* ---- PMI: the server is this process ---- */

/* Answers one client's lines until it closes, as hydra does; puts and gets share value. */
static void serve_pmi(int fd, char *value, int vallen)
{
    char line[2048];
    size_t n = 0;
    while (n < sizeof(line) - 1 && recv(fd, line + n, 1, 0) == 1) {
        if (line[n++] != '\n') continue;
        char answer[2048], *at = strstr(line, "value=");
        line[n] = '\0';
        n = 0;
        if (strncmp(line, "cmd=init", 8) == 0)
            snprintf(answer, sizeof(answer), "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
        else if (strncmp(line, "cmd=get_maxes", 13) == 0)
            snprintf(answer, sizeof(answer), "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=%d\n",
                     vallen);
        else if (strncmp(line, "cmd=get_my", 10) == 0)
            snprintf(answer, sizeof(answer), "cmd=my_kvsname kvsname=kvs_1\n");
        else if (strncmp(line, "cmd=put", 7) == 0 && at) {
            snprintf(value, 1024, "%.*s", (int)strcspn(at + 6, "\n"), at + 6);
            snprintf(answer, sizeof(answer), "cmd=put_result rc=0 msg=success\n");
        } else if (strncmp(line, "cmd=barrier_in", 14) == 0)
            snprintf(answer, sizeof(answer), "cmd=barrier_out\n");
        else if (strncmp(line, "cmd=get", 7) == 0)
            snprintf(answer, sizeof(answer), "cmd=get_result rc=0 msg=success value=%s\n", value);
        else if (strncmp(line, "cmd=finalize", 12) == 0)
            snprintf(answer, sizeof(answer), "cmd=finalize_ack\n");
        else
            snprintf(answer, sizeof(answer), "cmd=what\n");
        assert_int_equal(rs_os_send_all(fd, answer, strlen(answer), UINT64_MAX), 0);
    }
}

/* Rank 1 of 2 under a server whose store holds this value; what init says. */
static void expect_pmi_error(const char *stored, int vallen, const char *words)
{
    int ends[2], status;
    char value[1024];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    set_number("PMI_FD", ends[1]);
    set_number("PMI_SIZE", 2);
    set_number("PMI_RANK", 1);
    pid_t pid = fork();
    if (pid == 0) {
        struct rs_config config;
        struct rs_bootstrap bootstrap = {0};
        close(ends[0]);
        int rc = rs_config_read(&config) < 0 ? 0 : rs_bootstrap_env(&bootstrap, &config);
        bool good = rc == RS_E_BOOTSTRAP && strstr(rs_error_slot()->text, words);
        if (!good) fprintf(stderr, "%d: %s\n", rc, rs_error_slot()->text);
        _exit(good ? 0 : 1);
    }
    close(ends[1]);
    snprintf(value, sizeof(value), "%s", stored);
    if (vallen) serve_pmi(ends[0], value, vallen);
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void pmi_servers_that_fail_are_named_with_what_they_said(void **state)
{
    (void)state;
    expect_pmi_error("-", 1024, "rank 0 could not serve");
    expect_pmi_error("something else", 1024, "no unique id");
    expect_pmi_error("-", 100, "values of 100 letters");
    expect_pmi_error("-", 0, "did not answer cmd=init");
    setenv("PMI_FD", "999", 1);
    setenv("PMI_RANK", "0", 1);
    struct rs_config config;
    struct rs_bootstrap bootstrap = {0};
    assert_int_equal(rs_config_read(&config), 0);
    assert_int_equal(rs_bootstrap_env(&bootstrap, &config), RS_E_BOOTSTRAP);
    assert_non_null(strstr(rs_error_slot()->text, "PMI_FD is 999, which is not open"));
}

/* ---- strangers at rank 0's offer ---- */

/* Bytes got back (0: closed without one), or -1: nobody listens, or the connection just hangs. */
static int offer_with(const char *bytes, size_t nbytes, int port)
{
    char answer;
    struct sockaddr_in to = loopback(port);
    uint64_t deadline_ns = rs_os_now_ns() + 20000000000u;
    int fd = rs_link_connect((struct sockaddr *)&to, sizeof(to), deadline_ns), got = 0;
    if (fd < 0) return -1;
    if (nbytes && rs_os_send_all(fd, bytes, nbytes, deadline_ns) == 0) {
        int rc = rs_link_receive(fd, &answer, 1, deadline_ns);
        got = rc == 0 ? 1 : rc == RS_E_TIMEOUT ? -1 : 0;
    }
    close(fd);
    return got;
}

/* A port scanner, an HTTP client and a wrong cookie come before rank 1: none gets a byte, and the job meets. */
static void strangers_at_the_offer_get_nothing_and_stop_nobody(void **state)
{
    (void)state;
    static const char http[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const uint32_t wrong[4] = {0x42505352u, 1, 7, 9}; /* magic and version of an ask, with another cookie */
    torch_environment(2, false);
    int port = (int)strtol(getenv("MASTER_PORT"), NULL, 10) + 1;
    pid_t first = start_pe("RANK", "torchrun", 0, 2, 1);
    uint64_t deadline_ns = rs_os_now_ns() + 20000000000u;
    int got;
    while ((got = offer_with("", 0, port)) < 0) {
        assert_true(rs_os_now_ns() < deadline_ns);
        rs_wait_sleep_ns(1000000);
    }
    for (int i = 0; i < 20; i++) {
        assert_int_equal(offer_with("", 0, port), 0);
        assert_int_equal(offer_with(http, sizeof(http) - 1, port), 0);
        assert_int_equal(offer_with((const char *)wrong, sizeof(wrong), port), 0);
    }
    pid_t second = start_pe("RANK", "torchrun", 1, 2, 1);
    await_pe(first);
    await_pe(second);
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
        TEST(slurm_on_one_host_and_on_several_meets),
        TEST(flux_and_pals_on_one_host_meet),
        TEST(launchers_without_a_channel_name_the_remedy),
        TEST(the_inner_launcher_is_taken),
        TEST(pmi_servers_that_fail_are_named_with_what_they_said),
        TEST(strangers_at_the_offer_get_nothing_and_stop_nobody),
        TEST(rocshmem_run_hands_the_unique_id_over),
        TEST(bad_numbers_are_errors_naming_variable_and_value),
        TEST(a_launcher_that_is_gone_is_an_error),
        TEST(a_missing_rank_is_named_at_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
