/* SPDX-License-Identifier: MIT
 *
 * Deprecated since OpenSHMEM 1.1: the header's old folder.
 */
#ifndef MPP_SHMEMX_H
#define MPP_SHMEMX_H

#include "../shmemx.h"

#endif
