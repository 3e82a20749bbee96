#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rows of scripts/gpu.sh as a table: ours, the peers', and ours by each peer's (below 1 is faster).

scripts/gpu_table.py build/gpu-results/bench.jsonl >bench/results/NAME.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PEERS = ("driver", "nvshmem", "torch")
NAMES = {"driver": "CUDA's driver alone", "nvshmem": "NVSHMEM 3.4.5", "torch": "PyTorch symmetric memory"}
Row = dict[str, Any]


def size(nbytes: int) -> str:
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if nbytes >= unit:
            return f"{nbytes / unit:g} {name}"
    return f"{nbytes} B" if nbytes else ""


def number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def cell(row: Row | None) -> str:
    """Issue and total, or what there is of both."""
    if row is None:
        return ""
    if "skipped" in row:
        return "not run"
    text = " / ".join(number(row[key]) for key in ("issue_us", "total_us") if key in row)
    return text + (f" ({row['GBps']:.0f} GB/s)" if "GBps" in row else "")


def ratio(ours: Row, peer: Row | None) -> str:
    if peer is None or "skipped" in peer:
        return ""
    pairs = [(ours[key], peer[key]) for key in ("issue_us", "total_us") if key in ours and peer.get(key)]
    return " / ".join(f"{a / b:.2f}" for a, b in pairs)


def table(rows: list[Row], pes: int) -> list[str]:
    found: dict[tuple[str, int], dict[str, Row]] = {}
    not_run: dict[str, str] = {}
    refusals: dict[tuple[str, str], Row] = {}
    for row in [row for row in rows if row["pes"] == pes]:
        found.setdefault((row["row"], row.get("bytes", 0)), {})[row["impl"]] = row
        if "skipped" in row:
            refusals[row["row"], row["impl"]] = row
            not_run[f"{NAMES.get(row['impl'], row['impl'])}, {row['row']}"] = row["skipped"]
    peers = [peer for peer in PEERS if any(peer in impls for impls in found.values())]
    head = ["operation", "size", "ours", *(column for peer in peers for column in (NAMES[peer], "ratio"))]
    lines = [f"## {pes} PE{'s' if pes > 1 else ''}", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for (name, nbytes), impls in found.items():
        if "rocshmem" not in impls:
            continue
        ours = impls["rocshmem"]
        cells = [name, size(nbytes), cell(ours)]
        for peer in peers:
            # A peer that refuses an operation does so for every size.
            other = impls.get(peer) or refusals.get((name, peer))
            cells += [cell(other), ratio(ours, other)]
        lines.append(f"| {' | '.join(cells)} |")
    job, alone = (found.get(("init", 0), {}).get(impl) for impl in ("rocshmem", "driver"))
    if job and alone:
        above = (job["total_us"] - alone["total_us"]) * 1e-3
        lines += ["", f"init above the driver's start and a context: {above:.0f} ms."]
    call = found.get(("put_on_stream", 0), {})
    if "python" in call and "rocshmem" in call:
        above = (call["python"]["issue_us"] - call["rocshmem"]["issue_us"]) * 1e3
        lines += ["", f"A call of put_on_stream from Python costs {above:.0f} ns more than from C."]
    lines += ["", *(f'{what}: not run, "{why}".' for what, why in not_run.items())] if not_run else []
    return [*lines, ""]


def main(path: str) -> None:
    rows = [json.loads(line) for line in Path(path).read_text().splitlines() if line.startswith("{")]
    print("Medians in us, issue / total a call, all PEs busy at once; a ratio is ours by theirs, below 1 is faster.\n")
    for pes in sorted({row["pes"] for row in rows}):
        print("\n".join(table(rows, pes)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
