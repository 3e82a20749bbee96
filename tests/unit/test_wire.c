/* SPDX-License-Identifier: MIT
 *
 * The parts of the rendezvous that need no connection: the keyed hash, lists of ranks, lists of interfaces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bootstrap/address.h"
#include "bootstrap/siphash.h"
#include "bootstrap/wire.h"

static void siphash_gives_the_published_value(void **state)
{
    (void)state;
    uint8_t key[16], text[15];
    for (int i = 0; i < 16; i++) key[i] = (uint8_t)i;
    for (int i = 0; i < 15; i++) text[i] = (uint8_t)i;
    assert_true(rs_siphash(key, text, sizeof(text)) ==
                0xa129ca6149be45e5u); /* the example of the paper's appendix */
}

static void long_lists_of_ranks_are_ranges(void **state)
{
    (void)state;
    char text[80];
    bool has[2000] = {false};
    has[0] = has[1] = has[3] = has[4] = has[6] = true;
    assert_int_equal(rs_wire_ranks_text(text, sizeof(text), has, false, 8), 3);
    assert_string_equal(text, "2 5 7 of 8");
    assert_int_equal(rs_wire_ranks_text(text, sizeof(text), has, false, 2000), 1995);
    assert_string_equal(text, "2 5 7-1999 of 2000");
    for (int i = 0; i < 2000; i++) has[i] = i % 2;
    assert_int_equal(rs_wire_ranks_text(text, sizeof(text), has, false, 2000), 1000);
    assert_non_null(strstr(text, "0 2 4 6"));
    assert_non_null(strstr(text, "and more of 2000"));
}

static void interface_lists_are_prefixes_exact_or_excluding(void **state)
{
    (void)state;
    assert_true(rs_address_allows("eth,ib", "eth0"));
    assert_true(rs_address_allows("eth,ib", "ib3"));
    assert_false(rs_address_allows("eth,ib", "lo"));
    assert_false(rs_address_allows("=eth", "eth0"));
    assert_true(rs_address_allows("=eth0", "eth0"));
    assert_false(rs_address_allows("^docker,lo", "docker0"));
    assert_true(rs_address_allows("^docker,lo", "eth0"));
    assert_true(rs_address_allows("^=lo", "lo1"));
}

static void durations_are_short(void **state)
{
    (void)state;
    char text[32];
    rs_wire_seconds_text(text, sizeof(text), 60000000000u);
    assert_string_equal(text, "60 s");
    rs_wire_seconds_text(text, sizeof(text), 1250000000u);
    assert_string_equal(text, "1.250 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_gives_the_published_value),
        cmocka_unit_test(long_lists_of_ranks_are_ranges),
        cmocka_unit_test(interface_lists_are_prefixes_exact_or_excluding),
        cmocka_unit_test(durations_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
