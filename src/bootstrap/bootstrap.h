/* SPDX-License-Identifier: MIT
 *
 * Who am I, who are the others; blobs before there is shared memory.
 *
 * A bootstrap is a connection of every PE to one server (the thread behind rocshmem_get_uniqueid) that offers
 * one operation: all-gather of equal-sized blobs. init.c makes one, job.c exchanges what it needs, init.c
 * closes it. Nothing of it is left while the job runs.
 */
#ifndef RS_BOOTSTRAP_BOOTSTRAP_H
#define RS_BOOTSTRAP_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/config.h"
#include "rocshmem/rocshmem.h"

struct rs_bootstrap {
    int rank, nranks;
    int socket;           /* to the server; -1 for a job of one PE */
    int server;           /* the rank whose process is the server, for messages; -1: not known */
    uint64_t deadline_ns; /* every step of init ends by then */
    const char *launcher; /* "unique id", "rocshmem-run", "torchrun", "Open MPI", "none": what found the job;
                             static */
    uint64_t key[2];      /* made of the unique id's secret: for other connections of this job */
    char where[64];       /* "127.0.0.1:41234", for messages */
};

/* Join the rendezvous of uid as rank of nranks. The first PEs wait until all have come, or the deadline:
 * BOOTSTRAP then, on every PE that came, naming the ranks that are missing. Refusals (wrong secret, nranks or
 * rank, a rank twice) are BOOTSTRAP with the server's words. bootstrap_out is filled on success. */
int rs_bootstrap_uid(struct rs_bootstrap *bootstrap_out, const struct rs_config *config,
                     const rocshmem_uniqueid_t *uid, int rank, int nranks);
/* Join the job that the environment describes: that of the first launcher (launchers.c) that is there, or of the one
 * that ROCSHMEM_LAUNCHER names; none of them is a job of one PE. */
int rs_bootstrap_env(struct rs_bootstrap *bootstrap_out, const struct rs_config *config);
/* "rocshmem-run", "torchrun", "Open MPI", "none": what rs_bootstrap_env would use. */
const char *rs_bootstrap_detect(void);
/* The page of rocshmem-info --launch: every launcher, what was found of it, which one is taken and why not the others. */
void rs_bootstrap_explain(FILE *page);

/* Every rank gives nbytes (equal everywhere), every rank gets nranks * nbytes in rank order. Works as a
 * barrier. BOOTSTRAP when a rank left or the deadline passed, naming it. */
int rs_bootstrap_allgather(struct rs_bootstrap *bootstrap, const void *mine, size_t nbytes, void *all_out);
/* Called every few milliseconds by a thread that waits in here, and after each signal; a negative status
 * (worded) ends the wait. NULL: none. Process-wide. */
void rs_bootstrap_set_hook(int (*hook)(void));
/* Close the connection; zeroed is fine. done: this PE has all it needs. If not, the others hear at once that
 * it gave up, as they do when it dies before this: whoever still needs it here fails with BOOTSTRAP, naming
 * it. */
void rs_bootstrap_close(struct rs_bootstrap *bootstrap, bool done);

/* The server. Start it (a thread of this process; listens on the interfaces config allows, or loopback only)
 * and fill uid. It serves any number of jobs one after the other under the same uid, each as large as its
 * first PE says. */
int rs_uid_serve(const struct rs_config *config, int loopback_only, rocshmem_uniqueid_t *uid_out);
/* Tell the server of this uid that a PE will not come, and why. ARG: this process does not run it. */
int rs_uid_lose(const rocshmem_uniqueid_t *uid, int pe, const char *text);
/* Stop the server of this uid if this process runs it; called by finalize, so that init/finalize leaves
 * nothing. NULL: those that rs_bootstrap_env started here for the environment's job (they end by themselves
 * too, once all PEs have closed). */
void rs_uid_stop(const rocshmem_uniqueid_t *uid);

#endif
