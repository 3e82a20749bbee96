/* SPDX-License-Identifier: MIT
 *
 * Teams for the collectives of OpenSHMEM that name their PEs by (start, stride, size). No parent team is
 * there to agree in: only the members call, each for the first time at some point of its own. So each member
 * takes a slot, writes the set's key into the slot's post, and looks through the others' posts for the same
 * key. Members use a set in the same order, so either all have it already, or all meet here; a key is written
 * once in a job and never taken back.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "pgas/collective.h"
#include "pgas/job.h"

struct active_set {
    struct rs_job *job;
    int start, stride, size;
    uint64_t key;
    uint32_t id;
    int awaited; /* the PE that has not come yet */
};

static uint64_t key_of(int start, int stride, int size)
{
    return UINT64_C(1) << 63 | (uint64_t)start << 42 | (uint64_t)stride << 21 | (uint64_t)size;
}

/* Equal on all members. Below 1024 PEs no two sets share one; above, two that do are told apart by add(). */
static uint32_t id_of(int start, int stride, int size)
{
    if (start < 1024 && stride < 1024 && size <= 1024)
        return RS_TEAM_ID_ACTIVE | (uint32_t)start << 20 | (uint32_t)stride << 10 | (uint32_t)(size - 1);
    uint64_t mixed = key_of(start, stride, size) * UINT64_C(0x9e3779b97f4a7c15);
    return RS_TEAM_ID_ACTIVE | 0x40000000u | (uint32_t)(mixed >> 35) | 1u; /* odd: the world's is even */
}

static struct rs_post *post_of(const struct rs_job *job, int pe, int slot)
{
    return (struct rs_post *)(void *)rs_board_post(&job->board, pe, slot);
}

/* The slot of a PE with this key, -1 when it has none yet. */
static int slot_with(const struct rs_job *job, int pe, uint64_t key)
{
    for (int slot = 2; slot < job->teams.max_teams; slot++)
        if (atomic_load_explicit(&post_of(job, pe, slot)->meeting.key, memory_order_acquire) == key)
            return slot;
    return -1;
}

/* Be found. Another thread of this PE may have done it already. */
static int publish(const struct active_set *set)
{
    struct rs_job *job = set->job;
    struct rs_slot state = {0};
    pthread_mutex_lock(&job->teams.lock);
    int slot = slot_with(job, job->my_pe, set->key);
    if (slot < 0) {
        slot = rs_team_slot_take_locked(&job->teams, &state);
        if (slot >= 0) {
            struct rs_meeting *meeting = &post_of(job, job->my_pe, slot)->meeting;
            meeting->sequence = state.sequence;
            meeting->stream_sequence = state.stream_sequence;
            atomic_store_explicit(&meeting->key, set->key, memory_order_release);
        }
    }
    pthread_mutex_unlock(&job->teams.lock);
    return slot;
}

static void describe(const void *arg, char *out, size_t nbytes)
{
    const struct active_set *set = arg;
    snprintf(out, nbytes, "active set (start %d, stride %d, size %d), used the first time, waits for PE %d",
             set->start, set->stride, set->size, set->awaited);
}

/* Wait until all members have come: their slots. */
static int meet(struct active_set *set, int *members, int *slots)
{
    struct rs_wait wait;
    int rc = 0;
    rs_describe(rs_self, describe, set);
    rs_wait_begin(&wait, &set->job->watch);
    for (int i = 0; i < set->size && rc == 0; i++) {
        members[i] = set->awaited = set->start + i * set->stride;
        while (rc == 0 && (slots[i] = slot_with(set->job, members[i], set->key)) < 0)
            rc = rs_wait_pause(&wait);
    }
    rs_self->describe = NULL;
    return rc;
}

/* Into the table, unless another thread was faster. */
static int add(const struct active_set *set, struct rs_team *team, const int *slots,
               struct rs_team **team_out)
{
    struct rs_job *job = set->job;
    for (int i = 0; i < set->size; i++) {
        const struct rs_meeting *meeting = &post_of(job, team->pes[i], slots[i])->meeting;
        if (meeting->sequence > team->sequence) team->sequence = meeting->sequence;
        if (meeting->stream_sequence > team->stream_sequence)
            team->stream_sequence = meeting->stream_sequence;
    }
    team->base = team->sequence;
    team->stream_base = team->stream_sequence;
    pthread_mutex_lock(&job->teams.lock);
    struct rs_team *there = rs_team_find_locked(&job->teams, set->id);
    bool same = there && there->n_pes == set->size && there->pes[0] == set->start &&
                (set->size == 1 || there->pes[1] == set->start + set->stride);
    if (!there) rs_team_add_locked(&job->teams, team);
    *team_out = there ? there : team;
    (*team_out)->refs++;
    pthread_mutex_unlock(&job->teams.lock);
    if (!there) return 0;
    rs_team_free(team);
    if (same) return 0;
    rs_team_put(there);
    return rs_fail(RS_E_LIMIT,
                   "the active set (start %d, stride %d, size %d) has the number of another one; use a team",
                   set->start, set->stride, set->size);
}

static int build(struct active_set *set, struct rs_team **team_out)
{
    struct rs_job *job = set->job;
    if (publish(set) < 0) {
        char text[256];
        snprintf(
            text, sizeof text,
            "PE %d is in %d teams and active sets already, so it can't use one more; destroy teams, or raise "
            "ROCSHMEM_MAX_NUM_TEAMS",
            job->my_pe, job->teams.max_teams);
        rs_board_abort(&job->board, RS_E_LIMIT, job->my_pe, "rocshmemx_active_set",
                       text); /* the members wait for it */
        return rs_board_broken(&job->board);
    }
    int *members = malloc((size_t)set->size * sizeof *members),
        *slots = malloc((size_t)set->size * sizeof *slots);
    struct rs_team *team;
    int rc = members && slots ? meet(set, members, slots)
                              : rs_fail(RS_E_NOMEM, "no memory for an active set of %d PEs", set->size);
    if (rc == 0) rc = rs_team_make(job, set->id, members, slots, set->size, &team);
    if (rc == 0) rc = add(set, team, slots, team_out);
    free(members);
    free(slots);
    return rc;
}

int rs_active_set(struct rs_job *job, int start, int stride, int size, struct rs_team **team_out)
{
    int64_t last = (int64_t)start + (int64_t)stride * ((int64_t)size - 1);
    if (start < 0 || size < 1 || stride < 1 || last >= job->n_pes)
        return rs_fail(RS_E_ARG, "the active set of start %d, stride %d, size %d leaves the job's %d PEs",
                       start, stride, size, job->n_pes);
    if (size == 1) stride = 1;
    if (job->my_pe < start || (job->my_pe - start) % stride != 0 || (job->my_pe - start) / stride >= size)
        return rs_fail_pe(
            RS_E_ARG, job->my_pe,
            "PE %d is not in the active set of start %d, stride %d, size %d; only its members may call",
            job->my_pe, start, stride, size);
    if (size == job->n_pes) {
        *team_out = job->world; /* never destroyed: not counted */
        return 0;
    }
    struct active_set set = {
        job, start, stride, size, key_of(start, stride, size), id_of(start, stride, size), start};
    pthread_mutex_lock(&job->teams.lock);
    struct rs_team *team = rs_team_find_locked(&job->teams, set.id);
    bool same =
        team && team->n_pes == size && team->pes[0] == start && (size == 1 || team->pes[1] == start + stride);
    if (same) team->refs++;
    pthread_mutex_unlock(&job->teams.lock);
    if (!same) return build(&set, team_out);
    *team_out = team;
    return 0;
}
