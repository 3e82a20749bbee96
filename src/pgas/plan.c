/* SPDX-License-Identifier: MIT
 *
 * The limits are the constants that the algorithms compare with; the words are theirs.
 */
#include "pgas/plan.h"

#include <stdio.h>

#include "pgas/collective.h"

void rs_plan_print(int fd)
{
    dprintf(fd, "collectives  barrier, sync: every member polls every member's line\n");
    dprintf(fd,
            "             broadcast: up to %d bytes in the root's line, every %dth waits for all; above: "
            "pulled\n",
            RS_INLINE_NBYTES, RS_RING - 2);
    dprintf(fd, "             alltoall: up to %d bytes a member in its line; above: pulled\n",
            RS_INLINE_NBYTES);
    dprintf(fd, "             fcollect: up to %d bytes a block in the lines; above: pulled\n",
            RS_INLINE_NBYTES);
    dprintf(
        fd,
        "             reduce: up to %d bytes in the lines; above: each member reduces and stores its share\n",
        RS_INLINE_NBYTES);
    dprintf(fd, "             on stream: flags, then pulled; %d of one team may be in flight\n",
            RS_STREAM_RING);
}
