/* SPDX-License-Identifier: MIT
 *
 * rocshmem-perf: the floors of the machine, and what one PE does towards another: transfers, atomics, order,
 * signals, contexts, look-ups. PE 0 calls, PE 1 is the target; in the ping-pongs both call.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <rocshmem/rocshmem.h>
#include <rocshmem/rocshmemx.h>

#include "perf_cases.h"

enum { WINDOW = 64 }; /* nbi calls between two quiets */

/* ---- floors: the same work without us ---- */

/* The peer's copy of a symmetric address; every PE of this tool's jobs can be on another host, hence the
 * check. */
static void *peer_copy(void *symmetric)
{
    void *copy = rocshmem_ptr(symmetric, perf.peer);
    perf_check(copy ? 0 : ROCSHMEMX_E_UNSUPPORTED,
               "rocshmem_ptr, which a floor needs (leave floors out by --ops)");
    return copy;
}

PERF_LOOP(memcpy_private, memcpy(perf.plain, perf.source, nbytes); perf_clobber())

static uint64_t memcpy_peer(size_t nbytes, long n)
{
    char *copy = peer_copy(perf.dest);
    for (long i = 0; i < n; i++) {
        memcpy(copy, perf.source, nbytes);
        perf_clobber();
    }
    return 0;
}

static uint64_t store_fence(size_t nbytes, long n)
{
    (void)nbytes;
    _Atomic uint64_t *word = peer_copy(perf.dest);
    for (long i = 0; i < n; i++) {
        atomic_store_explicit(word, (uint64_t)i, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
    }
    return 0;
}

static uint64_t load(size_t nbytes, long n)
{
    (void)nbytes;
    _Atomic uint64_t *word = peer_copy(perf.dest);
    for (long i = 0; i < n; i++) (void)atomic_load_explicit(word, memory_order_acquire);
    return 0;
}

static uint64_t locked_add(size_t nbytes, long n)
{
    (void)nbytes;
    _Atomic uint64_t *word = peer_copy(perf.dest);
    for (long i = 0; i < n; i++) (void)atomic_fetch_add(word, 1);
    return 0;
}

static void await_line(const _Atomic uint64_t *word, uint64_t value)
{
    for (long spins = 1; atomic_load_explicit(word, memory_order_acquire) < value; spins++)
        if (spins % 4096 == 0) sched_yield(); /* with more PEs than cores the peer may not run */
}

/* A cache line thrown to and fro: what no signal can beat. */
static uint64_t line_ping_pong(size_t nbytes, long n)
{
    static uint64_t tick;
    (void)nbytes;
    _Atomic uint64_t *theirs = peer_copy(perf.ping), *mine = (_Atomic uint64_t *)perf.ping;
    for (long i = 0; i < n; i++) {
        tick++;
        if (perf.me == 1) await_line(mine, tick);
        atomic_store_explicit(theirs, tick, memory_order_release);
        if (perf.me == 0) await_line(mine, tick);
    }
    return 0;
}

/* ---- transfers ---- */

PERF_LOOP(put, rocshmem_putmem(perf.dest, perf.source, nbytes, perf.peer))
PERF_LOOP(get, rocshmem_getmem(perf.dest, perf.source, nbytes, perf.peer))
PERF_LOOP(put_quiet, rocshmem_putmem(perf.dest, perf.source, nbytes, perf.peer); rocshmem_quiet())
PERF_LOOP(put_nbi, rocshmem_putmem_nbi(perf.dest, perf.source, nbytes, perf.peer);
          if (i % WINDOW == WINDOW - 1 || i == n - 1) rocshmem_quiet())
PERF_LOOP(get_nbi, rocshmem_getmem_nbi(perf.dest, perf.source, nbytes, perf.peer);
          if (i % WINDOW == WINDOW - 1 || i == n - 1) rocshmem_quiet())
PERF_LOOP(p, rocshmem_int64_p(perf.word, i, perf.peer))
PERF_LOOP(g, (void)rocshmem_int64_g(perf.word, perf.peer))

/* ---- atomics ---- */

/* What the target holds afterwards proves that n additions happened. */
static uint64_t fetch_add(size_t nbytes, long n)
{
    (void)nbytes;
    rocshmem_int64_atomic_set(perf.word, 0, perf.peer);
    for (long i = 0; i < n; i++) (void)rocshmem_int64_atomic_fetch_add(perf.word, 1, perf.peer);
    perf_check(rocshmem_int64_atomic_fetch(perf.word, perf.peer) != n,
               "rocshmem_int64_atomic_fetch_add: lost counts");
    return 0;
}

PERF_LOOP(fetch_inc, (void)rocshmem_int64_atomic_fetch_inc(perf.word, perf.peer))
PERF_LOOP(swap, (void)rocshmem_int64_atomic_swap(perf.word, i, perf.peer))
PERF_LOOP(compare_swap, (void)rocshmem_int64_atomic_compare_swap(perf.word, i, i + 1, perf.peer))
PERF_LOOP(fetch, (void)rocshmem_int64_atomic_fetch(perf.word, perf.peer))
PERF_LOOP(set, rocshmem_int64_atomic_set(perf.word, i, perf.peer))
PERF_LOOP(add, rocshmem_int64_atomic_add(perf.word, 1, perf.peer))
PERF_LOOP(inc, rocshmem_int64_atomic_inc(perf.word, perf.peer))
PERF_LOOP(fetch_and, (void)rocshmem_int64_atomic_fetch_and(perf.word, i, perf.peer))
PERF_LOOP(fetch_or, (void)rocshmem_int64_atomic_fetch_or(perf.word, i, perf.peer))
PERF_LOOP(fetch_xor, (void)rocshmem_int64_atomic_fetch_xor(perf.word, i, perf.peer))
PERF_LOOP(and, rocshmem_int64_atomic_and(perf.word, i, perf.peer))
PERF_LOOP(or, rocshmem_int64_atomic_or(perf.word, i, perf.peer))
PERF_LOOP(xor, rocshmem_int64_atomic_xor(perf.word, i, perf.peer))
PERF_LOOP(float_swap, (void)rocshmem_float_atomic_swap((float *)perf.word, (float)i, perf.peer))

/* ---- order and signals ---- */

PERF_LOOP(fence, rocshmem_fence())
PERF_LOOP(quiet, rocshmem_quiet())

/* One way: put_signal here, wait there, and back. */
static uint64_t put_signal_ping_pong(size_t nbytes, long n)
{
    static uint64_t tick; /* the ping word only grows, and grows equally on both */
    if (tick == 0) tick = 1ull << 32;
    for (long i = 0; i < n; i++) {
        tick++;
        if (perf.me == 1) rocshmem_signal_wait_until(perf.ping, ROCSHMEM_CMP_GE, tick);
        rocshmem_putmem_signal(perf.dest, perf.source, nbytes, perf.ping, tick, ROCSHMEM_SIGNAL_SET,
                               perf.peer);
        if (perf.me == 0) rocshmem_signal_wait_until(perf.ping, ROCSHMEM_CMP_GE, tick);
    }
    return 0;
}

PERF_LOOP(put_signal, rocshmem_putmem_signal(perf.dest, perf.source, nbytes, perf.signal, 1,
                                             ROCSHMEM_SIGNAL_SET, perf.peer))
PERF_LOOP(put_signal_nbi, rocshmem_putmem_signal_nbi(perf.dest, perf.source, nbytes, perf.signal, 1,
                                                     ROCSHMEM_SIGNAL_ADD, perf.peer);
          if (i % WINDOW == WINDOW - 1 || i == n - 1) rocshmem_quiet())
PERF_LOOP(signal_set,
          rocshmem_putmem_signal(perf.dest, perf.source, 0, perf.signal, 1, ROCSHMEM_SIGNAL_SET, perf.peer))
PERF_LOOP(signal_add,
          rocshmem_putmem_signal(perf.dest, perf.source, 0, perf.signal, 1, ROCSHMEM_SIGNAL_ADD, perf.peer))
PERF_LOOP(signal_fetch, (void)rocshmem_signal_fetch(perf.signal))
PERF_LOOP(signal_wait, rocshmem_signal_wait_until(perf.signal, ROCSHMEM_CMP_GE, 0))
PERF_LOOP(wait_until, rocshmem_int64_wait_until(perf.word, ROCSHMEM_CMP_NE, INT64_MIN))
PERF_LOOP(test, (void)rocshmem_int64_test(perf.word, ROCSHMEM_CMP_NE, INT64_MIN))

/* ---- contexts and look-ups ---- */

PERF_LOOP(ctx_create, rocshmem_ctx_t ctx; perf_check(rocshmem_ctx_create(0, &ctx), "rocshmem_ctx_create");
          rocshmem_ctx_destroy(ctx))

static uint64_t ctx_put_quiet(size_t nbytes, long n)
{
    rocshmem_ctx_t ctx;
    perf_check(rocshmem_ctx_create(0, &ctx), "rocshmem_ctx_create");
    for (long i = 0; i < n; i++) {
        rocshmem_ctx_putmem(ctx, perf.dest, perf.source, nbytes, perf.peer);
        rocshmem_ctx_quiet(ctx);
    }
    rocshmem_ctx_destroy(ctx);
    return 0;
}

PERF_LOOP(my_pe, (void)rocshmem_my_pe())
PERF_LOOP(ptr, (void)rocshmem_ptr(perf.dest, perf.peer))
PERF_LOOP(translate, (void)rocshmem_team_translate_pe(ROCSHMEM_TEAM_WORLD, 0, ROCSHMEM_TEAM_SHARED))
PERF_LOOP(buffer_register, perf_check(rocshmem_buffer_register(perf.plain, 8), "rocshmem_buffer_register");
          perf_check(rocshmem_buffer_unregister(perf.plain), "rocshmem_buffer_unregister"))
PERF_LOOP(hold, void *handle; perf_check(rocshmemx_hold(perf.dest, &handle), "rocshmemx_hold");
          rocshmemx_release(handle))

/* clang-format off */
const struct perf_case perf_rma_cases[] = {
    {"memcpy",          "floor",   "memcpy, symmetric to private memory of this process", PERF_ONE,  PERF_SIZED,   1, memcpy_private},
    {"memcpy_peer",     "floor",   "memcpy to where rocshmem_ptr points",        PERF_ONE,  PERF_SIZED,   1, memcpy_peer},
    {"store_fence",     "floor",   "store to the peer, full fence",              PERF_ONE,  PERF_UNSIZED, 1, store_fence},
    {"load",            "floor",   "load from the peer",                         PERF_ONE,  PERF_UNSIZED, 1, load},
    {"locked_add",      "floor",   "atomic add of the CPU at the peer's word",   PERF_ONE,  PERF_UNSIZED, 1, locked_add},
    {"line",            "floor",   "a cache line's way to the peer",             PERF_PAIR, PERF_UNSIZED, 2, line_ping_pong},
    {"put",             "rma",     NULL,                                         PERF_ONE,  PERF_SIZED,   1, put},
    {"get",             "rma",     NULL,                                         PERF_ONE,  PERF_SIZED,   1, get},
    {"put_quiet",       "rma",     "put, quiet",                                 PERF_ONE,  PERF_SIZED,   1, put_quiet},
    {"put_nbi",         "rma",     "a quiet after each 64",                      PERF_ONE,  PERF_SIZED,   1, put_nbi},
    {"get_nbi",         "rma",     "a quiet after each 64",                      PERF_ONE,  PERF_SIZED,   1, get_nbi},
    {"p",               "rma",     "int64",                                      PERF_ONE,  PERF_UNSIZED, 1, p},
    {"g",               "rma",     "int64",                                      PERF_ONE,  PERF_UNSIZED, 1, g},
    {"fetch_add",       "amo",     "int64, as all below",                        PERF_ONE,  PERF_UNSIZED, 1, fetch_add},
    {"fetch_inc",       "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, fetch_inc},
    {"swap",            "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, swap},
    {"compare_swap",    "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, compare_swap},
    {"fetch",           "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, fetch},
    {"set",             "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, set},
    {"add",             "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, add},
    {"inc",             "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, inc},
    {"fetch_and",       "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, fetch_and},
    {"fetch_or",        "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, fetch_or},
    {"fetch_xor",       "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, fetch_xor},
    {"and",             "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, and},
    {"or",              "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, or},
    {"xor",             "amo",     NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, xor},
    {"float_swap",      "amo",     "swap of a float",                            PERF_ONE,  PERF_UNSIZED, 1, float_swap},
    {"fence",           "order",   "nothing outstanding",                        PERF_ONE,  PERF_UNSIZED, 1, fence},
    {"quiet",           "order",   "nothing outstanding",                        PERF_ONE,  PERF_UNSIZED, 1, quiet},
    {"ping_pong",       "signal",  "put_signal and wait, one way",               PERF_PAIR, PERF_SIZED,   2, put_signal_ping_pong},
    {"put_signal",      "signal",  "nobody waits",                               PERF_ONE,  PERF_SIZED,   1, put_signal},
    {"put_signal_nbi",  "signal",  "nobody waits, a quiet after each 64",        PERF_ONE,  PERF_SIZED,   1, put_signal_nbi},
    {"signal_set",      "signal",  "put_signal of 0 bytes, SET",                 PERF_ONE,  PERF_UNSIZED, 1, signal_set},
    {"signal_add",      "signal",  "put_signal of 0 bytes, ADD",                 PERF_ONE,  PERF_UNSIZED, 1, signal_add},
    {"signal_fetch",    "signal",  NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, signal_fetch},
    {"signal_wait",     "signal",  "signal_wait_until, already true",            PERF_ONE,  PERF_UNSIZED, 1, signal_wait},
    {"wait_until",      "signal",  "int64, already true",                        PERF_ONE,  PERF_UNSIZED, 1, wait_until},
    {"test",            "signal",  "int64",                                      PERF_ONE,  PERF_UNSIZED, 1, test},
    {"ctx_create",      "context", "ctx_create, ctx_destroy",                    PERF_ONE,  PERF_UNSIZED, 1, ctx_create},
    {"ctx_put_quiet",   "context", "put, quiet on a context",                    PERF_ONE,  PERF_UNSIZED, 1, ctx_put_quiet},
    {"my_pe",           "query",   NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, my_pe},
    {"ptr",             "query",   NULL,                                         PERF_ONE,  PERF_UNSIZED, 1, ptr},
    {"translate_pe",    "query",   "WORLD to SHARED",                            PERF_ONE,  PERF_UNSIZED, 1, translate},
    {"buffer_register", "memory",  "register, unregister",                       PERF_ONE,  PERF_UNSIZED, 1, buffer_register},
    {"hold",            "memory",  "hold, release",                              PERF_ONE,  PERF_UNSIZED, 1, hold},
};
/* clang-format on */
const size_t perf_n_rma_cases = sizeof(perf_rma_cases) / sizeof(perf_rma_cases[0]);
