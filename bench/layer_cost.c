/* SPDX-License-Identifier: MIT
 *
 * What a call costs more by its shmem_ name than by its rocshmem_ name: both in one process, by turns, a job of one
 * PE. Compiled with our oshcc. Prints one JSON object a line; bench/compare.py makes the table.
 *
 *     layer_cost [ROUNDS]
 */
#include <rocshmem/rocshmem.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#include "perf_measure.h"

enum { ROUND_NS = 400000 };

static long *word, *block, *other;
static uint64_t *signal_word;

/* Two functions that call n times, by the one name and by the other; X is shmem or rocshmem. */
#define BOTH(name, call)                                                                                     \
    static void shmem_##name##_loop(long n)                                                                  \
    {                                                                                                        \
        for (long i = 0; i < n; i++) call(shmem);                                                            \
    }                                                                                                        \
    static void rocshmem_##name##_loop(long n)                                                               \
    {                                                                                                        \
        for (long i = 0; i < n; i++) call(rocshmem);                                                         \
    }

#define MY_PE(X) (void)X##_my_pe()
#define PTR(X) (void)X##_ptr(word, 0)
#define PUTMEM(X) X##_putmem(word, block, 8, 0)
#define GETMEM(X) X##_getmem(block, word, 8, 0)
#define PUT_NBI(X) X##_putmem_nbi(word, block, 8, 0)
#define LONG_P(X) X##_long_p(word, i, 0)
#define LONG_G(X) (void)X##_long_g(word, 0)
#define DOUBLE_PUT(X) X##_double_put((double *)(void *)word, (double *)(void *)block, 1, 0)
#define IPUT(X) X##_long_iput(other, block, 2, 2, 8, 0)
#define FETCH_ADD(X) (void)X##_long_atomic_fetch_add(word, 1, 0)
#define ATOMIC_SET(X) X##_long_atomic_set(word, i, 0)
#define FENCE(X) X##_fence()
#define QUIET(X) X##_quiet()
#define SIGNAL_FETCH(X) (void)X##_signal_fetch(signal_word)
#define BARRIER_ALL(X) X##_barrier_all()
BOTH(my_pe, MY_PE)
BOTH(ptr, PTR)
BOTH(putmem, PUTMEM)
BOTH(getmem, GETMEM)
BOTH(putmem_nbi, PUT_NBI)
BOTH(long_p, LONG_P)
BOTH(long_g, LONG_G)
BOTH(double_put, DOUBLE_PUT)
BOTH(long_iput, IPUT)
BOTH(fetch_add, FETCH_ADD)
BOTH(atomic_set, ATOMIC_SET)
BOTH(fence, FENCE)
BOTH(quiet, QUIET)
BOTH(signal_fetch, SIGNAL_FETCH)
BOTH(barrier_all, BARRIER_ALL)

static void shmem_putmem_signal_loop(long n)
{
    for (long i = 0; i < n; i++) shmem_putmem_signal(word, block, 8, signal_word, 1, SHMEM_SIGNAL_SET, 0);
}

static void rocshmem_putmem_signal_loop(long n)
{
    for (long i = 0; i < n; i++)
        rocshmem_putmem_signal(word, block, 8, signal_word, 1, ROCSHMEM_SIGNAL_SET, 0);
}

static void shmem_sum_reduce_loop(long n)
{
    for (long i = 0; i < n; i++) (void)shmem_long_sum_reduce(SHMEM_TEAM_WORLD, other, block, 1);
}

static void rocshmem_sum_reduce_loop(long n)
{
    for (long i = 0; i < n; i++) (void)rocshmem_long_sum_reduce(ROCSHMEM_TEAM_WORLD, other, block, 1);
}

static const struct {
    const char *name;
    void (*by_shmem)(long n), (*by_rocshmem)(long n);
} calls[] = {
#define ENTRY(name, label)                                                                                   \
    {                                                                                                        \
        label, shmem_##name##_loop, rocshmem_##name##_loop                                                   \
    }
    ENTRY(my_pe, "my_pe"),
    ENTRY(ptr, "ptr"),
    ENTRY(putmem, "putmem, 8 B"),
    ENTRY(getmem, "getmem, 8 B"),
    ENTRY(putmem_nbi, "putmem_nbi, 8 B"),
    ENTRY(long_p, "long_p"),
    ENTRY(long_g, "long_g"),
    ENTRY(double_put, "double_put, 1 element"),
    ENTRY(long_iput, "long_iput, 8 elements"),
    ENTRY(fetch_add, "long_atomic_fetch_add"),
    ENTRY(atomic_set, "long_atomic_set"),
    ENTRY(fence, "fence"),
    ENTRY(quiet, "quiet"),
    ENTRY(putmem_signal, "putmem_signal, 8 B"),
    ENTRY(signal_fetch, "signal_fetch"),
    ENTRY(barrier_all, "barrier_all, 1 PE"),
    ENTRY(sum_reduce, "long_sum_reduce, 1 PE"),
#undef ENTRY
};

static double ns_of(void (*loop)(long n), long n)
{
    uint64_t start = perf_now();
    loop(n);
    return (double)(perf_now() - start) / (double)n;
}

static void measure(size_t call, int rounds)
{
    double by_shmem[PERF_REPS_MAX], by_rocshmem[PERF_REPS_MAX], extra[PERF_REPS_MAX];
    struct perf_result shmem_ns, rocshmem_ns, extra_ns;
    long n = 100;
    while (ns_of(calls[call].by_rocshmem, n) * (double)n < ROUND_NS) n *= 2;
    for (int i = 0; i < rounds; i++) {
        by_shmem[i] = ns_of(calls[call].by_shmem, n);
        by_rocshmem[i] = ns_of(calls[call].by_rocshmem, n);
        extra[i] = by_shmem[i] - by_rocshmem[i];
    }
    perf_summarise(by_shmem, rounds, &shmem_ns);
    perf_summarise(by_rocshmem, rounds, &rocshmem_ns);
    perf_summarise(extra, rounds, &extra_ns);
    printf("{\"call\": \"%s\", \"shmem_ns\": [%.3f, %.3f, %.3f], \"rocshmem_ns\": [%.3f, %.3f, %.3f], "
           "\"extra_ns\": %.3f}\n",
           calls[call].name, shmem_ns.median_ns, shmem_ns.min_ns, shmem_ns.max_ns, rocshmem_ns.median_ns,
           rocshmem_ns.min_ns, rocshmem_ns.max_ns, extra_ns.median_ns);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 31;
    if (rounds < 1 || rounds > PERF_REPS_MAX) {
        fprintf(stderr, "layer_cost: ROUNDS is %d; take 1..%d\n", rounds, PERF_REPS_MAX);
        return 2;
    }
    shmem_init();
    word = shmem_calloc(8, sizeof(long));
    block = shmem_calloc(64, sizeof(long));
    other = shmem_calloc(64, sizeof(long));
    signal_word = shmem_calloc(1, sizeof(uint64_t));
    if (!word || !block || !other || !signal_word) {
        fprintf(stderr, "layer_cost: no symmetric memory\n");
        shmem_global_exit(1);
    }
    for (size_t call = 0; call < sizeof(calls) / sizeof(calls[0]); call++) measure(call, rounds);
    shmem_finalize();
    return 0;
}
