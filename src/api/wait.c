/* SPDX-License-Identifier: MIT
 *
 * Waits for, and tests of, this PE's own words: one of them (templates over the types), or arrays of them (one
 * piece of code for each kind of word).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"

/* ---- one word ---- */

struct waited_for {
    struct rs_job *job;
    const void *word;
    size_t width;
    int cmp;
    uint64_t value;
    uint64_t last; /* what was seen last */
};

static void describe(const void *arg, struct rs_waits *out)
{
    const struct waited_for *w = arg;
    uint64_t now = w->last;
    if (w->job->device.ops->cpu_reaches_heap) (void)rs_job_load(w->job, w->word, w->width, &now);
    char place[80];
    rs_heap_place(&w->job->heap, w->word, place, sizeof place);
    *out = (struct rs_waits){.kind = RS_WAITS_WORD};
    snprintf(out->text, sizeof out->text, "waits for the word at %s to be %s %" PRIu64 "; it is %" PRIu64,
             place, rs_cmp_name(w->cmp), w->value, now);
}

/* What the caller calls the word: signal waits say sig_addr, typed ones ivar. */
static const char *word_name(const struct rs_thread *t)
{
    uint32_t call = (uint32_t)atomic_load_explicit(&t->note->call, memory_order_relaxed);
    return RS_CALL_ID(call) == RS_CALL_SIGNAL_WAIT_UNTIL ? "sig_addr" : "ivar";
}

#define COMPARE(T)                                                                                           \
    switch (cmp) {                                                                                           \
    case ROCSHMEM_CMP_EQ:                                                                                    \
        return word == value;                                                                                \
    case ROCSHMEM_CMP_NE:                                                                                    \
        return word != value;                                                                                \
    case ROCSHMEM_CMP_GT:                                                                                    \
        return word > value;                                                                                 \
    case ROCSHMEM_CMP_GE:                                                                                    \
        return word >= value;                                                                                \
    case ROCSHMEM_CMP_LT:                                                                                    \
        return word < value;                                                                                 \
    default:                                                                                                 \
        return word <= value;                                                                                \
    }

/* name_holds, name_wait, and the two API functions of a type. */
#define WAITS(name, T, ...)                                                                                  \
    static inline bool name##_holds(T word, int cmp, T value)                                                \
    {                                                                                                        \
        COMPARE(T)                                                                                           \
    }                                                                                                        \
    static int name##_wait(struct rs_thread *t, T *word, int cmp, T value, T *seen_out)                      \
    {                                                                                                        \
        struct rs_job *job = rs_thread_job(t);                                                               \
        RS_TRY(rs_check_cmp(cmp));                                                                           \
        RS_TRY(rs_check_word(t, job, word_name(t), word, sizeof(T), job->my_pe));                            \
        uint64_t seen = 0;                                                                                   \
        int rc = rs_job_load(job, word, sizeof(T), &seen);                                                   \
        if (RS_LIKELY(rc == 0) && !name##_holds((T)seen, cmp, value)) {                                      \
            struct waited_for what = {job, word, sizeof(T), cmp, (uint64_t)value, seen};                     \
            struct rs_wait wait;                                                                             \
            rs_describe(t, describe, &what);                                                                 \
            rs_wait_begin(&wait, &job->watch);                                                               \
            while (rc == 0 && !name##_holds((T)seen, cmp, value)) {                                          \
                rc = rs_wait_pause(&wait);                                                                   \
                if (rc == 0) rc = rs_job_load(job, word, sizeof(T), &seen);                                  \
                what.last = seen;                                                                            \
            }                                                                                                \
            t->describe = NULL;                                                                              \
        }                                                                                                    \
        *seen_out = (T)seen;                                                                                 \
        if (RS_LIKELY(rc == 0) && rs_probed(t)) rc = rs_probe_seen(t, word, sizeof(T));                      \
        return rc;                                                                                           \
    }

ROCSHMEM_SYNC_TYPES(WAITS, )
#undef WAITS

uint64_t rocshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    uint64_t seen = 0;
    struct rs_thread *t = rs_enter(RS_CALL_SIGNAL_WAIT_UNTIL);
    if (RS_UNLIKELY(!t)) {
        rs_raise(__func__);
        return 0;
    }
    int rc = uint64_wait(t, sig_addr, cmp, cmp_value, &seen);
    rs_leave(t, RS_CALL_SIGNAL_WAIT_UNTIL);
    if (RS_UNLIKELY(rc < 0)) rs_raise(__func__);
    return seen;
}

#define TYPED(name, T, ...)                                                                                  \
    void rocshmem_##name##_wait_until(T *ivar, int cmp, T cmp_value)                                         \
    {                                                                                                        \
        T seen;                                                                                              \
        uint32_t call = RS_CALL_TYPED(RS_CALL_WAIT_UNTIL, RS_TYPE_##name);                                   \
        struct rs_thread *t = rs_enter(call);                                                                \
        if (RS_UNLIKELY(!t)) {                                                                               \
            rs_raise(__func__);                                                                              \
            return;                                                                                          \
        }                                                                                                    \
        int rc = name##_wait(t, ivar, cmp, cmp_value, &seen);                                                \
        rs_leave(t, call);                                                                                   \
        if (RS_UNLIKELY(rc < 0)) rs_raise(__func__);                                                         \
    }                                                                                                        \
    int rocshmem_##name##_test(T *ivar, int cmp, T cmp_value)                                                \
    {                                                                                                        \
        uint32_t call = RS_CALL_TYPED(RS_CALL_TEST, RS_TYPE_##name);                                         \
        struct rs_thread *t = rs_enter(call);                                                                \
        if (RS_UNLIKELY(!t)) {                                                                               \
            rs_raise(__func__);                                                                              \
            return 0;                                                                                        \
        }                                                                                                    \
        struct rs_job *job = rs_thread_job(t);                                                               \
        int rc = rs_check_cmp(cmp);                                                                          \
        if (rc == 0) rc = rs_check_word(t, job, "ivar", ivar, sizeof(T), job->my_pe);                        \
        uint64_t now = 0;                                                                                    \
        rs_job_poll(job);                                                                                    \
        if (rc == 0) rc = rs_job_load(job, ivar, sizeof(T), &now);                                           \
        int holds = rc == 0 && name##_holds((T)now, cmp, cmp_value);                                         \
        if (holds && rs_probed(t)) rc = rs_probe_seen(t, ivar, sizeof(T));                                   \
        rs_leave(t, call);                                                                                   \
        if (RS_UNLIKELY(rc < 0)) rs_raise(__func__);                                                         \
        return holds;                                                                                        \
    }
ROCSHMEM_SYNC_TYPES(TYPED, )
#undef TYPED

/* ---- arrays of words ---- */

/* One call. Element i is compared with values[i * step]. */
struct words {
    const void *ivars;
    size_t nelems;
    const int *status; /* NULL: none is left out */
    int cmp;
    const void *values;
    size_t step;
    size_t *indices; /* of the some forms */
    size_t width;
    bool is_signed;
    const void *symmetric; /* ivars as they were given, where that is a copy */
};
enum how { ALL, ANY, SOME };

/* Where this thread's next search for any begins: behind what it found last. */
static _Thread_local size_t search_from __attribute__((tls_model("initial-exec")));

/* A word so that unsigned comparisons order it as its type does. */
RS_HOT uint64_t in_order(uint64_t word, size_t width, bool is_signed)
{
    unsigned above = 64 - 8 * (unsigned)width; /* to the top: what is above the word goes, the order stays */
    return word << above ^ (is_signed ? (uint64_t)1 << 63 : 0);
}

RS_HOT bool element_holds(const struct words *w, size_t i, size_t width, bool is_signed)
{
    uint64_t word, value;
    if (width == 2) {
        word = __atomic_load_n((const uint16_t *)w->ivars + i, __ATOMIC_ACQUIRE);
        value = ((const uint16_t *)w->values)[i * w->step];
    } else if (width == 4) {
        word = __atomic_load_n((const uint32_t *)w->ivars + i, __ATOMIC_ACQUIRE);
        value = ((const uint32_t *)w->values)[i * w->step];
    } else {
        word = __atomic_load_n((const uint64_t *)w->ivars + i, __ATOMIC_ACQUIRE);
        value = ((const uint64_t *)w->values)[i * w->step];
    }
    return uint64_holds(in_order(word, width, is_signed), w->cmp, in_order(value, width, is_signed));
}

/* Elements from..to: the first of the set that holds (or does not), or to. */
RS_HOT size_t find(const struct words *w, size_t from, size_t to, bool want, size_t width, bool is_signed)
{
    for (size_t i = from; i < to; i++)
        if (!(w->status && w->status[i]) && element_holds(w, i, width, is_signed) == want) return i;
    return to;
}

/* Look at the set once. ALL: from *at on, which becomes the first that does not hold yet; true at the end. ANY:
 * *at is what was found. SOME: *at counts what was written to indices. */
RS_HOT bool look(const struct words *w, enum how how, size_t *at, size_t width, bool is_signed)
{
    size_t n = w->nelems, start = search_from < n ? search_from : 0;
    if (how == ALL) {
        *at = find(w, *at, n, false, width, is_signed);
        return *at == n;
    }
    if (how == ANY) {
        *at = find(w, start, n, true, width, is_signed);
        if (*at == n && (*at = find(w, 0, start, true, width, is_signed)) == start) return false;
        search_from = *at + 1;
        return true;
    }
    *at = 0;
    for (size_t i = 0; (i = find(w, i, n, true, width, is_signed)) < n; i++) w->indices[(*at)++] = i;
    return *at > 0;
}

/* The kinds of word, each with constants; the short one has no code of its own for each sign. */
static bool look_of_kind(const struct words *w, enum how how, size_t *at)
{
    if (w->width == 2) return look(w, how, at, 2, w->is_signed);
    if (w->width == 4) return w->is_signed ? look(w, how, at, 4, true) : look(w, how, at, 4, false);
    return w->is_signed ? look(w, how, at, 8, true) : look(w, how, at, 8, false);
}

static bool is_empty(const struct words *w)
{
    if (!w->status) return w->nelems == 0;
    for (size_t i = 0; i < w->nelems; i++)
        if (!w->status[i]) return false;
    return true;
}

/* How many elements of the set do not hold now, and the first of them. */
static void describe_words(const void *arg, struct rs_waits *out)
{
    const struct words *w = arg;
    char list[64] = "";
    size_t n = 0, missing = 0, shown = 0, length = 0;
    for (size_t i = 0; i < w->nelems; i++) {
        if (w->status && w->status[i]) continue;
        n++;
        if (element_holds(w, i, w->width, w->is_signed)) continue;
        missing++;
        if (length > sizeof list - 24) continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%zu", shown ? ", " : "", i);
        shown++;
    }
    char value[24] = "their values";
    if (!w->step) {
        int64_t v = w->width == 8   ? *(const int64_t *)w->values
                    : w->width == 4 ? *(const int32_t *)w->values
                                    : *(const int16_t *)w->values;
        if (w->is_signed)
            snprintf(value, sizeof value, "%" PRId64, v);
        else /* without the sign that widening gave it */
            snprintf(value, sizeof value, "%" PRIu64,
                     (uint64_t)v << (64 - 8 * w->width) >> (64 - 8 * w->width));
    }
    char place[80];
    rs_heap_place(&rs_thread_job(rs_self)->heap, w->symmetric, place, sizeof place);
    *out = (struct rs_waits){.kind = RS_WAITS_WORD};
    snprintf(out->text, sizeof out->text, "waits for words of the %zu at %s to be %s %s; %zu are not: %s%s",
             n, place, rs_cmp_name(w->cmp), value, missing, list, shown < missing ? " ..." : "");
}

static int check_words(struct rs_thread *t, const struct words *w, enum how how)
{
    size_t nbytes;
    RS_TRY(rs_check_cmp(w->cmp));
    if (w->nelems == 0) return 0;
    if (__builtin_mul_overflow(w->nelems, w->width, &nbytes))
        return rs_fail(RS_E_ARG, "nelems %zu, of %zu bytes each, is more than there is memory", w->nelems,
                       w->width);
    if ((uintptr_t)w->ivars % w->width) return rs_bad_word("ivars", w->ivars, w->width);
    if (!rs_symmetric(t, rs_thread_job(t), w->ivars, nbytes))
        return rs_bad_symmetric(rs_thread_job(t), "ivars", w->ivars, nbytes);
    if (w->status && (uintptr_t)w->status < 4096)
        return rs_bad_local("status", w->status, w->nelems * sizeof *w->status);
    if (how == SOME && (uintptr_t)w->indices < 4096)
        return rs_bad_local("indices", w->indices, w->nelems * sizeof *w->indices);
    if ((uintptr_t)w->values < 4096) return rs_bad_local("cmp_values", w->values, nbytes);
    return 0;
}

/* Where the CPU can't reach the words it looks at a copy of them, which is made anew each time. */
static int refresh(struct rs_thread *t, const struct words *w, void *copy)
{
    struct rs_device *device = &rs_thread_job(t)->device;
    return copy ? rs_device_move(device, copy, w->ivars, w->nelems * w->width) : 0;
}

static int copy_for(struct rs_thread *t, struct words *w, void **copy_out)
{
    if (RS_LIKELY(rs_thread_job(t)->device.ops->cpu_reaches_heap) || w->nelems == 0) return 0;
    *copy_out = malloc(w->nelems * w->width);
    return *copy_out ? 0 : rs_fail(RS_E_NOMEM, "no memory to look at %zu words", w->nelems);
}

/* The words that were found, one by one. at: as look gave it. */
static __attribute__((cold)) int tell_words(struct rs_thread *t, const struct words *w, enum how how,
                                            size_t at)
{
    size_t n = how == ALL ? w->nelems : how == ANY ? 1 : at;
    for (size_t i = 0; i < n; i++) {
        size_t element = how == ALL ? i : how == ANY ? at : w->indices[i];
        if (how == ALL && w->status && w->status[i]) continue;
        RS_TRY(rs_probe_seen(t, (const char *)w->ivars + element * w->width, w->width));
    }
    return 0;
}

/* The whole of a call but its frame; *at as look gives it, 1 for a test of all that holds. */
static int on_words(struct rs_thread *t, const struct words *given, enum how how, bool wait, size_t *at)
{
    struct words seen = *given;
    const struct words *w = &seen;
    void *copy = NULL;
    RS_TRY(check_words(t, given, how));
    RS_TRY(copy_for(t, &seen, &copy));
    seen.symmetric = given->ivars;
    if (copy) seen.ivars = copy;
    rs_job_poll(rs_thread_job(t));
    int rc = refresh(t, given, copy);
    bool done = rc == 0 && look_of_kind(w, how, at);
    if (rc == 0 && !done && wait && !is_empty(w)) {
        struct rs_wait waiting;
        rs_describe(t, describe_words, w);
        rs_wait_begin(&waiting, &rs_thread_job(t)->watch);
        while (rc == 0 && !(done = look_of_kind(w, how, at))) {
            rc = rs_wait_pause(&waiting);
            if (rc == 0) rc = refresh(t, given, copy);
        }
        t->describe = NULL;
    }
    free(copy);
    if (rc == 0 && done && rs_probed(t)) rc = tell_words(t, given, how, *at);
    if (how == ALL) *at = done;
    if (how == ANY && !done) *at = SIZE_MAX;
    if (how == SOME && !done) *at = 0;
    return rc;
}

static size_t words_call(const char *function, uint32_t call, enum how how, bool wait, const struct words *w)
{
    size_t at = 0;
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) {
        rs_raise(function);
        return how == ANY ? SIZE_MAX : 0;
    }
    int rc = on_words(t, w, how, wait, &at);
    rs_leave(t, call);
    if (RS_UNLIKELY(rc < 0)) {
        rs_raise(function);
        return how == ANY ? SIZE_MAX : 0;
    }
    return at;
}

#define WORDS_(name, T, CALL, how, wait, values, step, indices)                                              \
    words_call(                                                                                              \
        __func__, RS_CALL_TYPED(RS_CALL_##CALL, RS_TYPE_##name), how, wait,                                  \
        &(struct words){ivars, nelems, status, cmp, values, step, indices, sizeof(T), (T)-1 < (T)1, NULL})

/* The three forms of a wait or a test: with one value, or with a vector of them. */
#define THREE(name, T, verb, VERB, wait, R, give, vector, VECTOR, parameter, values, step)                   \
    R rocshmem_##name##_##verb##_all##vector(T *ivars, size_t nelems, const int *status, int cmp, parameter) \
    {                                                                                                        \
        give WORDS_(name, T, VERB##_ALL##VECTOR, ALL, wait, values, step, NULL);                             \
    }                                                                                                        \
    size_t rocshmem_##name##_##verb##_any##vector(T *ivars, size_t nelems, const int *status, int cmp,       \
                                                  parameter)                                                 \
    {                                                                                                        \
        return WORDS_(name, T, VERB##_ANY##VECTOR, ANY, wait, values, step, NULL);                           \
    }                                                                                                        \
    size_t rocshmem_##name##_##verb##_some##vector(T *ivars, size_t nelems, size_t *indices,                 \
                                                   const int *status, int cmp, parameter)                    \
    {                                                                                                        \
        return WORDS_(name, T, VERB##_SOME##VECTOR, SOME, wait, values, step, indices);                      \
    }
#define ARRAYS(name, T, ...)                                                                                 \
    THREE(name, T, wait_until, WAIT_UNTIL, true, void, (void), , , T cmp_value, &cmp_value, 0)               \
    THREE(name, T, wait_until, WAIT_UNTIL, true, void, (void), _vector, _VECTOR, const T *cmp_values,        \
          cmp_values, 1)                                                                                     \
    THREE(name, T, test, TEST, false, int, return (int), , , T cmp_value, &cmp_value, 0)                     \
    THREE(name, T, test, TEST, false, int, return (int), _vector, _VECTOR, const T *cmp_values, cmp_values, 1)
ROCSHMEM_SYNC_TYPES(ARRAYS, )
