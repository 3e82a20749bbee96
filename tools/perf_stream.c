/* SPDX-License-Identifier: MIT
 *
 * rocshmem-perf: the on-stream forms. Three prices of each: the call alone on an idle stream (NAME), the call
 * and then stream_synchronize (NAME_wait), and for transfers the call alone behind a wait that holds the
 * stream (NAME_queued), which is the price of an append. Waiting for the stream is left out where only calls
 * are timed.
 */
#include <rocshmem/rocshmem.h>
#include <rocshmem/rocshmemx.h>

#include "perf_cases.h"

enum { BATCH = 256 }; /* calls enqueued before the stream is drained */

/* Drain the stream; gives the ns it took, for the caller to leave out. */
static uint64_t drain(void)
{
    uint64_t start = perf_now();
    perf_check(rocshmemx_stream_synchronize(perf.stream), "rocshmemx_stream_synchronize");
    return perf_now() - start;
}

/* Hold the stream until release_stream: the gate must reach the next number. */
static uint64_t held;
static uint64_t hold_stream(void)
{
    uint64_t start = perf_now();
    held++;
    rocshmem_signal_wait_until_on_stream(perf.gate, ROCSHMEM_CMP_GE, held, perf.stream);
    return perf_now() - start;
}

static uint64_t release_stream(void)
{
    uint64_t start = perf_now();
    rocshmem_uint64_atomic_set(perf.gate, held, perf.me);
    (void)drain();
    return perf_now() - start;
}

/* The three forms of one call. */
#define CALL_ONLY(name, ...)                                                                                 \
    static uint64_t name(size_t nbytes, long n)                                                              \
    {                                                                                                        \
        uint64_t left_out = 0;                                                                               \
        (void)nbytes;                                                                                        \
        for (long i = 0; i < n; i++) {                                                                       \
            __VA_ARGS__;                                                                                     \
            if (i % BATCH == BATCH - 1 || i == n - 1) left_out += drain();                                   \
        }                                                                                                    \
        return left_out;                                                                                     \
    }
#define CALL_AND_WAIT(name, ...)                                                                             \
    PERF_LOOP(name##_wait, __VA_ARGS__; perf_check(rocshmemx_stream_synchronize(perf.stream), #name))
#define CALL_QUEUED(name, ...)                                                                               \
    static uint64_t name##_queued(size_t nbytes, long n)                                                     \
    {                                                                                                        \
        uint64_t left_out = 0;                                                                               \
        (void)nbytes;                                                                                        \
        for (long i = 0; i < n; i++) {                                                                       \
            if (i % BATCH == 0) left_out += hold_stream();                                                   \
            __VA_ARGS__;                                                                                     \
            if (i % BATCH == BATCH - 1 || i == n - 1) left_out += release_stream();                          \
        }                                                                                                    \
        return left_out;                                                                                     \
    }
#define ALL_FORMS(name, ...)                                                                                 \
    CALL_ONLY(name, __VA_ARGS__) CALL_AND_WAIT(name, __VA_ARGS__) CALL_QUEUED(name, __VA_ARGS__)
#define TWO_FORMS(name, ...) CALL_ONLY(name, __VA_ARGS__) CALL_AND_WAIT(name, __VA_ARGS__)

ALL_FORMS(put_stream, rocshmem_putmem_on_stream(perf.dest, perf.source, nbytes, perf.peer, perf.stream))
ALL_FORMS(get_stream, rocshmem_getmem_on_stream(perf.dest, perf.source, nbytes, perf.peer, perf.stream))
ALL_FORMS(put_signal_stream, rocshmem_putmem_signal_on_stream(perf.dest, perf.source, nbytes, perf.signal, 1,
                                                              ROCSHMEM_SIGNAL_SET, perf.peer, perf.stream))
ALL_FORMS(signal_wait_stream,
          rocshmem_signal_wait_until_on_stream(perf.signal, ROCSHMEM_CMP_GE, 0, perf.stream))
TWO_FORMS(barrier_stream, rocshmem_barrier_all_on_stream(perf.stream))
TWO_FORMS(sync_stream, rocshmem_sync_all_on_stream(perf.stream))
TWO_FORMS(broadcast_stream, rocshmem_broadcastmem_on_stream(ROCSHMEM_TEAM_WORLD, perf.dest, perf.source,
                                                            nbytes, 0, perf.stream))
TWO_FORMS(alltoall_stream,
          rocshmem_alltoallmem_on_stream(ROCSHMEM_TEAM_WORLD, perf.dest, perf.source, nbytes, perf.stream))
#undef TWO_FORMS
#undef ALL_FORMS
#undef CALL_QUEUED
#undef CALL_AND_WAIT
#undef CALL_ONLY

PERF_LOOP(stream_create, void *stream;
          perf_check(rocshmemx_stream_create(&stream), "rocshmemx_stream_create");
          perf_check(rocshmemx_stream_destroy(stream), "rocshmemx_stream_destroy"))
PERF_LOOP(stream_query, (void)rocshmemx_stream_query(perf.stream))

/* There and back through streams: each side's stream waits for the other's put_signal; one way counts. */
static uint64_t stream_ping_pong(size_t nbytes, long n)
{
    static uint64_t tick;
    if (tick == 0) tick = 1ull << 48; /* above what the other users of the ping word reach */
    for (long i = 0; i < n; i++) {
        tick++;
        if (perf.me == 1) rocshmem_signal_wait_until_on_stream(perf.ping, ROCSHMEM_CMP_GE, tick, perf.stream);
        rocshmem_putmem_signal_on_stream(perf.dest, perf.source, nbytes, perf.ping, tick, ROCSHMEM_SIGNAL_SET,
                                         perf.peer, perf.stream);
        if (perf.me == 0) rocshmem_signal_wait_until_on_stream(perf.ping, ROCSHMEM_CMP_GE, tick, perf.stream);
        perf_check(rocshmemx_stream_synchronize(perf.stream), "rocshmemx_stream_synchronize");
    }
    return 0;
}

#define ONLY "the call, stream idle"
#define WAIT "the call, stream_synchronize"
#define LATE "the call, stream busy"
/* clang-format off */
const struct perf_case perf_stream_cases[] = {
    {"put_stream",                "stream", ONLY, PERF_ONE,  PERF_CALL_SIZED, 1, put_stream},
    {"put_stream_wait",           "stream", WAIT, PERF_ONE,  PERF_SIZED,   1, put_stream_wait},
    {"put_stream_queued",         "stream", LATE, PERF_ONE,  PERF_UNSIZED, 1, put_stream_queued},
    {"get_stream",                "stream", ONLY, PERF_ONE,  PERF_CALL_SIZED, 1, get_stream},
    {"get_stream_wait",           "stream", WAIT, PERF_ONE,  PERF_SIZED,   1, get_stream_wait},
    {"get_stream_queued",         "stream", LATE, PERF_ONE,  PERF_UNSIZED, 1, get_stream_queued},
    {"put_signal_stream",         "stream", ONLY, PERF_ONE,  PERF_CALL_SIZED, 1, put_signal_stream},
    {"put_signal_stream_wait",    "stream", WAIT, PERF_ONE,  PERF_SIZED,   1, put_signal_stream_wait},
    {"put_signal_stream_queued",  "stream", LATE, PERF_ONE,  PERF_UNSIZED, 1, put_signal_stream_queued},
    {"signal_wait_stream",        "stream", ONLY, PERF_ONE,  PERF_UNSIZED, 1, signal_wait_stream},
    {"signal_wait_stream_wait",   "stream", WAIT, PERF_ONE,  PERF_UNSIZED, 1, signal_wait_stream_wait},
    {"signal_wait_stream_queued", "stream", LATE, PERF_ONE,  PERF_UNSIZED, 1, signal_wait_stream_queued},
    {"stream_ping_pong",          "stream", "put_signal and wait on streams, one way", PERF_PAIR, PERF_UNSIZED, 2, stream_ping_pong},
    {"barrier_stream",            "stream", ONLY, PERF_ALL,  PERF_UNSIZED, 1, barrier_stream},
    {"barrier_stream_wait",       "stream", WAIT, PERF_ALL,  PERF_UNSIZED, 1, barrier_stream_wait},
    {"sync_stream",               "stream", ONLY, PERF_ALL,  PERF_UNSIZED, 1, sync_stream},
    {"sync_stream_wait",          "stream", WAIT, PERF_ALL,  PERF_UNSIZED, 1, sync_stream_wait},
    {"broadcast_stream",          "stream", ONLY, PERF_ALL,  PERF_UNSIZED, 1, broadcast_stream},
    {"broadcast_stream_wait",     "stream", WAIT, PERF_ALL,  PERF_SIZED,   1, broadcast_stream_wait},
    {"alltoall_stream",           "stream", ONLY, PERF_ALL,  PERF_UNSIZED, 1, alltoall_stream},
    {"alltoall_stream_wait",      "stream", WAIT, PERF_ALL,  PERF_SIZED,   1, alltoall_stream_wait},
    {"stream_create",             "stream", "stream_create, destroy", PERF_ONE,  PERF_UNSIZED, 1, stream_create},
    {"stream_query",              "stream", "stream idle",            PERF_ONE,  PERF_UNSIZED, 1, stream_query},
};
/* clang-format on */
const size_t perf_n_stream_cases = sizeof(perf_stream_cases) / sizeof(perf_stream_cases[0]);
