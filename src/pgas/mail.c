/* SPDX-License-Identifier: MIT
 *
 * A hash of lists under one lock: letters are few at any time, and each is looked for by one thread.
 */
#include "pgas/mail.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

int rs_mail_init(struct rs_mail *mail)
{
    memset(mail, 0, sizeof *mail);
    pthread_mutex_init(&mail->lock, NULL);
    return 0;
}

void rs_mail_fini(struct rs_mail *mail)
{
    for (int b = 0; b < RS_MAIL_BUCKETS; b++)
        for (struct rs_letter *letter = mail->buckets[b], *next; letter; letter = next) {
            next = letter->next;
            free(letter);
        }
    pthread_mutex_destroy(&mail->lock);
    memset(mail, 0, sizeof *mail);
}

static size_t bucket_of(const struct rs_letter_key *key)
{
    uint64_t h =
        (key->number << 8 ^ key->round ^ (uint64_t)key->team << 32 ^ key->kind) + (uint32_t)key->from;
    return (size_t)((h * UINT64_C(0x9e3779b97f4a7c15)) >> 58) % RS_MAIL_BUCKETS;
}

static bool is_for(const struct rs_letter_key *a, const struct rs_letter_key *b)
{
    return a->kind == b->kind && a->team == b->team && a->number == b->number && a->round == b->round &&
           a->from == b->from;
}

int rs_mail_put(struct rs_mail *mail, const struct rs_letter_head *head, const void *body, size_t nbytes)
{
    struct rs_letter *letter = malloc(sizeof *letter + nbytes);
    if (!letter) return rs_fail(RS_E_NOMEM, "no memory for a message of %zu bytes", nbytes);
    *letter = (struct rs_letter){.head = *head, .nbytes = nbytes};
    if (nbytes) memcpy(letter->bytes, body, nbytes);
    pthread_mutex_lock(&mail->lock);
    struct rs_letter **at = &mail->buckets[bucket_of(&head->key)];
    while (*at) at = &(*at)->next; /* behind: of equal ones the oldest comes first */
    *at = letter;
    atomic_fetch_add_explicit(&mail->n_come, 1, memory_order_release);
    pthread_mutex_unlock(&mail->lock);
    return 0;
}

struct rs_letter *rs_mail_take(struct rs_mail *mail, const struct rs_letter_key *key)
{
    pthread_mutex_lock(&mail->lock);
    struct rs_letter **at = &mail->buckets[bucket_of(key)];
    while (*at && !is_for(&(*at)->head.key, key)) at = &(*at)->next;
    struct rs_letter *letter = *at;
    if (letter) *at = letter->next;
    pthread_mutex_unlock(&mail->lock);
    return letter;
}

bool rs_mail_read(struct rs_mail *mail, const struct rs_letter_key *key, void *body_out, size_t nbytes)
{
    pthread_mutex_lock(&mail->lock);
    const struct rs_letter *letter = mail->buckets[bucket_of(key)];
    while (letter && !(is_for(&letter->head.key, key) && letter->nbytes == nbytes)) letter = letter->next;
    if (letter) memcpy(body_out, letter->bytes, nbytes);
    pthread_mutex_unlock(&mail->lock);
    return letter != NULL;
}
