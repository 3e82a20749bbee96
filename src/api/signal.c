/* SPDX-License-Identifier: MIT
 *
 * Puts with a signal, and waits on this PE's own words.
 */
#include <inttypes.h>
#include <stdio.h>

#include "api/api.h"

static int put_signal(struct rs_thread *t, void *dest, const void *source, size_t nelems, uint64_t *sig_addr,
                      uint64_t signal, int sig_op, int pe)
{
    struct rs_job *job = rs_thread_job(t);
    RS_TRY(rs_check_sig_op(sig_op));
    RS_TRY(rs_check_word(t, job, "sig_addr", sig_addr, sizeof *sig_addr, pe));
    RS_TRY(rs_check_transfer(t, job, "dest", dest, "source", source, nelems, pe));
    const struct rs_route *route = &job->routes[pe];
    rs_count(&t->counters.peers[pe].puts, 1);
    rs_count(&t->counters.peers[pe].put_nbytes, nelems);
    if (!route->cpu) {
        if (nelems) RS_TRY(route->ops->put(route, dest, source, nelems));
        if (route->ops->fence) RS_TRY(route->ops->fence(route));
        enum rs_amo_op op = sig_op == ROCSHMEM_SIGNAL_ADD ? RS_AMO_ADD : RS_AMO_SET;
        return route->ops->amo(route, op, sig_addr, sizeof *sig_addr, signal, 0, NULL);
    }
    if (nelems) rs_copy(rs_route_address(route, dest), source, nelems);
    uint64_t *word = rs_route_address(route, sig_addr);
    if (sig_op == ROCSHMEM_SIGNAL_ADD)
        __atomic_fetch_add(word, signal, __ATOMIC_ACQ_REL);
    else
        __atomic_store_n(word, signal, __ATOMIC_RELEASE); /* the data are visible before it */
    return 0;
}

#define PUT_SIGNAL(name, CALL)                                                                               \
    void rocshmem_##name(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, \
                         int sig_op, int pe)                                                                 \
    {                                                                                                        \
        struct rs_thread *t = rs_enter(RS_CALL_##CALL);                                                      \
        if (RS_UNLIKELY(!t)) {                                                                               \
            rs_raise(__func__);                                                                              \
            return;                                                                                          \
        }                                                                                                    \
        int rc = put_signal(t, dest, source, nelems, sig_addr, signal, sig_op, pe);                          \
        rs_leave(t, RS_CALL_##CALL);                                                                         \
        if (RS_UNLIKELY(rc < 0)) rs_raise(__func__);                                                         \
    }
PUT_SIGNAL(putmem_signal, PUTMEM_SIGNAL)
PUT_SIGNAL(putmem_signal_nbi, PUTMEM_SIGNAL_NBI)
#undef PUT_SIGNAL

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
    if (RS_LIKELY(rc == 0)) word = __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE);
    rs_leave(t, RS_CALL_SIGNAL_FETCH);
    if (RS_UNLIKELY(rc < 0)) rs_raise(__func__);
    return word;
}

/* ---- waits ---- */

struct waited_for {
    const void *word;
    size_t width;
    int cmp;
    uint64_t value;
};

static void describe(const void *arg, char *out, size_t nbytes)
{
    const struct waited_for *w = arg;
    uint64_t now = w->width == 8 ? __atomic_load_n((const uint64_t *)w->word, __ATOMIC_RELAXED)
                                 : __atomic_load_n((const uint32_t *)w->word, __ATOMIC_RELAXED);
    snprintf(out, nbytes, "waits for the word at %p to be %s %" PRIu64 "; it is %" PRIu64, w->word,
             rs_cmp_name(w->cmp), w->value, now);
}

/* What the caller calls the word: signal waits say sig_addr, typed ones ivar. */
static const char *word_name(const struct rs_thread *t)
{
    uint32_t call = (uint32_t)atomic_load_explicit(&t->note->call, memory_order_relaxed);
    return RS_CALL_ID(call) == RS_CALL_SIGNAL_WAIT_UNTIL ? "sig_addr" : "ivar";
}

#define COMPARE(T)                                                                                           \
    switch (cmp) {                                                                                           \
    case ROCSHMEM_CMP_EQ:                                                                                    \
        return word == value;                                                                                \
    case ROCSHMEM_CMP_NE:                                                                                    \
        return word != value;                                                                                \
    case ROCSHMEM_CMP_GT:                                                                                    \
        return word > value;                                                                                 \
    case ROCSHMEM_CMP_GE:                                                                                    \
        return word >= value;                                                                                \
    case ROCSHMEM_CMP_LT:                                                                                    \
        return word < value;                                                                                 \
    default:                                                                                                 \
        return word <= value;                                                                                \
    }

/* name_holds, name_wait, and the two API functions of a type. */
#define WAITS(name, T, ...)                                                                                  \
    static inline bool name##_holds(T word, int cmp, T value)                                                \
    {                                                                                                        \
        COMPARE(T)                                                                                           \
    }                                                                                                        \
    static int name##_wait(struct rs_thread *t, T *word, int cmp, T value, T *seen_out)                      \
    {                                                                                                        \
        struct rs_job *job = rs_thread_job(t);                                                               \
        RS_TRY(rs_check_cmp(cmp));                                                                           \
        RS_TRY(rs_check_word(t, job, word_name(t), word, sizeof(T), job->my_pe));                            \
        T seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);                                                    \
        if (!name##_holds(seen, cmp, value)) {                                                               \
            struct waited_for what = {word, sizeof(T), cmp, (uint64_t)value};                                \
            struct rs_wait wait;                                                                             \
            int rc = 0;                                                                                      \
            rs_describe(t, describe, &what);                                                                 \
            rs_wait_begin(&wait, &job->watch);                                                               \
            while (rc == 0 && !name##_holds(seen = __atomic_load_n(word, __ATOMIC_ACQUIRE), cmp, value))     \
                rc = rs_wait_pause(&wait);                                                                   \
            t->describe = NULL;                                                                              \
            *seen_out = seen;                                                                                \
            return rc;                                                                                       \
        }                                                                                                    \
        *seen_out = seen;                                                                                    \
        return 0;                                                                                            \
    }

ROCSHMEM_INTEGER_TYPES(WAITS, )
#undef WAITS

uint64_t rocshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    uint64_t seen = 0;
    struct rs_thread *t = rs_enter(RS_CALL_SIGNAL_WAIT_UNTIL);
    if (RS_UNLIKELY(!t)) {
        rs_raise(__func__);
        return 0;
    }
    int rc = uint64_wait(t, sig_addr, cmp, cmp_value, &seen);
    rs_leave(t, RS_CALL_SIGNAL_WAIT_UNTIL);
    if (RS_UNLIKELY(rc < 0)) rs_raise(__func__);
    return seen;
}

#define TYPED(name, T, ...)                                                                                  \
    void rocshmem_##name##_wait_until(T *ivar, int cmp, T cmp_value)                                         \
    {                                                                                                        \
        T seen;                                                                                              \
        uint32_t call = RS_CALL_TYPED(RS_CALL_WAIT_UNTIL, RS_TYPE_##name);                                   \
        struct rs_thread *t = rs_enter(call);                                                                \
        if (RS_UNLIKELY(!t)) {                                                                               \
            rs_raise(__func__);                                                                              \
            return;                                                                                          \
        }                                                                                                    \
        int rc = name##_wait(t, ivar, cmp, cmp_value, &seen);                                                \
        rs_leave(t, call);                                                                                   \
        if (RS_UNLIKELY(rc < 0)) rs_raise(__func__);                                                         \
    }                                                                                                        \
    int rocshmem_##name##_test(T *ivar, int cmp, T cmp_value)                                                \
    {                                                                                                        \
        uint32_t call = RS_CALL_TYPED(RS_CALL_TEST, RS_TYPE_##name);                                         \
        struct rs_thread *t = rs_enter(call);                                                                \
        if (RS_UNLIKELY(!t)) {                                                                               \
            rs_raise(__func__);                                                                              \
            return 0;                                                                                        \
        }                                                                                                    \
        struct rs_job *job = rs_thread_job(t);                                                               \
        int rc = rs_check_cmp(cmp);                                                                          \
        if (rc == 0) rc = rs_check_word(t, job, "ivar", ivar, sizeof(T), job->my_pe);                        \
        int holds = rc == 0 && name##_holds(__atomic_load_n(ivar, __ATOMIC_ACQUIRE), cmp, cmp_value);        \
        rs_leave(t, call);                                                                                   \
        if (RS_UNLIKELY(rc < 0)) rs_raise(__func__);                                                         \
        return holds;                                                                                        \
    }
ROCSHMEM_INTEGER_TYPES(TYPED, )
#undef TYPED
