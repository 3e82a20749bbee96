/* SPDX-License-Identifier: MIT
 *
 * Names for what PEs do: call numbers (calls.def), types, and signatures of collective calls. Pure text, no
 * state.
 */
#ifndef RS_OBSERVE_CALLS_H
#define RS_OBSERVE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/status.h"
#include "observe/calls.def"
#include "rocshmem/rocshmem.h"

enum rs_call_group {
    RS_GROUP_OTHER,
    RS_GROUP_PUT,
    RS_GROUP_GET,
    RS_GROUP_AMO,
    RS_GROUP_WAIT,
    RS_GROUP_COLLECTIVE
};

#define RS_CALL_(id, name, group) RS_CALL_##id,
enum rs_call { RS_CALLS(RS_CALL_) RS_CALL_COUNT };
#undef RS_CALL_

#define RS_TYPE_(name, T, ...) RS_TYPE_##name,
enum rs_type { ROCSHMEM_RMA_TYPES(RS_TYPE_, ) ROCSHMEM_COMPLEX_TYPES(RS_TYPE_, ) RS_TYPE_COUNT };
#undef RS_TYPE_

/* ROCSHMEM_SUM and so on by the name that a function has for it. */
enum rs_op {
    RS_OP_sum = ROCSHMEM_SUM,
    RS_OP_prod = ROCSHMEM_PROD,
    RS_OP_min = ROCSHMEM_MIN,
    RS_OP_max = ROCSHMEM_MAX,
    RS_OP_and = ROCSHMEM_AND,
    RS_OP_or = ROCSHMEM_OR,
    RS_OP_xor = ROCSHMEM_XOR
};

/* A call as one number: what the board keeps. */
#define RS_CALL_TYPED(call, type) ((uint32_t)(call) | (uint32_t)(type) << 8)
#define RS_CALL_REDUCTION(call, type, op) (RS_CALL_TYPED(call, type) | (uint32_t)(op) << 16)
#define RS_CALL_ANY(call) RS_CALL_REDUCTION(call, 0xff, 0xff) /* of all types and operations: "*" */
#define RS_CALL_ID(word) ((word)&0xff)
#define RS_CALL_TYPE(word) ((word) >> 8 & 0xff)
#define RS_CALL_OP(word) ((word) >> 16 & 0xff)

/* "rocshmem_int64_atomic_add" for a call word. out is always terminated. */
void rs_call_name(uint32_t word, char *out, size_t nbytes);
enum rs_call_group rs_call_group(uint32_t word);
const char *rs_type_name(enum rs_type type);
size_t rs_type_nbytes(enum rs_type type);
bool rs_type_is_integer(enum rs_type type);
/* "world", "shared", or the number, for a team's id. */
void rs_team_name(uint32_t id, char *out, size_t nbytes);
const char *rs_cmp_name(int cmp); /* "GE", or "?" */

/* What a PE said when it entered a collective. Two PEs are in the same collective when kind, width and args
 * agree; the rest is for messages. Types of equal width may meet: the bytes are the same. */
enum rs_kind {
    RS_KIND_BARRIER = 1,    /* no args */
    RS_KIND_SYNC,           /* no args */
    RS_KIND_MALLOC,         /* size (0: PEs may differ), alignment */
    RS_KIND_CALLOC,         /* the same */
    RS_KIND_FREE,           /* heap offset */
    RS_KIND_BROADCAST,      /* elements, root; width */
    RS_KIND_ALLTOALL,       /* elements a block; width */
    RS_KIND_ALLTOALLS,      /* elements a block, dst, sst; width */
    RS_KIND_FCOLLECT,       /* elements; width */
    RS_KIND_COLLECT,        /* no args: counts may differ; width */
    RS_KIND_REDUCE,         /* elements, type, op */
    RS_KIND_REDUCE_SCATTER, /* elements a block, type, op */
    RS_KIND_SPLIT,          /* start, stride, size */
    RS_KIND_SPLIT_2D,       /* xrange */
    RS_KIND_FINALIZE,       /* no args */
    RS_KIND_PHASE           /* a later step of the same collective: number */
};
struct rs_signature {
    uint32_t call; /* word of the API function, for its name */
    uint32_t kind;
    uint32_t team; /* team id, for messages */
    uint64_t arg[3];
    uint64_t width; /* bytes of an element that is moved; 0: none is */
};

/* Equal for equal (kind, width, args), and spread over 64 bits. A split's arguments are left out: PEs may split into
 * disjoint teams in one call; team.c compares them. */
static inline uint64_t rs_signature_hash(const struct rs_signature *s)
{
    uint64_t used = s->kind == RS_KIND_SPLIT ? 0 : ~UINT64_C(0);
    uint64_t h = (s->kind | s->width << 32) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 3; i++) {
        h = (h ^ (s->arg[i] & used)) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    return h;
}
/* "rocshmem_broadcastmem(team world, 64 bytes, root 0)". */
void rs_signature_format(const struct rs_signature *signature, char *out, size_t nbytes);
void rs_signature_log_slow(const struct rs_signature *signature) __attribute__((cold));
/* A line at level API for the call that a signature stands for; at level TRACE for its later steps too. */
static inline void rs_signature_log(const struct rs_signature *signature)
{
    if (RS_UNLIKELY(rs_log_threshold >= RS_LOG_API)) rs_signature_log_slow(signature);
}

#endif
