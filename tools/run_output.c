/* SPDX-License-Identifier: MIT
 *
 * rocshmem-run --prefix: each output of each PE is a pipe. What comes is cut into lines, a line goes whole to
 * the queue of our stdout or stderr, and the queues are written when their reader has room. So lines never
 * mix, a slow reader slows the PEs (a full queue is not read into) but never the launcher, and the order
 * within a PE is kept. A line that ends without newline gets one; one above LINE_MAX_NBYTES is cut, because
 * holding the other PEs back until it ends could stop the job.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_options.h"
#include "run_output.h"

enum { READ_NBYTES = 65536, LINE_MAX_NBYTES = 1 << 20, PENDING_MAX_NBYTES = 1 << 20 };

/* Room for nbytes more after end. Without memory the launcher cannot go on; the guardian ends the PEs. */
static char *reserve(struct run_bytes *bytes, size_t nbytes)
{
    if (bytes->begin > 0) {
        memmove(bytes->data, bytes->data + bytes->begin, bytes->end - bytes->begin);
        bytes->end -= bytes->begin;
        bytes->begin = 0;
    }
    if (bytes->room - bytes->end < nbytes) {
        size_t room = bytes->room ? bytes->room : 4096;
        while (room - bytes->end < nbytes) room *= 2;
        char *data = realloc(bytes->data, room);
        if (!data) {
            fputs("rocshmem-run: no memory left for the output of the PEs\n", stderr);
            _exit(RUN_FAILED);
        }
        bytes->data = data;
        bytes->room = room;
    }
    return bytes->data + bytes->end;
}

static void append(struct run_bytes *bytes, const char *data, size_t nbytes)
{
    memcpy(reserve(bytes, nbytes), data, nbytes);
    bytes->end += nbytes;
}

/* Write what the reader has room for. A pipe that polls writable takes PIPE_BUF bytes without blocking. */
static void flush(struct run_sink *sink)
{
    struct run_bytes *pending = &sink->pending;
    while (pending->begin < pending->end) {
        struct pollfd ready = {.fd = sink->fd, .events = POLLOUT};
        if (poll(&ready, 1, 0) == 0) return;
        size_t nbytes = pending->end - pending->begin;
        ssize_t n = write(sink->fd, pending->data + pending->begin, nbytes < PIPE_BUF ? nbytes : PIPE_BUF);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n < 0) {
            sink->error = errno;
            pending->begin = pending->end;
            return;
        }
        pending->begin += (size_t)n;
    }
}

/* One line, without its newline, into the queue. */
static void put_line(struct run_stream *stream, const char *line, size_t nbytes)
{
    if (stream->sink->error) return;
    char prefix[24];
    int n = snprintf(prefix, sizeof(prefix), "[%d] ", stream->pe); /* the job's number */
    append(&stream->sink->pending, prefix, (size_t)n);
    append(&stream->sink->pending, line, nbytes);
    append(&stream->sink->pending, "\n", 1);
}

/* Move the lines that are complete to the queue; only [from, end) is new. */
static void put_lines(struct run_stream *stream, size_t from)
{
    struct run_bytes *line = &stream->line;
    size_t begin = line->begin;
    while (from < line->end) {
        const char *newline = memchr(line->data + from, '\n', line->end - from);
        if (!newline) break;
        size_t at = (size_t)(newline - line->data);
        put_line(stream, line->data + begin, at - begin);
        begin = from = at + 1;
    }
    if (line->end - begin >= LINE_MAX_NBYTES) {
        put_line(stream, line->data + begin, line->end - begin);
        begin = line->end;
    }
    line->begin = begin;
}

static void end_stream(struct run_stream *stream)
{
    struct run_bytes *line = &stream->line;
    if (line->end > line->begin) put_line(stream, line->data + line->begin, line->end - line->begin);
    line->begin = line->end = 0;
    close(stream->fd);
    stream->fd = -1;
}

/* Read once. Whether there may be more. */
static bool take(struct run_stream *stream)
{
    char *to = reserve(&stream->line, READ_NBYTES);
    size_t from = stream->line.end;
    ssize_t n = read(stream->fd, to, READ_NBYTES);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return errno == EINTR;
    if (n <= 0 || stream->sink->error) { /* nobody reads us: the PE shall see that, as it would without us */
        end_stream(stream);
        return false;
    }
    stream->line.end += (size_t)n;
    put_lines(stream, from);
    return true;
}

static bool is_same_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int run_output_open(struct run_output *output, int first_pe, int n_pes, bool prefix)
{
    *output = (struct run_output){.sinks = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}}};
    output->err = &output->sinks[1];
    output->out = is_same_file(STDOUT_FILENO, STDERR_FILENO) ? output->err : &output->sinks[0];
    if (!prefix) return 0;
    output->streams = calloc((size_t)n_pes * 2, sizeof(*output->streams));
    if (!output->streams) return -1;
    output->n_streams = n_pes * 2;
    for (int i = 0; i < output->n_streams; i++)
        output->streams[i] = (struct run_stream){
            .fd = -1, .pe = first_pe + i / 2, .sink = i % 2 == 0 ? output->out : output->err};
    return 0;
}

void run_output_close(struct run_output *output)
{
    for (int i = 0; i < output->n_streams; i++) {
        if (output->streams[i].fd >= 0) close(output->streams[i].fd);
        free(output->streams[i].line.data);
    }
    for (int i = 0; i < 2; i++) free(output->sinks[i].pending.data);
    free(output->streams);
    *output = (struct run_output){.n_streams = 0};
}

int run_output_pipes(struct run_output *output, int pe, int ends_out[2])
{
    ends_out[0] = ends_out[1] = -1;
    for (int i = 0; output->streams && i < 2; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) {
            if (i == 1) close(ends_out[0]);
            return -1;
        }
        fcntl(ends[0], F_SETFL, O_NONBLOCK); /* our end only: the PE's blocks, as a terminal would */
        output->streams[pe * 2 + i].fd = ends[0];
        ends_out[i] = ends[1];
    }
    return 0;
}

int run_output_n_polls(const struct run_output *output)
{
    return output->n_streams + 2;
}

void run_output_poll(const struct run_output *output, struct pollfd *polls)
{
    for (int i = 0; i < output->n_streams; i++) {
        const struct run_stream *stream = &output->streams[i];
        const struct run_bytes *pending = &stream->sink->pending;
        bool is_full = pending->end - pending->begin > PENDING_MAX_NBYTES;
        polls[i] = (struct pollfd){.fd = is_full ? -1 : stream->fd, .events = POLLIN};
    }
    for (int i = 0; i < 2; i++) {
        const struct run_sink *sink = &output->sinks[i];
        bool waits = sink->pending.begin < sink->pending.end;
        polls[output->n_streams + i] = (struct pollfd){.fd = waits ? sink->fd : -1, .events = POLLOUT};
    }
}

void run_output_serve(struct run_output *output, const struct pollfd *polls)
{
    for (int i = 0; i < output->n_streams; i++)
        if (polls[i].fd >= 0 && polls[i].revents) take(&output->streams[i]);
    for (int i = 0; i < 2; i++) flush(&output->sinks[i]);
}

void run_output_drain(struct run_output *output)
{
    for (int i = 0; i < output->n_streams; i++) {
        struct run_stream *stream = &output->streams[i];
        if (stream->fd < 0) continue;
        while (take(stream)) {
        }
        if (stream->fd >= 0) end_stream(stream);
    }
    for (int i = 0; i < 2; i++) flush(&output->sinks[i]);
}

bool run_output_is_pending(const struct run_output *output)
{
    for (int i = 0; i < 2; i++)
        if (output->sinks[i].pending.begin < output->sinks[i].pending.end) return true;
    return false;
}

void run_output_say(struct run_output *output, const char *format, ...)
{
    char line[1024] = "rocshmem-run: ";
    size_t n = strlen(line);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(line + n, sizeof(line) - n - 1, format, args);
    va_end(args);
    if (more < 0) return;
    n = n + (size_t)more < sizeof(line) - 1 ? n + (size_t)more : sizeof(line) - 2;
    line[n++] = '\n';
    if (output->err->error) return;
    append(&output->err->pending, line, n);
    flush(output->err);
}
