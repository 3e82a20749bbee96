# SPDX-License-Identifier: MIT
"""The extension of rocshmem4py: the rocSHMEM host API, one function a name. The runtime is in librocshmem.so.

Addresses, streams, teams and module handles are ints; whatever has ``__index__`` is one, a SymmetricBuffer too. Each
argument may be given by position or by keyword. A wrong type is a TypeError, a value that its C type cannot hold an
OverflowError, what the runtime refuses a RocshmemArgumentError; all name function, argument and value.
"""

from typing import Final, NoReturn, Protocol, SupportsFloat, SupportsIndex, TypeAlias, final, type_check_only

from typing_extensions import CapsuleType, Self, disjoint_base

# --- what arguments may be ---------------------------------------------------------------------------------------

@type_check_only
class _CudaStream(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...

@type_check_only
class _TorchStream(Protocol):
    @property
    def cuda_stream(self) -> int: ...

@type_check_only
class _CupyStream(Protocol):
    @property
    def ptr(self) -> int: ...

_Stream: TypeAlias = SupportsIndex | _CudaStream | _TorchStream | _CupyStream | None
_Int: TypeAlias = SupportsIndex
_Real: TypeAlias = SupportsFloat | SupportsIndex

# --- errors ------------------------------------------------------------------------------------------------------

class RocshmemError(RuntimeError):
    """A call of the runtime failed. The text is "<op>: <what could not be done>; <the remedy>"."""

    op: str
    """The function of the API that failed."""
    pe: int
    """The PE the failure is about; -1 if about none."""
    status: int
    """One of ROCSHMEMX_E_*."""

class RocshmemArgumentError(RocshmemError, ValueError):
    """An argument is wrong (status ROCSHMEMX_E_ARG)."""

# --- types -------------------------------------------------------------------------------------------------------

@final
class TeamConfig:
    """What a new team should offer, for rocshmem_team_split_strided."""

    num_contexts: int
    """Contexts wanted: a hint, they are not limited here."""

@disjoint_base
class _Memory:
    """Address and size of memory, offered without a copy; the base of rocshmem4py.SymmetricBuffer.

    Args:
        ptr: address; of an allocation of this PE, then every export keeps that from being reused.
        nbytes: bytes from ptr.
        own_data: True drops the allocation when the object goes without ``_mark_freed()``.
        owner: for a part of it or a peer's copy: the object whose hold is shared.
    Raises:
        OverflowError: ptr or nbytes is negative or too large.
        ValueError: owner is freed."""

    def __new__(
        cls, ptr: SupportsIndex, nbytes: SupportsIndex, own_data: bool = True, owner: _Memory | None = None
    ) -> Self: ...
    @property
    def ptr(self) -> int:
        """The address."""
    @property
    def nbytes(self) -> int:
        """Bytes."""
    @property
    def own_data(self) -> bool:
        """Whether it frees or drops the memory."""
    @property
    def _freed(self) -> bool:
        """After _mark_freed()."""
    @property
    def _stale(self) -> bool:
        """Whether the job it was made in is over."""
    def _mark_freed(self) -> None:
        """Give the hold back, after rocshmem_free. New exports raise; those that live stay valid."""
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    @property
    def __array_interface__(self) -> dict[str, object]:
        """Version 3, shape (nbytes,); AttributeError on a GPU."""
    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        """Version 3, shape (nbytes,); AttributeError on the host."""
    def __dlpack__(
        self,
        *,
        stream: SupportsIndex | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """A capsule of int8, shape (nbytes,); versioned where max_version allows it.

        Raises:
            BufferError: another device is asked for, or a stream on the host.
            ValueError: the memory is freed."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """(1, 0) on the host, (2, ordinal) for CUDA, (10, ordinal) for ROCm."""


# --- job -----------------------------------------------------------------------------------------------------

def hip_device_synchronize() -> None:
    """Wait for all work on the current device; on the host: drain every host stream."""
def rocshmem_init() -> None:
    """Join the job that the environment describes; alone it has one PE. Collective."""
def rocshmem_init_attr(rank: _Int, nranks: _Int, uid: bytes) -> None:
    """Join a job of nranks PEs by a unique ID of 128 bytes. Collective."""
def rocshmem_get_uniqueid() -> bytes:
    """Make a unique ID (128 bytes) and serve its rendezvous. By one process, before init."""
def rocshmem_finalize() -> None:
    """Leave the job and free what it owned. Collective; init may follow."""
def rocshmem_global_exit(status: _Int) -> NoReturn:
    """End every PE of the job with this exit status."""
def rocshmem_hipmodule_init(module: _Int, stream: _Stream = 0) -> int:
    """Copy the device state into a loaded GPU module. 0, or 1 if it has no such symbols."""
def rocshmem_get_device_ctx() -> int:
    """Address of the device-visible default context."""
def rocshmem_query_thread() -> int:
    """The thread level: 4, THREAD_MULTIPLE."""
def rocshmem_my_pe() -> int:
    """This PE's number; -1 before init."""
def rocshmem_n_pes() -> int:
    """The number of PEs; -1 before init."""
def rocshmem_info_get_version() -> tuple[int, int]:
    """(major, minor) of the OpenSHMEM specification that is followed."""
def rocshmem_info_get_name() -> str:
    """The name of the library."""
def rocshmem_vendor_get_version_info() -> tuple[int, int, int]:
    """(major, minor, patch) of the library."""
def rocshmem_dump_stats() -> None:
    """Print the counters of this PE on stdout."""
def rocshmem_reset_stats() -> None:
    """Zero the counters of this PE."""

# --- memory --------------------------------------------------------------------------------------------------

def rocshmem_malloc(size: _Int) -> int:
    """Allocate size bytes of symmetric memory, 256-byte aligned; size 0 gives 0. Collective."""
def rocshmem_calloc(count: _Int, size: _Int) -> int:
    """Allocate count * size bytes, zeroed on every PE. Collective."""
def rocshmem_align(alignment: _Int, size: _Int) -> int:
    """Allocate size bytes at a multiple of alignment, a power of two >= 8. Collective."""
def rocshmem_free(ptr: _Int) -> None:
    """Free symmetric memory; 0 is a no-op. Collective."""
def rocshmem_ptr(dest: _Int, pe: _Int) -> int:
    """Where this PE can load and store pe's copy of dest; 0 where it cannot."""
def rocshmem_buffer_register(addr: _Int, length: _Int) -> int:
    """Let ordinary memory be the local side of transfers. 0, or non-zero."""
def rocshmem_buffer_unregister(addr: _Int) -> int:
    """Undo it for the region around addr. 0, or non-zero if there is none."""
def rocshmem_buffer_unregister_all() -> None:
    """Undo every rocshmem_buffer_register."""

# --- transfers and order -------------------------------------------------------------------------------------

def rocshmem_putmem(dest: _Int, source: _Int, nelems: _Int, pe: _Int) -> None:
    """Copy nelems bytes from source here to dest on pe; returns when source may be reused."""
def rocshmem_getmem(dest: _Int, source: _Int, nelems: _Int, pe: _Int) -> None:
    """Copy nelems bytes from source on pe to dest here; returns when they are here."""
def rocshmem_putmem_nbi(dest: _Int, source: _Int, nelems: _Int, pe: _Int) -> None:
    """As rocshmem_putmem; complete at rocshmem_quiet."""
def rocshmem_getmem_nbi(dest: _Int, source: _Int, nelems: _Int, pe: _Int) -> None:
    """As rocshmem_getmem; complete at rocshmem_quiet."""
def rocshmem_putmem_on_stream(dest: _Int, source: _Int, nelems: _Int, pe: _Int, stream: _Stream) -> None:
    """As rocshmem_putmem, in the order of a stream."""
def rocshmem_getmem_on_stream(dest: _Int, source: _Int, nelems: _Int, pe: _Int, stream: _Stream) -> None:
    """As rocshmem_getmem, in the order of a stream."""
def rocshmem_putmem_signal_on_stream(
    dest: _Int,
    source: _Int,
    nelems: _Int,
    sig_addr: _Int,
    signal: _Int,
    sig_op: _Int,
    pe: _Int,
    stream: _Stream,
) -> None:
    """Copy, then SET or ADD the 64-bit signal word on pe. nelems 0 still signals."""
def rocshmem_signal_wait_until_on_stream(sig_addr: _Int, cmp: _Int, cmp_value: _Int, stream: _Stream) -> None:
    """The stream waits until the local word satisfies cmp; unsigned 64-bit."""
def rocshmem_fence() -> None:
    """Order the default context's operations towards each PE."""
def rocshmem_quiet() -> None:
    """Complete the default context's operations."""

# --- contexts and signals ---------------------------------------------------------------------------------------

def rocshmem_ctx_create(options: _Int = 0) -> int:
    """Make a context, an independent stream of operations for fence and quiet; options are ROCSHMEM_CTX_*. Local."""
def rocshmem_team_create_ctx(team: _Int, options: _Int = 0) -> int:
    """As rocshmem_ctx_create; PE numbers given with the context are the team's."""
def rocshmem_ctx_destroy(ctx: _Int) -> None:
    """Complete a context's operations and give it back; INVALID is a no-op."""
def rocshmem_ctx_get_team(ctx: _Int) -> int:
    """The team that a context was made with; WORLD is 0."""
def rocshmem_ctx_fence(ctx: _Int) -> None:
    """Order a context's operations towards each PE; INVALID is a no-op."""
def rocshmem_ctx_quiet(ctx: _Int) -> None:
    """Complete a context's operations; INVALID is a no-op."""
def rocshmem_ctx_putmem(ctx: _Int, dest: _Int, source: _Int, nelems: _Int, pe: _Int) -> None:
    """As rocshmem_putmem, on a context."""
def rocshmem_ctx_getmem(ctx: _Int, dest: _Int, source: _Int, nelems: _Int, pe: _Int) -> None:
    """As rocshmem_getmem, on a context."""
def rocshmem_ctx_putmem_nbi(ctx: _Int, dest: _Int, source: _Int, nelems: _Int, pe: _Int) -> None:
    """As rocshmem_putmem on a context; complete at rocshmem_ctx_quiet."""
def rocshmem_ctx_getmem_nbi(ctx: _Int, dest: _Int, source: _Int, nelems: _Int, pe: _Int) -> None:
    """As rocshmem_getmem on a context; complete at rocshmem_ctx_quiet."""
def rocshmem_ctx_putmem_signal(
    ctx: _Int, dest: _Int, source: _Int, nelems: _Int, sig_addr: _Int, signal: _Int, sig_op: _Int, pe: _Int
) -> None:
    """As rocshmem_putmem_signal, on a context."""
def rocshmem_ctx_putmem_signal_nbi(
    ctx: _Int, dest: _Int, source: _Int, nelems: _Int, sig_addr: _Int, signal: _Int, sig_op: _Int, pe: _Int
) -> None:
    """As rocshmem_putmem_signal on a context; source may be reused after rocshmem_ctx_quiet."""
def rocshmem_putmem_signal(
    dest: _Int, source: _Int, nelems: _Int, sig_addr: _Int, signal: _Int, sig_op: _Int, pe: _Int
) -> None:
    """As rocshmem_putmem, then SET or ADD the 64-bit signal word on pe. nelems 0 still signals."""
def rocshmem_putmem_signal_nbi(
    dest: _Int, source: _Int, nelems: _Int, sig_addr: _Int, signal: _Int, sig_op: _Int, pe: _Int
) -> None:
    """As rocshmem_putmem_signal; source may be reused after rocshmem_quiet."""
def rocshmem_signal_fetch(sig_addr: _Int) -> int:
    """This PE's own signal word."""
def rocshmem_signal_set(sig_addr: _Int, signal: _Int, pe: _Int) -> None:
    """Set the signal word on pe."""
def rocshmem_signal_add(sig_addr: _Int, signal: _Int, pe: _Int) -> None:
    """Add to the signal word on pe."""
def rocshmem_signal_wait_until(sig_addr: _Int, cmp: _Int, cmp_value: _Int) -> int:
    """Wait until this PE's own word satisfies cmp, unsigned 64-bit; the word that did."""
def rocshmem_signal_set_on_stream(sig_addr: _Int, signal: _Int, pe: _Int, stream: _Stream) -> None:
    """As rocshmem_signal_set, in the order of a stream."""
def rocshmem_signal_add_on_stream(sig_addr: _Int, signal: _Int, pe: _Int, stream: _Stream) -> None:
    """As rocshmem_signal_add, in the order of a stream."""
def rocshmem_quiet_on_stream(stream: _Stream) -> None:
    """Complete what was enqueued on a stream before what follows."""

# --- collectives ---------------------------------------------------------------------------------------------

def rocshmem_barrier_all() -> None:
    """Complete host-issued operations, then wait for all PEs. Collective."""
def rocshmem_barrier(team: _Int) -> None:
    """As rocshmem_barrier_all, for a team. Collective."""
def rocshmem_sync_all() -> None:
    """Wait for all PEs; orders local stores only. Collective."""
def rocshmem_team_sync(team: _Int) -> None:
    """As rocshmem_sync_all, for a team. Collective."""
def rocshmem_barrier_all_on_stream(stream: _Stream) -> None:
    """As rocshmem_barrier_all, in the order of a stream. Collective."""
def rocshmem_sync_all_on_stream(stream: _Stream) -> None:
    """As rocshmem_sync_all, in the order of a stream. Collective."""
def rocshmem_barrier_on_stream(team: _Int, stream: _Stream) -> None:
    """As rocshmem_barrier, in the order of a stream; INVALID is a no-op. Collective."""
def rocshmem_team_sync_on_stream(team: _Int, stream: _Stream) -> None:
    """As rocshmem_team_sync, in the order of a stream; INVALID is a no-op. Collective."""
def rocshmem_alltoallmem_on_stream(
    team: _Int, dest: _Int, source: _Int, bytes_per_pe: _Int, stream: _Stream
) -> None:
    """Block i of source goes to team PE i; block j of dest comes from team PE j. Collective."""
def rocshmem_broadcastmem_on_stream(
    team: _Int, dest: _Int, source: _Int, nbytes: _Int, pe_root: _Int, stream: _Stream
) -> None:
    """Copy source on team PE pe_root to dest on every member. Collective."""
def rocshmem_broadcastmem(team: _Int, dest: _Int, source: _Int, nelems: _Int, pe_root: _Int) -> None:
    """Copy nelems bytes of source on team PE pe_root to dest on every member. Collective."""
def rocshmem_alltoallmem(team: _Int, dest: _Int, source: _Int, nelems: _Int) -> None:
    """Block i (nelems bytes) of source goes to team PE i; block j of dest comes from team PE j. Collective."""
def rocshmem_alltoallsmem(team: _Int, dest: _Int, source: _Int, dst: _Int, sst: _Int, nelems: _Int) -> None:
    """As rocshmem_alltoallmem; byte k of all goes from source[k * sst] to dest[k * dst]. Collective."""
def rocshmem_collectmem(team: _Int, dest: _Int, source: _Int, nelems: _Int) -> None:
    """Gather source of every member into dest, in team order; nelems bytes here, each its own. Collective."""
def rocshmem_fcollectmem(team: _Int, dest: _Int, source: _Int, nelems: _Int) -> None:
    """As rocshmem_collectmem, with nelems equal on every member. Collective."""
def rocshmem_fcollectmem_on_stream(team: _Int, dest: _Int, source: _Int, nbytes: _Int, stream: _Stream) -> None:
    """As rocshmem_fcollectmem, in the order of a stream; INVALID is a no-op. Collective."""

# --- teams ---------------------------------------------------------------------------------------------------

def rocshmem_team_my_pe(team: _Int) -> int:
    """This PE's number in a team; -1 for non-members."""
def rocshmem_team_n_pes(team: _Int) -> int:
    """The number of PEs in a team; -1 for INVALID."""
def rocshmem_team_split_strided(
    parent: _Int, start: _Int, stride: _Int, size: _Int, config: TeamConfig | None = None, mask: _Int = 0
) -> tuple[int, int]:
    """Make a team of some PEs of parent: (status, team), team 0 outside it. Collective over parent."""
def rocshmem_team_destroy(team: _Int) -> None:
    """Give a team back; WORLD, SHARED and INVALID are no-ops."""
def rocshmem_team_translate_pe(src_team: _Int, src_pe: _Int, dest_team: _Int) -> int:
    """The number in dest_team of PE src_pe of src_team; -1 where there is none."""
def rocshmem_team_split_2d(
    parent: _Int,
    xrange: _Int,
    xaxis_config: TeamConfig | None = None,
    xaxis_mask: _Int = 0,
    yaxis_config: TeamConfig | None = None,
    yaxis_mask: _Int = 0,
) -> tuple[int, int, int]:
    """Make teams of my row, of xrange PEs, and of my column: (status, x team, y team). Collective over parent."""
def rocshmem_team_get_config(team: _Int, mask: _Int) -> TeamConfig:
    """What a team was configured with, the fields that mask names."""

# --- types by name: extensions ----------------------------------------------------------------------------------

# dtype is a name of the C API (int, uint64, size, double, complexf) or NumPy's (float32).

def rocshmemx_reduce(team: _Int, dest: _Int, source: _Int, nreduce: _Int, dtype: str, op: str) -> None:
    """dest[k] = op over the members of source[k]. dtype and op by name. Collective; extension."""
def rocshmemx_reduce_scatter(team: _Int, dest: _Int, source: _Int, nreduce: _Int, dtype: str, op: str) -> None:
    """Block i (nreduce elements) of what reduce would give goes to team PE i. Collective; extension."""
def rocshmemx_reduce_on_stream(
    team: _Int, dest: _Int, source: _Int, nreduce: _Int, dtype: str, op: str, stream: _Stream
) -> None:
    """As rocshmemx_reduce, in the order of a stream; INVALID is a no-op. Collective; extension."""
def rocshmemx_p(dest: _Int, value: _Real, pe: _Int, dtype: str) -> None:
    """Store one value at dest on pe; extension."""
def rocshmemx_g(source: _Int, pe: _Int, dtype: str) -> float:
    """The value at source on pe; extension."""
def rocshmemx_iput(dest: _Int, source: _Int, dst: _Int, sst: _Int, nelems: _Int, pe: _Int, itemsize: _Int) -> None:
    """Copy element source[i * sst] here to dest[i * dst] on pe, itemsize bytes each; extension."""
def rocshmemx_iget(dest: _Int, source: _Int, dst: _Int, sst: _Int, nelems: _Int, pe: _Int, itemsize: _Int) -> None:
    """Copy element source[i * sst] on pe to dest[i * dst] here, itemsize bytes each; extension."""
def rocshmemx_wait_until(ivar: _Int, cmp: _Int, cmp_value: _Int, dtype: str) -> None:
    """Wait until this PE's own word satisfies cmp, compared as dtype. Extension."""
def rocshmemx_test(ivar: _Int, cmp: _Int, cmp_value: _Int, dtype: str) -> bool:
    """Whether this PE's own word satisfies cmp, compared as dtype. Extension."""
def rocshmemx_wait_until_all(
    ivars: _Int, nelems: _Int, status: _Int, cmp: _Int, cmp_value: _Int, dtype: str
) -> None:
    """Wait until every word was seen to satisfy cmp. status: address of nelems ints, an element that is not 0
    excludes; or 0. Extension."""
def rocshmemx_wait_until_all_vector(
    ivars: _Int, nelems: _Int, status: _Int, cmp: _Int, cmp_values: _Int, dtype: str
) -> None:
    """As rocshmemx_wait_until_all, element i compared with element i at the address cmp_values. Extension."""
def rocshmemx_wait_until_any(
    ivars: _Int, nelems: _Int, status: _Int, cmp: _Int, cmp_value: _Int, dtype: str
) -> int | None:
    """Wait until a word satisfies cmp; its index, None if all are excluded. status: address of nelems ints, an
    element that is not 0 excludes; or 0. Extension."""
def rocshmemx_wait_until_any_vector(
    ivars: _Int, nelems: _Int, status: _Int, cmp: _Int, cmp_values: _Int, dtype: str
) -> int | None:
    """As rocshmemx_wait_until_any, element i compared with element i at the address cmp_values. Extension."""
def rocshmemx_wait_until_some(
    ivars: _Int, nelems: _Int, status: _Int, cmp: _Int, cmp_value: _Int, dtype: str
) -> list[int]:
    """Wait until words satisfy cmp; their indices. status: address of nelems ints, an element that is not 0
    excludes; or 0. Extension."""
def rocshmemx_wait_until_some_vector(
    ivars: _Int, nelems: _Int, status: _Int, cmp: _Int, cmp_values: _Int, dtype: str
) -> list[int]:
    """As rocshmemx_wait_until_some, element i compared with element i at the address cmp_values. Extension."""
def rocshmemx_test_all(ivars: _Int, nelems: _Int, status: _Int, cmp: _Int, cmp_value: _Int, dtype: str) -> bool:
    """Whether every word satisfies cmp. status: address of nelems ints, an element that is not 0 excludes; or
    0. Extension."""
def rocshmemx_test_all_vector(
    ivars: _Int, nelems: _Int, status: _Int, cmp: _Int, cmp_values: _Int, dtype: str
) -> bool:
    """As rocshmemx_test_all, element i compared with element i at the address cmp_values. Extension."""
def rocshmemx_test_any(
    ivars: _Int, nelems: _Int, status: _Int, cmp: _Int, cmp_value: _Int, dtype: str
) -> int | None:
    """The index of a word that satisfies cmp, None if there is none. status: address of nelems ints, an
    element that is not 0 excludes; or 0. Extension."""
def rocshmemx_test_any_vector(
    ivars: _Int, nelems: _Int, status: _Int, cmp: _Int, cmp_values: _Int, dtype: str
) -> int | None:
    """As rocshmemx_test_any, element i compared with element i at the address cmp_values. Extension."""
def rocshmemx_test_some(
    ivars: _Int, nelems: _Int, status: _Int, cmp: _Int, cmp_value: _Int, dtype: str
) -> list[int]:
    """The indices of the words that satisfy cmp. status: address of nelems ints, an element that is not 0
    excludes; or 0. Extension."""
def rocshmemx_test_some_vector(
    ivars: _Int, nelems: _Int, status: _Int, cmp: _Int, cmp_values: _Int, dtype: str
) -> list[int]:
    """As rocshmemx_test_some, element i compared with element i at the address cmp_values. Extension."""

# --- additions of this runtime -------------------------------------------------------------------------------

def rocshmemx_initialized() -> bool:
    """True between rocshmem_init and rocshmem_finalize."""
def rocshmemx_version() -> str:
    """The version of librocshmem.so."""
def rocshmemx_device_name() -> str:
    """"host", "cuda" or "hip"; "none" before init."""
def rocshmemx_device_ordinal() -> int:
    """The ordinal of this PE's device; 0 on the host, -1 before init."""
def rocshmemx_set_device_from_env() -> None:
    """Make this PE's GPU current, by the launcher's local rank."""
def rocshmemx_stream_create() -> int:
    """Make an in-order queue of work on the host device."""
def rocshmemx_stream_destroy(stream: _Stream) -> None:
    """Wait for a host stream's work and give it back."""
def rocshmemx_stream_synchronize(stream: _Stream = None) -> None:
    """Wait for the work enqueued on a stream so far."""
def rocshmemx_stream_query(stream: _Stream = None) -> bool:
    """True when a stream has no work left."""
def rocshmemx_heap_info() -> tuple[int, int, int]:
    """Bytes of this PE's heap: all, in use, the largest that malloc could give."""
def rocshmemx_allocation(ptr: _Int) -> tuple[int, int] | None:
    """(start, bytes) of this PE's live allocation around an address."""
def rocshmemx_drop(ptr: _Int) -> None:
    """Declare that this PE uses an allocation no more; released when every PE has. Local."""
def rocshmemx_note_read(ptr: _Int, nbytes: _Int) -> None:
    """Tell checked mode of loads from this PE's symmetric memory."""
def rocshmemx_note_write(ptr: _Int, nbytes: _Int) -> None:
    """Tell checked mode of stores to this PE's symmetric memory."""
def rocshmemx_get_stats(pe: _Int = -1) -> dict[str, int]:
    """The counters of this PE towards pe; -1 is the sum over all."""
def rocshmemx_dump_state(fd: _Int) -> None:
    """Write what every PE of this host is doing to a file descriptor."""
def rocshmemx_print_info(fd: _Int, what: str | None = None) -> None:
    """Print facts: None or "all", "environment", "support"."""

# --- atomics: values wrap as the C type does; the fetching forms give the old value --------------------------

def rocshmem_int32_atomic_fetch(dest: _Int, pe: _Int) -> int: ...
def rocshmem_int32_atomic_set(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_int32_atomic_swap(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int64_atomic_fetch(dest: _Int, pe: _Int) -> int: ...
def rocshmem_int64_atomic_set(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_int64_atomic_swap(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint32_atomic_fetch(dest: _Int, pe: _Int) -> int: ...
def rocshmem_uint32_atomic_set(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint32_atomic_swap(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint64_atomic_fetch(dest: _Int, pe: _Int) -> int: ...
def rocshmem_uint64_atomic_set(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint64_atomic_swap(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint_atomic_fetch(dest: _Int, pe: _Int) -> int: ...
def rocshmem_uint_atomic_set(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint_atomic_swap(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ulong_atomic_fetch(dest: _Int, pe: _Int) -> int: ...
def rocshmem_ulong_atomic_set(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_ulong_atomic_swap(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ulonglong_atomic_fetch(dest: _Int, pe: _Int) -> int: ...
def rocshmem_ulonglong_atomic_set(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_ulonglong_atomic_swap(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int_atomic_fetch(dest: _Int, pe: _Int) -> int: ...
def rocshmem_int_atomic_set(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_int_atomic_swap(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_long_atomic_fetch(dest: _Int, pe: _Int) -> int: ...
def rocshmem_long_atomic_set(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_long_atomic_swap(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_longlong_atomic_fetch(dest: _Int, pe: _Int) -> int: ...
def rocshmem_longlong_atomic_set(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_longlong_atomic_swap(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_size_atomic_fetch(dest: _Int, pe: _Int) -> int: ...
def rocshmem_size_atomic_set(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_size_atomic_swap(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ptrdiff_atomic_fetch(dest: _Int, pe: _Int) -> int: ...
def rocshmem_ptrdiff_atomic_set(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_ptrdiff_atomic_swap(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_float_atomic_fetch(dest: _Int, pe: _Int) -> float: ...
def rocshmem_float_atomic_set(dest: _Int, value: _Real, pe: _Int) -> None: ...
def rocshmem_float_atomic_swap(dest: _Int, value: _Real, pe: _Int) -> float: ...
def rocshmem_double_atomic_fetch(dest: _Int, pe: _Int) -> float: ...
def rocshmem_double_atomic_set(dest: _Int, value: _Real, pe: _Int) -> None: ...
def rocshmem_double_atomic_swap(dest: _Int, value: _Real, pe: _Int) -> float: ...
def rocshmem_int32_atomic_compare_swap(dest: _Int, cond: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int32_atomic_fetch_add(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int32_atomic_fetch_inc(dest: _Int, pe: _Int) -> int: ...
def rocshmem_int32_atomic_add(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_int32_atomic_inc(dest: _Int, pe: _Int) -> None: ...
def rocshmem_int64_atomic_compare_swap(dest: _Int, cond: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int64_atomic_fetch_add(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int64_atomic_fetch_inc(dest: _Int, pe: _Int) -> int: ...
def rocshmem_int64_atomic_add(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_int64_atomic_inc(dest: _Int, pe: _Int) -> None: ...
def rocshmem_uint32_atomic_compare_swap(dest: _Int, cond: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint32_atomic_fetch_add(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint32_atomic_fetch_inc(dest: _Int, pe: _Int) -> int: ...
def rocshmem_uint32_atomic_add(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint32_atomic_inc(dest: _Int, pe: _Int) -> None: ...
def rocshmem_uint64_atomic_compare_swap(dest: _Int, cond: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint64_atomic_fetch_add(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint64_atomic_fetch_inc(dest: _Int, pe: _Int) -> int: ...
def rocshmem_uint64_atomic_add(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint64_atomic_inc(dest: _Int, pe: _Int) -> None: ...
def rocshmem_uint_atomic_compare_swap(dest: _Int, cond: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint_atomic_fetch_add(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint_atomic_fetch_inc(dest: _Int, pe: _Int) -> int: ...
def rocshmem_uint_atomic_add(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint_atomic_inc(dest: _Int, pe: _Int) -> None: ...
def rocshmem_ulong_atomic_compare_swap(dest: _Int, cond: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ulong_atomic_fetch_add(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ulong_atomic_fetch_inc(dest: _Int, pe: _Int) -> int: ...
def rocshmem_ulong_atomic_add(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_ulong_atomic_inc(dest: _Int, pe: _Int) -> None: ...
def rocshmem_ulonglong_atomic_compare_swap(dest: _Int, cond: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ulonglong_atomic_fetch_add(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ulonglong_atomic_fetch_inc(dest: _Int, pe: _Int) -> int: ...
def rocshmem_ulonglong_atomic_add(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_ulonglong_atomic_inc(dest: _Int, pe: _Int) -> None: ...
def rocshmem_int_atomic_compare_swap(dest: _Int, cond: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int_atomic_fetch_add(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int_atomic_fetch_inc(dest: _Int, pe: _Int) -> int: ...
def rocshmem_int_atomic_add(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_int_atomic_inc(dest: _Int, pe: _Int) -> None: ...
def rocshmem_long_atomic_compare_swap(dest: _Int, cond: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_long_atomic_fetch_add(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_long_atomic_fetch_inc(dest: _Int, pe: _Int) -> int: ...
def rocshmem_long_atomic_add(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_long_atomic_inc(dest: _Int, pe: _Int) -> None: ...
def rocshmem_longlong_atomic_compare_swap(dest: _Int, cond: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_longlong_atomic_fetch_add(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_longlong_atomic_fetch_inc(dest: _Int, pe: _Int) -> int: ...
def rocshmem_longlong_atomic_add(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_longlong_atomic_inc(dest: _Int, pe: _Int) -> None: ...
def rocshmem_size_atomic_compare_swap(dest: _Int, cond: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_size_atomic_fetch_add(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_size_atomic_fetch_inc(dest: _Int, pe: _Int) -> int: ...
def rocshmem_size_atomic_add(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_size_atomic_inc(dest: _Int, pe: _Int) -> None: ...
def rocshmem_ptrdiff_atomic_compare_swap(dest: _Int, cond: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ptrdiff_atomic_fetch_add(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ptrdiff_atomic_fetch_inc(dest: _Int, pe: _Int) -> int: ...
def rocshmem_ptrdiff_atomic_add(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_ptrdiff_atomic_inc(dest: _Int, pe: _Int) -> None: ...
def rocshmem_int32_atomic_fetch_and(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int32_atomic_fetch_or(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int32_atomic_fetch_xor(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int32_atomic_and(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_int32_atomic_or(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_int32_atomic_xor(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_int64_atomic_fetch_and(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int64_atomic_fetch_or(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int64_atomic_fetch_xor(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_int64_atomic_and(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_int64_atomic_or(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_int64_atomic_xor(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint32_atomic_fetch_and(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint32_atomic_fetch_or(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint32_atomic_fetch_xor(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint32_atomic_and(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint32_atomic_or(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint32_atomic_xor(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint64_atomic_fetch_and(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint64_atomic_fetch_or(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint64_atomic_fetch_xor(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint64_atomic_and(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint64_atomic_or(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint64_atomic_xor(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint_atomic_fetch_and(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint_atomic_fetch_or(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint_atomic_fetch_xor(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_uint_atomic_and(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint_atomic_or(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_uint_atomic_xor(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_ulong_atomic_fetch_and(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ulong_atomic_fetch_or(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ulong_atomic_fetch_xor(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ulong_atomic_and(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_ulong_atomic_or(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_ulong_atomic_xor(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_ulonglong_atomic_fetch_and(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ulonglong_atomic_fetch_or(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ulonglong_atomic_fetch_xor(dest: _Int, value: _Int, pe: _Int) -> int: ...
def rocshmem_ulonglong_atomic_and(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_ulonglong_atomic_or(dest: _Int, value: _Int, pe: _Int) -> None: ...
def rocshmem_ulonglong_atomic_xor(dest: _Int, value: _Int, pe: _Int) -> None: ...

# --- constants -----------------------------------------------------------------------------------------------

ROCSHMEM_SUCCESS: Final = 0
ROCSHMEM_SIGNAL_SET: Final = 0
ROCSHMEM_SIGNAL_ADD: Final = 1
ROCSHMEM_CMP_EQ: Final = 0
ROCSHMEM_CMP_NE: Final = 1
ROCSHMEM_CMP_GT: Final = 2
ROCSHMEM_CMP_GE: Final = 3
ROCSHMEM_CMP_LT: Final = 4
ROCSHMEM_CMP_LE: Final = 5
ROCSHMEM_CTX_INVALID: Final = 0
ROCSHMEM_CTX_DEFAULT: Final = 1
ROCSHMEM_CTX_NOSTORE: Final = 1
ROCSHMEM_CTX_SERIALIZED: Final = 2
ROCSHMEM_CTX_WG_PRIVATE: Final = 4
ROCSHMEM_CTX_SHARED: Final = 8
ROCSHMEM_TEAM_DEFAULT_CONFIGS: Final = 0
ROCSHMEM_TEAM_NUM_CONTEXTS: Final = 1
ROCSHMEMX_E_ARG: Final = -1
ROCSHMEMX_E_STATE: Final = -2
ROCSHMEMX_E_NOMEM: Final = -3
ROCSHMEMX_E_SYSTEM: Final = -4
ROCSHMEMX_E_PEER: Final = -5
ROCSHMEMX_E_MISMATCH: Final = -6
ROCSHMEMX_E_TIMEOUT: Final = -7
ROCSHMEMX_E_INTERRUPTED: Final = -8
ROCSHMEMX_E_BROKEN: Final = -9
ROCSHMEMX_E_BOOTSTRAP: Final = -10
ROCSHMEMX_E_UNSUPPORTED: Final = -11
ROCSHMEMX_E_DEVICE: Final = -12
ROCSHMEMX_E_CONFIG: Final = -13
ROCSHMEMX_E_LIMIT: Final = -14
ROCSHMEMX_E_BUG: Final = -15
ROCSHMEMX_E_CHECK: Final = -16
