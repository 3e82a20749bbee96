/* SPDX-License-Identifier: MIT
 *
 * Types by name, for the functions that take one: the many names of C and NumPy's are a few types here, by
 * width and sign, because the runtime treats types of one width and sign alike.
 */
#ifndef ROCSHMEM_CPYTHON_TYPED_H
#define ROCSHMEM_CPYTHON_TYPED_H

#include "calls.h"

/* X(type, name in the API, C type, kind of argument, member of union value) */
#define INTEGERS_32_64(X)                                                                                    \
    X(T_INT32, int32, int32_t, INT32, i64)                                                                   \
    X(T_INT64, int64, int64_t, INT64, i64)                                                                   \
    X(T_UINT32, uint32, uint32_t, UINT32, u64)                                                               \
    X(T_UINT64, uint64, uint64_t, UINT64, u64)
#define INTEGERS(X)                                                                                          \
    INTEGERS_32_64(X)                                                                                        \
    X(T_INT8, int8, int8_t, INT8, i64)                                                                       \
    X(T_INT16, int16, int16_t, INT16, i64)                                                                   \
    X(T_UINT8, uint8, uint8_t, UINT8, u64)                                                                   \
    X(T_UINT16, uint16, uint16_t, UINT16, u64)
#define REALS(X)                                                                                             \
    X(T_FLOAT, float, float, FLOAT, f64)                                                                     \
    X(T_DOUBLE, double, double, DOUBLE, f64)                                                                 \
    X(T_LONGDOUBLE, longdouble, long double, DOUBLE, f64)
#define COMPLEXES(X)                                                                                         \
    X(T_COMPLEXF, complexf, float _Complex, 0, f64)                                                          \
    X(T_COMPLEXD, complexd, double _Complex, 0, f64)

#define TYPE_(type, name, T, kind, member) type,
enum type { INTEGERS(TYPE_) REALS(TYPE_) COMPLEXES(TYPE_) N_TYPES };
#undef TYPE_

/* The type of a name ("int", "size", "float32"), or -1 with ValueError. */
int type_named(PyObject *module, const char *function, const char *name);
const char *type_text(int type);

/* ValueError: argument is '<value>', <why>. NULL. */
PyObject *refuse(PyObject *module, const char *function, const char *argument, const char *value,
                 const char *why);

/* An object as a value of this kind, by the argument's name: 0, or -1 with an exception. */
static inline int take_value(const char *function, int argument, int kind, PyObject *object, union value *v)
{
    const struct argument arguments[] = {{(uint8_t)argument, (uint8_t)kind}};
    const struct signature sig = {function, arguments, 1, 1, 1, 0};
    return take_arg(&sig, 0, object, v);
}

#endif
