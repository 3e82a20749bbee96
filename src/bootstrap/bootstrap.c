/* SPDX-License-Identifier: MIT
 *
 * A PE's side of the rendezvous: find the server among the addresses of the unique id, prove the secret, wait
 * for the others, all-gather. One connection, used by the thread that runs init. wire.h has the conversation.
 */
#include "bootstrap/bootstrap.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"
#include "bootstrap/address.h"
#include "bootstrap/link.h"
#include "bootstrap/siphash.h"
#include "bootstrap/wire.h"

#define CONNECT_NS 3000000000u /* for one address to answer at all, and to send its challenge */
#define SAME_HOST_NS                                                                                         \
    3000000000u               /* all addresses refuse, and the id is of this host: the server has ended      \
                               */
#define GRACE_NS 1000000000u  /* past the deadline: the server's words are better than ours */
#define RETRY_MIN_NS 1000000u /* between two rounds over the addresses, doubling */

static uint64_t connect_deadline(const struct rs_bootstrap *bootstrap)
{
    uint64_t deadline_ns = rs_os_now_ns() + CONNECT_NS;
    return deadline_ns < bootstrap->deadline_ns ? deadline_ns : bootstrap->deadline_ns;
}

/* ---- one address ---- */

/* What came of one try. The reason is kept for the message that lists them all. */
enum outcome { JOINED, FAILED, NEXT_ADDRESS, WRONG_SERVER };

struct attempt {
    const struct rs_uid_data *uid;
    struct rs_bootstrap *bootstrap;
    uint64_t timeout_ns;
    char reason[RS_WIRE_TEXT]; /* of the last NEXT_ADDRESS or WRONG_SERVER */
    int error;                 /* its errno, or 0 */
    int rc;                    /* of FAILED */
};

__attribute__((format(printf, 3, 4))) static enum outcome
because(struct attempt *attempt, enum outcome outcome, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(attempt->reason, sizeof(attempt->reason), format, args);
    va_end(args);
    return outcome;
}

/* After a receive or a wait that failed: an interrupt ends everything, the rest only this address. */
static enum outcome not_here(struct attempt *attempt, int rc, const char *what)
{
    attempt->rc = rc;
    if (rc < 0 && rc != RS_E_SYSTEM && rc != RS_E_TIMEOUT) return FAILED;
    attempt->error = rc == RS_E_SYSTEM ? errno : ETIMEDOUT;
    return because(attempt, NEXT_ADDRESS, "%s: %s", what, strerror(attempt->error));
}

/* Words from the network: printable, one line. */
static void clean_text(char *text, size_t nbytes)
{
    text[nbytes] = '\0';
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~') *c = '?';
}

/* Introduce this PE on a fresh connection. */
static enum outcome introduce(struct attempt *attempt, int fd)
{
    struct rs_bootstrap *bootstrap = attempt->bootstrap;
    struct rs_wire_challenge challenge;
    int rc = rs_link_receive(fd, &challenge, sizeof(challenge), connect_deadline(bootstrap));
    if (rc < 0) return not_here(attempt, rc, "no greeting");
    if (challenge.magic != RS_WIRE_MAGIC)
        return because(attempt, WRONG_SERVER, "another service answers there");
    struct rs_wire_hello hello = {.magic = RS_WIRE_MAGIC,
                                  .version = RS_WIRE_VERSION,
                                  .rank = bootstrap->rank,
                                  .nranks = bootstrap->nranks,
                                  .timeout_ns = attempt->timeout_ns};
    rs_os_random(hello.nonce, sizeof(hello.nonce));
    hello.mac = rs_wire_hello_mac(attempt->uid->secret, &challenge, &hello);
    rc = rs_os_send_all(fd, &hello, sizeof(hello), bootstrap->deadline_ns);
    if (rc < 0) return not_here(attempt, rc, "lost");
    struct rs_wire_verdict verdict;
    char text[RS_WIRE_TEXT + 1] = "";
    uint64_t deadline_ns = rs_link_add_ns(bootstrap->deadline_ns, GRACE_NS);
    rc = rs_link_receive(fd, &verdict, sizeof(verdict), deadline_ns);
    if (rc == 0 && (verdict.magic != RS_WIRE_MAGIC || verdict.nbytes > RS_WIRE_TEXT))
        return because(attempt, WRONG_SERVER, "another service answers there");
    if (rc == 0) rc = rs_link_receive(fd, text, verdict.nbytes, deadline_ns);
    if (rc < 0) return not_here(attempt, rc, "lost");
    bool genuine =
        verdict.mac == rs_wire_verdict_mac(attempt->uid->secret, &challenge, &hello, &verdict, text);
    clean_text(text, verdict.nbytes);
    if (verdict.accepted && genuine) return JOINED;
    if (verdict.accepted)
        return because(attempt, WRONG_SERVER, "what answers there does not know the secret of the unique id");
    if (!genuine) return because(attempt, WRONG_SERVER, "%s", text);
    attempt->rc = rs_fail(RS_E_BOOTSTRAP, "could not join as rank %d of %d: %s", bootstrap->rank,
                          bootstrap->nranks, text);
    return FAILED;
}

/* ---- all addresses ---- */

static enum outcome try_address(struct attempt *attempt, const struct rs_uid_address *address)
{
    struct sockaddr_storage to;
    socklen_t length = rs_address_socket(address, &to);
    int fd = rs_link_connect((struct sockaddr *)&to, length, connect_deadline(attempt->bootstrap));
    if (fd < 0) return not_here(attempt, fd, "connect");
    enum outcome outcome = introduce(attempt, fd);
    if (outcome == JOINED) {
        attempt->bootstrap->socket = fd;
        rs_address_text(address, attempt->bootstrap->where);
    } else {
        close(fd);
    }
    return outcome;
}

/* One round over the addresses. tried gets "address (why not)" of each. */
static enum outcome try_all(struct attempt *attempt, const struct rs_uid_address *addresses, int n,
                            char *tried, size_t nbytes, bool *refused_out)
{
    enum outcome worst = NEXT_ADDRESS;
    size_t at = 0;
    *refused_out = true;
    for (int i = 0; i < n; i++) {
        attempt->error = 0;
        enum outcome outcome = try_address(attempt, &addresses[i]);
        if (outcome == JOINED || outcome == FAILED) return outcome;
        if (outcome == WRONG_SERVER) worst = WRONG_SERVER;
        if (attempt->error != ECONNREFUSED) *refused_out = false;
        char text[RS_ADDRESS_TEXT];
        rs_address_text(&addresses[i], text);
        snprintf(tried + at, nbytes - at, "%s%s (%.*s)", i ? ", " : "", text, n > 1 ? 150 : 600,
                 attempt->reason);
        at += strlen(tried + at);
    }
    return worst;
}

static int join(struct attempt *attempt)
{
    struct rs_bootstrap *bootstrap = attempt->bootstrap;
    struct rs_uid_address addresses[RS_UID_ADDRESSES];
    int n = rs_address_order(attempt->uid->addresses, attempt->uid->n_addresses, attempt->uid->host_id,
                             addresses);
    bool here = attempt->uid->host_id == rs_os_host_id(), refused;
    uint64_t start_ns = rs_os_now_ns(), pause_ns = RETRY_MIN_NS;
    for (;;) {
        char tried[700] = "", waited[32];
        enum outcome outcome = try_all(attempt, addresses, n, tried, sizeof(tried), &refused);
        if (outcome == JOINED) return 0;
        if (outcome == FAILED) return attempt->rc;
        if (outcome == WRONG_SERVER)
            return rs_fail(RS_E_BOOTSTRAP, "could not join the rendezvous of the unique id: %s", tried);
        uint64_t now = rs_os_now_ns();
        bool dead = here && refused && now - start_ns >= SAME_HOST_NS;
        if (dead || now >= bootstrap->deadline_ns) {
            rs_wire_seconds_text(waited, sizeof(waited), now - start_ns);
            return rs_fail(
                RS_E_BOOTSTRAP,
                "rank %d of %d could not reach the rendezvous of the unique id within %s, tried %s%s",
                bootstrap->rank, bootstrap->nranks, waited, tried,
                dead ? "; the process that made the unique id has ended"
                     : "; is the process that made the unique id alive and not behind a firewall");
        }
        int rc = rs_link_pause(&pause_ns, bootstrap->deadline_ns);
        if (rc < 0 && rc != RS_E_TIMEOUT) return rc;
    }
}

/* ---- the conversation after that ---- */

/* Word what ended the connection, or pass an interrupt on. */
static int lost(const struct rs_bootstrap *bootstrap, int rc)
{
    if (rc == RS_E_TIMEOUT)
        return rs_fail(RS_E_BOOTSTRAP,
                       "the rendezvous at %s did not answer within ROCSHMEM_BOOTSTRAP_TIMEOUT",
                       bootstrap->where);
    if (rc != RS_E_SYSTEM) return rc;
    if (bootstrap->server >= 0)
        return rs_fail_pe(
            RS_E_BOOTSTRAP, bootstrap->server,
            "rank %d of %d ended during start-up: lost the rendezvous that it serves at %s (%s)",
            bootstrap->server, bootstrap->nranks, bootstrap->where, strerror(errno));
    return rs_fail(RS_E_BOOTSTRAP,
                   "lost the rendezvous at %s (%s); the process that made the unique id has ended",
                   bootstrap->where, strerror(errno));
}

/* The next frame, which has to be op with nbytes; a FAIL frame becomes the error it carries. */
static int expect_frame(struct rs_bootstrap *bootstrap, enum rs_wire_op op, uint64_t nbytes)
{
    struct rs_wire_frame frame;
    uint64_t deadline_ns = rs_link_add_ns(bootstrap->deadline_ns, GRACE_NS);
    int rc = rs_link_receive(bootstrap->socket, &frame, sizeof(frame), deadline_ns);
    if (rc < 0) return lost(bootstrap, rc);
    if (frame.op == RS_WIRE_FAIL && frame.nbytes <= RS_WIRE_TEXT) {
        char text[RS_WIRE_TEXT + 1];
        rc = rs_link_receive(bootstrap->socket, text, frame.nbytes, deadline_ns);
        if (rc < 0) return lost(bootstrap, rc);
        clean_text(text, frame.nbytes);
        return rs_fail_pe(RS_E_BOOTSTRAP, frame.pe, "%s", text);
    }
    if (frame.op != op || frame.nbytes != nbytes)
        return rs_fail(RS_E_BOOTSTRAP,
                       "the rendezvous at %s sent operation %u of %llu bytes, expected %d of %llu; use one "
                       "version of the library everywhere",
                       bootstrap->where, frame.op, (unsigned long long)frame.nbytes, op,
                       (unsigned long long)nbytes);
    return 0;
}

int rs_bootstrap_uid(struct rs_bootstrap *bootstrap_out, const struct rs_config *config,
                     const rocshmem_uniqueid_t *uid, int rank, int nranks)
{
    struct rs_uid_data data;
    RS_TRY(rs_uid_decode(uid, &data));
    struct rs_bootstrap bootstrap = {
        .rank = rank, .nranks = nranks, .socket = -1, .server = -1, .launcher = "unique id"};
    bootstrap.deadline_ns = rs_link_deadline(config->bootstrap_ns);
    for (int i = 0; i < 2; i++)
        bootstrap.key[i] = rs_siphash(data.secret, i ? "other connections 1" : "other connections 0", 19);
    struct attempt attempt = {.uid = &data, .bootstrap = &bootstrap, .timeout_ns = config->bootstrap_ns};
    int rc = join(&attempt);
    if (rc == 0) rc = expect_frame(&bootstrap, RS_WIRE_READY, 0);
    if (rc < 0) {
        rs_bootstrap_close(&bootstrap, false);
        return rc;
    }
    *bootstrap_out = bootstrap;
    return 0;
}

int rs_bootstrap_allgather(struct rs_bootstrap *bootstrap, const void *mine, size_t nbytes, void *all_out)
{
    if (bootstrap->socket < 0) { /* a job of one PE */
        if (nbytes) memcpy(all_out, mine, nbytes);
        return 0;
    }
    struct rs_wire_frame frame = {.op = RS_WIRE_GATHER, .pe = bootstrap->rank, .nbytes = nbytes};
    size_t all_nbytes = nbytes * (size_t)bootstrap->nranks;
    char first[sizeof(frame) +
               1024]; /* a usual blob leaves in one segment with its frame: the server wakes once */
    size_t n = nbytes < sizeof(first) - sizeof(frame) ? nbytes : sizeof(first) - sizeof(frame);
    memcpy(first, &frame, sizeof(frame));
    if (n) memcpy(first + sizeof(frame), mine, n);
    int rc = rs_os_send_all(bootstrap->socket, first, sizeof(frame) + n, bootstrap->deadline_ns);
    if (rc == 0)
        rc = rs_os_send_all(bootstrap->socket, (const char *)mine + n, nbytes - n, bootstrap->deadline_ns);
    if (rc < 0 && rc != RS_E_SYSTEM) return lost(bootstrap, rc);
    RS_TRY(expect_frame(bootstrap, RS_WIRE_GATHER,
                        all_nbytes)); /* also after a failed send: the reason may be there */
    rc = rs_link_receive(bootstrap->socket, all_out, all_nbytes,
                         rs_link_add_ns(bootstrap->deadline_ns, GRACE_NS));
    return rc < 0 ? lost(bootstrap, rc) : 0;
}

void rs_bootstrap_close(struct rs_bootstrap *bootstrap, bool done)
{
    if (bootstrap->nranks > 0 && bootstrap->socket >= 0) {
        struct rs_wire_frame bye = {.op = RS_WIRE_BYE, .pe = bootstrap->rank};
        /* One frame, into an empty send buffer. When it fails, the server is gone, and nobody is to be told. */
        if (done) (void)send(bootstrap->socket, &bye, sizeof(bye), MSG_DONTWAIT | MSG_NOSIGNAL);
        close(bootstrap->socket);
    }
    memset(bootstrap, 0, sizeof(*bootstrap));
    bootstrap->socket = -1;
}
