/* SPDX-License-Identifier: MIT
 *
 * What a PE was found doing at one moment, as plain data: what the page of a state dump is printed from, what travels
 * between hosts for it, and what the verdict is reached by. No pointers in it, so that it may be copied as bytes.
 */
#ifndef RS_OBSERVE_SEEN_H
#define RS_OBSERVE_SEEN_H

#include <stdbool.h>
#include <stdint.h>

/* What a wait is for. */
enum rs_waits_kind {
    RS_WAITS_NOTHING,
    RS_WAITS_PES,    /* other PEs, in a collective */
    RS_WAITS_WORD,   /* a word of one's own, which somebody is to write */
    RS_WAITS_STREAM, /* work on streams; pes: who has not enqueued a collective that is on them */
    RS_WAITS_OTHER
};
#define RS_WAITS_MOST 8
#define RS_WAITS_TEXT 192
struct rs_waits {
    uint32_t kind;   /* enum rs_waits_kind */
    uint32_t team;   /* of a collective: its id */
    uint64_t number; /* which one of the team it is, from 1; 0: not known */
    int32_t n_pes;   /* how many PEs are awaited: of them the first ones are in pes */
    int32_t pes[RS_WAITS_MOST];
    uint32_t reserved;
    char text[RS_WAITS_TEXT]; /* for people: the arguments and the wait */
};

enum rs_seen_state {
    RS_SEEN_ABSENT, /* has not arrived in the job */
    RS_SEEN_RUNNING,
    RS_SEEN_GONE,    /* left by rocshmem_finalize */
    RS_SEEN_DEAD,    /* its process is no more, without finalize */
    RS_SEEN_STOPPED, /* by a signal or a debugger */
    RS_SEEN_SILENT   /* nothing was heard of its host */
};
#define RS_SEEN_WHERE 96
#define RS_SEEN_FRAMES 384
#define RS_SEEN_EXTRA 256
/* One thread of one PE. The first of a PE stands for what concerns the whole PE. */
struct rs_seen {
    int32_t pe, pid;
    uint32_t state;    /* enum rs_seen_state */
    uint32_t call;     /* the call word of the call it is in, or was in last */
    uint32_t active;   /* it is in that call */
    uint32_t first;    /* of its PE */
    uint32_t answered; /* where and frames are of now; else of when it began to wait, or empty */
    uint32_t reserved;
    uint64_t waited_ns; /* 0: it does not wait */
    struct rs_waits waits;
    char where[RS_SEEN_WHERE];   /* "train.py:41 in step"; "": not known */
    char frames[RS_SEEN_FRAMES]; /* of C, innermost first; "" where nobody asked */
    char teams[RS_SEEN_EXTRA];   /* "world #3, team 5 #1": collectives begun. Of the first one */
    char streams[RS_SEEN_EXTRA]; /* what is queued; "": nothing is */
};

/* Texts that were copied as bytes, perhaps while they changed, end. */
static inline void rs_seen_end(struct rs_seen *seen)
{
    seen->waits.text[RS_WAITS_TEXT - 1] = seen->where[RS_SEEN_WHERE - 1] = '\0';
    seen->frames[RS_SEEN_FRAMES - 1] = '\0';
    seen->teams[RS_SEEN_EXTRA - 1] = seen->streams[RS_SEEN_EXTRA - 1] = '\0';
    if (seen->waits.n_pes < 0) seen->waits.n_pes = 0;
}

#endif
