/* SPDX-License-Identifier: MIT
 *
 * The program behind the fault tests: every blocking call by name, and what it reports when it fails.
 *
 *     calls wait CALL VICTIM MODE   all PEs but VICTIM make the call until it fails. MODE says what VICTIM does
 *                                   meanwhile: "loop" the same, "idle" nothing, "exit" ends with status 0 and no
 *                                   finalize
 *     calls differ CALL OTHER       the last PE makes OTHER, all others CALL, once; then all try a barrier
 *     calls list                    the names
 *
 * Lines on stdout, each with the PE behind the first word: READY pid; CAUGHT ns status pe op: text (ns of the
 * monotonic clock); NOTHING when a call went through that should not have; LEFT when finalize has returned.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rocshmem/rocshmemx.h>

static int me, n_pes;
static char *block, *other; /* symmetric, 4096 bytes each */
static uint64_t *word;      /* symmetric, stays 0 */
static rocshmem_team_t team;
static void *stream;
static rocshmemx_error_t caught;
static const int skip[4] = {0, 1, 0, 0}, wanted[4] = {1, 0, 2, 3}; /* of the waits for arrays of words */
static size_t found[4];

static void on_error(const rocshmemx_error_t *error, void *arg)
{
    (void)arg;
    caught = *error;
}

/* For functions that return a status or NULL. */
static void take(int failed)
{
    if (failed && rocshmemx_take_error(&caught) == 0) caught.status = -99;
}

static void say(const char *kind)
{
    printf("%s %d\n", kind, me);
    fflush(stdout);
}

static void report(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("CAUGHT %d %" PRId64 " %d %d %s: %s\n", me, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
           caught.status, caught.pe, caught.op, caught.text);
    fflush(stdout);
}

static void finish_stream(void)
{
    take(rocshmemx_stream_synchronize(stream) != 0);
}

static int *ints(void)
{
    return (int *)(void *)word;
}

static void split(int size)
{
    rocshmem_team_t made = ROCSHMEM_TEAM_INVALID;
    int failed = rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, size, NULL, 0, &made) != 0;
    take(failed);
    if (!failed) rocshmem_team_destroy(made);
}

static void grid(int xrange)
{
    rocshmem_team_t x, y;
    take(rocshmem_team_split_2d(ROCSHMEM_TEAM_WORLD, xrange, NULL, 0, &x, NULL, 0, &y) != 0);
    rocshmem_team_destroy(x);
    rocshmem_team_destroy(y);
}

static void allocate_and_free(size_t nbytes)
{
    void *p = rocshmem_malloc(nbytes);
    take(!p);
    rocshmem_free(p);
}

/* Every call once; CASE(name, statement). Those above the line block until all members call, those below for
 * ever. */
#define CALLS(CASE)                                                                                          \
    CASE(barrier_all, rocshmem_barrier_all())                                                                \
    CASE(barrier, rocshmem_barrier(team))                                                                    \
    CASE(sync_all, rocshmem_sync_all())                                                                      \
    CASE(team_sync, take(rocshmem_team_sync(team) != 0))                                                     \
    CASE(malloc, allocate_and_free(100))                                                                     \
    CASE(malloc_larger, allocate_and_free(200))                                                              \
    CASE(calloc, {                                                                                           \
        void *p = rocshmem_calloc(1, 100);                                                                   \
        take(!p);                                                                                            \
        rocshmem_free(p);                                                                                    \
    })                                                                                                       \
    CASE(align, {                                                                                            \
        void *p = rocshmem_align(4096, 100);                                                                 \
        take(!p);                                                                                            \
        rocshmem_free(p);                                                                                    \
    })                                                                                                       \
    CASE(free_block, rocshmem_free(block))                                                                   \
    CASE(free_other, rocshmem_free(other))                                                                   \
    CASE(split, split(n_pes))                                                                                \
    CASE(split_smaller, split(n_pes - 1))                                                                    \
    CASE(broadcast, take(rocshmem_broadcastmem(ROCSHMEM_TEAM_WORLD, block, other, 64, 0) != 0))              \
    CASE(broadcast_large, take(rocshmem_broadcastmem(ROCSHMEM_TEAM_WORLD, block, other, 4096, 0) != 0))      \
    CASE(broadcast_root_1, take(rocshmem_broadcastmem(ROCSHMEM_TEAM_WORLD, block, other, 64, 1) != 0))       \
    CASE(alltoall, take(rocshmem_alltoallmem(ROCSHMEM_TEAM_WORLD, block, other, 8) != 0))                    \
    CASE(alltoall_large, take(rocshmem_alltoallmem(ROCSHMEM_TEAM_WORLD, block, other, 256) != 0))            \
    CASE(fcollect, take(rocshmem_fcollectmem(ROCSHMEM_TEAM_WORLD, block, other, 8) != 0))                    \
    CASE(broadcast_typed, take(rocshmem_int_broadcast(ROCSHMEM_TEAM_WORLD, (int *)(void *)block,             \
                                                      (int *)(void *)other, 16, 0) != 0))                    \
    CASE(broadcast_of_long, take(rocshmem_long_broadcast(ROCSHMEM_TEAM_WORLD, (long *)(void *)block,         \
                                                         (long *)(void *)other, 16, 0) != 0))                \
    CASE(alltoalls, take(rocshmem_alltoallsmem(ROCSHMEM_TEAM_WORLD, block, other, 1, 2, 8) != 0))            \
    CASE(alltoalls_stride_3, take(rocshmem_alltoallsmem(ROCSHMEM_TEAM_WORLD, block, other, 1, 3, 8) != 0))   \
    CASE(collect, take(rocshmem_collectmem(ROCSHMEM_TEAM_WORLD, block, other, (size_t)me) != 0))             \
    CASE(collect_large, take(rocshmem_collectmem(ROCSHMEM_TEAM_WORLD, block, other, 700) != 0))              \
    CASE(sum_scatter, take(rocshmem_int_sum_reduce_scatter(ROCSHMEM_TEAM_WORLD, (int *)(void *)block,        \
                                                           (int *)(void *)other, 4) != 0))                   \
    CASE(sum_scatter_large, take(rocshmem_int_sum_reduce_scatter(ROCSHMEM_TEAM_WORLD, (int *)(void *)block,  \
                                                                 (int *)(void *)other, 100) != 0))           \
    CASE(split_2d, grid(2))                                                                                  \
    CASE(split_2d_wider, grid(3))                                                                            \
    CASE(sum, take(rocshmem_int_sum_reduce(ROCSHMEM_TEAM_WORLD, (int *)(void *)block, (int *)(void *)other,  \
                                           4) != 0))                                                         \
    CASE(sum_large, take(rocshmem_int_sum_reduce(ROCSHMEM_TEAM_WORLD, (int *)(void *)block,                  \
                                                 (int *)(void *)other, 1000) != 0))                          \
    CASE(max, take(rocshmem_int_max_reduce(ROCSHMEM_TEAM_WORLD, (int *)(void *)block, (int *)(void *)other,  \
                                           4) != 0))                                                         \
    CASE(sum_of_long, take(rocshmem_long_sum_reduce(ROCSHMEM_TEAM_WORLD, (long *)(void *)block,              \
                                                    (long *)(void *)other, 4) != 0))                         \
    CASE(barrier_all_on_stream, {                                                                            \
        rocshmem_barrier_all_on_stream(stream);                                                              \
        finish_stream();                                                                                     \
    })                                                                                                       \
    CASE(sync_all_on_stream, {                                                                               \
        rocshmem_sync_all_on_stream(stream);                                                                 \
        finish_stream();                                                                                     \
    })                                                                                                       \
    CASE(barrier_on_stream, {                                                                                \
        rocshmem_barrier_on_stream(team, stream);                                                            \
        finish_stream();                                                                                     \
    })                                                                                                       \
    CASE(alltoall_on_stream, {                                                                               \
        rocshmem_alltoallmem_on_stream(ROCSHMEM_TEAM_WORLD, block, other, 8, stream);                        \
        finish_stream();                                                                                     \
    })                                                                                                       \
    CASE(alltoall_larger_on_stream, {                                                                        \
        rocshmem_alltoallmem_on_stream(ROCSHMEM_TEAM_WORLD, block, other, 16, stream);                       \
        finish_stream();                                                                                     \
    })                                                                                                       \
    CASE(broadcast_on_stream, {                                                                              \
        rocshmem_broadcastmem_on_stream(ROCSHMEM_TEAM_WORLD, block, other, 64, 0, stream);                   \
        finish_stream();                                                                                     \
    })                                                                                                       \
    CASE(broadcast_root_1_on_stream, {                                                                       \
        rocshmem_broadcastmem_on_stream(ROCSHMEM_TEAM_WORLD, block, other, 64, 1, stream);                   \
        finish_stream();                                                                                     \
    })                                                                                                       \
    CASE(fcollect_on_stream, {                                                                               \
        rocshmem_fcollectmem_on_stream(ROCSHMEM_TEAM_WORLD, block, other, 8, stream);                        \
        finish_stream();                                                                                     \
    })                                                                                                       \
    CASE(sum_on_stream, {                                                                                    \
        rocshmem_int_sum_reduce_on_stream(ROCSHMEM_TEAM_WORLD, (int *)(void *)block, (int *)(void *)other,   \
                                          4, stream);                                                        \
        finish_stream();                                                                                     \
    })                                                                                                       \
    CASE(max_on_stream, {                                                                                    \
        rocshmem_int_max_reduce_on_stream(ROCSHMEM_TEAM_WORLD, (int *)(void *)block, (int *)(void *)other,   \
                                          4, stream);                                                        \
        finish_stream();                                                                                     \
    })                                                                                                       \
    CASE(finalize, rocshmem_finalize())                                                                      \
    CASE(signal_wait_until, rocshmem_signal_wait_until(word, ROCSHMEM_CMP_EQ, 1))                            \
    CASE(int_wait_until, rocshmem_int_wait_until((int *)(void *)word, ROCSHMEM_CMP_NE, 0))                   \
    CASE(int_wait_until_all, rocshmem_int_wait_until_all(ints(), 4, skip, ROCSHMEM_CMP_GE, 1))               \
    CASE(int_wait_until_all_vector,                                                                          \
         rocshmem_int_wait_until_all_vector(ints(), 4, skip, ROCSHMEM_CMP_GE, wanted))                       \
    CASE(int_wait_until_any, (void)rocshmem_int_wait_until_any(ints(), 4, skip, ROCSHMEM_CMP_GE, 1))         \
    CASE(int_wait_until_any_vector,                                                                          \
         (void)rocshmem_int_wait_until_any_vector(ints(), 4, skip, ROCSHMEM_CMP_GE, wanted))                 \
    CASE(int_wait_until_some,                                                                                \
         (void)rocshmem_int_wait_until_some(ints(), 4, found, skip, ROCSHMEM_CMP_GE, 1))                     \
    CASE(int_wait_until_some_vector,                                                                         \
         (void)rocshmem_int_wait_until_some_vector(ints(), 4, found, skip, ROCSHMEM_CMP_GE, wanted))         \
    CASE(uint64_wait_until_all, rocshmem_uint64_wait_until_all(word, 4, NULL, ROCSHMEM_CMP_EQ, 7))           \
    CASE(wait_on_stream, {                                                                                   \
        rocshmem_signal_wait_until_on_stream(word, ROCSHMEM_CMP_EQ, 1, stream);                              \
        finish_stream();                                                                                     \
    })                                                                                                       \
    CASE(device_synchronize, {                                                                               \
        rocshmem_signal_wait_until_on_stream(word, ROCSHMEM_CMP_EQ, 1, stream);                              \
        rocshmemx_device_synchronize();                                                                      \
    })

#define DEFINE(name, statement)                                                                              \
    static void call_##name(void)                                                                            \
    {                                                                                                        \
        statement;                                                                                           \
    }
CALLS(DEFINE)

static const struct {
    const char *name;
    void (*make)(void);
} calls[] = {
#define ROW(name, statement) {#name, call_##name},
    CALLS(ROW)
#undef ROW
};
enum { N_CALLS = sizeof calls / sizeof calls[0] };

static void (*find(const char *name))(void)
{
    for (int i = 0; i < N_CALLS; i++)
        if (strcmp(calls[i].name, name) == 0) return calls[i].make;
    fprintf(stderr, "calls: no call is named %s\n", name);
    exit(2);
}

static void set_up(void)
{
    rocshmemx_set_error_handler(on_error, NULL);
    rocshmem_init();
    me = rocshmem_my_pe();
    n_pes = rocshmem_n_pes();
    block = rocshmem_calloc(1, 4096);
    other = rocshmem_calloc(1, 4096);
    word = rocshmem_calloc(1, 64);
    if (!block || !other || !word || rocshmemx_stream_create(&stream) != 0 ||
        rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &team) != 0) {
        fprintf(stderr, "calls: could not set up\n");
        exit(2);
    }
    rocshmem_barrier_all();
    printf("READY %d %d\n", me, getpid());
    fflush(stdout);
}

/* Leave the job, broken or not: what this process holds must be given back, whatever finalize reports. */
static int leave(void)
{
    if (rocshmemx_initialized()) rocshmem_finalize();
    if (rocshmemx_initialized() || rocshmem_my_pe() != -1) {
        say("STUCK");
        return 3;
    }
    say("LEFT");
    return 0;
}

static int wait_for_failure(void (*call)(void), int victim, const char *mode)
{
    if (me == victim && strcmp(mode, "exit") == 0) return 0;
    while (me == victim && strcmp(mode, "idle") == 0) pause();
    while (caught.status == 0 && rocshmemx_initialized()) call();
    if (caught.status)
        report();
    else
        say("NOTHING");
    return leave();
}

static int differ(void (*call)(void), void (*odd)(void))
{
    (me == n_pes - 1 ? odd : call)();
    if (caught.status)
        report();
    else
        say("NOTHING");
    caught.status = 0;
    if (rocshmemx_initialized()) rocshmem_barrier_all();
    if (caught.status) report();
    return leave();
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (int i = 0; i < N_CALLS; i++) puts(calls[i].name);
        return 0;
    }
    if (argc == 5 && strcmp(argv[1], "wait") == 0) {
        void (*call)(void) = find(argv[2]);
        set_up();
        return wait_for_failure(call, atoi(argv[3]), argv[4]);
    }
    if (argc == 4 && strcmp(argv[1], "differ") == 0) {
        void (*call)(void) = find(argv[2]), (*odd)(void) = find(argv[3]);
        set_up();
        return differ(call, odd);
    }
    fprintf(stderr, "usage: calls wait CALL VICTIM MODE | calls differ CALL OTHER | calls list\n");
    return 2;
}
