/* SPDX-License-Identifier: MIT
 *
 * The Unix signals that a job listens to while it lives: SIGUSR1 prints the state of all PEs; a real-time signal ends
 * this process with the status that rocshmem_global_exit put on the board; another one asks a thread where it is. A handler
 * that the program installed before init stays.
 */
#ifndef RS_PGAS_SIGNALS_H
#define RS_PGAS_SIGNALS_H

#include "observe/board.h"

void rs_signals_install(const struct rs_board *board);
void rs_signals_restore(void);
/* In the child of a fork: the handlers stay and do nothing. */
void rs_signals_forget(void);
/* End every PE of this host with status, this one last. launcher_socket: rocshmem-run's, told first; may be
 * empty. */
_Noreturn void rs_signals_exit_all(const struct rs_board *board, int status, const char *launcher_socket);

#endif
