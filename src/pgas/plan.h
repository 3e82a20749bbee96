/* SPDX-License-Identifier: MIT
 *
 * Which algorithm a collective uses, as a table for readers: what collective.c and stream_collective.c do on
 * one host, and over several.
 */
#ifndef RS_PGAS_PLAN_H
#define RS_PGAS_PLAN_H

/* Print the table to a descriptor. */
void rs_plan_print(int fd);

#endif
