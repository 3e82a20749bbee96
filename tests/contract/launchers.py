# SPDX-License-Identifier: MIT
"""Each cell of the table in docs/launchers.md names tests, and these exist."""

from __future__ import annotations

import re

from contract import ROOT, check, end

ROWS = 18
text = (ROOT / "docs" / "launchers.md").read_text().partition("## What is tested")[2]
rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", text, flags=re.MULTILINE)[1:]
check("the table is whole", "" if len(rows) == ROWS else f"it has {len(rows)} rows, not {ROWS}")
for launcher, way, *cells in rows:
    problems = []
    for cell in cells:
        names = re.findall(r"`([^`]+)`", cell)
        for test in names:
            file, _, name = test.partition("::")
            path = ROOT / "tests" / file
            if not path.is_file() or not re.search(rf"(?<!\w){re.escape(name)}\(", path.read_text()):
                problems.append(f"there is no test {test}")
        if not names:
            problems.append("a cell names no test")
    check(f"{launcher}, {way}".replace(":", ""), problems)
end()
