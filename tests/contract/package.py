# SPDX-License-Identifier: MIT
"""What `pip install` left: one abi3 binary that later CPythons load, real programs, headers, one version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from contract import ROOT, check, end, skip

VENV = ROOT / "build" / "venv"
# No HOME; and no compiler cache, which would make one.
CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "CCACHE_DISABLE": "1"}
sites = sorted(VENV.glob("lib/python3*/site-packages"))
if not sites or not (sites[0] / "rocshmem4py").is_dir():
    check("the package is installed", "build/venv lacks it; run make build")
    end()
site = sites[0]
package = site / "rocshmem4py"


def run(*command: str | Path, **env: str) -> tuple[int, str]:
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, env={**CLEAN, **env}, timeout=120
    )
    return done.returncode, (done.stdout + done.stderr).strip()


def interpreters(*names: str) -> list[str]:
    """These Pythons on PATH or under pyenv, where they start at all."""
    folders = [*os.get_exec_path(), *map(str, (Path.home() / ".pyenv" / "versions").glob("*/bin"))]
    found: dict[str, str] = {}
    for python in names:
        path = next(
            (p for folder in folders if (p := shutil.which(python, path=folder)) and run(p, "-V")[0] == 0), None
        )
        if path:
            found[python] = path
    return list(found.values())


# --- one version ------------------------------------------------------------------------------------------------------

texts = {
    "pyproject.toml": re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE),
    "CMakeLists.txt": re.search(r"project\(rocshmem4py VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()),
    "CHANGELOG.md": re.search(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE),
    "rocshmem_defs.h": re.search(
        r'#define ROCSHMEM_VERSION "([\d.]+)"', (ROOT / "include/rocshmem/rocshmem_defs.h").read_text()
    ),
    "rocshmem-info --version": re.search(r" ([\d.]+)$", run(VENV / "bin" / "rocshmem-info", "--version")[1]),
    "rocshmem4py.__version__": re.search(
        r"^([\d.]+)$", run(VENV / "bin" / "python", "-c", "import rocshmem4py as rs; print(rs.__version__)")[1]
    ),
}
versions = {where: match[1] if match else "none" for where, match in texts.items()}
parts = re.findall(
    r"#define ROCSHMEM_VENDOR_\w+_VERSION (\d+)", (ROOT / "include/rocshmem/rocshmem_defs.h").read_text()
)
versions["ROCSHMEM_VENDOR_*_VERSION"] = ".".join(parts)
check(
    "one version everywhere",
    [f"{k} says {v}" for k, v in versions.items()] if len(set(versions.values())) > 1 else "",
)

# --- the wheel --------------------------------------------------------------------------------------------------------

tags = re.findall(r"^Tag: (\S+)$", next(site.glob("rocshmem4py-*.dist-info/WHEEL")).read_text(), re.MULTILINE)
check("the wheel is tagged cp311-abi3", "" if tags and all(t.startswith("cp311-abi3-") for t in tags) else str(tags))
wanted = [
    "../_rocshmem4py.abi3.so", "../_rocshmem4py.pyi", "../_rocshmem4py-stubs/__init__.pyi", "py.typed",
    "lib/librocshmem.so", "lib/librocshmem.so.0", "include/rocshmem/rocshmem.h", "include/rocshmem/rocshmemx.h",
    "include/rocshmem/rocshmem_types.def", "interop/torch.py",
    "include/rocshmem/rocshmem.hpp", "include/shmem.h", "include/shmem/shmem_defs.h", "include/mpp/shmem.h",
    "lib/libshmem.so", "lib/libshmem.so.0", "lib/libsma.so", "lib/liboshmem.so", "lib/libopenshmem.so",
    "lib/pkgconfig/rocshmem.pc", "lib/pkgconfig/shmem.pc",
    "lib/cmake/rocshmem/rocshmemConfig.cmake", "lib/cmake/rocshmem/rocshmemConfigVersion.cmake",
]  # fmt: skip
check("the package has all its files", [f"{name} is missing" for name in wanted if not (package / name).exists()])
for folder in (VENV / "bin", package / "bin"):
    problems = []
    for tool in ("rocshmem-run", "rocshmem-info", "rocshmem-perf", "oshrun", "oshcc", "oshc++", "oshcxx", "oshCC"):
        path = folder / tool
        if not path.exists() or path.read_bytes()[:4] != b"\x7fELF":
            problems.append(f"{path} is no program in machine code")
        elif run(path, "--help")[0] != 0:
            problems.append(f"{tool} --help fails: {run(path, '--help')[1]}")
    check(f"the tools of {folder.relative_to(VENV)} are programs that start by themselves", problems)

# --- C against the installed headers ----------------------------------------------------------------------------------

with tempfile.TemporaryDirectory(prefix="rocshmem-package-") as name:
    folder = Path(name)
    source = folder / "hello.c"
    source.write_text((ROOT / "examples" / "01_hello.c").read_text())
    common: list[str | Path] = [
        "cc",
        source,
        f"-I{package / 'include'}",
        f"-Wl,-rpath,{package / 'lib'}",
        "-o",
        folder / "hello",
    ]
    links: tuple[tuple[str, list[str | Path]], ...] = (
        ("-lrocshmem", [f"-L{package / 'lib'}", "-lrocshmem"]),
        ("the library's path", [package / "lib" / "librocshmem.so.0"]),
    )
    for title, link in links:
        status, text = run(*common, *link)
        if status == 0:
            status, text = run(VENV / "bin" / "rocshmem-run", "-n", "2", folder / "hello")
        check(
            f"a C program links with {title} and runs", "" if status == 0 and "hello" in text else text or "no output"
        )

# --- the programs of the README ---------------------------------------------------------------------------------------

with tempfile.TemporaryDirectory(prefix="rocshmem-readme-") as name:
    folder, readme = Path(name), (ROOT / "README.md").read_text()
    for language, suffix in (("python", "py"), ("c", "c")):
        block = re.search(rf"^```{language}\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
        hello = folder / f"hello.{suffix}"
        hello.write_text(block[1] if block else "")
        start: list[str | Path] = [VENV / "bin" / "python", hello]
        status, text = 0, ""
        if language == "c":
            start = [folder / "hello"]
            flags = [f"-I{package / 'include'}", f"-Wl,-rpath,{package / 'lib'}", "-Wall", "-Wextra", "-Werror"]
            status, text = run("cc", hello, *flags, package / "lib" / "librocshmem.so.0", "-o", folder / "hello")
        if status == 0:
            status, text = run(VENV / "bin" / "rocshmem-run", "-n", "3", *start)
        lines = [f"PE {i} of 3: my neighbour wrote {100 + (i + 2) % 3}, arrivals {0 if i else 3}" for i in range(3)]
        right = status == 0 and sorted(text.splitlines()) == lines
        check(f"the {suffix} program of README.md does what it says", "" if right else f"exit status {status}: {text}")

# --- other interpreters -----------------------------------------------------------------------------------------------

PROGRAM = "import rocshmem4py as rs; rs.rocshmem_init(); print(rs.rocshmem_n_pes()); rs.rocshmem_finalize()"
others = interpreters("python3.12", "python3.13", "python3.14", "python3.15")
for python in others:
    status, text = run(python, "-c", PROGRAM, PYTHONPATH=str(site))
    name = Path(python).name
    check(f"{name} runs the same binary", "" if (status, text) == (0, "1") else f"exit status {status}: {text}")
if not others:
    skip("a later CPython runs the same binary", "no CPython after 3.11 on this machine")

threaded = interpreters("python3.13t", "python3.14t", "python3.15t")
for python in threaded:
    with tempfile.TemporaryDirectory(prefix="rocshmem-threaded-") as name:
        env = Path(name) / "venv"
        status, text = run(python, "-m", "venv", env)
        pip: list[str | Path] = [env / "bin" / "python", "-m", "pip", "install", "-q"]
        if status == 0:
            status, text = run(*pip, ROOT, **{k: v for k, v in os.environ.items() if k.startswith("PIP_")})
        if status == 0:
            gil = "import sys, rocshmem4py; assert not sys._is_gil_enabled(); "
            status, text = run(env / "bin" / "python", "-c", gil + PROGRAM)
        check(f"{Path(python).name} builds and runs its own binary", "" if status == 0 else text)
if not threaded:
    skip("a free-threaded CPython builds and runs its own binary", "no free-threaded CPython on this machine")
end()
