# SPDX-License-Identifier: MIT
"""The conformance suite and the examples on two and three hosts, also where the network delays and loses packets."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MakeHosts = Callable[..., Any]


def check_conformance(job: Any, timeout: float) -> None:
    statuses = job.end(timeout)
    failed = [line for line in job.lines if line.startswith("FAIL ")]
    assert not failed and set(statuses) == {0}, "\n".join(failed) or str(job)
    last = [line for line in job.lines if line.startswith(f"conformance with {job.n} PEs: ")]
    assert len(last) == 1 and " 0 failed" in last[0] and ": 0 passed" not in last[0], str(job)


@pytest.mark.parametrize("pes", [[1, 1], [2, 1], [1, 1, 1]], ids=str)
def test_the_whole_suite(make_hosts: MakeHosts, conformance: Path, env: dict[str, str], pes: list[int]) -> None:
    check_conformance(make_hosts(len(pes)).start(pes, [conformance], env), 120)


@pytest.mark.parametrize("netem", ["delay 2ms 1ms", "loss 1%", "delay 1ms reorder 20%"])
@pytest.mark.parametrize("pes", [[2, 1], [1, 1, 1]], ids=str)
def test_chapters_over_a_poor_network(
    make_hosts: MakeHosts, conformance: Path, env: dict[str, str], pes: list[int], netem: str
) -> None:
    cases = [
        "info", "order", "signal/put_signal_zero_bytes_still_signals", "rma/put_zero_bytes_changes_nothing",
        "rma/eight_threads_transfer_at_the_same_time", "model/random_programs_leave_every_byte_as_a_model_has_it",
    ]  # fmt: skip
    check_conformance(make_hosts(len(pes), netem).start(pes, [conformance, *cases], env), 120)


@pytest.mark.parametrize("pes", [[1, 1], [2, 2], [1, 2, 1]], ids=str)
@pytest.mark.parametrize("example", ["02_ring.py", "03_heat2d.py"])
def test_examples(make_hosts: MakeHosts, env: dict[str, str], tmp_path: Path, pes: list[int], example: str) -> None:
    for module in ("rocshmem4py", "numpy"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed in this environment")
    hosts = make_hosts(len(pes))
    words = [sys.executable, str(EXAMPLES / example)]
    if example == "03_heat2d.py":
        words += ["--steps", "60", "--png", str(tmp_path / "heat.png")]
    job = hosts.start(pes, words, env)
    assert set(job.end()) == {0} and job.lines, str(job)


def test_nothing_is_left(make_hosts: MakeHosts, env: dict[str, str]) -> None:
    hosts = make_hosts(2)
    job = hosts.start([1, 1], ["sleep", "1000"], env)
    names = [line.split()[0] for line in subprocess.check_output(["ip", "netns", "list"], text=True).splitlines()]
    assert sum(name.startswith(hosts.id) for name in names) == 3
    pids = [process.pid for process in [*job.processes, *hosts.keepers]]
    hosts.close()
    names = [line.split()[0] for line in subprocess.check_output(["ip", "netns", "list"], text=True).splitlines()]
    assert not [name for name in names if name.startswith(hosts.id)]
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
