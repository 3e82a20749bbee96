/* SPDX-License-Identifier: MIT
 *
 * The addresses of this host that the rendezvous may listen on.
 */
#ifndef RS_BOOTSTRAP_ADDRESS_H
#define RS_BOOTSTRAP_ADDRESS_H

#include <stdbool.h>
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
bool rs_address_is_loopback(const struct rs_uid_address *address);

#endif
