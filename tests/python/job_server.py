# SPDX-License-Identifier: MIT
"""A job that executes what test_jobs_property.py thinks up.

PE 0 reads a line of JSON from stdin: a list of operations [actor, kind, target, dest, source, nbytes], or nothing more.
The operations are executed one after the other, each by its actor, with a barrier behind each. Each PE has symmetric
memory and ordinary memory of ROOM bytes, filled with a pattern of its number at the beginning of each line. PE 0
answers with the memories of all PEs, as hexadecimal text: symmetric 0, ordinary 0, symmetric 1, ...
"""

from __future__ import annotations

import ctypes
import json
import random
import sys

from memory import peek, poke

import rocshmem4py as rs

ROOM = int(sys.argv[1])
PLAN_ROOM = 1 << 16


def start(pe: int, which: int) -> bytes:
    """What a memory holds at the beginning; test_jobs_property.py imports this too."""
    return random.Random(pe * 2 + which).randbytes(ROOM)


def run(op: list[int | str], symmetric: int, local: int, stream: int) -> None:
    _, kind, pe, dest, source, nbytes = op
    if kind == "put":
        rs.rocshmem_putmem(symmetric + dest, local + source, nbytes, pe)
    elif kind == "put_nbi":
        rs.rocshmem_putmem_nbi(symmetric + dest, local + source, nbytes, pe)
    elif kind == "put_on_stream":
        rs.rocshmem_putmem_on_stream(symmetric + dest, local + source, nbytes, pe, stream)
        rs.rocshmemx_stream_synchronize(stream)
    elif kind == "get":
        rs.rocshmem_getmem(local + dest, symmetric + source, nbytes, pe)
    elif kind == "get_nbi":
        rs.rocshmem_getmem_nbi(local + dest, symmetric + source, nbytes, pe)
        rs.rocshmem_quiet()
    elif kind == "get_on_stream":
        rs.rocshmem_getmem_on_stream(local + dest, symmetric + source, nbytes, pe, stream)
        rs.rocshmemx_stream_synchronize(stream)
    elif kind == "fetch_add":
        old = rs.rocshmem_uint64_atomic_fetch_add(symmetric + dest * 8, source, pe)
        poke(local + nbytes * 8, old.to_bytes(8, sys.byteorder))
    elif kind == "swap":
        old = rs.rocshmem_uint32_atomic_swap(symmetric + dest * 4, source, pe)
        poke(local + nbytes * 4, old.to_bytes(4, sys.byteorder))
    else:
        raise ValueError(kind)


def main() -> None:
    rs.rocshmem_init()
    me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
    symmetric, local, plan = (rs.SymmetricBuffer(size) for size in (ROOM, ROOM, PLAN_ROOM))
    stream = rs.rocshmemx_stream_create()
    while True:
        if me == 0:
            line = sys.stdin.readline().encode()
            assert len(line) < PLAN_ROOM, "the plan is too long"
            for pe in range(n):
                rs.rocshmem_putmem(plan, ctypes.addressof(text := ctypes.create_string_buffer(line)), len(line) + 1, pe)
        poke(symmetric, start(me, 0))
        poke(local, start(me, 1))
        rs.rocshmem_barrier_all()
        text = peek(plan, PLAN_ROOM).split(b"\0", 1)[0]
        if not text:
            break
        for op in json.loads(text):
            if op[0] == me:
                run(op, symmetric.ptr, local.ptr, stream)
            rs.rocshmem_barrier_all()
        if me == 0:
            memories = [peek(b, ROOM, pe) for pe in range(n) for b in (symmetric, local)]
            print(" ".join(memory.hex() for memory in memories), flush=True)
        rs.rocshmem_barrier_all()
    rs.rocshmemx_stream_destroy(stream)
    rs.rocshmem_finalize()


if __name__ == "__main__":
    main()
