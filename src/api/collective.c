/* SPDX-License-Identifier: MIT
 *
 * Blocking data collectives: checks, then pgas/collective.c and pgas/collective_reduce.c. The mem forms are
 * the typed ones with elements of a byte.
 */
#include "pgas/collective.h"
#include "api/api.h"

/* What all of them begin with; one a call, on its stack. */
struct call {
    struct rs_thread *thread;
    struct rs_job *job;
    struct rs_team *team;
    size_t nbytes, all_nbytes; /* of nelems elements; of nelems elements for each member */
    struct rs_signature signature;
    struct rs_gathering meeting; /* for who looks at calls */
};

static int size_call(struct call *c, const char *what, size_t n, size_t width)
{
    if (RS_UNLIKELY(__builtin_mul_overflow(n, width, &c->nbytes) ||
                    __builtin_mul_overflow(c->nbytes, (size_t)c->team->n_pes, &c->all_nbytes)))
        return rs_fail(RS_E_ARG, "%s %zu times %zu bytes times %d PEs overflows", what, n, width,
                       c->team->n_pes);
    return 0;
}

/* What this call writes and reads, for who looks at it. The signature is complete. */
RS_HOT int note_ranges(struct call *c, const void *dest, size_t dest_nbytes, const void *source,
                       size_t source_nbytes)
{
    if (!rs_probed(c->thread)) return 0;
    c->meeting = (struct rs_gathering){.team = c->team,
                                       .signature = &c->signature,
                                       .dest = dest,
                                       .dest_nbytes = dest_nbytes,
                                       .source = source,
                                       .source_nbytes = source_nbytes};
    return rs_probe_meet(c->thread, RS_ACCESS_MEET, &c->meeting);
}

/* The frame of a function with a status: the body is an expression of the call c that gives one. what: the
 * argument that counts n elements of width bytes. */
#define FRAME(word, kind_, handle, what, n, width_, body)                                                    \
    struct call c = {.thread = rs_enter(word)};                                                              \
    if (RS_UNLIKELY(!c.thread)) return rs_return(function);                                                  \
    c.job = rs_thread_job(c.thread);                                                                         \
    c.team = rs_team_get(c.job, handle, "team");                                                             \
    int rc = RS_E_ARG;                                                                                       \
    if (RS_LIKELY(c.team != NULL)) {                                                                         \
        c.signature = (struct rs_signature){word, kind_, c.team->id, {n, 0, 0}, width_};                     \
        rc = size_call(&c, what, n, width_);                                                                 \
        if (RS_LIKELY(rc == 0)) rc = (body);                                                                 \
        if (RS_LIKELY(rc == 0) && rs_probed(c.thread))                                                       \
            rc = rs_probe_meet(c.thread, RS_ACCESS_MET, &c.meeting);                                         \
        rs_team_put(c.team);                                                                                 \
    }                                                                                                        \
    rs_leave(c.thread, word);                                                                                \
    return RS_LIKELY(rc == 0) ? 0 : rs_return(function)

static int check(struct call *c, const void *dest, size_t dest_nbytes, const void *source,
                 size_t source_nbytes, bool may_overlap)
{
    RS_TRY(rs_check_ranges(c->thread, c->job, dest, dest_nbytes, source, source_nbytes, may_overlap));
    return note_ranges(c, dest, dest_nbytes, source, source_nbytes);
}

/* ---- broadcast, alltoall, fcollect ---- */

static int broadcast(struct call *c, void *dest, const void *source, int pe_root)
{
    if (pe_root < 0 || pe_root >= c->team->n_pes)
        return rs_bad_pe(c->job, "pe_root", pe_root, c->team->n_pes);
    c->signature.arg[1] = (uint64_t)pe_root;
    RS_TRY(check(c, dest, c->nbytes, source, c->nbytes, true));
    return rs_collective_broadcast(c->team, &c->signature, dest, source, c->nbytes, pe_root);
}

static int alltoall(struct call *c, void *dest, const void *source)
{
    RS_TRY(check(c, dest, c->all_nbytes, source, c->all_nbytes, false));
    return rs_collective_alltoall(c->team, &c->signature, dest, source, c->nbytes);
}

static int fcollect(struct call *c, void *dest, const void *source)
{
    RS_TRY(check(c, dest, c->all_nbytes, source, c->nbytes, false));
    return rs_collective_fcollect(c->team, &c->signature, dest, source, c->nbytes);
}

static int broadcast_call(const char *function, uint32_t word, rocshmem_team_t team, void *dest,
                          const void *source, size_t nelems, size_t width, int pe_root)
{
    FRAME(word, RS_KIND_BROADCAST, team, "nelems", nelems, width, broadcast(&c, dest, source, pe_root));
}

static int alltoall_call(const char *function, uint32_t word, rocshmem_team_t team, void *dest,
                         const void *source, size_t nelems, size_t width)
{
    FRAME(word, RS_KIND_ALLTOALL, team, "nelems", nelems, width, alltoall(&c, dest, source));
}

static int fcollect_call(const char *function, uint32_t word, rocshmem_team_t team, void *dest,
                         const void *source, size_t nelems, size_t width)
{
    FRAME(word, RS_KIND_FCOLLECT, team, "nelems", nelems, width, fcollect(&c, dest, source));
}

/* ---- alltoalls ---- */

/* Bytes from the first element of all blocks to the end of the last. */
static int extent(const struct call *c, const char *what, ptrdiff_t stride, size_t *step_out,
                  size_t *nbytes_out)
{
    size_t width = c->signature.width, n = c->all_nbytes / width;
    if (stride < 1) return rs_fail(RS_E_ARG, "%s %td is no stride; it must be 1 or more", what, stride);
    *nbytes_out = 0;
    if (__builtin_mul_overflow((size_t)stride, width, step_out) ||
        (n > 0 && (__builtin_mul_overflow(*step_out, n - 1, nbytes_out) ||
                   __builtin_add_overflow(*nbytes_out, width, nbytes_out))))
        return rs_fail(RS_E_ARG, "%s %td times %zu elements overflows", what, stride, n);
    return 0;
}

/* Two rows of elements that lie between each other, without one in common. */
static bool interleaved(const struct rs_strided *s)
{
    size_t apart = (uintptr_t)s->dest > (uintptr_t)s->source ? (uintptr_t)s->dest - (uintptr_t)s->source
                                                             : (uintptr_t)s->source - (uintptr_t)s->dest;
    size_t phase = apart % s->dest_step;
    return s->dest_step == s->source_step && phase >= s->width && phase <= s->dest_step - s->width;
}

static int alltoalls(struct call *c, struct rs_strided s, ptrdiff_t dst, ptrdiff_t sst)
{
    size_t dest_nbytes = 0, source_nbytes = 0;
    RS_TRY(extent(c, "dst", dst, &s.dest_step, &dest_nbytes));
    RS_TRY(extent(c, "sst", sst, &s.source_step, &source_nbytes));
    c->signature.arg[1] = (uint64_t)dst;
    c->signature.arg[2] = (uint64_t)sst;
    RS_TRY(check(c, s.dest, dest_nbytes, s.source, source_nbytes, interleaved(&s)));
    return rs_collective_alltoalls(c->team, &c->signature, &s);
}

static int alltoalls_call(const char *function, uint32_t word, rocshmem_team_t team, void *dest,
                          const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t width)
{
    struct rs_strided s = {.dest = dest, .source = source, .n = nelems, .width = width};
    FRAME(word, RS_KIND_ALLTOALLS, team, "nelems", nelems, width, alltoalls(&c, s, dst, sst));
}

/* ---- collect ---- */

/* Bytes from dest to the end of its allocation, or to source when that comes first. */
static size_t room_of(struct call *c, const void *dest, const void *source)
{
    if (!rs_symmetric(c->thread, c->job, dest, 1)) return 0;
    const struct rs_hit *hit = &c->thread->hit[0];
    size_t room = hit->base + hit->nbytes - (uintptr_t)dest;
    uintptr_t to = (uintptr_t)dest, from = (uintptr_t)source;
    bool overlap = c->nbytes > 0 && from < to + room && to < from + c->nbytes;
    return overlap ? (from > to ? from - to : 0) : room;
}

static int collect(struct call *c, void *dest, const void *source)
{
    c->signature.arg[0] = 0; /* counts may differ */
    struct rs_collect collect = {
        .dest = dest, .source = source, .nbytes = c->nbytes, .room_nbytes = room_of(c, dest, source)};
    collect.source_is_symmetric = rs_symmetric(c->thread, c->job, source, c->nbytes);
    RS_TRY(note_ranges(c, dest, 0, source,
                       collect.source_is_symmetric ? c->nbytes : 0)); /* the room is not all written */
    return rs_collective_collect(c->team, &c->signature, &collect);
}

static int collect_call(const char *function, uint32_t word, rocshmem_team_t team, void *dest,
                        const void *source, size_t nelems, size_t width)
{
    FRAME(word, RS_KIND_COLLECT, team, "nelems", nelems, width, collect(&c, dest, source));
}

/* ---- the functions that move data ---- */

int rocshmem_broadcastmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems, int pe_root)
{
    return broadcast_call(__func__, RS_CALL_BROADCASTMEM, team, dest, source, nelems, 1, pe_root);
}

int rocshmem_alltoallmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems)
{
    return alltoall_call(__func__, RS_CALL_ALLTOALLMEM, team, dest, source, nelems, 1);
}

int rocshmem_alltoallsmem(rocshmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
                          size_t nelems)
{
    return alltoalls_call(__func__, RS_CALL_ALLTOALLSMEM, team, dest, source, dst, sst, nelems, 1);
}

int rocshmem_collectmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems)
{
    return collect_call(__func__, RS_CALL_COLLECTMEM, team, dest, source, nelems, 1);
}

int rocshmem_fcollectmem(rocshmem_team_t team, void *dest, const void *source, size_t nelems)
{
    return fcollect_call(__func__, RS_CALL_FCOLLECTMEM, team, dest, source, nelems, 1);
}

#define WORD(CALL, name) RS_CALL_TYPED(RS_CALL_##CALL, RS_TYPE_##name)
#define MOVING(name, T, ...)                                                                                 \
    int rocshmem_##name##_broadcast(rocshmem_team_t team, T *dest, const T *source, size_t nelems,           \
                                    int pe_root)                                                             \
    {                                                                                                        \
        return broadcast_call(__func__, WORD(BROADCAST, name), team, dest, source, nelems, sizeof(T),        \
                              pe_root);                                                                      \
    }                                                                                                        \
    int rocshmem_##name##_alltoall(rocshmem_team_t team, T *dest, const T *source, size_t nelems)            \
    {                                                                                                        \
        return alltoall_call(__func__, WORD(ALLTOALL, name), team, dest, source, nelems, sizeof(T));         \
    }                                                                                                        \
    int rocshmem_##name##_alltoalls(rocshmem_team_t team, T *dest, const T *source, ptrdiff_t dst,           \
                                    ptrdiff_t sst, size_t nelems)                                            \
    {                                                                                                        \
        return alltoalls_call(__func__, WORD(ALLTOALLS, name), team, dest, source, dst, sst, nelems,         \
                              sizeof(T));                                                                    \
    }                                                                                                        \
    int rocshmem_##name##_collect(rocshmem_team_t team, T *dest, const T *source, size_t nelems)             \
    {                                                                                                        \
        return collect_call(__func__, WORD(COLLECT, name), team, dest, source, nelems, sizeof(T));           \
    }                                                                                                        \
    int rocshmem_##name##_fcollect(rocshmem_team_t team, T *dest, const T *source, size_t nelems)            \
    {                                                                                                        \
        return fcollect_call(__func__, WORD(FCOLLECT, name), team, dest, source, nelems, sizeof(T));         \
    }
ROCSHMEM_RMA_TYPES(MOVING, )
#undef MOVING

/* ---- reductions ---- */

static int reduce(struct call *c, void *dest, const void *source, enum rs_type type, int op)
{
    size_t n = c->signature.arg[0];
    c->signature.arg[1] = type;
    c->signature.arg[2] = (uint64_t)op;
    RS_TRY(check(c, dest, c->nbytes, source, c->nbytes, dest == source));
    return rs_collective_reduce(c->team, &c->signature, dest, source, n, type, op);
}

static int reduce_scatter(struct call *c, void *dest, const void *source, enum rs_type type, int op)
{
    size_t n = c->signature.arg[0];
    bool in_place = dest == source || dest == (const char *)source + (size_t)c->team->my_pe * c->nbytes;
    c->signature.arg[1] = type;
    c->signature.arg[2] = (uint64_t)op;
    RS_TRY(check(c, dest, c->nbytes, source, c->all_nbytes, in_place));
    return rs_collective_reduce_scatter(c->team, &c->signature, dest, source, n, type, op);
}

static int reduce_call(const char *function, rocshmem_team_t team, void *dest, const void *source,
                       size_t nreduce, enum rs_type type, int op)
{
    uint32_t word = RS_CALL_REDUCTION(RS_CALL_REDUCE, type, op);
    FRAME(word, RS_KIND_REDUCE, team, "nreduce", nreduce, rs_type_nbytes(type),
          reduce(&c, dest, source, type, op));
}

static int reduce_scatter_call(const char *function, rocshmem_team_t team, void *dest, const void *source,
                               size_t nreduce, enum rs_type type, int op)
{
    uint32_t word = RS_CALL_REDUCTION(RS_CALL_REDUCE_SCATTER, type, op);
    FRAME(word, RS_KIND_REDUCE_SCATTER, team, "nreduce", nreduce, rs_type_nbytes(type),
          reduce_scatter(&c, dest, source, type, op));
}

#define REDUCING(name, T, op)                                                                                \
    int rocshmem_##name##_##op##_reduce(rocshmem_team_t team, T *dest, const T *source, size_t nreduce)      \
    {                                                                                                        \
        return reduce_call(__func__, team, dest, source, nreduce, RS_TYPE_##name, RS_OP_##op);               \
    }                                                                                                        \
    int rocshmem_##name##_##op##_reduce_scatter(rocshmem_team_t team, T *dest, const T *source,              \
                                                size_t nreduce)                                              \
    {                                                                                                        \
        return reduce_scatter_call(__func__, team, dest, source, nreduce, RS_TYPE_##name, RS_OP_##op);       \
    }
ROCSHMEM_REDUCTIONS(REDUCING)
#undef REDUCING
