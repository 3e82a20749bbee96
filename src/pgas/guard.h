/* SPDX-License-Identifier: MIT
 *
 * Guard zones of a heap in checked mode: bytes of ours behind every block (and before the first), poison in new blocks and
 * in those that were freed, which stay in quarantine for a while before they may be used again. All PEs keep the same
 * blocks in quarantine, because that depends on sizes only.
 */
#ifndef RS_PGAS_GUARD_H
#define RS_PGAS_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/seen.h"

#define RS_GUARD_NBYTES 256

struct rs_heap;
struct rs_allocation;

/* What is known of a block besides its place. */
struct rs_guard {
    uint32_t made_by;                   /* word of the call */
    uint64_t made_number, freed_number; /* of the collective, as the world counts; 0: not freed */
    char made_at[RS_SEEN_WHERE], freed_at[RS_SEEN_WHERE];
    bool filled; /* guards were written */
};

/* A block that all PEs have freed. */
struct rs_kept {
    uint64_t offset, nbytes, room;
    struct rs_guard guard;
};

struct rs_guards {
    struct rs_kept *kept; /* owned, a queue; NULL in a heap without guards */
    size_t n, capacity;
    uint64_t nbytes, most; /* of all rooms in it */
    char damage[640];      /* the first that was found, not told yet */
};

/* The heap is to have guards; before its first block. NOMEM. */
int rs_guards_begin(struct rs_heap *heap);
void rs_guards_end(struct rs_heap *heap);
/* Under the heap's lock. A block goes: 0 it is in quarantine, else a status of what had to leave it. */
int rs_guards_keep_locked(struct rs_heap *heap, uint64_t offset, uint64_t nbytes, uint64_t room,
                          struct rs_guard *guard);
/* Under the lock: let everything out of quarantine. True: something was there. */
bool rs_guards_empty_locked(struct rs_heap *heap);
/* Under the lock: "it was freed by ...", of allocation (freed here, not everywhere) or of what is in quarantine around
 * offset. False: that is not known. */
bool rs_guards_explain_locked(const struct rs_heap *heap, uint64_t offset,
                              const struct rs_allocation *allocation, char *out, size_t nbytes);
/* Fill a block's guard, and the block if poison. */
void rs_guards_fill(struct rs_heap *heap, const void *ptr, const struct rs_guard *guard, bool poison);
/* Note who frees it. */
void rs_guards_freed(struct rs_heap *heap, const void *ptr, uint64_t number, const char *where);
/* The first damage to any guard or poison, as text; it is told once. False: none. */
bool rs_guards_look(struct rs_heap *heap, char *out, size_t nbytes);

#endif
