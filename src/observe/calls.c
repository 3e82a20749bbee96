/* SPDX-License-Identifier: MIT
 *
 * Text for call numbers, types and signatures. Called from any thread, and from the dump in a signal handler:
 * no allocation, no locks.
 */
#include "observe/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_(id, name, group) name,
static const char *const call_names[] = {RS_CALLS(NAME_)};
#undef NAME_
#define GROUP_(id, name, group) RS_GROUP_##group,
static const unsigned char call_groups[] = {RS_CALLS(GROUP_)};
#undef GROUP_
#define TYPE_(name, T, ...) #name,
static const char *const type_names[] = {ROCSHMEM_RMA_TYPES(TYPE_, ) ROCSHMEM_COMPLEX_TYPES(TYPE_, )};
#undef TYPE_
#define SIZE_(name, T, ...) sizeof(T),
static const unsigned char type_sizes[] = {ROCSHMEM_RMA_TYPES(SIZE_, ) ROCSHMEM_COMPLEX_TYPES(SIZE_, )};
#undef SIZE_

_Static_assert(RS_CALL_COUNT < 256 && RS_TYPE_COUNT < 256, "a call word has eight bits for each");

const char *rs_type_name(enum rs_type type)
{
    return type < RS_TYPE_COUNT ? type_names[type] : "?";
}

bool rs_type_is_integer(enum rs_type type)
{
    return type != RS_TYPE_float && type != RS_TYPE_double && type != RS_TYPE_longdouble &&
           type != RS_TYPE_complexf && type != RS_TYPE_complexd;
}

size_t rs_type_nbytes(enum rs_type type)
{
    return type < RS_TYPE_COUNT ? type_sizes[type] : 0;
}

enum rs_call_group rs_call_group(uint32_t word)
{
    uint32_t id = RS_CALL_ID(word);
    return id < RS_CALL_COUNT ? call_groups[id] : RS_GROUP_OTHER;
}

const char *rs_cmp_name(int cmp)
{
    static const char *const names[] = {"EQ", "NE", "GT", "GE", "LT", "LE"};
    return cmp >= 0 && cmp < 6 ? names[cmp] : "?";
}

static const char *reduce_op_name(uint32_t op)
{
    static const char *const names[] = {"sum", "max", "min", "prod", "and", "or", "xor"};
    return op < 7 ? names[op] : op == 0xff ? "*" : "?";
}

void rs_call_name(uint32_t word, char *out, size_t nbytes)
{
    uint32_t id = RS_CALL_ID(word), type = RS_CALL_TYPE(word);
    const char *name = id < RS_CALL_COUNT ? call_names[id] : "an unknown call";
    const char *const fills[] = {type == 0xff ? "*" : rs_type_name((enum rs_type)type),
                                 reduce_op_name(RS_CALL_OP(word))};
    size_t used = 0;
    for (int k = 0; k < 3 && used < nbytes; k++) { /* what lies before, between and behind the two holes */
        const char *hole = k < 2 ? strstr(name, "%s") : NULL;
        int length = hole ? (int)(hole - name) : (int)strlen(name);
        int n = snprintf(out + used, nbytes - used, "%.*s%s", length, name, hole ? fills[k] : "");
        if (!hole || n < 0) return;
        used += (size_t)n;
        name = hole + 2;
    }
}

void rs_team_name(uint32_t id, char *out, size_t nbytes)
{
    if (id == UINT32_MAX - 1)
        snprintf(out, nbytes, "world");
    else if (id == 1)
        snprintf(out, nbytes, "shared");
    else
        snprintf(out, nbytes, "%" PRIu32, id);
}

void rs_signature_format(const struct rs_signature *s, char *out, size_t nbytes)
{
    char name[64], team[24];
    rs_call_name(s->call, name, sizeof name);
    rs_team_name(s->team, team, sizeof team);
    uint64_t a = s->arg[0], b = s->arg[1], c = s->arg[2];
    const char *unit = strstr(name + strlen("rocshmem"), "mem") ? "bytes" : "elements";
    switch (s->kind) {
    case RS_KIND_MALLOC:
    case RS_KIND_CALLOC:
        if (a)
            snprintf(out, nbytes, "%s(%" PRIu64 " bytes, alignment %" PRIu64 ")", name, a, b);
        else
            snprintf(out, nbytes, "%s(alignment %" PRIu64 ")", name, b);
        return;
    case RS_KIND_FREE:
        snprintf(out, nbytes, "%s(heap offset %" PRIu64 ")", name, a);
        return;
    case RS_KIND_BROADCAST:
        snprintf(out, nbytes, "%s(team %s, %" PRIu64 " %s, root %" PRIu64 ")", name, team, a, unit, b);
        return;
    case RS_KIND_ALLTOALL:
    case RS_KIND_FCOLLECT:
        snprintf(out, nbytes, "%s(team %s, %" PRIu64 " %s)", name, team, a, unit);
        return;
    case RS_KIND_ALLTOALLS:
        snprintf(out, nbytes, "%s(team %s, %" PRIu64 " %s, strides %" PRId64 " and %" PRId64 ")", name, team,
                 a, unit, (int64_t)b, (int64_t)c);
        return;
    case RS_KIND_REDUCE:
    case RS_KIND_REDUCE_SCATTER:
        snprintf(out, nbytes, "%s(team %s, %" PRIu64 " elements)", name, team, a);
        return;
    case RS_KIND_SPLIT:
        snprintf(out, nbytes, "%s(parent %s, start %d, stride %d, size %d)", name, team, (int)a, (int)b,
                 (int)c);
        return;
    case RS_KIND_SPLIT_2D:
        snprintf(out, nbytes, "%s(parent %s, xrange %d)", name, team, (int)a);
        return;
    default:
        snprintf(out, nbytes, "%s(team %s)", name, team);
        return;
    }
}

void rs_signature_log_slow(const struct rs_signature *signature)
{
    char text[160];
    rs_signature_format(signature, text, sizeof text);
    if (signature->kind == RS_KIND_PHASE)
        rs_log(RS_LOG_TRACE, "a later step of %s", text);
    else
        rs_log(RS_LOG_API, "%s", text);
}
