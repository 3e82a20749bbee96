/* SPDX-License-Identifier: MIT
 *
 * Two PEs that wait for each other in collectives of different teams, or one in a host collective and one for a
 * stream with a collective on it: neither call can ever end.
 */
#ifndef RS_PGAS_DEADLOCK_H
#define RS_PGAS_DEADLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rs_job;
struct rs_thread;

/* On a slow tick of a host collective, or of a wait for streams: publish whom this thread awaits, and, in a
 * collective, look whether that PE awaits this one. 0, or MISMATCH on record for everyone. */
int rs_deadlock_look(struct rs_job *job, struct rs_thread *thread, uint64_t waited_ns);
/* Has this process a thread that could call us, beside the one that waits? When it cannot be found out: yes. */
bool rs_deadlock_other_threads(pid_t pid);
/* After a wait for streams that has published. */
void rs_deadlock_forget(struct rs_thread *thread);

#endif
