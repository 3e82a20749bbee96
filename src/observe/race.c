/* SPDX-License-Identifier: MIT
 *
 * See race.h. Of each PE's memory the last accesses are kept in a list; those that happened before anything that can
 * still come are dropped when it fills up, then the oldest. Words that carry order are in a hash table; a word that has
 * to make room leaves its clock to all that are not found there.
 */
#include "observe/race.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/status.h"

#define KEPT 1024u   /* accesses of a PE's memory */
#define FEW 64u      /* below that nothing is dropped */
#define WORDS 16384u /* that carry order; a power of two */
#define PROBES 8u
#define TEAMS 512u
#define MEETS 16u /* collectives of a team that are told apart */

struct word {
    uint64_t place;
    int32_t owner; /* + 1; 0: free */
    int32_t reserved;
};

struct team {
    uint64_t key; /* 0: free */
    uint64_t number[MEETS], dest[MEETS], source[MEETS];
    int32_t first[MEETS]; /* who gave these */
    bool begun[MEETS];
};

struct list {
    uint32_t n, next_prune;
    struct rs_race_access kept[KEPT];
};

/* All under lock. Clocks are n_pes * RS_HANDS numbers. They lie behind this struct. */
struct rs_race {
    pthread_mutex_t lock;
    int n_pes;
    uint32_t n_words;
    bool loose;
    struct team teams[TEAMS];
    struct word words[WORDS];
};

/* ---- where things lie ---- */

static size_t clock_length(int n_pes)
{
    return (size_t)n_pes * RS_HANDS;
}

enum { ALL, EVICTED, FIRST_PE };

static size_t n_clocks(int n_pes)
{
    return FIRST_PE + (size_t)n_pes + (size_t)TEAMS * (MEETS + 1) + WORDS;
}

static size_t clocks_at(void)
{
    return (sizeof(struct rs_race) + 63) & ~(size_t)63;
}

static size_t lists_at(int n_pes)
{
    return (clocks_at() + n_clocks(n_pes) * clock_length(n_pes) * sizeof(uint32_t) + 63) & ~(size_t)63;
}

size_t rs_race_nbytes(int n_pes)
{
    return lists_at(n_pes) + (size_t)n_pes * sizeof(struct list);
}

static uint32_t *clock_at(struct rs_race *race, size_t i)
{
    return (uint32_t *)(void *)((char *)race + clocks_at()) + i * clock_length(race->n_pes);
}

static uint32_t *clock_of(struct rs_race *race, int pe)
{
    return clock_at(race, FIRST_PE + (size_t)pe);
}

static uint32_t *team_clock(struct rs_race *race, size_t team, size_t slot)
{
    return clock_at(race, FIRST_PE + (size_t)race->n_pes + team * (MEETS + 1) + slot);
}

static uint32_t *word_clock(struct rs_race *race, size_t word)
{
    return clock_at(race, FIRST_PE + (size_t)race->n_pes + (size_t)TEAMS * (MEETS + 1) + word);
}

static struct list *list_of(struct rs_race *race, int pe)
{
    return (struct list *)(void *)((char *)race + lists_at(race->n_pes)) + pe;
}

static void join(const struct rs_race *race, uint32_t *into, const uint32_t *from)
{
    for (size_t i = 0; i < clock_length(race->n_pes); i++)
        if (from[i] > into[i]) into[i] = from[i];
}

static uint32_t *hand_of(uint32_t *of_clock, int pe, enum rs_hand hand)
{
    return &of_clock[(size_t)pe * RS_HANDS + hand];
}

/* ---- life ---- */

int rs_race_init(struct rs_race *race, int n_pes)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    int rc = pthread_mutex_init(&race->lock, &attr);
    pthread_mutexattr_destroy(&attr);
    if (rc) return rs_fail(RS_E_SYSTEM, "no lock for checked mode: %s", strerror(rc));
    race->n_pes = n_pes;
    return 0;
}

static void lock(struct rs_race *race)
{
    if (pthread_mutex_lock(&race->lock) == EOWNERDEAD) pthread_mutex_consistent(&race->lock);
}

static void unlock(struct rs_race *race)
{
    pthread_mutex_unlock(&race->lock);
}

void rs_race_loosen(struct rs_race *race)
{
    lock(race);
    race->loose = true;
    unlock(race);
}

/* ---- words ---- */

static size_t hash_of(int owner, uint64_t place)
{
    uint64_t h = (place ^ (uint64_t)(uint32_t)owner << 48) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 40) % WORDS;
}

/* The place of a word in the table, or WORDS. */
static size_t find_word(const struct rs_race *race, int owner, uint64_t place)
{
    size_t at = hash_of(owner, place);
    for (size_t i = 0; i < PROBES; i++) {
        size_t k = (at + i) % WORDS;
        if (race->words[k].owner == owner + 1 && race->words[k].place == place) return k;
    }
    return WORDS;
}

static size_t make_word(struct rs_race *race, int owner, uint64_t place)
{
    size_t found = find_word(race, owner, place), at = hash_of(owner, place);
    if (found < WORDS) return found;
    for (size_t i = 0; i < PROBES; i++)
        if (race->words[(at + i) % WORDS].owner == 0) {
            at = (at + i) % WORDS;
            break;
        }
    if (race->words[at].owner) join(race, clock_at(race, EVICTED), word_clock(race, at));
    memset(word_clock(race, at), 0, clock_length(race->n_pes) * sizeof(uint32_t));
    race->words[at] = (struct word){place, owner + 1, 0};
    return at;
}

void rs_race_release(struct rs_race *race, int pe, int owner, uint64_t place)
{
    lock(race);
    join(race, clock_at(race, ALL), clock_of(race, pe));
    if (owner >= 0) join(race, word_clock(race, make_word(race, owner, place / 8)), clock_of(race, pe));
    unlock(race);
}

/* Who waits for a word inside a large put has seen that put, and all its PE did before. */
static bool join_puts(struct rs_race *race, int pe, int owner, uint64_t place, uint64_t nbytes)
{
    struct list *list = list_of(race, owner);
    uint32_t *mine = clock_of(race, pe);
    bool any = false;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct rs_race_access *a = &list->kept[i];
        if (!a->write || a->pe == pe || a->hand != RS_HAND_PUT || a->begin >= place + nbytes ||
            place >= a->begin + a->nbytes)
            continue;
        join(race, mine, clock_of(race, a->pe));
        uint32_t *hand = hand_of(mine, a->pe, RS_HAND_PUT);
        if (a->time > *hand) *hand = a->time;
        any = true;
    }
    return any;
}

void rs_race_acquire(struct rs_race *race, int pe, int owner, uint64_t place, uint64_t nbytes)
{
    lock(race);
    uint32_t *mine = clock_of(race, pe);
    bool known = false;
    if (owner >= 0) {
        for (uint64_t at = place / 8; at <= (place + nbytes - 1) / 8; at++) {
            size_t word = find_word(race, owner, at);
            if (word < WORDS) join(race, mine, word_clock(race, word));
            if (word < WORDS) known = true;
        }
        if (!known) join(race, mine, clock_at(race, EVICTED));
        if (join_puts(race, pe, owner, place, nbytes)) known = true;
    }
    if (!known || race->loose) join(race, mine, clock_at(race, ALL)); /* written by who knows */
    unlock(race);
}

void rs_race_order(struct rs_race *race, int pe, bool quiet)
{
    lock(race);
    uint32_t *mine = clock_of(race, pe), now = *hand_of(mine, pe, RS_HAND_NOW);
    *hand_of(mine, pe, RS_HAND_PUT) = now;
    if (quiet) *hand_of(mine, pe, RS_HAND_NBI) = now;
    unlock(race);
}

/* ---- collectives ---- */

/* The place of a team, made when it is new; TEAMS: there is no room, all share a clock. */
static size_t find_team(struct rs_race *race, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % TEAMS;
    for (size_t i = 0; i < TEAMS; i++) {
        size_t k = (at + i) % TEAMS;
        if (race->teams[k].key == 0) race->teams[k].key = key + 1;
        if (race->teams[k].key == key + 1) return k;
    }
    return TEAMS;
}

static bool differ(uint64_t a, uint64_t b)
{
    return a != RS_RACE_NO_PLACE && b != RS_RACE_NO_PLACE && a != b;
}

int rs_race_meet(struct rs_race *race, int pe, uint64_t key, uint64_t number, uint64_t dest, uint64_t source)
{
    int other = -1;
    lock(race);
    const uint32_t *mine = clock_of(race, pe);
    join(race, clock_at(race, ALL), mine);
    size_t k = find_team(race, key), slot = number % MEETS;
    if (k < TEAMS) {
        struct team *team = &race->teams[k];
        uint32_t *met = team_clock(race, k, slot);
        join(race, team_clock(race, k, MEETS), mine);
        if (team->number[slot] < number || !team->begun[slot]) {
            memset(met, 0, clock_length(race->n_pes) * sizeof *met);
            team->begun[slot] = true;
            team->number[slot] = number;
            team->dest[slot] = dest;
            team->source[slot] = source;
            team->first[slot] = pe;
        } else if (team->number[slot] == number &&
                   (differ(team->dest[slot], dest) || differ(team->source[slot], source))) {
            other = team->first[slot];
        }
        join(race, met, mine);
    }
    unlock(race);
    return other;
}

void rs_race_met(struct rs_race *race, int pe, uint64_t key, uint64_t number)
{
    lock(race);
    uint32_t *mine = clock_of(race, pe);
    size_t k = find_team(race, key), slot = number % MEETS;
    if (k < TEAMS)
        join(race, mine, team_clock(race, k, race->teams[k].number[slot] == number ? slot : (size_t)MEETS));
    if (k == TEAMS || race->loose) join(race, mine, clock_at(race, ALL));
    unlock(race);
}

/* ---- accesses ---- */

static bool before(struct rs_race *race, const struct rs_race_access *a, int pe)
{
    return a->time <= *hand_of(clock_of(race, pe), a->pe, a->hand);
}

/* Drop what nothing that comes can race with. */
static void prune(struct rs_race *race, struct list *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        bool wanted = false;
        for (int pe = 0; pe < race->n_pes && !wanted; pe++)
            wanted = pe != list->kept[i].pe && !before(race, &list->kept[i], pe);
        if (wanted) list->kept[n++] = list->kept[i];
    }
    if (n == KEPT) {
        memmove(list->kept, list->kept + KEPT / 4, (KEPT - KEPT / 4) * sizeof *list->kept);
        n -= KEPT / 4;
    }
    list->n = n;
    list->next_prune = n < FEW / 2 ? FEW : n > KEPT / 2 ? KEPT : 2 * n;
}

/* Has a's row of elements one that touches [begin, end)? */
static bool row_touches(const struct rs_race_access *a, uint64_t begin, uint64_t end)
{
    if (a->begin >= end || begin >= a->begin + a->nbytes) return false;
    if (!a->step || begin <= a->begin) return true;
    uint64_t in = (begin - a->begin) % a->step; /* where in a period the range begins */
    return in < a->width || in + (end - begin) > a->step;
}

static bool overlap(const struct rs_race_access *a, const struct rs_race_access *b)
{
    if (a->begin >= b->begin + b->nbytes || b->begin >= a->begin + a->nbytes) return false;
    if (!a->step && !b->step) return true;
    const struct rs_race_access *row = a->step ? a : b, *other = a->step ? b : a;
    if (!other->step) return row_touches(row, other->begin, other->begin + other->nbytes);
    for (uint64_t at = 0; at < other->nbytes; at += other->step)
        if (row_touches(row, other->begin + at, other->begin + at + other->width)) return true;
    return false;
}

static bool same(const struct rs_race_access *a, const struct rs_race_access *b)
{
    return a->pe == b->pe && a->begin == b->begin && a->nbytes == b->nbytes && a->step == b->step &&
           a->write == b->write && a->hand == b->hand && a->atomic == b->atomic && a->word == b->word;
}

static bool harmless(const struct rs_race_access *a, const struct rs_race_access *b)
{
    return (!a->write && !b->write) || (a->atomic && b->atomic) || (a->word && b->atomic) ||
           (a->atomic && b->word);
}

bool rs_race_access(struct rs_race *race, const struct rs_race_access *access, struct rs_race_access *other)
{
    bool found = false;
    lock(race);
    struct list *list = list_of(race, access->owner);
    uint32_t *mine = clock_of(race, access->pe), i, again = UINT32_MAX;
    struct rs_race_access noted = *access;
    noted.time = ++*hand_of(mine, access->pe, RS_HAND_NOW);
    for (i = 0; i < list->n; i++) {
        struct rs_race_access *a = &list->kept[i];
        if (same(a, &noted)) again = i;
        if (a->pe == access->pe || harmless(a, access) || before(race, a, access->pe) || !overlap(a, access))
            continue;
        if (!found) *other = *a;
        found = true;
        uint32_t *hand = hand_of(mine, a->pe, a->hand); /* told once */
        if (a->time > *hand) *hand = a->time;
    }
    if (again < list->n) {
        list->kept[again] = noted;
    } else if (!found) { /* an access that is refused does not happen */
        if (list->n >= (list->next_prune ? list->next_prune : FEW)) prune(race, list);
        list->kept[list->n++] = noted;
    }
    unlock(race);
    return found;
}

void rs_race_forget(struct rs_race *race, int pe, uint64_t begin, uint64_t nbytes)
{
    lock(race);
    struct list *list = list_of(race, pe);
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct rs_race_access *a = &list->kept[i];
        bool inside = a->begin < begin + nbytes && begin < a->begin + a->nbytes;
        if (!inside || !before(race, a, pe)) list->kept[n++] = *a;
    }
    list->n = n;
    unlock(race);
}
