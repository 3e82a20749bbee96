/* SPDX-License-Identifier: MIT
 *
 * Blocking collectives of PEs that are threads, against what they should give. Each runs with 1 to 8 PEs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "pes.h"
#include "pgas/collective.h"

#define HEAP ((size_t)1 << 18)
#define SOURCE 0
#define DEST (HEAP / 2)

static int broadcast(struct rs_team *team, void *dest, const void *source, size_t n, int root)
{
    struct rs_signature s = pes_call(team, RS_CALL_BROADCASTMEM, RS_KIND_BROADCAST, n, (uint64_t)root, 0);
    return rs_collective_broadcast(team, &s, dest, source, n, root);
}
static int alltoall(struct rs_team *team, void *dest, const void *source, size_t n)
{
    struct rs_signature s = pes_call(team, RS_CALL_ALLTOALLMEM, RS_KIND_ALLTOALL, n, 0, 0);
    return rs_collective_alltoall(team, &s, dest, source, n);
}
static int fcollect(struct rs_team *team, void *dest, const void *source, size_t n)
{
    struct rs_signature s = pes_call(team, RS_CALL_FCOLLECTMEM, RS_KIND_FCOLLECT, n, 0, 0);
    return rs_collective_fcollect(team, &s, dest, source, n);
}
static int reduce(struct rs_team *team, void *dest, const void *source, size_t n, enum rs_type type, int op)
{
    struct rs_signature s = pes_call(team, RS_CALL_REDUCE, RS_KIND_REDUCE, n, (uint64_t)type, (uint64_t)op);
    return rs_collective_reduce(team, &s, dest, source, n, type, op);
}

static int alltoalls(struct rs_team *team, void *dest, size_t dst, const void *source, size_t sst, size_t n,
                     size_t width)
{
    struct rs_signature s = pes_call(team, RS_CALL_ALLTOALLSMEM, RS_KIND_ALLTOALLS, n, dst, sst);
    struct rs_strided strided = {dest, source, dst * width, sst * width, n, width};
    s.width = width;
    return rs_collective_alltoalls(team, &s, &strided);
}
/* With the room that there is in half a heap. */
static int collect(struct rs_team *team, void *dest, const void *source, size_t n)
{
    struct rs_signature s = pes_call(team, RS_CALL_COLLECTMEM, RS_KIND_COLLECT, 0, 0, 0);
    struct rs_collect c = {dest, source, n, HEAP / 2, true};
    return rs_collective_collect(team, &s, &c);
}
static int reduce_scatter(struct rs_team *team, void *dest, const void *source, size_t n, enum rs_type type,
                          int op)
{
    struct rs_signature s =
        pes_call(team, RS_CALL_REDUCE_SCATTER, RS_KIND_REDUCE_SCATTER, n, (uint64_t)type, (uint64_t)op);
    return rs_collective_reduce_scatter(team, &s, dest, source, n, type, op);
}

/* --- each alone --- */

static void barriers(struct rs_job *job, void *arg)
{
    (void)arg; /* what is stored before a barrier is there for everyone after it */
    for (uint64_t i = 1; i <= 300; i++) {
        uint64_t *mine = (uint64_t *)(void *)pes_at(job, SOURCE);
        *mine = i;
        CHECK(pes_barrier(job->world) == 0);
        for (int pe = 0; pe < job->n_pes; pe++) CHECK(*pes_other(job, pe, mine) == i);
        CHECK(pes_barrier(i % 2 && !job->net ? job->shared : job->world) == 0);
    }
}

static void a_barrier_shows_what_was_stored_before_it(void **state)
{
    (void)state;
    pes_of_shapes(HEAP, 1, 8, barriers, NULL);
}

static void exchanges(struct rs_job *job, void *arg)
{
    (void)arg;
    for (size_t n = 1; n <= RS_INLINE_NBYTES; n += 37) {
        unsigned char mine[RS_INLINE_NBYTES], all[PES_MOST * RS_INLINE_NBYTES];
        memset(mine, job->my_pe + (int)n, n);
        struct rs_signature s = pes_call(job->world, RS_CALL_MALLOC, RS_KIND_MALLOC, n, 8, 0);
        CHECK(rs_collective_exchange(job->world, &s, mine, n, all) == 0);
        for (int pe = 0; pe < job->n_pes; pe++)
            for (size_t k = 0; k < n; k++) CHECK(all[(size_t)pe * n + k] == (unsigned char)(pe + (int)n));
    }
}

static void an_exchange_gives_everyone_everything_in_order(void **state)
{
    (void)state;
    pes_of_shapes(HEAP, 1, 8, exchanges, NULL);
}

/* The root does not wait: the ring is what slows it down. Which PE is slow changes. */
static void broadcasts_in_a_row(struct rs_job *job, void *arg)
{
    size_t nbytes = *(const size_t *)arg;
    unsigned char *source = pes_at(job, SOURCE), *dest = pes_at(job, DEST);
    for (int i = 0; i < 240; i++) {
        int root = i < 120 ? 0 : i % job->n_pes;
        if (job->my_pe == root) memset(source, i, nbytes);
        if ((i + job->my_pe) % 40 == 0) rs_wait_sleep_ns(200000);
        CHECK(broadcast(job->world, dest, source, nbytes, root) == 0);
        for (size_t k = 0; k < nbytes; k++) CHECK(dest[k] == (unsigned char)i);
    }
}

static void many_broadcasts_in_a_row_do_not_overrun_the_ring(void **state)
{
    (void)state;
    size_t sizes[] = {1, RS_INLINE_NBYTES, RS_INLINE_NBYTES + 1};
    for (int i = 0; i < 3; i++) pes_of_shapes(HEAP, 1, 8, broadcasts_in_a_row, &sizes[i]);
}

static void broadcasts_in_place(struct rs_job *job, void *arg)
{
    (void)arg;
    for (size_t nbytes = 0; nbytes < 3000; nbytes += 500) {
        unsigned char *both = pes_at(job, SOURCE);
        int root = job->n_pes - 1;
        memset(both, job->my_pe == root ? 7 : 1, 4096);
        CHECK(broadcast(job->world, both, both, nbytes, root) == 0);
        for (size_t k = 0; k < 4096; k++) CHECK(both[k] == (k < nbytes || job->my_pe == root ? 7 : 1));
    }
}

static void a_broadcast_may_be_in_place_and_of_nothing(void **state)
{
    (void)state;
    pes_of_shapes(HEAP, 1, 8, broadcasts_in_place, NULL);
}

static unsigned char block_byte(int from, int to, size_t k)
{
    return (unsigned char)(from * 31 + to * 7 + (int)k);
}

static void blocks_of_many_sizes(struct rs_job *job, void *arg)
{
    (void)arg;
    static const size_t sizes[] = {0, 1, 8, 14, 15, 56, 112, 113, 1000, 4096};
    unsigned char *source = pes_at(job, SOURCE), *dest = pes_at(job, DEST);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        for (int to = 0; to < job->n_pes; to++)
            for (size_t k = 0; k < n; k++) source[(size_t)to * n + k] = block_byte(job->my_pe, to, k);
        dest[(size_t)job->n_pes * n] = 99;
        CHECK(alltoall(job->world, dest, source, n) == 0);
        for (int from = 0; from < job->n_pes; from++)
            for (size_t k = 0; k < n; k++)
                CHECK(dest[(size_t)from * n + k] == block_byte(from, job->my_pe, k));
        CHECK(dest[(size_t)job->n_pes * n] == 99);
        CHECK(fcollect(job->world, dest, source, n) == 0);
        for (int from = 0; from < job->n_pes; from++)
            for (size_t k = 0; k < n; k++) CHECK(dest[(size_t)from * n + k] == block_byte(from, 0, k));
        CHECK(dest[(size_t)job->n_pes * n] == 99);
    }
}

static void alltoall_and_fcollect_put_each_block_in_its_place(void **state)
{
    (void)state;
    pes_of_shapes(HEAP, 1, 8, blocks_of_many_sizes, NULL);
}

static void strided_blocks(struct rs_job *job, void *arg)
{
    (void)arg;
    static const size_t counts[] = {0, 1, 3, 7, 100}, strides[] = {1, 2, 5}, widths[] = {1, 2, 4, 8, 16};
    unsigned char *source = pes_at(job, SOURCE), *dest = pes_at(job, DEST);
    for (size_t i = 0; i < 5 * 3 * 3 * 5; i++) {
        size_t n = counts[i % 5], dst = strides[i / 5 % 3], sst = strides[i / 15 % 3], width = widths[i / 45];
        size_t all = n * (size_t)job->n_pes;
        memset(dest, 99, all * dst * width + 1);
        for (size_t k = 0; k < all * width; k++)
            source[k / width * sst * width + k % width] = block_byte(job->my_pe, 0, k);
        CHECK(alltoalls(job->world, dest, dst, source, sst, n, width) == 0);
        for (size_t k = 0; k < all * dst * width; k++) {
            size_t element = k / width / dst, block = n * width * (size_t)job->my_pe;
            bool gap = k / width % dst != 0;
            int from = n ? (int)(element / n) : 0;
            CHECK(dest[k] == (gap ? 99 : block_byte(from, 0, block + (element % n) * width + k % width)));
        }
        CHECK(dest[all * dst * width] == 99);
        CHECK(pes_barrier(job->world) == 0);
    }
}

static void strided_alltoall_touches_the_elements_and_no_gap(void **state)
{
    (void)state;
    pes_of_shapes(HEAP, 1, 8, strided_blocks, NULL);
}

/* What PE pe brings in a round: none, few that fit a line, many, mixed. */
static size_t nbytes_of(int pe, int round)
{
    static const size_t sizes[] = {0, 1, 96, 97, 5000, 3, 0, 1000};
    return round == 0 ? 0 : round == 1 ? (size_t)pe * 5 : sizes[(pe * 3 + round) % 8];
}

static void collects(struct rs_job *job, void *arg)
{
    (void)arg;
    unsigned char *source = pes_at(job, SOURCE), *dest = pes_at(job, DEST);
    for (int round = 0; round < 12; round++) {
        size_t n = nbytes_of(job->my_pe, round), at = 0;
        for (size_t k = 0; k < n; k++) source[k] = block_byte(job->my_pe, round, k);
        for (int pe = 0; pe < job->n_pes; pe++) at += nbytes_of(pe, round);
        dest[at] = 99;
        CHECK(collect(job->world, dest, source, n) == 0);
        CHECK(dest[at] == 99);
        at = 0;
        for (int pe = 0; pe < job->n_pes; at += nbytes_of(pe, round), pe++)
            for (size_t k = 0; k < nbytes_of(pe, round); k++) CHECK(dest[at + k] == block_byte(pe, round, k));
    }
}

static void collect_joins_pieces_of_any_size(void **state)
{
    (void)state;
    pes_of_shapes(HEAP, 1, 8, collects, NULL);
}

/* One PE has too little room, then one a bad source: all are told, nobody writes, and the next call works. */
static void collects_that_fail(struct rs_job *job, void *arg)
{
    (void)arg;
    unsigned char *source = pes_at(job, SOURCE), *dest = pes_at(job, DEST);
    struct rs_signature s = pes_call(job->world, RS_CALL_COLLECTMEM, RS_KIND_COLLECT, 0, 0, 0);
    int odd = job->n_pes - 1;
    char name[32];
    snprintf(name, sizeof name, "on PE %d", odd);
    memset(source, 3, 1000);
    memset(dest, 99, 8000);
    for (size_t n = 10; n <= 1000; n *= 10) {
        size_t total = n * (size_t)job->n_pes;
        struct rs_collect c = {dest, source, n, job->my_pe == odd ? total - 1 : total, true};
        CHECK(rs_collective_collect(job->world, &s, &c) == RS_E_ARG);
        CHECK(strstr(rs_error_slot()->text, name) && strstr(rs_error_slot()->text, "has room for"));
        CHECK(rs_error_slot()->pe == odd);
        c.room_nbytes = total;
        c.source_is_symmetric = job->my_pe != odd;
        CHECK(rs_collective_collect(job->world, &s, &c) == RS_E_ARG);
        CHECK(strstr(rs_error_slot()->text, name) &&
              strstr(rs_error_slot()->text, "source is not symmetric"));
        for (size_t k = n > 10 ? 10 * (size_t)job->n_pes : 0; k < total; k++) CHECK(dest[k] == 99);
        c.nbytes = job->my_pe == odd ? 0 : n; /* a source that nobody needs, unless to find others' by it */
        CHECK(rs_collective_collect(job->world, &s, &c) == (n > 96 && odd > 0 ? RS_E_ARG : 0));
    }
    CHECK(collect(job->world, dest, source, 8) == 0);
}

static void a_collect_that_one_pe_cannot_do_is_an_error_on_all_that_names_it(void **state)
{
    (void)state;
    pes_of_shapes(HEAP, 1, 8, collects_that_fail, NULL);
}

/* --- what is not as it should be --- */

struct difference {
    int odd_pe, before;
    _Atomic int n_found;
};

static void one_calls_another(struct rs_job *job, void *arg)
{
    struct difference *d = arg;
    unsigned char mine[16] = {0}, *p = pes_at(job, DEST);
    int rc = 0; /* a PE that lags behind may hear of the mismatch before it comes to it */
    for (int i = 0; i < d->before && rc == 0; i++)
        rc = i % 3 ? broadcast(job->world, p, mine, 8, i % job->n_pes) : pes_barrier(job->world);
    for (int i = 0; rc == 0; i++) { /* nobody gets further than the ring is long */
        CHECK(i < RS_RING);
        rc = job->my_pe == d->odd_pe ? broadcast(job->world, p, mine, 12, 1)
                                     : broadcast(job->world, p, mine, 8, 1);
    }
    CHECK(rc == RS_E_MISMATCH);
    const char *text = rs_error_slot()->text;
    CHECK(strstr(text, "rocshmem_broadcastmem(team world, 12 bytes, root 1)"));
    CHECK(strstr(text, "rocshmem_broadcastmem(team world, 8 bytes, root 1)"));
    CHECK(strstr(text, "collective calls differ: PE "));
    char number[40];
    snprintf(number, sizeof number, "(collective #%d of the team)", d->before + 1);
    CHECK(strstr(text, number));
    CHECK(pes_barrier(job->world) == RS_E_MISMATCH); /* it stays broken */
    atomic_fetch_add(&d->n_found, 1);
}

static void a_mismatch_is_found_by_everyone_and_names_both_calls(void **state)
{
    (void)state;
    for (int n = 2; n <= 8; n += 3)
        for (int k = 0; k < 6; k++) {
            for (int shape = 0; shape < PES_SHAPES; shape++) {
                struct difference d = {.odd_pe = k % n, .before = k * 9};
                uint64_t hosts[PES_MOST];
                struct pes pes;
                if (!pes_shape(shape, n, hosts)) continue;
                pes_create_on(&pes, hosts, n, 2, HEAP);
                pes_run(&pes, one_calls_another, &d);
                pes_destroy(&pes);
                assert_int_equal(d.n_found, n);
            }
        }
}

/* The slots that PE 0 and 2 have for their team were in teams with other calls before. */
static void differ_in_a_later_team(struct rs_job *job, void *arg)
{
    (void)arg;
    struct rs_team *teams[2] = {NULL, NULL}, *later = NULL;
    for (int k = 0; k < 2; k++)
        CHECK(rs_team_split(job->world, RS_CALL_TEAM_SPLIT_STRIDED, k, 1, 2, &teams[k]) == 0);
    for (int i = 0; i < 5; i++) {
        if (teams[0]) CHECK(pes_barrier(teams[0]) == 0);
        if (teams[1]) CHECK(fcollect(teams[1], pes_at(job, DEST), pes_at(job, SOURCE), 4) == 0);
    }
    for (int k = 0; k < 2; k++)
        if (teams[k]) rs_team_destroy(teams[k]);
    CHECK(pes_barrier(job->world) == 0);
    CHECK(rs_team_split(job->world, RS_CALL_TEAM_SPLIT_STRIDED, 0, 2, 2, &later) == 0);
    if (!later) return;
    CHECK(later->slot == 2 && later->sequence > 5);
    CHECK(pes_barrier(later) == 0);
    CHECK(alltoall(later, pes_at(job, DEST), pes_at(job, SOURCE), job->my_pe ? 2 : 3) == RS_E_MISMATCH);
    CHECK(strstr(rs_error_slot()->text, "rocshmem_alltoallmem(team 4, 2 bytes)"));
    CHECK(strstr(rs_error_slot()->text, "rocshmem_alltoallmem(team 4, 3 bytes)"));
    CHECK(strstr(rs_error_slot()->text, "(collective #2 of the team)"));
}

static void a_mismatch_in_a_later_team_does_not_name_calls_of_earlier_ones(void **state)
{
    (void)state;
    struct pes pes;
    pes_create(&pes, 3, 6, HEAP);
    pes_run(&pes, differ_in_a_later_team, NULL);
    pes_destroy(&pes);
}

static void one_stays_away(struct rs_job *job, void *arg)
{
    (void)arg;
    if (job->my_pe == 1) return;
    job->config.timeout_ns = 30000000;
    CHECK(pes_barrier(job->world) == RS_E_TIMEOUT);
    CHECK(strstr(rs_error_slot()->text, "rocshmem_barrier(team world) #1, waits for PE 1"));
    CHECK(pes_barrier(job->world) == RS_E_BROKEN);
    CHECK(strstr(rs_error_slot()->text, "half done because it was out of time"));
}

static void who_is_waited_for_is_said_when_time_is_out(void **state)
{
    (void)state;
    for (int shape = 0; shape < 2; shape++) {
        uint64_t hosts[PES_MOST];
        struct pes pes;
        assert_true(pes_shape(shape, 2, hosts));
        pes_create_on(&pes, hosts, 2, 2, HEAP);
        pes_run(&pes, one_stays_away, NULL);
        pes_destroy(&pes);
    }
}

/* --- everything mixed --- */

static void mixed_step(struct rs_job *job, struct rs_team *team, uint64_t what, uint64_t step)
{
    unsigned char *source = pes_at(job, SOURCE), *dest = pes_at(job, DEST);
    size_t n = what >> 8 & 1 ? 200 : 8;
    int root = (int)((what >> 16) % (uint64_t)job->n_pes), kind = (int)(what % 9);
    uint64_t mine = step + (uint64_t)job->my_pe, got[PES_MOST * 25];
    memcpy(source, &mine, 8);
    if (what >> 24 & 1 && (what >> 32) % 16 == (uint64_t)job->my_pe) rs_wait_sleep_ns(20000);
    switch (kind) {
    case 0:
        CHECK(pes_barrier(team) == 0);
        return;
    case 1:
    case 2:
        CHECK(broadcast(team, dest, source, n, root) == 0);
        memcpy(got, dest, 8);
        CHECK(got[0] == step + (uint64_t)root);
        return;
    case 3:
        CHECK(fcollect(team, dest, source, n) == 0);
        for (size_t pe = 0; pe < (size_t)job->n_pes; pe++) {
            memcpy(got, dest + pe * n, 8);
            CHECK(got[0] == step + pe);
        }
        return;
    case 4:
        for (size_t pe = 0; pe < (size_t)job->n_pes; pe++) memcpy(source + pe * n, &mine, 8);
        CHECK(alltoall(team, dest, source, n) == 0);
        for (size_t pe = 0; pe < (size_t)job->n_pes; pe++) {
            memcpy(got, dest + pe * n, 8);
            CHECK(got[0] == step + pe);
        }
        return;
    case 5:
        for (size_t pe = 0; pe < (size_t)job->n_pes; pe++) memcpy(source + pe * n * 2, &mine, 8);
        CHECK(alltoalls(team, dest, 1, source, 2, n / 8, 8) == 0);
        for (size_t pe = 0; pe < (size_t)job->n_pes; pe++) {
            memcpy(got, dest + pe * n, 8);
            CHECK(got[0] == step + pe);
        }
        return;
    case 6: /* the root brings nothing */
        CHECK(collect(team, dest, source, job->my_pe == root ? 0 : n) == 0);
        for (size_t pe = 0, at = 0; pe < (size_t)job->n_pes; pe++) {
            if ((int)pe == root) continue;
            memcpy(got, dest + at, 8);
            CHECK(got[0] == step + pe);
            at += n;
        }
        return;
    case 7:
        for (size_t pe = 0; pe < (size_t)job->n_pes; pe++) memcpy(source + pe * n, &mine, 8);
        CHECK(reduce_scatter(team, what >> 48 & 1 ? source : dest, source, n / 8, RS_TYPE_uint64,
                             ROCSHMEM_MAX) == 0);
        memcpy(got, what >> 48 & 1 ? source : dest, 8);
        CHECK(got[0] == step + (uint64_t)job->n_pes - 1);
        return;
    default:
        CHECK(reduce(team, dest, source, n / 8, RS_TYPE_uint64, ROCSHMEM_MAX) == 0);
        memcpy(got, dest, 8);
        CHECK(got[0] == step + (uint64_t)job->n_pes - 1);
    }
}

/* A member reuses source after a small broadcast at once, but another may not have pulled yet what lies there
 * only after a large one: that one is over for all when it returns. dest is written by its owner alone, but
 * for large reductions, where all have come before anyone writes. */
static void mixture(struct rs_job *job, void *arg)
{
    uint64_t seed = 42, steps = *(const uint64_t *)arg;
    for (uint64_t step = 1; step <= steps; step++) {
        uint64_t what = pes_random(&seed); /* the same on all PEs */
        mixed_step(job, what >> 40 & 1 || job->net ? job->world : job->shared, what, step);
    }
}

static void twenty_thousand_mixed_steps_of_two_teams_agree(void **state)
{
    (void)state;
    uint64_t steps = 20000, few = 3000;
    struct pes pes;
    pes_create(&pes, 3, 2, HEAP);
    pes_run(&pes, mixture, &steps);
    pes_destroy(&pes);
    for (int shape = 0; shape < PES_SHAPES; shape++) {
        uint64_t hosts[PES_MOST];
        if (!pes_shape(shape, 8, hosts)) continue;
        pes_create_on(&pes, hosts, 8, 2, HEAP);
        pes_run(&pes, mixture, &few);
        pes_destroy(&pes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_shows_what_was_stored_before_it),
        cmocka_unit_test(an_exchange_gives_everyone_everything_in_order),
        cmocka_unit_test(many_broadcasts_in_a_row_do_not_overrun_the_ring),
        cmocka_unit_test(a_broadcast_may_be_in_place_and_of_nothing),
        cmocka_unit_test(alltoall_and_fcollect_put_each_block_in_its_place),
        cmocka_unit_test(strided_alltoall_touches_the_elements_and_no_gap),
        cmocka_unit_test(collect_joins_pieces_of_any_size),
        cmocka_unit_test(a_collect_that_one_pe_cannot_do_is_an_error_on_all_that_names_it),
        cmocka_unit_test(a_mismatch_is_found_by_everyone_and_names_both_calls),
        cmocka_unit_test(a_mismatch_in_a_later_team_does_not_name_calls_of_earlier_ones),
        cmocka_unit_test(who_is_waited_for_is_said_when_time_is_out),
        cmocka_unit_test(twenty_thousand_mixed_steps_of_two_teams_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
