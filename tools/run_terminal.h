/* SPDX-License-Identifier: MIT
 *
 * The terminal, between rocshmem-run and its PEs.
 */
#ifndef ROCSHMEM_RUN_TERMINAL_H
#define ROCSHMEM_RUN_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

struct run_terminal {
    pid_t group; /* of the PEs */
    int fd;      /* the controlling terminal; -1 until it is needed */
    bool lent;   /* the PEs are in the foreground in our place */
};

/* What a PE that the terminal stopped needs: nothing, to be continued, or that we stop as well. */
enum run_stop { RUN_STOP_IGNORE, RUN_STOP_CONTINUE, RUN_STOP_US };

/* A PE was stopped by this signal. */
enum run_stop run_terminal_stopped(struct run_terminal *terminal, int signal);
/* We were stopped, and go on. */
void run_terminal_continued(struct run_terminal *terminal);
/* Take it back, if it is still with the PEs. */
void run_terminal_close(struct run_terminal *terminal);

#endif
