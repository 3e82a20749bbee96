/* SPDX-License-Identifier: MIT
 *
 * Ask a PE to print the state of all, before a job that hangs is ended.
 */
#ifndef ROCSHMEM_RUN_DUMP_H
#define ROCSHMEM_RUN_DUMP_H

#include "run_verdict.h"

/* Ask one process that is in a job and can run: it prints the state of every PE. The first such PE, else one that a PE
 * started (a PE may be a script around the program). any: else one with a handler of its own for SIGUSR1. Its pid, or 0 if
 * there is none. */
pid_t run_dump_ask(const struct run_pe *pes, int n_pes, pid_t group, bool any);

#endif
