/* SPDX-License-Identifier: MIT
 *
 * The output of the PEs with a prefix, and rocshmem-run's own messages.
 */
#ifndef ROCSHMEM_RUN_OUTPUT_H
#define ROCSHMEM_RUN_OUTPUT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes that wait: [begin, end) of data. */
struct run_bytes {
    char *data; /* owned */
    size_t begin, end, room;
};

/* Where lines go: our stdout or stderr. */
struct run_sink {
    int fd;
    int error; /* errno of the write that failed; all later output is dropped then */
    struct run_bytes pending;
};

/* Where they come from: one output of one PE. */
struct run_stream {
    int fd; /* owned; -1: ended */
    int pe;
    struct run_sink *sink;
    struct run_bytes line; /* what has come without its newline */
};

struct run_output {
    struct run_sink sinks[2];
    struct run_sink *out, *err; /* the same one where both are the same file, so that their order is kept */
    struct run_stream *streams; /* owned, 2 a PE; NULL: no prefix, the PEs write directly */
    int n_streams;
};

/* 0, or -1 with errno. */
int run_output_open(struct run_output *output, int first_pe, int n_pes, bool prefix);
void run_output_close(struct run_output *output);
/* The write ends for a PE's stdout and stderr, to be closed by the caller once the PE has them; -1, -1
 * without prefix. 0, or -1 with errno. */
int run_output_pipes(struct run_output *output, int pe, int ends_out[2]);

/* Poll entries: this many, filled by poll, looked at by serve. Nothing blocks. */
int run_output_n_polls(const struct run_output *output);
void run_output_poll(const struct run_output *output, struct pollfd *polls);
void run_output_serve(struct run_output *output, const struct pollfd *polls);
/* All PEs have ended: take what is still in the pipes, and end unfinished lines. */
void run_output_drain(struct run_output *output);
/* Whether lines wait to be written. */
bool run_output_is_pending(const struct run_output *output);

/* One message on stderr, as a line of its own: "rocshmem-run: …". */
void run_output_say(struct run_output *output, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
