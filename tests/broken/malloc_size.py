# SPDX-License-Identifier: MIT
"""Broken: each PE allocates what its own share of the rows needs; the last one has fewer."""

import rocshmem4py as rs

ROWS = 99

rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
share = -(-ROWS // n)
rows = min(share, ROWS - me * share)
block = rs.rocshmem_malloc(rows * 8)  # BUG: the size differs between PEs
rs.rocshmem_free(block)
rs.rocshmem_finalize()
