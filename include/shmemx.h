/* SPDX-License-Identifier: MIT
 *
 * The place that OpenSHMEM gives to an implementation's extensions. This one has none under shmemx_ names: what
 * it adds is in rocshmem/rocshmemx.h, and may be called from the same program.
 */
#ifndef SHMEMX_H
#define SHMEMX_H

#include "shmem.h"

#endif
