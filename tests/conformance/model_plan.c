/* SPDX-License-Identifier: MIT
 *
 * Makes the plan: see model.h. Nothing here calls the API, but to see who shares this PE's memory.
 */
#include "model.h"

static struct event *add(struct plan *plan, enum act act, int actor)
{
    if (plan->n_events == plan->room) {
        plan->room = plan->room ? 2 * plan->room : 1024;
        plan->events = realloc(plan->events, plan->room * sizeof *plan->events);
        if (!plan->events) abort();
    }
    struct event *event = &plan->events[plan->n_events++];
    *event = (struct event){.act = act, .actor = actor, .seed = plan->next_seed++};
    return event;
}

static size_t below(struct plan *plan, size_t n)
{
    return random_below(&plan->state, n);
}

/* Mostly a few bytes. */
static size_t some_bytes(struct plan *plan, size_t most)
{
    static const size_t sizes[] = {1, 8, 9, 64, 300, 3000, LANE};
    size_t n = sizes[below(plan, sizeof sizes / sizeof *sizes)];
    n = below(plan, 3) ? 1 + below(plan, n) : n;
    return n < most ? n : most;
}

static bool is_mine(const struct plan *plan, int actor)
{
    return actor / plan->n_threads == me;
}

static void keep(struct plan *plan, struct event *event, int owner, int pe)
{
    if (!is_mine(plan, owner)) return;
    event->bytes = ordinary(event->nbytes);
    memcpy(event->bytes, model_of(plan, pe) + event->offset, event->nbytes);
}

/* ---- order ---- */

static void forget(struct plan *plan, int actor)
{
    plan->actors[actor].n_touched = 0;
    plan->actors[actor].arena = 0;
}

static void quiet(struct plan *plan, int actor)
{
    add(plan, QUIET, actor);
    forget(plan, actor);
}

static void fence(struct plan *plan, int actor)
{
    struct actor *a = &plan->actors[actor];
    add(plan, FENCE, actor);
    for (int i = 0; i < a->n_touched; i++) a->touched[i].fenced = true;
}

/* Before an actor reads, or writes, these bytes of a PE: what has to be between that and its earlier accesses. */
static void settle(struct plan *plan, int actor, int pe, size_t offset, size_t nbytes, bool read)
{
    struct actor *a = &plan->actors[actor];
    bool needs_quiet = a->n_touched == sizeof a->touched / sizeof *a->touched, needs_fence = false;
    for (int i = 0; i < a->n_touched; i++) {
        const struct touched *t = &a->touched[i];
        if (t->pe != pe || t->offset >= offset + nbytes || offset >= t->offset + t->nbytes) continue;
        if (t->read != read) needs_quiet = true;
        if (!t->read && !read && !t->fenced) needs_fence = true;
    }
    if (needs_quiet)
        quiet(plan, actor);
    else if (needs_fence)
        fence(plan, actor);
}

static void touch(struct plan *plan, int actor, int pe, size_t offset, size_t nbytes, bool read)
{
    struct actor *a = &plan->actors[actor];
    a->touched[a->n_touched++] = (struct touched){pe, offset, nbytes, read, false};
}

/* Room in the arena; whoever has none left is quiet first. */
static size_t take(struct plan *plan, int actor, size_t nbytes)
{
    struct actor *a = &plan->actors[actor];
    if (a->arena + nbytes > ARENA) quiet(plan, actor);
    size_t at = a->arena;
    a->arena += (nbytes + 15) & ~(size_t)7; /* neighbours touch now and then */
    return at;
}

/* ---- transfers ---- */

static void choose_bytes(struct plan *plan, int actor, size_t *offset_out, size_t *nbytes_out)
{
    bool big = plan->big_owner == actor && below(plan, 8) == 0;
    size_t room = big ? BIG : LANE, n = big ? 1 + below(plan, BIG) : some_bytes(plan, room);
    size_t at = below(plan, room - n + 1);
    if (n == 8 || n == 64) at &= ~(size_t)7;
    *offset_out = (big ? big_at(plan) : lane_at(plan, actor)) + at;
    *nbytes_out = n;
}

static void write_model(struct plan *plan, int pe, size_t offset, size_t nbytes, uint64_t seed)
{
    unsigned char *to = model_of(plan, pe) + offset;
    for (size_t i = 0; i < nbytes; i++) to[i] = pattern_byte(seed, i);
}

/* What puts and gets of bytes have alike; a get is GET_BYTES. */
static struct event *make_transfer(struct plan *plan, int actor, int pe, enum act act)
{
    size_t offset, nbytes;
    choose_bytes(plan, actor, &offset, &nbytes);
    size_t local = take(plan, actor, nbytes);
    settle(plan, actor, pe, offset, nbytes, act == GET_BYTES);
    if (plan->actors[actor].arena == 0) local = take(plan, actor, nbytes); /* settling was a quiet */
    struct event *event = add(plan, act, actor);
    event->pe = pe;
    event->offset = offset;
    event->nbytes = nbytes;
    event->local = local;
    event->kind = (int)below(plan, 2);
    return event;
}

static void make_put(struct plan *plan, int actor, int pe)
{
    struct event *event = make_transfer(plan, actor, pe, PUT);
    write_model(plan, pe, event->offset, event->nbytes, event->seed);
    touch(plan, actor, pe, event->offset, event->nbytes, false);
}

static void make_get(struct plan *plan, int actor, int pe)
{
    struct event *event = make_transfer(plan, actor, pe, GET_BYTES);
    keep(plan, event, actor, pe);
    if (event->kind) touch(plan, actor, pe, event->offset, event->nbytes, true);
}

/* Bytes of a zone that nobody has used in this epoch; false: there are none. */
static bool bump(struct plan *plan, int actor, int pe, size_t nbytes, size_t *offset_out)
{
    size_t *used = &plan->actors[actor].bump[pe];
    if (*used + nbytes > BUMP) return false;
    *offset_out = bump_at(plan, actor) + *used;
    *used += nbytes;
    return true;
}

static void make_stream_put(struct plan *plan, int actor, int pe)
{
    struct actor *a = &plan->actors[actor];
    size_t nbytes = some_bytes(plan, BUMP / 4), offset;
    if (a->stream_arena + nbytes > STREAM_ARENA || !bump(plan, actor, pe, nbytes, &offset)) return;
    struct event *event = add(plan, STREAM_PUT, actor);
    event->pe = pe;
    event->offset = offset;
    event->nbytes = nbytes;
    event->local = ARENA + a->stream_arena;
    a->stream_arena += nbytes;
    write_model(plan, pe, offset, nbytes, event->seed);
}

/* ---- atomics ---- */

static uint64_t read_word(const unsigned char *at, size_t width)
{
    uint64_t value = 0;
    memcpy(&value, at, width); /* little-endian, as everything here */
    return value;
}

static uint64_t result(enum atomic op, uint64_t old, uint64_t value, uint64_t cond)
{
    switch (op) {
    case A_SET:
    case A_SWAP:
        return value;
    case A_CSWAP:
        return old == cond ? value : old;
    case A_ADD:
    case A_FETCH_ADD:
        return old + value;
    case A_INC:
    case A_FETCH_INC:
        return old + 1;
    case A_AND:
    case A_FETCH_AND:
        return old & value;
    case A_OR:
    case A_FETCH_OR:
        return old | value;
    case A_XOR:
    case A_FETCH_XOR:
        return old ^ value;
    default:
        return old;
    }
}

static void make_atomic(struct plan *plan, int actor, int pe)
{
    static const enum atomic commuting[CLASSES][4] = {{A_ADD, A_FETCH_ADD, A_INC, A_FETCH_INC},
                                                      {A_AND, A_FETCH_AND, A_AND, A_FETCH_AND},
                                                      {A_OR, A_FETCH_OR, A_OR, A_FETCH_OR},
                                                      {A_XOR, A_FETCH_XOR, A_XOR, A_FETCH_XOR}};
    bool shared = below(plan, 2);
    size_t k = below(plan, shared ? SHARED_WORDS : OWN_WORDS);
    size_t word = shared ? shared_word_at(plan, k) : own_word_at(plan, actor, k);
    size_t width = atomic_width(plan, word), class = k % CLASSES;
    enum atomic op = shared ? commuting[class][below(plan, 4)] : (enum atomic)below(plan, ATOMICS);
    if (!shared) settle(plan, actor, pe, word, width, op == A_FETCH);
    struct event *event = add(plan, ATOMIC, actor);
    unsigned char *at = model_of(plan, pe) + word;
    uint64_t old = read_word(at, width);
    event->pe = pe;
    event->word = word;
    event->kind = (int)op;
    event->shared = shared;
    event->value = next_random(&plan->state);
    if (shared && class == C_ADD) event->value >>= 44; /* the sum of an epoch does not wrap in 32 bits */
    event->cond = below(plan, 2) ? old : event->value >> 3;
    event->want = shared ? class : old;
    uint64_t now = result(op, old, event->value, width == 4 ? (uint32_t)event->cond : event->cond);
    memcpy(at, &now, width);
    bool gives = op == A_SWAP || op == A_CSWAP || op == A_FETCH_ADD || op == A_FETCH_INC ||
                 op == A_FETCH_AND || op == A_FETCH_OR || op == A_FETCH_XOR || op == A_FETCH;
    if (!shared && !gives) touch(plan, actor, pe, word, width, false);
}

/* ---- signals ---- */

static bool make_signal(struct plan *plan, int actor, int to, size_t nbytes)
{
    int pe = to / plan->n_threads;
    size_t word = signal_at(plan, actor, to % plan->n_threads), offset = 0;
    if (plan->n_waiting == sizeof plan->waiting / sizeof *plan->waiting) return false;
    if (!bump(plan, actor, pe, nbytes, &offset)) return false;
    size_t local = take(plan, actor, nbytes);
    settle(plan, actor, pe, word, 8, false);
    if (plan->actors[actor].arena == 0) local = take(plan, actor, nbytes);
    struct event *event = add(plan, SIGNAL, actor);
    uint64_t count = ++plan->actors[actor].sent[to];
    event->pe = pe;
    event->offset = offset;
    event->nbytes = nbytes;
    event->word = word;
    event->local = local;
    event->kind = (int)below(plan, 2);
    event->sig_op = below(plan, 2) ? ROCSHMEM_SIGNAL_SET : ROCSHMEM_SIGNAL_ADD;
    event->value = event->sig_op == ROCSHMEM_SIGNAL_SET ? count : 1;
    write_model(plan, pe, offset, nbytes, event->seed);
    memcpy(model_of(plan, pe) + word, &count, 8);
    touch(plan, actor, pe, word, 8, false);
    plan->waiting[plan->n_waiting++] = (struct outstanding){actor, to, count, event->seed, offset, nbytes};
    return true;
}

static void make_wait(struct plan *plan, int i)
{
    struct outstanding signal = plan->waiting[i];
    plan->waiting[i] = plan->waiting[--plan->n_waiting];
    struct event *event = add(plan, WAIT, signal.to);
    event->pe = signal.from;
    event->word = signal_at(plan, signal.from, signal.to % plan->n_threads);
    event->value = signal.count;
    event->seed = signal.seed;
    event->offset = signal.offset;
    event->nbytes = signal.nbytes;
}

/* What an actor has put to a PE, and a signal to another actor behind it: that one sees all of it, there after a fence, on any
 * PE after a quiet. Its answer is waited for. */
static void make_handshake(struct plan *plan, int actor, int to, int pe)
{
    if (pe == to / plan->n_threads)
        fence(plan, actor);
    else
        quiet(plan, actor);
    if (!make_signal(plan, actor, to, 0)) return;
    make_wait(plan, plan->n_waiting - 1);
    struct event *event = add(plan, LOOK, to);
    event->pe = pe;
    event->offset = lane_at(plan, actor);
    event->nbytes = LANE;
    keep(plan, event, to, pe);
    if (make_signal(plan, to, actor, 0)) make_wait(plan, plan->n_waiting - 1);
}

/* ---- collectives ---- */

int plan_member(const struct plan *plan, int team, int i)
{
    if (plan->team_size[team])
        return i < plan->team_size[team] ? plan->team_start[team] + i * plan->team_stride[team] : -1;
    for (int pe = 0; pe < plan->n_pes; pe++)
        if (is_near(pe) && i-- == 0) return pe;
    return -1;
}

static void make_collective(struct plan *plan)
{
    int team = (int)below(plan, TEAMS);
    enum collective kind = (enum collective)below(plan, COLLECTIVES_KINDS);
    size_t nbytes = some_bytes(plan, LANE), n = (size_t)plan->n_pes;
    if (below(plan, 20) == 0) nbytes = 70000;
    if (kind == SUM) nbytes = (nbytes + 7) & ~(size_t)7;
    size_t source = ((kind == ALLTOALL ? n : 1) * nbytes + 63) & ~(size_t)63;
    size_t dest = (n * nbytes + 63) & ~(size_t)63;
    if (plan->collectives + source + dest > COLLECTIVES) return;
    /* SHARED is another team on each host: a PE of the world is not told of its root. */
    struct event *event = add(plan, COLLECTIVE, team % plan->n_threads);
    event->pe = team;
    event->kind = (int)kind;
    event->root = plan->team_size[team] ? (int)below(plan, (size_t)plan->team_size[team]) : 0;
    event->nbytes = nbytes;
    event->offset = plan->collectives;
    event->dest = plan->collectives + source;
    plan->collectives += source + dest;
    if (kind != BARRIER) return;
    for (int pe = 0; pe < plan->n_pes; pe++) { /* a barrier is a quiet of those who are in it */
        int k = pe - plan->team_start[team], stride = plan->team_stride[team];
        if (!plan->team_size[team] || (k >= 0 && k % stride == 0 && k / stride < plan->team_size[team]))
            forget(plan, pe * plan->n_threads + team % plan->n_threads);
    }
}

/* ---- the plan ---- */

void plan_init(struct plan *plan, int n_threads, uint64_t seed)
{
    *plan = (struct plan){.n_pes = n_pes, .n_threads = n_threads, .n_actors = n_pes * n_threads};
    plan->seed = plan->state = seed;
    plan->area = signal_at(plan, plan->n_actors, 0);
    plan->model = ordinary((size_t)n_pes * plan->area);
    plan->start = ordinary((size_t)n_pes * plan->area);
    memset(plan->model, 0, (size_t)n_pes * plan->area);
    plan->actors = ordinary((size_t)plan->n_actors * sizeof *plan->actors);
    memset(plan->actors, 0, (size_t)plan->n_actors * sizeof *plan->actors);
    for (int i = 0; i < plan->n_actors; i++) {
        plan->actors[i].sent = ordinary((size_t)plan->n_actors * sizeof(uint64_t));
        memset(plan->actors[i].sent, 0, (size_t)plan->n_actors * sizeof(uint64_t));
    }
    for (int t = 0; t < TEAMS; t++) {
        plan->team_stride[t] = t < 2 ? 1 : 1 + (int)below(plan, 3);
        plan->team_start[t] = t < 2 ? 0 : (int)below(plan, (size_t)n_pes);
        int most = (n_pes - 1 - plan->team_start[t]) / plan->team_stride[t] + 1;
        plan->team_size[t] = t == 0 ? n_pes : t == 1 ? 0 : 1 + (int)below(plan, (size_t)most);
    }
}

static void free_events(struct plan *plan)
{
    for (size_t i = 0; i < plan->n_events; i++) free(plan->events[i].bytes);
    plan->n_events = 0;
}

void plan_fini(struct plan *plan)
{
    free_events(plan);
    for (int i = 0; i < plan->n_actors; i++) free(plan->actors[i].sent);
    free(plan->actors);
    free(plan->events);
    free(plan->model);
    free(plan->start);
}

void plan_epoch(struct plan *plan, int n_events)
{
    free_events(plan);
    memcpy(plan->start, plan->model, (size_t)plan->n_pes * plan->area);
    plan->collectives = 0;
    plan->big_owner = (int)below(plan, (size_t)plan->n_actors);
    for (int i = 0; i < plan->n_actors; i++) {
        forget(plan, i);
        plan->actors[i].stream_arena = 0;
        memset(plan->actors[i].bump, 0, sizeof plan->actors[i].bump);
    }
    while (plan->n_events < (size_t)n_events) {
        int actor = (int)below(plan, (size_t)plan->n_actors), to = (int)below(plan, (size_t)plan->n_actors);
        int pe = to / plan->n_threads;
        size_t dice = below(plan, 100);
        if (dice < 28)
            make_put(plan, actor, pe);
        else if (dice < 46)
            make_get(plan, actor, pe);
        else if (dice < 71)
            make_atomic(plan, actor, pe);
        else if (dice < 81)
            make_signal(plan, actor, to, below(plan, 3) ? some_bytes(plan, BUMP / 8) : 0);
        else if (dice < 87 && plan->n_waiting)
            make_wait(plan, (int)below(plan, (size_t)plan->n_waiting));
        else if (dice < 91)
            make_stream_put(plan, actor, pe);
        else if (dice < 93)
            fence(plan, actor);
        else if (dice < 95)
            quiet(plan, actor);
        else if (dice < 97)
            make_handshake(plan, actor, to, below(plan, 2) ? pe : (int)below(plan, (size_t)plan->n_pes));
        else
            make_collective(plan);
    }
    while (plan->n_waiting) make_wait(plan, plan->n_waiting - 1);
}
