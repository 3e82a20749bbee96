# SPDX-License-Identifier: MIT
"""Broken: PE 0 signals all others, but its range ends one too early; the last PE waits for ever."""

import rocshmem4py as rs

rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
ready = rs.rocshmem_calloc(1, 8)
if me == 0:
    for pe in range(1, n - 1):  # should be range(1, n)
        rs.rocshmem_uint64_atomic_set(ready, 1, pe)
else:
    rs.rocshmem_signal_wait_until(ready, rs.ROCSHMEM_CMP_EQ, 1)  # BUG: PE n - 1 stays here
rs.rocshmem_barrier_all()
rs.rocshmem_free(ready)
rs.rocshmem_finalize()
