/* SPDX-License-Identifier: MIT
 *
 * The fast path is an exact int by position: one compare of its type, one conversion, one compare of its
 * range. All else (__index__, streams, floats, errors) is out of line. Measured with the limited API on
 * CPython 3.11, per argument: PyLong_AsSize_t and PyLong_AsLong 3 ns for an address;
 * PyLong_AsUnsignedLongLong 10, it goes through a byte array. Keyword names are interned in the caller's
 * code, so the address is compared first, and the expected place first of all.
 */
#include "args.h"

#include <float.h>
#include <math.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)

_Static_assert(sizeof(size_t) == 8 && sizeof(long) == 8,
               "addresses and 64-bit values pass as size_t and long");

/* What a kind accepts. max of the signed kinds is max, min is -max - 1. */
static const struct {
    const char *what; /* for "must be ..." */
    const char *type; /* for "is outside ..." */
    uint64_t max;
} kinds[] = {
    [ADDRESS] = {"an int (an address)", "an address", UINT64_MAX},
    [SIZE] = {"an int (a size)", "a size", SIZE_MAX},
    [STREAM] = {"a stream (an int, None, or an object with __cuda_stream__(), .cuda_stream or .ptr)",
                "a stream", UINT64_MAX},
    [UINT64] = {"an int", "uint64", UINT64_MAX},
    [UINT8] = {"an int", "uint8", UINT8_MAX},
    [UINT16] = {"an int", "uint16", UINT16_MAX},
    [UINT32] = {"an int", "uint32", UINT32_MAX},
    [PE] = {"an int (a PE number)", "int32", INT32_MAX},
    [INT8] = {"an int", "int8", INT8_MAX},
    [INT16] = {"an int", "int16", INT16_MAX},
    [INT32] = {"an int", "int32", INT32_MAX},
    [INT64] = {"an int", "int64", INT64_MAX},
    [TEAM] = {"an int (a team)", "int64", INT64_MAX},
    [FLOAT] = {"a float or an int", "float", 0},
    [DOUBLE] = {"a float or an int", "double", 0},
    [BYTES] = {"bytes", NULL, 0},
    [TEXT] = {"a str or None", NULL, 0},
    [WORD] = {"a str", NULL, 0},
};

#define TEXT_(name) #name,
static const char *const argument_texts[] = {ARGUMENT_NAMES(TEXT_)};
#undef TEXT_

const char *argument_text(int name)
{
    return argument_texts[name];
}

static inline int kind_of(const struct signature *sig, int index)
{
    int kind = sig->arguments[index].kind;
    return kind == VALUE ? sig->value_kind : kind;
}

/* ---- one argument ---- */

static int wrong_type(const struct signature *sig, int index, PyObject *object)
{
    PyObject *type = PyType_GetName(Py_TYPE(object));
    if (!type) return -1;
    PyErr_Format(PyExc_TypeError, "%s: %s must be %s, not %U", sig->function,
                 argument_text(sig->arguments[index].name), kinds[kind_of(sig, index)].what, type);
    Py_DECREF(type);
    return -1;
}

static int wrong_value(const struct signature *sig, int index, PyObject *number, PyObject *exception,
                       const char *why)
{
    const char *name = argument_text(sig->arguments[index].name);
    PyObject *text = PyObject_Repr(number);
    if (text) {
        PyErr_Format(exception, "%s: %s is %U, %s", sig->function, name, text, why);
        Py_DECREF(text);
    } else { /* too many digits for int to str */
        PyErr_Clear();
        PyErr_Format(exception, "%s: %s is a very large int, %s", sig->function, name, why);
    }
    return -1;
}

static int out_of_range(const struct signature *sig, int index, PyObject *number)
{
    int kind = kind_of(sig, index);
    char why[128];
    PyErr_Clear();
    if (kind == SIZE || kind == ADDRESS || kind == STREAM)
        PyOS_snprintf(why, sizeof why, "%s is 0 to 2**64 - 1 and cannot be negative", kinds[kind].type);
    else if (kind <= UINT32)
        PyOS_snprintf(why, sizeof why, "outside %s (0 to %llu)", kinds[kind].type,
                      (unsigned long long)kinds[kind].max);
    else if (kind <= TEAM)
        PyOS_snprintf(why, sizeof why, "outside %s (%lld to %lld)", kinds[kind].type,
                      -(long long)kinds[kind].max - 1, (long long)kinds[kind].max);
    else
        PyOS_snprintf(why, sizeof why, "outside %s", kinds[kind].type);
    return wrong_value(sig, index, number, PyExc_OverflowError, why);
}

/* An exact int, of a kind up to TEAM. */
static inline int take_int(const struct signature *sig, int index, int kind, PyObject *number, union value *v)
{
    if (kind <= UINT32) {
        size_t x = PyLong_AsSize_t(number);
        if (LIKELY(x < kinds[kind].max || (x == kinds[kind].max && !PyErr_Occurred()))) {
            v->size = x;
            return 0;
        }
        return out_of_range(sig, index, number);
    }
    long x = PyLong_AsLong(number);
    long max = (long)kinds[kind].max;
    if (x == -1 && PyErr_Occurred()) return out_of_range(sig, index, number);
    if (!LIKELY(x <= max && x >= -max - 1)) return out_of_range(sig, index, number);
    if (kind == TEAM) {
        if (x < -1)
            return wrong_value(sig, index, number, PyExc_ValueError,
                               "unknown team; 0 is the world, -1 the invalid team, live ones are positive");
        v->team = x > 0 ? (rocshmem_team_t)(intptr_t)x : x == 0 ? ROCSHMEM_TEAM_WORLD : ROCSHMEM_TEAM_INVALID;
    } else if (kind == PE) {
        v->i = (int)x;
    } else {
        v->i64 = x;
    }
    return 0;
}

/* What a stream object carries: a new reference to its handle, NULL without an exception when it is no
 * stream. */
static PyObject *stream_handle(PyObject *object)
{
    PyObject *pair = PyObject_CallMethod(object, "__cuda_stream__", NULL);
    if (pair) {
        PyObject *handle = PySequence_GetItem(pair, 1); /* (version, handle) */
        Py_DECREF(pair);
        return handle;
    }
    static const char *const attributes[] = {"cuda_stream", "ptr"};
    for (size_t i = 0; i < N_OF(attributes); i++) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return NULL;
        PyErr_Clear();
        PyObject *handle = PyObject_GetAttrString(object, attributes[i]);
        if (handle) return handle;
    }
    if (PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return NULL;
}

static int take_index(const struct signature *sig, int index, int kind, PyObject *object, union value *v)
{
    PyObject *source = PyIndex_Check(object) ? Py_NewRef(object) : NULL;
    if (!source && kind == STREAM) {
        if (Py_IsNone(object)) {
            v->ptr = NULL;
            return 0;
        }
        source = stream_handle(object);
        if (!source && PyErr_Occurred()) return -1;
        if (source && !PyIndex_Check(source)) Py_CLEAR(source);
    }
    if (!source) return wrong_type(sig, index, object);
    PyObject *number = PyNumber_Index(source);
    Py_DECREF(source);
    if (!number) return -1;
    int rc = take_int(sig, index, kind, number, v);
    Py_DECREF(number);
    return rc;
}

static int take_real(const struct signature *sig, int index, int kind, PyObject *object, union value *v)
{
    PyObject *number = PyFloat_Check(object) ? Py_NewRef(object) : NULL;
    if (!number && (PyType_GetSlot(Py_TYPE(object), Py_nb_float) || PyIndex_Check(object)))
        number = Py_NewRef(object);
    if (!number) return wrong_type(sig, index, object);
    double x = PyFloat_AsDouble(number);
    Py_DECREF(number);
    if (x == -1.0 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
        return out_of_range(sig, index, object);
    }
    if (kind == FLOAT && isfinite(x) && isinf((float)x)) return out_of_range(sig, index, object);
    v->f64 = x;
    return 0;
}

static int take_other(const struct signature *sig, int index, int kind, PyObject *object, union value *v)
{
    if (kind <= TEAM) return take_index(sig, index, kind, object, v);
    if (kind == FLOAT || kind == DOUBLE) return take_real(sig, index, kind, object, v);
    if (kind == BYTES && !PyBytes_Check(object)) return wrong_type(sig, index, object);
    if (kind == TEXT || kind == WORD) {
        v->text = NULL;
        if (kind == TEXT && Py_IsNone(object)) return 0;
        if (!PyUnicode_Check(object)) return wrong_type(sig, index, object);
        v->text = PyUnicode_AsUTF8AndSize(object, NULL);
        return v->text ? 0 : -1;
    }
    v->object = object;
    return 0;
}

static inline int take_one(const struct signature *sig, int index, PyObject *object, union value *v)
{
    int kind = kind_of(sig, index);
    if (LIKELY(PyLong_CheckExact(object) && kind <= TEAM)) return take_int(sig, index, kind, object, v);
    return take_other(sig, index, kind, object, v);
}

int take_arg(const struct signature *sig, int index, PyObject *object, union value *v)
{
    return take_one(sig, index, object, v);
}

/* ---- all arguments ---- */

static int too_many(const struct signature *sig, Py_ssize_t n)
{
    PyErr_Format(PyExc_TypeError, "%s: takes %s%d argument%s by position, %zd given", sig->function,
                 sig->n_required < sig->n_positional ? "up to " : "", sig->n_positional,
                 sig->n_positional == 1 ? "" : "s", n);
    return -1;
}

/* The place of a keyword in the signature, -1 if none. expected is where it would be, were the order kept. */
static int place_of(PyObject *module, const struct signature *sig, PyObject *name, int expected)
{
    if (module) {
        PyObject *const *interned = state_of(module)->names;
        if (LIKELY(expected < sig->n && interned[sig->arguments[expected].name] == name)) return expected;
        for (int i = 0; i < sig->n; i++)
            if (interned[sig->arguments[i].name] == name) return i;
    }
    for (int i = 0; i < sig->n; i++)
        if (PyUnicode_CompareWithASCIIString(name, argument_text(sig->arguments[i].name)) == 0) return i;
    return -1;
}

/* Where the names of a call are remembered, or would be. */
static struct known_names *known_place(PyObject *module, PyObject *names)
{
    return &state_of(module)->known[((uintptr_t)names >> 4) % N_KNOWN_NAMES];
}

static void remember(PyObject *module, const struct signature *sig, Py_ssize_t n, PyObject *names)
{
#ifndef Py_GIL_DISABLED
    struct known_names *known = known_place(module, names);
    known->seen = known->candidate == names ? known->seen + 1 : 0;
    known->candidate = names;
    if (known->seen < SEEN_OFTEN) return;
    PyObject *old = known->names;
    *known = (struct known_names){Py_NewRef(names), sig, n, NULL, 0};
    Py_XDECREF(old);
#else
    (void)module, (void)sig, (void)n, (void)names;
#endif
}

/* The rest, after n by position: keywords, then what is missing. */
static int take_keywords(PyObject *module, const struct signature *sig, PyObject *const *args, Py_ssize_t n,
                         PyObject *names, union value *v)
{
    uint64_t taken = ((uint64_t)1 << n) - 1;
    Py_ssize_t n_names = names ? PyTuple_Size(names) : 0;
    bool in_order = module && n + n_names == sig->n;
    for (Py_ssize_t k = 0; k < n_names; k++) {
        PyObject *name = PyTuple_GetItem(names, k);
        int place = place_of(module, sig, name, (int)(n + k));
        if (place < 0) {
            PyErr_Format(PyExc_TypeError, "%s: unexpected keyword argument '%U'", sig->function, name);
            return -1;
        }
        if (taken >> place & 1) {
            PyErr_Format(PyExc_TypeError, "%s: %s is given twice", sig->function,
                         argument_text(sig->arguments[place].name));
            return -1;
        }
        taken |= (uint64_t)1 << place;
        in_order &= place == (int)(n + k);
        if (take_one(sig, place, args[n + k], &v[place]) < 0) return -1;
    }
    for (int i = 0; i < sig->n; i++) {
        if (taken >> i & 1) continue;
        if (i < sig->n_required) {
            PyErr_Format(PyExc_TypeError, "%s: %s is missing", sig->function,
                         argument_text(sig->arguments[i].name));
            return -1;
        }
        v[i].u64 = 0;
    }
    if (in_order) remember(module, sig, n, names);
    return 0;
}

int take_args(PyObject *module, const struct signature *sig, PyObject *const *args, Py_ssize_t n,
              PyObject *names, union value *v)
{
    if (n > sig->n_positional) return too_many(sig, n);
    for (Py_ssize_t i = 0; i < n; i++)
        if (take_one(sig, (int)i, args[i], &v[i]) < 0) return -1;
    if (LIKELY(n == sig->n && !names)) return 0;
#ifndef Py_GIL_DISABLED
    if (LIKELY(names && module)) {
        const struct known_names *known = known_place(module, names);
        if (LIKELY(known->names == names && known->signature == sig && known->n == n)) {
            for (Py_ssize_t i = n; i < sig->n; i++)
                if (take_one(sig, (int)i, args[i], &v[i]) < 0) return -1;
            return 0;
        }
    }
#endif
    return take_keywords(module, sig, args, n, names, v);
}
