/* SPDX-License-Identifier: MIT
 *
 * Large collectives of members on several hosts: each byte goes to a host once, and within a host through memory.
 *
 * broadcast: the first member of each host (its leader) pulls, from the root where there are few hosts, else along a
 * binomial tree of hosts; the others of the host copy from the leader's dest. fcollect: the members of a host share the
 * pulling of what lies elsewhere, and copy from each other. reduce: the k-th members of all hosts work on the k-th share of
 * the elements, piece by piece: the first host's combines its members, the next one goes on with its own, and so on; from
 * the last host the result comes back the same way, while other pieces go forth. So members are combined in the order of
 * the team, as on one host, with the same bits, where the members of a host are neighbours in it; where they are not, only
 * integers go this way (rs_span_keeps_order).
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
    struct rs_letter_key key = {.kind = RS_LETTER_PIECE, .team = team->id, .number = rs_team_meets(team)};
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

#define WINDOW 4 /* pieces that a host is ahead with, of those whose result it has */

/* One member's share of a reduction. */
struct share {
    struct rs_step *step;
    unsigned char *dest;
    const unsigned char *source;
    enum rs_type type;
    int op;
    size_t width, begin, end, most; /* elements: of the share; of a piece */
    int *peers;                     /* owned: by host, who works on this share there */
    unsigned char *sum, *room;      /* owned: a piece, and room to get one more */
    struct rs_letter_key key;
};
enum { FORTH, BACK }; /* rounds: partial sums go to the next host, results to the one before */

static size_t piece_of(const struct share *s, size_t i, size_t *n_out)
{
    size_t at = s->begin + i * s->most;
    *n_out = s->end - at < s->most ? s->end - at : s->most;
    return at;
}

static int send_piece(struct share *s, int host, size_t i, int way, const void *bytes, size_t n)
{
    s->key.round = (uint32_t)(2 * i + (size_t)way);
    return rs_span_send(s->step, s->peers[host], &s->key, bytes, n * s->width);
}

static int get_piece(struct share *s, int host, size_t i, int way, size_t n, struct rs_letter **letter_out)
{
    s->key.round = (uint32_t)(2 * i + (size_t)way);
    s->key.from = s->step->team->pes[s->peers[host]];
    RS_TRY(rs_span_await(s->step, &s->key, letter_out));
    if ((*letter_out)->nbytes == n * s->width) return 0;
    free(*letter_out);
    return rs_fail(RS_E_BUG, "a piece of a reduction has another size on PE %d", s->key.from);
}

static int store_result(const struct share *s, size_t at, const void *result, size_t n)
{
    const struct rs_span *span = s->step->team->span;
    for (int k = 0; k < span->n_near; k++)
        RS_TRY(rs_step_copy(s->step,
                            rs_route_address(rs_step_route(s->step, span->near[k]), s->dest + at * s->width),
                            result, n * s->width));
    return 0;
}

/* Piece i: what the hosts before brought, and then this one's members; on to the next host, or the result. */
static int go_forth(struct share *s, size_t i)
{
    const struct rs_span *span = s->step->team->span;
    int k = 0;
    size_t n, at = piece_of(s, i, &n);
    if (span->mine > 0) {
        struct rs_letter *letter;
        RS_TRY(get_piece(s, span->mine - 1, i, FORTH, n, &letter));
        memcpy(s->sum, letter->bytes, n * s->width);
        free(letter);
    } else {
        RS_TRY(rs_step_pull(s->step, span->near[k++], s->sum, s->source + at * s->width, n * s->width));
    }
    for (; k < span->n_near; k++) {
        RS_TRY(rs_step_pull(s->step, span->near[k], s->room, s->source + at * s->width, n * s->width));
        rs_reduce_combine(s->type, s->op, s->sum, s->room, n);
    }
    if (span->mine < span->n_hosts - 1) return send_piece(s, span->mine + 1, i, FORTH, s->sum, n);
    RS_TRY(store_result(s, at, s->sum, n));
    return send_piece(s, span->mine - 1, i, BACK, s->sum, n);
}

static int come_back(struct share *s, size_t i)
{
    const struct rs_span *span = s->step->team->span;
    struct rs_letter *letter;
    size_t n, at = piece_of(s, i, &n);
    RS_TRY(get_piece(s, span->mine + 1, i, BACK, n, &letter));
    int rc = store_result(s, at, letter->bytes, n);
    if (rc == 0 && span->mine > 0) rc = send_piece(s, span->mine - 1, i, BACK, letter->bytes, n);
    free(letter);
    return rc;
}

/* In place is safe: of a share of this host's sources and dests nobody but its member reads or writes anything, and a
 * piece of dest is written when that of source has been used. */
static int reduce_share(struct share *s)
{
    const struct rs_span *span = s->step->team->span;
    size_t n = (s->end - s->begin + s->most - 1) / s->most, back = 0;
    bool last = span->mine == span->n_hosts - 1;
    s->sum = malloc(2 * PIECE_NBYTES);
    if (!s->sum) return rs_fail(RS_E_NOMEM, "no memory for a reduction of %zu elements", s->end - s->begin);
    s->room = s->sum + PIECE_NBYTES;
    for (size_t i = 0; i < n; i++) {
        RS_TRY(go_forth(s, i));
        if (!last && i >= WINDOW) RS_TRY(come_back(s, back++));
    }
    while (!last && back < n) RS_TRY(come_back(s, back++));
    return 0;
}

bool rs_span_keeps_order(const struct rs_team *team, enum rs_type type)
{
    const struct rs_span *span = team->span;
    int i = 1;
    while (i < team->n_pes && span->host_of[i] >= span->host_of[i - 1]) i++;
    return i == team->n_pes || rs_type_is_integer(type);
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
    s.most = PIECE_NBYTES / s.width;
    s.key = (struct rs_letter_key){.kind = RS_LETTER_PIECE, .team = team->id, .number = rs_team_meets(team)};
    s.peers = malloc((size_t)span->n_hosts * sizeof *s.peers);
    if (!s.peers) return rs_fail(RS_E_NOMEM, "no memory for a team of %d hosts", span->n_hosts);
    int rc = peers_of(team, k, s.peers, &n_shares);
    if (rc == 0 && k < n_shares) {
        size_t each = (n / (size_t)n_shares + 64) & ~(size_t)63;
        s.begin = each * (size_t)k < n ? each * (size_t)k : n;
        s.end = n - s.begin < each ? n : s.begin + each;
        rc = reduce_share(&s);
    }
    free(s.peers);
    free(s.sum);
    return rc < 0 ? rc : rs_step_next(step);
}
