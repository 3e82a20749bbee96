# SPDX-License-Identifier: MIT
"""Compare this runtime with its peers on this machine: `make bench`.

    python bench/compare.py [--quick] [--only c,python,startup] [--pes 2,4,8] [--runs 7]

C operations against Open MPI's OSHMEM (one source, shmem_bench.c, the two sides by turns), Python calls against
pybind11 and nanobind (python_calls.py), start-up against oshrun and bare processes (startup.py). Prints the tables as
Markdown and writes them to bench/results/ as .md and .json; --quick takes a minute, and writes to build/bench/ only.
Ends with 1 when a benchmark could not run; a missed target is a result, not a failure.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
import python_calls
import startup
from common import BenchError, Install, Row, Table, log

KIB, MIB = 1 << 10, 1 << 20
Key = tuple[str, int]  # operation, bytes


@dataclass(frozen=True)
class Aim:
    """What one row should reach. The figures come from one machine, where OSHMEM needed peer_ns; on another, ours
    should stand to OSHMEM as goal_ns stood to peer_ns there."""

    label: str
    goal_ns: float | None = None
    peer_ns: float | None = None
    times_memcpy: float | None = None
    below_peer: bool = False


PAIR_AIMS: dict[Key, Aim] = {
    ("put_quiet", 8): Aim("put + quiet, 8 B", 14, 28.8),
    ("get", 8): Aim("get, 8 B", 8, 20.5),
    ("g", 8): Aim("g", 8, 20.2),
    ("put_quiet", 4 * KIB): Aim("put + quiet, 4 KiB", 40, 64),
    ("put_quiet", 32 * KIB): Aim("put + quiet, 32 KiB", times_memcpy=1.03),
    ("put_quiet", MIB): Aim("put + quiet, 1 MiB", times_memcpy=1.03),
    ("put_quiet", 4 * MIB): Aim("put + quiet, 4 MiB", times_memcpy=1.03),
    ("fetch_add", 8): Aim("fetch_add", 11, 19.5),
    ("fetch_inc", 8): Aim("fetch_inc", 11, 19.5),
    ("swap", 8): Aim("swap", 11, 19.5),
    ("compare_swap", 8): Aim("compare_swap", 11, 19.5),
    ("fence", 0): Aim("fence, nothing outstanding", 3, 30),
    ("quiet", 0): Aim("quiet, nothing outstanding", 7, 18),
    ("ping_pong", 8): Aim("put_signal + wait, one way, 8 B", 160, 199),
    ("barrier_all", 0): Aim("barrier_all", 220, 328),
    ("broadcast", 8): Aim("broadcast, 8 B", 126, 126),
    ("broadcast", MIB): Aim("broadcast, 1 MiB", 36_000, 56_012),
    ("alltoall", 8): Aim("alltoall, 8 B a block", 450, 656),
    ("alltoall", MIB): Aim("alltoall, 1 MiB a block", 140_000, 144_570),
    ("fcollect", 8): Aim("fcollect, 8 B", 350, 404),
    ("fcollect", MIB): Aim("fcollect, 1 MiB", 115_000, 147_444),
    ("sum", 8): Aim("sum int64, 1 element", 350, 415),
    ("sum", MIB): Aim("sum int64, 131 072 elements", 150_000, 186_694),
    ("malloc_free", 64): Aim("malloc + free, 64 B", 700, 750),
    ("ctx_create", 0): Aim("context create + destroy", 100, 3_400_000),
    ("init", 0): Aim("init", 15e6, 230e6),
    ("finalize", 0): Aim("finalize", 5e6, 85e6),
}
CROWD_AIMS: dict[Key, Aim] = {
    ("barrier_all", 0): Aim("barrier_all", below_peer=True),
    ("broadcast", 8): Aim("broadcast, 8 B", below_peer=True),
    ("alltoall", 8): Aim("alltoall, 8 B a block", below_peer=True),
    ("fcollect", 8): Aim("fcollect, 8 B", below_peer=True),
    ("sum", 8): Aim("sum int64, 1 element", below_peer=True),
    ("init", 0): Aim("init"),
    ("finalize", 0): Aim("finalize"),
}
FLOORS: dict[Key, str] = {
    ("memcpy", 4 * KIB): "memcpy, private, 4 KiB",
    ("memcpy", 32 * KIB): "memcpy, private, 32 KiB",
    ("memcpy", MIB): "memcpy, private, 1 MiB",
    ("memcpy", 4 * MIB): "memcpy, private, 4 MiB",
    ("memcpy_peer", 4 * KIB): "memcpy to the peer, 4 KiB",
    ("memcpy_peer", 32 * KIB): "memcpy to the peer, 32 KiB",
    ("memcpy_peer", MIB): "memcpy to the peer, 1 MiB",
    ("memcpy_peer", 4 * MIB): "memcpy to the peer, 4 MiB",
    ("store_fence", 8): "store to the peer + fence",
    ("load", 8): "load from the peer",
    ("locked_add", 8): "atomic add of the CPU",
    ("line", 8): "a cache line's way to the peer",
}
CROWD_OPS = ",".join(f"{op}:{nbytes}" for op, nbytes in CROWD_AIMS if op not in ("init", "finalize"))
FOUR_PE_BARRIER = Aim("barrier_all", 2000, 2115)


@dataclass
class Side:
    """All figures of one library for one number of PEs."""

    medians: dict[Key, list[float]]
    forms: dict[Key, str]

    @classmethod
    def empty(cls) -> Side:
        return cls(defaultdict(list), {})

    def take(self, output: str) -> None:
        for line in output.splitlines():
            if not line.startswith("{"):
                continue
            record = json.loads(line)
            key = (record["op"], record["nbytes"])
            self.medians[key].append(record["median_ns"])
            self.forms[key] = record["form"]


def measure_sides(install: Install, n_pes: int, runs: int, options: list[str]) -> tuple[Side, Side | None]:
    """Run both sides by turns, so that a change of the machine's mood meets both."""
    ours_program, peer_program = common.build_shmem_bench(install)
    ours, peer = Side.empty(), Side.empty() if peer_program else None
    args = [*options, *(["--ops", CROWD_OPS] if n_pes > 2 else [])]
    for i in range(runs):
        log(f"C, {n_pes} PEs, run {i + 1} of {runs}")
        ours.take(common.run([*common.rocshmem_run(install, n_pes), ours_program, *args]))
        if peer_program and peer:
            peer.take(common.run([*common.oshrun(n_pes), peer_program, *args]))
    return ours, peer


def judge(aim: Aim, key: Key, ours: Side, peer: Side | None) -> tuple[str, str]:
    """The target in words, and whether it is met."""
    mine = common.centre(ours.medians[key])[0]
    theirs = common.centre(peer.medians[key])[0] if peer and peer.medians.get(key) else None
    if aim.times_memcpy:
        floors = ours.medians[("memcpy_peer", key[1])]  # one a run, as the puts
        ratio = statistics.median(put / floor for put, floor in zip(ours.medians[key], floors, strict=True))
        return f"≤ {aim.times_memcpy} of memcpy to the peer (is {ratio:.2f})", common.WORDS[ratio <= aim.times_memcpy]
    if aim.below_peer:
        return "≤ peer", common.WORDS[mine <= theirs] if theirs else ""
    if aim.goal_ns is None or aim.peer_ns is None:
        return "", ""
    ratio = aim.goal_ns / aim.peer_ns
    target = f"≤ {common.show(aim.goal_ns)}, or ≤ {ratio:.2g} of the peer"
    if mine <= aim.goal_ns:
        return target, "yes"
    return target, "by ratio" if theirs and mine <= ratio * theirs else "**no**"


def note_of(key: Key, ours: Side, peer: Side | None) -> str:
    """What the peer called instead, where it lacks the operation."""
    theirs = peer.forms.get(key, "") if peer else ""
    return f"peer: {theirs}" if theirs != ours.forms.get(key, "") else ""


def make_row(key: Key, aim: Aim, ours: Side, peer: Side | None) -> Row | None:
    if not ours.medians.get(key):
        return None
    mine, spread = common.centre(ours.medians[key])
    row = Row(aim.label, mine, spread, note=note_of(key, ours, peer))
    if peer and peer.medians.get(key):
        row.peer, row.peer_spread = common.centre(peer.medians[key])
    row.target, row.met = judge(aim, key, ours, peer)
    return row


def compare_c(install: Install, pes: list[int], runs: int, options: list[str]) -> list[Table]:
    tables = []
    for n_pes in pes:
        ours, peer = measure_sides(install, n_pes, runs, options)
        aims = dict(PAIR_AIMS if n_pes <= 2 else CROWD_AIMS)
        if n_pes == 4:
            aims[("barrier_all", 0)] = FOUR_PE_BARRIER
        table = Table(f"C, {n_pes} PEs", "OSHMEM")
        everything = [*aims.items(), *((key, Aim(label)) for key, label in FLOORS.items())]
        table.rows = [row for key, aim in everything if (row := make_row(key, aim, ours, peer))]
        table.notes.append(f"Medians of {runs} runs of each side, by turns; the spread is that of the runs' medians.")
        if common.has_core_each(n_pes):
            table.notes.append("Each PE keeps to a core of its own, on both sides.")
        table.notes.append(
            "Collectives follow one another, with a barrier after each 64; the slowest PE's time counts."
        )
        tables.append(table)
    return tables


def detail(install: Install, quick: bool) -> dict[str, Any] | None:
    """The whole table of rocshmem-perf, for the .json file."""
    if not install.perf or quick:
        return None
    log("rocshmem-perf, 2 PEs, every operation")
    options = ["--json", "--reps", "3", "--min-time", "3"]
    result: dict[str, Any] = json.loads(common.run([*common.rocshmem_run(install, 2), install.perf, *options]))
    return result


def write(tables: list[Table], info: dict[str, str], perf: dict[str, Any] | None, folder: Path) -> None:
    cpu = re.sub(r"[^a-z0-9]+", "-", info["cpu"].lower()).strip("-")
    stem = f"{info['date'][:10]}-{cpu}-{info['commit'].rstrip('+')}"
    text = "\n".join(
        [
            "# Benchmark results",
            "",
            *(f"- {name}: {value}" for name, value in info.items()),
            "",
            *(common.markdown(table) for table in tables),
        ]
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stem}.md").write_text(text, encoding="utf-8")
    data = {"facts": info, "tables": [table.as_dict() for table in tables], "rocshmem_perf": perf}
    (folder / f"{stem}.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print(text)
    log(f"written: {folder / stem}.md and .json")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="short runs; nothing is written to bench/results")
    parser.add_argument("--only", default="c,python,startup", help="parts, comma-separated (default: %(default)s)")
    parser.add_argument("--pes", default="2,4,8", help="numbers of PEs of the C part (default: %(default)s)")
    parser.add_argument("--runs", type=int, help="runs of each side (default: 7, quick: 2)")
    parser.add_argument("--library", help="the librocshmem.so to measure (default: the one under build/)")
    parser.add_argument("--launcher", help="the rocshmem-run to start jobs with (default: the one under build/)")
    args = parser.parse_args()
    start, failures = time.monotonic(), []
    install = common.find_install(args.library, args.launcher)
    info, tables, perf = common.facts(install), [], None
    options = ["--reps", "3", "--min-time", "2" if args.quick else "10"]
    pes = [int(n) for n in args.pes.split(",")]
    parts = {
        "c": lambda: compare_c(install, pes, args.runs or (2 if args.quick else 7), options),
        "python": lambda: python_calls.compare(install, quick=args.quick),
        "startup": lambda: startup.compare(install, quick=args.quick),
    }
    for part in args.only.split(","):
        try:
            tables += parts[part]()
            perf = detail(install, args.quick) if part == "c" else perf
        except BenchError as error:
            failures.append(part)
            log(f"{part}: {error}")
    info["took"] = f"{time.monotonic() - start:.0f} s"
    write(tables, info, perf, common.BUILD if args.quick else common.BENCH / "results")
    missed = [f"{table.title}: {row.name}" for table in tables for row in table.rows if "no" in row.met]
    log(f"{len(missed)} targets missed" + "".join(f"\n  {name}" for name in missed))
    if failures:
        log(f"could not run: {', '.join(failures)}")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(f"compare.py: {error}")
