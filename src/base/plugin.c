/* SPDX-License-Identifier: MIT
 *
 * Finds plug-ins. One that is there but can't be loaded (what it needs is not there, or it is damaged) is the answer: no
 * other place is tried then.
 */
#include "base/plugin.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Any address of this library serves. */
static const char here = 0;

/* The linker's last error; true when it says that the file itself is not there. */
static bool is_absent(const char *name, char *reason, size_t nbytes)
{
    char absent[128];
    const char *error = dlerror();
    snprintf(reason, nbytes, "%s", error ? error : "no reason given");
    snprintf(absent, sizeof absent, "%s: cannot open shared object file", name);
    return strstr(reason, absent) != NULL;
}

static void *load(const char *name, char *reason, size_t nbytes)
{
    static const char *const beside[] = {"", "../lib/"};
    char path[4096];
    Dl_info self;
    const char *slash = NULL;
    if (dladdr(&here, &self) && self.dli_fname) slash = strrchr(self.dli_fname, '/');
    for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
        snprintf(path, sizeof path, "%.*s/%s%s", (int)(slash - self.dli_fname), self.dli_fname, beside[i],
                 name);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
        if (!is_absent(name, reason, nbytes)) return NULL;
    }
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) (void)is_absent(name, reason, nbytes);
    return library;
}

void *rs_plugin_symbol(const char *name, const char *symbol, char *reason, size_t nbytes)
{
    void *library = load(name, reason, nbytes);
    void *found = library ? dlsym(library, symbol) : NULL;
    if (library && !found) (void)is_absent(name, reason, nbytes);
    return found;
}
