/* SPDX-License-Identifier: MIT
 *
 * The unique id by PMI-1: lines of "cmd=… key=value …" on the descriptor PMI_FD, one answer to each request. Hydra
 * (MPICH's mpiexec) and Flux serve it.
 *
 * The descriptor is not ours alone: MPI_Init of this process may have used it already, or may come later. So every
 * request is answered before we return, and nothing is read beyond an answer. The server takes a process that has spoken
 * and ends without "finalize" for a failed one, and closes the connection at "finalize": so that word is said when the
 * process exits, if by then nobody else has (MPI_Finalize closes the descriptor). Where MPI greeted the server before
 * us, the last word is MPI's.
 */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"
#include "bootstrap/launchers.h"
#include "bootstrap/link.h"
#include "bootstrap/uid.h"

enum { LINE_NBYTES = 2048 };
#define GOODBYE_NS 1000000000u /* for the answer to the last word */

/* ---- one request ---- */

struct pmi {
    const char *launcher;
    int fd;
    uint64_t deadline_ns;
    char line[LINE_NBYTES]; /* the last answer */
};

/* Letter by letter: what follows the line may be for somebody else. */
static int read_line(struct pmi *pmi)
{
    for (size_t n = 0; n < sizeof(pmi->line); n++) {
        RS_TRY(rs_link_receive(pmi->fd, &pmi->line[n], 1, pmi->deadline_ns));
        if (pmi->line[n] != '\n') continue;
        pmi->line[n] = '\0';
        return 0;
    }
    errno = EMSGSIZE;
    return rs_fail(RS_E_SYSTEM, "its answer is too long");
}

/* The value of a key in the last answer. False: not there. */
static bool value_of(const struct pmi *pmi, const char *key, char *out, size_t nbytes)
{
    size_t length = strlen(key);
    for (const char *at = pmi->line; *at; at += strcspn(at, " "), at += *at == ' ') {
        if (strncmp(at, key, length) != 0 || at[length] != '=') continue;
        snprintf(out, nbytes, "%.*s", (int)strcspn(at + length + 1, " "), at + length + 1);
        return true;
    }
    return false;
}

/* Send a line, take its answer, which has to be cmd=expected with no other rc than 0. */
static int request(struct pmi *pmi, const char *line, const char *expected)
{
    char command[64] = "", status[16] = "0", what[64], why[160];
    snprintf(what, sizeof(what), "%.*s", (int)strcspn(line, " \n"), line);
    int rc = rs_os_send_all(pmi->fd, line, strlen(line), pmi->deadline_ns);
    if (rc == 0) rc = read_line(pmi);
    if (rc < 0 && rc != RS_E_SYSTEM && rc != RS_E_TIMEOUT) return rc;
    if (rc < 0) {
        snprintf(why, sizeof(why), "%.150s", rs_error_slot()->text);
        return rs_fail(RS_E_BOOTSTRAP,
                       "%s's server on PMI_FD %d did not answer %s: %s; did another rank end, or does PMI_FD "
                       "come from a "
                       "launcher that is not this process's parent (then unset it)",
                       pmi->launcher, pmi->fd, what, why);
    }
    value_of(pmi, "cmd", command, sizeof(command));
    value_of(pmi, "rc", status, sizeof(status));
    if (strcmp(command, expected) == 0 && strcmp(status, "0") == 0) return 0;
    return rs_fail(RS_E_BOOTSTRAP,
                   "%s's server on PMI_FD %d answered %s with \"%.200s\"; expected cmd=%s rc=0",
                   pmi->launcher, pmi->fd, what, pmi->line, expected);
}

/* ---- the last word ---- */

static struct {
    atomic_bool due; /* W: the first join of this process. R: exit */
    int pid, fd;
    dev_t device;
    ino_t inode; /* the connection that was greeted: is it still there? */
} goodbye;

static void say_goodbye(void)
{
    struct stat now;
    if (!atomic_load(&goodbye.due) || goodbye.pid != (int)getpid()) return;
    if (fstat(goodbye.fd, &now) != 0 || now.st_dev != goodbye.device || now.st_ino != goodbye.inode) return;
    atomic_store(&goodbye.due, false);
    struct pmi pmi = {.launcher = "PMI", .fd = goodbye.fd, .deadline_ns = rs_os_now_ns() + GOODBYE_NS};
    rs_bootstrap_set_hook(NULL); /* the interpreter that it is for has ended */
    (void)request(&pmi, "cmd=finalize\n", "finalize_ack");
}

static int greet(struct pmi *pmi)
{
    struct stat now;
    int kind = 0;
    socklen_t length = sizeof(kind);
    if (fstat(pmi->fd, &now) != 0 || getsockopt(pmi->fd, SOL_SOCKET, SO_TYPE, &kind, &length) != 0)
        return rs_fail(RS_E_BOOTSTRAP,
                       "PMI_FD is %d, which is %s: the launcher's connection was closed on the way to this "
                       "process (MPI_Finalize "
                       "closes it, or a program in between did); init before that, or use a unique id",
                       pmi->fd, errno == EBADF ? "not open" : "no socket");
    if (atomic_load(&goodbye.due) && goodbye.device == now.st_dev && goodbye.inode == now.st_ino) return 0;
    RS_TRY(request(pmi, "cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init"));
    if (atomic_load(&goodbye.due)) return 0;
    goodbye.pid = (int)getpid();
    goodbye.fd = pmi->fd;
    goodbye.device = now.st_dev;
    goodbye.inode = now.st_ino;
    static atomic_bool registered;
    if (!atomic_exchange(&registered, true) && atexit(say_goodbye) != 0) return 0;
    atomic_store(&goodbye.due, true);
    return 0;
}

/* ---- the unique id ---- */

/* Put it (rank 0), meet, get it (the others). text: RS_UID_TEXT bytes, in and out. */
static int exchange(struct pmi *pmi, int rank, char *text)
{
    static atomic_uint generations; /* a key can be put once */
    char space[300], number[32] = "", line[LINE_NBYTES];
    unsigned generation = atomic_fetch_add(&generations, 1) + 1;
    RS_TRY(request(pmi, "cmd=get_maxes\n", "maxes"));
    value_of(pmi, "vallen_max", number, sizeof(number));
    if (strtol(number, NULL, 10) < RS_UID_TEXT)
        return rs_fail(
            RS_E_BOOTSTRAP,
            "%s's server takes values of %.30s letters, a unique id needs %d; broadcast a unique id instead",
            pmi->launcher, number, RS_UID_TEXT);
    RS_TRY(request(pmi, "cmd=get_my_kvsname\n", "my_kvsname"));
    if (!value_of(pmi, "kvsname", space, sizeof(space)))
        return rs_fail(RS_E_BOOTSTRAP, "%s's server named no key space: \"%.200s\"", pmi->launcher,
                       pmi->line);
    if (rank == 0) {
        snprintf(line, sizeof(line), "cmd=put kvsname=%s key=rocshmem-uid-%u value=%s\n", space, generation,
                 text);
        RS_TRY(request(pmi, line, "put_result"));
    }
    RS_TRY(request(pmi, "cmd=barrier_in\n", "barrier_out"));
    if (rank == 0) return 0;
    snprintf(line, sizeof(line), "cmd=get kvsname=%s key=rocshmem-uid-%u\n", space, generation);
    RS_TRY(request(pmi, line, "get_result"));
    value_of(pmi, "value", text, RS_UID_TEXT);
    return 0;
}

int rs_pmi1_join(struct rs_bootstrap *bootstrap_out, const struct rs_config *config, const char *launcher,
                 const char *rank_name, const char *size_name, int local)
{
    int rank, nranks;
    rocshmem_uniqueid_t uid;
    char text[RS_UID_TEXT] = "-";
    struct pmi pmi = {.launcher = launcher, .deadline_ns = rs_link_deadline(config->bootstrap_ns)};
    RS_TRY(rs_env_rank_and_size(rank_name, size_name, &rank, &nranks));
    if (nranks == 1) return rs_bootstrap_alone(bootstrap_out, launcher);
    RS_TRY(rs_env_number("PMI_FD", 0, INT_MAX, &pmi.fd));
    RS_TRY(greet(&pmi));
    int served = rank == 0 ? rs_uid_serve_once(config, local == nranks, true, &uid) : 0;
    rocshmemx_error_t error = *rs_error_slot();
    if (rank == 0 && served == 0) rs_uid_to_text(&uid, text);
    int rc = exchange(&pmi, rank, text);
    if (served < 0) {
        *rs_error_slot() = error; /* the others know that there is none */
        return served;
    }
    if (rc == 0 && rank > 0) rc = rs_uid_from_text(text, launcher, &uid);
    if (rc == 0) rc = rs_bootstrap_uid(bootstrap_out, config, &uid, rank, nranks);
    if (rc < 0 && rank == 0) rs_uid_stop(&uid);
    if (rc < 0) return rc;
    bootstrap_out->launcher = launcher;
    bootstrap_out->server = 0;
    return 0;
}
