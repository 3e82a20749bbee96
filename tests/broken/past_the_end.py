# SPDX-License-Identifier: MIT
"""Broken: 100 elements of 8 bytes into memory for 100 bytes."""

import rocshmem4py as rs

rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
source = rs.rocshmem_calloc(100, 8)
dest = rs.rocshmem_malloc(100)  # should be 100 * 8
rs.rocshmem_putmem(dest, source, 100 * 8, (me + 1) % n)  # BUG: leaves dest
rs.rocshmem_barrier_all()
rs.rocshmem_finalize()
