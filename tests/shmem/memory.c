/* SPDX-License-Identifier: MIT
 *
 * The symmetric heap: allocation, alignment, zeroing, growth, reuse, the null pointer for size 0, and the barriers that
 * these calls include.
 */
#include "check.h"

/* Blocks of one call belong together on all PEs: what is put at an offset arrives at that offset. */
static void a_block_is_symmetric(void)
{
    static const size_t sizes[] = {1, 2, 3, 8, 24, 100, 4096, 5000, 1 << 20};
    char *blocks[LENGTH(sizes)];
    for (size_t k = 0; k < LENGTH(sizes); k++) {
        blocks[k] = symmetric(sizes[k]);
        CHECK_EQ((uintptr_t)blocks[k] % sizeof(long), 0);
        for (size_t j = 0; j < k; j++)
            CHECK(blocks[j] + sizes[j] <= blocks[k] || blocks[k] + sizes[k] <= blocks[j]);
    }
    for (size_t k = 0; k < LENGTH(sizes); k++) {
        char value = (char)pattern(me, (int)k, 0);
        shmem_char_p(blocks[k] + sizes[k] - 1, value, right());
    }
    shmem_barrier_all();
    for (size_t k = 0; k < LENGTH(sizes); k++) CHECK_EQ(blocks[k][sizes[k] - 1], pattern(left(), (int)k, 0));
    for (size_t k = 0; k < LENGTH(sizes); k++) shmem_free(blocks[k]);
}

static void any_type_is_aligned(void)
{
    void *a = symmetric(1), *b = symmetric(sizeof(max_align_t));
    CHECK_EQ((uintptr_t)a % _Alignof(max_align_t), 0);
    CHECK_EQ((uintptr_t)b % _Alignof(max_align_t), 0);
    shmem_free(b);
    shmem_free(a);
}

static void alignments(void)
{
    for (size_t align = sizeof(void *); align <= 1 << 16; align *= 2) {
        long *odd = symmetric(24), *block = shmem_align(align, 100);
        CHECK(block != NULL);
        if (!block) continue;
        CHECK_EQ((uintptr_t)block % align, 0);
        block[1] = 0;
        shmem_barrier_all();
        shmem_long_p(block + 1, me + 1, right());
        shmem_barrier_all();
        CHECK_EQ(block[1], left() + 1);
        shmem_free(block);
        shmem_free(odd);
    }
}

static void calloc_zeroes(void)
{
    for (int round = 0; round < 3; round++) { /* the same memory again, dirty */
        unsigned char *block = shmem_calloc(1000, 7);
        CHECK(block != NULL);
        if (!block) return;
        size_t n_set = 0;
        for (size_t i = 0; i < 7000; i++) n_set += block[i] != 0;
        CHECK_EQ(n_set, 0);
        shmem_barrier_all();
        memset(block, 0xff, 7000);
        shmem_free(block);
    }
}

static void realloc_keeps_contents(void)
{
    unsigned char *block = shmem_realloc(NULL, 100);
    CHECK(block != NULL);
    if (!block) return;
    size_t known = 100;
    for (size_t i = 0; i < known; i++) block[i] = (unsigned char)pattern(me, 1, i);
    static const size_t sizes[] = {200, 50, 10000, 10000, 100000, 30, 1000};
    for (size_t k = 0; k < LENGTH(sizes); k++) {
        void *behind = symmetric(64); /* so that it cannot always grow in place */
        block = shmem_realloc(block, sizes[k]);
        CHECK(block != NULL);
        if (!block) return;
        known = known < sizes[k] ? known : sizes[k];
        size_t wrong = 0;
        for (size_t i = 0; i < known; i++) wrong += block[i] != (unsigned char)pattern(me, 1, i);
        CHECK_EQ(wrong, 0);
        shmem_free(behind);
    }
    unsigned char first = shmem_uchar_g(block, right()); /* and it is symmetric still */
    CHECK_EQ(first, pattern(right(), 1, 0));
    shmem_barrier_all();
    CHECK(shmem_realloc(block, 0) == NULL);
}

#if HAVE_1_5
/* Size 0 gives a null pointer, and a null pointer may be freed: without a barrier, so that one PE alone may do it. */
static void nothing(void)
{
    if (me == n_pes - 1) {
        CHECK(shmem_malloc(0) == NULL);
        CHECK(shmem_align(64, 0) == NULL);
        CHECK(shmem_calloc(0, 8) == NULL);
        CHECK(shmem_calloc(8, 0) == NULL);
        CHECK(shmem_realloc(NULL, 0) == NULL);
        CHECK(shmem_malloc_with_hints(0, 0) == NULL);
        shmem_free(NULL);
    }
    shmem_barrier_all();
}

static void hints(void)
{
    static const long all[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
                               SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE};
    for (size_t k = 0; k < LENGTH(all); k++) {
        long *words = shmem_malloc_with_hints(8 * sizeof(long), all[k]);
        CHECK(words != NULL);
        if (!words) continue;
        CHECK_EQ((uintptr_t)words % _Alignof(max_align_t), 0);
        words[7] = 0;
        shmem_barrier_all();
        for (int pe = 0; pe < n_pes; pe++) shmem_long_atomic_add(words + 7, me + 1, pe);
        shmem_barrier_all();
        CHECK_EQ(words[7], (long)n_pes * (n_pes + 1) / 2);
        shmem_free(words);
    }
}
#endif

/* free waits for the puts of all PEs; malloc returns when all have the block. */
static void barriers(void)
{
    for (int round = 0; round < 20; round++) {
        long *flag = symmetric(2 * sizeof(long)), *block = shmem_malloc(sizeof(long));
        if (!block) {
            CHECK(block != NULL);
            break;
        }
        shmem_long_p(block, round * 100 + me, right()); /* at once: the block is there */
        shmem_long_p(flag, round + 1, right());
        shmem_free(block); /* completes what was put before it, on all PEs */
        CHECK_EQ(*flag, round + 1);
        shmem_free(flag);
    }
}

/* Freed memory is used again: more than the heap in total, with some blocks alive in between. */
static void memory_is_reused(void)
{
    for (int round = 0; round < 40; round++) {
        size_t nbytes = (size_t)(1 + round % 5) << 20;
        char *a = shmem_malloc(nbytes), *b = shmem_malloc(nbytes / 2 + 1);
        CHECK(a != NULL);
        CHECK(b != NULL);
        if (!a || !b) return;
        a[nbytes - 1] = b[nbytes / 2] = 1;
        shmem_free(round % 2 ? a : b);
        shmem_free(round % 2 ? b : a);
    }
}

/* What does not fit gives a null pointer on all PEs, and the heap goes on. */
static void too_much(void)
{
    CHECK(shmem_malloc((size_t)1 << 46) == NULL);
    CHECK(shmem_calloc((size_t)1 << 40, (size_t)1 << 40) == NULL); /* the product is beyond size_t */
    CHECK(shmem_align(4096, (size_t)1 << 46) == NULL);
    long *block = symmetric(sizeof(long));
    *block = 4711;
    CHECK(shmem_realloc(block, (size_t)1 << 46) == NULL);
    CHECK_EQ(*block, 4711); /* unchanged, and still ours */
    shmem_free(block);
}

int main(void)
{
    check_begin("memory");
    check_case("a_block_is_symmetric");
    a_block_is_symmetric();
    check_case("any_type_is_aligned");
    any_type_is_aligned();
    check_case("alignments");
    alignments();
    check_case("calloc_zeroes");
    calloc_zeroes();
    check_case("realloc_keeps_contents");
    realloc_keeps_contents();
#if HAVE_1_5
    check_case("nothing");
    nothing();
    check_case("hints");
    hints();
#endif
    check_case("barriers");
    barriers();
    check_case("memory_is_reused");
    memory_is_reused();
    check_case("too_much");
    too_much();
    return check_end();
}
