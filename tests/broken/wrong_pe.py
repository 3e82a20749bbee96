# SPDX-License-Identifier: MIT
"""Broken: a ring whose last PE has no neighbour, as the modulo is missing."""

import rocshmem4py as rs

rs.rocshmem_init()
me = rs.rocshmem_my_pe()
halo = rs.rocshmem_calloc(1, 64)
rs.rocshmem_putmem(halo, halo, 64, me + 1)  # BUG: no % n
rs.rocshmem_barrier_all()
rs.rocshmem_free(halo)
rs.rocshmem_finalize()
