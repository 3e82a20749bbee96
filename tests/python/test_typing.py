# SPDX-License-Identifier: MIT
"""The stub: it agrees with the extension as it is built, and a type checker accepts and refuses what it should."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="mypy is not installed")

HERE = Path(__file__).parent
ALLOW = HERE.parent.parent / "bindings" / "cpython" / "stubtest.allow"
MARK = re.compile(r"\s*# type: ignore\[([a-z-]+)\]$")


# What a user's mypy does, less the minute that it takes to read all of torch.
CONFIG = """
[mypy]
strict = True
[mypy-torch.*,numpy.*,mpi4py.*]
follow_imports = skip
follow_imports_for_stubs = True
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("typing")
    (path / "mypy.ini").write_text(CONFIG)
    return path


def run(folder: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """mypy in an empty folder: it must find the installed package, not the source."""
    argv = [sys.executable, "-m", module, *arguments]
    return subprocess.run(argv, cwd=folder, text=True, capture_output=True, timeout=300)


def test_stub_and_extension_agree(folder: Path) -> None:
    done = run(folder, "mypy.stubtest", "_rocshmem4py", "--allowlist", str(ALLOW), "--ignore-unused-allowlist")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["typing_ok.py", "typing_bad.py"])
def test_strict_mypy_accepts(name: str, folder: Path) -> None:
    done = run(folder, "mypy", str(HERE / name))
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_refuses_each_marked_line_and_no_other(folder: Path) -> None:
    wanted, lines = set(), []
    for number, line in enumerate((HERE / "typing_bad.py").read_text().splitlines(), 1):
        mark = MARK.search(line)
        if mark:
            wanted.add((number, mark[1]))
        lines.append(MARK.sub("", line))
    assert len(wanted) > 25
    bad = folder / "bad.py"
    bad.write_text("\n".join(lines) + "\n")
    done = run(folder, "mypy", "bad.py")
    found = {(int(n), code) for n, code in re.findall(r"^bad\.py:(\d+): error: .*\[([a-z-]+)\]$", done.stdout, re.M)}
    assert found == wanted, done.stdout + done.stderr
