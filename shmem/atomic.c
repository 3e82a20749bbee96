/* SPDX-License-Identifier: MIT
 *
 * Atomics, and their names before 1.4.
 */
#include "layer_forms.h"

#define SETTABLE(name, T, ...)                                                                               \
    VALUE_FORMS(T, name##_atomic_fetch, (const T *source, int pe), (source, pe))                             \
    VOID_FORMS(name##_atomic_set, (T * dest, T value, int pe), (dest, value, pe))                            \
    VALUE_FORMS(T, name##_atomic_swap, (T * dest, T value, int pe), (dest, value, pe))                       \
    VOID_FORMS(name##_atomic_fetch_nbi, (T * fetch, const T *source, int pe), (fetch, source, pe))           \
    VOID_FORMS(name##_atomic_swap_nbi, (T * fetch, T * dest, T value, int pe), (fetch, dest, value, pe))
ROCSHMEM_AMO_TYPES(SETTABLE, )

#define COUNTABLE(name, T, ...)                                                                              \
    VALUE_FORMS(T, name##_atomic_compare_swap, (T * dest, T cond, T value, int pe), (dest, cond, value, pe)) \
    VALUE_FORMS(T, name##_atomic_fetch_inc, (T * dest, int pe), (dest, pe))                                  \
    VOID_FORMS(name##_atomic_inc, (T * dest, int pe), (dest, pe))                                            \
    VALUE_FORMS(T, name##_atomic_fetch_add, (T * dest, T value, int pe), (dest, value, pe))                  \
    VOID_FORMS(name##_atomic_add, (T * dest, T value, int pe), (dest, value, pe))                            \
    VOID_FORMS(name##_atomic_compare_swap_nbi, (T * fetch, T * dest, T cond, T value, int pe),               \
               (fetch, dest, cond, value, pe))                                                               \
    VOID_FORMS(name##_atomic_fetch_inc_nbi, (T * fetch, T * dest, int pe), (fetch, dest, pe))                \
    VOID_FORMS(name##_atomic_fetch_add_nbi, (T * fetch, T * dest, T value, int pe), (fetch, dest, value, pe))
ROCSHMEM_INTEGER_TYPES(COUNTABLE, )

#define BITWISE(name, T, ...)                                                                                \
    VALUE_FORMS(T, name##_atomic_fetch_and, (T * dest, T value, int pe), (dest, value, pe))                  \
    VALUE_FORMS(T, name##_atomic_fetch_or, (T * dest, T value, int pe), (dest, value, pe))                   \
    VALUE_FORMS(T, name##_atomic_fetch_xor, (T * dest, T value, int pe), (dest, value, pe))                  \
    VOID_FORMS(name##_atomic_and, (T * dest, T value, int pe), (dest, value, pe))                            \
    VOID_FORMS(name##_atomic_or, (T * dest, T value, int pe), (dest, value, pe))                             \
    VOID_FORMS(name##_atomic_xor, (T * dest, T value, int pe), (dest, value, pe))                            \
    VOID_FORMS(name##_atomic_fetch_and_nbi, (T * fetch, T * dest, T value, int pe),                          \
               (fetch, dest, value, pe))                                                                     \
    VOID_FORMS(name##_atomic_fetch_or_nbi, (T * fetch, T * dest, T value, int pe), (fetch, dest, value, pe)) \
    VOID_FORMS(name##_atomic_fetch_xor_nbi, (T * fetch, T * dest, T value, int pe), (fetch, dest, value, pe))
ROCSHMEM_BITWISE_TYPES(BITWISE, )

/* ---- deprecated names: the operation's name is not the function's, so an error needs to be told ---- */

#define OLD_VALUE(T, name, target, parameters, arguments)                                                    \
    LAYER(T, name, parameters)                                                                               \
    {                                                                                                        \
        layer_enter("shmem_" #name);                                                                         \
        T result = rocshmem_##target arguments;                                                              \
        layer_leave();                                                                                       \
        return result;                                                                                       \
    }
#define OLD_VOID(name, target, parameters, arguments)                                                        \
    LAYER(void, name, parameters)                                                                            \
    {                                                                                                        \
        layer_enter("shmem_" #name);                                                                         \
        rocshmem_##target arguments;                                                                         \
        layer_leave();                                                                                       \
    }
#define OLD_SETTABLE(name, T, ...)                                                                           \
    OLD_VALUE(T, name##_fetch, name##_atomic_fetch, (const T *source, int pe), (source, pe))                 \
    OLD_VOID(name##_set, name##_atomic_set, (T * dest, T value, int pe), (dest, value, pe))                  \
    OLD_VALUE(T, name##_swap, name##_atomic_swap, (T * dest, T value, int pe), (dest, value, pe))
ROCSHMEM_AMO_TYPES(OLD_SETTABLE, )
#define OLD_COUNTABLE(name, T, ...)                                                                          \
    OLD_VALUE(T, name##_cswap, name##_atomic_compare_swap, (T * dest, T cond, T value, int pe),              \
              (dest, cond, value, pe))                                                                       \
    OLD_VALUE(T, name##_finc, name##_atomic_fetch_inc, (T * dest, int pe), (dest, pe))                       \
    OLD_VOID(name##_inc, name##_atomic_inc, (T * dest, int pe), (dest, pe))                                  \
    OLD_VALUE(T, name##_fadd, name##_atomic_fetch_add, (T * dest, T value, int pe), (dest, value, pe))       \
    OLD_VOID(name##_add, name##_atomic_add, (T * dest, T value, int pe), (dest, value, pe))
ROCSHMEM_INTEGER_TYPES(OLD_COUNTABLE, )
