/* SPDX-License-Identifier: MIT
 *
 * What the hosts of a job tell each other while it runs: what broke it, that it exits, that a dump is wanted. On the
 * first PE of each host, where there are several hosts; elsewhere these do nothing.
 */
#ifndef RS_PGAS_NEWS_H
#define RS_PGAS_NEWS_H

#include <stdint.h>

#include "bootstrap/bootstrap.h"
#include "bootstrap/vigil.h"

struct rs_job;
struct rs_news_desk;

/* Before the exchange that tells PE 0's address, and with it. */
int rs_news_open(struct rs_job *job, unsigned char address_out[RS_VIGIL_ADDRESS_NBYTES]);
void rs_news_address(struct rs_job *job, const unsigned char address[RS_VIGIL_ADDRESS_NBYTES]);
/* When the board is there. Also where init has failed meanwhile, with rc < 0, which it gives back: the first host waits
 * for all others. nonce: the job's. */
int rs_news_start(struct rs_job *job, const struct rs_bootstrap *bootstrap, uint64_t nonce, int rc);
/* The job is broken, and this PE may end as soon as its program hears of it: first let the other hosts hear why, for half
 * a second at most. */
void rs_news_flush(struct rs_job *job);
/* This PE leaves: that its host is silent from here on is no loss. */
void rs_news_close(struct rs_job *job);

#endif
