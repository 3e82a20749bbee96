/* SPDX-License-Identifier: MIT
 *
 * Status to exception, and Python's signal handlers inside our waits. The runtime keeps one message a thread;
 * our error handler runs in the failing thread, maybe without the GIL, so it touches no Python object.
 */
#include "errors.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "place.h"

_Thread_local bool call_failed __attribute__((tls_model("initial-exec")));

static _Atomic int attached; /* modules that want our handler: re-imports make a second one */

static void on_error(const rocshmemx_error_t *error, void *arg)
{
    (void)error;
    (void)arg;
    call_failed = true;
}

/* Called every few milliseconds by a thread that waits. CPython runs signal handlers in the main thread only,
 * so the others do not even take the GIL. */
static int on_wait(void *arg)
{
    (void)arg;
    if (syscall(SYS_gettid) != getpid() || !Py_IsInitialized()) return 0;
    PyGILState_STATE gil = PyGILState_Ensure();
    int raised = PyErr_CheckSignals();
    if (raised) call_failed = true; /* stays pending in this thread until the call has returned */
    PyGILState_Release(gil);
    return raised;
}

void errors_attach(void)
{
    atomic_fetch_add(&attached, 1);
    rocshmemx_set_error_handler(on_error, NULL);
    rocshmemx_set_interrupt_hook(on_wait, NULL);
    rocshmemx_set_location_hook(place_hook, NULL);
}

void errors_detach(void)
{
    if (atomic_fetch_sub(&attached, 1) != 1) return;
    rocshmemx_set_error_handler(NULL, NULL);
    rocshmemx_set_interrupt_hook(NULL, NULL);
    rocshmemx_set_location_hook(NULL, NULL);
}

void forget_failure(void)
{
    rocshmemx_error_t error;
    rocshmemx_take_error(&error);
    call_failed = false;
}

static int set_int(PyObject *object, const char *name, long value)
{
    PyObject *number = PyLong_FromLong(value);
    int rc = number ? PyObject_SetAttrString(object, name, number) : -1;
    Py_XDECREF(number);
    return rc;
}

static int set_text(PyObject *object, const char *name, const char *value)
{
    PyObject *text = PyUnicode_FromFormat("%s", value); /* replaces what is no UTF-8 */
    int rc = text ? PyObject_SetAttrString(object, name, text) : -1;
    Py_XDECREF(text);
    return rc;
}

static PyObject *raise_error(PyObject *module, const rocshmemx_error_t *error)
{
    if (error->status == ROCSHMEMX_E_INTERRUPTED) {
        PyErr_Format(PyExc_KeyboardInterrupt, "%s: %s", error->op, error->text);
        return NULL;
    }
    struct state *state = state_of(module);
    PyObject *type = error->status == ROCSHMEMX_E_ARG ? state->RocshmemArgumentError : state->RocshmemError;
    PyObject *text = PyUnicode_FromFormat("%s: %s", error->op, error->text);
    PyObject *exception = text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    Py_XDECREF(text);
    if (!exception) return NULL;
    if (set_text(exception, "op", error->op) == 0 && set_int(exception, "pe", error->pe) == 0 &&
        set_int(exception, "status", error->status) == 0)
        PyErr_SetObject(type, exception);
    Py_DECREF(exception);
    return NULL;
}

PyObject *raise_status(PyObject *module, int status, const char *function)
{
    rocshmemx_error_t error;
    int taken = rocshmemx_take_error(&error);
    call_failed = false;
    if (PyErr_Occurred())
        return NULL; /* a signal handler raised: its exception, not the wait that it ended */
    if (!taken) {
        memset(&error, 0, sizeof error);
        error.status = status;
        error.pe = -1;
        PyOS_snprintf(error.op, sizeof error.op, "%s", function);
        PyOS_snprintf(error.text, sizeof error.text, "%s", rocshmemx_status_text(status));
    }
    return raise_error(module, &error);
}

PyObject *raise_failure(PyObject *module)
{
    return raise_status(module, ROCSHMEMX_E_BUG, "rocshmem");
}

PyObject *raise_here(PyObject *module, int status, const char *function, const char *text)
{
    rocshmemx_error_t error = {.status = status, .pe = -1};
    PyOS_snprintf(error.op, sizeof error.op, "%s", function);
    PyOS_snprintf(error.text, sizeof error.text, "%s", text);
    return raise_error(module, &error);
}

/* An exception class with the class attributes op, pe and status, for those that Python code makes itself. */
static PyObject *new_class(const char *name, const char *doc, PyObject *bases, int status)
{
    PyObject *type = PyErr_NewExceptionWithDoc(name, doc, bases, NULL);
    if (type &&
        (set_text(type, "op", "") < 0 || set_int(type, "pe", -1) < 0 || set_int(type, "status", status) < 0))
        Py_CLEAR(type);
    return type;
}

int errors_init(PyObject *module)
{
    struct state *state = state_of(module);
    state->RocshmemError =
        new_class("rocshmem4py.RocshmemError",
                  "A call of the runtime failed. op: the function; pe: the PE it is about, -1 if "
                  "about none; status: one of ROCSHMEMX_E_*.",
                  PyExc_RuntimeError, ROCSHMEMX_E_BUG);
    if (!state->RocshmemError) return -1;
    PyObject *bases = PyTuple_Pack(2, state->RocshmemError, PyExc_ValueError);
    if (!bases) return -1;
    state->RocshmemArgumentError =
        new_class("rocshmem4py.RocshmemArgumentError", "An argument is wrong (status ROCSHMEMX_E_ARG).",
                  bases, ROCSHMEMX_E_ARG);
    Py_DECREF(bases);
    if (!state->RocshmemArgumentError) return -1;
    if (PyModule_AddObjectRef(module, "RocshmemError", state->RocshmemError) < 0) return -1;
    return PyModule_AddObjectRef(module, "RocshmemArgumentError", state->RocshmemArgumentError);
}
