/* SPDX-License-Identifier: MIT
 *
 * rocshmem-run: start N PEs on this host, wait for them, end with their status. rocshmem-run --help says how.
 *
 * One thread and one loop over poll: signals (signalfd), the socket that hands out the unique id, and with
 * --prefix the PEs' output. The unique id itself is served by a thread of librocshmem. What a PE is started
 * with: run_spawn.c; what is said about its end: run_verdict.c; the terminal: run_terminal.c.
 *
 * A job that has to end goes through stages: the others are given a grace period to end by themselves (the
 * runtime tells them), then SIGTERM, two seconds later SIGKILL. After that, or once all PEs are gone,
 * whatever they left behind is killed: their process group, and as a subreaper what left that group.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rocshmem/rocshmem.h>
#include <rocshmem/rocshmemx.h>

#include "run_dump.h"
#include "run_hosts.h"
#include "run_options.h"
#include "run_output.h"
#include "run_rendezvous.h"
#include "run_spawn.h"
#include "run_terminal.h"
#include "run_verdict.h"

#define SECOND_NS 1000000000ull
#define DUMP_NS (SECOND_NS / 2)     /* for the PE that prints the state of all */
#define PAGE_NS (2 * SECOND_NS / 5) /* from Ctrl-C to SIGINT: for the same, while PEs are where they were */
#define TERM_NS (2 * SECOND_NS)     /* from SIGTERM to SIGKILL */
#define KILL_NS (10 * SECOND_NS)    /* a process that the kernel cannot end is left */

#define LEFT_NS (SECOND_NS / 5) /* an exit is told to those in init, unless a killed PE comes to light */

/* Where a job is on its way to the end, in this order. */
enum stage { RUNNING, DUMPING, GRACE, TERMED, KILLED, GIVEN_UP };

struct job {
    struct run_options options;
    struct run_hosts hosts; /* n is 0: the PEs are ours */
    struct run_spawn spawn;
    struct run_rendezvous rendezvous;
    struct run_output output;
    struct run_terminal terminal;
    struct run_verdict verdict;
    struct run_pe *pes; /* owned */
    int n_started, n_running;
    struct pollfd *polls; /* owned: the signals', then the rendezvous', the output's, our input's; twice */
    int signal_fd;
    sigset_t old_mask;
    enum stage stage;
    uint64_t stage_until_ns, timeout_at_ns; /* 0: never */
    int passed_signal;                      /* the last one that asks PEs to end; 0 none */
    uint64_t passed_ns;
    uint64_t interrupt_at_ns; /* SIGINT is passed on then; 0: none waits */
    bool has_left;
    int left_pe; /* the first PE that exited, to be told to those in init at left_until_ns (0: none, or told) */
    uint64_t left_until_ns;
};

static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
enum { N_PASSED_ON = sizeof(passed_on) / sizeof(passed_on[0]) };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* ---- to the PEs ---- */

/* To all of the PEs' group; and to a PE that left it, with the group that it leads, if it does. */
static void signal_pes(struct job *job, int signal)
{
    if (job->hosts.n > 0) { /* ours are ssh's, which would not pass it on */
        if (signal != SIGTSTP && signal != SIGCONT) run_hosts_signal(&job->hosts, signal);
        if (signal != SIGKILL) return;
    }
    kill(-job->spawn.group, signal); /* the guardian has all signals blocked, and dies of SIGKILL only */
    for (int pe = 0; pe < job->n_started; pe++) {
        if (!job->pes[pe].running) continue;
        pid_t pid = job->pes[pe].pid, group = getpgid(pid);
        if (group != job->spawn.group) kill(group == pid ? -pid : pid, signal);
    }
}

static void enter_stage(struct job *job, enum stage stage, uint64_t delay_ns)
{
    if (stage <= job->stage) return; /* only forward */
    job->stage = stage;
    job->stage_until_ns = now_ns() + delay_ns;
}

static void send_term(struct job *job)
{
    signal_pes(job, SIGTERM);
    signal_pes(job, SIGCONT); /* a stopped process handles nothing */
    enter_stage(job, TERMED, TERM_NS);
}

static void send_kill(struct job *job)
{
    if (job->verdict.first < 0 && job->passed_signal)
        run_verdict_fix(&job->verdict, 128 + job->passed_signal);
    signal_pes(job, SIGKILL);
    enter_stage(job, KILLED, KILL_NS);
}

static void say_running(struct job *job, const char *what)
{
    char list[160];
    if (job->options.quiet) return;
    run_verdict_list(&job->verdict, list, sizeof(list));
    run_output_say(&job->output, "%s %s", list, what);
}

static void next_stage(struct job *job)
{
    switch (job->stage) {
    case RUNNING:
        break;
    case DUMPING:
        send_term(job);
        break;
    case GRACE:
        say_running(job, "did not end within the grace period; sending SIGTERM");
        send_term(job);
        break;
    case TERMED:
        say_running(job, "did not end within 2 s of SIGTERM; sending SIGKILL");
        send_kill(job);
        break;
    case KILLED:
        say_running(job, "cannot be killed; leaving it to the system");
        enter_stage(job, GIVEN_UP, 0);
        break;
    case GIVEN_UP:
        break;
    }
}

static void time_out(struct job *job)
{
    char list[160];
    job->timeout_at_ns = 0;
    if (job->stage >= TERMED) return;
    run_verdict_list(&job->verdict, list, sizeof(list));
    if (!job->options.quiet)
        run_output_say(&job->output, "timed out after %g s; still running: %s",
                       (double)job->options.timeout_ns * 1e-9, list);
    run_verdict_fix(&job->verdict, RUN_TIMED_OUT);
    job->stage = RUNNING; /* what the others' grace period was for is over */
    pid_t asked = run_dump_ask(job->pes, job->n_started, job->spawn.group, true);
    if (asked == 0 && !job->options.quiet)
        run_output_say(&job->output,
                       "no PE is in rocshmem_init … rocshmem_finalize: there is no state to print");
    enter_stage(job, DUMPING, asked ? DUMP_NS : 0);
}

/* ---- from the PEs ---- */

/* A stop that the terminal caused concerns us too. */
static void handle_stop(struct job *job, int signal)
{
    switch (run_terminal_stopped(&job->terminal, signal)) {
    case RUN_STOP_IGNORE:
        break;
    case RUN_STOP_CONTINUE:
        signal_pes(job, SIGCONT);
        break;
    case RUN_STOP_US:
        kill(getpid(), SIGSTOP);
        break; /* SIGCONT is passed on when we go on */
    }
}

static void record_end(struct job *job, const siginfo_t *info)
{
    int pe = 0;
    while (pe < job->n_started && (job->pes[pe].pid != info->si_pid || !job->pes[pe].running)) pe++;
    if (pe == job->n_started) return; /* the guardian, or an orphan of a PE */
    struct run_pe *it = &job->pes[pe];
    it->running = false;
    it->news = true;
    it->code = info->si_code;
    it->status = info->si_status;
    it->ended_ns = now_ns();
    job->n_running--;
}

/* Those that wait for a PE in init hear that it will not come. Of an exit they hear later: a killed process may
 * take longer to end than another one that left because of it, and is the one to name. */
static void tell_lost(struct job *job, int pe)
{
    char how[96];
    run_verdict_describe(&job->verdict, &job->pes[pe], how, sizeof(how));
    if (job->options.n_job) return; /* an agent's launcher serves it, and sees the agent's end */
    rocshmemx_serve_lost(&job->rendezvous.uid, job->hosts.n > 0 ? job->hosts.list[pe].first_pe : pe, how);
}

static void tell_left(struct job *job, uint64_t now)
{
    if (job->left_until_ns == 0 || now < job->left_until_ns) return;
    job->left_until_ns = 0;
    tell_lost(job, job->left_pe);
}

static void tell_end(struct job *job, int pe)
{
    struct run_pe *it = &job->pes[pe];
    it->news = false;
    if (it->code != CLD_EXITED) {
        tell_lost(job, pe);
    } else if (!job->has_left) {
        job->has_left = true;
        job->left_pe = pe;
        job->left_until_ns = it->ended_ns + LEFT_NS;
    }
    if (job->hosts.n > 0 && !job->passed_signal && job->stage == RUNNING) {
        char how[96];
        run_verdict_describe(&job->verdict, it, how, sizeof(how));
        run_hosts_ended(&job->hosts, pe, it->code == CLD_EXITED ? it->status : -1, how, &job->output);
    }
    bool expected =
        job->passed_signal && it->ended_ns - job->passed_ns < job->options.grace_ns + TERM_NS + SECOND_NS;
    if (job->terminal.lent && it->code != CLD_EXITED && (it->status == SIGINT || it->status == SIGQUIT))
        expected = true; /* typed by the user */
    if (run_verdict_ended(&job->verdict, pe, expected)) enter_stage(job, GRACE, job->options.grace_ns);
}

/* The kernel gives those that ended in the order in which they were started. But when one was killed and
 * others left because of it, the cause comes first: killed, then failed, then ended well. */
static void tell_ends(struct job *job)
{
    for (int kind = 0; kind < 3; kind++)
        for (int pe = 0; pe < job->n_started; pe++) {
            const struct run_pe *it = &job->pes[pe];
            int its_kind = it->code != CLD_EXITED ? 0 : it->status != 0 ? 1 : 2;
            if (it->news && its_kind == kind) tell_end(job, pe);
        }
}

/* Collect what has ended or stopped. False when there is no child left. */
static bool reap(struct job *job)
{
    int stopped_by = 0;
    bool children = true;
    for (;;) {
        siginfo_t info = {.si_pid = 0};
        if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG) != 0) {
            if (errno == EINTR) continue;
            children = false;
            break;
        }
        if (info.si_pid == 0) break;
        if (info.si_code == CLD_STOPPED)
            stopped_by = info.si_status;
        else
            record_end(job, &info);
    }
    tell_ends(job);
    if (stopped_by != 0) handle_stop(job, stopped_by);
    return children;
}

static void serve_rendezvous(struct job *job)
{
    int status = 0, pe = 0;
    pid_t from = run_rendezvous_serve(&job->rendezvous, &status);
    if (from == 0 || job->verdict.is_fixed) return;
    run_verdict_fix(&job->verdict, status & 0xff);
    enter_stage(job, GRACE, job->options.grace_ns);
    while (pe < job->n_started && job->pes[pe].pid != from) pe++;
    if (job->options.verbose && pe < job->n_started)
        run_output_say(&job->output, "PE %d (pid %d) called rocshmem_global_exit(%d)", pe, (int)from, status);
}

/* ---- signals ---- */

static void stop_with_pes(struct job *job)
{
    uint64_t began = now_ns();
    kill(getpid(), SIGSTOP);
    uint64_t slept = now_ns() - began; /* time limits do not run meanwhile */
    if (job->timeout_at_ns) job->timeout_at_ns += slept;
    if (job->stage_until_ns) job->stage_until_ns += slept;
}

static void pass_on(struct job *job, int signal)
{
    uint64_t now = now_ns();
    bool again = signal == SIGINT && job->passed_signal == SIGINT && now - job->passed_ns < SECOND_NS;
    if (signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP) {
        job->passed_signal = signal;
        job->passed_ns = now;
    }
    if (signal == SIGINT && !again && job->interrupt_at_ns == 0 && job->stage == RUNNING &&
        job->hosts.n == 0 && run_dump_ask(job->pes, job->n_started, job->spawn.group, false)) {
        job->interrupt_at_ns = now + PAGE_NS;
        return;
    }
    job->interrupt_at_ns = 0; /* this one serves for both */
    signal_pes(job, signal);
    if (signal == SIGTERM || signal == SIGHUP || again) enter_stage(job, GRACE, job->options.grace_ns);
    if (signal == SIGTSTP) stop_with_pes(job);
    if (signal == SIGCONT) run_terminal_continued(&job->terminal);
}

static void serve_signals(struct job *job)
{
    struct signalfd_siginfo signals[16];
    for (;;) {
        ssize_t n = read(job->signal_fd, signals, sizeof(signals));
        if (n <= 0) break;
        for (size_t i = 0; i < (size_t)n / sizeof(signals[0]); i++)
            if (signals[i].ssi_signo != SIGCHLD) pass_on(job, (int)signals[i].ssi_signo);
    }
    serve_rendezvous(job); /* a notice was sent before its PE ended, so it is taken before that end */
    reap(job);
}

/* Signals that were ignored when we were started stay so (nohup, background jobs of a script); the PEs
 * inherit that. */
static int open_signals(struct job *job)
{
    sigset_t taken, blocked;
    struct sigaction action;
    sigemptyset(&taken);
    for (int i = 0; i < N_PASSED_ON; i++) {
        if (sigaction(passed_on[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN) continue;
        sigaddset(&taken, passed_on[i]);
    }
    sigaddset(&taken, SIGCHLD);
    signal(SIGCHLD, SIG_DFL); /* inherited SIG_IGN would hide how a PE ended */
    blocked = taken;
    sigaddset(&blocked, SIGPIPE); /* a reader that went away is an error of write */
    sigaddset(&blocked, SIGTTOU); /* we give the terminal back from the background */
    sigprocmask(SIG_BLOCK, &blocked, &job->old_mask);
    job->signal_fd = signalfd(-1, &taken, SFD_NONBLOCK | SFD_CLOEXEC);
    return job->signal_fd < 0 ? -1 : 0;
}

/* ---- the loop ---- */

/* poll, over those entries only that have a descriptor: it refuses more of them than RLIMIT_NOFILE. */
static void poll_open(struct job *job, int n, const struct timespec *limit)
{
    struct pollfd *packed = job->polls + n;
    int n_packed = 0;
    for (int i = 0; i < n; i++) {
        job->polls[i].revents = 0;
        if (job->polls[i].fd >= 0) packed[n_packed++] = job->polls[i];
    }
    int n_ready;
    do {
        n_ready = ppoll(packed, (nfds_t)n_packed, limit, NULL);
    } while (n_ready < 0 && errno == EINTR);
    for (int i = 0; n_ready > 0 && i < n; i++)
        if (job->polls[i].fd >= 0) job->polls[i].revents = (packed++)->revents;
}

static void wait_for_events(struct job *job)
{
    uint64_t deadlines[] = {job->stage_until_ns, job->timeout_at_ns, job->verdict.held_until_ns,
                            job->left_until_ns, job->interrupt_at_ns};
    uint64_t now = now_ns(), next = UINT64_MAX;
    for (size_t i = 0; i < sizeof(deadlines) / sizeof(deadlines[0]); i++)
        if (deadlines[i] != 0 && deadlines[i] < next) next = deadlines[i];
    uint64_t delay = next > now ? next - now : 0;
    struct timespec limit = {(time_t)(delay / SECOND_NS), (long)(delay % SECOND_NS)};

    int n = run_rendezvous_n_polls(&job->rendezvous);
    job->polls[0] = (struct pollfd){.fd = job->signal_fd, .events = POLLIN};
    run_rendezvous_poll(&job->rendezvous, job->polls + 1);
    run_output_poll(&job->output, job->polls + 1 + n);
    n += 1 + run_output_n_polls(&job->output);
    job->polls[n++] = job->n_running > 0 ? run_hosts_poll(&job->hosts) : (struct pollfd){.fd = -1};
    poll_open(job, n, next == UINT64_MAX ? NULL : &limit);
}

static void serve(struct job *job)
{
    wait_for_events(job);
    uint64_t now = now_ns();
    int first = 1 + run_rendezvous_n_polls(&job->rendezvous);
    run_output_serve(&job->output, job->polls + first);
    run_hosts_serve(&job->hosts, &job->polls[first + run_output_n_polls(&job->output)]);
    serve_rendezvous(job);
    if (job->polls[0].revents) serve_signals(job);
    run_verdict_tick(&job->verdict, now);
    tell_left(job, now);
    if (job->n_running == 0) return;
    if (job->interrupt_at_ns && now >= job->interrupt_at_ns) {
        job->interrupt_at_ns = 0;
        signal_pes(job, SIGINT);
    }
    if (job->timeout_at_ns && now >= job->timeout_at_ns) time_out(job);
    if (job->stage != RUNNING && now >= job->stage_until_ns) next_stage(job);
}

/* All PEs are gone: so shall be what they started. */
static void sweep(struct job *job)
{
    uint64_t until = now_ns() + TERM_NS;
    siginfo_t info;
    kill(-job->spawn.group, SIGKILL);
    while (waitid(P_PID, (id_t)job->spawn.group, &info, WEXITED) != 0 && errno == EINTR) {
    }
    job->stage_until_ns = job->timeout_at_ns = 0;
    while (reap(job) && now_ns() < until) {
        run_spawn_kill_children();
        struct signalfd_siginfo signals[16];
        struct pollfd ready = {.fd = job->signal_fd, .events = POLLIN};
        poll(&ready, 1, 20);
        while (read(job->signal_fd, signals, sizeof(signals)) > 0) {
        }
    }
}

/* Write what waits, for as long as somebody reads it; a signal that would have ended us does. */
static void finish_output(struct job *job)
{
    run_output_drain(&job->output);
    run_verdict_end(&job->verdict);
    while (run_output_is_pending(&job->output)) {
        struct signalfd_siginfo signal;
        wait_for_events(job);
        if (read(job->signal_fd, &signal, sizeof(signal)) > 0 && signal.ssi_signo != SIGCHLD) break;
        run_output_serve(&job->output, job->polls + 1 + run_rendezvous_n_polls(&job->rendezvous));
    }
    int error = job->output.sinks[0].error ? job->output.sinks[0].error : job->output.sinks[1].error;
    if (error == 0 || error == EPIPE) return;
    run_output_say(&job->output, "could not write the output: %s", strerror(error));
    if (job->verdict.status == 0) job->verdict.status = RUN_FAILED;
}

/* ---- the beginning ---- */

static int fail(struct job *job, const char *what)
{
    run_output_say(&job->output, "could not %s: %s", what, strerror(errno));
    return RUN_FAILED;
}

static int start_pe(struct job *job, int pe)
{
    int outputs[2];
    bool is_exec = false;
    pid_t pid = -1;
    if (job->hosts.n > 0) {
        if (run_hosts_open(&job->hosts, pe) < 0) return fail(job, "make a host's pipe");
        job->spawn.argv = job->hosts.list[pe].argv;
        job->spawn.stdin_fd = job->hosts.list[pe].control[0];
    } else if (job->options.n_job) {
        job->spawn.stdin_fd = run_agent_input(job->options.first_pe + pe);
    }
    if (run_output_pipes(&job->output, pe, outputs) == 0) {
        pid = run_spawn_pe(&job->spawn, pe, outputs, &is_exec);
        int error = errno;
        for (int i = 0; i < 2; i++)
            if (outputs[i] >= 0) close(outputs[i]);
        errno = error;
    }
    if (job->hosts.n > 0) run_hosts_opened(&job->hosts, pe);
    if (pid < 0) {
        int error = errno;
        if (is_exec)
            run_output_say(&job->output, "cannot execute \"%s\": %s%s", job->spawn.path, strerror(error),
                           error == ENOENT    ? "; is the interpreter of its first line there?"
                           : error == ENOEXEC ? "; is it for this machine, does it begin with #!?"
                                              : "");
        else
            run_output_say(&job->output, "could not start PE %d of %d: %s%s", pe, job->options.n_pes,
                           strerror(error),
                           error == EAGAIN ? "; see ulimit -u, and the pids limit of a container"
                           : error == EMFILE || error == ENFILE ? "; see ulimit -n"
                                                                : "");
        return !is_exec ? RUN_FAILED : error == ENOENT ? RUN_NOT_FOUND : RUN_CANNOT_EXECUTE;
    }
    job->pes[pe] = (struct run_pe){.pid = pid, .running = true};
    job->n_started++;
    job->n_running++;
    if (job->options.verbose)
        run_output_say(&job->output, "PE %d is pid %d", job->options.first_pe + pe, (int)pid);
    return 0;
}

/* All that comes before the first PE. 0, or the status to exit with. */
static int prepare(struct job *job)
{
    const struct run_options *options = &job->options;
    const char *reason;
    if (run_output_open(&job->output, options->first_pe, options->n_pes, options->prefix) < 0)
        return fail(job, "buffer output");
    if (options->chdir && chdir(options->chdir) != 0) {
        run_output_say(&job->output, "could not change to directory \"%s\": %s", options->chdir,
                       strerror(errno));
        return RUN_FAILED;
    }
    if (open_signals(job) < 0) return fail(job, "receive signals");
    if (run_rendezvous_open(&job->rendezvous, options->n_pes) < 0) return fail(job, "make the PEs' socket");
    reason = run_spawn_prepare(&job->spawn, options, job->rendezvous.name);
    if (reason) return fail(job, reason);
    int status = run_spawn_find(&job->spawn, &reason);
    if (status != 0) {
        run_output_say(&job->output, "cannot execute \"%s\": %s", options->command[0], reason);
        return status;
    }
    int n_polls = 2 + run_rendezvous_n_polls(&job->rendezvous) + run_output_n_polls(&job->output);
    job->pes = calloc((size_t)options->n_pes, sizeof(*job->pes));
    job->polls = calloc((size_t)n_polls * 2, sizeof(*job->polls));
    if (!job->pes || !job->polls) return fail(job, "list the PEs");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (run_spawn_guard(&job->spawn, &job->old_mask) < 0) return fail(job, "start the guardian process");
    job->terminal.group = job->spawn.group;
    job->verdict.pes = job->pes;
    job->verdict.began_ns = now_ns();
    return 0;
}

/* Start the PEs, then serve the unique id: they wait for it in the socket's queue, and load their libraries
 * meanwhile. */
static int start(struct job *job)
{
    for (int pe = 0; pe < job->options.n_pes; pe++) {
        int status = start_pe(job, pe);
        if (status != 0) return status;
    }
    if (job->options.n_job && run_agent_listen() < 0) return fail(job, "listen to the launcher");
    if (!job->options.n_job && rocshmemx_serve_uniqueid(job->hosts.n == 0, &job->rendezvous.uid) != 0) {
        rocshmemx_error_t error = {.text = "no reason given"};
        rocshmemx_take_error(&error);
        run_output_say(&job->output, "could not serve the unique id: %s", error.text);
        return RUN_FAILED;
    }
    for (int i = 0; i < job->hosts.n; i++)
        if (run_hosts_tell(&job->hosts, i, &job->rendezvous.uid) < 0 && errno != EPIPE)
            return fail(job, "tell a host what to start");
    if (job->options.timeout_ns) job->timeout_at_ns = job->verdict.began_ns + job->options.timeout_ns;
    return 0;
}

static void run(struct job *job)
{
    int status = start(job);
    if (status != 0) {
        run_verdict_fix(&job->verdict, status);
        send_kill(job);
    }
    while (job->n_running > 0 && job->stage != GIVEN_UP) serve(job);
    run_terminal_close(&job->terminal);
    sweep(job);
    finish_output(job);
}

int main(int argc, char **argv)
{
    struct job job = {.signal_fd = -1,
                      .terminal = {.fd = -1},
                      .rendezvous = {.listener = -1},
                      .spawn = {.stdin_fd = -1, .null_fd = -1, .port_fd = -1, .guard_fd = -1}};
    int fd = open("/dev/null", O_RDWR); /* should 0, 1 or 2 be closed: they must not become something else */
    while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDWR);
    if (fd >= 0) close(fd);
    int status = run_options_parse(&job.options, argc, argv);
    if (status < 0)
        status = job.options.agent ? run_agent_hear(&job.options, &job.rendezvous.uid)
                                   : run_hosts_prepare(&job.hosts, &job.options);
    if (status < 0) {
        job.verdict = (struct run_verdict){.options = &job.options, .output = &job.output, .first = -1};
        status = prepare(&job);
        if (status == 0) {
            run(&job);
            status = job.verdict.status;
        }
    }
    run_hosts_close(&job.hosts);
    run_rendezvous_close(&job.rendezvous);
    run_spawn_close(&job.spawn);
    run_output_close(&job.output);
    free(job.pes);
    free(job.polls);
    free(job.options.env);
    return status;
}
