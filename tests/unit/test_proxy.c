/* SPDX-License-Identifier: MIT
 *
 * The proxy by itself, over a network that delays, reorders between PEs and fails: on host streams, and on those of a GPU
 * (the fake driver's), where the ready words and the thread are, and graphs. The peers are memory of this process.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "begun.h"
#include "pes.h"
#include "rocshmem/rocshmem.h"
#include "transport/proxy.h"

#define PEERS 3
#define WINDOW ((size_t)1 << 20)

/* ---- a network ---- */

struct rs_network {
    struct begun begun;
    unsigned char *windows;     /* of the peers, side by side */
    _Atomic uint64_t refuse_at; /* begin of this number fails; 0: none */
    _Atomic uint64_t n_asked;
};

static int network_begin(struct rs_network *network, int pe, bool put, struct rs_place there, void *here,
                         size_t nbytes, struct rs_place word, uint64_t value, int sig_op,
                         void (*done)(void *arg, int status), void *arg)
{
    unsigned char *window = network->windows + (size_t)pe * WINDOW;
    struct begun_item item = {.pe = pe,
                              .put = put,
                              .there = window + there.offset,
                              .here = here,
                              .nbytes = nbytes,
                              .word = word.region == RS_REGIONS ? NULL : (void *)(window + word.offset),
                              .value = value,
                              .sig_op = sig_op,
                              .done = done,
                              .arg = arg};
    CHECK(there.region == RS_REGION_WINDOW && there.offset + nbytes <= WINDOW);
    if (atomic_fetch_add(&network->n_asked, 1) + 1 == atomic_load(&network->refuse_at))
        return rs_fail_pe(RS_E_NOMEM, pe, "the test's network refuses");
    return begun_add(&network->begun, &item);
}

static unsigned network_progress(struct rs_network *network)
{
    return begun_progress(&network->begun);
}

static const struct rs_network_ops network_ops = {
    .name = "test", .begin = network_begin, .progress = network_progress};

/* ---- a process of a job ---- */

struct world {
    struct rs_device device;
    struct rs_watch watch;
    struct rs_network network;
    struct rs_net net;
    struct rs_route routes[PEERS];
    unsigned char *window; /* mine, as it is exposed */
    uint64_t *words;       /* that streams and the CPU reach */
    _Atomic int broken_status, broken_pe, n_broken;
    char text[512]; /* W: broken, before n_broken. R: after it was seen */
};

static unsigned progress(void *arg)
{
    struct world *world = arg;
    return begun_progress(&world->network.begun);
}

static int tick(void *arg, uint64_t waited_ns, int first)
{
    const struct world *world = arg;
    (void)waited_ns;
    (void)first;
    if (!atomic_load(&world->n_broken)) return 0;
    return rs_fail_pe(atomic_load(&world->broken_status), atomic_load(&world->broken_pe), "%s", world->text);
}

static void broken(void *arg, int status, int pe, const char *text)
{
    struct world *world = arg;
    snprintf(world->text, sizeof world->text, "%s", text);
    atomic_store(&world->broken_status, status);
    atomic_store(&world->broken_pe, pe);
    atomic_fetch_add(&world->n_broken, 1);
}

static struct world *world_open(bool gpu)
{
    struct world *world = calloc(1, sizeof *world);
    struct rs_device_options options = {
        .library = FAKE_CUDA, .kernels = "", .asked = true, .inline_nbytes = 4096};
    void *words = NULL;
    assert_non_null(world);
    begun_init(&world->network.begun, 7);
    world->network.windows = calloc(PEERS, WINDOW);
    world->window = calloc(1, WINDOW);
    assert_true(world->network.windows && world->window);
    world->watch = (struct rs_watch){.tick = tick, .progress = progress, .arg = world};
    world->device.ops = gpu ? &rs_device_cuda : &rs_device_host;
    char why[256] = "";
    assert_true(world->device.ops->count(&options, why, sizeof why) > 0);
    assert_int_equal(world->device.ops->open(&world->device, 0, &world->watch, &options), 0);
    assert_int_equal(world->device.ops->words_alloc(&world->device, 4096, &words), 0);
    world->words = words;
    world->net =
        (struct rs_net){.ops = &network_ops, .network = &world->network, .window = (uintptr_t)world->window};
    assert_int_equal(
        rs_proxy_open(&world->net.proxy, &world->device, &world->network, &network_ops, broken, world), 0);
    for (int pe = 0; pe < PEERS; pe++)
        world->routes[pe] = (struct rs_route){.pe = pe, .device = &world->device, .link = &world->net};
    return world;
}

static void world_close(struct world *world)
{
    rs_proxy_stop(world->net.proxy);
    begun_fini(&world->network.begun);
    world->device.ops->close(&world->device);
    if (world->device.ops->words_free) world->device.ops->words_free(world->words);
    rs_proxy_close(world->net.proxy);
    free(world->network.windows);
    free(world->window);
    free(world);
}

static void *new_stream(struct world *world)
{
    void *stream = NULL;
    CHECK(world->device.ops->stream_create(&world->device, &stream) == 0);
    return stream;
}

static void end_stream(struct world *world, void *stream)
{
    assert_int_equal(world->device.ops->stream_destroy(&world->device, stream), 0);
}

static void memop(struct world *world, void *stream, enum rs_memop_kind kind, uint64_t *word, uint64_t value)
{
    struct rs_memop op = {.kind = kind, .cmp = ROCSHMEM_CMP_GE, .word = word, .value = value};
    CHECK(world->device.ops->batch(&world->device, stream, &op, 1) == 0);
}

static int synchronize(struct world *world, void *stream)
{
    return world->device.ops->synchronize(&world->device, stream);
}

/* A peer's copy of what lies at offset in my window. */
static unsigned char *at(struct world *world, int pe, size_t offset)
{
    return world->network.windows + (size_t)pe * WINDOW + offset;
}

static uint64_t load(const void *word)
{
    return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
}

static void both(void (*body)(struct world *))
{
    for (int gpu = 0; gpu < 2; gpu++) {
        struct world *world = world_open(gpu != 0);
        body(world);
        world_close(world);
    }
}

/* ---- one stream ---- */

static void transfers(struct world *world)
{
    static const size_t sizes[] = {1, 8, 100, 4096, 70000};
    void *stream = new_stream(world);
    unsigned char *out = malloc(70000), *in = malloc(70000);
    uint64_t *word = (uint64_t *)(void *)world->window;
    assert_true(out && in);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int pe = (int)i % PEERS;
        const struct rs_route *route = &world->routes[pe];
        memset(out, 17 + (int)i, sizes[i]);
        memset(in, 0, sizes[i]);
        assert_int_equal(rs_proxy_put_on_stream(route, stream, world->window + 64, out, sizes[i]), 0);
        assert_int_equal(rs_proxy_get_on_stream(route, stream, in, world->window + 64, sizes[i]), 0);
        assert_int_equal(rs_proxy_signal_on_stream(route, stream, word, 5, ROCSHMEM_SIGNAL_SET), 0);
        assert_int_equal(rs_proxy_put_signal_on_stream(route, stream, world->window + 128000, out, sizes[i],
                                                       word, 3, ROCSHMEM_SIGNAL_ADD),
                         0);
        assert_int_equal(synchronize(world, stream), 0);
        assert_memory_equal(in, out, sizes[i]);
        assert_memory_equal(at(world, pe, 128000), out, sizes[i]);
        assert_int_equal(load(at(world, pe, 0)), 8);
        memset(at(world, pe, 0), 0, 8);
    }
    end_stream(world, stream);
    free(out);
    free(in);
}

static void transfers_of_a_stream_arrive(void **state)
{
    (void)state;
    both(transfers);
}

/* Nothing is begun before the stream comes there, and nothing behind it runs before it is done. */
static void order(struct world *world)
{
    void *stream = new_stream(world);
    uint64_t *gate = world->words, *after = world->words + 1, value = 1;
    atomic_store(&world->network.begun.held, true);
    memop(world, stream, RS_MEMOP_WAIT, gate, 1);
    assert_int_equal(rs_proxy_put_on_stream(&world->routes[0], stream, world->window, &value, 8), 0);
    memop(world, stream, RS_MEMOP_WRITE, after, 1);
    value = 2; /* the stream has not come there: this is what it sends */
    rs_wait_sleep_ns(3000000);
    assert_int_equal(atomic_load(&world->network.n_asked), 0);
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    while (!atomic_load(&world->network.begun.n_begun)) rs_wait_sleep_ns(100000);
    rs_wait_sleep_ns(3000000);
    assert_int_equal(load(after), 0);
    assert_int_equal(world->device.ops->query(&world->device, stream), 0);
    atomic_store(&world->network.begun.held, false);
    assert_int_equal(synchronize(world, stream), 0);
    assert_int_equal(load(after), 1);
    assert_int_equal(load(at(world, 0, 0)), 2);
    end_stream(world, stream);
}

static void a_stream_begins_a_transfer_when_it_comes_there_and_waits_for_it(void **state)
{
    (void)state;
    both(order);
}

/* --- many at one time --- */

/* Stream i waits for what stream i + 1 sends, or i - 1: through a peer and back into a word of mine. */
static void chain(struct world *world, bool backwards)
{
    enum { LENGTH = 12 };
    void *streams[LENGTH];
    uint64_t *words = world->words + 8;
    memset(words, 0, (LENGTH + 1) * sizeof *words);
    for (int i = 0; i < LENGTH; i++) streams[i] = new_stream(world);
    for (int k = 0; k < LENGTH; k++) {
        int i = backwards ? LENGTH - 1 - k : k;
        uint64_t *mine = &words[i], *next = &words[i + 1];
        struct rs_route *route = &world->routes[i % PEERS];
        void *there = world->window + 64 + 8 * (size_t)i;
        memop(world, streams[i], RS_MEMOP_WAIT, mine, 1);
        assert_int_equal(rs_proxy_put_on_stream(route, streams[i], there, mine, 8), 0);
        assert_int_equal(rs_proxy_get_on_stream(route, streams[i], next, there, 8), 0);
    }
    __atomic_store_n(&words[0], 1, __ATOMIC_RELEASE);
    assert_int_equal(world->device.ops->synchronize_all(&world->device), 0);
    assert_int_equal(load(&words[LENGTH]), 1);
    for (int i = 0; i < LENGTH; i++) end_stream(world, streams[i]);
}

static void chains(struct world *world)
{
    chain(world, false);
    chain(world, true);
}

static void streams_may_wait_for_each_others_transfers_in_both_orders(void **state)
{
    (void)state;
    both(chains);
}

struct crowd {
    struct world *world;
    void *stream; /* of all */
};

static void push_many(int number, void *arg)
{
    struct crowd *crowd = arg;
    struct world *world = crowd->world;
    uint64_t sent = 0, got = 0, *word = (uint64_t *)(void *)(world->window + 8 * (size_t)number);
    void *own = new_stream(world);
    for (uint64_t k = 1; k <= 150; k++) {
        const struct rs_route *route = &world->routes[k % PEERS];
        CHECK(rs_proxy_signal_on_stream(route, crowd->stream, (uint64_t *)(void *)(world->window + 800), 1,
                                        ROCSHMEM_SIGNAL_ADD) == 0);
        if (k % 10 == 0) CHECK(synchronize(world, own) == 0);
        if (k % 10 == 0) sent = k;
        CHECK(rs_proxy_put_on_stream(route, own, word, &sent, 8) == 0);
        CHECK(rs_proxy_get_on_stream(route, own, &got, word, 8) == 0);
        if (k % 10 != 9) continue;
        CHECK(synchronize(world, own) == 0);
        CHECK(got == sent);
    }
    CHECK(synchronize(world, own) == 0);
    CHECK(world->device.ops->stream_destroy(&world->device, own) == 0);
}

static void threads(struct world *world)
{
    struct crowd crowd = {world, new_stream(world)};
    pes_threads(4, push_many, &crowd);
    assert_int_equal(synchronize(world, crowd.stream), 0);
    uint64_t sum = 0;
    for (int pe = 0; pe < PEERS; pe++) sum += load(at(world, pe, 800));
    assert_int_equal(sum, 600);
    end_stream(world, crowd.stream);
}

static void threads_push_transfers_on_streams_of_their_own_and_on_one(void **state)
{
    (void)state;
    both(threads);
}

/* More than a slot holds, and they go on side by side: none is done before all are begun. */
static void several(struct world *world)
{
    enum { N = 100 };
    struct rs_transfer t[N];
    struct rs_memop finish[RS_FINISH_MOST];
    uint64_t values[N], *after = world->words;
    size_t n_finish = 0;
    void *stream = new_stream(world);
    for (uint64_t i = 0; i < N; i++) {
        values[i] = 1000 + i;
        t[i] = (struct rs_transfer){.route = &world->routes[i % PEERS],
                                    .put = true,
                                    .dest = world->window + 8 * i,
                                    .source = &values[i],
                                    .nbytes = 8};
    }
    atomic_store(&world->network.begun.held, true);
    assert_int_equal(rs_proxy_start_on_stream(stream, t, N, finish, &n_finish), 0);
    memop(world, stream, RS_MEMOP_WRITE, after, 1); /* the stream goes on */
    while (atomic_load(&world->network.begun.n_begun) < N || !load(after)) rs_wait_sleep_ns(100000);
    assert_int_equal(world->device.ops->batch(&world->device, stream, finish, n_finish), 0);
    assert_int_equal(world->device.ops->query(&world->device, stream), 0);
    atomic_store(&world->network.begun.held, false);
    assert_int_equal(synchronize(world, stream), 0);
    for (uint64_t i = 0; i < N; i++) assert_int_equal(load(at(world, (int)(i % PEERS), 8 * i)), 1000 + i);
    end_stream(world, stream);
}

static void transfers_that_are_started_go_on_side_by_side_until_the_stream_ends_them(void **state)
{
    (void)state;
    both(several);
}

/* ---- failures ---- */

static void fails(struct world *world)
{
    void *stream = new_stream(world);
    uint64_t value = 9, *after = world->words;
    atomic_store(&world->network.begun.fail_at, 2);
    assert_int_equal(rs_proxy_put_on_stream(&world->routes[0], stream, world->window, &value, 8), 0);
    assert_int_equal(synchronize(world, stream), 0);
    assert_int_equal(rs_proxy_put_on_stream(&world->routes[1], stream, world->window, &value, 8), 0);
    memop(world, stream, RS_MEMOP_WRITE, after, 1);
    assert_int_equal(synchronize(world, stream), RS_E_PEER);
    assert_non_null(
        strstr(rs_error_slot()->text, "a transfer on a stream to PE 1 failed: the test's network failed"));
    assert_int_equal(atomic_load(&world->n_broken), 1);
    assert_int_equal(load(after), 0); /* nothing goes on with data that never came */
}

static void a_transfer_that_fails_breaks_the_job_and_stops_its_stream(void **state)
{
    (void)state;
    both(fails);
}

static void refused(struct world *world)
{
    void *stream = new_stream(world);
    uint64_t values[3] = {1, 2, 3};
    struct rs_transfer t[3];
    struct rs_memop finish[RS_FINISH_MOST];
    size_t n = 0;
    for (int i = 0; i < 3; i++)
        t[i] = (struct rs_transfer){.route = &world->routes[i],
                                    .put = true,
                                    .dest = world->window,
                                    .source = &values[i],
                                    .nbytes = 8};
    atomic_store(&world->network.refuse_at, 2);
    assert_int_equal(rs_proxy_start_on_stream(stream, t, 3, finish, &n), 0);
    assert_int_equal(world->device.ops->batch(&world->device, stream, finish, n), 0);
    assert_int_equal(synchronize(world, stream), RS_E_NOMEM);
    assert_non_null(strstr(rs_error_slot()->text, "to PE 1 failed: the test's network refuses"));
}

static void what_the_network_refuses_to_begin_breaks_the_job_too(void **state)
{
    (void)state;
    both(refused);
}

static void unknown(struct world *world)
{
    uint64_t value = 1;
    assert_int_equal(
        rs_proxy_put_on_stream(&world->routes[0], (void *)(uintptr_t)0x123450, world->window, &value, 8),
        RS_E_ARG);
    assert_int_equal(atomic_load(&world->network.n_asked), 0);
}

static void an_unknown_stream_is_an_error_of_the_call(void **state)
{
    (void)state;
    both(unknown);
}

/* Streams before which nothing happens are let go, at once and later. */
static void stopped(struct world *world)
{
    void *stream = new_stream(world);
    uint64_t value = 1, *gate = world->words, *after = world->words + 1;
    atomic_store(&world->network.begun.held, true);
    assert_int_equal(rs_proxy_put_on_stream(&world->routes[0], stream, world->window, &value, 8), 0);
    memop(world, stream, RS_MEMOP_WAIT, gate, 1);
    assert_int_equal(rs_proxy_put_on_stream(&world->routes[0], stream, world->window, &value, 8), 0);
    memop(world, stream, RS_MEMOP_WRITE, after, 1);
    while (!atomic_load(&world->network.begun.n_begun)) rs_wait_sleep_ns(100000);
    rs_proxy_stop(world->net.proxy);
    assert_int_equal(rs_proxy_put_on_stream(&world->routes[0], stream, world->window, &value, 8), RS_E_STATE);
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    assert_int_equal(synchronize(world, stream), 0);
    assert_int_equal(load(after), 1);
    assert_int_equal(atomic_load(&world->network.n_asked), 1);
    atomic_store(&world->network.begun.held, false);
    for (int i = 0; i < 3; i++) (void)progress(world); /* what the network still says does nothing */
    assert_int_equal(atomic_load(&world->n_broken), 0);
    end_stream(world, stream);
}

static void a_proxy_that_stops_lets_its_streams_go(void **state)
{
    (void)state;
    both(stopped);
}

/* ---- graphs ---- */

struct graphs {
    int (*begin)(void *stream, int mode), (*end)(void *stream, void **graph);
    int (*instantiate)(void **exec, void *graph, unsigned long long flags),
        (*launch)(void *exec, void *stream);
    int (*exec_destroy)(void *exec), (*destroy)(void *graph);
    int (*retain)(void **context, int device), (*set_current)(void *context);
};

static struct graphs graphs_of_driver(void)
{
    struct graphs g = {0};
    void *library = dlopen(FAKE_CUDA, RTLD_NOW);
    assert_non_null(library);
    *(void **)&g.begin = dlsym(library, "cuStreamBeginCapture_v2");
    *(void **)&g.end = dlsym(library, "cuStreamEndCapture");
    *(void **)&g.instantiate = dlsym(library, "cuGraphInstantiateWithFlags");
    *(void **)&g.launch = dlsym(library, "cuGraphLaunch");
    *(void **)&g.exec_destroy = dlsym(library, "cuGraphExecDestroy");
    *(void **)&g.destroy = dlsym(library, "cuGraphDestroy");
    *(void **)&g.retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&g.set_current = dlsym(library, "cuCtxSetCurrent");
    assert_true(g.retain && g.set_current);
    assert_true(g.begin && g.end && g.instantiate && g.launch && g.exec_destroy && g.destroy);
    return g;
}

/* What a graph sends is read at each replay; first of all transfers, so that the proxy's words are made in the capture. */
static void a_graph_of_transfers_replays(void **state)
{
    (void)state;
    struct world *world = world_open(true);
    struct graphs g = graphs_of_driver();
    void *stream = new_stream(world), *graph = NULL, *exec = NULL, *context = NULL;
    uint64_t out = 0, in = 0, *word = (uint64_t *)(void *)world->window;
    assert_int_equal(g.retain(&context, 0), 0);
    assert_int_equal(g.set_current(context), 0);
    assert_int_equal(g.begin(stream, 0), 0);
    for (int i = 0; i < 100; i++) /* more than one chunk of slots */
        assert_int_equal(rs_proxy_signal_on_stream(&world->routes[1], stream, word, 1, ROCSHMEM_SIGNAL_ADD),
                         0);
    assert_int_equal(rs_proxy_put_on_stream(&world->routes[0], stream, world->window + 64, &out, 8), 0);
    assert_int_equal(rs_proxy_get_on_stream(&world->routes[0], stream, &in, world->window + 64, 8), 0);
    assert_int_equal(g.end(stream, &graph), 0);
    assert_int_equal(g.instantiate(&exec, graph, 0), 0);
    assert_int_equal(atomic_load(&world->network.n_asked), 0);
    for (uint64_t k = 1; k <= 10; k++) {
        out = 100 + k;
        assert_int_equal(g.launch(exec, stream), 0);
        if (k % 2) assert_int_equal(rs_proxy_put_on_stream(&world->routes[2], stream, word, &out, 8), 0);
        assert_int_equal(synchronize(world, stream), 0);
        assert_int_equal(in, 100 + k);
        assert_int_equal(load(at(world, 1, 0)), 100 * k);
        assert_int_equal(load(at(world, 2, 0)), 100 + k - (k % 2 == 0));
    }
    for (int k = 0; k < 20; k++) assert_int_equal(g.launch(exec, stream), 0); /* back to back */
    assert_int_equal(synchronize(world, stream), 0);
    assert_int_equal(load(at(world, 1, 0)), 3000);
    rs_wait_sleep_ns(20000000); /* it looks seldom by now */
    assert_int_equal(g.launch(exec, stream), 0);
    assert_int_equal(synchronize(world, stream), 0);
    assert_int_equal(load(at(world, 1, 0)), 3100);
    assert_int_equal(g.exec_destroy(exec), 0);
    assert_int_equal(g.destroy(graph), 0);
    end_stream(world, stream);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_of_a_stream_arrive),
        cmocka_unit_test(a_stream_begins_a_transfer_when_it_comes_there_and_waits_for_it),
        cmocka_unit_test(streams_may_wait_for_each_others_transfers_in_both_orders),
        cmocka_unit_test(threads_push_transfers_on_streams_of_their_own_and_on_one),
        cmocka_unit_test(transfers_that_are_started_go_on_side_by_side_until_the_stream_ends_them),
        cmocka_unit_test(a_transfer_that_fails_breaks_the_job_and_stops_its_stream),
        cmocka_unit_test(what_the_network_refuses_to_begin_breaks_the_job_too),
        cmocka_unit_test(an_unknown_stream_is_an_error_of_the_call),
        cmocka_unit_test(a_proxy_that_stops_lets_its_streams_go),
        cmocka_unit_test(a_graph_of_transfers_replays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
