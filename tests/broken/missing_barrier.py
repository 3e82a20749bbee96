# SPDX-License-Identifier: MIT
"""Broken: PE 1 reads what PE 0 puts, with no barrier and no signal between the two."""

import rocshmem4py as rs

rs.rocshmem_init()
me = rs.rocshmem_my_pe()
word, mine = rs.rocshmem_calloc(1, 8), rs.rocshmem_calloc(1, 8)
if me == 0:
    rs.rocshmem_putmem(word, mine, 8, 1)  # BUG: nothing tells PE 1 that it is there
elif me == 1:
    rs.rocshmem_getmem(mine, word, 8, 1)  # BUG: too early, or not
rs.rocshmem_barrier_all()
rs.rocshmem_free(mine)
rs.rocshmem_free(word)
rs.rocshmem_finalize()
