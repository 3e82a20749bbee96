/* SPDX-License-Identifier: MIT
 *
 * See pes.h. The order is that of build() in pgas/job.c.
 */
#include "pes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"
#include "begun.h"
#include "pgas/collective.h"
#include "transport/proxy.h"

_Noreturn void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: not so: %s (the thread's error: %s)\n", file, line, what, rs_error_slot()->text);
    fflush(stderr);
    _exit(1); /* the other PEs would wait for this one */
}

static unsigned char *map(size_t nbytes)
{
    void *p = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(p != MAP_FAILED);
    return p;
}

/* ---- a network ---- */

struct rs_network {
    struct pes *pes;
    int pe;
    struct begun begun;
};

static unsigned char *place_of(const struct rs_network *network, int pe, struct rs_place place)
{
    CHECK(place.region == RS_REGION_WINDOW && place.offset < network->pes->stride);
    CHECK(network->pes->hosts[pe] != network->pes->hosts[network->pe]); /* else it is no network's business */
    return network->pes->windows + (size_t)pe * network->pes->stride + place.offset;
}

static int fake_put(struct rs_network *network, int pe, struct rs_place dest, const void *source,
                    size_t nbytes)
{
    memcpy(place_of(network, pe, dest), source, nbytes);
    return 0;
}

static int fake_get(struct rs_network *network, int pe, void *dest, struct rs_place source, size_t nbytes)
{
    memcpy(dest, place_of(network, pe, source), nbytes);
    return 0;
}

static int fake_quiet(struct rs_network *network)
{
    (void)network;
    return 0;
}

static int fake_send(struct rs_network *network, int pe, const void *head, size_t head_nbytes,
                     const void *body, size_t body_nbytes)
{
    struct rs_letter_head letter;
    CHECK(head_nbytes == sizeof letter && network->pes->hosts[pe] != network->pes->hosts[network->pe]);
    memcpy(&letter, head, sizeof letter);
    letter.key.from = network->pe;
    return rs_mail_put(&network->pes->jobs[pe]->mail, &letter, body, body_nbytes);
}

static int fake_begin(struct rs_network *network, int pe, bool put, struct rs_place there, void *here,
                      size_t nbytes, struct rs_place word, uint64_t value, int sig_op,
                      void (*done)(void *arg, int status), void *arg)
{
    bool signal = word.region != RS_REGIONS;
    struct begun_item item = {.pe = pe,
                              .put = put,
                              .there = nbytes ? place_of(network, pe, there) : NULL,
                              .here = here,
                              .nbytes = nbytes,
                              .word = signal ? (uint64_t *)(void *)place_of(network, pe, word) : NULL,
                              .value = value,
                              .sig_op = sig_op,
                              .done = done,
                              .arg = arg};
    return begun_add(&network->begun, &item);
}

/* What broke the job on one host breaks it on the others. */
static unsigned fake_progress(struct rs_network *network)
{
    unsigned came = begun_progress(&network->begun);
    const struct pes *pes = network->pes;
    struct rs_board *mine = &pes->jobs[network->pe]->board;
    for (int pe = 0; pe < pes->n; pe++) {
        const struct rs_abort *theirs = pes->jobs[pe]->board.abort;
        if (theirs != mine->abort && atomic_load_explicit(&theirs->state, memory_order_acquire) == 2)
            rs_board_abort(mine, theirs->status, theirs->pe, theirs->op, theirs->text);
    }
    return came;
}

static const struct rs_network_ops fake_ops = {.name = "fake",
                                               .put = fake_put,
                                               .get = fake_get,
                                               .put_nbi = fake_put,
                                               .get_nbi = fake_get,
                                               .quiet = fake_quiet,
                                               .begin = fake_begin,
                                               .send = fake_send,
                                               .progress = fake_progress};

static unsigned progress(void *arg)
{
    const struct rs_job *job = arg;
    return job->net->ops->progress(job->net->network);
}

static void broken(void *arg, int status, int pe, const char *text)
{
    struct rs_job *job = arg;
    rs_board_abort(&job->board, status, pe, "network", text);
}

static void join_network(struct pes *pes, struct rs_job *job)
{
    struct rs_network *network = malloc(sizeof *network);
    job->net = calloc(1, sizeof *job->net);
    CHECK(network && job->net);
    network->pes = pes;
    network->pe = job->my_pe;
    begun_init(&network->begun, (uint64_t)job->my_pe);
    job->net->ops = &fake_ops;
    job->net->network = network;
    job->net->window = job->heap.base;
    CHECK(rs_proxy_open(&job->net->proxy, &job->device, network, &fake_ops, broken, job) == 0);
    job->watch.progress = progress;
}

static void leave_network(struct rs_job *job)
{
    if (!job->net) return;
    rs_proxy_close(job->net->proxy);
    begun_fini(&job->net->network->begun);
    free(job->net->network);
    free(job->net);
    job->net = NULL;
}

/* ---- PEs ---- */

static struct rs_job *job_create(struct pes *pes, int pe)
{
    struct rs_job *job = calloc(1, sizeof *job);
    CHECK(job);
    CHECK(rs_hosts_find(&job->hosts, pes->hosts, sizeof *pes->hosts, pes->n, pe) == 0);
    job->my_pe = pe;
    job->n_pes = pes->n;
    job->my_local = job->hosts.where[pe].local;
    job->n_local = job->hosts.n_near;
    rs_mail_init(&job->mail);
    job->launcher = "test";
    job->config.max_teams = (uint64_t)pes->max_teams;
    job->config.heap_nbytes = pes->heap_nbytes;
    job->config.inline_nbytes = 65536;
    job->watch = (struct rs_watch){.spin_count = 0, .tick = rs_job_tick, .arg = job};
    pthread_mutex_init(&job->buffers_lock, NULL);
    job->device.ops = &rs_device_host;
    struct rs_device_options options = {.inline_nbytes = job->config.inline_nbytes};
    CHECK(job->device.ops->open(&job->device, 0, &job->watch, &options) == 0);
    void *words;
    CHECK(job->device.ops->words_alloc(&job->device, rs_stream_complete_nbytes(pes->max_teams), &words) == 0);
    job->stream_complete = words;
    unsigned char **board = &pes->boards[job->hosts.near[0]];
    if (!*board) *board = map(rs_board_nbytes(job->n_local, pes->max_teams));
    CHECK(rs_board_attach(&job->board, *board, job->n_local, job->my_local, pes->max_teams) == 0);
    struct rs_window *window; /* no ops: the memory is ours */
    struct rs_windows windows = {.nbytes = pes->stride,
                                 .stride = pes->stride,
                                 .align = RS_WINDOW_ALIGN,
                                 .n_local = job->n_local,
                                 .my_local = job->my_local,
                                 .base = calloc((size_t)job->n_local, sizeof *windows.base)};
    CHECK(windows.base);
    for (int i = 0; i < job->n_local; i++)
        windows.base[i] = (uintptr_t)pes->windows + (size_t)job->hosts.near[i] * pes->stride;
    CHECK(rs_window_create(&window, NULL, &windows) == 0);
    CHECK(rs_heap_init(&job->heap, window, pes->heap_nbytes, job->board.drops, pes->n, pe, &job->hosts) == 0);
    if (job->hosts.n > 1) join_network(pes, job);
    job->routes = calloc((size_t)pes->n, sizeof *job->routes);
    CHECK(job->routes);
    for (int i = 0; i < pes->n; i++) {
        bool near = pes->hosts[i] == pes->hosts[pe];
        job->routes[i] = (struct rs_route){.ops = near ? &rs_transport_direct : &rs_transport_net,
                                           .device = &job->device,
                                           .pe = i,
                                           .shift = near ? ((ptrdiff_t)i - pe) * (ptrdiff_t)pes->stride : 0,
                                           .mapped = near,
                                           .cpu = near,
                                           .link = near ? NULL : job->net};
    }
    job->can_be_outstanding = job->net != NULL;
    CHECK(rs_counters_init(&job->retired, pes->n) == 0);
    CHECK(rs_contexts_create(&job->contexts) == 0);
    CHECK(rs_teams_init(&job->teams, pes->max_teams) == 0);
    int all[PES_MOST];
    for (int i = 0; i < pes->n; i++) all[i] = i;
    CHECK(rs_team_create_fixed(job, RS_TEAM_ID_WORLD, all, pes->n, 0, &job->world) == 0);
    CHECK(rs_team_create_fixed(job, RS_TEAM_ID_SHARED, job->hosts.near, job->n_local, 1, &job->shared) == 0);
    rs_board_arrive(&job->board, pe);
    return job;
}

void pes_create(struct pes *pes, int n, int max_teams, size_t heap_nbytes)
{
    static const uint64_t one_host[PES_MOST];
    pes_create_on(pes, one_host, n, max_teams, heap_nbytes);
}

void pes_create_on(struct pes *pes, const uint64_t *hosts, int n, int max_teams, size_t heap_nbytes)
{
    CHECK(n >= 1 && n <= PES_MOST && max_teams >= 2);
    *pes = (struct pes){.n = n, .max_teams = max_teams, .heap_nbytes = heap_nbytes};
    size_t flags = rs_stream_flag_words(n > 1 ? 2 : 1, n) * sizeof(uint64_t) * (size_t)max_teams;
    pes->stride = rs_heap_room(rs_heap_room(heap_nbytes) + flags);
    memcpy(pes->hosts, hosts, (size_t)n * sizeof *hosts);
    pes->windows = map(pes->stride * (size_t)n);
    for (int pe = 0; pe < n; pe++) pes->jobs[pe] = job_create(pes, pe);
}

void pes_destroy(struct pes *pes)
{
    /* Devices first, all of them: a stream of one PE may be about to write the memory of another. */
    for (int pe = 0; pe < pes->n; pe++)
        if (pes->jobs[pe]->net) rs_proxy_stop(pes->jobs[pe]->net->proxy);
    for (int pe = 0; pe < pes->n; pe++) {
        pes->jobs[pe]->device.ops->close(&pes->jobs[pe]->device);
        rs_board_leave(&pes->jobs[pe]->board);
    }
    int n_local[PES_MOST];
    for (int pe = 0; pe < pes->n; pe++) leave_network(pes->jobs[pe]);
    for (int pe = 0; pe < pes->n; pe++) {
        n_local[pe] = pes->jobs[pe]->n_local;
        rs_job_destroy(pes->jobs[pe]);
    }
    for (int pe = 0; pe < pes->n; pe++)
        if (pes->boards[pe]) munmap(pes->boards[pe], rs_board_nbytes(n_local[pe], pes->max_teams));
    munmap(pes->windows, pes->stride * (size_t)pes->n);
}

struct start {
    struct rs_job *job;
    void (*body)(struct rs_job *, void *);
    void (*numbered)(int, void *);
    int number;
    void *arg;
    pthread_t thread;
};

static void *run(void *arg)
{
    struct start *start = arg;
    if (start->job) {
        CHECK(rs_thread_attach(start->job) == 0);
        start->body(start->job, start->arg);
    } else {
        start->numbered(start->number, start->arg);
    }
    return NULL;
}

static void run_all(struct start *starts, int n)
{
    for (int i = 0; i < n; i++) CHECK(pthread_create(&starts[i].thread, NULL, run, &starts[i]) == 0);
    for (int i = 0; i < n; i++) CHECK(pthread_join(starts[i].thread, NULL) == 0);
}

void pes_run(struct pes *pes, void (*body)(struct rs_job *, void *), void *arg)
{
    struct start starts[PES_MOST];
    for (int i = 0; i < pes->n; i++)
        starts[i] = (struct start){.job = pes->jobs[i], .body = body, .arg = arg};
    run_all(starts, pes->n);
}

void pes_threads(int n, void (*body)(int, void *), void *arg)
{
    struct start *starts = calloc((size_t)n, sizeof *starts);
    CHECK(starts);
    for (int i = 0; i < n; i++) starts[i] = (struct start){.numbered = body, .number = i, .arg = arg};
    run_all(starts, n);
    free(starts);
}

struct rs_signature pes_call(const struct rs_team *team, enum rs_call call, enum rs_kind kind, uint64_t a,
                             uint64_t b, uint64_t c)
{
    return (struct rs_signature){(uint32_t)call, (uint32_t)kind, team->id, {a, b, c}, 0};
}

int pes_barrier(struct rs_team *team)
{
    struct rs_signature s = pes_call(team, RS_CALL_BARRIER, RS_KIND_BARRIER, 0, 0, 0);
    return rs_collective_barrier(team, &s);
}

void pes_of_sizes(size_t heap_nbytes, int first, int last, void (*body)(struct rs_job *, void *), void *arg)
{
    for (int n = first; n <= last; n += n < 3 ? 1 : n < 5 ? 2 : 3) {
        struct pes pes;
        pes_create(&pes, n, 2, heap_nbytes);
        pes_run(&pes, body, arg);
        pes_destroy(&pes);
    }
}

bool pes_shape(int shape, int n, uint64_t hosts[PES_MOST])
{
    for (int pe = 0; pe < n; pe++) {
        const int shapes[PES_SHAPES] = {0, pe, pe / 2, pe % 2, pe == n - 1};
        hosts[pe] = 100 - (uint64_t)shapes[shape];
    }
    return shape == 0 || (n > 1 && (shape == 1 || n > 2));
}

void pes_of_shapes(size_t heap_nbytes, int first, int last, void (*body)(struct rs_job *, void *), void *arg)
{
    for (int n = first; n <= last; n += n < 3 ? 1 : n < 5 ? 2 : 3)
        for (int shape = 0; shape < PES_SHAPES; shape++) {
            uint64_t hosts[PES_MOST];
            struct pes pes;
            if (!pes_shape(shape, n, hosts)) continue;
            pes_create_on(&pes, hosts, n, 2, heap_nbytes);
            pes_run(&pes, body, arg);
            pes_destroy(&pes);
        }
}

uint64_t pes_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void pes_text_of(void (*write)(int, const void *), const void *arg, char *out, size_t nbytes)
{
    int fd = rs_os_memfd("text", 0); /* a file: a pipe could fill up */
    CHECK(fd >= 0);
    write(fd, arg);
    ssize_t n = pread(fd, out, nbytes - 1, 0);
    CHECK(n >= 0);
    out[n] = '\0';
    close(fd);
}
