# SPDX-License-Identifier: MIT
"""A PE of the matrix: program.py raw|mpi|torch, and for two hosts on one machine the variable that tells them apart."""

import os
import sys
from typing import Any


def both_are_there(rs: Any) -> str:
    me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
    words = rs.SymmetricBuffer(8 * n)
    for pe in range(n):
        rs.rocshmem_int64_atomic_set(words.ptr + 8 * me, 100 + me, pe)
    rs.rocshmem_barrier_all()
    got = [rs.rocshmem_int64_atomic_fetch(words.ptr + 8 * pe, me) for pe in range(n)]
    assert got == [100 + pe for pe in range(n)], got
    rs.rocshmem_barrier_all()
    words.free()
    return f"done {me} of {n}"


way, tells = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
if tells:
    os.environ["ROCSHMEM_NODE_ID"] = f"test-{os.environ[tells]}"
import rocshmem4py as rs  # noqa: E402

if way == "raw":
    rs.rocshmem_init()
    done = both_are_there(rs)
    rs.rocshmem_finalize()
elif way == "mpi":
    rs.init_with_mpi()
    done = both_are_there(rs)
    rs.finalize_with_mpi()
elif way == "torch":
    rs.init_with_torch()
    done = both_are_there(rs)
    rs.finalize_with_torch()
else:  # raw, then MPI in the same process, then raw again; and the other way round
    for word in way.split("+"):
        if word == "raw":
            rs.rocshmem_init()
            done = both_are_there(rs)
            rs.rocshmem_finalize()
        else:
            from mpi4py import MPI

            assert MPI.COMM_WORLD.allreduce(1) == MPI.COMM_WORLD.size > 1
            if word == "uid":
                comm = MPI.COMM_WORLD
                uid = comm.bcast(rs.rocshmem_get_uniqueid() if comm.rank == 0 else None)
                rs.rocshmem_init_attr(comm.rank, comm.size, uid)
                done = both_are_there(rs)
                rs.rocshmem_finalize()
sys.stdout.write(done + "\n")
