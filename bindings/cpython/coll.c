/* SPDX-License-Identifier: MIT
 *
 * Collectives on bytes, the calls about teams that return more than a number, and facts of the library. The
 * typed collectives are in typed.c.
 */
#include "calls.h"

/* ---- collectives ---- */

/* One collective: its arguments after (team, dest, source), and the call's. A status raises. */
#define COLLECTIVE(name, call_arguments, ...)                                                                \
    FUNCTION(name, 0, {NAME_team, TEAM}, {NAME_dest, ADDRESS}, {NAME_source, ADDRESS}, __VA_ARGS__)          \
    {                                                                                                        \
        int status;                                                                                          \
        WITHOUT_GIL(status = name call_arguments);                                                           \
        return none_or_status(module, status, #name);                                                        \
    }
COLLECTIVE(rocshmem_broadcastmem, (v[0].team, v[1].ptr, v[2].ptr, v[3].size, v[4].i), {NAME_nelems, SIZE},
           {NAME_pe_root, PE})
COLLECTIVE(rocshmem_alltoallmem, (v[0].team, v[1].ptr, v[2].ptr, v[3].size), {NAME_nelems, SIZE})
COLLECTIVE(rocshmem_alltoallsmem, (v[0].team, v[1].ptr, v[2].ptr, v[3].i64, v[4].i64, v[5].size),
           {NAME_dst, INT64}, {NAME_sst, INT64}, {NAME_nelems, SIZE})
COLLECTIVE(rocshmem_collectmem, (v[0].team, v[1].ptr, v[2].ptr, v[3].size), {NAME_nelems, SIZE})
COLLECTIVE(rocshmem_fcollectmem, (v[0].team, v[1].ptr, v[2].ptr, v[3].size), {NAME_nelems, SIZE})
#undef COLLECTIVE

FUNCTION(rocshmem_fcollectmem_on_stream, 0, {NAME_team, TEAM}, {NAME_dest, ADDRESS}, {NAME_source, ADDRESS},
         {NAME_nbytes, SIZE}, {NAME_stream, STREAM})
{
    WITHOUT_GIL(rocshmem_fcollectmem_on_stream(v[0].team, v[1].ptr, v[2].ptr, v[3].size, v[4].ptr));
    return none_or_raise(module);
}

/* ---- teams ---- */

FUNCTION(rocshmem_team_split_2d, 4, {NAME_parent, TEAM}, {NAME_xrange, INT32}, {NAME_xaxis_config, OBJECT},
         {NAME_xaxis_mask, INT64}, {NAME_yaxis_config, OBJECT}, {NAME_yaxis_mask, INT64})
{
    const rocshmem_team_config_t *x_config, *y_config;
    if (take_team_config(module, "rocshmem_team_split_2d: xaxis_config", v[2].object, &x_config) < 0 ||
        take_team_config(module, "rocshmem_team_split_2d: yaxis_config", v[4].object, &y_config) < 0)
        return NULL;
    rocshmem_team_t x = ROCSHMEM_TEAM_INVALID, y = ROCSHMEM_TEAM_INVALID;
    int status;
    WITHOUT_GIL(status = rocshmem_team_split_2d(v[0].team, (int)v[1].i64, x_config, (long)v[3].i64, &x,
                                                y_config, (long)v[5].i64, &y));
    if ((status != 0 && status != ROCSHMEMX_E_ARG) || call_failed)
        return raise_status(module, status, "rocshmem_team_split_2d");
    if (status != 0) forget_failure();
    return Py_BuildValue("(ill)", status, (long)(intptr_t)x, (long)(intptr_t)y);
}

FUNCTION(rocshmem_team_get_config, 0, {NAME_team, TEAM}, {NAME_mask, INT64})
{
    rocshmem_team_config_t config = {0};
    int status = rocshmem_team_get_config(v[0].team, (long)v[1].i64, &config);
    if (status != 0 || call_failed) return raise_status(module, status, "rocshmem_team_get_config");
    return team_config_new(module, &config);
}

/* ---- facts ---- */

FUNCTION0(rocshmem_info_get_version)
{
    (void)module;
    int major = 0, minor = 0;
    rocshmem_info_get_version(&major, &minor);
    return Py_BuildValue("(ii)", major, minor);
}

FUNCTION0(rocshmem_info_get_name)
{
    (void)module;
    char name[ROCSHMEM_MAX_NAME_LEN] = "";
    rocshmem_info_get_name(name);
    return PyUnicode_FromString(name);
}

FUNCTION0(rocshmem_vendor_get_version_info)
{
    (void)module;
    int major = 0, minor = 0, patch = 0;
    rocshmem_vendor_get_version_info(&major, &minor, &patch);
    return Py_BuildValue("(iii)", major, minor, patch);
}

/* ---- the table ---- */

/* clang-format off */
PyMethodDef coll_methods[] = {
    METHOD(rocshmem_broadcastmem, "team, dest, source, nelems, pe_root",
           "Copy nelems bytes of source on team PE pe_root to dest on every member. Collective.")
    METHOD(rocshmem_alltoallmem, "team, dest, source, nelems",
           "Block i (nelems bytes) of source goes to team PE i; block j of dest comes from team PE j. Collective.")
    METHOD(rocshmem_alltoallsmem, "team, dest, source, dst, sst, nelems",
           "As rocshmem_alltoallmem; byte k of all goes from source[k * sst] to dest[k * dst]. Collective.")
    METHOD(rocshmem_collectmem, "team, dest, source, nelems",
           "Gather source of every member into dest, in team order; nelems bytes here, each its own. Collective.")
    METHOD(rocshmem_fcollectmem, "team, dest, source, nelems",
           "As rocshmem_collectmem, with nelems equal on every member. Collective.")
    METHOD(rocshmem_fcollectmem_on_stream, "team, dest, source, nbytes, stream",
           "As rocshmem_fcollectmem, in the order of a stream; INVALID is a no-op. Collective.")
    METHOD(rocshmem_team_split_2d,
           "parent, xrange, xaxis_config=None, xaxis_mask=0, yaxis_config=None, yaxis_mask=0",
           "Make teams of my row, of xrange PEs, and of my column: (status, x team, y team). Collective over parent.")
    METHOD(rocshmem_team_get_config, "team, mask", "What a team was configured with, the fields that mask names.")
    METHOD0(rocshmem_info_get_version, "(major, minor) of the OpenSHMEM specification that is followed.")
    METHOD0(rocshmem_info_get_name, "The name of the library.")
    METHOD0(rocshmem_vendor_get_version_info, "(major, minor, patch) of the library.")
    {NULL, NULL, 0, NULL}};
/* clang-format on */
