/* SPDX-License-Identifier: MIT
 *
 * What calls.c and amo.c share: the form of an extension function, and when the GIL is kept.
 */
#ifndef ROCSHMEM_CPYTHON_CALLS_H
#define ROCSHMEM_CPYTHON_CALLS_H

#include <stdatomic.h>

#include "args.h"
#include "errors.h"

/* The GIL is kept for a transfer of up to this many bytes to a PE of this host. Releasing and retaking it
 * costs 16 ns alone and a switch of threads when another thread waits for it; 32 KiB take 0.7 us to copy, far
 * below the 5 ms for which CPython lets a thread keep it. */
#define GIL_NBYTES ((size_t)32 << 10)

/* Transfers of at least this many bytes release the GIL: GIL_NBYTES + 1, or 0 when a PE may be on another
 * host. W: calls_update. R: anyone, relaxed. */
extern _Atomic size_t gil_from;
/* Jobs that were finalized from Python. W: finalize. R: anyone, relaxed. */
extern _Atomic unsigned jobs_over;

void calls_update(void); /* after a job began or ended: gil_from */

static inline bool releases_gil(size_t nbytes)
{
    return nbytes >= atomic_load_explicit(&gil_from, memory_order_relaxed);
}

#define WITHOUT_GIL(statement)                                                                               \
    do {                                                                                                     \
        PyThreadState *thread_ = PyEval_SaveThread();                                                        \
        statement;                                                                                           \
        PyEval_RestoreThread(thread_);                                                                       \
    } while (0)
#define WITHOUT_GIL_IF(condition, statement)                                                                 \
    do {                                                                                                     \
        if (__builtin_expect(condition, 0))                                                                  \
            WITHOUT_GIL(statement);                                                                          \
        else                                                                                                 \
            statement;                                                                                       \
    } while (0)

/* FUNCTION(name, n_optional, {NAME_x, KIND}, ...) { body with module and v[] }: the table of arguments, then
 * the call. FUNCTION0(name) { body with module } takes none. */
#define FUNCTION(name, n_optional, ...)                                                                      \
    static const struct argument name##_arguments[] = {__VA_ARGS__};                                         \
    SIGNED_FUNCTION(name, name##_arguments, N_OF(name##_arguments), n_optional, 0)
#define FUNCTION0(name)                                                                                      \
    static const struct signature name##_signature = {#name, NULL, 0, 0, 0, 0};                              \
    static PyObject *name##_body(PyObject *module);                                                          \
    static PyObject *name##_call(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *names)     \
    {                                                                                                        \
        if (take_args(module, &name##_signature, args, n, names, NULL) < 0) return NULL;                     \
        return name##_body(module);                                                                          \
    }                                                                                                        \
    static PyObject *name##_body(PyObject *module)
#define SIGNED_FUNCTION(name, arguments, n_arguments, n_optional, value_kind)                                \
    static const struct signature name##_signature = {                                                       \
        #name, arguments, n_arguments, n_arguments - n_optional, n_arguments, value_kind};                   \
    static inline PyObject *name##_body(PyObject *module, const union value *v);                             \
    static PyObject *name##_call(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *names)     \
    {                                                                                                        \
        union value v[n_arguments];                                                                          \
        if (take_args(module, &name##_signature, args, n, names, v) < 0) return NULL;                        \
        return name##_body(module, v);                                                                       \
    }                                                                                                        \
    static inline PyObject *name##_body(PyObject *module, const union value *v)

/* A row of a method table; arguments is the text of the signature. */
#define METHOD(name, arguments, doc)                                                                         \
    {#name, (PyCFunction)(void (*)(void))name##_call, METH_FASTCALL | METH_KEYWORDS,                         \
     #name "($module, /, " arguments ")\n--\n\n" doc},
#define METHOD0(name, doc)                                                                                   \
    {#name, (PyCFunction)(void (*)(void))name##_call, METH_FASTCALL | METH_KEYWORDS,                         \
     #name "($module, /)\n--\n\n" doc},

#endif
