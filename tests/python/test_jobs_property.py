# SPDX-License-Identifier: MIT
"""Property tests: any sequence of transfers equals a model in Python; any sequence of allocations is consistent."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memory import ON_GPU, peek, poke

import rocshmem4py as rs
from conftest import find_tool, job_env

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is not installed")
from hypothesis import HealthCheck, given, settings, strategies as st  # noqa: E402
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule  # noqa: E402

ROOM = 4096
N = 3
EXAMPLES = 30 if ON_GPU else 150

# --- transfers against a model ----------------------------------------------------------------------------------------


class Server:
    """A running job of job_server.py."""

    def __init__(self) -> None:
        command = [find_tool("rocshmem-run"), "-n", str(N), sys.executable]
        command += [str(Path(__file__).parent / "job_server.py"), str(ROOM)]
        env = job_env({"ROCSHMEM_TIMEOUT": "30"})
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def execute(self, plan: list[Any]) -> list[bytes]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(plan) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"the job ended with {self.process.wait(30)}"
        return [bytes.fromhex(memory) for memory in answer.split()]

    def close(self) -> None:
        try:
            self.process.communicate(timeout=30)
        finally:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()
    assert running.process.returncode == 0


def model(plan: list[Any]) -> list[bytes]:
    """What the memories hold when the operations of the plan were executed in order."""
    memories = [bytearray(random.Random(i).randbytes(ROOM)) for i in range(2 * N)]
    for actor, kind, pe, dest, source, nbytes in plan:
        local, remote = memories[2 * actor + 1], memories[2 * pe]
        if kind.startswith("put"):
            remote[dest : dest + nbytes] = local[source : source + nbytes]
        elif kind.startswith("get"):
            local[dest : dest + nbytes] = remote[source : source + nbytes]
        else:
            width = 8 if kind == "fetch_add" else 4
            word, result = slice(dest * width, (dest + 1) * width), slice(nbytes * width, (nbytes + 1) * width)
            old = int.from_bytes(remote[word], sys.byteorder)
            new = (old + source) % (1 << 8 * width) if kind == "fetch_add" else source
            remote[word] = new.to_bytes(width, sys.byteorder)
            local[result] = old.to_bytes(width, sys.byteorder)
    return [bytes(memory) for memory in memories]


@st.composite
def operations(draw: st.DrawFn) -> list[Any]:
    kinds = ["put", "put_nbi", "put_on_stream", "get", "get_nbi", "get_on_stream", "fetch_add", "swap"]
    actor, pe, kind = draw(st.integers(0, N - 1)), draw(st.integers(0, N - 1)), draw(st.sampled_from(kinds))
    if kind in ("fetch_add", "swap"):
        width = 8 if kind == "fetch_add" else 4
        word = st.integers(0, ROOM // width - 1)
        return [actor, kind, pe, draw(word), draw(st.integers(0, (1 << 8 * width) - 1)), draw(word)]
    nbytes = draw(st.integers(0, ROOM))
    offset = st.integers(0, ROOM - nbytes)
    return [actor, kind, pe, draw(offset), draw(offset), nbytes]


@settings(
    max_examples=30 if ON_GPU else 150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(plan=st.lists(operations(), min_size=1, max_size=25))
def test_any_sequence_of_transfers_equals_the_model(server: Server, plan: list[Any]) -> None:
    got, want = server.execute(plan), model(plan)
    for i in range(2 * N):
        if got[i] != want[i]:
            at = next(k for k in range(ROOM) if got[i][k] != want[i][k])
            kind = "ordinary" if i % 2 else "symmetric"
            here, there = got[i][at : at + 8].hex(), want[i][at : at + 8].hex()
            pytest.fail(f"{kind} memory of PE {i // 2} at byte {at}: {here}, not {there}")


# --- the allocator against a model ------------------------------------------------------------------------------------


class Allocations(RuleBasedStateMachine):
    """malloc, calloc, align and free in any order, in a job of one PE."""

    def __init__(self) -> None:
        super().__init__()
        self.live: dict[int, tuple[int, int]] = {}  # address -> bytes, fill byte
        self.serial = 0

    @initialize()
    def remember_the_empty_heap(self) -> None:
        self.before = rs.rocshmemx_heap_info()

    def keep(self, ptr: int, nbytes: int) -> None:
        assert ptr not in self.live
        self.serial += 1
        self.live[ptr] = (nbytes, self.serial % 251)
        poke(ptr, bytes([self.serial % 251]) * nbytes)

    @rule(nbytes=st.one_of(st.integers(1, 2000), st.integers(1, 1 << 20)))
    def malloc(self, nbytes: int) -> None:
        ptr = rs.rocshmem_malloc(nbytes)
        assert ptr % 256 == 0
        self.keep(ptr, nbytes)

    @rule(count=st.integers(1, 50), size=st.integers(1, 500))
    def calloc(self, count: int, size: int) -> None:
        ptr = rs.rocshmem_calloc(count, size)
        assert ptr % 256 == 0
        assert peek(ptr, count * size) == bytes(count * size)
        self.keep(ptr, count * size)

    @rule(shift=st.integers(3, 20), nbytes=st.integers(1, 5000))
    def align(self, shift: int, nbytes: int) -> None:
        ptr = rs.rocshmem_align(1 << shift, nbytes)
        assert ptr % (1 << shift) == 0
        self.keep(ptr, nbytes)

    @rule(pick=st.integers(0, 10**6))
    def free(self, pick: int) -> None:
        if self.live:
            ptr = sorted(self.live)[pick % len(self.live)]
            self.check(ptr)
            del self.live[ptr]
            rs.rocshmem_free(ptr)

    @rule(pick=st.integers(0, 10**6))
    def a_second_free_is_refused(self, pick: int) -> None:
        if self.live:
            ptr = sorted(self.live)[pick % len(self.live)]
            with pytest.raises(ValueError, match="ptr"):
                rs.rocshmem_free(ptr + 1)

    def check(self, ptr: int) -> None:
        nbytes, byte = self.live[ptr]
        assert peek(ptr, nbytes) == bytes([byte]) * nbytes

    @invariant()
    def blocks_do_not_overlap_and_are_known(self) -> None:
        end = 0
        for ptr in sorted(self.live):
            assert ptr >= end
            end = ptr + self.live[ptr][0]
            assert rs.rocshmemx_allocation(end - 1) == (ptr, self.live[ptr][0])

    @invariant()
    def used_counts_the_blocks(self) -> None:
        if hasattr(self, "before"):
            rounded = sum((nbytes + 255) // 256 * 256 for nbytes, _ in self.live.values())
            assert rs.rocshmemx_heap_info()[1] - self.before[1] == rounded

    def teardown(self) -> None:
        for ptr in list(self.live):
            self.check(ptr)
            rs.rocshmem_free(ptr)
        if hasattr(self, "before"):
            assert rs.rocshmemx_heap_info() == self.before, "not everything came back in one piece"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ROCSHMEM_HEAP_SIZE", "64M")
    rs.rocshmem_init()
    yield
    rs.rocshmem_finalize()


@pytest.mark.usefixtures("alone")
def test_any_sequence_of_allocations_is_aligned_disjoint_and_coalesces() -> None:
    hypothesis.stateful.run_state_machine_as_test(
        Allocations, settings=settings(max_examples=15 if ON_GPU else 60, stateful_step_count=60, deadline=None)
    )
