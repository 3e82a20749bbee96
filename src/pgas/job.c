/* SPDX-License-Identifier: MIT
 *
 * The job: what init builds, in order, and finalize takes apart.
 *
 * Building takes two all-gathers over the bootstrap: who is where and wants what; and whether everybody
 * succeeded. Between them the first PE of the host makes the board and the windows, and hands their
 * descriptors to the others over a Unix socket. So all PEs succeed, or all fail with the first one's message.
 */
#include "pgas/job.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "base/status.h"
#include "pgas/checked.h"
#include "pgas/collective.h"
#include "pgas/network.h"
#include "pgas/signals.h"
#include "pgas/windows.h"

#define LAYOUT_VERSION 8u /* of the board and the windows: PEs must run the same library */

_Static_assert(RS_ROOM_NBYTES == RS_DEVICE_SHARED_NBYTES, "the board has what a device wants");

struct rs_job *_Atomic rs_job_current;

/* What a PE tells all others first. */
struct hello {
    uint64_t host, machine, heap_nbytes, nonce; /* one machine may play several hosts */
    uint64_t data_nbytes, program; /* static data to be symmetric, 0 for none; of which program */
    uint32_t layout_version, max_teams;
    uint64_t check;    /* 1: checked mode */
    uint64_t cpus[16]; /* that this PE may run on, as a set */
    struct rs_device_offer device;
    char host_name[RS_HOST_NAME]; /* for messages */
};
/* And last. */
struct outcome {
    int32_t status, reserved;
    char text[248];
};

/* ---- building ---- */

static uint64_t host_of(const struct rs_config *config)
{
    const char *name = config->node_id[0] ? config->node_id : config->bootstrap_hostid;
    if (!name[0]) return rs_os_host_id();
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

/* What the hellos say, checked alike on every PE. */
static int agree(struct rs_job *job, const struct hello *hellos)
{
    RS_TRY(rs_hosts_find(&job->hosts, &hellos->host, sizeof *hellos, job->n_pes, job->my_pe));
    RS_TRY(rs_hosts_name(&job->hosts, hellos->host_name, sizeof *hellos));
    job->my_local = job->hosts.where[job->my_pe].local;
    job->n_local = job->hosts.n_near;
    const struct hello *zero = &hellos[0];
    uint64_t cpus[16] = {0};
    int n_here = 0;
    for (int pe = 0; pe < job->n_pes; pe++) {
        const struct hello *h = &hellos[pe];
        if (h->layout_version != LAYOUT_VERSION)
            return rs_fail_pe(RS_E_BOOTSTRAP, pe,
                              "PE %d runs another version of librocshmem (layout %u, here %u); use one", pe,
                              h->layout_version, LAYOUT_VERSION);
        bool direct = strcasecmp(job->config.transport, "direct") == 0;
        if (h->host != zero->host && (direct || strcasecmp(job->config.backend, "ipc") == 0))
            return rs_fail_pe(
                RS_E_CONFIG, pe,
                "%s, but PE %d is on another host than PE 0 (or in another container); unset it",
                direct ? "ROCSHMEM_TRANSPORT is direct" : "ROCSHMEM_BACKEND is ipc", pe);
        if (h->heap_nbytes != zero->heap_nbytes)
            return rs_fail_pe(RS_E_CONFIG, pe,
                              "ROCSHMEM_HEAP_SIZE differs: PE 0 has %" PRIu64 " bytes, PE %d has %" PRIu64
                              "; set it alike",
                              zero->heap_nbytes, pe, h->heap_nbytes);
        if (h->data_nbytes != zero->data_nbytes || h->program != zero->program)
            return rs_fail_pe(
                RS_E_CONFIG, pe,
                "PE %d and PE 0 run different programs, or only one of them as an OpenSHMEM program: "
                "their static variables can't be symmetric; start the same executable on every PE",
                pe);
        if (h->check != zero->check)
            return rs_fail_pe(RS_E_CONFIG, pe,
                              "ROCSHMEM_CHECK is %s for PE 0, but %s for PE %d; set it alike",
                              zero->check ? "on" : "off", h->check ? "on" : "off", pe);
        if (h->max_teams > job->config.max_teams) job->config.max_teams = h->max_teams;
        if (h->machine != hellos[job->my_pe].machine) continue;
        n_here++;
        for (int i = 0; i < 16; i++) cpus[i] |= h->cpus[i];
    }
    int n_cpus = 0; /* of this machine's PEs together: each may be bound to a share */
    for (int i = 0; i < 16; i++) n_cpus += __builtin_popcountll(cpus[i]);
    job->watch.spin_count = n_here > n_cpus && n_cpus > 0 ? 0 : (uint32_t)job->config.spin_count;
    if (job->hosts.n > 1) job->watch.spin_count /= 16; /* each of them looks at the network */
    return 0;
}

/* The kind of device, the same on every PE. */
static int choose_device(struct rs_job *job, const struct hello *hellos)
{
    struct rs_device_offer *offers = malloc((size_t)job->n_pes * sizeof *offers);
    if (!offers) return rs_fail(RS_E_NOMEM, "no memory for %d PEs' devices", job->n_pes);
    for (int pe = 0; pe < job->n_pes; pe++) offers[pe] = hellos[pe].device;
    int rc = rs_device_choose(offers, job->n_pes, &job->config, &job->device.ops, job->device_why);
    free(offers);
    return rc;
}

static size_t flags_nbytes(const struct rs_job *job)
{
    return rs_stream_flag_words(job->hosts.n, job->hosts.n_most) * sizeof(uint64_t) * job->config.max_teams;
}

/* What the windows of this job are to be. */
static int plan_windows(const struct rs_job *job, struct rs_windows *windows)
{
    size_t nbytes = rs_heap_room(job->config.heap_nbytes) + flags_nbytes(job) + RS_WINDOW_SPARE;
    uintptr_t *base = calloc((size_t)job->n_local, sizeof *base);
    if (!base) return rs_fail(RS_E_NOMEM, "no memory for %d windows", job->n_local);
    *windows = (struct rs_windows){.nbytes = nbytes,
                                   .heap_nbytes = rs_heap_room(job->config.heap_nbytes),
                                   .stride = (nbytes + RS_WINDOW_ALIGN - 1) & ~(RS_WINDOW_ALIGN - 1),
                                   .n_local = job->n_local,
                                   .my_local = job->my_local,
                                   .base = base};
    return 0;
}

/* What a host's PEs share, as descriptors: windows where one PE makes all of them, static data where they are
 * symmetric (then one PE does). */
enum { FD_BOARD, FD_WINDOWS, FD_DATA, FDS_MOST };
static int n_fds(const struct rs_job *job)
{
    return job->data.nbytes ? FDS_MOST : job->device.ops->windows_create ? FD_DATA : FD_WINDOWS;
}

static int make_shared(struct rs_job *job, size_t stride, int fds[FDS_MOST])
{
    size_t board_nbytes = rs_board_nbytes(job->n_local, (int)job->config.max_teams);
    fds[FD_BOARD] = rs_os_memfd("rocshmem-board", board_nbytes + rs_checked_nbytes(job));
    if (fds[FD_BOARD] < 0) return fds[FD_BOARD];
    RS_TRY(rs_checked_make(job, fds[FD_BOARD], board_nbytes));
    if (job->device.ops->windows_create)
        RS_TRY(job->device.ops->windows_create(&job->device, stride, job->n_local, &fds[FD_WINDOWS]));
    if (!job->data.nbytes) return 0;
    fds[FD_DATA] = rs_os_memfd("rocshmem-data", (size_t)job->n_local * job->data.nbytes);
    return fds[FD_DATA] < 0 ? fds[FD_DATA] : 0;
}

/* News from the bootstrap end it: a PE is gone, and the exchange that follows says so. */
static int hand_out(struct rs_job *job, int listener, const int fds[FDS_MOST],
                    const struct rs_bootstrap *bootstrap)
{
    uint64_t deadline_ns = bootstrap->deadline_ns;
    for (int sent = 0; sent < job->n_local - 1;) {
        uint64_t now = rs_os_now_ns();
        struct pollfd ready[] = {{.fd = listener, .events = POLLIN},
                                 {.fd = bootstrap->socket, .events = POLLIN}};
        int left_ms = now < deadline_ns ? (int)((deadline_ns - now) / 1000000u) + 1 : 0;
        int n = poll(ready, 2, left_ms < 100 ? left_ms : 100);
        if (n > 0 && !ready[0].revents) return 0;
        if (n <= 0) {
            if (rs_os_now_ns() >= deadline_ns)
                return rs_fail(RS_E_BOOTSTRAP, "%d of %d PEs did not fetch the shared memory in time",
                               job->n_local - 1 - sent, job->n_local - 1);
            continue;
        }
        int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (peer < 0) continue;
        if (rs_os_peer_is_us(peer) && rs_os_send_fds(peer, fds, n_fds(job)) == 0) sent++;
        close(peer);
    }
    return 0;
}

/* From the first PE of this host. PE 0 listened before it told its name; others learn only then that they are the
 * first of theirs. */
static int fetch(const char *name, int from, int fds[FDS_MOST], int n, const struct rs_bootstrap *bootstrap)
{
    int socket;
    while ((socket = rs_os_unix_connect(name)) < 0) {
        struct pollfd news = {.fd = bootstrap->socket, .events = POLLIN};
        if (errno == ECONNREFUSED && from == 0)
            return rs_fail_pe(
                RS_E_BOOTSTRAP, 0,
                "PE 0 does not hand out the shared memory: it ended, or is in another network namespace");
        if ((errno != EAGAIN && errno != ECONNREFUSED) || rs_os_now_ns() > bootstrap->deadline_ns)
            return rs_fail_context("PE %d, the first of the host, does not hand out its shared memory", from);
        if (poll(&news, 1, 0) > 0) break; /* somebody is gone: the exchange that follows says who */
        rs_wait_sleep_ns(50000);
    }
    rs_error_clear(); /* of tries that came too early */
    if (socket < 0) return 0;
    int rc = rs_os_peer_is_us(socket)
                 ? rs_os_recv_fds(socket, fds, n)
                 : rs_fail(RS_E_BOOTSTRAP, "another user's process hands out shared memory");
    close(socket);
    return rc == RS_E_PEER
               ? rs_fail_pe(RS_E_BOOTSTRAP, from, "PE %d ended before it handed out its memory", from)
               : rc;
}

static int build_routes(struct rs_job *job)
{
    const uintptr_t *base = job->heap.window->windows.base;
    const bool *named = job->heap.window->windows.named;
    const struct rs_transport_ops *direct =
        job->device.ops->transfer_nbi ? &rs_transport_direct_nbi : &rs_transport_direct;
    job->routes = calloc((size_t)job->n_pes, sizeof *job->routes);
    if (!job->routes) return rs_fail(RS_E_NOMEM, "no memory for %d routes", job->n_pes);
    for (int pe = 0; pe < job->n_pes; pe++) {
        struct rs_route *route = &job->routes[pe];
        int local = rs_job_local(job, pe);
        *route = (struct rs_route){.ops = local < 0 ? &rs_transport_net : direct,
                                   .pe = pe,
                                   .device = &job->device,
                                   .data_base = job->data.base,
                                   .data_nbytes = job->data.nbytes,
                                   .mapped = local >= 0,
                                   .named = local >= 0 && named && named[local],
                                   .cpu = local >= 0 && job->device.ops->cpu_reaches_heap,
                                   .link = local < 0 ? job->net : NULL};
        if (local < 0) continue;
        route->shift = (ptrdiff_t)(base[local] - base[job->my_local]);
        route->data_shift = rs_static_data_shift(&job->data, local, job->my_local);
    }
    job->can_be_outstanding = direct->quiet || job->net;
    return 0;
}

/* From the descriptors and the windows, which are taken over, to a usable heap. fds stay the caller's. */
static int build(struct rs_job *job, const int fds[FDS_MOST], struct rs_windows *windows)
{
    struct rs_window *window;
    void *words;
    RS_TRY(
        rs_board_open(&job->board, fds[FD_BOARD], job->n_local, job->my_local, (int)job->config.max_teams));
    if (job->device.ops->windows_map)
        RS_TRY(job->device.ops->windows_map(&job->device, fds[FD_WINDOWS], windows));
    RS_TRY(rs_window_create(&window, job->device.ops, windows));
    *windows = (struct rs_windows){0};
    RS_TRY(rs_heap_init(&job->heap, window, job->config.heap_nbytes, job->board.drops, job->n_pes, job->my_pe,
                        &job->hosts));
    RS_TRY(job->device.ops->words_alloc(&job->device, rs_stream_complete_nbytes((int)job->config.max_teams),
                                        &words));
    job->stream_complete = words;
    if (job->device.ops
            ->window_make) /* before anybody writes them: no PE leaves init before all have come here */
        RS_TRY(rs_device_fill(&job->device, (void *)job->heap.flags, 0, flags_nbytes(job)));
    if (job->data.nbytes) RS_TRY(rs_static_data_share(&job->data, fds[FD_DATA], job->n_local, job->my_local));
    if (job->net) RS_TRY(rs_network_expose(job));
    RS_TRY(build_routes(job));
    if (job->device.ops->serve)
        RS_TRY(job->device.ops->serve(&job->device, &job->heap.window->windows, job->board.room));
    RS_TRY(rs_counters_init(&job->retired, job->n_pes));
    RS_TRY(rs_contexts_create(&job->contexts));
    RS_TRY(rs_teams_init(&job->teams, (int)job->config.max_teams));
    int *all = malloc((size_t)job->n_pes * sizeof *all);
    if (!all) return rs_fail(RS_E_NOMEM, "no memory for a team of %d PEs", job->n_pes);
    for (int pe = 0; pe < job->n_pes; pe++) all[pe] = pe;
    int rc = rs_team_create_fixed(job, RS_TEAM_ID_WORLD, all, job->n_pes, 0, &job->world);
    if (rc == 0)
        rc = rs_team_create_fixed(job, RS_TEAM_ID_SHARED, job->hosts.near, job->n_local, 1, &job->shared);
    free(all);
    if (rc == 0)
        rc = rs_checked_start(job, fds[FD_BOARD], rs_board_nbytes(job->n_local, (int)job->config.max_teams));
    if (rc == 0) rs_board_arrive(&job->board, job->my_pe);
    return rc;
}

static void name_of(char out[48], uint64_t nonce)
{
    snprintf(out, 48, "rocshmem-%016" PRIx64, nonce);
}

static int open_device(struct rs_job *job)
{
    struct rs_device_options options = rs_device_options_of(&job->config);
    int ordinal = 0;
    RS_TRY(rs_device_pick(job->device.ops, &job->config, job->my_local, &ordinal));
    return job->device.ops->open(&job->device, ordinal, &job->watch, &options);
}

/* For people who ask where the time of init goes. */
static void log_phase(const char *what, uint64_t *since_ns)
{
    uint64_t now = rs_os_now_ns();
    rs_log(RS_LOG_INFO, "init: %.2f ms to %s", (double)(now - *since_ns) * 1e-6, what);
    *since_ns = now;
}

/* Everything that may fail on one PE alone. listener: of a host's first PE, -1 for it to be made. */
static int build_alone(struct rs_job *job, int listener, const struct hello *hellos,
                       struct rs_bootstrap *bootstrap)
{
    int fds[FDS_MOST] = {-1, -1, -1}, first = job->hosts.near[0], own = -1;
    char name[48];
    struct rs_windows windows;
    RS_TRY(plan_windows(job, &windows));
    name_of(name, hellos[first].nonce);
    uint64_t since_ns = rs_os_now_ns();
    int rc = 0;
    if (job->my_local == 0 && job->n_local > 1 && listener < 0) {
        listener = own = rs_os_unix_listen(name);
        if (listener < 0) rc = listener;
    }
    if (rc == 0) rc = open_device(job);
    log_phase("open the device", &since_ns);
    if (rc == 0 && job->my_local == 0) {
        rc = make_shared(job, windows.stride, fds);
        if (rc == 0 && job->n_local > 1) rc = hand_out(job, listener, fds, bootstrap);
    } else if (rc == 0) {
        rc = fetch(name, first, fds, n_fds(job), bootstrap);
    }
    if (own >= 0) close(own);
    log_phase("share the board", &since_ns);
    if (job->device.ops->window_make) rc = rs_windows_exchange(job, bootstrap, rc, &windows);
    log_phase("make windows and open the others'", &since_ns);
    rc = rs_network_start(job, bootstrap, rc);
    if (rc == 0) rc = build(job, fds, &windows);
    rc = rs_news_start(job, bootstrap, hellos[0].nonce, rc);
    log_phase("build the job", &since_ns);
    if (windows.base) job->device.ops->windows_unmap(&windows);
    for (int i = 0; i < FDS_MOST; i++)
        if (fds[i] >= 0) close(fds[i]);
    return rc;
}

static int exchange_outcome(struct rs_job *job, struct rs_bootstrap *bootstrap, int rc)
{
    struct outcome mine = {.status = rc}, *all = calloc((size_t)job->n_pes, sizeof *all);
    if (!all) return rs_fail(RS_E_NOMEM, "no memory to start %d PEs", job->n_pes);
    if (rc < 0)
        snprintf(mine.text, sizeof mine.text, "%.*s", (int)sizeof mine.text - 1, rs_error_slot()->text);
    int gathered = rs_bootstrap_allgather(bootstrap, &mine, sizeof mine, all);
    for (int pe = 0; gathered == 0 && rc == 0 && pe < job->n_pes; pe++)
        if (all[pe].status < 0)
            rc = rs_fail_pe(all[pe].status, pe, "PE %d could not start: %s", pe, all[pe].text);
    free(all);
    return rc < 0 ? rc : gathered;
}

static int create(struct rs_job *job, struct rs_bootstrap *bootstrap)
{
    uint64_t since_ns = rs_os_now_ns();
    if (rs_static_data_wanted()) RS_TRY(rs_static_data_find(&job->data));
    struct hello mine = {
        .data_nbytes = job->data.nbytes,
        .program = job->data.program,
        .host = host_of(&job->config),
        .machine = rs_os_machine_id(),
        .heap_nbytes = job->config.heap_nbytes,
        .layout_version = LAYOUT_VERSION,
        .check = rs_config_is_on(job->config.check),
        .max_teams = (uint32_t)job->config.max_teams,
        .device = rs_device_offer(&job->config, rs_static_data_wanted()),
    };
    log_phase("look for devices (start the driver)", &since_ns);
    rs_os_cpu_set(mine.cpus);
    if (job->config.node_id[0])
        snprintf(mine.host_name, sizeof mine.host_name, "%s", job->config.node_id);
    else
        rs_os_host_name(mine.host_name, sizeof mine.host_name);
    struct hello *hellos = calloc((size_t)job->n_pes, sizeof *hellos);
    if (!hellos) return rs_fail(RS_E_NOMEM, "no memory to start %d PEs", job->n_pes);
    rs_os_random(&mine.nonce, sizeof mine.nonce);
    char name[48];
    name_of(name, mine.nonce);
    int listener = -1, rc = 0;
    if (job->my_pe == 0 && job->n_pes > 1) { /* before the others know the name: so they find it open */
        listener = rs_os_unix_listen(name);
        if (listener < 0) rc = listener;
    }
    if (rc == 0) rc = rs_bootstrap_allgather(bootstrap, &mine, sizeof mine, hellos);
    log_phase("hear of all PEs", &since_ns);
    if (rc == 0) rc = agree(job, hellos);
    if (rc == 0) rc = choose_device(job, hellos);
    if (rc == 0) {
        rc = build_alone(job, listener, hellos, bootstrap);
        since_ns = rs_os_now_ns();
        rc = exchange_outcome(job, bootstrap, rc);
        log_phase("hear that all are done", &since_ns);
    }
    if (listener >= 0) close(listener);
    free(hellos);
    return rc;
}

int rs_job_create(struct rs_job **job_out, const struct rs_config *config, struct rs_bootstrap *bootstrap,
                  const rocshmem_uniqueid_t *uid)
{
    struct rs_job *job = calloc(1, sizeof *job);
    if (!job) return rs_fail(RS_E_NOMEM, "no memory for a job");
    job->my_pe = bootstrap->rank;
    job->n_pes = bootstrap->nranks;
    job->launcher = bootstrap->launcher;
    job->config = *config;
    if (job->config.max_teams < 2) job->config.max_teams = 2; /* world and shared */
    if (uid) job->uid = *uid;
    job->device.ops = &rs_device_host;
    job->watch = (struct rs_watch){.tick = rs_job_tick, .arg = job};
    rs_mail_init(&job->mail);
    pthread_mutex_init(&job->buffers_lock, NULL);
    int rc = create(job, bootstrap);
    if (rc < 0) {
        rs_job_destroy(job);
        return rc;
    }
    job->built = true;
    rs_heap_make_current(&job->heap);
    rs_signals_install(&job->board);
    rs_log_set_pe(job->my_pe);
    rs_log(RS_LOG_INFO, "%d PEs by %s, device %s %d (%s), heap %zu bytes", job->n_pes, job->launcher,
           job->device.ops->name, job->device.ordinal, job->device_why, job->heap.nbytes);
    *job_out = job;
    return 0;
}

void rs_job_destroy(struct rs_job *job)
{
    if (!job) return;
    if (job->built) {
        rs_signals_restore();
        rs_heap_make_current(NULL);
        rs_log_set_pe(-1);
    }
    rs_network_end(job);
    rs_news_close(job);
    if (job->device.state) job->device.ops->close(&job->device);
    rs_network_free(job);
    if (job->device.ops->words_free) job->device.ops->words_free(job->stream_complete);
    rs_stream_scratch_free(job);
    rs_contexts_destroy(job->contexts);
    rs_teams_fini(&job->teams);
    rs_counters_fini(&job->retired);
    free(job->routes);
    rs_hosts_free(&job->hosts);
    rs_mail_fini(&job->mail);
    rs_static_data_unshare(&job->data);
    rs_checked_stop(job);
    rs_heap_fini(&job->heap);
    rs_board_close(&job->board);
    free(job->buffers);
    pthread_mutex_destroy(&job->buffers_lock);
    free(job);
}

int rs_job_complete(struct rs_job *job, bool order_only)
{
    const struct rs_net *net = job->net;
    int rc = job->device.ops->complete ? job->device.ops->complete(&job->device) : 0, net_rc = 0;
    if (net && !order_only)
        net_rc = net->ops->quiet(net->network);
    else if (net && net->ops->fence)
        net_rc = net->ops->fence(net->network);
    return rc < 0 ? rc : net_rc;
}

int rs_job_settle(struct rs_job *job, const struct rs_signature *signature, size_t *nbytes)
{
    if (job->can_be_outstanding) RS_TRY(rs_job_complete(job, false));
    struct rs_drops few[64], *all = few, mine = rs_heap_announce(&job->heap);
    if (job->n_pes > 64) all = malloc((size_t)job->n_pes * sizeof *all);
    if (!all) return rs_fail(RS_E_NOMEM, "no memory for %d PEs' counts", job->n_pes);
    if (nbytes) mine.asked = *nbytes;
    int rc = rs_collective_exchange(job->world, signature, &mine, sizeof mine, all);
    if (rc == 0) rc = rs_network_collect(job, signature, all);
    for (int pe = 0; nbytes && rc == 0 && pe < job->n_pes; pe++)
        if (all[pe].asked > *nbytes) *nbytes = all[pe].asked;
    if (all != few) free(all);
    return rc;
}
