/* SPDX-License-Identifier: MIT
 *
 * What the operations cost on GPU memory: time to issue and time in all for work on streams, time of a call for
 * what blocks, rates of large copies; and the driver's own copy as the limit. Medians of the slowest PE, one JSON
 * line a row. Touches no heap by the CPU.
 *
 *     rocshmem-run -n N rocshmem-gpu-bench            everything
 *     rocshmem-run -n N rocshmem-gpu-bench context    the driver's part of init alone
 */
#include <rocshmem/rocshmemx.h>
#include <string.h>

#include "driver.h"
#include "measure.h"

static struct driver driver;
static void *stream;
static unsigned char *heap, *source;
static uint64_t *words;

static void meet(void)
{
    rocshmem_barrier_all();
}
static void sync_stream(void)
{
    driver.sync(stream);
}

static double *most; /* symmetric, two; NULL before they are there */
static double slowest(double mine)
{
    if (!most) return mine;
    rocshmem_putmem(most, &mine, sizeof mine, me);
    rocshmem_double_max_reduce(ROCSHMEM_TEAM_WORLD, most + 1, most, 1);
    rocshmem_getmem(&mine, most + 1, sizeof mine, me);
    return mine;
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

/* What every program pays that uses the device: the driver's start and a context. No job is needed. */
static int context_alone(void)
{
    const char *rank = getenv("RANK"), *world = getenv("WORLD_SIZE");
    void *context = NULL;
    me = rank ? atoi(rank) : 0;
    n_pes = world ? atoi(world) : 1;
    double begin = now_us();
    driver = driver_open(0);
    if (driver.init(0) != 0 || driver.retain(&context, 0) != 0 || driver.set_current(context) != 0) {
        printf("FAIL no context of device 0\n");
        return 2;
    }
    double took = now_us() - begin;
    impl = "driver";
    row("init", 0, NULL, &took, 1);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "context") == 0) return context_alone();
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
    row("init", 0, NULL, &took, 1);
    rocshmemx_stream_create(&stream);
    heap = rocshmem_malloc(large);
    source = rocshmem_malloc(large);
    words = rocshmem_calloc(16, 8);
    if (!heap || !source || !words) {
        printf("FAIL no memory; set ROCSHMEM_HEAP_SIZE=2G\n");
        return 2;
    }
    most = rocshmem_calloc(2, sizeof *most);
    train("put_on_stream", put, 0); /* what a call costs besides the copy */
    for (int i = 0; i < 4; i++) {
        train("put_on_stream", put, sizes[i]);
        impl = "driver"; /* its copy is the limit */
        train("put_on_stream", raw_copy, sizes[i]);
        impl = "rocshmem";
    }
    measure("put_on_stream + synchronize", put, 8, TIMES, true);
    measure("put_on_stream large", put, large, 20, true);
    impl = "driver";
    measure("put_on_stream large", raw_copy, large, 20, true);
    impl = "rocshmem";
    measure("barrier_all_on_stream + synchronize", stream_barrier, 0, TIMES, true);
    train("barrier_all_on_stream", stream_barrier, 0);
    if (n_pes > 1) ping_pong();
    train("signal_add_on_stream", stream_add, 0);
    measure("signal_add_on_stream + synchronize", stream_add, 0, TIMES, true);
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
    rocshmem_free(most);
    rocshmemx_stream_destroy(stream);
    rocshmem_finalize();
    return 0;
}
