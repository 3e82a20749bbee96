# SPDX-License-Identifier: MIT
"""What a type checker must refuse: each marked line, for the reason in its mark. Never run; see test_typing.py.

mypy --strict accepts the file as it is: it refuses a mark that hides nothing.
"""

import _rocshmem4py as r
import rocshmem4py as rs
from rocshmem4py import SymmetricBuffer


class Stream:
    handle = 1


def wrong_types(buf: SymmetricBuffer) -> None:
    r.rocshmem_malloc("8")  # type: ignore[arg-type]
    r.rocshmem_malloc(8.0)  # type: ignore[arg-type]
    r.rocshmem_malloc(None)  # type: ignore[arg-type]
    r.rocshmem_putmem(b"dest", 1, 8, 0)  # type: ignore[arg-type]
    r.rocshmem_putmem(buf, buf, 8, pe="0")  # type: ignore[arg-type]
    r.rocshmem_init_attr(0, 1, "uid")  # type: ignore[arg-type]
    r.rocshmem_init_attr(0, 1, bytearray(128))  # type: ignore[arg-type]
    r.rocshmem_barrier_all_on_stream(Stream())  # type: ignore[arg-type]
    r.rocshmem_barrier_all_on_stream("0")  # type: ignore[arg-type]
    r.rocshmem_team_split_strided(0, 0, 1, 1, config=3)  # type: ignore[arg-type]
    r.rocshmem_int_atomic_set(8, 1.5, 0)  # type: ignore[arg-type]
    r.rocshmem_double_atomic_set(8, "1.5", 0)  # type: ignore[arg-type]
    r.rocshmemx_print_info(1, 2)  # type: ignore[arg-type]
    r.rocshmemx_reduce(0, buf, buf, 2, 4, "sum")  # type: ignore[arg-type]
    r.rocshmemx_wait_until(buf, "==", 1, "int")  # type: ignore[arg-type]
    r.rocshmem_team_split_2d(0, 2, 3)  # type: ignore[arg-type]
    rs.reduce(buf, buf, 0)  # type: ignore[arg-type]
    rs.reduce(buf, buf, team="world")  # type: ignore[arg-type]
    rs.Context(options=None)  # type: ignore[arg-type]


def wrong_calls() -> None:
    r.rocshmem_putmem(1, 2, 3)  # type: ignore[call-arg]
    r.rocshmem_putmem(1, 2, 3, 0, 0)  # type: ignore[call-arg]
    r.rocshmem_putmem(1, 2, nbytes=3, pe=0)  # type: ignore[call-arg]
    r.rocshmem_init(0)  # type: ignore[call-arg]
    r.rocshmemx_p(8, 1, 0)  # type: ignore[call-arg]
    rs.broadcast(8, 8)  # type: ignore[call-arg]
    rs.reduce_scatter(8, 8, stream=0)  # type: ignore[call-arg]
    r.TeamConfig(1)  # type: ignore[call-arg]
    r.rocshmem_float_atomic_fetch_add(8, 1.0, 0)  # type: ignore[attr-defined]
    r.rocshmem_int_atomic_fetch_and(8, 1, 0)  # type: ignore[attr-defined]
    r.rocshmem_nosuch()  # type: ignore[attr-defined]


def wrong_use(buf: SymmetricBuffer) -> None:
    r.rocshmem_my_pe() + "text"  # type: ignore[operator]
    r.rocshmem_team_split_strided(0, 0, 1, 1) + 1  # type: ignore[operator]
    r.TeamConfig().num_contexts = "2"  # type: ignore[assignment]
    r.ROCSHMEM_CMP_EQ = 1  # type: ignore[misc]
    r._Memory(0, 0, True).ptr = 1  # type: ignore[misc]
    r._Memory(0, 0, True).nosuch()  # type: ignore[attr-defined]
    r._Memory(0, 0, True, 5)  # type: ignore[arg-type]
    r._Memory(0, 0, True).__dlpack__(copy=1)  # type: ignore[arg-type]
