/* SPDX-License-Identifier: MIT
 *
 * A PE's connections during start-up: connect, receive, pause, each with a deadline (rs_os_now_ns clock) and
 * with a look at the hook of rs_bootstrap_set_hook every few milliseconds and after each signal. A negative
 * status of the hook is returned as it is; so a caller that goes on after SYSTEM and TIMEOUT must not go on
 * after anything else.
 */
#ifndef RS_BOOTSTRAP_LINK_H
#define RS_BOOTSTRAP_LINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Connect over TCP. Descriptor, SYSTEM (errno kept) or TIMEOUT. */
int rs_link_connect(const struct sockaddr *address, socklen_t length, uint64_t deadline_ns);
/* All nbytes. 0, SYSTEM (errno kept; ECONNRESET when the other end closed) or TIMEOUT. */
int rs_link_receive(int fd, void *data, size_t nbytes, uint64_t deadline_ns);
/* Sleep before another try: *pause_ns, which doubles up to 100 ms, or until the deadline. 0, or TIMEOUT past
 * it. */
int rs_link_pause(uint64_t *pause_ns, uint64_t deadline_ns);

/* Ask the hook of rs_bootstrap_set_hook: 0, or its negative status. */
int rs_link_hook(void);

/* a + b without wrapping: UINT64_MAX is never. */
uint64_t rs_link_add_ns(uint64_t a, uint64_t b);
/* config->bootstrap_ns from now; 0 is never. */
uint64_t rs_link_deadline(uint64_t timeout_ns);

#endif
