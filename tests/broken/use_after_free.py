# SPDX-License-Identifier: MIT
"""Broken: the result is read after the memory it is in was given back."""

import rocshmem4py as rs

rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
count = rs.rocshmem_calloc(1, 8)
rs.rocshmem_uint64_atomic_inc(count, (me + 1) % n)
rs.rocshmem_barrier_all()
rs.rocshmem_free(count)
print("count", rs.rocshmem_uint64_atomic_fetch(count, me))  # BUG: count is gone
rs.rocshmem_finalize()
