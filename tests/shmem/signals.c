/* SPDX-License-Identifier: MIT
 *
 * Put with signal: data before the signal, set and add, every type, size and form; fetching a signal and waiting for one.
 * Needs 1.5.
 */
#include "check.h"
#include "types.h"

enum { N = 21 };
static uint64_t signal_words[8];
static shmem_ctx_t ctx;

/* ---- every form, with one check ---- */

/* put: what to call, with the data, the length, the signal word, the value and how it is applied. */
#define SEND_TYPE(NAME, T, form, CALL)                                                                       \
    static void form##NAME(void *block, uint64_t *word)                                                      \
    {                                                                                                        \
        T *dest = block, source[N];                                                                          \
        uint64_t start = *word;                                                                              \
        for (size_t i = 0; i < N; i++) source[i] = (T)pattern(me, 3, i);                                     \
        memset(dest, 0, (N + 2) * sizeof(T));                                                                \
        shmem_barrier_all();                                                                                 \
        CALL(NAME, dest + 1, source, N, word, start + 5, SHMEM_SIGNAL_SET, right());                         \
        CHECK_FOR(#form #NAME, shmem_signal_wait_until(word, SHMEM_CMP_NE, start) == start + 5);             \
        for (size_t i = 0; i < N + 2; i++)                                                                   \
            CHECK_EQ_FOR(#form #NAME, dest[i], i >= 1 && i <= N ? pattern(left(), 3, i - 1) : 0);            \
        shmem_barrier_all();                                                                                 \
        for (size_t i = 0; i < N; i++) source[i] = (T)pattern(me, 4, i);                                     \
        CALL(NAME, dest, source, 2, word, 7, SHMEM_SIGNAL_ADD, right());                                     \
        CALL(NAME, dest + 2, source + 2, N - 2, word, 3, SHMEM_SIGNAL_ADD, right());                         \
        CHECK_FOR(#form #NAME, shmem_signal_wait_until(word, SHMEM_CMP_GE, start + 15) == start + 15);       \
        for (size_t i = 0; i < N; i++) CHECK_EQ_FOR(#form #NAME, dest[i], pattern(left(), 4, i));            \
        CHECK_FOR(#form #NAME, shmem_signal_fetch(word) == start + 15);                                      \
        shmem_ctx_quiet(ctx);                                                                                \
        shmem_barrier_all();                                                                                 \
    }

#define TYPED(NAME, ...) shmem_##NAME##_put_signal(__VA_ARGS__)
#define TYPED_NBI(NAME, ...) shmem_##NAME##_put_signal_nbi(__VA_ARGS__)
#define CTX_TYPED(NAME, ...) shmem_ctx_##NAME##_put_signal(ctx, __VA_ARGS__)
#define CTX_TYPED_NBI(NAME, ...) shmem_ctx_##NAME##_put_signal_nbi(ctx, __VA_ARGS__)
#define GENERIC(NAME, ...) shmem_put_signal(__VA_ARGS__)
#define GENERIC_NBI(NAME, ...) shmem_put_signal_nbi(__VA_ARGS__)
#define CTX_GENERIC(NAME, ...) shmem_put_signal(ctx, __VA_ARGS__)
#define CTX_GENERIC_NBI(NAME, ...) shmem_put_signal_nbi(ctx, __VA_ARGS__)

#define FORMS(NAME, T)                                                                                       \
    SEND_TYPE(NAME, T, typed_, TYPED)                                                                        \
    SEND_TYPE(NAME, T, typed_nbi_, TYPED_NBI)                                                                \
    SEND_TYPE(NAME, T, ctx_typed_, CTX_TYPED)                                                                \
    SEND_TYPE(NAME, T, ctx_typed_nbi_, CTX_TYPED_NBI)                                                        \
    SEND_TYPE(NAME, T, generic_, GENERIC)                                                                    \
    SEND_TYPE(NAME, T, generic_nbi_, GENERIC_NBI)                                                            \
    SEND_TYPE(NAME, T, ctx_generic_, CTX_GENERIC)                                                            \
    SEND_TYPE(NAME, T, ctx_generic_nbi_, CTX_GENERIC_NBI)
RMA_TYPES(FORMS)
#define FORM_ROWS(NAME, T)                                                                                   \
    typed_##NAME, typed_nbi_##NAME, ctx_typed_##NAME, ctx_typed_nbi_##NAME, generic_##NAME,                  \
        generic_nbi_##NAME, ctx_generic_##NAME, ctx_generic_nbi_##NAME,
static void (*const typed_forms[])(void *, uint64_t *) = {RMA_TYPES(FORM_ROWS)};

typedef void put_signal(void *, const void *, size_t, uint64_t *, uint64_t, int, int);
#define CTX_SIZED(name)                                                                                      \
    static void ctx_##name(void *dest, const void *source, size_t n, uint64_t *word, uint64_t signal,        \
                           int op, int pe)                                                                   \
    {                                                                                                        \
        shmem_ctx_##name(ctx, dest, source, n, word, signal, op, pe);                                        \
    }
#define CTX_SIZES(bits) CTX_SIZED(put##bits##_signal) CTX_SIZED(put##bits##_signal_nbi)
SIZES(CTX_SIZES)
CTX_SIZED(putmem_signal)
CTX_SIZED(putmem_signal_nbi)
#define SIZE_ROWS(bits)                                                                                      \
    {shmem_put##bits##_signal, bits / 8}, {shmem_put##bits##_signal_nbi, bits / 8},                          \
        {ctx_put##bits##_signal, bits / 8}, {ctx_put##bits##_signal_nbi, bits / 8},
static const struct {
    put_signal *put;
    size_t size;
} sized_forms[] = {SIZES(SIZE_ROWS){shmem_putmem_signal, 1},
                   {shmem_putmem_signal_nbi, 1},
                   {ctx_putmem_signal, 1},
                   {ctx_putmem_signal_nbi, 1}};

static void sized(put_signal *put, size_t size, unsigned char *block, uint64_t *word)
{
    static const size_t lengths[] = {0, 1, 3, 64, 1001, 20000};
    static unsigned char source[20000 * 16];
    for (size_t k = 0; k < LENGTH(lengths); k++) {
        size_t nbytes = lengths[k] * size;
        for (size_t i = 0; i < nbytes; i++) source[i] = (unsigned char)pattern(me, (int)k, i);
        block[nbytes] = 255;
        *word = 0;
        shmem_barrier_all();
        put(block, source, lengths[k], word, k + 1, k % 2 ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET, right());
        CHECK(shmem_signal_wait_until(word, SHMEM_CMP_EQ, k + 1) == k + 1);
        size_t wrong = block[nbytes] != 255;
        for (size_t i = 0; i < nbytes; i++) wrong += block[i] != (unsigned char)pattern(left(), (int)k, i);
        CHECK_EQ(wrong, 0);
        shmem_ctx_quiet(ctx);
        shmem_barrier_all(); /* before anybody writes the next into it */
    }
}

/* ---- what a signal is ---- */

/* Many add to one word: nothing gets lost, and all data is there when the sum is complete. */
static void all_add_to_one(void)
{
    static long data[64];
    if (n_pes > 64) return;
    uint64_t *word = &signal_words[2];
    for (int round = 1; round <= 20; round++) {
        long value = 100 * round + me;
        for (int pe = 0; pe < n_pes; pe++)
            shmem_long_put_signal(&data[me], &value, 1, word, 1, SHMEM_SIGNAL_ADD, pe);
        CHECK(shmem_signal_wait_until(word, SHMEM_CMP_GE, (uint64_t)round * (uint64_t)n_pes) ==
              (uint64_t)round * (uint64_t)n_pes);
        for (int pe = 0; pe < n_pes; pe++) CHECK_EQ(data[pe], 100 * round + pe);
        shmem_barrier_all();
    }
}

/* Signals mix with atomics of uint64_t and with the other waits; the whole width counts. */
static void signals_are_words(void)
{
    uint64_t *word = &signal_words[3], large = (uint64_t)0xfedc << 48;
    char byte = 1;
    static char target;
    shmem_char_put_signal(&target, &byte, 1, word, large, SHMEM_SIGNAL_SET, right());
    shmem_uint64_wait_until(word, SHMEM_CMP_EQ, large);
    CHECK_EQ(target, 1);
    shmem_barrier_all();
    shmem_uint64_atomic_inc(word, right());
    CHECK(shmem_signal_wait_until(word, SHMEM_CMP_GT, large) == large + 1);
    shmem_barrier_all();
    shmem_char_put_signal(&target, &byte, 0, word, UINT64_MAX, SHMEM_SIGNAL_ADD, right()); /* minus one */
    shmem_uint64_wait_until(word, SHMEM_CMP_LE, large);
    CHECK(shmem_signal_fetch(word) == large);
    CHECK_EQ(shmem_uint64_test(word, SHMEM_CMP_EQ, large), 1);
    static const int cmps[] = {SHMEM_CMP_EQ, SHMEM_CMP_GE, SHMEM_CMP_LE};
    for (size_t i = 0; i < LENGTH(cmps); i++) CHECK(shmem_signal_wait_until(word, cmps[i], large) == large);
    CHECK(shmem_signal_wait_until(word, SHMEM_CMP_LT, large + 1) == large);
    CHECK(shmem_signal_wait_until(word, SHMEM_CMP_GT, 1) == large);
    CHECK(shmem_signal_wait_until(word, SHMEM_CMP_NE, 0) == large);
    shmem_barrier_all();
}

/* Data and signal may be of different kinds of memory; the own PE is a target, too. */
static void kinds_of_memory(void)
{
    static long kept[3];
    uint64_t *heap_word = symmetric(sizeof(uint64_t));
    long *block = symmetric(3 * sizeof(long)), values[3] = {7, 8, 9};
    shmem_long_put_signal(kept, values, 3, heap_word, 1, SHMEM_SIGNAL_SET, right());
    shmem_long_put_signal(block, values, 3, &signal_words[4], 1, SHMEM_SIGNAL_SET, right());
    shmem_signal_wait_until(heap_word, SHMEM_CMP_EQ, 1);
    shmem_signal_wait_until(&signal_words[4], SHMEM_CMP_EQ, 1);
    for (int i = 0; i < 3; i++) CHECK(kept[i] == 7 + i && block[i] == 7 + i);
    shmem_barrier_all();
    shmem_long_put_signal_nbi(block, values + 1, 1, heap_word, 9, SHMEM_SIGNAL_ADD, me);
    CHECK(shmem_signal_wait_until(heap_word, SHMEM_CMP_EQ, 10) == 10);
    CHECK_EQ(block[0], 8);
    shmem_barrier_all();
    shmem_free(block);
    shmem_free(heap_word);
}

int main(void)
{
    check_begin("signals");
    unsigned char *block = symmetric(20000 * 16 + 1);
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    CHECK(SHMEM_SIGNAL_SET != SHMEM_SIGNAL_ADD);
    check_case("types");
    for (size_t i = 0; i < LENGTH(typed_forms); i++) typed_forms[i](block, &signal_words[0]);
    check_case("sizes");
    for (size_t i = 0; i < LENGTH(sized_forms); i++)
        sized(sized_forms[i].put, sized_forms[i].size, block, &signal_words[1]);
    check_case("all_add_to_one");
    all_add_to_one();
    check_case("signals_are_words");
    signals_are_words();
    check_case("kinds_of_memory");
    kinds_of_memory();
    shmem_ctx_destroy(ctx);
    shmem_free(block);
    return check_end();
}
