/* SPDX-License-Identifier: MIT
 *
 * A job whose launcher has no channel for the unique id: all ranks work out one place from what the launcher told
 * each of them, rank 0 offers the id there, the others ask. On one host the place is an abstract Unix socket, where
 * the kernel says whose process is at the other end; over several it is a TCP port of rank 0's host.
 */
#ifndef RS_BOOTSTRAP_MEET_H
#define RS_BOOTSTRAP_MEET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "bootstrap/bootstrap.h"

struct rs_meeting_point { /* where, as all ranks work it out */
    const char *launcher;
    int rank, nranks;
    uint64_t cookie;
    char name[96];                        /* of the abstract Unix socket: a job on one host */
    const char *address;                  /* NULL, or with port: a job on several hosts */
    const char *address_name, *port_name; /* the variables they come from, for messages */
    int port;
    bool loopback; /* the rendezvous needs no other interface */
};

/* Fill cookie and name: from texts that every rank knows (NULL ends them), and the generation. */
void rs_meet_name(struct rs_meeting_point *point, const char *prefix, const char *const *texts);
/* Join the job that meets there. BOOTSTRAP when it does not within the deadline. */
int rs_meet(const struct rs_meeting_point *point, const struct rs_config *config,
            struct rs_bootstrap *bootstrap_out);

#endif
