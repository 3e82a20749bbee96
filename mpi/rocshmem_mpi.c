/* SPDX-License-Identifier: MIT
 *
 * librocshmem_mpi.so: the one file that is linked to MPI. The runtime loads it when a program gives an MPI
 * communicator to rocshmem_init_attr, asks it who the members are, and does all the rest by itself. Its one
 * function is described in src/bootstrap/mpi.h.
 *
 * Members agree before the unique id is made: when one cannot go on, all of them fail and none waits.
 */
#include "bootstrap/mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#if defined(OPEN_MPI)
#define BUILT_FOR "Open MPI"
#elif defined(MPICH_VERSION) || defined(MVAPICH2_VERSION)
#define BUILT_FOR "MPICH"
#else
#define BUILT_FOR "MPI"
#endif

struct offer { /* from rank 0 to all */
    int rc;
    rocshmem_uniqueid_t uid;
};

static int mpi_failed(const char *function, int code, char *text, size_t nbytes)
{
    char reason[MPI_MAX_ERROR_STRING] = "no reason given";
    int length = 0;
    MPI_Error_string(code, reason, &length);
    snprintf(text, nbytes, "%s failed: %s", function, reason);
    return RS_MPI_FAILED;
}

/* At the end of the process, when nobody else did. */
static void finalize(void)
{
    int finalized = 1;
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Finalize();
}

/* The program's MPI must be the one that this file was compiled for: a communicator is a number for one and a
 * pointer for the other. */
static int check_library(char *text, size_t nbytes)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0, initialized = 0, finalized = 0;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n,")] = '\0';
    if (!strstr(version, BUILT_FOR)) {
        snprintf(text, nbytes, "the plug-in was built for %s, and this process has %.100s", BUILT_FOR,
                 version);
        return RS_MPI_OTHER;
    }
    MPI_Finalized(&finalized);
    if (finalized) {
        snprintf(text, nbytes, "MPI_Finalize was called before");
        return RS_MPI_FAILED;
    }
    MPI_Initialized(&initialized);
    if (initialized) return 0;
    int provided, rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    if (rc != MPI_SUCCESS) return mpi_failed("MPI_Init_thread", rc, text, nbytes);
    atexit(finalize);
    return 0;
}

static int check_comm(MPI_Comm comm, char *text, size_t nbytes)
{
    int inter = 0;
    if (comm == MPI_COMM_NULL) {
        snprintf(text, nbytes,
                 "attr->mpi_comm points to MPI_COMM_NULL; only members of the communicator call");
        return RS_MPI_ARG;
    }
    MPI_Comm_test_inter(comm, &inter);
    if (!inter) return 0;
    snprintf(text, nbytes,
             "attr->mpi_comm points to an inter-communicator; merge it with MPI_Intercomm_merge");
    return RS_MPI_ARG;
}

/* Errors of comm come back as values here. */
static int meet(MPI_Comm comm, int ready, int (*serve)(rocshmem_uniqueid_t *uid), rocshmem_init_attr_t *attr,
                char *text, size_t nbytes)
{
    struct offer offer = {.rc = 0};
    int rank, nranks, all_ready = 0, rc;
    if ((rc = MPI_Comm_rank(comm, &rank)) != MPI_SUCCESS)
        return mpi_failed("MPI_Comm_rank", rc, text, nbytes);
    if ((rc = MPI_Comm_size(comm, &nranks)) != MPI_SUCCESS)
        return mpi_failed("MPI_Comm_size", rc, text, nbytes);
    if ((rc = MPI_Allreduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, comm)) != MPI_SUCCESS)
        return mpi_failed("MPI_Allreduce", rc, text, nbytes);
    if (!all_ready) {
        snprintf(text, nbytes, "another member of the communicator could not begin; it says why");
        return RS_MPI_OTHERS;
    }
    if (rank == 0) offer.rc = serve(&offer.uid);
    if ((rc = MPI_Bcast(&offer, (int)sizeof(offer), MPI_BYTE, 0, comm)) != MPI_SUCCESS)
        return mpi_failed("MPI_Bcast", rc, text, nbytes);
    if (offer.rc < 0) {
        snprintf(text, nbytes, "rank 0 of the communicator could not serve a unique id; it says why");
        return rank == 0 ? offer.rc : RS_MPI_OTHERS;
    }
    *attr = (rocshmem_init_attr_t){.rank = rank, .nranks = nranks, .uid = offer.uid};
    return 0;
}

ROCSHMEM_API int rocshmem_mpi_meet(const void *comm_address, int ready,
                                   int (*serve)(rocshmem_uniqueid_t *uid), rocshmem_init_attr_t *attr,
                                   char *text, size_t nbytes)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm comm;
    int rc = check_library(text, nbytes);
    if (rc < 0) return rc;
    memcpy(&comm, comm_address, sizeof(comm));
    rc = check_comm(comm, text, nbytes);
    if (rc < 0) return rc;
    MPI_Comm_get_errhandler(comm, &handler);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rc = meet(comm, ready, serve, attr, text, nbytes);
    MPI_Comm_set_errhandler(comm, handler);
    if (handler != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&handler);
    return rc;
}
