/* SPDX-License-Identifier: MIT
 *
 * A team: members, this PE's position, and what its collectives need. Each PE chooses a slot of its own on
 * the board for each team that it is in (the members tell each other), so no agreement over the whole host is
 * needed. A handle is a team's id, equal on all members; handles are looked up, never dereferenced.
 */
#ifndef RS_PGAS_TEAM_H
#define RS_PGAS_TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "observe/board.h"
#include "rocshmem/rocshmem.h"

struct rs_job;
struct rs_post;
struct rs_called;
struct rs_stream_slots;

#define RS_STREAM_RING 8 /* stream collectives of one team that may be in flight */
#define RS_STREAM_LETTER_NBYTES 64
#define RS_TEAM_ID_WORLD (UINT32_MAX - 1) /* the low half of ROCSHMEM_TEAM_WORLD */
#define RS_TEAM_ID_SHARED 1u
#define RS_TEAM_ID_FIRST 2u           /* of split teams */
#define RS_TEAM_ID_ACTIVE 0x80000000u /* of active sets, and above */

/* How a team lies over hosts; constant. */
struct rs_span {
    int n_hosts, mine; /* that members live on, in the order of their first members; this PE's */
    int *host_of;      /* owned: position -> host */
    int *first;        /* owned: host -> position of its first member, who leads it */
    int n_near, *near; /* owned: positions of this host's members; near[0] leads */
    /* What this PE called in its last meets, for other hosts that ask. W: the thread in the meet. R: who makes
     * progress on the network, as struct rs_called says. */
    struct rs_called *called; /* owned, RS_SPAN_CALLED */
    /* What this PE calls on streams, a ring of them as they go to other hosts (stream_span.c). W: who announces the
     * operation, after the one before in its place is complete. R: the network, until the operation is. */
    uint64_t letters[RS_STREAM_RING][RS_STREAM_LETTER_NBYTES / 8];
    _Atomic uint64_t n_met; /* meets begun. W: that thread, release, after called. R: the same, acquire */
};
#define RS_SPAN_CALLED 64

struct rs_team {
    struct rs_job *job;
    uint32_t id;
    int n_pes, my_pe;       /* my position, 0..n_pes-1 */
    int *pes;               /* owned: position -> PE of the world */
    int slot;               /* mine, on the board and in the flags */
    struct rs_span *span;   /* owned; NULL: all members are on this host */
    struct rs_post **posts; /* owned array: member i's post, on the board; NULL: it is on another host */
    /* Owned array: member i's stream flags as mapped here; of one on another host, this PE's address of that place. */
    uint64_t **flags;

    /* Host collectives. One thread at a time: busy. All else here is that thread's. */
    _Atomic uint32_t busy; /* W/R: threads of this PE; exchange acquire, store release */
    uint64_t sequence;     /* steps so far, those of earlier teams in the slot included */
    uint64_t base;         /* where it started; constant */
    uint64_t history;      /* mixed from the signatures of all steps so far */
    uint32_t unsynced;     /* steps since all members were last known to have arrived */

    /* Stream collectives. */
    pthread_mutex_t stream_lock; /* allots stream_sequence and the order of enqueueing */
    /* W: under the lock, relaxed. R: under it; deadlock.c, on slow ticks, relaxed. */
    uint64_t stream_sequence;
    void *stream_of[RS_STREAM_RING]; /* of the operations that were enqueued last; as stream_sequence */
    uint64_t stream_base;            /* where it started; constant */

    struct rs_progress *progress; /* on the board, for a dump; NULL: there is no room for this slot */

    int num_contexts; /* of its configuration; constant once the team has a handle */
    int n_contexts;   /* made with it and alive; under the contexts' lock */

    int refs;             /* under the job's team lock: finds, and the table's own */
    bool destroyed;       /* under it */
    struct rs_team *next; /* under it: the hash chain */
};

/* A collective, or a later step of one, begins. For the thread in it. */
static inline void rs_team_note_progress(const struct rs_team *team)
{
    uint64_t number = team->span ? atomic_load_explicit(&team->span->n_met, memory_order_relaxed) + 1
                                 : team->sequence - team->base;
    atomic_store_explicit(&team->progress->team, team->id + 1, memory_order_relaxed);
    atomic_store_explicit(&team->progress->number, (uint32_t)number, memory_order_relaxed);
}

/* Meets of a span that this PE has begun: letters carry the number. For the thread in the meet. */
static inline uint64_t rs_team_meets(const struct rs_team *team)
{
    return atomic_load_explicit(&team->span->n_met, memory_order_relaxed);
}

/* Slots of this PE, and the table of live teams; owned by the job. */
#define RS_TEAM_BUCKETS 64
struct rs_slot {
    bool used;
    /* Set when the team was destroyed here: the slot may be used again when every member has posted the
     * leaving step too, and the stream work of the team is over here. */
    struct rs_team *leaving;            /* owned */
    uint64_t sequence, stream_sequence; /* where the last team in it stopped: a later one starts above */
};
struct rs_teams {
    pthread_mutex_t lock;
    struct rs_team *buckets[RS_TEAM_BUCKETS];
    struct rs_slot *slots; /* owned, max_teams */
    int max_teams, n_live;
    uint32_t next_id;
};

int rs_teams_init(struct rs_teams *teams, int max_teams);
void rs_teams_fini(struct rs_teams *teams); /* every team is gone afterwards; zeroed is fine */

/* Teams that a split made and nobody destroyed here. */
int rs_teams_live(struct rs_teams *teams);

/* World and shared, in init: no messages, slots 0 and 1. */
int rs_team_create_fixed(struct rs_job *job, uint32_t id, const int *pes, int n_pes, int slot,
                         struct rs_team **team_out);
/* See rocshmem_team_split_strided; collective over parent. *team_out is NULL for PEs outside. */
int rs_team_split(struct rs_team *parent, uint32_t call, int start, int stride, int size,
                  struct rs_team **team_out);
/* See rocshmem_team_split_2d. Each of *x_out and *y_out is left alone when that team could not be made. */
int rs_team_split_2d(struct rs_team *parent, uint32_t call, int xrange, struct rs_team **x_out,
                     struct rs_team **y_out);
/* Announce that this PE is done with it; never waits. Its contexts end with it. */
void rs_team_destroy(struct rs_team *team);

/* The team of an active set (OpenSHMEM's deprecated collectives): PEs start, start + stride, ..., size of
 * them. Made by its members alone when they first use it, and kept. Waits for all members the first time. The
 * caller puts it. ARG: not in it, or out of range; LIMIT. */
int rs_active_set(struct rs_job *job, int start, int stride, int size, struct rs_team **team_out);

/* What splits and active sets build with. */
int rs_team_slot_take_locked(struct rs_teams *teams, struct rs_slot *state_out); /* -1: none is free */
int rs_team_make(struct rs_job *job, uint32_t id, const int *members, const int *slots, int n,
                 struct rs_team **team_out);
void rs_team_free(struct rs_team *team);                                        /* NULL is fine */
void rs_team_add_locked(struct rs_teams *teams, struct rs_team *team);          /* into the table */
struct rs_team *rs_team_find_locked(const struct rs_teams *teams, uint32_t id); /* NULL: none */

/* The team behind a handle, kept alive until rs_team_put. NULL (worded: what names the argument) when there
 * is none. */
struct rs_team *rs_team_get(struct rs_job *job, rocshmem_team_t handle, const char *what);
void rs_team_put(struct rs_team *team);
rocshmem_team_t rs_team_handle(const struct rs_team *team);
/* The position of a PE of the world, -1 when it is no member. */
int rs_team_position(const struct rs_team *team, int pe);

#endif
