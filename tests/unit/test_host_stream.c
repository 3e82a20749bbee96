/* SPDX-License-Identifier: MIT
 *
 * Host streams by themselves: order, parking, failure, many threads. Run under the thread sanitizer too.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "device/host_stream.h"
#include "pes.h"
#include "rocshmem/rocshmem.h"

#define INLINE_NBYTES 4096

static struct rs_streams *streams;

static int set_up(void **state)
{
    (void)state;
    return rs_streams_create(&streams, NULL, INLINE_NBYTES);
}

static int tear_down(void **state)
{
    (void)state;
    rs_streams_destroy(streams);
    return 0;
}

static void *new_stream(void)
{
    void *stream = NULL;
    CHECK(rs_streams_add(streams, &stream) == 0);
    return stream;
}

static int copy(void *stream, void *dst, const void *src, size_t nbytes)
{
    struct rs_work work = {.kind = RS_WORK_COPY, .u.copy = {dst, src, nbytes}};
    return rs_streams_push(streams, stream, &work);
}

static int operation(void *stream, enum rs_memop_kind kind, int cmp, uint64_t *word, uint64_t value)
{
    struct rs_memop op = {.kind = kind, .cmp = cmp, .word = word, .value = value};
    struct rs_work work = {.kind = RS_WORK_BATCH, .u.batch = {&op, 1}};
    return rs_streams_push(streams, stream, &work);
}

static int call(void *stream, int (*fn)(void *arg, bool failed), void *arg)
{
    struct rs_work work = {.kind = RS_WORK_CALL, .u.call = {fn, arg}};
    return rs_streams_push(streams, stream, &work);
}

static void release(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* --- one stream --- */

static void small_work_of_an_idle_stream_is_done_at_once(void **state)
{
    (void)state;
    char from[INLINE_NBYTES] = {7}, to[INLINE_NBYTES] = {0};
    void *stream = new_stream();
    assert_int_equal(copy(stream, to, from, sizeof to), 0);
    assert_memory_equal(to, from, sizeof to);
    assert_int_equal(rs_streams_query(streams, stream), 1);
    assert_int_equal(rs_streams_remove(streams, stream), 0);
}

static void a_long_copy_is_done_when_synchronize_returns(void **state)
{
    (void)state;
    size_t nbytes = ((size_t)3 << 20) + 17;
    unsigned char *from = malloc(nbytes), *to = calloc(1, nbytes);
    assert_true(from && to);
    memset(from, 0x5a, nbytes);
    void *stream = new_stream();
    assert_int_equal(copy(NULL, to, from, nbytes / 2), 0);
    for (int i = 0; i < 3; i++) assert_int_equal(copy(stream, to + nbytes / 2, from, nbytes - nbytes / 2), 0);
    assert_int_equal(rs_streams_synchronize_all(streams), 0);
    assert_memory_equal(to, from, nbytes);
    assert_int_equal(rs_streams_remove(streams, stream), 0);
    free(from);
    free(to);
}

static void work_behind_a_wait_stays_behind_it(void **state)
{
    (void)state;
    uint64_t word = 0, order[3] = {0}, one = 1;
    void *stream = new_stream();
    assert_int_equal(operation(stream, RS_MEMOP_WAIT, ROCSHMEM_CMP_EQ, &word, 1), 0);
    for (int i = 0; i < 3; i++) assert_int_equal(copy(stream, &order[i], i ? &order[i - 1] : &one, 8), 0);
    assert_int_equal(rs_streams_query(streams, stream), 0);
    assert_int_equal(__atomic_load_n(&order[0], __ATOMIC_ACQUIRE), 0);
    release(&word, 1);
    assert_int_equal(rs_streams_synchronize(streams, stream), 0);
    assert_int_equal(order[2], 1);
    assert_int_equal(rs_streams_remove(streams, stream), 0);
}

static void every_comparison_parks_until_it_holds(void **state)
{
    (void)state;
    static const struct {
        int cmp;
        uint64_t before, after;
    } rows[] = {{ROCSHMEM_CMP_EQ, 4, 5}, {ROCSHMEM_CMP_NE, 5, 4},          {ROCSHMEM_CMP_GT, 5, UINT64_MAX},
                {ROCSHMEM_CMP_GE, 4, 5}, {ROCSHMEM_CMP_LT, UINT64_MAX, 4}, {ROCSHMEM_CMP_LE, 6, 5}};
    void *stream = new_stream();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t word = rows[i].before;
        assert_int_equal(operation(stream, RS_MEMOP_WAIT, rows[i].cmp, &word, 5), 0);
        assert_int_equal(rs_streams_query(streams, stream), 0);
        release(&word, rows[i].after);
        assert_int_equal(rs_streams_synchronize(streams, stream), 0);
    }
    assert_int_equal(rs_streams_remove(streams, stream), 0);
}

static void a_batch_is_executed_in_its_order(void **state)
{
    (void)state;
    uint64_t a = 0, b = 0;
    struct rs_memop ops[] = {{RS_MEMOP_ADD, 0, false, &a, 5},
                             {RS_MEMOP_WRITE, 0, false, &b, 1},
                             {RS_MEMOP_WAIT, ROCSHMEM_CMP_EQ, false, &a, 7},
                             {RS_MEMOP_WRITE, 0, false, &b, 2}};
    struct rs_work work = {.kind = RS_WORK_BATCH, .u.batch = {ops, 4}};
    void *stream = new_stream();
    assert_int_equal(rs_streams_push(streams, stream, &work), 0);
    memset(ops, 0xff, sizeof ops); /* they were copied */
    while (__atomic_load_n(&b, __ATOMIC_ACQUIRE) == 0) continue;
    assert_int_equal(__atomic_load_n(&b, __ATOMIC_ACQUIRE), 1);
    __atomic_fetch_add(&a, 2, __ATOMIC_ACQ_REL);
    assert_int_equal(rs_streams_synchronize(streams, stream), 0);
    assert_int_equal(b, 2);
    assert_int_equal(rs_streams_remove(streams, stream), 0);
}

/* --- streams that wait for each other --- */

static void a_chain_of_streams_runs_by_the_worker_alone(void **state)
{
    (void)state;
    enum { LENGTH = 40 };
    uint64_t words[LENGTH + 1] = {0};
    void *chain[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
        chain[i] = new_stream();
        assert_int_equal(operation(chain[i], RS_MEMOP_WAIT, ROCSHMEM_CMP_EQ, &words[i + 1], 1), 0);
        assert_int_equal(operation(chain[i], RS_MEMOP_WRITE, 0, &words[i], 1), 0);
    }
    release(&words[LENGTH], 1);
    struct rs_wait wait;
    rs_wait_begin(&wait, NULL);
    while (!__atomic_load_n(&words[0], __ATOMIC_ACQUIRE)) assert_int_equal(rs_wait_pause(&wait), 0);
    for (int i = 0; i < LENGTH; i++) assert_int_equal(rs_streams_remove(streams, chain[i]), 0);
}

/* --- failures --- */

static _Atomic int n_told;

static int fails(void *arg, bool failed)
{
    (void)arg;
    if (failed) return 0;
    return rs_fail(RS_E_MISMATCH, "this one fails");
}

static int counts(void *arg, bool failed)
{
    (void)arg;
    if (failed) atomic_fetch_add(&n_told, 1);
    return 0;
}

static void a_failed_call_takes_what_is_behind_it_along_and_is_told_once(void **state)
{
    (void)state;
    uint64_t word = 0, never = 0, one = 1;
    void *stream = new_stream();
    atomic_store(&n_told, 0);
    assert_int_equal(operation(stream, RS_MEMOP_WAIT, ROCSHMEM_CMP_EQ, &word, 1), 0);
    assert_int_equal(call(stream, fails, NULL), 0);
    assert_int_equal(call(stream, counts, NULL), 0);
    assert_int_equal(copy(stream, &never, &one, 8), 0);
    release(&word, 1);
    assert_int_equal(rs_streams_synchronize(streams, stream), RS_E_MISMATCH);
    assert_string_equal(rs_error_slot()->text, "this one fails");
    assert_int_equal(atomic_load(&n_told), 1);
    assert_int_equal(never, 0);
    assert_int_equal(rs_streams_synchronize(streams, stream), 0);
    assert_int_equal(copy(stream, &never, &one, 8), 0); /* the stream works on */
    assert_int_equal(rs_streams_synchronize(streams, stream), 0);
    assert_int_equal(never, 1);
    assert_int_equal(rs_streams_remove(streams, stream), 0);
}

/* Thread 0 runs a failing call inline; thread 1 pushes behind it before it has failed. */
struct late {
    void *stream;
    _Atomic bool running, pushed;
    uint64_t never, again;
};

static int fails_late(void *arg, bool failed)
{
    struct late *late = arg;
    if (failed) return 0;
    atomic_store(&late->running, true);
    while (!atomic_load(&late->pushed)) rs_wait_sleep_ns(10000);
    return rs_fail(RS_E_MISMATCH, "this one fails");
}

static int starts_anew(void *arg, bool failed)
{
    struct late *late = arg;
    CHECK(failed);
    atomic_fetch_add(&n_told, 1);
    CHECK(operation(late->stream, RS_MEMOP_ADD, 0, &late->again, 1) == 0);
    CHECK(__atomic_load_n(&late->again, __ATOMIC_ACQUIRE) == 0); /* nothing runs beside a drop */
    return 0;
}

static void push_or_run_the_failing(int number, void *arg)
{
    struct late *late = arg;
    uint64_t one = 1;
    if (number == 0) {
        CHECK(call(late->stream, fails_late, late) == 0);
        return;
    }
    while (!atomic_load(&late->running)) rs_wait_sleep_ns(10000);
    CHECK(copy(late->stream, &late->never, &one, 8) == 0);
    CHECK(call(late->stream, counts, NULL) == 0);
    if (late->again) CHECK(call(late->stream, starts_anew, late) == 0);
    late->again = 0;
    atomic_store(&late->pushed, true);
}

static void a_call_that_fails_inline_takes_along_what_others_pushed_meanwhile(void **state)
{
    (void)state;
    for (uint64_t again = 0; again < 2; again++) {
        struct late late = {.stream = new_stream(), .again = again};
        atomic_store(&n_told, 0);
        pes_threads(2, push_or_run_the_failing, &late);
        assert_int_equal(rs_streams_synchronize(streams, late.stream), RS_E_MISMATCH);
        assert_string_equal(rs_error_slot()->text, "this one fails");
        assert_int_equal(atomic_load(&n_told), 1 + again);
        assert_int_equal(late.never, 0);
        assert_int_equal(late.again, again); /* pushed during the drop: behind it, not with it */
        assert_int_equal(rs_streams_query(streams, late.stream), 1);
        assert_int_equal(operation(late.stream, RS_MEMOP_ADD, 0, &late.never, 1), 0);
        assert_int_equal(late.never, 1); /* an idle stream again: done at once */
        assert_int_equal(rs_streams_remove(streams, late.stream), 0);
    }
}

static void an_unknown_stream_and_the_default_one_are_not_removed(void **state)
{
    (void)state;
    void *gone = new_stream();
    char byte = 0;
    assert_int_equal(rs_streams_remove(streams, gone), 0);
    assert_int_equal(rs_streams_remove(streams, gone), RS_E_ARG);
    assert_int_equal(rs_streams_remove(streams, NULL), RS_E_ARG);
    assert_int_equal(rs_streams_synchronize(streams, gone), RS_E_ARG);
    assert_int_equal(rs_streams_query(streams, gone), RS_E_ARG);
    assert_int_equal(copy(gone, &byte, &byte, 1), RS_E_ARG);
    assert_int_equal(rs_streams_query(streams, NULL), 1);
}

static void destroy_tells_the_calls_that_are_left(void **state)
{
    (void)state;
    uint64_t word = 0;
    struct rs_streams *kept = streams;
    assert_int_equal(rs_streams_create(&streams, NULL, INLINE_NBYTES), 0);
    void *stream = new_stream();
    atomic_store(&n_told, 0);
    assert_int_equal(operation(stream, RS_MEMOP_WAIT, ROCSHMEM_CMP_EQ, &word, 1), 0);
    for (int i = 0; i < 5; i++) assert_int_equal(call(stream, counts, NULL), 0);
    rs_streams_destroy(streams);
    streams = kept;
    assert_int_equal(atomic_load(&n_told), 5);
}

/* --- a watch that ends waits --- */

struct watcher {
    pthread_t self; /* whose waits end by status */
    _Atomic int status, n_of_worker;
};

static int on_tick(void *arg, uint64_t waited_ns, int first)
{
    struct watcher *watcher = arg;
    (void)waited_ns;
    (void)first;
    bool worker = !pthread_equal(pthread_self(), watcher->self);
    if (worker) atomic_fetch_add(&watcher->n_of_worker, 1);
    int status = atomic_load(&watcher->status);
    if (status == 0 || (worker && status == RS_E_INTERRUPTED)) return 0;
    return rs_fail(status, "the watch says so");
}

/* On streams of its own, behind a wait that is never satisfied. */
static void with_watch(void (*body)(struct watcher *, void *stream))
{
    struct watcher watcher = {.self = pthread_self()};
    struct rs_watch watch = {.tick = on_tick, .arg = &watcher};
    struct rs_streams *kept = streams;
    uint64_t never = 0;
    assert_int_equal(rs_streams_create(&streams, &watch, INLINE_NBYTES), 0);
    void *stream = new_stream();
    assert_int_equal(operation(stream, RS_MEMOP_WAIT, ROCSHMEM_CMP_EQ, &never, 1), 0);
    atomic_store(&n_told, 0);
    assert_int_equal(call(stream, counts, NULL), 0);
    body(&watcher, stream);
    rs_streams_destroy(streams);
    streams = kept;
}

static void broken_while_parked(struct watcher *watcher, void *stream)
{
    assert_int_equal(rs_streams_query(streams, stream), 0);
    atomic_store(&watcher->status, RS_E_BROKEN);
    while (rs_streams_query(streams, stream) == 0) rs_wait_sleep_ns(1000000); /* the worker ends it */
    assert_int_equal(atomic_load(&n_told), 1);
    assert_int_equal(rs_streams_synchronize(streams, stream), RS_E_BROKEN);
    assert_non_null(strstr(rs_error_slot()->text, "the watch says so"));
    assert_int_equal(rs_streams_synchronize(streams, stream), 0); /* told once */
}

static void a_parked_stream_ends_when_the_job_is_broken(void **state)
{
    (void)state;
    with_watch(broken_while_parked);
}

static void interrupted_while_parked(struct watcher *watcher, void *stream)
{
    atomic_store(&watcher->status, RS_E_INTERRUPTED);
    assert_int_equal(rs_streams_synchronize(streams, stream), RS_E_INTERRUPTED);
    assert_int_equal(rs_streams_query(streams, stream), 0); /* the work goes on */
    assert_int_equal(atomic_load(&n_told), 0);
    assert_int_equal(rs_streams_remove(streams, stream), RS_E_INTERRUPTED);
    assert_int_equal(atomic_load(&n_told), 1);
    rs_wait_sleep_ns(20000000);
    int before = atomic_load(&watcher->n_of_worker);
    rs_wait_sleep_ns(100000000);
    assert_int_equal(atomic_load(&watcher->n_of_worker), before); /* it waits for nothing any more */
}

static void after_an_interrupted_remove_the_worker_rests(void **state)
{
    (void)state;
    with_watch(interrupted_while_parked);
}

/* --- threads --- */

struct shared {
    void *stream;
    uint64_t sum, plain; /* plain is changed by work of the stream only, one piece at a time */
};

static int increment(void *arg, bool failed)
{
    struct shared *shared = arg;
    if (!failed) shared->plain++;
    return 0;
}

static void push_many(int number, void *arg)
{
    struct shared *shared = arg;
    for (int i = 0; i < 2000; i++) {
        CHECK(operation(shared->stream, RS_MEMOP_ADD, 0, &shared->sum, 1) == 0);
        CHECK(call(shared->stream, increment, shared) == 0);
        if (i % 500 == number) CHECK(rs_streams_synchronize(streams, shared->stream) == 0);
    }
}

static void work_that_threads_push_runs_one_piece_at_a_time(void **state)
{
    (void)state;
    struct shared shared = {.stream = new_stream()};
    pes_threads(4, push_many, &shared);
    assert_int_equal(rs_streams_synchronize(streams, shared.stream), 0);
    assert_int_equal(shared.sum, 8000);
    assert_int_equal(shared.plain, 8000);
    assert_int_equal(rs_streams_remove(streams, shared.stream), 0);
}

static void make_use_and_remove(int number, void *arg)
{
    uint64_t *words = arg;
    for (int i = 0; i < 300; i++) {
        void *stream = new_stream();
        uint64_t want = (uint64_t)i + 1;
        CHECK(operation(stream, RS_MEMOP_WAIT, ROCSHMEM_CMP_GE, &words[number], want) == 0);
        CHECK(operation(stream, RS_MEMOP_ADD, 0, &words[4], 1) == 0);
        release(&words[number], want);
        CHECK(rs_streams_remove(streams, stream) == 0);
    }
}

static void threads_make_and_remove_streams_at_the_same_time(void **state)
{
    (void)state;
    uint64_t words[5] = {0};
    pes_threads(4, make_use_and_remove, words);
    assert_int_equal(words[4], 1200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_work_of_an_idle_stream_is_done_at_once),
        cmocka_unit_test(a_long_copy_is_done_when_synchronize_returns),
        cmocka_unit_test(work_behind_a_wait_stays_behind_it),
        cmocka_unit_test(every_comparison_parks_until_it_holds),
        cmocka_unit_test(a_batch_is_executed_in_its_order),
        cmocka_unit_test(a_chain_of_streams_runs_by_the_worker_alone),
        cmocka_unit_test(a_failed_call_takes_what_is_behind_it_along_and_is_told_once),
        cmocka_unit_test(a_call_that_fails_inline_takes_along_what_others_pushed_meanwhile),
        cmocka_unit_test(an_unknown_stream_and_the_default_one_are_not_removed),
        cmocka_unit_test(destroy_tells_the_calls_that_are_left),
        cmocka_unit_test(a_parked_stream_ends_when_the_job_is_broken),
        cmocka_unit_test(after_an_interrupted_remove_the_worker_rests),
        cmocka_unit_test(work_that_threads_push_runs_one_piece_at_a_time),
        cmocka_unit_test(threads_make_and_remove_streams_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
