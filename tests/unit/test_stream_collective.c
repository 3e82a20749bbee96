/* SPDX-License-Identifier: MIT
 *
 * Collectives in the order of streams: two streams, one team, PEs as threads, with delays on the host and on
 * the streams.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "pes.h"
#include "pgas/collective.h"

#define HEAP ((size_t)1 << 20)
#define OPERATIONS 24          /* between two synchronizes: three times the ring */
#define ROOM ((size_t)1 << 12) /* of one operation's source, and of its dest */

static void run(int n, void (*body)(struct rs_job *, void *), void *arg)
{
    struct pes pes;
    pes_create(&pes, n, 4, HEAP);
    pes_run(&pes, body, arg);
    pes_destroy(&pes);
}

/* With the PEs on one host, on one each, and so on. */
static void run_on_hosts(int n, void (*body)(struct rs_job *, void *), void *arg)
{
    for (int shape = 1; shape < PES_SHAPES; shape++) {
        uint64_t hosts[PES_MOST];
        struct pes pes;
        if (!pes_shape(shape, n, hosts)) continue;
        pes_create_on(&pes, hosts, n, 4, HEAP);
        pes_run(&pes, body, arg);
        pes_destroy(&pes);
    }
}

static int barrier(struct rs_team *team, void *stream)
{
    struct rs_signature s = pes_call(team, RS_CALL_BARRIER_ON_STREAM, RS_KIND_BARRIER, 0, 0, 0);
    return rs_stream_barrier(team, &s, stream);
}
static int alltoall(struct rs_team *team, void *dest, const void *source, size_t n, void *stream)
{
    struct rs_signature s = pes_call(team, RS_CALL_ALLTOALLMEM_ON_STREAM, RS_KIND_ALLTOALL, n, 0, 0);
    return rs_stream_alltoall(team, &s, dest, source, n, stream);
}
static int broadcast(struct rs_team *team, void *dest, const void *source, size_t n, int root, void *stream)
{
    struct rs_signature s =
        pes_call(team, RS_CALL_BROADCASTMEM_ON_STREAM, RS_KIND_BROADCAST, n, (uint64_t)root, 0);
    return rs_stream_broadcast(team, &s, dest, source, n, root, stream);
}
static int fcollect(struct rs_team *team, void *dest, const void *source, size_t n, void *stream)
{
    struct rs_signature s = pes_call(team, RS_CALL_FCOLLECTMEM_ON_STREAM, RS_KIND_FCOLLECT, n, 0, 0);
    return rs_stream_fcollect(team, &s, dest, source, n, stream);
}
static int reduce(struct rs_team *team, void *dest, const void *source, size_t n, enum rs_type type, int op,
                  void *stream)
{
    struct rs_signature s =
        pes_call(team, RS_CALL_REDUCE_ON_STREAM, RS_KIND_REDUCE, n, (uint64_t)type, (uint64_t)op);
    return rs_stream_reduce(team, &s, dest, source, n, type, op, stream);
}
static void wait_on_stream(struct rs_job *job, void *stream, uint64_t *word, uint64_t value)
{
    struct rs_memop op = {.kind = RS_MEMOP_WAIT, .cmp = ROCSHMEM_CMP_GE, .word = word, .value = value};
    CHECK(job->device.ops->batch(&job->device, stream, &op, 1) == 0);
}
static void *new_stream(struct rs_job *job)
{
    void *stream = NULL;
    CHECK(job->device.ops->stream_create(&job->device, &stream) == 0);
    return stream;
}
static void synchronize(struct rs_job *job, void *stream)
{
    CHECK(job->device.ops->synchronize(&job->device, stream) == 0);
}

/* --- everything mixed --- */

static unsigned char byte_of(int round, int k, int from, int to)
{
    return (unsigned char)(round * 97 + k * 13 + from * 5 + to * 3);
}

static size_t block_nbytes(uint64_t what)
{
    return what >> 8 & 1 ? 8 : 500;
}

static void enqueue(struct rs_job *job, int round, int k, uint64_t what, void *stream)
{
    unsigned char *source = pes_at(job, (size_t)k * 2 * ROOM), *dest = source + ROOM;
    size_t n = block_nbytes(what);
    int root = (int)((what >> 16) % (uint64_t)job->n_pes);
    memset(dest, 0, ROOM);
    for (int to = 0; to < job->n_pes; to++)
        memset(source + (size_t)to * n, byte_of(round, k, job->my_pe, to), n);
    switch (what % 5) {
    case 0:
        CHECK(barrier(job->world, stream) == 0);
        return;
    case 1:
        CHECK(alltoall(job->world, dest, source, n, stream) == 0);
        return;
    case 3:
        CHECK(fcollect(job->world, dest, source, n, stream) == 0);
        return;
    case 4: /* of bytes, which wrap */
        CHECK(reduce(job->world, dest, source, n, RS_TYPE_uint8, ROCSHMEM_SUM, stream) == 0);
        return;
    default:
        CHECK(broadcast(job->world, dest, source, n, root, stream) == 0);
    }
}

static void is_right(struct rs_job *job, int round, int k, uint64_t what)
{
    const unsigned char *dest = pes_at(job, (size_t)k * 2 * ROOM) + ROOM;
    size_t n = block_nbytes(what);
    int root = (int)((what >> 16) % (uint64_t)job->n_pes);
    uint64_t kind = what % 5;
    bool blocks = kind == 1 || kind == 3;
    unsigned char sum = 0;
    for (int from = 0; from < job->n_pes; from++) {
        sum = (unsigned char)(sum + byte_of(round, k, from, 0));
        for (size_t i = 0; blocks && i < n; i++)
            CHECK(dest[(size_t)from * n + i] == byte_of(round, k, from, kind == 1 ? job->my_pe : 0));
    }
    for (size_t i = 0; kind == 2 && i < n; i++) CHECK(dest[i] == byte_of(round, k, root, 0));
    for (size_t i = 0; kind == 4 && i < n; i++) CHECK(dest[i] == sum);
    for (size_t i = blocks ? n * (size_t)job->n_pes : kind == 0 ? 0 : n; i < ROOM; i++) CHECK(dest[i] == 0);
}

static void mixture(struct rs_job *job, void *arg)
{
    int rounds = *(const int *)arg;
    uint64_t all = 7, mine = 100 + (uint64_t)job->my_pe, whats[OPERATIONS], gate = 0, opened = 0;
    void *streams[2] = {new_stream(job), new_stream(job)};
    for (int round = 0; round < rounds; round++) {
        for (int k = 0; k < OPERATIONS; k++) {
            whats[k] =
                pes_random(&all); /* the operations are the same on all PEs, and so are their streams */
            uint64_t delay = pes_random(&mine);
            void *stream = streams[whats[k] >> 40 & 1];
            if (delay % 16 == 0) wait_on_stream(job, stream, &gate, ++opened);
            if (delay % 16 == 1) rs_wait_sleep_ns(delay >> 8 & 0x1ffff);
            if (delay % 4 == 2) __atomic_store_n(&gate, opened, __ATOMIC_RELEASE);
            enqueue(job, round, k, whats[k], stream);
        }
        __atomic_store_n(&gate, opened, __ATOMIC_RELEASE);
        synchronize(job, streams[round % 2]);
        synchronize(job, streams[1 - round % 2]);
        for (int k = 0; k < OPERATIONS; k++) is_right(job, round, k, whats[k]);
    }
    for (int i = 0; i < 2; i++) CHECK(job->device.ops->stream_destroy(&job->device, streams[i]) == 0);
}

static void operations_of_one_team_on_two_streams_give_the_right_bytes(void **state)
{
    (void)state;
    int many = 60, few = 12;
    run(1, mixture, &many);
    run(2, mixture, &many);
    run(3, mixture, &many);
    run(8, mixture, &few);
}

static void operations_of_one_team_over_hosts_give_the_right_bytes(void **state)
{
    (void)state;
    int rounds = 12, few = 4;
    run_on_hosts(2, mixture, &rounds);
    run_on_hosts(3, mixture, &rounds);
    run_on_hosts(5, mixture, &few);
    run_on_hosts(8, mixture, &few);
}

/* --- one by one --- */

static void parked(struct rs_job *job, void *arg)
{
    _Atomic int *n_through = arg;
    uint64_t gate = 0;
    void *stream = new_stream(job);
    if (job->my_pe == 0) wait_on_stream(job, stream, &gate, 1);
    for (int i = 0; i < 5 * RS_STREAM_RING; i++)
        CHECK(barrier(job->world, stream) == 0); /* returns at once */
    if (job->my_pe == 0) {
        CHECK(job->device.ops->query(&job->device, stream) == 0);
        rs_wait_sleep_ns(3000000);
        CHECK(atomic_load(n_through) == 0); /* nobody passes without us */
        __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    }
    synchronize(job, stream);
    atomic_fetch_add(n_through, 1);
}

static void many_barriers_behind_a_parked_stream_return_at_once(void **state)
{
    (void)state;
    for (int n = 2; n <= 5; n += 3) {
        _Atomic int n_through = 0;
        run(n, parked, &n_through);
        assert_int_equal(n_through, n);
    }
    uint64_t hosts[PES_MOST] = {1, 2, 1};
    struct pes pes;
    _Atomic int n_through = 0;
    pes_create_on(&pes, hosts, 3, 4, HEAP);
    pes_run(&pes, parked, &n_through);
    pes_destroy(&pes);
    assert_int_equal(n_through, 3);
}

static void in_place(struct rs_job *job, void *arg)
{
    (void)arg;
    unsigned char *both = pes_at(job, 0);
    for (int root = 0; root < 2 * job->n_pes; root++) { /* a large one comes to a host in parts */
        size_t n = root < job->n_pes ? 300 : 200001;
        memset(both, 1, n + 1);
        for (size_t i = 0; job->my_pe == root % job->n_pes && i < n; i++)
            both[i] = (unsigned char)((size_t)root + i + (i >> 8));
        CHECK(broadcast(job->world, both, both, n, root % job->n_pes, NULL) == 0);
        synchronize(job, NULL);
        for (size_t i = 0; i < n; i++) CHECK(both[i] == (unsigned char)((size_t)root + i + (i >> 8)));
        CHECK(both[n] == 1);
    }
}

static void a_broadcast_may_be_in_place(void **state)
{
    (void)state;
    run(1, in_place, NULL);
    run(4, in_place, NULL);
    run_on_hosts(4, in_place, NULL);
}

/* To the bit what the blocking one gives: same order of the members. */
static void reductions(struct rs_job *job, void *arg)
{
    (void)arg;
    static const size_t counts[] = {0, 1, 14, 63, 64, 1000, 20000};
    struct rs_signature s = pes_call(job->world, RS_CALL_BARRIER, RS_KIND_BARRIER, 0, 0, 0);
    float *source = (float *)(void *)pes_at(job, 0), *dest = (float *)(void *)pes_at(job, HEAP / 4),
          *want = (float *)(void *)pes_at(job, HEAP / 2);
    void *stream = new_stream(job);
    for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; i++) {
        size_t n = counts[i / 2];
        uint64_t random = 3 * (uint64_t)i + (uint64_t)job->my_pe;
        float *to = i % 2 ? source : dest;
        for (size_t k = 0; k < n; k++) source[k] = (float)(pes_random(&random) >> 30) / 3e3f;
        struct rs_signature reduce_call =
            pes_call(job->world, RS_CALL_REDUCE, RS_KIND_REDUCE, n, RS_TYPE_float, ROCSHMEM_SUM);
        CHECK(rs_collective_reduce(job->world, &reduce_call, want, source, n, RS_TYPE_float, ROCSHMEM_SUM) ==
              0);
        to[n] = i % 2 ? 5.0f : 7.0f;
        CHECK(rs_collective_barrier(job->world, &s) == 0);
        CHECK(reduce(job->world, to, source, n, RS_TYPE_float, ROCSHMEM_SUM, stream) == 0);
        synchronize(job, stream);
        CHECK(memcmp(to, want, n * sizeof *to) == 0 && to[n] == (i % 2 ? 5.0f : 7.0f));
    }
    CHECK(job->device.ops->stream_destroy(&job->device, stream) == 0);
}

static void a_reduction_on_a_stream_has_the_bits_of_the_blocking_one(void **state)
{
    (void)state;
    run(1, reductions, NULL);
    run(2, reductions, NULL);
    run(5, reductions, NULL);
    run_on_hosts(2, reductions, NULL);
    run_on_hosts(5, reductions, NULL);
}

/* A share is larger than a piece; the stream has other work around it. */
static void large_reduction(struct rs_job *job, void *arg)
{
    (void)arg;
    size_t n = 3 * HEAP / 8; /* of bytes: in place, more than one piece for a share of two */
    unsigned char *both = pes_at(job, 0);
    memset(both, 3, 2 * n);
    memset(both + 2 * n, 77, 16);
    CHECK(barrier(job->world, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(reduce(job->world, both, both, 2 * n, RS_TYPE_uint8, ROCSHMEM_SUM, NULL) == 0);
    synchronize(job, NULL);
    unsigned char want = (unsigned char)(3 * job->n_pes * job->n_pes * job->n_pes);
    for (size_t k = 0; k < 2 * n; k++) CHECK(both[k] == want);
    CHECK(both[2 * n] == 77);
}

static void a_large_reduction_in_pieces_in_place_is_right(void **state)
{
    (void)state;
    run(1, large_reduction, NULL);
    run(2, large_reduction, NULL);
    run(3, large_reduction, NULL);
    run_on_hosts(3, large_reduction, NULL);
}

static void of_nothing(struct rs_job *job, void *arg)
{
    (void)arg;
    unsigned char *p = pes_at(job, 0);
    CHECK(alltoall(job->world, p, p, 0, NULL) == 0);
    CHECK(broadcast(job->world, p, p, 0, 0, NULL) == 0);
    CHECK(fcollect(job->world, NULL, NULL, 0, NULL) == 0);
    CHECK(reduce(job->world, NULL, NULL, 0, RS_TYPE_double, ROCSHMEM_MAX, NULL) == 0);
    synchronize(job, NULL);
    CHECK(reduce(job->world, p, p, job->my_pe ? 0 : 1, RS_TYPE_double, ROCSHMEM_MAX, NULL) == RS_E_MISMATCH ||
          job->device.ops->synchronize(&job->device, NULL) == RS_E_MISMATCH);
    CHECK(strstr(rs_error_slot()->text, "(team world, 0 elements)"));
    CHECK(strstr(rs_error_slot()->text, "(team world, 1 elements)"));
}

static void calls_of_nothing_are_calls_and_differ_from_others(void **state)
{
    (void)state;
    run(2, of_nothing, NULL);
}

static void different(struct rs_job *job, void *arg)
{
    _Atomic int *n_told = arg;
    size_t n = job->my_pe == 1 ? 16 : 8;
    for (int i = 0; i < 3; i++) CHECK(barrier(job->world, NULL) == 0);
    int rc = broadcast(job->world, pes_at(job, ROOM), pes_at(job, 0), n, 0, NULL);
    if (rc == 0) rc = job->device.ops->synchronize(&job->device, NULL);
    CHECK(rc == RS_E_MISMATCH);
    CHECK(strstr(rs_error_slot()->text, "rocshmem_broadcastmem_on_stream(team world, 16 bytes, root 0)"));
    CHECK(strstr(rs_error_slot()->text, "rocshmem_broadcastmem_on_stream(team world, 8 bytes, root 0)"));
    CHECK(strstr(rs_error_slot()->text, "(stream collective #4 of the team)"));
    CHECK(barrier(job->world, NULL) == RS_E_MISMATCH); /* it stays broken */
    atomic_fetch_add(n_told, 1);
}

static void a_mismatch_on_a_stream_is_told_to_everyone(void **state)
{
    (void)state;
    for (int n = 2; n <= 4; n += 2) {
        _Atomic int n_told = 0;
        run(n, different, &n_told);
        assert_int_equal(n_told, n);
    }
}

static void a_mismatch_over_hosts_names_both_calls(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) { /* the one that differs leads its host */
        uint64_t hosts[PES_MOST] = {1, 2, apart ? 3 : 2, 2};
        struct pes pes;
        _Atomic int n_told = 0;
        pes_create_on(&pes, hosts, 4, 4, HEAP);
        pes_run(&pes, different, &n_told);
        pes_destroy(&pes);
        assert_int_equal(n_told, 4);
    }
}

static void unknown_stream(struct rs_job *job, void *arg)
{
    (void)arg;
    if (job->my_pe == 0) {
        CHECK(barrier(job->world, (void *)(uintptr_t)12345) == RS_E_ARG);
        CHECK(!rs_board_is_broken(&job->board)); /* nothing was enqueued: the job goes on */
    }
    CHECK(barrier(job->world, NULL) == 0);
    synchronize(job, NULL);
}

static void an_unknown_stream_leaves_the_job_as_it_was(void **state)
{
    (void)state;
    run(3, unknown_stream, NULL);
}

/* --- a team that is left while its work goes on --- */

static uint64_t pulls_may_go_on;

static int slow_get(const struct rs_route *route, void *stream, void *dest, const void *source, size_t nbytes)
{
    struct rs_memop op = {
        .kind = RS_MEMOP_WAIT, .cmp = ROCSHMEM_CMP_EQ, .word = &pulls_may_go_on, .value = 1};
    RS_TRY(route->device->ops->batch(route->device, stream, &op, 1));
    return rs_transport_direct.get_on_stream(route, stream, dest, source, nbytes);
}

/* The last PE pulls late: its second phase, and so its words in the flags of the others, are still to come.
 */
static void leave_early(struct rs_job *job, void *arg)
{
    (void)arg;
    struct rs_transport_ops slow = rs_transport_direct;
    struct rs_team *team = NULL, *next = NULL;
    struct rs_signature s = pes_call(job->world, RS_CALL_BARRIER, RS_KIND_BARRIER, 0, 0, 0);
    slow.get_on_stream = slow_get;
    for (int i = 0; job->my_pe == job->n_pes - 1 && i < job->n_pes; i++) job->routes[i].ops = &slow;
    CHECK(rs_team_split(job->world, RS_CALL_TEAM_SPLIT_STRIDED, 0, 1, job->n_pes, &team) == 0);
    int slot = team->slot;
    memset(pes_at(job, 0), job->my_pe + 1, 1000);
    CHECK(alltoall(team, pes_at(job, ROOM), pes_at(job, 0), 100, NULL) == 0);
    rs_team_destroy(team);
    rs_wait_sleep_ns(20000000); /* the first phase, and what follows it at once, is over: most likely */
    CHECK(rs_collective_barrier(job->world, &s) == 0);
    CHECK(rs_team_split(job->world, RS_CALL_TEAM_SPLIT_STRIDED, 0, 1, 2, &next) == 0);
    if (next) {
        CHECK(next->slot != slot); /* other words for other sizes: the late ones would overwrite them */
        for (int i = 0; i < 3; i++) CHECK(barrier(next, NULL) == 0);
    }
    CHECK(rs_collective_barrier(job->world, &s) == 0);
    if (job->my_pe == 0) __atomic_store_n(&pulls_may_go_on, 1, __ATOMIC_RELEASE);
    synchronize(job, NULL);
    for (int from = 0; from < job->n_pes; from++)
        for (int k = 0; k < 100; k++) CHECK(pes_at(job, ROOM)[from * 100 + k] == from + 1);
    CHECK(rs_collective_barrier(job->world, &s) == 0);
    if (next) rs_team_destroy(next);
    CHECK(rs_team_split(job->world, RS_CALL_TEAM_SPLIT_STRIDED, 0, 1, job->n_pes, &team) == 0);
    CHECK(team->slot == slot); /* now it is free */
    rs_team_destroy(team);
    CHECK(rs_collective_barrier(job->world, &s) == 0);
}

static void a_slot_is_not_used_again_before_the_stream_work_of_its_team_is_over(void **state)
{
    (void)state;
    pulls_may_go_on = 0;
    run(3, leave_early, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_of_one_team_on_two_streams_give_the_right_bytes),
        cmocka_unit_test(many_barriers_behind_a_parked_stream_return_at_once),
        cmocka_unit_test(operations_of_one_team_over_hosts_give_the_right_bytes),
        cmocka_unit_test(a_mismatch_over_hosts_names_both_calls),
        cmocka_unit_test(a_broadcast_may_be_in_place),
        cmocka_unit_test(a_reduction_on_a_stream_has_the_bits_of_the_blocking_one),
        cmocka_unit_test(a_large_reduction_in_pieces_in_place_is_right),
        cmocka_unit_test(calls_of_nothing_are_calls_and_differ_from_others),
        cmocka_unit_test(a_mismatch_on_a_stream_is_told_to_everyone),
        cmocka_unit_test(an_unknown_stream_leaves_the_job_as_it_was),
        cmocka_unit_test(a_slot_is_not_used_again_before_the_stream_work_of_its_team_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
