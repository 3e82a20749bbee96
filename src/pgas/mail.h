/* SPDX-License-Identifier: MIT
 *
 * Messages between PEs of different hosts, kept until the thread that waits for them takes them. A letter is found by
 * what it is about: kind, team, number, round and sender. They may come before the receiver knows the team.
 */
#ifndef RS_PGAS_MAIL_H
#define RS_PGAS_MAIL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/calls.h"

enum rs_letter_kind {
    RS_LETTER_MEET = 1, /* a meet of a team: what the hosts know so far */
    RS_LETTER_PIECE,    /* data of a collective */
    RS_LETTER_SET,      /* a member of an active set says which slot it took */
    RS_LETTER_ASK, /* what did you call as this meet of this team, and for whom do you wait? (question.c) */
    RS_LETTER_ANSWER
};
struct rs_letter_key {
    uint32_t kind, team;
    uint64_t number;
    uint32_t round;
    int32_t from; /* PE of the world; filled in where it arrives */
};
struct rs_letter_head { /* as it travels */
    struct rs_letter_key key;
    uint64_t history;
    struct rs_signature signature;
};
_Static_assert(sizeof(struct rs_letter_head) <= 128, "fits RS_NETWORK_HEAD_NBYTES");

struct rs_letter {
    struct rs_letter *next;
    struct rs_letter_head head;
    size_t nbytes;
    unsigned char bytes[];
};
#define RS_MAIL_BUCKETS 64
struct rs_mail {
    pthread_mutex_t lock; /* the lists */
    struct rs_letter *buckets[RS_MAIL_BUCKETS];
    _Atomic uint64_t n_come; /* W: under the lock, after the letter is in, release. R: who waits, acquire: has
                                anything come since the last look? */
};

int rs_mail_init(struct rs_mail *mail);
void rs_mail_fini(struct rs_mail *mail);
/* Keep a copy. NOMEM. */
int rs_mail_put(struct rs_mail *mail, const struct rs_letter_head *head, const void *body, size_t nbytes);
/* The oldest letter with this key, the caller's to free; NULL when there is none yet. */
struct rs_letter *rs_mail_take(struct rs_mail *mail, const struct rs_letter_key *key);
/* Copy the body of such a letter, which stays. False: there is none of nbytes. */
bool rs_mail_read(struct rs_mail *mail, const struct rs_letter_key *key, void *body_out, size_t nbytes);

#endif
