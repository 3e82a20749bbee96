# SPDX-License-Identifier: MIT
"""The extension, one PE: every name with right and wrong arguments, by position and keyword; errors; memory views."""

from __future__ import annotations

import ctypes
import gc
import inspect
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from extension_cases import (
    ARGUMENTS,
    ATOMICS,
    BITWISE,
    DEVNULL,
    EACH_ARGUMENT,
    FUNCTIONS,
    INTEGER,
    LIFE,
    LIMITS,
    Index,
    Real,
    call,
    dummy_arguments,
    good_arguments,
    one_pe_job,
    range_of,
    reset,
)

import _rocshmem4py as r
from conftest import job_env


@pytest.fixture(scope="module", autouse=True)
def job() -> Iterator[SimpleNamespace]:
    with one_pe_job() as things:
        yield things


@pytest.fixture(autouse=True)
def tidy(job: Any) -> Iterator[None]:
    """No test sees the words or registrations of another."""
    reset(job)
    yield
    reset(job)


# --- arguments ---------------------------------------------------------------------------------------------------


def test_every_atomic_of_the_matrix_is_there_and_no_other() -> None:
    assert {n for n in FUNCTIONS if "_atomic_" in n} == set(ATOMICS)
    for name, (_, _, arguments) in ATOMICS.items():
        assert [p.name for p in ARGUMENTS[name]] == arguments.split()


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - LIFE))
def test_right_arguments_by_position_by_keyword_and_mixed(name: str, job: Any) -> None:
    names = [p.name for p in ARGUMENTS[name]]
    by_position = call(name, good_arguments(name, job))
    reset(job)
    for n_first in range(len(names)):
        arguments = good_arguments(name, job)
        keywords = dict(reversed(list(zip(names[n_first:], arguments[n_first:], strict=True))))
        result = call(name, arguments[:n_first], keywords)
        assert type(result) is type(by_position)
        if "_atomic_" in name:
            assert result == by_position
        reset(job)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - LIFE))
def test_objects_with_index_are_ints(name: str, job: Any) -> None:
    arguments = [Index(a) if type(a) is int else a for a in good_arguments(name, job)]
    call(name, arguments)


@pytest.mark.parametrize(("name", "place"), EACH_ARGUMENT)
def test_wrong_type_names_function_and_argument(name: str, place: int, job: Any) -> None:
    for wrong in (object(), [1], "text", 1.5, b"123"):
        argument = ARGUMENTS[name][place].name
        if argument in ("value", "cond") and range_of(name, argument) is None and isinstance(wrong, float):
            continue
        if isinstance(wrong, {"what": str, "uid": bytes, "dtype": str, "op": str}.get(argument, int)):
            continue
        arguments = dummy_arguments(name)
        arguments[place] = wrong
        with pytest.raises(TypeError, match=rf"{name}: {argument} must be ") as caught:
            getattr(r, name)(*arguments)
        assert "config" in str(caught.value) or type(wrong).__name__ in str(caught.value)
    if ARGUMENTS[name][place].name not in ("stream", "config", "what", "xaxis_config", "yaxis_config"):
        arguments = dummy_arguments(name)
        arguments[place] = None
        with pytest.raises(TypeError, match=f"{name}: .*not NoneType"):
            getattr(r, name)(*arguments)


@pytest.mark.parametrize(("name", "place"), EACH_ARGUMENT)
def test_value_out_of_range_is_an_overflow_error_that_names_it(name: str, place: int, job: Any) -> None:
    argument = ARGUMENTS[name][place].name
    limits = range_of(name, argument)
    if limits is None:
        return
    for wrong in (limits[0] - 1, limits[1] + 1, 2**64, -(2**63) - 1, 2**200, -(2**200), 10**5000):
        if limits[0] <= wrong <= limits[1]:
            continue
        for given in (wrong, Index(wrong)):
            arguments = dummy_arguments(name)
            arguments[place] = given
            with pytest.raises(OverflowError, match=f"{name}: {argument} is ") as caught:
                getattr(r, name)(*arguments)
            assert str(wrong) in str(caught.value) if wrong < 10**4000 else "very large" in str(caught.value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_number_or_names_of_arguments(name: str, job: Any) -> None:
    function, parameters = getattr(r, name), ARGUMENTS[name]
    arguments = dummy_arguments(name)
    with pytest.raises(TypeError, match=rf"{name}: takes .* {len(arguments) + 1} given"):
        function(*arguments, 0)
    # The parser takes what is given first, so what is given is right and what is missing is the only fault.
    with pytest.raises(TypeError, match=f"{name}: unexpected keyword argument 'nosuch'"):
        function(nosuch=0)
    for i, parameter in enumerate(parameters):
        if parameter.default is not inspect.Parameter.empty:
            continue
        keywords = {p.name: a for j, (p, a) in enumerate(zip(parameters, arguments, strict=True)) if j != i}
        with pytest.raises(TypeError, match=f"{name}: {parameter.name} is missing"):
            function(**keywords)
        with pytest.raises(TypeError, match=f"{name}: {parameter.name} is missing"):
            function(*arguments[:i])
    if parameters:
        with pytest.raises(TypeError, match=f"{name}: {parameters[0].name} is given twice"):
            function(arguments[0], **{parameters[0].name: arguments[0]})


def test_keyword_names_need_not_be_interned(job: Any) -> None:
    built = "".join(["te", "am"])
    assert r.rocshmem_team_n_pes(**{built: 0}) == 1


def test_an_index_that_raises_or_lies_is_passed_on(job: Any) -> None:
    class Bad:
        def __index__(self) -> int:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        r.rocshmem_ptr(Bad(), 0)
    with pytest.raises(TypeError):
        r.rocshmem_ptr(Index("x"), 0)  # type: ignore[arg-type]


# --- streams and teams -------------------------------------------------------------------------------------------


def test_stream_objects_of_other_packages(job: Any) -> None:
    stream = r.rocshmemx_stream_create()

    class Cuda:
        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, stream)

    objects = (Index(stream), Cuda(), SimpleNamespace(cuda_stream=stream), SimpleNamespace(ptr=stream))
    for given in (None, 0, stream, *objects):
        r.rocshmem_putmem_on_stream(job.dest, job.source, 8, 0, given)
        r.rocshmem_barrier_all_on_stream(stream=given)
        r.rocshmemx_stream_synchronize(given)
    assert r.rocshmemx_stream_query(stream) is True
    with pytest.raises(TypeError, match="stream must be a stream"):
        r.rocshmem_barrier_all_on_stream(SimpleNamespace(ptr="no"))
    with pytest.raises(OverflowError, match="stream"):
        r.rocshmem_barrier_all_on_stream(SimpleNamespace(ptr=-1))

    class Failing:
        def __cuda_stream__(self) -> tuple[int, int]:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        r.rocshmem_barrier_all_on_stream(Failing())
    r.rocshmemx_stream_destroy(stream)


def test_special_teams(job: Any) -> None:
    assert r.rocshmem_team_n_pes(0) == r.rocshmem_team_n_pes(1) == 1
    assert r.rocshmem_team_my_pe(-1) == r.rocshmem_team_n_pes(-1) == -1
    assert r.rocshmem_team_translate_pe(0, 0, 1) == 0
    assert r.rocshmem_team_translate_pe(-1, 0, 0) == r.rocshmem_team_translate_pe(0, 0, -1) == -1
    for function in (r.rocshmem_team_my_pe, r.rocshmem_team_n_pes):
        with pytest.raises(ValueError, match=f"{function.__name__}: team 12345 is unknown"):
            function(12345)
    for special in (0, -1, 1):
        r.rocshmem_team_destroy(special)
    with pytest.raises(ValueError, match="rocshmem_team_destroy: team is -7, unknown team"):
        r.rocshmem_team_destroy(-7)
    with pytest.raises(ValueError, match="rocshmem_team_destroy"):
        r.rocshmem_team_destroy(12345)
    for name in ("rocshmem_barrier", "rocshmem_team_sync"):
        with pytest.raises(ValueError, match=name):
            getattr(r, name)(-1)


def test_streams_ignore_the_invalid_team(job: Any) -> None:
    r.rocshmem_barrier_on_stream(-1, 0)
    r.rocshmem_team_sync_on_stream(-1, 0)
    r.rocshmem_alltoallmem_on_stream(-1, job.dest, job.source, 8, 0)
    r.rocshmem_broadcastmem_on_stream(-1, job.dest, job.source, 8, 0, 0)


def test_split_and_destroy(job: Any) -> None:
    config = r.TeamConfig()
    config.num_contexts = 3
    status, team = r.rocshmem_team_split_strided(0, 0, 1, 1, config, 1)
    assert status == 0
    assert team > 1
    assert (r.rocshmem_team_my_pe(team), r.rocshmem_team_n_pes(team)) == (0, 1)
    r.rocshmem_team_destroy(team)
    with pytest.raises(ValueError, match="rocshmem_team_destroy"):
        r.rocshmem_team_destroy(team)
    for parent, start, stride, size in ((0, 1, 1, 1), (0, 0, 1, 2), (0, -1, 1, 1), (-1, 0, 1, 1)):
        status, team = r.rocshmem_team_split_strided(parent, start, stride, size)
        assert status != 0
        assert team == 0
    with pytest.raises(TypeError, match="config must be a TeamConfig or None"):
        r.rocshmem_team_split_strided(0, 0, 1, 1, 5)  # type: ignore[arg-type]


def test_team_config_attribute() -> None:
    config = r.TeamConfig()
    assert config.num_contexts == 0
    config.num_contexts = Index(7)  # type: ignore[assignment]
    assert config.num_contexts == 7
    assert repr(config) == "TeamConfig(num_contexts=7)"
    with pytest.raises(OverflowError, match="TeamConfig.num_contexts"):
        config.num_contexts = 2**31
    with pytest.raises(TypeError, match="TeamConfig.num_contexts"):
        config.num_contexts = "1"  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        del config.num_contexts
    with pytest.raises(TypeError):
        r.TeamConfig(1)  # type: ignore[call-arg]
    assert config.num_contexts == 7


# --- atomics -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type_name", INTEGER)
def test_integer_atomics_at_the_limits_of_their_type(type_name: str, job: Any) -> None:
    def amo(op: str, *arguments: int) -> int:
        result: int = getattr(r, f"rocshmem_{type_name}_atomic_{op}")(job.word, *arguments, 0)
        return result

    low, high = LIMITS[type_name]
    for x in (low, high, 0, 5):
        amo("set", x)
        assert amo("fetch") == x
    amo("set", high)
    assert amo("fetch_inc") == high  # wraps
    assert amo("fetch_add", high) == low
    amo("set", 7)
    assert amo("compare_swap", 6, 1) == 7
    assert amo("compare_swap", 7, low) == 7
    assert amo("swap", high) == low
    amo("add", 1)
    assert amo("fetch") == low
    amo("inc")
    assert amo("fetch") == low + 1


@pytest.mark.parametrize("type_name", BITWISE)
def test_bitwise_atomics(type_name: str, job: Any) -> None:
    def amo(op: str, *arguments: int) -> int:
        result: int = getattr(r, f"rocshmem_{type_name}_atomic_{op}")(job.word, *arguments, 0)
        return result

    amo("set", 0b1100)
    assert amo("fetch_and", 0b0110) == 0b1100
    assert amo("fetch_or", 0b0001) == 0b0100
    assert amo("fetch_xor", 0b0111) == 0b0101
    amo("or", 0b1000)
    amo("and", 0b1011)
    amo("xor", 0b0001)
    assert amo("fetch") == 0b1011


@pytest.mark.parametrize("type_name", ["float", "double"])
def test_real_atomics(type_name: str, job: Any) -> None:
    fetch, put, swap = (getattr(r, f"rocshmem_{type_name}_atomic_{op}") for op in ("fetch", "set", "swap"))
    for given in (1.5, 3, True, Real(0.25), Index(4), float("inf")):
        put(job.word, given, 0)
        expected = given.value if isinstance(given, (Real, Index)) else float(given)
        assert fetch(job.word, 0) == expected
        assert swap(job.word, -2.0, 0) == expected
    put(job.word, float("nan"), 0)
    assert fetch(job.word, 0) != fetch(job.word, 0)
    with pytest.raises(OverflowError, match=f"rocshmem_{type_name}_atomic_set: value is 1000000"):
        put(job.word, 10**400, 0)
    if type_name == "float":
        with pytest.raises(OverflowError, match="rocshmem_float_atomic_set: value is 1e\\+39, outside float"):
            put(job.word, 1e39, 0)
        put(job.word, 3.4e38, 0)


# --- results and errors ------------------------------------------------------------------------------------------


def test_allocation_results(job: Any) -> None:
    assert r.rocshmem_malloc(0) == 0
    r.rocshmem_free(0)
    p = r.rocshmem_align(4096, 10)
    assert p % 4096 == 0
    assert r.rocshmemx_allocation(p + 3) == (p, 10)
    r.rocshmem_free(p)
    assert r.rocshmemx_allocation(p) is None
    with pytest.raises(r.RocshmemError, match="rocshmem_free"):
        r.rocshmem_free(p)
    for function, arguments in (
        (r.rocshmem_malloc, (2**62,)),
        (r.rocshmem_calloc, (0, 8)),
        (r.rocshmem_calloc, (8, 0)),
        (r.rocshmem_calloc, (2**40, 2**40)),
        (r.rocshmem_align, (3, 8)),
        (r.rocshmem_align, (4, 8)),
    ):
        with pytest.raises(RuntimeError, match=function.__name__):
            function(*arguments)
    assert r.rocshmem_malloc(0) == 0  # the failures before are forgotten
    all_, used, largest = r.rocshmemx_heap_info()
    assert all_ >= largest > 0
    assert all_ >= used


def test_ptr_and_registration(job: Any) -> None:
    assert r.rocshmem_ptr(job.dest, 0) == job.dest
    assert r.rocshmem_ptr(ctypes.addressof(job.local), 0) == 0
    for pe in (-1, 1, 2**31 - 1):
        with pytest.raises(r.RocshmemArgumentError, match=f"rocshmem_ptr: pe .*{pe}"):
            r.rocshmem_ptr(job.dest, pe)
    addr = ctypes.addressof(job.local)
    assert r.rocshmem_buffer_register(0, 8) != 0
    assert r.rocshmem_buffer_register(addr, 0) != 0
    assert r.rocshmem_buffer_unregister(addr) != 0


def test_argument_errors_are_value_errors_with_facts(job: Any) -> None:
    with pytest.raises(ValueError, match="^rocshmem_putmem: ") as caught:
        r.rocshmem_putmem(job.dest, job.source, 8, 7)
    error = caught.value
    assert isinstance(error, r.RocshmemArgumentError)
    assert isinstance(error, r.RocshmemError)
    assert isinstance(error, RuntimeError)
    assert (error.op, error.status) == ("rocshmem_putmem", r.ROCSHMEMX_E_ARG)
    assert isinstance(error.pe, int)
    assert "7" in str(error)
    r.rocshmem_putmem(job.dest, job.source, 8, 0)  # the thread's slot is empty again


def test_a_failure_belongs_to_its_thread(job: Any) -> None:
    seen: list[object] = []

    def fail() -> None:
        for _ in range(200):
            try:
                r.rocshmem_int_atomic_inc(job.word, 3)
            except ValueError as error:
                seen.append(error)

    threads = [threading.Thread(target=fail) for _ in range(3)]
    for t in threads:
        t.start()
    for _ in range(2000):
        r.rocshmem_long_atomic_inc(job.word, 0)
    for t in threads:
        t.join()
    assert len(seen) == 600


def test_error_class_defaults() -> None:
    error = r.RocshmemError("made by hand")
    assert (error.op, error.pe, error.status) == ("", -1, r.ROCSHMEMX_E_BUG)
    assert r.RocshmemArgumentError("x").status == r.ROCSHMEMX_E_ARG


def test_facts_of_the_runtime(job: Any) -> None:
    assert r.rocshmemx_version().count(".") == 2
    assert (r.rocshmemx_device_name(), r.rocshmemx_device_ordinal()) == ("host", 0)
    assert r.rocshmem_query_thread() == 4
    assert r.rocshmem_get_device_ctx() > 0
    assert r.rocshmem_hipmodule_init(1) == 1
    counters = ["puts", "put_nbytes", "gets", "get_nbytes", "amos", "waits", "collectives"]
    assert list(r.rocshmemx_get_stats()) == counters
    assert r.rocshmemx_get_stats(0) == r.rocshmemx_get_stats(pe=0)
    with pytest.raises(ValueError, match="rocshmemx_get_stats"):
        r.rocshmemx_get_stats(7)
    with pytest.raises(ValueError, match="rocshmemx_print_info"):
        r.rocshmemx_print_info(DEVNULL, "nosuch")
    with pytest.raises(ValueError, match="rocshmemx_dump_state: fd is -1"):
        r.rocshmemx_dump_state(-1)


def test_unique_id_has_128_bytes(job: Any) -> None:
    for n in (0, 127, 129):
        with pytest.raises(RuntimeError, match="invalid unique ID size"):
            r.rocshmem_init_attr(0, 1, bytes(n))
    assert len(r.rocshmem_get_uniqueid()) == 128


# --- before init, after finalize, the end ------------------------------------------------------------------------


def run(source: str, **options: Any) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", textwrap.dedent(source)]
    return subprocess.run(argv, env=job_env(), text=True, capture_output=True, timeout=60, **options)


def test_before_init_and_after_finalize_every_call_says_so() -> None:
    done = run("""
        import inspect
        import _rocshmem4py as r
        allowed = set('''
            rocshmem_my_pe rocshmem_n_pes rocshmem_get_uniqueid rocshmem_query_thread hip_device_synchronize
            rocshmemx_set_device_from_env rocshmemx_initialized rocshmemx_version rocshmemx_device_name
            rocshmemx_device_ordinal rocshmemx_print_info rocshmemx_allocation rocshmemx_drop rocshmem_global_exit
            rocshmem_init rocshmem_init_attr rocshmem_info_get_version rocshmem_info_get_name
            rocshmem_vendor_get_version_info'''.split())

        def check():
            assert (r.rocshmem_my_pe(), r.rocshmem_n_pes(), r.rocshmem_query_thread()) == (-1, -1, 4)
            assert (r.rocshmemx_initialized(), r.rocshmemx_device_name()) == (False, "none")
            assert r.rocshmemx_device_ordinal() == -1
            r.hip_device_synchronize()
            r.rocshmemx_set_device_from_env()
            r.rocshmem_free(0)
            for team in (0, -1, 1):
                r.rocshmem_team_destroy(team)
            assert len(r.rocshmem_get_uniqueid()) == 128
            assert r.rocshmemx_allocation(4096) is None
            r.rocshmemx_drop(4096)
            for name in dir(r):
                function = getattr(r, name)
                if name in allowed or name.startswith("_") or not inspect.isbuiltin(function):
                    continue
                values = {"config": None, "ptr": 4096, "dest": 4096, "source": 4096, "sig_addr": 4096, "team": 5}
                values |= {"dtype": "int64", "op": "sum", "xaxis_config": None, "yaxis_config": None}
                names = set(inspect.signature(function).parameters)
                arguments = [values.get(p, 1) for p in inspect.signature(function).parameters]
                try:
                    function(*arguments)
                except r.RocshmemError as error:
                    said = f"{name}: called before rocshmem_init" in str(error)
                    if names & {"dtype", "itemsize"}:  # the error names the function of that type
                        said = "called before rocshmem_init" in str(error)
                    if error.status != r.ROCSHMEMX_E_STATE or not said:
                        print("BAD", name, repr(error))
                else:
                    print("BAD", name, "no error")

        check()
        r.rocshmem_init()
        try:
            r.rocshmem_init()
        except r.RocshmemError as error:
            assert error.status == r.ROCSHMEMX_E_STATE, error.status
        else:
            print("BAD second init")
        r.rocshmem_finalize()
        check()
        r.rocshmem_init_attr(0, 1, r.rocshmem_get_uniqueid())
        assert r.rocshmem_n_pes() == 1
        r.rocshmem_finalize()
        print("end")
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_global_exit_ends_the_process_and_keeps_its_output() -> None:
    done = run("import _rocshmem4py as r; r.rocshmem_init(); print('said'); r.rocshmem_global_exit(17)")
    assert (done.returncode, done.stdout) == (17, "said\n")


def test_import_twice_and_clean_exit_without_finalize() -> None:
    done = run("""
        import sys
        import _rocshmem4py as first
        del sys.modules["_rocshmem4py"]
        import _rocshmem4py as second
        assert first is not second
        del first
        try:
            second.rocshmem_barrier_all()
        except second.RocshmemError as error:
            print("caught", error.op)
        second.rocshmem_init()
        second._Memory(second.rocshmem_malloc(64), 64)
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "caught rocshmem_barrier_all\n", "")


def test_a_second_interpreter_is_refused() -> None:
    done = run("""
        import _rocshmem4py
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            import _interpreters as interpreters
        other = interpreters.create()
        source = '''if True:
            try:
                import _rocshmem4py
            except ImportError as error:
                assert "one interpreter" in str(error) or "subinterpreters" in str(error), error
            else:
                raise SystemError("a second interpreter got the extension")
        '''
        failure = interpreters.run_string(other, source)
        assert failure is None, failure
        print("refused")
    """)
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr


def test_keyboard_interrupt_ends_a_wait() -> None:
    source = """
        import sys
        import _rocshmem4py as r
        r.rocshmem_init()
        word = r.rocshmem_calloc(1, 8)
        stream = r.rocshmemx_stream_create()
        r.rocshmem_signal_wait_until_on_stream(word, r.ROCSHMEM_CMP_EQ, 1, stream)
        try:
            print("waiting", flush=True)
            r.rocshmemx_stream_synchronize(stream)
        except KeyboardInterrupt:
            print("interrupted")
        r.rocshmem_uint64_atomic_set(word, 1, 0)
        r.rocshmemx_stream_synchronize(stream)
        print("usable")
    """
    argv = [sys.executable, "-c", textwrap.dedent(source)]
    with subprocess.Popen(argv, env=job_env(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (out, process.returncode) == ("interrupted\nusable\n", 0), err
    assert err.startswith("rocshmem: state of") and "Traceback" not in err, err  # where it was when it was interrupted
    assert time.monotonic() - began < 5


# --- memory views ------------------------------------------------------------------------------------------------


@pytest.fixture
def memory(job: Any) -> Iterator[r._Memory]:
    m = r._Memory(r.rocshmem_calloc(1, 256), 256, True)
    yield m
    if not m._freed:
        r.rocshmem_free(m.ptr)
        m._mark_freed()


def test_memory_attributes(memory: r._Memory) -> None:
    assert int(memory) == memory.__index__() == memory.ptr
    assert (memory.nbytes, memory.own_data, memory._freed, memory._stale) == (256, True, False, False)
    for name in ("ptr", "nbytes", "own_data", "_freed", "_stale"):
        with pytest.raises(AttributeError):
            setattr(memory, name, 1)
    assert r.rocshmem_ptr(memory, 0) == memory.ptr
    view = r._Memory(memory.ptr + 8, 8, False, memory)
    assert memoryview(view).nbytes == 8
    assert r._Memory(ptr=0, nbytes=0, own_data=False).nbytes == 0


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((1,), TypeError, "nbytes"),
        ((-1, 8), OverflowError, "_Memory: ptr is -1"),
        ((0, -8), OverflowError, "_Memory: nbytes is -8"),
        ((0, 2**63), OverflowError, "_Memory: nbytes"),
        (("a", 8), TypeError, "_Memory: ptr must be"),
        ((0, 8, True, 5), TypeError, "_Memory: owner must be"),
    ],
)
def test_memory_wrong_arguments(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        r._Memory(*arguments)


def test_buffer_protocol(memory: r._Memory) -> None:
    view = memoryview(memory)
    assert (view.nbytes, view.format, view.shape, view.readonly) == (256, "B", (256,), False)
    view[:3] = b"abc"
    assert ctypes.string_at(memory.ptr, 3) == b"abc"
    assert bytes(r._Memory(0, 0, False)) == b""


def test_freed_memory_gives_no_view_but_keeps_the_old(memory: r._Memory) -> None:
    view = memoryview(memory)
    view[0] = 42
    r.rocshmem_free(memory.ptr)
    memory._mark_freed()
    memory._mark_freed()
    assert memory._freed
    other = r.rocshmem_malloc(256)
    assert other != memory.ptr  # a view lives: not reused
    assert view[0] == 42
    for export in (memoryview, lambda m: m.__array_interface__, lambda m: m.__dlpack__()):
        with pytest.raises(ValueError, match=f"{memory.ptr:#x} of 256 bytes is freed"):
            export(memory)
    with pytest.raises(ValueError, match="freed"):
        r._Memory(memory.ptr, 8, False, memory)
    del view
    r.rocshmem_free(other)
    assert r.rocshmem_malloc(256) in (other, memory.ptr)


def test_block_without_views_is_reused_at_once(memory: r._Memory) -> None:
    address = memory.ptr
    r.rocshmem_free(address)
    memory._mark_freed()
    again = r.rocshmem_malloc(256)
    assert again == address
    r.rocshmem_free(again)


def test_dropped_memory_is_released_by_the_next_allocation(job: Any) -> None:
    m: r._Memory | None = r._Memory(r.rocshmem_malloc(1 << 20), 1 << 20)
    used = r.rocshmemx_heap_info()[1]
    del m
    gc.collect()
    r.rocshmem_free(r.rocshmem_malloc(8))
    assert r.rocshmemx_heap_info()[1] <= used - (1 << 20)


def test_views_outlive_the_job() -> None:
    done = run("""
        import _rocshmem4py as r
        r.rocshmem_init()
        m = r._Memory(r.rocshmem_malloc(4096), 4096)
        view, capsule = memoryview(m), m.__dlpack__()
        view[:4] = b"here"
        r.rocshmem_finalize()
        assert m._stale
        assert bytes(view[:4]) == b"here"
        late = memoryview(m)  # the window is still mapped: m holds it
        assert bytes(late[:4]) == b"here"
        r.rocshmem_init()
        n = r._Memory(r.rocshmem_malloc(4096), 4096)
        assert m._stale and not n._stale
        del m
        view[:5] = b"still"
        assert bytes(late[:5]) == b"still"
        del view, late, capsule
        r.rocshmem_finalize()
        print("end")
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_array_interfaces(memory: r._Memory) -> None:
    assert memory.__array_interface__ == {
        "shape": (256,), "typestr": "|i1", "data": (memory.ptr, False), "strides": None, "version": 3,
    }  # fmt: skip
    assert not hasattr(memory, "__cuda_array_interface__")


def test_a_lent_interface_keeps_the_block_while_the_object_lives(memory: r._Memory) -> None:
    address = memory.__array_interface__["data"][0]  # type: ignore[index]
    r.rocshmem_free(memory.ptr)
    memory._mark_freed()
    other = r.rocshmem_malloc(256)
    assert other != address
    r.rocshmem_free(other)


def test_dlpack_arguments(memory: r._Memory) -> None:
    assert memory.__dlpack_device__() == (1, 0)
    assert 'capsule object "dltensor"' in repr(memory.__dlpack__())
    assert 'capsule object "dltensor"' in repr(memory.__dlpack__(max_version=(0, 8)))
    for version in ((1, 0), (1, 1), (2, 5)):
        assert 'capsule object "dltensor_versioned"' in repr(memory.__dlpack__(max_version=version))
    memory.__dlpack__(stream=None, dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="stream must be None"):
        memory.__dlpack__(stream=1)
    with pytest.raises(BufferError, match=r"dl_device is \(2, 0\)"):
        memory.__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError, match="max_version"):
        memory.__dlpack__(max_version=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="by position"):
        memory.__dlpack__(None)  # type: ignore[misc]
    with pytest.raises(TypeError, match="unexpected keyword argument 'nosuch'"):
        memory.__dlpack__(nosuch=1)  # type: ignore[call-arg]


def test_numpy_sees_the_memory(memory: r._Memory) -> None:
    np = pytest.importorskip("numpy", reason="NumPy is not installed")
    a = np.asarray(memory)
    d = np.from_dlpack(memory)
    assert (a.shape, a.dtype.itemsize, d.shape, d.dtype) == ((256,), 1, (256,), np.int8)
    assert a.ctypes.data == d.ctypes.data == memory.ptr
    a[7] = 9
    assert d[7] == 9
    copy = np.from_dlpack(memory, copy=True) if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else None
    if copy is not None:
        assert copy[7] == 9
        assert copy.ctypes.data != memory.ptr
    assert np.asarray(r._Memory(0, 0, False)).shape == (0,)
    empty = r._Memory(memory.ptr, 0, False)
    assert np.from_dlpack(empty).shape == (0,)


def test_torch_sees_the_memory(memory: r._Memory) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    t = torch.from_dlpack(memory)
    assert (tuple(t.shape), t.dtype, t.data_ptr()) == ((256,), torch.int8, memory.ptr)
    t[3] = 5
    assert memoryview(memory)[3] == 5
    r.rocshmem_free(memory.ptr)
    memory._mark_freed()
    other = r.rocshmem_malloc(256)
    assert other != memory.ptr  # the tensor lives
    r.rocshmem_free(other)
    del t


def test_capsules_are_released_by_their_last_user_from_any_thread(job: Any) -> None:
    np = pytest.importorskip("numpy", reason="NumPy is not installed")
    m = r._Memory(r.rocshmem_malloc(64), 64)
    address = m.ptr
    arrays = [np.from_dlpack(m) for _ in range(20)]
    unused = [m.__dlpack__(max_version=(1, 0)) for _ in range(20)]
    r.rocshmem_free(address)
    m._mark_freed()

    def release() -> None:
        arrays.clear()
        unused.clear()

    thread = threading.Thread(target=release)
    thread.start()
    thread.join()
    again = r.rocshmem_malloc(64)
    assert again == address
    r.rocshmem_free(again)
