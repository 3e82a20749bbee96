/* SPDX-License-Identifier: MIT
 *
 * The type-generic names of OpenSHMEM 1.5 for C11: macros that choose the typed function by the type that a pointer
 * argument points to. Forms with and without a context are told apart by the number of arguments. The fixed-width
 * types, size_t and ptrdiff_t are other names of the types below.
 */
#ifndef SHMEM_GENERIC_H
#define SHMEM_GENERIC_H

/* ---- the function for a type: before##name##after ---- */

/* clang-format off */
#define SHMEM_RMA_(p, before, after)                   \
    _Generic(*(p),                                     \
        float:              before##float##after,      \
        double:             before##double##after,     \
        long double:        before##longdouble##after, \
        char:               before##char##after,       \
        signed char:        before##schar##after,      \
        short:              before##short##after,      \
        int:                before##int##after,        \
        long:               before##long##after,       \
        long long:          before##longlong##after,   \
        unsigned char:      before##uchar##after,      \
        unsigned short:     before##ushort##after,     \
        unsigned int:       before##uint##after,       \
        unsigned long:      before##ulong##after,      \
        unsigned long long: before##ulonglong##after)

#define SHMEM_SUM_(p, before, after)                   \
    _Generic(*(p),                                     \
        float:              before##float##after,      \
        double:             before##double##after,     \
        long double:        before##longdouble##after, \
        float _Complex:     before##complexf##after,   \
        double _Complex:    before##complexd##after,   \
        char:               before##char##after,       \
        signed char:        before##schar##after,      \
        short:              before##short##after,      \
        int:                before##int##after,        \
        long:               before##long##after,       \
        long long:          before##longlong##after,   \
        unsigned char:      before##uchar##after,      \
        unsigned short:     before##ushort##after,     \
        unsigned int:       before##uint##after,       \
        unsigned long:      before##ulong##after,      \
        unsigned long long: before##ulonglong##after)

#define SHMEM_LOGIC_(p, before, after)                 \
    _Generic(*(p),                                     \
        unsigned char:      before##uchar##after,      \
        unsigned short:     before##ushort##after,     \
        unsigned int:       before##uint##after,       \
        unsigned long:      before##ulong##after,      \
        unsigned long long: before##ulonglong##after,  \
        int8_t:             before##int8##after,       \
        int16_t:            before##int16##after,      \
        int32_t:            before##int32##after,      \
        int64_t:            before##int64##after)

#define SHMEM_AMO_(p, before, after)                   \
    _Generic(*(p),                                     \
        float:              before##float##after,      \
        double:             before##double##after,     \
        int:                before##int##after,        \
        long:               before##long##after,       \
        long long:          before##longlong##after,   \
        unsigned int:       before##uint##after,       \
        unsigned long:      before##ulong##after,      \
        unsigned long long: before##ulonglong##after)

#define SHMEM_INTEGER_(p, before, after)               \
    _Generic(*(p),                                     \
        int:                before##int##after,        \
        long:               before##long##after,       \
        long long:          before##longlong##after,   \
        unsigned int:       before##uint##after,       \
        unsigned long:      before##ulong##after,      \
        unsigned long long: before##ulonglong##after)

#define SHMEM_BITWISE_(p, before, after)               \
    _Generic(*(p),                                     \
        int32_t:            before##int32##after,      \
        int64_t:            before##int64##after,      \
        unsigned int:       before##uint##after,       \
        unsigned long:      before##ulong##after,      \
        unsigned long long: before##ulonglong##after)

#define SHMEM_SYNC_(p, before, after)                  \
    _Generic(*(p),                                     \
        short:              before##short##after,      \
        int:                before##int##after,        \
        long:               before##long##after,       \
        long long:          before##longlong##after,   \
        unsigned short:     before##ushort##after,     \
        unsigned int:       before##uint##after,       \
        unsigned long:      before##ulong##after,      \
        unsigned long long: before##ulonglong##after)
/* clang-format on */

/* ---- which argument decides ---- */

#define SHMEM_PLAIN_(list, after, p, ...) list(p, shmem_, after)(p, __VA_ARGS__)
#define SHMEM_CTX_(list, after, ctx, p, ...) list(p, shmem_ctx_, after)(ctx, p, __VA_ARGS__)
#define SHMEM_TEAM_(list, after, team, p, ...) list(p, shmem_, after)(team, p, __VA_ARGS__)

/* SHMEM_FORM_n_: SHMEM_PLAIN_ for n arguments, SHMEM_CTX_ for one more. */
#define SHMEM_4TH_(a, b, c, d, ...) d
#define SHMEM_5TH_(a, b, c, d, e, ...) e
#define SHMEM_6TH_(a, b, c, d, e, f, ...) f
#define SHMEM_7TH_(a, b, c, d, e, f, g, ...) g
#define SHMEM_8TH_(a, b, c, d, e, f, g, h, ...) h
#define SHMEM_9TH_(a, b, c, d, e, f, g, h, i, ...) i
#define SHMEM_FORM_2_(...) SHMEM_4TH_(__VA_ARGS__, SHMEM_CTX_, SHMEM_PLAIN_, )
#define SHMEM_FORM_3_(...) SHMEM_5TH_(__VA_ARGS__, SHMEM_CTX_, SHMEM_PLAIN_, )
#define SHMEM_FORM_4_(...) SHMEM_6TH_(__VA_ARGS__, SHMEM_CTX_, SHMEM_PLAIN_, )
#define SHMEM_FORM_5_(...) SHMEM_7TH_(__VA_ARGS__, SHMEM_CTX_, SHMEM_PLAIN_, )
#define SHMEM_FORM_6_(...) SHMEM_8TH_(__VA_ARGS__, SHMEM_CTX_, SHMEM_PLAIN_, )
#define SHMEM_FORM_7_(...) SHMEM_9TH_(__VA_ARGS__, SHMEM_CTX_, SHMEM_PLAIN_, )

/* ---- transfers ---- */

#define shmem_put(...) SHMEM_FORM_4_(__VA_ARGS__)(SHMEM_RMA_, _put, __VA_ARGS__)
#define shmem_get(...) SHMEM_FORM_4_(__VA_ARGS__)(SHMEM_RMA_, _get, __VA_ARGS__)
#define shmem_put_nbi(...) SHMEM_FORM_4_(__VA_ARGS__)(SHMEM_RMA_, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) SHMEM_FORM_4_(__VA_ARGS__)(SHMEM_RMA_, _get_nbi, __VA_ARGS__)
#define shmem_iput(...) SHMEM_FORM_6_(__VA_ARGS__)(SHMEM_RMA_, _iput, __VA_ARGS__)
#define shmem_iget(...) SHMEM_FORM_6_(__VA_ARGS__)(SHMEM_RMA_, _iget, __VA_ARGS__)
#define shmem_p(...) SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_RMA_, _p, __VA_ARGS__)
#define shmem_g(...) SHMEM_FORM_2_(__VA_ARGS__)(SHMEM_RMA_, _g, __VA_ARGS__)
#define shmem_put_signal(...) SHMEM_FORM_7_(__VA_ARGS__)(SHMEM_RMA_, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) SHMEM_FORM_7_(__VA_ARGS__)(SHMEM_RMA_, _put_signal_nbi, __VA_ARGS__)

/* ---- atomics ---- */

#define shmem_atomic_fetch(...) SHMEM_FORM_2_(__VA_ARGS__)(SHMEM_AMO_, _atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...) SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_AMO_, _atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...) SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_AMO_, _atomic_swap, __VA_ARGS__)
#define shmem_atomic_compare_swap(...)                                                                       \
    SHMEM_FORM_4_(__VA_ARGS__)(SHMEM_INTEGER_, _atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) SHMEM_FORM_2_(__VA_ARGS__)(SHMEM_INTEGER_, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...) SHMEM_FORM_2_(__VA_ARGS__)(SHMEM_INTEGER_, _atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_INTEGER_, _atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...) SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_INTEGER_, _atomic_add, __VA_ARGS__)
#define shmem_atomic_fetch_and(...) SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_BITWISE_, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...) SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_BITWISE_, _atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_BITWISE_, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...) SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_BITWISE_, _atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_BITWISE_, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...) SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_BITWISE_, _atomic_xor, __VA_ARGS__)

/* These have two pointers of one type; the first one, fetch, decides. */
#define shmem_atomic_fetch_nbi(...) SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_AMO_, _atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) SHMEM_FORM_4_(__VA_ARGS__)(SHMEM_AMO_, _atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...)                                                                   \
    SHMEM_FORM_5_(__VA_ARGS__)(SHMEM_INTEGER_, _atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...)                                                                      \
    SHMEM_FORM_3_(__VA_ARGS__)(SHMEM_INTEGER_, _atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...)                                                                      \
    SHMEM_FORM_4_(__VA_ARGS__)(SHMEM_INTEGER_, _atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...)                                                                      \
    SHMEM_FORM_4_(__VA_ARGS__)(SHMEM_BITWISE_, _atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...)                                                                       \
    SHMEM_FORM_4_(__VA_ARGS__)(SHMEM_BITWISE_, _atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...)                                                                      \
    SHMEM_FORM_4_(__VA_ARGS__)(SHMEM_BITWISE_, _atomic_fetch_xor_nbi, __VA_ARGS__)

/* ---- collectives ---- */

#define shmem_broadcast(...) SHMEM_TEAM_(SHMEM_RMA_, _broadcast, __VA_ARGS__)
#define shmem_alltoall(...) SHMEM_TEAM_(SHMEM_RMA_, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) SHMEM_TEAM_(SHMEM_RMA_, _alltoalls, __VA_ARGS__)
#define shmem_collect(...) SHMEM_TEAM_(SHMEM_RMA_, _collect, __VA_ARGS__)
#define shmem_fcollect(...) SHMEM_TEAM_(SHMEM_RMA_, _fcollect, __VA_ARGS__)
#define shmem_sum_reduce(...) SHMEM_TEAM_(SHMEM_SUM_, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) SHMEM_TEAM_(SHMEM_SUM_, _prod_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) SHMEM_TEAM_(SHMEM_RMA_, _min_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) SHMEM_TEAM_(SHMEM_RMA_, _max_reduce, __VA_ARGS__)
#define shmem_and_reduce(...) SHMEM_TEAM_(SHMEM_LOGIC_, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) SHMEM_TEAM_(SHMEM_LOGIC_, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) SHMEM_TEAM_(SHMEM_LOGIC_, _xor_reduce, __VA_ARGS__)

/* One argument: a team. Four: the deprecated function of that name. */
#define shmem_sync(...) SHMEM_5TH_(__VA_ARGS__, shmem_sync, , , shmem_team_sync, )(__VA_ARGS__)

/* ---- waits and tests ---- */

#define shmem_wait_until(...) SHMEM_PLAIN_(SHMEM_SYNC_, _wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...) SHMEM_PLAIN_(SHMEM_SYNC_, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) SHMEM_PLAIN_(SHMEM_SYNC_, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) SHMEM_PLAIN_(SHMEM_SYNC_, _wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) SHMEM_PLAIN_(SHMEM_SYNC_, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) SHMEM_PLAIN_(SHMEM_SYNC_, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) SHMEM_PLAIN_(SHMEM_SYNC_, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...) SHMEM_PLAIN_(SHMEM_SYNC_, _test, __VA_ARGS__)
#define shmem_test_all(...) SHMEM_PLAIN_(SHMEM_SYNC_, _test_all, __VA_ARGS__)
#define shmem_test_any(...) SHMEM_PLAIN_(SHMEM_SYNC_, _test_any, __VA_ARGS__)
#define shmem_test_some(...) SHMEM_PLAIN_(SHMEM_SYNC_, _test_some, __VA_ARGS__)
#define shmem_test_all_vector(...) SHMEM_PLAIN_(SHMEM_SYNC_, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) SHMEM_PLAIN_(SHMEM_SYNC_, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) SHMEM_PLAIN_(SHMEM_SYNC_, _test_some_vector, __VA_ARGS__)

/* ---- deprecated since 1.4 ---- */

#define shmem_fetch(...) SHMEM_PLAIN_(SHMEM_AMO_, _atomic_fetch, __VA_ARGS__)
#define shmem_set(...) SHMEM_PLAIN_(SHMEM_AMO_, _atomic_set, __VA_ARGS__)
#define shmem_swap(...) SHMEM_PLAIN_(SHMEM_AMO_, _atomic_swap, __VA_ARGS__)
#define shmem_cswap(...) SHMEM_PLAIN_(SHMEM_INTEGER_, _atomic_compare_swap, __VA_ARGS__)
#define shmem_finc(...) SHMEM_PLAIN_(SHMEM_INTEGER_, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_inc(...) SHMEM_PLAIN_(SHMEM_INTEGER_, _atomic_inc, __VA_ARGS__)
#define shmem_fadd(...) SHMEM_PLAIN_(SHMEM_INTEGER_, _atomic_fetch_add, __VA_ARGS__)
#define shmem_add(...) SHMEM_PLAIN_(SHMEM_INTEGER_, _atomic_add, __VA_ARGS__)

#endif
