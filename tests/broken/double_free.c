/* SPDX-License-Identifier: MIT
 *
 * Broken: the error path frees what the normal path has freed already. */
#include <rocshmem/rocshmem.h>

int main(void)
{
    rocshmem_init();
    void *work = rocshmem_malloc(256);
    rocshmem_free(work);
    rocshmem_barrier_all();
    rocshmem_free(work); /* BUG: a second time */
    rocshmem_finalize();
    return 0;
}
