/* SPDX-License-Identifier: MIT
 *
 * The only place that waits. A wait polls inline (rs_wait_pause), then yields the core, then sleeps 20 us
 * doubling to 1 ms. Slow ticks, at least one a millisecond of waiting, look at what the job hands down in
 * struct rs_watch: the abort record, the liveness of the PEs, the time-out, the interrupt hook. So nothing
 * waits for ever for a dead peer.
 *
 *     struct rs_wait wait;
 *     rs_wait_begin(&wait, watch);
 *     while (atomic_load_explicit(word, memory_order_acquire) != value) {
 *         int rc = rs_wait_pause(&wait);
 *         if (rc < 0) return rc;
 *     }
 *
 * No futex: every sleep is a timed sleep of at most 1 ms, so there is no wake-up to miss, and the words
 * waited on may be written by anything (a put, a store through rocshmem_ptr, a GPU).
 */
#ifndef RS_BASE_WAIT_H
#define RS_BASE_WAIT_H

#include <stdint.h>

struct rs_wait;

/* What a waiter looks at; owned by the job, constant while it lives. */
struct rs_watch {
    uint32_t spin_count; /* polls before the first yield; 0 with more PEs than cores */
    /* A slow tick: 0 to go on, or a negative status (worded). first: the wait's first one. waited_ns: since
     * it began. */
    int (*tick)(void *arg, uint64_t waited_ns, int first);
    /* Between any two polls, where what is waited for may come through this process itself: a network. How much came;
     * while something does, no wait sleeps. NULL: no need. */
    unsigned (*progress)(void *arg);
    /* The sleep of such a wait: at most ns, or until something comes. */
    void (*doze)(void *arg, uint64_t ns);
    void *arg;
};

struct rs_wait {
    const struct rs_watch *watch; /* may be NULL: then only sleeps */
    uint32_t polls, spin_count;   /* polls so far (saturating), and how many come before a yield */
    uint32_t yields, came;        /* came: progress has had something since the clock was read */
    uint64_t start_ns, tick_ns;   /* 0 until the first yield; the next slow tick */
    uint64_t busy_ns;             /* when something came last; at first start_ns */
    uint64_t sleep_ns;
};

static inline void rs_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

static inline void rs_wait_begin(struct rs_wait *wait, const struct rs_watch *watch)
{
    wait->watch = watch;
    wait->polls = wait->yields = wait->came = 0;
    wait->spin_count = watch ? watch->spin_count : 0;
    wait->start_ns = 0;
}

int rs_wait_slow(struct rs_wait *wait);

/* Between two polls. 0, or a negative status: stop waiting. */
static inline int rs_wait_pause(struct rs_wait *wait)
{
    if (wait->watch && wait->watch->progress && wait->watch->progress(wait->watch->arg) > 0) wait->came = 1;
    if (wait->polls < wait->spin_count) {
        wait->polls++;
        rs_cpu_relax();
        return 0;
    }
    return rs_wait_slow(wait);
}

/* Sleep, for threads of ours that have nothing to wait on (nobody else may call nanosleep). */
void rs_wait_sleep_ns(uint64_t ns);

#endif
