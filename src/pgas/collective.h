/* SPDX-License-Identifier: MIT
 *
 * Blocking collectives of PEs that share a host. Every collective of a team is a step, or two, of one
 * sequence that all kinds share. In a step a member writes one line of its post on the board (what it brings,
 * a hash of every call it made so far, and, last, the sequence number by a release store) and polls the lines
 * of the members it depends on. A hash that differs from one's own means that the calls differ: that is how a
 * mismatch is found, at no cost but a compare.
 */
#ifndef RS_PGAS_COLLECTIVE_H
#define RS_PGAS_COLLECTIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "observe/board.h"
#include "observe/calls.h"
#include "pgas/team.h"
#include "pgas/thread.h"

#define RS_RING 64           /* lines of a post */
#define RS_INLINE_NBYTES 112 /* what a line carries beside its two words */

/* W: owner. R: members. payload and history are plain: written before sequence (release), read after it was
 * seen (acquire), and not written again before all members are known to have finished the step; see the
 * argument in collective.c. */
struct rs_line {
    _Alignas(128) _Atomic uint64_t sequence;
    uint64_t history;
    unsigned char payload[RS_INLINE_NBYTES];
};
/* What a member called, for messages. W: owner, before the line. R: members, when calls differ; the owner may
 * be ahead then and write anew, so all is relaxed, sequence first 0 and last (release), and a reader checks
 * it before and after. */
struct rs_called {
    _Atomic uint64_t sequence;
    _Atomic uint64_t words[sizeof(struct rs_signature) / 8];
};
/* Where members of an active set find each other. W: owner of the slot; key last, release, once. R: members,
 * key acquire: the rest is there and stays. */
struct rs_meeting {
    _Atomic uint64_t key;               /* which active set this slot is for; 0: none */
    uint64_t sequence, stream_sequence; /* where the slot stopped before */
};
struct rs_post {
    struct rs_line lines[RS_RING];
    /* Payload bytes of each line, for members that hand them on to other hosts; written and read as the payload is. */
    unsigned char line_nbytes[RS_RING];
    struct rs_called called[RS_RING];
    struct rs_called stream_called[RS_STREAM_RING];
    struct rs_meeting meeting;
};
_Static_assert(sizeof(struct rs_line) == 128, "members poll a line: two cache lines, no neighbour in them");
_Static_assert(sizeof(struct rs_post) <= RS_POST_NBYTES, "a post fits its room on the board");
_Static_assert(sizeof(struct rs_signature) % 8 == 0, "a signature is kept as words");

static inline void rs_called_write(struct rs_called *called, uint64_t sequence,
                                   const struct rs_signature *signature)
{
    uint64_t words[sizeof *signature / 8];
    memcpy(words, signature, sizeof words);
    atomic_store_explicit(&called->sequence, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (size_t k = 0; k < sizeof words / 8; k++)
        atomic_store_explicit(&called->words[k], words[k], memory_order_relaxed);
    atomic_store_explicit(&called->sequence, sequence, memory_order_release);
}
/* False when the owner is not there yet, or has gone on. */
bool rs_called_read(const struct rs_called *called, uint64_t sequence, struct rs_signature *out);

/* Break the job because this PE and peer (of the world) make different calls; the one place that words it.
 * call: for the name of the function that fails. ours, theirs: what is called, as text. where: "", or " (...)"
 * behind them. Gives MISMATCH, or what broke the job before. */
int rs_calls_differ(struct rs_job *job, uint32_t call, const char *ours, int peer, const char *theirs,
                    const char *where) __attribute__((cold));
/* The same for signatures; what and number: "collective", its number in the team. */
int rs_signatures_differ(struct rs_job *job, uint32_t call, const struct rs_signature *ours, int peer,
                         const struct rs_signature *theirs, const char *what, uint64_t number)
    __attribute__((cold));

/* All take the signature of the call, kind and team filled in. 0 or a status; MISMATCH, PEER and BROKEN on
 * every member. */
int rs_collective_barrier(struct rs_team *team, const struct rs_signature *signature);
/* Every member brings n <= RS_INLINE_NBYTES bytes and gets all, n_pes * n, in team order. A barrier as well.
 */
int rs_collective_exchange(struct rs_team *team, const struct rs_signature *signature, const void *mine,
                           size_t n, void *all_out);
int rs_collective_broadcast(struct rs_team *team, const struct rs_signature *signature, void *dest,
                            const void *source, size_t nbytes, int root);
int rs_collective_alltoall(struct rs_team *team, const struct rs_signature *signature, void *dest,
                           const void *source, size_t nbytes);
int rs_collective_fcollect(struct rs_team *team, const struct rs_signature *signature, void *dest,
                           const void *source, size_t nbytes);

/* Element k of block i is source + (i * n + k) * source_step, and so in dest; steps in bytes, at least
 * width. */
struct rs_strided {
    void *dest;
    const void *source;
    size_t dest_step, source_step, n, width;
};
int rs_collective_alltoalls(struct rs_team *team, const struct rs_signature *signature,
                            const struct rs_strided *strided);

/* nbytes may differ. What is wrong with one member's memory is ARG on all, and nobody writes dest. */
struct rs_collect {
    void *dest;
    const void *source;
    size_t nbytes;
    size_t room_nbytes; /* from dest to the end of its allocation, or to source; 0: it is not symmetric */
    bool source_is_symmetric; /* all of [source, source + nbytes) */
};
int rs_collective_collect(struct rs_team *team, const struct rs_signature *signature,
                          const struct rs_collect *collect);

int rs_collective_reduce(struct rs_team *team, const struct rs_signature *signature, void *dest,
                         const void *source, size_t n, enum rs_type type, int op);
/* n elements a block; block i to member i. dest may be source, or this member's own block of it. */
int rs_collective_reduce_scatter(struct rs_team *team, const struct rs_signature *signature, void *dest,
                                 const void *source, size_t n, enum rs_type type, int op);
/* Tell the members, without waiting, that this PE does no step of this team any more. */
void rs_collective_leave(struct rs_team *team);
/* Have all members left (posted the step `sequence`, or a later one of a later team)? Never waits. */
bool rs_collective_all_left(const struct rs_team *team, uint64_t sequence);

/* Which of n elements this member reduces when each has a share: [*begin_out, *end_out). Whole cache lines, so
 * that shares do not meet in one. */
static inline void rs_reduce_share(const struct rs_team *team, size_t n, size_t *begin_out, size_t *end_out)
{
    size_t share = (n / (size_t)team->n_pes + 64) & ~(size_t)63;
    size_t begin = share * (size_t)team->my_pe;
    *begin_out = begin < n ? begin : n;
    *end_out = n - *begin_out < share ? n : *begin_out + share;
}
/* Elements [begin, end) of every member's source, combined into every member's dest. */
int rs_reduce_members(const struct rs_team *team, void *dest, const void *source, size_t begin, size_t end,
                      enum rs_type type, int op);
/* acc[k] = acc[k] op in[k] for n elements; in rank order on every PE, so results are equal to the bit. */
void rs_reduce_combine(enum rs_type type, int op, void *acc, const void *in, size_t n);

/* On a stream; enqueued in the same order on every member. They return at once. */
int rs_stream_barrier(struct rs_team *team, const struct rs_signature *signature, void *stream);
int rs_stream_alltoall(struct rs_team *team, const struct rs_signature *signature, void *dest,
                       const void *source, size_t nbytes, void *stream);
int rs_stream_broadcast(struct rs_team *team, const struct rs_signature *signature, void *dest,
                        const void *source, size_t nbytes, int root, void *stream);
int rs_stream_fcollect(struct rs_team *team, const struct rs_signature *signature, void *dest,
                       const void *source, size_t nbytes, void *stream);
int rs_stream_reduce(struct rs_team *team, const struct rs_signature *signature, void *dest,
                     const void *source, size_t n, enum rs_type type, int op, void *stream);
/* Is every operation that was enqueued complete here? Then no member writes this PE's flags of the team any
 * more. For a team that nobody enqueues for. */
bool rs_stream_all_complete(const struct rs_team *team);
/* Of the operations that are on the streams that a thread waits for, and are not complete: one that some member has
 * not enqueued, as struct rs_note keeps it. False, and nothing written, when there is none. */
bool rs_stream_awaits(struct rs_job *job, const struct rs_drain *drain, uint64_t *awaits_out,
                      uint64_t *step_out);
/* 64-bit words of flags that one team needs on each member, in a job of so many hosts, of which none has more than n_most
 * PEs: the ring, and those of captured operations. Over hosts, as stream_span.c divides them. */
#define RS_STREAM_PHASES 3    /* over hosts; 2 on one */
#define RS_STREAM_PARTNERS 24 /* other hosts that one host tells in a phase, at most: 2^24 hosts */
static inline size_t rs_stream_flag_words(int n_hosts, int n_most)
{
    if (n_hosts == 1) return ((size_t)RS_STREAM_RING + 1) * 2 * (size_t)n_most;
    return ((size_t)RS_STREAM_RING + 1) * RS_STREAM_PHASES * ((size_t)n_most + RS_STREAM_PARTNERS) +
           (size_t)RS_STREAM_RING * RS_STREAM_PARTNERS * (RS_STREAM_LETTER_NBYTES / 8);
}
/* Of reductions over hosts; after the device was closed. */
void rs_stream_scratch_free(struct rs_job *job);
/* Of job->stream_complete: words that the CPU and streams of this PE reach, a ring for each slot. */
static inline size_t rs_stream_complete_nbytes(int max_teams)
{
    return (size_t)max_teams * RS_STREAM_RING * sizeof(uint64_t);
}

#endif
