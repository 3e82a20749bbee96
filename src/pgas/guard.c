/* SPDX-License-Identifier: MIT
 *
 * See guard.h. A PE writes and reads the guards of its own window only; whoever damaged them is another call or a plain
 * store, of this PE or of another one. A block is filled before its malloc returns on any PE, and poisoned after all PEs
 * have freed it, so nobody's bytes are overwritten.
 */
#include "pgas/guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "observe/calls.h"
#include "pgas/heap.h"

enum { FRESH = 0xa5, FREED = 0xdf, GUARD = 0xfd };
#define QUARANTINE ((uint64_t)4 << 20) /* bytes, or an eighth of the heap */
#define POISON ((uint64_t)1 << 20)     /* bytes at the start of a block; what follows is not touched */

static uint64_t poisoned(uint64_t nbytes)
{
    return nbytes < POISON ? nbytes : POISON;
}

int rs_guards_begin(struct rs_heap *heap)
{
    struct rs_guards *g = &heap->guards;
    g->capacity = 64;
    g->most = heap->nbytes / 8 < QUARANTINE ? heap->nbytes / 8 : QUARANTINE;
    g->kept = calloc(g->capacity, sizeof *g->kept);
    if (!g->kept) return rs_fail(RS_E_NOMEM, "no memory for the guards of the heap");
    if (rs_blocks_take(&heap->blocks, RS_GUARD_NBYTES, RS_HEAP_ALIGN) != 0)
        return rs_fail(RS_E_BUG, "the heap's first bytes were taken before its guards");
    memset((void *)heap->base, GUARD, RS_GUARD_NBYTES);
    return 0;
}

void rs_guards_end(struct rs_heap *heap)
{
    for (size_t i = 0; i < heap->n; i++) free(heap->list[i].guard);
    free(heap->guards.kept);
    heap->guards.kept = NULL;
}

static unsigned char *at(const struct rs_heap *heap, uint64_t offset)
{
    return (unsigned char *)(heap->base + offset);
}

/* The first byte that is not what it should be, or nbytes. */
static uint64_t damaged(const unsigned char *p, uint64_t nbytes, unsigned char value)
{
    if (nbytes == 0 || (p[0] == value && memcmp(p, p + 1, nbytes - 1) == 0)) return nbytes;
    for (uint64_t i = 0; i < nbytes; i++)
        if (p[i] != value) return i;
    return nbytes;
}

static void made_by(const struct rs_guard *guard, char *out, size_t nbytes)
{
    char name[64];
    rs_call_name(guard->made_by, name, sizeof name);
    snprintf(out, nbytes, "%s, collective #%" PRIu64 ", at %s", name, guard->made_number,
             guard->made_at[0] ? guard->made_at : "an unknown place");
}

static void freed_by(const struct rs_guard *guard, char *out, size_t nbytes)
{
    if (guard->freed_number == 0)
        snprintf(out, nbytes, "rocshmemx_drop or the end of its last reference");
    else
        snprintf(out, nbytes, "rocshmem_free, collective #%" PRIu64 ", at %s", guard->freed_number,
                 guard->freed_at[0] ? guard->freed_at : "an unknown place");
}

/* The guard behind a block. Its damage is written down once; then it is mended, so that it is not found again. */
static void look_behind_locked(struct rs_heap *heap, uint64_t offset, uint64_t nbytes, uint64_t room,
                               const struct rs_guard *guard)
{
    char made[224];
    uint64_t n = room - nbytes, i = damaged(at(heap, offset + nbytes), n, GUARD);
    if (i == n) return;
    made_by(guard, made, sizeof made);
    if (!heap->guards.damage[0])
        snprintf(heap->guards.damage, sizeof heap->guards.damage,
                 "the guard behind the block of %" PRIu64
                 " bytes at %p was written to: first at block + %" PRIu64 " (%" PRIu64
                 " bytes behind its end; heap offset %" PRIu64 "); the block was made by %s",
                 nbytes, (void *)at(heap, offset), nbytes + i, i, offset + nbytes + i, made);
    memset(at(heap, offset + nbytes), GUARD, n);
}

static void look_at_kept_locked(struct rs_heap *heap, const struct rs_kept *kept)
{
    char made[224], freed[224];
    uint64_t n = poisoned(kept->room), i = damaged(at(heap, kept->offset), n, FREED);
    if (i == n) return;
    made_by(&kept->guard, made, sizeof made);
    freed_by(&kept->guard, freed, sizeof freed);
    if (!heap->guards.damage[0])
        snprintf(heap->guards.damage, sizeof heap->guards.damage,
                 "a freed block was written to: the one of %" PRIu64 " bytes at %p, first at block + %" PRIu64
                 "; it was freed by %s, and made by %s",
                 kept->nbytes, (void *)at(heap, kept->offset), i, freed, made);
    memset(at(heap, kept->offset), FREED, n);
}

/* ---- quarantine ---- */

/* The oldest may be used again. */
static int let_go_locked(struct rs_heap *heap)
{
    struct rs_guards *g = &heap->guards;
    struct rs_kept kept = g->kept[0];
    look_at_kept_locked(heap, &kept);
    memmove(g->kept, g->kept + 1, --g->n * sizeof *g->kept);
    g->nbytes -= kept.room;
    return rs_blocks_give(&heap->blocks, kept.offset, kept.room);
}

bool rs_guards_empty_locked(struct rs_heap *heap)
{
    bool any = heap->guards.n > 0;
    while (heap->guards.n > 0)
        if (let_go_locked(heap) < 0) return false;
    return any;
}

int rs_guards_keep_locked(struct rs_heap *heap, uint64_t offset, uint64_t nbytes, uint64_t room,
                          struct rs_guard *guard)
{
    struct rs_guards *g = &heap->guards;
    int rc = 0;
    if (guard && guard->filled) look_behind_locked(heap, offset, nbytes, room, guard);
    memset(at(heap, offset), FREED, poisoned(room));
    if (g->n == g->capacity) {
        struct rs_kept *more = realloc(g->kept, 2 * g->capacity * sizeof *more);
        if (!more) return rs_fail(RS_E_NOMEM, "no memory for a freed block");
        g->kept = more;
        g->capacity *= 2;
    }
    g->kept[g->n] = (struct rs_kept){.offset = offset, .nbytes = nbytes, .room = room};
    if (guard) g->kept[g->n].guard = *guard;
    g->n++;
    free(guard);
    g->nbytes += room;
    while (g->n > 0 && g->nbytes > g->most && rc == 0) rc = let_go_locked(heap);
    return rc;
}

bool rs_guards_explain_locked(const struct rs_heap *heap, uint64_t offset,
                              const struct rs_allocation *allocation, char *out, size_t nbytes)
{
    char freed[224];
    if (allocation && allocation->guard) {
        freed_by(allocation->guard, freed, sizeof freed);
        snprintf(out, nbytes, "it was freed by %s", freed);
        return true;
    }
    for (size_t i = heap->guards.n; i-- > 0;) {
        const struct rs_kept *kept = &heap->guards.kept[i];
        if (offset - kept->offset >= kept->room) continue;
        freed_by(&kept->guard, freed, sizeof freed);
        snprintf(out, nbytes, "it was freed by %s", freed);
        return true;
    }
    return false;
}

/* ---- blocks in use ---- */

void rs_guards_fill(struct rs_heap *heap, const void *ptr, const struct rs_guard *guard, bool poison)
{
    pthread_mutex_lock(&heap->lock);
    struct rs_allocation *a = rs_heap_at_locked(heap, (uintptr_t)ptr - heap->base);
    if (a && !a->guard) a->guard = calloc(1, sizeof *a->guard);
    if (a && a->guard) {
        *a->guard = *guard;
        a->guard->filled = true;
        if (poison) memset(at(heap, a->offset), FRESH, poisoned(a->nbytes));
        memset(at(heap, a->offset + a->nbytes), GUARD, a->room - a->nbytes);
    }
    pthread_mutex_unlock(&heap->lock);
}

void rs_guards_freed(struct rs_heap *heap, const void *ptr, uint64_t number, const char *where)
{
    pthread_mutex_lock(&heap->lock);
    struct rs_allocation *a = rs_heap_at_locked(heap, (uintptr_t)ptr - heap->base);
    if (a && a->guard && !a->freed) {
        a->guard->freed_number = number;
        snprintf(a->guard->freed_at, sizeof a->guard->freed_at, "%s", where);
    }
    pthread_mutex_unlock(&heap->lock);
}

bool rs_guards_look(struct rs_heap *heap, char *out, size_t nbytes)
{
    struct rs_guards *g = &heap->guards;
    pthread_mutex_lock(&heap->lock);
    uint64_t first = damaged(at(heap, 0), RS_GUARD_NBYTES, GUARD);
    if (first < RS_GUARD_NBYTES) {
        if (!g->damage[0])
            snprintf(
                g->damage, sizeof g->damage,
                "the guard before the first block of the heap was written to, first at heap offset %" PRIu64,
                first);
        memset(at(heap, 0), GUARD, RS_GUARD_NBYTES);
    }
    for (size_t i = 0; i < heap->n; i++) {
        const struct rs_allocation *a = &heap->list[i];
        if (a->guard && a->guard->filled) look_behind_locked(heap, a->offset, a->nbytes, a->room, a->guard);
    }
    for (size_t i = 0; i < g->n; i++) look_at_kept_locked(heap, &g->kept[i]);
    bool found = g->damage[0] != '\0';
    if (found) snprintf(out, nbytes, "%s", g->damage);
    g->damage[0] = '\0';
    pthread_mutex_unlock(&heap->lock);
    return found;
}
