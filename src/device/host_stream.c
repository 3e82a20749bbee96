/* SPDX-License-Identifier: MIT
 *
 * The life of a piece of work. A stream's state word says who may execute:
 *
 *   IDLE            nothing queued. A caller may take it to INLINE by CAS and run one piece of work itself.
 *   INLINE          a caller is running; nothing queued.
 *   INLINE_PENDING  a caller is running, and others have queued behind it.
 *   QUEUED          work is queued; whoever holds `stepping` executes it.
 *
 * Who moves it: IDLE->INLINE and INLINE->IDLE by CAS of the inline runner; every other change under the
 * stream's lock. A runner whose INLINE->IDLE fails finds INLINE_PENDING and makes it QUEUED under the lock,
 * or IDLE when its failure has emptied the queue.
 * The CASes are acquire/release, so one piece of work sees what the one before wrote, whoever runs them.
 *
 * `stepping` (also under the lock) admits one executor of queued work at a time; the pieces are executed
 * outside the lock. Called by any thread. The first queued work starts the worker, which ends with the streams.
 *
 * A piece that fails takes along what is queued behind it at that moment, whoever executed it: an inline
 * runner and an executor of the queue call the same drop_behind. Its right to execute is held until all of it
 * is dropped, so nothing runs beside a drop, and what is pushed during or after it is a new start behind it.
 * To whoever pushed behind the failed piece, it makes no difference that another thread happened to run that
 * piece itself.
 */
#include "device/host_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "rocshmem/rocshmem.h"

#define SLICE_NBYTES ((size_t)1 << 18)

enum { IDLE, INLINE, INLINE_PENDING, QUEUED };
enum progress { DONE, PARKED, MORE };

struct stream {
    _Alignas(64) _Atomic int state; /* see above */
    pthread_mutex_t lock;
    struct rs_work *head, **tail; /* under lock; the head stays queued while it is stepped */
    bool stepping;                /* under lock */
    int failed;                   /* under lock: first failure since the last synchronize, a status */
    rocshmemx_error_t error;      /* under lock: its text */
    uintptr_t id;
    int users; /* under streams->lock: threads between find and put; remove waits for them */
    struct rs_streams *streams;
    struct stream *next;
};

struct rs_streams {
    const struct rs_watch *watch;
    struct rs_watch worker_watch; /* without the network, which is closed before the streams are */
    size_t inline_nbytes;
    pthread_mutex_t lock; /* list, users, next_id, worker; taken before no stream's lock is held */
    pthread_cond_t wake;
    struct stream *list;
    uintptr_t next_id;
    bool worker_runs, stop;
    _Atomic int n_queued; /* streams in QUEUED. W: under a stream's lock. R: worker */
    pthread_t worker;
    struct stream dflt;
};

static bool satisfied(const struct rs_memop *op)
{
    uint64_t now = __atomic_load_n(op->word, __ATOMIC_ACQUIRE);
    switch (op->cmp) {
    case ROCSHMEM_CMP_EQ:
        return now == op->value;
    case ROCSHMEM_CMP_NE:
        return now != op->value;
    case ROCSHMEM_CMP_GT:
        return now > op->value;
    case ROCSHMEM_CMP_GE:
        return now >= op->value;
    case ROCSHMEM_CMP_LT:
        return now < op->value;
    default:
        return now <= op->value;
    }
}

/* Execute as much of a piece of work as can be done at once. A failed call gives its status. */
static int work_step(struct rs_work *work, size_t slice, enum progress *progress_out)
{
    *progress_out = DONE;
    switch (work->kind) {
    case RS_WORK_COPY: {
        size_t left = work->u.copy.nbytes - work->done;
        size_t n = left < slice ? left : slice;
        memmove(work->u.copy.dst + work->done, work->u.copy.src + work->done, n);
        work->done += n;
        if (n < left) *progress_out = MORE;
        return 0;
    }
    case RS_WORK_BATCH: {
        size_t before = work->done;
        for (; work->done < work->u.batch.n; work->done++) {
            const struct rs_memop *op = &work->u.batch.ops[work->done];
            if (op->kind == RS_MEMOP_WRITE) {
                __atomic_store_n(op->word, op->value, __ATOMIC_RELEASE);
            } else if (op->kind == RS_MEMOP_ADD) {
                __atomic_fetch_add(op->word, op->value, __ATOMIC_ACQ_REL);
            } else if (!satisfied(op)) {
                *progress_out = work->done > before ? MORE : PARKED;
                return 0;
            }
        }
        return 0;
    }
    case RS_WORK_CALL:
        return work->u.call.fn(work->u.call.arg, false);
    }
    return 0;
}

static void stream_init(struct stream *stream, struct rs_streams *streams, uintptr_t id)
{
    memset(stream, 0, sizeof *stream);
    pthread_mutex_init(&stream->lock, NULL);
    stream->tail = &stream->head;
    stream->streams = streams;
    stream->id = id;
}

/* Under the lock. Remember a failure, the calling thread's error slot. */
static void fail_locked(struct stream *stream, int status)
{
    if (!stream->failed) {
        stream->failed = status;
        stream->error = *rs_error_slot();
    }
}

static struct rs_work *take_all_locked(struct stream *stream)
{
    struct rs_work *list = stream->head;
    stream->head = NULL;
    stream->tail = &stream->head;
    return list;
}

static void drop_list(struct rs_work *list)
{
    while (list) {
        struct rs_work *next = list->next;
        if (list->kind == RS_WORK_CALL) list->u.call.fn(list->u.call.arg, true);
        free(list);
        list = next;
    }
}

/* Of the executor: its piece failed. What is queued now goes with it; the state stays as it is. */
static void drop_behind(struct stream *stream, int status)
{
    pthread_mutex_lock(&stream->lock);
    fail_locked(stream, status);
    struct rs_work *rest = take_all_locked(stream);
    pthread_mutex_unlock(&stream->lock);
    drop_list(rest);
}

static void set_idle_locked(struct stream *stream)
{
    atomic_fetch_sub_explicit(&stream->streams->n_queued, 1, memory_order_relaxed);
    atomic_store_explicit(&stream->state, IDLE, memory_order_release);
}

/* Execute queued work until it parks, is used up, or `pieces` were done. True when something moved. */
static bool stream_step(struct stream *stream, int pieces)
{
    bool moved = false;
    pthread_mutex_lock(&stream->lock);
    if (atomic_load_explicit(&stream->state, memory_order_acquire) != QUEUED || stream->stepping) {
        pthread_mutex_unlock(&stream->lock);
        return false;
    }
    stream->stepping = true;
    while (stream->head && pieces-- > 0) {
        struct rs_work *work = stream->head;
        enum progress progress;
        pthread_mutex_unlock(&stream->lock);
        int rc = work_step(work, SLICE_NBYTES, &progress);
        pthread_mutex_lock(&stream->lock);
        if (progress != PARKED) moved = true;
        if (progress == PARKED) break;
        if (progress == MORE) continue;
        stream->head = work->next;
        if (!stream->head) stream->tail = &stream->head;
        free(work);
        if (rc < 0) {
            pthread_mutex_unlock(&stream->lock);
            drop_behind(stream, rc);
            pthread_mutex_lock(&stream->lock);
        }
    }
    stream->stepping = false;
    if (!stream->head) set_idle_locked(stream);
    pthread_mutex_unlock(&stream->lock);
    return moved;
}

/* Under the stream's lock. */
static void describe_locked(const struct stream *stream, char *out, size_t nbytes)
{
    static const char *const cmps[] = {"EQ", "NE", "GT", "GE", "LT", "LE"};
    const struct rs_work *head = stream->head;
    if (!head) {
        snprintf(out, nbytes, "stream %p has no work queued", (void *)stream->id);
        return;
    }
    int queued = 0;
    for (const struct rs_work *work = head; work; work = work->next) queued++;
    const struct rs_memop *op =
        head->kind == RS_WORK_BATCH && head->done < head->u.batch.n ? &head->u.batch.ops[head->done] : NULL;
    if (op && op->kind == RS_MEMOP_WAIT)
        snprintf(out, nbytes,
                 "stream %p waits for the word at %p to be %s %" PRIu64 "; it is %" PRIu64
                 "; pieces of work queued: %d",
                 (void *)stream->id, (void *)op->word, cmps[op->cmp], op->value,
                 __atomic_load_n(op->word, __ATOMIC_RELAXED), queued);
    else
        snprintf(out, nbytes, "stream %p is at %s; pieces of work queued: %d", (void *)stream->id,
                 head->kind == RS_WORK_COPY   ? "a copy"
                 : head->kind == RS_WORK_CALL ? "a call"
                                              : "a memory operation",
                 queued);
}

/* The job cannot go on: end what is parked, so that nothing waits for ever. why: in the words of the job. */
static void stream_break(struct stream *stream, int status, const rocshmemx_error_t *why)
{
    char what[192];
    pthread_mutex_lock(&stream->lock);
    struct rs_work *list = NULL;
    if (atomic_load_explicit(&stream->state, memory_order_acquire) == QUEUED && !stream->stepping) {
        describe_locked(stream, what, sizeof what);
        if (!strstr(why->text, "; here: ")) /* a thread that waits for streams has said it */
            rs_fail_pe(status, why->pe, "%s; here: %s", why->text, what);
        fail_locked(stream, status);
        list = take_all_locked(stream);
        set_idle_locked(stream);
    }
    pthread_mutex_unlock(&stream->lock);
    drop_list(list);
}

static void *worker_run(void *arg)
{
    struct rs_streams *streams = arg;
    struct rs_wait wait;
    rs_wait_begin(&wait, &streams->worker_watch);
    pthread_mutex_lock(&streams->lock);
    while (!streams->stop) {
        if (atomic_load_explicit(&streams->n_queued, memory_order_relaxed) == 0) {
            pthread_cond_wait(&streams->wake, &streams->lock);
            rs_wait_begin(&wait, &streams->worker_watch);
            continue;
        }
        bool moved = false;
        for (struct stream *s = streams->list; s; s = s->next) {
            s->users++;
            pthread_mutex_unlock(&streams->lock);
            moved |= stream_step(s, 8);
            pthread_mutex_lock(&streams->lock);
            s->users--;
        }
        pthread_mutex_unlock(&streams->lock);
        int rc = 0;
        if (moved)
            rs_wait_begin(&wait, &streams->worker_watch);
        else
            rc = rs_wait_pause(&wait);
        pthread_mutex_lock(&streams->lock);
        if (rc >= 0 || rc == RS_E_TIMEOUT)
            continue; /* which belongs to threads that wait, not to queued work */
        rocshmemx_error_t why = *rs_error_slot();
        for (struct stream *s = streams->list; s; s = s->next) stream_break(s, rc, &why);
    }
    pthread_mutex_unlock(&streams->lock);
    return NULL;
}

/* After a stream became QUEUED: make sure that somebody will step it. */
static int kick(struct rs_streams *streams)
{
    int rc = 0;
    pthread_mutex_lock(&streams->lock);
    if (!streams->worker_runs) {
        rc = rs_os_thread_start(&streams->worker, "rocshmem-stream", worker_run, streams);
        streams->worker_runs = rc == 0;
    }
    pthread_cond_signal(&streams->wake);
    pthread_mutex_unlock(&streams->lock);
    return rc;
}

int rs_streams_create(struct rs_streams **streams_out, const struct rs_watch *watch, size_t inline_nbytes)
{
    struct rs_streams *streams = calloc(1, sizeof *streams);
    if (!streams) return rs_fail(RS_E_NOMEM, "no memory for the host streams");
    streams->watch = watch;
    if (watch)
        streams->worker_watch = (struct rs_watch){watch->spin_count, watch->tick, NULL, NULL, watch->arg};
    streams->inline_nbytes = inline_nbytes;
    streams->next_id = 16; /* 0 is the default stream; 1 and 2 are what GPU programs call it */
    pthread_mutex_init(&streams->lock, NULL);
    pthread_cond_init(&streams->wake, NULL);
    stream_init(&streams->dflt, streams, 0);
    streams->list = &streams->dflt;
    *streams_out = streams;
    return 0;
}

static void stream_drop(struct stream *stream)
{
    drop_list(take_all_locked(stream));
    pthread_mutex_destroy(&stream->lock);
}

void rs_streams_destroy(struct rs_streams *streams)
{
    if (!streams) return;
    pthread_mutex_lock(&streams->lock);
    streams->stop = true;
    pthread_cond_signal(&streams->wake);
    pthread_mutex_unlock(&streams->lock);
    if (streams->worker_runs) pthread_join(streams->worker, NULL);
    for (struct stream *s = streams->list, *next; s; s = next) {
        next = s->next;
        stream_drop(s);
        if (s != &streams->dflt) free(s);
    }
    pthread_mutex_destroy(&streams->lock);
    pthread_cond_destroy(&streams->wake);
    free(streams);
}

/* The stream behind a handle, held until stream_put; the default one needs no hold. NULL with an error. */
static struct stream *stream_get(struct rs_streams *streams, void *handle)
{
    uintptr_t id = (uintptr_t)handle;
    if (RS_LIKELY(id <= 2)) return &streams->dflt;
    pthread_mutex_lock(&streams->lock);
    struct stream *s = streams->list;
    while (s && s->id != id) s = s->next;
    if (s) s->users++;
    pthread_mutex_unlock(&streams->lock);
    if (!s)
        rs_fail(RS_E_ARG,
                "stream %p is not a stream of the host device; rocshmemx_stream_create makes one, 0 is "
                "the default stream",
                handle);
    return s;
}

static void stream_put(struct rs_streams *streams, struct stream *stream)
{
    if (stream == &streams->dflt) return;
    pthread_mutex_lock(&streams->lock);
    stream->users--;
    pthread_mutex_unlock(&streams->lock);
}

int rs_streams_add(struct rs_streams *streams, void **stream_out)
{
    struct stream *stream = aligned_alloc(64, (sizeof *stream + 63) & ~(size_t)63);
    if (!stream) return rs_fail(RS_E_NOMEM, "no memory for a host stream");
    pthread_mutex_lock(&streams->lock);
    stream_init(stream, streams, streams->next_id++);
    stream->next = streams->list->next;
    streams->list->next = stream; /* behind the default stream, which stays first */
    pthread_mutex_unlock(&streams->lock);
    *stream_out = (void *)stream->id;
    return 0;
}

int rs_streams_remove(struct rs_streams *streams, void *handle)
{
    if ((uintptr_t)handle <= 2) return rs_fail(RS_E_ARG, "stream %p is the default stream and stays", handle);
    int rc = rs_streams_synchronize(streams, handle);
    if (rc == RS_E_ARG) return rc;
    pthread_mutex_lock(&streams->lock);
    struct stream **at = &streams->list, *stream;
    while (*at && (*at)->id != (uintptr_t)handle) at = &(*at)->next;
    stream = *at;
    if (stream) {
        *at = stream->next;
        stream->next = NULL; /* whoever stands on it in a walk ends there, and does not follow a stale link */
    }
    struct rs_wait wait;
    rs_wait_begin(&wait, NULL);
    while (stream && stream->users > 0) { /* the worker, or a caller, is about to let go */
        pthread_mutex_unlock(&streams->lock);
        (void)rs_wait_pause(&wait);
        pthread_mutex_lock(&streams->lock);
    }
    /* Work may be left when the synchronize was interrupted: the worker is not to look for it any more. */
    if (stream && atomic_load_explicit(&stream->state, memory_order_acquire) == QUEUED)
        atomic_fetch_sub_explicit(&streams->n_queued, 1, memory_order_relaxed);
    pthread_mutex_unlock(&streams->lock);
    if (!stream) return rs_fail(RS_E_ARG, "stream %p was destroyed by another thread", handle);
    stream_drop(stream);
    free(stream);
    return rc;
}

static bool may_run_inline(const struct rs_streams *streams, const struct rs_work *work)
{
    return work->kind != RS_WORK_COPY || work->u.copy.nbytes <= streams->inline_nbytes;
}

/* A queued copy of a piece of work, its batch operations behind it. */
static struct rs_work *work_copy(const struct rs_work *work)
{
    size_t extra = work->kind == RS_WORK_BATCH ? work->u.batch.n * sizeof(struct rs_memop) : 0;
    struct rs_work *copy = malloc(sizeof *copy + extra);
    if (!copy) {
        rs_fail(RS_E_NOMEM, "no memory to queue work on a host stream");
        return NULL;
    }
    *copy = *work;
    copy->next = NULL;
    if (extra) {
        memcpy(copy + 1, work->u.batch.ops, extra);
        copy->u.batch.ops = (const struct rs_memop *)(copy + 1);
    }
    return copy;
}

/* The inline runner is done; leave_behind (may be NULL) is what it could not finish and goes first. */
static int finish_inline(struct stream *stream, struct rs_work *leave_behind)
{
    int expected = INLINE;
    if (!leave_behind && atomic_compare_exchange_strong_explicit(&stream->state, &expected, IDLE,
                                                                 memory_order_release, memory_order_relaxed))
        return 0;
    pthread_mutex_lock(&stream->lock);
    if (leave_behind) {
        leave_behind->next = stream->head;
        if (!stream->head) stream->tail = &leave_behind->next;
        stream->head = leave_behind;
    }
    bool queued = stream->head != NULL; /* a failed piece has taken along what was pending */
    if (queued) atomic_fetch_add_explicit(&stream->streams->n_queued, 1, memory_order_relaxed);
    atomic_store_explicit(&stream->state, queued ? QUEUED : IDLE, memory_order_release);
    pthread_mutex_unlock(&stream->lock);
    return queued ? kick(stream->streams) : 0;
}

static int run_inline(struct stream *stream, struct rs_work *work)
{
    enum progress progress;
    int rc;
    do rc = work_step(work, SIZE_MAX, &progress);
    while (progress == MORE);
    if (rc < 0) drop_behind(stream, rc);
    struct rs_work *left = NULL;
    if (progress == PARKED) {
        left = work_copy(work);
        if (!left) {
            (void)finish_inline(stream, NULL);
            return RS_E_NOMEM;
        }
    }
    return finish_inline(stream, left);
}

static int push(struct rs_streams *streams, struct stream *stream, struct rs_work *work)
{
    int expected = IDLE;
    if (may_run_inline(streams, work) &&
        atomic_compare_exchange_strong_explicit(&stream->state, &expected, INLINE, memory_order_acquire,
                                                memory_order_relaxed))
        return run_inline(stream, work);
    struct rs_work *copy = work_copy(work);
    if (!copy) return RS_E_NOMEM;
    pthread_mutex_lock(&stream->lock);
    *stream->tail = copy;
    stream->tail = &copy->next;
    int state = atomic_load_explicit(&stream->state, memory_order_relaxed);
    bool queued_now = false;
    for (;;) {
        int next = state == IDLE ? QUEUED : state == INLINE ? INLINE_PENDING : state;
        if (next == state) break;
        if (atomic_compare_exchange_strong_explicit(&stream->state, &state, next, memory_order_acq_rel,
                                                    memory_order_relaxed)) {
            queued_now = next == QUEUED;
            break;
        }
    }
    if (queued_now) atomic_fetch_add_explicit(&streams->n_queued, 1, memory_order_relaxed);
    pthread_mutex_unlock(&stream->lock);
    return queued_now ? kick(streams) : 0;
}

int rs_streams_push(struct rs_streams *streams, void *handle, struct rs_work *work)
{
    struct stream *stream = stream_get(streams, handle);
    if (!stream) return RS_E_ARG;
    work->done = 0;
    work->next = NULL;
    int rc = push(streams, stream, work);
    stream_put(streams, stream);
    return rc;
}

/* Take the failure that the stream's work left, if any. */
static int take_failure(struct stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    int failed = stream->failed;
    stream->failed = 0;
    rocshmemx_error_t error;
    if (failed) error = stream->error;
    pthread_mutex_unlock(&stream->lock);
    if (!failed) return 0;
    return rs_fail_pe(failed, error.pe, "%s", error.text);
}

static int synchronize(struct rs_streams *streams, struct stream *stream)
{
    struct rs_wait wait;
    rs_wait_begin(&wait, streams->watch);
    while (atomic_load_explicit(&stream->state, memory_order_acquire) != IDLE) {
        if (stream_step(stream, 64)) {
            rs_wait_begin(&wait, streams->watch);
            continue;
        }
        int rc = rs_wait_pause(&wait);
        if (rc == RS_E_INTERRUPTED || rc == RS_E_TIMEOUT) return rc; /* the work goes on */
        if (rc < 0) {
            rocshmemx_error_t why = *rs_error_slot();
            stream_break(stream, rc, &why);
            (void)take_failure(stream); /* the worker's, when it was first */
            return rc;
        }
    }
    return take_failure(stream);
}

int rs_streams_synchronize(struct rs_streams *streams, void *handle)
{
    struct stream *stream = stream_get(streams, handle);
    if (!stream) return RS_E_ARG;
    int rc = synchronize(streams, stream);
    stream_put(streams, stream);
    return rc;
}

int rs_streams_synchronize_all(struct rs_streams *streams)
{
    int first = 0;
    rocshmemx_error_t error = {0};
    pthread_mutex_lock(&streams->lock);
    for (struct stream *s = streams->list; s; s = s->next) {
        s->users++;
        pthread_mutex_unlock(&streams->lock);
        int rc = synchronize(streams, s);
        pthread_mutex_lock(&streams->lock);
        s->users--;
        if (rc < 0 && !first) {
            first = rc;
            error = *rs_error_slot();
        }
    }
    pthread_mutex_unlock(&streams->lock);
    return first ? rs_fail_pe(first, error.pe, "%s", error.text) : 0;
}

int rs_streams_query(struct rs_streams *streams, void *handle)
{
    struct stream *stream = stream_get(streams, handle);
    if (!stream) return RS_E_ARG;
    int idle = atomic_load_explicit(&stream->state, memory_order_acquire) == IDLE;
    stream_put(streams, stream);
    return idle;
}

void rs_streams_describe(struct rs_streams *streams, void *handle, bool any, char *out, size_t nbytes)
{
    pthread_mutex_lock(&streams->lock);
    for (struct stream *s = streams->list; s; s = s->next) {
        bool wanted = any ? atomic_load_explicit(&s->state, memory_order_relaxed) != IDLE
                          : s->id == (uintptr_t)handle || (s == &streams->dflt && (uintptr_t)handle <= 2);
        if (!wanted) continue;
        pthread_mutex_lock(&s->lock);
        /* A head that is being stepped changes without the lock: only its kind is sure then. */
        if (s->stepping)
            snprintf(out, nbytes, "stream %p is working", (void *)s->id);
        else
            describe_locked(s, out, nbytes);
        pthread_mutex_unlock(&s->lock);
        break;
    }
    pthread_mutex_unlock(&streams->lock);
}
