# SPDX-License-Identifier: MIT
"""The committed device code is what its sources give: scripts/kernels.sh writes it anew and compares."""

from __future__ import annotations

import subprocess

from contract import ROOT, check, end, skip

result = subprocess.run([ROOT / "scripts/kernels.sh", "check"], capture_output=True, text=True, check=False)
name = "the generated device code is up to date"
if result.returncode == 77:
    skip(name, result.stdout.strip())
else:
    check(name, (result.stdout + result.stderr).strip() or "it differs" if result.returncode else [])
end()
