/* SPDX-License-Identifier: MIT
 *
 * Locks that are given in the order of asking: a queue of PEs, kept in the lock word itself, 0 on all PEs when there
 * is none. The word's first half on PE 0 is the queue's end (a PE + 1). The second half on each PE is that PE's place:
 * whether it is in the queue, whether it waits, who comes next (a PE + 1). A PE waits on its own word only, with the
 * runtime's wait, which notices when another PE dies.
 */
#include "layer.h"

enum {
    HOME = 0
}; /* where the end of every queue is: the same PE for all, found without knowing the lock's offset */

#define WAITING UINT32_C(0x80000000) /* set by its owner, cleared by the PE that hands the lock over */
#define QUEUED UINT32_C(0x40000000)
#define NEXT UINT32_C(0x3fffffff) /* ored in by the one that comes next */

_Static_assert(sizeof(long) == 2 * sizeof(uint32_t), "two halves");

struct place {
    uint32_t *end; /* on HOME */
    uint32_t *own; /* on each PE */
    int me;
};

static bool place_of(const char *function, long *lock, struct place *place)
{
    uint32_t *halves = (uint32_t *)(void *)lock;
    *place = (struct place){halves, halves + 1, rocshmem_my_pe()};
    if (place->me < 0 || ((uintptr_t)lock % sizeof *lock == 0 && rocshmem_ptr(lock, place->me))) return true;
    layer_fail(function,
               "lock %p is no symmetric long; use a global or static variable, or memory of shmem_malloc",
               (void *)lock);
    return false;
}

static uint32_t own_of(const struct place *place)
{
    return rocshmem_uint32_atomic_fetch(place->own, place->me);
}

LAYER(void, set_lock, (long *lock))
{
    layer_enter("shmem_set_lock");
    struct place place;
    if (!place_of("shmem_set_lock", lock, &place)) return;
    if (own_of(&place) != 0) {
        layer_fail("shmem_set_lock",
                   "lock %p is held by this PE already, which would wait for itself; "
                   "call shmem_clear_lock first",
                   (void *)lock);
        return;
    }
    rocshmem_uint32_atomic_set(place.own, QUEUED, place.me);
    uint32_t before = rocshmem_uint32_atomic_swap(place.end, (uint32_t)place.me + 1, HOME);
    if (before) {
        /* In this order: the one before clears WAITING as soon as it knows of us. */
        rocshmem_uint32_atomic_or(place.own, WAITING, place.me);
        rocshmem_uint32_atomic_or(place.own, (uint32_t)place.me + 1, (int)before - 1);
        rocshmem_uint32_wait_until(place.own, SHMEM_CMP_LT, WAITING);
    }
    layer_leave();
}

LAYER(int, test_lock, (long *lock))
{
    layer_enter("shmem_test_lock");
    struct place place;
    if (!place_of("shmem_test_lock", lock, &place)) return 1;
    int held = own_of(&place) != 0;
    if (!held) {
        rocshmem_uint32_atomic_set(place.own, QUEUED, place.me);
        held = rocshmem_uint32_atomic_compare_swap(place.end, 0, (uint32_t)place.me + 1, HOME) != 0;
        if (held) rocshmem_uint32_atomic_set(place.own, 0, place.me);
    }
    layer_leave();
    return held;
}

/* For a program that wrote to the lock's word while it held the lock: the queue's end still says who that was. Nobody
 * may have come meanwhile, because who it was is lost. */
static bool held_after_all(const struct place *place, uint32_t own)
{
    uint32_t end = (uint32_t)place->me + 1;
    if (own & (WAITING | QUEUED)) return false;
    rocshmem_quiet();
    return rocshmem_uint32_atomic_compare_swap(place->end, end, 0, HOME) == end;
}

LAYER(void, clear_lock, (long *lock))
{
    layer_enter("shmem_clear_lock");
    struct place place;
    if (!place_of("shmem_clear_lock", lock, &place)) return;
    uint32_t own = own_of(&place), end = (uint32_t)place.me + 1;
    if (held_after_all(&place, own)) {
        rocshmem_uint32_atomic_set(place.own, 0, place.me);
        layer_leave();
        return;
    }
    if (!(own & QUEUED) || (own & WAITING)) {
        layer_fail("shmem_clear_lock", "lock %p is not held by this PE; call shmem_set_lock first",
                   (void *)lock);
        return;
    }
    rocshmem_quiet();
    if (!(own & NEXT) && rocshmem_uint32_atomic_compare_swap(place.end, end, 0, HOME) == end) {
        rocshmem_uint32_atomic_set(place.own, 0, place.me);
    } else {
        rocshmem_uint32_wait_until(place.own, SHMEM_CMP_NE, QUEUED); /* one is coming: until it said who */
        int next = (int)(own_of(&place) & NEXT) - 1;
        rocshmem_uint32_atomic_set(place.own, 0, place.me);
        rocshmem_uint32_atomic_and(place.own, ~WAITING, next);
    }
    layer_leave();
}
