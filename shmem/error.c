/* SPDX-License-Identifier: MIT
 *
 * Errors under OpenSHMEM's names. The runtime says "rocshmem_int_p: called before rocshmem_init"; here every name
 * loses its "roc", except environment variables, which keep it.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "layer.h"

_Thread_local const char *layer_name;

/* Where a name of ours starts at in, how much of it to drop; 0 where none does. */
static size_t foreign_prefix(const char *in)
{
    static const char *const variables[] = {"ROCSHMEM_CMP_",    "ROCSHMEM_CTX_",  "ROCSHMEM_SIGNAL_",
                                            "ROCSHMEM_THREAD_", "ROCSHMEM_TEAM_", "ROCSHMEM_MALLOC_"};
    if (strncmp(in, "rocshmem_", 9) == 0) return 3;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (strncmp(in, variables[i], strlen(variables[i])) == 0) return 3;
    return 0;
}

static void rename_all(char *text)
{
    char *out = text;
    for (const char *in = text; *in; *out++ = *in++) in += foreign_prefix(in);
    *out = '\0';
}

static rocshmemx_error_t renamed(const rocshmemx_error_t *error, const char *function)
{
    rocshmemx_error_t copy = *error;
    if (function) snprintf(copy.op, sizeof copy.op, "%s", function);
    rename_all(copy.op);
    rename_all(copy.text);
    return copy;
}

static void layer_handler(const rocshmemx_error_t *error, void *arg)
{
    (void)arg;
    rocshmemx_error_t copy = renamed(error, layer_name);
    rocshmemx_default_error(&copy);
}

/* From the library's start, so that a call before shmem_init is told by its name too. */
__attribute__((constructor)) static void set_handler(void)
{
    rocshmemx_set_error_handler(layer_handler, NULL);
}

static int told(int status, bool arguments_too)
{
    rocshmemx_error_t error;
    if (!rocshmemx_take_error(&error)) return status;
    if (error.status == ROCSHMEMX_E_NOMEM || error.status == ROCSHMEMX_E_LIMIT)
        return status; /* the program's to handle: nothing is broken */
    if (error.status == ROCSHMEMX_E_ARG && !arguments_too) return status;
    error = renamed(&error, layer_name);
    fprintf(stderr, "rocshmem: PE %d: %s: %s\n", rocshmem_my_pe(), error.op, error.text);
    return status;
}

int layer_broken(int status)
{
    return told(status, false);
}

int layer_unserved(shmem_team_t team, int status)
{
    static atomic_flag before = ATOMIC_FLAG_INIT;
    bool asked = team == SHMEM_TEAM_INVALID;
    return told(status, !asked && status == ROCSHMEMX_E_ARG && !atomic_flag_test_and_set(&before));
}

void layer_raise(const char *function)
{
    rocshmemx_error_t error;
    if (!rocshmemx_take_error(&error)) return;
    error = renamed(&error, function);
    rocshmemx_default_error(&error);
}

void layer_fail(const char *function, const char *format, ...)
{
    rocshmemx_error_t error = {.status = ROCSHMEMX_E_ARG, .pe = -1};
    va_list args;
    va_start(args, format);
    if (vsnprintf(error.text, sizeof error.text, format, args) < 0) error.text[0] = '\0';
    va_end(args);
    snprintf(error.op, sizeof error.op, "%s", function);
    rocshmemx_default_error(&error);
}
