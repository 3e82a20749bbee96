/* SPDX-License-Identifier: MIT
 *
 * Checked mode as an observer of calls (probe.h): races between what PEs do to symmetric memory, and sources of
 * non-blocking puts that change before quiet. What it finds is the error of the call that finds it, or with "warn" a line
 * on stderr. What it knows of the job is handed to it.
 */
#ifndef RS_OBSERVE_CHECK_H
#define RS_OBSERVE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/probe.h"
#include "observe/race.h"

/* Constant from init to finalize. */
struct rs_check_of {
    struct rs_race *race;      /* of this host */
    int my_pe, n_pes;          /* of the world */
    bool warn;                 /* print and go on */
    bool far;                  /* there are PEs on other hosts */
    uintptr_t base, data_base; /* of this PE's heap, and of its symmetric static data */
    size_t nbytes, data_nbytes;
    /* The place of a PE among those of this host, -1: on another one; and back. */
    int (*local_of)(void *arg, int pe);
    int (*world_of)(void *arg, int local);
    /* The line of the program that called, as text. */
    void (*where)(char out[RS_SEEN_WHERE]);
    /* "0x7f... + 16 (heap offset 16)" of an address of this PE's. */
    void (*place)(void *arg, const void *p, char *out, size_t nbytes);
    void *arg;
};

struct rs_check;

/* prober_out is to be added to the job's. NOMEM. */
int rs_check_create(struct rs_check **check_out, const struct rs_check_of *of, struct rs_prober *prober_out);
void rs_check_destroy(struct rs_check *check); /* NULL is fine */

/* A read or write that the program says it does itself, in symmetric memory of this PE. 0 or CHECK. */
int rs_check_note(struct rs_check *check, uint32_t call, const void *p, size_t nbytes, bool write);
/* Words an alarm: the status CHECK, or 0 when it was printed as a warning. */
int rs_check_alarm(bool warn, const char *text) __attribute__((cold));

#endif
