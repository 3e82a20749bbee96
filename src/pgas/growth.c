/* SPDX-License-Identifier: MIT
 *
 * Growing the windows. Which block is taken, and which parts of the windows have memory, is the same on all
 * PEs, so each finds by itself that a block has parts without; then all are here, in the same allocation. Each
 * makes memory of its own for the range, all tell how that went, hand their descriptors to each other over the
 * sockets that windows.c knows from init, and tell how that went. When it went badly anywhere, all undo it. A
 * part is never given back before the job ends.
 *
 * A window grows by half of what it has, but by a few MiB at least and some hundred at most: few steps, and
 * little that lies idle where several PEs share a device. When there is not so much left, by what is needed.
 */
#include "pgas/growth.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "base/status.h"
#include "pgas/collective.h"
#include "pgas/job.h"
#include "pgas/windows.h"

#define LEAST ((size_t)16 << 20)
#define MOST ((size_t)256 << 20)
#define DEADLINE_NS 60000000000u

struct news {
    int32_t status, reserved;
    uint64_t nonce;                   /* of the socket's name */
    uint64_t free_nbytes, all_nbytes; /* of the device, when it has not got the memory */
    char text[RS_INLINE_NBYTES - 32];
};
_Static_assert(sizeof(struct news) <= RS_INLINE_NBYTES, "news are exchanged in lines");

static int tell(struct rs_job *job, const struct rs_signature *signature, struct news *mine, int rc,
                struct news *all)
{
    struct rs_signature phase = *signature;
    phase.kind = RS_KIND_PHASE;
    mine->status = rc;
    if (rc < 0)
        snprintf(mine->text, sizeof mine->text, "%.*s", (int)sizeof mine->text - 1, rs_error_slot()->text);
    return rs_collective_exchange(job->world, &phase, mine, sizeof *mine, all);
}

/* The first failure, worded alike on every PE. */
static int first_failure(const struct rs_job *job, const struct news *all, size_t nbytes, size_t asked)
{
    int pe = 0;
    while (pe < job->n_pes && all[pe].status == 0) pe++;
    if (pe == job->n_pes) return 0;
    const struct news *news = &all[pe];
    if (news->status == RS_E_NOMEM && news->all_nbytes)
        return rs_fail_pe(
            RS_E_NOMEM, pe,
            "asked %zu bytes, but the symmetric heap cannot grow by %zu: the GPU of PE %d has %llu of "
            "%llu bytes free; free memory there, or run fewer PEs on it",
            asked, nbytes, pe, (unsigned long long)news->free_nbytes, (unsigned long long)news->all_nbytes);
    return rs_fail_pe(news->status, pe,
                      "asked %zu bytes, but the symmetric heap of PE %d cannot grow by %zu: %s", asked, pe,
                      nbytes, news->text);
}

static int take(const struct rs_handover *handover, int from, int fd)
{
    struct rs_job *job = handover->job;
    return job->device.ops->window_grown(&job->device, &job->heap.window->windows, from, fd);
}

static int hand_over(struct rs_job *job, const struct news *all, int listener, int fd)
{
    uint64_t *nonces = malloc((size_t)job->n_local * sizeof *nonces);
    if (!nonces) return rs_fail(RS_E_NOMEM, "no memory for %d PEs' windows", job->n_local);
    for (int local = 0; local < job->n_local; local++) nonces[local] = all[job->hosts.near[local]].nonce;
    struct rs_handover handover = {
        job, listener, fd, nonces, rs_os_now_ns() + DEADLINE_NS, take, NULL,
    };
    int rc = rs_windows_hand_over(&handover);
    free(nonces);
    return rc;
}

/* One attempt by all PEs: [at, at + nbytes) of every window. *agreed_out: the failure is the same on all, and
 * everything is as before. */
static int grow(struct rs_job *job, const struct rs_signature *signature, size_t at, size_t nbytes,
                size_t asked, bool *agreed_out)
{
    const struct rs_device_ops *ops = job->device.ops;
    struct rs_windows *windows = &job->heap.window->windows;
    struct news mine = {0}, *all = malloc((size_t)job->n_pes * sizeof *all);
    int listener = -1, fd = -1;
    *agreed_out = false;
    if (!all) return rs_fail(RS_E_NOMEM, "no memory to grow the heaps of %d PEs", job->n_pes);
    int rc = ops->window_grow(&job->device, windows, at, nbytes, &fd);
    bool made = rc == 0;
    if (rc == RS_E_NOMEM) {
        rocshmemx_error_t why = *rs_error_slot();
        size_t free_nbytes, all_nbytes;
        if (ops->memory(&job->device, &free_nbytes, &all_nbytes) == 0) {
            mine.free_nbytes = free_nbytes;
            mine.all_nbytes = all_nbytes;
        }
        *rs_error_slot() = why;
    }
    if (rc == 0 && job->n_local > 1) {
        listener = rs_windows_listen(&mine.nonce);
        if (listener < 0) rc = listener;
    }
    int told = tell(job, signature, &mine, rc, all);
    rc = told < 0 ? told : first_failure(job, all, nbytes, asked);
    *agreed_out = told == 0;
    if (rc == 0 && job->n_pes > 1) { /* of other hosts the windows are not opened, but how it went is told */
        if (job->n_local > 1) rc = hand_over(job, all, listener, fd);
        told = tell(job, signature, &mine, rc, all);
        rc = told < 0 ? told : first_failure(job, all, nbytes, asked);
        *agreed_out = told == 0;
    }
    if (rc < 0 && made) ops->window_shrink(&job->device, windows);
    if (listener >= 0) close(listener);
    if (fd >= 0) close(fd);
    free(all);
    return rc;
}

static size_t wish(const struct rs_heap *heap, const struct rs_heap_gap *gap)
{
    size_t nbytes = heap->n_backed * RS_WINDOW_PART / 2 / RS_WINDOW_PART * RS_WINDOW_PART;
    if (nbytes < LEAST) nbytes = LEAST;
    if (nbytes > MOST) nbytes = MOST;
    if (nbytes < gap->nbytes) nbytes = gap->nbytes;
    return nbytes < gap->most_nbytes ? nbytes : gap->most_nbytes;
}

static int cover(struct rs_job *job, const struct rs_signature *signature, const void *ptr, size_t asked,
                 bool *agreed_out)
{
    struct rs_heap_gap gap;
    while (rs_heap_find_gap(&job->heap, ptr, asked, &gap)) {
        uint64_t begin_ns = rs_os_now_ns();
        size_t nbytes = wish(&job->heap, &gap);
        int rc = grow(job, signature, gap.at, nbytes, asked, agreed_out);
        if (rc < 0 && *agreed_out && nbytes > gap.nbytes) {
            nbytes = gap.nbytes;
            rc = grow(job, signature, gap.at, nbytes, asked, agreed_out);
        }
        if (rc < 0) return rc;
        rs_heap_back(&job->heap, gap.at, nbytes);
        rs_log(RS_LOG_INFO, "the symmetric heap grew by %zu bytes at %zu in %.1f ms", nbytes, gap.at,
               (double)(rs_os_now_ns() - begin_ns) * 1e-6);
    }
    return 0;
}

int rs_grow_alloc(struct rs_job *job, const struct rs_signature *signature, size_t nbytes, size_t align,
                  void **ptr_out)
{
    void *ptr = NULL;
    bool agreed = false;
    RS_TRY(rs_heap_alloc(&job->heap, nbytes, align, &ptr));
    int rc = cover(job, signature, ptr, nbytes, &agreed);
    if (rc < 0 && agreed) rs_heap_unalloc(&job->heap, ptr); /* else the job is broken */
    if (rc == 0) *ptr_out = ptr;
    return rc;
}
