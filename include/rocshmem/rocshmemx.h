/* SPDX-License-Identifier: MIT
 *
 * What this runtime adds to the rocSHMEM API: errors, host streams, job facts, lifetimes of symmetric memory.
 * Every function here is an extension; rocshmem.h stays comparable with upstream line by line. C11 and C++.
 */
#ifndef ROCSHMEM_ROCSHMEMX_H
#define ROCSHMEM_ROCSHMEMX_H

#include <stddef.h>
#include <stdint.h>

#include "rocshmem.h"

#ifdef __cplusplus
namespace rocshmem
{
extern "C" {
#endif

/* Every status of the runtime: X(name, value, text). 0 is success. Functions of the API that return a status
 * return one of these, or 0. */
/* clang-format off */
#define ROCSHMEMX_STATUSES(X)                                                            \
    X(ARG,         -1,  "an argument is wrong")                                          \
    X(STATE,       -2,  "called before rocshmem_init or after rocshmem_finalize")        \
    X(NOMEM,       -3,  "out of memory")                                                 \
    X(SYSTEM,      -4,  "a system call failed")                                          \
    X(PEER,        -5,  "another PE died or left")                                       \
    X(MISMATCH,    -6,  "PEs disagree about a collective call")                          \
    X(TIMEOUT,     -7,  "waited longer than ROCSHMEM_TIMEOUT")                           \
    X(INTERRUPTED, -8,  "interrupted by a signal handler")                               \
    X(BROKEN,      -9,  "the job was broken by an earlier failure")                      \
    X(BOOTSTRAP,   -10, "the PEs could not find each other")                             \
    X(UNSUPPORTED, -11, "not offered by this device or transport")                       \
    X(DEVICE,      -12, "the device reported a failure")                                 \
    X(CONFIG,      -13, "an environment variable has a bad value")                       \
    X(LIMIT,       -14, "a limit was reached")                                           \
    X(BUG,         -15, "a defect of this library")                                      \
    X(CHECK,       -16, "ROCSHMEM_CHECK found a mistake of the program")
/* clang-format on */
#define ROCSHMEMX_STATUS_(name, value, text) ROCSHMEMX_E_##name = (value),
enum rocshmemx_status { ROCSHMEMX_OK = 0, ROCSHMEMX_STATUSES(ROCSHMEMX_STATUS_) };
#undef ROCSHMEMX_STATUS_

/** One failure. */
typedef struct {
    int status;     /* enum rocshmemx_status, never 0 */
    int pe;         /* the PE the failure is about, -1 if about none */
    char op[64];    /* the API function that failed */
    char text[960]; /* what could not be done, the argument, its value, the remedy; one line, no full stop */
} rocshmemx_error_t;

typedef void (*rocshmemx_error_handler_t)(const rocshmemx_error_t *error, void *arg);

/** Replace the handler that is called when a function without a status result fails.
 *  handler  NULL restores the default: print the message on stderr, end the job with status 1
 *  arg      handed to each call of handler
 *  Local, process-wide, allowed before rocshmem_init. The handler runs in the failing thread; when it
 *  returns, the function that failed returns too (a fetch gives 0), having changed nothing. Source: extension.
 *  Since 0.1. */
ROCSHMEM_API void rocshmemx_set_error_handler(rocshmemx_error_handler_t handler, void *arg);
/** What the default handler does: print "rocshmem: PE n: op: text" on stderr, end the job with status 1. For handlers
 *  that only change what is said. Never returns. Any thread, any time. Source: extension. Since 0.2. */
ROCSHMEM_API void rocshmemx_default_error(const rocshmemx_error_t *error);

/** Take this thread's last failure out of its slot.
 *  error_out  filled when there is one; NULL: the message is dropped
 *  Returns its status, or 0 when there was none since the last call. Functions that return a status, or NULL,
 *  leave their message here and do not call the handler.
 *  Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_take_error(rocshmemx_error_t *error_out);

/** The constant text for a status, for example "an argument is wrong"; "unknown status" for others. Never
 * NULL. Source: extension. Since 0.1. */
ROCSHMEM_API const char *rocshmemx_status_text(int status);

/** Let a language runtime run its signal handlers inside our waits.
 *  hook  called every few milliseconds by a thread that waits; non-zero ends the wait with INTERRUPTED; NULL
 *  removes it Local, process-wide. Interrupting a collective breaks the job: later collectives fail on every
 *  PE and say so. Source: extension. Since 0.1. */
ROCSHMEM_API void rocshmemx_set_interrupt_hook(int (*hook)(void *arg), void *arg);

/** Let a language runtime say where the program of the calling thread is, for state dumps.
 *  hook  writes a text such as "train.py:41 in step" to out, of nbytes bytes, and gives 1; 0 when it does not know; NULL
 *  removes it. in_handler: it is called in a signal handler, at any point of the thread: only what is async-signal-safe
 *  Local, process-wide. Source: extension. Since 0.2. */
ROCSHMEM_API void
rocshmemx_set_location_hook(int (*hook)(void *arg, int in_handler, char *out, size_t nbytes), void *arg);

/** Make the global and static variables of the executable symmetric in the jobs that this process joins from now on:
 *  their addresses are good wherever a symmetric address is asked for. All PEs must run the same executable and
 *  agree on this (init checks both).
 *  on  1 from the next init on, 0 no more
 *  Local, before init: the data segment is replaced by shared memory, in place, during init, so no other thread may
 *  write such variables then. A fork()ed child has copies of its own. Variables of shared libraries stay private.
 *  Returns 0, or STATE inside a job. Init fails with UNSUPPORTED for programs whose segments can't be shared.
 *  Source: OpenSHMEM 1.5, Memory Model; extension here. Since 0.2. */
ROCSHMEM_API int rocshmemx_static_data(int on);

/** The team of the PEs start, start + stride, ..., size of them: an active set of OpenSHMEM's deprecated collectives. Its
 *  members alone make it when each calls this for the first time (which waits for the others); later calls look it up.
 *  start, stride, size  start >= 0, stride >= 1, size >= 1, all PEs inside the job, this PE among them
 *  team_out             receives the team; rocshmem_team_destroy leaves it alone
 *  Returns 0 or a status: ARG, LIMIT (ROCSHMEM_MAX_NUM_TEAMS), PEER, BROKEN, TIMEOUT, INTERRUPTED, STATE.
 *  Source: extension. Since 0.2. */
ROCSHMEM_API int rocshmemx_active_set(int start, int stride, int size, rocshmem_team_t *team_out);

/** 1 between rocshmem_init and rocshmem_finalize, else 0. Any thread, any time.
 *  Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_initialized(void);

/** The version of this library, "0.2.0"; static.
 *  Source: extension. Since 0.1. */
ROCSHMEM_API const char *rocshmemx_version(void);

/** The kind of device that holds the symmetric heap: "host", "cuda" or "hip"; "none" before init. Static.
 *  Source: extension. Since 0.1. */
ROCSHMEM_API const char *rocshmemx_device_name(void);

/** The ordinal of this PE's device; 0 on the host device, -1 before init.
 *  Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_device_ordinal(void);

/** Wait for all work this process enqueued on the current device; on the host device: drain every host
 * stream. Allowed before init (does nothing then). Errors: what the enqueued operations failed with -> error
 * handler. Source: extension (upstream's Python hip_device_synchronize). Since 0.1. */
ROCSHMEM_API void rocshmemx_device_synchronize(void);

/** Make the GPU of this PE current: LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID, SLURM_LOCALID,
 *  FLUX_TASK_LOCAL_ID, PALS_LOCAL_RANKID (the first that is set), modulo the number of devices.
 *  Without a GPU, or without such a variable, nothing happens. Returns 0, or a status (a variable that is no
 *  number). Source: extension (upstream's Python set_hip_device_from_env). Since 0.1. */
ROCSHMEM_API int rocshmemx_set_device_from_env(void);

/** Create an in-order queue of work on the host device.
 *  stream_out  receives a handle, to be given to the _on_stream functions
 *  Local. Returns 0 or a status. Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_stream_create(void **stream_out);
/** Wait for a host stream's work, then give its handle back. 0 or a status (ARG: unknown stream, or the
 * default one). Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_stream_destroy(void *stream);
/** Wait for all work enqueued on a stream before the call; NULL is the default stream. 0, or the status the
 * first failed operation left. Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_stream_synchronize(void *stream);
/** 1 when a stream has no work left, 0 when it has, negative status for an unknown stream. Never blocks.
 *  Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_stream_query(void *stream);

/** Bytes of one PE's symmetric heap: all, in use (with rounding), and the largest block that malloc could
 * give now. Any pointer may be NULL. 0 or STATE. Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_heap_info(size_t *nbytes_out, size_t *used_out, size_t *largest_free_out);

/** rocshmem_malloc, _align or _calloc where PEs may ask for different sizes: each gets a block of the largest. OpenSHMEM
 *  leaves that undefined, and programs do it.
 *  alignment  a power of two; 0: that of rocshmem_malloc
 *  size       bytes; 0 on this PE: NULL, and this PE takes no part
 *  zeroed     1: all of the block is 0
 *  Collective over the job. Returns the block, or NULL with a message as that of the three it stands for, and in
 *  its name; ARG besides (alignment is no power of two). Source: extension. Since 0.2. */
ROCSHMEM_API void *rocshmemx_malloc_largest(size_t alignment, size_t size, int zeroed);

/** Keep the memory of one allocation from being reused, and its window mapped, for as long as the hold lives.
 *  ptr       any address inside a live symmetric allocation
 *  hold_out  receives an opaque handle for rocshmemx_release
 *  Local, thread safe. 0 or ARG. Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_hold(const void *ptr, void **hold_out);
/** End a hold. Local, thread safe, never blocks, allowed after rocshmem_finalize (the last hold unmaps the
 * window). NULL is a no-op. Source: extension. Since 0.1. */
ROCSHMEM_API void rocshmemx_release(void *hold);
/** Declare that this PE will not use an allocation any more, without a collective call: the block is released
 * by the first world malloc, calloc, align, free or finalize after every PE has dropped it. ptr  the address
 * malloc gave. Local, thread safe, never blocks. A second drop, or a freed block: no-op. Source: extension.
 * Since 0.1. */
ROCSHMEM_API void rocshmemx_drop(void *ptr);
/** The allocation that an address of this PE's own window lies in: its start and its size in bytes as asked.
 *  Returns 1, or 0 when there is none. Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_allocation(const void *ptr, void **base_out, size_t *nbytes_out);

/** Tell checked mode (ROCSHMEM_CHECK, docs/checked-mode.md) of loads from, or stores to, this PE's own symmetric memory that
 *  it can't see: a race with another PE's access is then found. A write of up to 8 bytes is also taken for a flag.
 *  ptr     symmetric address of this PE      nbytes  how many bytes from there
 *  Local, thread safe; does nothing but check its arguments without checked mode. 0, STATE, ARG, or CHECK (a race).
 *  Source: extension. Since 0.2. */
ROCSHMEM_API int rocshmemx_note_read(const void *ptr, size_t nbytes);
ROCSHMEM_API int rocshmemx_note_write(const void *ptr, size_t nbytes);

/** What this PE sent and fetched since init or rocshmem_reset_stats. */
typedef struct {
    uint64_t puts, put_nbytes; /* put, put_signal, p: host and on-stream forms */
    uint64_t gets, get_nbytes; /* get, g */
    uint64_t amos;             /* atomic operations, signal operations without data */
    uint64_t waits,
        collectives; /* waits on local words; barriers, syncs and data collectives (0 towards one PE) */
} rocshmemx_stats_t;
/** Read the always-on counters.
 *  pe  a peer, or -1 for the sum over all
 *  Local. 0 or a status. Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_get_stats(int pe, rocshmemx_stats_t *stats_out);

/** Write the state of every PE of this host (its current or last call, how long it has waited, for whom) to a
 * file descriptor. What SIGUSR1, a time-out and rocshmem-run --timeout print. 0 or a status. Source:
 * extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_dump_state(int fd);

/** Print facts about this library and machine (versions, devices, transports, launcher, variables) to a
 * descriptor.
 *  what  NULL or "all"; "version"; "environment" (docs/environment.md); "launch" (the launcher, and why not another
 *        one); "support" (docs/support.md)
 *  Local; allowed before init. 0 or ARG. Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_print_info(int fd, const char *what);

/** Serve a unique id's rendezvous from a process that is no PE, such as a launcher.
 *  loopback_only  listen on the loopback interface only
 *  uid_out        as rocshmem_get_uniqueid fills it
 *  0 or a status. The service thread ends with the process. Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_serve_uniqueid(int loopback_only, rocshmem_uniqueid_t *uid_out);
/** Tell a rendezvous that this process serves that a PE will not come: PEs that wait for it in init, now or
 * later, fail at once with BOOTSTRAP, its number and the text. The first PE lost counts. uid   as
 * rocshmemx_serve_uniqueid gave it     pe  its number     text  what became of it: "was killed by signal 9"
 *  Local. 0 or ARG. Source: extension. Since 0.1. */
ROCSHMEM_API int rocshmemx_serve_lost(const rocshmem_uniqueid_t *uid, int pe, const char *text);

#ifdef __cplusplus
}
} // namespace rocshmem
#endif
#endif

#if defined(__cplusplus) && !defined(ROCSHMEM_HPP_READS_IT)
using namespace rocshmem;
#endif
