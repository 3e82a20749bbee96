/* SPDX-License-Identifier: MIT
 *
 * What a PE answers: the signature that it noted for the meet, if it has begun it; and what its one waiting thread has
 * published in job->asked, under a lock that is held for a copy only.
 */
#include "pgas/question.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/os.h"
#include "pgas/deadlock.h"

#define PATIENCE_NS 1000000000u

/* The wait that a PE publishes when it has lasted. */
struct rs_asked {
    pthread_mutex_t lock;
    bool waits;
    struct rs_letter_key key; /* of the letter that it waits for */
    struct rs_signature call; /* that it is in */
};
struct answer {
    int32_t has_met; /* it has begun the meet that was asked for, and called this: */
    int32_t waits;   /* it waits for a letter, with no other thread that could call: */
    struct rs_signature met, call;
    struct rs_letter_key key;
};

int rs_questions_create(struct rs_asked **asked_out)
{
    struct rs_asked *asked = calloc(1, sizeof *asked);
    if (!asked) return rs_fail(RS_E_NOMEM, "no memory for what other hosts ask");
    pthread_mutex_init(&asked->lock, NULL);
    *asked_out = asked;
    return 0;
}

void rs_questions_destroy(struct rs_asked *asked)
{
    if (!asked) return;
    pthread_mutex_destroy(&asked->lock);
    free(asked);
}

bool rs_question_slow(const struct rs_question *question)
{
    static const uint64_t first_sleep_ns = 40000; /* shorter ones come while it still yields */
    if (question->wait->sleep_ns < first_sleep_ns || !question->step->team->job->asked) return false;
    uint64_t now = rs_os_now_ns();
    return now > (question->due_ns ? question->due_ns : question->wait->start_ns + PATIENCE_NS);
}

/* Meets of a team that this PE has begun, and what it called in one of them. */
static uint64_t meets_of(struct rs_job *job, uint32_t id, uint64_t number, struct rs_signature *call_out,
                         bool *known_out)
{
    uint64_t n = 0;
    *known_out = false;
    pthread_mutex_lock(&job->teams.lock);
    const struct rs_team *team = rs_team_find_locked(&job->teams, id);
    if (team && team->span) {
        n = atomic_load_explicit(&team->span->n_met, memory_order_acquire);
        if (n >= number)
            *known_out = rs_called_read(&team->span->called[number % RS_SPAN_CALLED], number, call_out);
    }
    pthread_mutex_unlock(&job->teams.lock);
    return n;
}

static bool has_other_threads(void)
{
    return rs_deadlock_other_threads(getpid());
}

void rs_question_answer(struct rs_job *job, const struct rs_letter_head *ask)
{
    struct answer answer = {0};
    struct rs_letter_head head = {.key = ask->key};
    bool known;
    (void)meets_of(job, ask->key.team, ask->key.number, &answer.met, &known);
    answer.has_met = known;
    pthread_mutex_lock(&job->asked->lock);
    answer.waits = job->asked->waits;
    answer.key = job->asked->key;
    answer.call = job->asked->call;
    pthread_mutex_unlock(&job->asked->lock);
    if (answer.waits && has_other_threads()) answer.waits = 0;
    head.key.kind = RS_LETTER_ANSWER;
    /* When it can't be sent, the peer asks again. */
    (void)job->net->ops->send(job->net->network, ask->key.from, &head, sizeof head, &answer, sizeof answer);
}

/* ---- the one who asks ---- */

static void publish(struct rs_job *job, const struct rs_question *question)
{
    pthread_mutex_lock(&job->asked->lock);
    job->asked->waits = true;
    job->asked->key = question->key;
    job->asked->call = *question->step->signature;
    pthread_mutex_unlock(&job->asked->lock);
}

void rs_question_end(const struct rs_question *question)
{
    struct rs_asked *asked = question->step->team->job->asked;
    if (!question->due_ns) return;
    pthread_mutex_lock(&asked->lock);
    asked->waits = false;
    pthread_mutex_unlock(&asked->lock);
}

static int judge(const struct rs_question *question, const struct answer *answer)
{
    const struct rs_step *step = question->step;
    struct rs_job *job = step->team->job;
    int peer = question->key.from;
    char mine[160], theirs[160], ours[192], others[192];
    struct rs_signature there;
    bool known;
    if (answer->has_met && rs_signature_hash(&answer->met) != rs_signature_hash(step->signature))
        return rs_signatures_differ(job, step->signature->call, step->signature, peer, &answer->met,
                                    "collective", question->key.number);
    if (answer->has_met || !answer->waits || answer->key.from != job->my_pe) return 0;
    /* It waits for this PE, in a meet that this one has not begun, and cannot begin. */
    if (meets_of(job, answer->key.team, answer->key.number, &there, &known) >= answer->key.number) return 0;
    if (has_other_threads()) return 0;
    rs_signature_format(step->signature, mine, sizeof mine);
    rs_signature_format(&answer->call, theirs, sizeof theirs);
    snprintf(ours, sizeof ours, "%s and waits for PE %d", mine, peer);
    snprintf(others, sizeof others, "%s and waits for PE %d", theirs, job->my_pe);
    return rs_calls_differ(job, step->signature->call, ours, peer, others, "");
}

int rs_question_ask(struct rs_question *question)
{
    struct rs_job *job = question->step->team->job;
    struct rs_letter_key key = question->key;
    struct rs_letter *letter;
    int rc = 0;
    key.kind = RS_LETTER_ANSWER;
    question->due_ns = rs_os_now_ns() + PATIENCE_NS; /* of the next time */
    publish(job, question);
    while (rc == 0 && (letter = rs_mail_take(&job->mail, &key))) {
        struct answer answer;
        if (letter->nbytes == sizeof answer) {
            memcpy(&answer, letter->bytes, sizeof answer);
            rc = judge(question, &answer);
        }
        free(letter);
    }
    struct rs_letter_head head = {.key = key};
    head.key.kind = RS_LETTER_ASK;
    if (rc == 0) rc = job->net->ops->send(job->net->network, question->key.from, &head, sizeof head, NULL, 0);
    return rc;
}
