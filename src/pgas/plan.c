/* SPDX-License-Identifier: MIT
 *
 * The limits are the constants that the algorithms compare with; the words are theirs.
 */
#include "pgas/plan.h"

#include <stdio.h>

#include "pgas/collective.h"
#include "pgas/step.h"

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
    dprintf(fd,
            "             over hosts: the first member of each host gathers its host's lines, and exchanges "
            "them\n"
            "             in log2(hosts) rounds; broadcast above %d bytes: pulled by each host once, along a "
            "tree\n"
            "             above %d hosts; fcollect: a host's members share the pulling; reduce: shares go "
            "from host\n"
            "             to host and back, in the team's order, where its hosts do not alternate\n",
            RS_INLINE_NBYTES, RS_SPAN_FEW);
    dprintf(fd, "             on stream: flags, then pulled; %d of one team may be in flight\n",
            RS_STREAM_RING);
}
