/* SPDX-License-Identifier: MIT
 *
 * Text over the rows of config.def. Called by rocshmem-info and by programs, before init as well.
 */
#include "observe/info_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static const char *kind_form(enum rs_config_kind kind)
{
    switch (kind) {
    case RS_SIZE: return "size";
    case RS_COUNT: return "count";
    case RS_TIME: return "time";
    case RS_FLAG: return "flag";
    default: return "text";
    }
}

static void print_environment(int fd)
{
    dprintf(fd, "# Environment variables\n\n"
                "Read once, by init. A bad value is an error that names variable, value and form. An unknown `ROCSHMEM_` name is a\n"
                "warning with the nearest known one. Sizes take the suffixes K M G T; times are seconds and take ms, s, m.\n\n"
                "| variable | form | default | what it does |\n|---|---|---|---|\n");
    for (int i = 0; i < rs_config_rows(); i++) {
        struct rs_config_row row;
        rs_config_row(i, &row);
        dprintf(fd, "| `%s` | %s | %s%s%s | %s |\n", row.variable, kind_form(row.kind), row.dflt[0] ? row.dflt : "unset",
                row.unit[0] && row.dflt[0] ? " " : "", row.dflt[0] ? row.unit : "", row.text);
    }
    dprintf(fd, "\nVariables of upstream that mean nothing here are accepted, with an INFO line:\n\n"
                "| variable | why it has no effect |\n|---|---|\n");
    const char *text;
    for (int i = 0; rs_config_foreign(i, &text); i++) dprintf(fd, "| `%s` | %s |\n", rs_config_foreign(i, &text), text);
}

static void print_support(int fd)
{
    dprintf(fd, "# What is supported\n\n"
                "| | host device |\n|---|---|\n"
                "| PEs on one host | yes, memory is shared |\n"
                "| PEs on several hosts | no: init says so |\n"
                "| puts, gets, signals, atomics from the host | yes |\n"
                "| blocking collectives | yes |\n"
                "| operations on streams | yes, on host streams |\n"
                "| collectives on streams | yes |\n"
                "| graph capture | no: there is nothing to capture |\n"
                "| calls from inside kernels | no |\n\n"
                "| launcher | how the PEs meet |\n|---|---|\n"
                "| none | a job of one PE |\n"
                "| rocshmem-run | a unique id that the launcher serves |\n"
                "| torchrun | its variables, one host |\n"
                "| mpirun of Open MPI | its variables, one host |\n"
                "| any, with a unique id | TCP |\n");
}

static void print_variables(int fd)
{
    dprintf(fd, "variables\n");
    for (int i = 0; i < rs_config_rows(); i++) {
        struct rs_config_row row;
        rs_config_row(i, &row);
        const char *value = getenv(row.variable);
        dprintf(fd, "  %-36s %-24s default %-16s %s\n", row.variable, value ? value : row.dflt, row.dflt,
                value ? "environment" : "default");
    }
}

int rs_info_print(int fd, const char *what, const struct rs_config *config)
{
    (void)config; /* it was read without an error: the values stand */
    if (!what || strcmp(what, "all") == 0)
        print_variables(fd);
    else if (strcmp(what, "environment") == 0)
        print_environment(fd);
    else if (strcmp(what, "support") == 0)
        print_support(fd);
    else
        return rs_fail(RS_E_ARG, "what is \"%s\"; it must be \"all\", \"environment\" or \"support\"", what);
    return 0;
}
