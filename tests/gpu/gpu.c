/* SPDX-License-Identifier: MIT
 *
 * The runtime on GPU memory, which no line of this program touches by the CPU: everything goes through the
 * API. Runs on a GPU, and in continuous integration on the fake driver, which then forbids the CPU to touch
 * it, so that the library is caught when it does.
 *
 *     rocshmem-run -n N rocshmem-gpu-test
 */
#include <pthread.h>

#include "gpu.h"

int me, n_pes, n_failed;
struct driver driver;
bool hip;
void *captured;

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
