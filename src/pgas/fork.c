/* SPDX-License-Identifier: MIT
 *
 * See fork.h. What would reach the job from the child without a call, threads' notes, drops of blocks, signal handlers, is
 * cut off before fork returns there. The locks of that are taken before the fork, so the child never finds one held by a
 * thread that it has not.
 */
#include "pgas/fork.h"

#include <pthread.h>

#include "base/status.h"
#include "pgas/job.h"
#include "pgas/signals.h"

static int forked_by = -1; /* PE. W: the child's only thread, in fork. R: anyone after it */

static void before(void)
{
    rs_heap_lock_current();
    rs_threads_lock();
}

static void after_in_parent(void)
{
    rs_threads_unlock();
    rs_heap_unlock_current();
}

static void after_in_child(void)
{
    const struct rs_job *job = atomic_load_explicit(&rs_job_current, memory_order_acquire);
    if (job) {
        forked_by = job->my_pe;
        rs_signals_forget();
        rs_threads_forget();
        rs_heap_forget_current();
        atomic_store_explicit(&rs_job_current, NULL, memory_order_release);
    }
    rs_threads_unlock();
    rs_heap_unlock_current();
}

void rs_fork_watch(void)
{
    pthread_atfork(before, after_in_parent, after_in_child);
}

int rs_fork_check(void)
{
    if (forked_by < 0) return 0;
    return rs_fail_pe(
        RS_E_STATE, forked_by,
        "this process is a child that PE %d forked, and not in the job; call it in the PE itself, or start "
        "the child anew (exec, subprocess, multiprocessing's spawn)",
        forked_by);
}
