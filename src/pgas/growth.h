/* SPDX-License-Identifier: MIT
 *
 * Symmetric allocation where the windows grow: memory comes behind a block when it is taken.
 */
#ifndef RS_PGAS_GROWTH_H
#define RS_PGAS_GROWTH_H

#include <stddef.h>

struct rs_job;
struct rs_signature;

/* rs_heap_alloc, and memory behind the block on every PE. Called after rs_job_settle with the same arguments on every
 * PE. NOMEM on all of them when the device of one has no more memory; then everything is as it was before. */
int rs_grow_alloc(struct rs_job *job, const struct rs_signature *signature, size_t nbytes, size_t align,
                  void **ptr_out);

#endif
