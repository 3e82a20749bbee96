# SPDX-License-Identifier: MIT
"""The rows of shmem_bench.c in words, and what they should reach."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import common
from sides import Key, Side

KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Aim:
    """What one row should reach. The figures come from one machine, where OSHMEM needed peer_ns; on another, ours
    should stand to OSHMEM as goal_ns stood to peer_ns there."""

    goal_ns: float | None = None
    peer_ns: float | None = None
    times_memcpy: float | None = None
    below_peer: bool = False


PAIR_AIMS: dict[Key, Aim] = {
    ("put_quiet", 8): Aim(14, 28.8),
    ("get", 8): Aim(8, 20.5),
    ("long_g", 8): Aim(8, 20.2),
    ("put_quiet", 4 * KIB): Aim(40, 64),
    ("put_quiet", 32 * KIB): Aim(times_memcpy=1.03),
    ("put_quiet", MIB): Aim(times_memcpy=1.03),
    ("put_quiet", 4 * MIB): Aim(times_memcpy=1.03),
    ("long_atomic_fetch_add", 8): Aim(11, 19.5),
    ("long_atomic_fetch_inc", 8): Aim(11, 19.5),
    ("long_atomic_swap", 8): Aim(11, 19.5),
    ("long_atomic_compare_swap", 8): Aim(11, 19.5),
    ("fence", 0): Aim(3, 30),
    ("quiet", 0): Aim(7, 18),
    ("ping_pong", 8): Aim(160, 199),
    ("barrier_all", 0): Aim(220, 328),
    ("broadcast", 8): Aim(126, 126),
    ("broadcast", MIB): Aim(36_000, 56_012),
    ("alltoall", 8): Aim(450, 656),
    ("alltoall", MIB): Aim(140_000, 144_570),
    ("fcollect", 8): Aim(350, 404),
    ("fcollect", MIB): Aim(115_000, 147_444),
    ("sum_long", 8): Aim(350, 415),
    ("sum_long", MIB): Aim(150_000, 186_694),
    ("malloc_free", 64): Aim(700, 750),
    ("ctx_create", 0): Aim(100, 3_400_000),
    ("init", 0): Aim(15e6, 230e6),
    ("finalize", 0): Aim(5e6, 85e6),
}
CROWD_AIMS: dict[Key, Aim] = {
    ("barrier_all", 0): Aim(below_peer=True),
    ("broadcast", 8): Aim(below_peer=True),
    ("alltoall", 8): Aim(below_peer=True),
    ("fcollect", 8): Aim(below_peer=True),
    ("sum_long", 8): Aim(below_peer=True),
}
# Two PEs, each a host of its own, over TCP: rows and what they should reach, against OSHMEM over UCX on TCP.
HOST_AIMS: dict[Key, Aim] = {
    ("put_quiet", 8): Aim(8_000, 11_700),
    ("put_quiet", MIB): Aim(below_peer=True),
    ("put_quiet", 4 * MIB): Aim(below_peer=True),
    ("put_nbi_16", 8): Aim(below_peer=True),
    ("get", 8): Aim(6_800, 6_800),
    ("ping_pong", 8): Aim(7_000, 9_800),
    ("long_atomic_fetch_add", 8): Aim(6_800, 6_800),
    ("barrier_all", 0): Aim(4_700, 4_700),
    ("alltoall", 8): Aim(below_peer=True),
    ("fcollect", 8): Aim(below_peer=True),
    ("sum_long", 8): Aim(below_peer=True),
}
FOUR_PE_BARRIER = Aim(2000, 2115)
# More PEs than this run the rows of CROWD_AIMS only.
ALL_ROWS_UP_TO = 4

FLOORS = ("memcpy", "memcpy_peer", "store_fence", "load", "locked_add", "line")
LABELS = {
    "memcpy": "memcpy, private",
    "memcpy_peer": "memcpy to the peer",
    "store_fence": "store to the peer + fence",
    "load": "load from the peer",
    "locked_add": "atomic add of the CPU",
    "line": "a cache line's way to the peer",
    "put_quiet": "put + quiet",
    "put_nbi_quiet": "put_nbi + quiet",
    "put_nbi_16": "16 put_nbi + quiet, each",
    "get_nbi_quiet": "get_nbi + quiet",
    "fence": "fence, nothing outstanding",
    "quiet": "quiet, nothing outstanding",
    "ping_pong": "put_signal + wait, one way",
    "lock": "set_lock + clear_lock, alone",
    "contended_lock": "set_lock, g, p, clear_lock, by all PEs, once each",
    "ctx_create": "context create + destroy",
    "set_barrier": "barrier, active set",
    "set_broadcast": "broadcast64, active set",
    "set_sum": "long_sum_to_all, active set",
    "alltoalls": "alltoalls, strides of 2",
    "sum_long": "sum long",
    "sum_double": "sum double",
    "max_int": "max int",
    "malloc_free": "malloc + free",
}
# Where the size counts elements of so many bytes, and where it counts blocks.
ELEMENTS = {"sum_long": 8, "set_sum": 8, "sum_double": 8, "max_int": 4}
BLOCKS = ("alltoall", "alltoalls")


def show_bytes(nbytes: int) -> str:
    for size, unit in ((MIB, "MiB"), (KIB, "KiB")):
        if nbytes >= size:
            return f"{nbytes // size} {unit}"
    return f"{nbytes} B"


def label_of(key: Key) -> str:
    """The row's name in a table: "put + quiet, 4 KiB"."""
    op, nbytes = key
    if op.startswith(("iput_", "iget_")):
        name, dest, source = op.split("_")
        quiet = " + quiet" if name == "iput" else ""
        return f"long_{name}{quiet}, every {dest} to every {source}, {nbytes // 8} elements"
    if "_atomic_" in op or op.endswith(("_p", "_g")):
        return op
    name = LABELS.get(op, op)
    if op in ELEMENTS:
        count = nbytes // ELEMENTS[op]
        return f"{name}, {count} element{'' if count == 1 else 's'}"
    if not nbytes:
        return name
    return f"{name}, {show_bytes(nbytes)}{' a block' if op in BLOCKS else ''}"


def aims_for(n_pes: int) -> dict[Key, Aim]:
    aims = dict(PAIR_AIMS if n_pes <= 2 else CROWD_AIMS)
    if n_pes == 4:
        aims[("barrier_all", 0)] = FOUR_PE_BARRIER
    return aims


def names_of(aims: dict[Key, Aim]) -> str:
    return ",".join(f"{op}:{nbytes}" for op, nbytes in aims)


def judge(aim: Aim | None, key: Key, ours: Side, peer: Side | None) -> tuple[str, str]:
    """The target in words, and whether it is met."""
    if not aim or not ours.medians.get(key):
        return "", ""
    mine = common.centre(ours.medians[key])[0]
    theirs = common.centre(peer.medians[key])[0] if peer and peer.medians.get(key) else None
    if aim.times_memcpy:
        floors = ours.medians.get(("memcpy_peer", key[1]), [])  # one a run, as the puts
        ratios = [put / floor for put, floor in zip(ours.medians[key], floors, strict=False)]
        ratio = statistics.median(ratios) if ratios else None
        found = f" (is {ratio:.2f})" if ratio else ""
        met = common.WORDS[ratio <= aim.times_memcpy if ratio else None]
        return f"≤ {aim.times_memcpy} of memcpy to the peer{found}", met
    if aim.below_peer:
        return "≤ peer", common.WORDS[mine <= theirs] if theirs else ""
    if aim.goal_ns is None or aim.peer_ns is None:
        return "", ""
    ratio = aim.goal_ns / aim.peer_ns
    target = f"≤ {common.show(aim.goal_ns)}, or ≤ {ratio:.2g} of the peer"
    if mine <= aim.goal_ns:
        return target, "yes"
    return target, "by ratio" if theirs and mine <= ratio * theirs else "**no**"
