/* SPDX-License-Identifier: MIT
 *
 * The plain functions, in the order of the stub. Each is a table of arguments, the call, the result. The GIL
 * is released in whatever can block or take long; what never does keeps it.
 */
#include "calls.h"

#include <string.h>

#include "place.h"

_Atomic size_t gil_from;
_Atomic unsigned jobs_over;

void calls_update(void)
{
    bool one_host = rocshmemx_initialized() && rocshmem_team_n_pes(ROCSHMEM_TEAM_SHARED) == rocshmem_n_pes();
    atomic_store_explicit(&gil_from, one_host ? GIL_NBYTES + 1 : 0, memory_order_relaxed);
}

/* The result of an allocation: NULL is a failure, unless nothing was asked for and nothing went wrong. */
static PyObject *address_or_raise(PyObject *module, void *address, bool may_be_null, const char *function)
{
    if (address && !call_failed) return PyLong_FromVoidPtr(address);
    if (!call_failed && may_be_null) {
        rocshmemx_error_t error;
        if (!rocshmemx_take_error(&error)) return PyLong_FromLong(0);
        return raise_here(module, error.status, error.op, error.text);
    }
    return raise_status(module, ROCSHMEMX_E_NOMEM, function);
}

/* Python writes through buffers of its own: without this, a process that ends in C loses lines. */
static void flush_python(void)
{
    static const char *const names[] = {"stdout", "stderr"};
    for (size_t i = 0; i < N_OF(names); i++) {
        PyObject *file = PySys_GetObject(names[i]); /* borrowed */
        PyObject *done = file ? PyObject_CallMethod(file, "flush", NULL) : NULL;
        if (!done) PyErr_Clear();
        Py_XDECREF(done);
    }
}

/* ---- job ---- */

FUNCTION0(hip_device_synchronize)
{
    WITHOUT_GIL(rocshmemx_device_synchronize());
    return none_or_raise(module);
}

FUNCTION0(rocshmem_init)
{
    place_open();
    WITHOUT_GIL(rocshmem_init());
    calls_update();
    return none_or_raise(module);
}

FUNCTION(rocshmem_init_attr, 0, {NAME_rank, INT32}, {NAME_nranks, INT32}, {NAME_uid, BYTES})
{
    rocshmem_init_attr_t attr = {.rank = (int32_t)v[0].i64, .nranks = (int32_t)v[1].i64};
    if (PyBytes_Size(v[2].object) != (Py_ssize_t)sizeof attr.uid)
        return raise_here(module, ROCSHMEMX_E_ARG, "rocshmem_init_attr",
                          "invalid unique ID size: uid must have the 128 bytes of rocshmem_get_uniqueid");
    memcpy(&attr.uid, PyBytes_AsString(v[2].object), sizeof attr.uid);
    int status;
    place_open();
    WITHOUT_GIL(status = rocshmem_init_attr(ROCSHMEM_INIT_WITH_UNIQUEID, &attr));
    calls_update();
    return none_or_status(module, status, "rocshmem_init_attr");
}

FUNCTION0(rocshmem_get_uniqueid)
{
    rocshmem_uniqueid_t uid;
    int status;
    WITHOUT_GIL(status = rocshmem_get_uniqueid(&uid));
    if (status != 0 || call_failed) return raise_status(module, status, "rocshmem_get_uniqueid");
    return PyBytes_FromStringAndSize((const char *)uid.data, sizeof uid.data);
}

FUNCTION0(rocshmem_finalize)
{
    bool in_job = rocshmemx_initialized();
    WITHOUT_GIL(rocshmem_finalize());
    if (in_job && !rocshmemx_initialized()) atomic_fetch_add(&jobs_over, 1);
    calls_update();
    return none_or_raise(module);
}

FUNCTION(rocshmem_global_exit, 0, {NAME_status, INT32})
{
    flush_python();
    WITHOUT_GIL(rocshmem_global_exit((int)v[0].i64));
    return none_or_raise(module);
}

FUNCTION(rocshmem_hipmodule_init, 1, {NAME_module, ADDRESS}, {NAME_stream, STREAM})
{
    int rc;
    WITHOUT_GIL(rc = rocshmem_hipmodule_init(v[0].ptr, v[1].ptr));
    if (rc < 0) return raise_status(module, rc, "rocshmem_hipmodule_init");
    return result_or_raise(module, PyLong_FromLong(rc));
}

FUNCTION0(rocshmem_get_device_ctx)
{
    void *address = rocshmem_get_device_ctx();
    if (!address) return raise_status(module, ROCSHMEMX_E_STATE, "rocshmem_get_device_ctx");
    return result_or_raise(module, PyLong_FromVoidPtr(address));
}

FUNCTION0(rocshmem_query_thread)
{
    int provided = -1;
    rocshmem_query_thread(&provided);
    return result_or_raise(module, PyLong_FromLong(provided));
}

FUNCTION0(rocshmem_my_pe)
{
    return result_or_raise(module, PyLong_FromLong(rocshmem_my_pe()));
}

FUNCTION0(rocshmem_n_pes)
{
    return result_or_raise(module, PyLong_FromLong(rocshmem_n_pes()));
}

FUNCTION0(rocshmem_dump_stats)
{
    flush_python();
    WITHOUT_GIL(rocshmem_dump_stats());
    return none_or_raise(module);
}

FUNCTION0(rocshmem_reset_stats)
{
    rocshmem_reset_stats();
    return none_or_raise(module);
}

/* ---- memory ---- */

FUNCTION(rocshmem_malloc, 0, {NAME_size, SIZE})
{
    void *address;
    forget_failure(); /* NULL has two meanings, the slot tells them apart */
    WITHOUT_GIL(address = rocshmem_malloc(v[0].size));
    return address_or_raise(module, address, v[0].size == 0, "rocshmem_malloc");
}

FUNCTION(rocshmem_calloc, 0, {NAME_count, SIZE}, {NAME_size, SIZE})
{
    void *address;
    WITHOUT_GIL(address = rocshmem_calloc(v[0].size, v[1].size));
    return address_or_raise(module, address, false, "rocshmem_calloc");
}

FUNCTION(rocshmem_align, 0, {NAME_alignment, SIZE}, {NAME_size, SIZE})
{
    void *address;
    forget_failure();
    WITHOUT_GIL(address = rocshmem_align(v[0].size, v[1].size));
    return address_or_raise(module, address, v[1].size == 0, "rocshmem_align");
}

FUNCTION(rocshmem_free, 0, {NAME_ptr, ADDRESS})
{
    if (v[0].ptr) WITHOUT_GIL(rocshmem_free(v[0].ptr));
    return none_or_raise(module);
}

FUNCTION(rocshmem_ptr, 0, {NAME_dest, ADDRESS}, {NAME_pe, PE})
{
    void *address = rocshmem_ptr(v[0].ptr, v[1].i);
    if (address && !call_failed) return PyLong_FromVoidPtr(address);
    int n_pes = rocshmem_n_pes();
    if (n_pes < 0 || call_failed) return raise_status(module, ROCSHMEMX_E_STATE, "rocshmem_ptr");
    forget_failure();
    if (v[1].i >= 0 && v[1].i < n_pes) return PyLong_FromLong(0);
    char text[96];
    PyOS_snprintf(text, sizeof text, "pe is %d, and the job has PEs 0 to %d", v[1].i, n_pes - 1);
    return raise_here(module, ROCSHMEMX_E_ARG, "rocshmem_ptr", text);
}

/* A status that the caller gets as it is, without an exception: wrong arguments. All others raise. */
static PyObject *status_or_raise(PyObject *module, int status, const char *function)
{
    if ((status != 0 && status != ROCSHMEMX_E_ARG) || call_failed)
        return raise_status(module, status, function);
    if (status != 0) forget_failure();
    return PyLong_FromLong(status);
}

FUNCTION(rocshmem_buffer_register, 0, {NAME_addr, ADDRESS}, {NAME_length, SIZE})
{
    return status_or_raise(module, rocshmem_buffer_register(v[0].ptr, v[1].size), "rocshmem_buffer_register");
}

FUNCTION(rocshmem_buffer_unregister, 0, {NAME_addr, ADDRESS})
{
    return status_or_raise(module, rocshmem_buffer_unregister(v[0].ptr), "rocshmem_buffer_unregister");
}

FUNCTION0(rocshmem_buffer_unregister_all)
{
    rocshmem_buffer_unregister_all();
    return none_or_raise(module);
}

/* ---- transfers and order ---- */

#define TRANSFER                                                                                             \
    {NAME_dest, ADDRESS}, {NAME_source, ADDRESS}, {NAME_nelems, SIZE},                                       \
    {                                                                                                        \
        NAME_pe, PE                                                                                          \
    }
#define TRANSFER_FUNCTION(name)                                                                              \
    FUNCTION(name, 0, TRANSFER)                                                                              \
    {                                                                                                        \
        WITHOUT_GIL_IF(releases_gil(v[2].size), name(v[0].ptr, v[1].ptr, v[2].size, v[3].i));                \
        return none_or_raise(module);                                                                        \
    }
TRANSFER_FUNCTION(rocshmem_putmem)
TRANSFER_FUNCTION(rocshmem_getmem)
TRANSFER_FUNCTION(rocshmem_putmem_nbi)
TRANSFER_FUNCTION(rocshmem_getmem_nbi)
#undef TRANSFER_FUNCTION

FUNCTION(rocshmem_putmem_on_stream, 0, TRANSFER, {NAME_stream, STREAM})
{
    WITHOUT_GIL_IF(releases_gil(v[2].size),
                   rocshmem_putmem_on_stream(v[0].ptr, v[1].ptr, v[2].size, v[3].i, v[4].ptr));
    return none_or_raise(module);
}

FUNCTION(rocshmem_getmem_on_stream, 0, TRANSFER, {NAME_stream, STREAM})
{
    WITHOUT_GIL_IF(releases_gil(v[2].size),
                   rocshmem_getmem_on_stream(v[0].ptr, v[1].ptr, v[2].size, v[3].i, v[4].ptr));
    return none_or_raise(module);
}
#undef TRANSFER

FUNCTION(rocshmem_putmem_signal_on_stream, 0, {NAME_dest, ADDRESS}, {NAME_source, ADDRESS},
         {NAME_nelems, SIZE}, {NAME_sig_addr, ADDRESS}, {NAME_signal, UINT64}, {NAME_sig_op, INT32},
         {NAME_pe, PE}, {NAME_stream, STREAM})
{
    WITHOUT_GIL_IF(releases_gil(v[2].size),
                   rocshmem_putmem_signal_on_stream(v[0].ptr, v[1].ptr, v[2].size, v[3].ptr, v[4].u64,
                                                    (int)v[5].i64, v[6].i, v[7].ptr));
    return none_or_raise(module);
}

FUNCTION(rocshmem_signal_wait_until_on_stream, 0, {NAME_sig_addr, ADDRESS}, {NAME_cmp, INT32},
         {NAME_cmp_value, UINT64}, {NAME_stream, STREAM})
{
    WITHOUT_GIL(rocshmem_signal_wait_until_on_stream(v[0].ptr, (int)v[1].i64, v[2].u64, v[3].ptr));
    return none_or_raise(module);
}

FUNCTION0(rocshmem_fence)
{
    WITHOUT_GIL_IF(releases_gil(0), rocshmem_fence());
    return none_or_raise(module);
}

FUNCTION0(rocshmem_quiet)
{
    WITHOUT_GIL_IF(releases_gil(0), rocshmem_quiet());
    return none_or_raise(module);
}

/* ---- collectives ---- */

FUNCTION0(rocshmem_barrier_all)
{
    WITHOUT_GIL(rocshmem_barrier_all());
    return none_or_raise(module);
}

FUNCTION(rocshmem_barrier, 0, {NAME_team, TEAM})
{
    WITHOUT_GIL(rocshmem_barrier(v[0].team));
    return none_or_raise(module);
}

FUNCTION0(rocshmem_sync_all)
{
    WITHOUT_GIL(rocshmem_sync_all());
    return none_or_raise(module);
}

FUNCTION(rocshmem_team_sync, 0, {NAME_team, TEAM})
{
    int status;
    WITHOUT_GIL(status = rocshmem_team_sync(v[0].team));
    return none_or_status(module, status, "rocshmem_team_sync");
}

FUNCTION(rocshmem_barrier_all_on_stream, 0, {NAME_stream, STREAM})
{
    WITHOUT_GIL(rocshmem_barrier_all_on_stream(v[0].ptr));
    return none_or_raise(module);
}

FUNCTION(rocshmem_sync_all_on_stream, 0, {NAME_stream, STREAM})
{
    WITHOUT_GIL(rocshmem_sync_all_on_stream(v[0].ptr));
    return none_or_raise(module);
}

FUNCTION(rocshmem_barrier_on_stream, 0, {NAME_team, TEAM}, {NAME_stream, STREAM})
{
    WITHOUT_GIL(rocshmem_barrier_on_stream(v[0].team, v[1].ptr));
    return none_or_raise(module);
}

FUNCTION(rocshmem_team_sync_on_stream, 0, {NAME_team, TEAM}, {NAME_stream, STREAM})
{
    WITHOUT_GIL(rocshmem_team_sync_on_stream(v[0].team, v[1].ptr));
    return none_or_raise(module);
}

FUNCTION(rocshmem_alltoallmem_on_stream, 0, {NAME_team, TEAM}, {NAME_dest, ADDRESS}, {NAME_source, ADDRESS},
         {NAME_bytes_per_pe, SIZE}, {NAME_stream, STREAM})
{
    WITHOUT_GIL(rocshmem_alltoallmem_on_stream(v[0].team, v[1].ptr, v[2].ptr, v[3].size, v[4].ptr));
    return none_or_raise(module);
}

FUNCTION(rocshmem_broadcastmem_on_stream, 0, {NAME_team, TEAM}, {NAME_dest, ADDRESS}, {NAME_source, ADDRESS},
         {NAME_nbytes, SIZE}, {NAME_pe_root, PE}, {NAME_stream, STREAM})
{
    WITHOUT_GIL(rocshmem_broadcastmem_on_stream(v[0].team, v[1].ptr, v[2].ptr, v[3].size, v[4].i, v[5].ptr));
    return none_or_raise(module);
}

/* ---- teams ---- */

FUNCTION(rocshmem_team_my_pe, 0, {NAME_team, TEAM})
{
    return result_or_raise(module, PyLong_FromLong(rocshmem_team_my_pe(v[0].team)));
}

FUNCTION(rocshmem_team_n_pes, 0, {NAME_team, TEAM})
{
    return result_or_raise(module, PyLong_FromLong(rocshmem_team_n_pes(v[0].team)));
}

FUNCTION(rocshmem_team_split_strided, 2, {NAME_parent, TEAM}, {NAME_start, INT32}, {NAME_stride, INT32},
         {NAME_size, INT32}, {NAME_config, OBJECT}, {NAME_mask, INT64})
{
    const rocshmem_team_config_t *config;
    if (take_team_config(module, "rocshmem_team_split_strided: config", v[4].object, &config) < 0)
        return NULL;
    rocshmem_team_t team = ROCSHMEM_TEAM_INVALID;
    int status;
    WITHOUT_GIL(status = rocshmem_team_split_strided(v[0].team, (int)v[1].i64, (int)v[2].i64, (int)v[3].i64,
                                                     config, (long)v[5].i64, &team));
    if ((status != 0 && status != ROCSHMEMX_E_ARG) || call_failed)
        return raise_status(module, status, "rocshmem_team_split_strided");
    if (status != 0) {
        forget_failure();
        team = ROCSHMEM_TEAM_INVALID;
    }
    return Py_BuildValue("(il)", status, (long)(intptr_t)team);
}

FUNCTION(rocshmem_team_destroy, 0, {NAME_team, TEAM})
{
    if (v[0].team != ROCSHMEM_TEAM_WORLD && v[0].team != ROCSHMEM_TEAM_INVALID &&
        v[0].team != ROCSHMEM_TEAM_SHARED)
        WITHOUT_GIL(rocshmem_team_destroy(v[0].team));
    return none_or_raise(module);
}

FUNCTION(rocshmem_team_translate_pe, 0, {NAME_src_team, TEAM}, {NAME_src_pe, PE}, {NAME_dest_team, TEAM})
{
    int pe = rocshmem_team_translate_pe(v[0].team, v[1].i, v[2].team);
    return result_or_raise(module, PyLong_FromLong(pe));
}

/* ---- additions of this runtime ---- */

FUNCTION0(rocshmemx_initialized)
{
    return result_or_raise(module, PyBool_FromLong(rocshmemx_initialized()));
}

FUNCTION0(rocshmemx_version)
{
    (void)module;
    return PyUnicode_FromString(rocshmemx_version());
}

FUNCTION0(rocshmemx_device_name)
{
    (void)module;
    return PyUnicode_FromString(rocshmemx_device_name());
}

FUNCTION0(rocshmemx_device_ordinal)
{
    (void)module;
    return PyLong_FromLong(rocshmemx_device_ordinal());
}

FUNCTION0(rocshmemx_set_device_from_env)
{
    return none_or_status(module, rocshmemx_set_device_from_env(), "rocshmemx_set_device_from_env");
}

FUNCTION0(rocshmemx_stream_create)
{
    void *stream = NULL;
    int status;
    WITHOUT_GIL(status = rocshmemx_stream_create(&stream));
    if (status != 0 || call_failed) return raise_status(module, status, "rocshmemx_stream_create");
    return PyLong_FromVoidPtr(stream);
}

FUNCTION(rocshmemx_stream_destroy, 0, {NAME_stream, STREAM})
{
    int status;
    WITHOUT_GIL(status = rocshmemx_stream_destroy(v[0].ptr));
    return none_or_status(module, status, "rocshmemx_stream_destroy");
}

FUNCTION(rocshmemx_stream_synchronize, 1, {NAME_stream, STREAM})
{
    int status;
    WITHOUT_GIL(status = rocshmemx_stream_synchronize(v[0].ptr));
    return none_or_status(module, status, "rocshmemx_stream_synchronize");
}

FUNCTION(rocshmemx_stream_query, 1, {NAME_stream, STREAM})
{
    int rc = rocshmemx_stream_query(v[0].ptr);
    if (rc < 0 || call_failed) return raise_status(module, rc, "rocshmemx_stream_query");
    return PyBool_FromLong(rc);
}

FUNCTION0(rocshmemx_heap_info)
{
    size_t nbytes = 0, used = 0, largest_free = 0;
    int status = rocshmemx_heap_info(&nbytes, &used, &largest_free);
    if (status != 0) return raise_status(module, status, "rocshmemx_heap_info");
    return Py_BuildValue("(KKK)", (unsigned long long)nbytes, (unsigned long long)used,
                         (unsigned long long)largest_free);
}

FUNCTION(rocshmemx_allocation, 0, {NAME_ptr, ADDRESS})
{
    void *base = NULL;
    size_t nbytes = 0;
    int found = rocshmemx_allocation(v[0].ptr, &base, &nbytes);
    forget_failure();
    (void)module;
    if (found <= 0) return Py_NewRef(Py_None);
    return Py_BuildValue("(KK)", (unsigned long long)(uintptr_t)base, (unsigned long long)nbytes);
}

FUNCTION(rocshmemx_drop, 0, {NAME_ptr, ADDRESS})
{
    rocshmemx_drop(v[0].ptr);
    return none_or_raise(module);
}

#define NOTE(name)                                                                                           \
    FUNCTION(name, 0, {NAME_ptr, ADDRESS}, {NAME_nbytes, SIZE})                                              \
    {                                                                                                        \
        return none_or_status(module, name(v[0].ptr, v[1].size), #name);                                     \
    }
NOTE(rocshmemx_note_read)
NOTE(rocshmemx_note_write)
FUNCTION(rocshmemx_get_stats, 1, {NAME_pe, OBJECT})
{
    static const struct argument pe[] = {{NAME_pe, PE}};
    static const struct signature sig = {"rocshmemx_get_stats", pe, 1, 1, 1, 0};
    union value peer = {.i = -1};
    if (v[0].object && take_arg(&sig, 0, v[0].object, &peer) < 0) return NULL;
    rocshmemx_stats_t s;
    int status = rocshmemx_get_stats(peer.i, &s);
    if (status != 0 || call_failed) return raise_status(module, status, "rocshmemx_get_stats");
    return Py_BuildValue("{sKsKsKsKsKsKsK}", "puts", (unsigned long long)s.puts, "put_nbytes",
                         (unsigned long long)s.put_nbytes, "gets", (unsigned long long)s.gets, "get_nbytes",
                         (unsigned long long)s.get_nbytes, "amos", (unsigned long long)s.amos, "waits",
                         (unsigned long long)s.waits, "collectives", (unsigned long long)s.collectives);
}

FUNCTION(rocshmemx_dump_state, 0, {NAME_fd, INT32})
{
    int status;
    WITHOUT_GIL(status = rocshmemx_dump_state((int)v[0].i64));
    return none_or_status(module, status, "rocshmemx_dump_state");
}

FUNCTION(rocshmemx_print_info, 1, {NAME_fd, INT32}, {NAME_what, TEXT})
{
    int status;
    flush_python();
    WITHOUT_GIL(status = rocshmemx_print_info((int)v[0].i64, v[1].text));
    return none_or_status(module, status, "rocshmemx_print_info");
}

/* ---- the table ---- */

/* clang-format off */
PyMethodDef call_methods[] = {
    METHOD0(hip_device_synchronize,
            "Wait for all work on the current device; on the host: drain every host stream.")
    METHOD0(rocshmem_init, "Join the job that the environment describes; alone it has one PE. Collective.")
    METHOD(rocshmem_init_attr, "rank, nranks, uid",
           "Join a job of nranks PEs by a unique ID of 128 bytes. Collective.")
    METHOD0(rocshmem_get_uniqueid,
            "Make a unique ID (128 bytes) and serve its rendezvous. By one process, before init.")
    METHOD0(rocshmem_finalize, "Leave the job and free what it owned. Collective; init may follow.")
    METHOD(rocshmem_global_exit, "status", "End every PE of the job with this exit status.")
    METHOD(rocshmem_hipmodule_init, "module, stream=0",
           "Copy the device state into a loaded GPU module. 0, or 1 if it has no such symbols.")
    METHOD0(rocshmem_get_device_ctx, "Address of the device-visible default context.")
    METHOD0(rocshmem_query_thread, "The thread level: 4, THREAD_MULTIPLE.")
    METHOD0(rocshmem_my_pe, "This PE's number; -1 before init.")
    METHOD0(rocshmem_n_pes, "The number of PEs; -1 before init.")
    METHOD0(rocshmem_dump_stats, "Print the counters of this PE on stdout.")
    METHOD0(rocshmem_reset_stats, "Zero the counters of this PE.")
    METHOD(rocshmem_malloc, "size",
           "Allocate size bytes of symmetric memory, 256-byte aligned; size 0 gives 0. Collective.")
    METHOD(rocshmem_calloc, "count, size", "Allocate count * size bytes, zeroed on every PE. Collective.")
    METHOD(rocshmem_align, "alignment, size",
           "Allocate size bytes at a multiple of alignment, a power of two >= 8. Collective.")
    METHOD(rocshmem_free, "ptr", "Free symmetric memory; 0 is a no-op. Collective.")
    METHOD(rocshmem_ptr, "dest, pe", "Where this PE can load and store pe's copy of dest; 0 where it cannot.")
    METHOD(rocshmem_buffer_register, "addr, length",
           "Let ordinary memory be the local side of transfers. 0, or non-zero.")
    METHOD(rocshmem_buffer_unregister, "addr",
           "Undo it for the region around addr. 0, or non-zero if there is none.")
    METHOD0(rocshmem_buffer_unregister_all, "Undo every rocshmem_buffer_register.")
    METHOD(rocshmem_putmem, "dest, source, nelems, pe",
           "Copy nelems bytes from source here to dest on pe; returns when source may be reused.")
    METHOD(rocshmem_getmem, "dest, source, nelems, pe",
           "Copy nelems bytes from source on pe to dest here; returns when they are here.")
    METHOD(rocshmem_putmem_nbi, "dest, source, nelems, pe", "As rocshmem_putmem; complete at rocshmem_quiet.")
    METHOD(rocshmem_getmem_nbi, "dest, source, nelems, pe", "As rocshmem_getmem; complete at rocshmem_quiet.")
    METHOD(rocshmem_putmem_on_stream, "dest, source, nelems, pe, stream",
           "As rocshmem_putmem, in the order of a stream.")
    METHOD(rocshmem_getmem_on_stream, "dest, source, nelems, pe, stream",
           "As rocshmem_getmem, in the order of a stream.")
    METHOD(rocshmem_putmem_signal_on_stream, "dest, source, nelems, sig_addr, signal, sig_op, pe, stream",
           "Copy, then SET or ADD the 64-bit signal word on pe. nelems 0 still signals.")
    METHOD(rocshmem_signal_wait_until_on_stream, "sig_addr, cmp, cmp_value, stream",
           "The stream waits until the local word satisfies cmp; unsigned 64-bit.")
    METHOD0(rocshmem_fence, "Order the default context's operations towards each PE.")
    METHOD0(rocshmem_quiet, "Complete the default context's operations.")
    METHOD0(rocshmem_barrier_all, "Complete host-issued operations, then wait for all PEs. Collective.")
    METHOD(rocshmem_barrier, "team", "As rocshmem_barrier_all, for a team. Collective.")
    METHOD0(rocshmem_sync_all, "Wait for all PEs; orders local stores only. Collective.")
    METHOD(rocshmem_team_sync, "team", "As rocshmem_sync_all, for a team. Collective.")
    METHOD(rocshmem_barrier_all_on_stream, "stream",
           "As rocshmem_barrier_all, in the order of a stream. Collective.")
    METHOD(rocshmem_sync_all_on_stream, "stream", "As rocshmem_sync_all, in the order of a stream. Collective.")
    METHOD(rocshmem_barrier_on_stream, "team, stream",
           "As rocshmem_barrier, in the order of a stream; INVALID is a no-op. Collective.")
    METHOD(rocshmem_team_sync_on_stream, "team, stream",
           "As rocshmem_team_sync, in the order of a stream; INVALID is a no-op. Collective.")
    METHOD(rocshmem_alltoallmem_on_stream, "team, dest, source, bytes_per_pe, stream",
           "Block i of source goes to team PE i; block j of dest comes from team PE j. Collective.")
    METHOD(rocshmem_broadcastmem_on_stream, "team, dest, source, nbytes, pe_root, stream",
           "Copy source on team PE pe_root to dest on every member. Collective.")
    METHOD(rocshmem_team_my_pe, "team", "This PE's number in a team; -1 for non-members.")
    METHOD(rocshmem_team_n_pes, "team", "The number of PEs in a team; -1 for INVALID.")
    METHOD(rocshmem_team_split_strided, "parent, start, stride, size, config=None, mask=0",
           "Make a team of some PEs of parent: (status, team), team 0 outside it. Collective over parent.")
    METHOD(rocshmem_team_destroy, "team", "Give a team back; WORLD, SHARED and INVALID are no-ops.")
    METHOD(rocshmem_team_translate_pe, "src_team, src_pe, dest_team",
           "The number in dest_team of PE src_pe of src_team; -1 where there is none.")
    METHOD0(rocshmemx_initialized, "True between rocshmem_init and rocshmem_finalize.")
    METHOD0(rocshmemx_version, "The version of librocshmem.so.")
    METHOD0(rocshmemx_device_name, "\"host\", \"cuda\" or \"hip\"; \"none\" before init.")
    METHOD0(rocshmemx_device_ordinal, "The ordinal of this PE's device; 0 on the host, -1 before init.")
    METHOD0(rocshmemx_set_device_from_env, "Make this PE's GPU current, by the launcher's local rank.")
    METHOD0(rocshmemx_stream_create, "Make an in-order queue of work on the host device.")
    METHOD(rocshmemx_stream_destroy, "stream", "Wait for a host stream's work and give it back.")
    METHOD(rocshmemx_stream_synchronize, "stream=None", "Wait for the work enqueued on a stream so far.")
    METHOD(rocshmemx_stream_query, "stream=None", "True when a stream has no work left.")
    METHOD0(rocshmemx_heap_info, "Bytes of this PE's heap: all, in use, the largest that malloc could give.")
    METHOD(rocshmemx_allocation, "ptr", "(start, bytes) of this PE's live allocation around an address.")
    METHOD(rocshmemx_drop, "ptr",
           "Declare that this PE uses an allocation no more; released when every PE has. Local.")
    METHOD(rocshmemx_note_read, "ptr, nbytes", "Tell checked mode of loads from this PE's symmetric memory.")
    METHOD(rocshmemx_note_write, "ptr, nbytes", "Tell checked mode of stores to this PE's symmetric memory.")
    METHOD(rocshmemx_get_stats, "pe=-1", "The counters of this PE towards pe; -1 is the sum over all.")
    METHOD(rocshmemx_dump_state, "fd", "Write what every PE of this host is doing to a file descriptor.")
    METHOD(rocshmemx_print_info, "fd, what=None", "Print facts: None or \"all\", \"environment\", \"support\".")
    {NULL, NULL, 0, NULL}};
/* clang-format on */
