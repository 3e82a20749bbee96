/* SPDX-License-Identifier: MIT
 *
 * Who started this process: one row a launcher, in the order of trial. A row is taken when all variables that it
 * needs are set and its own look at them finds nothing against it. All of them end in rs_bootstrap_uid: a launcher
 * only has to carry the unique id from rank 0 to the others.
 */
#ifndef RS_BOOTSTRAP_LAUNCHERS_H
#define RS_BOOTSTRAP_LAUNCHERS_H

#include "base/config.h"
#include "bootstrap/bootstrap.h"

enum { RS_LAUNCHER_NEEDS = 8 };

struct rs_launcher {
    const char *name, *word; /* word: as ROCSHMEM_LAUNCHER has it */
    const char *way;         /* how the unique id travels, for people */
    const char *needs[RS_LAUNCHER_NEEDS];
    const char *(*against)(
        void); /* once those are set: NULL, or why the row is not for this process; may be NULL */
    int (*join)(struct rs_bootstrap *bootstrap_out, const struct rs_config *config);
};
extern const struct rs_launcher rs_launchers[]; /* the last one needs nothing */

/* ---- what the rows use ---- */

/* A variable's value; NULL when it is unset or empty. */
const char *rs_env_text(const char *name);
/* CONFIG, naming variable and value, when it is no whole number from min to max. */
int rs_env_number(const char *name, long min, long max, int *out);
int rs_env_rank_and_size(const char *rank_name, const char *size_name, int *rank_out, int *size_out);
/* A job of one PE. */
int rs_bootstrap_alone(struct rs_bootstrap *bootstrap_out, const char *launcher);

/* The uid goes by PMI's wire protocol on PMI_FD (pmi1.c). local: how many of the job's PEs are on this host, 0 unknown. */
int rs_pmi1_join(struct rs_bootstrap *bootstrap_out, const struct rs_config *config, const char *launcher,
                 const char *rank_name, const char *size_name, int local);
/* The uid goes by libpmix (pmix.c). */
int rs_pmix_join(struct rs_bootstrap *bootstrap_out, const struct rs_config *config, const char *launcher);
/* The unique id as a text for a launcher's store, and back: "-" is that rank 0 could not make one. */
enum { RS_UID_TEXT = 2 * ROCSHMEM_UNIQUE_ID_BYTES + 1 };
void rs_uid_to_text(const rocshmem_uniqueid_t *uid, char out[RS_UID_TEXT]);
/* BOOTSTRAP, in launcher's name, for "-" and for anything else that is no unique id. */
int rs_uid_from_text(const char *text, const char *launcher, rocshmem_uniqueid_t *uid_out);
/* The first host of a Slurm node list ("gpu[03-07,12],login1" is gpu03). False: no host in it. */
bool rs_slurm_first_host(const char *list, char *out, size_t nbytes);

#endif
