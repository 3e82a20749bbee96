/* SPDX-License-Identifier: MIT
 *
 * The atomics: rocshmem_<type>_atomic_<op> for the whole matrix, from rocshmem_types.def. A function is a
 * call of the shared parser, the operation, the result; what a value may be is the kind of its C type. The
 * GIL is kept while every PE is on this host: an atomic takes 10 ns there.
 */
#include "calls.h"

/* clang-format off */
#define KIND_OF(T) _Generic((T)0, int: INT32, unsigned int: UINT32, long: INT64, long long: INT64,                       \
                            unsigned long: UINT64, unsigned long long: UINT64, float: FLOAT, double: DOUBLE)
/* The member of union value that take_args fills for this kind. */
#define VALUE_OF(T, v) ((T)_Generic((T)0, int: (v).i64, long: (v).i64, long long: (v).i64, float: (v).f64,               \
                                    double: (v).f64, default: (v).u64))
#define OBJECT_OF(x) _Generic((x), int: PyLong_FromLong, long: PyLong_FromLong, long long: PyLong_FromLongLong,          \
                              unsigned int: PyLong_FromUnsignedLong, unsigned long: PyLong_FromUnsignedLong,            \
                              unsigned long long: PyLong_FromUnsignedLongLong, float: PyFloat_FromDouble,               \
                              double: PyFloat_FromDouble)(x)
/* clang-format on */

static const struct argument plain_arguments[] = {{NAME_dest, ADDRESS}, {NAME_pe, PE}};
static const struct argument value_arguments[] = {{NAME_dest, ADDRESS}, {NAME_value, VALUE}, {NAME_pe, PE}};
static const struct argument swap_arguments[] = {
    {NAME_dest, ADDRESS}, {NAME_cond, VALUE}, {NAME_value, VALUE}, {NAME_pe, PE}};

/* One function: its name, its table, the C expression. With a result, or without. */
#define FETCHING(function, T, arguments, expression)                                                         \
    SIGNED_FUNCTION(function, arguments, N_OF(arguments), 0, KIND_OF(T))                                     \
    {                                                                                                        \
        T old;                                                                                               \
        WITHOUT_GIL_IF(releases_gil(0), old = function expression);                                          \
        return result_or_raise(module, OBJECT_OF(old));                                                      \
    }
#define CHANGING(function, T, arguments, expression)                                                         \
    SIGNED_FUNCTION(function, arguments, N_OF(arguments), 0, KIND_OF(T))                                     \
    {                                                                                                        \
        WITHOUT_GIL_IF(releases_gil(0), function expression);                                                \
        return none_or_raise(module);                                                                        \
    }

/* The forms: (dest, pe), (dest, value, pe), (dest, cond, value, pe). */
#define FETCH_PLAIN(name, T, op)                                                                             \
    FETCHING(rocshmem_##name##_atomic_##op, T, plain_arguments, (v[0].ptr, v[1].i))
#define CHANGE_PLAIN(name, T, op)                                                                            \
    CHANGING(rocshmem_##name##_atomic_##op, T, plain_arguments, (v[0].ptr, v[1].i))
#define FETCH_VALUE(name, T, op)                                                                             \
    FETCHING(rocshmem_##name##_atomic_##op, T, value_arguments, (v[0].ptr, VALUE_OF(T, v[1]), v[2].i))
#define CHANGE_VALUE(name, T, op)                                                                            \
    CHANGING(rocshmem_##name##_atomic_##op, T, value_arguments, (v[0].ptr, VALUE_OF(T, v[1]), v[2].i))
#define FETCH_COND(name, T, op)                                                                              \
    FETCHING(rocshmem_##name##_atomic_##op, T, swap_arguments,                                               \
             (v[0].ptr, VALUE_OF(T, v[1]), VALUE_OF(T, v[2]), v[3].i))

ROCSHMEM_AMO_TYPES(FETCH_PLAIN, fetch)
ROCSHMEM_AMO_TYPES(CHANGE_VALUE, set)
ROCSHMEM_AMO_TYPES(FETCH_VALUE, swap)
ROCSHMEM_INTEGER_TYPES(FETCH_COND, compare_swap)
ROCSHMEM_INTEGER_TYPES(FETCH_VALUE, fetch_add)
ROCSHMEM_INTEGER_TYPES(FETCH_PLAIN, fetch_inc)
ROCSHMEM_INTEGER_TYPES(CHANGE_VALUE, add)
ROCSHMEM_INTEGER_TYPES(CHANGE_PLAIN, inc)
ROCSHMEM_BITWISE_TYPES(FETCH_VALUE, fetch_and)
ROCSHMEM_BITWISE_TYPES(FETCH_VALUE, fetch_or)
ROCSHMEM_BITWISE_TYPES(FETCH_VALUE, fetch_xor)
ROCSHMEM_BITWISE_TYPES(CHANGE_VALUE, and)
ROCSHMEM_BITWISE_TYPES(CHANGE_VALUE, or)
ROCSHMEM_BITWISE_TYPES(CHANGE_VALUE, xor)

#define ROW_(function, arguments, doc) METHOD(function, arguments, doc)
#define PLAIN_ROW(name, T, op, doc) ROW_(rocshmem_##name##_atomic_##op, "dest, pe", doc)
#define VALUE_ROW(name, T, op, doc) ROW_(rocshmem_##name##_atomic_##op, "dest, value, pe", doc)
#define COND_ROW(name, T, op, doc) ROW_(rocshmem_##name##_atomic_##op, "dest, cond, value, pe", doc)

PyMethodDef amo_methods[] = {
    /* clang-format off */
    ROCSHMEM_AMO_TYPES(PLAIN_ROW, fetch, "The value at dest on pe.")
    ROCSHMEM_AMO_TYPES(VALUE_ROW, set, "Store value at dest on pe.")
    ROCSHMEM_AMO_TYPES(VALUE_ROW, swap, "Store value at dest on pe; the old value.")
    ROCSHMEM_INTEGER_TYPES(COND_ROW, compare_swap, "Store value at dest on pe if cond is there; the old value.")
    ROCSHMEM_INTEGER_TYPES(VALUE_ROW, fetch_add, "Add value at dest on pe; the old value.")
    ROCSHMEM_INTEGER_TYPES(PLAIN_ROW, fetch_inc, "Add 1 at dest on pe; the old value.")
    ROCSHMEM_INTEGER_TYPES(VALUE_ROW, add, "Add value at dest on pe.")
    ROCSHMEM_INTEGER_TYPES(PLAIN_ROW, inc, "Add 1 at dest on pe.")
    ROCSHMEM_BITWISE_TYPES(VALUE_ROW, fetch_and, "And value into dest on pe; the old value.")
    ROCSHMEM_BITWISE_TYPES(VALUE_ROW, fetch_or, "Or value into dest on pe; the old value.")
    ROCSHMEM_BITWISE_TYPES(VALUE_ROW, fetch_xor, "Xor value into dest on pe; the old value.")
    ROCSHMEM_BITWISE_TYPES(VALUE_ROW, and, "And value into dest on pe.")
    ROCSHMEM_BITWISE_TYPES(VALUE_ROW, or, "Or value into dest on pe.")
    ROCSHMEM_BITWISE_TYPES(VALUE_ROW, xor, "Xor value into dest on pe.")
    {NULL, NULL, 0, NULL}
    /* clang-format on */
};
