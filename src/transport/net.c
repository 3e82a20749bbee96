/* SPDX-License-Identifier: MIT
 *
 * Loads the network's plug-in, gives it what it needs of the library, and turns the transport's operations into its own.
 */
#include "transport/net.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/plugin.h"
#include "base/status.h"
#include "rocshmem/rocshmem.h"
#include "transport/proxy.h"

#define PLUGIN "librocshmem_ucx.so"

static int find(const struct rs_network_ops **ops_out)
{
    char why[400] = "";
    const struct rs_network_ops *(*plugin)(uint32_t version) = NULL;
    void *symbol = rs_plugin_symbol(PLUGIN, RS_NETWORK_SYMBOL, why, sizeof why);
    if (!symbol)
        return rs_fail(
            RS_E_UNSUPPORTED,
            "PEs are on several hosts, but " PLUGIN
            " is not to be had (%s): it is built beside librocshmem.so when CMake finds UCX; install UCX "
            "(Debian: libucx-dev to build, libucx0 to run)",
            why);
    memcpy(&plugin, &symbol, sizeof plugin); /* C has no cast from an object's pointer to a function's */
    *ops_out = plugin(RS_NETWORK_VERSION);
    if (!*ops_out)
        return rs_fail(RS_E_UNSUPPORTED,
                       PLUGIN " is of another version than this library; install them together");
    return 0;
}

/* ---- what the plug-in is given ---- */

__attribute__((format(printf, 3, 4))) static int net_fail(int status, int pe, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return pe < 0 ? rs_fail(status, "%s", text) : rs_fail_pe(status, pe, "%s", text);
}

__attribute__((format(printf, 2, 3))) static void net_log(int level, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (level <= (int)rs_log_threshold) rs_log_write((enum rs_log_level)level, "%s", text);
}

static struct rs_net *net_of(const struct rs_network_host *host)
{
    return host->arg;
}

static void net_wait_begin(const struct rs_network_host *host, struct rs_wait *wait)
{
    rs_wait_begin(wait, net_of(host)->options.watch);
}

static int net_wait_pause(struct rs_wait *wait)
{
    return rs_wait_pause(wait);
}

static const void *net_address_of(const struct rs_network_host *host, int pe, size_t *nbytes_out)
{
    const struct rs_net_options *options = &net_of(host)->options;
    return options->address_of(options->arg, pe, nbytes_out);
}

static void net_receive(const struct rs_network_host *host, int from, const void *head, size_t head_nbytes,
                        const void *body, size_t body_nbytes)
{
    const struct rs_net_options *options = &net_of(host)->options;
    options->receive(options->arg, from, head, head_nbytes, body, body_nbytes);
}

static void net_lost(const struct rs_network_host *host, int pe, const char *why)
{
    const struct rs_net_options *options = &net_of(host)->options;
    options->lost(options->arg, pe, why);
}

int rs_net_open(struct rs_net **net_out, const struct rs_net_options *options)
{
    const struct rs_network_ops *ops;
    RS_TRY(find(&ops));
    struct rs_net *net = calloc(1, sizeof *net);
    if (!net) return rs_fail(RS_E_NOMEM, "no memory for the network");
    net->ops = ops;
    net->options = *options;
    net->host = (struct rs_network_host){.my_pe = options->my_pe,
                                         .n_pes = options->n_pes,
                                         .device = options->device,
                                         .fail = net_fail,
                                         .log = net_log,
                                         .wait_begin = net_wait_begin,
                                         .wait_pause = net_wait_pause,
                                         .address_of = net_address_of,
                                         .receive = net_receive,
                                         .lost = net_lost,
                                         .tls = options->config->ucx_tls,
                                         .peer_timeout_ns = options->config->peer_timeout_ns,
                                         .arg = net};
    int rc = ops->open(&net->network, &net->host);
    if (rc < 0) {
        free(net);
        return rc;
    }
    *net_out = net;
    return 0;
}

int rs_net_expose(struct rs_net *net, uint32_t region, uintptr_t base, size_t nbytes, bool cpu)
{
    struct rs_region memory = {base, nbytes, cpu};
    if (region == RS_REGION_WINDOW) net->window = base;
    return net->ops->expose(net->network, region, &memory);
}

void rs_net_close(struct rs_net *net, bool orderly)
{
    if (!net) return;
    net->ops->close(net->network, orderly);
    free(net);
}

/* ---- the transport ---- */

static int net_put(const struct rs_route *route, void *dest, const void *source, size_t nbytes)
{
    const struct rs_net *net = rs_net_of(route);
    return net->ops->put(net->network, route->pe, rs_net_place(route, dest), source, nbytes);
}

static int net_get(const struct rs_route *route, void *dest, const void *source, size_t nbytes)
{
    const struct rs_net *net = rs_net_of(route);
    return net->ops->get(net->network, route->pe, dest, rs_net_place(route, source), nbytes);
}

static int net_put_nbi(const struct rs_route *route, void *dest, const void *source, size_t nbytes)
{
    const struct rs_net *net = rs_net_of(route);
    return net->ops->put_nbi(net->network, route->pe, rs_net_place(route, dest), source, nbytes);
}

static int net_get_nbi(const struct rs_route *route, void *dest, const void *source, size_t nbytes)
{
    const struct rs_net *net = rs_net_of(route);
    return net->ops->get_nbi(net->network, route->pe, dest, rs_net_place(route, source), nbytes);
}

static int net_amo(const struct rs_route *route, enum rs_amo_op op, void *dest, size_t width, uint64_t value,
                   uint64_t cond, uint64_t *old_out)
{
    const struct rs_net *net = rs_net_of(route);
    return net->ops->amo(net->network, route->pe, op, rs_net_place(route, dest), width, value, cond, old_out);
}

static int net_put_signal(const struct rs_route *route, void *dest, const void *source, size_t nbytes,
                          uint64_t *word, uint64_t value, int sig_op, bool nbi)
{
    const struct rs_net *net = rs_net_of(route);
    return net->ops->put_signal(net->network, route->pe, rs_net_place(route, dest), source, nbytes,
                                rs_net_place(route, word), value, sig_op, nbi);
}

static int net_quiet(const struct rs_route *route)
{
    return rs_net_of(route)->ops->quiet(rs_net_of(route)->network);
}

const struct rs_transport_ops rs_transport_net = {
    .name = "network",
    .put = net_put,
    .get = net_get,
    .put_nbi = net_put_nbi,
    .get_nbi = net_get_nbi,
    .amo = net_amo,
    .put_signal = net_put_signal,
    .quiet = net_quiet,
    .put_on_stream = rs_proxy_put_on_stream,
    .get_on_stream = rs_proxy_get_on_stream,
    .signal_on_stream = rs_proxy_signal_on_stream,
    .put_signal_on_stream = rs_proxy_put_signal_on_stream,
    .start_on_stream = rs_proxy_start_on_stream,
};
