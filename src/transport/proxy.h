/* SPDX-License-Identifier: MIT
 *
 * Transfers in the order of a stream, over a network that knows no streams. When the stream comes to one, it is begun on
 * the network; when that says that it is done, a word is written that the stream waits for. On a device that calls
 * functions (the host) the stream's own call begins it. On one that does not, the stream raises a ready word, and a thread
 * of the proxy, which looks at these words while there are any, begins it.
 *
 * The proxy never waits, and a stream that waits takes up nobody, so streams may wait for each other, here and on other
 * PEs, in any order. What is begun at one time is at most what streams have come to; there is no other limit.
 */
#ifndef RS_TRANSPORT_PROXY_H
#define RS_TRANSPORT_PROXY_H

#include "transport/net.h"

/* device, network and ops are borrowed until stop; broken: a transfer failed, which can't be made good: the job ends.
 * Called by any thread, once; text is valid until it returns. Its streams then wait until stop. */
int rs_proxy_open(struct rs_proxy **proxy_out, struct rs_device *device, struct rs_network *network,
                  const struct rs_network_ops *ops,
                  void (*broken)(void *arg, int status, int pe, const char *text), void *arg);
/* Begin nothing more, and let the streams that wait for transfers go on. Then the network may be closed, then the device;
 * what the network still says is heard and does nothing. NULL is fine. */
void rs_proxy_stop(struct rs_proxy *proxy);
/* After the network and the device are closed: free everything. NULL is fine. */
void rs_proxy_close(struct rs_proxy *proxy);

/* Slots of struct rs_transport_ops, for routes whose link is a struct rs_net. */
int rs_proxy_put_on_stream(const struct rs_route *route, void *stream, void *dest, const void *source,
                           size_t nbytes);
int rs_proxy_get_on_stream(const struct rs_route *route, void *stream, void *dest, const void *source,
                           size_t nbytes);
int rs_proxy_signal_on_stream(const struct rs_route *route, void *stream, uint64_t *word, uint64_t value,
                              int sig_op);
int rs_proxy_put_signal_on_stream(const struct rs_route *route, void *stream, void *dest, const void *source,
                                  size_t nbytes, uint64_t *word, uint64_t value, int sig_op);
int rs_proxy_start_on_stream(void *stream, const struct rs_transfer *transfers, size_t n,
                             struct rs_memop *finish_out, size_t *n_finish_out);

#endif
