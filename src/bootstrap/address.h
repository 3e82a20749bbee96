/* SPDX-License-Identifier: MIT
 *
 * The addresses of this host that the rendezvous may listen on, and how others go through them.
 */
#ifndef RS_BOOTSTRAP_ADDRESS_H
#define RS_BOOTSTRAP_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/config.h"
#include "bootstrap/wire.h"

/* Room for "[0123:...]:65535" and its end. */
enum { RS_ADDRESS_TEXT = 64 };

/* Fill out (RS_UID_ADDRESSES of room) without ports: those of the interfaces that config allows, then
 * loopback. How many, or CONFIG when ROCSHMEM_BOOTSTRAP_SOCKET_IFNAME allows none. */
int rs_address_list(const struct rs_config *config, bool loopback_only, struct rs_uid_address *out);
/* Does a list like "eth,ib", "=eth0" or "^docker,lo" allow the interface? */
bool rs_address_allows(const char *list, const char *name);
socklen_t rs_address_socket(const struct rs_uid_address *address, struct sockaddr_storage *out);
void rs_address_text(const struct rs_uid_address *address, char *out);
/* Listen on all n addresses that can be listened on, at ports of the kernel's choice, which are put into them; those that
 * cannot are left out of addresses (RS_UID_ADDRESSES of room) and fds. How many, or SYSTEM for none. what: for the
 * message. */
int rs_address_listen(struct rs_uid_address *addresses, int n, int *fds, const char *what);
/* The addresses of a host in the order of trial: loopback first on that host itself, left out on others. How many. */
int rs_address_order(const struct rs_uid_address *addresses, int n_addresses, uint64_t host_id,
                     struct rs_uid_address *out);
bool rs_address_is_loopback(const struct rs_uid_address *address);

#endif
