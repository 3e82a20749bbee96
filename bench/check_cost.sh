#!/bin/sh
# SPDX-License-Identifier: MIT
# What checked mode costs, per operation: rocshmem-perf without and with ROCSHMEM_CHECK=1, side by side.
#     bench/check_cost.sh [folder with rocshmem-run and rocshmem-perf]
set -eu
bin=${1:-build/venv/bin}
for check in 0 1; do
    echo "## ROCSHMEM_CHECK=$check"
    ROCSHMEM_CHECK=$check "$bin/rocshmem-run" -n 2 "$bin/rocshmem-perf"
done
