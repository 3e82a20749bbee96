/* SPDX-License-Identifier: MIT
 *
 * The inside of the UCX network. Everything is an active message: a put carries its bytes and is applied by the target's
 * progress, a get and an atomic that gives a value are a request and a reply, a put that quiet has to wait for is
 * acknowledged by a count that says how many of a peer's are done. So put + quiet is one round trip, where a put and a
 * flush of UCX over tcp are two; and atomics are done by the target's CPU, so they are atomic against those of its host.
 *
 * One worker, one lock (network->lock) around it and everything here. Who waits polls by itself; the network's thread
 * makes progress when nobody does. What UCX calls is called inside progress, under the lock, and sends nothing: replies are
 * queued and sent when progress returns.
 *
 * Order. Messages to a peer take one lane of one endpoint, in pieces that UCX sends whole, so they come in the order in
 * which they were sent; each has a number, and one that comes out of turn loses the peer rather than pass unseen.
 */
#ifndef RS_TRANSPORT_UCX_ENGINE_H
#define RS_TRANSPORT_UCX_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "transport/network.h"
#include "transport/ucx/library.h"

enum rs_wire_op {
    RS_WIRE_PUT =
        1, /* bytes to a place, and then, where width is not 0, a signal (amo) to token of cond; tracked */
    RS_WIRE_GET,     /* nbytes of a place, please, for token */
    RS_WIRE_DATA,    /* of a get: bytes at offset of its dest */
    RS_WIRE_AMO,     /* on a word; tracked where token is 0 */
    RS_WIRE_VALUE,   /* its old value, for token */
    RS_WIRE_ACK,     /* count of your tracked ones are done */
    RS_WIRE_MESSAGE, /* to the layer above; more: it goes on in the next */
    RS_WIRE_BYE      /* this PE closes: its endpoint's end is no loss */
};
struct rs_wire { /* the head of every message; byte order and layout are those of the job's one library */
    uint8_t op, amo, width, more;
    uint32_t region;
    int32_t from;
    uint32_t number; /* of all messages from this PE to that, modulo 2^32 */
    uint64_t offset; /* in the region; of DATA in dest */
    uint64_t nbytes; /* GET: wanted */
    uint64_t token;
    uint64_t value, cond; /* PUT, AMO, VALUE; ACK: the count */
    uint8_t head_nbytes;  /* MESSAGE: of its head, which follows */
    uint8_t zero[7];
};

struct rs_peer {
    struct rs_network *network;
    int pe;
    ucp_ep_h ep;            /* NULL: not made yet, or closed */
    uint32_t sent, come;    /* messages, modulo 2^32 */
    uint64_t issued, acked; /* my tracked ones */
    uint64_t applied;       /* its tracked ones that are done */
    bool leaving;           /* it has said goodbye */
    bool lost;              /* no use to send */
    bool owed;              /* in the list of those to be acknowledged */
    unsigned char *parts;   /* owned: a message of which there is more to come */
    size_t parts_nbytes, parts_room;
    struct rs_done *waiting, **waiting_end; /* of begin: puts, in the order of their counts */
    struct rs_peer *next, *next_owed;
};

/* A get or an atomic that waits for replies; a slot of a table, found by token. */
struct rs_pending {
    uint32_t generation; /* odd: in use */
    int pe;
    void *dest;                          /* GET: where the bytes go; AMO: a uint64_t, or NULL */
    bool staged;                         /* dest is the device's: copied by its transfer */
    uint64_t nbytes, left;               /* bytes, or 1 */
    void (*done)(void *arg, int status); /* NULL: see arg */
    void *arg; /* without done: an _Atomic int that becomes 1, or a status; NULL: one of n_gets */
    uint32_t next_free;
};

struct rs_done { /* of begin: done(arg) when the peer has acknowledged count */
    struct rs_done *next;
    uint64_t count;
    void (*done)(void *arg, int status);
    void *arg;
};

struct rs_sends { /* of a blocking put: how many of its sends UCX has not done with */
    _Atomic int n;
    struct rs_sends *next;
};

struct rs_reply { /* queued by a callback */
    struct rs_reply *next;
    struct rs_wire wire;
    int pe;
    uintptr_t from; /* DATA: where the bytes are */
    size_t nbytes;
    unsigned char head[RS_NETWORK_HEAD_NBYTES];
    unsigned char body[]; /* MESSAGE */
};

struct rs_network {
    const struct rs_network_host *host;
    pthread_mutex_t lock;
    _Atomic(const void *)
        owner; /* an address of the thread that holds lock, for calls out of its callbacks. W: it. R: all, relaxed */
    ucp_context_h context;
    ucp_worker_h worker;
    struct rs_peer **peers; /* owned, by PE; NULL: not talked to */
    struct rs_peer *first;  /* all that are */
    struct rs_region regions[RS_REGIONS];
    struct rs_pending *pending;
    uint32_t n_pending, pending_room, free_pending; /* free: index + 1 */
    uint64_t n_gets;                                /* nbi gets under way */
    struct rs_reply *replies, **replies_end;
    struct rs_peer *owed;
    struct rs_sends *given_up; /* owned: whose puts do not wait any more */
    int efd, wake_fd;
    pthread_t thread;
    bool threaded, closing;
    bool dropped; /* rubbish has come and was told of: once is enough */
    atomic_bool stop;
    _Atomic uint64_t
        n_polls; /* calls of progress by threads that wait. W: they, relaxed. R: our thread: is anybody there? */
};

/* All under the lock, but for these. */
void rs_engine_lock(struct rs_network *network);
void rs_engine_unlock(struct rs_network *network);
bool rs_engine_is_inside(
    const struct rs_network *network); /* this thread holds the lock: it is in a callback */
/* Under the lock or not; does nothing when another thread is at it. */
unsigned rs_engine_poll(struct rs_network *network);
/* Sleep until something comes, ns at most. */
void rs_engine_doze(struct rs_network *network, uint64_t ns);
void *rs_engine_run(void *arg); /* the network */

int rs_engine_start(struct rs_network *network);
void rs_engine_stop(struct rs_network *network, bool orderly);

/* 0 and the peer with an endpoint, or a status (worded). */
int rs_engine_peer(struct rs_network *network, int pe, struct rs_peer **peer_out);
/* One message; bytes are a piece at most. flag NULL: bytes may be reused when it returns, for they are copied; else *flag is
 * counted up when they are given to UCX and down when UCX has done with them. head: MESSAGE's. */
int rs_engine_send(struct rs_network *network, struct rs_peer *peer, struct rs_wire *wire, const void *head,
                   const void *bytes, size_t nbytes, _Atomic int *flag);
struct rs_signal { /* behind a put's last piece */
    struct rs_place word;
    uint64_t value;
    int sig_op;
};
/* Bytes of any number, cut in pieces; signal may be NULL. tracked ones are counted. */
int rs_engine_put(struct rs_network *network, struct rs_peer *peer, struct rs_place dest, const void *source,
                  size_t nbytes, const struct rs_signal *signal, _Atomic int *flag);
int rs_engine_get(struct rs_network *network, struct rs_peer *peer, void *dest, struct rs_place source,
                  size_t nbytes, void (*done)(void *, int), void *arg);
/* Nobody waits for the request any more: what comes for it is dropped. arg, as it was given. */
void rs_engine_forget(struct rs_network *network, const void *arg);
int rs_engine_amo(struct rs_network *network, struct rs_peer *peer, enum rs_amo_op op, struct rs_place word,
                  size_t width, uint64_t value, uint64_t cond, uint64_t *old_out, _Atomic int *flag);

/* Queue a message that is sent when progress returns; with room for nbytes of a body. NULL: no memory. */
struct rs_reply *rs_engine_reply(struct rs_network *network, int pe, const struct rs_wire *wire,
                                 size_t nbytes);

/* ---- between engine.c and receive.c ---- */
/* The peer, without an endpoint; NULL: no such PE, or no memory. */
struct rs_peer *rs_engine_find(struct rs_network *network, int pe);
/* What a token stands for; NULL: nothing any more. */
struct rs_pending *rs_engine_pending(struct rs_network *network, uint64_t token);
void rs_engine_finish(struct rs_network *network, struct rs_pending *pending, int status);
void rs_engine_lose(struct rs_network *network, struct rs_peer *peer, const char *why);
/* UCX calls it for each message; arg: the network. */
ucs_status_t rs_engine_receive(void *arg, const void *header, size_t header_nbytes, void *data, size_t nbytes,
                               const ucp_am_recv_param_t *param);

#endif
