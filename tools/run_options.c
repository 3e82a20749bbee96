/* SPDX-License-Identifier: MIT
 *
 * The command line of rocshmem-run: what it accepts, and the help that says so. Options end at the program's
 * name, so that the program's own are left alone. A mistake is one line on stderr.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocshmem/rocshmemx.h>

#include "run_options.h"

enum {
    OPT_TIMEOUT = 256,
    OPT_ENV,
    OPT_HEAP,
    OPT_GRACE,
    OPT_CHDIR,
    OPT_BIND,
    OPT_NO_BIND,
    OPT_VERSION,
    OPT_PREFIX,
    OPT_BIND_TO,
    OPT_NOTHING,
    OPT_NOTHING_WITH_VALUE,
    OPT_NOTHING_WITH_TWO,
    OPT_SET,
    OPT_NODES,
    OPT_HOSTS,
    OPT_HOSTFILE,
    OPT_SSH,
    OPT_AGENT
};

static const struct option long_options[] = {
    {"np", required_argument, NULL, 'n'},
    {"n", required_argument, NULL, 'n'},
    {"prefix", no_argument, NULL, OPT_PREFIX},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"grace", required_argument, NULL, OPT_GRACE},
    {"env", required_argument, NULL, OPT_ENV},
    {"heap", required_argument, NULL, OPT_HEAP},
    {"chdir", required_argument, NULL, OPT_CHDIR},
    {"bind", no_argument, NULL, OPT_BIND},
    {"no-bind", no_argument, NULL, OPT_NO_BIND},
    {"nodes", required_argument, NULL, OPT_NODES},
    {"hosts", required_argument, NULL, OPT_HOSTS},
    {"host", required_argument, NULL, OPT_HOSTS},
    {"hostfile", required_argument, NULL, OPT_HOSTFILE},
    {"ssh", required_argument, NULL, OPT_SSH},
    {"agent", no_argument, NULL, OPT_AGENT},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, 'h'},
    /* Open MPI's mpirun's and Hydra's, so that scripts for them work */
    {"bind-to", required_argument, NULL, OPT_BIND_TO},
    {"oversubscribe", no_argument, NULL, OPT_NOTHING},
    {"allow-run-as-root", no_argument, NULL, OPT_NOTHING},
    {"map-by", required_argument, NULL, OPT_NOTHING_WITH_VALUE},
    {"ppn", required_argument, NULL, OPT_NOTHING_WITH_VALUE},
    {"npernode", required_argument, NULL, OPT_NOTHING_WITH_VALUE},
    {"mca", required_argument, NULL, OPT_NOTHING_WITH_TWO},
    {"genv", required_argument, NULL, OPT_SET},
    {"wdir", required_argument, NULL, OPT_CHDIR},
    {"tag-output", no_argument, NULL, OPT_PREFIX},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: rocshmem-run -n N [options] program [arguments]      oshrun is the same program\n"
    "\n"
    "Start N PEs of a job, on this host or on others, and wait for them.\n"
    "\n"
    "  -n, -np, --np N      number of PEs, 1 to 32768; more than there are cores is fine (default: 1)\n"
    "      --prefix         begin every line of output with [pe]; lines are never mixed\n"
    "      --timeout SEC    after this long: print the state of all PEs, end them, exit with 124\n"
    "      --grace SEC      when a PE failed, how long the others may take to end by themselves (default: "
    "5)\n"
    "      --env NAME=VALUE set a variable for the PEs; may be repeated\n"
    "  -x NAME[=VALUE]      the same; without a value it changes nothing: PEs inherit all variables\n"
    "      --heap SIZE      symmetric heap of each PE, suffixes K M G T (sets ROCSHMEM_HEAP_SIZE)\n"
    "      --chdir DIR      run the program in this directory\n"
    "      --nodes K        play K hosts on this one: blocks of PEs that share no memory\n"
    "      --hosts A,B:4    start the PEs on these hosts over ssh, in equal blocks, or as many as the slots "
    "say;\n"
    "                       the program, its folder and rocshmem-run have the same paths there\n"
    "      --hostfile FILE  the same, a line each: host, host:4 or host slots=4\n"
    "      --ssh COMMAND    instead of ssh (or ROCSHMEM_RUN_SSH): run with a host and a command line for its "
    "shell\n"
    "      --bind           pin PEs to cores also when there are more PEs than cores (round robin);\n"
    "                       by default each PE gets an equal share of the cores when there is one for each\n"
    "      --no-bind        pin nothing\n"
    "      --bind-to WHAT   core, hwthread: as --bind; none: as --no-bind\n"
    "      --wdir DIR, --tag-output (-l), --genv NAME VALUE       as --chdir, --prefix and --env\n"
    "      --oversubscribe, --allow-run-as-root, --map-by WHAT, --ppn N, --npernode N, --mca NAME VALUE\n"
    "                       accepted, and change nothing\n"
    "                       (options of several letters may have one dash or two)\n"
    "  -q, --quiet          do not say why a job failed\n"
    "  -v, --verbose        say which process is which PE, and how each ended\n"
    "      --version        print the version, and end\n"
    "  -h, --help           print this, and end\n"
    "\n"
    "Environment of a PE: ROCSHMEM_RUN_SOCKET, ROCSHMEM_RUN_RANK and ROCSHMEM_RUN_SIZE, by which "
    "rocshmem_init finds\n"
    "the job; RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE; MASTER_ADDR (ROCSHMEM_MASTER_ADDR, else "
    "127.0.0.1)\n"
    "and MASTER_PORT (a free one) where they are unset.\n"
    "\n"
    "With --hosts, PEs get ROCSHMEM_, SHMEM_, UCX_, OMP_, PYTHON and GPU variables, PATH and LD_LIBRARY_PATH "
    "of here, and\n"
    "what -x and --env name; the rest is the remote host's.\n"
    "Standard input goes to PE 0 (with --hosts it is read as it comes, as ssh does: </dev/null keeps it); "
    "the others read\n"
    "/dev/null. The PEs and what they start are one process "
    "group: Ctrl-C,\n"
    "Ctrl-Z and the signals HUP INT QUIT TERM USR1 USR2 TSTP CONT sent to rocshmem-run reach each of them "
    "once. After\n"
    "TERM, HUP, or two INT within a second, what is left after the grace period is killed. The terminal is "
    "lent to the\n"
    "PEs when one reads from it. When the last PE has ended, or rocshmem-run was killed, nothing that they "
    "started is\n"
    "left.\n"
    "\n"
    "Exit status: 0 when all PEs exit with 0; that of rocshmem_global_exit; that of the first PE that "
    "failed, 128 + the\n"
    "signal if one killed it; 124 after --timeout; 125 when rocshmem-run itself failed; 126 when the program "
    "cannot be\n"
    "executed; 127 when it is not found.\n";

static int mistake(const char *what, const char *value, const char *expected)
{
    fprintf(stderr, "rocshmem-run: %s \"%s\" %s; rocshmem-run --help lists the options\n", what, value,
            expected);
    return RUN_FAILED;
}

static int take_count(const char *text, int *count_out)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || n < 1 || n > RUN_PES_MAX)
        return mistake("number of PEs", text, "is not one of 1 to 32768");
    *count_out = (int)n;
    return -1;
}

static int take_seconds(const char *what, const char *text, bool zero_is_fine, uint64_t *ns_out)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(seconds) || seconds < 0 || seconds > 1e9 ||
        (!zero_is_fine && seconds <= 0))
        return mistake(what, text, "is not a number of seconds");
    uint64_t ns = (uint64_t)(seconds * 1e9);
    *ns_out = ns == 0 && !zero_is_fine ? 1 : ns;
    return -1;
}

static int take_env(struct run_options *options, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) return mistake("variable", text, "is not NAME=VALUE");
    options->env[options->n_env++] = text;
    return -1;
}

/* NAME, and VALUE in the word behind it. */
static int take_pair(struct run_options *options, const char *word, const char *name, const char *value)
{
    if (*name == '\0' || *name == '=') return mistake(word, name, "is not a variable's name");
    size_t nbytes = strlen(name) + strlen(value) + 2;
    char *text = malloc(nbytes); /* lives as long as the process, like argv */
    if (!text) return mistake("option", word, "does not fit in memory");
    snprintf(text, nbytes, "%s=%s", name, value);
    options->env[options->n_env++] = text;
    return -1;
}

/* -x NAME: PEs of this host have it anyway, those of others are to. */
static int take_inherited(struct run_options *options, const char *name)
{
    const char *value = getenv(name);
    return value ? take_pair(options, "-x", name, value) : -1;
}

static int take_binding(struct run_options *options, const char *text)
{
    options->bind = strcmp(text, "core") == 0 || strcmp(text, "hwthread") == 0;
    options->no_bind = strcmp(text, "none") == 0;
    return options->bind || options->no_bind ? -1
                                             : mistake("--bind-to", text, "is not core, hwthread or none");
}

static int take(struct run_options *options, int letter, const char *value)
{
    switch (letter) {
    case 'n':
        return take_count(value, &options->n_pes);
    case 'q':
        options->quiet = true;
        return -1;
    case 'l':
        options->prefix = true;
        return -1;
    case 'v':
        options->verbose = true;
        return -1;
    case 'h':
        return fputs(help, stdout) < 0 ? RUN_FAILED : 0;
    case OPT_PREFIX:
        options->prefix = true;
        return -1;
    case OPT_BIND:
        options->bind = true;
        return -1;
    case OPT_NO_BIND:
        options->no_bind = true;
        return -1;
    case OPT_TIMEOUT:
        return take_seconds("--timeout", value, false, &options->timeout_ns);
    case OPT_GRACE:
        return take_seconds("--grace", value, true, &options->grace_ns);
    case OPT_ENV:
        return take_env(options, value);
    case 'x':
        return strchr(value, '=') ? take_env(options, value) : take_inherited(options, value);
    case OPT_NODES:
        return take_count(value, &options->n_nodes);
    case OPT_HOSTS:
        options->hosts = value;
        return -1;
    case OPT_HOSTFILE:
        options->hostfile = value;
        return -1;
    case OPT_SSH:
        options->ssh = value;
        return -1;
    case OPT_AGENT:
        options->agent = true;
        return -1;
    case OPT_BIND_TO:
        return take_binding(options, value);
    case OPT_NOTHING:
    case OPT_NOTHING_WITH_VALUE:
    case OPT_NOTHING_WITH_TWO:
        return -1;
    case OPT_HEAP:
        if (*value == '\0') return mistake("--heap", value, "is not a size");
        options->heap = value;
        return -1;
    case OPT_CHDIR:
        options->chdir = value;
        return -1;
    case OPT_VERSION:
    case 'V':
        return printf("rocshmem-run %s\n", rocshmemx_version()) < 0 ? RUN_FAILED : 0;
    default:
        return RUN_FAILED;
    }
}

int run_options_parse(struct run_options *options, int argc, char **argv)
{
    *options = (struct run_options){.n_pes = 1, .grace_ns = 5000000000u};
    options->env = calloc((size_t)argc + 1, sizeof(*options->env));
    if (!options->env) return mistake("command line", argv[0], "does not fit in memory");
    opterr = 0; /* one form for all messages: ours */
    for (;;) {
        int at = optind;
        int letter = getopt_long_only(argc, argv, "+:n:x:lqvhV", long_options, NULL);
        if (letter == -1) break;
        const char *word = at < argc ? argv[at] : "";
        if (letter == ':') return mistake("option", word, "needs a value");
        if (letter == '?') return mistake("option", word, "is unknown, ambiguous, or takes no value");
        const char *second = NULL;
        if (letter == OPT_SET || letter == OPT_NOTHING_WITH_TWO) {
            if (optind >= argc) return mistake("option", word, "needs two values");
            second = argv[optind++];
        }
        int status =
            letter == OPT_SET ? take_pair(options, word, optarg, second) : take(options, letter, optarg);
        if (status >= 0) return status;
    }
    if (options->agent) return -1;
    if (optind >= argc) {
        fputs("rocshmem-run: no program given; usage: rocshmem-run -n N [options] program [arguments]\n",
              stderr);
        return RUN_FAILED;
    }
    options->command = argv + optind;
    if (options->n_nodes > options->n_pes) return mistake("--nodes", "", "is more than there are PEs");
    return -1;
}
