/* SPDX-License-Identifier: MIT
 *
 * The stop-watch of the benchmarks (perf_measure.h). PE 0 decides every iteration count and shares it, so
 * that collective cases call equally often on every PE. The clock is read twice a repetition, never inside a
 * loop.
 */
#include "perf_measure.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N_MAX = 1 << 28 }; /* iterations: a loop that got optimised away must end, too */

uint64_t perf_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void perf_summarise(double *values, int count, struct perf_result *result)
{
    qsort(values, (size_t)count, sizeof(values[0]), compare_doubles);
    result->min_ns = values[0];
    result->max_ns = values[count - 1];
    result->median_ns = (values[(count - 1) / 2] + values[count / 2]) / 2;
    result->reps = count;
}

static bool takes_part(const struct perf_job *job, enum perf_who who)
{
    return who == PERF_ALL || job->me < (who == PERF_PAIR ? 2 : 1);
}

/* n iterations, from a common start; the ns of the slowest PE, on PE 0. wall_ns receives this PE's ns, with
 * what run leaves out. */
static double time_once(const struct perf_job *job, const struct perf_case *c, size_t nbytes, long n,
                        double *wall_ns)
{
    double ns = *wall_ns = 0;
    job->barrier();
    if (takes_part(job, c->who)) {
        uint64_t start = perf_now();
        uint64_t left_out = c->run(nbytes, n);
        uint64_t wall = perf_now() - start;
        *wall_ns = (double)wall;
        ns = wall > left_out ? (double)(wall - left_out) : 0;
    }
    return job->slowest(ns);
}

/* The count to try after n iterations took ns (wall_ns with what is left out), or 0 when n will do. */
static long next_count(long n, double ns, double wall_ns, double goal_ns)
{
    double wall_goal_ns = 4 * goal_ns; /* a cheap call may start work that takes a thousand times as long */
    if (ns >= 0.7 * goal_ns || wall_ns >= 0.4 * wall_goal_ns || n >= N_MAX) return 0;
    double factor = ns > 0 ? 1.1 * goal_ns / ns : 100;
    if (wall_ns > 0 && factor > wall_goal_ns / wall_ns) factor = wall_goal_ns / wall_ns;
    if (factor > 100) factor = 100; /* the first calls are slow: page faults, cold caches */
    if (factor < 2) factor = 2;
    double next = (double)n * factor;
    return next < N_MAX ? (long)next : N_MAX;
}

bool perf_measure(const struct perf_job *job, const struct perf_case *c, size_t nbytes,
                  const struct perf_plan *plan, struct perf_result *result)
{
    if (c->who == PERF_PAIR && job->n_pes < 2) return false;
    long n = 1;
    double wall_ns;
    int enough = 0; /* twice in a row: a first call, or an interrupt, makes one run look long enough */
    while (enough < 2) {
        double ns = time_once(job, c, nbytes, n, &wall_ns);
        long next = job->share(job->me == 0 ? next_count(n, ns, wall_ns, (double)plan->min_ns) : 0);
        enough = next == 0 ? enough + 1 : 0;
        if (next != 0) n = next;
    }
    double values[PERF_REPS_MAX];
    for (int i = 0; i < plan->reps; i++)
        values[i] = time_once(job, c, nbytes, n, &wall_ns) / ((double)n * c->per_iteration);
    result->n = n;
    perf_summarise(values, plan->reps, result);
    return true;
}

bool perf_parse_nbytes(const char *text, size_t *nbytes_out)
{
    static const char suffixes[] = "KMG";
    if (*text < '0' || *text > '9') return false;
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end) {
        const char *suffix = strchr(suffixes, *end);
        if (!suffix || end[1]) return false;
        value <<= 10 * (suffix - suffixes + 1);
    }
    if (value == 0 || value > (1ull << 40)) return false;
    *nbytes_out = (size_t)value;
    return true;
}

bool perf_list_has(const char *list, const char *name)
{
    if (!list) return true;
    size_t len = strlen(name);
    for (const char *item = list; item; item = strchr(item, ',')) {
        if (*item == ',') item++;
        if (strncmp(item, name, len) == 0 && (item[len] == ',' || !item[len])) return true;
    }
    return false;
}
