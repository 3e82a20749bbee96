/* SPDX-License-Identifier: MIT
 *
 * The socket through which the PEs of rocshmem-run get the unique id. The secret inside it is never in an
 * environment or a command line, where other users could read it; the kernel tells us who is at the other
 * end. An abstract socket has no file: it is gone with the launcher, however that ends.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "run_rendezvous.h"

enum { CLIENTS_SPARE = 16 };

int run_rendezvous_open(struct run_rendezvous *rendezvous, int n_pes)
{
    *rendezvous = (struct run_rendezvous){.listener = -1, .uid = rendezvous->uid};
    uint64_t random[2];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) return -1;
    snprintf(rendezvous->name, sizeof(rendezvous->name), "rocshmem-run-%016llx%016llx",
             (unsigned long long)random[0], (unsigned long long)random[1]);

    rendezvous->n_clients = n_pes + CLIENTS_SPARE;
    rendezvous->clients = calloc((size_t)rendezvous->n_clients, sizeof(*rendezvous->clients));
    if (!rendezvous->clients) return -1;
    for (int i = 0; i < rendezvous->n_clients; i++) rendezvous->clients[i].fd = -1;

    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t n = strlen(rendezvous->name);
    memcpy(address.sun_path + 1, rendezvous->name, n);
    socklen_t nbytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
    rendezvous->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (rendezvous->listener < 0) return -1;
    if (bind(rendezvous->listener, (struct sockaddr *)&address, nbytes) != 0) return -1;
    return listen(rendezvous->listener, n_pes < 128 ? 128 : n_pes);
}

void run_rendezvous_close(struct run_rendezvous *rendezvous)
{
    for (int i = 0; rendezvous->clients && i < rendezvous->n_clients; i++)
        if (rendezvous->clients[i].fd >= 0) close(rendezvous->clients[i].fd);
    free(rendezvous->clients);
    rendezvous->clients = NULL;
    rendezvous->n_clients = 0;
    if (rendezvous->listener >= 0) close(rendezvous->listener);
    rendezvous->listener = -1;
}

int run_rendezvous_n_polls(const struct run_rendezvous *rendezvous)
{
    return 1 + rendezvous->n_clients;
}

void run_rendezvous_poll(const struct run_rendezvous *rendezvous, struct pollfd *polls)
{
    polls[0] = (struct pollfd){.fd = rendezvous->listener, .events = POLLIN};
    for (int i = 0; i < rendezvous->n_clients; i++)
        polls[1 + i] = (struct pollfd){.fd = rendezvous->clients[i].fd, .events = POLLIN};
}

/* Hand the unique id over, and keep the connection for a notice while there is room. */
static void welcome(struct run_rendezvous *rendezvous, int fd)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);
    int slot = 0;
    while (slot < rendezvous->n_clients && rendezvous->clients[slot].fd >= 0) slot++;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.uid != geteuid() ||
        send(fd, rendezvous->uid.data, sizeof(rendezvous->uid.data), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ||
        slot == rendezvous->n_clients) {
        close(fd); /* a stranger sees an empty connection, and rocshmem_init words it */
        return;
    }
    rendezvous->clients[slot] = (struct run_client){.fd = fd, .pid = peer.pid};
}

/* Whether a notice lies there; anything else, the end included, closes the connection. */
static bool take_notice(struct run_client *client, int *status_out)
{
    struct run_exit_notice notice;
    ssize_t n = recv(client->fd, &notice, sizeof(notice), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    close(client->fd);
    client->fd = -1;
    if (n != (ssize_t)sizeof(notice) || memcmp(notice.magic, "exit", 4) != 0) return false;
    *status_out = notice.status;
    return true;
}

pid_t run_rendezvous_serve(struct run_rendezvous *rendezvous, int *status_out)
{
    for (;;) {
        int fd = accept4(rendezvous->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            welcome(rendezvous, fd);
        else if (errno != EINTR && errno != ECONNABORTED)
            break;
    }
    pid_t from = 0;
    for (int i = 0; i < rendezvous->n_clients; i++) {
        struct run_client *client = &rendezvous->clients[i];
        int status;
        if (client->fd < 0 || !take_notice(client, &status) || from != 0) continue;
        from = client->pid; /* the first one counts */
        *status_out = status;
    }
    return from;
}
