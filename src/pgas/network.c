/* SPDX-License-Identifier: MIT
 *
 * Starts the network and tells all PEs each other's addresses; puts what comes into the job's mail; breaks the job when
 * a peer is lost.
 */
#include "pgas/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/os.h"
#include "base/status.h"
#include "observe/dump.h"
#include "pgas/collective.h"
#include "pgas/job.h"
#include "pgas/question.h"
#include "transport/proxy.h"

#define GRACE_PAGE_NS 2500000000u
#define GRACE_NS 500000000u /* how long the network's word about a peer waits for a better one */

/* All PEs' addresses, one behind the other; those of this host's are left out. */
struct rs_addresses {
    uint32_t *at; /* owned, n_pes + 1 */
    unsigned char *bytes;
};

/* What each PE tells. */
struct card {
    int32_t status;
    uint32_t nbytes;
    unsigned char news[RS_VIGIL_ADDRESS_NBYTES]; /* PE 0's: where the hosts watch each other */
    union {
        unsigned char address[RS_NETWORK_ADDRESS_NBYTES];
        char text[RS_NETWORK_ADDRESS_NBYTES]; /* of a failure */
    };
};

/* ---- what the network calls ---- */

static const void *address_of(void *arg, int pe, size_t *nbytes_out)
{
    const struct rs_job *job = arg;
    const struct rs_addresses *addresses = job->addresses;
    if (!addresses || addresses->at[pe + 1] == addresses->at[pe]) {
        rs_fail_pe(RS_E_BUG, pe, "PE %d has no address on the network", pe);
        return NULL;
    }
    *nbytes_out = addresses->at[pe + 1] - addresses->at[pe];
    return addresses->bytes + addresses->at[pe];
}

static void receive(void *arg, int from, const void *head, size_t head_nbytes, const void *body,
                    size_t body_nbytes)
{
    struct rs_job *job = arg;
    struct rs_letter_head letter;
    if (head_nbytes != sizeof letter) {
        rs_log(RS_LOG_WARN, "PE %d sent a message of another version of this library; it is dropped", from);
        return;
    }
    memcpy(&letter, head, sizeof letter);
    letter.key.from = from;
    if (letter.key.kind == RS_LETTER_ASK)
        rs_question_answer(job, &letter);
    else if (rs_mail_put(&job->mail, &letter, body, body_nbytes) <
             0) /* who waits for it would wait for ever */
        rs_board_abort(&job->board, RS_E_NOMEM, job->my_pe, "message", rs_error_slot()->text);
}

/* The network says that a peer can't be reached. That may be a PE which left because another one had died, so this is
 * only a suspicion: the hosts' own watch names who died within milliseconds. When it does not, who waits here does. The
 * first one counts. */
static void suspect(struct rs_job *job, int pe, const char *text)
{
    struct rs_suspicion *suspicion = &job->suspicion;
    uint32_t none = 0;
    if (!atomic_compare_exchange_strong_explicit(&suspicion->state, &none, 1, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    suspicion->pe = pe;
    suspicion->since_ns = rs_os_now_ns();
    snprintf(suspicion->text, sizeof suspicion->text, "%s", text);
    atomic_store_explicit(&suspicion->state, 2, memory_order_release);
}

static void lost(void *arg, int pe, const char *why)
{
    struct rs_job *job = arg;
    char text[384];
    snprintf(
        text, sizeof text,
        "PE %d on host %s can't be reached any more: %s; it died, or the network between the hosts is down",
        pe, rs_job_host_name(job, pe), why);
    suspect(job, pe, text);
}

static void broken(void *arg, int status, int pe, const char *text)
{
    struct rs_job *job = arg;
    if (status == RS_E_PEER)
        suspect(job, pe, text);
    else
        rs_board_abort(&job->board, status, pe, "stream", text);
}

/* Who has better word of a peer's death first has a page printed. */
static uint64_t grace_ns(const struct rs_job *job)
{
    if (!job->board.page) return GRACE_NS;
    uint64_t printed_ns = atomic_load_explicit(&job->board.page->printed_ns, memory_order_relaxed);
    bool just = printed_ns && rs_os_now_ns() - printed_ns < GRACE_NS; /* and then tells */
    return just || rs_page_is_coming(&job->board) ? GRACE_PAGE_NS : GRACE_NS;
}

int rs_network_tick(struct rs_job *job, uint64_t now_ns)
{
    const struct rs_suspicion *suspicion = &job->suspicion;
    if (atomic_load_explicit(&suspicion->state, memory_order_acquire) != 2) return 0;
    if (!job->board.abort || now_ns - suspicion->since_ns < grace_ns(job)) return 0;
    rs_board_abort(&job->board, RS_E_PEER, suspicion->pe, "network", suspicion->text);
    return rs_board_broken(&job->board);
}

void rs_network_verdict(struct rs_job *job)
{
    rocshmemx_error_t error = *rs_error_slot();
    if (!job->net || error.status != RS_E_PEER) return;
    uint64_t began_ns = rs_os_now_ns(), now;
    while (!rs_board_is_broken(&job->board) && (now = rs_os_now_ns()) - began_ns < grace_ns(job)) {
        rs_wait_sleep_ns(1000000);
        (void)rs_board_look(&job->board, now, NULL);
    }
    rs_board_abort(&job->board, RS_E_PEER, error.pe, "network", error.text);
    (void)rs_board_broken(&job->board);
    if (rs_error_slot()->pe == error.pe) *rs_error_slot() = error; /* which also says what was waited for */
}

/* ---- start ---- */

static int open_it(struct rs_job *job, struct card *mine)
{
    struct rs_net_options options = {.my_pe = job->my_pe,
                                     .n_pes = job->n_pes,
                                     .device = &job->device,
                                     .watch = &job->watch,
                                     .config = &job->config,
                                     .address_of = address_of,
                                     .receive = receive,
                                     .lost = lost,
                                     .arg = job};
    size_t nbytes = 0;
    RS_TRY(rs_questions_create(&job->asked));
    RS_TRY(rs_net_open(&job->net, &options));
    RS_TRY(job->net->ops->address(job->net->network, mine->address, sizeof mine->address, &nbytes));
    mine->nbytes = (uint32_t)nbytes;
    return 0;
}

static int keep_addresses(struct rs_job *job, const struct card *cards)
{
    struct rs_addresses *addresses = calloc(1, sizeof *addresses);
    size_t nbytes = 0;
    for (int pe = 0; pe < job->n_pes; pe++) nbytes += rs_job_local(job, pe) < 0 ? cards[pe].nbytes : 0;
    job->addresses = addresses;
    if (addresses) {
        addresses->at = calloc((size_t)job->n_pes + 1, sizeof *addresses->at);
        addresses->bytes = malloc(nbytes + 1);
    }
    if (!addresses || !addresses->at || !addresses->bytes)
        return rs_fail(RS_E_NOMEM, "no memory for the addresses of %d PEs", job->n_pes);
    for (int pe = 0; pe < job->n_pes; pe++) {
        uint32_t n = rs_job_local(job, pe) < 0 ? cards[pe].nbytes : 0, at = addresses->at[pe];
        if (n) memcpy(addresses->bytes + at, cards[pe].address, n);
        addresses->at[pe + 1] = at + n;
    }
    return 0;
}

static unsigned progress(void *arg)
{
    const struct rs_job *job = arg;
    return job->net->ops->progress(job->net->network);
}

static void doze(void *arg, uint64_t ns)
{
    const struct rs_job *job = arg;
    job->net->ops->doze(job->net->network, ns);
}

int rs_network_start(struct rs_job *job, struct rs_bootstrap *bootstrap, int rc)
{
    bool asked = strcasecmp(job->config.transport, "ucx") == 0;
    if (job->hosts.n == 1 && !asked) return rc;
    struct card mine = {0}, *cards = calloc((size_t)job->n_pes, sizeof *cards);
    if (!cards) return rs_fail(RS_E_NOMEM, "no memory for the addresses of %d PEs", job->n_pes);
    if (rc == 0) rc = open_it(job, &mine);
    if (rc == 0) rc = rs_news_open(job, mine.news);
    mine.status = rc;
    if (rc < 0)
        snprintf(mine.text, sizeof mine.text, "%.*s", (int)sizeof mine.text - 1, rs_error_slot()->text);
    int gathered = rs_bootstrap_allgather(bootstrap, &mine, sizeof mine, cards);
    if (rc == 0) rc = gathered;
    for (int pe = 0; rc == 0 && pe < job->n_pes; pe++) {
        if (cards[pe].status < 0)
            rc = rs_fail_pe(cards[pe].status, pe, "PE %d could not start: %.*s", pe,
                            (int)sizeof cards[pe].text - 1, cards[pe].text);
        else if (cards[pe].nbytes == 0 || cards[pe].nbytes > sizeof cards[pe].address)
            rc = rs_fail_pe(RS_E_BOOTSTRAP, pe, "PE %d gave no address on the network", pe);
    }
    if (gathered == 0) rs_news_address(job, cards[0].news);
    if (rc == 0) rc = keep_addresses(job, cards);
    if (rc == 0) {
        char text[160] = "";
        job->net->ops->describe(job->net->network, text, sizeof text);
        rs_log(RS_LOG_INFO, "host %d of %d (%s), network %s, an address of %u bytes", job->hosts.mine,
               job->hosts.n, rs_job_host_name(job, job->my_pe), text, mine.nbytes);
        job->watch.progress = progress;
        job->watch.doze = doze;
    }
    free(cards);
    return rc;
}

int rs_network_expose(struct rs_job *job)
{
    const struct rs_windows *windows = &job->heap.window->windows;
    bool cpu = job->device.ops->cpu_reaches_heap;
    RS_TRY(rs_net_expose(job->net, RS_REGION_WINDOW, windows->base[job->my_local], windows->nbytes, cpu));
    if (job->data.nbytes)
        RS_TRY(rs_net_expose(job->net, RS_REGION_DATA, job->data.base, job->data.nbytes, true));
    return rs_proxy_open(&job->net->proxy, &job->device, job->net->network, job->net->ops, broken, job);
}

void rs_network_end(struct rs_job *job)
{
    if (!job->net) return;
    job->watch.progress = NULL;
    job->watch.doze = NULL;
    job->proxy = job->net->proxy;
    rs_proxy_stop(job->proxy);
    rs_net_close(job->net, job->built && !rs_board_is_broken(&job->board));
    job->net = NULL;
}

void rs_network_free(struct rs_job *job)
{
    rs_proxy_close(job->proxy);
    job->proxy = NULL;
    rs_questions_destroy(job->asked);
    job->asked = NULL;
    if (!job->addresses) return;
    free(job->addresses->at);
    free(job->addresses->bytes);
    free(job->addresses);
    job->addresses = NULL;
}

/* ---- logs of dropped blocks ---- */

enum { OFFSETS = RS_INLINE_NBYTES / sizeof(uint64_t) };

/* Entries of all logs, OFFSETS a round; all PEs know from the counts how many rounds. */
static int exchange_logs(struct rs_job *job, const struct rs_signature *signature, const struct rs_drops *all,
                         uint64_t rounds, uint64_t **far)
{
    struct rs_signature phase = *signature;
    phase.kind = RS_KIND_PHASE;
    uint64_t *got = malloc((size_t)job->n_pes * OFFSETS * sizeof *got);
    int rc = got ? 0 : rs_fail(RS_E_NOMEM, "no memory for the freed blocks of %d PEs", job->n_pes);
    for (int pe = 0; rc == 0 && pe < job->n_pes; pe++) {
        uint64_t n = rs_heap_new_drops(&job->heap, pe, all);
        if (n < 2 || rs_job_local(job, pe) >= 0) continue;
        far[pe] = malloc(n * sizeof **far);
        if (!far[pe]) rc = rs_fail(RS_E_NOMEM, "no memory for %llu freed blocks", (unsigned long long)n);
    }
    /* Without memory this PE can't go on; the others, who wait for it, hear of that. */
    if (rc < 0) rs_board_abort(&job->board, rc, job->my_pe, "heap", rs_error_slot()->text);
    for (uint64_t round = 0; rc == 0 && round < rounds; round++) {
        uint64_t mine[OFFSETS] = {0}, first = round * OFFSETS;
        uint64_t n_mine = rs_heap_new_drops(&job->heap, job->my_pe, all);
        for (uint64_t k = 0; k < OFFSETS && n_mine > 1 && first + k < n_mine; k++)
            mine[k] = rs_heap_my_drop(&job->heap, first + k);
        rc = rs_collective_exchange(job->world, &phase, mine, sizeof mine, got);
        for (int pe = 0; rc == 0 && pe < job->n_pes; pe++)
            for (uint64_t k = 0; far[pe] && k < OFFSETS && first + k < rs_heap_new_drops(&job->heap, pe, all);
                 k++)
                far[pe][first + k] = got[(size_t)pe * OFFSETS + k];
    }
    free(got);
    return rc;
}

int rs_network_collect(struct rs_job *job, const struct rs_signature *signature, const struct rs_drops *all)
{
    uint64_t most = 0;
    for (int pe = 0; job->hosts.n > 1 && pe < job->n_pes; pe++) {
        uint64_t n = rs_heap_new_drops(&job->heap, pe, all);
        if (n > most) most = n;
    }
    if (most < 2) return rs_heap_collect(&job->heap, all, NULL);
    uint64_t **far = calloc((size_t)job->n_pes, sizeof *far);
    if (!far) return rs_fail(RS_E_NOMEM, "no memory for the freed blocks of %d PEs", job->n_pes);
    int rc = exchange_logs(job, signature, all, (most + OFFSETS - 1) / OFFSETS, far);
    if (rc == 0) rc = rs_heap_collect(&job->heap, all, far);
    for (int pe = 0; pe < job->n_pes; pe++) free(far[pe]);
    free(far);
    return rc;
}
