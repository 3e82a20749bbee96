# SPDX-License-Identifier: MIT
"""The surface: every name of the API is there, with its arguments; importing is quick and loads nothing foreign."""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import _rocshmem4py
import rocshmem4py
from conftest import job_env

#: name: arguments, in order, as the API names them.
FUNCTIONS = {
    "hip_device_synchronize": "",
    "rocshmem_init": "",
    "rocshmem_init_attr": "rank nranks uid",
    "rocshmem_get_uniqueid": "",
    "rocshmem_finalize": "",
    "rocshmem_hipmodule_init": "module stream",
    "rocshmem_my_pe": "",
    "rocshmem_n_pes": "",
    "rocshmem_team_my_pe": "team",
    "rocshmem_team_n_pes": "team",
    "rocshmem_malloc": "size",
    "rocshmem_calloc": "count size",
    "rocshmem_align": "alignment size",
    "rocshmem_free": "ptr",
    "rocshmem_buffer_register": "addr length",
    "rocshmem_buffer_unregister": "addr",
    "rocshmem_buffer_unregister_all": "",
    "rocshmem_ptr": "dest pe",
    "rocshmem_barrier_all": "",
    "rocshmem_barrier": "team",
    "rocshmem_sync_all": "",
    "rocshmem_team_sync": "team",
    "rocshmem_barrier_all_on_stream": "stream",
    "rocshmem_sync_all_on_stream": "stream",
    "rocshmem_barrier_on_stream": "team stream",
    "rocshmem_team_sync_on_stream": "team stream",
    "rocshmem_fence": "",
    "rocshmem_quiet": "",
    "rocshmem_putmem": "dest source nelems pe",
    "rocshmem_getmem": "dest source nelems pe",
    "rocshmem_putmem_nbi": "dest source nelems pe",
    "rocshmem_getmem_nbi": "dest source nelems pe",
    "rocshmem_putmem_on_stream": "dest source nelems pe stream",
    "rocshmem_getmem_on_stream": "dest source nelems pe stream",
    "rocshmem_putmem_signal_on_stream": "dest source nelems sig_addr signal sig_op pe stream",
    "rocshmem_signal_wait_until_on_stream": "sig_addr cmp cmp_value stream",
    "rocshmem_alltoallmem_on_stream": "team dest source bytes_per_pe stream",
    "rocshmem_broadcastmem_on_stream": "team dest source nbytes pe_root stream",
    "rocshmem_team_split_strided": "parent start stride size config mask",
    "rocshmem_team_destroy": "team",
    "rocshmem_team_translate_pe": "src_team src_pe dest_team",
    "rocshmem_query_thread": "",
    "rocshmem_global_exit": "status",
    "rocshmem_dump_stats": "",
    "rocshmem_reset_stats": "",
    "rocshmem_get_device_ctx": "",
    "rocshmem_alltoallmem": "team dest source nelems",
    "rocshmem_alltoallsmem": "team dest source dst sst nelems",
    "rocshmem_broadcastmem": "team dest source nelems pe_root",
    "rocshmem_collectmem": "team dest source nelems",
    "rocshmem_ctx_create": "options",
    "rocshmem_ctx_destroy": "ctx",
    "rocshmem_ctx_fence": "ctx",
    "rocshmem_ctx_get_team": "ctx",
    "rocshmem_ctx_getmem": "ctx dest source nelems pe",
    "rocshmem_ctx_getmem_nbi": "ctx dest source nelems pe",
    "rocshmem_ctx_putmem": "ctx dest source nelems pe",
    "rocshmem_ctx_putmem_nbi": "ctx dest source nelems pe",
    "rocshmem_ctx_putmem_signal": "ctx dest source nelems sig_addr signal sig_op pe",
    "rocshmem_ctx_putmem_signal_nbi": "ctx dest source nelems sig_addr signal sig_op pe",
    "rocshmem_ctx_quiet": "ctx",
    "rocshmem_fcollectmem": "team dest source nelems",
    "rocshmem_fcollectmem_on_stream": "team dest source nbytes stream",
    "rocshmem_info_get_name": "",
    "rocshmem_info_get_version": "",
    "rocshmem_putmem_signal": "dest source nelems sig_addr signal sig_op pe",
    "rocshmem_putmem_signal_nbi": "dest source nelems sig_addr signal sig_op pe",
    "rocshmem_quiet_on_stream": "stream",
    "rocshmem_signal_add": "sig_addr signal pe",
    "rocshmem_signal_add_on_stream": "sig_addr signal pe stream",
    "rocshmem_signal_fetch": "sig_addr",
    "rocshmem_signal_set": "sig_addr signal pe",
    "rocshmem_signal_set_on_stream": "sig_addr signal pe stream",
    "rocshmem_signal_wait_until": "sig_addr cmp cmp_value",
    "rocshmem_team_create_ctx": "team options",
    "rocshmem_team_get_config": "team mask",
    "rocshmem_team_split_2d": "parent xrange xaxis_config xaxis_mask yaxis_config yaxis_mask",
    "rocshmem_vendor_get_version_info": "",
}

#: The functions that take a type by name, or an item size; no C function has their names.
BY_NAME = {
    "rocshmemx_g": "source pe dtype",
    "rocshmemx_iget": "dest source dst sst nelems pe itemsize",
    "rocshmemx_iput": "dest source dst sst nelems pe itemsize",
    "rocshmemx_p": "dest value pe dtype",
    "rocshmemx_reduce": "team dest source nreduce dtype op",
    "rocshmemx_reduce_on_stream": "team dest source nreduce dtype op stream",
    "rocshmemx_reduce_scatter": "team dest source nreduce dtype op",
    "rocshmemx_test": "ivar cmp cmp_value dtype",
    "rocshmemx_test_all": "ivars nelems status cmp cmp_value dtype",
    "rocshmemx_test_all_vector": "ivars nelems status cmp cmp_values dtype",
    "rocshmemx_test_any": "ivars nelems status cmp cmp_value dtype",
    "rocshmemx_test_any_vector": "ivars nelems status cmp cmp_values dtype",
    "rocshmemx_test_some": "ivars nelems status cmp cmp_value dtype",
    "rocshmemx_test_some_vector": "ivars nelems status cmp cmp_values dtype",
    "rocshmemx_wait_until": "ivar cmp cmp_value dtype",
    "rocshmemx_wait_until_all": "ivars nelems status cmp cmp_value dtype",
    "rocshmemx_wait_until_all_vector": "ivars nelems status cmp cmp_values dtype",
    "rocshmemx_wait_until_any": "ivars nelems status cmp cmp_value dtype",
    "rocshmemx_wait_until_any_vector": "ivars nelems status cmp cmp_values dtype",
    "rocshmemx_wait_until_some": "ivars nelems status cmp cmp_value dtype",
    "rocshmemx_wait_until_some_vector": "ivars nelems status cmp cmp_values dtype",
}

PACKAGE_FUNCTIONS = {
    "rocshmem_create_buffer": "(nbytes)",
    "rocshmem_get_heap_bases": "(ptr)",
    "rocshmem_get_peer_ptr_table": "(ptr)",
    "rocshmem_get_peer_buffer": "(buf, peer)",
    "rocshmem_team_split_strided": "(parent, start, stride, size, config=None, mask=0)",
    "rocshmem_team_split_2d": ("(parent, xrange, xaxis_config=None, xaxis_mask=0, yaxis_config=None, yaxis_mask=0)"),
    "rocshmem_team_destroy": "(team)",
    "init_rocshmem_by_uniqueid": "(group)",
    "init_with_torch": "(group=None, backend='cpu:gloo,cuda:nccl', init_method=None)",
    "init_with_mpi": "(mpi_comm=None)",
    "finalize_with_torch": "()",
    "finalize_with_mpi": "()",
    "set_hip_device_from_env": "()",
    "reduce": "(dest, source, op='sum', team=0, stream=None)",
    "reduce_scatter": "(dest, source, op='sum', team=0)",
    "broadcast": "(dest, source, pe_root, team=0, stream=None)",
    "alltoall": "(dest, source, team=0, stream=None)",
    "fcollect": "(dest, source, team=0, stream=None)",
    "wait_until": "(ivar, cmp, value, stream=None)",
    "Context": "(team=0, options=0)",
    "SymmetricBuffer": "(size, *, ptr=None, dtype=None, own_data=True)",
}

CONSTANTS = {
    "ROCSHMEM_SUCCESS": 0, "ROCSHMEM_SIGNAL_SET": 0, "ROCSHMEM_SIGNAL_ADD": 1,
    "ROCSHMEM_CMP_EQ": 0, "ROCSHMEM_CMP_NE": 1, "ROCSHMEM_CMP_GT": 2,
    "ROCSHMEM_CMP_GE": 3, "ROCSHMEM_CMP_LT": 4, "ROCSHMEM_CMP_LE": 5,
    "ROCSHMEM_TEAM_WORLD": 0, "ROCSHMEM_TEAM_INVALID": -1,
    "ROCSHMEM_CTX_INVALID": 0, "ROCSHMEM_CTX_DEFAULT": 1, "ROCSHMEM_CTX_NOSTORE": 1, "ROCSHMEM_CTX_SERIALIZED": 2,
    "ROCSHMEM_CTX_WG_PRIVATE": 4, "ROCSHMEM_CTX_SHARED": 8, "ROCSHMEM_TEAM_DEFAULT_CONFIGS": 0,
    "ROCSHMEM_TEAM_NUM_CONTEXTS": 1,
}  # fmt: skip

BITWISE_TYPES = ["int32", "int64", "uint32", "uint64", "uint", "ulong", "ulonglong"]
INTEGER_TYPES = [*BITWISE_TYPES, "int", "long", "longlong", "size", "ptrdiff"]
ALL_TYPES = [*INTEGER_TYPES, "float", "double"]
#: op: its types, its arguments.
ATOMICS = {
    "fetch": (ALL_TYPES, "dest pe"),
    "set": (ALL_TYPES, "dest value pe"),
    "swap": (ALL_TYPES, "dest value pe"),
    "compare_swap": (INTEGER_TYPES, "dest cond value pe"),
    "fetch_add": (INTEGER_TYPES, "dest value pe"),
    "fetch_inc": (INTEGER_TYPES, "dest pe"),
    "add": (INTEGER_TYPES, "dest value pe"),
    "inc": (INTEGER_TYPES, "dest pe"),
    "fetch_and": (BITWISE_TYPES, "dest value pe"),
    "fetch_or": (BITWISE_TYPES, "dest value pe"),
    "fetch_xor": (BITWISE_TYPES, "dest value pe"),
    "and": (BITWISE_TYPES, "dest value pe"),
    "or": (BITWISE_TYPES, "dest value pe"),
    "xor": (BITWISE_TYPES, "dest value pe"),
}
ATOMIC_NAMES = {f"rocshmem_{t}_atomic_{op}": args for op, (types, args) in ATOMICS.items() for t in types}

PRIVATE_NAMES = [
    "__version__", "__author__", "_live_teams", "_set_hip_device_from_env", "_drain_live_teams",
    "_populate_torch_env_from_mpi", "_AMO_NAMES", "_HOST_API_BINDINGS", "_rocshmem_initialized",
]  # fmt: skip


def python(source: str, *options: str, env: dict[str, str | None] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a source text in a fresh interpreter."""
    argv = [sys.executable, *options, "-c", textwrap.dedent(source)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, env=job_env(env))


@pytest.mark.parametrize("name", sorted(FUNCTIONS | BY_NAME) + sorted(ATOMIC_NAMES))
def test_function_has_the_documented_arguments(name: str) -> None:
    wanted = (FUNCTIONS | BY_NAME | ATOMIC_NAMES)[name]
    function = getattr(_rocshmem4py, name)
    assert " ".join(inspect.signature(function).parameters) == wanted
    assert function.__doc__
    if name not in PACKAGE_FUNCTIONS:
        assert getattr(rocshmem4py, name) is function, "the package's name is the extension's function, not a wrapper"


@pytest.mark.parametrize("name", sorted(PACKAGE_FUNCTIONS))
def test_package_function_has_the_documented_signature(name: str) -> None:
    found = inspect.signature(getattr(rocshmem4py, name))
    bare = found.replace(
        parameters=[p.replace(annotation=p.empty) for p in found.parameters.values()], return_annotation=found.empty
    )
    assert str(bare) == PACKAGE_FUNCTIONS[name]
    assert getattr(rocshmem4py, name).__doc__


@pytest.mark.parametrize(("name", "value"), CONSTANTS.items())
def test_constant_has_upstreams_value(name: str, value: int) -> None:
    assert getattr(rocshmem4py, name) == value


def test_shared_team_is_neither_world_nor_invalid() -> None:
    assert isinstance(rocshmem4py.ROCSHMEM_TEAM_SHARED, int)
    assert rocshmem4py.ROCSHMEM_TEAM_SHARED not in (0, -1)


@pytest.mark.parametrize("name", PRIVATE_NAMES)
def test_name_that_programs_touch_is_there(name: str) -> None:
    assert hasattr(rocshmem4py, name)


def test_all_names_every_public_name_once() -> None:
    public = set(FUNCTIONS) | set(ATOMIC_NAMES) | set(PACKAGE_FUNCTIONS) | set(CONSTANTS)
    public |= {"ROCSHMEM_TEAM_SHARED", "TeamConfig", "RocshmemError"}
    listed: list[str] = getattr(rocshmem4py, "__all__")  # noqa: B009  (made at first use: type checkers see none)
    assert len(listed) == len(set(listed)), "a name is listed twice"
    assert not public - set(listed)
    assert [name for name in listed if not hasattr(rocshmem4py, name)] == []
    extra = set(listed) - public - {"RocshmemArgumentError"}
    assert not {name for name in extra if not name.startswith(("rocshmemx_", "ROCSHMEM_", "ROCSHMEMX_"))}


def test_star_import_gives_all_names() -> None:
    names: dict[str, object] = {}
    exec("from rocshmem4py import *", names)
    assert set(vars(rocshmem4py)["__all__"]) <= set(names)


def test_amo_names_are_the_whole_matrix_sorted() -> None:
    assert list(rocshmem4py._AMO_NAMES) == sorted(ATOMIC_NAMES)


def test_host_api_bindings_name_every_plain_function() -> None:
    assert sorted(rocshmem4py._HOST_API_BINDINGS) == sorted(FUNCTIONS)


def test_version_is_the_runtimes() -> None:
    assert rocshmem4py.__version__ == _rocshmem4py.rocshmemx_version()
    assert rocshmem4py.__version__.count(".") == 2


def test_error_classes_are_what_programs_catch() -> None:
    assert issubclass(rocshmem4py.RocshmemError, RuntimeError)
    assert issubclass(rocshmem4py.RocshmemArgumentError, (rocshmem4py.RocshmemError, ValueError))
    with pytest.raises(rocshmem4py.RocshmemError, match="before rocshmem_init") as caught:
        rocshmem4py.rocshmem_barrier_all()
    assert caught.value.op == "rocshmem_barrier_all"
    assert caught.value.pe == -1
    assert caught.value.status < 0


def test_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        rocshmem4py.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_not_initialized_before_init() -> None:
    assert rocshmem4py._rocshmem_initialized is False
    assert rocshmem4py.rocshmem_my_pe() == rocshmem4py.rocshmem_n_pes() == -1


def test_import_loads_no_torch_numpy_or_mpi() -> None:
    done = python("import sys, rocshmem4py; print(*sys.modules)")
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert not loaded & {"torch", "numpy", "mpi4py", "typing", "subprocess", "ctypes", "importlib.util"}


def test_import_takes_far_less_than_100_ms() -> None:
    """The cumulative time of -X importtime, the best of five: the machine may be busy with other tests."""
    best_us = min(
        int(line.split("|")[1])
        for _ in range(5)
        for line in python("import rocshmem4py", "-X", "importtime").stderr.splitlines()
        if line.split("|")[-1].strip() == "rocshmem4py"
    )
    assert best_us < 25_000


def test_missing_extension_is_an_import_error_that_says_what_to_do() -> None:
    source = """
        import sys
        sys.modules["_rocshmem4py"] = None
        try:
            import rocshmem4py
        except ImportError as error:
            assert error.name == "_rocshmem4py", error.name
            assert isinstance(error.__cause__, ImportError), error.__cause__
            print(error)
    """
    done = python(source)
    assert "_rocshmem4py" in done.stdout and "LD_LIBRARY_PATH" in done.stdout, done


def test_broken_extension_is_an_import_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "_rocshmem4py.abi3.so").write_bytes(b"no ELF file")
    source = f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        try:
            import rocshmem4py
        except ImportError as error:
            print(type(error.__cause__).__name__, error)
    """
    done = python(source)
    assert "_rocshmem4py" in done.stdout and "LD_LIBRARY_PATH" in done.stdout, done
    assert done.stdout.startswith("ImportError")


def test_extension_of_another_version_is_an_import_error(tmp_path: Path) -> None:
    (tmp_path / "_rocshmem4py.py").write_text(
        "class RocshmemError(RuntimeError): pass\nclass _Memory: pass\ndef rocshmemx_version(): return '0.0.1'\n"
    )
    source = f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        try:
            import rocshmem4py
        except ImportError as error:
            print(error)
    """
    done = python(source)
    assert "lacks" in done.stdout and "rocshmem_malloc" in done.stdout, done


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "8"}, "3 8 None 127.0.0.1 29500"),
        ({"OMPI_COMM_WORLD_RANK": "3", "RANK": "1", "OMPI_COMM_WORLD_LOCAL_RANK": "2"}, "1 None 2 127.0.0.1 29500"),
        ({"ROCSHMEM_MASTER_ADDR": "10.0.0.1", "ROCSHMEM_MASTER_PORT": "77"}, "None None None 10.0.0.1 77"),
        ({"MASTER_ADDR": "h", "ROCSHMEM_MASTER_ADDR": "10.0.0.1"}, "None None None h 29500"),
        ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "SLURM_LOCALID": "0"}, "1 2 0 127.0.0.1 29500"),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, "None None None 127.0.0.1 29500"),
    ],
)
def test_torch_variables_default_from_the_launchers(variables: dict[str, str | None], expected: str) -> None:
    source = """
        import os, rocshmem4py
        rocshmem4py._populate_torch_env_from_mpi()
        print(*(os.environ.get(n) for n in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")))
    """
    done = python(source, env=variables)
    assert done.stdout.strip() == expected, done


def test_command_without_a_name_explains_itself() -> None:
    done = subprocess.run([sys.executable, "-m", "rocshmem4py"], capture_output=True, text=True, env=job_env())
    assert done.returncode == 2
    assert "usage:" in done.stderr
    done = subprocess.run([sys.executable, "-m", "rocshmem4py", "dance"], capture_output=True, text=True, env=job_env())
    assert done.returncode == 2
    assert "'dance'" in done.stderr


def test_command_info_is_the_tool() -> None:
    done = subprocess.run([sys.executable, "-m", "rocshmem4py", "info"], capture_output=True, text=True, env=job_env())
    assert done.returncode == 0, done
    assert rocshmem4py.__version__ in done.stdout
    assert "ROCSHMEM_HEAP_SIZE" in done.stdout


def test_command_run_starts_a_job() -> None:
    source = """
import rocshmem4py as rs
rs.rocshmem_init()
print(f"PE {rs.rocshmem_my_pe()} of {rs.rocshmem_n_pes()}\\n", end="")
rs.rocshmem_finalize()
"""
    run = [sys.executable, "-m", "rocshmem4py", "run", "-n", "2"]
    done = subprocess.run(
        [*run, sys.executable, "-c", source], capture_output=True, text=True, timeout=60, env=job_env()
    )
    assert done.returncode == 0, done
    assert sorted(done.stdout.splitlines()) == ["PE 0 of 2", "PE 1 of 2"]
