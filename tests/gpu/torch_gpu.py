# SPDX-License-Identifier: MIT
"""The runtime with torch on a GPU: tensors without a copy, torch's streams, its graphs, and transfers from and to its
own memory. Run by scripts/gpu.sh as a job of any size; prints `ok gpu/name` or `FAIL gpu/name`, ends with a status."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

import torch

import rocshmem4py as rs
from rocshmem4py.interop import torch as rt

rs.set_hip_device_from_env()
rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
right, left = (me + 1) % n, (me - 1) % n
device = torch.device("cuda", torch.cuda.current_device())


def sync() -> None:
    torch.cuda.current_stream().synchronize()


def tensors_lie_on_the_device_of_the_job() -> None:
    before = torch.cuda.current_device()
    t = rt.create_tensor((4, 1000), torch.float32)
    assert t.is_cuda and t.device == device, t.device
    t.fill_(me)
    rt.barrier_all()
    sync()
    peer = rt.get_peer_tensor(t, right)
    assert peer.is_cuda and float(peer.sum()) == 4000.0 * right
    assert torch.cuda.current_device() == before
    rs.rocshmem_barrier_all()
    rt.free_tensor(t)


def put_and_get_follow_torchs_stream() -> None:
    t = rt.create_tensor((100000,), torch.float32)
    own = torch.arange(100000, dtype=torch.float32, device=device)
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            t.zero_()
            rt.barrier_all()
            src = own * (me + 1)  # computed just before, on the same stream
            rt.put(t, src, right)
            rt.barrier_all()
            assert torch.equal(t, own * (left + 1))
            out = torch.empty_like(own)
            rt.get(out, t, right)
            assert torch.equal(out, own * (me + 1))
            rt.barrier_all()
            stream.synchronize()
    rt.free_tensor(t)


def memory_of_the_cpu_is_copied_too() -> None:
    t = rt.create_tensor((50000,), torch.int64)
    for source in (torch.arange(50000) + me, (torch.arange(50000) + me).pin_memory()):
        rt.put(t, source, right)
        rt.barrier_all()
        back = torch.empty(50000, dtype=torch.int64)
        rt.get(back, t, me)
        sync()
        assert torch.equal(back, torch.arange(50000) + left)
        rs.rocshmem_barrier_all()
    rt.free_tensor(t)


def alltoall_and_broadcast() -> None:
    src, dst = rt.create_tensor((n * 500,), torch.int32), rt.create_tensor((n * 500,), torch.int32)
    src.copy_(torch.arange(n, device=device, dtype=torch.int32).repeat_interleave(500) + 100 * me)
    rt.alltoall(rs.ROCSHMEM_TEAM_WORLD, dst, src)
    assert torch.equal(dst, torch.arange(n, device=device, dtype=torch.int32).repeat_interleave(500) * 100 + me)
    rt.broadcast(rs.ROCSHMEM_TEAM_WORLD, dst, src, n - 1)
    assert int(dst[0]) == 100 * (n - 1)
    rt.barrier_all()
    sync()
    rt.free_tensor(src)
    rt.free_tensor(dst)


def a_torch_graph_replays() -> None:
    t, x = rt.create_tensor((1000,), torch.float32), torch.zeros(1000, device=device)
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        y = x * 2 + 1
        rt.put(t, y, right)
        rt.barrier_all()
        z = t.clone()
        rt.barrier_all()
    for k in range(10):
        x.fill_(float(me + k))
        graph.replay()
        sync()
        assert float(z[0]) == (left + k) * 2 + 1, (float(z[0]), left, k)
    rs.rocshmem_barrier_all()
    rt.free_tensor(t)


def cupy_sees_the_memory() -> None:
    try:
        import cupy
    except ImportError:
        return
    buffer = rs.rocshmem_create_buffer(4096)
    array = cupy.asarray(buffer)
    assert array.nbytes == 4096 and array.data.ptr == int(buffer)
    array[:] = me + 1
    cupy.cuda.Device().synchronize()
    rs.rocshmem_barrier_all()
    assert int(cupy.from_dlpack(buffer).view(cupy.uint8)[0]) == me + 1
    rs.rocshmem_barrier_all()
    buffer.free()


CASES: tuple[Callable[[], None], ...] = (
    tensors_lie_on_the_device_of_the_job,
    put_and_get_follow_torchs_stream,
    memory_of_the_cpu_is_copied_too,
    alltoall_and_broadcast,
    a_torch_graph_replays,
    cupy_sees_the_memory,
)
failed = 0
for case in CASES:
    try:
        case()
        if me == 0:
            print(f"ok gpu/{case.__name__}", flush=True)
    except Exception:
        failed += 1
        print(f"FAIL gpu/{case.__name__}: PE {me}\n{traceback.format_exc()}", flush=True)
        sys.exit(1)  # the others find out
torch.cuda.synchronize()
rs.rocshmem_finalize()
