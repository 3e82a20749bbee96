/* SPDX-License-Identifier: MIT
 *
 * Slurm's node lists, of which the first host is wanted. Covers src/bootstrap/slurm.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bootstrap/launchers.h"

static void the_first_host_of_a_node_list(void **state)
{
    (void)state;
    static const char *const lists[][2] = {{"gpu[03-07,12],login1", "gpu03"},
                                           {"a", "a"},
                                           {"a,b", "a"},
                                           {"r[1-2]n[04,7]-ib", "r1n04-ib"},
                                           {"x.y.z", "x.y.z"},
                                           {"n[9]", "n9"},
                                           {"", NULL},
                                           {"n[", NULL},
                                           {"n[]", NULL},
                                           {",b", NULL},
                                           {"much-too-long-for-it", NULL}};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        char host[12] = "";
        bool found = rs_slurm_first_host(lists[i][0], host, sizeof(host));
        assert_int_equal(found, lists[i][1] != NULL);
        if (found) assert_string_equal(host, lists[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_host_of_a_node_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
