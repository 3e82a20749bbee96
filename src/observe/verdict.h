/* SPDX-License-Identifier: MIT
 *
 * What a state dump comes to, in one sentence: who waits for whom, and why that does not end.
 */
#ifndef RS_OBSERVE_VERDICT_H
#define RS_OBSERVE_VERDICT_H

#include <stddef.h>

#include "observe/seen.h"

/* seen: ordered by PE, a PE's threads in a row. marks: n bytes of the caller's to work with. Writes a sentence without
 * its end; touches nothing else, allocates nothing. */
void rs_verdict(const struct rs_seen *seen, int n, unsigned char *marks, char *out, size_t nbytes);

#endif
