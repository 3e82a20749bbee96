/* SPDX-License-Identifier: MIT
 *
 * Large collectives of members on several hosts: each byte goes to a host once, and within a host through memory.
 *
 * broadcast: the first member of each host (its leader) pulls, from the root where there are few hosts, else along a
 * binomial tree of hosts; the others of the host copy from the leader's dest. fcollect: the members of a host share the
 * pulling of what lies elsewhere, and copy from each other. reduce: the k-th members of all hosts work on the k-th share of
 * the elements, piece by piece: each combines its host's members, they exchange parts of the piece, each combines one
 * part and sends it to the others; the results go to all of the host. Hosts are combined in their order, members of a host
 * in theirs, by one member for each element: so the result has the same bits on all.
 */
#include <stdlib.h>

#include "pgas/step.h"

#define PIECE_NBYTES ((size_t)256 * 1024) /* of a reduction, worked on at one time */

/* All of this host are here; a step of lines alone. */
static int meet_host(struct rs_step *step)
{
    return step->team->span->n_near > 1 ? rs_span_meet_near(step) : 0;
}

/* The position of each host's k-th member; -1: it has not so many. n_least_out: the fewest members of a host. */
static int peers_of(const struct rs_team *team, int k, int *peers, int *n_least_out)
{
    const struct rs_span *span = team->span;
    int *n = calloc((size_t)span->n_hosts, sizeof *n), least = team->n_pes;
    if (!n) return rs_fail(RS_E_NOMEM, "no memory for a team of %d hosts", span->n_hosts);
    for (int h = 0; h < span->n_hosts; h++) peers[h] = -1;
    for (int i = 0; i < team->n_pes; i++)
        if (n[span->host_of[i]]++ == k) peers[span->host_of[i]] = i;
    for (int h = 0; h < span->n_hosts; h++) least = n[h] < least ? n[h] : least;
    free(n);
    *n_least_out = least;
    return 0;
}

static int my_place(const struct rs_span *span, int my_pe)
{
    int k = 0;
    while (span->near[k] != my_pe) k++;
    return k;
}

/* ---- broadcast ---- */

/* The leader's part: get it from the host before this one in the tree, and tell those behind. */
static int pull_along_tree(struct rs_step *step, void *dest, const void *source, size_t nbytes, int root)
{
    const struct rs_team *team = step->team;
    const struct rs_span *span = team->span;
    int n = span->n_hosts, first = span->host_of[root], me = (span->mine - first + n) % n, bit = 1;
    struct rs_letter_key key = {.kind = RS_LETTER_PIECE, .team = team->id, .number = team->meets};
    int from = root;
    if (n > RS_SPAN_FEW)
        while (bit < n && !(me & bit))
            bit *= 2; /* my parent has this bit cleared; my children lower ones set */
    if (n > RS_SPAN_FEW && me != 0 && (me & ~bit) != 0) {
        struct rs_letter *letter;
        from = span->first[((me & ~bit) + first) % n];
        key.from = team->pes[from];
        RS_TRY(rs_span_await(step, &key, &letter));
        free(letter);
    }
    if (me != 0) {
        RS_TRY(rs_step_pull(step, from, dest, from == root ? source : dest, nbytes));
        RS_TRY(rs_span_complete(step));
    }
    for (bit /= 2; n > RS_SPAN_FEW && me != 0 && bit > 0; bit /= 2) {
        if (me + bit >= n) continue;
        RS_TRY(rs_span_send(step, span->first[(me + bit + first) % n], &key, NULL, 0));
    }
    return 0;
}

int rs_span_broadcast(struct rs_step *step, void *dest, const void *source, size_t nbytes, int root)
{
    const struct rs_team *team = step->team;
    const struct rs_span *span = team->span;
    bool with_root = span->host_of[root] == span->mine, leads = span->near[0] == team->my_pe;
    rs_step_post(step, NULL, 0);
    RS_TRY(rs_step_await_all(step));
    if (leads && !with_root) RS_TRY(pull_along_tree(step, dest, source, nbytes, root));
    if (!with_root) RS_TRY(meet_host(step));
    if (with_root && (team->my_pe != root || dest != source))
        RS_TRY(rs_step_pull(step, root, dest, source, nbytes));
    if (!with_root && !leads) RS_TRY(rs_step_pull(step, span->near[0], dest, dest, nbytes));
    return rs_step_next(step);
}

/* ---- fcollect ---- */

/* Do I pull member i's block for my host? Those of other hosts by turns. */
static bool is_mine(const struct rs_span *span, int i, int k)
{
    return span->host_of[i] != span->mine && i % span->n_near == k;
}

int rs_span_fcollect(struct rs_step *step, void *dest, const void *source, size_t nbytes)
{
    const struct rs_team *team = step->team;
    const struct rs_span *span = team->span;
    int n = team->n_pes, k = my_place(span, team->my_pe);
    unsigned char *to = dest;
    rs_step_post(step, NULL, 0);
    RS_TRY(rs_step_await_all(step));
    for (int d = 0; d < n; d++) { /* not all from the same one at a time */
        int i = (team->my_pe + d) % n;
        if (is_mine(span, i, k)) RS_TRY(rs_step_pull(step, i, to + (size_t)i * nbytes, source, nbytes));
    }
    for (int j = 0; j < span->n_near; j++) {
        int i = span->near[(j + k) % span->n_near];
        RS_TRY(rs_step_pull(step, i, to + (size_t)i * nbytes, source, nbytes));
    }
    RS_TRY(rs_span_complete(step));
    RS_TRY(meet_host(step));
    for (int i = 0; i < n; i++) {
        int puller = i % span->n_near;
        if (span->host_of[i] == span->mine || puller == k) continue;
        unsigned char *block = to + (size_t)i * nbytes;
        RS_TRY(rs_step_pull(step, span->near[puller], block, block, nbytes));
    }
    return rs_step_next(step);
}

/* ---- reduce ---- */

/* One member's share of a reduction. */
struct share {
    struct rs_step *step;
    unsigned char *dest;
    const unsigned char *source;
    enum rs_type type;
    int op;
    size_t width;
    int *peers;                  /* owned: by host, who works on this share there */
    unsigned char *piece, *room; /* owned: what is combined, and room to get one more */
    struct rs_letter_key key;
};

/* Elements [*begin_out, + n) of a piece of m are combined by host h. */
static size_t part_of(const struct share *s, size_t m, int h, size_t *begin_out)
{
    size_t n_hosts = (size_t)s->step->team->span->n_hosts;
    *begin_out = m * (size_t)h / n_hosts;
    return m * ((size_t)h + 1) / n_hosts - *begin_out;
}

static int combine_near(const struct share *s, size_t at, size_t m)
{
    const struct rs_span *span = s->step->team->span;
    for (int k = 0; k < span->n_near; k++) {
        RS_TRY(rs_step_pull(s->step, span->near[k], k == 0 ? s->piece : s->room, s->source + at * s->width,
                            m * s->width));
        if (k > 0) rs_reduce_combine(s->type, s->op, s->piece, s->room, m);
    }
    return 0;
}

static int send_to_peers(struct share *s, size_t m, bool all_mine)
{
    const struct rs_span *span = s->step->team->span;
    for (int d = 1; d < span->n_hosts; d++) {
        int h = (span->mine + d) % span->n_hosts;
        size_t begin, n = part_of(s, m, all_mine ? span->mine : h, &begin);
        RS_TRY(rs_span_send(s->step, s->peers[h], &s->key, s->piece + begin * s->width, n * s->width));
    }
    return 0;
}

static int get_letter(struct share *s, int h, size_t n, struct rs_letter **letter_out)
{
    s->key.from = s->step->team->pes[s->peers[h]];
    RS_TRY(rs_span_await(s->step, &s->key, letter_out));
    if ((*letter_out)->nbytes == n * s->width) return 0;
    free(*letter_out);
    return rs_fail(RS_E_BUG, "a part of a reduction has another size on PE %d", s->key.from);
}

/* My part of the piece: every host's, in their order. */
static int combine_hosts(struct share *s, size_t m)
{
    const struct rs_span *span = s->step->team->span;
    size_t begin, n = part_of(s, m, span->mine, &begin);
    unsigned char *mine = s->piece + begin * s->width;
    memcpy(s->room, mine, n * s->width); /* this host's, until its turn comes */
    for (int h = 0; h < span->n_hosts; h++) {
        struct rs_letter *letter = NULL;
        if (h != span->mine) RS_TRY(get_letter(s, h, n, &letter));
        const void *theirs = letter ? letter->bytes : s->room;
        if (h == 0)
            memcpy(mine, theirs, n * s->width);
        else
            rs_reduce_combine(s->type, s->op, mine, theirs, n);
        free(letter);
    }
    return 0;
}

static int reduce_piece(struct share *s, size_t at, size_t m)
{
    const struct rs_team *team = s->step->team;
    const struct rs_span *span = team->span;
    RS_TRY(combine_near(s, at, m));
    RS_TRY(send_to_peers(s, m, false));
    RS_TRY(combine_hosts(s, m));
    s->key.round++;
    RS_TRY(send_to_peers(s, m, true));
    for (int h = 0; h < span->n_hosts; h++) {
        struct rs_letter *letter;
        size_t begin, n = part_of(s, m, h, &begin);
        if (h == span->mine) continue;
        RS_TRY(get_letter(s, h, n, &letter));
        memcpy(s->piece + begin * s->width, letter->bytes, n * s->width);
        free(letter);
    }
    s->key.round++;
    for (int k = 0; k < span->n_near; k++)
        RS_TRY(rs_step_copy(s->step,
                            rs_route_address(rs_step_route(s->step, span->near[k]), s->dest + at * s->width),
                            s->piece, m * s->width));
    return 0;
}

/* In place is safe: of a share of this host's sources and dests nobody but its member reads or writes anything. */
static int reduce_share(struct share *s, size_t n, int k, int n_shares)
{
    size_t each = (n / (size_t)n_shares + 64) & ~(size_t)63, most = PIECE_NBYTES / s->width;
    size_t begin = each * (size_t)k < n ? each * (size_t)k : n, end = n - begin < each ? n : begin + each;
    s->piece = malloc(2 * PIECE_NBYTES);
    if (!s->piece) return rs_fail(RS_E_NOMEM, "no memory for a reduction of %zu elements", n);
    s->room = s->piece + PIECE_NBYTES;
    for (size_t at = begin; at < end; at += most)
        RS_TRY(reduce_piece(s, at, end - at < most ? end - at : most));
    return 0;
}

int rs_span_reduce(struct rs_step *step, void *dest, const void *source, size_t n, enum rs_type type, int op)
{
    const struct rs_team *team = step->team;
    const struct rs_span *span = team->span;
    int k = my_place(span, team->my_pe), n_shares = 0;
    rs_step_post(step, NULL, 0);
    RS_TRY(rs_step_await_all(step));
    struct share s = {.step = step, .dest = dest, .source = source, .type = type, .op = op};
    s.width = rs_type_nbytes(type);
    s.key = (struct rs_letter_key){.kind = RS_LETTER_PIECE, .team = team->id, .number = team->meets};
    s.peers = malloc((size_t)span->n_hosts * sizeof *s.peers);
    if (!s.peers) return rs_fail(RS_E_NOMEM, "no memory for a team of %d hosts", span->n_hosts);
    int rc = peers_of(team, k, s.peers, &n_shares);
    if (rc == 0 && k < n_shares) rc = reduce_share(&s, n, k, n_shares);
    free(s.peers);
    free(s.piece);
    return rc < 0 ? rc : rs_step_next(step);
}
