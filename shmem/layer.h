/* SPDX-License-Identifier: MIT
 *
 * What the functions of libshmem.so share. The library is a thin layer over librocshmem.so, of which it uses the
 * public headers only: shmem_X calls rocshmem_X and nothing else, where there is one. Most such calls compile to one
 * jump; so an error is worded by the runtime, under a name from which error.c drops "roc".
 *
 *     LAYER(void, int_p, (int *dest, int value, int pe)) { rocshmem_int_p(dest, value, pe); }
 *     LAYER(int, team_sync, (shmem_team_t team)) { return layer_status(rocshmem_team_sync(layer_team(team))); }
 */
#ifndef SHMEM_LAYER_H
#define SHMEM_LAYER_H

#define SHMEM_NO_GENERIC
#include <stdbool.h>

#include "pshmem.h"
#include "rocshmem/rocshmem.h"
#include "rocshmem/rocshmemx.h"

/* Define shmem_X, and pshmem_X as another name of it. */
#define LAYER(result, name, arguments)                                                                       \
    extern __typeof__(shmem_##name) pshmem_##name                                                            \
        __attribute__((alias("shmem_" #name), visibility("default")));                                       \
    result shmem_##name arguments

#define LAYER_LIKELY(x) __builtin_expect(!!(x), 1)

/* ---- constants that are passed on as they are ---- */

#define LAYER_SAME(name) _Static_assert((int)SHMEM_##name == (int)ROCSHMEM_##name, "passed on as it is")
LAYER_SAME(CMP_EQ);
LAYER_SAME(CMP_NE);
LAYER_SAME(CMP_GT);
LAYER_SAME(CMP_GE);
LAYER_SAME(CMP_LT);
LAYER_SAME(CMP_LE);
LAYER_SAME(SIGNAL_SET);
LAYER_SAME(SIGNAL_ADD);
LAYER_SAME(CTX_NOSTORE);
LAYER_SAME(CTX_SERIALIZED);
LAYER_SAME(THREAD_SINGLE);
LAYER_SAME(THREAD_FUNNELED);
LAYER_SAME(THREAD_SERIALIZED);
LAYER_SAME(THREAD_MULTIPLE);
LAYER_SAME(TEAM_NUM_CONTEXTS);
LAYER_SAME(MAX_NAME_LEN);
LAYER_SAME(MAJOR_VERSION);
LAYER_SAME(MINOR_VERSION);
_Static_assert((int)SHMEM_CTX_PRIVATE == (int)ROCSHMEM_CTX_WG_PRIVATE, "passed on as it is");
#undef LAYER_SAME

/* ---- handles: numbers in pointers, the same on both sides ---- */

static inline rocshmem_ctx_t layer_ctx(shmem_ctx_t ctx)
{
    return (rocshmem_ctx_t){ctx, NULL}; /* the runtime finds a context by the first word alone */
}

static inline rocshmem_team_t layer_team(shmem_team_t team)
{
    return (rocshmem_team_t)team;
}

/* ---- errors ---- */

/* The function that the running call of this thread was made by, when the runtime's name for it is another one; NULL
 * otherwise. Set with layer_enter, taken back with layer_leave. */
extern _Thread_local const char *layer_name __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline void layer_enter(const char *function)
{
    layer_name = function;
}

static inline void layer_leave(void)
{
    layer_name = NULL;
}

/* Words on stderr for a status that a program may not look at and that breaks its job (not: a wrong argument, no memory, a
 * limit); gives it back. */
int layer_broken(int status) __attribute__((cold));
static inline int layer_status(int status)
{
    return LAYER_LIKELY(status == 0) ? 0 : layer_broken(status);
}

/* The same for a collective over team: its first wrong argument in a process has words too, as few programs look at the
 * status and the data are not there. Not on SHMEM_TEAM_INVALID, with which a program asks for the status. */
int layer_unserved(shmem_team_t team, int status) __attribute__((cold));
static inline int layer_collective(shmem_team_t team, int status)
{
    return LAYER_LIKELY(status == 0) ? 0 : layer_unserved(team, status);
}

/* For functions without a status: a status of the runtime, whose message is in this thread's slot, ends the job. */
void layer_raise(const char *function) __attribute__((cold));
static inline void layer_check(int status, const char *function)
{
    if (!LAYER_LIKELY(status == 0)) layer_raise(function);
}

/* A mistake that the layer itself found in an argument: ends the job. */
void layer_fail(const char *function, const char *format, ...) __attribute__((cold, format(printf, 2, 3)));

/* ---- job ---- */

/* How many times this process has joined a job: what a cache of handles is valid for. */
extern unsigned layer_generation __attribute__((visibility("hidden")));
/* The number of PEs while this layer's job lives, else 0: then the runtime is asked. W: init and finalize of the layer. */
extern int layer_n_pes __attribute__((visibility("hidden")));

static inline bool layer_has_pe(int pe)
{
    return (unsigned)pe < (unsigned)layer_n_pes || (pe >= 0 && pe < rocshmem_n_pes());
}

#endif
