/* SPDX-License-Identifier: MIT
 *
 * Shared memory, Unix sockets with descriptors, processes, threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os.h"
#include "base/status.h"

static bool is_cloexec(int fd)
{
    return fcntl(fd, F_GETFD) & FD_CLOEXEC;
}

static uint64_t in_ms(uint64_t ms)
{
    return rs_os_now_ns() + ms * 1000000;
}

static void shared_memory_is_seen_through_both_mappings(void **state)
{
    (void)state;
    size_t nbytes = (size_t)1 << 36; /* sparse: more than the machine has */
    int fd = rs_os_memfd("test", nbytes);
    assert_true(fd >= 0);
    assert_true(is_cloexec(fd));
    void *a, *b;
    assert_int_equal(rs_os_map_shared(fd, nbytes, &a), 0);
    assert_int_equal(rs_os_map_shared(fd, nbytes, &b), 0);
    ((char *)a)[nbytes - 1] = 7;
    assert_int_equal(((char *)b)[nbytes - 1], 7);
    rs_os_unmap(a, nbytes);
    rs_os_unmap(b, nbytes);
    rs_os_unmap(NULL, 5);
    close(fd);
}

static void impossible_sizes_are_out_of_memory(void **state)
{
    (void)state;
    void *base = &base;
    assert_int_equal(rs_os_memfd("test", SIZE_MAX), RS_E_NOMEM);
    int fd = rs_os_memfd("test", 4096);
    assert_int_equal(rs_os_map_shared(fd, (size_t)1 << 60, &base), RS_E_NOMEM);
    assert_ptr_equal(base, &base);
    close(fd);
}

static void descriptors_travel_through_an_abstract_socket(void **state)
{
    (void)state;
    char name[64];
    snprintf(name, sizeof(name), "rocshmem-test-os-%d", (int)getpid());
    assert_int_equal(rs_os_unix_connect(name), RS_E_SYSTEM);
    assert_int_equal(errno, ECONNREFUSED);
    int listener = rs_os_unix_listen(name);
    assert_true(listener >= 0 && is_cloexec(listener));
    assert_int_equal(rs_os_unix_listen(name), RS_E_SYSTEM);
    assert_int_equal(errno, EADDRINUSE);
    int here = rs_os_unix_connect(name), there = accept(listener, NULL, NULL);
    assert_true(here >= 0 && there >= 0 && is_cloexec(here));
    assert_true(rs_os_peer_is_us(here) && rs_os_peer_is_us(there));
    int sent[8], got[8];
    for (int i = 0; i < 8; i++) {
        sent[i] = rs_os_memfd("sent", 4096);
        assert_int_equal(pwrite(sent[i], &i, sizeof(i), 0), sizeof(i));
    }
    assert_int_equal(rs_os_send_fds(here, sent, 8), 0);
    assert_int_equal(rs_os_recv_fds(there, got, 8), 0);
    for (int i = 0; i < 8; i++) {
        int value = -1;
        assert_int_equal(pread(got[i], &value, sizeof(value), 0), sizeof(value));
        assert_int_equal(value, i);
        assert_true(is_cloexec(got[i]));
        assert_true(fcntl(sent[i], F_GETFD) >= 0); /* still open here */
        close(got[i]);
        close(sent[i]);
    }
    close(here);
    close(there);
    close(listener);
}

static void too_few_descriptors_are_none(void **state)
{
    (void)state;
    int ends[2], fds[2] = {-5, -5}, one = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(rs_os_send_fds(ends[0], &one, 1), 0);
    int next = dup(0);
    close(next);
    assert_int_equal(rs_os_recv_fds(ends[1], fds, 2), RS_E_SYSTEM);
    assert_int_equal(fds[0], -5);
    int again = dup(0);
    assert_int_equal(again, next); /* the one that came is closed */
    close(again);
    assert_int_equal(rs_os_send_fds(ends[0], fds, 9), RS_E_BUG);
    close(ends[0]);
    assert_int_equal(rs_os_recv_fds(ends[1], fds, 2), RS_E_PEER); /* the end */
    close(ends[1]);
}

static void names_that_no_socket_can_have_are_errors(void **state)
{
    (void)state;
    char name[200];
    memset(name, 'x', sizeof(name));
    name[199] = '\0';
    assert_int_equal(rs_os_unix_listen(name), RS_E_SYSTEM);
    assert_int_equal(rs_os_unix_connect(""), RS_E_SYSTEM);
    name[107] = '\0'; /* the longest */
    int fd = rs_os_unix_listen(name);
    assert_true(fd >= 0);
    close(fd);
}

static int transfer_ends[2];
enum { TRANSFER_NBYTES = 5000000 };

static void *send_much(void *arg)
{
    (void)arg;
    char *data = malloc(TRANSFER_NBYTES);
    for (int i = 0; i < TRANSFER_NBYTES; i++) data[i] = (char)(i * 7 / 3);
    int rc = rs_os_send_all(transfer_ends[0], data, TRANSFER_NBYTES, in_ms(20000));
    free(data);
    return (void *)(intptr_t)rc;
}

static void long_transfers_are_continued(void **state)
{
    (void)state;
    pthread_t thread;
    void *rc;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, transfer_ends), 0);
    assert_int_equal(rs_os_thread_start(&thread, "a name that is far too long", send_much, NULL), 0);
    char *data = calloc(1, TRANSFER_NBYTES);
    assert_int_equal(rs_os_recv_all(transfer_ends[1], data, TRANSFER_NBYTES, in_ms(20000)), 0);
    pthread_join(thread, &rc);
    assert_null(rc);
    for (int i = 0; i < TRANSFER_NBYTES; i++)
        if (data[i] != (char)(i * 7 / 3)) fail_msg("byte %d differs", i);
    free(data);
    close(transfer_ends[0]);
    assert_int_equal(rs_os_recv_all(transfer_ends[1], &rc, 1, in_ms(20000)), RS_E_SYSTEM); /* the end */
    assert_int_equal(rs_os_send_all(transfer_ends[1], "x", 1, in_ms(20000)),
                     RS_E_SYSTEM); /* and no SIGPIPE */
    close(transfer_ends[1]);
}

static void a_silent_peer_is_a_timeout(void **state)
{
    (void)state;
    int ends[2];
    char byte, much[4096] = "";
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(rs_os_recv_all(ends[0], &byte, 1, in_ms(30)), RS_E_TIMEOUT);
    int rc = 0;
    for (int i = 0; rc == 0 && i < 10000; i++) rc = rs_os_send_all(ends[0], much, sizeof(much), in_ms(30));
    assert_int_equal(rc, RS_E_TIMEOUT);
    close(ends[0]);
    close(ends[1]);
}

static void processes_are_told_from_their_successors(void **state)
{
    (void)state;
    uint64_t mine = rs_os_start_time(getpid());
    assert_true(mine > 0);
    assert_true(rs_os_pid_alive(getpid(), mine));
    assert_true(rs_os_pid_alive(getpid(), 0));
    assert_false(rs_os_pid_alive(getpid(), mine + 1));
    pid_t child = fork();
    if (child == 0) _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_false(rs_os_pid_alive(child, 0)); /* dead, though its parent has not looked yet */
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(rs_os_pid_alive(child, 0));
    assert_true(rs_os_start_time(child) == 0);
    assert_true(rs_os_pidfd(child) < 0);
    int fd = rs_os_pidfd(getpid());
    if (fd >= 0) {
        assert_true(is_cloexec(fd));
        close(fd);
    } else {
        assert_int_equal(errno, ENOSYS); /* a kernel before 5.3 */
    }
}

static void *thread_facts(void *arg)
{
    sigset_t blocked;
    pthread_getname_np(pthread_self(), arg, 16);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    return (void *)(intptr_t)(sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGUSR1));
}

static void threads_block_signals_and_have_a_name(void **state)
{
    (void)state;
    pthread_t thread;
    void *blocked;
    char name[16] = "";
    assert_int_equal(rs_os_thread_start(&thread, "rocshmem-testing-it", thread_facts, name), 0);
    pthread_join(thread, &blocked);
    assert_non_null(blocked);
    assert_string_equal(name, "rocshmem-testin");
    sigset_t mine;
    pthread_sigmask(SIG_SETMASK, NULL, &mine);
    assert_false(sigismember(&mine, SIGINT));
}

/* The number that a process finds after it went into a namespace of its own; 0: it may not. A process's pid namespace
 * is that of its children. */
static uint64_t host_id_in(int namespace)
{
    int ends[2], status;
    uint64_t id = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        id = 0;
        bool moved = namespace == 0 || unshare(namespace) == 0;
        pid_t inner = moved && namespace == CLONE_NEWPID ? fork() : 0;
        if (inner > 0) _exit(waitpid(inner, &status, 0) == inner ? 0 : 1);
        if (moved) id = rs_os_host_id();
        _exit(write(ends[1], &id, sizeof(id)) == sizeof(id) ? 0 : 1);
    }
    assert_int_equal(read(ends[0], &id, sizeof(id)), sizeof(id));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(ends[0]);
    close(ends[1]);
    return id;
}

/* Before this process asks: it remembers. */
static void hosts_differ_by_the_namespaces_that_sharing_needs(void **state)
{
    (void)state;
    uint64_t here = host_id_in(0);
    assert_true(here != 0 && host_id_in(0) == here);
    if (host_id_in(CLONE_NEWUTS) == 0) skip();     /* no rights to make namespaces */
    assert_true(host_id_in(CLONE_NEWUTS) == here); /* a name is no border */
    static const int borders[] = {CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWPID};
    for (int i = 0; i < 3; i++) {
        uint64_t there = host_id_in(borders[i]);
        assert_true(there != 0 && there != here);
    }
}

static void host_facts_are_stable(void **state)
{
    (void)state;
    char name[64], cut[3];
    assert_true(rs_os_host_id() != 0 && rs_os_host_id() == rs_os_host_id());
    rs_os_host_name(name, sizeof(name));
    rs_os_host_name(cut, sizeof(cut));
    assert_true(strlen(name) > 0 && !strchr(name, '.'));
    assert_int_equal(strncmp(name, cut, strlen(cut)), 0);
    assert_true(rs_os_cpus() >= 1);
    uint8_t a[40] = {0}, b[40] = {0};
    rs_os_random(a, sizeof(a));
    rs_os_random(b, sizeof(b));
    assert_memory_not_equal(a, b, sizeof(a));
    uint64_t now = rs_os_now_ns();
    assert_true(rs_os_now_ns() >= now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_memory_is_seen_through_both_mappings),
        cmocka_unit_test(impossible_sizes_are_out_of_memory),
        cmocka_unit_test(descriptors_travel_through_an_abstract_socket),
        cmocka_unit_test(too_few_descriptors_are_none),
        cmocka_unit_test(names_that_no_socket_can_have_are_errors),
        cmocka_unit_test(long_transfers_are_continued),
        cmocka_unit_test(a_silent_peer_is_a_timeout),
        cmocka_unit_test(processes_are_told_from_their_successors),
        cmocka_unit_test(threads_block_signals_and_have_a_name),
        cmocka_unit_test(hosts_differ_by_the_namespaces_that_sharing_needs),
        cmocka_unit_test(host_facts_are_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
