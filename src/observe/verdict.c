/* SPDX-License-Identifier: MIT
 *
 * Pure logic over what the PEs were found doing (seen.h); runs in a signal handler, like the page that it ends.
 *
 * Each PE is taken by one of its threads: the first that waits. The PEs that a collective or a stream waits for are edges
 * of a graph. Two PEs in the same collective of the same team are no news to each other: an edge between them (a host's
 * leader waits for the leader of another host, who waits for one of its own) only passes the blame on. So:
 *
 *   a cycle with an edge that is not of that kind can't end: it is named edge by edge;
 *   else whoever is awaited and awaits no PE is to blame: dead, stopped, in the program's own code, in another call, or
 *   waiting for a word; the one for whom most wait is told first;
 *   else, where nobody waits for a PE, words that are waited for: nobody has written them.
 */
#include "observe/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "observe/calls.h"

struct text {
    char *at;
    size_t left;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was started just now */
    int n = text->left > 1 ? vsnprintf(text->at, text->left, format, args) : 0;
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n < text->left ? (size_t)n : text->left - 1;
    text->at += used;
    text->left -= text->left ? used : 0;
}

/* ---- the graph ---- */

struct job {
    const struct rs_seen *seen;
    int n;
    unsigned char *marks;
};

/* Where a PE begins in seen; -1: it is not there. */
static int find(const struct job *job, int pe)
{
    int low = 0, high = job->n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (job->seen[middle].pe < pe)
            low = middle + 1;
        else
            high = middle;
    }
    return low < job->n && job->seen[low].pe == pe ? low : -1;
}

static bool can_wait(const struct rs_seen *it)
{
    return it->waited_ns && it->waits.kind != RS_WAITS_NOTHING && it->state == RS_SEEN_RUNNING;
}

/* The thread that stands for the PE that begins at i. */
static int stands_for(const struct job *job, int i)
{
    for (int k = i; k < job->n && job->seen[k].pe == job->seen[i].pe; k++)
        if (can_wait(&job->seen[k])) return k;
    return i;
}

/* The PEs that a thread waits for: how many of them are known. */
static int n_edges(const struct rs_seen *it)
{
    if (!can_wait(it) || (it->waits.kind != RS_WAITS_PES && it->waits.kind != RS_WAITS_STREAM)) return 0;
    return it->waits.n_pes < RS_WAITS_MOST ? it->waits.n_pes : RS_WAITS_MOST;
}

/* Who stands for the k-th PE that a thread waits for; -1: nothing is known of it. */
static int edge(const struct job *job, int i, int k)
{
    int to = find(job, job->seen[i].waits.pes[k]);
    return to < 0 ? -1 : stands_for(job, to);
}

static bool is_same_meet(const struct rs_seen *a, const struct rs_seen *b)
{
    return can_wait(a) && can_wait(b) && a->waits.kind == RS_WAITS_PES && b->waits.kind == RS_WAITS_PES &&
           a->waits.team == b->waits.team && a->waits.number == b->waits.number && a->call == b->call;
}

/* Is it a PE's representative? */
static bool stands(const struct job *job, int i)
{
    int first = find(job, job->seen[i].pe);
    return first >= 0 && stands_for(job, first) == i;
}

/* Do edges lead from one to the other? Marks what it has seen; by repeated passes, without a stack. */
static bool reaches(const struct job *job, int from, int target)
{
    memset(job->marks, 0, (size_t)job->n);
    job->marks[from] = 1;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < job->n; i++) {
            if (job->marks[i] != 1) continue;
            job->marks[i] = 2;
            for (int k = 0; k < n_edges(&job->seen[i]); k++) {
                int to = edge(job, i, k);
                if (to < 0) continue;
                if (to == target) return true;
                if (job->marks[to]) continue;
                job->marks[to] = 1;
                more = true;
            }
        }
    }
    return false;
}

/* ---- words ---- */

static void name_call(const struct rs_seen *it, char *out, size_t nbytes)
{
    rs_call_name(it->call, out, nbytes);
    size_t used = strlen(out);
    if (it->waits.kind == RS_WAITS_PES && it->waits.number && used < nbytes)
        snprintf(out + used, nbytes - used, " #%llu", (unsigned long long)it->waits.number);
}

static void add_where(struct text *text, const struct rs_seen *it)
{
    if (it->where[0]) add(text, " at %s", it->where);
}

/* "PE 3", "PEs 0-2 5": those marked 3. */
static void add_marked(struct text *text, const struct job *job)
{
    int n = 0, shown = 0;
    for (int i = 0; i < job->n; i++) n += job->marks[i] == 3;
    add(text, n == 1 ? "PE" : "PEs");
    for (int i = 0; i < job->n && shown < 12; i++) {
        if (job->marks[i] != 3) continue;
        int last = i, at = i;
        for (int k = i + 1; k < job->n; k++) { /* a run of numbers; other threads of a PE are not marked */
            if (job->marks[k] == 3 && job->seen[k].pe == job->seen[last].pe + 1) last = k;
            if (job->seen[k].pe > job->seen[last].pe + 1) break;
        }
        int from = job->seen[at].pe, to = job->seen[last].pe;
        if (to > from + 1) {
            add(text, " %d-%d", from, to);
            i = last;
        } else {
            add(text, " %d", from);
        }
        shown++;
    }
    if (shown == 12) add(text, " ...");
}

/* What somebody does whom others wait for, behind "PE 3, ". */
static void add_deed(struct text *text, const struct rs_seen *it)
{
    char call[80];
    rs_call_name(it->call, call, sizeof call);
    const char *last = it->active ? "was in" : "was last in";
    switch ((enum rs_seen_state)it->state) {
    case RS_SEEN_ABSENT:
        add(text, "which has not arrived");
        return;
    case RS_SEEN_GONE:
        add(text, "which has left by rocshmem_finalize");
        return;
    case RS_SEEN_SILENT:
        add(text, "whose host has not answered");
        return;
    case RS_SEEN_DEAD:
        add(text, "which died, or exited without rocshmem_finalize");
        if (RS_CALL_ID(it->call) != RS_CALL_NONE) add(text, "; it %s %s", last, call);
        add_where(text, it);
        return;
    case RS_SEEN_STOPPED:
        add(text, "which is stopped, by a signal or a debugger; it %s %s", last, call);
        add_where(text, it);
        return;
    case RS_SEEN_RUNNING:
        break;
    }
    if (can_wait(it)) {
        name_call(it, call, sizeof call);
        add(text, "which itself is in %s", call);
        add_where(text, it);
        add(text, ": %s", it->waits.text);
    } else if (it->active) {
        add(text, "which is in %s", call);
        add_where(text, it);
        add(text, ", and does not wait");
    } else {
        add(text, "which is in the program's own code");
        add_where(text, it);
        if (RS_CALL_ID(it->call) == RS_CALL_NONE)
            add(text, " and has called nothing yet");
        else
            add(text, "; its last call was %s", call);
    }
}

/* ---- the three answers ---- */

/* The next one on the way from i back to `start`: the first edge from whose end start can be reached. */
static int step_towards(const struct job *job, int i, int start)
{
    for (int k = 0; k < n_edges(&job->seen[i]); k++) {
        int to = edge(job, i, k);
        if (to < 0) continue;
        if (to == start || reaches(job, to, start)) return to;
    }
    return -1;
}

/* An edge out of its meet from whose end the way leads back: of such a cycle, told edge by edge. */
static bool tell_cycle(const struct job *job, struct text *text)
{
    for (int i = 0; i < job->n; i++) {
        for (int k = 0; k < n_edges(&job->seen[i]); k++) {
            int to = stands(job, i) ? edge(job, i, k) : -1;
            if (to < 0 || to == i || is_same_meet(&job->seen[i], &job->seen[to]) || !reaches(job, to, i))
                continue;
            add(text, "a cycle, which can't end:");
            int at = i, next = to;
            for (int hops = 0; hops < 8; hops++) {
                char call[96];
                name_call(&job->seen[at], call, sizeof call);
                add(text, "%s PE %d waits in %s", hops ? "," : "", job->seen[at].pe, call);
                add_where(text, &job->seen[at]);
                add(text, " for PE %d", job->seen[next].pe);
                if (next == i) return true;
                at = next;
                next = step_towards(job, at, i);
                if (next < 0) return true;
            }
            add(text, ", and so on");
            return true;
        }
    }
    return false;
}

/* Marks 3 who waits for `sink`, straight or by others of the same meet; how many. One of those that do so straight. */
static int mark_waiters(const struct job *job, int sink, int *straight_out)
{
    int n = 0;
    memset(job->marks, 0, (size_t)job->n);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < job->n; i++) {
            if (job->marks[i] || i == sink || !stands(job, i)) continue;
            for (int k = 0; k < n_edges(&job->seen[i]) && !job->marks[i]; k++) {
                int to = edge(job, i, k);
                if (to != sink && (to < 0 || !job->marks[to])) continue;
                if (to == sink && n == 0) *straight_out = i;
                job->marks[i] = 3;
                n++;
                more = true;
            }
        }
    }
    return n;
}

static bool is_sink(const struct job *job, int i)
{
    return stands(job, i) && n_edges(&job->seen[i]) == 0;
}

static bool tell_sink(const struct job *job, int sink, int straight, struct text *text)
{
    char call[96];
    uint64_t longest = 0;
    bool all_alike = true;
    for (int i = 0; i < job->n; i++) {
        if (job->marks[i] != 3) continue;
        if (job->seen[i].waited_ns > longest) longest = job->seen[i].waited_ns;
        all_alike &= job->seen[i].call == job->seen[straight].call &&
                     job->seen[i].waits.number == job->seen[straight].waits.number &&
                     job->seen[i].waits.team == job->seen[straight].waits.team;
    }
    int n = 0;
    for (int i = 0; i < job->n; i++) n += job->marks[i] == 3;
    add_marked(text, job);
    add(text, n == 1 ? " waits" : " wait");
    name_call(&job->seen[straight], call, sizeof call);
    if (all_alike) add(text, " in %s", call);
    add(text, " since %.1f s for PE %d", (double)longest * 1e-9, job->seen[sink].pe);
    if (!all_alike) add(text, " (PE %d in %s)", job->seen[straight].pe, call);
    add(text, ", ");
    add_deed(text, &job->seen[sink]);
    return true;
}

/* Those for whom others wait, and who wait for nobody: three of them, with most waiters first. */
static bool tell_sinks(const struct job *job, struct text *text)
{
    int told[3] = {-1, -1, -1}, n_told = 0, more = 0;
    for (; n_told < 3; n_told++) {
        int best = -1, most = 0, straight = 0;
        more = 0;
        for (int i = 0; i < job->n; i++) {
            if (i == told[0] || i == told[1] || i == told[2] || !is_sink(job, i)) continue;
            int n = mark_waiters(job, i, &straight);
            more += n > 0;
            if (n <= most) continue;
            most = n;
            best = i;
        }
        if (best < 0) break;
        mark_waiters(job, best, &straight);
        if (n_told) add(text, "; ");
        tell_sink(job, best, straight, text);
        told[n_told] = best;
    }
    if (n_told == 3 && more > 1) add(text, "; and so for %d more", more - 1);
    return n_told > 0;
}

/* Somebody waits for a PE of which nothing is known: of another host, where this is one host's page. */
static bool tell_unknown(const struct job *job, struct text *text)
{
    for (int i = 0; i < job->n; i++) {
        for (int k = 0; k < n_edges(&job->seen[i]); k++) {
            char call[96];
            if (!stands(job, i) || find(job, job->seen[i].waits.pes[k]) >= 0) continue;
            name_call(&job->seen[i], call, sizeof call);
            add(text, "PE %d waits since %.1f s in %s", job->seen[i].pe,
                (double)job->seen[i].waited_ns * 1e-9, call);
            add_where(text, &job->seen[i]);
            add(text, " for PE %d, of which nothing is known here", job->seen[i].waits.pes[k]);
            return true;
        }
    }
    return false;
}

/* The first that waits for a word, or for streams, and what all the others do. */
static bool tell_words(const struct job *job, struct text *text)
{
    int first = -1, n_words = 0, n_own = 0, n_pes = 0;
    memset(job->marks, 0, (size_t)job->n);
    for (int i = 0; i < job->n; i++) {
        if (!stands(job, i)) continue;
        const struct rs_seen *it = &job->seen[i];
        n_pes++;
        if (can_wait(it)) {
            n_words++;
            job->marks[i] = 3;
            if (first < 0 ||
                (it->waits.kind == RS_WAITS_WORD && job->seen[first].waits.kind != RS_WAITS_WORD))
                first = i;
        } else if (it->state == RS_SEEN_RUNNING && !it->active) {
            n_own++;
        }
    }
    if (first < 0) return false;
    char call[96];
    const struct rs_seen *it = &job->seen[first];
    name_call(it, call, sizeof call);
    if (n_words > 1) {
        add_marked(text, job);
        add(text, " wait for words that nobody has written yet%s; ",
            n_words == n_pes ? ", and no PE is left to write them" : "");
    }
    add(text, "PE %d waits since %.1f s in %s", it->pe, (double)it->waited_ns * 1e-9, call);
    add_where(text, it);
    add(text, ": %s", it->waits.text);
    if (n_words == 1 && it->waits.kind == RS_WAITS_WORD)
        add(text, "; nobody has sent that%s",
            n_pes == 1           ? ""
            : n_own == n_pes - 1 ? ", and all other PEs are in the program's own code"
                                 : ", and no other PE waits");
    return true;
}

/* The dead for whom nobody waits who is known: they come first all the same. */
static void tell_dead(const struct job *job, struct text *text)
{
    int straight;
    for (int i = 0; i < job->n; i++) {
        const struct rs_seen *it = &job->seen[i];
        if (it->state != RS_SEEN_DEAD || !stands(job, i) || mark_waiters(job, i, &straight) > 0) continue;
        add(text, "PE %d is the one ", it->pe);
        add_deed(text, it);
        add(text, "; ");
    }
}

void rs_verdict(const struct rs_seen *seen, int n, unsigned char *marks, char *out, size_t nbytes)
{
    struct job job = {seen, n, marks};
    struct text text = {out, nbytes};
    if (nbytes) out[0] = '\0';
    if (n <= 0 || nbytes == 0) return;
    tell_dead(&job, &text);
    if (tell_cycle(&job, &text) || tell_sinks(&job, &text) || tell_unknown(&job, &text)) return;
    if (tell_words(&job, &text)) return;
    add(&text, "no PE waits in a call");
}
