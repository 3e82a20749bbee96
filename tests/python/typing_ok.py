# SPDX-License-Identifier: MIT
"""What a type checker must accept. Never run: tests/python/test_typing.py gives it to mypy --strict."""

from typing import assert_type

import _rocshmem4py as r
from rocshmem4py import RocshmemArgumentError, RocshmemError, SymmetricBuffer, rocshmem_putmem


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
