# SPDX-License-Identifier: MIT
"""Compare this runtime with its peers on this machine: `make bench`.

    python bench/compare.py [--quick] [--only c,hosts,layer,python,startup] [--pes 2,4,8] [--runs 7]

C operations against Open MPI's OSHMEM (one source, shmem_bench.c, compiled with each library's oshcc, by turns), the
shmem_ names against the rocshmem_ names below them (layer_cost.c), Python calls against
pybind11 and nanobind (python_calls.py), start-up against oshrun and bare processes (startup.py). Prints the tables as
Markdown and writes them to bench/results/ as .md and .json; --quick takes a minute, and writes to build/bench/ only.
Ends with 1 when a benchmark of ours could not run; a missed target is a result, not a failure, and a peer that
crashes or hangs is a note.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import common
import python_calls
import rows
import startup
from common import BenchError, Install, Row, Table, log
from sides import Key, Side, key_of, parse

RUN_LIMIT_S = 120  # a run of all rows takes a few seconds
BUDGET_S = 110  # no further run of one number of PEs is begun after it: `make bench` should end within six minutes

LAYER_GOAL_NS = 2
A_HOST_EACH = ["env", "UCX_TLS=tcp", "sh", "-c", 'ROCSHMEM_NODE_ID=host$RANK exec "$0" "$@"']  # a program follows
SLOW_RATIO = 0.9  # rows of ours above this share of the peer's time are named below the table


class Report:
    """What is found, part by part, so that a part that breaks leaves the others."""

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self.failures: list[str] = []


def note_of(key: Key, ours: Side, peer: Side | None) -> str:
    """What the peer called instead, where it lacks the operation, and what broke."""
    name, notes = f"{key[0]}:{key[1]}", []
    if name in ours.broken:
        notes.append(f"ours: {ours.broken[name]}")
    if peer:
        if peer.forms.get(key, "") != ours.forms.get(key, peer.forms.get(key, "")):
            notes.append(f"peer: {peer.forms[key]}" if key in peer.forms else "")
        if name in peer.broken:
            notes.append(f"peer: {peer.broken[name]}")
    return "; ".join(note for note in notes if note)


def make_row(key: Key, aim: rows.Aim | None, ours: Side, peer: Side | None) -> Row:
    row = Row(rows.label_of(key), None, None, note=note_of(key, ours, peer))
    if ours.medians.get(key):
        row.ours, row.ours_spread = common.centre(ours.medians[key])
    if peer and peer.medians.get(key):
        row.peer, row.peer_spread = common.centre(peer.medians[key])
    row.target, row.met = rows.judge(aim, key, ours, peer)
    return row


def all_keys(ours: Side, peer: Side | None) -> list[Key]:
    """Every row that a side measured or broke on, in the order of shmem_bench.c, the machine's own at the end."""
    broken = [key_of(name) for side in (ours, peer) if side for name in side.broken]
    keys = list(dict.fromkeys([*ours.medians, *(peer.medians if peer else ()), *broken]))
    return [key for key in keys if key[0] not in rows.FLOORS] + [key for key in keys if key[0] in rows.FLOORS]


def measure_sides(
    install: Install, n_pes: int, runs: int, options: list[str], ops: str | None, *, hosts: bool = False
) -> tuple[Side, Side | None, int]:
    """Run both sides by turns, so that a change of the machine's mood meets both; and how many runs there were."""
    start = time.monotonic()
    ours_program, peer_program = common.build_shmem_bench(install)
    ours = Side([*common.rocshmem_run(install, n_pes), *(A_HOST_EACH if hosts else ()), ours_program])
    over_tcp = ["env", "UCX_TLS=tcp", "OMPI_MCA_btl=self,tcp"] if hosts else []
    peer = Side([*over_tcp, *common.oshrun(n_pes), peer_program]) if peer_program else None
    ops = ops or (rows.names_of(rows.CROWD_AIMS) if n_pes > rows.ALL_ROWS_UP_TO else None)
    args = [*options, *(["--ops", ops] if ops else [])]
    for i in range(runs):
        if time.monotonic() - start > BUDGET_S:
            log(f"out of time: {i} runs instead of {runs}")
            return ours, peer, i
        log(f"C{' over TCP' if hosts else ''}, {n_pes} PEs, run {i + 1} of {runs}")
        for side in (ours, peer) if i % 2 == 0 else (peer, ours):
            if side:
                side.measure(args, RUN_LIMIT_S)
    return ours, peer, runs


def slow_rows(table: Table) -> str:
    """The rows in which ours is not clearly faster, in words; the floors are no calls of ours."""
    floors = tuple(rows.LABELS[op] for op in rows.FLOORS)
    slow = [row for row in table.rows if row.ratio and row.ratio > SLOW_RATIO and not row.name.startswith(floors)]
    slow.sort(key=lambda row: -(row.ratio or 0))
    return "; ".join(f"{row.name} ({row.ratio:.2f})" for row in slow)


def compare_c(install: Install, pes: list[int], runs: int, options: list[str], ops: str | None, report: Report) -> None:
    for n_pes in pes:
        ours, peer, done = measure_sides(install, n_pes, runs, options, ops)
        aims = rows.aims_for(n_pes)
        table = Table(f"C, {n_pes} PEs", "OSHMEM")
        table.rows = [make_row(key, aims.get(key), ours, peer) for key in all_keys(ours, peer)]
        table.notes.append(f"Medians of {done} runs of each side, by turns; the spread is that of the runs' medians.")
        if common.has_core_each(n_pes):
            table.notes.append("Each PE keeps to a core of its own, on both sides.")
        table.notes.append(
            "Collectives follow one another, with a barrier after each 64; the slowest PE's time counts."
        )
        slow = slow_rows(table)
        table.notes.append(
            f"Above {SLOW_RATIO} of OSHMEM: {slow}." if slow else f"No row above {SLOW_RATIO} of OSHMEM."
        )
        table.notes += [
            f"{who}: {side.given_up}." for who, side in (("Ours", ours), ("OSHMEM", peer)) if side and side.given_up
        ]
        report.failures += [f"{table.title}, {name}: ours: {what}" for name, what in ours.broken.items()]
        report.tables.append(table)


def compare_hosts(install: Install, runs: int, options: list[str], report: Report) -> None:
    """Two PEs that take each other for PEs of other hosts, and OSHMEM kept to TCP."""
    ours, peer, done = measure_sides(install, 2, runs, options, rows.names_of(rows.HOST_AIMS), hosts=True)
    table = Table("C over TCP, 2 PEs, each a host of its own", "OSHMEM, UCX_TLS=tcp")
    keys = [key for key in all_keys(ours, peer) if key in rows.HOST_AIMS]
    table.rows = [make_row(key, rows.HOST_AIMS[key], ours, peer) for key in keys]
    table.notes.append(f"Medians of {done} runs of each side, by turns, over the loopback of one machine.")
    report.failures += [f"{table.title}, {name}: ours: {what}" for name, what in ours.broken.items()]
    report.tables.append(table)


def compare_layer(install: Install, quick: bool, report: Report) -> None:
    """shmem_X against rocshmem_X."""
    log("the layer, shmem_ over rocshmem_")
    output = common.run([*common.rocshmem_run(install, 1), common.build_layer_cost(install), "9" if quick else "61"])
    table = Table("The layer: shmem_ names over rocshmem_ names, 1 PE", "rocshmem_")
    for record in (parse(line) for line in output.splitlines()):
        mine, theirs, extra = record["shmem_ns"], record["rocshmem_ns"], record["extra_ns"]
        row = Row(record["call"], mine[0], (mine[1], mine[2]), theirs[0], (theirs[1], theirs[2]))
        row.target, row.met = f"≤ {LAYER_GOAL_NS} ns more (is {extra:.1f})", common.WORDS[extra <= LAYER_GOAL_NS]
        table.rows.append(row)
    table.notes.append(
        "Both names in one process, by turns; what the layer adds is the median of the turns' differences."
    )
    report.tables.append(table)


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
    parser.add_argument(
        "--only", default="c,hosts,layer,python,startup", help="parts, comma-separated (default: %(default)s)"
    )
    parser.add_argument("--pes", default="2,4,8", help="numbers of PEs of the C part (default: %(default)s)")
    parser.add_argument("--runs", type=int, help="runs of each side (default: 7, quick: 1)")
    parser.add_argument("--ops", help="rows of the C part, as of shmem_bench (default: all; above 4 PEs a few)")
    parser.add_argument("--library", help="the librocshmem.so to measure (default: the one under build/)")
    parser.add_argument("--launcher", help="the rocshmem-run to start jobs with (default: the one under build/)")
    args = parser.parse_args()
    start, report = time.monotonic(), Report()
    install = common.find_install(args.library, args.launcher)
    info, perf = common.facts(install), None
    options = ["--reps", "3", "--min-time", "1" if args.quick else "3"]
    pes = [int(n) for n in args.pes.split(",")]
    parts = {
        "c": lambda: compare_c(install, pes, args.runs or (1 if args.quick else 7), options, args.ops, report),
        "hosts": lambda: compare_hosts(install, args.runs or (1 if args.quick else 5), options, report),
        "layer": lambda: compare_layer(install, args.quick, report),
        "python": lambda: report.tables.extend(python_calls.compare(install, quick=args.quick)),
        "startup": lambda: report.tables.extend(startup.compare(install, quick=args.quick)),
    }
    for part in args.only.split(","):
        try:
            parts[part]()
            perf = detail(install, args.quick) if part == "c" else perf
        except BenchError as error:
            report.failures.append(f"{part}: {error}")
    info["took"] = f"{time.monotonic() - start:.0f} s"
    write(report.tables, info, perf, common.BUILD if args.quick else common.BENCH / "results")
    missed = [f"{table.title}: {row.name}" for table in report.tables for row in table.rows if "no" in row.met]
    log(f"{len(missed)} targets missed" + "".join(f"\n  {name}" for name in missed))
    if report.failures:
        log("could not run:" + "".join(f"\n  {failure}" for failure in report.failures))
    return 1 if report.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(f"compare.py: {error}")
