/* SPDX-License-Identifier: MIT
 *
 * Adding up and printing. Called by any thread; the caller keeps the counters from going away (pgas/thread.c,
 * its lock).
 */
#include "observe/counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static uint64_t look(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

int rs_counters_init(struct rs_counters *counters, int n_pes)
{
    memset(counters, 0, sizeof *counters);
    counters->peers = calloc((size_t)n_pes, sizeof *counters->peers);
    if (!counters->peers) return rs_fail(RS_E_NOMEM, "no memory for the counters of %d PEs", n_pes);
    counters->n_pes = n_pes;
    return 0;
}

void rs_counters_fini(struct rs_counters *counters)
{
    free(counters->peers);
    memset(counters, 0, sizeof *counters);
}

void rs_counters_zero(struct rs_counters *counters)
{
    for (int i = 0; i < RS_CALL_COUNT; i++) __atomic_store_n(&counters->calls[i], 0, __ATOMIC_RELAXED);
    for (int pe = 0; pe < counters->n_pes; pe++) {
        uint64_t *words = (uint64_t *)&counters->peers[pe];
        for (size_t i = 0; i < sizeof *counters->peers / sizeof *words; i++)
            __atomic_store_n(&words[i], 0, __ATOMIC_RELAXED);
    }
}

void rs_counters_add(struct rs_counters *sum, const struct rs_counters *counters)
{
    for (int i = 0; i < RS_CALL_COUNT; i++) rs_count(&sum->calls[i], look(&counters->calls[i]));
    for (int pe = 0; pe < sum->n_pes && pe < counters->n_pes; pe++) {
        uint64_t *to = (uint64_t *)&sum->peers[pe];
        const uint64_t *from = (const uint64_t *)&counters->peers[pe];
        for (size_t i = 0; i < sizeof *sum->peers / sizeof *to; i++) rs_count(&to[i], look(&from[i]));
    }
}

void rs_counters_stats(const struct rs_counters *counters, int pe, rocshmemx_stats_t *stats_out)
{
    rocshmemx_stats_t s = {0};
    for (int i = pe < 0 ? 0 : pe; i < (pe < 0 ? counters->n_pes : pe + 1); i++) {
        const struct rs_peer_counters *p = &counters->peers[i];
        s.puts += look(&p->puts);
        s.put_nbytes += look(&p->put_nbytes);
        s.gets += look(&p->gets);
        s.get_nbytes += look(&p->get_nbytes);
        s.amos += look(&p->amos);
    }
    for (uint32_t i = 0; pe < 0 && i < RS_CALL_COUNT; i++) {
        if (rs_call_group(i) == RS_GROUP_WAIT) s.waits += look(&counters->calls[i]);
        if (rs_call_group(i) == RS_GROUP_COLLECTIVE) s.collectives += look(&counters->calls[i]);
    }
    *stats_out = s;
}

void rs_counters_print(const struct rs_counters *counters, int my_pe, int fd)
{
    dprintf(fd, "PE %d  %-44s %14s\n", my_pe, "call", "times");
    for (uint32_t i = 1; i < RS_CALL_COUNT; i++) {
        uint64_t times = look(&counters->calls[i]);
        if (times == 0) continue;
        char name[64];
        rs_call_name(RS_CALL_ANY(i), name, sizeof name); /* counted over all types */
        dprintf(fd, "PE %d  %-44s %14" PRIu64 "\n", my_pe, name, times);
    }
    dprintf(fd, "PE %d  %-8s %10s %16s %10s %16s %10s\n", my_pe, "to PE", "puts", "bytes put", "gets",
            "bytes got", "atomics");
    for (int pe = 0; pe < counters->n_pes; pe++) {
        rocshmemx_stats_t s;
        rs_counters_stats(counters, pe, &s);
        if (!s.puts && !s.gets && !s.amos) continue;
        dprintf(fd, "PE %d  %-8d %10" PRIu64 " %16" PRIu64 " %10" PRIu64 " %16" PRIu64 " %10" PRIu64 "\n",
                my_pe, pe, s.puts, s.put_nbytes, s.gets, s.get_nbytes, s.amos);
    }
}
