/* SPDX-License-Identifier: MIT
 *
 * Ways to end. exit MODE: the job's exit status is what expect_status.sh is told to expect.
 *
 *   return     main returns 0 without shmem_finalize
 *   exit       exit(0) out of a function, without shmem_finalize
 *   finalize   shmem_finalize, then the program goes on: it may compute, allocate and write
 *   global     shmem_global_exit(41) by one PE while all others are in a barrier, wait for a word, or compute
 *   global_0   the same with 0: a success
 *   status     every PE returns 43 after shmem_finalize
 */
#include <unistd.h>

#include "check.h"

static long word, counter, kept = 5;

static void work(void)
{
    shmem_long_atomic_inc(&counter, 0);
    shmem_long_p(&word, me + 1, right());
    shmem_barrier_all();
    if (word != left() + 1) shmem_global_exit(99);
    shmem_barrier_all();
    word = 0;
    shmem_barrier_all();
}

static void leave_from_a_function(void)
{
    exit(EXIT_SUCCESS);
}

/* Every PE waits in its own way for what never comes. */
static void end_the_job(int status)
{
    if (me == n_pes - 1) shmem_global_exit(status);
    if (me % 3 == 0) shmem_barrier_all();
    if (me % 3 == 1) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    for (;;) pause();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "return";
    check_begin("exit");
    work();
    if (strcmp(mode, "exit") == 0) leave_from_a_function();
    if (strcmp(mode, "global") == 0) end_the_job(41);
    if (strcmp(mode, "global_0") == 0) end_the_job(0);
    if (strcmp(mode, "return") == 0) return EXIT_SUCCESS;
    /* A put that nothing has completed yet: finalize does. */
    kept = me;
    shmem_long_put_nbi(&counter, &kept, 1, right());
    shmem_finalize();
    if (strcmp(mode, "status") == 0) return 43;
    char *block = malloc(1000);
    if (!block) return EXIT_FAILURE;
    memset(block, 1, 1000);
    int good = block[999] == 1 && kept == me && counter == left();
    free(block);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
