/* SPDX-License-Identifier: MIT
 *
 * The agent's end of run_hosts.h: what the launcher tells becomes options, as if they had been on the command line. A
 * thread then reads on: a byte is a signal for the PEs, and the end of the input is that of the launcher, or of the
 * connection. The agent kills itself then, and its guardian the PEs, as whenever a launcher dies.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rocshmem/rocshmemx.h>

#include "run_hosts.h"

enum { TOLD_MAX = 16 << 20 };

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

static void *listen_main(void *arg)
{
    unsigned char signal;
    (void)arg;
    while (read_all(&signal, 1)) kill(getpid(), signal);
    kill(getpid(), SIGKILL);
    return NULL;
}

int run_agent_listen(void)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, listen_main, NULL); /* signals are blocked here, so there too */
    errno = error;
    return error ? -1 : pthread_detach(thread);
}
