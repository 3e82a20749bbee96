/* SPDX-License-Identifier: MIT
 *
 * acc[k] = acc[k] op in[k], for every type and operation: loops that the compiler vectorises, and a switch
 * over them. Integer sums and products wrap as unsigned ones do.
 */
#include <stdint.h>

#include "pgas/collective.h"

#define LOOP(T, expression)                                                                                  \
    {                                                                                                        \
        T *a = acc;                                                                                          \
        const T *b = in;                                                                                     \
        for (size_t k = 0; k < n; k++) a[k] = (T)(expression);                                               \
        return;                                                                                              \
    }

/* Sums of the signed types go through the unsigned type of the same width: overflow of those is defined. */
#define SUM(name, T, ...)                                                                                    \
    case RS_TYPE_##name:                                                                                     \
        LOOP(T, a[k] + b[k])
#define PROD(name, T, ...)                                                                                   \
    case RS_TYPE_##name:                                                                                     \
        LOOP(T, a[k] * b[k])
#define MIN(name, T, ...)                                                                                    \
    case RS_TYPE_##name:                                                                                     \
        LOOP(T, b[k] < a[k] ? b[k] : a[k])
#define MAX(name, T, ...)                                                                                    \
    case RS_TYPE_##name:                                                                                     \
        LOOP(T, b[k] > a[k] ? b[k] : a[k])
#define BITWISE(name, T, op)                                                                                 \
    case RS_TYPE_##name:                                                                                     \
        LOOP(T, a[k] op b[k])

#if defined(__clang__)
#define WRAPS __attribute__((no_sanitize("signed-integer-overflow")))
#else
#define WRAPS __attribute__((no_sanitize_undefined, optimize("O3", "wrapv")))
#endif

WRAPS static void combine_sum(enum rs_type type, void *acc, const void *in, size_t n)
{
    switch (type) {
        ROCSHMEM_RMA_TYPES(SUM, )
        ROCSHMEM_COMPLEX_TYPES(SUM, )
    default:
        return;
    }
}

WRAPS static void combine_prod(enum rs_type type, void *acc, const void *in, size_t n)
{
    switch (type) {
        ROCSHMEM_RMA_TYPES(PROD, )
        ROCSHMEM_COMPLEX_TYPES(PROD, )
    default:
        return;
    }
}

static void combine_min(enum rs_type type, void *acc, const void *in, size_t n)
{
    switch (type) {
        ROCSHMEM_RMA_TYPES(MIN, )
    default:
        return;
    }
}

static void combine_max(enum rs_type type, void *acc, const void *in, size_t n)
{
    switch (type) {
        ROCSHMEM_RMA_TYPES(MAX, )
    default:
        return;
    }
}

static void combine_and(enum rs_type type, void *acc, const void *in, size_t n)
{
    switch (type) {
        ROCSHMEM_LOGIC_TYPES(BITWISE, &)
    default:
        return;
    }
}

static void combine_or(enum rs_type type, void *acc, const void *in, size_t n)
{
    switch (type) {
        ROCSHMEM_LOGIC_TYPES(BITWISE, |)
    default:
        return;
    }
}

static void combine_xor(enum rs_type type, void *acc, const void *in, size_t n)
{
    switch (type) {
        ROCSHMEM_LOGIC_TYPES(BITWISE, ^)
    default:
        return;
    }
}

void rs_reduce_combine(enum rs_type type, int op, void *acc, const void *in, size_t n)
{
    static void (*const table[])(enum rs_type, void *, const void *, size_t) = {
        [ROCSHMEM_SUM] = combine_sum,   [ROCSHMEM_MAX] = combine_max, [ROCSHMEM_MIN] = combine_min,
        [ROCSHMEM_PROD] = combine_prod, [ROCSHMEM_AND] = combine_and, [ROCSHMEM_OR] = combine_or,
        [ROCSHMEM_XOR] = combine_xor};
    table[op](type, acc, in, n);
}
