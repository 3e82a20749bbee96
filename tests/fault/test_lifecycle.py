# SPDX-License-Identifier: MIT
"""Starting and ending: wrong environments, calls outside a job, a hundred jobs after each other that leave nothing."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rocshmem4py

AGAIN = """
import os, re, sys, time
import rocshmem4py as rs
def facts():
    fds = os.listdir("/proc/self/fd")
    with open("/proc/self/maps") as file:
        maps = [line for line in file if "rocshmem" in line and ".so" not in line]
    with open("/proc/self/status") as file:
        size = int(re.search(r"VmSize:\\s+(\\d+)", file.read())[1])
    return len(fds), len(os.listdir("/proc/self/task")), len(maps), size
def once():
    rs.rocshmem_init()
    me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
    p = rs.rocshmem_malloc(100000)
    rs.rocshmem_putmem(p, p, 100000, (me + 1) % n)
    stream = rs.rocshmemx_stream_create()
    status, team = rs.rocshmem_team_split_strided(0, 0, 1, n)
    word = rs.rocshmem_calloc(1, 8)
    rs.rocshmem_signal_wait_until_on_stream(word, 0, 1, stream)  # starts the worker
    rs.rocshmem_barrier_on_stream(team, stream)
    rs.rocshmem_uint64_atomic_set(word, 1, me)
    rs.rocshmemx_stream_synchronize(stream)
    if me % 2:
        rs.rocshmem_team_destroy(team)  # the others forget it, the stream and the memory
    rs.rocshmem_finalize()
for _ in range(10):
    once()
time.sleep(0.1)
before = facts()
for _ in range(100):
    once()
for _ in range(500):
    after = facts()
    if after[:3] == before[:3]:
        break
    time.sleep(0.01)  # a thread that was joined leaves /proc a little later
assert after[:3] == before[:3], f"(descriptors, threads, mappings, KiB) were {before}, are {after}"
assert after[3] - before[3] < 4096, f"the address space grew from {before[3]} to {after[3]} KiB"
sys.stdout.write("constant\\n")
"""


@pytest.mark.parametrize("n", [1, 4])
def test_a_hundred_jobs_after_each_other_leave_descriptors_mappings_and_threads_as_they_were(
    run_job: Callable[..., Any], n: int
) -> None:
    assert run_job(n, AGAIN, timeout=120).lines == ["constant"] * n


PREFIX = Path(rocshmem4py.__file__).parent


def run_c(folder: Path, text: str, *libraries: str, lib: Path = PREFIX / "lib") -> subprocess.CompletedProcess[str]:
    """Compile a program with the installed headers and the libraries in lib, run it as a job of one PE."""
    source, program = folder / "program.c", folder / "program"
    source.write_text(text)
    command = ["cc", f"-I{PREFIX}/include", str(source), "-o", str(program), f"-L{PREFIX}/lib", *libraries]
    subprocess.run([*command, f"-Wl,-rpath,{lib}"], check=True, timeout=60)
    return subprocess.run([program], capture_output=True, text=True, timeout=20)


def test_c_calls_before_init_end_the_program_with_a_message(calls: Path, tmp_path: Path) -> None:
    done = run_c(
        tmp_path,
        """
#include <rocshmem/rocshmemx.h>
int main(void)
{
    rocshmem_quiet();
    return 0;
}
""",
        "-lrocshmem",
    )
    assert done.returncode == 1
    assert "rocshmem_quiet: called before rocshmem_init" in done.stderr, done.stderr


def test_a_handler_may_change_an_error_and_hand_it_on(calls: Path, tmp_path: Path) -> None:
    done = run_c(
        tmp_path,
        """
#include <stdio.h>
#include <rocshmem/rocshmemx.h>
static void under_my_name(const rocshmemx_error_t *error, void *arg)
{
    rocshmemx_error_t mine = *error;
    snprintf(mine.op, sizeof mine.op, "%s", (const char *)arg);
    rocshmemx_default_error(&mine);
}
int main(void)
{
    rocshmemx_set_error_handler(under_my_name, "my_put");
    rocshmem_init();
    int *there = rocshmem_malloc(sizeof *there);
    rocshmem_int_p(there, 1, 7);
    return 0;
}
""",
        "-lrocshmem",
    )
    assert done.returncode == 1
    assert "PE 0: my_put: pe 7 is out of range" in done.stderr, done.stderr


INIT_ATTR = """
#include <stdio.h>
#include <rocshmem/rocshmemx.h>
int main(void)
{
    static const long any; /* stands for an MPI_Comm: nobody who could look into it is found */
    rocshmem_init_attr_t attr = {.rank = 0, .nranks = 1, .mpi_comm = (void *)&any};
    rocshmemx_error_t error = {.text = ""};
    ATTR;
    int status = rocshmem_init_attr(FLAGS, WHICH);
    rocshmemx_take_error(&error);
    printf("%d %d %s: %s\\n", status, rocshmem_my_pe(), error.op, error.text);
    rocshmem_init(); /* nothing was begun: a job can still be made */
    printf("%d\\n", rocshmem_n_pes());
    rocshmem_finalize();
    return 0;
}
"""


def init_attr(folder: Path, attr: str, flags: str, which: str, lib: Path = PREFIX / "lib") -> tuple[int, str]:
    text = INIT_ATTR.replace("ATTR;", attr + ";").replace("FLAGS", flags).replace("WHICH", which)
    done = run_c(folder, text, "-lrocshmem", lib=lib)
    assert done.returncode == 0, done
    line, n_pes = done.stdout.splitlines()
    status, pe, text = line.split(" ", 2)
    assert (pe, n_pes) == ("-1", "1") and text.startswith("rocshmem_init_attr: "), done
    return int(status), text


@pytest.mark.parametrize(
    ("plugin", "reason"),
    [(None, "cannot open shared object file"), (b"", "file too short"), (b"text" * 99, "invalid ELF header")],
    ids=["absent", "empty", "no library"],
)
def test_a_communicator_without_the_mpi_plug_in_is_an_error_that_says_what_else_to_do(
    calls: Path, tmp_path: Path, plugin: bytes | None, reason: str
) -> None:
    for library in (PREFIX / "lib").glob("librocshmem.so*"):
        shutil.copy(library, tmp_path)
    if plugin is not None:
        (tmp_path / "librocshmem_mpi.so").write_bytes(plugin)
    status, text = init_attr(tmp_path, "", "ROCSHMEM_INIT_WITH_MPI_COMM", "&attr", lib=tmp_path)
    assert status == rocshmem4py.ROCSHMEMX_E_UNSUPPORTED, text
    for word in ("librocshmem_mpi.so", reason, "when CMake finds MPI", "ROCSHMEM_INIT_WITH_UNIQUEID"):
        assert word in text, text


@pytest.mark.parametrize(
    ("attr", "flags", "which", "words"),
    [
        ("attr.mpi_comm = NULL", "ROCSHMEM_INIT_WITH_MPI_COMM", "&attr", ["attr->mpi_comm is NULL", "MPI_Comm"]),
        ("", "ROCSHMEM_INIT_WITH_MPI_COMM", "NULL", ["attr is NULL"]),
        ("", "ROCSHMEM_INIT_WITH_UNIQUEID", "NULL", ["attr is NULL"]),
        ("", "7", "&attr", ["flags 7", "ROCSHMEM_INIT_WITH_UNIQUEID (1)", "ROCSHMEM_INIT_WITH_MPI_COMM (0)"]),
        ("attr.nranks = 0", "ROCSHMEM_INIT_WITH_UNIQUEID", "&attr", ["nranks 0"]),
        ("attr.rank = 1", "ROCSHMEM_INIT_WITH_UNIQUEID", "&attr", ["rank 1", "from 0 to 0"]),
        ("attr.rank = -1", "ROCSHMEM_INIT_WITH_UNIQUEID", "&attr", ["rank -1", "from 0 to 0"]),
    ],
)
def test_wrong_arguments_of_init_attr_are_errors_that_name_them(
    calls: Path, tmp_path: Path, attr: str, flags: str, which: str, words: list[str]
) -> None:
    status, text = init_attr(tmp_path, attr, flags, which)
    assert status == rocshmem4py.ROCSHMEMX_E_ARG, text
    assert all(word in text for word in words), text


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("shmem_int_p(&number, 1, 7)", "shmem_int_p: pe 7 is out of range"),
        ("shmem_clear_lock(&lock)", "shmem_clear_lock: lock"),
        ("shmem_set_lock(&lock), shmem_set_lock(&lock)", "shmem_set_lock: lock"),
        ("shmem_barrier(0, -1, 1, sync)", "shmem_barrier: logPE_stride -1"),
        ("shmem_long_sum_to_all(&lock, &lock, -1, 0, 0, 1, work, sync)", "shmem_long_sum_to_all: nreduce -1"),
        ("shmem_init()", "shmem_init: this process is PE 0 of a job already"),
    ],
)
def test_openshmem_errors_have_openshmem_names(calls: Path, tmp_path: Path, call: str, words: str) -> None:
    text = f"""
#include <shmem.h>
static int number;
static long lock, sync[SHMEM_REDUCE_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
int main(void)
{{
    (void)number, (void)lock, (void)sync, (void)work;
    shmem_init();
    {call};
    return 0;
}}
"""
    done = run_c(tmp_path, text, "-lshmem", "-lrocshmem")
    assert done.returncode == 1
    assert f"PE 0: {words}" in done.stderr, done.stderr
    assert "PE 0: rocshmem" not in done.stderr


def test_an_openshmem_collective_tells_its_first_wrong_argument_and_goes_on(calls: Path, tmp_path: Path) -> None:
    text = """
#include <shmem.h>
int main(void)
{
    int good = 1;
    shmem_init();
    long *dest = shmem_malloc(8 * sizeof(long));
    good &= shmem_long_broadcast(SHMEM_TEAM_INVALID, dest, dest, 8, 0) != 0;
    good &= shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, dest, 8, 7) != 0;
    good &= shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, dest, 9) != 0;
    good &= shmem_team_sync(SHMEM_TEAM_WORLD) == 0;
    shmem_finalize();
    return !good;
}
"""
    done = run_c(tmp_path, text, "-lshmem", "-lrocshmem")
    assert done.returncode == 0, done.stderr
    assert "PE 0: shmem_long_broadcast: pe_root 7 is out of range" in done.stderr, done.stderr
    assert done.stderr.count("PE 0: ") == 1, done.stderr


JOIN = """
import sys
import rocshmem4py as rs
try:
    rs.rocshmem_init()
    sys.stdout.write("joined\\n")
    rs.rocshmem_finalize()
except rs.RocshmemError as error:
    sys.stdout.write(f"refused {error.status} {error}\\n")
"""
E_CONFIG = -13


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ROCSHMEM_HEAP_SIZE", "lots"),
        ("ROCSHMEM_HEAP_SIZE", "-1"),
        ("ROCSHMEM_HEAP_SIZE", "1Q"),
        ("ROCSHMEM_HEAP_SIZE", "99999999999999999999"),
        ("ROCSHMEM_TIMEOUT", "soon"),
        ("ROCSHMEM_TIMEOUT", "-2"),
        ("ROCSHMEM_BOOTSTRAP_TIMEOUT", "1 minute"),
        ("ROCSHMEM_DEBUG_LEVEL", "LOUD"),
        ("ROCSHMEM_MAX_NUM_TEAMS", "many"),
        ("ROCSHMEM_DEVICE", "abacus"),
        ("ROCSHMEM_BACKEND", "pigeons"),
    ],
)
def test_a_bad_value_is_an_error_that_names_variable_and_value(
    run_job: Callable[..., Any], variable: str, value: str
) -> None:
    job = run_job(1, JOIN, launcher="none", env={variable: value})
    assert job.stdout.startswith(f"refused {E_CONFIG} "), str(job)
    assert variable in job.stdout and value in job.stdout, str(job)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ROCSHMEM_HEAP_SIZE", "64M"),
        ("ROCSHMEM_HEAP_SIZE", "5G"),
        ("ROCSHMEM_TIMEOUT", "0.5"),
        ("ROCSHMEM_DEVICE", "host"),
        ("ROCSHMEM_BACKEND", "ipc"),
        ("ROCSHMEM_HEAP_ALLOCATOR_TYPE", "pow2bins"),
        ("ROCSHMEM_MAX_NUM_CONTEXTS", "64"),
        ("ROCSHMEM_HEAPSIZE", "64M"),
    ],
)
def test_a_good_value_and_an_unknown_variable_are_accepted_silently(
    run_job: Callable[..., Any], variable: str, value: str
) -> None:
    job = run_job(2, JOIN, env={variable: value})
    assert (job.lines, job.stderr) == (["joined"] * 2, ""), str(job)


def test_an_unknown_variable_is_a_warning_with_a_suggestion(run_job: Callable[..., Any]) -> None:
    job = run_job(1, JOIN, launcher="none", env={"ROCSHMEM_HEAPSIZE": "1G", "ROCSHMEM_DEBUG_LEVEL": "WARN"})
    assert job.lines == ["joined"]
    assert "ROCSHMEM_HEAPSIZE" in job.stderr and "ROCSHMEM_HEAP_SIZE" in job.stderr, job.stderr


def test_heap_sizes_that_differ_are_an_error_on_every_pe(run_job: Callable[..., Any]) -> None:
    program = 'import os\nif os.environ["RANK"] == "1":\n    os.environ["ROCSHMEM_HEAP_SIZE"] = "2M"\n' + JOIN
    job = run_job(2, program, env={"ROCSHMEM_HEAP_SIZE": "1M"})
    assert len(job.lines) == 2, str(job)
    for line in job.lines:
        assert line.startswith(f"refused {E_CONFIG} "), line
        assert all(word in line for word in ("ROCSHMEM_HEAP_SIZE", "PE 0", "PE 1", "1048576", "2097152")), line


def test_a_failed_init_may_be_tried_again(run_job: Callable[..., Any]) -> None:
    program = (
        'import os\nos.environ["ROCSHMEM_HEAP_SIZE"] = "lots"\n'
        + JOIN
        + 'del os.environ["ROCSHMEM_HEAP_SIZE"]\n'
        + JOIN
    )
    job = run_job(2, program)
    assert [line.split()[0] for line in job.lines] == ["joined", "joined", "refused", "refused"], str(job)


def test_max_num_teams_is_a_limit_that_names_itself(run_job: Callable[..., Any]) -> None:
    program = """
    import _rocshmem4py as raw
    import rocshmem4py as rs
    rs.rocshmem_init()
    n, made = rs.rocshmem_n_pes(), []
    try:
        while len(made) < 20:
            made.append(raw.rocshmem_team_split_strided(0, 0, 1, n)[1])
    except rs.RocshmemError as error:
        assert error.status == rs.ROCSHMEMX_E_LIMIT and "ROCSHMEM_MAX_NUM_TEAMS" in str(error), error
    assert 1 <= len(made) <= 10, len(made)
    for team in made:
        raw.rocshmem_team_destroy(team)
    status, team = raw.rocshmem_team_split_strided(0, 0, 1, n)
    assert status == 0
    rs.rocshmem_finalize()
    """
    run_job(2, program, env={"ROCSHMEM_MAX_NUM_TEAMS": "10"})


def test_memory_above_the_limit_of_the_process_is_an_error_not_a_crash(run_job: Callable[..., Any]) -> None:
    program = (
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        'import os\nos.environ["ROCSHMEM_HEAP_SIZE"] = "64G"\n' + JOIN
    )
    job = run_job(1, program, launcher="none")
    assert job.stdout.startswith("refused") and "ROCSHMEM_HEAP_SIZE" in job.stdout, str(job)
