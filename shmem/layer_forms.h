/* SPDX-License-Identifier: MIT
 *
 * A function of the layer in its two forms, without a context and with one. The lists stand in parentheses, because
 * they have commas: VOID_FORMS(int_p, (int *dest, int value, int pe), (dest, value, pe))
 */
#ifndef SHMEM_LAYER_FORMS_H
#define SHMEM_LAYER_FORMS_H

#include "layer.h"

#define LIST(...) __VA_ARGS__

#define VOID_FORMS(name, parameters, arguments)                                                              \
    LAYER(void, name, (LIST parameters))                                                                     \
    {                                                                                                        \
        rocshmem_##name(LIST arguments);                                                                     \
    }                                                                                                        \
    LAYER(void, ctx_##name, (shmem_ctx_t ctx, LIST parameters))                                              \
    {                                                                                                        \
        rocshmem_ctx_##name(layer_ctx(ctx), LIST arguments);                                                 \
    }

#define VALUE_FORMS(T, name, parameters, arguments)                                                          \
    LAYER(T, name, (LIST parameters))                                                                        \
    {                                                                                                        \
        return rocshmem_##name(LIST arguments);                                                              \
    }                                                                                                        \
    LAYER(T, ctx_##name, (shmem_ctx_t ctx, LIST parameters))                                                 \
    {                                                                                                        \
        return rocshmem_ctx_##name(layer_ctx(ctx), LIST arguments);                                          \
    }

#endif
