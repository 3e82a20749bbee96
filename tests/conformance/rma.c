/* SPDX-License-Identifier: MIT
 *
 * Blocking and non-blocking transfers of bytes and of every type: all sizes and alignments, to every PE.
 */
#include <math.h>
#include <sys/mman.h>

#include "conformance.h"

static const size_t sizes[] = {0,
                               1,
                               2,
                               3,
                               4,
                               5,
                               7,
                               8,
                               9,
                               12,
                               15,
                               16,
                               17,
                               24,
                               31,
                               32,
                               33,
                               63,
                               64,
                               65,
                               96,
                               127,
                               128,
                               129,
                               255,
                               256,
                               257,
                               1000,
                               4095,
                               4096,
                               4097,
                               12345,
                               65535,
                               65536,
                               65537,
                               262145,
                               (1 << 20) - 1,
                               (1 << 20) + 3,
                               4 << 20,
                               (4 << 20) + 1};
static const size_t shifts[] = {0, 1, 3, 7, 8, 60};
enum { N_SIZES = sizeof sizes / sizeof sizes[0], N_SHIFTS = sizeof shifts / sizeof shifts[0], GUARD = 64 };

typedef void transfer(void *dest, const void *source, size_t nelems, int pe);

/* Put every size at every alignment from ordinary memory to the right PE; what is around it must stay. */
static void put_all(transfer *put, bool quiet, size_t nbytes_max)
{
    size_t room = nbytes_max + 3 * GUARD;
    unsigned char *dest = symmetric(room), *source = ordinary(room);
    for (size_t s = 0; s < N_SIZES; s++) {
        size_t n = sizes[s];
        if (n > nbytes_max) continue;
        for (size_t k = 0; k < N_SHIFTS * N_SHIFTS; k++) {
            size_t to = GUARD + shifts[k / N_SHIFTS], from = shifts[k % N_SHIFTS];
            if (n > 70000 && k % 7 != 0) continue; /* 6 of 36 alignments for the large ones */
            uint64_t seed = s * 1000 + k;
            fill_byte(dest, to + n + GUARD, 0xee);
            fill(source + from, n, seed + (uint64_t)me * 77);
            rocshmem_barrier_all();
            put(dest + to, source + from, n, right());
            if (quiet) rocshmem_quiet();
            rocshmem_barrier_all();
            CHECK_BYTES(dest, to, 0xee);
            CHECK_FILLED(dest + to, n, seed + (uint64_t)left() * 77);
            CHECK_BYTES(dest + to + n, GUARD, 0xee);
            rocshmem_barrier_all();
        }
    }
    rocshmem_free(dest);
    free(source);
}

static void get_all(transfer *get, bool quiet, size_t nbytes_max)
{
    size_t room = nbytes_max + 3 * GUARD;
    unsigned char *source = symmetric(room), *dest = ordinary(room);
    for (size_t s = 0; s < N_SIZES; s++) {
        size_t n = sizes[s];
        if (n > nbytes_max) continue;
        for (size_t k = 0; k < N_SHIFTS * N_SHIFTS; k++) {
            size_t to = GUARD + shifts[k / N_SHIFTS], from = shifts[k % N_SHIFTS];
            if (n > 70000 && k % 7 != 0) continue;
            uint64_t seed = s * 1000 + k;
            fill_byte(dest, to + n + GUARD, 0xee);
            fill(source + from, n, seed + (uint64_t)me * 77);
            rocshmem_barrier_all();
            get(dest + to, source + from, n, right());
            if (quiet) rocshmem_quiet();
            CHECK_BYTES(dest, to, 0xee);
            CHECK_FILLED(dest + to, n, seed + (uint64_t)right() * 77);
            CHECK_BYTES(dest + to + n, GUARD, 0xee);
            rocshmem_barrier_all();
        }
    }
    rocshmem_free(source);
    free(dest);
}

static void putmem_all(void)
{
    put_all(rocshmem_putmem, false, 4097);
}

static void getmem_all(void)
{
    get_all(rocshmem_getmem, false, 4097);
}

static void putmem_nbi_all(void)
{
    put_all(rocshmem_putmem_nbi, true, 4097);
}

static void getmem_nbi_all(void)
{
    get_all(rocshmem_getmem_nbi, true, 4097);
}

static void large(void)
{
    unsigned char *dest = symmetric((4 << 20) + 200), *source = symmetric((4 << 20) + 200);
    for (size_t s = 0; s < N_SIZES; s++) {
        size_t n = sizes[s];
        if (n < 10000) continue;
        fill(source + 3, n, s + (uint64_t)me);
        fill_byte(dest, n + 128, 0x11);
        rocshmem_barrier_all();
        rocshmem_putmem(dest + 7, source + 3, n, right());
        rocshmem_barrier_all();
        CHECK_BYTES(dest, 7, 0x11);
        CHECK_FILLED(dest + 7, n, s + (uint64_t)left());
        CHECK_BYTES(dest + 7 + n, 64, 0x11);
        rocshmem_getmem_nbi(dest + 64, source + 3, n, left());
        rocshmem_quiet();
        CHECK_FILLED(dest + 64, n, s + (uint64_t)left());
        rocshmem_barrier_all();
    }
    rocshmem_free(dest);
    rocshmem_free(source);
}

/* Everyone puts a block of its own to everyone, itself included, then everyone gets from everyone. */
static void every_pair(void)
{
    enum { BLOCK = 1003 };
    unsigned char *in = symmetric((size_t)n_pes * BLOCK), *out = symmetric((size_t)n_pes * BLOCK), got[BLOCK];
    for (int pe = 0; pe < n_pes; pe++) fill(out + pe * BLOCK, BLOCK, (uint64_t)(me * 100 + pe));
    for (int pe = 0; pe < n_pes; pe++) rocshmem_putmem(in + me * BLOCK, out + pe * BLOCK, BLOCK, pe);
    rocshmem_barrier_all();
    for (int pe = 0; pe < n_pes; pe++) CHECK_FILLED(in + pe * BLOCK, BLOCK, (uint64_t)(pe * 100 + me));
    for (int pe = 0; pe < n_pes; pe++) {
        rocshmem_getmem(got, out + me * BLOCK, BLOCK, pe);
        CHECK_FILLED(got, BLOCK, (uint64_t)(pe * 100 + me));
    }
    rocshmem_barrier_all();
    rocshmem_free(in);
    rocshmem_free(out);
}

static void zero_bytes(void)
{
    unsigned char *p = symmetric(64), local[4] = {1, 2, 3, 4};
    rocshmem_putmem(p, local, 0, right());
    rocshmem_putmem_nbi(p, local, 0, right());
    rocshmem_getmem(local, p, 0, right());
    rocshmem_getmem_nbi(local, p, 0, right());
    rocshmem_putmem(p + 64, local, 0, right()); /* one past the end: an empty range there is inside */
    rocshmem_double_put((double *)(void *)p, (double *)(void *)p, 0, right());
    rocshmem_barrier_all();
    CHECK_BYTES(p, 64, 0);
    CHECK_EQ(local[3], 4);
    rocshmem_free(p);
}

static void source_reuse(void)
{
    enum { N = 300 };
    uint64_t *p = symmetric(N * sizeof *p), word;
    for (uint64_t i = 0; i < N; i++) {
        word = i + 1 + (uint64_t)me * 1000;
        rocshmem_putmem(&p[i], &word, sizeof word, right());
        word = 0;
    }
    rocshmem_barrier_all();
    for (uint64_t i = 0; i < N; i++) CHECK_EQ(GET(&p[i]), i + 1 + (uint64_t)left() * 1000);
    rocshmem_free(p);
}

static void many_nbi(void)
{
    enum { N = 1000 };
    uint64_t *in = symmetric(N * sizeof *in), *out = symmetric(N * sizeof *out);
    for (uint64_t i = 0; i < N; i++) SET(&out[i], i * 3 + (uint64_t)me);
    for (int i = 0; i < N; i++) rocshmem_putmem_nbi(&in[i], &out[i], sizeof *in, right());
    rocshmem_quiet();
    rocshmem_barrier_all();
    for (uint64_t i = 0; i < N; i++) CHECK_EQ(GET(&in[i]), i * 3 + (uint64_t)left());
    rocshmem_barrier_all();
    for (int i = 0; i < N; i++) rocshmem_getmem_nbi(&in[i], &out[N - 1 - i], sizeof *in, right());
    rocshmem_quiet();
    for (uint64_t i = 0; i < N; i++) CHECK_EQ(GET(&in[i]), (N - 1 - i) * 3 + (uint64_t)right());
    rocshmem_barrier_all();
    rocshmem_free(in);
    rocshmem_free(out);
}

/* ---- types ---- */

/* Values at both ends of a type, through every typed function. */
#define DEFINE(name, T, ...)                                                                                 \
    static void typed_##name(void)                                                                           \
    {                                                                                                        \
        T *p = symmetric(8 * sizeof *p), *source = symmetric(8 * sizeof *source), got[8];                    \
        for (int i = 0; i < 8; i++) got[i] = (T)(i & 1 ? (T)(100 - i - me) : (T) - (100 - i - me));          \
        heap_write(source, got, sizeof got);                                                                 \
        rocshmem_barrier_all();                                                                              \
        rocshmem_##name##_put(p, source, 2, right());                                                        \
        rocshmem_##name##_put_nbi(p + 2, source + 2, 1, right());                                            \
        rocshmem_##name##_put(p + 3, source + 3, 1, right());                                                \
        rocshmem_##name##_put_nbi(p + 4, source + 4, 2, right());                                            \
        rocshmem_##name##_p(p + 6, got[6], right());                                                         \
        rocshmem_##name##_p(p + 7, got[7], right());                                                         \
        rocshmem_quiet();                                                                                    \
        rocshmem_barrier_all();                                                                              \
        heap_read(got, p, sizeof got);                                                                       \
        for (int i = 0; i < 8; i++)                                                                          \
            if (got[i] != (T)(i & 1 ? (T)(100 - i - left()) : (T) - (100 - i - left())))                     \
                FAIL("%s: element %d was not put", #name, i);                                                \
        memset(got, 0, sizeof got);                                                                          \
        rocshmem_##name##_get(got, source, 2, right());                                                      \
        rocshmem_##name##_get_nbi(got + 2, source + 2, 1, right());                                          \
        rocshmem_##name##_get(got + 3, source + 3, 1, right());                                              \
        rocshmem_##name##_get_nbi(got + 4, source + 4, 2, right());                                          \
        got[6] = rocshmem_##name##_g(source + 6, right());                                                   \
        got[7] = rocshmem_##name##_g(source + 7, right());                                                   \
        rocshmem_quiet();                                                                                    \
        rocshmem_quiet();                                                                                    \
        for (int i = 0; i < 8; i++)                                                                          \
            if (got[i] != (T)(i & 1 ? (T)(100 - i - right()) : (T) - (100 - i - right())))                   \
                FAIL("%s: element %d was not got", #name, i);                                                \
        rocshmem_barrier_all();                                                                              \
        rocshmem_free(p);                                                                                    \
        rocshmem_free(source);                                                                               \
    }
ROCSHMEM_RMA_TYPES(DEFINE, )
#undef DEFINE

static void typed(void)
{
#define CALL(name, T, ...) typed_##name();
    ROCSHMEM_RMA_TYPES(CALL, )
#undef CALL
}

static void long_typed(void)
{
    enum { N = 100003 };
    int64_t *in = symmetric(N * sizeof *in), *out = symmetric(N * sizeof *out);
    int64_t *here = ordinary(N * sizeof *here);
    for (int i = 0; i < N; i++) here[i] = (int64_t)i * 1000003 - me;
    heap_write(out, here, N * sizeof *here);
    rocshmem_barrier_all();
    rocshmem_int64_put(in, out, N, right());
    rocshmem_barrier_all();
    heap_read(here, in, N * sizeof *here);
    for (int i = 0; i < N; i++)
        if (here[i] != (int64_t)i * 1000003 - left()) {
            FAIL("element %d is %lld", i, (long long)here[i]);
            break;
        }
    rocshmem_barrier_all();
    free(here);
    rocshmem_free(in);
    rocshmem_free(out);
}

static void float_bits(void)
{
    static const uint64_t bits[] = {0x8000000000000000u, 0x7ff8000000000001u, 0x7ff0000000000001u, 1u,
                                    0xfff0000000000000u};
    double *p = symmetric(8 * sizeof *p), value, here[5];
    for (int i = 0; i < 5; i++) {
        if (i == 2) continue; /* a signalling NaN may be quieted when it is passed by value */
        memcpy(&value, &bits[i], 8);
        rocshmem_double_p(&p[i], value, right());
    }
    memcpy(&value, &bits[2], 8);
    rocshmem_double_put(&p[2], (const double *)&bits[2], 1, right());
    rocshmem_barrier_all();
    heap_read(here, p, sizeof here);
    CHECK(memcmp(here, bits, sizeof bits) == 0);
    value = rocshmem_double_g(&p[1], right());
    CHECK(isnan(value));
    rocshmem_barrier_all();
    rocshmem_free(p);
}

/* ---- wrong arguments ---- */

static void wrong_pe(void)
{
    char *p = symmetric(64), local[8] = {0}, number[16];
    snprintf(number, sizeof number, "%d", n_pes);
    EXPECT_ERROR(rocshmem_putmem(p, local, 8, n_pes), ROCSHMEMX_E_ARG, "rocshmem_putmem", "pe", number);
    EXPECT_ERROR(rocshmem_getmem(local, p, 8, -1), ROCSHMEMX_E_ARG, "rocshmem_getmem", "pe", "-1");
    EXPECT_ERROR(rocshmem_putmem_nbi(p, local, 8, -5), ROCSHMEMX_E_ARG, "rocshmem_putmem_nbi", "pe", "-5");
    EXPECT_ERROR(rocshmem_getmem_nbi(local, p, 8, INT32_MAX), ROCSHMEMX_E_ARG, "rocshmem_getmem_nbi", "pe",
                 "2147483647");
    EXPECT_ERROR(rocshmem_int_put((int *)(void *)p, (int *)(void *)local, 1, n_pes), ROCSHMEMX_E_ARG,
                 "rocshmem_int_put", "pe", number);
    EXPECT_ERROR(rocshmem_float_p((float *)(void *)p, 1.0f, INT32_MIN), ROCSHMEMX_E_ARG, "rocshmem_float_p",
                 "pe", "-2147483648");
    int got = 1;
    EXPECT_ERROR(got = rocshmem_int_g((int *)(void *)p, n_pes), ROCSHMEMX_E_ARG, "rocshmem_int_g", "pe",
                 number);
    CHECK_EQ(got, 0);
    rocshmem_barrier_all();
    CHECK_BYTES(p, 64, 0);
    rocshmem_free(p);
}

static void wrong_address(void)
{
    char *p = symmetric(1000), local[64] = {1}, number[32];
    snprintf(number, sizeof number, "%p", (void *)local);
    EXPECT_ERROR(rocshmem_putmem(local, p, 8, 0), ROCSHMEMX_E_ARG, "rocshmem_putmem", "dest", number);
    EXPECT_ERROR(rocshmem_getmem(p, local, 8, 0), ROCSHMEMX_E_ARG, "rocshmem_getmem", "source", number);
    EXPECT_ERROR(rocshmem_putmem_nbi(NULL, p, 8, 0), ROCSHMEMX_E_ARG, "rocshmem_putmem_nbi", "dest");
    EXPECT_ERROR(rocshmem_getmem_nbi(p, NULL, 8, 0), ROCSHMEMX_E_ARG, "rocshmem_getmem_nbi", "source");
    EXPECT_ERROR(rocshmem_double_p((double *)(void *)local, 1.0, 0), ROCSHMEMX_E_ARG, "rocshmem_double_p",
                 "dest");
    EXPECT_ERROR(rocshmem_short_g((short *)(void *)local, 0), ROCSHMEMX_E_ARG, "rocshmem_short_g", "source");
    EXPECT_ERROR(rocshmem_putmem((void *)(uintptr_t)-16, p, 32, 0), ROCSHMEMX_E_ARG, "rocshmem_putmem",
                 "dest");
    rocshmem_barrier_all();
    CHECK_BYTES(p, 1000, 0);
    rocshmem_free(p);
}

static void past_end(void)
{
    char *p = symmetric(1000), *local = ordinary(2000), number[32];
    memset(local, 1, 2000);
    snprintf(number, sizeof number, "%d", 1001);
    EXPECT_ERROR(rocshmem_putmem(p, local, 1001, right()), ROCSHMEMX_E_ARG, "rocshmem_putmem", "dest",
                 number);
    EXPECT_ERROR(rocshmem_putmem(p + 999, local, 2, right()), ROCSHMEMX_E_ARG, "rocshmem_putmem", "dest");
    EXPECT_ERROR(rocshmem_getmem(local, p + 1, 1000, right()), ROCSHMEMX_E_ARG, "rocshmem_getmem", "source");
    EXPECT_ERROR(rocshmem_putmem(p, local, SIZE_MAX, right()), ROCSHMEMX_E_ARG, "rocshmem_putmem", "dest");
    EXPECT_ERROR(rocshmem_putmem(p - 1, local, 4, right()), ROCSHMEMX_E_ARG, "rocshmem_putmem", "dest");
    EXPECT_ERROR(rocshmem_int64_put((int64_t *)(void *)p, (int64_t *)(void *)local, 126, right()),
                 ROCSHMEMX_E_ARG, "rocshmem_int64_put", "dest");
    EXPECT_ERROR(rocshmem_int64_put((int64_t *)(void *)p, (int64_t *)(void *)local, (size_t)1 << 61, right()),
                 ROCSHMEMX_E_ARG, "rocshmem_int64_put", "dest"); /* times 8 is 0 */
    EXPECT_ERROR(rocshmem_int64_p((int64_t *)(void *)(p + 996), 1, right()), ROCSHMEMX_E_ARG,
                 "rocshmem_int64_p", "dest");
    rocshmem_putmem(p, local, 0, right());
    rocshmem_barrier_all();
    CHECK_BYTES(p, 1000, 0);
    rocshmem_barrier_all();
    rocshmem_putmem(p, local, 1000, right()); /* the whole of it is fine */
    rocshmem_barrier_all();
    CHECK_BYTES(p, 1000, 1);
    rocshmem_free(p);
    free(local);
}

static void freed(void)
{
    char *p = symmetric(64), local[8] = {0};
    rocshmem_putmem(p, local, 8, right()); /* a cached check must forget */
    rocshmem_free(p);
    EXPECT_ERROR(rocshmem_putmem(p, local, 8, right()), ROCSHMEMX_E_ARG, "rocshmem_putmem", "dest");
    EXPECT_ERROR(rocshmem_getmem(local, p, 8, right()), ROCSHMEMX_E_ARG, "rocshmem_getmem", "source");
    EXPECT_ERROR(rocshmem_int_p((int *)(void *)p, 1, right()), ROCSHMEMX_E_ARG, "rocshmem_int_p", "dest");
    rocshmem_barrier_all();
}

static void two_allocations(void)
{
    char *p = symmetric(512), *q = symmetric(512), local[1024] = {0};
    if (q == p + 512) /* neighbours, yet no range may span both */
        EXPECT_ERROR(rocshmem_putmem(p, local, 1024, right()), ROCSHMEMX_E_ARG, "rocshmem_putmem", "dest");
    else
        FAIL("the second block is not behind the first");
    rocshmem_free(p);
    rocshmem_free(q);
}

static void above_2g(void)
{
    size_t nbytes = ((size_t)1 << 31) + (1 << 20);
    unsigned char *p = rocshmem_malloc(nbytes);
    CHECK(p != NULL);
    if (!p) return;
    rocshmem_barrier_all();
    if (me == 0) {
        unsigned char *zeros =
            mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        CHECK(zeros != MAP_FAILED);
        madvise(zeros, nbytes, MADV_HUGEPAGE); /* one page of zeros, mapped over and over */
        fill(zeros + nbytes - 100, 100, 5);
        rocshmem_putmem(p, zeros, nbytes, n_pes - 1);
        munmap(zeros, nbytes);
    }
    rocshmem_barrier_all();
    if (me == n_pes - 1) {
        CHECK_FILLED(p + nbytes - 100, 100, 5);
        CHECK_EQ(GET(&p[(size_t)1 << 31]), 0);
    }
    rocshmem_free(p);
}

static void put_block(void *arg, int i)
{
    unsigned char *p = arg, local[997];
    for (int k = 0; k < times(200); k++) {
        fill(local, sizeof local, (uint64_t)(me * 8 + i));
        rocshmem_putmem(p + i * 1000, local, sizeof local, right());
        rocshmem_getmem(local, p + i * 1000, sizeof local, right());
        CHECK_FILLED(local, sizeof local, (uint64_t)(me * 8 + i));
    }
}

static void threads(void)
{
    unsigned char *p = symmetric(8000);
    run_threads(8, put_block, p);
    rocshmem_barrier_all();
    for (int i = 0; i < 8; i++) CHECK_FILLED(p + i * 1000, 997, (uint64_t)(left() * 8 + i));
    rocshmem_free(p);
}

static const struct test_case rma_cases[] = {
    {"putmem_writes_exactly_the_range_at_any_alignment", putmem_all, 0},
    {"getmem_reads_exactly_the_range_at_any_alignment", getmem_all, 0},
    {"putmem_nbi_is_complete_after_quiet", putmem_nbi_all, 0},
    {"getmem_nbi_is_complete_after_quiet", getmem_nbi_all, 0},
    {"large_transfers_at_odd_addresses_are_exact", large, 0},
    {"every_pe_reaches_every_pe_and_itself", every_pair, 0},
    {"zero_bytes_change_nothing_and_are_no_error", zero_bytes, 0},
    {"the_source_of_a_blocking_put_may_be_reused_at_once", source_reuse, 0},
    {"a_thousand_nbi_transfers_complete_with_one_quiet", many_nbi, 0},
    {"every_type_has_put_get_p_g_and_nbi", typed, 0},
    {"a_long_typed_put_counts_elements", long_typed, 0},
    {"floating_point_bits_pass_unchanged", float_bits, 0},
    {"a_wrong_pe_names_function_argument_and_value", wrong_pe, 0},
    {"an_address_that_is_not_symmetric_names_the_argument", wrong_address, 0},
    {"a_range_past_the_end_of_its_allocation_writes_nothing", past_end, 0},
    {"a_freed_address_names_the_argument", freed, 0},
    {"no_range_spans_two_allocations", two_allocations, NEEDS_REUSE},
    {"a_transfer_above_2_GiB_is_ordinary", above_2g, NEEDS_BIG_HEAP},
    {"eight_threads_transfer_at_the_same_time", threads, 0},
};
CHAPTER(rma);
