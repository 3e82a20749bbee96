/* SPDX-License-Identifier: MIT
 *
 * Waits for, and tests of, words of this PE: one function a form, with the integer type by name. A wait
 * releases the GIL; a test of few words keeps it, it takes as long as the release would.
 */
#include "typed.h"

#include <stdlib.h>

/* What is asked. The wrappers below turn it into the call of one type. */
struct question {
    void *ivars;
    size_t nelems;
    size_t *indices; /* the forms that give some: room for nelems */
    const int *status;
    int cmp;
    union value value;
    const void *values; /* NULL: all are compared with value */
};

enum form { WAIT, WAIT_ALL, WAIT_ANY, WAIT_SOME, TEST, TEST_ALL, TEST_ANY, TEST_SOME, N_FORMS };

#define VECTOR_OR_NOT(function, T, ...)                                                                      \
    (q->values ? function##_vector(q->ivars, q->nelems, __VA_ARGS__, q->cmp, q->values)                      \
               : function(q->ivars, q->nelems, __VA_ARGS__, q->cmp, (T)q->value.u64))
#define FORMS_(type, name, T, kind, member)                                                                  \
    static size_t name##_wait(const struct question *q)                                                      \
    {                                                                                                        \
        rocshmem_##name##_wait_until(q->ivars, q->cmp, (T)q->value.u64);                                     \
        return 0;                                                                                            \
    }                                                                                                        \
    static size_t name##_wait_all(const struct question *q)                                                  \
    {                                                                                                        \
        VECTOR_OR_NOT(rocshmem_##name##_wait_until_all, T, q->status);                                       \
        return 0;                                                                                            \
    }                                                                                                        \
    static size_t name##_wait_any(const struct question *q)                                                  \
    {                                                                                                        \
        return VECTOR_OR_NOT(rocshmem_##name##_wait_until_any, T, q->status);                                \
    }                                                                                                        \
    static size_t name##_wait_some(const struct question *q)                                                 \
    {                                                                                                        \
        return VECTOR_OR_NOT(rocshmem_##name##_wait_until_some, T, q->indices, q->status);                   \
    }                                                                                                        \
    static size_t name##_test(const struct question *q)                                                      \
    {                                                                                                        \
        return (size_t)rocshmem_##name##_test(q->ivars, q->cmp, (T)q->value.u64);                            \
    }                                                                                                        \
    static size_t name##_test_all(const struct question *q)                                                  \
    {                                                                                                        \
        return (size_t)VECTOR_OR_NOT(rocshmem_##name##_test_all, T, q->status);                              \
    }                                                                                                        \
    static size_t name##_test_any(const struct question *q)                                                  \
    {                                                                                                        \
        return VECTOR_OR_NOT(rocshmem_##name##_test_any, T, q->status);                                      \
    }                                                                                                        \
    static size_t name##_test_some(const struct question *q)                                                 \
    {                                                                                                        \
        return VECTOR_OR_NOT(rocshmem_##name##_test_some, T, q->indices, q->status);                         \
    }
INTEGERS_32_64(FORMS_)
#undef FORMS_

#define ROW_(type, name, T, kind_, member)                                                                   \
    [type] = {kind_,                                                                                         \
              {[WAIT] = name##_wait,                                                                         \
               [WAIT_ALL] = name##_wait_all,                                                                 \
               [WAIT_ANY] = name##_wait_any,                                                                 \
               [WAIT_SOME] = name##_wait_some,                                                               \
               [TEST] = name##_test,                                                                         \
               [TEST_ALL] = name##_test_all,                                                                 \
               [TEST_ANY] = name##_test_any,                                                                 \
               [TEST_SOME] = name##_test_some}},
static const struct {
    uint8_t kind;
    size_t (*forms[N_FORMS])(const struct question *);
} types[N_TYPES] = {INTEGERS_32_64(ROW_)};
#undef ROW_

/* The type for a dtype, and into q->value the object, unless the values are an array. -1 with an exception. */
static int take_question(PyObject *module, const char *function, const char *dtype, PyObject *value,
                         struct question *q)
{
    int type = type_named(module, function, dtype);
    if (type < 0) return -1;
    if (!types[type].kind) {
        refuse(module, function, "dtype", dtype, "; words that are waited for are integers of 4 or 8 bytes");
        return -1;
    }
    if (value && take_value(function, NAME_cmp_value, types[type].kind, value, &q->value) < 0) return -1;
    return type;
}

static size_t ask(int type, enum form form, const struct question *q)
{
    size_t answer;
    WITHOUT_GIL_IF(form < TEST || q->nelems > GIL_NBYTES / 8, answer = types[type].forms[form](q));
    return answer;
}

static PyObject *list_of(const size_t *indices, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *index = PyLong_FromSize_t(indices[i]);
        if (!index || PyList_SetItem(list, (Py_ssize_t)i, index) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *ask_some(PyObject *module, const char *function, int type, enum form form,
                          struct question *q)
{
    size_t n_indices = q->nelems ? q->nelems : 1;
    if (n_indices <= PY_SSIZE_T_MAX / sizeof *q->indices) q->indices = malloc(n_indices * sizeof *q->indices);
    if (!q->indices) {
        char text[96];
        PyOS_snprintf(text, sizeof text, "nelems is %zu: no memory for as many indices", q->nelems);
        return raise_here(module, ROCSHMEMX_E_NOMEM, function, text);
    }
    size_t n = ask(type, form, q);
    PyObject *list = call_failed ? NULL : list_of(q->indices, n);
    free(q->indices);
    return result_or_raise(module, list);
}

/* The answer of the forms for arrays: None, a bool, an index or None, a list. */
static PyObject *answer_for(PyObject *module, const char *function, int type, enum form form,
                            struct question *q)
{
    if (form == WAIT_SOME || form == TEST_SOME) return ask_some(module, function, type, form, q);
    size_t answer = ask(type, form, q);
    if (call_failed) return raise_failure(module);
    if (form == WAIT_ALL) return Py_NewRef(Py_None);
    if (form == TEST_ALL) return PyBool_FromLong(answer != 0);
    return answer == SIZE_MAX ? Py_NewRef(Py_None) : PyLong_FromSize_t(answer);
}

/* ---- one word ---- */

static const struct argument word_arguments[] = {
    {NAME_ivar, ADDRESS}, {NAME_cmp, INT32}, {NAME_cmp_value, OBJECT}, {NAME_dtype, WORD}};

SIGNED_FUNCTION(rocshmemx_wait_until, word_arguments, N_OF(word_arguments), 0, 0)
{
    struct question q = {.ivars = v[0].ptr, .cmp = (int)v[1].i64};
    int type = take_question(module, "rocshmemx_wait_until", v[3].text, v[2].object, &q);
    if (type < 0) return NULL;
    ask(type, WAIT, &q);
    return none_or_raise(module);
}

SIGNED_FUNCTION(rocshmemx_test, word_arguments, N_OF(word_arguments), 0, 0)
{
    struct question q = {.ivars = v[0].ptr, .cmp = (int)v[1].i64};
    int type = take_question(module, "rocshmemx_test", v[3].text, v[2].object, &q);
    if (type < 0) return NULL;
    size_t answer = ask(type, TEST, &q);
    return result_or_raise(module, PyBool_FromLong(answer != 0));
}

/* ---- arrays ---- */

#define ARRAY_ARGUMENTS(last, kind)                                                                          \
    {                                                                                                        \
        {NAME_ivars, ADDRESS}, {NAME_nelems, SIZE}, {NAME_status, ADDRESS}, {NAME_cmp, INT32}, {last, kind}, \
        {                                                                                                    \
            NAME_dtype, WORD                                                                                 \
        }                                                                                                    \
    }
static const struct argument array_arguments[] = ARRAY_ARGUMENTS(NAME_cmp_value, OBJECT);
static const struct argument vector_arguments[] = ARRAY_ARGUMENTS(NAME_cmp_values, ADDRESS);

static PyObject *ask_array(PyObject *module, const char *function, enum form form, const union value *v)
{
    struct question q = {v[0].ptr, v[1].size, NULL, v[2].ptr, (int)v[3].i64, {.u64 = 0}, NULL};
    int type = take_question(module, function, v[5].text, v[4].object, &q);
    return type < 0 ? NULL : answer_for(module, function, type, form, &q);
}

static PyObject *ask_vector(PyObject *module, const char *function, enum form form, const union value *v)
{
    struct question q = {v[0].ptr, v[1].size, NULL, v[2].ptr, (int)v[3].i64, {.u64 = 0}, v[4].ptr};
    int type = take_question(module, function, v[5].text, NULL, &q);
    if (type < 0) return NULL;
    if (!q.values)
        return raise_here(module, ROCSHMEMX_E_ARG, function,
                          "cmp_values is 0; give the address of nelems values");
    return answer_for(module, function, type, form, &q);
}

#define ARRAY_FUNCTION(name, form)                                                                           \
    SIGNED_FUNCTION(name, array_arguments, N_OF(array_arguments), 0, 0)                                      \
    {                                                                                                        \
        return ask_array(module, #name, form, v);                                                            \
    }                                                                                                        \
    SIGNED_FUNCTION(name##_vector, vector_arguments, N_OF(vector_arguments), 0, 0)                           \
    {                                                                                                        \
        return ask_vector(module, #name "_vector", form, v);                                                 \
    }
ARRAY_FUNCTION(rocshmemx_wait_until_all, WAIT_ALL)
ARRAY_FUNCTION(rocshmemx_wait_until_any, WAIT_ANY)
ARRAY_FUNCTION(rocshmemx_wait_until_some, WAIT_SOME)
ARRAY_FUNCTION(rocshmemx_test_all, TEST_ALL)
ARRAY_FUNCTION(rocshmemx_test_any, TEST_ANY)
ARRAY_FUNCTION(rocshmemx_test_some, TEST_SOME)

/* ---- the table ---- */

#define WORD_ROW(name, doc) METHOD(name, "ivar, cmp, cmp_value, dtype", doc " Extension.")
#define ARRAY_ROWS(name, doc)                                                                                \
    METHOD(name, "ivars, nelems, status, cmp, cmp_value, dtype",                                             \
           doc " status: address of nelems ints, an element that is not 0 excludes; or 0. Extension.")       \
    METHOD(name##_vector, "ivars, nelems, status, cmp, cmp_values, dtype",                                   \
           "As " #name ", element i compared with element i at the address cmp_values. Extension.")

/* clang-format off */
PyMethodDef wait_methods[] = {
    WORD_ROW(rocshmemx_wait_until, "Wait until this PE's own word satisfies cmp, compared as dtype.")
    WORD_ROW(rocshmemx_test, "Whether this PE's own word satisfies cmp, compared as dtype.")
    ARRAY_ROWS(rocshmemx_wait_until_all, "Wait until every word was seen to satisfy cmp.")
    ARRAY_ROWS(rocshmemx_wait_until_any, "Wait until a word satisfies cmp; its index, None if all are excluded.")
    ARRAY_ROWS(rocshmemx_wait_until_some, "Wait until words satisfy cmp; their indices.")
    ARRAY_ROWS(rocshmemx_test_all, "Whether every word satisfies cmp.")
    ARRAY_ROWS(rocshmemx_test_any, "The index of a word that satisfies cmp, None if there is none.")
    ARRAY_ROWS(rocshmemx_test_some, "The indices of the words that satisfy cmp.")
    {NULL, NULL, 0, NULL}};
/* clang-format on */
