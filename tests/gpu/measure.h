/* SPDX-License-Identifier: MIT
 *
 * How the benchmarks on a GPU measure, ours and the peers': the same loops, one JSON line a row, printed by PE 0,
 * with the median of the PE that is slowest: PEs of one GPU are not alike, one of them serves the others. The
 * program has meet (a barrier of the hosts), sync_stream (until its stream is idle) and slowest (the most that
 * any PE gives). C and C++.
 */
#ifndef TESTS_GPU_MEASURE_H
#define TESTS_GPU_MEASURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIMES = 200, TRAINS = 20, TRAIN_LENGTH = 100 };

static int me, n_pes;
static const char *impl = "rocshmem";
static void meet(void);
static void sync_stream(void);
static double slowest(double mine);

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Medians of n times in microseconds; issue may be NULL. */
static void row(const char *name, size_t nbytes, double *issue, double *total, int n)
{
    if (issue) qsort(issue, (size_t)n, sizeof *issue, ascending);
    qsort(total, (size_t)n, sizeof *total, ascending);
    double all_issue = issue ? slowest(issue[n / 2]) : 0, all_total = slowest(total[n / 2]);
    double all_best = slowest(total[0]);
    if (me != 0) return;
    printf("{\"impl\": \"%s\", \"row\": \"%s\", \"pes\": %d, \"bytes\": %zu, ", impl, name, n_pes, nbytes);
    if (issue) printf("\"issue_us\": %.3f, ", all_issue);
    printf("\"total_us\": %.3f, \"best_us\": %.3f", all_total, all_best);
    if (nbytes >= 1 << 20) printf(", \"GBps\": %.1f", (double)nbytes / all_total * 1e-3);
    printf("}\n");
    fflush(stdout);
}

/* Everyone at once. on_stream: the call returns before the work is done. */
static void measure(const char *name, void (*run)(size_t), size_t nbytes, int times, bool on_stream)
{
    double issue[TIMES], total[TIMES];
    for (int k = -3; k < times; k++) {
        if (k <= 0 || on_stream) meet();
        double begin = now_us();
        run(nbytes);
        double issued = now_us();
        if (on_stream) sync_stream();
        if (k >= 0) {
            issue[k] = issued - begin;
            total[k] = now_us() - begin;
        }
    }
    meet();
    row(name, nbytes, on_stream ? issue : NULL, total, times);
}

/* A train of operations: how fast they can be issued, and how fast the device takes them. */
static void train(const char *name, void (*run)(size_t), size_t nbytes)
{
    double issue[TRAINS], total[TRAINS];
    for (int k = -1; k < TRAINS; k++) {
        meet();
        double begin = now_us();
        for (int i = 0; i < TRAIN_LENGTH; i++) run(nbytes);
        double issued = now_us();
        sync_stream();
        if (k < 0) continue;
        issue[k] = (issued - begin) / TRAIN_LENGTH;
        total[k] = (now_us() - begin) / TRAIN_LENGTH;
    }
    meet();
    row(name, nbytes, issue, total, TRAINS);
}

/* A row that this library or machine cannot give. */
static inline void no_row(const char *name, const char *why)
{
    if (me == 0)
        printf("{\"impl\": \"%s\", \"row\": \"%s\", \"pes\": %d, \"skipped\": \"%s\"}\n", impl, name, n_pes,
               why);
    fflush(stdout);
}

#endif
