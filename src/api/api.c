/* SPDX-License-Identifier: MIT
 *
 * The cold half of api.h: words for what users got wrong, and the process's error handler.
 */
#include "api/api.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pgas/fork.h"
#include "pgas/signals.h"

/* The handler and its argument change together: under the lock. */
static pthread_mutex_t handler_lock = PTHREAD_MUTEX_INITIALIZER;
static rocshmemx_error_handler_t handler;
static void *handler_arg;

void rocshmemx_set_error_handler(rocshmemx_error_handler_t new_handler, void *arg)
{
    pthread_mutex_lock(&handler_lock);
    handler = new_handler;
    handler_arg = arg;
    pthread_mutex_unlock(&handler_lock);
}

int rocshmemx_take_error(rocshmemx_error_t *error_out)
{
    rocshmemx_error_t *slot = rs_error_slot();
    int status = slot->status;
    if (status && error_out) *error_out = *slot;
    if (status) rs_error_clear();
    return status;
}

const char *rocshmemx_status_text(int status)
{
    return rs_status_text(status);
}

void rocshmemx_set_location_hook(int (*hook)(void *arg, int in_handler, char *out, size_t nbytes), void *arg)
{
    rs_job_set_locator(hook, arg);
}

void rocshmemx_set_interrupt_hook(int (*hook)(void *arg), void *arg)
{
    rs_job_set_interrupt(hook, arg);
}

/* Nobody handles errors: say what is wrong and end the job, as a C program would expect of a failed
 * assertion. */
void rocshmemx_default_error(const rocshmemx_error_t *error)
{
    struct rs_job *job = atomic_load_explicit(&rs_job_current, memory_order_acquire);
    char line[1200];
    int n = snprintf(line, sizeof line, "rocshmem: PE %d: %s: %s\n", job ? job->my_pe : -1, error->op,
                     error->text);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    if (write(STDERR_FILENO, line, length) < 0) { /* nowhere to say it: end all the same */
    }
    if (job) rs_signals_exit_all(&job->board, 1, "");
    fflush(NULL);
    _exit(1);
}

static void set_op(const char *function)
{
    rocshmemx_error_t *slot = rs_error_slot();
    snprintf(slot->op, sizeof slot->op, "%s", function);
}

/* Before an error is told: who is to blame when it is about another host's PE. */
static void settle_blame(void)
{
    struct rs_job *job = atomic_load_explicit(&rs_job_current, memory_order_acquire);
    if (!job || !job->net) return;
    rs_network_verdict(job);
    rs_news_flush(job);
}

void rs_raise(const char *function)
{
    settle_blame();
    set_op(function);
    pthread_mutex_lock(&handler_lock);
    rocshmemx_error_handler_t call = handler;
    void *arg = handler_arg;
    pthread_mutex_unlock(&handler_lock);
    if (call) {
        rocshmemx_error_t error = *rs_error_slot();
        call(&error, arg);
    } else {
        rocshmemx_default_error(rs_error_slot());
    }
}

int rs_return(const char *function)
{
    settle_blame();
    set_op(function);
    return rs_error_slot()->status;
}

int rs_no_job(void)
{
    RS_TRY(rs_fork_check());
    return rs_fail(RS_E_STATE, "called before rocshmem_init or after rocshmem_finalize");
}

struct rs_thread *rs_enter_slow(void)
{
    struct rs_job *job = atomic_load_explicit(&rs_job_current, memory_order_acquire);
    if (!job) {
        rs_no_job();
        return NULL;
    }
    return rs_thread_attach(job) < 0 ? NULL : rs_self;
}

struct rs_thread *rs_enter_probed(uint32_t call)
{
    struct rs_thread *t = rs_self;
    if (!rs_thread_job(t) && !(t = rs_enter_slow())) return NULL;
    if (atomic_load_explicit(&rs_thread_job(t)->ending, memory_order_acquire) &&
        t != rs_thread_job(t)->ender) {
        rs_fail(
            RS_E_STATE,
            "called while another thread is in rocshmem_finalize; end the threads that use the job first");
        return NULL;
    }
    if (!t->probe.probe) return t; /* its first call */
    t->after |= RS_AFTER_PROBE;
    rs_probe_enter(&t->probe, call);
    return t;
}

void rs_leave_slow(struct rs_thread *t)
{
    if (t->after & RS_AFTER_WAIT) {
        rs_note_detail(t->note, 0, NULL);
        atomic_store_explicit(&t->note->awaits, 0, memory_order_relaxed);
    }
    if (t->after & RS_AFTER_PROBE) rs_probe_leave(&t->probe);
    t->after = 0;
}

int rs_probe_seen(struct rs_thread *t, const void *words, size_t nbytes)
{
    struct rs_access access = {.kind = RS_ACCESS_SEEN, .pe = -1, .local = words, .local_nbytes = nbytes};
    return rs_probe_access(&t->probe, &access);
}

int rs_probe_meet(struct rs_thread *t, enum rs_access_kind kind, const struct rs_gathering *m)
{
    struct rs_meeting_of of = {.kind = (enum rs_kind)m->signature->kind,
                               .team = m->team->id,
                               .first = m->team->pes[0],
                               .n_pes = m->team->n_pes,
                               .my_pe = m->team->my_pe,
                               .number = m->team->sequence,
                               .root =
                                   m->signature->kind == RS_KIND_BROADCAST ? (int)m->signature->arg[1] : -1};
    struct rs_access access = {.kind = kind,
                               .pe = -1,
                               .remote = m->dest,
                               .remote_nbytes = m->dest_nbytes,
                               .local = m->source,
                               .local_nbytes = m->source_nbytes,
                               .on_stream = m->on_stream,
                               .stream = m->stream,
                               .meeting = &of};
    return rs_probe_access(&t->probe, &access);
}

bool rs_symmetric_slow(struct rs_thread *t, struct rs_job *job, const void *p, size_t nbytes)
{
    struct rs_hit second = t->hit[1], *hit = &t->hit[0];
    uint64_t generation = atomic_load_explicit(&job->heap.generation, memory_order_acquire);
    size_t at = (uintptr_t)p - second.base;
    bool found = second.generation == generation && at <= second.nbytes && nbytes <= second.nbytes - at;
    if (!found && rs_static_data_contains(&job->data, p)) {
        second = (struct rs_hit){job->data.base, job->data.nbytes, generation};
        found = nbytes <= second.nbytes - ((uintptr_t)p - second.base);
    } else if (!found) {
        if (!rs_heap_find(&job->heap, p, &second.base, &second.nbytes, &second.generation)) return false;
        at = (uintptr_t)p - second.base;
        found = at <= second.nbytes && nbytes <= second.nbytes - at;
    }
    t->hit[1] = *hit; /* the one used last is first */
    *hit = second;
    return found;
}

int rs_bad_pe(const struct rs_job *job, const char *what, int pe, int n)
{
    (void)job;
    return rs_fail_pe(RS_E_ARG, pe, "%s %d is out of range; it must be from 0 to %d", what, pe, n - 1);
}

int rs_bad_symmetric(struct rs_job *job, const char *what, const void *p, size_t nbytes)
{
    if (rs_static_data_contains(&job->data, p))
        return rs_fail(RS_E_ARG, "%s %p + %zu bytes leaves the program's static data, %zu bytes at %p", what,
                       p, nbytes, job->data.nbytes, (void *)job->data.base);
    const char *object = rs_heap_contains(&job->heap, p) ? NULL : rs_static_data_object(p);
    if (object && object[0])
        return rs_fail(
            RS_E_ARG,
            "%s %p is not symmetric: it is a variable of the library %s; use memory from rocshmem_malloc",
            what, p, object);
    if (object)
        return rs_fail(
            RS_E_ARG,
            "%s %p is not symmetric: it is a constant, or a static variable of the program, which are "
            "symmetric after rocshmemx_static_data (OpenSHMEM programs: always); use memory from "
            "rocshmem_malloc",
            what, p);
    return rs_heap_explain(&job->heap, what, p, nbytes ? nbytes : 1);
}

int rs_bad_local(const char *what, const void *p, size_t nbytes)
{
    return rs_fail(RS_E_ARG, "%s %p is no memory, for %zu bytes; pass the address of a buffer", what, p,
                   nbytes);
}

int rs_bad_word(const char *what, const void *p, size_t width)
{
    return rs_fail(RS_E_ARG, "%s %p is not aligned to %zu bytes, which an atomic word must be", what, p,
                   width);
}

int rs_check_cmp(int cmp)
{
    if (cmp >= ROCSHMEM_CMP_EQ && cmp <= ROCSHMEM_CMP_LE) return 0;
    return rs_fail(RS_E_ARG, "cmp %d is no comparison; use ROCSHMEM_CMP_EQ (0), NE, GT, GE, LT or LE (5)",
                   cmp);
}

int rs_check_sig_op(int sig_op)
{
    if (sig_op == ROCSHMEM_SIGNAL_SET || sig_op == ROCSHMEM_SIGNAL_ADD) return 0;
    return rs_fail(RS_E_ARG,
                   "sig_op %d is no signal operation; use ROCSHMEM_SIGNAL_SET (0) or ROCSHMEM_SIGNAL_ADD (1)",
                   sig_op);
}

int rs_bad_overlap(const void *dest, size_t dest_nbytes, const void *source, size_t source_nbytes)
{
    return rs_fail(RS_E_ARG, "dest %p + %zu bytes overlaps source %p + %zu bytes; give it memory of its own",
                   dest, dest_nbytes, source, source_nbytes);
}

int rs_context_pe_slow(struct rs_job *job, rocshmem_ctx_t ctx, int pe, int *pe_out)
{
    const struct rs_context *context = rs_context_get(job, ctx);
    if (!context) return RS_E_ARG;
    const struct rs_team *team = context->team;
    if (!team) {
        *pe_out = pe;
        return 0;
    }
    if (pe < 0 || pe >= team->n_pes) return rs_bad_pe(job, "pe", pe, team->n_pes);
    *pe_out = team->pes[pe];
    return 0;
}
