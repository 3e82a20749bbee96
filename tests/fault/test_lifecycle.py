# SPDX-License-Identifier: MIT
"""Starting and ending: wrong environments, calls outside a job, a hundred jobs after each other that leave nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


def test_c_calls_before_init_end_the_program_with_a_message(calls: Path, tmp_path: Path) -> None:
    source = tmp_path / "early.c"
    source.write_text("""
#include <rocshmem/rocshmemx.h>
int main(void)
{
    rocshmem_quiet();
    return 0;
}
""")
    prefix = Path(sys.modules["rocshmem4py"].__file__ or "").parent
    program = tmp_path / "early"
    command = ["cc", f"-I{prefix}/include", str(source), "-o", str(program), f"-L{prefix}/lib", "-lrocshmem"]
    subprocess.run([*command, f"-Wl,-rpath,{prefix}/lib"], check=True, timeout=60)
    done = subprocess.run([program], capture_output=True, text=True, timeout=20)
    assert done.returncode == 1
    assert "rocshmem_quiet: called before rocshmem_init" in done.stderr, done.stderr


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
