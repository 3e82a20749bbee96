# SPDX-License-Identifier: MIT
"""shmem.h and libshmem.so are all of openshmem-1.5.txt and nothing else; rocshmem.h has all of rocshmem-names.txt."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from pathlib import Path

from contract import ROOT, check, end

HERE = Path(__file__).parent
LIBRARIES = "lib/python3*/site-packages/rocshmem4py/lib"


def listed(name: str) -> dict[str, list[str]]:
    """The list by kind, `function shmem_init`; a line of one word is a function."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in (HERE / name).read_text().splitlines():
        words = line.split()
        if words and words[0] != "#":
            found[words[0] if len(words) == 2 else "function"].append(words[-1])
    return found


def library(name: str) -> Path | None:
    """The library that is installed in build/venv: what a user gets."""
    return next(iter(sorted((ROOT / "build" / "venv").glob(f"{LIBRARIES}/{name}.so.*"))), None)


def exported(path: Path) -> set[str]:
    command = ["nm", "-D", "--defined-only", str(path)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines()} - {"_init", "_fini"}


def preprocessed(*lines: str) -> str:
    command = ["cc", "-std=c11", "-E", "-P", f"-I{ROOT / 'include'}", "-"]
    return subprocess.run(command, input="\n".join(lines), check=True, capture_output=True, text=True).stdout


def declared(text: str) -> set[str]:
    return set(re.findall(r"\b(\w+)\s*\(", text))


def refused(source: str) -> str:
    """What the compiler says against a program, one line, or nothing."""
    command = ["cc", "-std=c11", "-fsyntax-only", f"-I{ROOT / 'include'}", "-x", "c", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    return done.stderr.strip().splitlines()[0] if done.returncode else ""


def twice(names: list[str]) -> list[str]:
    return [f"{name} is there twice" for name in sorted({name for name in names if names.count(name) > 1})]


# ---- OpenSHMEM ----

want = listed("openshmem-1.5.txt")
functions = set(want["function"])
extensions = set(want["extension"])
profiled = {"p" + name for name in functions if name.startswith("shmem_")}
check("the list of OpenSHMEM has no name twice", [p for names in want.values() for p in twice(names)])
check("the list of OpenSHMEM is long", "" if len(functions) > 1600 else f"{len(functions)} functions")

plain = declared(preprocessed("#define SHMEM_NO_GENERIC", "#include <shmem.h>"))
check("shmem.h declares every function", [f"{name} is missing" for name in sorted(functions - plain)])
ours = {name for name in plain if name.startswith("shmem_")}
check("shmem.h declares nothing else", [f"{name} is declared" for name in sorted(ours - functions)])
both = declared(preprocessed("#define SHMEM_NO_GENERIC", "#include <pshmem.h>"))
more = declared(preprocessed("#include <shmemx.h>"))
check("shmemx.h declares every extension", [f"{name} is missing" for name in sorted(extensions - more)])
check("pshmem.h declares every profiling name", [f"{name} is missing" for name in sorted(profiled - both)])

for header in want["header"]:
    check(f"{header} can be included", refused(f"#include <{header}>\nint main(void) {{ return shmem_my_pe(); }}\n"))
for name in want["type"]:
    check(f"{name} is a type", refused(f"#include <shmem.h>\n{name} object;\n"))
constants = "".join(f"    (void)({name});\n" for name in want["constant"])
check("every constant is defined", refused(f"#include <shmem.h>\nvoid use(void)\n{{\n{constants}}}\n"))
initialisers = ("CTX_DEFAULT", "CTX_INVALID", "TEAM_WORLD", "TEAM_SHARED", "TEAM_INVALID")
handles = "".join(
    f"static const void *const h_{name} = SHMEM_{name};\nconst void *use_{name}(void) {{ return h_{name}; }}\n"
    for name in initialisers
)
check("handles are constant expressions", refused(f"#include <shmem.h>\n{handles}"))
macros = "".join(f"#ifndef {name}\n#error {name} is missing\n#endif\n" for name in want["generic"])
check("every type-generic name is there in C11", refused(f"#include <shmem.h>\n{macros}"))

shmem = library("libshmem")
if shmem is None:
    check("libshmem.so is built", "build/venv has no libshmem.so.*; run make build")
else:
    have = exported(shmem)
    check("libshmem.so exports every function", [f"{name} is missing" for name in sorted(functions - have)])
    check("libshmem.so exports every extension", [f"{name} is missing" for name in sorted(extensions - have)])
    check("libshmem.so exports every profiling name", [f"{name} is missing" for name in sorted(profiled - have)])
    check(
        "libshmem.so exports nothing else",
        [f"{name} is exported" for name in sorted(have - functions - profiled - extensions)],
    )

# ---- rocSHMEM ----

names = listed("rocshmem-names.txt")["function"]
check("the list of rocSHMEM has no name twice", twice(names))
text = preprocessed("#include <rocshmem/rocshmem.h>", "#include <rocshmem/rocshmemx.h>")
check("rocshmem.h declares every name", [f"{name} is missing" for name in names if name not in declared(text)])
runtime = library("librocshmem")
if runtime is None:
    check("librocshmem.so is built", "build/venv has no librocshmem.so.*; run make build")
else:
    have = exported(runtime)
    check("librocshmem.so exports every name", [f"{name} is missing" for name in names if name not in have])
end()
