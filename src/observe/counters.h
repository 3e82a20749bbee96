/* SPDX-License-Identifier: MIT
 *
 * The always-on counters. One struct a thread, written by it alone with a plain load and store (relaxed
 * atomics, never a locked add), read by whoever prints: a reader may be a call behind, never torn.
 */
#ifndef RS_OBSERVE_COUNTERS_H
#define RS_OBSERVE_COUNTERS_H

#include <stdint.h>

#include "observe/calls.h"
#include "rocshmem/rocshmemx.h"

struct rs_peer_counters {
    uint64_t puts, put_nbytes, gets, get_nbytes, amos;
};

struct rs_counters {
    uint64_t calls[RS_CALL_COUNT];
    int n_pes;
    struct rs_peer_counters *peers; /* owned, n_pes */
};

/* W: owner. R: printing threads, relaxed. */
static inline void rs_count(uint64_t *counter, uint64_t by)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + by, __ATOMIC_RELAXED);
}

int rs_counters_init(struct rs_counters *counters, int n_pes);
void rs_counters_fini(struct rs_counters *counters);
void rs_counters_zero(struct rs_counters *counters);
/* sum += counters */
void rs_counters_add(struct rs_counters *sum, const struct rs_counters *counters);
/* pe -1: over all peers, and the calls that concern none. */
void rs_counters_stats(const struct rs_counters *counters, int pe, rocshmemx_stats_t *stats_out);
/* The table of rocshmem_dump_stats, to a descriptor. */
void rs_counters_print(const struct rs_counters *counters, int my_pe, int fd);

#endif
