# SPDX-License-Identifier: MIT
"""Ways into a job and out of it: over torch.distributed, over MPI, and the two ends that fit any beginning.

Both beginnings do the same: the group's rank 0 makes a unique id, the group's own broadcast carries it, every member
calls rocshmem_init_attr. The process that makes the id serves the rendezvous, so it must be a member. torch and mpi4py
are imported inside the functions that need them, never before.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta

import _rocshmem4py as _ext
import rocshmem4py

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

#: The default of init_with_torch: not a wish, but "choose".
_CHOOSE = "cpu:gloo,cuda:nccl"
_RENDEZVOUS_TIMEOUT = timedelta(seconds=1800)
_TORCH_VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")

#: Who may have started us: the variables for RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE. The first row's fill in
#: one by one; the others' only where rank and size are both unset and the row has both. srun sets
#: SLURM_STEP_NUM_TASKS for its tasks only, sbatch sets SLURM_NTASKS for the batch script as well.
_OMPI = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE")
_OTHER_LAUNCHERS = (
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
)
_TORCH_NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")


def set_hip_device_from_env() -> None:
    """Make the GPU of this PE current; without a GPU nothing happens. Local, allowed before init.

    The first of LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID, SLURM_LOCALID, FLUX_TASK_LOCAL_ID and
    PALS_LOCAL_RANKID that is set, modulo the number of GPUs.
    Raises:
        RocshmemError: that variable is no number.
    Source: rocSHMEM's Python package."""
    _ext.rocshmemx_set_device_from_env()


_set_hip_device_from_env = set_hip_device_from_env


def _populate_torch_env_from_mpi() -> None:
    """Give torchrun's variables a value where they have none: from Open MPI's, else from another launcher's."""
    env = os.environ
    for name, source in zip(_TORCH_NAMES, _OMPI, strict=True):
        if name not in env and source in env:
            env[name] = env[source]
    for row in _OTHER_LAUNCHERS:
        if "RANK" not in env and "WORLD_SIZE" not in env and row[0] in env and row[1] in env:
            for name, source in zip(_TORCH_NAMES, row, strict=True):
                if source in env:
                    env.setdefault(name, env[source])
    env.setdefault("MASTER_ADDR", env.get("ROCSHMEM_MASTER_ADDR") or "127.0.0.1")
    env.setdefault("MASTER_PORT", env.get("ROCSHMEM_MASTER_PORT") or "29500")


def _env_int(function: str, name: str) -> int | None:
    """The value of a variable as an int; None when unset or empty."""
    text = os.environ.get(name)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise RuntimeError(f"{function}: {name} is {text!r}; it must be a number") from None


def _import_torch(function: str) -> ModuleType:
    try:
        import torch
        import torch.distributed as dist
    except ImportError as error:
        raise ImportError(f"{function} needs PyTorch: {error}; pip install torch", name=error.name) from error
    if not dist.is_available():
        raise ImportError(f"{function} needs torch.distributed, which this build of PyTorch {torch.__version__} lacks")
    return torch


def _pin_torch_device(torch: ModuleType) -> None:
    """torch's current GPU = LOCAL_RANK modulo the number of GPUs; nothing without either."""
    local_rank = _env_int("init_with_torch", "LOCAL_RANK")
    if local_rank is not None and torch.cuda.is_available():
        torch.cuda.set_device(local_rank % torch.cuda.device_count())


def _choose_backend(torch: ModuleType, backend: str) -> str:
    """What to hand to torch: another value than the default is passed on.

    NCCL refuses two ranks on one GPU, so it is taken only when each PE of the host has a GPU of its own.
    """
    if backend != _CHOOSE:
        return backend
    if not torch.cuda.is_available() or not torch.distributed.is_nccl_available():
        return "gloo"
    pes_here = _env_int("init_with_torch", "LOCAL_WORLD_SIZE") or _env_int("init_with_torch", "WORLD_SIZE") or 1
    return "gloo" if pes_here > torch.cuda.device_count() else backend


def _init_process_group(torch: ModuleType, backend: str, init_method: str | None) -> None:
    """torch.distributed.init_process_group, with an error that says what the rendezvous was tried with."""
    options: dict[str, Any] = {}
    try:
        if init_method is not None and not init_method.startswith("env://"):
            options = {
                "rank": _env_int("init_with_torch", "RANK"),
                "world_size": _env_int("init_with_torch", "WORLD_SIZE"),
            }
            options = {name: value for name, value in options.items() if value is not None}
        torch.distributed.init_process_group(
            backend=_choose_backend(torch, backend),
            init_method=init_method or "env://",
            timeout=_RENDEZVOUS_TIMEOUT,
            **options,
        )
    except Exception as error:
        seen = ", ".join(f"{name}={os.environ.get(name, '(unset)')}" for name in _TORCH_VARIABLES)
        raise RuntimeError(
            f"init_with_torch: torch.distributed could not be initialised: {error} ({seen}, backend {backend!r}, "
            f"init_method {init_method or 'env://'!r}); start the program with torchrun, mpirun or srun, or set these "
            "variables on every PE"
        ) from error


def _tensor_device(torch: ModuleType, group: Any) -> str:
    """A device whose tensors the group can broadcast: the CPU if any."""
    config = str(torch.distributed.get_backend_config(group))  # "cpu:gloo,cuda:nccl"
    kinds = [part.split(":")[0] for part in config.split(",")]
    return "cpu" if "cpu" in kinds else kinds[0]


def init_rocshmem_by_uniqueid(group: Any) -> None:
    """Make the members of a torch process group a job; PE numbers are the group's ranks.

    Collective over the group, which may be a sub-group: its rank 0 makes the unique id. Needs no NumPy.
    Args:
        group: a torch.distributed.ProcessGroup; None is the default group.
    Raises:
        ValueError: this process is not a member of the group.
        RocshmemError: already initialised, or the PEs could not find each other.
        RuntimeError: the group's rank 0 could not make a unique id; its own error says why.
    Source: rocSHMEM's Python package."""
    torch = _import_torch("init_rocshmem_by_uniqueid")
    dist = torch.distributed
    rank, n_pes = dist.get_rank(group), dist.get_world_size(group)
    if rank < 0:
        raise ValueError("init_rocshmem_by_uniqueid: this process is not a member of group; only members may call")
    root = dist.get_global_rank(group if group is not None else dist.group.WORLD, 0)
    device = _tensor_device(torch, group)

    def broadcast(message: bytes) -> bytes:
        words = torch.tensor(list(message), dtype=torch.uint8, device=device)
        dist.broadcast(words, src=root, group=group)
        return bytes(words.cpu().tolist())

    rocshmem4py.rocshmem_init_attr(rank, n_pes, _share_uniqueid("init_rocshmem_by_uniqueid", rank, broadcast))


def _share_uniqueid(function: str, rank: int, broadcast: Callable[[bytes], bytes]) -> bytes:
    """Rank 0 makes the unique id; broadcast(bytes) returns rank 0's bytes on every rank.

    One byte before the id says whether there is one, so that nobody waits for an id that rank 0 could not make.
    """
    message, failure = bytes(1 + 128), None
    if rank == 0:
        try:
            message = b"\1" + rocshmem4py.rocshmem_get_uniqueid()
        except Exception as error:
            failure = error
    message = broadcast(message)
    if failure is not None:
        raise failure
    if message[:1] != b"\1":
        raise RuntimeError(f"{function}: rank 0 of the group could not make a unique id; its error says why")
    return message[1:]


def init_with_torch(group: Any = None, backend: str = _CHOOSE, init_method: str | None = None) -> None:
    """Join the job of a torch.distributed group, under torchrun, mpirun, srun or rocshmem-run. Collective over it.

    Pins the GPU to LOCAL_RANK modulo the number of GPUs, and initialises torch.distributed when that was not done.
    RANK, LOCAL_RANK, WORLD_SIZE and LOCAL_WORLD_SIZE default from the launcher's variables, MASTER_ADDR from
    ROCSHMEM_MASTER_ADDR or 127.0.0.1, MASTER_PORT from ROCSHMEM_MASTER_PORT or 29500.
    Args:
        group: the process group whose members become the PEs; None is all processes.
        backend: for torch.distributed. The default chooses: gloo where CUDA or NCCL is missing, or this host has more
            PEs than GPUs. Any other value is passed on.
        init_method: for torch.distributed; None is ``env://``. The rendezvous waits 1800 seconds.
    Raises:
        ImportError: PyTorch is not installed.
        RuntimeError: the rendezvous failed; names RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.
        RocshmemError: already initialised, or the PEs could not find each other.
    Source: rocSHMEM's Python package."""
    torch = _import_torch("init_with_torch")
    _populate_torch_env_from_mpi()
    _pin_torch_device(torch)
    rocshmem4py._set_hip_device_from_env()
    if not torch.distributed.is_initialized():
        _init_process_group(torch, backend, init_method)
    rocshmem4py.init_rocshmem_by_uniqueid(torch.distributed.group.WORLD if group is None else group)


def _import_mpi() -> Any:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # RuntimeError: mpi4py is here, an MPI library is not
        raise ImportError(
            f"init_with_mpi needs mpi4py and an MPI library: {error}; pip install mpi4py", name="mpi4py"
        ) from error
    if not MPI.Is_initialized():  # mpi4py.rc.initialize was turned off; any call now would end the process
        MPI.Init_thread()
    return MPI


def _check_mpi_world(size: int) -> None:
    """The launcher's number of processes must be MPI's; under torchrun each process is an MPI world of its own."""
    for name in ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"):
        expected = _env_int("init_with_mpi", name)
        if expected is None:
            continue
        if expected != size:
            raise RuntimeError(
                f"init_with_mpi: {name} is {expected}, but MPI.COMM_WORLD has {size} processes; start the program with "
                "mpirun, or use init_with_torch under torchrun and rocshmem_init under rocshmem-run"
            )
        return


def init_with_mpi(mpi_comm: Any = None) -> None:
    """Make the members of an MPI communicator a job; PE numbers are its ranks. Collective over it.

    Calls set_hip_device_from_env first.
    Args:
        mpi_comm: an mpi4py intracommunicator; None is MPI.COMM_WORLD. A sub-communicator makes a job of its members.
    Raises:
        ImportError: mpi4py or an MPI library is missing.
        RuntimeError: WORLD_SIZE (else OMPI_COMM_WORLD_SIZE) differs from the size of MPI.COMM_WORLD.
        ValueError: mpi_comm is MPI.COMM_NULL.
        RocshmemError: already initialised, or the PEs could not find each other.
    Source: rocSHMEM's Python package."""
    rocshmem4py.set_hip_device_from_env()
    mpi = _import_mpi()
    _check_mpi_world(mpi.COMM_WORLD.Get_size())
    comm = mpi.COMM_WORLD if mpi_comm is None else mpi_comm
    if comm == mpi.COMM_NULL:
        raise ValueError("init_with_mpi: mpi_comm is MPI.COMM_NULL; only members of a communicator may call")
    rank, n_pes = comm.Get_rank(), comm.Get_size()
    uid = _share_uniqueid("init_with_mpi", rank, lambda message: comm.bcast(message, root=0))
    rocshmem4py.rocshmem_init_attr(rank, n_pes, uid)


def _finalize_job() -> None:
    """End the job, if there is one: forgotten teams first, then everybody meets."""
    if not _ext.rocshmemx_initialized():
        rocshmem4py._live_teams.clear()
        return
    try:
        rocshmem4py.hip_device_synchronize()
        rocshmem4py._drain_live_teams()
        rocshmem4py.rocshmem_barrier_all()
    finally:
        rocshmem4py._live_teams.clear()
        rocshmem4py.rocshmem_finalize()


def finalize_with_torch() -> None:
    """Leave the job, then destroy torch's process group. Collective; works after any kind of init, and twice.

    Waits for the device, destroys forgotten teams in an order equal on all PEs, meets all PEs, finalizes.
    Raises:
        RocshmemError: another PE died or is in another call. The job is left and the process group destroyed anyway.
    Source: rocSHMEM's Python package."""
    try:
        _finalize_job()
    finally:
        torch = sys.modules.get("torch")
        dist = getattr(torch, "distributed", None)
        if dist is not None and dist.is_available() and dist.is_initialized():
            dist.destroy_process_group()


def finalize_with_mpi() -> None:
    """Leave the job; MPI itself stays, mpi4py finalizes it at exit. Collective; after any kind of init, and twice.

    Waits for the device, destroys forgotten teams in an order equal on all PEs, meets all PEs, finalizes.
    Raises:
        RocshmemError: another PE died or is in another call. The job is left anyway.
    Source: rocSHMEM's Python package."""
    _finalize_job()
