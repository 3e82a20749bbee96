/* SPDX-License-Identifier: MIT
 *
 * The PEs are a process group of their own, so for a terminal they are in the background, and one that reads
 * from it is stopped with SIGTTIN. When that happens and rocshmem-run is in the foreground, it lends its
 * place: a debugger or a prompt in PE 0 works as without a launcher, and Ctrl-C and Ctrl-Z go straight to the
 * PEs, once. A job that never reads never gets the terminal, so rocshmem-run | less works too. SIGTTOU is
 * blocked in the launcher, which makes the change possible from the background.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "run_terminal.h"

static pid_t foreground(struct run_terminal *terminal)
{
    if (terminal->fd < 0) terminal->fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return terminal->fd < 0 ? -1 : tcgetpgrp(terminal->fd);
}

static bool lend(struct run_terminal *terminal)
{
    if (foreground(terminal) != getpgrp()) return false;
    terminal->lent = tcsetpgrp(terminal->fd, terminal->group) == 0;
    return terminal->lent;
}

enum run_stop run_terminal_stopped(struct run_terminal *terminal, int signal)
{
    if (signal == SIGTTIN || signal == SIGTTOU) {
        if (lend(terminal)) return RUN_STOP_CONTINUE;
        /* Already lent: another PE's report of the same stop. No terminal: not ours to cure. Else we are a
         * background job ourselves, and stop as one that reads does. */
        pid_t who = foreground(terminal);
        return who < 0 || who == terminal->group ? RUN_STOP_IGNORE : RUN_STOP_US;
    }
    if (signal == SIGTSTP && terminal->lent && foreground(terminal) == terminal->group) {
        kill(0,
             SIGTSTP); /* Ctrl-Z went to the PEs only: the rest of our pipeline, and we, shall have it too */
        return RUN_STOP_IGNORE;
    }
    return RUN_STOP_IGNORE;
}

void run_terminal_continued(struct run_terminal *terminal)
{
    if (terminal->lent) lend(terminal); /* after fg; after bg it is the shell's, and stays so */
}

void run_terminal_close(struct run_terminal *terminal)
{
    if (terminal->lent && foreground(terminal) == terminal->group) tcsetpgrp(terminal->fd, getpgrp());
    if (terminal->fd >= 0) close(terminal->fd);
    terminal->fd = -1;
}
