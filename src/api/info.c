/* SPDX-License-Identifier: MIT
 *
 * Facts about the job, its counters and its state.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "api/api.h"
#include "api/info_text.h"
#include "observe/dump.h"
#include "pgas/plan.h"

#ifndef RS_VERSION
#error "the build defines RS_VERSION"
#endif

const char *rocshmemx_version(void)
{
    return RS_VERSION;
}

void rocshmem_info_get_version(int *major, int *minor)
{
    if (major) *major = ROCSHMEM_MAJOR_VERSION;
    if (minor) *minor = ROCSHMEM_MINOR_VERSION;
}

void rocshmem_info_get_name(char *name)
{
    _Static_assert(sizeof(ROCSHMEM_VENDOR_STRING) <= ROCSHMEM_MAX_NAME_LEN, "callers have that much room");
    if (name) memcpy(name, ROCSHMEM_VENDOR_STRING, sizeof(ROCSHMEM_VENDOR_STRING));
}

void rocshmem_vendor_get_version_info(int *major, int *minor, int *patch)
{
    if (major) *major = ROCSHMEM_VENDOR_MAJOR_VERSION;
    if (minor) *minor = ROCSHMEM_VENDOR_MINOR_VERSION;
    if (patch) *patch = ROCSHMEM_VENDOR_PATCH_VERSION;
}

const char *rocshmemx_device_name(void)
{
    struct rs_job *job = atomic_load_explicit(&rs_job_current, memory_order_acquire);
    return job ? job->device.ops->name : "none";
}

int rocshmemx_device_ordinal(void)
{
    struct rs_job *job = atomic_load_explicit(&rs_job_current, memory_order_acquire);
    return job ? job->device.ordinal : -1;
}

/* The sum over the threads, in a struct of the caller's. */
static int sum_counters(struct rs_job *job, struct rs_counters *sum)
{
    RS_TRY(rs_counters_init(sum, job->n_pes));
    rs_threads_sum(job, sum);
    return 0;
}

void rocshmem_dump_stats(void)
{
    struct rs_counters sum;
    if ((!rs_thread_job(rs_self) && !rs_enter_slow()) || sum_counters(rs_thread_job(rs_self), &sum) < 0) {
        rs_raise(__func__);
        return;
    }
    fflush(stdout); /* what the program printed comes first */
    rs_counters_print(&sum, rs_thread_job(rs_self)->my_pe, STDOUT_FILENO);
    rs_counters_fini(&sum);
}

void rocshmem_reset_stats(void)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) {
        rs_raise(__func__);
        return;
    }
    rs_threads_zero(rs_thread_job(rs_self));
}

int rocshmemx_get_stats(int pe, rocshmemx_stats_t *stats_out)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return rs_return(__func__);
    struct rs_job *job = rs_thread_job(rs_self);
    struct rs_counters sum;
    int rc = 0;
    if (pe < -1 || pe >= job->n_pes)
        rc = rs_fail_pe(RS_E_ARG, pe, "pe %d is out of range; it must be from -1 (all) to %d", pe,
                        job->n_pes - 1);
    else if (!stats_out)
        rc = rs_fail(RS_E_ARG, "stats_out is NULL");
    if (rc == 0) rc = sum_counters(job, &sum);
    if (rc < 0) return rs_return(__func__);
    rs_counters_stats(&sum, pe, stats_out);
    rs_counters_fini(&sum);
    return 0;
}

int rocshmemx_dump_state(int fd)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return rs_return(__func__);
    if (fcntl(fd, F_GETFD) < 0) {
        rs_fail(RS_E_ARG, "fd is %d, no open file descriptor", fd);
        return rs_return(__func__);
    }
    rs_job_locate(rs_self);
    rs_dump_state(&rs_thread_job(rs_self)->board, fd, RS_PAGE_ASKED);
    return 0;
}

int rocshmemx_print_info(int fd, const char *what)
{
    struct rs_config config;
    bool all = !what || strcmp(what, "all") == 0;
    int rc = rs_config_read(&config);
    if (rc == 0) rc = rs_info_print(fd, what, &config);
    if (rc == 0 && all) rs_plan_print(fd);
    return rc == 0 ? 0 : rs_return(__func__);
}
