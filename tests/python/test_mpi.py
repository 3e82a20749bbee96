# SPDX-License-Identifier: MIT
"""init_with_mpi under mpirun, with whole and split communicators, and what goes wrong without one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from conftest import job_env

needs_mpi = pytest.mark.skipif(
    find_spec("mpi4py") is None or shutil.which("mpirun") is None, reason="mpi4py or mpirun is not installed"
)


def world() -> None:
    import rocshmem4py as rs

    rs.init_with_mpi()
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
    assert (me, n) == (comm.rank, comm.size)
    buf = rs.rocshmem_create_buffer(8)
    rs.rocshmem_uint64_atomic_set(buf, 0, me)
    rs.rocshmem_barrier_all()
    for pe in range(n):
        rs.rocshmem_uint64_atomic_add(buf, me + 1, pe)
    rs.rocshmem_barrier_all()
    assert rs.rocshmem_uint64_atomic_fetch(buf, me) == n * (n + 1) // 2
    assert comm.allreduce(1) == n, "MPI goes on working beside the job"
    rs.finalize_with_mpi()
    rs.finalize_with_mpi()
    assert comm.allreduce(1) == n
    print(f"done {me} of {n}\n", end="")


@needs_mpi
@pytest.mark.parametrize("n", [1, 2, 3])
def test_all_of_comm_world(run_job: Callable[..., Any], n: int) -> None:
    assert run_job(n, world, launcher="mpirun").lines == [f"done {pe} of {n}" for pe in range(n)]


def split() -> None:
    from mpi4py import MPI

    import rocshmem4py as rs

    comm = MPI.COMM_WORLD
    odd = comm.Split(comm.rank % 2, -comm.rank)  # numbered backwards
    rs.init_with_mpi(odd)
    assert (rs.rocshmem_my_pe(), rs.rocshmem_n_pes()) == (odd.rank, odd.size)
    with rs.SymmetricBuffer(8) as buf:
        rs.rocshmem_int64_atomic_set(buf, comm.rank, (odd.rank + 1) % odd.size)
        rs.rocshmem_barrier_all()
        left = (odd.rank - 1) % odd.size
        assert rs.rocshmem_int64_atomic_fetch(buf, odd.rank) == odd.allgather(comm.rank)[left]
        rs.rocshmem_barrier_all()
    rs.finalize_with_torch()  # any end fits any beginning
    rs.init_with_mpi(comm)
    assert rs.rocshmem_n_pes() == comm.size
    rs.finalize_with_mpi()
    try:
        rs.init_with_mpi(MPI.COMM_NULL)
    except ValueError as error:
        assert "COMM_NULL" in str(error)
    print(f"done {comm.rank}\n", end="")


@needs_mpi
def test_split_communicators_are_jobs_of_their_own(run_job: Callable[..., Any]) -> None:
    assert run_job(4, split, launcher="mpirun").lines == [f"done {rank}" for rank in range(4)]


def mismatch() -> None:
    from mpi4py import MPI

    import rocshmem4py as rs

    for comm in (None, MPI.COMM_SELF):
        try:
            rs.init_with_mpi(comm)
        except RuntimeError as error:
            print(error)


@needs_mpi
def test_world_size_that_differs_from_mpis_is_an_error(run_job: Callable[..., Any]) -> None:
    job = run_job(1, mismatch, launcher="none", env={"WORLD_SIZE": "4"})
    assert len(job.lines) == 2
    for line in job.lines:
        assert "WORLD_SIZE is 4" in line and "1 processes" in line and "torchrun" in line
    job = run_job(2, mismatch, launcher="mpirun", env={"WORLD_SIZE": "1"})
    assert len(job.lines) == 4
    job = run_job(1, mismatch, launcher="none", env={"OMPI_COMM_WORLD_SIZE": "3"})
    assert "OMPI_COMM_WORLD_SIZE is 3" in job.lines[0]
    job = run_job(1, mismatch, launcher="none", env={"WORLD_SIZE": "many"})
    assert "WORLD_SIZE is 'many'" in job.lines[0]


def environment() -> None:
    import sys

    import rocshmem4py as rs

    rs.rocshmem_init()  # from mpirun's variables alone
    print(f"{rs.rocshmem_my_pe()} of {rs.rocshmem_n_pes()} {'mpi4py' in sys.modules}\n", end="")
    rs.finalize_with_mpi()


def test_plain_init_under_mpirun_needs_no_mpi4py(run_job: Callable[..., Any]) -> None:
    assert run_job(2, environment, launcher="mpirun").lines == ["0 of 2 False", "1 of 2 False"]


def test_without_mpi4py_an_import_error_says_so() -> None:
    source = """
import sys
sys.modules["mpi4py"] = None
import rocshmem4py as rs
try:
    rs.init_with_mpi()
except ImportError as error:
    print(error)
rs.finalize_with_mpi()
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, env=job_env())
    assert "mpi4py" in done.stdout and "pip install" in done.stdout, done
