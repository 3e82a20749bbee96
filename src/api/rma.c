/* SPDX-License-Identifier: MIT
 *
 * Transfers issued by the host. Towards a PE whose window the CPU reaches they are copies, done here and now:
 * a transfer is complete when it returns, nbi or not, and quiet has only to order it.
 */
#include "api/api.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Both directions, every form. call, function and put are constants: one straight piece of code each. */
ALWAYS_INLINE int transfer(struct rs_thread *t, bool put, void *dest, const void *source, size_t nbytes,
                           int pe)
{
    struct rs_job *job = rs_thread_job(t);
    int rc = put ? rs_check_transfer(t, job, "dest", dest, "source", source, nbytes, pe)
                 : rs_check_transfer(t, job, "source", source, "dest", dest, nbytes, pe);
    if (RS_UNLIKELY(rc < 0)) return rc;
    const struct rs_route *route = &job->routes[pe];
    struct rs_peer_counters *counters = &t->counters.peers[pe];
    rs_count(put ? &counters->puts : &counters->gets, 1);
    rs_count(put ? &counters->put_nbytes : &counters->get_nbytes, nbytes);
    if (RS_UNLIKELY(nbytes == 0)) return 0;
    if (RS_UNLIKELY(!route->cpu))
        return put ? route->ops->put(route, dest, source, nbytes)
                   : route->ops->get(route, dest, source, nbytes);
    if (put)
        rs_copy(rs_route_address(route, dest), source, nbytes);
    else
        rs_copy(dest, rs_route_address(route, source), nbytes);
    return 0;
}

ALWAYS_INLINE void rma(const char *function, uint32_t call, bool put, void *dest, const void *source,
                       size_t nbytes, int pe)
{
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) {
        rs_raise(function);
        return;
    }
    int rc = transfer(t, put, dest, source, nbytes, pe);
    rs_leave(t, call);
    if (RS_UNLIKELY(rc < 0)) rs_raise(function);
}

ALWAYS_INLINE void ctx_rma(const char *function, uint32_t call, bool put, rocshmem_ctx_t ctx, void *dest,
                           const void *source, size_t nbytes, int pe)
{
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) {
        rs_raise(function);
        return;
    }
    int world_pe;
    int rc = rs_context_pe(rs_thread_job(t), ctx, pe, &world_pe);
    if (RS_LIKELY(rc == 0)) rc = transfer(t, put, dest, source, nbytes, world_pe);
    rs_leave(t, call);
    if (RS_UNLIKELY(rc < 0)) rs_raise(function);
}

/* An element count that overflows as bytes cannot lie in an allocation: let the range check say so. */
ALWAYS_INLINE size_t bytes_of(size_t nelems, size_t width)
{
    size_t nbytes;
    return __builtin_mul_overflow(nelems, width, &nbytes) ? SIZE_MAX : nbytes;
}

#define MEM(name, CALL, is_put)                                                                              \
    void rocshmem_##name(void *dest, const void *source, size_t nelems, int pe)                              \
    {                                                                                                        \
        rma(__func__, RS_CALL_##CALL, is_put, dest, source, nelems, pe);                                     \
    }                                                                                                        \
    void rocshmem_ctx_##name(rocshmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe)      \
    {                                                                                                        \
        ctx_rma(__func__, RS_CALL_##CALL, is_put, ctx, dest, source, nelems, pe);                            \
    }
MEM(putmem, PUTMEM, true)
MEM(getmem, GETMEM, false)
MEM(putmem_nbi, PUTMEM_NBI, true)
MEM(getmem_nbi, GETMEM_NBI, false)
#undef MEM

#define TYPED(name, T, ...)                                                                                  \
    void rocshmem_##name##_put(T *dest, const T *source, size_t nelems, int pe)                              \
    {                                                                                                        \
        rma(__func__, RS_CALL_TYPED(RS_CALL_PUT, RS_TYPE_##name), true, dest, source,                        \
            bytes_of(nelems, sizeof(T)), pe);                                                                \
    }                                                                                                        \
    void rocshmem_##name##_get(T *dest, const T *source, size_t nelems, int pe)                              \
    {                                                                                                        \
        rma(__func__, RS_CALL_TYPED(RS_CALL_GET, RS_TYPE_##name), false, dest, source,                       \
            bytes_of(nelems, sizeof(T)), pe);                                                                \
    }                                                                                                        \
    void rocshmem_##name##_put_nbi(T *dest, const T *source, size_t nelems, int pe)                          \
    {                                                                                                        \
        rma(__func__, RS_CALL_TYPED(RS_CALL_PUT_NBI, RS_TYPE_##name), true, dest, source,                    \
            bytes_of(nelems, sizeof(T)), pe);                                                                \
    }                                                                                                        \
    void rocshmem_##name##_get_nbi(T *dest, const T *source, size_t nelems, int pe)                          \
    {                                                                                                        \
        rma(__func__, RS_CALL_TYPED(RS_CALL_GET_NBI, RS_TYPE_##name), false, dest, source,                   \
            bytes_of(nelems, sizeof(T)), pe);                                                                \
    }                                                                                                        \
    void rocshmem_##name##_p(T *dest, T value, int pe)                                                       \
    {                                                                                                        \
        rma(__func__, RS_CALL_TYPED(RS_CALL_P, RS_TYPE_##name), true, dest, &value, sizeof(T), pe);          \
    }                                                                                                        \
    T rocshmem_##name##_g(const T *source, int pe)                                                           \
    {                                                                                                        \
        T value = 0;                                                                                         \
        rma(__func__, RS_CALL_TYPED(RS_CALL_G, RS_TYPE_##name), false, &value, source, sizeof(T), pe);       \
        return value;                                                                                        \
    }
ROCSHMEM_RMA_TYPES(TYPED, )
#undef TYPED
