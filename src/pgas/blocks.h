/* SPDX-License-Identifier: MIT
 *
 * The deterministic allocator of the symmetric heap. It hands out offsets and touches no memory: the heap may
 * be on a GPU, and a unit test needs none. Equal calls in equal order give equal offsets on every PE, so
 * allocation needs no messages.
 *
 * First fit over the free ranges, kept sorted by offset in one array and merged at once: there are never two
 * neighbours.
 */
#ifndef RS_PGAS_BLOCKS_H
#define RS_PGAS_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#define RS_NO_OFFSET UINT64_MAX

struct rs_range {
    uint64_t offset, nbytes;
};

struct rs_blocks {
    struct rs_range *free; /* owned, sorted by offset */
    size_t n, capacity;
    uint64_t nbytes;
};

int rs_blocks_init(struct rs_blocks *blocks, uint64_t nbytes);
void rs_blocks_fini(struct rs_blocks *blocks); /* zeroed is fine */
/* Take nbytes (> 0) at a multiple of align (a power of two). RS_NO_OFFSET when no free range is large enough.
 */
uint64_t rs_blocks_take(struct rs_blocks *blocks, uint64_t nbytes, uint64_t align);
/* Give back exactly what was taken. NOMEM when the list cannot grow (the range is lost until fini, nothing
 * else), BUG when the range was free already. */
int rs_blocks_give(struct rs_blocks *blocks, uint64_t offset, uint64_t nbytes);
uint64_t rs_blocks_largest(const struct rs_blocks *blocks);
uint64_t rs_blocks_free_nbytes(const struct rs_blocks *blocks);

#endif
