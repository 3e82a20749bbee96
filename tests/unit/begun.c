/* SPDX-License-Identifier: MIT
 *
 * See begun.h.
 */
#include "begun.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "pes.h"
#include "rocshmem/rocshmem.h"

void begun_init(struct begun *begun, uint64_t seed)
{
    memset(begun, 0, sizeof *begun);
    pthread_mutex_init(&begun->lock, NULL);
    for (int pe = 0; pe < BEGUN_PES; pe++) begun->last[pe] = &begun->first[pe];
    begun->random = seed;
}

void begun_fini(struct begun *begun)
{
    for (int pe = 0; pe < BEGUN_PES; pe++)
        for (struct begun_item *item = begun->first[pe], *next; item; item = next) {
            next = item->next;
            free(item);
        }
    pthread_mutex_destroy(&begun->lock);
}

/* By words where it can, so that a reader that is to find out that it was overtaken is no data race. */
static void move(unsigned char *to, const unsigned char *from, size_t nbytes)
{
    if (((uintptr_t)to | (uintptr_t)from | nbytes) % 8 || nbytes > 256) {
        memcpy(to, from, nbytes);
        return;
    }
    for (size_t i = 0; i < nbytes; i += 8)
        __atomic_store_n((uint64_t *)(void *)(to + i),
                         __atomic_load_n((const uint64_t *)(const void *)(from + i), __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
}

static void execute(const struct begun_item *item)
{
    if (item->nbytes)
        move(item->put ? item->there : item->here, item->put ? item->here : item->there, item->nbytes);
    if (!item->word) return;
    if (item->sig_op == ROCSHMEM_SIGNAL_ADD)
        __atomic_fetch_add(item->word, item->value, __ATOMIC_ACQ_REL);
    else
        __atomic_store_n(item->word, item->value, __ATOMIC_RELEASE);
}

static void finish(struct begun *begun, struct begun_item *item, uint64_t number)
{
    int status = 0;
    if (number == atomic_load(&begun->fail_at))
        status = rs_fail_pe(RS_E_PEER, item->pe, "the test's network failed");
    item->done(item->arg, status);
    free(item);
}

/* The first one towards a PE. NULL: nothing is begun, or it is not its time. */
static struct begun_item *take(struct begun *begun, uint64_t *number_out)
{
    struct begun_item *item = NULL;
    pthread_mutex_lock(&begun->lock);
    int pe = (int)(pes_random(&begun->random) % BEGUN_PES);
    for (int k = 0; k < BEGUN_PES && !item; k++) {
        int at = (pe + k) % BEGUN_PES;
        item = begun->first[at];
        if (!item) continue;
        begun->first[at] = item->next;
        if (!item->next) begun->last[at] = &begun->first[at];
    }
    if (item) {
        *number_out = atomic_fetch_add(&begun->n_done, 1) + 1;
        if (*number_out != atomic_load(&begun->fail_at)) execute(item);
    }
    pthread_mutex_unlock(&begun->lock);
    return item;
}

unsigned begun_progress(struct begun *begun)
{
    uint64_t number = 0;
    if (atomic_load(&begun->held)) return 0;
    struct begun_item *item = take(begun, &number);
    if (!item) return 0;
    finish(begun, item, number);
    return 1;
}

int begun_add(struct begun *begun, const struct begun_item *item)
{
    struct begun_item *copy = malloc(sizeof *copy);
    CHECK(copy && item->pe >= 0 && item->pe < BEGUN_PES);
    *copy = *item;
    copy->next = NULL;
    pthread_mutex_lock(&begun->lock);
    *begun->last[item->pe] = copy;
    begun->last[item->pe] = &copy->next;
    atomic_fetch_add(&begun->n_begun, 1);
    bool at_once = pes_random(&begun->random) % 4 == 0;
    pthread_mutex_unlock(&begun->lock);
    if (at_once) (void)begun_progress(begun);
    return 0;
}
