/* SPDX-License-Identifier: MIT
 *
 * What the routes to PEs of other hosts share: the network, the proxy that serves streams, and where this PE's memory
 * begins, so that an address of this PE becomes a place in a peer's. network.c makes one a job; proxy.c uses it.
 */
#ifndef RS_TRANSPORT_NET_H
#define RS_TRANSPORT_NET_H

#include "transport/network.h"
#include "transport/transport.h"

struct rs_proxy;

struct rs_net { /* route->link of every PE that the network reaches */
    const struct rs_network_ops *ops;
    struct rs_network *network;
    struct rs_proxy *proxy; /* NULL: not open */
    uintptr_t window;       /* of this PE, as it was exposed */
};

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
