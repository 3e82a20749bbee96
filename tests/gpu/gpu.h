/* SPDX-License-Identifier: MIT
 *
 * What the cases of rocshmem-gpu-test share: who this PE is, patterns, streams, graphs; and the cases that are not in
 * gpu.c. The CPU touches none of the heap.
 */
#ifndef TESTS_GPU_GPU_H
#define TESTS_GPU_GPU_H

#include <rocshmem/rocshmemx.h>
#include <stdbool.h>

#include "driver.h"

extern int me, n_pes, n_failed;
extern struct driver driver;
extern bool hip;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            __atomic_fetch_add(&n_failed, 1, __ATOMIC_RELAXED);                                              \
            printf("PE %d: line %d: not true: %s\n", me, __LINE__, #condition);                              \
        }                                                                                                    \
    } while (0)

static inline int right(void)
{
    return (me + 1) % n_pes;
}
static inline int left(void)
{
    return (me + n_pes - 1) % n_pes;
}
static inline void fill(unsigned char *p, size_t n, int seed)
{
    for (size_t i = 0; i < n; i++) p[i] = (unsigned char)((size_t)seed * 131 + i * 7 + (i >> 8));
}
static inline bool filled(const unsigned char *p, size_t n, int seed)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != (unsigned char)((size_t)seed * 131 + i * 7 + (i >> 8))) return false;
    return true;
}
static inline uint64_t word_of(const uint64_t *word)
{
    uint64_t value = 0;
    rocshmem_getmem(&value, word, sizeof value, me);
    return value;
}
static inline void *stream_new(void)
{
    void *stream = NULL;
    CHECK(rocshmemx_stream_create(&stream) == 0);
    return stream;
}
static inline void stream_end(void *stream)
{
    CHECK(rocshmemx_stream_synchronize(stream) == 0);
    CHECK(rocshmemx_stream_destroy(stream) == 0);
}
extern void *captured; /* the graph behind the last graph_of */
static inline void graph_end(void *exec)
{
    if (exec) CHECK(driver.exec_destroy(exec) == 0);
    if (captured) CHECK(driver.graph_destroy(captured) == 0);
    captured = NULL;
}
static inline void *graph_of(void *stream)
{
    void *graph = NULL, *exec = NULL;
    CHECK(driver.end(stream, &graph) == 0);
    if (!graph) return NULL;
    CHECK((hip ? driver.hip_instantiate(&exec, graph, NULL, NULL, 0) : driver.instantiate(&exec, graph, 0)) ==
          0);
    captured = graph;
    return exec;
}
static inline void check_collectives(const unsigned char *dest, size_t n, const char *what, int seed)
{
    unsigned char *in = malloc(n * (size_t)n_pes);
    rocshmem_getmem(in, dest, n * (size_t)n_pes, me);
    for (int pe = 0; pe < n_pes; pe++)
        if (!filled(in + (size_t)pe * n, n, pe * 17 + me + seed)) {
            n_failed++;
            printf("PE %d: %s: block %d is wrong\n", me, what, pe);
        }
    free(in);
}

/* large.c */
void transfers_that_are_begun_complete(void);
void large_collectives_run_side_by_side(void);
void a_full_gpu_is_an_error_on_every_pe(void);
void the_heap_grows(void);

#endif
