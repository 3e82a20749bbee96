# SPDX-License-Identifier: MIT
"""The library exports what the public headers declare, no less and no more, and needs only libc and pthread."""

from __future__ import annotations

import re
import subprocess

from contract import ROOT, check, end

# The library that is installed in build/venv: what a user gets.
found = sorted((ROOT / "build" / "venv").glob("lib/python3*/site-packages/rocshmem4py/lib/librocshmem.so.*"))
if not found:
    check("the library is built", "build/venv has no librocshmem.so.*; run make build")
    end()
library = found[0]


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported() -> set[str]:
    """Defined dynamic symbols, the linker's own ones left out."""
    rows = [line.split() for line in output("nm", "-D", "--defined-only", str(library)).splitlines()]
    return {row[-1].split("@")[0] for row in rows} - {"_init", "_fini"}


def declared() -> set[str]:
    """What the preprocessed headers declare, types.def expanded."""
    source = "#include <rocshmem/rocshmem.h>\n#include <rocshmem/rocshmemx.h>\n"
    command = ["cc", "-std=c11", "-E", "-P", f"-I{ROOT / 'include'}", "-"]
    text = subprocess.run(command, input=source, check=True, capture_output=True, text=True).stdout
    marked = re.findall(r'__attribute__\s*\(\(visibility\("default"\)\)\)([^;{]+)', text)
    names = [re.search(r"\b(rocshmemx?_\w+|ROCSHMEM_\w+)\s*(\(|$)", declaration.strip()) for declaration in marked]
    return {match[1] for match in names if match}


have, want = exported(), declared()
check("headers declare functions", "" if len(want) > 300 else f"only {len(want)} found")
check("every declared symbol is exported", [f"{name} is missing" for name in sorted(want - have)])
check("nothing else is exported", [f"{name} is exported" for name in sorted(have - want)])

needed = re.findall(r"\(NEEDED\)[^\[]*\[([^\]]+)\]", output("readelf", "-d", str(library)))
allowed = re.compile(r"^(libc|libpthread|libm|ld-linux-[\w-]+|ld-linux)\.so(\.\d+)?$")
check("the library needs libc alone", [f"needs {name}" for name in needed if not allowed.match(name)])
soname = re.findall(r"\(SONAME\)[^\[]*\[([^\]]+)\]", output("readelf", "-d", str(library)))
check("the library has its versioned name", "" if soname == ["librocshmem.so.0"] else f"SONAME {soname}")

extensions = sorted((ROOT / "build" / "venv").glob("lib/python3*/site-packages/_rocshmem4py*.so"))
if not extensions:
    check("the extension is built", "build/venv has no _rocshmem4py*.so")
    end()
extension = str(extensions[0])
needed = re.findall(r"\(NEEDED\)[^\[]*\[([^\]]+)\]", output("readelf", "-d", extension))
check("the extension uses the one shared library", "" if "librocshmem.so.0" in needed else f"needs {needed}")
check("the extension is linked to no libpython", [f"needs {name}" for name in needed if "python" in name])
visible = {line.split()[-1] for line in output("nm", "-D", "--defined-only", extension).splitlines()}
check("the extension exports its init function only", [
    f"{name} is exported" for name in sorted(visible - {"PyInit__rocshmem4py", "_init", "_fini"})
])  # fmt: skip
# Private by name, but in the stable ABI: immortal objects, and what PY_SSIZE_T_CLEAN makes of the argument functions.
unstable = [
    line.split()[-1]
    for line in output("nm", "-D", "--undefined-only", extension).splitlines()
    if re.match(
        r"_Py(?!_(Dealloc|NoneStruct|TrueStruct|FalseStruct|NotImplementedStruct|EllipsisObject)$|\w+_SizeT$)",
        line.split()[-1],
    )
]
check("the extension uses no private symbol of CPython", [f"uses {name}" for name in unstable])
end()
