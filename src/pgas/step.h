/* SPDX-License-Identifier: MIT
 *
 * The steps of a team, of which every blocking collective is made. In a step a member writes one line of its
 * post and polls the lines of the members that it depends on. Called by any thread of a member; team->busy
 * admits one. Inline is what a collective without a wait executes; what waits, or fails, is in step.c.
 *
 * Why a line is not overwritten while somebody reads it. A member writes its line s mod RS_RING in step s.
 * Another member may still read what was there for step s - RS_RING. Let "synced" steps be those in which
 * every member waits for every other: when a member is through with a synced step t, all have entered t, so
 * all are through with every step below t. A member enters step s only after the last synced step t >= s -
 * RS_RING + 1, because `unsynced` counts the steps since then, equally on all members, and the step that
 * makes it RS_RING - 2 is synced. So all are through with s - RS_RING < t.
 *
 * Why the data are there. What a member stored before it posted step s (its payload, and anything in its
 * heap) happens before what another does after it saw s: release store, acquire load, on one word.
 *
 * A team whose members are on several hosts (team->span) posts and polls within each host; to wait for one member is
 * then to meet all (span.c): the first member of each host gathers its host's lines, exchanges them with the other
 * hosts', and hands what came to its host.
 *
 * The sequence of a slot never goes back, also not from one team to the next (struct rs_slot), so a stale
 * line cannot be taken for a new one.
 */
#ifndef RS_PGAS_STEP_H
#define RS_PGAS_STEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "pgas/collective.h"
#include "pgas/job.h"

/* One step of one team, on the stack of the thread in it. */
struct rs_step {
    struct rs_team *team;
    uint64_t sequence;
    const struct rs_signature *signature;
    int awaits;         /* of a span: the PE whose letter is awaited, + 1; 0: none */
    bool met;           /* of a span: all members have come to this step */
    unsigned char *all; /* owned: what the members of a span brought, RS_INLINE_NBYTES each; NULL: nothing */
};

/* Poll until the other thread that is in a collective of this team has left it. 0, or how a wait ends. */
int rs_step_claim_slow(struct rs_team *team) __attribute__((cold));
/* Poll until member i has posted this step. */
int rs_step_await_slow(const struct rs_step *step, int i);
/* Member i's history is not ours: find the first call that differs, break the job. */
int rs_step_mismatch(const struct rs_step *step, int i) __attribute__((cold));
/* Of a span: wait until all members have posted this step; what they brought is then in step->all. */
int rs_span_meet(struct rs_step *step);
/* Of a span: send member `to` a letter with key (from is filled in), and wait for the one with key, the caller's to free;
 * other calls there are a mismatch. */
int rs_span_send(const struct rs_step *step, int to, const struct rs_letter_key *key, const void *body,
                 size_t nbytes);
int rs_span_await(struct rs_step *step, const struct rs_letter_key *key, struct rs_letter **letter_out);
/* Of a span: wait for this host's members, in a step that is no call. */
int rs_span_meet_near(struct rs_step *step);
/* Of a span, large (span_data.c): what is called last comes back when all members are done. */
#define RS_SPAN_FEW 4 /* hosts that all pull from one */
int rs_span_broadcast(struct rs_step *step, void *dest, const void *source, size_t nbytes, int root);
int rs_span_fcollect(struct rs_step *step, void *dest, const void *source, size_t nbytes);
/* Does rs_span_reduce give the bits that the team's order gives? */
bool rs_span_keeps_order(const struct rs_team *team, enum rs_type type);
int rs_span_reduce(struct rs_step *step, void *dest, const void *source, size_t n, enum rs_type type, int op);
/* Of a span: complete the transfers of this step. */
int rs_span_complete(const struct rs_step *step);
/* What a wait in this step is for (rs_describe). arg: the struct rs_step. */
void rs_step_describe(const void *arg, struct rs_waits *out);
/* A wait in a collective that was interrupted, or timed out, leaves this PE out of step: break the job. */
void rs_step_abandon(const struct rs_step *step, int rc) __attribute__((cold));

/* Enter a collective: one thread, one describer. */
static inline int rs_step_claim(struct rs_step *step)
{
    if (RS_UNLIKELY(atomic_exchange_explicit(&step->team->busy, 1, memory_order_acquire)))
        RS_TRY(rs_step_claim_slow(step->team));
    rs_describe(rs_self, rs_step_describe, step);
    return 0;
}

static inline int rs_step_leave(const struct rs_step *step, int rc)
{
    if (RS_UNLIKELY(rc == RS_E_INTERRUPTED || rc == RS_E_TIMEOUT)) rs_step_abandon(step, rc);
    if (RS_UNLIKELY(step->all != NULL)) free(step->all);
    rs_self->describe = NULL;
    rs_self->awaits = 0;
    atomic_store_explicit(&step->team->busy, 0, memory_order_release);
    return rc;
}

/* Begin the next step: note what is called, mix it into the history. */
static inline int rs_step_begin(struct rs_step *step, const struct rs_signature *signature)
{
    struct rs_team *team = step->team;
    step->sequence = team->sequence;
    if (RS_UNLIKELY(rs_board_is_broken(&team->job->board))) return rs_board_broken(&team->job->board);
    rs_signature_log(signature);
    step->sequence = ++team->sequence;
    if (team->progress) rs_team_note_progress(team);
    step->met = false;
    uint64_t hash = rs_signature_hash(signature);
    team->history = (team->history ^ hash) * UINT64_C(0xd6e8feb86659fd93) + 1;
    rs_called_write(&team->posts[team->my_pe]->called[step->sequence % RS_RING], step->sequence, signature);
    return 0;
}

static inline struct rs_line *rs_step_line(const struct rs_step *step, int i)
{
    return &step->team->posts[i]->lines[step->sequence % RS_RING];
}

/* What member i brought; valid once it was awaited. */
extern const unsigned char rs_step_nothing[RS_INLINE_NBYTES];
static inline const unsigned char *rs_step_payload(const struct rs_step *step, int i)
{
    if (RS_UNLIKELY(step->team->span != NULL))
        return step->all ? step->all + (size_t)i * RS_INLINE_NBYTES : rs_step_nothing;
    return rs_step_line(step, i)->payload;
}

/* Where a member may write its own payload before it posts. */
static inline unsigned char *rs_step_my_payload(const struct rs_step *step)
{
    return rs_step_line(step, step->team->my_pe)->payload;
}

/* The nbytes of my payload are there. */
static inline void rs_step_post_mine(const struct rs_step *step, size_t nbytes)
{
    const struct rs_team *team = step->team;
    struct rs_line *line = rs_step_line(step, team->my_pe);
    if (RS_UNLIKELY(team->span != NULL))
        team->posts[team->my_pe]->line_nbytes[step->sequence % RS_RING] = (unsigned char)nbytes;
    line->history = team->history;
    atomic_store_explicit(&line->sequence, step->sequence, memory_order_release);
}

static inline void rs_step_post(const struct rs_step *step, const void *payload, size_t nbytes)
{
    if (nbytes) memcpy(rs_step_my_payload(step), payload, nbytes);
    rs_step_post_mine(step, nbytes);
}

/* The same with a payload from a member's symmetric memory, which the CPU may not reach. */
static inline int rs_step_post_from(const struct rs_step *step, const void *source, size_t nbytes)
{
    struct rs_device *device = &step->team->job->device;
    if (RS_UNLIKELY(!device->ops->cpu_reaches_heap && nbytes > 0)) {
        RS_TRY(rs_device_move(device, rs_step_my_payload(step), source, nbytes));
        rs_step_post_mine(step, nbytes);
        return 0;
    }
    rs_step_post(step, source, nbytes);
    return 0;
}

/* Between symmetric memory, lines, and memory of this process. */
static inline int rs_step_copy(const struct rs_step *step, void *dest, const void *source, size_t nbytes)
{
    struct rs_device *device = &step->team->job->device;
    if (RS_UNLIKELY(!device->ops->cpu_reaches_heap)) return rs_device_move(device, dest, source, nbytes);
    memmove(dest, source, nbytes);
    return 0;
}

/* Of the same host. */
static inline int rs_step_await_near(const struct rs_step *step, int i)
{
    const struct rs_line *line = rs_step_line(step, i);
    if (RS_UNLIKELY(atomic_load_explicit(&line->sequence, memory_order_acquire) < step->sequence))
        RS_TRY(rs_step_await_slow(step, i));
    if (RS_UNLIKELY(line->history != step->team->history)) return rs_step_mismatch(step, i);
    return 0;
}

static inline int rs_step_await(struct rs_step *step, int i)
{
    if (RS_UNLIKELY(step->team->span != NULL)) return step->met ? 0 : rs_span_meet(step);
    return rs_step_await_near(step, i);
}

static inline int rs_step_await_all(struct rs_step *step)
{
    struct rs_team *team = step->team;
    team->unsynced = 0;
    if (RS_UNLIKELY(team->span != NULL)) return step->met ? 0 : rs_span_meet(step);
    for (int i = 0; i < team->n_pes; i++)
        if (i != team->my_pe) RS_TRY(rs_step_await_near(step, i));
    return 0;
}

/* A later step of the same collective in which all wait for all: nobody goes on before all have come. */
static inline int rs_step_next(struct rs_step *step)
{
    struct rs_signature phase = *step->signature;
    phase.kind = RS_KIND_PHASE;
    if (RS_UNLIKELY(step->team->span != NULL)) {
        if (!step->met) RS_TRY(rs_span_meet(step)); /* the others have awaited somebody */
        RS_TRY(rs_span_complete(step));
    }
    RS_TRY(rs_step_begin(step, &phase));
    rs_step_post(step, NULL, 0);
    return rs_step_await_all(step);
}

static inline const struct rs_route *rs_step_route(const struct rs_step *step, int i)
{
    return &step->team->job->routes[step->team->pes[i]];
}

/* Member i's copy of source, an address of mine, to dest here. From another host it is there after rs_step_next. */
static inline int rs_step_pull(const struct rs_step *step, int i, void *dest, const void *source,
                               size_t nbytes)
{
    const struct rs_route *route = rs_step_route(step, i);
    if (RS_LIKELY(route->mapped)) return rs_step_copy(step, dest, rs_route_address(route, source), nbytes);
    return nbytes ? route->ops->get_nbi(route, dest, source, nbytes) : 0;
}

/* The whole frame of a collective: the body is an expression that gives a status. */
#define RS_COLLECTIVE(team_, signature_, step, body)                                                         \
    struct rs_step step = {.team = (team_), .signature = (signature_)};                                      \
    RS_TRY(rs_step_claim(&step));                                                                            \
    int rc_ = rs_step_begin(&step, signature_);                                                              \
    if (RS_LIKELY(rc_ == 0)) rc_ = (body);                                                                   \
    return rs_step_leave(&step, rc_)

#endif
