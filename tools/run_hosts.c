/* SPDX-License-Identifier: MIT
 *
 * See run_hosts.h. What the launcher tells an agent: four bytes with the length, then texts that end with a zero each:
 * version, unique id, numbers, folder, count of variables, these, the command. After that one byte is a signal's number; or it is
 * 0, and two bytes with a length and as many of PE 0's standard input follow: none is its end. Such a piece is written at
 * once or not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rocshmem/rocshmemx.h>

#include "run_hosts.h"

enum { HOSTS_MAX = 4096, WORDS_MAX = 30, HEAD = 3 };

static const char *const passed[] = {"ROCSHMEM_",    "SHMEM_", "SMA_", "UCX_",
                                     "PYTHON",       "PATH=",  "OMP_", "LD_LIBRARY_PATH=",
                                     "VIRTUAL_ENV=", "CUDA_",  "HIP_", "ROCR_"};

static int complain(const char *what, const char *value, const char *expected)
{
    fprintf(stderr, "rocshmem-run: %s \"%.200s\" %s; rocshmem-run --help lists the options\n", what, value,
            expected);
    return RUN_FAILED;
}

/* ---- the list of hosts ---- */

/* "name", "name:slots" or a hostfile's "name slots=4". */
static int add_host(struct run_hosts *hosts, const char *text, size_t n)
{
    if (hosts->n == HOSTS_MAX) return complain("host", text, "is one too many");
    struct run_host *host = &hosts->list[hosts->n++];
    *host = (struct run_host){.name = strndup(text, n), .control = {-1, -1}};
    if (!host->name) return complain("host", text, "does not fit in memory");
    char *mark = strstr(host->name, " slots="), *end;
    if (!mark) mark = strrchr(host->name, ':');
    if (mark && strchr(host->name, ':') == mark) {
        long slots = strtol(mark + 1, &end, 10);
        if (end == mark + 1 || *end || slots < 1 || slots > RUN_PES_MAX)
            return complain("host", host->name, "is not NAME or NAME:SLOTS");
        host->slots = (int)slots;
        *mark = '\0';
    } else if (mark && *mark == ' ') {
        host->slots = (int)strtol(mark + 7, NULL, 10);
        *mark = '\0';
        if (host->slots < 1) return complain("host", host->name, "has no slots");
    }
    if (host->name[0] == '\0' || host->name[0] == '-' || strpbrk(host->name, " \t'\""))
        return complain("host", host->name, "is not a host's name");
    return -1;
}

static int read_hostfile(struct run_hosts *hosts, const char *path)
{
    char line[512];
    FILE *file = fopen(path, "re");
    if (!file) return complain("--hostfile", path, strerror(errno));
    int status = -1;
    while (status < 0 && fgets(line, sizeof(line), file)) {
        size_t n = strcspn(line, "#\r\n");
        while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t')) n--;
        if (n > 0) status = add_host(hosts, line, n);
    }
    fclose(file);
    return status;
}

/* Blocks of equal size; or as many as each has slots, in order. */
static int share_out(struct run_hosts *hosts, int n_pes)
{
    int slots = 0, given = 0;
    for (int i = 0; i < hosts->n; i++) slots += hosts->list[i].slots;
    for (int i = 0; i < hosts->n; i++) {
        struct run_host *host = &hosts->list[i];
        int room = host->slots ? host->slots : 1;
        host->first_pe = given;
        if (slots)
            host->n_pes = n_pes - given < room ? n_pes - given : room;
        else
            host->n_pes = (int)((long)(i + 1) * n_pes / hosts->n) - given;
        given += host->n_pes;
    }
    if (given == n_pes) return -1;
    fprintf(stderr, "rocshmem-run: %d PEs for %d slots; give the hosts more of them, as host:%d\n", n_pes,
            given, (n_pes + hosts->n - 1) / hosts->n);
    return RUN_FAILED;
}

static int make_commands(struct run_hosts *hosts, const char *ssh)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n < 0 || memchr(self, '\'', (size_t)n))
        return complain("rocshmem-run", "/proc/self/exe", "has no usable path");
    self[n] = '\0';
    hosts->words = strdup(ssh);
    if (!hosts->words || asprintf(&hosts->command, "exec '%s' --agent", self) < 0)
        return complain("--ssh", ssh, "does not fit in memory");
    int n_words = 0;
    char *words[WORDS_MAX], *rest = NULL;
    for (char *word = strtok_r(hosts->words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (n_words == WORDS_MAX) return complain("--ssh", ssh, "has too many words");
        words[n_words++] = word;
    }
    if (n_words == 0) return complain("--ssh", ssh, "names no command");
    for (int i = 0; i < hosts->n; i++) {
        memcpy(hosts->list[i].argv, words, (size_t)n_words * sizeof(words[0]));
        hosts->list[i].argv[n_words] = hosts->list[i].name;
        hosts->list[i].argv[n_words + 1] = hosts->command;
    }
    return -1;
}

int run_hosts_prepare(struct run_hosts *hosts, struct run_options *options)
{
    if (!options->hosts && !options->hostfile) return -1;
    if (options->n_nodes > 0)
        return complain("--nodes", "with --hosts", "is not possible: the hosts are real");
    hosts->options = *options;
    hosts->list = calloc(HOSTS_MAX, sizeof(*hosts->list));
    if (!hosts->list) return complain("--hosts", "", "does not fit in memory");
    int status = options->hostfile ? read_hostfile(hosts, options->hostfile) : -1;
    for (const char *at = options->hosts; status < 0 && at && *at; at += strcspn(at, ","), at += *at == ',')
        status = add_host(hosts, at, strcspn(at, ","));
    if (status < 0 && hosts->n == 0) status = complain("--hosts", "", "names no host");
    if (status < 0) status = share_out(hosts, options->n_pes);
    if (status >= 0) return status;
    while (hosts->n > 0 && hosts->list[hosts->n - 1].n_pes == 0) free(hosts->list[--hosts->n].name);
    const char *ssh = options->ssh ? options->ssh : getenv("ROCSHMEM_RUN_SSH");
    status = make_commands(hosts, ssh && *ssh ? ssh : "ssh -o BatchMode=yes");
    if (status >= 0) return status;
    options->quiet = true;
    options->n_pes = hosts->n; /* of the launcher: the agents do the rest */
    options->command = hosts->list[0].argv;
    options->no_bind = true;
    options->prefix = options->bind = false;
    options->timeout_ns = 0;
    options->grace_ns += 3000000000u; /* for what the agents do within theirs */
    return -1;
}

/* ---- what an agent is told ---- */

static void put(FILE *out, const char *text)
{
    fwrite(text, strlen(text) + 1, 1, out);
}

static bool is_passed(const char *variable)
{
    static const char *const own[] = {"ROCSHMEM_RUN_", "ROCSHMEM_NODE_ID=", "ROCSHMEM_BOOTSTRAP_HOSTID="};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strncmp(variable, own[i], strlen(own[i])) == 0) return false;
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
        if (strncmp(variable, passed[i], strlen(passed[i])) == 0) return true;
    return false;
}

static void put_environment(FILE *out, const struct run_options *options)
{
    int n = options->n_env;
    for (int i = 0; environ[i]; i++) n += is_passed(environ[i]);
    fprintf(out, "%d%c", n, 0);
    for (int i = 0; environ[i]; i++)
        if (is_passed(environ[i])) put(out, environ[i]);
    for (int i = 0; i < options->n_env; i++) put(out, options->env[i]);
}

static void put_all(struct run_hosts *hosts, int i, const rocshmem_uniqueid_t *uid, FILE *out)
{
    const struct run_options *options = &hosts->options;
    const struct run_host *host = &hosts->list[i];
    char folder[PATH_MAX];
    put(out, rocshmemx_version());
    for (size_t k = 0; k < sizeof(uid->data); k++) fprintf(out, "%02x", uid->data[k]);
    unsigned port = 20000;
    for (int k = 0; k < 4; k++)
        port += uid->data[sizeof(uid->data) - 1 - (size_t)k] * 11u; /* the check: no secret */
    fprintf(out, "%c%d %d %d %d %d %d %d %d %llu %llu %u%c", 0, host->first_pe, host->n_pes, options->n_pes,
            options->prefix, options->bind, options->no_bind, options->quiet, options->verbose,
            (unsigned long long)options->timeout_ns, (unsigned long long)options->grace_ns, port, 0);
    put(out, hosts->list[0].name);
    put(out, options->heap ? options->heap : "");
    put(out, options->chdir && options->chdir[0] == '/' ? options->chdir
             : getcwd(folder, sizeof(folder))           ? folder
                                                        : "/");
    put_environment(out, options);
    for (char **word = options->command; *word; word++) put(out, *word);
}

static int write_all(int fd, const char *data, size_t nbytes)
{
    while (nbytes > 0) {
        ssize_t n = write(fd, data, nbytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        data += n;
        nbytes -= (size_t)n;
    }
    return 0;
}

int run_hosts_open(struct run_hosts *hosts, int i)
{
    return pipe2(hosts->list[i].control, O_CLOEXEC);
}

void run_hosts_opened(struct run_hosts *hosts, int i)
{
    close(hosts->list[i].control[0]);
    hosts->list[i].control[0] = -1;
}

/* The input follows what was told, and from here on nobody waits for host 0. */
static int begin_input(struct run_hosts *hosts)
{
    int fd = hosts->list[0].control[1], flags = fcntl(fd, F_GETFL);
    hosts->input = malloc(PIPE_BUF);
    hosts->reads = true;
    return hosts->input && flags >= 0 ? fcntl(fd, F_SETFL, flags | O_NONBLOCK) : -1;
}

int run_hosts_tell(struct run_hosts *hosts, int i, const rocshmem_uniqueid_t *uid)
{
    char *text = NULL;
    size_t nbytes = 0;
    FILE *out = open_memstream(&text, &nbytes);
    if (!out) return -1;
    put_all(hosts, i, uid, out);
    int rc = fclose(out);
    unsigned length = (unsigned)nbytes;
    int fd = hosts->list[i].control[1];
    if (rc == 0) rc = write_all(fd, (const char *)&length, sizeof(length));
    if (rc == 0) rc = write_all(fd, text, nbytes);
    if (text) explicit_bzero(text, nbytes);
    free(text);
    return rc == 0 && i == 0 ? begin_input(hosts) : rc;
}

/* Host 0's pipe may be full of input that PE 0 does not read, and we wait for nobody. */
static void signal_first(struct run_hosts *hosts, unsigned char signal)
{
    bool late = hosts->n_late > 0 || write(hosts->list[0].control[1], &signal, 1) != 1;
    if (late && hosts->n_late < (int)sizeof(hosts->late)) hosts->late[hosts->n_late++] = signal;
}

void run_hosts_signal(struct run_hosts *hosts, int signal)
{
    char byte = (char)signal;
    for (int i = 0; i < hosts->n; i++) {
        int *fd = &hosts->list[i].control[1];
        if (*fd < 0) continue;
        if (signal == SIGKILL) {
            close(*fd);
            *fd = -1;
        } else if (i == 0) {
            signal_first(hosts, (unsigned char)signal);
        } else {
            (void)write_all(*fd, &byte, 1); /* SIGPIPE is blocked; where ssh is gone, so is the agent */
        }
    }
}

/* ---- standard input ---- */

/* A terminal is read by who has it: else reading would stop us. */
static bool may_read(void)
{
    pid_t group = tcgetpgrp(STDIN_FILENO);
    return group < 0 || group == getpgrp();
}

struct pollfd run_hosts_poll(const struct run_hosts *hosts)
{
    struct pollfd poll = {.fd = -1};
    if (hosts->n == 0 || hosts->list[0].control[1] < 0) return poll;
    if (hosts->n_input || hosts->n_late)
        poll = (struct pollfd){.fd = hosts->list[0].control[1], .events = POLLOUT};
    else if (hosts->reads && may_read())
        poll = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    return poll;
}

static void read_input(struct run_hosts *hosts)
{
    ssize_t n = read(STDIN_FILENO, hosts->input + HEAD, PIPE_BUF - HEAD);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n <= 0) { /* an error is an end, too */
        hosts->reads = false;
        n = 0;
    }
    hosts->input[0] = 0;
    hosts->input[1] = (unsigned char)(n & 0xff);
    hosts->input[2] = (unsigned char)(n >> 8);
    hosts->n_input = HEAD + (int)n;
}

void run_hosts_serve(struct run_hosts *hosts, const struct pollfd *ready)
{
    if (ready->fd < 0 || ready->revents == 0) return;
    if (ready->fd == STDIN_FILENO) read_input(hosts);
    int fd = hosts->list[0].control[1];
    while (hosts->n_late > 0 && write(fd, hosts->late, 1) == 1)
        memmove(hosts->late, hosts->late + 1, (size_t)--hosts->n_late);
    if (hosts->n_late == 0 && hosts->n_input > 0 && write(fd, hosts->input, (size_t)hosts->n_input) > 0)
        hosts->n_input = 0;         /* all of it: it is no more than PIPE_BUF */
    if (ready->revents & POLLERR) { /* the agent has ended */
        hosts->reads = false;
        hosts->n_input = hosts->n_late = 0;
    }
}

void run_hosts_ended(const struct run_hosts *hosts, int i, int status, const char *how,
                     struct run_output *output)
{
    const char *name = hosts->list[i].name;
    if (hosts->options.quiet || status == 0) return;
    if (status == 255 || status == RUN_CANNOT_EXECUTE || status == RUN_NOT_FOUND || status < 0)
        run_output_say(
            output, "host %s: the command that reaches it %s; does \"%s %s true\" work, and is %s there too",
            name, how, hosts->list[i].argv[0], name, hosts->command + strlen("exec "));
    else
        run_output_say(output, "host %s: a PE of it failed; ending the others", name);
}

void run_hosts_close(struct run_hosts *hosts)
{
    for (int i = 0; i < hosts->n; i++) {
        for (int end = 0; end < 2; end++)
            if (hosts->list[i].control[end] >= 0) close(hosts->list[i].control[end]);
        free(hosts->list[i].name);
    }
    free(hosts->list);
    free(hosts->input);
    free(hosts->words);
    free(hosts->command);
}
