# SPDX-License-Identifier: MIT
"""No function leaks: calls that succeed and that fail leave references, Python blocks and C memory as they were."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from extension_cases import ARGUMENTS, FUNCTIONS, LIFE, Index, call, dummy_arguments, good_arguments, one_pe_job, reset

import _rocshmem4py as r
from conftest import job_env

ROUNDS = 50
#: Far less than one small thing leaked a round.
SLACK_BLOCKS, SLACK_BYTES = ROUNDS // 3, ROUNDS * 8
#: Leak tests of these are below, in processes of their own. rocshmem_global_exit never returns: nothing can leak.
IN_JOBS = {"rocshmem_init", "rocshmem_init_attr", "rocshmem_finalize", "rocshmem_get_uniqueid"}


class MallInfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


libc = ctypes.CDLL(None)
libc.mallinfo2.restype = MallInfo


def bytes_in_use() -> int:
    info = libc.mallinfo2()
    return int(info.uordblks + info.hblkhd)


def growth(once: Callable[[], object]) -> tuple[int, int]:
    """Python blocks and C bytes more after ROUNDS calls than before."""
    gc.collect()
    blocks, nbytes = sys.getallocatedblocks(), bytes_in_use()
    for _ in range(ROUNDS):
        once()
    gc.collect()
    return sys.getallocatedblocks() - blocks, bytes_in_use() - nbytes


def assert_steady(once: Callable[[], object]) -> None:
    """once() leaves what it found. Caches grow now and then, a leak grows in every round: the best of 20 counts."""
    once()
    grown = []
    for _ in range(20):
        grown.append(growth(once))
        if grown[-1][0] <= SLACK_BLOCKS and grown[-1][1] <= SLACK_BYTES:
            return
    pytest.fail(f"in each {ROUNDS} rounds grew by (Python blocks, C bytes): {grown}")


def refused(
    error: type[Exception] | tuple[type[Exception], ...],
    function: Callable[..., object],
    *arguments: Any,
    **keywords: Any,
) -> None:
    """As pytest.raises, which itself leaves blocks behind for a while."""
    try:
        function(*arguments, **keywords)
    except error:
        return
    pytest.fail(f"{function}{arguments} was accepted")


@pytest.fixture(scope="module", autouse=True)
def job() -> Iterator[SimpleNamespace]:
    gc.collect()
    gc.freeze()  # what other tests have imported need not be searched in each test here
    with one_pe_job() as things:
        yield things
    gc.unfreeze()


def test_every_function_has_a_leak_test() -> None:
    assert set(FUNCTIONS) - set(TESTED) == IN_JOBS | {"rocshmem_global_exit"}
    assert IN_JOBS | {"rocshmem_global_exit"} == LIFE


TESTED = sorted(set(FUNCTIONS) - LIFE)


@pytest.mark.parametrize("name", TESTED)
def test_calls_that_succeed(name: str, job: Any) -> None:
    def once() -> None:
        call(name, good_arguments(name, job))
        reset(job)

    assert_steady(once)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_calls_that_fail(name: str, job: Any) -> None:
    arguments = dummy_arguments(name)
    bad = [[*arguments, 0]]  # one too many
    for wrong in (object(), 10**400):
        bad += [[*arguments[:i], wrong, *arguments[i + 1 :]] for i in range(len(arguments))]
    bad += [[]] if any(p.default is p.empty for p in ARGUMENTS[name]) else []
    function = getattr(r, name)

    def once() -> None:
        for given in bad:
            refused((TypeError, OverflowError), function, *given)
        refused(TypeError, function, nosuch=1)

    assert_steady(once)


@pytest.mark.parametrize("name", TESTED)
def test_references_to_arguments_and_none(name: str, job: Any) -> None:
    arguments = [Index(a) if type(a) is int else a for a in good_arguments(name, job)]

    def once() -> None:
        for given, value in zip(arguments, good_arguments(name, job), strict=True):
            if isinstance(given, Index):
                given.value = value
        call(name, arguments)
        reset(job)

    def references() -> list[int]:
        return [sys.getrefcount(a) for a in arguments if isinstance(a, Index)]

    once()
    before, none = references(), sys.getrefcount(None)
    for _ in range(ROUNDS):
        once()
    assert references() == before
    assert abs(sys.getrefcount(None) - none) < ROUNDS // 2


def test_failures_of_the_runtime(job: Any) -> None:
    def once() -> None:
        refused(r.RocshmemArgumentError, r.rocshmem_putmem, job.dest, job.source, 8, 99)
        refused(r.RocshmemError, r.rocshmem_malloc, 2**60)
        refused(ValueError, r.rocshmem_barrier, 777)

    assert_steady(once)


def test_streams_team_configs_and_memory(job: Any) -> None:
    class Cuda:
        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, 0)

    def once() -> None:
        for stream in (Cuda(), SimpleNamespace(cuda_stream=0), SimpleNamespace(ptr=Index(0))):
            r.rocshmem_barrier_all_on_stream(stream)
        refused(TypeError, r.rocshmem_barrier_all_on_stream, SimpleNamespace(ptr="no"))
        config = r.TeamConfig()
        config.num_contexts = 1
        memory = r._Memory(job.dest, 64, False)
        part = r._Memory(job.dest, 8, False, memory)
        for export in (memory, part):
            bytes(memoryview(export))
            export.__array_interface__  # noqa: B018
            export.__dlpack__()
            export.__dlpack__(max_version=(1, 0), copy=True)
            export.__dlpack_device__()
            refused(BufferError, export.__dlpack__, stream=5)
        memory._mark_freed()
        refused(ValueError, memoryview, memory)
        refused(ValueError, memory.__dlpack__)
        refused(TypeError, r._Memory, job.dest)
        refused(OverflowError, r._Memory, 0, -1)

    assert_steady(once)


def test_capsules_taken_by_numpy(job: Any) -> None:
    np = pytest.importorskip("numpy", reason="NumPy is not installed")
    memory = r._Memory(job.dest, 64, False)
    assert_steady(lambda: np.from_dlpack(memory).sum())
    assert_steady(lambda: np.asarray(memory).sum())


def test_init_and_finalize() -> None:
    source = """
        import gc, sys
        import _rocshmem4py as r

        def once():
            r.rocshmem_init()
            r.rocshmem_free(r.rocshmem_malloc(8))
            r.rocshmem_finalize()
            r.rocshmem_init_attr(0, 1, r.rocshmem_get_uniqueid())
            r.rocshmem_finalize()
            for wrong in (lambda: r.rocshmem_init_attr(2, 1, bytes(128)), r.rocshmem_finalize):
                try:
                    wrong()
                except r.RocshmemError:
                    pass
                else:
                    raise SystemExit("no error")

        for _ in range(3):
            once()
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(20):
            once()
        gc.collect()
        print(sys.getallocatedblocks() - before)
    """
    argv = [sys.executable, "-c", textwrap.dedent(source)]
    done = subprocess.run(argv, env=job_env(), text=True, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) < 10
