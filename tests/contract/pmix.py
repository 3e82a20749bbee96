# SPDX-License-Identifier: MIT
"""The prototypes and layouts of libpmix, as the runtime declares them, against pmix.h where that is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from contract import ROOT, check, end, skip

FOLDERS = [*sorted(Path("/usr/lib").glob("*/pmix2/include")), Path("/usr/include"), Path("/usr/local/include")]
NAME = "the prototypes of libpmix are those of pmix.h"

compiler = shutil.which("cc") or shutil.which("gcc")
include = next((folder for folder in FOLDERS if (folder / "pmix.h").exists()), None)
if include is None or compiler is None:
    skip(NAME, "pmix.h was not found" if compiler else "no C compiler")
else:
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT}/src"]
    system = ["-isystem", str(include), "-isystem", str(include / "pmix")]
    source = ROOT / "tests" / "contract" / "driver" / "pmix.c"
    result = subprocess.run([compiler, *flags, *system, str(source)], capture_output=True, text=True, check=False)
    check(NAME, [line for line in result.stderr.splitlines() if "error:" in line] if result.returncode else [])
end()
