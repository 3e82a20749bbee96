/* SPDX-License-Identifier: MIT
 *
 * The one argument parser. A function has a static table of its arguments; take_args turns what the
 * interpreter hands over (positions, then keyword names) into C values, or sets an exception that names
 * function, argument and value.
 */
#ifndef ROCSHMEM_CPYTHON_ARGS_H
#define ROCSHMEM_CPYTHON_ARGS_H

#include "module.h"

/* What an argument is. The order matters to args.c: unsigned, signed, all others. */
enum kind {
    ADDRESS, /* of memory, or a handle; .ptr */
    SIZE,    /* bytes or elements; .size */
    STREAM,  /* None is 0; an object of torch, CuPy or CUDA Python; .ptr */
    UINT64,  /* .u64 */
    UINT8,   /* .u64 */
    UINT16,  /* .u64 */
    UINT32,  /* .u64 */
    PE,      /* .i */
    INT8,    /* .i64 */
    INT16,   /* .i64 */
    INT32,   /* .i64 */
    INT64,   /* .i64 */
    TEAM,    /* 0 is WORLD, -1 INVALID; .team */
    FLOAT,   /* .f64, finite only if it fits a float */
    DOUBLE,  /* .f64 */
    BYTES,   /* .object, a bytes */
    TEXT,    /* .text; None is NULL */
    WORD,    /* .text */
    OBJECT,  /* .object, as given */
    VALUE    /* whatever the signature's value_kind says: the atomics share their tables */
};

/* Borrowed for the call. An optional argument that was not given is all zero. */
union value {
    void *ptr;
    size_t size;
    uint64_t u64;
    int64_t i64;
    int i;
    double f64;
    rocshmem_team_t team;
    const char *text;
    PyObject *object;
};

struct argument {
    uint8_t name; /* enum argument_name */
    uint8_t kind; /* enum kind */
};

struct signature {
    const char *function;
    const struct argument *arguments;
    uint8_t n, n_required, n_positional;
    uint8_t value_kind;
};

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* Fill v[0..sig->n). module may be NULL (a method of a type): keyword names are then compared as text.
 * Returns 0, or -1 with an exception. */
int take_args(PyObject *module, const struct signature *sig, PyObject *const *args, Py_ssize_t n,
              PyObject *names, union value *v);

/* One argument from one object; index is its place in the signature. 0, or -1 with an exception. */
int take_arg(const struct signature *sig, int index, PyObject *object, union value *v);

const char *argument_text(int name); /* enum argument_name -> its text */

#endif
