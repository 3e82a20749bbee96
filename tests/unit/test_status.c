/* SPDX-License-Identifier: MIT
 *
 * The error slot and the log line.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/status.h"

static int clear(void **state)
{
    (void)state;
    rs_error_clear();
    rs_log_set_pe(-1);
    return rs_log_configure(NULL);
}

static void a_thread_without_failure_has_an_empty_slot(void **state)
{
    (void)state;
    assert_int_equal(rs_error_slot()->status, 0);
    assert_int_equal(rs_error_slot()->pe, -1);
    assert_string_equal(rs_error_slot()->text, "");
}

static void fail_returns_the_status_and_fills_the_slot(void **state)
{
    (void)state;
    errno = ENOENT;
    assert_int_equal(rs_fail(RS_E_LIMIT, "%d teams, at most %d", 5, 4), RS_E_LIMIT);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(rs_error_slot()->status, RS_E_LIMIT);
    assert_int_equal(rs_error_slot()->pe, -1);
    assert_string_equal(rs_error_slot()->text, "5 teams, at most 4");
    assert_int_equal(rs_fail_pe(RS_E_PEER, 3, "PE %d died", 3), RS_E_PEER);
    assert_int_equal(rs_error_slot()->pe, 3);
    rs_error_clear();
    a_thread_without_failure_has_an_empty_slot(state);
}

static void context_stands_before_the_message(void **state)
{
    (void)state;
    rs_fail_pe(RS_E_SYSTEM, 2, "disk full");
    assert_int_equal(rs_fail_context("window %d", 7), RS_E_SYSTEM);
    assert_string_equal(rs_error_slot()->text, "window 7: disk full");
    assert_int_equal(rs_error_slot()->pe, 2);
}

static void long_messages_are_cut_and_stay_one_line(void **state)
{
    (void)state;
    char text[3000];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    text[10] = '\n';
    rs_fail(RS_E_ARG, "%s", text);
    assert_int_equal(strlen(rs_error_slot()->text), sizeof(rs_error_slot()->text) - 1);
    assert_null(strchr(rs_error_slot()->text, '\n'));
    assert_int_equal(rs_fail_context("%s", text), RS_E_ARG);
    assert_int_equal(strlen(rs_error_slot()->text), sizeof(rs_error_slot()->text) - 1);
}

static void *other_thread(void *arg)
{
    *(rocshmemx_error_t **)arg = rs_error_slot();
    return (void *)(intptr_t)(rs_error_slot()->status == 0 && rs_fail(RS_E_BUG, "other") == RS_E_BUG);
}

static void threads_do_not_share_a_slot(void **state)
{
    (void)state;
    rs_fail(RS_E_ARG, "mine");
    for (int i = 0; i < 50;
         i++) { /* under the address sanitizer: the slots of ended threads are not leaked */
        pthread_t thread;
        void *ok;
        rocshmemx_error_t *slot;
        assert_int_equal(pthread_create(&thread, NULL, other_thread, &slot), 0);
        assert_int_equal(pthread_join(thread, &ok), 0);
        assert_non_null(ok);
        assert_ptr_not_equal(slot, rs_error_slot());
    }
    assert_string_equal(rs_error_slot()->text, "mine");
}

static void every_status_has_a_text(void **state)
{
    (void)state;
    for (int status = RS_E_CHECK; status <= 0; status++)
        assert_string_not_equal(rs_status_text(status), "unknown status");
    assert_string_equal(rs_status_text(RS_E_NOMEM), "out of memory");
    assert_string_equal(rs_status_text(1), "unknown status");
    assert_string_equal(rs_status_text(RS_E_CHECK - 1), "unknown status");
}

/* What rs_log_write sends to stderr, read back from a pipe. */
static void capture(int level, const char *text, char *out, size_t nbytes)
{
    int ends[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    close(ends[1]);
    rs_log(level, "%s", text);
    assert_true(dup2(saved, STDERR_FILENO) >= 0); /* the pipe's last writing end is gone */
    close(saved);
    ssize_t n = read(ends[0], out, nbytes - 1);
    assert_true(n >= 0);
    out[n] = '\0';
    close(ends[0]);
}

static void log_lines_have_host_pe_time_and_level(void **state)
{
    (void)state;
    char line[400], host[100], level[20];
    double seconds;
    int pe, end = 0;
    assert_int_equal(rs_log_configure("warn"), 0);
    rs_log_set_pe(12);
    capture(RS_LOG_WARN, "a\nb", line, sizeof(line));
    assert_int_equal(sscanf(line, "[%99[^:]:%d +%lfs] %19[a-z]: a b%n", host, &pe, &seconds, level, &end), 4);
    assert_string_equal(line + end, "\n");
    assert_int_equal(pe, 12);
    assert_string_equal(level, "warn");
}

static void lines_above_the_level_are_not_printed(void **state)
{
    (void)state;
    char line[400];
    capture(RS_LOG_WARN, "text", line, sizeof(line)); /* the default is ERROR */
    assert_string_equal(line, "");
    capture(RS_LOG_ERROR, "text", line, sizeof(line));
    assert_non_null(strstr(line, "error: text\n"));
    assert_int_equal(rs_log_configure("NONE"), 0);
    capture(RS_LOG_ERROR, "text", line, sizeof(line));
    assert_string_equal(line, "");
}

static void levels_are_upstreams_in_any_case_with_modifiers(void **state)
{
    (void)state;
    static const char *const names[] = {"NONE",      "Error",        "warn", "ENV",
                                        "version:x", "INFO:color:y", "api",  "TRACE"};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(rs_log_configure(names[i]), 0);
        assert_int_equal(rs_log_threshold, i);
    }
    assert_int_equal(rs_log_configure("LOUD"), RS_E_CONFIG);
    assert_non_null(strstr(rs_error_slot()->text, "LOUD"));
    assert_non_null(strstr(rs_error_slot()->text, "ROCSHMEM_DEBUG_LEVEL"));
    assert_int_equal(rs_log_threshold, RS_LOG_TRACE); /* as it was */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, clear)
    const struct CMUnitTest tests[] = {
        TEST(a_thread_without_failure_has_an_empty_slot),
        TEST(fail_returns_the_status_and_fills_the_slot),
        TEST(context_stands_before_the_message),
        TEST(long_messages_are_cut_and_stay_one_line),
        TEST(threads_do_not_share_a_slot),
        TEST(every_status_has_a_text),
        TEST(log_lines_have_host_pe_time_and_level),
        TEST(lines_above_the_level_are_not_printed),
        TEST(levels_are_upstreams_in_any_case_with_modifiers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
