/* SPDX-License-Identifier: MIT
 *
 * The smallest complete program: join the job, say hello, write into the memory of the next PE, count with an
 * atomic. Every PE runs this same main(). README.md says how to compile and start it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rocshmem/rocshmem.h>

int main(void)
{
    rocshmem_init(); /* under rocshmem-run -n N this process is one of N PEs; started alone, the only one */
    int me = rocshmem_my_pe();
    int n_pes = rocshmem_n_pes();

    /* Symmetric memory: every PE makes the same call, and the address it gets names the corresponding object
     * on each other PE too. box[0] receives a greeting, box[1] counts arrivals (on PE 0 only). */
    int64_t *box = rocshmem_calloc(2, sizeof *box);
    if (!box) rocshmem_global_exit(EXIT_FAILURE);

    int64_t greeting = 100 + me;
    int next = (me + 1) % n_pes;
    rocshmem_int64_put(&box[0], &greeting, 1, next); /* into box[0] of PE next */
    rocshmem_int64_atomic_inc(&box[1], 0);           /* box[1] of PE 0, by everyone */
    rocshmem_barrier_all();                          /* all PEs are here, and all their writes are done */

    int previous = (me + n_pes - 1) % n_pes;
    printf("hello from PE %d of %d: PE %d wrote %" PRId64 "\n", me, n_pes, previous, box[0]);
    int good = box[0] == 100 + previous;
    if (me == 0) {
        printf("PE 0 counted %" PRId64 " arrivals\n", box[1]);
        good = good && box[1] == n_pes;
    }

    rocshmem_free(box); /* collective, as the allocation was */
    rocshmem_finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
