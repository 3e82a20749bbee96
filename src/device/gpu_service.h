/* SPDX-License-Identifier: MIT
 *
 * What a PE asks of another one on its host, in memory that the CPUs of both share and that the streams of both reach
 * (registered with the driver). gpu_ask.c asks, gpu_service.c serves.
 *
 * A request's life: its PE fills in the fields, then asked gets the request's ticket, from the CPU or, in the
 * order of a stream, by a memory operation; the server does it and gives done the ticket, from its CPU or in the order
 * of its own stream; the PE polls that or its stream waits for it. A PE has one request of its CPU, a ring of those of
 * its streams, and those in graphs, whose values are constant: asked becomes 1, the server clears it and then gives
 * done 1, and the graph's stream, which waits for that, clears done.
 */
#ifndef RS_DEVICE_GPU_SERVICE_H
#define RS_DEVICE_GPU_SERVICE_H

#include "device/gpu.h"
#include "device/kernels/rs_request.h"

#define RS_ASK_RING 2048u
#define RS_ASK_CAPTURED 512u
#define RS_ASK_DATA_NBYTES 256u
#define RS_ASK_STREAM_CHUNKS 64u
#define RS_ASK_CHUNKS (RS_ASK_STREAM_CHUNKS + 32u) /* the others for graphs */
#define RS_ASK_CHUNK_NBYTES ((size_t)64 << 10)

/* Beside enum rs_amo_op and RS_REQUEST_PUT: what the server's streams do. */
enum { RS_ASK_COPY = 16, RS_ASK_WRITE, RS_ASK_REDUCE };

struct rs_ask {
    _Alignas(64) _Atomic uint64_t
        asked; /* W: its PE's CPU, release, or stream, after the fields; the server clears a graph's. R: server,
                  acquire */
    uint64_t dst, src; /* W: its PE, while it is not asked; likewise the rest. Offsets in the window of: */
    uint64_t nbytes;   /* of an atomic and a word: 4 or 8; of a reduction: elements */
    uint64_t value, cond;
    uint32_t op;
    int16_t dst_local, src_local; /* -1: in the chunks of its PE */
    int16_t to;                   /* who serves it */
    uint16_t more;                /* the next ones that belong to it: asked, and done, with it */
    _Alignas(
        64) _Atomic uint64_t done; /* W: server, or its stream, release. R: its PE, acquire; its stream */
    uint64_t old;                  /* W: server, before done */
};

enum { RS_SERVICE_NOT_YET, RS_SERVICE_RUNS, RS_SERVICE_FAILED, RS_SERVICE_ENDED };
struct rs_service_block { /* a PE's */
    /* Of who serves. */
    _Alignas(128) _Atomic uint32_t state; /* W: server, release after the next three. R: anyone, acquire */
    int32_t status;
    uint32_t streams; /* its streams reach what it serves */
    char text[232];
    _Alignas(128) _Atomic uint32_t bell; /* W: who wakes, relaxed: the futex compares it. R: server */
    _Atomic uint32_t sleeping;           /* W: server. R: who asks. Both between full fences */
    /* Of who asks. */
    _Alignas(
        128) _Atomic uint64_t head; /* requests of streams so far. W: owner, release. R: server, acquire */
    _Atomic uint32_t n_captured;    /* the same, of those in graphs */
    struct rs_ask now;              /* its CPU's */
    _Alignas(64) unsigned char data[RS_ASK_DATA_NBYTES]; /* of a put. As the request's fields */
    _Alignas(4096) struct rs_ask ring[RS_ASK_RING];      /* ticket t is in ring[(t - 1) % RS_ASK_RING] */
    struct rs_ask captured[RS_ASK_CAPTURED];
    _Alignas(
        4096) unsigned char chunks[RS_ASK_CHUNKS][RS_ASK_CHUNK_NBYTES]; /* for PEs that can't be reached */
};
_Static_assert(sizeof(struct rs_service_block) == RS_DEVICE_SHARED_NBYTES, "a block has room");
#define RS_SERVICE_HEAD_NBYTES offsetof(struct rs_service_block, chunks)

#define RS_SERVICE_BATCH 64u /* requests of one kernel */
#define RS_SERVICE_STREAMS 4u

struct rs_gpu_service {
    struct rs_gpu *gpu;
    unsigned char *shared; /* n_local blocks */
    int n_local, my_local;
    int server, sharers; /* who serves the PEs of this GPU, and how many they are */
    bool is_shared;      /* more than one */
    bool any_far;
    bool *far;        /* owned, n_local: windows that are not mapped here; their own PEs serve them */
    bool *registered; /* owned, n_local: blocks that streams reach here */
    uintptr_t *base;  /* owned: the windows as they are mapped here; of one that is far: its name */
    size_t window_nbytes, spare; /* the last words of a window are nobody's */
    struct rs_service_block *mine;

    /* Of who asks. */
    uint64_t ticket;      /* of now; under the device's now_lock */
    pthread_mutex_t lock; /* the ring, those in graphs, and the chunks */
    uint64_t head;
    void *chunk_of[RS_ASK_STREAM_CHUNKS]; /* the stream of each */
    unsigned n_chunks, n_captured_chunks;

    /* Of the server's thread. */
    bool *asks; /* owned, n_local: who may ask here; NULL: nobody, no thread */
    bool started;
    pthread_t thread;
    _Atomic bool stop; /* W: who closes, release. R: the thread, acquire */
    void *stream;      /* for kernels that the CPU waits for */
    void *streams[RS_SERVICE_STREAMS];
    struct rs_request *work; /* pinned: RS_SERVICE_BATCH, and the data of as many puts behind */
    unsigned char *data;
    struct rs_ask *from[RS_SERVICE_BATCH];
    uint64_t tickets[RS_SERVICE_BATCH];
    uint64_t *tails; /* owned, n_local: what of the rings is done */
    uint64_t *
        issued; /* owned, n_local * (RS_ASK_RING + 1): the ticket that was last taken from each place, and now's */
    uint64_t batch;
};

static inline struct rs_service_block *rs_service_block_of(const struct rs_gpu_service *s, int local)
{
    return (struct rs_service_block *)(void *)(s->shared + (size_t)local * RS_DEVICE_SHARED_NBYTES);
}

/* gpu_ask.c. The PE whose window it is in, or -1. */
int rs_service_locate(const struct rs_gpu_service *s, uintptr_t at, size_t nbytes);
void rs_service_wake(const struct rs_gpu_service *s, int server);
/* n requests in the order of a stream, as one; it goes on when they are done. needed: there is no other way, so an
 * error instead of 1 when there is no room. Context entered. */
int rs_service_push(struct rs_gpu *gpu, void *stream, struct rs_ask *asks, unsigned n, bool needed);
/* Room of the caller's PE for a copy in a stream, or in the graph that is captured there. */
int rs_service_chunk(struct rs_gpu *gpu, void *stream, bool capturing, unsigned *chunk_out);

#endif
