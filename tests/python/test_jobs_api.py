# SPDX-License-Identifier: MIT
"""Every function of the API in real jobs of 1, 2, 3, 4 and 8 PEs; a job runs all cases of job_cases.py."""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parent / "job_cases.py"
SIZES = (1, 2, 3, 4, 8)
NAMES = [
    node.name.removeprefix("case_")
    for node in ast.parse(PROGRAM.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")
]


@functools.cache
def results(run_job: Callable[..., Any], n: int) -> dict[tuple[str, int], str]:
    """(case, PE) -> "ok", a traceback, or what became of the job. One job runs all cases; after a failure the rest
    gets another job."""
    found: dict[tuple[str, int], str] = {}
    left = NAMES
    while left:
        job = run_job(n, PROGRAM, *left, env={"ROCSHMEM_TIMEOUT": "40"}, timeout=240, check=False)
        for line in job.stdout.splitlines():
            if line.startswith("RESULT "):
                _, pe, name, result = line.split(" ", 3)
                found[name, int(pe)] = result if result == "ok" else json.loads(result)
        bad = [i for i, name in enumerate(left) if any(found.get((name, pe)) != "ok" for pe in range(n))]
        if not bad and job.returncode:
            bad = [len(left) - 1]  # nothing but the end of the job can have failed
        if not bad:
            break
        for pe in range(n):
            if found.get((left[bad[0]], pe), "ok") == "ok":
                found[left[bad[0]], pe] = f"the job failed\n{job}"
        left = left[bad[0] + 1 :]
    return found


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_in_a_job(run_job: Callable[..., Any], name: str, n: int) -> None:
    bad = {pe: text for pe in range(n) if (text := results(run_job, n)[name, pe]) != "ok"}
    assert not bad, "\n".join(f"PE {pe}: {text}" for pe, text in bad.items())
