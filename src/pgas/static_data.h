/* SPDX-License-Identifier: MIT
 *
 * The global and static variables of the program as a second symmetric region (OpenSHMEM 1.5, Memory Model).
 * The writable data segment of the executable is copied into memory that all PEs of the host map, and mapped
 * back in place: the program goes on with the addresses that it has. The same offset from the segment's start
 * names the same variable on every PE, wherever the executable was loaded.
 *
 * Only while no other thread writes these variables: what one stores between the copy and the mapping is
 * lost. A forked child gets a private copy (as it was at the fork), so that parent and child don't share
 * variables.
 */
#ifndef RS_PGAS_STATIC_DATA_H
#define RS_PGAS_STATIC_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rs_static_data {
    uintptr_t base;      /* of this PE's variables: whole pages */
    size_t nbytes;       /* 0: not symmetric */
    uintptr_t bss;       /* from here on, a page that was never touched is zero */
    uint64_t program;    /* equal in processes that run the same executable */
    unsigned char *view; /* owned: all local PEs' variables, nbytes each; NULL: not shared */
    int n_local;
    int fd;        /* owned while shared: tells which pages were ever written */
    size_t offset; /* of this PE's copy in fd */
};

/* Whether the next job is to have them; process-wide. */
void rs_static_data_want(bool on);
bool rs_static_data_wanted(void);
/* Where this program's variables are. UNSUPPORTED when they can't be shared; nbytes 0 when there are none. */
int rs_static_data_find(struct rs_static_data *data);
/* Share them: fd (borrowed) has room for n_local copies. 0 or a status; then nothing has changed. */
int rs_static_data_share(struct rs_static_data *data, int fd, int n_local, int my_local);
/* Give this process its private variables back, with their present values. Not shared is fine. */
void rs_static_data_unshare(struct rs_static_data *data);

/* The loaded object around an address: its file name, "" for the executable, NULL when there is none. */
const char *rs_static_data_object(const void *p);

static inline bool rs_static_data_contains(const struct rs_static_data *data, const void *p)
{
    return (uintptr_t)p - data->base < data->nbytes; /* wraps to a huge offset below base */
}
/* Member local's copy of a variable of mine, minus mine. */
static inline ptrdiff_t rs_static_data_shift(const struct rs_static_data *data, int local, int my_local)
{
    if (!data->view || local == my_local) return 0;
    return (ptrdiff_t)((uintptr_t)data->view + (size_t)local * data->nbytes - data->base);
}

#endif
