/* SPDX-License-Identifier: MIT
 *
 * The part of uid.c that env.c needs besides bootstrap.h.
 */
#ifndef RS_BOOTSTRAP_UID_H
#define RS_BOOTSTRAP_UID_H

#include <stdbool.h>

#include "base/config.h"
#include "rocshmem/rocshmem.h"

/* As rs_uid_serve. once: for one job, the environment's; the thread ends by itself when that job has met and
 * closed, and rs_uid_stop(NULL) stops it. */
int rs_uid_serve_once(const struct rs_config *config, bool loopback_only, bool once,
                      rocshmem_uniqueid_t *uid_out);

#endif
