# SPDX-License-Identifier: MIT
"""Symmetric memory as torch tensors, on the job's device: CPU tensors on the host device, CUDA or HIP ones on a GPU.

A tensor is symmetric when its bytes lie in one live symmetric allocation of this PE. That is asked by address, each
time, so views and slices of a symmetric tensor, and torch views of a SymmetricBuffer, are symmetric as well.

Everything but create_tensor and free_tensor goes through a stream and returns at once. ``stream=None`` is torch's
current stream on a GPU and the default host stream on the CPU; torch's CPU operations do not wait for a host stream, so
call ``rocshmem4py.hip_device_synchronize()`` before you read what arrived or write to what is being sent. Tensors that
were handed to a call are kept alive until the stream has passed it.
"""

from __future__ import annotations

import _rocshmem4py as _ext
import rocshmem4py

from ..buffer import SymmetricBuffer

try:
    import torch
    from torch import Tensor
    from torch.utils.dlpack import from_dlpack
except ImportError as error:
    raise ImportError(
        f"rocshmem4py.interop.torch needs PyTorch: {error}; pip install torch", name=error.name
    ) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = [
    "alltoall",
    "barrier_all",
    "broadcast",
    "create_tensor",
    "free_tensor",
    "get",
    "get_heap_bases",
    "get_peer_ptr_table",
    "get_peer_tensor",
    "put",
]

#: Tensors of calls that a host stream may not have passed yet, by stream.
_in_flight: dict[Any, list[Tensor]] = {}


def _nbytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _check_contiguous(function: str, **tensors: Tensor) -> None:
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{function}: {name} must be a torch.Tensor, not {type(tensor).__name__}")
        if not tensor.is_contiguous():
            raise ValueError(
                f"{function}: {name} is not contiguous (shape {tuple(tensor.shape)}, strides {tensor.stride()}); "
                f"copy it with {name}.contiguous(), or take whole rows"
            )


def _check_symmetric(function: str, **tensors: Tensor) -> None:
    """ValueError unless all bytes of each tensor lie in one live symmetric allocation of this PE."""
    for name, tensor in tensors.items():
        start, nbytes = tensor.data_ptr(), _nbytes(tensor)
        found = _ext.rocshmemx_allocation(start) if nbytes else (start, 0)
        if found is None or start + nbytes > found[0] + found[1]:
            if not _ext.rocshmemx_initialized():
                rocshmem4py.rocshmem_ptr(start, 0)  # raises what any call outside a job raises
            raise ValueError(
                f"{function}: {name} (address {start:#x}, {nbytes} bytes, {tensor.device}) is not symmetric, or freed; "
                "make it with create_tensor, or as a view of a SymmetricBuffer"
            )


def _check_local(function: str, **tensors: Tensor) -> None:
    """ValueError for a tensor that the job's device cannot reach."""
    if _ext.rocshmemx_device_name() == "host":
        for name, tensor in tensors.items():
            if tensor.device.type != "cpu":
                raise ValueError(
                    f"{function}: {name} is on {tensor.device}, and this job's device is the host; copy it to the CPU"
                )


def _check_equal(function: str, dst: Tensor, src: Tensor) -> None:
    if dst.dtype != src.dtype or dst.numel() != src.numel():
        raise ValueError(
            f"{function}: sizes differ: dst has {dst.numel()} elements of {dst.dtype}, "
            f"src has {src.numel()} of {src.dtype}"
        )


def _stream(stream: Any) -> Any:
    """The stream of a call: the one given, else torch's current one; None is the default host stream."""
    if stream is None and _ext.rocshmemx_device_name() in ("cuda", "hip"):
        return torch.cuda.current_stream()
    return stream


def _keep(stream: Any, *tensors: Tensor) -> None:
    """Keep tensors alive until the work enqueued on stream so far is done."""
    if _ext.rocshmemx_device_name() in ("cuda", "hip"):
        for tensor in tensors:
            if tensor.is_cuda and stream is not None and not isinstance(stream, int):
                tensor.record_stream(stream)
            elif tensor.is_cuda:
                external: Any = torch.cuda.ExternalStream
                tensor.record_stream(external(int(stream or 0)))
        return
    if _ext.rocshmemx_stream_query(stream):
        _in_flight.pop(stream or 0, None)
    else:
        _in_flight.setdefault(stream or 0, []).extend(tensors)


def create_tensor(shape: int | Sequence[int], dtype: torch.dtype) -> Tensor:
    """Make a tensor whose storage is symmetric, on the job's device. Collective over all PEs, with equal arguments.

    Its memory is not initialised. When the last reference is gone on every PE, the memory is released by the next
    world allocation, free or finalize; free_tensor does it now.
    Args:
        shape: elements a dimension, as for torch.empty; a zero is allowed.
        dtype: any dtype of torch.
    Returns:
        Tensor: contiguous, shape ``shape``, aligned to 256 bytes.
    Raises:
        ValueError: a negative extent.
        RuntimeError: the symmetric heap is full; names the size asked and ROCSHMEM_HEAP_SIZE.
        RocshmemError: called before rocshmem_init, or another PE died or allocates another size.
    Source: rocshmem_malloc; torch.empty."""
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"create_tensor: dtype must be a torch.dtype, not {type(dtype).__name__}")
    nbytes = dtype.itemsize
    for extent in extents:
        if extent < 0:
            raise ValueError(f"create_tensor: shape is {extents}; an extent cannot be negative")
        nbytes *= extent
    return _as_tensor(rocshmem4py.rocshmem_create_buffer(nbytes), dtype, extents)


def _as_tensor(buffer: SymmetricBuffer, dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
    flat: Tensor = from_dlpack(buffer)  # the allocation is dropped when the last tensor is gone
    return flat.view(dtype).reshape(shape)


def free_tensor(tensor: Tensor) -> None:
    """Free the allocation that a tensor begins. Collective over all PEs, in one order.

    The tensor, and every view of it, stays valid: the memory is reused when the last one is gone.
    Args:
        tensor: made by create_tensor, or a view that begins where it begins. Without elements: nothing happens.
    Raises:
        ValueError: not symmetric, freed before, or a view that begins inside an allocation.
        RocshmemError: called before rocshmem_init, or another PE died or is in another call.
    Source: rocshmem_free."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"free_tensor: tensor must be a torch.Tensor, not {type(tensor).__name__}")
    if tensor.numel() == 0:
        return
    _check_symmetric("free_tensor", tensor=tensor)
    found = _ext.rocshmemx_allocation(tensor.data_ptr())
    if found is None or found[0] != tensor.data_ptr():
        raise ValueError(
            f"free_tensor: the tensor begins at {tensor.data_ptr():#x}, inside an allocation; free the whole tensor"
        )
    rocshmem4py.rocshmem_free(found[0])


def get_peer_tensor(tensor: Tensor, peer: int) -> Tensor:
    """The same tensor of another PE, to be loaded and stored directly. Local.

    Args:
        tensor: symmetric and contiguous; the result keeps it alive.
        peer: 0 <= peer < n_pes; this PE's own number gives ``tensor`` itself.
    Returns:
        Tensor: shape and dtype of ``tensor``, memory of ``peer``.
    Raises:
        ValueError: not symmetric, not contiguous, or peer out of range.
        RuntimeError: no direct path to the peer (another host); use get and put.
    Source: rocshmem_ptr."""
    _check_contiguous("get_peer_tensor", tensor=tensor)
    _check_symmetric("get_peer_tensor", tensor=tensor)
    n_pes = rocshmem4py.rocshmem_n_pes()
    if not 0 <= peer < n_pes:
        raise ValueError(f"get_peer_tensor: peer is {peer}; the job has PEs 0 to {n_pes - 1}")
    if peer == rocshmem4py.rocshmem_my_pe() or tensor.numel() == 0:
        return tensor
    address = rocshmem4py.rocshmem_ptr(tensor.data_ptr(), peer)
    if address == 0:
        raise RuntimeError(
            f"get_peer_tensor: this PE cannot load or store memory of PE {peer} directly; use get and put"
        )
    mine = SymmetricBuffer(_nbytes(tensor), ptr=tensor.data_ptr(), own_data=False)
    return _as_tensor(mine._child(address, mine.nbytes), tensor.dtype, tuple(tensor.shape))


def put(dst: Tensor, src: Tensor, peer: int, stream: Any = None) -> None:
    """Copy ``src`` here to ``dst`` on ``peer``, in the order of a stream. Returns at once.

    Args:
        dst: symmetric, contiguous; names the peer's tensor.
        src: contiguous, as many elements of the same dtype; ordinary memory will do. Write to it again only when the
            stream has passed the copy.
        peer: 0 <= peer < n_pes.
        stream: device stream; None is torch's current one, on the CPU the default host stream.
    Raises:
        ValueError: sizes differ, dst is not symmetric, a tensor is not contiguous, or peer is out of range.
        RocshmemError: called before rocshmem_init.
    Source: rocshmem_putmem_on_stream."""
    _check_contiguous("put", dst=dst, src=src)
    _check_equal("put", dst, src)
    _check_symmetric("put", dst=dst)
    _check_local("put", src=src)
    queue = _stream(stream)
    rocshmem4py.rocshmem_putmem_on_stream(dst.data_ptr(), src.data_ptr(), _nbytes(dst), peer, queue)
    _keep(queue, dst, src)


def get(dst: Tensor, src: Tensor, peer: int, stream: Any = None) -> None:
    """Copy ``src`` on ``peer`` to ``dst`` here, in the order of a stream. Returns at once.

    Args:
        dst: contiguous, as many elements of the same dtype; ordinary memory will do.
        src: symmetric, contiguous; names the peer's tensor.
        peer: 0 <= peer < n_pes.
        stream: device stream; None is torch's current one, on the CPU the default host stream.
    Raises:
        ValueError: sizes differ, src is not symmetric, a tensor is not contiguous, or peer is out of range.
        RocshmemError: called before rocshmem_init.
    Source: rocshmem_getmem_on_stream."""
    _check_contiguous("get", dst=dst, src=src)
    _check_equal("get", dst, src)
    _check_symmetric("get", src=src)
    _check_local("get", dst=dst)
    queue = _stream(stream)
    rocshmem4py.rocshmem_getmem_on_stream(dst.data_ptr(), src.data_ptr(), _nbytes(dst), peer, queue)
    _keep(queue, dst, src)


def barrier_all(stream: Any = None) -> None:
    """Complete what was enqueued on the stream before, then wait for all PEs, in the order of the stream.

    Collective; returns at once.
    Args:
        stream: device stream; None is torch's current one, on the CPU the default host stream.
    Raises:
        RocshmemError: called before rocshmem_init. A member that died shows when the stream is synchronised.
    Source: rocshmem_barrier_all_on_stream."""
    rocshmem4py.rocshmem_barrier_all_on_stream(_stream(stream))


def get_heap_bases(tensor: Tensor) -> Tensor:
    """For every PE the address through which this PE can load and store ``tensor``; 0 where it cannot. Local.

    Args:
        tensor: symmetric.
    Returns:
        Tensor: int64, shape ``(n_pes,)``, on the tensor's device; for kernels that follow the pointers themselves.
    Raises:
        ValueError: tensor is not symmetric or not contiguous.
        RocshmemError: called before rocshmem_init.
    Source: rocSHMEM's Python package, rocshmem_get_heap_bases."""
    _check_contiguous("get_heap_bases", tensor=tensor)
    _check_symmetric("get_heap_bases", tensor=tensor)
    addresses = rocshmem4py.rocshmem_get_heap_bases(tensor.data_ptr())
    return torch.tensor(addresses, dtype=torch.int64, device=tensor.device)


def get_peer_ptr_table(tensor: Tensor) -> Tensor:
    """The newer name of get_heap_bases: int64, shape ``(n_pes,)``.

    Raises:
        ValueError: tensor is not symmetric or not contiguous.
    Source: rocSHMEM's Python package, rocshmem_get_peer_ptr_table."""
    return get_heap_bases(tensor)


def alltoall(team: int, dst: Tensor, src: Tensor, stream: Any = None) -> None:
    """Exchange equal blocks between the members of a team, in the order of a stream. Returns at once.

    Block ``i`` of ``src`` goes to team PE ``i``; block ``j`` of ``dst`` comes from team PE ``j``. A block is an n-th of
    the elements in memory order: for a shape ``(n * k, ...)`` that is k rows.
    Args:
        team: collective over it, equal sizes on every member. INVALID: nothing happens.
        dst, src: symmetric, contiguous, one dtype, equally many elements; no overlap.
        stream: device stream; None is torch's current one, on the CPU the default host stream.
    Raises:
        ValueError: sizes differ, the team's size does not divide them, or a tensor is not symmetric or not contiguous.
        RocshmemError: called before rocshmem_init. A member that died shows when the stream is synchronised.
    Source: rocshmem_alltoallmem_on_stream; block layout as in MPI_Alltoall."""
    _check_contiguous("alltoall", dst=dst, src=src)
    _check_equal("alltoall", dst, src)
    _check_symmetric("alltoall", dst=dst, src=src)
    n_pes = max(rocshmem4py.rocshmem_team_n_pes(team), 1)  # -1: the call below knows why
    if src.numel() % n_pes:
        raise ValueError(
            f"alltoall: {src.numel()} elements (shape {tuple(src.shape)}) do not divide into {n_pes} equal blocks, one "
            "for each PE of the team"
        )
    queue = _stream(stream)
    block = _nbytes(src) // n_pes
    rocshmem4py.rocshmem_alltoallmem_on_stream(team, dst.data_ptr(), src.data_ptr(), block, queue)
    _keep(queue, dst, src)


def broadcast(team: int, dst: Tensor, src: Tensor, pe_root: int, stream: Any = None) -> None:
    """Copy ``src`` of one member to ``dst`` of every member, the root's own included. Returns at once.

    Args:
        team: collective over it, equal sizes on every member. INVALID: nothing happens.
        dst, src: symmetric, contiguous, one dtype, equally many elements; no overlap.
        pe_root: whose src; in the team's numbering.
        stream: device stream; None is torch's current one, on the CPU the default host stream.
    Raises:
        ValueError: sizes differ, a tensor is not symmetric or not contiguous, or pe_root is out of range.
        RocshmemError: called before rocshmem_init. A member that died shows when the stream is synchronised.
    Source: rocshmem_broadcastmem_on_stream."""
    _check_contiguous("broadcast", dst=dst, src=src)
    _check_equal("broadcast", dst, src)
    _check_symmetric("broadcast", dst=dst, src=src)
    queue = _stream(stream)
    rocshmem4py.rocshmem_broadcastmem_on_stream(team, dst.data_ptr(), src.data_ptr(), _nbytes(src), pe_root, queue)
    _keep(queue, dst, src)
