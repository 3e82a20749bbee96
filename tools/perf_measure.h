/* SPDX-License-Identifier: MIT
 *
 * How a benchmark of symmetric memory is timed: iteration counts that calibrate themselves, the same on every
 * PE, then several repetitions, then the median with its spread. Knows no communication library: the program
 * hands in the three collective calls it needs (struct perf_job), so rocshmem-perf and bench/shmem_bench.c
 * share this file, the latter against every library.
 */
#ifndef ROCSHMEM_TOOLS_PERF_MEASURE_H
#define ROCSHMEM_TOOLS_PERF_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who runs a case; the other PEs wait in a barrier meanwhile. */
enum perf_who {
    PERF_ONE,  /* PE 0, towards PE 1 (towards itself in a job of one PE) */
    PERF_PAIR, /* PEs 0 and 1; left out in a job of one PE */
    PERF_ALL   /* every PE; the time of the slowest counts */
};

/* Which sizes a case is timed at, and whether bytes a second mean anything. */
enum perf_sizes {
    PERF_UNSIZED,   /* once, with nbytes 8 */
    PERF_SIZED,     /* each size */
    PERF_CALL_SIZED /* each size, but the bytes move outside the time */
};

/* One thing to time. */
struct perf_case {
    const char *op;        /* the name in tables and --ops */
    const char *group;     /* --ops takes it for all of its cases */
    const char *note;      /* what one operation is, where the name does not say it; NULL: it does */
    enum perf_who who;     /* who calls run */
    enum perf_sizes sized; /* which sizes */
    int per_iteration;     /* operations in one iteration of run */
    uint64_t (*run)(size_t nbytes, long n); /* n iterations; returns the ns in them that do not count */
};

/* The job that measures. All three calls are collective. */
struct perf_job {
    int me, n_pes;
    void (*barrier)(void);
    long (*share)(long value);    /* the value that PE 0 gave, on every PE */
    double (*slowest)(double ns); /* the largest value that a PE gave, on PE 0 */
};

struct perf_plan {
    int reps;        /* timed repetitions, 1..PERF_REPS_MAX */
    uint64_t min_ns; /* length of one repetition */
};

enum { PERF_REPS_MAX = 99 };

/* ns for one operation, over the repetitions; valid on PE 0. */
struct perf_result {
    double median_ns, min_ns, max_ns;
    long n; /* iterations in a repetition */
    int reps;
};

/** Monotonic time in ns. */
uint64_t perf_now(void);

/** Median, least and largest of count values (1..PERF_REPS_MAX), which are sorted in place. n is left alone.
 */
void perf_summarise(double *values, int count, struct perf_result *result);

/** Time one case at one size. Collective. false where the job has too few PEs for it: nothing ran. */
bool perf_measure(const struct perf_job *job, const struct perf_case *c, size_t nbytes,
                  const struct perf_plan *plan, struct perf_result *result);

/** Read "64", "4K", "1M", "2G" (powers of 1024). false for anything else, and for 0. */
bool perf_parse_nbytes(const char *text, size_t *nbytes_out);

/** Is name an item of a comma-separated list? A NULL list has every name. */
bool perf_list_has(const char *list, const char *name);

/* Keep the compiler from dropping or merging memory traffic across this point. */
static inline void perf_clobber(void)
{
    __asm__ volatile("" ::: "memory");
}

#endif
