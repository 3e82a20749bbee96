/* SPDX-License-Identifier: MIT
 *
 * The page: a line for each PE (and for each further thread of it that is in a call), then the verdict. Each line is one
 * write, so that nothing comes between its letters. snprintf of integers and strings allocates nothing in the C libraries
 * that we run on, and mmap, poll and write are system calls: that is what makes this usable in a handler. The handler holds
 * up the thread that it interrupts for as long as the answers take, which have a limit.
 *
 * One page: who prints is found by a compare and swap on the board; the others let it be, or wait for it.
 */
#include "observe/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"
#include "base/wait.h"
#include "observe/gather.h"
#include "observe/verdict.h"

#define AGAIN_NS 1000000000u      /* one who asks again after that gets a new page */
#define AFTERMATH_NS 10000000000u /* what goes wrong so soon after a page follows from what that shows */
#define AWAIT_NS 2000000000u      /* for the page of a job on several hosts */
#define PRINTER_NS 1000000000u    /* for another PE of this host that prints */
#define THREADS_BESIDE 256        /* lines beside one for each PE */

static void line(int fd, const char *text, int n, size_t room)
{
    size_t length = n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
    while (length > 0) {
        ssize_t wrote = write(fd, text, length);
        if (wrote < 0 && errno != EINTR) return;
        if (wrote > 0) {
            text += wrote;
            length -= (size_t)wrote;
        }
    }
}

/* ---- a PE ---- */

static int print_call(const struct rs_seen *it, char *text, size_t room)
{
    char name[80];
    rs_call_name(it->call, name, sizeof name);
    const char *comma = it->where[0] ? ", " : "", *where = it->where;
    if (it->waited_ns)
        return snprintf(text, room, "PE %d (pid %d) has been in %s for %.3f s%s%s: %s", it->pe, it->pid, name,
                        (double)it->waited_ns * 1e-9, comma, where, it->waits.text);
    if (it->active)
        return snprintf(text, room, "PE %d (pid %d) is in %s%s%s", it->pe, it->pid, name, comma, where);
    if (RS_CALL_ID(it->call) == RS_CALL_NONE)
        return snprintf(text, room, "PE %d (pid %d) has made no call%s%s", it->pe, it->pid, comma, where);
    return snprintf(text, room, "PE %d (pid %d) is in no call; its last was %s%s%s", it->pe, it->pid, name,
                    comma, where);
}

static void print_seen(int fd, const struct rs_seen *it, int place)
{
    char text[1024];
    int n = 0;
    if (it->state == RS_SEEN_ABSENT || (it->state == RS_SEEN_SILENT && it->pe < 0))
        n = snprintf(text, sizeof text, "PE on place %d has not arrived", place);
    else if (it->state == RS_SEEN_GONE)
        n = snprintf(text, sizeof text, "PE %d (pid %d) has left by rocshmem_finalize", it->pe, it->pid);
    else if (it->state == RS_SEEN_SILENT)
        n = snprintf(text, sizeof text, "PE %d: its host has not answered", it->pe);
    else if (it->pid == 0)
        n = snprintf(text, sizeof text, "PE %d", it->pe); /* of a host that is lost */
    else
        n = print_call(it, text, sizeof text);
    if (n > 0 && (size_t)n < sizeof text)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s\n",
                      it->state == RS_SEEN_DEAD      ? " [DEAD]"
                      : it->state == RS_SEEN_STOPPED ? " [STOPPED by a signal or a debugger]"
                                                     : "");
    line(fd, text, n, sizeof text);
    if (it->frames[0]) {
        n = snprintf(text, sizeof text, "    in C: %s\n", it->frames);
        line(fd, text, n, sizeof text);
    }
    if (it->first && (it->teams[0] || it->streams[0])) {
        n = snprintf(text, sizeof text, "    %s%s%s%s\n", it->teams[0] ? "collectives so far: " : "",
                     it->teams, it->teams[0] && it->streams[0] ? "; " : "", it->streams);
        line(fd, text, n, sizeof text);
    }
}

/* ---- the page ---- */

static const char *reason_text(enum rs_page_reason reason)
{
    static const char *const texts[] = {"asked for by", "ROCSHMEM_TIMEOUT has passed on",
                                        "interrupted:", "somebody died, as seen by"};
    return texts[reason <= RS_PAGE_DEAD ? reason : 0];
}

void rs_page_print(int fd, const struct rs_board *board, const struct rs_seen *seen, int n, int n_hosts,
                   int n_silent, enum rs_page_reason reason, int reason_pe, unsigned char *marks)
{
    char text[1280], verdict[1100];
    int n_pes = 0, place = 0;
    for (int i = 0; i < n; i++) n_pes += (int)seen[i].first;
    int used = snprintf(text, sizeof text, "rocshmem: state of the %d PEs%s", n_pes,
                        n_hosts > 1 ? "" : " of this host");
    if (n_hosts > 1) used += snprintf(text + used, sizeof text - (size_t)used, " of %d hosts", n_hosts);
    if (n_silent > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, ", of which %d did not answer", n_silent);
    used +=
        snprintf(text + used, sizeof text - (size_t)used, " (%s PE %d)\n", reason_text(reason), reason_pe);
    line(fd, text, used, sizeof text);
    if (atomic_load_explicit(&board->abort->state, memory_order_acquire) == 2) {
        used =
            snprintf(text, sizeof text, "the job is broken: %s: %s\n", board->abort->op, board->abort->text);
        line(fd, text, used, sizeof text);
    }
    for (int i = 0; i < n; i++) {
        place += (int)seen[i].first;
        print_seen(fd, &seen[i], place - 1);
    }
    rs_verdict(seen, n, marks, verdict, sizeof verdict);
    used = snprintf(text, sizeof text, "rocshmem: verdict: %s\n", verdict);
    line(fd, text, used, sizeof text);
}

static void pause_ms(int ms)
{
    (void)poll(NULL, 0, ms); /* an early return (a signal) only means one look more */
}

void rs_dump_state(const struct rs_board *board, int fd, enum rs_page_reason reason)
{
    size_t n_local = (size_t)board->n_local, most = n_local + THREADS_BESIDE;
    size_t nbytes = most * (sizeof(struct rs_seen) + 1) + n_local;
    unsigned char *memory = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        static const char none[] = "rocshmem: no memory for a page with the state of the PEs\n";
        line(fd, none, (int)sizeof none - 1, sizeof none);
        return;
    }
    struct rs_seen *seen = (struct rs_seen *)(void *)memory;
    unsigned char *marks = memory + most * sizeof *seen;
    struct rs_gather gather;
    rs_gather_begin(&gather, board, marks + most);
    while (!rs_gather_ready(&gather)) pause_ms(1);
    int n = rs_gather_collect(&gather, seen, (int)most);
    rs_page_print(fd, board, seen, n, 1, 0, reason, board->vitals[board->my_local].pe, marks);
    munmap(memory, nbytes);
}

/* ---- one for all ---- */

bool rs_page_is_due(const struct rs_board *board, enum rs_page_reason reason, uint64_t now_ns)
{
    uint64_t last = atomic_load_explicit(&board->page->printed_ns, memory_order_relaxed);
    return last == 0 || now_ns < last || now_ns - last > (reason == RS_PAGE_ASKED ? AGAIN_NS : AFTERMATH_NS);
}

bool rs_page_is_coming(const struct rs_board *board)
{
    const struct rs_page *page = board->page;
    return page && atomic_load_explicit(&page->done, memory_order_relaxed) !=
                       atomic_load_explicit(&page->wished, memory_order_relaxed);
}

/* Become the one who prints. False: another one does. */
static bool take_printer(const struct rs_board *board)
{
    uint32_t holder = 0, me = (uint32_t)getpid();
    _Atomic uint32_t *printer = &board->page->printer;
    if (atomic_compare_exchange_strong_explicit(printer, &holder, me, memory_order_acquire,
                                                memory_order_relaxed))
        return true;
    /* One that was killed meanwhile prints no more. */
    return holder != me && !rs_os_pid_alive((pid_t)holder, 0) &&
           atomic_compare_exchange_strong_explicit(printer, &holder, me, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void print_here(const struct rs_board *board, enum rs_page_reason reason, bool await)
{
    uint64_t deadline_ns = rs_os_now_ns() + PRINTER_NS;
    _Atomic uint32_t *printer = &board->page->printer;
    if (!take_printer(
            board)) { /* whoever is in its error handler next may end the process: the page comes first */
        while (await && atomic_load_explicit(printer, memory_order_acquire) && rs_os_now_ns() < deadline_ns)
            pause_ms(1);
        return;
    }
    if (rs_page_is_due(board, reason, rs_os_now_ns())) {
        rs_dump_state(board, STDERR_FILENO, reason);
        atomic_store_explicit(&board->page->printed_ns, rs_os_now_ns(), memory_order_relaxed);
    }
    atomic_store_explicit(printer, 0, memory_order_release);
}

/* Over hosts, the first PE of this one hands wishes on: unless it is the one that died. */
static bool has_vigil(const struct rs_board *board)
{
    const struct rs_vital *first = &board->vitals[0];
    return board->my_local == 0 || rs_os_pid_alive(first->pid, first->start_time);
}

void rs_page_wish(const struct rs_board *board, enum rs_page_reason reason, bool await)
{
    struct rs_page *page = board->page;
    if (!rs_page_is_due(board, reason, rs_os_now_ns())) return;
    if (!atomic_load_explicit(&board->exit->watched, memory_order_acquire) || !has_vigil(board)) {
        print_here(board, reason, await);
        return;
    }
    atomic_store_explicit(&page->reason, reason, memory_order_relaxed);
    atomic_store_explicit(&page->reason_pe, (uint32_t)board->vitals[board->my_local].pe,
                          memory_order_relaxed);
    uint32_t mine = atomic_fetch_add_explicit(&page->wished, 1, memory_order_release) + 1;
    if (!await) return;
    uint64_t deadline_ns = rs_os_now_ns() + AWAIT_NS;
    while ((int32_t)(atomic_load_explicit(&page->done, memory_order_acquire) - mine) < 0) {
        if (rs_os_now_ns() > deadline_ns) {
            static const char alone[] =
                "rocshmem: the job's first host prints no page; this is what this host knows\n";
            line(STDERR_FILENO, alone, (int)sizeof alone - 1, sizeof alone);
            print_here(board, reason, await);
            return;
        }
        pause_ms(1);
    }
}
