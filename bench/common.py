# SPDX-License-Identifier: MIT
"""What the benchmark scripts share: where things are, how they are built, statistics, machine facts, tables."""

from __future__ import annotations

import datetime
import functools
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
BUILD = ROOT / "build" / "bench"
WORDS = {True: "yes", False: "**no**", None: ""}


class BenchError(Exception):
    """A benchmark could not run; the text says what to do."""


@dataclass
class Row:
    """One line of a table: what was timed, on which sides, against which target."""

    name: str
    ours: float | None  # ns, median of the runs' medians; None where it could not be measured
    ours_spread: tuple[float, float] | None
    peer: float | None = None
    peer_spread: tuple[float, float] | None = None
    target: str = ""
    met: str = ""  # "yes", "by ratio", "**no**", or "" where there is no target
    note: str = ""
    paired_ratio: float | None = None  # median of the rounds' ratios, where each round timed both sides

    @property
    def ratio(self) -> float | None:
        """Ours to the peer's."""
        return self.paired_ratio or (self.ours / self.peer if self.peer and self.ours else None)


@dataclass
class Table:
    title: str
    peer_name: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        data = asdict(self)
        for row, entry in zip(self.rows, data["rows"], strict=True):
            entry["ratio"] = row.ratio
        return data


@dataclass
class Install:
    """The built runtime that is measured."""

    library: Path
    launcher: Path
    perf: Path | None
    python: Path
    oshcc: list[str | Path]  # how a program of shmem.h is compiled for it; empty: it cannot be
    libraries: list[str | Path]  # what is linked behind the sources


def run(
    command: Sequence[str | Path], *, timeout: float = 120, env: dict[str, str] | None = None, check: bool = True
) -> str:
    """Run a command; its standard output. BenchError with the command and its output when it fails or hangs."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, env=env, check=False)
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"no end after {timeout:.0f} s: {shlex.join(words)}") from error
    except OSError as error:
        raise BenchError(f"could not start {shlex.join(words)}: {error}") from error
    if check and done.returncode != 0:
        tail = (done.stderr + done.stdout).strip()[-2000:]
        raise BenchError(f"exit status {done.returncode}: {shlex.join(words)}\n{tail}")
    return done.stdout


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# --- what is measured ------------------------------------------------------------------------------------------------


def first(paths: Iterable[Path | None]) -> Path | None:
    return next((path for path in paths if path and path.exists()), None)


def find_install(library: str | None = None, launcher: str | None = None) -> Install:
    """The runtime of build/venv, else of any build folder; explicit paths win."""
    venv = ROOT / "build" / "venv"
    python = first([venv / "bin" / "python"]) or Path(sys.executable)
    # librocshmem.so itself may be a linker script (a wheel has no links): the versioned name is the library.
    libraries = (
        [Path(library)]
        if library
        else [
            *(sorted(Path(launcher).parent.parent.glob("lib*/librocshmem.so.*")) if launcher else ()),
            *sorted(venv.glob("lib*/python*/site-packages/rocshmem4py/lib/librocshmem.so.*")),
            *sorted((ROOT / "build").glob("**/librocshmem.so.*")),
        ]
    )
    found = first(libraries)
    if not found:
        raise BenchError("librocshmem.so was not found under build/: run `make build`, or give --library")
    programs = (
        [Path(launcher).parent]
        if launcher
        else [venv / "bin", *{path.parent for path in (ROOT / "build").glob("**/rocshmem-run") if path.is_file()}]
    )
    found_run = first(Path(launcher) if launcher else folder / "rocshmem-run" for folder in programs)
    if not found_run:
        raise BenchError("rocshmem-run was not found under build/: run `make build`, or give --launcher")
    perf = first([found_run.parent / "rocshmem-perf", *(folder / "rocshmem-perf" for folder in programs)])
    found, oshcc = found.resolve(), found_run.parent / "oshcc"
    command: list[str | Path] = [oshcc] if oshcc.exists() and not library else []
    tail: list[str | Path] = []
    layer = first(sorted(found.parent.glob("libshmem.so*")))
    if not command and layer:
        command = ["gcc", f"-I{ROOT / 'include'}"]
        tail = [layer, found, f"-Wl,-rpath,{found.parent}", "-pthread"]
    return Install(found, found_run, perf, python, command, tail)


def compile_c(
    target: str, compiler: Sequence[str | Path], sources: Sequence[Path], tail: Sequence[str | Path] = ()
) -> Path:
    """Compile a program into build/bench with the flags that all sides share."""
    BUILD.mkdir(parents=True, exist_ok=True)
    out = BUILD / target
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", f"-I{ROOT / 'tools'}"]
    run([*compiler, *flags, *sources, "-o", out, *tail])
    return out


def compile_ours(target: str, install: Install, sources: Sequence[Path]) -> Path:
    """A program of shmem.h for the runtime that is measured, with its own oshcc."""
    if not install.oshcc:
        raise BenchError(f"no oshcc beside {install.launcher}, no libshmem.so beside {install.library}: `make build`")
    return compile_c(target, install.oshcc, sources, install.libraries)


def build_shmem_bench(install: Install) -> tuple[Path, Path | None]:
    """shmem_bench for ours and, where its oshcc is to be had, for Open MPI's OSHMEM."""
    sources = [BENCH / "shmem_bench.c", ROOT / "tools" / "perf_measure.c"]
    ours, peer = compile_ours("shmem_bench", install, sources), find_peer()
    if not peer:
        return ours, None
    try:
        return ours, compile_c("shmem_bench_oshmem", [peer.oshcc], sources)
    except BenchError as error:
        log(f"{error}\nno peer: its oshcc fails; only our column is measured")
        return ours, None


def build_layer_cost(install: Install) -> Path:
    return compile_ours("layer_cost", install, [BENCH / "layer_cost.c", ROOT / "tools" / "perf_measure.c"])


def build_job_timer() -> Path:
    return compile_c("job_timer", ["gcc"], [BENCH / "job_timer.c"])


@dataclass
class Peer:
    """Open MPI's OSHMEM."""

    oshcc: Path
    oshrun: Path
    version: str


def search_peer() -> Peer | None:
    """The first oshcc and oshrun on PATH that are Open MPI's: ours have the same names."""
    for folder in os.get_exec_path():
        oshcc, oshrun_path = Path(folder) / "oshcc", Path(folder) / "oshrun"
        if oshcc.exists() and oshrun_path.exists():
            version = one_line([oshrun_path, "--version"])
            if re.search(r"OpenRTE|Open MPI", version):
                return Peer(oshcc, oshrun_path, version)
    return None


@functools.cache
def find_peer() -> Peer | None:
    """Open MPI's OSHMEM. Installs Debian's packages where it is missing and apt-get is allowed to."""
    peer = search_peer()
    if peer:
        return peer
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    command = [*sudo, "apt-get", "install", "-y", "-q", "openmpi-bin", "libopenmpi-dev"]
    log(f"Open MPI's oshcc is missing: {shlex.join(command)}")
    try:
        run(command, timeout=600, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    except BenchError as error:
        log(f"{error}\nno peer: install openmpi-bin and libopenmpi-dev; only our column is measured")
    return search_peer()


def has_core_each(n_pes: int) -> bool:
    return n_pes <= len(os.sched_getaffinity(0))


def rocshmem_run(install: Install, n_pes: int) -> list[str | Path]:
    """How ours is launched for a comparison: bound to cores where oshrun binds, too."""
    return [install.launcher, *(["--bind"] if has_core_each(n_pes) else []), "-n", str(n_pes)]


def oshrun(n_pes: int) -> list[str | Path]:
    """How the peer is launched: its memory hooks crash in shmem_finalize, hence the first option."""
    options = ["--mca", "opal_common_ucx_opal_mem_hooks", "0", "--allow-run-as-root", "--oversubscribe"]
    binding = ["--bind-to", "core" if has_core_each(n_pes) else "none"]
    peer = find_peer()
    return [peer.oshrun if peer else "oshrun", *options, *binding, "-n", str(n_pes)]


# --- statistics, facts, tables ---------------------------------------------------------------------------------------


def centre(values: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """The median, and the least and largest."""
    return statistics.median(values), (min(values), max(values))


def show(ns: float | None) -> str:
    """A time with a readable unit."""
    if ns is None:
        return "–"
    for limit, unit in ((1e4, "ns"), (1e6, "us"), (1e12, "ms")):
        if ns < limit:
            value = ns / {"ns": 1, "us": 1e3, "ms": 1e6}[unit]
            return f"{value:.{1 if value < 100 else 0}f} {unit}"
    return f"{ns / 1e9:.0f} s"


def show_spread(spread: tuple[float, float] | None) -> str:
    return f"{show(spread[0])} .. {show(spread[1])}" if spread else "–"


def markdown(table: Table) -> str:
    lines = [
        f"## {table.title}",
        "",
        f"| operation | ours | {table.peer_name} | ratio | target | met | ours, spread | {table.peer_name}, spread "
        "| note |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in table.rows:
        ratio = f"{row.ratio:.2f}" if row.ratio else "–"
        lines.append(
            f"| {row.name} | {show(row.ours)} | {show(row.peer)} | {ratio} | {row.target} | {row.met} "
            f"| {show_spread(row.ours_spread)} | {show_spread(row.peer_spread)} | {row.note} |"
        )
    return "\n".join([*lines, "", *(f"{note}  " for note in table.notes), ""])


def one_line(command: Sequence[str | Path]) -> str:
    try:
        return run(command).strip().splitlines()[0]
    except (BenchError, IndexError):
        return "unknown"


def cpu_name() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    match = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return match[1].strip() if match else platform.machine()


def commit() -> str:
    """The commit that is checked out, with + when the sources differ from it."""
    try:
        name = run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"]).strip()
        changed = run(
            ["git", "-C", ROOT, "status", "--porcelain", "--", "src", "include", "shmem", "bindings", "tools", "bench"]
        )
    except BenchError:
        return "unknown"
    return name + ("+" if changed.strip() else "")


def from_here(word: str | Path) -> str:
    """A word of a command, paths in this folder relative to it: where the clone lies is nobody's business."""
    return str(word).replace(f"{ROOT}/", "")


def facts(install: Install) -> dict[str, str]:
    """What a reader needs to repeat or to distrust a result."""
    peer = search_peer()
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "cpu": cpu_name(),
        "cores": str(os.cpu_count()),
        "load before": f"{os.getloadavg()[0]:.2f}",
        "kernel": platform.release(),
        "compiler": one_line(["gcc", "--version"]) + ", -O2",
        "python": one_line([str(install.python), "--version"]),
        "peer": peer.version if peer else "absent",
        "compiled with": shlex.join(from_here(word) for word in install.oshcc),
        "library": from_here(install.library),
        "command": shlex.join(["python", *(Path(sys.argv[0]).name, *sys.argv[1:])]),
    }
