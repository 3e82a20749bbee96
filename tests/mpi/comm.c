/* SPDX-License-Identifier: MIT
 *
 * A job from an MPI communicator: the program of the ctest cases mpi/<first word>/<ranks>.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <rocshmem/rocshmem.h>
#include <rocshmem/rocshmemx.h>

static void check(int right, const char *what)
{
    if (right) return;
    fprintf(stderr, "PE %d: %s\n", rocshmem_my_pe(), what);
    exit(1);
}

static int init(MPI_Comm comm)
{
    rocshmem_init_attr_t attr = {.mpi_comm = &comm};
    return rocshmem_init_attr(ROCSHMEM_INIT_WITH_MPI_COMM, &attr);
}

/* The job's PEs are the ranks of comm, and reach each other. Twice: what init makes, finalize takes away. */
static void run_job(MPI_Comm comm)
{
    for (int round = 0; round < 2; round++) {
        int rank, size;
        check(init(comm) == 0, "rocshmem_init_attr failed");
        MPI_Comm_rank(comm, &rank); /* MPI is there now, if it was not before */
        MPI_Comm_size(comm, &size);
        check(rocshmem_my_pe() == rank && rocshmem_n_pes() == size, "PE numbers are not the ranks");
        int *word = rocshmem_malloc(sizeof *word);
        rocshmem_int_p(word, rank, (rank + 1) % size);
        rocshmem_barrier_all();
        check(*word == (rank + size - 1) % size, "the left neighbour's word did not come");
        rocshmem_free(word);
        rocshmem_finalize();
    }
}

static void split(int color, int key)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
    run_job(comm);
    MPI_Comm_free(&comm);
}

static void expect_failure(MPI_Comm comm, int status, const char *words)
{
    rocshmemx_error_t error = {.text = ""};
    check(init(comm) == status, "the status is another");
    check(rocshmemx_take_error(&error) == status && strstr(error.text, words) != NULL, error.text);
}

/* One member is in a job of its own already: all fail, and none waits. */
static void busy(int rank)
{
    rocshmem_uniqueid_t uid;
    rocshmem_init_attr_t attr;
    if (rank == 0) {
        check(rocshmem_get_uniqueid(&uid) == 0, "no unique id");
        rocshmem_set_attr_uniqueid_args(0, 1, &uid, &attr);
        check(rocshmem_init_attr(ROCSHMEM_INIT_WITH_UNIQUEID, &attr) == 0, "no job of one PE");
        expect_failure(MPI_COMM_WORLD, ROCSHMEMX_E_STATE, "a job already");
        rocshmem_finalize();
    } else {
        expect_failure(MPI_COMM_WORLD, ROCSHMEMX_E_BOOTSTRAP, "another member");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    run_job(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank = 0;
    if (strcmp(what, "uninitialized") == 0) { /* the library initialises MPI, and finalises it at the end */
        run_job(MPI_COMM_WORLD);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) puts("ok mpi/uninitialized");
        return 0;
    }
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "world") == 0)
        run_job(MPI_COMM_WORLD);
    else if (strcmp(what, "halves") == 0) /* two jobs at one time */
        split(rank % 2, rank);
    else if (strcmp(what, "reversed") == 0)
        split(0, -rank);
    else if (strcmp(what, "null_comm") == 0)
        expect_failure(MPI_COMM_NULL, ROCSHMEMX_E_ARG, "MPI_COMM_NULL");
    else if (strcmp(what, "busy") == 0)
        busy(rank);
    else
        check(0, "the first word says nothing");
    if (rank == 0) printf("ok mpi/%s\n", what);
    MPI_Finalize();
    return 0;
}
