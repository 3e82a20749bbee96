# SPDX-License-Identifier: MIT
"""What a whole job does is the same over several hosts: it exits, is looked at, reads its input, starts programs."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import jobs

Launch = Callable[..., subprocess.CompletedProcess[str]]
WAYS = ["nodes", "hosts"]

EXITS = """
import sys, time
import rocshmem4py as rs
rs.rocshmem_init()
rs.rocshmem_barrier_all()
if rs.rocshmem_my_pe() == int(sys.argv[1]):
    rs.rocshmem_global_exit(7)
if sys.argv[2] == "waits":
    rs.rocshmem_barrier_all()
time.sleep(600)
"""

WAITS = """
import os, time
import rocshmem4py as rs
rs.rocshmem_init()
rs.rocshmem_barrier_all()
os.write(1, f"READY {rs.rocshmem_my_pe()} {os.getpid()}\\n".encode())  # one piece: lines of PEs do not mix
if rs.rocshmem_my_pe() == 3:
    time.sleep(600)
rs.rocshmem_barrier_all()
"""


EXECS = """
import os
import rocshmem4py as rs
rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
block, stream = rs.rocshmem_calloc(1, 64), rs.rocshmemx_stream_create()
for pe in range(n):
    rs.rocshmem_putmem(block, block, 8, pe)
    rs.rocshmem_putmem_on_stream(block, block, 8, pe, stream)
rs.rocshmem_barrier_all_on_stream(stream)
rs.rocshmemx_stream_synchronize(stream)
rs.rocshmem_barrier_all()
os.system(f"echo fds {me} $(ls /proc/self/fd)")
rs.rocshmem_barrier_all()
rs.rocshmem_finalize()
"""


@pytest.fixture
def over(fake_ssh: Path) -> Callable[[str], list[str]]:
    """rocshmem-run with the options of two hosts: played ones, or by an ssh."""

    def options(way: str) -> list[str]:
        tls = ["--env", "UCX_TLS=tcp"]
        return [
            jobs.find_tool("rocshmem-run"),
            *tls,
            *(["--nodes", "2"] if way == "nodes" else ["--hosts", "ha,hb", "--ssh", str(fake_ssh)]),
        ]

    return options


@pytest.mark.parametrize("pe", [0, 2])
@pytest.mark.parametrize("others", ["wait", "sleep"])
@pytest.mark.parametrize("way", WAYS)
def test_global_exit_ends_the_pes_of_all_hosts_with_its_status(
    launch: Launch, over: Callable[[str], list[str]], way: str, others: str, pe: int
) -> None:
    began = time.monotonic()
    done = launch(*over(way), "-n", 3, sys.executable, "-c", EXITS, pe, others)
    assert done.returncode == 7, done
    assert time.monotonic() - began < 60, done  # nobody slept on


@pytest.fixture
def waiting(
    over: Callable[[str], list[str]],
) -> Iterator[Callable[[str], tuple[subprocess.Popen[str], dict[int, int]]]]:
    """waiting(way) -> the launcher of four PEs that wait for the last, and their processes."""
    started: list[subprocess.Popen[str]] = []

    def start(way: str) -> tuple[subprocess.Popen[str], dict[int, int]]:
        command = [*over(way), "-n", "4", "--grace", "0.1", sys.executable, "-c", WAITS]
        launcher = subprocess.Popen(
            command,
            env=jobs.job_env(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(launcher)
        assert launcher.stdout
        pids: dict[int, int] = {}
        while len(pids) < 4:
            words = launcher.stdout.readline().split()
            assert words and words[0] == "READY", f"{words} {launcher.communicate(timeout=30)}"
            pids[int(words[1])] = int(words[2])
        return launcher, pids

    yield start
    for launcher in started:
        launcher.terminate()
        launcher.communicate(timeout=60)


@pytest.mark.parametrize("whom", ["launcher", "PE 1", "PE 3"])
@pytest.mark.parametrize("way", WAYS)
def test_sigusr1_has_the_pes_of_all_hosts_printed(
    waiting: Callable[[str], tuple[subprocess.Popen[str], dict[int, int]]], way: str, whom: str
) -> None:
    launcher, pids = waiting(way)
    os.kill(launcher.pid if whom == "launcher" else pids[int(whom[3:])], signal.SIGUSR1)
    assert launcher.stderr
    seen: set[int] = set()
    text = ""
    deadline = time.monotonic() + 60
    os.set_blocking(launcher.stderr.fileno(), False)
    while len(seen) < 4:
        with contextlib.suppress(BlockingIOError):
            text += os.read(launcher.stderr.fileno(), 1 << 16).decode(errors="replace")
        seen = {pe for pe, pid in pids.items() if re.search(rf"\bPE {pe}\b.*\b{pid}\b", text)}
        assert time.monotonic() < deadline, f"only PEs {seen} of {pids} are in\n{text}"
        time.sleep(0.01)
    assert launcher.poll() is None, text  # it is only looked at


@pytest.mark.parametrize("way", WAYS)
def test_pe_0_reads_the_standard_input_and_nobody_else_does(over: Callable[[str], list[str]], way: str) -> None:
    def run(*command: str, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
        words = [*over(way), "-n", "3", *command]
        return subprocess.run(words, env=jobs.job_env(), input=stdin, capture_output=True, timeout=60)

    done = run("--prefix", "cat", stdin=b"one\ntwo\n")
    assert (done.returncode, done.stdout) == (0, b"[0] one\n[0] two\n"), done
    assert run("cat", stdin=b"").returncode == 0
    much = os.urandom(1 << 20) * 9  # more than pipes hold
    done = run("sha256sum", stdin=much)
    sums = sorted(line.split()[0].decode() for line in done.stdout.splitlines())
    assert sums == sorted([hashlib.sha256(much).hexdigest(), *2 * [hashlib.sha256(b"").hexdigest()]]), done
    assert run("true", stdin=much).returncode == 0  # who reads nothing holds up nothing
    assert run("sh", "-c", "head -c 3; exit $((RANK * 3))", stdin=much).returncode in (3, 6)


@pytest.mark.parametrize("way", WAYS)
def test_a_signal_gets_past_input_that_nobody_reads(over: Callable[[str], list[str]], way: str) -> None:
    command = [*over(way), "-n", "2", "sh", "-c", "trap 'exit 9' USR2; echo up; while :; do sleep 0.01; done"]
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as source:
        launcher = subprocess.Popen(
            command, env=jobs.job_env(), stdin=source.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert launcher.stdout
        assert [launcher.stdout.readline() for _ in range(2)] == ["up\n", "up\n"]
        launcher.send_signal(signal.SIGUSR2)
        out, err = launcher.communicate(timeout=60)
        source.kill()
    assert launcher.returncode == 9, out + err


@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_a_pe_starts_inherits_no_descriptor(
    launch: Launch, over: Callable[[str], list[str]], way: str
) -> None:
    done = launch(*over(way), "-n", 3, sys.executable, "-c", EXECS)
    lines = sorted(line for line in done.stdout.splitlines() if line.startswith("fds"))
    # 3: the folder that ls reads
    assert (done.returncode, lines) == (0, [f"fds {pe} 0 1 2 3" for pe in range(3)]), done
