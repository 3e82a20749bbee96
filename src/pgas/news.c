/* SPDX-License-Identifier: MIT
 *
 * Between a host's board and the vigil. The vigil's thread looks at the board every 20 ms, whoever waits or does not,
 * and tells the other hosts what is new there: the first record of what broke the job, an exit, a wish for a dump. What
 * other hosts tell, it writes on this board, where every wait of every PE of this host finds it on its slow ticks.
 *
 * The state of a desk belongs to the vigil's thread once that runs, but for told_broken, which others read.
 */
#include "pgas/news.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "base/status.h"
#include "bootstrap/wire.h"
#include "observe/dump.h"
#include "pgas/job.h"
#include "pgas/page.h"
#include "pgas/signals.h"

#define PAGE_NS 1500000000u /* for a page, before who died is told */
#define FLUSH_NS 500000000u /* for the vigil to look, and to send */

/* What travels when the job is broken: struct rs_abort's fields. */
struct broken {
    int32_t status, pe;
    char op[64], text[896];
};
_Static_assert(sizeof(struct broken) <= RS_NEWS_NBYTES, "fits a piece of news");

struct rs_news_desk {
    struct rs_vigil *vigil;
    unsigned char address[RS_VIGIL_ADDRESS_NBYTES]; /* PE 0's */
    bool has_address;
    /* Or heard: not to be told again. W: the vigil's thread. R: it, and rs_news_flush, which sends after it: release,
     * acquire. */
    atomic_bool told_broken;
    bool told_exit;
    struct rs_pages *pages; /* owned */
    /* Somebody died: that is told when the page is through that was wished for then, or it is too late. */
    uint64_t until_ns; /* 0: nobody */
    uint32_t n_pages;
    bool has_lost; /* of a host; else of a PE of this one, which the board says */
    struct broken lost;
};

/* ---- what this host tells ---- */

static void tell_broken(struct rs_job *job, struct rs_news_desk *desk)
{
    const struct rs_abort *record = job->board.abort;
    if (atomic_load_explicit(&record->state, memory_order_acquire) != 2) return;
    struct broken broken = {.status = record->status, .pe = record->pe};
    memcpy(broken.op, record->op, sizeof broken.op);
    memcpy(broken.text, record->text, sizeof broken.text);
    rs_vigil_tell(desk->vigil, RS_NEWS_BROKEN, &broken, sizeof broken);
    atomic_store_explicit(&desk->told_broken, true, memory_order_release);
}

static void tell_exit(struct rs_job *job, struct rs_news_desk *desk)
{
    int32_t status = atomic_load_explicit(&job->board.exit->status, memory_order_relaxed);
    desk->told_exit = true;
    rs_vigil_tell(desk->vigil, RS_NEWS_EXIT, &status, sizeof status);
}

/* ---- a page before that ---- */

/* Once somebody has died: is there the page of it, with the PEs still where they were? Begins to wait for it. */
static bool page_is_through(struct rs_news_desk *desk)
{
    uint64_t now = rs_os_now_ns();
    if (!desk->until_ns) {
        desk->until_ns = now + PAGE_NS;
        desk->n_pages = rs_pages_n_done(desk->pages);
    }
    return now > desk->until_ns || rs_pages_n_done(desk->pages) != desk->n_pages;
}

static bool before_death(const struct rs_board *board)
{
    struct rs_job *job = (struct rs_job *)((char *)(uintptr_t)board - offsetof(struct rs_job, board));
    struct rs_news_desk *desk = job->news;
    if (!desk->until_ns) rs_page_wish(board, RS_PAGE_DEAD, false);
    return !rs_page_is_due(board, RS_PAGE_DEAD, rs_os_now_ns()) || page_is_through(desk);
}

static void look(void *arg)
{
    struct rs_job *job = arg;
    struct rs_news_desk *desk = job->news;
    if (!job->board.abort) return; /* init failed before there was a board */
    struct rs_exit *exit = job->board.exit;
    if (desk->told_exit) { /* the turn since then has sent it */
        atomic_store_explicit(&exit->told, 1, memory_order_release);
        return;
    }
    if (atomic_load_explicit(&exit->state, memory_order_acquire) == 2) {
        tell_exit(job, desk);
        return;
    }
    if (desk->has_lost && page_is_through(desk)) {
        desk->has_lost = false;
        atomic_store_explicit(&desk->told_broken, true, memory_order_release); /* all have lost it */
        rs_board_abort(&job->board, desk->lost.status, desk->lost.pe, desk->lost.op, desk->lost.text);
    }
    if (rs_board_look(&job->board, rs_os_now_ns(), before_death) < 0) rs_error_clear();
    if (!desk->told_broken && rs_board_is_broken(&job->board)) tell_broken(job, desk);
    rs_pages_look(desk->pages, job, desk->vigil);
}

/* ---- what it hears ---- */

/* "PE 3", "PEs 4-7". */
static void name_pes(const struct rs_job *job, int host, char *out, size_t nbytes)
{
    bool *has = calloc((size_t)job->n_pes, sizeof *has);
    char list[160] = "";
    int n = 0;
    for (int pe = 0; has && pe < job->n_pes; pe++) has[pe] = job->hosts.where[pe].host == host;
    if (has) n = rs_wire_ranks_text(list, sizeof list, has, true, job->n_pes);
    free(has);
    if (n == 0) snprintf(list, sizeof list, "%d", job->hosts.first[host]);
    char *of = strstr(list, " of ");
    if (of) *of = '\0';
    snprintf(out, nbytes, "PE%s %s", n == 1 ? "" : "s", list);
}

static void hear_lost(struct rs_job *job, const struct rs_news *news)
{
    struct rs_news_desk *desk = job->news;
    char text[640], pes[200];
    int first = job->hosts.first[news->host];
    const char *name = rs_job_host_name(job, first);
    name_pes(job, news->host, pes, sizeof pes);
    if (news->ended)
        snprintf(text, sizeof text,
                 "host %s with %s is lost: its PE %d died or exited without rocshmem_finalize; see its own "
                 "output for the cause",
                 name, pes, first);
    else
        snprintf(text, sizeof text,
                 "host %s with %s is lost: it %s; it is down, frozen or cut off from the network "
                 "(ROCSHMEM_PEER_TIMEOUT sets how long that may last)",
                 name, pes, news->text);
    if (desk->has_lost || rs_board_is_broken(&job->board)) return; /* the first one counts */
    desk->lost = (struct broken){.status = RS_E_PEER, .pe = first, .op = "host"};
    memcpy(desk->lost.text, text, sizeof text);
    desk->has_lost = true;
    if (news->host == 0) { /* who would print one for all */
        if (rs_page_is_due(&job->board, RS_PAGE_DEAD, rs_os_now_ns()))
            rs_dump_state(&job->board, STDERR_FILENO, RS_PAGE_DEAD);
        rs_pages_abandon(desk->pages, job);
    }
    if (news->host == 0 || !rs_page_is_due(&job->board, RS_PAGE_DEAD, rs_os_now_ns()))
        desk->until_ns = 1; /* no page comes */
    (void)page_is_through(desk);
    rs_pages_lost(desk->pages, job, desk->vigil, news);
}

static void hear_broken(struct rs_job *job, const struct rs_news *news)
{
    struct broken broken;
    if (news->nbytes != sizeof broken) return;
    memcpy(&broken, news->bytes, sizeof broken);
    broken.op[sizeof broken.op - 1] = broken.text[sizeof broken.text - 1] = '\0';
    rs_board_abort(&job->board, broken.status, broken.pe, broken.op, broken.text);
}

static void hear_exit(struct rs_job *job, const struct rs_news *news)
{
    int32_t status;
    if (news->nbytes != sizeof status) return;
    memcpy(&status, news->bytes, sizeof status);
    atomic_store_explicit(&job->board.exit->told, 1, memory_order_release);
    rs_signals_exit_all(&job->board, status, job->config.run_socket);
}

static void hear(void *arg, const struct rs_news *news)
{
    struct rs_job *job = arg;
    struct rs_news_desk *desk = job->news;
    if (!job->board.abort || news->host < 0 || news->host >= job->hosts.n) return;
    if (news->kind == RS_NEWS_DUMP || news->kind == RS_NEWS_SEEN || news->kind == RS_NEWS_PAGED) {
        rs_pages_hear(desk->pages, job, desk->vigil, news);
    } else if (news->kind == RS_NEWS_EXIT) {
        hear_exit(job, news);
    } else if (news->kind == RS_NEWS_LOST) {
        hear_lost(job, news);
    } else {
        atomic_store_explicit(&desk->told_broken, true, memory_order_release);
        hear_broken(job, news);
    }
}

/* ---- for job.c ---- */

int rs_news_open(struct rs_job *job, unsigned char address_out[RS_VIGIL_ADDRESS_NBYTES])
{
    memset(address_out, 0, RS_VIGIL_ADDRESS_NBYTES);
    if (job->hosts.n == 1 || job->my_local != 0) return 0;
    struct rs_news_desk *desk = calloc(1, sizeof *desk);
    if (!desk) return rs_fail(RS_E_NOMEM, "no memory for news of other hosts");
    desk->pages = rs_pages_create(job->hosts.n);
    int rc = desk->pages ? rs_vigil_listen(&job->config, job->my_pe == 0, &desk->vigil, address_out)
                         : rs_fail(RS_E_NOMEM, "no memory for news of other hosts");
    if (rc == 0) {
        job->news = desk;
        return 0;
    }
    rs_pages_destroy(desk->pages);
    free(desk);
    return rc;
}

void rs_news_address(struct rs_job *job, const unsigned char address[RS_VIGIL_ADDRESS_NBYTES])
{
    if (!job->news) return;
    memcpy(job->news->address, address, RS_VIGIL_ADDRESS_NBYTES);
    job->news->has_address = true;
}

int rs_news_start(struct rs_job *job, const struct rs_bootstrap *bootstrap, uint64_t nonce, int rc)
{
    struct rs_news_desk *desk = job->news;
    if (!desk || !desk->has_address) return rc;
    struct rs_vigil_options options = {.host = job->hosts.mine,
                                       .n_hosts = job->hosts.n,
                                       .job = nonce,
                                       .key = {bootstrap->key[0], bootstrap->key[1]},
                                       .timeout_ns = job->config.peer_timeout_ns,
                                       .address = desk->address,
                                       .deadline_ns = bootstrap->deadline_ns,
                                       .bootstrap = bootstrap->socket,
                                       .news = hear,
                                       .look = look,
                                       .arg = job};
    if (rc < 0) { /* the first failure is the one to be told */
        rocshmemx_error_t why = *rs_error_slot();
        (void)rs_vigil_start(desk->vigil, &options);
        *rs_error_slot() = why;
        return rc;
    }
    RS_TRY(rs_vigil_start(desk->vigil, &options));
    atomic_store_explicit(&job->board.exit->watched, 1, memory_order_release);
    return 0;
}

void rs_news_flush(struct rs_job *job)
{
    struct rs_news_desk *desk = job->news;
    uint64_t deadline_ns = rs_os_now_ns() + FLUSH_NS;
    if (!desk || !rs_board_is_broken(&job->board)) return;
    while (!atomic_load_explicit(&desk->told_broken, memory_order_acquire)) {
        if (rs_os_now_ns() > deadline_ns) return;
        rs_wait_sleep_ns(100000);
    }
    (void)rs_vigil_flush(desk->vigil, deadline_ns);
}

void rs_news_close(struct rs_job *job)
{
    struct rs_news_desk *desk = job->news;
    if (!desk) return;
    if (job->board.abort) atomic_store_explicit(&job->board.exit->watched, 0, memory_order_release);
    rs_vigil_stop(desk->vigil);
    rs_pages_destroy(desk->pages);
    free(desk);
    job->news = NULL;
}
