/* SPDX-License-Identifier: MIT
 *
 * Making, finding and leaving teams. The table and the slots are under one lock; a team's members never
 * change.
 */
#include "pgas/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "pgas/collective.h"
#include "pgas/job.h"

int rs_teams_init(struct rs_teams *teams, int max_teams)
{
    memset(teams, 0, sizeof *teams);
    pthread_mutex_init(&teams->lock, NULL);
    teams->max_teams = max_teams;
    teams->next_id = RS_TEAM_ID_FIRST;
    teams->slots = calloc((size_t)max_teams, sizeof *teams->slots);
    if (!teams->slots) return rs_fail(RS_E_NOMEM, "no memory for %d team slots", max_teams);
    return 0;
}

static void span_free(struct rs_span *span)
{
    if (!span) return;
    free(span->host_of);
    free(span->first);
    free(span->near);
    free(span->called);
    free(span);
}

/* The hosts of the members; NULL, and 0, when it is one. */
static int span_make(const struct rs_job *job, const int *members, int n, struct rs_span **span_out)
{
    const struct rs_where *where = job->hosts.where;
    int i = 1;
    *span_out = NULL;
    while (i < n && where[members[i]].host == where[members[0]].host) i++;
    if (i == n) return 0;
    struct rs_span *span = calloc(1, sizeof *span);
    int *number = malloc((size_t)job->hosts.n * sizeof *number); /* of the job's hosts among the team's */
    if (span && number) {
        span->host_of = malloc((size_t)n * sizeof *span->host_of);
        span->first = malloc((size_t)n * sizeof *span->first);
        span->near = malloc((size_t)n * sizeof *span->near);
        span->called = calloc(RS_SPAN_CALLED, sizeof *span->called);
    }
    if (!number || !span || !span->host_of || !span->first || !span->near || !span->called) {
        span_free(span);
        free(number);
        return rs_fail(RS_E_NOMEM, "no memory for a team of %d PEs", n);
    }
    for (int h = 0; h < job->hosts.n; h++) number[h] = -1;
    for (i = 0; i < n; i++) {
        int host = where[members[i]].host;
        if (number[host] < 0) {
            number[host] = span->n_hosts;
            span->first[span->n_hosts++] = i;
        }
        span->host_of[i] = number[host];
        if (host == job->hosts.mine) span->near[span->n_near++] = i;
    }
    span->mine = number[job->hosts.mine];
    free(number);
    *span_out = span;
    return 0;
}

void rs_team_free(struct rs_team *team)
{
    if (!team) return;
    span_free(team->span);
    free(team->pes);
    free(team->posts);
    free(team->flags);
    pthread_mutex_destroy(&team->stream_lock);
    free(team);
}

void rs_teams_fini(struct rs_teams *teams)
{
    if (!teams->slots) return;
    for (int b = 0; b < RS_TEAM_BUCKETS; b++)
        for (struct rs_team *team = teams->buckets[b], *next; team; team = next) {
            next = team->next;
            rs_team_free(team);
        }
    for (int i = 0; i < teams->max_teams; i++) rs_team_free(teams->slots[i].leaving);
    free(teams->slots);
    pthread_mutex_destroy(&teams->lock);
    memset(teams, 0, sizeof *teams);
}

/* The stream flags of a PE for a slot of its own, as mapped here; or where this PE would have them. */
static uint64_t *flags_of(const struct rs_job *job, int pe, int slot)
{
    size_t offset = (size_t)slot * rs_stream_flag_words(job->hosts.n, job->hosts.n_most) * sizeof(uint64_t);
    return (uint64_t *)(job->heap.flags + offset +
                        (uintptr_t)job->routes[pe].shift); /* shift 0 where not mapped */
}

/* A team without a place in the table. members: world PEs; slots: each member's. */
int rs_team_make(struct rs_job *job, uint32_t id, const int *members, const int *slots, int n,
                 struct rs_team **team_out)
{
    struct rs_team *team = calloc(1, sizeof *team);
    if (!team) return rs_fail(RS_E_NOMEM, "no memory for a team of %d PEs", n);
    pthread_mutex_init(&team->stream_lock, NULL);
    team->pes = malloc((size_t)n * sizeof *team->pes);
    team->posts = malloc((size_t)n * sizeof(struct rs_post *));
    team->flags = malloc((size_t)n * sizeof *team->flags);
    if (!team->pes || !team->posts || !team->flags || span_make(job, members, n, &team->span) < 0) {
        rs_team_free(team);
        return rs_fail(RS_E_NOMEM, "no memory for a team of %d PEs", n);
    }
    team->job = job;
    team->id = id;
    team->n_pes = n;
    team->my_pe = -1;
    team->refs = 1;
    for (int i = 0; i < n; i++) {
        if (members[i] == job->my_pe) {
            team->my_pe = i;
            team->slot = slots[i];
            if (slots[i] < RS_PROGRESS_SLOTS)
                team->progress = &job->board.vitals[job->my_local].progress[slots[i]];
        }
        team->pes[i] = members[i];
        int local = rs_job_local(job, members[i]);
        team->posts[i] =
            local < 0 ? NULL : (struct rs_post *)(void *)rs_board_post(&job->board, local, slots[i]);
        team->flags[i] = flags_of(job, members[i], slots[i]);
    }
    *team_out = team;
    return 0;
}

int rs_teams_live(struct rs_teams *teams)
{
    int n = 0;
    pthread_mutex_lock(&teams->lock);
    for (int i = 0; i < RS_TEAM_BUCKETS; i++)
        for (const struct rs_team *team = teams->buckets[i]; team; team = team->next)
            n +=
                team->id != RS_TEAM_ID_WORLD && team->id != RS_TEAM_ID_SHARED && team->id < RS_TEAM_ID_ACTIVE;
    pthread_mutex_unlock(&teams->lock);
    return n;
}

void rs_team_add_locked(struct rs_teams *teams, struct rs_team *team)
{
    struct rs_team **bucket = &teams->buckets[team->id % RS_TEAM_BUCKETS];
    team->next = *bucket;
    *bucket = team;
    teams->n_live++;
}

struct rs_team *rs_team_find_locked(const struct rs_teams *teams, uint32_t id)
{
    struct rs_team *team = teams->buckets[id % RS_TEAM_BUCKETS];
    while (team && team->id != id) team = team->next;
    return team;
}

int rs_team_create_fixed(struct rs_job *job, uint32_t id, const int *pes, int n_pes, int slot,
                         struct rs_team **team_out)
{
    int *slots = malloc((size_t)n_pes * sizeof *slots);
    if (!slots) return rs_fail(RS_E_NOMEM, "no memory for a team of %d PEs", n_pes);
    for (int i = 0; i < n_pes; i++) slots[i] = slot;
    int rc = rs_team_make(job, id, pes, slots, n_pes, team_out);
    free(slots);
    if (rc < 0) return rc;
    pthread_mutex_lock(&job->teams.lock);
    job->teams.slots[slot].used = true;
    rs_team_add_locked(&job->teams, *team_out);
    pthread_mutex_unlock(&job->teams.lock);
    return 0;
}

/* ---- slots ---- */

/* Under the lock. A slot whose team all members have left is free again, when no member will write its flags:
 * a later team of another size has other words there, and a late write would take one of them back. */
static void reclaim_locked(struct rs_slot *slot)
{
    struct rs_team *team = slot->leaving;
    if (!team || team->refs > 1) return;
    if (!rs_collective_all_left(team, team->sequence) || !rs_stream_all_complete(team)) return;
    slot->sequence = team->sequence;
    slot->stream_sequence = team->stream_sequence;
    slot->leaving = NULL;
    slot->used = false;
    rs_team_free(team);
}

/* A free slot of mine, taken; -1 when there is none. */
int rs_team_slot_take_locked(struct rs_teams *teams, struct rs_slot *state_out)
{
    int found = -1;
    for (int i = 0; i < teams->max_teams && found < 0; i++) {
        struct rs_slot *slot = &teams->slots[i];
        if (slot->used) reclaim_locked(slot);
        if (slot->used) continue;
        slot->used = true;
        *state_out = *slot;
        found = i;
    }
    return found;
}

static void slot_give(struct rs_teams *teams, int slot)
{
    if (slot < 0) return;
    pthread_mutex_lock(&teams->lock);
    teams->slots[slot].used = false;
    pthread_mutex_unlock(&teams->lock);
}

/* ---- split ---- */

/* What each PE of the parent tells the others. */
struct offer {
    int32_t start, stride, size; /* of the team that it asks for */
    int32_t slot;                /* -1: outside the new team; -2: all my slots are taken */
    uint32_t next_id;
    uint64_t sequence, stream_sequence;
};

static bool range_is_valid(const struct rs_team *parent, int start, int stride, int size)
{
    if (size < 1 || start < 0 || start >= parent->n_pes || (stride == 0 && size > 1)) return false;
    int64_t last = (int64_t)start + (int64_t)stride * (size - 1);
    return last >= 0 && last < parent->n_pes;
}

/* From everyone's offers, the team; NULL on a PE outside. */
static int split_finish(struct rs_team *parent, const struct offer *offers, int start, int stride, int size,
                        struct rs_team **team_out)
{
    struct rs_job *job = parent->job;
    int *members = calloc((size_t)size, sizeof *members), *slots = calloc((size_t)size, sizeof *slots);
    int rc = 0;
    struct offer most = {.next_id = RS_TEAM_ID_FIRST};
    if (!members || !slots) {
        rc = rs_fail(RS_E_NOMEM, "no memory for a team of %d PEs", size);
        goto done;
    }
    for (int i = 0; i < size; i++) {
        const struct offer *o = &offers[start + i * stride];
        members[i] = parent->pes[start + i * stride];
        slots[i] = o->slot;
        if (o->slot == -2) {
            rc = rs_fail_pe(RS_E_LIMIT, members[i],
                            "PE %d is in %d teams already; destroy some, or raise ROCSHMEM_MAX_NUM_TEAMS",
                            members[i], job->teams.max_teams);
            goto done;
        }
        if (o->next_id > most.next_id) most.next_id = o->next_id;
        if (o->sequence > most.sequence) most.sequence = o->sequence;
        if (o->stream_sequence > most.stream_sequence) most.stream_sequence = o->stream_sequence;
    }
    *team_out = NULL;
    if (offers[parent->my_pe].slot < 0) goto done;
    rc = rs_team_make(job, most.next_id, members, slots, size, team_out);
    if (rc < 0) goto done;
    (*team_out)->sequence = (*team_out)->base = most.sequence;
    (*team_out)->stream_sequence = (*team_out)->stream_base = most.stream_sequence;
    pthread_mutex_lock(&job->teams.lock);
    if (job->teams.next_id <= most.next_id) job->teams.next_id = most.next_id + 1;
    rs_team_add_locked(&job->teams, *team_out);
    pthread_mutex_unlock(&job->teams.lock);
done:
    free(members);
    free(slots);
    return rc;
}

static struct offer make_offer(struct rs_job *job)
{
    struct rs_slot state = {0};
    pthread_mutex_lock(&job->teams.lock);
    int slot = rs_team_slot_take_locked(&job->teams, &state);
    struct offer offer = {.slot = slot < 0 ? -2 : slot,
                          .next_id = job->teams.next_id,
                          .sequence = state.sequence,
                          .stream_sequence = state.stream_sequence};
    pthread_mutex_unlock(&job->teams.lock);
    return offer;
}

/* A slot stays taken until all members have left its team. Now that all have come here, more may have: who
 * has none tries once more. All see the same offers, so all agree on that. */
static int offer_again(struct rs_team *parent, const struct rs_signature *signature, struct offer *mine,
                       struct offer *offers)
{
    bool lacking = false;
    for (int i = 0; i < parent->n_pes; i++) lacking |= offers[i].slot == -2;
    if (!lacking) return 0;
    if (mine->slot == -2) {
        struct offer again = make_offer(parent->job);
        again.start = mine->start;
        again.stride = mine->stride;
        again.size = mine->size;
        *mine = again;
    }
    struct rs_signature phase = *signature;
    phase.kind = RS_KIND_PHASE;
    return rs_collective_exchange(parent, &phase, mine, sizeof *mine, offers);
}

static bool same_range(const struct offer *a, const struct offer *b)
{
    return a->start == b->start && a->stride == b->stride && a->size == b->size;
}

static void describe_range(const struct rs_signature *signature, const struct offer *offer, char *out,
                           size_t nbytes)
{
    struct rs_signature call = *signature;
    call.kind = RS_KIND_SPLIT;
    call.arg[0] = (uint64_t)(int64_t)offer->start;
    call.arg[1] = (uint64_t)(int64_t)offer->stride;
    call.arg[2] = (uint64_t)(int64_t)offer->size;
    rs_signature_format(&call, out, nbytes);
}

static int ranges_differ(const struct rs_team *parent, const struct rs_signature *signature,
                         const struct offer *mine, int other, const struct offer *theirs)
{
    char ours[160], text[160];
    describe_range(signature, mine, ours, sizeof ours);
    describe_range(signature, theirs, text, sizeof text);
    return rs_calls_differ(parent->job, signature->call, ours, parent->pes[other], text, "");
}

/* Whoever asks for a team must be asked for it by all its members. All PEs look at all offers, so all find the same
 * disagreement, or none. */
static int check_ranges_agree(const struct rs_team *parent, const struct rs_signature *signature,
                              const struct offer *offers)
{
    const struct offer *mine = &offers[parent->my_pe];
    for (int p = 0; p < parent->n_pes; p++) {
        const struct offer *a = &offers[p];
        if (p > 0 && same_range(a, a - 1)) continue; /* looked at, or no member of its own team */
        if (!range_is_valid(parent, a->start, a->stride, a->size)) continue;
        for (int i = 0; i < a->size; i++) {
            int q = a->start + i * a->stride;
            if (same_range(a, &offers[q])) continue;
            int other = same_range(mine, a) ? q : p;
            return ranges_differ(parent, signature, mine, other, &offers[other]);
        }
    }
    return 0;
}

/* One team, of which this PE may be a member: the range may be another one on another PE, but then they have no
 * member in common. wrong: NULL, or why there will be no team on any PE; found out after the exchange, so that
 * a PE with other arguments is found out before. */
static int split(struct rs_team *parent, const struct rs_signature *signature, const char *wrong, int start,
                 int stride, int size, struct rs_team **team_out)
{
    struct rs_job *job = parent->job;
    struct offer mine = {.slot = -1};
    bool member = false;
    for (int i = 0; !wrong && i < size; i++) member |= start + i * stride == parent->my_pe;
    if (member) mine = make_offer(job);
    mine.start = start;
    mine.stride = stride;
    mine.size = size;
    struct offer *offers = malloc((size_t)parent->n_pes * sizeof *offers);
    int rc = offers ? rs_collective_exchange(parent, signature, &mine, sizeof mine, offers)
                    : rs_fail(RS_E_NOMEM, "no memory to split a team of %d PEs", parent->n_pes);
    if (rc == 0) rc = check_ranges_agree(parent, signature, offers);
    if (rc == 0) rc = offer_again(parent, signature, &mine, offers);
    if (rc == 0 && wrong) rc = rs_fail(RS_E_ARG, "%s", wrong);
    if (rc == 0) rc = split_finish(parent, offers, start, stride, size, team_out);
    if (rc < 0) slot_give(&job->teams, mine.slot);
    free(offers);
    return rc;
}

int rs_team_split(struct rs_team *parent, uint32_t call, int start, int stride, int size,
                  struct rs_team **team_out)
{
    char wrong[128];
    bool valid = range_is_valid(parent, start, stride, size);
    snprintf(wrong, sizeof wrong, "start %d, stride %d, size %d leave the parent's %d PEs", start, stride,
             size, parent->n_pes);
    struct rs_signature signature = {
        call,
        RS_KIND_SPLIT,
        parent->id,
        {(uint64_t)(int64_t)start, (uint64_t)(int64_t)stride, (uint64_t)(int64_t)size},
        0};
    return split(parent, &signature, valid ? NULL : wrong, start, stride, size, team_out);
}

int rs_team_split_2d(struct rs_team *parent, uint32_t call, int xrange, struct rs_team **x_out,
                     struct rs_team **y_out)
{
    int n = parent->n_pes, me = parent->my_pe;
    struct rs_signature signature = {
        call, RS_KIND_SPLIT_2D, parent->id, {(uint64_t)(int64_t)xrange, 0, 0}, 0};
    char wrong[64];
    snprintf(wrong, sizeof wrong, "xrange %d is no number of PEs; it must be 1 or more", xrange);
    if (xrange < 1) return split(parent, &signature, wrong, 0, 0, 0, x_out);
    if (xrange > n) xrange = n;
    int x = me % xrange, row = me - x; /* my row begins there in parent */
    int x_size = n - row < xrange ? n - row : xrange, y_size = (n - x + xrange - 1) / xrange;
    int rc_x = split(parent, &signature, NULL, row, 1, x_size, x_out);
    rocshmemx_error_t error = *rs_error_slot();
    signature.kind = RS_KIND_PHASE; /* also when there is no x team here: others may have one */
    int rc_y = split(parent, &signature, NULL, x, xrange, y_size, y_out);
    if (rc_x < 0) *rs_error_slot() = error; /* the first one is told */
    return rc_x < 0 ? rc_x : rc_y;
}

void rs_team_destroy(struct rs_team *team)
{
    struct rs_teams *teams = &team->job->teams;
    if (team->id >= RS_TEAM_ID_ACTIVE) return; /* its members find each other again by its key, for ever */
    rs_contexts_forget(team->job, team);
    pthread_mutex_lock(&teams->lock);
    if (team->destroyed) {
        pthread_mutex_unlock(&teams->lock);
        return;
    }
    team->destroyed = true;
    struct rs_team **at = &teams->buckets[team->id % RS_TEAM_BUCKETS];
    while (*at && *at != team) at = &(*at)->next;
    if (*at) *at = team->next;
    teams->n_live--;
    rs_collective_leave(team);
    teams->slots[team->slot].leaving = team; /* the table's reference goes to the slot */
    pthread_mutex_unlock(&teams->lock);
}

/* ---- finding ---- */

rocshmem_team_t rs_team_handle(const struct rs_team *team)
{
    if (team->id == RS_TEAM_ID_WORLD) return ROCSHMEM_TEAM_WORLD;
    return (rocshmem_team_t)(uintptr_t)team->id;
}

struct rs_team *rs_team_get(struct rs_job *job, rocshmem_team_t handle, const char *what)
{
    struct rs_team *team = NULL;
    uintptr_t number = (uintptr_t)handle;
    struct rs_teams *teams = &job->teams;
    if (RS_LIKELY(handle == ROCSHMEM_TEAM_WORLD)) return job->world; /* never destroyed: not counted */
    if (handle == ROCSHMEM_TEAM_SHARED) return job->shared;
    if (number >= RS_TEAM_ID_FIRST && number < RS_TEAM_ID_WORLD) {
        pthread_mutex_lock(&teams->lock);
        team = rs_team_find_locked(teams, (uint32_t)number);
        if (team) team->refs++;
        pthread_mutex_unlock(&teams->lock);
    }
    if (team) return team;
    if (handle == ROCSHMEM_TEAM_INVALID)
        rs_fail(RS_E_ARG, "%s is ROCSHMEM_TEAM_INVALID; this PE is no member, or the split failed", what);
    else
        rs_fail(RS_E_ARG, "%s %lld is unknown: it was never made, or destroyed before", what,
                (long long)(intptr_t)number);
    return NULL;
}

void rs_team_put(struct rs_team *team)
{
    if (team->slot < 2) return; /* world and shared are not counted */
    struct rs_teams *teams = &team->job->teams;
    pthread_mutex_lock(&teams->lock);
    team->refs--;
    pthread_mutex_unlock(&teams->lock);
}

int rs_team_position(const struct rs_team *team, int pe)
{
    if (pe >= 0 && pe < team->n_pes && team->pes[pe] == pe) return pe; /* world, and teams like it */
    for (int i = 0; i < team->n_pes; i++)
        if (team->pes[i] == pe) return i;
    return -1;
}
