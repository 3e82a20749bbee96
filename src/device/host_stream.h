/* SPDX-License-Identifier: MIT
 *
 * In-order queues of work on the host. An idle stream runs a small piece of work in the calling thread;
 * otherwise the work is queued, and stepped by one worker thread for all streams, or by whoever synchronises.
 * An unsatisfied wait parks its stream and never blocks the worker; long copies are cut into slices. So
 * streams of one process can wait for each other in any order.
 */
#ifndef RS_DEVICE_HOST_STREAM_H
#define RS_DEVICE_HOST_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wait.h"
#include "device/device.h"

enum rs_work_kind { RS_WORK_COPY, RS_WORK_BATCH, RS_WORK_CALL };
struct rs_work {
    struct rs_work *next;
    enum rs_work_kind kind;
    size_t done; /* bytes copied, or operations executed */
    union {
        struct {
            unsigned char *dst;
            const unsigned char *src;
            size_t nbytes;
        } copy;
        struct {
            const struct rs_memop *ops; /* follow the struct when queued */
            size_t n;
        } batch;
        struct {
            int (*fn)(void *arg, bool failed);
            void *arg;
        } call;
    } u;
};

struct rs_streams; /* all of one device */

int rs_streams_create(struct rs_streams **streams_out, const struct rs_watch *watch, size_t inline_nbytes);
/* Drains nothing: work that is left is dropped (its calls are told that they failed). NULL is fine. */
void rs_streams_destroy(struct rs_streams *streams);

int rs_streams_add(struct rs_streams *streams, void **stream_out);
int rs_streams_remove(struct rs_streams *streams, void *handle);
/* Run or queue one piece of work (copied, batch operations included). */
int rs_streams_push(struct rs_streams *streams, void *handle, struct rs_work *work);
int rs_streams_synchronize(struct rs_streams *streams, void *handle);
int rs_streams_synchronize_all(struct rs_streams *streams);
int rs_streams_query(struct rs_streams *streams, void *handle);
void rs_streams_describe(struct rs_streams *streams, void *handle, bool any, char *out, size_t nbytes);

#endif
