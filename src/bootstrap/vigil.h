/* SPDX-License-Identifier: MIT
 *
 * The hosts of a job watch each other while it runs: one connection of each host's first PE to the job's first host,
 * with a sign of life now and then, and news that concern everybody (what broke the job, an exit, a wish for a dump).
 * The network for data sees neither a cut link nor a frozen host; this does.
 */
#ifndef RS_BOOTSTRAP_VIGIL_H
#define RS_BOOTSTRAP_VIGIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config.h"

struct rs_vigil;

enum rs_news_kind {
    RS_NEWS_BROKEN = 1, /* the job is broken: bytes are what rs_vigil_tell was given */
    RS_NEWS_EXIT,       /* rocshmem_global_exit, by another host's PE */
    RS_NEWS_DUMP, /* a page with the state of all PEs is wanted; the bytes of these three are pgas/page.c's */
    RS_NEWS_SEEN, /* a part of it, for host 0 alone */
    RS_NEWS_PAGED, /* it is there */
    RS_NEWS_LOST   /* a host was lost: index says which, text why; made here, nobody tells it */
};
struct rs_news {
    enum rs_news_kind kind;
    int host; /* which one tells it, or is lost: its index among the job's hosts */
    const void *bytes;
    size_t nbytes;
    bool ended;       /* LOST: its first PE's process has ended; else it is silent, or out of reach */
    const char *text; /* LOST: "gave no sign of life for 30 s", "ended without rocshmem_finalize"; else "" */
};

#define RS_VIGIL_ADDRESS_NBYTES 88
#define RS_NEWS_NBYTES 2048 /* most bytes of one piece */

struct rs_vigil_options {
    int host, n_hosts;    /* mine, of how many; host 0 is the one that all are connected to */
    uint64_t job, key[2]; /* equal on all hosts: tells jobs apart; the secret that who connects must know */
    uint64_t timeout_ns;  /* 0: never lost by silence */
    const unsigned char *address; /* host 0's, RS_VIGIL_ADDRESS_NBYTES; read by start only */
    uint64_t deadline_ns;         /* for all hosts to come */
    int bootstrap; /* a socket; when something comes there, start gives up: init has failed elsewhere. -1: none */
    /* Called by the vigil's thread, from when start has succeeded; does not block. */
    void (*news)(void *arg, const struct rs_news *news);
    /* Called by it about every 20 ms, and a last time by stop: look at the processes of this host, tell what broke here. NULL: nothing. */
    void (*look)(void *arg);
    void *arg;
};

/* Listen (first: PE 0, which is host 0's first PE; for others only an address of zeros), so that the address can go
 * into an exchange of init. Each host's first PE does this and the rest. */
int rs_vigil_listen(const struct rs_config *config, bool first, struct rs_vigil **vigil_out,
                    unsigned char address_out[RS_VIGIL_ADDRESS_NBYTES]);
/* Then, with host 0's address known: returns when this host is watched; on host 0, when all are. Host 0 waits for all,
 * so whoever listened calls this even when its own init has failed meanwhile, or stops its vigil and leaves the
 * bootstrap. BOOTSTRAP: worded, names the hosts that did not come; stop is still to be called. One host: no thread. */
int rs_vigil_start(struct rs_vigil *vigil, const struct rs_vigil_options *options);
/* Tell all other hosts, in the order of the calls. Any thread; never waits; what cannot be sent is lost with its
 * host. Nothing before start and after stop. */
void rs_vigil_tell(struct rs_vigil *vigil, enum rs_news_kind kind, const void *bytes, size_t nbytes);
/* Wait until all that was told is on its way, so that this process may end; false at the deadline. */
bool rs_vigil_flush(struct rs_vigil *vigil, uint64_t deadline_ns);
/* This host is through: that it is not heard of any more is no loss from here on. Sends what was told, ends the
 * thread, frees all; takes a second at most. NULL is fine. In a forked child only the memory is given back. */
void rs_vigil_stop(struct rs_vigil *vigil);

#endif
