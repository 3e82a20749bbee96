# SPDX-License-Identifier: MIT
"""Every public function is documented, tables in docs are what the tools print, links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from contract import ROOT, check, end, name, sources

INCLUDE = ROOT / "include" / "rocshmem"
HEADERS = [INCLUDE / header for header in ("rocshmem.h", "rocshmem_rma.h", "rocshmem_coll.h", "rocshmemx.h")]
COMMENT = re.compile(r"/\*\*(.*?)\*/", re.DOTALL)
FUNCTION = re.compile(r"^ROCSHMEM_API\s[^;]*?\b(rocshmemx?_\w+)\s*\(", re.MULTILINE)
FORBIDDEN = re.compile(r"\b(TODO|FIXME|XXX|HACK|WIP)\b")


def comments_of(header: Path) -> dict[str, str]:
    """The comment that a declaration stands under: several forms of one thing may share one, without a gap."""
    found: dict[str, str] = {}
    comment = ""
    for block in re.split(r"\n\s*\n", header.read_text()):
        comment = ""  # an empty line ends a comment's reach
        for piece in re.split(r"(?=/\*\*)", block):
            match = COMMENT.match(piece)
            comment = match[1] if match else comment
            for function in FUNCTION.findall(piece):
                found[function] = comment
    return found


documented: dict[str, str] = {}
for header in HEADERS:
    documented |= comments_of(header)
check("headers have functions", "" if len(documented) > 60 else f"only {len(documented)} found")
check("every function has a comment", [f for f, text in documented.items() if not text.strip()])
for fact in ("Source:", "Since"):
    check(f"every comment has {fact.rstrip(':')}", [f for f, text in documented.items() if fact not in text])
# What can go wrong is said in words: an Errors sentence, a status returned, a reference to the function that says it
# ("As rocshmem_putmem", "The same two on a context"), or that nothing can ("-1 before init", "Static", "no-op").
says_errors = re.compile(
    r"Errors|Returns? |status|STATE|ARG\b|As rocshmem|The same|-1|NULL|0 or|[Ss]tatic|[Nn]ever|no-op|[Aa]ny time|always"
    r"|Undo every"
)
check("every comment says what can go wrong", [f for f, text in documented.items() if not says_errors.search(text)])


def info(option: str) -> str:
    """What rocshmem-info prints, in an environment without any variable of ours."""
    tool = ROOT / "build" / "venv" / "bin" / "rocshmem-info"
    done = subprocess.run([tool, option], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    return done.stdout if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr}"


for page, option in (("environment", "--environment"), ("support", "--support")):
    path = ROOT / "docs" / f"{page}.md"
    same = path.exists() and path.read_text() == info(option)
    remedy = f"differs; build/venv/bin/rocshmem-info {option} > docs/{page}.md"
    check(f"docs/{page}.md is what rocshmem-info prints", "" if same else remedy)
rows = re.findall(r'^\s*[XY]\([^"\n]*"(ROCSHMEM_\w+)"', (ROOT / "src/base/config.def").read_text(), re.MULTILINE)
environment = (ROOT / "docs/environment.md").read_text() if (ROOT / "docs/environment.md").exists() else ""
check("config.def has rows", "" if len(rows) > 10 else f"only {len(rows)} found")
check("every variable is in docs/environment.md", [row for row in rows if f"`{row}`" not in environment])

pages = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("examples/*.md"), *ROOT.glob("bench/*.md")]
)
broken = []
for page_path in pages:
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page_path.read_text()):
        if not link.startswith(("http:", "https:", "mailto:")) and not (page_path.parent / link).exists():
            broken.append(f"{name(page_path)} links to {link}")
check("links between pages lead somewhere", broken)
bench = subprocess.run(
    [sys.executable, ROOT / "scripts" / "readme_bench.py", "--check"], capture_output=True, text=True
)
check("README's figures are those of the result file it names", bench.stderr.strip() if bench.returncode else "")
for required in ("README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG"):
    check(f"{required}.md is there", "" if (ROOT / f"{required}.md").exists() else "it is missing")

code = sources("src", "include", "bindings", "tools", "python", suffixes=(".c", ".h", ".def", ".py", ".pyi"))
check("nothing is marked as undone", [name(p) for p in code if FORBIDDEN.search(p.read_text())])
concepts = []
for path in sources("src", "tools", "bindings", suffixes=(".c", ".h")):
    head = path.read_text()[:2000].split("*/")[0]
    if not head.startswith("/* SPDX-License-Identifier: MIT\n") or len(head.splitlines()) < 3:
        concepts.append(name(path))
check("every C file opens with its concept", concepts)
end()
