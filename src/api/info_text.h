/* SPDX-License-Identifier: MIT
 *
 * The pages that rocshmem-info prints. docs/environment.md and docs/support.md are two of them, letter by
 * letter (a contract test compares), so these two say nothing of the machine or of the environment they are
 * printed in.
 */
#ifndef RS_API_INFO_TEXT_H
#define RS_API_INFO_TEXT_H

#include "base/config.h"

/* Write a page to fd: what is NULL or "all", "environment" or "support"; else ARG. config: as read from the
 * environment, for "all" only; NULL leaves the values out. SYSTEM when fd cannot be written. */
int rs_info_print(int fd, const char *what, const struct rs_config *config);

#endif
