# SPDX-License-Identifier: MIT
"""Contexts, signals, types by name and the array forms, in real jobs of 1, 2 and 4 PEs; with torch in jobs of 2."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from memory import torch_on_the_device

pytest.importorskip("numpy", reason="NumPy is not installed")

PROGRAM = Path(__file__).parent / "array_cases.py"
NAMES = [
    node.name.removeprefix("case_")
    for node in ast.parse(PROGRAM.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")
]


@functools.cache
def job_of(run_job: Callable[..., Any], n: int) -> Any:
    """One job runs all cases, in their order."""
    return run_job(n, PROGRAM, env={"ROCSHMEM_TIMEOUT": "40"}, timeout=120, check=False)


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_in_a_job(run_job: Callable[..., Any], name: str, n: int) -> None:
    job = job_of(run_job, n)
    assert f"ok {name}" in job.stdout.splitlines(), job
    assert name != NAMES[-1] or job.returncode == 0, job


def test_with_torch(run_job: Callable[..., Any]) -> None:
    torch_on_the_device()

    def program() -> None:
        import torch

        import rocshmem4py as rs
        from rocshmem4py.interop.torch import create_tensor

        rs.rocshmem_init()
        me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
        for dtype in (torch.float32, torch.float64, torch.int32, torch.uint8, torch.complex64):
            source, dest = create_tensor((2, 3), dtype), create_tensor((n, 2, 3), dtype)
            source.fill_(me + 1)
            rs.hip_device_synchronize()  # torch's stream
            rs.reduce(dest[0], source)
            assert (dest[0] == n * (n + 1) // 2).all()
            rs.fcollect(dest, source)
            assert (dest[me] == me + 1).all()
            rs.broadcast(source, source, 1, stream=0)
            rs.hip_device_synchronize()
            assert (source == 2).all()
            rs.reduce(rs.SymmetricBuffer(8, dtype=dtype), rs.SymmetricBuffer(8, dtype=dtype))
        half = create_tensor((4,), torch.bfloat16)
        rs.broadcast(half, half, 0)
        for bad, error in ((half, TypeError), (dest.transpose(0, 2), ValueError)):
            try:
                rs.reduce(bad, bad)
            except error as caught:
                assert str(caught).startswith("reduce: ")
            else:
                raise AssertionError(f"{bad} was taken")
        words = create_tensor((3,), torch.int64)
        words.zero_()
        rs.hip_device_synchronize()
        rs.wait_until(words, "==", torch.zeros(3, dtype=torch.int64))
        rs.wait_until(words[1], "<", 1)
        rs.rocshmem_finalize()

    run_job(2, program)


def test_arrays_are_kept_while_a_stream_uses_them(run_job: Callable[..., Any]) -> None:
    def program() -> None:
        import numpy as np
        from memory import ON_GPU, array

        import rocshmem4py as rs
        from rocshmem4py import arrays

        rs.rocshmem_init()
        word = array("u8", 1)
        stream = rs.rocshmemx_stream_create()
        source = array("f8", 10)
        dest = array("f8", 10)
        rs.wait_until(word, "==", 1, stream)
        rs.reduce(dest, source, stream=stream)
        assert any(kept is source for kept in arrays._in_flight[stream].values())
        rs.rocshmem_signal_set(word.ctypes.data, 1, 0)
        rs.rocshmemx_stream_destroy(stream)
        rs.reduce(dest, source if ON_GPU else np.asarray(source), stream=0)
        rs.hip_device_synchronize()
        rs.reduce(dest, source, stream=0)
        assert ON_GPU or stream not in arrays._in_flight
        rs.rocshmem_finalize()

    run_job(1, program)


def test_before_init_the_runtime_says_so() -> None:
    import numpy as np

    import rocshmem4py as rs

    a = np.zeros(4)
    calls: list[Callable[[], object]] = [
        lambda: rs.reduce(a, a),
        lambda: rs.broadcast(a, a, 0),
        lambda: rs.alltoall(a, a),
        lambda: rs.fcollect(a, a),
        lambda: rs.reduce_scatter(a, a),
        lambda: rs.wait_until(a.view("i8"), "==", 0),
        lambda: rs.Context(),
    ]
    for call in calls:
        with pytest.raises(rs.RocshmemError, match="before rocshmem_init"):
            call()


def test_keyboard_interrupt_ends_a_wait_on_an_array(run_job: Callable[..., Any]) -> None:
    def program() -> None:
        import os
        import signal
        import threading

        from memory import array

        import rocshmem4py as rs

        rs.rocshmem_init()
        words = array("i8", 4)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            rs.wait_until(words, "==", 1)
        except KeyboardInterrupt:
            print("interrupted")
        timer.join()
        rs.reduce(words, words)
        rs.rocshmem_finalize()

    assert run_job(1, program).stdout == "interrupted\n"
