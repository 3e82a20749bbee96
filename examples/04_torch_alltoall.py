# SPDX-License-Identifier: MIT
"""Symmetric torch tensors: block i of every PE's tensor goes to PE i, and comes back.

The pattern of expert parallelism: tokens travel to the PE that holds their expert, the answers travel home.

    rocshmem-run -n 4 python examples/04_torch_alltoall.py
    torchrun --nproc-per-node 4 examples/04_torch_alltoall.py
"""

import os
import sys

import torch

import rocshmem4py as rs
from rocshmem4py.interop import torch as rst

TOKENS, WIDTH = 8, 64  # tokens from each PE for each PE, numbers in a token


def main() -> int:
    if "TORCHELASTIC_RUN_ID" in os.environ:
        rs.init_with_torch()  # started by torchrun: torch.distributed is initialised too
    else:
        rs.rocshmem_init()
    me, n_pes = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()

    # Collective. Ordinary tensors whose storage is symmetric: slices and views of them are symmetric as well.
    tokens = rst.create_tensor((n_pes, TOKENS, WIDTH), torch.float32)
    visitors = rst.create_tensor((n_pes, TOKENS, WIDTH), torch.float32)
    answers = rst.create_tensor((n_pes, TOKENS, WIDTH), torch.float32)

    for pe in range(n_pes):
        tokens[pe] = 1000 * me + pe  # "from me, for pe"
    rst.alltoall(rs.ROCSHMEM_TEAM_WORLD, visitors, tokens)  # enqueued on the default stream
    rs.hip_device_synchronize()  # now the visitors are here

    sources = torch.arange(n_pes, dtype=torch.float32, device=visitors.device).reshape(n_pes, 1, 1)
    there = torch.equal(visitors, (1000 * sources + me).expand_as(visitors))

    visitors.neg_()  # the expert at work, in place
    rst.alltoall(rs.ROCSHMEM_TEAM_WORLD, answers, visitors)
    rs.hip_device_synchronize()
    back = torch.equal(answers, -tokens)

    good = there and back
    verdict = "tokens went out and came back" if good else "WRONG DATA"
    print(f"PE {me} of {n_pes}: {verdict} on {tokens.device}", flush=True)

    for tensor in (answers, visitors, tokens):
        rst.free_tensor(tensor)  # collective, the same order on every PE
    rs.finalize_with_torch()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
