#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Build, test and benchmark on a machine with a GPU, in one go: what it has, the tests, the short benchmarks. In this
# version the symmetric heap lives on the host device only, so a GPU is reported and not used, and the summary says so.
set -u
cd "$(dirname "$0")/.." || exit 2

echo "== machine"
uname -srm
if command -v nvidia-smi >/dev/null 2>&1; then
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
elif command -v rocm-smi >/dev/null 2>&1; then
    rocm-smi --showproductname --showdriverversion
else
    echo "no GPU tool found (nvidia-smi, rocm-smi)"
fi

echo "== build"
make --no-print-directory build || exit 1
build/venv/bin/rocshmem-info

echo "== tests"
make --no-print-directory test
status=$?

echo "== benchmarks (short)"
build/venv/bin/python bench/compare.py --quick || status=1

echo "== summary: tested on the host device only; this version has no GPU device, whatever GPU stands above was not used"
exit $status
