/* SPDX-License-Identifier: MIT
 *
 * Fence, quiet, barriers and syncs.
 */
#include "conformance.h"

enum { ROUNDS = 2000 };

/* The left PE writes a value, fences, writes a flag; here the value is never older than the flag. */
static void fence_orders(void)
{
    uint64_t *value = symmetric(64), *flag = symmetric(64), *answer = symmetric(64);
    for (uint64_t i = 1; i <= (uint64_t)times(ROUNDS); i++) {
        rocshmem_uint64_p(value, i, right());
        rocshmem_fence();
        rocshmem_uint64_p(flag, i, right());
        rocshmem_uint64_wait_until(flag, ROCSHMEM_CMP_GE, i);
        CHECK_EQ(GET(value), i);
        rocshmem_uint64_p(answer, i, left());
        rocshmem_uint64_wait_until(answer, ROCSHMEM_CMP_GE, i);
    }
    rocshmem_barrier_all();
    rocshmem_free(value);
    rocshmem_free(flag);
    rocshmem_free(answer);
}

static void fence_orders_nbi(void)
{
    enum { N = 1000 };
    uint64_t *data = symmetric(N * 8), *flag = symmetric(64), *answer = symmetric(64), source[N], got[N];
    for (uint64_t i = 1; i <= 100; i++) {
        for (uint64_t k = 0; k < N; k++) source[k] = i + k;
        rocshmem_putmem_nbi(data, source, sizeof source, right());
        rocshmem_fence();
        rocshmem_uint64_p(flag, i, right());
        rocshmem_quiet(); /* source may change */
        rocshmem_uint64_wait_until(flag, ROCSHMEM_CMP_GE, i);
        heap_read(got, data, sizeof got);
        for (uint64_t k = 0; k < N; k++) CHECK_EQ(got[k], i + k);
        rocshmem_uint64_p(answer, i, left());
        rocshmem_uint64_wait_until(answer, ROCSHMEM_CMP_GE, i);
    }
    rocshmem_barrier_all();
    rocshmem_free(data);
    rocshmem_free(flag);
    rocshmem_free(answer);
}

static void quiet_completes(void)
{
    uint64_t *word = symmetric(64), *seen = symmetric(64);
    for (uint64_t i = 1; i <= (uint64_t)times(500); i++) {
        rocshmem_putmem_nbi(word, &i, sizeof i, right());
        rocshmem_quiet();
        rocshmem_getmem(seen, word, sizeof *seen, right()); /* complete: even this PE reads it back */
        CHECK_EQ(GET(seen), i);
    }
    rocshmem_barrier_all();
    rocshmem_free(word);
    rocshmem_free(seen);
}

/* Nobody leaves barrier k before everybody has entered it, and its puts are there. */
static void barrier_waits(void (*barrier)(void), bool all_of_them, int rounds)
{
    uint64_t *all = symmetric(sizeof(uint64_t) * (size_t)n_pes), state = (uint64_t)me;
    for (uint64_t i = 1; i <= (uint64_t)times(rounds); i++) {
        for (int pe = 0; pe < n_pes; pe++) rocshmem_putmem_nbi(&all[me], &i, sizeof i, pe);
        dawdle(&state);
        barrier();
        uint64_t *entered = copy_of(all, sizeof(uint64_t) * (size_t)n_pes);
        for (int pe = 0; pe < n_pes; pe++)
            if ((all_of_them || is_near(pe)) && (entered[pe] < i || entered[pe] > i + 1)) {
                FAIL("after barrier %llu PE %d is at %llu", (unsigned long long)i, pe,
                     (unsigned long long)entered[pe]);
                break;
            }
        free(entered);
    }
    rocshmem_barrier_all();
    rocshmem_free(all);
}

static void barrier_world(void)
{
    rocshmem_barrier(ROCSHMEM_TEAM_WORLD);
}

static void barrier_shared(void)
{
    rocshmem_barrier(ROCSHMEM_TEAM_SHARED);
}

static void barrier_all(void)
{
    barrier_waits(rocshmem_barrier_all, true, ROUNDS);
}

static void barrier_on_world(void)
{
    barrier_waits(barrier_world, true, ROUNDS / 2);
}

static void barrier_on_shared(void)
{
    barrier_waits(barrier_shared, false, ROUNDS / 2);
}

/* A sync orders local stores: what this PE stored into its own memory is what others then get. */
static void sync_orders_stores(void)
{
    uint64_t *word = symmetric(64);
    for (uint64_t i = 1; i <= (uint64_t)times(500); i++) {
        SET(word, i * 10 + (uint64_t)me);
        rocshmem_sync_all();
        CHECK_EQ(rocshmem_uint64_g(word, right()), i * 10 + (uint64_t)right());
        CHECK_EQ(rocshmem_team_sync(ROCSHMEM_TEAM_WORLD), 0);
    }
    rocshmem_free(word);
}

static void mixed_barriers(void)
{
    uint64_t *word = symmetric(64);
    for (uint64_t i = 1; i <= (uint64_t)times(300); i++) {
        rocshmem_uint64_atomic_inc(word, right());
        switch (i % 4) {
        case 0:
            rocshmem_barrier_all();
            break;
        case 1:
            rocshmem_barrier(ROCSHMEM_TEAM_WORLD);
            break;
        case 2:
            rocshmem_quiet();
            rocshmem_sync_all();
            break;
        default:
            rocshmem_quiet();
            CHECK_EQ(rocshmem_team_sync(ROCSHMEM_TEAM_SHARED), 0);
            if (n_near < n_pes) rocshmem_sync_all(); /* the left PE may be on another host */
        }
        uint64_t now = GET(word);
        CHECK(now == i || now == i + 1);
    }
    rocshmem_barrier_all();
    rocshmem_free(word);
}

static void wrong_team(void)
{
    rocshmem_team_t unknown = (rocshmem_team_t)(intptr_t)123456;
    EXPECT_ERROR(rocshmem_barrier(ROCSHMEM_TEAM_INVALID), ROCSHMEMX_E_ARG, "rocshmem_barrier", "team",
                 "INVALID");
    EXPECT_ERROR(rocshmem_barrier(unknown), ROCSHMEMX_E_ARG, "rocshmem_barrier", "team", "123456");
    EXPECT_STATUS(rocshmem_team_sync(ROCSHMEM_TEAM_INVALID), ROCSHMEMX_E_ARG, "rocshmem_team_sync", "team",
                  "INVALID");
    EXPECT_STATUS(rocshmem_team_sync(unknown), ROCSHMEMX_E_ARG, "rocshmem_team_sync", "team", "123456");
    rocshmem_barrier_all();
}

static void alone_calls(void)
{
    for (int i = 0; i < 100; i++) { /* without anything to order */
        rocshmem_fence();
        rocshmem_quiet();
        rocshmem_ctx_fence(ROCSHMEM_CTX_DEFAULT);
        rocshmem_ctx_quiet(ROCSHMEM_CTX_DEFAULT);
    }
}

static const struct test_case order_cases[] = {
    {"fence_orders_a_value_before_its_flag", fence_orders, 0},
    {"fence_orders_nbi_puts_before_a_flag", fence_orders_nbi, 0},
    {"quiet_makes_an_nbi_put_visible", quiet_completes, 0},
    {"nobody_leaves_barrier_all_before_everybody_entered", barrier_all, 0},
    {"nobody_leaves_a_barrier_of_world_before_everybody_entered", barrier_on_world, 0},
    {"nobody_leaves_a_barrier_of_shared_before_everybody_entered", barrier_on_shared, 0},
    {"sync_orders_local_stores", sync_orders_stores, 0},
    {"barriers_and_syncs_of_world_and_shared_mix", mixed_barriers, 0},
    {"barrier_and_sync_of_no_team_name_the_argument", wrong_team, 0},
    {"fence_and_quiet_with_nothing_to_order_are_fine", alone_calls, 0},
};
CHAPTER(order);
