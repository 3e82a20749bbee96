/* SPDX-License-Identifier: MIT
 *
 * UCX makes its descriptors without close-on-exec, in threads of its own too, and has no setting for it. A program that a PE
 * starts would inherit them, and while it ran, the connections of a PE that had died would stay open. So the calls of UCX's
 * libraries that make descriptors are led here: their slots in the tables that the linker filled get our functions, which ask
 * for the same with close-on-exec. Nobody else's calls change. Where a table can't be read or written, all stays as it was.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "transport/ucx/library.h"

#if defined(__x86_64__)
enum { CALLED = R_X86_64_JUMP_SLOT, TAKEN = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { CALLED = R_AARCH64_JUMP_SLOT, TAKEN = R_AARCH64_GLOB_DAT };
#else
enum { CALLED = -1, TAKEN = -1 }; /* not tried there */
#endif

/* ---- what is called in their place ---- */

static int own_socket(int domain, int type, int protocol)
{
    return socket(domain, type | SOCK_CLOEXEC, protocol);
}

static int own_accept(int fd, struct sockaddr *address, socklen_t *nbytes)
{
    return accept4(fd, address, nbytes, SOCK_CLOEXEC);
}

static int own_pipe(int ends[2])
{
    return pipe2(ends, O_CLOEXEC);
}

static int own_epoll_create(int size)
{
    (void)size; /* without meaning since Linux 2.6.8, but for its sign */
    return epoll_create1(EPOLL_CLOEXEC);
}

static int own_timerfd_create(int clock, int flags)
{
    return timerfd_create(clock, flags | TFD_CLOEXEC);
}

static int own_eventfd(unsigned count, int flags)
{
    return eventfd(count, flags | EFD_CLOEXEC);
}

/* Not variadic, as open is: on these machines arguments travel alike, and a mode that was not given is not looked at. */
static int own_open(const char *path, int flags, mode_t mode)
{
    return open(path, flags | O_CLOEXEC, mode);
}

static const struct {
    const char *name;
    void (*function)(void);
} own[] = {
    {"socket", (void (*)(void))own_socket},
    {"accept", (void (*)(void))own_accept},
    {"pipe", (void (*)(void))own_pipe},
    {"epoll_create", (void (*)(void))own_epoll_create},
    {"timerfd_create", (void (*)(void))own_timerfd_create},
    {"eventfd", (void (*)(void))own_eventfd},
    {"open", (void (*)(void))own_open},
    {"open64", (void (*)(void))own_open},
};

/* ---- the tables ---- */

struct library { /* of a loaded one, what its dynamic section says */
    ElfW(Addr) base;
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * tables[2];
    size_t nbytes[2];
    uintptr_t sealed, sealed_end; /* made read-only once the linker was done */
};

static void read_dynamic(struct library *library, const ElfW(Dyn) * entry)
{
    bool is_rela = true;
    for (; entry->d_tag != DT_NULL; entry++) {
        const void *at = (const void *)entry->d_un.d_ptr; /* NOLINT: an address; the linker has made it one */
        if (entry->d_tag == DT_SYMTAB) library->symbols = at;
        if (entry->d_tag == DT_STRTAB) library->names = at;
        if (entry->d_tag == DT_JMPREL) library->tables[0] = at;
        if (entry->d_tag == DT_PLTRELSZ) library->nbytes[0] = entry->d_un.d_val;
        if (entry->d_tag == DT_PLTREL) is_rela = entry->d_un.d_val == DT_RELA;
        if (entry->d_tag == DT_RELA) library->tables[1] = at;
        if (entry->d_tag == DT_RELASZ) library->nbytes[1] = entry->d_un.d_val;
    }
    if (!is_rela || !library->symbols || !library->names) library->nbytes[0] = library->nbytes[1] = 0;
}

/* The slot's page may have been sealed; it is sealed again. */
static void fill_slot(const struct library *library, uintptr_t slot, void (*function)(void))
{
    uintptr_t page = slot & ~((uintptr_t)getpagesize() - 1);
    bool sealed = slot >= library->sealed && slot < library->sealed_end;
    void *start = (void *)page; /* NOLINT: an address */
    if (sealed && mprotect(start, (size_t)getpagesize(), PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n((uintptr_t *)slot, (uintptr_t)function, __ATOMIC_RELEASE); /* NOLINT: an address */
    if (sealed) (void)mprotect(start, (size_t)getpagesize(), PROT_READ);
}

static void lead_calls(const struct library *library, const ElfW(Rela) * entry, size_t nbytes)
{
    for (const ElfW(Rela) *end = entry + nbytes / sizeof *entry; entry < end; entry++) {
        int type = (int)ELF64_R_TYPE(entry->r_info);
        if (type != CALLED && type != TAKEN) continue;
        const char *name = library->names + library->symbols[ELF64_R_SYM(entry->r_info)].st_name;
        for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
            if (strcmp(name, own[i].name) == 0)
                fill_slot(library, library->base + entry->r_offset, own[i].function);
    }
}

static int visit(struct dl_phdr_info *info, size_t nbytes, void *arg)
{
    static const char *const parts[] = {"/libucs.so", "/libuct.so", "/libucp.so", "/libuct_"};
    struct library library = {.base = info->dlpi_addr};
    bool is_ucx = false;
    (void)nbytes, (void)arg;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (info->dlpi_name && strstr(info->dlpi_name, parts[i])) is_ucx = true;
    for (int i = 0; is_ucx && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + header->p_vaddr, page = (uintptr_t)getpagesize();
        if (header->p_type == PT_DYNAMIC) read_dynamic(&library, (const void *)at); /* NOLINT: an address */
        if (header->p_type == PT_GNU_RELRO) {
            library.sealed = at & ~(page - 1);
            library.sealed_end = (at + header->p_memsz) & ~(page - 1);
        }
    }
    for (int i = 0; i < 2; i++) lead_calls(&library, library.tables[i], library.nbytes[i]);
    return 0;
}

void rs_ucx_lead_descriptors(void)
{
    if (CALLED >= 0) dl_iterate_phdr(visit, NULL);
}
