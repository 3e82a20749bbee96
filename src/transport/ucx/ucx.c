/* SPDX-License-Identifier: MIT
 *
 * The network over UCX: what network.h asks for, by the engine's messages. Every call takes the lock, sends, and gives the
 * lock back; what has to wait polls by the way that all waits of the library go.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "rocshmem/rocshmem.h"
#include "transport/ucx/engine.h"

__attribute__((visibility("default"))) const struct rs_network_ops *rs_network_plugin(uint32_t version);

#define FAIL(network, ...) (network)->host->fail(__VA_ARGS__)

/* ---- waiting ---- */

/* Until *flag is (or is no more) 0; 0 or how the wait ended. */
static int await(struct rs_network *network, const _Atomic int *flag, bool zero)
{
    const struct rs_network_host *host = network->host;
    struct rs_wait wait;
    host->wait_begin(host, &wait);
    while ((atomic_load_explicit(flag, memory_order_acquire) == 0) != zero) {
        int rc = host->wait_pause(&wait);
        if (rc < 0) return rc;
    }
    return 0;
}

/* ---- regions ---- */

static int ucx_expose(struct rs_network *network, uint32_t region, const struct rs_region *memory)
{
    rs_engine_lock(network);
    network->regions[region] = *memory;
    rs_engine_unlock(network);
    return 0;
}

/* ---- transfers ---- */

enum form { BLOCKING, NBI };

/* A blocking one waits until UCX has done with the caller's bytes. They may go on being sent when that wait is given up (the
 * job is broken then): the counter is kept until the network is closed. */
static int put(struct rs_network *network, int pe, struct rs_place dest, const void *source, size_t nbytes,
               const struct rs_signal *signal, enum form form)
{
    struct rs_peer *peer;
    struct rs_sends *sends = NULL;
    static _Atomic int nobody; /* quiet waits for the acknowledgement, which comes after */
    if (form == BLOCKING && nbytes > 0) {
        sends = calloc(1, sizeof *sends);
        if (!sends) return FAIL(network, RS_E_NOMEM, pe, "no memory to put %zu bytes", nbytes);
    }
    rs_engine_lock(network);
    int rc = rs_engine_peer(network, pe, &peer);
    if (rc == 0) rc = rs_engine_put(network, peer, dest, source, nbytes, signal, sends ? &sends->n : &nobody);
    rs_engine_unlock(network);
    if (!sends) return rc;
    int waited = await(network, &sends->n, true);
    if (waited < 0) {
        rs_engine_lock(network);
        sends->next = network->given_up;
        network->given_up = sends;
        rs_engine_unlock(network);
    } else {
        free(sends);
    }
    return rc < 0 ? rc : waited;
}

static int ucx_put(struct rs_network *network, int pe, struct rs_place dest, const void *source,
                   size_t nbytes)
{
    return put(network, pe, dest, source, nbytes, NULL, BLOCKING);
}

static int ucx_put_nbi(struct rs_network *network, int pe, struct rs_place dest, const void *source,
                       size_t nbytes)
{
    return put(network, pe, dest, source, nbytes, NULL, NBI);
}

static int ucx_put_signal(struct rs_network *network, int pe, struct rs_place dest, const void *source,
                          size_t nbytes, struct rs_place word, uint64_t value, int sig_op, bool nbi)
{
    struct rs_signal signal = {.word = word, .value = value, .sig_op = sig_op};
    return put(network, pe, dest, source, nbytes, &signal, nbi ? NBI : BLOCKING);
}

/* Wait for the reply to a request that was sent (rc 0) with this flag; afterwards nothing that comes writes to it, or to
 * where the reply goes, so both may be on the stack. */
static int await_reply(struct rs_network *network, int pe, int rc, _Atomic int *flag, const char *what)
{
    if (rc == 0) {
        rs_engine_poll(network);
        rc = await(network, flag, false);
    }
    if (rc < 0) {
        rs_engine_lock(network);
        rs_engine_forget(network, flag);
        rs_engine_unlock(network);
        return rc;
    }
    int got = atomic_load_explicit(flag, memory_order_acquire);
    return got < 0 ? FAIL(network, got, pe, "PE %d was lost during %s", pe, what) : 0;
}

static int ucx_get(struct rs_network *network, int pe, void *dest, struct rs_place source, size_t nbytes)
{
    struct rs_peer *peer;
    _Atomic int flag = 0;
    if (nbytes == 0) return 0;
    rs_engine_lock(network);
    int rc = rs_engine_peer(network, pe, &peer);
    if (rc == 0) rc = rs_engine_get(network, peer, dest, source, nbytes, NULL, &flag);
    rs_engine_unlock(network);
    return await_reply(network, pe, rc, &flag, "a get from it");
}

static int ucx_get_nbi(struct rs_network *network, int pe, void *dest, struct rs_place source, size_t nbytes)
{
    struct rs_peer *peer;
    if (nbytes == 0) return 0;
    rs_engine_lock(network);
    int rc = rs_engine_peer(network, pe, &peer);
    if (rc == 0) rc = rs_engine_get(network, peer, dest, source, nbytes, NULL, NULL);
    rs_engine_unlock(network);
    return rc;
}

static int ucx_amo(struct rs_network *network, int pe, enum rs_amo_op op, struct rs_place word, size_t width,
                   uint64_t value, uint64_t cond, uint64_t *old_out)
{
    struct rs_peer *peer;
    _Atomic int flag = 0;
    rs_engine_lock(network);
    int rc = rs_engine_peer(network, pe, &peer);
    if (rc == 0)
        rc = rs_engine_amo(network, peer, op, word, width, value, cond, old_out, old_out ? &flag : NULL);
    rs_engine_unlock(network);
    return old_out ? await_reply(network, pe, rc, &flag, "an atomic operation on it") : rc;
}

/* ---- completion ---- */

/* Has everything that was issued been acknowledged, and have the gets come? Under the lock. lost: a peer that never will. */
static bool is_quiet(const struct rs_network *network, int *lost_out)
{
    *lost_out = -1;
    for (const struct rs_peer *peer = network->first; peer; peer = peer->next) {
        if (peer->acked >= peer->issued) continue;
        if (peer->lost) *lost_out = peer->pe;
        return false;
    }
    return network->n_gets == 0;
}

static int ucx_quiet(struct rs_network *network)
{
    const struct rs_network_host *host = network->host;
    struct rs_wait wait;
    bool begun = false;
    for (;;) {
        int lost;
        rs_engine_lock(network);
        bool quiet = is_quiet(network, &lost);
        rs_engine_unlock(network);
        if (quiet) return 0;
        if (lost >= 0)
            return FAIL(network, RS_E_PEER, lost, "PE %d was lost before it had what was put", lost);
        if (!begun) {
            host->wait_begin(host, &wait);
            begun = true;
        }
        int rc = host->wait_pause(&wait);
        if (rc < 0) return rc;
    }
}

static int ucx_begin(struct rs_network *network, int pe, bool is_put, struct rs_place there, void *here,
                     size_t nbytes, struct rs_place word, uint64_t value, int sig_op,
                     void (*done)(void *arg, int status), void *arg)
{
    struct rs_peer *peer;
    static _Atomic int nobody; /* the acknowledgement comes after UCX has done with the bytes */
    struct rs_done *waiting = calloc(1, sizeof *waiting);
    if (!waiting) return FAIL(network, RS_E_NOMEM, pe, "no memory to begin a transfer of %zu bytes", nbytes);
    bool inside = rs_engine_is_inside(network);
    if (!inside) rs_engine_lock(network);
    int rc = rs_engine_peer(network, pe, &peer);
    if (rc == 0 && !is_put) rc = rs_engine_get(network, peer, here, there, nbytes, done, arg);
    struct rs_signal signal = {.word = word, .value = value, .sig_op = sig_op};
    if (rc == 0 && is_put)
        rc = rs_engine_put(network, peer, there, here, nbytes, word.region < RS_REGIONS ? &signal : NULL,
                           &nobody);
    if (rc == 0 && is_put) {
        *waiting = (struct rs_done){.count = peer->issued, .done = done, .arg = arg};
        *peer->waiting_end = waiting;
        peer->waiting_end = &waiting->next;
        waiting = NULL;
    }
    if (!inside) rs_engine_unlock(network);
    free(waiting);
    return rc;
}

/* ---- messages ---- */

/* Inside a callback nothing is sent: it goes when progress returns. */
static int queue_message(struct rs_network *network, int pe, const struct rs_wire *wire, const void *head,
                         const void *body, size_t nbytes)
{
    struct rs_reply *reply = rs_engine_reply(network, pe, wire, nbytes);
    if (!reply) return FAIL(network, RS_E_NOMEM, pe, "no memory for a message of %zu bytes", nbytes);
    memcpy(reply->head, head, wire->head_nbytes);
    if (nbytes) memcpy(reply->body, body, nbytes);
    return 0;
}

static int ucx_send(struct rs_network *network, int pe, const void *head, size_t head_nbytes,
                    const void *body, size_t body_nbytes)
{
    struct rs_peer *peer;
    bool inside = rs_engine_is_inside(network);
    if (head_nbytes > RS_NETWORK_HEAD_NBYTES)
        return FAIL(network, RS_E_BUG, pe, "a message's head has %zu bytes", head_nbytes);
    if (!inside) rs_engine_lock(network);
    int rc = rs_engine_peer(network, pe, &peer);
    size_t at = 0, most = rs_ucx_segment();
    do {
        size_t n = body_nbytes - at < most ? body_nbytes - at : most;
        struct rs_wire wire = {
            .op = RS_WIRE_MESSAGE, .more = at + n < body_nbytes, .head_nbytes = (uint8_t)head_nbytes};
        const char *from = (const char *)body + at;
        if (rc == 0)
            rc = inside ? queue_message(network, pe, &wire, head, from, n)
                        : rs_engine_send(network, peer, &wire, head, from, n, NULL);
        at += n;
    } while (rc == 0 && at < body_nbytes);
    if (!inside) rs_engine_unlock(network);
    return rc;
}

static unsigned ucx_progress(struct rs_network *network)
{
    atomic_store_explicit(&network->n_polls,
                          atomic_load_explicit(&network->n_polls, memory_order_relaxed) + 1,
                          memory_order_relaxed); /* a lost count is no harm: it changed */
    return rs_engine_poll(network);
}

static void ucx_doze(struct rs_network *network, uint64_t ns)
{
    rs_engine_doze(network, ns);
}

static void ucx_describe(struct rs_network *network, char *out, size_t nbytes)
{
    const char *tls = network->host->tls[0] ? network->host->tls : getenv("UCX_TLS");
    snprintf(out, nbytes, "UCX %s, transports %s", rs_ucp.get_version_string(),
             tls ? tls : "all but shared memory");
}

/* ---- life ---- */

static int open_worker(struct rs_network *network)
{
    char why[300];
    if (rs_ucx_library_open(why, sizeof why) < 0)
        return FAIL(network, RS_E_UNSUPPORTED, -1, "no network: %s", why);
    ucp_config_t *config = rs_ucx_configure(network->host->tls, why, sizeof why);
    if (!config) return FAIL(network, RS_E_CONFIG, -1, "no network: %s", why);
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
                           .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
                           .estimated_num_eps = (size_t)network->host->n_pes};
    ucs_status_t status =
        rs_ucp.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &network->context);
    rs_ucp.config_release(config);
    ucp_worker_params_t worker = {.field_mask =
                                      UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_EVENTS,
                                  .thread_mode = UCS_THREAD_MODE_SERIALIZED,
                                  .events = UCP_WAKEUP_RX | UCP_WAKEUP_TX};
    if (status == UCS_OK) status = rs_ucp.worker_create(network->context, &worker, &network->worker);
    if (status == UCS_OK) return 0;
    return FAIL(network, RS_E_SYSTEM, -1, "UCX can't start with %s%s: %s; is there a device that it may use",
                network->host->tls[0] ? "ROCSHMEM_UCX_TLS=" : "its transports", network->host->tls,
                rs_ucp.status_string(status));
}

static void release(struct rs_network *network)
{
    if (network->worker) rs_ucp.worker_destroy(network->worker);
    if (network->context) rs_ucp.cleanup(network->context);
    for (struct rs_peer *peer = network->first, *next; peer; peer = next) {
        next = peer->next;
        for (struct rs_done *waiting = peer->waiting, *after; waiting; waiting = after) {
            after = waiting->next;
            free(waiting);
        }
        free(peer->parts);
        free(peer);
    }
    for (struct rs_sends *sends = network->given_up, *next; sends; sends = next) {
        next = sends->next;
        free(sends);
    }
    free(network->peers);
    free(network->pending);
    pthread_mutex_destroy(&network->lock);
    free(network);
}

static int ucx_open(struct rs_network **network_out, const struct rs_network_host *host)
{
    struct rs_network *network = calloc(1, sizeof *network);
    if (!network) return host->fail(RS_E_NOMEM, -1, "no memory for the network");
    network->host = host;
    network->efd = network->wake_fd = -1;
    network->replies_end = &network->replies;
    pthread_mutex_init(&network->lock, NULL);
    network->peers = calloc((size_t)host->n_pes, sizeof *network->peers);
    rs_ucx_environment_begin();
    int rc = network->peers ? open_worker(network)
                            : host->fail(RS_E_NOMEM, -1, "no memory for %d peers", host->n_pes);
    rs_ucx_environment_end();
    if (rc == 0) rc = rs_engine_start(network);
    if (rc < 0) {
        release(network);
        return rc;
    }
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&network->thread, NULL, rs_engine_run, network);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error) {
        rs_engine_stop(network, false);
        release(network);
        return host->fail(RS_E_SYSTEM, -1, "no thread for the network: %s", strerror(error));
    }
    pthread_setname_np(network->thread, "rocshmem-net");
    network->threaded = true;
    *network_out = network;
    return 0;
}

static int ucx_address(struct rs_network *network, void *out, size_t room, size_t *nbytes_out)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    rs_engine_lock(network);
    ucs_status_t status = rs_ucp.worker_query(network->worker, &attr);
    rs_engine_unlock(network);
    if (status != UCS_OK)
        return FAIL(network, RS_E_SYSTEM, -1, "UCX gives no address: %s", rs_ucp.status_string(status));
    bool fits = attr.address_length <= room;
    if (fits) memcpy(out, attr.address, attr.address_length);
    *nbytes_out = attr.address_length;
    rs_ucp.release_address(network->worker, attr.address);
    return fits ? 0
                : FAIL(network, RS_E_LIMIT, -1,
                       "UCX's address has %zu bytes, more than %zu: too many devices; choose some by "
                       "UCX_NET_DEVICES",
                       *nbytes_out, room);
}

static void ucx_close(struct rs_network *network, bool orderly)
{
    if (!network) return;
    rs_engine_stop(network, orderly);
    release(network);
}

const struct rs_network_ops *rs_network_plugin(uint32_t version)
{
    static const struct rs_network_ops ops = {
        .name = "ucx",
        .open = ucx_open,
        .address = ucx_address,
        .expose = ucx_expose,
        .close = ucx_close,
        .put = ucx_put,
        .get = ucx_get,
        .put_nbi = ucx_put_nbi,
        .get_nbi = ucx_get_nbi,
        .put_signal = ucx_put_signal,
        .amo = ucx_amo,
        .quiet = ucx_quiet,
        .begin = ucx_begin,
        .send = ucx_send,
        .progress = ucx_progress,
        .doze = ucx_doze,
        .describe = ucx_describe,
    };
    return version == RS_NETWORK_VERSION ? &ops : NULL;
}
