/* SPDX-License-Identifier: MIT
 *
 * Numbers the hosts of a job. The ids of hosts that were seen are kept sorted by a small open hash, so that a job of
 * many hosts is numbered in one pass over its PEs.
 */
#include "pgas/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

struct seen {
    uint64_t id;
    int host; /* -1: free */
};

static uint64_t id_of(const uint64_t *ids, size_t stride, int pe)
{
    uint64_t id;
    memcpy(&id, (const char *)ids + (size_t)pe * stride, sizeof id);
    return id;
}

/* The host with this id; where it is new, the next number. */
static int number(struct seen *table, size_t mask, uint64_t id, int *n)
{
    size_t at = (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & mask;
    while (table[at].host >= 0 && table[at].id != id) at = (at + 1) & mask;
    if (table[at].host < 0) table[at] = (struct seen){id, (*n)++};
    return table[at].host;
}

int rs_hosts_find(struct rs_hosts *hosts, const uint64_t *ids, size_t stride, int n_pes, int my_pe)
{
    size_t room = 16;
    while (room < 2 * (size_t)n_pes) room *= 2;
    struct seen *table = malloc(room * sizeof *table);
    int *sizes = calloc((size_t)n_pes, sizeof *sizes); /* by host */
    memset(hosts, 0, sizeof *hosts);
    hosts->where = calloc((size_t)n_pes, sizeof *hosts->where);
    hosts->first = calloc((size_t)n_pes, sizeof *hosts->first);
    if (!table || !sizes || !hosts->where || !hosts->first) {
        free(table);
        free(sizes);
        rs_hosts_free(hosts);
        return rs_fail(RS_E_NOMEM, "no memory for the hosts of %d PEs", n_pes);
    }
    for (size_t i = 0; i < room; i++) table[i].host = -1;
    for (int pe = 0; pe < n_pes; pe++) {
        int host = number(table, room - 1, id_of(ids, stride, pe), &hosts->n);
        if (sizes[host] == 0) hosts->first[host] = pe;
        hosts->where[pe] = (struct rs_where){host, sizes[host]++};
        if (sizes[host] > hosts->n_most) hosts->n_most = sizes[host];
    }
    hosts->mine = hosts->where[my_pe].host;
    hosts->near = malloc((size_t)sizes[hosts->mine] * sizeof *hosts->near);
    for (int pe = 0; hosts->near && pe < n_pes; pe++)
        if (hosts->where[pe].host == hosts->mine) hosts->near[hosts->n_near++] = pe;
    free(table);
    free(sizes);
    if (hosts->near) return 0;
    rs_hosts_free(hosts);
    return rs_fail(RS_E_NOMEM, "no memory for the PEs of this host");
}

int rs_hosts_name(struct rs_hosts *hosts, const char *texts, size_t stride)
{
    hosts->names = malloc((size_t)hosts->n * sizeof *hosts->names);
    if (!hosts->names) return rs_fail(RS_E_NOMEM, "no memory for the names of %d hosts", hosts->n);
    for (int host = 0; host < hosts->n; host++) {
        const char *text = texts + (size_t)hosts->first[host] * stride;
        size_t nbytes = strnlen(text, RS_HOST_NAME - 1);
        memcpy(hosts->names[host], text, nbytes);
        hosts->names[host][nbytes] = '\0';
    }
    return 0;
}

void rs_hosts_free(struct rs_hosts *hosts)
{
    free(hosts->names);
    free(hosts->where);
    free(hosts->first);
    free(hosts->near);
    memset(hosts, 0, sizeof *hosts);
}
