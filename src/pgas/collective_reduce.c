/* SPDX-License-Identifier: MIT
 *
 * Blocking reductions, made of steps (step.h). Members are combined in team order always, so the result has
 * the same bits on every member, whatever the algorithm.
 */
#include <stdlib.h>
#include <string.h>

#include "pgas/collective.h"
#include "pgas/step.h"

#define PIECE_NBYTES 8192               /* combined on the stack at one time */
#define STAGED_NBYTES ((size_t)1 << 20) /* the same where members' memory has to be copied for the CPU */

/* out[0, n): element at + k of every member's source, combined. room: for n elements, where the CPU can't
 * reach some members' memory; else NULL. */
static int combine_members(const struct rs_team *team, void *out, void *room, const void *source, size_t at,
                           size_t n, enum rs_type type, int op)
{
    struct rs_job *job = team->job;
    size_t offset = at * rs_type_nbytes(type), nbytes = n * rs_type_nbytes(type);
    for (int i = 0; i < team->n_pes; i++) {
        const struct rs_route *route = &job->routes[team->pes[i]];
        const unsigned char *in = (const unsigned char *)source + offset;
        void *to = i == 0 ? out : room;
        if (!route->mapped)
            RS_TRY(route->ops->get(route, to, in, nbytes));
        else if (room)
            RS_TRY(rs_device_move(&job->device, to, rs_route_address(route, in), nbytes));
        else if (i == 0)
            memcpy(out, rs_route_address(route, in), nbytes);
        if (i > 0) rs_reduce_combine(type, op, out, room ? room : rs_route_address(route, in), n);
    }
    return 0;
}

/* In pieces of this many bytes, one of which fits sum, and room. */
static int reduce_pieces(const struct rs_team *team, void *dest, const void *source, size_t begin, size_t end,
                         enum rs_type type, int op, void *sum, void *room, size_t nbytes)
{
    struct rs_job *job = team->job;
    size_t width = rs_type_nbytes(type), most = nbytes / width;
    for (size_t at = begin, n; at < end; at += n) {
        n = end - at < most ? end - at : most;
        RS_TRY(combine_members(team, sum, room, source, at, n, type, op));
        for (int i = 0; i < team->n_pes; i++) {
            const struct rs_route *route = &job->routes[team->pes[i]];
            unsigned char *out = (unsigned char *)dest + at * width;
            if (!route->mapped)
                RS_TRY(route->ops->put(route, out, sum, n * width));
            else if (!room)
                memcpy(rs_route_address(route, out), sum, n * width);
            else
                RS_TRY(rs_device_move(&job->device, rs_route_address(route, out), sum, n * width));
        }
    }
    return 0;
}

int rs_reduce_members(const struct rs_team *team, void *dest, const void *source, size_t begin, size_t end,
                      enum rs_type type, int op)
{
    _Alignas(64) unsigned char sum[PIECE_NBYTES];
    if (RS_LIKELY(team->job->device.ops->cpu_reaches_heap && !team->span))
        return reduce_pieces(team, dest, source, begin, end, type, op, sum, NULL, sizeof sum);
    unsigned char *rooms = malloc(2 * STAGED_NBYTES);
    if (!rooms) return rs_fail(RS_E_NOMEM, "no memory for a reduction of %zu elements", end - begin);
    int rc =
        reduce_pieces(team, dest, source, begin, end, type, op, rooms, rooms + STAGED_NBYTES, STAGED_NBYTES);
    free(rooms);
    return rc;
}

/* dest[0, n): element at + k of every member's payload, combined. */
static int combine_payloads(const struct rs_step *step, void *dest, size_t at, size_t n, enum rs_type type,
                            int op)
{
    _Alignas(16) unsigned char sum[RS_INLINE_NBYTES], in[RS_INLINE_NBYTES];
    size_t width = rs_type_nbytes(type);
    memcpy(sum, rs_step_payload(step, 0) + at * width, n * width);
    for (int i = 1; i < step->team->n_pes; i++) {
        memcpy(in, rs_step_payload(step, i) + at * width, n * width);
        rs_reduce_combine(type, op, sum, in, n);
    }
    return rs_step_copy(step, dest, sum, n * width);
}

/* ---- reduce ---- */

static int reduce_inline(struct rs_step *step, void *dest, const void *source, size_t n, enum rs_type type,
                         int op)
{
    RS_TRY(rs_step_post_from(step, source, n * rs_type_nbytes(type)));
    RS_TRY(rs_step_await_all(step));
    return combine_payloads(step, dest, 0, n, type, op);
}

/* Large: each member reduces its share of the elements and stores it in everyone's dest. In place is safe: of
 * a share of source, and of the same share of dest, nobody but its owner reads or writes anything. */
static int reduce_shares(struct rs_step *step, void *dest, const void *source, size_t n, enum rs_type type,
                         int op)
{
    size_t begin, end;
    if (RS_UNLIKELY(step->team->span != NULL && rs_span_keeps_order(step->team, type)))
        return rs_span_reduce(step, dest, source, n, type, op);
    rs_reduce_share(step->team, n, &begin, &end);
    rs_step_post(step, NULL, 0);
    RS_TRY(rs_step_await_all(step));
    RS_TRY(rs_reduce_members(step->team, dest, source, begin, end, type, op));
    return rs_step_next(step);
}

int rs_collective_reduce(struct rs_team *team, const struct rs_signature *signature, void *dest,
                         const void *source, size_t n, enum rs_type type, int op)
{
    RS_COLLECTIVE(team, signature, step,
                  n * rs_type_nbytes(type) <= RS_INLINE_NBYTES
                      ? reduce_inline(&step, dest, source, n, type, op)
                      : reduce_shares(&step, dest, source, n, type, op));
}

/* ---- reduce_scatter ---- */

static int scatter_inline(struct rs_step *step, void *dest, const void *source, size_t n, enum rs_type type,
                          int op)
{
    size_t n_members = (size_t)step->team->n_pes, mine = (size_t)step->team->my_pe;
    RS_TRY(rs_step_post_from(step, source, n * n_members * rs_type_nbytes(type)));
    RS_TRY(rs_step_await_all(step));
    return combine_payloads(step, dest, mine * n, n, type, op);
}

/* Each member reads its own block of everyone's source. Writing that block of its own source harms nobody;
 * another one, which is what dest == source means for all but member 0, must have been read by its reader.
 * Then all go on piece by piece together. Whether one member wants that, all must know: it is in the line. */
static int scatter_pull(struct rs_step *step, void *dest, const void *source, size_t n, enum rs_type type,
                        int op)
{
    const struct rs_team *team = step->team;
    size_t width = rs_type_nbytes(type), first = (size_t)team->my_pe * n;
    unsigned char together = dest == source && team->my_pe > 0;
    _Alignas(64) unsigned char sum[PIECE_NBYTES], in[PIECE_NBYTES];
    void *room = team->job->device.ops->cpu_reaches_heap && !team->span ? NULL : in;
    rs_step_post(step, &together, 1);
    RS_TRY(rs_step_await_all(step));
    for (int i = 0; i < team->n_pes; i++) together |= *rs_step_payload(step, i);
    for (size_t at = 0; at < n;) {
        size_t piece = n - at < sizeof sum / width ? n - at : sizeof sum / width;
        RS_TRY(combine_members(team, sum, room, source, first + at, piece, type, op));
        if (together) RS_TRY(rs_step_next(step));
        RS_TRY(rs_step_copy(step, (unsigned char *)dest + at * width, sum, piece * width));
        at += piece;
    }
    return together ? 0 : rs_step_next(step);
}

int rs_collective_reduce_scatter(struct rs_team *team, const struct rs_signature *signature, void *dest,
                                 const void *source, size_t n, enum rs_type type, int op)
{
    RS_COLLECTIVE(team, signature, step,
                  n <= RS_INLINE_NBYTES / (size_t)team->n_pes / rs_type_nbytes(type)
                      ? scatter_inline(&step, dest, source, n, type, op)
                      : scatter_pull(&step, dest, source, n, type, op));
}
