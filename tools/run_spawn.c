/* SPDX-License-Identifier: MIT
 *
 * How rocshmem-run starts its PEs: vfork, a few system calls, exec. The child of a vfork runs in our memory
 * while we wait, so it makes system calls only and writes nothing but the failure; in return a start costs no
 * copy of our page tables.
 *
 * No PE outlives the launcher, kill -9 included. Each asks the kernel to be killed when its parent dies (our
 * main thread starts them all: the request is about the thread), which does not reach what the PE itself
 * starts. For those there is the guardian: the leader of the process group that all are in, reading from a
 * pipe that only the launcher can write to.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_spawn.h"

enum { OWN_VARIABLES = 16 }; /* at least as many as prepare adds */

/* ---- the guardian ---- */

static _Noreturn void guard(int pipe_fd)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setpgid(0, 0);
    prctl(PR_SET_NAME, "rocshmem-guard");
    prctl(PR_SET_PDEATHSIG, SIGCONT); /* even if somebody stopped the whole group */
    dup2(pipe_fd, STDIN_FILENO);
    close_range(STDOUT_FILENO, ~0u, 0); /* nobody shall wait for our copies to close */
    char byte;
    ssize_t n;
    do {
        n = read(STDIN_FILENO, &byte, 1);
    } while (n > 0 || (n < 0 && errno == EINTR));
    kill(0, SIGKILL); /* the whole group, this process included */
    _exit(0);
}

int run_spawn_guard(struct run_spawn *spawn, const sigset_t *mask)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t pid = fork();
    if (pid == 0) guard(ends[0]); /* its copy of ends[1] is among what it closes */
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return -1;
    }
    setpgid(pid, pid); /* whoever comes first */
    spawn->launcher = getpid();
    spawn->group = pid;
    spawn->guard_fd = ends[1];
    spawn->mask = *mask;
    return 0;
}

/* ---- the environment ---- */

/* The value of a variable, or NULL. */
static const char *look_up(char *const *envp, const char *name)
{
    size_t n = strlen(name);
    for (; *envp; envp++)
        if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=') return *envp + n + 1;
    return NULL;
}

/* Add NAME=VALUE, in place of an older value. There is room. */
static void put(char **envp, char *variable)
{
    size_t n = (size_t)(strchr(variable, '=') - variable) + 1;
    while (*envp && strncmp(*envp, variable, n) != 0) envp++;
    if (!*envp) envp[1] = NULL;
    *envp = variable;
}

/* A port that nobody uses. The bound socket keeps it from being given to others, and SO_REUSEADDR lets the
 * rendezvous of torch, which sets it too, listen there all the same. */
static int reserve_port(struct run_spawn *spawn)
{
    int on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t nbytes = sizeof(address);
    spawn->port_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (spawn->port_fd < 0 || setsockopt(spawn->port_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(spawn->port_fd, (struct sockaddr *)&address, nbytes) != 0 ||
        getsockname(spawn->port_fd, (struct sockaddr *)&address, &nbytes) != 0)
        return -1;
    return ntohs(address.sin_port);
}

static int put_text(struct run_spawn *spawn, const char *name, const char *value)
{
    int i = 0;
    while (spawn->texts[i]) i++;
    if (asprintf(&spawn->texts[i], "%s=%s", name, value) < 0) {
        spawn->texts[i] = NULL;
        return -1;
    }
    put(spawn->envp, spawn->texts[i]);
    return 0;
}

static int put_number(struct run_spawn *spawn, const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", value);
    return put_text(spawn, name, text);
}

/* torch's rendezvous, where the user has not named one. */
static int put_master(struct run_spawn *spawn)
{
    const char *address = look_up(spawn->envp, "ROCSHMEM_MASTER_ADDR");
    if (!look_up(spawn->envp, "MASTER_ADDR") &&
        put_text(spawn, "MASTER_ADDR", address ? address : "127.0.0.1") < 0)
        return -1;
    if (look_up(spawn->envp, "MASTER_PORT")) return 0;
    const char *port = look_up(spawn->envp, "ROCSHMEM_MASTER_PORT");
    if (port) return put_text(spawn, "MASTER_PORT", port);
    int found = reserve_port(spawn);
    return found < 0 ? -1 : put_number(spawn, "MASTER_PORT", found);
}

/* Of a host that is played: its number, the first PE of it, and the first of the next one. */
static int played(const struct run_spawn *spawn, int pe, int *first_out, int *next_out)
{
    int k = 0;
    do {
        *first_out = (int)((long)k * spawn->n_pes / spawn->n_nodes);
        *next_out = (int)((long)++k * spawn->n_pes / spawn->n_nodes);
    } while (pe >= *next_out);
    return k - 1;
}

/* What only this PE has. A host that is played has a name that no real one and no other job has. */
static int name_rank(struct run_spawn *spawn, int pe)
{
    static const char *const names[] = {"ROCSHMEM_RUN_RANK", "RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
    int first = 0, next = spawn->n_pes;
    char host[64] = "";
    if (spawn->n_nodes > 0) {
        int k = played(spawn, pe, &first, &next);
        gethostname(host, sizeof(host) - 1);
        snprintf(spawn->rank_texts[4], sizeof(spawn->rank_texts[4]), "ROCSHMEM_NODE_ID=%s-run%d-node%d", host,
                 (int)spawn->launcher, k);
    }
    const int values[] = {spawn->first_pe + pe, spawn->first_pe + pe, pe - first, next - first};
    for (int i = 0; i < 4; i++)
        snprintf(spawn->rank_texts[i], sizeof(spawn->rank_texts[i]), "%s=%d", names[i], values[i]);
    return spawn->n_nodes > 0 ? 5 : 4;
}

static int make_environment(struct run_spawn *spawn, const struct run_options *options,
                            const char *socket_name)
{
    int n = 0;
    while (environ[n]) n++;
    spawn->envp = calloc((size_t)n + (size_t)options->n_env + OWN_VARIABLES, sizeof(*spawn->envp));
    if (!spawn->envp) return -1;
    memcpy(spawn->envp, environ, (size_t)n * sizeof(*spawn->envp));
    if (options->heap && put_text(spawn, "ROCSHMEM_HEAP_SIZE", options->heap) < 0) return -1;
    for (int i = 0; i < options->n_env; i++) put(spawn->envp, (char *)options->env[i]);
    int n_own = name_rank(spawn, 0), n_job = options->n_job ? options->n_job : options->n_pes;
    for (int i = 0; i < n_own; i++) put(spawn->envp, spawn->rank_texts[i]);
    if (put_text(spawn, "ROCSHMEM_RUN_SOCKET", socket_name) < 0 ||
        put_number(spawn, "ROCSHMEM_RUN_SIZE", n_job) < 0 || put_number(spawn, "WORLD_SIZE", n_job) < 0)
        return -1;
    if (options->n_job && !look_up(spawn->envp, "MASTER_ADDR") &&
        (put_text(spawn, "MASTER_ADDR", options->master) < 0 ||
         put_number(spawn, "MASTER_PORT", (int)options->master_port) < 0))
        return -1;
    return put_master(spawn);
}

/* ---- the rest of what they share ---- */

/* Three descriptors a PE: two pipes, and a connection to the unique id's server. */
static void raise_nofile(struct run_spawn *spawn, int n_pes)
{
    if (getrlimit(RLIMIT_NOFILE, &spawn->nofile) != 0) spawn->nofile = (struct rlimit){0, 0};
    rlim_t need = 64 + (rlim_t)n_pes * 4;
    if (spawn->nofile.rlim_cur >= need) return;
    struct rlimit raised = spawn->nofile;
    raised.rlim_cur = need < raised.rlim_max ? need : raised.rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised); /* if not: opening the one too many says so */
}

static int list_cpus(struct run_spawn *spawn)
{
    unsigned long words[RUN_CPU_WORDS] = {0};
    const int bits = CHAR_BIT * (int)sizeof(words[0]);
    if (sched_getaffinity(0, sizeof(words), (cpu_set_t *)(void *)words) != 0) return -1;
    spawn->cpus = calloc((size_t)RUN_CPU_WORDS * (size_t)bits, sizeof(*spawn->cpus));
    if (!spawn->cpus) return -1;
    for (int cpu = 0; cpu < (int)RUN_CPU_WORDS * bits; cpu++)
        if (words[cpu / bits] >> (cpu % bits) & 1) spawn->cpus[spawn->n_cpus++] = cpu;
    return 0;
}

const char *run_spawn_prepare(struct run_spawn *spawn, const struct run_options *options,
                              const char *socket_name)
{
    spawn->argv = options->command;
    raise_nofile(spawn, options->n_pes);
    if (!options->no_bind && list_cpus(spawn) < 0) return "find the cores to pin to";
    spawn->n_pes = options->n_pes;
    spawn->first_pe = options->first_pe;
    spawn->n_nodes = options->n_nodes;
    spawn->n_job = options->n_job;
    spawn->launcher = getpid();
    if (!options->bind && options->n_pes > spawn->n_cpus)
        spawn->n_cpus = 0; /* the kernel shares cores better than we could */
    if (make_environment(spawn, options, socket_name) < 0) return "make the environment of the PEs";
    spawn->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return spawn->null_fd < 0 ? "open /dev/null" : NULL;
}

/* 0 when it can be executed, else why not: ENOENT, EACCES, EISDIR … */
static int examine(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) return errno;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    return access(path, X_OK) == 0 ? 0 : errno;
}

int run_spawn_find(struct run_spawn *spawn, const char **reason_out)
{
    const char *name = spawn->argv[0];
    int worst = ENOENT;
    const char *folder = look_up(spawn->envp, "PATH");
    if (!folder) folder = "/usr/local/bin:/usr/bin:/bin";
    bool is_path = strchr(name, '/') != NULL;
    while (*name) {
        int n = (int)strcspn(folder, ":");
        free(spawn->path);
        if (asprintf(&spawn->path, "%.*s%s%s", is_path ? 0 : n, folder, is_path || n == 0 ? "" : "/", name) <
            0) {
            spawn->path = NULL;
            *reason_out = "no memory left";
            return RUN_FAILED;
        }
        int error = examine(spawn->path);
        if (error == 0) return 0;
        if (error != ENOENT && error != ENOTDIR && (is_path || error != EISDIR)) worst = error;
        if (is_path || folder[n] == '\0') break;
        folder += n + 1;
    }
    *reason_out = worst == ENOENT   ? (is_path ? "no such file" : "not found in PATH")
                  : worst == EACCES ? "no permission to execute it; chmod +x, or name its interpreter"
                                    : strerror(worst);
    return worst == ENOENT ? RUN_NOT_FOUND : RUN_CANNOT_EXECUTE;
}

/* ---- a PE ---- */

struct failure {
    int error;
    bool is_exec;
};

/* The child of the vfork. Every early return is a failure with errno. */
static void become_pe(const struct run_spawn *spawn, int pe, const int outputs[2],
                      volatile struct failure *failure)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
    if (getppid() != spawn->launcher) _exit(0); /* it died before the kernel knew of our wish */
    int input = spawn->stdin_fd >= 0         ? spawn->stdin_fd
                : pe > 0 || spawn->n_job > 0 ? spawn->null_fd
                                             : STDIN_FILENO;
    if (input != STDIN_FILENO && dup2(input, STDIN_FILENO) < 0) return;
    if (outputs[0] >= 0 && dup2(outputs[0], STDOUT_FILENO) < 0) return;
    if (outputs[1] >= 0 && dup2(outputs[1], STDERR_FILENO) < 0) return;
    if (spawn->nofile.rlim_max > 0 && setrlimit(RLIMIT_NOFILE, &spawn->nofile) != 0) return;
    if (spawn->n_cpus > 0 && sched_setaffinity(0, sizeof(spawn->cpu_words),
                                               (const cpu_set_t *)(const void *)spawn->cpu_words) != 0)
        return;
    sigprocmask(SIG_SETMASK, &spawn->mask, NULL);
    /* Last: a PE that reads from the terminal stops its whole group, and a child that is stopped before its exec
     * leaves us in the vfork, from where nobody lends the terminal. */
    if (setpgid(0, spawn->group) != 0) return;
    execve(spawn->path, spawn->argv, spawn->envp);
    failure->is_exec = true;
}

static pid_t fork_pe(const struct run_spawn *spawn, int pe, const int outputs[2],
                     volatile struct failure *failure)
{
    pid_t pid = vfork();
    if (pid == 0) {
        become_pe(spawn, pe, outputs, failure);
        failure->error = errno;
        _exit(RUN_NOT_FOUND);
    }
    return pid;
}

pid_t run_spawn_pe(struct run_spawn *spawn, int pe, const int outputs[2], bool *is_exec_out)
{
    volatile struct failure failure = {0, false};
    name_rank(spawn, pe);
    if (spawn->n_cpus > 0) {
        const int bits = CHAR_BIT * (int)sizeof(spawn->cpu_words[0]);
        memset(spawn->cpu_words, 0, sizeof(spawn->cpu_words));
        int first = pe % spawn->n_cpus, end = first + 1; /* round robin, or an equal share of neighbours */
        if (spawn->n_pes <= spawn->n_cpus) {
            first = (int)((long)pe * spawn->n_cpus / spawn->n_pes);
            end = (int)((long)(pe + 1) * spawn->n_cpus / spawn->n_pes);
        }
        for (int i = first; i < end; i++)
            spawn->cpu_words[spawn->cpus[i] / bits] |= 1ul << (spawn->cpus[i] % bits);
    }
    pid_t pid = fork_pe(spawn, pe, outputs, &failure);
    *is_exec_out = failure.is_exec;
    if (pid > 0 && failure.error != 0) {
        errno = failure.error; /* the child is a zombie: the launcher collects it with the rest */
        return -1;
    }
    return pid;
}

void run_spawn_close(struct run_spawn *spawn)
{
    if (spawn->null_fd >= 0) close(spawn->null_fd);
    if (spawn->port_fd >= 0) close(spawn->port_fd);
    for (size_t i = 0; i < sizeof(spawn->texts) / sizeof(spawn->texts[0]); i++) free(spawn->texts[i]);
    free(spawn->envp);
    free(spawn->path);
    free(spawn->cpus);
}

void run_spawn_kill_children(void)
{
    char path[64];
    int pid;
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re");
    if (!file) return;
    while (fscanf(file, "%d", &pid) == 1) kill(pid, SIGKILL); /* NOLINT(cert-err34-c): the kernel's numbers */
    fclose(file);
}
