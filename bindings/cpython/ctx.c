/* SPDX-License-Identifier: MIT
 *
 * Contexts and signals. A context is an int here: the half of its C handle that names it; 1 is the default
 * context and 0 none. The other half only repeats the team, which the runtime knows.
 */
#include "calls.h"

static inline rocshmem_ctx_t context_of(const union value *v)
{
    return (rocshmem_ctx_t){v->ptr, NULL};
}

/* ---- contexts ---- */

FUNCTION(rocshmem_ctx_create, 1, {NAME_options, INT64})
{
    rocshmem_ctx_t ctx = {NULL, NULL};
    int status = rocshmem_ctx_create(v[0].i64, &ctx);
    if (status != 0 || call_failed) return raise_status(module, status, "rocshmem_ctx_create");
    return PyLong_FromVoidPtr(ctx.ctx_opaque);
}

FUNCTION(rocshmem_team_create_ctx, 1, {NAME_team, TEAM}, {NAME_options, INT64})
{
    rocshmem_ctx_t ctx = {NULL, NULL};
    int status = rocshmem_team_create_ctx(v[0].team, v[1].i64, &ctx);
    if (status != 0 || call_failed) return raise_status(module, status, "rocshmem_team_create_ctx");
    return PyLong_FromVoidPtr(ctx.ctx_opaque);
}

FUNCTION(rocshmem_ctx_destroy, 0, {NAME_ctx, ADDRESS})
{
    WITHOUT_GIL_IF(releases_gil(0), rocshmem_ctx_destroy(context_of(&v[0])));
    return none_or_raise(module);
}

FUNCTION(rocshmem_ctx_get_team, 0, {NAME_ctx, ADDRESS})
{
    rocshmem_team_t team = ROCSHMEM_TEAM_INVALID;
    int status = rocshmem_ctx_get_team(context_of(&v[0]), &team);
    if (status != 0 || call_failed) return raise_status(module, status, "rocshmem_ctx_get_team");
    return PyLong_FromLong(team == ROCSHMEM_TEAM_WORLD ? 0 : (long)(intptr_t)team);
}

FUNCTION(rocshmem_ctx_fence, 0, {NAME_ctx, ADDRESS})
{
    WITHOUT_GIL_IF(releases_gil(0), rocshmem_ctx_fence(context_of(&v[0])));
    return none_or_raise(module);
}

FUNCTION(rocshmem_ctx_quiet, 0, {NAME_ctx, ADDRESS})
{
    WITHOUT_GIL_IF(releases_gil(0), rocshmem_ctx_quiet(context_of(&v[0])));
    return none_or_raise(module);
}

#define TRANSFER_FUNCTION(name)                                                                              \
    FUNCTION(name, 0, {NAME_ctx, ADDRESS}, {NAME_dest, ADDRESS}, {NAME_source, ADDRESS},                     \
             {NAME_nelems, SIZE}, {NAME_pe, PE})                                                             \
    {                                                                                                        \
        WITHOUT_GIL_IF(releases_gil(v[3].size),                                                              \
                       name(context_of(&v[0]), v[1].ptr, v[2].ptr, v[3].size, v[4].i));                      \
        return none_or_raise(module);                                                                        \
    }
TRANSFER_FUNCTION(rocshmem_ctx_putmem)
TRANSFER_FUNCTION(rocshmem_ctx_getmem)
TRANSFER_FUNCTION(rocshmem_ctx_putmem_nbi)
TRANSFER_FUNCTION(rocshmem_ctx_getmem_nbi)
#undef TRANSFER_FUNCTION

#define SIGNAL_ARGUMENTS                                                                                     \
    {NAME_dest, ADDRESS}, {NAME_source, ADDRESS}, {NAME_nelems, SIZE}, {NAME_sig_addr, ADDRESS},             \
        {NAME_signal, UINT64}, {NAME_sig_op, INT32},                                                         \
    {                                                                                                        \
        NAME_pe, PE                                                                                          \
    }
#define CTX_SIGNAL_FUNCTION(name)                                                                            \
    FUNCTION(name, 0, {NAME_ctx, ADDRESS}, SIGNAL_ARGUMENTS)                                                 \
    {                                                                                                        \
        WITHOUT_GIL_IF(releases_gil(v[3].size), name(context_of(&v[0]), v[1].ptr, v[2].ptr, v[3].size,       \
                                                     v[4].ptr, v[5].u64, (int)v[6].i64, v[7].i));            \
        return none_or_raise(module);                                                                        \
    }
CTX_SIGNAL_FUNCTION(rocshmem_ctx_putmem_signal)
CTX_SIGNAL_FUNCTION(rocshmem_ctx_putmem_signal_nbi)
#undef CTX_SIGNAL_FUNCTION

/* ---- signals ---- */

#define SIGNAL_FUNCTION(name)                                                                                \
    FUNCTION(name, 0, SIGNAL_ARGUMENTS)                                                                      \
    {                                                                                                        \
        WITHOUT_GIL_IF(releases_gil(v[2].size),                                                              \
                       name(v[0].ptr, v[1].ptr, v[2].size, v[3].ptr, v[4].u64, (int)v[5].i64, v[6].i));      \
        return none_or_raise(module);                                                                        \
    }
SIGNAL_FUNCTION(rocshmem_putmem_signal)
SIGNAL_FUNCTION(rocshmem_putmem_signal_nbi)
#undef SIGNAL_FUNCTION
#undef SIGNAL_ARGUMENTS

FUNCTION(rocshmem_signal_set, 0, {NAME_sig_addr, ADDRESS}, {NAME_signal, UINT64}, {NAME_pe, PE})
{
    WITHOUT_GIL_IF(releases_gil(0), rocshmem_signal_set(v[0].ptr, v[1].u64, v[2].i));
    return none_or_raise(module);
}

FUNCTION(rocshmem_signal_add, 0, {NAME_sig_addr, ADDRESS}, {NAME_signal, UINT64}, {NAME_pe, PE})
{
    WITHOUT_GIL_IF(releases_gil(0), rocshmem_signal_add(v[0].ptr, v[1].u64, v[2].i));
    return none_or_raise(module);
}

FUNCTION(rocshmem_signal_fetch, 0, {NAME_sig_addr, ADDRESS})
{
    return result_or_raise(module, PyLong_FromUnsignedLongLong(rocshmem_signal_fetch(v[0].ptr)));
}

FUNCTION(rocshmem_signal_wait_until, 0, {NAME_sig_addr, ADDRESS}, {NAME_cmp, INT32}, {NAME_cmp_value, UINT64})
{
    uint64_t word;
    WITHOUT_GIL(word = rocshmem_signal_wait_until(v[0].ptr, (int)v[1].i64, v[2].u64));
    return result_or_raise(module, call_failed ? NULL : PyLong_FromUnsignedLongLong(word));
}

FUNCTION(rocshmem_signal_set_on_stream, 0, {NAME_sig_addr, ADDRESS}, {NAME_signal, UINT64}, {NAME_pe, PE},
         {NAME_stream, STREAM})
{
    WITHOUT_GIL_IF(releases_gil(0), rocshmem_signal_set_on_stream(v[0].ptr, v[1].u64, v[2].i, v[3].ptr));
    return none_or_raise(module);
}

FUNCTION(rocshmem_signal_add_on_stream, 0, {NAME_sig_addr, ADDRESS}, {NAME_signal, UINT64}, {NAME_pe, PE},
         {NAME_stream, STREAM})
{
    WITHOUT_GIL_IF(releases_gil(0), rocshmem_signal_add_on_stream(v[0].ptr, v[1].u64, v[2].i, v[3].ptr));
    return none_or_raise(module);
}

FUNCTION(rocshmem_quiet_on_stream, 0, {NAME_stream, STREAM})
{
    WITHOUT_GIL(rocshmem_quiet_on_stream(v[0].ptr));
    return none_or_raise(module);
}

/* ---- the table ---- */

/* clang-format off */
PyMethodDef ctx_methods[] = {
    METHOD(rocshmem_ctx_create, "options=0",
           "Make a context, an independent stream of operations for fence and quiet; options are ROCSHMEM_CTX_*. Local.")
    METHOD(rocshmem_team_create_ctx, "team, options=0",
           "As rocshmem_ctx_create; PE numbers given with the context are the team's.")
    METHOD(rocshmem_ctx_destroy, "ctx", "Complete a context's operations and give it back; INVALID is a no-op.")
    METHOD(rocshmem_ctx_get_team, "ctx", "The team that a context was made with; WORLD is 0.")
    METHOD(rocshmem_ctx_fence, "ctx", "Order a context's operations towards each PE; INVALID is a no-op.")
    METHOD(rocshmem_ctx_quiet, "ctx", "Complete a context's operations; INVALID is a no-op.")
    METHOD(rocshmem_ctx_putmem, "ctx, dest, source, nelems, pe", "As rocshmem_putmem, on a context.")
    METHOD(rocshmem_ctx_getmem, "ctx, dest, source, nelems, pe", "As rocshmem_getmem, on a context.")
    METHOD(rocshmem_ctx_putmem_nbi, "ctx, dest, source, nelems, pe",
           "As rocshmem_putmem on a context; complete at rocshmem_ctx_quiet.")
    METHOD(rocshmem_ctx_getmem_nbi, "ctx, dest, source, nelems, pe",
           "As rocshmem_getmem on a context; complete at rocshmem_ctx_quiet.")
    METHOD(rocshmem_ctx_putmem_signal, "ctx, dest, source, nelems, sig_addr, signal, sig_op, pe",
           "As rocshmem_putmem_signal, on a context.")
    METHOD(rocshmem_ctx_putmem_signal_nbi, "ctx, dest, source, nelems, sig_addr, signal, sig_op, pe",
           "As rocshmem_putmem_signal on a context; source may be reused after rocshmem_ctx_quiet.")
    METHOD(rocshmem_putmem_signal, "dest, source, nelems, sig_addr, signal, sig_op, pe",
           "As rocshmem_putmem, then SET or ADD the 64-bit signal word on pe. nelems 0 still signals.")
    METHOD(rocshmem_putmem_signal_nbi, "dest, source, nelems, sig_addr, signal, sig_op, pe",
           "As rocshmem_putmem_signal; source may be reused after rocshmem_quiet.")
    METHOD(rocshmem_signal_fetch, "sig_addr", "This PE's own signal word.")
    METHOD(rocshmem_signal_set, "sig_addr, signal, pe", "Set the signal word on pe.")
    METHOD(rocshmem_signal_add, "sig_addr, signal, pe", "Add to the signal word on pe.")
    METHOD(rocshmem_signal_wait_until, "sig_addr, cmp, cmp_value",
           "Wait until this PE's own word satisfies cmp, unsigned 64-bit; the word that did.")
    METHOD(rocshmem_signal_set_on_stream, "sig_addr, signal, pe, stream",
           "As rocshmem_signal_set, in the order of a stream.")
    METHOD(rocshmem_signal_add_on_stream, "sig_addr, signal, pe, stream",
           "As rocshmem_signal_add, in the order of a stream.")
    METHOD(rocshmem_quiet_on_stream, "stream", "Complete what was enqueued on a stream before what follows.")
    {NULL, NULL, 0, NULL}};
/* clang-format on */
