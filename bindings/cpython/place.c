/* SPDX-License-Identifier: MIT
 *
 * Where a Python program is, for state dumps: "train.py:41 in step", the innermost frame that is not of this package.
 *
 * A thread that waits in a call of ours is asked outside of handlers: it takes the GIL and looks at its frames. Anywhere
 * else a signal handler of the runtime asks, and there CPython lets nobody look but faulthandler, which writes a traceback to
 * a descriptor by async-signal-safe means. So, from the first init on, one real-time signal is faulthandler's, and a
 * pipe its file: the hook raises the signal in its own thread, which has written the traceback when raise() returns, and
 * reads it back. raise, read and write are async-signal-safe. The pipe never blocks: what does not fit it is cut.
 */
#include "place.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static int pipe_ends[2] = {-1, -1}; /* W: place_open, under the GIL, before `open` (release) */
static _Atomic bool is_open;
static _Atomic bool is_taken; /* one thread at a time has the pipe. W/R: handlers, by exchange */

static int traceback_signal(void)
{
    return SIGRTMIN + 8;
}

static bool is_ours(const char *file)
{
    return strstr(file, "/rocshmem4py/") != NULL;
}

/* "name:line in function"; name: the last part of file. */
static void put_place(char *out, size_t nbytes, const char *file, size_t file_length, const char *line,
                      size_t line_length, const char *function, size_t function_length)
{
    size_t from = file_length;
    const struct {
        const char *text;
        size_t length;
    } parts[] = {{NULL, 0}, {":", 1}, {line, line_length}, {" in ", 4}, {function, function_length}};
    while (from > 0 && file[from - 1] != '/') from--;
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *text = i == 0 ? file + from : parts[i].text;
        size_t length = i == 0 ? file_length - from : parts[i].length;
        if (length > nbytes - 1 - used) length = nbytes - 1 - used;
        memcpy(out + used, text, length);
        used += length;
    }
    out[used] = '\0';
}

/* ---- in a handler ---- */

/* The first line of faulthandler's text that is a frame of others: \t File "path", line 41 in step. */
static int parse(char *text, char *out, size_t nbytes)
{
    static const char mark[] = "  File \"", middle[] = "\", line ", before_function[] = " in ";
    for (char *at = strstr(text, mark); at; at = strstr(at + 1, mark)) {
        char *file = at + sizeof mark - 1, *end = strchr(file, '\n');
        if (!end) return 0;
        *end = '\0';
        char *file_end = strstr(file, middle);
        char *line = file_end ? file_end + sizeof middle - 1 : NULL;
        char *line_end = line ? strstr(line, before_function) : NULL;
        if (line_end) {
            *file_end = '\0';
            bool ours = is_ours(file);
            *file_end = '"';
            if (!ours) {
                char *function = line_end + sizeof before_function - 1;
                put_place(out, nbytes, file, (size_t)(file_end - file), line, (size_t)(line_end - line),
                          function, (size_t)(end - function));
                return 1;
            }
        }
        *end = '\n';
    }
    return 0;
}

static int place_in_handler(char *out, size_t nbytes)
{
    char text[4096];
    size_t used = 0;
    ssize_t n;
    int found = 0;
    if (!atomic_load_explicit(&is_open, memory_order_acquire)) return 0;
    if (!PyGILState_GetThisThreadState()) return 0; /* a thread-specific value: no lock */
    if (atomic_exchange_explicit(&is_taken, true, memory_order_acquire)) return 0;
    raise(traceback_signal());
    while (used < sizeof text - 1 && (n = read(pipe_ends[0], text + used, sizeof text - 1 - used)) > 0)
        used += (size_t)n;
    text[used] = '\0';
    found = parse(text, out, nbytes);
    while (read(pipe_ends[0], text, sizeof text) > 0) /* the rest of a deep one */
        ;
    atomic_store_explicit(&is_taken, false, memory_order_release);
    return found;
}

/* ---- elsewhere ---- */

/* object.name as UTF-8, borrowed from *keep; NULL without. */
static const char *text_of(PyObject *object, const char *name, PyObject **keep)
{
    *keep = PyObject_GetAttrString(object, name);
    return *keep ? PyUnicode_AsUTF8AndSize(*keep, NULL) : NULL;
}

static int put_frame(PyObject *frame, char *out, size_t nbytes)
{
    PyObject *file = NULL, *function = NULL;
    PyObject *code = PyObject_GetAttrString(frame, "f_code");
    const char *file_text = code ? text_of(code, "co_filename", &file) : NULL;
    const char *function_text = file_text ? text_of(code, "co_name", &function) : NULL;
    int found = 0;
    if (function_text && !is_ours(file_text)) {
        char line[16];
        PyOS_snprintf(line, sizeof line, "%d", PyFrame_GetLineNumber((PyFrameObject *)frame));
        put_place(out, nbytes, file_text, strlen(file_text), line, strlen(line), function_text,
                  strlen(function_text));
        found = 1;
    }
    Py_XDECREF(function);
    Py_XDECREF(file);
    Py_XDECREF(code);
    return found;
}

/* With the GIL. */
static int place_of_frames(char *out, size_t nbytes)
{
    PyObject *type, *value, *trace; /* of an interrupt that is on its way: left as it was */
    PyErr_Fetch(&type, &value, &trace);
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    int found = 0;
    Py_XINCREF(frame);
    while (frame && frame != Py_None && !(found = put_frame(frame, out, nbytes))) {
        PyObject *back = PyObject_GetAttrString(frame, "f_back");
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return found;
}

int place_hook(void *arg, int in_handler, char *out, size_t nbytes)
{
    (void)arg;
    if (in_handler) return place_in_handler(out, nbytes);
    if (!Py_IsInitialized() || !PyGILState_GetThisThreadState()) return 0; /* no thread of Python's */
    PyGILState_STATE gil = PyGILState_Ensure();
    int found = place_of_frames(out, nbytes);
    PyGILState_Release(gil);
    return found;
}

void place_open(void)
{
    if (atomic_load_explicit(&is_open, memory_order_acquire)) return;
    if (pipe_ends[0] < 0 && pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    PyObject *module = PyImport_ImportModule("faulthandler"), *done = NULL;
    PyObject *method = module ? PyObject_GetAttrString(module, "register") : NULL;
    if (method) /* signal, file, all_threads, chain */
        done = PyObject_CallFunction(method, "iiii", traceback_signal(), pipe_ends[1], 0, 0);
    if (done)
        atomic_store_explicit(&is_open, true, memory_order_release);
    else
        PyErr_Clear(); /* dumps say less then */
    Py_XDECREF(done);
    Py_XDECREF(method);
    Py_XDECREF(module);
}
