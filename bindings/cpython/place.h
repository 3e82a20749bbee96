/* SPDX-License-Identifier: MIT
 *
 * Where the Python program of a thread is, for state dumps.
 */
#ifndef ROCSHMEM_CPYTHON_PLACE_H
#define ROCSHMEM_CPYTHON_PLACE_H

#include "module.h"

/* For rocshmemx_set_location_hook. */
int place_hook(void *arg, int in_handler, char *out, size_t nbytes);
/* Once a process, before its first job: from then on handlers can be answered. With the GIL; raises nothing. */
void place_open(void);

#endif
