/* SPDX-License-Identifier: MIT
 *
 * Allocations and addresses. The data path reads only generation and contains (heap.h) and keeps what
 * rs_heap_find told it until the generation changes; everything else is under the lock. Called by any thread.
 */
#include "pgas/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "observe/board.h"

int rs_window_create(struct rs_window **window_out, const struct rs_device_ops *ops,
                     const struct rs_windows *windows)
{
    struct rs_window *window = malloc(sizeof *window);
    if (!window) return rs_fail(RS_E_NOMEM, "no memory for the heap's window");
    atomic_init(&window->refs, 1);
    window->ops = ops;
    window->windows = *windows;
    *window_out = window;
    return 0;
}

void rs_window_unref(struct rs_window *window)
{
    if (!window) return;
    /* acq_rel: what other holders did with the memory comes before the unmapping. */
    if (atomic_fetch_sub_explicit(&window->refs, 1, memory_order_acq_rel) > 1) return;
    if (window->ops)
        window->ops->windows_unmap(&window->windows);
    else
        free(window->windows.base);
    free(window);
}

int rs_heap_init(struct rs_heap *heap, struct rs_window *window, size_t nbytes, uint64_t *logs, int n_pes,
                 int my_pe, const struct rs_hosts *hosts)
{
    static _Atomic uint64_t next_id = 1;
    memset(heap, 0, sizeof *heap);
    pthread_mutex_init(&heap->lock, NULL);
    heap->window = window;
    heap->base = window->windows.base[window->windows.my_local];
    heap->flags = heap->base + rs_heap_room(nbytes);
    heap->align = window->windows.align;
    heap->nbytes = nbytes;
    heap->logs = logs;
    heap->hosts = hosts;
    heap->n_pes = n_pes;
    heap->my_pe = my_pe;
    heap->id = atomic_fetch_add(&next_id, 1);
    atomic_init(&heap->generation, 1);
    heap->seen = calloc((size_t)n_pes, sizeof *heap->seen);
    if (window->windows.grows)
        heap->backed = calloc(rs_heap_room(nbytes) / RS_WINDOW_PART, sizeof *heap->backed);
    if (!heap->seen || (window->windows.grows && !heap->backed))
        return rs_fail(RS_E_NOMEM, "no memory for the heap's bookkeeping of %d PEs", n_pes);
    return rs_blocks_init(&heap->blocks, nbytes);
}

void rs_heap_fini(struct rs_heap *heap)
{
    if (heap->generation == 0) return; /* never built */
    rs_guards_end(heap);
    rs_blocks_fini(&heap->blocks);
    free(heap->list);
    free(heap->seen);
    free(heap->backed);
    free(heap->pending);
    rs_window_unref(heap->window);
    pthread_mutex_destroy(&heap->lock);
    memset(heap, 0, sizeof *heap);
}

/* ---- the list, under the lock ---- */

/* The index of the first allocation behind offset; the one before it, if any, may contain offset. */
static size_t upper_locked(const struct rs_heap *heap, uint64_t offset)
{
    size_t low = 0, high = heap->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (heap->list[middle].offset > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The allocation whose room contains offset, freed ones included; NULL when there is none. */
static struct rs_allocation *around_locked(const struct rs_heap *heap, uint64_t offset)
{
    size_t i = upper_locked(heap, offset);
    if (i == 0) return NULL;
    struct rs_allocation *a = &heap->list[i - 1];
    return offset - a->offset < a->room ? a : NULL;
}

struct rs_allocation *rs_heap_at_locked(const struct rs_heap *heap, uint64_t offset)
{
    struct rs_allocation *a = around_locked(heap, offset);
    return a && a->offset == offset ? a : NULL;
}

static void changed_locked(struct rs_heap *heap)
{
    atomic_fetch_add_explicit(&heap->generation, 1, memory_order_release);
}

int rs_check_alignment(size_t align)
{
    if (align > RS_WINDOW_ALIGN && (align & (align - 1)) == 0)
        return rs_fail(RS_E_ARG, "alignment %zu is above %zu, which windows are aligned to", align,
                       RS_WINDOW_ALIGN);
    if (align >= 8 && (align & (align - 1)) == 0) return 0;
    return rs_fail(RS_E_ARG, "alignment %zu is not a power of two and a multiple of 8", align);
}

int rs_heap_alloc(struct rs_heap *heap, size_t nbytes, size_t align, void **ptr_out)
{
    RS_TRY(rs_check_alignment(align));
    if (align < RS_HEAP_ALIGN) align = RS_HEAP_ALIGN;
    if (align > heap->align)
        return rs_fail(RS_E_ARG, "alignment %zu is above %zu, which windows of this device are aligned to",
                       align, heap->align);
    uint64_t room = ((uint64_t)nbytes + RS_HEAP_ALIGN - 1) & ~(uint64_t)(RS_HEAP_ALIGN - 1);
    if (RS_UNLIKELY(heap->guards.kept != NULL) && room >= nbytes) room += RS_GUARD_NBYTES;
    int rc = 0;
    pthread_mutex_lock(&heap->lock);
    if (heap->n == heap->capacity) {
        size_t capacity = heap->capacity ? 2 * heap->capacity : 64;
        struct rs_allocation *more = realloc(heap->list, capacity * sizeof *more);
        if (!more) {
            rc = rs_fail(RS_E_NOMEM, "no memory for the list of %zu allocations", heap->n);
            goto unlock;
        }
        heap->list = more;
        heap->capacity = capacity;
    }
    /* Offsets are aligned relative to the heap's start, which is at the same place of its page on every PE.
     */
    uint64_t offset = room < nbytes ? RS_NO_OFFSET : rs_blocks_take(&heap->blocks, room, align);
    if (offset == RS_NO_OFFSET && room >= nbytes && rs_guards_empty_locked(heap))
        offset = rs_blocks_take(&heap->blocks, room, align);
    if (offset == RS_NO_OFFSET) {
        rc = rs_fail(RS_E_NOMEM,
                     "symmetric heap is full: asked %zu bytes, largest free block %zu, heap %zu; raise "
                     "ROCSHMEM_HEAP_SIZE",
                     nbytes, (size_t)rs_blocks_largest(&heap->blocks), heap->nbytes);
        goto unlock;
    }
    size_t i = upper_locked(heap, offset);
    memmove(heap->list + i + 1, heap->list + i, (heap->n - i) * sizeof *heap->list);
    heap->list[i] = (struct rs_allocation){.offset = offset, .nbytes = nbytes, .room = room};
    heap->n++;
    changed_locked(heap);
    *ptr_out = (void *)(heap->base + offset);
unlock:
    pthread_mutex_unlock(&heap->lock);
    return rc;
}

/* ---- the end of an allocation ---- */

/* This PE's drop of an allocation is due: put it into the queue for the log. Without memory it stays
 * allocated for good. */
static void pend_locked(struct rs_heap *heap, struct rs_allocation *a)
{
    if (a->dropped) return;
    if (heap->n_pending == heap->pending_capacity) {
        size_t capacity = heap->pending_capacity ? 2 * heap->pending_capacity : 16;
        uint64_t *more = realloc(heap->pending, capacity * sizeof *more);
        if (!more) return;
        heap->pending = more;
        heap->pending_capacity = capacity;
    }
    heap->pending[heap->n_pending++] = a->offset;
    a->dropped = true;
}

int rs_heap_free(struct rs_heap *heap, const void *ptr, uint64_t *offset_out)
{
    if (!rs_heap_contains(heap, ptr)) return rs_heap_explain(heap, "ptr", ptr, 1);
    uint64_t offset = (uintptr_t)ptr - heap->base;
    pthread_mutex_lock(&heap->lock);
    struct rs_allocation *a = rs_heap_at_locked(heap, offset);
    bool found = a && !a->freed;
    if (found) {
        a->freed = true;
        if (a->holds == 0) pend_locked(heap, a);
        changed_locked(heap);
    }
    pthread_mutex_unlock(&heap->lock);
    if (!found) return rs_heap_explain(heap, "ptr", ptr, 0);
    *offset_out = offset;
    return 0;
}

/* Of a PE of this host. */
static uint64_t *log_of(const struct rs_heap *heap, int pe)
{
    return heap->logs + (size_t)(heap->hosts ? heap->hosts->where[pe].local : pe) * RS_DROP_LOG;
}

uint64_t rs_heap_my_drop(const struct rs_heap *heap, uint64_t k)
{
    return log_of(heap, heap->my_pe)[(heap->seen[heap->my_pe] + k) % RS_DROP_LOG];
}

struct rs_drops rs_heap_announce(struct rs_heap *heap)
{
    struct rs_drops mine = {0, 0, 0};
    if (!heap->logs) return mine;
    pthread_mutex_lock(&heap->lock);
    uint64_t *log = log_of(heap, heap->my_pe);
    size_t moved = 0;
    if (heap->n_pending == 1) { /* it travels in the announcement: nobody looks it up in the log */
        mine.last = heap->pending[moved++];
        heap->published++;
    }
    /* What was announced at the collective before the last is consumed by all: they entered the last one
     * after that. */
    while (moved < heap->n_pending && heap->published - heap->safe < RS_DROP_LOG) {
        mine.last = heap->pending[moved++];
        log[heap->published++ % RS_DROP_LOG] = mine.last;
    }
    heap->n_pending -= moved;
    if (heap->n_pending > 0)
        memmove(heap->pending, heap->pending + moved, heap->n_pending * sizeof *heap->pending);
    mine.count = heap->published;
    pthread_mutex_unlock(&heap->lock);
    return mine;
}

static int release_at_locked(struct rs_heap *heap, size_t i)
{
    struct rs_allocation a = heap->list[i];
    heap->n--;
    memmove(heap->list + i, heap->list + i + 1, (heap->n - i) * sizeof *heap->list);
    if (RS_UNLIKELY(a.guard != NULL)) return rs_guards_keep_locked(heap, a.offset, a.nbytes, a.room, a.guard);
    return rs_blocks_give(&heap->blocks, a.offset, a.room);
}

/* Release what all have dropped, in the order of offsets, which is equal on all PEs. one: the only one, or
 * SIZE_MAX. */
static int release_locked(struct rs_heap *heap, size_t one)
{
    int rc = 0;
    if (one != SIZE_MAX) rc = release_at_locked(heap, one);
    for (size_t i = 0; one == SIZE_MAX && i < heap->n;) {
        int gave = heap->list[i].drops == heap->n_pes ? release_at_locked(heap, i) : 1;
        if (gave == 1) i++;
        if (gave < 0 && rc == 0) rc = gave;
    }
    changed_locked(heap);
    return rc;
}

void rs_heap_unalloc(struct rs_heap *heap, const void *ptr)
{
    pthread_mutex_lock(&heap->lock);
    struct rs_allocation *a = rs_heap_at_locked(heap, (uintptr_t)ptr - heap->base);
    if (a) release_at_locked(heap, (size_t)(a - heap->list));
    changed_locked(heap);
    pthread_mutex_unlock(&heap->lock);
}

int rs_heap_collect(struct rs_heap *heap, const struct rs_drops *all, uint64_t *const *far)
{
    if (!heap->logs) return 0;
    int rc = 0, n_released = 0;
    size_t one = SIZE_MAX;
    pthread_mutex_lock(&heap->lock);
    for (int pe = 0; pe < heap->n_pes; pe++) {
        bool single = all[pe].count - heap->seen[pe] == 1;
        for (uint64_t k = 0; heap->seen[pe] < all[pe].count; heap->seen[pe]++, k++) {
            uint64_t offset = single           ? all[pe].last
                              : far && far[pe] ? far[pe][k]
                                               : log_of(heap, pe)[heap->seen[pe] % RS_DROP_LOG];
            struct rs_allocation *a = rs_heap_at_locked(heap, offset);
            if (RS_NEVER(!a)) {
                rc = rs_fail(RS_E_BUG, "PE %d dropped a block that is not allocated here", pe);
                continue;
            }
            if (++a->drops == heap->n_pes) one = n_released++ ? SIZE_MAX : (size_t)(a - heap->list);
        }
    }
    heap->safe = heap->last;
    heap->last = all[heap->my_pe].count;
    if (n_released > 0) {
        int released = release_locked(heap, one);
        if (rc == 0) rc = released;
    }
    pthread_mutex_unlock(&heap->lock);
    return rc;
}

/* ---- memory behind it ---- */

bool rs_heap_find_gap(struct rs_heap *heap, const void *ptr, size_t nbytes, struct rs_heap_gap *gap_out)
{
    if (!heap->backed) return false;
    size_t first = ((uintptr_t)ptr - heap->base) / RS_WINDOW_PART,
           n = rs_heap_room(heap->nbytes) / RS_WINDOW_PART;
    size_t end = ((uintptr_t)ptr - heap->base + nbytes + RS_WINDOW_PART - 1) / RS_WINDOW_PART;
    pthread_mutex_lock(&heap->lock);
    while (first < end && heap->backed[first]) first++;
    size_t stop = first, most;
    while (stop < end && !heap->backed[stop]) stop++;
    for (most = stop; most < n && !heap->backed[most]; most++) continue;
    pthread_mutex_unlock(&heap->lock);
    *gap_out = (struct rs_heap_gap){first * RS_WINDOW_PART, (stop - first) * RS_WINDOW_PART,
                                    (most - first) * RS_WINDOW_PART};
    return first < end;
}

void rs_heap_back(struct rs_heap *heap, size_t at, size_t nbytes)
{
    pthread_mutex_lock(&heap->lock);
    for (size_t i = 0; i < nbytes / RS_WINDOW_PART; i++) heap->backed[at / RS_WINDOW_PART + i] = true;
    heap->n_backed += nbytes / RS_WINDOW_PART;
    pthread_mutex_unlock(&heap->lock);
}

/* ---- addresses ---- */

bool rs_heap_find(struct rs_heap *heap, const void *p, uintptr_t *base_out, size_t *nbytes_out,
                  uint64_t *generation_out)
{
    if (!rs_heap_contains(heap, p)) return false;
    pthread_mutex_lock(&heap->lock);
    struct rs_allocation *a = around_locked(heap, (uintptr_t)p - heap->base);
    bool found = a && !a->freed && (uintptr_t)p - heap->base - a->offset < a->nbytes;
    if (found) {
        *base_out = heap->base + a->offset;
        *nbytes_out = a->nbytes;
        *generation_out = atomic_load_explicit(&heap->generation, memory_order_relaxed);
    }
    pthread_mutex_unlock(&heap->lock);
    return found;
}

int rs_heap_explain(struct rs_heap *heap, const char *what, const void *p, size_t nbytes)
{
    if (!rs_heap_contains(heap, p))
        return rs_fail(
            RS_E_ARG,
            "%s %p is not symmetric: it is outside this PE's symmetric heap %p..%p; use memory from "
            "rocshmem_malloc",
            what, p, (void *)heap->base, (void *)(heap->base + heap->nbytes));
    uint64_t offset = (uintptr_t)p - heap->base;
    pthread_mutex_lock(&heap->lock);
    struct rs_allocation *found = around_locked(heap, offset), a = {0};
    char freed[256];
    if (found) a = *found;
    if (!rs_guards_explain_locked(heap, offset, found ? &a : NULL, freed, sizeof freed))
        snprintf(freed, sizeof freed, "%s",
                 found ? "it was freed" : "it was never allocated, or freed before");
    pthread_mutex_unlock(&heap->lock);
    if (!found || a.freed)
        return rs_fail(RS_E_ARG, "%s %p (heap offset %llu) is in no live allocation: %s", what, p,
                       (unsigned long long)offset, freed);
    if (nbytes == 0)
        return rs_fail(RS_E_ARG, "%s %p is not the start of an allocation; that is %p", what, p,
                       (void *)(heap->base + a.offset));
    return rs_fail(RS_E_ARG, "%s %p + %zu bytes leaves its allocation, which is %llu bytes at %p", what, p,
                   nbytes, (unsigned long long)a.nbytes, (void *)(heap->base + a.offset));
}

void rs_heap_place(struct rs_heap *heap, const void *p, char *out, size_t nbytes)
{
    uintptr_t base;
    size_t size;
    uint64_t generation;
    if (!rs_heap_find(heap, p, &base, &size, &generation))
        snprintf(out, nbytes, "%p", p);
    else
        snprintf(out, nbytes, "%p + %zu (heap offset %zu)", (void *)base, (size_t)((uintptr_t)p - base),
                 (size_t)((uintptr_t)p - heap->base));
}

void rs_heap_info(struct rs_heap *heap, size_t *used_out, size_t *largest_free_out)
{
    pthread_mutex_lock(&heap->lock);
    *used_out = heap->nbytes - (size_t)rs_blocks_free_nbytes(&heap->blocks) - (size_t)heap->guards.nbytes;
    *largest_free_out = (size_t)rs_blocks_largest(&heap->blocks);
    pthread_mutex_unlock(&heap->lock);
}

void rs_heap_live(struct rs_heap *heap, size_t *n_out, size_t *nbytes_out)
{
    *n_out = *nbytes_out = 0;
    pthread_mutex_lock(&heap->lock);
    for (size_t i = 0; i < heap->n; i++) {
        if (heap->list[i].freed) continue;
        ++*n_out;
        *nbytes_out += heap->list[i].nbytes;
    }
    pthread_mutex_unlock(&heap->lock);
}

/* ---- holds ---- */

struct rs_hold {
    struct rs_window *window; /* one reference */
    uint64_t heap_id, offset;
};

/* The process's heap, for holds that end when they please. The lock is taken before a heap's. */
static pthread_mutex_t current_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rs_heap *current;

void rs_heap_make_current(struct rs_heap *heap)
{
    pthread_mutex_lock(&current_lock);
    current = heap;
    pthread_mutex_unlock(&current_lock);
}

void rs_heap_lock_current(void)
{
    pthread_mutex_lock(&current_lock);
    if (current) pthread_mutex_lock(&current->lock);
}

void rs_heap_unlock_current(void)
{
    if (current) pthread_mutex_unlock(&current->lock);
    pthread_mutex_unlock(&current_lock);
}

void rs_heap_forget_current(void)
{
    pthread_mutex_unlock(&current->lock);
    current = NULL;
}

void rs_heap_drop_current(const void *ptr)
{
    pthread_mutex_lock(&current_lock);
    if (current && rs_heap_contains(current, ptr)) {
        pthread_mutex_lock(&current->lock);
        struct rs_allocation *a = rs_heap_at_locked(current, (uintptr_t)ptr - current->base);
        if (a && !a->freed) {
            a->freed = true;
            if (a->holds == 0) pend_locked(current, a);
            changed_locked(current);
        }
        pthread_mutex_unlock(&current->lock);
    }
    pthread_mutex_unlock(&current_lock);
}

int rs_hold_create(struct rs_heap *heap, const void *ptr, struct rs_hold **hold_out)
{
    struct rs_hold *hold = malloc(sizeof *hold);
    if (!hold) return rs_fail(RS_E_NOMEM, "no memory for a hold");
    pthread_mutex_lock(&heap->lock);
    struct rs_allocation *a = NULL;
    if (rs_heap_contains(heap, ptr)) a = around_locked(heap, (uintptr_t)ptr - heap->base);
    if (a && !a->freed) {
        a->holds++;
        *hold = (struct rs_hold){heap->window, heap->id, a->offset};
        atomic_fetch_add_explicit(&heap->window->refs, 1, memory_order_relaxed);
    } else {
        a = NULL;
    }
    pthread_mutex_unlock(&heap->lock);
    if (!a) {
        free(hold);
        return rs_heap_explain(heap, "ptr", ptr, 1);
    }
    *hold_out = hold;
    return 0;
}

void rs_hold_destroy(struct rs_hold *hold)
{
    if (!hold) return;
    pthread_mutex_lock(&current_lock);
    struct rs_heap *heap = current && current->id == hold->heap_id ? current : NULL;
    if (heap) {
        pthread_mutex_lock(&heap->lock);
        struct rs_allocation *a =
            rs_heap_at_locked(heap, hold->offset); /* stays in the list while a hold lives */
        if (a && --a->holds == 0 && a->freed) pend_locked(heap, a);
        pthread_mutex_unlock(&heap->lock);
    }
    pthread_mutex_unlock(&current_lock);
    rs_window_unref(hold->window);
    free(hold);
}
