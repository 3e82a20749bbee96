/* SPDX-License-Identifier: MIT
 *
 * Random programs of all PEs, against a model of every byte: see model.h. The seed is printed; CONFORMANCE_SEED repeats one.
 */
#include "model.h"

#include <time.h>
#include <unistd.h>

enum { EPOCHS = 12, EVENTS = 60 /* an actor's, in an epoch */ };

struct runner {
    struct plan *plan;
    unsigned char *area, *collectives;
    unsigned char *arenas[THREADS_MAX];
    void *streams[THREADS_MAX];
    int epoch;
};

#define WRONG(run, event, ...)                                                                               \
    do {                                                                                                     \
        char words_[200];                                                                                    \
        snprintf(words_, sizeof words_, __VA_ARGS__);                                                        \
        FAIL("CONFORMANCE_SEED=%llu, epoch %d, event %d: %s", (unsigned long long)(run)->plan->seed,         \
             (run)->epoch, (int)((event) - (run)->plan->events), words_);                                    \
    } while (0)

/* The first byte that differs; nbytes: none. */
static size_t differs(const unsigned char *got, const unsigned char *want, size_t nbytes)
{
    if (memcmp(got, want, nbytes) == 0) return nbytes;
    size_t i = 0;
    while (got[i] == want[i]) i++;
    return i;
}

static void check(struct runner *run, const struct event *event, const char *what, const unsigned char *got,
                  const unsigned char *want, size_t nbytes)
{
    size_t i = differs(got, want, nbytes);
    if (i < nbytes)
        WRONG(run, event, "%s: byte %zu of %zu is 0x%02x, not 0x%02x", what, i, nbytes, got[i], want[i]);
}

/* ---- atomics ---- */

#define DEFINE_ATOMIC(name, T)                                                                               \
    static uint64_t atomic_##name(enum atomic op, T *word, T value, T cond, int pe)                          \
    {                                                                                                        \
        switch (op) {                                                                                        \
        case A_SWAP:                                                                                         \
            return rocshmem_##name##_atomic_swap(word, value, pe);                                           \
        case A_CSWAP:                                                                                        \
            return rocshmem_##name##_atomic_compare_swap(word, cond, value, pe);                             \
        case A_FETCH_ADD:                                                                                    \
            return rocshmem_##name##_atomic_fetch_add(word, value, pe);                                      \
        case A_FETCH_INC:                                                                                    \
            return rocshmem_##name##_atomic_fetch_inc(word, pe);                                             \
        case A_FETCH_AND:                                                                                    \
            return rocshmem_##name##_atomic_fetch_and(word, value, pe);                                      \
        case A_FETCH_OR:                                                                                     \
            return rocshmem_##name##_atomic_fetch_or(word, value, pe);                                       \
        case A_FETCH_XOR:                                                                                    \
            return rocshmem_##name##_atomic_fetch_xor(word, value, pe);                                      \
        case A_FETCH:                                                                                        \
            return rocshmem_##name##_atomic_fetch(word, pe);                                                 \
        case A_SET:                                                                                          \
            rocshmem_##name##_atomic_set(word, value, pe);                                                   \
            return 0;                                                                                        \
        case A_ADD:                                                                                          \
            rocshmem_##name##_atomic_add(word, value, pe);                                                   \
            return 0;                                                                                        \
        case A_INC:                                                                                          \
            rocshmem_##name##_atomic_inc(word, pe);                                                          \
            return 0;                                                                                        \
        case A_AND:                                                                                          \
            rocshmem_##name##_atomic_and(word, value, pe);                                                   \
            return 0;                                                                                        \
        case A_OR:                                                                                           \
            rocshmem_##name##_atomic_or(word, value, pe);                                                    \
            return 0;                                                                                        \
        default:                                                                                             \
            rocshmem_##name##_atomic_xor(word, value, pe);                                                   \
            return 0;                                                                                        \
        }                                                                                                    \
    }
DEFINE_ATOMIC(uint64, uint64_t)
DEFINE_ATOMIC(uint32, uint32_t)

static bool gives(enum atomic op)
{
    return op != A_SET && op != A_ADD && op != A_INC && op != A_AND && op != A_OR && op != A_XOR;
}

/* May a word that began the epoch as start and ends it as end have been this in between? */
static bool in_between(enum class class, uint64_t start, uint64_t got, uint64_t end, uint64_t mask)
{
    switch (class) {
    case C_ADD:
        return ((got - start) & mask) <= ((end - start) & mask);
    case C_AND:
        return (got & ~start) == 0 && (end & ~got) == 0;
    case C_OR:
        return (start & ~got) == 0 && (got & ~end) == 0;
    default:
        return true;
    }
}

static void do_atomic(struct runner *run, const struct event *event)
{
    struct plan *plan = run->plan;
    enum atomic op = (enum atomic)event->kind;
    void *word = run->area + event->word;
    bool wide = atomic_width(plan, event->word) == 8;
    uint64_t got = wide ? atomic_uint64(op, word, event->value, event->cond, event->pe)
                        : atomic_uint32(op, word, (uint32_t)event->value, (uint32_t)event->cond, event->pe);
    if (!gives(op)) return;
    size_t at = (size_t)event->pe * plan->area + event->word;
    uint64_t start = 0, end = 0;
    memcpy(&start, plan->start + at, wide ? 8 : 4);
    memcpy(&end, plan->model + at, wide ? 8 : 4);
    bool right = event->shared
                     ? in_between((enum class)event->want, start, got, end, wide ? UINT64_MAX : UINT32_MAX)
                     : got == event->want;
    if (!right)
        WRONG(run, event, "atomic %d on PE %d gave 0x%llx; it was 0x%llx%s", event->kind, event->pe,
              (unsigned long long)got, (unsigned long long)(event->shared ? start : event->want),
              event->shared ? " at first" : "");
}

/* ---- collectives ---- */

static uint64_t seed_of(const struct event *event, int pe)
{
    return event->seed * 64 + (uint64_t)pe;
}

/* What a PE's part of a collective must have come to, in want. Returns how many bytes. */
static size_t expect(const struct plan *plan, const struct event *event, int mine, unsigned char *want)
{
    size_t n = event->nbytes, at = 0;
    if (event->kind == BROADCAST) {
        int root = plan_member(plan, event->pe, event->root);
        for (size_t i = 0; i < n; i++) want[i] = pattern_byte(seed_of(event, root), i);
        return n;
    }
    if (event->kind == SUM) memset(want, 0, n);
    for (int j = 0, pe; (pe = plan_member(plan, event->pe, j)) >= 0; j++) {
        uint64_t seed = seed_of(event, pe);
        size_t from = event->kind == ALLTOALL ? (size_t)mine * n : 0;
        size_t length = event->kind == COLLECT ? n - (size_t)j % n : n;
        if (event->kind != SUM) {
            for (size_t i = 0; i < length; i++) want[at++] = pattern_byte(seed, from + i);
            continue;
        }
        for (size_t i = 0; i < n; i += 8) {
            uint64_t sum, word;
            unsigned char bytes[8];
            for (size_t k = 0; k < 8; k++) bytes[k] = pattern_byte(seed, i + k);
            memcpy(&sum, want + i, 8);
            memcpy(&word, bytes, 8);
            sum += word;
            memcpy(want + i, &sum, 8);
        }
    }
    return event->kind == SUM ? n : at;
}

static int call(const struct event *event, rocshmem_team_t team, void *dest, void *source, int mine)
{
    size_t n = event->nbytes;
    switch ((enum collective)event->kind) {
    case BARRIER:
        rocshmem_barrier(team);
        return 0;
    case SYNC:
        return rocshmem_team_sync(team);
    case BROADCAST:
        return rocshmem_broadcastmem(team, dest, source, n, event->root);
    case FCOLLECT:
        return rocshmem_fcollectmem(team, dest, source, n);
    case COLLECT:
        return rocshmem_collectmem(team, dest, source, n - (size_t)mine % n);
    case ALLTOALL:
        return rocshmem_alltoallmem(team, dest, source, n);
    default:
        return rocshmem_uint64_sum_reduce(team, dest, source, n / 8);
    }
}

static void do_collective(struct runner *run, const struct event *event)
{
    struct plan *plan = run->plan;
    int mine = 0, pe;
    while ((pe = plan_member(plan, event->pe, mine)) >= 0 && pe != me) mine++;
    if (pe < 0) return;
    unsigned char *source = run->collectives + event->offset, *dest = run->collectives + event->dest;
    bool data = event->kind != BARRIER && event->kind != SYNC;
    if (data) fill(source, (event->kind == ALLTOALL ? (size_t)n_pes : 1) * event->nbytes, seed_of(event, me));
    int rc = call(event, plan->teams[event->pe], dest, source, mine);
    if (rc != 0) WRONG(run, event, "collective %d of team %d gave %d", event->kind, event->pe, rc);
    if (!data || rc != 0) return;
    unsigned char *want = ordinary((size_t)n_pes * event->nbytes);
    size_t nbytes = expect(plan, event, mine, want);
    unsigned char *got = copy_of(dest, nbytes);
    char what[60];
    snprintf(what, sizeof what, "collective %d of team %d", event->kind, event->pe);
    check(run, event, what, got, want, nbytes);
    free(got);
    free(want);
}

/* ---- the others ---- */

static void look_at(struct runner *run, const struct event *event, int pe, const char *what,
                    const unsigned char *want)
{
    unsigned char *got = ordinary(event->nbytes);
    if (pe == me)
        heap_read(got, run->area + event->offset, event->nbytes);
    else
        rocshmem_getmem(got, run->area + event->offset, event->nbytes, pe);
    check(run, event, what, got, want, event->nbytes);
    free(got);
}

static uint64_t read_8(const unsigned char *from)
{
    uint64_t word;
    memcpy(&word, from, 8);
    return word;
}

static void do_put(struct runner *run, const struct event *event, unsigned char *local)
{
    void *dest = run->area + event->offset;
    fill(local, event->nbytes, event->seed);
    if (event->kind)
        rocshmem_putmem_nbi(dest, local, event->nbytes, event->pe);
    else if (event->nbytes == 8 && (uintptr_t)dest % 8 == 0)
        rocshmem_uint64_p(dest, read_8(local), event->pe);
    else
        rocshmem_putmem(dest, local, event->nbytes, event->pe);
    if (!event->kind) fill_byte(local, event->nbytes, 0xee); /* source may be reused */
}

static void do_signal(struct runner *run, const struct event *event, unsigned char *local)
{
    void *dest = run->area + event->offset, *word = run->area + event->word;
    fill(local, event->nbytes, event->seed);
    if (event->kind) {
        rocshmem_putmem_signal_nbi(dest, local, event->nbytes, word, event->value, event->sig_op, event->pe);
        return;
    }
    rocshmem_putmem_signal(dest, local, event->nbytes, word, event->value, event->sig_op, event->pe);
    fill_byte(local, event->nbytes, 0xee);
}

static void do_wait(struct runner *run, const struct event *event)
{
    unsigned char *want = ordinary(event->nbytes);
    for (size_t i = 0; i < event->nbytes; i++) want[i] = pattern_byte(event->seed, i);
    rocshmem_signal_wait_until((uint64_t *)(void *)(run->area + event->word), ROCSHMEM_CMP_GE, event->value);
    look_at(run, event, me, "what was put with a signal", want);
    free(want);
}

/* What nbi gets have brought. */
static void check_gets(struct runner *run, const struct event **gets, int *n_gets, const unsigned char *arena)
{
    for (int i = 0; i < *n_gets; i++)
        check(run, gets[i], "a get, after quiet", arena + gets[i]->local, gets[i]->bytes, gets[i]->nbytes);
    *n_gets = 0;
}

static void run_actor(void *arg, int thread)
{
    struct runner *run = arg;
    const struct plan *plan = run->plan;
    const struct event *gets[sizeof((struct actor *)0)->touched / sizeof(struct touched)];
    int n_gets = 0;
    unsigned char *arena = run->arenas[thread];
    uint64_t state = plan->seed + (uint64_t)(me * THREADS_MAX + thread);
    for (size_t i = 0; i < plan->n_events; i++) {
        const struct event *event = &plan->events[i];
        bool mine = event->actor == (event->act == COLLECTIVE ? thread : me * plan->n_threads + thread);
        if (!mine) continue;
        unsigned char *local = arena + event->local;
        void *there = run->area + event->offset;
        if (event->act == PUT) {
            do_put(run, event, local);
        } else if (event->act == GET_BYTES && event->kind) {
            rocshmem_getmem_nbi(local, there, event->nbytes, event->pe);
            gets[n_gets++] = event;
        } else if (event->act == GET_BYTES) {
            rocshmem_getmem(local, there, event->nbytes, event->pe);
            check(run, event, "a get", local, event->bytes, event->nbytes);
        } else if (event->act == STREAM_PUT) {
            fill(local, event->nbytes, event->seed);
            rocshmem_putmem_on_stream(there, local, event->nbytes, event->pe, run->streams[thread]);
        } else if (event->act == FENCE) {
            rocshmem_fence();
        } else if (event->act == QUIET) {
            rocshmem_quiet();
            check_gets(run, gets, &n_gets, arena);
        } else if (event->act == ATOMIC) {
            do_atomic(run, event);
        } else if (event->act == SIGNAL) {
            do_signal(run, event, local);
        } else if (event->act == WAIT) {
            do_wait(run, event);
        } else if (event->act == LOOK) {
            look_at(run, event, event->pe, "a lane, behind a fence or a quiet and a signal", event->bytes);
        } else {
            do_collective(run, event);
            /* A barrier is a quiet of its members, and the plan takes it for one. */
            if (event->kind == BARRIER && rocshmem_team_my_pe(plan->teams[event->pe]) >= 0)
                check_gets(run, gets, &n_gets, arena);
        }
        dawdle(&state);
    }
    rocshmem_quiet_on_stream(run->streams[thread]);
    if (rocshmemx_stream_synchronize(run->streams[thread]) != 0) FAIL("the stream failed");
    rocshmem_quiet();
    check_gets(run, gets, &n_gets, arena);
}

/* ---- the program ---- */

/* This PE's area, and, through the network where that is one, another's. */
static void check_area(struct runner *run, int pe)
{
    const struct plan *plan = run->plan;
    unsigned char *got = ordinary(plan->area);
    if (pe == me)
        heap_read(got, run->area, plan->area);
    else
        rocshmem_getmem(got, run->area, plan->area, pe);
    size_t i = differs(got, plan->model + (size_t)pe * plan->area, plan->area);
    if (i < plan->area)
        FAIL("CONFORMANCE_SEED=%llu, epoch %d: byte %zu of PE %d is 0x%02x, not 0x%02x (lanes end at %zu, "
             "zones at %zu, "
             "large ones at %zu, words at %zu)",
             (unsigned long long)plan->seed, run->epoch, i, pe, got[i],
             plan->model[(size_t)pe * plan->area + i], bump_at(plan, 0), big_at(plan),
             own_word_at(plan, 0, 0), signal_at(plan, 0, 0));
    free(got);
}

static uint64_t choose_seed(void)
{
    const char *given = getenv("CONFORMANCE_SEED");
    uint64_t *words = symmetric(16);
    uint64_t seed =
        given && *given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 100003u + (uint64_t)getpid();
    SET(&words[1], seed);
    rocshmem_barrier_all();
    CHECK_EQ(rocshmem_uint64_broadcast(ROCSHMEM_TEAM_WORLD, &words[0], &words[1], 1, 0), 0);
    seed = GET(&words[0]);
    rocshmem_barrier_all();
    rocshmem_free(words);
    if (me == 0) printf("model: CONFORMANCE_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

static void run_program(int n_threads)
{
    struct plan plan;
    plan_init(&plan, n_threads, choose_seed());
    struct runner run = {.plan = &plan, .area = symmetric(plan.area), .collectives = symmetric(COLLECTIVES)};
    for (int t = 0; t < n_threads; t++) {
        run.arenas[t] = ordinary(ARENA + STREAM_ARENA);
        CHECK_EQ(rocshmemx_stream_create(&run.streams[t]), 0);
    }
    plan.teams[0] = ROCSHMEM_TEAM_WORLD;
    plan.teams[1] = ROCSHMEM_TEAM_SHARED;
    for (int t = 2; t < TEAMS; t++)
        CHECK_EQ(rocshmem_team_split_strided(ROCSHMEM_TEAM_WORLD, plan.team_start[t], plan.team_stride[t],
                                             plan.team_size[t], NULL, 0, &plan.teams[t]),
                 0);
    rocshmem_barrier_all();
    for (run.epoch = 0; run.epoch < EPOCHS; run.epoch++) {
        plan_epoch(&plan, EVENTS * plan.n_actors);
        if (n_threads > 1)
            run_threads(n_threads, run_actor, &run);
        else
            run_actor(&run, 0);
        rocshmem_barrier_all();
        check_area(&run, me);
        check_area(&run, (int)random_below(&plan.state, (size_t)n_pes));
        rocshmem_barrier_all();
    }
    for (int t = 2; t < TEAMS; t++) rocshmem_team_destroy(plan.teams[t]);
    for (int t = 0; t < n_threads; t++) {
        free(run.arenas[t]);
        CHECK_EQ(rocshmemx_stream_destroy(run.streams[t]), 0);
    }
    rocshmem_free(run.area);
    rocshmem_free(run.collectives);
    plan_fini(&plan);
}

static void one_thread(void)
{
    run_program(1);
}

static void two_threads(void)
{
    run_program(2);
}

static const struct test_case model_cases[] = {
    {"random_programs_leave_every_byte_as_a_model_has_it", one_thread, 0},
    {"random_programs_of_two_threads_a_pe_do_too", two_threads, 0},
};
CHAPTER(model);
