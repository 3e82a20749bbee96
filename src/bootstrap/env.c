/* SPDX-License-Identifier: MIT
 *
 * The job that the environment describes: which row of rs_launchers is taken, and why not the others; and what the
 * rows read variables with. Called in init, and by rocshmem-info; any thread.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/status.h"
#include "bootstrap/launchers.h"

/* ---- variables ---- */

const char *rs_env_text(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

int rs_env_number(const char *name, long min, long max, int *out)
{
    const char *text = rs_env_text(name);
    char *end;
    errno = 0;
    long value = text ? strtol(text, &end, 10) : 0;
    if (!text || errno || *end || value < min || value > max)
        return rs_fail(RS_E_CONFIG, "%s is \"%.100s\"; give a whole number from %ld to %ld", name,
                       text ? text : "", min, max);
    *out = (int)value;
    return 0;
}

int rs_env_rank_and_size(const char *rank_name, const char *size_name, int *rank_out, int *size_out)
{
    RS_TRY(rs_env_number(size_name, 1, INT_MAX, size_out));
    return rs_env_number(rank_name, 0, (long)*size_out - 1, rank_out);
}

int rs_bootstrap_alone(struct rs_bootstrap *bootstrap_out, const char *launcher)
{
    *bootstrap_out = (struct rs_bootstrap){
        .nranks = 1, .socket = -1, .deadline_ns = UINT64_MAX, .launcher = launcher, .where = "this process"};
    return 0;
}

/* ---- the unique id as a text ---- */

void rs_uid_to_text(const rocshmem_uniqueid_t *uid, char out[RS_UID_TEXT])
{
    for (size_t i = 0; i < ROCSHMEM_UNIQUE_ID_BYTES; i++) {
        unsigned byte = (unsigned char)uid->data[i];
        out[2 * i] = "0123456789abcdef"[byte >> 4];
        out[2 * i + 1] = "0123456789abcdef"[byte & 15];
    }
    out[RS_UID_TEXT - 1] = '\0';
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int rs_uid_from_text(const char *text, const char *launcher, rocshmem_uniqueid_t *uid_out)
{
    rocshmem_uniqueid_t uid;
    if (strcmp(text, "-") == 0)
        return rs_fail_pe(RS_E_BOOTSTRAP, 0, "rank 0 could not serve a unique id; its own message says why");
    bool good = strlen(text) == RS_UID_TEXT - 1;
    for (size_t i = 0; good && i < ROCSHMEM_UNIQUE_ID_BYTES; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        good = high >= 0 && low >= 0;
        uid.data[i] = (__typeof__(uid.data[0]))(high * 16 + low);
    }
    if (!good)
        return rs_fail(RS_E_BOOTSTRAP,
                       "%s gave %zu letters that are no unique id; use one version of the library everywhere",
                       launcher, strlen(text));
    *uid_out = uid;
    return 0;
}

/* ---- which row ---- */

/* NULL: the row is for this process. Else why not, in words. */
static const char *refusal(const struct rs_launcher *row, char *text, size_t nbytes)
{
    for (int i = 0; i < RS_LAUNCHER_NEEDS && row->needs[i]; i++)
        if (!rs_env_text(row->needs[i])) {
            snprintf(text, nbytes, "%s is unset", row->needs[i]);
            return text;
        }
    return row->against ? row->against() : NULL;
}

/* The row that ROCSHMEM_LAUNCHER names, else the first that fits. A name that no row has is CONFIG. */
static int choose(const struct rs_launcher **row_out)
{
    char text[128];
    const char *wish = rs_env_text("ROCSHMEM_LAUNCHER");
    bool any = !wish || strcmp(wish, "auto") == 0;
    for (const struct rs_launcher *row = rs_launchers;; row++) {
        bool last = !row->needs[0];
        const char *why = any || strcmp(row->word, wish) == 0 ? refusal(row, text, sizeof(text)) : NULL;
        if (any ? !why : strcmp(row->word, wish) == 0) {
            if (why)
                return rs_fail(RS_E_CONFIG,
                               "ROCSHMEM_LAUNCHER is \"%s\", but %s did not start this process: %s", wish,
                               row->name, why);
            *row_out = row;
            return 0;
        }
        if (last) break;
    }
    return rs_fail(RS_E_CONFIG,
                   "ROCSHMEM_LAUNCHER is \"%.100s\"; give auto, or a word of rocshmem-info --launch", wish);
}

const char *rs_bootstrap_detect(void)
{
    const struct rs_launcher *row;
    return choose(&row) == 0 ? row->name : "none";
}

void rs_bootstrap_explain(FILE *page)
{
    char text[128];
    const struct rs_launcher *taken = NULL;
    if (choose(&taken) == 0)
        fprintf(page, "taken        %s: the unique id goes %s\n", taken->name, taken->way);
    else
        fprintf(page, "taken        none: %s\n", rs_error_slot()->text);
    const char *wish = rs_env_text("ROCSHMEM_LAUNCHER");
    fprintf(page, "             ROCSHMEM_LAUNCHER=%s\n\n", wish ? wish : "auto");
    fputs("in the order of trial (word for ROCSHMEM_LAUNCHER, launcher, why not, what it reads)\n", page);
    for (const struct rs_launcher *row = rs_launchers;; row++) {
        const char *why = refusal(row, text, sizeof(text));
        bool named = wish && strcmp(wish, "auto") != 0;
        fprintf(page, "  %-12s %-14s %s\n", row->word, row->name,
                row == taken ? "taken"
                : why        ? why
                : named      ? "possible, but ROCSHMEM_LAUNCHER names another one"
                             : "possible, but an earlier one is taken");
        for (int i = 0; i < RS_LAUNCHER_NEEDS && row->needs[i]; i++) {
            const char *value = rs_env_text(row->needs[i]);
            if (value) fprintf(page, "  %-12s   %s=%.200s\n", "", row->needs[i], value);
        }
        if (!row->needs[0]) break;
    }
}

int rs_bootstrap_env(struct rs_bootstrap *bootstrap_out, const struct rs_config *config)
{
    const struct rs_launcher *row;
    RS_TRY(choose(&row));
    RS_TRY(row->join(bootstrap_out, config));
    rs_log(RS_LOG_INFO, "launcher %s rank %d of %d rendezvous %s", row->name, bootstrap_out->rank,
           bootstrap_out->nranks, bootstrap_out->where);
    return 0;
}
