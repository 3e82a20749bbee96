#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How start-up, memory, descriptors and barriers grow with PEs and hosts, on one machine that plays the hosts.

    build/venv/bin/python bench/scale.py            the points of docs/scale.md, as its table
    build/venv/bin/python bench/scale.py 64/64 64/1  PEs / hosts

The machine is oversubscribed in most points, so times are upper bounds; memory and descriptors do not depend on that.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
POINTS = ["2/1", "16/1", "64/1", "256/1", "2/2", "8/8", "32/32", "64/64", "128/128", "128/16", "256/16"]
HEAD = "| PEs | hosts | init ms | barrier us | private KiB a PE | with shared | descriptors | threads |"


def package() -> Path:
    code = "import rocshmem4py; print(rocshmem4py.__path__[0])"
    return Path(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip())


def build(folder: Path) -> Path:
    library = package() / "lib"
    program = folder / "scale_point"
    subprocess.run(
        ["cc", "-O2", f"-I{package() / 'include'}", str(ROOT / "bench/scale_point.c"), "-o", str(program)]
        + [str(library / "librocshmem.so.0"), f"-Wl,-rpath,{library}"],
        check=True,
    )
    return program


def measure(program: Path, n_pes: int, n_hosts: int) -> list[float]:
    run = Path(sys.executable).parent / "rocshmem-run"
    hosts = ["--nodes", str(n_hosts)] if n_hosts > 1 else []
    done = subprocess.run([run, "-n", str(n_pes), *hosts, program], check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    points = sys.argv[1:] or POINTS
    print(HEAD)
    print("|" + "---|" * 8)
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        for point in points:
            n_pes, n_hosts = (int(word) for word in point.split("/"))
            runs = [measure(program, n_pes, n_hosts) for _ in range(3)]
            init, barrier, private, pss, fds, threads = (sorted(column)[1] for column in zip(*runs, strict=True))
            print(
                f"| {n_pes} | {n_hosts} | {init / 1000:.0f} | {barrier:.0f} | {private:.0f} | {pss:.0f} "
                f"| {fds:.0f} | {threads:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
