/* SPDX-License-Identifier: MIT
 *
 * Observers of calls, with PEs as threads: what they are told, in what order, and that they may refuse a call. Covers
 * src/observe/probe.c and where src/api tells it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/device.h"
#include "observe/probe.h"
#include "pes.h"

enum { MOST = 64 };

/* What one PE's observer was told; its thread alone writes. */
struct log {
    int attached, inside, n;
    struct rs_access seen[MOST];
    struct rs_meeting_of meetings[MOST];
    uint32_t calls[MOST];
    int refuse; /* the kind that it refuses, once */
};

static int attach(void *self, struct rs_probe_thread *thread, int slot)
{
    thread->data[slot] = self;
    ((struct log *)self)->attached++;
    return 0;
}

static void detach(void *self, struct rs_probe_thread *thread, int slot)
{
    CHECK(thread->data[slot] == self);
    ((struct log *)self)->attached--;
}

static void enter(void *self, struct rs_probe_thread *thread, int slot)
{
    (void)thread, (void)slot;
    struct log *log = self;
    CHECK(log->inside++ == 0);
}

static void leave(void *self, struct rs_probe_thread *thread, int slot)
{
    (void)thread, (void)slot;
    struct log *log = self;
    CHECK(--log->inside == 0);
}

static int record(void *self, struct rs_probe_thread *thread, int slot, const struct rs_access *access)
{
    (void)slot;
    struct log *log = self;
    CHECK(log->inside == 1 && log->n < MOST);
    if ((int)access->kind == log->refuse) {
        log->refuse = 0;
        return rs_fail(RS_E_ARG, "refused");
    }
    log->calls[log->n] = thread->call;
    if (access->meeting) log->meetings[log->n] = *access->meeting;
    log->seen[log->n++] = *access;
    return 0;
}

static struct log logs[2];

static const struct rs_access *expect(const struct log *log, int i, enum rs_access_kind kind,
                                      enum rs_call call)
{
    CHECK(i < log->n);
    CHECK(log->seen[i].kind == kind);
    CHECK(RS_CALL_ID(log->calls[i]) == (uint32_t)call);
    return &log->seen[i];
}

static int errors;

static void count_error(const rocshmemx_error_t *error, void *arg)
{
    (void)arg;
    CHECK(strcmp(error->text, "refused") == 0);
    __atomic_add_fetch(&errors, 1, __ATOMIC_RELAXED);
}

static void talk(struct rs_job *job, void *arg)
{
    (void)arg;
    struct log *log = &logs[job->my_pe];
    int other = 1 - job->my_pe, at = 0;
    uint64_t *words = rocshmem_malloc(16 * sizeof *words), mine[4] = {1, 2, 3, 4};
    CHECK(words);
    expect(log, at++, RS_ACCESS_MEET, RS_CALL_MALLOC);
    CHECK(log->meetings[0].kind == RS_KIND_MALLOC && log->meetings[0].n_pes == 2 &&
          log->meetings[0].first == 0);
    const struct rs_access *a = expect(log, at++, RS_ACCESS_MET, RS_CALL_MALLOC);
    CHECK(a->remote == words && a->remote_nbytes == 128);

    rocshmem_putmem(words, mine, 32, other);
    a = expect(log, at++, RS_ACCESS_PUT, RS_CALL_PUTMEM);
    CHECK(a->pe == other && a->remote == words && a->local == mine && a->remote_nbytes == 32 && !a->nbi &&
          !a->signal);
    rocshmem_getmem_nbi(mine, words, 8, other);
    a = expect(log, at++, RS_ACCESS_GET, RS_CALL_GETMEM_NBI);
    CHECK(a->remote == words && a->local == mine && a->nbi);
    rocshmem_uint64_atomic_add(words + 4, 1, other);
    a = expect(log, at++, RS_ACCESS_AMO, RS_CALL_AMO_ADD);
    CHECK(a->remote == words + 4 && a->remote_nbytes == 8 && a->amo == RS_AMO_ADD && !a->wanted);
    rocshmem_uint64_iput(words + 8, mine, 2, 1, 3, other);
    a = expect(log, at++, RS_ACCESS_PUT, RS_CALL_IPUT);
    CHECK(a->width == 8 && a->remote_step == 16 && a->local_step == 8 && a->remote_nbytes == 40 &&
          a->local_nbytes == 24);
    rocshmem_quiet();
    expect(log, at++, RS_ACCESS_QUIET, RS_CALL_QUIET);
    rocshmem_putmem_signal(words, mine, 8, words + 15, 7, ROCSHMEM_SIGNAL_SET, other);
    a = expect(log, at++, RS_ACCESS_PUT, RS_CALL_PUTMEM_SIGNAL);
    CHECK(a->signal == words + 15 && a->signal_value == 7 && !a->signal_adds);
    CHECK(rocshmem_signal_wait_until(words + 15, ROCSHMEM_CMP_EQ, 7) == 7);
    a = expect(log, at++, RS_ACCESS_SEEN, RS_CALL_SIGNAL_WAIT_UNTIL);
    CHECK(a->local == words + 15 && a->local_nbytes == 8);
    rocshmem_barrier_all();
    expect(log, at++, RS_ACCESS_MEET, RS_CALL_BARRIER_ALL);
    expect(log, at++, RS_ACCESS_MET, RS_CALL_BARRIER_ALL);
    CHECK(rocshmem_broadcastmem(ROCSHMEM_TEAM_WORLD, words, words + 8, 24, 1) == 0);
    a = expect(log, at++, RS_ACCESS_MEET, RS_CALL_BROADCASTMEM);
    CHECK(log->meetings[at - 1].root == 1 && a->remote == words && a->local == words + 8 &&
          a->local_nbytes == 24);
    expect(log, at++, RS_ACCESS_MET, RS_CALL_BROADCASTMEM);

    /* a refused put moves nothing, and is an error */
    words[0] = 5;
    rocshmem_barrier_all();
    at += 2;
    log->refuse = RS_ACCESS_PUT;
    rocshmem_uint64_p(words, 9, other);
    CHECK(log->refuse == 0);
    rocshmem_barrier_all();
    at += 2;
    CHECK(words[0] == 5);

    /* nothing of a call with a wrong argument is told */
    CHECK(log->n == at);
    rocshmem_free(words);
    CHECK(log->inside == 0 && log->attached == 1);
}

static void observers_are_told_and_may_refuse(void **state)
{
    (void)state;
    struct pes pes;
    pes_create(&pes, 2, 2, 1 << 20);
    for (int pe = 0; pe < 2; pe++) {
        struct rs_prober prober = {attach, detach, enter, record, leave, &logs[pe]};
        rs_probe_add(&pes.jobs[pe]->probe, &prober);
    }
    rocshmemx_set_error_handler(count_error, NULL);
    pes_run(&pes, talk, NULL);
    rocshmemx_set_error_handler(NULL, NULL);
    CHECK(errors == 2);
    CHECK(logs[0].attached == 0 && logs[1].attached == 0); /* the threads have ended */
    pes_destroy(&pes);
}

static int refuse_thread(void *self, struct rs_probe_thread *thread, int slot)
{
    (void)self, (void)thread, (void)slot;
    return rs_fail(RS_E_NOMEM, "no room");
}

static void an_observer_that_cannot_attach_undoes_the_others(void **state)
{
    (void)state;
    struct rs_probe probe = {0};
    struct rs_probe_thread thread;
    struct log log = {0};
    assert_int_equal(rs_probe_attach(&thread, &probe), 0);
    assert_null(thread.probe);
    rs_probe_add(&probe, &(struct rs_prober){attach, detach, NULL, NULL, NULL, &log});
    rs_probe_add(&probe, &(struct rs_prober){.attach = refuse_thread});
    assert_int_equal(rs_probe_attach(&thread, &probe), RS_E_NOMEM);
    assert_null(thread.probe);
    assert_int_equal(log.attached, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(observers_are_told_and_may_refuse),
        cmocka_unit_test(an_observer_that_cannot_attach_undoes_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
