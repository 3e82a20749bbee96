/* SPDX-License-Identifier: MIT
 *
 * The job, the library and the counters: what a process can ask about itself.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "conformance.h"

static void numbers(void)
{
    CHECK(me >= 0 && me < n_pes);
    CHECK_EQ(rocshmem_my_pe(), me);
    CHECK_EQ(rocshmem_n_pes(), n_pes);
    CHECK_EQ(rocshmemx_initialized(), 1);
    int *seen = symmetric(sizeof(int) * (size_t)n_pes);
    for (int pe = 0; pe < n_pes; pe++) rocshmem_int_p(&seen[me], me + 1, pe);
    rocshmem_barrier_all();
    for (int pe = 0; pe < n_pes; pe++) CHECK_EQ(GET(&seen[pe]), pe + 1);
    rocshmem_free(seen);
}

static void second_init(void)
{
    int provided = -7;
    rocshmem_init_attr_t attr = {.rank = 0, .nranks = 1};
    EXPECT_ERROR(rocshmem_init(), ROCSHMEMX_E_STATE, "rocshmem_init", "job already");
    EXPECT_STATUS(rocshmem_init_thread(ROCSHMEM_THREAD_MULTIPLE, &provided), ROCSHMEMX_E_STATE,
                  "rocshmem_init_thread", "job already");
    EXPECT_STATUS(rocshmem_init_attr(ROCSHMEM_INIT_WITH_UNIQUEID, &attr), ROCSHMEMX_E_STATE,
                  "rocshmem_init_attr", "job already");
    CHECK_EQ(rocshmem_n_pes(), n_pes);
}

static void unique_id_arguments(void)
{
    rocshmem_uniqueid_t uid;
    rocshmem_init_attr_t attr;
    fill(&uid, sizeof uid, 3);
    CHECK_EQ(rocshmem_set_attr_uniqueid_args(2, 5, &uid, &attr), 0);
    CHECK_EQ(attr.rank, 2);
    CHECK_EQ(attr.nranks, 5);
    CHECK(memcmp(&attr.uid, &uid, sizeof uid) == 0);
    EXPECT_STATUS(rocshmem_set_attr_uniqueid_args(0, 1, NULL, &attr), ROCSHMEMX_E_ARG,
                  "rocshmem_set_attr_uniqueid_args", "uid");
    EXPECT_STATUS(rocshmem_set_attr_uniqueid_args(0, 1, &uid, NULL), ROCSHMEMX_E_ARG,
                  "rocshmem_set_attr_uniqueid_args", "attr");
    EXPECT_STATUS(rocshmem_init_attr(ROCSHMEM_INIT_WITH_MPI_COMM, &attr), ROCSHMEMX_E_ARG,
                  "rocshmem_init_attr", "mpi_comm");
    EXPECT_STATUS(rocshmem_init_attr(ROCSHMEM_INIT_WITH_MPI_COMM, NULL), ROCSHMEMX_E_ARG,
                  "rocshmem_init_attr", "attr");
    rocshmem_init_attr_t wrong[] = {
        {.rank = 5, .nranks = 5}, {.rank = -1, .nranks = 5}, {.rank = 0, .nranks = 0}};
    EXPECT_STATUS(rocshmem_init_attr(1, &wrong[0]), ROCSHMEMX_E_ARG, "rocshmem_init_attr", "rank", "5");
    EXPECT_STATUS(rocshmem_init_attr(1, &wrong[1]), ROCSHMEMX_E_ARG, "rocshmem_init_attr", "rank", "-1");
    EXPECT_STATUS(rocshmem_init_attr(1, &wrong[2]), ROCSHMEMX_E_ARG, "rocshmem_init_attr", "nranks", "0");
    EXPECT_STATUS(rocshmem_init_attr(1, NULL), ROCSHMEMX_E_ARG, "rocshmem_init_attr", "attr");
    EXPECT_STATUS(rocshmem_init_attr(77, &attr), ROCSHMEMX_E_ARG, "rocshmem_init_attr", "flags", "77");
    EXPECT_STATUS(rocshmemx_serve_lost(&uid, 0, "ended"), ROCSHMEMX_E_ARG, "rocshmemx_serve_lost", "uid");
}

static void thread_level(void)
{
    int provided = -7;
    rocshmem_query_thread(&provided);
    CHECK_EQ(provided, ROCSHMEM_THREAD_MULTIPLE);
}

static void constants(void)
{
    CHECK_EQ(ROCSHMEM_SUCCESS, 0);
    CHECK_EQ(ROCSHMEM_ERROR, 1);
    CHECK_EQ(ROCSHMEM_SIGNAL_SET, 0);
    CHECK_EQ(ROCSHMEM_SIGNAL_ADD, 1);
    int cmps[] = {ROCSHMEM_CMP_EQ, ROCSHMEM_CMP_NE, ROCSHMEM_CMP_GT,
                  ROCSHMEM_CMP_GE, ROCSHMEM_CMP_LT, ROCSHMEM_CMP_LE};
    for (int i = 0; i < 6; i++) CHECK_EQ(cmps[i], i);
    int ops[] = {ROCSHMEM_SUM, ROCSHMEM_MAX, ROCSHMEM_MIN, ROCSHMEM_PROD,
                 ROCSHMEM_AND, ROCSHMEM_OR,  ROCSHMEM_XOR, ROCSHMEM_REPLACE};
    for (int i = 0; i < 8; i++) CHECK_EQ(ops[i], i);
    int threads[] = {ROCSHMEM_THREAD_SINGLE, ROCSHMEM_THREAD_FUNNELED, ROCSHMEM_THREAD_WG_FUNNELED,
                     ROCSHMEM_THREAD_SERIALIZED, ROCSHMEM_THREAD_MULTIPLE};
    for (int i = 0; i < 5; i++) CHECK_EQ(threads[i], i);
    CHECK_EQ(ROCSHMEM_CTX_NOSTORE | ROCSHMEM_CTX_SERIALIZED | ROCSHMEM_CTX_WG_PRIVATE | ROCSHMEM_CTX_SHARED,
             15);
    CHECK_EQ(ROCSHMEM_INIT_WITH_MPI_COMM, 0);
    CHECK_EQ(ROCSHMEM_INIT_WITH_UNIQUEID, 1);
    CHECK_EQ(ROCSHMEM_TEAM_DEFAULT_CONFIGS, 0);
    CHECK_EQ(ROCSHMEM_TEAM_NUM_CONTEXTS, 1);
    CHECK_EQ(ROCSHMEM_MAX_NAME_LEN, 64);
    CHECK_EQ(sizeof(rocshmem_uniqueid_t), 128);
    CHECK(ROCSHMEM_TEAM_INVALID == NULL && ROCSHMEM_TEAM_WORLD != NULL && ROCSHMEM_TEAM_SHARED != NULL);
    CHECK(ROCSHMEM_TEAM_WORLD != ROCSHMEM_TEAM_SHARED);
}

static void texts(void)
{
    unsigned major, minor, patch;
    CHECK_EQ(sscanf(rocshmemx_version(), "%u.%u.%u", &major, &minor, &patch), 3);
    const char *device = rocshmemx_device_name();
    CHECK(strcmp(device, "host") == 0 || strcmp(device, "cuda") == 0 || strcmp(device, "hip") == 0);
    CHECK(rocshmemx_device_ordinal() >= 0);
#define SAME(name, value, text) CHECK(strcmp(rocshmemx_status_text(value), text) == 0);
    ROCSHMEMX_STATUSES(SAME)
#undef SAME
    CHECK(strcmp(rocshmemx_status_text(17), "unknown status") == 0);
    CHECK(strcmp(rocshmemx_status_text(-1000), "unknown status") == 0);
    CHECK(rocshmemx_status_text(0) != NULL);
}

static void versions(void)
{
    int major = -1, minor = -1, patch = -1;
    char name[ROCSHMEM_MAX_NAME_LEN], text[64];
    fill(name, sizeof name, 3);
    rocshmem_info_get_version(&major, &minor);
    CHECK_EQ(major, 1);
    CHECK_EQ(minor, 5);
    rocshmem_info_get_name(name);
    CHECK(strcmp(name, ROCSHMEM_VENDOR_STRING) == 0 && strlen(name) > 0);
    rocshmem_vendor_get_version_info(&major, &minor, &patch);
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    CHECK(strcmp(text, rocshmemx_version()) == 0);
    CHECK(strcmp(text, ROCSHMEM_VERSION) == 0);
    rocshmem_info_get_version(NULL, NULL);
    rocshmem_info_get_name(NULL);
    rocshmem_vendor_get_version_info(NULL, NULL, NULL);
}

static void error_slot(void)
{
    rocshmemx_error_t error = {.status = 99};
    CHECK_EQ(rocshmemx_take_error(&error), 0);
    CHECK_EQ(error.status, 99); /* untouched: there was none */
    CHECK(rocshmem_align(24, 64) == NULL);
    CHECK_EQ(rocshmemx_take_error(&error), ROCSHMEMX_E_ARG);
    CHECK_EQ(error.status, ROCSHMEMX_E_ARG);
    CHECK_EQ(error.pe, -1);
    CHECK_EQ(rocshmemx_take_error(&error), 0);
    CHECK(rocshmem_align(24, 64) == NULL);
    CHECK_EQ(rocshmemx_take_error(NULL), ROCSHMEMX_E_ARG); /* drops the message */
    CHECK_EQ(rocshmemx_take_error(NULL), 0);
}

static void take_in_thread(void *arg, int i)
{
    (void)i;
    *(int *)arg = rocshmemx_take_error(NULL);
}

static void error_slot_of_a_thread(void)
{
    int other = -1;
    CHECK(rocshmem_align(24, 64) == NULL);
    run_threads(1, take_in_thread, &other);
    CHECK_EQ(other, 0);
    rocshmemx_error_t error;
    CHECK_EQ(rocshmemx_take_error(&error), ROCSHMEMX_E_ARG);
}

static void host_device(void)
{
    CHECK_EQ(rocshmem_hipmodule_init(NULL, NULL), 1);
    int not_a_module = 0;
    CHECK_EQ(rocshmem_hipmodule_init(&not_a_module, NULL), 1);
    CHECK(rocshmem_get_device_ctx() == (const void *)&ROCSHMEM_CTX_DEFAULT);
    CHECK_EQ(rocshmemx_set_device_from_env(), 0);
    rocshmemx_device_synchronize();
}

static void stats_count(void)
{
    char local[64] = {0};
    rocshmemx_stats_t sum = {0}, peer = {0};
    char *p = symmetric(64);
    uint64_t *word = symmetric(64);
    rocshmem_reset_stats();
    rocshmem_putmem(p, local, 64, right());
    rocshmem_putmem(p, local, 3, right());
    rocshmem_getmem(local, p, 5, right());
    rocshmem_uint64_atomic_add(word, 1, right());
    CHECK_EQ(rocshmem_uint64_g(word + 1, right()), 0);
    rocshmem_putmem_on_stream(p, local, 10, right(), NULL);
    CHECK_EQ(rocshmemx_stream_synchronize(NULL), 0);
    CHECK_EQ(rocshmemx_get_stats(right(), &peer), 0);
    CHECK_EQ(peer.puts, 3);
    CHECK_EQ(peer.put_nbytes, 77);
    CHECK_EQ(peer.gets, 2);
    CHECK_EQ(peer.get_nbytes, 13);
    CHECK_EQ(peer.amos, 1);
    CHECK_EQ(rocshmemx_get_stats(-1, &sum), 0);
    CHECK_EQ(sum.puts, 3);
    CHECK_EQ(sum.collectives, 0);
    rocshmem_barrier_all();
    rocshmem_sync_all();
    rocshmem_uint64_wait_until(word, ROCSHMEM_CMP_EQ, 1);
    CHECK_EQ(rocshmemx_get_stats(-1, &sum), 0);
    CHECK_EQ(sum.collectives, 2);
    CHECK_EQ(sum.waits, 1);
    rocshmem_reset_stats();
    CHECK_EQ(rocshmemx_get_stats(-1, &sum), 0);
    CHECK_EQ(sum.puts + sum.put_nbytes + sum.gets + sum.get_nbytes + sum.amos + sum.waits + sum.collectives,
             0);
    EXPECT_STATUS(rocshmemx_get_stats(n_pes, &sum), ROCSHMEMX_E_ARG, "rocshmemx_get_stats", "pe");
    EXPECT_STATUS(rocshmemx_get_stats(-2, &sum), ROCSHMEMX_E_ARG, "rocshmemx_get_stats", "pe", "-2");
    rocshmem_free(p);
    rocshmem_free(word);
}

static void put_some(void *arg, int i)
{
    uint64_t value = (uint64_t)i;
    for (int k = 0; k < 100; k++) rocshmem_putmem((uint64_t *)arg + i, &value, 8, right());
}

static void stats_of_threads(void)
{
    rocshmemx_stats_t sum;
    uint64_t *words = symmetric(8 * sizeof *words);
    rocshmem_reset_stats();
    run_threads(4, put_some, words); /* their counts survive them */
    CHECK_EQ(rocshmemx_get_stats(-1, &sum), 0);
    CHECK_EQ(sum.puts, 400);
    CHECK_EQ(sum.put_nbytes, 3200);
    rocshmem_barrier_all();
    rocshmem_free(words);
}

struct reader {
    int fd;
    char text[200000];
    size_t n;
};

static void read_all(void *arg, int i)
{
    struct reader *reader = arg;
    (void)i;
    for (;;) {
        ssize_t n = read(reader->fd, reader->text + reader->n, sizeof reader->text - 1 - reader->n);
        if (n <= 0) break;
        reader->n += (size_t)n;
    }
    reader->text[reader->n] = '\0';
}

static void *read_main(void *arg)
{
    read_all(arg, 0);
    return NULL;
}

/* What write(fd, arg) writes. Free it. */
static struct reader *written(void (*print)(int fd, const void *arg), const void *arg)
{
    int ends[2];
    struct reader *reader = ordinary(sizeof *reader);
    pthread_t thread;
    reader->n = 0;
    if (pipe(ends) != 0) exit(2);
    reader->fd = ends[0];
    if (pthread_create(&thread, NULL, read_main, reader) != 0) exit(2);
    print(ends[1], arg);
    close(ends[1]);
    pthread_join(thread, NULL);
    close(ends[0]);
    return reader;
}

static void print_state(int fd, const void *arg)
{
    (void)arg;
    CHECK_EQ(rocshmemx_dump_state(fd), 0);
}

static void print_info(int fd, const void *what)
{
    CHECK_EQ(rocshmemx_print_info(fd, what), 0);
}

static void print_stats(int fd, const void *arg)
{
    (void)arg;
    fflush(stdout);
    int saved = dup(1);
    dup2(fd, 1);
    rocshmem_dump_stats();
    fflush(stdout);
    dup2(saved, 1);
    close(saved);
}

static void dump_names_every_pe(void)
{
    rocshmem_barrier_all();
    struct reader *reader = written(print_state, NULL);
    for (int pe = 0; pe < n_pes; pe++) {
        char name[16];
        snprintf(name, sizeof name, "PE %d", pe);
        if (is_near(pe) && !strstr(reader->text, name)) FAIL("no %s in the dump:\n%s", name, reader->text);
    }
    free(reader);
    rocshmem_barrier_all();
    EXPECT_STATUS(rocshmemx_dump_state(-1), ROCSHMEMX_E_ARG, "rocshmemx_dump_state", "fd", "-1");
}

static int in_chapter_two(void *arg, int in_handler, char *out, size_t nbytes)
{
    (void)in_handler;
    snprintf(out, nbytes, "story.f:%d in chapter", *(const int *)arg);
    return 1;
}

static int nowhere(void *arg, int in_handler, char *out, size_t nbytes)
{
    (void)arg, (void)in_handler, (void)nbytes;
    out[0] = 'x'; /* is not to be shown */
    return 0;
}

static void a_location_hook_says_where_this_pe_is(void)
{
    int line = 40 + me;
    char mine[64];
    snprintf(mine, sizeof mine, "story.f:%d in chapter", line);
    rocshmemx_set_location_hook(in_chapter_two, &line);
    struct reader *reader = written(print_state, NULL);
    CHECK(strstr(reader->text, mine) != NULL);
    free(reader);
    rocshmem_barrier_all(); /* the others may ask this PE as long as they print */
    rocshmemx_set_location_hook(nowhere, NULL);
    reader = written(print_state, NULL);
    CHECK(strstr(reader->text, mine) == NULL);
    free(reader);
    rocshmem_barrier_all();
    rocshmemx_set_location_hook(NULL, NULL);
}

static void info_names_the_variables(void)
{
    struct reader *reader = written(print_info, NULL);
    CHECK(strstr(reader->text, "ROCSHMEM_HEAP_SIZE") != NULL);
    CHECK(strstr(reader->text, rocshmemx_version()) != NULL);
    CHECK(strstr(reader->text, "host") != NULL);
    free(reader);
    reader = written(print_info, "environment");
    CHECK(strstr(reader->text, "ROCSHMEM_TIMEOUT") != NULL);
    free(reader);
    reader = written(print_info, "support");
    CHECK(reader->n > 0);
    free(reader);
    EXPECT_STATUS(rocshmemx_print_info(1, "nonsense"), ROCSHMEMX_E_ARG, "rocshmemx_print_info", "what",
                  "nonsense");
}

static void stats_are_printed(void)
{
    char *p = symmetric(64);
    rocshmem_reset_stats();
    rocshmem_putmem(p, "12345", 5, right());
    struct reader *reader = written(print_stats, NULL);
    CHECK(strstr(reader->text, "put") != NULL);
    free(reader);
    rocshmem_free(p);
}

static int stop_now(void *arg)
{
    ++*(int *)arg;
    return 1;
}

/* Without a hook that runs, the other thread never makes true what this one waits for. */
struct hooked {
    uint64_t *word;
    atomic_int ran;
};

static int go_on(void *arg)
{
    atomic_store((atomic_int *)arg, 1);
    return 0;
}

static void wait_or_set(void *arg, int i)
{
    struct hooked *hooked = arg;
    if (i == 0) {
        CHECK_EQ(rocshmem_signal_wait_until(hooked->word, ROCSHMEM_CMP_EQ, 1), 1);
        return;
    }
    while (!atomic_load(&hooked->ran)) sched_yield();
    rocshmem_uint64_atomic_set(hooked->word, 1, me);
}

static void interrupt_hook(void)
{
    int calls = 0;
    uint64_t *word = symmetric(sizeof *word);
    rocshmemx_set_interrupt_hook(stop_now, &calls);
    EXPECT_ERROR(rocshmem_signal_wait_until(word, ROCSHMEM_CMP_EQ, 1), ROCSHMEMX_E_INTERRUPTED,
                 "rocshmem_signal_wait_until", "interrupt");
    CHECK(calls > 0);
    rocshmemx_set_interrupt_hook(NULL, NULL);
    rocshmem_barrier_all(); /* a wait for a word is no collective: the job is whole */
    rocshmem_free(word);
}

static void interrupt_hook_that_goes_on(void)
{
    struct hooked hooked = {.word = symmetric(sizeof(uint64_t))};
    atomic_init(&hooked.ran, 0);
    rocshmemx_set_interrupt_hook(go_on, &hooked.ran);
    run_threads(2, wait_or_set, &hooked);
    rocshmemx_set_interrupt_hook(NULL, NULL);
    rocshmem_barrier_all();
    rocshmem_free(hooked.word);
}

static const struct test_case info_cases[] = {
    {"each_pe_has_its_own_number", numbers, 0},
    {"a_second_init_is_an_error_that_changes_nothing", second_init, 0},
    {"unique_id_arguments_are_filled_in_or_refused", unique_id_arguments, 0},
    {"the_thread_level_is_multiple", thread_level, 0},
    {"constants_have_the_documented_values", constants, 0},
    {"texts_are_the_documented_ones", texts, 0},
    {"versions_and_name_are_the_constants_of_the_header", versions, 0},
    {"take_error_empties_the_slot", error_slot, 0},
    {"a_thread_never_sees_the_error_of_another", error_slot_of_a_thread, 0},
    {"the_host_device_has_no_module_and_one_context", host_device, 0},
    {"stats_count_operations_and_bytes_for_each_pe", stats_count, 0},
    {"stats_include_threads_that_have_ended", stats_of_threads, 0},
    {"dump_state_names_every_pe", dump_names_every_pe, 0},
    {"a_location_hook_says_where_this_pe_is", a_location_hook_says_where_this_pe_is, 0},
    {"print_info_lists_versions_and_variables", info_names_the_variables, 0},
    {"dump_stats_prints_a_table", stats_are_printed, 0},
    {"an_interrupt_hook_ends_a_wait", interrupt_hook, 0},
    {"an_interrupt_hook_that_gives_0_runs_and_the_wait_goes_on", interrupt_hook_that_goes_on, 0},
};
CHAPTER(info);
