/* SPDX-License-Identifier: MIT
 *
 * One test of all transfers of one type: contiguous, strided, single elements, blocking and not. The functions under test
 * come as a table of adapters, so that the typed, the context and the generic forms run through the same checks. Elements
 * are written and read by adapters, too, as small integers.
 */
#ifndef RMA_H
#define RMA_H

#include "check.h"

struct rma_type {
    const char *name;
    size_t size;
    void (*set)(void *elements, size_t i, int value);
    int (*at)(const void *elements, size_t i);
    void (*put)(void *dest, const void *source, size_t n, int pe);
    void (*get)(void *dest, const void *source, size_t n, int pe);
    void (*put_nbi)(void *dest, const void *source, size_t n, int pe);
    void (*get_nbi)(void *dest, const void *source, size_t n, int pe);
    void (*iput)(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe);
    void (*iget)(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe);
    void (*p)(void *dest, int value, int pe); /* NULL for sizes: they have no such form */
    int (*g)(const void *source, int pe);
};

/* Four areas of the symmetric block, one a way of writing; then one that is read. All of them in elements. */
enum {
    AREA = 40,
    PUT_AREA = 0,
    PUT_NBI_AREA = AREA,
    IPUT_AREA = 2 * AREA,
    P_AREA = 3 * AREA,
    READ_AREA = 4 * AREA,
    RMA_ELEMENTS = 5 * AREA,
    RMA_NBYTES = RMA_ELEMENTS * 16,
    N = 13, /* elements a transfer: odd on purpose */
};

static inline char *element(const struct rma_type *type, void *block, size_t i)
{
    return (char *)block + i * type->size;
}

/* The first element of an area is left alone by every transfer, and so is what lies behind the last. */
static void rma_write_to_right(const struct rma_type *type, void *block, void *local, void (*quiet)(void))
{
    for (size_t i = 0; i < N; i++) type->set(local, i, pattern(me, PUT_AREA, i));
    type->put(element(type, block, PUT_AREA + 1), local, N, right());
    type->put(element(type, block, PUT_AREA), local, 0, right());
    for (size_t i = 0; i < N; i++) type->set(local, i, -1); /* a put has read its source when it returns */
    char *kept = element(type, local, N);
    for (size_t i = 0; i < N; i++) type->set(kept, i, pattern(me, PUT_NBI_AREA, i));
    type->put_nbi(element(type, block, PUT_NBI_AREA + 1), kept, N, right());
    for (size_t i = 0; i < N; i++) type->set(local, i, pattern(me, IPUT_AREA, i));
    type->iput(element(type, block, IPUT_AREA + 1), local, 2, 3, 5, right()); /* 0 3 6 9 12 to 1 3 5 7 9 */
    type->iput(element(type, block, IPUT_AREA), local, 1, 1, 0, right());
    for (size_t i = 0; type->p && i < N; i++)
        type->p(element(type, block, P_AREA + 1 + i), pattern(me, P_AREA, i), right());
    quiet();
}

static void rma_check_written(const struct rma_type *type, void *block)
{
    for (size_t i = 0; i < AREA; i++) {
        int inside = i >= 1 && i <= N;
        CHECK_EQ_FOR(type->name, type->at(block, PUT_AREA + i),
                     inside ? pattern(left(), PUT_AREA, i - 1) : 0);
        CHECK_EQ_FOR(type->name, type->at(block, PUT_NBI_AREA + i),
                     inside ? pattern(left(), PUT_NBI_AREA, i - 1) : 0);
        inside = i % 2 == 1 && i <= 9;
        CHECK_EQ_FOR(type->name, type->at(block, IPUT_AREA + i),
                     inside ? pattern(left(), IPUT_AREA, (i - 1) / 2 * 3) : 0);
        inside = type->p && i >= 1 && i <= N;
        CHECK_EQ_FOR(type->name, type->at(block, P_AREA + i), inside ? pattern(left(), P_AREA, i - 1) : 0);
    }
}

static void rma_read_from_right(const struct rma_type *type, void *block, void *local, void (*quiet)(void))
{
    for (size_t i = 0; i < AREA; i++) type->set(local, i, 0);
    type->get(element(type, local, 1), element(type, block, READ_AREA + 3), N, right());
    type->get(local, element(type, block, READ_AREA), 0, right());
    for (size_t i = 0; i < AREA; i++)
        CHECK_EQ_FOR(type->name, type->at(local, i), i >= 1 && i <= N ? pattern(right(), 9, i + 2) : 0);
    for (size_t i = 0; i < AREA; i++) type->set(local, i, 0);
    type->get_nbi(element(type, local, 1), element(type, block, READ_AREA), N, right());
    quiet();
    for (size_t i = 0; i < AREA; i++)
        CHECK_EQ_FOR(type->name, type->at(local, i), i >= 1 && i <= N ? pattern(right(), 9, i - 1) : 0);
    for (size_t i = 0; i < AREA; i++) type->set(local, i, 0);
    type->iget(local, element(type, block, READ_AREA), 3, 2, 6, right()); /* 0 2 4 6 8 10 to 0 3 6 9 12 15 */
    for (size_t i = 0; i < AREA; i++)
        CHECK_EQ_FOR(type->name, type->at(local, i),
                     i % 3 == 0 && i <= 15 ? pattern(right(), 9, i / 3 * 2) : 0);
    for (size_t i = 0; type->g && i < AREA; i += 5)
        CHECK_EQ_FOR(type->name, type->g(element(type, block, READ_AREA + i), right()),
                     pattern(right(), 9, i));
}

/* Collective. block: RMA_NBYTES of symmetric memory, any kind; quiet completes what the forms under test have begun. */
MAYBE_UNUSED static void check_rma(const struct rma_type *type, void *block, void (*quiet)(void))
{
    static ALIGNED char private_memory[AREA * 16 * 2]; /* symmetric as well, but this does not matter */
    memset(block, 0, RMA_NBYTES);
    memset(private_memory, 0, sizeof private_memory);
    for (size_t i = 0; i < AREA; i++) type->set(block, READ_AREA + i, pattern(me, 9, i));
    shmem_barrier_all();
    rma_write_to_right(type, block, private_memory, quiet);
    rma_read_from_right(type, block, private_memory, quiet);
    shmem_barrier_all();
    rma_check_written(type, block);
    for (size_t i = 0; i < AREA; i++)
        CHECK_EQ_FOR(type->name, type->at(block, READ_AREA + i), pattern(me, 9, i));
}

/* ---- adapters ---- */

/* One type in one form: CALL(NAME, operation, arguments...) names the function, or the generic one, with its context. */
#define RMA_ACCESS(form, NAME, T)                                                                            \
    static void form##set_##NAME(void *p, size_t i, int value)                                               \
    {                                                                                                        \
        ((T *)p)[i] = (T)value;                                                                              \
    }                                                                                                        \
    static int form##at_##NAME(const void *p, size_t i)                                                      \
    {                                                                                                        \
        return (int)((const T *)p)[i];                                                                       \
    }

#define RMA_CONTIGUOUS(form, CALL, NAME, T, operation)                                                       \
    static void form##operation##_##NAME(void *dest, const void *source, size_t n, int pe)                   \
    {                                                                                                        \
        CALL(NAME, operation, (T *)dest, (const T *)source, n, pe);                                          \
    }

#define RMA_STRIDED(form, CALL, NAME, T, operation)                                                          \
    static void form##operation##_##NAME(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,       \
                                         size_t n, int pe)                                                   \
    {                                                                                                        \
        CALL(NAME, operation, (T *)dest, (const T *)source, dst, sst, n, pe);                                \
    }

#define RMA_SINGLE(form, CALL, NAME, T)                                                                      \
    static void form##p_##NAME(void *dest, int value, int pe)                                                \
    {                                                                                                        \
        CALL(NAME, p, (T *)dest, (T)value, pe);                                                              \
    }                                                                                                        \
    static int form##g_##NAME(const void *source, int pe)                                                    \
    {                                                                                                        \
        return (int)CALL(NAME, g, (const T *)source, pe);                                                    \
    }

#define RMA_FUNCTIONS(form, CALL, NAME, T)                                                                   \
    RMA_ACCESS(form, NAME, T)                                                                                \
    RMA_CONTIGUOUS(form, CALL, NAME, T, put)                                                                 \
    RMA_CONTIGUOUS(form, CALL, NAME, T, get)                                                                 \
    RMA_CONTIGUOUS(form, CALL, NAME, T, put_nbi)                                                             \
    RMA_CONTIGUOUS(form, CALL, NAME, T, get_nbi)                                                             \
    RMA_STRIDED(form, CALL, NAME, T, iput)                                                                   \
    RMA_STRIDED(form, CALL, NAME, T, iget)                                                                   \
    RMA_SINGLE(form, CALL, NAME, T)

#define RMA_ROW(form, NAME, T)                                                                               \
    {.name = #form #NAME,                                                                                    \
     .size = sizeof(T),                                                                                      \
     .set = form##set_##NAME,                                                                                \
     .at = form##at_##NAME,                                                                                  \
     .put = form##put_##NAME,                                                                                \
     .get = form##get_##NAME,                                                                                \
     .put_nbi = form##put_nbi_##NAME,                                                                        \
     .get_nbi = form##get_nbi_##NAME,                                                                        \
     .iput = form##iput_##NAME,                                                                              \
     .iget = form##iget_##NAME,                                                                              \
     .p = form##p_##NAME,                                                                                    \
     .g = form##g_##NAME},

#endif
