/* SPDX-License-Identifier: MIT
 *
 * Opens libucp and chooses UCX's defaults. A variable that the user has set is never touched.
 *
 * UCX reads some of its variables in a constructor of its own, so ours are put into the environment for as long as a
 * network opens, and taken out again: children of the program don't inherit them. A process that has UCX already (by MPI)
 * keeps what it has chosen.
 */
#include "transport/ucx/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libucp.so.0"

struct rs_ucp rs_ucp;

static const struct {
    const char *name, *value;
} defaults[] = {
    /* Read while UCX is loaded. */
    {"UCX_LOG_LEVEL", "fatal"},    /* failures come back as statuses; nothing on the program's output */
    {"UCX_HANDLE_ERRORS", "none"}, /* SIGSEGV and its like stay the program's */
    {"UCX_DEBUG_SIGNO", "0"},      /* so does SIGHUP */
    {"UCX_WARN_UNUSED_ENV_VARS", "n"},
    {"UCX_VFS_ENABLE", "n"}, /* no thread that watches a folder */
    /* Read when a worker is made: ucp_config_modify of UCX 1.13 does not reach a transport's own settings. One read of a
     * socket takes this much, and one message of ours fits: more of it is slower, for it leaves the cache between the
     * kernel's copy and ours. */
    {"UCX_TCP_TX_SEG_SIZE", "64K"},
    {"UCX_TCP_RX_SEG_SIZE", "64K"},
};
#define N_DEFAULTS (sizeof(defaults) / sizeof(defaults[0]))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of opening */
static bool is_open;

#define SYMBOL_(member, symbol) {offsetof(struct rs_ucp, member), #symbol},
static const struct {
    size_t slot;
    const char *name;
} symbols[] = {RS_UCP(SYMBOL_)};
#undef SYMBOL_

static bool ours[N_DEFAULTS]; /* under lock */

void rs_ucx_environment_begin(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < N_DEFAULTS; i++) {
        ours[i] = !getenv(defaults[i].name);
        if (ours[i]) setenv(defaults[i].name, defaults[i].value, 1);
    }
}

void rs_ucx_environment_end(void)
{
    for (size_t i = 0; i < N_DEFAULTS; i++)
        if (ours[i]) unsetenv(defaults[i].name);
    rs_ucx_lead_descriptors(); /* of the transports that were loaded meanwhile */
    pthread_mutex_unlock(&lock);
}

static int look_up(char *reason, size_t nbytes)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *error = dlerror();
        snprintf(reason, nbytes, "%s; install UCX (libucx0 on Debian)", error ? error : "no " LIBRARY);
        return -1;
    }
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (!symbol) {
            snprintf(reason, nbytes, LIBRARY " has no %s; UCX 1.12 or newer is needed", symbols[i].name);
            return -1;
        }
        memcpy((char *)&rs_ucp + symbols[i].slot, &symbol, sizeof(symbol));
    }
    rs_ucx_lead_descriptors();
    return 0;
}

int rs_ucx_library_open(char *reason, size_t nbytes)
{
    int rc = is_open ? 0 : look_up(reason, nbytes);
    if (rc == 0) is_open = true;
    return rc;
}

ucp_config_t *rs_ucx_configure(const char *tls, char *reason, size_t nbytes)
{
    ucp_config_t *config;
    ucs_status_t status = rs_ucp.config_read(NULL, NULL, &config);
    if (status != UCS_OK) {
        snprintf(reason, nbytes, "UCX cannot read its configuration: %s", rs_ucp.status_string(status));
        return NULL;
    }
    if (!*tls && !getenv("UCX_TLS")) tls = "^sm";
    if (*tls && (status = rs_ucp.config_modify(config, "TLS", tls)) != UCS_OK) {
        snprintf(reason, nbytes, "UCX does not take \"%s\" as its transports: %s", tls,
                 rs_ucp.status_string(status));
        rs_ucp.config_release(config);
        return NULL;
    }
    return config;
}

size_t rs_ucx_segment(void)
{
    return (64u << 10) - 256;
}
