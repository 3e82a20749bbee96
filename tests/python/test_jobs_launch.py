# SPDX-License-Identifier: MIT
"""The same small program under every launcher, with every way to join, alone, and with exit statuses."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from conftest import job_env

SIZES = (1, 2, 3, 4, 8)

#: Meets, sends a number to every PE, checks the numbers, leaves. {init} and {finalize} differ.
BODY = """
import sys
{imports}
import rocshmem4py as rs
{init}
assert "torch" not in sys.modules or {torch}, "nothing here may import torch"
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
words = rs.SymmetricBuffer(8 * n)
for pe in range(n):
    rs.rocshmem_int64_atomic_set(words.ptr + 8 * me, 100 + me, pe)
rs.rocshmem_barrier_all()
got = [rs.rocshmem_int64_atomic_fetch(words.ptr + 8 * pe, me) for pe in range(n)]
assert got == [100 + pe for pe in range(n)], got
rs.rocshmem_barrier_all()
words.free()
{finalize}
assert rs.rocshmem_my_pe() == -1 == rs.rocshmem_n_pes()
sys.stdout.write(f"done {{me}} of {{n}}\\n")
"""

RAW = BODY.format(imports="", init="rs.rocshmem_init()", finalize="rs.rocshmem_finalize()", torch=False)
TORCH = BODY.format(imports="", init="rs.init_with_torch()", finalize="rs.finalize_with_torch()", torch=True)
MPI = BODY.format(imports="", init="rs.init_with_mpi()", finalize="rs.finalize_with_mpi()", torch=False)

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
needs_mpi4py = pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed")


def done(n: int) -> list[str]:
    return sorted(f"done {pe} of {n}" for pe in range(n))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("launcher", ["rocshmem-run", "torchrun", "env", "mpirun"])
def test_plain_init_finds_the_job_of_the_launcher(run_job: Callable[..., Any], launcher: str, n: int) -> None:
    assert run_job(n, RAW, launcher=launcher, timeout=120).lines == done(n)


def test_a_program_alone_is_a_job_of_one_pe(run_job: Callable[..., Any]) -> None:
    assert run_job(1, RAW, launcher="none").lines == done(1)


@needs_torch
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("launcher", ["torchrun", "env", "rocshmem-run"])
def test_init_with_torch_finds_the_job_of_the_launcher(run_job: Callable[..., Any], launcher: str, n: int) -> None:
    assert run_job(n, TORCH, launcher=launcher, timeout=120).lines == done(n)


@needs_torch
def test_init_with_torch_works_under_mpirun(run_job: Callable[..., Any]) -> None:
    assert run_job(2, TORCH, launcher="mpirun", timeout=120).lines == done(2)


@needs_mpi4py
@pytest.mark.parametrize("n", SIZES)
def test_init_with_mpi_works_under_mpirun(run_job: Callable[..., Any], n: int) -> None:
    assert run_job(n, MPI, launcher="mpirun", timeout=120).lines == done(n)


UNIQUE_ID = """
import sys
import rocshmem4py as rs
folder, rank, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
path = folder + "/uid"
for round in range(3):
    name = f"{folder}/uid{round}"
    if rank == 0:
        uid = rs.rocshmem_get_uniqueid()
        assert isinstance(uid, bytes) and len(uid) == 128
        with open(name + ".new", "wb") as file:
            file.write(uid)
        import os
        os.rename(name + ".new", name)
    else:
        import os, time
        deadline = time.monotonic() + 30
        while not os.path.exists(name):
            assert time.monotonic() < deadline, "PE 0 wrote no unique ID"
            time.sleep(0.001)
        with open(name, "rb") as file:
            uid = file.read()
    rs.rocshmem_init_attr(rank, n, uid)
    assert (rs.rocshmem_my_pe(), rs.rocshmem_n_pes()) == (rank, n)
    rs.rocshmem_barrier_all()
    rs.rocshmem_finalize()
sys.stdout.write(f"done {rank} of {n}\\n")
"""


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_a_unique_id_through_a_file_makes_a_job_again_and_again(tmp_path: Any, n: int) -> None:
    program = tmp_path / "program.py"
    program.write_text(UNIQUE_ID)
    pes = [
        subprocess.Popen(
            [sys.executable, program, tmp_path, str(rank), str(n)],
            env=job_env(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for rank in range(n)
    ]  # fmt: skip
    try:
        outputs = [pe.communicate(timeout=90)[0] for pe in pes]
    finally:
        for pe in pes:
            pe.kill()
    assert sorted(outputs) == [line + "\n" for line in done(n)]


#: Alternates between jobs of different sizes in one process: 3 PEs, each alone, pairs, 3 again.
OTHER_SIZES = """
import os, sys
import rocshmem4py as rs
rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
assert n == 3
uids = rs.SymmetricBuffer(128 * 3)
mine = rs.rocshmem_get_uniqueid() if me == 0 else b""
import ctypes
if me == 0:
    for pe in range(n):
        ctypes.memmove(rs.rocshmem_ptr(uids, pe), mine, 128)
rs.rocshmem_barrier_all()
uid = ctypes.string_at(uids.ptr, 128)
rs.rocshmem_finalize()
if me < 2:
    rs.rocshmem_init_attr(me, 2, uid)
    assert rs.rocshmem_n_pes() == 2
    with rs.SymmetricBuffer(64) as buf:
        rs.rocshmem_int_atomic_inc(buf, 1 - me)
        rs.rocshmem_barrier_all()
        assert rs.rocshmem_int_atomic_fetch(buf, me) == 1
    rs.rocshmem_finalize()
for name in list(os.environ):
    if name.startswith("ROCSHMEM_RUN") or name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"):
        del os.environ[name]
        os.unsetenv(name)
rs.rocshmem_init()
assert (rs.rocshmem_my_pe(), rs.rocshmem_n_pes()) == (0, 1)
rs.rocshmem_finalize()
sys.stdout.write(f"done {me} of 3\\n")
"""


def test_a_process_may_join_jobs_of_other_sizes_after_each_other(run_job: Callable[..., Any]) -> None:
    assert run_job(3, OTHER_SIZES).lines == done(3)


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("launcher", ["rocshmem-run", "env"])
def test_global_exit_ends_every_pe_with_its_status(run_job: Callable[..., Any], launcher: str, n: int) -> None:
    program = """
    import rocshmem4py as rs
    rs.rocshmem_init()
    rs.rocshmem_barrier_all()
    if rs.rocshmem_my_pe() == rs.rocshmem_n_pes() - 1:
        rs.rocshmem_global_exit(status=37)
    rs.rocshmem_barrier_all()
    print("never")
    """
    job = run_job(n, program, launcher=launcher, check=False, timeout=30)
    assert job.returncode == 37 and "never" not in job.stdout, str(job)


def test_global_exit_with_0_is_success(run_job: Callable[..., Any]) -> None:
    program = """
    import rocshmem4py as rs
    rs.rocshmem_init()
    if rs.rocshmem_my_pe() == 0:
        rs.rocshmem_global_exit(0)
    rs.rocshmem_barrier_all()
    print("never")
    """
    assert run_job(3, program, timeout=30).stdout == ""


def test_rank_and_world_size_without_a_port_join_or_name_what_is_missing(run_job: Callable[..., Any]) -> None:
    """The same on every PE, within the time-out."""
    program = """
    import os, sys
    import rocshmem4py as rs
    os.environ.pop("MASTER_PORT", None)
    os.unsetenv("MASTER_PORT")
    try:
        rs.rocshmem_init()
    except RuntimeError as error:
        assert "MASTER_PORT" in str(error), error
        sys.stdout.write("refused\\n")
    else:
        rs.rocshmem_finalize()
        sys.stdout.write("joined\\n")
    """
    job = run_job(2, program, launcher="env", env={"ROCSHMEM_BOOTSTRAP_TIMEOUT": "20"}, timeout=60)
    assert job.lines in (["refused"] * 2, ["joined"] * 2), str(job)


def test_missing_pes_are_named_at_the_deadline() -> None:
    program = textwrap.dedent("""
    import rocshmem4py as rs
    try:
        rs.rocshmem_init_attr(1, 4, rs.rocshmem_get_uniqueid())
    except rs.RocshmemError as error:
        assert error.status == rs.ROCSHMEMX_E_BOOTSTRAP, error
        for word in ("0", "2", "3", "ROCSHMEM_BOOTSTRAP_TIMEOUT"):
            assert word in str(error), error
        print("named")
    """)
    env = job_env({"ROCSHMEM_BOOTSTRAP_TIMEOUT": "0.5"})
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=30)
    assert done.stdout == "named\n", done.stdout + done.stderr


def test_nothing_is_printed_unless_asked_for(run_job: Callable[..., Any]) -> None:
    job = run_job(2, RAW)
    assert job.stderr == ""
    job = run_job(2, RAW, env={"ROCSHMEM_DEBUG_LEVEL": "INFO"})
    assert "2 PEs" in job.stderr and job.lines == done(2), str(job)


@pytest.mark.parametrize("level", ["INFO", "API", "TRACE"])
def test_level_api_prints_the_calls_outside_the_data_path(run_job: Callable[..., Any], level: str) -> None:
    program = """
    import rocshmem4py as rs
    rs.rocshmem_init()
    word = rs.rocshmem_calloc(2, 8)
    rs.rocshmem_putmem(word, word, 8, 0)
    stream = rs.rocshmemx_stream_create()
    rs.rocshmem_barrier_all_on_stream(stream)
    rs.rocshmemx_stream_destroy(stream)
    rs.rocshmem_finalize()
    """
    lines = run_job(1, program, env={"ROCSHMEM_DEBUG_LEVEL": level}).stderr.splitlines()
    calls = [line.split(" api: ", 1)[1].split("(")[0] for line in lines if " api: " in line]
    stream = ["rocshmemx_stream_create", "rocshmem_barrier_all_on_stream", "rocshmemx_stream_destroy"]
    expected = ["rocshmem_init", "rocshmem_calloc", *stream, "rocshmem_finalize"]
    assert calls == ([] if level == "INFO" else expected), lines
    assert any("(16 bytes, alignment " in line for line in lines) == (level != "INFO"), lines
    assert any(" trace: " in line for line in lines) == (level == "TRACE"), lines


def test_the_environment_is_left_as_it_was(run_job: Callable[..., Any]) -> None:
    program = """
    import os
    before = dict(os.environ)
    import rocshmem4py as rs
    rs.rocshmem_init()
    rs.rocshmem_finalize()
    assert dict(os.environ) == before
    """
    run_job(2, program)
    assert os.environ.get("ROCSHMEM_RUN_RANK") is None
