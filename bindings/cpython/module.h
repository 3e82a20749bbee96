/* SPDX-License-Identifier: MIT
 *
 * The extension _rocshmem4py: what its files share. A call travels args.c (Python objects to C values), calls.c,
 * coll.c, ctx.c, typed.c, waits.c or amo.c (the call), errors.c (a failure to an exception). Only
 * include/rocshmem is seen from here.
 *
 * There is no Python object outside struct state. What is static is C state of the process, as the job itself
 * is: the extension therefore serves one interpreter, and module_exec refuses a second one.
 *
 * _Memory, the base type of rocshmem4py.SymmetricBuffer (memory.c, dlpack.c):
 *
 *   _Memory(ptr, nbytes, own_data=True, owner=None), in __new__; there is no __init__. It takes a hold on the
 *   allocation around ptr (rocshmemx_hold); memory that is not symmetric has none. A view of a part, or of a
 *   peer's copy, names the _Memory it belongs to as owner and shares that one's hold.
 *
 *   Read-only: ptr, nbytes, own_data, _freed, and _stale (the job it was made in is over, nothing to free).
 *   _mark_freed(), after rocshmem_free, gives the hold back; new exports raise. Again: does nothing.
 *   int() and __index__ give the address; memoryview, array interfaces and __dlpack__ the memory.
 *
 * Each export has its own reference on the hold; the last one releases it, from any thread, also after
 * finalize. An owning _Memory that goes without _mark_freed() drops its allocation (rocshmemx_drop): no
 * collective runs here.
 */
#ifndef ROCSHMEM_CPYTHON_MODULE_H
#define ROCSHMEM_CPYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rocshmem/rocshmem.h>
#include <rocshmem/rocshmemx.h>

/* Every name an argument can have; the interned strings are matched by address. */
/* clang-format off */
#define ARGUMENT_NAMES(X)                                                                                              \
    X(addr) X(alignment) X(bytes_per_pe) X(cmp) X(cmp_value) X(cmp_values) X(cond) X(config) X(copy) X(count) X(ctx)    \
    X(dest) X(dest_team) X(dl_device) X(dst) X(dtype) X(fd) X(itemsize) X(ivar) X(ivars) X(length) X(mask)              \
    X(max_version) X(module) X(nbytes) X(nelems) X(nranks) X(nreduce) X(op) X(options) X(own_data) X(owner) X(parent)   \
    X(pe) X(pe_root) X(ptr) X(rank) X(sig_addr) X(sig_op) X(signal) X(size) X(source) X(src_pe) X(src_team) X(sst)      \
    X(start) X(status) X(stream) X(stride) X(team) X(uid) X(value) X(what) X(xaxis_config) X(xaxis_mask) X(xrange)      \
    X(yaxis_config) X(yaxis_mask)
/* clang-format on */
#define NAME_(name) NAME_##name,
enum argument_name { ARGUMENT_NAMES(NAME_) N_ARGUMENT_NAMES };
#undef NAME_

/* The objects of the module: one list makes the struct, traverse and clear. */
#define STATE(X)                                                                                             \
    X(RocshmemError)         /* the class of all failures */                                                 \
    X(RocshmemArgumentError) /* of status ARG: a ValueError too */                                           \
    X(TeamConfig)                                                                                            \
    X(Memory)

/* Keyword names of a call that were found to be a signature's own, complete and in order, from place n on.
 * The tuple is a constant of the calling code: the same call brings the same object. Guarded by the GIL; not
 * used without one. */
struct signature;
struct known_names {
    PyObject *names; /* owned */
    const struct signature *signature;
    Py_ssize_t n;
    const void
        *candidate; /* the tuple seen last, not owned, only compared; it is kept once it was seen often */
    unsigned seen;  /* times in a row: f(**kw) makes a new tuple for each call, which must not be kept */
};
#define N_KNOWN_NAMES 256
#define SEEN_OFTEN 1000

#define FIELD_(name) PyObject *name;
struct state {
    STATE(FIELD_)
    PyObject *names[N_ARGUMENT_NAMES]; /* interned */
    struct known_names known[N_KNOWN_NAMES];
    bool attached; /* our error handler is installed */
};
#undef FIELD_

static inline struct state *state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

#ifdef Py_GIL_DISABLED
#define LOCKED(object) Py_BEGIN_CRITICAL_SECTION(object)
#define UNLOCKED() Py_END_CRITICAL_SECTION()
#else
#define LOCKED(object) {
#define UNLOCKED() }
#endif

/* TeamConfig and None in, the C struct (borrowed) or NULL out; argument is "function: name". 0, or -1 with an
 * exception. */
int take_team_config(PyObject *module, const char *argument, PyObject *object,
                     const rocshmem_team_config_t **config_out);
PyObject *team_config_new(PyObject *module, const rocshmem_team_config_t *config);

/* Method tables, ended by a zero row; the docstrings begin with the signature. */
extern PyMethodDef call_methods[];
extern PyMethodDef amo_methods[];
extern PyMethodDef coll_methods[];
extern PyMethodDef ctx_methods[];
extern PyMethodDef typed_methods[];
extern PyMethodDef wait_methods[];

PyObject *memory_type_new(PyObject *module); /* memory.c */

#endif
