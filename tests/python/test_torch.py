# SPDX-License-Identifier: MIT
"""init_with_torch under every launcher, and rocshmem4py.interop.torch on the host device."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

import rocshmem4py as rs
from conftest import free_port, job_env

if find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch

from rocshmem4py import launch
from rocshmem4py.interop import torch as rst


@pytest.fixture
def alone() -> Iterator[None]:
    """A job of one PE: this process."""
    rs.rocshmem_init()
    yield
    if rs._rocshmem_initialized:
        rs.rocshmem_finalize()


# --- tensors in a job of one PE -----------------------------------------------------------------------------------

DTYPES = [
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.complex64, torch.complex128, torch.float8_e4m3fn,
]  # fmt: skip


@pytest.mark.usefixtures("alone")
class TestTensors:
    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    def test_create_has_shape_dtype_and_symmetric_storage(self, dtype: torch.dtype) -> None:
        tensor = rst.create_tensor((3, 5), dtype)
        assert tensor.shape == (3, 5) and tensor.dtype == dtype
        assert tensor.is_contiguous() and tensor.device.type == "cpu"
        assert tensor.data_ptr() % 256 == 0
        assert rs.rocshmem_ptr(tensor.data_ptr(), 0) == tensor.data_ptr()
        tensor.view(torch.uint8).fill_(1)
        assert (tensor.view(torch.uint8) == 1).all()
        rst.free_tensor(tensor)

    @pytest.mark.parametrize("shape", [(), (0,), (4, 0, 2), 7, (1,), torch.Size([2, 3]), [2, 2]], ids=str)
    def test_shape_of_any_kind(self, shape: Any) -> None:
        tensor = rst.create_tensor(shape, torch.float32)
        assert tensor.shape == torch.empty(shape).shape
        rst.free_tensor(tensor)

    def test_wrong_shape_and_dtype(self) -> None:
        with pytest.raises(ValueError, match="negative"):
            rst.create_tensor((2, -1), torch.float32)
        with pytest.raises(TypeError, match="torch.dtype"):
            rst.create_tensor((2,), "f4")  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match="ROCSHMEM_HEAP_SIZE"):
            rst.create_tensor((1 << 40,), torch.float32)

    def test_tensor_outlives_free_and_finalize(self) -> None:
        tensor = rst.create_tensor((1000,), torch.float32).fill_(2)
        view = tensor[10:20]
        rst.free_tensor(tensor)
        rst.create_tensor((1000,), torch.float32).fill_(9)
        assert (tensor == 2).all()
        rs.rocshmem_finalize()
        assert (view == 2).all()

    def test_free_of_what_is_no_symmetric_tensor(self) -> None:
        tensor = rst.create_tensor((8,), torch.float32)
        with pytest.raises(ValueError, match="is not symmetric"):
            rst.free_tensor(torch.zeros(8))
        with pytest.raises(ValueError, match="inside an allocation"):
            rst.free_tensor(tensor[2:])
        with pytest.raises(TypeError):
            rst.free_tensor(5)  # type: ignore[arg-type]
        rst.free_tensor(tensor.reshape(2, 4))
        with pytest.raises(ValueError, match="freed"):
            rst.free_tensor(tensor)
        rs.rocshmem_finalize()
        with pytest.raises(rs.RocshmemError, match="before rocshmem_init"):
            rst.free_tensor(tensor)

    def test_dropped_tensor_is_released(self) -> None:
        tensor = rst.create_tensor((1 << 20,), torch.uint8)
        address = tensor.data_ptr()
        del tensor
        rs.SymmetricBuffer(64).free()
        assert address in [rst.create_tensor((1 << 20,), torch.uint8).data_ptr() for _ in range(2)]

    def test_buffer_view_is_a_tensor_and_symmetric(self) -> None:
        buf = rs.SymmetricBuffer(64)
        tensor = buf.view(torch.bfloat16, (4, 8))
        assert tensor.data_ptr() == buf.ptr and tensor.shape == (4, 8)
        rst.put(tensor, torch.ones((4, 8), dtype=torch.bfloat16), 0)
        rs.hip_device_synchronize()
        assert (tensor == 1).all()
        assert buf.dtype is torch.uint8
        assert torch.utils.dlpack.from_dlpack(buf).data_ptr() == buf.ptr
        assert torch.frombuffer(buf, dtype=torch.uint8).data_ptr() == buf.ptr
        assert torch.as_tensor(buf).data_ptr() == buf.ptr
        with pytest.raises(ValueError, match="does not cover"):
            buf.view(torch.float32, (15,))

    def test_put_and_get_copy(self) -> None:
        symmetric, plain = rst.create_tensor((4, 4), torch.float32), torch.arange(16.0).reshape(4, 4)
        rst.put(symmetric, plain, 0)
        rst.get(there := torch.empty(4), symmetric[2], 0)
        rst.put(symmetric[3], symmetric[0], 0, stream=0)
        rst.barrier_all()
        rs.hip_device_synchronize()
        assert torch.equal(there, plain[2]) and torch.equal(symmetric[3], plain[0])
        assert rst.get_peer_tensor(symmetric, 0) is symmetric
        bases = rst.get_heap_bases(symmetric[1])
        assert bases.dtype == torch.int64 and bases.tolist() == [symmetric[1].data_ptr()]
        assert torch.equal(bases, rst.get_peer_ptr_table(symmetric[1]))

    def test_temporaries_live_until_the_stream_has_passed_them(self) -> None:
        """The source of a queued copy is dropped at once; its memory must not be used again before the copy."""
        n = 1 << 20
        word, dst = rs.SymmetricBuffer(8), rst.create_tensor((n,), torch.float32)
        word.view()[:] = 0
        rs.rocshmem_signal_wait_until_on_stream(word, rs.ROCSHMEM_CMP_EQ, 1, None)
        rst.put(dst, torch.full((n,), 3.0), 0)
        torch.full((n,), 4.0)  # would take the dropped tensor's place
        word.view("u8")[0] = 1
        rs.hip_device_synchronize()
        assert (dst == 3).all()
        rst.put(dst[:1], torch.ones(1), 0)
        assert rst._in_flight == {}

    def test_zero_elements_do_nothing(self) -> None:
        none, empty = rst.create_tensor((0, 3), torch.float32), torch.empty((0, 3))
        rst.put(none, empty, 0)
        rst.get(empty, none, 0)
        rst.alltoall(rs.ROCSHMEM_TEAM_WORLD, none, none)
        rst.broadcast(rs.ROCSHMEM_TEAM_WORLD, none, none, 0)
        rst.barrier_all()
        rs.hip_device_synchronize()
        rst.free_tensor(none)

    def test_invalid_team_is_a_no_op(self) -> None:
        a, b = rst.create_tensor((4,), torch.int32).fill_(1), rst.create_tensor((4,), torch.int32).fill_(2)
        rst.alltoall(rs.ROCSHMEM_TEAM_INVALID, a, b)
        rst.broadcast(rs.ROCSHMEM_TEAM_INVALID, a, b, 0)
        rs.hip_device_synchronize()
        assert (a == 1).all()

    def test_wrong_arguments_are_value_errors(self) -> None:
        a, b = rst.create_tensor((4, 4), torch.float32), rst.create_tensor((4, 4), torch.float32)
        plain, world = torch.zeros((4, 4)), rs.ROCSHMEM_TEAM_WORLD
        wrong: dict[str, Callable[[], object]] = {
            "put: sizes differ": lambda: rst.put(a, plain[:3], 0),
            "get: sizes differ": lambda: rst.get(plain.double(), a, 0),
            "put: dst .* not symmetric": lambda: rst.put(plain, a, 0),
            "get: src .* not symmetric": lambda: rst.get(a, plain, 0),
            "put: src is not contiguous": lambda: rst.put(a, plain.T, 0),
            "put: dst is not contiguous": lambda: rst.put(a[:, 1], plain[0], 0),
            "get_heap_bases: tensor .* not symmetric": lambda: rst.get_heap_bases(plain),
            "get_peer_tensor: tensor .* not symmetric": lambda: rst.get_peer_tensor(plain, 0),
            "get_peer_tensor: peer is 1": lambda: rst.get_peer_tensor(a, 1),
            "alltoall: src .* not symmetric": lambda: rst.alltoall(world, a, plain),
            "alltoall: dst .* not symmetric": lambda: rst.alltoall(world, plain, a),
            "alltoall: sizes differ": lambda: rst.alltoall(world, a, b[:2]),
            "broadcast: src .* not symmetric": lambda: rst.broadcast(world, a, plain, 0),
            "broadcast: sizes differ": lambda: rst.broadcast(world, a, b.view(torch.int32), 0),
            "pe": lambda: rst.put(a, b, 1),
            "pe_root": lambda: rst.broadcast(world, a, b, 3),
            "team": lambda: rst.alltoall(12345, a, b),
        }
        for match, act in wrong.items():
            with pytest.raises(ValueError, match=match):
                act()
        with pytest.raises(TypeError, match="dst must be a torch.Tensor"):
            rst.put(3, a, 0)  # type: ignore[arg-type]


# --- launching ----------------------------------------------------------------------------------------------------


def exchange(how: str) -> None:
    import torch

    import rocshmem4py as rs
    from rocshmem4py.interop import torch as rst

    if how == "torch":
        rs.init_with_torch()
        assert torch.distributed.get_backend() == "gloo" or torch.cuda.is_available()
    else:
        rs.rocshmem_init()
    me, n, world = rs.rocshmem_my_pe(), rs.rocshmem_n_pes(), rs.ROCSHMEM_TEAM_WORLD
    src, dst = rst.create_tensor((n, 3), torch.bfloat16), rst.create_tensor((n, 3), torch.bfloat16)
    for pe in range(n):
        src[pe] = 10 * me + pe
    for team in (world, rs.ROCSHMEM_TEAM_SHARED):
        dst.zero_()
        rst.barrier_all()
        rst.alltoall(team, dst, src)
        rst.barrier_all()
        rs.hip_device_synchronize()
        assert dst[:, 0].tolist() == [10 * pe + me for pe in range(n)], dst
    rs.rocshmem_barrier_all()  # all have looked at dst
    rst.broadcast(world, dst[:1], src[:1], n - 1)
    rst.barrier_all()
    rs.hip_device_synchronize()
    assert dst[0, 0] == 10 * (n - 1)
    rs.rocshmem_barrier_all()
    for pe in range(n):
        assert rst.get_peer_tensor(src, pe)[0, 0] == 10 * pe
        rst.put(dst[me], src[pe], pe)
    rst.barrier_all()
    rs.hip_device_synchronize()
    assert dst[:, 0].tolist() == [10 * pe + me for pe in range(n)], dst
    there = torch.empty(3, dtype=torch.bfloat16)
    rst.get(there, src[1 % n], (me + 1) % n)
    rs.hip_device_synchronize()
    assert there[0] == 10 * ((me + 1) % n) + 1 % n
    assert rst.get_heap_bases(src).shape == (n,)
    for tensor in (dst, src):
        rst.free_tensor(tensor)
    rs.finalize_with_torch()
    rs.finalize_with_torch()
    assert not torch.distributed.is_initialized()
    print(f"done {me} of {n}\n", end="")


@pytest.mark.parametrize(
    ("launcher", "n"), [("torchrun", 1), ("torchrun", 2), ("env", 3), ("mpirun", 2), ("rocshmem-run", 2)]
)
def test_init_with_torch_under(run_job: Callable[..., Any], launcher: str, n: int) -> None:
    job = run_job(n, exchange, "torch", launcher=launcher, env={"ROCSHMEM_MASTER_PORT": str(free_port())}, timeout=120)
    assert [line for line in job.lines if "done" in line] == [f"done {pe} of {n}" for pe in range(n)]


def test_tensors_without_torch_distributed(run_job: Callable[..., Any]) -> None:
    assert run_job(3, exchange, "raw", timeout=120).lines == [f"done {pe} of 3" for pe in range(3)]


def subgroups() -> None:
    import torch.distributed as dist

    import rocshmem4py as rs

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    groups = [dist.new_group([0]), dist.new_group([1, 3]), dist.new_group([2])]
    mine = {0: 0, 1: 1, 3: 1, 2: 2}[rank]
    try:
        rs.init_rocshmem_by_uniqueid(groups[(mine + 1) % 3])
    except ValueError as error:
        assert "not a member" in str(error)
    rs.init_with_torch(groups[mine])
    assert rs.rocshmem_my_pe() == dist.get_rank(groups[mine])
    assert rs.rocshmem_n_pes() == dist.get_world_size(groups[mine])
    with rs.SymmetricBuffer(64) as buf:
        other = (rs.rocshmem_my_pe() + 1) % rs.rocshmem_n_pes()
        buf.put(buf, 64, other)
        rs.rocshmem_barrier_all()
    try:
        rs.init_rocshmem_by_uniqueid(groups[mine])
        raise AssertionError("a second init while initialised must fail")
    except rs.RocshmemError as error:
        assert error.op.startswith("rocshmem_init"), error.op
    rs.rocshmem_finalize()
    rs.init_rocshmem_by_uniqueid(None)
    assert rs.rocshmem_n_pes() == 4
    rs.finalize_with_torch()
    print(f"done {rank}\n", end="")


def test_subgroups_are_jobs_of_their_own(run_job: Callable[..., Any]) -> None:
    job = run_job(4, subgroups, launcher="env", timeout=120)
    assert [line for line in job.lines if "done" in line] == [f"done {rank}" for rank in range(4)]


def test_without_variables_the_error_names_them(run_job: Callable[..., Any]) -> None:
    source = "import rocshmem4py\nrocshmem4py.init_with_torch()\n"
    job = run_job(1, source, launcher="none", check=False)
    assert job.returncode == 1
    last = job.stderr.strip().splitlines()[-1]
    assert last.startswith("RuntimeError: init_with_torch")
    for text in ("RANK=(unset)", "WORLD_SIZE=(unset)", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29500", "torchrun"):
        assert text in last


def test_an_init_method_of_ones_own(run_job: Callable[..., Any], tmp_path: Any) -> None:
    source = """
        import sys, rocshmem4py as rs
        rs.init_with_torch(backend="gloo", init_method=sys.argv[1])
        print(rs.rocshmem_n_pes())
        rs.finalize_with_torch()
    """
    job = run_job(2, source, f"file://{tmp_path}/meet", launcher="env", timeout=120)
    assert "2" in job.lines


def test_without_torch_an_import_error_says_so() -> None:
    source = """
import sys
sys.modules["torch"] = None
import rocshmem4py as rs
by_id = lambda: rs.init_rocshmem_by_uniqueid(None)
interop = lambda: __import__("rocshmem4py.interop.torch")
for act in (rs.init_with_torch, by_id, interop):
    try:
        act()
    except ImportError as error:
        print("torch" in str(error).lower(), "pip install torch" in str(error))
assert rs.SymmetricBuffer(8, ptr=256, own_data=False).dtype is None
rs.finalize_with_torch()
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, env=job_env())
    assert done.stdout.splitlines() == ["True True"] * 3, done


def test_dtype_imports_torch_only_when_asked() -> None:
    source = """
import sys
import rocshmem4py as rs
buf = rs.SymmetricBuffer(8, ptr=256, own_data=False)
assert "torch" not in sys.modules
print(buf.dtype)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, env=job_env())
    assert done.stdout.strip() == "torch.uint8", done


@pytest.mark.parametrize(
    ("gpus", "nccl", "local_size", "given", "chosen"),
    [
        (0, False, "2", "cpu:gloo,cuda:nccl", "gloo"),
        (2, False, "2", "cpu:gloo,cuda:nccl", "gloo"),
        (1, True, "2", "cpu:gloo,cuda:nccl", "gloo"),
        (2, True, "2", "cpu:gloo,cuda:nccl", "cpu:gloo,cuda:nccl"),
        (0, False, "2", "mpi", "mpi"),
        (1, True, "4", "nccl", "nccl"),
    ],
)
def test_backend_is_chosen_from_what_is_there(
    monkeypatch: pytest.MonkeyPatch, gpus: int, nccl: bool, local_size: str, given: str, chosen: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.distributed, "is_nccl_available", lambda: nccl)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", local_size)
    assert launch._choose_backend(torch, given) == chosen


def test_gpu_is_pinned_modulo_the_device_count(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned: list[int] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setattr(torch.cuda, "set_device", pinned.append)
    monkeypatch.setenv("LOCAL_RANK", "6")
    launch._pin_torch_device(torch)
    monkeypatch.delenv("LOCAL_RANK")
    launch._pin_torch_device(torch)
    assert pinned == [2]
