/* SPDX-License-Identifier: MIT
 *
 * What memory.c and dlpack.c share of the type _Memory. The interface for Python is in module.h.
 */
#ifndef ROCSHMEM_CPYTHON_MEMORY_H
#define ROCSHMEM_CPYTHON_MEMORY_H

#include <stdatomic.h>

#include "module.h"

/* A hold of the runtime, shared by an object, its views and its exports: the last reference releases it. */
struct share {
    _Atomic size_t refs;
    void *hold; /* owned */
    void *drop; /* the allocation to drop with the last reference: its owner went without freeing it; else
                   NULL */
};

struct memory {
    PyObject_HEAD void *ptr;
    size_t nbytes;
    struct share *share; /* one reference; NULL for memory that is not symmetric, and after _mark_freed */
    unsigned job;        /* jobs_over when it was made */
    int device_type;     /* as DLPack counts: 1 host, 2 CUDA, 10 ROCm */
    int device_ordinal;
    bool own_data;
    bool freed;
    bool lent; /* an array interface was handed out: its users keep this object, so the share stays with it */
};

enum { DEVICE_HOST = 1, DEVICE_CUDA = 2, DEVICE_ROCM = 10 };

void share_unref(
    struct share *share); /* NULL is fine; any thread, with or without the GIL, also after finalize */

/* A reference for an export: 0, or -1 with ValueError when the memory is freed. share_out receives NULL for
 * memory that is not symmetric. */
int memory_export(PyObject *self, struct share **share_out);

PyObject *memory_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names); /* dlpack.c */
PyObject *memory_dlpack_device(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);

#endif
