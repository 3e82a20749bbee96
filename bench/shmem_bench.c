/* SPDX-License-Identifier: MIT
 *
 * The rows of the comparison with other OpenSHMEM libraries: one source, compiled once for ours
 * (BENCH_ROCSHMEM) and once for each peer (shmem_compat.h). PE 0 prints one JSON object a line;
 * bench/compare.py runs both and makes the table.
 *
 *     shmem_bench [--ops LIST] [--reps N] [--min-time MS]     shmem_bench hello
 *
 * The stop-watch is that of rocshmem-perf (tools/perf_measure.h).
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf_measure.h"
#include "shmem_compat.h"

enum { PES_MAX = 64, BLOCK_MAX = 4 << 20, CALLS_BETWEEN_BARRIERS = 64 };

static int me, n_pes, peer;
static char *source, *dest, *plain;
static uint64_t *signal_word;
static long *word, *shared_word;
static double *shared_times;

static void fail(const char *what)
{
    fprintf(stderr, "shmem_bench (" BENCH_LIBRARY "), PE %d: %s\n", me, what);
    shmem_global_exit(1);
    exit(1);
}

/* A run function whose iterations are one statement. */
#define LOOP(name, ...)                                                                                      \
    static uint64_t name(size_t nbytes, long n)                                                              \
    {                                                                                                        \
        (void)nbytes;                                                                                        \
        for (long i = 0; i < n; i++) {                                                                       \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
        return 0;                                                                                            \
    }

/* ---- floors ---- */

static void *peer_copy(void *symmetric)
{
    void *copy = shmem_ptr(symmetric, peer);
    if (!copy) fail("shmem_ptr gave NULL: no floor to measure (leave floors out by --ops)");
    return copy;
}

LOOP(memcpy_private, memcpy(plain, source, nbytes); perf_clobber())

static uint64_t memcpy_peer(size_t nbytes, long n)
{
    char *copy = peer_copy(dest);
    for (long i = 0; i < n; i++) {
        memcpy(copy, source, nbytes);
        perf_clobber();
    }
    return 0;
}

static uint64_t store_fence(size_t nbytes, long n)
{
    (void)nbytes;
    _Atomic long *copy = peer_copy(word);
    for (long i = 0; i < n; i++) {
        atomic_store_explicit(copy, i, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
    }
    return 0;
}

static uint64_t load(size_t nbytes, long n)
{
    (void)nbytes;
    _Atomic long *copy = peer_copy(word);
    for (long i = 0; i < n; i++) (void)atomic_load_explicit(copy, memory_order_acquire);
    return 0;
}

static uint64_t locked_add(size_t nbytes, long n)
{
    (void)nbytes;
    _Atomic long *copy = peer_copy(word);
    for (long i = 0; i < n; i++) (void)atomic_fetch_add(copy, 1);
    return 0;
}

static void await_line(const _Atomic uint64_t *line, uint64_t value)
{
    for (long spins = 1; atomic_load_explicit(line, memory_order_acquire) < value; spins++)
        if (spins % 4096 == 0) sched_yield();
}

static uint64_t line_ping_pong(size_t nbytes, long n)
{
    static uint64_t tick;
    (void)nbytes;
    _Atomic uint64_t *theirs = peer_copy(signal_word), *mine = (_Atomic uint64_t *)signal_word;
    for (long i = 0; i < n; i++) {
        tick++;
        if (me == 1) await_line(mine, tick);
        atomic_store_explicit(theirs, tick, memory_order_release);
        if (me == 0) await_line(mine, tick);
    }
    return 0;
}

/* ---- one PE towards another ---- */

LOOP(put_quiet, shmem_putmem(dest, source, nbytes, peer); shmem_quiet())
LOOP(get, shmem_getmem(dest, source, nbytes, peer))
LOOP(g, (void)shmem_long_g(word, peer))
LOOP(fetch_inc, (void)shmem_long_atomic_fetch_inc(word, peer))
LOOP(swap, (void)shmem_long_atomic_swap(word, i, peer))
LOOP(compare_swap, (void)shmem_long_atomic_compare_swap(word, i, i + 1, peer))
LOOP(fence, shmem_fence())
LOOP(quiet, shmem_quiet())
LOOP(ctx_create, shmem_ctx_t ctx; if (shmem_ctx_create(0, &ctx)) fail("ctx_create"); shmem_ctx_destroy(ctx))

static uint64_t fetch_add(size_t nbytes, long n)
{
    (void)nbytes;
    long before = shmem_long_g(word, peer);
    for (long i = 0; i < n; i++) (void)shmem_long_atomic_fetch_add(word, 1, peer);
    shmem_quiet();
    if (shmem_long_g(word, peer) != before + n) fail("fetch_add lost counts");
    return 0;
}

static uint64_t ping_pong(size_t nbytes, long n)
{
    static uint64_t tick = 1ull << 32; /* above what line_ping_pong leaves in the word */
    for (long i = 0; i < n; i++) {
        tick++;
        if (me == 1) bench_signal_wait(signal_word, tick);
        bench_put_signal(dest, source, nbytes, signal_word, tick, peer);
        if (me == 0) bench_signal_wait(signal_word, tick);
    }
    return 0;
}

/* ---- every PE ---- */

LOOP(barrier_all, shmem_barrier_all())

/* Collectives follow one another, with a barrier after each 64 (see bench_sync in shmem_compat.h). */
#define COLLECTIVE_LOOP(name, call)                                                                          \
    static uint64_t name(size_t nbytes, long n)                                                              \
    {                                                                                                        \
        int status = 0;                                                                                      \
        for (long i = 0; i < n; i++) {                                                                       \
            status |= call;                                                                                  \
            if (i % CALLS_BETWEEN_BARRIERS == CALLS_BETWEEN_BARRIERS - 1) shmem_barrier_all();               \
        }                                                                                                    \
        if (status) fail(#name " returned an error");                                                        \
        return 0;                                                                                            \
    }
COLLECTIVE_LOOP(broadcast, bench_broadcast(dest, source, nbytes))
COLLECTIVE_LOOP(alltoall, bench_alltoall(dest, source, nbytes))
COLLECTIVE_LOOP(fcollect, bench_fcollect(dest, source, nbytes))
COLLECTIVE_LOOP(sum, bench_sum(dest, source, nbytes / 8))

LOOP(malloc_free, void *block = shmem_malloc(64); if (!block) fail("malloc"); shmem_free(block))

/* ---- the table ---- */

struct row {
    struct perf_case c;
    size_t nbytes;
};
#define ONE(op, form, nbytes, run)                                                                           \
    {                                                                                                        \
        {op, "pair", form, PERF_ONE, PERF_SIZED, 1, run}, nbytes                                             \
    }
#define PAIR(op, form, nbytes, run)                                                                          \
    {                                                                                                        \
        {op, "pair", form, PERF_PAIR, PERF_SIZED, 2, run}, nbytes                                            \
    }
#define ALL(op, form, nbytes, run)                                                                           \
    {                                                                                                        \
        {op, "all", form, PERF_ALL, PERF_SIZED, 1, run}, nbytes                                              \
    }
#define FLOOR(op, who, per, nbytes, run)                                                                     \
    {                                                                                                        \
        {op, "floor", NULL, who, PERF_SIZED, per, run}, nbytes                                               \
    }
static const struct row rows[] = {
    FLOOR("memcpy", PERF_ONE, 1, 4096, memcpy_private),
    FLOOR("memcpy", PERF_ONE, 1, 32768, memcpy_private),
    FLOOR("memcpy", PERF_ONE, 1, 1 << 20, memcpy_private),
    FLOOR("memcpy", PERF_ONE, 1, 4 << 20, memcpy_private),
    FLOOR("memcpy_peer", PERF_ONE, 1, 4096, memcpy_peer),
    FLOOR("memcpy_peer", PERF_ONE, 1, 32768, memcpy_peer),
    FLOOR("memcpy_peer", PERF_ONE, 1, 1 << 20, memcpy_peer),
    FLOOR("memcpy_peer", PERF_ONE, 1, 4 << 20, memcpy_peer),
    FLOOR("store_fence", PERF_ONE, 1, 8, store_fence),
    FLOOR("load", PERF_ONE, 1, 8, load),
    FLOOR("locked_add", PERF_ONE, 1, 8, locked_add),
    FLOOR("line", PERF_PAIR, 2, 8, line_ping_pong),
    ONE("put_quiet", NULL, 8, put_quiet),
    ONE("put_quiet", NULL, 4096, put_quiet),
    ONE("put_quiet", NULL, 32768, put_quiet),
    ONE("put_quiet", NULL, 1 << 20, put_quiet),
    ONE("put_quiet", NULL, 4 << 20, put_quiet),
    ONE("get", NULL, 8, get),
    ONE("g", "long", 8, g),
    ONE("fetch_add", "long", 8, fetch_add),
    ONE("fetch_inc", "long", 8, fetch_inc),
    ONE("swap", "long", 8, swap),
    ONE("compare_swap", "long", 8, compare_swap),
    ONE("fence", NULL, 0, fence),
    ONE("quiet", NULL, 0, quiet),
    PAIR("ping_pong", BENCH_FORM_SIGNAL, 8, ping_pong),
    ONE("ctx_create", NULL, 0, ctx_create),
    ALL("barrier_all", NULL, 0, barrier_all),
    ALL("broadcast", BENCH_FORM_COLLECTIVE, 8, broadcast),
    ALL("broadcast", BENCH_FORM_COLLECTIVE, 1 << 20, broadcast),
    ALL("alltoall", BENCH_FORM_COLLECTIVE, 8, alltoall),
    ALL("alltoall", BENCH_FORM_COLLECTIVE, 1 << 20, alltoall),
    ALL("fcollect", BENCH_FORM_COLLECTIVE, 8, fcollect),
    ALL("fcollect", BENCH_FORM_COLLECTIVE, 1 << 20, fcollect),
    ALL("sum", BENCH_FORM_COLLECTIVE, 8, sum),
    ALL("sum", BENCH_FORM_COLLECTIVE, 1 << 20, sum),
    ALL("malloc_free", NULL, 64, malloc_free),
};
#undef FLOOR
#undef ALL
#undef PAIR
#undef ONE

/* ---- the job ---- */

static long share(long value)
{
    if (me == 0)
        for (int pe = 0; pe < n_pes; pe++) shmem_long_p(shared_word, value, pe);
    shmem_barrier_all();
    return *(volatile long *)shared_word;
}

static double slowest(double ns)
{
    shmem_double_p(&shared_times[me], ns, 0);
    shmem_barrier_all();
    double most = 0;
    for (int pe = 0; me == 0 && pe < n_pes; pe++)
        if (shared_times[pe] > most) most = shared_times[pe];
    return most;
}

static void *allocate(size_t nbytes)
{
    void *block = shmem_malloc(nbytes);
    if (!block) fail("could not allocate symmetric memory");
    memset(block, 0, nbytes);
    return block;
}

/* Room for the largest put, and for a block of 1 MiB from every PE. */
static void open_arena(void)
{
    size_t nbytes = (size_t)n_pes << 20;
    if (nbytes < BLOCK_MAX) nbytes = BLOCK_MAX;
    source = allocate(nbytes);
    dest = allocate(nbytes);
    signal_word = allocate(sizeof(uint64_t));
    word = allocate(sizeof(long));
    shared_word = allocate(sizeof(long));
    shared_times = allocate(PES_MAX * sizeof(double));
    plain = malloc(BLOCK_MAX);
    if (!plain) fail("could not allocate private memory");
    memset(plain, 0, BLOCK_MAX);
    bench_collectives_init();
    shmem_barrier_all();
}

static void print_row(const struct perf_case *c, size_t nbytes, const struct perf_result *r)
{
    printf("{\"op\": \"%s\", \"nbytes\": %zu, \"n_pes\": %d, \"median_ns\": %.3f, \"min_ns\": %.3f, "
           "\"max_ns\": %.3f, "
           "\"iterations\": %ld, \"reps\": %d, \"form\": \"%s\"}\n",
           c->op, nbytes, n_pes, r->median_ns, r->min_ns, r->max_ns, r->n, r->reps, c->note ? c->note : "");
    fflush(stdout);
}

static void run_rows(const char *ops, const struct perf_plan *plan)
{
    const struct perf_job job = {me, n_pes, shmem_barrier_all, share, slowest};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct perf_case *c = &rows[i].c;
        struct perf_result result;
        char name[64];
        snprintf(name, sizeof(name), "%s:%zu", c->op, rows[i].nbytes);
        if (!perf_list_has(ops, c->op) && !perf_list_has(ops, c->group) && !perf_list_has(ops, name))
            continue;
        if (perf_measure(&job, c, rows[i].nbytes, plan, &result) && me == 0)
            print_row(c, rows[i].nbytes, &result);
    }
}

int main(int argc, char **argv)
{
    const char *ops = NULL;
    struct perf_plan plan = {.reps = 3, .min_ns = 10000000};
    bool hello = argc == 2 && strcmp(argv[1], "hello") == 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--ops") == 0) ops = argv[i + 1];
        if (strcmp(argv[i], "--reps") == 0) plan.reps = (int)strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--min-time") == 0)
            plan.min_ns = (uint64_t)strtol(argv[i + 1], NULL, 10) * 1000000u;
    }
    uint64_t start = perf_now();
    shmem_init();
    double init_ns = (double)(perf_now() - start);
    if (hello) {
        shmem_finalize();
        return 0;
    }
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    peer = me == 0 ? 1 % n_pes : 0;
    if (n_pes > PES_MAX || plan.reps < 1 || plan.reps > PERF_REPS_MAX) fail("too many PEs, or a bad --reps");
    open_arena();
    const struct perf_case init_case = {.op = "init"}, finalize_case = {.op = "finalize"};
    double init_most = slowest(init_ns);
    if (me == 0) print_row(&init_case, 0, &(struct perf_result){init_most, init_most, init_most, 1, 1});
    run_rows(ops, &plan);
    shmem_barrier_all();
    start = perf_now();
    shmem_finalize();
    double finalize_ns = (double)(perf_now() - start);
    if (me == 0)
        print_row(&finalize_case, 0, &(struct perf_result){finalize_ns, finalize_ns, finalize_ns, 1, 1});
    free(plain);
    return 0;
}
