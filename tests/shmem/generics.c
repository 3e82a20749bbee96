/* SPDX-License-Identifier: MIT
 *
 * The type-generic names of C11 that 1.4 has: every type, with and without a context, through the checks of the typed
 * forms.
 */
#include "amo.h"
#include "rma.h"
#include "types.h"

static shmem_ctx_t ctx;

static void quiet_ctx(void)
{
    shmem_ctx_quiet(ctx);
}

/* ---- transfers ---- */

#define RMA_CALL(NAME, operation, ...) shmem_##operation(__VA_ARGS__)
#define RMA_CTX_CALL(NAME, operation, ...) shmem_##operation(ctx, __VA_ARGS__)
#define RMA_GENERIC(NAME, T) RMA_FUNCTIONS(generic_, RMA_CALL, NAME, T)
#define RMA_CTX_GENERIC(NAME, T) RMA_FUNCTIONS(generic_ctx_, RMA_CTX_CALL, NAME, T)
RMA_TYPES(RMA_GENERIC)
RMA_TYPES(RMA_CTX_GENERIC)
#define RMA_GENERIC_ROW(NAME, T) RMA_ROW(generic_, NAME, T)
#define RMA_CTX_GENERIC_ROW(NAME, T) RMA_ROW(generic_ctx_, NAME, T)
static const struct rma_type rma[] = {RMA_TYPES(RMA_GENERIC_ROW)};
static const struct rma_type rma_ctx[] = {RMA_TYPES(RMA_CTX_GENERIC_ROW)};

/* ---- atomics ---- */

#define AMO_CALL(NAME, operation, ...) shmem_atomic_##operation(__VA_ARGS__)
#define AMO_CTX_CALL(NAME, operation, ...) shmem_atomic_##operation(ctx, __VA_ARGS__)
#define EXTENDED(NAME, T)                                                                                    \
    AMO_EXTENDED(atomic_, AMO_CALL, NAME, T) AMO_EXTENDED(atomic_ctx_, AMO_CTX_CALL, NAME, T)
#define STANDARD(NAME, T)                                                                                    \
    EXTENDED(NAME, T)                                                                                        \
    AMO_STANDARD(atomic_, AMO_CALL, NAME, T) AMO_STANDARD(atomic_ctx_, AMO_CTX_CALL, NAME, T)
#define BITWISE(NAME, T)                                                                                     \
    STANDARD(NAME, T) AMO_BITWISE(atomic_, AMO_CALL, NAME, T) AMO_BITWISE(atomic_ctx_, AMO_CTX_CALL, NAME, T)
REAL_AMO_TYPES(EXTENDED)
SIGNED_AMO_TYPES(STANDARD)
BITWISE_AMO_TYPES(BITWISE)
#define REAL_ROWS(NAME, T)                                                                                   \
    {AMO_EXTENDED_FIELDS(atomic_, NAME, T)}, {AMO_EXTENDED_FIELDS(atomic_ctx_, NAME, T)},
#define STANDARD_ROWS(NAME, T)                                                                               \
    {AMO_STANDARD_FIELDS(atomic_, NAME, T)}, {AMO_STANDARD_FIELDS(atomic_ctx_, NAME, T)},
#define BITWISE_ROWS(NAME, T)                                                                                \
    {AMO_BITWISE_FIELDS(atomic_, NAME, T)}, {AMO_BITWISE_FIELDS(atomic_ctx_, NAME, T)},
static const struct amo_type amo[] = {REAL_AMO_TYPES(REAL_ROWS) SIGNED_AMO_TYPES(STANDARD_ROWS)
                                          BITWISE_AMO_TYPES(BITWISE_ROWS)};

/* ---- forms of arguments ---- */

/* Values convert as with a function, pointers may be arrays, and any expression is evaluated once. */
static void arguments_of_many_forms(void)
{
    static int array[4];
    static double reals[4];
    int evaluated = 0;
    const int source[4] = {1, 2, 3, 4};
    shmem_put(array, source, 4, right());
    shmem_p(&reals[evaluated++], 1, right()); /* an int becomes a double */
    shmem_p(SHMEM_CTX_DEFAULT, reals + evaluated++, 2.5f, right());
    CHECK_EQ(evaluated, 2);
    shmem_barrier_all();
    for (int i = 0; i < 4; i++) CHECK_EQ(array[i], i + 1);
    CHECK(reals[0] == 1 && reals[1] == 2.5);
    shmem_barrier_all();
    shmem_atomic_add(array, 7L, right());
    shmem_barrier_all();
    CHECK_EQ(shmem_atomic_fetch(&array[0], right()), 8);
    shmem_wait_until(&array[0], SHMEM_CMP_EQ, 8);
    CHECK_EQ(shmem_test(array, SHMEM_CMP_GT, 8), 0);
    CHECK_EQ(sizeof(shmem_g(&reals[0], me)), sizeof(double));
    CHECK_EQ(sizeof(shmem_atomic_fetch(array, me)), sizeof(int));
    shmem_barrier_all();
}

int main(void)
{
    check_begin("generics");
    void *block = symmetric(RMA_NBYTES);
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    check_case("rma");
    for (size_t i = 0; i < LENGTH(rma); i++) check_rma(&rma[i], block, shmem_quiet);
    check_case("rma_ctx");
    for (size_t i = 0; i < LENGTH(rma_ctx); i++) check_rma(&rma_ctx[i], block, quiet_ctx);
    check_case("amo");
    for (size_t i = 0; i < LENGTH(amo); i++) check_amo(&amo[i], block, quiet_ctx);
    check_case("arguments_of_many_forms");
    arguments_of_many_forms();
    shmem_ctx_destroy(ctx);
    shmem_free(block);
    return check_end();
}
