/* SPDX-License-Identifier: MIT
 *
 * Ask the PEs of this host what they do, and collect the answers from the board.
 */
#ifndef RS_OBSERVE_GATHER_H
#define RS_OBSERVE_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/board.h"
#include "observe/seen.h"

#define RS_GATHER_PATIENCE_NS 150000000u /* for all to answer */

/* One round of questions. No allocation, no locks. */
struct rs_gather {
    const struct rs_board *board;
    uint32_t asked;
    uint64_t deadline_ns;
    unsigned char *states; /* borrowed, n_local: of each process, for gather.c */
};

/* Which signal asks a thread where it is (sent to that thread), or this process for a page (sent to it). The first is
 * answered by rs_note_answer. */
int rs_gather_signal(void);

/* Ask. states: n_local bytes of the caller's. */
void rs_gather_begin(struct rs_gather *gather, const struct rs_board *board, unsigned char *states);
/* Has everyone answered who can, or is it too late? */
bool rs_gather_ready(const struct rs_gather *gather);
/* What they do: a PE's threads in a row, PEs in order. How many are in out, at most `most`, which is n_local at least:
 * further threads are left out where there is no room. */
int rs_gather_collect(const struct rs_gather *gather, struct rs_seen *out, int most);

#endif
