/* SPDX-License-Identifier: MIT
 *
 * A child that a PE forks is not in the job: two processes can't be one PE. It keeps a copy of what the job had here, may
 * read and write that memory, exec and exit, and every call of the API in it is an error that says so.
 */
#ifndef RS_PGAS_FORK_H
#define RS_PGAS_FORK_H

/* From now on; once a process. */
void rs_fork_watch(void);
/* 0, or STATE (worded) when this process was forked by a PE. */
int rs_fork_check(void);

#endif
