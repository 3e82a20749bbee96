/* SPDX-License-Identifier: MIT
 *
 * Strided transfers. All types of one width share one piece of code; towards a PE whose window the CPU reaches it
 * is a loop of loads and stores of that width, so words are never torn. Contiguous on both sides is a copy.
 */
#include "api/api.h"
#include "base/copy.h"

/* One call. */
struct strided {
    const char *function;
    uint32_t call;
    bool put;
    void *dest;
    const void *source;
    ptrdiff_t dst, sst;
    size_t nelems;
    int pe;
};

/* ---- checks ---- */

static int bad_stride(const char *what, ptrdiff_t stride)
{
    return rs_fail(RS_E_ARG, "%s %td is too small; a stride counts elements and is 1 or more", what, stride);
}

/* Bytes from the first element's first to the last element's last; false: more than there can be. */
static bool span_of(size_t nelems, ptrdiff_t stride, size_t width, size_t *nbytes_out)
{
    size_t last, nbytes;
    bool over = __builtin_mul_overflow(nelems - 1, (size_t)stride, &last) ||
                __builtin_mul_overflow(last, width, &nbytes) ||
                __builtin_add_overflow(nbytes, width, nbytes_out);
    return !over;
}

static int check(struct rs_thread *t, struct rs_job *job, const struct strided *s, size_t width, int pe)
{
    size_t there, here;
    if (s->dst < 1) return bad_stride("dst", s->dst);
    if (s->sst < 1) return bad_stride("sst", s->sst);
    ptrdiff_t remote_stride = s->put ? s->dst : s->sst, local_stride = s->put ? s->sst : s->dst;
    if (!span_of(s->nelems, remote_stride, width, &there) || !span_of(s->nelems, local_stride, width, &here))
        return rs_fail(RS_E_ARG, "nelems %zu with dst %td and sst %td spans more than there is memory",
                       s->nelems, s->dst, s->sst);
    return s->put ? rs_check_transfer(t, job, "dest", s->dest, "source", s->source, there, pe)
                  : rs_check_transfer(t, job, "source", s->source, "dest", s->dest, there, pe);
}

/* ---- loops ---- */

RS_HOT void copy(void *dest, ptrdiff_t dst, const void *source, ptrdiff_t sst, size_t nelems, size_t width)
{
    if (dst == 1 && sst == 1)
        rs_copy(dest, source, nelems * width);
    else if (dst == 1)
        rs_copy_elements(dest, width, source, (size_t)sst * width, nelems, width);
    else if (sst == 1)
        rs_copy_elements(dest, (size_t)dst * width, source, width, nelems, width);
    else
        rs_copy_elements(dest, (size_t)dst * width, source, (size_t)sst * width, nelems, width);
}

/* Element by element through the transport; all are begun before one is waited for, where that can be. */
static int through_route(const struct rs_route *route, const struct strided *s, size_t width)
{
    unsigned char *dest = s->dest;
    const unsigned char *source = s->source;
    const struct rs_transport_ops *ops = route->ops;
    bool nbi = s->nelems > 1 && (s->put ? ops->put_nbi : ops->get_nbi);
    int (*op)(const struct rs_route *, void *, const void *, size_t) =
        nbi ? (s->put ? ops->put_nbi : ops->get_nbi) : (s->put ? ops->put : ops->get);
    for (size_t i = 0; i < s->nelems; i++)
        RS_TRY(op(route, dest + i * (size_t)s->dst * width, source + i * (size_t)s->sst * width, width));
    return nbi ? ops->quiet(route) : 0;
}

/* ---- calls ---- */

static __attribute__((cold)) int tell(struct rs_thread *t, const void *ctx, const struct strided *s,
                                      size_t width, int pe)
{
    ptrdiff_t remote_stride = s->put ? s->dst : s->sst, local_stride = s->put ? s->sst : s->dst;
    struct rs_access access = {.kind = s->put ? RS_ACCESS_PUT : RS_ACCESS_GET,
                               .pe = pe,
                               .remote = s->put ? s->dest : s->source,
                               .local = s->put ? s->source : s->dest,
                               .width = width,
                               .remote_step = (size_t)remote_stride * width,
                               .local_step = (size_t)local_stride * width,
                               .ctx = ctx};
    span_of(s->nelems, remote_stride, width, &access.remote_nbytes);
    span_of(s->nelems, local_stride, width, &access.local_nbytes);
    return rs_probe_access(&t->probe, &access);
}

RS_HOT int transfer(struct rs_thread *t, void *ctx, const struct strided *s, size_t width)
{
    struct rs_job *job = rs_thread_job(t);
    int pe;
    RS_TRY(rs_context_pe(job, ctx, s->pe, &pe));
    if (RS_UNLIKELY(!rs_job_has_pe(job, pe))) return rs_bad_pe(job, "pe", pe, job->n_pes);
    if (s->nelems) RS_TRY(check(t, job, s, width, pe));
    if (rs_probed(t) && s->nelems) RS_TRY(tell(t, ctx, s, width, pe));
    const struct rs_route *route = &job->routes[pe];
    struct rs_peer_counters *counters = &t->counters.peers[pe];
    rs_count(s->put ? &counters->puts : &counters->gets, 1);
    rs_count(s->put ? &counters->put_nbytes : &counters->get_nbytes, s->nelems * width);
    if (s->nelems == 0) return 0;
    if (RS_UNLIKELY(!route->cpu)) return through_route(route, s, width);
    if (s->put)
        copy(rs_route_address(route, s->dest), s->dst, s->source, s->sst, s->nelems, width);
    else
        copy(s->dest, s->dst, rs_route_address(route, s->source), s->sst, s->nelems, width);
    return 0;
}

#define OF_WIDTH(width)                                                                                      \
    static void strided_##width(void *ctx, const struct strided *s)                                          \
    {                                                                                                        \
        struct rs_thread *t = rs_enter(s->call);                                                             \
        if (RS_UNLIKELY(!t)) {                                                                               \
            rs_raise(s->function);                                                                           \
            return;                                                                                          \
        }                                                                                                    \
        int rc = transfer(t, ctx, s, width);                                                                 \
        rs_leave(t, s->call);                                                                                \
        if (RS_UNLIKELY(rc < 0)) rs_raise(s->function);                                                      \
    }
OF_WIDTH(1)
OF_WIDTH(2)
OF_WIDTH(4)
OF_WIDTH(8)
OF_WIDTH(16)

/* The function of a constant width. */
RS_HOT void of_width(size_t width, void *ctx, const struct strided *s)
{
    if (width == 1)
        strided_1(ctx, s);
    else if (width == 2)
        strided_2(ctx, s);
    else if (width == 4)
        strided_4(ctx, s);
    else if (width == 8)
        strided_8(ctx, s);
    else
        strided_16(ctx, s);
}
_Static_assert(sizeof(long double) == 16 || sizeof(long double) == 8,
               "of_width has no function for long double");

#define FORMS(name, call, is_put, T, width)                                                                  \
    void rocshmem_##name(T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)      \
    {                                                                                                        \
        of_width(width, RS_CTX_DEFAULT,                                                                      \
                 &(struct strided){__func__, call, is_put, dest, source, dst, sst, nelems, pe});             \
    }                                                                                                        \
    void rocshmem_ctx_##name(rocshmem_ctx_t ctx, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,     \
                             size_t nelems, int pe)                                                          \
    {                                                                                                        \
        of_width(width, ctx.ctx_opaque,                                                                      \
                 &(struct strided){__func__, call, is_put, dest, source, dst, sst, nelems, pe});             \
    }

#define TYPED(name, T, ...)                                                                                  \
    FORMS(name##_iput, RS_CALL_TYPED(RS_CALL_IPUT, RS_TYPE_##name), true, T, sizeof(T))                      \
    FORMS(name##_iget, RS_CALL_TYPED(RS_CALL_IGET, RS_TYPE_##name), false, T, sizeof(T))
ROCSHMEM_RMA_TYPES(TYPED, )

#define SIZED(N, width)                                                                                      \
    FORMS(iput##N, RS_CALL_IPUT##N, true, void, width)                                                       \
    FORMS(iget##N, RS_CALL_IGET##N, false, void, width)
SIZED(8, 1)
SIZED(16, 2)
SIZED(32, 4)
SIZED(64, 8)
SIZED(128, 16)
