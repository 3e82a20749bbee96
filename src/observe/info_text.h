/* SPDX-License-Identifier: MIT
 *
 * The printed tables: every variable (docs/environment.md), and what each device and transport offers (docs/support.md).
 */
#ifndef RS_OBSERVE_INFO_TEXT_H
#define RS_OBSERVE_INFO_TEXT_H

#include "base/config.h"

/* what: NULL or "all" (each variable with its value, default and origin), "environment", "support" (both in Markdown). 0 or ARG. */
int rs_info_print(int fd, const char *what, const struct rs_config *config);

#endif
