/* SPDX-License-Identifier: MIT
 *
 * For the tests of the rendezvous: PEs as threads, and members by hand, whose every frame a test decides.
 */
#ifndef RS_TESTS_UNIT_RENDEZVOUS_H
#define RS_TESTS_UNIT_RENDEZVOUS_H

#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os.h"
#include "base/status.h"
#include "base/wait.h"
#include "bootstrap/address.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/wire.h"
#include "entries.h"

#define SECOND 1000000000u
#define LONG_NS (30ull * SECOND) /* never reached in a test that passes */

/* ---- PEs as threads ---- */

struct pe {
    pthread_t thread;
    struct rs_config config;
    rocshmem_uniqueid_t uid;
    int rank, nranks;
    size_t nbytes; /* of its blobs */
    int n_gathers; /* how many all-gathers it takes part in before it closes */
    int rc;
    uint64_t ns; /* how long it took */
    rocshmemx_error_t error;
};

static inline uint8_t blob_byte(int rank, int round, size_t i)
{
    return (uint8_t)(rank * 31 + round * 7 + (int)i);
}

static inline int gather_and_check(struct pe *pe, struct rs_bootstrap *bootstrap, int round)
{
    uint8_t *mine = malloc(pe->nbytes + 1), *all = malloc(pe->nbytes * (size_t)pe->nranks + 1);
    for (size_t i = 0; i < pe->nbytes; i++) mine[i] = blob_byte(pe->rank, round, i);
    int rc = rs_bootstrap_allgather(bootstrap, mine, pe->nbytes, all);
    for (int r = 0; rc == 0 && r < pe->nranks; r++)
        for (size_t i = 0; i < pe->nbytes; i++)
            if (all[(size_t)r * pe->nbytes + i] != blob_byte(r, round, i))
                rc = rs_fail(RS_E_BUG, "wrong byte of rank %d", r);
    free(mine);
    free(all);
    return rc;
}

static inline void *pe_main(void *arg)
{
    struct pe *pe = arg;
    struct rs_bootstrap bootstrap = {0};
    uint64_t start = rs_os_now_ns();
    pe->rc = rs_bootstrap_uid(&bootstrap, &pe->config, &pe->uid, pe->rank, pe->nranks);
    for (int i = 0; pe->rc == 0 && i < pe->n_gathers; i++) pe->rc = gather_and_check(pe, &bootstrap, i);
    pe->ns = rs_os_now_ns() - start;
    if (pe->rc < 0) pe->error = *rs_error_slot();
    rs_bootstrap_close(&bootstrap, pe->rc == 0);
    return NULL;
}

static inline struct rs_config test_config(uint64_t timeout_ns)
{
    struct rs_config config;
    assert_int_equal(rs_config_read(&config), 0);
    config.bootstrap_ns = timeout_ns;
    return config;
}

static struct rs_config served_config;

static inline rocshmem_uniqueid_t serve(uint64_t timeout_ns)
{
    rocshmem_uniqueid_t uid;
    served_config = test_config(timeout_ns);
    assert_int_equal(rs_uid_serve(&served_config, 1, &uid), 0);
    return uid;
}

static inline struct pe make_pe(const rocshmem_uniqueid_t *uid, int rank, int nranks)
{
    return (struct pe){
        .config = served_config, .uid = *uid, .rank = rank, .nranks = nranks, .nbytes = 100, .n_gathers = 3};
}

static inline void start(struct pe *pe)
{
    assert_int_equal(pthread_create(&pe->thread, NULL, pe_main, pe), 0);
}

static inline void join(struct pe *pe)
{
    assert_int_equal(pthread_join(pe->thread, NULL), 0);
}

/* Has the thread ended? For "is refused while the others still wait". */
static inline void assert_refused(struct pe *pe, const char *words)
{
    join(pe);
    assert_int_equal(pe->rc, RS_E_BOOTSTRAP);
    if (!strstr(pe->error.text, words)) fail_msg("\"%s\" is not in \"%s\"", words, pe->error.text);
}

static inline void run_job(const rocshmem_uniqueid_t *uid, int nranks, size_t nbytes)
{
    struct pe *pes = calloc((size_t)nranks, sizeof(*pes));
    for (int i = 0; i < nranks; i++) {
        pes[i] = make_pe(uid, i, nranks);
        pes[i].nbytes = nbytes;
        start(&pes[i]);
    }
    for (int i = 0; i < nranks; i++) {
        join(&pes[i]);
        if (pes[i].rc != 0) fail_msg("rank %d: %s", i, pes[i].error.text);
    }
    free(pes);
}

/* A plain TCP connection to the id's loopback address. */
static inline int plain_connection(const rocshmem_uniqueid_t *uid)
{
    struct rs_uid_data data;
    struct sockaddr_storage to;
    assert_int_equal(rs_uid_decode(uid, &data), 0);
    socklen_t length = rs_address_socket(&data.addresses[data.n_addresses - 1], &to);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, length), 0);
    return fd;
}

/* ---- by hand ---- */

/* Join by hand, up to the verdict: a member whose admission is certain. Its connection. */
static inline int raw_member(const rocshmem_uniqueid_t *uid, int rank, int nranks, uint64_t timeout_ns,
                             uint16_t version, struct rs_wire_verdict *verdict_out, char *text)
{
    struct rs_uid_data data;
    struct rs_wire_challenge challenge;
    uint64_t deadline_ns = rs_os_now_ns() + LONG_NS;
    int fd = plain_connection(uid);
    assert_int_equal(rs_uid_decode(uid, &data), 0);
    assert_int_equal(rs_os_recv_all(fd, &challenge, sizeof(challenge), deadline_ns), 0);
    struct rs_wire_hello hello = {
        .magic = RS_WIRE_MAGIC, .version = version, .rank = rank, .nranks = nranks, .timeout_ns = timeout_ns};
    hello.mac = rs_wire_hello_mac(data.secret, &challenge, &hello);
    assert_int_equal(rs_os_send_all(fd, &hello, sizeof(hello), deadline_ns), 0);
    assert_int_equal(rs_os_recv_all(fd, verdict_out, sizeof(*verdict_out), deadline_ns), 0);
    assert_true(verdict_out->nbytes <= RS_WIRE_TEXT);
    assert_int_equal(rs_os_recv_all(fd, text, verdict_out->nbytes, deadline_ns), 0);
    text[verdict_out->nbytes] = '\0';
    assert_true(verdict_out->mac == rs_wire_verdict_mac(data.secret, &challenge, &hello, verdict_out, text));
    return fd;
}

static inline int admitted(const rocshmem_uniqueid_t *uid, int rank, int nranks)
{
    struct rs_wire_verdict verdict;
    char text[RS_WIRE_TEXT + 1];
    int fd = raw_member(uid, rank, nranks, 0, RS_WIRE_VERSION, &verdict, text);
    assert_int_equal(verdict.accepted, 1);
    return fd;
}

static inline void expect_ready(int fd)
{
    struct rs_wire_frame frame;
    assert_int_equal(rs_os_recv_all(fd, &frame, sizeof(frame), rs_os_now_ns() + LONG_NS), 0);
    assert_int_equal(frame.op, RS_WIRE_READY);
}

static inline void send_frame(int fd, enum rs_wire_op op, uint64_t nbytes)
{
    struct rs_wire_frame frame = {.op = op, .nbytes = nbytes};
    assert_int_equal(rs_os_send_all(fd, &frame, sizeof(frame), rs_os_now_ns() + LONG_NS), 0);
}

static inline struct rs_wire_frame receive_frame(int fd)
{
    struct rs_wire_frame frame;
    assert_int_equal(rs_os_recv_all(fd, &frame, sizeof(frame), rs_os_now_ns() + 5ull * SECOND), 0);
    return frame;
}

#endif
