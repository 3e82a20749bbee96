/* SPDX-License-Identifier: MIT
 *
 * What a PE does with the messages that come: applies puts and atomics to its memory, takes replies to its requests, hands
 * messages to the layer above. Called inside UCX's progress, under the lock. Nothing that a message says is believed before
 * it is checked; what is wrong with one is told in words, and loses its sender.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/status.h"
#include "transport/transport.h"
#include "transport/ucx/engine.h"

/* Where a message points to; NULL when that is not in this PE's memory. */
static void *place_here(const struct rs_network *network, const struct rs_wire *wire, size_t nbytes)
{
    if (wire->region >= RS_REGIONS) return NULL;
    const struct rs_region *region = &network->regions[wire->region];
    if (wire->offset > region->nbytes || nbytes > region->nbytes - wire->offset) return NULL;
    return (void *)(region->base + wire->offset); /* NOLINT: an address */
}

static void owe(struct rs_network *network, struct rs_peer *peer)
{
    peer->applied++;
    if (peer->owed) return;
    peer->owed = true;
    peer->next_owed = network->owed;
    network->owed = peer;
}

struct rs_reply *rs_engine_reply(struct rs_network *network, int pe, const struct rs_wire *wire,
                                 size_t nbytes)
{
    struct rs_reply *reply = calloc(1, sizeof *reply + nbytes);
    if (!reply) return NULL;
    reply->pe = pe;
    reply->wire = *wire;
    reply->nbytes = nbytes;
    *network->replies_end = reply;
    network->replies_end = &reply->next;
    return reply;
}

/* Words are stored as one piece, so that who polls them sees old or new. */
static void store(void *dest, const void *source, size_t nbytes)
{
    if (nbytes == 8 && (uintptr_t)dest % 8 == 0) {
        uint64_t word;
        memcpy(&word, source, 8);
        __atomic_store_n((uint64_t *)dest, word, __ATOMIC_RELEASE);
    } else if (nbytes == 4 && (uintptr_t)dest % 4 == 0) {
        uint32_t word;
        memcpy(&word, source, 4);
        __atomic_store_n((uint32_t *)dest, word, __ATOMIC_RELEASE);
    } else {
        memcpy(dest, source, nbytes);
    }
}

/* An atomic on a word of this PE. */
static const char *act_on_word(const struct rs_network *network, const struct rs_wire *wire,
                               uint64_t *old_out)
{
    struct rs_device *device = network->host->device;
    size_t width = wire->width;
    void *word = place_here(network, wire, width);
    if (!word || (width != 4 && width != 8) || (uintptr_t)word % width || wire->amo > RS_AMO_XOR)
        return "its atomic operation is on no word of this PE's symmetric memory";
    enum rs_amo_op op = (enum rs_amo_op)wire->amo;
    if (!network->regions[wire->region].cpu) {
        if (device->ops->amo(device, op, word, width, wire->value, wire->cond, old_out) < 0)
            return "its atomic operation failed on the device";
    } else if (width == 4) {
        *old_out = rs_amo_on_uint32_t(op, word, (uint32_t)wire->value, (uint32_t)wire->cond);
    } else {
        *old_out = rs_amo_on_uint64_t(op, word, wire->value, wire->cond);
    }
    return NULL;
}

static const char *apply_put(struct rs_network *network, struct rs_peer *peer, const struct rs_wire *wire,
                             const void *data, size_t nbytes)
{
    struct rs_device *device = network->host->device;
    void *to = nbytes ? place_here(network, wire, nbytes) : NULL;
    uint64_t old;
    if (nbytes && !to) return "it put bytes outside of this PE's symmetric memory";
    if (nbytes && network->regions[wire->region].cpu)
        store(to, data, nbytes);
    else if (nbytes && device->ops->transfer(device, to, data, nbytes) < 0)
        return "the bytes that it put could not be copied to the device";
    if (wire->width) {
        struct rs_wire signal = {.amo = wire->amo,
                                 .width = wire->width,
                                 .region = (uint32_t)wire->cond,
                                 .offset = wire->token,
                                 .value = wire->value};
        const char *wrong = act_on_word(network, &signal, &old);
        if (wrong) return wrong;
    }
    owe(network, peer);
    return NULL;
}

static const char *apply_amo(struct rs_network *network, struct rs_peer *peer, const struct rs_wire *wire)
{
    uint64_t old = 0;
    const char *wrong = act_on_word(network, wire, &old);
    if (wrong) return wrong;
    if (!wire->token) {
        owe(network, peer);
        return NULL;
    }
    struct rs_wire value = {.op = RS_WIRE_VALUE, .token = wire->token, .value = old};
    return rs_engine_reply(network, peer->pe, &value, 0) ? NULL : "there is no memory to answer it";
}

static const char *queue_data(struct rs_network *network, struct rs_peer *peer, const struct rs_wire *wire)
{
    const void *from = place_here(network, wire, wire->nbytes);
    if (!from) return "it wants bytes outside of this PE's symmetric memory";
    struct rs_wire data = {.op = RS_WIRE_DATA, .region = wire->region, .token = wire->token};
    struct rs_reply *reply = rs_engine_reply(network, peer->pe, &data, 0);
    if (!reply) return "there is no memory to answer it";
    reply->from = (uintptr_t)from;
    reply->nbytes = wire->nbytes;
    return NULL;
}

static const char not_asked[] = "it answers what this PE did not ask it";

static const char *take_data(struct rs_network *network, const struct rs_peer *peer,
                             const struct rs_wire *wire, const void *data, size_t nbytes)
{
    struct rs_device *device = network->host->device;
    struct rs_pending *pending = rs_engine_pending(network, wire->token);
    if (!pending) return NULL; /* given up */
    if (pending->pe != peer->pe || pending->nbytes == 0) return not_asked;
    if (nbytes > pending->left || wire->offset > pending->nbytes || nbytes > pending->nbytes - wire->offset)
        return "it answers with more bytes than were wanted";
    void *to = (char *)pending->dest + wire->offset;
    if (!pending->staged && nbytes)
        store(to, data, nbytes);
    else if (nbytes && device->ops->transfer(device, to, data, nbytes) < 0)
        return "the bytes that it sent could not be copied to the device";
    pending->left -= nbytes;
    if (pending->left == 0) rs_engine_finish(network, pending, 0);
    return NULL;
}

static const char *take_value(struct rs_network *network, const struct rs_peer *peer,
                              const struct rs_wire *wire)
{
    struct rs_pending *pending = rs_engine_pending(network, wire->token);
    if (!pending) return NULL;
    if (pending->pe != peer->pe || pending->nbytes != 0) return not_asked;
    *(uint64_t *)pending->dest = wire->value;
    rs_engine_finish(network, pending, 0);
    return NULL;
}

static const char *take_ack(struct rs_peer *peer, const struct rs_wire *wire)
{
    if (wire->value > peer->issued) return "it acknowledges more than was sent";
    if (wire->value > peer->acked) peer->acked = wire->value;
    while (peer->waiting && peer->waiting->count <= peer->acked) {
        struct rs_done *waiting = peer->waiting;
        peer->waiting = waiting->next;
        if (!peer->waiting) peer->waiting_end = &peer->waiting;
        waiting->done(waiting->arg, 0);
        free(waiting);
    }
    return NULL;
}

static const char *take_message(struct rs_network *network, struct rs_peer *peer, const struct rs_wire *wire,
                                const void *head, const void *data, size_t nbytes)
{
    if (wire->head_nbytes > RS_NETWORK_HEAD_NBYTES) return "its message has too long a head";
    if (wire->more || peer->parts_nbytes) {
        if (peer->parts_nbytes + nbytes > peer->parts_room) {
            size_t room = 2 * (peer->parts_nbytes + nbytes);
            unsigned char *more = realloc(peer->parts, room);
            if (!more) return "there is no memory for its message";
            peer->parts = more;
            peer->parts_room = room;
        }
        if (nbytes) memcpy(peer->parts + peer->parts_nbytes, data, nbytes);
        peer->parts_nbytes += nbytes;
        if (wire->more) return NULL;
        data = peer->parts;
        nbytes = peer->parts_nbytes;
        peer->parts_nbytes = 0;
    }
    network->host->receive(network->host, peer->pe, head, wire->head_nbytes, data, nbytes);
    return NULL;
}

static const char *take(struct rs_network *network, struct rs_peer *peer, const struct rs_wire *wire,
                        const void *head, const void *data, size_t nbytes)
{
    switch (wire->op) {
    case RS_WIRE_PUT:
        return apply_put(network, peer, wire, data, nbytes);
    case RS_WIRE_GET:
        return queue_data(network, peer, wire);
    case RS_WIRE_DATA:
        return take_data(network, peer, wire, data, nbytes);
    case RS_WIRE_AMO:
        return apply_amo(network, peer, wire);
    case RS_WIRE_VALUE:
        return take_value(network, peer, wire);
    case RS_WIRE_ACK:
        return take_ack(peer, wire);
    case RS_WIRE_MESSAGE:
        return take_message(network, peer, wire, head, data, nbytes);
    case RS_WIRE_BYE:
        peer->leaving = true;
        return NULL;
    default:
        return "it sent what this library does not understand; use one version everywhere";
    }
}

/* It is not known who sent it, or it is not one of ours: a stranger must not be able to lose a PE its job. */
static ucs_status_t drop(struct rs_network *network, const char *why)
{
    if (!network->dropped)
        network->host->log(RS_LOG_WARN,
                           "a message that %s came over the network and was dropped, and so are all like it; "
                           "does something else connect to this PE's port",
                           why);
    network->dropped = true;
    return UCS_OK;
}

ucs_status_t rs_engine_receive(void *arg, const void *header, size_t header_nbytes, void *data, size_t nbytes,
                               const ucp_am_recv_param_t *param)
{
    struct rs_network *network = arg;
    struct rs_wire wire;
    if (header_nbytes < sizeof wire) return drop(network, "is too short");
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) return drop(network, "has not come whole");
    memcpy(&wire, header, sizeof wire);
    if (wire.head_nbytes != header_nbytes - sizeof wire)
        return drop(network, "has another length than it says");
    struct rs_peer *peer = rs_engine_find(network, wire.from);
    if (!peer) return drop(network, "is from no PE of this job");
    if (peer->lost) return UCS_OK;
    const char *wrong = wire.number != peer->come++ ? "its messages come out of order" : NULL;
    if (!wrong) wrong = take(network, peer, &wire, (const char *)header + sizeof wire, data, nbytes);
    if (wrong) rs_engine_lose(network, peer, wrong);
    return UCS_OK;
}
