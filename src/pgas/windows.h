/* SPDX-License-Identifier: MIT
 *
 * Which kind of device a job runs on, and the windows of its PEs: made by one PE for all of a host, or by each
 * for itself and exchanged.
 */
#ifndef RS_PGAS_WINDOWS_H
#define RS_PGAS_WINDOWS_H

#include <stdint.h>

#include "base/config.h"
#include "bootstrap/bootstrap.h"
#include "device/device.h"

struct rs_job;

/* What a PE tells the others about its devices. */
struct rs_device_offer {
    uint32_t wanted; /* ROCSHMEM_DEVICE: an index of rs_device_kinds, RS_DEVICE_AUTO */
    uint32_t has;    /* bit i: it has devices of kind i */
};
#define RS_DEVICE_AUTO UINT32_MAX

/* All kinds, in the order in which auto takes them; the host, which every PE has, is last. */
enum { RS_DEVICE_KINDS = 3 };
extern const struct rs_device_ops *const rs_device_kinds[RS_DEVICE_KINDS];

struct rs_device_options rs_device_options_of(const struct rs_config *config);
/* Look at this PE's devices as far as the configuration asks for it. only_host: nothing else will do. */
struct rs_device_offer rs_device_offer(const struct rs_config *config, bool only_host);
/* The kind of the whole job, found alike on every PE. CONFIG: ROCSHMEM_DEVICE differs, or cannot be honoured by
 * the PE that is named. why_out (text of at least 160 bytes): the reason, for people. */
int rs_device_choose(const struct rs_device_offer *offers, int n_pes, const struct rs_config *config,
                     const struct rs_device_ops **ops_out, char *why_out);
/* Which device of its kind this PE takes: what the program chose, else by turns. */
int rs_device_pick(const struct rs_device_ops *ops, const struct rs_config *config, int my_local,
                   int *ordinal_out);

/* Pin the calling thread to a device as ROCSHMEM_DEVICE asks, before init; on the host there is nothing to do. */
int rs_device_pin(const struct rs_config *config, int index);

/* For devices whose windows each PE makes: make, tell, open. Every PE calls it, with rc < 0 where something
 * failed before: then it fails on all, naming the PE. windows holds what is to be unmapped in any case. */
int rs_windows_exchange(struct rs_job *job, struct rs_bootstrap *bootstrap, int rc,
                        struct rs_windows *windows);

/* ---- descriptors from every PE of the host to every other ---- */

struct rs_handover {
    struct rs_job *job;
    int listener, fd;       /* mine */
    const uint64_t *nonces; /* by local index, as from is */
    uint64_t deadline_ns;
    int (*take)(const struct rs_handover *handover, int from, int fd); /* fd is borrowed */
    void *arg;                                                         /* of take */
};
/* A socket for it, and what the others must know of it before they hand over. */
int rs_windows_listen(uint64_t *nonce_out);
/* Hand mine to all, take all others'. Every PE calls it, after all listen. */
int rs_windows_hand_over(const struct rs_handover *handover);

#endif
