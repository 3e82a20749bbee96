/* SPDX-License-Identifier: MIT
 *
 * The thread behind a unique id. server.c owns sockets and time: it accepts, polls, reads whole messages,
 * writes what is queued. meeting.c owns the meaning: who may join, who is missing, the all-gather. One thread
 * runs both, so nothing here is locked; the others only see rs_server_create, _finish, _ended and _destroy.
 *
 * Words: a visitor is a connection that has not proved that it knows the secret; a guest has, and waits for
 * the job before it to end; a member belongs to the job that meets; a leaver gets its last words and is then
 * closed.
 */
#ifndef RS_BOOTSTRAP_SERVER_H
#define RS_BOOTSTRAP_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bootstrap/wire.h"

/* ---- for uid.c ---- */

struct rs_server;

/* Takes the n listening sockets over (also when it fails). once: the thread ends by itself after the first
 * job that met and closed. */
int rs_server_create(const uint8_t secret[16], const int *listeners, int n, uint64_t timeout_ns, bool once,
                     struct rs_server **server_out);
/* The thread has ended by itself: only rs_server_destroy is left to do. */
bool rs_server_ended(const struct rs_server *server);
/* A PE will not come any more, text says what became of it: who waits for it in init fails at once. The first
 * one counts. Under the caller's lock. */
void rs_server_lose(struct rs_server *server, int pe, const char *text);
/* Deliver what is queued, close everything, join the thread. NULL is fine. In a forked child only the memory
 * and the descriptors are given back, for the thread is the parent's. */
void rs_server_destroy(struct rs_server *server);

/* ---- between server.c and meeting.c ---- */

struct rs_block { /* bytes to send, shared by all connections that send them */
    int refs;
    size_t nbytes;
    uint8_t bytes[];
};

enum rs_conn_state { RS_VISITOR, RS_GUEST, RS_MEMBER, RS_LEAVER, RS_CLOSED };
enum { RS_CONN_QUEUE = 4 };

struct rs_conn {
    int fd;
    enum rs_conn_state state;
    uint64_t since_ns; /* when it came, or became a leaver */
    struct rs_wire_challenge challenge;
    struct rs_wire_hello hello; /* complete unless a visitor */
    /* Input: in_nbytes of wanted bytes are in buffer (a hello, a frame) or in the blob's place. */
    union {
        struct rs_wire_hello hello;
        struct rs_wire_frame frame;
    } buffer;
    size_t in_nbytes;
    bool in_blob, arrived; /* reading the blob; this all-gather's blob is here */
    /* Output: queue[0] from out_nbytes on, then the others. */
    struct rs_block *queue[RS_CONN_QUEUE];
    int n_queue;
    size_t out_nbytes;
};

struct rs_meeting { /* the job that meets now */
    int nranks;     /* 0: none */
    int first_rank; /* who said nranks */
    int n_come, n_left, n_arrived;
    int gather_rank; /* who said how large the blobs are */
    bool met;        /* all have come */
    uint64_t start_ns, deadline_ns;
    struct rs_conn **members; /* by rank; NULL has not come, or has left */
    bool *has;                /* by rank: has come; in an all-gather: has given its blob */
    uint64_t blob_nbytes;
    struct rs_block *gather; /* NULL: no all-gather in progress */
    char refused[160];       /* the last refusal of a PE that knows the secret; "" */
};

struct rs_server {
    pthread_t thread;
    bool threaded; /* thread is to be joined */
    bool once;
    int pid; /* of the process whose thread it is */
    int wake_fd;
    int listeners[RS_UID_ADDRESSES];
    int n_listeners;
    bool draining;               /* no more accepts, short turns */
    atomic_bool ended, stopping; /* W: thread; W: destroy */
    atomic_int lost_pe; /* -1: none. W: rs_server_lose, once, after lost_text, release. R: thread, acquire */
    char lost_text[96];
    uint8_t secret[16];
    uint64_t timeout_ns; /* 0: none */
    uint64_t now_ns;     /* of this turn of the loop */
    uint64_t paused_ns;  /* no accept until then: no descriptors left */
    struct rs_conn **conns;
    int n_conns, conns_room, n_jobs; /* n_jobs: over, in whatever way */
    struct rs_meeting meeting;
};

/* conn.c: queue bytes (a block is taken over); a connection that cannot take more is closed. */
struct rs_block *rs_block_create(size_t nbytes);
void rs_block_release(struct rs_block *block);
void rs_conn_send_block(struct rs_server *server, struct rs_conn *conn, struct rs_block *block);
void rs_conn_send(struct rs_server *server, struct rs_conn *conn, const void *head, size_t head_nbytes,
                  const void *text, size_t text_nbytes);
/* Send what the socket takes now. */
void rs_conn_flush(struct rs_server *server, struct rs_conn *conn);
/* Close at once; the meeting hears of it. The server's loop frees it. */
void rs_conn_close(struct rs_server *server, struct rs_conn *conn);
/* After its queue is sent, close. The state is LEAVER. */
void rs_conn_leave(struct rs_server *server, struct rs_conn *conn);

/* meeting.c */
void rs_meeting_hello(struct rs_server *server,
                      struct rs_conn *conn); /* a visitor's hello is complete in buffer */
void rs_meeting_frame(struct rs_server *server,
                      struct rs_conn *conn); /* a member's frame header is complete */
void rs_meeting_blob(struct rs_server *server, struct rs_conn *conn); /* a member's blob is complete */
void rs_meeting_left(struct rs_server *server,
                     struct rs_conn *conn);     /* a member or guest closed, without BYE */
void rs_meeting_tick(struct rs_server *server); /* deadline; guests, once the job is over */
void rs_meeting_stranger(struct rs_server *server, struct rs_conn *conn, const char *reason);
uint64_t
rs_meeting_deadline(const struct rs_server *server); /* the next time tick has something to do; UINT64_MAX */
void rs_meeting_stop(struct rs_server *server);      /* the server ends: tell the members */
void rs_meeting_clear(struct rs_server *server);

#endif
