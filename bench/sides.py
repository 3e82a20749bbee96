# SPDX-License-Identifier: MIT
"""One library's runs of shmem_bench. A row that crashes or hangs becomes a note, and the rows behind it still run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common import log

Key = tuple[str, int]  # operation, bytes
ROW_LIMIT_S = 15  # a row takes a second at the most; the program ends itself
BROKEN_MAX = 8  # rows that may break before the side is given up
OUTSIDE = ("init:0", "finalize:0")  # behind these there are no rows to go on with


def key_of(name: str) -> Key:
    op, _, nbytes = name.rpartition(":")
    return op, int(nbytes)


def end_job(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM, so that the launcher ends its PEs; SIGKILL when it does not."""
    for signum, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, signum)
        except ProcessLookupError:
            return
        try:
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue


def run_job(command: Sequence[str | Path], timeout: float) -> tuple[str, str]:
    """Run a job; its standard output, however it ended, and "" or what went wrong. A file takes the output: a PE that
    outlives its launcher would keep a pipe open."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            return "", f"could not start {command[0]}: {error}"
        verdict = ""
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            verdict = f"no end after {timeout:.0f} s"
        except BaseException:
            end_job(process)
            raise
        if verdict:
            end_job(process)
        out.seek(0)
        err.seek(0)
        output, errors = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    if not verdict and process.returncode != 0:
        verdict = what_went_wrong(process.returncode, errors)
    return output, verdict


def what_went_wrong(status: int, errors: str) -> str:
    if "no end within the limit" in errors:
        return f"no end after {ROW_LIMIT_S} s"
    said = re.search(r"^shmem_bench, PE \d+: (.*)$", errors, re.MULTILINE)
    if said:
        return said[1]
    killed = re.search(r"\bsignal (\d+)|\b(SIG[A-Z]{3,4})\b", errors)
    if killed:
        return f"crashed ({killed[2] or signal_name(int(killed[1]))})"
    number = -status if status < 0 else status - 128  # as the system, or as a shell says it
    return f"crashed ({signal_name(number)})" if number > 0 else f"exit status {status}"


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@dataclass
class Side:
    """All figures of one library for one number of PEs."""

    launch: list[str | Path]  # launcher, its options, the program
    medians: dict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))
    forms: dict[Key, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)  # row -> what went wrong
    given_up: str = ""  # why nothing more is run

    def measure(self, options: Sequence[str], timeout: float) -> None:
        """One run of every row that has not broken before."""
        after: str | None = None
        while not self.given_up:
            skip = ["--skip", ",".join(self.broken)] if self.broken else []
            start = ["--after", after] if after else []
            command = [*self.launch, "--limit", str(ROW_LIMIT_S), *options, *skip, *start]
            output, verdict = run_job(command, timeout)
            pending = self.take(output)
            if not verdict:
                return
            log(f"{Path(self.launch[-1]).name}, {pending}: {verdict}")
            again = pending in self.broken
            self.broken.setdefault(pending, verdict)
            if (pending == "init:0" and again) or len(self.broken) > BROKEN_MAX:
                self.given_up = f"given up after {pending}: {verdict}"
            if pending in OUTSIDE:
                return
            after = pending

    def take(self, output: str) -> str:
        """Note each row of a run; the name of the one that was begun and not ended."""
        pending = "init:0"
        for line in output.splitlines():
            record = parse(line)
            if "begin" in record:
                pending = record["begin"]
            elif "median_ns" in record:
                key = (record["op"], record["nbytes"])
                self.medians[key].append(record["median_ns"])
                self.forms[key] = record["form"]
        return pending


def parse(line: str) -> dict[str, Any]:
    """A record of shmem_bench; {} for anything else, such as the half of a line that a crash left."""
    try:
        record = json.loads(line) if line.startswith("{") else {}
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}
