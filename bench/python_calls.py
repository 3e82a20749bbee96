# SPDX-License-Identifier: MIT
"""What a call from Python costs: our extension against pybind11, nanobind and ctypes around the same C functions.

    python bench/python_calls.py [--quick]

Builds bench/bindings/* against the installed runtime with the newest pybind11 and nanobind of pip (kept in
build/bench), starts a job of 2 PEs, and lets PE 0 time every call through every binding, by turns, in one process. A
time is that of one pass of the loop, the loop itself included; the notes say what the loop alone takes.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common
from common import BUILD, BenchError, Install, Row, Table, log

Call = Callable[..., Any]
Work = tuple[tuple[str, str, str], Call, Any, tuple[int, ...]]  # key, loop, function, its arguments

BINDINGS = ("pybind11", "nanobind")
PARAMETERS = {
    "rocshmem_putmem": ("dest", "source", "nelems", "pe"),
    "rocshmem_getmem": ("dest", "source", "nelems", "pe"),
    "rocshmem_int64_atomic_fetch_add": ("dest", "value", "pe"),
    "rocshmem_putmem_on_stream": ("dest", "source", "nelems", "pe", "stream"),
    "rocshmem_my_pe": (),
}
C_TYPES = {
    "dest": ctypes.c_void_p,
    "source": ctypes.c_void_p,
    "nelems": ctypes.c_size_t,
    "pe": ctypes.c_int,
    "value": ctypes.c_int64,
    "stream": ctypes.c_void_p,
}
GOALS = {  # ns: by position, by keyword
    "rocshmem_putmem": (75, 130),
    "rocshmem_int64_atomic_fetch_add": (60, 130),
}
RATIOS = {  # of pybind11, of nanobind; by position and by keyword
    ("pybind11", "position"): 0.65,
    ("pybind11", "keyword"): 0.3,
    ("nanobind", "position"): 1.0,
    ("nanobind", "keyword"): 1.0,
}

# --- the driver: builds, starts the job, makes the tables ------------------------------------------------------------


def loaded_library(install: Install) -> Path:
    """The librocshmem.so that the installed extension loads: the bindings must use that very file."""
    code = (
        "import _rocshmem4py\nfor line in open('/proc/self/maps'):\n"
        "    if 'librocshmem.so' in line: print(line.split()[-1]); break\n"
    )
    path = common.run([install.python, "-c", code]).strip()
    if not path:
        raise BenchError(f"{install.python}: _rocshmem4py loads no librocshmem.so; run `make build`")
    return Path(path)


def install_tools(install: Install) -> Path:
    """pybind11 and nanobind in a folder of their own; pip is asked only when they are missing."""
    site = BUILD / "site"
    if not all((site / name).is_dir() for name in BINDINGS):
        log(f"pip: {', '.join(BINDINGS)} into {site}")
        common.run([install.python, "-m", "pip", "install", "-q", "--target", site, *BINDINGS], timeout=300)
    return site


def build_binding(name: str, install: Install, library: Path, site: Path) -> None:
    source, build = common.BENCH / "bindings" / name, BUILD / name
    cmake_dir = common.run(
        [
            install.python,
            "-c",
            f"import {name}; print(getattr({name}, 'get_cmake_dir', None)() if "
            f"hasattr({name}, 'get_cmake_dir') else {name}.cmake_dir())",
        ],
        env={**os.environ, "PYTHONPATH": str(site)},
    ).strip()
    log(f"building bench/bindings/{name}")
    common.run(
        [
            "cmake",
            "-S",
            source,
            "-B",
            build,
            "-DCMAKE_BUILD_TYPE=Release",
            f"-D{name}_DIR={cmake_dir}",
            f"-DPython_EXECUTABLE={install.python}",
            f"-DROCSHMEM_INCLUDE={common.ROOT / 'include'}",
            f"-DROCSHMEM_LIBRARY={library}",
            f"-DCMAKE_BUILD_RPATH={library.parent}",
        ]
    )
    common.run(["cmake", "--build", build, "-j2"], timeout=300)


def run_job(install: Install, library: Path, site: Path, quick: bool) -> dict[str, Any]:
    path = os.pathsep.join(str(BUILD / name) for name in BINDINGS)
    command: list[str | Path] = [
        *common.rocshmem_run(install, 2),
        install.python,
        Path(__file__).resolve(),
        "--worker",
        library,
    ]
    if quick:
        command.append("--quick")
    log("Python calls, 2 PEs")
    output = common.run(command, timeout=180, env={**os.environ, "PYTHONPATH": path, "BENCH_SITE": str(site)})
    lines = [line for line in output.splitlines() if line.startswith("{")]
    if len(lines) != 1:
        raise BenchError(f"python_calls.py --worker printed no result: {output[-500:]}")
    result: dict[str, Any] = json.loads(lines[0])
    return result


def judge(call: str, way: str, binding: str, ours: float, ratio: float) -> tuple[str, str]:
    """The targets in words, and whether they are met."""
    limit = RATIOS.get((binding, way))
    if limit is None:
        return "", ""
    words, met = f"≤ {limit} of {binding}", ratio <= limit
    if binding == "pybind11" and call in GOALS:
        goal = GOALS[call][0 if way == "position" else 1]
        return f"{words}; ≤ {goal} ns", f"{common.WORDS[met]}; {common.WORDS[ours <= goal]}"
    return words, common.WORDS[met]


def compare(install: Install, *, quick: bool = False) -> list[Table]:
    """One table for each binding."""
    library, site = loaded_library(install), install_tools(install)
    for name in BINDINGS:
        build_binding(name, install, library, site)
    result = run_job(install, library, site, quick)
    times = {tuple(entry["key"]): entry["ns"] for entry in result["times"]}
    tables = []
    for binding in (*BINDINGS, "ctypes"):
        table = Table(f"Python calls against {binding} {result['versions'].get(binding, '')}".strip(), binding)
        for call, way in itertools.product(PARAMETERS, ("position", "keyword")):
            if (call, way, binding) not in times:
                continue
            ours, spread = common.centre(times[(call, way, "ours")])
            theirs, their_spread = common.centre(times[(call, way, binding)])
            label = f"{call}, by {way}" if PARAMETERS[call] else call
            pairs = zip(times[(call, way, "ours")], times[(call, way, binding)], strict=True)
            ratio = statistics.median(mine / other for mine, other in pairs)
            target, met = judge(call, way, binding, ours, ratio)
            row = Row(label, ours, spread, theirs, their_spread, target, met, paired_ratio=ratio)
            table.rows.append(row)
        loop = common.centre(times[("loop", "", "")])[0]
        table.notes.append(
            f"8 bytes to a PE of this host; each figure includes {loop:.1f} ns of loop; "
            f"{result['rounds']} rounds, the bindings by turns; the ratio is the median of the rounds' ratios."
        )
        tables.append(table)
    return tables


# --- the worker: one PE of the job -----------------------------------------------------------------------------------


def make_loop(names: tuple[str, ...], by_keyword: bool) -> Call:
    """A function (f, n, values) that calls f n times with these parameters, without any other work in its loop."""
    call = ", ".join(f"{name}={name}" if by_keyword else name for name in names)
    unpack = f"    {', '.join(names)}, = values\n" if names else ""
    scope: dict[str, Any] = {"repeat": itertools.repeat, "now": time.perf_counter_ns}
    exec(
        f"def loop(f, n, values):\n{unpack}    start = now()\n    for _ in repeat(None, n):\n        f({call})\n"
        "    return (now() - start) / n\n",
        scope,
    )
    loop: Call = scope["loop"]
    return loop


def empty_loop(_f: object, n: int, _values: tuple[int, ...]) -> float:
    start = time.perf_counter_ns()
    for _ in itertools.repeat(None, n):
        pass
    return (time.perf_counter_ns() - start) / n


def ctypes_functions(library: str) -> dict[str, Call]:
    handle = ctypes.CDLL(library)
    functions = {}
    for name, parameters in PARAMETERS.items():
        function = getattr(handle, name)
        function.argtypes = [C_TYPES[parameter] for parameter in parameters]
        function.restype = {"rocshmem_int64_atomic_fetch_add": ctypes.c_int64, "rocshmem_my_pe": ctypes.c_int}.get(name)
        functions[name] = function
    return functions


def check_one_library() -> None:
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    files = {line.split()[-1] for line in maps.splitlines() if "librocshmem.so" in line}
    if len(files) != 1:
        raise SystemExit(f"the bindings use different runtimes: {', '.join(sorted(files))}")


def plan(modules: dict[str, dict[str, Call]], values: dict[str, tuple[int, ...]]) -> list[Work]:
    """Everything that is timed: (key, loop, function, values), the bindings of one call next to each other."""
    work: list[Work] = [(("loop", "", ""), empty_loop, None, ())]
    for call, names in PARAMETERS.items():
        for way in ("position", "keyword") if names else ("position",):
            loop = make_loop(names, way == "keyword")
            for binding, functions in modules.items():
                if way == "keyword" and binding == "ctypes":
                    continue  # C functions have no keywords
                work.append(((call, way, binding), loop, functions[call], values[call]))
    return work


def time_all(work: list[Work], rounds: int, target_ns: float, between: Callable[[], None]) -> list[dict[str, Any]]:
    counts: list[int] = []
    times: list[list[float]] = [[] for _ in work]
    for _key, loop, function, values in work:
        per_call = min(loop(function, 2000, values) for _ in range(3))
        between()
        counts.append(max(100, int(target_ns / per_call)))
    for _ in range(rounds):
        for i, (_key, loop, function, values) in enumerate(work):
            times[i].append(loop(function, counts[i], values))
            between()
    return [{"key": entry[0], "ns": ns} for entry, ns in zip(work, times, strict=True)]


def worker(library: str, quick: bool) -> None:
    import rocshmem4py as ours

    ours.rocshmem_init()
    me = ours.rocshmem_my_pe()
    dest, source = ours.rocshmem_malloc(4096), ours.rocshmem_malloc(4096)
    word = ours.rocshmem_calloc(1, 8)
    ours.rocshmem_barrier_all()
    if me == 0:
        modules = {"ours": {name: getattr(ours, name) for name in PARAMETERS}}
        for name in BINDINGS:
            module = importlib.import_module(f"rocshmem_{name}")
            modules[name] = {call: getattr(module, call) for call in PARAMETERS}
        modules["ctypes"] = ctypes_functions(library)
        check_one_library()
        transfer = (dest, source, 8, 1)
        values = {
            "rocshmem_putmem": transfer,
            "rocshmem_getmem": transfer,
            "rocshmem_my_pe": (),
            "rocshmem_int64_atomic_fetch_add": (word, 1, 1),
            "rocshmem_putmem_on_stream": (*transfer, 0),
        }
        rounds, target_ns = (5, 1e6) if quick else (15, 6e6)
        times = time_all(plan(modules, values), rounds, target_ns, ours.hip_device_synchronize)
        site = Path(os.environ["BENCH_SITE"])
        versions = {
            name: next(site.glob(f"{name}-*.dist-info")).name.split("-")[1].removesuffix(".dist") for name in BINDINGS
        }
        print(json.dumps({"times": times, "rounds": rounds, "versions": versions}), flush=True)
    ours.rocshmem_barrier_all()
    for address in (word, source, dest):
        ours.rocshmem_free(address)
    ours.rocshmem_finalize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--worker", metavar="LIBRARY", help="be one PE of the job (started by this script)")
    parser.add_argument("--library")
    parser.add_argument("--launcher")
    args = parser.parse_args()
    if args.worker:
        worker(args.worker, args.quick)
        return
    for table in compare(common.find_install(args.library, args.launcher), quick=args.quick):
        print(common.markdown(table))


if __name__ == "__main__":
    try:
        main()
    except BenchError as error:
        sys.exit(f"python_calls.py: {error}")
