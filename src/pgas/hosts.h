/* SPDX-License-Identifier: MIT
 *
 * Which PE is on which host. Hosts are numbered in the order of their first PEs, and the PEs of a host in the order of
 * their own numbers; all PEs work it out alike from what init's first exchange tells.
 */
#ifndef RS_PGAS_HOSTS_H
#define RS_PGAS_HOSTS_H

#include <stddef.h>
#include <stdint.h>

#define RS_HOST_NAME 40

struct rs_where {
    int32_t host, local;
};
struct rs_hosts { /* constant after init */
    int n, mine;
    int n_most;             /* PEs of the host that has most */
    struct rs_where *where; /* owned, by PE */
    int *first;             /* owned, by host: its first PE */
    int *near;              /* owned: the PEs of this host */
    int n_near;
    char (*names)[RS_HOST_NAME]; /* owned, by host: for messages; NULL: they were not told */
};

/* ids: what each PE says of its host, stride bytes apart; equal ones share memory. NOMEM. */
int rs_hosts_find(struct rs_hosts *hosts, const uint64_t *ids, size_t stride, int n_pes, int my_pe);
/* texts: what each PE calls its host, RS_HOST_NAME bytes, stride apart. NOMEM. */
int rs_hosts_name(struct rs_hosts *hosts, const char *texts, size_t stride);
void rs_hosts_free(struct rs_hosts *hosts); /* zeroed is fine */

#endif
