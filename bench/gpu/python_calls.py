# SPDX-License-Identifier: MIT
"""What a call of put_on_stream costs from Python: of 0 bytes, where C's cost is little, and of 8. JSON lines like those
of tests/gpu/bench.c. Run by scripts/gpu.sh as a job; takes no torch."""

from __future__ import annotations

import json
import statistics
import time

import rocshmem4py as rs

rs.rocshmem_init()
me, n = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
stream = rs.rocshmemx_stream_create()
dest, source = rs.rocshmem_malloc(4096), rs.rocshmem_malloc(4096)
right = (me + 1) % n


def train(nbytes: int, length: int) -> float:
    """Microseconds to issue one call."""
    put = rs.rocshmem_putmem_on_stream
    times = []
    for k in range(-2, 30):
        rs.rocshmem_barrier_all()
        calls = range(length)
        begin = time.perf_counter()
        for _ in calls:
            put(dest, source, nbytes, right, stream)
        took = time.perf_counter() - begin
        rs.rocshmemx_stream_synchronize(stream)
        if k >= 0:
            times.append(took * 1e6 / length)
    return statistics.median(times)


for nbytes, length in ((0, 2000), (8, 100)):
    issue = train(nbytes, length)
    if me == 0:
        line = {"impl": "python", "row": "put_on_stream", "pes": n, "bytes": nbytes, "issue_us": round(issue, 3)}
        print(json.dumps(line), flush=True)
rs.rocshmemx_stream_destroy(stream)
rs.rocshmem_finalize()
