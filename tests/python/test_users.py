# SPDX-License-Identifier: MIT
"""What users of such libraries suffer from, where no other test has it yet; docs/faq.md has the whole list."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from conftest import find_tool, free_port, job_env


def collected() -> None:
    """PEs drop buffers at different times, in cycles, in threads, while others are in collectives; some never do."""
    import gc
    import sys
    import threading
    from types import SimpleNamespace

    import rocshmem4py as rs

    rs.rocshmem_init()
    me = rs.rocshmem_my_pe()
    gc.disable()
    for turn in range(30):
        node = SimpleNamespace(buffer=rs.SymmetricBuffer(4096))
        node.itself = node  # only the collector ends it
        node.view = memoryview(node.buffer)
        del node
        if turn % 3 == me % 3:  # on some PEs only: a collective in here would wait for the others for ever
            gc.collect()
            thread = threading.Thread(target=gc.collect)
            thread.start()
            thread.join()
        rs.rocshmem_barrier_all()
    rs.__dict__["kept"] = rs.SymmetricBuffer(64)  # ends with the interpreter
    rs.rocshmem_finalize()
    sys.stdout.write(f"left {me}\n")


@pytest.mark.parametrize("n", [2, 3])
def test_the_garbage_collector_runs_no_collective(run_job: Callable[..., Any], n: int) -> None:
    job = run_job(n, collected, env={"ROCSHMEM_TIMEOUT": "20"})
    assert job.lines == [f"left {pe}" for pe in range(n)] and job.stderr == "", str(job)


def huge() -> None:
    """A block above 4 GiB in a heap above that, touched in a few places only; and 2^31 + 4096 bytes that are put."""
    import rocshmem4py as rs

    rs.rocshmem_init()
    me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
    peer = (me + 1) % n
    with rs.SymmetricBuffer((1 << 32) + 4096) as block, memoryview(block) as bytes_:
        for at in (0, (1 << 31) - 2, (1 << 31) + 5, (1 << 32) - 1, (1 << 32) + 4088):
            bytes_[at : at + 8] = bytes(8)
        rs.rocshmem_barrier_all()
        for at in ((1 << 31) - 2, (1 << 31) + 5, (1 << 32) + 4088):
            source = rs.SymmetricBuffer(8)
            memoryview(source)[:] = (at + me).to_bytes(8, "little")
            block[at : at + 8].put(source, 8, peer)
            rs.rocshmem_barrier_all()
            assert int.from_bytes(bytes_[at : at + 8], "little") == at + (me - 1) % n
            source.free()
        try:
            rs.rocshmem_putmem(block, block, len(block) + 1, peer)
        except ValueError as error:
            assert str(len(block) + 1) in str(error), error
        else:
            raise AssertionError("a put past the end went through")
        if me == 0:  # source and destination are in one block: the last 2 GiB to the first of the peer's
            bytes_[(1 << 31) + 4095] = 77
            rs.rocshmem_putmem(block, block, (1 << 31) + 4096, peer)
        rs.rocshmem_barrier_all()
        if me == 1:
            assert bytes_[(1 << 31) + 4095] == 77
        rs.rocshmem_barrier_all()
    rs.rocshmem_finalize()
    print("done", me)


def test_blocks_above_4_gib_and_transfers_above_2_gib_are_ordinary(run_job: Callable[..., Any]) -> None:
    job = run_job(2, huge, env={"ROCSHMEM_HEAP_SIZE": "5G", "ROCSHMEM_TIMEOUT": "90"}, timeout=120)
    assert job.lines == ["done 0", "done 1"], str(job)


def test_import_prints_nothing_and_looks_for_no_gpu() -> None:
    source = textwrap.dedent("""
        import os
        import rocshmem4py, _rocshmem4py
        with open("/proc/self/maps") as file:
            maps = file.read()
        assert not any(name in maps for name in ("libcuda", "libamdhip64", "librocshmem_mpi")), maps
        open_files = [os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]
        assert not any(name.startswith(("/dev/nvidia", "/dev/kfd", "/dev/dri")) for name in open_files), open_files
        assert len(os.listdir("/proc/self/task")) == 1
    """)
    env = job_env({"ROCSHMEM_DEVICE": "cuda", "CUDA_VISIBLE_DEVICES": "", "ROCSHMEM_DEBUG_LEVEL": "TRACE"})
    done = subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done


FULL = """
import os
import rocshmem4py as rs
assert os.statvfs("/dev/shm").f_bavail == 0, "the directory has room"
rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
with rs.SymmetricBuffer(64 << 20) as buffer, memoryview(buffer) as all:
    all[-1] = 1
    rs.rocshmem_barrier_all()
    buffer[: 32 << 20].put(buffer.ptr + (32 << 20), 32 << 20, (me + 1) % n)
    rs.rocshmem_barrier_all()
    assert all[(32 << 20) - 1] == 1
rs.rocshmem_finalize()
print(f"done {me}\\n", end="")
"""


@pytest.mark.parametrize("launcher", ["rocshmem-run", "variables"])
def test_a_full_dev_shm_is_not_noticed(launcher: str) -> None:
    """In a mount namespace of the test's own, /dev/shm has 64 KiB, and these are used up."""
    unshare = shutil.which("unshare")
    fill = "head -c 1M /dev/zero >/dev/shm/full 2>/dev/null"
    full = f"mount -t tmpfs -o size=64k rocshmem-test /dev/shm && {{ {fill}; true; }}"
    for options in (["-m"], ["-r", "-m"]):
        if unshare and subprocess.run([unshare, *options, "sh", "-c", full], capture_output=True).returncode == 0:
            break
    else:
        pytest.skip("no mount namespace: unshare is missing, or may not mount here")
    env = job_env({"ROCSHMEM_TIMEOUT": "20"})
    if launcher == "rocshmem-run":
        job = 'exec "$2" -n 2 "$0" -c "$1"'
    else:
        env |= {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        job = 'RANK=1 "$0" -c "$1" & RANK=0 "$0" -c "$1" && wait $!'
    command = [unshare, *options, "sh", "-c", f"{full} && {job}", sys.executable, FULL, find_tool("rocshmem-run")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and sorted(done.stdout.splitlines()) == ["done 0", "done 1"], done


def test_contexts_teams_and_buffers_by_the_thousand(run_job: Callable[..., Any]) -> None:
    program = """
    import ctypes
    import rocshmem4py as rs
    rs.rocshmem_init()
    n = rs.rocshmem_n_pes()
    teams = [rs.rocshmem_team_split_strided(0, 0, 1, n) for _ in range(300)]
    assert all(status == 0 for status, _ in teams) and len(rs._live_teams) == 300
    contexts = [rs.rocshmem_ctx_create() for _ in range(2000)]
    assert len(set(map(str, contexts))) == 2000
    memory = ctypes.create_string_buffer(1 << 20)
    base = ctypes.addressof(memory)
    assert not any(rs.rocshmem_buffer_register(base + 256 * i, 256) for i in range(4096))
    streams = [rs.rocshmemx_stream_create() for _ in range(500)]
    word = rs.rocshmem_calloc(1, 8)
    for stream in streams:
        rs.rocshmem_signal_wait_until_on_stream(word, rs.ROCSHMEM_CMP_EQ, 1, stream)
    for _, team in teams:
        rs.rocshmem_barrier(team)
    rs.rocshmem_uint64_atomic_set(word, 1, rs.rocshmem_my_pe())
    rs.hip_device_synchronize()
    rs.finalize_with_mpi()
    """
    run_job(2, program, env={"ROCSHMEM_TIMEOUT": "30"})
