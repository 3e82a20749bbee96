# SPDX-License-Identifier: MIT
"""The list in docs/faq.md of what users suffer from has every number once, and each test that it names exists."""

from __future__ import annotations

import re

from contract import ROOT, check, end

NUMBERS = 12
text = (ROOT / "docs" / "faq.md").read_text()
rows = re.findall(r"^\| (\d+)\. ([^|]+) \| ([^|]+) \|$", text, flags=re.MULTILINE)
found = [int(number) for number, _, _ in rows]
check("the list has each number once", "" if found == [*range(1, NUMBERS + 1)] else f"it has {found}")
for number, what, tests in rows:
    problems = []
    names = re.findall(r"`([^`]+)`", tests)
    for test in names:
        file, _, name = test.partition("::")
        path = ROOT / "tests" / file
        if not path.is_file():
            problems.append(f"there is no tests/{file}")
        elif name and not re.search(rf"(?<!\w){re.escape(name)}", path.read_text()):
            problems.append(f"tests/{file} has no {name}")
    if not names:
        problems.append("no test is named")
    check(f"{number}. {what} has its tests", problems)
end()
