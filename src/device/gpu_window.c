/* SPDX-License-Identifier: MIT
 *
 * Windows in GPU memory. Two ways, of which all PEs of a host use one: virtual memory whose parts travel as
 * descriptors, side by side in one reservation; or an allocation each, opened by IPC handle at an address of
 * the driver's choice. Which one it is, an export says.
 *
 * Windows may be unmapped after the device was closed (a view of the heap that outlives the job): they hold
 * the context by themselves.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "base/status.h"
#include "device/gpu.h"

#define ALIGN ((size_t)1 << 30)     /* of a window in a reservation: of any block that asks for it */
#define IPC_ALIGN ((size_t)2 << 20) /* what the drivers give to large allocations */

struct mapping {
    const struct rs_gpu_driver *drv;
    struct rs_gpu *gpu; /* while it is open */
    int device;
    void *context;
    bool ipc;
    bool abandoned;     /* the device never became idle: unmapping would wait for ever */
    uintptr_t reserved; /* the start of the reservation; 0: none */
    uintptr_t first;    /* of the first window in it */
    size_t reserved_nbytes, window_nbytes;
    bool *mapped; /* owned, n_local */
};
struct export
{
    uint32_t ipc, pid;
    struct rs_gpu_uuid gpu;
    struct rs_gpu_ipc handle;
};
_Static_assert(sizeof(struct export) <= sizeof(struct rs_window_export), "an export has room");

static bool want_ipc; /* W: open. R: window_make, by the same thread */

void rs_gpu_windows_choose(bool ipc)
{
    want_ipc = ipc;
}

static struct rs_gpu_prop prop_of(int device)
{
    return (struct rs_gpu_prop){.type = 1, .handle_types = 1, .location = {.type = 1, .id = device}};
}

/* Does the driver do it? Tried with the smallest part: some say yes and then refuse. */
static bool can_vmm(const struct rs_gpu *gpu, size_t *granularity_out)
{
    struct rs_gpu_prop prop = prop_of(gpu->device);
    unsigned long long handle;
    if (!gpu->drv->vmm || gpu->drv->vmm_granularity(granularity_out, &prop, 0) != 0) return false;
    if (gpu->drv->vmm_create(&handle, *granularity_out, &prop, 0) != 0) return false;
    int fd = -1, code = gpu->drv->vmm_export(&fd, handle, 1, 0);
    gpu->drv->vmm_release(handle);
    if (code != 0) return false;
    code = gpu->drv->vmm_import(&handle, (void *)(uintptr_t)fd, 1);
    if (code == 0) gpu->drv->vmm_release(handle);
    close(fd);
    return code == 0;
}

/* Map a handle (taken over) as window local. */
static int map_part(const struct rs_windows *windows, int local, unsigned long long handle)
{
    struct mapping *m = windows->state;
    uintptr_t at = m->first + (size_t)local * windows->stride;
    struct rs_gpu_access access = {.location = {.type = 1, .id = m->device}, .flags = 3};
    int code = m->drv->vmm_map(at, m->window_nbytes, 0, handle, 0);
    m->drv->vmm_release(handle); /* the mapping holds the memory */
    if (code) return rs_gpu_fail(m->drv, code, "map a symmetric heap");
    m->mapped[local] = true;
    code = m->drv->vmm_access(at, m->window_nbytes, &access, 1);
    if (code) return rs_gpu_fail(m->drv, code, "reach the GPU of another PE (no peer access?)");
    windows->base[local] = at;
    return 0;
}

/* A driver that does not align as asked gets more to reserve, and the windows begin inside. */
static int reserve(const struct rs_windows *windows, struct mapping *m)
{
    m->reserved_nbytes = windows->stride * (size_t)windows->n_local;
    int code = m->drv->vmm_reserve(&m->reserved, m->reserved_nbytes, ALIGN, 0, 0);
    if (code == 0 && m->reserved % ALIGN != 0) {
        m->drv->vmm_unreserve(m->reserved, m->reserved_nbytes);
        code = 1;
    }
    if (code) {
        m->reserved_nbytes += ALIGN;
        code = m->drv->vmm_reserve(&m->reserved, m->reserved_nbytes, 0, 0, 0);
    }
    if (code) {
        m->reserved = 0;
        return rs_gpu_fail(m->drv, code, "reserve addresses for the symmetric heaps");
    }
    m->first = (m->reserved + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1);
    return 0;
}

static int make_vmm(struct rs_gpu *gpu, struct rs_windows *windows, size_t granularity, int *fd_out)
{
    struct mapping *m = windows->state;
    struct rs_gpu_prop prop = prop_of(gpu->device);
    unsigned long long handle;
    windows->align = ALIGN;
    m->window_nbytes = (windows->nbytes + granularity - 1) / granularity * granularity;
    RS_TRY(reserve(windows, m));
    int code = gpu->drv->vmm_create(&handle, m->window_nbytes, &prop, 0);
    if (code)
        return rs_fail(code == 2 ? RS_E_NOMEM : RS_E_DEVICE,
                       "device %d has no %zu bytes for a symmetric heap; lower ROCSHMEM_HEAP_SIZE",
                       gpu->device, m->window_nbytes);
    code = gpu->drv->vmm_export(fd_out, handle, 1, 0);
    if (code) {
        *fd_out = -1;
        gpu->drv->vmm_release(handle);
        return rs_gpu_fail(gpu->drv, code, "export a symmetric heap");
    }
    return map_part(windows, windows->my_local, handle);
}

static int make_ipc(struct rs_gpu *gpu, struct rs_windows *windows, struct export *export)
{
    struct mapping *m = windows->state;
    windows->align = IPC_ALIGN;
    m->ipc = true;
    m->window_nbytes = (windows->nbytes + IPC_ALIGN - 1) & ~(IPC_ALIGN - 1); /* old ROCm fails for others */
    uintptr_t at = 0;
    int code = gpu->drv->alloc(gpu->drv, &at, m->window_nbytes);
    if (code)
        return rs_fail(code == 2 ? RS_E_NOMEM : RS_E_DEVICE,
                       "device %d has no %zu bytes for a symmetric heap; lower ROCSHMEM_HEAP_SIZE",
                       gpu->device, m->window_nbytes);
    m->mapped[windows->my_local] = true;
    windows->base[windows->my_local] = at;
    if (windows->n_local == 1) return 0;
    code = gpu->drv->ipc_get(&export->handle, at);
    return code ? rs_gpu_fail(gpu->drv, code, "export a symmetric heap by IPC handle") : 0;
}

/* A reservation holds windows only. What the driver opens by IPC may have anything between: there only this
 * PE's own window is known by its address. */
static void widen(struct rs_gpu *gpu, const struct rs_windows *windows)
{
    const struct mapping *m = windows->state;
    gpu->low = m->ipc ? windows->base[windows->my_local] : m->reserved;
    gpu->high = gpu->low + (m->ipc ? m->window_nbytes : m->reserved_nbytes);
}

int rs_gpu_window_make(struct rs_device *dev, struct rs_windows *windows, struct rs_window_export *export_out,
                       int *fd_out)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    struct mapping *m = calloc(1, sizeof *m);
    bool *mapped = calloc((size_t)windows->n_local, sizeof *mapped);
    *fd_out = -1;
    if (!m || !mapped) {
        free(m);
        free(mapped);
        return rs_fail(RS_E_NOMEM, "no memory for %d windows", windows->n_local);
    }
    *m = (struct mapping){.drv = gpu->drv, .gpu = gpu, .device = gpu->device, .mapped = mapped};
    windows->state = gpu->mapping = m;
    int code = gpu->drv->retain(gpu->drv, gpu->device, &m->context);
    if (code) {
        m->context = NULL;
        return rs_gpu_fail(gpu->drv, code, "keep the device's context");
    }
    struct export export = {.pid = (uint32_t)getpid(), .gpu = gpu->identity};
    size_t granularity = IPC_ALIGN;
    RS_TRY(rs_gpu_enter(gpu, &entry));
    bool vmm = !want_ipc && can_vmm(gpu, &granularity);
    export.ipc = !vmm;
    int rc = vmm ? make_vmm(gpu, windows, granularity, fd_out) : make_ipc(gpu, windows, &export);
    rs_gpu_leave(gpu, &entry);
    memcpy(export_out, &export, sizeof export);
    if (rc == 0) widen(gpu, windows);
    return rc;
}

int rs_gpu_window_open(struct rs_device *dev, struct rs_windows *windows, int local,
                       const struct rs_window_export *exported, int fd)
{
    struct rs_gpu *gpu = dev->state;
    struct mapping *m = windows->state;
    struct rs_gpu_entry entry;
    struct export export;
    memcpy(&export, exported, sizeof export);
    if ((bool)export.ipc != m->ipc)
        return rs_fail(
            RS_E_DEVICE,
            "its GPU shares memory in another way than the one here; set ROCSHMEM_HEAP_SHARING=ipc");
    RS_TRY(rs_gpu_enter(gpu, &entry));
    int rc = 0;
    if (m->ipc) {
        uintptr_t at = 0;
        int code = m->drv->ipc_open(m->drv, &at, &export.handle);
        if (code) rc = rs_gpu_fail(m->drv, code, "open the symmetric heap of another PE (no peer access?)");
        if (rc == 0) {
            m->mapped[local] = true;
            windows->base[local] = at;
        }
    } else {
        unsigned long long handle;
        int code = m->drv->vmm_import(&handle, (void *)(uintptr_t)fd, 1);
        rc = code ? rs_gpu_fail(m->drv, code, "import the symmetric heap of another PE")
                  : map_part(windows, local, handle);
    }
    rs_gpu_leave(gpu, &entry);
    return rc;
}

void rs_gpu_windows_part(struct rs_gpu *gpu, bool abandon)
{
    struct mapping *m = gpu->mapping;
    if (!m) return;
    m->gpu = NULL;
    gpu->mapping = NULL;
    m->abandoned = abandon;
}

void rs_gpu_windows_unmap(struct rs_windows *windows)
{
    struct mapping *m = windows->state;
    void *before = NULL;
    if (m && m->gpu) m->gpu->mapping = NULL;
    if (m && m->context && !m->abandoned) {
        m->drv->current(m->drv, &before);
        if (before != m->context) m->drv->set_current(m->drv, m->context);
        for (int i = 0; i < windows->n_local; i++) {
            if (!m->mapped[i]) continue;
            if (!m->ipc)
                m->drv->vmm_unmap(m->first + (size_t)i * windows->stride, m->window_nbytes);
            else if (i == windows->my_local)
                m->drv->free(windows->base[i]);
            else
                m->drv->ipc_close(windows->base[i]);
        }
        if (m->reserved) m->drv->vmm_unreserve(m->reserved, m->reserved_nbytes);
        if (before != m->context) m->drv->set_current(m->drv, before);
        m->drv->release(m->drv, m->device);
    }
    if (m) free(m->mapped);
    free(m);
    free(windows->base);
    windows->base = NULL;
    windows->state = NULL;
}

/* ---- words ---- */

struct rs_gpu_words {
    struct rs_gpu_words *next;
    void *words;
};

int rs_gpu_words_alloc(struct rs_device *dev, size_t nbytes, void **words_out)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    void *words = NULL;
    uintptr_t there = 0;
    struct rs_gpu_words *record = malloc(sizeof *record);
    if (!record) return rs_fail(RS_E_NOMEM, "no memory for %zu bytes of words", nbytes);
    int rc = rs_gpu_enter(gpu, &entry), code = 0;
    if (rc == 0) code = gpu->drv->host_alloc(&words, nbytes, gpu->drv->host_flags);
    if (rc == 0 && code == 0) code = gpu->drv->host_pointer(&there, words, 0);
    if (code) rc = rs_gpu_fail(gpu->drv, code, "give pinned memory");
    if (rc == 0 && (!words || there != (uintptr_t)words))
        rc = rs_fail(RS_E_UNSUPPORTED, "pinned memory has another address on the device, %p for %p",
                     (void *)there, words);
    if (rc < 0 && words) gpu->drv->host_free(words);
    rs_gpu_leave(gpu, &entry);
    if (rc < 0 || !words) { /* never the latter alone: the check above */
        free(record);
        return rc;
    }
    memset(words, 0, nbytes);
    pthread_mutex_lock(&gpu->lock);
    *record = (struct rs_gpu_words){gpu->pinned, words};
    gpu->pinned = record;
    pthread_mutex_unlock(&gpu->lock);
    *words_out = words;
    return 0;
}

void rs_gpu_words_free(struct rs_gpu *gpu)
{
    while (gpu->pinned) {
        struct rs_gpu_words *record = gpu->pinned;
        gpu->pinned = record->next;
        gpu->drv->host_free(record->words);
        free(record);
    }
}
