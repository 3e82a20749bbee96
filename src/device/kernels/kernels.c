/* SPDX-License-Identifier: MIT
 *
 * What the runtime launches where copies and memory operations cannot do it: atomics, waits for other
 * comparisons than EQ and GE (one thread each), and what the other PEs of a GPU ask of the one that serves
 * them (a thread for each request). Compiled for GPUs by scripts/kernels.sh; and for the host, as
 * plain functions, by the test drivers, which call them by these names.
 */
#include "device/kernels/rs_kernel.h"
#include "device/kernels/rs_request.h"

/* The order of enum rs_amo_op. */
enum { FETCH, SET, SWAP, COMPARE_SWAP, ADD, AND, OR, XOR };

#define AMO_(T)                                                                                              \
    INLINE T amo_##T(unsigned op, T *word, T value, T cond)                                                  \
    {                                                                                                        \
        switch (op) {                                                                                        \
        case FETCH:                                                                                          \
            return load_##T(word);                                                                           \
        case SET:                                                                                            \
            store_##T(word, value);                                                                          \
            return 0;                                                                                        \
        case SWAP:                                                                                           \
            return swap_##T(word, value);                                                                    \
        case COMPARE_SWAP:                                                                                   \
            return cas_##T(word, cond, value);                                                               \
        case ADD:                                                                                            \
            return add_##T(word, value);                                                                     \
        case AND:                                                                                            \
            return and_##T(word, value);                                                                     \
        case OR:                                                                                             \
            return or_##T(word, value);                                                                      \
        default:                                                                                             \
            return xor_##T(word, value);                                                                     \
        }                                                                                                    \
    }
AMO_(uint32_t)
AMO_(uint64_t)

/* One atomic operation. result (may be NULL) gets the old value, then result[1] gets ticket, for who polls
 * it. */
void rs_kernel_amo(uint64_t *word, uint64_t value, uint64_t cond, uint64_t *result, uint64_t ticket,
                   uint32_t op, uint32_t width);
void rs_kernel_amo(uint64_t *word, uint64_t value, uint64_t cond, uint64_t *result, uint64_t ticket,
                   uint32_t op, uint32_t width)
{
    uint64_t old = width == 4 ? amo_uint32_t(op, (uint32_t *)word, (uint32_t)value, (uint32_t)cond)
                              : amo_uint64_t(op, word, value, cond);
    if (!result) return;
    result[0] = old;
    store_uint64_t(result + 1, ticket);
}

/* Until the word compares; cmp as ROCSHMEM_CMP_*, unsigned. */
void rs_kernel_wait(const uint64_t *word, uint64_t value, uint32_t cmp);
void rs_kernel_wait(const uint64_t *word, uint64_t value, uint32_t cmp)
{
    for (;;) {
        uint64_t now = load_uint64_t(word);
        int less = now < value, equal = now == value;
        int holds[] = {equal, !equal, !less && !equal, !less, less, less || equal};
        int hold = 0;
        for (uint32_t k = 0; k < 6; k++) hold |= k == cmp && holds[k];
        if (hold) return;
        pause_briefly();
    }
}

INLINE void copy(unsigned char *dst, const unsigned char *src, uint32_t n)
{
    uint32_t at = 0;
    if ((uintptr_t)dst % 8 == 0)
        for (; at + 8 <= n; at += 8) *(uint64_t *)(dst + at) = *(const uint64_t *)(src + at);
    for (; at < n; at++) dst[at] = src[at];
}

/* n requests, by as many threads of one block; each gets ticket when it is done. */
void rs_kernel_serve(struct rs_request *requests, uint64_t ticket, uint32_t n);
void rs_kernel_serve(struct rs_request *requests, uint64_t ticket, uint32_t n)
{
    uint32_t i = thread_index();
    if (i >= n) return;
    struct rs_request *r = &requests[i];
    uint64_t old = 0;
    if (r->op == RS_REQUEST_PUT) {
        copy((unsigned char *)r->word, r->data, r->width);
        /* What was copied comes first: both are releases. */
        if (r->signal) amo_uint64_t((unsigned)r->cond, r->signal, r->value, 0);
    } else if (r->width == 4)
        old = amo_uint32_t(r->op, (uint32_t *)r->word, (uint32_t)r->value, (uint32_t)r->cond);
    else
        old = amo_uint64_t(r->op, r->word, r->value, r->cond);
    r->old = old;
    store_uint64_t(&r->done, ticket);
}

/* ---- reductions ---- */

/* The order of enum rs_number_op; integers wrap as unsigned ones do. */
enum { SUM_OF, PROD_OF, MIN_OF, MAX_OF, AND_OF, OR_OF, XOR_OF };

#define NUMBER_(T, U)                                                                                        \
    INLINE T combine_##T(uint32_t op, T a, T b)                                                              \
    {                                                                                                        \
        switch (op) {                                                                                        \
        case SUM_OF:                                                                                         \
            return (T)((U)a + (U)b);                                                                         \
        case PROD_OF:                                                                                        \
            return (T)((U)a * (U)b);                                                                         \
        case MIN_OF:                                                                                         \
            return b < a ? b : a;                                                                            \
        default:                                                                                             \
            return b > a ? b : a;                                                                            \
        }                                                                                                    \
    }
#define LOGIC_(T)                                                                                            \
    INLINE T logic_##T(uint32_t op, T a, T b)                                                                \
    {                                                                                                        \
        return (T)(op == AND_OF   ? a & b                                                                    \
                   : op == OR_OF  ? a | b                                                                    \
                   : op == XOR_OF ? a ^ b                                                                    \
                                  : combine_##T(op, a, b));                                                  \
    }
#define REDUCE_(T, combine)                                                                                  \
    INLINE void reduce_##T(unsigned char *dest, const unsigned char *source, uint64_t stride,                \
                           uint64_t members, uint64_t n, uint32_t op)                                        \
    {                                                                                                        \
        for (uint64_t i = global_index(); i < n; i += global_size()) {                                       \
            T acc = ((const T *)source)[i];                                                                  \
            const unsigned char *in = source;                                                                \
            for (uint64_t left = members >> 1; left; left >>= 1) {                                           \
                in += stride;                                                                                \
                if (left & 1) acc = combine(op, acc, ((const T *)in)[i]);                                    \
            }                                                                                                \
            unsigned char *out = dest;                                                                       \
            for (uint64_t left = members; left; left >>= 1, out += stride)                                   \
                if (left & 1) ((T *)out)[i] = acc;                                                           \
        }                                                                                                    \
    }
#define INTEGER_(T, U) NUMBER_(T, U) LOGIC_(T) REDUCE_(T, logic_##T)
#define REAL_(T) NUMBER_(T, T) REDUCE_(T, combine_##T)
INTEGER_(int8_t, uint8_t)
INTEGER_(int16_t, uint32_t)
INTEGER_(int32_t, uint32_t)
INTEGER_(int64_t, uint64_t)
INTEGER_(uint8_t, uint8_t)
INTEGER_(uint16_t, uint32_t)
INTEGER_(uint32_t, uint32_t)
INTEGER_(uint64_t, uint64_t)
REAL_(float)
REAL_(double)

/* Combine the members' sources, in their order, and store the result in every dest. The first member's are given, bit i
 * of members is the one i strides behind. Any number of blocks. */
void rs_kernel_reduce(unsigned char *dest, const unsigned char *source, uint64_t stride, uint64_t members,
                      uint64_t n, uint32_t kind, uint32_t op);
void rs_kernel_reduce(unsigned char *dest, const unsigned char *source, uint64_t stride, uint64_t members,
                      uint64_t n, uint32_t kind, uint32_t op)
{
#define KIND_(name, T)                                                                                       \
    case RS_KIND_##name:                                                                                     \
        reduce_##T(dest, source, stride, members, n, op);                                                    \
        break
    switch (kind) {
        KIND_(S8, int8_t);
        KIND_(S16, int16_t);
        KIND_(S32, int32_t);
        KIND_(S64, int64_t);
        KIND_(U8, uint8_t);
        KIND_(U16, uint16_t);
        KIND_(U32, uint32_t);
        KIND_(U64, uint64_t);
        KIND_(F32, float);
        KIND_(F64, double);
    default:
        break;
    }
}
