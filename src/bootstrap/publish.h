/* SPDX-License-Identifier: MIT
 *
 * How the unique id gets from rank 0 to the other ranks of a job whose launcher has no channel for it: rank 0
 * offers it on a socket whose name or port all ranks can work out. A cookie, a hash of what the launcher told
 * every rank, tells this job from others; it is no secret, so on a Unix socket the kernel says who asks, and
 * over TCP the offer ends as soon as all have come.
 */
#ifndef RS_BOOTSTRAP_PUBLISH_H
#define RS_BOOTSTRAP_PUBLISH_H

#include <stdbool.h>
#include <stdint.h>

#include "rocshmem/rocshmem.h"

struct rs_publisher;

/* Offer uid to those who connect to listener with this cookie (and, ours_only, belong to our user), in a
 * thread. listener is taken over, also when it fails. */
int rs_publisher_create(int listener, bool ours_only, uint64_t cookie, const rocshmem_uniqueid_t *uid,
                        struct rs_publisher **publisher_out);
/* Stop and join the thread, close the listener. NULL is fine. */
void rs_publisher_destroy(struct rs_publisher *publisher);
/* Ask at a fresh connection. 0, SYSTEM or TIMEOUT: not there, not ours, not now; or what the hook said. */
int rs_publish_ask(int fd, uint64_t cookie, uint64_t deadline_ns, rocshmem_uniqueid_t *uid_out);

#endif
