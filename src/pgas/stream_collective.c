/* SPDX-License-Identifier: MIT
 *
 * Collectives in the order of a stream, written with the device's memory operations and copies only. Any
 * thread enqueues; the team's stream lock allots the sequence number and keeps the order.
 *
 * Operation e of a team uses flag slot e mod RS_STREAM_RING on every member. In it, member p has one word per
 * phase on each other member, to which it writes e; a member waits for words >= e. Two streams, or two
 * threads, may have operations of one team in flight: each has a slot of its own, and a later one never
 * releases an earlier one, because it writes other words. A word is used again by e + RS_STREAM_RING only
 * after e is complete on the writer (the `complete` word of the slot, waited for first), and e is complete on
 * p only after all members arrived in e, so the later value can only come where the earlier one has done its
 * work; and a wait for >= e stays satisfied. A word never goes backwards, also not over teams: the sequence
 * of a slot starts where its last team stopped.
 *
 * On a stream that is being captured in a graph nothing may differ from one replay to the next: there the
 * words are others, and are raised to 1 and cleared. Phase A: write 1 to my word A on every member, wait until
 * my words A are 1, clear them; phase B the same with words B. A fast member cannot overrun a slow one: before
 * it writes A again it needs the slow one's B, which comes after that one has cleared its words A; and so on.
 *
 * Data are pulled from the members after all have arrived, or reduced share by share into everyone's dest,
 * and a second phase holds everyone until all have done that.
 *
 * All this is for members that share a host. Those of several hosts meet otherwise, in stream_span.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "pgas/collective.h"
#include "pgas/job.h"
#include "pgas/stream.h"

static uint64_t *flag_word(const struct rs_team *team, int owner, uint64_t e, int phase, int from)
{
    size_t slot = e % RS_STREAM_RING, n = (size_t)team->n_pes;
    return team->flags[owner] + (slot * 2 + (size_t)phase) * n + (size_t)from;
}

static uint64_t *complete_word(const struct rs_team *team, uint64_t e)
{
    return team->job->stream_complete + (size_t)team->slot * RS_STREAM_RING + e % RS_STREAM_RING;
}

bool rs_stream_all_complete(const struct rs_team *team)
{
    uint64_t e = team->stream_sequence;
    for (int k = 0; k < RS_STREAM_RING && e > team->stream_base; k++, e--)
        if (__atomic_load_n(complete_word(team, e), __ATOMIC_ACQUIRE) < e) return false;
    return true;
}

/* The first that is on these streams, not complete, and not announced by some member; 0 for none. One that waits
 * for its slot is announced late: then its member is named although it has enqueued it, and says so itself. */
static uint64_t first_awaited(const struct rs_team *team, const struct rs_drain *drain, int *pe_out)
{
    uint64_t last = __atomic_load_n(&team->stream_sequence, __ATOMIC_RELAXED), e = team->stream_base + 1;
    if (last > team->stream_base + RS_STREAM_RING) e = last - RS_STREAM_RING + 1;
    for (; e <= last; e++) {
        if (__atomic_load_n(complete_word(team, e), __ATOMIC_ACQUIRE) >= e) continue;
        void *stream = __atomic_load_n(&team->stream_of[e % RS_STREAM_RING], __ATOMIC_RELAXED);
        if (!drain->all && stream != drain->stream) continue;
        for (int i = 0; i < team->n_pes; i++) {
            if (i == team->my_pe || !team->posts[i]) continue;
            const struct rs_called *called = &team->posts[i]->stream_called[e % RS_STREAM_RING];
            if (atomic_load_explicit(&called->sequence, memory_order_relaxed) >= e) continue;
            *pe_out = team->pes[i];
            return e;
        }
    }
    return 0;
}

bool rs_stream_awaits(struct rs_job *job, const struct rs_drain *drain, uint64_t *awaits_out,
                      uint64_t *step_out)
{
    uint64_t e = 0;
    pthread_mutex_lock(&job->teams.lock);
    for (int b = 0; b < RS_TEAM_BUCKETS && !e; b++)
        for (const struct rs_team *team = job->teams.buckets[b]; team && !e; team = team->next) {
            int pe = -1;
            e = first_awaited(team, drain, &pe);
            if (!e) continue;
            *awaits_out = (uint64_t)team->id << 32 | (uint32_t)(pe + 1);
            *step_out = e | RS_AWAITS_STREAM;
        }
    pthread_mutex_unlock(&job->teams.lock);
    return e != 0;
}

static void announce(const struct rs_stream_op *op)
{
    if (op->team->span) rs_span_announce(op);
    rs_called_write(&op->team->posts[op->team->my_pe]->stream_called[op->e % RS_STREAM_RING], op->e,
                    &op->signature);
}

/* arg is a copy of its own, so that it does not matter whether the check behind it could be enqueued. The
 * team outlives it without a reference: its slot is not given back before operation e is complete. */
static int announce_on_stream(void *arg, bool failed)
{
    if (!failed) announce(arg);
    free(arg);
    return 0;
}

static int enqueue_announcement(const struct rs_stream_op *op, void *stream)
{
    struct rs_device *device = &op->team->job->device;
    if (!device->ops->call) { /* its members can't tell any more what the last operation in this slot was */
        announce(op);
        return 0;
    }
    struct rs_stream_op *copy = malloc(sizeof *copy);
    if (!copy) return rs_fail(RS_E_NOMEM, "no memory to enqueue a collective of %d PEs", op->team->n_pes);
    *copy = *op;
    return device->ops->call(device, stream, announce_on_stream, copy);
}

/* What member i called as operation e; false when it has gone on already (then it was content with us). */
static bool called_by(const struct rs_stream_op *op, int i, struct rs_signature *out)
{
    return op->team->posts[i] &&
           rs_called_read(&op->team->posts[i]->stream_called[op->e % RS_STREAM_RING], op->e, out);
}

/* All have arrived: did they call the same? */
static int check_on_stream(void *arg, bool failed)
{
    struct rs_stream_op *op = arg;
    struct rs_team *team = op->team;
    int rc = 0;
    for (int i = 0; !failed && rc == 0 && i < team->n_pes; i++) {
        struct rs_signature theirs;
        if (i == team->my_pe || !called_by(op, i, &theirs)) continue;
        if (rs_signature_hash(&theirs) == rs_signature_hash(&op->signature)) continue;
        rc = rs_signatures_differ(team->job, op->signature.call, &op->signature, team->pes[i], &theirs,
                                  "stream collective", op->e - team->stream_base);
    }
    struct rs_signature far;
    int i = !failed && rc == 0 && team->span ? rs_span_differs(op, &far) : -1;
    if (i >= 0)
        rc = rs_signatures_differ(team->job, op->signature.call, &op->signature, team->pes[i], &far,
                                  "stream collective", op->e - team->stream_base);
    free(op);
    rs_team_put(team);
    return rc;
}

/* Who writes to whom in a phase: all to all, or all to the first member and that one, when it has seen all, back. The
 * first way is the quickest where members run side by side; the second takes 4 (n - 1) memory operations instead of
 * 2 n (n - 1), which is what counts where a device runs one member's at a time. What is said above holds for both: what a
 * member writes in operation e the reader has waited for before anybody is released from e. */
static bool by_leader(const struct rs_team *team)
{
    const struct rs_device *device = &team->job->device;
    return team->n_pes > 2 && device->ops->takes_turns && device->ops->takes_turns(device);
}

/* Does member from write to member to? */
static bool writes_to(bool leader, int from, int to)
{
    return from != to && (!leader || from == 0 || to == 0);
}

/* The operations of a phase, with value e. Returns the number of them put into ops. */
static size_t phase_ops(const struct rs_team *team, uint64_t e, int phase, struct rs_memop *ops)
{
    size_t n = 0;
    bool leader = by_leader(team),
         last = leader && team->my_pe == 0; /* the leader writes when it has seen all */
    for (int step = 0; step < 2; step++)
        for (int i = 0; i < team->n_pes; i++) {
            if (!writes_to(leader, team->my_pe, i)) continue;
            bool write = (step == 0) != last;
            ops[n++] = (struct rs_memop){.kind = write ? RS_MEMOP_WRITE : RS_MEMOP_WAIT,
                                         .cmp = ROCSHMEM_CMP_GE,
                                         .word = write ? flag_word(team, i, e, phase, team->my_pe)
                                                       : flag_word(team, team->my_pe, e, phase, i),
                                         .value = e};
        }
    return n;
}

/* The k-th piece that this member pulls, and from whom. False: there is nothing to do. */
static bool pull(const struct rs_team *team, const struct rs_stream_data *data, int k,
                 struct rs_copy *copy_out, int *from_out)
{
    bool one = data->kind == RS_DATA_ROOT;
    int i = one ? data->root : (team->my_pe + k) % team->n_pes;
    const char *source = data->source;
    char *dest = data->dest;
    if (data->kind == RS_DATA_BLOCKS) source += (size_t)team->my_pe * data->nbytes;
    if (!one) dest += (size_t)i * data->nbytes;
    *copy_out = (struct rs_copy){dest, source, data->nbytes};
    *from_out = i;
    return dest != source || i != team->my_pe; /* the root's own broadcast in place */
}

/* Large blocks, side by side; the one of a broadcast in parts. */
static int enqueue_copies(const struct rs_team *team, const struct rs_stream_data *data, void *stream)
{
    enum { PARTS = 4 };
    struct rs_device *device = &team->job->device;
    bool one = data->kind == RS_DATA_ROOT;
    size_t n = 0, room = one ? PARTS : (size_t)team->n_pes;
    struct rs_copy *copies = malloc(room * sizeof *copies), copy;
    int from;
    if (!copies) return rs_fail(RS_E_NOMEM, "no memory to enqueue a collective of %d PEs", team->n_pes);
    for (int k = 0; k < (one ? 1 : team->n_pes); k++) {
        if (!pull(team, data, k, &copy, &from)) continue;
        copy.src = rs_route_address(&team->job->routes[team->pes[from]], copy.src);
        copies[n++] = copy;
    }
    if (one && n == 1 && copy.nbytes >= PARTS * RS_COPIES_NBYTES) {
        size_t part = copy.nbytes / PARTS & ~(size_t)255;
        for (n = 0; n < PARTS; n++)
            copies[n] = (struct rs_copy){(char *)copy.dst + n * part, (const char *)copy.src + n * part,
                                         n + 1 < PARTS ? part : copy.nbytes - n * part};
    }
    int rc = n > 0 ? device->ops->copies(device, stream, copies, n) : 0;
    free(copies);
    return rc;
}

static int enqueue_pulls(const struct rs_team *team, const struct rs_stream_data *data, void *stream)
{
    struct rs_copy copy;
    int from;
    if (team->job->device.ops->copies && data->nbytes >= RS_COPIES_NBYTES)
        return enqueue_copies(team, data, stream);
    for (int k = 0; k < (data->kind == RS_DATA_ROOT ? 1 : team->n_pes); k++) {
        if (!pull(team, data, k, &copy, &from)) continue;
        const struct rs_route *route = &team->job->routes[team->pes[from]];
        RS_TRY(route->ops->get_on_stream(route, stream, copy.dst, copy.src, copy.nbytes));
    }
    return 0;
}

/* One piece of this member's share of a reduction. The one operation that computes: all that a device needs to
 * do it by a kernel of its own is here. The team outlives it, see announce_on_stream. */
struct combine {
    const struct rs_team *team;
    struct rs_stream_data data;
    size_t begin, end; /* elements */
};
#define COMBINE_NBYTES ((size_t)256 * 1024) /* a piece: other streams get their turn after each */

static int combine_on_stream(void *arg, bool failed)
{
    struct combine *c = arg;
    const struct rs_stream_data *data = &c->data;
    int rc = 0;
    if (!failed)
        rc = rs_reduce_members(c->team, data->dest, data->source, c->begin, c->end, data->type, data->op);
    free(c);
    return rc;
}

static void combine_any(int type, int op, void *acc, const void *in, size_t n)
{
    rs_reduce_combine((enum rs_type)type, op, acc, in, n);
}

/* For a device that computes itself. */
static enum rs_number number_of(enum rs_type type)
{
    switch (type) {
#define NUMBER(name, T, ...)                                                                                 \
    case RS_TYPE_##name:                                                                                     \
        return (T)-1 < (T)1 ? RS_NUMBER_SIGNED : RS_NUMBER_UNSIGNED;
        ROCSHMEM_LOGIC_TYPES(NUMBER, )
#undef NUMBER
    case RS_TYPE_float:
    case RS_TYPE_double:
        return RS_NUMBER_FLOAT;
    default:
        return RS_NUMBER_OTHER;
    }
}

static enum rs_number_op how_of(int op)
{
    static const enum rs_number_op how[] = {
        [ROCSHMEM_SUM] = RS_SUM_OF,   [ROCSHMEM_MAX] = RS_MAX_OF, [ROCSHMEM_MIN] = RS_MIN_OF,
        [ROCSHMEM_PROD] = RS_PROD_OF, [ROCSHMEM_AND] = RS_AND_OF, [ROCSHMEM_OR] = RS_OR_OF,
        [ROCSHMEM_XOR] = RS_XOR_OF};
    return how[op];
}

/* By the device: elements [begin, end). */
static int enqueue_reduce(const struct rs_team *team, const struct rs_stream_data *data, size_t begin,
                          size_t end, void *stream)
{
    struct rs_device *device = &team->job->device;
    size_t width = rs_type_nbytes(data->type), n = (size_t)team->n_pes;
    void **at = malloc(2 * n * sizeof *at);
    if (!at) return rs_fail(RS_E_NOMEM, "no memory to enqueue a reduction of %d PEs", team->n_pes);
    for (size_t i = 0; i < n; i++) {
        const struct rs_route *route = &team->job->routes[team->pes[i]];
        at[i] = (char *)rs_route_address(route, data->dest) + begin * width;
        at[n + i] = (char *)rs_route_address(route, data->source) + begin * width;
    }
    struct rs_reduction reduction = {.dest = at,
                                     .source = (const void *const *)(at + n),
                                     .n_members = team->n_pes,
                                     .n_dests = team->n_pes,
                                     .width = width,
                                     .n = end - begin,
                                     .type = data->type,
                                     .op = data->op,
                                     .number = number_of(data->type),
                                     .how = how_of(data->op),
                                     .combine = combine_any};
    int rc = device->ops->reduce(device, stream, &reduction);
    free(at);
    return rc;
}

static int enqueue_reduction(const struct rs_team *team, const struct rs_stream_data *data, void *stream)
{
    struct rs_device *device = &team->job->device;
    size_t begin, end, most = COMBINE_NBYTES / rs_type_nbytes(data->type);
    rs_reduce_share(team, data->nbytes, &begin, &end);
    if (device->ops->reduce) return begin < end ? enqueue_reduce(team, data, begin, end, stream) : 0;
    while (begin < end) {
        size_t n = end - begin < most ? end - begin : most;
        struct combine *c = malloc(sizeof *c);
        if (!c) return rs_fail(RS_E_NOMEM, "no memory to enqueue a reduction of %zu elements", data->nbytes);
        *c = (struct combine){team, *data, begin, begin + n};
        RS_TRY(device->ops->call(device, stream, combine_on_stream, c));
        begin += n;
    }
    return 0;
}

static int enqueue_data(const struct rs_team *team, const struct rs_stream_data *data, void *stream)
{
    return data->kind == RS_DATA_REDUCE ? enqueue_reduction(team, data, stream)
                                        : enqueue_pulls(team, data, stream);
}

/* A phase in a graph: what phase_ops does, with words that are raised to 1, waited for, and cleared. */
static size_t constant_ops(const struct rs_team *team, int phase, struct rs_memop *ops)
{
    enum { RAISE, WAIT, CLEAR };
    static const int usual[] = {RAISE, WAIT, CLEAR}, leaders[] = {WAIT, CLEAR, RAISE};
    bool leader = by_leader(team);
    const int *steps = leader && team->my_pe == 0 ? leaders : usual;
    size_t n = 0, n_pes = (size_t)team->n_pes;
    size_t first = ((size_t)RS_STREAM_RING * 2 + (size_t)phase) * n_pes;
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < n_pes; i++) {
            if (!writes_to(leader, team->my_pe, (int)i)) continue;
            uint64_t *mine = team->flags[team->my_pe] + first + i;
            uint64_t *theirs = team->flags[i] + first + (size_t)team->my_pe;
            ops[n++] = (struct rs_memop){.kind = steps[k] == WAIT ? RS_MEMOP_WAIT : RS_MEMOP_WRITE,
                                         .cmp = ROCSHMEM_CMP_EQ,
                                         .word = steps[k] == RAISE ? theirs : mine,
                                         .value = steps[k] != CLEAR};
        }
    return n;
}

static int enqueue_captured(const struct rs_team *team, const struct rs_stream_data *data, void *stream,
                            struct rs_memop *ops)
{
    struct rs_device *device = &team->job->device;
    size_t n = constant_ops(team, 0, ops);
    if (n > 0) RS_TRY(device->ops->batch(device, stream, ops, n));
    if (!data && by_leader(team)) return 0; /* nobody can be ahead: the leader clears before it releases */
    if (data) RS_TRY(enqueue_data(team, data, stream));
    n = constant_ops(team, 1, ops);
    return n > 0 ? device->ops->batch(device, stream, ops, n) : 0;
}

/* Must operation e wait for its slot? before: the stream of operation e - RS_STREAM_RING, behind which this one is
 * anyhow when it is on the same; the thread's default stream is another one in each thread. A device that can call says
 * on the stream who is in the slot, and the host's streams take a wait that is satisfied for nothing. */
static bool slot_is_taken(const struct rs_team *team, uint64_t e, const void *stream, const void *before)
{
    static const uintptr_t per_thread = 2;
    if (e <= team->stream_base + RS_STREAM_RING) return false;
    if (!team->job->device.ops->call && stream == before && (uintptr_t)stream != per_thread) return false;
    return __atomic_load_n(complete_word(team, e), __ATOMIC_ACQUIRE) + RS_STREAM_RING < e;
}

/* Under the stream lock. */
static int enqueue_locked(struct rs_team *team, struct rs_stream_op *op, const struct rs_stream_data *data,
                          void *stream, const void *before, struct rs_memop *ops, bool *op_given_out)
{
    struct rs_device *device = &team->job->device;
    uint64_t e = op->e;
    uint64_t *complete = complete_word(team, e);
    size_t n = 0;
    if (slot_is_taken(team, e, stream, before)) {
        /* The slot is still in use on another stream: go behind that. */
        ops[0] = (struct rs_memop){
            .kind = RS_MEMOP_WAIT, .cmp = ROCSHMEM_CMP_GE, .word = complete, .value = e - RS_STREAM_RING};
        RS_TRY(device->ops->batch(device, stream, ops, 1));
        RS_TRY(enqueue_announcement(op, stream));
    } else {
        announce(op);
    }
    struct rs_memop done = {.kind = RS_MEMOP_WRITE, .word = complete, .value = e};
    if (team->span) return rs_span_enqueue(op, data, stream, &done, check_on_stream, op_given_out);
    n = phase_ops(team, e, 0, ops);
    if (!data) ops[n++] = done;
    if (n > 0) RS_TRY(device->ops->batch(device, stream, ops, n));
    *op_given_out = device->ops->call != NULL;
    if (*op_given_out) RS_TRY(device->ops->call(device, stream, check_on_stream, op));
    if (!data) return 0;
    RS_TRY(enqueue_data(team, data, stream));
    n = phase_ops(team, e, 1, ops);
    ops[n++] = done;
    return device->ops->batch(device, stream, ops, n);
}

static int enqueue(struct rs_team *team, const struct rs_signature *signature,
                   const struct rs_stream_data *data, void *stream)
{
    struct rs_job *job = team->job;
    if (RS_UNLIKELY(rs_board_is_broken(&job->board))) return rs_board_broken(&job->board);
    int captured =
        job->device.ops->probe(&job->device, stream); /* an unknown stream: before anything is enqueued */
    if (captured < 0) return captured;
    rs_signature_log(signature);
    struct rs_memop few[32], *ops = few;
    size_t most = 3 * (size_t)team->n_pes + 1;
    struct rs_stream_op *op = malloc(sizeof *op);
    if (op && most > sizeof few / sizeof *few) ops = malloc(most * sizeof *ops);
    if (!op || !ops) {
        free(op);
        return rs_fail(RS_E_NOMEM, "no memory to enqueue a collective of %d PEs", team->n_pes);
    }
    pthread_mutex_lock(&job->teams.lock);
    team->refs++;
    pthread_mutex_unlock(&job->teams.lock);
    bool op_given = false;
    pthread_mutex_lock(&team->stream_lock);
    *op = (struct rs_stream_op){team, team->stream_sequence, *signature};
    const void *before = NULL;
    if (!captured) {
        op->e++;
        before = team->stream_of[op->e % RS_STREAM_RING];
        __atomic_store_n(&team->stream_of[op->e % RS_STREAM_RING], stream, __ATOMIC_RELAXED);
        __atomic_store_n(&team->stream_sequence, op->e, __ATOMIC_RELAXED);
    }
    int rc = captured && team->span ? rs_span_enqueue(op, data, stream, NULL, NULL, &op_given)
             : captured             ? enqueue_captured(team, data, stream, ops)
                                    : enqueue_locked(team, op, data, stream, before, ops, &op_given);
    pthread_mutex_unlock(&team->stream_lock);
    if (!op_given) {
        free(op);
        rs_team_put(team);
    }
    if (ops != few) free(ops);
    if (rc < 0) { /* half enqueued: this PE is out of step for good */
        char name[64];
        rs_call_name(signature->call, name, sizeof name);
        rs_board_abort(&job->board, rc, job->my_pe, name, rs_error_slot()->text);
    }
    return rc;
}

int rs_stream_barrier(struct rs_team *team, const struct rs_signature *signature, void *stream)
{
    return enqueue(team, signature, NULL, stream);
}

int rs_stream_alltoall(struct rs_team *team, const struct rs_signature *signature, void *dest,
                       const void *source, size_t nbytes, void *stream)
{
    struct rs_stream_data data = {.kind = RS_DATA_BLOCKS, .dest = dest, .source = source, .nbytes = nbytes};
    return enqueue(team, signature, nbytes ? &data : NULL, stream);
}

int rs_stream_broadcast(struct rs_team *team, const struct rs_signature *signature, void *dest,
                        const void *source, size_t nbytes, int root, void *stream)
{
    struct rs_stream_data data = {
        .kind = RS_DATA_ROOT, .dest = dest, .source = source, .nbytes = nbytes, .root = root};
    return enqueue(team, signature, nbytes ? &data : NULL, stream);
}

int rs_stream_fcollect(struct rs_team *team, const struct rs_signature *signature, void *dest,
                       const void *source, size_t nbytes, void *stream)
{
    struct rs_stream_data data = {.kind = RS_DATA_GATHER, .dest = dest, .source = source, .nbytes = nbytes};
    return enqueue(team, signature, nbytes ? &data : NULL, stream);
}

int rs_stream_reduce(struct rs_team *team, const struct rs_signature *signature, void *dest,
                     const void *source, size_t n, enum rs_type type, int op, void *stream)
{
    struct rs_stream_data data = {
        .kind = RS_DATA_REDUCE, .dest = dest, .source = source, .nbytes = n, .type = type, .op = op};
    return enqueue(team, signature, n ? &data : NULL, stream);
}
