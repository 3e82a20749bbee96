/* SPDX-License-Identifier: MIT
 *
 * A thread that waits in a call of ours answers by itself: its slow ticks see the count of questions and write the note
 * anew, with the place in the program. A thread that does not wait is sent a signal of ours, whose handler writes where
 * it is. Who is stopped or dead can do neither, which /proc tells before anybody is waited for; who does not answer within
 * RS_GATHER_PATIENCE_NS is shown as the board last had it. So nobody can hold up a page.
 *
 * The signal would end a process that has no handler for it, such as one that has made another program of itself by exec:
 * /proc says also who has one, and the runtime leaves it ignored, never as it was, when the job ends (pgas/signals.c).
 *
 * Runs in signal handlers: open, read, kill and atomics only. Notes are read as the board's seqlock allows: one that keeps
 * changing is taken without its details.
 */
#include "observe/gather.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os.h"

#define MUTE 0x80 /* of a state: it cannot answer, and is not waited for */

int rs_gather_signal(void)
{
    return SIGRTMIN + 7;
}

/* ---- asking ---- */

/* What follows a key in /proc/<pid>/status; NULL. */
static const char *value_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? at + strlen(key) : NULL;
}

/* How a process is, and whether it can answer. */
static enum rs_seen_state look_at(const struct rs_vital *vital, bool *answers_out)
{
    char path[40], text[4096];
    *answers_out = false;
    if (!rs_os_pid_alive(vital->pid, vital->start_time)) return RS_SEEN_DEAD;
    snprintf(path, sizeof path, "/proc/%d/status", (int)vital->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return RS_SEEN_RUNNING; /* no /proc here: it is not asked */
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *state = value_of(text, "\nState:\t"), *caught = value_of(text, "\nSigCgt:\t");
    if (state && (*state == 'T' || *state == 't')) return RS_SEEN_STOPPED;
    if (caught) *answers_out = strtoull(caught, NULL, 16) >> (rs_gather_signal() - 1) & 1;
    return RS_SEEN_RUNNING;
}

/* Is this note to be shown? A PE's first one is, of the others those in a call. */
static bool is_shown(const struct rs_note *note, bool first)
{
    if (!atomic_load_explicit(&note->tid, memory_order_relaxed)) return false;
    return first || atomic_load_explicit(&note->call, memory_order_relaxed) & RS_NOTE_ACTIVE;
}

/* Who gathers, or waits for the page in a tick, cannot answer meanwhile; its note is taken as it is. */
static bool is_as_it_is(const struct rs_note *note)
{
    if (atomic_load_explicit(&note->answered, memory_order_relaxed) == RS_ANSWERED_AHEAD) return true;
    return atomic_load_explicit(&note->tid, memory_order_relaxed) == (uint32_t)syscall(SYS_gettid);
}

static void ask_threads(const struct rs_vital *vital, const struct rs_note *notes)
{
    bool first = true;
    for (int i = 0; i < RS_NOTES_A_PE; i++) {
        if (!is_shown(&notes[i], first)) continue;
        first = false;
        if (atomic_load_explicit(&notes[i].wait_since_ns, memory_order_relaxed))
            continue; /* its tick will see */
        uint32_t tid = atomic_load_explicit(&notes[i].tid, memory_order_relaxed);
        if (tid && !is_as_it_is(&notes[i])) syscall(SYS_tgkill, vital->pid, (pid_t)tid, rs_gather_signal());
    }
}

static const struct rs_note *notes_of(const struct rs_board *board, int local)
{
    return board->notes + (size_t)local * RS_NOTES_A_PE;
}

void rs_gather_begin(struct rs_gather *gather, const struct rs_board *board, unsigned char *states)
{
    gather->board = board;
    gather->states = states;
    gather->deadline_ns = rs_os_now_ns() + RS_GATHER_PATIENCE_NS;
    /* Release: whoever answers this number answers after it. */
    gather->asked = atomic_fetch_add_explicit(&board->page->asked, 1, memory_order_acq_rel) + 1;
    for (int i = 0; i < board->n_local; i++) {
        const struct rs_vital *vital = &board->vitals[i];
        uint32_t state = atomic_load_explicit(&vital->state, memory_order_acquire);
        bool answers = false;
        if (state == RS_PE_RUNNING)
            states[i] = (unsigned char)look_at(vital, &answers);
        else
            states[i] = state == RS_PE_GONE ? RS_SEEN_GONE : RS_SEEN_ABSENT;
        if (answers)
            ask_threads(vital, notes_of(board, i));
        else
            states[i] |= MUTE;
    }
}

bool rs_gather_ready(const struct rs_gather *gather)
{
    if (rs_os_now_ns() > gather->deadline_ns) return true;
    for (int i = 0; i < gather->board->n_local; i++) {
        const struct rs_note *notes = notes_of(gather->board, i);
        bool first = true;
        if (gather->states[i] != RS_SEEN_RUNNING) continue; /* or mute */
        for (int k = 0; k < RS_NOTES_A_PE; k++) {
            if (!is_shown(&notes[k], first)) continue;
            first = false;
            if (atomic_load_explicit(&notes[k].answered, memory_order_acquire) != gather->asked &&
                !is_as_it_is(&notes[k]))
                return false;
        }
    }
    return true;
}

/* ---- collecting ---- */

static void read_words(const _Atomic uint64_t *from, void *to, size_t nbytes)
{
    for (size_t i = 0; i < nbytes / 8; i++) {
        uint64_t word = atomic_load_explicit(&from[i], memory_order_relaxed);
        memcpy((char *)to + i * 8, &word, 8);
    }
}

static void note_read(const struct rs_note *note, uint32_t asked, uint64_t now, struct rs_seen *out)
{
    uint64_t call = atomic_load_explicit(&note->call, memory_order_relaxed), since = 0;
    bool good = false;
    for (int tries = 0; tries < 100 && !good; tries++) {
        uint32_t before = atomic_load_explicit(&note->sequence, memory_order_acquire);
        since = atomic_load_explicit(&note->wait_since_ns, memory_order_relaxed);
        read_words(note->waits, &out->waits, sizeof out->waits);
        read_words(note->where, out->where, sizeof out->where);
        read_words(note->frames, out->frames, sizeof out->frames);
        out->answered = atomic_load_explicit(&note->answered, memory_order_relaxed) == asked;
        atomic_thread_fence(memory_order_acquire);
        good = before % 2 == 0 && atomic_load_explicit(&note->sequence, memory_order_relaxed) == before;
    }
    out->answered |= is_as_it_is(note);
    if (!good || !since) memset(&out->waits, 0, sizeof out->waits);
    if (!good || (!since && !out->answered)) out->where[0] = out->frames[0] = '\0';
    if (good && since) out->frames[0] = '\0'; /* it waits: the note says for what */
    out->call = (uint32_t)call;
    out->active = (call & RS_NOTE_ACTIVE) != 0;
    out->waited_ns = good && since && out->active ? (now > since ? now - since : 1) : 0;
    rs_seen_end(out);
}

/* What is known of a whole PE. */
static void vital_read(const struct rs_vital *vital, uint32_t asked, struct rs_seen *out)
{
    size_t used = 0;
    for (int i = 0; i < RS_PROGRESS_SLOTS && used < sizeof out->teams; i++) {
        uint32_t team = atomic_load_explicit(&vital->progress[i].team, memory_order_relaxed);
        uint32_t number = atomic_load_explicit(&vital->progress[i].number, memory_order_relaxed);
        char name[24];
        if (!team || !number) continue;
        rs_team_name(team - 1, name, sizeof name);
        int n =
            snprintf(out->teams + used, sizeof out->teams - used, "%s%s #%u", used ? ", " : "", name, number);
        if (n > 0) used += (size_t)n;
    }
    if (atomic_load_explicit(&vital->streams_done, memory_order_acquire) != asked) return;
    read_words(vital->streams, out->streams, sizeof out->streams);
    rs_seen_end(out);
}

int rs_gather_collect(const struct rs_gather *gather, struct rs_seen *out, int most)
{
    uint64_t now = rs_os_now_ns();
    const struct rs_board *board = gather->board;
    int n = 0;
    for (int i = 0; i < board->n_local; i++) {
        const struct rs_vital *vital = &board->vitals[i];
        const struct rs_note *notes = notes_of(board, i);
        int spare = most - n - (board->n_local - i); /* places beside one for each PE that is to come */
        struct rs_seen *first = &out[n++];
        memset(first, 0, sizeof *first);
        first->first = 1;
        first->state = gather->states[i] & (MUTE - 1);
        bool known = first->state != RS_SEEN_ABSENT;
        first->pe = known ? vital->pe : -1;
        first->pid = known ? vital->pid : 0;
        if (first->state == RS_SEEN_GONE || !known) continue;
        vital_read(vital, gather->asked, first);
        struct rs_seen *at = first;
        for (int k = 0; k < RS_NOTES_A_PE; k++) {
            if (!is_shown(&notes[k], at == first)) continue;
            if (!at) {
                if (spare-- <= 0) break;
                at = &out[n++];
                memset(at, 0, sizeof *at);
                at->pe = first->pe;
                at->pid = first->pid;
                at->state = first->state;
            }
            note_read(&notes[k], gather->asked, now, at);
            at = NULL;
        }
    }
    return n;
}
