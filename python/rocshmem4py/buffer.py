# SPDX-License-Identifier: MIT
"""SymmetricBuffer: a piece of symmetric memory as a Python object, and the helpers that make and find one.

The base type ``_rocshmem4py._Memory`` holds address and size and offers the memory without a copy: the buffer protocol
and ``__array_interface__`` on the host, ``__cuda_array_interface__`` on a GPU, DLPack on both. It tells the runtime
when the last Python reference is gone (rocshmemx_drop); nothing here runs a collective from a destructor.

Functions of the runtime are looked up in ``rocshmem4py`` at each call, because programs replace them there.
"""

from __future__ import annotations

import sys

import _rocshmem4py as _ext
import rocshmem4py
from _rocshmem4py import ROCSHMEMX_E_STATE, RocshmemError, _Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, Self, SupportsIndex


def _index_argument(function: str, name: str, value: object) -> int:
    """A size, an address or a PE as an int; errors name function, argument and value."""
    if not hasattr(value, "__index__"):
        raise TypeError(f"{function}: {name} must be an int, not {type(value).__name__}")
    number = int(value.__index__())
    if number < 0:
        raise ValueError(f"{function}: {name} is {number}; it cannot be negative")
    return number


class SymmetricBuffer(_Memory):
    """Symmetric memory: the object with the same place in every PE's heap.

    Without ``ptr`` it allocates: collective over all PEs, after all work of this PE's device has finished. With ``ptr``
    it wraps memory that is there.

    ``free()`` is collective. A buffer that is dropped without it stays allocated until every PE has dropped it; the
    next world allocation, free or finalize then releases it. Garbage collection never waits for another PE.
    As a context manager it frees at the end of the block; when an exception leaves the block it only drops, because
    the other PEs may never come to the collective.

    Args:
        size: bytes; equal on every PE when it allocates. 0 is allowed and has the address 0.
        ptr: address of existing memory, or None to allocate.
        dtype: kept as given in ``.dtype`` for the caller's use.
        own_data: whether ``free()`` frees the memory.
    Raises:
        RuntimeError: the symmetric heap is full; names size, largest free block and ROCSHMEM_HEAP_SIZE.
        RocshmemError: called before rocshmem_init, or another PE died or allocates another size.
        ValueError, TypeError: a bad size or ptr.
    Source: rocSHMEM's Python package; slicing, view and the context manager are ours."""

    _dtype: Any
    _parent: object

    def __new__(
        cls,
        size: SupportsIndex,
        *,
        ptr: SupportsIndex | None = None,
        dtype: Any = None,
        own_data: bool = True,
    ) -> Self:
        nbytes = _index_argument("SymmetricBuffer", "size", size)
        if ptr is None:
            rocshmem4py.hip_device_synchronize()
            ptr = rocshmem4py.rocshmem_malloc(nbytes)
            if not ptr and nbytes:
                raise RuntimeError(f"SymmetricBuffer: rocshmem_malloc gave no memory for {nbytes} bytes")
        self = super().__new__(cls, _index_argument("SymmetricBuffer", "ptr", ptr), nbytes, bool(own_data))
        self._dtype = dtype
        self._parent = None
        return self

    def _child(self, ptr: int, nbytes: int) -> SymmetricBuffer:
        """A non-owning buffer for a part of this one, or for a peer's copy.

        It shares the hold of this one: the block is not used for something else, and no window is unmapped, while it or
        an array of it lives.
        """
        view: SymmetricBuffer = _Memory.__new__(SymmetricBuffer, ptr, nbytes, False, self)
        view._dtype, view._parent = self._dtype, self
        return view

    def _must_live(self, method: str) -> None:
        if self._freed:
            raise RuntimeError(f"SymmetricBuffer.{method}: the buffer at {self.ptr:#x} is freed")

    def free(self) -> None:
        """Free the memory, on every PE. Collective over all PEs when the buffer owns its memory.

        Waits for all PEs first, then for nothing: arrays and tensors that still show this memory stay valid, and the
        memory is reused only when they are gone. A second call does nothing, and neither does a call after
        rocshmem_finalize.
        Raises:
            RocshmemError: another PE died or is in another call; ``.pe`` and ``.op`` name it.
        Source: rocshmem_free."""
        if self._freed:
            return
        earlier_job = self._stale and _ext.rocshmemx_initialized()  # its address may be another buffer's now
        ptr = self.ptr
        self._mark_freed()  # first: so that the block is free at once, unless somebody else holds a view
        if self.own_data and ptr and not earlier_job:
            try:
                rocshmem4py.rocshmem_free(ptr)
            except RocshmemError as error:
                if error.status != ROCSHMEMX_E_STATE:  # no job: there is nothing to free
                    raise

    def get_remote_ptr(self, pe: SupportsIndex) -> int:
        """The address through which this PE can load and store the buffer of ``pe``; 0 where there is no such path.

        Raises:
            RuntimeError: the buffer is freed.
        Source: rocshmem_ptr."""
        self._must_live("get_remote_ptr")
        return rocshmem4py.rocshmem_ptr(self.ptr, pe)

    def put(self, source_ptr: SupportsIndex, nelems: SupportsIndex, pe: SupportsIndex) -> None:
        """Write ``nelems`` bytes from ``source_ptr`` here to the start of this buffer on ``pe``.

        Local; returns when the source may be used again. The data is there after a barrier.
        Args:
            source_ptr: an address, or any object with ``__index__`` such as another buffer.
            nelems: bytes, at most ``nbytes``; 0 does nothing.
        Raises:
            ValueError: nelems is larger than the buffer, or pe is out of range.
            RuntimeError: the buffer is freed.
        Source: rocshmem_putmem."""
        self._must_live("put")
        self._must_fit("put", nelems)
        rocshmem4py.rocshmem_putmem(self.ptr, source_ptr, nelems, pe)

    def get(self, source_ptr: SupportsIndex, nelems: SupportsIndex, pe: SupportsIndex) -> None:
        """Read ``nelems`` bytes at ``source_ptr`` on ``pe`` into the start of this buffer; returns when they are here.

        Args:
            source_ptr: a symmetric address, as this PE knows it, or a buffer.
            nelems: bytes, at most ``nbytes``; 0 does nothing.
        Raises:
            ValueError: nelems is larger than the buffer, source_ptr is not symmetric, or pe is out of range.
            RuntimeError: the buffer is freed.
        Source: rocshmem_getmem."""
        self._must_live("get")
        self._must_fit("get", nelems)
        rocshmem4py.rocshmem_getmem(self.ptr, source_ptr, nelems, pe)

    def _must_fit(self, method: str, nelems: SupportsIndex) -> None:
        nbytes = _index_argument(f"SymmetricBuffer.{method}", "nelems", nelems)
        if nbytes > self.nbytes:
            raise ValueError(f"SymmetricBuffer.{method}: nelems is {nbytes}; the buffer has {self.nbytes} bytes")

    def view(self, dtype: Any = None, shape: int | tuple[int, ...] = (-1,)) -> Any:
        """The memory as an array, without a copy.

        Args:
            dtype: what NumPy takes for a dtype (``"f4"``, ``numpy.int64``, ``float``) for a NumPy array, a
                ``torch.dtype`` for a torch tensor; None is the buffer's own dtype, or NumPy's uint8 without one.
            shape: elements a dimension; one may be -1. Together they cover the buffer exactly: slice it first to see
                a part.
        Returns:
            numpy.ndarray or torch.Tensor: writable; keeps the memory from being reused while it lives.
        Raises:
            ValueError: dtype and shape do not cover the buffer.
            BufferError: the buffer is freed, or the memory is a GPU's and a NumPy array was asked for.
            ImportError: NumPy is not installed.
        Source: extension."""
        if dtype is None:
            dtype = self._dtype
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(dtype, torch.dtype):
            return self._torch_view(torch, dtype, shape)
        try:
            import numpy as np
        except ImportError as error:
            raise ImportError("SymmetricBuffer.view needs NumPy for this dtype; pip install numpy") from error
        kind = np.dtype("u1" if dtype is None else dtype)
        exact = self._exact_shape(kind, kind.itemsize, shape)
        # asarray keeps the memoryview, and so the export, while the array lives; ndarray(buffer=...) would not.
        return np.asarray(memoryview(self)).view(kind).reshape(exact)

    def _torch_view(self, torch: Any, dtype: Any, shape: int | tuple[int, ...]) -> Any:
        exact = self._exact_shape(dtype, dtype.itemsize, shape)
        return torch.from_dlpack(self).view(dtype).reshape(exact)

    def _exact_shape(self, dtype: object, itemsize: int, shape: int | tuple[int, ...]) -> tuple[int, ...]:
        """shape with its -1 resolved, so that it covers the buffer to the byte."""
        wanted = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
        nbytes = itemsize
        for extent in wanted:
            if extent != -1:
                nbytes *= extent
        free = wanted.count(-1)
        if free == 1 and nbytes > 0 and self.nbytes % nbytes == 0:
            return tuple(self.nbytes // nbytes if extent == -1 else extent for extent in wanted)
        if free or nbytes != self.nbytes or any(extent < 0 for extent in wanted):
            raise ValueError(
                f"SymmetricBuffer.view: dtype {dtype} with shape {wanted} does not cover the buffer's {self.nbytes} "
                "bytes exactly; slice the buffer to see a part of it"
            )
        return wanted

    def __getitem__(self, index: slice) -> SymmetricBuffer:
        """``buf[a:b]``: bytes a to b as a buffer that shares the memory; symmetric as the whole is."""
        if not isinstance(index, slice):
            raise TypeError(f"SymmetricBuffer: {index!r} is no slice; buf[a:b] is a part, buf.view(dtype) has elements")
        start, stop, step = index.indices(self.nbytes)
        if step != 1:
            raise ValueError(f"SymmetricBuffer: a slice with step {step}; only contiguous slices are symmetric memory")
        self._must_live("__getitem__")
        return self._child(self.ptr + start, max(0, stop - start))

    def __len__(self) -> int:
        return self.nbytes

    @property
    def size(self) -> int:
        """Bytes, as ``nbytes``."""
        return self.nbytes

    @property
    def dtype(self) -> Any:
        """The dtype given; else torch.uint8 where torch can be imported (it is imported by asking); else None."""
        if self._dtype is not None:
            return self._dtype
        if "torch" not in sys.modules:
            from importlib.util import find_spec

            if find_spec("torch") is None:
                return None
        try:
            import torch
        except ImportError:
            return None
        return torch.uint8

    def __int__(self) -> int:
        return self.ptr

    def __index__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return f"SymmetricBuffer(ptr={self.ptr:#x}, size={self.nbytes}{', freed' if self._freed else ''})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is None:
            self.free()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            "cannot pickle or copy a SymmetricBuffer: its memory belongs to this PE and this job; send the bytes, or "
            "let every PE make its own buffer"
        )


def rocshmem_create_buffer(nbytes: SupportsIndex) -> SymmetricBuffer:
    """Allocate ``nbytes`` bytes of symmetric memory. Collective over all PEs; as ``SymmetricBuffer(nbytes)``.

    Raises:
        RuntimeError: the symmetric heap is full.
    Source: rocSHMEM's Python package."""
    return SymmetricBuffer(nbytes)


def rocshmem_get_heap_bases(ptr: SupportsIndex) -> list[int]:
    """For every PE the address through which this PE can load and store the memory at ``ptr``; 0 where it cannot.

    Args:
        ptr: a symmetric address of this PE, or a buffer.
    Returns:
        list[int]: n_pes long; entry i is ``rocshmem_ptr(ptr, i)``.
    Raises:
        RocshmemError: called before rocshmem_init.
    Source: rocSHMEM's Python package."""
    n_pes = rocshmem4py.rocshmem_n_pes()
    # Before init n_pes is -1; asking for PE 0 raises the runtime's own error then.
    return [rocshmem4py.rocshmem_ptr(ptr, pe) for pe in range(max(n_pes, 1))]


def rocshmem_get_peer_ptr_table(ptr: SupportsIndex) -> list[int]:
    """The newer name of rocshmem_get_heap_bases: n_pes addresses, 0 where there is no direct path.

    Raises:
        RocshmemError: called before rocshmem_init.
    Source: rocSHMEM's Python package."""
    return rocshmem4py.rocshmem_get_heap_bases(ptr)


def rocshmem_get_peer_buffer(buf: SymmetricBuffer, peer: SupportsIndex) -> SymmetricBuffer:
    """The buffer of another PE, to be loaded and stored directly.

    Args:
        buf: a symmetric buffer of this PE; the result keeps it alive.
        peer: 0 <= peer < n_pes; this PE's own number gives ``buf`` itself.
    Returns:
        SymmetricBuffer: non-owning, as large as buf. ``free()`` on it frees nothing.
    Raises:
        RuntimeError: no direct path to the peer (another host); use rocshmem_getmem and rocshmem_putmem.
        ValueError: peer is out of range.
    Source: rocSHMEM's Python package."""
    pe = _index_argument("rocshmem_get_peer_buffer", "peer", peer)
    if pe == rocshmem4py.rocshmem_my_pe():
        return buf
    n_pes = rocshmem4py.rocshmem_n_pes()
    if 0 <= n_pes <= pe:
        raise ValueError(f"rocshmem_get_peer_buffer: peer is {pe}; the job has PEs 0 to {n_pes - 1}")
    address = buf.get_remote_ptr(pe)
    if address == 0 and buf.nbytes:
        raise RuntimeError(
            f"rocshmem_get_peer_buffer: this PE cannot load or store memory of PE {pe} directly, or {buf!r} is not "
            "symmetric; use rocshmem_getmem and rocshmem_putmem"
        )
    return buf._child(address, buf.nbytes)
