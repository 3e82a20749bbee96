/* SPDX-License-Identifier: MIT
 *
 * The system calls we build on: shared memory, Unix sockets with descriptors, processes, threads. Everything
 * here is reentrant, keeps errno of what failed, opens descriptors close-on-exec, and never raises SIGPIPE.
 */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"

enum { MAX_FDS = 8 }; /* of one rs_os_send_fds */
#define SMALL_STACK_NBYTES ((size_t)256 << 10)

/* ---- memory ---- */

static int memory_status(int error)
{
    return error == ENOMEM || error == ENOSPC || error == EFBIG ? RS_E_NOMEM : RS_E_SYSTEM;
}

int rs_os_memfd(const char *name, size_t nbytes)
{
    if (nbytes > INT64_MAX)
        return rs_fail(RS_E_NOMEM, "could not create shared memory of %zu bytes: too large", nbytes);
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0)
        return rs_fail(memory_status(errno), "could not create shared memory \"%s\": %s", name,
                       strerror(errno));
    if (ftruncate(fd, (off_t)nbytes) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return rs_fail(memory_status(error), "could not size shared memory \"%s\" to %zu bytes: %s", name,
                       nbytes, strerror(error));
    }
    return fd;
}

int rs_os_map_shared(int fd, size_t nbytes, void **base_out)
{
    void *base = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED)
        return rs_fail(memory_status(errno), "could not map %zu bytes of shared memory: %s", nbytes,
                       strerror(errno));
    *base_out = base;
    return 0;
}

int rs_os_map_shared_at(int fd, size_t nbytes, size_t align, void **base_out)
{
    /* Reserve more than enough addresses, map over the aligned part, give the rest back. */
    size_t reserved = nbytes + align;
    unsigned char *all = MAP_FAILED;
    if (reserved > nbytes)
        all = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return rs_fail(RS_E_NOMEM, "could not reserve %zu bytes of addresses: %s", nbytes, strerror(errno));
    unsigned char *base = (unsigned char *)(((uintptr_t)all + align - 1) & ~(uintptr_t)(align - 1));
    if (mmap(base, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0) ==
        MAP_FAILED) {
        int rc = rs_fail(memory_status(errno), "could not map %zu bytes of shared memory: %s", nbytes,
                         strerror(errno));
        munmap(all, reserved);
        return rc;
    }
    if (base > all) munmap(all, (size_t)(base - all));
    size_t end = (nbytes + 4095) & ~(size_t)4095;
    if (base + end < all + reserved) munmap(base + end, (size_t)(all + reserved - (base + end)));
    *base_out = base;
    return 0;
}

int rs_os_reserve(size_t nbytes, void **base_out)
{
    void *base = mmap(NULL, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return rs_fail(RS_E_NOMEM, "could not reserve %zu bytes of addresses: %s", nbytes, strerror(errno));
    *base_out = base;
    return 0;
}

void rs_os_unmap(void *base, size_t nbytes)
{
    if (base) munmap(base, nbytes);
}

/* ---- Unix sockets ---- */

/* An abstract name is not terminated: its length is that of the address. */
static int unix_address(const char *name, struct sockaddr_un *address, socklen_t *length)
{
    size_t n = strlen(name);
    if (n == 0 || n > sizeof(address->sun_path) - 1) {
        errno = ENAMETOOLONG;
        return rs_fail(RS_E_SYSTEM, "a socket name of %zu bytes is not possible: \"%s\"; 1 to %zu are", n,
                       name, sizeof(address->sun_path) - 1);
    }
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, name, n);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
    return 0;
}

static int unix_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return rs_fail(RS_E_SYSTEM, "could not create a Unix socket: %s", strerror(errno));
    return fd;
}

/* Close fd and fail with errno as it was. */
static int fail_closing(int fd, const char *what, const char *name)
{
    int error = errno;
    close(fd);
    errno = error;
    return rs_fail(RS_E_SYSTEM, "could not %s the abstract Unix socket \"%s\": %s", what, name,
                   strerror(error));
}

int rs_os_unix_listen(const char *name)
{
    struct sockaddr_un address;
    socklen_t length = 0;
    RS_TRY(unix_address(name, &address, &length));
    int fd = unix_socket();
    if (fd < 0) return fd;
    if (bind(fd, (struct sockaddr *)&address, length) != 0) return fail_closing(fd, "bind", name);
    if (listen(fd, SOMAXCONN) != 0) return fail_closing(fd, "listen on", name);
    return fd;
}

int rs_os_unix_connect(const char *name)
{
    struct sockaddr_un address;
    socklen_t length = 0;
    RS_TRY(unix_address(name, &address, &length));
    int fd = unix_socket();
    if (fd < 0) return fd;
    int rc;
    do rc = connect(fd, (struct sockaddr *)&address, length);
    while (rc != 0 && errno == EINTR);
    if (rc != 0) return fail_closing(fd, "connect to", name);
    return fd;
}

/* Room for the control message of MAX_FDS descriptors, aligned as cmsg needs. */
union fd_message {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

static bool would_block(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK;
}

int rs_os_send_fds(int socket, const int *fds, int n)
{
    if (n < 1 || n > MAX_FDS)
        return rs_fail(RS_E_BUG, "%d descriptors in one message; 1 to %d are possible", n, MAX_FDS);
    union fd_message control;
    memset(&control, 0, sizeof(control));
    char byte = (char)n;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control};
    message.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
    memcpy(CMSG_DATA(header), fds, (size_t)n * sizeof(int));
    for (;;) {
        if (sendmsg(socket, &message, MSG_NOSIGNAL) == 1) return 0;
        if (errno == EINTR) continue;
        if (!would_block(errno)) break;
        struct pollfd ready = {.fd = socket, .events = POLLOUT};
        poll(&ready, 1, -1);
    }
    return rs_fail(RS_E_SYSTEM, "could not send %d descriptors to another process: %s", n, strerror(errno));
}

/* Take the descriptors out of a message: into got (at most MAX_FDS), how many there were. */
static int take_fds(struct msghdr *message, int *got)
{
    int n = 0;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(message); h; h = CMSG_NXTHDR(message, h)) {
        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
        int here = (int)((h->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int i = 0; i < here && n < MAX_FDS; i++)
            memcpy(&got[n++], CMSG_DATA(h) + (size_t)i * sizeof(int), sizeof(int));
    }
    return n;
}

int rs_os_recv_fds(int socket, int *fds, int n)
{
    if (n < 1 || n > MAX_FDS)
        return rs_fail(RS_E_BUG, "%d descriptors in one message; 1 to %d are possible", n, MAX_FDS);
    union fd_message control;
    char byte;
    struct iovec data = {&byte, 1};
    struct msghdr message;
    ssize_t got;
    for (;;) {
        message = (struct msghdr){.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control};
        message.msg_controllen = sizeof(control);
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
        if (got >= 0) break;
        if (errno == EINTR) continue;
        if (!would_block(errno))
            return rs_fail(errno == ECONNRESET ? RS_E_PEER : RS_E_SYSTEM,
                           "could not receive descriptors from another process: %s", strerror(errno));
        struct pollfd ready = {.fd = socket, .events = POLLIN};
        poll(&ready, 1, -1);
    }
    if (got == 0)
        return rs_fail(RS_E_PEER, "could not receive %d descriptors: the other process closed the connection",
                       n);
    int here[MAX_FDS];
    int n_here = take_fds(&message, here);
    if (n_here != n || (message.msg_flags & MSG_CTRUNC)) {
        for (int i = 0; i < n_here; i++) close(here[i]);
        return rs_fail(RS_E_SYSTEM, "expected %d descriptors from another process, got %d%s", n, n_here,
                       message.msg_flags & MSG_CTRUNC ? " and lost some; is the limit of open files reached"
                                                      : "");
    }
    memcpy(fds, here, (size_t)n * sizeof(int));
    return 0;
}

bool rs_os_peer_is_us(int socket)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
    return peer.uid == geteuid();
}

/* Sleep until the socket is ready for events. 0, or TIMEOUT past the deadline. */
static int poll_until(int socket, short events, uint64_t deadline_ns, const char *what)
{
    uint64_t now = rs_os_now_ns();
    if (now >= deadline_ns) {
        errno = ETIMEDOUT;
        return rs_fail(RS_E_TIMEOUT, "could not %s another process in time", what);
    }
    uint64_t ms = (deadline_ns - now + 999999) / 1000000;
    struct pollfd ready = {.fd = socket, .events = events};
    poll(&ready, 1, ms > 1000 ? 1000 : (int)ms); /* EINTR and a timeout end up above */
    return 0;
}

int rs_os_send_all(int socket, const void *data, size_t nbytes, uint64_t deadline_ns)
{
    const char *from = data;
    while (nbytes > 0) {
        ssize_t n = send(socket, from, nbytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            from += n;
            nbytes -= (size_t)n;
        } else if (would_block(errno)) {
            RS_TRY(poll_until(socket, POLLOUT, deadline_ns, "send to"));
        } else if (errno != EINTR) {
            return rs_fail(RS_E_SYSTEM, "could not send to another process: %s", strerror(errno));
        }
    }
    return 0;
}

int rs_os_recv_all(int socket, void *data, size_t nbytes, uint64_t deadline_ns)
{
    char *to = data;
    while (nbytes > 0) {
        ssize_t n = recv(socket, to, nbytes, MSG_DONTWAIT);
        if (n > 0) {
            to += n;
            nbytes -= (size_t)n;
        } else if (n == 0) {
            errno = ECONNRESET;
            return rs_fail(RS_E_SYSTEM, "could not receive from another process: it closed the connection");
        } else if (would_block(errno)) {
            RS_TRY(poll_until(socket, POLLIN, deadline_ns, "receive from"));
        } else if (errno != EINTR) {
            return rs_fail(RS_E_SYSTEM, "could not receive from another process: %s", strerror(errno));
        }
    }
    return 0;
}

/* ---- clocks, processes, the host ---- */

uint64_t rs_os_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void rs_os_random(void *out, size_t nbytes)
{
    char *to = out;
    while (nbytes > 0) {
        ssize_t n = getrandom(to, nbytes, 0);
        if (n < 0 && errno != EINTR) break;
        if (n > 0) {
            to += n;
            nbytes -= (size_t)n;
        }
    }
    if (nbytes == 0) return;
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC); /* a sandbox that forbids getrandom */
    ssize_t n = fd < 0 ? -1 : read(fd, to, nbytes);
    if (fd >= 0) close(fd);
    const unsigned char *start =
        (const unsigned char *)getauxval(AT_RANDOM); /* 16 bytes, the kernel's, of exec */
    uint64_t now = rs_os_now_ns();
    for (size_t i = 0; n != (ssize_t)nbytes && i < nbytes; i++)
        to[i] = (char)((start ? start[i % 16] : 0) ^ (now >> (i % 8 * 8)));
}

void rs_os_cpu_set(uint64_t words[16])
{
    cpu_set_t set;
    CPU_ZERO(&set);
    memset(words, 0, 16 * sizeof *words);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return; /* more than 1024 cores: nobody is short of one */
    for (int cpu = 0; cpu < 1024; cpu++)
        if (CPU_ISSET(cpu, &set)) words[cpu / 64] |= (uint64_t)1 << (cpu % 64);
}

int rs_os_cpus(void)
{
    for (size_t n = 1024; n <= 1u << 20;
         n *= 2) { /* the kernel says EINVAL when it has more CPUs than the set */
        cpu_set_t *set = CPU_ALLOC(n);
        if (!set) break;
        size_t nbytes = CPU_ALLOC_SIZE(n);
        int rc = sched_getaffinity(0, nbytes, set);
        int count = rc == 0 ? CPU_COUNT_S(nbytes, set) : 0, error = errno;
        CPU_FREE(set);
        if (rc == 0) return count > 0 ? count : 1;
        if (error != EINVAL) break;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* /proc/PID/stat: the state letter and the start time. False when there is no such process. */
static bool read_stat(pid_t pid, char *state_out, uint64_t *start_out)
{
    char path[48], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n <= 0) return false;
    text[n] = '\0';
    char *field = strrchr(text, ')'); /* the name before it may hold anything */
    if (!field || strlen(field) < 3) return false;
    *state_out = field[2];
    field += 2;
    for (int i = 3; i < 22; i++) { /* the state is field 3, the start time field 22 */
        field = strchr(field, ' ');
        if (!field) return false;
        field++;
    }
    *start_out = strtoull(field, NULL, 10);
    return true;
}

uint64_t rs_os_start_time(pid_t pid)
{
    char state;
    uint64_t start;
    return read_stat(pid, &state, &start) ? start : 0;
}

int rs_os_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return fd >= 0 ? fd : RS_E_SYSTEM;
#else
    (void)pid;
    return RS_E_SYSTEM;
#endif
}

bool rs_os_pid_alive(pid_t pid, uint64_t start_time)
{
    char state;
    uint64_t start;
    if (!read_stat(pid, &state, &start)) {
        if (access("/proc/self/stat", F_OK) == 0) return false;
        return kill(pid, 0) == 0 || errno == EPERM; /* no /proc here */
    }
    if (state == 'Z' || state == 'X') return false; /* dead, only its parent has not looked yet */
    return start_time == 0 || start == start_time;
}

bool rs_os_may_be_allocated(const void *p)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    bool found = false, continued = false;
    if (!maps) return true;
    while (!found && fgets(line, sizeof(line), maps)) {
        bool begins = !continued;
        continued = !strchr(line, '\n'); /* a long path: the rest of it is no line */
        char *at;
        uintptr_t low = strtoul(line, &at, 16); /* low-high rwxp ... */
        if (!begins || *at != '-') continue;
        uintptr_t high = strtoul(at + 1, &at, 16);
        bool writable = at[0] == ' ' && at[1] && at[2] == 'w';
        found = (uintptr_t)p >= low && (uintptr_t)p < high && writable && !strstr(line, "[stack");
    }
    fclose(maps);
    return found;
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t nbytes) /* FNV-1a */
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < nbytes; i++) hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

uint64_t rs_os_machine_id(void)
{
    uint64_t hash = 0xcbf29ce484222325u;
    char text[256];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
    if (fd >= 0) close(fd);
    if (n <= 0) { /* no /proc: the name is the next best */
        rs_os_host_name(text, sizeof(text));
        n = (ssize_t)strlen(text);
    }
    return hash_bytes(hash, text, (size_t)n);
}

static uint64_t find_host_id(void)
{
    uint64_t hash = rs_os_machine_id();
    static const char *const namespaces[] = {"/proc/self/ns/net", "/proc/self/ns/pid", "/proc/self/ns/ipc"};
    for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++) {
        struct stat info;
        uint64_t id = stat(namespaces[i], &info) == 0 ? (uint64_t)info.st_ino : 0;
        hash = hash_bytes(hash, &id, sizeof(id));
    }
    return hash ? hash : 1;
}

/* Any thread finds the same, so relaxed and twice is fine. */
uint64_t rs_os_host_id(void)
{
    static _Atomic uint64_t known;
    uint64_t id = atomic_load_explicit(&known, memory_order_relaxed);
    if (id == 0) {
        id = find_host_id();
        atomic_store_explicit(&known, id, memory_order_relaxed);
    }
    return id;
}

void rs_os_host_name(char *out, size_t nbytes)
{
    if (nbytes == 0) return;
    struct utsname system;
    snprintf(out, nbytes, "%s", uname(&system) == 0 ? system.nodename : "localhost");
    out[strcspn(out, ".")] = '\0'; /* the domain says nothing in a log line */
}

/* ---- threads ---- */

void rs_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t limit_ns)
{
    struct timespec limit = {.tv_sec = (time_t)(limit_ns / 1000000000u),
                             .tv_nsec = (long)(limit_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT, expected, &limit, NULL, 0);
}

void rs_os_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

struct thread_start {
    char name[16];
    void *(*run)(void *arg);
    void *arg;
};

static void *thread_main(void *arg)
{
    struct thread_start start = *(struct thread_start *)arg;
    free(arg);
    pthread_setname_np(pthread_self(), start.name);
    return start.run(start.arg);
}

/* stack_nbytes 0: the usual size. */
static int start_thread(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg,
                        size_t stack_nbytes)
{
    struct thread_start *start = malloc(sizeof(*start));
    if (!start) return rs_fail(RS_E_NOMEM, "no memory to start thread \"%s\"", name);
    snprintf(start->name, sizeof(start->name), "%s", name);
    start->run = run;
    start->arg = arg;
    pthread_attr_t attr;
    bool small = stack_nbytes && pthread_attr_init(&attr) == 0;
    if (small) pthread_attr_setstacksize(&attr, stack_nbytes);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all,
                    &before); /* inherited: the process's signals belong to its own threads */
    int rc = pthread_create(thread, small ? &attr : NULL, thread_main, start);
    if (rc == EINVAL && small) /* the program's thread-local variables do not fit */
        rc = pthread_create(thread, NULL, thread_main, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (small) pthread_attr_destroy(&attr);
    if (rc == 0) return 0;
    free(start);
    errno = rc;
    return rs_fail(RS_E_SYSTEM, "could not start thread \"%s\": %s", name, strerror(rc));
}

int rs_os_thread_start(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg)
{
    return start_thread(thread, name, run, arg, 0);
}

int rs_os_thread_start_small(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg)
{
    return start_thread(thread, name, run, arg, SMALL_STACK_NBYTES);
}
