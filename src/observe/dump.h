/* SPDX-License-Identifier: MIT
 *
 * The state dump: one page that says what every PE does, and a verdict.
 */
#ifndef RS_OBSERVE_DUMP_H
#define RS_OBSERVE_DUMP_H

#include "observe/board.h"
#include "observe/seen.h"

enum rs_page_reason {
    RS_PAGE_ASKED,       /* SIGUSR1, rocshmem-run, rocshmemx_dump_state */
    RS_PAGE_TIMEOUT,     /* ROCSHMEM_TIMEOUT */
    RS_PAGE_INTERRUPTED, /* Ctrl-C in a wait */
    RS_PAGE_DEAD         /* a PE, or a host, died */
};

/* Print a page from what was gathered. n_silent: hosts that did not answer. marks: n bytes to work with. */
void rs_page_print(int fd, const struct rs_board *board, const struct rs_seen *seen, int n, int n_hosts,
                   int n_silent, enum rs_page_reason reason, int reason_pe, unsigned char *marks);

/* Gather this host's PEs, and print the page of them. Takes RS_GATHER_PATIENCE_NS at most, allocates by mmap only, takes no
 * lock: runs in a signal handler. */
void rs_dump_state(const struct rs_board *board, int fd, enum rs_page_reason reason);

/* A page for the whole job is wanted, on stderr. One is printed for all who want it at about one time; when something is
 * wrong (all reasons but ASKED) none, where one was printed just before. On one host it is printed here and now; with
 * several, the first PE of the job prints it (pgas/page.c), and await says whether to wait for that, for two seconds at most;
 * a page of this host alone comes where it does not. Without await: for signal handlers. */
void rs_page_wish(const struct rs_board *board, enum rs_page_reason reason, bool await);
/* Over hosts: is one on its way? */
bool rs_page_is_coming(const struct rs_board *board);
/* Is a page worth printing, by when the last one was? */
bool rs_page_is_due(const struct rs_board *board, enum rs_page_reason reason, uint64_t now_ns);

#endif
