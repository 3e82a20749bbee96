# SPDX-License-Identifier: MIT
"""Broken: a worker that PE 0 forks makes calls, as if it were PE 0 itself."""

import multiprocessing

import rocshmem4py as rs


def work(addr: int) -> None:
    rs.rocshmem_uint64_atomic_inc(addr, 0)  # BUG: a child is not in the job


rs.rocshmem_init()
done = rs.rocshmem_calloc(1, 8)
if rs.rocshmem_my_pe() == 0:
    worker = multiprocessing.get_context("fork").Process(target=work, args=(done,))
    worker.start()
    worker.join()
rs.rocshmem_barrier_all()
rs.rocshmem_free(done)
rs.rocshmem_finalize()
