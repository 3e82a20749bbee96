# SPDX-License-Identifier: MIT
"""kill -9 of one PE, or its end without finalize, while the others are in a blocking call."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

#: The calls of calls.c that can go on for ever when all take part; the others need a PE that stays away.
LOOPING = [
    "barrier_all", "barrier", "sync_all", "team_sync", "malloc", "calloc", "align", "split", "broadcast",
    "broadcast_large", "alltoall", "alltoall_large", "fcollect", "sum", "sum_large", "barrier_all_on_stream",
    "barrier_on_stream", "alltoall_on_stream", "broadcast_on_stream",
]  # fmt: skip
WAITING = [
    *(name for name in LOOPING if not name.startswith("broadcast")), "broadcast_root_1", "broadcast_root_1_on_stream",
    "free_block", "finalize", "signal_wait_until", "int_wait_until", "wait_on_stream", "device_synchronize",
    "int_wait_until_all", "int_wait_until_all_vector", "int_wait_until_any", "int_wait_until_any_vector",
    "int_wait_until_some", "int_wait_until_some_vector", "uint64_wait_until_all",
]  # fmt: skip
E_PEER, E_BROKEN = -5, -9

#: What an error says of the words that a call waited for. calls.c leaves element 1 of the arrays out.
WORD = r"waits for the word at 0x\w+ \+ \d+ \(heap offset \d+\) to be {}; it is 0"
ON_STREAM = r"waits for the word at 0x\w+ to be {}; it is 0"
WORDS = r"waits for words of the {} at 0x\w+ \+ \d+ \(heap offset \d+\) to be {}; \d are not: {}"
WAITS = {
    "signal_wait_until": WORD.format("EQ 1"),
    "int_wait_until": WORD.format("NE 0"),
    "wait_on_stream": "stream 0x10 " + ON_STREAM.format("EQ 1"),
    "device_synchronize": "stream 0x10 " + ON_STREAM.format("EQ 1"),
    **{f"int_wait_until_{form}": WORDS.format(3, "GE 1", "0, 2, 3") for form in ("all", "any", "some")},
    **{
        f"int_wait_until_{form}_vector": WORDS.format(3, "GE their values", "0, 2, 3")
        for form in ("all", "any", "some")
    },
    "uint64_wait_until_all": WORDS.format(4, "EQ 7", "0, 1, 2, 3"),
}


def check_caught(job: Any, victim: int, killed_ns: int, waits: str = "") -> None:
    """Every other PE has an error that names the victim and its wait, within a second, and has left the job."""
    n = job.n
    caught = job.await_lines("CAUGHT", n - 1, timeout=10)
    job.await_lines("LEFT", n - 1, timeout=10)
    assert {int(line.split()[0]) for line in caught} == set(range(n)) - {victim}, str(job)
    for line in caught:
        pe, ns, status, about, text = line.split(" ", 4)
        assert int(status) in (E_PEER, E_BROKEN), line
        assert re.search(rf"\bPE {victim}\b", text), line
        assert int(about) == victim, line
        assert re.search(waits, text), f"{text!r} does not say {waits}"
        seconds = (int(ns) - killed_ns) / 1e9
        assert seconds < 1.0, f"PE {pe} noticed after {seconds:.3f} s: {text}"


def kill_one(watch: Callable[..., Any], calls: Path, call: str, mode: str, n: int) -> None:
    victim = random.Random(f"{call} {mode} {n}").randrange(n)
    if call.startswith("broadcast_root_1"):
        victim = 1  # only who waits for the root waits for ever
    job = watch(n, [calls, "wait", call, victim, mode])
    pids = job.pids()
    time.sleep(random.random() * 0.08)  # the point of the test: any moment
    killed_ns = time.monotonic_ns()
    os.kill(pids[victim], signal.SIGKILL)
    check_caught(job, victim, killed_ns, WAITS.get(call, ""))
    assert job.end() == 128 + signal.SIGKILL, str(job)
    assert f"rocshmem-run: PE {victim} " in str(job), str(job)
    assert job.leftovers() == [], str(job)


@pytest.mark.parametrize("call", LOOPING)
def test_kill_at_a_random_point_in_a_call_is_an_error_on_all_others(
    watch: Callable[..., Any], calls: Path, call: str
) -> None:
    for n in (2, 4):
        kill_one(watch, calls, call, "loop", n)


@pytest.mark.parametrize("call", WAITING)
def test_kill_of_the_pe_that_all_wait_for_is_an_error_on_all_others(
    watch: Callable[..., Any], calls: Path, call: str
) -> None:
    for n in (2, 3):
        kill_one(watch, calls, call, "idle", n)


@pytest.mark.parametrize("call", ["barrier_all", "malloc", "wait_on_stream", "sum"])
def test_kill_is_noticed_in_a_job_of_eight(watch: Callable[..., Any], calls: Path, call: str) -> None:
    kill_one(watch, calls, call, "idle", 8)


@pytest.mark.parametrize("call", WAITING)
def test_a_pe_that_exits_without_finalize_is_an_error_on_all_others(
    watch: Callable[..., Any], calls: Path, call: str
) -> None:
    victim = 1
    job = watch(3, [calls, "wait", call, victim, "exit"])
    job.pids()
    caught = job.await_lines("CAUGHT", 2, timeout=10)
    for line in caught:
        assert re.search(rf"\bPE {victim}\b", line.split(" ", 4)[4]) and "finalize" in line, line
        assert re.search(WAITS.get(call, ""), line), line
    assert job.end() == 0, str(job)
    assert job.leftovers() == [], str(job)


PYTHON = """
import os, sys, time
import rocshmem4py as rs
rs.rocshmem_init()
me, victim = rs.rocshmem_my_pe(), int(sys.argv[2])
word = rs.rocshmem_calloc(1, 32)
stream = rs.rocshmemx_stream_create()
rs.rocshmem_barrier_all()
sys.stdout.write(f"READY {me} {os.getpid()}\\n")
sys.stdout.flush()
if me == victim:
    while True:
        time.sleep(100)
try:
    exec(sys.argv[1])
except rs.RocshmemError as error:
    line = f"CAUGHT {me} {time.monotonic_ns()} {error.status} {error.pe} {error.op}: {error}\\n"
    sys.stdout.write(line)
    sys.stdout.flush()
try:
    rs.finalize_with_torch() if me % 2 else rs.finalize_with_mpi()
except rs.RocshmemError as error:
    assert f"PE {victim}" in str(error), error
assert not rs.rocshmemx_initialized() and rs.rocshmem_my_pe() == -1
sys.stdout.write(f"LEFT {me}\\n")
"""


#: Statements in Python, and what the error says of their wait. word has 4 words of 8 bytes, all 0.
STATEMENTS = {
    "rs.rocshmem_barrier_all()": "waits for PE 2",
    "rs.rocshmem_malloc(64)": "waits for PE 2",
    "rs.rocshmem_free(word)": "waits for PE 2",
    "rs.rocshmem_team_split_strided(0, 0, 1, 2)[0] and None or rs.rocshmem_barrier_all()": "waits for PE 2",
    "rs.rocshmem_barrier_all_on_stream(stream); rs.rocshmemx_stream_synchronize(stream)": "stream 0x10 ",
    "rs.rocshmem_signal_wait_until_on_stream(word, 0, 1, None); rs.hip_device_synchronize()": ON_STREAM.format("EQ 1"),
    "rs.SymmetricBuffer(100)": "waits for PE 2",
    "rs.rocshmem_finalize()": "",
    "rs.rocshmem_signal_wait_until(word, 2, 9)": WORD.format("GT 9"),
    "rs.rocshmemx_wait_until(word, 4, -3, 'int64')": (
        r"waits for the word at 0x\w+ \+ \d+ \(heap offset \d+\) to be LT "
    ),
    "rs.rocshmemx_wait_until_all(word, 4, 0, 1, 0, 'int64')": WORDS.format(4, "NE 0", "0, 1, 2, 3"),
    "rs.rocshmemx_wait_until_all_vector(word, 3, 0, 2, word, 'int64')": WORDS.format(3, "GT their values", "0, 1, 2"),
    "rs.rocshmemx_wait_until_any(word, 8, 0, 3, 5, 'uint32')": WORDS.format(8, "GE 5", "0, 1, 2, 3, 4, 5, 6, 7"),
    "rs.rocshmemx_wait_until_any_vector(word, 2, 0, 4, word, 'int32')": WORDS.format(2, "LT their values", "0, 1"),
    "rs.rocshmemx_wait_until_some(word, 4, 0, 4, -1, 'int64')": WORDS.format(4, "LT -1", "0, 1, 2, 3"),
    "rs.rocshmemx_wait_until_some_vector(word, 1, 0, 1, word, 'uint64')": WORDS.format(1, "NE their values", "0"),
    "rs.wait_until(rs.SymmetricBuffer(32, ptr=word, own_data=False).view('i8'), '>=', 7)": WORDS.format(
        4, "GE 7", "0, 1, 2, 3"
    ),
    "rs.wait_until(rs.SymmetricBuffer(8, ptr=word, own_data=False).view('u8'), '>=', 7)": WORD.format("GE 7"),
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_kill_is_an_exception_in_python(watch: Callable[..., Any], tmp_path: Path, statement: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PYTHON)
    job = watch(3, [sys.executable, program, statement, 2])
    pids = job.pids()
    time.sleep(random.random() * 0.02)  # the point of the test: before the wait, or in it
    killed_ns = time.monotonic_ns()
    os.kill(pids[2], signal.SIGKILL)
    check_caught(job, 2, killed_ns)
    for line in job.starting("CAUGHT"):
        assert re.search(STATEMENTS[statement], line), line
    assert job.end() == 137, str(job)
    assert job.leftovers() == [], str(job)


INIT = """
import os, sys
import rocshmem4py as rs
sys.stdout.write(f"READY {os.environ['RANK']} {os.getpid()}\\n")
sys.stdout.flush()
if int(os.environ["RANK"]) == int(sys.argv[1]):
    import time
    time.sleep(1000)
try:
    while True:
        rs.rocshmem_init()
        rs.rocshmem_finalize()
except rs.RocshmemError as error:
    sys.stdout.write(f"CAUGHT {error.op} {error}\\n")
    sys.stdout.flush()
"""


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("attempt", range(6))
def test_kill_at_a_random_point_of_init_and_finalize_is_an_error_on_all_others(
    watch: Callable[..., Any], tmp_path: Path, attempt: int, n: int
) -> None:
    program = tmp_path / "program.py"
    program.write_text(INIT)
    job = watch(n, [sys.executable, program, -1])
    pids = job.pids()
    victim = attempt % n
    time.sleep(random.random() * 0.2)  # the point of the test: any moment
    os.kill(pids[victim], signal.SIGKILL)
    for line in job.await_lines("CAUGHT", n - 1, timeout=4):
        assert re.search(rf"\b(PE|rank) {victim}\b", line), line
    assert job.end(20) == 137, str(job)
    assert f"rocshmem-run: PE {victim} " in str(job), str(job)
    assert job.leftovers() == [], str(job)


@pytest.mark.parametrize("n", [2, 4])
def test_kill_of_a_pe_that_never_came_to_init_is_an_error_on_those_that_wait_there(
    watch: Callable[..., Any], tmp_path: Path, n: int
) -> None:
    program = tmp_path / "program.py"
    program.write_text(INIT)
    job = watch(n, [sys.executable, program, n - 1])
    os.kill(job.pids()[n - 1], signal.SIGKILL)
    for line in job.await_lines("CAUGHT", n - 1, timeout=4):
        assert re.search(rf"\bPE {n - 1}\b", line), line
    assert job.end(20) == 137, str(job)
    assert job.leftovers() == [], str(job)


@pytest.mark.parametrize("n", [2, 4])
def test_kill_of_the_launcher_leaves_nothing(watch: Callable[..., Any], calls: Path, n: int) -> None:
    job = watch(n, [calls, "wait", "signal_wait_until", 0, "idle"])
    job.pids()
    os.kill(job.process.pid, signal.SIGKILL)
    job.process.wait()
    assert job.leftovers() == [], str(job)
