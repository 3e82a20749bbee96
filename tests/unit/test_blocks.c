/* SPDX-License-Identifier: MIT
 *
 * The allocator against a map of bytes that knows nothing of ranges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "pes.h"
#include "pgas/blocks.h"

#define HEAP 4096

struct model {
    unsigned char taken[HEAP];
    uint64_t largest, free_nbytes, ranges;
};

static void model_look(struct model *model)
{
    uint64_t run = 0;
    model->largest = model->free_nbytes = model->ranges = 0;
    for (size_t i = 0; i < HEAP; i++) {
        run = model->taken[i] ? 0 : run + 1;
        if (run == 1) model->ranges++;
        if (run) model->free_nbytes++;
        if (run > model->largest) model->largest = run;
    }
}

static uint64_t model_take(struct model *model, uint64_t nbytes, uint64_t align)
{
    for (uint64_t at = 0; at + nbytes <= HEAP; at += align)
        if (!memchr(model->taken + at, 1, nbytes)) {
            memset(model->taken + at, 1, nbytes);
            return at;
        }
    return RS_NO_OFFSET;
}

/* Ranges are sorted, apart, and never neighbours. */
static void is_in_order(const struct rs_blocks *blocks)
{
    for (size_t i = 0; i < blocks->n; i++) {
        assert_true(blocks->free[i].nbytes > 0);
        if (i > 0)
            assert_true(blocks->free[i - 1].offset + blocks->free[i - 1].nbytes < blocks->free[i].offset);
    }
}

static void random_takes_and_gives_do_what_a_map_of_bytes_does(void **state)
{
    (void)state;
    static struct model model;
    struct rs_range held[512];
    size_t n_held = 0;
    uint64_t seed = 1;
    struct rs_blocks blocks;
    memset(&model, 0, sizeof model);
    assert_int_equal(rs_blocks_init(&blocks, HEAP), 0);
    for (int step = 0; step < 6000; step++) {
        bool take = n_held == 0 || (n_held < 512 && pes_random(&seed) % 100 < (step / 500 % 2 ? 35 : 65));
        if (take) {
            uint64_t nbytes = 1 + pes_random(&seed) % (pes_random(&seed) % 8 ? 40 : 700);
            uint64_t align = (uint64_t)1 << pes_random(&seed) % 8,
                     at = rs_blocks_take(&blocks, nbytes, align);
            assert_true(at == model_take(&model, nbytes, align));
            if (at == RS_NO_OFFSET) continue;
            assert_true(at % align == 0);
            held[n_held++] = (struct rs_range){at, nbytes};
        } else {
            size_t i = pes_random(&seed) % n_held;
            assert_int_equal(rs_blocks_give(&blocks, held[i].offset, held[i].nbytes), 0);
            memset(model.taken + held[i].offset, 0, held[i].nbytes);
            held[i] = held[--n_held];
        }
        model_look(&model);
        is_in_order(&blocks);
        assert_true(blocks.n == model.ranges);
        assert_true(rs_blocks_largest(&blocks) == model.largest);
        assert_true(rs_blocks_free_nbytes(&blocks) == model.free_nbytes);
    }
    while (n_held > 0) {
        n_held--;
        assert_int_equal(rs_blocks_give(&blocks, held[n_held].offset, held[n_held].nbytes), 0);
    }
    assert_int_equal(blocks.n, 1);
    assert_true(blocks.free[0].offset == 0 && blocks.free[0].nbytes == HEAP);
    rs_blocks_fini(&blocks);
}

static void what_is_given_back_in_any_order_is_one_range_again(void **state)
{
    (void)state;
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int k = 0; k < 6; k++) {
        struct rs_blocks blocks;
        assert_int_equal(rs_blocks_init(&blocks, 300), 0);
        for (int i = 0; i < 3; i++) assert_true(rs_blocks_take(&blocks, 100, 1) == (uint64_t)i * 100);
        assert_int_equal(blocks.n, 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(rs_blocks_give(&blocks, (uint64_t)orders[k][i] * 100, 100), 0);
        assert_int_equal(blocks.n, 1);
        assert_true(rs_blocks_largest(&blocks) == 300);
        rs_blocks_fini(&blocks);
    }
}

static void a_heap_is_used_to_its_last_byte(void **state)
{
    (void)state;
    struct rs_blocks blocks;
    assert_int_equal(rs_blocks_init(&blocks, 1000), 0);
    assert_true(rs_blocks_take(&blocks, 1001, 1) == RS_NO_OFFSET);
    assert_true(rs_blocks_take(&blocks, 1000, 1) == 0);
    assert_true(rs_blocks_take(&blocks, 1, 1) == RS_NO_OFFSET);
    assert_true(rs_blocks_largest(&blocks) == 0 && rs_blocks_free_nbytes(&blocks) == 0);
    assert_int_equal(rs_blocks_give(&blocks, 0, 1000), 0);
    assert_true(rs_blocks_take(&blocks, 1000, 1) == 0);
    rs_blocks_fini(&blocks);
    assert_int_equal(rs_blocks_init(&blocks, 0), 0);
    assert_true(rs_blocks_take(&blocks, 1, 1) == RS_NO_OFFSET);
    rs_blocks_fini(&blocks);
    rs_blocks_fini(&blocks); /* zeroed is fine */
}

static void sizes_and_alignments_near_the_end_of_numbers_find_nothing(void **state)
{
    (void)state;
    struct rs_blocks blocks;
    assert_int_equal(rs_blocks_init(&blocks, UINT64_MAX - 1), 0);
    assert_true(rs_blocks_take(&blocks, 5, 1) == 0);
    assert_true(rs_blocks_take(&blocks, UINT64_MAX, 1) == RS_NO_OFFSET);
    assert_true(rs_blocks_take(&blocks, UINT64_MAX - 5, 1) == RS_NO_OFFSET);
    assert_true(rs_blocks_take(&blocks, UINT64_MAX - 6, 256) == RS_NO_OFFSET);
    uint64_t high = rs_blocks_take(&blocks, 16, (uint64_t)1 << 63);
    assert_true(high == (uint64_t)1 << 63);
    assert_true(rs_blocks_take(&blocks, 16, (uint64_t)1 << 63) == RS_NO_OFFSET); /* rounding up wraps */
    assert_int_equal(rs_blocks_give(&blocks, high, 16), 0);
    assert_int_equal(rs_blocks_give(&blocks, 0, 5), 0);
    assert_int_equal(blocks.n, 1);
    rs_blocks_fini(&blocks);
}

static void an_aligned_block_leaves_what_is_before_it_usable(void **state)
{
    (void)state;
    struct rs_blocks blocks;
    assert_int_equal(rs_blocks_init(&blocks, 1024), 0);
    assert_true(rs_blocks_take(&blocks, 10, 1) == 0);
    assert_true(rs_blocks_take(&blocks, 100, 512) == 512);
    assert_int_equal(blocks.n, 2);
    assert_true(rs_blocks_take(&blocks, 502, 1) == 10);
    assert_true(rs_blocks_take(&blocks, 412, 4) == 612);
    assert_int_equal(blocks.n, 0);
    rs_blocks_fini(&blocks);
}

static void equal_calls_give_equal_offsets_and_the_list_grows(void **state)
{
    (void)state;
    struct rs_blocks a, b;
    assert_int_equal(rs_blocks_init(&a, 1 << 20), 0);
    assert_int_equal(rs_blocks_init(&b, 1 << 20), 0);
    uint64_t offsets[2000];
    for (int i = 0; i < 2000; i++) {
        offsets[i] = rs_blocks_take(&a, 100, 4);
        assert_true(offsets[i] == rs_blocks_take(&b, 100, 4));
    }
    for (int i = 0; i < 2000; i += 2) { /* 1000 ranges: the first list has room for 64 */
        assert_int_equal(rs_blocks_give(&a, offsets[i], 100), 0);
        assert_int_equal(rs_blocks_give(&b, offsets[i], 100), 0);
    }
    assert_true(a.n >= 1000 && a.n == b.n);
    assert_memory_equal(a.free, b.free, a.n * sizeof *a.free);
    for (int i = 0; i < 300; i++) assert_true(rs_blocks_take(&a, 60, 8) == rs_blocks_take(&b, 60, 8));
    is_in_order(&a);
    rs_blocks_fini(&a);
    rs_blocks_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_takes_and_gives_do_what_a_map_of_bytes_does),
        cmocka_unit_test(what_is_given_back_in_any_order_is_one_range_again),
        cmocka_unit_test(a_heap_is_used_to_its_last_byte),
        cmocka_unit_test(sizes_and_alignments_near_the_end_of_numbers_find_nothing),
        cmocka_unit_test(an_aligned_block_leaves_what_is_before_it_usable),
        cmocka_unit_test(equal_calls_give_equal_offsets_and_the_list_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
