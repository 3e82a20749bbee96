# SPDX-License-Identifier: MIT
"""Jobs over several 'hosts' of this machine. Where it has no rights for that, the tests skip with the reason."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sharing import jobs, load

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("ROCSHMEM_TEST_BUILD", HERE.parents[1] / "build" / "cmake"))


helpers = load("host_helpers", HERE / "hosts.py")


@pytest.fixture(scope="session")
def reason() -> str:
    return str(helpers.why_not())


@pytest.fixture
def make_hosts(reason: str) -> Iterator[Callable[..., Any]]:
    """make_hosts(n, netem="") -> Hosts, gone when the test has ended."""
    if reason:
        pytest.skip(reason)
    if not (BUILD / "lib" / "librocshmem_ucx.so").exists():
        pytest.skip("librocshmem_ucx.so is not built (no UCX headers): PEs of other hosts can't be reached")
    made: list[Any] = []

    def make(n: int, netem: str = "") -> Any:
        if netem and (missing := helpers.why_no_netem()):
            pytest.skip(missing)
        made.append(helpers.Hosts(n, netem).__enter__())
        return made[-1]

    yield make
    for hosts in made:
        hosts.close()


@pytest.fixture(scope="session")
def env() -> dict[str, str]:
    return dict(jobs.job_env({"ROCSHMEM_TIMEOUT": "60"}))


def _program(*parts: str) -> Path:
    path = BUILD.joinpath(*parts)
    assert path.exists(), f"{path} is not built; `make test` builds it"
    return path


@pytest.fixture(scope="session")
def conformance() -> Path:
    return _program("bin", "rocshmem-conformance")


@pytest.fixture(scope="session")
def calls() -> Path:
    return _program("tests", "fault", "calls")
