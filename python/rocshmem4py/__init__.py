# SPDX-License-Identifier: MIT
"""Symmetric memory between the processes (PEs) of a job: the rocSHMEM host API for Python.

A name of the C API *is* the function of the extension ``_rocshmem4py``: no Python frame lies between. This package
adds what is better said in Python: ``SymmetricBuffer``, teams that finalize remembers, and ways to start a job from
torch.distributed or MPI. Importing it loads neither torch, NumPy nor mpi4py, and opens no device.
"""

from __future__ import annotations

# Type checkers take TYPE_CHECKING for true; importing typing would double the time this import takes.
TYPE_CHECKING = False

#: The functions of the host API, in the order of the C header; the atomics are in _AMO_NAMES.
_HOST_API_BINDINGS: tuple[str, ...] = (
    "hip_device_synchronize",
    "rocshmem_init",
    "rocshmem_init_attr",
    "rocshmem_get_uniqueid",
    "rocshmem_finalize",
    "rocshmem_global_exit",
    "rocshmem_hipmodule_init",
    "rocshmem_get_device_ctx",
    "rocshmem_query_thread",
    "rocshmem_my_pe",
    "rocshmem_n_pes",
    "rocshmem_info_get_version",
    "rocshmem_info_get_name",
    "rocshmem_vendor_get_version_info",
    "rocshmem_dump_stats",
    "rocshmem_reset_stats",
    "rocshmem_malloc",
    "rocshmem_calloc",
    "rocshmem_align",
    "rocshmem_free",
    "rocshmem_ptr",
    "rocshmem_buffer_register",
    "rocshmem_buffer_unregister",
    "rocshmem_buffer_unregister_all",
    "rocshmem_ctx_create",
    "rocshmem_team_create_ctx",
    "rocshmem_ctx_destroy",
    "rocshmem_ctx_get_team",
    "rocshmem_ctx_fence",
    "rocshmem_ctx_quiet",
    "rocshmem_putmem",
    "rocshmem_getmem",
    "rocshmem_putmem_nbi",
    "rocshmem_getmem_nbi",
    "rocshmem_ctx_putmem",
    "rocshmem_ctx_getmem",
    "rocshmem_ctx_putmem_nbi",
    "rocshmem_ctx_getmem_nbi",
    "rocshmem_putmem_signal",
    "rocshmem_putmem_signal_nbi",
    "rocshmem_ctx_putmem_signal",
    "rocshmem_ctx_putmem_signal_nbi",
    "rocshmem_signal_fetch",
    "rocshmem_signal_set",
    "rocshmem_signal_add",
    "rocshmem_signal_wait_until",
    "rocshmem_putmem_on_stream",
    "rocshmem_getmem_on_stream",
    "rocshmem_putmem_signal_on_stream",
    "rocshmem_signal_wait_until_on_stream",
    "rocshmem_signal_set_on_stream",
    "rocshmem_signal_add_on_stream",
    "rocshmem_quiet_on_stream",
    "rocshmem_fence",
    "rocshmem_quiet",
    "rocshmem_barrier_all",
    "rocshmem_barrier",
    "rocshmem_sync_all",
    "rocshmem_team_sync",
    "rocshmem_broadcastmem",
    "rocshmem_alltoallmem",
    "rocshmem_alltoallsmem",
    "rocshmem_collectmem",
    "rocshmem_fcollectmem",
    "rocshmem_barrier_all_on_stream",
    "rocshmem_barrier_on_stream",
    "rocshmem_sync_all_on_stream",
    "rocshmem_team_sync_on_stream",
    "rocshmem_alltoallmem_on_stream",
    "rocshmem_broadcastmem_on_stream",
    "rocshmem_fcollectmem_on_stream",
    "rocshmem_team_my_pe",
    "rocshmem_team_n_pes",
    "rocshmem_team_split_strided",
    "rocshmem_team_split_2d",
    "rocshmem_team_get_config",
    "rocshmem_team_destroy",
    "rocshmem_team_translate_pe",
)

try:
    import _rocshmem4py
    from _rocshmem4py import *  # noqa: F403  (every public name of the extension is one of ours)

    _missing = [_name for _name in _HOST_API_BINDINGS if not hasattr(_rocshmem4py, _name)]
    if _missing:
        raise ImportError(f"{_rocshmem4py.__file__} is of another version, it lacks {', '.join(_missing)}")
except ImportError as _error:
    raise ImportError(
        f"rocshmem4py could not load its extension _rocshmem4py: {_error}; if it is missing or old, install the "
        "package again for this Python and look for another one on PYTHONPATH; if a shared library was not found, put "
        "the folder of librocshmem.so on LD_LIBRARY_PATH",
        name="_rocshmem4py",
        path=getattr(_error, "path", None),
    ) from _error

#: All PEs, and no team.
ROCSHMEM_TEAM_WORLD: int = 0
ROCSHMEM_TEAM_INVALID: int = -1
#: The PEs of this host.
ROCSHMEM_TEAM_SHARED: int = 1

if TYPE_CHECKING:
    from .arrays import (
        alltoall as alltoall,
        broadcast as broadcast,
        fcollect as fcollect,
        reduce as reduce,
        reduce_scatter as reduce_scatter,
        wait_until as wait_until,
    )
    from .buffer import (
        SymmetricBuffer as SymmetricBuffer,
        rocshmem_create_buffer as rocshmem_create_buffer,
        rocshmem_get_heap_bases as rocshmem_get_heap_bases,
        rocshmem_get_peer_buffer as rocshmem_get_peer_buffer,
        rocshmem_get_peer_ptr_table as rocshmem_get_peer_ptr_table,
    )
    from .contexts import Context as Context
    from .launch import (
        _populate_torch_env_from_mpi as _populate_torch_env_from_mpi,
        _set_hip_device_from_env as _set_hip_device_from_env,
        finalize_with_mpi as finalize_with_mpi,
        finalize_with_torch as finalize_with_torch,
        init_rocshmem_by_uniqueid as init_rocshmem_by_uniqueid,
        init_with_mpi as init_with_mpi,
        init_with_torch as init_with_torch,
        set_hip_device_from_env as set_hip_device_from_env,
    )
    from .teams import (
        _drain_live_teams as _drain_live_teams,
        rocshmem_team_destroy as rocshmem_team_destroy,
        rocshmem_team_split_2d as rocshmem_team_split_2d,
        rocshmem_team_split_strided as rocshmem_team_split_strided,
    )

    #: Every atomic of the extension: rocshmem_<type>_atomic_<op>.
    _AMO_NAMES: tuple[str, ...]
    _rocshmem_initialized: bool

__version__: str = _rocshmem4py.rocshmemx_version()
__author__ = "The rocshmem4py authors"

#: Handles of the teams made by rocshmem_team_split_strided and not destroyed yet.
_live_teams: set[int] = set()

#: Loaded at first use, by module, so that a program that does without does not pay for them.
_LAZY_NAMES = {
    "init_rocshmem_by_uniqueid": "launch",
    "init_with_torch": "launch",
    "init_with_mpi": "launch",
    "finalize_with_torch": "launch",
    "finalize_with_mpi": "launch",
    "set_hip_device_from_env": "launch",
    "_set_hip_device_from_env": "launch",
    "_populate_torch_env_from_mpi": "launch",
    "Context": "contexts",
    "alltoall": "arrays",
    "broadcast": "arrays",
    "fcollect": "arrays",
    "reduce": "arrays",
    "reduce_scatter": "arrays",
    "wait_until": "arrays",
    "SymmetricBuffer": "buffer",
    "rocshmem_create_buffer": "buffer",
    "rocshmem_get_heap_bases": "buffer",
    "rocshmem_get_peer_buffer": "buffer",
    "rocshmem_get_peer_ptr_table": "buffer",
    "rocshmem_team_destroy": "teams",
    "rocshmem_team_split_2d": "teams",
    "rocshmem_team_split_strided": "teams",
    "_drain_live_teams": "teams",
}

# A type checker reads the imports above and the extension's stub; these would hide mistakes from it.
if not TYPE_CHECKING:
    # The extension's own, which ours replace (teams.py): they must not hide these.
    for _name in _LAZY_NAMES:
        globals().pop(_name, None)

    def _public_names() -> list[str]:
        return sorted(
            {name for name in (*dir(_rocshmem4py), *_LAZY_NAMES) if not name.startswith("_")}
            | {"ROCSHMEM_TEAM_INVALID", "ROCSHMEM_TEAM_SHARED", "ROCSHMEM_TEAM_WORLD"}
        )

    def __getattr__(name: str) -> object:
        """Load what few programs need; _rocshmem_initialized is asked of the runtime each time."""
        if name == "_rocshmem_initialized":
            return bool(_rocshmem4py.rocshmemx_initialized())
        value: object
        if name in _LAZY_NAMES:
            value = getattr(__import__(f"{__name__}.{_LAZY_NAMES[name]}", fromlist=[name]), name)
        elif name == "__all__":
            value = _public_names()
        elif name == "_AMO_NAMES":
            value = tuple(amo for amo in _public_names() if "_atomic_" in amo)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_LAZY_NAMES, "__all__", "_AMO_NAMES", "_rocshmem_initialized"})
