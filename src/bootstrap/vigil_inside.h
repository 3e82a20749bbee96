/* SPDX-License-Identifier: MIT
 *
 * Inside the vigil: vigil.c has its life and its thread (time, news), vigil_line.c a connection between two hosts,
 * vigil_join.c how one comes about. What travels:
 *
 *     host 0                                          another host
 *     challenge (its nonce)                   ---->
 *                                             <----   hello (host, job, its nonce, MAC under the key)
 *     verdict (MAC)                           ---->
 *     frames: BEAT; pieces of news            <--->
 *     frame BYE, then closed                  <--->   this host is through
 *
 * The key never travels; a nonce and a letter of its own make each MAC good for one place in one conversation. A
 * connection that proves nothing is closed and leaves no trace; once all hosts have come, nobody listens any more.
 * A connection that closes without BYE is a process that ended. Numbers are in the byte order of the machine, as in
 * the rendezvous.
 *
 * One thread owns everything but what is marked otherwise. The lines of the other hosts are made by start, before the
 * thread, and live as long as the vigil.
 */
#ifndef RS_BOOTSTRAP_VIGIL_INSIDE_H
#define RS_BOOTSTRAP_VIGIL_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "bootstrap/vigil.h"
#include "bootstrap/wire.h"

#define RS_VIGIL_MAGIC 0x4c495652u /* "RVIL" */
enum { RS_VIGIL_VERSION = 1 };

struct rs_vigil_challenge {
    uint32_t magic;
    uint16_t version, zero;
    uint8_t nonce[16];
};
struct rs_vigil_hello {
    uint32_t magic;
    uint16_t version, zero;
    int32_t host, n_hosts;
    uint64_t job;
    uint8_t nonce[16];
    uint64_t mac;
};
struct rs_vigil_verdict {
    uint32_t magic;
    uint16_t version, zero;
    uint64_t mac;
};
_Static_assert(sizeof(struct rs_vigil_hello) == 48 && sizeof(struct rs_vigil_verdict) == 16,
               "no padding on the wire");

enum { RS_FRAME_BEAT = 16, RS_FRAME_BYE }; /* beside enum rs_news_kind */
struct rs_vigil_frame {
    uint32_t kind;
    int32_t host; /* whom the news is from, or about */
    uint32_t nbytes;
    uint32_t ended; /* LOST: as in struct rs_news */
};

#define RS_VIGIL_IN_NBYTES 8192u /* at least twice the longest frame */
_Static_assert(RS_VIGIL_IN_NBYTES >= 2 * (sizeof(struct rs_vigil_frame) + RS_NEWS_NBYTES),
               "room for a part and more");

/* What host 0 (or another host) listens on, as bytes for the others. */
struct rs_vigil_address {
    uint64_t host_id;
    struct rs_uid_address addresses[RS_UID_ADDRESSES];
};
_Static_assert(sizeof(struct rs_vigil_address) == RS_VIGIL_ADDRESS_NBYTES, "the public size");

/* Bytes to send, shared by all lines that send them. */
struct rs_piece {
    uint32_t refs, nbytes;
    struct rs_piece *next; /* in the list of what was told */
    unsigned char bytes[]; /* frame and news */
};
struct rs_sending { /* a piece in the queue of a line */
    struct rs_sending *next;
    struct rs_piece *piece;
};

enum rs_line_state { RS_LINE_ABSENT, RS_LINE_OPEN, RS_LINE_OVER }; /* OVER: after BYE, or lost */
struct rs_line {
    _Atomic int fd; /* -1: none. W: thread, and start before it. R: also a forked child, which closes it */
    enum rs_line_state state;
    bool wants_out;    /* epoll tells when the socket takes more */
    int error;         /* of a send, which takes it from the socket; 0: none */
    uint64_t heard_ns; /* in lived time (vigil.c) */
    uint32_t n_queue, sent_nbytes, n_part;
    struct rs_sending *first, *last; /* owned; sent_nbytes of the first are gone already */
    unsigned char *part;             /* owned: n_part bytes of a frame that has not come whole; NULL: none */
};

/* A connection that has proved nothing yet. */
struct rs_visitor {
    int fd; /* -1: a free place */
    uint64_t since_ns;
    struct rs_vigil_challenge challenge;
    struct rs_vigil_hello hello; /* n_hello bytes of it */
    uint32_t n_hello;
};
enum { RS_VISITORS = 256 };

enum rs_vigil_phase { RS_VIGIL_IDLE, RS_VIGIL_JOINING, RS_VIGIL_WATCHING, RS_VIGIL_FAILED };

struct rs_vigil {
    struct rs_vigil_options options;
    struct rs_vigil *next; /* in the list for forked children */
    int pid;
    pthread_t thread;
    bool threaded;
    int epoll_fd, wake_fd;
    int n_listeners;
    _Atomic int listeners[RS_UID_ADDRESSES]; /* -1 once closed; as rs_line.fd */
    struct rs_line *lines;                   /* owned. Host 0: by host; others: only [0] */
    int n_lines, n_joined;
    struct rs_visitor *visitors; /* owned; NULL once all have come */
    uint64_t now_ns;             /* of this turn */
    uint64_t lived_ns, turn_ns;  /* time lived through; most of it that one turn adds */
    uint64_t beat_ns;            /* 0: none */
    uint64_t next_beat_ns, next_check_ns, next_look_ns;
    uint32_t n_busy;         /* lines with something to send */
    unsigned char *in;       /* owned: where input is read to */
    _Atomic uint32_t phase;  /* enum rs_vigil_phase. W: thread, release, after why. R: start, acquire */
    char why[400];           /* of FAILED */
    atomic_bool stopping;    /* W: stop. R: thread */
    _Atomic uint64_t n_sent; /* of the told pieces, how many are with the kernel. W: thread. R: flush */
    pthread_mutex_t lock;
    struct rs_piece *told_first, *told_last; /* under lock */
    uint64_t n_told;                         /* under lock */
};

/* What epoll gives back: which kind of descriptor, and its number. */
enum { RS_EVENT_WAKE, RS_EVENT_LISTENER, RS_EVENT_VISITOR, RS_EVENT_LINE };
static inline uint64_t rs_event(uint32_t kind, uint32_t index)
{
    return (uint64_t)kind << 32 | index;
}
/* Watch a descriptor for input, perhaps as another kind than before. False: it can't be. */
bool rs_vigil_watch(struct rs_vigil *vigil, int fd, uint32_t kind, int index);
/* Take it out of epoll (a forked child may hold it open too) and close it. */
void rs_vigil_close_fd(struct rs_vigil *vigil, int fd);

/* vigil_line.c. A line opens with fd, which it owns then. */
int rs_line_open(struct rs_vigil *vigil, struct rs_line *line, int fd);
void rs_line_close(struct rs_vigil *vigil, struct rs_line *line);
struct rs_piece *rs_piece_create(uint32_t kind, int host, bool ended, const void *bytes, size_t nbytes);
void rs_piece_release(struct rs_piece *piece);
/* Queue a piece (a reference is taken) and send what the socket takes. */
void rs_line_send(struct rs_vigil *vigil, struct rs_line *line, struct rs_piece *piece);
/* Read and write what can be now. */
void rs_line_ready(struct rs_vigil *vigil, struct rs_line *line, bool in, bool out);

/* vigil_join.c. Host 0: take new connections; a visitor's bytes are there; close those that are late. */
void rs_vigil_accept(struct rs_vigil *vigil, int listener);
void rs_visitor_ready(struct rs_vigil *vigil, struct rs_visitor *visitor);
void rs_visitors_tick(struct rs_vigil *vigil);
void rs_visitors_close(struct rs_vigil *vigil);
/* Another host: connect to host 0 and prove the key. The descriptor may be -1: init has failed elsewhere. */
int rs_vigil_join(const struct rs_vigil_options *options, int *fd_out);

/* letter: 'c' in a hello, 's' in a verdict. */
uint64_t rs_vigil_mac(const uint64_t key[2], char letter, const struct rs_vigil_challenge *challenge,
                      const struct rs_vigil_hello *hello);

/* vigil.c: joining can't succeed; what a line brought. */
void rs_vigil_fail(struct rs_vigil *vigil, const char *text);
void rs_vigil_came(struct rs_vigil *vigil, int host, int fd);
void rs_vigil_heard(struct rs_vigil *vigil, struct rs_line *line, const struct rs_vigil_frame *frame,
                    const void *bytes);
void rs_vigil_lost(struct rs_vigil *vigil, struct rs_line *line, bool ended, const char *text);

#endif
