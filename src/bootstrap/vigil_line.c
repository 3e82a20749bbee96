/* SPDX-License-Identifier: MIT
 *
 * A connection between two hosts of the vigil: frames in, frames out, never waiting. Input goes through one buffer of
 * the vigil; only a frame that came in parts is kept by its line, so that thousands of lines cost little. Runs in the
 * vigil's thread.
 */
#include "bootstrap/vigil_inside.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RTO_MAX_MS = 44 };   /* TCP_RTO_MAX_MS, which older headers lack */
enum { MOST_QUEUED = 256 }; /* pieces, beside what the kernel holds: then it does not read */

static int fd_of(const struct rs_line *line)
{
    return atomic_load_explicit(&line->fd, memory_order_relaxed);
}

/* ---- pieces ---- */

struct rs_piece *rs_piece_create(uint32_t kind, int host, bool ended, const void *bytes, size_t nbytes)
{
    struct rs_vigil_frame frame = {.kind = kind, .host = host, .nbytes = (uint32_t)nbytes, .ended = ended};
    struct rs_piece *piece = malloc(sizeof(*piece) + sizeof(frame) + nbytes);
    if (!piece) return NULL;
    piece->refs = 1;
    piece->nbytes = (uint32_t)(sizeof(frame) + nbytes);
    piece->next = NULL;
    memcpy(piece->bytes, &frame, sizeof(frame));
    if (nbytes) memcpy(piece->bytes + sizeof(frame), bytes, nbytes);
    return piece;
}

void rs_piece_release(struct rs_piece *piece)
{
    if (piece && --piece->refs == 0) free(piece);
}

static void drop_first(struct rs_vigil *vigil, struct rs_line *line)
{
    struct rs_sending *sending = line->first;
    line->first = sending->next;
    line->sent_nbytes = 0;
    if (--line->n_queue == 0) {
        line->last = NULL;
        vigil->n_busy--;
    }
    rs_piece_release(sending->piece);
    free(sending);
}

/* ---- open and close ---- */

int rs_line_open(struct rs_vigil *vigil, struct rs_line *line, int fd)
{
    /* Where the kernel can (6.15): when a link heals, it is tried again within a second, not after twice the time that
     * it was cut. */
    int ms = 1000;
    setsockopt(fd, IPPROTO_TCP, RTO_MAX_MS, &ms, sizeof(ms));
    if (!rs_vigil_watch(vigil, fd, RS_EVENT_LINE, (int)(line - vigil->lines))) return -1;
    atomic_store_explicit(&line->fd, fd, memory_order_relaxed);
    line->state = RS_LINE_OPEN;
    line->wants_out = false;
    line->error = 0;
    line->heard_ns = vigil->lived_ns;
    return 0;
}

void rs_line_close(struct rs_vigil *vigil, struct rs_line *line)
{
    int fd = fd_of(line);
    if (fd < 0) return;
    atomic_store_explicit(&line->fd, -1, memory_order_relaxed);
    rs_vigil_close_fd(vigil, fd);
    line->state = RS_LINE_OVER;
    while (line->first) drop_first(vigil, line);
    free(line->part);
    line->part = NULL;
    line->n_part = 0;
}

static void lost_by_error(struct rs_vigil *vigil, struct rs_line *line, int error)
{
    char text[96];
    if (line->error) error = line->error;
    bool ended = error == 0 || error == ECONNRESET || error == EPIPE;
    snprintf(text, sizeof(text), ended ? "closed its connection" : "can't be reached: %s", strerror(error));
    rs_vigil_lost(vigil, line, ended, text);
}

/* ---- output ---- */

static void want_out(struct rs_vigil *vigil, struct rs_line *line, bool wanted)
{
    if (line->wants_out == wanted) return;
    struct epoll_event event = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0),
                                .data.u64 = rs_event(RS_EVENT_LINE, (uint32_t)(line - vigil->lines))};
    if (epoll_ctl(vigil->epoll_fd, EPOLL_CTL_MOD, fd_of(line), &event) == 0) line->wants_out = wanted;
}

static void flush(struct rs_vigil *vigil, struct rs_line *line)
{
    while (line->first) {
        const struct rs_piece *piece = line->first->piece;
        ssize_t n = send(fd_of(line), piece->bytes + line->sent_nbytes, piece->nbytes - line->sent_nbytes,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (n < 0 && (errno == ENOMEM || errno == ENOBUFS)) return; /* the next beat tries again */
        if (n < 0) { /* what it said before may still be there to read: the end of that decides */
            line->error = errno;
            while (line->first) drop_first(vigil, line);
            break;
        }
        line->sent_nbytes += (uint32_t)n;
        if (line->sent_nbytes == piece->nbytes) drop_first(vigil, line);
    }
    want_out(vigil, line, line->first != NULL);
}

void rs_line_send(struct rs_vigil *vigil, struct rs_line *line, struct rs_piece *piece)
{
    if (line->state != RS_LINE_OPEN || !piece) return;
    struct rs_sending *sending = NULL;
    if (line->n_queue < MOST_QUEUED) sending = malloc(sizeof(*sending));
    if (!sending) {
        rs_vigil_lost(vigil, line, false, "does not read what it is told");
        return;
    }
    *sending = (struct rs_sending){.piece = piece};
    piece->refs++;
    if (line->last)
        line->last->next = sending;
    else
        line->first = sending;
    line->last = sending;
    if (line->n_queue++ == 0) {
        vigil->n_busy++;
        flush(vigil, line);
    }
}

/* ---- input ---- */

static bool is_sound(const struct rs_vigil_frame *frame)
{
    bool news = frame->kind >= RS_NEWS_BROKEN && frame->kind <= RS_NEWS_LOST;
    return news ? frame->nbytes <= RS_NEWS_NBYTES
                : (frame->kind == RS_FRAME_BEAT || frame->kind == RS_FRAME_BYE) && frame->nbytes == 0;
}

/* The whole frames among n bytes; how many bytes they are. The line may be over afterwards. */
static size_t take_frames(struct rs_vigil *vigil, struct rs_line *line, const unsigned char *in, size_t n)
{
    size_t at = 0;
    struct rs_vigil_frame frame;
    while (line->state == RS_LINE_OPEN && n - at >= sizeof(frame)) {
        memcpy(&frame, in + at, sizeof(frame));
        if (!is_sound(&frame)) {
            rs_vigil_lost(vigil, line, false,
                          "sent what can't be understood; use one version of the library everywhere");
            return at;
        }
        if (n - at < sizeof(frame) + frame.nbytes) break;
        rs_vigil_heard(vigil, line, &frame, in + at + sizeof(frame));
        at += sizeof(frame) + frame.nbytes;
    }
    return at;
}

static bool keep_part(struct rs_line *line, const unsigned char *bytes, size_t n)
{
    line->n_part = (uint32_t)n;
    if (n == 0) {
        free(line->part);
        line->part = NULL;
        return true;
    }
    unsigned char *part = line->part;
    if (!part) part = malloc(RS_VIGIL_IN_NBYTES / 2);
    if (!part) return false;
    memcpy(part, bytes, n);
    line->part = part;
    return true;
}

static void receive(struct rs_vigil *vigil, struct rs_line *line)
{
    for (int turn = 0; turn < 16 && line->state == RS_LINE_OPEN; turn++) { /* others want their turn too */
        size_t had = line->n_part;
        if (had) memcpy(vigil->in, line->part, had);
        ssize_t n = recv(fd_of(line), vigil->in + had, RS_VIGIL_IN_NBYTES - had, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n <= 0) {
            lost_by_error(vigil, line, n < 0 ? errno : 0);
            return;
        }
        line->heard_ns = vigil->lived_ns;
        size_t all = had + (size_t)n, used = take_frames(vigil, line, vigil->in, all);
        if (line->state != RS_LINE_OPEN) return;
        if (!keep_part(line, vigil->in + used, all - used))
            rs_vigil_lost(vigil, line, false, "can't be listened to: no memory");
    }
}

void rs_line_ready(struct rs_vigil *vigil, struct rs_line *line, bool in, bool out)
{
    if (line->state == RS_LINE_OPEN && out) flush(vigil, line);
    if (line->state == RS_LINE_OPEN && in) receive(vigil, line);
}
