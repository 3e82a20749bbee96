# SPDX-License-Identifier: MIT
"""Start a real job of several PEs from a test.

Every test that needs more than one PE asks for the fixture ``run_job``. It starts the program with a launcher of the
environment that pytest itself runs in, waits with a deadline, and leaves no process behind. The interface is
``run_job(n, program, *args, launcher="rocshmem-run", env=None, timeout=60, check=True) -> Job``.
"""

from __future__ import annotations

import inspect
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

#: What a launcher around pytest may have left in our environment; a job starts without it.
_LAUNCHER_PREFIXES = ("OMPI_", "PMI_", "PMIX_", "PRTE_", "SLURM_", "FLUX_", "PALS_", "TORCHELASTIC_")
_LAUNCHER_NAMES = (
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "ROLE_RANK", "MASTER_ADDR", "MASTER_PORT",
    "MPI_LOCALRANKID", "ROCSHMEM_MASTER_ADDR", "ROCSHMEM_MASTER_PORT",
)  # fmt: skip

#: What Open MPI needs to run as root and with more PEs than cores; other MPIs do not look.
_MPI_ENV = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}

# A shell's background job ignores these, and its children inherit that: the jobs that a test interrupts would not hear.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

Program = str | os.PathLike[str] | Callable[..., Any] | Sequence[str]


@dataclass(frozen=True)
class Job:
    """What a finished job left: exit status of its launcher, its output, how long it took."""

    argv: list[str]
    returncode: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def output(self) -> str:
        """stdout, then stderr."""
        return self.stdout + self.stderr

    @property
    def lines(self) -> list[str]:
        """The lines of stdout, sorted: PEs write in any order."""
        return sorted(self.stdout.splitlines())

    def __str__(self) -> str:
        return (
            f"$ {' '.join(self.argv)}\nexit status {self.returncode} after {self.seconds:.1f} s\n"
            f"--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"
        )


def free_port() -> int:
    """A TCP port of the loopback interface that nobody listened on a moment ago.

    Below those that the kernel gives to whoever asks for any: until the job listens, no rendezvous takes it.
    """
    while True:
        port = random.SystemRandom().randrange(20000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def job_env(extra: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """This process's environment without any launcher's variables; ``extra`` is added, None removes a variable."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(_LAUNCHER_PREFIXES) and k not in _LAUNCHER_NAMES}
    env["PATH"] = os.path.join(sys.prefix, "bin") + os.pathsep + env.get("PATH", "")
    # Programs import memory.py.
    env["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *filter(None, [env.get("PYTHONPATH")])])
    env.setdefault("OMP_NUM_THREADS", "1")
    env["PYTHONUNBUFFERED"] = "1"
    env["PYTHONFAULTHANDLER"] = "1"
    for name, value in (extra or {}).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def find_tool(name: str) -> str:
    """The path of one of our tools (``rocshmem-run``, ``rocshmem-info``, ``rocshmem-perf``); fails if absent."""
    variable = name.upper().replace("-", "_")
    if os.environ.get(variable):
        return os.environ[variable]
    here = Path(sys.prefix) / "bin" / name
    found = str(here) if here.exists() else shutil.which(name)
    if not found:
        pytest.fail(f"{here} does not exist; build with `make build`, or set {variable} to the tool's path")
    return found


def find_cc() -> str:
    """The path of a C compiler; skips the test if there is none."""
    cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not cc:
        pytest.skip("no C compiler on PATH (cc, gcc, clang)")
    return cc


def compile_c(source: Path, folder: Path, *flags: str) -> Path:
    """A C program, compiled into folder with the headers and library of the installed package; no warning passes."""
    import rocshmem4py

    prefix, program = Path(rocshmem4py.__file__).parent, folder / source.stem
    command = [find_cc(), "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *flags, f"-I{prefix}/include"]
    command += [str(source), "-o", str(program), f"-L{prefix}/lib", "-lrocshmem", f"-Wl,-rpath,{prefix}/lib"]
    compiled = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert compiled.returncode == 0, f"{' '.join(command)}\n{compiled.stderr}"
    return program


def _launch(launcher: str, n: int) -> tuple[list[str], dict[str, str]]:
    """Command prefix and environment for one of the launchers."""
    if launcher == "rocshmem-run":
        return [find_tool("rocshmem-run"), "-n", str(n)], {}
    if launcher == "torchrun":
        if not (Path(sys.prefix) / "bin" / "torchrun").exists():
            pytest.skip("torch is not installed (no torchrun in this environment)")
        torchrun = str(Path(sys.prefix) / "bin" / "torchrun")
        return [torchrun, "--nproc-per-node", str(n), "--master-port", str(free_port()), "--no-python"], {}
    if launcher in ("mpirun", "mpiexec"):
        mpirun = shutil.which(launcher)
        if not mpirun:
            pytest.skip(f"no {launcher} on PATH")
        return [mpirun, "-n", str(n)], _MPI_ENV
    if launcher in ("none", "env"):
        return [], {}
    raise ValueError(f"launcher {launcher!r}: one of rocshmem-run, torchrun, mpirun, mpiexec, env, none")


def _program(program: Program, folder: Path) -> list[str]:
    """Turn a path, a source text, a function or a whole command into a command."""
    if callable(program):
        source = textwrap.dedent(inspect.getsource(program))
        source = f"import sys\n{source}\n{program.__name__}(*sys.argv[1:])\n"
    elif isinstance(program, (str, os.PathLike)):
        text = os.fspath(program)
        if "\n" not in text and text.endswith(".py"):
            return [sys.executable, text]
        source = textwrap.dedent(text)
    else:
        return list(program)
    path = folder / "program.py"
    path.write_text(source)
    return [sys.executable, str(path)]


def _descendants(pid: int) -> list[int]:
    """pid and every process below it, from /proc."""
    found = [pid]
    for parent in found:
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += [int(p) for p in children.read_text().split()]
            except OSError:
                continue
    return found


def _kill(processes: Sequence[subprocess.Popen[str]]) -> None:
    """End these processes and all below them: they were started by us, each in its own session."""
    for pid in [pid for p in processes for pid in _descendants(p.pid)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    for p in processes:
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _wait(processes: Sequence[subprocess.Popen[str]], timeout: float) -> bool:
    """Wait until all have ended; False (and everything killed) when the time is over."""
    deadline = time.monotonic() + timeout
    try:
        for p in processes:
            p.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    finally:
        _kill(processes)
        for p in processes:
            p.wait()
    return True


def start_job(
    n: int,
    program: Program,
    *args: object,
    folder: Path,
    launcher: str = "rocshmem-run",
    env: Mapping[str, str | None] | None = None,
    launcher_args: Sequence[str] = (),
) -> list[subprocess.Popen[str]]:
    """Start a job and return its processes (one: the launcher; n under launcher "env"). The caller must _wait for them.

    Output goes to ``out.<i>`` and ``err.<i>`` in folder.
    """
    prefix, launcher_env = _launch(launcher, n)
    argv = [*prefix, *launcher_args, *_program(program, folder), *map(str, args)]
    port = str(free_port())
    processes = []
    for i in range(n if launcher == "env" else 1):
        # Unbuffered, a print leaves in parts and lines of PEs mix; buffered, print(..., flush=True) is one write.
        extra: dict[str, str | None] = {"PYTHONUNBUFFERED": None, **launcher_env}
        if launcher == "env":
            extra |= {"RANK": str(i), "LOCAL_RANK": str(i), "WORLD_SIZE": str(n), "LOCAL_WORLD_SIZE": str(n)}
            extra |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        with open(folder / f"out.{i}", "w") as out, open(folder / f"err.{i}", "w") as err:
            processes.append(
                subprocess.Popen(
                    argv,
                    env=job_env(extra | dict(env or {})),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    text=True,
                    start_new_session=True,
                )
            )
    return processes


def finish_job(processes: Sequence[subprocess.Popen[str]], folder: Path, timeout: float = 60) -> Job:
    """Wait for a job of start_job; when the time is over, kill it and fail the test with its output."""
    __tracebackhide__ = True
    began = time.monotonic()
    ended = _wait(processes, timeout)
    text = {
        kind: "".join((folder / f"{kind}.{i}").read_text(errors="replace") for i in range(len(processes)))
        for kind in ("out", "err")
    }
    status = next((p.returncode for p in processes if p.returncode), 0)
    argv = [str(a) for a in processes[0].args]  # type: ignore[union-attr]
    job = Job(argv, status, text["out"], text["err"], time.monotonic() - began)
    if not ended:
        pytest.fail(f"job did not end within {timeout:g} s and was killed\n{job}")
    return job


def _run_job(
    n: int,
    program: Program,
    *args: object,
    launcher: str = "rocshmem-run",
    env: Mapping[str, str | None] | None = None,
    timeout: float = 60,
    check: bool = True,
    launcher_args: Sequence[str] = (),
) -> Job:
    """Run a job of n PEs to its end.

    Args:
        n: number of PEs.
        program: a path ending in ``.py``; or a Python source text (dedented, more than one line); or a function,
            whose source is run with ``args`` as strings (it imports what it needs itself); or a list, the whole
            command without launcher.
            What it must show although it is killed later, it prints with flush=True.
        args: arguments of the program.
        launcher: "rocshmem-run", "torchrun", "mpirun", "mpiexec", "env" (n processes with torch's variables, no
            launcher) or "none" (one process, no variables). Skips the test when torch or MPI is not installed.
        env: added to the environment; None as a value removes a variable.
        timeout: seconds; when over, the job is killed and the test fails, with the job's output.
        check: fail the test unless the exit status is 0.
        launcher_args: options for the launcher, before the program.
    Returns:
        Job: argv, returncode, stdout, stderr, output, lines, seconds.
    """
    __tracebackhide__ = True
    with tempfile.TemporaryDirectory(prefix="rocshmem-job-") as name:
        folder = Path(name)
        processes = start_job(n, program, *args, folder=folder, launcher=launcher, env=env, launcher_args=launcher_args)
        job = finish_job(processes, folder, timeout)
    if check and job.returncode:
        pytest.fail(str(job))
    return job


@pytest.fixture(name="run_job")
def run_job_fixture() -> Callable[..., Job]:
    """The function of this fixture's name; see _run_job for its arguments."""
    return _run_job


@pytest.fixture
def started_jobs(tmp_path: Path) -> Iterator[Callable[..., tuple[list[subprocess.Popen[str]], Path]]]:
    """start(n, program, ...) -> (processes, folder), for tests that act on a running job (kill a PE, read its output).

    finish_job(processes, folder, timeout) waits; what is still running when the test ends is killed.
    """
    all_processes: list[subprocess.Popen[str]] = []

    def start(n: int, program: Program, *args: object, **options: Any) -> tuple[list[subprocess.Popen[str]], Path]:
        folder = tmp_path / f"job{len(all_processes)}"
        folder.mkdir()
        processes = start_job(n, program, *args, folder=folder, **options)
        all_processes.extend(processes)
        return processes, folder

    yield start
    _kill([p for p in all_processes if p.poll() is None])
    for p in all_processes:
        p.wait()
