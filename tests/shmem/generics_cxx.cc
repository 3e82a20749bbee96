/* SPDX-License-Identifier: MIT
 *
 * The type-generic names in C++, as overloaded functions. The specification has them in C11 only, so this is for libraries
 * that go beyond it; the typed functions, which C++ programs call otherwise, are used beside them.
 */
#include "amo.h"
#include "rma.h"
#include "types.h"
#include "waits.h"

static shmem_ctx_t ctx;

static void quiet_ctx()
{
    shmem_ctx_quiet(ctx);
}

#define RMA_CALL(NAME, operation, ...) shmem_##operation(__VA_ARGS__)
#define RMA_CTX_CALL(NAME, operation, ...) shmem_##operation(ctx, __VA_ARGS__)
#define RMA_GENERIC(NAME, T)                                                                                 \
    RMA_FUNCTIONS(cxx_, RMA_CALL, NAME, T) RMA_FUNCTIONS(cxx_ctx_, RMA_CTX_CALL, NAME, T)
RMA_TYPES(RMA_GENERIC)
#define RMA_GENERIC_ROWS(NAME, T) RMA_ROW(cxx_, NAME, T) RMA_ROW(cxx_ctx_, NAME, T)
static const struct rma_type rma[] = {RMA_TYPES(RMA_GENERIC_ROWS)};

#define AMO_CALL(NAME, operation, ...) shmem_atomic_##operation(__VA_ARGS__)
#define AMO_CTX_CALL(NAME, operation, ...) shmem_atomic_##operation(ctx, __VA_ARGS__)
#define EXTENDED(NAME, T)                                                                                    \
    AMO_EXTENDED(cxx_atomic_, AMO_CALL, NAME, T) AMO_EXTENDED(cxx_ctx_atomic_, AMO_CTX_CALL, NAME, T)
#define STANDARD(NAME, T)                                                                                    \
    EXTENDED(NAME, T)                                                                                        \
    AMO_STANDARD(cxx_atomic_, AMO_CALL, NAME, T) AMO_STANDARD(cxx_ctx_atomic_, AMO_CTX_CALL, NAME, T)
#define BITWISE(NAME, T)                                                                                     \
    STANDARD(NAME, T)                                                                                        \
    AMO_BITWISE(cxx_atomic_, AMO_CALL, NAME, T) AMO_BITWISE(cxx_ctx_atomic_, AMO_CTX_CALL, NAME, T)
REAL_AMO_TYPES(EXTENDED)
SIGNED_AMO_TYPES(STANDARD)
BITWISE_AMO_TYPES(BITWISE)
#define REAL_ROWS(NAME, T)                                                                                   \
    {AMO_EXTENDED_FIELDS(cxx_atomic_, NAME, T)}, {AMO_EXTENDED_FIELDS(cxx_ctx_atomic_, NAME, T)},
#define STANDARD_ROWS(NAME, T)                                                                               \
    {AMO_STANDARD_FIELDS(cxx_atomic_, NAME, T)}, {AMO_STANDARD_FIELDS(cxx_ctx_atomic_, NAME, T)},
#define BITWISE_ROWS(NAME, T)                                                                                \
    {AMO_BITWISE_FIELDS(cxx_atomic_, NAME, T)}, {AMO_BITWISE_FIELDS(cxx_ctx_atomic_, NAME, T)},
static const struct amo_type amo[] = {REAL_AMO_TYPES(REAL_ROWS) SIGNED_AMO_TYPES(STANDARD_ROWS)
                                          BITWISE_AMO_TYPES(BITWISE_ROWS)};

#define WAIT_CALL(NAME, operation, ...) shmem_##operation(__VA_ARGS__)
#define WAITS(NAME, T) WAIT_FUNCTIONS(cxx_, WAIT_CALL, NAME, T)
STANDARD_AMO_TYPES(WAITS)
#define WAITS_ROW(NAME, T) WAIT_ROW(cxx_, NAME, T)
static const struct wait_type waits[] = {STANDARD_AMO_TYPES(WAITS_ROW)};

/* ---- collectives ---- */

template <class T> static void collectives(const char *name)
{
    static T source[64], dest[64];
    if (n_pes > 32) return;
    for (int i = 0; i < 2 * n_pes; i++) source[i] = static_cast<T>(me + i);
    shmem_barrier_all();
    CHECK_EQ_FOR(name, shmem_broadcast(SHMEM_TEAM_WORLD, dest, source, 2, n_pes - 1), 0);
    CHECK_FOR(name, dest[0] == static_cast<T>(n_pes - 1) && dest[1] == static_cast<T>(n_pes));
    shmem_barrier_all();
    CHECK_EQ_FOR(name, shmem_fcollect(SHMEM_TEAM_WORLD, dest, source, 2), 0);
    for (int i = 0; i < 2 * n_pes; i++) CHECK_FOR(name, dest[i] == static_cast<T>(i / 2 + i % 2));
    shmem_barrier_all();
    CHECK_EQ_FOR(name, shmem_collect(SHMEM_TEAM_WORLD, dest, source, me % 2 ? 2 : 1), 0);
    CHECK_FOR(name, dest[0] == static_cast<T>(0) && (n_pes < 2 || dest[1] == static_cast<T>(1)));
    shmem_barrier_all();
    CHECK_EQ_FOR(name, shmem_alltoall(SHMEM_TEAM_WORLD, dest, source, 1), 0);
    for (int i = 0; i < n_pes; i++) CHECK_FOR(name, dest[i] == static_cast<T>(i + me));
    shmem_barrier_all();
    CHECK_EQ_FOR(name, shmem_alltoalls(SHMEM_TEAM_WORLD, dest, source, 1, 2, 1), 0);
    for (int i = 0; i < n_pes; i++) CHECK_FOR(name, dest[i] == static_cast<T>(i + 2 * me));
    shmem_barrier_all();
    CHECK_EQ_FOR(name, shmem_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 1), 0);
    CHECK_FOR(name, dest[0] == static_cast<T>(n_pes * (n_pes - 1) / 2));
    shmem_barrier_all();
    CHECK_EQ_FOR(name, shmem_max_reduce(SHMEM_TEAM_WORLD, dest, source, 1), 0);
    CHECK_FOR(name, dest[0] == static_cast<T>(n_pes - 1));
    shmem_barrier_all();
    CHECK_EQ_FOR(name, shmem_min_reduce(SHMEM_TEAM_WORLD, dest, source + 1, 1), 0);
    CHECK_FOR(name, dest[0] == static_cast<T>(1));
    shmem_barrier_all();
    CHECK_EQ_FOR(name, shmem_prod_reduce(SHMEM_TEAM_WORLD, dest, source, 1), 0);
    CHECK_FOR(name, dest[0] == static_cast<T>(0));
    shmem_barrier_all();
}

template <class T> static void logic(const char *name)
{
    static T source, dest;
    source = static_cast<T>(me % 2 ? 5 : 6);
    shmem_barrier_all();
    CHECK_EQ_FOR(name, shmem_and_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
    CHECK_EQ_FOR(name, dest, n_pes > 1 ? 4 : 6);
    shmem_barrier_all();
    CHECK_EQ_FOR(name, shmem_or_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
    CHECK_EQ_FOR(name, dest, n_pes > 1 ? 7 : 6);
    shmem_barrier_all();
    CHECK_EQ_FOR(name, shmem_xor_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
    CHECK_EQ_FOR(name, dest, ((n_pes + 1) / 2 % 2 ? 6 : 0) ^ (n_pes / 2 % 2 ? 5 : 0));
    shmem_barrier_all();
}

template <class T> static void volatile_flag(const char *name)
{
    static volatile T flag;
    flag = 0;
    shmem_barrier_all();
    shmem_p(const_cast<T *>(&flag), static_cast<T>(left() + 1),
            right()); /* what arrives is the writer's left + 1 */
    shmem_wait_until(&flag, SHMEM_CMP_NE, static_cast<T>(0));
    CHECK_EQ_FOR(name, shmem_test(&flag, SHMEM_CMP_EQ, static_cast<T>((left() + n_pes - 1) % n_pes + 1)), 1);
    shmem_barrier_all();
}

/* C++ does not drop volatile by itself. */
static void volatile_variables()
{
    static volatile long lock, flag;
    static volatile int narrow;
    volatile_flag<short>("short");
    volatile_flag<int>("int");
    volatile_flag<long>("long");
    volatile_flag<long long>("longlong");
    volatile_flag<unsigned short>("ushort");
    volatile_flag<unsigned int>("uint");
    volatile_flag<unsigned long>("ulong");
    volatile_flag<unsigned long long>("ulonglong");
    shmem_set_lock(&lock);
    CHECK_EQ(shmem_test_lock(&lock), 1);
    shmem_clear_lock(&lock);
    shmem_long_p(const_cast<long *>(&flag), 3, right());
    shmem_int_p(const_cast<int *>(&narrow), 4, right());
    shmem_wait(&flag, 0);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 3);
    shmem_int_wait(&narrow, 0);
    CHECK_EQ(shmem_int_test(&narrow, SHMEM_CMP_GT, 3), 1);
    shmem_barrier_all();
}

int main()
{
    check_begin("generics_cxx");
    void *block = symmetric(RMA_NBYTES);
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    check_case("rma");
    for (size_t i = 0; i < LENGTH(rma); i++) check_rma(&rma[i], block, quiet_ctx);
    check_case("amo");
    for (size_t i = 0; i < LENGTH(amo); i++) check_amo(&amo[i], block, quiet_ctx);
    check_case("waits");
    for (size_t i = 0; i < LENGTH(waits); i++) check_waits(&waits[i], block);
    check_case("collectives");
#define COLLECTIVES(NAME, T) collectives<T>(#NAME);
    RMA_TYPES(COLLECTIVES)
#define LOGIC(NAME, T) logic<T>(#NAME);
    LOGIC_REDUCE_TYPES(LOGIC)
    check_case("volatile_variables");
    volatile_variables();
    shmem_ctx_destroy(ctx);
    shmem_free(block);
    return check_end();
}
