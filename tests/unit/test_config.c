/* SPDX-License-Identifier: MIT
 *
 * The environment as a struct: parsers, defaults, errors, unknown names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/config.h"
#include "base/log.h"
#include "base/status.h"

extern char **environ;

static int clear_environment(void **state)
{
    (void)state;
    for (bool found = true; found;) { /* unsetenv moves the entries */
        found = false;
        for (char **entry = environ; *entry && !found; entry++) {
            char name[128];
            if (strncmp(*entry, "ROCSHMEM_", 9) != 0 && strncmp(*entry, "SHMEM_", 6) != 0 &&
                strncmp(*entry, "SMA_", 4) != 0)
                continue;
            snprintf(name, sizeof(name), "%.*s", (int)strcspn(*entry, "="), *entry);
            unsetenv(name);
            found = true;
        }
    }
    return 0;
}

struct number {
    const char *text;
    uint64_t value;
};

static void accept_all(enum rs_config_kind kind, const struct number *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = 0;
        if (rs_config_parse(kind, "ROCSHMEM_X", numbers[i].text, &value) < 0)
            fail_msg("%s", rs_error_slot()->text);
        if (value != numbers[i].value)
            fail_msg("\"%s\" gave %llu", numbers[i].text, (unsigned long long)value);
    }
}

static void refuse_all(enum rs_config_kind kind, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = 77;
        if (rs_config_parse(kind, "ROCSHMEM_X", texts[i], &value) != RS_E_CONFIG)
            fail_msg("\"%s\" was taken", texts[i]);
        assert_true(value == 77); /* outputs are written on success only */
        assert_non_null(strstr(rs_error_slot()->text, "ROCSHMEM_X"));
        assert_non_null(strstr(rs_error_slot()->text, texts[i]));
    }
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void sizes_have_suffixes_of_1024(void **state)
{
    (void)state;
    static const struct number good[] = {{"0", 0},
                                         {"4096", 4096},
                                         {"1k", 1024},
                                         {"2M", 2u << 20},
                                         {"3G", 3ull << 30},
                                         {"4t", 4ull << 40},
                                         {"5KiB", 5120},
                                         {"5kb", 5120},
                                         {"6 GB", 6ull << 30},
                                         {"7B", 7},
                                         {" 8M ", 8u << 20},
                                         {"18446744073709551615", UINT64_MAX},
                                         {"16777215T", 16777215ull << 40},
                                         {"1.5G", 3ull << 29},
                                         {"0.5k", 512},
                                         {".25M", 1u << 18},
                                         {"2.t", 2ull << 40},
                                         {"0.0000019T", 1099511},
                                         {"1.9", 1}};
    static const char *const bad[] = {
        "",          "G",  "-1", "1.5.5G", ".", ".G", "1,5G", "1X", "1 2", "0x10", "18446744073709551616",
        "16777216T", "1KK"};
    accept_all(RS_SIZE, good, COUNT(good));
    refuse_all(RS_SIZE, bad, COUNT(bad));
}

static void counts_are_plain_numbers(void **state)
{
    (void)state;
    static const struct number good[] = {{"0", 0}, {"12", 12}, {" 3 ", 3}};
    static const char *const bad[] = {"", "-1", "1K", "one", "99999999999999999999"};
    accept_all(RS_COUNT, good, COUNT(good));
    refuse_all(RS_COUNT, bad, COUNT(bad));
}

static void times_have_fractions_and_units(void **state)
{
    (void)state;
    static const struct number good[] = {{"0", 0},
                                         {"60", 60000000000u},
                                         {"0.5", 500000000},
                                         {".25", 250000000},
                                         {"2.", 2000000000},
                                         {"250ms", 250000000},
                                         {"3 S", 3000000000u},
                                         {"1.5m", 90000000000u},
                                         {"0.0000000019", 1},
                                         {"18446744073.709551615", UINT64_MAX}};
    static const char *const bad[] = {"",           ".", "-1", "1h", "1e3", "1,5", "18446744073.709551616",
                                      "400000000m", "s"};
    accept_all(RS_TIME, good, COUNT(good));
    refuse_all(RS_TIME, bad, COUNT(bad));
}

static void flags_are_words_in_any_case(void **state)
{
    (void)state;
    static const struct number good[] = {{"0", 0}, {"No", 0},  {"OFF", 0}, {"false", 0},
                                         {"1", 1}, {"yes", 1}, {"On", 1},  {"TRUE", 1}};
    static const char *const bad[] = {"", "2", "ja", "onn"};
    accept_all(RS_FLAG, good, COUNT(good));
    refuse_all(RS_FLAG, bad, COUNT(bad));
}

static void an_empty_environment_gives_the_defaults(void **state)
{
    (void)state;
    struct rs_config config;
    setenv("ROCSHMEM_TIMEOUT", "", 1); /* empty counts as unset */
    assert_int_equal(rs_config_read(&config), 0);
    assert_true(config.heap_nbytes == 1u << 30);
    assert_true(config.bootstrap_ns == 60000000000u);
    assert_true(config.timeout_ns == 0);
    assert_string_equal(config.device, "auto");
    assert_string_equal(config.socket_ifname, "");
    assert_int_equal(rs_log_threshold, RS_LOG_ERROR);
}

static void the_environment_is_read(void **state)
{
    (void)state;
    struct rs_config config;
    setenv("ROCSHMEM_HEAP_SIZE", "4G", 1);
    setenv("ROCSHMEM_DEVICE", "HOST", 1);
    setenv("ROCSHMEM_BACKEND", "IPC", 1);
    setenv("ROCSHMEM_BOOTSTRAP_TIMEOUT", "1.5", 1);
    setenv("ROCSHMEM_DEBUG_LEVEL", "none", 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_true(config.heap_nbytes == 4ull << 30);
    assert_true(config.bootstrap_ns == 1500000000u);
    assert_string_equal(config.backend, "IPC");
    assert_int_equal(rs_log_threshold, RS_LOG_NONE);
}

static void openshmems_names_count_where_ours_are_unset(void **state)
{
    (void)state;
    struct rs_config config;
    setenv("XT_SYMMETRIC_HEAP_SIZE", "16M", 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_true(config.heap_nbytes == 16u << 20);
    setenv("SHMEM_SYMMETRIC_HEAP_SIZE", "32M", 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_true(config.heap_nbytes == 32u << 20);
    setenv("SMA_SYMMETRIC_SIZE", "64M", 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_true(config.heap_nbytes == 64u << 20);
    setenv("SHMEM_SYMMETRIC_SIZE", "1.5g", 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_true(config.heap_nbytes == 3ull << 29);
    setenv("ROCSHMEM_HEAP_SIZE", "2G", 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_true(config.heap_nbytes == 2ull << 30);
    setenv("ROCSHMEM_HEAP_SIZE", "", 1); /* empty counts as unset here too */
    assert_int_equal(rs_config_read(&config), 0);
    assert_true(config.heap_nbytes == 3ull << 29);
}

static void a_bad_value_is_blamed_on_the_name_that_has_it(void **state)
{
    (void)state;
    struct rs_config config;
    setenv("SHMEM_SYMMETRIC_SIZE", "plenty", 1);
    assert_int_equal(rs_config_read(&config), RS_E_CONFIG);
    assert_non_null(strstr(rs_error_slot()->text, "SHMEM_SYMMETRIC_SIZE is \"plenty\""));
    assert_null(strstr(rs_error_slot()->text, "ROCSHMEM_HEAP_SIZE"));
}

static void shmem_debug_raises_the_level_where_none_is_given(void **state)
{
    (void)state;
    struct rs_config config;
    setenv("SHMEM_DEBUG", "no", 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_int_equal(rs_log_threshold, RS_LOG_ERROR);
    setenv("SHMEM_DEBUG", "please", 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_int_equal(rs_log_threshold, RS_LOG_INFO);
    setenv("ROCSHMEM_DEBUG_LEVEL", "WARN", 1);
    assert_int_equal(rs_config_read(&config), 0);
    assert_int_equal(rs_log_threshold, RS_LOG_WARN);
}

static void a_variable_is_on_unless_it_says_otherwise(void **state)
{
    (void)state;
    assert_true(rs_config_is_on("1") && rs_config_is_on("yes") && rs_config_is_on("anything"));
    assert_false(rs_config_is_on("") || rs_config_is_on("0") || rs_config_is_on("OFF") ||
                 rs_config_is_on(" no "));
}

static void expect_error(const char *variable, const char *value, const char *words)
{
    struct rs_config config = {.heap_nbytes = 5};
    setenv(variable, value, 1);
    assert_int_equal(rs_config_read(&config), RS_E_CONFIG);
    assert_non_null(strstr(rs_error_slot()->text, variable));
    assert_non_null(strstr(rs_error_slot()->text, value));
    assert_non_null(strstr(rs_error_slot()->text, words));
    assert_true(config.heap_nbytes == 5); /* nothing is written */
    unsetenv(variable);
}

static void bad_values_name_variable_value_and_form(void **state)
{
    (void)state;
    expect_error("ROCSHMEM_HEAP_SIZE", "lots", "K M G T");
    expect_error("ROCSHMEM_TIMEOUT", "soon", "seconds");
    expect_error("ROCSHMEM_MAX_NUM_TEAMS", "-4", "whole number");
    expect_error("ROCSHMEM_DEVICE", "tpu", "auto, host, cuda or hip");
    expect_error("ROCSHMEM_HEAP_SHARING", "nfs", "auto or ipc");
    expect_error("ROCSHMEM_BACKEND", "mpi", "ipc, ro or gda");
    expect_error("ROCSHMEM_BOOTSTRAP_SOCKET_FAMILY", "AF_UNIX", "AF_INET6");
    expect_error("ROCSHMEM_DEBUG_LEVEL", "9", "WARN");
}

/* Everything that rs_config_read logs. */
static void read_and_capture(char *out, size_t nbytes)
{
    struct rs_config config;
    FILE *file = tmpfile();
    assert_non_null(file);
    int saved = dup(STDERR_FILENO);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    int rc = rs_config_read(&config);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    assert_int_equal(rc, 0);
    rewind(file);
    out[fread(out, 1, nbytes - 1, file)] = '\0';
    fclose(file);
}

static void an_unknown_name_is_a_warning_with_the_nearest_one(void **state)
{
    (void)state;
    char text[4000];
    setenv("ROCSHMEM_DEBUG_LEVEL", "WARN", 1);
    setenv("ROCSHMEM_HEAPSIZE", "1G", 1);
    setenv("ROCSHMEM_COMPLETELY_OTHER", "1", 1);
    read_and_capture(text, sizeof(text));
    assert_non_null(strstr(
        text, "warn: ROCSHMEM_HEAPSIZE is no variable of this library; did you mean ROCSHMEM_HEAP_SIZE\n"));
    assert_non_null(strstr(text, "warn: ROCSHMEM_COMPLETELY_OTHER is no variable"));
    assert_null(strstr(text, "did you mean ROCSHMEM_DEBUG"));
    read_and_capture(text, sizeof(text));
    assert_string_equal(text, ""); /* once a process */
    setenv("ROCSHMEM_OTHER", "1", 1);
    read_and_capture(text, sizeof(text));
    assert_non_null(strstr(text, "ROCSHMEM_OTHER")); /* unless there is news */
}

static void upstreams_variables_are_accepted_with_an_info_line(void **state)
{
    (void)state;
    char text[4000];
    setenv("ROCSHMEM_SQ_SIZE", "whatever", 1);
    setenv("ROCSHMEM_DEBUG_LEVEL", "WARN", 1);
    read_and_capture(text, sizeof(text));
    assert_string_equal(text, "");
    setenv("ROCSHMEM_DEBUG_LEVEL", "INFO", 1);
    read_and_capture(text, sizeof(text));
    assert_non_null(strstr(text, "info: ROCSHMEM_SQ_SIZE is accepted and ignored"));
}

static void rows_describe_every_variable(void **state)
{
    (void)state;
    bool heap = false, timeout = false;
    for (int i = 0; i < rs_config_rows(); i++) {
        struct rs_config_row row;
        rs_config_row(i, &row);
        assert_true(strncmp(row.variable, "ROCSHMEM_", 9) == 0 || strncmp(row.variable, "SHMEM_", 6) == 0);
        assert_true(strlen(row.text) > 10);
        if (strcmp(row.variable, "ROCSHMEM_HEAP_SIZE") == 0) heap = strcmp(row.dflt, "1G") == 0;
        if (strcmp(row.variable, "ROCSHMEM_BOOTSTRAP_TIMEOUT") == 0) timeout = strcmp(row.dflt, "60") == 0;
        uint64_t value;
        if (row.kind != RS_TEXT)
            assert_int_equal(rs_config_parse(row.kind, row.variable, row.dflt, &value), 0);
    }
    assert_true(heap && timeout);
    const char *text;
    int n = 0;
    while (rs_config_foreign(n, &text)) n++;
    assert_true(n > 10);
    assert_null(rs_config_foreign(-1, &text));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, clear_environment)
    const struct CMUnitTest tests[] = {
        TEST(sizes_have_suffixes_of_1024),
        TEST(counts_are_plain_numbers),
        TEST(times_have_fractions_and_units),
        TEST(flags_are_words_in_any_case),
        TEST(an_empty_environment_gives_the_defaults),
        TEST(the_environment_is_read),
        TEST(openshmems_names_count_where_ours_are_unset),
        TEST(a_bad_value_is_blamed_on_the_name_that_has_it),
        TEST(shmem_debug_raises_the_level_where_none_is_given),
        TEST(a_variable_is_on_unless_it_says_otherwise),
        TEST(bad_values_name_variable_value_and_form),
        TEST(an_unknown_name_is_a_warning_with_the_nearest_one),
        TEST(upstreams_variables_are_accepted_with_an_info_line),
        TEST(rows_describe_every_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
