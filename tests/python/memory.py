# SPDX-License-Identifier: MIT
"""Symmetric memory for tests, wherever it is: the CPU loads and stores what the host has, and may not touch a GPU's.

Everything in the tests that looks at symmetric memory does it through ``peek``, ``poke``, ``view`` and ``array``. Tests
about the host's memory itself carry the mark ``host_only``.
"""

from __future__ import annotations

import ctypes
import os
from types import SimpleNamespace
from typing import Any

import pytest

import rocshmem4py as rs

ON_GPU = os.environ.get("ROCSHMEM_DEVICE", "") in ("cuda", "hip")

host_only = pytest.mark.skipif(ON_GPU, reason="about memory that the CPU sees, and the heap is a GPU's")


def torch_on_the_device() -> None:
    """Skips the test where torch can't see the heap."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if ON_GPU and not torch.cuda.is_available():
        pytest.skip("the heap is a GPU's, and torch has no CUDA")


def peek(ptr: Any, n: int, pe: int | None = None) -> bytes:
    """n bytes at a symmetric address, of this PE or another."""
    if not ON_GPU:
        return ctypes.string_at(int(ptr) if pe is None else rs.rocshmem_ptr(ptr, pe), n)
    data = ctypes.create_string_buffer(max(n, 1))
    if n:
        rs.rocshmem_getmem(ctypes.addressof(data), ptr, n, rs.rocshmem_my_pe() if pe is None else pe)
    return data.raw[:n]


def poke(ptr: Any, data: bytes, pe: int | None = None) -> None:
    """Bytes to a symmetric address, of this PE or another."""
    if not ON_GPU:
        ctypes.memmove(int(ptr) if pe is None else rs.rocshmem_ptr(ptr, pe), data, len(data))
    elif data:
        source = ctypes.create_string_buffer(data, len(data))
        pe = rs.rocshmem_my_pe() if pe is None else pe
        rs.rocshmem_putmem(ptr, ctypes.addressof(source), len(data), pe)


class GpuArray:
    """As a NumPy array of a buffer in a GPU's memory. Each look copies to a mirror, each change from it."""

    def __init__(self, buffer: Any, mirror: Any, base: int) -> None:
        self._buffer, self._mirror, self._base = buffer, mirror, base

    def _extent(self) -> tuple[int, int]:
        """Where the elements begin in the buffer, and the bytes from there to their end."""
        first = self._mirror.__array_interface__["data"][0] - self._base
        if not self._mirror.size:
            return first, 0
        steps = zip(self._mirror.shape, self._mirror.strides, strict=True)
        return first, sum((n - 1) * stride for n, stride in steps) + self._mirror.itemsize

    def _pull(self) -> Any:
        first, nbytes = self._extent()
        ctypes.memmove(self._base + first, peek(self._buffer.ptr + first, nbytes), nbytes)
        return self._mirror

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # __array_interface__ is the mirror's, not ours
            raise AttributeError(name)
        return getattr(self._mirror, name)  # shape, dtype, itemsize, flags, ...

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        interface = dict(self._mirror.__array_interface__)
        address, read_only = interface["data"]
        return interface | {"data": (self._buffer.ptr + address - self._base, read_only), "version": 3}

    @property
    def ctypes(self) -> SimpleNamespace:
        return SimpleNamespace(data=self._buffer.ptr + self._extent()[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._pull().astype(dtype or self._mirror.dtype)

    def __len__(self) -> int:
        return len(self._mirror)

    def __eq__(self, other: object) -> Any:
        return self.__array__() == other

    __hash__ = None  # type: ignore[assignment]

    def tolist(self) -> Any:
        return self.__array__().tolist()

    def view(self, *args: Any) -> GpuArray:
        return GpuArray(self._buffer, self._mirror.view(*args), self._base)

    def reshape(self, *shape: int) -> GpuArray:
        return GpuArray(self._buffer, self._mirror.reshape(*shape), self._base)

    def __getitem__(self, index: Any) -> Any:
        part = self._mirror[index]
        if hasattr(part, "strides") and part.shape:
            return GpuArray(self._buffer, part, self._base)
        return self._pull()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        mirror = self._pull()
        mirror[index] = value.__array__() if isinstance(value, GpuArray) else value
        first, nbytes = self._extent()
        poke(self._buffer.ptr + first, ctypes.string_at(self._base + first, nbytes))


def view(buffer: Any, dtype: Any = None, shape: Any = (-1,)) -> Any:
    """buffer.view(dtype, shape), which is there on the host only."""
    if not ON_GPU:
        return buffer.view(dtype, shape)
    import numpy as np

    mirror = np.zeros(buffer.nbytes, "u1")
    kind = buffer._dtype if dtype is None else dtype
    return GpuArray(buffer, mirror.view("u1" if kind is None else kind).reshape(shape), mirror.ctypes.data)


def array(dtype: str, n: int, fill: Any = 0) -> Any:
    """A symmetric array; dropped with the last reference."""
    import numpy as np

    made = view(rs.SymmetricBuffer(np.dtype(dtype).itemsize * n), dtype)
    made[:] = fill
    return made
