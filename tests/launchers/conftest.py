# SPDX-License-Identifier: MIT
"""For the launchers' matrix: a Slurm of our own, and an ssh that goes nowhere but says that it did."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sharing import fake_ssh, jobs

__all__ = ["fake_ssh", "jobs"]

SLURM_CONF = """
ClusterName=test
SlurmctldHost={host}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldPort={ports[0]}
ReturnToService=2
SlurmdParameters=config_overrides
MpiDefault=none
NodeName=na NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4
NodeName=nb NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4
PartitionName=p Nodes=na,nb Default=YES OverSubscribe=FORCE:8
"""


@pytest.fixture(scope="session")
def launch() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command without another launcher's variables; its end, with a deadline."""

    def call(*command: object, **env: str) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in command]
        return subprocess.run(words, env=jobs.job_env(env), capture_output=True, text=True, timeout=90)

    return call


def _munge(folder: Path) -> subprocess.Popen[bytes]:
    (folder / "munge").mkdir()
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    words = [f"--{name}={folder}/munge/{file}" for name, file in [
        ("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"),
    ]]  # fmt: skip
    return subprocess.Popen(["munged", "--foreground", "--force", *words], stderr=subprocess.DEVNULL)


def _until(condition: Callable[[], bool], what: str, seconds: float = 40) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.fixture(scope="session")
def slurm() -> Iterator[dict[str, str]]:
    """The environment of a Slurm with two nodes, both on this machine."""
    missing = [name for name in ("munged", "slurmctld", "slurmd", "srun") if not shutil.which(name)]
    if missing:
        pytest.skip(f"no {missing[0]} on PATH")
    if os.geteuid() != 0:
        pytest.skip("a Slurm of our own needs root")
    folder = Path(f"/tmp/rocshmem-slurm-{os.getpid()}")  # short, and munged wants folders that only root writes to
    folder.mkdir(mode=0o755)
    running: list[subprocess.Popen[bytes]] = []
    try:
        for name in ("state", "spool-na", "spool-nb"):
            (folder / name).mkdir()
        conf = folder / "slurm.conf"
        ports = [jobs.free_port() for _ in range(3)]
        conf.write_text(SLURM_CONF.format(host=socket.gethostname().split(".")[0], folder=folder, ports=ports))
        env = {"SLURM_CONF": str(conf), "ROCSHMEM_MASTER_ADDR": "127.0.0.1"}
        running.append(_munge(folder))
        _until((folder / "munge" / "socket").exists, "munged made no socket")
        for command in (["slurmctld", "-D"], ["slurmd", "-D", "-N", "na"], ["slurmd", "-D", "-N", "nb"]):
            with open(folder / f"{'-'.join(command)}.log", "wb") as log:
                running.append(subprocess.Popen(command, env={**os.environ, **env}, stdout=log, stderr=log))
        info = ["sinfo", "-h", "-o", "%T %D"]

        def is_up() -> bool:
            done = subprocess.run(info, env={**os.environ, **env}, capture_output=True, text=True)
            return done.stdout.split() == ["idle", "2"]

        _until(is_up, "the nodes of Slurm did not come up")
        yield env
    finally:
        for process in reversed(running):
            process.terminate()
        for process in running:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(folder, ignore_errors=True)
