/* SPDX-License-Identifier: MIT
 *
 * The fake driver's streams: a queue and a thread each. Capture records the same operations in a graph, in
 * the order of the calls, which is one of the orders that their dependencies allow.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"

struct graph {
    _Atomic int refs;
    struct op *head, **tail;
};
struct event {
    _Atomic int refs;
    _Atomic uint64_t recorded, completed;
    struct graph *captured; /* recorded in a stream that is being captured: who waits joins the capture */
};
struct stream {
    struct stream *next;
    pthread_mutex_t lock;
    pthread_cond_t more, idle;
    struct op *head, **tail;
    bool busy, stop;
    pthread_t thread;
    struct graph *capture; /* NULL: not captured */
    bool invalid, origin;
    int mode;
    pthread_t capturer;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stream *streams; /* all, under list_lock */
static struct stream *legacy;
static _Thread_local struct stream *per_thread;
static _Thread_local int thread_mode;

static void graph_unref(struct graph *graph);

static void free_op(struct op *op)
{
    free(op->owned);
    if (op->event && atomic_fetch_sub(&op->event->refs, 1) == 1) free(op->event);
    if (op->graph) graph_unref(op->graph);
    free(op);
}

static void graph_unref(struct graph *graph)
{
    if (atomic_fetch_sub(&graph->refs, 1) > 1) return;
    while (graph->head) {
        struct op *op = graph->head;
        graph->head = op->next;
        free_op(op);
    }
    free(graph);
}

static void relax(unsigned *turns)
{
    if (++*turns < 200)
        sched_yield();
    else
        usleep(50);
}

/* ---- executing ---- */

static bool holds(uint64_t now, const struct op *op)
{
    if (op->nbytes == 4) now = (uint32_t)now;
    if ((op->flags & 3) == 1) return now == op->value;
    if (op->ticket) return (int64_t)(now - op->value) >= 0; /* CUDA: the sign of the difference */
    return now >= op->value;
}

static void run_wait(const struct op *op)
{
    const uint64_t *word = fake_cpu(op->dst, op->nbytes);
    unsigned turns = 0;
    while (word && !holds(__atomic_load_n(word, __ATOMIC_ACQUIRE), op)) relax(&turns);
}

static void run_kernel(const struct op *op)
{
    uint64_t args[8];
    for (int i = 0; i < op->kernel->n_args; i++) {
        args[i] = op->args[i];
        if ((op->kernel->pointers >> i & 1) && args[i]) args[i] = (uintptr_t)fake_cpu(args[i], 1);
    }
    op->kernel->run(args);
}

/* What the driver does not know is the program's own memory. */
static void *reach(uintptr_t ptr, size_t nbytes)
{
    void *cpu = fake_cpu(ptr, nbytes);
    return cpu ? cpu : (void *)ptr;
}

static void run(const struct op *op)
{
    unsigned turns = 0;
    switch (op->kind) {
    case OP_COPY: {
        void *dst = reach(op->dst, op->nbytes);
        const void *src = op->owned ? op->owned : reach(op->src, op->nbytes);
        if (op->nbytes == 8 && (uintptr_t)dst % 8 == 0 && (uintptr_t)src % 8 == 0)
            __atomic_store_n((uint64_t *)dst, __atomic_load_n((const uint64_t *)src, __ATOMIC_RELAXED),
                             __ATOMIC_RELEASE);
        else
            memmove(dst, src, op->nbytes);
        break;
    }
    case OP_FILL:
        memset(reach(op->dst, op->nbytes), (int)op->value, op->nbytes);
        break;
    case OP_WRITE: {
        void *word = fake_cpu(op->dst, op->nbytes);
        if (word && op->nbytes == 4)
            __atomic_store_n((uint32_t *)word, (uint32_t)op->value, __ATOMIC_RELEASE);
        if (word && op->nbytes == 8) __atomic_store_n((uint64_t *)word, op->value, __ATOMIC_RELEASE);
        break;
    }
    case OP_WAIT:
        run_wait(op);
        break;
    case OP_CALL:
        op->fn(op->arg);
        break;
    case OP_KERNEL:
        run_kernel(op);
        break;
    case OP_RECORD:
        atomic_store(&op->event->completed, op->ticket);
        break;
    case OP_AWAIT:
        while (atomic_load(&op->event->completed) < op->ticket) relax(&turns);
        break;
    case OP_GRAPH:
        for (const struct op *each = op->graph->head; each; each = each->next) run(each);
        break;
    }
}

static void *work(void *arg)
{
    struct stream *stream = arg;
    pthread_mutex_lock(&stream->lock);
    for (;;) {
        while (!stream->head && !stream->stop) pthread_cond_wait(&stream->more, &stream->lock);
        if (!stream->head) break;
        struct op *op = stream->head;
        stream->head = op->next;
        if (!stream->head) stream->tail = &stream->head;
        stream->busy = true;
        pthread_mutex_unlock(&stream->lock);
        run(op);
        free_op(op);
        pthread_mutex_lock(&stream->lock);
        stream->busy = false;
        if (!stream->head) pthread_cond_broadcast(&stream->idle);
    }
    pthread_mutex_unlock(&stream->lock);
    return NULL;
}

/* ---- streams ---- */

static struct stream *make(void)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream) abort();
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->more, NULL);
    pthread_cond_init(&stream->idle, NULL);
    stream->tail = &stream->head;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    pthread_create(&stream->thread, NULL, work, stream);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    stream->next = streams;
    streams = stream;
    return stream;
}

static struct stream *find(void *handle)
{
    struct stream *found = NULL;
    pthread_mutex_lock(&list_lock);
    if ((uintptr_t)handle < 2) {
        if (!legacy) legacy = make();
        found = legacy;
    } else if ((uintptr_t)handle == 2) {
        if (!per_thread) per_thread = make();
        found = per_thread;
    } else {
        for (struct stream *s = streams; s; s = s->next)
            if (s == handle) found = s;
    }
    pthread_mutex_unlock(&list_lock);
    if (!found) { /* as CUDA's driver does, which follows the handle */
        fprintf(stderr, "fake driver: %p is no stream\n", handle);
        abort();
    }
    return found;
}

int fake_stream_create(void **stream, unsigned flags)
{
    if (flags > 1) return INVALID_VALUE;
    pthread_mutex_lock(&list_lock);
    *stream = make();
    pthread_mutex_unlock(&list_lock);
    return OK;
}

int fake_stream_destroy(void *handle)
{
    if ((uintptr_t)handle <= 2) return INVALID_HANDLE;
    pthread_mutex_lock(&list_lock);
    struct stream **at = &streams;
    while (*at && *at != handle) at = &(*at)->next;
    struct stream *stream = *at;
    if (stream) *at = stream->next;
    pthread_mutex_unlock(&list_lock);
    if (!stream) return INVALID_HANDLE;
    pthread_mutex_lock(&stream->lock);
    stream->stop = true; /* what is queued is still done */
    pthread_cond_signal(&stream->more);
    pthread_mutex_unlock(&stream->lock);
    pthread_join(stream->thread, NULL);
    if (stream->capture) graph_unref(stream->capture);
    pthread_mutex_destroy(&stream->lock);
    pthread_cond_destroy(&stream->more);
    pthread_cond_destroy(&stream->idle);
    free(stream);
    return OK;
}

static int refuse_capture(struct stream *stream)
{
    if (!stream->capture) return OK;
    stream->invalid = true;
    return CAPTURE_UNSUPPORTED;
}

static int drain(struct stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    int code = refuse_capture(stream);
    while (code == OK && (stream->head || stream->busy)) pthread_cond_wait(&stream->idle, &stream->lock);
    pthread_mutex_unlock(&stream->lock);
    return code;
}

int fake_stream_sync(void *handle)
{
    struct stream *stream = find(handle);
    return stream ? drain(stream) : INVALID_HANDLE;
}

int fake_stream_query(void *handle)
{
    struct stream *stream = find(handle);
    pthread_mutex_lock(&stream->lock);
    int code = refuse_capture(stream);
    if (code == OK && (stream->head || stream->busy)) code = NOT_READY;
    pthread_mutex_unlock(&stream->lock);
    return code;
}

int fake_sync_all(void)
{
    int code = fake_unsafe();
    for (size_t i = 0; code == OK; i++) { /* the list may change meanwhile */
        pthread_mutex_lock(&list_lock);
        struct stream *stream = streams;
        for (size_t k = 0; stream && k < i; k++) stream = stream->next;
        pthread_mutex_unlock(&list_lock);
        if (!stream) break;
        code = drain(stream);
    }
    return code;
}

/* One piece of work, or one node of the graph that is being captured. */
int fake_push_batch(void *handle, const struct op *ops, unsigned n)
{
    struct stream *stream = find(handle);
    struct op *head = NULL, **tail = &head;
    for (unsigned i = 0; i < n; i++) {
        struct op *op = malloc(sizeof *op);
        if (!op) abort();
        *op = ops[i];
        op->next = NULL;
        if (op->event) atomic_fetch_add(&op->event->refs, 1);
        if (op->graph) atomic_fetch_add(&op->graph->refs, 1);
        *tail = op;
        tail = &op->next;
    }
    if (!head) return OK;
    pthread_mutex_lock(&stream->lock);
    if (stream->capture) {
        *stream->capture->tail = head;
        stream->capture->tail = tail;
    } else {
        *stream->tail = head;
        stream->tail = tail;
        pthread_cond_signal(&stream->more);
    }
    pthread_mutex_unlock(&stream->lock);
    return OK;
}

int fake_push(void *handle, const struct op *op)
{
    return fake_push_batch(handle, op, 1);
}

/* ---- work ---- */

int fake_copy(uintptr_t dst, uintptr_t src, size_t nbytes, void *handle, bool device_only)
{
    struct stream *stream = find(handle);
    struct op op = {.kind = OP_COPY, .dst = dst, .src = src, .nbytes = nbytes};
    if (!stream) return INVALID_HANDLE;
    if (nbytes == 0) return OK;
    bool to_known = fake_cpu(dst, nbytes), from_known = fake_cpu(src, nbytes);
    if (device_only && !(to_known && from_known)) return INVALID_VALUE;
    if ((!to_known && fake_kind(dst)) || (!from_known && fake_kind(src)))
        return INVALID_VALUE;              /* it leaves its block */
    if (!from_known && !stream->capture) { /* pageable memory is read before the call returns */
        op.owned = malloc(nbytes);
        if (!op.owned) return OUT_OF_MEMORY;
        int code = fake_stream_sync(handle);
        if (code) return code;
        memcpy(op.owned, (const void *)src, nbytes);
    }
    int code = fake_push(handle, &op);
    if (code == OK && !to_known && !stream->capture) code = drain(stream); /* and written, likewise */
    return code;
}

int fake_fill(uintptr_t dst, unsigned char byte, size_t nbytes, void *stream)
{
    if (!fake_cpu(dst, nbytes)) return INVALID_VALUE;
    return fake_push(stream, &(struct op){.kind = OP_FILL, .dst = dst, .nbytes = nbytes, .value = byte});
}

int fake_write(void *stream, uintptr_t word, uint64_t value, size_t width, unsigned flags)
{
    if (word % width || !fake_cpu(word, width) || flags > 1) return INVALID_VALUE;
    return fake_push(stream, &(struct op){.kind = OP_WRITE, .dst = word, .nbytes = width, .value = value});
}

int fake_wait(void *stream, uintptr_t word, uint64_t value, unsigned flags, bool is_signed)
{
    if (word % 8 || !fake_cpu(word, 8) || flags > 1) return INVALID_VALUE;
    return fake_push(
        stream,
        &(struct op){
            .kind = OP_WAIT, .dst = word, .nbytes = 8, .value = value, .flags = flags, .ticket = is_signed});
}

int fake_launch(const struct kernel *kernel, void *stream, void **arguments)
{
    struct op op = {.kind = OP_KERNEL, .kernel = kernel};
    for (int i = 0; i < kernel->n_args; i++) {
        if (kernel->narrow >> i & 1)
            op.args[i] = *(const uint32_t *)arguments[i];
        else
            op.args[i] = *(const uint64_t *)arguments[i];
        if ((kernel->pointers >> i & 1) && op.args[i] && !fake_cpu(op.args[i], 1)) return 700; /* illegal */
    }
    return fake_push(stream, &op);
}

/* ---- events ---- */

int fake_event_create(void **event, unsigned flags)
{
    if (flags & ~7u) return INVALID_VALUE;
    struct event *e = calloc(1, sizeof *e);
    if (!e) return OUT_OF_MEMORY;
    atomic_init(&e->refs, 1);
    *event = e;
    return OK;
}

int fake_event_destroy(void *event)
{
    struct event *e = event;
    if (!e) return INVALID_HANDLE;
    if (atomic_fetch_sub(&e->refs, 1) == 1) free(e);
    return OK;
}

int fake_event_record(void *event, void *handle)
{
    struct event *e = event;
    struct stream *stream = find(handle);
    if (!e || !stream) return INVALID_HANDLE;
    e->captured = stream->capture;
    if (e->captured) return OK; /* the order of the calls is the graph's */
    struct op op = {.kind = OP_RECORD, .event = e, .ticket = atomic_fetch_add(&e->recorded, 1) + 1};
    return fake_push(handle, &op);
}

int fake_event_query(void *event)
{
    struct event *e = event;
    if (!e) return INVALID_HANDLE;
    return atomic_load(&e->completed) < atomic_load(&e->recorded) ? NOT_READY : OK;
}

int fake_stream_wait_event(void *handle, void *event)
{
    struct event *e = event;
    struct stream *stream = find(handle);
    if (!e || !stream) return INVALID_HANDLE;
    if (e->captured) {
        pthread_mutex_lock(&stream->lock);
        if (!stream->capture) {
            atomic_fetch_add(&e->captured->refs, 1);
            stream->capture = e->captured;
        }
        pthread_mutex_unlock(&stream->lock);
        return OK;
    }
    if (stream->capture) return OK; /* it ended before, or the order is the graph's */
    struct op op = {.kind = OP_AWAIT, .event = e, .ticket = atomic_load(&e->recorded)};
    return fake_push(handle, &op);
}

/* ---- capture ---- */

int fake_capture_begin(void *handle, int mode)
{
    struct stream *stream = find(handle);
    if (stream == legacy || stream->capture || mode < 0 || mode > 2) return CAPTURE_UNSUPPORTED;
    struct graph *graph = calloc(1, sizeof *graph);
    if (!graph) return OUT_OF_MEMORY;
    atomic_init(&graph->refs, 1);
    graph->tail = &graph->head;
    pthread_mutex_lock(&stream->lock);
    stream->capture = graph;
    stream->invalid = false;
    stream->origin = true;
    stream->mode = mode;
    stream->capturer = pthread_self();
    pthread_mutex_unlock(&stream->lock);
    return OK;
}

int fake_capture_end(void *handle, void **graph)
{
    struct stream *stream = find(handle);
    if (!stream->capture || !stream->origin) return CAPTURE_UNMATCHED;
    struct graph *captured = stream->capture;
    bool invalid = false;
    pthread_mutex_lock(&list_lock);
    for (struct stream *s = streams; s; s = s->next) {
        if (s->capture != captured) continue;
        invalid |= s->invalid;
        s->capture = NULL;
        if (!s->origin) graph_unref(captured);
        s->origin = false;
    }
    pthread_mutex_unlock(&list_lock);
    if (invalid) {
        graph_unref(captured);
        *graph = NULL;
        return CAPTURE_INVALIDATED;
    }
    *graph = captured;
    return OK;
}

int fake_capture_status(void *handle, int *status)
{
    struct stream *stream = find(handle);
    *status = !stream->capture ? 0 : stream->invalid ? 2 : 1;
    return OK;
}

int fake_capture_mode(int *mode)
{
    if (*mode < 0 || *mode > 2) return INVALID_VALUE;
    int old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return OK;
}

int fake_unsafe(void)
{
    int code = OK;
    if (thread_mode == 2) return OK;
    pthread_mutex_lock(&list_lock);
    for (struct stream *s = streams; s; s = s->next) {
        bool forbids = s->capture && s->origin &&
                       (s->mode == 0 ? thread_mode == 0 || pthread_equal(s->capturer, pthread_self())
                                     : s->mode == 1 && pthread_equal(s->capturer, pthread_self()));
        if (!forbids) continue;
        s->invalid = true;
        code = CAPTURE_UNSUPPORTED;
    }
    pthread_mutex_unlock(&list_lock);
    return code;
}

int fake_graph_launch(void *graph, void *stream)
{
    return fake_push(stream, &(struct op){.kind = OP_GRAPH, .graph = graph});
}

int fake_graph_destroy(void *graph)
{
    if (!graph) return INVALID_HANDLE;
    graph_unref(graph);
    return OK;
}
