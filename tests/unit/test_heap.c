/* SPDX-License-Identifier: MIT
 *
 * Allocations, holds and drops with PEs as threads: the same offsets everywhere, and nothing reused too
 * early. Run under the thread sanitizer too.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "pes.h"

#define HEAP ((size_t)1 << 20)

static void run(int n, void (*body)(struct rs_job *, void *))
{
    struct pes pes;
    pes_create(&pes, n, 2, HEAP);
    pes_run(&pes, body, NULL);
    pes_destroy(&pes);
}

/* Drops and the end of holds go to the process's current heap: here, each PE's in turn. */
static pthread_mutex_t current = PTHREAD_MUTEX_INITIALIZER;

static void as_current(struct rs_job *job, const void *dropped, struct rs_hold *released)
{
    CHECK(pthread_mutex_lock(&current) == 0);
    rs_heap_make_current(&job->heap);
    if (dropped) rs_heap_drop_current(dropped);
    rs_hold_destroy(released);
    rs_heap_make_current(NULL);
    CHECK(pthread_mutex_unlock(&current) == 0);
}

static void drop(struct rs_job *job, const void *p)
{
    as_current(job, p, NULL);
}

static void settle(struct rs_job *job)
{
    struct rs_signature s = pes_call(job->world, RS_CALL_MALLOC, RS_KIND_MALLOC, 1, 2, 3);
    CHECK(rs_job_settle(job, &s, NULL) == 0);
}

static unsigned char *allocate(struct rs_job *job, size_t nbytes, size_t align)
{
    void *p = NULL;
    settle(job);
    CHECK(rs_heap_alloc(&job->heap, nbytes, align, &p) == 0);
    return p;
}

static size_t used(struct rs_job *job)
{
    size_t nbytes, largest;
    rs_heap_info(&job->heap, &nbytes, &largest);
    return nbytes;
}

static void release(struct rs_job *job, void *p)
{
    uint64_t offset;
    CHECK(rs_heap_free(&job->heap, p, &offset) == 0);
    CHECK(offset == (uintptr_t)p - job->heap.base);
    settle(job);
}

static void random_life(struct rs_job *job, void *arg)
{
    (void)arg;
    enum { BLOCKS = 30 };
    struct {
        unsigned char *p;
        size_t nbytes;
    } blocks[BLOCKS] = {{0}};
    uint64_t random = 3, mine = (uint64_t)job->my_pe; /* random is equal on all PEs, mine is not */
    for (int i = 0; i < 600; i++) {
        int k = (int)(pes_random(&random) % BLOCKS), how = (int)(pes_random(&random) % 3);
        size_t nbytes = 1 + (size_t)(pes_random(&random) % 8000),
               align = (size_t)8 << pes_random(&random) % 8;
        if (blocks[k].p) {
            for (size_t b = 0; b < blocks[k].nbytes; b++)
                CHECK(blocks[k].p[b] == (unsigned char)(k + job->my_pe));
            if (how == 0)
                drop(job, blocks[k].p); /* no PE waits for another here */
            else
                release(job, blocks[k].p);
            blocks[k].p = NULL;
            continue;
        }
        blocks[k].p = allocate(job, nbytes, align);
        blocks[k].nbytes = nbytes;
        CHECK((uintptr_t)blocks[k].p % (align < 256 ? align : 256) == 0);
        memset(blocks[k].p, k + job->my_pe, nbytes);
        if (pes_random(&mine) % 4) continue;
        struct rs_hold *hold = NULL; /* held on this PE only, over other PEs' calls, for a while */
        CHECK(rs_hold_create(&job->heap, blocks[k].p + nbytes - 1, &hold) == 0);
        as_current(job, NULL, hold);
    }
    for (int k = 0; k < BLOCKS; k++)
        if (blocks[k].p) release(job, blocks[k].p);
    settle(job);
    settle(job);
    CHECK(used(job) == 0);
}

static void random_lives_end_in_an_empty_heap_on_every_pe(void **state)
{
    (void)state;
    for (int n = 1; n <= 5; n += 2) run(n, random_life);
}

static void held(struct rs_job *job, void *arg)
{
    (void)arg;
    unsigned char *p = allocate(job, 1000, 256), *q;
    struct rs_hold *hold = NULL;
    if (job->my_pe == 0) CHECK(rs_hold_create(&job->heap, p + 5, &hold) == 0);
    release(job, p);
    CHECK(used(job) == 1024); /* on every PE */
    q = allocate(job, 1000, 256);
    CHECK(q != p);
    as_current(job, NULL, hold);
    release(job, q);
    settle(job);
    CHECK(used(job) == 0);
    q = allocate(job, 1000, 256);
    CHECK(q == p);
    release(job, q);
}

static void a_hold_on_one_pe_keeps_the_block_on_all(void **state)
{
    (void)state;
    for (int n = 1; n <= 4; n++) run(n, held);
}

static void half_dropped(struct rs_job *job, void *arg)
{
    (void)arg;
    unsigned char *p = allocate(job, 64, 256);
    if (job->my_pe > 0) drop(job, p);
    settle(job);
    settle(job);
    if (job->n_pes > 1) CHECK(used(job) == 256);
    if (job->my_pe == 0) drop(job, p);
    drop(job, p); /* a second one is nothing */
    settle(job);
    settle(job);
    CHECK(used(job) == 0);
    drop(job, p);
    settle(job);
    CHECK(used(job) == 0);
}

static void a_block_is_released_when_the_last_pe_has_dropped_it(void **state)
{
    (void)state;
    for (int n = 1; n <= 4; n++) run(n, half_dropped);
}

static void many_drops(struct rs_job *job, void *arg)
{
    (void)arg;
    for (int round = 0; round < 3; round++) {
        unsigned char *p[300];
        for (int i = 0; i < 300; i++) p[i] = allocate(job, 16, 8);
        for (int i = 0; i < 300; i++) drop(job, p[(i * 7 + job->my_pe * 31) % 300]);
        settle(job);
        settle(job);
        CHECK(used(job) == 0);
    }
}

static void drops_in_any_order_are_released_together(void **state)
{
    (void)state;
    run(4, many_drops);
}

static void wrong(struct rs_job *job, void *arg)
{
    (void)arg;
    uint64_t offset;
    int local = 0;
    unsigned char *p = allocate(job, 100, 256);
    CHECK(rs_heap_free(&job->heap, p + 1, &offset) == RS_E_ARG);
    CHECK(rs_heap_free(&job->heap, &local, &offset) == RS_E_ARG && strstr(rs_error_slot()->text, "ptr"));
    CHECK(rs_heap_explain(&job->heap, "dest", p, 101) == RS_E_ARG && strstr(rs_error_slot()->text, "dest"));
    void *none = NULL;
    CHECK(rs_heap_alloc(&job->heap, HEAP, 256, &none) == RS_E_NOMEM && !none);
    CHECK(strstr(rs_error_slot()->text, "ROCSHMEM_HEAP_SIZE"));
    release(job, p);
    CHECK(rs_heap_free(&job->heap, p, &offset) == RS_E_ARG);
}

static void wrong_addresses_and_sizes_are_worded(void **state)
{
    (void)state;
    run(1, wrong);
    run(2, wrong);
}

/* More drops at one time than the log has entries: they go through it in turn. */
static void more_drops_than_the_log_holds(struct rs_job *job, void *arg)
{
    enum { N = RS_DROP_LOG + 100 };
    void **blocks = (void **)arg + (size_t)job->my_pe * N;
    settle(job);
    for (int i = 0; i < N; i++) CHECK(rs_heap_alloc(&job->heap, 1, 8, &blocks[i]) == 0);
    CHECK(used(job) == (size_t)N * RS_HEAP_ALIGN);
    for (int i = 0; i < N; i++) {
        uint64_t offset;
        CHECK(rs_heap_free(&job->heap, blocks[i], &offset) == 0);
    }
    settle(job);
    CHECK(used(job) == 100 * RS_HEAP_ALIGN); /* the log is full */
    for (int i = 0; i < 3; i++) settle(job);
    CHECK(used(job) == 0);
    CHECK(job->heap.blocks.n == 1);
}

static void drops_wait_for_room_in_the_log(void **state)
{
    (void)state;
    struct pes pes;
    void **blocks = calloc(2 * (RS_DROP_LOG + 100), sizeof *blocks);
    assert_non_null(blocks);
    pes_create(&pes, 2, 2, (size_t)4 << 20);
    pes_run(&pes, more_drops_than_the_log_holds, blocks);
    pes_destroy(&pes);
    free(blocks);
}

static int n_unmapped;

static void count_unmap(struct rs_windows *windows)
{
    n_unmapped += windows->nbytes == 4096 && windows->n_local == 1;
    free(windows->base);
}

static void the_last_hold_unmaps_the_window_after_the_heap_is_gone(void **state)
{
    (void)state;
    const struct rs_device_ops ops = {.windows_unmap = count_unmap};
    static unsigned char memory[4096];
    struct rs_window *window;
    struct rs_heap heap;
    struct rs_hold *holds[2];
    void *p;
    n_unmapped = 0;
    struct rs_windows windows = {
        .nbytes = 4096, .align = 4096, .n_local = 1, .base = malloc(sizeof(uintptr_t))};
    assert_non_null(windows.base);
    windows.base[0] = (uintptr_t)memory;
    assert_int_equal(rs_window_create(&window, &ops, &windows), 0);
    assert_int_equal(rs_heap_init(&heap, window, 4096, NULL, 1, 0, NULL), 0);
    rs_heap_make_current(&heap);
    assert_int_equal(rs_heap_alloc(&heap, 1000, 8, &p), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(rs_hold_create(&heap, p, &holds[i]), 0);
    assert_int_equal(rs_hold_create(&heap, memory + 2000, &holds[0]), RS_E_ARG); /* holds[0] is as it was */
    rs_heap_make_current(NULL);
    rs_heap_fini(&heap);
    rs_heap_fini(&heap); /* zeroed is fine */
    assert_int_equal(n_unmapped, 0);
    rs_hold_destroy(holds[0]);
    assert_int_equal(n_unmapped, 0);
    rs_hold_destroy(holds[1]);
    assert_int_equal(n_unmapped, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_lives_end_in_an_empty_heap_on_every_pe),
        cmocka_unit_test(a_hold_on_one_pe_keeps_the_block_on_all),
        cmocka_unit_test(a_block_is_released_when_the_last_pe_has_dropped_it),
        cmocka_unit_test(drops_in_any_order_are_released_together),
        cmocka_unit_test(wrong_addresses_and_sizes_are_worded),
        cmocka_unit_test(drops_wait_for_room_in_the_log),
        cmocka_unit_test(the_last_hold_unmaps_the_window_after_the_heap_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
