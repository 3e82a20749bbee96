/* SPDX-License-Identifier: MIT
 *
 * Several threads of a PE use the library at once: on the default context, on a context of each, and while one waits.
 */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, TIMES = 100 };
static long counters[THREADS], shared, words[THREADS * TIMES], flags[THREADS], total;

struct worker {
    pthread_t thread;
    int number;
    long failures; /* CHECK is for the main thread */
    int private_context;
};

static void run(void *(*body)(void *), int private_context)
{
    struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i, .private_context = private_context};
        if (pthread_create(&workers[i].thread, NULL, body, &workers[i])) abort();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK_EQ(workers[i].failures, 0);
    }
    shmem_barrier_all();
}

static void *atomics_on_the_default_context(void *arg)
{
    struct worker *self = arg;
    for (int i = 0; i < TIMES; i++) {
        shmem_long_atomic_inc(&shared, (me + i) % n_pes);
        long mine = shmem_long_atomic_fetch_add(&counters[self->number], 1, right());
        self->failures += mine != i;
    }
    return NULL;
}

static void *puts_on_an_own_context(void *arg)
{
    struct worker *self = arg;
    shmem_ctx_t ctx;
    if (shmem_ctx_create(self->private_context ? SHMEM_CTX_PRIVATE : 0, &ctx)) {
        self->failures++;
        return NULL;
    }
    for (int i = 0; i < TIMES; i++) {
        int at = self->number * TIMES + i;
        shmem_ctx_long_p(ctx, &words[at], at + 1000L * me, right());
        if (i % 10) continue;
        shmem_ctx_quiet(ctx);
        self->failures += shmem_ctx_long_g(ctx, &words[at], right()) != at + 1000L * me;
    }
    shmem_ctx_quiet(ctx);
    shmem_ctx_destroy(ctx);
    return NULL;
}

/* A ring of PEs for each thread: each waits for its own flag while the others do the same. */
static void *rings(void *arg)
{
    struct worker *self = arg;
    long *flag = &flags[self->number];
    for (long round = 1; round <= 10; round++) {
        if (me != 0) shmem_long_wait_until(flag, SHMEM_CMP_EQ, round);
        shmem_long_atomic_set(flag, round, right());
        if (me == 0) shmem_long_wait_until(flag, SHMEM_CMP_EQ, round);
    }
    return NULL;
}

/* Thread 0 waits; another thread of the same PE makes it true. */
static void *waits_within_a_pe(void *arg)
{
    struct worker *self = arg;
    if (self->number == 0)
        shmem_long_wait_until(&total, SHMEM_CMP_GE, (THREADS - 1) * TIMES);
    else
        for (int i = 0; i < TIMES; i++) shmem_long_atomic_inc(&total, me);
    return NULL;
}

/* Collectives by one thread while the others put and get. */
static void *mixed(void *arg)
{
    struct worker *self = arg;
    static long kept[THREADS];
    for (int i = 0; i < TIMES / 5; i++) {
        if (self->number == 0) {
            shmem_sync_all();
            continue;
        }
        shmem_long_p(&kept[self->number], i, right());
        long seen = shmem_long_g(&kept[self->number], right());
        self->failures += seen < 0 || seen >= TIMES;
        shmem_fence();
    }
    return NULL;
}

/* The thread level: at least what was asked for, or the best there is; query says the same. */
int main(void)
{
    int provided = -1, queried = -1;
    int rc = shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    check_begin_initialised("threads");
    check_case("level");
    CHECK_EQ(rc, 0);
    shmem_query_thread(&queried);
    CHECK_EQ(queried, provided);
    CHECK(provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE);
    if (provided < SHMEM_THREAD_MULTIPLE) {
        check_skip("the rest", "the library does not provide SHMEM_THREAD_MULTIPLE");
        return check_end();
    }
    check_case("atomics_on_the_default_context");
    run(atomics_on_the_default_context, 0);
    CHECK_EQ(shared, (long)THREADS * TIMES);
    for (int i = 0; i < THREADS; i++) CHECK_EQ(counters[i], TIMES);
    for (int private = 0; private < 2; private ++) {
        check_case(private ? "puts_on_a_private_context" : "puts_on_an_own_context");
        memset(words, 0, sizeof words);
        shmem_barrier_all();
        run(puts_on_an_own_context, private);
        for (int i = 0; i < THREADS * TIMES; i++) CHECK_EQ(words[i], i + 1000L * left());
    }
    check_case("rings");
    run(rings, 0);
    check_case("waits_within_a_pe");
    run(waits_within_a_pe, 0);
    check_case("mixed");
    run(mixed, 0);
    return check_end();
}
