/* SPDX-License-Identifier: MIT
 *
 * Parts of the library that are shared objects of their own, because they need libraries that not every machine has.
 */
#ifndef RS_BASE_PLUGIN_H
#define RS_BASE_PLUGIN_H

#include <stddef.h>

/* Load "librocshmem_x.so" and find a symbol in it. It lies beside the library that this code is in, or, for a tool, in
 * the lib folder beside the tool's; if not there, the dynamic linker looks for it. Once loaded it stays. NULL: reason
 * says why, in the linker's words. */
void *rs_plugin_symbol(const char *name, const char *symbol, char *reason, size_t nbytes);

#endif
