# SPDX-License-Identifier: MIT
"""The page of a state dump: one for the whole job, with Python lines and a verdict, for each way to get it."""

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

import rocshmem4py

#: PE 3 does not come to the fourth barrier before the file is there.
PROGRAM = """
import os, sys, time
import rocshmem4py as rs
rs.rocshmem_init()
me = rs.rocshmem_my_pe()
rs.rocshmem_barrier_all()
def step():
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not os.path.exists(sys.argv[1]):
        time.sleep(0.01)  # LINE
sys.stdout.write(f"READY {me} {os.getpid()}\\n")
sys.stdout.flush()
if me == 3:
    step()
rs.rocshmem_barrier_all()  # WAIT
rs.rocshmem_finalize()
"""
SLEEPS = next(i for i, line in enumerate(PROGRAM.splitlines(), 1) if "LINE" in line)
WAITS = next(i for i, line in enumerate(PROGRAM.splitlines(), 1) if "WAIT" in line)
HAS_NETWORK = any(Path(rocshmem4py.__file__).parent.rglob("librocshmem_ucx.so"))
HOSTS = [
    pytest.param([], id="one host"),
    pytest.param(
        ["--nodes", "2"],
        id="two hosts",
        marks=pytest.mark.skipif(not HAS_NETWORK, reason="librocshmem_ucx.so is not built (no UCX headers)"),
    ),
]


class Job:
    def __init__(self, watch: Callable[..., Any], tmp_path: Path, options: list[str], **env: str) -> None:
        program = tmp_path / "train.py"
        program.write_text(PROGRAM)
        self.go = tmp_path / "go"
        self.job = watch(4, [*options, sys.executable, program, self.go], env=env)
        self.pids = self.job.pids()

    def until(self, pattern: str, again: Callable[[], None] | None = None) -> re.Match[str]:
        """What matches in the output; again is called now and then until something does."""
        deadline = time.monotonic() + 30
        while not (match := re.search(pattern, str(self.job), re.MULTILINE)):
            assert time.monotonic() < deadline, str(self.job)
            if again:
                again()
            with self.job.changed:
                self.job.changed.wait(1.1)
        return match


VERDICT = (
    r"verdict: PEs 0-2 wait in rocshmem_barrier_all #\d+ since .* for PE 3, which is in the program's own code at "
    rf"train.py:{SLEEPS} in step"
)


@pytest.mark.parametrize("options", HOSTS)
@pytest.mark.parametrize("to", ["a PE", "rocshmem-run"])
def test_sigusr1_prints_one_page_for_all(
    watch: Callable[..., Any], tmp_path: Path, options: list[str], to: str
) -> None:
    job = Job(watch, tmp_path, options)
    pid = job.pids[2] if to == "a PE" else job.job.process.pid
    job.until(VERDICT, lambda: os.kill(pid, signal.SIGUSR1))
    page = str(job.job).split("rocshmem: state of the ")[-1]
    for pe in (0, 1, 2):
        line = rf"^PE {pe} \(pid {job.pids[pe]}\) has been in rocshmem_barrier_all for .*, train.py:{WAITS} in "
        assert len(re.findall(line, page, re.MULTILINE)) == 1, page
    assert re.search(r"^PE 3 \(pid \d+\) is in no call; .*\n    in C: \w", page, re.MULTILINE), page
    job.go.touch()
    assert job.job.end() == 0, str(job.job)


@pytest.mark.parametrize("options", HOSTS)
def test_a_time_out_prints_the_page(watch: Callable[..., Any], tmp_path: Path, options: list[str]) -> None:
    job = Job(watch, tmp_path, options, ROCSHMEM_TIMEOUT="1")
    job.until(VERDICT)
    job.until("waited longer than ROCSHMEM_TIMEOUT")
    assert str(job.job).count("verdict:") == 1, str(job.job)


@pytest.mark.parametrize("options", HOSTS)
def test_ctrl_c_prints_the_page_before_the_pes_hear_of_it(
    watch: Callable[..., Any], tmp_path: Path, options: list[str]
) -> None:
    job = Job(watch, tmp_path, options)
    job.job.process.send_signal(signal.SIGINT)
    job.until("verdict: ")
    job.until("KeyboardInterrupt")
    assert str(job.job).count("verdict:") == 1, str(job.job)


@pytest.mark.parametrize("options", HOSTS)
def test_a_dead_pe_prints_the_page_before_calls_fail(
    watch: Callable[..., Any], tmp_path: Path, options: list[str]
) -> None:
    job = Job(watch, tmp_path, options)
    os.kill(job.pids[3], signal.SIGKILL)
    job.until(r"verdict: .*PE 3.*died, or exited without rocshmem_finalize")
    job.until("RocshmemError: .*PE 3 .*died")
    assert str(job.job).count("verdict:") == 1, str(job.job)


def test_a_stopped_pe_does_not_hold_up_the_page(watch: Callable[..., Any], tmp_path: Path) -> None:
    job = Job(watch, tmp_path, [])
    os.kill(job.pids[3], signal.SIGSTOP)
    job.until("verdict: .*PE 3, which is stopped", lambda: os.kill(job.pids[0], signal.SIGUSR1))
    os.kill(job.pids[3], signal.SIGCONT)
    job.go.touch()
    assert job.job.end() == 0, str(job.job)
