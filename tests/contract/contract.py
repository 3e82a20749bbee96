# SPDX-License-Identifier: MIT
"""What the contract scripts share: where things are, and how a check reports.

A script prints one line for each check, `ok name` or `FAIL name: reason` or `skip name: reason`, and ends with a
status that is not 0 when a check failed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
failed = 0


def check(name: str, problems: Iterable[str] | str | bool) -> None:
    """One check: passed when there is no problem (an empty list or text, or False)."""
    global failed
    found = [problems] if isinstance(problems, str) and problems else problems
    words = ["it is so"] if found is True else list(found) if found else []
    if not words:
        print(f"ok {name}")
        return
    failed += 1
    more = f" (and {len(words) - 8} more)" if len(words) > 8 else ""
    print(f"FAIL {name}: {'; '.join(words[:8])}{more}")


def skip(name: str, reason: str) -> None:
    print(f"skip {name}: {reason}")


def end() -> None:
    sys.exit(1 if failed else 0)


def sources(*folders: str, suffixes: tuple[str, ...] = (".c", ".h", ".def")) -> list[Path]:
    """The files of these folders, sorted."""
    return sorted(
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix in suffixes
    )


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def without_comments(text: str, *, strings: bool = False) -> str:
    """C without its comments, and without the text of its string literals if asked; lines stay where they are."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''

    def replace(match: re.Match[str]) -> str:
        word = match[0]
        if word.startswith("/"):
            return " " + "\n" * word.count("\n")
        return '""' if strings and word.startswith('"') else word

    return re.sub(pattern, replace, text, flags=re.DOTALL)
