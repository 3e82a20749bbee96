/* SPDX-License-Identifier: MIT
 *
 * Puts with a signal, and operations on signal words; wait.c has the waits. A signal is a release: what this
 * thread stored before it is visible to whoever sees it.
 */
#include "api/api.h"

RS_HOT int change(const struct rs_route *route, uint64_t *sig_addr, uint64_t signal, bool add)
{
    if (RS_UNLIKELY(!route->cpu))
        return route->ops->amo(route, add ? RS_AMO_ADD : RS_AMO_SET, sig_addr, sizeof *sig_addr, signal, 0,
                               NULL);
    uint64_t *word = rs_route_address(route, sig_addr);
    if (add)
        __atomic_fetch_add(word, signal, __ATOMIC_ACQ_REL);
    else
        __atomic_store_n(word, signal, __ATOMIC_RELEASE);
    return 0;
}

/* ---- puts with a signal ---- */

/* The arguments behind ctx of every form. */
struct signalled {
    void *dest;
    const void *source;
    size_t nbytes;
    uint64_t *sig_addr;
    uint64_t signal;
    int sig_op, pe;
    bool nbi;
};

static __attribute__((cold)) int tell(struct rs_thread *t, const void *ctx, const struct signalled *s, int pe)
{
    struct rs_access access = {.kind = RS_ACCESS_PUT,
                               .pe = pe,
                               .remote = s->dest,
                               .remote_nbytes = s->nbytes,
                               .local = s->source,
                               .local_nbytes = s->nbytes,
                               .signal = s->sig_addr,
                               .signal_value = s->signal,
                               .signal_adds = s->sig_op == ROCSHMEM_SIGNAL_ADD,
                               .nbi = s->nbi,
                               .ctx = ctx};
    return rs_probe_access(&t->probe, &access);
}

RS_HOT int put_signal(struct rs_thread *t, void *ctx, const struct signalled *s)
{
    struct rs_job *job = rs_thread_job(t);
    int pe;
    RS_TRY(rs_check_sig_op(s->sig_op));
    RS_TRY(rs_context_pe(job, ctx, s->pe, &pe));
    RS_TRY(rs_check_word(t, job, "sig_addr", s->sig_addr, sizeof *s->sig_addr, pe));
    RS_TRY(rs_check_transfer(t, job, "dest", s->dest, "source", s->source, s->nbytes, pe));
    if (rs_probed(t)) RS_TRY(tell(t, ctx, s, pe));
    const struct rs_route *route = &job->routes[pe];
    rs_count(&t->counters.peers[pe].puts, 1);
    rs_count(&t->counters.peers[pe].put_nbytes, s->nbytes);
    if (RS_UNLIKELY(!route->cpu)) {
        if (route->ops->put_signal)
            return route->ops->put_signal(route, s->dest, s->source, s->nbytes, s->sig_addr, s->signal,
                                          s->sig_op, s->nbi);
        if (s->nbytes) RS_TRY(route->ops->put(route, s->dest, s->source, s->nbytes));
    } else if (s->nbytes) {
        rs_copy(rs_route_address(route, s->dest), s->source, s->nbytes);
    }
    return change(route, s->sig_addr, s->signal, s->sig_op == ROCSHMEM_SIGNAL_ADD);
}

RS_HOT void put_signal_call(const char *function, uint32_t call, void *ctx, const struct signalled *s)
{
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) {
        rs_raise(function);
        return;
    }
    int rc = put_signal(t, ctx, s);
    rs_leave(t, call);
    if (RS_UNLIKELY(rc < 0)) rs_raise(function);
}

/* For the typed and sized forms, which are many: one piece of code, a call away. */
static void put_signal_shared(const char *function, uint32_t call, void *ctx, const struct signalled *s)
{
    put_signal_call(function, call, ctx, s);
}

#define PUT_SIGNAL(name, how, call, T, width, nbi)                                                           \
    void rocshmem_##name(T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,       \
                         int sig_op, int pe)                                                                 \
    {                                                                                                        \
        struct signalled s = {dest, source, rs_bytes_of(nelems, width), sig_addr, signal, sig_op, pe, nbi};  \
        how(__func__, call, RS_CTX_DEFAULT, &s);                                                             \
    }                                                                                                        \
    void rocshmem_ctx_##name(rocshmem_ctx_t ctx, T *dest, const T *source, size_t nelems,                    \
                             uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)                        \
    {                                                                                                        \
        struct signalled s = {dest, source, rs_bytes_of(nelems, width), sig_addr, signal, sig_op, pe, nbi};  \
        how(__func__, call, ctx.ctx_opaque, &s);                                                             \
    }
PUT_SIGNAL(putmem_signal, put_signal_call, RS_CALL_PUTMEM_SIGNAL, void, 1, false)
PUT_SIGNAL(putmem_signal_nbi, put_signal_call, RS_CALL_PUTMEM_SIGNAL_NBI, void, 1, true)

#define TYPED(name, T, ...)                                                                                  \
    PUT_SIGNAL(name##_put_signal, put_signal_shared, RS_CALL_TYPED(RS_CALL_PUT_SIGNAL, RS_TYPE_##name), T,   \
               sizeof(T), false)                                                                             \
    PUT_SIGNAL(name##_put_signal_nbi, put_signal_shared,                                                     \
               RS_CALL_TYPED(RS_CALL_PUT_SIGNAL_NBI, RS_TYPE_##name), T, sizeof(T), true)
ROCSHMEM_RMA_TYPES(TYPED, )

#define SIZED(N, width)                                                                                      \
    PUT_SIGNAL(put##N##_signal, put_signal_shared, RS_CALL_PUT##N##_SIGNAL, void, width, false)              \
    PUT_SIGNAL(put##N##_signal_nbi, put_signal_shared, RS_CALL_PUT##N##_SIGNAL_NBI, void, width, true)
SIZED(8, 1)
SIZED(16, 2)
SIZED(32, 4)
SIZED(64, 8)
SIZED(128, 16)

/* ---- signals alone ---- */

static __attribute__((cold)) int tell_signal(struct rs_thread *t, const void *ctx, const uint64_t *sig_addr,
                                             uint64_t signal, bool add, int pe)
{
    struct rs_access access = {.kind = RS_ACCESS_SIGNAL,
                               .pe = pe,
                               .signal = sig_addr,
                               .signal_value = signal,
                               .signal_adds = add,
                               .ctx = ctx};
    return rs_probe_access(&t->probe, &access);
}

RS_HOT void signal_call(const char *function, uint32_t call, bool add, void *ctx, uint64_t *sig_addr,
                        uint64_t signal, int pe)
{
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) {
        rs_raise(function);
        return;
    }
    struct rs_job *job = rs_thread_job(t);
    int rc = rs_context_pe(job, ctx, pe, &pe);
    if (RS_LIKELY(rc == 0)) rc = rs_check_word(t, job, "sig_addr", sig_addr, sizeof *sig_addr, pe);
    if (RS_LIKELY(rc == 0) && rs_probed(t)) rc = tell_signal(t, ctx, sig_addr, signal, add, pe);
    if (RS_LIKELY(rc == 0)) {
        rs_count(&t->counters.peers[pe].amos, 1);
        rc = change(&job->routes[pe], sig_addr, signal, add);
    }
    rs_leave(t, call);
    if (RS_UNLIKELY(rc < 0)) rs_raise(function);
}

#define SIGNAL(name, CALL, add)                                                                              \
    void rocshmem_##name(uint64_t *sig_addr, uint64_t signal, int pe)                                        \
    {                                                                                                        \
        signal_call(__func__, RS_CALL_##CALL, add, RS_CTX_DEFAULT, sig_addr, signal, pe);                    \
    }                                                                                                        \
    void rocshmem_ctx_##name(rocshmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)                \
    {                                                                                                        \
        signal_call(__func__, RS_CALL_##CALL, add, ctx.ctx_opaque, sig_addr, signal, pe);                    \
    }
SIGNAL(signal_set, SIGNAL_SET, false)
SIGNAL(signal_add, SIGNAL_ADD, true)

uint64_t rocshmem_signal_fetch(const uint64_t *sig_addr)
{
    uint64_t word = 0;
    struct rs_thread *t = rs_enter(RS_CALL_SIGNAL_FETCH);
    if (RS_UNLIKELY(!t)) {
        rs_raise(__func__);
        return 0;
    }
    struct rs_job *job = rs_thread_job(t);
    int rc = rs_check_word(t, job, "sig_addr", sig_addr, sizeof *sig_addr, job->my_pe);
    rs_job_poll(job);
    if (RS_LIKELY(rc == 0)) rc = rs_job_load(job, sig_addr, sizeof *sig_addr, &word);
    if (RS_LIKELY(rc == 0) && rs_probed(t)) rc = rs_probe_seen(t, sig_addr, sizeof *sig_addr);
    rs_leave(t, RS_CALL_SIGNAL_FETCH);
    if (RS_UNLIKELY(rc < 0)) rs_raise(__func__);
    return word;
}
