/* SPDX-License-Identifier: MIT
 *
 * Checked mode (ROCSHMEM_CHECK) in a job: what the PEs of a host share for it lies behind the board, in the same
 * segment; the observer that looks at calls is observe/check.c; guard zones are guard.c's.
 */
#ifndef RS_PGAS_CHECKED_H
#define RS_PGAS_CHECKED_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/job.h"

/* Bytes behind the board; 0: not checked mode. */
size_t rs_checked_nbytes(const struct rs_job *job);
/* The host's first PE, before the others have fd: make what lies at `at` in it. */
int rs_checked_make(const struct rs_job *job, int fd, size_t at);
/* Every PE. 0 at once when it is not checked mode. */
int rs_checked_start(struct rs_job *job, int fd, size_t at);
void rs_checked_stop(struct rs_job *job);
static inline bool rs_checked(const struct rs_job *job)
{
    return RS_UNLIKELY(job->check != NULL);
}
bool rs_checked_warns(const struct rs_job *job);
/* A new block: poison (unless it is to be zero) and guards; every PE its own, before anybody may use it. call: who made it. */
void rs_checked_fresh(struct rs_job *job, const void *ptr, uint32_t call, bool poison);
/* A block is about to be freed by this PE: note who did. */
void rs_checked_freed(struct rs_job *job, const void *ptr);
/* Look at all guards and all poison. 0, or CHECK. */
int rs_checked_guards(struct rs_job *job);

#endif
