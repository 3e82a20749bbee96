# SPDX-License-Identifier: MIT
"""Each header compiles alone: the public ones as C11 and as C++17, with gcc and clang, pedantic; ours of src as C11."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from contract import ROOT, check, end, name, skip, sources

PUBLIC = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}"]
INTERNAL = [*PUBLIC, "-D_GNU_SOURCE", f"-I{ROOT / 'src'}"]


def compile_alone(header: str, language: str, command: list[str]) -> str:
    source = f'#include "{header}"\nint main(void);\n'.replace("(void)", "()" if language == "c++" else "(void)")
    done = subprocess.run([*command, "-x", language, "-"], input=source, capture_output=True, text=True)
    return done.stderr.strip().splitlines()[0] if done.returncode else ""


def compilers(*names: str) -> str | None:
    return next((found for name in names if (found := shutil.which(name))), None)


LANGUAGES = (
    ("C11 by gcc", "c", compilers("gcc"), "-std=c11"),
    ("C11 by clang", "c", compilers("clang-14", "clang"), "-std=c11"),
    ("C++17 by g++", "c++", compilers("g++"), "-std=c++17"),
    ("C++17 by clang", "c++", compilers("clang-14", "clang"), "-std=c++17"),
)
for header in sources("include", suffixes=(".h", ".def", ".hpp")):
    short = str(Path(name(header)).relative_to("include"))
    for title, language, compiler, standard in LANGUAGES:
        if language == "c" and header.suffix == ".hpp":
            continue
        if compiler is None:
            skip(f"{short} compiles alone as {title}", "no such compiler here")
            continue
        check(f"{short} compiles alone as {title}", compile_alone(short, language, [compiler, standard, *PUBLIC]))
problems = []
for header in sources("src", suffixes=(".h",)):
    short = str(Path(name(header)).relative_to("src"))
    problem = compile_alone(short, "c", ["gcc", "-std=c11", *INTERNAL])
    if problem:
        problems.append(f"{short}: {problem}")
check("every header of src compiles alone", problems)
end()
