# SPDX-License-Identifier: MIT
"""Several 'hosts' on one machine: each a set of network, UTS and IPC namespaces, on a bridge of their own.

    with Hosts(2) as hosts:
        job = hosts.start([2, 1], ["program", "argument"])   # PEs 0 and 1 on the first host, 2 on the second
        hosts.cut(1)                                         # its cable is pulled

PEs are started as torchrun does it: RANK, WORLD_SIZE and MASTER_ADDR in the environment. The bridge lies in a namespace
too, so deleting the namespaces leaves nothing. Names carry the creator's process number: what a killed run left is
found by the next one. By hand, as root: ``python tests/hosts/hosts.py 2,1 program argument...``
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

PREFIX = "rshost"
MARK = "ROCSHMEM4PY_HOSTS_MARK"


def ip(*words: str, check: bool = True) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=30)
    if check and done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def why_not() -> str:
    """Why this machine can't play several hosts; "" when it can."""
    for tool in ("ip", "tc", "nsenter", "unshare"):
        if not shutil.which(tool):
            return f"no {tool} on PATH (packages iproute2 and util-linux)"
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"{PREFIX}-{os.getpid()}-try"
    try:
        ip("netns", "add", name)
        ip("-n", name, "link", "add", "x0", "type", "veth", "peer", "name", "x1")
        subprocess.run(["ip", "netns", "exec", name, "unshare", "-u", "-i", "true"], check=True, capture_output=True)
    except (RuntimeError, subprocess.SubprocessError) as error:
        return f"namespaces can't be made here: {error}"
    finally:
        ip("netns", "del", name, check=False)
    return ""


def why_no_netem() -> str:
    """Why this machine can't delay or lose packets on purpose; "" when it can."""
    words = ["unshare", "-n", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    done = subprocess.run(words, capture_output=True, text=True)
    return f"no netem in this kernel: {done.stderr.strip()}" if done.returncode else ""


def _remove(name: str) -> None:
    for pid in ip("netns", "pids", name, check=False).split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    ip("netns", "del", name, check=False)


def remove_leftovers() -> None:
    """Namespaces of runs that ended without taking them along."""
    for line in ip("netns", "list", check=False).splitlines():
        words = line.split()[0].split("-") if line.split() else []
        if len(words) == 3 and words[0] == PREFIX and not Path(f"/proc/{words[1]}").exists():
            _remove(line.split()[0])


class Job:
    """PEs on several hosts, their output read as it comes."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.mark = uuid.uuid4().hex
        self.processes: list[subprocess.Popen[str]] = []
        self.lines: list[str] = []
        self.changed = threading.Condition()
        self.readers: list[threading.Thread] = []

    def add(self, process: subprocess.Popen[str]) -> None:
        self.processes.append(process)
        self.readers.append(threading.Thread(target=self._read, args=(process,)))
        self.readers[-1].start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        for line in process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    def __str__(self) -> str:
        return "\n".join([f"exit statuses {[p.poll() for p in self.processes]}", *self.lines])

    def starting(self, word: str) -> list[str]:
        return [line[len(word) + 1 :] for line in self.lines if line.startswith(word + " ")]

    def await_lines(self, word: str, count: int, timeout: float = 30) -> list[str]:
        """The rest of the lines that begin with word, when there are count of them."""
        deadline = time.monotonic() + timeout
        with self.changed:
            while len(self.starting(word)) < count:
                left = deadline - time.monotonic()
                if left <= 0 or not any(reader.is_alive() for reader in self.readers):
                    raise AssertionError(f"only {len(self.starting(word))} of {count} lines {word}\n{self}")
                self.changed.wait(min(left, 0.5))
            return self.starting(word)

    def end(self, timeout: float = 60) -> list[int]:
        """The exit statuses of all PEs, when all have ended."""
        deadline = time.monotonic() + timeout
        for process in self.processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise AssertionError(f"not all PEs ended within {timeout:g} s\n{self}") from None
        for reader in self.readers:
            reader.join(10)
        return [process.returncode for process in self.processes]

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        for reader in self.readers:
            reader.join(10)


class Hosts:
    def __init__(self, n: int, netem: str = "") -> None:
        """netem: of every host's link, as tc takes it: "delay 2ms loss 1%"."""
        self.n = n
        self.id = f"{PREFIX}-{os.getpid()}-{random.SystemRandom().randrange(1 << 24):06x}"
        self.netem = netem
        self.keepers: list[subprocess.Popen[str]] = []
        self.jobs: list[Job] = []

    def _name(self, host: int) -> str:
        return f"{self.id}h{host}"

    def address(self, host: int) -> str:
        return f"10.93.0.{host + 1}"

    def __enter__(self) -> Hosts:
        remove_leftovers()
        try:
            self._make()
        except BaseException:
            self.close()
            raise
        return self

    def _make(self) -> None:
        bridge = f"{self.id}b"
        ip("netns", "add", bridge)
        ip("-n", bridge, "link", "add", "br0", "type", "bridge")
        ip("-n", bridge, "link", "set", "br0", "up")
        for host in range(self.n):
            name = self._name(host)
            ip("netns", "add", name)
            ip("-n", bridge, "link", "add", f"p{host}", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("-n", bridge, "link", "set", f"p{host}", "master", "br0", "up")
            ip("-n", name, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", "eth0", "up")
            if self.netem:
                words = ["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "eth0", "root", "netem"]
                subprocess.run([*words, *self.netem.split()], check=True, capture_output=True, text=True)
            script = f"hostname rshost{host}; echo up; exec sleep infinity"
            keeper = subprocess.Popen(
                ["ip", "netns", "exec", name, "unshare", "-u", "-i", "sh", "-c", script],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            self.keepers.append(keeper)
            assert keeper.stdout and keeper.stdout.readline() == "up\n"

    def inside(self, host: int, command: Sequence[str]) -> list[str]:
        return ["nsenter", "-t", str(self.keepers[host].pid), "-n", "-u", "-i", "--", *command]

    def start(self, pes: Sequence[int], command: Sequence[str | os.PathLike[str]], env: Mapping[str, str]) -> Job:
        """pes: how many PEs on each host. A PE's lines go to the job's."""
        job = Job(sum(pes))
        self.jobs.append(job)
        port = random.SystemRandom().randrange(20000, 30000)
        rank = 0
        for host, n_local in enumerate(pes):
            for local in range(n_local):
                own = {
                    MARK: job.mark, "RANK": str(rank), "WORLD_SIZE": str(job.n), "LOCAL_RANK": str(local),
                    "LOCAL_WORLD_SIZE": str(n_local), "MASTER_ADDR": self.address(0), "MASTER_PORT": str(port),
                    "TORCHELASTIC_RUN_ID": job.mark,
                }  # fmt: skip
                job.add(
                    subprocess.Popen(
                        self.inside(host, [str(word) for word in command]),
                        env={**env, **own},
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT,
                        text=True,
                    )  # fmt: skip
                )
                rank += 1
        return job

    def pids(self, host: int) -> list[int]:
        """The processes of a host's PEs."""
        keeper = self.keepers[host].pid
        return [int(pid) for pid in ip("netns", "pids", self._name(host), check=False).split() if int(pid) != keeper]

    def signal(self, host: int, number: int) -> None:
        """All PEs of a host: SIGSTOP freezes it, SIGCONT thaws it."""
        for pid in self.pids(host):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def cut(self, host: int) -> None:
        ip("-n", f"{self.id}b", "link", "set", f"p{host}", "down")

    def heal(self, host: int) -> None:
        ip("-n", f"{self.id}b", "link", "set", f"p{host}", "up")

    def close(self) -> None:
        for host in range(len(self.keepers)):
            self.signal(host, signal.SIGKILL)
        for job in self.jobs:
            job.stop()
        for keeper in self.keepers:
            keeper.kill()
            keeper.wait()
            if keeper.stdout:
                keeper.stdout.close()
        for name in [f"{self.id}b", *(self._name(host) for host in range(self.n))]:
            _remove(name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    pes = [int(n) for n in sys.argv[1].split(",")]
    with Hosts(len(pes), os.environ.get("NETEM", "")) as hosts:
        job = hosts.start(pes, sys.argv[2:], os.environ)
        statuses = job.end(float(os.environ.get("SECONDS", "120")))
        print("\n".join(job.lines))
    return max(statuses)


if __name__ == "__main__":
    sys.exit(main())
