#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the test suites or the checks, show progress, and end in the line `N passed, N failed, N skipped`.

    build/venv/bin/python scripts/suite.py test            unit and conformance under ctest, then pytest
    build/venv/bin/python scripts/suite.py check           format, warnings, clang-tidy, contracts, sanitizers, types
    build/venv/bin/python scripts/suite.py test pytest     one part only; --list names the parts
    python3 scripts/suite.py sum test check                the last results of both, added up

A count is a test: a cmocka test, a conformance case, a pytest item, a line of a contract script, or one check such as
"build with clang". A ctest program that crashed is one failure with its own name. Full output is in build/results/.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RESULTS = BUILD / "results"
JOBS = os.environ.get("JOBS", str(os.cpu_count() or 2))


@dataclass
class Outcome:
    status: str  # "pass", "fail" or "skip"
    name: str
    reason: str = ""


class Suite:
    """The outcomes of one command line, part by part."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.outcomes: list[Outcome] = []

    def add(self, status: str, name: str, reason: str = "") -> None:
        self.outcomes.append(Outcome(status, name, " ".join(reason.split())[:300]))

    def count(self, status: str) -> int:
        return sum(outcome.status == status for outcome in self.outcomes)

    def line(self) -> str:
        return f"{self.count('pass')} passed, {self.count('fail')} failed, {self.count('skip')} skipped"

    def save(self) -> None:
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / f"{self.name}.json").write_text(json.dumps([asdict(outcome) for outcome in self.outcomes]))

    def report(self) -> int:
        """Print what was skipped and why, what failed, and the counting line. The exit status."""
        reasons = Counter(o.reason or "no reason given" for o in self.outcomes if o.status == "skip")
        for reason, count in sorted(reasons.items()):
            names = [o.name for o in self.outcomes if o.status == "skip" and (o.reason or "no reason given") == reason]
            shown = ", ".join(names[:3]) + (f" and {count - 3} more" if count > 3 else "")
            print(f"skipped {count}: {reason} ({shown})")
        for outcome in self.outcomes:
            if outcome.status == "fail":
                print(f"FAILED {outcome.name}: {outcome.reason}")
        if self.name in ("test", "check") and os.environ.get("RS_SUM_FOLLOWS"):
            print(f"== {self.name}: {self.line().replace(',', ' and')}, to be added up", flush=True)
        else:
            print(self.line(), flush=True)
        return 1 if self.count("fail") or not self.count("pass") else 0


def run(command: Sequence[str | Path], log: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Run a command in the repository's root; its exit status and output, which is kept in build/results/<log>.log."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{log}.log"
    with open(path, "wb") as out:
        try:
            done = subprocess.run(
                [str(word) for word in command],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
            )
            status = done.returncode
        except OSError as error:
            out.write(f"could not start {command[0]}: {error}\n".encode())
            status = 127
    return status, path.read_text(errors="replace")


def show_tail(text: str, lines: int = 60) -> None:
    for line in text.splitlines()[-lines:]:
        print(f"    {line}")


def program(*names: str) -> str | None:
    """The first of these programs that is in our environment or on PATH."""
    for name in names:
        found = shutil.which(name, path=str(BUILD / "venv" / "bin")) or shutil.which(name)
        if found:
            return found
    return None


# --- kinds of parts ---------------------------------------------------------------------------------------------------


def step(suite: Suite, name: str, *commands: Sequence[str | Path], env: dict[str, str] | None = None) -> bool:
    """Commands that make up one check: all must end with 0."""
    for command in commands:
        status, text = run(command, f"{suite.name}-{name.replace(' ', '-').replace('/', '-')}", env)
        if status != 0:
            show_tail(text)
            lines = [line for line in text.splitlines() if re.search(r"error|warning|FAIL|would", line)]
            suite.add("fail", name, f"exit status {status}: {(lines or text.splitlines() or [''])[0]}")
            return False
    suite.add("pass", name)
    return True


CTEST_LINES = (
    re.compile(r"^\[ +(?P<cmocka>OK|FAILED|SKIPPED|ERROR) +\] (?P<name>[A-Za-z_]\w*)"),
    re.compile(r"^(?P<word>ok|skip) (?P<name>[\w/]+)(: (?P<reason>.*))?$"),
    re.compile(r"^(?P<word>FAIL) (?P<name>[\w/]+): (?P<reason>.*)$"),
)
WORDS = {
    "OK": "pass",
    "ok": "pass",
    "FAILED": "fail",
    "ERROR": "fail",
    "FAIL": "fail",
    "SKIPPED": "skip",
    "skip": "skip",
}


def ctest_cases(output: str) -> dict[str, Outcome]:
    """The cases that a cmocka program, or a chapter of the conformance suite, printed."""
    cases: dict[str, Outcome] = {}
    for line in output.splitlines():
        for pattern in CTEST_LINES:
            match = pattern.match(line.strip())
            if not match:
                continue
            fields = match.groupdict()
            status = WORDS[fields.get("cmocka") or fields["word"]]
            name, reason = fields["name"], fields.get("reason") or ""
            if name not in cases or (status == "fail" and cases[name].status != "fail"):
                cases[name] = Outcome(status, name, reason)
            break
    return cases


def ctest(suite: Suite, build: Path, label: str, only: str, prefix: Sequence[str] = (), **env: str) -> None:
    """Run the programs of a build folder whose names match `only`, and count their cases."""
    junit = RESULTS / f"{suite.name}-{label}.xml"
    junit.unlink(missing_ok=True)
    command: list[str | Path] = [
        *prefix, "ctest", "--test-dir", build, "-R", only, "--output-on-failure", "--no-tests=error",
        "--output-junit", junit, "--test-output-size-passed", "9999999", "--test-output-size-failed", "9999999",
    ]  # fmt: skip
    status, text = run(command, f"{suite.name}-{label}", env)
    if status != 0:
        show_tail(text, 100)
    if not junit.exists():
        suite.add("fail", label, f"ctest ended with status {status}: {(text.splitlines() or [''])[-1]}")
        return
    n_failed = suite.count("fail")
    for test in ElementTree.parse(junit).getroot().iter("testcase"):
        name = test.get("name", "?")
        failed = test.find("failure") is not None or test.get("status") not in ("run", "notrun", "disabled")
        cases = ctest_cases(test.findtext("system-out") or "")
        for case in cases.values():
            suite.add(case.status, f"{label}: {name}: {case.name}", case.reason)
        if test.get("status") in ("notrun", "disabled"):
            suite.add("fail", f"{label}: {name}", "the program was not run (not built?)")
        elif failed and not any(case.status == "fail" for case in cases.values()):
            message = test.find("failure")
            suite.add("fail", f"{label}: {name}", (message.get("message") if message is not None else "") or "crashed")
        elif not cases:
            suite.add("fail", f"{label}: {name}", "ended with 0 and named no case")
    if status != 0 and suite.count("fail") == n_failed:
        suite.add("fail", label, f"ctest ended with status {status}, see build/results/{suite.name}-{label}.log")


#: What runs on a GPU too: these never touch the heap by the CPU.
GPU_TESTS = [f"tests/python/test_{name}.py" for name in ("jobs_api", "arrays", "buffer", "jobs_property")]


def pytest(suite: Suite) -> None:
    """The installed package, by the environment that it is installed in; then on the fake GPU driver."""
    run_pytest(suite, "pytest", {})
    on_gpu = {
        "ROCSHMEM_DEVICE": "cuda",
        "FAKEGPU_STRICT": "1",
        "ROCSHMEM_SIGNAL_EXACT": "1",
        "ROCSHMEM_HEAP_SIZE": "256M",
    }
    run_pytest(suite, "gpu", on_gpu | {"LD_LIBRARY_PATH": str(BUILD / "cmake" / "tests" / "fakegpu")}, *GPU_TESTS)


def run_pytest(suite: Suite, label: str, env: dict[str, str], *tests: str) -> None:
    junit = RESULTS / f"{label}.xml"
    junit.unlink(missing_ok=True)
    command: list[str | Path] = [BUILD / "venv" / "bin" / "python", "-m", "pytest", "-q", f"--junitxml={junit}", *tests]
    status, text = run(command, label, {"PATH": f"{BUILD / 'venv' / 'bin'}:{os.environ['PATH']}", **env})
    if status != 0:
        show_tail(text, 200)
    if not junit.exists():
        suite.add("fail", label, f"exit status {status}: {(text.splitlines() or [''])[-1]}")
        return
    n_failed = suite.count("fail")
    for test in ElementTree.parse(junit).getroot().iter("testcase"):
        name = f"{test.get('classname', '')}::{test.get('name', '')}" + (" on a GPU" if label == "gpu" else "")
        problem = next((found for tag in ("failure", "error") if (found := test.find(tag)) is not None), None)
        skipped = test.find("skipped")
        if problem is not None:
            suite.add("fail", name, problem.get("message") or "")
        elif skipped is not None:
            suite.add("skip", name, skipped.get("message") or "")
        else:
            suite.add("pass", name)
    if status != 0 and suite.count("fail") == n_failed:
        suite.add("fail", label, f"exit status {status}, see build/results/{label}.log")


def contract(suite: Suite, script: Path) -> None:
    """A script of tests/contract: a line `ok|FAIL|skip name[: reason]` for each check."""
    name = f"contract/{script.stem}"
    status, text = run([BUILD / "venv" / "bin" / "python", script], name.replace("/", "-"))
    n_failed, n_cases = suite.count("fail"), 0
    for line in text.splitlines():
        match = re.match(r"^(ok|FAIL|skip) ([^:]+)(?:: (.*))?$", line)
        if match:
            n_cases += 1
            suite.add(WORDS[match[1]], f"{name}: {match[2]}", match[3] or "")
    if (status != 0 or not n_cases) and suite.count("fail") == n_failed:
        show_tail(text)
        suite.add("fail", name, f"exit status {status}, {n_cases} checks: {(text.splitlines() or [''])[-1]}")


# --- the parts of `make test` -----------------------------------------------------------------------------------------


def test_unit(suite: Suite) -> None:
    ctest(suite, BUILD / "cmake", "unit", "^unit/")


def test_conformance(suite: Suite) -> None:
    ctest(suite, BUILD / "cmake", "conformance", "^(conformance|shmem)/")


def test_cxx(suite: Suite) -> None:
    ctest(suite, BUILD / "cmake", "cxx", "^cxx/")


def test_mpi(suite: Suite) -> None:
    if program("mpirun"):
        ctest(suite, BUILD / "cmake", "mpi", "^mpi/")
    else:
        suite.add("skip", "mpi", "no MPI on this machine")


# --- the parts of `make check` ----------------------------------------------------------------------------------------

C_FOLDERS = ("src", "include", "shmem", "mpi", "bindings", "tools", "tests", "examples", "bench")


def c_files(*suffixes: str, folders: Sequence[str] = C_FOLDERS) -> list[Path]:
    return sorted(
        path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in suffixes
    )


def check_format(suite: Suite) -> None:
    clang_format = program("clang-format")  # pip's, of one fixed version
    step(suite, "clang-format", [clang_format or "clang-format", "--dry-run", "-Werror", *c_files(".c", ".h")])


def configure(folder: str, *options: str) -> list[str | Path]:
    return ["cmake", "-S", ROOT, "-B", BUILD / folder, "-G", "Ninja", *options]


def build(folder: str, *targets: str) -> list[str | Path]:
    return ["cmake", "--build", BUILD / folder, "-j", JOBS, *(["--target", *targets] if targets else [])]


def check_warnings(suite: Suite) -> None:
    python = f"-DPython_EXECUTABLE={BUILD / 'venv' / 'bin' / 'python'}"
    clang = program("clang-14", "clang") or "clang"
    for name, compiler in (("gcc", "gcc"), ("clang", clang)):
        folder = f"check-{name}"
        options = ["-DRS_WERROR=ON", f"-DCMAKE_C_COMPILER={compiler}", python]
        step(suite, f"warnings are errors with {name}", configure(folder, *options), build(folder))
    # Release builds of 32-bit or big-endian machines are not ours; the debug build is: assertions compile everywhere.


def check_tidy(suite: Suite) -> None:
    # A folder of its own, without tests: there every file is compiled once, and so looked at once.
    clang, tidy = program("clang-14", "clang") or "clang", program("clang-tidy-14", "clang-tidy") or "clang-tidy"
    options = [f"-DCMAKE_C_COMPILER={clang}", "-DRS_TESTS=OFF", f"-DPython_EXECUTABLE={BUILD / 'venv/bin/python'}"]
    if not step(suite, "clang-tidy: compile commands", configure("check-tidy", *options)):
        return
    files = c_files(".c", folders=("src", "shmem", "mpi", "bindings", "tools"))
    if "mpi/rocshmem_mpi.c" not in (BUILD / "check-tidy" / "compile_commands.json").read_text():
        files = [file for file in files if file.parts[0] != "mpi"]
        suite.add("skip", "clang-tidy of mpi/", "no MPI on this machine")
    command = f"printf '%s\\0' {' '.join(map(str, files))} | xargs -0 -n 1 -P {JOBS} {tidy} -p build/check-tidy --quiet"
    step(suite, "clang-tidy", ["bash", "-o", "pipefail", "-c", command])


def check_contracts(suite: Suite) -> None:
    for script in sorted((ROOT / "tests" / "contract").glob("[a-z]*.py")):
        if script.name != "contract.py":  # what the others share
            contract(suite, script)


def no_aslr() -> list[str]:
    """ThreadSanitizer's shadow memory wants the usual addresses; a kernel may place things elsewhere."""
    setarch = program("setarch")
    if setarch and subprocess.run([setarch, "-R", "true"], capture_output=True).returncode == 0:
        return [setarch, "-R"]
    return []


DEBUG = ("-DRS_PYTHON=OFF", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-O1 -g")


def check_asan(suite: Suite) -> None:
    options = ["-DRS_SANITIZE=address,undefined", *DEBUG]
    if step(suite, "build with address and undefined", configure("asan", *options), build("asan")):
        env = {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
        ctest(suite, BUILD / "asan", "asan-unit", "^unit/", no_aslr(), **env)
        ctest(suite, BUILD / "asan", "asan-conformance", "^(conformance|shmem)/.*/2$", no_aslr(), **env)


def check_tsan(suite: Suite) -> None:
    options = ["-DRS_SANITIZE=thread", *DEBUG]
    clang = program("clang-14", "clang") or "clang"
    if step(suite, "build with thread", configure("tsan", f"-DCMAKE_C_COMPILER={clang}", *options), build("tsan")):
        suppressions = ROOT / "tests" / "tsan.supp"
        env = {"TSAN_OPTIONS": f"halt_on_error=1:second_deadlock_stack=1:suppressions={suppressions}"}
        ctest(suite, BUILD / "tsan", "tsan-unit", "^unit/", no_aslr(), **env)
        # each process for itself: the PE that serves the others of its GPU against what it does for itself
        ctest(suite, BUILD / "tsan", "tsan-conformance", "^conformance/on_cuda/2$", no_aslr(), **env)


def check_python(suite: Suite) -> None:
    python = BUILD / "venv" / "bin" / "python"
    folders = ["python", "tests", "examples", "scripts", "bench"]
    step(suite, "ruff check", [python, "-m", "ruff", "check", *folders])
    step(suite, "mypy of the package", [python, "-m", "mypy", "python/rocshmem4py"])
    allowed = ["--allowlist", "bindings/cpython/stubtest.allow", "--ignore-unused-allowlist"]
    # Tests look at the None of what returns nothing, and call with wrong types on purpose.
    loosely = ["--disable-error-code", "func-returns-value", "--no-warn-unused-ignores"]
    step(suite, "mypy of the tests", [python, "-m", "mypy", *loosely, "tests/python"])
    step(suite, "mypy of scripts and contracts", [python, "-m", "mypy", "tests/contract", "scripts"])
    step(suite, "stubs agree with the extension", [python, "-m", "mypy.stubtest", "_rocshmem4py", *allowed])


PARTS: dict[str, dict[str, Callable[[Suite], None]]] = {
    "test": {"unit": test_unit, "conformance": test_conformance, "cxx": test_cxx, "mpi": test_mpi, "pytest": pytest},
    "check": {
        "format": check_format,
        "warnings": check_warnings,
        "tidy": check_tidy,
        "contracts": check_contracts,
        "asan": check_asan,
        "tsan": check_tsan,
        "python": check_python,
    },
}


def add_up(names: Sequence[str]) -> int:
    """Report the saved results of several suites as one."""
    total = Suite("sum")
    for name in names:
        path = RESULTS / f"{name}.json"
        if path.exists():
            total.outcomes += [Outcome(**{**o, "name": f"{name}: {o['name']}"}) for o in json.loads(path.read_text())]
        else:
            total.add("fail", name, "did not run to its end")
    return total.report()


def main(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] == "sum":
        return add_up(arguments[1:])
    if "--list" in arguments or not arguments or arguments[0] not in PARTS:
        for name, parts in PARTS.items():
            print(f"{name}: {' '.join(parts)}")
        return 0 if "--list" in arguments else 2
    parts = PARTS[arguments[0]]
    unknown = [part for part in arguments[1:] if part not in parts]
    if unknown:
        print(f"no part {unknown[0]!r} of {arguments[0]}; there are: {' '.join(parts)}", file=sys.stderr)
        return 2
    suite = Suite(arguments[0])
    (RESULTS / f"{suite.name}.json").unlink(missing_ok=True)
    for part in arguments[1:] or parts:
        began, before = time.monotonic(), suite.count("fail")
        print(f"== {suite.name}: {part}", flush=True)
        parts[part](suite)
        failed = suite.count("fail") - before
        print(f"== {suite.name}: {part} took {time.monotonic() - began:.0f} s, {failed} failed", flush=True)
    suite.save()
    return suite.report()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
