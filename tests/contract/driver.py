# SPDX-License-Identifier: MIT
"""The prototypes and layouts of the GPU drivers, as the runtime declares them, against the vendors' own headers, where
these can be found: CUDA's cuda.h (CUDA_HOME, /usr/local/cuda) and HIP's hip_runtime_api.h (ROCM_PATH, /opt/rocm, or
Debian's libamdhip64-dev, installed or unpacked by scripts/test-tools.sh)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from contract import ROOT, check, end, skip

HEADERS = {
    "cuda": ("cuda.h", [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", "/usr"]),
    "hip": (
        "hip/hip_runtime_api.h",
        [os.environ.get("ROCM_PATH", ""), "/opt/rocm", "/usr", str(ROOT / "build/hip/usr")],
    ),
}


def folder_of(header: str, roots: list[str]) -> Path | None:
    """The include folder that has a header, or None."""
    found = (Path(root) / "include" for root in roots if root and (Path(root) / "include" / header).exists())
    return next(found, None)


compiler = shutil.which("cc") or shutil.which("gcc")
for vendor, (header, roots) in HEADERS.items():
    name = f"the driver's prototypes are those of {header}"
    include = folder_of(header, roots)
    if include is None or compiler is None:
        skip(name, f"{header} was not found" if compiler else "no C compiler")
        continue
    source = ROOT / "tests" / "contract" / "driver" / f"{vendor}.c"
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT}/src", f"-I{ROOT}/include"]
    result = subprocess.run(
        [compiler, *flags, "-isystem", str(include), str(source)], capture_output=True, text=True, check=False
    )
    check(name, [line for line in result.stderr.splitlines() if "error:" in line] if result.returncode else [])
end()
