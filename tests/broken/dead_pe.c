/* SPDX-License-Identifier: MIT
 *
 * Broken: PE 1 follows a null pointer; the others are in a barrier by then. */
#include <rocshmem/rocshmem.h>
#include <stddef.h>

static double *table_of(int pe)
{
    static double table[4];
    return pe == 1 ? NULL : table;
}

int main(void)
{
    rocshmem_init();
    volatile double *table = table_of(rocshmem_my_pe());
    table[0] = 1; /* BUG: NULL on PE 1 */
    rocshmem_barrier_all();
    rocshmem_finalize();
    return 0;
}
