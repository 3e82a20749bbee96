/* SPDX-License-Identifier: MIT
 *
 * Transfers, with and without a signal: one jump each; with a context the arguments move by one register first.
 */
#include "layer_forms.h"

#define BLOCK(T) (T * dest, const T *source, size_t nelems, int pe)
#define STRIDED(T) (T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)
#define SIGNALLED(T)                                                                                         \
    (T * dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
#define BLOCK_NAMES (dest, source, nelems, pe)
#define STRIDED_NAMES (dest, source, dst, sst, nelems, pe)
#define SIGNALLED_NAMES (dest, source, nelems, sig_addr, signal, sig_op, pe)

/* ---- typed ---- */

#define TYPED(name, T, ...)                                                                                  \
    VOID_FORMS(name##_put, BLOCK(T), BLOCK_NAMES)                                                            \
    VOID_FORMS(name##_get, BLOCK(T), BLOCK_NAMES)                                                            \
    VOID_FORMS(name##_put_nbi, BLOCK(T), BLOCK_NAMES)                                                        \
    VOID_FORMS(name##_get_nbi, BLOCK(T), BLOCK_NAMES)                                                        \
    VOID_FORMS(name##_iput, STRIDED(T), STRIDED_NAMES)                                                       \
    VOID_FORMS(name##_iget, STRIDED(T), STRIDED_NAMES)                                                       \
    VOID_FORMS(name##_p, (T * dest, T value, int pe), (dest, value, pe))                                     \
    VALUE_FORMS(T, name##_g, (const T *source, int pe), (source, pe))                                        \
    VOID_FORMS(name##_put_signal, SIGNALLED(T), SIGNALLED_NAMES)                                             \
    VOID_FORMS(name##_put_signal_nbi, SIGNALLED(T), SIGNALLED_NAMES)
ROCSHMEM_RMA_TYPES(TYPED, )

/* ---- by size, and bytes ---- */

#define SIZED(bits, ...)                                                                                     \
    VOID_FORMS(put##bits, BLOCK(void), BLOCK_NAMES)                                                          \
    VOID_FORMS(get##bits, BLOCK(void), BLOCK_NAMES)                                                          \
    VOID_FORMS(put##bits##_nbi, BLOCK(void), BLOCK_NAMES)                                                    \
    VOID_FORMS(get##bits##_nbi, BLOCK(void), BLOCK_NAMES)                                                    \
    VOID_FORMS(put##bits##_signal, SIGNALLED(void), SIGNALLED_NAMES)                                         \
    VOID_FORMS(put##bits##_signal_nbi, SIGNALLED(void), SIGNALLED_NAMES)
SHMEM_SIZES_(SIZED, )
SIZED(mem, )

#define SIZED_STRIDED(bits, ...)                                                                             \
    VOID_FORMS(iput##bits, STRIDED(void), STRIDED_NAMES)                                                     \
    VOID_FORMS(iget##bits, STRIDED(void), STRIDED_NAMES)
SHMEM_SIZES_(SIZED_STRIDED, )
