/* SPDX-License-Identifier: MIT
 *
 * What the routes to PEs of other hosts share: the network, the proxy that serves streams, and where this PE's memory
 * begins, so that an address of this PE becomes a place in a peer's. net.c makes one a job; proxy.c uses it.
 */
#ifndef RS_TRANSPORT_NET_H
#define RS_TRANSPORT_NET_H

#include "base/config.h"
#include "transport/network.h"
#include "transport/transport.h"

struct rs_proxy;

/* What the job gives. */
struct rs_net_options {
    int my_pe, n_pes;
    struct rs_device *device;
    const struct rs_watch *watch;
    const struct rs_config *config;
    /* As in struct rs_network_host; arg comes first. */
    const void *(*address_of)(void *arg, int pe, size_t *nbytes_out);
    void (*receive)(void *arg, int from, const void *head, size_t head_nbytes, const void *body,
                    size_t body_nbytes);
    void (*lost)(void *arg, int pe, const char *why);
    void *arg;
};

struct rs_net { /* route->link of every PE that the network reaches */
    const struct rs_network_ops *ops;
    struct rs_network *network;
    struct rs_proxy *proxy; /* the job's; NULL: not open */
    uintptr_t window;       /* of this PE, as it was exposed */
    struct rs_network_host host;
    struct rs_net_options options;
};

/* Load the plug-in and start it. UNSUPPORTED: there is none, worded with what to install. */
int rs_net_open(struct rs_net **net_out, const struct rs_net_options *options);
int rs_net_expose(struct rs_net *net, uint32_t region, uintptr_t base, size_t nbytes, bool cpu);
void rs_net_close(struct rs_net *net, bool orderly); /* NULL is fine */

static inline const struct rs_net *rs_net_of(const struct rs_route *route)
{
    return route->link;
}

/* The peer's copy of a symmetric address of mine. */
static inline struct rs_place rs_net_place(const struct rs_route *route, const void *p)
{
    if ((uintptr_t)p - route->data_base < route->data_nbytes)
        return (struct rs_place){RS_REGION_DATA, (uintptr_t)p - route->data_base};
    return (struct rs_place){RS_REGION_WINDOW, (uintptr_t)p - rs_net_of(route)->window};
}

#endif
