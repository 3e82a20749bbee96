/* SPDX-License-Identifier: MIT
 *
 * rocshmem-perf: latency, bandwidth and rate of every operation of the public header, run as a job:
 *
 *     rocshmem-run -n 2 rocshmem-perf [--ops put,amo] [--sizes 8:4M] [--reps 5] [--min-time 10] [--json]
 *
 * Every PE runs this program; PE 0 prints. Uses the public headers only. The cases are in perf_rma.c,
 * perf_collective.c and perf_stream.c, the stop-watch in perf_measure.c. `rocshmem-perf hello` joins the job
 * and leaves it: what is timed when start-up is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rocshmem/rocshmem.h>
#include <rocshmem/rocshmemx.h>

#include "perf_cases.h"

enum { SIZES_MAX = 64, SESSIONS_MAX = 9 };

struct options {
    const char *ops; /* borrowed from argv; NULL: all */
    size_t sizes[SIZES_MAX];
    int n_sizes;
    struct perf_plan plan;
    bool json, list, hello;
};

/* The tables, in the order of printing. */
struct table {
    const struct perf_case *cases;
    const size_t *count;
};
static const struct table tables[] = {
    {perf_rma_cases, &perf_n_rma_cases},
    {perf_collective_cases, &perf_n_collective_cases},
    {perf_stream_cases, &perf_n_stream_cases},
};
enum { N_TABLES = sizeof(tables) / sizeof(tables[0]) };

struct perf_arena perf;
static long *shared_word;    /* symmetric */
static double *shared_times; /* symmetric, one a PE */
static bool printed_one;     /* JSON: the next row needs a comma */

static const char usage[] =
    "usage: rocshmem-run -n N rocshmem-perf [options]\n"
    "       rocshmem-run -n N rocshmem-perf hello     init and finalize only\n"
    "  --ops LIST        operations or groups, comma-separated; --list shows them (default: all)\n"
    "  --sizes FROM:TO[:FACTOR] or a list  bytes, suffixes K M G (default: 8:4M:8)\n"
    "  --reps N          timed repetitions, 1..99 (default: 5)\n"
    "  --min-time MS     length of one repetition (default: 10)\n"
    "  --json            one JSON document instead of the table\n"
    "  --list            name the operations, and end\n"
    "Times are ns for one operation: the median of the repetitions and their range.\n";

static int usage_error(const char *option, const char *value, const char *expected)
{
    fprintf(stderr, "rocshmem-perf: %s%s%s; %s\n", option, value ? " " : "", value ? value : "", expected);
    return -1;
}

/* ---- options ---- */

static int add_size(struct options *o, size_t nbytes)
{
    if (o->n_sizes == SIZES_MAX) return -1;
    o->sizes[o->n_sizes++] = nbytes;
    return 0;
}

/* FROM:TO[:FACTOR]; TO itself is always measured. */
static int parse_range(struct options *o, char *text)
{
    char *to_text = strchr(text, ':') + 1, *factor_text = strchr(to_text, ':');
    size_t from, to, factor = 8;
    to_text[-1] = '\0';
    if (factor_text) *factor_text++ = '\0';
    if (!perf_parse_nbytes(text, &from) || !perf_parse_nbytes(to_text, &to) || from > to) return -1;
    if (factor_text && (!perf_parse_nbytes(factor_text, &factor) || factor < 2)) return -1;
    for (size_t size = from; size < to; size *= factor)
        if (add_size(o, size) < 0) return -1;
    return add_size(o, to);
}

static int parse_sizes(struct options *o, const char *value)
{
    char text[256];
    size_t nbytes;
    o->n_sizes = 0;
    if ((size_t)snprintf(text, sizeof(text), "%s", value) >= sizeof(text)) return -1;
    if (strchr(text, ':')) return parse_range(o, text);
    char *rest = text;
    for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ","))
        if (!perf_parse_nbytes(item, &nbytes) || add_size(o, nbytes) < 0) return -1;
    return 0;
}

static bool has_op(const char *name, size_t len)
{
    static const char *const own[] = {"job", "init", "finalize"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strlen(own[i]) == len && memcmp(own[i], name, len) == 0) return true;
    for (int t = 0; t < N_TABLES; t++)
        for (size_t i = 0; i < *tables[t].count; i++) {
            const struct perf_case *c = &tables[t].cases[i];
            if (strlen(c->op) == len && memcmp(c->op, name, len) == 0) return true;
            if (strlen(c->group) == len && memcmp(c->group, name, len) == 0) return true;
        }
    return false;
}

static int check_ops(const char *ops)
{
    for (const char *item = ops;;) {
        size_t len = strcspn(item, ",");
        if (!has_op(item, len)) return -1;
        if (!item[len]) return 0;
        item += len + 1;
    }
}

static int parse_count(const char *text, long max, long *value_out)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 1 || value > max) return -1;
    *value_out = value;
    return 0;
}

/* One option with its value. -1 with a message when it is no option of ours, or its value is wrong. */
static int parse_pair(struct options *o, const char *option, const char *value)
{
    long number;
    if (!value) return usage_error(option, NULL, "it is unknown or needs a value; see --help");
    if (strcmp(option, "--ops") == 0) {
        o->ops = value;
        return check_ops(value) == 0
                   ? 0
                   : usage_error(option, value, "an operation is unknown; --list names all");
    }
    if (strcmp(option, "--sizes") == 0)
        return parse_sizes(o, value) == 0 ? 0 : usage_error(option, value, "write 8:4M, 8:4M:2 or 8,4K,1M");
    if (strcmp(option, "--reps") == 0) {
        if (parse_count(value, PERF_REPS_MAX, &number) < 0) return usage_error(option, value, "write 1..99");
        o->plan.reps = (int)number;
        return 0;
    }
    if (strcmp(option, "--min-time") == 0) {
        if (parse_count(value, 60000, &number) < 0) return usage_error(option, value, "write 1..60000 (ms)");
        o->plan.min_ns = (uint64_t)number * 1000000u;
        return 0;
    }
    return usage_error(option, NULL, "it is unknown; see --help");
}

/* 0, 1 when there is nothing more to do (--help), -1 with a message. */
static int parse_options(struct options *o, int argc, char **argv)
{
    *o = (struct options){.plan = {.reps = 5, .min_ns = 10000000}};
    char sizes[] = "8:4M";
    if (parse_sizes(o, sizes) < 0) return -1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return 1;
        }
        if (strcmp(argv[i], "hello") == 0)
            o->hello = true;
        else if (strcmp(argv[i], "--json") == 0)
            o->json = true;
        else if (strcmp(argv[i], "--list") == 0)
            o->list = true;
        else if (parse_pair(o, argv[i], i + 1 < argc ? argv[i + 1] : NULL) < 0)
            return -1;
        else
            i++;
    }
    return 0;
}

/* ---- the job ---- */

void perf_check(int status, const char *call)
{
    if (status == 0) return;
    rocshmemx_error_t error;
    bool has_text = rocshmemx_take_error(&error) != 0;
    fprintf(stderr, "rocshmem-perf: %s failed: %s\n", call, has_text ? error.text : "the result was wrong");
    rocshmem_global_exit(1);
}

static long share(long value)
{
    if (perf.me == 0)
        for (int pe = 0; pe < perf.n_pes; pe++) rocshmem_long_p(shared_word, value, pe);
    rocshmem_barrier_all();
    return *(volatile long *)shared_word;
}

static double slowest(double ns)
{
    rocshmem_double_p(&shared_times[perf.me], ns, 0);
    rocshmem_barrier_all();
    double most = 0;
    for (int pe = 0; perf.me == 0 && pe < perf.n_pes; pe++)
        if (shared_times[pe] > most) most = shared_times[pe];
    return most;
}

static void *allocate(size_t count, size_t size)
{
    void *block = rocshmem_calloc(count, size);
    perf_check(!block, "rocshmem_calloc");
    return block;
}

static void open_arena(const struct options *o)
{
    perf.me = rocshmem_my_pe();
    perf.n_pes = rocshmem_n_pes();
    perf.peer = perf.me == 0 ? 1 % perf.n_pes : 0;
    perf.nbytes_max = 256; /* room for the unsized cases */
    for (int i = 0; i < o->n_sizes; i++)
        if (o->sizes[i] > perf.nbytes_max) perf.nbytes_max = o->sizes[i];
    shared_word = allocate(1, sizeof(long));
    shared_times = allocate((size_t)perf.n_pes, sizeof(double));
    perf.source = allocate((size_t)perf.n_pes, perf.nbytes_max);
    perf.dest = allocate((size_t)perf.n_pes, perf.nbytes_max);
    perf.word = allocate(1, sizeof(int64_t));
    perf.signal = allocate(1, sizeof(uint64_t));
    perf.ping = allocate(1, sizeof(uint64_t));
    perf.gate = allocate(1, sizeof(uint64_t));
    perf.plain = malloc(perf.nbytes_max);
    perf_check(!perf.plain, "malloc of the private buffer");
    memset(perf.plain, 1, perf.nbytes_max);
    memset(perf.source, 1, (size_t)perf.n_pes * perf.nbytes_max);
    perf_check(rocshmemx_stream_create(&perf.stream), "rocshmemx_stream_create");
    rocshmem_barrier_all();
}

static void close_arena(void)
{
    rocshmem_barrier_all();
    perf_check(rocshmemx_stream_destroy(perf.stream), "rocshmemx_stream_destroy");
    void *blocks[] = {perf.gate, perf.ping,   perf.signal,  perf.word,
                      perf.dest, perf.source, shared_times, shared_word};
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) rocshmem_free(blocks[i]);
    free(perf.plain);
}

/* ---- printing, by PE 0 ---- */

static void print_head(const struct options *o)
{
    char host[65] = "";
    gethostname(host, sizeof(host) - 1);
    if (o->json)
        printf("{\"tool\": \"rocshmem-perf\", \"version\": \"%s\", \"n_pes\": %d, \"device\": \"%s\", "
               "\"cores\": %ld, "
               "\"reps\": %d, \"min_time_ms\": %" PRIu64 ", \"results\": [",
               rocshmemx_version(), perf.n_pes, rocshmemx_device_name(), sysconf(_SC_NPROCESSORS_ONLN),
               o->plan.reps, o->plan.min_ns / 1000000);
    else
        printf(
            "rocshmem-perf %s, %d PE%s on %s (%ld cores), device %s; ns for one operation\n\n%-26s %10s %14s "
            "%14s %14s %10s\n",
            rocshmemx_version(), perf.n_pes, perf.n_pes == 1 ? "" : "s", host, sysconf(_SC_NPROCESSORS_ONLN),
            rocshmemx_device_name(), "operation", "bytes", "median", "least", "most", "MB/s");
}

static void print_row(const struct options *o, const struct perf_case *c, size_t nbytes,
                      const struct perf_result *r)
{
    double megabytes = c->sized == PERF_SIZED && r->median_ns > 0 ? (double)nbytes * 1e3 / r->median_ns : 0;
    double millions = r->median_ns > 0 ? 1e3 / r->median_ns : 0;
    if (o->json) {
        printf("%s\n  {\"op\": \"%s\", \"group\": \"%s\", \"nbytes\": %zu, \"median_ns\": %.2f, \"min_ns\": "
               "%.2f, "
               "\"max_ns\": %.2f, \"iterations\": %ld, \"reps\": %d, \"mbytes_per_s\": %.1f, \"mops_per_s\": "
               "%.4f, "
               "\"note\": \"%s\"}",
               printed_one ? "," : "", c->op, c->group, c->sized ? nbytes : 0, r->median_ns, r->min_ns,
               r->max_ns, r->n, r->reps, megabytes, millions, c->note ? c->note : "");
    } else {
        char size[24] = "", rate[24] = "";
        if (c->sized) {
            snprintf(size, sizeof(size), "%zu", nbytes);
            if (c->sized == PERF_SIZED) snprintf(rate, sizeof(rate), "%.0f", megabytes);
        }
        printf("%-26s %10s %14.1f %14.1f %14.1f %10s  %s\n", c->op, size, r->median_ns, r->min_ns, r->max_ns,
               rate, c->note ? c->note : "");
    }
    printed_one = true;
    fflush(stdout);
}

static void print_list(void)
{
    for (int t = 0; t < N_TABLES; t++)
        for (size_t i = 0; i < *tables[t].count; i++) {
            const struct perf_case *c = &tables[t].cases[i];
            printf("%-12s %-26s %s\n", c->group, c->op, c->note ? c->note : "");
        }
    printf("%-12s %-26s %s\n%-12s %-26s %s\n", "job", "init", "rocshmem_init, several times", "job",
           "finalize", "rocshmem_finalize, several times");
}

/* ---- running ---- */

/* Join and leave the job several times; leaves it joined. Times are each PE's own, in ns. */
static int time_sessions(int count, double *init_ns, double *finalize_ns)
{
    for (int i = 0; i < count; i++) {
        uint64_t start = perf_now();
        rocshmem_init();
        init_ns[i] = (double)(perf_now() - start);
        if (i == count - 1) break;
        rocshmem_barrier_all();
        start = perf_now();
        rocshmem_finalize();
        finalize_ns[i] = (double)(perf_now() - start);
    }
    return count - 1; /* finalize times */
}

static void print_sessions(const struct options *o, const char *op, double *times, int count)
{
    const struct perf_case c = {.op = op, .group = "job", .note = "the whole call, slowest PE"};
    struct perf_result result = {.n = 1};
    for (int i = 0; i < count; i++) times[i] = slowest(times[i]);
    if (count == 0 || perf.me != 0 || !(perf_list_has(o->ops, op) || perf_list_has(o->ops, "job"))) return;
    perf_summarise(times, count, &result);
    print_row(o, &c, 0, &result);
}

static void run_case(const struct options *o, const struct perf_job *job, const struct perf_case *c)
{
    if (!perf_list_has(o->ops, c->op) && !perf_list_has(o->ops, c->group)) return;
    for (int i = 0; i < (c->sized ? o->n_sizes : 1); i++) {
        struct perf_result result;
        size_t nbytes = c->sized ? o->sizes[i] : 8;
        bool ran = perf_measure(job, c, nbytes, &o->plan, &result);
        if (perf.me == 0 && ran) print_row(o, c, nbytes, &result);
        if (perf.me == 0 && !ran) fprintf(stderr, "rocshmem-perf: %s left out: it needs 2 PEs\n", c->op);
        if (!ran) break;
    }
}

static void run_all(const struct options *o)
{
    double init_ns[SESSIONS_MAX], finalize_ns[SESSIONS_MAX];
    bool sessions =
        perf_list_has(o->ops, "job") || perf_list_has(o->ops, "init") || perf_list_has(o->ops, "finalize");
    int reps = o->plan.reps < SESSIONS_MAX ? o->plan.reps : SESSIONS_MAX - 1;
    int n_inits = sessions ? reps + 1 : 1;
    int n_finalizes = time_sessions(n_inits, init_ns, finalize_ns);
    open_arena(o);
    const struct perf_job job = {perf.me, perf.n_pes, rocshmem_barrier_all, share, slowest};
    if (perf.me == 0) print_head(o);
    print_sessions(o, "init", init_ns, n_inits);
    print_sessions(o, "finalize", finalize_ns, n_finalizes);
    for (int t = 0; t < N_TABLES; t++)
        for (size_t i = 0; i < *tables[t].count; i++) run_case(o, &job, &tables[t].cases[i]);
    if (perf.me == 0 && o->json) printf("\n]}\n");
    close_arena();
    rocshmem_finalize();
}

int main(int argc, char **argv)
{
    struct options o;
    int rc = parse_options(&o, argc, argv);
    if (rc != 0) return rc > 0 ? 0 : 2;
    if (o.list) {
        print_list();
    } else if (o.hello) {
        rocshmem_init();
        rocshmem_finalize();
    } else {
        run_all(&o);
    }
    return 0;
}
