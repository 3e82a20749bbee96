/* SPDX-License-Identifier: MIT
 *
 * The unique id by PMIx: Open MPI from 4 on, PRRTE, Slurm's --mpi=pmix. libpmix is opened at the first need.
 *
 * PMIx counts its inits, so MPI in this process may have done one before us or do one later. After as many ends as
 * begins a process cannot begin again (seen with PMIx 4.2 under Open MPI 4.1: MPI_Init fails), so our first begin is
 * ended when the process exits, later ones at once. Its calls cannot be interrupted and know no
 * deadline, so a thread makes them; when it does not come back in time it is left behind, and init fails.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "base/status.h"
#include "bootstrap/launchers.h"
#include "bootstrap/link.h"
#include "bootstrap/pmix_abi.h"
#include "bootstrap/uid.h"

#define PAUSE_MIN_NS 50000u

/* ---- the library ---- */

static void *open_library(char *reason, size_t nbytes)
{
    char own[PATH_MAX] = "";
    const char *prefix = rs_env_text("PMIX_INSTALL_PREFIX");
    if (!prefix) prefix = rs_env_text("OPAL_PREFIX");
    if (prefix) snprintf(own, sizeof(own), "%.4000s/lib/libpmix.so.2", prefix);
    const char *const names[] = {own, "libpmix.so.2", "libpmix.so",
                                 "/usr/lib/x86_64-linux-gnu/pmix2/lib/libpmix.so.2"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *library = names[i][0] ? dlopen(names[i], RTLD_NOW | RTLD_LOCAL) : NULL;
        if (library) return library; /* for ever: its threads may run when we are done */
        const char *error = names[i][0] ? dlerror() : NULL;
        if (error && i < 2) snprintf(reason, nbytes, "%s", error);
    }
    return NULL;
}

static int load(struct rs_pmix *pmix, const char *launcher)
{
    char reason[256] = "";
    void *library = open_library(reason, sizeof(reason));
    const char *missing = NULL;
#define LOAD(member, name, arguments) {&pmix->member, sizeof(pmix->member), name},
    const struct {
        void *slot;
        size_t nbytes;
        const char *name;
    } functions[] = {
        RS_PMIX_FUNCTIONS(LOAD){&pmix->error_string, sizeof(pmix->error_string), "PMIx_Error_string"}};
#undef LOAD
    for (size_t i = 0; library && i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (!symbol) missing = functions[i].name;
        memcpy(functions[i].slot, &symbol,
               functions[i].nbytes); /* C casts no object's pointer to a function's */
    }
    if (library && !missing) return 0;
    return rs_fail(
        RS_E_UNSUPPORTED,
        "%s started a job over several hosts (or does not say that it is one), and its channel is PMIx, but "
        "there is no libpmix.so.2 (%s%s): install libpmix2 or add its folder to LD_LIBRARY_PATH; or use "
        "rocshmem-run --hosts, init_with_mpi, init_with_torch or a unique id",
        launcher, missing ? "it lacks " : reason, missing ? missing : "");
}

/* ---- the exchange, in a thread ---- */

struct visit { /* shared with the thread; whoever is done with it last frees it */
    struct rs_pmix pmix;
    struct rs_config config;
    char key[40];
    atomic_int users;
    atomic_bool done;        /* W: thread, release, after all below. R: init, acquire */
    const char *failed_call; /* NULL: none */
    int status;              /* of that call */
    int rank, nranks;
    bool served;
    int serve_status;
    rocshmemx_error_t serve_error;
    rocshmem_uniqueid_t uid;
    char text[RS_UID_TEXT];
};

static void leave_visit(struct visit *visit)
{
    if (atomic_fetch_sub(&visit->users, 1) == 1) free(visit);
}

static bool failed(struct visit *visit, const char *call, int status)
{
    if (status == 0) return false;
    visit->failed_call = call;
    visit->status = status;
    return true;
}

/* A number that the launcher knows of the job. Values are left to the library: their memory is its own. */
static bool ask_number(struct visit *visit, const char *nspace, const char *key, int *out)
{
    struct rs_pmix_proc all = {.rank = RS_PMIX_RANK_WILDCARD};
    struct rs_pmix_value *value = NULL;
    memcpy(all.nspace, nspace, sizeof(all.nspace));
    if (visit->pmix.get(&all, key, NULL, 0, &value) != 0 || !value || value->type != RS_PMIX_UINT32)
        return false;
    *out = (int)value->data.uint32;
    return true;
}

static void publish(struct visit *visit, int local)
{
    visit->serve_status = rs_uid_serve_once(&visit->config, local == visit->nranks, true, &visit->uid);
    visit->served = visit->serve_status == 0;
    if (visit->served)
        rs_uid_to_text(&visit->uid, visit->text);
    else
        visit->serve_error = *rs_error_slot();
    struct rs_pmix_value value = {.type = RS_PMIX_STRING, .data = {.string = visit->text}};
    if (failed(visit, "PMIx_Put", visit->pmix.put(RS_PMIX_GLOBAL, visit->key, &value))) return;
    failed(visit, "PMIx_Commit", visit->pmix.commit());
}

/* Between PMIx_Init and PMIx_Finalize. */
static void exchange(struct visit *visit, const struct rs_pmix_proc *me)
{
    struct rs_pmix_proc zero = *me, all = *me;
    struct rs_pmix_value *value = NULL;
    int local = 0;
    visit->rank = (int)me->rank;
    if (!ask_number(visit, me->nspace, RS_PMIX_JOB_SIZE, &visit->nranks)) {
        failed(visit, "PMIx_Get of " RS_PMIX_JOB_SIZE, -1);
        return;
    }
    ask_number(visit, me->nspace, RS_PMIX_LOCAL_SIZE, &local);
    if (visit->nranks == 1) return;
    if (visit->rank == 0) publish(visit, local);
    if (visit->failed_call) return;
    struct rs_pmix_info collect = {.key = RS_PMIX_COLLECT_DATA,
                                   .value = {.type = RS_PMIX_BOOL, .data = {.flag = 1}}};
    all.rank = RS_PMIX_RANK_WILDCARD;
    if (failed(visit, "PMIx_Fence", visit->pmix.fence(&all, 1, &collect, 1)) || visit->rank == 0) return;
    zero.rank = 0;
    if (failed(visit, "PMIx_Get", visit->pmix.get(&zero, visit->key, NULL, 0, &value))) return;
    if (value && value->type == RS_PMIX_STRING && value->data.string)
        snprintf(visit->text, sizeof(visit->text), "%s", value->data.string);
}

static struct {
    atomic_bool kept; /* W: the thread of the first visit, after what follows. R: exit */
    int pid;
    int (*finalize)(const struct rs_pmix_info *info, size_t ninfo);
} first;

static void end_first(void)
{
    if (atomic_load(&first.kept) && first.pid == (int)getpid()) (void)first.finalize(NULL, 0);
}

/* One visit at a time: under init's lock; one that was left behind has not come so far, or is over. */
static bool keep_first(const struct visit *visit)
{
    if (atomic_load(&first.kept)) return false;
    first.pid = (int)getpid();
    first.finalize = visit->pmix.finalize;
    if (atexit(end_first) != 0) return false;
    atomic_store(&first.kept, true);
    return true;
}

static void *visit_main(void *arg)
{
    struct visit *visit = arg;
    struct rs_pmix_proc me = {.rank = 0};
    if (!failed(visit, "PMIx_Init", visit->pmix.init(&me, NULL, 0))) {
        exchange(visit, &me);
        if (!keep_first(visit)) (void)visit->pmix.finalize(NULL, 0);
    }
    atomic_store_explicit(&visit->done, true, memory_order_release);
    leave_visit(visit);
    return NULL;
}

/* Until the thread is done, the deadline, or what the hook says. */
static int await(struct visit *visit, uint64_t deadline_ns, const char *launcher)
{
    uint64_t pause_ns = PAUSE_MIN_NS;
    while (!atomic_load_explicit(&visit->done, memory_order_acquire)) {
        int rc = rs_link_pause(&pause_ns, deadline_ns);
        if (rc == RS_E_TIMEOUT)
            return rs_fail(
                RS_E_BOOTSTRAP,
                "%s's PMIx did not bring all PEs together within ROCSHMEM_BOOTSTRAP_TIMEOUT; does every PE "
                "call init, and do all of them have ROCSHMEM_LAUNCHER alike",
                launcher);
        if (rc < 0) return rc;
    }
    if (visit->failed_call)
        return rs_fail(RS_E_BOOTSTRAP,
                       "%s of libpmix failed: %s (%d); is %s, which started this process, still running, and "
                       "is its PMIx "
                       "of the same major version",
                       visit->failed_call, visit->pmix.error_string(visit->status), visit->status, launcher);
    if (visit->serve_status < 0) *rs_error_slot() = visit->serve_error;
    return visit->serve_status;
}

static int begin(struct visit *visit)
{
    static atomic_uint generations; /* a key of its own for each job of this process */
    pthread_t thread;
    snprintf(visit->key, sizeof(visit->key), "rocshmem-uid-%u", atomic_fetch_add(&generations, 1) + 1);
    snprintf(visit->text, sizeof(visit->text), "-");
    atomic_init(&visit->users, 2);
    int rc = rs_os_thread_start(&thread, "rocshmem-pmix", visit_main, visit);
    if (rc == 0) pthread_detach(thread);
    return rc;
}

int rs_pmix_join(struct rs_bootstrap *bootstrap_out, const struct rs_config *config, const char *launcher)
{
    struct visit *visit = calloc(1, sizeof(*visit));
    if (!visit) return rs_fail(RS_E_NOMEM, "no memory to ask PMIx for the unique id");
    visit->config = *config;
    int rc = load(&visit->pmix, launcher);
    if (rc == 0) rc = begin(visit);
    if (rc < 0) {
        free(visit);
        return rc;
    }
    rc = await(visit, rs_link_deadline(config->bootstrap_ns), launcher);
    if (rc == 0 && visit->nranks == 1)
        rc = rs_bootstrap_alone(bootstrap_out, launcher);
    else if (rc == 0) {
        if (visit->rank > 0) rc = rs_uid_from_text(visit->text, launcher, &visit->uid);
        if (rc == 0) rc = rs_bootstrap_uid(bootstrap_out, config, &visit->uid, visit->rank, visit->nranks);
        if (rc == 0) bootstrap_out->server = 0;
    }
    if (rc == 0) bootstrap_out->launcher = launcher;
    if (rc < 0 && atomic_load(&visit->done) && visit->served) rs_uid_stop(&visit->uid);
    leave_visit(visit);
    return rc;
}
