/* SPDX-License-Identifier: MIT
 *
 * Reductions, single values and strided copies: one function each for the whole matrix of the C API, with the
 * type (and the operation) by name. Hundreds of methods would cost each import and serve nobody.
 */
#include "typed.h"

#include <string.h>

/* ---- names ---- */

/* The type of a C type: by kind, width and sign. (T)-1 > 1 only where T has no sign. */
/* clang-format off */
#define TYPE_OF(T) _Generic((T)0, float: T_FLOAT, double: T_DOUBLE, long double: T_LONGDOUBLE, default:                   \
    sizeof(T) == 8 ? ((T)-1 > 1 ? T_UINT64 : T_INT64) : sizeof(T) == 4 ? ((T)-1 > 1 ? T_UINT32 : T_INT32) :               \
    sizeof(T) == 2 ? ((T)-1 > 1 ? T_UINT16 : T_INT16) : (T)-1 > 1 ? T_UINT8 : T_INT8)
/* clang-format on */
#define NAMED_(name, T, ...) {#name, TYPE_OF(T)},
static const struct {
    const char *name;
    uint8_t type;
} names[] = {ROCSHMEM_RMA_TYPES(NAMED_, ){"complexf", T_COMPLEXF},
             {"complexd", T_COMPLEXD},
             {"float32", T_FLOAT},
             {"float64", T_DOUBLE},
             {"float128", T_LONGDOUBLE},
             {"complex64", T_COMPLEXF},
             {"complex128", T_COMPLEXD}};
#undef NAMED_

const char *type_text(int type)
{
#define TEXT_(type, name, T, kind, member) [type] = #name,
    static const char *const texts[] = {INTEGERS(TEXT_) REALS(TEXT_) COMPLEXES(TEXT_)};
#undef TEXT_
    return texts[type];
}

PyObject *refuse(PyObject *module, const char *function, const char *argument, const char *value,
                 const char *why)
{
    char text[256];
    PyOS_snprintf(text, sizeof text, "%s is '%.60s'%s", argument, value, why);
    return raise_here(module, ROCSHMEMX_E_ARG, function, text);
}

int type_named(PyObject *module, const char *function, const char *name)
{
    static _Atomic size_t last; /* a program asks for the same one again and again */
    size_t i = atomic_load_explicit(&last, memory_order_relaxed);
    if (strcmp(names[i].name, name) == 0) return names[i].type;
    for (i = 0; i < N_OF(names); i++) {
        if (strcmp(names[i].name, name) != 0) continue;
        atomic_store_explicit(&last, i, memory_order_relaxed);
        return names[i].type;
    }
    refuse(module, function, "dtype", name,
           ", no type; use a name of the C API (int, uint64, size, double, complexf) or NumPy's (float32)");
    return -1;
}

/* ---- reductions ---- */

enum op { op_sum, op_prod, op_min, op_max, op_and, op_or, op_xor, N_OPS };
static const char *const op_texts[N_OPS] = {"sum", "prod", "min", "max", "and", "or", "xor"};

struct reduction {
    int (*reduce)(rocshmem_team_t, void *, const void *, size_t);
    int (*scatter)(rocshmem_team_t, void *, const void *, size_t);
    void (*on_stream)(rocshmem_team_t, void *, const void *, size_t, void *);
};

#define SUM_PROD(X)                                                                                          \
    INTEGERS(X##_sum) INTEGERS(X##_prod) REALS(X##_sum) REALS(X##_prod) COMPLEXES(X##_sum) COMPLEXES(X##_prod)
#define MIN_MAX(X) INTEGERS(X##_min) INTEGERS(X##_max) REALS(X##_min) REALS(X##_max)
#define LOGIC(X) INTEGERS(X##_and) INTEGERS(X##_or) INTEGERS(X##_xor)
#define REDUCTIONS(X) SUM_PROD(X) MIN_MAX(X) LOGIC(X)

/* The functions of the runtime with their pointers as void: a call through another type would be undefined. */
#define WRAP(name, op)                                                                                       \
    static int name##_##op##_reduce(rocshmem_team_t team, void *dest, const void *source, size_t n)          \
    {                                                                                                        \
        return rocshmem_##name##_##op##_reduce(team, dest, source, n);                                       \
    }                                                                                                        \
    static int name##_##op##_scatter(rocshmem_team_t team, void *dest, const void *source, size_t n)         \
    {                                                                                                        \
        return rocshmem_##name##_##op##_reduce_scatter(team, dest, source, n);                               \
    }                                                                                                        \
    static void name##_##op##_on_stream(rocshmem_team_t team, void *dest, const void *source, size_t n,      \
                                        void *stream)                                                        \
    {                                                                                                        \
        rocshmem_##name##_##op##_reduce_on_stream(team, dest, source, n, stream);                            \
    }
#define ENTRY(type, name, op)                                                                                \
    [type][op_##op] = {name##_##op##_reduce, name##_##op##_scatter, name##_##op##_on_stream},
#define WRAP_sum(type, name, ...) WRAP(name, sum)
#define WRAP_prod(type, name, ...) WRAP(name, prod)
#define WRAP_min(type, name, ...) WRAP(name, min)
#define WRAP_max(type, name, ...) WRAP(name, max)
#define WRAP_and(type, name, ...) WRAP(name, and)
#define WRAP_or(type, name, ...) WRAP(name, or)
#define WRAP_xor(type, name, ...) WRAP(name, xor)
#define ENTRY_sum(type, name, ...) ENTRY(type, name, sum)
#define ENTRY_prod(type, name, ...) ENTRY(type, name, prod)
#define ENTRY_min(type, name, ...) ENTRY(type, name, min)
#define ENTRY_max(type, name, ...) ENTRY(type, name, max)
#define ENTRY_and(type, name, ...) ENTRY(type, name, and)
#define ENTRY_or(type, name, ...) ENTRY(type, name, or)
#define ENTRY_xor(type, name, ...) ENTRY(type, name, xor)
REDUCTIONS(WRAP)
static const struct reduction reductions[N_TYPES][N_OPS] = {REDUCTIONS(ENTRY)};

/* NULL with ValueError. */
static const struct reduction *find_reduction(PyObject *module, const char *function, const char *dtype,
                                              const char *op_text)
{
    int type = type_named(module, function, dtype);
    if (type < 0) return NULL;
    int op = 0;
    while (op < N_OPS && strcmp(op_texts[op], op_text) != 0) op++;
    if (op < N_OPS && reductions[type][op].reduce) return &reductions[type][op];
    char why[96];
    size_t used = (size_t)PyOS_snprintf(why, sizeof why, "; dtype %s has", type_text(type));
    for (int i = 0; i < N_OPS; i++)
        if (reductions[type][i].reduce)
            used += (size_t)PyOS_snprintf(why + used, sizeof why - used, " %s", op_texts[i]);
    refuse(module, function, "op", op_text, why);
    return NULL;
}

#define REDUCTION_ARGUMENTS                                                                                  \
    {NAME_team, TEAM}, {NAME_dest, ADDRESS}, {NAME_source, ADDRESS}, {NAME_nreduce, SIZE},                   \
        {NAME_dtype, WORD},                                                                                  \
    {                                                                                                        \
        NAME_op, WORD                                                                                        \
    }

FUNCTION(rocshmemx_reduce, 0, REDUCTION_ARGUMENTS)
{
    const struct reduction *r = find_reduction(module, "rocshmemx_reduce", v[4].text, v[5].text);
    if (!r) return NULL;
    int status;
    WITHOUT_GIL(status = r->reduce(v[0].team, v[1].ptr, v[2].ptr, v[3].size));
    return none_or_status(module, status, "rocshmemx_reduce");
}

FUNCTION(rocshmemx_reduce_scatter, 0, REDUCTION_ARGUMENTS)
{
    const struct reduction *r = find_reduction(module, "rocshmemx_reduce_scatter", v[4].text, v[5].text);
    if (!r) return NULL;
    int status;
    WITHOUT_GIL(status = r->scatter(v[0].team, v[1].ptr, v[2].ptr, v[3].size));
    return none_or_status(module, status, "rocshmemx_reduce_scatter");
}

FUNCTION(rocshmemx_reduce_on_stream, 0, REDUCTION_ARGUMENTS, {NAME_stream, STREAM})
{
    const struct reduction *r = find_reduction(module, "rocshmemx_reduce_on_stream", v[4].text, v[5].text);
    if (!r) return NULL;
    WITHOUT_GIL(r->on_stream(v[0].team, v[1].ptr, v[2].ptr, v[3].size, v[6].ptr));
    return none_or_raise(module);
}

/* ---- one value ---- */

#define SINGLE_(type, name, T, kind, member)                                                                 \
    static void name##_p(void *dest, const union value *value, int pe)                                       \
    {                                                                                                        \
        rocshmem_##name##_p(dest, (T)value->member, pe);                                                     \
    }                                                                                                        \
    static void name##_g(const void *source, int pe, union value *value_out)                                 \
    {                                                                                                        \
        value_out->member = (__typeof__(value_out->member))rocshmem_##name##_g(source, pe);                  \
    }
INTEGERS(SINGLE_)
REALS(SINGLE_)
#undef SINGLE_

#define ROW_(type, name, T, kind, member) [type] = {name##_p, name##_g, kind},
static const struct {
    void (*p)(void *, const union value *, int);
    void (*g)(const void *, int, union value *);
    uint8_t kind;
} singles[N_TYPES] = {INTEGERS(ROW_) REALS(ROW_)};
#undef ROW_

static int single_named(PyObject *module, const char *function, const char *dtype)
{
    int type = type_named(module, function, dtype);
    if (type < 0 || singles[type].p) return type;
    refuse(module, function, "dtype", dtype, "; a complex number is copied with rocshmem_putmem and getmem");
    return -1;
}

FUNCTION(rocshmemx_p, 0, {NAME_dest, ADDRESS}, {NAME_value, OBJECT}, {NAME_pe, PE}, {NAME_dtype, WORD})
{
    int type = single_named(module, "rocshmemx_p", v[3].text);
    union value value;
    if (type < 0 || take_value("rocshmemx_p", NAME_value, singles[type].kind, v[1].object, &value) < 0)
        return NULL;
    WITHOUT_GIL_IF(releases_gil(0), singles[type].p(v[0].ptr, &value, v[2].i));
    return none_or_raise(module);
}

FUNCTION(rocshmemx_g, 0, {NAME_source, ADDRESS}, {NAME_pe, PE}, {NAME_dtype, WORD})
{
    int type = single_named(module, "rocshmemx_g", v[2].text);
    if (type < 0) return NULL;
    union value value;
    WITHOUT_GIL_IF(releases_gil(0), singles[type].g(v[0].ptr, v[1].i, &value));
    int kind = singles[type].kind;
    PyObject *number = kind == FLOAT || kind == DOUBLE ? PyFloat_FromDouble(value.f64)
                       : kind <= UINT32                ? PyLong_FromUnsignedLongLong(value.u64)
                                                       : PyLong_FromLongLong(value.i64);
    return result_or_raise(module, number);
}

/* ---- strided copies ---- */

/* The place of an item size in a table of forms, -1 with ValueError. */
static int form_of(PyObject *module, const char *function, size_t itemsize)
{
    if (itemsize && itemsize <= 16 && (itemsize & (itemsize - 1)) == 0) return __builtin_ctzll(itemsize);
    char text[96];
    PyOS_snprintf(text, sizeof text, "itemsize is %zu; elements of 1, 2, 4, 8 and 16 bytes are copied",
                  itemsize);
    raise_here(module, ROCSHMEMX_E_ARG, function, text);
    return -1;
}

#define STRIDED(direction)                                                                                   \
    FUNCTION(rocshmemx_##direction, 0, {NAME_dest, ADDRESS}, {NAME_source, ADDRESS}, {NAME_dst, INT64},      \
             {NAME_sst, INT64}, {NAME_nelems, SIZE}, {NAME_pe, PE}, {NAME_itemsize, SIZE})                   \
    {                                                                                                        \
        static void (*const forms[])(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int) = {            \
            rocshmem_##direction##8, rocshmem_##direction##16, rocshmem_##direction##32,                     \
            rocshmem_##direction##64, rocshmem_##direction##128};                                            \
        int form = form_of(module, "rocshmemx_" #direction, v[6].size);                                      \
        if (form < 0) return NULL;                                                                           \
        WITHOUT_GIL_IF(v[4].size > GIL_NBYTES >> form || releases_gil(0),                                    \
                       forms[form](v[0].ptr, v[1].ptr, v[2].i64, v[3].i64, v[4].size, v[5].i));              \
        return none_or_raise(module);                                                                        \
    }
STRIDED(iput)
STRIDED(iget)

/* ---- the table ---- */

/* clang-format off */
PyMethodDef typed_methods[] = {
    METHOD(rocshmemx_reduce, "team, dest, source, nreduce, dtype, op",
           "dest[k] = op over the members of source[k]. dtype and op by name. Collective; extension.")
    METHOD(rocshmemx_reduce_scatter, "team, dest, source, nreduce, dtype, op",
           "Block i (nreduce elements) of what reduce would give goes to team PE i. Collective; extension.")
    METHOD(rocshmemx_reduce_on_stream, "team, dest, source, nreduce, dtype, op, stream",
           "As rocshmemx_reduce, in the order of a stream; INVALID is a no-op. Collective; extension.")
    METHOD(rocshmemx_p, "dest, value, pe, dtype", "Store one value at dest on pe; extension.")
    METHOD(rocshmemx_g, "source, pe, dtype", "The value at source on pe; extension.")
    METHOD(rocshmemx_iput, "dest, source, dst, sst, nelems, pe, itemsize",
           "Copy element source[i * sst] here to dest[i * dst] on pe, itemsize bytes each; extension.")
    METHOD(rocshmemx_iget, "dest, source, dst, sst, nelems, pe, itemsize",
           "Copy element source[i * sst] on pe to dest[i * dst] here, itemsize bytes each; extension.")
    {NULL, NULL, 0, NULL}};
/* clang-format on */
