/* SPDX-License-Identifier: MIT
 *
 * The watch of hosts over each other: who may join, what is told to whom, an orderly end. Hosts that die or are
 * frozen: test_vigil_lost.c.
 */
#include "vigil_hosts.h"

#include <errno.h>
#include <fcntl.h>

/* ---- joining ---- */

static void many_hosts_join_and_leave_in_any_order(void **state)
{
    (void)state;
    enum { N = 40 };
    struct host *hosts[N];
    for (int round = 0; round < 3; round++) { /* host 0 leaves first, last, in the middle */
        make_hosts(hosts, N, LONG_NS);
        for (int i = 0; i < N; i++) {
            struct host *host = hosts[(i + round * N / 2 + (round == 1)) % N];
            assert_int_equal(atomic_load(&host->n_heard), 0);
            free_host(host);
            if (i % 16 == 0) rs_wait_sleep_ns(30 * MS); /* others see it, and look on */
        }
    }
}

static void one_host_needs_no_watch(void **state)
{
    (void)state;
    struct host *host = make_host(0, 1, LONG_NS, NULL);
    assert_int_equal(rs_vigil_start(host->vigil, &host->options), 0);
    rs_vigil_tell(host->vigil, RS_NEWS_BROKEN, "x", 1);
    assert_true(rs_vigil_flush(host->vigil, 0));
    free_host(host);
    rs_vigil_stop(NULL);
}

static void a_host_that_does_not_come_is_named_at_the_deadline(void **state)
{
    (void)state;
    struct host *hosts[3];
    for (int i = 0; i < 3; i++) {
        hosts[i] = make_host(i, 4, LONG_NS, i ? hosts[0]->address : NULL);
        hosts[i]->options.deadline_ns = rs_os_now_ns() + SECOND / 2;
    }
    begin(hosts[0]);
    begin(hosts[1]);
    assert_int_equal(pthread_join(hosts[0]->thread, NULL), 0);
    has_begun(hosts[1]);
    assert_int_equal(hosts[0]->rc, RS_E_BOOTSTRAP);
    if (!strstr(hosts[0]->error.text, "hosts 2 3 of 4 did not reach")) fail_msg("%s", hosts[0]->error.text);
    begin(hosts[2]); /* too late: nobody listens any more */
    assert_int_equal(pthread_join(hosts[2]->thread, NULL), 0);
    assert_int_equal(hosts[2]->rc, RS_E_BOOTSTRAP);
    if (!strstr(hosts[2]->error.text, "host 2 of 4 could not reach")) fail_msg("%s", hosts[2]->error.text);
    assert_non_null(strstr(hosts[2]->error.text, "127.0.0.1:"));
    for (int i = 0; i < 3; i++) free_host(hosts[i]);
}

static void news_on_the_bootstrap_end_a_start(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct host *first = make_host(0, 2, LONG_NS, NULL), *other = make_host(1, 2, LONG_NS, first->address);
    first->options.bootstrap = other->options.bootstrap = ends[0];
    begin(other); /* host 0 listens, but does not answer */
    begin(first);
    has_begun(first);
    has_begun(other);
    free_host(first);
    free_host(other);
    first = make_host(0, 2, LONG_NS, NULL);
    other = make_host(1, 2, LONG_NS, first->address);
    first->options.bootstrap = other->options.bootstrap = ends[0];
    assert_int_equal(write(ends[1], "x", 1), 1);
    begin(first);
    has_begun(first);
    assert_true(first->ns < LONG_NS / 2);
    begin(other);
    has_begun(other);
    assert_true(other->ns < LONG_NS / 2);
    free_host(first);
    free_host(other);
    close(ends[0]);
    close(ends[1]);
}

static int interrupt(void)
{
    return rs_fail(RS_E_INTERRUPTED, "interrupted by a test");
}

static void the_hook_ends_a_start(void **state)
{
    (void)state;
    struct host *first = make_host(0, 2, LONG_NS, NULL), *other = make_host(1, 2, LONG_NS, first->address);
    rs_bootstrap_set_hook(interrupt);
    assert_int_equal(rs_vigil_start(other->vigil, &other->options), RS_E_INTERRUPTED);
    assert_int_equal(rs_vigil_start(first->vigil, &first->options), RS_E_INTERRUPTED);
    rs_bootstrap_set_hook(NULL);
    free_host(first);
    free_host(other);
}

/* ---- strangers ---- */

static void strangers_do_not_join_and_disturb_nobody(void **state)
{
    (void)state;
    enum { STRANGERS = 12 };
    struct host *first = make_host(0, 3, LONG_NS, NULL);
    int fds[STRANGERS], n = 0;
    uint64_t wrong[2] = {first->options.key[0], 43};
    begin(first);
    struct rs_vigil_hello hello = {.magic = RS_VIGIL_MAGIC, .version = RS_VIGIL_VERSION};
    for (int i = 0; i < 3; i++) fds[n++] = visit(first); /* silent */
    say(fds[1], &hello, 20);                             /* stops in the middle */
    fds[n++] = visit(first);
    say(fds[n - 1], "GET / HTTP/1.0\r\n\r\n", 18);
    assert_true(is_closed(fds[n - 1])); /* at its first bytes */
    fds[n++] = visit(first);
    say(fds[n - 1], &hello, sizeof(hello)); /* no MAC */
    assert_true(is_closed(fds[n - 1]));
    fds[n++] = introduce(first, 1, wrong, first->options.job, 3, NULL);
    assert_true(is_closed(fds[n - 1]));
    fds[n++] = introduce(first, 1, first->options.key, first->options.job + 1, 3, NULL);
    assert_true(is_closed(fds[n - 1]));
    fds[n++] = introduce(first, 1, first->options.key, first->options.job, 4, NULL);
    assert_true(is_closed(fds[n - 1]));
    static const int places[] = {-1, 0, 3};
    for (int i = 0; i < 3; i++) {
        fds[n++] = introduce(first, places[i], first->options.key, first->options.job, 3, NULL);
        assert_true(is_closed(fds[n - 1]));
    }
    int member = join_by_hand(first, 2);
    fds[n++] = introduce(first, 2, first->options.key, first->options.job, 3, NULL); /* twice */
    assert_true(is_closed(fds[n - 1]));
    assert_int_equal(n, STRANGERS);
    struct host *other = make_host(1, 3, LONG_NS, first->address);
    begin(other);
    has_begun(other);
    has_begun(first);
    for (int i = 0; i < 3; i++) assert_true(is_closed(fds[i])); /* all have come: nobody else may */
    rs_vigil_tell(other->vigil, RS_NEWS_BROKEN, "still here", 10);
    await_heard(first, 1);
    assert_string_equal(first->heard[0].text, "still here");
    for (int i = 0; i < n; i++) close(fds[i]);
    struct rs_vigil_frame bye = {.kind = RS_FRAME_BYE, .host = 2};
    say(member, &bye, sizeof(bye));
    assert_true(is_closed(member));
    close(member);
    assert_int_equal(atomic_load(&first->n_heard), 1);
    free_host(other);
    free_host(first);
}

static void silent_strangers_in_all_places_do_not_keep_a_host_out(void **state)
{
    (void)state;
    enum { STRANGERS = RS_VISITORS + 40 };
    struct host *first = make_host(0, 2, LONG_NS, NULL), *other = make_host(1, 2, LONG_NS, first->address);
    int fds[STRANGERS];
    begin(first);
    for (int i = 0; i < STRANGERS; i++) fds[i] = visit(first);
    begin(other);
    has_begun(other);
    has_begun(first);
    for (int i = 0; i < STRANGERS; i++) close(fds[i]);
    free_host(first);
    free_host(other);
}

static void a_host_with_the_wrong_key_stays_outside(void **state)
{
    (void)state;
    struct host *first = make_host(0, 2, LONG_NS, NULL), *other = make_host(1, 2, LONG_NS, first->address);
    first->options.deadline_ns = other->options.deadline_ns = rs_os_now_ns() + SECOND / 2;
    other->options.key[1]++;
    begin(first);
    begin(other);
    assert_int_equal(pthread_join(other->thread, NULL), 0);
    assert_int_equal(pthread_join(first->thread, NULL), 0);
    assert_int_equal(other->rc, RS_E_BOOTSTRAP);
    assert_int_equal(first->rc, RS_E_BOOTSTRAP);
    assert_non_null(strstr(first->error.text, "host 1 of 2 did not reach"));
    free_host(first);
    free_host(other);
}

static void *play_first_host(void *arg)
{
    int listener = *(int *)arg, fd;
    while ((fd = accept(listener, NULL, NULL)) >= 0) { /* until the listener is shut down */
        struct rs_vigil_challenge challenge = {.magic = RS_VIGIL_MAGIC, .version = RS_VIGIL_VERSION};
        struct rs_vigil_verdict verdict = {.magic = RS_VIGIL_MAGIC, .version = RS_VIGIL_VERSION, .mac = 4711};
        struct rs_vigil_hello hello;
        say(fd, &challenge, sizeof(challenge));
        assert_int_equal(rs_os_recv_all(fd, &hello, sizeof(hello), rs_os_now_ns() + LONG_NS), 0);
        say(fd, &verdict, sizeof(verdict));
        close(fd);
    }
    return NULL;
}

static void a_first_host_without_the_key_is_not_believed(void **state)
{
    (void)state;
    struct rs_vigil_address here = {.host_id = rs_os_host_id(),
                                    .addresses = {{.family = 4, .bytes = {127, 0, 0, 1}}}};
    int listener = -1;
    pthread_t thread;
    assert_int_equal(rs_address_listen(here.addresses, 1, &listener, "a test"), 1);
    fcntl(listener, F_SETFL, 0);
    assert_int_equal(pthread_create(&thread, NULL, play_first_host, &listener), 0);
    struct host *other = make_host(1, 2, LONG_NS, (const unsigned char *)&here);
    other->options.deadline_ns = rs_os_now_ns() + SECOND / 4;
    begin(other);
    assert_int_equal(pthread_join(other->thread, NULL), 0);
    assert_int_equal(other->rc, RS_E_BOOTSTRAP);
    if (!strstr(other->error.text, "does not know the job's key")) fail_msg("%s", other->error.text);
    shutdown(listener, SHUT_RDWR);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(listener);
    free_host(other);
}

/* ---- news ---- */

static void news_reach_all_others_in_the_order_of_each_teller(void **state)
{
    (void)state;
    enum { N = 5, PIECES = 200 };
    struct host *hosts[N];
    make_hosts(hosts, N, LONG_NS);
    for (int p = 0; p < PIECES; p++)
        for (int i = 0; i < N; i++) {
            char text[2000];
            int n = snprintf(text, sizeof(text), "%d", p);
            memset(text + n, ' ', sizeof(text) - (size_t)n); /* long ones come in parts */
            rs_vigil_tell(hosts[i]->vigil, p % 2 ? RS_NEWS_BROKEN : RS_NEWS_DUMP, text,
                          p % 3 ? (size_t)n : sizeof(text));
            if (p % 8 == 7) rs_vigil_flush(hosts[i]->vigil, rs_os_now_ns() + LONG_NS);
        }
    for (int i = 0; i < N; i++) {
        int next[N] = {0};
        await_heard(hosts[i], (N - 1) * PIECES);
        for (int k = 0; k < (N - 1) * PIECES; k++) {
            const struct heard *heard = &hosts[i]->heard[k];
            assert_in_range(heard->host, 0, N - 1);
            assert_int_not_equal(heard->host, i);
            assert_int_equal(heard->kind, next[heard->host] % 2 ? RS_NEWS_BROKEN : RS_NEWS_DUMP);
            assert_int_equal(atoi(heard->text), next[heard->host]++);
        }
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(atomic_load(&hosts[i]->n_heard), (N - 1) * PIECES);
        free_host(hosts[i]);
    }
}

static void what_is_told_just_before_the_end_arrives(void **state)
{
    (void)state;
    enum { N = 4 };
    for (int teller = 0; teller < 2; teller++) {
        struct host *hosts[N];
        make_hosts(hosts, N, LONG_NS);
        rs_vigil_tell(hosts[teller]->vigil, RS_NEWS_EXIT, "7", 1);
        rs_vigil_stop(hosts[teller]->vigil);
        hosts[teller]->vigil = NULL;
        for (int i = 0; i < N; i++) {
            if (i == teller) continue;
            await_heard(hosts[i], 1);
            assert_int_equal(hosts[i]->heard[0].kind, RS_NEWS_EXIT);
            assert_int_equal(hosts[i]->heard[0].host, teller);
            assert_string_equal(hosts[i]->heard[0].text, "7");
        }
        for (int i = 0; i < N; i++) free_host(hosts[i]);
    }
}

static void answer(struct host *host, const struct rs_news *news)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%d answers", host->options.host);
    if (news->kind == RS_NEWS_DUMP) rs_vigil_tell(host->vigil, RS_NEWS_BROKEN, text, (size_t)n);
}

static void the_callback_may_tell(void **state)
{
    (void)state;
    struct host *hosts[3];
    for (int i = 0; i < 3; i++) {
        hosts[i] = make_host(i, 3, LONG_NS, i ? hosts[0]->address : NULL);
        hosts[i]->on_news = answer;
        begin(hosts[i]);
    }
    for (int i = 0; i < 3; i++) has_begun(hosts[i]);
    rs_vigil_tell(hosts[2]->vigil, RS_NEWS_DUMP, NULL, 0);
    await_heard(hosts[2], 2);
    await_heard(hosts[0], 2);
    await_heard(hosts[1], 2);
    for (int i = 0; i < 3; i++) free_host(hosts[i]);
}

static void what_cannot_be_told_is_not(void **state)
{
    (void)state;
    static char large[RS_NEWS_NBYTES + 1];
    struct host *hosts[2];
    make_hosts(hosts, 2, LONG_NS);
    rs_vigil_tell(hosts[0]->vigil, RS_NEWS_BROKEN, large, sizeof(large));
    rs_vigil_tell(hosts[0]->vigil, RS_NEWS_LOST, "x", 1);
    rs_vigil_tell(hosts[0]->vigil, 0, "x", 1);
    rs_vigil_tell(hosts[0]->vigil, RS_NEWS_BROKEN, large, RS_NEWS_NBYTES);
    rs_vigil_tell(hosts[0]->vigil, RS_NEWS_DUMP, "last", 4);
    await_heard(hosts[1], 2);
    assert_int_equal(hosts[1]->heard[0].kind, RS_NEWS_BROKEN);
    assert_string_equal(hosts[1]->heard[1].text, "last");
    free_host(hosts[0]);
    free_host(hosts[1]);
}

static void everybody_looks(void **state)
{
    (void)state;
    struct host *hosts[2];
    make_hosts(hosts, 2, 0);
    uint64_t start_ns = rs_os_now_ns();
    for (int i = 0; i < 2; i++)
        while (atomic_load(&hosts[i]->n_looks) < 5) {
            assert_true(rs_os_now_ns() - start_ns < LONG_NS);
            rs_wait_sleep_ns(MS);
        }
    assert_true(rs_os_now_ns() - start_ns > 4 * 15 * MS); /* and not all the time */
    free_host(hosts[1]);
    free_host(hosts[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_hosts_join_and_leave_in_any_order),
        cmocka_unit_test(one_host_needs_no_watch),
        cmocka_unit_test(a_host_that_does_not_come_is_named_at_the_deadline),
        cmocka_unit_test(news_on_the_bootstrap_end_a_start),
        cmocka_unit_test(the_hook_ends_a_start),
        cmocka_unit_test(strangers_do_not_join_and_disturb_nobody),
        cmocka_unit_test(silent_strangers_in_all_places_do_not_keep_a_host_out),
        cmocka_unit_test(a_host_with_the_wrong_key_stays_outside),
        cmocka_unit_test(a_first_host_without_the_key_is_not_believed),
        cmocka_unit_test(news_reach_all_others_in_the_order_of_each_teller),
        cmocka_unit_test(what_is_told_just_before_the_end_arrives),
        cmocka_unit_test(the_callback_may_tell),
        cmocka_unit_test(what_cannot_be_told_is_not),
        cmocka_unit_test(everybody_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
