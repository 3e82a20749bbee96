# SPDX-License-Identifier: MIT
"""For the fault tests: jobs watched from outside. What a job started, opened or shared must be gone in the end.

The helpers of tests/python/conftest.py are used as they are.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sharing import jobs

HERE = Path(__file__).resolve().parent


run_job = jobs.run_job_fixture

MARK = "ROCSHMEM4PY_TEST_MARK"


class Watched:
    """A running job whose output is read as it comes, and which can be searched for what it left behind."""

    def __init__(self, n: int, command: Sequence[str], env: dict[str, str] | None = None) -> None:
        self.mark = uuid.uuid4().hex
        self.n = n
        self.lines: list[str] = []
        self.argv = [jobs.find_tool("rocshmem-run"), "-n", str(n), *command]
        self.process = subprocess.Popen(
            self.argv,
            env=jobs.job_env({MARK: self.mark, **(env or {})}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        self.inodes: set[str] = set()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    def __str__(self) -> str:
        return "\n".join([f"$ {' '.join(self.argv)}", f"exit status {self.process.poll()}", *self.lines])

    def starting(self, word: str) -> list[str]:
        """The rest of all lines that begin with word."""
        return [line[len(word) + 1 :] for line in self.lines if line.startswith(word + " ")]

    def await_lines(self, word: str, count: int, timeout: float = 30) -> list[str]:
        deadline = time.monotonic() + timeout
        with self.changed:
            while len(self.starting(word)) < count:
                ended = not self.reader.is_alive()
                if ended or not self.changed.wait(min(0.5, max(0.0, deadline - time.monotonic()))):
                    if len(self.starting(word)) >= count:
                        break
                    if ended or time.monotonic() > deadline:
                        pytest.fail(f"only {len(self.starting(word))} of {count} lines {word}\n{self}")
            return self.starting(word)

    def pids(self) -> dict[int, int]:
        """PE -> process, from the READY lines; what these hold now is noted for leftovers()."""
        found = {int(pe): int(pid) for pe, pid in (line.split() for line in self.await_lines("READY", self.n))}
        for pid in found.values():
            self.inodes |= shared_things(pid)
        return found

    def end(self, timeout: float = 30) -> int:
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            pytest.fail(f"the job did not end within {timeout:g} s\n{self}")
        finally:
            self.stop()

    def processes(self) -> list[int]:
        """Every process that carries this job's mark, guardians and orphans included."""
        found = []
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            try:
                environ = Path(entry.path, "environ").read_bytes()
                state = Path(entry.path, "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if f"{MARK}={self.mark}".encode() in environ and state != "Z":
                found.append(int(entry.name))
        return found

    def stop(self) -> None:
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.kill()
        self.process.wait()
        self.reader.join(10)

    def leftovers(self) -> list[str]:
        """What is left of the job: processes, and of what its PEs shared: memory and sockets that still exist."""
        deadline = time.monotonic() + 5
        while True:
            left = [f"process {pid}" for pid in self.processes()]
            left += [f"shared {thing}" for thing in sorted(self.inodes & everything_shared())]
            left += [f"/dev/shm/{name}" for name in os.listdir("/dev/shm") if "rocshmem" in name]
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.02)


def shared_things(pid: int) -> set[str]:
    """memfds that a process maps or has open, and the Unix sockets it has open, each with its inode."""
    found = set()
    try:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            if match := re.search(r" (\d+) +/memfd:(rocshmem[^ ]*)", line):
                found.add(f"memfd {match[2]} {match[1]}")
        for fd in os.scandir(f"/proc/{pid}/fd"):
            target = os.readlink(fd.path)
            if target.startswith("/memfd:rocshmem"):
                found.add(f"memfd {target[7:].split(' ')[0]} {os.stat(fd.path).st_ino}")
            elif target.startswith("socket:["):
                found.add(f"socket {target[8:-1]}")
    except OSError:
        pass
    return found


def everything_shared() -> set[str]:
    """The same for every process of the machine, and every Unix socket there is."""
    found = {f"socket {line.split()[6]}" for line in Path("/proc/net/unix").read_text().splitlines()[1:]}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            found |= {thing for thing in shared_things(int(entry.name)) if thing.startswith("memfd")}
    return found


@pytest.fixture
def watch() -> Iterator[Callable[..., Watched]]:
    """watch(n, command, env=None) -> Watched, a job under rocshmem-run. What still runs in the end is killed."""
    started: list[Watched] = []

    def start(n: int, command: Sequence[Any], **options: Any) -> Watched:
        started.append(Watched(n, [str(word) for word in command], **options))
        return started[-1]

    yield start
    for job in started:
        job.stop()


@pytest.fixture(scope="session")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """calls.c, compiled."""
    program: Path = jobs.compile_c(HERE / "calls.c", tmp_path_factory.mktemp("fault"), "-D_GNU_SOURCE", "-O1")
    return program
