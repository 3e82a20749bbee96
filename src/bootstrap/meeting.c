/* SPDX-License-Identifier: MIT
 *
 * One job's rendezvous: who may join, who is missing, the all-gather. Runs in the server's thread, never
 * blocks, never fails: what goes wrong is said to the PEs, and the server is ready for the next job. See
 * server.h for the words.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "bootstrap/server.h"

#define MAX_RANKS (1 << 20)            /* a table of so many pointers is what one hello may cost */
#define MAX_BLOB ((uint64_t)16 << 20)  /* bytes that one rank may give */
#define MAX_GATHER ((uint64_t)1 << 30) /* bytes of all */
#define MAX_LIST 300                   /* letters of a list of ranks in a message */

/* ---- the end of a job ---- */

void rs_meeting_clear(struct rs_server *server)
{
    struct rs_meeting *meeting = &server->meeting;
    rs_block_release(meeting->gather);
    free(meeting->members);
    free(meeting->has);
    memset(meeting, 0, sizeof(*meeting));
}

/* Tell every member why there will be no job, and forget it. Rank 0 hears it last: it is often the server's
 * own process, and may end as soon as it knows. */
__attribute__((format(printf, 3, 4))) static void fail_meeting(struct rs_server *server, int pe,
                                                               const char *format, ...)
{
    char text[RS_WIRE_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct rs_wire_frame frame = {.op = RS_WIRE_FAIL, .pe = pe, .nbytes = strlen(text)};
    struct rs_conn **members = server->meeting.members;
    int nranks = server->meeting.nranks;
    server->meeting.members = NULL;
    rs_meeting_clear(server);
    server->n_jobs++;
    for (int rank = nranks - 1; rank >= 0; rank--) {
        struct rs_conn *conn = members[rank];
        if (!conn) continue;
        conn->state = RS_LEAVER; /* before it is sent to: closing it is then no news */
        rs_conn_send(server, conn, &frame, sizeof(frame), text, frame.nbytes);
        rs_conn_leave(server, conn);
    }
    free(members);
}

void rs_meeting_stop(struct rs_server *server)
{
    if (server->meeting.members)
        fail_meeting(server, -1,
                     "the process that made the unique id ended its rendezvous before all PEs were done");
}

/* ---- joining ---- */

/* Send a visitor or guest away with the reason. */
__attribute__((format(printf, 3, 4))) static void refuse(struct rs_server *server, struct rs_conn *conn,
                                                         const char *format, ...)
{
    char text[RS_WIRE_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct rs_wire_verdict verdict = {
        .magic = RS_WIRE_MAGIC, .version = RS_WIRE_VERSION, .nbytes = (uint32_t)strlen(text)};
    verdict.mac = rs_wire_verdict_mac(server->secret, &conn->challenge, &conn->hello, &verdict, text);
    conn->state = RS_LEAVER;
    rs_conn_send(server, conn, &verdict, sizeof(verdict), text, verdict.nbytes);
    rs_conn_leave(server, conn);
}

void rs_meeting_stranger(struct rs_server *server, struct rs_conn *conn, const char *reason)
{
    refuse(server, conn, "%s", reason);
}

/* The same for one who knows the secret, so that the missing PE's message can say what became of it. */
#define REFUSE_PE(server, conn, ...)                                                                         \
    do {                                                                                                     \
        snprintf((server)->meeting.refused, sizeof((server)->meeting.refused), __VA_ARGS__);                 \
        refuse((server), (conn), __VA_ARGS__);                                                               \
    } while (0)

static bool start_meeting(struct rs_server *server, const struct rs_wire_hello *hello)
{
    struct rs_meeting *meeting = &server->meeting;
    meeting->members = calloc((size_t)hello->nranks, sizeof(*meeting->members));
    meeting->has = calloc((size_t)hello->nranks, sizeof(*meeting->has));
    if (!meeting->members || !meeting->has) {
        rs_meeting_clear(server);
        return false;
    }
    meeting->nranks = hello->nranks;
    meeting->first_rank = hello->rank;
    meeting->start_ns = server->now_ns;
    meeting->deadline_ns = server->timeout_ns ? server->now_ns + server->timeout_ns : UINT64_MAX;
    return true;
}

static void all_have_come(struct rs_server *server)
{
    struct rs_meeting *meeting = &server->meeting;
    struct rs_wire_frame frame = {.op = RS_WIRE_READY, .pe = -1};
    struct rs_block *block = rs_block_create(sizeof(frame));
    if (!block) {
        fail_meeting(server, -1, "the rendezvous has no memory for a job of %d ranks", meeting->nranks);
        return;
    }
    memcpy(block->bytes, &frame, sizeof(frame));
    meeting->met = true;
    memset(meeting->has, 0, (size_t)meeting->nranks * sizeof(*meeting->has));
    for (int rank = meeting->nranks - 1; rank >= 0 && meeting->members; rank--) {
        if (!meeting->members[rank]) continue;
        block->refs++;
        rs_conn_send_block(server, meeting->members[rank], block); /* may end the meeting: a member is gone */
    }
    rs_block_release(block);
}

/* A PE that knows the secret: member, guest, or refused. */
static void admit(struct rs_server *server, struct rs_conn *conn)
{
    struct rs_meeting *meeting = &server->meeting;
    int rank = conn->hello.rank, nranks = conn->hello.nranks;
    if (nranks < 1 || nranks > MAX_RANKS) {
        REFUSE_PE(server, conn, "nranks is %d; 1 to %d are possible", nranks, MAX_RANKS);
        return;
    }
    if (rank < 0 || rank >= nranks) {
        REFUSE_PE(server, conn, "rank %d is out of range; a job of %d has ranks 0 to %d", rank, nranks,
                  nranks - 1);
        return;
    }
    if (meeting->met && (rank >= meeting->nranks || !meeting->members[rank])) {
        conn->state = RS_GUEST; /* the rank has left this job already: this is its next one */
        return;
    }
    if (meeting->nranks && nranks != meeting->nranks) {
        REFUSE_PE(server, conn,
                  "rank %d says nranks %d, but rank %d, the first to come, said %d; give every PE the same",
                  rank, nranks, meeting->first_rank, meeting->nranks);
        return;
    }
    if (meeting->nranks && meeting->members[rank]) {
        REFUSE_PE(server, conn, "rank %d of %d is there already; give each PE a rank of its own", rank,
                  nranks);
        return;
    }
    if (!meeting->nranks && !start_meeting(server, &conn->hello)) {
        refuse(server, conn, "the rendezvous has no memory for a job of %d ranks", nranks);
        return;
    }
    uint64_t patience_ns;
    if (conn->hello.timeout_ns &&
        !__builtin_add_overflow(server->now_ns, conn->hello.timeout_ns, &patience_ns) &&
        patience_ns < meeting->deadline_ns)
        meeting->deadline_ns = patience_ns; /* the least patient PE decides */
    struct rs_wire_verdict verdict = {.magic = RS_WIRE_MAGIC, .version = RS_WIRE_VERSION, .accepted = 1};
    verdict.mac = rs_wire_verdict_mac(server->secret, &conn->challenge, &conn->hello, &verdict, "");
    conn->state = RS_MEMBER;
    meeting->members[rank] = conn;
    meeting->has[rank] = true;
    meeting->n_come++;
    rs_conn_send(server, conn, &verdict, sizeof(verdict), NULL, 0);
    if (meeting->nranks && meeting->n_come == meeting->nranks) all_have_come(server);
}

void rs_meeting_hello(struct rs_server *server, struct rs_conn *conn)
{
    conn->hello = conn->buffer.hello;
    if (conn->hello.version != RS_WIRE_VERSION)
        refuse(server, conn,
               "this PE speaks version %d of the rendezvous protocol, the server version %d; use one version "
               "of the library everywhere",
               conn->hello.version, RS_WIRE_VERSION);
    else if (conn->hello.mac != rs_wire_hello_mac(server->secret, &conn->challenge, &conn->hello))
        refuse(server, conn,
               "wrong secret: the unique id is not the one that is served here; give every PE the same %d "
               "bytes, of this run",
               ROCSHMEM_UNIQUE_ID_BYTES);
    else
        admit(server, conn);
}

/* ---- the all-gather ---- */

static void start_gather(struct rs_server *server, int rank, uint64_t nbytes)
{
    struct rs_meeting *meeting = &server->meeting;
    uint64_t all = nbytes * (uint64_t)meeting->nranks; /* no overflow: both are limited */
    meeting->gather = all <= MAX_GATHER ? rs_block_create(sizeof(struct rs_wire_frame) + all) : NULL;
    if (!meeting->gather) {
        fail_meeting(server, -1, "the rendezvous cannot hold %llu bytes of each of %d ranks",
                     (unsigned long long)nbytes, meeting->nranks);
        return;
    }
    struct rs_wire_frame frame = {.op = RS_WIRE_GATHER, .pe = -1, .nbytes = all};
    memcpy(meeting->gather->bytes, &frame, sizeof(frame));
    meeting->blob_nbytes = nbytes;
    meeting->gather_rank = rank;
    meeting->n_arrived = 0;
    memset(meeting->has, 0, (size_t)meeting->nranks * sizeof(*meeting->has));
}

static void fail_left(struct rs_server *server, int rank)
{
    fail_meeting(server, rank, "rank %d of %d ended or gave up during start-up; its own messages say why",
                 rank, server->meeting.nranks);
}

/* A member has all it needs, and closes. It is out of the job from here on, so that it may come for the next
 * one before its closing is seen. */
static void leave(struct rs_server *server, struct rs_conn *conn)
{
    struct rs_meeting *meeting = &server->meeting;
    int rank = conn->hello.rank;
    rs_conn_leave(server, conn);
    meeting->members[rank] = NULL;
    meeting->n_left++;
    if (meeting->gather) {
        fail_left(server, rank); /* another one has begun an exchange that this one takes no part in */
    } else if (meeting->n_left == meeting->nranks) {
        rs_meeting_clear(server); /* met and closed: the normal end */
        server->n_jobs++;
    }
}

void rs_meeting_frame(struct rs_server *server, struct rs_conn *conn)
{
    struct rs_meeting *meeting = &server->meeting;
    struct rs_wire_frame *frame = &conn->buffer.frame;
    int rank = conn->hello.rank;
    if (meeting->met && frame->op == RS_WIRE_BYE && frame->nbytes == 0) {
        leave(server, conn);
        return;
    }
    if (!meeting->met || frame->op != RS_WIRE_GATHER || frame->nbytes > MAX_BLOB) {
        fail_meeting(server, rank,
                     "rank %d sent what the rendezvous does not understand (operation %u, %llu bytes)", rank,
                     frame->op, (unsigned long long)frame->nbytes);
        return;
    }
    for (int i = 0; meeting->n_left > 0 && i < meeting->nranks; i++)
        if (!meeting->members[i]) {
            fail_left(server, i);
            return;
        }
    uint64_t nbytes = frame->nbytes;
    if (!meeting->gather) start_gather(server, rank, nbytes);
    if (!meeting->gather) return;
    if (nbytes != meeting->blob_nbytes) {
        fail_meeting(server, rank,
                     "rank %d gave %llu bytes to an exchange, rank %d gave %llu; use one version of the "
                     "library everywhere",
                     rank, (unsigned long long)nbytes, meeting->gather_rank,
                     (unsigned long long)meeting->blob_nbytes);
        return;
    }
    conn->in_blob = nbytes > 0;
    if (nbytes == 0) rs_meeting_blob(server, conn);
}

void rs_meeting_blob(struct rs_server *server, struct rs_conn *conn)
{
    struct rs_meeting *meeting = &server->meeting;
    conn->arrived = true;
    meeting->has[conn->hello.rank] = true;
    if (++meeting->n_arrived < meeting->nranks) return;
    struct rs_block *block = meeting->gather;
    meeting->gather = NULL;
    for (int rank = meeting->nranks - 1; rank >= 0; rank--)
        if (meeting->members[rank]) meeting->members[rank]->arrived = false;
    for (int rank = meeting->nranks - 1; rank >= 0 && meeting->members; rank--) {
        if (!meeting->members[rank]) continue;
        block->refs++;
        rs_conn_send_block(server, meeting->members[rank],
                           block); /* may end the meeting: the last member is gone */
    }
    rs_block_release(block);
}

/* ---- leaving, and time ---- */

/* Without a BYE: it died, or gave up. Those that have all they need do not read what they are told. */
void rs_meeting_left(struct rs_server *server, struct rs_conn *conn)
{
    struct rs_meeting *meeting = &server->meeting;
    int rank = conn->hello.rank;
    if (!meeting->members || rank >= meeting->nranks || meeting->members[rank] != conn) return; /* a guest */
    meeting->members[rank] = NULL;
    fail_left(server, rank);
}

uint64_t rs_meeting_deadline(const struct rs_server *server)
{
    const struct rs_meeting *meeting = &server->meeting;
    return meeting->nranks && (!meeting->met || meeting->gather) ? meeting->deadline_ns : UINT64_MAX;
}

/* Does this job wait for a PE that is known to be gone? Members that have all they need do not read what they
 * are told. */
static void check_lost(struct rs_server *server)
{
    const struct rs_meeting *meeting = &server->meeting;
    int pe = atomic_load_explicit(&server->lost_pe, memory_order_acquire);
    if (pe < 0 || pe >= meeting->nranks || meeting->members[pe]) return;
    fail_meeting(server, pe, "PE %d is not there any more: it %s", pe, server->lost_text);
}

void rs_meeting_tick(struct rs_server *server)
{
    struct rs_meeting *meeting = &server->meeting;
    check_lost(server);
    if (server->now_ns >= rs_meeting_deadline(server)) {
        char list[MAX_LIST], waited[32];
        int one = -1, n = rs_wire_ranks_text(list, sizeof(list), meeting->has, false, meeting->nranks);
        for (int i = 0; n == 1 && i < meeting->nranks; i++)
            if (!meeting->has[i]) one = i;
        rs_wire_seconds_text(waited, sizeof(waited), meeting->deadline_ns - meeting->start_ns);
        bool told = meeting->refused[0] != '\0';
        char refused[sizeof(meeting->refused)];
        memcpy(refused, meeting->refused, sizeof(refused));
        if (meeting->met)
            fail_meeting(server, one,
                         "%s %s came, but did not take part in an exchange of start-up within %s",
                         n == 1 ? "rank" : "ranks", list, waited);
        else
            fail_meeting(server, one,
                         "%s %s did not come within %s; start %s, or raise ROCSHMEM_BOOTSTRAP_TIMEOUT%s%s%s",
                         n == 1 ? "rank" : "ranks", list, waited, n == 1 ? "it" : "them",
                         told ? " (one was refused: " : "", refused, told ? ")" : "");
    }
    for (int i = 0; !meeting->met && i < server->n_conns; i++)
        if (server->conns[i]->state == RS_GUEST) admit(server, server->conns[i]);
}
