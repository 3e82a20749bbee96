/* SPDX-License-Identifier: MIT
 *
 * Everything a job owns hangs here; built by rs_job_create and torn down by rs_job_destroy in one visible
 * order.
 */
#ifndef RS_PGAS_JOB_H
#define RS_PGAS_JOB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/status.h"
#include "base/wait.h"
#include "bootstrap/bootstrap.h"
#include "device/device.h"
#include "observe/board.h"
#include "observe/counters.h"
#include "observe/probe.h"
#include "pgas/heap.h"
#include "pgas/hosts.h"
#include "pgas/mail.h"
#include "pgas/network.h"
#include "pgas/news.h"
#include "pgas/static_data.h"
#include "pgas/team.h"
#include "pgas/thread.h"
#include "transport/net.h"
#include "transport/transport.h"

/* A user buffer that was registered: local, sorted by address. */
struct rs_buffer {
    uintptr_t base;
    size_t nbytes;
};

/* A context. Host-issued operations on this host complete at once, so it is a name, its options, and a team.
 */
struct rs_context {
    _Atomic uint32_t generation; /* odd while alive. W: under the lock, release. R: any call on it, acquire */
    uint32_t next_free;          /* under the lock: index + 1 of the next free one */
    int64_t options;
    struct rs_team *team;          /* one reference; NULL: the world */
    const struct rs_thread *owner; /* who made it: the only one to use it when it is WG_PRIVATE */
};
#define RS_CONTEXT_CHUNK 256u
#define RS_CONTEXT_CHUNKS 4096u
struct rs_contexts {
    pthread_mutex_t lock;
    struct rs_context *_Atomic chunks[RS_CONTEXT_CHUNKS]; /* owned. W: under the lock, release. R: acquire */
    uint32_t n, first_free; /* under the lock; first_free: index + 1, 0 is none */
};

struct rs_job {
    int my_pe, n_pes;
    int my_local, n_local; /* among the PEs of this host */
    struct rs_hosts hosts;
    struct rs_net *net;             /* owned; NULL: nobody is on another host */
    struct rs_addresses *addresses; /* owned: of the network (network.c) */
    struct rs_proxy *proxy;         /* owned, between the network's end and the device's */
    struct rs_suspicion suspicion;
    struct rs_mail mail;
    struct rs_news_desk *news; /* owned; NULL: one host, or not the first PE of it */
    struct rs_asked *asked;    /* owned, when there is a network: what this PE answers (question.c) */
    const char *launcher;      /* static */
    struct rs_config config;
    rocshmem_uniqueid_t uid; /* that init was given; zero otherwise */
    struct rs_watch watch;
    struct rs_board board;
    struct rs_device device;
    char device_why[160]; /* why this kind: for people */
    struct rs_heap heap;
    struct rs_static_data data; /* the second symmetric region; nbytes 0 without */
    uint64_t *stream_complete;  /* owned: a ring per slot: what of its stream collectives is complete here */
    struct rs_scratch *scratch; /* owned: of reductions over hosts (stream_span.c); under the teams' lock */
    struct rs_route *routes;    /* owned, n_pes */
    bool can_be_outstanding;    /* the device or the network may hold what is not complete */
    struct rs_teams teams;
    struct rs_team *world, *shared; /* references of the table */
    struct rs_contexts *contexts;   /* owned */
    pthread_mutex_t buffers_lock;
    struct rs_buffer *buffers; /* owned, sorted */
    size_t n_buffers, buffers_capacity;
    struct rs_probe probe;      /* who looks at calls */
    struct rs_check *check;     /* owned; NULL: not checked mode (checked.c) */
    void *check_memory;         /* owned: the board's mapping with what checked mode shares behind it */
    struct rs_counters retired; /* of threads that ended; under thread.c's lock */
    /* finalize has begun to take the job apart: no other thread waits or begins a call. W: ender, release, after the
     * next one. R: slow ticks and the slow way into a call, acquire */
    _Atomic bool ending;
    const struct rs_thread *ender; /* before ending */
    bool built;                    /* init went through: finalize may be collective */
};

/* The process's job; NULL before init and after finalize. W: init and finalize, release. R: attach, acquire.
 */
extern struct rs_job *_Atomic rs_job_current;

/* Take part in the exchange over bootstrap (borrowed) and build everything. All PEs succeed, or all fail with
 * a message. */
int rs_job_create(struct rs_job **job_out, const struct rs_config *config, struct rs_bootstrap *bootstrap,
                  const rocshmem_uniqueid_t *uid);
/* Free everything; waits for nobody. NULL is fine. */
void rs_job_destroy(struct rs_job *job);
/* What a wait looks at on its slow ticks (struct rs_watch). arg: the job. tick.c has these. */
int rs_job_tick(void *arg, uint64_t waited_ns, int first);
/* Write into this thread's note where its program is, if a language runtime can tell. Not in a signal handler. */
void rs_job_locate(struct rs_thread *thread);
/* The place alone, as text; "" when nobody can tell. */
void rs_job_ask(char out[RS_SEEN_WHERE]);
/* The same in a signal handler, with frames of C; context: the handler's third argument. Nothing outside a job. */
void rs_job_locate_in_handler(const void *context);
/* Whom they ask; process-wide. NULL: nobody. See rocshmemx_set_location_hook. */
void rs_job_set_locator(int (*hook)(void *arg, int in_handler, char *out, size_t nbytes), void *arg);
/* Whom ticks ask for pending signals; process-wide. NULL: nobody. */
void rs_job_set_interrupt(int (*hook)(void *arg), void *arg);

/* Ask it: 0, or INTERRUPTED (worded). For the waits of the bootstrap. */
int rs_job_interrupted(void);

/* Complete (or only put in order) what transports still hold; for jobs that can_be_outstanding. */
int rs_job_complete(struct rs_job *job, bool order_only);
/* A world collective that also settles which dropped blocks are free now; what malloc, free and finalize
 * begin with. nbytes: NULL, or what this PE is about to allocate, where PEs may differ: becomes the most of all. */
int rs_job_settle(struct rs_job *job, const struct rs_signature *signature, size_t *nbytes);

/* The place of a PE among those of this host; -1: it is on another one. */
static inline int rs_job_local(const struct rs_job *job, int pe)
{
    const struct rs_where *where = &job->hosts.where[pe];
    return where->host == job->hosts.mine ? where->local : -1;
}

/* The host of a PE, for messages. */
static inline const char *rs_job_host_name(const struct rs_job *job, int pe)
{
    return job->hosts.names ? job->hosts.names[job->hosts.where[pe].host] : "this one";
}

/* What came by the network is looked at, for callers that poll without a wait. */
static inline void rs_job_poll(const struct rs_job *job)
{
    if (RS_UNLIKELY(job->net)) (void)job->net->ops->progress(job->net->network);
}

static inline bool rs_job_has_pe(const struct rs_job *job, int pe)
{
    return (unsigned)pe < (unsigned)job->n_pes;
}

/* One of this PE's own words, as the CPU sees it now or by the device. width 2, 4 or 8. */
static inline int rs_job_load(struct rs_job *job, const void *word, size_t width, uint64_t *out)
{
    if (__builtin_expect(!job->device.ops->cpu_reaches_heap, 0))
        return job->device.ops->amo(&job->device, RS_AMO_FETCH, (void *)(uintptr_t)word, width, 0, 0, out);
    *out = width == 8   ? __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE)
           : width == 4 ? __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE)
                        : __atomic_load_n((const uint16_t *)word, __ATOMIC_ACQUIRE);
    return 0;
}

/* Contexts: pgas/context.c. */
int rs_contexts_create(struct rs_contexts **contexts_out);
void rs_contexts_destroy(struct rs_contexts *contexts); /* NULL is fine */
int rs_context_create(struct rs_job *job, struct rs_team *team, int64_t options, rocshmem_ctx_t *ctx_out);
int rs_context_destroy(struct rs_job *job, rocshmem_ctx_t ctx);
/* Destroy all contexts of a team. */
void rs_contexts_forget(struct rs_job *job, struct rs_team *team);
/* The live context behind a handle, which this thread may use; or NULL (worded). */
const struct rs_context *rs_context_get(struct rs_job *job, rocshmem_ctx_t ctx);

#endif
