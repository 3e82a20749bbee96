# SPDX-License-Identifier: MIT
"""PEs that share a GPU, of which the first serves the others (docs/gpu.md): one is killed while all use the service. On
the fake driver, so that it runs without a GPU."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FAKE = Path(__file__).resolve().parents[2] / "build" / "cmake" / "tests" / "fakegpu"
E_PEER, E_BROKEN = -5, -9

#: All add to the next PE's word: by the host, which waits for the server, or on a stream, which does. A barrier now and
#: then waits for the PEs that nobody else waits for.
PROGRAM = """
import os, sys, time
import rocshmem4py as rs

def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())  # one write: lines of two PEs do not mix

rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
word, stream, rounds = rs.rocshmem_calloc(1, 8), rs.rocshmemx_stream_create(), 0
rs.rocshmem_barrier_all()
say("READY", me, os.getpid())
try:
    while rounds < int(sys.argv[2]):
        for _ in range(20):
            if sys.argv[1] == "host":
                rs.rocshmem_uint64_atomic_add(word, 1, (me + 1) % n)
            else:
                rs.rocshmem_signal_add_on_stream(word, 1, (me + 1) % n, stream)
        rs.rocshmemx_stream_synchronize(stream)
        rounds += 1
        rs.rocshmem_barrier_all()
    say("SUM", me, rs.rocshmem_uint64_atomic_fetch(word, me))
    rs.rocshmem_finalize()
except rs.RocshmemError as error:
    say("CAUGHT", me, time.monotonic_ns(), error.status, error)
"""


def start(watch: Callable[..., Any], n: int, how: str, rounds: int) -> Any:
    if not (FAKE / "libcuda.so.1").exists():
        pytest.skip(f"no fake GPU driver: {FAKE} is not built (make c-tests)")
    env = {"ROCSHMEM_DEVICE": "cuda", "FAKEGPU_STRICT": "1", "ROCSHMEM_HEAP_SIZE": "64M", "LD_LIBRARY_PATH": str(FAKE)}
    return watch(n, [sys.executable, "-c", PROGRAM, how, rounds], env=env)


@pytest.mark.parametrize("how", ["host", "stream"])
@pytest.mark.parametrize("n", [2, 4])
def test_sums_are_exact(watch: Callable[..., Any], how: str, n: int) -> None:
    job = start(watch, n, how, 10)
    sums = job.await_lines("SUM", n)
    assert sorted(sums) == [f"{pe} 200" for pe in range(n)], str(job)
    assert job.end() == 0, str(job)
    assert job.leftovers() == [], str(job)


@pytest.mark.parametrize("how", ["host", "stream"])
@pytest.mark.parametrize("victim", [0, 1, 2])
def test_a_killed_pe_is_named_by_all_others(watch: Callable[..., Any], victim: int, how: str) -> None:
    n = 3
    job = start(watch, n, how, 1 << 40)
    pids = job.pids()
    time.sleep(0.2)
    killed_ns = time.monotonic_ns()
    os.kill(pids[victim], signal.SIGKILL)
    caught = job.await_lines("CAUGHT", n - 1, timeout=15)
    assert {int(line.split()[0]) for line in caught} == set(range(n)) - {victim}, str(job)
    for line in caught:
        pe, ns, status, text = line.split(" ", 3)
        assert int(status) in (E_PEER, E_BROKEN), line
        assert re.search(rf"\bPE {victim}\b", text), line
        assert (int(ns) - killed_ns) / 1e9 < 1.0, f"PE {pe} noticed late: {text}"
    assert job.end() == 128 + signal.SIGKILL, str(job)
    assert job.leftovers() == [], str(job)
