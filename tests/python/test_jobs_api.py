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
def results(run_job: Callable[..., Any], n: int) -> tuple[dict[tuple[str, int], str], str]:
    """(case, PE) -> "ok" or a traceback, of one job that runs all cases; and the job, for messages."""
    job = run_job(n, PROGRAM, env={"ROCSHMEM_TIMEOUT": "40"}, timeout=240, check=False)
    found = {}
    for line in job.stdout.splitlines():
        if line.startswith("RESULT "):
            _, pe, name, result = line.split(" ", 3)
            found[name, int(pe)] = result if result == "ok" else json.loads(result)
    return found, str(job)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_in_a_job(run_job: Callable[..., Any], name: str, n: int) -> None:
    found, job = results(run_job, n)
    bad = {pe: found.get((name, pe), "the PE never came to this case") for pe in range(n)}
    bad = {pe: text for pe, text in bad.items() if text != "ok"}
    if bad and all(text.startswith("the PE never") for text in bad.values()):
        pytest.fail(f"case {name} was not reached\n{job}")
    assert not bad, "\n".join(f"PE {pe}: {text}" for pe, text in bad.items())


@pytest.mark.parametrize("n", SIZES)
def test_the_job_of_all_cases_ends_with_0(run_job: Callable[..., Any], n: int) -> None:
    _, job = results(run_job, n)
    assert "\nexit status 0 " in job, job
