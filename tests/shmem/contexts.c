/* SPDX-License-Identifier: MIT
 *
 * Communication contexts: all options, many at once, order and completion on each, destruction that completes.
 */
#include "check.h"

static long words[64], flag;

static void default_context(void)
{
    shmem_ctx_long_p(SHMEM_CTX_DEFAULT, &words[0], 100 + me, right());
    shmem_ctx_fence(SHMEM_CTX_DEFAULT);
    shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
    shmem_barrier_all();
    CHECK_EQ(words[0], 100 + left());
    CHECK_EQ(shmem_ctx_long_g(SHMEM_CTX_DEFAULT, &words[0], right()), 100 + me);
    shmem_barrier_all();
}

/* Options are hints of how it will be used: a context works with any of them. */
static void all_options(void)
{
    static const long options[] = {SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE};
    for (int set = 0; set < 8; set++) {
        long asked = (set & 1 ? options[0] : 0) | (set & 2 ? options[1] : 0) | (set & 4 ? options[2] : 0);
        shmem_ctx_t ctx;
        int rc = shmem_ctx_create(asked, &ctx);
        CHECK_EQ(rc, 0);
        if (rc) continue;
        shmem_ctx_long_atomic_add(ctx, &words[1], set + 1, right());
        shmem_ctx_long_p(ctx, &words[2], 10 * set + me, right());
        shmem_ctx_fence(ctx);
        shmem_ctx_quiet(ctx);
        shmem_quiet(); /* without NOSTORE: what that option leaves open */
        CHECK_EQ(shmem_ctx_long_g(ctx, &words[2], right()), 10 * set + me);
        shmem_ctx_destroy(ctx);
        shmem_barrier_all();
    }
    CHECK_EQ(words[1], 36);
}

/* Destroying a context completes what is under way on it. */
static void destroying_completes(void)
{
    static long source[1000], dest[1000], got[1000];
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 1000; i++) source[i] = round * 1000 + me;
        shmem_barrier_all();
        shmem_ctx_t ctx;
        CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
        shmem_ctx_long_put_nbi(ctx, dest, source, 1000, right());
        shmem_ctx_long_get_nbi(ctx, got, source, 1000, right());
        shmem_ctx_destroy(ctx);
        long wrong = 0;
        for (int i = 0; i < 1000; i++) wrong += got[i] != round * 1000 + right();
        shmem_sync_all();
        for (int i = 0; i < 1000; i++) wrong += dest[i] != round * 1000 + left();
        CHECK_EQ(wrong, 0);
        shmem_barrier_all();
    }
}

/* Several live at once, and each has its own order; their numbers need not be small. */
static void many_at_once(void)
{
    enum { MANY = 32 };
    shmem_ctx_t all[MANY];
    int n = 0;
    while (n < MANY && shmem_ctx_create(0, &all[n]) == 0) n++;
    CHECK(n >= 8);
    for (int i = 0; i < n; i++) shmem_ctx_long_p(all[i], &words[10 + i], 1000 * i + me, right());
    for (int i = 0; i < n; i++) {
        shmem_ctx_quiet(all[i]);
        CHECK_EQ(shmem_ctx_long_g(all[i], &words[10 + i], right()), 1000 * i + me);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) CHECK(all[i] != all[k]);
    for (int i = n; i-- > 0;) shmem_ctx_destroy(all[(i * 7) % n]); /* 7 and 32 have no common factor */
    shmem_barrier_all();
    for (int i = 0; i < n; i++) CHECK_EQ(words[10 + i], 1000 * i + left());
    shmem_barrier_all();
}

static void created_and_destroyed_often(void)
{
    for (int i = 0; i < 500; i++) {
        shmem_ctx_t ctx;
        int rc = shmem_ctx_create(i % 2 ? SHMEM_CTX_PRIVATE : 0, &ctx);
        CHECK_EQ(rc, 0);
        if (rc) break;
        shmem_ctx_long_atomic_inc(ctx, &words[3], right());
        shmem_ctx_destroy(ctx);
    }
    shmem_barrier_all();
    CHECK_EQ(words[3], 500);
}

/* A fence on a context orders what was begun on it. */
static void a_fence_orders_its_context(void)
{
    static long data[50];
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    for (long round = 1; round <= 30; round++) {
        long source[50];
        for (int i = 0; i < 50; i++) source[i] = round;
        shmem_ctx_long_put(ctx, data, source, 50, right());
        shmem_ctx_fence(ctx);
        shmem_ctx_long_atomic_set(ctx, &flag, round, right());
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
        long wrong = 0;
        for (int i = 0; i < 50; i++) wrong += data[i] != round;
        CHECK_EQ(wrong, 0);
        shmem_ctx_quiet(ctx);
        shmem_barrier_all();
    }
    shmem_ctx_destroy(ctx);
}

int main(void)
{
    check_begin("contexts");
    check_case("default_context");
    default_context();
    check_case("all_options");
    all_options();
    check_case("destroying_completes");
    destroying_completes();
    check_case("many_at_once");
    many_at_once();
    check_case("created_and_destroyed_often");
    created_and_destroyed_often();
    check_case("a_fence_orders_its_context");
    a_fence_orders_its_context();
    return check_end();
}
