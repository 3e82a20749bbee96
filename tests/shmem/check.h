/* SPDX-License-Identifier: MIT
 *
 * The frame of the OpenSHMEM conformance programs. They are written from the specification alone, use <shmem.h> and the
 * C library, and so compile and run with any OpenSHMEM library.
 *
 * A program is a job: check_begin, then check_case("name") before each case, then return check_end(). Every PE runs
 * every case; a check that fails prints "FAIL program/case: file:line: ..." and the case goes on, so that the PEs stay
 * in step. PE 0 prints "ok program/case" behind a case without a failure of its own; a failure on any PE makes that PE,
 * and with it the job, end with 1. A case that this job cannot run says check_skip.
 */
#ifndef CHECK_H
#define CHECK_H

#include <shmem.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNED __attribute__((aligned(16)))
#define MAYBE_UNUSED __attribute__((unused))
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* What the version of the header says: programs that are 1.4 but for one case ask this. */
#define HAVE_1_5 (SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5)

struct check_state {
    const char *program, *name; /* name: the running case, NULL before the first */
    int n_checks, n_failed;     /* of the program, on this PE */
    int case_failed;
};
static struct check_state check_state;
static int me, n_pes; /* set by check_begin */

static inline int right(void)
{
    return (me + 1) % n_pes;
}

static inline int left(void)
{
    return (me + n_pes - 1) % n_pes;
}

/* ---- checks ---- */

/* The first failures of a case are printed, all are counted. */
__attribute__((format(printf, 3, 4))) static void fail_at(const char *file, int line, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    check_state.n_failed++;
    if (++check_state.case_failed <= 5)
        printf("FAIL %s/%s: PE %d of %d, %s:%d: %s\n", check_state.program,
               check_state.name ? check_state.name : "begin", me, n_pes, file, line, text);
}

#define FAIL(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition) (check_state.n_checks++, (condition) ? (void)0 : FAIL("not true: %s", #condition))
#define CHECK_FOR(what, condition)                                                                           \
    (check_state.n_checks++, (condition) ? (void)0 : FAIL("%s: not true: %s", what, #condition))
/* Integers, and other numbers with an integer value. `what` is the type or the form under test. */
#define CHECK_EQ_FOR(what, got, want)                                                                        \
    do {                                                                                                     \
        long long got_ = (long long)(got), want_ = (long long)(want);                                        \
        check_state.n_checks++;                                                                              \
        if (got_ != want_) FAIL("%s: %s is %lld, not %lld (%s)", what, #got, got_, want_, #want);            \
    } while (0)
#define CHECK_EQ(got, want) CHECK_EQ_FOR("value", got, want)

/* ---- the frame ---- */

MAYBE_UNUSED static void check_case_end(void)
{
    if (check_state.name && me == 0 && !check_state.case_failed)
        printf("ok %s/%s\n", check_state.program, check_state.name);
    check_state.name = NULL;
}

/* Ends the case before. The name is a word: it becomes a line of the test report. */
MAYBE_UNUSED static void check_case(const char *name)
{
    check_case_end();
    check_state.name = name;
    check_state.case_failed = 0;
}

/* In place of check_case: this job cannot run the case, and why. */
MAYBE_UNUSED static void check_skip(const char *name, const char *reason)
{
    check_case_end();
    if (me == 0) printf("skip %s/%s: %s\n", check_state.program, name, reason);
}

/* The library is initialised already. Lines leave as they are printed, also when the process is killed. */
MAYBE_UNUSED static void check_begin_initialised(const char *program)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    check_state.program = program;
}

MAYBE_UNUSED static void check_begin(const char *program)
{
    shmem_init();
    check_begin_initialised(program);
}

/* The exit status of main. The library is finalised. */
MAYBE_UNUSED static int check_end(void)
{
    check_case_end();
    if (me == 0) printf("%s: %d checks on PE 0 of %d\n", check_state.program, check_state.n_checks, n_pes);
    shmem_barrier_all();
    shmem_finalize();
    return check_state.n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- memory ---- */

/* Collective: a zeroed block of the symmetric heap, or the end of the job. */
MAYBE_UNUSED static void *symmetric(size_t nbytes)
{
    void *p = shmem_malloc(nbytes);
    if (!p) {
        FAIL("shmem_malloc(%zu) returned a null pointer", nbytes);
        shmem_global_exit(EXIT_FAILURE);
        abort();
    }
    memset(p, 0, nbytes);
    shmem_barrier_all();
    return p;
}

/* A small number that every arithmetic type can hold, of a PE, a purpose and an index: 1 to 100. */
static inline int pattern(int pe, int purpose, size_t i)
{
    return (int)((size_t)(pe * 37 + purpose * 11) + i * 7) % 100 + 1;
}

#endif
