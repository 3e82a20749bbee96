/* SPDX-License-Identifier: MIT
 *
 * What rocshmem-run says about how its PEs ended, and the status it exits with.
 */
#ifndef ROCSHMEM_RUN_VERDICT_H
#define ROCSHMEM_RUN_VERDICT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "run_options.h"
#include "run_output.h"

struct run_pe {
    pid_t pid;
    bool running;
    bool news;        /* it has ended, and nobody was told yet */
    int code, status; /* once it has ended: CLD_EXITED, CLD_KILLED or CLD_DUMPED; exit status or signal */
    uint64_t ended_ns;
};

struct run_verdict {
    const struct run_options *options; /* borrowed, like output and pes */
    struct run_output *output;
    const struct run_pe *pes;
    uint64_t began_ns;
    int status;             /* to exit with */
    bool is_fixed;          /* status has another reason than a PE's failure: PEs' ends are no news */
    int first;              /* the PE that failed first; -1 none */
    uint64_t held_until_ns; /* its failure is told then, if not sooner; 0: told, or nothing to tell */
};

/* "exited with status 2 after 1.2 s" */
void run_verdict_describe(const struct run_verdict *verdict, const struct run_pe *pe, char *text,
                          size_t nbytes);
/* A PE ended. Whether it is the first that failed. expected: by a signal we passed on, so there is nobody to
 * blame. */
bool run_verdict_ended(struct run_verdict *verdict, int pe, bool expected);
/* The status is this one, whatever the PEs do; the first call counts. */
void run_verdict_fix(struct run_verdict *verdict, int status);
/* Tell what is due. */
void run_verdict_tick(struct run_verdict *verdict, uint64_t now_ns);
/* All PEs have ended. */
void run_verdict_end(struct run_verdict *verdict);

/* "PE 3" or "PEs 0 2 3", those that run; at most 16, then "…". */
void run_verdict_list(const struct run_verdict *verdict, char *text, size_t nbytes);

#endif
