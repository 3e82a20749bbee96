/* SPDX-License-Identifier: MIT
 *
 * Constants and types of OpenSHMEM 1.5, and the lists of types that its functions exist for. Where rocSHMEM has a
 * constant of the same meaning, the values are equal, so that the layer passes them on as they are.
 */
#ifndef SHMEM_DEFS_H
#define SHMEM_DEFS_H

#include <stddef.h>
#include <stdint.h>

#include "../rocshmem/rocshmem_types.def"

#if defined(__GNUC__)
#define SHMEM_API __attribute__((visibility("default")))
#define SHMEM_EXTENSION_ __extension__ /* complex types in C++ */
#else
#define SHMEM_API
#define SHMEM_EXTENSION_
#endif

/* ---- constants ---- */

/* Source: OpenSHMEM 1.5, Library Constants. */
#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 5
#define SHMEM_MAX_NAME_LEN 64
#define SHMEM_VENDOR_STRING "rocshmem4py"
/* What programs written for Open MPI's OSHMEM ask for. Source: extension. */
#define OSHMEM_SPEC_VERSION (SHMEM_MAJOR_VERSION * 10000 + SHMEM_MINOR_VERSION * 100)

/* The levels are ordered, which is all that the specification says of their values. */
#define SHMEM_THREAD_SINGLE 0
#define SHMEM_THREAD_FUNNELED 1
#define SHMEM_THREAD_SERIALIZED 3
#define SHMEM_THREAD_MULTIPLE 4

#define SHMEM_CMP_EQ 0
#define SHMEM_CMP_NE 1
#define SHMEM_CMP_GT 2
#define SHMEM_CMP_GE 3
#define SHMEM_CMP_LT 4
#define SHMEM_CMP_LE 5

#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1

#define SHMEM_CTX_NOSTORE 1
#define SHMEM_CTX_SERIALIZED 2
#define SHMEM_CTX_PRIVATE 4

#define SHMEM_TEAM_NUM_CONTEXTS 1

/* Hints for shmem_malloc_with_hints, to be ored. All memory of this runtime serves atomics and signals equally. */
#define SHMEM_MALLOC_ATOMICS_REMOTE 1
#define SHMEM_MALLOC_SIGNAL_REMOTE 2

/* Work arrays of the deprecated collectives, in elements. They are never looked at: the sizes only have to be
 * positive, and 0 is what a static array holds anyhow. */
#define SHMEM_SYNC_VALUE 0L
#define SHMEM_SYNC_SIZE 8
#define SHMEM_BARRIER_SYNC_SIZE 8
#define SHMEM_BCAST_SYNC_SIZE 8
#define SHMEM_COLLECT_SYNC_SIZE 8
#define SHMEM_REDUCE_SYNC_SIZE 8
#define SHMEM_ALLTOALL_SYNC_SIZE 8
#define SHMEM_ALLTOALLS_SYNC_SIZE 8
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 8

/* Deprecated since 1.3. The names are OpenSHMEM's.
 * NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_LE SHMEM_CMP_LE
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

/* ---- handles ---- */

/* Never defined: a handle carries a number and is compared, not dereferenced. */
typedef struct shmem_ctx_ *shmem_ctx_t;
typedef struct shmem_team_ *shmem_team_t;

typedef struct {
    int num_contexts; /* read when the mask has SHMEM_TEAM_NUM_CONTEXTS; a hint, contexts are not limited here */
} shmem_team_config_t;

#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)1)
#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_TEAM_WORLD ((shmem_team_t)(intptr_t)-2)
#define SHMEM_TEAM_SHARED ((shmem_team_t)1) /* the PEs whose memory this one can load and store */
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)

/* ---- lists of types: X(name, C type, extra...) ---- */

/* The standard RMA types are ROCSHMEM_RMA_TYPES, the extended, standard and bitwise AMO types are ROCSHMEM_AMO_TYPES,
 * ROCSHMEM_INTEGER_TYPES and ROCSHMEM_BITWISE_TYPES, those of waits ROCSHMEM_SYNC_TYPES; complex numbers
 * ROCSHMEM_COMPLEX_TYPES. */
/* clang-format off */
#define SHMEM_LOGIC_TYPES_(X, ...)            /* and, or, xor over a team */        \
    ROCSHMEM_BITWISE_TYPES(X, __VA_ARGS__)                                          \
    X(size,       size_t,             __VA_ARGS__)                                  \
    X(uchar,      unsigned char,      __VA_ARGS__)                                  \
    X(ushort,     unsigned short,     __VA_ARGS__)                                  \
    X(int8,       int8_t,             __VA_ARGS__)                                  \
    X(int16,      int16_t,            __VA_ARGS__)                                  \
    X(uint8,      uint8_t,            __VA_ARGS__)                                  \
    X(uint16,     uint16_t,           __VA_ARGS__)

#define SHMEM_SIGNED_TYPES_(X, ...)           /* deprecated: and, or, xor over an active set; wait */ \
    X(int,        int,                __VA_ARGS__)                                  \
    X(long,       long,               __VA_ARGS__)                                  \
    X(longlong,   long long,          __VA_ARGS__)

#define SHMEM_REAL_TYPES_(X, ...)             /* deprecated: min and max over an active set */ \
    SHMEM_SIGNED_TYPES_(X, __VA_ARGS__)                                             \
    X(float,      float,              __VA_ARGS__)                                  \
    X(double,     double,             __VA_ARGS__)                                  \
    X(short,      short,              __VA_ARGS__)                                  \
    X(longdouble, long double,        __VA_ARGS__)

#define SHMEM_SIZES_(X, ...)                  /* put8 and such: X(bits, extra...) */ \
    X(8, __VA_ARGS__) X(16, __VA_ARGS__) X(32, __VA_ARGS__) X(64, __VA_ARGS__) X(128, __VA_ARGS__)
/* clang-format on */

#endif
