/* SPDX-License-Identifier: MIT
 *
 * Calls that differ within one team are found by their hashes (collective.c). Calls of different teams never
 * meet; they are found here, between two PEs of one thread each. Let P await Q in step s of team A, and Q
 * await P in step t of team B. P knows that Q has not posted s: it polls that word. P knows that itself has
 * not posted t: its own sequence of B says so. P's only thread is here, so t can only be posted after s, and
 * Q's only thread is there, so s only after t. What P reads of Q is not stale: Q leaves t only after P posted
 * it. A thread that has not made its first call yet could still break the ring, so it has a second to do
 * that.
 */
#include "pgas/deadlock.h"

#include <stdio.h>

#include "base/status.h"
#include "pgas/job.h"

#define PATIENCE_NS 1000000000u

/* The note of a PE's only thread, or NULL when it has none or several. */
static const struct rs_note *only_note(const struct rs_board *board, int local)
{
    const struct rs_note *notes = board->notes + (size_t)local * RS_NOTES_A_PE, *only = NULL;
    for (int i = 0; i < RS_NOTES_A_PE; i++) {
        if (!atomic_load_explicit(&notes[i].tid, memory_order_relaxed)) continue;
        if (only) return NULL;
        only = &notes[i];
    }
    return only;
}

static void team_name(uint32_t id, char out[16])
{
    if (id == RS_TEAM_ID_WORLD)
        snprintf(out, 16, "world");
    else if (id == RS_TEAM_ID_SHARED)
        snprintf(out, 16, "shared");
    else
        snprintf(out, 16, "%u", id);
}

static int report(struct rs_job *job, const struct rs_note *mine, const struct rs_note *theirs, int peer,
                  uint64_t awaits)
{
    char my_call[64], their_call[64], my_team[16], their_team[16], text[512];
    rs_call_name((uint32_t)atomic_load_explicit(&mine->call, memory_order_relaxed), my_call, sizeof my_call);
    rs_call_name((uint32_t)atomic_load_explicit(&theirs->call, memory_order_relaxed), their_call,
                 sizeof their_call);
    team_name((uint32_t)(atomic_load_explicit(&mine->awaits, memory_order_relaxed) >> 32), my_team);
    team_name((uint32_t)(awaits >> 32), their_team);
    snprintf(text, sizeof text,
             "collective calls differ: PE %d called %s(team %s) and waits for PE %d, which called %s(team "
             "%s) and waits for PE "
             "%d; all members must make the same calls in the same order",
             job->my_pe, my_call, my_team, peer, their_call, their_team, job->my_pe);
    rs_board_abort(&job->board, RS_E_MISMATCH, peer, my_call, text);
    return rs_board_broken(&job->board);
}

int rs_deadlock_look(struct rs_job *job, struct rs_thread *thread, uint64_t waited_ns)
{
    struct rs_note *mine = thread->note;
    atomic_store_explicit(&mine->awaits_step, thread->awaits_step, memory_order_relaxed);
    atomic_store_explicit(&mine->awaits, thread->awaits, memory_order_release);
    if (waited_ns < PATIENCE_NS) return 0;
    int peer = (int)(uint32_t)thread->awaits - 1;
    const struct rs_note *theirs = only_note(&job->board, peer); /* one host: a PE's number is its place */
    if (!theirs || only_note(&job->board, job->my_local) != mine) return 0;
    uint64_t awaits = atomic_load_explicit(&theirs->awaits, memory_order_acquire);
    uint64_t step = atomic_load_explicit(&theirs->awaits_step, memory_order_relaxed);
    if ((uint32_t)awaits != (uint32_t)(job->my_pe + 1) || awaits >> 32 == thread->awaits >> 32) return 0;
    uint32_t id = (uint32_t)(awaits >> 32);
    rocshmem_team_t handle = id == RS_TEAM_ID_WORLD ? ROCSHMEM_TEAM_WORLD : (rocshmem_team_t)(uintptr_t)id;
    struct rs_team *team = rs_team_get(job, handle, "team");
    if (!team) { /* destroyed here: its leaving step was posted */
        rs_error_clear();
        return 0;
    }
    bool posted = team->sequence >= step; /* this thread is the only one that changes it */
    rs_team_put(team);
    return posted ? 0 : report(job, mine, theirs, peer, awaits);
}
