/* SPDX-License-Identifier: MIT
 *
 * Finds and calls the plug-in that knows MPI. It lies beside the library that this code is in; if not there, the
 * dynamic linker looks for it. Once loaded it stays.
 */
#include "bootstrap/mpi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/status.h"

/* Any address of this library serves. */
static const char here = 0;

static void *load(char *reason, size_t nbytes)
{
    char path[4096];
    Dl_info self;
    const char *slash = NULL;
    if (dladdr(&here, &self) && self.dli_fname) slash = strrchr(self.dli_fname, '/');
    if (slash) {
        snprintf(path, sizeof(path), "%.*s/" RS_MPI_PLUGIN, (int)(slash - self.dli_fname), self.dli_fname);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
        const char *error = dlerror();
        if (error && !strstr(error, "No such file")) { /* it is there, but MPI is not, or not the right one */
            snprintf(reason, nbytes, "%s", error);
            return NULL;
        }
    }
    void *library = dlopen(RS_MPI_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    const char *error = library ? NULL : dlerror();
    if (error) snprintf(reason, nbytes, "%s", error);
    return library;
}

int rs_bootstrap_mpi(const void *comm_address, int busy, int (*serve)(rocshmem_uniqueid_t *uid),
                     rocshmem_init_attr_t *attr)
{
    char text[512] = "no reason given";
    __typeof__(&rocshmem_mpi_meet) meet = NULL;
    void *library = load(text, sizeof(text));
    void *symbol = library ? dlsym(library, RS_MPI_MEET) : NULL;
    if (!symbol)
        return rs_fail(RS_E_UNSUPPORTED,
                       "no " RS_MPI_PLUGIN
                       " (%s): it is built beside librocshmem.so when CMake finds MPI; or "
                       "broadcast a unique id and pass ROCSHMEM_INIT_WITH_UNIQUEID",
                       text);
    memcpy(&meet, &symbol, sizeof(meet)); /* C has no cast from an object's pointer to a function's */
    int rc = meet(comm_address, !busy, serve, attr, text, sizeof(text));
    switch (rc) {
    case RS_MPI_ARG:
        return rs_fail(RS_E_ARG, "%s", text);
    case RS_MPI_OTHER:
        return rs_fail(RS_E_UNSUPPORTED, "%s; build it with that MPI", text);
    case RS_MPI_FAILED:
    case RS_MPI_OTHERS:
        return rs_fail(RS_E_BOOTSTRAP, "%s", text);
    default:
        return rc;
    }
}
