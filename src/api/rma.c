/* SPDX-License-Identifier: MIT
 *
 * Transfers issued by the host. Towards a PE whose window the CPU reaches they are copies, done here and now:
 * a transfer is complete when it returns, nbi or not, and quiet has only to order it.
 */
#include "api/api.h"

static int through_route(const struct rs_route *route, bool put, bool nbi, void *dest, const void *source,
                         size_t nbytes)
{
    const struct rs_transport_ops *ops = route->ops;
    if (put) return (nbi && ops->put_nbi ? ops->put_nbi : ops->put)(route, dest, source, nbytes);
    return (nbi && ops->get_nbi ? ops->get_nbi : ops->get)(route, dest, source, nbytes);
}

static __attribute__((cold)) int tell(struct rs_thread *t, bool put, bool nbi, const void *dest,
                                      const void *source, size_t nbytes, const void *ctx, int pe)
{
    struct rs_access access = {.kind = put ? RS_ACCESS_PUT : RS_ACCESS_GET,
                               .pe = pe,
                               .remote = put ? dest : source,
                               .remote_nbytes = nbytes,
                               .local = put ? source : dest,
                               .local_nbytes = nbytes,
                               .nbi = nbi,
                               .ctx = ctx};
    return rs_probe_access(&t->probe, &access);
}

/* Both directions, every form. function, call, put and RS_CTX_DEFAULT are constants: one straight piece of code each. */
RS_HOT int transfer(struct rs_thread *t, bool put, bool nbi, void *dest, const void *source, size_t nbytes,
                    const void *ctx, int pe)
{
    struct rs_job *job = rs_thread_job(t);
    int rc = put ? rs_check_transfer(t, job, "dest", dest, "source", source, nbytes, pe)
                 : rs_check_transfer(t, job, "source", source, "dest", dest, nbytes, pe);
    if (RS_UNLIKELY(rc < 0)) return rc;
    if (rs_probed(t)) RS_TRY(tell(t, put, nbi, dest, source, nbytes, ctx, pe));
    const struct rs_route *route = &job->routes[pe];
    struct rs_peer_counters *counters = &t->counters.peers[pe];
    rs_count(put ? &counters->puts : &counters->gets, 1);
    rs_count(put ? &counters->put_nbytes : &counters->get_nbytes, nbytes);
    if (RS_UNLIKELY(nbytes == 0)) return 0;
    if (RS_UNLIKELY(!route->cpu)) return through_route(route, put, nbi, dest, source, nbytes);
    if (put)
        rs_copy(rs_route_address(route, dest), source, nbytes);
    else
        rs_copy(dest, rs_route_address(route, source), nbytes);
    return 0;
}

RS_HOT void rma(const char *function, uint32_t call, bool put, bool nbi, void *ctx, void *dest,
                const void *source, size_t nbytes, int pe)
{
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) {
        rs_raise(function);
        return;
    }
    int world_pe;
    int rc = rs_context_pe(rs_thread_job(t), ctx, pe, &world_pe);
    if (RS_LIKELY(rc == 0)) rc = transfer(t, put, nbi, dest, source, nbytes, ctx, world_pe);
    rs_leave(t, call);
    if (RS_UNLIKELY(rc < 0)) rs_raise(function);
}

/* A transfer of a block of elements of type T (bytes wide) in its two forms. */
#define BLOCK(name, call, is_put, is_nbi, T, bytes)                                                          \
    void rocshmem_##name(T *dest, const T *source, size_t nelems, int pe)                                    \
    {                                                                                                        \
        rma(__func__, call, is_put, is_nbi, RS_CTX_DEFAULT, dest, source, rs_bytes_of(nelems, bytes), pe);   \
    }                                                                                                        \
    void rocshmem_ctx_##name(rocshmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe)            \
    {                                                                                                        \
        rma(__func__, call, is_put, is_nbi, ctx.ctx_opaque, dest, source, rs_bytes_of(nelems, bytes), pe);   \
    }

#define SIZED(N, bytes)                                                                                      \
    BLOCK(put##N, RS_CALL_PUT##N, true, false, void, bytes)                                                  \
    BLOCK(get##N, RS_CALL_GET##N, false, false, void, bytes)                                                 \
    BLOCK(put##N##_nbi, RS_CALL_PUT##N##_NBI, true, true, void, bytes)                                       \
    BLOCK(get##N##_nbi, RS_CALL_GET##N##_NBI, false, true, void, bytes)
SIZED(8, 1)
SIZED(16, 2)
SIZED(32, 4)
SIZED(64, 8)
SIZED(128, 16)

BLOCK(putmem, RS_CALL_PUTMEM, true, false, void, 1)
BLOCK(getmem, RS_CALL_GETMEM, false, false, void, 1)
BLOCK(putmem_nbi, RS_CALL_PUTMEM_NBI, true, true, void, 1)
BLOCK(getmem_nbi, RS_CALL_GETMEM_NBI, false, true, void, 1)

#define CALL_(OP, name) RS_CALL_TYPED(RS_CALL_##OP, RS_TYPE_##name)
#define TYPED(name, T, ...)                                                                                  \
    BLOCK(name##_put, CALL_(PUT, name), true, false, T, sizeof(T))                                           \
    BLOCK(name##_get, CALL_(GET, name), false, false, T, sizeof(T))                                          \
    BLOCK(name##_put_nbi, CALL_(PUT_NBI, name), true, true, T, sizeof(T))                                    \
    BLOCK(name##_get_nbi, CALL_(GET_NBI, name), false, true, T, sizeof(T))                                   \
    void rocshmem_##name##_p(T *dest, T value, int pe)                                                       \
    {                                                                                                        \
        rma(__func__, CALL_(P, name), true, false, RS_CTX_DEFAULT, dest, &value, sizeof(T), pe);             \
    }                                                                                                        \
    void rocshmem_ctx_##name##_p(rocshmem_ctx_t ctx, T *dest, T value, int pe)                               \
    {                                                                                                        \
        rma(__func__, CALL_(P, name), true, false, ctx.ctx_opaque, dest, &value, sizeof(T), pe);             \
    }                                                                                                        \
    T rocshmem_##name##_g(const T *source, int pe)                                                           \
    {                                                                                                        \
        T value = 0;                                                                                         \
        rma(__func__, CALL_(G, name), false, false, RS_CTX_DEFAULT, &value, source, sizeof(T), pe);          \
        return value;                                                                                        \
    }                                                                                                        \
    T rocshmem_ctx_##name##_g(rocshmem_ctx_t ctx, const T *source, int pe)                                   \
    {                                                                                                        \
        T value = 0;                                                                                         \
        rma(__func__, CALL_(G, name), false, false, ctx.ctx_opaque, &value, source, sizeof(T), pe);          \
        return value;                                                                                        \
    }
ROCSHMEM_RMA_TYPES(TYPED, )
