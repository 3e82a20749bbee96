/* SPDX-License-Identifier: MIT
 *
 * What a network has begun and not done, for tests: kept in order towards each PE, done when somebody makes progress, now
 * and then at once, in any order between PEs; and it can fail.
 */
#ifndef RS_TESTS_UNIT_BEGUN_H
#define RS_TESTS_UNIT_BEGUN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BEGUN_PES 8

struct begun_item {
    int pe;
    bool put;
    unsigned char *there, *here;
    size_t nbytes;
    uint64_t *word; /* NULL: no signal */
    uint64_t value;
    int sig_op;
    void (*done)(void *arg, int status);
    void *arg;
    struct begun_item *next;
};
struct begun {
    pthread_mutex_t lock; /* everything but n_done and fail_at; held while bytes are moved */
    struct begun_item *first[BEGUN_PES], **last[BEGUN_PES];
    uint64_t random;
    _Atomic bool held; /* nothing is done meanwhile */
    _Atomic uint64_t n_begun, n_done;
    _Atomic uint64_t fail_at; /* the one of this number, counted from 1, fails: its done says so. 0: none */
};

void begun_init(struct begun *begun, uint64_t seed);
void begun_fini(struct begun *begun); /* what is left is dropped */
int begun_add(struct begun *begun, const struct begun_item *item);
unsigned begun_progress(struct begun *begun); /* how many were done */

#endif
