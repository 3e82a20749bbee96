/* SPDX-License-Identifier: MIT
 *
 * Handlers run in any thread at any point: they read the board through one atomic pointer, and call what is written for
 * that: observe/dump.c, rs_job_locate_in_handler, _exit.
 */
#include "pgas/signals.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/wait.h"
#include "observe/dump.h"
#include "observe/gather.h"
#include "pgas/job.h"

#define TELL_NS 500000000u /* how long an exit waits for news of it to be on their way to other hosts */

/* W: install and restore, release. R: handlers, acquire. */
static const struct rs_board *_Atomic board_for_handlers;
static struct sigaction old_dump, old_exit;
static bool dump_installed, exit_installed;

static int exit_signal(void)
{
    return SIGRTMIN + 6;
}

static void on_dump(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    int saved = errno;
    const struct rs_board *board = atomic_load_explicit(&board_for_handlers, memory_order_acquire);
    if (board) rs_job_locate_in_handler(context); /* who prints does not answer by itself meanwhile */
    if (board) rs_page_wish(board, RS_PAGE_ASKED, false);
    errno = saved;
}

/* Sent to one thread, it asks where that is; to the process, as rocshmem-run does, for a page. */
static void on_ask(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    if (info->si_code != SI_TKILL)
        on_dump(number, info, context);
    else if (atomic_load_explicit(&board_for_handlers, memory_order_acquire))
        rs_job_locate_in_handler(context);
    errno = saved;
}

static void on_exit_signal(int number)
{
    (void)number;
    const struct rs_board *board = atomic_load_explicit(&board_for_handlers, memory_order_acquire);
    if (board && atomic_load_explicit(&board->exit->state, memory_order_acquire) == 2)
        _exit(atomic_load_explicit(&board->exit->status, memory_order_relaxed));
}

static bool install(int number, void (*handler)(int), void (*teller)(int, siginfo_t *, void *),
                    struct sigaction *old)
{
    if (sigaction(number, NULL, old) < 0 || old->sa_handler != SIG_DFL) return false;
    struct sigaction action = {.sa_flags = SA_RESTART};
    if (teller) {
        action.sa_sigaction = teller;
        action.sa_flags |= SA_SIGINFO;
    } else {
        action.sa_handler = handler;
    }
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL) == 0;
}

/* Ours alone. Between jobs it is ignored, as after them: a question may be on its way, and would end the process. */
static void answer(bool on)
{
    struct sigaction action = {.sa_flags = SA_RESTART}, old;
    if (sigaction(rs_gather_signal(), NULL, &old) < 0) return;
    bool free = !(old.sa_flags & SA_SIGINFO) && (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN);
    if (!free && old.sa_sigaction != on_ask) return; /* the program's own */
    if (on) {
        action.sa_sigaction = on_ask;
        action.sa_flags |= SA_SIGINFO;
    } else {
        action.sa_handler = SIG_IGN;
    }
    sigemptyset(&action.sa_mask);
    sigaction(rs_gather_signal(), &action, NULL);
}

void rs_signals_install(const struct rs_board *board)
{
    void *frame;
    (void)backtrace(&frame, 1); /* its first call loads libgcc_s: not in a handler */
    atomic_store_explicit(&board_for_handlers, board, memory_order_release);
    dump_installed = install(SIGUSR1, NULL, on_dump, &old_dump);
    exit_installed = install(exit_signal(), on_exit_signal, NULL, &old_exit);
    answer(true);
}

void rs_signals_restore(void)
{
    if (dump_installed) sigaction(SIGUSR1, &old_dump, NULL);
    if (exit_installed) sigaction(exit_signal(), &old_exit, NULL);
    answer(false);
    dump_installed = exit_installed = false;
    atomic_store_explicit(&board_for_handlers, NULL, memory_order_release);
}

void rs_signals_forget(void)
{
    atomic_store_explicit(&board_for_handlers, NULL, memory_order_release);
}

/* The launcher would take the sudden end of a PE for a failure: tell it that this end is meant. */
static void tell_launcher(const char *name, int status)
{
    unsigned char uid[128];
    struct {
        char word[4];
        int32_t status;
    } message = {{'e', 'x', 'i', 't'}, status};
    uint64_t deadline = rs_os_now_ns() + 200000000u;
    int socket = name && name[0] ? rs_os_unix_connect(name) : -1;
    if (socket < 0) return;
    if (rs_os_recv_all(socket, uid, sizeof uid, deadline) == 0)
        (void)rs_os_send_all(socket, &message, sizeof message, deadline);
    close(socket);
}

/* The first PE's vigil tells the other hosts of the exit that is on the board, before its process may end. */
static void await_told(const struct rs_board *board)
{
    const struct rs_exit *exit = board->exit;
    uint64_t deadline_ns = rs_os_now_ns() + TELL_NS;
    while (atomic_load_explicit(&exit->watched, memory_order_acquire) &&
           !atomic_load_explicit(&exit->told, memory_order_acquire) && rs_os_now_ns() < deadline_ns &&
           rs_os_pid_alive(board->vitals[0].pid, board->vitals[0].start_time))
        rs_wait_sleep_ns(200000);
}

void rs_signals_exit_all(const struct rs_board *board, int status, const char *launcher_socket)
{
    uint32_t none = 0;
    if (atomic_compare_exchange_strong(&board->exit->state, &none, 1)) {
        atomic_store_explicit(&board->exit->status, status, memory_order_relaxed);
        atomic_store_explicit(&board->exit->state, 2, memory_order_release);
        tell_launcher(launcher_socket, status);
        await_told(board);
        for (int i = 0; i < board->n_local; i++)
            if (i != board->my_local &&
                atomic_load_explicit(&board->vitals[i].state, memory_order_acquire) == RS_PE_RUNNING &&
                rs_os_pid_alive(board->vitals[i].pid, board->vitals[i].start_time))
                kill(board->vitals[i].pid, exit_signal());
    } else { /* another PE, or thread, was first: its status counts */
        while (atomic_load_explicit(&board->exit->state, memory_order_acquire) != 2) rs_wait_sleep_ns(10000);
        status = atomic_load_explicit(&board->exit->status, memory_order_relaxed);
    }
    fflush(NULL);
    _exit(status);
}
