/* SPDX-License-Identifier: MIT
 *
 * The pages of info_text.h. Everything in them is read from the place that decides it: variables from the
 * rows of config.def, abilities from the tables of devices and transports, the
 * launcher from bootstrap.
 * Called by rocshmemx_print_info, from any thread, before init too. A page is made in memory and written at
 * once, so it arrives whole or not at all.
 */
#include "api/info_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"
#include "bootstrap/bootstrap.h"
#include "pgas/job.h"
#include "pgas/windows.h"
#include "transport/transport.h"

static const struct rs_transport_ops *const transports[] = {&rs_transport_direct, &rs_transport_net};
enum { N_TRANSPORTS = sizeof(transports) / sizeof(transports[0]) };

static const char *form_of(const struct rs_config_row *row)
{
    switch (row->kind) {
    case RS_SIZE:
        return "size: bytes, or with a suffix K M G T, as 1.5G";
    case RS_COUNT:
        return "count: a whole number";
    case RS_TIME:
        return "time: seconds, or with a suffix ms s m";
    case RS_FLAG:
        return "flag: 0 or 1, no or yes, off or on";
    case RS_TEXT:
        return "text";
    }
    return "text";
}

static void environment_page(FILE *page)
{
    fputs("# Environment\n\n"
          "Printed by `rocshmem-info --environment`, from the rows that the parser reads. An empty variable "
          "counts as unset. A bad\n"
          "value is an error that names variable, value and form; an unknown `ROCSHMEM_` name is a warning "
          "with the nearest name.\n"
          "Variables are read in init; give every PE of a job the same ones. `rocshmem-run` passes its "
          "environment on.\n\n"
          "| variable | form | default | unit | what it does |\n"
          "|---|---|---|---|---|\n",
          page);
    for (int i = 0; i < rs_config_rows(); i++) {
        struct rs_config_row row;
        rs_config_row(i, &row);
        fprintf(page, "| `%s` | %s | %s%s%s | %s | %s |\n", row.variable, form_of(&row),
                row.dflt[0] ? "`" : "", row.dflt, row.dflt[0] ? "`" : "", row.unit, row.text);
    }
    const char *row = NULL, *alias;
    fputs("\n## OpenSHMEM's names\n\n"
          "For `oshrun` and for scripts of other OpenSHMEM libraries. Where both are set, the variable above "
          "wins.\n\n"
          "| variable | is |\n"
          "|---|---|\n",
          page);
    for (int i = 0; (alias = rs_config_alias(i, &row)) != NULL; i++)
        fprintf(page, "| `%s` | `%s` |\n", alias, row);
    fputs("\n## Accepted, without an effect\n\n"
          "Variables of upstream that mean nothing here. Setting one is no error; at level INFO a line says "
          "what follows.\n\n"
          "| variable | why it changes nothing |\n"
          "|---|---|\n",
          page);
    const char *text = NULL;
    for (int i = 0; rs_config_foreign(i, &text); i++)
        fprintf(page, "| `%s` | %s |\n", rs_config_foreign(i, &text), text);
}

static void device_row(FILE *page, const char *title, size_t fact)
{
    fprintf(page, "| %s |", title);
    for (int i = 0; i < RS_DEVICE_KINDS; i++) {
        bool can;
        memcpy(&can, (const char *)rs_device_kinds[i] + fact, sizeof(can));
        fputs(can ? " yes |" : " no |", page);
    }
    fputc('\n', page);
}

static void support_page(FILE *page)
{
    fputs(
        "# Support\n\n"
        "Printed by `rocshmem-info --support`, from the tables of devices and transports in this version.\n\n"
        "## Devices: where the symmetric heap lives\n\n|  |",
        page);
    for (int i = 0; i < RS_DEVICE_KINDS; i++) fprintf(page, " %s |", rs_device_kinds[i]->name);
    fputs("\n|---|", page);
    for (int i = 0; i < RS_DEVICE_KINDS; i++) fputs("---|", page);
    fputc('\n', page);
    device_row(page, "the CPU loads and stores the heap", offsetof(struct rs_device_ops, cpu_reaches_heap));
    device_row(page, "functions of ours run in stream order", offsetof(struct rs_device_ops, can_call));
    device_row(page, "stream work can be captured in a graph", offsetof(struct rs_device_ops, can_capture));
    fputs("\n## Transports: how bytes reach a PE, first match\n\n"
          "| transport | put, get | atomics | on stream | signal on stream |\n|---|---|---|---|---|\n",
          page);
    for (int i = 0; i < N_TRANSPORTS; i++) {
        const struct rs_transport_ops *ops = transports[i];
        fprintf(page, "| %s | %s | %s | %s | %s |\n", ops->name, ops->put && ops->get ? "yes" : "no",
                ops->amo ? "yes" : "no", ops->put_on_stream && ops->get_on_stream ? "yes" : "no",
                ops->signal_on_stream ? "yes" : "no");
    }
}

/* The value of a variable as it is in the environment, for people. */
static void values(FILE *page)
{
    fputs("\nvariables (rocshmem-info --environment says what they do)\n", page);
    for (int i = 0; i < rs_config_rows(); i++) {
        struct rs_config_row row;
        rs_config_row(i, &row);
        const char *name, *value = rs_config_getenv(row.variable, &name);
        bool alias = value && strcmp(name, row.variable) != 0;
        fprintf(page, "  %-34s %s%s%s%s%s\n", row.variable, value ? value : row.dflt,
                value ? "  (environment" : "", alias ? ", " : "", alias ? name : "", value ? ")" : "");
    }
    const char *text = NULL, *name;
    for (int i = 0; (name = rs_config_foreign(i, &text)) != NULL; i++)
        if (getenv(name)) fprintf(page, "  %-34s %s  (ignored: %s)\n", name, getenv(name), text);
}

static void version_line(FILE *page)
{
    fprintf(page, "version      %s, after OpenSHMEM %d.%d\n", rocshmemx_version(), ROCSHMEM_MAJOR_VERSION,
            ROCSHMEM_MINOR_VERSION);
}

/* What this process has, and what ROCSHMEM_DEVICE would make of it if all PEs had the same. */
static void device_lines(FILE *page, const struct rs_config *config)
{
    struct rs_device_options options = rs_device_options_of(config);
    const struct rs_device_ops *taken = NULL;
    char why[256] = "", reason[160] = "";
    for (int i = 0; i < RS_DEVICE_KINDS - 1; i++) {
        int n = rs_device_kinds[i]->count(&options, why, sizeof why);
        fprintf(page, "%s", i == 0 ? "devices      " : "             ");
        if (n > 0)
            fprintf(page, "%s: %d\n", rs_device_kinds[i]->name, n);
        else
            fprintf(page, "%s: none, %s\n", rs_device_kinds[i]->name, why);
    }
    struct rs_device_offer offer = rs_device_offer(config, false);
    fputs("             host: always\n", page);
    if (rs_device_choose(&offer, 1, config, &taken, reason) < 0)
        fprintf(page, "             ROCSHMEM_DEVICE=%s cannot be had here\n", config->device);
    else
        fprintf(page, "             taken: %s (%s)\n", taken->name, reason);
}

static void all_page(FILE *page, const struct rs_config *config)
{
    struct utsname machine;
    version_line(page);
    if (uname(&machine) == 0)
        fprintf(page, "machine      %s, Linux %s, %d cores for this process\n", machine.machine,
                machine.release, rs_os_cpus());
    fprintf(page, "compiler     %s\n", __VERSION__);
    if (config) device_lines(page, config);
    fputs("transports  ", page);
    for (int i = 0; i < N_TRANSPORTS; i++) fprintf(page, " %s", transports[i]->name);
    fprintf(page, "\nlauncher     %s\n", rs_bootstrap_detect());
    if (rocshmemx_initialized())
        fprintf(page, "job          PE %d of %d, device %s %d: %s\n", rocshmem_my_pe(), rocshmem_n_pes(),
                rocshmemx_device_name(), rocshmemx_device_ordinal(),
                atomic_load_explicit(&rs_job_current, memory_order_acquire)->device_why);
    if (config) values(page);
}

static int write_all(int fd, const char *text, size_t nbytes)
{
    while (nbytes > 0) {
        ssize_t n = write(fd, text, nbytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return rs_fail(RS_E_SYSTEM, "could not write to descriptor %d: %s", fd, strerror(errno));
        text += n;
        nbytes -= (size_t)n;
    }
    return 0;
}

int rs_info_print(int fd, const char *what, const struct rs_config *config)
{
    bool all = !what || strcmp(what, "all") == 0;
    bool version = what && strcmp(what, "version") == 0;
    bool environment = what && strcmp(what, "environment") == 0;
    bool launch = what && strcmp(what, "launch") == 0;
    if (!all && !version && !environment && !launch && strcmp(what, "support") != 0)
        return rs_fail(
            RS_E_ARG,
            "what is \"%.100s\"; give \"all\", \"version\", \"environment\", \"launch\" or \"support\"",
            what);
    char *text = NULL;
    size_t nbytes = 0;
    FILE *page = open_memstream(&text, &nbytes);
    if (!page) return rs_fail(RS_E_NOMEM, "no memory for a page of text");
    if (all)
        all_page(page, config);
    else if (version)
        version_line(page);
    else if (environment)
        environment_page(page);
    else if (launch)
        rs_bootstrap_explain(page);
    else
        support_page(page);
    int rc =
        fclose(page) == 0 ? write_all(fd, text, nbytes) : rs_fail(RS_E_NOMEM, "no memory for a page of text");
    free(text);
    return rc;
}
