# SPDX-License-Identifier: MIT
"""Launcher x way to join x one host or two: docs/launchers.md names these tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from .conftest import jobs

Launch = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = [sys.executable, str(Path(__file__).with_name("program.py"))]
OMPI = jobs._MPI_ENV | {"MPI4PY_MPIABI": "openmpi"}
WAYS = ["raw", "mpi", "torch", "mpi+uid"]


def expect(done: subprocess.CompletedProcess[str], n: int = 2) -> None:
    lines = sorted(line for line in done.stdout.splitlines() if line.startswith("done"))
    assert (done.returncode, lines) == (0, [f"done {pe} of {n}" for pe in range(n)]), done.stdout + done.stderr


def tool(*names: str) -> str:
    found = next((path for name in names if (path := shutil.which(name))), None)
    if not found:
        pytest.skip(f"no {names[0]} on PATH")
    return found


def can(way: str) -> str:
    if "mpi" in way and find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    if way == "torch" and find_spec("torch") is None:
        pytest.skip("torch is not installed")
    return way


@pytest.fixture(scope="session")
def mpich(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What makes mpi4py take MPICH: its library under the name that MPICH itself gives it, which Debian changes."""
    folder = tmp_path_factory.mktemp("mpich")
    found = next(iter(sorted(Path("/usr/lib").glob("*/libmpich.so.12"))), None)
    if found is None:
        pytest.skip("no MPICH")
    os.symlink(found, folder / "libmpi.so.12")
    return {"MPI4PY_MPIABI": "mpich", "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}


# ---- rocshmem-run ----


def test_rocshmem_run_one_host(launch: Launch) -> None:
    expect(launch(jobs.find_tool("rocshmem-run"), "-n", 2, *PROGRAM, "raw"))


@pytest.mark.parametrize("way", ["raw", "torch"])
def test_rocshmem_run_nodes(launch: Launch, way: str) -> None:
    expect(launch(jobs.find_tool("rocshmem-run"), "-n", 3, "--nodes", 2, *PROGRAM, can(way)), 3)


@pytest.mark.parametrize("way", ["raw", "torch"])
def test_rocshmem_run_hosts(launch: Launch, fake_ssh: Path, way: str) -> None:
    run = [jobs.find_tool("rocshmem-run"), "-n", 3, "--hosts", "127.0.0.1,127.0.0.2", "--ssh"]
    expect(launch(*run, fake_ssh, *PROGRAM, can(way), "FAKE_HOST"), 3)


def test_a_pe_that_fails_on_another_host_is_named_and_ends_the_job(launch: Launch, fake_ssh: Path) -> None:
    run = [jobs.find_tool("rocshmem-run"), "-n", 3, "--grace", "0.2", "--hosts", "ha:1,hb:2", "--ssh", fake_ssh]
    done = launch(*run, "sh", "-c", "test $RANK = 2 && exit 7; exec sleep 60")
    assert done.returncode == 7 and "PE 2 (pid" in done.stderr and "host hb" in done.stderr, done
    done = launch(*run, "--timeout", "0.5", "sleep", "60")
    assert done.returncode == 124 and "timed out" in done.stderr, done
    done = launch(*run[:-1], "false", "true")
    assert done.returncode == 1, done


def test_environment_folder_and_prefix_reach_the_hosts_and_the_unique_id_is_nowhere(
    launch: Launch, fake_ssh: Path, tmp_path: Path
) -> None:
    run = [jobs.find_tool("rocshmem-run"), "-n", 2, "--prefix", "--hosts", "ha,hb", "--ssh", fake_ssh, "-x", "COLOUR"]
    show = "echo $FAKE_HOST $RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $COLOUR $(pwd)"
    done = launch(*run, "--chdir", tmp_path, "sh", "-c", show, COLOUR="red")
    assert sorted(done.stdout.splitlines()) == [f"[0] ha 0 0 1 red {tmp_path}", f"[1] hb 1 0 1 red {tmp_path}"], done
    uid = "import os, socket; s = socket.socket(socket.AF_UNIX); s.connect(chr(0) + os.environ['ROCSHMEM_RUN_SOCKET'])"
    seen = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null"
    source = f"{uid}\nimport subprocess\nsecret = s.recv(128)[16:32]\nall = subprocess.run({seen!r}, shell=True, "
    source += "capture_output=True).stdout\nassert len(secret) == 16 and len(all) > 1000\n"
    source += "print(secret in all or secret.hex().encode() in all)"
    done = launch(*run, sys.executable, "-c", source)
    assert sorted(done.stdout.splitlines()) == ["[0] False", "[1] False"], done


def test_nothing_is_left_on_the_hosts_when_the_launcher_is_killed(fake_ssh: Path) -> None:
    run = [jobs.find_tool("rocshmem-run"), "-n", "2", "--hosts", "ha,hb", "--ssh", str(fake_ssh)]
    command = [*run, "sh", "-c", "echo $$; exec sleep 60"]
    launcher = subprocess.Popen(command, env=jobs.job_env(), stdout=subprocess.PIPE, text=True)
    assert launcher.stdout
    pids = [int(launcher.stdout.readline()) for _ in range(2)]
    launcher.kill()
    launcher.wait()
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}/exe").exists() for pid in pids):
        assert time.monotonic() < deadline, pids
        time.sleep(0.01)


# ---- torchrun ----


def test_torchrun_one_host(launch: Launch) -> None:
    can("torch")
    torchrun = str(Path(sys.prefix) / "bin" / "torchrun")
    port = f"--master-port={jobs.free_port()}"
    expect(launch(torchrun, "--nproc-per-node=2", port, "--no-python", *PROGRAM, "raw"))


@pytest.mark.parametrize("way", ["raw", "torch"])
def test_torchrun_two_hosts(way: str) -> None:
    can("torch")
    torchrun = str(Path(sys.prefix) / "bin" / "torchrun")
    shared = ["--nnodes=2", "--nproc-per-node=1", "--master-addr=127.0.0.1", f"--master-port={jobs.free_port()}"]
    agents = [
        subprocess.Popen(
            [torchrun, *shared, f"--node-rank={rank}", "--no-python", *PROGRAM, way, "GROUP_RANK"],
            env=jobs.job_env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )
        for rank in range(2)
    ]  # fmt: skip
    try:
        texts = [agent.communicate(timeout=90) for agent in agents]
    finally:
        jobs._kill(agents)
    lines = sorted("".join(out for out, _ in texts).splitlines())
    assert lines == ["done 0 of 2", "done 1 of 2"], texts


# ---- Open MPI ----


@pytest.mark.parametrize("way", ["raw", "mpi", "mpi+uid", "raw+mpi+raw"])
def test_openmpi_one_host(launch: Launch, way: str) -> None:
    expect(launch(tool("mpirun.openmpi", "mpirun"), "-n", 2, *PROGRAM, can(way), **OMPI))


@pytest.mark.parametrize("way", [*WAYS, "raw+mpi+raw"])
def test_openmpi_two_hosts(launch: Launch, fake_ssh: Path, way: str) -> None:
    """Over PMIx. The daemons' shared topology is off: it crashes where two daemons are on one machine."""
    mca = ["--mca", "plm", "rsh", "--mca", "plm_rsh_agent", fake_ssh, "--mca", "rtc", "^hwloc"]
    mpirun = [tool("mpirun.openmpi"), *mca, "--host", "ha:1,hb:1", "-n", 2]
    expect(launch(*mpirun, *PROGRAM, can(way), "FAKE_HOST", **OMPI, OMPI_MCA_rtc="^hwloc"))


def test_pmix_alone_says_rank_and_size(launch: Launch) -> None:
    expect(launch(tool("mpirun.openmpi"), "-n", 2, *PROGRAM, "raw", **OMPI, ROCSHMEM_LAUNCHER="pmix"))


# ---- MPICH ----


@pytest.mark.parametrize("way", [*WAYS, "raw+mpi+raw", "mpi+raw"])
def test_mpich_one_host(launch: Launch, mpich: dict[str, str], way: str) -> None:
    expect(launch(tool("mpiexec.hydra"), "-n", 2, *PROGRAM, can(way), **mpich))


@pytest.mark.parametrize("way", WAYS)
def test_mpich_two_hosts(launch: Launch, mpich: dict[str, str], fake_ssh: Path, way: str) -> None:
    hydra = [tool("mpiexec.hydra"), "-launcher", "ssh", "-launcher-exec", fake_ssh, "-hosts", "127.0.0.2,127.0.0.3"]
    expect(launch(*hydra, "-ppn", 1, "-n", 2, *PROGRAM, can(way), "FAKE_HOST", **mpich))


# ---- Slurm ----


@pytest.mark.parametrize(("mpi", "way"), [("none", "raw"), ("none", "torch"), ("pmi2", "raw"), ("pmix", "raw")])
def test_slurm_one_host(launch: Launch, slurm: dict[str, str], mpi: str, way: str) -> None:
    listed = launch("srun", "--mpi=list", **slurm)
    if mpi not in listed.stdout + listed.stderr:
        pytest.skip(f"this Slurm has no plugin {mpi}")
    expect(launch("srun", f"--mpi={mpi}", "-N1", "-n2", *PROGRAM, can(way), **slurm))


@pytest.mark.parametrize("way", ["mpi", "mpi+uid", "raw+mpi+raw"])
def test_slurm_mpi_one_host(launch: Launch, slurm: dict[str, str], mpich: dict[str, str], way: str) -> None:
    expect(launch("srun", "--mpi=pmi2", "-N1", "-n2", *PROGRAM, can(way), **slurm, **mpich))


@pytest.mark.parametrize(("mpi", "way"), [("none", "raw"), ("none", "torch"), ("pmi2", "raw")])
def test_slurm_two_hosts(launch: Launch, slurm: dict[str, str], mpi: str, way: str) -> None:
    expect(launch("srun", f"--mpi={mpi}", "-N2", "-n2", *PROGRAM, can(way), "SLURMD_NODENAME", **slurm))


@pytest.mark.parametrize("way", ["mpi", "mpi+uid", "raw+mpi+raw"])
def test_slurm_mpi_two_hosts(launch: Launch, slurm: dict[str, str], mpich: dict[str, str], way: str) -> None:
    expect(launch("srun", "--mpi=pmi2", "-N2", "-n2", *PROGRAM, can(way), "SLURMD_NODENAME", **slurm, **mpich))


def test_pmi1_under_slurm_when_it_is_asked_for(launch: Launch, slurm: dict[str, str]) -> None:
    command = ["srun", "--mpi=pmi2", "-N2", "-n2", *PROGRAM, "raw", "SLURMD_NODENAME"]
    expect(launch(*command, **slurm, ROCSHMEM_LAUNCHER="pmi1"))


# ---- rocshmem-info --launch ----


def test_info_says_what_was_found_and_why_not_the_others(launch: Launch) -> None:
    info = jobs.find_tool("rocshmem-info")
    page = launch(info, "--launch", PMI_FD="5", PMI_RANK="0", PMI_SIZE="2").stdout
    assert page.startswith("taken        PMI:") and "RANK is unset" in page and "PMI_SIZE=2" in page, page
    assert launch(info, "--launch").stdout.startswith("taken        none:")
    page = launch(info, "--launch", ROCSHMEM_LAUNCHER="slurm").stdout
    assert "Slurm did not start this process: SLURM_PROCID is unset" in page, page
    assert "give auto" in launch(info, "--launch", ROCSHMEM_LAUNCHER="lsf").stdout
