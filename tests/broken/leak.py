# SPDX-License-Identifier: MIT
"""Broken: each step allocates, none frees; the team is never destroyed."""

import rocshmem4py as rs

rs.rocshmem_init()
rs.rocshmem_team_split_strided(rs.ROCSHMEM_TEAM_WORLD, 0, 1, rs.rocshmem_n_pes())
for _step in range(3):
    work = rs.rocshmem_malloc(4096)  # BUG: never freed
    rs.rocshmem_barrier_all()
rs.rocshmem_finalize()
