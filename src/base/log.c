/* SPDX-License-Identifier: MIT
 *
 * Log lines, "[host:pe +seconds] level: text" on stderr. A line is put together on the stack and leaves by
 * one write(2), so lines of several PEs on one terminal do not mix, and no lock is held that a fork or a
 * signal handler could find taken. Seconds count from the first rs_log_configure of the process.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"

static const char *const level_names[] = {"none", "error", "warn", "env", "version", "info", "api", "trace"};

int rs_log_threshold = RS_LOG_ERROR;
static atomic_int log_pe = -1;
static _Atomic uint64_t log_start_ns; /* 0 until the first line or rs_log_configure */

static uint64_t elapsed_ns(void)
{
    uint64_t now = rs_os_now_ns(), start = 0;
    if (atomic_compare_exchange_strong(&log_start_ns, &start, now)) return 0;
    return now - start;
}

int rs_log_configure(const char *level)
{
    (void)elapsed_ns(); /* starts the clock */
    if (!level || !*level) {
        rs_log_threshold = RS_LOG_ERROR;
        return 0;
    }
    size_t length = strcspn(level, ":");
    for (int i = 0; i < (int)(sizeof(level_names) / sizeof(level_names[0])); i++) {
        if (strlen(level_names[i]) == length && strncasecmp(level_names[i], level, length) == 0) {
            rs_log_threshold = i;
            return 0;
        }
    }
    return rs_fail(RS_E_CONFIG,
                   "ROCSHMEM_DEBUG_LEVEL is \"%s\"; use NONE, ERROR, WARN, ENV, VERSION, INFO, API or TRACE",
                   level);
}

void rs_log_set_pe(int pe)
{
    atomic_store_explicit(&log_pe, pe, memory_order_relaxed);
}

void rs_log_write(enum rs_log_level level, const char *format, ...)
{
    int saved_errno = errno;
    char line[1280], host[64], pe_text[16] = "-";
    rs_os_host_name(host, sizeof(host));
    int pe = atomic_load_explicit(&log_pe, memory_order_relaxed);
    if (pe >= 0) snprintf(pe_text, sizeof(pe_text), "%d", pe);
    uint64_t ms = elapsed_ns() / 1000000;
    int head = snprintf(line, sizeof(line), "[%s:%s +%llu.%03llus] %s: ", host, pe_text,
                        (unsigned long long)(ms / 1000), (unsigned long long)(ms % 1000), level_names[level]);
    va_list args;
    va_start(args, format);
    errno = saved_errno; /* for %m */
    int length = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, args);
    va_end(args);
    if (length < 0) line[head] = '\0';
    for (char *c = line + head; *c; c++)
        if (*c == '\n' || *c == '\r') *c = ' '; /* one line, whatever came */
    size_t nbytes = strlen(line);
    line[nbytes++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, nbytes); /* nobody to tell when stderr is gone */
    (void)written;
    errno = saved_errno;
}
