/* SPDX-License-Identifier: MIT
 *
 * What is rare in a step of a team: waiting, saying for whom, and finding out how calls differ.
 */
#include "pgas/step.h"

#include <inttypes.h>
#include <stdio.h>

const unsigned char rs_step_nothing[RS_INLINE_NBYTES];

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
    return team->posts[i] && rs_called_read(&team->posts[i]->called[sequence % RS_RING], sequence, out);
}

void rs_step_describe(const void *arg, struct rs_waits *out)
{
    const struct rs_step *step = arg;
    const struct rs_team *team = step->team;
    char call[160] = "", *text = out->text;
    struct rs_signature mine;
    uint64_t number = team->span ? rs_team_meets(team) : step->sequence - team->base;
    const size_t nbytes = sizeof out->text;
    if (called_by(team, team->my_pe, step->sequence, &mine))
        rs_signature_format(&mine, call, sizeof call);
    else if (step->signature)
        rs_signature_format(step->signature, call, sizeof call);
    *out = (struct rs_waits){.kind = RS_WAITS_PES, .team = team->id, .number = number};
    int n = snprintf(text, nbytes, "%s #%" PRIu64 ", waits for PE", call, number);
    if (step->awaits && n > 0 && (size_t)n < nbytes)
        snprintf(text + n, nbytes - (size_t)n, " %d of another host, or who is behind it", step->awaits - 1);
    if (step->awaits) out->pes[out->n_pes++] = step->awaits - 1;
    if (step->awaits) return;
    for (int i = 0; i < team->n_pes; i++) {
        if (!team->posts[i] || (team->span && team->my_pe != team->span->near[0] && i != team->span->near[0]))
            continue;
        const struct rs_line *line = rs_step_line(step, i);
        if (i == team->my_pe || atomic_load_explicit(&line->sequence, memory_order_relaxed) >= step->sequence)
            continue;
        if (out->n_pes < RS_WAITS_MOST) out->pes[out->n_pes] = team->pes[i];
        out->n_pes++;
        if (n > 0 && (size_t)n < nbytes) n += snprintf(text + n, nbytes - (size_t)n, " %d", team->pes[i]);
    }
}

int rs_step_claim_slow(struct rs_team *team)
{
    struct rs_wait wait;
    rs_wait_begin(&wait, &team->job->watch);
    do {
        int rc = rs_wait_pause(&wait);
        if (rc < 0) return rc;
    } while (atomic_exchange_explicit(&team->busy, 1, memory_order_acquire));
    return 0;
}

int rs_step_await_slow(const struct rs_step *step, int i)
{
    const struct rs_team *team = step->team;
    const struct rs_line *line = rs_step_line(step, i);
    struct rs_wait wait;
    rs_self->awaits = (uint64_t)team->id << 32 | (uint32_t)(team->pes[i] + 1);
    rs_self->awaits_step = step->sequence;
    rs_wait_begin(&wait, &team->job->watch);
    do {
        int rc = rs_wait_pause(&wait);
        if (RS_UNLIKELY(rc < 0)) return rc;
    } while (atomic_load_explicit(&line->sequence, memory_order_acquire) < step->sequence);
    return 0;
}

int rs_calls_differ(struct rs_job *job, uint32_t call, const char *ours, int peer, const char *theirs,
                    const char *where)
{
    char name[64], text[512];
    rs_call_name(call, name, sizeof name);
    snprintf(
        text, sizeof text,
        "collective calls differ: PE %d called %s while PE %d called %s%s; all members must make the same "
        "calls in the same order",
        job->my_pe, ours, peer, theirs, where);
    rs_board_abort(&job->board, RS_E_MISMATCH, peer, name, text);
    return rs_board_broken(&job->board);
}

int rs_signatures_differ(struct rs_job *job, uint32_t call, const struct rs_signature *ours, int peer,
                         const struct rs_signature *theirs, const char *what, uint64_t number)
{
    char mine[160], other[160], where[64];
    rs_signature_format(ours, mine, sizeof mine);
    rs_signature_format(theirs, other, sizeof other);
    snprintf(where, sizeof where, " (%s #%" PRIu64 " of the team)", what, number);
    return rs_calls_differ(job, call, mine, peer, other, where);
}

/* The first call of this team that differs among those that are still noted. */
int rs_step_mismatch(const struct rs_step *step, int i)
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
    return rs_signatures_differ(team->job, step->signature->call, &mine, team->pes[i], &theirs, "collective",
                                team->span ? rs_team_meets(team)
                                           : at - team->base); /* over hosts all meet in each */
}

void rs_step_abandon(const struct rs_step *step, int rc)
{
    struct rs_job *job = step->team->job;
    char call[160], name[64], text[384];
    rs_signature_format(step->signature, call, sizeof call);
    rs_call_name(step->signature->call, name, sizeof name);
    snprintf(text, sizeof text,
             "PE %d left %s half done because it was %s; the job cannot do collectives any more", job->my_pe,
             call, rc == RS_E_TIMEOUT ? "out of time (ROCSHMEM_TIMEOUT)" : "interrupted");
    rs_board_abort(&job->board, RS_E_BROKEN, job->my_pe, name, text);
}
