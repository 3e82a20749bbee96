/* SPDX-License-Identifier: MIT
 *
 * The rows of the comparison with other OpenSHMEM libraries: one source, compiled unchanged with each library's
 * oshcc. PE 0 prints one JSON object a line; bench/compare.py runs both sides and makes the table.
 *
 *     shmem_bench [--ops LIST] [--skip LIST] [--after NAME] [--reps N] [--min-time MS] [--limit S]
 *     shmem_bench hello
 *
 * LIST: operations, groups, or NAMEs, which are operation:bytes. Each row is announced before it is timed, and may
 * take --limit seconds before the PE ends itself: so whoever reads knows which row broke the job, and goes on
 * behind it with --after. The stop-watch is that of rocshmem-perf (tools/perf_measure.h).
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf_measure.h"
#include "shmem_compat.h"

enum { PES_MAX = 64, ARENA_MIN = 1 << 20 };

static int me, n_pes, peer;
static char *source, *dest, *plain;
static uint64_t *signal_word;
static long *word, *lock_word, *locked_count, *shared_word;
static double *shared_times;

static void fail(const char *what)
{
    fprintf(stderr, "shmem_bench, PE %d: %s\n", me, what);
    shmem_global_exit(1);
    exit(1);
}

#define AS(T, pointer) ((T *)(void *)(pointer))

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

/* ---- floors: what the machine needs without a library ---- */

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

/* ---- transfers from one PE to another ---- */

LOOP(put_quiet, shmem_putmem(dest, source, nbytes, peer); shmem_quiet())
LOOP(put_nbi_quiet, shmem_putmem_nbi(dest, source, nbytes, peer); shmem_quiet())
LOOP(put_nbi_16, for (int k = 0; k < 16; k++) shmem_putmem_nbi(dest + 64 * k, source, nbytes, peer);
     shmem_quiet())
LOOP(get, shmem_getmem(dest, source, nbytes, peer))
LOOP(get_nbi_quiet, shmem_getmem_nbi(dest, source, nbytes, peer); shmem_quiet())
LOOP(fence, shmem_fence())
LOOP(quiet, shmem_quiet())
LOOP(ctx_create, shmem_ctx_t ctx; if (shmem_ctx_create(0, &ctx)) fail("ctx_create"); shmem_ctx_destroy(ctx))

#define TYPES(X) X(char) X(short) X(int) X(long) X(float) X(double)
#define TYPED_RUNS(T)                                                                                        \
    LOOP(p_##T, shmem_##T##_p(AS(T, word), (T)1, peer))                                                      \
    LOOP(g_##T, (void)shmem_##T##_g(AS(T, word), peer))                                                      \
    LOOP(put_##T, shmem_##T##_put(AS(T, dest), AS(T, source), nbytes / sizeof(T), peer); shmem_quiet())      \
    LOOP(get_##T, shmem_##T##_get(AS(T, dest), AS(T, source), nbytes / sizeof(T), peer))
TYPES(TYPED_RUNS)
#undef TYPED_RUNS

/* Strided transfers of longs; d and s are the distances between elements at dest and source. */
#define STRIDED_RUNS(d, s)                                                                                   \
    LOOP(iput_##d##_##s, shmem_long_iput(AS(long, dest), AS(long, source), d, s, nbytes / 8, peer);          \
         shmem_quiet())                                                                                      \
    LOOP(iget_##d##_##s, shmem_long_iget(AS(long, dest), AS(long, source), d, s, nbytes / 8, peer))
STRIDED_RUNS(1, 2)
STRIDED_RUNS(2, 1)
STRIDED_RUNS(8, 8)
#undef STRIDED_RUNS

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

/* ---- atomics and locks ---- */

/* name: long_fetch_inc for shmem_long_atomic_fetch_inc on a T. */
#define ATOMIC(type, T, op, ...) LOOP(type##_##op, (void)shmem_##type##_atomic_##op(AS(T, word), __VA_ARGS__))
ATOMIC(long, long, fetch, peer)
ATOMIC(long, long, set, i, peer)
ATOMIC(long, long, add, 1, peer)
ATOMIC(long, long, inc, peer)
ATOMIC(long, long, fetch_inc, peer)
ATOMIC(long, long, swap, i, peer)
ATOMIC(long, long, compare_swap, i, i + 1, peer)
ATOMIC(int, int, fetch_add, 1, peer)
ATOMIC(int, int, compare_swap, (int)i, (int)i + 1, peer)
ATOMIC(float, float, swap, 1, peer)
ATOMIC(double, double, fetch, peer)
ATOMIC(double, double, set, 1, peer)
ATOMIC(double, double, swap, 1, peer)
ATOMIC(ulong, unsigned long, and, 3, peer)
ATOMIC(ulong, unsigned long, or, 4, peer)
ATOMIC(ulong, unsigned long, xor, 1, peer)
ATOMIC(ulong, unsigned long, fetch_and, 3, peer)
ATOMIC(ulong, unsigned long, fetch_or, 4, peer)
ATOMIC(ulong, unsigned long, fetch_xor, 1, peer)
#undef ATOMIC

static uint64_t long_fetch_add(size_t nbytes, long n)
{
    (void)nbytes;
    long before = shmem_long_g(word, peer);
    for (long i = 0; i < n; i++) (void)shmem_long_atomic_fetch_add(word, 1, peer);
    shmem_quiet();
    if (shmem_long_g(word, peer) != before + n) fail("fetch_add lost counts");
    return 0;
}

LOOP(set_clear_lock, shmem_set_lock(lock_word); shmem_clear_lock(lock_word))

/* Every PE adds to one counter on PE 0, without an atomic, under the lock: it must lose no count. */
static uint64_t contended_lock(size_t nbytes, long n)
{
    static long total;
    (void)nbytes;
    for (long i = 0; i < n; i++) {
        shmem_set_lock(lock_word);
        shmem_long_p(locked_count, shmem_long_g(locked_count, 0) + 1, 0);
        shmem_clear_lock(lock_word);
    }
    total += n * n_pes;
    shmem_barrier_all();
    if (shmem_long_g(locked_count, 0) != total) fail("the lock lost counts");
    return 0;
}

/* ---- every PE ---- */

LOOP(barrier_all, shmem_barrier_all())
LOOP(sync_all, shmem_sync_all())
LOOP(malloc_free, void *block = shmem_malloc(nbytes); if (!block) fail("malloc"); shmem_free(block))

/* Collectives follow one another, with a barrier after as many as there are work arrays. */
#define COLLECTIVE_LOOP(name, T, call)                                                                       \
    static uint64_t name(size_t nbytes, long count)                                                          \
    {                                                                                                        \
        int status = 0;                                                                                      \
        T *d = AS(T, dest), *s = AS(T, source);                                                              \
        size_t n = nbytes / sizeof(T);                                                                       \
        for (long i = 0; i < count; i++) {                                                                   \
            status |= call;                                                                                  \
            if (i % BENCH_TURNS == BENCH_TURNS - 1) shmem_barrier_all();                                     \
        }                                                                                                    \
        (void)d, (void)s, (void)n;                                                                           \
        if (status) fail(#name " returned an error");                                                        \
        return 0;                                                                                            \
    }
COLLECTIVE_LOOP(team_sync, long, bench_team_sync(d, s, n))
COLLECTIVE_LOOP(broadcast, long, bench_broadcast(d, s, n))
COLLECTIVE_LOOP(alltoall, long, bench_alltoall(d, s, n))
COLLECTIVE_LOOP(alltoalls, long, bench_alltoalls(d, s, n))
COLLECTIVE_LOOP(collect, long, bench_collect(d, s, n))
COLLECTIVE_LOOP(fcollect, long, bench_fcollect(d, s, n))
COLLECTIVE_LOOP(sum_long, long, bench_sum_long(d, s, n))
COLLECTIVE_LOOP(sum_double, double, bench_sum_double(d, s, n))
COLLECTIVE_LOOP(max_int, int, bench_max_int(d, s, n))
/* The deprecated forms, which every library has. */
COLLECTIVE_LOOP(set_barrier, long, (shmem_barrier(BENCH_SET, bench_next_sync()), 0))
COLLECTIVE_LOOP(set_broadcast, long, (shmem_broadcast64(d, s, n, 0, BENCH_SET, bench_next_sync()), 0))
COLLECTIVE_LOOP(set_sum, long,
                (shmem_long_sum_to_all(d, s, (int)n, BENCH_SET, bench_work, bench_next_sync()), 0))

/* ---- the table ---- */

struct row {
    struct perf_case c;
    const size_t *sizes; /* ends with END */
};
#define END SIZE_MAX
static const size_t none[] = {0, END}, word_sized[] = {8, END}, few[] = {64, END};
static const size_t each[] = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20, END};
static const size_t strided[] = {512, 32 << 10, END}, blocks[] = {64, 64 << 10, 4 << 20, END};

#define ROW(op, group, form, who, per, sizes, run)                                                           \
    {                                                                                                        \
        {op, group, form, who, PERF_SIZED, per, run}, sizes                                                  \
    }
#define ONE(op, form, sizes, run) ROW(op, "one", form, PERF_ONE, 1, sizes, run)
#define ALL(op, form, sizes, run) ROW(op, "all", form, PERF_ALL, 1, sizes, run)
#define FLOOR(op, who, per, sizes, run) ROW(op, "floor", NULL, who, per, sizes, run)
#define ATOMIC(type, op) ROW(#type "_atomic_" #op, "atomic", NULL, PERF_ONE, 1, word_sized, type##_##op)
#define STRIDED(d, s)                                                                                        \
    ROW("iput_" #d "_" #s, "strided", NULL, PERF_ONE, 1, strided, iput_##d##_##s),                           \
        ROW("iget_" #d "_" #s, "strided", NULL, PERF_ONE, 1, strided, iget_##d##_##s)
#define TYPED(T)                                                                                             \
    ROW(#T "_p", "typed", NULL, PERF_ONE, 1, word_sized, p_##T),                                             \
        ROW(#T "_g", "typed", NULL, PERF_ONE, 1, word_sized, g_##T),                                         \
        ROW(#T "_put", "typed", NULL, PERF_ONE, 1, few, put_##T),                                            \
        ROW(#T "_get", "typed", NULL, PERF_ONE, 1, few, get_##T),
static const struct row rows[] = {
    FLOOR("memcpy", PERF_ONE, 1, each, memcpy_private),
    FLOOR("memcpy_peer", PERF_ONE, 1, each, memcpy_peer),
    FLOOR("store_fence", PERF_ONE, 1, word_sized, store_fence),
    FLOOR("load", PERF_ONE, 1, word_sized, load),
    FLOOR("locked_add", PERF_ONE, 1, word_sized, locked_add),
    FLOOR("line", PERF_PAIR, 2, word_sized, line_ping_pong),
    ONE("put_quiet", NULL, each, put_quiet),
    ONE("put_nbi_quiet", NULL, each, put_nbi_quiet),
    ROW("put_nbi_16", "one", NULL, PERF_ONE, 16, word_sized, put_nbi_16),
    ONE("get", NULL, each, get),
    ONE("get_nbi_quiet", NULL, each, get_nbi_quiet),
    ONE("fence", NULL, none, fence),
    ONE("quiet", NULL, none, quiet),
    TYPES(TYPED) STRIDED(1, 2),
    STRIDED(2, 1),
    STRIDED(8, 8),
    ROW("ping_pong", "one", BENCH_FORM_SIGNAL, PERF_PAIR, 2, each, ping_pong),
    ATOMIC(long, fetch),
    ATOMIC(long, set),
    ATOMIC(long, add),
    ATOMIC(long, inc),
    ATOMIC(long, fetch_add),
    ATOMIC(long, fetch_inc),
    ATOMIC(long, swap),
    ATOMIC(long, compare_swap),
    ATOMIC(int, fetch_add),
    ATOMIC(int, compare_swap),
    ATOMIC(float, swap),
    ATOMIC(double, fetch),
    ATOMIC(double, set),
    ATOMIC(double, swap),
    ATOMIC(ulong, and),
    ATOMIC(ulong, or),
    ATOMIC(ulong, xor),
    ATOMIC(ulong, fetch_and),
    ATOMIC(ulong, fetch_or),
    ATOMIC(ulong, fetch_xor),
    ONE("lock", NULL, none, set_clear_lock),
    ALL("contended_lock", NULL, none, contended_lock),
    ONE("ctx_create", NULL, none, ctx_create),
    ALL("barrier_all", NULL, none, barrier_all),
    ALL("sync_all", NULL, none, sync_all),
    ALL("team_sync", BENCH_FORM_TEAM, none, team_sync),
    ALL("set_barrier", NULL, none, set_barrier),
    ALL("broadcast", BENCH_FORM_TEAM, each, broadcast),
    ALL("set_broadcast", NULL, word_sized, set_broadcast),
    ALL("alltoall", BENCH_FORM_TEAM, each, alltoall),
    ALL("alltoalls", BENCH_FORM_TEAM, each, alltoalls),
    ALL("collect", BENCH_FORM_TEAM, each, collect),
    ALL("fcollect", BENCH_FORM_TEAM, each, fcollect),
    ALL("sum_long", BENCH_FORM_TEAM, each, sum_long),
    ALL("set_sum", NULL, word_sized, set_sum),
    ALL("sum_double", BENCH_FORM_TEAM, each, sum_double),
    ALL("max_int", BENCH_FORM_TEAM, each, max_int),
    ALL("malloc_free", NULL, blocks, malloc_free),
};

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

/* Which rows to run. */
struct choice {
    const char *ops, *skip, *after;
    unsigned limit_s;
};

static bool chosen(const struct choice *choice, const struct perf_case *c, const char *name)
{
    if (choice->skip && (perf_list_has(choice->skip, c->op) || perf_list_has(choice->skip, name)))
        return false;
    return perf_list_has(choice->ops, c->op) || perf_list_has(choice->ops, c->group) ||
           perf_list_has(choice->ops, name);
}

static void name_of(const struct perf_case *c, size_t nbytes, char name[64])
{
    snprintf(name, 64, "%s:%zu", c->op, nbytes);
}

/* The largest size that will be timed: memory of many PEs is not touched for nothing. */
static size_t largest(const struct choice *choice)
{
    size_t most = 0;
    char name[64];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (const size_t *size = rows[i].sizes; *size != END; size++) {
            name_of(&rows[i].c, *size, name);
            if (chosen(choice, &rows[i].c, name) && *size > most) most = *size;
        }
    return most;
}

/* Room for a block from every PE at the distances of STRIDED_RUNS and of alltoalls. */
static void open_arena(const struct choice *choice)
{
    size_t most = largest(choice), nbytes = 2 * most * (size_t)n_pes;
    if (nbytes < ARENA_MIN) nbytes = ARENA_MIN;
    source = allocate(nbytes);
    dest = allocate(nbytes);
    signal_word = allocate(sizeof(uint64_t));
    word = allocate(sizeof(long));
    lock_word = allocate(sizeof(long));
    locked_count = allocate(sizeof(long));
    shared_word = allocate(sizeof(long));
    shared_times = allocate(PES_MAX * sizeof(double));
    if (!bench_work_arrays(most)) fail("could not allocate work arrays");
    plain = calloc(1, most + 1);
    if (!plain) fail("could not allocate private memory");
    shmem_barrier_all();
}

static void on_alarm(int signum)
{
    static const char text[] = "shmem_bench: no end within the limit\n"; /* compare.py looks for this */
    (void)signum;
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(written < 0 ? 125 : 124);
}

static void begin_row(const struct choice *choice, const char *name)
{
    alarm(choice->limit_s);
    if (me != 0) return;
    printf("{\"begin\": \"%s\"}\n", name);
    fflush(stdout);
}

static void print_row(const struct perf_case *c, size_t nbytes, const struct perf_result *r)
{
    printf("{\"op\": \"%s\", \"nbytes\": %zu, \"n_pes\": %d, \"median_ns\": %.3f, \"min_ns\": %.3f, "
           "\"max_ns\": %.3f, \"iterations\": %ld, \"reps\": %d, \"form\": \"%s\"}\n",
           c->op, nbytes, n_pes, r->median_ns, r->min_ns, r->max_ns, r->n, r->reps, c->note ? c->note : "");
    fflush(stdout);
}

static void print_once(const char *op, double ns)
{
    const struct perf_case c = {.op = op};
    if (me == 0) print_row(&c, 0, &(struct perf_result){ns, ns, ns, 1, 1});
}

static void run_rows(const struct choice *choice, const struct perf_plan *plan)
{
    const struct perf_job job = {me, n_pes, shmem_barrier_all, share, slowest};
    bool reached = !choice->after;
    char name[64];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (const size_t *size = rows[i].sizes; *size != END; size++) {
            const struct perf_case *c = &rows[i].c;
            struct perf_result result;
            name_of(c, *size, name);
            bool due = reached && chosen(choice, c, name);
            reached = reached || strcmp(name, choice->after) == 0;
            if (!due) continue;
            begin_row(choice, name);
            if (perf_measure(&job, c, *size, plan, &result) && me == 0) print_row(c, *size, &result);
        }
}

static void read_arguments(int argc, char **argv, struct choice *choice, struct perf_plan *plan)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--ops") == 0) choice->ops = value;
        if (strcmp(name, "--skip") == 0) choice->skip = value;
        if (strcmp(name, "--after") == 0) choice->after = value;
        if (strcmp(name, "--limit") == 0) choice->limit_s = (unsigned)strtoul(value, NULL, 10);
        if (strcmp(name, "--reps") == 0) plan->reps = (int)strtol(value, NULL, 10);
        if (strcmp(name, "--min-time") == 0) plan->min_ns = strtoull(value, NULL, 10) * 1000000;
    }
}

int main(int argc, char **argv)
{
    struct choice choice = {0};
    struct perf_plan plan = {.reps = 3, .min_ns = 10000000};
    bool hello = argc == 2 && strcmp(argv[1], "hello") == 0;
    read_arguments(argc, argv, &choice, &plan);
    signal(SIGALRM, on_alarm);
    alarm(choice.limit_s);
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
    open_arena(&choice);
    double init_most = slowest(init_ns);
    if (!choice.after) print_once("init", init_most);
    run_rows(&choice, &plan);
    begin_row(&choice, "finalize:0");
    shmem_barrier_all();
    start = perf_now();
    shmem_finalize();
    print_once("finalize", (double)(perf_now() - start));
    free(plain);
    return 0;
}
