/* SPDX-License-Identifier: MIT
 *
 * Threads come and go by themselves: the first API call of a thread attaches it, its end detaches it (a
 * pthread key's destructor). The list of attached threads, and the counters that ended threads leave, are
 * under one lock of the process.
 */
#include "pgas/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "pgas/job.h"

static struct rs_thread blank; /* job NULL, never written */
_Thread_local struct rs_thread *rs_self = &blank;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rs_thread *list; /* under lock: every struct rs_thread that is not blank */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int key_error;

/* Under the lock. The job gets the counters, the board its note. */
static void leave_locked(struct rs_thread *thread)
{
    struct rs_job *job = atomic_load_explicit(&thread->job, memory_order_relaxed);
    if (!job) return;
    rs_counters_add(&job->retired, &thread->counters);
    if (thread->note != &thread->spare_note) rs_board_release_note(&job->board, thread->note);
    thread->note = &thread->spare_note;
    rs_counters_fini(&thread->counters);
    rs_probe_detach(&thread->probe);
    thread->after = 0;
    atomic_store_explicit(&thread->entry, NULL, memory_order_relaxed);
    atomic_store_explicit(&thread->job, NULL, memory_order_relaxed);
}

static void at_thread_end(void *arg)
{
    struct rs_thread *thread = arg;
    pthread_mutex_lock(&lock);
    leave_locked(thread);
    struct rs_thread **at = &list;
    while (*at && *at != thread) at = &(*at)->next;
    if (*at) *at = thread->next;
    pthread_mutex_unlock(&lock);
    rs_self = &blank;
    free(thread);
}

static void make_key(void)
{
    key_error = pthread_key_create(&key, at_thread_end);
}

static struct rs_thread *thread_create(void)
{
    struct rs_thread *thread = aligned_alloc(128, (sizeof *thread + 127) & ~(size_t)127);
    if (!thread) return NULL;
    memset(thread, 0, sizeof *thread);
    thread->note = &thread->spare_note;
    pthread_once(&key_once, make_key);
    if (key_error || pthread_setspecific(key, thread)) {
        free(thread);
        return NULL;
    }
    return thread;
}

int rs_thread_attach(struct rs_job *job)
{
    struct rs_thread *thread = rs_self;
    bool fresh = thread == &blank;
    if (fresh) thread = thread_create();
    if (!thread) return rs_fail(RS_E_NOMEM, "no memory for the bookkeeping of a thread");
    pthread_mutex_lock(&lock);
    if (fresh) {
        thread->next = list;
        list = thread;
    }
    int rc = rs_counters_init(&thread->counters, job->n_pes);
    if (rc == 0 && (rc = rs_probe_attach(&thread->probe, &job->probe)) < 0)
        rs_counters_fini(&thread->counters);
    if (rc == 0) {
        memset(thread->hit, 0, sizeof thread->hit);
        thread->describe = NULL;
        thread->note = rs_board_claim_note(&job->board, &thread->spare_note);
        atomic_store_explicit(&thread->job, job, memory_order_relaxed);
        atomic_store_explicit(&thread->entry, thread->probe.probe ? NULL : job, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    rs_self = thread;
    return rc;
}

void rs_threads_detach(struct rs_job *job)
{
    pthread_mutex_lock(&lock);
    for (struct rs_thread *t = list; t; t = t->next)
        if (atomic_load_explicit(&t->job, memory_order_relaxed) == job) leave_locked(t);
    pthread_mutex_unlock(&lock);
}

void rs_threads_sum(struct rs_job *job, struct rs_counters *sum)
{
    pthread_mutex_lock(&lock);
    rs_counters_add(sum, &job->retired);
    for (struct rs_thread *t = list; t; t = t->next)
        if (atomic_load_explicit(&t->job, memory_order_relaxed) == job) rs_counters_add(sum, &t->counters);
    pthread_mutex_unlock(&lock);
}

void rs_threads_zero(struct rs_job *job)
{
    pthread_mutex_lock(&lock);
    rs_counters_zero(&job->retired);
    for (struct rs_thread *t = list; t; t = t->next)
        if (atomic_load_explicit(&t->job, memory_order_relaxed) == job) rs_counters_zero(&t->counters);
    pthread_mutex_unlock(&lock);
}

void rs_threads_stop(struct rs_job *job)
{
    pthread_mutex_lock(&lock);
    for (struct rs_thread *t = list; t; t = t->next)
        if (t != rs_self && atomic_load_explicit(&t->job, memory_order_relaxed) == job)
            atomic_store_explicit(&t->entry, NULL, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

bool rs_threads_inside(struct rs_job *job, uint32_t *call_out)
{
    bool inside = false;
    pthread_mutex_lock(&lock);
    for (struct rs_thread *t = list; t && !inside; t = t->next) {
        uint64_t call = atomic_load_explicit(&t->note->call, memory_order_relaxed);
        inside = t != rs_self && atomic_load_explicit(&t->job, memory_order_relaxed) == job &&
                 (call & RS_NOTE_ACTIVE);
        if (inside) *call_out = (uint32_t)call;
    }
    pthread_mutex_unlock(&lock);
    return inside;
}

/* ---- forks ---- */

void rs_threads_lock(void)
{
    pthread_mutex_lock(&lock);
}

void rs_threads_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void rs_threads_forget(void)
{
    for (struct rs_thread *t = list; t; t = t->next) {
        atomic_store_explicit(&t->entry, NULL, memory_order_relaxed);
        atomic_store_explicit(&t->job, NULL, memory_order_relaxed);
        t->note = &t->spare_note;
        t->probe.probe = NULL;
        t->after = 0;
    }
}
