# SPDX-License-Identifier: MIT
"""Put, signal, barrier: the three ways in which PEs of a ring hand data on.

rocshmem-run -n 4 python examples/02_ring.py
"""

import sys

import numpy as np

import rocshmem4py as rs

WORDS = 1000


def main() -> int:
    rs.rocshmem_init()
    me, n_pes = rs.rocshmem_my_pe(), rs.rocshmem_n_pes()
    right, left = (me + 1) % n_pes, (me - 1) % n_pes

    # Collective: every PE gets a buffer, and its address names the right-hand neighbour's buffer as well.
    inbox = rs.rocshmem_create_buffer(8 * WORDS)
    arrived = rs.rocshmem_create_buffer(8)  # a signal word
    received = inbox.view(np.int64)  # the same memory, no copy
    arrived.view(np.uint64)[0] = 0
    rs.rocshmem_barrier_all()  # no PE sends before every signal word is zero

    # 1. Put and barrier: everyone writes to the right at once. The barrier completes the puts, then waits for all.
    message = np.full(WORDS, me, dtype=np.int64)  # ordinary memory may be the source of a put
    rs.rocshmem_putmem(inbox, message.ctypes.data, message.nbytes, right)
    rs.rocshmem_barrier_all()
    swapped = bool((received == left).all())
    rs.rocshmem_barrier_all()  # all have looked: the inboxes may be overwritten

    # 2. Put with signal: a token goes once around, PE 0 -> 1 -> ... -> 0, and each PE adds its own number.
    #    The data is there before the signal word changes, so who sees the signal may read the data.
    def wait_for_token() -> None:
        rs.rocshmem_signal_wait_until_on_stream(arrived, rs.ROCSHMEM_CMP_EQ, 1, None)
        rs.hip_device_synchronize()  # the default stream waits for the word, the host for the stream

    if me == 0:
        message[:] = 0
    else:
        wait_for_token()
        message[:] = received + me
    rs.rocshmem_putmem_signal_on_stream(
        inbox, message.ctypes.data, message.nbytes, arrived, 1, rs.ROCSHMEM_SIGNAL_SET, right, None
    )
    if me == 0:
        wait_for_token()
    rs.hip_device_synchronize()  # our own put has left, before its source goes away

    # 3. Barrier: after it every PE may fetch the result from PE 0, where the token ended.
    rs.rocshmem_barrier_all()
    rs.rocshmem_getmem(message.ctypes.data, inbox, message.nbytes, 0)
    expected = n_pes * (n_pes - 1) // 2
    good = swapped and bool((message == expected).all())
    print(f"PE {me} of {n_pes}: neighbour {left} wrote to me, the token came back as {message[0]}", flush=True)
    if not good:
        print(f"PE {me}: wrong result, expected {left} from the neighbour and {expected} in the token", file=sys.stderr)

    arrived.free()  # collective, the same order on every PE
    inbox.free()
    rs.rocshmem_finalize()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
