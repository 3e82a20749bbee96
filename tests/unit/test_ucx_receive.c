/* SPDX-License-Identifier: MIT
 *
 * Rubbish on the wire: whatever comes, nothing outside this PE's memory is read or written, nothing crashes, and somebody is
 * told: the sender is lost with the reason, or, where it is not known who sent it, the message is dropped and named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/status.h"
#include "pes.h"
#include "transport/transport.h"
#include "transport/ucx/engine.h"

enum { PAGE = 4096, WINDOW = 4 * PAGE, EDGE = 64, ME = 1, N_PES = 4, SENDER = 2 };
#define ALL_WORDS UINT64_MAX

static struct {
    struct rs_network network;
    struct rs_network_host host;
    struct rs_device device;
    unsigned char *window; /* behind it, and before it, memory that nobody may touch */
    unsigned char copy[WINDOW];
    int n_lost, n_logged, n_received;
    int lost_pe;
    char lost_why[200], logged[400];
} pe;

static int word_it(int status, int about, const char *format, ...)
{
    (void)about, (void)format;
    return status;
}
static void write_log(int level, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(pe.logged, sizeof pe.logged, format, list);
    va_end(list);
    assert_int_equal(level, RS_LOG_WARN);
    pe.n_logged++;
}
static void receive(const struct rs_network_host *host, int from, const void *head, size_t head_nbytes,
                    const void *body, size_t body_nbytes)
{
    static volatile unsigned char sum; /* all of it can be read */
    (void)host;
    assert_in_range(from, 0, N_PES - 1);
    assert_true(head_nbytes <= RS_NETWORK_HEAD_NBYTES);
    for (size_t i = 0; i < head_nbytes; i++) sum ^= ((const unsigned char *)head)[i];
    for (size_t i = 0; i < body_nbytes; i++) sum ^= ((const unsigned char *)body)[i];
    (void)sum;
    pe.n_received++;
}
static void lost(const struct rs_network_host *host, int other, const char *why)
{
    (void)host;
    pe.n_lost++;
    pe.lost_pe = other;
    snprintf(pe.lost_why, sizeof pe.lost_why, "%s", why);
}

static void drop_replies(void)
{
    for (struct rs_reply *reply = pe.network.replies, *next; reply; reply = next) {
        next = reply->next;
        free(reply);
    }
    pe.network.replies = NULL;
    pe.network.replies_end = &pe.network.replies;
}

static int close_pe(void **state)
{
    (void)state;
    drop_replies();
    for (struct rs_peer *peer = pe.network.first, *next; peer; peer = next) {
        next = peer->next;
        free(peer->parts);
        free(peer);
    }
    free(pe.network.peers);
    free(pe.network.pending);
    munmap(pe.window - PAGE, WINDOW + 2 * PAGE);
    return 0;
}

static int open_pe(void **state)
{
    (void)state;
    memset(&pe, 0, sizeof pe);
    unsigned char *all = mmap(NULL, WINDOW + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(all, MAP_FAILED);
    pe.window = all + PAGE;
    assert_int_equal(mprotect(pe.window, WINDOW, PROT_READ | PROT_WRITE), 0);
    for (size_t i = 0; i < WINDOW; i++) pe.window[i] = (unsigned char)(i * 7);
    memcpy(pe.copy, pe.window, WINDOW);
    pe.device.ops = &rs_device_host;
    pe.host = (struct rs_network_host){.my_pe = ME,
                                       .n_pes = N_PES,
                                       .device = &pe.device,
                                       .fail = word_it,
                                       .log = write_log,
                                       .receive = receive,
                                       .lost = lost};
    pe.network.host = &pe.host;
    pe.network.replies_end = &pe.network.replies;
    pe.network.peers = calloc(N_PES, sizeof(struct rs_peer *));
    assert_non_null(pe.network.peers);
    /* The region ends before its memory does: what is beyond can be compared, and what is far beyond ends the test. */
    pe.network.regions[RS_REGION_WINDOW] =
        (struct rs_region){.base = (uintptr_t)pe.window + EDGE, .nbytes = WINDOW - 2 * EDGE, .cpu = true};
    return 0;
}

static struct rs_region *region(void)
{
    return &pe.network.regions[RS_REGION_WINDOW];
}

/* As it comes from UCX, in memory of exactly its size. */
static void come(const void *head, size_t head_nbytes, const void *bytes, size_t nbytes, uint64_t attributes)
{
    ucp_am_recv_param_t param = {.recv_attr = attributes};
    unsigned char *own_head = malloc(head_nbytes ? head_nbytes : 1), *own = nbytes ? malloc(nbytes) : NULL;
    assert_non_null(own_head);
    if (head_nbytes) memcpy(own_head, head, head_nbytes);
    if (nbytes) memcpy(own, bytes, nbytes);
    assert_int_equal(rs_engine_receive(&pe.network, own_head, head_nbytes, own, nbytes, &param), UCS_OK);
    free(own_head);
    free(own);
}

static uint32_t next_number(int from)
{
    return pe.network.peers[from] ? pe.network.peers[from]->come : 0;
}

/* A message as a peer makes it, but for what is wrong with it. */
static void say(struct rs_wire wire, const void *bytes, size_t nbytes)
{
    unsigned char head[sizeof wire + 255] = {0};
    wire.from = SENDER;
    wire.number = next_number(SENDER);
    memcpy(head, &wire, sizeof wire);
    come(head, sizeof wire + wire.head_nbytes, bytes, nbytes, 0);
}

static void unchanged(void)
{
    assert_memory_equal(pe.window, pe.copy, WINDOW);
}

/* The sender is lost, in these words, and nothing happened. */
static void refused(const char *words)
{
    if (pe.n_lost != 1 || !strstr(pe.lost_why, words))
        fail_msg("%d lost: \"%s\" does not say \"%s\"", pe.n_lost, pe.lost_why, words);
    assert_int_equal(pe.lost_pe, SENDER);
    assert_null(pe.network.replies);
    assert_int_equal(pe.n_received, 0);
    unchanged();
    close_pe(NULL);
    open_pe(NULL);
}

static void dropped(int times)
{
    assert_int_equal(pe.n_lost, 0);
    assert_int_equal(pe.n_logged, times ? 1 : 0); /* once is enough */
    assert_int_equal(pe.n_received, 0);
    if (times) assert_non_null(strstr(pe.logged, "dropped"));
    unchanged();
}

/* ---- the tests ---- */

static void what_is_right_is_taken(void **state)
{
    (void)state;
    say((struct rs_wire){.op = RS_WIRE_PUT, .offset = 8}, "12345678", 8);
    assert_memory_equal(pe.window + EDGE + 8, "12345678", 8);
    say((struct rs_wire){.op = RS_WIRE_PUT, .offset = region()->nbytes - 3}, "abc", 3);
    assert_memory_equal(pe.window + WINDOW - EDGE - 3, "abc", 3);
    say((struct rs_wire){.op = RS_WIRE_GET, .offset = 0, .nbytes = region()->nbytes}, NULL, 0);
    assert_non_null(pe.network.replies);
    say((struct rs_wire){.op = RS_WIRE_MESSAGE, .head_nbytes = RS_NETWORK_HEAD_NBYTES}, "body", 4);
    assert_int_equal(pe.n_received, 1);
    assert_int_equal(pe.n_lost + pe.n_logged, 0);
}

static void heads_that_are_cut_short_are_dropped_and_named(void **state)
{
    (void)state;
    struct rs_wire wire = {.op = RS_WIRE_PUT, .from = SENDER};
    for (size_t n = 0; n < sizeof wire; n++) come(&wire, n, "12345678", 8, 0);
    dropped((int)sizeof wire);
    assert_int_equal(next_number(SENDER), 0);
}

static void heads_of_another_length_than_they_say_are_dropped_and_named(void **state)
{
    (void)state;
    unsigned char head[sizeof(struct rs_wire) + 300] = {0};
    struct rs_wire wire = {.op = RS_WIRE_MESSAGE, .from = SENDER};
    for (int said = 0; said < 256; said += 17)
        for (size_t is = 0; is <= 300; is += 25) {
            if ((size_t)said == is) continue;
            wire.head_nbytes = (uint8_t)said;
            memcpy(head, &wire, sizeof wire);
            come(head, sizeof wire + is, "body", 4, 0);
        }
    dropped(1);
}

static void senders_that_there_are_not_are_dropped_and_named(void **state)
{
    static const int32_t nobody[] = {-1, N_PES, N_PES + 1, INT32_MIN, INT32_MAX, 1 << 16};
    (void)state;
    for (size_t i = 0; i < sizeof nobody / sizeof *nobody; i++) {
        struct rs_wire wire = {.op = RS_WIRE_PUT, .from = nobody[i]};
        come(&wire, sizeof wire, "12345678", 8, 0);
    }
    dropped(1);
    assert_null(pe.network.first);
}

static void what_has_not_come_yet_is_dropped_and_named(void **state)
{
    (void)state;
    struct rs_wire wire = {.op = RS_WIRE_PUT, .from = SENDER};
    come(&wire, sizeof wire, "12345678", 8, UCP_AM_RECV_ATTR_FLAG_RNDV); /* the bytes are a handle of UCX's */
    dropped(1);
}

static void operations_that_there_are_not_lose_the_sender(void **state)
{
    (void)state;
    for (int op = 0; op < 256; op++) {
        if (op >= RS_WIRE_PUT && op <= RS_WIRE_BYE) continue;
        say((struct rs_wire){.op = (uint8_t)op, .nbytes = ALL_WORDS, .value = ALL_WORDS}, "12345678", 8);
        refused("does not understand");
    }
}

static void messages_out_of_turn_lose_the_sender(void **state)
{
    static const uint32_t numbers[] = {1, 2, UINT32_MAX};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct rs_wire wire = {.op = RS_WIRE_PUT, .from = SENDER, .number = numbers[i]};
        come(&wire, sizeof wire, "12345678", 8, 0);
        refused("out of order");
    }
}

static void nothing_more_is_taken_from_who_is_lost(void **state)
{
    (void)state;
    say((struct rs_wire){.op = 77}, NULL, 0);
    assert_int_equal(pe.n_lost, 1);
    say((struct rs_wire){.op = RS_WIRE_PUT}, "12345678", 8);
    say((struct rs_wire){.op = RS_WIRE_GET, .nbytes = 8}, NULL, 0);
    say((struct rs_wire){.op = RS_WIRE_MESSAGE}, "body", 4);
    refused("does not understand");
}

/* Places in no region, behind its end, and around the end of all addresses. nbytes of them. */
static int bad_places(struct rs_place out[16], size_t nbytes)
{
    uint64_t end = region()->nbytes;
    const struct rs_place all[] = {{RS_REGION_WINDOW, end - nbytes + 1},
                                   {RS_REGION_WINDOW, end},
                                   {RS_REGION_WINDOW, end + 1},
                                   {RS_REGION_WINDOW, UINT64_MAX},
                                   {RS_REGION_WINDOW, UINT64_MAX - nbytes + 1},
                                   {RS_REGION_WINDOW, 0 - (uint64_t)EDGE},
                                   {RS_REGION_WINDOW, 0 - region()->base},
                                   {RS_REGION_WINDOW, 1ull << 63},
                                   {RS_REGION_DATA, 0},
                                   {RS_REGIONS, 0},
                                   {UINT32_MAX, 0}};
    memcpy(out, all, sizeof all);
    return sizeof all / sizeof *all;
}

static void puts_outside_of_this_pe_lose_the_sender(void **state)
{
    static const size_t sizes[] = {1, 4, 8, 100, WINDOW};
    static unsigned char bytes[WINDOW];
    struct rs_place places[16];
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = bad_places(places, sizes[s]);
        for (int i = 0; i < n; i++) {
            say((struct rs_wire){.op = RS_WIRE_PUT, .region = places[i].region, .offset = places[i].offset},
                bytes, sizes[s]);
            refused("outside");
        }
    }
    say((struct rs_wire){.op = RS_WIRE_PUT}, bytes, region()->nbytes + 1);
    refused("outside");
}

static void gets_from_outside_of_this_pe_lose_the_sender(void **state)
{
    struct rs_place places[16];
    (void)state;
    int n = bad_places(places, 8);
    for (int i = 0; i < n; i++) {
        say(
            (struct rs_wire){
                .op = RS_WIRE_GET, .region = places[i].region, .offset = places[i].offset, .nbytes = 8},
            NULL, 0);
        refused("outside");
    }
    say((struct rs_wire){.op = RS_WIRE_GET, .nbytes = region()->nbytes + 1}, NULL, 0);
    refused("outside");
    say((struct rs_wire){.op = RS_WIRE_GET, .offset = 8, .nbytes = UINT64_MAX - 7}, NULL, 0);
    refused("outside");
}

static void atomics_and_signals_on_no_word_lose_the_sender(void **state)
{
    static const uint8_t widths[] = {1, 2, 3, 5, 16, 255};
    struct rs_place places[16];
    (void)state;
    for (uint8_t width = 4; width <= 8; width += 4) {
        int n = bad_places(places, width);
        for (int i = 0; i < n; i++) {
            say((struct rs_wire){.op = RS_WIRE_AMO,
                                 .amo = RS_AMO_ADD,
                                 .width = width,
                                 .value = 1,
                                 .region = places[i].region,
                                 .offset = places[i].offset},
                NULL, 0);
            refused("no word");
            say((struct rs_wire){.op = RS_WIRE_PUT,
                                 .amo = RS_AMO_SET,
                                 .width = width,
                                 .value = 1,
                                 .cond = places[i].region,
                                 .token = places[i].offset},
                NULL, 0);
            refused("no word");
        }
        say((struct rs_wire){.op = RS_WIRE_AMO, .amo = RS_AMO_ADD, .width = width, .offset = 2}, NULL, 0);
        refused("no word");
    }
    for (size_t i = 0; i < sizeof widths; i++) {
        say((struct rs_wire){.op = RS_WIRE_AMO, .amo = RS_AMO_ADD, .width = widths[i], .value = 1}, NULL, 0);
        refused("no word");
    }
    say((struct rs_wire){.op = RS_WIRE_AMO, .amo = RS_AMO_ADD, .width = 0, .value = 1}, NULL, 0);
    refused("no word");
    for (int amo = RS_AMO_XOR + 1; amo < 256; amo += 50) {
        say((struct rs_wire){.op = RS_WIRE_AMO, .amo = (uint8_t)amo, .width = 8, .value = 1}, NULL, 0);
        refused("no word");
    }
}

/* A request that waits, as if it had been sent to the PE; its token. */
static uint64_t request(int to, void *dest, size_t nbytes, void *flag)
{
    pe.network.pending = calloc(4, sizeof *pe.network.pending);
    assert_non_null(pe.network.pending);
    pe.network.n_pending = pe.network.pending_room = 4;
    pe.network.pending[2] = (struct rs_pending){
        .generation = 5, .pe = to, .dest = dest, .nbytes = nbytes, .left = nbytes ? nbytes : 1, .arg = flag};
    return (uint64_t)5 << 32 | 2;
}

/* What came for a request of one kind or another, with one thing wrong. wire's token is filled in. */
static void answer(int to, size_t wanted, struct rs_wire wire, size_t nbytes, const char *words)
{
    unsigned char dest[3 * EDGE], before[3 * EDGE], *bytes = calloc(1, nbytes + 1);
    _Atomic int flag = 0;
    assert_non_null(bytes);
    memset(dest, 0xa5, sizeof dest);
    memcpy(before, dest, sizeof dest);
    wire.token = request(to, dest + EDGE, wanted, (void *)&flag);
    say(wire, bytes, nbytes);
    assert_memory_equal(dest, before, sizeof dest);
    assert_true(flag == 0 || flag == RS_E_PEER);
    free(bytes);
    refused(words);
}

static void answers_that_do_not_fit_lose_the_sender_and_write_nothing(void **state)
{
    struct rs_wire data = {.op = RS_WIRE_DATA}, value = {.op = RS_WIRE_VALUE, .value = 1};
    (void)state;
    answer(SENDER, EDGE, data, EDGE + 1, "more bytes than were wanted");
    data.offset = 1;
    answer(SENDER, EDGE, data, EDGE, "more bytes than were wanted");
    data.offset = EDGE + 1;
    answer(SENDER, EDGE, data, 1, "more bytes than were wanted");
    data.offset = UINT64_MAX - 3;
    answer(SENDER, EDGE, data, 8, "more bytes than were wanted");
    data.offset = 0;
    answer(SENDER, 0, data, 8, "did not ask");  /* an atomic waits */
    answer(SENDER, 1, value, 0, "did not ask"); /* a get of one byte does, and a value has eight */
    answer(0, EDGE, data, EDGE, "did not ask"); /* another PE was asked */
    answer(0, 0, value, 0, "did not ask");
}

static void answers_to_nothing_are_dropped(void **state)
{
    static const uint64_t tokens[] = {0,
                                      1,
                                      2,
                                      5,
                                      UINT64_MAX,
                                      (uint64_t)5 << 32 | 3,
                                      (uint64_t)7 << 32 | 2,
                                      (uint64_t)5 << 32 | 4,
                                      (uint64_t)4 << 32 | 2,
                                      (uint64_t)5 << 32 | UINT32_MAX};
    unsigned char dest[8] = {0};
    (void)state;
    request(SENDER, dest, 8, NULL);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        say((struct rs_wire){.op = RS_WIRE_DATA, .token = tokens[i]}, "12345678", 8);
        say((struct rs_wire){.op = RS_WIRE_VALUE, .token = tokens[i], .value = 1}, NULL, 0);
    }
    dropped(0); /* they may be of a request that was given up */
    assert_memory_equal(dest, (unsigned char[8]){0}, 8);
}

static void acknowledgements_of_what_was_not_sent_lose_the_sender(void **state)
{
    (void)state;
    say((struct rs_wire){.op = RS_WIRE_ACK, .value = 1}, NULL, 0);
    refused("more than was sent");
    say((struct rs_wire){.op = RS_WIRE_ACK, .value = ALL_WORDS}, NULL, 0);
    refused("more than was sent");
}

static void messages_with_too_long_a_head_lose_the_sender(void **state)
{
    (void)state;
    for (int n = RS_NETWORK_HEAD_NBYTES + 1; n < 256; n += 42) {
        say((struct rs_wire){.op = RS_WIRE_MESSAGE, .head_nbytes = (uint8_t)n}, "body", 4);
        refused("head");
    }
}

static void messages_in_parts_of_no_bytes_come_to_an_end(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) say((struct rs_wire){.op = RS_WIRE_MESSAGE, .more = 1}, NULL, 0);
    assert_int_equal(pe.n_received, 0);
    say((struct rs_wire){.op = RS_WIRE_MESSAGE}, NULL, 0);
    assert_int_equal(pe.n_received, 1);
    assert_int_equal(pe.n_lost, 0);
}

/* ---- anything ---- */

static uint64_t some_number(uint64_t *seed)
{
    static const uint64_t likely[] = {0,          1,
                                      2,          3,
                                      4,          7,
                                      8,          64,
                                      255,        WINDOW - 2 * EDGE,
                                      WINDOW,     UINT32_MAX,
                                      UINT64_MAX, (uint64_t)5 << 32 | 2};
    uint64_t dice = pes_random(seed);
    if (dice % 8 == 0) return pes_random(seed);
    if (dice % 8 == 1) return WINDOW - 2 * EDGE - pes_random(seed) % 16;
    return likely[(dice >> 8) % (sizeof likely / sizeof *likely)];
}

/* Half of each message is as it should be, so that much of it gets past the first check. */
static struct rs_wire some_wire(uint64_t *seed)
{
    struct rs_wire wire = {
        .op = (uint8_t)(1 + pes_random(seed) % 9), .from = SENDER, .number = next_number(SENDER)};
    uint64_t which = pes_random(seed);
    wire.width = which & 1 ? 8 : (uint8_t)some_number(seed);
    wire.amo = (uint8_t)(pes_random(seed) % 12);
    wire.more = pes_random(seed) % 8 == 0;
    wire.region = which & 2 ? 0 : (uint32_t)some_number(seed);
    wire.offset = some_number(seed);
    wire.nbytes = some_number(seed);
    wire.token = some_number(seed);
    wire.value = some_number(seed);
    wire.cond = which & 4 ? 0 : some_number(seed);
    wire.head_nbytes = which & 8 ? 0 : (uint8_t)some_number(seed);
    if (which % 64 == 16) wire.from = (int32_t)some_number(seed);
    if (which % 64 == 32) wire.number = (uint32_t)some_number(seed);
    return wire;
}

static void random_rubbish_does_no_harm(void **state)
{
    static unsigned char bytes[2 * WINDOW];
    uint64_t seed = (uint64_t)time(NULL), first = seed;
    int n_lost = 0;
    (void)state;
    printf("seed %llu\n", (unsigned long long)first);
    for (int i = 0; i < 100000; i++) {
        unsigned char dest[EDGE + 64 + EDGE], head[sizeof(struct rs_wire) + 255] = {0};
        _Atomic int flag = 0;
        size_t wanted = pes_random(&seed) % 65;
        memset(dest, 0xa5, sizeof dest);
        free(pe.network.pending);
        request(SENDER, dest + EDGE, wanted, (void *)&flag);
        struct rs_wire wire = some_wire(&seed);
        size_t nbytes = pes_random(&seed) % 4 ? pes_random(&seed) % 100 : some_number(&seed) % sizeof bytes;
        memcpy(head, &wire, sizeof wire);
        size_t head_nbytes =
            pes_random(&seed) % 16 ? sizeof wire + wire.head_nbytes : pes_random(&seed) % sizeof head;
        come(head, head_nbytes, bytes, nbytes, 0);
        for (size_t k = 0; k < sizeof dest; k++) {
            size_t room = wanted ? wanted : 8;
            if ((k < EDGE || k >= EDGE + room) && dest[k] != 0xa5)
                fail_msg("seed %llu, message %d wrote %zu bytes from a request's %zu",
                         (unsigned long long)first, i, k - EDGE, wanted);
        }
        if (memcmp(pe.window, pe.copy, EDGE) != 0 ||
            memcmp(pe.window + WINDOW - EDGE, pe.copy + WINDOW - EDGE, EDGE) != 0)
            fail_msg("seed %llu, message %d wrote beside the region", (unsigned long long)first, i);
        drop_replies();
        if (!pe.n_lost) continue;
        n_lost++;
        close_pe(NULL);
        open_pe(NULL);
    }
    assert_in_range(n_lost, 1000, 99000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pe, close_pe)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_right_is_taken),
        TEST(heads_that_are_cut_short_are_dropped_and_named),
        TEST(heads_of_another_length_than_they_say_are_dropped_and_named),
        TEST(senders_that_there_are_not_are_dropped_and_named),
        TEST(what_has_not_come_yet_is_dropped_and_named),
        TEST(operations_that_there_are_not_lose_the_sender),
        TEST(messages_out_of_turn_lose_the_sender),
        TEST(nothing_more_is_taken_from_who_is_lost),
        TEST(puts_outside_of_this_pe_lose_the_sender),
        TEST(gets_from_outside_of_this_pe_lose_the_sender),
        TEST(atomics_and_signals_on_no_word_lose_the_sender),
        TEST(answers_that_do_not_fit_lose_the_sender_and_write_nothing),
        TEST(answers_to_nothing_are_dropped),
        TEST(acknowledgements_of_what_was_not_sent_lose_the_sender),
        TEST(messages_with_too_long_a_head_lose_the_sender),
        TEST(messages_in_parts_of_no_bytes_come_to_an_end),
        TEST(random_rubbish_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
