/* SPDX-License-Identifier: MIT
 *
 * What a calling thread owns: its note on the board, its counters, and what it last learnt about addresses.
 * Reached by one thread-local pointer, so an API call finds everything behind one load; a thread that never
 * called, and every thread after finalize, finds the blank, whose job is NULL.
 */
#ifndef RS_PGAS_THREAD_H
#define RS_PGAS_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/board.h"
#include "observe/counters.h"
#include "observe/probe.h"

struct rs_job;

/* One allocation as the thread last saw it. */
struct rs_hit {
    uintptr_t base;
    size_t nbytes;
    uint64_t generation; /* of the heap's list; an older one means nothing */
};

/* Streams that a thread waits for. */
struct rs_drain {
    void *stream;
    bool all;
};

struct rs_thread {
    struct rs_job *_Atomic job; /* W: owner, attaching; finalize, NULL. R: owner, relaxed */
    struct rs_job
        *_Atomic entry; /* the same; NULL also while somebody looks at its calls (observe/probe.h) */
    struct rs_note *note;
    struct rs_hit hit[2];
    struct rs_counters counters;
    /* What this thread is about to wait for; called on the first slow tick of a wait. Owner only. NULL:
     * nothing to say. */
    void (*describe)(const void *arg, struct rs_waits *out);
    const void *describe_arg;
    uint64_t awaits, awaits_step;  /* as in struct rs_note; set before a collective waits. Owner only */
    const struct rs_drain *drains; /* NULL: none. Owner only */
    uint32_t after;                /* RS_AFTER_*: what is to do when the call ends. Owner only */
    struct rs_probe_thread probe;
    struct rs_note spare_note; /* when the board has no free one */
    struct rs_thread *next;    /* under the lock of thread.c */
};

#define RS_AFTER_WAIT 1u  /* a slow tick wrote details into the note: take them out */
#define RS_AFTER_PROBE 2u /* tell who looks */

extern _Thread_local struct rs_thread *rs_self __attribute__((tls_model("initial-exec")));

/* Give the calling thread what it needs in job; rs_self then has it. NOMEM. */
int rs_thread_attach(struct rs_job *job);
/* Take job away from every thread. Only from finalize, when no other thread is inside a call. */
void rs_threads_detach(struct rs_job *job);
/* Counters of all threads of job, those that ended included. sum is initialised by the caller. */
void rs_threads_sum(struct rs_job *job, struct rs_counters *sum);
void rs_threads_zero(struct rs_job *job);
/* Let no thread but the caller begin a call in job (those in the middle of one end it). */
void rs_threads_stop(struct rs_job *job);
/* Is a thread other than the caller in a call? Its word then is in *call_out. */
bool rs_threads_inside(struct rs_job *job, uint32_t *call_out);
/* For forks: the list stays as it is between the two; in the child, forget the job without a word to anybody. */
void rs_threads_lock(void);
void rs_threads_unlock(void);
void rs_threads_forget(void);

static inline void rs_describe(struct rs_thread *thread, void (*describe)(const void *, struct rs_waits *),
                               const void *arg)
{
    thread->describe = describe;
    thread->describe_arg = arg;
}

#endif
