/* SPDX-License-Identifier: MIT
 *
 * What the operations cost on GPU memory: time to issue and time in all for work on streams, time of a call for
 * what blocks, rates of large copies; and the driver's own copy as the limit. Medians, one JSON line a row from
 * PE 0. Touches no heap by the CPU.
 *
 *     rocshmem-run -n N rocshmem-gpu-bench
 */
#include <rocshmem/rocshmemx.h>
#include <stdbool.h>
#include <time.h>

#include "driver.h"

#define TIMES 200

static int me, n_pes;
static struct driver driver;
static void *stream;
static unsigned char *heap, *source;
static uint64_t *words;

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

static void row(const char *name, size_t nbytes, double *issue, double *total, int n)
{
    if (issue) qsort(issue, (size_t)n, sizeof *issue, ascending);
    qsort(total, (size_t)n, sizeof *total, ascending);
    if (me != 0) return;
    printf("{\"row\": \"%s\", \"pes\": %d, \"bytes\": %zu, ", name, n_pes, nbytes);
    if (issue) printf("\"issue_us\": %.2f, ", issue[n / 2]);
    printf("\"total_us\": %.2f, \"best_us\": %.2f", total[n / 2], total[0]);
    if (nbytes >= 1 << 20) printf(", \"GBps\": %.1f", (double)nbytes / total[n / 2] * 1e-3);
    printf("}\n");
}

static void sync_stream(void)
{
    driver.sync(stream);
}

static int peer(void)
{
    return (me + 1) % n_pes;
}
static void put(size_t n)
{
    rocshmem_putmem_on_stream(heap, source, n, peer(), stream);
}
static void raw_copy(size_t n)
{
    driver.copy((uintptr_t)rocshmem_ptr(heap, peer()), (uintptr_t)source, n, stream);
}
static void stream_barrier(size_t n)
{
    (void)n;
    rocshmem_barrier_all_on_stream(stream);
}
static void stream_alltoall(size_t n)
{
    rocshmem_alltoallmem_on_stream(ROCSHMEM_TEAM_WORLD, heap, source, n, stream);
}
static void stream_broadcast(size_t n)
{
    rocshmem_broadcastmem_on_stream(ROCSHMEM_TEAM_WORLD, heap, source, n, 0, stream);
}
static void stream_reduce(size_t n)
{
    rocshmem_float_sum_reduce_on_stream(ROCSHMEM_TEAM_WORLD, (float *)(void *)heap, (float *)(void *)source,
                                        n / 4, stream);
}
static void stream_add(size_t n)
{
    (void)n;
    rocshmem_signal_add_on_stream(words, 1, peer(), stream);
}
static void blocking_put(size_t n)
{
    static unsigned char host[4096];
    rocshmem_putmem(heap, host, n, peer());
}
static void blocking_get(size_t n)
{
    static unsigned char host[4096];
    rocshmem_getmem(host, heap, n, peer());
}
static void host_barrier(size_t n)
{
    (void)n;
    rocshmem_barrier_all();
}
static void fetch_add(size_t n)
{
    (void)n;
    rocshmem_uint64_atomic_fetch_add(words, 1, peer());
}
static void put_signal_add(size_t n)
{
    static unsigned char host[4096];
    rocshmem_putmem_signal(heap, host, n, words + 1, 1, ROCSHMEM_SIGNAL_ADD, peer());
}
static void atomic_set(size_t n)
{
    (void)n;
    rocshmem_uint64_atomic_set(words + 2, 1, peer());
}

/* Everyone at once. on_stream: the call returns before the work is done. */
static void measure(const char *name, void (*run)(size_t), size_t nbytes, int times, bool on_stream)
{
    double issue[TIMES], total[TIMES];
    for (int k = -3; k < times; k++) {
        if (k <= 0 || on_stream) rocshmem_barrier_all();
        double begin = now_us();
        run(nbytes);
        double issued = now_us();
        if (on_stream) sync_stream();
        if (k >= 0) {
            issue[k] = issued - begin;
            total[k] = now_us() - begin;
        }
    }
    rocshmem_barrier_all();
    row(name, nbytes, on_stream ? issue : NULL, total, times);
}

/* A train of operations: how fast they can be issued, and how fast the device takes them. */
static void train(const char *name, void (*run)(size_t), size_t nbytes)
{
    double issue[20], total[20];
    for (int k = -1; k < 20; k++) {
        rocshmem_barrier_all();
        double begin = now_us();
        for (int i = 0; i < 100; i++) run(nbytes);
        double issued = now_us();
        sync_stream();
        if (k < 0) continue;
        issue[k] = (issued - begin) / 100;
        total[k] = (now_us() - begin) / 100;
    }
    rocshmem_barrier_all();
    row(name, nbytes, issue, total, 20);
}

static void ping_pong(void)
{
    double total[20];
    uint64_t k = 0;
    int other = me ^ 1;
    for (int r = -1; r < 20; r++) {
        rocshmem_barrier_all();
        double begin = now_us();
        for (int i = 0; i < 50 && other < n_pes; i++) {
            k++;
            if (me & 1) rocshmem_signal_wait_until_on_stream(words + 3, ROCSHMEM_CMP_GE, k, stream);
            rocshmem_putmem_signal_on_stream(heap, source, 8, words + 3, k, ROCSHMEM_SIGNAL_SET, other,
                                             stream);
            if (!(me & 1)) rocshmem_signal_wait_until_on_stream(words + 3, ROCSHMEM_CMP_GE, k, stream);
        }
        sync_stream();
        if (r >= 0) total[r] = (now_us() - begin) / 50;
    }
    row("put_signal_on_stream ping-pong, round trip", 8, NULL, total, 20);
}

int main(void)
{
    static const size_t sizes[] = {8, 4096, 65536, 524288};
    size_t large = (size_t)512 << 20;
    double begin = now_us();
    rocshmem_init();
    double took = now_us() - begin;
    me = rocshmem_my_pe();
    n_pes = rocshmem_n_pes();
    if (me < 0 || strcmp(rocshmemx_device_name(), "cuda") != 0) {
        printf("FAIL the job is not on a cuda device\n");
        return 2;
    }
    driver = driver_open(0);
    void *context;
    driver.init(0);
    driver.retain(&context, rocshmemx_device_ordinal());
    driver.set_current(context);
    if (me == 0) printf("{\"row\": \"init\", \"pes\": %d, \"total_us\": %.0f}\n", n_pes, took);
    rocshmemx_stream_create(&stream);
    heap = rocshmem_malloc(large);
    source = rocshmem_malloc(large);
    words = rocshmem_calloc(16, 8);
    if (!heap || !source || !words) {
        printf("FAIL no memory; set ROCSHMEM_HEAP_SIZE=2G\n");
        return 2;
    }
    for (int i = 0; i < 4; i++) {
        train("put_on_stream", put, sizes[i]);
        train("cuMemcpyDtoDAsync", raw_copy, sizes[i]);
    }
    measure("put_on_stream + synchronize", put, 8, TIMES, true);
    measure("put_on_stream large", put, large, 20, true);
    measure("cuMemcpyDtoDAsync large", raw_copy, large, 20, true);
    measure("barrier_all_on_stream + synchronize", stream_barrier, 0, TIMES, true);
    train("barrier_all_on_stream", stream_barrier, 0);
    if (n_pes > 1) ping_pong();
    train("signal_add_on_stream", stream_add, 0);
    measure("alltoallmem_on_stream", stream_alltoall, 1 << 20, 50, true);
    measure("broadcastmem_on_stream", stream_broadcast, 1 << 20, 50, true);
    measure("float_sum_reduce_on_stream", stream_reduce, 1 << 20, 20, true);
    measure("putmem blocking", blocking_put, 8, TIMES, false);
    measure("getmem blocking", blocking_get, 8, TIMES, false);
    measure("barrier_all on the host", host_barrier, 0, TIMES, false);
    measure("fetch_add by the host", fetch_add, 0, TIMES, false);
    measure("atomic_set by the host", atomic_set, 0, TIMES, false);
    measure("putmem_signal ADD by the host", put_signal_add, 8, TIMES, false);
    rocshmem_free(heap);
    rocshmem_free(source);
    rocshmem_free(words);
    rocshmemx_stream_destroy(stream);
    rocshmem_finalize();
    return 0;
}
