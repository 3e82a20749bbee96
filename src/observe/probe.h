/* SPDX-License-Identifier: MIT
 *
 * Who looks closely at calls: the trace, checked mode, ranges for profilers. A job has a list of them, settled in init.
 * While it is empty a call pays nothing: the test that finds a thread's job fails for a thread that is looked at as it
 * does for one without a job, and api.h goes on out of line.
 *
 *     enter    a call begins: which one
 *     access   what it was given, once that was checked; before bytes move, and after a wait was satisfied. Several in
 *              one call: a collective has MEET and MET. A negative status refuses the call.
 *     leave    it ends
 *
 * Everything here is called by the thread that makes the call.
 */
#ifndef RS_OBSERVE_PROBE_H
#define RS_OBSERVE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/calls.h"

enum rs_access_kind {
    RS_ACCESS_PUT = 1, /* local is read, remote written; signal: that word of pe after it */
    RS_ACCESS_GET,     /* remote is read, local written */
    RS_ACCESS_AMO, /* remote is one word; amo says what is done to it, wanted whether the old value comes back */
    RS_ACCESS_SIGNAL, /* only signal is changed */
    RS_ACCESS_SEEN, /* a wait or a test found the words at local as it wanted them; or read them (signal_fetch) */
    RS_ACCESS_FENCE,
    RS_ACCESS_QUIET,
    RS_ACCESS_MEET, /* before a collective, or its enqueuing on a stream: meet, and what it writes (remote) and reads */
    RS_ACCESS_MET,        /* after it, when it went well; on a stream: it is enqueued */
    RS_ACCESS_SYNCHRONIZE /* all work of stream (or of all, when all_streams) is complete */
};

/* A team, as far as observers need it: the members agree on id and first, and no two teams that live have both alike. */
struct rs_meeting_of {
    enum rs_kind kind;
    uint32_t team;           /* id */
    int first, n_pes, my_pe; /* world number of member 0; members; my place */
    int root;                /* of a broadcast, as a place; -1: none */
    uint64_t number; /* of MEET: equal on all members, above those of the team's earlier collectives */
};

struct rs_access {
    enum rs_access_kind kind;
    int pe;               /* world number; -1: none, or all of a team */
    const void *remote;   /* as an address of this PE's own symmetric memory */
    size_t remote_nbytes; /* from the first byte to the last */
    const void *local;
    size_t local_nbytes;
    size_t width, remote_step,
        local_step;         /* of a strided transfer: bytes of an element, and from one to the next; else 0 */
    const uint64_t *signal; /* symmetric, of pe; NULL: none */
    uint64_t signal_value;
    bool signal_adds;
    int amo; /* enum rs_amo_op of device/device.h */
    bool wanted, nbi;
    const void *ctx; /* its ctx_opaque */
    bool on_stream, all_streams;
    const void *stream;
    const struct rs_meeting_of *meeting; /* of MEET and MET */
};

#define RS_PROBERS_MAX 4

/* What observers keep for a thread; embedded in struct rs_thread. Owner only. */
struct rs_probe_thread {
    const struct rs_probe *probe; /* NULL: nobody looks */
    uint32_t call;                /* word of the call that it is in */
    void *data[RS_PROBERS_MAX];   /* each observer's own, made by its attach */
};

/* One observer. Any function may be NULL. slot: its place in data. */
struct rs_prober {
    int (*attach)(void *self, struct rs_probe_thread *thread,
                  int slot); /* a thread's first call. 0 or a status */
    /* It ended, or the job does; under the lock of the threads' list: calls nothing of the job. */
    void (*detach)(void *self, struct rs_probe_thread *thread, int slot);
    void (*enter)(void *self, struct rs_probe_thread *thread, int slot);
    int (*access)(void *self, struct rs_probe_thread *thread, int slot, const struct rs_access *access);
    void (*leave)(void *self, struct rs_probe_thread *thread, int slot);
    void *self;
};

/* A job's observers. W: init, before any other thread of the process is attached; constant then. */
struct rs_probe {
    int n;
    struct rs_prober probers[RS_PROBERS_MAX];
};

/* There is room for all that exist. */
void rs_probe_add(struct rs_probe *probe, const struct rs_prober *prober);

/* probe may be empty: then thread is not looked at. 0, or the status of the observer that could not. */
int rs_probe_attach(struct rs_probe_thread *thread, const struct rs_probe *probe);
void rs_probe_detach(struct rs_probe_thread *thread);
void rs_probe_enter(struct rs_probe_thread *thread, uint32_t call);
int rs_probe_access(struct rs_probe_thread *thread, const struct rs_access *access);
void rs_probe_leave(struct rs_probe_thread *thread);

#endif
