/* SPDX-License-Identifier: MIT
 *
 * What every wait of a job looks at on its slow ticks, and what it tells others meanwhile: the note on the board with the
 * wait, and the place in the program.
 *
 * The place costs a look into the interpreter, so it is taken once in a wait, when that has lasted, and when a page asks.
 * A thread that does not wait is asked by a signal (observe/gather.c); its handler walks its own stack. backtrace() takes
 * no lock and allocates nothing once it has been called, which install does (pgas/signals.c): glibc lists it as unsafe in
 * handlers for that first call only. dladdr() reads the loader's list under its recursive lock, as backtrace_symbols_fd()
 * does, which glibc lists as safe.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "base/os.h"
#include "base/status.h"
#include "observe/dump.h"
#include "pgas/deadlock.h"
#include "pgas/job.h"

#define RENEW_NS 128000000u /* details are written anew so often, and the place is taken after so long */

/* W: any thread. R: ticks, handlers. Their arguments are written before them, release/acquire. */
static int (*_Atomic interrupt_hook)(void *);
static void *interrupt_arg;
static int (*_Atomic locator)(void *, int, char *, size_t);
static void *locator_arg;

void rs_job_set_interrupt(int (*hook)(void *arg), void *arg)
{
    interrupt_arg = arg;
    atomic_store_explicit(&interrupt_hook, hook, memory_order_release);
}

int rs_job_interrupted(void)
{
    int (*hook)(void *) = atomic_load_explicit(&interrupt_hook, memory_order_acquire);
    return hook && hook(interrupt_arg) ? rs_fail(RS_E_INTERRUPTED, "interrupted while it waited") : 0;
}

void rs_job_set_locator(int (*hook)(void *arg, int in_handler, char *out, size_t nbytes), void *arg)
{
    locator_arg = arg;
    atomic_store_explicit(&locator, hook, memory_order_release);
}

/* ---- where a thread is ---- */

static void ask_locator(bool in_handler, char out[RS_SEEN_WHERE])
{
    int (*hook)(void *, int, char *, size_t) = atomic_load_explicit(&locator, memory_order_acquire);
    out[0] = '\0';
    if (hook && !hook(locator_arg, in_handler, out, RS_SEEN_WHERE)) out[0] = '\0';
    out[RS_SEEN_WHERE - 1] = '\0';
}

void rs_job_ask(char out[RS_SEEN_WHERE])
{
    ask_locator(false, out);
}

static void locate(struct rs_thread *thread, uint32_t asked)
{
    char where[RS_SEEN_WHERE];
    ask_locator(false, where);
    (void)rs_note_answer(thread->note, asked, where, NULL);
}

void rs_job_locate(struct rs_thread *thread)
{
    struct rs_job *job = atomic_load_explicit(&thread->job, memory_order_relaxed);
    if (job) locate(thread, atomic_load_explicit(&job->board.page->asked, memory_order_relaxed));
}

/* Where the interrupted code was. */
static void *interrupted_at(const void *context)
{
    const ucontext_t *it = context;
#if defined(__x86_64__)
    return (void *)(uintptr_t)it->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (void *)(uintptr_t)it->uc_mcontext.pc;
#else
    (void)it;
    return NULL;
#endif
}

/* "clock_nanosleep < main": innermost first. */
static void name_frames(const void *context, char out[RS_SEEN_FRAMES])
{
    void *frames[32], *at = interrupted_at(context);
    int n = backtrace(frames, 32), first = n > 3 ? 3 : 0; /* this, the handler, the kernel's way back */
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < n; i++)
        if (frames[i] == at) first = i;
    for (int i = first; i < n && i < first + 10 && used < RS_SEEN_FRAMES; i++) {
        Dl_info info;
        if (!dladdr(frames[i], &info) || !info.dli_fname) continue;
        const char *slash = strrchr(info.dli_fname, '/'), *file = slash ? slash + 1 : info.dli_fname;
        int length =
            info.dli_sname
                ? snprintf(out + used, RS_SEEN_FRAMES - used, "%s%s", used ? " < " : "", info.dli_sname)
                : snprintf(out + used, RS_SEEN_FRAMES - used, "%s%s+0x%zx", used ? " < " : "", file,
                           (size_t)((char *)frames[i] - (char *)info.dli_fbase));
        if (length > 0) used += (size_t)length;
    }
}

void rs_job_locate_in_handler(const void *context)
{
    char where[RS_SEEN_WHERE], frames[RS_SEEN_FRAMES];
    const struct rs_thread *thread = rs_self;
    struct rs_job *job = atomic_load_explicit(&thread->job, memory_order_relaxed);
    if (!job) return;
    /* Before it looks: an answer to a question that comes meanwhile would be too old. */
    uint32_t asked = atomic_load_explicit(&job->board.page->asked, memory_order_acquire);
    name_frames(context, frames);
    ask_locator(true, where);
    (void)rs_note_answer(thread->note, asked, where, frames);
}

/* ---- what a thread waits for ---- */

static void describe(const struct rs_thread *thread, struct rs_waits *out)
{
    *out = (struct rs_waits){.kind = RS_WAITS_OTHER, .text = "waits"};
    if (thread->describe) thread->describe(thread->describe_arg, out);
    if (out->kind != RS_WAITS_STREAM || !thread->awaits) return;
    out->team = (uint32_t)(thread->awaits >> 32);
    out->n_pes = 1;
    out->pes[0] = (int)(uint32_t)thread->awaits - 1;
}

static void write_detail(struct rs_thread *thread, uint64_t since_ns)
{
    struct rs_waits waits;
    describe(thread, &waits);
    rs_note_detail(thread->note, since_ns, &waits);
    thread->after |= RS_AFTER_WAIT;
}

/* What is queued on this PE's streams, for the page that asks. By whichever thread comes first: one that waits, or the
 * streams' worker, which runs when something is queued. A GPU's driver cannot tell. */
static void publish_streams(struct rs_job *job, uint32_t asked)
{
    struct rs_vital *me = &job->board.vitals[job->my_local];
    uint32_t of = atomic_load_explicit(&me->streams_of, memory_order_relaxed);
    char text[RS_SEEN_EXTRA] = "";
    uint64_t words[RS_SEEN_EXTRA / 8];
    if (of == asked || !job->device.state || job->device.ops != &rs_device_host) return;
    if (!atomic_compare_exchange_strong_explicit(&me->streams_of, &of, asked, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    job->device.ops->describe(&job->device, NULL, true, text, sizeof text);
    memcpy(words, text, sizeof words);
    for (size_t i = 0; i < sizeof words / 8; i++)
        atomic_store_explicit(&me->streams[i], words[i], memory_order_relaxed);
    atomic_store_explicit(&me->streams_done, asked, memory_order_release);
}

static void tell_board(struct rs_job *job, struct rs_thread *thread, uint64_t now, uint64_t waited_ns,
                       bool first)
{
    struct rs_note *note = thread->note;
    uint32_t asked = atomic_load_explicit(&job->board.page->asked, memory_order_relaxed);
    bool is_asked = atomic_load_explicit(&note->answered, memory_order_relaxed) != asked;
    bool renews = waited_ns % RENEW_NS < 1000000u;
    if (first) { /* the place is of before: if it was asked for since, that is answered anew */
        is_asked = asked != 0;
        (void)rs_note_answer(note, asked - is_asked, "", "");
    }
    if (first || renews || is_asked) write_detail(thread, now - waited_ns);
    bool has_place = atomic_load_explicit(&note->where[0], memory_order_relaxed) != 0;
    if (is_asked || (renews && !has_place && waited_ns >= RENEW_NS)) rs_job_locate(thread);
}

/* Why the job is broken, and what this thread waits for in vain. */
static int told(const struct rs_thread *thread, int rc)
{
    struct rs_waits waits;
    rocshmemx_error_t why = *rs_error_slot();
    if ((rc != RS_E_PEER && rc != RS_E_BROKEN) || !thread->describe) return rc;
    describe(thread, &waits);
    return rs_fail_pe(rc, why.pe, "%s; here: %s", why.text, waits.text);
}

/* ---- the tick ---- */

/* A page, while all are still where they were. This thread's own note is as it is. */
static void print_page(const struct rs_board *board, enum rs_page_reason reason)
{
    rocshmemx_error_t kept = *rs_error_slot();
    if (atomic_load_explicit(&rs_self->job, memory_order_relaxed)) locate(rs_self, RS_ANSWERED_AHEAD);
    rs_page_wish(board, reason, true);
    *rs_error_slot() = kept;
}

static bool before_death(const struct rs_board *board)
{
    print_page(board, RS_PAGE_DEAD);
    return true;
}

static int time_out(struct rs_job *job, struct rs_thread *thread)
{
    struct rs_waits waits;
    describe(thread, &waits);
    print_page(&job->board, RS_PAGE_TIMEOUT);
    return rs_fail(RS_E_TIMEOUT,
                   "waited longer than ROCSHMEM_TIMEOUT, %.3f s: %s; the state of all PEs is on stderr",
                   (double)job->config.timeout_ns * 1e-9, waits.text);
}

int rs_job_tick(void *arg, uint64_t waited_ns, int first)
{
    struct rs_job *job = arg;
    struct rs_thread *thread = rs_self;
    bool user =
        atomic_load_explicit(&thread->job, memory_order_relaxed) == job; /* else one of our own threads */
    bool has_board = job->board.vitals != NULL; /* init waits for its device before */
    uint64_t now = rs_os_now_ns();
    if (user) tell_board(job, thread, now, waited_ns, first);
    if (has_board && job->built)
        publish_streams(job, atomic_load_explicit(&job->board.page->asked, memory_order_relaxed));
    int rc = has_board ? rs_board_look(&job->board, now, before_death) : 0;
    if (rc == 0 && job->net) rc = rs_network_tick(job, now);
    if (rc == 0 && user && atomic_load_explicit(&job->ending, memory_order_acquire) && thread != job->ender)
        rc =
            rs_fail(RS_E_STATE,
                    "another thread called rocshmem_finalize while this one waited; end the threads that use "
                    "the job first");
    if (!user || rc < 0) return user ? told(thread, rc) : rc;
    if (thread->awaits || thread->drains) RS_TRY(rs_deadlock_look(job, thread, waited_ns));
    rc = rs_job_interrupted();
    if (rc < 0) print_page(&job->board, RS_PAGE_INTERRUPTED);
    if (rc == 0 && job->config.timeout_ns && waited_ns > job->config.timeout_ns) rc = time_out(job, thread);
    return rc;
}
