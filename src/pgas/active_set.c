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
    int awaited;                        /* the PE that has not come yet */
    uint64_t sequence, stream_sequence; /* the most of all members' slots */
};
/* What a member on another host says of its slot. */
struct place {
    int32_t slot, reserved;
    uint64_t sequence, stream_sequence;
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

/* Of a PE of this host. */
static struct rs_post *post_of(const struct rs_job *job, int pe, int slot)
{
    return (struct rs_post *)(void *)rs_board_post(&job->board, rs_job_local(job, pe), slot);
}

/* The slot of a PE with this key, -1 when it has none yet. */
static int slot_with(const struct rs_job *job, int pe, uint64_t key)
{
    for (int slot = 2; slot < job->teams.max_teams; slot++)
        if (atomic_load_explicit(&post_of(job, pe, slot)->meeting.key, memory_order_acquire) == key)
            return slot;
    return -1;
}

static struct rs_letter_key letter_of(const struct active_set *set, int from)
{
    return (struct rs_letter_key){.kind = RS_LETTER_SET, .team = set->id, .number = set->key, .from = from};
}

/* Members on other hosts can't look for the key: they are told. */
static int tell(const struct active_set *set, const struct place *place)
{
    const struct rs_job *job = set->job;
    struct rs_letter_head head = {.key = letter_of(set, job->my_pe)};
    for (int i = 0; i < set->size; i++) {
        int pe = set->start + i * set->stride;
        if (rs_job_local(job, pe) < 0)
            RS_TRY(job->net->ops->send(job->net->network, pe, &head, sizeof head, place, sizeof *place));
    }
    return 0;
}

/* A member's slot, and where it stopped; false: it has not come yet. */
static bool find(struct active_set *set, int pe, int *slot_out)
{
    struct place place;
    if (rs_job_local(set->job, pe) < 0) {
        struct rs_letter_key key = letter_of(set, pe);
        if (!rs_mail_read(&set->job->mail, &key, &place, sizeof place)) return false;
    } else {
        place.slot = slot_with(set->job, pe, set->key);
        if (place.slot < 0) return false;
        const struct rs_meeting *meeting = &post_of(set->job, pe, place.slot)->meeting;
        place.sequence = meeting->sequence;
        place.stream_sequence = meeting->stream_sequence;
    }
    *slot_out = place.slot;
    if (place.sequence > set->sequence) set->sequence = place.sequence;
    if (place.stream_sequence > set->stream_sequence) set->stream_sequence = place.stream_sequence;
    return true;
}

/* Be found. Another thread of this PE may have done it already. LIMIT: no slot is free. */
static int publish(const struct active_set *set)
{
    struct rs_job *job = set->job;
    struct rs_slot state = {0};
    pthread_mutex_lock(&job->teams.lock);
    int slot = slot_with(job, job->my_pe, set->key);
    bool mine = slot < 0;
    if (mine) {
        slot = rs_team_slot_take_locked(&job->teams, &state);
        if (slot >= 0) {
            struct rs_meeting *meeting = &post_of(job, job->my_pe, slot)->meeting;
            meeting->sequence = state.sequence;
            meeting->stream_sequence = state.stream_sequence;
            atomic_store_explicit(&meeting->key, set->key, memory_order_release);
        }
    }
    pthread_mutex_unlock(&job->teams.lock);
    if (slot < 0) return RS_E_LIMIT;
    struct place place = {slot, 0, state.sequence, state.stream_sequence};
    return mine ? tell(set, &place) : 0;
}

static void describe(const void *arg, struct rs_waits *out)
{
    const struct active_set *set = arg;
    *out = (struct rs_waits){.kind = RS_WAITS_PES, .n_pes = 1, .pes = {set->awaited}};
    snprintf(out->text, sizeof out->text,
             "active set (start %d, stride %d, size %d), used the first time, waits for PE %d", set->start,
             set->stride, set->size, set->awaited);
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
        while (rc == 0 && !find(set, members[i], &slots[i])) rc = rs_wait_pause(&wait);
    }
    rs_self->describe = NULL;
    return rc;
}

/* Into the table, unless another thread was faster. */
static int add(const struct active_set *set, struct rs_team *team, struct rs_team **team_out)
{
    struct rs_job *job = set->job;
    team->base = team->sequence = set->sequence;
    team->stream_base = team->stream_sequence = set->stream_sequence;
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
    int rc = publish(set);
    if (rc == RS_E_LIMIT) {
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
    if (rc < 0) return rc;
    int *members = malloc((size_t)set->size * sizeof *members),
        *slots = malloc((size_t)set->size * sizeof *slots);
    struct rs_team *team;
    rc = members && slots ? meet(set, members, slots)
                          : rs_fail(RS_E_NOMEM, "no memory for an active set of %d PEs", set->size);
    if (rc == 0) rc = rs_team_make(job, set->id, members, slots, set->size, &team);
    if (rc == 0) rc = add(set, team, team_out);
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
    struct active_set set = {.job = job,
                             .start = start,
                             .stride = stride,
                             .size = size,
                             .key = key_of(start, stride, size),
                             .id = id_of(start, stride, size),
                             .awaited = start};
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
