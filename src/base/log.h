/* SPDX-License-Identifier: MIT
 *
 * One sink for log lines: stderr, one write a line, "[host:pe +seconds] level: text". Nothing is printed
 * above the level of ROCSHMEM_DEBUG_LEVEL (default ERROR). Lower case, no full stop, a remedy in a warning;
 * never on a data path.
 */
#ifndef RS_BASE_LOG_H
#define RS_BASE_LOG_H

/* Upstream's levels, in upstream's order. */
enum rs_log_level {
    RS_LOG_NONE,
    RS_LOG_ERROR,
    RS_LOG_WARN,
    RS_LOG_ENV,
    RS_LOG_VERSION,
    RS_LOG_INFO,
    RS_LOG_API,
    RS_LOG_TRACE
};

extern int
    rs_log_threshold; /* written by rs_log_configure before other threads of ours exist; read anywhere */

/* "WARN", "INFO:color:..." (modifiers after a colon are accepted and ignored); NULL restores the default. 0
 * or CONFIG. */
int rs_log_configure(const char *level);
/* Which PE the lines begin with; -1 before init. */
void rs_log_set_pe(int pe);
void rs_log_write(enum rs_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

#define rs_log(level, ...)                                                                                   \
    do {                                                                                                     \
        if (__builtin_expect((level) <= rs_log_threshold, 0)) rs_log_write((level), __VA_ARGS__);            \
    } while (0)

#endif
