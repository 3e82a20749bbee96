/* SPDX-License-Identifier: MIT
 *
 * The blocking collectives that move data, made of steps (step.h). Small data travel in the lines; large ones
 * are pulled from the members' memory, and a second step holds everyone until all have what they need.
 */
#include "pgas/collective.h"

#include <string.h>

#include "base/copy.h"
#include "pgas/step.h"

static int barrier_body(struct rs_step *step)
{
    rs_step_post(step, NULL, 0);
    return rs_step_await_all(step);
}

int rs_collective_barrier(struct rs_team *team, const struct rs_signature *signature)
{
    RS_COLLECTIVE(team, signature, step, barrier_body(&step));
}

/* mine and all_out are ordinary memory. */
static int exchange_body(struct rs_step *step, const void *mine, size_t n, void *all_out)
{
    rs_step_post(step, mine, n);
    RS_TRY(rs_step_await_all(step));
    for (int i = 0; i < step->team->n_pes; i++)
        memcpy((char *)all_out + (size_t)i * n, rs_step_payload(step, i), n);
    return 0;
}

int rs_collective_exchange(struct rs_team *team, const struct rs_signature *signature, const void *mine,
                           size_t n, void *all_out)
{
    if (RS_NEVER(n > RS_INLINE_NBYTES)) return rs_fail(RS_E_BUG, "%zu bytes do not fit a line", n);
    RS_COLLECTIVE(team, signature, step, exchange_body(&step, mine, n, all_out));
}

/* ---- broadcast ---- */

/* Small: the root's line carries the data, and the root does not wait, but for every so many steps (see
 * step.h). */
static int broadcast_inline(struct rs_step *step, void *dest, const void *source, size_t nbytes, int root)
{
    struct rs_team *team = step->team;
    bool sync = ++team->unsynced >= RS_RING - 2 || team->span;
    if (team->my_pe == root) {
        RS_TRY(rs_step_post_from(step, source, nbytes));
        if (dest != source) RS_TRY(rs_step_copy(step, dest, source, nbytes));
    } else {
        rs_step_post(step, NULL, 0); /* for who believes that this PE is the root: it finds out */
        RS_TRY(rs_step_await(step, root));
        RS_TRY(rs_step_copy(step, dest, rs_step_payload(step, root), nbytes));
    }
    return sync ? rs_step_await_all(step) : 0;
}

static int broadcast_pull(struct rs_step *step, void *dest, const void *source, size_t nbytes, int root)
{
    struct rs_team *team = step->team;
    if (RS_UNLIKELY(team->span != NULL)) return rs_span_broadcast(step, dest, source, nbytes, root);
    team->unsynced++;
    rs_step_post(step, NULL, 0);
    if (team->my_pe == root) {
        if (dest != source) RS_TRY(rs_step_copy(step, dest, source, nbytes));
    } else {
        RS_TRY(rs_step_await(step, root));
        RS_TRY(rs_step_pull(step, root, dest, source, nbytes));
    }
    return rs_step_next(step);
}

int rs_collective_broadcast(struct rs_team *team, const struct rs_signature *signature, void *dest,
                            const void *source, size_t nbytes, int root)
{
    RS_COLLECTIVE(team, signature, step,
                  nbytes <= RS_INLINE_NBYTES ? broadcast_inline(&step, dest, source, nbytes, root)
                                             : broadcast_pull(&step, dest, source, nbytes, root));
}

/* ---- alltoall and fcollect ---- */

/* Member i's contribution to me lies at source + offset there; copy it as soon as i has arrived, my own
 * first. */
static int pull_all(struct rs_step *step, void *dest, const void *source, size_t nbytes, bool gather)
{
    struct rs_team *team = step->team;
    size_t offset = gather ? 0 : (size_t)team->my_pe * nbytes;
    rs_step_post(step, NULL, 0);
    for (int k = 0; k < team->n_pes; k++) {
        int i = (team->my_pe + k) % team->n_pes; /* not all from the same one at a time */
        if (i != team->my_pe || team->span) RS_TRY(rs_step_await(step, i));
        RS_TRY(
            rs_step_pull(step, i, (char *)dest + (size_t)i * nbytes, (const char *)source + offset, nbytes));
    }
    team->unsynced = 0;
    return rs_step_next(step);
}

static int alltoall_inline(struct rs_step *step, void *dest, const void *source, size_t nbytes)
{
    const struct rs_team *team = step->team;
    RS_TRY(rs_step_post_from(step, source, nbytes * (size_t)team->n_pes));
    RS_TRY(rs_step_await_all(step));
    for (int i = 0; i < team->n_pes; i++)
        RS_TRY(rs_step_copy(step, (char *)dest + (size_t)i * nbytes,
                            rs_step_payload(step, i) + (size_t)team->my_pe * nbytes, nbytes));
    return 0;
}

int rs_collective_alltoall(struct rs_team *team, const struct rs_signature *signature, void *dest,
                           const void *source, size_t nbytes)
{
    RS_COLLECTIVE(team, signature, step,
                  nbytes <= RS_INLINE_NBYTES / (size_t)team->n_pes
                      ? alltoall_inline(&step, dest, source, nbytes)
                      : pull_all(&step, dest, source, nbytes, false));
}

static int fcollect_inline(struct rs_step *step, void *dest, const void *source, size_t nbytes)
{
    RS_TRY(rs_step_post_from(step, source, nbytes));
    RS_TRY(rs_step_await_all(step));
    for (int i = 0; i < step->team->n_pes; i++)
        RS_TRY(rs_step_copy(step, (char *)dest + (size_t)i * nbytes, rs_step_payload(step, i), nbytes));
    return 0;
}

int rs_collective_fcollect(struct rs_team *team, const struct rs_signature *signature, void *dest,
                           const void *source, size_t nbytes)
{
    RS_COLLECTIVE(team, signature, step,
                  nbytes <= RS_INLINE_NBYTES ? fcollect_inline(&step, dest, source, nbytes)
                  : team->span               ? rs_span_fcollect(&step, dest, source, nbytes)
                                             : pull_all(&step, dest, source, nbytes, true));
}

/* ---- alltoalls ---- */

#define STRIDED_NBYTES ((size_t)1 << 20) /* pulled at one time */

static void copy_strided_by_cpu(unsigned char *to, size_t to_step, const unsigned char *from,
                                size_t from_step, size_t n, size_t width)
{
    switch (width) {
    case 1:
        rs_copy_elements(to, to_step, from, from_step, n, 1);
        return;
    case 2:
        rs_copy_elements(to, to_step, from, from_step, n, 2);
        return;
    case 4:
        rs_copy_elements(to, to_step, from, from_step, n, 4);
        return;
    case 8:
        rs_copy_elements(to, to_step, from, from_step, n, 8);
        return;
    default: /* long double */
        for (size_t k = 0; k < n; k++) memcpy(to + k * to_step, from + k * from_step, width);
    }
}

/* n elements of width bytes, to_step and from_step bytes apart. */
static int copy_strided(const struct rs_step *step, unsigned char *to, size_t to_step,
                        const unsigned char *from, size_t from_step, size_t n, size_t width)
{
    if (to_step == width && from_step == width) return rs_step_copy(step, to, from, n * width);
    if (RS_LIKELY(step->team->job->device.ops->cpu_reaches_heap)) {
        copy_strided_by_cpu(to, to_step, from, from_step, n, width);
        return 0;
    }
    for (size_t k = 0; k < n; k++) RS_TRY(rs_step_copy(step, to + k * to_step, from + k * from_step, width));
    return 0;
}

static int alltoalls_inline(struct rs_step *step, const struct rs_strided *s)
{
    const struct rs_team *team = step->team;
    size_t width = s->width, block = s->n * width, n = (size_t)team->n_pes;
    RS_TRY(copy_strided(step, rs_step_my_payload(step), width, s->source, s->source_step, s->n * n, width));
    rs_step_post_mine(step, block * n);
    RS_TRY(rs_step_await_all(step));
    for (size_t i = 0; i < n; i++)
        RS_TRY(copy_strided(step, (unsigned char *)s->dest + i * s->n * s->dest_step, s->dest_step,
                            rs_step_payload(step, (int)i) + (size_t)team->my_pe * block, width, s->n, width));
    return 0;
}

/* Elements of another host's member: all that lies between the first and the last, then every so many of it. */
static int pull_strided(const struct rs_step *step, int i, unsigned char *to, const unsigned char *from,
                        const struct rs_strided *s)
{
    const struct rs_route *route = rs_step_route(step, i);
    if (route->mapped)
        return copy_strided(step, to, s->dest_step, rs_route_address(route, from), s->source_step, s->n,
                            s->width);
    for (size_t done = 0, most = STRIDED_NBYTES / s->source_step + 1; done < s->n;) {
        size_t n = s->n - done < most ? s->n - done : most, nbytes = (n - 1) * s->source_step + s->width;
        unsigned char *room = malloc(nbytes);
        if (!room) return rs_fail(RS_E_NOMEM, "no memory for %zu bytes of PE %d", nbytes, route->pe);
        int rc = route->ops->get(route, room, from + done * s->source_step, nbytes);
        if (rc == 0)
            rc =
                copy_strided(step, to + done * s->dest_step, s->dest_step, room, s->source_step, n, s->width);
        free(room);
        if (rc < 0) return rc;
        done += n;
    }
    return 0;
}

static int alltoalls_pull(struct rs_step *step, const struct rs_strided *s)
{
    struct rs_team *team = step->team;
    rs_step_post(step, NULL, 0);
    for (int k = 0; k < team->n_pes; k++) {
        int i = (team->my_pe + k) % team->n_pes;
        if (i != team->my_pe || team->span) RS_TRY(rs_step_await(step, i));
        RS_TRY(pull_strided(step, i, (unsigned char *)s->dest + (size_t)i * s->n * s->dest_step,
                            (const unsigned char *)s->source + (size_t)team->my_pe * s->n * s->source_step,
                            s));
    }
    team->unsynced = 0;
    return rs_step_next(step);
}

int rs_collective_alltoalls(struct rs_team *team, const struct rs_signature *signature,
                            const struct rs_strided *strided)
{
    RS_COLLECTIVE(team, signature, step,
                  strided->n <= RS_INLINE_NBYTES / (size_t)team->n_pes / strided->width
                      ? alltoalls_inline(&step, strided)
                      : alltoalls_pull(&step, strided));
}

/* ---- collect ---- */

/* What each member tells the others. All judge the same facts, so all come to the same end, in one step. */
struct offer {
    uint64_t nbytes;      /* of its source; or one of these */
    uint64_t room_nbytes; /* for its dest */
};
#define SOURCE_IS_BAD UINT64_MAX        /* of some bytes */
#define SOURCE_IS_NONE (UINT64_MAX - 1) /* of no bytes, and not symmetric: others' cannot be found by it */
#define COLLECT_INLINE_NBYTES (RS_INLINE_NBYTES - sizeof(struct offer))

static uint64_t room_of(const struct rs_step *step, int i)
{
    struct offer offer;
    memcpy(&offer, rs_step_payload(step, i), sizeof offer);
    return offer.room_nbytes;
}

static uint64_t nbytes_of(const struct rs_step *step, int i, bool *unfit_out)
{
    struct offer offer;
    memcpy(&offer, rs_step_payload(step, i), sizeof offer);
    *unfit_out = offer.nbytes >= SOURCE_IS_NONE;
    return offer.nbytes == SOURCE_IS_NONE ? 0 : offer.nbytes;
}

/* 0, with the most bytes of one member; or ARG about the first member that cannot. */
static int judge(const struct rs_step *step, uint64_t *most_out)
{
    const struct rs_team *team = step->team;
    uint64_t total = 0, most = 0;
    int unfit_pe = -1;
    for (int i = 0; i < team->n_pes; i++) {
        bool unfit;
        uint64_t nbytes = nbytes_of(step, i, &unfit);
        if (unfit && unfit_pe < 0) unfit_pe = team->pes[i];
        if (__builtin_add_overflow(total, nbytes, &total)) total = UINT64_MAX;
        if (nbytes > most) most = nbytes;
    }
    if (unfit_pe >= 0 && most > COLLECT_INLINE_NBYTES)
        return rs_fail_pe(RS_E_ARG, unfit_pe,
                          "source is not symmetric, or too short, on PE %d; pass memory of rocshmem_malloc",
                          unfit_pe);
    for (int i = 0; i < team->n_pes; i++)
        if (room_of(step, i) < total)
            return rs_fail_pe(RS_E_ARG, team->pes[i],
                              "the members bring %llu bytes together, but dest on PE %d has room for %llu "
                              "before its allocation ends or source begins",
                              (unsigned long long)total, team->pes[i], (unsigned long long)room_of(step, i));
    *most_out = most;
    return 0;
}

static int collect_body(struct rs_step *step, const struct rs_collect *c)
{
    const struct rs_team *team = step->team;
    struct offer mine = {c->nbytes, c->room_nbytes};
    if (!c->source_is_symmetric) mine.nbytes = c->nbytes > 0 ? SOURCE_IS_BAD : SOURCE_IS_NONE;
    unsigned char *payload = rs_step_my_payload(step);
    memcpy(payload, &mine, sizeof mine);
    if (mine.nbytes > 0 && mine.nbytes <= COLLECT_INLINE_NBYTES)
        RS_TRY(rs_step_copy(step, payload + sizeof mine, c->source, mine.nbytes));
    rs_step_post_mine(step, sizeof mine + (mine.nbytes <= COLLECT_INLINE_NBYTES ? mine.nbytes : 0));
    RS_TRY(rs_step_await_all(step));
    uint64_t most = 0;
    RS_TRY(judge(step, &most));
    bool unfit;
    unsigned char *at = c->dest;
    for (int i = 0; i < team->my_pe; i++) at += nbytes_of(step, i, &unfit);
    for (int k = 0; k < team->n_pes; k++) { /* not all from the same one at a time */
        int i = (team->my_pe + k) % team->n_pes;
        uint64_t nbytes = nbytes_of(step, i, &unfit);
        if (i == 0) at = c->dest;
        if (nbytes > COLLECT_INLINE_NBYTES)
            RS_TRY(rs_step_pull(step, i, at, c->source, nbytes));
        else if (nbytes > 0)
            RS_TRY(rs_step_copy(step, at, rs_step_payload(step, i) + sizeof(struct offer), nbytes));
        at += nbytes;
    }
    return most > COLLECT_INLINE_NBYTES ? rs_step_next(step) : 0;
}

int rs_collective_collect(struct rs_team *team, const struct rs_signature *signature,
                          const struct rs_collect *collect)
{
    RS_COLLECTIVE(team, signature, step, collect_body(&step, collect));
}

/* ---- leaving ---- */

void rs_collective_leave(struct rs_team *team)
{
    struct rs_step step = {.team = team, .sequence = ++team->sequence};
    rs_step_post(&step, NULL, 0);
}

bool rs_collective_all_left(const struct rs_team *team, uint64_t sequence)
{
    for (int i = 0; i < team->n_pes; i++) {
        if (!team->posts[i]) continue; /* it polls no line of ours */
        const struct rs_line *line = &team->posts[i]->lines[sequence % RS_RING];
        if (atomic_load_explicit(&line->sequence, memory_order_acquire) < sequence) return false;
    }
    return true;
}
