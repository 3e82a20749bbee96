/* SPDX-License-Identifier: MIT
 *
 * Stream collectives of a team that lies over hosts. In a phase the members of a host tell their first one, the firsts tell
 * each other, and each first tells its host. Inside a host by memory operations on mapped words, as in stream_collective.c;
 * between hosts by signals of the network, which the streams begin and leave behind, so that one way of the network is a
 * phase, not its round trip. Few hosts tell all others; many by dissemination: in round k host h tells h + 2^k.
 *
 * Words. In each place of the ring, and once more for captures, a member has for each phase a word for each member of a
 * host, and one for each host that tells it. What stream_collective.c says of them holds. A word is written again by
 * operation e + RS_STREAM_RING only when e is complete on its writer, who has then passed all phases but one that is within
 * its host; a phase that one has passed all have entered; so the later value comes where the earlier one has done its work.
 * That it can't come before the earlier one either, the signal having been left behind: e is complete only when the
 * signals of e have been seen to arrive. In a capture words are raised to 1, awaited and cleared; phases ALL and END, which
 * all go through, alternate, and phase HOST is led, which needs no second one.
 *
 * With the first phase goes a letter: what was called, so that hosts that call different things find out. It may be
 * overwritten while it is read, when the other one is ahead, and was content with us; so it carries a sum.
 *
 * Data cross the network once a host, where more than one member wants them: member k mod n of the n of a host fetches the
 * k-th piece, and the others copy it from there. A reduction is done share by share in the order of the team, so its bits
 * are those of one host; what the owner of a share has not mapped comes into scratch memory first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "pgas/collective.h"
#include "pgas/job.h"
#include "pgas/stream.h"

enum { ALL, END, HOST };                /* phases */
#define FLAT_MOST 4                     /* hosts that tell all others */
#define PART_NBYTES ((size_t)32 * 1024) /* a broadcast is fetched in parts of at least this */
#define PARTS_MOST 64
#define PIECE_NBYTES ((size_t)256 * 1024) /* reduced at one time */
#define SCRATCH_NBYTES                                                                                       \
    ((size_t)4 << 20) /* for the pieces of all that are not mapped; more only for their headers */

struct letter {
    uint64_t e;
    struct rs_signature signature;
    uint64_t sum;
};
_Static_assert(sizeof(struct letter) <= RS_STREAM_LETTER_NBYTES, "a letter fits its room");

/* Memory operations that are enqueued together as far as they can be. */
struct program {
    const struct rs_team *team;
    void *stream;
    uint64_t e; /* 0: captured */
    bool letters;
    size_t n;
    struct rs_memop ops[40];
};
struct flight { /* transfers that the stream has begun */
    struct rs_memop ops[RS_FINISH_MOST];
    size_t n;
};

static int flush(struct program *p)
{
    struct rs_device *device = &p->team->job->device;
    size_t n = p->n;
    p->n = 0;
    return n > 0 ? device->ops->batch(device, p->stream, p->ops, n) : 0;
}

static int add(struct program *p, const struct rs_memop *op)
{
    if (p->n == sizeof p->ops / sizeof *p->ops) RS_TRY(flush(p));
    p->ops[p->n++] = *op;
    return 0;
}

static uint64_t value_of(const struct program *p)
{
    return p->e ? p->e : 1;
}

static int raise(struct program *p, uint64_t *word)
{
    return add(p, &(struct rs_memop){.kind = RS_MEMOP_WRITE, .word = word, .value = value_of(p)});
}

static int await(struct program *p, uint64_t *word)
{
    RS_TRY(add(p, &(struct rs_memop){.kind = RS_MEMOP_WAIT,
                                     .cmp = p->e ? ROCSHMEM_CMP_GE : ROCSHMEM_CMP_EQ,
                                     .word = word,
                                     .value = value_of(p)}));
    return p->e ? 0 : add(p, &(struct rs_memop){.kind = RS_MEMOP_WRITE, .word = word, .value = 0});
}

static int start(struct program *p, const struct rs_transfer *transfers, size_t n, struct flight *flight)
{
    flight->n = 0;
    if (n == 0) return 0;
    RS_TRY(flush(p));
    return transfers[0].route->ops->start_on_stream(p->stream, transfers, n, flight->ops, &flight->n);
}

static int finish(struct program *p, const struct flight *flight)
{
    for (size_t i = 0; i < flight->n; i++) RS_TRY(add(p, &flight->ops[i]));
    return 0;
}

/* ---- phases ---- */

static size_t words_a_phase(const struct rs_team *team)
{
    return (size_t)team->job->hosts.n_most + RS_STREAM_PARTNERS;
}

static uint64_t *phase_words(const struct program *p, int owner, int phase)
{
    size_t place = p->e ? p->e % RS_STREAM_RING : RS_STREAM_RING;
    return p->team->flags[owner] + (place * RS_STREAM_PHASES + (size_t)phase) * words_a_phase(p->team);
}

/* Of member owner, for member k of its host; k 0 is the first one, which tells all. */
static uint64_t *near_word(const struct program *p, int owner, int phase, int k)
{
    return phase_words(p, owner, phase) + k;
}

/* Of the first member of a host, for the host that tells it as the partner of this number. */
static uint64_t *far_word(const struct program *p, int owner, int phase, int partner)
{
    return phase_words(p, owner, phase) + p->team->job->hosts.n_most + partner;
}

/* Where the letter lies that comes with it. */
static uint64_t *letter_room(const struct rs_team *team, int owner, uint64_t e, int partner)
{
    size_t rooms = ((size_t)RS_STREAM_RING + 1) * RS_STREAM_PHASES * words_a_phase(team);
    size_t room = (e % RS_STREAM_RING) * RS_STREAM_PARTNERS + (size_t)partner;
    return team->flags[owner] + rooms + room * (RS_STREAM_LETTER_NBYTES / 8);
}

static const struct rs_route *route_to(const struct rs_team *team, int i)
{
    return &team->job->routes[team->pes[i]];
}

/* This host tells another one. */
static struct rs_transfer tell(const struct program *p, int phase, int host, int partner)
{
    const struct rs_span *span = p->team->span;
    int first = span->first[host];
    struct rs_transfer t = {.route = route_to(p->team, first),
                            .put = true,
                            .word = far_word(p, first, phase, partner),
                            .value = value_of(p),
                            .sig_op = ROCSHMEM_SIGNAL_SET};
    if (phase != ALL || !p->letters) return t;
    t.dest = letter_room(p->team, first, p->e, partner);
    t.source = span->letters[p->e % RS_STREAM_RING];
    t.nbytes = sizeof(struct letter);
    return t;
}

/* The first members of the hosts meet. */
static int exchange(struct program *p, int phase)
{
    const struct rs_span *span = p->team->span;
    int n = span->n_hosts, mine = span->mine, me = p->team->my_pe;
    struct flight flight;
    if (n <= FLAT_MOST) {
        struct rs_transfer transfers[FLAT_MOST];
        size_t k = 0;
        for (int host = 0; host < n; host++)
            if (host != mine) transfers[k++] = tell(p, phase, host, mine);
        RS_TRY(start(p, transfers, k, &flight));
        for (int host = 0; host < n; host++)
            if (host != mine) RS_TRY(await(p, far_word(p, me, phase, host)));
        return finish(p, &flight);
    }
    for (int round = 0; 1 << round < n; round++) {
        struct rs_transfer t = tell(p, phase, (mine + (1 << round)) % n, round);
        RS_TRY(start(p, &t, 1, &flight));
        RS_TRY(await(p, far_word(p, me, phase, round)));
        RS_TRY(finish(p, &flight));
    }
    return 0;
}

/* Nobody goes on before all have come; with HOST, all of this host. */
static int meet(struct program *p, int phase)
{
    const struct rs_span *span = p->team->span;
    int first = span->near[0], me = p->team->my_pe;
    if (me != first) {
        int k = 0;
        while (span->near[k] != me) k++;
        RS_TRY(raise(p, near_word(p, first, phase, k)));
        return await(p, near_word(p, me, phase, 0));
    }
    for (int k = 1; k < span->n_near; k++) RS_TRY(await(p, near_word(p, me, phase, k)));
    if (phase != HOST) RS_TRY(exchange(p, phase));
    for (int k = 1; k < span->n_near; k++) RS_TRY(raise(p, near_word(p, span->near[k], phase, 0)));
    return 0;
}

/* ---- letters ---- */

static uint64_t letter_sum(const struct letter *letter)
{
    uint64_t words[sizeof *letter / 8 - 1], h = UINT64_C(0x2545f4914f6cdd1d);
    memcpy(words, letter, sizeof words);
    for (size_t k = 0; k < sizeof words / 8; k++) {
        h = (h ^ words[k]) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 29;
    }
    return h;
}

void rs_span_announce(const struct rs_stream_op *op)
{
    struct letter letter;
    memset(&letter, 0, sizeof letter); /* what lies between its fields is in the sum */
    letter.e = op->e;
    memcpy(&letter.signature, &op->signature, sizeof op->signature);
    letter.sum = letter_sum(&letter);
    memcpy(op->team->span->letters[op->e % RS_STREAM_RING], &letter, sizeof letter);
}

/* Only where the CPU reaches the heap: devices that don't call don't ask. */
int rs_span_differs(const struct rs_stream_op *op, struct rs_signature *theirs_out)
{
    const struct rs_team *team = op->team;
    const struct rs_span *span = team->span;
    int n = span->n_hosts;
    if (team->my_pe != span->near[0]) return -1;
    for (int k = 0; n <= FLAT_MOST ? k < n : 1 << k < n; k++) {
        int host = n <= FLAT_MOST ? k : (span->mine + n - (1 << k) % n) % n;
        const uint64_t *room = letter_room(team, team->my_pe, op->e, k);
        uint64_t words[sizeof(struct letter) / 8];
        struct letter letter;
        if (host == span->mine) continue;
        for (size_t i = 0; i < sizeof words / 8; i++) words[i] = __atomic_load_n(&room[i], __ATOMIC_RELAXED);
        memcpy(&letter, words, sizeof letter);
        if (letter.e != op->e || letter.sum != letter_sum(&letter)) continue;
        if (rs_signature_hash(&letter.signature) == rs_signature_hash(&op->signature)) continue;
        *theirs_out = letter.signature;
        return span->first[host];
    }
    return -1;
}

/* ---- data ---- */

/* One piece of dest: where it comes from, and which member of this host fetches it when that is another host. */
struct source {
    int from;      /* position */
    const char *p; /* there, as an address of mine */
    char *to;
    size_t nbytes;
    int fetcher; /* number among the host's; -1: each for itself */
};

static size_t n_sources(const struct rs_team *team, const struct rs_stream_data *data)
{
    const struct rs_span *span = team->span;
    if (data->kind != RS_DATA_ROOT) return (size_t)team->n_pes;
    size_t n = data->nbytes / PART_NBYTES,
           most = span->n_near < PARTS_MOST ? (size_t)span->n_near : PARTS_MOST;
    return span->host_of[data->root] == span->mine || n < 1 ? 1 : n < most ? n : most;
}

static struct source source_of(const struct rs_team *team, const struct rs_stream_data *data, size_t k)
{
    int n_near = team->span->n_near;
    struct source s = {
        .p = data->source, .to = data->dest, .nbytes = data->nbytes, .fetcher = (int)k % n_near};
    if (data->kind == RS_DATA_ROOT) {
        size_t n = n_sources(team, data), part = (data->nbytes / n + 63) & ~(size_t)63, at = k * part;
        s.from = data->root;
        s.p += at;
        s.to += at;
        s.nbytes = k + 1 < n ? part : data->nbytes - at;
        return s;
    }
    s.from = (int)((k + (size_t)team->my_pe) % (size_t)team->n_pes); /* not all from the same one at a time */
    s.fetcher = s.from % n_near;
    s.to += (size_t)s.from * data->nbytes;
    if (data->kind == RS_DATA_BLOCKS) {
        s.p += (size_t)team->my_pe * data->nbytes;
        s.fetcher = -1;
    }
    return s;
}

static bool is_near(const struct rs_team *team, int i)
{
    return team->span->host_of[i] == team->span->mine;
}

/* Copy within the host. */
static int copy_near(struct program *p, int from, void *to, const void *source, size_t nbytes)
{
    if (nbytes == 0 || (from == p->team->my_pe && to == source)) return 0;
    RS_TRY(flush(p));
    return route_to(p->team, from)
        ->ops->get_on_stream(route_to(p->team, from), p->stream, to, source, nbytes);
}

/* Into dest: what other hosts have and this member fetches, and what this host's members have. */
static int fetch(struct program *p, const struct rs_stream_data *data)
{
    const struct rs_team *team = p->team;
    const int *near = team->span->near;
    size_t n = n_sources(team, data), n_far = 0;
    struct rs_transfer *far = malloc(n * sizeof *far);
    struct flight flight;
    if (!far) return rs_fail(RS_E_NOMEM, "no memory to enqueue a collective of %d PEs", team->n_pes);
    for (size_t k = 0; k < n; k++) {
        struct source s = source_of(team, data, k);
        if (is_near(team, s.from) || s.nbytes == 0 || (s.fetcher >= 0 && near[s.fetcher] != team->my_pe))
            continue;
        far[n_far++] = (struct rs_transfer){
            .route = route_to(team, s.from), .dest = s.to, .source = s.p, .nbytes = s.nbytes};
    }
    int rc = start(p, far, n_far, &flight);
    free(far);
    for (size_t k = 0; rc == 0 && k < n; k++) {
        struct source s = source_of(team, data, k);
        if (is_near(team, s.from)) rc = copy_near(p, s.from, s.to, s.p, s.nbytes);
    }
    return rc < 0 ? rc : finish(p, &flight);
}

/* What other members of the host have fetched. */
static int copy_fetched(struct program *p, const struct rs_stream_data *data)
{
    const struct rs_team *team = p->team;
    size_t n = n_sources(team, data);
    for (size_t k = 0; k < n; k++) {
        struct source s = source_of(team, data, k);
        if (!is_near(team, s.from)) RS_TRY(copy_near(p, team->span->near[s.fetcher], s.to, s.to, s.nbytes));
    }
    return 0;
}

static int enqueue_fetches(struct program *p, const struct rs_stream_data *data)
{
    RS_TRY(fetch(p, data));
    if (data->kind == RS_DATA_BLOCKS || p->team->span->n_near == 1 ||
        (data->kind == RS_DATA_ROOT && is_near(p->team, data->root)))
        return 0;
    RS_TRY(meet(p, HOST));
    return copy_fetched(p, data);
}

/* ---- scratch memory ---- */

struct rs_scratch {
    struct rs_scratch *next;
    uint64_t *words; /* [0]: written by the stream that is through with it; data begin at [8] */
    size_t nbytes;
    uint64_t ticket; /* it is free when words[0] is that; under the lock */
};

/* captured: for good, its graph may run again. */
static struct rs_scratch *scratch_take(struct rs_job *job, size_t nbytes, bool captured)
{
    pthread_mutex_lock(&job->teams.lock);
    struct rs_scratch *s = job->scratch;
    while (s && (s->nbytes < nbytes || __atomic_load_n(s->words, __ATOMIC_ACQUIRE) != s->ticket)) s = s->next;
    if (!s) {
        void *words = NULL;
        s = calloc(1, sizeof *s);
        nbytes = (nbytes + 0xffff) & ~(size_t)0xffff;
        if (!s || job->device.ops->words_alloc(&job->device, nbytes + 64, &words) < 0) {
            if (!s) rs_fail(RS_E_NOMEM, "no memory to enqueue a reduction");
            free(s);
            s = NULL;
        } else {
            *s = (struct rs_scratch){job->scratch, words, nbytes, 0};
            job->scratch = s;
        }
    }
    if (s) s->ticket = captured ? UINT64_MAX : s->ticket + 1;
    pthread_mutex_unlock(&job->teams.lock);
    return s;
}

void rs_stream_scratch_free(struct rs_job *job)
{
    while (job->scratch) {
        struct rs_scratch *s = job->scratch;
        job->scratch = s->next;
        if (job->device.ops->words_free) job->device.ops->words_free(s->words);
        free(s);
    }
}

/* ---- reductions ---- */

/* One piece, by the CPU: the arrays follow the struct. */
struct combine {
    enum rs_type type;
    int op;
    size_t n, n_sources, n_dests;
    const unsigned char *const *sources;
    unsigned char *const *dests;
};

static int combine_on_stream(void *arg, bool failed)
{
    struct combine *c = arg;
    _Alignas(64) unsigned char sum[8192];
    size_t width = rs_type_nbytes(c->type), most = sizeof sum / width;
    for (size_t at = 0, n; !failed && at < c->n; at += n) {
        n = c->n - at < most ? c->n - at : most;
        memcpy(sum, c->sources[0] + at * width, n * width);
        for (size_t i = 1; i < c->n_sources; i++)
            rs_reduce_combine(c->type, c->op, sum, c->sources[i] + at * width, n);
        for (size_t i = 0; i < c->n_dests; i++) memcpy(c->dests[i] + at * width, sum, n * width);
    }
    free(c);
    return 0;
}

static void combine_any(int type, int op, void *acc, const void *in, size_t n)
{
    rs_reduce_combine((enum rs_type)type, op, acc, in, n);
}

/* Elements [at, at + n), which the others' hosts have sent into scratch memory. */
static int combine_piece(struct program *p, const struct rs_stream_data *data, size_t at, size_t n,
                         const unsigned char *scratch, size_t stride)
{
    const struct rs_team *team = p->team;
    struct rs_device *device = &team->job->device;
    size_t width = rs_type_nbytes(data->type), n_members = (size_t)team->n_pes, far = 0, near = 0;
    struct combine *c = malloc(sizeof *c + 2 * n_members * sizeof(void *));
    if (!c) return rs_fail(RS_E_NOMEM, "no memory to enqueue a reduction of %d PEs", team->n_pes);
    const unsigned char **sources = (const unsigned char **)(c + 1);
    unsigned char **dests = (unsigned char **)(c + 1) + n_members;
    for (int i = 0; i < team->n_pes; i++) {
        if (is_near(team, i)) {
            sources[i] =
                (const unsigned char *)rs_route_address(route_to(team, i), data->source) + at * width;
            dests[near++] = (unsigned char *)rs_route_address(route_to(team, i), data->dest) + at * width;
        } else {
            sources[i] = scratch + far++ * stride;
        }
    }
    *c = (struct combine){data->type, data->op, n, n_members, near, sources, dests};
    if (!device->ops->reduce) return device->ops->call(device, p->stream, combine_on_stream, c);
    struct rs_reduction reduction = {.dest = (void *const *)dests,
                                     .source = (const void *const *)sources,
                                     .n_members = (int)n_members,
                                     .n_dests = (int)near,
                                     .width = width,
                                     .n = n,
                                     .type = (int)data->type,
                                     .op = data->op,
                                     .combine = combine_any};
    int rc = device->ops->reduce(device, p->stream, &reduction);
    free(c);
    return rc;
}

/* The piece of every member that is not mapped here, side by side into scratch memory. */
static int fetch_piece(struct program *p, const struct rs_stream_data *data, size_t at, size_t nbytes,
                       unsigned char *scratch, size_t stride, struct rs_transfer *transfers)
{
    const struct rs_team *team = p->team;
    struct flight flight;
    size_t n_far = 0;
    for (int i = 0; i < team->n_pes; i++) {
        if (is_near(team, i)) continue;
        transfers[n_far] = (struct rs_transfer){.route = route_to(team, i),
                                                .dest = scratch + n_far * stride,
                                                .source = (const char *)data->source + at,
                                                .nbytes = nbytes};
        n_far++;
    }
    RS_TRY(start(p, transfers, n_far, &flight));
    RS_TRY(finish(p, &flight));
    return flush(p);
}

/* This member's share is in its dest: into the dest of one member of each other host, who is to hand it on. */
static int send_share(struct program *p, char *share, size_t nbytes, struct rs_transfer *transfers)
{
    const struct rs_team *team = p->team;
    const struct rs_span *span = team->span;
    struct flight flight;
    size_t n = 0;
    int *count = calloc(2 * (size_t)span->n_hosts, sizeof *count), *seen = count + span->n_hosts;
    if (!count) return rs_fail(RS_E_NOMEM, "no memory to enqueue a reduction of %d PEs", team->n_pes);
    for (int i = 0; i < team->n_pes; i++) count[span->host_of[i]]++;
    for (int i = 0; i < team->n_pes; i++) {
        int host = span->host_of[i];
        if (host == span->mine || seen[host]++ != team->my_pe % count[host]) continue;
        transfers[n++] = (struct rs_transfer){
            .route = route_to(team, i), .put = true, .dest = share, .source = share, .nbytes = nbytes};
    }
    free(count);
    RS_TRY(start(p, transfers, n, &flight));
    return finish(p, &flight);
}

static int reduce_share(struct program *p, const struct rs_stream_data *data, size_t begin, size_t end,
                        struct rs_transfer *transfers)
{
    const struct rs_team *team = p->team;
    size_t width = rs_type_nbytes(data->type), n_far = (size_t)(team->n_pes - team->span->n_near);
    size_t piece = SCRATCH_NBYTES / n_far / 64 * 64;
    if (piece > PIECE_NBYTES) piece = PIECE_NBYTES;
    if (piece < 64) piece = 64;
    if (piece > (end - begin) * width) piece = ((end - begin) * width + 63) & ~(size_t)63;
    struct rs_scratch *scratch = scratch_take(team->job, n_far * piece, p->e == 0);
    if (!scratch) return RS_E_NOMEM;
    unsigned char *data_of = (unsigned char *)(scratch->words + 8);
    for (size_t at = begin, n; at < end; at += n) {
        n = end - at < piece / width ? end - at : piece / width;
        RS_TRY(fetch_piece(p, data, at * width, n * width, data_of, piece, transfers));
        RS_TRY(combine_piece(p, data, at, n, data_of, piece));
    }
    struct rs_memop through = {.kind = RS_MEMOP_WRITE, .word = scratch->words, .value = scratch->ticket};
    if (p->e) RS_TRY(add(p, &through));
    return send_share(p, (char *)data->dest + begin * width, (end - begin) * width, transfers);
}

static void share_of(const struct rs_team *team, size_t n, int i, size_t *begin_out, size_t *end_out)
{
    const struct rs_team owner = {.n_pes = team->n_pes, .my_pe = i};
    rs_reduce_share(&owner, n, begin_out, end_out);
}

static int enqueue_reduction(struct program *p, const struct rs_stream_data *data)
{
    const struct rs_team *team = p->team;
    const struct rs_span *span = team->span;
    size_t begin, end, width = rs_type_nbytes(data->type);
    share_of(team, data->nbytes, team->my_pe, &begin, &end);
    struct rs_transfer *transfers = malloc((size_t)team->n_pes * sizeof *transfers);
    if (!transfers) return rs_fail(RS_E_NOMEM, "no memory to enqueue a reduction of %d PEs", team->n_pes);
    int rc = begin < end ? reduce_share(p, data, begin, end, transfers) : 0;
    free(transfers);
    if (rc == 0) rc = meet(p, END);
    if (rc < 0 || span->n_near == 1) return rc;
    for (int i = 0; i < team->n_pes; i++) {
        share_of(team, data->nbytes, i, &begin, &end);
        if (is_near(team, i)) continue; /* it has stored it in all dests of this host */
        char *share = (char *)data->dest + begin * width;
        RS_TRY(copy_near(p, span->near[i % span->n_near], share, share, (end - begin) * width));
    }
    return meet(p, HOST); /* nobody writes his dest anew before it was copied */
}

int rs_span_enqueue(struct rs_stream_op *op, const struct rs_stream_data *data, void *stream,
                    const struct rs_memop *done, int (*check)(void *arg, bool failed), bool *op_given_out)
{
    struct rs_team *team = op->team;
    struct rs_device *device = &team->job->device;
    struct program p = {.team = team, .stream = stream, .e = done ? op->e : 0};
    p.letters = check && device->ops->call;
    RS_TRY(meet(&p, ALL));
    if (!data && done) RS_TRY(add(&p, done));
    if (!data && !done) RS_TRY(meet(&p, END));
    RS_TRY(flush(&p));
    if (p.letters) {
        *op_given_out = true;
        RS_TRY(device->ops->call(device, stream, check, op)); /* op may be gone from here */
    }
    if (!data) return 0;
    if (data->kind == RS_DATA_REDUCE) {
        RS_TRY(enqueue_reduction(&p, data));
    } else {
        RS_TRY(enqueue_fetches(&p, data));
        RS_TRY(meet(&p, END));
    }
    if (done) RS_TRY(add(&p, done));
    return flush(&p);
}
