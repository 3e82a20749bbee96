/* SPDX-License-Identifier: MIT
 *
 * The plan of a random program. Every PE makes the whole plan of an epoch from the same seed, and with it the model: every
 * byte of every PE's memory as it must be when the epoch has ended. An actor is a thread of a PE. Events stand in one
 * order, and each actor does its own in that order; what waits stands behind what it waits for, so nothing can deadlock.
 *
 * Each byte of a PE's area is written by one actor, but for the shared words, on which all do what commutes. An actor's
 * accesses to a place that it has written are settled by a fence or a quiet, as OpenSHMEM wants it, and by no more.
 */
#ifndef MODEL_H
#define MODEL_H

#include "conformance.h"

enum {
    LANE = 16384,  /* bytes an actor may write on every PE */
    BUMP = 8192,   /* the same, each byte once an epoch: of signals and streams */
    BIG = 200000,  /* of one actor in an epoch: transfers of several messages */
    OWN_WORDS = 8, /* of an actor on every PE: the first half 64 bits wide, the others 32 */
    SHARED_WORDS = 16,
    ARENA = 640 << 10, /* an actor's ordinary memory: sources, and where gets go */
    STREAM_ARENA = 64 << 10,
    COLLECTIVES = 2 << 20, /* of a PE: what collectives use in an epoch */
    TEAMS = 5,
    THREADS_MAX = 2
};

enum act { PUT, GET_BYTES, STREAM_PUT, FENCE, QUIET, ATOMIC, SIGNAL, WAIT, LOOK, COLLECTIVE };
enum atomic {
    A_SET,
    A_SWAP,
    A_CSWAP,
    A_ADD,
    A_FETCH_ADD,
    A_INC,
    A_FETCH_INC,
    A_AND,
    A_FETCH_AND,
    A_OR,
    A_FETCH_OR,
    A_XOR,
    A_FETCH_XOR,
    A_FETCH,
    ATOMICS
};
enum class { C_ADD, C_AND, C_OR, C_XOR, CLASSES };
enum collective { BARRIER, SYNC, BROADCAST, FCOLLECT, COLLECT, ALLTOALL, SUM, COLLECTIVES_KINDS };

struct event {
    enum act act;
    int actor; /* who does it; COLLECTIVE: the number of the thread */
    int pe;    /* on whom; COLLECTIVE: the team's index; WAIT: the actor who signals */
    int kind;  /* PUT, GET: nbi; ATOMIC: enum atomic; SIGNAL: nbi; COLLECTIVE: enum collective */
    int root, sig_op;
    size_t offset, nbytes; /* in the area; COLLECTIVE: of the source, dest follows at dest */
    size_t word, dest;     /* SIGNAL, WAIT: the signal's offset */
    size_t local;          /* in the arena */
    uint64_t seed, value, cond, want;
    bool shared;          /* ATOMIC on a shared word: want is its class */
    unsigned char *bytes; /* owned: what a get or a look must find; NULL: another PE's */
};

struct touched { /* by an actor, since its last quiet */
    int pe;
    size_t offset, nbytes;
    bool read, fenced;
};

struct outstanding { /* a signal that nobody has waited for */
    int from, to;
    uint64_t count, seed;
    size_t offset, nbytes;
};

struct actor {
    struct touched touched[64];
    int n_touched;
    size_t arena, stream_arena;
    size_t bump[64]; /* by PE */
    uint64_t *sent;  /* by actor */
};

struct plan {
    int n_pes, n_threads, n_actors, big_owner;
    uint64_t seed, state, next_seed;
    size_t area;
    unsigned char *model, *start; /* n_pes areas each: at the epoch's end, and at its start */
    struct actor *actors;
    struct event *events;
    size_t n_events, room;
    struct outstanding waiting[32];
    int n_waiting;
    size_t collectives;
    rocshmem_team_t teams[TEAMS];
    int team_start[TEAMS], team_stride[TEAMS], team_size[TEAMS]; /* size 0: SHARED */
};

/* Where things are in an area. */
static inline size_t lane_at(const struct plan *plan, int actor)
{
    (void)plan;
    return (size_t)actor * LANE;
}
static inline size_t bump_at(const struct plan *plan, int actor)
{
    return (size_t)plan->n_actors * LANE + (size_t)actor * BUMP;
}
static inline size_t big_at(const struct plan *plan)
{
    return bump_at(plan, plan->n_actors);
}
static inline size_t own_word_at(const struct plan *plan, int actor, size_t k)
{
    return big_at(plan) + BIG + 8 * ((size_t)actor * OWN_WORDS + k);
}
static inline size_t shared_word_at(const struct plan *plan, size_t k)
{
    return own_word_at(plan, plan->n_actors, k);
}
/* The word by which an actor tells a thread of the PE. */
static inline size_t signal_at(const struct plan *plan, int from, int thread)
{
    return shared_word_at(plan, SHARED_WORDS) + 8 * (size_t)(from * plan->n_threads + thread);
}
static inline unsigned char *model_of(const struct plan *plan, int pe)
{
    return plan->model + (size_t)pe * plan->area;
}
static inline size_t atomic_width(const struct plan *plan, size_t word)
{
    size_t k = (word - own_word_at(plan, 0, 0)) / 8;
    return k % OWN_WORDS < OWN_WORDS / 2 ? 8 : 4;
}

void plan_init(struct plan *plan, int n_threads, uint64_t seed);
void plan_fini(struct plan *plan);
/* The world's PE i of a team, as this PE sees the team; -1: it has no more. */
int plan_member(const struct plan *plan, int team, int i);
/* Make the events of an epoch; those of the last one are gone. */
void plan_epoch(struct plan *plan, int n_events);

#endif
