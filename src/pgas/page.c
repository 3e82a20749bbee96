/* SPDX-License-Identifier: MIT
 *
 * Whoever wishes a page tells it to all hosts (DUMP). Each host's first PE then asks the PEs of its host, on the board,
 * and sends what they answered to host 0, a thread a piece (SEEN). Host 0 puts all of it together, prints one page on its
 * stderr, and tells all that it is there (PAGED), which ends the wishes of every host. Wishes that come meanwhile are of the
 * same page; one that comes when a page is not due ends at once.
 *
 * A host that says nothing within PATIENCE_NS, or was lost, is printed as one that has not answered. When it is host 0 that
 * is lost, each host prints a page of its own (rs_page_wish does that for the PE that waits).
 */
#include "pgas/page.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "observe/dump.h"
#include "observe/gather.h"
#include "pgas/job.h"

#define PATIENCE_NS 1000000000u
#define BESIDE 64 /* threads beside one for each PE that a host tells of */
#define A_TURN 32 /* pieces that are sent in one turn: the queue of a line is limited */

struct wish {
    int32_t reason, pe;
};
struct piece {
    uint32_t round; /* which of its pages the sender means */
    int32_t index, n;
    int32_t reserved;
    struct rs_seen seen;
};
_Static_assert(sizeof(struct piece) <= RS_NEWS_NBYTES, "a thread fits a piece of news");

/* What host 0 has of another host. */
struct part {
    uint32_t round;
    int n, got;           /* n 0: nothing yet */
    bool lost, ended;     /* ended: its first PE has */
    struct rs_seen *seen; /* owned, n */
};

enum stage { REST, GATHERS, SENDS, COLLECTS };
struct rs_pages {
    enum stage stage;
    struct wish wish;       /* what the page is for */
    uint32_t wished;        /* of the board's wishes: those that were looked at */
    uint32_t round, n_done; /* pages begun here; pages that ended */
    struct rs_gather gather;
    unsigned char *states; /* owned, n_local */
    struct rs_seen *mine;  /* owned, of this host */
    int n_mine, n_sent;
    uint64_t deadline_ns;
    int n_hosts;
    struct part *parts; /* owned, n_hosts; on host 0 */
};

struct rs_pages *rs_pages_create(int n_hosts)
{
    struct rs_pages *pages = calloc(1, sizeof *pages);
    if (pages) pages->n_hosts = n_hosts;
    return pages;
}

void rs_pages_destroy(struct rs_pages *pages)
{
    if (!pages) return;
    for (int host = 0; pages->parts && host < pages->n_hosts; host++) free(pages->parts[host].seen);
    free(pages->states);
    free(pages->mine);
    free(pages->parts);
    free(pages);
}

uint32_t rs_pages_n_done(const struct rs_pages *pages)
{
    return pages->n_done;
}

/* ---- the end of a page ---- */

/* Whatever was wished until now is through. */
static void end(struct rs_pages *pages, const struct rs_job *job, bool printed)
{
    struct rs_page *page = job->board.page;
    if (printed) atomic_store_explicit(&page->printed_ns, rs_os_now_ns(), memory_order_relaxed);
    pages->stage = REST;
    pages->n_done++;
    pages->wished = atomic_load_explicit(&page->wished, memory_order_acquire);
    atomic_store_explicit(&page->done, pages->wished, memory_order_release);
}

static void end_for_all(struct rs_pages *pages, struct rs_job *job, struct rs_vigil *vigil, bool printed)
{
    int32_t did = printed;
    rs_vigil_tell(vigil, RS_NEWS_PAGED, &did, sizeof did);
    end(pages, job, printed);
}

void rs_pages_abandon(struct rs_pages *pages, struct rs_job *job)
{
    end(pages, job, true);
}

/* ---- this host's part ---- */

static bool has_memory(struct rs_pages *pages, const struct rs_job *job)
{
    size_t n = (size_t)job->n_local;
    if (!pages->states) pages->states = calloc(n, 1);
    if (!pages->mine) pages->mine = calloc(n + BESIDE, sizeof *pages->mine);
    if (!pages->parts && job->hosts.mine == 0)
        pages->parts = calloc((size_t)job->hosts.n, sizeof *pages->parts);
    return pages->states && pages->mine && (pages->parts || job->hosts.mine != 0);
}

static void begin(struct rs_pages *pages, const struct rs_job *job, const struct wish *wish)
{
    if (pages->stage != REST || !has_memory(pages, job)) return;
    pages->wish = *wish;
    pages->stage = GATHERS;
    pages->round++;
    pages->deadline_ns = rs_os_now_ns() + PATIENCE_NS;
    for (int host = 0; pages->parts && host < job->hosts.n; host++) {
        free(pages->parts[host].seen);
        pages->parts[host] =
            (struct part){.lost = pages->parts[host].lost, .ended = pages->parts[host].ended};
    }
    if (!rs_page_is_coming(
            &job->board)) { /* wished on another host: those here who wait for it see it coming */
        uint32_t before = atomic_fetch_add_explicit(&job->board.page->wished, 1, memory_order_relaxed);
        if (before == pages->wished) pages->wished++;
    }
    rs_gather_begin(&pages->gather, &job->board, pages->states);
}

/* A page is wished: on host 0 by whomever. */
static void wish(struct rs_pages *pages, struct rs_job *job, struct rs_vigil *vigil, const struct wish *what)
{
    bool due = job->hosts.mine != 0 || /* host 0 says whether it is */
               rs_page_is_due(&job->board, (enum rs_page_reason)what->reason, rs_os_now_ns());
    if (due)
        begin(pages, job, what);
    else if (pages->stage == REST)
        end_for_all(pages, job, vigil, false);
}

static void send_some(struct rs_pages *pages, struct rs_vigil *vigil)
{
    for (int k = 0; k < A_TURN && pages->n_sent < pages->n_mine; k++, pages->n_sent++) {
        struct piece piece = {.round = pages->round, .index = pages->n_sent, .n = pages->n_mine};
        piece.seen = pages->mine[pages->n_sent];
        rs_vigil_tell(vigil, RS_NEWS_SEEN, &piece, sizeof piece);
    }
    if (pages->n_sent == pages->n_mine) pages->stage = REST; /* PAGED comes */
}

/* ---- host 0 puts it together ---- */

static void take(struct rs_pages *pages, const struct rs_job *job, const struct rs_news *news)
{
    struct piece piece;
    if (news->nbytes != sizeof piece || !pages->parts || pages->stage == REST) return;
    memcpy(&piece, news->bytes, sizeof piece);
    struct part *part = &pages->parts[news->host];
    if (piece.n < 1 || piece.n > job->n_pes + BESIDE || piece.index < 0 || piece.index >= piece.n) return;
    if (part->n == 0 || part->round != piece.round) {
        free(part->seen);
        *part = (struct part){.round = piece.round, .n = piece.n, .lost = part->lost, .ended = part->ended};
        part->seen = calloc((size_t)piece.n, sizeof *part->seen);
        if (!part->seen) part->n = 0;
    }
    if (piece.n != part->n || piece.index != part->got) return;
    rs_seen_end(&piece.seen);
    part->seen[part->got++] = piece.seen;
}

static bool is_whole(const struct part *part)
{
    return part->n > 0 && part->got == part->n;
}

static bool all_came(const struct rs_pages *pages, const struct rs_job *job)
{
    for (int host = 1; host < job->hosts.n; host++)
        if (!is_whole(&pages->parts[host]) && !pages->parts[host].lost) return false;
    return true;
}

static int by_pe(const void *a, const void *b)
{
    const struct rs_seen *left = a, *right = b;
    if (left->pe != right->pe) return left->pe < right->pe ? -1 : 1;
    return (int)right->first - (int)left->first;
}

/* Everything in one array; how many hosts are silent. */
static int put_together(const struct rs_pages *pages, const struct rs_job *job, struct rs_seen *all,
                        int *n_out)
{
    int n = pages->n_mine, n_silent = 0;
    memcpy(all, pages->mine, (size_t)n * sizeof *all);
    for (int host = 1; host < job->hosts.n; host++) {
        const struct part *part = &pages->parts[host];
        if (is_whole(part)) {
            memcpy(all + n, part->seen, (size_t)part->n * sizeof *all);
            n += part->n;
            continue;
        }
        n_silent++;
        for (int pe = 0; pe < job->n_pes; pe++)
            if (job->hosts.where[pe].host == host)
                all[n++] = (struct rs_seen){
                    .pe = pe,
                    .first = 1,
                    .state = part->ended && pe == job->hosts.first[host] ? RS_SEEN_DEAD : RS_SEEN_SILENT};
    }
    qsort(all, (size_t)n, sizeof *all, by_pe);
    *n_out = n;
    return n_silent;
}

static bool print(const struct rs_pages *pages, const struct rs_job *job)
{
    size_t most = (size_t)pages->n_mine + (size_t)job->n_pes;
    for (int host = 1; host < job->hosts.n; host++) most += (size_t)pages->parts[host].n;
    struct rs_seen *all = calloc(most, sizeof *all);
    unsigned char *marks = calloc(most, 1);
    int n = 0;
    if (all && marks) {
        int n_silent = put_together(pages, job, all, &n);
        rs_page_print(STDERR_FILENO, &job->board, all, n, job->hosts.n, n_silent,
                      (enum rs_page_reason)pages->wish.reason, pages->wish.pe, marks);
    }
    bool done = all && marks;
    free(all);
    free(marks);
    return done;
}

/* ---- turns ---- */

static void go_on(struct rs_pages *pages, struct rs_job *job, struct rs_vigil *vigil)
{
    if (pages->stage == GATHERS && rs_gather_ready(&pages->gather)) {
        pages->n_mine = rs_gather_collect(&pages->gather, pages->mine, job->n_local + BESIDE);
        pages->n_sent = 0;
        pages->stage = job->hosts.mine == 0 ? COLLECTS : SENDS;
    }
    if (pages->stage == SENDS) send_some(pages, vigil);
    if (pages->stage == COLLECTS && (all_came(pages, job) || rs_os_now_ns() > pages->deadline_ns))
        end_for_all(pages, job, vigil, print(pages, job));
}

void rs_pages_look(struct rs_pages *pages, struct rs_job *job, struct rs_vigil *vigil)
{
    struct rs_page *page = job->board.page;
    uint32_t wished = atomic_load_explicit(&page->wished, memory_order_acquire);
    if (wished != pages->wished) {
        struct wish what = {(int32_t)atomic_load_explicit(&page->reason, memory_order_relaxed),
                            (int32_t)atomic_load_explicit(&page->reason_pe, memory_order_relaxed)};
        pages->wished = wished;
        bool due = rs_page_is_due(&job->board, (enum rs_page_reason)what.reason, rs_os_now_ns());
        if (!due && pages->stage == REST)
            atomic_store_explicit(&page->done, wished, memory_order_release);
        else if (pages->stage == REST)
            rs_vigil_tell(vigil, RS_NEWS_DUMP, &what, sizeof what);
        if (due) wish(pages, job, vigil, &what);
    }
    go_on(pages, job, vigil);
}

void rs_pages_hear(struct rs_pages *pages, struct rs_job *job, struct rs_vigil *vigil,
                   const struct rs_news *news)
{
    struct wish what;
    if (news->kind == RS_NEWS_SEEN) {
        take(pages, job, news);
    } else if (news->kind == RS_NEWS_PAGED) {
        int32_t printed = 0;
        if (news->nbytes == sizeof printed) memcpy(&printed, news->bytes, sizeof printed);
        end(pages, job, printed != 0);
    } else if (news->nbytes == sizeof what) {
        memcpy(&what, news->bytes, sizeof what);
        wish(pages, job, vigil, &what);
    }
    go_on(pages, job, vigil);
}

void rs_pages_lost(struct rs_pages *pages, struct rs_job *job, struct rs_vigil *vigil,
                   const struct rs_news *lost)
{
    struct wish what = {RS_PAGE_DEAD, job->my_pe};
    if (job->hosts.mine != 0 || !has_memory(pages, job)) return;
    pages->parts[lost->host].lost = true;
    pages->parts[lost->host].ended = lost->ended;
    if (pages->stage == REST && rs_page_is_due(&job->board, RS_PAGE_DEAD, rs_os_now_ns()))
        rs_vigil_tell(vigil, RS_NEWS_DUMP, &what, sizeof what);
    wish(pages, job, vigil, &what);
}
