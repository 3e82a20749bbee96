# SPDX-License-Identifier: MIT
"""How processes end, and what they fork: no hang, no crash, nothing left behind, and a word of what was forgotten."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Any

import pytest

HEAD = """
import atexit, gc, multiprocessing, os, signal, subprocess, sys, threading, time
import rocshmem4py as rs
def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\\n")
    sys.stdout.flush()
def until(what):
    deadline = time.monotonic() + 30
    while not what():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.001)
"""
BEGIN = """
rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
word = rs.rocshmem_calloc(1, 64)
rs.rocshmem_barrier_all()
say("READY", me, os.getpid())
rs.rocshmem_barrier_all()  # all have said so, before anybody's end writes something
"""


def start(watch: Callable[..., Any], n: int, body: str, *, begin: str = BEGIN, **env: str) -> Any:
    return watch(n, [sys.executable, "-c", HEAD + begin + body], env=env)


def ends(job: Any, status: int, *, timeout: float = 60) -> Any:
    """The job, which ended with this status and left nothing behind."""
    job.pids()
    assert job.end(timeout) == status, job
    assert job.leftovers() == [], job
    return job


def no_word_of(job: Any, *words: str) -> None:
    for line in job.lines:
        assert not any(word in line for word in words), job


# ---- forks ----

FORK = """
buffer, kept = rs.SymmetricBuffer(64), rs.SymmetricBuffer(64).view("uint8", (64,))
team = rs.rocshmem_team_split_strided(0, 0, 1, n)[1]
pid = os.fork()
if pid == 0:
    try:
        exec(compile(CALL, "call", "exec"))
        say("WENT", "through")
    except rs.RocshmemError as error:
        say("ERROR", error.pe == me, error)
    del buffer, kept  # what the job lent ends without a word to it
    gc.collect()
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
for _ in range(3):
    rs.rocshmem_barrier_all()
rs.rocshmem_uint64_atomic_add(word, 1, (me + 1) % n)
rs.rocshmem_barrier_all()
assert rs.rocshmem_uint64_atomic_fetch(word, me) == 1
rs.rocshmem_finalize()
say("DONE", me)
"""


@pytest.mark.parametrize(
    "call",
    [
        "rs.rocshmem_putmem(word, word, 8, 0)",
        "rs.rocshmem_uint64_atomic_add(word, 5, 0)",
        "rs.rocshmem_barrier_all()",
        "rs.rocshmem_malloc(8)",
        "rs.rocshmem_team_destroy(team)",
        "rs.rocshmem_finalize()",
        "rs.rocshmem_global_exit(3)",
        "rs.rocshmem_init()",
    ],
)
def test_a_forked_child_is_not_in_the_job(watch: Callable[..., Any], call: str) -> None:
    job = ends(start(watch, 2, f"CALL = {call!r}\n" + FORK), 0)
    errors = job.starting("ERROR")
    assert len(errors) == 2 and all("a child that PE" in e and e.startswith("True") for e in errors), job
    assert sorted(job.starting("DONE")) == ["0", "1"], job


def test_children_of_forks_may_end_in_any_way_and_outlive_nothing(watch: Callable[..., Any]) -> None:
    body = """
pids = []
for how in (lambda: os._exit(0), lambda: sys.exit(0), lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: 1 / 0,
            lambda: os.execlp("true", "true"), lambda: os.kill(os.getpid(), signal.SIGUSR1)):
    pid = os.fork()
    if pid == 0:
        sys.stderr = open(os.devnull, "w")
        how()
        os._exit(0)
    pids.append(pid)
for pid in pids:
    os.waitpid(pid, 0)
rs.rocshmem_barrier_all()
rs.rocshmem_finalize()
say("DONE", me)
"""
    job = ends(start(watch, 2, body), 0)
    assert len(job.starting("DONE")) == 2, job
    no_word_of(job, "rocshmem:")


def test_forks_while_other_threads_make_calls(watch: Callable[..., Any]) -> None:
    """The child has one thread; no lock that another one held may stop it, nor the parent."""
    body = """
buffer, stop = rs.SymmetricBuffer(64), threading.Event()
def churn():
    while not stop.is_set():
        memoryview(buffer).release()  # a hold, which takes the heap's lock
        rs.rocshmem_uint64_atomic_add(word, 1, me)
threads = [threading.Thread(target=churn) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(40):
    pid = os.fork()
    if pid == 0:
        try:
            rs.rocshmem_quiet()
        except rs.RocshmemError:
            os._exit(9)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
stop.set()
for thread in threads:
    thread.join()
rs.rocshmem_barrier_all()
rs.rocshmem_finalize()
say("DONE", me)
"""
    assert len(ends(start(watch, 2, body), 0).starting("DONE")) == 2


def test_processes_of_multiprocessing_and_subprocess(watch: Callable[..., Any], tmp_path: Any) -> None:
    program = tmp_path / "program.py"
    work = """
def work(queue):
    queue.put(rs.rocshmem_my_pe())
if __name__ == "__main__":
"""
    body = """
for how in ("fork", "spawn", "forkserver"):
    context = multiprocessing.get_context(how)
    queue = context.Queue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    assert queue.get(timeout=60) == -1
    process.join(60)
    assert process.exitcode == 0
assert subprocess.run([sys.executable, "-c", "import rocshmem4py"], timeout=60).returncode == 0
rs.rocshmem_barrier_all()
rs.rocshmem_finalize()
say("DONE", me)
"""
    program.write_text(HEAD + work + "\n".join("    " + line for line in (BEGIN + body).splitlines()))
    job = watch(2, [sys.executable, program])
    assert job.end(120) == 0, job
    assert len(job.starting("DONE")) == 2, job


# ---- threads ----

WAITER = """
failed = []
def wait():
    try:
        CALL
        say("WENT", "through")
    except rs.RocshmemError as error:
        failed.append(str(error))
thread = threading.Thread(target=wait, daemon=True)
thread.start()
until(lambda: rs.rocshmem_uint64_atomic_fetch(word, me) == 0)
time.sleep(0.05)  # it may be in the call or not yet: either is fine
"""


def test_daemon_threads_in_a_wait_end_with_the_process(watch: Callable[..., Any]) -> None:
    body = WAITER.replace("CALL", "rs.rocshmem_signal_wait_until(word, rs.ROCSHMEM_CMP_EQ, 5)")
    job = ends(start(watch, 2, body + 'say("DONE", me)\n'), 0)
    assert len(job.starting("DONE")) == 2, job
    no_word_of(job, "WENT", "Traceback")


def test_finalize_sends_threads_out_of_their_waits(watch: Callable[..., Any]) -> None:
    body = (
        WAITER.replace("CALL", "rs.rocshmem_signal_wait_until(word, rs.ROCSHMEM_CMP_EQ, 5)")
        + """
rs.rocshmem_finalize()
thread.join(30)
assert not thread.is_alive() and len(failed) == 1
say("FAILED", failed[0])
"""
    )
    job = ends(start(watch, 2, body), 0)
    failures = job.starting("FAILED")
    assert len(failures) == 2, job
    for text in failures:
        assert "rocshmem_signal_wait_until" in text and "rocshmem_finalize" in text, job


def test_threads_that_go_on_calling_get_errors_when_the_job_ends(watch: Callable[..., Any]) -> None:
    body = """
texts = [None] * 4
def call(i):
    try:
        while True:
            rs.rocshmem_uint64_atomic_fetch_add(word, 1, me)
            time.sleep(0)
    except rs.RocshmemError as error:
        texts[i] = str(error)
threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
for thread in threads:
    thread.start()
until(lambda: rs.rocshmem_uint64_atomic_fetch(word, me) > 100)
rs.rocshmem_finalize()
for thread in threads:
    thread.join(30)
assert all("rocshmem_finalize" in text for text in texts), texts
say("DONE", me)
"""
    assert len(ends(start(watch, 2, body), 0).starting("DONE")) == 2


# ---- ends of one PE, and of all ----


@pytest.mark.parametrize(
    ("leave", "status"),
    [
        ("sys.exit(3)", 3),
        ("raise ValueError('of one PE')", 1),
        ("os._exit(4)", 4),
        ("os.kill(os.getpid(), signal.SIGTERM)", 128 + signal.SIGTERM),
        # (this process may have been started so that its children ignore it)
        ("signal.signal(signal.SIGHUP, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGHUP)", 128 + signal.SIGHUP),
        ("os.kill(os.getpid(), signal.SIGSEGV)", 128 + signal.SIGSEGV),
        ("os.kill(os.getpid(), signal.SIGABRT)", 128 + signal.SIGABRT),
    ],
)
def test_one_pe_leaves_while_the_others_wait_for_it(watch: Callable[..., Any], leave: str, status: int) -> None:
    body = f"""
if me == 1:
    {leave}
    time.sleep(60)
try:
    rs.rocshmem_barrier_all()
except rs.RocshmemError as error:
    say("ERROR", error.pe, error)
    sys.exit(9)
"""
    job = ends(start(watch, 3, body), status)
    errors = job.starting("ERROR")
    assert len(errors) == 2, job
    assert all(e.startswith("1 ") and "without rocshmem_finalize" in e for e in errors), job


@pytest.mark.parametrize("early", [False, True], ids=["atexit after import", "atexit before import"])
def test_finalize_in_an_atexit_function(watch: Callable[..., Any], early: bool) -> None:
    """Whatever the order of atexit functions, the extension is there and all end together."""
    begin = """
import atexit, os, sys
def leave():
    import rocshmem4py as rs
    rs.rocshmem_barrier_all()
    rs.rocshmem_finalize()
    os.write(1, b"DONE\\n")
"""
    register = "atexit.register(leave)\n"
    text = begin + (register if early else "") + HEAD + ("" if early else register) + BEGIN
    job = ends(watch(2, [sys.executable, "-c", text]), 0)
    assert job.lines.count("DONE") == 2, job


def test_finalize_twice_is_an_error_and_a_new_job_can_begin(watch: Callable[..., Any]) -> None:
    body = """
rs.rocshmem_finalize()
try:
    rs.rocshmem_finalize()
    say("WENT", "through")
except rs.RocshmemError as error:
    say("ERROR", error)
rs.finalize_with_torch()  # harmless at any time
rs.rocshmem_init()
assert (rs.rocshmem_my_pe(), rs.rocshmem_n_pes()) == (me, n)
rs.rocshmem_barrier_all()
rs.rocshmem_finalize()
say("DONE", me)
"""
    job = ends(start(watch, 2, body), 0)
    assert len(job.starting("DONE")) == 2 and not job.starting("WENT"), job
    assert all("after rocshmem_finalize" in text for text in job.starting("ERROR")), job


@pytest.mark.parametrize("finalized", [True, False], ids=["finalized", "not finalized"])
def test_objects_that_live_until_the_interpreter_ends(watch: Callable[..., Any], finalized: bool) -> None:
    body = f"""
class Late:
    def __init__(self):
        self.buffer = rs.SymmetricBuffer(256)
        self.me = self  # only the collector finds it
    def __del__(self):
        try:
            self.buffer.free()
            rs.rocshmem_quiet()
        except rs.RocshmemError as error:
            assert "rocshmem_finalize" in str(error)
late, buffer = Late(), rs.SymmetricBuffer(64)
kept = memoryview(buffer)
sys.modules["kept_for_ever"] = (late, buffer, kept)
rs.rocshmem_barrier_all()
if {finalized}:
    rs.rocshmem_finalize()
say("DONE", me)
"""
    job = ends(start(watch, 2, body), 0)
    assert len(job.starting("DONE")) == 2, job
    no_word_of(job, "Exception ignored", "Traceback", "Error")


def test_an_interrupt_of_the_whole_job(watch: Callable[..., Any]) -> None:
    body = """
rs.rocshmem_signal_wait_until(word, rs.ROCSHMEM_CMP_EQ, 5)
"""
    job = start(watch, 3, body)
    job.pids()
    job.process.send_signal(signal.SIGINT)
    assert job.end(60) in (128 + signal.SIGINT, 1), job
    assert job.leftovers() == [], job


# ---- what was forgotten ----

FORGETFUL = """
rs.rocshmem_malloc(100)
rs.rocshmem_malloc(28)
rs.rocshmem_free(word)
rs.rocshmem_team_split_strided(0, 0, 1, n)
rs.rocshmem_barrier_all()
rs.rocshmem_finalize()
"""


def test_forgotten_memory_and_teams_are_named_when_asked_for(watch: Callable[..., Any]) -> None:
    job = ends(start(watch, 2, FORGETFUL, ROCSHMEM_DEBUG_LEVEL="WARN"), 0)
    assert sum("2 allocations, 128 bytes, were not freed" in line for line in job.lines) == 2, job
    assert sum("1 team was not destroyed" in line for line in job.lines) == 2, job


def test_nothing_is_said_by_default_or_when_nothing_was_forgotten(watch: Callable[..., Any]) -> None:
    no_word_of(ends(start(watch, 2, FORGETFUL), 0), "not freed", "not destroyed")
    tidy = "rs.rocshmem_free(word)\nrs.rocshmem_finalize()\n"
    no_word_of(ends(start(watch, 2, tidy, ROCSHMEM_DEBUG_LEVEL="WARN"), 0), "rocshmem_finalize")


def test_a_missing_finalize_is_named_when_asked_for(watch: Callable[..., Any]) -> None:
    job = ends(start(watch, 2, "pass\n", ROCSHMEM_DEBUG_LEVEL="WARN"), 0)
    assert sum("exits without rocshmem_finalize" in line for line in job.lines) == 2, job
    no_word_of(ends(start(watch, 2, "pass\n"), 0), "exits without")
