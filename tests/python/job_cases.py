# SPDX-License-Identifier: MIT
"""The program behind test_jobs_api.py: every function of the API, called by every PE of one job.

    rocshmem-run -n N python job_cases.py [case]...

Each PE prints a line "RESULT <pe> <case> ok", or "RESULT <pe> <case> <traceback as JSON>" and ends. Cases are functions
named ``case_<the sentence that is true>``; all PEs run all of them, in this order.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import random
import struct
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from typing import Any

from memory import ON_GPU, peek, poke

import _rocshmem4py as raw
import rocshmem4py as rs

ME = N = RIGHT = LEFT = -1  # set by main


def pattern(n: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(n)


class Local:
    """Ordinary memory of n bytes: ``.ptr`` and ``.bytes()``."""

    def __init__(self, data: bytes | int) -> None:
        self.raw = ctypes.create_string_buffer(data if isinstance(data, int) else len(data))
        if not isinstance(data, int):
            ctypes.memmove(self.raw, data, len(data))
        self.ptr = ctypes.addressof(self.raw)

    def bytes(self) -> bytes:
        return ctypes.string_at(self.ptr, len(self.raw))


def zeroed(n: int) -> int:
    """Symmetric memory of n zero bytes."""
    return rs.rocshmem_calloc(1, n)


def settle() -> None:
    """Every PE is here, and what had been dropped or was held until a moment ago is released."""
    rs.rocshmem_free(rs.rocshmem_malloc(8))
    rs.rocshmem_barrier_all()


def refused(words: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> BaseException:
    """Calls and expects an exception whose text has every one of these words."""
    try:
        result = function(*args, **kwargs)
    except (ValueError, TypeError, OverflowError, RuntimeError, BufferError) as error:
        for word in words.split():
            assert word in str(error), f"{word!r} is not in {error!r}"
        return error
    raise AssertionError(f"{function.__name__}{args} gave {result!r} and no exception")


# --- the job ----------------------------------------------------------------------------------------------------------


def case_every_pe_has_its_own_number() -> None:
    words = zeroed(8 * N)
    for pe in range(N):
        rs.rocshmem_int64_atomic_set(words + 8 * ME, ME + 1, pe)
    rs.rocshmem_barrier_all()
    assert struct.unpack(f"{N}q", peek(words, 8 * N)) == tuple(range(1, N + 1))
    rs.rocshmem_free(words)
    assert rs.rocshmem_team_my_pe(rs.ROCSHMEM_TEAM_WORLD) == ME and rs.rocshmem_team_n_pes(team=0) == N
    assert rs.rocshmem_team_my_pe(rs.ROCSHMEM_TEAM_INVALID) == -1 == rs.rocshmem_team_n_pes(rs.ROCSHMEM_TEAM_INVALID)
    assert rs.rocshmem_team_n_pes(rs.ROCSHMEM_TEAM_SHARED) == N


def case_a_second_init_is_an_error() -> None:
    refused("rocshmem_init", rs.rocshmem_init)
    refused("rocshmem_init_attr", rs.rocshmem_init_attr, 0, 1, bytes(128))
    refused("invalid unique ID size", rs.rocshmem_init_attr, 0, 1, bytes(127))
    assert (rs.rocshmem_my_pe(), rs.rocshmem_n_pes()) == (ME, N)


def case_the_thread_level_is_multiple() -> None:
    assert rs.rocshmem_query_thread() == 4


def case_the_host_device_has_a_context_and_no_module() -> None:
    assert rs.rocshmem_get_device_ctx() != 0
    assert rs.rocshmem_hipmodule_init(0) == 1
    assert rs.rocshmem_hipmodule_init(module=1234, stream=0) == 1
    assert rs.hip_device_synchronize() is None
    assert rs.set_hip_device_from_env() is None


def captured_stdout(function: Callable[[], None]) -> str:
    """What a C function writes to descriptor 1."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        saved = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            function()
        finally:
            os.dup2(saved, 1)
            os.close(saved)
        file.seek(0)
        return file.read().decode()


def case_stats_count_and_are_printed() -> None:
    p = zeroed(64)
    rs.rocshmem_reset_stats()
    local = Local(b"12345")
    rs.rocshmem_putmem(p, local.ptr, 5, RIGHT)
    rs.rocshmem_getmem(local.ptr, p, 3, RIGHT)
    stats = rs.rocshmemx_get_stats(RIGHT)
    assert (stats["puts"], stats["put_nbytes"], stats["gets"], stats["get_nbytes"]) == (1, 5, 1, 3), stats
    assert rs.rocshmemx_get_stats()["puts"] == 1
    assert "put" in captured_stdout(rs.rocshmem_dump_stats)
    rs.rocshmem_reset_stats()
    assert rs.rocshmemx_get_stats()["puts"] == 0
    rs.rocshmem_barrier_all()
    rs.rocshmem_free(p)


# --- memory -----------------------------------------------------------------------------------------------------------


def case_memory_is_aligned_zeroed_on_request_and_comes_back() -> None:
    before = rs.rocshmemx_heap_info()
    p = rs.rocshmem_malloc(1000)
    assert p % 256 == 0
    poke(p, b"\xa5" * 1000)
    rs.rocshmem_free(p)
    q = rs.rocshmem_calloc(count=10, size=100)
    assert q == p and peek(q, 1000) == bytes(1000)
    rs.rocshmem_free(ptr=q)
    for alignment in (8, 64, 4096, 1 << 16):
        a = rs.rocshmem_align(alignment=alignment, size=33)
        assert a % alignment == 0 and rs.rocshmem_ptr(a, RIGHT) % alignment == 0
        rs.rocshmem_free(a)
    assert rs.rocshmem_malloc(0) == 0
    assert rs.rocshmem_free(0) is None
    assert rs.rocshmemx_heap_info() == before


def case_wrong_allocations_say_why() -> None:
    heap, _, largest = rs.rocshmemx_heap_info()
    refused(f"rocshmem_malloc {heap + 1} {largest} {heap} ROCSHMEM_HEAP_SIZE", rs.rocshmem_malloc, heap + 1)
    refused("rocshmem_calloc count", rs.rocshmem_calloc, 0, 8)
    refused("rocshmem_calloc size", rs.rocshmem_calloc, 8, 0)
    refused("rocshmem_calloc", rs.rocshmem_calloc, 1 << 40, 1 << 40)
    refused("rocshmem_align alignment 24", rs.rocshmem_align, 24, 8)
    refused("rocshmem_align alignment 4", rs.rocshmem_align, 4, 8)
    refused("rocshmem_malloc size -1", rs.rocshmem_malloc, -1)
    refused("rocshmem_malloc size", rs.rocshmem_malloc, 1 << 64)
    refused("rocshmem_malloc size", rs.rocshmem_malloc, 1.5)
    p = rs.rocshmem_malloc(64)
    refused("rocshmem_free ptr", rs.rocshmem_free, p + 8)
    rs.rocshmem_free(p)
    refused("rocshmem_free ptr", rs.rocshmem_free, p)
    rs.rocshmem_barrier_all()


def case_ptr_reaches_every_pe() -> None:
    p = zeroed(N)
    bases = rs.rocshmem_get_heap_bases(p)
    assert bases == [rs.rocshmem_ptr(p, pe) for pe in range(N)] == rs.rocshmem_get_peer_ptr_table(p)
    assert bases[ME] == p and 0 not in bases and len(set(bases)) == N
    own = zeroed(1)
    poke(own, bytes([ME + 1]))
    for pe in range(N):
        if ON_GPU:
            rs.rocshmem_getmem(bases[pe] + ME, own, 1, ME)  # an address for the device: the local side of a copy
        else:
            ctypes.memset(bases[pe] + ME, ME + 1, 1)
    rs.rocshmem_barrier_all()
    assert peek(p, N) == bytes(range(1, N + 1))
    rs.rocshmem_free(own)
    local = Local(8)
    assert rs.rocshmem_ptr(dest=local.ptr, pe=0) == 0
    refused(f"rocshmem_ptr pe {N}", rs.rocshmem_ptr, p, N)
    refused("rocshmem_ptr pe -1", rs.rocshmem_ptr, p, -1)
    rs.rocshmem_free(p)


def case_buffers_are_registered_and_forgotten() -> None:
    local = Local(pattern(4096, ME))
    p = zeroed(4096)
    assert rs.rocshmem_buffer_register(addr=local.ptr, length=4096) == 0
    assert rs.rocshmem_buffer_register(local.ptr + 4095, 2) != 0
    assert rs.rocshmem_buffer_register(0, 10) != 0
    assert rs.rocshmem_buffer_register(local.ptr, 0) != 0
    rs.rocshmem_putmem(p, local.ptr, 4096, RIGHT)
    rs.rocshmem_barrier_all()
    assert peek(p, 4096) == pattern(4096, LEFT)
    assert rs.rocshmem_buffer_unregister(addr=local.ptr + 77) == 0
    assert rs.rocshmem_buffer_unregister(local.ptr) != 0
    assert rs.rocshmem_buffer_register(local.ptr, 10) == 0
    assert rs.rocshmem_buffer_unregister_all() is None
    assert rs.rocshmem_buffer_unregister(local.ptr) != 0
    rs.rocshmem_free(p)


def case_symmetric_buffers_put_get_and_show_peers() -> None:
    with rs.rocshmem_create_buffer(1000) as buf, rs.SymmetricBuffer(1000) as other:
        poke(other, pattern(1000, ME))
        buf.put(other, 1000, RIGHT)
        rs.rocshmem_barrier_all()
        assert peek(buf, 1000) == pattern(1000, LEFT)
        buf.get(other, 500, LEFT)
        assert peek(buf, 500) == pattern(1000, LEFT)[:500]
        assert buf.get_remote_ptr(RIGHT) == rs.rocshmem_ptr(buf, RIGHT)
        peer = rs.rocshmem_get_peer_buffer(other, RIGHT)
        if ON_GPU:
            refused("", memoryview, peer)
            buf.put(peer, 1000, ME)
            assert peek(buf, 1000) == pattern(1000, RIGHT)
        else:
            assert bytes(memoryview(peer).cast("B")) == pattern(1000, RIGHT)
        assert (peer is other) == (RIGHT == ME)
        del peer
        rs.rocshmem_barrier_all()


def case_dropped_memory_is_released_by_all_or_not_at_all() -> None:
    before = rs.rocshmemx_heap_info()
    buf = rs.SymmetricBuffer(5000)
    keep = buf if ME == 0 else None
    ptr = buf.ptr
    del buf
    rs.rocshmem_barrier_all()
    other = rs.SymmetricBuffer(5000)
    assert other.ptr != ptr  # PE 0 has not dropped it
    other.free()
    del keep
    last = rs.SymmetricBuffer(5000)
    assert last.ptr == ptr
    last.free()
    settle()
    assert rs.rocshmemx_heap_info() == before


# --- transfers --------------------------------------------------------------------------------------------------------

SIZES = (0, 1, 3, 8, 63, 64, 65, 1000, 4097, 65537, 1 << 20)


def case_put_and_get_move_every_size_to_every_pe() -> None:
    p = zeroed((1 << 20) + 8)
    for n in SIZES:
        for shift in (0, 1, 7):
            data = pattern(n, n * 10 + ME)
            source = Local(data + b"x")
            rs.rocshmem_barrier_all()
            rs.rocshmem_putmem(p + shift, source.ptr, n, RIGHT)
            rs.rocshmem_barrier_all()
            assert peek(p + shift, n) == pattern(n, n * 10 + LEFT)
            for pe in range(N):
                back = Local(n + 1)
                rs.rocshmem_getmem(dest=back.ptr, source=p + shift, nelems=n, pe=pe)
                assert back.bytes()[:n] == pattern(n, n * 10 + (pe - 1) % N)
    rs.rocshmem_barrier_all()
    rs.rocshmem_free(p)


def case_nbi_transfers_are_complete_after_quiet() -> None:
    p, q = zeroed(1 << 16), zeroed(1 << 16)
    data = Local(pattern(1 << 16, ME))
    for k in range(16):
        rs.rocshmem_putmem_nbi(p + k * 4096, data.ptr + k * 4096, 4096, RIGHT)
    rs.rocshmem_fence()
    rs.rocshmem_quiet()
    rs.rocshmem_barrier_all()
    assert peek(p, 1 << 16) == pattern(1 << 16, LEFT)
    for k in range(16):
        rs.rocshmem_getmem_nbi(dest=q + k * 4096, source=p + k * 4096, nelems=4096, pe=LEFT)
    rs.rocshmem_quiet()
    assert peek(q, 1 << 16) == pattern(1 << 16, (LEFT - 1) % N)
    rs.rocshmem_barrier_all()
    rs.rocshmem_free(p)
    rs.rocshmem_free(q)


def case_wrong_transfers_name_function_argument_and_value() -> None:
    p, local = zeroed(64), Local(128)
    for name in ("putmem", "putmem_nbi"):
        put = getattr(rs, f"rocshmem_{name}")
        refused(f"rocshmem_{name} pe {N}", put, p, local.ptr, 8, N)
        refused(f"rocshmem_{name} pe -1", put, p, local.ptr, 8, -1)
        refused(f"rocshmem_{name} dest {local.ptr:#x}", put, local.ptr, p, 8, 0)
        refused(f"rocshmem_{name} dest 65", put, p, local.ptr, 65, 0)
        refused(f"rocshmem_{name} nelems -1", put, p, local.ptr, -1, 0)
        refused(f"rocshmem_{name} dest", put, "p", local.ptr, 8, 0)
        refused(f"rocshmem_{name}", put, p, local.ptr, 8)
        refused(f"rocshmem_{name} nonsense", put, p, local.ptr, 8, 0, nonsense=1)
    for name in ("getmem", "getmem_nbi"):
        get = getattr(rs, f"rocshmem_{name}")
        refused(f"rocshmem_{name} source {local.ptr:#x}", get, p, local.ptr, 8, 0)
        refused(f"rocshmem_{name} source 65", get, local.ptr, p, 65, 0)
        refused(f"rocshmem_{name} pe", get, local.ptr, p, 8, 1 << 40)
    rs.rocshmem_barrier_all()
    assert peek(p, 64) == bytes(64)
    rs.rocshmem_free(p)
    refused("rocshmem_putmem dest", rs.rocshmem_putmem, p, local.ptr, 8, 0)


# --- streams ----------------------------------------------------------------------------------------------------------


class TorchLike:
    def __init__(self, stream: int) -> None:
        self.cuda_stream = stream


class CupyLike:
    def __init__(self, stream: int) -> None:
        self.ptr = stream


class CudaLike:
    def __init__(self, stream: int) -> None:
        self.stream = stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.stream


def case_any_form_of_a_stream_orders_transfers() -> None:
    own = rs.rocshmemx_stream_create()
    p, got = zeroed(1 << 17), Local(1 << 17)
    for i, stream in enumerate((None, 0, own, TorchLike(own), CupyLike(own), CudaLike(own), TorchLike(0))):
        n = 1 << (17 if i % 2 else 10)
        data = Local(pattern(n, 100 * i + ME))
        rs.rocshmem_putmem_on_stream(p, data.ptr, n, RIGHT, stream)
        rs.rocshmem_barrier_all_on_stream(stream)
        rs.rocshmem_getmem_on_stream(dest=got.ptr, source=p, nelems=n, pe=RIGHT, stream=stream)
        rs.rocshmem_sync_all_on_stream(stream=stream)
        rs.rocshmemx_stream_synchronize(stream)
        assert rs.rocshmemx_stream_query(stream)
        assert got.bytes()[:n] == data.bytes()
        assert peek(p, n) == pattern(n, 100 * i + LEFT)
        rs.rocshmem_barrier_all()
    rs.rocshmemx_stream_destroy(own)
    refused("rocshmem_putmem_on_stream stream", rs.rocshmem_putmem_on_stream, p, got.ptr, 8, ME, own)
    refused("rocshmem_putmem_on_stream stream", rs.rocshmem_putmem_on_stream, p, got.ptr, 8, ME, "default")
    rs.rocshmem_free(p)


def case_signals_on_streams_set_add_and_are_waited_for() -> None:
    stream = rs.rocshmemx_stream_create()
    p, sig = zeroed(1 << 16), zeroed(64)
    for i, n in enumerate((0, 1, 4097, 1 << 16), start=1):
        data = Local(pattern(n, i * 10 + ME) + b"x")
        rs.rocshmem_putmem_signal_on_stream(p, data.ptr, n, sig, i, rs.ROCSHMEM_SIGNAL_SET, RIGHT, stream)
        rs.rocshmem_signal_wait_until_on_stream(sig, rs.ROCSHMEM_CMP_GE, i, stream)
        rs.rocshmemx_stream_synchronize(stream)
        assert peek(p, n) == pattern(n, i * 10 + LEFT)
        rs.rocshmem_putmem_signal_on_stream(
            dest=p, source=data.ptr, nelems=0, sig_addr=sig + 8, signal=2, sig_op=rs.ROCSHMEM_SIGNAL_ADD, pe=RIGHT,
            stream=None,
        )  # fmt: skip
        rs.rocshmem_signal_wait_until_on_stream(sig_addr=sig + 8, cmp=rs.ROCSHMEM_CMP_EQ, cmp_value=2 * i, stream=0)
        rs.hip_device_synchronize()
        rs.rocshmem_barrier_all()
    for cmp, before, after, value in (
        (rs.ROCSHMEM_CMP_EQ, 1, 5, 5), (rs.ROCSHMEM_CMP_NE, 5, 6, 5), (rs.ROCSHMEM_CMP_GT, 5, 2**64 - 1, 5),
        (rs.ROCSHMEM_CMP_GE, 4, 5, 5), (rs.ROCSHMEM_CMP_LT, 2**64 - 1, 1, 5), (rs.ROCSHMEM_CMP_LE, 6, 5, 5),
    ):  # fmt: skip
        rs.rocshmem_uint64_atomic_set(sig, before, ME)
        rs.rocshmem_barrier_all()
        rs.rocshmem_signal_wait_until_on_stream(sig, cmp, value, stream)
        assert not rs.rocshmemx_stream_query(stream)
        rs.rocshmem_barrier_all()
        rs.rocshmem_uint64_atomic_set(sig, after, RIGHT)
        rs.rocshmemx_stream_synchronize(stream)
        rs.rocshmem_barrier_all()
    refused("rocshmem_signal_wait_until_on_stream cmp 6", rs.rocshmem_signal_wait_until_on_stream, sig, 6, 0, stream)
    refused(
        "rocshmem_putmem_signal_on_stream sig_op 2", rs.rocshmem_putmem_signal_on_stream, p, p, 0, sig, 1, 2, 0, stream
    )
    rs.rocshmemx_stream_destroy(stream)
    rs.rocshmem_free(p)
    rs.rocshmem_free(sig)


def case_collectives_on_streams_move_blocks() -> None:
    stream = rs.rocshmemx_stream_create()
    for block in (1, 8, 1000, 70000):
        dest, source = zeroed(N * block), zeroed(N * block)
        poke(source, b"".join(pattern(block, ME * 100 + pe) for pe in range(N)))
        rs.rocshmem_alltoallmem_on_stream(rs.ROCSHMEM_TEAM_WORLD, dest, source, block, stream)
        rs.rocshmemx_stream_synchronize(stream)
        assert peek(dest, N * block) == b"".join(pattern(block, pe * 100 + ME) for pe in range(N))
        rs.rocshmem_barrier_all()
        for team in (rs.ROCSHMEM_TEAM_SHARED, rs.ROCSHMEM_TEAM_WORLD):
            for root in range(rs.rocshmem_team_n_pes(team)):
                rs.rocshmem_broadcastmem_on_stream(
                    team=team, dest=dest, source=source, nbytes=block, pe_root=root, stream=stream
                )
                rs.rocshmem_team_sync_on_stream(team, stream)
                rs.rocshmemx_stream_synchronize(stream)
                pe = rs.rocshmem_team_translate_pe(team, root, rs.ROCSHMEM_TEAM_WORLD)
                assert peek(dest, block) == pattern(block, pe * 100)
                rs.rocshmem_team_sync(team)
        rs.rocshmem_barrier_all()
        rs.rocshmem_free(dest)
        rs.rocshmem_free(source)
    none = rs.ROCSHMEM_TEAM_INVALID
    assert rs.rocshmem_alltoallmem_on_stream(none, 0, 0, 8, stream) is None
    assert rs.rocshmem_broadcastmem_on_stream(none, 0, 0, 8, 0, stream) is None
    assert rs.rocshmem_barrier_on_stream(none, stream) is None
    assert rs.rocshmem_team_sync_on_stream(team=none, stream=stream) is None
    rs.rocshmemx_stream_destroy(stream)
    p = zeroed(64)
    refused(f"rocshmem_broadcastmem_on_stream pe_root {N}", rs.rocshmem_broadcastmem_on_stream, 0, p, p, 8, N, None)
    refused("rocshmem_barrier_on_stream team 4711", rs.rocshmem_barrier_on_stream, 4711, None)
    rs.rocshmem_free(p)


# --- order and teams --------------------------------------------------------------------------------------------------


def case_barriers_and_syncs_wait_for_all() -> None:
    word = zeroed(8)
    team_world = rs.ROCSHMEM_TEAM_WORLD
    calls: list[Callable[[], object]] = [
        rs.rocshmem_barrier_all, rs.rocshmem_sync_all, lambda: rs.rocshmem_barrier(team_world),
        lambda: rs.rocshmem_team_sync(team=rs.ROCSHMEM_TEAM_SHARED),
    ]  # fmt: skip
    for i in range(200):
        rs.rocshmem_uint64_atomic_inc(word, RIGHT)
        calls[i % 4]()
        assert i + 1 <= rs.rocshmem_uint64_atomic_fetch(word, ME) <= i + 2
        rs.rocshmem_sync_all()
    error = refused("rocshmem_barrier team INVALID", rs.rocshmem_barrier, rs.ROCSHMEM_TEAM_INVALID)
    assert isinstance(error, ValueError)
    assert isinstance(refused("rocshmem_team_sync team", rs.rocshmem_team_sync, -1), ValueError)
    assert isinstance(refused("rocshmem_barrier team 4711", rs.rocshmem_barrier, 4711), ValueError)
    rs.rocshmem_barrier_all()
    rs.rocshmem_free(word)


def case_teams_split_translate_and_end() -> None:
    half = (N + 1) // 2
    status, even = rs.rocshmem_team_split_strided(rs.ROCSHMEM_TEAM_WORLD, 0, 2, half)
    assert status == 0
    if ME % 2 == 0:
        assert even > 0 and even in rs._live_teams
        assert (rs.rocshmem_team_my_pe(even), rs.rocshmem_team_n_pes(even)) == (ME // 2, half)
        assert rs.rocshmem_team_translate_pe(even, half - 1, 0) == 2 * (half - 1)
        assert rs.rocshmem_team_translate_pe(src_team=0, src_pe=ME, dest_team=even) == ME // 2
        rs.rocshmem_barrier(even)
        rs.rocshmem_team_sync(even)
        status, inner = rs.rocshmem_team_split_strided(even, 0, 1, 1)
        assert status == 0 and rs.rocshmem_team_my_pe(inner) == (0 if ME == 0 else -1)
        rs.rocshmem_team_destroy(inner)
        rs.rocshmem_barrier_on_stream(even, None)
        rs.rocshmemx_stream_synchronize()
    else:
        assert even == rs.ROCSHMEM_TEAM_INVALID and rs.rocshmem_team_my_pe(even) == -1
        assert rs.rocshmem_team_translate_pe(0, ME, even) == -1
    rs.rocshmem_team_destroy(even)
    assert not rs._live_teams
    if even == rs.ROCSHMEM_TEAM_INVALID:
        assert rs.rocshmem_team_n_pes(even) == -1
    else:
        for function in (rs.rocshmem_team_n_pes, rs.rocshmem_team_my_pe):
            refused(f"{function.__name__} team {even}", function, even)
        refused("rocshmem_team_translate_pe dest_team", rs.rocshmem_team_translate_pe, 0, ME, even)
        refused("rocshmem_team_translate_pe src_team", rs.rocshmem_team_translate_pe, even, 0, 0)


def case_raw_teams_are_plain_handles() -> None:
    config = rs.TeamConfig()
    config.num_contexts = 3
    assert config.num_contexts == 3
    status, team = raw.rocshmem_team_split_strided(
        parent=0, start=0, stride=1, size=max(1, N - 1), config=config, mask=1
    )
    assert status == 0 and (team == 0) == (N > 1 and ME == N - 1)
    if team:
        assert raw.rocshmem_team_n_pes(team) == max(1, N - 1)
        raw.rocshmem_team_destroy(team)
        assert isinstance(refused("rocshmem_team_destroy team", raw.rocshmem_team_destroy, team), ValueError)
        rs.rocshmem_team_destroy(team)  # here a no-op with a warning
    assert isinstance(refused("rocshmem_team_destroy team", raw.rocshmem_team_destroy, 99999), ValueError)
    for special in (rs.ROCSHMEM_TEAM_WORLD, rs.ROCSHMEM_TEAM_INVALID, rs.ROCSHMEM_TEAM_SHARED):
        assert raw.rocshmem_team_destroy(special) is None
    status, team = raw.rocshmem_team_split_strided(0, 0, 1, N + 1)
    assert status != 0 and team == 0
    status, team = rs.rocshmem_team_split_strided(rs.ROCSHMEM_TEAM_INVALID, 0, 1, 1)
    assert status != 0 and team == rs.ROCSHMEM_TEAM_INVALID
    rs.rocshmem_barrier_all()


# --- atomics ----------------------------------------------------------------------------------------------------------

#: name -> (bytes, kind): kind is s(igned), u(nsigned) or f(loat)
TYPES = {
    "int": (4, "s"), "long": (8, "s"), "longlong": (8, "s"), "uint": (4, "u"), "ulong": (8, "u"),
    "ulonglong": (8, "u"), "int32": (4, "s"), "int64": (8, "s"), "uint32": (4, "u"), "uint64": (8, "u"),
    "size": (8, "u"), "ptrdiff": (8, "s"), "float": (4, "f"), "double": (8, "f"),
}  # fmt: skip
INTEGERS = [name for name, (_, kind) in TYPES.items() if kind != "f"]
BITWISE = ["int32", "int64", "uint32", "uint64", "uint", "ulong", "ulonglong"]


def amo(name: str, op: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(rs, f"rocshmem_{name}_atomic_{op}")
    return function


def wrap(name: str, value: int) -> int:
    nbytes, kind = TYPES[name]
    value &= (1 << 8 * nbytes) - 1
    return value - (1 << 8 * nbytes) if kind == "s" and value >> (8 * nbytes - 1) else value


def case_the_whole_matrix_of_atomics_exists() -> None:
    ops = {op: list(TYPES) for op in ("fetch", "set", "swap")}
    ops |= dict.fromkeys(("compare_swap", "fetch_add", "fetch_inc", "add", "inc"), INTEGERS)
    ops |= dict.fromkeys(("fetch_and", "fetch_or", "fetch_xor", "and", "or", "xor"), BITWISE)
    expected = sorted(f"rocshmem_{name}_atomic_{op}" for op, names in ops.items() for name in names)
    assert list(rs._AMO_NAMES) == expected and len(expected) == 144


def case_every_integer_atomic_does_what_its_name_says_and_wraps() -> None:
    word = zeroed(16)
    for name in INTEGERS:
        nbytes, kind = TYPES[name]
        top = (1 << (8 * nbytes - (kind == "s"))) - 1
        bottom = wrap(name, top + 1)
        rs.rocshmem_barrier_all()
        for pe in range(N) if ME == 0 else ():
            poke(word, bytes(16), pe)
            assert amo(name, "fetch")(word, pe) == 0
            assert amo(name, "set")(dest=word, value=top, pe=pe) is None
            assert amo(name, "swap")(word, bottom, pe=pe) == top
            assert amo(name, "fetch_add")(word, -1 if kind == "s" else top, pe) == bottom
            assert amo(name, "fetch")(dest=word, pe=pe) == top
            assert amo(name, "fetch_inc")(word, pe) == top
            assert amo(name, "compare_swap")(word, 1, 5, pe) == bottom
            assert amo(name, "compare_swap")(dest=word, cond=bottom, value=5, pe=pe) == bottom
            assert amo(name, "inc")(word, pe) is None
            assert amo(name, "add")(word, 10, pe) is None
            assert amo(name, "fetch")(word, pe) == 16
            if name in BITWISE:
                assert amo(name, "or")(word, 0x21, pe) is None
                assert amo(name, "fetch_or")(word, 2, pe) == 0x31
                assert amo(name, "and")(word, 0x13, pe) is None
                assert amo(name, "fetch_and")(dest=word, value=0x12, pe=pe) == 0x13
                assert amo(name, "xor")(word, 0xFF, pe) is None
                assert amo(name, "fetch_xor")(word, top, pe) == 0xED
                assert amo(name, "fetch")(word, pe) == wrap(name, 0xED ^ top)
            assert peek(word + nbytes, 16 - nbytes, pe) == bytes(16 - nbytes)
    rs.rocshmem_barrier_all()
    rs.rocshmem_free(word)


def case_floating_point_atomics_keep_every_value() -> None:
    word = zeroed(16)
    for name, exact in (("float", 0.5), ("double", 0.1)):
        rs.rocshmem_barrier_all()
        for pe in range(N) if ME == 0 else ():
            amo(name, "set")(word, exact, pe)
            assert amo(name, "swap")(word, -0.0, pe) == exact
            assert math.copysign(1, amo(name, "fetch")(word, pe)) == -1
            amo(name, "set")(word, math.inf, pe)
            assert amo(name, "swap")(word, math.nan, pe) == math.inf
            assert math.isnan(amo(name, "swap")(word, 3, pe))
            assert amo(name, "fetch")(word, pe) == 3.0
    rs.rocshmem_barrier_all()
    rs.rocshmem_free(word)


def case_contended_atomics_have_exact_sums() -> None:
    for name in INTEGERS:
        words, rounds = zeroed(64), 10 if ON_GPU else 50
        nbytes = TYPES[name][0]
        for _ in range(rounds):
            amo(name, "add")(words, 3, 0)
            amo(name, "inc")(words + nbytes, 0)
            amo(name, "fetch_add")(words + 2 * nbytes, 2, 0)
            amo(name, "fetch_inc")(words + 3 * nbytes, 0)
            want = 0
            while (got := amo(name, "compare_swap")(words + 4 * nbytes, want, want + 1, 0)) != want:
                want = got
        rs.rocshmem_barrier_all()
        sums = [amo(name, "fetch")(words + i * nbytes, 0) for i in range(5)]
        assert sums == [k * rounds * N for k in (3, 1, 2, 1, 1)], (name, sums)
        rs.rocshmem_barrier_all()
        rs.rocshmem_free(words)


def case_values_outside_the_type_overflow() -> None:
    word = zeroed(16)
    for name in INTEGERS:
        nbytes, kind = TYPES[name]
        top = (1 << (8 * nbytes - (kind == "s"))) - 1
        bottom = -top - 1 if kind == "s" else 0
        for op in ("set", "swap", "add", "fetch_add"):
            for value in (top + 1, bottom - 1, 1 << 100, -(1 << 100)):
                error = refused(f"rocshmem_{name}_atomic_{op} value", amo(name, op), word, value, 0)
                assert isinstance(error, OverflowError), error
        assert isinstance(refused("cond", amo(name, "compare_swap"), word, top + 1, 0, 0), OverflowError)
        refused("value", amo(name, "set"), word, "1", 0)
        refused("value", amo(name, "set"), word, 1.0, 0)
    refused("rocshmem_int_atomic_inc dest", rs.rocshmem_int_atomic_inc, word + 1, 0)
    refused(f"rocshmem_int_atomic_inc pe {N}", rs.rocshmem_int_atomic_inc, word, N)
    refused("rocshmem_double_atomic_set value", rs.rocshmem_double_atomic_set, word, None, 0)
    rs.rocshmem_barrier_all()
    assert peek(word, 16) == bytes(16)
    rs.rocshmem_free(word)


# --- threads ----------------------------------------------------------------------------------------------------------


def case_two_threads_meet_in_two_teams_at_the_same_time() -> None:
    teams = [rs.rocshmem_team_split_strided(0, 0, 1, N)[1] for _ in range(2)]
    words, failures = zeroed(16), []

    def meet(i: int) -> None:
        try:
            for k in range(200):
                rs.rocshmem_uint64_atomic_inc(words + 8 * i, RIGHT)
                rs.rocshmem_barrier(teams[i])
                assert k + 1 <= rs.rocshmem_uint64_atomic_fetch(words + 8 * i, ME) <= k + 2
        except BaseException:
            failures.append(traceback.format_exc())

    threads = [threading.Thread(target=meet, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    rs.rocshmem_barrier_all()
    for team in teams:
        rs.rocshmem_team_destroy(team)
    rs.rocshmem_free(words)


def case_two_streams_have_collectives_of_one_team_in_flight() -> None:
    streams = [rs.rocshmemx_stream_create() for _ in range(2)]
    word, own = zeroed(8), zeroed(8)
    for i in range(1000):
        stream = streams[i * 7 // 3 % 2]
        if i % 50 == 0:
            rs.rocshmem_putmem_signal_on_stream(own, own, 0, word, 1, rs.ROCSHMEM_SIGNAL_ADD, RIGHT, stream)
        rs.rocshmem_barrier_all_on_stream(stream)
    for stream in streams:
        rs.rocshmemx_stream_destroy(stream)
    assert rs.rocshmem_uint64_atomic_fetch(word, ME) == 20
    rs.rocshmem_barrier_all()
    rs.rocshmem_free(word)
    rs.rocshmem_free(own)


def case_a_thread_may_wait_while_another_calls() -> None:
    """The GIL is given up by whatever blocks: a waiting thread does not stop the one that it waits for."""
    word, seen = zeroed(8), []
    stream = rs.rocshmemx_stream_create()
    rs.rocshmem_signal_wait_until_on_stream(word, rs.ROCSHMEM_CMP_EQ, 1, stream)
    waiter = threading.Thread(target=lambda: seen.append(rs.rocshmemx_stream_synchronize(stream)))
    waiter.start()
    rs.rocshmem_uint64_atomic_set(word, 1, ME)
    waiter.join(20)
    assert seen == [None]
    rs.rocshmemx_stream_destroy(stream)
    rs.rocshmem_free(word)


CASES = {name.removeprefix("case_"): case for name, case in list(globals().items()) if name.startswith("case_")}


def main(wanted: list[str]) -> None:
    global ME, N, RIGHT, LEFT
    rs.rocshmem_init()
    ME, N = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
    RIGHT, LEFT = (ME + 1) % N, (ME - 1) % N
    for name, case in CASES.items():
        if wanted and name not in wanted:
            continue
        before = rs.rocshmemx_heap_info()
        try:
            case()
            settle()
            assert rs.rocshmemx_heap_info() == before, f"heap was {before}, is {rs.rocshmemx_heap_info()}"
        except BaseException:
            sys.stdout.write(f"RESULT {ME} {name} {json.dumps(traceback.format_exc())}\n")
            sys.stdout.flush()
            os._exit(1)  # this PE may be out of step: the others find out, and the cases that are left get a new job
        sys.stdout.write(f"RESULT {ME} {name} ok\n")
        sys.stdout.flush()
    rs.rocshmem_finalize()


if __name__ == "__main__":
    main(sys.argv[1:])
