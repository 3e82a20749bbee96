/* SPDX-License-Identifier: MIT
 *
 * How bytes reach one PE. A PE holds one route per peer, chosen in init: the first transport of the list that
 * can reach it. dest and source are addresses of this PE's own window (or ordinary memory, on the local
 * side); the transport turns them into its own or asks its network. Arguments were checked above.
 */
#ifndef RS_TRANSPORT_TRANSPORT_H
#define RS_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"

struct rs_route;

/* The operation on a word that the CPU reaches; returns the old value (SET: 0). With a constant op it folds
 * to one instruction. FETCH is an acquire, SET a release, the others are both. */
#define RS_AMO_ON_(T)                                                                                        \
    static inline __attribute__((always_inline))                                                             \
    T rs_amo_on_##T(enum rs_amo_op op, T *word, T value, T cond)                                             \
    {                                                                                                        \
        switch (op) {                                                                                        \
        case RS_AMO_FETCH:                                                                                   \
            return __atomic_load_n(word, __ATOMIC_ACQUIRE);                                                  \
        case RS_AMO_SET:                                                                                     \
            __atomic_store_n(word, value, __ATOMIC_RELEASE);                                                 \
            return 0;                                                                                        \
        case RS_AMO_SWAP:                                                                                    \
            return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);                                       \
        case RS_AMO_COMPARE_SWAP:                                                                            \
            __atomic_compare_exchange_n(word, &cond, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
            return cond;                                                                                     \
        case RS_AMO_ADD:                                                                                     \
            return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);                                        \
        case RS_AMO_AND:                                                                                     \
            return __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST);                                        \
        case RS_AMO_OR:                                                                                      \
            return __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST);                                         \
        default:                                                                                             \
            return __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST);                                        \
        }                                                                                                    \
    }
RS_AMO_ON_(uint32_t)
RS_AMO_ON_(uint64_t)
#undef RS_AMO_ON_

/* One transfer to or from one PE in the order of a stream. Addresses as in the slots below. */
struct rs_transfer {
    const struct rs_route *route;
    bool put; /* dest, and word, are there; else source is */
    void *dest;
    const void *source;
    size_t nbytes;  /* 0: a signal alone */
    uint64_t *word; /* of a put: written or added to after the data; NULL: none */
    uint64_t value;
    int sig_op;
};
#define RS_FINISH_MOST 2 /* memory operations that end transfers */

struct rs_transport_ops {
    const char *name; /* "direct", "ucx": what rocshmem-info prints */
    /* Host-issued. A put returns when source may be reused, a get when the data is here; nbi forms complete
     * at quiet and may be NULL: then the blocking ones serve. */
    int (*put)(const struct rs_route *route, void *dest, const void *source, size_t nbytes);
    int (*get)(const struct rs_route *route, void *dest, const void *source, size_t nbytes);
    int (*put_nbi)(const struct rs_route *route, void *dest, const void *source, size_t nbytes);
    int (*get_nbi)(const struct rs_route *route, void *dest, const void *source, size_t nbytes);
    /* width 4 or 8; old_out may be NULL when the old value is not wanted. */
    int (*amo)(const struct rs_route *route, enum rs_amo_op op, void *dest, size_t width, uint64_t value,
               uint64_t cond, uint64_t *old_out);
    /* A put, and after it the signal, on its way as one. NULL: put, then amo, which keep their order. */
    int (*put_signal)(const struct rs_route *route, void *dest, const void *source, size_t nbytes,
                      uint64_t *word, uint64_t value, int sig_op, bool nbi);
    int (*quiet)(const struct rs_route *route); /* NULL: nothing of it is ever outstanding */
    /* In the order of a stream of route->device. */
    int (*put_on_stream)(const struct rs_route *route, void *stream, void *dest, const void *source,
                         size_t nbytes);
    int (*get_on_stream)(const struct rs_route *route, void *stream, void *dest, const void *source,
                         size_t nbytes);
    /* A write or add of a 64-bit word there, after what the stream did before. */
    int (*signal_on_stream)(const struct rs_route *route, void *stream, uint64_t *word, uint64_t value,
                            int sig_op);
    /* The two in one. NULL: one after the other. */
    int (*put_signal_on_stream)(const struct rs_route *route, void *stream, void *dest, const void *source,
                                size_t nbytes, uint64_t *word, uint64_t value, int sig_op);
    /* n > 0 transfers of this transport and device, without order among each other, that the stream begins and leaves
     * behind. They are over for it when it has executed the memory operations of finish_out (room for RS_FINISH_MOST),
     * which the caller enqueues on it later, once. NULL: each by the slots above. */
    int (*start_on_stream)(void *stream, const struct rs_transfer *transfers, size_t n,
                           struct rs_memop *finish_out, size_t *n_finish_out);
};

struct rs_route {                       /* how this PE reaches one peer; built in init, constant after */
    const struct rs_transport_ops *ops; /* static */
    int pe;                             /* the peer */
    struct rs_device *device;           /* borrowed from the job */
    ptrdiff_t shift;                    /* my heap address + shift = the peer's copy; valid where mapped */
    uintptr_t data_base;                /* the program's static data here, as in struct rs_job */
    size_t data_nbytes;                 /* 0: they are not symmetric */
    ptrdiff_t data_shift;               /* my static address + data_shift = the peer's copy */
    bool mapped;                        /* the peer's window is mapped here */
    bool named; /* mapped, but its addresses here are names for the device: nobody else can use them */
    bool cpu;   /* mapped, and the CPU may load and store it: api/ copies by itself */
    void *link; /* borrowed: the transport's; NULL for direct */
};

/* The peer's copy of a symmetric address of mine, where it is mapped. */
static inline void *rs_route_address(const struct rs_route *route, const void *p)
{
    ptrdiff_t shift = (uintptr_t)p - route->data_base < route->data_nbytes ? route->data_shift : route->shift;
    return (char *)(uintptr_t)p + shift;
}

/* direct; and the same where the device can begin a transfer and complete it later. */
extern const struct rs_transport_ops rs_transport_direct, rs_transport_direct_nbi;
/* Another host's PE, by the network (net.h). */
extern const struct rs_transport_ops rs_transport_net;

#endif
