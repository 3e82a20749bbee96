/* SPDX-License-Identifier: MIT
 *
 * The profiling interface: functions of the program take the place of the library's and call the other name; pcontrol is
 * there and does nothing. Needs 1.5.
 */
#define SHMEM_NO_GENERIC
#include <pshmem.h>

#include "check.h"

static int n_puts, n_barriers, n_atomics;
static long word, counter;

void shmem_long_p(long *dest, long value, int pe)
{
    n_puts++;
    pshmem_long_p(dest, value, pe);
}

void shmem_barrier_all(void)
{
    n_barriers++;
    pshmem_barrier_all();
}

long shmem_long_atomic_fetch_add(long *dest, long value, int pe)
{
    n_atomics++;
    return pshmem_long_atomic_fetch_add(dest, value, pe);
}

int main(void)
{
    check_begin("profiling");
    check_case("replaced_functions");
    int n_before = n_barriers;
    shmem_long_p(&word, 100 + me, right());
    shmem_barrier_all();
    CHECK_EQ(word, 100 + left());
    CHECK(shmem_long_atomic_fetch_add(&counter, 1, right()) == 0);
    shmem_barrier_all();
    CHECK_EQ(counter, 1);
    CHECK_EQ(n_puts, 1);
    CHECK_EQ(n_atomics, 1);
    CHECK_EQ(n_barriers - n_before, 2);
    check_case("other_names");
    CHECK_EQ(pshmem_my_pe(), me);
    CHECK_EQ(pshmem_n_pes(), n_pes);
    long *block = pshmem_malloc(sizeof(long));
    CHECK(block != NULL);
    pshmem_sync_all();
    pshmem_free(block);
    CHECK_EQ(pshmem_team_sync(SHMEM_TEAM_WORLD), 0);
    check_case("pcontrol");
    for (int level = 0; level <= 3; level++) shmem_pcontrol(level);
    shmem_pcontrol(2, 1, "more");
    return check_end();
}
