# SPDX-License-Identifier: MIT
"""A PE is killed, a cable pulled, a host frozen: every PE that waits elsewhere gets an error that names PE and host.

``FAULT_ROUNDS=100 pytest tests/hosts/test_faults.py`` runs each test so often; once is the default.
"""

from __future__ import annotations

import os
import random
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROUNDS = range(int(os.environ.get("FAULT_ROUNDS", "1")))
E_PEER, E_BROKEN = -5, -9
PEER_TIMEOUT = 1.0  # of the tests that cut and freeze
NOTICED = 2.5  # seconds: some 20 ms, 35 at most in 4500 kills; and before that, two for a page that says where all were
MakeHosts = Callable[..., Any]

#: Calls that go on for ever when all take part; a PE is killed somewhere in them.
LOOPING = [
    "barrier_all", "team_sync", "malloc", "split", "broadcast", "broadcast_large", "alltoall", "alltoall_large",
    "fcollect", "sum", "sum_large", "barrier_all_on_stream", "alltoall_on_stream",
]  # fmt: skip
#: Calls that wait for a PE which stays away.
WAITING = ["barrier_all", "malloc", "finalize", "signal_wait_until", "int_wait_until_all", "wait_on_stream"]


def ready(job: Any) -> dict[int, int]:
    return {int(pe): int(pid) for pe, pid in (line.split() for line in job.await_lines("READY", job.n))}


def check_caught(job: Any, who: set[int], since_ns: int, seconds: float, words: str, about: set[int]) -> None:
    caught = job.await_lines("CAUGHT", len(who), timeout=seconds + 20)
    job.await_lines("LEFT", len(who), timeout=20)
    assert {int(line.split()[0]) for line in caught} == who, str(job)
    for line in caught:
        _, ns, status, pe, text = line.split(" ", 4)
        assert int(status) in (E_PEER, E_BROKEN), line
        assert re.search(words, text), f"{text!r} does not say {words}"
        assert int(pe) in about, line
        took = (int(ns) - since_ns) / 1e9
        assert took < seconds, f"noticed after {took:.3f} s: {line}"


def kill(hosts: Any, calls: Path, env: dict[str, str], pes: list[int], words: list[str], victim: int) -> None:
    job = hosts.start(pes, [calls, "wait", words[0], victim, words[1]], env)
    pids = ready(job)
    time.sleep(random.random() * 0.06)  # the point of the test: any moment
    since_ns = time.monotonic_ns()
    os.kill(pids[victim], signal.SIGKILL)
    check_caught(job, set(range(job.n)) - {victim}, since_ns, NOTICED, rf"\bPE {victim}\b", {victim})
    statuses = job.end(20)
    assert statuses[victim] == -signal.SIGKILL, str(job)


@pytest.mark.parametrize("call", LOOPING)
def test_kill_in_a_call_is_an_error_on_all_hosts(
    make_hosts: MakeHosts, calls: Path, env: dict[str, str], call: str
) -> None:
    hosts = make_hosts(2)
    for _ in ROUNDS:
        victim = random.randrange(3)
        kill(hosts, calls, env, [2, 1], [call, "loop"], victim)


@pytest.mark.parametrize("call", WAITING)
def test_kill_of_the_pe_that_all_wait_for_is_an_error_on_all_hosts(
    make_hosts: MakeHosts, calls: Path, env: dict[str, str], call: str
) -> None:
    hosts = make_hosts(3)
    for _ in ROUNDS:
        victim = random.randrange(4)
        kill(hosts, calls, env, [1, 2, 1], [call, "idle"], victim)


def host_of(pes: list[int], pe: int) -> int:
    return next(host for host in range(len(pes)) if pe < sum(pes[: host + 1]))


def lose(hosts: Any, calls: Path, env: dict[str, str], call: str, action: str, host: int) -> float:
    """Cut a host off, or freeze it: the others lose it; and, when it is cut, it loses the first one, or that all.

    How long after that the last one noticed.
    """
    pes = [2, 2, 1]
    job = hosts.start(pes, [calls, "wait", call, 99, "loop"], {**env, "ROCSHMEM_PEER_TIMEOUT": str(PEER_TIMEOUT)})
    ready(job)
    time.sleep(random.random() * 0.2)  # the point of the test: any moment
    since_ns = time.monotonic_ns()
    if action == "cut":
        hosts.cut(host)
    else:
        hosts.signal(host, signal.SIGSTOP)
    done_ns = time.monotonic_ns()  # the kernel's part took up to 0.6 s, where others made and removed namespaces
    theirs = {pe for pe in range(job.n) if host_of(pes, pe) == host}
    others = set(range(job.n)) - theirs
    # One beat; and as silence is counted in time that a process lived through, it takes longer where it hardly gets to
    # run: 3.3 s at most in 500 losses, at a load of 7 on 2 cores.
    limit = PEER_TIMEOUT * 1.2 + 3.0
    slowest = 0.0
    who = others | theirs if action == "cut" else others
    names = rf"host rshost{host} with PEs? {min(theirs)}\b"
    lost_all = r"host rshost0 with PEs? 0\b"  # what a host says that hears nothing any more
    caught = job.await_lines("CAUGHT", len(who), timeout=limit + 20)
    job.await_lines("LEFT", len(who), timeout=20)
    for line in caught:
        pe, ns, status, _, text = line.split(" ", 4)
        assert int(status) in (E_PEER, E_BROKEN), line
        assert re.search(names if int(pe) in others else lost_all, text) or host == 0 and "rshost" in text, line
        took = (int(ns) - done_ns) / 1e9
        assert took < limit, f"noticed after {took:.3f} s: {line}"
        assert int(ns) - since_ns > PEER_TIMEOUT * 0.7e9, f"noticed too soon: {line}"
        slowest = max(slowest, took)
    if action == "cut":
        hosts.heal(host)
    else:
        hosts.signal(host, signal.SIGKILL)
    job.end(30)
    return slowest


@pytest.mark.parametrize("host", [0, 1, 2])
@pytest.mark.parametrize("call", ["barrier_all", "sum_large"])
@pytest.mark.parametrize("action", ["cut", "freeze"])
def test_a_host_that_is_cut_off_or_frozen_is_an_error_on_all_others(
    make_hosts: MakeHosts, calls: Path, env: dict[str, str], action: str, call: str, host: int
) -> None:
    hosts = make_hosts(3)
    took = sorted(lose(hosts, calls, env, call, action, host) for _ in ROUNDS)
    if len(took) >= 10:
        assert took[len(took) // 2] < PEER_TIMEOUT * 1.2, took  # most of the time it is no more than one beat


def test_a_cable_that_is_put_back_in_time_loses_nobody(make_hosts: MakeHosts, calls: Path, env: dict[str, str]) -> None:
    hosts = make_hosts(2)
    for _ in ROUNDS:
        job = hosts.start([1, 1], [calls, "wait", "barrier_all", 99, "loop"], {**env, "ROCSHMEM_PEER_TIMEOUT": "6"})
        pids = ready(job)
        hosts.cut(1)
        time.sleep(0.7)  # the point of the test: the cable is out for so long
        hosts.heal(1)
        time.sleep(0.5)
        for host in (0, 1):  # and the whole job may be stopped
            hosts.signal(host, signal.SIGSTOP)
        time.sleep(0.3)
        for host in (0, 1):
            hosts.signal(host, signal.SIGCONT)
        time.sleep(0.3)
        assert not job.starting("CAUGHT"), str(job)
        since_ns = time.monotonic_ns()
        os.kill(pids[0], signal.SIGKILL)
        check_caught(job, {1}, since_ns, NOTICED, r"\bPE 0\b", {0})
        job.end(20)
