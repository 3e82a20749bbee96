/* SPDX-License-Identifier: MIT
 *
 * See checked.h. The shared part is made by the host's first PE before any other has its descriptor, so all find it
 * ready.
 */
#include "pgas/checked.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/os.h"
#include "observe/check.h"

size_t rs_checked_nbytes(const struct rs_job *job)
{
    return rs_config_is_on(job->config.check) ? rs_race_nbytes(job->n_local) : 0;
}

int rs_checked_make(const struct rs_job *job, int fd, size_t at)
{
    void *memory;
    size_t nbytes = rs_checked_nbytes(job);
    if (!nbytes) return 0;
    RS_TRY(rs_os_map_shared(fd, at + nbytes, &memory));
    int rc = rs_race_init((struct rs_race *)(void *)((char *)memory + at), job->n_local);
    rs_os_unmap(memory, at + nbytes);
    return rc;
}

bool rs_checked_warns(const struct rs_job *job)
{
    return strcasecmp(job->config.check, "warn") == 0;
}

/* ---- what the observer asks ---- */

static int local_of(void *arg, int pe)
{
    return rs_job_local(arg, pe);
}

static int world_of(void *arg, int local)
{
    return ((struct rs_job *)arg)->hosts.near[local];
}

/* The innermost frame that is not this library's. */
static void name_caller(char out[RS_SEEN_WHERE])
{
    void *frames[24];
    Dl_info mine, info;
    int n = backtrace(frames, 24);
    out[0] = '\0';
    if (!dladdr((void *)(uintptr_t)name_caller, &mine)) return;
    for (int i = 0; i < n; i++) {
        if (!dladdr(frames[i], &info) || !info.dli_fname || info.dli_fbase == mine.dli_fbase) continue;
        const char *slash = strrchr(info.dli_fname, '/'), *file = slash ? slash + 1 : info.dli_fname;
        if (info.dli_sname)
            snprintf(out, RS_SEEN_WHERE, "%s+0x%zx (%s)", info.dli_sname,
                     (size_t)((char *)frames[i] - (char *)info.dli_saddr), file);
        else
            snprintf(out, RS_SEEN_WHERE, "%s+0x%zx", file,
                     (size_t)((char *)frames[i] - (char *)info.dli_fbase));
        return;
    }
}

static void where(char out[RS_SEEN_WHERE])
{
    rs_job_ask(out);
    if (!out[0]) name_caller(out);
}

static void place(void *arg, const void *p, char *out, size_t nbytes)
{
    rs_heap_place(&((struct rs_job *)arg)->heap, p, out, nbytes);
}

/* ---- life ---- */

int rs_checked_start(struct rs_job *job, int fd, size_t at)
{
    struct rs_prober prober;
    size_t nbytes = rs_checked_nbytes(job);
    if (!nbytes) return 0;
    RS_TRY(rs_os_map_shared(fd, at + nbytes, &job->check_memory));
    struct rs_check_of of = {.race = (struct rs_race *)(void *)((char *)job->check_memory + at),
                             .my_pe = job->my_pe,
                             .n_pes = job->n_pes,
                             .warn = rs_checked_warns(job),
                             .far = job->hosts.n > 1,
                             .base = job->heap.base,
                             .nbytes = job->heap.nbytes,
                             .data_base = job->data.base,
                             .data_nbytes = job->data.nbytes,
                             .local_of = local_of,
                             .world_of = world_of,
                             .where = where,
                             .place = place,
                             .arg = job};
    RS_TRY(rs_check_create(&job->check, &of, &prober));
    rs_probe_add(&job->probe, &prober);
    return job->device.ops->cpu_reaches_heap ? rs_guards_begin(&job->heap) : 0;
}

void rs_checked_stop(struct rs_job *job)
{
    rs_check_destroy(job->check);
    job->check = NULL;
    if (job->check_memory)
        rs_os_unmap(job->check_memory,
                    rs_board_nbytes(job->n_local, (int)job->config.max_teams) + rs_race_nbytes(job->n_local));
    job->check_memory = NULL;
}

/* ---- guards ---- */

void rs_checked_fresh(struct rs_job *job, const void *ptr, uint32_t call, bool poison)
{
    if (!job->heap.guards.kept) return;
    struct rs_guard guard = {.made_by = call, .made_number = job->world->sequence - job->world->base};
    where(guard.made_at);
    rs_guards_fill(&job->heap, ptr, &guard, poison);
}

void rs_checked_freed(struct rs_job *job, const void *ptr)
{
    char at[RS_SEEN_WHERE];
    if (!job->heap.guards.kept) return;
    where(at);
    rs_guards_freed(&job->heap, ptr, job->world->sequence - job->world->base + 1, at);
}

int rs_checked_guards(struct rs_job *job)
{
    char text[640];
    if (!job->heap.guards.kept || !rs_guards_look(&job->heap, text, sizeof text)) return 0;
    return rs_check_alarm(rs_checked_warns(job), text);
}
