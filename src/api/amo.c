/* SPDX-License-Identifier: MIT
 *
 * The atomic matrix. One function, folded by the compiler for each constant operation and width; host windows
 * are reached with C11 atomics, so host calls and stream operations of all PEs are atomic against each other.
 */
#include "api/api.h"

static __attribute__((cold)) int tell(struct rs_thread *t, enum rs_amo_op op, const void *dest, size_t width,
                                      int pe, bool wanted)
{
    struct rs_access access = {.kind = RS_ACCESS_AMO,
                               .pe = pe,
                               .remote = dest,
                               .remote_nbytes = width,
                               .amo = (int)op,
                               .wanted = wanted};
    return rs_probe_access(&t->probe, &access);
}

/* wanted: the old value is; else *old_out stays, and the operation is complete at quiet. */
RS_HOT int amo(struct rs_thread *t, enum rs_amo_op op, const void *dest, size_t width, uint64_t value,
               uint64_t cond, int pe, bool wanted, uint64_t *old_out)
{
    struct rs_job *job = rs_thread_job(t);
    int rc = rs_check_word(t, job, "dest", dest, width, pe);
    if (RS_UNLIKELY(rc < 0)) return rc;
    if (rs_probed(t)) RS_TRY(tell(t, op, dest, width, pe, wanted));
    const struct rs_route *route = &job->routes[pe];
    rs_count(&t->counters.peers[pe].amos, 1);
    if (RS_UNLIKELY(!route->cpu))
        return route->ops->amo(route, op, (void *)(uintptr_t)dest, width, value, cond,
                               wanted ? old_out : NULL);
    void *there = rs_route_address(route, dest);
    *old_out = width == 4 ? rs_amo_on_uint32_t(op, there, (uint32_t)value, (uint32_t)cond)
                          : rs_amo_on_uint64_t(op, there, value, cond);
    return 0;
}

RS_HOT uint64_t amo_any(const char *function, uint32_t call, enum rs_amo_op op, void *ctx, const void *dest,
                        size_t width, uint64_t value, uint64_t cond, int pe, bool wanted)
{
    uint64_t old = 0;
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) {
        rs_raise(function);
        return 0;
    }
    int rc = rs_context_pe(rs_thread_job(t), ctx, pe, &pe);
    if (RS_LIKELY(rc == 0)) rc = amo(t, op, dest, width, value, cond, pe, wanted, &old);
    rs_leave(t, call);
    if (RS_UNLIKELY(rc < 0)) rs_raise(function);
    return old;
}

RS_HOT uint64_t amo_call(const char *function, uint32_t call, enum rs_amo_op op, void *ctx, const void *dest,
                         size_t width, uint64_t value, uint64_t cond, int pe)
{
    return amo_any(function, call, op, ctx, dest, width, value, cond, pe, true);
}

RS_HOT void amo_store(const char *function, uint32_t call, enum rs_amo_op op, void *ctx, const void *dest,
                      size_t width, uint64_t value, int pe)
{
    (void)amo_any(function, call, op, ctx, dest, width, value, 0, pe, false);
}

/* The old value goes to memory of the caller's: complete when it returns, which quiet then finds. One function
 * for each operation and width, since nobody waits for these. */
struct nbi {
    const char *function;
    uint32_t call;
    void *fetch;
    const void *dest;
    uint64_t value, cond;
    int pe;
};

RS_HOT int amo_nbi(struct rs_thread *t, enum rs_amo_op op, size_t width, void *ctx, const struct nbi *n)
{
    uint64_t old = 0;
    int pe;
    if (RS_UNLIKELY((uintptr_t)n->fetch < 4096)) return rs_bad_local("fetch", n->fetch, width);
    RS_TRY(rs_context_pe(rs_thread_job(t), ctx, n->pe, &pe));
    RS_TRY(amo(t, op, n->dest, width, n->value, n->cond, pe, true, &old));
    uint32_t narrow = (uint32_t)old;
    if (width == 4)
        memcpy(n->fetch, &narrow, 4);
    else
        memcpy(n->fetch, &old, 8);
    return 0;
}

#define NBI_CALL_(OP, width)                                                                                 \
    static void nbi_##OP##_##width(void *ctx, const struct nbi *n)                                           \
    {                                                                                                        \
        struct rs_thread *t = rs_enter(n->call);                                                             \
        if (RS_UNLIKELY(!t)) {                                                                               \
            rs_raise(n->function);                                                                           \
            return;                                                                                          \
        }                                                                                                    \
        int rc = amo_nbi(t, RS_AMO_##OP, width, ctx, n);                                                     \
        rs_leave(t, n->call);                                                                                \
        if (RS_UNLIKELY(rc < 0)) rs_raise(n->function);                                                      \
    }
#define NBI_CALLS_(OP) NBI_CALL_(OP, 4) NBI_CALL_(OP, 8)
NBI_CALLS_(FETCH)
NBI_CALLS_(SWAP)
NBI_CALLS_(COMPARE_SWAP)
NBI_CALLS_(ADD)
NBI_CALLS_(AND)
NBI_CALLS_(OR)
NBI_CALLS_(XOR)

/* A value as the bits of a word, and back; the compiler makes moves of it. */
RS_HOT uint64_t bits_of(const void *value, size_t width)
{
    uint32_t narrow;
    uint64_t wide;
    if (width == 4) {
        memcpy(&narrow, value, 4);
        return narrow;
    }
    memcpy(&wide, value, 8);
    return wide;
}

#define CALL_(OP, name) RS_CALL_TYPED(RS_CALL_AMO_##OP, RS_TYPE_##name)
#define RETURN_OLD(T, expression)                                                                            \
    uint64_t old_ = (expression);                                                                            \
    uint32_t narrow_ = (uint32_t)old_;                                                                       \
    T result_;                                                                                               \
    memcpy(&result_, sizeof(T) == 4 ? (const void *)&narrow_ : (const void *)&old_, sizeof(T));              \
    return result_

/* X forms: with a value or without, fetching or not; each in a default-context and a ctx form. */
#define FETCHING(name, T, op, OP, AMO, value)                                                                \
    T rocshmem_##name##_atomic_##op(T *dest, int pe)                                                         \
    {                                                                                                        \
        RETURN_OLD(T,                                                                                        \
                   amo_call(__func__, CALL_(OP, name), AMO, RS_CTX_DEFAULT, dest, sizeof(T), value, 0, pe)); \
    }                                                                                                        \
    T rocshmem_ctx_##name##_atomic_##op(rocshmem_ctx_t ctx, T *dest, int pe)                                 \
    {                                                                                                        \
        RETURN_OLD(T,                                                                                        \
                   amo_call(__func__, CALL_(OP, name), AMO, ctx.ctx_opaque, dest, sizeof(T), value, 0, pe)); \
    }
#define FETCHING_VALUE(name, T, op, OP, AMO)                                                                 \
    T rocshmem_##name##_atomic_##op(T *dest, T value, int pe)                                                \
    {                                                                                                        \
        RETURN_OLD(T, amo_call(__func__, CALL_(OP, name), AMO, RS_CTX_DEFAULT, dest, sizeof(T),              \
                               bits_of(&value, sizeof(T)), 0, pe));                                          \
    }                                                                                                        \
    T rocshmem_ctx_##name##_atomic_##op(rocshmem_ctx_t ctx, T *dest, T value, int pe)                        \
    {                                                                                                        \
        RETURN_OLD(T, amo_call(__func__, CALL_(OP, name), AMO, ctx.ctx_opaque, dest, sizeof(T),              \
                               bits_of(&value, sizeof(T)), 0, pe));                                          \
    }
#define STORING_VALUE(name, T, op, OP, AMO)                                                                  \
    void rocshmem_##name##_atomic_##op(T *dest, T value, int pe)                                             \
    {                                                                                                        \
        amo_store(__func__, CALL_(OP, name), AMO, RS_CTX_DEFAULT, dest, sizeof(T),                           \
                  bits_of(&value, sizeof(T)), pe);                                                           \
    }                                                                                                        \
    void rocshmem_ctx_##name##_atomic_##op(rocshmem_ctx_t ctx, T *dest, T value, int pe)                     \
    {                                                                                                        \
        amo_store(__func__, CALL_(OP, name), AMO, ctx.ctx_opaque, dest, sizeof(T),                           \
                  bits_of(&value, sizeof(T)), pe);                                                           \
    }

/* The _nbi forms; the last arguments are the parameters between fetch and pe. */
#define NBI(name, T, op, OP, AMO, value, cond, ...)                                                          \
    void rocshmem_##name##_atomic_##op##_nbi(T *fetch, __VA_ARGS__, int pe)                                  \
    {                                                                                                        \
        struct nbi n = {__func__, CALL_(OP##_NBI, name), fetch, dest, value, cond, pe};                      \
        sizeof(T) == 4 ? nbi_##AMO##_4(RS_CTX_DEFAULT, &n) : nbi_##AMO##_8(RS_CTX_DEFAULT, &n);              \
    }                                                                                                        \
    void rocshmem_ctx_##name##_atomic_##op##_nbi(rocshmem_ctx_t ctx, T *fetch, __VA_ARGS__, int pe)          \
    {                                                                                                        \
        struct nbi n = {__func__, CALL_(OP##_NBI, name), fetch, dest, value, cond, pe};                      \
        sizeof(T) == 4 ? nbi_##AMO##_4(ctx.ctx_opaque, &n) : nbi_##AMO##_8(ctx.ctx_opaque, &n);              \
    }
#define NBI_VALUE(name, T, op, OP, AMO)                                                                      \
    NBI(name, T, op, OP, AMO, bits_of(&value, sizeof(T)), 0, T *dest, T value)

#define ALL(name, T, ...)                                                                                    \
    T rocshmem_##name##_atomic_fetch(const T *dest, int pe)                                                  \
    {                                                                                                        \
        RETURN_OLD(T, amo_call(__func__, CALL_(FETCH, name), RS_AMO_FETCH, RS_CTX_DEFAULT, dest, sizeof(T),  \
                               0, 0, pe));                                                                   \
    }                                                                                                        \
    T rocshmem_ctx_##name##_atomic_fetch(rocshmem_ctx_t ctx, const T *dest, int pe)                          \
    {                                                                                                        \
        RETURN_OLD(T, amo_call(__func__, CALL_(FETCH, name), RS_AMO_FETCH, ctx.ctx_opaque, dest, sizeof(T),  \
                               0, 0, pe));                                                                   \
    }                                                                                                        \
    STORING_VALUE(name, T, set, SET, RS_AMO_SET)                                                             \
    FETCHING_VALUE(name, T, swap, SWAP, RS_AMO_SWAP)                                                         \
    NBI(name, T, fetch, FETCH, FETCH, 0, 0, const T *dest)                                                   \
    NBI_VALUE(name, T, swap, SWAP, SWAP)
ROCSHMEM_AMO_TYPES(ALL, )
#undef ALL

#define INTEGER(name, T, ...)                                                                                \
    T rocshmem_##name##_atomic_compare_swap(T *dest, T cond, T value, int pe)                                \
    {                                                                                                        \
        RETURN_OLD(T, amo_call(__func__, CALL_(COMPARE_SWAP, name), RS_AMO_COMPARE_SWAP, RS_CTX_DEFAULT,     \
                               dest, sizeof(T), bits_of(&value, sizeof(T)), bits_of(&cond, sizeof(T)), pe)); \
    }                                                                                                        \
    T rocshmem_ctx_##name##_atomic_compare_swap(rocshmem_ctx_t ctx, T *dest, T cond, T value, int pe)        \
    {                                                                                                        \
        RETURN_OLD(T, amo_call(__func__, CALL_(COMPARE_SWAP, name), RS_AMO_COMPARE_SWAP, ctx.ctx_opaque,     \
                               dest, sizeof(T), bits_of(&value, sizeof(T)), bits_of(&cond, sizeof(T)), pe)); \
    }                                                                                                        \
    FETCHING_VALUE(name, T, fetch_add, FETCH_ADD, RS_AMO_ADD)                                                \
    FETCHING(name, T, fetch_inc, FETCH_INC, RS_AMO_ADD, 1)                                                   \
    STORING_VALUE(name, T, add, ADD, RS_AMO_ADD)                                                             \
    NBI_VALUE(name, T, fetch_add, FETCH_ADD, ADD)                                                            \
    NBI(name, T, fetch_inc, FETCH_INC, ADD, 1, 0, T *dest)                                                   \
    NBI(name, T, compare_swap, COMPARE_SWAP, COMPARE_SWAP, bits_of(&value, sizeof(T)),                       \
        bits_of(&cond, sizeof(T)), T *dest, T cond, T value)                                                 \
    void rocshmem_##name##_atomic_inc(T *dest, int pe)                                                       \
    {                                                                                                        \
        amo_store(__func__, CALL_(INC, name), RS_AMO_ADD, RS_CTX_DEFAULT, dest, sizeof(T), 1, pe);           \
    }                                                                                                        \
    void rocshmem_ctx_##name##_atomic_inc(rocshmem_ctx_t ctx, T *dest, int pe)                               \
    {                                                                                                        \
        amo_store(__func__, CALL_(INC, name), RS_AMO_ADD, ctx.ctx_opaque, dest, sizeof(T), 1, pe);           \
    }
ROCSHMEM_INTEGER_TYPES(INTEGER, )
#undef INTEGER

#define BITWISE(name, T, ...)                                                                                \
    FETCHING_VALUE(name, T, fetch_and, FETCH_AND, RS_AMO_AND)                                                \
    FETCHING_VALUE(name, T, fetch_or, FETCH_OR, RS_AMO_OR)                                                   \
    FETCHING_VALUE(name, T, fetch_xor, FETCH_XOR, RS_AMO_XOR)                                                \
    NBI_VALUE(name, T, fetch_and, FETCH_AND, AND)                                                            \
    NBI_VALUE(name, T, fetch_or, FETCH_OR, OR)                                                               \
    NBI_VALUE(name, T, fetch_xor, FETCH_XOR, XOR)                                                            \
    STORING_VALUE(name, T, and, AND, RS_AMO_AND)                                                             \
    STORING_VALUE(name, T, or, OR, RS_AMO_OR)                                                                \
    STORING_VALUE(name, T, xor, XOR, RS_AMO_XOR)
ROCSHMEM_BITWISE_TYPES(BITWISE, )
#undef BITWISE
