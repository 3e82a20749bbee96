/* SPDX-License-Identifier: MIT
 *
 * Slurm's node lists: names with one or more bracketed sets of numbers, "gpu[03-07,12],login1". Only the first host
 * matters here.
 */
#include <stdio.h>
#include <string.h>

#include "bootstrap/launchers.h"

bool rs_slurm_first_host(const char *list, char *out, size_t nbytes)
{
    size_t n = 0;
    while (*list && *list != ',') {
        if (*list == '[') { /* its first number, with the zeros in front */
            size_t digits = strcspn(list + 1, "-,]");
            const char *end = strchr(list, ']');
            if (!end || digits == 0 || n + digits >= nbytes) return false;
            memcpy(out + n, list + 1, digits);
            n += digits;
            list = end + 1;
        } else {
            if (n + 1 >= nbytes) return false;
            out[n++] = *list++;
        }
    }
    if (nbytes) out[n] = '\0';
    return n > 0;
}
