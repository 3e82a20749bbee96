/* SPDX-License-Identifier: MIT
 *
 * Global and static variables of the program are symmetric: initialised or not, of a file or of a function, small or
 * large, changed before the library starts or after. Built twice, as position-independent executable and without.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* ---- the variables ---- */

long global_zero;
long global_set = 4711;
static short static_set[7] = {1, 2, 3, 4, 5, 6, 7};
static double static_zero[33];
static struct pair {
    char letter;
    long number;
} pairs[3] = {{'a', 1}, {'b', 2}, {'c', 3}};
enum { BIG = 32 << 20 };
static unsigned char big_zero[BIG];
static unsigned char big_set[1 << 20] = {1, 2, 3};
static const char *text = "pointers into constant data stay what they are";
static int *inside = (int *)&global_set; /* relocated in a position-independent executable */
static void (*function)(void) = shmem_barrier_all;
static _Thread_local int of_thread = 5;
static long atomics[8], psync[SHMEM_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 8];

/* Changed before the library starts; the value must live on, and be symmetric afterwards. */
static long changed_early = 1;
__attribute__((constructor)) static void before_main(void)
{
    changed_early = 2;
}

static long *of_function(void)
{
    static long counter = 40;
    counter++;
    return &counter;
}

/* ---- cases ---- */

static void values_survive_the_start(void)
{
    CHECK_EQ(global_zero, 0);
    CHECK_EQ(global_set, 4711);
    CHECK_EQ(static_set[6], 7);
    CHECK_EQ(pairs[2].letter, 'c');
    CHECK_EQ(pairs[2].number, 3);
    CHECK_EQ(big_zero[BIG - 1], 0);
    CHECK_EQ(big_set[2], 3);
    CHECK_EQ(changed_early, 3);
    CHECK(strncmp(text, "pointers", 8) == 0);
    CHECK(inside == (int *)&global_set);
    CHECK_EQ(of_thread, 5);
    CHECK_EQ(*of_function(), 41);
    function();
}

static void every_kind_is_a_target(void)
{
    long *kept = of_function();
    CHECK_EQ(*kept, 42);
    shmem_barrier_all();
    shmem_long_p(&global_zero, 100 + me, right());
    shmem_long_p(&global_set, 200 + me, right());
    short shorts[7] = {0};
    for (int i = 0; i < 7; i++) shorts[i] = (short)(10 * me + i);
    shmem_short_put(static_set, shorts, 7, right());
    shmem_double_p(&static_zero[32], me + 0.5, right());
    struct pair pair = {(char)('k' + me % 10), 300 + me};
    shmem_putmem(&pairs[1], &pair, sizeof pair, right());
    shmem_long_p(kept, 400 + me, right());
    shmem_long_p(&changed_early, 500 + me, right());
    shmem_barrier_all();
    CHECK_EQ(global_zero, 100 + left());
    CHECK_EQ(global_set, 200 + left());
    for (int i = 0; i < 7; i++) CHECK_EQ(static_set[i], 10 * left() + i);
    CHECK(static_zero[32] == left() + 0.5 && static_zero[31] == 0);
    CHECK_EQ(pairs[1].letter, 'k' + left() % 10);
    CHECK_EQ(pairs[1].number, 300 + left());
    CHECK(pairs[0].letter == 'a' && pairs[2].letter == 'c');
    CHECK_EQ(*kept, 400 + left());
    CHECK_EQ(*of_function(), 401 + left());
    CHECK_EQ(changed_early, 500 + left());
    CHECK_EQ(shmem_long_g(&global_zero, right()), 100 + me);
    shmem_barrier_all();
}

static void large_arrays(void)
{
    for (size_t i = 0; i < 1 << 16; i++) big_set[i] = (unsigned char)(i + (size_t)me);
    shmem_putmem(big_zero + BIG - (1 << 16), big_set, 1 << 16, right());
    shmem_uchar_p(big_zero, (unsigned char)(me + 1), right());
    shmem_uchar_p(big_zero + BIG / 2, (unsigned char)(me + 2), right());
    shmem_barrier_all();
    size_t wrong = 0;
    for (size_t i = 0; i < 1 << 16; i++)
        wrong += big_zero[BIG - (1 << 16) + i] != (unsigned char)(i + (size_t)left());
    CHECK_EQ(wrong, 0);
    CHECK_EQ(big_zero[0], left() + 1);
    CHECK_EQ(big_zero[BIG / 2], left() + 2);
    CHECK_EQ(big_zero[BIG / 2 + 1], 0);
    CHECK_EQ(big_zero[BIG - (1 << 16) - 1], 0);
    unsigned char word = 0;
    shmem_getmem(&word, big_zero + BIG - 1, 1, right());
    CHECK_EQ(word, (unsigned char)(0xffff + me));
    shmem_barrier_all();
}

static void atomics_and_waits(void)
{
    for (int i = 0; i < 20; i++) shmem_long_atomic_inc(&atomics[0], i % n_pes);
    shmem_barrier_all();
    long expected = 0;
    for (int i = 0; i < 20; i++) expected += i % n_pes == me ? n_pes : 0;
    CHECK_EQ(atomics[0], expected);
    for (long round = 1; round <= 20; round++) { /* a ring: PE 0 starts */
        if (me != 0) shmem_long_wait_until(&atomics[1], SHMEM_CMP_EQ, round);
        shmem_long_atomic_set(&atomics[1], round, right());
        if (me == 0) shmem_long_wait_until(&atomics[1], SHMEM_CMP_EQ, round);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_atomic_fetch(&atomics[1], right()), 20);
    CHECK_EQ(shmem_long_test(&atomics[1], SHMEM_CMP_EQ, 20), 1);
    shmem_barrier_all();
}

static void collectives(void)
{
    static long source[4], dest[4 * 64];
    if (n_pes > 64) return;
    for (int i = 0; i < 4; i++) source[i] = 10 * me + i;
    for (size_t i = 0; i < LENGTH(psync); i++) psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    shmem_fcollect64(dest, source, 4, 0, 0, n_pes, psync);
    for (int i = 0; i < 4 * n_pes; i++) CHECK_EQ(dest[i], 10 * (i / 4) + i % 4);
    shmem_barrier_all();
    shmem_long_sum_to_all(dest, source, 4, 0, 0, n_pes, work, psync);
    for (int i = 0; i < 4; i++) CHECK_EQ(dest[i], 10L * n_pes * (n_pes - 1) / 2 + (long)i * n_pes);
    shmem_barrier_all();
#if HAVE_1_5
    CHECK_EQ(shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, n_pes - 1), 0);
    for (int i = 0; i < 4; i++) CHECK_EQ(dest[i], 10 * (n_pes - 1) + i);
    CHECK_EQ(shmem_long_max_reduce(SHMEM_TEAM_WORLD, source, source, 4), 0);
    for (int i = 0; i < 4; i++) CHECK_EQ(source[i], 10 * (n_pes - 1) + i);
    shmem_barrier_all();
#endif
}

/* A child of fork has a copy of its own, or shares nothing that it does not touch; it comes and goes unnoticed. */
static void child_processes(void)
{
    fflush(stdout);
    global_zero = 7 + me;
    shmem_barrier_all();
    pid_t child = fork();
    if (child == 0) _exit(strncmp(text, "pointers", 8) == 0 && of_thread == 5 ? 3 : 4);
    CHECK(child > 0);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    FILE *pipe = popen("echo 4711", "r");
    int number = 0;
    CHECK(pipe && fscanf(pipe, "%d", &number) == 1 && number == 4711);
    if (pipe) CHECK_EQ(pclose(pipe), 0);
    CHECK_EQ(global_zero, 7 + me);
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&global_zero, right()), 7 + right());
    shmem_long_atomic_add(&global_zero, 100, right());
    shmem_barrier_all();
    CHECK_EQ(global_zero, 107 + me);
}

/* C's own streams and buffers live in the library's memory or in ours: both go on working. */
static void the_c_library_goes_on(void)
{
    static char buffer[256];
    FILE *file = tmpfile();
    CHECK(file != NULL);
    if (!file) return;
    setvbuf(file, buffer, _IOFBF, sizeof buffer);
    fprintf(file, "%d %s\n", me, text);
    rewind(file);
    int number = -1;
    CHECK_EQ(fscanf(file, "%d", &number), 1);
    CHECK_EQ(number, me);
    fclose(file);
    CHECK(getenv("PATH") != NULL);
    CHECK_EQ(setenv("SHMEM_TEST_WORD", "word", 1), 0);
    CHECK(getenv("SHMEM_TEST_WORD") && strcmp(getenv("SHMEM_TEST_WORD"), "word") == 0);
}

int main(void)
{
    changed_early = 3;
    check_begin("statics");
    check_case("values_survive_the_start");
    values_survive_the_start();
    check_case("every_kind_is_a_target");
    every_kind_is_a_target();
    check_case("large_arrays");
    large_arrays();
    check_case("atomics_and_waits");
    atomics_and_waits();
    check_case("collectives");
    collectives();
    check_case("child_processes");
    child_processes();
    check_case("the_c_library_goes_on");
    the_c_library_goes_on();
    return check_end();
}
