/* SPDX-License-Identifier: MIT
 *
 * What stream_collective.c (one host) and stream_span.c (several) share: an operation of a team in the order of a stream.
 */
#ifndef RS_PGAS_STREAM_H
#define RS_PGAS_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "device/device.h"
#include "observe/calls.h"
#include "pgas/team.h"

/* What travels with one operation to its calls on the stream. */
struct rs_stream_op {
    struct rs_team *team; /* one reference */
    uint64_t e;
    struct rs_signature signature;
};

/* What an operation does between its phases. */
struct rs_stream_data {
    enum { RS_DATA_ROOT, RS_DATA_BLOCKS, RS_DATA_GATHER, RS_DATA_REDUCE } kind;
    void *dest;
    const void *source;
    size_t nbytes; /* of ROOT and of a block; of REDUCE elements */
    int root;      /* of ROOT: team position */
    enum rs_type type;
    int op;
};

/* stream_span.c. Everything of an operation over hosts but the announcement. done: what ends it, NULL in a capture.
 * check: called with op when all have arrived, where the device calls; NULL in a capture. *op_given_out: it was enqueued. */
int rs_span_enqueue(struct rs_stream_op *op, const struct rs_stream_data *data, void *stream,
                    const struct rs_memop *done, int (*check)(void *arg, bool failed), bool *op_given_out);
/* Write what other hosts are told of the operation. */
void rs_span_announce(const struct rs_stream_op *op);
/* All have arrived: the first member of another host, by whom this one was told, that called something else; its signature.
 * -1: none. */
int rs_span_differs(const struct rs_stream_op *op, struct rs_signature *theirs_out);

#endif
