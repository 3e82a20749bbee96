/* SPDX-License-Identifier: MIT
 *
 * The UCX network by itself: processes of one machine that reach each other by its plug-in alone, with a library made of
 * this file. Each test forks its PEs; what they share to find each other is one page, everything else goes by the network.
 */
#include <dlfcn.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os.h"
#include "base/status.h"
#include "pes.h"
#include "rocshmem/rocshmem.h"
#include "transport/network.h"
#include "transport/transport.h"

enum { N_MOST = 3, WINDOW = 9 << 20, WORDS = 8 << 20 /* words begin there */ };
#define LONG_NS 60000000000ull

static struct shared { /* of a test's PEs */
    _Atomic uint32_t arrived[64];
    size_t address_nbytes[N_MOST];
    unsigned char address[N_MOST][RS_NETWORK_ADDRESS_NBYTES];
} * shared;

/* ---- one PE ---- */

static struct pe {
    int me, n, round;
    const struct rs_network_ops *ops;
    struct rs_network *network;
    struct rs_network_host host;
    struct rs_watch watch;
    struct rs_device device;
    unsigned char *window;
    _Atomic int lost, messages, echoes;
    uint64_t last; /* the last message's number */
    bool echo;
} pe;

static struct rs_place at(uint64_t offset)
{
    return (struct rs_place){RS_REGION_WINDOW, offset};
}
static uint64_t *word(int index)
{
    return (uint64_t *)(void *)(pe.window + WORDS) + index;
}
static struct rs_place word_at(int index)
{
    return at(WORDS + 8u * (uint64_t)index);
}

static int tick(void *arg, uint64_t waited_ns, int first)
{
    (void)arg, (void)first;
    return waited_ns > LONG_NS ? rs_fail(RS_E_TIMEOUT, "the test waited for a minute") : 0;
}
static unsigned progress(void *arg)
{
    (void)arg;
    return pe.ops->progress(pe.network);
}
static void doze(void *arg, uint64_t ns)
{
    (void)arg;
    pe.ops->doze(pe.network, ns);
}
static int word_it(int status, int about, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return rs_fail_pe(status, about, "%s", text);
}
static void write_log(int level, const char *format, ...)
{
    (void)level, (void)format;
}
static void wait_begin(const struct rs_network_host *host, struct rs_wait *wait)
{
    (void)host;
    rs_wait_begin(wait, &pe.watch);
}
static int wait_pause(struct rs_wait *wait)
{
    if (atomic_load(&pe.lost) >= 0) return rs_fail_pe(RS_E_PEER, pe.lost, "the test's job is broken");
    return rs_wait_pause(wait);
}
static const void *address_of(const struct rs_network_host *host, int other, size_t *nbytes_out)
{
    (void)host;
    *nbytes_out = shared->address_nbytes[other];
    return shared->address[other];
}
static void receive(const struct rs_network_host *host, int from, const void *head, size_t head_nbytes,
                    const void *body, size_t body_nbytes)
{
    uint64_t number;
    (void)host;
    CHECK(head_nbytes == sizeof number);
    memcpy(&number, head, sizeof number);
    if (number == UINT64_MAX) {
        atomic_fetch_add(&pe.echoes, 1);
        return;
    }
    CHECK(number == pe.last + 1); /* in order, none twice */
    pe.last = number;
    /* What was put before the message is here: the body says how it begins. */
    if (body_nbytes >= 8) CHECK(memcmp(pe.window, body, 8) == 0);
    if (pe.echo) {
        uint64_t back = UINT64_MAX;
        CHECK(pe.ops->send(pe.network, from, &back, sizeof back, NULL, 0) == 0);
    }
    atomic_fetch_add(&pe.messages, 1);
}
static void lost(const struct rs_network_host *host, int other, const char *why)
{
    (void)host, (void)why;
    int none = -1;
    CHECK(atomic_compare_exchange_strong(&pe.lost, &none, other)); /* once */
}

/* Until cond; the network's thread must do the work where polls is false. */
#define UNTIL(cond, polls)                                                                                   \
    for (uint64_t begun_ = rs_os_now_ns(); !(cond);) {                                                       \
        if (polls)                                                                                           \
            pe.ops->progress(pe.network);                                                                    \
        else                                                                                                 \
            sched_yield();                                                                                   \
        CHECK(rs_os_now_ns() - begun_ < LONG_NS);                                                            \
    }

/* All PEs, without the network: who waits here is a passive target. */
static void meet(void)
{
    int round = pe.round++;
    atomic_fetch_add(&shared->arrived[round], 1);
    UNTIL(atomic_load(&shared->arrived[round]) == (uint32_t)pe.n, false)
}

/* ---- a device whose heap the CPU does not reach, as far as the network knows ---- */

static _Atomic int n_transfers;
static int transfer(struct rs_device *device, void *dst, const void *src, size_t nbytes)
{
    (void)device;
    atomic_fetch_add(&n_transfers, 1);
    memmove(dst, src, nbytes);
    return 0;
}
static int device_amo(struct rs_device *device, enum rs_amo_op op, void *at_word, size_t width,
                      uint64_t value, uint64_t cond, uint64_t *old_out)
{
    (void)device;
    uint64_t old = width == 4 ? rs_amo_on_uint32_t(op, at_word, (uint32_t)value, (uint32_t)cond)
                              : rs_amo_on_uint64_t(op, at_word, value, cond);
    if (old_out) *old_out = old;
    return 0;
}
static const struct rs_device_ops far_device = {.name = "far", .transfer = transfer, .amo = device_amo};

static void open_pe(int me, int n, bool cpu)
{
    void *library = dlopen(RS_UCX_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    const struct rs_network_ops *(*plugin)(uint32_t) = NULL;
    if (!library) fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    void *symbol = dlsym(library, RS_NETWORK_SYMBOL);
    CHECK(symbol);
    memcpy(&plugin, &symbol, sizeof plugin);
    CHECK(plugin(RS_NETWORK_VERSION + 1) == NULL);
    pe = (struct pe){.me = me, .n = n, .ops = plugin(RS_NETWORK_VERSION), .lost = -1};
    pe.device.ops = cpu ? &rs_device_host : &far_device;
    pe.watch = (struct rs_watch){.spin_count = 100, .tick = tick, .progress = progress, .doze = doze};
    pe.host = (struct rs_network_host){.my_pe = me,
                                       .n_pes = n,
                                       .device = &pe.device,
                                       .fail = word_it,
                                       .log = write_log,
                                       .wait_begin = wait_begin,
                                       .wait_pause = wait_pause,
                                       .address_of = address_of,
                                       .receive = receive,
                                       .lost = lost,
                                       .tls = "tcp",
                                       .peer_timeout_ns = LONG_NS};
    pe.window = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pe.window != MAP_FAILED);
    CHECK(pe.ops->open(&pe.network, &pe.host) == 0);
    struct rs_region region = {.base = (uintptr_t)pe.window, .nbytes = WINDOW, .cpu = cpu};
    CHECK(pe.ops->expose(pe.network, RS_REGION_WINDOW, &region) == 0);
    CHECK(pe.ops->address(pe.network, shared->address[me], RS_NETWORK_ADDRESS_NBYTES,
                          &shared->address_nbytes[me]) == 0);
    meet();
}

static void close_pe(void)
{
    meet();
    pe.ops->close(pe.network, true);
    CHECK(atomic_load(&pe.lost) == -1); /* an orderly end is no loss */
}

/* body in n processes; killed: the PE that dies by SIGKILL, -1 none. */
static void run(int n, bool cpu, int killed, void (*body)(void))
{
    pid_t pids[N_MOST];
    memset(shared, 0, sizeof *shared);
    for (int i = 0; i < n; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            open_pe(i, n, cpu);
            body();
            _exit(0);
        }
    }
    for (int i = 0; i < n; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        if (i == killed)
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        else
            assert_int_equal(status, 0);
    }
}

/* ---- what PEs do ---- */

static void transfers(void)
{
    static const size_t sizes[] = {0, 1, 2, 4, 7, 8, 63, 4096, 65279, 65280, 65281, 200001, 8u << 20};
    int other = (pe.me + 1) % pe.n;
    unsigned char *mine = malloc(8u << 20), *back = malloc(8u << 20);
    CHECK(mine && back);
    uint64_t seed = 7u + (uint64_t)pe.me;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int nbi = 0; nbi < 2; nbi++) {
            size_t n = sizes[i], shift = n < (8u << 20) ? i % 3 : 0;
            for (size_t k = 0; k < n; k++) mine[k] = (unsigned char)pes_random(&seed);
            memset(back, 0, n);
            CHECK((nbi ? pe.ops->put_nbi : pe.ops->put)(pe.network, other, at(shift), mine, n) == 0);
            CHECK(pe.ops->quiet(pe.network) == 0);
            CHECK((nbi ? pe.ops->get_nbi : pe.ops->get)(pe.network, other, back, at(shift), n) == 0);
            CHECK(pe.ops->quiet(pe.network) == 0);
            CHECK(memcmp(mine, back, n) == 0);
        }
    free(mine);
    free(back);
    close_pe();
}

enum { ROUNDS = 2000 };

static void atomics(void)
{
    /* All PEs, on PE 0's words, PE 0 directly: its CPU's atomics and the network's are atomic against each other. */
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t old = 0;
        if (pe.me == 0) {
            __atomic_fetch_add(word(0), 3, __ATOMIC_SEQ_CST);
            __atomic_fetch_add((uint32_t *)word(1), 3, __ATOMIC_SEQ_CST);
            continue;
        }
        CHECK(pe.ops->amo(pe.network, 0, RS_AMO_ADD, word_at(0), 8, 3, 0, i % 2 ? &old : NULL) == 0);
        CHECK(pe.ops->amo(pe.network, 0, RS_AMO_ADD, word_at(1), 4, 3, 0, i % 2 ? &old : NULL) == 0);
    }
    CHECK(pe.ops->quiet(pe.network) == 0);
    meet();
    uint64_t sum = 0, old = 0;
    CHECK(pe.ops->amo(pe.network, 0, RS_AMO_FETCH, word_at(0), 8, 0, 0, &sum) == 0);
    CHECK(sum == 3u * ROUNDS * (uint64_t)pe.n);
    CHECK(pe.ops->amo(pe.network, 0, RS_AMO_FETCH, word_at(1), 4, 0, 0, &sum) == 0);
    CHECK(sum == 3u * ROUNDS * (uint64_t)pe.n);
    /* Every operation, on a word of one's own. */
    struct rs_place mine = word_at(8 + pe.me);
    int other = (pe.me + 1) % pe.n;
    static const struct {
        enum rs_amo_op op;
        uint64_t value, cond, before;
    } steps[] = {
        {RS_AMO_SET, 0xf0, 0, 0},       {RS_AMO_OR, 0x0f, 0, 0xf0},     {RS_AMO_AND, 0x3c, 0, 0xff},
        {RS_AMO_XOR, 0xff, 0, 0x3c},    {RS_AMO_SWAP, 5, 0, 0xc3},      {RS_AMO_COMPARE_SWAP, 6, 4, 5},
        {RS_AMO_COMPARE_SWAP, 7, 5, 5}, {RS_AMO_ADD, UINT64_MAX, 0, 7}, {RS_AMO_FETCH, 0, 0, 6}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        CHECK(pe.ops->amo(pe.network, other, steps[i].op, mine, 8, steps[i].value, steps[i].cond, &old) == 0);
        if (steps[i].op != RS_AMO_SET) CHECK(old == steps[i].before);
    }
    close_pe();
}

static void signals(void)
{
    int other = (pe.me + 1) % pe.n;
    size_t n = 100000; /* more than one message */
    unsigned char *bytes = malloc(n);
    CHECK(bytes);
    for (uint64_t round = 1; round <= 300; round++) {
        memset(bytes, (int)(round % 251), n);
        size_t part = round % 2 ? n : 8;
        CHECK(pe.ops->put_signal(pe.network, other, at(0), bytes, part, word_at(2), 1, ROCSHMEM_SIGNAL_ADD,
                                 round % 3 == 0) == 0);
        UNTIL(__atomic_load_n(word(2), __ATOMIC_ACQUIRE) == round, round % 5)
        CHECK(pe.window[0] == round % 251 && pe.window[part - 1] == round % 251);
        CHECK(pe.ops->put_signal(pe.network, other, at(0), NULL, 0, word_at(3), round, ROCSHMEM_SIGNAL_SET,
                                 false) == 0);
        UNTIL(__atomic_load_n(word(3), __ATOMIC_ACQUIRE) == round, true) /* its bytes were looked at */
        CHECK(pe.ops->quiet(pe.network) == 0);
    }
    free(bytes);
    close_pe();
}

static void messages(void)
{
    enum { N = 500 };
    static unsigned char body[150000];
    pe.echo = true;
    meet();
    if (pe.me == 0)
        for (uint64_t number = 1; number <= N; number++) {
            memcpy(body, &number, sizeof number);
            CHECK(pe.ops->put_nbi(pe.network, 1, at(0), body, number % 50 ? 8 : sizeof body) == 0);
            CHECK(pe.ops->quiet(pe.network) == 0);
            CHECK(pe.ops->send(pe.network, 1, &number, sizeof number, body, number % 50 ? 8 : sizeof body) ==
                  0);
            UNTIL(atomic_load(&pe.echoes) == (int)number, true)
        }
    else
        UNTIL(atomic_load(&pe.messages) == N, false) /* passive */
    close_pe();
}

static void one_dies(void)
{
    static unsigned char bytes[64];
    CHECK(pe.ops->put(pe.network, 1 - pe.me, at(64), bytes, sizeof bytes) == 0);
    CHECK(pe.ops->quiet(pe.network) == 0);
    meet();
    if (pe.me == 1) raise(SIGKILL);
    uint64_t begun = rs_os_now_ns(), old;
    int rc = 0;
    while (rc == 0 && rs_os_now_ns() - begun < LONG_NS)
        rc = pe.ops->amo(pe.network, 1, RS_AMO_ADD, word_at(0), 8, 1, 0, &old);
    CHECK(rc == RS_E_PEER);
    CHECK(rs_os_now_ns() - begun < 2000000000u);
    UNTIL(atomic_load(&pe.lost) == 1, true)
    CHECK(pe.ops->put(pe.network, 1, at(0), bytes, 8) == RS_E_PEER);
    pe.ops->close(pe.network, false);
    CHECK(rs_os_now_ns() - begun < 5000000000u);
}

/* ---- the tests ---- */

static void puts_and_gets_of_all_sizes(void **state)
{
    (void)state;
    run(2, true, -1, transfers);
    run(3, true, -1, transfers);
}
static void atomics_are_exact(void **state)
{
    (void)state;
    run(3, true, -1, atomics);
}
static void a_signal_comes_after_its_bytes(void **state)
{
    (void)state;
    run(2, true, -1, signals);
}
static void messages_come_in_order_after_puts_and_are_answered_from_receive(void **state)
{
    (void)state;
    run(2, true, -1, messages);
}
static void memory_that_the_cpu_does_not_reach(void **state)
{
    (void)state;
    run(2, false, -1, transfers);
    run(2, false, -1, signals);
}
static void a_killed_peer_is_an_error(void **state)
{
    (void)state;
    run(2, true, 1, one_dies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_and_gets_of_all_sizes),
        cmocka_unit_test(atomics_are_exact),
        cmocka_unit_test(a_signal_comes_after_its_bytes),
        cmocka_unit_test(messages_come_in_order_after_puts_and_are_answered_from_receive),
        cmocka_unit_test(memory_that_the_cpu_does_not_reach),
        cmocka_unit_test(a_killed_peer_is_an_error),
    };
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
