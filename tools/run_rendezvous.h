/* SPDX-License-Identifier: MIT
 *
 * Where the PEs of rocshmem-run find the job: an abstract Unix socket that hands the unique id to processes
 * of the same user.
 *
 * A client connects and reads ROCSHMEM_UNIQUE_ID_BYTES bytes. It may then send one struct run_exit_notice:
 * this PE called rocshmem_global_exit, so what follows is no failure to be explained.
 */
#ifndef ROCSHMEM_RUN_RENDEZVOUS_H
#define ROCSHMEM_RUN_RENDEZVOUS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <rocshmem/rocshmem.h>

/* On the wire; the sender is on this host, so bytes are in its order. */
struct run_exit_notice {
    char magic[4]; /* "exit" */
    int32_t status;
};

struct run_client {
    int fd; /* -1: free */
    pid_t pid;
};

struct run_rendezvous {
    char name[48]; /* of the socket, without the leading zero byte: ROCSHMEM_RUN_SOCKET */
    int listener;
    rocshmem_uniqueid_t uid;
    struct run_client *clients; /* owned; connections that may still bring a notice */
    int n_clients;
};

/* Make the socket; clients queue up until it is served. 0, or -1 with errno. */
int run_rendezvous_open(struct run_rendezvous *rendezvous, int n_pes);
void run_rendezvous_close(struct run_rendezvous *rendezvous); /* zeroed with listener -1 is fine */

/* Poll entries: this many, filled by the call. */
int run_rendezvous_n_polls(const struct run_rendezvous *rendezvous);
void run_rendezvous_poll(const struct run_rendezvous *rendezvous, struct pollfd *polls);
/* Answer who came, without blocking. The pid of a PE that sent a notice, with its status; 0 if none did. */
pid_t run_rendezvous_serve(struct run_rendezvous *rendezvous, int *status_out);

#endif
