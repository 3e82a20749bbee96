/* SPDX-License-Identifier: MIT
 *
 * Copies of elements by the CPU, in which no element of 1, 2, 4 or 8 bytes is torn.
 */
#ifndef RS_BASE_COPY_H
#define RS_BASE_COPY_H

#include <stddef.h>
#include <string.h>

/* n elements of width bytes, to_step and from_step bytes apart. With a constant width of up to 16 it is a loop of loads
 * and stores; give it constant steps too where there are. */
static inline __attribute__((always_inline)) void rs_copy_elements(unsigned char *to, size_t to_step,
                                                                   const unsigned char *from,
                                                                   size_t from_step, size_t n, size_t width)
{
    for (; n > 0; n--, to += to_step, from += from_step) {
        unsigned char element[16];
        memcpy(element, from, width);
        memcpy(to, element, width);
    }
}

#endif
