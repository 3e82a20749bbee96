/* SPDX-License-Identifier: MIT
 *
 * The runtime on GPU memory, which no line of this program touches by the CPU: everything goes through the
 * API. Runs on a GPU, and in continuous integration on the fake driver, which then forbids the CPU to touch
 * it, so that the library is caught when it does.
 *
 *     rocshmem-run -n N rocshmem-gpu-test
 */
#include <pthread.h>
#include <rocshmem/rocshmemx.h>
#include <stdbool.h>

#include "driver.h"

static int me, n_pes, n_failed;
static struct driver driver;
static bool hip;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            __atomic_fetch_add(&n_failed, 1, __ATOMIC_RELAXED);                                              \
            printf("PE %d: line %d: not true: %s\n", me, __LINE__, #condition);                              \
        }                                                                                                    \
    } while (0)

static int right(void)
{
    return (me + 1) % n_pes;
}
static int left(void)
{
    return (me + n_pes - 1) % n_pes;
}
static void fill(unsigned char *p, size_t n, int seed)
{
    for (size_t i = 0; i < n; i++) p[i] = (unsigned char)((size_t)seed * 131 + i * 7 + (i >> 8));
}
static bool filled(const unsigned char *p, size_t n, int seed)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != (unsigned char)((size_t)seed * 131 + i * 7 + (i >> 8))) return false;
    return true;
}
static uint64_t word_of(const uint64_t *word)
{
    uint64_t value = 0;
    rocshmem_getmem(&value, word, sizeof value, me);
    return value;
}
static void *stream_new(void)
{
    void *stream = NULL;
    CHECK(rocshmemx_stream_create(&stream) == 0);
    return stream;
}
static void stream_end(void *stream)
{
    CHECK(rocshmemx_stream_synchronize(stream) == 0);
    CHECK(rocshmemx_stream_destroy(stream) == 0);
}
static void *captured; /* the graph behind the last graph_of */
static void graph_end(void *exec)
{
    if (exec) CHECK(driver.exec_destroy(exec) == 0);
    if (captured) CHECK(driver.graph_destroy(captured) == 0);
    captured = NULL;
}
static void *graph_of(void *stream)
{
    void *graph = NULL, *exec = NULL;
    CHECK(driver.end(stream, &graph) == 0);
    if (!graph) return NULL;
    CHECK((hip ? driver.hip_instantiate(&exec, graph, NULL, NULL, 0) : driver.instantiate(&exec, graph, 0)) ==
          0);
    captured = graph;
    return exec;
}

/* As a program does that uses the GPU itself: the calls of the driver need it, ours don't. */
static void use_device(void)
{
    void *context = NULL;
    if (hip) return;
    CHECK(driver.init(0) == 0 && driver.retain(&context, rocshmemx_device_ordinal()) == 0);
    CHECK(driver.set_current(context) == 0);
}

/* ---- cases ---- */

/* First of all: so the device code is loaded while a graph is captured. */
static void the_first_kernel_may_be_captured(void)
{
    uint64_t *word = rocshmem_calloc(4, 8);
    void *stream = stream_new();
    CHECK(driver.begin(stream, 0) == 0);
    rocshmem_signal_add_on_stream(word, 3, right(), stream);
    void *exec = graph_of(stream);
    for (int k = 0; k < 5 && exec; k++) CHECK(driver.launch(exec, stream) == 0);
    CHECK(rocshmem_signal_wait_until(word, ROCSHMEM_CMP_EQ, 15) == 15);
    stream_end(stream);
    graph_end(exec);
    rocshmem_barrier_all();
    rocshmem_free(word);
}

static void transfers_of_all_sizes_arrive(void)
{
    static const size_t sizes[] = {0, 1, 4, 8, 100, 4097, 70001, 3 << 20};
    unsigned char *heap = rocshmem_malloc(4 << 20), *out = malloc(4 << 20), *in = malloc(4 << 20);
    CHECK(heap && out && in);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        fill(out, n, me + (int)i);
        rocshmem_putmem(heap, out, n, right());
        rocshmem_barrier_all();
        rocshmem_getmem(in, heap, n, me);
        CHECK(filled(in, n, left() + (int)i));
        memset(in, 0, n);
        rocshmem_getmem(in, heap, n, right());
        CHECK(filled(in, n, me + (int)i));
        rocshmem_barrier_all();
        rocshmem_putmem(heap + (2 << 20), heap, n / 2, left()); /* from heap to heap */
        rocshmem_barrier_all();
        rocshmem_getmem(in, heap + (2 << 20), n / 2, me);
        if (n < (2 << 20)) CHECK(filled(in, n / 2, me + (int)i)); /* what I had put there went around */
        rocshmem_barrier_all();
    }
    rocshmem_free(heap);
    free(out);
    free(in);
}

/* What is only begun is complete after quiet, after a barrier, and before the memory goes back. */
static void transfers_that_are_begun_complete(void)
{
    enum { BLOCKS = 20 };
    size_t n = 300008;
    unsigned char *heap = rocshmem_malloc(BLOCKS * n), *out = malloc(BLOCKS * n), *in = malloc(BLOCKS * n);
    for (int round = 0; round < 3; round++) {
        for (size_t k = 0; k < BLOCKS; k++) {
            fill(out + k * n, n, me + (int)k + round);
            rocshmem_putmem_nbi(heap + k * n, out + k * n, n, right());
        }
        rocshmem_barrier_all();
        memset(in, 0, BLOCKS * n);
        for (size_t k = 0; k < BLOCKS; k++) rocshmem_getmem_nbi(in + k * n, heap + k * n, n, me);
        rocshmem_quiet();
        for (size_t k = 0; k < BLOCKS; k++) CHECK(filled(in + k * n, n, left() + (int)k + round));
        rocshmem_ctx_t ctx;
        CHECK(rocshmem_ctx_create(0, &ctx) == 0);
        memset(in, 0, n);
        rocshmem_ctx_getmem_nbi(ctx, in, heap, n, right());
        rocshmem_ctx_destroy(ctx);
        CHECK(filled(in, n, me + round));
        rocshmem_barrier_all();
    }
    fill(out, 8000, me);
    rocshmem_double_iput((double *)(void *)heap, (double *)(void *)out, 3, 2, 500, right());
    rocshmem_barrier_all();
    rocshmem_double_iget((double *)(void *)in, (double *)(void *)heap, 2, 3, 500, me);
    fill(out, 8000, left());
    size_t n_right = 0;
    for (size_t i = 0; i < 500; i++) n_right += memcmp(in + 16 * i, out + 16 * i, 8) == 0;
    CHECK(n_right == 500);
    rocshmem_barrier_all();
    rocshmem_putmem_nbi(heap, heap + n, n, right());
    rocshmem_free(heap);
    free(out);
    free(in);
}

static void calloc_is_zero_and_values_travel(void)
{
    uint64_t *words = rocshmem_calloc(1000, 8), *in = malloc(8000);
    rocshmem_getmem(in, words, 8000, right());
    for (int i = 0; i < 1000; i++) CHECK(in[i] == 0);
    rocshmem_barrier_all();
    rocshmem_uint64_p(words, (uint64_t)me + 5, right());
    rocshmem_double_p((double *)(words + 1), 1.5 * me, right());
    rocshmem_barrier_all();
    CHECK(rocshmem_uint64_g(words, me) == (uint64_t)left() + 5);
    CHECK(rocshmem_double_g((double *)(words + 1), me) == 1.5 * left());
    rocshmem_barrier_all();
    rocshmem_free(words);
    free(in);
}

static void atomics_of_all_pes_add_up(void)
{
    uint64_t *word = rocshmem_calloc(8, 8);
    uint32_t *narrow = (uint32_t *)(word + 2);
    for (int k = 0; k < 50; k++) {
        rocshmem_uint64_atomic_fetch_add(word, 2, 0);
        rocshmem_uint32_atomic_add(narrow, 3, n_pes - 1);
    }
    rocshmem_barrier_all();
    CHECK(rocshmem_uint64_atomic_fetch(word, 0) == (uint64_t)n_pes * 100);
    CHECK(rocshmem_uint32_atomic_fetch(narrow, n_pes - 1) == (uint32_t)n_pes * 150);
    uint64_t *own = word + 4;
    rocshmem_uint64_atomic_set(own, 12, right());
    rocshmem_barrier_all();
    CHECK(rocshmem_uint64_atomic_swap(own, 7, me) == 12);
    CHECK(rocshmem_uint64_atomic_compare_swap(own, 6, 1, me) == 7);
    CHECK(rocshmem_uint64_atomic_compare_swap(own, 7, 9, me) == 7);
    CHECK(rocshmem_uint64_atomic_fetch_xor(own, 3, me) == 9);
    CHECK(rocshmem_uint64_atomic_fetch_or(own, 4, me) == 10);
    CHECK(rocshmem_uint64_atomic_fetch_and(own, 6, me) == 14);
    CHECK(rocshmem_uint64_atomic_fetch_inc(own, me) == 6);
    CHECK(rocshmem_uint64_atomic_fetch(own, me) == 7);
    float *real = (float *)(word + 5);
    rocshmem_float_atomic_set(real, 2.5f, me);
    CHECK(rocshmem_float_atomic_swap(real, 1.f, me) == 2.5f);
    rocshmem_barrier_all();
    rocshmem_free(word);
}

static void adds_on_streams_and_of_the_host_mix(void)
{
    uint64_t *word = rocshmem_calloc(1, 8);
    void *stream = stream_new();
    for (int k = 0; k < 20; k++) {
        rocshmem_signal_add_on_stream(word, 1, 0, stream);
        rocshmem_uint64_atomic_add(word, 1, 0);
    }
    stream_end(stream);
    rocshmem_barrier_all();
    CHECK(rocshmem_uint64_atomic_fetch(word, 0) == (uint64_t)n_pes * 40);
    rocshmem_barrier_all();
    rocshmem_free(word);
}

static void a_signal_follows_its_data(void)
{
    unsigned char *heap = rocshmem_malloc(1 << 20), *out = malloc(1 << 20), *in = malloc(1 << 20);
    uint64_t *word = rocshmem_calloc(2, 8);
    for (int k = 1; k <= 20; k++) {
        size_t n = (size_t)k * 50000 % (1 << 20);
        fill(out, n, me + k);
        rocshmem_putmem_signal(heap, out, n, word, (uint64_t)k, ROCSHMEM_SIGNAL_SET, right());
        CHECK(rocshmem_signal_wait_until(word, ROCSHMEM_CMP_GE, (uint64_t)k) == (uint64_t)k);
        rocshmem_getmem(in, heap, n, me);
        CHECK(filled(in, n, left() + k));
        rocshmem_putmem_signal(heap, out, 0, word + 1, 2, ROCSHMEM_SIGNAL_ADD, left());
        rocshmem_uint64_wait_until(word + 1, ROCSHMEM_CMP_GT, 2 * (uint64_t)k - 1);
    }
    CHECK(rocshmem_signal_fetch(word + 1) == 40);
    CHECK(rocshmem_uint64_test(word + 1, ROCSHMEM_CMP_NE, 39) == 1);
    rocshmem_barrier_all();
    rocshmem_free(heap);
    rocshmem_free(word);
    free(out);
    free(in);
}

static void collectives_of_the_host_move_device_memory(void)
{
    static const size_t sizes[] = {8, 64, 1000, 300000};
    size_t room = (size_t)n_pes * 300000;
    unsigned char *dest = rocshmem_malloc(room), *source = rocshmem_malloc(room), *mine = malloc(room);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        fill(mine, n, me * 3 + (int)i);
        rocshmem_putmem(source, mine, n, me);
        CHECK(rocshmem_broadcastmem(ROCSHMEM_TEAM_WORLD, dest, source, n, n_pes - 1) == 0);
        rocshmem_getmem(mine, dest, n, me);
        CHECK(filled(mine, n, (n_pes - 1) * 3 + (int)i));
        rocshmem_barrier_all();
        CHECK(rocshmem_fcollectmem(ROCSHMEM_TEAM_WORLD, dest, source, n) == 0);
        rocshmem_getmem(mine, dest, n * (size_t)n_pes, me);
        for (int pe = 0; pe < n_pes; pe++) CHECK(filled(mine + (size_t)pe * n, n, pe * 3 + (int)i));
        for (int pe = 0; pe < n_pes; pe++) fill(mine + (size_t)pe * n, n, me * 17 + pe);
        rocshmem_putmem(source, mine, n * (size_t)n_pes, me);
        CHECK(rocshmem_alltoallmem(ROCSHMEM_TEAM_WORLD, dest, source, n) == 0);
        rocshmem_getmem(mine, dest, n * (size_t)n_pes, me);
        for (int pe = 0; pe < n_pes; pe++) CHECK(filled(mine + (size_t)pe * n, n, pe * 17 + me));
        int64_t *values = (int64_t *)(void *)mine;
        for (size_t k = 0; k < n / 8; k++) values[k] = (int64_t)k + me;
        rocshmem_putmem(source, values, n, me);
        CHECK(rocshmem_int64_sum_reduce(ROCSHMEM_TEAM_WORLD, (int64_t *)(void *)dest,
                                        (const int64_t *)(void *)source, n / 8) == 0);
        rocshmem_getmem(values, dest, n / 8 * 8, me);
        for (size_t k = 0; k < n / 8; k++)
            CHECK(values[k] == (int64_t)k * n_pes + (int64_t)n_pes * (n_pes - 1) / 2);
    }
    rocshmem_barrier_all();
    rocshmem_free(dest);
    rocshmem_free(source);
    free(mine);
}

static void every_kind_of_stream_will_do(void)
{
    unsigned char *heap = rocshmem_malloc(1 << 20), *out = malloc(1 << 20), *in = malloc(1 << 20);
    void *own = stream_new();
    void *streams[] = {own, NULL, (void *)1, (void *)2};
    for (int k = 0; k < (hip ? 2 : 4); k++) {
        fill(out, 100000, me + k);
        rocshmem_putmem_on_stream(heap, out, 100000, right(), streams[k]);
        rocshmem_barrier_all_on_stream(streams[k]);
        rocshmem_getmem_on_stream(in, heap, 100000, me, streams[k]);
        rocshmem_barrier_all_on_stream(streams[k]);
        CHECK(rocshmemx_stream_synchronize(streams[k]) == 0);
        CHECK(filled(in, 100000, left() + k));
    }
    stream_end(own);
    rocshmem_barrier_all();
    rocshmem_free(heap);
    free(out);
    free(in);
}

static void each_comparison_holds_a_stream(void)
{
    static const struct {
        uint64_t before, after, value;
        int cmp;
    } rows[] = {{0, 5, 5, ROCSHMEM_CMP_EQ}, {5, 6, 5, ROCSHMEM_CMP_NE}, {5, 6, 5, ROCSHMEM_CMP_GT},
                {4, 5, 5, ROCSHMEM_CMP_GE}, {9, 1, 5, ROCSHMEM_CMP_LT}, {6, 5, 5, ROCSHMEM_CMP_LE}};
    uint64_t *word = rocshmem_calloc(1, 8), *passed = rocshmem_calloc(1, 8), one = 1;
    void *stream = stream_new();
    for (int k = 0; k < 6; k++) {
        rocshmem_uint64_atomic_set(word, rows[k].before, me);
        rocshmem_uint64_atomic_set(passed, 0, me);
        rocshmem_barrier_all();
        rocshmem_signal_wait_until_on_stream(word, rows[k].cmp, rows[k].value, stream);
        rocshmem_putmem_on_stream(passed, &one, sizeof one, me,
                                  stream); /* pageable, and the stream is busy */
        CHECK(rocshmemx_stream_query(stream) == 0);
        CHECK(word_of(passed) == 0);
        rocshmem_barrier_all();
        rocshmem_uint64_atomic_set(word, rows[k].after, left());
        CHECK(rocshmemx_stream_synchronize(stream) == 0);
        CHECK(word_of(passed) == 1);
        rocshmem_barrier_all();
    }
    stream_end(stream);
    rocshmem_free(word);
    rocshmem_free(passed);
}

static void signals_play_ping_pong_on_streams(void)
{
    uint64_t *word = rocshmem_calloc(1, 8), *data = rocshmem_calloc(1, 8);
    void *stream = stream_new();
    for (uint64_t k = 1; k <= 200; k++) {
        if (me % 2 == 1) rocshmem_signal_wait_until_on_stream(word, ROCSHMEM_CMP_GE, k, stream);
        int peer = me ^ 1;
        if (peer < n_pes)
            rocshmem_putmem_signal_on_stream(data, word, 8, word, k, ROCSHMEM_SIGNAL_SET, peer, stream);
        if (me % 2 == 0 && peer < n_pes)
            rocshmem_signal_wait_until_on_stream(word, ROCSHMEM_CMP_GE, k, stream);
    }
    stream_end(stream);
    if ((me ^ 1) < n_pes) CHECK(word_of(word) == 200);
    rocshmem_barrier_all();
    rocshmem_free(word);
    rocshmem_free(data);
}

static void check_collectives(const unsigned char *dest, size_t n, const char *what, int seed)
{
    unsigned char *in = malloc(n * (size_t)n_pes);
    rocshmem_getmem(in, dest, n * (size_t)n_pes, me);
    for (int pe = 0; pe < n_pes; pe++)
        if (!filled(in + (size_t)pe * n, n, pe * 17 + me + seed)) {
            n_failed++;
            printf("PE %d: %s: block %d is wrong\n", me, what, pe);
        }
    free(in);
}

static void collectives_run_on_streams(void)
{
    size_t n = 40000;
    unsigned char *dest = rocshmem_malloc(n * (size_t)n_pes), *source = rocshmem_malloc(n * (size_t)n_pes),
                  *host = malloc(n * (size_t)n_pes);
    void *stream = stream_new();
    for (int k = 0; k < 30; k++) { /* more than there are slots */
        for (int pe = 0; pe < n_pes; pe++) fill(host + (size_t)pe * n, n, me * 17 + pe + k);
        rocshmem_putmem_on_stream(source, host, n * (size_t)n_pes, me, stream);
        rocshmem_alltoallmem_on_stream(ROCSHMEM_TEAM_WORLD, dest, source, n, stream);
        CHECK(rocshmemx_stream_synchronize(stream) == 0);
        check_collectives(dest, n, "alltoall", k);
    }
    int32_t *values = (int32_t *)(void *)host;
    for (size_t k = 0; k < 10000; k++) values[k] = (int32_t)k * (me + 1);
    rocshmem_putmem(source, values, 40000, me);
    rocshmem_int32_sum_reduce_on_stream(ROCSHMEM_TEAM_WORLD, (int32_t *)(void *)dest,
                                        (int32_t *)(void *)source, 10000, stream);
    rocshmem_broadcastmem_on_stream(ROCSHMEM_TEAM_WORLD, source, dest, 40000, n_pes - 1, stream);
    CHECK(rocshmemx_stream_synchronize(stream) == 0);
    rocshmem_getmem(values, source, 40000, me);
    for (size_t k = 0; k < 10000; k++) CHECK(values[k] == (int32_t)k * (n_pes * (n_pes + 1) / 2));
    stream_end(stream);
    rocshmem_barrier_all();
    rocshmem_free(dest);
    rocshmem_free(source);
    free(host);
}

static void a_graph_of_collectives_replays(void)
{
    size_t n = 3000;
    unsigned char *dest = rocshmem_malloc(n * (size_t)n_pes), *source = rocshmem_malloc(n * (size_t)n_pes),
                  *host = malloc(n * (size_t)n_pes);
    int32_t *sum = rocshmem_calloc(100, 4), *part = rocshmem_calloc(100, 4), values[100];
    void *stream = stream_new();
    CHECK(driver.begin(stream, 0) == 0);
    rocshmem_putmem_on_stream(source, host, n * (size_t)n_pes, me,
                              stream); /* pageable: read at each replay */
    rocshmem_barrier_all_on_stream(stream);
    rocshmem_alltoallmem_on_stream(ROCSHMEM_TEAM_WORLD, dest, source, n, stream);
    rocshmem_int32_sum_reduce_on_stream(ROCSHMEM_TEAM_WORLD, sum, part, 100, stream);
    rocshmem_barrier_all_on_stream(stream);
    void *exec = graph_of(stream);
    for (int k = 0; k < 20 && exec; k++) {
        for (int pe = 0; pe < n_pes; pe++) fill(host + (size_t)pe * n, n, me * 17 + pe + k);
        for (int i = 0; i < 100; i++) values[i] = i + me * k;
        rocshmem_putmem(part, values, sizeof values, me);
        CHECK(driver.launch(exec, stream) == 0);
        CHECK(rocshmemx_stream_synchronize(stream) == 0);
        check_collectives(dest, n, "captured alltoall", k);
        rocshmem_getmem(values, sum, sizeof values, me);
        for (int i = 0; i < 100; i++) CHECK(values[i] == i * n_pes + k * (n_pes * (n_pes - 1) / 2));
        rocshmem_barrier_all();
    }
    for (int k = 0; k < 50 && exec; k++) CHECK(driver.launch(exec, stream) == 0); /* back to back */
    stream_end(stream);
    graph_end(exec);
    rocshmem_barrier_all();
    rocshmem_free(dest);
    rocshmem_free(source);
    rocshmem_free(sum);
    rocshmem_free(part);
    free(host);
}

/* Large enough for streams of the library's own beside the user's, which a graph takes in. */
static void large_collectives_run_side_by_side(void)
{
    size_t n = ((size_t)1 << 20) + 24, all = n * (size_t)n_pes;
    unsigned char *dest = rocshmem_malloc(all), *source = rocshmem_malloc(all), *host = malloc(all);
    unsigned char *wide = rocshmem_malloc(5 * n), *same = malloc(5 * n);
    void *streams[] = {stream_new(), stream_new()}, *exec = NULL;
    rocshmem_team_t team = ROCSHMEM_TEAM_WORLD;
    for (int k = 0; k < 12; k++) {
        void *stream = streams[k % 2];
        if (k == 6) { /* from here on by a graph, each collective in it twice */
            stream = streams[0];
            CHECK(driver.begin(stream, 0) == 0);
            for (int twice = 0; twice < 2; twice++) {
                rocshmem_alltoallmem_on_stream(team, dest, source, n, stream);
                rocshmem_broadcastmem_on_stream(team, wide, wide, 5 * n, 0, stream);
            }
            exec = graph_of(stream);
            CHECK(exec);
        }
        for (int pe = 0; pe < n_pes; pe++) fill(host + (size_t)pe * n, n, me * 17 + pe + k);
        fill(same, 5 * n, k);
        rocshmem_putmem(source, host, all, me);
        if (me == 0) rocshmem_putmem(wide, same, 5 * n, me);
        rocshmem_barrier_all();
        if (exec) {
            stream = streams[0];
            CHECK(driver.launch(exec, stream) == 0);
        } else {
            rocshmem_alltoallmem_on_stream(team, dest, source, n, stream);
            rocshmem_broadcastmem_on_stream(team, wide, wide, 5 * n, 0, stream);
        }
        CHECK(rocshmemx_stream_synchronize(stream) == 0);
        check_collectives(dest, n, "large alltoall", k);
        rocshmem_getmem(same, wide, 5 * n, me);
        CHECK(filled(same, 5 * n, k));
        rocshmem_barrier_all();
        if (exec) continue;
        rocshmem_fcollectmem_on_stream(team, dest, source, n, stream);
        CHECK(rocshmemx_stream_synchronize(stream) == 0);
        rocshmem_getmem(host, dest, all, me);
        for (int pe = 0; pe < n_pes; pe++) CHECK(filled(host + (size_t)pe * n, n, pe * 17 + k));
        rocshmem_barrier_all();
    }
    stream_end(streams[0]);
    stream_end(streams[1]);
    graph_end(exec);
    rocshmem_barrier_all();
    rocshmem_free(dest);
    rocshmem_free(source);
    rocshmem_free(wide);
    free(host);
    free(same);
}

static void *in_a_thread(void *arg)
{
    uint64_t *words = arg;
    void *context = NULL;
    if (driver.current) CHECK(driver.current(&context) == 0 && context == NULL);
    for (int k = 0; k < 20; k++) rocshmem_uint64_atomic_inc(words, right());
    rocshmem_uint64_p(words + 1, 1, right());
    void *stream = stream_new();
    rocshmem_signal_add_on_stream(words, 1, right(), stream);
    stream_end(stream);
    if (driver.current) CHECK(driver.current(&context) == 0 && context == NULL); /* as the thread had it */
    return NULL;
}

static void threads_keep_their_context(void)
{
    pthread_t threads[4];
    uint64_t *words = rocshmem_calloc(2, 8);
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, in_a_thread, words) == 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    rocshmem_barrier_all();
    CHECK(word_of(words) == 84 && word_of(words + 1) == 1);
    rocshmem_barrier_all();
    rocshmem_free(words);
}

static size_t room_in_heap(void)
{
    size_t free_nbytes = 0;
    CHECK(rocshmemx_heap_info(NULL, NULL, &free_nbytes) == 0);
    return free_nbytes;
}

/* Parts that lie side by side are one piece for a copy; a block may be anywhere in them. */
static void the_heap_grows(void)
{
    enum { BLOCKS = 12 };
    size_t n = room_in_heap() / 16 / 4096 * 4096 + 8;
    unsigned char *blocks[BLOCKS], *out = malloc(n), *in = malloc(n);
    for (int k = 0; k < BLOCKS; k++) {
        blocks[k] = rocshmem_malloc(n);
        CHECK(blocks[k]);
        fill(out, n, me + k);
        rocshmem_putmem(blocks[k], out, n, right());
    }
    rocshmem_barrier_all();
    for (int k = 0; k < BLOCKS; k++) {
        rocshmem_getmem(in, blocks[k], n, right());
        CHECK(filled(in, n, me + k));
        rocshmem_getmem(in, blocks[k], n, me);
        CHECK(filled(in, n, left() + k));
    }
    rocshmem_barrier_all();
    for (int k = 0; k < BLOCKS; k++) rocshmem_free(blocks[k]);
    free(out);
    free(in);
}

/* Nearly all memory of this PE's GPU; returns how many blocks it is. */
static int take_memory(uintptr_t *blocks, int most)
{
    size_t nbytes, all_nbytes;
    int n = 0;
    CHECK(driver.memory(&nbytes, &all_nbytes) == 0);
    while (n < most && nbytes >= ((size_t)2 << 20)) {
        if (driver.alloc(&blocks[n], nbytes) == 0)
            n++;
        else
            nbytes /= 2;
    }
    return n;
}

/* Then the heap can't grow on one PE: an error on every PE. Where it is there from the start it is no error. */
static void a_full_gpu_is_an_error_on_every_pe(void)
{
    const char *sharing = getenv("ROCSHMEM_HEAP_SHARING"), *no_vmm = getenv("FAKEGPU_NO_VMM");
    bool grows = !hip && !(sharing && strcmp(sharing, "ipc") == 0) && !no_vmm;
    uintptr_t taken[64];
    int n_taken = 0;
    size_t n = room_in_heap() / 8 * 7;
    uint64_t *word = rocshmem_calloc(1, 8);
    if (me == n_pes - 1 && grows) n_taken = take_memory(taken, 64);
    rocshmem_barrier_all();
    rocshmemx_error_t error = {0};
    void *block = rocshmem_malloc(n);
    CHECK((block == NULL) == grows);
    if (!block) CHECK(rocshmemx_take_error(&error) && error.status == -3 && error.pe == n_pes - 1);
    rocshmem_uint64_p(word, (uint64_t)me + 1, right()); /* all else goes on */
    rocshmem_barrier_all();
    CHECK(word_of(word) == (uint64_t)left() + 1);
    while (n_taken > 0) CHECK(driver.free(taken[--n_taken]) == 0);
    rocshmem_barrier_all();
    if (grows) block = rocshmem_malloc(n);
    CHECK(block);
    rocshmem_free(block);
    rocshmem_free(word);
}

static void on_error(const rocshmemx_error_t *error, void *arg)
{
    (void)arg;
    __atomic_fetch_add(&n_failed, 1, __ATOMIC_RELAXED);
    printf("PE %d: %s: %s\n", me, error->op, error->text);
}

#define CASE(name)                                                                                           \
    {                                                                                                        \
#name, name                                                                                          \
    }
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {CASE(the_first_kernel_may_be_captured),
             CASE(transfers_of_all_sizes_arrive),
             CASE(transfers_that_are_begun_complete),
             CASE(calloc_is_zero_and_values_travel),
             CASE(atomics_of_all_pes_add_up),
             CASE(adds_on_streams_and_of_the_host_mix),
             CASE(a_signal_follows_its_data),
             CASE(collectives_of_the_host_move_device_memory),
             CASE(every_kind_of_stream_will_do),
             CASE(each_comparison_holds_a_stream),
             CASE(signals_play_ping_pong_on_streams),
             CASE(collectives_run_on_streams),
             CASE(a_graph_of_collectives_replays),
             CASE(large_collectives_run_side_by_side),
             CASE(threads_keep_their_context),
             CASE(a_full_gpu_is_an_error_on_every_pe),
             CASE(the_heap_grows)};

int main(int argc, char **argv)
{
    int total = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    rocshmemx_set_error_handler(on_error, NULL);
    for (int round = 0; round < 2; round++) { /* init and finalize leave a device that can be used again */
        rocshmem_init();
        if (!rocshmemx_initialized()) return 2;
        me = rocshmem_my_pe();
        n_pes = rocshmem_n_pes();
        hip = strcmp(rocshmemx_device_name(), "hip") == 0;
        if (strcmp(rocshmemx_device_name(), "host") == 0) {
            printf("FAIL gpu/device: the job runs on the host; set ROCSHMEM_DEVICE=cuda\n");
            return 2;
        }
        driver = driver_open(hip);
        use_device();
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (round == 1 && i > 0) break;
            if (argc > 1 && strcmp(argv[1], cases[i].name) != 0) continue;
            n_failed = 0;
            cases[i].run();
            rocshmem_barrier_all();
            if (n_failed)
                printf("FAIL gpu/%s: PE %d: %d checks failed\n", cases[i].name, me, n_failed);
            else if (me == 0)
                printf("ok gpu/%s\n", cases[i].name);
            total += n_failed;
        }
        rocshmem_finalize();
    }
    return total ? 1 : 0;
}
