/* SPDX-License-Identifier: MIT
 *
 * The harness: runs chapters, counts on all PEs, prints on PE 0. Failures of a case travel to PE 0 through a
 * symmetric word.
 */
#include "conformance.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

int me, n_pes;
int n_near, my_near;
static uint64_t *hosts; /* by PE */
bool on_host;

static const struct chapter *const chapters[] = {
    &info_chapter,   &memory_chapter,       &rma_chapter,     &amo_chapter,  &signal_chapter,
    &order_chapter,  &collective_chapter,   &reduce_chapter,  &team_chapter, &context_chapter,
    &stream_chapter, &stream_order_chapter, &strided_chapter, &wait_chapter, &model_chapter,
};

enum { FAILURES_PRINTED = 5, CASE_SECONDS = 100 };
static char running[160] = "start"; /* chapter/case, for messages */
static atomic_int failures;         /* of the running case, on this PE */

void fail_at(const char *file, int line, const char *format, ...)
{
    const char *slash = strrchr(file, '/');
    if (atomic_fetch_add(&failures, 1) >= FAILURES_PRINTED) return;
    char text[1400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("FAIL %s: %s:%d PE %d: %s\n", running, slash ? slash + 1 : file, line, me, text);
    fflush(stdout);
}

/* ---- errors ---- */

static _Thread_local struct {
    bool wanted;
    int n;
    rocshmemx_error_t last;
} caught;

static void on_error(const rocshmemx_error_t *error, void *arg)
{
    (void)arg;
    caught.n++;
    caught.last = *error;
    if (!caught.wanted) FAIL("unexpected error %d in %s: %s", error->status, error->op, error->text);
}

static void empty_slot(void)
{
    rocshmemx_error_t error;
    rocshmemx_take_error(&error);
}

void expect_begin(void)
{
    empty_slot();
    caught.wanted = true;
    caught.n = 0;
    caught.last = (rocshmemx_error_t){0};
}

static void check_error(const char *file, int line, const char *call, const rocshmemx_error_t *error,
                        int status, const char *op, const char *const *words)
{
    if (error->status != status)
        fail_at(file, line, "%s: status is %d, not %d: %s: %s", call, error->status, status, error->op,
                error->text);
    if (strcmp(error->op, op) != 0)
        fail_at(file, line, "%s: the error is about \"%s\", not %s: %s", call, error->op, op, error->text);
    if (strchr(error->text, '\n'))
        fail_at(file, line, "%s: the message has several lines: %s", call, error->text);
    for (; *words; words++)
        if (!strstr(error->text, *words))
            fail_at(file, line, "%s: the message lacks \"%s\": %s", call, *words, error->text);
}

void expect_error(const char *file, int line, const char *call, int status, const char *op,
                  const char *const *words)
{
    caught.wanted = false;
    if (caught.n != 1)
        fail_at(file, line, "%s: the error handler was called %d times", call, caught.n);
    else
        check_error(file, line, call, &caught.last, status, op, words);
    empty_slot();
}

void expect_status(const char *file, int line, const char *call, int got, int status, const char *op,
                   const char *const *words)
{
    rocshmemx_error_t error = {0};
    caught.wanted = false;
    int slot = rocshmemx_take_error(&error);
    if (got != status) fail_at(file, line, "%s: gave %d, not %d: %s", call, got, status, error.text);
    if (caught.n) fail_at(file, line, "%s: the error handler was called too: %s", call, caught.last.text);
    if (slot != error.status)
        fail_at(file, line, "%s: rocshmemx_take_error gave %d for %d", call, slot, error.status);
    if (slot == 0)
        fail_at(file, line, "%s: rocshmemx_take_error has no message", call);
    else
        check_error(file, line, call, &error, status, op, words);
}

/* ---- data ---- */

static bool is_remote(const void *p)
{
    return !on_host && rocshmemx_allocation(p, NULL, NULL) == 1;
}

/* A word of 8 bytes is one load or store. */
void heap_read(void *to, const void *from, size_t nbytes)
{
    if (is_remote(from))
        rocshmem_getmem(to, from, nbytes, me);
    else if (nbytes == 8 && (uintptr_t)from % 8 == 0)
        memcpy(to, &(uint64_t){__atomic_load_n((const uint64_t *)from, __ATOMIC_ACQUIRE)}, 8);
    else if (nbytes)
        memcpy(to, from, nbytes);
}

void heap_write(void *to, const void *from, size_t nbytes)
{
    uint64_t word;
    if (is_remote(to)) {
        rocshmem_putmem(to, from, nbytes, me);
    } else if (nbytes == 8 && (uintptr_t)to % 8 == 0) {
        memcpy(&word, from, 8);
        __atomic_store_n((uint64_t *)to, word, __ATOMIC_RELEASE);
    } else if (nbytes) {
        memcpy(to, from, nbytes);
    }
}

void *copy_of(const void *from, size_t nbytes)
{
    void *copy = ordinary(nbytes);
    heap_read(copy, from, nbytes);
    return copy;
}

void fill(void *p, size_t nbytes, uint64_t seed)
{
    bool remote = is_remote(p);
    unsigned char *bytes = remote ? ordinary(nbytes) : p;
    for (size_t i = 0; i < nbytes; i++) bytes[i] = pattern_byte(seed, i);
    if (!remote) return;
    heap_write(p, bytes, nbytes);
    free(bytes);
}

void fill_byte(void *p, size_t nbytes, int byte)
{
    bool remote = is_remote(p);
    unsigned char *bytes = remote ? ordinary(nbytes) : p;
    if (nbytes) memset(bytes, byte, nbytes);
    if (!remote) return;
    heap_write(p, bytes, nbytes);
    free(bytes);
}

void check_filled(const char *file, int line, const char *what, const void *p, size_t nbytes, uint64_t seed)
{
    void *copy = is_remote(p) ? copy_of(p, nbytes) : NULL;
    const unsigned char *bytes = copy ? copy : p;
    for (size_t i = 0; i < nbytes; i++) {
        unsigned char want = pattern_byte(seed, i);
        if (bytes[i] == want) continue;
        fail_at(file, line, "%s: byte %zu of %zu is 0x%02x, not 0x%02x", what, i, nbytes, bytes[i], want);
        break;
    }
    free(copy);
}

void check_bytes(const char *file, int line, const char *what, const void *p, size_t nbytes, int byte)
{
    void *copy = is_remote(p) ? copy_of(p, nbytes) : NULL;
    const unsigned char *bytes = copy ? copy : p;
    for (size_t i = 0; i < nbytes; i++) {
        if (bytes[i] == byte) continue;
        fail_at(file, line, "%s: byte %zu of %zu is 0x%02x, not 0x%02x", what, i, nbytes, bytes[i], byte);
        break;
    }
    free(copy);
}

void *ordinary(size_t nbytes)
{
    void *p = malloc(nbytes ? nbytes : 1);
    if (p) return p;
    printf("FAIL %s: no memory for %zu bytes\n", running, nbytes);
    exit(2);
}

void *symmetric(size_t nbytes)
{
    void *p = rocshmem_calloc(1, nbytes);
    if (p) return p;
    rocshmemx_error_t error = {0};
    rocshmemx_take_error(&error);
    printf("FAIL %s: PE %d: no symmetric memory for %zu bytes: %s\n", running, me, nbytes, error.text);
    exit(2);
}

struct thread {
    void (*fn)(void *arg, int i);
    void *arg;
    int i;
    pthread_t id;
};

static void *thread_main(void *arg)
{
    struct thread *thread = arg;
    thread->fn(thread->arg, thread->i);
    return NULL;
}

void run_threads(int n, void (*fn)(void *arg, int i), void *arg)
{
    struct thread *threads = ordinary((size_t)n * sizeof *threads);
    for (int i = 0; i < n; i++) {
        threads[i] = (struct thread){.fn = fn, .arg = arg, .i = i};
        if (pthread_create(&threads[i].id, NULL, thread_main, &threads[i]) != 0) {
            printf("FAIL %s: could not start a thread\n", running);
            exit(2);
        }
    }
    for (int i = 0; i < n; i++) pthread_join(threads[i].id, NULL);
    free(threads);
}

void dawdle(uint64_t *state)
{
    for (size_t i = random_below(state, 400); i > 0; i--) atomic_signal_fence(memory_order_seq_cst);
}

/* ---- running ---- */

static void on_alarm(int signal)
{
    static const char text[] = "FAIL: a case did not end in time; the state of the job follows\n";
    (void)signal;
    if (write(1, text, sizeof text - 1) > 0 && write(1, running, strlen(running)) > 0)
        (void)!write(1, "\n", 1);
    rocshmemx_dump_state(1);
    _exit(3);
}

static bool is_checked(void)
{
    const char *checked = getenv("ROCSHMEM_CHECK");
    return checked && strcmp(checked, "0") != 0;
}

/* NULL, or why the case cannot run here. */
static const char *unmet(unsigned needs)
{
    size_t nbytes = 0;
    rocshmemx_heap_info(&nbytes, NULL, NULL);
    if ((needs & NEEDS_2_PES) && n_pes < 2) return "needs 2 PEs";
    if ((needs & NEEDS_3_PES) && n_pes < 3) return "needs 3 PEs";
    if ((needs & NEEDS_BIG_HEAP) && nbytes < (size_t)3 << 30) return "needs ROCSHMEM_HEAP_SIZE=3G";
    if ((needs & NEEDS_REUSE) && is_checked()) return "freed blocks are in quarantine in checked mode";
    if ((needs & NEEDS_HOST) && !on_host) return "it is about memory of the host, and the heap is a GPU's";
    return NULL;
}

/* Run one case; its failures on all PEs, valid on PE 0. */
static int run_case(const struct test_case *test, int *counts)
{
    size_t used_before = 0, used_after = 0, largest_before = 0, largest_after = 0;
    atomic_store(&failures, 0);
    rocshmemx_heap_info(NULL, &used_before, &largest_before);
    alarm(CASE_SECONDS);
    test->run();
    rocshmem_barrier_all();
    alarm(0);
    rocshmemx_heap_info(NULL, &used_after, &largest_after);
    if (used_after != used_before || (largest_after != largest_before && !is_checked()))
        FAIL("left %zu bytes of the heap in use (largest free block %zu, was %zu)", used_after - used_before,
             largest_after, largest_before);
    rocshmemx_error_t error;
    if (rocshmemx_take_error(&error)) FAIL("left an error in the slot: %s: %s", error.op, error.text);
    int mine = atomic_load(&failures), sum = 0;
    rocshmem_int_put(&counts[me], &mine, 1, 0);
    rocshmem_barrier_all();
    for (int pe = 0; pe < n_pes && me == 0; pe++) sum += GET(&counts[pe]);
    rocshmem_barrier_all(); /* PE 0 has read them */
    return sum + atomic_load(&failures);
}

/* What tells hosts apart, as one number: the name that a test gives a PE's host, or its name and its namespaces. */
static uint64_t host_number(void)
{
    char text[512] = "", link[128] = "";
    const char *given = getenv("ROCSHMEM_NODE_ID");
    static const char *const links[] = {"/proc/self/ns/net", "/proc/self/ns/ipc", "/proc/self/ns/pid"};
    if (given && *given) {
        snprintf(text, sizeof text, "%s", given);
    } else {
        gethostname(text, 100);
        for (int i = 0; i < 3; i++) {
            ssize_t n = readlink(links[i], link, sizeof link - 1);
            link[n > 0 ? n : 0] = '\0';
            strcat(text, link);
        }
    }
    uint64_t hash = 14695981039346656037u;
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return hash;
}

static void find_hosts(void)
{
    uint64_t *numbers = symmetric(sizeof *numbers * (size_t)(n_pes + 1)), mine = host_number();
    heap_write(&numbers[n_pes], &mine, sizeof mine);
    rocshmem_barrier_all();
    rocshmem_fcollectmem(ROCSHMEM_TEAM_WORLD, numbers, &numbers[n_pes], sizeof mine);
    hosts = ordinary(sizeof *hosts * (size_t)n_pes);
    for (int pe = 0; pe < n_pes; pe++) {
        hosts[pe] = GET(&numbers[pe]);
        if (pe < me) my_near += hosts[pe] == mine;
        n_near += hosts[pe] == mine;
    }
    rocshmem_free(numbers);
}

bool is_near(int pe)
{
    return hosts[pe] == hosts[me];
}

static bool selected(const char *chapter, const char *name, int argc, char **argv)
{
    char whole[160];
    snprintf(whole, sizeof whole, "%s/%s", chapter, name);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], chapter) == 0 || strcmp(argv[i], whole) == 0) return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    int n_ok = 0, n_failed = 0, n_skipped = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGALRM, on_alarm);
    rocshmemx_set_error_handler(on_error, NULL);
    rocshmem_init();
    if (!rocshmemx_initialized()) return 2;
    me = rocshmem_my_pe();
    n_pes = rocshmem_n_pes();
    find_hosts();
    on_host = strcmp(rocshmemx_device_name(), "host") == 0;
    int *counts = symmetric(sizeof(int) * (size_t)n_pes);
    for (size_t c = 0; c < sizeof chapters / sizeof chapters[0]; c++)
        for (size_t i = 0; i < chapters[c]->n; i++) {
            const struct test_case *test = &chapters[c]->cases[i];
            if (!selected(chapters[c]->name, test->name, argc, argv)) continue;
            snprintf(running, sizeof running, "%s/%s", chapters[c]->name, test->name);
            const char *reason = unmet(test->needs);
            if (reason) {
                n_skipped++;
                if (me == 0) printf("skip %s: %s\n", running, reason);
            } else if (run_case(test, counts) == 0) {
                n_ok++;
                if (me == 0) printf("ok %s\n", running);
            } else {
                n_failed++;
            }
        }
    if (me == 0 && n_ok + n_failed + n_skipped == 0) {
        printf("FAIL: no chapter or case has that name\n");
        n_failed = 1;
    }
    if (me == 0)
        printf("conformance with %d PEs: %d passed, %d failed, %d skipped\n", n_pes, n_ok, n_failed,
               n_skipped);
    rocshmem_free(counts);
    rocshmem_finalize();
    return n_failed ? 1 : 0;
}
