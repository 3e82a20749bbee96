/* SPDX-License-Identifier: MIT
 *
 * What every API function does first and last: find the job behind the calling thread, note the call on the
 * board, count it; and the argument checks. All of it is a handful of loads, compares and stores; what goes
 * wrong is worded out of line.
 *
 *     struct rs_thread *t = rs_enter(RS_CALL_QUIET);
 *     if (!t) return rs_return(__func__);
 *     ...
 *     rs_leave(t, RS_CALL_QUIET);
 */
#ifndef RS_API_API_H
#define RS_API_API_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "pgas/job.h"
#include "pgas/thread.h"

/* What stands in hundreds of functions, in each of which a call of its own would be felt. */
#define RS_HOT static inline __attribute__((always_inline))

/* STATE, worded: there is no job, or there is one and this process is a fork's child. */
int rs_no_job(void) __attribute__((cold));
/* The first call of a thread in a job; NULL (STATE, worded) without a job. */
struct rs_thread *rs_enter_slow(void) __attribute__((cold));
/* The same, and what a call of a thread that is looked at begins with (observe/probe.h). */
struct rs_thread *rs_enter_probed(uint32_t call) __attribute__((cold));
/* What is to do after some calls: t->after. */
void rs_leave_slow(struct rs_thread *t) __attribute__((cold));
/* Wait for the work of a stream, or of all: 0 or a status (stream.c). */
int rs_synchronize(struct rs_thread *t, void *stream, bool all);
/* For functions without a status: complete the slot and call the job's error handler. */
void rs_raise(const char *function) __attribute__((cold));
/* For functions that return a status: complete the slot, give it back. */
int rs_return(const char *function) __attribute__((cold));

static inline struct rs_job *rs_thread_job(const struct rs_thread *t)
{
    return atomic_load_explicit(&t->job, memory_order_relaxed);
}

RS_HOT struct rs_thread *rs_enter(uint32_t call)
{
    struct rs_thread *t = rs_self;
    if (RS_UNLIKELY(!atomic_load_explicit(&t->entry, memory_order_relaxed))) {
        t = rs_enter_probed(call);
        if (!t) return NULL;
    }
    rs_note_enter(t->note, call);
    rs_count(&t->counters.calls[RS_CALL_ID(call)], 1);
    return t;
}

RS_HOT void rs_leave(struct rs_thread *t, uint32_t call)
{
    rs_note_leave(t->note, call);
    if (RS_UNLIKELY(t->after)) rs_leave_slow(t);
}

/* Does somebody look at this thread's calls? Then tell what the call was given:
 *     if (rs_probed(t)) RS_TRY(rs_probe_access(&t->probe, &(struct rs_access){...})); */
RS_HOT bool rs_probed(const struct rs_thread *t)
{
    return RS_UNLIKELY(t->probe.probe != NULL);
}

/* What a wait or a test found as it wanted it, or read. */
int rs_probe_seen(struct rs_thread *t, const void *words, size_t nbytes) __attribute__((cold));
/* A collective; dest and source NULL: it moves nothing. */
struct rs_gathering {
    const struct rs_team *team;
    const struct rs_signature *signature;
    const void *dest, *source;
    size_t dest_nbytes, source_nbytes;
    bool on_stream;
    const void *stream;
};
/* It begins (MEET), or has ended (MET). */
int rs_probe_meet(struct rs_thread *t, enum rs_access_kind kind, const struct rs_gathering *m)
    __attribute__((cold));

/* ---- checks ---- */

bool rs_symmetric_slow(struct rs_thread *t, struct rs_job *job, const void *p, size_t nbytes);
int rs_bad_pe(const struct rs_job *job, const char *what, int pe, int n) __attribute__((cold));
int rs_bad_symmetric(struct rs_job *job, const char *what, const void *p, size_t nbytes)
    __attribute__((cold));
int rs_bad_local(const char *what, const void *p, size_t nbytes) __attribute__((cold));
int rs_bad_word(const char *what, const void *p, size_t width) __attribute__((cold));
int rs_bad_overlap(const void *dest, size_t dest_nbytes, const void *source, size_t source_nbytes)
    __attribute__((cold));
int rs_check_cmp(int cmp);
int rs_check_sig_op(int sig_op);

/* Does [p, p + nbytes) lie inside one live allocation? The two that the thread used last are remembered. */
RS_HOT bool rs_symmetric(struct rs_thread *t, struct rs_job *job, const void *p, size_t nbytes)
{
    const struct rs_hit *hit = &t->hit[0];
    size_t at = (uintptr_t)p - hit->base; /* wraps to a huge offset below base */
    if (RS_LIKELY(hit->generation == atomic_load_explicit(&job->heap.generation, memory_order_acquire) &&
                  at <= hit->nbytes && nbytes <= hit->nbytes - at))
        return true;
    return rs_symmetric_slow(t, job, p, nbytes);
}

/* Both ranges of a data collective symmetric, and apart; nothing to check of nothing. */
static inline int rs_check_ranges(struct rs_thread *t, struct rs_job *job, const void *dest,
                                  size_t dest_nbytes, const void *source, size_t source_nbytes,
                                  bool may_overlap)
{
    if (dest_nbytes && RS_UNLIKELY(!rs_symmetric(t, job, dest, dest_nbytes)))
        return rs_bad_symmetric(job, "dest", dest, dest_nbytes);
    if (source_nbytes && RS_UNLIKELY(!rs_symmetric(t, job, source, source_nbytes)))
        return rs_bad_symmetric(job, "source", source, source_nbytes);
    if (!may_overlap && (uintptr_t)dest < (uintptr_t)source + source_nbytes &&
        (uintptr_t)source < (uintptr_t)dest + dest_nbytes)
        return rs_bad_overlap(dest, dest_nbytes, source, source_nbytes);
    return 0;
}

/* The three arguments that every transfer has. Zero bytes need a PE only. */
RS_HOT int rs_check_transfer(struct rs_thread *t, struct rs_job *job, const char *remote_name,
                             const void *remote, const char *local_name, const void *local, size_t nbytes,
                             int pe)
{
    if (RS_UNLIKELY(!rs_job_has_pe(job, pe))) return rs_bad_pe(job, "pe", pe, job->n_pes);
    if (RS_UNLIKELY(nbytes == 0)) return 0;
    if (RS_UNLIKELY(!rs_symmetric(t, job, remote, nbytes)))
        return rs_bad_symmetric(job, remote_name, remote, nbytes);
    if (RS_UNLIKELY((uintptr_t)local < 4096)) return rs_bad_local(local_name, local, nbytes);
    return 0;
}

/* A word of width bytes on pe. */
RS_HOT int rs_check_word(struct rs_thread *t, struct rs_job *job, const char *what, const void *word,
                         size_t width, int pe)
{
    if (RS_UNLIKELY(!rs_job_has_pe(job, pe))) return rs_bad_pe(job, "pe", pe, job->n_pes);
    if (RS_UNLIKELY((uintptr_t)word % width)) return rs_bad_word(what, word, width);
    if (RS_UNLIKELY(!rs_symmetric(t, job, word, width))) return rs_bad_symmetric(job, what, word, width);
    return 0;
}

/* A context's word on PE numbers: the world's number of pe, or a negative status. ctx: its ctx_opaque, which is all
 * that is needed, and stays in a register, as the caller's variable does. */
#define RS_CTX_DEFAULT ((void *)1)
int rs_context_pe_slow(struct rs_job *job, rocshmem_ctx_t ctx, int pe, int *pe_out);
RS_HOT int rs_context_pe(struct rs_job *job, void *ctx, int pe, int *pe_out)
{
    if (RS_LIKELY(ctx == RS_CTX_DEFAULT)) {
        *pe_out = pe;
        return 0;
    }
    int found = 0;
    int rc = rs_context_pe_slow(job, (rocshmem_ctx_t){ctx, NULL}, pe, &found);
    *pe_out = found;
    return rc;
}

/* An element count that overflows as bytes cannot lie in an allocation: let the range check say so. */
RS_HOT size_t rs_bytes_of(size_t nelems, size_t width)
{
    size_t nbytes;
    return __builtin_mul_overflow(nelems, width, &nbytes) ? SIZE_MAX : nbytes;
}

/* ---- small copies ---- */

/* The small sizes of words as single loads and stores, so that they are never torn; everything else as the C
 * library does it. The ranges may overlap (a put to oneself). */
static inline void rs_copy(void *dest, const void *source, size_t nbytes)
{
    if (nbytes == 8) {
        uint64_t word;
        memcpy(&word, source, 8);
        memcpy(dest, &word, 8);
    } else if (nbytes == 4) {
        uint32_t word;
        memcpy(&word, source, 4);
        memcpy(dest, &word, 4);
    } else {
        memmove(dest, source, nbytes);
    }
}

#endif
