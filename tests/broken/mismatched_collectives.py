# SPDX-License-Identifier: MIT
"""Broken: PE 0 prints a result behind a barrier that the others don't make; they are in the next step already."""

import rocshmem4py as rs

rs.rocshmem_init()
me = rs.rocshmem_my_pe()
total = rs.rocshmem_calloc(1, 8)
if me == 0:
    rs.rocshmem_barrier_all()  # BUG: only PE 0 comes here
    print("total", rs.rocshmem_uint64_atomic_fetch(total, 0))
rs.rocshmem_sync_all()
rs.rocshmem_free(total)
rs.rocshmem_finalize()
