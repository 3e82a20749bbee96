# SPDX-License-Identifier: MIT
"""Ctrl-C in every blocking call, time-outs, and the dump of the state."""

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

#: PE 0 makes a call that cannot end; the others look at a word of theirs until PE 0 says that it was interrupted.
INTERRUPTED = """
import os, sys, time
import rocshmem4py as rs
rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
word, told = rs.rocshmem_calloc(1, 64), rs.rocshmem_calloc(1, 8)
stream = rs.rocshmemx_stream_create()
rs.rocshmem_barrier_all()
def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\\n")
    sys.stdout.flush()
if me == 0:
    try:
        say("READY", 0, os.getpid())
        exec(compile(sys.argv[1], "call", "exec"))  # exec of a text would have CPython end by SIGINT in the end
        say("NOTHING 0")
    except KeyboardInterrupt:
        say("INTERRUPTED", time.monotonic_ns())
    for pe in range(n):
        if rs.rocshmemx_initialized():
            rs.rocshmem_int64_atomic_set(told, 1, pe)
else:
    say("READY", me, os.getpid())
    deadline = time.monotonic() + 20
    while not rs.rocshmem_int64_atomic_fetch(told, me):
        assert time.monotonic() < deadline, "PE 0 was not interrupted"
        time.sleep(0.001)
collective = sys.argv[2] == "collective"
for attempt in range(2):
    try:
        rs.rocshmem_barrier_all()
        assert not collective, "the job is broken, and a barrier went through"
    except rs.RocshmemError as error:
        assert collective, error
        assert "PE 0" in str(error) and "interrupted" in str(error), error
        say("BROKEN", me, attempt, error)
say("DONE", me)
if not collective:
    rs.rocshmem_uint64_atomic_set(word, 1, me)  # what waits on a stream can go on now
    rs.rocshmem_finalize()
"""

COLLECTIVES = [
    "rs.rocshmem_barrier_all()", "rs.rocshmem_barrier(0)", "rs.rocshmem_sync_all()", "rs.rocshmem_team_sync(0)",
    "rs.rocshmem_malloc(8)", "rs.rocshmem_calloc(1, 8)", "rs.rocshmem_align(64, 8)", "rs.rocshmem_free(word)",
    "rs.SymmetricBuffer(8)", "rs.rocshmem_team_split_strided(0, 0, 1, n)",
]  # fmt: skip
LOCAL = [
    "rs.rocshmem_signal_wait_until_on_stream(word, 0, 1, stream); rs.rocshmemx_stream_synchronize(stream)",
    "rs.rocshmem_signal_wait_until_on_stream(word, 0, 1, stream); rs.hip_device_synchronize()",
    "rs.rocshmem_signal_wait_until_on_stream(word, 0, 1, None); rs.rocshmemx_stream_synchronize()",
    "rs.rocshmem_signal_wait_until(word, 0, 1)", "rs.rocshmemx_wait_until(word, 1, 0, 'int32')",
    "rs.rocshmemx_wait_until_all(word, 8, 0, 1, 0, 'int64')", "rs.rocshmemx_wait_until_any(word, 8, 0, 1, 0, 'int64')",
    "rs.rocshmemx_wait_until_some(word, 8, 0, 1, 0, 'int64')",
]  # fmt: skip


def interrupt(watch: Callable[..., Any], tmp_path: Path, n: int, statement: str, kind: str) -> Any:
    program = tmp_path / "program.py"
    program.write_text(INTERRUPTED)
    job = watch(n, [sys.executable, program, statement, kind], env={"ROCSHMEM_TIMEOUT": "25"})
    pids = job.pids()
    time.sleep(0.05)  # most of these find PE 0 asleep in the call; all must give KeyboardInterrupt
    sent_ns = time.monotonic_ns()
    os.kill(pids[0], signal.SIGINT)
    seconds = (int(job.await_lines("INTERRUPTED", 1, timeout=10)[0]) - sent_ns) / 1e9
    assert seconds < 1.0, f"{seconds:.3f} s from SIGINT to KeyboardInterrupt\n{job}"
    assert sorted(job.await_lines("DONE", n, timeout=20)) == [str(pe) for pe in range(n)]
    status = job.end()
    assert job.leftovers() == [], str(job)
    return job, status


@pytest.mark.parametrize("statement", COLLECTIVES)
def test_ctrl_c_in_a_collective_is_a_keyboard_interrupt_and_breaks_the_job(
    watch: Callable[..., Any], tmp_path: Path, statement: str
) -> None:
    job, _ = interrupt(watch, tmp_path, 3, statement, "collective")
    assert len(job.starting("BROKEN")) == 6, str(job)


@pytest.mark.parametrize("statement", LOCAL)
def test_ctrl_c_in_a_local_wait_is_a_keyboard_interrupt_and_the_job_goes_on(
    watch: Callable[..., Any], tmp_path: Path, statement: str
) -> None:
    job, status = interrupt(watch, tmp_path, 2, statement, "local")
    assert status == 0, str(job)


def test_ctrl_c_in_finalize_is_a_keyboard_interrupt_on_one_and_an_error_on_the_others(
    watch: Callable[..., Any], tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text("""
import os, sys, time
import rocshmem4py as rs
rs.rocshmem_init()
me = rs.rocshmem_my_pe()
rs.rocshmem_barrier_all()
sys.stdout.write(f"READY {me} {os.getpid()}\\n")
sys.stdout.flush()
try:
    if me == 0:
        rs.rocshmem_finalize()
    else:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not os.path.exists(sys.argv[1]):
            time.sleep(0.001)
        rs.rocshmem_finalize()
except KeyboardInterrupt:
    sys.stdout.write(f"INTERRUPTED {me} {rs.rocshmemx_initialized()}\\n")
except rs.RocshmemError as error:
    sys.stdout.write(f"CAUGHT {me} {rs.rocshmemx_initialized()} {error}\\n")
""")
    go = tmp_path / "go"
    job = watch(2, [sys.executable, program, go])
    pids = job.pids()
    time.sleep(0.05)  # PE 0 is in finalize, or about to be
    os.kill(pids[0], signal.SIGINT)
    assert job.await_lines("INTERRUPTED", 1, timeout=10) == ["0 False"]
    go.touch()
    assert job.await_lines("CAUGHT", 1, timeout=10)[0].startswith("1 False"), str(job)
    assert job.end() == 0, str(job)
    assert job.leftovers() == [], str(job)


def test_ctrl_c_while_waiting_in_init_is_a_keyboard_interrupt(watch: Callable[..., Any], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("""
import os, sys, time
import rocshmem4py as rs
sys.stdout.write(f"READY {os.environ['RANK']} {os.getpid()}\\n")
sys.stdout.flush()
if os.environ["RANK"] == "1":
    time.sleep(1000)
try:
    rs.rocshmem_init()
except KeyboardInterrupt:
    assert not rs.rocshmemx_initialized()
    sys.stdout.write("INTERRUPTED\\n")
    sys.stdout.flush()
    sys.exit(5)
""")
    job = watch(2, [sys.executable, program], env={"ROCSHMEM_BOOTSTRAP_TIMEOUT": "20"})
    pids = job.pids()
    time.sleep(0.05)  # PE 0 is in init, or about to be
    os.kill(pids[0], signal.SIGINT)
    with job.changed:
        job.changed.wait_for(lambda: "INTERRUPTED" in job.lines, 2)
    os.kill(pids[1], signal.SIGTERM)
    job.end()
    assert "INTERRUPTED" in job.lines, str(job)
    assert job.leftovers() == [], str(job)


def test_ctrl_c_reaches_every_pe_through_the_launcher(watch: Callable[..., Any], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("""
import os, sys
import rocshmem4py as rs
rs.rocshmem_init()
me = rs.rocshmem_my_pe()
word = rs.rocshmem_calloc(1, 8)
rs.rocshmem_signal_wait_until_on_stream(word, 0, 1, None)
try:
    sys.stdout.write(f"READY {me} {os.getpid()}\\n")
    sys.stdout.flush()
    rs.hip_device_synchronize()
except KeyboardInterrupt:
    sys.stdout.write(f"INTERRUPTED {me}\\n")
    sys.stdout.flush()
rs.rocshmem_uint64_atomic_set(word, 1, me)
rs.rocshmem_finalize()  # a local wait was interrupted: the job is whole
sys.exit(130)
""")
    job = watch(4, [sys.executable, program])
    job.pids()
    job.process.send_signal(signal.SIGINT)
    assert sorted(job.await_lines("INTERRUPTED", 4, timeout=10)) == list("0123")
    assert job.end() == 130, str(job)
    assert job.leftovers() == [], str(job)


#: Those that wait for words, and what the error and the dump say of them.
TIMED = {
    "barrier_all": "waits for PE 1", "malloc": "waits for PE 1", "sum": "waits for PE 1", "finalize": "waits",
    "signal_wait_until": "to be EQ 1; it is 0", "wait_on_stream": "to be EQ 1; it is 0",
    "int_wait_until": "to be NE 0; it is 0",
    **{f"int_wait_until_{form}": "to be GE 1; 3 are not: 0, 2, 3" for form in ("all", "any", "some")},
    **{f"int_wait_until_{form}_vector": "to be GE their values; 3 are not: 0, 2, 3" for form in ("all", "any", "some")},
    "uint64_wait_until_all": "to be EQ 7; 4 are not: 0, 1, 2, 3",
}  # fmt: skip


@pytest.mark.parametrize("call", TIMED)
def test_a_wait_above_the_time_out_is_an_error_with_a_dump(watch: Callable[..., Any], calls: Path, call: str) -> None:
    job = watch(2, [calls, "wait", call, 1, "idle"], env={"ROCSHMEM_TIMEOUT": "0.3"})
    pids = job.pids()
    line = job.await_lines("CAUGHT", 1, timeout=10)[0]
    assert " -7 " in line and "ROCSHMEM_TIMEOUT" in line and TIMED[call] in line, line
    job.await_lines("LEFT", 1, timeout=10)
    os.kill(pids[1], signal.SIGKILL)
    job.end()
    text = str(job)
    dumped = rf"PE 0 \(pid \d+\) has been in rocshmem\S+ for 0\.\d+ s: .*{re.escape(TIMED[call])}"
    assert re.search(dumped, text), text
    assert re.search(r"PE 1 \(pid \d+\)", text), text
    assert job.leftovers() == [], text


def test_sigusr1_prints_who_waits_for_whom_and_the_job_goes_on(watch: Callable[..., Any], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("""
import os, sys, time
import rocshmem4py as rs
rs.rocshmem_init()
me = rs.rocshmem_my_pe()
rs.rocshmem_barrier_all()
sys.stdout.write(f"READY {me} {os.getpid()}\\n")
sys.stdout.flush()
if me == 1:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not os.path.exists(sys.argv[1]):
        time.sleep(0.001)
rs.rocshmem_barrier_all()
rs.rocshmem_finalize()
""")
    go = tmp_path / "go"
    job = watch(3, [sys.executable, program, go])
    pids = job.pids()
    deadline = time.monotonic() + 10
    waits = re.compile(r"PE 0 \(pid \d+\) has been in rocshmem_barrier_all for .*waits for PE 1$", re.MULTILINE)
    idle = re.compile(r"PE 1 \(pid \d+\) is in no call; its last was rocshmem_barrier_all")
    while not (waits.search(str(job)) and idle.search(str(job))):  # it may take a moment until PE 0 waits
        assert time.monotonic() < deadline, str(job)
        os.kill(pids[2], signal.SIGUSR1)
        with job.changed:
            job.changed.wait(0.2)
    go.touch()
    assert job.end() == 0, str(job)
    assert job.leftovers() == [], str(job)
