/* SPDX-License-Identifier: MIT
 *
 * How rocshmem-run starts a PE, and what makes sure that none outlives it.
 */
#ifndef ROCSHMEM_RUN_SPAWN_H
#define ROCSHMEM_RUN_SPAWN_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "run_options.h"

enum { RUN_CPU_WORDS = 8192 / (8 * sizeof(unsigned long)) }; /* as many cores as Linux can be built for */

/* What all PEs of a job share. Zeroed, with port_fd and null_fd -1, it may be closed. */
struct run_spawn {
    pid_t launcher;
    pid_t group;            /* of all PEs; the guardian leads it, so the number stays ours */
    int guard_fd;           /* the guardian reads from the other end: our death is its end of file */
    int null_fd;            /* stdin of all but PE 0 */
    int port_fd;            /* keeps MASTER_PORT ours: bound, never listening; -1 without */
    char *path;             /* owned: the program's file */
    char **argv;            /* borrowed */
    char **envp;            /* owned; its strings are the environment's, argv's, and those below */
    char *texts[12];        /* owned: the job's own variables */
    char rank_texts[5][96]; /* the PE's own, rewritten for each PE */
    sigset_t mask;          /* as we were started with */
    struct rlimit nofile;   /* the same; its value for the PEs, while we may have raised ours */
    int n_pes;
    int first_pe, n_nodes, n_job;           /* as in the options */
    int stdin_fd;                           /* of this PE; -1: ours for PE 0, null_fd for the others */
    int n_cpus;                             /* 0: no pinning */
    int *cpus;                              /* owned: the cores that this process may use */
    unsigned long cpu_words[RUN_CPU_WORDS]; /* the PE's cores, rewritten for each PE */
};

/* Start the guardian: a process that leads the PEs' group and kills it once the launcher is gone. mask is
 * that of the PEs. 0, or -1 with errno. To be called before there are threads. */
int run_spawn_guard(struct run_spawn *spawn, const sigset_t *mask);
/* Make what all PEs share. NULL, or what could not be done, with errno. */
const char *run_spawn_prepare(struct run_spawn *spawn, const struct run_options *options,
                              const char *socket_name);
/* Find the program, after prepare. 0, or the status to exit with, and reason_out why. */
int run_spawn_find(struct run_spawn *spawn, const char **reason_out);
/* Start a PE with these as its stdout and stderr (-1: ours). Its pid, or -1 with errno and whether it was the
 * program that could not be executed. */
pid_t run_spawn_pe(struct run_spawn *spawn, int pe, const int outputs[2], bool *is_exec_out);
void run_spawn_close(struct run_spawn *spawn);

/* SIGKILL to every child that this process has now. As a subreaper it has those of PEs that are gone. */
void run_spawn_kill_children(void);

#endif
