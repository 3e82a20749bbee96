/* SPDX-License-Identifier: MIT
 *
 * TCP ports of this host, for tests.
 */
#ifndef TESTS_UNIT_PORTS_H
#define TESTS_UNIT_PORTS_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static inline struct sockaddr_in loopback(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    to.sin_port = htons((uint16_t)port);
    return to;
}

/* A port where nobody listens, with a hundred more behind it; -1 if there is none. */
static inline int free_port(void)
{
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = -1;
    if (bind(fd, (struct sockaddr *)&address, length) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &length) == 0)
        port = ntohs(address.sin_port);
    close(fd);
    return port > 65400 ? port - 200 : port;
}

#endif
