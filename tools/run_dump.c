/* SPDX-License-Identifier: MIT
 *
 * Who can tell the state of a job. The runtime handles SIGUSR1 by printing what every PE of the host is
 * doing, and a signal of its own as well, which no program uses for itself: that is tried first. One process is asked, not
 * all. Without a handler the signal would kill, so /proc is asked first who has one; a stopped process would not answer,
 * and is likely what the others wait for.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_dump.h"

static bool answers(pid_t pid, int signal)
{
    char path[40], line[256], state = '?';
    unsigned long long caught = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, "State:\t", 7) == 0) state = line[7];
        if (strncmp(line, "SigCgt:\t", 8) == 0) caught = strtoull(line + 8, NULL, 16);
    }
    fclose(file);
    return strchr("RSD", state) && (caught >> (signal - 1) & 1);
}

static pid_t ask(const struct run_pe *pes, int n_pes, pid_t group, int signal)
{
    for (int pe = 0; pe < n_pes; pe++)
        if (pes[pe].running && answers(pes[pe].pid, signal) && kill(pes[pe].pid, signal) == 0)
            return pes[pe].pid;
    DIR *folder = opendir("/proc");
    if (!folder) return 0;
    pid_t asked = 0;
    for (struct dirent *entry = readdir(folder); entry && asked == 0; entry = readdir(folder)) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && getpgid(pid) == group && answers(pid, signal) && kill(pid, signal) == 0) asked = pid;
    }
    closedir(folder);
    return asked;
}

pid_t run_dump_ask(const struct run_pe *pes, int n_pes, pid_t group, bool any)
{
    pid_t asked = ask(pes, n_pes, group, SIGRTMIN + 7); /* as rs_gather_signal() in the runtime */
    return asked || !any ? asked : ask(pes, n_pes, group, SIGUSR1);
}
