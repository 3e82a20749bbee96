/* SPDX-License-Identifier: MIT
 *
 * Symmetric allocation, its lifetime, its addresses, and registered buffers.
 */
#include <sys/mman.h>

#include "conformance.h"

static size_t used(void)
{
    size_t nbytes = 0;
    rocshmemx_heap_info(NULL, &nbytes, NULL);
    return nbytes;
}

static size_t largest(void)
{
    size_t nbytes = 0;
    rocshmemx_heap_info(NULL, NULL, &nbytes);
    return nbytes;
}

static void zero_size(void)
{
    CHECK(rocshmem_malloc(0) == NULL);
    CHECK(rocshmem_align(64, 0) == NULL);
    rocshmem_free(NULL);
}

static void malloc_aligned(void)
{
    static const size_t sizes[] = {1, 2, 7, 8, 9, 255, 256, 257, 4095, 4096, 4097, 1 << 20, (4 << 20) + 1};
    unsigned char *p[sizeof sizes / sizeof sizes[0]];
    size_t n = sizeof sizes / sizeof sizes[0];
    for (size_t i = 0; i < n; i++) {
        p[i] = rocshmem_malloc(sizes[i]);
        CHECK(p[i] != NULL);
        CHECK_EQ((uintptr_t)p[i] % 256, 0);
        fill(p[i], sizes[i], i);
    }
    for (size_t i = 0; i < n; i++) CHECK_FILLED(p[i], sizes[i], i);
    for (size_t i = 0; i < n; i++) rocshmem_free(p[i]);
}

static void align_powers(void)
{
    for (size_t alignment = 8; alignment <= (size_t)1 << 20; alignment *= 2) {
        void *small = rocshmem_malloc(8);
        char *p = rocshmem_align(alignment, 100);
        CHECK(p != NULL);
        CHECK_EQ((uintptr_t)p % alignment, 0);
        for (int pe = 0; pe < n_pes; pe++) /* on every PE, so that kernels and typed code may rely on it */
            CHECK_EQ((uintptr_t)rocshmem_ptr(p, pe) % alignment, 0);
        if (p) fill_byte(p, 100, 1);
        rocshmem_free(p);
        rocshmem_free(small);
    }
}

/* Every PE asks for another size, and gets the largest. */
static void largest_of_all(void)
{
    size_t mine = 100 * ((size_t)me + 1), most = 100 * (size_t)n_pes;
    unsigned char *p = rocshmemx_malloc_largest(1024, mine, 1), *out = ordinary(most), *in = ordinary(most);
    CHECK(p != NULL);
    CHECK_EQ((uintptr_t)p % 1024, 0);
    for (size_t i = 0; i < most; i++) in[i] = 1;
    rocshmem_getmem(in, p, most, (me + 1) % n_pes);
    for (size_t i = 0; i < most; i++) {
        if (in[i] != 0) fail_at(__FILE__, __LINE__, "byte %zu is %d, not 0", i, in[i]);
        out[i] = (unsigned char)(i + (size_t)me);
    }
    rocshmem_barrier_all();
    rocshmem_putmem(p, out, most, (me + 1) % n_pes);
    rocshmem_barrier_all();
    rocshmem_getmem(in, p, most, me);
    for (size_t i = 0; i < most; i++)
        CHECK_EQ(in[i], (unsigned char)(i + (size_t)((me + n_pes - 1) % n_pes)));
    rocshmem_barrier_all();
    rocshmem_free(p);
    free(out);
    free(in);
    CHECK(rocshmemx_malloc_largest(0, 0, 0) == NULL); /* by all: nobody takes part */
    EXPECT_NULL(rocshmemx_malloc_largest(24, 64, 0), ROCSHMEMX_E_ARG, "rocshmem_align", "alignment", "24");
}

static void align_bad(void)
{
    EXPECT_NULL(rocshmem_align(0, 64), ROCSHMEMX_E_ARG, "rocshmem_align", "alignment", "0");
    EXPECT_NULL(rocshmem_align(4, 64), ROCSHMEMX_E_ARG, "rocshmem_align", "alignment", "4");
    EXPECT_NULL(rocshmem_align(24, 64), ROCSHMEMX_E_ARG, "rocshmem_align", "alignment", "24");
    EXPECT_NULL(rocshmem_align(300, 64), ROCSHMEMX_E_ARG, "rocshmem_align", "alignment", "300");
    EXPECT_NULL(rocshmem_align(SIZE_MAX, 64), ROCSHMEMX_E_ARG, "rocshmem_align", "alignment");
}

static void calloc_zeroes(void)
{
    unsigned char *p = rocshmem_malloc(100000);
    fill_byte(p, 100000, 0xa5);
    rocshmem_free(p);
    unsigned char *q = rocshmem_calloc(1000, 100);
    CHECK(q == p); /* the same block, so it was dirty */
    /* zeroed on every PE before any of them returns: what a peer writes at once stays */
    unsigned char one = 1;
    rocshmem_putmem(q + me, &one, 1, right());
    rocshmem_barrier_all();
    CHECK_EQ(GET(&q[left()]), 1);
    SET(&q[left()], 0);
    CHECK_BYTES(q, 100000, 0);
    rocshmem_free(q);
}

static void calloc_bad(void)
{
    EXPECT_NULL(rocshmem_calloc(0, 8), ROCSHMEMX_E_ARG, "rocshmem_calloc", "count", "0");
    EXPECT_NULL(rocshmem_calloc(8, 0), ROCSHMEMX_E_ARG, "rocshmem_calloc", "size", "0");
    EXPECT_NULL(rocshmem_calloc(SIZE_MAX / 2, 3), ROCSHMEMX_E_ARG, "rocshmem_calloc", "count", "size");
    EXPECT_NULL(rocshmem_calloc((size_t)1 << 32, (size_t)1 << 32), ROCSHMEMX_E_ARG, "rocshmem_calloc",
                "count");
}

static void free_twice(void)
{
    char *p = rocshmem_malloc(1000);
    rocshmem_free(p);
    EXPECT_ERROR(rocshmem_free(p), ROCSHMEMX_E_ARG, "rocshmem_free", "ptr");
}

/* Is it on this host, and reached by its address? Not where the fake driver's devices don't reach each other's memory, and
 * it is on another one: their number is 2 then. */
static bool is_mapped(int pe)
{
    return is_near(pe) && !(getenv("FAKEGPU_NO_PEER") && pe % 2 != me % 2);
}

static void free_wrong(void)
{
    char on_stack = 0;
    char *p = rocshmem_malloc(1000);
    EXPECT_ERROR(rocshmem_free(p + 8), ROCSHMEMX_E_ARG, "rocshmem_free", "ptr");
    EXPECT_ERROR(rocshmem_free(&on_stack), ROCSHMEMX_E_ARG, "rocshmem_free", "ptr");
    if (n_pes > 1 && is_mapped(right()))
        EXPECT_ERROR(rocshmem_free(rocshmem_ptr(p, right())), ROCSHMEMX_E_ARG, "rocshmem_free", "ptr");
    rocshmem_free(p);
}

static void exhausted(void)
{
    size_t heap = 0;
    char words[4][40];
    CHECK_EQ(rocshmemx_heap_info(&heap, NULL, NULL), 0);
    snprintf(words[0], sizeof words[0], "%zu", heap + 1);
    snprintf(words[1], sizeof words[1], "%zu", largest());
    snprintf(words[2], sizeof words[2], "%zu", heap);
    EXPECT_NULL(rocshmem_malloc(heap + 1), ROCSHMEMX_E_NOMEM, "rocshmem_malloc", words[0], words[1], words[2],
                "ROCSHMEM_HEAP_SIZE");
    EXPECT_NULL(rocshmem_malloc(SIZE_MAX), ROCSHMEMX_E_NOMEM, "rocshmem_malloc", "ROCSHMEM_HEAP_SIZE");
    EXPECT_NULL(rocshmem_malloc(SIZE_MAX - 100), ROCSHMEMX_E_NOMEM, "rocshmem_malloc", "ROCSHMEM_HEAP_SIZE");
    EXPECT_NULL(rocshmem_calloc(2, heap), ROCSHMEMX_E_NOMEM, "rocshmem_calloc", "ROCSHMEM_HEAP_SIZE");
    EXPECT_NULL(rocshmem_align(4096, heap + 1), ROCSHMEMX_E_NOMEM, "rocshmem_align", "ROCSHMEM_HEAP_SIZE");
    void *all = rocshmem_malloc(largest()); /* costs only what is touched */
    CHECK(all != NULL);
    CHECK_EQ(largest() < 256, 1);
    rocshmem_free(all);
    void *p = rocshmem_malloc(10);
    CHECK(p != NULL);
    rocshmem_free(p);
}

static void heap_info(void)
{
    size_t heap = 0, used_before = used(), largest_before = largest();
    CHECK_EQ(rocshmemx_heap_info(NULL, NULL, NULL), 0);
    CHECK_EQ(rocshmemx_heap_info(&heap, NULL, NULL), 0);
    CHECK(heap >= used_before + largest_before);
    void *p = rocshmem_malloc(1000);
    CHECK_EQ(used() - used_before, 1024);
    rocshmem_free(p);
    CHECK_EQ(used(), used_before);
    CHECK_EQ(largest(), largest_before);
}

/* The offsets of a block are equal on all PEs: every PE tells PE 0's view to the others. */
static void same_offsets(void)
{
    uint64_t state = 42, *theirs = symmetric(sizeof(uint64_t) * 2);
    void *live[40] = {0};
    for (int i = 0; i < 400; i++) {
        size_t k = random_below(&state, 40);
        if (live[k]) {
            rocshmem_free(live[k]);
            live[k] = NULL;
        } else {
            size_t nbytes = 1 + random_below(&state, 20000);
            size_t alignment = (size_t)8 << random_below(&state, 10);
            live[k] = random_below(&state, 2) ? rocshmem_malloc(nbytes) : rocshmem_align(alignment, nbytes);
            CHECK(live[k] != NULL);
        }
        if (i % 40 != 0 || !live[k]) continue;
        uint64_t offset = (uint64_t)((char *)live[k] - (char *)theirs);
        rocshmem_uint64_p(theirs, offset, right());
        rocshmem_barrier_all();
        CHECK_EQ(GET(theirs), offset);
        rocshmem_barrier_all();
    }
    for (int k = 0; k < 40; k++) rocshmem_free(live[k]);
    rocshmem_free(theirs);
}

struct block {
    unsigned char *p;
    size_t nbytes;
    uint64_t seed;
};

static void no_overlap(void)
{
    enum { BLOCKS = 200 };
    const int steps = times(2000);
    struct block blocks[BLOCKS] = {{0}};
    uint64_t state = 7;
    for (int step = 0; step < steps; step++) {
        struct block *b = &blocks[random_below(&state, BLOCKS)];
        if (b->p) {
            CHECK_FILLED(b->p, b->nbytes, b->seed);
            rocshmem_free(b->p);
            b->p = NULL;
            continue;
        }
        size_t alignment = (size_t)8 << random_below(&state, 13);
        b->nbytes = 1 + random_below(&state, random_below(&state, 10) ? 1000 : 60000);
        b->seed = (uint64_t)step;
        b->p = rocshmem_align(alignment, b->nbytes);
        CHECK(b->p != NULL);
        CHECK_EQ((uintptr_t)b->p % alignment, 0);
        fill(b->p, b->nbytes, b->seed);
    }
    for (int i = 0; i < BLOCKS; i++) {
        if (!blocks[i].p) continue;
        CHECK_FILLED(blocks[i].p, blocks[i].nbytes, blocks[i].seed);
        rocshmem_free(blocks[i].p);
    }
}

static void many_blocks(void)
{
    enum { MANY = 3000 };
    void **p = ordinary(MANY * sizeof *p);
    for (int i = 0; i < MANY; i++) CHECK((p[i] = rocshmem_malloc(64)) != NULL);
    for (int i = 0; i < MANY; i += 2) rocshmem_free(p[i]);
    for (int i = MANY - 1; i > 0; i -= 2) rocshmem_free(p[i]);
    free(p);
}

static void above_2g(void)
{
    size_t nbytes = ((size_t)1 << 31) + 4097;
    unsigned char *p = rocshmem_malloc(nbytes);
    CHECK(p != NULL);
    if (!p) return;
    unsigned char byte = (unsigned char)(me + 1);
    rocshmem_putmem(p + nbytes - 1, &byte, 1, right());
    rocshmem_barrier_all();
    CHECK_EQ(GET(&p[nbytes - 1]), left() + 1);
    EXPECT_ERROR(rocshmem_putmem(p + nbytes, &byte, 1, right()), ROCSHMEMX_E_ARG, "rocshmem_putmem", "dest");
    rocshmem_free(p);
}

/* Through an address of rocshmem_ptr: by the CPU, or, where it is the GPU's, as the local side of a transfer. */
static void store_at(unsigned char *q, unsigned char value, unsigned char *room)
{
    if (on_host) {
        *q = value;
        return;
    }
    SET(room, value);
    rocshmem_getmem(q, room, 1, me);
}

static void load_at(const unsigned char *q, size_t nbytes, unsigned char *room, unsigned char *out)
{
    if (on_host) {
        memcpy(out, q, nbytes);
        return;
    }
    rocshmem_putmem(room, q, nbytes, me);
    heap_read(out, room, nbytes);
}

static void ptr_reaches(void)
{
    unsigned char *p = symmetric(1000), *room = symmetric(1000), *seen = ordinary((size_t)n_pes);
    CHECK(rocshmem_ptr(p, me) == p);
    CHECK(rocshmem_ptr(p + 77, me) == p + 77);
    for (int pe = 0; pe < n_pes; pe++) {
        unsigned char *q = rocshmem_ptr(p, pe);
        CHECK((q != NULL) == is_mapped(pe));
        if (!q) continue;
        CHECK((unsigned char *)rocshmem_ptr(p + 999, pe) == q + 999);
        store_at(q + me, (unsigned char)(me + 100), room);
    }
    rocshmem_barrier_all();
    for (int pe = 0; pe < n_pes; pe++) CHECK_EQ(GET(&p[pe]), is_mapped(pe) ? pe + 100 : 0);
    for (int pe = 0; pe < n_pes; pe++) {
        unsigned char *q = rocshmem_ptr(p, pe);
        if (q) load_at(q, (size_t)n_pes, room, seen);
        for (int i = 0; q && i < n_pes; i++) CHECK_EQ(seen[i], is_mapped(i) ? i + 100 : 0);
    }
    rocshmem_barrier_all();
    rocshmem_free(p);
    rocshmem_free(room);
    free(seen);
}

static void ptr_null(void)
{
    char on_stack = 0;
    char *p = rocshmem_malloc(100);
    CHECK(rocshmem_ptr(&on_stack, 0) == NULL);
    CHECK(rocshmem_ptr(NULL, 0) == NULL);
    CHECK_EQ(rocshmemx_take_error(NULL), 0);
    EXPECT_ERROR(rocshmem_ptr(p, -1), ROCSHMEMX_E_ARG, "rocshmem_ptr", "pe", "-1");
    EXPECT_ERROR(rocshmem_ptr(p, n_pes), ROCSHMEMX_E_ARG, "rocshmem_ptr", "pe");
    EXPECT_ERROR(rocshmem_ptr(p, INT32_MAX), ROCSHMEMX_E_ARG, "rocshmem_ptr", "pe", "2147483647");
    rocshmem_free(p);
    CHECK(rocshmem_ptr(p, me) == NULL);
}

static void allocation_of(void)
{
    void *base = NULL;
    size_t nbytes = 0;
    char *p = rocshmem_malloc(1000), on_stack = 0;
    CHECK_EQ(rocshmemx_allocation(p, &base, &nbytes), 1);
    CHECK(base == p);
    CHECK_EQ(nbytes, 1000);
    base = NULL;
    CHECK_EQ(rocshmemx_allocation(p + 999, &base, &nbytes), 1);
    CHECK(base == p);
    CHECK_EQ(rocshmemx_allocation(p, NULL, NULL), 1);
    CHECK_EQ(rocshmemx_allocation(p + 1000, &base, &nbytes), 0); /* of the rounding, not of the allocation */
    CHECK_EQ(rocshmemx_allocation(&on_stack, &base, &nbytes), 0);
    CHECK_EQ(rocshmemx_allocation(NULL, &base, &nbytes), 0);
    rocshmem_free(p);
    CHECK_EQ(rocshmemx_allocation(p, &base, &nbytes), 0);
}

static void held_block(void)
{
    void *hold = NULL, *again = NULL;
    unsigned char *room = symmetric(5000), *seen = ordinary(5000);
    char *p = rocshmem_malloc(5000);
    CHECK_EQ(rocshmemx_hold(p + 17, &hold), 0);
    CHECK_EQ(rocshmemx_hold(p, &again), 0);
    fill_byte(p, 5000, 7);
    size_t in_use = used();
    rocshmem_free(p);
    CHECK_EQ(used(), in_use);
    char *q = rocshmem_malloc(5000);
    CHECK(q != p);
    fill_byte(q, 5000, 8);
    load_at((unsigned char *)p, 5000, room, seen); /* no transfer has it as its remote side any more */
    CHECK_BYTES(seen, 5000, 7);
    EXPECT_ERROR(rocshmem_putmem(p, q, 8, me), ROCSHMEMX_E_ARG, "rocshmem_putmem", "dest");
    rocshmemx_release(hold);
    rocshmem_free(q);
    CHECK_EQ(used(), in_use); /* the second hold lives */
    rocshmemx_release(again);
    rocshmemx_release(NULL);
    q = rocshmem_malloc(5000); /* announces the drop; the block of this call is taken afterwards */
    CHECK(q == p);
    rocshmem_free(q);
    rocshmem_free(room);
    free(seen);
}

static void held_on_one_pe(void)
{
    void *hold = NULL;
    char *p = rocshmem_malloc(5000);
    size_t in_use = used();
    if (me == n_pes - 1) CHECK_EQ(rocshmemx_hold(p, &hold), 0);
    rocshmem_free(p);
    CHECK_EQ(used(), in_use); /* on every PE, or offsets would drift apart */
    char *q = rocshmem_malloc(5000);
    CHECK(q != p);
    rocshmemx_release(hold);
    rocshmem_free(q);
    q = rocshmem_malloc(5000);
    CHECK(q == p);
    rocshmem_free(q);
}

static void hold_wrong(void)
{
    void *hold = NULL;
    char on_stack = 0;
    char *p = rocshmem_malloc(100);
    EXPECT_STATUS(rocshmemx_hold(&on_stack, &hold), ROCSHMEMX_E_ARG, "rocshmemx_hold", "ptr");
    rocshmem_free(p);
    EXPECT_STATUS(rocshmemx_hold(p, &hold), ROCSHMEMX_E_ARG, "rocshmemx_hold", "ptr");
    CHECK(hold == NULL);
}

static void dropped_block(void)
{
    char *p = rocshmem_malloc(5000);
    size_t in_use = used();
    if (me != 0) rocshmemx_drop(p);
    rocshmem_barrier_all();
    char *q = rocshmem_malloc(5000);
    if (n_pes > 1) CHECK(q != p); /* PE 0 has not dropped it */
    if (me == 0) rocshmemx_drop(p);
    rocshmemx_drop(p); /* a second drop is a no-op */
    rocshmem_free(q);
    q = rocshmem_malloc(5000);
    CHECK(q == p);
    CHECK_EQ(used(), in_use);
    rocshmem_free(q);
    rocshmemx_drop(p);
    rocshmemx_drop(NULL);
}

static void many_drops(void)
{
    enum { MANY = 20000 };
    size_t in_use = used();
    char *kept = rocshmem_malloc(8);
    for (int i = 0; i < MANY; i++) {
        void *p = rocshmem_malloc(64);
        if (!p) {
            FAIL("malloc %d gave NULL", i);
            break;
        }
        rocshmemx_drop(p);
    }
    CHECK(used() - in_use < 100000); /* they were released on the way */
    rocshmem_free(kept);
    rocshmem_free(rocshmem_malloc(8)); /* the last drops travel with a collective */
    rocshmem_free(rocshmem_malloc(8));
    CHECK_EQ(used(), in_use);
}

static void drops_in_bulk(void)
{
    enum { MANY = 5000 };
    size_t in_use = used();
    void **p = ordinary(MANY * sizeof *p);
    for (int i = 0; i < MANY; i++) p[i] = rocshmem_malloc(16);
    for (int i = 0; i < MANY; i++)
        rocshmemx_drop(p[(i + me * 17) % MANY]); /* each PE in an order of its own */
    for (int i = 0; i < 64 && used() != in_use; i++) rocshmem_free(rocshmem_malloc(8));
    CHECK_EQ(used(), in_use);
    free(p);
}

static void buffers(void)
{
    char *memory = ordinary(4096);
    char *p = symmetric(64);
    CHECK_EQ(rocshmem_buffer_register(memory, 1000), 0);
    EXPECT_STATUS(rocshmem_buffer_register(memory + 999, 10), ROCSHMEMX_E_ARG, "rocshmem_buffer_register",
                  "overlap");
    EXPECT_STATUS(rocshmem_buffer_register(memory, 1000), ROCSHMEMX_E_ARG, "rocshmem_buffer_register",
                  "overlap");
    CHECK_EQ(rocshmem_buffer_register(memory + 1000, 1000), 0);
    EXPECT_STATUS(rocshmem_buffer_register(NULL, 10), ROCSHMEMX_E_ARG, "rocshmem_buffer_register", "addr");
    EXPECT_STATUS(rocshmem_buffer_register(memory + 3000, 0), ROCSHMEMX_E_ARG, "rocshmem_buffer_register",
                  "length", "0");
    EXPECT_STATUS(rocshmem_buffer_register(memory + 3000, SIZE_MAX), ROCSHMEMX_E_ARG,
                  "rocshmem_buffer_register", "length");
    fill(memory, 64, (uint64_t)me);
    rocshmem_putmem(p, memory, 64, right());
    rocshmem_barrier_all();
    CHECK_FILLED(p, 64, (uint64_t)left());
    rocshmem_getmem(memory + 1000, p, 64, right());
    CHECK_FILLED(memory + 1000, 64, (uint64_t)me);
    CHECK_EQ(rocshmem_buffer_unregister(memory + 500), 0); /* any address inside */
    EXPECT_STATUS(rocshmem_buffer_unregister(memory), ROCSHMEMX_E_ARG, "rocshmem_buffer_unregister", "addr");
    CHECK_EQ(rocshmem_buffer_register(memory, 1000), 0);
    rocshmem_buffer_unregister_all();
    EXPECT_STATUS(rocshmem_buffer_unregister(memory + 1500), ROCSHMEMX_E_ARG, "rocshmem_buffer_unregister",
                  "addr");
    rocshmem_buffer_unregister_all();
    rocshmem_free(p);
    free(memory);
}

static void many_buffers(void)
{
    enum { MANY = 10000 };
    char *memory = ordinary(MANY * 16);
    for (int i = 0; i < MANY; i++) {
        int k = (i * 7919) % MANY;
        CHECK_EQ(rocshmem_buffer_register(memory + k * 16, 16), 0);
    }
    for (int i = 0; i < MANY; i += 2) CHECK_EQ(rocshmem_buffer_unregister(memory + i * 16 + 15), 0);
    rocshmem_buffer_unregister_all();
    free(memory);
}

static void notes_check_their_arguments(void)
{
    static char own[8];
    char *p = symmetric(64);
    CHECK_EQ(rocshmemx_note_read(p, 64), 0);
    CHECK_EQ(rocshmemx_note_write(p + 8, 8), 0);
    CHECK_EQ(rocshmemx_note_read(own, 0), 0);
    EXPECT_STATUS(rocshmemx_note_read(own, 8), ROCSHMEMX_E_ARG, "rocshmemx_note_read", "ptr",
                  "not symmetric");
    EXPECT_STATUS(rocshmemx_note_write(p, 65), ROCSHMEMX_E_ARG, "rocshmemx_note_write", "ptr", "65");
    rocshmem_barrier_all();
    rocshmem_free(p);
}

static const struct test_case memory_cases[] = {
    {"size_0_gives_NULL_and_no_error", zero_size, 0},
    {"malloc_gives_256_byte_aligned_memory_of_its_own", malloc_aligned, 0},
    {"align_keeps_any_power_of_two_on_every_pe", align_powers, 0},
    {"malloc_largest_takes_another_size_on_each_pe", largest_of_all, 0},
    {"align_refuses_what_is_no_power_of_two_or_no_multiple_of_8", align_bad, 0},
    {"calloc_zeroes_a_dirty_block_on_every_pe_before_any_returns", calloc_zeroes, NEEDS_REUSE},
    {"calloc_refuses_zero_and_overflow", calloc_bad, 0},
    {"a_second_free_names_the_argument", free_twice, 0},
    {"free_of_what_was_never_allocated_names_the_argument", free_wrong, 0},
    {"an_exhausted_heap_says_what_was_asked_what_is_free_and_the_variable", exhausted, NEEDS_REUSE},
    {"heap_info_counts_with_rounding_and_everything_comes_back", heap_info, NEEDS_REUSE},
    {"equal_calls_give_equal_offsets_on_every_pe", same_offsets, 0},
    {"live_blocks_never_overlap", no_overlap, 0},
    {"thousands_of_blocks_are_fine", many_blocks, 0},
    {"a_block_above_2_GiB_is_ordinary", above_2g, NEEDS_BIG_HEAP},
    {"ptr_loads_and_stores_every_pes_copy", ptr_reaches, 0},
    {"ptr_is_NULL_for_what_is_not_symmetric_and_an_error_for_no_pe", ptr_null, 0},
    {"allocation_knows_start_and_size_as_asked", allocation_of, 0},
    {"a_held_block_is_not_reused_until_the_last_release", held_block, NEEDS_REUSE},
    {"a_hold_on_one_pe_keeps_the_block_on_all", held_on_one_pe, NEEDS_REUSE},
    {"hold_refuses_what_is_not_allocated", hold_wrong, 0},
    {"a_dropped_block_is_released_when_every_pe_has_dropped_it", dropped_block, NEEDS_REUSE},
    {"twenty_thousand_drops_leave_nothing", many_drops, 0},
    {"drops_in_bulk_and_in_any_order_leave_nothing", drops_in_bulk, 0},
    {"registered_buffers_refuse_overlap_and_forget_on_request", buffers, 0},
    {"ten_thousand_registered_buffers_are_fine", many_buffers, 0},
    {"notes_check_their_arguments", notes_check_their_arguments, 0},
};
CHAPTER(memory);
