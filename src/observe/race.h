/* SPDX-License-Identifier: MIT
 *
 * Which of two accesses to symmetric memory came first, as far as the program's calls say: vector clocks. Two accesses of
 * different PEs to a byte, one of them a write, of which neither happened before the other, are a race.
 *
 * A PE has one clock for all its threads (how these wait for each other is not seen), with three hands:
 *
 *     NOW   what is complete when the call returns: gets, sources of puts, atomics, words (puts of up to 8 bytes), the data
 *           of a put with signal
 *     PUT   larger puts: ordered before what comes after a fence
 *     NBI   what a quiet completes: destinations of non-blocking gets, sources of non-blocking puts
 *
 * A change of a word releases the PE's clock into that word; who sees the word joins it. A collective does both, for its
 * team. What is not known for sure joins more than it had to: a race may be missed, but what is reported is one.
 *
 * All of it lies in one piece of zeroed memory that the PEs of a host share, under one lock. A PE that dies with the lock
 * leaves at worst one record half written, and clocks half joined: an alarm may be wrong then, but the job is over. Places
 * are offsets, equal on all PEs.
 */
#ifndef RS_OBSERVE_RACE_H
#define RS_OBSERVE_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/seen.h"

enum rs_hand { RS_HAND_NOW, RS_HAND_PUT, RS_HAND_NBI, RS_HANDS };

struct rs_race_access {
    int owner;            /* whose memory, among the host's PEs */
    int pe;               /* who, likewise */
    uint64_t begin;       /* place of the first byte */
    uint64_t nbytes;      /* to the last one */
    uint64_t width, step; /* of elements that are apart; 0: one piece */
    bool write, atomic;
    bool word; /* a read of a word by a get: no race with an atomic write */
    enum rs_hand hand;
    uint32_t call; /* word of the call */
    uint32_t time; /* filled in */
    char where[RS_SEEN_WHERE];
};

struct rs_race;

size_t rs_race_nbytes(int n_pes);
/* Once, before another PE looks; memory is zeroed. 0 or a status. */
int rs_race_init(struct rs_race *race, int n_pes);
/* From now on every acquire joins all that was released: streams or other hosts carry order that is not seen. */
void rs_race_loosen(struct rs_race *race);

/* Look, and note it. True: it races with *other. The same two are found once. */
bool rs_race_access(struct rs_race *race, const struct rs_race_access *access, struct rs_race_access *other);
/* A fence (quiet: also what is NBI) of pe. */
void rs_race_order(struct rs_race *race, int pe, bool quiet);
/* pe has changed a word of owner; owner -1: something that is not seen, on a stream or another host. */
void rs_race_release(struct rs_race *race, int pe, int owner, uint64_t place);
/* pe has seen what others wrote to a word of owner; owner -1: something that is not seen. */
void rs_race_acquire(struct rs_race *race, int pe, int owner, uint64_t place, uint64_t nbytes);
/* A collective of a team (key) with a number that is equal on its members and grows: before, and after. */
#define RS_RACE_NO_PLACE UINT64_MAX
/* dest and source: places that all members give alike, or NO_PLACE. Gives -1, or who gave others. */
int rs_race_meet(struct rs_race *race, int pe, uint64_t key, uint64_t number, uint64_t dest, uint64_t source);
void rs_race_met(struct rs_race *race, int pe, uint64_t key, uint64_t number);
/* A block of pe is given out: what happened there before is no longer of interest. */
void rs_race_forget(struct rs_race *race, int pe, uint64_t begin, uint64_t nbytes);

#endif
