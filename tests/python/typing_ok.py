# SPDX-License-Identifier: MIT
"""What a type checker must accept. Never run: tests/python/test_typing.py gives it to mypy --strict."""

from typing import assert_type

import _rocshmem4py as r
import rocshmem4py as rs
from rocshmem4py import Context, RocshmemArgumentError, RocshmemError, SymmetricBuffer, rocshmem_putmem


class Handle:
    def __index__(self) -> int:
        return 1


class CudaStream:
    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, 1)


class TorchStream:
    @property
    def cuda_stream(self) -> int:
        return 1


class CupyStream:
    ptr: int = 1


def job() -> None:
    r.rocshmem_init()
    r.rocshmem_init_attr(rank=0, nranks=1, uid=r.rocshmem_get_uniqueid())
    assert_type(r.rocshmem_my_pe(), int)
    assert_type(r.rocshmem_get_uniqueid(), bytes)
    assert_type(r.rocshmemx_initialized(), bool)
    assert_type(r.rocshmemx_allocation(1), tuple[int, int] | None)
    assert_type(r.rocshmemx_get_stats(), dict[str, int])
    r.rocshmemx_print_info(1, "support")
    r.rocshmemx_print_info(fd=1)
    r.rocshmem_finalize()


def memory_and_transfers() -> None:
    p = assert_type(r.rocshmem_malloc(Handle()), int)
    q = r.rocshmem_align(alignment=64, size=8)
    r.rocshmem_putmem(p, q, 8, 0)
    rocshmem_putmem(dest=Handle(), source=q, nelems=8, pe=True)
    for stream in (None, 0, Handle()):
        r.rocshmem_putmem_on_stream(p, q, 8, 0, stream)
    r.rocshmem_getmem_on_stream(p, q, 8, 0, CudaStream())
    r.rocshmem_getmem_on_stream(p, q, 8, 0, TorchStream())
    r.rocshmem_getmem_on_stream(p, q, 8, 0, CupyStream())
    r.rocshmem_signal_wait_until_on_stream(p, r.ROCSHMEM_CMP_GE, 2**64 - 1, stream=None)


def teams() -> None:
    config = r.TeamConfig()
    config.num_contexts = 2
    status, team = r.rocshmem_team_split_strided(0, 0, 1, 1, config, mask=1)
    assert_type(status, int)
    r.rocshmem_team_destroy(team)


def atomics() -> None:
    assert_type(r.rocshmem_int_atomic_fetch_add(8, 1, 0), int)
    assert_type(r.rocshmem_double_atomic_swap(8, 1, 0), float)
    assert_type(r.rocshmem_float_atomic_set(8, 1.5, 0), None)
    r.rocshmem_ulonglong_atomic_compare_swap(dest=8, cond=0, value=1, pe=0)


def contexts_and_types(buf: SymmetricBuffer) -> None:
    assert_type(r.rocshmem_info_get_version(), tuple[int, int])
    ctx = assert_type(r.rocshmem_ctx_create(options=r.ROCSHMEM_CTX_SHARED), int)
    r.rocshmem_ctx_putmem(ctx, buf, Handle(), 8, pe=0)
    with Context(0) as context:
        context.put(buf, buf, 0)
        r.rocshmem_ctx_quiet(context)
        assert_type(context.team, int)
    assert_type(r.rocshmem_signal_wait_until(buf, 0, 1), int)
    assert_type(r.rocshmem_team_split_2d(0, 2, yaxis_config=r.TeamConfig()), tuple[int, int, int])
    assert_type(rs.rocshmem_team_split_2d(0, xrange=2), tuple[int, int, int])
    assert_type(r.rocshmem_team_get_config(0, 1), r.TeamConfig)
    r.rocshmemx_reduce(0, buf, buf, nreduce=2, dtype="float", op="sum")
    r.rocshmemx_reduce_on_stream(0, buf, buf, 2, "float", "sum", CudaStream())
    r.rocshmemx_p(buf, 1.5, 0, "double")
    assert_type(r.rocshmemx_test(buf, 0, 1, "int"), bool)
    assert_type(r.rocshmemx_test_any(buf, 8, 0, 0, 1, "int"), int | None)
    assert_type(r.rocshmemx_wait_until_some_vector(buf, 8, 0, 0, buf, "int"), list[int])
    rs.reduce(buf, buf, "max", team=0, stream=None)
    rs.fcollect(buf, buf)
    rs.wait_until(buf, ">=", 1)


def views(buf: SymmetricBuffer) -> None:
    m = r._Memory(0, 0, own_data=False)
    part = r._Memory(ptr=m.ptr, nbytes=0, own_data=False, owner=m)
    memoryview(part)[0] = 1
    bytes(buf)
    int(m)
    r.rocshmem_ptr(buf, 0)
    m.__dlpack__(stream=None, max_version=(1, 0), copy=False)
    assert_type(m.__dlpack_device__(), tuple[int, int])


def errors() -> None:
    try:
        r.rocshmem_quiet()
    except RocshmemArgumentError as error:
        assert_type(error.pe, int)
        as_value: ValueError = error
        print(as_value)
    except RocshmemError as error:
        assert_type((error.op, error.status == r.ROCSHMEMX_E_PEER), tuple[str, bool])
