/* SPDX-License-Identifier: MIT
 *
 * Streams that wait for each other, within a process and between PEs; many collectives in flight.
 */
#include "conformance.h"

static void *new_stream(void)
{
    void *stream = NULL;
    CHECK_EQ(rocshmemx_stream_create(&stream), 0);
    return stream;
}

static void finish(void *stream)
{
    CHECK_EQ(rocshmemx_stream_synchronize(stream), 0);
    if (stream) CHECK_EQ(rocshmemx_stream_destroy(stream), 0);
}

/* Stream a waits for what b puts, here and there. first: which of the two is enqueued, and then synchronised,
 * first. */
static void a_waits_for_b(bool b_first, bool synchronize_b_first)
{
    enum { BYTES = 300000 };
    unsigned char *p = symmetric(BYTES), *got = symmetric(BYTES), *local = ordinary(BYTES);
    uint64_t *word = symmetric(64);
    for (uint64_t i = 1; i <= 20; i++) {
        void *a = new_stream(), *b = new_stream();
        fill(local, BYTES, i * 10 + (uint64_t)me);
        if (b_first)
            rocshmem_putmem_signal_on_stream(p, local, BYTES, word, i, ROCSHMEM_SIGNAL_SET, right(), b);
        rocshmem_signal_wait_until_on_stream(word, ROCSHMEM_CMP_GE, i, a);
        rocshmem_putmem_on_stream(got, p, BYTES, me, a);
        if (!b_first)
            rocshmem_putmem_signal_on_stream(p, local, BYTES, word, i, ROCSHMEM_SIGNAL_SET, right(), b);
        finish(synchronize_b_first ? b : a);
        finish(synchronize_b_first ? a : b);
        CHECK_FILLED(got, BYTES, i * 10 + (uint64_t)left());
        rocshmem_barrier_all();
    }
    rocshmem_free(p);
    rocshmem_free(got);
    rocshmem_free(word);
    free(local);
}

static void both_orders(void)
{
    a_waits_for_b(false, false);
    a_waits_for_b(false, true);
    a_waits_for_b(true, false);
    a_waits_for_b(true, true);
}

/* A chain through many streams of one process: each waits for another. On the host they are enqueued from the chain's
 * end; a GPU has a few queues for all streams, 8 as a rule, in which what waits holds up what was enqueued later, so there
 * each is enqueued behind what it waits for. */
static void chain(void)
{
    enum { LENGTH = 50 };
    uint64_t *words = symmetric((LENGTH + 1) * sizeof *words), dummy = 0;
    void *streams[LENGTH];
    for (int k = 0; k < LENGTH; k++) {
        int i = on_host ? k : LENGTH - 1 - k;
        streams[i] = new_stream();
        rocshmem_signal_wait_until_on_stream(&words[i + 1], ROCSHMEM_CMP_EQ, 7, streams[i]);
        rocshmem_putmem_signal_on_stream(&words[i], &dummy, 0, &words[i], 7, ROCSHMEM_SIGNAL_SET, me,
                                         streams[i]);
    }
    for (int i = 0; i < LENGTH; i++) CHECK_EQ(rocshmemx_stream_query(streams[i]), 0);
    CHECK_EQ(GET(&words[0]), 0);
    rocshmem_uint64_atomic_set(&words[LENGTH], 7, me);
    CHECK_EQ(rocshmem_signal_wait_until(words, ROCSHMEM_CMP_EQ, 7),
             7); /* the worker does it: nobody synchronises */
    for (int i = 0; i < LENGTH; i++) finish(streams[i]);
    rocshmem_barrier_all();
    rocshmem_free(words);
}

/* Ping-pong on streams: thousands of enqueued operations, the host synchronises once. */
static void ping_pong(void)
{
    enum { N = 2000 };
    uint64_t *word = symmetric(64), dummy = 0;
    void *stream = new_stream();
    int peer = me ^ 1;
    for (uint64_t i = 1; peer < n_pes && i <= N; i++) {
        if (me & 1) rocshmem_signal_wait_until_on_stream(word, ROCSHMEM_CMP_GE, i, stream);
        rocshmem_putmem_signal_on_stream(word, &dummy, 0, word, i, ROCSHMEM_SIGNAL_SET, peer, stream);
        if (!(me & 1)) rocshmem_signal_wait_until_on_stream(word, ROCSHMEM_CMP_GE, i, stream);
    }
    finish(stream);
    if (peer < n_pes) CHECK_EQ(GET(word), N);
    rocshmem_barrier_all();
    rocshmem_free(word);
}

/* The host waits for a signal of its own stream, which waits for a peer's host. */
static void host_and_stream(void)
{
    uint64_t *in = symmetric(64), *out = symmetric(64), dummy = 0;
    void *stream = new_stream();
    for (uint64_t i = 1; i <= (uint64_t)times(300); i++) {
        rocshmem_signal_wait_until_on_stream(in, ROCSHMEM_CMP_GE, i, stream);
        rocshmem_putmem_signal_on_stream(out, &dummy, 0, out, i, ROCSHMEM_SIGNAL_SET, me, stream);
        rocshmem_uint64_atomic_inc(in, right());
        CHECK_EQ(rocshmem_signal_wait_until(out, ROCSHMEM_CMP_EQ, i), i);
    }
    finish(stream);
    rocshmem_barrier_all();
    rocshmem_free(in);
    rocshmem_free(out);
}

/* Barriers on a stream with work between them: nothing overtakes one. */
static void barrier_orders(void)
{
    enum { N = 500 };
    uint64_t *values = symmetric(N * sizeof *values), *got = symmetric(N * sizeof *got),
             *own = symmetric(N * sizeof *own);
    void *stream = new_stream();
    for (uint64_t i = 0; i < N; i++) SET(&own[i], i * 100 + (uint64_t)me);
    for (int i = 0; i < N; i++) {
        rocshmem_putmem_on_stream(&values[i], &own[i], 8, right(), stream);
        if (i % 2 || n_near < n_pes) /* the left PE may be on another host */
            rocshmem_barrier_all_on_stream(stream);
        else
            rocshmem_barrier_on_stream(ROCSHMEM_TEAM_SHARED, stream);
        rocshmem_putmem_on_stream(&got[i], &values[i], 8, me,
                                  stream); /* what the left PE put before the barrier */
    }
    finish(stream);
    for (uint64_t i = 0; i < N; i++) CHECK_EQ(GET(&got[i]), i * 100 + (uint64_t)left());
    rocshmem_barrier_all();
    rocshmem_free(values);
    rocshmem_free(got);
    rocshmem_free(own);
}

/* Two streams, one team, enqueued in the same order everywhere, with random delays: 10 000 barriers in flight
 * or not. */
static void two_streams_one_team(void)
{
    const int n = times(10000);
    uint64_t *words = symmetric(2 * (size_t)n / 100 * sizeof *words), state = (uint64_t)me * 7 + 1, dummy = 0;
    void *streams[2] = {new_stream(), new_stream()};
    for (int i = 0; i < n; i++) {
        void *stream = streams[(i * 7 / 3) % 2]; /* the same on every PE */
        if (i % 100 == 0)
            rocshmem_putmem_signal_on_stream(&words[i / 100], &dummy, 0, &words[i / 100], 1,
                                             ROCSHMEM_SIGNAL_ADD, right(), stream);
        rocshmem_barrier_all_on_stream(stream);
        if (i % 100 == 0) rocshmem_signal_wait_until_on_stream(&words[i / 100], ROCSHMEM_CMP_EQ, 1, stream);
        dawdle(&state);
        size_t chance = random_below(&state, 500);
        if (chance == 0) CHECK_EQ(rocshmemx_stream_synchronize(streams[0]), 0);
        if (chance == 1) CHECK_EQ(rocshmemx_stream_synchronize(streams[1]), 0);
    }
    finish(streams[0]);
    finish(streams[1]);
    for (int i = 0; i < n / 100; i++) CHECK_EQ(GET(&words[i]), 1);
    rocshmem_barrier_all();
    rocshmem_free(words);
}

/* Data collectives of one team alternate between two streams, each with buffers of its own. */
static void data_on_two_streams(void)
{
    enum { N = 200, BLOCK = 512 };
    size_t room = (size_t)n_pes * BLOCK;
    unsigned char *dest = symmetric(2 * room), *source = symmetric(N * room / 4),
                  *check = symmetric(N * BLOCK);
    void *streams[2] = {new_stream(), new_stream()};
    uint64_t state = (uint64_t)me;
    for (int i = 0; i < N; i++) {
        unsigned char *out = source + (size_t)(i % (N / 4)) * room;
        if (i < N / 4)
            for (int pe = 0; pe < n_pes; pe++)
                fill(out + pe * BLOCK, BLOCK, (uint64_t)(i * 400 + me * 20 + pe));
        void *stream = streams[i % 2];
        unsigned char *in = dest + (size_t)(i % 2) * room;
        dawdle(&state);
        rocshmem_alltoallmem_on_stream(ROCSHMEM_TEAM_WORLD, in, out, BLOCK, stream);
        rocshmem_putmem_on_stream(check + i * BLOCK, in + left() * BLOCK, BLOCK, me, stream);
        rocshmem_sync_all_on_stream(stream); /* in is about to be written again */
        if (i % 4 < 2) continue;
        rocshmem_broadcastmem_on_stream(ROCSHMEM_TEAM_WORLD, in, out, BLOCK, i % n_pes, stream);
        rocshmem_team_sync_on_stream(ROCSHMEM_TEAM_WORLD, stream);
    }
    finish(streams[0]);
    finish(streams[1]);
    for (int i = 0; i < N; i++)
        CHECK_FILLED(check + i * BLOCK, BLOCK, (uint64_t)(i % (N / 4) * 400 + left() * 20 + me));
    rocshmem_barrier_all();
    rocshmem_free(dest);
    rocshmem_free(source);
    rocshmem_free(check);
}

/* Host barriers and stream barriers of one team are two things: neither releases the other. */
static void host_and_stream_barriers(void)
{
    uint64_t state = (uint64_t)me;
    void *stream = new_stream();
    for (int i = 0; i < times(500); i++) {
        rocshmem_barrier_all_on_stream(stream);
        dawdle(&state);
        rocshmem_barrier_all();
        if (i % 50 == 0) CHECK_EQ(rocshmemx_stream_synchronize(stream), 0);
    }
    finish(stream);
    rocshmem_barrier_all();
}

struct shared_team {
    rocshmem_team_t team;
    uint64_t *words;
};

/* Two threads, a team each, a stream each. */
static void thread_of_barriers(void *arg, int i)
{
    struct shared_team *shared = &((struct shared_team *)arg)[i];
    uint64_t state = (uint64_t)(me + 100 * i), dummy = 0;
    void *stream = new_stream();
    for (uint64_t k = 1; k <= (uint64_t)times(500); k++) {
        rocshmem_putmem_signal_on_stream(shared->words, &dummy, 0, shared->words, 1, ROCSHMEM_SIGNAL_ADD,
                                         right(), stream);
        rocshmem_barrier_on_stream(shared->team, stream);
        dawdle(&state);
        if (k % 50) continue;
        CHECK_EQ(rocshmemx_stream_synchronize(stream), 0);
        CHECK(GET(shared->words) >= k);
    }
    finish(stream);
}

static void two_threads(void)
{
    struct shared_team shared[2];
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &shared[i].team), 0);
        shared[i].words = symmetric(64);
    }
    run_threads(2, thread_of_barriers, shared);
    rocshmem_barrier_all();
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(GET(shared[i].words), times(500));
        rocshmem_team_destroy(shared[i].team);
        rocshmem_free(shared[i].words);
    }
}

static void same_stream(void *arg, int i)
{
    uint64_t own = 0;
    (void)i;
    for (int k = 0; k < times(1000); k++)
        rocshmem_putmem_signal_on_stream(arg, &own, 0, arg, 1, ROCSHMEM_SIGNAL_ADD, right(), NULL);
    CHECK_EQ(rocshmemx_stream_synchronize(NULL), 0);
}

static void threads_on_one_stream(void)
{
    uint64_t *word = symmetric(64);
    run_threads(4, same_stream, word);
    rocshmem_barrier_all();
    CHECK_EQ(GET(word), 4 * times(1000));
    rocshmem_free(word);
}

/* Teams after each other, of other sizes and with other pasts on each member: what an earlier one left is
 * never waited for. */
static void later_teams(void)
{
    void *stream = new_stream();
    uint64_t *word = symmetric(64);
    uint64_t done = 0;
    for (int round = 0; round < 3; round++)
        for (int size = 1; size <= n_pes; size++) {
            rocshmem_team_t team;
            CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, size, NULL, 0, &team), 0);
            for (int i = 0; i < 40 + 10 * size; i++)
                rocshmem_barrier_on_stream(team, stream); /* no-op outside */
            CHECK_EQ(rocshmemx_stream_synchronize(stream), 0);
            rocshmem_team_destroy(team);
            CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &team), 0);
            for (int i = 0; i < 10; i++) {
                rocshmem_putmem_signal_on_stream(word, &done, 0, word, 1, ROCSHMEM_SIGNAL_ADD, right(),
                                                 stream);
                rocshmem_barrier_on_stream(team, stream);
                CHECK_EQ(rocshmemx_stream_synchronize(stream), 0);
                CHECK(GET(word) > done);
                done++;
            }
            rocshmem_team_destroy(team);
        }
    finish(stream);
    rocshmem_barrier_all();
    rocshmem_free(word);
}

static const struct test_case stream_order_cases[] = {
    {"stream_a_waits_for_what_b_puts_in_either_order", both_orders, 0},
    {"a_chain_of_waiting_streams_runs_without_the_host", chain, 0},
    {"ping_pong_on_streams_needs_one_synchronize", ping_pong, NEEDS_2_PES},
    {"a_host_waits_for_its_stream_that_waits_for_a_peer", host_and_stream, 0},
    {"nothing_overtakes_a_barrier_on_its_stream", barrier_orders, 0},
    {"ten_thousand_barriers_of_one_team_on_two_streams_with_delays", two_streams_one_team, 0},
    {"data_collectives_of_one_team_on_two_streams_stay_apart", data_on_two_streams, 0},
    {"host_barriers_and_stream_barriers_do_not_release_each_other", host_and_stream_barriers, 0},
    {"two_threads_have_stream_barriers_in_two_teams", two_threads, 0},
    {"a_later_team_does_not_wait_for_what_an_earlier_one_left", later_teams, 0},
    {"four_threads_share_the_default_stream", threads_on_one_stream, 0},
};
CHAPTER(stream_order);
