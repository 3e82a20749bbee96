/* SPDX-License-Identifier: MIT
 *
 * This program's own variables move into shared memory and back, values and addresses unchanged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os.h"
#include "base/status.h"
#include "pgas/static_data.h"

enum { BIG = 4 << 20, TOUCHED = BIG / 2 };

static int initialised[1000] = {1, 2, 3};
static unsigned char big[BIG]; /* .bss: most of it is never touched */
static long word;

/* The compiler must not know that nobody in sight writes these. */
#define READ(x) (*(volatile __typeof__(x) *)&(x))

static struct rs_static_data shared_data(int fd, int my_local)
{
    struct rs_static_data data;
    assert_int_equal(rs_static_data_find(&data), 0);
    assert_int_equal(rs_static_data_share(&data, fd, 2, my_local), 0);
    return data;
}

static int file_for_two(void)
{
    struct rs_static_data data;
    assert_int_equal(rs_static_data_find(&data), 0);
    int fd = rs_os_memfd("static-data-test", 2 * data.nbytes);
    assert_true(fd >= 0);
    return fd;
}

static void all_kinds_of_variables_are_found(void **state)
{
    (void)state;
    struct rs_static_data data;
    static int local;
    int on_the_stack;
    assert_int_equal(rs_static_data_find(&data), 0);
    assert_true(rs_static_data_contains(&data, initialised));
    assert_true(rs_static_data_contains(&data, big));
    assert_true(rs_static_data_contains(&data, big + BIG - 1));
    assert_true(rs_static_data_contains(&data, &local));
    assert_false(rs_static_data_contains(&data, &on_the_stack));
    assert_false(rs_static_data_contains(&data, (const void *)(data.base - 1)));
    assert_false(rs_static_data_contains(&data, (const void *)(data.base + data.nbytes)));
    assert_int_equal(data.base % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
    assert_string_equal(rs_static_data_object(initialised), "");
    assert_non_null(
        strstr(rs_static_data_object((const void *)(uintptr_t)_cmocka_run_group_tests), "cmocka"));
    assert_null(rs_static_data_object(&on_the_stack));
}

static void values_stay_and_peers_see_each_other(void **state)
{
    (void)state;
    int fd = file_for_two();
    word = 41;
    big[TOUCHED] = 7;
    struct rs_static_data data = shared_data(fd, 1);
    assert_int_equal(READ(initialised[1]), 2);
    assert_int_equal(READ(word), 41);
    assert_int_equal(READ(big[TOUCHED]), 7);
    assert_int_equal(READ(big[BIG - 1]), 0);
    assert_int_equal(rs_static_data_shift(&data, 1, 1), 0);
    /* what PE 0 does to our variables, it does to its view of our copy */
    unsigned char *ours = data.view + data.nbytes;
    long *seen = (long *)(void *)(ours + ((uintptr_t)&word - data.base));
    assert_int_equal(*seen, 41);
    *seen = 42;
    assert_int_equal(READ(word), 42);
    ours[(uintptr_t)&big[BIG - 1] - data.base] = 9; /* on a page that this process never touched */
    /* PE 0's copy of a variable */
    long *theirs = (long *)(void *)((char *)&word + rs_static_data_shift(&data, 0, 1));
    assert_ptr_equal(theirs, data.view + ((uintptr_t)&word - data.base));
    rs_static_data_unshare(&data);
    assert_int_equal(READ(word), 42);
    assert_int_equal(READ(big[BIG - 1]), 9);
    assert_int_equal(READ(big[TOUCHED]), 7);
    assert_null(data.view);
    rs_static_data_unshare(&data); /* again does nothing */
    word = 43;
    struct rs_static_data again = shared_data(fd, 0);
    assert_int_equal(READ(word), 43);
    rs_static_data_unshare(&again);
    close(fd);
}

static void untouched_pages_take_no_memory(void **state)
{
    (void)state;
    int fd = file_for_two();
    static unsigned char huge[256 << 20];
    huge[100 << 20] = 1;
    struct rs_static_data data = shared_data(fd, 0);
    struct stat facts;
    assert_int_equal(fstat(fd, &facts), 0);
    assert_true((size_t)facts.st_blocks * 512 < (size_t)64 << 20);
    assert_int_equal(READ(huge[100 << 20]), 1);
    rs_static_data_unshare(&data);
    close(fd);
}

static void a_forked_child_has_variables_of_its_own(void **state)
{
    (void)state;
    int fd = file_for_two();
    word = 1;
    struct rs_static_data data = shared_data(fd, 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int as_before = READ(word) == 1 && READ(initialised[2]) == 3;
        word = 2;
        _exit(as_before ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(READ(word), 1);
    rs_static_data_unshare(&data);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_of_variables_are_found),
        cmocka_unit_test(values_stay_and_peers_see_each_other),
        cmocka_unit_test(untouched_pages_take_no_memory),
        cmocka_unit_test(a_forked_child_has_variables_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
