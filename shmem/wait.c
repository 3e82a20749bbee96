/* SPDX-License-Identifier: MIT
 *
 * Signal words, waits and tests; their names before 1.4; caches.
 */
#include "layer.h"

LAYER(uint64_t, signal_fetch, (const uint64_t *sig_addr))
{
    return rocshmem_signal_fetch(sig_addr);
}

LAYER(uint64_t, signal_wait_until, (uint64_t * sig_addr, int cmp, uint64_t cmp_value))
{
    return rocshmem_signal_wait_until(sig_addr, cmp, cmp_value);
}

/* ---- waits and tests ---- */

#define ONE(T) (T * ivar, int cmp, T cmp_value)
#define MANY(T) (T * ivars, size_t nelems, const int *status, int cmp, T cmp_value)
#define SOME(T) (T * ivars, size_t nelems, size_t * indices, const int *status, int cmp, T cmp_value)
#define MANY_VECTOR(T) (T * ivars, size_t nelems, const int *status, int cmp, const T *cmp_values)
#define SOME_VECTOR(T)                                                                                       \
    (T * ivars, size_t nelems, size_t * indices, const int *status, int cmp, const T *cmp_values)

#define WAITS(name, T, ...)                                                                                  \
    LAYER(void, name##_wait_until, ONE(T))                                                                   \
    {                                                                                                        \
        rocshmem_##name##_wait_until(ivar, cmp, cmp_value);                                                  \
    }                                                                                                        \
    LAYER(void, name##_wait_until_all, MANY(T))                                                              \
    {                                                                                                        \
        rocshmem_##name##_wait_until_all(ivars, nelems, status, cmp, cmp_value);                             \
    }                                                                                                        \
    LAYER(size_t, name##_wait_until_any, MANY(T))                                                            \
    {                                                                                                        \
        return rocshmem_##name##_wait_until_any(ivars, nelems, status, cmp, cmp_value);                      \
    }                                                                                                        \
    LAYER(size_t, name##_wait_until_some, SOME(T))                                                           \
    {                                                                                                        \
        return rocshmem_##name##_wait_until_some(ivars, nelems, indices, status, cmp, cmp_value);            \
    }                                                                                                        \
    LAYER(void, name##_wait_until_all_vector, MANY_VECTOR(T))                                                \
    {                                                                                                        \
        rocshmem_##name##_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values);                     \
    }                                                                                                        \
    LAYER(size_t, name##_wait_until_any_vector, MANY_VECTOR(T))                                              \
    {                                                                                                        \
        return rocshmem_##name##_wait_until_any_vector(ivars, nelems, status, cmp, cmp_values);              \
    }                                                                                                        \
    LAYER(size_t, name##_wait_until_some_vector, SOME_VECTOR(T))                                             \
    {                                                                                                        \
        return rocshmem_##name##_wait_until_some_vector(ivars, nelems, indices, status, cmp, cmp_values);    \
    }
ROCSHMEM_SYNC_TYPES(WAITS, )

#define TESTS(name, T, ...)                                                                                  \
    LAYER(int, name##_test, ONE(T))                                                                          \
    {                                                                                                        \
        return rocshmem_##name##_test(ivar, cmp, cmp_value);                                                 \
    }                                                                                                        \
    LAYER(int, name##_test_all, MANY(T))                                                                     \
    {                                                                                                        \
        return rocshmem_##name##_test_all(ivars, nelems, status, cmp, cmp_value);                            \
    }                                                                                                        \
    LAYER(size_t, name##_test_any, MANY(T))                                                                  \
    {                                                                                                        \
        return rocshmem_##name##_test_any(ivars, nelems, status, cmp, cmp_value);                            \
    }                                                                                                        \
    LAYER(size_t, name##_test_some, SOME(T))                                                                 \
    {                                                                                                        \
        return rocshmem_##name##_test_some(ivars, nelems, indices, status, cmp, cmp_value);                  \
    }                                                                                                        \
    LAYER(int, name##_test_all_vector, MANY_VECTOR(T))                                                       \
    {                                                                                                        \
        return rocshmem_##name##_test_all_vector(ivars, nelems, status, cmp, cmp_values);                    \
    }                                                                                                        \
    LAYER(size_t, name##_test_any_vector, MANY_VECTOR(T))                                                    \
    {                                                                                                        \
        return rocshmem_##name##_test_any_vector(ivars, nelems, status, cmp, cmp_values);                    \
    }                                                                                                        \
    LAYER(size_t, name##_test_some_vector, SOME_VECTOR(T))                                                   \
    {                                                                                                        \
        return rocshmem_##name##_test_some_vector(ivars, nelems, indices, status, cmp, cmp_values);          \
    }
ROCSHMEM_SYNC_TYPES(TESTS, )

/* ---- deprecated: until a value is no longer what it was ---- */

#define OLD_WAIT(name, T, ...)                                                                               \
    LAYER(void, name##_wait, (T * ivar, T cmp_value))                                                        \
    {                                                                                                        \
        layer_enter("shmem_" #name "_wait");                                                                 \
        rocshmem_##name##_wait_until(ivar, SHMEM_CMP_NE, cmp_value);                                         \
        layer_leave();                                                                                       \
    }
SHMEM_SIGNED_TYPES_(OLD_WAIT, )
OLD_WAIT(short, short, )

LAYER(void, wait, (long *ivar, long cmp_value))
{
    layer_enter("shmem_wait");
    rocshmem_long_wait_until(ivar, SHMEM_CMP_NE, cmp_value);
    layer_leave();
}

LAYER(void, wait_until, (long *ivar, int cmp, long cmp_value))
{
    layer_enter("shmem_wait_until");
    rocshmem_long_wait_until(ivar, cmp, cmp_value);
    layer_leave();
}

/* ---- deprecated: caches, which are coherent ---- */

LAYER(void, clear_cache_inv, (void))
{
}

LAYER(void, set_cache_inv, (void))
{
}

LAYER(void, clear_cache_line_inv, (void *dest))
{
    (void)dest;
}

LAYER(void, set_cache_line_inv, (void *dest))
{
    (void)dest;
}

LAYER(void, udcflush, (void))
{
}

LAYER(void, udcflush_line, (void *dest))
{
    (void)dest;
}
