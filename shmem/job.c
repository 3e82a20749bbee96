/* SPDX-License-Identifier: MIT
 *
 * Joining and leaving a job, and facts about it. A process joins once; one that ends with status 0 without leaving
 * is taken out on the way (OpenSHMEM's implicit finalization). Called by any thread, init and finalize by one.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "layer.h"
#include "shmemx.h"

unsigned layer_generation;
int layer_n_pes;
static bool finalized;
static int thread_level = SHMEM_THREAD_MULTIPLE; /* what the last init was asked for: programs compare it */
static pid_t joined_by;                          /* this process, not a fork()ed child of it; 0 before init */

/* A non-zero status is left to the launcher, which ends the others and says so: waiting for them would hang. */
static void leave_at_exit(int status, void *arg)
{
    (void)arg;
    if (status == 0 && joined_by == getpid() && rocshmemx_initialized()) shmem_finalize();
}

/* All that OpenSHMEM programs expect of a job and rocSHMEM programs do not: the host's memory, and the executable's
 * variables symmetric, for which the runtime takes the host, whatever devices there are. */
static void configure(void)
{
    if (!rocshmemx_initialized() && rocshmemx_static_data(1) != 0) layer_raise("shmem_init");
}

static void joined(void)
{
    __atomic_add_fetch(&layer_generation, 1, __ATOMIC_RELAXED);
    if (!joined_by) on_exit(leave_at_exit, NULL);
    joined_by = getpid();
    finalized = false;
    layer_n_pes = rocshmem_n_pes();
}

LAYER(void, init, (void))
{
    configure();
    rocshmem_init();
    thread_level = SHMEM_THREAD_MULTIPLE;
    joined();
}

LAYER(int, init_thread, (int required, int *provided))
{
    configure();
    int rc = rocshmem_init_thread(required, NULL);
    if (rc != 0) return layer_broken(rc);
    thread_level = required;
    if (provided) *provided = required;
    joined();
    return 0;
}

LAYER(void, query_thread, (int *provided))
{
    if (provided) *provided = thread_level;
}

LAYER(void, finalize, (void))
{
    if (finalized) return;
    layer_n_pes = 0;
    rocshmem_finalize();
    finalized = true;
}

LAYER(void, global_exit, (int status))
{
    rocshmem_global_exit(status);
}

LAYER(int, my_pe, (void))
{
    return rocshmem_my_pe();
}

LAYER(int, n_pes, (void))
{
    return rocshmem_n_pes();
}

LAYER(int, pe_accessible, (int pe))
{
    return layer_has_pe(pe);
}

LAYER(int, addr_accessible, (const void *addr, int pe))
{
    if (!layer_has_pe(pe)) return 0;
    /* What is symmetric here is so everywhere, and reached on another host too, where ptr gives NULL. */
    return rocshmem_ptr(addr, rocshmem_my_pe()) || rocshmemx_allocation(addr, NULL, NULL);
}

LAYER(void *, ptr, (const void *dest, int pe))
{
    return layer_has_pe(pe) ? rocshmem_ptr(dest, pe) : NULL;
}

LAYER(void, info_get_version, (int *major, int *minor))
{
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

LAYER(void, info_get_name, (char *name))
{
    memcpy(name, SHMEM_VENDOR_STRING, sizeof SHMEM_VENDOR_STRING);
}

LAYER(void, pcontrol, (int level, ...))
{
    (void)level;
}

/* ---- others' extensions ---- */

double shmemx_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the names before 1.2 ---- */

void start_pes(int npes)
{
    (void)npes;
    if (!rocshmemx_initialized()) shmem_init();
}

int _my_pe(void)
{
    return rocshmem_my_pe();
}

int _num_pes(void)
{
    return rocshmem_n_pes();
}
