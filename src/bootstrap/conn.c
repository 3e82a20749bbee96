/* SPDX-License-Identifier: MIT
 *
 * A connection of the rendezvous server: its queue of output, its end. Blocks are shared, so that the result
 * of an all-gather exists once however many PEs it is sent to. Runs in the server's thread, never blocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bootstrap/server.h"

struct rs_block *rs_block_create(size_t nbytes)
{
    struct rs_block *block = malloc(sizeof(*block) + nbytes);
    if (!block) return NULL;
    block->refs = 1;
    block->nbytes = nbytes;
    return block;
}

void rs_block_release(struct rs_block *block)
{
    if (block && --block->refs == 0) free(block);
}

void rs_conn_close(struct rs_server *server, struct rs_conn *conn)
{
    if (conn->state == RS_CLOSED) return;
    bool belongs = conn->state == RS_MEMBER || conn->state == RS_GUEST;
    conn->state = RS_CLOSED;
    close(conn->fd);
    for (int i = 0; i < conn->n_queue; i++) rs_block_release(conn->queue[i]);
    conn->n_queue = 0;
    if (belongs) rs_meeting_left(server, conn);
}

/* Send what the socket takes now. */
void rs_conn_flush(struct rs_server *server, struct rs_conn *conn)
{
    while (conn->n_queue > 0) {
        struct rs_block *block = conn->queue[0];
        ssize_t n = send(conn->fd, block->bytes + conn->out_nbytes, block->nbytes - conn->out_nbytes,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0) {
            if (errno == EINTR) continue;
            if (errno != EAGAIN && errno != EWOULDBLOCK) rs_conn_close(server, conn);
            return;
        }
        conn->out_nbytes += (size_t)n;
        if (conn->out_nbytes < block->nbytes) continue;
        rs_block_release(block);
        conn->out_nbytes = 0;
        memmove(conn->queue, conn->queue + 1, (size_t)--conn->n_queue * sizeof(conn->queue[0]));
    }
    if (conn->state == RS_LEAVER) shutdown(conn->fd, SHUT_WR);
}

void rs_conn_send_block(struct rs_server *server, struct rs_conn *conn, struct rs_block *block)
{
    if (!block || conn->state == RS_CLOSED || conn->n_queue == RS_CONN_QUEUE) {
        rs_block_release(block);
        rs_conn_close(server, conn); /* no memory, or it does not read */
        return;
    }
    conn->queue[conn->n_queue++] = block;
    if (conn->n_queue == 1) rs_conn_flush(server, conn);
}

void rs_conn_send(struct rs_server *server, struct rs_conn *conn, const void *head, size_t head_nbytes,
                  const void *text, size_t text_nbytes)
{
    struct rs_block *block = rs_block_create(head_nbytes + text_nbytes);
    if (block) {
        memcpy(block->bytes, head, head_nbytes);
        if (text_nbytes) memcpy(block->bytes + head_nbytes, text, text_nbytes);
    }
    rs_conn_send_block(server, conn, block);
}

void rs_conn_leave(struct rs_server *server, struct rs_conn *conn)
{
    if (conn->state == RS_CLOSED) return;
    conn->state = RS_LEAVER;
    conn->since_ns = server->now_ns;
    rs_conn_flush(server, conn);
}
