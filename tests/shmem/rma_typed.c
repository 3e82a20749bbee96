/* SPDX-License-Identifier: MIT
 *
 * Transfers by functions with a type, a size or mem in their names, on the default context and on one of our own.
 */
#include "rma.h"
#include "types.h"

static shmem_ctx_t ctx;

static void quiet_ctx(void)
{
    shmem_ctx_quiet(ctx);
}

/* ---- types ---- */

#define TYPED_CALL(NAME, operation, ...) shmem_##NAME##_##operation(__VA_ARGS__)
#define TYPED(NAME, T) RMA_FUNCTIONS(shmem_, TYPED_CALL, NAME, T)
RMA_TYPES(TYPED)
#define TYPED_ROW(NAME, T) RMA_ROW(shmem_, NAME, T)
static const struct rma_type typed[] = {RMA_TYPES(TYPED_ROW)};

#define CTX_CALL(NAME, operation, ...) shmem_ctx_##NAME##_##operation(ctx, __VA_ARGS__)
#define CTX_TYPED(NAME, T) RMA_FUNCTIONS(shmem_ctx_, CTX_CALL, NAME, T)
RMA_TYPES(CTX_TYPED)
#define CTX_TYPED_ROW(NAME, T) RMA_ROW(shmem_ctx_, NAME, T)
static const struct rma_type ctx_typed[] = {RMA_TYPES(CTX_TYPED_ROW)};

/* ---- sizes ---- */

struct bits128 {
    uint64_t low ALIGNED, high; /* high follows low: half a transfer is seen */
};

#define SIZED_ACCESS(bits, T)                                                                                \
    static void set_##bits(void *p, size_t i, int value)                                                     \
    {                                                                                                        \
        ((T *)p)[i] = (T)value;                                                                              \
    }                                                                                                        \
    static int at_##bits(const void *p, size_t i)                                                            \
    {                                                                                                        \
        return (int)((const T *)p)[i];                                                                       \
    }
SIZED_ACCESS(8, int8_t)
SIZED_ACCESS(16, int16_t)
SIZED_ACCESS(32, int32_t)
SIZED_ACCESS(64, int64_t)

static void set_128(void *p, size_t i, int value)
{
    ((struct bits128 *)p)[i] = (struct bits128){(uint64_t)value, (uint64_t)value * 3};
}

static int at_128(const void *p, size_t i)
{
    struct bits128 value = ((const struct bits128 *)p)[i];
    return value.high == value.low * 3 ? (int)value.low : -1;
}

#define SIZED_ROW(bits)                                                                                      \
    {.name = "bits " #bits,                                                                                  \
     .size = bits / 8,                                                                                       \
     .set = set_##bits,                                                                                      \
     .at = at_##bits,                                                                                        \
     .put = shmem_put##bits,                                                                                 \
     .get = shmem_get##bits,                                                                                 \
     .put_nbi = shmem_put##bits##_nbi,                                                                       \
     .get_nbi = shmem_get##bits##_nbi,                                                                       \
     .iput = shmem_iput##bits,                                                                               \
     .iget = shmem_iget##bits},
static const struct rma_type sized[] = {SIZES(SIZED_ROW)};

#define CTX_SIZED_CONTIGUOUS(bits, function)                                                                 \
    static void ctx_##function(void *dest, const void *source, size_t n, int pe)                             \
    {                                                                                                        \
        shmem_ctx_##function(ctx, dest, source, n, pe);                                                      \
    }
#define CTX_SIZED_STRIDED(bits, function)                                                                    \
    static void ctx_##function(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t n,       \
                               int pe)                                                                       \
    {                                                                                                        \
        shmem_ctx_##function(ctx, dest, source, dst, sst, n, pe);                                            \
    }
#define CTX_SIZED(bits)                                                                                      \
    CTX_SIZED_CONTIGUOUS(bits, put##bits)                                                                    \
    CTX_SIZED_CONTIGUOUS(bits, get##bits)                                                                    \
    CTX_SIZED_CONTIGUOUS(bits, put##bits##_nbi)                                                              \
    CTX_SIZED_CONTIGUOUS(bits, get##bits##_nbi)                                                              \
    CTX_SIZED_STRIDED(bits, iput##bits)                                                                      \
    CTX_SIZED_STRIDED(bits, iget##bits)
SIZES(CTX_SIZED)

#define CTX_SIZED_ROW(bits)                                                                                  \
    {.name = "ctx bits " #bits,                                                                              \
     .size = bits / 8,                                                                                       \
     .set = set_##bits,                                                                                      \
     .at = at_##bits,                                                                                        \
     .put = ctx_put##bits,                                                                                   \
     .get = ctx_get##bits,                                                                                   \
     .put_nbi = ctx_put##bits##_nbi,                                                                         \
     .get_nbi = ctx_get##bits##_nbi,                                                                         \
     .iput = ctx_iput##bits,                                                                                 \
     .iget = ctx_iget##bits},
static const struct rma_type ctx_sized[] = {SIZES(CTX_SIZED_ROW)};

/* ---- bytes, and lengths ---- */

static void check_bytes(const unsigned char *p, size_t n, int seed, const char *what)
{
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) wrong += p[i] != (unsigned char)(i * 31 + i / 251 + (size_t)seed);
    CHECK_EQ_FOR(what, wrong, 0);
}

static void fill_bytes(unsigned char *p, size_t n, int seed)
{
    for (size_t i = 0; i < n; i++) p[i] = (unsigned char)(i * 31 + i / 251 + (size_t)seed);
}

/* Odd lengths at odd addresses, up to a mebibyte. */
static void transfers_of_bytes(void)
{
    static const size_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 4097, 65537, (1 << 20) - 9};
    size_t most = 1 << 20;
    unsigned char *block = symmetric(4 * most), *local = malloc(most);
    if (!local) abort();
    for (size_t k = 0; k < LENGTH(lengths); k++) {
        size_t n = lengths[k];
        fill_bytes(local, n, me + (int)k);
        shmem_putmem(block + 1, local, n, right());
        shmem_putmem_nbi(block + most + 3, local, n, right());
        shmem_ctx_putmem(ctx, block + 2 * most + 5, local, n, right());
        shmem_ctx_putmem_nbi(ctx, block + 3 * most, local, n, right());
        shmem_ctx_quiet(ctx);
        shmem_barrier_all();
        check_bytes(block + 1, n, left() + (int)k, "putmem");
        check_bytes(block + most + 3, n, left() + (int)k, "putmem_nbi");
        check_bytes(block + 2 * most + 5, n, left() + (int)k, "ctx_putmem");
        check_bytes(block + 3 * most, n, left() + (int)k, "ctx_putmem_nbi");
        shmem_getmem(local, block + 1, n, right());
        check_bytes(local, n, me + (int)k, "getmem");
        shmem_getmem_nbi(local, block + most + 3, n, left());
        shmem_quiet();
        check_bytes(local, n, (left() + n_pes - 1) % n_pes + (int)k, "getmem_nbi");
        shmem_ctx_getmem(ctx, local, block + 2 * most + 5, n, me);
        check_bytes(local, n, left() + (int)k, "ctx_getmem");
        shmem_ctx_getmem_nbi(ctx, local, block + 3 * most, n, right());
        shmem_ctx_quiet(ctx);
        check_bytes(local, n, me + (int)k, "ctx_getmem_nbi");
        shmem_barrier_all();
    }
    free(local);
    shmem_free(block);
}

/* Source and target may both be symmetric, of different kinds, and the own PE is a target like another. */
static void transfers_to_oneself(void)
{
    static long kept[4];
    long *block = symmetric(4 * sizeof(long)), values[4] = {11, 22, 33, 44};
    shmem_long_put(block, values, 4, me);
    shmem_quiet();
    CHECK_EQ(shmem_long_g(block + 3, me), 44);
    shmem_long_get(kept, block, 4, me);
    for (size_t i = 0; i < 4; i++) CHECK_EQ(kept[i], values[i]);
    shmem_long_put(block, kept + 1, 1, me);
    shmem_quiet();
    CHECK_EQ(shmem_long_g(block, me), 22);
    shmem_barrier_all();
    shmem_free(block);
}

int main(void)
{
    check_begin("rma");
    void *block = symmetric(RMA_NBYTES);
    static ALIGNED char kept[RMA_NBYTES];
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    check_case("typed");
    for (size_t i = 0; i < LENGTH(typed); i++) check_rma(&typed[i], block, shmem_quiet);
    check_case("ctx_typed");
    for (size_t i = 0; i < LENGTH(ctx_typed); i++) check_rma(&ctx_typed[i], block, quiet_ctx);
    check_case("typed_on_static_memory");
    for (size_t i = 0; i < LENGTH(typed); i++) check_rma(&typed[i], kept, shmem_quiet);
    check_case("sized");
    for (size_t i = 0; i < LENGTH(sized); i++) check_rma(&sized[i], block, shmem_quiet);
    check_case("ctx_sized");
    for (size_t i = 0; i < LENGTH(ctx_sized); i++) check_rma(&ctx_sized[i], block, quiet_ctx);
    check_case("bytes_of_any_length");
    transfers_of_bytes();
    check_case("to_oneself");
    transfers_to_oneself();
    shmem_ctx_destroy(ctx);
    shmem_free(block);
    return check_end();
}
