/* SPDX-License-Identifier: MIT
 *
 * The state dump: what every PE of this host is doing, read from the board.
 */
#ifndef RS_OBSERVE_DUMP_H
#define RS_OBSERVE_DUMP_H

#include "observe/board.h"

/* One line a PE, one more for each further thread that is inside a call. No allocation, no locks: runs in a
 * signal handler. */
void rs_dump_state(const struct rs_board *board, int fd);

#endif
