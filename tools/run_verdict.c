/* SPDX-License-Identifier: MIT
 *
 * Who is to blame. The first PE that exits with a status other than 0, or is killed by a signal, is named,
 * and its status becomes ours. A killed one is named at once. For an exit the message waits 100 ms: when all
 * PEs exit with the same status within that time nobody is the culprit (rocshmem_global_exit, a mistake in
 * the command that all of them find), and the line names no one as such. PEs that end because a signal was
 * passed on, because of
 * --timeout or of a rocshmem_global_exit that we were told of, are mentioned with --verbose only.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "run_verdict.h"

enum { HOLD_NS = 100000000, LISTED_MAX = 16 };

static bool has_failed(const struct run_pe *pe)
{
    return !pe->running && (pe->code != CLD_EXITED || pe->status != 0);
}

static int exit_status(const struct run_pe *pe)
{
    return pe->code == CLD_EXITED ? pe->status : 128 + pe->status;
}

void run_verdict_describe(const struct run_verdict *verdict, const struct run_pe *pe, char *text,
                          size_t nbytes)
{
    double seconds = (double)(pe->ended_ns - verdict->began_ns) * 1e-9;
    int digits = seconds < 0.1 ? 3 : 1;
    if (pe->code == CLD_EXITED)
        snprintf(text, nbytes, "exited with status %d after %.*f s", pe->status, digits, seconds);
    else
        snprintf(text, nbytes, "was killed by signal %d (%s%s) after %.*f s", pe->status,
                 strsignal(pe->status), pe->code == CLD_DUMPED ? ", core dumped" : "", digits, seconds);
}

void run_verdict_list(const struct run_verdict *verdict, char *text, size_t nbytes)
{
    int n = 0;
    size_t used = 0;
    for (int pe = 0; pe < verdict->options->n_pes; pe++) n += verdict->pes[pe].running;
    used += (size_t)snprintf(text, nbytes, n == 1 ? "PE" : "PEs");
    int left = LISTED_MAX;
    for (int pe = 0; pe < verdict->options->n_pes && left > 0 && used < nbytes; pe++) {
        if (!verdict->pes[pe].running) continue;
        used += (size_t)snprintf(text + used, nbytes - used, " %d", verdict->options->first_pe + pe);
        left--;
    }
    if (n > LISTED_MAX && used < nbytes) snprintf(text + used, nbytes - used, " … (%d in all)", n);
}

static int n_running(const struct run_verdict *verdict)
{
    int n = 0;
    for (int pe = 0; pe < verdict->options->n_pes; pe++) n += verdict->pes[pe].running;
    return n;
}

static void blame(struct run_verdict *verdict)
{
    const struct run_pe *pe = &verdict->pes[verdict->first];
    char how[160];
    verdict->held_until_ns = 0;
    if (verdict->options->quiet) return;
    run_verdict_describe(verdict, pe, how, sizeof(how));
    int others = n_running(verdict);
    run_output_say(verdict->output, "PE %d (pid %d) %s%s", verdict->options->first_pe + verdict->first,
                   (int)pe->pid, how,
                   others == 0   ? ""
                   : others == 1 ? "; ending the other PE"
                                 : "; ending the other PEs");
}

bool run_verdict_ended(struct run_verdict *verdict, int pe, bool expected)
{
    const struct run_pe *it = &verdict->pes[pe];
    if (verdict->options->verbose) {
        char how[160];
        run_verdict_describe(verdict, it, how, sizeof(how));
        run_output_say(verdict->output, "PE %d (pid %d) %s", verdict->options->first_pe + pe, (int)it->pid,
                       how);
    }
    if (verdict->is_fixed) return false;
    if (verdict->first >= 0) {
        const struct run_pe *first = &verdict->pes[verdict->first];
        if (verdict->held_until_ns != 0 && (it->code != first->code || it->status != first->status))
            blame(verdict);
        return false;
    }
    if (!has_failed(it)) return false;
    verdict->first = pe;
    verdict->status = exit_status(it);
    if (expected) return true;
    if (it->code == CLD_EXITED)
        verdict->held_until_ns = it->ended_ns + HOLD_NS;
    else
        blame(verdict);
    return true;
}

void run_verdict_fix(struct run_verdict *verdict, int status)
{
    if (verdict->is_fixed) return;
    verdict->is_fixed = true;
    verdict->status = status;
    verdict->held_until_ns = 0;
}

void run_verdict_tick(struct run_verdict *verdict, uint64_t now_ns)
{
    if (verdict->held_until_ns != 0 && now_ns >= verdict->held_until_ns) blame(verdict);
}

void run_verdict_end(struct run_verdict *verdict)
{
    if (verdict->held_until_ns == 0) return;
    const struct run_pe *first = &verdict->pes[verdict->first];
    int alike = 0, n = verdict->options->n_pes;
    for (int pe = 0; pe < n; pe++) alike += has_failed(&verdict->pes[pe]);
    if (n == 1 || alike < n) { /* some had ended well before */
        blame(verdict);
        return;
    }
    verdict->held_until_ns = 0;
    if (verdict->options->quiet) return;
    char how[160];
    run_verdict_describe(verdict, first, how, sizeof(how));
    run_output_say(verdict->output, "all %d PEs failed alike: PE %d (pid %d), the first, %s", n,
                   verdict->options->first_pe + verdict->first, (int)first->pid, how);
}
