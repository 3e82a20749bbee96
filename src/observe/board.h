/* SPDX-License-Identifier: MIT
 *
 * The board: one sparse shared segment per host through which the PEs of that host see each other's state. It
 * holds, per PE, who it is and whether it lives; per thread, a note of the call it is in; once, the record of
 * what broke the job; and raw room ("posts") for the team collectives of pgas. Words that others poll have cache
 * lines of their own.
 *
 * The segment's layout follows from (n_local, max_teams), which all PEs agreed on; nothing grows: what is not
 * touched costs nothing.
 */
#ifndef RS_OBSERVE_BOARD_H
#define RS_OBSERVE_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "observe/calls.h"
#include "observe/seen.h"

enum rs_pe_state { RS_PE_ABSENT, RS_PE_RUNNING, RS_PE_GONE };

/* How far a PE is in the collectives of a team. W: the owner's thread in a collective, relaxed. R: dump, relaxed. */
struct rs_progress {
    _Atomic uint32_t team;   /* id + 1; 0: none */
    _Atomic uint32_t number; /* collectives begun, modulo 2^32 */
};
#define RS_PROGRESS_SLOTS 16 /* teams in the first slots only are shown */

/* One a PE of the host. Written by its owner in init and finalize; read by others on slow ticks. */
struct rs_vital {
    _Alignas(128) _Atomic uint32_t state; /* enum rs_pe_state. W: owner, release. R: anyone, acquire */
    int32_t pe;                           /* these are written before state becomes RUNNING, constant then */
    pid_t pid;
    uint64_t start_time;
    /* What is queued on its streams, as of the page `streams_of`. W: one of its threads that waits, or its streams'
     * worker, which wins streams_of by a CAS; text as words, relaxed, then streams_done by release. R: dump,
     * acquire. A text that is overwritten while it is read is garbled, but ends. */
    _Atomic uint32_t streams_of, streams_done;
    _Atomic uint64_t streams[RS_SEEN_EXTRA / 8];
    _Alignas(128) struct rs_progress
        progress[RS_PROGRESS_SLOTS]; /* lines of their own: each collective writes one */
};

/* One a thread that calls. The first line is written at every call by its owner: two relaxed stores. */
struct rs_note {
    _Alignas(128) _Atomic uint64_t
        call;             /* call word, RS_NOTE_ACTIVE while inside. W: owner, relaxed. R: dump, relaxed */
    _Atomic uint32_t tid; /* 0: free. W: claimed by CAS, released by a store. R: dump */
    /* Details, written when a call begins to wait. sequence is odd while they change: the dump retries. */
    _Atomic uint32_t sequence;
    _Atomic uint64_t wait_since_ns; /* monotonic clock; 0 when not waiting */
    /* In a host collective, or waiting for a stream with a collective on it: the PE waited for (+ 1, low half)
     * and the team (high half); 0 otherwise. And the step of that team, or the number of the stream operation
     * with RS_AWAITS_STREAM. W: owner, on slow ticks: step, then pe and team by release. R: peers on slow
     * ticks, acquire (pgas/deadlock.c). */
    _Atomic uint64_t awaits, awaits_step;
    /* Texts as words, so that a torn read is no data race. waits: a struct rs_waits. where, frames: as in struct
     * rs_seen; of the page `answered` (0: none). W: owner, in ticks, or in its handler of the asking signal, which lets
     * be what it finds half written by the thread that it interrupts. answered: last, release. R: dump, acquire. */
    _Atomic uint64_t waits[sizeof(struct rs_waits) / 8];
    _Atomic uint64_t where[RS_SEEN_WHERE / 8], frames[RS_SEEN_FRAMES / 8];
    _Atomic uint32_t answered;
};
#define RS_ANSWERED_AHEAD UINT32_MAX /* of who waits for a page itself: as it is, it will be */
_Static_assert(sizeof(struct rs_waits) % 8 == 0, "waits are kept as words");
#define RS_NOTE_ACTIVE ((uint64_t)1 << 32)
#define RS_AWAITS_STREAM ((uint64_t)1 << 63)
#define RS_NOTES_A_PE 1024 /* threads that can be seen at one time; more work all the same, unseen */

/* What broke the job, written once. state: 0 nothing, 1 being written, 2 written. W: any PE, CAS 0 -> 1, then
 * the fields, then a release store of 2. R: every slow tick and collective, acquire; fields are constant once
 * 2 was seen. */
struct rs_abort {
    _Alignas(128) _Atomic uint32_t state;
    int32_t status, pe;
    char op[64];
    char text[896];
};

/* Why the job ends at once. W: rocshmem_global_exit, CAS 0 -> 1, status, release 2. R: the exit signal's
 * handler, acquire. */
struct rs_exit {
    _Alignas(128) _Atomic uint32_t state; /* 0 none, 1 being written, 2 status is valid */
    _Atomic int32_t status;
    /* Jobs of several hosts (pgas/news.c). watched: the first PE's vigil hands an exit on to other hosts. told: it has,
     * so that the PEs may end. W: the vigil's thread, release. R: who exits, acquire. */
    _Atomic uint32_t watched, told;
};

/* The page that a state dump prints: one for the whole job, whoever asks (dump.c). */
struct rs_page {
    /* Counts questions to this host's threads. W: who gathers, by adding. R: waits, on slow ticks, relaxed; the asking
     * signal's handler, acquire. */
    _Alignas(128) _Atomic uint32_t asked;
    /* Pages wished for, and of these how many are through (or were not worth one). Over hosts: W: wished by any PE, done
     * by the first PE's vigil, release. R: that vigil; who wished, acquire. */
    _Atomic uint32_t wished, done;
    _Atomic uint32_t reason, reason_pe; /* of the last wish: enum rs_page_reason, and whose it was; relaxed */
    /* Who prints on this host: its pid, 0 nobody. W: by CAS, acquire and release. */
    _Atomic uint32_t printer;
    _Atomic uint64_t
        printed_ns; /* when the last page was through. W: the printer, relaxed. R: anyone, relaxed */
};

/* A PE's log of dropped allocations (their sequence numbers), a ring. W: owner, plain. R: peers, plain, only
 * up to the count that came with the owner's arrival at a world collective (release/acquire); the owner laps
 * no entry that it has not seen consumed. */
#define RS_DROP_LOG 8192

#define RS_POST_NBYTES 20480 /* room of one PE for one team; pgas/collective.h says what lies in it */

#define RS_ROOM_NBYTES 6623232 /* a whole number of pages; those that nobody touches take no memory */

struct rs_board {
    unsigned char *base;
    size_t nbytes;
    int n_local, my_local, max_teams;
    struct rs_abort *abort;
    struct rs_exit *exit;
    struct rs_page *page;
    struct rs_vital *vitals; /* n_local */
    struct rs_note *notes;   /* n_local * RS_NOTES_A_PE */
    uint64_t *drops;         /* n_local * RS_DROP_LOG */
    unsigned char *room;     /* n_local * RS_ROOM_NBYTES, for the device */
    unsigned char *posts;    /* n_local * max_teams * RS_POST_NBYTES */
    int *pidfds;             /* owned, n_local; -1 not opened, -2 cannot be */
    _Atomic uint64_t
        next_look_ns; /* W/R: this PE's waiting threads, relaxed: one of them looks at the processes */
};

size_t rs_board_nbytes(int n_local, int max_teams);
/* Map fd (borrowed) as the board. 0 or a status. */
int rs_board_open(struct rs_board *board, int fd, int n_local, int my_local, int max_teams);
/* The same over memory that is there already (unit tests: PEs as threads). Zeroed memory of rs_board_nbytes;
 * borrowed. */
int rs_board_attach(struct rs_board *board, void *memory, int n_local, int my_local, int max_teams);
void rs_board_close(struct rs_board *board); /* zeroed is fine */

/* Say who I am. */
void rs_board_arrive(struct rs_board *board, int pe);
void rs_board_leave(struct rs_board *board);

/* A note for the calling thread; a private, unseen one (owned by the caller) when all are taken. */
struct rs_note *rs_board_claim_note(struct rs_board *board, struct rs_note *spare);
void rs_board_release_note(struct rs_board *board, struct rs_note *note);
/* Write the details of a wait; waits NULL: no longer waiting. Owner only. */
void rs_note_detail(struct rs_note *note, uint64_t since_ns, const struct rs_waits *waits);
/* Write where the owner is, for the page `asked`; frames NULL: left as they are. Owner only, in its handler too. False:
 * the thread was interrupted while it wrote. */
bool rs_note_answer(struct rs_note *note, uint32_t asked, const char *where, const char *frames);

static inline void rs_note_enter(struct rs_note *note, uint32_t call)
{
    atomic_store_explicit(&note->call, call | RS_NOTE_ACTIVE, memory_order_relaxed);
}
static inline void rs_note_leave(struct rs_note *note, uint32_t call)
{
    atomic_store_explicit(&note->call, call, memory_order_relaxed);
}

static inline unsigned char *rs_board_post(const struct rs_board *board, int local, int slot)
{
    return board->posts + ((size_t)local * (size_t)board->max_teams + (size_t)slot) * RS_POST_NBYTES;
}

/* Record why the job is broken (first wins). */
void rs_board_abort(struct rs_board *board, int status, int pe, const char *op, const char *text);
/* 0, or the recorded status with the record put into the thread's error slot. */
int rs_board_broken(const struct rs_board *board);
/* Look whether a PE of this host died, at most every 10 ms over all waiting threads; records it. before: called when one
 * did, before that is recorded and calls begin to fail; false: not yet, it is found again later. NULL: nothing to do. 0 or as rs_board_broken. */
int rs_board_look(struct rs_board *board, uint64_t now_ns, bool (*before)(const struct rs_board *board));
/* Whether record was made; one load. */
static inline bool rs_board_is_broken(const struct rs_board *board)
{
    return atomic_load_explicit(&board->abort->state, memory_order_relaxed) != 0;
}

#endif
