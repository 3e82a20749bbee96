/* SPDX-License-Identifier: MIT
 *
 * See check.h. What a call does to memory becomes accesses and edges of race.c; the order in which they are told is what
 * counts. Before bytes move a put is noted and what it releases is released, so whoever sees the bytes finds both. What
 * is seen is joined afterwards: after a wait, and for a fetch, whose old value is known only then, when the call ends.
 */
#include "observe/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/status.h"

#define SOURCES 256 /* of non-blocking puts that are remembered; then the oldest is forgotten */
#define STATIC_DATA ((uint64_t)1 << 62)

/* The source of a non-blocking put that no quiet has completed. */
struct source {
    const void *p;
    size_t nbytes;
    uint64_t sum;
    uint32_t call;
    int pe;
    char where[RS_SEEN_WHERE];
};

struct rs_check {
    struct rs_check_of of;
    pthread_mutex_t lock; /* of what follows */
    struct source sources[SOURCES];
    size_t n_sources;
};

/* What a call is to join when it ends; and the collective that a thread is in. */
struct per_thread {
    int owner;
    uint64_t place, nbytes; /* nbytes 0: nothing */
    uint64_t number;
};

/* ---- alarms ---- */

int rs_check_alarm(bool warn, const char *text)
{
    if (!warn) return rs_fail(RS_E_CHECK, "%s", text);
    rs_log_write(RS_LOG_WARN, "checked mode: %s", text);
    return 0;
}

static void describe(const struct rs_check *check, const struct rs_race_access *a, char *out, size_t nbytes)
{
    char name[64];
    rs_call_name(a->call, name, sizeof name);
    snprintf(out, nbytes, "PE %d %s it in %s at %s", check->of.world_of(check->of.arg, a->pe),
             a->write ? "writes" : "reads", name, a->where[0] ? a->where : "an unknown place");
}

static __attribute__((cold)) int race_found(const struct rs_check *check, const struct rs_race_access *mine,
                                            const struct rs_race_access *other)
{
    char first[256], second[256], place[96], text[900];
    bool data = mine->begin >= STATIC_DATA;
    uint64_t from = mine->begin > other->begin ? mine->begin : other->begin;
    uint64_t to = mine->begin + mine->nbytes < other->begin + other->nbytes ? mine->begin + mine->nbytes
                                                                            : other->begin + other->nbytes;
    const void *p = (const void *)(data ? check->of.data_base + (from - STATIC_DATA) : check->of.base + from);
    check->of.place(check->of.arg, p, place, sizeof place);
    describe(check, other, first, sizeof first);
    describe(check, mine, second, sizeof second);
    snprintf(text, sizeof text,
             "race on %llu bytes of PE %d at %s: %s, and %s; nothing orders the two: put a barrier, a signal "
             "and its wait, or a fence or quiet before the signal between them",
             (unsigned long long)(to - from), check->of.world_of(check->of.arg, mine->owner), place, first,
             second);
    return rs_check_alarm(check->of.warn, text);
}

/* ---- accesses ---- */

/* The place of an address of this PE's symmetric memory. False: it is not symmetric. */
static bool place_of(const struct rs_check *check, const void *p, uint64_t *out)
{
    const struct rs_check_of *of = &check->of;
    if ((uintptr_t)p - of->base < of->nbytes)
        *out = (uintptr_t)p - of->base;
    else if ((uintptr_t)p - of->data_base < of->data_nbytes)
        *out = ((uintptr_t)p - of->data_base) + STATIC_DATA;
    else
        return false;
    return true;
}

static int local_of(const struct rs_check *check, int pe)
{
    return check->of.local_of(check->of.arg, pe);
}

/* owner among the host's PEs; p in this PE's own memory. */
static int look(const struct rs_check *check, struct rs_race_access *access, const void *p)
{
    struct rs_race_access other;
    if (access->nbytes == 0 || access->owner < 0 || !place_of(check, p, &access->begin)) return 0;
    access->pe = local_of(check, check->of.my_pe);
    check->of.where(access->where);
    if (!rs_race_access(check->of.race, access, &other)) return 0;
    return race_found(check, access, &other);
}

static void release(const struct rs_check *check, int pe, const void *word)
{
    uint64_t place = 0;
    int owner = pe < 0 ? -1 : local_of(check, pe);
    if (owner >= 0 && !place_of(check, word, &place)) owner = -1;
    rs_race_release(check->of.race, local_of(check, check->of.my_pe), owner, place);
}

static void acquire(const struct rs_check *check, int owner, const void *word, size_t nbytes)
{
    uint64_t place = 0;
    if (owner >= 0 && !place_of(check, word, &place)) owner = -1;
    rs_race_acquire(check->of.race, local_of(check, check->of.my_pe), owner, place, nbytes);
}

/* ---- sources of non-blocking puts ---- */

/* A sum over memory that may be gone. False: it can't be read. */
static bool sum_of(const void *p, size_t nbytes, uint64_t *out)
{
    unsigned char piece[4096];
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t at = 0; at < nbytes;) {
        size_t n = nbytes - at < sizeof piece ? nbytes - at : sizeof piece;
        struct iovec to = {piece, n}, from = {(char *)(uintptr_t)p + at, n};
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)n) return false;
        for (size_t i = 0; i < n; i += 8) {
            uint64_t word = 0;
            memcpy(&word, piece + i, n - i < 8 ? n - i : 8);
            sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
            sum ^= sum >> 29;
        }
        at += n;
    }
    *out = sum;
    return true;
}

static void remember(struct rs_check *check, uint32_t call, const struct rs_access *a)
{
    struct source s = {.p = a->local, .nbytes = a->local_nbytes, .call = call, .pe = a->pe};
    if (a->local_step || !sum_of(s.p, s.nbytes, &s.sum)) return;
    check->of.where(s.where);
    pthread_mutex_lock(&check->lock);
    if (check->n_sources == SOURCES)
        memmove(check->sources, check->sources + 1, --check->n_sources * sizeof s);
    check->sources[check->n_sources++] = s;
    pthread_mutex_unlock(&check->lock);
}

/* All of them are complete: none has changed? */
static int verify(struct rs_check *check, uint32_t call)
{
    struct source changed = {0};
    pthread_mutex_lock(&check->lock);
    for (size_t i = 0; i < check->n_sources && !changed.p; i++) {
        uint64_t sum;
        const struct source *s = &check->sources[i];
        if (!sum_of(s->p, s->nbytes, &sum) || sum != s->sum) changed = *s;
    }
    check->n_sources = 0;
    pthread_mutex_unlock(&check->lock);
    if (!changed.p) return 0;
    char put[64], quiet[64], here[RS_SEEN_WHERE], text[700];
    rs_call_name(changed.call, put, sizeof put);
    rs_call_name(call, quiet, sizeof quiet);
    check->of.where(here);
    snprintf(
        text, sizeof text,
        "the source %p + %zu bytes of %s to PE %d at %s was changed (or freed) before %s at %s completed "
        "it; leave a source alone until quiet or a barrier",
        changed.p, changed.nbytes, put, changed.pe, changed.where[0] ? changed.where : "an unknown place",
        quiet, here[0] ? here : "an unknown place");
    return rs_check_alarm(check->of.warn, text);
}

/* ---- what calls do ---- */

static int on_put(struct rs_check *check, uint32_t call, const struct rs_access *a)
{
    int me = local_of(check, check->of.my_pe), owner = local_of(check, a->pe);
    bool word = a->remote_nbytes <= 8;
    struct rs_race_access remote = {.owner = owner,
                                    .nbytes = a->remote_nbytes,
                                    .width = a->width,
                                    .step = a->remote_step,
                                    .write = true,
                                    .hand = a->signal || word ? RS_HAND_NOW : RS_HAND_PUT,
                                    .call = call};
    struct rs_race_access local = {.owner = me,
                                   .nbytes = a->local_nbytes,
                                   .width = a->width,
                                   .step = a->local_step,
                                   .hand = a->nbi ? RS_HAND_NBI : RS_HAND_NOW,
                                   .call = call};
    RS_TRY(look(check, &local, a->local));
    RS_TRY(look(check, &remote, a->remote));
    if (a->nbi && a->local_nbytes) remember(check, call, a);
    if (word || owner < 0) release(check, a->pe, a->remote);
    if (!a->signal) return 0;
    struct rs_race_access signal = {.owner = owner, .nbytes = 8, .write = true, .atomic = true, .call = call};
    RS_TRY(look(check, &signal, a->signal));
    release(check, a->pe, a->signal);
    return 0;
}

static int on_get(const struct rs_check *check, uint32_t call, const struct rs_access *a,
                  struct per_thread *mine)
{
    int owner = local_of(check, a->pe);
    struct rs_race_access remote = {.owner = owner,
                                    .nbytes = a->remote_nbytes,
                                    .width = a->width,
                                    .step = a->remote_step,
                                    .word = a->remote_nbytes <= 8,
                                    .call = call};
    struct rs_race_access local = {.owner = local_of(check, check->of.my_pe),
                                   .nbytes = a->local_nbytes,
                                   .width = a->width,
                                   .step = a->local_step,
                                   .write = true,
                                   .hand = a->nbi ? RS_HAND_NBI : RS_HAND_NOW,
                                   .call = call};
    RS_TRY(look(check, &remote, a->remote));
    RS_TRY(look(check, &local, a->local));
    if (a->remote_nbytes <= 8 && place_of(check, a->remote, &mine->place)) {
        mine->owner = owner;
        mine->nbytes = a->remote_nbytes;
    }
    return 0;
}

static int on_word(const struct rs_check *check, uint32_t call, const struct rs_access *a, const void *word,
                   size_t nbytes, struct per_thread *mine)
{
    struct rs_race_access access = {
        .owner = local_of(check, a->pe), .nbytes = nbytes, .write = true, .atomic = true, .call = call};
    RS_TRY(look(check, &access, word));
    if (a->kind == RS_ACCESS_AMO) {
        acquire(check, access.owner, word, nbytes); /* what it releases then has this too */
        if (place_of(check, word, &mine->place)) {
            mine->owner = access.owner;
            mine->nbytes = nbytes;
        }
    }
    release(check, a->pe, word);
    return 0;
}

static __attribute__((cold)) int places_differ(const struct rs_check *check, uint32_t call, int other,
                                               const struct rs_access *a)
{
    char name[64], dest[96], source[96], here[RS_SEEN_WHERE], text[600];
    rs_call_name(call, name, sizeof name);
    check->of.place(check->of.arg, a->remote, dest, sizeof dest);
    check->of.place(check->of.arg, a->local, source, sizeof source);
    check->of.where(here);
    snprintf(text, sizeof text,
             "PE %d gave %s another dest or source than PE %d gives it here: dest %s, source %s, at %s; all "
             "members give the same symmetric addresses",
             check->of.world_of(check->of.arg, other), name, check->of.my_pe, dest, source, here);
    return rs_check_alarm(check->of.warn, text);
}

/* Do all that was put before a collective arrive before it ends? */
static bool completes(enum rs_kind kind)
{
    return kind != RS_KIND_SYNC && kind != RS_KIND_PHASE;
}

static int on_meet(struct rs_check *check, uint32_t call, const struct rs_access *a, struct per_thread *mine)
{
    const struct rs_meeting_of *m = a->meeting;
    int me = local_of(check, check->of.my_pe);
    uint64_t team = (uint64_t)(uint32_t)m->first << 32 | m->team;
    if (a->on_stream) {
        rs_race_release(check->of.race, me, -1, 0);
        return 0;
    }
    if (completes(m->kind)) {
        rs_race_order(check->of.race, me, true);
        RS_TRY(verify(check, call));
    }
    if (m->root < 0 || m->root == m->my_pe) {
        struct rs_race_access source = {.owner = me, .nbytes = a->local_nbytes, .call = call};
        RS_TRY(look(check, &source, a->local));
    }
    mine->number = m->number;
    uint64_t dest = RS_RACE_NO_PLACE, source_place = RS_RACE_NO_PLACE;
    if (a->remote_nbytes && m->kind != RS_KIND_REDUCE_SCATTER) /* in place it is each member's own block */
        (void)place_of(check, a->remote, &dest);
    if (a->local_nbytes && m->kind != RS_KIND_COLLECT) (void)place_of(check, a->local, &source_place);
    int other = rs_race_meet(check->of.race, me, team, m->number, dest, source_place);
    if (other >= 0) return places_differ(check, call, other, a);
    return 0;
}

static int on_met(struct rs_check *check, uint32_t call, const struct rs_access *a,
                  const struct per_thread *mine)
{
    const struct rs_meeting_of *m = a->meeting;
    int me = local_of(check, check->of.my_pe);
    uint64_t place, team = (uint64_t)(uint32_t)m->first << 32 | m->team;
    if (a->on_stream) return 0;
    rs_race_met(check->of.race, me, team, mine->number);
    if (m->kind == RS_KIND_MALLOC || m->kind == RS_KIND_CALLOC) {
        if (place_of(check, a->remote, &place)) rs_race_forget(check->of.race, me, place, a->remote_nbytes);
        return 0;
    }
    struct rs_race_access dest = {.owner = me, .nbytes = a->remote_nbytes, .write = true, .call = call};
    return m->kind == RS_KIND_FREE ? 0 : look(check, &dest, a->remote);
}

/* Streams: what is enqueued happens some time later. Its accesses are not looked at; what it may order is taken for
 * ordered. */
static int on_stream(const struct rs_check *check, const struct rs_access *a)
{
    int me = local_of(check, check->of.my_pe);
    rs_race_loosen(check->of.race);
    if (a->kind == RS_ACCESS_QUIET) rs_race_order(check->of.race, me, true);
    if (a->kind == RS_ACCESS_SYNCHRONIZE)
        rs_race_acquire(check->of.race, me, -1, 0, 0);
    else
        rs_race_release(check->of.race, me, -1, 0);
    return 0;
}

static int accessed(void *self, struct rs_probe_thread *thread, int slot, const struct rs_access *a)
{
    struct rs_check *check = self;
    struct per_thread *mine = thread->data[slot];
    int me = local_of(check, check->of.my_pe);
    if ((a->on_stream || a->kind == RS_ACCESS_SYNCHRONIZE) && !a->meeting) return on_stream(check, a);
    if (a->on_stream) rs_race_loosen(check->of.race);
    switch (a->kind) {
    case RS_ACCESS_PUT:
        return on_put(check, thread->call, a);
    case RS_ACCESS_GET:
        return on_get(check, thread->call, a, mine);
    case RS_ACCESS_AMO:
        return on_word(check, thread->call, a, a->remote, a->remote_nbytes, mine);
    case RS_ACCESS_SIGNAL:
        return on_word(check, thread->call, a, a->signal, 8, mine);
    case RS_ACCESS_SEEN:
        acquire(check, me, a->local, a->local_nbytes);
        return 0;
    case RS_ACCESS_FENCE:
        rs_race_order(check->of.race, me, false);
        return 0;
    case RS_ACCESS_QUIET:
        rs_race_order(check->of.race, me, true);
        return verify(check, thread->call);
    case RS_ACCESS_MEET:
        return on_meet(check, thread->call, a, mine);
    case RS_ACCESS_MET:
        return on_met(check, thread->call, a, mine);
    default:
        return 0;
    }
}

static void leave(void *self, struct rs_probe_thread *thread, int slot)
{
    const struct rs_check *check = self;
    struct per_thread *mine = thread->data[slot];
    if (mine->nbytes)
        rs_race_acquire(check->of.race, local_of(check, check->of.my_pe), mine->owner, mine->place,
                        mine->nbytes);
    mine->nbytes = 0;
}

int rs_check_note(struct rs_check *check, uint32_t call, const void *p, size_t nbytes, bool write)
{
    struct rs_race_access access = {
        .owner = local_of(check, check->of.my_pe), .nbytes = nbytes, .write = write, .call = call};
    RS_TRY(look(check, &access, p));
    if (write && nbytes <= 8) release(check, check->of.my_pe, p);
    return 0;
}

/* ---- life ---- */

static int attach(void *self, struct rs_probe_thread *thread, int slot)
{
    (void)self;
    thread->data[slot] = calloc(1, sizeof(struct per_thread));
    return thread->data[slot] ? 0 : rs_fail(RS_E_NOMEM, "no memory to check a thread's calls");
}

static void detach(void *self, struct rs_probe_thread *thread, int slot)
{
    (void)self;
    free(thread->data[slot]);
    thread->data[slot] = NULL;
}

int rs_check_create(struct rs_check **check_out, const struct rs_check_of *of, struct rs_prober *prober_out)
{
    struct rs_check *check = calloc(1, sizeof *check);
    if (!check) return rs_fail(RS_E_NOMEM, "no memory for checked mode");
    check->of = *of;
    pthread_mutex_init(&check->lock, NULL);
    if (of->far) rs_race_loosen(of->race);
    *prober_out = (struct rs_prober){
        .attach = attach, .detach = detach, .access = accessed, .leave = leave, .self = check};
    *check_out = check;
    return 0;
}

void rs_check_destroy(struct rs_check *check)
{
    if (!check) return;
    pthread_mutex_destroy(&check->lock);
    free(check);
}
