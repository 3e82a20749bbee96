# SPDX-License-Identifier: MIT
"""Broken: PE 1 iterates until it converges, which it never does; the others wait for it in a barrier."""

import rocshmem4py as rs


def relax(x: float) -> float:
    while abs(x) > 1e-9:  # BUG: this loop never ends
        x = 1.0 - x  # BUG: to and fro; any line of the loop is the place
    return x


rs.rocshmem_init()
if rs.rocshmem_my_pe() == 1:
    print("relaxing", flush=True)
    relax(0.3)
rs.rocshmem_barrier_all()
rs.rocshmem_finalize()
