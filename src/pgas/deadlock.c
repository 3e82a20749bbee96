/* SPDX-License-Identifier: MIT
 *
 * Calls that differ within one team are found by their hashes (collective.c). Calls of different teams never
 * meet; they are found here, between two PEs of one thread each. Let P await Q in step s of team A, and Q
 * await P in step t of team B. P knows that Q has not posted s: it polls that word. P knows that itself has
 * not posted t: its own sequence of B says so. P's only thread is here, so t can only be posted after s, and
 * Q's only thread is there, so s only after t. What P reads of Q is not stale: Q leaves t only after P posted
 * it. A thread that has made no call yet could still break the ring, so a process that has other threads than
 * ours beside the one that waits is let be.
 *
 * A host collective on some members and a stream collective on others never meet either, not even in one team.
 * The same ring, with t an operation on a stream for which Q's only thread waits: t ends only after all members
 * have enqueued it, P has not (its own stream_sequence says so) and will not before s. One more way out: a wait
 * for a stream may be interrupted, or run out of time, with nothing broken. Then Q takes its word back, and P
 * looks at it once more at the end. Who waits for a stream only publishes; the one in the host collective
 * reports. With H the members in a host collective of all and S those in the stream collective there is a ring:
 * the first of H waits for the first of S, and the other way round. None of it costs a call that does not wait.
 */
#include "pgas/deadlock.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "pgas/collective.h"
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

/* Ours, and UCX's, are told by their names. */
bool rs_deadlock_other_threads(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *tasks = opendir(path);
    if (!tasks) return true;
    int n = 0;
    for (const struct dirent *task; (task = readdir(tasks));) {
        if (task->d_name[0] == '.') continue;
        char name[16] = "";
        snprintf(path, sizeof path, "/proc/%ld/task/%.16s/comm", (long)pid, task->d_name);
        FILE *comm = fopen(path, "re");
        if (comm && !fgets(name, sizeof name, comm)) name[0] = '\0';
        if (comm) fclose(comm);
        bool ours = (strncmp(name, "rocshmem-", 9) == 0 || strcmp(name, "async\n") == 0) &&
                    strtol(task->d_name, NULL, 10) != pid;
        n += !ours;
    }
    closedir(tasks);
    return n != 1;
}

static struct rs_team *team_of(struct rs_job *job, uint64_t awaits)
{
    uint32_t id = (uint32_t)(awaits >> 32);
    rocshmem_team_t handle = id == RS_TEAM_ID_WORLD ? ROCSHMEM_TEAM_WORLD : (rocshmem_team_t)(uintptr_t)id;
    struct rs_team *team = rs_team_get(job, handle, "team");
    if (!team) rs_error_clear();
    return team;
}

/* What a PE is in, and for whom it waits. */
static void describe(struct rs_job *job, int pe, uint64_t awaits, uint64_t step, char out[192])
{
    char call[128] = "a collective";
    struct rs_signature signature;
    bool on_stream = step & RS_AWAITS_STREAM;
    uint64_t number = step & ~RS_AWAITS_STREAM;
    struct rs_team *team = team_of(job, awaits);
    if (team) {
        const struct rs_post *post = team->posts[rs_team_position(team, pe)];
        if (rs_called_read(on_stream ? &post->stream_called[number % RS_STREAM_RING]
                                     : &post->called[number % RS_RING],
                           number, &signature))
            rs_signature_format(&signature, call, sizeof call);
        rs_team_put(team);
    }
    snprintf(out, 192, "%s and waits for PE %d%s", call, (int)(uint32_t)awaits - 1,
             on_stream ? " on its stream" : "");
}

static int report(struct rs_job *job, const struct rs_thread *thread, int peer, uint64_t awaits,
                  uint64_t step)
{
    char ours[192], theirs[192];
    describe(job, job->my_pe, thread->awaits, thread->awaits_step, ours);
    describe(job, peer, awaits, step, theirs);
    return rs_calls_differ(job, (uint32_t)atomic_load_explicit(&thread->note->call, memory_order_relaxed),
                           ours, peer, theirs, "");
}

/* Never seen with the step of another: 0 in between, and the reader reads awaits again. */
static void note_awaits(struct rs_note *note, uint64_t awaits, uint64_t step)
{
    if (atomic_load_explicit(&note->awaits, memory_order_relaxed) == awaits &&
        atomic_load_explicit(&note->awaits_step, memory_order_relaxed) == step)
        return;
    atomic_store_explicit(&note->awaits, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&note->awaits_step, step, memory_order_relaxed);
    atomic_store_explicit(&note->awaits, awaits, memory_order_release);
}

/* Has a PE posted this step of a team? Or this PE enqueued this operation? A team that is destroyed here: its
 * leaving step was posted. */
static bool has_come(struct rs_job *job, uint64_t awaits, int pe, uint64_t step)
{
    struct rs_team *team = team_of(job, awaits);
    if (!team) return true;
    const struct rs_line *line = &team->posts[rs_team_position(team, pe)]->lines[step % RS_RING];
    bool come = step & RS_AWAITS_STREAM
                    ? __atomic_load_n(&team->stream_sequence, __ATOMIC_RELAXED) >= (step & ~RS_AWAITS_STREAM)
                    : atomic_load_explicit(&line->sequence, memory_order_acquire) >= step;
    rs_team_put(team);
    return come;
}

void rs_deadlock_forget(struct rs_thread *thread)
{
    thread->awaits = 0;
    note_awaits(thread->note, 0, 0);
}

int rs_deadlock_look(struct rs_job *job, struct rs_thread *thread, uint64_t waited_ns)
{
    struct rs_note *mine = thread->note;
    if (thread->drains) (void)rs_stream_awaits(job, thread->drains, &thread->awaits, &thread->awaits_step);
    note_awaits(mine, thread->awaits, thread->awaits_step);
    if (thread->drains || waited_ns < PATIENCE_NS) return 0;
    int peer = (int)(uint32_t)thread->awaits - 1, local = peer < 0 ? -1 : rs_job_local(job, peer);
    if (local < 0) return 0; /* nobody is awaited, or one of another host: span.c asks it */
    const struct rs_note *theirs = only_note(&job->board, local);
    if (!theirs || only_note(&job->board, job->my_local) != mine) return 0;
    uint64_t awaits = atomic_load_explicit(&theirs->awaits, memory_order_acquire);
    uint64_t step = atomic_load_explicit(&theirs->awaits_step, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&theirs->awaits, memory_order_relaxed) != awaits) return 0;
    bool same_team = awaits >> 32 == thread->awaits >> 32;
    if ((uint32_t)awaits != (uint32_t)(job->my_pe + 1)) return 0;
    if (same_team && !(step & RS_AWAITS_STREAM)) return 0; /* they meet, and their hashes tell */
    /* Q may have posted s since this thread polled; if so, it did before it wrote what it awaits now. */
    if (has_come(job, thread->awaits, peer, thread->awaits_step)) return 0;
    if (has_come(job, awaits, job->my_pe, step)) return 0;
    if (rs_deadlock_other_threads(getpid()) || rs_deadlock_other_threads(job->board.vitals[local].pid))
        return 0;
    if (atomic_load_explicit(&theirs->awaits, memory_order_relaxed) != awaits) return 0; /* interrupted */
    return report(job, thread, peer, awaits, step);
}
