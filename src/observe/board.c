/* SPDX-License-Identifier: MIT
 *
 * Layout, notes, the abort record and the liveness of processes. Every shared word's writer, reader and order
 * stand at its declaration in board.h. Called by any thread of any PE of the host.
 */
#include "observe/board.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"
#include "base/wait.h"

#define LOOK_NS 10000000u

struct layout {
    size_t vitals, notes, drops, room, posts, end;
};

static size_t page_up(size_t n)
{
    return (n + 4095) & ~(size_t)4095;
}

static struct layout layout_of(int n_local, int max_teams)
{
    size_t n = (size_t)n_local;
    struct layout l;
    l.vitals = page_up(sizeof(struct rs_abort) + sizeof(struct rs_exit) + sizeof(struct rs_page));
    l.notes = page_up(l.vitals + n * sizeof(struct rs_vital));
    l.drops = page_up(l.notes + n * RS_NOTES_A_PE * sizeof(struct rs_note));
    l.room = page_up(l.drops + n * RS_DROP_LOG * sizeof(uint64_t));
    l.posts = page_up(l.room + n * RS_ROOM_NBYTES);
    l.end = page_up(l.posts + n * (size_t)max_teams * RS_POST_NBYTES);
    return l;
}

size_t rs_board_nbytes(int n_local, int max_teams)
{
    return layout_of(n_local, max_teams).end;
}

int rs_board_attach(struct rs_board *board, void *memory, int n_local, int my_local, int max_teams)
{
    struct layout l = layout_of(n_local, max_teams);
    memset(board, 0, sizeof *board);
    board->base = memory;
    board->n_local = n_local;
    board->my_local = my_local;
    board->max_teams = max_teams;
    board->abort = (struct rs_abort *)board->base;
    board->exit = (struct rs_exit *)(board->base + sizeof(struct rs_abort));
    board->page = (struct rs_page *)(board->base + sizeof(struct rs_abort) + sizeof(struct rs_exit));
    board->vitals = (struct rs_vital *)(board->base + l.vitals);
    board->notes = (struct rs_note *)(board->base + l.notes);
    board->drops = (uint64_t *)(void *)(board->base + l.drops);
    board->room = board->base + l.room;
    board->posts = board->base + l.posts;
    board->pidfds = malloc((size_t)n_local * sizeof *board->pidfds);
    if (!board->pidfds) return rs_fail(RS_E_NOMEM, "no memory for the board of %d PEs", n_local);
    for (int i = 0; i < n_local; i++) board->pidfds[i] = -1;
    return 0;
}

int rs_board_open(struct rs_board *board, int fd, int n_local, int my_local, int max_teams)
{
    size_t nbytes = rs_board_nbytes(n_local, max_teams);
    void *base;
    RS_TRY(rs_os_map_shared(fd, nbytes, &base));
    int rc = rs_board_attach(board, base, n_local, my_local, max_teams);
    if (rc < 0) {
        rs_os_unmap(base, nbytes);
        return rc;
    }
    board->nbytes = nbytes;
    return 0;
}

void rs_board_close(struct rs_board *board)
{
    if (board->pidfds) {
        for (int i = 0; i < board->n_local; i++)
            if (board->pidfds[i] >= 0) close(board->pidfds[i]);
        free(board->pidfds);
    }
    if (board->nbytes) rs_os_unmap(board->base, board->nbytes);
    memset(board, 0, sizeof *board);
}

void rs_board_arrive(struct rs_board *board, int pe)
{
    struct rs_vital *me = &board->vitals[board->my_local];
    me->pe = pe;
    me->pid = getpid();
    me->start_time = rs_os_start_time(me->pid);
    atomic_store_explicit(&me->state, RS_PE_RUNNING, memory_order_release);
}

void rs_board_leave(struct rs_board *board)
{
    atomic_store_explicit(&board->vitals[board->my_local].state, RS_PE_GONE, memory_order_release);
}

struct rs_note *rs_board_claim_note(struct rs_board *board, struct rs_note *spare)
{
    struct rs_note *mine = board->notes + (size_t)board->my_local * RS_NOTES_A_PE;
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    for (int i = 0; i < RS_NOTES_A_PE; i++) {
        uint32_t expected = 0;
        if (atomic_compare_exchange_strong_explicit(&mine[i].tid, &expected, tid, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            atomic_store_explicit(&mine[i].call, RS_CALL_NONE, memory_order_relaxed);
            return &mine[i];
        }
    }
    return spare;
}

void rs_board_release_note(struct rs_board *board, struct rs_note *note)
{
    (void)board;
    rs_note_detail(note, 0, NULL);
    atomic_store_explicit(&note->tid, 0, memory_order_relaxed);
}

/* A seqlock whose data are relaxed atomics: the fence keeps them behind the odd sequence, the release store before
 * the even one. The owner's handler may come between any two of these: it sees an odd sequence and writes nothing, or an
 * even one, with nothing half done. What the compiler may not do is to mix them: all are atomics, and signal fences are
 * implied by the fence and the release. */
static uint32_t write_begin(struct rs_note *note)
{
    uint32_t sequence = atomic_load_explicit(&note->sequence, memory_order_relaxed);
    atomic_store_explicit(&note->sequence, sequence + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    return sequence;
}

static void write_end(struct rs_note *note, uint32_t sequence)
{
    atomic_store_explicit(&note->sequence, sequence + 2, memory_order_release);
}

/* At most n words of a text, with its end. */
static void write_text(_Atomic uint64_t *to, size_t n, const char *text)
{
    size_t length = strnlen(text, n * 8 - 1);
    for (size_t i = 0; i < n && i * 8 <= length; i++) {
        uint64_t word = 0;
        memcpy(&word, text + i * 8, length - i * 8 < 8 ? length - i * 8 : 8);
        atomic_store_explicit(&to[i], word, memory_order_relaxed);
    }
}

void rs_note_detail(struct rs_note *note, uint64_t since_ns, const struct rs_waits *waits)
{
    uint32_t sequence = write_begin(note);
    atomic_store_explicit(&note->wait_since_ns, waits ? since_ns : 0, memory_order_relaxed);
    if (waits) {
        uint64_t words[sizeof *waits / 8];
        memcpy(words, waits, sizeof words);
        for (size_t i = 0; i < sizeof words / 8; i++)
            atomic_store_explicit(&note->waits[i], words[i], memory_order_relaxed);
    } else { /* where it was then is not where it is */
        atomic_store_explicit(&note->where[0], 0, memory_order_relaxed);
        atomic_store_explicit(&note->frames[0], 0, memory_order_relaxed);
    }
    write_end(note, sequence);
}

bool rs_note_answer(struct rs_note *note, uint32_t asked, const char *where, const char *frames)
{
    if (atomic_load_explicit(&note->sequence, memory_order_relaxed) % 2) return false;
    uint32_t sequence = write_begin(note);
    write_text(note->where, RS_SEEN_WHERE / 8, where);
    if (frames) write_text(note->frames, RS_SEEN_FRAMES / 8, frames);
    write_end(note, sequence);
    atomic_store_explicit(&note->answered, asked, memory_order_release);
    return true;
}

void rs_board_abort(struct rs_board *board, int status, int pe, const char *op, const char *text)
{
    struct rs_abort *record = board->abort;
    uint32_t expected = 0;
    if (!atomic_compare_exchange_strong_explicit(&record->state, &expected, 1, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    record->status = status;
    record->pe = pe;
    snprintf(record->op, sizeof record->op, "%s", op);
    snprintf(record->text, sizeof record->text, "%s", text);
    atomic_store_explicit(&record->state, 2, memory_order_release);
}

int rs_board_broken(const struct rs_board *board)
{
    const struct rs_abort *record = board->abort;
    uint32_t state = atomic_load_explicit(&record->state, memory_order_acquire);
    if (state == 0) return 0;
    /* State 1 lasts for a memcpy, unless its writer was killed inside: then there is no text to wait for. */
    for (int tries = 0; state == 1 && tries < 1000; tries++) {
        rs_wait_sleep_ns(1000);
        state = atomic_load_explicit(&record->state, memory_order_acquire);
    }
    if (state == 1) return rs_fail(RS_E_BROKEN, "the job is broken: a PE died while it reported a failure");
    return rs_fail_pe(record->status, record->pe, "%s", record->text);
}

static bool is_dead(struct rs_board *board, int local)
{
    struct rs_vital *vital = &board->vitals[local];
    if (board->pidfds[local] == -1) {
        int fd = rs_os_pidfd(vital->pid);
        board->pidfds[local] = fd >= 0 ? fd : -2;
        /* Opened late: make sure that it is the process we mean, not a later one with its number. */
        return !rs_os_pid_alive(vital->pid, vital->start_time);
    }
    if (board->pidfds[local] == -2) return !rs_os_pid_alive(vital->pid, vital->start_time);
    struct pollfd ready = {.fd = board->pidfds[local], .events = POLLIN};
    return poll(&ready, 1, 0) == 1;
}

static void report_death(struct rs_board *board, int local)
{
    struct rs_vital *vital = &board->vitals[local];
    uint64_t call = RS_CALL_NONE;
    struct rs_note *notes = board->notes + (size_t)local * RS_NOTES_A_PE;
    for (int i = 0; i < RS_NOTES_A_PE && atomic_load_explicit(&notes[i].tid, memory_order_relaxed); i++) {
        uint64_t seen = atomic_load_explicit(&notes[i].call, memory_order_relaxed);
        if (i == 0 || seen & RS_NOTE_ACTIVE) call = seen;
        if (seen & RS_NOTE_ACTIVE) break;
    }
    char name[64], text[256];
    rs_call_name((uint32_t)call, name, sizeof name);
    snprintf(
        text, sizeof text,
        "PE %d (pid %d) died or exited without rocshmem_finalize; it was %s %s; see its own output for the "
        "cause",
        vital->pe, (int)vital->pid, call & RS_NOTE_ACTIVE ? "in" : "last in", name);
    rs_board_abort(board, RS_E_PEER, vital->pe, name, text);
}

static int find_dead(struct rs_board *board)
{
    for (int i = 0; i < board->n_local; i++) {
        if (i == board->my_local) continue;
        if (atomic_load_explicit(&board->vitals[i].state, memory_order_acquire) != RS_PE_RUNNING) continue;
        if (!is_dead(board, i)) continue;
        /* It may have left properly between the two looks. */
        if (atomic_load_explicit(&board->vitals[i].state, memory_order_acquire) == RS_PE_RUNNING) return i;
    }
    return -1;
}

int rs_board_look(struct rs_board *board, uint64_t now_ns, bool (*before)(const struct rs_board *board))
{
    if (rs_board_is_broken(board)) return rs_board_broken(board);
    uint64_t due = atomic_load_explicit(&board->next_look_ns, memory_order_relaxed);
    if (now_ns < due) return 0;
    /* One of the waiting threads of this PE wins and looks; it alone uses pidfds until the next due time, and
     * a look that lasts longer than that keeps the others out by a due time of its own. */
    if (!atomic_compare_exchange_strong_explicit(&board->next_look_ns, &due, UINT64_MAX, memory_order_acquire,
                                                 memory_order_relaxed))
        return 0;
    int dead = find_dead(board);
    if (dead >= 0 && (!before || before(board))) report_death(board, dead);
    atomic_store_explicit(&board->next_look_ns, now_ns + LOOK_NS, memory_order_release);
    return rs_board_is_broken(board) ? rs_board_broken(board) : 0;
}
