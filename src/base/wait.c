/* SPDX-License-Identifier: MIT
 *
 * The slow half of every wait. The inline half (wait.h) polls; here a wait yields the core for a while, then
 * sleeps 20 us doubling to 1 ms. Called by any thread; keeps all its state in the caller's struct rs_wait.
 */
#include "base/wait.h"

#include <sched.h>
#include <time.h>

#include "base/os.h"
#include "base/status.h"

/* A yield costs about half a microsecond when another PE is ready to run, and less when none is; sleeping at
 * all costs 50 us of timer slack. So a wait yields for about 2 ms before its first sleep. */
#define YIELD_NS 2000000u
#define SLEEP_MIN_NS 20000u
#define SLEEP_MAX_NS 1000000u
/* The clock is read every so many yields only. */
#define YIELDS_A_LOOK 16u
#define TICK_NS 1000000u

void rs_wait_sleep_ns(uint64_t ns)
{
    struct timespec span = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    nanosleep(&span, NULL); /* an early return (a signal) only means one poll more */
}

static int look(struct rs_wait *wait, uint64_t now)
{
    if (now < wait->tick_ns) return 0;
    int first = wait->tick_ns == wait->start_ns;
    wait->tick_ns = now + TICK_NS;
    if (!wait->watch || !wait->watch->tick) return 0;
    return wait->watch->tick(wait->watch->arg, now - wait->start_ns, first);
}

int rs_wait_slow(struct rs_wait *wait)
{
    wait->yields++;
    if (wait->start_ns == 0) {
        if (wait->yields < YIELDS_A_LOOK) {
            sched_yield();
            return 0;
        }
        wait->start_ns = wait->tick_ns = wait->busy_ns = rs_os_now_ns();
        wait->sleep_ns = SLEEP_MIN_NS;
        return look(wait, wait->start_ns);
    }
    if (wait->sleep_ns == SLEEP_MIN_NS) { /* still in the yielding phase */
        sched_yield();
        if (wait->yields % YIELDS_A_LOOK) return 0;
        uint64_t now = rs_os_now_ns();
        if (wait->came) wait->busy_ns = now;
        wait->came = 0;
        if (now - wait->busy_ns > YIELD_NS) wait->sleep_ns = SLEEP_MIN_NS + 1;
        return look(wait, now);
    }
    if (wait->watch && wait->watch->doze)
        wait->watch->doze(wait->watch->arg, wait->sleep_ns);
    else
        rs_wait_sleep_ns(wait->sleep_ns);
    uint64_t now = rs_os_now_ns();
    wait->sleep_ns = wait->sleep_ns * 2 < SLEEP_MAX_NS ? wait->sleep_ns * 2 : SLEEP_MAX_NS;
    if (wait->came) { /* and more may: back to yielding */
        wait->busy_ns = now;
        wait->came = 0;
        wait->sleep_ns = SLEEP_MIN_NS;
    }
    return look(wait, now);
}
