/* SPDX-License-Identifier: MIT
 *
 * Symmetric memory. Failure is NULL; what went wrong is said only where the job is broken with it. PEs that ask for
 * different sizes, which is undefined, get the largest each: programs written for other libraries do it.
 */
#include <string.h>

#include "layer.h"

static void *said(void *ptr)
{
    if (!LAYER_LIKELY(ptr != NULL)) layer_broken(0);
    return ptr;
}

LAYER(void *, malloc, (size_t size))
{
    return size ? said(rocshmemx_malloc_largest(0, size, 0)) : NULL;
}

/* All of this runtime's symmetric memory is alike, so that no hint changes anything, an unknown one neither. */
LAYER(void *, malloc_with_hints, (size_t size, long hints))
{
    (void)hints;
    if (size == 0) return NULL;
    layer_enter("shmem_malloc_with_hints");
    void *ptr = said(rocshmemx_malloc_largest(0, size, 0));
    layer_leave();
    return ptr;
}

LAYER(void *, calloc, (size_t count, size_t size))
{
    size_t nbytes;
    if (__builtin_mul_overflow(count, size, &nbytes)) return NULL;
    return nbytes ? said(rocshmemx_malloc_largest(0, nbytes, 1)) : NULL;
}

LAYER(void *, align, (size_t alignment, size_t size))
{
    if (size == 0 || alignment == 0) return NULL;
    bool small =
        alignment < sizeof(void *) && (alignment & (alignment - 1)) == 0; /* undefined, and no harm */
    return said(rocshmemx_malloc_largest(small ? sizeof(void *) : alignment, size, 0));
}

LAYER(void, free, (void *ptr))
{
    rocshmem_free(ptr);
}

/* A new block, each PE's own contents, and the old block's end, which waits until all have copied. A block that
 * cannot move because the heap is full may still shrink where it is. */
static void *move(void *ptr, size_t old_nbytes, size_t nbytes)
{
    void *to = rocshmemx_malloc_largest(0, nbytes, 0);
    if (!to) {
        layer_broken(0);
        return nbytes <= old_nbytes ? ptr : NULL;
    }
    memcpy(to, ptr, nbytes < old_nbytes ? nbytes : old_nbytes);
    rocshmem_free(ptr);
    return to;
}

LAYER(void *, realloc, (void *ptr, size_t size))
{
    void *base, *to = NULL;
    size_t nbytes;
    layer_enter("shmem_realloc");
    if (!ptr) {
        to = size ? said(rocshmemx_malloc_largest(0, size, 0)) : NULL;
    } else if (!rocshmemx_allocation(ptr, &base, &nbytes) || base != ptr) {
        layer_fail("shmem_realloc", "ptr %p is no block of the symmetric heap; pass what shmem_malloc gave",
                   ptr);
    } else if (size == 0) {
        rocshmem_free(ptr);
    } else {
        to = move(ptr, nbytes, size);
    }
    layer_leave();
    return to;
}

/* ---- the names before 1.2 ---- */

void *shmalloc(size_t size)
{
    return shmem_malloc(size);
}

void shfree(void *ptr)
{
    shmem_free(ptr);
}

void *shrealloc(void *ptr, size_t size)
{
    return shmem_realloc(ptr, size);
}

void *shmemalign(size_t alignment, size_t size)
{
    return shmem_align(alignment, size);
}
