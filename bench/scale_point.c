/* SPDX-License-Identifier: MIT
 *
 * One point of bench/scale.py: joins a job, meets the others a few times, and PE 0 prints one line of figures, each the
 * median over the PEs: init and barrier in microseconds, memory in KiB (what the kernel counts as this process's alone, and
 * with its share of what is shared), descriptors, threads.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rocshmem/rocshmem.h>

enum { INIT, BARRIER, PRIVATE, PSS, FDS, THREADS, FIGURES };

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static long count(const char *folder)
{
    DIR *dir = opendir(folder);
    long n = 0;
    for (const struct dirent *entry; dir && (entry = readdir(dir));) n += entry->d_name[0] != '.';
    if (dir) closedir(dir);
    return n;
}

static void memory(double *private_out, double *pss_out)
{
    char line[256];
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    *private_out = *pss_out = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "Private_Clean:", 14) == 0 || strncmp(line, "Private_Dirty:", 14) == 0)
            *private_out += strtod(line + 14, NULL);
        if (strncmp(line, "Pss:", 4) == 0) *pss_out = strtod(line + 4, NULL);
    }
    if (file) fclose(file);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    double mine[FIGURES], start = now_us();
    rocshmem_init();
    mine[INIT] = now_us() - start;
    int me = rocshmem_my_pe(), n = rocshmem_n_pes();
    rocshmem_barrier_all();
    memory(&mine[PRIVATE], &mine[PSS]);
    mine[FDS] = (double)count("/proc/self/fd");
    mine[THREADS] = (double)count("/proc/self/task");
    start = now_us();
    for (int i = 0; i < 20; i++) rocshmem_barrier_all();
    mine[BARRIER] = (now_us() - start) / 20;
    double *all = rocshmem_malloc(sizeof *all * (size_t)n);
    for (int k = 0; all && k < FIGURES; k++) {
        rocshmem_double_p(&all[me], mine[k], 0);
        rocshmem_barrier_all();
        if (me == 0) {
            qsort(all, (size_t)n, sizeof *all, compare);
            printf("%s%.1f", k ? " " : "", all[n / 2]);
        }
        rocshmem_barrier_all();
    }
    if (me == 0) printf("\n");
    rocshmem_free(all);
    rocshmem_finalize();
    return all ? 0 : 1;
}
