/* SPDX-License-Identifier: MIT
 *
 * Reductions of PEs that are threads, against a model: every type, operation and size class, in place and not.
 */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "pes.h"
#include "pgas/collective.h"

#define HEAP ((size_t)1 << 18)
#define SOURCE 0
#define DEST (HEAP / 2)

static int reduce(struct rs_team *team, void *dest, const void *source, size_t n, enum rs_type type, int op)
{
    struct rs_signature s = pes_call(team, RS_CALL_REDUCE, RS_KIND_REDUCE, n, (uint64_t)type, (uint64_t)op);
    return rs_collective_reduce(team, &s, dest, source, n, type, op);
}
static int reduce_scatter(struct rs_team *team, void *dest, const void *source, size_t n, enum rs_type type,
                          int op)
{
    struct rs_signature s =
        pes_call(team, RS_CALL_REDUCE_SCATTER, RS_KIND_REDUCE_SCATTER, n, (uint64_t)type, (uint64_t)op);
    return rs_collective_reduce_scatter(team, &s, dest, source, n, type, op);
}

/* What a value of PE pe at k is, small enough for products of eight in a double; every type rounds it as C
 * does. */
#define INPUT(T, pe, k) ((T)((((k)*7 + (size_t)(pe)*5) % 9) - (((k) + (size_t)(pe)) % 3 ? 0 : 4)))

/* Bytes of a T that mean something: a long double of the x87 has 6 bytes of padding, which nobody promises.
 */
#define VALUE_NBYTES(type, T) ((type) == RS_TYPE_longdouble && LDBL_MANT_DIG == 64 ? 10 : sizeof(T))

#define MODEL(T, expression)                                                                                 \
    {                                                                                                        \
        T *source = (T *)(void *)pes_at(job, SOURCE),                                                        \
          *dest = in_place ? source : (T *)(void *)pes_at(job, DEST);                                        \
        for (size_t k = 0; k < n; k++) source[k] = INPUT(T, job->my_pe, k);                                  \
        CHECK(reduce(job->world, dest, source, n, type, op) == 0);                                           \
        for (size_t k = 0; k < n; k++) {                                                                     \
            T a = INPUT(T, 0, k);                                                                            \
            for (int pe = 1; pe < job->n_pes; pe++) {                                                        \
                T b = INPUT(T, pe, k);                                                                       \
                a = (T)(expression);                                                                         \
            }                                                                                                \
            CHECK(memcmp(&a, &dest[k], VALUE_NBYTES(type, T)) == 0);                                         \
        }                                                                                                    \
        CHECK(pes_barrier(job->world) == 0);                                                                 \
    }

#define ARITHMETIC(name, T, ...)                                                                             \
    type = RS_TYPE_##name;                                                                                   \
    op = ROCSHMEM_SUM;                                                                                       \
    MODEL(T, a + b)                                                                                          \
    op = ROCSHMEM_PROD;                                                                                      \
    MODEL(T, a *b)                                                                                           \
    op = ROCSHMEM_MIN;                                                                                       \
    MODEL(T, a < b ? a : b)                                                                                  \
    op = ROCSHMEM_MAX;                                                                                       \
    MODEL(T, a > b ? a : b)
#define COMPLEX(name, T, ...)                                                                                \
    type = RS_TYPE_##name;                                                                                   \
    op = ROCSHMEM_SUM;                                                                                       \
    MODEL(T, a + b)                                                                                          \
    op = ROCSHMEM_PROD;                                                                                      \
    MODEL(T, a *b)
#define BITWISE(name, T, ...)                                                                                \
    type = RS_TYPE_##name;                                                                                   \
    op = ROCSHMEM_AND;                                                                                       \
    MODEL(T, a &b)                                                                                           \
    op = ROCSHMEM_OR;                                                                                        \
    MODEL(T, a | b)                                                                                          \
    op = ROCSHMEM_XOR;                                                                                       \
    MODEL(T, a ^ b)

/* Arithmetic in the test wraps as it may in int; 9^8 fits. */
static void every_reduction(struct rs_job *job, size_t n, bool in_place)
{
    enum rs_type type;
    int op;
    ROCSHMEM_RMA_TYPES(ARITHMETIC, )
    ROCSHMEM_COMPLEX_TYPES(COMPLEX, )
    ROCSHMEM_LOGIC_TYPES(BITWISE, )
}

static void reductions(struct rs_job *job, void *arg)
{
    (void)arg;
    static const size_t counts[] = {1, 13, 64, 700};
    for (size_t i = 0; i < 4; i++) every_reduction(job, counts[i], i % 2);
}

static void every_type_and_operation_reduces_as_c_does(void **state)
{
    (void)state;
    pes_of_shapes(HEAP, 1, 8, reductions, NULL);
}

static void large_reductions(struct rs_job *job, void *arg)
{
    (void)arg;
    static const size_t counts[] = {0, 14, 15, 1023, 1025, 9001, 16000};
    for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; i++) {
        size_t n = counts[i / 2];
        bool in_place = i % 2;
        int op = ROCSHMEM_SUM;
        enum rs_type type = RS_TYPE_double;
        MODEL(double, a + b)
    }
}

static void a_large_reduction_is_right_in_place_and_not(void **state)
{
    (void)state;
    pes_of_shapes(HEAP, 1, 8, large_reductions, NULL);
}

/* Against reduce: to the bit. mode 0: apart, 1: into one's own block, 2: into the start of source, 3: now one
 * way, now the other. */
static void scattered(struct rs_job *job, void *arg)
{
    (void)arg;
    static const size_t counts[] = {0, 1, 2, 3, 100, 1500};
    size_t n_pes = (size_t)job->n_pes, me = (size_t)job->my_pe;
    for (size_t i = 0; i < 6 * 4; i++) {
        size_t n = counts[i / 4], mode = i % 4, all = n * n_pes;
        double *source = (double *)(void *)pes_at(job, SOURCE), *dest = (double *)(void *)pes_at(job, DEST);
        double *whole = malloc((all + 1) * sizeof *whole);
        CHECK(whole);
        uint64_t random = 77 * (uint64_t)i + me;
        for (size_t k = 0; k < all; k++) source[k] = (double)(pes_random(&random) >> 20) / 3e7;
        CHECK(reduce(job->world, dest, source, all, RS_TYPE_double, ROCSHMEM_SUM) == 0);
        memcpy(whole, dest, all * sizeof *whole);
        CHECK(pes_barrier(job->world) == 0);
        if (mode == 3) mode = 1 + me % 2;
        if (mode > 0) dest = mode == 1 ? source + me * n : source;
        double next = dest[n];
        CHECK(reduce_scatter(job->world, dest, source, n, RS_TYPE_double, ROCSHMEM_SUM) == 0);
        CHECK(memcmp(dest, whole + me * n, n * sizeof *dest) == 0);
        CHECK(memcmp(&dest[n], &next, sizeof next) == 0);
        free(whole);
        CHECK(pes_barrier(job->world) == 0);
    }
}

static void reduce_scatter_gives_the_blocks_of_reduce_also_in_place(void **state)
{
    (void)state;
    pes_of_shapes(HEAP, 1, 8, scattered, NULL);
}

static void signed_overflow_in_a_sum_wraps(void **state)
{
    (void)state;
    int32_t a[2] = {INT32_MAX, INT32_MIN}, b[2] = {1, -1};
    rs_reduce_combine(RS_TYPE_int32, ROCSHMEM_SUM, a, b, 2);
    assert_int_equal(a[0], INT32_MIN);
    assert_int_equal(a[1], INT32_MAX);
    int64_t c = INT64_MAX, d = 2;
    rs_reduce_combine(RS_TYPE_int64, ROCSHMEM_PROD, &c, &d, 1);
    assert_true(c == -2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_operation_reduces_as_c_does),
        cmocka_unit_test(a_large_reduction_is_right_in_place_and_not),
        cmocka_unit_test(reduce_scatter_gives_the_blocks_of_reduce_also_in_place),
        cmocka_unit_test(signed_overflow_in_a_sum_wraps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
