# SPDX-License-Identifier: MIT
"""The 2-D heat equation, rows split over the PEs, checked bit for bit against one process, drawn as a PNG.

rocshmem-run -n 4 python examples/03_heat2d.py [--rows N] [--cols N] [--steps N] [--png PATH]
"""

import argparse

import numpy as np
import png

import rocshmem4py as rs
from _rocshmem4py import rocshmemx_get_stats


def step(old, new):
    """One explicit time step of all rows and columns but the outermost."""
    around = (old[:-2, 1:-1] + old[2:, 1:-1]) + (old[1:-1, :-2] + old[1:-1, 2:])
    new[1:-1, 1:-1] = old[1:-1, 1:-1] + 0.2 * (around - 4 * old[1:-1, 1:-1])


def symmetric(shape, dtype):
    """An array of zeros in symmetric memory: collective, so the same shape on every PE. It keeps its buffer alive."""
    array = rs.rocshmem_create_buffer(8 * int(np.prod(shape))).view(dtype, shape)
    array.fill(0)
    return array


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
for name, default in {"--rows": 240, "--cols": 320, "--steps": 500, "--png": "heat2d.png"}.items():
    parser.add_argument(name, type=type(default), default=default)
args = parser.parse_args()
rs.rocshmem_init()
me, n_pes = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
if args.rows - 2 < n_pes or args.cols < 3:
    parser.error(f"a {args.rows} x {args.cols} grid has no inner row for each of {n_pes} PEs")
first = [1 + (args.rows - 2) * pe // n_pes for pe in range(n_pes + 1)]  # PE p owns rows first[p]..first[p + 1] - 1
count = np.diff(first).tolist()  # they differ by one where it does not divide
y, x = np.ogrid[0 : 1 : args.rows * 1j, 0 : 1 : args.cols * 1j]
plate = 1.0 * ((x == 0) | ((x - 0.4) ** 2 + (y - 0.4) ** 2 < 0.03) | ((abs(x - 0.8) < 0.04) & (abs(y - 0.5) < 0.3)))
fields = symmetric((2, max(count) + 2, args.cols), np.float64)  # for even and odd steps; first and last row: halos
fields[:, : count[me] + 2] = plate[first[me] - 1 : first[me + 1] + 1]
arrived = symmetric(2, np.uint64)  # the step whose row has come from above, from below
whole, traffic = symmetric(plate.shape, np.float64), symmetric((n_pes, 7), np.int64)  # only PE 0's are filled
rs.rocshmem_barrier_all()  # nobody sends before all arrays are set
# Up and down: the peer, my edge row, the peer's halo row, the peer's word, my word.
edges = [e for e in ((me - 1, 1, count[me - 1] + 1, 1, 0), (me + 1, count[me], 0, 0, 1)) if 0 <= e[0] < n_pes]

# No race. A peer writes the halo of my field n % 2 in its step n. It begins step n only when it has my row of step
# n - 1, and I sent that row after my last look at that halo, as `old` in step n - 1. For the same reason it is at most
# one step ahead: a word that already shows n + 1 satisfies GE n, and the peer's row n + 1 went to the other field.
for n in range(1, args.steps + 1):
    old, new = fields[(n - 1) % 2, : count[me] + 2], fields[n % 2, : count[me] + 2]
    step(old, new)
    for peer, row, halo, word, _ in edges:  # the row is there before the word says so
        data = (fields[n % 2, halo].ctypes.data, new[row].ctypes.data, new[row].nbytes)
        rs.rocshmem_putmem_signal_on_stream(*data, arrived[word:].ctypes.data, n, rs.ROCSHMEM_SIGNAL_SET, peer, None)
    for *_, word in edges:
        rs.rocshmem_signal_wait_until_on_stream(arrived[word:].ctypes.data, rs.ROCSHMEM_CMP_GE, n, None)
    rs.hip_device_synchronize()  # the puts have left, both halos are here
mine = fields[args.steps % 2, 1 : count[me] + 1]
rs.rocshmem_putmem(whole[first[me] :].ctypes.data, mine.ctypes.data, mine.nbytes, 0)
row = np.array([*(stats := rocshmemx_get_stats(-1)).values()], np.int64)  # what this PE did, towards all together
rs.rocshmem_putmem(traffic[me:].ctypes.data, row.ctypes.data, row.nbytes, 0)
rs.rocshmem_barrier_all()  # completes the puts of all PEs
same = True
if me == 0:
    whole[[0, -1]] = plate[[0, -1]]  # the fixed first and last row belong to nobody
    pair = plate.copy(), plate.copy()
    for n in range(args.steps):
        step(pair[n % 2], pair[1 - n % 2])
    same = whole.tobytes() == pair[args.steps % 2].tobytes()
    verdict = "bit for bit equal to" if same else "DIFFERENT FROM"
    print(f"{args.rows} x {args.cols} grid, {args.steps} steps, {n_pes} PEs: {verdict} one process")
    png.write(args.png, whole)
    print(f"wrote {args.png}\n\n  PE" + "".join(f"{name:>12}" for name in stats))
    for pe, values in enumerate(traffic):
        print(f"{pe:4}" + "".join(f"{value:12}" for value in values))
rs.rocshmem_finalize()
raise SystemExit(not same)
