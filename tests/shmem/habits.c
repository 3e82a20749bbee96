/* SPDX-License-Identifier: MIT
 *
 * What programs written for other libraries do although the specification leaves it open, or undefined, and what must
 * work here all the same. Other libraries need not pass.
 */
#include "check.h"

#include <mpp/shmem.h>
#include <mpp/shmemx.h>

#if !defined(OSHMEM_SPEC_VERSION) || OSHMEM_SPEC_VERSION < 10500
#error Open MPI programs ask for OSHMEM_SPEC_VERSION
#endif

#ifndef HAVE_SHMEMX_WTIME
static double shmemx_wtime(void) /* the header has declared it otherwise */
{
    return 0;
}
#endif

/* They compare what they asked for with what they got. */
static void the_level_is_the_one_asked_for(int provided)
{
    int queried = -1;
    CHECK_EQ(provided, SHMEM_THREAD_FUNNELED);
    shmem_query_thread(&queried);
    CHECK_EQ(queried, SHMEM_THREAD_FUNNELED);
}

static void start_again(void)
{
    start_pes(0);
    start_pes(n_pes);
    CHECK_EQ(_my_pe(), me);
    CHECK_EQ(_num_pes(), n_pes);
}

/* Each PE has room for its own part only; the others know how large that is. */
static void fill(long *block, int n, const char *what)
{
    long values[64];
    CHECK(block != NULL);
    if (!block) return;
    for (int i = 0; i < right() + 1; i++) values[i] = 100 * me + i;
    shmem_barrier_all();
    shmem_long_put(block, values, (size_t)right() + 1, right());
    shmem_barrier_all();
    for (int i = 0; i < n; i++)
        if (block[i] != 100 * left() + i) FAIL("%s: element %d is %ld", what, i, block[i]);
}

static void sizes_that_differ(void)
{
    int n = me + 1;
    size_t nbytes = (size_t)n * sizeof(long);
    long *a = shmem_malloc(nbytes), *b = shmem_align(256, nbytes), *c = shmem_calloc((size_t)n, sizeof(long));
    long *d = shmem_malloc_with_hints(nbytes, SHMEM_MALLOC_ATOMICS_REMOTE), *after = symmetric(sizeof(long));
    for (int i = 0; i < n; i++) CHECK_EQ(c[i], 0);
    *after = 7;
    fill(a, n, "malloc");
    fill(b, n, "align");
    fill(c, n, "calloc");
    fill(d, n, "hints");
    a = shmem_realloc(a, (size_t)(n_pes - me) * sizeof(long));
    CHECK(a != NULL);
    CHECK_EQ(a[0], 100 * left());
    a = shmem_realloc(a, 2 * nbytes);
    fill(a, n, "realloc");
    CHECK_EQ(*after, 7);
    shmem_free(after);
    shmem_free(d);
    shmem_free(c);
    shmem_free(b);
    shmem_free(a);
}

static void small_alignments(void)
{
    for (size_t align = 1; align < sizeof(void *); align *= 2) {
        void *block = shmem_align(align, 5);
        CHECK(block != NULL);
        shmem_free(block);
    }
    CHECK(shmem_align(0, 5) == NULL);
    CHECK(shmem_align(24, 5) == NULL);
}

/* A lock's word is the library's; a program that writes to it while it holds the lock gets away with it. */
static void writing_to_a_held_lock(void)
{
    static long lock;
    static int taken;
    for (int pe = 0; pe < n_pes; pe++) {
        if (pe == me) {
            shmem_set_lock(&lock);
            if (me == 0) lock = 1;
            shmem_clear_lock(&lock);
        }
        shmem_barrier_all();
    }
    int mine = shmem_test_lock(&lock) == 0;
    shmem_int_atomic_add(&taken, mine, 0);
    shmem_barrier_all();
    if (me == 0) CHECK_EQ(taken, 1);
    if (mine) shmem_clear_lock(&lock);
    shmem_barrier_all();
}

static void wall_clock(void)
{
    static double here, all;
    static double work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
    static long psync[SHMEM_REDUCE_SYNC_SIZE];
    double before = shmemx_wtime();
    shmem_barrier_all();
    here = shmemx_wtime();
    CHECK(here >= before);
    shmem_barrier_all();
    shmem_double_max_to_all(&all, &here, 1, 0, 0, n_pes, work, psync);
    CHECK(all >= here && all - here < 60);
    CHECK(shmemx_wtime() >= all); /* the same clock on all PEs */
}

int main(void)
{
    int provided = -1;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided), 0);
    check_begin_initialised("habits");
    check_case("the_level_is_the_one_asked_for");
    the_level_is_the_one_asked_for(provided);
    check_case("start_again");
    start_again();
    check_case("sizes_that_differ");
    sizes_that_differ();
    check_case("small_alignments");
    small_alignments();
    check_case("writing_to_a_held_lock");
    writing_to_a_held_lock();
    check_case("wall_clock");
    wall_clock();
    return check_end();
}
