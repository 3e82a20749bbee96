# SPDX-License-Identifier: MIT
"""Jobs over several hosts, which one machine plays: what is wrong is said as it is on one host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def greets() -> None:
    import rocshmem4py as rs

    rs.rocshmem_init()
    print(f"PE {rs.rocshmem_my_pe()} of {rs.rocshmem_n_pes()}")
    rs.rocshmem_finalize()


def sees_whom() -> None:
    import rocshmem4py as rs

    rs.rocshmem_init()
    me, n_pes = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
    box = rs.rocshmem_create_buffer(8)
    seen = [pe for pe in range(n_pes) if rs.rocshmem_ptr(box.ptr, pe)]
    print(f"PE {me} sees {seen} shared {rs.rocshmem_team_n_pes(rs.ROCSHMEM_TEAM_SHARED)}", flush=True)
    box.free()
    rs.rocshmem_finalize()


def calls_differ() -> None:
    import rocshmem4py as rs

    rs.rocshmem_init()
    box = rs.rocshmem_create_buffer(4096)
    try:
        if rs.rocshmem_my_pe() == 1:
            rs.rocshmem_barrier_all()
        else:
            rs.rocshmem_broadcastmem(rs.ROCSHMEM_TEAM_WORLD, box.ptr, box.ptr + 2048, 1000, 0)
    except rs.RocshmemError as error:
        print(f"error: {error}", flush=True)


def waits_crosswise() -> None:
    import rocshmem4py as rs

    rs.rocshmem_init()
    _, first = rs.rocshmem_team_split_strided(rs.ROCSHMEM_TEAM_WORLD, 0, 1, 2)
    _, second = rs.rocshmem_team_split_strided(rs.ROCSHMEM_TEAM_WORLD, 0, 1, 2)
    try:
        rs.rocshmem_barrier(first if rs.rocshmem_my_pe() == 0 else second)
        rs.rocshmem_barrier(second if rs.rocshmem_my_pe() == 0 else first)
    except rs.RocshmemError as error:
        print(f"error: {error}", flush=True)


def run(run_job: Callable[..., Any], n: int, per_host: int, program: Callable[[], None], **more: Any) -> Any:
    """A job of n PEs, so many on each host."""
    env = {"UCX_TLS": "tcp", **more.pop("env", {})}
    nodes = ["--nodes", str(-(-n // per_host))]
    return run_job(n, program, launcher_args=nodes, env=env, check=False, **more)


def test_pointers_lead_to_this_host_only(run_job: Callable[..., Any]) -> None:
    job = run(run_job, 4, 2, sees_whom)
    assert job.returncode == 0, job
    lines = sorted(job.stdout.splitlines())
    assert lines == [f"PE {pe} sees {[0, 1] if pe < 2 else [2, 3]} shared 2" for pe in range(4)], job


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"ROCSHMEM_TRANSPORT": "direct"}, "ROCSHMEM_TRANSPORT is direct, but PE 1 is on another host"),
        ({"ROCSHMEM_BACKEND": "ipc"}, "ROCSHMEM_BACKEND is ipc, but PE 1 is on another host"),
        ({"ROCSHMEM_UCX_TLS": "nosuch"}, "nosuch"),
    ],
)
def test_what_keeps_a_job_on_one_host_is_named(run_job: Callable[..., Any], env: dict[str, str], words: str) -> None:
    job = run(run_job, 2, 1, greets, env=env)
    assert job.returncode != 0, job
    assert words in job.stderr, job


def test_the_network_may_be_asked_for_on_one_host(run_job: Callable[..., Any]) -> None:
    job = run(run_job, 2, 2, greets, env={"ROCSHMEM_TRANSPORT": "ucx"})
    assert job.returncode == 0, job
    assert sorted(job.stdout.splitlines()) == ["PE 0 of 2", "PE 1 of 2"], job


@pytest.mark.parametrize(("n", "per_host"), [(2, 1), (4, 2)])
def test_other_calls_on_another_host_are_an_error_that_names_both(
    run_job: Callable[..., Any], n: int, per_host: int
) -> None:
    job = run(run_job, n, per_host, calls_differ)
    errors = [line for line in job.stdout.splitlines() if line.startswith("error:")]
    assert len(errors) == n, job
    for line in errors:
        assert "collective calls differ" in line, job
        assert "rocshmem_barrier_all" in line, job
        assert "rocshmem_broadcastmem" in line, job


def test_two_hosts_that_wait_for_each_other_in_different_teams_are_told(run_job: Callable[..., Any]) -> None:
    job = run(run_job, 2, 1, waits_crosswise, timeout=60)
    errors = [line for line in job.stdout.splitlines() if line.startswith("error:")]
    assert len(errors) == 2, job
    for line in errors:
        assert "collective calls differ" in line, job
        assert "waits for PE 1" in line, job
        assert "waits for PE 0" in line, job
