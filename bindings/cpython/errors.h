/* SPDX-License-Identifier: MIT
 *
 * From a failure of the runtime to an exception. Functions without a status call our handler, which only
 * raises a flag of this thread: a call that went well pays for one test of it. The message waits in the
 * thread's error slot.
 */
#ifndef ROCSHMEM_CPYTHON_ERRORS_H
#define ROCSHMEM_CPYTHON_ERRORS_H

#include "module.h"

/* Set when a call failed, or a signal handler raised meanwhile. Initial-exec: a test costs one load, no call.
 */
extern _Thread_local bool call_failed __attribute__((tls_model("initial-exec")));

int errors_init(PyObject *module); /* the exception classes into the state */
void errors_attach(void);          /* our handler and hook into the runtime; counted */
void errors_detach(void);          /* the last one restores the default handler */

/* All: NULL, with the exception set. The first two clear the flag and the slot. */
PyObject *raise_failure(PyObject *module);
PyObject *raise_status(PyObject *module, int status,
                       const char *function); /* when the slot is empty, says status */
PyObject *raise_here(PyObject *module, int status, const char *function,
                     const char *text); /* found by the extension */

/* Forget what a call left in the slot on purpose (a status that is given to the caller). */
void forget_failure(void);

static inline PyObject *none_or_raise(PyObject *module)
{
    if (__builtin_expect(call_failed, 0)) return raise_failure(module);
    return Py_NewRef(Py_None);
}

/* Takes result over. */
static inline PyObject *result_or_raise(PyObject *module, PyObject *result)
{
    if (__builtin_expect(!call_failed, 1)) return result;
    Py_XDECREF(result);
    return raise_failure(module);
}

/* For functions that return a status. */
static inline PyObject *none_or_status(PyObject *module, int status, const char *function)
{
    if (__builtin_expect(status != 0 || call_failed, 0)) return raise_status(module, status, function);
    return Py_NewRef(Py_None);
}

#endif
