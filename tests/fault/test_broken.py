# SPDX-License-Identifier: MIT
"""The twelve programs of tests/broken: each is diagnosed in one screen that names the cause and the place.

A program marks the line at fault with BUG. For Python the output must name one such line; C has no lines at run time,
there the words name the function and the PE.
"""

from __future__ import annotations

import dataclasses
import re
import signal
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from job_helpers import compile_c  # conftest.py has loaded it

BROKEN = Path(__file__).resolve().parents[1] / "broken"
LINES, COLUMNS = 24, 120  # one screen


@dataclasses.dataclass(frozen=True)
class Case:
    program: str
    words: tuple[str, ...]  #: what the output must contain
    status: int = 1  #: of rocshmem-run
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    line: bool = True  #: a line with BUG must be named
    asked: bool = False  #: it runs for ever, and its state is asked for by SIGUSR1


WAIT = {"ROCSHMEM_TIMEOUT": "3"}
DEAD, TERM = 128 + signal.SIGSEGV, 128 + signal.SIGTERM
CASES = [
    Case("mismatched_collectives.py", ("collective calls differ", "rocshmem_barrier_all", "rocshmem_sync_all")),
    Case("lost_signal.py", ("verdict:", "rocshmem_signal_wait_until", "to be EQ 1; it is 0"), env=WAIT),
    Case("wrong_pe.py", ("rocshmem_putmem: pe 2 is out of range; it must be from 0 to 1",)),
    Case("malloc_size.py", ("collective calls differ", "rocshmem_malloc(400 bytes", "rocshmem_malloc(392 bytes")),
    Case("past_the_end.py", ("rocshmem_putmem", "+ 800 bytes leaves its allocation, which is 100 bytes")),
    Case("use_after_free.py", ("rocshmem_uint64_atomic_fetch", "is in no live allocation", "freed")),
    Case(
        "missing_barrier.py",
        ("race on 8 bytes of PE 1", "PE 1 reads it in rocshmem_getmem", "PE 0 writes it in rocshmem_putmem"),
        env={"ROCSHMEM_CHECK": "1"},
    ),
    Case("dead_pe.c", ("PE 1", "killed by signal 11", "last in rocshmem_init"), DEAD, line=False),
    Case("stuck_pe.py", ("verdict:", "for PE 1, which is in the program's own code", "in relax"), TERM, asked=True),
    Case("double_free.c", ("PE 0: rocshmem_free", "is in no live allocation", "freed"), line=False),
    # where the memory was allocated is not recorded
    Case(
        "leak.py",
        ("3 allocations, 12288 bytes, were not freed", "1 team was not destroyed"),
        0,
        env={"ROCSHMEM_DEBUG_LEVEL": "WARN"},
        line=False,
    ),
    Case("fork_misuse.py", ("rocshmem_uint64_atomic_inc", "a child that PE 0 forked, and not in the job"), 0),
]


def pages(job: Any) -> list[list[str]]:
    """The state dumps so far, each up to its verdict."""
    found: list[list[str]] = []
    for line in job.lines:
        if "rocshmem: state of" in line:
            found.append([])
        if found and not any("verdict:" in had for had in found[-1]):
            found[-1].append(line)
    return [page for page in found if any("verdict:" in line for line in page)]


def ask(job: Any, source: Path) -> list[str]:
    """A page that says where PE 1 is. On a busy machine it may not have answered in time; then it is asked again."""
    deadline = time.monotonic() + 40
    while not any("relaxing" in line for line in job.lines):
        assert job.process.poll() is None and time.monotonic() < deadline, job
        time.sleep(0.05)
    page: list[str] = []
    while not any(f"{source.name}:" in line for line in page if "PE 1 (pid" in line):
        assert job.process.poll() is None and time.monotonic() < deadline, f"the place of PE 1 never came\n{job}"
        had = len(pages(job))
        job.process.send_signal(signal.SIGUSR1)
        again = time.monotonic() + 3  # a page asked for too soon after another one is not printed
        while len(pages(job)) == had and time.monotonic() < again:
            time.sleep(0.05)
        page = (pages(job) or [[]])[-1]
    job.process.send_signal(signal.SIGTERM)
    return page


def test_there_are_twelve_and_each_is_run() -> None:
    assert len(CASES) == 12
    assert {case.program for case in CASES} == {path.name for path in BROKEN.iterdir() if path.suffix in (".py", ".c")}


@pytest.mark.parametrize("case", CASES, ids=[case.program for case in CASES])
def test_a_broken_program_is_diagnosed_in_one_screen(watch: Callable[..., Any], tmp_path: Path, case: Case) -> None:
    source = BROKEN / case.program
    command = [compile_c(source, tmp_path)] if source.suffix == ".c" else [sys.executable, source]
    job = watch(2, ["--prefix", "--grace", "1", *command], env=case.env)
    page = ask(job, source) if case.asked else []
    assert job.end(60) == case.status, job
    assert job.leftovers() == [], job
    # the prefix keeps the lines of PEs apart; without it they are as wide as the programs made them
    lines = [re.sub(r"^\[\d+\] ?", "", line) for line in page or job.lines]
    text = "\n".join(lines)
    for word in case.words:
        assert word in text, job
    if case.line:
        bugs = [i for i, line in enumerate(source.read_text().splitlines(), 1) if "# BUG" in line]
        named = [rf'{case.program}(:|", line ){i}\b' for i in bugs]
        assert bugs and any(re.search(pattern, text) for pattern in named), job
    rows = [row for line in lines for row in textwrap.wrap(line.replace(f"{BROKEN}/", ""), COLUMNS) or [""]]
    assert len(rows) <= LINES, f"{len(rows)} rows\n{job}"
