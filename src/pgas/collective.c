/* SPDX-License-Identifier: MIT
 *
 * The steps of a team, and the blocking collectives made of them. Called by any thread of a member;
 * team->busy admits one.
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
 * The sequence of a slot never goes back, also not from one team to the next (struct rs_slot), so a stale
 * line cannot be taken for a new one.
 */
#include "pgas/collective.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "pgas/job.h"

/* One step of one team, on the stack of the thread in it. */
struct step {
    struct rs_team *team;
    struct rs_job *job;
    uint64_t sequence;
};

bool rs_called_read(const struct rs_called *called, uint64_t sequence, struct rs_signature *out)
{
    uint64_t words[sizeof *out / 8];
    if (atomic_load_explicit(&called->sequence, memory_order_acquire) != sequence) return false;
    for (size_t k = 0; k < sizeof words / 8; k++)
        words[k] = atomic_load_explicit(&called->words[k], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&called->sequence, memory_order_relaxed) != sequence) return false;
    memcpy(out, words, sizeof words);
    return true;
}

/* What member i called in a step. */
static bool called_by(const struct rs_team *team, int i, uint64_t sequence, struct rs_signature *out)
{
    return rs_called_read(&team->posts[i]->called[sequence % RS_RING], sequence, out);
}

static void describe(const void *arg, char *out, size_t nbytes)
{
    const struct step *step = arg;
    const struct rs_team *team = step->team;
    char call[128] = "";
    struct rs_signature mine;
    if (called_by(team, team->my_pe, step->sequence, &mine)) rs_signature_format(&mine, call, sizeof call);
    int n = snprintf(out, nbytes, "%s #%" PRIu64 ", waits for PE", call, step->sequence - team->base);
    for (int i = 0; i < team->n_pes; i++) {
        const struct rs_line *line = &team->posts[i]->lines[step->sequence % RS_RING];
        if (i == team->my_pe || atomic_load_explicit(&line->sequence, memory_order_relaxed) >= step->sequence)
            continue;
        if (n > 0 && (size_t)n < nbytes) n += snprintf(out + n, nbytes - (size_t)n, " %d", team->pes[i]);
    }
}

static int claim(struct rs_team *team)
{
    struct rs_wait wait;
    rs_wait_begin(&wait, &team->job->watch);
    while (atomic_exchange_explicit(&team->busy, 1, memory_order_acquire)) {
        int rc = rs_wait_pause(&wait);
        if (rc < 0) return rc;
    }
    return 0;
}

static void unclaim(struct rs_team *team)
{
    atomic_store_explicit(&team->busy, 0, memory_order_release);
}

/* Begin the next step: note what is called, mix it into the history. */
static int begin(struct step *step, struct rs_team *team, const struct rs_signature *signature)
{
    struct rs_job *job = team->job;
    *step = (struct step){.team = team, .job = job, .sequence = team->sequence};
    if (RS_UNLIKELY(rs_board_is_broken(&job->board))) return rs_board_broken(&job->board);
    step->sequence = ++team->sequence;
    uint64_t hash = rs_signature_hash(signature);
    team->history = (team->history ^ hash) * UINT64_C(0xd6e8feb86659fd93) + 1;
    rs_called_write(&team->posts[team->my_pe]->called[step->sequence % RS_RING], step->sequence, signature);
    return 0;
}

static void post(const struct step *step, const void *payload, size_t nbytes)
{
    const struct rs_team *team = step->team;
    struct rs_line *line = &team->posts[team->my_pe]->lines[step->sequence % RS_RING];
    if (nbytes) memcpy(line->payload, payload, nbytes);
    line->history = team->history;
    atomic_store_explicit(&line->sequence, step->sequence, memory_order_release);
}

/* Histories differ from member i's: find the first call of this team that differs among those that are still
 * noted, and break the job. */
static int mismatch(const struct step *step, int i)
{
    const struct rs_team *team = step->team;
    struct rs_signature mine = {0}, theirs = {0}, a, b;
    uint64_t first = step->sequence > RS_RING - 2 ? step->sequence - (RS_RING - 2) : 1, at = step->sequence;
    if (first <= team->base) first = team->base + 1; /* before: other teams, which had these slots */
    for (uint64_t s = first; s <= step->sequence; s++) {
        if (!called_by(team, team->my_pe, s, &a) || !called_by(team, i, s, &b)) continue;
        at = s;
        mine = a;
        theirs = b;
        if (rs_signature_hash(&a) != rs_signature_hash(&b)) break;
    }
    char ours[160], other[160], name[64], text[512];
    rs_signature_format(&mine, ours, sizeof ours);
    rs_signature_format(&theirs, other, sizeof other);
    if (called_by(team, team->my_pe, step->sequence, &a)) mine = a;
    rs_call_name(mine.call, name, sizeof name);
    snprintf(text, sizeof text,
             "collective calls differ: PE %d called %s while PE %d called %s (collective #%" PRIu64
             " of the team); all members must make the same calls in the same order",
             team->pes[team->my_pe], ours, team->pes[i], other, at - team->base);
    rs_board_abort(&step->job->board, RS_E_MISMATCH, team->pes[i], name, text);
    return rs_board_broken(&step->job->board);
}

/* Wait until member i has posted this step. */
static inline int await(struct step *step, int i)
{
    const struct rs_team *team = step->team;
    const struct rs_line *line = &team->posts[i]->lines[step->sequence % RS_RING];
    if (RS_UNLIKELY(atomic_load_explicit(&line->sequence, memory_order_acquire) < step->sequence)) {
        struct rs_wait wait;
        rs_self->awaits = (uint64_t)team->id << 32 | (uint32_t)(team->pes[i] + 1);
        rs_self->awaits_step = step->sequence;
        rs_wait_begin(&wait, &step->job->watch);
        do {
            int rc = rs_wait_pause(&wait);
            if (RS_UNLIKELY(rc < 0)) return rc;
        } while (atomic_load_explicit(&line->sequence, memory_order_acquire) < step->sequence);
    }
    if (RS_UNLIKELY(line->history != team->history)) return mismatch(step, i);
    return 0;
}

static int await_all(struct step *step)
{
    struct rs_team *team = step->team;
    for (int i = 0; i < team->n_pes; i++)
        if (i != team->my_pe) RS_TRY(await(step, i));
    team->unsynced = 0;
    return 0;
}

static const void *line_payload(const struct step *step, int i)
{
    return step->team->posts[i]->lines[step->sequence % RS_RING].payload;
}

/* A wait in a collective that was interrupted, or timed out, leaves this PE out of step: the job is broken,
 * and says so. */
static int finish(struct rs_team *team, const struct rs_signature *signature, int rc)
{
    struct rs_job *job = team->job;
    if (RS_UNLIKELY(rc == RS_E_INTERRUPTED || rc == RS_E_TIMEOUT)) {
        char call[160], name[64], text[384];
        rs_signature_format(signature, call, sizeof call);
        rs_call_name(signature->call, name, sizeof name);
        snprintf(text, sizeof text,
                 "PE %d left %s half done because it was %s; the job cannot do collectives any more",
                 job->my_pe, call, rc == RS_E_TIMEOUT ? "out of time (ROCSHMEM_TIMEOUT)" : "interrupted");
        rs_board_abort(&job->board, RS_E_BROKEN, job->my_pe, name, text);
    }
    rs_self->describe = NULL;
    rs_self->awaits = 0;
    unclaim(team);
    return rc;
}

/* The whole frame: one thread, one describer, one exit. */
#define COLLECTIVE(team, signature, step, body)                                                              \
    struct step step = {0};                                                                                  \
    RS_TRY(claim(team));                                                                                     \
    rs_describe(rs_self, describe, &step);                                                                   \
    int rc_ = begin(&step, team, signature);                                                                 \
    if (RS_LIKELY(rc_ == 0)) rc_ = body;                                                                     \
    return finish(team, signature, rc_)

/* The second step of a collective whose data are pulled: nobody goes on before all have what they need. */
static int second_step(struct step *step, const struct rs_signature *signature)
{
    struct rs_signature phase = *signature;
    phase.kind = RS_KIND_PHASE;
    RS_TRY(begin(step, step->team, &phase));
    post(step, NULL, 0);
    return await_all(step);
}

/* Member i's copy of an address of mine. */
static unsigned char *of_member(const struct rs_team *team, int i, const void *p)
{
    return rs_route_address(&team->job->routes[team->pes[i]], p);
}

static int barrier_body(struct step *step)
{
    post(step, NULL, 0);
    return await_all(step);
}

int rs_collective_barrier(struct rs_team *team, const struct rs_signature *signature)
{
    COLLECTIVE(team, signature, step, barrier_body(&step));
}

static int exchange_body(struct step *step, const void *mine, size_t n, void *all_out)
{
    post(step, mine, n);
    RS_TRY(await_all(step));
    for (int i = 0; i < step->team->n_pes; i++)
        memcpy((char *)all_out + (size_t)i * n, line_payload(step, i), n);
    return 0;
}

int rs_collective_exchange(struct rs_team *team, const struct rs_signature *signature, const void *mine,
                           size_t n, void *all_out)
{
    if (RS_NEVER(n > RS_INLINE_NBYTES)) return rs_fail(RS_E_BUG, "%zu bytes do not fit a line", n);
    COLLECTIVE(team, signature, step, exchange_body(&step, mine, n, all_out));
}

/* Small: the root's line carries the data, and the root does not wait, but for every so many steps (see the
 * top). */
static int broadcast_inline(struct step *step, void *dest, const void *source, size_t nbytes, int root)
{
    struct rs_team *team = step->team;
    bool sync = ++team->unsynced >= RS_RING - 2;
    if (team->my_pe == root) {
        post(step, source, nbytes);
        if (dest != source) memmove(dest, source, nbytes);
    } else {
        post(step, NULL, 0); /* for who believes that this PE is the root: it finds out */
        RS_TRY(await(step, root));
        memcpy(dest, line_payload(step, root), nbytes);
    }
    return sync ? await_all(step) : 0;
}

static int broadcast_pull(struct step *step, const struct rs_signature *signature, void *dest,
                          const void *source, size_t nbytes, int root)
{
    struct rs_team *team = step->team;
    team->unsynced++;
    post(step, NULL, 0);
    if (team->my_pe == root) {
        if (dest != source) memmove(dest, source, nbytes);
    } else {
        RS_TRY(await(step, root));
        memcpy(dest, of_member(team, root, source), nbytes);
    }
    return second_step(step, signature);
}

int rs_collective_broadcast(struct rs_team *team, const struct rs_signature *signature, void *dest,
                            const void *source, size_t nbytes, int root)
{
    COLLECTIVE(team, signature, step,
               nbytes <= RS_INLINE_NBYTES ? broadcast_inline(&step, dest, source, nbytes, root)
                                          : broadcast_pull(&step, signature, dest, source, nbytes, root));
}

/* Member i's contribution to me lies at source + offset there; copy it as soon as i has arrived, my own
 * first. */
static int pull_all(struct step *step, const struct rs_signature *signature, void *dest, const void *source,
                    size_t nbytes, bool gather)
{
    struct rs_team *team = step->team;
    size_t offset = gather ? 0 : (size_t)team->my_pe * nbytes;
    post(step, NULL, 0);
    for (int k = 0; k < team->n_pes; k++) {
        int i = (team->my_pe + k) % team->n_pes; /* not all from the same one at a time */
        if (i != team->my_pe) RS_TRY(await(step, i));
        memmove((char *)dest + (size_t)i * nbytes, of_member(team, i, source) + offset, nbytes);
    }
    team->unsynced = 0;
    return second_step(step, signature);
}

static int alltoall_inline(struct step *step, void *dest, const void *source, size_t nbytes)
{
    const struct rs_team *team = step->team;
    post(step, source, nbytes * (size_t)team->n_pes);
    RS_TRY(await_all(step));
    for (int i = 0; i < team->n_pes; i++)
        memcpy((char *)dest + (size_t)i * nbytes,
               (const char *)line_payload(step, i) + (size_t)team->my_pe * nbytes, nbytes);
    return 0;
}

int rs_collective_alltoall(struct rs_team *team, const struct rs_signature *signature, void *dest,
                           const void *source, size_t nbytes)
{
    COLLECTIVE(team, signature, step,
               nbytes <= RS_INLINE_NBYTES / (size_t)team->n_pes
                   ? alltoall_inline(&step, dest, source, nbytes)
                   : pull_all(&step, signature, dest, source, nbytes, false));
}

int rs_collective_fcollect(struct rs_team *team, const struct rs_signature *signature, void *dest,
                           const void *source, size_t nbytes)
{
    COLLECTIVE(team, signature, step,
               nbytes <= RS_INLINE_NBYTES ? exchange_body(&step, source, nbytes, dest)
                                          : pull_all(&step, signature, dest, source, nbytes, true));
}

static int reduce_inline(struct step *step, void *dest, size_t nbytes, size_t n, const void *source,
                         enum rs_type type, int op)
{
    _Alignas(16) unsigned char sum[RS_INLINE_NBYTES], in[RS_INLINE_NBYTES];
    post(step, source, nbytes);
    RS_TRY(await_all(step));
    memcpy(sum, line_payload(step, 0), nbytes);
    for (int i = 1; i < step->team->n_pes; i++) {
        memcpy(in, line_payload(step, i), nbytes);
        rs_reduce_combine(type, op, sum, in, n);
    }
    memcpy(dest, sum, nbytes);
    return 0;
}

/* Large: each member reduces its share of the elements and stores it in everyone's dest. In place is safe: of
 * a share of source, and of the same share of dest, nobody but its owner reads or writes anything. */
static int reduce_shares(struct step *step, const struct rs_signature *signature, void *dest,
                         const void *source, size_t n, enum rs_type type, int op)
{
    struct rs_team *team = step->team;
    size_t width = rs_type_nbytes(type), n_members = (size_t)team->n_pes;
    size_t share =
        (n / n_members + 64) & ~(size_t)63; /* whole cache lines, so that shares do not meet in one */
    size_t begin_at = share * (size_t)team->my_pe < n ? share * (size_t)team->my_pe : n;
    size_t end_at = begin_at + share < n ? begin_at + share : n;
    _Alignas(64) unsigned char sum[8192];
    post(step, NULL, 0);
    RS_TRY(await_all(step));
    for (size_t at = begin_at; at < end_at;) {
        size_t piece = end_at - at < sizeof sum / width ? end_at - at : sizeof sum / width;
        memcpy(sum, of_member(team, 0, source) + at * width, piece * width);
        for (int i = 1; i < team->n_pes; i++)
            rs_reduce_combine(type, op, sum, of_member(team, i, source) + at * width, piece);
        for (int i = 0; i < team->n_pes; i++)
            memcpy(of_member(team, i, dest) + at * width, sum, piece * width);
        at += piece;
    }
    return second_step(step, signature);
}

int rs_collective_reduce(struct rs_team *team, const struct rs_signature *signature, void *dest,
                         const void *source, size_t n, enum rs_type type, int op)
{
    size_t nbytes = n * rs_type_nbytes(type);
    COLLECTIVE(team, signature, step,
               nbytes <= RS_INLINE_NBYTES ? reduce_inline(&step, dest, nbytes, n, source, type, op)
                                          : reduce_shares(&step, signature, dest, source, n, type, op));
}

void rs_collective_leave(struct rs_team *team)
{
    struct step step = {.team = team, .job = team->job, .sequence = ++team->sequence};
    post(&step, NULL, 0);
}

bool rs_collective_all_left(const struct rs_team *team, uint64_t sequence)
{
    for (int i = 0; i < team->n_pes; i++) {
        const struct rs_line *line = &team->posts[i]->lines[sequence % RS_RING];
        if (atomic_load_explicit(&line->sequence, memory_order_acquire) < sequence) return false;
    }
    return true;
}
