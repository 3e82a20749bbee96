/* SPDX-License-Identifier: MIT
 *
 * The device code: loaded when the first kernel is needed, which may be while a graph is captured. For CUDA
 * it is PTX text that is built in and that the driver compiles (and keeps in its cache); for HIP, or in its
 * place, the file that ROCSHMEM_GPU_KERNELS names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "device/gpu.h"

#pragma GCC diagnostic ignored "-Woverlength-strings"
static const char ptx[] =
#include "device/kernels/generated/kernels_ptx.inc"
    ;

static const char *const names[RS_GPU_KERNELS] = {"rs_kernel_amo", "rs_kernel_wait", "rs_kernel_serve",
                                                  "rs_kernel_reduce"};

/* The file's bytes and one 0 behind; the caller frees. */
static int read_file(const char *path, char **out)
{
    FILE *file = fopen(path, "rb");
    long nbytes = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) nbytes = ftell(file);
    if (nbytes < 0 || fseek(file, 0, SEEK_SET) != 0) {
        if (file) fclose(file);
        return rs_fail(RS_E_CONFIG, "ROCSHMEM_GPU_KERNELS is '%s', which cannot be read: %s", path,
                       strerror(errno));
    }
    char *bytes = calloc(1, (size_t)nbytes + 1);
    size_t got = bytes ? fread(bytes, 1, (size_t)nbytes, file) : 0;
    fclose(file);
    if (got != (size_t)nbytes) {
        free(bytes);
        return rs_fail(RS_E_CONFIG, "ROCSHMEM_GPU_KERNELS is '%s', which cannot be read", path);
    }
    *out = bytes;
    return 0;
}

int rs_gpu_no_kernels(const struct rs_gpu *gpu)
{
    return rs_fail(RS_E_UNSUPPORTED,
                   "atomics and some waits need device code, and this build has none for %s; build "
                   "src/device/kernels/kernels.c for this GPU and set ROCSHMEM_GPU_KERNELS",
                   gpu->drv->name);
}

bool rs_gpu_has_kernels(const struct rs_gpu *gpu)
{
    return gpu->drv->vendor == RS_GPU_VENDOR_CUDA || gpu->kernels[0];
}

static int load_locked(struct rs_gpu *gpu)
{
    char *file = NULL;
    const void *image = gpu->drv->vendor == RS_GPU_VENDOR_CUDA ? ptx : NULL;
    if (gpu->kernels[0]) {
        RS_TRY(read_file(gpu->kernels, &file));
        image = file;
    }
    if (!image) return rs_gpu_no_kernels(gpu);
    int mode = 2; /* relaxed: loading is no part of a capture */
    gpu->drv->capture_mode(&mode);
    int code = gpu->drv->module_load(&gpu->module, image);
    for (int i = 0; code == 0 && i < RS_GPU_KERNELS; i++)
        code = gpu->drv->module_function(&gpu->functions[i], gpu->module, names[i]);
    gpu->drv->capture_mode(&mode);
    free(file);
    if (code == 0) return 0;
    gpu->module = NULL;
    memset(gpu->functions, 0, sizeof gpu->functions);
    return rs_gpu_fail(gpu->drv, code, "load the device code");
}

bool rs_gpu_kernels_loaded(struct rs_gpu *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    bool loaded = gpu->functions[RS_GPU_KERNELS - 1] != NULL;
    pthread_mutex_unlock(&gpu->lock);
    return loaded;
}

int rs_gpu_launch(struct rs_gpu *gpu, enum rs_gpu_kernel kernel, unsigned blocks, unsigned threads,
                  void *stream, void **arguments)
{
    pthread_mutex_lock(&gpu->lock);
    int rc = gpu->functions[RS_GPU_KERNELS - 1] ? 0 : load_locked(gpu);
    void *function = gpu->functions[kernel];
    pthread_mutex_unlock(&gpu->lock);
    if (rc < 0) return rc;
    int code = gpu->drv->launch(function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, NULL);
    return code == 0 ? 0 : rs_gpu_fail_stream(gpu, code, "launch a kernel", stream);
}

void rs_gpu_kernels_unload(struct rs_gpu *gpu)
{
    if (gpu->module) gpu->drv->module_unload(gpu->module);
    gpu->module = NULL;
    memset(gpu->functions, 0, sizeof gpu->functions);
}
