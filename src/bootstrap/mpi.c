/* SPDX-License-Identifier: MIT
 *
 * Finds and calls the plug-in that knows MPI.
 */
#include "bootstrap/mpi.h"

#include <string.h>

#include "base/plugin.h"
#include "base/status.h"

int rs_bootstrap_mpi(const void *comm_address, int busy, int (*serve)(rocshmem_uniqueid_t *uid),
                     rocshmem_init_attr_t *attr)
{
    char text[512] = "";
    __typeof__(&rocshmem_mpi_meet) meet = NULL;
    void *symbol = rs_plugin_symbol(RS_MPI_PLUGIN, RS_MPI_MEET, text, sizeof(text));
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
