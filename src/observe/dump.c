/* SPDX-License-Identifier: MIT
 *
 * Reads notes as the board's seqlock allows: a note that keeps changing is printed without its details. Each
 * line is one write, so that dumps of several PEs do not mix within a line. snprintf of integers and strings
 * allocates nothing in the C libraries that we run on, which is what makes this usable in a handler.
 */
#include "observe/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"

/* What a note said at one moment. */
struct seen {
    uint64_t call, since_ns;
    char detail[RS_NOTE_DETAIL_NBYTES];
};

static void note_read(const struct rs_note *note, struct seen *out)
{
    uint64_t words[RS_NOTE_DETAIL_NBYTES / 8];
    memset(out, 0, sizeof *out);
    out->call = atomic_load_explicit(&note->call, memory_order_relaxed);
    for (int tries = 0; tries < 100; tries++) {
        uint32_t before = atomic_load_explicit(&note->sequence, memory_order_acquire);
        uint64_t since = atomic_load_explicit(&note->wait_since_ns, memory_order_relaxed);
        for (int i = 0; i < RS_NOTE_DETAIL_NBYTES / 8; i++)
            words[i] = atomic_load_explicit(&note->detail[i], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (before % 2 || atomic_load_explicit(&note->sequence, memory_order_relaxed) != before) continue;
        out->since_ns = since;
        if (since) memcpy(out->detail, words, sizeof words);
        out->detail[RS_NOTE_DETAIL_NBYTES - 1] = '\0';
        return;
    }
}

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

static void print_note(int fd, const struct rs_vital *vital, const struct rs_note *note, uint64_t now,
                       bool first)
{
    struct seen seen;
    char name[64], text[512];
    note_read(note, &seen);
    bool active = seen.call & RS_NOTE_ACTIVE;
    if (!first && !active) return;
    rs_call_name((uint32_t)seen.call, name, sizeof name);
    int n;
    if (active && seen.since_ns)
        n = snprintf(text, sizeof text, "PE %d (pid %d) has been in %s for %.3f s: %s\n", vital->pe,
                     (int)vital->pid, name, (double)(now - seen.since_ns) * 1e-9, seen.detail);
    else if (active)
        n = snprintf(text, sizeof text, "PE %d (pid %d) is in %s\n", vital->pe, (int)vital->pid, name);
    else
        n = snprintf(text, sizeof text, "PE %d (pid %d) is in no call; its last was %s\n", vital->pe,
                     (int)vital->pid, name);
    line(fd, text, n, sizeof text);
}

void rs_dump_state(const struct rs_board *board, int fd)
{
    char text[1152];
    uint64_t now = rs_os_now_ns();
    int n = snprintf(text, sizeof text, "rocshmem: state of the %d PEs of this host\n", board->n_local);
    line(fd, text, n, sizeof text);
    if (atomic_load_explicit(&board->abort->state, memory_order_acquire) == 2) {
        n = snprintf(text, sizeof text, "the job is broken: %s: %s\n", board->abort->op, board->abort->text);
        line(fd, text, n, sizeof text);
    }
    for (int i = 0; i < board->n_local; i++) {
        const struct rs_vital *vital = &board->vitals[i];
        uint32_t state = atomic_load_explicit(&vital->state, memory_order_acquire);
        if (state != RS_PE_RUNNING) {
            n = snprintf(text, sizeof text, "PE on place %d %s\n", i,
                         state == RS_PE_GONE ? "has left by rocshmem_finalize" : "has not arrived");
            line(fd, text, n, sizeof text);
            continue;
        }
        const struct rs_note *notes = board->notes + (size_t)i * RS_NOTES_A_PE;
        bool first = true;
        for (int k = 0; k < RS_NOTES_A_PE; k++) {
            if (!atomic_load_explicit(&notes[k].tid, memory_order_relaxed)) continue;
            print_note(fd, vital, &notes[k], now, first);
            first = false;
        }
        if (first) {
            n = snprintf(text, sizeof text, "PE %d (pid %d) has made no call\n", vital->pe, (int)vital->pid);
            line(fd, text, n, sizeof text);
        }
    }
}
