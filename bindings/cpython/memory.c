/* SPDX-License-Identifier: MIT
 *
 * _Memory: address and size of symmetric memory, as buffer, array interface and (dlpack.c) capsule. What
 * lives and when is in module.h. Nothing here runs a collective, and nothing here is reached by the garbage
 * collector: the object holds no Python object.
 */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "calls.h"

static void memory_dealloc(PyObject *self);

/* ---- lifetime ---- */

void share_unref(struct share *share)
{
    if (!share || atomic_fetch_sub_explicit(&share->refs, 1, memory_order_acq_rel) != 1) return;
    if (share->drop)
        rocshmemx_drop(share->drop); /* before the hold ends: until then no later job has this address */
    rocshmemx_release(share->hold);
    free(share);
}

static struct share *share_ref(struct share *share)
{
    if (share) atomic_fetch_add_explicit(&share->refs, 1, memory_order_relaxed);
    return share;
}

/* A share of the allocation around ptr; *share_out is NULL when there is none. -1 with MemoryError. */
static int share_create(const void *ptr, struct share **share_out)
{
    void *hold = NULL;
    *share_out = NULL;
    if (!ptr || rocshmemx_hold(ptr, &hold) != 0) {
        forget_failure();
        return 0;
    }
    struct share *share = malloc(sizeof *share);
    if (!share) {
        rocshmemx_release(hold);
        PyErr_NoMemory();
        return -1;
    }
    atomic_init(&share->refs, 1);
    share->hold = hold;
    share->drop = NULL;
    *share_out = share;
    return 0;
}

static int freed_error(struct memory *memory)
{
    PyErr_Format(PyExc_ValueError, "the buffer at %p of %zu bytes is freed; export it before free()",
                 memory->ptr, memory->nbytes);
    return -1;
}

int memory_export(PyObject *self, struct share **share_out)
{
    struct memory *memory = (struct memory *)self;
    int rc = 0;
    LOCKED(self);
    if (memory->freed)
        rc = freed_error(memory);
    else
        *share_out = share_ref(memory->share);
    UNLOCKED();
    return rc;
}

/* Ours is the type whose deallocator is ours: a type from a spec has no static object to compare with. */
static bool is_memory(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    while (type && PyType_GetSlot(type, Py_tp_dealloc) != (void *)memory_dealloc)
        type = PyType_GetSlot(type, Py_tp_base);
    return type != NULL;
}

static void find_device(struct memory *memory)
{
    const char *name = rocshmemx_device_name();
    memory->device_type = strcmp(name, "cuda") == 0  ? DEVICE_CUDA
                          : strcmp(name, "hip") == 0 ? DEVICE_ROCM
                                                     : DEVICE_HOST;
    memory->device_ordinal = memory->device_type == DEVICE_HOST ? 0 : rocshmemx_device_ordinal();
}

static PyObject *memory_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const struct argument arguments[] = {{NAME_ptr, ADDRESS}, {NAME_nbytes, SIZE}};
    static const struct signature sig = {"_Memory", arguments, 2, 2, 2, 0};
    static char *names[] = {"ptr", "nbytes", "own_data", "owner", NULL};
    PyObject *ptr, *nbytes, *owner = Py_None;
    int own_data = 1;
    union value v[2];
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|pO:_Memory", names, &ptr, &nbytes, &own_data, &owner))
        return NULL;
    if (take_arg(&sig, 0, ptr, &v[0]) < 0 || take_arg(&sig, 1, nbytes, &v[1]) < 0) return NULL;
    if (v[1].size > PY_SSIZE_T_MAX)
        return PyErr_Format(PyExc_OverflowError, "_Memory: nbytes is %zu, more than an object can have",
                            v[1].size);

    struct share *share = NULL;
    if (Py_IsNone(owner)) {
        if (share_create(v[0].ptr, &share) < 0) return NULL;
    } else {
        if (!is_memory(owner))
            return PyErr_Format(PyExc_TypeError, "_Memory: owner must be a _Memory or None");
        if (memory_export(owner, &share) < 0) return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct memory *memory = (struct memory *)allocate(type, 0);
    if (!memory) {
        share_unref(share);
        return NULL;
    }
    memory->ptr = v[0].ptr;
    memory->nbytes = v[1].size;
    memory->own_data = own_data != 0;
    memory->share = share;
    memory->job = atomic_load_explicit(&jobs_over, memory_order_relaxed);
    find_device(memory);
    return (PyObject *)memory;
}

/* Nobody has a reference any more, so all buffer exports are gone; capsules have shares of their own, and to
 * a tensor made of one the memory is symmetric as before: the allocation is dropped when the last of them
 * goes. */
static void memory_dealloc(PyObject *self)
{
    struct memory *memory = (struct memory *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (memory->own_data && !memory->freed && memory->share) memory->share->drop = memory->ptr;
    share_unref(memory->share);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *memory_mark_freed(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const struct signature sig = {"_mark_freed", NULL, 0, 0, 0, 0};
    struct memory *memory = (struct memory *)self;
    struct share *share = NULL;
    if (take_args(NULL, &sig, args, n, names, NULL) < 0) return NULL;
    LOCKED(self);
    memory->freed = true;
    if (!memory->lent) {
        share = memory->share;
        memory->share = NULL;
    }
    UNLOCKED();
    share_unref(share);
    return Py_NewRef(Py_None);
}

/* ---- attributes ---- */

static PyObject *memory_index(PyObject *self)
{
    return PyLong_FromVoidPtr(((struct memory *)self)->ptr);
}

static PyObject *get_ptr(PyObject *self, void *closure)
{
    (void)closure;
    return memory_index(self);
}

static PyObject *get_nbytes(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(((struct memory *)self)->nbytes);
}

static PyObject *get_own_data(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(((struct memory *)self)->own_data);
}

static PyObject *get_freed(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(((struct memory *)self)->freed);
}

static PyObject *get_stale(PyObject *self, void *closure)
{
    (void)closure;
    bool over = ((struct memory *)self)->job != atomic_load_explicit(&jobs_over, memory_order_relaxed);
    return PyBool_FromLong(over || !rocshmemx_initialized());
}

/* Its users copy the address and keep the object, so from now on the share stays until the object goes. */
static PyObject *array_interface(PyObject *self, bool wants_host, const char *name, const char *typestr)
{
    struct memory *memory = (struct memory *)self;
    if ((memory->device_type == DEVICE_HOST) != wants_host)
        return PyErr_Format(PyExc_AttributeError, "%s: this memory is %s", name,
                            wants_host ? "on a GPU; use __cuda_array_interface__" : "on the host");
    int rc = 0;
    LOCKED(self);
    if (memory->freed)
        rc = freed_error(memory);
    else
        memory->lent = true;
    UNLOCKED();
    if (rc < 0) return NULL;
    return Py_BuildValue("{s(n)sss(KO)sOsi}", "shape", (Py_ssize_t)memory->nbytes, "typestr", typestr, "data",
                         (unsigned long long)(uintptr_t)memory->ptr, Py_False, "strides", Py_None, "version",
                         3);
}

static PyObject *get_array_interface(PyObject *self, void *closure)
{
    (void)closure;
    return array_interface(self, true, "__array_interface__", "|i1");
}

static PyObject *get_cuda_array_interface(PyObject *self, void *closure)
{
    (void)closure;
    return array_interface(self, false, "__cuda_array_interface__", "<i1");
}

/* ---- buffer protocol ---- */

static int memory_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    struct memory *memory = (struct memory *)self;
    static char nothing[1]; /* where a buffer without bytes lies: some consumers refuse NULL */
    struct share *share = NULL;
    view->obj = NULL;
    if (memory->device_type != DEVICE_HOST) {
        PyErr_SetString(PyExc_BufferError,
                        "GPU memory has no buffer protocol; use __cuda_array_interface__ or DLPack");
        return -1;
    }
    if (memory_export(self, &share) < 0) return -1;
    if (PyBuffer_FillInfo(view, self, memory->ptr ? memory->ptr : nothing, (Py_ssize_t)memory->nbytes, 0,
                          flags) < 0) {
        share_unref(share);
        return -1;
    }
    view->internal = share;
    return 0;
}

static void memory_releasebuffer(PyObject *self, Py_buffer *view)
{
    (void)self;
    share_unref(view->internal);
    view->internal = NULL;
}

/* ---- the type ---- */

#define FASTCALL(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS

/* clang-format off */
static PyMethodDef methods[] = {
    {"_mark_freed", FASTCALL(memory_mark_freed), "_mark_freed($self, /)\n--\n\n"
     "Give the hold back, after rocshmem_free. New exports raise; those that live stay valid."},
    {"__dlpack__", FASTCALL(memory_dlpack),
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A capsule of int8, shape (nbytes,); versioned where max_version allows it."},
    {"__dlpack_device__", FASTCALL(memory_dlpack_device), "__dlpack_device__($self, /)\n--\n\n"
     "(1, 0) on the host, (2, ordinal) for CUDA, (10, ordinal) for ROCm."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef members[] = {
    {"ptr", get_ptr, NULL, "The address.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes.", NULL},
    {"own_data", get_own_data, NULL, "Whether it frees or drops the memory.", NULL},
    {"_freed", get_freed, NULL, "After _mark_freed().", NULL},
    {"_stale", get_stale, NULL, "Whether the job it was made in is over.", NULL},
    {"__array_interface__", get_array_interface, NULL, "Version 3, shape (nbytes,); AttributeError on a GPU.", NULL},
    {"__cuda_array_interface__", get_cuda_array_interface, NULL, "Version 3, shape (nbytes,); AttributeError on the host.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {
    {Py_tp_doc, "_Memory(ptr, nbytes, own_data=True, owner=None)\n--\n\n"
                "Address and size of memory, offered without a copy; the base of rocshmem4py.SymmetricBuffer."},
    {Py_tp_new, memory_new},
    {Py_tp_dealloc, memory_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {Py_nb_int, memory_index},
    {Py_nb_index, memory_index},
    {Py_bf_getbuffer, memory_getbuffer},
    {Py_bf_releasebuffer, memory_releasebuffer},
    {0, NULL}};
/* clang-format on */
static PyType_Spec spec = {"_rocshmem4py._Memory", sizeof(struct memory), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

PyObject *memory_type_new(PyObject *module)
{
    return PyType_FromModuleAndSpec(module, &spec, NULL);
}
