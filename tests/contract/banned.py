# SPDX-License-Identifier: MIT
"""Calls that do not belong in the runtime, and forms that do not belong in our files."""

from __future__ import annotations

import re

from contract import ROOT, check, end, name, sources, without_comments


def calls(words: str, folders: tuple[str, ...], *allowed: str) -> list[str]:
    """Where one of these functions is called."""
    pattern = re.compile(rf"(?<![\w.>])({words})\s*\(")
    problems = []
    for path in sources(*folders, suffixes=(".c", ".h")):
        if name(path) in allowed:
            continue
        for number, line in enumerate(without_comments(path.read_text(), strings=True).splitlines(), 1):
            match = pattern.search(line)
            if match:
                problems.append(f"{name(path)}:{number} calls {match[1]}")
    return problems


def unchecked_allocations() -> list[str]:
    """The result of an allocation must be looked at within the next lines."""
    problems = []
    assign = re.compile(
        r"([\w.\->\[\]]+)\s*=\s*(?:[\w.>-]+ \? )?(?:\([^()]*\)\s*)?(malloc|calloc|realloc|strdup|aligned_alloc)\s*\("
    )
    call = re.compile(r"(?<![\w.>])(malloc|calloc|realloc|strdup|aligned_alloc)\s*\(")
    for path in sources("src", "tools", "bindings", suffixes=(".c", ".h")):
        lines = without_comments(path.read_text(), strings=True).splitlines()
        for number, line in enumerate(lines, 1):
            if not call.search(line) or "return" in line:
                continue
            match = assign.search(line)
            target = match[1] if match else None
            following = "\n".join(lines[number - 1 : number + 6])
            seen = target and re.search(
                rf"!\s*{re.escape(target)}|{re.escape(target)}\s*(==|!=|\?|&&|\|\|)|(if|&&|\|\||return|\()\s*\(?{re.escape(target)}\b",
                following,
            )
            if not seen:
                problems.append(f"{name(path)}:{number} does not look at the result of {call.search(line)[1]}")  # type: ignore[index]
    return problems


def typedefs() -> list[str]:
    pattern = re.compile(r"^\s*typedef\s+(struct|union|enum)\b", re.MULTILINE)
    return [name(p) for p in sources("src", suffixes=(".c", ".h")) if pattern.search(without_comments(p.read_text()))]


def spdx() -> list[str]:
    problems = []
    for path in sources("src", "include", "bindings", "tools", "tests", "examples", "bench"):
        if "SPDX-License-Identifier: MIT" not in path.read_text()[:120]:
            problems.append(name(path))
    for path in sources("python", "tests", "scripts", "examples", "bench", suffixes=(".py", ".pyi", ".sh")):
        if "SPDX-License-Identifier: MIT" not in path.read_text()[:160]:
            problems.append(name(path))
    return problems


def functions_over(limit: int) -> list[str]:
    """Functions longer than limit lines, by our brace style: the body opens and closes in column 0."""
    problems = []
    for path in sources("src", "bindings", "tools", suffixes=(".c",)):
        start = 0
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line == "{":
                start = number
            elif line == "}" and start:
                if number - start - 1 > limit:
                    problems.append(f"{name(path)}:{start} has {number - start - 1} lines")
                start = 0
    return problems


everywhere = ("src", "tools", "bindings")
check("no unbounded string function", calls("strcpy|strcat|sprintf|vsprintf|gets|atoi|system", everywhere))
# The library ends a process in two files: global_exit with the default error handler, and a PE that was told to end.
check(
    "no exit or abort outside tools",
    calls("exit|abort|_exit|_Exit|quick_exit", ("src", "bindings"), "src/api/api.c", "src/pgas/signals.c"),
)
check(
    "nothing is printed outside log.c and tools",
    calls("printf|puts|putchar|perror|vprintf", ("src", "bindings"), "src/base/log.c")
    + [
        f"{name(p)} writes to {m[1]}"
        for p in sources("src", "bindings", suffixes=(".c", ".h"))
        if name(p) not in ("src/base/log.c", "src/api/info.c")  # info.c: dump_stats, whose purpose it is
        and (m := re.search(r"\b(stdout|stderr)\b", without_comments(p.read_text(), strings=True)))
    ],
)
check("no sleep outside base/wait.c", calls("sleep|usleep|nanosleep|clock_nanosleep", ("src",), "src/base/wait.c"))
check("allocations are checked", unchecked_allocations())
check("no typedef of a struct in src", typedefs())
check("every file opens with its licence", spdx())
check("no file of src is over 600 lines", [
    f"{name(p)} has {n} lines"
    for p in sources("src", "bindings", "tools", "include", "tests")
    if (n := len(p.read_text().splitlines())) > 600
])  # fmt: skip
check("no function is over 70 lines", functions_over(70))
check("no constructor runs at load time", [
    name(p) for p in sources("src", "bindings") if re.search(r"__attribute__\s*\(\(\s*(con|de)structor", p.read_text())
])  # fmt: skip
assert (ROOT / "src").is_dir()
end()
