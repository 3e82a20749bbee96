/* SPDX-License-Identifier: MIT
 *
 * rocshmem-info: what this library and this machine offer. The library prints; docs/environment.md and
 * docs/support.md are its output, so they cannot differ from what the code does.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rocshmem/rocshmem.h>
#include <rocshmem/rocshmemx.h>

static const char help[] =
    "usage: rocshmem-info [option]\n"
    "\n"
    "Print facts about this library and machine. Without a job: it may be run anywhere, also as a PE.\n"
    "\n"
    "      --all          versions, devices, transports, launcher, variables (default)\n"
    "      --environment  every ROCSHMEM_ variable: form, default, meaning (docs/environment.md)\n"
    "      --launch       which launcher started this process, by which variables; why not another one\n"
    "      --support      what each device and transport offers (docs/support.md)\n"
    "      --version      print the version, and end\n"
    "  -h, --help         print this, and end\n"
    "\n"
    "Exit status: 0, or 1 when a variable has a bad value or the output cannot be written, or 2 for a wrong "
    "option.\n";

static int print_info(const char *what)
{
    if (rocshmemx_print_info(STDOUT_FILENO, what) == 0) return 0;
    rocshmemx_error_t error = {.text = "no reason given"};
    rocshmemx_take_error(&error);
    fprintf(stderr, "rocshmem-info: %s\n", error.text);
    return 1;
}

int main(int argc, char **argv)
{
    const char *option = argc < 2 ? "--all" : argv[1];
    if (argc <= 2) {
        if (strcmp(option, "--all") == 0) return print_info("all");
        if (strcmp(option, "--environment") == 0) return print_info("environment");
        if (strcmp(option, "--launch") == 0) return print_info("launch");
        if (strcmp(option, "--support") == 0) return print_info("support");
        if (strcmp(option, "--version") == 0) return printf("rocshmem-info %s\n", rocshmemx_version()) < 0;
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) return fputs(help, stdout) < 0;
    }
    fprintf(stderr, "rocshmem-info: %s \"%s\"; rocshmem-info --help lists the options\n",
            argc > 2 ? "one option at a time, not also" : "no such option", argv[argc > 2 ? 2 : 1]);
    return 2;
}
