/* SPDX-License-Identifier: MIT
 *
 * rocshmem-run over several hosts: on each host an agent, which is rocshmem-run again, starts that host's PEs. The
 * launcher starts the agents by ssh, and is to them what a terminal would be: all they need comes over their standard
 * input, the unique id's secret with it, so it is in no command line and in no environment; and so does what PE 0 reads
 * from its own. The launcher treats an agent as it treats a PE.
 */
#ifndef ROCSHMEM_RUN_HOSTS_H
#define ROCSHMEM_RUN_HOSTS_H

#include <poll.h>

#include <rocshmem/rocshmem.h>

#include "run_options.h"
#include "run_output.h"

struct run_host {
    char *name; /* owned */
    int slots;  /* 0: not said */
    int first_pe, n_pes;
    char *argv[40]; /* ssh's words; the last ones are name and command */
    int control[2]; /* the agent's standard input, and our end of it; -1: none */
};

struct run_hosts {
    struct run_host *list; /* owned; as many as PEs were to be counted for the launcher: n */
    int n;
    char *words, *command;  /* owned: ssh's command, cut at spaces; the agent's */
    unsigned char *input;   /* owned: a piece of our standard input that its pipe has no room for */
    int n_input;            /* bytes of it; 0: none */
    bool reads;             /* our standard input has not ended, or not begun to be read */
    unsigned char late[16]; /* signals for host 0 that its pipe has no room for */
    int n_late;
    struct run_options options; /* as the user gave them: what the agents are told */
};

/* Read --hosts and --hostfile, share the PEs out; options becomes that of a launcher of agents. -1: go on, also
 * where there are no hosts; else the status to exit with, and the mistake was printed. */
int run_hosts_prepare(struct run_hosts *hosts, struct run_options *options);
/* Before and after host i's agent is started: its standard input. 0, or -1 with errno. */
int run_hosts_open(struct run_hosts *hosts, int i);
void run_hosts_opened(struct run_hosts *hosts, int i);
/* All that the agent has to know. 0, or -1 with errno (its ssh has ended, say). */
int run_hosts_tell(struct run_hosts *hosts, int i, const rocshmem_uniqueid_t *uid);
/* Have all agents pass a signal on. SIGKILL: they end with all that they started. */
void run_hosts_signal(struct run_hosts *hosts, int signal);
/* Our standard input, which is PE 0's, on its way to host 0: what to wait for (fd -1: nothing), and what to do then. */
struct pollfd run_hosts_poll(const struct run_hosts *hosts);
void run_hosts_serve(struct run_hosts *hosts, const struct pollfd *ready);
/* An agent has ended (status -1: killed): say what an agent itself could not. */
void run_hosts_ended(const struct run_hosts *hosts, int i, int status, const char *how,
                     struct run_output *output);
void run_hosts_close(struct run_hosts *hosts);

/* ---- in the agent ---- */

/* Read what the launcher tells. -1: go on; else the status to exit with. */
int run_agent_hear(struct run_options *options, rocshmem_uniqueid_t *uid_out);
/* A PE's standard input, before it is started: PE 0's comes from the launcher. -1: none. */
int run_agent_input(int pe);
/* From here on signals and PE 0's input come over standard input, and its end is ours. After the guardian was started. 0, or -1. */
int run_agent_listen(void);

#endif
