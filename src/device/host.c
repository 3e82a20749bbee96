/* SPDX-License-Identifier: MIT
 *
 * Host memory as a device. The windows of all PEs of a host are one sparse memfd, mapped by each with one
 * call: no name in /dev/shm, nothing left after a kill, memory used when touched. Ordered work is
 * host_stream.c's.
 */
#include <stdlib.h>

#include "base/os.h"
#include "base/status.h"
#include "device/device.h"
#include "device/host_stream.h"

/* So that any alignment up to a gigabyte, asked of the heap, is one of addresses too (stride is a multiple as
 * well). */
#define WINDOW_ALIGN ((size_t)1 << 30)

static int host_count(const struct rs_device_options *options, char *why, size_t nbytes)
{
    (void)options;
    (void)why;
    (void)nbytes;
    return 1;
}

static int host_open(struct rs_device *dev, int ordinal, const struct rs_watch *watch,
                     const struct rs_device_options *options)
{
    struct rs_streams *streams;
    RS_TRY(rs_streams_create(&streams, watch, options->inline_nbytes));
    dev->ordinal = ordinal;
    dev->state = streams;
    return 0;
}

static void host_close(struct rs_device *dev)
{
    rs_streams_destroy(dev->state);
    dev->state = NULL;
}

static int host_windows_create(struct rs_device *dev, size_t stride, int n_local, int *fd_out)
{
    (void)dev;
    size_t total;
    if (__builtin_mul_overflow(stride, (size_t)n_local, &total) || total > (size_t)PTRDIFF_MAX)
        return rs_fail(
            RS_E_NOMEM,
            "symmetric heaps of %zu bytes for %d PEs exceed the address space; lower ROCSHMEM_HEAP_SIZE",
            stride, n_local);
    int fd = rs_os_memfd("rocshmem-heap", total);
    if (fd < 0) return fd;
    *fd_out = fd;
    return 0;
}

static int host_windows_map(struct rs_device *dev, int fd, struct rs_windows *windows)
{
    (void)dev;
    void *all;
    int rc = rs_os_map_shared_at(fd, windows->stride * (size_t)windows->n_local, WINDOW_ALIGN, &all);
    if (rc < 0)
        return rs_fail_context("cannot map %d symmetric heaps of %zu bytes (lower ROCSHMEM_HEAP_SIZE)",
                               windows->n_local, windows->nbytes);
    for (int i = 0; i < windows->n_local; i++)
        windows->base[i] = (uintptr_t)all + (size_t)i * windows->stride;
    windows->align = WINDOW_ALIGN;
    return 0;
}

static void host_windows_unmap(struct rs_windows *windows)
{
    if (windows->base && windows->base[0])
        rs_os_unmap((void *)windows->base[0], windows->stride * (size_t)windows->n_local);
    free(windows->base);
    windows->base = NULL;
}

static int host_words_alloc(struct rs_device *dev, size_t nbytes, void **words_out)
{
    (void)dev;
    *words_out = calloc(1, nbytes);
    return *words_out ? 0 : rs_fail(RS_E_NOMEM, "no memory for %zu bytes of words", nbytes);
}

static void host_words_free(void *words)
{
    free(words);
}

static int host_stream_create(struct rs_device *dev, void **stream_out)
{
    return rs_streams_add(dev->state, stream_out);
}

static int host_stream_destroy(struct rs_device *dev, void *stream)
{
    return rs_streams_remove(dev->state, stream);
}

static int host_synchronize(struct rs_device *dev, void *stream)
{
    return rs_streams_synchronize(dev->state, stream);
}

static int host_synchronize_all(struct rs_device *dev)
{
    return rs_streams_synchronize_all(dev->state);
}

static int host_query(struct rs_device *dev, void *stream)
{
    return rs_streams_query(dev->state, stream);
}

static int host_probe(struct rs_device *dev, void *stream)
{
    int rc = rs_streams_query(dev->state, stream);
    return rc < 0 ? rc : 0;
}

static void host_describe(struct rs_device *dev, void *stream, bool any, char *out, size_t nbytes)
{
    rs_streams_describe(dev->state, stream, any, out, nbytes);
}

static int host_copy(struct rs_device *dev, void *stream, void *dst, const void *src, size_t nbytes)
{
    struct rs_work work = {.kind = RS_WORK_COPY, .u.copy = {dst, src, nbytes}};
    return rs_streams_push(dev->state, stream, &work);
}

static int host_batch(struct rs_device *dev, void *stream, const struct rs_memop *ops, size_t n)
{
    struct rs_work work = {.kind = RS_WORK_BATCH, .u.batch = {ops, n}};
    return rs_streams_push(dev->state, stream, &work);
}

static int host_call(struct rs_device *dev, void *stream, int (*fn)(void *arg, bool failed), void *arg)
{
    struct rs_work work = {.kind = RS_WORK_CALL, .u.call = {fn, arg}};
    int rc = rs_streams_push(dev->state, stream, &work);
    if (rc < 0) fn(arg, true); /* not enqueued: its one call is this */
    return rc;
}

const struct rs_device_ops rs_device_host = {
    .name = "host",
    .cpu_reaches_heap = true,
    .can_call = true,
    .count = host_count,
    .open = host_open,
    .close = host_close,
    .windows_create = host_windows_create,
    .windows_map = host_windows_map,
    .windows_unmap = host_windows_unmap,
    .words_alloc = host_words_alloc,
    .words_free = host_words_free,
    .stream_create = host_stream_create,
    .stream_destroy = host_stream_destroy,
    .synchronize = host_synchronize,
    .synchronize_all = host_synchronize_all,
    .query = host_query,
    .probe = host_probe,
    .describe = host_describe,
    .copy = host_copy,
    .batch = host_batch,
    .call = host_call,
};
