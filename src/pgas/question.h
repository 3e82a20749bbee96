/* SPDX-License-Identifier: MIT
 *
 * Who waits long for a letter of another host asks its sender what it called in that meet, and for whom it waits: other
 * calls, or two PEs that wait for each other in different teams, become an error that names both, where else both would
 * wait for ever. The answer is given by whichever thread makes progress on the network there.
 */
#ifndef RS_PGAS_QUESTION_H
#define RS_PGAS_QUESTION_H

#include "base/wait.h"
#include "pgas/job.h"
#include "pgas/step.h"

struct rs_question { /* of one wait, on the stack of the thread in it */
    struct rs_step *step;
    struct rs_letter_key key; /* of the letter awaited */
    struct rs_wait *wait;
    uint64_t due_ns; /* 0: nothing was asked, and this wait is not published */
};

int rs_questions_create(struct rs_asked **asked_out);
void rs_questions_destroy(struct rs_asked *asked); /* NULL is fine */

/* Is it time to ask, or to see whether there is an answer? The clock is read only once the wait sleeps. */
bool rs_question_slow(const struct rs_question *question);
static inline bool rs_question_is_due(const struct rs_question *question)
{
    return question->wait->start_ns && rs_question_slow(question);
}
/* 0, or MISMATCH on record for everyone. */
int rs_question_ask(struct rs_question *question);
/* The wait is over. */
void rs_question_end(const struct rs_question *question);
/* Somebody asks; called inside the network's progress. */
void rs_question_answer(struct rs_job *job, const struct rs_letter_head *ask);

#endif
