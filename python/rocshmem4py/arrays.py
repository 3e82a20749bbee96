# SPDX-License-Identifier: MIT
"""Collectives and waits on arrays: ``rocshmem4py.reduce(dest, source)`` instead of addresses, counts and type names.

An array is a SymmetricBuffer, a NumPy or CuPy array (or whatever else has ``__array_interface__`` or
``__cuda_array_interface__``) or a torch tensor that lives in the symmetric heap: ``buf.view("f8")`` makes one.
Address, number of elements and type are read from it; nothing is copied, and neither NumPy nor torch is imported. A
SymmetricBuffer without a dtype is bytes.

That an address is symmetric is checked by the runtime, so a mistake of one PE is an error on every member of the team,
and no PE waits for it.
"""

from __future__ import annotations

import _rocshmem4py as _ext
import rocshmem4py

from .buffer import SymmetricBuffer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, SupportsIndex

#: What a NumPy type string says, without its byte order: the name in the C API.
_NAMES = {
    **{f"i{n}": f"int{8 * n}" for n in (1, 2, 4, 8)},
    **{f"u{n}": f"uint{8 * n}" for n in (1, 2, 4, 8)},
    "f4": "float",
    "f8": "double",
    "f16": "longdouble",
    "c8": "complexf",
    "c16": "complexd",
}
_FROM_TORCH = {"float32": "float", "float64": "double", "complex64": "complexf", "complex128": "complexd"}
_COMPARISONS = {"==": 0, "!=": 1, ">": 2, ">=": 3, "<": 4, "<=": 5}

#: Arrays of calls that a stream may not have passed yet, by stream, then by their id.
_in_flight: dict[Any, dict[int, object]] = {}
#: Streams of a GPU that may have arrays in flight; with more, the device is waited for.
_STREAMS_MAX = 64


class _Array:
    """What a call needs to know of an array; ``dtype`` is "" where the C API has no such type."""

    __slots__ = ("address", "count", "dtype", "itemsize", "label")

    def __init__(self, address: int, count: int, itemsize: int, dtype: str, label: str) -> None:
        self.address, self.count, self.itemsize, self.dtype, self.label = address, count, itemsize, dtype, label

    @property
    def nbytes(self) -> int:
        return self.count * self.itemsize

    def __str__(self) -> str:
        return f"{self.count} elements of {self.label}"


def _array(function: str, name: str, value: Any, written: bool = False) -> _Array:
    """The array behind an argument; errors name function, argument, value and remedy."""
    if isinstance(value, SymmetricBuffer):
        return _of_buffer(function, name, value)
    if hasattr(value, "data_ptr") and hasattr(value, "element_size"):
        return _of_tensor(function, name, value)
    interface = getattr(value, "__array_interface__", None) or getattr(value, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(
            f"{function}: {name} must be a SymmetricBuffer, or a NumPy, CuPy or torch array in symmetric memory, "
            f"not {type(value).__name__}; SymmetricBuffer.view(dtype) makes one"
        )
    return _of_interface(function, name, interface, written)


def _of_buffer(function: str, name: str, buffer: SymmetricBuffer) -> _Array:
    if buffer._freed:
        raise ValueError(f"{function}: {name} is {buffer!r}; use a buffer before it is freed")
    dtype = buffer._dtype
    if dtype is None:
        return _Array(buffer.ptr, buffer.nbytes, 1, "uint8", "uint8")
    if str(dtype).startswith("torch."):
        itemsize, label = dtype.itemsize, str(dtype).removeprefix("torch.")
        known = _torch_name(label)
    else:
        import numpy as np

        kind = np.dtype(dtype)
        itemsize, label = kind.itemsize, kind.name
        known = _NAMES.get(kind.str[1:], "") if kind.isnative else ""
    if itemsize == 0 or buffer.nbytes % itemsize:
        raise ValueError(
            f"{function}: {name} has {buffer.nbytes} bytes, no whole number of elements of {label}; slice the buffer"
        )
    return _Array(buffer.ptr, buffer.nbytes // itemsize, itemsize, known, label)


def _torch_name(label: str) -> str:
    name = _FROM_TORCH.get(label, label)
    return name if name in _NAMES.values() else ""


def _of_tensor(function: str, name: str, tensor: Any) -> _Array:
    if tensor.device.type != "cpu" and _ext.rocshmemx_device_name() == "host":
        raise ValueError(f"{function}: {name} is on {tensor.device}, and this job's device is the host; copy it there")
    if not tensor.is_contiguous():
        raise _not_contiguous(function, name, tuple(tensor.shape), tensor.stride())
    label = str(tensor.dtype).removeprefix("torch.")
    return _Array(tensor.data_ptr(), tensor.numel(), tensor.element_size(), _torch_name(label), label)


def _of_interface(function: str, name: str, interface: dict[str, Any], written: bool) -> _Array:
    shape, typestr, (address, read_only) = interface["shape"], interface["typestr"], interface["data"]
    count, itemsize = 1, int(typestr[2:])
    for extent in shape:
        count *= extent
    if interface.get("strides") is not None and count > 1:
        raise _not_contiguous(function, name, shape, interface["strides"])
    if read_only and written:
        raise ValueError(f"{function}: {name} is read-only; give a writable view, SymmetricBuffer.view makes one")
    label = typestr[1:] if typestr[0] != ">" else typestr
    return _Array(address, count, itemsize, _NAMES.get(label, ""), _NAMES.get(label, label))


def _not_contiguous(function: str, name: str, shape: object, strides: object) -> ValueError:
    return ValueError(
        f"{function}: {name} is not contiguous (shape {shape}, strides {strides}); take whole rows, or copy it into "
        "symmetric memory of its own"
    )


def _same_type(function: str, dest: _Array, source: _Array) -> None:
    if (dest.itemsize, dest.label) != (source.itemsize, source.label):
        raise ValueError(
            f"{function}: types differ: dest has {dest}, source has {source}; view one as the other's dtype"
        )


def _counts(function: str, dest: _Array, source: _Array, wanted: int, what: str) -> None:
    if dest.count != wanted:
        raise ValueError(f"{function}: sizes differ: dest has {dest}, source has {source}; dest must have {what}")


def _type_of(function: str, name: str, array: _Array) -> str:
    if not array.dtype:
        raise TypeError(
            f"{function}: {name} has dtype {array.label}, which the C API does not know; use an integer of 8 to 64 "
            "bits, float32, float64, longdouble, complex64 or complex128 in native byte order"
        )
    return array.dtype


def _done(stream: Any) -> bool:
    try:
        return _ext.rocshmemx_stream_query(stream)
    except RuntimeError:  # destroyed, which waited for its work; or the job is over
        return True


def _keep(stream: Any, *arrays: object) -> None:
    """Keep arrays alive until the work enqueued on stream so far is done, and let go what is done by now.

    A stream of a GPU may be destroyed without our knowledge, and to ask the driver for it then is a crash. So only the
    stream of this call is asked there.
    """
    key = stream or 0
    _in_flight.setdefault(key, {}).update((id(array), array) for array in arrays)
    asked = list(_in_flight) if _ext.rocshmemx_device_name() == "host" else [key]
    for known in [known for known in asked if _done(known)]:
        del _in_flight[known]
    if len(_in_flight) > _STREAMS_MAX:
        rocshmem4py.hip_device_synchronize()
        _in_flight.clear()


def reduce(dest: Any, source: Any, op: str = "sum", team: SupportsIndex = 0, stream: Any = None) -> None:
    """Combine ``source`` of every member, element by element, into ``dest`` of every member.

    Collective over the team, with equal arguments. Blocking; with a stream in its order, and it returns at once. The
    elements are combined in team order, so every member gets equal bits; integers wrap.
    Args:
        dest, source: symmetric arrays of one dtype and equally many elements; dest may be source, no other overlap.
        op: "sum", "prod", "min", "max"; on integers also "and", "or", "xor"; on complex numbers only sum and prod.
        team: a team handle; the default is ROCSHMEM_TEAM_WORLD.
        stream: None waits; a stream (0 is the default one) enqueues.
    Raises:
        TypeError: no array, or a dtype that the C API does not have.
        ValueError: sizes or types differ, not contiguous, not symmetric, an op that the type does not have, or team.
        RocshmemError: called before rocshmem_init; a member died or is in another call.
    Source: rocshmem_TYPENAME_OP_reduce and its on_stream form; MPI_Allreduce."""
    to, of = _array("reduce", "dest", dest, True), _array("reduce", "source", source)
    _same_type("reduce", to, of)
    _counts("reduce", to, of, of.count, "as many elements as source")
    dtype = _type_of("reduce", "source", of)
    if stream is None:
        _ext.rocshmemx_reduce(team, to.address, of.address, of.count, dtype, op)
        return
    _ext.rocshmemx_reduce_on_stream(team, to.address, of.address, of.count, dtype, op, stream)
    _keep(stream, dest, source)


def reduce_scatter(dest: Any, source: Any, op: str = "sum", team: SupportsIndex = 0) -> None:
    """As ``reduce``, but team PE i gets only block i of the result.

    Collective over the team, with equal arguments; blocking. There is no form for a stream.
    Args:
        dest: symmetric array; one block.
        source: symmetric array of the same dtype; one block of ``dest``'s size for each member.
        op: as for reduce.
        team: a team handle; the default is ROCSHMEM_TEAM_WORLD.
    Raises:
        TypeError, ValueError, RocshmemError: as reduce; ValueError unless source has n times dest's elements.
    Source: rocshmem_TYPENAME_OP_reduce_scatter; MPI_Reduce_scatter_block."""
    to, of = _array("reduce_scatter", "dest", dest, True), _array("reduce_scatter", "source", source)
    _same_type("reduce_scatter", to, of)
    n_pes = rocshmem4py.rocshmem_team_n_pes(team)
    if n_pes > 0 and to.count * n_pes != of.count:
        raise ValueError(
            f"reduce_scatter: sizes differ: dest has {to}, source has {of}; source must have {n_pes} times as many as "
            "dest, a block for each PE of the team"
        )
    _ext.rocshmemx_reduce_scatter(team, to.address, of.address, to.count, _type_of("reduce_scatter", "source", of), op)


def broadcast(dest: Any, source: Any, pe_root: SupportsIndex, team: SupportsIndex = 0, stream: Any = None) -> None:
    """Copy ``source`` of one member to ``dest`` of every member, the root's own included.

    Collective over the team, with equal arguments. Blocking; with a stream in its order, and it returns at once.
    Args:
        dest, source: symmetric arrays of one dtype (any) and equally many elements; dest may be source.
        pe_root: whose source; in the team's numbering.
        team: a team handle; the default is ROCSHMEM_TEAM_WORLD.
        stream: None waits; a stream (0 is the default one) enqueues.
    Raises:
        TypeError: no array.
        ValueError: sizes or types differ, not contiguous, not symmetric, pe_root out of range, or team.
        RocshmemError: called before rocshmem_init; a member died or is in another call.
    Source: rocshmem_broadcastmem and its on_stream form."""
    to, of = _array("broadcast", "dest", dest, True), _array("broadcast", "source", source)
    _same_type("broadcast", to, of)
    _counts("broadcast", to, of, of.count, "as many elements as source")
    if stream is None:
        rocshmem4py.rocshmem_broadcastmem(team, to.address, of.address, of.nbytes, pe_root)
        return
    rocshmem4py.rocshmem_broadcastmem_on_stream(team, to.address, of.address, of.nbytes, pe_root, stream)
    _keep(stream, dest, source)


def alltoall(dest: Any, source: Any, team: SupportsIndex = 0, stream: Any = None) -> None:
    """Exchange equal blocks: block i of ``source`` goes to team PE i, block j of ``dest`` comes from team PE j.

    Collective over the team, with equal arguments. Blocking; with a stream in its order, and it returns at once. A
    block is an n-th of the elements in memory order: for a shape ``(n * k, ...)`` that is k rows.
    Args:
        dest, source: symmetric arrays of one dtype (any) and equally many elements; no overlap.
        team: a team handle; the default is ROCSHMEM_TEAM_WORLD.
        stream: None waits; a stream (0 is the default one) enqueues.
    Raises:
        TypeError: no array.
        ValueError: sizes or types differ, the team's size does not divide them, not contiguous, not symmetric, or team.
        RocshmemError: called before rocshmem_init; a member died or is in another call.
    Source: rocshmem_alltoallmem and its on_stream form; block layout as in MPI_Alltoall."""
    to, of = _array("alltoall", "dest", dest, True), _array("alltoall", "source", source)
    _same_type("alltoall", to, of)
    _counts("alltoall", to, of, of.count, "as many elements as source")
    n_pes = max(rocshmem4py.rocshmem_team_n_pes(team), 1)  # -1: the call below knows why
    if of.count % n_pes:
        raise ValueError(
            f"alltoall: source has {of}, which do not divide into {n_pes} blocks, one for each PE of the team"
        )
    block = of.nbytes // n_pes
    if stream is None:
        rocshmem4py.rocshmem_alltoallmem(team, to.address, of.address, block)
        return
    rocshmem4py.rocshmem_alltoallmem_on_stream(team, to.address, of.address, block, stream)
    _keep(stream, dest, source)


def fcollect(dest: Any, source: Any, team: SupportsIndex = 0, stream: Any = None) -> None:
    """Gather ``source`` of every member into ``dest`` of every member, in team order.

    Collective over the team, with equal arguments. Blocking; with a stream in its order, and it returns at once.
    Args:
        dest: symmetric array; n times the elements of source, of the same dtype (any).
        source: symmetric array; no overlap with dest.
        team: a team handle; the default is ROCSHMEM_TEAM_WORLD.
        stream: None waits; a stream (0 is the default one) enqueues.
    Raises:
        TypeError: no array.
        ValueError: sizes or types differ, not contiguous, not symmetric, or team.
        RocshmemError: called before rocshmem_init; a member died or is in another call.
    Source: rocshmem_fcollectmem and its on_stream form; MPI_Allgather."""
    to, of = _array("fcollect", "dest", dest, True), _array("fcollect", "source", source)
    _same_type("fcollect", to, of)
    n_pes = rocshmem4py.rocshmem_team_n_pes(team)
    if n_pes > 0:
        _counts(
            "fcollect", to, of, of.count * n_pes, f"{n_pes} times as many as source, a block for each PE of the team"
        )
    if stream is None:
        rocshmem4py.rocshmem_fcollectmem(team, to.address, of.address, of.nbytes)
        return
    rocshmem4py.rocshmem_fcollectmem_on_stream(team, to.address, of.address, of.nbytes, stream)
    _keep(stream, dest, source)


def wait_until(ivar: Any, cmp: SupportsIndex | str, value: Any, stream: Any = None) -> None:
    """Wait until every element of ``ivar`` here was seen to satisfy ``element cmp value``. Local.

    What other PEs wrote before these values is visible afterwards.
    Args:
        ivar: symmetric array of integers of 4 or 8 bytes; one element, or any number. With a stream: one uint64.
        cmp: ROCSHMEM_CMP_*, or one of "==", "!=", ">", ">=", "<", "<=".
        value: an int; or an array of ivar's dtype and size, element i for element i.
        stream: None waits; a stream (0 is the default one) waits in its order, and the call returns at once.
    Raises:
        TypeError: no array, or value is no int.
        OverflowError: value is outside the type.
        ValueError: another dtype, not symmetric, a bad cmp, or sizes that differ.
        RocshmemError: called before rocshmem_init; a PE died.
        KeyboardInterrupt: in the main thread.
    Source: rocshmem_TYPENAME_wait_until, _all and _all_vector; rocshmem_signal_wait_until_on_stream."""
    words = _array("wait_until", "ivar", ivar)
    number = _comparison(cmp)
    dtype = _type_of("wait_until", "ivar", words)
    values = _array("wait_until", "value", value) if getattr(value, "shape", ()) != () else None
    if values is not None and (values.count, values.label) != (words.count, words.label):
        raise ValueError(f"wait_until: sizes differ: ivar has {words}, value has {values}; give one value, or as many")
    if stream is not None:
        if (dtype, words.count) != ("uint64", 1) or values is not None:
            raise ValueError(f"wait_until: a stream waits for one uint64 and one value; ivar has {words}")
        rocshmem4py.rocshmem_signal_wait_until_on_stream(words.address, number, value, stream)
        _keep(stream, ivar)
    elif values is not None and values.count:
        _ext.rocshmemx_wait_until_all_vector(words.address, words.count, 0, number, values.address, dtype)
    elif words.count == 1:
        _ext.rocshmemx_wait_until(words.address, number, value, dtype)
    else:
        _ext.rocshmemx_wait_until_all(words.address, words.count, 0, number, 0 if values else value, dtype)


def _comparison(cmp: SupportsIndex | str) -> SupportsIndex:
    if not isinstance(cmp, str):
        return cmp
    if cmp not in _COMPARISONS:
        raise ValueError(f"wait_until: cmp is {cmp!r}; use ROCSHMEM_CMP_* or one of {' '.join(_COMPARISONS)}")
    return _COMPARISONS[cmp]
