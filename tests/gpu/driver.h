/* SPDX-License-Identifier: MIT
 *
 * The few functions of the GPU's driver that the tests need beside the runtime: found by name, so that one
 * program serves both vendors.
 */
#ifndef TESTS_GPU_DRIVER_H
#define TESTS_GPU_DRIVER_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct driver {
    int (*begin)(void *stream, int mode);
    int (*end)(void *stream, void **graph);
    int (*instantiate)(void **exec, void *graph, unsigned long long flags);
    int (*hip_instantiate)(void **exec, void *graph, void **node, char *log, size_t nbytes);
    int (*launch)(void *exec, void *stream);
    int (*exec_destroy)(void *exec);
    int (*graph_destroy)(void *graph);
    int (*current)(void **context); /* CUDA */
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    int (*set_current)(void *context);
    int (*sync)(void *stream);
    int (*memory)(size_t *free_nbytes, size_t *all_nbytes);
    int (*alloc)(uintptr_t *ptr, size_t nbytes); /* CUDA */
    int (*free)(uintptr_t ptr);
    int (*copy)(uintptr_t dst, uintptr_t src, size_t nbytes, void *stream); /* CUDA: device to device */
};

static inline void *driver_symbol(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        printf("FAIL the driver has no %s\n", name);
        exit(2);
    }
    return symbol;
}

static inline struct driver driver_open(int hip)
{
    static const char *const names[][2] = {{"cuStreamBeginCapture_v2", "hipStreamBeginCapture"},
                                           {"cuStreamEndCapture", "hipStreamEndCapture"},
                                           {"cuGraphLaunch", "hipGraphLaunch"},
                                           {"cuGraphExecDestroy", "hipGraphExecDestroy"},
                                           {"cuGraphDestroy", "hipGraphDestroy"},
                                           {"cuStreamSynchronize", "hipStreamSynchronize"}};
    struct driver d = {0};
    static const char *const libraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
    const char *given = getenv("ROCSHMEM_GPU_LIBRARY");
    void *library = hip ? NULL : dlopen("libcuda.so.1", RTLD_NOW);
    if (hip && given && given[0]) library = dlopen(given, RTLD_NOW);
    for (int i = 0; hip && !library && i < 3; i++) library = dlopen(libraries[i], RTLD_NOW);
    void **slots[] = {(void **)&d.begin,        (void **)&d.end,           (void **)&d.launch,
                      (void **)&d.exec_destroy, (void **)&d.graph_destroy, (void **)&d.sync};
    if (!library) {
        printf("FAIL the driver cannot be opened\n");
        exit(2);
    }
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        *slots[i] = driver_symbol(library, names[i][hip]);
    if (hip) {
        *(void **)&d.hip_instantiate = driver_symbol(library, "hipGraphInstantiate");
    } else {
        *(void **)&d.instantiate = driver_symbol(library, "cuGraphInstantiateWithFlags");
        *(void **)&d.current = driver_symbol(library, "cuCtxGetCurrent");
        *(void **)&d.copy = driver_symbol(library, "cuMemcpyDtoDAsync_v2");
        *(void **)&d.memory = driver_symbol(library, "cuMemGetInfo_v2");
        *(void **)&d.alloc = driver_symbol(library, "cuMemAlloc_v2");
        *(void **)&d.free = driver_symbol(library, "cuMemFree_v2");
        *(void **)&d.init = driver_symbol(library, "cuInit");
        *(void **)&d.retain = driver_symbol(library, "cuDevicePrimaryCtxRetain");
        *(void **)&d.set_current = driver_symbol(library, "cuCtxSetCurrent");
    }
    return d;
}

#endif
