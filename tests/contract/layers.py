# SPDX-License-Identifier: MIT
"""Who includes whom. base <- observe, device, bootstrap <- transport <- pgas <- api; each may include itself and what
is below it. Bindings, tools, tests that run as jobs, and examples see the public headers only."""

from __future__ import annotations

import re

from contract import ROOT, check, end, name, sources

BELOW = {
    "base": set(),
    "observe": {"base"},
    "device": {"base"},
    "bootstrap": {"base"},
    "transport": {"base", "observe", "device", "bootstrap"},
    "pgas": {"base", "observe", "device", "bootstrap", "transport"},
    "api": {"base", "observe", "device", "bootstrap", "transport", "pgas"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def includes(path_text: str) -> list[str]:
    return [match[2] for match in INCLUDE.finditer(path_text)]


def layer_problems(layer: str) -> list[str]:
    problems = []
    for path in sources(f"src/{layer}"):
        for header in includes(path.read_text()):
            folder = header.split("/")[0]
            if folder in BELOW and folder != layer and folder not in BELOW[layer]:
                problems.append(f"{name(path)} includes {header}: {layer} is below or beside {folder}")
            if "/" not in header and (path.parent / header).exists():
                problems.append(f'{name(path)} includes "{header}" without its layer: write "{layer}/{header}"')
    return problems


def outside_problems(folder: str) -> list[str]:
    """Outside src nothing of src may be included: every header is public, of this folder, or the system's."""
    problems = []
    for path in sources(folder):
        for header in includes(path.read_text()):
            strays = header.startswith("../") and not (path.parent / header).resolve().is_relative_to(ROOT / folder)
            in_src = header.split("/")[0] in BELOW or header.startswith("src/") or strays
            if in_src or (not (path.parent / header).exists() and any((ROOT / "src").rglob(header))):
                problems.append(f"{name(path)} includes {header}")
    return problems


for layer in BELOW:
    check(f"{layer} includes nothing above it", layer_problems(layer))
strays = [name(p) for p in sources("src") if p.relative_to(ROOT / "src").parts[0] not in BELOW]
check("every source file belongs to a layer", strays)
for folder in (
    "shmem",
    "bindings",
    "tools",
    "tests/conformance",
    "tests/fault",
    "tests/broken",
    "examples",
    "bench",
    "include",
):
    check(f"{folder} sees public headers only", outside_problems(folder))
end()
