/* SPDX-License-Identifier: MIT
 *
 * The environment, read by the rows of config.def: one parser a kind, one table, one look at the names that
 * nobody knows.
 *
 * Numbers are parsed by hand, since strtod follows the locale of the program. An empty variable counts as
 * unset. A bad value is a CONFIG error naming variable, value and form; a name that is not in the rows is
 * only a warning, because it may belong to another version.
 */
#include "base/config.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/log.h"
#include "base/status.h"

/* clang-format off */
#define ROW_(field, variable, kind, dflt, unit, text) {variable, unit, text, kind},
static const struct { const char *variable, *unit, *text; enum rs_config_kind kind; } rows[] = {RS_CONFIG(ROW_)};
#undef ROW_
#define ROW_(variable, text) {variable, text},
static const struct { const char *variable, *text; } foreign[] = {RS_CONFIG_FOREIGN(ROW_)};
#undef ROW_
/* clang-format on */

#define ROW_(variable, row) {variable, row},
static const struct {
    const char *variable, *row;
} aliases[] = {RS_CONFIG_ALIASES(ROW_)};
#undef ROW_

enum {
    N_ROWS = sizeof(rows) / sizeof(rows[0]),
    N_FOREIGN = sizeof(foreign) / sizeof(foreign[0]),
    N_ALIASES = sizeof(aliases) / sizeof(aliases[0])
};

/* ---- parsers ---- */

/* Digits at *text into *out, *text moved past them. False without a digit, or beyond 64 bits. */
static bool take_digits(const char **text, uint64_t *out)
{
    const char *c = *text;
    uint64_t value = 0;
    if (*c < '0' || *c > '9') return false;
    for (; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value))
            return false;
    *text = c;
    *out = value;
    return true;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* What follows a number: a word of the list (any case), then nothing but blanks. Its index, or -1. */
static int take_suffix(const char *text, const char *const *words, int n)
{
    text = skip_blanks(text);
    size_t length = strcspn(text, " \t");
    if (*skip_blanks(text + length)) return -1;
    for (int i = 0; i < n; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], text, length) == 0) return i;
    return -1;
}

/* A decimal number at *text, as whole + fraction / scale; digits beyond 1 / scale_max are dropped. */
static bool take_fraction(const char **text, uint64_t scale_max, uint64_t *whole, uint64_t *fraction,
                          uint64_t *scale)
{
    const char *c = *text;
    *whole = *fraction = 0;
    *scale = 1;
    bool digits = take_digits(&c, whole);
    if (!digits && *c != '.') return false;
    if (*c == '.') {
        c++;
        if (!digits && (*c < '0' || *c > '9')) return false;
        for (; *c >= '0' && *c <= '9'; c++) {
            if (*scale >= scale_max) continue;
            *fraction = *fraction * 10 + (uint64_t)(*c - '0');
            *scale *= 10;
        }
    }
    *text = c;
    return true;
}

static bool parse_size(const char *text, uint64_t *out)
{
    static const char *const words[] = {
        "",  "K",  "M",  "G",  "T", /* the index modulo 5 is the power of 1024 */
        "B", "KB", "MB", "GB", "TB", "B", "KiB", "MiB", "GiB", "TiB"};
    uint64_t whole, fraction, scale, value;
    if (!take_fraction(&text, 1000000, &whole, &fraction, &scale)) return false;
    int word = take_suffix(text, words, sizeof(words) / sizeof(words[0]));
    uint64_t unit = word >= 0 ? (uint64_t)1 << (word % 5 * 10) : 0; /* fraction * unit < 10^6 * 2^40 */
    if (word < 0 || __builtin_mul_overflow(whole, unit, &value)) return false;
    return !__builtin_add_overflow(value, fraction * unit / scale, out);
}

static bool parse_count(const char *text, uint64_t *out)
{
    return take_digits(&text, out) && !*skip_blanks(text);
}

/* "90", "0.25", "500ms", "1.5 m"; to nanoseconds. */
static bool parse_time(const char *text, uint64_t *out)
{
    static const char *const words[] = {"", "s", "ms", "m"};
    static const uint64_t ns[] = {1000000000u, 1000000000u, 1000000u, 60000000000u};
    uint64_t whole, fraction, scale;
    if (!take_fraction(&text, 1000000000u, &whole, &fraction, &scale)) return false;
    int word = take_suffix(text, words, sizeof(words) / sizeof(words[0]));
    if (word < 0) return false;
    uint64_t value; /* fraction < 1e9 and ns <= 6e10: the product is above 2^64 only for minutes, so divide in
                       two steps */
    if (__builtin_mul_overflow(whole, ns[word], &value)) return false;
    uint64_t part =
        ns[word] / 1000 * fraction / scale * 1000 + ns[word] / 1000 * fraction % scale * 1000 / scale;
    return !__builtin_add_overflow(value, part, out);
}

static bool parse_flag(const char *text, uint64_t *out)
{
    static const char *const words[] = {"0", "no", "off", "false", "1", "yes", "on", "true"};
    int word = take_suffix(text, words, sizeof(words) / sizeof(words[0]));
    if (word >= 0) *out = word >= 4;
    return word >= 0;
}

int rs_config_parse(enum rs_config_kind kind, const char *variable, const char *text, uint64_t *out)
{
    uint64_t value = 0;
    const char *form = NULL, *trimmed = skip_blanks(text);
    switch (kind) {
    case RS_SIZE:
        if (!parse_size(trimmed, &value))
            form = "bytes below 2^64, with a suffix K M G T if you like, as in 512M or 1.5G";
        break;
    case RS_COUNT:
        if (!parse_count(trimmed, &value)) form = "a whole number, 0 or more and below 2^64";
        break;
    case RS_TIME:
        if (!parse_time(trimmed, &value)) form = "seconds, as in 60, 0.5, 500ms or 2m, up to 500 years";
        break;
    case RS_FLAG:
        if (!parse_flag(trimmed, &value)) form = "0 or 1, no or yes, off or on, false or true";
        break;
    case RS_TEXT:
        return 0; /* kept as it is, by the caller */
    }
    if (form) return rs_fail(RS_E_CONFIG, "%s is \"%.200s\"; give %s", variable, text, form);
    *out = value;
    return 0;
}

const char *rs_config_getenv(const char *variable, const char **name_out)
{
    const char *text = getenv(variable);
    if (name_out) *name_out = variable;
    for (int i = 0; (!text || !*text) && i < N_ALIASES; i++) {
        if (strcmp(aliases[i].row, variable) != 0) continue;
        text = getenv(aliases[i].variable);
        if (name_out) *name_out = aliases[i].variable;
    }
    return text && *text ? text : NULL;
}

int rs_config_is_on(const char *text)
{
    uint64_t on = 1; /* what is no flag is something */
    text = skip_blanks(text);
    parse_flag(text, &on);
    return *text && on;
}

/* ---- names that no row has ---- */

/* Edit distance (insert, delete, replace, each 1) of two names; both below 64 bytes, else far. */
static int distance(const char *a, const char *b)
{
    enum { N = 64 };
    size_t na = strlen(a), nb = strlen(b);
    int row[N + 1];
    if (na > N || nb > N) return N;
    for (size_t j = 0; j <= nb; j++) row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[nb];
}

/* The known name nearest to an unknown one; NULL when none is near. */
static const char *nearest(const char *name)
{
    const char *best = NULL;
    int best_distance =
        (int)strlen(name + strlen("ROCSHMEM_")) / 3 + 1; /* nearer than a third of the letters */
    for (int i = 0; i < N_ROWS + N_FOREIGN; i++) {
        const char *known = i < N_ROWS ? rows[i].variable : foreign[i - N_ROWS].variable;
        int d = distance(name, known);
        if (d < best_distance) {
            best_distance = d;
            best = known;
        }
    }
    return best;
}

static void report_name(const char *name)
{
    for (int i = 0; i < N_ROWS; i++)
        if (strcmp(name, rows[i].variable) == 0) {
            rs_log(RS_LOG_ENV, "%s is %s", name, getenv(name));
            return;
        }
    for (int i = 0; i < N_FOREIGN; i++)
        if (strcmp(name, foreign[i].variable) == 0) {
            rs_log(RS_LOG_INFO, "%s is accepted and ignored: %s", name, foreign[i].text);
            return;
        }
    const char *near = nearest(name);
    if (near)
        rs_log(RS_LOG_WARN, "%s is no variable of this library; did you mean %s", name, near);
    else
        rs_log(RS_LOG_WARN, "%s is no variable of this library; rocshmem-info lists them all", name);
}

/* Report each ROCSHMEM_ name once a process: again only when the set of names has changed since the last
 * init. */
static void report_names(void)
{
    static _Atomic uint64_t reported; /* sum of the hashes of the names in the last report */
    uint64_t sum = (uint64_t)rs_log_threshold;
    for (char **entry = environ; entry && *entry; entry++) {
        if (strncmp(*entry, "ROCSHMEM_", strlen("ROCSHMEM_")) != 0) continue;
        uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
        for (const char *c = *entry; *c && *c != '='; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
        sum += hash;
    }
    if (atomic_exchange(&reported, sum) == sum) return;
    for (char **entry = environ; entry && *entry; entry++) {
        char name[128];
        size_t length = strcspn(*entry, "=");
        if (strncmp(*entry, "ROCSHMEM_", strlen("ROCSHMEM_")) != 0 || length >= sizeof(name)) continue;
        memcpy(name, *entry, length);
        name[length] = '\0';
        report_name(name);
    }
}

/* ---- the whole ---- */

static bool is_one_of(const char *text, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcasecmp(text, words[i]) == 0) return true;
    return false;
}

/* Texts with a small set of values. */
static int check_texts(const struct rs_config *config)
{
    static const char *const devices[] = {"auto", "host", "cuda", "hip"}, *const sharing[] = {"auto", "ipc"},
                             *const backends[] = {"", "ipc", "ro", "gda"},
                             *const transports[] = {"auto", "direct", "ucx"},
                             *const families[] = {"", "AF_INET", "AF_INET6"};
    if (!is_one_of(config->heap_sharing, sharing, 2))
        return rs_fail(RS_E_CONFIG, "ROCSHMEM_HEAP_SHARING is \"%.200s\"; use auto or ipc",
                       config->heap_sharing);
    if (!is_one_of(config->device, devices, 4))
        return rs_fail(RS_E_CONFIG, "ROCSHMEM_DEVICE is \"%.200s\"; use auto, host, cuda or hip",
                       config->device);
    if (!is_one_of(config->backend, backends, 4))
        return rs_fail(RS_E_CONFIG, "ROCSHMEM_BACKEND is \"%.200s\"; use ipc, ro or gda, or unset it",
                       config->backend);
    if (rs_config_is_on(config->check) && strcmp(config->check, "1") != 0 &&
        strcasecmp(config->check, "warn") != 0)
        return rs_fail(RS_E_CONFIG, "ROCSHMEM_CHECK is \"%.200s\"; use 0, 1 or warn", config->check);
    if (!is_one_of(config->transport, transports, 3))
        return rs_fail(RS_E_CONFIG, "ROCSHMEM_TRANSPORT is \"%.200s\"; use auto, direct or ucx",
                       config->transport);
    if (!is_one_of(config->socket_family, families, 3))
        return rs_fail(RS_E_CONFIG,
                       "ROCSHMEM_BOOTSTRAP_SOCKET_FAMILY is \"%.200s\"; use AF_INET or AF_INET6, or unset it",
                       config->socket_family);
    return 0;
}

/* Assign a row's default, then the environment's value. RS_TEXT fields are pointers, the others 64-bit
 * numbers. */
#define ASSIGN_RS_TEXT(to, variable, text) (to = (text), 0)
#define ASSIGN_RS_SIZE(to, variable, text) rs_config_parse(RS_SIZE, variable, text, &to)
#define ASSIGN_RS_COUNT(to, variable, text) rs_config_parse(RS_COUNT, variable, text, &to)
#define ASSIGN_RS_TIME(to, variable, text) rs_config_parse(RS_TIME, variable, text, &to)
#define ASSIGN_RS_FLAG(to, variable, text) rs_config_parse(RS_FLAG, variable, text, &to)
#define READ_(field, variable, kind, dflt, unit, about)                                                      \
    read.field = (dflt);                                                                                     \
    text = rs_config_getenv(variable, &name);                                                                \
    if (text) RS_TRY(ASSIGN_##kind(read.field, name, text));

int rs_config_read(struct rs_config *config)
{
    struct rs_config read;
    const char *text, *name;
    RS_CONFIG(READ_)
    if (!rs_config_getenv("ROCSHMEM_DEBUG_LEVEL", NULL) && rs_config_is_on(read.shmem_debug))
        read.debug_level = "INFO";
    RS_TRY(rs_log_configure(read.debug_level)); /* first, so that what follows can be seen */
    RS_TRY(check_texts(&read));
    report_names();
    *config = read;
    return 0;
}
#undef READ_

/* ---- rows, for printing ---- */

int rs_config_rows(void)
{
    return N_ROWS;
}

static void print_number(enum rs_config_kind kind, uint64_t value, char *out, size_t nbytes)
{
    static const char suffixes[] = " KMGT";
    int power = 0;
    if (kind == RS_SIZE)
        for (; power < 4 && value && value % 1024 == 0; power++) value /= 1024;
    if (kind == RS_TIME && value % 1000000000u)
        snprintf(out, nbytes, "%llu.%03llu", (unsigned long long)(value / 1000000000u),
                 (unsigned long long)(value / 1000000u % 1000));
    else
        snprintf(out, nbytes, "%llu%.*s", (unsigned long long)(kind == RS_TIME ? value / 1000000000u : value),
                 power > 0, &suffixes[power]);
}

#define DFLT_RS_TEXT(value) snprintf(row_out->dflt, sizeof(row_out->dflt), "%s", value)
#define DFLT_RS_SIZE(value) print_number(RS_SIZE, (uint64_t)(value), row_out->dflt, sizeof(row_out->dflt))
#define DFLT_RS_COUNT(value) print_number(RS_COUNT, (uint64_t)(value), row_out->dflt, sizeof(row_out->dflt))
#define DFLT_RS_TIME(value) print_number(RS_TIME, (uint64_t)(value), row_out->dflt, sizeof(row_out->dflt))
#define DFLT_RS_FLAG(value) print_number(RS_FLAG, (uint64_t)(value), row_out->dflt, sizeof(row_out->dflt))
#define DFLT_(field, name, kind, dflt, unit, text)                                                           \
    if (strcmp(row_out->variable, name) == 0) DFLT_##kind(dflt);

void rs_config_row(int index, struct rs_config_row *row_out)
{
    *row_out = (struct rs_config_row){.variable = rows[index].variable,
                                      .unit = rows[index].unit,
                                      .text = rows[index].text,
                                      .kind = rows[index].kind};
    RS_CONFIG(DFLT_)
}

const char *rs_config_alias(int index, const char **variable_out)
{
    if (index < 0 || index >= N_ALIASES) return NULL;
    *variable_out = aliases[index].row;
    return aliases[index].variable;
}

const char *rs_config_foreign(int index, const char **text_out)
{
    if (index < 0 || index >= N_FOREIGN) return NULL;
    *text_out = foreign[index].text;
    return foreign[index].variable;
}
