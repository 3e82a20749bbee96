/* SPDX-License-Identifier: MIT
 *
 * The module: its state, the steps of its execution in order, its constants, and TeamConfig.
 */
#include "module.h"

#include <limits.h>
#include <stdatomic.h>

#include "args.h"
#include "calls.h"
#include "errors.h"

/* ---- TeamConfig ---- */

struct team_config {
    PyObject_HEAD rocshmem_team_config_t config;
};

int take_team_config(PyObject *module, const char *argument, PyObject *object,
                     const rocshmem_team_config_t **config_out)
{
    *config_out = NULL;
    if (!object || Py_IsNone(object)) return 0;
    if (!PyObject_TypeCheck(object, (PyTypeObject *)state_of(module)->TeamConfig)) {
        PyErr_Format(PyExc_TypeError, "%s must be a TeamConfig or None", argument);
        return -1;
    }
    *config_out = &((struct team_config *)object)->config;
    return 0;
}

PyObject *team_config_new(PyObject *module, const rocshmem_team_config_t *config)
{
    PyObject *object = PyObject_CallNoArgs(state_of(module)->TeamConfig);
    if (object) ((struct team_config *)object)->config = *config;
    return object;
}

static PyObject *team_config_get(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(((struct team_config *)self)->config.num_contexts);
}

static int team_config_set(PyObject *self, PyObject *value, void *closure)
{
    static const struct argument arguments[] = {{NAME_value, INT32}};
    static const struct signature sig = {"TeamConfig.num_contexts", arguments, 1, 1, 1, 0};
    union value v;
    (void)closure;
    if (!value) {
        PyErr_SetString(PyExc_AttributeError, "TeamConfig.num_contexts cannot be deleted");
        return -1;
    }
    if (take_arg(&sig, 0, value, &v) < 0) return -1;
    ((struct team_config *)self)->config.num_contexts = (int)v.i64;
    return 0;
}

static void team_config_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *team_config_repr(PyObject *self)
{
    return PyUnicode_FromFormat("TeamConfig(num_contexts=%d)",
                                ((struct team_config *)self)->config.num_contexts);
}

static PyGetSetDef team_config_members[] = {{"num_contexts", team_config_get, team_config_set,
                                             "Contexts wanted: a hint, they are not limited here.", NULL},
                                            {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot team_config_slots[] = {
    {Py_tp_doc, "TeamConfig()\n--\n\nWhat a new team should offer, for rocshmem_team_split_strided."},
    {Py_tp_getset, team_config_members},
    {Py_tp_dealloc, team_config_dealloc},
    {Py_tp_repr, team_config_repr},
    {0, NULL}};
static PyType_Spec team_config_spec = {"_rocshmem4py.TeamConfig", sizeof(struct team_config), 0,
                                       Py_TPFLAGS_DEFAULT, team_config_slots};

/* ---- execution ---- */

static const struct {
    const char *name;
    long value;
} constants[] = {
#define CONSTANT(name) {#name, name},
    CONSTANT(ROCSHMEM_SUCCESS) CONSTANT(ROCSHMEM_SIGNAL_SET) CONSTANT(ROCSHMEM_SIGNAL_ADD)
        CONSTANT(ROCSHMEM_CMP_EQ) CONSTANT(ROCSHMEM_CMP_NE) CONSTANT(ROCSHMEM_CMP_GT)
            CONSTANT(ROCSHMEM_CMP_GE) CONSTANT(ROCSHMEM_CMP_LT) CONSTANT(ROCSHMEM_CMP_LE)
                CONSTANT(ROCSHMEM_CTX_NOSTORE) CONSTANT(ROCSHMEM_CTX_SERIALIZED)
                    CONSTANT(ROCSHMEM_CTX_WG_PRIVATE) CONSTANT(ROCSHMEM_CTX_SHARED)
                        CONSTANT(ROCSHMEM_TEAM_DEFAULT_CONFIGS) CONSTANT(ROCSHMEM_TEAM_NUM_CONTEXTS)
#undef CONSTANT
#define STATUS(name, value, text) {"ROCSHMEMX_E_" #name, value},
                            ROCSHMEMX_STATUSES(STATUS)
#undef STATUS
};

static int add_constants(PyObject *module)
{
    for (size_t i = 0; i < N_OF(constants); i++)
        if (PyModule_AddIntConstant(module, constants[i].name, constants[i].value) < 0) return -1;
    if (PyModule_AddIntConstant(module, "ROCSHMEM_CTX_INVALID",
                                (long)(intptr_t)ROCSHMEM_CTX_INVALID.ctx_opaque) < 0)
        return -1;
    return PyModule_AddIntConstant(module, "ROCSHMEM_CTX_DEFAULT",
                                   (long)(intptr_t)ROCSHMEM_CTX_DEFAULT.ctx_opaque);
}

/* The job is state of the process; two interpreters would pull at one job without seeing each other. */
static int refuse_second_interpreter(void)
{
    static _Atomic int64_t owner = -1;
    int64_t id = PyInterpreterState_GetID(PyInterpreterState_Get());
    int64_t seen = -1;
    if (id < 0) return -1;
    if (atomic_compare_exchange_strong(&owner, &seen, id) || seen == id) return 0;
    PyErr_Format(
        PyExc_ImportError,
        "_rocshmem4py serves one interpreter of a process, and interpreter %lld has it; use it there",
        (long long)seen);
    return -1;
}

static int intern_names(struct state *state)
{
    for (int i = 0; i < N_ARGUMENT_NAMES; i++) {
        state->names[i] = PyUnicode_InternFromString(argument_text(i));
        if (!state->names[i]) return -1;
    }
    return 0;
}

static int add_types(PyObject *module, struct state *state)
{
    state->TeamConfig = PyType_FromModuleAndSpec(module, &team_config_spec, NULL);
    if (!state->TeamConfig || PyModule_AddObjectRef(module, "TeamConfig", state->TeamConfig) < 0) return -1;
    state->Memory = memory_type_new(module);
    if (!state->Memory) return -1;
    return PyModule_AddObjectRef(module, "_Memory", state->Memory);
}

static int module_exec(PyObject *module)
{
    struct state *state = state_of(module);
    if (refuse_second_interpreter() < 0 || intern_names(state) < 0 || errors_init(module) < 0) return -1;
    if (add_types(module, state) < 0 || add_constants(module) < 0) return -1;
    PyMethodDef *const tables[] = {call_methods,  coll_methods, ctx_methods,
                                   typed_methods, wait_methods, amo_methods};
    for (size_t i = 0; i < N_OF(tables); i++)
        if (PyModule_AddFunctions(module, tables[i]) < 0) return -1;
    calls_update();
    errors_attach();
    state->attached = true;
    return 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct state *state = state_of(module);
#define VISIT_(name) Py_VISIT(state->name);
    STATE(VISIT_)
#undef VISIT_
    for (int i = 0; i < N_ARGUMENT_NAMES; i++) Py_VISIT(state->names[i]);
    for (int i = 0; i < N_KNOWN_NAMES; i++) Py_VISIT(state->known[i].names);
    return 0;
}

static int module_clear(PyObject *module)
{
    struct state *state = state_of(module);
#define CLEAR_(name) Py_CLEAR(state->name);
    STATE(CLEAR_)
#undef CLEAR_
    for (int i = 0; i < N_ARGUMENT_NAMES; i++) Py_CLEAR(state->names[i]);
    for (int i = 0; i < N_KNOWN_NAMES; i++) Py_CLEAR(state->known[i].names);
    return 0;
}

static void module_free(void *module)
{
    struct state *state = state_of(module);
    if (state->attached) errors_detach();
    module_clear(module);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL}};

static PyModuleDef module_def = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_rocshmem4py",
    .m_doc = "The rocSHMEM host API, one function a name; the runtime is in librocshmem.so.",
    .m_size = sizeof(struct state),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__rocshmem4py(void)
{
    return PyModuleDef_Init(&module_def);
}
