/* SPDX-License-Identifier: MIT
 *
 * What a network is to the runtime: the way to PEs of other hosts. A network is a plug-in, a shared object of its
 * own that exports rs_network_plugin; it is loaded only when a PE lives on another host (or is asked for by
 * ROCSHMEM_TRANSPORT). It knows no team and no heap: it moves bytes between this process and numbered regions of a
 * peer, runs atomics there, and carries messages of the layer above. What it needs of the library comes as
 * functions in struct rs_network_host, for a plug-in links to none of it.
 *
 * Order. Towards one PE: a message, an atomic and a signal are seen there after all puts and atomics that this thread
 * issued to that PE before, nbi or not. Across PEs: only quiet. A blocking put returns when source may be reused; a get,
 * an atomic with old_out, when the value is here; quiet when everything that this PE issued is visible at its target.
 *
 * Threads. Any thread may call anything at any time, receive and lost come from whichever thread makes progress.
 * A thread of the network's own makes progress when nobody else does, and sleeps while nothing comes.
 */
#ifndef RS_TRANSPORT_NETWORK_H
#define RS_TRANSPORT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wait.h"
#include "device/device.h"

#define RS_NETWORK_VERSION 1u
#define RS_NETWORK_SYMBOL                                                                                    \
    "rs_network_plugin" /* const struct rs_network_ops *(*)(uint32_t version); NULL: another one */

/* Most bytes of a PE's address, and of a message's head. */
#define RS_NETWORK_ADDRESS_NBYTES 512
#define RS_NETWORK_HEAD_NBYTES 128

struct rs_network;

/* Memory of every PE that others reach. */
enum { RS_REGION_WINDOW, RS_REGION_DATA, RS_REGIONS };
struct rs_place { /* in a peer's memory */
    uint32_t region;
    uint64_t offset;
};
struct rs_region { /* of this PE */
    uintptr_t base;
    size_t nbytes; /* 0: there is none */
    bool cpu;      /* the CPU may load and store it; else by the device's transfer and amo */
};

/* What the library gives; outlives the network. */
struct rs_network_host {
    int my_pe, n_pes;
    struct rs_device *device;
    /* As rs_fail and rs_fail_pe (pe -1: none): words an error, gives the status back. */
    int (*fail)(int status, int pe, const char *format, ...) __attribute__((format(printf, 3, 4)));
    void (*log)(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
    /* As rs_wait_begin and rs_wait_pause: the way that every wait goes. */
    void (*wait_begin)(const struct rs_network_host *host, struct rs_wait *wait);
    int (*wait_pause)(struct rs_wait *wait);
    /* A peer's address, as its address slot gave it; *nbytes_out of them, valid as long as the network. NULL (worded). */
    const void *(*address_of)(const struct rs_network_host *host, int pe, size_t *nbytes_out);
    /* A message came; head and body are valid until it returns. It does not wait; it may call send. */
    void (*receive)(const struct rs_network_host *host, int from, const void *head, size_t head_nbytes,
                    const void *body, size_t body_nbytes);
    /* A peer can't be reached any more. Called once a peer; the job ends. */
    void (*lost)(const struct rs_network_host *host, int pe, const char *why);
    const char *tls;          /* ROCSHMEM_UCX_TLS; "": the network's own choice */
    uint64_t peer_timeout_ns; /* ROCSHMEM_PEER_TIMEOUT */
    void *arg;                /* the library's */
};

struct rs_network_ops {
    const char *name; /* "ucx" */

    /* Start. The regions come later (expose), before any peer is told this PE's address. */
    int (*open)(struct rs_network **network_out, const struct rs_network_host *host);
    /* What a peer needs to reach this PE. */
    int (*address)(struct rs_network *network, void *out, size_t room, size_t *nbytes_out);
    int (*expose)(struct rs_network *network, uint32_t region, const struct rs_region *memory);
    /* Every PE has exposed its memory and agreed to end: nothing is under way any more. Then free everything; NULL is
     * fine. orderly false: peers may be gone, wait for nobody. */
    void (*close)(struct rs_network *network, bool orderly);

    int (*put)(struct rs_network *network, int pe, struct rs_place dest, const void *source, size_t nbytes);
    int (*get)(struct rs_network *network, int pe, void *dest, struct rs_place source, size_t nbytes);
    /* source stays unchanged, dest unread, until quiet. */
    int (*put_nbi)(struct rs_network *network, int pe, struct rs_place dest, const void *source,
                   size_t nbytes);
    int (*get_nbi)(struct rs_network *network, int pe, void *dest, struct rs_place source, size_t nbytes);
    /* The data, and after them the signal. sig_op: ROCSHMEM_SIGNAL_SET or _ADD. nbi: source as in put_nbi. */
    int (*put_signal)(struct rs_network *network, int pe, struct rs_place dest, const void *source,
                      size_t nbytes, struct rs_place word, uint64_t value, int sig_op, bool nbi);
    /* width 4 or 8; old_out NULL: begun, and complete at quiet. */
    int (*amo)(struct rs_network *network, int pe, enum rs_amo_op op, struct rs_place word, size_t width,
               uint64_t value, uint64_t cond, uint64_t *old_out);
    int (*quiet)(struct rs_network *network);
    int (*fence)(struct rs_network *network); /* NULL: order towards each PE is kept anyhow */

    /* The same for the proxy, which never waits: begun, and done(arg, status) is called once, from any thread that makes
     * progress, when source may be reused and the data are visible at pe (put), or are here (get). dest, source: as above.
     * A put with nbytes 0 and a signal is a signal alone; word.region RS_REGIONS: no signal. done may be called before begin
     * returns; it neither waits nor begins anything. A negative status: not begun, and done is not called. */
    int (*begin)(struct rs_network *network, int pe, bool put, struct rs_place there, void *here,
                 size_t nbytes, struct rs_place word, uint64_t value, int sig_op,
                 void (*done)(void *arg, int status), void *arg);

    /* A message to the layer above there, in order with this thread's earlier ones to that PE. Copied when it returns; never
     * waits for the other side to act. */
    int (*send)(struct rs_network *network, int pe, const void *head, size_t head_nbytes, const void *body,
                size_t body_nbytes);
    /* Poll once; cheap when nothing came. How much did. */
    unsigned (*progress)(struct rs_network *network);
    /* Sleep until something comes, or ns have passed. What came is left to progress. */
    void (*doze)(struct rs_network *network, uint64_t ns);
    /* For people: what it is and what it may use. */
    void (*describe)(struct rs_network *network, char *out, size_t nbytes);
};

#endif
