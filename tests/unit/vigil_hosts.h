/* SPDX-License-Identifier: MIT
 *
 * For the tests of the vigil: hosts as threads of one process, and what they heard.
 */
#ifndef RS_TESTS_UNIT_VIGIL_HOSTS_H
#define RS_TESTS_UNIT_VIGIL_HOSTS_H

#include "rendezvous.h"

#include <errno.h>

#include "bootstrap/vigil.h"
#include "bootstrap/vigil_inside.h"

#define MS 1000000ull
#define MOST_HEARD 4096

struct heard {
    int kind, host;
    bool ended;
    char text[200]; /* of LOST; else the bytes */
};
struct host {
    struct rs_vigil *vigil;
    struct rs_vigil_options options;
    unsigned char address[RS_VIGIL_ADDRESS_NBYTES];
    pthread_t thread;
    int rc;
    uint64_t ns; /* that start took */
    rocshmemx_error_t error;
    struct heard *heard; /* n_heard of them. W: the vigil's thread, release. R: the test, acquire */
    atomic_int n_heard, n_looks;
    void (*on_news)(struct host *host, const struct rs_news *news); /* NULL: nothing more */
};

static inline void take_news(void *arg, const struct rs_news *news)
{
    struct host *host = arg;
    int n = atomic_load(&host->n_heard);
    if (n < MOST_HEARD) {
        struct heard *heard = &host->heard[n];
        heard->kind = news->kind;
        heard->host = news->host;
        heard->ended = news->ended;
        if (news->kind == RS_NEWS_LOST)
            snprintf(heard->text, sizeof(heard->text), "%s", news->text);
        else
            snprintf(heard->text, sizeof(heard->text), "%.*s", (int)news->nbytes, (const char *)news->bytes);
    }
    atomic_store(&host->n_heard, n + 1);
    if (host->on_news) host->on_news(host, news);
}

static inline void take_look(void *arg)
{
    atomic_fetch_add(&((struct host *)arg)->n_looks, 1);
}

static inline struct host *make_host(int index, int n_hosts, uint64_t timeout_ns,
                                     const unsigned char address[RS_VIGIL_ADDRESS_NBYTES])
{
    struct host *host = calloc(1, sizeof(*host));
    struct rs_config config = test_config(LONG_NS);
    host->heard = calloc(MOST_HEARD, sizeof(*host->heard));
    host->options = (struct rs_vigil_options){.host = index,
                                              .n_hosts = n_hosts,
                                              .job = 77,
                                              .key = {0x1234567890abcdef, 42},
                                              .timeout_ns = timeout_ns,
                                              .deadline_ns = rs_os_now_ns() + LONG_NS,
                                              .bootstrap = -1,
                                              .news = take_news,
                                              .look = take_look,
                                              .arg = host};
    assert_int_equal(rs_vigil_listen(&config, index == 0, &host->vigil, host->address), 0);
    if (address) memcpy(host->address, address, RS_VIGIL_ADDRESS_NBYTES);
    host->options.address = host->address;
    return host;
}

static inline void *host_main(void *arg)
{
    struct host *host = arg;
    uint64_t start_ns = rs_os_now_ns();
    host->rc = rs_vigil_start(host->vigil, &host->options);
    host->ns = rs_os_now_ns() - start_ns;
    if (host->rc < 0) host->error = *rs_error_slot();
    return NULL;
}

static inline void begin(struct host *host)
{
    assert_int_equal(pthread_create(&host->thread, NULL, host_main, host), 0);
}

static inline void has_begun(struct host *host)
{
    assert_int_equal(pthread_join(host->thread, NULL), 0);
    if (host->rc < 0) fail_msg("host %d: %s", host->options.host, host->error.text);
}

static inline void free_host(struct host *host)
{
    rs_vigil_stop(host->vigil);
    free(host->heard);
    free(host);
}

/* n hosts that watch each other. */
static inline void make_hosts(struct host **hosts, int n, uint64_t timeout_ns)
{
    for (int i = 0; i < n; i++) {
        hosts[i] = make_host(i, n, timeout_ns, i ? hosts[0]->address : NULL);
        begin(hosts[i]);
    }
    for (int i = 0; i < n; i++) has_begun(hosts[i]);
}

static inline void await_heard(struct host *host, int n)
{
    uint64_t deadline_ns = rs_os_now_ns() + LONG_NS;
    while (atomic_load(&host->n_heard) < n) {
        if (rs_os_now_ns() > deadline_ns)
            fail_msg("host %d heard %d of %d pieces", host->options.host, atomic_load(&host->n_heard), n);
        rs_wait_sleep_ns(MS / 2);
    }
}

/* The first that is lost, when it is known to be. */
static inline const struct heard *await_lost(struct host *host)
{
    await_heard(host, 1);
    for (int i = 0; i < atomic_load(&host->n_heard); i++)
        if (host->heard[i].kind == RS_NEWS_LOST) return &host->heard[i];
    fail_msg("host %d heard %d of host %d first", host->options.host, host->heard[0].kind,
             host->heard[0].host);
    return NULL;
}

/* ---- by hand ---- */

static inline int visit(const struct host *first)
{
    struct rs_vigil_address there;
    struct sockaddr_storage to;
    memcpy(&there, first->address, sizeof(there));
    int n = 0;
    while (n < RS_UID_ADDRESSES && there.addresses[n].family) n++;
    socklen_t length = rs_address_socket(&there.addresses[n - 1], &to); /* loopback */
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, length), 0);
    return fd;
}

static inline void say(int fd, const void *bytes, size_t nbytes)
{
    assert_int_equal(rs_os_send_all(fd, bytes, nbytes, rs_os_now_ns() + LONG_NS), 0);
}

/* A host whose every byte the test decides: up to its hello. */
static inline int introduce(const struct host *first, int index, const uint64_t key[2], uint64_t job,
                            int n_hosts, struct rs_vigil_verdict *expected)
{
    struct rs_vigil_challenge challenge;
    int fd = visit(first);
    assert_int_equal(rs_os_recv_all(fd, &challenge, sizeof(challenge), rs_os_now_ns() + LONG_NS), 0);
    struct rs_vigil_hello hello = {
        .magic = RS_VIGIL_MAGIC, .version = RS_VIGIL_VERSION, .host = index, .n_hosts = n_hosts, .job = job};
    hello.mac = rs_vigil_mac(key, 'c', &challenge, &hello);
    if (expected)
        *expected = (struct rs_vigil_verdict){.magic = RS_VIGIL_MAGIC,
                                              .version = RS_VIGIL_VERSION,
                                              .mac = rs_vigil_mac(key, 's', &challenge, &hello)};
    say(fd, &hello, sizeof(hello));
    return fd;
}

static inline int join_by_hand(const struct host *first, int index)
{
    struct rs_vigil_verdict expected, verdict;
    int fd =
        introduce(first, index, first->options.key, first->options.job, first->options.n_hosts, &expected);
    assert_int_equal(rs_os_recv_all(fd, &verdict, sizeof(verdict), rs_os_now_ns() + LONG_NS), 0);
    assert_memory_equal(&verdict, &expected, sizeof(verdict));
    return fd;
}

static inline bool is_closed(int fd)
{
    char byte[64];
    ssize_t n;
    while ((n = recv(fd, byte, sizeof(byte), 0)) > 0)
        ;
    return n == 0 || errno == ECONNRESET;
}

#endif
