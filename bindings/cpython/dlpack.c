/* SPDX-License-Identifier: MIT
 *
 * DLPack: memory as a capsule of int8, shape (nbytes,). The structs are the DLPack ABI, versions 0 (legacy)
 * and 1.0; they are declared here so that no header of another project is needed. Two owners in turn: the
 * capsule, until a consumer renames it to "used_..."; then the consumer, who calls the deleter, from any
 * thread, with or without the GIL.
 */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "calls.h"
#include "memory.h"

struct dl_device {
    int32_t type, ordinal;
};
struct dl_tensor {
    void *data;
    struct dl_device device;
    int32_t n_dims;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};
struct dl_legacy { /* DLManagedTensor */
    struct dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_legacy *self);
};
struct dl_versioned { /* DLManagedTensorVersioned */
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags;
    struct dl_tensor tensor;
};
_Static_assert(sizeof(struct dl_tensor) == 48 && sizeof(struct dl_legacy) == 64 &&
                   sizeof(struct dl_versioned) == 80,
               "the DLPack ABI on LP64");

#define DL_LEGACY_NAME "dltensor"
#define DL_VERSIONED_NAME "dltensor_versioned"
enum { DL_CODE_INT = 0, DL_FLAG_COPIED = 1 << 1 };
#define COPY_ALIGN 256 /* what DLPack asks for */

/* One export: the struct the consumer sees, and what its deleter gives back. */
struct export
{
    union {
        struct dl_legacy legacy;
        struct dl_versioned versioned;
    } managed;
    int64_t shape[1], strides[1];
    struct share *share; /* one reference; NULL for a copy */
    void *copy;          /* owned */
};

static void export_free(struct export *export)
{
    share_unref(export->share);
    free(export->copy);
    free(export);
}

static void delete_legacy(struct dl_legacy *self)
{
    export_free(self->context);
}

static void delete_versioned(struct dl_versioned *self)
{
    export_free(self->context);
}

/* A consumer renames the capsule; then the memory is not ours to give back. */
static void destroy_capsule(PyObject *capsule)
{
    const char *name = PyCapsule_IsValid(capsule, DL_LEGACY_NAME)      ? DL_LEGACY_NAME
                       : PyCapsule_IsValid(capsule, DL_VERSIONED_NAME) ? DL_VERSIONED_NAME
                                                                       : NULL;
    if (name) export_free(((struct export *)PyCapsule_GetPointer(capsule, name)));
}

static void fill_tensor(struct dl_tensor *tensor, struct export *export, const struct memory *memory)
{
    export->shape[0] = (int64_t)memory->nbytes;
    export->strides[0] = 1;
    tensor->data = export->copy ? export->copy : memory->ptr;
    tensor->device = (struct dl_device){memory->device_type, memory->device_ordinal};
    tensor->n_dims = 1;
    tensor->dtype.code = DL_CODE_INT;
    tensor->dtype.bits = 8;
    tensor->dtype.lanes = 1;
    tensor->shape = export->shape;
    tensor->strides = export->strides;
    tensor->byte_offset = 0;
}

static PyObject *export_capsule(struct export *export, const struct memory *memory, bool versioned)
{
    if (versioned) {
        struct dl_versioned *managed = &export->managed.versioned;
        managed->major = 1;
        managed->minor = 0;
        managed->context = export;
        managed->deleter = delete_versioned;
        managed->flags = export->copy ? DL_FLAG_COPIED : 0;
        fill_tensor(&managed->tensor, export, memory);
    } else {
        struct dl_legacy *managed = &export->managed.legacy;
        managed->context = export;
        managed->deleter = delete_legacy;
        fill_tensor(&managed->tensor, export, memory);
    }
    PyObject *capsule =
        PyCapsule_New(&export->managed, versioned ? DL_VERSIONED_NAME : DL_LEGACY_NAME, destroy_capsule);
    if (!capsule) export_free(export);
    return capsule;
}

/* Two ints of a tuple. -1 with an exception. */
static int take_pair(const char *name, PyObject *object, long pair[2])
{
    if (!PyTuple_Check(object) || PyTuple_Size(object) != 2) {
        PyErr_Format(PyExc_TypeError, "__dlpack__: %s must be a tuple of two ints or None", name);
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        pair[i] = PyLong_AsLong(PyTuple_GetItem(object, i));
        if (pair[i] == -1 && PyErr_Occurred()) return -1;
    }
    return 0;
}

/* The host has no streams in DLPack. On a GPU our memory has no stream of its own, so what may be in flight
 * is finished here, unless the consumer says -1: do not synchronise. */
static int order_for_stream(const struct memory *memory, PyObject *stream)
{
    if (memory->device_type == DEVICE_HOST) {
        if (Py_IsNone(stream)) return 0;
        PyErr_SetString(PyExc_BufferError, "__dlpack__: stream must be None for memory on the host");
        return -1;
    }
    if (!Py_IsNone(stream)) {
        long number = PyLong_AsLong(stream);
        if (number == -1) return PyErr_Occurred() ? -1 : 0;
    }
    WITHOUT_GIL(rocshmemx_device_synchronize());
    if (!call_failed) return 0;
    forget_failure();
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_BufferError,
                        "__dlpack__: work on the device failed; synchronise it to see the error");
    return -1;
}

static int check_device(const struct memory *memory, PyObject *device)
{
    long wanted[2];
    if (Py_IsNone(device)) return 0;
    if (take_pair("dl_device", device, wanted) < 0) return -1;
    if (wanted[0] == memory->device_type && wanted[1] == memory->device_ordinal) return 0;
    PyErr_Format(PyExc_BufferError, "__dlpack__: dl_device is (%ld, %ld), and this memory is on (%d, %d)",
                 wanted[0], wanted[1], memory->device_type, memory->device_ordinal);
    return -1;
}

/* A copy of the bytes in place of the share. */
static int make_copy(struct export *export, const struct memory *memory)
{
    if (memory->device_type != DEVICE_HOST) {
        PyErr_SetString(PyExc_BufferError,
                        "__dlpack__: cannot copy GPU memory; export it and copy the array");
        return -1;
    }
    size_t room = (memory->nbytes + COPY_ALIGN) & ~(size_t)(COPY_ALIGN - 1); /* never 0 */
    export->copy = aligned_alloc(COPY_ALIGN, room);
    if (!export->copy) {
        PyErr_NoMemory();
        return -1;
    }
    WITHOUT_GIL_IF(memory->nbytes > GIL_NBYTES, memcpy(export->copy, memory->ptr, memory->nbytes));
    share_unref(export->share);
    export->share = NULL;
    return 0;
}

PyObject *memory_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const struct argument arguments[] = {
        {NAME_stream, OBJECT}, {NAME_max_version, OBJECT}, {NAME_dl_device, OBJECT}, {NAME_copy, OBJECT}};
    static const struct signature sig = {"__dlpack__", arguments, 4, 0, 0, 0};
    struct memory *memory = (struct memory *)self;
    union value v[4];
    long version[2] = {0, 0};
    if (take_args(NULL, &sig, args, n, names, v) < 0) return NULL;
    for (int i = 0; i < 4; i++)
        if (!v[i].object) v[i].object = Py_None;
    if (!Py_IsNone(v[1].object) && take_pair("max_version", v[1].object, version) < 0) return NULL;
    if (check_device(memory, v[2].object) < 0) return NULL;
    int copy = Py_IsNone(v[3].object) ? 0 : PyObject_IsTrue(v[3].object);
    if (copy < 0 || order_for_stream(memory, v[0].object) < 0) return NULL;

    struct export *export = calloc(1, sizeof *export);
    if (!export) return PyErr_NoMemory();
    if (memory_export(self, &export->share) < 0 || (copy && make_copy(export, memory) < 0)) {
        export_free(export);
        return NULL;
    }
    return export_capsule(export, memory, version[0] >= 1);
}

PyObject *memory_dlpack_device(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const struct signature sig = {"__dlpack_device__", NULL, 0, 0, 0, 0};
    struct memory *memory = (struct memory *)self;
    if (take_args(NULL, &sig, args, n, names, NULL) < 0) return NULL;
    return Py_BuildValue("(ii)", memory->device_type, memory->device_ordinal);
}
