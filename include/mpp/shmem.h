/* SPDX-License-Identifier: MIT
 *
 * Deprecated since OpenSHMEM 1.1: the header's old folder.
 */
#ifndef MPP_SHMEM_H
#define MPP_SHMEM_H

#include "../shmem.h"

#endif
