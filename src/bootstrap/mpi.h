/* SPDX-License-Identifier: MIT
 *
 * A job from an MPI communicator. The runtime is not linked to MPI: mpi.c loads librocshmem_mpi.so, which is, at
 * the first such call. This header is what the two have in common; the plug-in is mpi/rocshmem_mpi.c.
 */
#ifndef RS_BOOTSTRAP_MPI_H
#define RS_BOOTSTRAP_MPI_H

#include <stddef.h>

#include "rocshmem/rocshmem.h"

/* Who the members of a communicator are, and a unique id that is the same on all. Collective over it.
 *  comm_address  of an MPI_Comm     ready  0 when this process cannot join, and only wants the others to know
 *  serve         makes a unique id; called on rank 0. 0 or a status
 *  attr          filled: rank, nranks, uid     text  what went wrong, when the result is one of these:
 * 0, serve's status, or RS_MPI_*: FAILED (MPI did), OTHER (another MPI than it was built for), OTHERS (other
 * members failed), ARG. */
enum { RS_MPI_FAILED = -1001, RS_MPI_OTHER = -1002, RS_MPI_OTHERS = -1003, RS_MPI_ARG = -1004 };
#define RS_MPI_PLUGIN "librocshmem_mpi.so"
#define RS_MPI_MEET "rocshmem_mpi_meet"
int rocshmem_mpi_meet(const void *comm_address, int ready, int (*serve)(rocshmem_uniqueid_t *uid),
                      rocshmem_init_attr_t *attr, char *text, size_t nbytes);

/* The same, through the plug-in; in words that rs_fail takes. busy: this process is in a job already; the others
 * fail then too. BOOTSTRAP, UNSUPPORTED (no plug-in, or for another MPI), ARG, or serve's status. */
int rs_bootstrap_mpi(const void *comm_address, int busy, int (*serve)(rocshmem_uniqueid_t *uid),
                     rocshmem_init_attr_t *attr);

#endif
