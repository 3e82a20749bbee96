/* SPDX-License-Identifier: MIT
 *
 * rocshmem.h in C++: names as in C, before and after rocshmem.hpp is included.
 */
#include <rocshmem/rocshmem.h>
#include <rocshmem/rocshmem.hpp>
#include <rocshmem/rocshmemx.h>

int global_names()
{
    rocshmem_team_t team = ROCSHMEM_TEAM_WORLD;
    return rocshmemx_initialized() ? ::rocshmem_team_n_pes(team) : -1;
}
