/* SPDX-License-Identifier: MIT
 *
 * Operations in the order of a stream. Everything is checked before anything is enqueued.
 */
#include "api/api.h"
#include "base/log.h"
#include "pgas/collective.h"
#include "pgas/deadlock.h"

/* The frame of a void function: enter, body, leave, raise. */
#define FRAME(CALL, body)                                                                                    \
    struct rs_thread *t = rs_enter(RS_CALL_##CALL);                                                          \
    if (RS_UNLIKELY(!t)) {                                                                                   \
        rs_raise(__func__);                                                                                  \
        return;                                                                                              \
    }                                                                                                        \
    int rc = (body);                                                                                         \
    rs_leave(t, RS_CALL_##CALL);                                                                             \
    if (RS_UNLIKELY(rc < 0)) rs_raise(__func__)

static __attribute__((cold)) int tell(struct rs_thread *t, struct rs_access access, void *stream)
{
    access.on_stream = true;
    access.stream = stream;
    return rs_probe_access(&t->probe, &access);
}
#define TELL(...)                                                                                            \
    do {                                                                                                     \
        if (rs_probed(t)) RS_TRY(tell(t, (struct rs_access){__VA_ARGS__}, stream));                          \
    } while (0)

static int put(struct rs_thread *t, void *dest, const void *source, size_t nelems, int pe, void *stream)
{
    struct rs_job *job = rs_thread_job(t);
    RS_TRY(rs_check_transfer(t, job, "dest", dest, "source", source, nelems, pe));
    TELL(.kind = RS_ACCESS_PUT, .pe = pe, .remote = dest, .remote_nbytes = nelems, .local = source,
         .local_nbytes = nelems);
    const struct rs_route *route = &job->routes[pe];
    RS_TRY(nelems ? route->ops->put_on_stream(route, stream, dest, source, nelems)
                  : job->device.ops->query(&job->device,
                                           stream)); /* an unknown stream is an error all the same */
    rs_count(&t->counters.peers[pe].puts, 1);
    rs_count(&t->counters.peers[pe].put_nbytes, nelems);
    return 0;
}

static int get(struct rs_thread *t, void *dest, const void *source, size_t nelems, int pe, void *stream)
{
    struct rs_job *job = rs_thread_job(t);
    RS_TRY(rs_check_transfer(t, job, "source", source, "dest", dest, nelems, pe));
    TELL(.kind = RS_ACCESS_GET, .pe = pe, .remote = source, .remote_nbytes = nelems, .local = dest,
         .local_nbytes = nelems);
    const struct rs_route *route = &job->routes[pe];
    RS_TRY(nelems ? route->ops->get_on_stream(route, stream, dest, source, nelems)
                  : job->device.ops->query(&job->device, stream));
    rs_count(&t->counters.peers[pe].gets, 1);
    rs_count(&t->counters.peers[pe].get_nbytes, nelems);
    return 0;
}

static int put_signal(struct rs_thread *t, void *dest, const void *source, size_t nelems, uint64_t *sig_addr,
                      uint64_t signal, int sig_op, int pe, void *stream)
{
    struct rs_job *job = rs_thread_job(t);
    RS_TRY(rs_check_sig_op(sig_op));
    RS_TRY(rs_check_word(t, job, "sig_addr", sig_addr, sizeof *sig_addr, pe));
    RS_TRY(rs_check_transfer(t, job, "dest", dest, "source", source, nelems, pe));
    TELL(.kind = RS_ACCESS_PUT, .pe = pe, .remote = dest, .remote_nbytes = nelems, .local = source,
         .local_nbytes = nelems, .signal = sig_addr, .signal_value = signal,
         .signal_adds = sig_op == ROCSHMEM_SIGNAL_ADD);
    const struct rs_route *route = &job->routes[pe];
    if (nelems && route->ops->put_signal_on_stream) {
        RS_TRY(
            route->ops->put_signal_on_stream(route, stream, dest, source, nelems, sig_addr, signal, sig_op));
    } else {
        if (nelems) RS_TRY(route->ops->put_on_stream(route, stream, dest, source, nelems));
        RS_TRY(route->ops->signal_on_stream(route, stream, sig_addr, signal, sig_op));
    }
    rs_count(&t->counters.peers[pe].puts, 1);
    rs_count(&t->counters.peers[pe].put_nbytes, nelems);
    return 0;
}

static int wait_until(struct rs_thread *t, uint64_t *sig_addr, int cmp, uint64_t cmp_value, void *stream)
{
    struct rs_job *job = rs_thread_job(t);
    RS_TRY(rs_check_cmp(cmp));
    RS_TRY(rs_check_word(t, job, "sig_addr", sig_addr, sizeof *sig_addr, job->my_pe));
    TELL(.kind = RS_ACCESS_SEEN, .pe = -1, .local = sig_addr, .local_nbytes = sizeof *sig_addr);
    struct rs_memop op = {.kind = RS_MEMOP_WAIT,
                          .cmp = cmp,
                          .exact = job->config.signal_exact,
                          .word = sig_addr,
                          .value = cmp_value};
    return job->device.ops->batch(&job->device, stream, &op, 1);
}

void rocshmem_putmem_on_stream(void *dest, const void *source, size_t nelems, int pe, void *stream)
{
    FRAME(PUTMEM_ON_STREAM, put(t, dest, source, nelems, pe, stream));
}

void rocshmem_getmem_on_stream(void *dest, const void *source, size_t nelems, int pe, void *stream)
{
    FRAME(GETMEM_ON_STREAM, get(t, dest, source, nelems, pe, stream));
}

void rocshmem_putmem_signal_on_stream(void *dest, const void *source, size_t nelems, uint64_t *sig_addr,
                                      uint64_t signal, int sig_op, int pe, void *stream)
{
    FRAME(PUTMEM_SIGNAL_ON_STREAM, put_signal(t, dest, source, nelems, sig_addr, signal, sig_op, pe, stream));
}

void rocshmem_signal_wait_until_on_stream(uint64_t *sig_addr, int cmp, uint64_t cmp_value, void *stream)
{
    FRAME(SIGNAL_WAIT_ON_STREAM, wait_until(t, sig_addr, cmp, cmp_value, stream));
}

/* Streams keep their order, and what this host's devices copy is there when the stream goes on; so nothing is
 * left to complete, on a stream that exists. */
static int quiet(struct rs_thread *t, void *stream)
{
    struct rs_device *device = &rs_thread_job(t)->device;
    int rc = device->ops->query(device, stream);
    if (RS_UNLIKELY(rc < 0)) return rc;
    TELL(.kind = RS_ACCESS_QUIET, .pe = -1, .ctx = RS_CTX_DEFAULT);
    return 0;
}

static int signal_word(struct rs_thread *t, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
                       void *stream)
{
    struct rs_job *job = rs_thread_job(t);
    RS_TRY(rs_check_word(t, job, "sig_addr", sig_addr, sizeof *sig_addr, pe));
    TELL(.kind = RS_ACCESS_SIGNAL, .pe = pe, .signal = sig_addr, .signal_value = signal,
         .signal_adds = sig_op == ROCSHMEM_SIGNAL_ADD);
    const struct rs_route *route = &job->routes[pe];
    RS_TRY(route->ops->signal_on_stream(route, stream, sig_addr, signal, sig_op));
    rs_count(&t->counters.peers[pe].amos, 1);
    return 0;
}

void rocshmem_quiet_on_stream(void *stream)
{
    FRAME(QUIET_ON_STREAM, quiet(t, stream));
}

void rocshmem_signal_set_on_stream(uint64_t *sig_addr, uint64_t signal, int pe, void *stream)
{
    FRAME(SIGNAL_SET_ON_STREAM, signal_word(t, sig_addr, signal, ROCSHMEM_SIGNAL_SET, pe, stream));
}

void rocshmem_signal_add_on_stream(uint64_t *sig_addr, uint64_t signal, int pe, void *stream)
{
    FRAME(SIGNAL_ADD_ON_STREAM, signal_word(t, sig_addr, signal, ROCSHMEM_SIGNAL_ADD, pe, stream));
}

/* ---- collectives ---- */

/* A collective is enqueued, when what came before went well (rc 0): told before and after. */
#define ENQUEUE(rc, body, ...)                                                                               \
    do {                                                                                                     \
        const struct rs_gathering m = {                                                                      \
            .team = team, .signature = &signature, .on_stream = true, .stream = stream, __VA_ARGS__};        \
        if ((rc) == 0 && rs_probed(t)) (rc) = rs_probe_meet(t, RS_ACCESS_MEET, &m);                          \
        if ((rc) == 0) (rc) = (body);                                                                        \
        if ((rc) == 0 && rs_probed(t)) (rc) = rs_probe_meet(t, RS_ACCESS_MET, &m);                           \
    } while (0)

static int meet(struct rs_thread *t, uint32_t call, enum rs_kind kind, rocshmem_team_t handle, void *stream)
{
    if (handle == ROCSHMEM_TEAM_INVALID) return 0;
    struct rs_team *team = rs_team_get(rs_thread_job(t), handle, "team");
    if (!team) return RS_E_ARG;
    struct rs_signature signature = {.call = call, .kind = kind, .team = team->id};
    int rc = 0;
    ENQUEUE(rc, rs_stream_barrier(team, &signature, stream), .dest = NULL);
    rs_team_put(team);
    return rc;
}

/* alltoall and fcollect: n_pes blocks of nbytes come, and as many go, or one. what: the argument that is nbytes. */
static int blocks(struct rs_thread *t, uint32_t call, enum rs_kind kind, rocshmem_team_t handle, void *dest,
                  const void *source, const char *what, size_t nbytes, void *stream)
{
    if (handle == ROCSHMEM_TEAM_INVALID) return 0;
    struct rs_job *job = rs_thread_job(t);
    struct rs_team *team = rs_team_get(job, handle, "team");
    if (!team) return RS_E_ARG;
    size_t whole;
    int rc =
        __builtin_mul_overflow(nbytes, (size_t)team->n_pes, &whole)
            ? rs_fail(RS_E_ARG, "%s %zu times %d PEs overflows", what, nbytes, team->n_pes)
            : rs_check_ranges(t, job, dest, whole, source, kind == RS_KIND_ALLTOALL ? whole : nbytes, false);
    struct rs_signature signature = {call, kind, team->id, {nbytes, 0, 0}, 1};
    ENQUEUE(rc,
            kind == RS_KIND_ALLTOALL ? rs_stream_alltoall(team, &signature, dest, source, nbytes, stream)
                                     : rs_stream_fcollect(team, &signature, dest, source, nbytes, stream),
            .dest = dest, .dest_nbytes = whole, .source = source,
            .source_nbytes = kind == RS_KIND_ALLTOALL ? whole : nbytes);
    rs_team_put(team);
    return rc;
}

static int broadcast(struct rs_thread *t, rocshmem_team_t handle, void *dest, const void *source,
                     size_t nbytes, int pe_root, void *stream)
{
    if (handle == ROCSHMEM_TEAM_INVALID) return 0;
    struct rs_job *job = rs_thread_job(t);
    struct rs_team *team = rs_team_get(job, handle, "team");
    if (!team) return RS_E_ARG;
    int rc = pe_root < 0 || pe_root >= team->n_pes
                 ? rs_bad_pe(job, "pe_root", pe_root, team->n_pes)
                 : rs_check_ranges(t, job, dest, nbytes, source, nbytes, true);
    struct rs_signature signature = {
        RS_CALL_BROADCASTMEM_ON_STREAM, RS_KIND_BROADCAST, team->id, {nbytes, (uint64_t)pe_root, 0}, 1};
    ENQUEUE(rc, rs_stream_broadcast(team, &signature, dest, source, nbytes, pe_root, stream), .dest = dest,
            .dest_nbytes = nbytes, .source = source, .source_nbytes = nbytes);
    rs_team_put(team);
    return rc;
}

struct reduction {
    void *dest;
    const void *source;
    size_t nreduce;
    enum rs_type type;
    int op;
};

static int reduce(struct rs_thread *t, uint32_t word, rocshmem_team_t handle, const struct reduction *r,
                  void *stream)
{
    if (handle == ROCSHMEM_TEAM_INVALID) return 0;
    struct rs_job *job = rs_thread_job(t);
    struct rs_team *team = rs_team_get(job, handle, "team");
    if (!team) return RS_E_ARG;
    size_t width = rs_type_nbytes(r->type), nbytes;
    int rc = __builtin_mul_overflow(r->nreduce, width, &nbytes)
                 ? rs_fail(RS_E_ARG, "nreduce %zu times %zu bytes overflows", r->nreduce, width)
                 : rs_check_ranges(t, job, r->dest, nbytes, r->source, nbytes, r->dest == r->source);
    struct rs_signature signature = {
        word, RS_KIND_REDUCE, team->id, {r->nreduce, r->type, (uint64_t)r->op}, width};
    ENQUEUE(rc, rs_stream_reduce(team, &signature, r->dest, r->source, r->nreduce, r->type, r->op, stream),
            .dest = r->dest, .dest_nbytes = nbytes, .source = r->source, .source_nbytes = nbytes);
    rs_team_put(team);
    return rc;
}

static void reduce_call(const char *function, rocshmem_team_t team, const struct reduction *r, void *stream)
{
    uint32_t word = RS_CALL_REDUCTION(RS_CALL_REDUCE_ON_STREAM, r->type, r->op);
    struct rs_thread *t = rs_enter(word);
    int rc = t ? reduce(t, word, team, r, stream) : RS_E_STATE;
    if (RS_LIKELY(t != NULL)) rs_leave(t, word);
    if (RS_UNLIKELY(rc < 0)) rs_raise(function);
}

#define REDUCING(name, T, op)                                                                                \
    void rocshmem_##name##_##op##_reduce_on_stream(rocshmem_team_t team, T *dest, const T *source,           \
                                                   size_t nreduce, void *stream)                             \
    {                                                                                                        \
        struct reduction r = {dest, source, nreduce, RS_TYPE_##name, RS_OP_##op};                            \
        reduce_call(__func__, team, &r, stream);                                                             \
    }
ROCSHMEM_REDUCTIONS(REDUCING)
#undef REDUCING

void rocshmem_fcollectmem_on_stream(rocshmem_team_t team, void *dest, const void *source, size_t nbytes,
                                    void *stream)
{
    FRAME(FCOLLECTMEM_ON_STREAM, blocks(t, RS_CALL_FCOLLECTMEM_ON_STREAM, RS_KIND_FCOLLECT, team, dest,
                                        source, "nbytes", nbytes, stream));
}

void rocshmem_barrier_all_on_stream(void *stream)
{
    FRAME(BARRIER_ALL_ON_STREAM,
          meet(t, RS_CALL_BARRIER_ALL_ON_STREAM, RS_KIND_BARRIER, ROCSHMEM_TEAM_WORLD, stream));
}

void rocshmem_barrier_on_stream(rocshmem_team_t team, void *stream)
{
    FRAME(BARRIER_ON_STREAM, meet(t, RS_CALL_BARRIER_ON_STREAM, RS_KIND_BARRIER, team, stream));
}

void rocshmem_sync_all_on_stream(void *stream)
{
    FRAME(SYNC_ALL_ON_STREAM, meet(t, RS_CALL_SYNC_ALL_ON_STREAM, RS_KIND_SYNC, ROCSHMEM_TEAM_WORLD, stream));
}

void rocshmem_team_sync_on_stream(rocshmem_team_t team, void *stream)
{
    FRAME(TEAM_SYNC_ON_STREAM, meet(t, RS_CALL_TEAM_SYNC_ON_STREAM, RS_KIND_SYNC, team, stream));
}

void rocshmem_alltoallmem_on_stream(rocshmem_team_t team, void *dest, const void *source, size_t bytes_per_pe,
                                    void *stream)
{
    FRAME(ALLTOALLMEM_ON_STREAM, blocks(t, RS_CALL_ALLTOALLMEM_ON_STREAM, RS_KIND_ALLTOALL, team, dest,
                                        source, "bytes_per_pe", bytes_per_pe, stream));
}

void rocshmem_broadcastmem_on_stream(rocshmem_team_t team, void *dest, const void *source, size_t nbytes,
                                     int pe_root, void *stream)
{
    FRAME(BROADCASTMEM_ON_STREAM, broadcast(t, team, dest, source, nbytes, pe_root, stream));
}

/* ---- streams ---- */

int rocshmemx_stream_create(void **stream_out)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return rs_return(__func__);
    struct rs_device *device = &rs_thread_job(rs_self)->device;
    int rc =
        stream_out ? device->ops->stream_create(device, stream_out) : rs_fail(RS_E_ARG, "stream_out is NULL");
    if (rc == 0) rs_log(RS_LOG_API, "%s(stream %p)", __func__, *stream_out);
    return rc == 0 ? 0 : rs_return(__func__);
}

int rocshmemx_stream_destroy(void *stream)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return rs_return(__func__);
    struct rs_device *device = &rs_thread_job(rs_self)->device;
    rs_log(RS_LOG_API, "%s(stream %p)", __func__, stream);
    return device->ops->stream_destroy(device, stream) == 0 ? 0 : rs_return(__func__);
}

/* For a dump, while a thread waits for streams. */
struct synchronized {
    struct rs_device *device;
    struct rs_drain drain;
};

static void describe(const void *arg, struct rs_waits *out)
{
    const struct synchronized *what = arg;
    *out = (struct rs_waits){.kind = RS_WAITS_STREAM};
    what->device->ops->describe(what->device, what->drain.stream, what->drain.all, out->text,
                                sizeof out->text);
}

int rs_synchronize(struct rs_thread *t, void *stream, bool all)
{
    struct rs_device *device = &rs_thread_job(t)->device;
    struct synchronized what = {device, {stream, all}};
    rs_describe(t, describe, &what);
    t->drains = &what.drain;
    int rc = all ? device->ops->synchronize_all(device) : device->ops->synchronize(device, stream);
    t->describe = NULL;
    t->drains = NULL;
    if (RS_UNLIKELY(t->awaits)) rs_deadlock_forget(t);
    if (rc == 0 && rs_probed(t))
        rc = tell(t, (struct rs_access){.kind = RS_ACCESS_SYNCHRONIZE, .pe = -1, .all_streams = all}, stream);
    return rc;
}

int rocshmemx_stream_synchronize(void *stream)
{
    struct rs_thread *t = rs_enter(RS_CALL_STREAM_SYNCHRONIZE);
    if (RS_UNLIKELY(!t)) return rs_return(__func__);
    int rc = rs_synchronize(t, stream, false);
    rs_leave(t, RS_CALL_STREAM_SYNCHRONIZE);
    return RS_LIKELY(rc == 0) ? 0 : rs_return(__func__);
}

int rocshmemx_stream_query(void *stream)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return rs_return(__func__);
    struct rs_device *device = &rs_thread_job(rs_self)->device;
    int rc = device->ops->query(device, stream);
    return rc >= 0 ? rc : rs_return(__func__);
}

void rocshmemx_device_synchronize(void)
{
    if (!rs_thread_job(rs_self) && !atomic_load_explicit(&rs_job_current, memory_order_acquire)) return;
    FRAME(DEVICE_SYNCHRONIZE, rs_synchronize(t, NULL, true));
}
