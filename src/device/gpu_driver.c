/* SPDX-License-Identifier: MIT
 *
 * Opens libcuda or libamdhip64 and fills the table; the adapters. The functions are called through
 * prototypes of ours, whose handle types differ in name from the vendor's, not in the binary interface: this
 * is why the check of indirect calls' types (-fsanitize=function) can't be used on this file.
 */
#include "device/gpu_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/status.h"

/* ---- adapters: CUDA ---- */

static int cuda_identity(const struct rs_gpu_driver *drv, int device, struct rs_gpu_uuid *out)
{
    return drv->cuda_identity(out, device);
}
static int cuda_retain(const struct rs_gpu_driver *drv, int device, void **context_out)
{
    return drv->cuda_retain(context_out, device);
}
static int cuda_release(const struct rs_gpu_driver *drv, int device)
{
    return drv->cuda_release(device);
}
static int cuda_current(const struct rs_gpu_driver *drv, void **context_out)
{
    return drv->cuda_current(context_out);
}
static int cuda_set_current(const struct rs_gpu_driver *drv, void *context)
{
    return drv->cuda_set_current(context);
}
static int cuda_current_device(const struct rs_gpu_driver *drv, int *device_out)
{
    void *context = NULL;
    *device_out = -1;
    int code = drv->cuda_current(&context);
    return code || !context ? code : drv->cuda_ctx_device(device_out);
}
static int cuda_sync(const struct rs_gpu_driver *drv)
{
    return drv->cuda_sync();
}
static int cuda_alloc(const struct rs_gpu_driver *drv, uintptr_t *ptr_out, size_t nbytes)
{
    return drv->cuda_alloc(ptr_out, nbytes);
}
static int cuda_copy(const struct rs_gpu_driver *drv, uintptr_t dst, uintptr_t src, size_t nbytes,
                     void *stream)
{
    return drv->cuda_copy(dst, src, nbytes, stream);
}
static int cuda_ipc_open(const struct rs_gpu_driver *drv, uintptr_t *ptr_out, const struct rs_gpu_ipc *handle)
{
    return drv->cuda_ipc_open(ptr_out, *handle, 1); /* lazy peer access: the only flag there is */
}
static int cuda_wait64(const struct rs_gpu_driver *drv, void *stream, uintptr_t word, uint64_t value,
                       unsigned flags)
{
    return drv->cuda_wait64(stream, word, value, flags);
}
static bool cuda_is_pageable(const struct rs_gpu_driver *drv, const void *ptr)
{
    unsigned type = 0;
    return drv->cuda_attribute(&type, 2 /* the type of memory */, (uintptr_t)ptr) != 0 || type == 0;
}
static void cuda_error_text(const struct rs_gpu_driver *drv, int code, char *out, size_t nbytes)
{
    const char *text = NULL;
    if (drv->cuda_error(code, &text) != 0 || !text) text = "unknown error";
    snprintf(out, nbytes, "%s", text);
}

/* ---- adapters: HIP, whose "context" is a device's number plus one ---- */

static int hip_identity(const struct rs_gpu_driver *drv, int device, struct rs_gpu_uuid *out)
{
    return drv->hip_identity(out, device);
}
static int hip_retain(const struct rs_gpu_driver *drv, int device, void **context_out)
{
    (void)drv;
    *context_out = (void *)((uintptr_t)device + 1);
    return 0;
}
static int hip_release(const struct rs_gpu_driver *drv, int device)
{
    (void)drv;
    (void)device;
    return 0;
}
static int hip_current(const struct rs_gpu_driver *drv, void **context_out)
{
    int device = 0;
    int code = drv->hip_current(&device);
    *context_out = (void *)((uintptr_t)device + 1);
    return code;
}
static int hip_set_current(const struct rs_gpu_driver *drv, void *context)
{
    return context ? drv->hip_set_current((int)((uintptr_t)context - 1)) : 0;
}
static int hip_current_device(const struct rs_gpu_driver *drv, int *device_out)
{
    int code = drv->hip_current(device_out);
    if (code == 0 && *device_out == 0) *device_out = -1; /* 0 is also the device of who chose none */
    return code;
}
static int hip_sync(const struct rs_gpu_driver *drv)
{
    return drv->hip_sync();
}
/* Coarse memory is coherent only between kernels: a peer that polls it may never see a store. So uncached
 * memory (3, which headers before 5.3 don't name), else fine-grained (1); never plain hipMalloc. */
static int hip_alloc(const struct rs_gpu_driver *drv, uintptr_t *ptr_out, size_t nbytes)
{
    void *ptr = NULL;
    int code = drv->hip_alloc(&ptr, nbytes, 3);
    if (code) code = drv->hip_alloc(&ptr, nbytes, 1);
    *ptr_out = (uintptr_t)ptr;
    return code;
}
static int hip_copy(const struct rs_gpu_driver *drv, uintptr_t dst, uintptr_t src, size_t nbytes,
                    void *stream)
{
    return drv->hip_copy((void *)dst, (const void *)src, nbytes, 4 /* found out from the addresses */,
                         stream);
}
/* The flag that must be given is 1 in the headers of 6.x and 0 in those of 5.x. */
static int hip_ipc_open(const struct rs_gpu_driver *drv, uintptr_t *ptr_out, const struct rs_gpu_ipc *handle)
{
    void *ptr = NULL;
    int code = drv->hip_ipc_open(&ptr, *handle, 1);
    if (code) code = drv->hip_ipc_open(&ptr, *handle, 0);
    *ptr_out = (uintptr_t)ptr;
    return code;
}
static int hip_wait64(const struct rs_gpu_driver *drv, void *stream, uintptr_t word, uint64_t value,
                      unsigned flags)
{
    return drv->hip_wait64(stream, (void *)word, value, flags, UINT64_MAX);
}
/* Unknown memory is an error in 5.x, and a type of its own, 0, from 6.0 on. */
static bool hip_is_pageable(const struct rs_gpu_driver *drv, const void *ptr)
{
    struct rs_gpu_pointer_attributes attributes = {0};
    if (drv->hip_attributes(&attributes, ptr) != 0) return true;
    return drv->version >= 60000000 && attributes.type == 0;
}
static void hip_error_text(const struct rs_gpu_driver *drv, int code, char *out, size_t nbytes)
{
    const char *(*name)(int) = NULL; /* it returns the text: no row of the list */
    *(void **)&name = dlsym(drv->handle, "hipGetErrorString");
    snprintf(out, nbytes, "%s", name ? name(code) : "unknown error");
}

/* ---- loading ---- */

#define ROW_(member, args, cuda, hip) {offsetof(struct rs_gpu_driver, member), {#cuda, #hip}},
struct symbol {
    size_t slot;
    const char *name[2];
};
static const struct symbol common[] = {RS_GPU_COMMON(ROW_)}, own_cuda[] = {RS_GPU_CUDA(ROW_)},
                           own_hip[] = {RS_GPU_HIP(ROW_)}, optional[] = {RS_GPU_NEW(ROW_)},
                           vmm[] = {RS_GPU_VMM(ROW_)};
#undef ROW_
#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* The name of the first symbol that is missing, or NULL. */
static const char *load(struct rs_gpu_driver *drv, const struct symbol *symbols, size_t n)
{
    const char *missing = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *name = symbols[i].name[drv->vendor];
        void *address = dlsym(drv->handle, name);
        memcpy((char *)drv + symbols[i].slot, &address, sizeof address);
        if (!address && !missing) missing = name;
    }
    return missing;
}

static void adapt_cuda(struct rs_gpu_driver *drv)
{
    drv->name = "cuda";
    drv->not_ready = 600;
    drv->host_flags = 3; /* portable, mapped */
    drv->wait_unsigned = false;
    drv->identity = cuda_identity;
    drv->retain = cuda_retain;
    drv->release = cuda_release;
    drv->current = cuda_current;
    drv->set_current = cuda_set_current;
    drv->current_device = cuda_current_device;
    drv->sync = cuda_sync;
    drv->alloc = cuda_alloc;
    drv->copy = cuda_copy;
    drv->ipc_open = cuda_ipc_open;
    drv->wait64 = cuda_wait64;
    drv->is_pageable = cuda_is_pageable;
    drv->error_text = cuda_error_text;
}

static void adapt_hip(struct rs_gpu_driver *drv)
{
    drv->name = "hip";
    drv->not_ready = 600;
    drv->host_flags = 3 | 0x40000000; /* portable, mapped, coherent */
    drv->wait_unsigned = true;
    drv->identity = hip_identity;
    drv->retain = hip_retain;
    drv->release = hip_release;
    drv->current = hip_current;
    drv->set_current = hip_set_current;
    drv->current_device = hip_current_device;
    drv->sync = hip_sync;
    drv->alloc = hip_alloc;
    drv->copy = hip_copy;
    drv->ipc_open = hip_ipc_open;
    drv->wait64 = hip_wait64;
    drv->is_pageable = hip_is_pageable;
    drv->error_text = hip_error_text;
}

static const char *open_library(struct rs_gpu_driver *drv, const char *library)
{
    static const char *const cuda[] = {"libcuda.so.1", NULL};
    static const char *const hip[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", NULL};
    const char *given[] = {library, NULL}, *const *names = drv->vendor == RS_GPU_VENDOR_CUDA ? cuda : hip;
    if (library && library[0]) names = given;
    const char *last = names[0];
    for (; *names && !drv->handle; names++) {
        last = *names;
        drv->handle = dlopen(last, RTLD_NOW | RTLD_LOCAL);
        if (drv->handle) drv->library = last;
    }
    return drv->handle ? NULL : last;
}

/* NULL, or what is wrong, in why. */
static bool open_driver(struct rs_gpu_driver *drv, const char *library, char *why, size_t nbytes)
{
    const char *tried = open_library(drv, library), *missing = NULL;
    if (tried) {
        snprintf(why, nbytes, "no driver: %s cannot be opened", tried);
        return false;
    }
    if (drv->vendor == RS_GPU_VENDOR_CUDA) {
        adapt_cuda(drv);
        missing = load(drv, own_cuda, LENGTH(own_cuda));
    } else {
        adapt_hip(drv);
        missing = load(drv, own_hip, LENGTH(own_hip));
    }
    const char *also = load(drv, common, LENGTH(common));
    load(drv, optional, LENGTH(optional));
    const char *no_vmm = load(drv, vmm, LENGTH(vmm));
    if (missing || also) {
        snprintf(why, nbytes, "%s has no %s; a newer driver is needed", drv->library,
                 missing ? missing : also);
        return false;
    }
    int code = drv->init(0);
    if (code) {
        char text[128];
        drv->error_text(drv, code, text, sizeof text);
        snprintf(why, nbytes, "%s does not start: %s (%d)", drv->library, text, code);
        return false;
    }
    code = drv->vendor == RS_GPU_VENDOR_CUDA ? drv->cuda_version(&drv->version)
                                             : drv->hip_version(&drv->version);
    /* HIP has batches from 6.4 on; before, the symbol may be there and refuse. */
    if (drv->vendor == RS_GPU_VENDOR_HIP && drv->version < 60400000) drv->batch = NULL;
    /* HIP: exported by descriptor from 7.0 on, and its import takes the descriptor's value from 7.1 on. */
    drv->vmm = !no_vmm && code == 0 && (drv->vendor == RS_GPU_VENDOR_CUDA || drv->version >= 70100000);
    rs_log(RS_LOG_INFO, "%s driver %s, version %d", drv->name, drv->library, drv->version);
    return true;
}

const struct rs_gpu_driver *rs_gpu_driver_get(enum rs_gpu_vendor vendor, const char *library, char *why,
                                              size_t nbytes)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct rs_gpu_driver drivers[2];
    static bool opened[2];
    struct rs_gpu_driver *drv = &drivers[vendor];
    pthread_mutex_lock(&lock);
    if (!opened[vendor]) { /* a failed try is made again: the variable may be another one */
        memset(drv, 0, sizeof *drv);
        drv->vendor = vendor;
        opened[vendor] = open_driver(drv, library, why, nbytes);
        if (!opened[vendor] && drv->handle) dlclose(drv->handle);
    }
    bool ok = opened[vendor];
    pthread_mutex_unlock(&lock);
    return ok ? drv : NULL;
}

int rs_gpu_stream_of_ours(const struct rs_gpu_driver *drv, void **stream_out)
{
    enum {
        APART = 1,
        FIRST = -100
    }; /* from the default stream; the drivers take the highest that they have */
    *stream_out = NULL;
    int code = drv->stream_urgent ? drv->stream_urgent(stream_out, APART, FIRST)
                                  : drv->stream_create(stream_out, APART);
    if (code) *stream_out = NULL;
    return code;
}

int rs_gpu_fail(const struct rs_gpu_driver *drv, int code, const char *what)
{
    char text[200];
    drv->error_text(drv, code, text, sizeof text);
    return rs_fail(code == 2 ? RS_E_NOMEM : RS_E_DEVICE, "the %s driver could not %s: %s (error %d)",
                   drv->name, what, text, code);
}
