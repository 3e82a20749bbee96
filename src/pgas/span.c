/* SPDX-License-Identifier: MIT
 *
 * How the members of a team meet when they are on several hosts. On each host the first member leads: it waits for its
 * host's lines, packs what they carry, and the leaders gather all packs in ceil(log2 hosts) rounds: in round r a leader
 * sends what it has to the one 2^r places before it and hears from the one 2^r places behind, so that each has twice as
 * much afterwards. What came it hands to its host in lines of its own. So a meet without payload is a barrier of one
 * letter a round, and all members have come when the last round is over, because each pack says that its host has.
 *
 * Letters carry the sender's history of calls (step.h) and the signature of the call it is in: other calls on another
 * host are found out by the first letter.
 *
 * Lines of a host. In a meet each member posts one line, which only its leader reads; then the leader posts, which all
 * of the host read. Both wait for the other, so that a member that has left a meet knows that all of its host have
 * entered it: the lines' argument in step.h holds, with meets as synced steps. Where a leader has more to say than fits
 * a few lines, all of the host wait for each other after every SHARED of them. These lines are no calls: they are not
 * in the history, since hosts with one member have none.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pgas/question.h"
#include "pgas/step.h"

#define SHARED 32                           /* lines in a row */
#define FIRST_NBYTES (RS_INLINE_NBYTES - 4) /* beside the length */

/* What the hosts brought, from one on: for each the number of bytes of its pack, and the pack: for each of its members in
 * order a length of one byte, and the bytes. A pack of which all lengths are 0 is left out: 0 bytes. */
struct packs {
    unsigned char *bytes; /* owned */
    size_t nbytes, room;
};

static int packs_add(struct packs *packs, const void *bytes, size_t nbytes)
{
    if (packs->nbytes + nbytes > packs->room) {
        size_t room =
            packs->room * 2 > packs->nbytes + nbytes ? packs->room * 2 : packs->nbytes + nbytes + 256;
        unsigned char *more = realloc(packs->bytes, room);
        if (!more) return rs_fail(RS_E_NOMEM, "no memory for what %zu bytes of members bring", room);
        packs->bytes = more;
        packs->room = room;
    }
    if (nbytes) memcpy(packs->bytes + packs->nbytes, bytes, nbytes);
    packs->nbytes += nbytes;
    return 0;
}

/* The lines of this host, which have all come, as the first pack. */
static int pack_near(const struct rs_step *step, struct packs *packs)
{
    const struct rs_team *team = step->team;
    const struct rs_span *span = team->span;
    uint32_t nbytes = 0;
    for (int k = 0; k < span->n_near; k++)
        nbytes += team->posts[span->near[k]]->line_nbytes[step->sequence % RS_RING];
    if (nbytes) nbytes += (uint32_t)span->n_near;
    RS_TRY(packs_add(packs, &nbytes, sizeof nbytes));
    for (int k = 0; nbytes && k < span->n_near; k++) {
        const unsigned char *length = &team->posts[span->near[k]]->line_nbytes[step->sequence % RS_RING];
        RS_TRY(packs_add(packs, length, 1));
        RS_TRY(packs_add(packs, rs_step_line(step, span->near[k])->payload, *length));
    }
    return 0;
}

/* ---- letters ---- */

static int letters_differ(const struct rs_step *step, const struct rs_letter *letter)
{
    struct rs_job *job = step->team->job;
    const struct rs_signature *mine = step->signature, *theirs = &letter->head.signature;
    if (rs_signature_hash(mine) != rs_signature_hash(theirs))
        return rs_signatures_differ(job, mine->call, mine, letter->head.key.from, theirs, "collective",
                                    letter->head.key.number);
    char call[160];
    rs_signature_format(mine, call, sizeof call);
    return rs_calls_differ(job, mine->call, call, letter->head.key.from, call,
                           " (but an earlier call of the team, or a later step, differed)");
}

static int await_letter(struct rs_question *question, struct rs_letter **letter_out)
{
    const struct rs_step *step = question->step;
    struct rs_mail *mail = &step->team->job->mail;
    rs_wait_begin(question->wait, &step->team->job->watch);
    for (;;) {
        uint64_t n_come = atomic_load_explicit(&mail->n_come, memory_order_acquire);
        struct rs_letter *letter = rs_mail_take(mail, &question->key);
        if (letter) {
            *letter_out = letter;
            if (RS_LIKELY(letter->head.history == step->team->history)) return 0;
            int rc = letters_differ(step, letter);
            free(letter);
            return rc < 0 ? rc : RS_E_MISMATCH;
        }
        do {
            RS_TRY(rs_wait_pause(question->wait));
            if (RS_UNLIKELY(rs_question_is_due(question))) RS_TRY(rs_question_ask(question));
        } while (atomic_load_explicit(&mail->n_come, memory_order_relaxed) == n_come);
    }
}

int rs_span_await(struct rs_step *step, const struct rs_letter_key *key, struct rs_letter **letter_out)
{
    struct rs_wait wait;
    struct rs_question question = {.step = step, .key = *key, .wait = &wait};
    step->awaits = key->from + 1;
    int rc = await_letter(&question, letter_out);
    step->awaits = 0;
    rs_question_end(&question);
    return rc;
}

int rs_span_send(const struct rs_step *step, int to, const struct rs_letter_key *key, const void *body,
                 size_t nbytes)
{
    const struct rs_team *team = step->team;
    const struct rs_net *net = team->job->net;
    struct rs_letter_head head = {.key = *key, .history = team->history, .signature = *step->signature};
    head.key.from = team->job->my_pe;
    return net->ops->send(net->network, team->pes[to], &head, sizeof head, body, nbytes);
}

/* ---- among leaders ---- */

/* Where the k-th pack begins. */
static size_t packs_find(const struct packs *packs, int k)
{
    size_t at = 0;
    uint32_t nbytes;
    for (; k > 0 && at + sizeof nbytes <= packs->nbytes; k--) {
        memcpy(&nbytes, packs->bytes + at, sizeof nbytes);
        at += sizeof nbytes + nbytes;
    }
    return at < packs->nbytes ? at : packs->nbytes;
}

static int gather(struct rs_step *step, struct packs *packs)
{
    const struct rs_team *team = step->team;
    const struct rs_span *span = team->span;
    int n = span->n_hosts;
    struct rs_letter_key key = {.kind = RS_LETTER_MEET, .team = team->id, .number = rs_team_meets(team)};
    for (int distance = 1; distance < n; distance *= 2, key.round++) {
        int n_sent = distance < n - distance ? distance : n - distance;
        int to = span->first[(span->mine + n - distance) % n],
            from = span->first[(span->mine + distance) % n];
        struct rs_letter *letter;
        RS_TRY(rs_span_send(step, to, &key, packs->bytes, packs_find(packs, n_sent)));
        key.from = team->pes[from];
        RS_TRY(rs_span_await(step, &key, &letter));
        int rc = packs_add(packs, letter->bytes, letter->nbytes);
        free(letter);
        if (rc < 0) return rc;
    }
    return 0;
}

/* ---- within a host ---- */

/* A line that is no call. */
static void begin_line(struct rs_step *step)
{
    step->sequence = ++step->team->sequence;
}

int rs_span_meet_near(struct rs_step *step)
{
    const struct rs_span *span = step->team->span;
    begin_line(step);
    rs_step_post(step, NULL, 0);
    for (int k = 0; k < span->n_near; k++)
        if (span->near[k] != step->team->my_pe) RS_TRY(rs_step_await_near(step, span->near[k]));
    return 0;
}

/* The leader hands the packs to its host; the others get them. */
static int share(struct rs_step *step, struct packs *packs)
{
    struct rs_team *team = step->team;
    int leader = team->span->near[0];
    bool leads = team->my_pe == leader;
    uint32_t nbytes = (uint32_t)packs->nbytes;
    size_t done = 0;
    for (int n = 0; n == 0 || done < nbytes; n++) {
        size_t head = n == 0 ? sizeof nbytes : 0;
        if (n % SHARED == SHARED - 1) RS_TRY(rs_span_meet_near(step));
        begin_line(step);
        if (!leads) RS_TRY(rs_step_await_near(step, leader));
        unsigned char *payload = rs_step_line(step, leader)->payload;
        if (!leads && n == 0) memcpy(&nbytes, payload, sizeof nbytes);
        size_t part = nbytes - done < RS_INLINE_NBYTES - head ? nbytes - done : RS_INLINE_NBYTES - head;
        if (leads) {
            if (n == 0) memcpy(payload, &nbytes, sizeof nbytes);
            if (part) memcpy(payload + head, packs->bytes + done, part);
            rs_step_post_mine(step, 0);
        } else {
            RS_TRY(packs_add(packs, payload + head, part));
        }
        done += part;
    }
    return 0;
}

/* ---- the meet ---- */

/* step->all from the packs, of which the first is this host's. */
static int unpack(struct rs_step *step, const struct packs *packs)
{
    const struct rs_team *team = step->team;
    const struct rs_span *span = team->span;
    const unsigned char **at; /* by host; NULL: its pack is empty */
    at = calloc((size_t)span->n_hosts, sizeof *at);
    step->all = calloc((size_t)team->n_pes, RS_INLINE_NBYTES);
    int rc = 0;
    if (!at || !step->all) {
        free(at);
        return rs_fail(RS_E_NOMEM, "no memory for what %d members bring", team->n_pes);
    }
    size_t begin = 0;
    for (int k = 0; k < span->n_hosts && rc == 0; k++) {
        uint32_t nbytes = 0;
        if (begin + sizeof nbytes > packs->nbytes)
            rc = rs_fail(RS_E_BUG, "a host's part of a meet is not there");
        if (rc == 0) memcpy(&nbytes, packs->bytes + begin, sizeof nbytes);
        begin += sizeof nbytes;
        if (nbytes) at[(span->mine + k) % span->n_hosts] = packs->bytes + begin;
        begin += nbytes;
    }
    for (int i = 0; i < team->n_pes && rc == 0; i++) {
        const unsigned char **from = &at[span->host_of[i]];
        if (!*from) continue;
        size_t length = **from < RS_INLINE_NBYTES ? **from : RS_INLINE_NBYTES;
        memcpy(step->all + (size_t)i * RS_INLINE_NBYTES, *from + 1, length);
        *from += 1 + length;
    }
    free(at);
    return rc;
}

int rs_span_meet(struct rs_step *step)
{
    struct rs_team *team = step->team;
    struct rs_span *span = team->span;
    struct packs packs = {0};
    bool leads = team->my_pe == span->near[0];
    int rc = 0;
    free(step->all);
    step->all = NULL;
    uint64_t number = rs_team_meets(team) + 1;
    rs_called_write(&span->called[number % RS_SPAN_CALLED], number, step->signature);
    atomic_store_explicit(&span->n_met, number, memory_order_release);
    for (int k = 1; leads && k < span->n_near && rc == 0; k++) rc = rs_step_await_near(step, span->near[k]);
    if (leads && rc == 0) rc = pack_near(step, &packs);
    if (leads && rc == 0) rc = gather(step, &packs);
    /* A host's lengths alone mean that nobody brought anything: nothing to hand on. */
    if (leads && packs.nbytes == (size_t)span->n_hosts * sizeof(uint32_t)) packs.nbytes = 0;
    if (rc == 0 && span->n_near > 1) rc = share(step, &packs);
    if (rc == 0 && packs.nbytes > 0) rc = unpack(step, &packs);
    step->met = rc == 0;
    free(packs.bytes);
    return rc;
}

int rs_span_complete(const struct rs_step *step)
{
    const struct rs_net *net = step->team->job->net;
    return net->ops->quiet(net->network);
}
