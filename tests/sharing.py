# SPDX-License-Identifier: MIT
"""For the conftests of tests/fault, tests/hosts and tests/launchers: the helpers of tests/python/conftest.py.

All of them are called conftest, so a plain import would find whichever was loaded first: it is loaded under a name of
its own. These folders are packages, so their parent, where this file lies, is where Python looks for modules.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent

#: Called as ssh is, with options, a host and a command. What it starts is on a host of its own for the runtime.
FAKE_SSH = """#!/bin/sh
while case $1 in -*) true;; *) false;; esac; do shift; done
host=$1; shift
ROCSHMEM_NODE_ID="fake-$host" FAKE_HOST="$host" exec sh -c "$*"
"""


def load(name: str, path: Path) -> Any:
    """The module in this file, under this name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


jobs = load("job_helpers", TESTS / "python" / "conftest.py")


@pytest.fixture(scope="session")
def fake_ssh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ssh") / "ssh"
    path.write_text(FAKE_SSH)
    path.chmod(0o755)
    return path
