# SPDX-License-Identifier: MIT
"""PyTorch's symmetric memory in the loops of tests/gpu/bench.c: a copy to the peer's buffer, a barrier on the stream.
JSON lines; a row with "skipped" where it refuses. Run by scripts/gpu.sh as a job."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
local = int(os.environ.get("LOCAL_RANK", "0"))


def say(row: str, **values: Any) -> None:
    if rank == 0:
        print(json.dumps({"impl": "torch", "row": row, "pes": world, **values}), flush=True)


def train(row: str, nbytes: int, run: Callable[[], object], length: int = 100) -> None:
    issues, totals = [], []
    for k in range(-2, 20):
        torch.cuda.synchronize()
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(length):
            run()
        issued = time.perf_counter()
        torch.cuda.synchronize()
        if k >= 0:
            issues.append((issued - begin) * 1e6 / length)
            totals.append((time.perf_counter() - begin) * 1e6 / length)
    total = statistics.median(totals)
    rate = {"GBps": round(nbytes / total * 1e-3, 1)} if nbytes >= 1 << 20 else {}
    say(row, bytes=nbytes, issue_us=round(statistics.median(issues), 3), total_us=round(total, 3), **rate)


def main() -> None:
    begin = time.perf_counter()
    torch.cuda.set_device(local % torch.cuda.device_count())
    dist.init_process_group("gloo")
    large = 512 << 20
    try:
        heap = symm.empty(large, dtype=torch.uint8, device="cuda")
        handle = symm.rendezvous(heap, dist.group.WORLD.group_name)
    except Exception as error:  # whatever it says is what we want to show
        text = (str(error).strip().splitlines() or [repr(error)])[0]
        for row in ("init", "put_on_stream", "put_on_stream large", "barrier_all_on_stream"):
            say(row, skipped=text[:200])
        return
    torch.cuda.synchronize()
    say("init", bytes=0, total_us=round((time.perf_counter() - begin) * 1e6))
    source = torch.zeros(large, dtype=torch.uint8, device="cuda")
    theirs = handle.get_buffer((rank + 1) % world, (large,), torch.uint8)
    for nbytes in (8, 4096, 65536, 524288):
        to, of = theirs[:nbytes], source[:nbytes]
        train("put_on_stream", nbytes, lambda to=to, of=of: to.copy_(of))  # type: ignore[misc]
    train("put_on_stream large", large, lambda: theirs.copy_(source), 1)
    train("barrier_all_on_stream", 0, lambda: handle.barrier(channel=0))
    dist.barrier()


main()
