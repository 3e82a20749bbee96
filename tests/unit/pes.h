/* SPDX-License-Identifier: MIT
 *
 * PEs as threads: several struct rs_job in one process, over one piece of memory for the board and one for
 * the windows, built by hand as init builds them. What runs in a PE's thread uses CHECK, not cmocka's
 * assertions: those leave by longjmp to another thread's stack.
 */
#ifndef RS_TESTS_UNIT_PES_H
#define RS_TESTS_UNIT_PES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/job.h"

#define PES_MOST 8

struct pes {
    int n, max_teams;
    size_t heap_nbytes, stride;
    uint64_t hosts[PES_MOST];        /* of each PE: any number */
    unsigned char *boards[PES_MOST]; /* of each host, by its first PE */
    unsigned char *windows;
    struct rs_job *jobs[PES_MOST];
};

/* Never returns a half: what cannot be built ends the program. */
void pes_create(struct pes *pes, int n, int max_teams, size_t heap_nbytes);
/* The same on several hosts: PE i on hosts[i]. Between them is a network of copies; what streams begin on it
 * is done when somebody waits. */
void pes_create_on(struct pes *pes, const uint64_t *hosts, int n, int max_teams, size_t heap_nbytes);
void pes_destroy(struct pes *pes);
/* body on a thread for each PE, attached to its job; returns when all have returned. */
void pes_run(struct pes *pes, void (*body)(struct rs_job *job, void *arg), void *arg);
/* pes_run with fresh PEs, in numbers from first to last: 1, 2, 3, 5, 8. */
void pes_of_sizes(size_t heap_nbytes, int first, int last, void (*body)(struct rs_job *job, void *arg),
                  void *arg);
/* The same with the PEs on one host, on one each, by twos, by turns on two hosts, and one apart from the others. */
void pes_of_shapes(size_t heap_nbytes, int first, int last, void (*body)(struct rs_job *job, void *arg),
                   void *arg);
enum { PES_SHAPES = 5 };
/* The hosts of n PEs in one of these shapes; false: it is another one too. */
bool pes_shape(int shape, int n, uint64_t hosts[PES_MOST]);
/* n plain threads with numbers; returns when all have returned. */
void pes_threads(int n, void (*body)(int number, void *arg), void *arg);

/* This PE's copy of the heap's byte at offset. */
static inline unsigned char *pes_at(const struct rs_job *job, size_t offset)
{
    return (unsigned char *)job->heap.base + offset; /* NOLINT: an address */
}
/* Another PE's copy of a word of this one's, on whatever host: they are threads after all. */
static inline uint64_t *pes_other(const struct rs_job *job, int pe, uint64_t *mine)
{
    return mine + (pe - job->my_pe) * (ptrdiff_t)(job->heap.window->windows.stride / sizeof *mine);
}
/* A signature of a call on a team. */
struct rs_signature pes_call(const struct rs_team *team, enum rs_call call, enum rs_kind kind, uint64_t a,
                             uint64_t b, uint64_t c);

/* rs_collective_barrier with the signature of rocshmem_barrier. */
int pes_barrier(struct rs_team *team);

/* A small generator: equal seeds, equal numbers. */
uint64_t pes_random(uint64_t *state);
/* What is written to the descriptor that write(fd, arg) gets; at most nbytes - 1. */
void pes_text_of(void (*write)(int fd, const void *arg), const void *arg, char *out, size_t nbytes);

_Noreturn void check_failed(const char *file, int line, const char *what);
#define CHECK(x) ((x) ? (void)0 : check_failed(__FILE__, __LINE__, #x))

#endif
