/* SPDX-License-Identifier: MIT
 *
 * NVSHMEM in the loops of tests/gpu/bench.c, for the comparison in scripts/gpu.sh. RANK and WORLD_SIZE say who
 * this is; the unique id travels in the file that the first argument names.
 */
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>
#include <string.h>
#include <unistd.h>

#include "../../tests/gpu/measure.h"

static cudaStream_t stream;
static char *heap, *source;
static uint64_t *words;

static void meet(void)
{
    nvshmem_barrier_all();
}
static void sync_stream(void)
{
    cudaStreamSynchronize(stream);
}
static double slowest(double mine) /* its PEs are alike */
{
    return mine;
}
static int peer(void)
{
    return (me + 1) % n_pes;
}
static void put(size_t n)
{
    nvshmemx_putmem_on_stream(heap, source, n, peer(), stream);
}
static void stream_barrier(size_t)
{
    nvshmemx_barrier_all_on_stream(stream);
}
static void stream_alltoall(size_t n)
{
    nvshmemx_alltoallmem_on_stream(NVSHMEM_TEAM_WORLD, heap, source, n, stream);
}
static void stream_broadcast(size_t n)
{
    nvshmemx_broadcastmem_on_stream(NVSHMEM_TEAM_WORLD, heap, source, n, 0, stream);
}
static void stream_reduce(size_t n)
{
    nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, (float *)heap, (float *)source, n / 4, stream);
}
static void stream_add(size_t)
{
    nvshmemx_signal_op_on_stream(words, 1, NVSHMEM_SIGNAL_ADD, peer(), stream);
}
static void blocking_put(size_t n)
{
    static char host[4096];
    nvshmem_putmem(heap, host, n, peer());
}
static void blocking_get(size_t n)
{
    static char host[4096];
    nvshmem_getmem(host, heap, n, peer());
}
static void host_barrier(size_t)
{
    nvshmem_barrier_all();
}

/* PE 0 writes the file under another name first, so that it is there whole or not at all. */
static bool share(const char *path, nvshmemx_uniqueid_t *id)
{
    char part[512];
    snprintf(part, sizeof part, "%s.part", path);
    if (me == 0) {
        FILE *file = nvshmemx_get_uniqueid(id) == 0 ? fopen(part, "wb") : NULL;
        bool whole = file && fwrite(id, sizeof *id, 1, file) == 1;
        return file && fclose(file) == 0 && whole && rename(part, path) == 0;
    }
    for (int k = 0; k < 3000; k++) {
        FILE *file = fopen(path, "rb");
        if (file) {
            bool whole = fread(id, sizeof *id, 1, file) == 1;
            fclose(file);
            return whole;
        }
        usleep(10000);
    }
    return false;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 4096, 65536, 524288};
    const size_t large = (size_t)512 << 20;
    const char *rank = getenv("RANK"), *world = getenv("WORLD_SIZE");
    nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
    nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
    impl = "nvshmem";
    me = rank ? atoi(rank) : 0;
    n_pes = world ? atoi(world) : 1;
    setenv("NVSHMEM_SYMMETRIC_SIZE", "2147483648", 0);
    double begin = now_us();
    if (argc < 2 || !share(argv[1], &id) || cudaSetDevice(0) != cudaSuccess ||
        nvshmemx_set_attr_uniqueid_args(me, n_pes, &id, &attr) != 0 ||
        nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr) != 0) {
        printf("FAIL nvshmem does not start\n");
        return 2;
    }
    double took = now_us() - begin;
    row("init", 0, NULL, &took, 1);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    heap = (char *)nvshmem_malloc(large);
    source = (char *)nvshmem_malloc(large);
    words = (uint64_t *)nvshmem_calloc(16, 8);
    if (!heap || !source || !words) {
        printf("FAIL no memory\n");
        return 2;
    }
    for (int i = 0; i < 4; i++) train("put_on_stream", put, sizes[i]);
    measure("put_on_stream + synchronize", put, 8, TIMES, true);
    measure("put_on_stream large", put, large, 20, true);
    measure("barrier_all_on_stream + synchronize", stream_barrier, 0, TIMES, true);
    train("barrier_all_on_stream", stream_barrier, 0);
    measure("putmem blocking", blocking_put, 8, n_pes > 1 ? 50 : TIMES, false);
    measure("getmem blocking", blocking_get, 8, n_pes > 1 ? 50 : TIMES, false);
    measure("barrier_all on the host", host_barrier, 0, n_pes > 1 ? 50 : TIMES, false);
    if (n_pes == 1) {
        train("signal_add_on_stream", stream_add, 0);
        measure("alltoallmem_on_stream", stream_alltoall, 1 << 20, 50, true);
        measure("broadcastmem_on_stream", stream_broadcast, 1 << 20, 50, true);
        measure("float_sum_reduce_on_stream", stream_reduce, 1 << 20, 20, true);
    } else {
        const char *why = "not tried with several PEs on a GPU";
        no_row("signal_add_on_stream", why);
        no_row("alltoallmem_on_stream", why);
        no_row("broadcastmem_on_stream", why);
        no_row("float_sum_reduce_on_stream", why);
    }
    nvshmem_free(words);
    nvshmem_free(source);
    nvshmem_free(heap);
    nvshmem_finalize();
    return 0;
}
