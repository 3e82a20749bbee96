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
    if (r->op == RS_REQUEST_PUT)
        copy((unsigned char *)r->word, r->data, r->width);
    else if (r->width == 4)
        old = amo_uint32_t(r->op, (uint32_t *)r->word, (uint32_t)r->value, (uint32_t)r->cond);
    else
        old = amo_uint64_t(r->op, r->word, r->value, r->cond);
    r->old = old;
    store_uint64_t(&r->done, ticket);
}
