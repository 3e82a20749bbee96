/* SPDX-License-Identifier: MIT
 *
 * The cases of rocshmem-perf: one table a file, one row an operation of the public header. A row's run
 * function is a plain loop over the call, so what is timed can be read.
 */
#ifndef ROCSHMEM_TOOLS_PERF_CASES_H
#define ROCSHMEM_TOOLS_PERF_CASES_H

#include "perf_measure.h"

/* What the cases work on. The pointers are symmetric and their words zeroed. */
struct perf_arena {
    int me, n_pes, peer;     /* peer: PE 1 for PE 0, PE 0 for every other */
    size_t nbytes_max;       /* the largest size asked for */
    char *source, *dest;     /* n_pes * nbytes_max bytes each */
    char *plain;             /* nbytes_max bytes of private memory */
    int64_t *word;           /* target of atomics */
    uint64_t *signal, *ping; /* signal words: of cases where nobody waits; of the ping-pongs */
    uint64_t *gate;          /* this PE's word that holds its stream */
    void *stream;            /* a host stream, idle between cases */
};
extern struct perf_arena perf;

extern const struct perf_case perf_rma_cases[], perf_collective_cases[], perf_stream_cases[];
extern const size_t perf_n_rma_cases, perf_n_collective_cases, perf_n_stream_cases;

/** End the job with a message when a call that returns a status did not return 0. */
void perf_check(int status, const char *call);

/* A run function whose iterations are one statement. */
#define PERF_LOOP(name, ...)                                                                                 \
    static uint64_t name(size_t nbytes, long n)                                                              \
    {                                                                                                        \
        (void)nbytes;                                                                                        \
        for (long i = 0; i < n; i++) {                                                                       \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
        return 0;                                                                                            \
    }

#endif
