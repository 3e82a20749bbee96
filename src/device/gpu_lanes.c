/* SPDX-License-Identifier: MIT
 *
 * Large copies that need no order among each other, in the order of a user's stream: side by side on streams of our
 * own ("lanes"), which begin behind what the stream has before and which its later work waits for. Events do both,
 * so a capture of the stream takes the lanes into its graph as branches.
 *
 * Every user's stream has lanes of its own. Were they shared, the copies of one stream would stand behind those of
 * another that waits for something, and PEs that enqueue in different orders could wait for each other for ever.
 * A lane that joined a capture belongs to it until that ends, as the user's stream does. So only one thing has to be
 * kept apart: two threads that enqueue on one stream, by the lock.
 */
#include <stdlib.h>

#include "base/status.h"
#include "device/gpu.h"

#define LANES 4u
#define SETS_MOST 32u /* a program with more streams has no lanes for the rest */

struct rs_gpu_lanes {
    struct rs_gpu_lanes *next; /* all of the device, under lanes_lock */
    void *of;                  /* the user's stream */
    void *streams[LANES];
    void *begin, *ends[LANES]; /* events */
};

static int make(struct rs_gpu *gpu, struct rs_gpu_lanes *lanes)
{
    const struct rs_gpu_driver *drv = gpu->drv;
    int code = drv->event_create(&lanes->begin, 2 /* no times */);
    for (unsigned i = 0; code == 0 && i < LANES; i++) {
        code = drv->stream_create(&lanes->streams[i], 1 /* apart from the default stream */);
        if (code == 0) code = drv->event_create(&lanes->ends[i], 2);
    }
    return code;
}

static void destroy(struct rs_gpu *gpu, struct rs_gpu_lanes *lanes)
{
    for (unsigned i = 0; i < LANES; i++) {
        if (lanes->streams[i]) gpu->drv->stream_destroy(lanes->streams[i]);
        if (lanes->ends[i]) gpu->drv->event_destroy(lanes->ends[i]);
    }
    if (lanes->begin) gpu->drv->event_destroy(lanes->begin);
    free(lanes);
}

/* NULL: none for this stream; then one after the other will do. 2 names another stream in every thread. */
static struct rs_gpu_lanes *lanes_of_locked(struct rs_gpu *gpu, void *stream)
{
    unsigned n = 0;
    int mode = 2; /* relaxed: this is no part of a capture in this thread */
    if (stream == (void *)2) return NULL;
    for (struct rs_gpu_lanes *each = gpu->lanes; each; each = each->next, n++)
        if (each->of == stream) return each;
    if (n >= SETS_MOST) return NULL;
    struct rs_gpu_lanes *lanes = calloc(1, sizeof *lanes);
    if (!lanes) return NULL;
    lanes->of = stream;
    gpu->drv->capture_mode(&mode);
    int code = make(gpu, lanes);
    if (code) destroy(gpu, lanes);
    gpu->drv->capture_mode(&mode);
    if (code) return NULL;
    lanes->next = gpu->lanes;
    gpu->lanes = lanes;
    return lanes;
}

static int copy_one(struct rs_gpu *gpu, void *stream, const struct rs_copy *copy)
{
    return rs_gpu_push_copy(gpu, stream, (uintptr_t)copy->dst, (uintptr_t)copy->src, copy->nbytes);
}

static int fork_and_join(struct rs_gpu *gpu, const struct rs_gpu_lanes *lanes, void *stream,
                         const struct rs_copy *copies, size_t n)
{
    const struct rs_gpu_driver *drv = gpu->drv;
    size_t used = n < LANES ? n : LANES;
    int code = drv->event_record(lanes->begin, stream), rc = 0;
    for (size_t i = 0; code == 0 && i < used; i++)
        code = drv->stream_wait(lanes->streams[i], lanes->begin, 0);
    for (size_t i = 0; code == 0 && rc == 0 && i < n; i++)
        rc = copy_one(gpu, lanes->streams[i % LANES], &copies[i]);
    for (size_t i = 0; i < used; i++) { /* also after a failure: what was forked must come back */
        int joined = drv->event_record(lanes->ends[i], lanes->streams[i]);
        if (joined == 0) joined = drv->stream_wait(stream, lanes->ends[i], 0);
        if (code == 0) code = joined;
    }
    return rc < 0 || code == 0 ? rc : rs_gpu_fail_stream(gpu, code, "copy", stream);
}

/* Does it name memory that is not reached from here? That takes room which each stream has once. */
static bool any_far(const struct rs_gpu *gpu, const struct rs_copy *copies, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rs_gpu_far(gpu, (uintptr_t)copies[i].src) >= 0 || rs_gpu_far(gpu, (uintptr_t)copies[i].dst) >= 0)
            return true;
    return false;
}

int rs_gpu_copies(struct rs_device *dev, void *stream, const struct rs_copy *copies, size_t n)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    RS_TRY(rs_gpu_enter_stream(gpu, &entry, stream));
    int rc = gpu->service ? rs_gpu_service_copies(gpu, stream, copies, n) : 1;
    if (rc <= 0) {
        rs_gpu_leave(gpu, &entry);
        return rc;
    }
    rc = 0;
    pthread_mutex_lock(&gpu->lanes_lock);
    /* Where PEs share the GPU more streams do not make it do more at a time. */
    const struct rs_gpu_lanes *lanes =
        n > 1 && rs_gpu_sharers(gpu) == 1 && !any_far(gpu, copies, n) ? lanes_of_locked(gpu, stream) : NULL;
    if (lanes)
        rc = fork_and_join(gpu, lanes, stream, copies, n);
    else
        for (size_t i = 0; rc == 0 && i < n; i++) rc = copy_one(gpu, stream, &copies[i]);
    pthread_mutex_unlock(&gpu->lanes_lock);
    rs_gpu_leave(gpu, &entry);
    return rc;
}

void rs_gpu_lanes_free(struct rs_gpu *gpu)
{
    while (gpu->lanes) {
        struct rs_gpu_lanes *lanes = gpu->lanes;
        gpu->lanes = lanes->next;
        destroy(gpu, lanes);
    }
}
