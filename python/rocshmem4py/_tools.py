# SPDX-License-Identifier: MIT
"""The tools, which are programs in C beside this file: each function replaces this process by one of them.

The console scripts rocshmem-run, rocshmem-info and rocshmem-perf call main_run, main_info and main_perf.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def _become(tool: str, args: Sequence[str] | None) -> NoReturn:
    """Run the tool in the place of this process, with args or else with our own."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", tool)
    try:
        os.execv(path, [tool, *(sys.argv[1:] if args is None else args)])
    except OSError as error:
        sys.exit(f"{tool}: cannot start {path}: {error.strerror}; install rocshmem4py again")


def main_run(args: Sequence[str] | None = None) -> NoReturn:
    """rocshmem-run: start a job of N PEs on this host."""
    _become("rocshmem-run", args)


def main_info(args: Sequence[str] | None = None) -> NoReturn:
    """rocshmem-info: print versions, devices, transports, the launcher found and every variable."""
    _become("rocshmem-info", args)


def main_perf(args: Sequence[str] | None = None) -> NoReturn:
    """rocshmem-perf: measure latency, bandwidth and rate of every operation."""
    _become("rocshmem-perf", args)
