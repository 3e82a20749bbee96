/* SPDX-License-Identifier: MIT
 *
 * The symmetric heap: the windows of this host's PEs, mapped at equal stride; the allocations in them; and
 * when a block may be used again. A window is [heap][flags]: what users allocate, then the flag words of
 * stream collectives.
 *
 * An allocation ends when every PE has dropped it. rocshmem_free marks it freed here at once; the drop is
 * published when no hold (a view, an export) lives on this PE. Each PE logs its drops on the board; the count
 * of entries travels with the arrival at a world collective, so all PEs release the same blocks at the same
 * call, in the order of their offsets: the allocator stays deterministic without a message of its own.
 */
#ifndef RS_PGAS_HEAP_H
#define RS_PGAS_HEAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"
#include "pgas/blocks.h"
#include "pgas/guard.h"
#include "pgas/hosts.h"

#define RS_HEAP_ALIGN 256                 /* DLPack asks for it */
#define RS_WINDOW_ALIGN ((size_t)1 << 30) /* of every window's start, so of any block that asks for it */

/* The mapping. Counted: the job has one reference, every hold another; the last one unmaps. */
struct rs_window {
    _Atomic int refs;
    const struct rs_device_ops *ops; /* NULL: the memory is the caller's (tests) */
    struct rs_windows windows;
};

struct rs_allocation {
    uint64_t offset, nbytes, room; /* as asked; as taken */
    int holds;                     /* on this PE */
    int drops;                     /* PEs known to have dropped it */
    bool freed;                    /* rocshmem_free was called here: any use is an error */
    bool dropped;                  /* this PE's drop is published or pending */
    struct rs_guard *guard;        /* owned; NULL without guards */
};

struct rs_heap {
    struct rs_window *window; /* one reference */
    uintptr_t base;           /* of this PE's heap: the start of its window */
    size_t nbytes;
    size_t align;         /* the largest that blocks can have */
    uintptr_t flags;      /* of this PE; a peer's are at + shift */
    pthread_mutex_t lock; /* everything below but generation */
    struct rs_blocks blocks;
    bool *backed;    /* owned: is there memory behind this part (RS_WINDOW_PART)? NULL: behind all */
    size_t n_backed; /* parts */
    struct rs_allocation *list; /* owned, sorted by offset */
    size_t n, capacity;
    _Atomic uint64_t generation; /* W: under lock, release, at each change of the list. R: every address
                                    check, acquire; never 0 */
    struct rs_guards guards;     /* checked mode */
    uint64_t id;                 /* of this heap among those of the process: holds outlive heaps */

    /* Drops. The log is a ring on the board (RS_DROP_LOG offsets a PE). */
    uint64_t *logs;               /* of this host's PEs; NULL in unit tests of a lone heap */
    const struct rs_hosts *hosts; /* borrowed; NULL: one host */
    int n_pes, my_pe;
    uint64_t published; /* entries in my log so far */
    uint64_t safe;      /* of these, consumed by all PEs for sure */
    uint64_t last;      /* what I announced at the last world collective */
    uint64_t *seen;     /* owned, n_pes: entries of each PE's log that were counted */
    uint64_t *pending;  /* owned: offsets not yet in the log */
    size_t n_pending, pending_capacity;
};

/* Takes the reference on window over, also when it fails. logs may be NULL (a lone heap), hosts too (one host). */
int rs_heap_init(struct rs_heap *heap, struct rs_window *window, size_t nbytes, uint64_t *logs, int n_pes,
                 int my_pe, const struct rs_hosts *hosts);
/* Bytes of a heap in its window: the flags follow at this offset. */
static inline size_t rs_heap_room(size_t nbytes)
{
    return (nbytes + RS_WINDOW_PART - 1) & ~(RS_WINDOW_PART - 1);
}
void rs_heap_fini(struct rs_heap *heap);

/* windows is copied, and its parts are taken over when it succeeds. */
int rs_window_create(struct rs_window **window_out, const struct rs_device_ops *ops,
                     const struct rs_windows *windows);
void rs_window_unref(struct rs_window *window); /* NULL is fine */

/* Take a block. NOMEM names everything; ARG for a bad alignment. Called after rs_heap_collect of the same
 * collective. */
int rs_heap_alloc(struct rs_heap *heap, size_t nbytes, size_t align, void **ptr_out);
int rs_check_alignment(size_t align);
/* Undo the newest rs_heap_alloc, which gave ptr. All PEs do. */
void rs_heap_unalloc(struct rs_heap *heap, const void *ptr);
/* Is there memory behind all of [ptr, ptr + nbytes)? If not, the first range without, in offsets of whole
 * parts, and how long it could be before there is memory again. */
struct rs_heap_gap {
    size_t at, nbytes, most_nbytes;
};
bool rs_heap_find_gap(struct rs_heap *heap, const void *ptr, size_t nbytes, struct rs_heap_gap *gap_out);
void rs_heap_back(struct rs_heap *heap, size_t at, size_t nbytes); /* now there is */
/* Mark an allocation freed on this PE; its start address. ARG: not the start of a live one. offset_out: for
 * the signature. */
int rs_heap_free(struct rs_heap *heap, const void *ptr, uint64_t *offset_out);
/* This PE lets go of an allocation of the process's current heap without a collective call; unknown addresses
 * are ignored. */
void rs_heap_drop_current(const void *ptr);

/* The two halves of a world collective's part in lifetimes: before it, what to announce; after it, everyone's
 * counts. */
struct rs_drops {
    uint64_t count; /* entries of this PE's log so far */
    uint64_t last;  /* the newest one; when it is the only new one, it is not in the log */
    uint64_t asked; /* bytes that this PE is about to allocate, 0: none; rs_job_settle's */
};
struct rs_drops rs_heap_announce(struct rs_heap *heap);
/* far: NULL, or by PE the offsets that it has added to its log where this PE can't read it; NULL: it can. */
int rs_heap_collect(struct rs_heap *heap, const struct rs_drops *all, uint64_t *const *far);
/* How many entries a PE has added to its log since the last collect. */
static inline uint64_t rs_heap_new_drops(const struct rs_heap *heap, int pe, const struct rs_drops *all)
{
    return all[pe].count - heap->seen[pe];
}
/* The k-th of those that this PE has added. */
uint64_t rs_heap_my_drop(const struct rs_heap *heap, uint64_t k);

/* The live allocation around p: base, size as asked. False when there is none (or it is freed). */
bool rs_heap_find(struct rs_heap *heap, const void *p, uintptr_t *base_out, size_t *nbytes_out,
                  uint64_t *generation_out);
/* Under the lock: the allocation, live or freed here, that starts at offset. NULL: none does. */
struct rs_allocation *rs_heap_at_locked(const struct rs_heap *heap, uint64_t offset);
/* Say why [p, p + nbytes) is not inside one live allocation; what names the argument. Always ARG. */
int rs_heap_explain(struct rs_heap *heap, const char *what, const void *p, size_t nbytes);
/* Allocations that were not freed here, and their bytes as asked. */
void rs_heap_live(struct rs_heap *heap, size_t *n_out, size_t *nbytes_out);
void rs_heap_info(struct rs_heap *heap, size_t *used_out, size_t *largest_free_out);

/* "0x7f11c0000000 + 64 (heap offset 64)": the allocation around p and where in it. For messages; takes the lock. */
void rs_heap_place(struct rs_heap *heap, const void *p, char *out, size_t nbytes);

/* Is p inside this PE's heap? Two compares. */
static inline bool rs_heap_contains(const struct rs_heap *heap, const void *p)
{
    return (uintptr_t)p - heap->base < heap->nbytes; /* wraps to a huge offset below base */
}

/* Holds: see rocshmemx_hold. The heap that is current for the process is set by the job. */
struct rs_hold;
void rs_heap_make_current(struct rs_heap *heap); /* NULL: none any more */
/* For forks: nothing changes between the two; in the child, between them, holds and drops end without a word. */
void rs_heap_lock_current(void);
void rs_heap_unlock_current(void);
void rs_heap_forget_current(void);
int rs_hold_create(struct rs_heap *heap, const void *ptr, struct rs_hold **hold_out);
void rs_hold_destroy(struct rs_hold *hold);

#endif
