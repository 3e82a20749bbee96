/* SPDX-License-Identifier: MIT
 *
 * The types of OpenSHMEM 1.5, from the tables of its specification. X(name, C type) each.
 */
#ifndef TYPES_H
#define TYPES_H

/* clang-format off */
#define BITWISE_AMO_TYPES(X)           \
    X(uint,       unsigned int)        \
    X(ulong,      unsigned long)       \
    X(ulonglong,  unsigned long long)  \
    X(int32,      int32_t)             \
    X(int64,      int64_t)             \
    X(uint32,     uint32_t)            \
    X(uint64,     uint64_t)

#define SIGNED_AMO_TYPES(X)            \
    X(int,        int)                 \
    X(long,       long)                \
    X(longlong,   long long)           \
    X(size,       size_t)              \
    X(ptrdiff,    ptrdiff_t)

#define STANDARD_AMO_TYPES(X)          \
    BITWISE_AMO_TYPES(X)               \
    SIGNED_AMO_TYPES(X)

#define REAL_AMO_TYPES(X)              \
    X(float,      float)               \
    X(double,     double)

#define SMALL_TYPES(X)                 \
    X(char,       char)                \
    X(schar,      signed char)         \
    X(short,      short)               \
    X(uchar,      unsigned char)       \
    X(ushort,     unsigned short)      \
    X(int8,       int8_t)              \
    X(int16,      int16_t)             \
    X(uint8,      uint8_t)             \
    X(uint16,     uint16_t)

#define RMA_TYPES(X)                   \
    STANDARD_AMO_TYPES(X)              \
    REAL_AMO_TYPES(X)                  \
    SMALL_TYPES(X)                     \
    X(longdouble, long double)

#define SIZES(X)                       \
    X(8)  X(16)  X(32)  X(64)  X(128)

/* Reductions over teams: these have and, or and xor besides the four arithmetic ones; ... */
#define LOGIC_REDUCE_TYPES(X)          \
    X(uchar,      unsigned char)       \
    X(ushort,     unsigned short)      \
    X(uint,       unsigned int)        \
    X(ulong,      unsigned long)       \
    X(ulonglong,  unsigned long long)  \
    X(int8,       int8_t)              \
    X(int16,      int16_t)             \
    X(int32,      int32_t)             \
    X(int64,      int64_t)             \
    X(uint8,      uint8_t)             \
    X(uint16,     uint16_t)            \
    X(uint32,     uint32_t)            \
    X(uint64,     uint64_t)            \
    X(size,       size_t)

/* ... these have max, min, sum and prod only. */
#define ARITHMETIC_REDUCE_TYPES(X)     \
    X(char,       char)                \
    X(schar,      signed char)         \
    X(short,      short)               \
    X(int,        int)                 \
    X(long,       long)                \
    X(longlong,   long long)           \
    X(ptrdiff,    ptrdiff_t)           \
    X(float,      float)               \
    X(double,     double)              \
    X(longdouble, long double)

/* Reductions over active sets: the integers have all seven operations. */
#define ACTIVE_SET_INTEGER_TYPES(X)    \
    X(short,      short)               \
    X(int,        int)                 \
    X(long,       long)                \
    X(longlong,   long long)

#define ACTIVE_SET_REAL_TYPES(X)       \
    X(float,      float)               \
    X(double,     double)              \
    X(longdouble, long double)

#define COMPLEX_TYPES(X)               \
    X(complexf,   float _Complex)      \
    X(complexd,   double _Complex)
/* clang-format on */

#endif
