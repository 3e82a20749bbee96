/* SPDX-License-Identifier: MIT
 *
 * The agent's end of run_hosts.h: what the launcher tells becomes options, as if they had been on the command line. A
 * thread then reads on: signals for the PEs, what PE 0 reads, and the end of the input is that of the launcher, or of the
 * connection. The agent kills itself then, and its guardian the PEs, as whenever a launcher dies.
 *
 * PE 0 may read late or never: what it has not taken is kept here, up to a limit, so that signals get past it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rocshmem/rocshmemx.h>

#include "run_hosts.h"

enum { TOLD_MAX = 16 << 20, KEPT_MAX = 64 << 20 };

static int cannot(const char *what)
{
    fprintf(stderr, "rocshmem-run: agent: %s; --agent is for rocshmem-run --hosts only\n", what);
    return RUN_FAILED;
}

static bool read_all(void *data, size_t nbytes)
{
    char *to = data;
    while (nbytes > 0) {
        ssize_t n = read(STDIN_FILENO, to, nbytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        to += n;
        nbytes -= (size_t)n;
    }
    return true;
}

struct told {
    char *at, *end;
};

/* The next text; "" past the end. */
static char *next(struct told *told)
{
    char *text = told->at;
    if (text >= told->end) return told->end;
    told->at += strlen(text) + 1;
    return text;
}

static bool take_uid(const char *text, rocshmem_uniqueid_t *uid_out)
{
    unsigned byte;
    for (size_t i = 0; i < sizeof(uid_out->data); i++) {
        if (sscanf(text + 2 * i, "%2x", &byte) != 1) return false; /* NOLINT(cert-err34-c): two digits */
        uid_out->data[i] = (unsigned char)byte;
    }
    return true;
}

static bool take_numbers(struct run_options *options, const char *text)
{
    unsigned long long timeout_ns, grace_ns;
    int flags[5];
    /* NOLINTNEXTLINE(cert-err34-c): the launcher wrote them */
    int n = sscanf(text, "%d %d %d %d %d %d %d %d %llu %llu %u", &options->first_pe, &options->n_pes,
                   &options->n_job, &flags[0], &flags[1], &flags[2], &flags[3], &flags[4], &timeout_ns,
                   &grace_ns, &options->master_port);
    if (n != 11 || options->n_pes < 1 || options->n_pes > RUN_PES_MAX) return false;
    options->prefix = flags[0];
    options->bind = flags[1];
    options->no_bind = flags[2];
    options->quiet = flags[3];
    options->verbose = flags[4];
    options->timeout_ns = timeout_ns;
    options->grace_ns = grace_ns;
    return true;
}

int run_agent_hear(struct run_options *options, rocshmem_uniqueid_t *uid_out)
{
    unsigned length = 0;
    if (!read_all(&length, sizeof(length)) || length == 0 || length > TOLD_MAX)
        return cannot("no launcher on its input");
    char *text = calloc(1, (size_t)length + 1); /* lives as long as the process, like argv */
    if (!text || !read_all(text, length)) return cannot("the launcher ended");
    struct told told = {text, text + length};
    if (strcmp(next(&told), rocshmemx_version()) != 0)
        return cannot("the launcher has another version than this host; install one everywhere");
    char *uid = next(&told);
    bool good = take_uid(uid, uid_out);
    explicit_bzero(uid, strlen(uid));
    if (!good || !take_numbers(options, next(&told)))
        return cannot("the launcher does not speak its language");
    options->master = next(&told);
    options->heap = next(&told);
    if (!*options->heap) options->heap = NULL;
    options->chdir = next(&told);
    options->n_env = (int)strtol(next(&told), NULL, 10);
    if (options->n_env < 0 || options->n_env > (int)length)
        return cannot("the launcher does not speak its language");
    free(options->env);
    options->env = calloc((size_t)options->n_env + 1, sizeof(*options->env));
    options->command = calloc((size_t)length, sizeof(*options->command)); /* as many words as bytes: enough */
    if (!options->env || !options->command) return cannot("no memory left");
    for (int i = 0; i < options->n_env; i++) options->env[i] = next(&told);
    for (int i = 0; told.at < told.end; i++) options->command[i] = next(&told);
    return -1;
}

/* ---- what PE 0 reads ---- */

static struct {
    int ends[2];         /* its pipe; -1: none */
    unsigned char *kept; /* owned: not taken yet, from at to end */
    size_t at, end, room;
    bool ended; /* the launcher's input; the pipe is closed when all is taken */
} input = {.ends = {-1, -1}};

int run_agent_input(int pe)
{
    if (pe != 0 || pipe2(input.ends, O_CLOEXEC) != 0) return -1;
    fcntl(input.ends[1], F_SETFL, O_NONBLOCK);
    return input.ends[0];
}

static void close_input(void)
{
    if (input.ends[1] >= 0) close(input.ends[1]);
    input.ends[1] = -1;
    input.at = input.end = 0;
}

static void write_input(void)
{
    while (input.at < input.end) {
        ssize_t n = write(input.ends[1], input.kept + input.at, input.end - input.at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n < 0) { /* PE 0 reads no more; SIGPIPE is blocked here */
            close_input();
            return;
        }
        input.at += (size_t)n;
    }
    input.at = input.end = 0;
    if (input.ended) close_input();
}

/* A piece of input comes. False: the launcher has ended, or there is no memory. */
static bool take_input(void)
{
    unsigned char head[2], lost[1 << 16];
    if (!read_all(head, sizeof(head))) return false;
    size_t nbytes = (size_t)head[0] | (size_t)head[1] << 8;
    if (nbytes == 0) input.ended = true;
    if (input.ends[1] < 0) return read_all(lost, nbytes);
    if (input.at > 0) memmove(input.kept, input.kept + input.at, input.end - input.at);
    input.end -= input.at;
    input.at = 0;
    if (input.end + nbytes > input.room) {
        size_t room = 2 * (input.end + nbytes);
        unsigned char *more = realloc(input.kept, room);
        if (!more) return false;
        input.kept = more;
        input.room = room;
    }
    if (!read_all(input.kept + input.end, nbytes)) return false;
    input.end += nbytes;
    write_input();
    return true;
}

/* ---- the launcher's words ---- */

static void *listen_main(void *arg)
{
    unsigned char signal;
    (void)arg;
    for (;;) {
        struct pollfd ready[] = {
            {.fd = STDIN_FILENO, .events = input.end - input.at < KEPT_MAX ? POLLIN : POLLRDHUP},
            {.fd = input.end > input.at ? input.ends[1] : -1, .events = POLLOUT}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR) break;
        if (ready[1].revents) write_input();
        if (ready[0].revents & POLLIN) {
            if (!read_all(&signal, 1) || (signal == 0 && !take_input())) break;
            if (signal != 0) kill(getpid(), signal);
        } else if (ready[0].revents) { /* the end, whatever is still to be read */
            break;
        }
    }
    kill(getpid(), SIGKILL);
    return NULL;
}

int run_agent_listen(void)
{
    pthread_t thread;
    if (input.ends[0] >= 0) close(input.ends[0]);                 /* PE 0 has it */
    int error = pthread_create(&thread, NULL, listen_main, NULL); /* signals are blocked here, so there too */
    errno = error;
    return error ? -1 : pthread_detach(thread);
}
