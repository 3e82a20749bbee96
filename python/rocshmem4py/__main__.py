# SPDX-License-Identifier: MIT
"""``python -m rocshmem4py info | bench | run``: the tools, under one name."""

from __future__ import annotations

import os
import sys

from . import __version__, _tools

USAGE = """\
usage: python -m rocshmem4py info [arguments]   versions, devices, transports, variables (rocshmem-info)
       python -m rocshmem4py bench [arguments]  latency, bandwidth, rates (rocshmem-perf)
       python -m rocshmem4py run -n N [options] program [arguments]  start a job (rocshmem-run)
       python -m rocshmem4py --version
       python -m rocshmem4py --prefix      the folder with include/, lib/ and bin/, for C and C++
       python -m rocshmem4py --cmake-dir   for -Drocshmem_DIR, then find_package(rocshmem)
"""


def main(args: list[str]) -> int:
    """Run one command; returns only when there is none."""
    command, rest = (args[0], args[1:]) if args else ("", [])
    if command == "info":
        _tools.main_info(rest)
    if command == "bench":
        _tools.main_perf(rest)
    if command == "run":
        _tools.main_run(rest)
    if command == "--version":
        print(f"rocshmem4py {__version__}")
        return 0
    if command in ("--prefix", "--cmake-dir"):
        prefix = os.path.dirname(os.path.abspath(__file__))
        print(prefix if command == "--prefix" else os.path.join(prefix, "lib", "cmake", "rocshmem"))
        return 0
    if command in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    print(f"rocshmem4py: {f'no command {command!r}' if command else 'a command is missing'}", file=sys.stderr)
    print(USAGE, end="", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
