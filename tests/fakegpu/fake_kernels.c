/* SPDX-License-Identifier: MIT
 *
 * The runtime's kernels by name, run as functions of the host.
 */
#include <string.h>
#include <unistd.h>

#include "device/kernels/rs_request.h"
#include "fake.h"

void rs_kernel_amo(uint64_t *word, uint64_t value, uint64_t cond, uint64_t *result, uint64_t ticket,
                   uint32_t op, uint32_t width);
void rs_kernel_wait(const uint64_t *word, uint64_t value, uint32_t cmp);
void rs_kernel_serve(struct rs_request *requests, uint64_t ticket, uint32_t n);

void rs_kernel_reduce(unsigned char *dest, const unsigned char *source, uint64_t stride, uint64_t members,
                      uint64_t n, uint32_t kind, uint32_t op);

void fake_pause(void);
void fake_pause(void)
{
    usleep(20);
}

static void amo(const uint64_t *a)
{
    rs_kernel_amo((uint64_t *)a[0], a[1], a[2], (uint64_t *)a[3], a[4], (uint32_t)a[5], (uint32_t)a[6]);
}

static void wait(const uint64_t *a)
{
    rs_kernel_wait((const uint64_t *)a[0], a[1], (uint32_t)a[2]);
}

/* The words of the requests are addresses of the device. */
static void serve(const uint64_t *a)
{
    struct rs_request *requests = (struct rs_request *)a[0];
    for (uint32_t i = 0; i < (uint32_t)a[2]; i++) {
        struct rs_request r = requests[i];
        r.word = fake_cpu((uintptr_t)r.word, r.width);
        if (r.signal) r.signal = fake_cpu((uintptr_t)r.signal, 8);
        if (!r.word) continue; /* an illegal address: never done */
        rs_kernel_serve(&r, a[1], 1);
        requests[i].old = r.old;
        __atomic_store_n(&requests[i].done, r.done, __ATOMIC_RELEASE);
    }
}

static void reduce(const uint64_t *a)
{
    rs_kernel_reduce((unsigned char *)a[0], (const unsigned char *)a[1], a[2], a[3], a[4], (uint32_t)a[5],
                     (uint32_t)a[6]);
}

static const struct kernel kernels[] = {
    {"rs_kernel_amo", 7, 1u << 5 | 1u << 6, 1u << 0 | 1u << 3, amo},
    {"rs_kernel_wait", 3, 1u << 2, 1u << 0, wait},
    {"rs_kernel_serve", 3, 1u << 2, 1u << 0, serve},
    {"rs_kernel_reduce", 7, 1u << 5 | 1u << 6, 1u << 0 | 1u << 1, reduce},
};

const struct kernel *fake_kernel(const char *name)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
    return NULL;
}
