/* SPDX-License-Identifier: MIT
 *
 * Hosts that end, freeze, or say what nobody understands: who hears of it, when, and who is not blamed. Hosts that are
 * to be killed or stopped are forked processes; those by hand have every byte decided here.
 */
#include "vigil_hosts.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* ---- hosts as processes ---- */

/* A process with one host in it. It writes what happens as lines into out, and does what it reads from in. */
struct process {
    pid_t pid;
    int in, out; /* our ends */
};

static int report_fd;

static void report_news(struct host *host, const struct rs_news *news)
{
    char line[300];
    (void)host;
    int n = snprintf(line, sizeof(line), "%s %d %d %.*s\n", news->kind == RS_NEWS_LOST ? "LOST" : "NEWS",
                     news->host, news->ended, news->kind == RS_NEWS_LOST ? 200 : (int)news->nbytes,
                     news->kind == RS_NEWS_LOST ? news->text : (const char *)news->bytes);
    if (write(report_fd, line, (size_t)n) != n) _exit(3);
}

/* What a host does when told: t tells, s stops, e ends at once, f forks a child that stays. */
static void obey(struct host *host, int in)
{
    char word;
    while (read(in, &word, 1) == 1) {
        if (word == 't') {
            rs_vigil_tell(host->vigil, RS_NEWS_BROKEN, "told", 4);
            if (!rs_vigil_flush(host->vigil, rs_os_now_ns() + LONG_NS)) _exit(4);
        } else if (word == 's') {
            free_host(host);
            exit(0);
        } else if (word == 'e') {
            _exit(5);
        } else if (word == 'f') {
            if (fork() == 0) {
                prctl(PR_SET_PDEATHSIG, 0);
                for (;;) pause();
            }
        }
        if (write(report_fd, "DONE\n", 5) != 5) _exit(3);
    }
    _exit(6);
}

static void host_process(int index, int n, uint64_t timeout_ns, int in)
{
    unsigned char address[RS_VIGIL_ADDRESS_NBYTES];
    struct host *host = make_host(index, n, timeout_ns, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    host->on_news = report_news;
    if (index == 0 && write(report_fd, host->address, sizeof(address)) != sizeof(address)) _exit(3);
    if (index != 0 && read(in, host->address, sizeof(address)) != sizeof(address)) _exit(3);
    int rc = rs_vigil_start(host->vigil, &host->options);
    if (write(report_fd, rc == 0 ? "READY\n" : "WRONG\n", 6) != 6) _exit(3);
    obey(host, in);
}

static struct process start_process(int index, int n, uint64_t timeout_ns)
{
    struct process process;
    int in[2], out[2];
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    fflush(NULL);
    process.pid = fork();
    assert_true(process.pid >= 0);
    if (process.pid == 0) {
        close(in[1]);
        close(out[0]);
        report_fd = out[1];
        host_process(index, n, timeout_ns, in[0]);
    }
    close(in[0]);
    close(out[1]);
    process.in = in[1];
    process.out = out[0];
    return process;
}

/* The next line that a host writes; "" when it writes none until deadline_ns. */
static const char *next_line(struct process *process, uint64_t deadline_ns)
{
    static char line[400];
    size_t n = 0;
    while (n < sizeof(line) - 1) {
        struct pollfd ready = {.fd = process->out, .events = POLLIN};
        uint64_t now = rs_os_now_ns();
        if (now >= deadline_ns || poll(&ready, 1, (int)((deadline_ns - now) / MS) + 1) <= 0) break;
        if (read(process->out, line + n, 1) != 1 || line[n++] == '\n') break;
    }
    line[n] = '\0';
    return line;
}

static void expect_line(struct process *process, const char *begins)
{
    const char *line = next_line(process, rs_os_now_ns() + LONG_NS);
    if (strncmp(line, begins, strlen(begins)) != 0)
        fail_msg("\"%s\" where \"%s\" was expected", line, begins);
}

static void start_processes(struct process *processes, int n, uint64_t timeout_ns)
{
    unsigned char address[RS_VIGIL_ADDRESS_NBYTES];
    for (int i = 0; i < n; i++) processes[i] = start_process(i, n, timeout_ns);

    for (size_t at = 0; at < sizeof(address);) {
        ssize_t got = read(processes[0].out, address + at, sizeof(address) - at);
        assert_true(got > 0);
        at += (size_t)got;
    }
    for (int i = 1; i < n; i++)
        assert_int_equal(write(processes[i].in, address, sizeof(address)), sizeof(address));
    for (int i = 0; i < n; i++) expect_line(&processes[i], "READY");
}

static void command(struct process *process, char word)
{
    assert_int_equal(write(process->in, &word, 1), 1);
}

static int reap(struct process *process)
{
    int status = -1;
    assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
    close(process->in);
    close(process->out);
    return status;
}

/* Orderly, in the order of their numbers; nobody has anything to say any more. */
static void stop_processes(struct process *processes, int n, int except)
{
    for (int i = 0; i < n; i++) {
        if (i == except) continue;
        command(&processes[i], 's');
        const char *line = next_line(&processes[i], rs_os_now_ns() + LONG_NS);
        if (*line) fail_msg("host %d: %s", i, line);
        int status = reap(&processes[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* All but victim hear that it is lost, from now on within the time given. */
static void expect_lost(struct process *processes, int n, int victim, int ended, const char *words,
                        uint64_t ns)
{
    uint64_t start_ns = rs_os_now_ns();
    char begins[32];
    snprintf(begins, sizeof(begins), "LOST %d %d ", victim, ended);
    for (int i = 0; i < n; i++) {
        if (i == victim) continue;
        const char *line = next_line(&processes[i], start_ns + LONG_NS);
        uint64_t took_ns = rs_os_now_ns() - start_ns;
        if (strncmp(line, begins, strlen(begins)) != 0 || !strstr(line, words))
            fail_msg("host %d heard \"%s\" where \"%s... %s\" was expected", i, line, begins, words);
        if (took_ns > ns) fail_msg("host %d heard it after %llu ms", i, (unsigned long long)(took_ns / MS));
    }
}

static void a_host_that_is_killed_is_lost_at_once(void **state)
{
    (void)state;
    enum { N = 4 };
    for (int victim = 1; victim < N; victim += 2) {
        struct process hosts[N];
        start_processes(hosts, N, LONG_NS);
        kill(hosts[victim].pid, SIGKILL);
        expect_lost(hosts, N, victim, 1, "closed its connection", SECOND);
        reap(&hosts[victim]);
        stop_processes(hosts, N, victim);
    }
}

static void the_first_host_that_is_killed_is_lost_at_once(void **state)
{
    (void)state;
    enum { N = 4 };
    struct process hosts[N];
    start_processes(hosts, N, 0);
    kill(hosts[0].pid, SIGKILL);
    expect_lost(hosts, N, 0, 1, "closed its connection", SECOND);
    reap(&hosts[0]);
    stop_processes(hosts, N, 0);
}

static void an_end_without_stop_is_a_loss_and_what_was_told_before_is_heard_first(void **state)
{
    (void)state;
    enum { N = 3 };
    for (int victim = 0; victim < 2; victim++) {
        struct process hosts[N];
        start_processes(hosts, N, LONG_NS);
        command(&hosts[victim], 't');
        command(&hosts[victim], 'e');
        for (int i = 0; i < N; i++) {
            if (i == victim) continue;
            char told[32];
            snprintf(told, sizeof(told), "NEWS %d 0 told", victim);
            expect_line(&hosts[i], told);
        }
        /* ThreadSanitizer ends a process one second late. */
        expect_lost(hosts, N, victim, 1, "closed its connection", 3 * SECOND);
        reap(&hosts[victim]);
        stop_processes(hosts, N, victim);
    }
}

static void a_child_that_a_host_forked_does_not_hide_its_end(void **state)
{
    (void)state;
    enum { N = 3 };
    for (int victim = 0; victim < 2; victim++) {
        struct process hosts[N];
        start_processes(hosts, N, LONG_NS);
        setpgid(hosts[victim].pid, hosts[victim].pid); /* its child's group too */
        command(&hosts[victim], 'f');
        expect_line(&hosts[victim], "DONE");
        kill(hosts[victim].pid, SIGKILL);
        expect_lost(hosts, N, victim, 1, "closed its connection", SECOND);
        kill(-hosts[victim].pid, SIGKILL);
        reap(&hosts[victim]);
        stop_processes(hosts, N, victim);
    }
}

static void a_frozen_host_is_lost_after_the_time_out_and_not_before(void **state)
{
    (void)state;
    enum { N = 3 };
    for (int victim = 0; victim < 2; victim++) {
        struct process hosts[N];
        start_processes(hosts, N, SECOND);
        rs_wait_sleep_ns(SECOND / 2); /* so that the last sign of life is no welcome */
        kill(hosts[victim].pid, SIGSTOP);
        uint64_t start_ns = rs_os_now_ns();
        for (int i = 0; i < N; i++) {
            if (i == victim) continue;
            const char *line = next_line(&hosts[i], start_ns + 600 * MS);
            if (*line) fail_msg("host %d: %s", i, line);
        }
        /* Time-out, one beat, one look, and a machine with other work. */
        expect_lost(hosts, N, victim, 0, "gave no sign of life for 1 s", 2 * SECOND);
        kill(hosts[victim].pid, SIGKILL);
        reap(&hosts[victim]);
        stop_processes(hosts, N, victim);
    }
}

static void a_host_that_is_stopped_for_less_than_the_time_out_is_not_lost(void **state)
{
    (void)state;
    enum { N = 3 };
    struct process hosts[N];
    start_processes(hosts, N, 2 * SECOND);
    for (int round = 0; round < 12; round++) {
        int victim = round % N;
        kill(hosts[victim].pid, SIGSTOP);
        rs_wait_sleep_ns((50 + 30 * (uint64_t)round) * MS);
        kill(hosts[victim].pid, SIGCONT);
        rs_wait_sleep_ns(20 * MS);
    }
    stop_processes(hosts, N, -1);
}

static void a_job_that_is_stopped_as_a_whole_blames_nobody(void **state)
{
    (void)state;
    enum { N = 3 };
    struct process hosts[N];
    start_processes(hosts, N, SECOND / 2);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) kill(hosts[i].pid, SIGSTOP);
        rs_wait_sleep_ns(SECOND); /* twice the time-out */
        for (int i = N - 1; i >= 0; i--) {
            kill(hosts[i].pid, SIGCONT);
            rs_wait_sleep_ns(40 * MS); /* they do not continue in one moment */
        }
        rs_wait_sleep_ns(100 * MS);
    }
    command(&hosts[1], 't');
    expect_line(&hosts[1], "DONE");
    expect_line(&hosts[0], "NEWS 1 0 told");
    expect_line(&hosts[2], "NEWS 1 0 told");
    stop_processes(hosts, N, -1);
}

/* ---- hosts by hand ---- */

static struct host *first_with(int *fd, uint64_t timeout_ns)
{
    struct host *first = make_host(0, 2, timeout_ns, NULL);
    begin(first);
    *fd = join_by_hand(first, 1);
    has_begun(first);
    return first;
}

static void what_is_not_understood_loses_the_host(void **state)
{
    (void)state;
    static const struct rs_vigil_frame wrong[] = {
        {.kind = 0, .host = 1},
        {.kind = 4711, .host = 1},
        {.kind = RS_NEWS_BROKEN, .host = 1, .nbytes = RS_NEWS_NBYTES + 1},
        {.kind = RS_NEWS_BROKEN, .host = 1, .nbytes = UINT32_MAX},
        {.kind = RS_FRAME_BEAT, .host = 1, .nbytes = 1},
        {.kind = RS_FRAME_BYE, .host = 1, .nbytes = 1},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int fd;
        struct host *first = first_with(&fd, LONG_NS);
        say(fd, &wrong[i], sizeof(wrong[i]));
        assert_non_null(strstr(await_lost(first)->text, "can't be understood"));
        assert_true(is_closed(fd));
        close(fd);
        free_host(first);
    }
}

static void news_in_single_bytes_arrive_whole_and_nobody_speaks_for_another(void **state)
{
    (void)state;
    int fd;
    struct host *first = first_with(&fd, LONG_NS);
    struct {
        struct rs_vigil_frame beat, frame;
        char text[12];
        struct rs_vigil_frame lost, bye;
    } bytes = {.beat = {.kind = RS_FRAME_BEAT},
               .frame = {.kind = RS_NEWS_BROKEN, .host = 0, .nbytes = 12},
               .text = "twelve bytes",
               .lost = {.kind = RS_NEWS_LOST, .host = 0}, /* which only host 0 may say */
               .bye = {.kind = RS_FRAME_BYE}};
    for (size_t i = 0; i < sizeof(bytes); i++) {
        say(fd, (const char *)&bytes + i, 1);
        if (i % 5 == 0) rs_wait_sleep_ns(MS);
    }
    assert_true(is_closed(fd));
    assert_int_equal(atomic_load(&first->n_heard), 1);
    assert_int_equal(first->heard[0].kind, RS_NEWS_BROKEN);
    assert_int_equal(first->heard[0].host, 1);
    assert_string_equal(first->heard[0].text, "twelve bytes");
    close(fd);
    free_host(first);
}

static void a_silent_host_is_lost_and_one_that_beats_is_not(void **state)
{
    (void)state;
    int fd;
    struct host *first = first_with(&fd, SECOND / 2);
    struct rs_vigil_frame beat = {.kind = RS_FRAME_BEAT, .host = 1};
    for (int i = 0; i < 10; i++) {
        say(fd, &beat, sizeof(beat));
        rs_wait_sleep_ns(100 * MS);
    }
    assert_int_equal(atomic_load(&first->n_heard), 0);
    const struct heard *lost = await_lost(first);
    assert_string_equal(lost->text, "gave no sign of life for 0.500 s");
    assert_false(lost->ended);
    assert_true(is_closed(fd));
    close(fd);
    free_host(first);
}

/* Nothing is read here, and the kernel takes no more: told pieces may not pile up. */
static void a_host_that_does_not_read_is_lost(void **state)
{
    (void)state;
    static char large[RS_NEWS_NBYTES];
    int fd;
    struct host *first = first_with(&fd, 0);
    for (int i = 0; atomic_load(&first->n_heard) == 0; i++) {
        assert_in_range(i, 0, 100000);
        rs_vigil_tell(first->vigil, RS_NEWS_DUMP, large, sizeof(large));
        if (i % 64 == 0) rs_wait_sleep_ns(MS);
    }
    assert_non_null(strstr(await_lost(first)->text, "does not read"));
    rs_vigil_flush(first->vigil, rs_os_now_ns() + LONG_NS);
    close(fd);
    free_host(first);
}

static void a_host_that_leaves_while_others_come_fails_the_start(void **state)
{
    (void)state;
    struct host *first = make_host(0, 3, LONG_NS, NULL);
    begin(first);
    int fd = join_by_hand(first, 2);
    close(fd);
    assert_int_equal(pthread_join(first->thread, NULL), 0);
    assert_int_equal(first->rc, RS_E_BOOTSTRAP);
    if (!strstr(first->error.text, "host 2 of 3 closed its connection during start-up"))
        fail_msg("%s", first->error.text);
    free_host(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_that_is_killed_is_lost_at_once),
        cmocka_unit_test(the_first_host_that_is_killed_is_lost_at_once),
        cmocka_unit_test(an_end_without_stop_is_a_loss_and_what_was_told_before_is_heard_first),
        cmocka_unit_test(a_child_that_a_host_forked_does_not_hide_its_end),
        cmocka_unit_test(a_frozen_host_is_lost_after_the_time_out_and_not_before),
        cmocka_unit_test(a_host_that_is_stopped_for_less_than_the_time_out_is_not_lost),
        cmocka_unit_test(a_job_that_is_stopped_as_a_whole_blames_nobody),
        cmocka_unit_test(what_is_not_understood_loses_the_host),
        cmocka_unit_test(news_in_single_bytes_arrive_whole_and_nobody_speaks_for_another),
        cmocka_unit_test(a_silent_host_is_lost_and_one_that_beats_is_not),
        cmocka_unit_test(a_host_that_does_not_read_is_lost),
        cmocka_unit_test(a_host_that_leaves_while_others_come_fails_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
