# SPDX-License-Identifier: MIT
"""PEs that do not make the same collective calls: an error on every PE, which names both calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

E_MISMATCH, E_BROKEN = -6, -9

#: What all but the last PE call, what the last one calls, and what every message must contain.
PAIRS = [
    ("malloc", "malloc_larger", ["rocshmem_malloc", "100", "200"]),
    ("malloc", "calloc", ["rocshmem_malloc", "rocshmem_calloc"]),
    ("malloc", "align", ["rocshmem_malloc", "rocshmem_align", "4096"]),
    ("malloc", "barrier_all", ["rocshmem_malloc", "rocshmem_barrier_all"]),
    ("free_block", "free_other", ["rocshmem_free"]),
    ("free_block", "malloc", ["rocshmem_free", "rocshmem_malloc"]),
    ("barrier_all", "sync_all", ["rocshmem_barrier_all", "rocshmem_sync_all"]),
    ("barrier", "team_sync", ["rocshmem_barrier", "rocshmem_team_sync"]),
    ("barrier_all", "finalize", ["rocshmem_barrier_all", "rocshmem_finalize"]),
    ("barrier_all", "broadcast", ["rocshmem_barrier_all", "rocshmem_broadcastmem"]),
    ("broadcast", "broadcast_root_1", ["rocshmem_broadcastmem", "root 0", "root 1"]),
    ("broadcast", "broadcast_large", ["rocshmem_broadcastmem", "64 bytes", "4096 bytes"]),
    ("alltoall", "alltoall_large", ["rocshmem_alltoallmem", "8 bytes", "256 bytes"]),
    ("alltoall", "fcollect", ["rocshmem_alltoallmem", "rocshmem_fcollectmem"]),
    ("alltoall_large", "barrier_all", ["rocshmem_alltoallmem", "rocshmem_barrier_all"]),
    ("sum", "max", ["rocshmem_int_sum_reduce", "rocshmem_int_max_reduce"]),
    ("sum", "sum_of_long", ["rocshmem_int_sum_reduce", "rocshmem_long_sum_reduce"]),
    ("sum", "sum_large", ["rocshmem_int_sum_reduce", "4 elements", "1000 elements"]),
    ("sum_large", "sum", ["rocshmem_int_sum_reduce", "4 elements", "1000 elements"]),
    ("broadcast_typed", "broadcast_of_long", ["rocshmem_int_broadcast", "rocshmem_long_broadcast", "16 elements"]),
    ("broadcast", "broadcast_typed", ["rocshmem_broadcastmem", "64 bytes", "rocshmem_int_broadcast", "16 elements"]),
    ("alltoalls", "alltoalls_stride_3", ["rocshmem_alltoallsmem", "strides 1 and 2", "strides 1 and 3"]),
    ("alltoalls", "alltoall", ["rocshmem_alltoallsmem", "rocshmem_alltoallmem"]),
    ("collect", "fcollect", ["rocshmem_collectmem", "rocshmem_fcollectmem"]),
    ("collect_large", "barrier_all", ["rocshmem_collectmem", "rocshmem_barrier_all"]),
    ("sum_scatter", "sum", ["rocshmem_int_sum_reduce_scatter", "rocshmem_int_sum_reduce(team world, 4 elements)"]),
    ("sum_scatter", "sum_scatter_large", ["rocshmem_int_sum_reduce_scatter", "4 elements", "100 elements"]),
    ("split_2d", "split_2d_wider", ["rocshmem_team_split_2d", "xrange 2", "xrange 3"]),
    ("split_2d", "split", ["rocshmem_team_split_2d", "rocshmem_team_split_strided"]),
    ("sum_on_stream", "max_on_stream", ["rocshmem_int_sum_reduce_on_stream", "rocshmem_int_max_reduce_on_stream"]),
    ("fcollect_on_stream", "alltoall_on_stream", ["rocshmem_fcollectmem_on_stream", "rocshmem_alltoallmem_on_stream"]),
    ("split", "split_smaller", ["rocshmem_team_split_strided", "size 3", "size 2"]),
    ("barrier_all_on_stream", "sync_all_on_stream", ["rocshmem_barrier_all_on_stream", "rocshmem_sync_all_on_stream"]),
    ("alltoall_on_stream", "alltoall_larger_on_stream", ["rocshmem_alltoallmem_on_stream", "8 bytes", "16 bytes"]),
    ("alltoall_on_stream", "barrier_all_on_stream", ["alltoallmem_on_stream", "barrier_all_on_stream"]),
    ("broadcast_on_stream", "broadcast_root_1_on_stream", ["rocshmem_broadcastmem_on_stream", "root 0", "root 1"]),
    # host calls and stream calls never meet
    ("barrier_all", "barrier_all_on_stream", ["rocshmem_barrier_all(team world)", "rocshmem_barrier_all_on_stream"]),
    ("barrier_all_on_stream", "barrier_all", ["rocshmem_barrier_all(team world)", "rocshmem_barrier_all_on_stream"]),
    ("barrier_all", "barrier_on_stream", ["rocshmem_barrier_all(team world)", "rocshmem_barrier_on_stream(team 2)"]),
    ("barrier_on_stream", "team_sync", ["rocshmem_barrier_on_stream(team 2)", "rocshmem_team_sync(team 2)"]),
    ("malloc", "sync_all_on_stream", ["rocshmem_malloc(100", "rocshmem_sync_all_on_stream"]),
    ("barrier_all_on_stream", "free_block", ["rocshmem_barrier_all_on_stream", "rocshmem_free"]),
    ("barrier_on_stream", "finalize", ["rocshmem_barrier_on_stream(team 2)", "rocshmem_finalize"]),
    ("split", "alltoall_on_stream", ["rocshmem_team_split_strided", "rocshmem_alltoallmem_on_stream"]),
    ("broadcast_on_stream", "broadcast", ["rocshmem_broadcastmem(", "rocshmem_broadcastmem_on_stream"]),
    ("alltoall", "alltoall_on_stream", ["rocshmem_alltoallmem(", "rocshmem_alltoallmem_on_stream"]),
    ("fcollect_on_stream", "fcollect", ["rocshmem_fcollectmem(", "rocshmem_fcollectmem_on_stream"]),
    ("sum_large", "sum_on_stream", ["rocshmem_int_sum_reduce(", "rocshmem_int_sum_reduce_on_stream"]),
    ("sum_on_stream", "sum", ["rocshmem_int_sum_reduce(", "rocshmem_int_sum_reduce_on_stream"]),
]


@pytest.mark.parametrize(("call", "other", "words"), PAIRS, ids=[f"{a}-{b}" for a, b, _ in PAIRS])
def test_different_calls_are_an_error_on_every_pe_that_names_both(
    watch: Callable[..., Any], calls: Path, call: str, other: str, words: list[str]
) -> None:
    n = 3
    job = watch(n, [calls, "differ", call, other], env={"ROCSHMEM_TIMEOUT": "20"})
    job.pids()
    job.await_lines("LEFT", n)
    assert job.end() == 0, str(job)
    first = {}
    for line in job.starting("CAUGHT"):
        pe, _, status, _, text = line.split(" ", 4)
        if pe not in first:
            first[pe] = (int(status), text)
            assert int(status) == E_MISMATCH, line
        else:
            assert int(status) in (E_MISMATCH, E_BROKEN), line
        for word in words:
            assert word in text, f"{word!r} is not in: {text}"
        assert re.search(r"\bPE 2 called\b", text) and re.search(r"\bPE [01] called\b", text), text
    assert len(first) == n, f"not every PE has an error\n{job}"
    assert job.leftovers() == [], str(job)


PYTHON = """
import sys
import rocshmem4py as rs
rs.rocshmem_init()
me = rs.rocshmem_my_pe()
p, q = rs.rocshmem_malloc(256), rs.rocshmem_malloc(256)
for attempt, call in enumerate((sys.argv[2] if me == 1 else sys.argv[1], "rs.rocshmem_barrier_all()")):
    try:
        exec(call)
        rs.hip_device_synchronize()
    except rs.RocshmemError as error:
        assert not isinstance(error, ValueError), error
        sys.stdout.write(f"CAUGHT {me} {attempt} {error.status} {error.pe} {error.op} {error}\\n")
"""


@pytest.mark.parametrize(
    ("common", "odd", "words"),
    [
        ("rs.rocshmem_malloc(10)", "rs.rocshmem_malloc(20)", ["10", "20"]),
        ("rs.rocshmem_free(p)", "rs.rocshmem_free(q)", ["rocshmem_free"]),
        ("rs.rocshmem_barrier_all()", "rs.SymmetricBuffer(30)", ["rocshmem_barrier_all", "rocshmem_malloc", "30"]),
        (
            "rs.rocshmem_alltoallmem_on_stream(0, p, q, 8, None)",
            "rs.rocshmem_broadcastmem_on_stream(0, p, q, 8, 0, None)",
            ["alltoallmem_on_stream", "broadcastmem_on_stream"],
        ),
    ],
)
def test_different_calls_are_an_exception_on_every_pe_in_python(
    run_job: Callable[..., Any], common: str, odd: str, words: list[str]
) -> None:
    job = run_job(2, PYTHON, common, odd, env={"ROCSHMEM_TIMEOUT": "20"}, check=False)
    lines = [line for line in job.lines if line.startswith("CAUGHT")]
    assert len(lines) == 4, str(job)  # each PE: the mismatch, then the broken job, both with the same story
    for line in lines:
        assert "PE 0 called" in line and "PE 1 called" in line and all(word in line for word in words), line


def test_a_wrong_argument_on_one_pe_only_is_found_by_the_others_next(run_job: Callable[..., Any]) -> None:
    program = """
    import sys
    import rocshmem4py as rs
    rs.rocshmem_init()
    me = rs.rocshmem_my_pe()
    p = rs.rocshmem_malloc(64)
    try:
        rs.rocshmem_free(p + 8 if me == 1 else p)
    except ValueError as error:
        assert me == 1 and "ptr" in str(error), error
    except rs.RocshmemError as error:
        assert me != 1 and "PE 1" in str(error), error
        sys.stdout.write(f"found {me}\\n")
    if me == 1:
        try:
            rs.rocshmem_barrier_all()
        except rs.RocshmemError as error:
            assert "rocshmem_free" in str(error) and "rocshmem_barrier_all" in str(error), error
            sys.stdout.write("found 1\\n")
    """
    job = run_job(3, program, env={"ROCSHMEM_TIMEOUT": "20"}, check=False)
    assert job.lines == ["found 0", "found 1", "found 2"], str(job)


CROSSED = """
import sys, threading, time
import rocshmem4py as rs
rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
teams = [rs.rocshmem_team_split_strided(0, 0, 1, n)[1] for _ in range(2)]
if me:
    teams.reverse()
if sys.argv[1] == "threads":
    late = threading.Timer(1.5, rs.rocshmem_barrier, (teams[1],))  # longer than it takes to find a deadlock
    late.start()
try:
    rs.rocshmem_barrier(teams[0])
    sys.stdout.write("met\\n")
except rs.RocshmemError as error:
    sys.stdout.write(f"{me} {error}\\n")
if sys.argv[1] == "threads":
    late.join()
    rs.rocshmem_finalize()
"""


def test_two_pes_that_wait_for_each_other_in_two_teams_are_told(run_job: Callable[..., Any]) -> None:
    job = run_job(2, CROSSED, "alone", env={"ROCSHMEM_TIMEOUT": "20"}, check=False)
    assert len(job.lines) == 2 and job.seconds < 10, str(job)
    for me, line in enumerate(job.lines):
        assert line.startswith(f"{me} rocshmem_barrier: "), line
        for word in ("PE 0", "PE 1", "rocshmem_barrier(team 2)", "rocshmem_barrier(team 3)"):
            assert word in line, line


def test_two_threads_that_cross_in_two_teams_are_let_be(run_job: Callable[..., Any]) -> None:
    job = run_job(2, CROSSED, "threads", env={"ROCSHMEM_TIMEOUT": "20"})
    assert job.lines == ["met", "met"], str(job)


MIXED = """
import sys, threading, time
import rocshmem4py as rs
rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
stream, other = rs.rocshmemx_stream_create(), rs.rocshmemx_stream_create()
word = rs.rocshmem_calloc(1, 8)
LATE = 2.5  # longer than it takes to find PEs that wait for each other
def on_stream(s):
    rs.rocshmem_barrier_all_on_stream(s)
    rs.rocshmemx_stream_synchronize(s)
if sys.argv[1] == "threads":  # each PE makes both calls, from two threads, one of them late
    calls = [rs.rocshmem_barrier_all, lambda: on_stream(stream)]
    late = threading.Timer(LATE, calls[1 - me % 2])
    late.start()
    calls[me % 2]()
    late.join()
else:  # PE 0's stream meets the others' as soon as the last PE has sent a signal
    if me == 0:
        rs.rocshmem_signal_wait_until_on_stream(word, 0, 1, stream)
        rs.rocshmem_barrier_all_on_stream(stream)
        rs.rocshmem_barrier_all()
        rs.rocshmemx_stream_synchronize(stream)
    else:
        if me == n - 1:
            time.sleep(LATE)
            rs.rocshmem_uint64_atomic_set(word, 1, 0)
        on_stream(stream)
        rs.rocshmem_barrier_all()
sys.stdout.write("met\\n")
rs.rocshmem_finalize()
"""


@pytest.mark.parametrize(("how", "n"), [("threads", 2), ("threads", 4), ("signal", 2), ("signal", 3)])
def test_host_and_stream_calls_that_cross_and_can_end_are_let_be(run_job: Callable[..., Any], how: str, n: int) -> None:
    job = run_job(n, MIXED, how, env={"ROCSHMEM_TIMEOUT": "20"})
    assert job.lines == ["met"] * n, str(job)


INTERRUPTED = """
import os, signal, sys, threading, time
import rocshmem4py as rs
rs.rocshmem_init()
me = rs.rocshmem_my_pe()
stream = rs.rocshmemx_stream_create()
rs.rocshmem_barrier_all()
if me == 0:
    rs.rocshmem_barrier_all_on_stream(stream)
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(InterruptedError()))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        rs.rocshmemx_stream_synchronize(stream)
        sys.stdout.write("not interrupted\\n")
    except InterruptedError:
        time.sleep(2)  # PE 1 waits for this PE meanwhile, longer than it takes to find a deadlock
    rs.rocshmem_barrier_all()
else:
    rs.rocshmem_barrier_all()
    rs.rocshmem_barrier_all_on_stream(stream)
rs.rocshmemx_stream_synchronize(stream)
sys.stdout.write("met\\n")
rs.rocshmem_finalize()
"""


def test_a_wait_for_a_stream_that_was_interrupted_is_no_mismatch(run_job: Callable[..., Any]) -> None:
    job = run_job(2, INTERRUPTED, env={"ROCSHMEM_TIMEOUT": "20"})
    assert job.lines == ["met"] * 2, str(job)
