/* SPDX-License-Identifier: MIT
 *
 * First fit on offsets. Not thread safe: heap.c calls it under its lock.
 */
#include "pgas/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

int rs_blocks_init(struct rs_blocks *blocks, uint64_t nbytes)
{
    memset(blocks, 0, sizeof *blocks);
    blocks->capacity = 64;
    blocks->free = malloc(blocks->capacity * sizeof *blocks->free);
    if (!blocks->free) return rs_fail(RS_E_NOMEM, "no memory for the heap's free list");
    blocks->nbytes = nbytes;
    if (nbytes > 0) blocks->free[blocks->n++] = (struct rs_range){0, nbytes};
    return 0;
}

void rs_blocks_fini(struct rs_blocks *blocks)
{
    free(blocks->free);
    memset(blocks, 0, sizeof *blocks);
}

static int grow(struct rs_blocks *blocks)
{
    if (blocks->n < blocks->capacity) return 0;
    size_t capacity = blocks->capacity ? 2 * blocks->capacity : 64;
    struct rs_range *more = realloc(blocks->free, capacity * sizeof *more);
    if (!more) return rs_fail(RS_E_NOMEM, "no memory for the heap's free list of %zu ranges", blocks->n);
    blocks->free = more;
    blocks->capacity = capacity;
    return 0;
}

static void insert_at(struct rs_blocks *blocks, size_t i, struct rs_range range)
{
    memmove(blocks->free + i + 1, blocks->free + i, (blocks->n - i) * sizeof *blocks->free);
    blocks->free[i] = range;
    blocks->n++;
}

static void remove_at(struct rs_blocks *blocks, size_t i)
{
    blocks->n--;
    memmove(blocks->free + i, blocks->free + i + 1, (blocks->n - i) * sizeof *blocks->free);
}

uint64_t rs_blocks_take(struct rs_blocks *blocks, uint64_t nbytes, uint64_t align)
{
    for (size_t i = 0; i < blocks->n; i++) {
        struct rs_range *r = &blocks->free[i];
        uint64_t at = (r->offset + align - 1) & ~(align - 1);
        uint64_t head = at - r->offset; /* at < offset when the sum wrapped: then head is huge */
        if (at < r->offset || head > r->nbytes || nbytes > r->nbytes - head) continue;
        uint64_t tail = r->nbytes - head - nbytes;
        if (head > 0 && tail > 0) {
            if (grow(blocks) < 0) return RS_NO_OFFSET;
            r = &blocks->free[i];
            r->nbytes = head;
            insert_at(blocks, i + 1, (struct rs_range){at + nbytes, tail});
        } else if (head > 0) {
            r->nbytes = head;
        } else if (tail > 0) {
            *r = (struct rs_range){at + nbytes, tail};
        } else {
            remove_at(blocks, i);
        }
        return at;
    }
    return RS_NO_OFFSET;
}

int rs_blocks_give(struct rs_blocks *blocks, uint64_t offset, uint64_t nbytes)
{
    size_t low = 0, high = blocks->n; /* the first free range behind offset */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (blocks->free[middle].offset > offset)
            high = middle;
        else
            low = middle + 1;
    }
    struct rs_range *before = low > 0 ? &blocks->free[low - 1] : NULL;
    struct rs_range *behind = low < blocks->n ? &blocks->free[low] : NULL;
    if (RS_NEVER((before && before->offset + before->nbytes > offset) ||
                 (behind && offset + nbytes > behind->offset) || offset + nbytes > blocks->nbytes))
        return rs_fail(RS_E_BUG, "heap range at %llu, %llu bytes, was free already",
                       (unsigned long long)offset, (unsigned long long)nbytes);
    bool joins_before = before && before->offset + before->nbytes == offset;
    bool joins_behind = behind && offset + nbytes == behind->offset;
    if (joins_before && joins_behind) {
        before->nbytes += nbytes + behind->nbytes;
        remove_at(blocks, low);
    } else if (joins_before) {
        before->nbytes += nbytes;
    } else if (joins_behind) {
        behind->offset = offset;
        behind->nbytes += nbytes;
    } else {
        RS_TRY(grow(blocks));
        insert_at(blocks, low, (struct rs_range){offset, nbytes});
    }
    return 0;
}

uint64_t rs_blocks_largest(const struct rs_blocks *blocks)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < blocks->n; i++)
        if (blocks->free[i].nbytes > largest) largest = blocks->free[i].nbytes;
    return largest;
}

uint64_t rs_blocks_free_nbytes(const struct rs_blocks *blocks)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < blocks->n; i++) sum += blocks->free[i].nbytes;
    return sum;
}
