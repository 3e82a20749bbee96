/* SPDX-License-Identifier: MIT
 *
 * The command line of rocshmem-run.
 */
#ifndef ROCSHMEM_RUN_OPTIONS_H
#define ROCSHMEM_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Exit statuses of the launcher's own, as timeout(1) and env(1) have them. Every other one is a PE's. */
enum { RUN_TIMED_OUT = 124, RUN_FAILED = 125, RUN_CANNOT_EXECUTE = 126, RUN_NOT_FOUND = 127 };

enum { RUN_PES_MAX = 32768 }; /* a slip of the finger should not fork a million processes */

struct run_options {
    int n_pes;
    int n_nodes;                        /* hosts to be played on this one; 0: none */
    const char *hosts, *hostfile, *ssh; /* NULL: not given */
    bool agent;                         /* the rest comes over standard input: run_hosts.h */
    /* Of an agent: the number of its first PE, all PEs of the job (0: no agent), torch's rendezvous. */
    int first_pe, n_job;
    unsigned master_port;
    const char *master;
    bool prefix, bind, no_bind, quiet, verbose;
    uint64_t timeout_ns; /* 0: none */
    uint64_t grace_ns;   /* from the first failure to SIGTERM */
    const char *chdir;   /* borrowed from argv, like all strings here; NULL: stay */
    const char *heap;    /* for ROCSHMEM_HEAP_SIZE; NULL: as inherited */
    const char **env;    /* owned: NAME=VALUE, in the order given */
    int n_env;
    char **command; /* program and arguments, ends with NULL */
};

/* Fill options. -1: go on. Otherwise the status to exit with: help or version was printed (0), or a mistake
 * was (RUN_FAILED). */
int run_options_parse(struct run_options *options, int argc, char **argv);

#endif
