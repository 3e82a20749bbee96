/* SPDX-License-Identifier: MIT
 *
 * Cases with more memory: transfers that are only begun, collectives on streams with large blocks, and a heap that
 * grows until the GPU is full.
 */
#include "gpu.h"

/* What is only begun is complete after quiet, after a barrier, and before the memory goes back. */
void transfers_that_are_begun_complete(void)
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

/* Large enough for streams of the library's own beside the user's, which a graph takes in. */
void large_collectives_run_side_by_side(void)
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

static size_t room_in_heap(void)
{
    size_t free_nbytes = 0;
    CHECK(rocshmemx_heap_info(NULL, NULL, &free_nbytes) == 0);
    return free_nbytes;
}

/* Parts that lie side by side are one piece for a copy; a block may be anywhere in them. */
void the_heap_grows(void)
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
void a_full_gpu_is_an_error_on_every_pe(void)
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
    /* Where PEs share the GPU it is full for all, and the first that finds out is named. */
    if (!block) {
        bool full = rocshmemx_take_error(&error) && error.status == -3 && error.pe >= 0 && error.pe < n_pes;
        if (!full) fprintf(stderr, "PE %d: status %d, PE %d: %s\n", me, error.status, error.pe, error.text);
        CHECK(full);
    }
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
