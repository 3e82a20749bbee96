/* SPDX-License-Identifier: MIT
 *
 * Blocking reductions, made of steps (step.h). Members are combined in team order always, so the result has
 * the same bits on every member, whatever the algorithm.
 */
#include <string.h>

#include "pgas/collective.h"
#include "pgas/step.h"

#define PIECE_NBYTES 8192 /* combined on the stack at one time */

/* out[0, n): element at + k of every member's source, combined. */
static void combine_members(const struct rs_team *team, void *out, const void *source, size_t at, size_t n,
                            enum rs_type type, int op)
{
    const struct rs_route *routes = team->job->routes;
    size_t offset = at * rs_type_nbytes(type);
    for (int i = 0; i < team->n_pes; i++) {
        const unsigned char *in = rs_route_address(&routes[team->pes[i]], source);
        if (i == 0)
            memcpy(out, in + offset, n * rs_type_nbytes(type));
        else
            rs_reduce_combine(type, op, out, in + offset, n);
    }
}

void rs_reduce_members(const struct rs_team *team, void *dest, const void *source, size_t begin, size_t end,
                       enum rs_type type, int op)
{
    _Alignas(64) unsigned char sum[PIECE_NBYTES];
    size_t width = rs_type_nbytes(type), most = sizeof sum / width;
    for (size_t at = begin, n; at < end; at += n) {
        n = end - at < most ? end - at : most;
        combine_members(team, sum, source, at, n, type, op);
        for (int i = 0; i < team->n_pes; i++) {
            unsigned char *out = rs_route_address(&team->job->routes[team->pes[i]], dest);
            memcpy(out + at * width, sum, n * width);
        }
    }
}

/* dest[0, n): element at + k of every member's payload, combined. */
static void combine_payloads(const struct rs_step *step, void *dest, size_t at, size_t n, enum rs_type type,
                             int op)
{
    _Alignas(16) unsigned char sum[RS_INLINE_NBYTES], in[RS_INLINE_NBYTES];
    size_t width = rs_type_nbytes(type);
    memcpy(sum, rs_step_payload(step, 0) + at * width, n * width);
    for (int i = 1; i < step->team->n_pes; i++) {
        memcpy(in, rs_step_payload(step, i) + at * width, n * width);
        rs_reduce_combine(type, op, sum, in, n);
    }
    memcpy(dest, sum, n * width);
}

/* ---- reduce ---- */

static int reduce_inline(struct rs_step *step, void *dest, const void *source, size_t n, enum rs_type type,
                         int op)
{
    rs_step_post(step, source, n * rs_type_nbytes(type));
    RS_TRY(rs_step_await_all(step));
    combine_payloads(step, dest, 0, n, type, op);
    return 0;
}

/* Large: each member reduces its share of the elements and stores it in everyone's dest. In place is safe: of
 * a share of source, and of the same share of dest, nobody but its owner reads or writes anything. */
static int reduce_shares(struct rs_step *step, void *dest, const void *source, size_t n, enum rs_type type,
                         int op)
{
    size_t begin, end;
    rs_reduce_share(step->team, n, &begin, &end);
    rs_step_post(step, NULL, 0);
    RS_TRY(rs_step_await_all(step));
    rs_reduce_members(step->team, dest, source, begin, end, type, op);
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
    rs_step_post(step, source, n * n_members * rs_type_nbytes(type));
    RS_TRY(rs_step_await_all(step));
    combine_payloads(step, dest, mine * n, n, type, op);
    return 0;
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
    _Alignas(64) unsigned char sum[PIECE_NBYTES];
    rs_step_post(step, &together, 1);
    RS_TRY(rs_step_await_all(step));
    for (int i = 0; i < team->n_pes; i++) together |= *rs_step_payload(step, i);
    for (size_t at = 0; at < n;) {
        size_t piece = n - at < sizeof sum / width ? n - at : sizeof sum / width;
        combine_members(team, sum, source, first + at, piece, type, op);
        if (together) RS_TRY(rs_step_next(step));
        memcpy((unsigned char *)dest + at * width, sum, piece * width);
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
