/* SPDX-License-Identifier: MIT
 *
 * What a process holds, counted in /proc/self: a test looks before and after, and nothing may be left over.
 */
#ifndef TESTS_UNIT_ENTRIES_H
#define TESTS_UNIT_ENTRIES_H

#include <dirent.h>
#include <stdint.h>

#include "base/os.h"
#include "base/wait.h"

/* The number of entries of a directory, -1 when it can't be read. */
static inline int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) return -1;
    int n = 0;
    while (readdir(dir)) n++;
    closedir(dir);
    return n;
}

static inline int count_descriptors(void)
{
    return count_entries("/proc/self/fd");
}

/* The number of threads, once it has come down to `expected`, or what it still is after 10 s. pthread_join()
 * returns when the kernel has cleared the thread's id, which is before the thread leaves /proc. */
static inline int count_threads_settled(int expected)
{
    uint64_t deadline_ns = rs_os_now_ns() + 10000000000ull;
    int n;
    while ((n = count_entries("/proc/self/task")) > expected && rs_os_now_ns() < deadline_ns)
        rs_wait_sleep_ns(1000000);
    return n;
}

static inline int count_threads(void)
{
    return count_entries("/proc/self/task");
}

#endif
