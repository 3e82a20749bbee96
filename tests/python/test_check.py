# SPDX-License-Identifier: MIT
"""ROCSHMEM_CHECK: each kind of mistake is found and named, in the call that finds it; right programs raise no alarm."""

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """
import ctypes, sys
import rocshmem4py as r
r.rocshmem_init()
me = r.rocshmem_my_pe()
p = r.rocshmem_malloc(64)
q = r.rocshmem_malloc(64)
flag = r.rocshmem_calloc(1, 8)
kept = bytearray(64)
own = (ctypes.c_char * 64).from_buffer(kept)
source = ctypes.addressof(own)
r.rocshmem_barrier_all()
def find():
{body}
try:
    find()
except r.RocshmemError as error:
    print("FOUND", error.status == r.ROCSHMEMX_E_CHECK, error, flush=True)
    r.rocshmem_global_exit(3)
try:
    r.rocshmem_barrier_all()
    r.rocshmem_finalize()
except r.RocshmemError as error:
    print("FOUND", error.status == r.ROCSHMEMX_E_CHECK, error, flush=True)
"""

WRONG = {
    "missing_barrier": (
        """
        if me == 0: r.rocshmem_putmem(p, source, 64, 1)
        if me == 1: r.rocshmem_getmem(source, p, 64, 1)
        r.rocshmem_sync_all()
        """,
        ["race on 64 bytes of PE 1", "rocshmem_putmem", "rocshmem_getmem", ".py:"],
    ),
    "missing_fence": (
        """
        if me == 0:
            r.rocshmem_putmem(p, source, 64, 1)
            r.rocshmem_signal_set(flag, 1, 1)
        if me == 1:
            r.rocshmem_signal_wait_until(flag, r.ROCSHMEM_CMP_EQ, 1)
            r.rocshmem_getmem(source, p, 64, 1)
        """,
        ["race on 64 bytes of PE 1", "PE 0 writes it in rocshmem_putmem"],
    ),
    "another_source": (
        """
        r.rocshmem_broadcastmem(r.ROCSHMEM_TEAM_WORLD, flag, q if me else p, 8, 0)
        """,
        ["rocshmem_broadcastmem another dest or source", ".py:"],
    ),
    "noted_read": (
        """
        if me == 0: r.rocshmem_putmem(p, source, 64, 1)
        if me == 1: r.rocshmemx_note_read(p + 8, 4)
        r.rocshmem_sync_all()
        """,
        ["race on 4 bytes of PE 1", "rocshmem_putmem", "rocshmemx_note_read"],
    ),
    "past_the_end": (
        """
        ctypes.memset(p, 1, 70)
        r.rocshmem_barrier_all()
        """,
        ["guard behind the block of 64 bytes", "first at block + 64", "rocshmem_malloc, collective #", ".py:6"],
    ),
    "before_the_first_block": (
        """
        ctypes.memset(p - 8, 1, 8)
        r.rocshmem_barrier_all()
        """,
        ["guard before the first block", "heap offset 248"],
    ),
    "written_after_free": (
        """
        r.rocshmem_free(q)
        r.rocshmem_barrier_all()
        ctypes.memset(q + 5, 1, 1)
        r.rocshmem_barrier_all()
        """,
        ["freed block was written to", "first at block + 5", "freed by rocshmem_free, collective #"],
    ),
    "source_before_quiet": (
        """
        if me == 0:
            r.rocshmem_putmem_nbi(p, source, 64, 1)
            kept[3] = 7
            r.rocshmem_quiet()
        """,
        ["rocshmem_putmem_nbi to PE 1", "was changed", "rocshmem_quiet"],
    ),
}

RIGHT = {
    "barrier": """
        if me == 0: r.rocshmem_putmem(p, source, 64, 1)
        r.rocshmem_barrier_all()
        if me == 1: r.rocshmem_getmem(source, p, 64, 1)
        """,
    "put_signal": """
        if me == 0: r.rocshmem_putmem_signal(p, source, 64, flag, 1, r.ROCSHMEM_SIGNAL_SET, 1)
        if me == 1:
            r.rocshmem_signal_wait_until(flag, r.ROCSHMEM_CMP_EQ, 1)
            r.rocshmem_getmem(source, p, 64, 1)
        """,
    "fence": """
        if me == 0:
            r.rocshmem_putmem(p, source, 64, 1)
            r.rocshmem_fence()
            r.rocshmem_signal_set(flag, 1, 1)
        if me == 1:
            r.rocshmem_signal_wait_until(flag, r.ROCSHMEM_CMP_EQ, 1)
            r.rocshmem_getmem(source, p, 64, 1)
        """,
    "quiet": """
        r.rocshmem_putmem_nbi(p, source, 64, 1 - me)
        r.rocshmem_quiet()
        kept[3] = 7
        """,
}


def _program(body: str) -> str:
    return PROGRAM.format(body="\n".join("    " + line[8:] for line in body.strip("\n").split("\n")))


@pytest.mark.parametrize("kind", WRONG)
def test_a_mistake_is_found(run_job: Callable[..., Any], kind: str) -> None:
    body, words = WRONG[kind]
    job = run_job(2, _program(body), env={"ROCSHMEM_CHECK": "1", "ROCSHMEM_TIMEOUT": "60"}, check=False)
    found = [line for line in job.output.splitlines() if "FOUND" in line]
    assert found, str(job)
    assert "FOUND True" in found[0], str(job)
    for word in words:
        assert word in found[0], f"{word!r} is not in: {found[0]}"


@pytest.mark.parametrize("kind", RIGHT)
def test_a_right_program_raises_no_alarm(run_job: Callable[..., Any], kind: str) -> None:
    job = run_job(2, _program(RIGHT[kind]), env={"ROCSHMEM_CHECK": "1", "ROCSHMEM_TIMEOUT": "60"})
    assert "FOUND" not in job.output


def test_use_after_free_names_who_freed(run_job: Callable[..., Any]) -> None:
    body = """
        r.rocshmem_free(q)
        r.rocshmem_putmem(q, source, 8, 0)
        """
    job = run_job(2, _program(body), env={"ROCSHMEM_CHECK": "1"}, check=False)
    assert "it was freed by rocshmem_free, collective #" in job.output, str(job)


def test_warn_prints_and_goes_on(run_job: Callable[..., Any]) -> None:
    job = run_job(2, _program(WRONG["missing_barrier"][0]), env={"ROCSHMEM_CHECK": "warn"})
    assert "checked mode: race on 64 bytes of PE 1" in job.stderr
    assert "FOUND" not in job.output


def test_all_pes_must_be_in_it(run_job: Callable[..., Any]) -> None:
    source = """
    import os
    os.environ["ROCSHMEM_CHECK"] = os.environ["ROCSHMEM_RUN_RANK"]
    import rocshmem4py as r
    r.rocshmem_init()
    """
    job = run_job(2, source, check=False)
    assert "ROCSHMEM_CHECK is off for PE 0, but on for PE 1" in job.output, str(job)
