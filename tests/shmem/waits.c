/* SPDX-License-Identifier: MIT
 *
 * Point-to-point synchronisation by functions with a type in their names.
 */
#include "waits.h"
#include "types.h"

#define TYPED_CALL(NAME, operation, ...) shmem_##NAME##_##operation(__VA_ARGS__)
#define TYPED(NAME, T) WAIT_FUNCTIONS(shmem_, TYPED_CALL, NAME, T)
STANDARD_AMO_TYPES(TYPED)
#define TYPED_ROW(NAME, T) WAIT_ROW(shmem_, NAME, T)
static const struct wait_type typed[] = {STANDARD_AMO_TYPES(TYPED_ROW)};

/* Signed and unsigned types order differently: -1 is the smallest or the largest. */
static void signs(void)
{
    static int32_t negative = -1;
    static uint32_t large = UINT32_MAX;
    static int64_t negative64 = INT64_MIN;
    static uint64_t large64 = (uint64_t)1 << 63;
    CHECK_EQ(shmem_int32_test(&negative, SHMEM_CMP_LT, 0), 1);
    CHECK_EQ(shmem_uint32_test(&large, SHMEM_CMP_GT, 1), 1);
    CHECK_EQ(shmem_int64_test(&negative64, SHMEM_CMP_LE, -5), 1);
    CHECK_EQ(shmem_uint64_test(&large64, SHMEM_CMP_GE, 5), 1);
    shmem_int64_wait_until(&negative64, SHMEM_CMP_LT, 0);
    shmem_uint64_wait_until(&large64, SHMEM_CMP_GT, INT64_MAX);
    CHECK_EQ(shmem_long_test((long *)&negative64, SHMEM_CMP_GT, 0), 0);
    CHECK_EQ(shmem_ulong_test((unsigned long *)&large64, SHMEM_CMP_LT, 0), 0);
}

/* What was put before a fence is there when the flag behind it is seen. */
static void data_before_the_flag(void)
{
    static long data[100], flag;
    for (long round = 1; round <= 50; round++) {
        long source[100];
        for (int i = 0; i < 100; i++) source[i] = round * 1000 + me;
        shmem_long_put(data, source, 100, right());
        shmem_fence();
        shmem_long_atomic_set(&flag, round, right());
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
        long wrong = 0;
        for (int i = 0; i < 100; i++) wrong += data[i] != round * 1000 + left();
        CHECK_EQ(wrong, 0);
        shmem_barrier_all();
    }
}

/* A test in a loop sees the change, too. */
static void tests_in_a_loop(void)
{
    static int flag;
    for (int round = 1; round <= 20; round++) {
        shmem_int_atomic_inc(&flag, right());
        while (!shmem_int_test(&flag, SHMEM_CMP_GE, round)) continue;
        shmem_barrier_all();
        CHECK_EQ(flag, round);
        shmem_barrier_all();
    }
}

int main(void)
{
    check_begin("waits");
    static long long kept[16];
    void *block = symmetric(sizeof kept);
    check_case("typed");
    for (size_t i = 0; i < LENGTH(typed); i++) check_waits(&typed[i], block);
    check_case("on_static_memory");
    for (size_t i = 0; i < LENGTH(typed); i++) check_waits(&typed[i], kept);
    check_case("signs");
    signs();
    check_case("data_before_the_flag");
    data_before_the_flag();
    check_case("tests_in_a_loop");
    tests_in_a_loop();
    shmem_free(block);
    return check_end();
}
