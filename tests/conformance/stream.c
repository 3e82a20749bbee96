/* SPDX-License-Identifier: MIT
 *
 * Host streams: what each operation does, and what is refused. How they wait for each other is in
 * stream_order.c.
 */
#include "conformance.h"

static void *new_stream(void)
{
    void *stream = NULL;
    CHECK_EQ(rocshmemx_stream_create(&stream), 0);
    CHECK(stream != NULL);
    return stream;
}

static void synchronize(void *stream)
{
    CHECK_EQ(rocshmemx_stream_synchronize(stream), 0);
}

static void life(void)
{
    void *streams[100];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) streams[i] = new_stream();
        for (int i = 0; i < 100; i++) {
            CHECK_EQ(rocshmemx_stream_query(streams[i]), 1);
            synchronize(streams[i]);
        }
        for (int i = 0; i < 100; i++) CHECK_EQ(rocshmemx_stream_destroy(streams[(i * 7) % 100]), 0);
    }
    CHECK_EQ(rocshmemx_stream_query(NULL), 1);
    synchronize(NULL);
    rocshmemx_device_synchronize();
}

static void unknown_stream(void)
{
    char *p = symmetric(64), local[8] = {0}, number[32];
    int dummy = 0;
    void *gone = new_stream(), *never = &dummy;
    CHECK_EQ(rocshmemx_stream_destroy(gone), 0);
    snprintf(number, sizeof number, "%p", never);
    EXPECT_STATUS(rocshmemx_stream_synchronize(gone), ROCSHMEMX_E_ARG, "rocshmemx_stream_synchronize",
                  "stream");
    EXPECT_STATUS(rocshmemx_stream_synchronize(never), ROCSHMEMX_E_ARG, "rocshmemx_stream_synchronize",
                  "stream", number);
    EXPECT_STATUS(rocshmemx_stream_destroy(gone), ROCSHMEMX_E_ARG, "rocshmemx_stream_destroy", "stream");
    EXPECT_STATUS(rocshmemx_stream_destroy(NULL), ROCSHMEMX_E_ARG, "rocshmemx_stream_destroy", "stream");
    EXPECT_STATUS(rocshmemx_stream_query(never), ROCSHMEMX_E_ARG, "rocshmemx_stream_query", "stream");
    EXPECT_ERROR(rocshmem_putmem_on_stream(p, local, 8, me, never), ROCSHMEMX_E_ARG,
                 "rocshmem_putmem_on_stream", "stream");
    EXPECT_ERROR(rocshmem_barrier_all_on_stream(gone), ROCSHMEMX_E_ARG, "rocshmem_barrier_all_on_stream",
                 "stream");
    EXPECT_ERROR(rocshmem_signal_wait_until_on_stream((uint64_t *)(void *)p, ROCSHMEM_CMP_EQ, 0, gone),
                 ROCSHMEMX_E_ARG, "rocshmem_signal_wait_until_on_stream", "stream");
    rocshmem_barrier_all();
    rocshmem_free(p);
}

/* All sizes, on the default stream and on one of our own, with and without work before. */
static void put_and_get(void)
{
    static const size_t sizes[] = {0, 1, 7, 8, 100, 4097, 65536, 65537, 1000003, 4 << 20};
    unsigned char *p = symmetric(4 << 20), *local = ordinary(4 << 20), *back = ordinary(4 << 20);
    uint64_t *word = symmetric(64);
    void *streams[] = {NULL, new_stream()};
    for (int queued = 0; queued < 2; queued++)
        for (int s = 0; s < 2; s++)
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                size_t n = sizes[i];
                uint64_t seed = i * 100 + (uint64_t)(queued * 50 + s * 20);
                fill(local, n, seed + (uint64_t)me);
                SET(word, 0);
                rocshmem_barrier_all();
                if (queued) rocshmem_signal_wait_until_on_stream(word, ROCSHMEM_CMP_EQ, 1, streams[s]);
                rocshmem_putmem_on_stream(p, local, n, right(), streams[s]);
                rocshmem_barrier_all_on_stream(streams[s]);
                rocshmem_getmem_on_stream(back, p, n, right(), streams[s]);
                if (queued) {
                    CHECK_EQ(rocshmemx_stream_query(streams[s]), 0);
                    rocshmem_uint64_atomic_set(word, 1, me);
                }
                synchronize(streams[s]);
                CHECK_EQ(rocshmemx_stream_query(streams[s]), 1);
                CHECK_FILLED(p, n, seed + (uint64_t)left());
                CHECK_FILLED(back, n, seed + (uint64_t)me);
                rocshmem_barrier_all();
            }
    CHECK_EQ(rocshmemx_stream_destroy(streams[1]), 0);
    rocshmem_free(p);
    rocshmem_free(word);
    free(local);
    free(back);
}

/* Local memory may be reused once the stream has passed: a later operation of the stream may do so. */
static void local_reuse(void)
{
    enum { N = 200, BYTES = 100000 };
    unsigned char *p = symmetric(BYTES), *local = symmetric(BYTES), *next = symmetric(BYTES);
    void *stream = new_stream();
    for (uint64_t i = 0; i < N; i++) {
        fill(next, 500, i + (uint64_t)me * 1000);
        rocshmem_putmem_on_stream(local, next, 500, me, stream); /* fills local, in order */
        rocshmem_putmem_on_stream(p, local, BYTES, right(), stream);
        synchronize(stream);
    }
    rocshmem_barrier_all();
    CHECK_FILLED(p, 500, N - 1 + (uint64_t)left() * 1000);
    CHECK_EQ(rocshmemx_stream_destroy(stream), 0);
    rocshmem_free(p);
    rocshmem_free(local);
    rocshmem_free(next);
}

static void put_signal(void)
{
    static const size_t sizes[] = {0, 1, 8, 4097, 65537, 1 << 20};
    unsigned char *p = symmetric(1 << 20), *local = ordinary(1 << 20);
    uint64_t *word = symmetric(64), sum = 0;
    void *stream = new_stream();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i];
        fill(local, n, i * 100 + (uint64_t)me);
        rocshmem_putmem_signal_on_stream(p, local, n, word, i + 1, ROCSHMEM_SIGNAL_SET, right(), stream);
        CHECK_EQ(rocshmem_signal_wait_until(word, ROCSHMEM_CMP_EQ, i + 1), i + 1);
        CHECK_FILLED(p, n, i * 100 + (uint64_t)left());
        synchronize(stream);
        rocshmem_barrier_all();
        fill(local, n, i * 100 + 50 + (uint64_t)me);
        sum += i + 5;
        rocshmem_putmem_signal_on_stream(p, local, n, word + 1, i + 5, ROCSHMEM_SIGNAL_ADD, right(), stream);
        CHECK_EQ(rocshmem_signal_wait_until(word + 1, ROCSHMEM_CMP_GE, sum), sum);
        CHECK_FILLED(p, n, i * 100 + 50 + (uint64_t)left());
        synchronize(stream);
        rocshmem_barrier_all();
    }
    CHECK_EQ(rocshmemx_stream_destroy(stream), 0);
    rocshmem_free(p);
    rocshmem_free(word);
    free(local);
}

/* Each comparison: parks while it fails, goes on when a peer makes it true; unsigned. */
static void waits(void)
{
    static const struct {
        uint64_t before, after, value;
        int cmp;
    } rows[] = {
        {0, 5, 5, ROCSHMEM_CMP_EQ}, {5, 6, 5, ROCSHMEM_CMP_NE},          {5, UINT64_MAX, 5, ROCSHMEM_CMP_GT},
        {4, 5, 5, ROCSHMEM_CMP_GE}, {UINT64_MAX, 1, 5, ROCSHMEM_CMP_LT}, {6, 5, 5, ROCSHMEM_CMP_LE},
    };
    uint64_t *word = symmetric(64), *passed = symmetric(64), one = 1;
    void *stream = new_stream();
    for (int k = 0; k < 6; k++) {
        SET(word, rows[k].before);
        SET(passed, 0);
        rocshmem_barrier_all();
        rocshmem_signal_wait_until_on_stream(word, rows[k].cmp, rows[k].value, stream);
        rocshmem_putmem_on_stream(passed, &one, sizeof one, me, stream);
        CHECK_EQ(rocshmemx_stream_query(stream), 0);
        CHECK_EQ(GET(passed), 0);
        rocshmem_barrier_all();
        rocshmem_uint64_atomic_set(word, rows[k].after, left());
        synchronize(stream);
        CHECK_EQ(GET(passed), 1);
        rocshmem_barrier_all();
    }
    CHECK_EQ(rocshmemx_stream_destroy(stream), 0);
    rocshmem_free(word);
    rocshmem_free(passed);
}

static void alltoall(void)
{
    static const size_t sizes[] = {1, 8, 100, 4097, 70001};
    size_t room = (size_t)n_pes * 70001;
    unsigned char *dest = symmetric(room), *source = symmetric(room);
    void *stream = new_stream();
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t block = sizes[s];
        for (int i = 0; i < n_pes; i++)
            fill(source + (size_t)i * block, block, s * 1000 + (uint64_t)(me * 20 + i));
        rocshmem_barrier_all();
        rocshmem_alltoallmem_on_stream(ROCSHMEM_TEAM_WORLD, dest, source, block, s % 2 ? stream : NULL);
        synchronize(s % 2 ? stream : NULL);
        for (int j = 0; j < n_pes; j++)
            CHECK_FILLED(dest + (size_t)j * block, block, s * 1000 + (uint64_t)(j * 20 + me));
        rocshmem_barrier_all();
    }
    CHECK_EQ(rocshmemx_stream_destroy(stream), 0);
    rocshmem_free(dest);
    rocshmem_free(source);
}

static void broadcast(void)
{
    static const size_t sizes[] = {1, 8, 100, 4097, 200001};
    unsigned char *dest = symmetric(200001), *source = symmetric(200001);
    for (int root = 0; root < n_pes; root++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            fill(source, sizes[s], s * 1000 + (uint64_t)(me * 20 + root));
            fill_byte(dest, sizes[s], 0xdd);
            rocshmem_barrier_all();
            rocshmem_broadcastmem_on_stream(ROCSHMEM_TEAM_WORLD, dest, source, sizes[s], root, NULL);
            synchronize(NULL);
            CHECK_FILLED(dest, sizes[s], s * 1000 + (uint64_t)(root * 20 + root));
            rocshmem_barrier_all();
        }
    rocshmem_free(dest);
    rocshmem_free(source);
}

/* Two teams that share no PE, each with streams of its own. */
static void of_a_team(void)
{
    rocshmem_team_t even, odd = ROCSHMEM_TEAM_INVALID;
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 2, (n_pes + 1) / 2, NULL, 0, &even), 0);
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 1, 2, n_pes / 2, NULL, 0, &odd), 0);
    rocshmem_team_t team = me % 2 ? odd : even;
    int n = rocshmem_team_n_pes(team), mine = rocshmem_team_my_pe(team);
    unsigned char *dest = symmetric((size_t)n_pes * 1000), *source = symmetric((size_t)n_pes * 1000);
    void *stream = new_stream();
    for (uint64_t round = 0; round < (uint64_t)times(100); round++) {
        int root = (int)(round % (uint64_t)n);
        for (int i = 0; i < n; i++) fill(source + i * 1000, 1000, round * 50 + (uint64_t)(mine * 7 + i));
        rocshmem_barrier_on_stream(team, stream);
        rocshmem_alltoallmem_on_stream(team, dest, source, 1000, stream);
        synchronize(stream);
        for (int i = 0; i < n; i++)
            CHECK_FILLED(dest + i * 1000, 1000, round * 50 + (uint64_t)(i * 7 + mine));
        rocshmem_team_sync_on_stream(team, stream);
        rocshmem_broadcastmem_on_stream(team, dest, source, 1000, root, stream);
        rocshmem_barrier_on_stream(team, stream);
        synchronize(stream);
        CHECK_FILLED(dest, 1000, round * 50 + (uint64_t)(root * 7));
    }
    CHECK_EQ(rocshmemx_stream_destroy(stream), 0);
    rocshmem_barrier_all();
    rocshmem_team_destroy(even);
    rocshmem_team_destroy(odd);
    rocshmem_free(dest);
    rocshmem_free(source);
}

static void invalid_team(void)
{
    char *p = symmetric(64);
    rocshmem_team_t none = ROCSHMEM_TEAM_INVALID, unknown = (rocshmem_team_t)(intptr_t)31337;
    rocshmem_barrier_on_stream(none, NULL);
    rocshmem_team_sync_on_stream(none, NULL);
    rocshmem_alltoallmem_on_stream(none, p, p, 1, NULL);
    rocshmem_broadcastmem_on_stream(none, p, p, 1, 0, NULL);
    synchronize(NULL);
    EXPECT_ERROR(rocshmem_barrier_on_stream(unknown, NULL), ROCSHMEMX_E_ARG, "rocshmem_barrier_on_stream",
                 "team", "31337");
    EXPECT_ERROR(rocshmem_team_sync_on_stream(unknown, NULL), ROCSHMEMX_E_ARG, "rocshmem_team_sync_on_stream",
                 "team", "31337");
    EXPECT_ERROR(rocshmem_alltoallmem_on_stream(unknown, p, p + 32, 1, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_alltoallmem_on_stream", "team");
    EXPECT_ERROR(rocshmem_broadcastmem_on_stream(unknown, p, p, 1, 0, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_broadcastmem_on_stream", "team");
    rocshmem_barrier_all();
    rocshmem_free(p);
}

static void wrong(void)
{
    char *p = symmetric(64), local[128] = {0}, number[16];
    uint64_t *word = symmetric(64), own = 0;
    rocshmem_team_t world = ROCSHMEM_TEAM_WORLD;
    snprintf(number, sizeof number, "%d", n_pes);
    EXPECT_ERROR(rocshmem_putmem_on_stream(p, local, 8, n_pes, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_putmem_on_stream", "pe", number);
    EXPECT_ERROR(rocshmem_putmem_on_stream(local, p, 8, 0, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_putmem_on_stream", "dest");
    EXPECT_ERROR(rocshmem_putmem_on_stream(p, local, 65, 0, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_putmem_on_stream", "dest", "65");
    EXPECT_ERROR(rocshmem_getmem_on_stream(local, p, 65, 0, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_getmem_on_stream", "source", "65");
    EXPECT_ERROR(rocshmem_getmem_on_stream(p, local, 8, 0, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_getmem_on_stream", "source");
    EXPECT_ERROR(rocshmem_getmem_on_stream(local, p, 8, -1, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_getmem_on_stream", "pe", "-1");
    EXPECT_ERROR(rocshmem_putmem_signal_on_stream(p, local, 8, &own, 1, 0, 0, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_putmem_signal_on_stream", "sig_addr");
    EXPECT_ERROR(rocshmem_putmem_signal_on_stream(p, local, 8, word, 1, 5, 0, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_putmem_signal_on_stream", "sig_op", "5");
    EXPECT_ERROR(rocshmem_putmem_signal_on_stream(p, local, 65, word, 1, 0, 0, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_putmem_signal_on_stream", "dest");
    EXPECT_ERROR(rocshmem_signal_wait_until_on_stream(word, 6, 0, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_signal_wait_until_on_stream", "cmp", "6");
    EXPECT_ERROR(rocshmem_signal_wait_until_on_stream(&own, 0, 0, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_signal_wait_until_on_stream", "sig_addr");
    EXPECT_ERROR(rocshmem_broadcastmem_on_stream(world, p, p, 8, n_pes, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_broadcastmem_on_stream", "pe_root", number);
    EXPECT_ERROR(rocshmem_broadcastmem_on_stream(world, p, p, 65, 0, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_broadcastmem_on_stream", "65");
    EXPECT_ERROR(rocshmem_alltoallmem_on_stream(world, p, word, 65, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_alltoallmem_on_stream", "dest");
    synchronize(NULL);
    rocshmem_barrier_all();
    CHECK_BYTES(p, 64, 0);
    CHECK_BYTES(word, 64, 0);
    rocshmem_free(p);
    rocshmem_free(word);
}

static void device_synchronize(void)
{
    unsigned char *p = symmetric(1 << 20), *local = ordinary(1 << 20);
    void *streams[8];
    fill(local, 1 << 20, (uint64_t)me);
    for (int i = 0; i < 8; i++) {
        streams[i] = new_stream();
        rocshmem_putmem_on_stream(p + (i << 17), local + (i << 17), 1 << 17, right(), streams[i]);
    }
    rocshmemx_device_synchronize();
    for (int i = 0; i < 8; i++) CHECK_EQ(rocshmemx_stream_query(streams[i]), 1);
    rocshmem_barrier_all();
    CHECK_FILLED(p, 1 << 20, (uint64_t)left());
    for (int i = 0; i < 8; i++) CHECK_EQ(rocshmemx_stream_destroy(streams[i]), 0);
    rocshmem_free(p);
    free(local);
}

static void destroy_waits(void)
{
    unsigned char *p = symmetric(4 << 20), *local = ordinary(4 << 20);
    fill(local, 4 << 20, (uint64_t)me);
    void *stream = new_stream();
    rocshmem_putmem_on_stream(p, local, 4 << 20, right(), stream);
    CHECK_EQ(rocshmemx_stream_destroy(stream), 0);
    rocshmem_barrier_all();
    CHECK_FILLED(p, 4 << 20, (uint64_t)left());
    rocshmem_free(p);
    free(local);
}

/* Words of the right neighbour, changed behind a copy: who sees the word sees the bytes. */
static void signal_words(void)
{
    uint64_t *words = symmetric(64);
    unsigned char *dest = symmetric(100000), *source = symmetric(100000);
    void *stream;
    CHECK_EQ(rocshmemx_stream_create(&stream), 0);
    for (uint64_t k = 1; k <= 20; k++) {
        fill(source, 100000, k * 100 + (uint64_t)me);
        rocshmem_putmem_on_stream(dest, source, 100000, right(), stream);
        rocshmem_quiet_on_stream(stream);
        rocshmem_signal_set_on_stream(&words[0], k, right(), stream);
        rocshmem_signal_add_on_stream(&words[1], k, right(), stream);
        rocshmem_signal_wait_until(&words[0], ROCSHMEM_CMP_EQ, k);
        CHECK_FILLED(dest, 100000, k * 100 + (uint64_t)left());
        rocshmem_signal_wait_until(&words[1], ROCSHMEM_CMP_EQ, k * (k + 1) / 2);
        CHECK_EQ(rocshmemx_stream_synchronize(stream), 0);
        rocshmem_barrier_all();
    }
    CHECK_EQ(rocshmemx_stream_destroy(stream), 0);
    rocshmem_free(words);
    rocshmem_free(dest);
    rocshmem_free(source);
}

static void fcollect(void)
{
    static const size_t blocks[] = {0, 1, 100, 70001};
    unsigned char *dest = symmetric((size_t)n_pes * 70001 + 64), *source = symmetric(70001);
    void *stream;
    CHECK_EQ(rocshmemx_stream_create(&stream), 0);
    for (int k = 0; k < 4; k++) {
        fill(source, blocks[k], (uint64_t)(me + 100 * k));
        fill_byte(dest + (size_t)n_pes * blocks[k], 64, 0xdd);
        rocshmem_fcollectmem_on_stream(ROCSHMEM_TEAM_WORLD, dest, source, blocks[k], stream);
        CHECK_EQ(rocshmemx_stream_synchronize(stream), 0);
        for (int pe = 0; pe < n_pes; pe++)
            CHECK_FILLED(dest + (size_t)pe * blocks[k], blocks[k], (uint64_t)(pe + 100 * k));
        CHECK_BYTES(dest + (size_t)n_pes * blocks[k], 64, 0xdd);
        rocshmem_barrier_all();
    }
    CHECK_EQ(rocshmemx_stream_destroy(stream), 0);
    rocshmem_free(dest);
    rocshmem_free(source);
}

/* Without a wait of the host between them: each reduces what the one before gave. */
static void reductions_in_a_row(void)
{
    enum { N = 3001 };
    int64_t *p = symmetric(N * sizeof *p), here[N], want = 1;
    void *stream;
    CHECK_EQ(rocshmemx_stream_create(&stream), 0);
    for (int i = 0; i < N; i++) here[i] = i;
    heap_write(p, here, sizeof here);
    for (int k = 0; k < 12; k++) {
        want *= n_pes;
        rocshmem_int64_sum_reduce_on_stream(ROCSHMEM_TEAM_WORLD, p, p, N, stream);
    }
    CHECK_EQ(rocshmemx_stream_synchronize(stream), 0);
    heap_read(here, p, sizeof here);
    for (int i = 0; i < N; i++)
        if (here[i] != i * want) {
            FAIL("element %d is %lld", i, (long long)here[i]);
            break;
        }
    CHECK_EQ(rocshmemx_stream_destroy(stream), 0);
    rocshmem_barrier_all();
    rocshmem_free(p);
}

static void wrong_collectives(void)
{
    uint64_t *p = symmetric(4096), local = 0;
    rocshmem_team_t world = ROCSHMEM_TEAM_WORLD, none = ROCSHMEM_TEAM_INVALID;
    void *unknown = &local;
    rocshmem_fcollectmem_on_stream(none, p, p, 8, NULL); /* no-ops */
    rocshmem_uint64_sum_reduce_on_stream(none, p, p, 8, NULL);
    EXPECT_ERROR(rocshmem_fcollectmem_on_stream(world, p, p, 8, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_fcollectmem_on_stream", "overlap");
    EXPECT_ERROR(rocshmem_fcollectmem_on_stream(world, p, p, SIZE_MAX, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_fcollectmem_on_stream", "18446744073709551615");
    EXPECT_ERROR(rocshmem_uint64_sum_reduce_on_stream(world, p, p + 1, 2, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_uint64_sum_reduce_on_stream", "overlap");
    EXPECT_ERROR(rocshmem_uint64_xor_reduce_on_stream(world, &local, p, 1, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_uint64_xor_reduce_on_stream", "dest");
    EXPECT_ERROR(rocshmem_uint64_min_reduce_on_stream(world, p, p, 8, unknown), ROCSHMEMX_E_ARG,
                 "rocshmem_uint64_min_reduce_on_stream", "stream");
    EXPECT_ERROR(rocshmem_quiet_on_stream(unknown), ROCSHMEMX_E_ARG, "rocshmem_quiet_on_stream", "stream");
    EXPECT_ERROR(rocshmem_signal_set_on_stream(p, 1, me, unknown), ROCSHMEMX_E_ARG,
                 "rocshmem_signal_set_on_stream", "stream");
    EXPECT_ERROR(rocshmem_signal_add_on_stream(p, 1, n_pes, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_signal_add_on_stream", "pe");
    EXPECT_ERROR(rocshmem_signal_set_on_stream(&local, 1, me, NULL), ROCSHMEMX_E_ARG,
                 "rocshmem_signal_set_on_stream", "sig_addr");
    rocshmem_quiet_on_stream(NULL);
    rocshmem_barrier_all();
    CHECK_BYTES(p, 4096, 0);
    rocshmem_free(p);
}

static const struct test_case stream_cases[] = {
    {"streams_are_made_and_given_back_in_any_order", life, 0},
    {"an_unknown_or_destroyed_stream_is_refused", unknown_stream, 0},
    {"put_and_get_work_on_any_stream_queued_or_not", put_and_get, 0},
    {"local_memory_may_be_reused_by_later_work_of_the_stream", local_reuse, 0},
    {"put_signal_sets_and_adds_after_the_data", put_signal, 0},
    {"each_comparison_parks_its_stream_until_it_holds", waits, 0},
    {"alltoall_gives_block_i_to_pe_i", alltoall, 0},
    {"broadcast_gives_the_root_s_bytes_to_every_pe", broadcast, 0},
    {"collectives_of_disjoint_teams_run_side_by_side", of_a_team, NEEDS_2_PES},
    {"an_invalid_team_is_a_no_op_and_an_unknown_one_an_error", invalid_team, 0},
    {"wrong_arguments_enqueue_nothing_and_are_named", wrong, 0},
    {"device_synchronize_drains_every_stream", device_synchronize, 0},
    {"destroy_waits_for_the_work_of_its_stream", destroy_waits, 0},
    {"signal_words_change_behind_what_the_stream_did_before", signal_words, 0},
    {"fcollect_on_a_stream_gathers_in_team_order", fcollect, 0},
    {"reductions_follow_each_other_on_a_stream", reductions_in_a_row, 0},
    {"wrong_arguments_of_collectives_on_a_stream_enqueue_nothing", wrong_collectives, 0},
};
CHAPTER(stream);
