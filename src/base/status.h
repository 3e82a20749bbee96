/* SPDX-License-Identifier: MIT
 *
 * Internal functions return 0 or a negative enum rs_status and leave a message in the calling thread's error
 * slot. The function that decides that something failed words it, once; its callers only pass the status on.
 * Wording: what could not be done, the argument and its value, the limit; the remedy. Lower case, no full
 * stop.
 */
#ifndef RS_BASE_STATUS_H
#define RS_BASE_STATUS_H

#include <stdbool.h>

#include "rocshmem/rocshmemx.h"

#define RS_STATUS_(name, value, text) RS_E_##name = (value),
enum rs_status { RS_OK = 0, ROCSHMEMX_STATUSES(RS_STATUS_) };
#undef RS_STATUS_

/* Fill this thread's slot and return status, so that `return rs_fail(...)` reads. The PE it is about: none.
 */
int rs_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* The same, about a PE. */
int rs_fail_pe(int status, int pe, const char *format, ...) __attribute__((format(printf, 3, 4), cold));
/* Put "context: " before the message that a callee left in the slot; returns the slot's status. */
int rs_fail_context(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

#ifdef __clang_analyzer__ /* It does not look into another file, and these give back their first argument.   \
                           */
#define rs_fail(status, ...) ((void)(rs_fail)(status, __VA_ARGS__), (status))
#define rs_fail_pe(status, ...) ((void)(rs_fail_pe)(status, __VA_ARGS__), (status))
#endif

/* This thread's slot; status 0 when empty. Owned by the thread. */
rocshmemx_error_t *rs_error_slot(void);
void rs_error_clear(void);
const char *rs_status_text(int status);

/* Return the code of a call that failed. The only macro with a hidden return: in functions that own nothing
 * yet. */
#define RS_TRY(call)                                                                                         \
    do {                                                                                                     \
        int rs_try_rc_ = (call);                                                                             \
        if (rs_try_rc_ < 0) return rs_try_rc_;                                                               \
    } while (0)

#define RS_LIKELY(x) __builtin_expect(!!(x), 1)
#define RS_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Our own mistakes. ASSERT stops a debug build; NEVER is true when the impossible happened, so that a release
 * build can turn it into an error. */
#ifdef RS_DEBUG
#define RS_ASSERT(x) ((x) ? (void)0 : __builtin_trap())
#define RS_NEVER(x) ((x) ? (__builtin_trap(), true) : false)
#else
#define RS_ASSERT(x) ((void)sizeof(x))
#define RS_NEVER(x) (x)
#endif

#endif
