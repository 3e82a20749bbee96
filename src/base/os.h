/* SPDX-License-Identifier: MIT
 *
 * The system calls we build on, with our error convention: 0 (or a descriptor) or a negative status, worded.
 */
#ifndef RS_BASE_OS_H
#define RS_BASE_OS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An anonymous shared file of nbytes, sparse, close-on-exec. Descriptor or SYSTEM/NOMEM. */
int rs_os_memfd(const char *name, size_t nbytes);
/* Map nbytes of fd shared, read-write, committed lazily. */
int rs_os_map_shared(int fd, size_t nbytes, void **base_out);
/* The same at an address that is a multiple of align (a power of two, at least a page). */
int rs_os_map_shared_at(int fd, size_t nbytes, size_t align, void **base_out);
/* Addresses that nobody else gets and nobody can use; rs_os_unmap gives them back. */
int rs_os_reserve(size_t nbytes, void **base_out);
void rs_os_unmap(void *base, size_t nbytes);

/* An abstract Unix stream socket (no file, gone with its last descriptor). Descriptor or SYSTEM. */
int rs_os_unix_listen(const char *name);
/* One try. Descriptor, or SYSTEM with errno kept (ECONNREFUSED: nobody listens yet). */
int rs_os_unix_connect(const char *name);
/* Send n <= 8 descriptors with one byte of data; they stay open here. */
int rs_os_send_fds(int socket, const int *fds, int n);
/* Receive n descriptors into fds, close-on-exec; all or none. PEER: the other process closed. */
int rs_os_recv_fds(int socket, int *fds, int n);
/* Does the process at the other end belong to our user? */
bool rs_os_peer_is_us(int socket);

/* Write or read all of it before deadline_ns (rs_os_now_ns clock); partial transfers are continued. 0, SYSTEM
 * or TIMEOUT. */
int rs_os_send_all(int socket, const void *data, size_t nbytes, uint64_t deadline_ns);
int rs_os_recv_all(int socket, void *data, size_t nbytes, uint64_t deadline_ns);

uint64_t rs_os_now_ns(void); /* monotonic */
void rs_os_random(void *out, size_t nbytes);
int rs_os_cpus(void); /* cores this process may run on, at least 1 */
/* The same as a set: bit i of words is core i; cores above 1024 are left out. */
void rs_os_cpu_set(uint64_t words[16]);
uint64_t rs_os_start_time(pid_t pid); /* clock ticks since boot, 0 when there is no such process */
int rs_os_pidfd(pid_t pid);           /* descriptor, or negative without a message (old kernel, no process) */
bool rs_os_pid_alive(pid_t pid, uint64_t start_time);
/* Could p be what malloc or a library gave: mapped, writable, no thread's stack that is known as one? True where there
 * is no /proc to ask. Slow. */
bool rs_os_may_be_allocated(const void *p);
/* Which host (boot, network, pid and ipc namespace) this process is on: equal numbers can share memory. */
uint64_t rs_os_host_id(void);
/* Which machine, whatever its namespaces: equal numbers share its cores. */
uint64_t rs_os_machine_id(void);
void rs_os_host_name(char *out, size_t nbytes);

/* Sleep while *word is expected, at most limit_ns, or until woken; early returns happen. Also between processes. */
void rs_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t limit_ns);
void rs_os_futex_wake(_Atomic uint32_t *word); /* one */

/* A thread with all signals blocked and the given name (15 bytes at most). */
int rs_os_thread_start(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg);
/* The same with a small stack, for a loop that calls nothing of others. */
int rs_os_thread_start_small(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg);

#endif
