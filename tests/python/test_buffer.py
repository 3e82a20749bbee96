# SPDX-License-Identifier: MIT
"""SymmetricBuffer and the helpers around it: in this process as a job of one PE, and in real jobs of several."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from memory import host_only, view

import rocshmem4py as rs

np = pytest.importorskip("numpy", reason="NumPy is not installed")


@pytest.fixture
def alone() -> Iterator[None]:
    """A job of one PE: this process."""
    rs.rocshmem_init()
    yield
    if rs._rocshmem_initialized:
        rs.rocshmem_finalize()


# --- the object ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("alone")
class TestObject:
    def test_attributes(self) -> None:
        buf = rs.rocshmem_create_buffer(1000)
        assert isinstance(buf, rs.SymmetricBuffer)
        assert buf.ptr % 256 == 0 and buf.ptr > 0
        assert buf.nbytes == buf.size == len(buf) == 1000
        assert buf.own_data is True
        assert not buf._freed
        assert int(buf) == buf.__index__() == buf.ptr
        assert repr(buf) == f"SymmetricBuffer(ptr={buf.ptr:#x}, size=1000)"
        buf.free()
        assert repr(buf) == f"SymmetricBuffer(ptr={buf.ptr:#x}, size=1000, freed)"

    def test_free_twice_is_harmless(self) -> None:
        buf = rs.SymmetricBuffer(64)
        buf.free()
        buf.free()

    def test_context_manager_frees_at_the_end(self) -> None:
        with rs.SymmetricBuffer(64) as buf:
            assert not buf._freed
        assert buf._freed

    def test_context_manager_drops_when_an_exception_leaves_it(self) -> None:
        with pytest.raises(KeyError), rs.SymmetricBuffer(64) as buf:
            raise KeyError
        assert not buf._freed, "free() is collective, and the other PEs may not be on their way to it"

    def test_free_after_finalize_does_nothing(self) -> None:
        buf = rs.SymmetricBuffer(64)
        rs.rocshmem_finalize()
        buf.free()
        assert buf._freed

    def test_free_of_an_earlier_jobs_buffer_leaves_this_jobs_memory_alone(self) -> None:
        old = rs.SymmetricBuffer(64)
        rs.rocshmem_finalize()
        rs.rocshmem_init()
        new = rs.SymmetricBuffer(64)
        view(new)[:] = 7
        old.free()
        assert (view(new) == 7).all()
        new.free()

    def test_dropped_buffer_is_collected_and_its_memory_used_again(self) -> None:
        buf = rs.SymmetricBuffer(4096)
        address, gone = buf.ptr, weakref.ref(buf)
        del buf
        gc.collect()
        assert gone() is None
        rs.SymmetricBuffer(64).free()  # a world malloc releases what all PEs dropped
        again = [rs.SymmetricBuffer(4096) for _ in range(2)]
        assert address in [b.ptr for b in again]
        for b in again:
            b.free()

    def test_wrapping_owns_by_default_and_frees(self) -> None:
        buf = rs.SymmetricBuffer(64, ptr=rs.rocshmem_malloc(64))
        assert buf.own_data
        buf.free()
        with pytest.raises(RuntimeError):
            rs.rocshmem_free(buf.ptr)

    def test_wrapping_without_owning_frees_nothing(self) -> None:
        address = rs.rocshmem_malloc(64)
        buf = rs.SymmetricBuffer(64, ptr=address, own_data=False)
        assert not buf.own_data
        buf.free()
        rs.rocshmem_free(address)

    @host_only
    def test_zero_bytes(self) -> None:
        buf = rs.SymmetricBuffer(0)
        assert (buf.ptr, buf.nbytes) == (0, 0)
        assert np.asarray(buf).size == 0
        assert buf.view("f4").shape == (0,)
        assert buf.view("f4", (3, 0)).shape == (3, 0)
        assert bytes(memoryview(buf)) == b""
        assert np.from_dlpack(buf).size == 0
        buf.free()

    def test_pickle_and_copy_are_type_errors(self) -> None:
        with rs.SymmetricBuffer(64) as buf:
            for act in (pickle.dumps, copy.copy, copy.deepcopy):
                with pytest.raises(TypeError, match="cannot pickle or copy a SymmetricBuffer"):
                    act(buf)

    def test_size_that_is_no_size(self) -> None:
        with pytest.raises(ValueError, match="size is -1"):
            rs.SymmetricBuffer(-1)
        with pytest.raises(TypeError, match="size must be an int, not str"):
            rs.SymmetricBuffer("64")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="ptr must be an int, not str"):
            rs.SymmetricBuffer(64, ptr="64")  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            rs.SymmetricBuffer(64, 4096)  # type: ignore[call-arg, misc]

    def test_size_may_be_any_index(self) -> None:
        with rs.SymmetricBuffer(np.int64(96)) as buf:
            assert buf.nbytes == 96

    def test_too_large_names_the_size_and_the_variable(self) -> None:
        with pytest.raises(RuntimeError, match=r"1099511627776.*ROCSHMEM_HEAP_SIZE"):
            rs.SymmetricBuffer(1 << 40)

    def test_dtype_is_the_given_one(self) -> None:
        with rs.SymmetricBuffer(64, dtype="f4") as buf:
            assert buf.dtype == "f4"
            assert buf[:8].dtype == "f4"


# --- arrays -------------------------------------------------------------------------------------------------------


@host_only
@pytest.mark.usefixtures("alone")
class TestArrays:
    def test_every_protocol_shows_the_same_bytes(self) -> None:
        buf = rs.SymmetricBuffer(256)
        by_buffer = np.frombuffer(buf, np.uint8)
        by_array = np.asarray(buf).view(np.uint8)
        by_dlpack = np.from_dlpack(buf).view(np.uint8)
        by_view = buf.view("u1")
        by_view[:] = np.arange(256)
        for array in (by_buffer, by_array, by_dlpack, np.asarray(memoryview(buf))):
            assert array.ctypes.data == buf.ptr
            assert (array.view(np.uint8) == np.arange(256)).all()
        assert by_buffer.flags.writeable and by_array.flags.writeable
        assert buf.__array_interface__["data"] == (buf.ptr, False)
        assert buf.__dlpack_device__() == (1, 0)
        assert not hasattr(buf, "__cuda_array_interface__")

    def test_view_has_dtype_and_shape(self) -> None:
        buf = rs.SymmetricBuffer(96)
        assert buf.view().dtype == np.uint8
        assert buf.view("f4").shape == (24,)
        assert buf.view(np.int64, (3, 4)).shape == (3, 4)
        assert buf.view(float, (-1, 2)).shape == (6, 2)
        assert buf.view("f4", 24).shape == (24,)
        buf.view("i4", (4, 6))[1, 2] = 5
        assert buf[32:36].view("i4")[0] == 5

    def test_view_that_does_not_fit_is_a_value_error(self) -> None:
        buf = rs.SymmetricBuffer(100)
        for dtype, shape in (("f8", -1), ("f4", 24), ("f4", 26), ("u1", (-1, -1)), ("u1", (-1, 3)), ("u1", (-2, -50))):
            with pytest.raises(ValueError, match="does not cover"):
                buf.view(dtype, shape)

    def test_view_lives_longer_than_the_buffer(self) -> None:
        buf = rs.SymmetricBuffer(4096)
        array = buf.view("i4")
        array[:] = 3
        buf.free()
        del buf
        others = [rs.SymmetricBuffer(4096) for _ in range(3)]
        for other in others:
            other.view()[:] = 255
        assert (array == 3).all(), "freed memory is not used again while an array shows it"
        for other in others:
            other.free()

    def test_view_lives_longer_than_the_job(self) -> None:
        buf = rs.SymmetricBuffer(4096)
        array, part = buf.view("i4"), buf[1024:2048]
        array[:] = 3
        inner = part.view("i4")
        del buf, part
        rs.rocshmem_finalize()
        assert (array == 3).all() and (inner == 3).all()
        array[:] = 4  # the window is still mapped
        rs.rocshmem_init()
        assert (array == 4).all()

    def test_view_of_a_freed_buffer_is_refused(self) -> None:
        buf = rs.SymmetricBuffer(64)
        part = buf[:8]
        buf.free()
        for act in (buf.view, lambda: memoryview(buf), lambda: np.frombuffer(buf, "u1"), lambda: buf.__dlpack__()):
            with pytest.raises((BufferError, RuntimeError, ValueError)):
                act()
        with pytest.raises(RuntimeError):
            part.put(buf.ptr, 8, 0)

    def test_slices_are_views_of_the_same_memory(self) -> None:
        buf = rs.SymmetricBuffer(100)
        buf.view()[:] = np.arange(100)
        part = buf[10:30]
        assert isinstance(part, rs.SymmetricBuffer)
        assert (part.ptr, part.nbytes, part.own_data) == (buf.ptr + 10, 20, False)
        assert list(part[-5:].view()) == [25, 26, 27, 28, 29]
        assert buf[90:200].nbytes == 10
        assert buf[50:40].nbytes == 0
        assert rs.rocshmem_ptr(part, 0) == part.ptr
        gone = weakref.ref(buf)
        del buf
        gc.collect()
        assert gone() is not None and part.view()[0] == 10, "a part keeps the whole alive"

    def test_index_that_is_no_slice(self) -> None:
        buf = rs.SymmetricBuffer(64)
        with pytest.raises(TypeError, match="no slice"):
            buf[3]  # type: ignore[index]
        with pytest.raises(TypeError):
            list(buf)  # type: ignore[call-overload]
        with pytest.raises(ValueError, match="step 2"):
            buf[::2]


# --- put, get, peers ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("alone")
class TestTransfers:
    def test_put_and_get(self) -> None:
        buf, other = rs.SymmetricBuffer(64), rs.SymmetricBuffer(64)
        source = np.arange(64, dtype="u1")
        buf.put(source.ctypes.data, 64, 0)
        assert (view(buf) == source).all()
        other.get(buf, 32, 0)
        assert (view(other)[:32] == source[:32]).all()
        other[32:].put(buf[:32], 32, 0)
        assert (view(other)[32:] == source[:32]).all()

    def test_wrong_arguments_are_named(self) -> None:
        buf = rs.SymmetricBuffer(64)
        for method in (buf.put, buf.get):
            with pytest.raises(ValueError, match="nelems is 65; the buffer has 64 bytes"):
                method(buf.ptr, 65, 0)
            with pytest.raises(ValueError, match="nelems is -1"):
                method(buf.ptr, -1, 0)
            with pytest.raises(ValueError, match="pe"):
                method(buf.ptr, 8, 7)
            with pytest.raises(TypeError):
                method("here", 8, 0)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="8 bytes"):
            buf[:8].put(buf, 9, 0)

    def test_freed_buffer_is_refused(self) -> None:
        buf = rs.SymmetricBuffer(64)
        buf.free()
        for act in (lambda: buf.put(0, 8, 0), lambda: buf.get(0, 8, 0), lambda: buf.get_remote_ptr(0), lambda: buf[:1]):
            with pytest.raises(RuntimeError, match="is freed"):
                act()

    def test_own_peer_buffer_is_the_buffer(self) -> None:
        buf = rs.SymmetricBuffer(64)
        assert rs.rocshmem_get_peer_buffer(buf, 0) is buf
        assert buf.get_remote_ptr(0) == buf.ptr
        assert rs.rocshmem_get_heap_bases(buf.ptr) == rs.rocshmem_get_peer_ptr_table(buf) == [buf.ptr]
        for peer in (1, -1):
            with pytest.raises(ValueError, match=f"peer is {peer}"):
                rs.rocshmem_get_peer_buffer(buf, peer)


def test_before_init_everything_says_so() -> None:
    for act in (
        lambda: rs.SymmetricBuffer(64),
        lambda: rs.rocshmem_create_buffer(0),
        lambda: rs.rocshmem_get_heap_bases(4096),
        lambda: rs.rocshmem_team_destroy(77),
        lambda: rs.rocshmem_team_split_strided(0, 0, 1, 1),
    ):
        with pytest.raises(rs.RocshmemError, match="before rocshmem_init"):
            act()


def test_before_init_what_is_allowed_works() -> None:
    wrapped = rs.SymmetricBuffer(64, ptr=4096, own_data=True)
    wrapped.free()
    assert wrapped._freed
    for team in (rs.ROCSHMEM_TEAM_WORLD, rs.ROCSHMEM_TEAM_INVALID, rs.ROCSHMEM_TEAM_SHARED):
        rs.rocshmem_team_destroy(team)
    rs.finalize_with_mpi()
    rs.finalize_with_torch()
    rs.set_hip_device_from_env()
    rs.hip_device_synchronize()


# --- patching -----------------------------------------------------------------------------------------------------


def test_functions_are_looked_up_in_the_package_at_call_time(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []

    def record(name: str, result: Any = None) -> None:
        def recorder(*args: Any) -> Any:
            calls.append((name, *args))
            return result

        monkeypatch.setattr(rs, name, recorder)

    record("hip_device_synchronize")
    record("rocshmem_malloc", 0x10000)
    record("rocshmem_free")
    record("rocshmem_ptr", 0x20000)
    record("rocshmem_putmem")
    record("rocshmem_getmem")
    monkeypatch.setattr(rs, "rocshmem_n_pes", lambda: 3)
    monkeypatch.setattr(rs, "rocshmem_my_pe", lambda: 1)
    buf = rs.SymmetricBuffer(64)
    assert calls == [("hip_device_synchronize",), ("rocshmem_malloc", 64)], "quiesced before it allocates"
    calls.clear()
    assert buf.get_remote_ptr(2) == 0x20000
    assert rs.rocshmem_get_heap_bases(buf.ptr) == [0x20000] * 3
    peer = rs.rocshmem_get_peer_buffer(buf, 0)
    assert (peer.ptr, peer.nbytes, peer.own_data) == (0x20000, 64, False)
    buf.put(5, 6, 0)
    buf.get(7, 8, 2)
    buf.free()
    peer.free()
    assert calls[-3:] == [
        ("rocshmem_putmem", 0x10000, 5, 6, 0),
        ("rocshmem_getmem", 0x10000, 7, 8, 2),
        ("rocshmem_free", 0x10000),
    ]
    monkeypatch.setattr(rs, "rocshmem_ptr", lambda dest, pe: 0)
    with pytest.raises(RuntimeError, match="PE 2.*getmem"):
        rs.rocshmem_get_peer_buffer(rs.SymmetricBuffer(64), 2)


def test_allocation_that_gave_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rs, "rocshmem_malloc", lambda size: 0)
    with pytest.raises(RuntimeError, match="64 bytes"):
        rs.SymmetricBuffer(64)


# --- teams --------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("alone")
class TestTeams:
    def test_live_teams_are_remembered(self) -> None:
        status, team = rs.rocshmem_team_split_strided(rs.ROCSHMEM_TEAM_WORLD, 0, 1, 1)
        assert status == 0 and team > 1
        assert rs._live_teams == {team}
        rs.rocshmem_team_destroy(team)
        assert rs._live_teams == set()

    def test_bad_range_is_a_status_and_invalid(self) -> None:
        status, team = rs.rocshmem_team_split_strided(0, 0, 1, 5)
        assert status != 0 and team == rs.ROCSHMEM_TEAM_INVALID
        status, team = rs.rocshmem_team_split_strided(rs.ROCSHMEM_TEAM_INVALID, 0, 1, 1)
        assert status != 0 and team == rs.ROCSHMEM_TEAM_INVALID
        assert rs._live_teams == set()

    def test_destroying_twice_is_a_no_op_with_a_warning(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        _, team = rs.rocshmem_team_split_strided(0, 0, 1, 1)
        rs.rocshmem_team_destroy(team)
        rs.rocshmem_team_destroy(team)
        assert capfd.readouterr().err == "", "nothing is printed unless asked for"
        monkeypatch.setenv("ROCSHMEM_DEBUG_LEVEL", "WARN")
        rs.rocshmem_team_destroy(team)
        assert f"team {team}" in capfd.readouterr().err

    def test_team_of_the_raw_function_is_destroyed(self) -> None:
        import _rocshmem4py

        _, team = _rocshmem4py.rocshmem_team_split_strided(0, 0, 1, 1)
        assert rs._live_teams == set()
        rs.rocshmem_team_destroy(team)
        with pytest.raises(ValueError, match="team"):
            _rocshmem4py.rocshmem_team_destroy(team)

    def test_finalize_destroys_forgotten_teams_in_sorted_order(self, monkeypatch: pytest.MonkeyPatch) -> None:
        made = [rs.rocshmem_team_split_strided(0, 0, 1, 1)[1] for _ in range(12)]
        destroyed: list[int] = []
        destroy = rs.rocshmem_team_destroy

        def recorder(team: int) -> None:
            destroyed.append(team)
            destroy(team)

        monkeypatch.setattr(rs, "rocshmem_team_destroy", recorder)
        rs.finalize_with_mpi()
        assert destroyed == sorted(made)
        assert rs._live_teams == set()
        assert not rs._rocshmem_initialized
        rs.finalize_with_mpi()
        rs.finalize_with_torch()


# --- real jobs ----------------------------------------------------------------------------------------------------


def ring() -> None:
    import numpy as np
    from memory import ON_GPU, view

    import rocshmem4py as rs

    rs.rocshmem_init()
    me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
    buf = rs.rocshmem_create_buffer(8 * n)
    mine = view(buf, "i8")
    mine[:] = -1
    rs.rocshmem_barrier_all()
    message = np.array([me], dtype="i8")
    for pe in range(n):
        buf[8 * me : 8 * me + 8].put(message.ctypes.data, 8, pe)
    rs.rocshmem_barrier_all()
    assert list(mine) == list(range(n)), mine
    for pe in range(n):
        peer = rs.rocshmem_get_peer_buffer(buf, pe)
        assert (peer is buf) == (pe == me)
        assert ON_GPU or list(peer.view("i8")) == list(range(n))
        assert peer.ptr == buf.get_remote_ptr(pe) == rs.rocshmem_get_heap_bases(buf)[pe]
        with rs.SymmetricBuffer(8 * n) as copy:
            copy.get(buf, 8 * n, pe)
            assert list(view(copy, "i8")) == list(range(n))
            copy.put(peer, 8 * n, me)  # through the peer's address
            assert list(view(copy, "i8")) == list(range(n))
    peer_array = list(range(n)) if ON_GPU else rs.rocshmem_get_peer_buffer(buf, (me + 1) % n).view("i8")
    buf.free()
    rs.rocshmem_finalize()
    assert list(peer_array) == list(range(n)), "a peer's window stays mapped while an array shows it"
    print("done", me)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_ring_of_puts_and_peer_views(run_job: Callable[..., Any], n: int) -> None:
    assert run_job(n, ring).lines == [f"done {pe}" for pe in range(n)]


def dropped() -> None:
    import gc

    import rocshmem4py as rs

    rs.rocshmem_init()
    me = rs.rocshmem_my_pe()
    first = rs.SymmetricBuffer(1 << 20)
    address = first.ptr
    if me == 0:
        del first  # only PE 0 drops it: nothing may be released
    gc.collect()
    rs.rocshmem_barrier_all()
    second = rs.SymmetricBuffer(1 << 20)
    assert second.ptr != address
    if me != 0:
        del first  # now all have
    gc.collect()
    rs.rocshmem_barrier_all()
    rs.SymmetricBuffer(64).free()
    third = rs.SymmetricBuffer(1 << 20)
    assert third.ptr == address, (hex(third.ptr), hex(address))
    rs.finalize_with_mpi()
    print("done", me)


def test_memory_is_released_when_every_pe_has_dropped_it(run_job: Callable[..., Any]) -> None:
    assert run_job(3, dropped).lines == ["done 0", "done 1", "done 2"]


def teams() -> None:
    import rocshmem4py as rs

    rs.rocshmem_init()
    me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
    for start in range(n):
        status, team = rs.rocshmem_team_split_strided(rs.ROCSHMEM_TEAM_WORLD, start, 1, 1)
        assert status == 0
        assert (team == rs.ROCSHMEM_TEAM_INVALID) == (start != me)
    assert len(rs._live_teams) == 1
    assert rs.rocshmem_team_n_pes(rs.ROCSHMEM_TEAM_SHARED) == n
    rs.finalize_with_torch()
    rs.finalize_with_torch()
    rs.rocshmem_init()
    rs.finalize_with_mpi()
    print("done", me)


@pytest.mark.parametrize("n", [2, 4])
def test_finalize_destroys_teams_whose_members_differ(run_job: Callable[..., Any], n: int) -> None:
    assert run_job(n, teams).lines == [f"done {pe}" for pe in range(n)]
