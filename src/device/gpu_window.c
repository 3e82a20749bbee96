/* SPDX-License-Identifier: MIT
 *
 * Windows in GPU memory. Two ways, of which all PEs of a host use one: virtual memory whose parts travel as
 * descriptors, side by side in one reservation; or an allocation each, opened by IPC handle at an address of
 * the driver's choice. Which one it is, an export says. In the first way a window begins with the part behind
 * its heap, and the heap gets parts when they are needed; in the second everything is there from the start.
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

/* [at, at + nbytes) of every window, each PE's in memory of its own. */
struct part {
    struct part *next;
    size_t at, nbytes;
    bool mapped[]; /* n_local */
};
struct mapping {
    const struct rs_gpu_driver *drv;
    struct rs_gpu *gpu; /* while it is open */
    int device;
    void *context;
    bool ipc;
    bool abandoned;     /* the device never became idle: unmapping would wait for ever */
    uintptr_t reserved; /* the start of the reservation; 0: none */
    uintptr_t first;    /* of the first window in it */
    size_t reserved_nbytes, granularity;
    struct part *parts;   /* owned, the newest first */
    size_t window_nbytes; /* by IPC */
    bool *mapped;         /* by IPC; owned, n_local */
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

/* Map a handle (taken over) as the newest part of window local. */
static int map_part(const struct rs_windows *windows, int local, unsigned long long handle)
{
    struct mapping *m = windows->state;
    struct part *part = m->parts;
    uintptr_t at = m->first + (size_t)local * windows->stride + part->at;
    struct rs_gpu_access access = {.location = {.type = 1, .id = m->device}, .flags = 3};
    int code = m->drv->vmm_map(at, part->nbytes, 0, handle, 0);
    m->drv->vmm_release(handle); /* the mapping holds the memory */
    if (code) return rs_gpu_fail(m->drv, code, "map a symmetric heap");
    part->mapped[local] = true;
    code = m->drv->vmm_access(at, part->nbytes, &access, 1);
    if (code == 0) return 0;
    m->drv->vmm_unmap(at, part->nbytes);
    part->mapped[local] = false;
    return rs_gpu_fail(m->drv, code, "reach the GPU of another PE");
}

/* Also of a part half made. */
static void drop_newest(const struct rs_windows *windows)
{
    struct mapping *m = windows->state;
    struct part *part = m->parts;
    m->parts = part->next;
    for (int i = 0; i < windows->n_local; i++)
        if (part->mapped[i])
            m->drv->vmm_unmap(m->first + (size_t)i * windows->stride + part->at, part->nbytes);
    free(part);
}

/* Memory of this PE's device as the newest part, behind a descriptor for the others. The first failure of
 * the driver is *code_out, which is worded only when there is none. */
static int make_part(const struct rs_windows *windows, size_t at, size_t nbytes, int *fd_out, int *code_out)
{
    struct mapping *m = windows->state;
    struct rs_gpu_prop prop = prop_of(m->device);
    unsigned long long handle;
    struct part *part = calloc(1, sizeof *part + (size_t)windows->n_local * sizeof *part->mapped);
    *code_out = 0;
    if (!part) return rs_fail(RS_E_NOMEM, "no memory for a part of %d windows", windows->n_local);
    int code = m->drv->vmm_create(&handle, nbytes, &prop, 0);
    if (code) {
        free(part);
        *code_out = code;
        return code == 2 ? RS_E_NOMEM : RS_E_DEVICE;
    }
    part->at = at;
    part->nbytes = nbytes;
    part->next = m->parts;
    m->parts = part;
    if (windows->n_local > 1) {
        code = m->drv->vmm_export(fd_out, handle, 1, 0);
        if (code) {
            *fd_out = -1;
            m->drv->vmm_release(handle);
            return rs_gpu_fail(m->drv, code, "export a symmetric heap");
        }
    }
    return map_part(windows, windows->my_local, handle);
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

/* What is behind the heap. The heap grows if its parts fit the device's. */
static int make_vmm(struct rs_gpu *gpu, struct rs_windows *windows, size_t granularity, int *fd_out)
{
    struct mapping *m = windows->state;
    int code;
    windows->align = ALIGN;
    m->granularity = granularity;
    windows->grows = windows->heap_nbytes % granularity == 0;
    size_t at = windows->grows ? windows->heap_nbytes : 0;
    size_t nbytes = (windows->nbytes - at + granularity - 1) / granularity * granularity;
    RS_TRY(reserve(windows, m));
    int rc = make_part(windows, at, nbytes, fd_out, &code);
    windows->base[windows->my_local] = m->first + (size_t)windows->my_local * windows->stride;
    return rc < 0 && code ? rs_fail(rc,
                                    "device %d has no %zu bytes for a symmetric heap; lower "
                                    "ROCSHMEM_HEAP_SIZE",
                                    gpu->device, nbytes)
                          : rc;
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
    gpu->stride = m->ipc ? 0 : windows->stride;
}

int rs_gpu_window_make(struct rs_device *dev, struct rs_windows *windows, struct rs_window_export *export_out,
                       int *fd_out)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    struct mapping *m = calloc(1, sizeof *m);
    bool *mapped = calloc((size_t)windows->n_local, sizeof *mapped);
    gpu->shares = calloc((size_t)windows->n_local, sizeof *gpu->shares);
    *fd_out = -1;
    if (!m || !mapped || !gpu->shares) {
        free(m);
        free(mapped);
        return rs_fail(RS_E_NOMEM, "no memory for %d windows", windows->n_local);
    }
    gpu->shares[windows->my_local] = true;
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

/* Can this device's memory operations reach the one that is called so? Where it is not to be seen here (it is hidden by
 * a variable), no. Where the driver does not say, it is tried. */
static bool reaches(const struct rs_gpu *gpu, const struct rs_gpu_uuid *identity)
{
    const struct rs_gpu_driver *drv = gpu->drv;
    int n = 0, can = 0;
    if (!drv->can_reach || drv->device_count(&n) != 0) return true;
    for (int i = 0; i < n; i++) {
        struct rs_gpu_uuid each;
        int device;
        if (drv->get_device(&device, i) != 0 || drv->identity(drv, device, &each) != 0) continue;
        if (memcmp(&each, identity, sizeof each) == 0)
            return drv->can_reach(&can, gpu->device, device) == 0 && can;
    }
    return false;
}

/* A window that is not mapped here gets addresses by which it can be told: those that are reserved for it anyhow, or
 * any that nobody else has. */
static int name(struct rs_windows *windows, int local)
{
    struct mapping *m = windows->state;
    if (!windows->named) windows->named = calloc((size_t)windows->n_local, sizeof *windows->named);
    if (!windows->named) return rs_fail(RS_E_NOMEM, "no memory for %d windows", windows->n_local);
    uintptr_t at = m->first + (size_t)local * windows->stride;
    if (m->ipc) {
        void *base;
        RS_TRY(rs_os_reserve(windows->stride, &base));
        at = (uintptr_t)base;
    }
    windows->named[local] = true;
    windows->base[local] = at;
    rs_log(RS_LOG_INFO, "device %d can't reach that of the PE with local number %d: through the host",
           m->device, local);
    return 0;
}

int rs_gpu_window_open(struct rs_device *dev, struct rs_windows *windows, int local,
                       const struct rs_window_export *exported, int fd)
{
    struct rs_gpu *gpu = dev->state;
    struct mapping *m = windows->state;
    struct rs_gpu_entry entry;
    struct export export;
    memcpy(&export, exported, sizeof export);
    gpu->shares[local] = memcmp(&export.gpu, &gpu->identity, sizeof export.gpu) == 0;
    if (!gpu->shares[local] && !reaches(gpu, &export.gpu)) return name(windows, local);
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
        windows->base[local] = m->first + (size_t)local * windows->stride;
    }
    rs_gpu_leave(gpu, &entry);
    return rc;
}

/* ---- growing ---- */

int rs_gpu_window_grow(struct rs_device *dev, struct rs_windows *windows, size_t at, size_t nbytes,
                       int *fd_out)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    struct mapping *m = windows->state;
    struct part *before = m->parts;
    int code = 0, mode = 2; /* relaxed: this is no part of a capture in this thread */
    *fd_out = -1;
    RS_TRY(rs_gpu_enter(gpu, &entry));
    gpu->drv->capture_mode(&mode);
    int rc = make_part(windows, at, nbytes, fd_out, &code);
    if (rc < 0 && code) rs_gpu_fail(gpu->drv, code, "make memory for a symmetric heap");
    if (rc < 0 && m->parts != before) drop_newest(windows);
    gpu->drv->capture_mode(&mode);
    rs_gpu_leave(gpu, &entry);
    if (rc < 0 && *fd_out >= 0) close(*fd_out);
    if (rc < 0) *fd_out = -1;
    return rc;
}

int rs_gpu_window_grown(struct rs_device *dev, struct rs_windows *windows, int local, int fd)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    unsigned long long handle;
    int mode = 2;
    if (windows->named && windows->named[local]) return 0; /* its PE has it */
    RS_TRY(rs_gpu_enter(gpu, &entry));
    gpu->drv->capture_mode(&mode);
    int code = gpu->drv->vmm_import(&handle, (void *)(uintptr_t)fd, 1);
    int rc = code ? rs_gpu_fail(gpu->drv, code, "import a part of the symmetric heap of another PE")
                  : map_part(windows, local, handle);
    gpu->drv->capture_mode(&mode);
    rs_gpu_leave(gpu, &entry);
    return rc;
}

void rs_gpu_window_shrink(struct rs_device *dev, struct rs_windows *windows)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    if (rs_gpu_enter(gpu, &entry) < 0) return; /* stays mapped: no harm but the memory */
    drop_newest(windows);
    rs_gpu_leave(gpu, &entry);
}

int rs_gpu_memory(struct rs_device *dev, size_t *free_out, size_t *all_out)
{
    struct rs_gpu *gpu = dev->state;
    struct rs_gpu_entry entry;
    *free_out = *all_out = 0;
    if (!gpu->drv->memory_info) return rs_fail(RS_E_UNSUPPORTED, "this driver tells no free memory");
    RS_TRY(rs_gpu_enter(gpu, &entry));
    int code = gpu->drv->memory_info(free_out, all_out);
    rs_gpu_leave(gpu, &entry);
    return code ? rs_gpu_fail(gpu->drv, code, "tell the free memory") : 0;
}

/* ---- the end ---- */

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
        while (m->parts) drop_newest(windows);
        for (int i = 0; i < windows->n_local; i++) {
            if (!m->mapped[i]) continue;
            if (i == windows->my_local)
                m->drv->free(windows->base[i]);
            else
                m->drv->ipc_close(windows->base[i]);
        }
        if (m->reserved) m->drv->vmm_unreserve(m->reserved, m->reserved_nbytes);
        if (before != m->context) m->drv->set_current(m->drv, before);
        m->drv->release(m->drv, m->device);
    }
    for (int i = 0; m && m->ipc && windows->named && i < windows->n_local; i++)
        if (windows->named[i]) rs_os_unmap((void *)windows->base[i], windows->stride);
    while (m && m->parts) { /* abandoned */
        struct part *part = m->parts;
        m->parts = part->next;
        free(part);
    }
    if (m) free(m->mapped);
    free(m);
    free(windows->named);
    free(windows->base);
    windows->named = NULL;
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
    int rc = rs_gpu_enter(gpu, &entry), code = 0, mode = 2; /* relaxed: this is no part of a capture */
    gpu->drv->capture_mode(&mode);
    if (rc == 0) code = gpu->drv->host_alloc(&words, nbytes, gpu->drv->host_flags);
    if (rc == 0 && code == 0) code = gpu->drv->host_pointer(&there, words, 0);
    gpu->drv->capture_mode(&mode);
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
