# SPDX-License-Identifier: MIT
"""How long a job takes that does nothing but join and leave: wall time of the whole, launcher included.

    python bench/startup.py [--quick]

In C: 2 and 8 PEs through rocshmem-run, against oshrun with the same program and against as many bare processes. In
Python: 2 PEs that import, init and finalize, against 2 bare interpreters. All are started by job_timer (fork, exec,
wait), by turns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import common
from common import BenchError, Install, Row, Table, log

HELLO = "import rocshmem4py as r; r.rocshmem_init(); r.rocshmem_finalize()"
IMPORT = "import time; t = time.perf_counter_ns(); import rocshmem4py; print(time.perf_counter_ns() - t)"
C_GOALS_NS = {2: 10e6, 8: 30e6}
PYTHON_FACTOR = 1.2
IMPORT_GOAL_NS = 100e6


class Stopwatch:
    """Times of several commands, taken by turns."""

    def __init__(self, timer: Path):
        self.timer = timer
        self.commands: dict[str, tuple[int, list[str | Path], int]] = {}
        self.times: dict[str, list[float]] = {}

    def add(self, name: str, copies: int, command: Sequence[str | Path], every: int = 1) -> None:
        """Time as many copies of a command, in each round or in each so many-th."""
        self.commands[name] = (copies, list(command), every)
        self.times[name] = []

    def run(self, rounds: int) -> None:
        for i in range(-1, rounds):  # round -1 warms the caches of the file system
            for name, (copies, command, every) in self.commands.items():
                if i > 0 and i % every:
                    continue
                ns = float(common.run([self.timer, str(copies), *command]))
                if i >= 0:
                    self.times[name].append(ns)

    def centre(self, name: str) -> tuple[float, tuple[float, float]]:
        return common.centre(self.times[name])


def import_times(install: Install, rounds: int) -> list[float]:
    return [float(common.run([install.python, "-c", IMPORT])) for _ in range(rounds + 1)][1:]


def compare(install: Install, *, quick: bool = False) -> list[Table]:
    rounds = 5 if quick else 21
    program, peer_program = common.build_shmem_bench(install)
    watch = Stopwatch(common.build_job_timer())
    for n in C_GOALS_NS:
        watch.add(f"ours {n}", 1, [install.launcher, "-n", str(n), program, "hello"])
        watch.add(f"bare {n}", n, ["/bin/true"])
        if peer_program:
            watch.add(f"oshrun {n}", 1, [*common.oshrun(n), peer_program, "hello"], every=4)
    watch.add("python ours", 1, [install.launcher, "-n", "2", install.python, "-c", HELLO])
    watch.add("python bare", 2, [install.python, "-c", "pass"])
    log(f"start-up, {rounds} rounds")
    watch.run(rounds)
    return [c_table(watch, rounds, peer_program is not None), python_table(watch, install, rounds)]


def c_table(watch: Stopwatch, rounds: int, has_peer: bool) -> Table:
    table = Table("Start-up in C: hello world, whole job", "OSHMEM")
    for n, goal in C_GOALS_NS.items():
        ours, spread = watch.centre(f"ours {n}")
        row = Row(f"{n} PEs", ours, spread)
        if has_peer:
            row.peer, row.peer_spread = watch.centre(f"oshrun {n}")
        row.target, row.met = f"≤ {common.show(goal)}", common.WORDS[ours <= goal]
        row.note = f"{n} bare processes: {common.show(watch.centre(f'bare {n}')[0])}"
        table.rows.append(row)
    table.notes.append(f"{rounds} rounds, by turns (OSHMEM in each fourth).")
    return table


def python_table(watch: Stopwatch, install: Install, rounds: int) -> Table:
    table = Table("Start-up in Python", "bare interpreters")
    row = Row("2 PEs: import, init, finalize", *watch.centre("python ours"), *watch.centre("python bare"))
    row.target = f"≤ {PYTHON_FACTOR} of 2 bare interpreters"
    row.met = common.WORDS[row.ratio is not None and row.ratio <= PYTHON_FACTOR]
    ours, spread = common.centre(import_times(install, rounds))
    import_row = Row("import rocshmem4py", ours, spread)
    import_row.target = f"≤ {common.show(IMPORT_GOAL_NS)}"
    import_row.met = common.WORDS[ours <= IMPORT_GOAL_NS]
    table.rows += [row, import_row]
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--library")
    parser.add_argument("--launcher")
    args = parser.parse_args()
    for table in compare(common.find_install(args.library, args.launcher), quick=args.quick):
        print(common.markdown(table))


if __name__ == "__main__":
    try:
        main()
    except BenchError as error:
        sys.exit(f"startup.py: {error}")
