/* SPDX-License-Identifier: MIT
 *
 * Symmetric allocation, registered buffers, addresses, lifetimes.
 */
#include <stdlib.h>

#include "api/api.h"
#include "observe/check.h"
#include "pgas/checked.h"
#include "pgas/collective.h"
#include "pgas/growth.h"

/* any: PEs may ask for different sizes, each gets the largest. */
static void *allocate(const char *function, uint32_t call, enum rs_kind kind, size_t align, size_t size,
                      bool any)
{
    void *ptr = NULL;
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) {
        rs_return(function);
        return NULL;
    }
    struct rs_job *job = rs_thread_job(t);
    struct rs_signature signature = {call, kind, RS_TEAM_ID_WORLD, {any ? 0 : size, align, 0}, 0};
    size_t asked = size;
    struct rs_gathering meeting = {.team = job->world, .signature = &signature};
    int rc = rs_probed(t) ? rs_probe_meet(t, RS_ACCESS_MEET, &meeting) : 0;
    if (rc == 0)
        rc = rs_job_settle(job, &signature, any ? &size : NULL); /* all are here; dropped blocks are free */
    if (RS_UNLIKELY(size != asked))
        rs_log(RS_LOG_WARN,
               "%s: this PE asks for %zu bytes, another for %zu, which all get; ask for the same", function,
               asked, size);
    if (rc == 0) rc = rs_grow_alloc(job, &signature, size, align, &ptr);
    bool zero = kind == RS_KIND_CALLOC;
    if (rc == 0 && zero) rc = rs_device_fill(&job->device, ptr, 0, size);
    if (rc == 0 && rs_checked(job)) rs_checked_fresh(job, ptr, call, !zero);
    if (rc == 0 && (zero || rs_checked(job))) {
        signature.kind = RS_KIND_PHASE; /* nobody returns before all is zero, or poisoned, everywhere */
        rc = rs_collective_barrier(job->world, &signature);
        signature.kind = kind;
    }
    if (rc == 0 && rs_probed(t)) {
        meeting.dest = ptr;
        meeting.dest_nbytes = size;
        rc = rs_probe_meet(t, RS_ACCESS_MET, &meeting);
    }
    rs_leave(t, call);
    if (RS_LIKELY(rc == 0)) return ptr;
    rs_return(function);
    return NULL;
}

void *rocshmem_malloc(size_t size)
{
    if (size == 0 && rs_thread_job(rs_self)) return NULL;
    return allocate(__func__, RS_CALL_MALLOC, RS_KIND_MALLOC, RS_HEAP_ALIGN, size, false);
}

void *rocshmem_calloc(size_t count, size_t size)
{
    size_t nbytes;
    if (count == 0 || size == 0 || __builtin_mul_overflow(count, size, &nbytes)) {
        if (!rs_thread_job(rs_self) && !rs_enter_slow()) {
            rs_return(__func__);
            return NULL;
        }
        rs_fail(RS_E_ARG,
                count && size ? "count %zu times size %zu overflows"
                              : "count %zu, size %zu: neither may be 0",
                count, size);
        rs_return(__func__);
        return NULL;
    }
    return allocate(__func__, RS_CALL_CALLOC, RS_KIND_CALLOC, RS_HEAP_ALIGN, nbytes, false);
}

void *rocshmem_align(size_t alignment, size_t size)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) {
        rs_return(__func__);
        return NULL;
    }
    if (rs_check_alignment(alignment) < 0) {
        rs_return(__func__);
        return NULL;
    }
    if (size == 0) return NULL;
    return allocate(__func__, RS_CALL_ALIGN, RS_KIND_MALLOC, alignment, size, false);
}

void *rocshmemx_malloc_largest(size_t alignment, size_t size, int zeroed)
{
    const char *function = zeroed ? "rocshmem_calloc" : alignment ? "rocshmem_align" : "rocshmem_malloc";
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) {
        rs_return(function);
        return NULL;
    }
    if (alignment && rs_check_alignment(alignment) < 0) {
        rs_return(function);
        return NULL;
    }
    if (size == 0) return NULL;
    return allocate(function,
                    zeroed      ? RS_CALL_CALLOC
                    : alignment ? RS_CALL_ALIGN
                                : RS_CALL_MALLOC,
                    zeroed ? RS_KIND_CALLOC : RS_KIND_MALLOC, alignment ? alignment : RS_HEAP_ALIGN, size,
                    true);
}

void rocshmem_free(void *ptr)
{
    if (!ptr) return;
    struct rs_thread *t = rs_enter(RS_CALL_FREE);
    if (RS_UNLIKELY(!t)) {
        rs_raise(__func__);
        return;
    }
    struct rs_job *job = rs_thread_job(t);
    uint64_t offset;
    if (rs_checked(job)) rs_checked_freed(job, ptr);
    int rc = rs_heap_free(&job->heap, ptr, &offset);
    if (rc == 0) {
        struct rs_signature signature = {RS_CALL_FREE, RS_KIND_FREE, RS_TEAM_ID_WORLD, {offset, 0, 0}, 0};
        const struct rs_gathering meeting = {.team = job->world, .signature = &signature, .dest = ptr};
        if (rs_probed(t)) rc = rs_probe_meet(t, RS_ACCESS_MEET, &meeting);
        if (rc == 0) rc = rs_job_settle(job, &signature, NULL);
        if (rc == 0 && rs_probed(t)) rc = rs_probe_meet(t, RS_ACCESS_MET, &meeting);
    }
    if (rc == 0 && rs_checked(job)) rc = rs_checked_guards(job);
    rs_leave(t, RS_CALL_FREE);
    if (RS_UNLIKELY(rc < 0)) rs_raise(__func__);
}

void *rocshmem_ptr(const void *dest, int pe)
{
    struct rs_thread *t = rs_self;
    if (RS_UNLIKELY(!rs_thread_job(t))) {
        t = rs_enter_slow();
        if (!t) {
            rs_raise(__func__);
            return NULL;
        }
    }
    struct rs_job *job = rs_thread_job(t);
    if (RS_UNLIKELY(!rs_job_has_pe(job, pe))) {
        rs_bad_pe(job, "pe", pe, job->n_pes);
        rs_raise(__func__);
        return NULL;
    }
    if (!rs_symmetric(t, job, dest, 1) || !job->routes[pe].mapped || job->routes[pe].named) return NULL;
    return rs_route_address(&job->routes[pe], dest);
}

/* ---- registered buffers ---- */

/* Under the lock: the index of the first buffer that ends behind at. */
static size_t buffer_behind(const struct rs_job *job, uintptr_t at)
{
    size_t i = 0;
    while (i < job->n_buffers && job->buffers[i].base + job->buffers[i].nbytes <= at) i++;
    return i;
}

static int buffer_add_locked(struct rs_job *job, uintptr_t base, size_t nbytes)
{
    size_t i = buffer_behind(job, base);
    if (i < job->n_buffers && job->buffers[i].base < base + nbytes)
        return rs_fail(
            RS_E_ARG,
            "addr %p + %zu bytes overlaps the registered region of %zu bytes at %p; unregister that first",
            (void *)base, nbytes, job->buffers[i].nbytes, (void *)job->buffers[i].base);
    if (job->n_buffers == job->buffers_capacity) {
        size_t capacity = job->buffers_capacity ? 2 * job->buffers_capacity : 16;
        struct rs_buffer *more = realloc(job->buffers, capacity * sizeof *more);
        if (!more) return rs_fail(RS_E_NOMEM, "no memory for %zu registered buffers", job->n_buffers + 1);
        job->buffers = more;
        job->buffers_capacity = capacity;
    }
    memmove(job->buffers + i + 1, job->buffers + i, (job->n_buffers - i) * sizeof *job->buffers);
    job->buffers[i] = (struct rs_buffer){base, nbytes};
    job->n_buffers++;
    return 0;
}

int rocshmem_buffer_register(void *addr, size_t length)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return rs_return(__func__);
    struct rs_job *job = rs_thread_job(rs_self);
    uintptr_t base = (uintptr_t)addr, end;
    int rc;
    if (base < 4096)
        rc = rs_fail(RS_E_ARG, "addr %p is no memory", addr);
    else if (length == 0)
        rc = rs_fail(RS_E_ARG, "length is 0; there is nothing to register");
    else if (__builtin_add_overflow(base, length, &end))
        rc = rs_fail(RS_E_ARG, "addr %p + length %zu overflows", addr, length);
    else {
        pthread_mutex_lock(&job->buffers_lock);
        rc = buffer_add_locked(job, base, length);
        pthread_mutex_unlock(&job->buffers_lock);
    }
    return rc == 0 ? 0 : rs_return(__func__);
}

int rocshmem_buffer_unregister(void *addr)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return rs_return(__func__);
    struct rs_job *job = rs_thread_job(rs_self);
    pthread_mutex_lock(&job->buffers_lock);
    size_t i = buffer_behind(job, (uintptr_t)addr);
    bool found = i < job->n_buffers && job->buffers[i].base <= (uintptr_t)addr;
    if (found) {
        job->n_buffers--;
        memmove(job->buffers + i, job->buffers + i + 1, (job->n_buffers - i) * sizeof *job->buffers);
    }
    pthread_mutex_unlock(&job->buffers_lock);
    if (found) return 0;
    rs_fail(RS_E_ARG, "addr %p is in no registered region", addr);
    return rs_return(__func__);
}

void rocshmem_buffer_unregister_all(void)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) {
        rs_raise(__func__);
        return;
    }
    struct rs_job *job = rs_thread_job(rs_self);
    pthread_mutex_lock(&job->buffers_lock);
    job->n_buffers = 0;
    pthread_mutex_unlock(&job->buffers_lock);
}

/* ---- lifetimes ---- */

int rocshmemx_heap_info(size_t *nbytes_out, size_t *used_out, size_t *largest_free_out)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return rs_return(__func__);
    struct rs_job *job = rs_thread_job(rs_self);
    size_t used, largest;
    rs_heap_info(&job->heap, &used, &largest);
    if (nbytes_out) *nbytes_out = job->heap.nbytes;
    if (used_out) *used_out = used;
    if (largest_free_out) *largest_free_out = largest;
    return 0;
}

int rocshmemx_hold(const void *ptr, void **hold_out)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return rs_return(__func__);
    struct rs_hold *hold;
    int rc = rs_hold_create(&rs_thread_job(rs_self)->heap, ptr, &hold);
    if (rc < 0) return rs_return(__func__);
    *hold_out = hold;
    return 0;
}

void rocshmemx_release(void *hold)
{
    rs_hold_destroy(hold);
}

void rocshmemx_drop(void *ptr)
{
    rs_heap_drop_current(ptr);
}

int rocshmemx_allocation(const void *ptr, void **base_out, size_t *nbytes_out)
{
    if (!rs_thread_job(rs_self) && !rs_enter_slow()) return 0;
    uintptr_t base;
    size_t nbytes;
    uint64_t generation;
    if (!rs_heap_find(&rs_thread_job(rs_self)->heap, ptr, &base, &nbytes, &generation)) return 0;
    if ((uintptr_t)ptr - base >= nbytes) return 0; /* in the rounding behind it */
    if (base_out) *base_out = (void *)base;
    if (nbytes_out) *nbytes_out = nbytes;
    return 1;
}

/* ---- checked mode ---- */

static int note(const char *function, uint32_t call, const void *ptr, size_t nbytes, bool write)
{
    struct rs_thread *t = rs_enter(call);
    if (RS_UNLIKELY(!t)) return rs_return(function);
    struct rs_job *job = rs_thread_job(t);
    int rc = nbytes && !rs_symmetric(t, job, ptr, nbytes) ? rs_bad_symmetric(job, "ptr", ptr, nbytes) : 0;
    if (rc == 0 && rs_checked(job)) rc = rs_check_note(job->check, call, ptr, nbytes, write);
    rs_leave(t, call);
    return rc == 0 ? 0 : rs_return(function);
}

int rocshmemx_note_read(const void *ptr, size_t nbytes)
{
    return note(__func__, RS_CALL_NOTE_READ, ptr, nbytes, false);
}

int rocshmemx_note_write(const void *ptr, size_t nbytes)
{
    return note(__func__, RS_CALL_NOTE_WRITE, ptr, nbytes, true);
}
