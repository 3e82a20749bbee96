/* SPDX-License-Identifier: MIT
 *
 * A PE's connections during start-up. Covers src/bootstrap/link.c, as far as test_env.c does not.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/os.h"
#include "base/status.h"
#include "bootstrap/link.h"
#include "ports.h"

/* One try in some 5000 would be joined to itself. */
static void a_port_where_nobody_listens_refuses_each_time(void **state)
{
    (void)state;
    struct sockaddr_in to = loopback(free_port() + 1);
    for (int i = 0; i < 40000; i++) {
        int fd = rs_link_connect((struct sockaddr *)&to, sizeof(to), rs_os_now_ns() + 20000000000u);
        assert_int_equal(fd, RS_E_SYSTEM);
        assert_int_equal(errno, ECONNREFUSED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_where_nobody_listens_refuses_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
