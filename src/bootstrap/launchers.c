/* SPDX-License-Identifier: MIT
 *
 * The launchers, in the order of trial: from the inside out where they nest. What one of them starts inside a step of
 * another one finds the variables of both, so the outer one's row has a look at what the inner one sets.
 *
 * On one host the unique id goes over an abstract Unix socket named after the launcher's job, whatever the launcher
 * is: that costs nothing, touches none of the launcher's channels (which MPI may want for itself), and the kernel says
 * whose process asks. Over several hosts it goes by PMIx or PMI where the launcher has them, else over TCP.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"
#include "bootstrap/launchers.h"
#include "bootstrap/link.h"
#include "bootstrap/meet.h"
#include "bootstrap/siphash.h"

/* What a job over several hosts can do where its launcher has no channel for us. */
#define REMEDY                                                                                               \
    "start it with rocshmem-run --hosts, use init_with_mpi or init_with_torch, or broadcast a unique id"

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* All PEs are on this host: meet at a socket named after the job, which is what name_variable says, and step. */
static int meet_here(struct rs_bootstrap *bootstrap_out, const struct rs_config *config, const char *launcher,
                     int rank, int nranks, const char *job, const char *step)
{
    struct rs_meeting_point point = {.launcher = launcher, .rank = rank, .nranks = nranks, .loopback = true};
    char size[16];
    if (nranks == 1) return rs_bootstrap_alone(bootstrap_out, launcher);
    snprintf(size, sizeof(size), "%d", nranks);
    const char *const texts[] = {launcher, or_empty(job), or_empty(step), size, NULL};
    rs_meet_name(&point, "job", texts);
    return rs_meet(&point, config, bootstrap_out);
}

/* ---- rocshmem-run ---- */

/* The launcher serves the rendezvous, and hands the unique id to processes of its user. */
static int join_rocshmem_run(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    int rank, nranks;
    rocshmem_uniqueid_t uid;
    RS_TRY(rs_env_rank_and_size("ROCSHMEM_RUN_RANK", "ROCSHMEM_RUN_SIZE", &rank, &nranks));
    const char *name = rs_env_text("ROCSHMEM_RUN_SOCKET");
    int fd = rs_os_unix_connect(name);
    if (fd < 0)
        return rs_fail(
            RS_E_BOOTSTRAP,
            "could not reach rocshmem-run at ROCSHMEM_RUN_SOCKET \"%.100s\": %s; is it still running", name,
            strerror(errno));
    int rc = rs_os_peer_is_us(fd)
                 ? rs_link_receive(fd, &uid, sizeof(uid), rs_link_deadline(config->bootstrap_ns))
                 : rs_fail(RS_E_SYSTEM, "it belongs to another user");
    close(fd);
    if (rc == RS_E_SYSTEM || rc == RS_E_TIMEOUT) {
        char why[128];
        snprintf(why, sizeof(why), "%.120s", rs_error_slot()->text);
        return rs_fail(RS_E_BOOTSTRAP, "rocshmem-run at ROCSHMEM_RUN_SOCKET \"%.100s\" gave no unique id: %s",
                       name, why);
    }
    RS_TRY(rc);
    RS_TRY(rs_bootstrap_uid(bootstrap_out, config, &uid, rank, nranks));
    bootstrap_out->launcher = "rocshmem-run";
    return 0;
}

/* ---- torchrun ---- */

static bool is_loopback_name(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 ||
           strcmp(address, "localhost") == 0;
}

static int join_torchrun(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    struct rs_meeting_point point = {
        .launcher = "torchrun", .address_name = "MASTER_ADDR", .port_name = "MASTER_PORT"};
    int local = 0;
    RS_TRY(rs_env_rank_and_size("RANK", "WORLD_SIZE", &point.rank, &point.nranks));
    RS_TRY(rs_env_number("MASTER_PORT", 1, 65535, &point.port));
    if (rs_env_text("LOCAL_WORLD_SIZE")) RS_TRY(rs_env_number("LOCAL_WORLD_SIZE", 1, INT_MAX, &local));
    if (point.nranks == 1) return rs_bootstrap_alone(bootstrap_out, point.launcher);
    const char *address = rs_env_text("MASTER_ADDR");
    const char *const texts[] = {address,
                                 rs_env_text("MASTER_PORT"),
                                 or_empty(rs_env_text("TORCHELASTIC_RUN_ID")),
                                 or_empty(rs_env_text("TORCHELASTIC_RESTART_COUNT")),
                                 rs_env_text("WORLD_SIZE"),
                                 NULL};
    rs_meet_name(&point, "torchrun", texts);
    bool one_host = local == point.nranks;
    point.address = one_host ? NULL : address;
    point.loopback = one_host || is_loopback_name(address);
    return rs_meet(&point, config, bootstrap_out);
}

/* ---- Open MPI ---- */

static const char *open_mpi_job(void)
{
    const char *space = rs_env_text("PMIX_NAMESPACE");
    return space ? space : rs_env_text("OMPI_MCA_ess_base_jobid");
}

static const char *open_mpi_against(void)
{
    return open_mpi_job() ? NULL : "neither PMIX_NAMESPACE nor OMPI_MCA_ess_base_jobid is set";
}

static int join_open_mpi(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    int rank, nranks, local = 0;
    RS_TRY(rs_env_rank_and_size("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", &rank, &nranks));
    if (rs_env_text("OMPI_COMM_WORLD_LOCAL_SIZE"))
        RS_TRY(rs_env_number("OMPI_COMM_WORLD_LOCAL_SIZE", 1, INT_MAX, &local));
    if (local == nranks)
        return meet_here(bootstrap_out, config, "Open MPI", rank, nranks, open_mpi_job(), "");
    if (rs_env_text("PMIX_NAMESPACE") && rs_env_text("PMIX_RANK"))
        return rs_pmix_join(bootstrap_out, config, "Open MPI");
    return rs_fail(RS_E_UNSUPPORTED,
                   "mpirun started %d PEs, %d of them on this host, and set no PMIX_NAMESPACE: an Open MPI "
                   "before 4 has no channel for a job over several hosts; " REMEDY,
                   nranks, local);
}

/* ---- Slurm ---- */

static const char *slurm_against(void)
{
    char id[64];
    const char *space = rs_env_text("PMIX_NAMESPACE"), *job = rs_env_text("PMI_JOBID");
    if (space && strncmp(space, "slurm.", 6) != 0) return "PMIX_NAMESPACE is of a launcher inside the step";
    snprintf(id, sizeof(id), "%s.%s", rs_env_text("SLURM_JOB_ID"), rs_env_text("SLURM_STEP_ID"));
    if (rs_env_text("PMI_FD") && (!job || strcmp(job, id) != 0))
        return "PMI_FD is of a launcher inside the step";
    return NULL;
}

/* Over several hosts, not by PMI_FD: Slurm's server takes one greeting from each task, which MPI_Init will need. */
static int join_slurm(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    struct rs_meeting_point point = {.launcher = "Slurm",
                                     .address_name = "SLURM_STEP_NODELIST's first host",
                                     .port_name = "the step's port"};
    int n_nodes;
    char host[256];
    const char *job = rs_env_text("SLURM_JOB_ID"), *step = rs_env_text("SLURM_STEP_ID");
    const char *list = rs_env_text("SLURM_STEP_NODELIST"), *master = rs_env_text("ROCSHMEM_MASTER_ADDR");
    RS_TRY(rs_env_rank_and_size("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", &point.rank, &point.nranks));
    RS_TRY(rs_env_number("SLURM_STEP_NUM_NODES", 1, INT_MAX, &n_nodes));
    if (n_nodes == 1 || point.nranks == 1)
        return meet_here(bootstrap_out, config, "Slurm", point.rank, point.nranks, job, step);
    if (rs_env_text("PMIX_NAMESPACE") && rs_env_text("PMIX_RANK"))
        return rs_pmix_join(bootstrap_out, config, "Slurm");
    if (!master && !rs_slurm_first_host(list, host, sizeof(host)))
        return rs_fail(RS_E_CONFIG,
                       "SLURM_STEP_NODELIST is \"%.200s\", which names no host; set ROCSHMEM_MASTER_ADDR",
                       list);
    const char *const texts[] = {job, step, list, rs_env_text("SLURM_STEP_NUM_TASKS"), NULL};
    rs_meet_name(&point, "slurm", texts);
    if (master) point.address_name = "ROCSHMEM_MASTER_ADDR";
    point.address = master ? master : host;
    if (rs_env_text("ROCSHMEM_MASTER_PORT")) {
        RS_TRY(rs_env_number("ROCSHMEM_MASTER_PORT", 1, 65535, &point.port));
        point.port_name = "ROCSHMEM_MASTER_PORT";
    } else {
        static const uint8_t key[16] = "rocshmem port"; /* a name, no secret */
        char id[96]; /* below the ports that the kernel gives to whoever asks for any */
        int n = snprintf(id, sizeof(id), "%.40s.%.40s", job, step);
        point.port = 15000 + (int)(rs_siphash(key, id, (size_t)n) % 1000) * 17;
    }
    return rs_meet(&point, config, bootstrap_out);
}

/* ---- Flux and PALS ---- */

static const char *flux_against(void)
{
    const char *size = rs_env_text("PMI_SIZE");
    if (size && strcmp(size, rs_env_text("FLUX_JOB_SIZE")) != 0)
        return "PMI_SIZE is of a launcher inside the job";
    return rs_env_text("PMIX_NAMESPACE") ? "PMIX_NAMESPACE is set" : NULL;
}

static int join_flux(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    int rank, nranks, n_nodes = 0;
    RS_TRY(rs_env_rank_and_size("FLUX_TASK_RANK", "FLUX_JOB_SIZE", &rank, &nranks));
    if (rs_env_text("FLUX_JOB_NNODES")) RS_TRY(rs_env_number("FLUX_JOB_NNODES", 1, INT_MAX, &n_nodes));
    if (n_nodes == 1 || nranks == 1)
        return meet_here(bootstrap_out, config, "Flux", rank, nranks, rs_env_text("FLUX_JOB_ID"), "");
    if (rs_env_text("PMI_FD"))
        return rs_pmi1_join(bootstrap_out, config, "Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", 0);
    return rs_fail(RS_E_UNSUPPORTED,
                   "Flux started %d PEs on %d hosts, without PMI_FD; add -o pmi=simple, or " REMEDY, nranks,
                   n_nodes);
}

static int join_pals(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    int rank, nranks, local = 0;
    const char *local_name = rs_env_text("PALS_LOCAL_SIZE") ? "PALS_LOCAL_SIZE" : "PMI_LOCAL_SIZE";
    RS_TRY(rs_env_rank_and_size("PALS_RANKID", "PMI_SIZE", &rank, &nranks));
    if (rs_env_text(local_name)) RS_TRY(rs_env_number(local_name, 1, INT_MAX, &local));
    if (local == nranks || nranks == 1)
        return meet_here(bootstrap_out, config, "PALS", rank, nranks, rs_env_text("PALS_APID"), "");
    if (rs_env_text("PMIX_NAMESPACE") && rs_env_text("PMIX_RANK"))
        return rs_pmix_join(bootstrap_out, config, "PALS");
    if (rs_env_text("PMI_FD"))
        return rs_pmi1_join(bootstrap_out, config, "PALS", "PALS_RANKID", "PMI_SIZE", 0);
    return rs_fail(RS_E_UNSUPPORTED,
                   "PALS started %d PEs, %d of them on this host, without PMIx or PMI_FD; use mpiexec "
                   "--pmi=pmix, or " REMEDY,
                   nranks, local);
}

/* ---- PMI and PMIx ---- */

static int join_pmi1(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    int local = 0;
    if (rs_env_text("MPI_LOCALNRANKS")) RS_TRY(rs_env_number("MPI_LOCALNRANKS", 1, INT_MAX, &local));
    return rs_pmi1_join(bootstrap_out, config, "PMI", "PMI_RANK", "PMI_SIZE", local);
}

static int join_pmix(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    return rs_pmix_join(bootstrap_out, config, "PMIx");
}

static int join_alone(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    (void)config;
    return rs_bootstrap_alone(bootstrap_out, "none");
}

/* clang-format off */
const struct rs_launcher rs_launchers[] = {
    {"rocshmem-run", "run", "from the launcher, over a Unix socket",
     {"ROCSHMEM_RUN_SOCKET", "ROCSHMEM_RUN_RANK", "ROCSHMEM_RUN_SIZE"}, NULL, join_rocshmem_run},
    {"torchrun", "torchrun", "on one host over a Unix socket, else over TCP at MASTER_ADDR, MASTER_PORT + 1 to + 16",
     {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}, NULL, join_torchrun},
    {"Open MPI", "openmpi", "on one host over a Unix socket, else by PMIx",
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, open_mpi_against, join_open_mpi},
    {"Slurm", "slurm", "on one host over a Unix socket, else by PMIx (--mpi=pmix), else over TCP at the step's first host",
     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES", "SLURM_STEP_NODELIST", "SLURM_JOB_ID",
      "SLURM_STEP_ID"}, slurm_against, join_slurm},
    {"Flux", "flux", "on one host over a Unix socket, else by PMI on PMI_FD",
     {"FLUX_JOB_ID", "FLUX_TASK_RANK", "FLUX_JOB_SIZE"}, flux_against, join_flux},
    {"PALS", "pals", "on one host over a Unix socket, else by PMIx or PMI",
     {"PALS_APID", "PALS_RANKID", "PMI_SIZE"}, NULL, join_pals},
    {"PMI", "pmi1", "by PMI on PMI_FD (MPICH's mpiexec)",
     {"PMI_FD", "PMI_RANK", "PMI_SIZE"}, NULL, join_pmi1},
    {"PMIx", "pmix", "by libpmix",
     {"PMIX_NAMESPACE", "PMIX_RANK"}, NULL, join_pmix},
    {"none", "none", "nowhere: a job of one PE", {NULL}, NULL, join_alone},
};
/* clang-format on */
