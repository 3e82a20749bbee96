/* SPDX-License-Identifier: MIT
 *
 * Atomic operations by functions with a type in their names, on the default context and on one of our own.
 */
#include "amo.h"
#include "types.h"

static shmem_ctx_t ctx;

static void quiet_ctx(void)
{
    shmem_ctx_quiet(ctx);
}

#define TYPED_CALL(NAME, operation, ...) shmem_##NAME##_atomic_##operation(__VA_ARGS__)
#define EXTENDED(NAME, T) AMO_EXTENDED(shmem_, TYPED_CALL, NAME, T)
#define STANDARD(NAME, T) AMO_STANDARD(shmem_, TYPED_CALL, NAME, T)
#define BITWISE(NAME, T) AMO_BITWISE(shmem_, TYPED_CALL, NAME, T)
REAL_AMO_TYPES(EXTENDED)
STANDARD_AMO_TYPES(EXTENDED)
STANDARD_AMO_TYPES(STANDARD)
BITWISE_AMO_TYPES(BITWISE)
#define REAL_ROW(NAME, T) {AMO_EXTENDED_FIELDS(shmem_, NAME, T)},
#define STANDARD_ROW(NAME, T) {AMO_STANDARD_FIELDS(shmem_, NAME, T)},
#define BITWISE_ROW(NAME, T) {AMO_BITWISE_FIELDS(shmem_, NAME, T)},
static const struct amo_type typed[] = {REAL_AMO_TYPES(REAL_ROW) SIGNED_AMO_TYPES(STANDARD_ROW)
                                            BITWISE_AMO_TYPES(BITWISE_ROW)};

#define CTX_CALL(NAME, operation, ...) shmem_ctx_##NAME##_atomic_##operation(ctx, __VA_ARGS__)
#define CTX_EXTENDED(NAME, T) AMO_EXTENDED(shmem_ctx_, CTX_CALL, NAME, T)
#define CTX_STANDARD(NAME, T) AMO_STANDARD(shmem_ctx_, CTX_CALL, NAME, T)
#define CTX_BITWISE(NAME, T) AMO_BITWISE(shmem_ctx_, CTX_CALL, NAME, T)
REAL_AMO_TYPES(CTX_EXTENDED)
STANDARD_AMO_TYPES(CTX_EXTENDED)
STANDARD_AMO_TYPES(CTX_STANDARD)
BITWISE_AMO_TYPES(CTX_BITWISE)
#define CTX_REAL_ROW(NAME, T) {AMO_EXTENDED_FIELDS(shmem_ctx_, NAME, T)},
#define CTX_STANDARD_ROW(NAME, T) {AMO_STANDARD_FIELDS(shmem_ctx_, NAME, T)},
#define CTX_BITWISE_ROW(NAME, T) {AMO_BITWISE_FIELDS(shmem_ctx_, NAME, T)},
static const struct amo_type ctx_typed[] = {REAL_AMO_TYPES(CTX_REAL_ROW) SIGNED_AMO_TYPES(CTX_STANDARD_ROW)
                                                BITWISE_AMO_TYPES(CTX_BITWISE_ROW)};

/* Arithmetic wraps around in the width of the type. */
static void wrap_around(void)
{
    static uint32_t word32;
    static uint64_t word64;
    word32 = UINT32_MAX;
    word64 = UINT64_MAX;
    shmem_barrier_all();
    if (me == 0) {
        CHECK_EQ(shmem_uint32_atomic_fetch_inc(&word32, n_pes - 1), UINT32_MAX);
        CHECK_EQ(shmem_uint32_atomic_fetch_add(&word32, UINT32_MAX, n_pes - 1), 0);
        CHECK_EQ(shmem_uint32_atomic_fetch(&word32, n_pes - 1), UINT32_MAX);
        CHECK(shmem_uint64_atomic_fetch_add(&word64, 2, n_pes - 1) == UINT64_MAX);
        CHECK_EQ(shmem_uint64_atomic_fetch(&word64, n_pes - 1), 1);
    }
    shmem_barrier_all();
}

/* A float is swapped as it is: fractions, signs, zeros. */
static void reals(void)
{
    static float of_float;
    static double of_double;
    shmem_barrier_all();
    shmem_float_atomic_set(&of_float, -0.75f - (float)me, right());
    CHECK(shmem_float_atomic_swap(&of_float, 1.5f, right()) == -0.75f - (float)me);
    CHECK(shmem_float_atomic_fetch(&of_float, right()) == 1.5f);
    shmem_double_atomic_set(&of_double, 1e300, right());
    CHECK(shmem_double_atomic_swap(&of_double, -1e-300, right()) == 1e300);
    CHECK(shmem_double_atomic_fetch(&of_double, right()) == -1e-300);
    shmem_barrier_all();
}

/* A ticket counter, each PE on each other's. */
static void all_on_all(void)
{
    static long counters[64], taken[64];
    if (n_pes > 64) return;
    for (int i = 0; i < 10; i++)
        for (int pe = 0; pe < n_pes; pe++) {
            long ticket = shmem_long_atomic_fetch_inc(&counters[3], (pe + me) % n_pes);
            CHECK(ticket >= 0 && ticket < 10L * n_pes);
            shmem_long_atomic_add(&taken[5], ticket, (pe + me) % n_pes);
        }
    shmem_barrier_all();
    long n = 10L * n_pes;
    CHECK_EQ(counters[3], n);
    CHECK_EQ(taken[5], n * (n - 1) / 2);
    CHECK(counters[2] == 0 && counters[4] == 0 && taken[4] == 0 && taken[6] == 0);
}

int main(void)
{
    check_begin("amo");
    static long long kept[8];
    void *block = symmetric(64);
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    check_case("typed");
    for (size_t i = 0; i < LENGTH(typed); i++) check_amo(&typed[i], block, shmem_quiet);
    check_case("ctx_typed");
    for (size_t i = 0; i < LENGTH(ctx_typed); i++) check_amo(&ctx_typed[i], block, quiet_ctx);
    check_case("on_static_memory");
    for (size_t i = 0; i < LENGTH(typed); i++) check_amo(&typed[i], kept, shmem_quiet);
    check_case("wrap_around");
    wrap_around();
    check_case("reals");
    reals();
    check_case("all_on_all");
    all_on_all();
    shmem_ctx_destroy(ctx);
    shmem_free(block);
    return check_end();
}
