/* SPDX-License-Identifier: MIT
 *
 * The conformance suite: every function of the public headers, run as a job of any size by
 *
 *     rocshmem-run -n N rocshmem-conformance [chapter[/case]]...
 *
 * Every PE runs every case. A check that fails prints "FAIL chapter/case: file:line what" and the case goes
 * on, so that the PEs stay in step; the program exits with 1 when anything failed on any PE. A case needs no
 * clean-up on failure, but must free what it allocates: the harness compares the heap before and after.
 *
 * The harness replaces the error handler: an error that no EXPECT_ asked for is a failure.
 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocshmem/rocshmemx.h>

/* A case is run when all its needs are met, else counted as skipped, with the reason. */
enum needs {
    NEEDS_NOTHING = 0,
    NEEDS_2_PES = 1,
    NEEDS_3_PES = 2,
    NEEDS_BIG_HEAP = 4, /* 3 GiB: ROCSHMEM_HEAP_SIZE=3G, and memory for what is touched */
    NEEDS_HOST = 8,     /* it is about what only the host device has */
    NEEDS_REUSE = 16,   /* it is about blocks used again at once, side by side: not so in checked mode */
};

struct test_case {
    const char *name; /* the sentence that is true */
    void (*run)(void);
    unsigned needs; /* enum needs, ored */
};

struct chapter {
    const char *name;
    const struct test_case *cases;
    size_t n;
};
#define CHAPTER(name)                                                                                        \
    const struct chapter name##_chapter = {#name, name##_cases, sizeof name##_cases / sizeof name##_cases[0]}

extern const struct chapter info_chapter, memory_chapter, rma_chapter, amo_chapter, signal_chapter,
    order_chapter, collective_chapter, reduce_chapter, team_chapter, context_chapter, stream_chapter,
    stream_order_chapter, strided_chapter, wait_chapter, model_chapter;

extern int me, n_pes; /* set before any case runs */
/* PEs of this PE's host, found out without asking the library; this PE's place among them. */
extern int n_near, my_near;
bool is_near(int pe);
extern bool on_host; /* the heap is in the memory of the host, not of a GPU */

/* How often something is done that should be done n times: less on a GPU, where a call takes as many
 * microseconds as it takes nanoseconds on the host. */
static inline int times(int n)
{
    return on_host || n < 100 ? n : n / 10;
}

/* ---- checks ---- */

/* Any thread. Counts one failure of the running case, prints the first few. */
void fail_at(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define FAIL(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition) ((condition) ? (void)0 : FAIL("not true: %s", #condition))
#define CHECK_EQ(got, want)                                                                                  \
    do {                                                                                                     \
        long long got_ = (long long)(got), want_ = (long long)(want);                                        \
        if (got_ != want_)                                                                                   \
            FAIL("%s is %lld (0x%llx), not %lld (0x%llx)", #got, got_, (unsigned long long)got_, want_,      \
                 (unsigned long long)want_);                                                                 \
    } while (0)

/* A failure of the API is wanted: status, in the function op, and a text that contains every further string.
 * _ERROR for void and value functions (the handler is called), _STATUS for those that return a status, _NULL
 * for a pointer. */
#define EXPECT_ERROR(call, status, op, ...)                                                                  \
    do {                                                                                                     \
        expect_begin();                                                                                      \
        (void)(call);                                                                                        \
        expect_error(__FILE__, __LINE__, #call, status, op, (const char *const[]){__VA_ARGS__, NULL});       \
    } while (0)
#define EXPECT_STATUS(call, status, op, ...)                                                                 \
    do {                                                                                                     \
        expect_begin();                                                                                      \
        int got_ = (call);                                                                                   \
        expect_status(__FILE__, __LINE__, #call, got_, status, op,                                           \
                      (const char *const[]){__VA_ARGS__, NULL});                                             \
    } while (0)
#define EXPECT_NULL(call, status, op, ...)                                                                   \
    do {                                                                                                     \
        expect_begin();                                                                                      \
        int got_ = (call) ? 0 : (status);                                                                    \
        expect_status(__FILE__, __LINE__, #call, got_, status, op,                                           \
                      (const char *const[]){__VA_ARGS__, NULL});                                             \
    } while (0)
void expect_begin(void);
void expect_error(const char *file, int line, const char *call, int status, const char *op,
                  const char *const *words);
void expect_status(const char *file, int line, const char *call, int got, int status, const char *op,
                   const char *const *words);

/* ---- data ---- */

/* Byte i of the pattern that seed names; a neighbour, another seed and another PE differ. */
static inline unsigned char pattern_byte(uint64_t seed, size_t i)
{
    uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u + (i >> 3) * 0xff51afd7ed558ccdu;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (unsigned char)(x >> (8 * (i & 7)));
}
void fill(void *p, size_t nbytes, uint64_t seed);
void fill_byte(void *p, size_t nbytes, int byte);
/* Are these bytes the pattern; are they all this byte? One failure that names the first wrong one. */
#define CHECK_FILLED(p, nbytes, seed) check_filled(__FILE__, __LINE__, #p, p, nbytes, seed)
#define CHECK_BYTES(p, nbytes, byte) check_bytes(__FILE__, __LINE__, #p, p, nbytes, byte)
void check_filled(const char *file, int line, const char *what, const void *p, size_t nbytes, uint64_t seed);
void check_bytes(const char *file, int line, const char *what, const void *p, size_t nbytes, int byte);

/* Equal seeds give equal sequences, on every PE. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t x = (*state += 0x9e3779b97f4a7c15u);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
static inline size_t random_below(uint64_t *state, size_t n)
{
    return (size_t)(next_random(state) % n);
}

/* The CPU may not touch a GPU's memory, so nobody but these, fill and the checks looks at symmetric memory.
 * GET is a load, SET a store; copy_of all of it, to be freed. */
void heap_read(void *to, const void *from, size_t nbytes);
void heap_write(void *to, const void *from, size_t nbytes);
void *copy_of(const void *from, size_t nbytes);
#define GET(p)                                                                                               \
    __extension__({                                                                                          \
        __typeof__(*(p)) value_;                                                                             \
        heap_read((void *)&value_, p, sizeof value_);                                                        \
        value_;                                                                                              \
    })
#define SET(p, value)                                                                                        \
    do {                                                                                                     \
        __typeof__(*(p)) value_ = (value);                                                                   \
        heap_write(p, &value_, sizeof value_);                                                               \
    } while (0)

/* Symmetric memory, zeroed; ends the program with a message when there is none. */
void *symmetric(size_t nbytes);
static inline int right(void)
{
    return (me + 1) % n_pes;
}
static inline int left(void)
{
    return (me + n_pes - 1) % n_pes;
}

/* Run n threads of fn(arg, i) and join them. */
void run_threads(int n, void (*fn)(void *arg, int i), void *arg);
/* A delay of a few hundred instructions at most; never used to make something true. */
void dawdle(uint64_t *state);
/* malloc, or the end of the program. */
void *ordinary(size_t nbytes);

#endif
