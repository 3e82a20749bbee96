# SPDX-License-Identifier: MIT
"""What the tests of the extension share: the matrix that the API asks for, and arguments for each function."""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import os
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import _rocshmem4py as r
from conftest import job_env

# --- what the API asks for ---------------------------------------------------------------------------------------

BITWISE = ["int32", "int64", "uint32", "uint64", "uint", "ulong", "ulonglong"]
INTEGER = [*BITWISE, "int", "long", "longlong", "size", "ptrdiff"]
AMO = [*INTEGER, "float", "double"]
FETCHING = ("fetch", "swap", "compare_swap", "fetch_add", "fetch_inc", "fetch_and", "fetch_or", "fetch_xor")
OPS = {  # op: types, arguments
    **dict.fromkeys(["fetch"], (AMO, "dest pe")),
    **dict.fromkeys(["set", "swap"], (AMO, "dest value pe")),
    "compare_swap": (INTEGER, "dest cond value pe"),
    **dict.fromkeys(["fetch_add", "add"], (INTEGER, "dest value pe")),
    **dict.fromkeys(["fetch_inc", "inc"], (INTEGER, "dest pe")),
    **dict.fromkeys(["and", "or", "xor", "fetch_and", "fetch_or", "fetch_xor"], (BITWISE, "dest value pe")),
}
ATOMICS = {f"rocshmem_{t}_atomic_{op}": (t, op, a) for op, (types, a) in OPS.items() for t in types}
BITS = {t: 32 if t in ("int", "uint", "int32", "uint32") else 64 for t in INTEGER}
LIMITS = {
    t: (0, 2 ** BITS[t] - 1) if t.startswith("u") or t == "size" else (-(2 ** (BITS[t] - 1)), 2 ** (BITS[t] - 1) - 1)
    for t in INTEGER
}

# What each name holds: the largest range its C type has. A range of None is no int.
U64, I64, I32 = (0, 2**64 - 1), (-(2**63), 2**63 - 1), (-(2**31), 2**31 - 1)
RANGES: dict[str, tuple[int, int] | None] = {
    **dict.fromkeys(["addr", "dest", "source", "sig_addr", "ptr", "module", "stream"], U64),
    **dict.fromkeys(["alignment", "bytes_per_pe", "count", "length", "nbytes", "nelems", "cmp_value", "signal"], U64),
    **dict.fromkeys(["cmp_values", "ctx", "itemsize", "ivar", "ivars", "nreduce"], U64),
    **dict.fromkeys(["pe", "pe_root", "src_pe", "rank", "nranks", "start", "stride"], I32),
    **dict.fromkeys(["cmp", "sig_op", "status", "fd", "xrange"], I32),
    **dict.fromkeys(["team", "parent", "src_team", "dest_team", "mask", "xaxis_mask", "yaxis_mask"], I64),
    **dict.fromkeys(["dst", "sst", "options"], I64),
    **dict.fromkeys(["uid", "config", "what", "dtype", "op", "xaxis_config", "yaxis_config"], None),
}


#: The type in which the tests of arguments call the functions that take one by name.
DTYPE = "int64"


def range_of(function: str, argument: str) -> tuple[int, int] | None:
    names = [p.name for p in ARGUMENTS[function]]
    if "dtype" in names and argument in ("value", "cmp_value"):
        return LIMITS[DTYPE]
    if "ivars" in names and argument == "status":  # the address of an array
        return U64
    if argument in ("value", "cond"):
        return LIMITS.get(ATOMICS[function][0])
    if argument == "size":  # bytes, or PEs of a team
        return I32 if function == "rocshmem_team_split_strided" else U64
    return RANGES[argument]


FUNCTIONS = sorted(n for n in dir(r) if inspect.isbuiltin(getattr(r, n)) and not n.startswith("_"))
ARGUMENTS = {n: list(inspect.signature(getattr(r, n)).parameters.values()) for n in FUNCTIONS}
EACH_ARGUMENT = [(n, i) for n in FUNCTIONS for i in range(len(ARGUMENTS[n]))]
LIFE = {  # these begin or end a job: tests below run them in processes of their own
    "rocshmem_init", "rocshmem_init_attr", "rocshmem_finalize", "rocshmem_global_exit", "rocshmem_get_uniqueid",
}  # fmt: skip
DEVNULL = os.open(os.devnull, os.O_WRONLY)


class Index:
    """An int that is none."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Real:
    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value


@contextlib.contextmanager
def one_pe_job() -> Iterator[SimpleNamespace]:
    """A job of one PE in this process, and things to call with."""
    assert not r.rocshmemx_initialized(), "another test left a job behind"
    for name in set(os.environ) - set(job_env()):
        del os.environ[name]
    r.rocshmem_init()
    base = r.rocshmem_malloc(4096)
    ctypes.memset(base, 0, 4096)
    local = ctypes.create_string_buffer(256)
    yield SimpleNamespace(dest=base, source=base + 1024, word=base + 2048, local=local)
    r.rocshmem_free(base)
    r.rocshmem_finalize()


def reset(job: Any) -> None:
    """As it was before a call: no registration, the word is 0."""
    r.rocshmem_buffer_unregister_all()
    ctypes.memset(job.word, 0, 8)


def good_arguments(name: str, job: Any) -> list[Any]:
    """Arguments with which this call succeeds."""
    if name in ATOMICS:
        values = {"dest": job.word, "value": 1, "cond": 0, "pe": 0}
        return [values[p.name] for p in ARGUMENTS[name]]
    special: dict[str, Callable[[], list[Any]]] = {
        "rocshmem_free": lambda: [r.rocshmem_malloc(8)],
        "rocshmem_team_destroy": lambda: [r.rocshmem_team_split_strided(0, 0, 1, 1)[1]],
        "rocshmem_team_split_strided": lambda: [0, 0, 1, 1, None, 0],
        "rocshmem_team_split_2d": lambda: [0, 1, None, 0, None, 0],
        "rocshmem_ctx_destroy": lambda: [r.rocshmem_ctx_create()],
        "rocshmem_buffer_register": lambda: [ctypes.addressof(job.local), 256],
        "rocshmemx_stream_destroy": lambda: [r.rocshmemx_stream_create()],
        "rocshmemx_dump_state": lambda: [DEVNULL],
        "rocshmemx_print_info": lambda: [DEVNULL, "environment"],
        "rocshmemx_drop": lambda: [r.rocshmem_malloc(8)],
    }
    if name in special:
        return special[name]()
    values = {
        "addr": ctypes.addressof(job.local), "alignment": 64, "bytes_per_pe": 8, "cmp": r.ROCSHMEM_CMP_EQ,
        "cmp_value": 0, "count": 2, "dest": job.dest, "dest_team": 0, "module": 1, "nbytes": 8, "nelems": 8, "pe": 0,
        "pe_root": 0, "ptr": job.dest, "sig_addr": job.word, "sig_op": r.ROCSHMEM_SIGNAL_SET, "signal": 0, "size": 16,
        "source": job.source, "src_pe": 0, "src_team": 0, "stream": 0, "team": 0, "ctx": r.ROCSHMEM_CTX_DEFAULT,
        "options": 0, "mask": 1, "dst": 1, "sst": 1, "nreduce": 1, "dtype": DTYPE, "op": "sum", "itemsize": 8,
        "value": 1, "ivar": job.word, "ivars": job.word, "status": 0, "cmp_values": job.word,
    }  # fmt: skip
    if "ivars" in [p.name for p in ARGUMENTS[name]]:
        values["nelems"] = 1
    return [values[p.name] for p in ARGUMENTS[name]]


def call(name: str, arguments: list[Any], keywords: dict[str, Any] | None = None) -> Any:
    """Call it, and give back what the result stands for."""
    result = getattr(r, name)(*arguments, **(keywords or {}))
    if name in ("rocshmem_malloc", "rocshmem_calloc", "rocshmem_align"):
        r.rocshmem_free(result)
    if name == "rocshmem_team_split_strided" and result[1]:
        r.rocshmem_team_destroy(result[1])
    if name == "rocshmem_team_split_2d":
        for team in result[1:]:
            r.rocshmem_team_destroy(team or -1)
    if name in ("rocshmem_ctx_create", "rocshmem_team_create_ctx"):
        r.rocshmem_ctx_destroy(result)
    if name == "rocshmemx_stream_create":
        r.rocshmemx_stream_destroy(result)
    return result


def dummy_arguments(name: str) -> list[Any]:
    """Of the right types; the call must fail before it is made."""
    others: dict[str, Any] = {"uid": b"", "config": None, "what": None, "xaxis_config": None, "yaxis_config": None}
    others |= {"dtype": DTYPE, "op": "sum"}
    return [others.get(p.name, 0) for p in ARGUMENTS[name]]
