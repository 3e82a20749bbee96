/* SPDX-License-Identifier: MIT
 *
 * A job's part in the network: when it is started and ended, what it hears, and what PEs of one host find on their
 * board and those of others have to be sent.
 */
#ifndef RS_PGAS_NETWORK_H
#define RS_PGAS_NETWORK_H

#include <stdint.h>

#include "bootstrap/bootstrap.h"
#include "observe/calls.h"
#include "pgas/heap.h"

struct rs_job;

/* A peer that the network can't reach any more, until somebody says why. state: 0 none, 1 being written, 2 written; CAS,
 * then the fields, then a release store; R: slow ticks, acquire. */
struct rs_suspicion {
    _Atomic uint32_t state;
    int pe;
    uint64_t since_ns;
    char text[384];
};

/* Start it, where some PE is on another host or the configuration asks for it, and learn all addresses. Every PE calls it,
 * with rc < 0 where something failed before: then it fails on all, naming the PE. */
int rs_network_start(struct rs_job *job, struct rs_bootstrap *bootstrap, int rc);
/* Let others reach the window and the static data, which are there now; and streams the network. */
int rs_network_expose(struct rs_job *job);
/* Before the device is closed, and after; both do nothing without a network. */
void rs_network_end(struct rs_job *job);
void rs_network_free(struct rs_job *job);

/* rs_heap_collect, after those entries of PEs' logs that PEs of other hosts can't read have been exchanged. */
int rs_network_collect(struct rs_job *job, const struct rs_signature *signature, const struct rs_drops *all);

/* On slow ticks: 0, or PEER when a peer that the network has lost is not named by anybody else. */
int rs_network_tick(struct rs_job *job, uint64_t now_ns);
/* A call has failed. When the error in the slot is the network's word about a peer: wait a moment for the cause, which
 * then takes its place. */
void rs_network_verdict(struct rs_job *job);

#endif
