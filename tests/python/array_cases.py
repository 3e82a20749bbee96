# SPDX-License-Identifier: MIT
"""The program behind test_arrays.py: contexts, signals and the calls on types and arrays, by every PE of one job.

    rocshmem-run -n N python array_cases.py

All PEs run all functions named ``case_<the sentence that is true>``; PE 0 prints the names of those that were.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from memory import ON_GPU, array, view

import _rocshmem4py as raw
import rocshmem4py as rs

ME = N = RIGHT = LEFT = -1  # set by main
NUMPY = {
    "char": "i1", "schar": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8",
    "ulong": "u8", "longlong": "i8", "ulonglong": "u8", "size": "u8", "ptrdiff": "i8", "int8": "i1", "uint8": "u1",
    "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4", "int64": "i8", "uint64": "u8", "float": "f4",
    "double": "f8", "longdouble": "g", "complexf": "c8", "complexd": "c16", "float32": "f4", "float64": "f8",
    "float128": "g", "complex64": "c8", "complex128": "c16",
}  # fmt: skip
OPS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda a: a.sum(axis=0, dtype=a.dtype),
    "prod": lambda a: a.prod(axis=0, dtype=a.dtype),
    "min": lambda a: a.min(axis=0),
    "max": lambda a: a.max(axis=0),
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}
WAITED = [t for t, n in NUMPY.items() if n in ("i4", "u4", "i8", "u8")]


def refused(kind: type[Exception], words: str, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> None:
    """Calls and expects an exception of this kind, whose text has every one of these words."""
    try:
        result = function(*arguments, **keywords)
    except kind as error:
        for word in words.split():
            assert word in str(error), f"{word!r} is not in {error!r}"
        return
    raise AssertionError(f"{function} gave {result!r} and no exception")


def operations(dtype: str) -> list[str]:
    kind = np.dtype(NUMPY[dtype]).kind
    return ["sum", "prod"] if kind == "c" else ["sum", "prod", "min", "max"] if kind == "f" else list(OPS)


def case_every_reduction_of_every_type_is_what_numpy_computes() -> None:
    for dtype, numpy_name in NUMPY.items():
        rows = np.array([[pe + 2 + k for k in range(N)] for pe in range(N)]).astype(numpy_name)
        source, dest, one = array(numpy_name, N), array(numpy_name, N), array(numpy_name, 1)
        source[:] = rows[ME]
        where = source.ctypes.data
        for op in operations(dtype):
            wanted = OPS[op](rows)
            dest[:] = 0
            raw.rocshmemx_reduce(0, dest.ctypes.data, where, N, dtype, op)
            assert (dest == wanted).all(), (dtype, op, dest, wanted)
            raw.rocshmemx_reduce_scatter(team=0, dest=one.ctypes.data, source=where, nreduce=1, dtype=dtype, op=op)
            assert one[0] == wanted[ME], (dtype, op)
            dest[:] = 0
            raw.rocshmemx_reduce_on_stream(0, dest.ctypes.data, where, N, dtype, op, None)
            rs.hip_device_synchronize()
            assert (dest == wanted).all(), (dtype, op)
        if len(operations(dtype)) < 7:
            refused(ValueError, f"rocshmemx_reduce: op 'xor' {operations(dtype)[-1]}", raw.rocshmemx_reduce,
                    0, dest.ctypes.data, where, 1, dtype, "xor")  # fmt: skip


def case_single_values_of_every_type_travel() -> None:
    for dtype, numpy_name in NUMPY.items():
        word = array(numpy_name, 1)
        rs.rocshmem_barrier_all()
        if numpy_name.startswith("c"):
            refused(ValueError, "rocshmemx_p: dtype", raw.rocshmemx_p, word.ctypes.data, 1, RIGHT, dtype)
            refused(ValueError, "rocshmemx_g: dtype", raw.rocshmemx_g, word.ctypes.data, RIGHT, dtype)
            continue
        kind = np.dtype(numpy_name)
        value: Any = 1.5 + ME if kind.kind == "f" else int(np.iinfo(kind).max) - ME
        raw.rocshmemx_p(word.ctypes.data, value, RIGHT, dtype)
        rs.rocshmem_barrier_all()
        got = raw.rocshmemx_g(word.ctypes.data, RIGHT, dtype)
        assert (got, type(got)) == (value, type(value)), (dtype, got, value)
        if kind.kind != "f":
            for bad in (int(np.iinfo(kind).max) + 1, int(np.iinfo(kind).min) - 1):
                refused(OverflowError, "rocshmemx_p: value", raw.rocshmemx_p, word.ctypes.data, bad, RIGHT, dtype)
        rs.rocshmem_barrier_all()


def case_strided_copies_of_every_item_size() -> None:
    for itemsize in (1, 2, 4, 8, 16):
        dest, source = array("u1", 64 * itemsize), array("u1", 64 * itemsize)
        source[:] = np.arange(source.size) % 251 + ME
        items = source.reshape(64, itemsize)
        rs.rocshmem_barrier_all()
        raw.rocshmemx_iput(dest.ctypes.data, source.ctypes.data, 3, 2, 20, RIGHT, itemsize)
        rs.rocshmem_barrier_all()
        theirs = (np.arange(source.size) % 251 + LEFT).astype("u1").reshape(64, itemsize)
        assert (dest.reshape(64, itemsize)[:60:3] == theirs[:40:2]).all()
        assert (dest.reshape(64, itemsize)[1:60:3] == 0).all()
        here = np.zeros((64, itemsize), "u1")
        raw.rocshmemx_iget(here.ctypes.data, source.ctypes.data, dst=1, sst=3, nelems=21, pe=ME, itemsize=itemsize)
        assert (here[:21] == items[:63:3]).all()
        rs.rocshmem_barrier_all()
    for bad in (0, 3, 32, 2**63):
        refused(ValueError, f"rocshmemx_iget: itemsize {bad}", raw.rocshmemx_iget, 0, 0, 1, 1, 1, 0, bad)
    refused(ValueError, "dst", raw.rocshmemx_iput, dest.ctypes.data, source.ctypes.data, 0, 1, 1, ME, 8)


def case_waits_and_tests_of_every_type() -> None:
    for dtype in WAITED:
        words, low = array(NUMPY[dtype], 4), 0 if NUMPY[dtype][0] == "u" else -5
        where, itemsize = words.ctypes.data, words.itemsize
        rs.rocshmem_barrier_all()
        assert raw.rocshmemx_test(where, rs.ROCSHMEM_CMP_GT, low, dtype) is (low < 0)
        assert raw.rocshmemx_test_any(where, 4, 0, rs.ROCSHMEM_CMP_EQ, 7, dtype) is None
        assert raw.rocshmemx_test_some(where, 4, 0, rs.ROCSHMEM_CMP_EQ, 7, dtype) == []
        assert raw.rocshmemx_test_all(where, 4, 0, rs.ROCSHMEM_CMP_EQ, 0, dtype) is True
        rs.rocshmem_barrier_all()
        for i in (1, 3):
            raw.rocshmemx_p(where + i * itemsize, 7, RIGHT, dtype)
        raw.rocshmemx_wait_until(where + itemsize, rs.ROCSHMEM_CMP_EQ, 7, dtype)
        raw.rocshmemx_wait_until(ivar=where + 3 * itemsize, cmp=rs.ROCSHMEM_CMP_NE, cmp_value=0, dtype=dtype)
        assert raw.rocshmemx_wait_until_any(where, 4, 0, rs.ROCSHMEM_CMP_EQ, 7, dtype) in (1, 3)
        assert raw.rocshmemx_wait_until_some(where, 4, 0, rs.ROCSHMEM_CMP_EQ, 7, dtype) == [1, 3]
        skip = np.array([1, 0, 1, 1], "i4")
        assert raw.rocshmemx_wait_until_some(where, 4, skip.ctypes.data, 0, 7, dtype) == [1]
        assert raw.rocshmemx_wait_until_all(where, 4, skip.ctypes.data, 0, 7, dtype) is None
        wanted = np.array([0, 7, 0, 7], NUMPY[dtype])
        assert raw.rocshmemx_wait_until_all_vector(where, 4, 0, 0, wanted.ctypes.data, dtype) is None
        assert raw.rocshmemx_test_all_vector(where, 4, 0, 0, wanted.ctypes.data, dtype) is True
        assert raw.rocshmemx_test_some_vector(where, 4, 0, 0, wanted.ctypes.data, dtype) == [0, 1, 2, 3]
        assert raw.rocshmemx_wait_until_some_vector(where, 4, skip.ctypes.data, 0, wanted.ctypes.data, dtype) == [1]
        assert raw.rocshmemx_test_any_vector(where, 4, 0, 0, wanted.ctypes.data, dtype) in range(4)
        assert raw.rocshmemx_wait_until_any_vector(where, 4, skip.ctypes.data, 0, wanted.ctypes.data, dtype) == 1
        assert raw.rocshmemx_wait_until_any(where, 0, 0, 0, 7, dtype) is None
        refused(OverflowError, "cmp_value", raw.rocshmemx_test, where, 0, 2**64, dtype)
        refused(ValueError, "cmp_values is 0", raw.rocshmemx_test_all_vector, where, 4, 0, 0, 0, dtype)
        refused(ValueError, "cmp", raw.rocshmemx_test, where, 9, 0, dtype)
    refused(ValueError, "rocshmemx_test: dtype 'short'", raw.rocshmemx_test, where, 0, 0, "short")
    refused(ValueError, "rocshmemx_test: dtype 'nosuch'", raw.rocshmemx_test, where, 0, 0, "nosuch")


def case_signals_and_contexts() -> None:
    data, word = array("u8", 8), array("u8", 1)
    address, sig = data.ctypes.data, word.ctypes.data
    local = np.full(8, ME + 1, "u8")
    rs.rocshmem_barrier_all()
    rs.rocshmem_putmem_signal(address, local.ctypes.data, 64, sig, 5, rs.ROCSHMEM_SIGNAL_SET, RIGHT)
    assert rs.rocshmem_signal_wait_until(sig, rs.ROCSHMEM_CMP_EQ, 5) == 5 == rs.rocshmem_signal_fetch(sig)
    assert (data == LEFT + 1).all()
    rs.rocshmem_barrier_all()
    rs.rocshmem_signal_add(sig, 2, RIGHT)
    assert rs.rocshmem_signal_wait_until(sig, rs.ROCSHMEM_CMP_GE, 7) == 7
    rs.rocshmem_barrier_all()
    rs.rocshmem_signal_set_on_stream(sig, 1, RIGHT, None)
    rs.rocshmem_quiet_on_stream(None)
    rs.rocshmem_signal_add_on_stream(sig, 2, RIGHT, None)
    assert rs.rocshmem_signal_wait_until(sig, rs.ROCSHMEM_CMP_EQ, 3) == 3
    rs.rocshmem_barrier_all()
    ctx = rs.rocshmem_ctx_create(rs.ROCSHMEM_CTX_SERIALIZED)
    assert rs.rocshmem_ctx_get_team(ctx) == rs.ROCSHMEM_TEAM_WORLD == rs.rocshmem_ctx_get_team(1)
    rs.rocshmem_ctx_putmem_nbi(ctx, address, local.ctypes.data, 8, RIGHT)
    rs.rocshmem_ctx_fence(ctx)
    rs.rocshmem_ctx_putmem_signal_nbi(ctx, address, local.ctypes.data, 64, sig, 1, rs.ROCSHMEM_SIGNAL_ADD, RIGHT)
    rs.rocshmem_ctx_quiet(ctx)
    assert rs.rocshmem_signal_wait_until(sig, rs.ROCSHMEM_CMP_EQ, 4) == 4
    here = np.zeros(8, "u8")
    rs.rocshmem_ctx_getmem(ctx, here.ctypes.data, address, 64, ME)
    assert (here == LEFT + 1).all()
    rs.rocshmem_ctx_destroy(ctx)
    refused(ValueError, "rocshmem_ctx_putmem: ctx", rs.rocshmem_ctx_putmem, ctx, address, local.ctypes.data, 8, RIGHT)
    refused(ValueError, "rocshmem_ctx_destroy: ctx", rs.rocshmem_ctx_destroy, ctx)
    refused(ValueError, "options", rs.rocshmem_ctx_create, 1 << 20)
    refused(ValueError, "sig_addr", rs.rocshmem_signal_set, sig + 4, 1, RIGHT)
    rs.rocshmem_barrier_all()


def case_collectives_on_bytes() -> None:
    source, dest = array("u1", 4 * N), array("u1", 4 * N * N)
    source[:] = ME
    a, b = dest.ctypes.data, source.ctypes.data
    rs.rocshmem_broadcastmem(0, a, b, 4, N - 1)
    assert (dest[:4] == N - 1).all()
    rs.rocshmem_alltoallmem(0, a, b, 4)
    rs.rocshmem_fcollectmem(0, a, b, 4)
    assert (dest[: 4 * N].reshape(N, 4) == np.arange(N)[:, None]).all()
    dest[:] = 99
    rs.rocshmem_fcollectmem_on_stream(0, a, b, 2, None)
    rs.hip_device_synchronize()
    assert (dest[: 2 * N] == np.repeat(np.arange(N), 2)).all()
    rs.rocshmem_collectmem(0, a, b, ME)
    assert (dest[: N * (N - 1) // 2] == np.repeat(np.arange(N), np.arange(N))).all()
    dest[:] = 99
    rs.rocshmem_alltoallsmem(0, a, b, 2, 1, 1)
    assert (dest[: 2 * N : 2] == np.arange(N)).all()
    assert (dest[1 : 2 * N : 2] == 99).all()
    refused(ValueError, "rocshmem_broadcastmem pe_root", rs.rocshmem_broadcastmem, 0, a, b, 4, N)
    refused(ValueError, "rocshmem_fcollectmem: team", rs.rocshmem_fcollectmem, -1, a, b, 4)


def case_teams_in_two_dimensions() -> None:
    width = 2 if N % 2 == 0 else 1
    config = rs.TeamConfig()
    config.num_contexts = 3
    status, row, column = rs.rocshmem_team_split_2d(0, width, config, rs.ROCSHMEM_TEAM_NUM_CONTEXTS)
    assert status == 0 and {row, column} <= rs._live_teams
    assert (rs.rocshmem_team_my_pe(row), rs.rocshmem_team_n_pes(row)) == (ME % width, width)
    assert (rs.rocshmem_team_my_pe(column), rs.rocshmem_team_n_pes(column)) == (ME // width, N // width)
    assert rs.rocshmem_team_get_config(row, 1).num_contexts == 3
    assert rs.rocshmem_team_get_config(column, 1).num_contexts == 0
    source, dest = array("i4", 1, ME), array("i4", 1)
    rs.reduce(dest, source, team=row)
    assert dest[0] == sum(pe for pe in range(N) if pe // width == ME // width)
    rs.rocshmem_barrier_all()  # all have looked at dest
    with rs.Context(column) as ctx:
        assert ctx.team == column
        ctx.put(dest, np.array([ME], "i4"), 0)
    for team in (row, column):
        rs.rocshmem_team_destroy(team)
    assert not {row, column} & rs._live_teams
    assert rs.rocshmem_team_split_2d(0, 0)[1:] == (rs.ROCSHMEM_TEAM_INVALID, rs.ROCSHMEM_TEAM_INVALID)
    refused(TypeError, "yaxis_config TeamConfig", rs.rocshmem_team_split_2d, 0, 1, None, 0, 5)
    refused(ValueError, "mask", rs.rocshmem_team_get_config, 0, 64)


def case_array_forms_with_numpy() -> None:
    source, dest, all_ = array("f4", 2 * N, ME + 1), array("f4", 2 * N), array("f4", 2 * N * N)
    for stream in (None, 0, rs.rocshmemx_stream_create()):
        source[:] = ME + 1
        rs.reduce(dest, source, stream=stream)
        rs.rocshmemx_stream_synchronize(stream)
        assert (dest == N * (N + 1) / 2).all()
        rs.reduce(dest, source, op="max", stream=stream)
        rs.rocshmemx_stream_synchronize(stream)
        assert (dest == N).all()
        rs.broadcast(dest, source, N - 1, stream=stream)
        rs.rocshmemx_stream_synchronize(stream)
        assert (dest == N).all()
        rs.fcollect(all_.reshape(N, 2 * N), source, stream=stream)
        rs.rocshmemx_stream_synchronize(stream)
        assert (all_.reshape(N, 2 * N) == np.arange(1, N + 1)[:, None]).all()
        source[:] = np.repeat(np.arange(N), 2) + 10 * ME
        rs.alltoall(dest, source, stream=stream)
        rs.rocshmemx_stream_synchronize(stream)
        assert (dest == np.repeat(10 * np.arange(N), 2) + ME).all()
        rs.rocshmem_barrier_all()
    rs.rocshmemx_stream_destroy(stream)
    rs.reduce_scatter(dest[:2], source)
    assert (dest[:2] == N * ME + 10 * sum(range(N))).all()
    rs.reduce(source, source)  # in place
    rs.reduce(dest[:0], source[:0])
    rs.fcollect(all_[:0], source[:0])


def case_array_forms_with_buffers() -> None:
    for dtype, n in ((None, 8), ("i4", 2), (np.dtype("f8"), 1)):
        source, dest = rs.SymmetricBuffer(8, dtype=dtype), rs.SymmetricBuffer(8, dtype=dtype)
        if ON_GPU:
            refused(BufferError, "GPU", source.view)
        view(source)[:] = 1
        assert view(source).size == n
        rs.reduce(dest, source)
        assert (view(dest) == N).all()
        rs.broadcast(dest, source, 0)
        assert (view(dest) == 1).all()
        for buffer in (source, dest):
            buffer.free()
        refused(ValueError, "reduce: dest freed", rs.reduce, dest, source)


def case_waits_on_arrays() -> None:
    words, count = array("i8", 4), array("u8", 1)
    rs.rocshmem_barrier_all()
    for i in range(4):
        rs.rocshmem_int64_atomic_set(words.ctypes.data + 8 * i, i - 2, RIGHT)
    rs.wait_until(words, ">=", np.array([-2, -1, 0, 1]))
    rs.wait_until(words[:1], "==", -2)
    rs.wait_until(words, rs.ROCSHMEM_CMP_LT, np.int64(2))
    rs.wait_until(words[:0], "==", 5)
    rs.wait_until(count, "==", 1, stream=0)
    rs.rocshmem_signal_set(count.ctypes.data, 1, RIGHT)
    rs.hip_device_synchronize()
    refused(ValueError, "wait_until: cmp '=>'", rs.wait_until, words, "=>", 1)
    refused(ValueError, "wait_until: sizes", rs.wait_until, words, "==", np.zeros(3, "i8"))
    refused(ValueError, "dtype 'double'", rs.wait_until, words.view("f8"), "==", 1)
    refused(ValueError, "wait_until: stream uint64", rs.wait_until, words, "==", 1, stream=0)
    refused(TypeError, "cmp_value int", rs.wait_until, words, "==", 1.5)
    refused(OverflowError, "cmp_value", rs.wait_until, words, "==", 2**63)
    rs.rocshmem_barrier_all()


def case_context_objects() -> None:
    dest, sig = array("f8", 4, -1), array("u8", 1)
    rs.rocshmem_barrier_all()
    with rs.Context(options=rs.ROCSHMEM_CTX_WG_PRIVATE) as ctx:
        assert ctx.team == rs.ROCSHMEM_TEAM_WORLD and "Context(0x" in repr(ctx)
        ctx.put_nbi(dest, np.full(4, ME, "f8"), RIGHT)
        ctx.quiet()
        ctx.put_signal(dest[:2], np.array([7.0, 8.0]), sig.ctypes.data, 1, RIGHT, rs.ROCSHMEM_SIGNAL_ADD)
        rs.wait_until(sig, "==", 1)
        assert dest.tolist() == [7, 8, LEFT, LEFT]
        here = np.zeros(4)
        ctx.get(here, dest, ME)
        ctx.get_nbi(here[:2], dest[2:], ME)
        ctx.quiet()
        assert here.tolist() == [LEFT] * 4
        rs.rocshmem_ctx_fence(ctx)  # has __index__
        ctx.fence()
        refused(ValueError, "Context.put: dest room", ctx.put, dest[:1], np.zeros(2), RIGHT)
        refused(ValueError, "Context.get: dest dtype", ctx.get, np.zeros(4, "i8"), dest, RIGHT)
        refused(ValueError, "pe", ctx.put, dest, np.zeros(1), N)
        refused(ValueError, "dest symmetric", ctx.put, np.zeros(1), np.zeros(1), RIGHT)
        refused(TypeError, "Context.put: source bytes", ctx.put, dest, b"12345678", RIGHT)
    ctx.destroy()
    assert repr(ctx) == "Context(destroyed)" and int(ctx.__index__()) == 0
    for method in (ctx.fence, ctx.quiet):
        refused(RuntimeError, "destroyed", method)
    refused(ValueError, "options", rs.Context, 0, 1 << 20)
    refused(ValueError, "team", rs.Context, -1)
    rs.rocshmem_barrier_all()


def case_wrong_arrays_are_refused_by_name() -> None:
    good = array("f4", 4)
    refused(TypeError, "reduce: dest int SymmetricBuffer", rs.reduce, 5, good)
    refused(TypeError, "reduce: source list", rs.reduce, good, [1.0])
    refused(TypeError, "reduce: source f2", rs.reduce, good.view("f2"), good.view("f2"))
    refused(TypeError, "reduce: source >f4", rs.reduce, good.view(">f4"), good.view(">f4"))
    refused(ValueError, "reduce: types", rs.reduce, good, good.view("i4"))
    refused(ValueError, "reduce: sizes", rs.reduce, good[:3], good)
    refused(ValueError, "reduce: dest contiguous", rs.reduce, good[::2], good[:2])
    refused(ValueError, "op 'and' float", rs.reduce, good, good, "and")
    refused(ValueError, "op 'mean'", rs.reduce, good, good, "mean")
    refused(ValueError, "team", rs.reduce, good, good, team=-1)
    refused(ValueError, "fcollect: sizes", rs.fcollect, good[:3], good)
    refused(ValueError, "reduce_scatter: sizes", rs.reduce_scatter, good[:3], good)
    refused(ValueError, "dest symmetric", rs.reduce, np.zeros(4, "f4"), good)
    frozen = good.view()
    frozen.flags.writeable = False
    refused(ValueError, "reduce: dest read-only", rs.reduce, frozen, good)
    if N > 1:
        refused(ValueError, f"alltoall: source {N} blocks", rs.alltoall, good[: N - 1], good[: N - 1])
    refused(ValueError, "pe_root", rs.broadcast, good, good, N)
    reduced = rs.SymmetricBuffer(6, dtype="f4")
    refused(ValueError, "reduce: dest 6 bytes", rs.reduce, reduced, good)


def main() -> None:
    global ME, N, RIGHT, LEFT
    rs.rocshmem_init()
    ME, N = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
    RIGHT, LEFT = (ME + 1) % N, (ME - 1) % N
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            function()
            rs.rocshmem_barrier_all()
            if ME == 0:
                print("ok", name.removeprefix("case_"), flush=True)
    job_of_before = rs.Context()
    rs.rocshmem_finalize()
    job_of_before.destroy()
    rs.rocshmem_init()
    over = rs.Context()
    rs.rocshmem_finalize()
    rs.rocshmem_init()
    refused(RuntimeError, "Context.quiet: job over", over.quiet)
    over.destroy()
    rs.rocshmem_finalize()


if __name__ == "__main__":
    main()
