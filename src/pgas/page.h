/* SPDX-License-Identifier: MIT
 *
 * The page of a state dump, of a job on several hosts. Part of a news desk: everything here is called by the vigil's
 * thread of a host's first PE, and never waits.
 */
#ifndef RS_PGAS_PAGE_H
#define RS_PGAS_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "bootstrap/vigil.h"

struct rs_job;
struct rs_pages;

/* NULL: no memory. destroy: NULL is fine. */
struct rs_pages *rs_pages_create(int n_hosts);
void rs_pages_destroy(struct rs_pages *pages);

/* Every 20 ms: hand on what this host's PEs wish, and go on with a page. */
void rs_pages_look(struct rs_pages *pages, struct rs_job *job, struct rs_vigil *vigil);
/* DUMP, SEEN and PAGED. */
void rs_pages_hear(struct rs_pages *pages, struct rs_job *job, struct rs_vigil *vigil,
                   const struct rs_news *news);
/* A host was lost: it is not waited for. A page comes, if one is due. */
void rs_pages_lost(struct rs_pages *pages, struct rs_job *job, struct rs_vigil *vigil,
                   const struct rs_news *lost);
/* Host 0 is lost: no page comes any more. */
void rs_pages_abandon(struct rs_pages *pages, struct rs_job *job);
/* Pages that have come to their end so far, printed or not. */
uint32_t rs_pages_n_done(const struct rs_pages *pages);

#endif
