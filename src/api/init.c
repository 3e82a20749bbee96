/* SPDX-License-Identifier: MIT
 *
 * Joining and leaving a job. One lock admits one init or finalize at a time; the job pointer is published
 * last and taken back first.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/api.h"
#include "base/log.h"
#include "base/os.h"
#include "base/wait.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/mpi.h"
#include "pgas/checked.h"
#include "pgas/collective.h"
#include "pgas/fork.h"
#include "pgas/signals.h"
#include "pgas/windows.h"

#define LEAVE_NS 10000000000u /* for other threads to end their calls in finalize */

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

static int read_config(struct rs_config *config)
{
    RS_TRY(rs_config_read(config));
    return rs_log_configure(config->debug_level);
}

/* What OpenSHMEM's SHMEM_INFO and SHMEM_VERSION ask for. A closed standard output is no reason to fail. */
static void introduce(const struct rs_config *config)
{
    const char *what = rs_config_is_on(config->print_info)      ? "all"
                       : rs_config_is_on(config->print_version) ? "version"
                                                                : NULL;
    if (what) (void)rocshmemx_print_info(STDOUT_FILENO, what);
}

/* As the process ends. A program whose own exit function finalizes must have registered it after init, or is told too. */
static void tell_unfinished(void)
{
    const struct rs_job *job = atomic_load_explicit(&rs_job_current, memory_order_acquire);
    if (job)
        rs_log(RS_LOG_WARN, "PE %d exits without rocshmem_finalize; who waits for it gets an error",
               job->my_pe);
}

static void watch_process(void)
{
    rs_fork_watch();
    (void)atexit(tell_unfinished);
}

/* uid NULL: the environment's job. Under init_lock. */
static int init_locked(const rocshmem_uniqueid_t *uid, int rank, int nranks)
{
    struct rs_config config;
    struct rs_bootstrap bootstrap;
    struct rs_job *job = atomic_load_explicit(&rs_job_current, memory_order_acquire);
    if (job)
        return rs_fail(RS_E_STATE, "this process is PE %d of a job already; call rocshmem_finalize first",
                       job->my_pe);
    RS_TRY(rs_fork_check());
    RS_TRY(read_config(&config));
    rs_log(RS_LOG_VERSION, "rocshmem %s, OpenSHMEM %d.%d names", rocshmemx_version(), ROCSHMEM_MAJOR_VERSION,
           ROCSHMEM_MINOR_VERSION);
    if (uid)
        rs_log(RS_LOG_API, "rocshmem_init_attr(unique id, rank %d, nranks %d)", rank, nranks);
    else
        rs_log(RS_LOG_API, "rocshmem_init()");
    rs_bootstrap_set_hook(rs_job_interrupted);
    RS_TRY(uid ? rs_bootstrap_uid(&bootstrap, &config, uid, rank, nranks)
               : rs_bootstrap_env(&bootstrap, &config));
    int rc = rs_job_create(&job, &config, &bootstrap, uid);
    rs_bootstrap_close(&bootstrap, rc == 0);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_process);
    if (rc == 0) {
        rc = rs_thread_attach(job);
        if (rc < 0) {
            rs_job_destroy(job);
        } else {
            rs_error_clear(); /* of tries that failed on the way */
            rs_note_leave(rs_self->note, RS_CALL_INIT);
            atomic_store_explicit(&rs_job_current, job, memory_order_release);
            if (job->my_pe == 0) introduce(&config);
        }
    }
    if (rc < 0) rs_uid_stop(uid);
    return rc;
}

static int init(const rocshmem_uniqueid_t *uid, int rank, int nranks)
{
    pthread_mutex_lock(&init_lock);
    int rc = init_locked(uid, rank, nranks);
    pthread_mutex_unlock(&init_lock);
    return rc;
}

void rocshmem_init(void)
{
    if (init(NULL, 0, 0) < 0) rs_raise(__func__);
}

int rocshmem_init_thread(int required, int *provided)
{
    if (required < ROCSHMEM_THREAD_SINGLE || required > ROCSHMEM_THREAD_MULTIPLE) {
        rs_fail(RS_E_ARG, "required %d is no thread level; use ROCSHMEM_THREAD_SINGLE (0) to _MULTIPLE (4)",
                required);
        return rs_return(__func__);
    }
    if (init(NULL, 0, 0) < 0) return rs_return(__func__);
    if (provided) *provided = ROCSHMEM_THREAD_MULTIPLE;
    return 0;
}

static int check_attr(unsigned int flags, const rocshmem_init_attr_t *attr)
{
    if (flags != ROCSHMEM_INIT_WITH_UNIQUEID && flags != ROCSHMEM_INIT_WITH_MPI_COMM)
        return rs_fail(
            RS_E_ARG,
            "flags %u is unknown; use ROCSHMEM_INIT_WITH_UNIQUEID (1) or ROCSHMEM_INIT_WITH_MPI_COMM (0)",
            flags);
    if (!attr) return rs_fail(RS_E_ARG, "attr is NULL");
    if (flags == ROCSHMEM_INIT_WITH_MPI_COMM)
        return attr->mpi_comm ? 0
                              : rs_fail(RS_E_ARG, "attr->mpi_comm is NULL; give the address of an MPI_Comm");
    if (attr->nranks < 1) return rs_fail(RS_E_ARG, "nranks %d is not positive", attr->nranks);
    if (attr->rank < 0 || attr->rank >= attr->nranks)
        return rs_fail(RS_E_ARG, "rank %d is out of range; it must be from 0 to %d", attr->rank,
                       attr->nranks - 1);
    return 0;
}

int rocshmem_set_attr_uniqueid_args(int rank, int nranks, const rocshmem_uniqueid_t *uid,
                                    rocshmem_init_attr_t *attr)
{
    if (!uid || !attr) {
        rs_fail(RS_E_ARG, "%s is NULL", uid ? "attr" : "uid");
        return rs_return(__func__);
    }
    *attr = (rocshmem_init_attr_t){.rank = rank, .nranks = nranks, .uid = *uid};
    return 0;
}

static int serve(int loopback_only, rocshmem_uniqueid_t *uid)
{
    struct rs_config config;
    if (!uid) return rs_fail(RS_E_ARG, "uid is NULL");
    RS_TRY(read_config(&config));
    return rs_uid_serve(&config, loopback_only, uid);
}

static int serve_any(rocshmem_uniqueid_t *uid)
{
    return serve(0, uid);
}

/* The members of a communicator agree on a unique id; the rest is as with one. When this process is in a job, the
 * others are told, and init says so here. */
static int init_mpi(const void *comm_address)
{
    rocshmem_init_attr_t attr = {.rank = 0, .nranks = 1};
    int busy = rocshmemx_initialized();
    int rc = rs_bootstrap_mpi(comm_address, busy, serve_any, &attr);
    if (rc == 0 || (busy && rc == RS_E_BOOTSTRAP)) rc = init(&attr.uid, attr.rank, attr.nranks);
    return rc;
}

int rocshmem_init_attr(unsigned int flags, const rocshmem_init_attr_t *attr)
{
    int rc = check_attr(flags, attr);
    if (rc == 0)
        rc = flags == ROCSHMEM_INIT_WITH_MPI_COMM ? init_mpi(attr->mpi_comm)
                                                  : init(&attr->uid, attr->rank, attr->nranks);
    return rc == 0 ? 0 : rs_return(__func__);
}

int rocshmem_get_uniqueid(rocshmem_uniqueid_t *uid)
{
    return serve(0, uid) == 0 ? 0 : rs_return(__func__);
}

int rocshmemx_serve_uniqueid(int loopback_only, rocshmem_uniqueid_t *uid_out)
{
    return serve(loopback_only, uid_out) == 0 ? 0 : rs_return(__func__);
}

int rocshmemx_serve_lost(const rocshmem_uniqueid_t *uid, int pe, const char *text)
{
    int rc;
    if (!uid || !text)
        rc = rs_fail(RS_E_ARG, "%s is NULL", uid ? "text" : "uid");
    else if (pe < 0)
        rc = rs_fail(RS_E_ARG, "pe %d is negative", pe);
    else
        rc = rs_uid_lose(uid, pe, text);
    return rc == 0 ? 0 : rs_return(__func__);
}

/* What the program forgot, for who asks (ROCSHMEM_DEBUG_LEVEL=WARN). */
static void tell_forgotten(struct rs_job *job)
{
    size_t n_blocks, nbytes;
    rs_heap_live(&job->heap, &n_blocks, &nbytes);
    int n_teams = rs_teams_live(&job->teams);
    if (n_blocks)
        rs_log(RS_LOG_WARN, "rocshmem_finalize: %zu allocation%s, %zu bytes, %s not freed", n_blocks,
               n_blocks == 1 ? "" : "s", nbytes, n_blocks == 1 ? "was" : "were");
    if (n_teams)
        rs_log(RS_LOG_WARN, "rocshmem_finalize: %d team%s not destroyed", n_teams,
               n_teams == 1 ? " was" : "s were");
}

/* Other threads end their calls before the job is taken apart: those that wait get an error. 0; STATE: one is stuck, and
 * the job stays as it is. Threads must not begin calls while finalize runs; for those that do, what they have read and
 * not yet noted gets a moment. */
static int send_threads_out(struct rs_job *job)
{
    uint32_t call;
    char name[64];
    uint64_t deadline_ns = rs_os_now_ns() + LEAVE_NS;
    job->ender = rs_self;
    atomic_store_explicit(&job->ending, true, memory_order_release);
    rs_threads_stop(job);
    if (rs_threads_inside(job, &call)) rs_wait_sleep_ns(1000000);
    while (rs_threads_inside(job, &call)) {
        if (rs_os_now_ns() > deadline_ns) {
            rs_call_name(call, name, sizeof name);
            return rs_fail(RS_E_STATE,
                           "another thread is still in %s; end it first. What the job held here is kept",
                           name);
        }
        rs_wait_sleep_ns(1000000);
    }
    return 0;
}

/* Leave together. When that fails (a PE died), leave alone, and say so at the end. Under init_lock. */
static int finalize_locked(struct rs_job *job)
{
    int rc = rs_synchronize(rs_self, NULL, true);
    struct rs_signature signature = {
        .call = RS_CALL_FINALIZE, .kind = RS_KIND_FINALIZE, .team = RS_TEAM_ID_WORLD};
    tell_forgotten(job);
    int met = rs_job_settle(job, &signature, NULL);
    if (rc == 0) rc = met;
    if (rc == 0 && rs_checked(job)) rc = rs_checked_guards(job);
    if (rc < 0) rs_network_verdict(job);
    rocshmemx_error_t error = *rs_error_slot();
    rs_board_leave(&job->board);
    atomic_store_explicit(&rs_job_current, NULL, memory_order_release);
    if (send_threads_out(job) < 0) return RS_E_STATE;
    rs_threads_detach(job);
    rocshmem_uniqueid_t uid = job->uid, none = {{0}};
    bool by_uid = memcmp(&uid, &none, sizeof uid) != 0;
    rs_job_destroy(job);
    rs_uid_stop(by_uid ? &uid : NULL);
    if (rc < 0) *rs_error_slot() = error;
    return rc;
}

void rocshmem_finalize(void)
{
    pthread_mutex_lock(&init_lock);
    struct rs_thread *t = rs_enter(RS_CALL_FINALIZE);
    int rc = t ? finalize_locked(rs_thread_job(t)) : RS_E_STATE;
    pthread_mutex_unlock(&init_lock);
    if (rc < 0) rs_raise(__func__);
}

void rocshmem_global_exit(int status)
{
    struct rs_job *job = atomic_load_explicit(&rs_job_current, memory_order_acquire);
    if (!job) {
        rs_no_job();
        rs_raise(__func__);
        return;
    }
    rs_signals_exit_all(&job->board, status, job->config.run_socket);
}

int rocshmem_my_pe(void)
{
    struct rs_job *job = atomic_load_explicit(&rs_job_current, memory_order_acquire);
    return job ? job->my_pe : -1;
}

int rocshmem_n_pes(void)
{
    struct rs_job *job = atomic_load_explicit(&rs_job_current, memory_order_acquire);
    return job ? job->n_pes : -1;
}

void rocshmem_query_thread(int *provided)
{
    if (provided) *provided = ROCSHMEM_THREAD_MULTIPLE;
}

int rocshmemx_static_data(int on)
{
    const struct rs_job *job = atomic_load_explicit(&rs_job_current, memory_order_acquire);
    if (!job) {
        rs_static_data_want(on != 0);
        return 0;
    }
    rs_fail(RS_E_STATE, "this process is PE %d of a job; call it before init", job->my_pe);
    return rs_return(__func__);
}

int rocshmemx_initialized(void)
{
    return atomic_load_explicit(&rs_job_current, memory_order_acquire) != NULL;
}

int rocshmem_hipmodule_init(void *module, void *stream)
{
    (void)module; /* host memory has no modules: 1 is "no such symbols" */
    (void)stream;
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return rs_return(__func__);
    return 1;
}

void *rocshmem_get_device_ctx(void)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) {
        rs_return(__func__);
        return NULL;
    }
    return (void *)(uintptr_t)&ROCSHMEM_CTX_DEFAULT;
}

static int pin_device(int local_rank)
{
    struct rs_config config;
    RS_TRY(read_config(&config));
    return rs_device_pin(&config, local_rank);
}

int rocshmemx_set_device_from_env(void)
{
    static const char *const names[] = {"LOCAL_RANK",    "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                        "SLURM_LOCALID", "FLUX_TASK_LOCAL_ID",         "PALS_LOCAL_RANKID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (!text || !text[0]) continue;
        char *end;
        errno = 0;
        long rank = strtol(text, &end, 10);
        if (errno == 0 && *end == '\0' && rank >= 0 && rank <= INT_MAX)
            return pin_device((int)rank) == 0 ? 0 : rs_return(__func__);
        rs_fail(RS_E_CONFIG, "%s is '%s', which is no local rank; it must be a whole number from 0", names[i],
                text);
        return rs_return(__func__);
    }
    return 0;
}
