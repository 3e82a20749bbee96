/* SPDX-License-Identifier: MIT
 *
 * The transport to every PE whose window is mapped here: its operations are the device's, after one addition.
 * Host-issued small transfers never come here: api/ does them inline where route->cpu says that it may.
 */
#include "base/status.h"
#include "rocshmem/rocshmem.h"
#include "transport/transport.h"

static int direct_put(const struct rs_route *route, void *dest, const void *source, size_t nbytes)
{
    return rs_device_move(route->device, rs_route_address(route, dest), source, nbytes);
}

static int direct_get(const struct rs_route *route, void *dest, const void *source, size_t nbytes)
{
    return rs_device_move(route->device, dest, rs_route_address(route, source), nbytes);
}

static int direct_put_nbi(const struct rs_route *route, void *dest, const void *source, size_t nbytes)
{
    return route->device->ops->transfer_nbi(route->device, rs_route_address(route, dest), source, nbytes);
}

static int direct_get_nbi(const struct rs_route *route, void *dest, const void *source, size_t nbytes)
{
    return route->device->ops->transfer_nbi(route->device, dest, rs_route_address(route, source), nbytes);
}

static int direct_quiet(const struct rs_route *route)
{
    return route->device->ops->complete(route->device);
}

static int direct_amo(const struct rs_route *route, enum rs_amo_op op, void *dest, size_t width,
                      uint64_t value, uint64_t cond, uint64_t *old_out)
{
    const struct rs_device_ops *device = route->device->ops;
    if (device->amo)
        return device->amo(route->device, op, rs_route_address(route, dest), width, value, cond, old_out);
    uint64_t old =
        width == 4 ? rs_amo_on_uint32_t(op, rs_route_address(route, dest), (uint32_t)value, (uint32_t)cond)
                   : rs_amo_on_uint64_t(op, rs_route_address(route, dest), value, cond);
    if (old_out) *old_out = old;
    return 0;
}

static int direct_put_signal(const struct rs_route *route, void *dest, const void *source, size_t nbytes,
                             uint64_t *word, uint64_t value, int sig_op, bool nbi)
{
    const struct rs_device_ops *device = route->device->ops;
    bool add = sig_op == ROCSHMEM_SIGNAL_ADD;
    struct rs_memop signal = {
        .kind = add ? RS_MEMOP_ADD : RS_MEMOP_WRITE, .word = rs_route_address(route, word), .value = value};
    (void)nbi; /* what comes before a signal is complete before it */
    int rc = nbytes && device->put_signal
                 ? device->put_signal(route->device, rs_route_address(route, dest), source, nbytes, &signal)
                 : 1;
    if (rc <= 0) return rc;
    if (nbytes) RS_TRY(direct_put(route, dest, source, nbytes));
    return direct_amo(route, add ? RS_AMO_ADD : RS_AMO_SET, word, sizeof *word, value, 0, NULL);
}

static int direct_put_on_stream(const struct rs_route *route, void *stream, void *dest, const void *source,
                                size_t nbytes)
{
    return route->device->ops->copy(route->device, stream, rs_route_address(route, dest), source, nbytes);
}

static int direct_get_on_stream(const struct rs_route *route, void *stream, void *dest, const void *source,
                                size_t nbytes)
{
    return route->device->ops->copy(route->device, stream, dest, rs_route_address(route, source), nbytes);
}

static int direct_signal_on_stream(const struct rs_route *route, void *stream, uint64_t *word, uint64_t value,
                                   int sig_op)
{
    struct rs_memop op = {.kind = sig_op == ROCSHMEM_SIGNAL_ADD ? RS_MEMOP_ADD : RS_MEMOP_WRITE,
                          .word = rs_route_address(route, word),
                          .value = value};
    return route->device->ops->batch(route->device, stream, &op, 1);
}

/* clang-format off */
#define DIRECT \
    .name = "direct", .put = direct_put, .get = direct_get, .amo = direct_amo, \
    .put_signal = direct_put_signal, \
    .put_on_stream = direct_put_on_stream, .get_on_stream = direct_get_on_stream, \
    .signal_on_stream = direct_signal_on_stream
const struct rs_transport_ops rs_transport_direct = {DIRECT};
const struct rs_transport_ops rs_transport_direct_nbi = {
    DIRECT, .put_nbi = direct_put_nbi, .get_nbi = direct_get_nbi, .quiet = direct_quiet};
/* clang-format on */
