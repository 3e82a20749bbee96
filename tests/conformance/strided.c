/* SPDX-License-Identifier: MIT
 *
 * Strided transfers, transfers of every size of element, and all typed transfers on contexts: the default one,
 * one of the world, and one of a team that numbers the PEs backwards.
 */
#include "conformance.h"

#define SIZES(X) X(8, 1) X(16, 2) X(32, 4) X(64, 8) X(128, 16)

/* The forms under test, as bytes: one row for each width and context. */
typedef void strided(rocshmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
                     size_t nelems, int pe);

static rocshmem_ctx_t world_ctx, team_ctx;
static rocshmem_team_t backwards;

static void begin(void)
{
    CHECK_EQ(rocshmem_ctx_create(0, &world_ctx), 0);
    CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, n_pes - 1, -1, n_pes, NULL, 0, &backwards), 0);
    CHECK_EQ(rocshmem_team_create_ctx(backwards, 0, &team_ctx), 0);
}

static void end(void)
{
    rocshmem_ctx_destroy(team_ctx);
    rocshmem_team_destroy(backwards);
    rocshmem_ctx_destroy(world_ctx);
}

/* The right PE's number on context k of 3. */
static rocshmem_ctx_t context(int k)
{
    return k == 0 ? ROCSHMEM_CTX_DEFAULT : k == 1 ? world_ctx : team_ctx;
}
static int right_on(int k)
{
    return k == 2 ? n_pes - 1 - right() : right();
}

/* ---- iput and iget ---- */

static const struct {
    size_t nelems, dst, sst;
} shapes[] = {{0, 1, 1},  {1, 1, 1},  {1, 9, 5},   {2, 1, 3},   {7, 3, 1},
              {16, 1, 1}, {33, 2, 5}, {100, 7, 7}, {257, 1, 2}, {300, 3, 1}};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0], ROOM = 900 };

/* Elements of width bytes go where they should, and nothing between them changes. pe 0 of the check: from. */
static void check_shape(const char *name, size_t k, const unsigned char *dest, size_t width, uint64_t seed)
{
    size_t nelems = shapes[k].nelems, dst = shapes[k].dst, sst = shapes[k].sst;
    unsigned char *want = ordinary(ROOM * width), *source = ordinary(ROOM * width);
    unsigned char *got = copy_of(dest, ROOM * width);
    fill(source, ROOM * width, seed);
    memset(want, 0xee, ROOM * width);
    for (size_t i = 0; i < nelems; i++) memcpy(want + i * dst * width, source + i * sst * width, width);
    if (memcmp(want, got, ROOM * width) != 0)
        FAIL("%s of %zu elements with strides %zu and %zu is wrong", name, nelems, dst, sst);
    free(want);
    free(source);
    free(got);
}

static void every_shape(const char *name, size_t width, strided *put, strided *get)
{
    unsigned char *there = symmetric(ROOM * width), *here = ordinary(ROOM * width);
    for (size_t k = 0; k < N_SHAPES; k++)
        for (int c = 0; c < (k == 6 ? 3 : 1); c++) {
            ptrdiff_t dst = (ptrdiff_t)shapes[k].dst, sst = (ptrdiff_t)shapes[k].sst;
            fill(here, ROOM * width, (uint64_t)me + k);
            fill_byte(there, ROOM * width, 0xee);
            rocshmem_barrier_all();
            put(context(c), there, here, dst, sst, shapes[k].nelems, right_on(c));
            rocshmem_barrier_all();
            check_shape(name, k, there, width, (uint64_t)left() + k);
            fill(there, ROOM * width, (uint64_t)me + 100 + k);
            fill_byte(here, ROOM * width, 0xee);
            rocshmem_barrier_all();
            get(context(c), here, there, dst, sst, shapes[k].nelems, right_on(c));
            check_shape(name, k, here, width, (uint64_t)right() + 100 + k);
            rocshmem_barrier_all();
        }
    rocshmem_free(there);
    free(here);
}

/* Even calls go through the form without a context, where there is one to choose. */
#define PAIR(name, form, T)                                                                                  \
    static void form##_of_##name(rocshmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst,          \
                                 ptrdiff_t sst, size_t nelems, int pe)                                       \
    {                                                                                                        \
        if (ctx.ctx_opaque == ROCSHMEM_CTX_DEFAULT.ctx_opaque && nelems % 2 == 0)                            \
            rocshmem_##form((T *)dest, (const T *)source, dst, sst, nelems, pe);                             \
        else                                                                                                 \
            rocshmem_ctx_##form(ctx, (T *)dest, (const T *)source, dst, sst, nelems, pe);                    \
    }
#define DEFINE(name, T, ...) PAIR(name, name##_iput, T) PAIR(name, name##_iget, T)
ROCSHMEM_RMA_TYPES(DEFINE, )
#undef DEFINE
#define DEFINE(N, width) PAIR(N, iput##N, void) PAIR(N, iget##N, void)
SIZES(DEFINE)
#undef DEFINE

static void typed_shapes(void)
{
    begin();
#define CALL(name, T, ...) every_shape(#name, sizeof(T), name##_iput_of_##name, name##_iget_of_##name);
    ROCSHMEM_RMA_TYPES(CALL, )
#undef CALL
    end();
}

static void sized_shapes(void)
{
    begin();
#define CALL(N, width) every_shape(#N " bits", width, iput##N##_of_##N, iget##N##_of_##N);
    SIZES(CALL)
#undef CALL
    end();
}

/* A column of a matrix becomes a row, and back. */
static void transpose(void)
{
    enum { N = 16 };
    double *a = symmetric(N * N * sizeof *a), *b = symmetric(N * N * sizeof *b);
    for (int i = 0; i < N * N; i++) SET(&a[i], me * 1000 + i);
    rocshmem_barrier_all();
    for (int i = 0; i < N; i++) rocshmem_double_iput(b + i * N, a + i, 1, N, N, right());
    rocshmem_barrier_all();
    for (int i = 0; i < N * N; i++) CHECK_EQ(GET(&b[i]), left() * 1000 + i % N * N + i / N);
    rocshmem_barrier_all();
    rocshmem_free(a);
    rocshmem_free(b);
}

/* One PE writes words whose halves agree, strided; the other never sees halves that do not. */
static void whole_words(void)
{
    enum { N = 64 };
    const int rounds = times(500);
    uint64_t *words = symmetric(3 * N * sizeof *words), source[2 * N];
    rocshmem_barrier_all();
    if (me == 0)
        for (uint64_t i = 1; i <= (uint64_t)rounds; i++) {
            for (int k = 0; k < 2 * N; k++) source[k] = i << 32 | i;
            rocshmem_uint64_iput(words, source, 3, 2, N, n_pes - 1);
        }
    if (me == n_pes - 1)
        for (int i = 0; i < 20 * rounds; i++) {
            uint64_t word = GET(&words[i % N * 3]);
            CHECK_EQ(word >> 32, word & 0xffffffffu);
        }
    rocshmem_barrier_all();
    rocshmem_free(words);
}

static void wrong_strides(void)
{
    int *p = symmetric(100 * sizeof *p), local[100] = {0};
    char number[32];
    snprintf(number, sizeof number, "%p", (void *)local);
    EXPECT_ERROR(rocshmem_int_iput(p, local, 0, 1, 3, right()), ROCSHMEMX_E_ARG, "rocshmem_int_iput",
                 "dst 0");
    EXPECT_ERROR(rocshmem_int_iput(p, local, 1, -2, 3, right()), ROCSHMEMX_E_ARG, "rocshmem_int_iput",
                 "sst -2");
    EXPECT_ERROR(rocshmem_iget64(local, p, -7, 1, 3, right()), ROCSHMEMX_E_ARG, "rocshmem_iget64", "dst -7");
    EXPECT_ERROR(rocshmem_ctx_iget32(ROCSHMEM_CTX_DEFAULT, local, p, 1, 0, 3, right()), ROCSHMEMX_E_ARG,
                 "rocshmem_ctx_iget32", "sst 0");
    EXPECT_ERROR(rocshmem_int_iput(p, local, 11, 1, 11, right()), ROCSHMEMX_E_ARG, "rocshmem_int_iput",
                 "dest");
    EXPECT_ERROR(rocshmem_int_iget(local, p, 1, 99, 3, right()), ROCSHMEMX_E_ARG, "rocshmem_int_iget",
                 "source");
    EXPECT_ERROR(rocshmem_int_iput(p, local, PTRDIFF_MAX, 1, 3, right()), ROCSHMEMX_E_ARG,
                 "rocshmem_int_iput", "dst 9223372036854775807");
    EXPECT_ERROR(rocshmem_int_iput(p, local, 1, PTRDIFF_MAX, 3, right()), ROCSHMEMX_E_ARG,
                 "rocshmem_int_iput", "sst 9223372036854775807");
    EXPECT_ERROR(rocshmem_int_iput(p, local, 1, 1, SIZE_MAX, right()), ROCSHMEMX_E_ARG, "rocshmem_int_iput",
                 "nelems 18446744073709551615");
    EXPECT_ERROR(rocshmem_int_iput(p, local, (ptrdiff_t)1 << 62, 1, 5, right()), ROCSHMEMX_E_ARG,
                 "rocshmem_int_iput", "nelems 5"); /* times 16 is 0 */
    EXPECT_ERROR(rocshmem_int_iput(local, p, 1, 1, 2, right()), ROCSHMEMX_E_ARG, "rocshmem_int_iput", "dest",
                 number);
    EXPECT_ERROR(rocshmem_int_iput(p, NULL, 1, 1, 2, right()), ROCSHMEMX_E_ARG, "rocshmem_int_iput",
                 "source");
    EXPECT_ERROR(rocshmem_int_iget(NULL, p, 1, 1, 2, right()), ROCSHMEMX_E_ARG, "rocshmem_int_iget", "dest");
    EXPECT_ERROR(rocshmem_int_iput(p, local, 1, 1, 2, n_pes), ROCSHMEMX_E_ARG, "rocshmem_int_iput", "pe");
    EXPECT_ERROR(rocshmem_iput8(p, local, 1, 1, 0, -1), ROCSHMEMX_E_ARG, "rocshmem_iput8", "pe", "-1");
    EXPECT_ERROR(rocshmem_ctx_int_iput(ROCSHMEM_CTX_INVALID, p, local, 1, 1, 2, me), ROCSHMEMX_E_ARG,
                 "rocshmem_ctx_int_iput", "ctx");
    rocshmem_int_iput(p, local, 1, 1, 0, right()); /* nothing is no error */
    rocshmem_barrier_all();
    CHECK_BYTES(p, 100 * sizeof *p, 0);
    for (int i = 0; i < 10; i++) local[i] = i + 1;
    rocshmem_barrier_all();
    rocshmem_int_iput(p, local, 11, 1, 10, right()); /* the last one is the last of the allocation */
    rocshmem_barrier_all();
    CHECK_EQ(GET(&p[99]), 10);
    rocshmem_free(p);
}

/* ---- blocks, sized and on contexts ---- */

typedef void block(rocshmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);

/* put, put_nbi, get and get_nbi of one kind, on three contexts. */
static void every_block(const char *name, size_t width, block *put, block *put_nbi, block *get,
                        block *get_nbi)
{
    static const size_t counts[] = {0, 1, 2, 3, 63, 500};
    unsigned char *there = symmetric(1002 * width), *here = ordinary(1002 * width);
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        int c = (int)(k % 3);
        size_t n = counts[k], nbytes = n * width;
        (void)name;
        fill(here, 2 * nbytes, (uint64_t)me + k);
        fill_byte(there, 1002 * width, 0xee);
        rocshmem_barrier_all();
        put(context(c), there, here, n, right_on(c));
        put_nbi(context(c), there + nbytes, here + nbytes, n, right_on(c));
        rocshmem_ctx_quiet(context(c));
        rocshmem_barrier_all();
        CHECK_FILLED(there, 2 * nbytes, (uint64_t)left() + k);
        CHECK_BYTES(there + 2 * nbytes, 2 * width, 0xee);
        rocshmem_barrier_all();
        fill_byte(here, 1002 * width, 0xdd);
        get(context(c), here, there, n, right_on(c));
        get_nbi(context(c), here + nbytes, there + nbytes, n, right_on(c));
        rocshmem_ctx_quiet(context(c));
        CHECK_FILLED(here, 2 * nbytes, (uint64_t)me + k);
        CHECK_BYTES(here + 2 * nbytes, 2 * width, 0xdd);
        rocshmem_barrier_all();
    }
    rocshmem_free(there);
    free(here);
}

#define ONE(name, form, T)                                                                                   \
    static void form##_of_##name(rocshmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe)  \
    {                                                                                                        \
        if (ctx.ctx_opaque == ROCSHMEM_CTX_DEFAULT.ctx_opaque && nelems % 2 == 0)                            \
            rocshmem_##form((T *)dest, (const T *)source, nelems, pe);                                       \
        else                                                                                                 \
            rocshmem_ctx_##form(ctx, (T *)dest, (const T *)source, nelems, pe);                              \
    }
#define DEFINE(name, T, ...)                                                                                 \
    ONE(name, name##_put, T)                                                                                 \
    ONE(name, name##_put_nbi, T) ONE(name, name##_get, T) ONE(name, name##_get_nbi, T)
ROCSHMEM_RMA_TYPES(DEFINE, )
#undef DEFINE
#define DEFINE(N, width)                                                                                     \
    ONE(N, put##N, void) ONE(N, put##N##_nbi, void) ONE(N, get##N, void) ONE(N, get##N##_nbi, void)
SIZES(DEFINE)
#undef DEFINE

static void typed_blocks(void)
{
    begin();
#define CALL(name, T, ...)                                                                                   \
    every_block(#name, sizeof(T), name##_put_of_##name, name##_put_nbi_of_##name, name##_get_of_##name,      \
                name##_get_nbi_of_##name);
    ROCSHMEM_RMA_TYPES(CALL, )
#undef CALL
    end();
}

static void sized_blocks(void)
{
    begin();
#define CALL(N, width)                                                                                       \
    every_block(#N " bits", width, put##N##_of_##N, put##N##_nbi_of_##N, get##N##_of_##N,                    \
                get##N##_nbi_of_##N);
    SIZES(CALL)
#undef CALL
    end();
}

/* p and g of every type on every context. */
static void one_element(void)
{
    begin();
    for (int c = 0; c < 3; c++) {
#define CALL(name, T, ...)                                                                                   \
    {                                                                                                        \
        T *p = symmetric(4 * sizeof *p);                                                                     \
        rocshmem_ctx_##name##_p(context(c), &p[1], (T)(me + 3), right_on(c));                                \
        rocshmem_barrier_all();                                                                              \
        T here[3];                                                                                           \
        heap_read(here, p, sizeof here);                                                                     \
        if (here[0] != 0 || here[1] != (T)(left() + 3) || here[2] != 0) FAIL("%s: p on %d", #name, c);       \
        if (rocshmem_ctx_##name##_g(context(c), &p[1], right_on(c)) != (T)(me + 3))                          \
            FAIL("%s: g on context %d", #name, c);                                                           \
        rocshmem_barrier_all();                                                                              \
        rocshmem_free(p);                                                                                    \
    }
        ROCSHMEM_RMA_TYPES(CALL, )
#undef CALL
    }
    end();
}

/* ---- wrong arguments on contexts ---- */

static void wrong_context(void)
{
    begin();
    double *p = symmetric(64), local = 1;
    rocshmem_ctx_t invalid = ROCSHMEM_CTX_INVALID, gone;
    CHECK_EQ(rocshmem_ctx_create(0, &gone), 0);
    rocshmem_ctx_destroy(gone);
    EXPECT_ERROR(rocshmem_ctx_double_put(invalid, p, &local, 1, me), ROCSHMEMX_E_ARG,
                 "rocshmem_ctx_double_put", "ctx");
    EXPECT_ERROR(rocshmem_ctx_double_get(gone, &local, p, 1, me), ROCSHMEMX_E_ARG, "rocshmem_ctx_double_get",
                 "ctx");
    EXPECT_ERROR(rocshmem_ctx_double_p(invalid, p, 3.0, me), ROCSHMEMX_E_ARG, "rocshmem_ctx_double_p", "ctx");
    double got = 1;
    EXPECT_ERROR(got = rocshmem_ctx_double_g(gone, p, me), ROCSHMEMX_E_ARG, "rocshmem_ctx_double_g", "ctx");
    CHECK(got == 0);
    EXPECT_ERROR(rocshmem_ctx_put128(invalid, p, &local, 0, me), ROCSHMEMX_E_ARG, "rocshmem_ctx_put128",
                 "ctx");
    EXPECT_ERROR(rocshmem_ctx_get16_nbi(team_ctx, &local, p, 1, n_pes), ROCSHMEMX_E_ARG,
                 "rocshmem_ctx_get16_nbi", "pe");
    EXPECT_ERROR(rocshmem_ctx_float_put_nbi(team_ctx, (float *)(void *)p, (float *)(void *)&local, 1, -1),
                 ROCSHMEMX_E_ARG, "rocshmem_ctx_float_put_nbi", "pe", "-1");
    EXPECT_ERROR(rocshmem_put128(p, p, SIZE_MAX / 8, me), ROCSHMEMX_E_ARG, "rocshmem_put128", "dest");
    EXPECT_ERROR(rocshmem_get64(&local, p, 9, me), ROCSHMEMX_E_ARG, "rocshmem_get64", "source");
    rocshmem_barrier_all();
    CHECK_BYTES(p, 64, 0);
    rocshmem_free(p);
    end();
}

static const struct test_case strided_cases[] = {
    {"iput_and_iget_of_every_type_touch_their_elements_only", typed_shapes, 0},
    {"iput_and_iget_of_every_size_touch_their_elements_only", sized_shapes, 0},
    {"a_column_becomes_a_row", transpose, 0},
    {"words_are_never_torn", whole_words, 0},
    {"wrong_strides_and_ranges_are_named", wrong_strides, 0},
    {"blocks_of_every_type_on_every_context", typed_blocks, 0},
    {"blocks_of_every_size_on_every_context", sized_blocks, 0},
    {"p_and_g_of_every_type_on_every_context", one_element, 0},
    {"wrong_contexts_and_their_pes_are_named", wrong_context, 0},
};
CHAPTER(strided);
