/* SPDX-License-Identifier: MIT
 *
 * The error slot: one failure per thread, kept until the API layer takes it.
 *
 * A slot is a kilobyte, so it is not thread-local itself (a library's thread-local block is limited and paid
 * for by every thread of the process): the thread keeps a pointer, and the block is made by its first failure
 * and freed when the thread ends. When there is no memory for it, the failure goes to one static slot that
 * all such threads share. errno passes through every function here unchanged, so that a caller may still look
 * at it.
 */
#include "base/status.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rocshmemx_error_t emergency_slot = {.pe = -1};
static _Thread_local rocshmemx_error_t *my_slot; /* malloced, or &emergency_slot, or NULL: no failure yet */
static pthread_key_t slot_key;                   /* its destructor frees my_slot; valid when slot_key_ok */
static bool slot_key_ok;
static pthread_once_t slot_key_once = PTHREAD_ONCE_INIT;

static void free_slot(void *slot)
{
    my_slot = NULL; /* a later destructor of this thread may fail too: it gets a slot of its own */
    free(slot);
}

static void make_slot_key(void)
{
    slot_key_ok = pthread_key_create(&slot_key, free_slot) == 0;
}

rocshmemx_error_t *rs_error_slot(void)
{
    if (my_slot) return my_slot;
    int saved_errno = errno;
    pthread_once(&slot_key_once, make_slot_key);
    rocshmemx_error_t *slot = slot_key_ok ? calloc(1, sizeof(*slot)) : NULL;
    if (slot && pthread_setspecific(slot_key, slot) != 0) {
        free(slot);
        slot = NULL;
    }
    if (slot) slot->pe = -1;
    my_slot = slot ? slot : &emergency_slot;
    errno = saved_errno;
    return my_slot;
}

void rs_error_clear(void)
{
    if (!my_slot) return;
    my_slot->status = 0;
    my_slot->pe = -1;
    my_slot->op[0] = my_slot->text[0] = '\0';
}

/* The one writer of slots. One line: what a foreign text brings along as line ends becomes blanks. */
__attribute__((format(printf, 3, 0))) static int fill_slot(int status, int pe, const char *format,
                                                           va_list args)
{
    int saved_errno = errno;
    rocshmemx_error_t *slot = rs_error_slot();
    slot->status = status;
    slot->pe = pe;
    slot->op[0] = '\0';
    errno = saved_errno; /* for %m */
    if (vsnprintf(slot->text, sizeof(slot->text), format, args) < 0) slot->text[0] = '\0';
    for (char *c = slot->text; *c; c++)
        if (*c == '\n' || *c == '\r') *c = ' ';
    errno = saved_errno;
    return status;
}

int(rs_fail)(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill_slot(status, -1, format, args);
    va_end(args);
    return status;
}

int(rs_fail_pe)(int status, int pe, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill_slot(status, pe, format, args);
    va_end(args);
    return status;
}

int rs_fail_context(const char *format, ...)
{
    int saved_errno = errno;
    rocshmemx_error_t *slot = rs_error_slot();
    char before[sizeof(slot->text)], context[256];
    memcpy(before, slot->text, sizeof(before));
    va_list args;
    va_start(args, format);
    int length = vsnprintf(context, sizeof(context), format, args);
    va_end(args);
    if (length > 0) { /* the context is the shorter part: what does not fit is the end of the message */
        int room = (int)(sizeof(slot->text) - strlen(context) - sizeof(": "));
        snprintf(slot->text, sizeof(slot->text), "%s: %.*s", context, room, before);
    }
    errno = saved_errno;
    return slot->status;
}

const char *rs_status_text(int status)
{
#define TEXT_(name, value, text)                                                                             \
    case value:                                                                                              \
        return text;
    switch (status) {
        ROCSHMEMX_STATUSES(TEXT_)
    case 0:
        return "success";
    default:
        return "unknown status";
    }
#undef TEXT_
}
