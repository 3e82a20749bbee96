#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Put the newest result of bench/results into README.md, between its two bench marks.

    python3 scripts/readme_bench.py            rewrite README.md
    python3 scripts/readme_bench.py --check    only say whether README.md is what a result file gives

Of every table against a peer the rows that have a target go in, also those that miss it, and a line that counts the
others and names each in which ours is slower: nothing is chosen by hand. The result named in README.md is the one that
is checked, so older text stays true.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FLOOR = re.compile(r"memcpy|store|load|atomic add|a cache")  # what the machine needs without a library
SLOWER = 1.05
MARKS = re.compile(r"(<!-- bench: (?P<file>[^ ]+) -->\n)(?P<text>.*?)(<!-- /bench -->)", re.DOTALL)


def show(ns: float) -> str:
    """A time with a readable unit, three figures."""
    for limit, unit, size in ((1e4, "ns", 1.0), (1e6, "us", 1e3), (1e12, "ms", 1e6)):
        if ns < limit:
            value = ns / size
            return f"{value:.1f} {unit}" if value < 100 else f"{value:.0f} {unit}"
    return f"{ns:.0f} ns"


def block(result: Path) -> str:
    """README's text for one result file."""
    data: dict[str, Any] = json.loads(result.read_text())
    facts = data["facts"]
    lines = [
        f"`make bench` measured this on {facts['date']} at commit {facts['commit']}: {facts['cpu']}, {facts['cores']} "
        f"cores, kernel {facts['kernel']}, {facts['compiler']}, {facts['python']}.",
        "Medians, both sides by turns; spreads, targets and notes are in "
        f"[{result.relative_to(ROOT).with_suffix('.md')}]({result.relative_to(ROOT).with_suffix('.md')}).",
    ]
    for table in data["tables"]:
        rows = [row for row in table["rows"] if not FLOOR.match(row["name"])]
        aimed = [row for row in rows if row["peer"] and row["ours"] and row["target"]]
        if not aimed:
            continue
        lines += [
            "",
            f"| {table['title']} | ours | {table['peer_name']} | ratio | target met |",
            "|---|---|---|---|---|",
        ]
        for row in aimed:
            met = row["met"] or "–"
            lines.append(f"| {row['name']} | {show(row['ours'])} | {show(row['peer'])} | {row['ratio']:.2f} | {met} |")
        if table["title"].startswith("C, "):
            lines += others([row for row in rows if row not in aimed], table["peer_name"])
    return "\n".join(lines) + "\n"


def others(rows: list[dict[str, Any]], peer_name: str) -> list[str]:
    """The rows without a target, in one paragraph."""
    if not rows:
        return []
    both = sorted((row for row in rows if row["ratio"]), key=lambda row: row["ratio"])
    slower = [f"{row['name']} ({row['ratio']:.2f})" for row in both if row["ratio"] > SLOWER]
    missing = [row["name"] for row in rows if not row["ours"]]
    alone = sum(1 for row in rows if row["ours"] and not row["peer"])
    parts = []
    if both:
        middle = both[len(both) // 2]["ratio"]
        named = f"; slower than {peer_name} by more than 5 %: {', '.join(reversed(slower))}" if slower else ""
        parts.append(f"{len(both)} more rows, median ratio {middle:.2f}{named}.")
    if alone:
        parts.append(f"{alone} without a figure of {peer_name}, whose calls are missing or crash.")
    if missing:
        parts.append(f"Ours failed in: {', '.join(missing)}.")
    return ["", " ".join(parts)]


def main(arguments: list[str]) -> int:
    readme = ROOT / "README.md"
    text = readme.read_text()
    match = MARKS.search(text)
    if not match:
        print("README.md has no bench marks", file=sys.stderr)
        return 1
    if "--check" in arguments:
        result = ROOT / match["file"]
        if not result.exists():
            print(f"README.md names {match['file']}, which does not exist", file=sys.stderr)
            return 1
        if match["text"] != block(result):
            print(f"README.md differs from {match['file']}; run scripts/readme_bench.py", file=sys.stderr)
            return 1
        return 0
    newest = max(
        (ROOT / "bench" / "results").glob("*.json"), key=lambda path: json.loads(path.read_text())["facts"]["date"]
    )
    new = f"<!-- bench: {newest.relative_to(ROOT)} -->\n{block(newest)}<!-- /bench -->"
    readme.write_text(text[: match.start()] + new + text[match.end() :])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
