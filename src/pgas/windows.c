/* SPDX-License-Identifier: MIT
 *
 * The choice of the device, and windows that each PE makes for itself: an all-gather tells how each is found
 * (and who failed), and where that takes a descriptor, each PE hands its own to every other over a Unix
 * socket. The same socket serves when windows grow (growth.c).
 */
#include "pgas/windows.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "base/status.h"
#include "pgas/job.h"

const struct rs_device_ops *const rs_device_kinds[RS_DEVICE_KINDS] = {&rs_device_cuda, &rs_device_hip,
                                                                      &rs_device_host};
enum { HOST = RS_DEVICE_KINDS - 1 };

/* ---- which device ---- */

struct rs_device_options rs_device_options_of(const struct rs_config *config)
{
    return (struct rs_device_options){.library = config->gpu_library,
                                      .kernels = config->gpu_kernels,
                                      .asked = strcasecmp(config->device, "auto") != 0,
                                      .ipc = strcasecmp(config->heap_sharing, "ipc") == 0,
                                      .inline_nbytes = config->inline_nbytes};
}

struct rs_device_offer rs_device_offer(const struct rs_config *config, bool only_host)
{
    struct rs_device_offer offer = {RS_DEVICE_AUTO, 1u << HOST};
    struct rs_device_options options = rs_device_options_of(config);
    for (uint32_t i = 0; i < RS_DEVICE_KINDS; i++)
        if (strcasecmp(config->device, rs_device_kinds[i]->name) == 0) offer.wanted = i;
    if (only_host) offer.wanted = HOST;
    for (uint32_t i = 0; i < HOST; i++) {
        char why[256] = "";
        if (offer.wanted != RS_DEVICE_AUTO && offer.wanted != i) continue;
        if (rs_device_kinds[i]->count(&options, why, sizeof why) > 0)
            offer.has |= 1u << i;
        else
            rs_log(offer.wanted == i ? RS_LOG_WARN : RS_LOG_INFO, "no %s device: %s",
                   rs_device_kinds[i]->name, why);
        if (offer.has >> i & 1) break; /* the other kind would not be taken */
    }
    return offer;
}

/* The first PE without devices of a kind, or -1. */
static int first_without(const struct rs_device_offer *offers, int n_pes, uint32_t kind)
{
    for (int pe = 0; pe < n_pes; pe++)
        if (!(offers[pe].has >> kind & 1)) return pe;
    return -1;
}

int rs_device_choose(const struct rs_device_offer *offers, int n_pes, const struct rs_config *config,
                     const struct rs_device_ops **ops_out, char *why_out)
{
    uint32_t wanted = offers[0].wanted;
    for (int pe = 1; pe < n_pes; pe++)
        if (offers[pe].wanted != wanted)
            return rs_fail_pe(
                RS_E_CONFIG, pe, "ROCSHMEM_DEVICE differs: PE %d wants %s, PE 0 wants %s; set it alike", pe,
                offers[pe].wanted == RS_DEVICE_AUTO ? "auto" : rs_device_kinds[offers[pe].wanted]->name,
                wanted == RS_DEVICE_AUTO ? "auto" : rs_device_kinds[wanted]->name);
    if (wanted != RS_DEVICE_AUTO) {
        int pe = first_without(offers, n_pes, wanted);
        if (pe >= 0)
            return rs_fail_pe(RS_E_CONFIG, pe,
                              "ROCSHMEM_DEVICE is %s, but PE %d has no such device (rocshmem-info there says "
                              "why); use auto or host",
                              config->device, pe);
        snprintf(why_out, 160, "ROCSHMEM_DEVICE is %s", rs_device_kinds[wanted]->name);
        *ops_out = rs_device_kinds[wanted];
        return 0;
    }
    for (uint32_t kind = 0; kind < HOST; kind++) {
        int pe = first_without(offers, n_pes, kind);
        if (pe >= 0) continue;
        snprintf(why_out, 160, "every PE has a %s device", rs_device_kinds[kind]->name);
        *ops_out = rs_device_kinds[kind];
        return 0;
    }
    snprintf(why_out, 160, "PE %d has no GPU", first_without(offers, n_pes, 0));
    *ops_out = &rs_device_host;
    return 0;
}

int rs_device_pick(const struct rs_device_ops *ops, const struct rs_config *config, int my_local,
                   int *ordinal_out)
{
    struct rs_device_options options = rs_device_options_of(config);
    char why[256] = "";
    int n = ops->count(&options, why, sizeof why), chosen = ops->chosen ? ops->chosen(&options) : -1;
    if (n <= 0) return rs_fail(RS_E_DEVICE, "no %s device: %s", ops->name, why);
    *ordinal_out = chosen >= 0 && chosen < n ? chosen : my_local % n;
    return 0;
}

int rs_device_pin(const struct rs_config *config, int index)
{
    struct rs_device_offer offer = rs_device_offer(config, false);
    struct rs_device_options options = rs_device_options_of(config);
    const struct rs_device_ops *ops = NULL;
    char why[160];
    RS_TRY(rs_device_choose(&offer, 1, config, &ops, why));
    return ops->pin ? ops->pin(&options, index) : 0;
}

/* ---- descriptors from every PE to every other ---- */

static void name_of(char out[48], uint64_t nonce)
{
    snprintf(out, 48, "rocshmem-window-%016" PRIx64, nonce);
}

int rs_windows_listen(uint64_t *nonce_out)
{
    char name[48];
    rs_os_random(nonce_out, sizeof *nonce_out);
    name_of(name, *nonce_out);
    return rs_os_unix_listen(name);
}

/* My descriptor to every other PE of the host. They listen already, and a queue holds what they have not
 * accepted yet, so nobody waits here for somebody who waits for him. */
static int hand_mine(const struct rs_handover *handover)
{
    const struct rs_job *job = handover->job;
    for (int local = 0; local < job->n_local; local++) {
        char name[48];
        int32_t me = job->my_local;
        int pe = job->hosts.near[local];
        if (local == job->my_local) continue;
        name_of(name, handover->nonces[local]);
        int socket = rs_os_unix_connect(name);
        if (socket < 0) return rs_fail_context("PE %d does not take the window of PE %d", pe, job->my_pe);
        int rc = rs_os_peer_is_us(socket)
                     ? rs_os_send_all(socket, &me, sizeof me, handover->deadline_ns)
                     : rs_fail(RS_E_BOOTSTRAP, "another user's process takes part as PE %d", pe);
        if (rc == 0) rc = rs_os_send_fds(socket, &handover->fd, 1);
        close(socket);
        if (rc < 0) return rc;
    }
    return 0;
}

static int take_one(const struct rs_handover *handover, int socket, bool *taken)
{
    struct rs_job *job = handover->job;
    int32_t from = -1;
    int fd = -1;
    RS_TRY(rs_os_recv_all(socket, &from, sizeof from, handover->deadline_ns));
    if (from < 0 || from >= job->n_local || from == job->my_local || taken[from])
        return rs_fail(RS_E_BOOTSTRAP, "a process that is no PE of this job hands out a window");
    RS_TRY(rs_os_recv_fds(socket, &fd, 1));
    taken[from] = true;
    int rc = handover->take(handover, from, fd);
    close(fd);
    return rc < 0 ? rs_fail_context("the window of PE %d", job->hosts.near[from]) : 0;
}

static int take_others(const struct rs_handover *handover, bool *taken)
{
    struct rs_job *job = handover->job;
    for (int n_taken = 0; n_taken < job->n_local - 1;) {
        struct pollfd ready = {.fd = handover->listener, .events = POLLIN};
        uint64_t now = rs_os_now_ns();
        if (now >= handover->deadline_ns)
            return rs_fail(RS_E_BOOTSTRAP, "%d of %d PEs did not hand out their windows in time",
                           job->n_local - 1 - n_taken, job->n_local - 1);
        if (job->board.vitals) RS_TRY(rs_board_look(&job->board, now, NULL)); /* there is none yet in init */
        if (poll(&ready, 1, 100) <= 0) continue;
        int socket = accept4(handover->listener, NULL, NULL, SOCK_CLOEXEC);
        if (socket < 0) continue;
        bool ours = rs_os_peer_is_us(socket);
        int rc = ours ? take_one(handover, socket, taken) : 0;
        close(socket);
        if (rc < 0) return rc;
        n_taken += ours;
    }
    return 0;
}

int rs_windows_hand_over(const struct rs_handover *handover)
{
    bool *taken = calloc((size_t)handover->job->n_local, sizeof *taken);
    if (!taken) return rs_fail(RS_E_NOMEM, "no memory for %d PEs' windows", handover->job->n_local);
    int rc = hand_mine(handover);
    if (rc == 0) rc = take_others(handover, taken);
    free(taken);
    return rc;
}

/* ---- windows that each PE makes ---- */

struct told {
    int32_t status, has_fd;
    uint64_t nonce; /* of its socket's name */
    struct rs_window_export export;
    char text[120]; /* of a failure */
};
struct opening {
    struct rs_windows *windows;
    const struct told *all;
};

static int open_one(const struct rs_handover *handover, int from, int fd)
{
    const struct opening *opening = handover->arg;
    struct rs_device *device = &handover->job->device;
    int pe = handover->job->hosts.near[from];
    return device->ops->window_open(device, opening->windows, from, &opening->all[pe].export, fd);
}

static int open_others(struct rs_job *job, const struct told *all, int listener, int fd,
                       struct rs_windows *windows, uint64_t deadline_ns)
{
    if (all[job->my_pe].has_fd) {
        uint64_t *nonces = malloc((size_t)job->n_local * sizeof *nonces);
        if (!nonces) return rs_fail(RS_E_NOMEM, "no memory for %d PEs' windows", job->n_local);
        for (int local = 0; local < job->n_local; local++) nonces[local] = all[job->hosts.near[local]].nonce;
        struct opening opening = {windows, all};
        struct rs_handover handover = {job, listener, fd, nonces, deadline_ns, open_one, &opening};
        int rc = rs_windows_hand_over(&handover);
        free(nonces);
        return rc;
    }
    for (int local = 0; local < job->n_local; local++) {
        int pe = job->hosts.near[local];
        if (local == job->my_local) continue;
        if (job->device.ops->window_open(&job->device, windows, local, &all[pe].export, -1) < 0)
            return rs_fail_context("the window of PE %d", pe);
    }
    return 0;
}

int rs_windows_exchange(struct rs_job *job, struct rs_bootstrap *bootstrap, int rc,
                        struct rs_windows *windows)
{
    struct told mine = {.status = 0}, *all = calloc((size_t)job->n_pes, sizeof *all);
    int fd = -1, listener = -1;
    if (!all) return rs_fail(RS_E_NOMEM, "no memory for %d PEs' windows", job->n_pes);
    if (rc == 0) rc = job->device.ops->window_make(&job->device, windows, &mine.export, &fd);
    if (rc == 0 && job->n_local > 1 && fd >= 0) {
        listener = rs_windows_listen(&mine.nonce); /* before the others know its name */
        if (listener < 0) rc = listener;
    }
    mine.status = rc;
    mine.has_fd = fd >= 0;
    if (rc < 0)
        snprintf(mine.text, sizeof mine.text, "%.*s", (int)sizeof mine.text - 1, rs_error_slot()->text);
    int gathered = rs_bootstrap_allgather(bootstrap, &mine, sizeof mine, all);
    if (rc == 0) rc = gathered;
    for (int pe = 0; rc == 0 && pe < job->n_pes; pe++) {
        if (all[pe].status < 0)
            rc = rs_fail_pe(all[pe].status, pe, "PE %d could not start: %s", pe, all[pe].text);
        else if (rs_job_local(job, pe) >= 0 && all[pe].has_fd != all[job->my_pe].has_fd)
            rc =
                rs_fail_pe(RS_E_DEVICE, pe,
                           "PE %d shares its window in another way than PE %d; set ROCSHMEM_HEAP_SHARING=ipc",
                           pe, job->my_pe);
    }
    if (rc == 0) rc = open_others(job, all, listener, fd, windows, bootstrap->deadline_ns);
    if (listener >= 0) close(listener);
    if (fd >= 0) close(fd);
    free(all);
    return rc;
}
