# SPDX-License-Identifier: MIT
"""rocshmem-run, with programs that need no runtime: what it starts, says, passes on, and leaves behind (nothing)."""

from __future__ import annotations

import os
import pty
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import find_tool, job_env


def run(*args: object, stdin: str = "", timeout: float = 60, **options: object) -> subprocess.CompletedProcess[str]:
    """rocshmem-run with these arguments, to its end."""
    command = [find_tool("rocshmem-run"), *map(str, args)]
    options.setdefault("env", job_env())
    return subprocess.run(command, input=stdin, timeout=timeout, capture_output=True, text=True, **options)  # type: ignore[call-overload,no-any-return]


def start(*args: object, **options: object) -> subprocess.Popen[str]:
    """The same, running; its stdout is a pipe."""
    command = [find_tool("rocshmem-run"), *map(str, args)]
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=job_env(), **options)  # type: ignore[call-overload,no-any-return]


def until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait for a condition; False when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def is_alive(pid: int) -> bool:
    """Whether there is such a process, other than as a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def read_pids(process: subprocess.Popen[str], n: int) -> list[int]:
    """The numbers that a job prints, one a line."""
    assert process.stdout
    return [int(process.stdout.readline()) for _ in range(n)]


# ---- what a PE is given ----


def test_each_pe_has_its_rank_and_the_size() -> None:
    names = ["ROCSHMEM_RUN_RANK", "RANK", "LOCAL_RANK", "ROCSHMEM_RUN_SIZE", "WORLD_SIZE", "LOCAL_WORLD_SIZE"]
    done = run("-n", 3, "sh", "-c", "echo " + " ".join(f"${name}" for name in names))
    assert sorted(done.stdout.splitlines()) == [f"{pe} {pe} {pe} 3 3 3" for pe in range(3)]
    assert (done.returncode, done.stderr) == (0, "")


def test_outer_ranks_are_replaced_and_a_given_master_is_kept() -> None:
    env = job_env({"RANK": "17", "WORLD_SIZE": "99", "MASTER_ADDR": "example.org", "MASTER_PORT": "1234"})
    done = run("-n", 1, "sh", "-c", "echo $RANK $WORLD_SIZE $MASTER_ADDR $MASTER_PORT", env=env)
    assert done.stdout == "0 1 example.org 1234\n"


def test_master_port_is_free_and_can_be_listened_on() -> None:
    program = (
        "import os, socket; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1);"
        "s.bind((os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))); s.listen(); print('listening')"
    )
    done = run(sys.executable, "-c", program)
    assert (done.stdout, done.stderr) == ("listening\n", "")


def test_unique_id_is_handed_out_and_is_not_in_the_environment() -> None:
    program = (
        "import os, socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0' + os.environ['ROCSHMEM_RUN_SOCKET'])\n"
        "uid = s.recv(128, socket.MSG_WAITALL); os.write(1, uid.hex().encode() + b'\\n')"
    )
    done = run("-n", 2, sys.executable, "-c", program)
    first, second = done.stdout.split()
    assert first == second and len(first) == 256
    dump = run("-n", 1, "env").stdout
    assert first not in dump


def test_env_heap_and_chdir_reach_the_pes(tmp_path: Path) -> None:
    options = ["--env", "COLOUR=deep blue", "--env=EMPTY=", "--heap", "64M", "--chdir", str(tmp_path)]
    done = run("-n", 1, *options, "sh", "-c", 'echo "$COLOUR/${EMPTY-unset}/$ROCSHMEM_HEAP_SIZE/$(pwd)"')
    assert done.stdout == f"deep blue//64M/{tmp_path}\n"


def test_the_words_of_mpirun_are_understood() -> None:
    show = [sys.executable, "-c", "import os; print(os.environ['COLOUR'], os.environ['WORLD_SIZE'])"]
    done = run(
        "-np", 2, "--prefix", "--oversubscribe", "--allow-run-as-root", "--map-by", "core", "-x", "COLOUR=red", *show
    )
    assert (done.returncode, "".join(sorted(done.stdout.splitlines(True)))) == (0, "[0] red 2\n[1] red 2\n"), (
        done.stderr
    )
    done = run("-x", "COLOUR=blue", "-x", "HOME", "--bind-to", "none", "-np", 1, *show)
    assert (done.returncode, done.stdout) == (0, "blue 1\n"), done.stderr
    done = run(
        "-mca", "btl", "self", "-l", "-oversubscribe", "--n", 1, "-map-by", "ppr:8:node", "-x", "COLOUR=grey", *show
    )
    assert (done.returncode, done.stdout) == (0, "[0] grey 1\n"), done.stderr


def test_the_words_of_hydra_are_understood(tmp_path: Path) -> None:
    show = [sys.executable, "-c", "import os; print(os.environ['COLOUR'], os.environ['WORLD_SIZE'], os.getcwd())"]
    done = run("-n", 1, "-ppn", 1, "-genv", "COLOUR", "a=b", "-wdir", tmp_path, *show)
    assert (done.returncode, done.stdout) == (0, f"a=b 1 {tmp_path}\n"), done.stderr
    done = run("-V")
    assert (done.returncode, done.stdout) == (0, run("--version").stdout), done.stderr


def test_oshrun_is_the_same_program() -> None:
    assert Path(find_tool("oshrun")).read_bytes() == Path(find_tool("rocshmem-run")).read_bytes()


def test_options_after_the_program_are_the_programs() -> None:
    assert run("-n", 1, "echo", "-n", "7", "--help").stdout == "7 --help"


def test_stdin_goes_to_pe_0_only() -> None:
    done = run("-n", 3, "--prefix", "cat", stdin="one\ntwo\n")
    assert done.stdout == "[0] one\n[0] two\n"


def test_bind_pins_round_robin() -> None:
    done = run("-n", 3, "--prefix", "--bind", sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))")
    cores = sorted(os.sched_getaffinity(0))
    assert sorted(done.stdout.splitlines()) == [f"[{pe}] {cores[pe % len(cores)]}" for pe in range(3)]


def test_signals_and_limits_are_as_without_the_launcher() -> None:
    program = "grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; ulimit -n"
    alone = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=True)
    assert run("-n", 1, "sh", "-c", program).stdout == alone.stdout


def test_no_descriptor_of_the_launcher_is_inherited() -> None:
    done = run("-n", 2, "--prefix", "sh", "-c", "echo $(ls /proc/self/fd)")
    assert sorted(done.stdout.splitlines()) == ["[0] 0 1 2 3", "[1] 0 1 2 3"]  # 3: the folder that ls reads


def test_closed_standard_descriptors_do_not_hurt() -> None:
    launcher = find_tool("rocshmem-run")
    done = subprocess.run(["sh", "-c", f"{launcher} -n 2 true <&- >&- 2>&-"], timeout=30, check=False)
    assert done.returncode == 0


# ---- output ----


def test_prefixed_lines_are_whole_and_complete() -> None:
    program = "import sys\nfor i in range(3000): sys.stdout.write(f'{i} ' + 'x' * (i % 300) + '\\n')"
    done = run("-n", 4, "--prefix", sys.executable, "-c", program)
    for pe in range(4):
        mine = [line[4:] for line in done.stdout.splitlines() if line.startswith(f"[{pe}] ")]
        assert mine == [f"{i} " + "x" * (i % 300) for i in range(3000)]
    assert len(done.stdout.splitlines()) == 12000


def test_prefix_keeps_stdout_and_stderr_apart() -> None:
    done = run("-n", 1, "--prefix", "sh", "-c", "echo out; echo err >&2")
    assert (done.stdout, done.stderr) == ("[0] out\n", "[0] err\n")


def test_prefix_ends_an_unfinished_line() -> None:
    assert run("-n", 1, "--prefix", "printf", "no newline").stdout == "[0] no newline\n"


def test_prefix_of_a_line_of_half_a_megabyte_is_one_line() -> None:
    done = run("-n", 2, "--prefix", sys.executable, "-c", "print('x' * 500000)")
    assert sorted(done.stdout.splitlines()) == ["[0] " + "x" * 500000, "[1] " + "x" * 500000]


def test_prefix_of_an_endless_line_is_cut_and_nothing_is_lost() -> None:
    done = run("-n", 1, "--prefix", sys.executable, "-c", "print('x' * 3000000)")
    lines = done.stdout.splitlines()
    assert all(line.startswith("[0] ") for line in lines) and len(lines) > 1
    assert sum(len(line) - 4 for line in lines) == 3000000


def test_prefix_to_a_reader_that_left_ends_the_job() -> None:
    launcher = find_tool("rocshmem-run")
    done = subprocess.run(
        ["sh", "-c", f"{launcher} -n 2 --prefix yes | head -1"], capture_output=True, text=True, timeout=30, check=False
    )
    assert re.fullmatch(r"\[[01]\] y\n", done.stdout)


def test_a_slow_reader_does_not_stop_ctrl_c() -> None:
    process = start("-n", 1, "--prefix", "--grace", "0.1", "yes")
    assert process.stdout and process.stdout.readline() == "[0] y\n"
    time.sleep(0.2)  # all pipes are full by now; nobody reads
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    assert until(lambda: process.poll() is not None or not process.stdout.read(65536))  # type: ignore[union-attr]
    assert process.wait(10) in (128 + signal.SIGINT, 128 + signal.SIGTERM)


# ---- how it ends ----


def test_status_is_that_of_the_first_pe_that_failed_and_it_is_named() -> None:
    done = run("-n", 3, "--grace", "0.1", "sh", "-c", "[ $RANK = 1 ] && exit 42; exec sleep 60")
    assert done.returncode == 42
    assert re.match(
        r"rocshmem-run: PE 1 \(pid \d+\) exited with status 42 after [\d.]+ s; ending the other PEs\n", done.stderr
    )


def test_a_killed_pe_is_named_with_its_signal() -> None:
    done = run("-n", 4, "--grace", "0.1", "sh", "-c", "[ $RANK = 3 ] && kill -9 $$; exec sleep 60")
    assert done.returncode == 128 + signal.SIGKILL
    expected = (
        r"rocshmem-run: PE 3 \(pid \d+\) was killed by signal 9 \(Killed\) after [\d.]+ s; ending the other PEs\n"
    )
    assert re.match(expected, done.stderr)


def test_a_killed_pe_is_the_cause_although_others_had_left_when_the_launcher_looked() -> None:
    process = start("-n", 3, "sh", "-c", 'trap "exit 3" USR1; echo "$RANK $$"; while :; do sleep 0.01; done')
    assert process.stdout and process.stderr
    lines = [process.stdout.readline().split() for _ in range(3)]
    pids = {int(pe): int(pid) for pe, pid in lines}
    os.kill(process.pid, signal.SIGSTOP)
    os.kill(pids[2], signal.SIGKILL)
    assert until(lambda: not is_alive(pids[2]))
    for pe in (0, 1):
        os.kill(pids[pe], signal.SIGUSR1)
    assert until(lambda: not any(map(is_alive, pids.values())))
    os.kill(process.pid, signal.SIGCONT)
    assert process.wait(10) == 128 + signal.SIGKILL
    assert process.stderr.read().startswith(f"rocshmem-run: PE 2 (pid {pids[2]}) was killed by signal 9 (Killed)")


def test_others_may_end_by_themselves_within_the_grace_period() -> None:
    done = run("-n", 2, "sh", "-c", "[ $RANK = 1 ] && exit 3; sleep 0.5; echo done")
    assert (done.returncode, done.stdout) == (3, "done\n")
    assert "SIGTERM" not in done.stderr


def test_a_pe_that_ignores_sigterm_is_killed_and_named() -> None:
    began = time.monotonic()
    done = run(
        "-n", 2, "--grace", "0.1", "sh", "-c", "[ $RANK = 1 ] && exit 3; trap '' TERM; while :; do sleep 1; done"
    )
    assert done.returncode == 3
    assert "PE 0 did not end within 2 s of SIGTERM; sending SIGKILL" in done.stderr
    assert time.monotonic() - began < 6


def test_a_pe_that_exits_0_early_is_no_failure() -> None:
    done = run("-n", 2, "sh", "-c", "[ $RANK = 1 ] && exit 0; sleep 0.3; echo late")
    assert (done.returncode, done.stdout, done.stderr) == (0, "late\n", "")


def test_all_pes_with_one_status_blame_nobody() -> None:
    done = run("-n", 4, "sh", "-c", "exit 5")
    assert done.returncode == 5
    assert "ending the other" not in done.stderr


def test_announced_global_exit_is_silent_and_decides_the_status() -> None:
    program = (
        "import os, socket, struct, time\n"
        "if os.environ['RANK'] == '1':\n"
        "    s = socket.socket(socket.AF_UNIX); s.connect('\\0' + os.environ['ROCSHMEM_RUN_SOCKET'])\n"
        "    s.recv(128, socket.MSG_WAITALL); s.send(b'exit' + struct.pack('=i', 9)); os._exit(9)\n"
        "time.sleep(0.3); os._exit(1)"
    )
    done = run("-n", 3, sys.executable, "-c", program)
    assert (done.returncode, done.stderr) == (9, "")
    told = run("-v", "-n", 3, sys.executable, "-c", program)
    assert re.search(r"PE 1 \(pid \d+\) called rocshmem_global_exit\(9\)", told.stderr)


def test_quiet_says_nothing_about_a_failure() -> None:
    done = run("-q", "-n", 2, "sh", "-c", "[ $RANK = 1 ] && exit 3; exit 0")
    assert (done.returncode, done.stderr) == (3, "")


def test_verbose_names_every_process() -> None:
    done = run("-v", "-n", 2, "true")
    for pe in range(2):
        assert re.search(rf"^rocshmem-run: PE {pe} is pid \d+$", done.stderr, re.MULTILINE)
        assert re.search(rf"^rocshmem-run: PE {pe} \(pid \d+\) exited with status 0 after", done.stderr, re.MULTILINE)


def test_timeout_ends_the_job_with_124_and_names_who_ran() -> None:
    began = time.monotonic()
    done = run("-n", 3, "--timeout", "0.3", "sh", "-c", "[ $RANK = 1 ] && exit 0; exec sleep 60")
    assert done.returncode == 124
    assert "rocshmem-run: timed out after 0.3 s; still running: PEs 0 2\n" in done.stderr
    assert 0.3 <= time.monotonic() - began < 3


def test_timeout_asks_one_pe_that_answers_for_the_state() -> None:
    program = (
        "import signal, time; signal.signal(signal.SIGUSR1, lambda *_: print('state', flush=True)); time.sleep(60)"
    )
    done = run("-n", 2, "--timeout", "1.5", sys.executable, "-c", program)
    assert (done.returncode, done.stdout) == (124, "state\n")


def test_timeout_of_a_job_that_is_fast_enough_changes_nothing() -> None:
    done = run("-n", 2, "--timeout", "30", "true")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("kind", "status", "text"),
    [
        ("absent", 127, "not found in PATH"),
        ("absent path", 127, "no such file"),
        ("no permission", 126, "no permission to execute it"),
        ("folder", 126, "directory"),
        ("no format", 126, "Exec format error"),
        ("no interpreter", 127, "interpreter"),
    ],
)
def test_a_program_that_cannot_be_executed_is_one_message(kind: str, status: int, text: str, tmp_path: Path) -> None:
    file = tmp_path / "program"
    file.write_text("#!/nonexistent/interpreter\n" if kind == "no interpreter" else "text")
    file.chmod(0o644 if kind == "no permission" else 0o755)
    names = {"absent": "surely-no-such-program", "absent path": str(tmp_path / "x"), "folder": str(tmp_path)}
    done = run("-n", 4, names.get(kind, str(file)))
    assert done.returncode == status
    assert len(done.stderr.splitlines()) == 1 and text in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["-n", "0", "true"],
        ["-n", "2x", "true"],
        ["-n", "99999999999", "true"],
        ["-n"],
        ["-np"],
        ["-np", "two", "true"],
        ["--bind-to", "moon", "true"],
        ["--nonsense", "true"],
        ["--timeout", "soon", "true"],
        ["--timeout", "0", "true"],
        ["--grace", "-1", "true"],
        ["--env", "NOEQUALS", "true"],
        ["--chdir", "/nonexistent", "true"],
        [],
    ],
)
def test_a_wrong_command_line_is_one_line_and_125(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (125, "", 1)


def test_help_lists_every_option_and_version_the_version() -> None:
    text = run("--help").stdout
    options = "-n -np --np -x --bind-to --oversubscribe "
    options += "--prefix --timeout --grace --env --heap --chdir --bind --quiet --verbose --version --help"
    for option in options.split():
        assert re.search(rf"(^|\s){option}\b", text), option
    assert re.fullmatch(r"rocshmem-run \d+\.\d+\.\d+\n", run("--version").stdout)


def test_64_small_pes() -> None:
    done = run("-n", 64, "--prefix", "sh", "-c", "echo $RANK")
    assert sorted(done.stdout.splitlines()) == sorted(f"[{pe}] {pe}" for pe in range(64))


def test_512_pes() -> None:
    done = run("-n", 512, "--prefix", "sh", "-c", "echo $RANK")
    assert sorted(done.stdout.splitlines()) == sorted(f"[{pe}] {pe}" for pe in range(512))


# ---- signals ----

_COUNT = """
import os, signal, sys, time
got = []
for name in "HUP INT QUIT TERM USR1 USR2 CONT".split():
    signal.signal(getattr(signal, "SIG" + name), lambda number, frame: got.append(signal.Signals(number).name))
os.write(1, b"%d\\n" % os.getpid())  # one write: lines of two PEs do not mix
while not got:
    time.sleep(0.01)
time.sleep(0.2)
os.write(1, (" ".join(got) + "\\n").encode())
"""


@pytest.mark.parametrize("name", ["HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "CONT"])
def test_a_signal_reaches_each_pe_once(name: str) -> None:
    number = getattr(signal, "SIG" + name)
    # One that is ignored when the launcher starts stays so, for nohup's sake; these tests may run under it.
    process = start("-n", 2, sys.executable, "-c", _COUNT, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    read_pids(process, 2)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert out.splitlines() == ["SIG" + name] * 2
    assert (process.returncode, err) == (0, "")


def test_terminated_pes_give_143_without_blame() -> None:
    process = start("-n", 2, "sh", "-c", "echo $$; exec sleep 60")
    read_pids(process, 2)
    process.terminate()
    _, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (143, "")


def test_sigterm_ends_pes_that_ignore_it_after_the_grace_period() -> None:
    process = start("-n", 1, "--grace", "0.2", "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 1; done")
    read_pids(process, 1)
    process.terminate()
    _, err = process.communicate(timeout=10)
    assert process.returncode == 143
    assert "sending SIGKILL" in err


def test_tstp_stops_the_pes_and_cont_continues_them() -> None:
    process = start("-n", 2, "sh", "-c", "echo $$; exec sleep 0.5")
    pids = [*read_pids(process, 2), process.pid]

    def states() -> str:
        return "".join(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] for pid in pids)

    process.send_signal(signal.SIGTSTP)
    assert until(lambda: states() == "TTT"), states()
    process.send_signal(signal.SIGCONT)
    assert process.wait(10) == 0


def _in_terminal(*args: str) -> tuple[int, int]:
    """rocshmem-run as the foreground job of a new terminal: pid and the terminal's other end."""
    launcher, env = find_tool("rocshmem-run"), job_env()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(launcher, [launcher, *args], env)
    return pid, terminal


def _read_until(terminal: int, text: bytes) -> bytes:
    seen = b""
    while text not in seen:
        seen += os.read(terminal, 4096)
    return seen


def test_ctrl_c_in_a_terminal_reaches_each_pe_once() -> None:
    pid, terminal = _in_terminal("-n", "2", sys.executable, "-c", _COUNT)
    seen = b""
    while seen.count(b"\n") < 2:
        seen += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    seen = _read_until(terminal, b"SIGINT")
    try:
        while data := os.read(terminal, 4096):
            seen += data
    except OSError:  # EIO: the last process has closed it
        pass
    assert seen.count(b"SIGINT") == 2
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_pe_0_can_read_from_the_terminal() -> None:
    pid, terminal = _in_terminal("-n", "2", "sh", "-c", "if [ $RANK = 0 ]; then read a; echo got $a; fi")
    os.write(terminal, b"words\n")
    _read_until(terminal, b"got words")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)


# ---- nothing is left ----


@pytest.mark.parametrize("setsid", [False, True])
def test_what_a_pe_left_running_ends_with_the_job(setsid: bool) -> None:
    program = (
        "import os, subprocess\n"
        f"p = subprocess.Popen(['sleep', '60'], start_new_session={setsid})\nos.write(1, b'%d\\n' % p.pid); os._exit(0)"
    )
    done = run("-n", 2, sys.executable, "-c", program)
    assert done.returncode == 0
    assert not any(is_alive(int(pid)) for pid in done.stdout.split())


def test_kill_9_of_the_launcher_leaves_no_process_and_no_socket() -> None:
    process = start("-n", 3, "sh", "-c", "sleep 60 & echo $!; echo $$; wait")
    pids = read_pids(process, 6)
    group = os.getpgid(pids[0])
    environment = Path(f"/proc/{pids[1]}/environ").read_bytes() + Path(f"/proc/{pids[0]}/environ").read_bytes()
    match = re.search(rb"ROCSHMEM_RUN_SOCKET=([^\0]+)", environment)
    assert match and is_alive(group)
    process.kill()
    assert until(lambda: not any(is_alive(pid) for pid in [*pids, group]), 5)
    with socket.socket(socket.AF_UNIX) as client, pytest.raises(ConnectionRefusedError):
        client.connect(b"\0" + match[1])
    process.communicate()


def test_guardian_is_gone_when_the_launcher_is() -> None:
    process = start("-n", 1, "sh", "-c", "echo $$; exec sleep 0.1")
    group = os.getpgid(read_pids(process, 1)[0])
    assert process.wait(10) == 0
    assert not Path(f"/proc/{group}").exists()  # not even as a zombie


def test_a_limit_that_stops_the_start_is_explained_and_leaves_nothing() -> None:
    launcher = find_tool("rocshmem-run")
    done = subprocess.run(
        ["sh", "-c", f"ulimit -n 24; exec {launcher} -n 64 --prefix sh -c 'echo $$; exec sleep 60'"],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 125
    assert re.fullmatch(
        r"rocshmem-run: could not start PE \d+ of 64: Too many open files; see ulimit -n\n", done.stderr
    )
    assert not any(is_alive(int(line.split()[1])) for line in done.stdout.splitlines())
