/* SPDX-License-Identifier: MIT
 *
 * Finding the data segment in the program headers, and moving it between private and shared memory.
 */
#include "pgas/static_data.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"

/* W: any thread, before init. R: init. Nothing else is published with it: relaxed. */
static _Atomic bool wanted;

void rs_static_data_want(bool on)
{
    atomic_store_explicit(&wanted, on, memory_order_relaxed);
}

bool rs_static_data_wanted(void)
{
    return atomic_load_explicit(&wanted, memory_order_relaxed);
}

/* ---- finding ---- */

static uintptr_t page_down(uintptr_t at)
{
    return at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static uintptr_t page_up(uintptr_t at)
{
    return page_down(at + (uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
}

/* Sizes and places of all segments, and the notes (the linker's build id is one). */
static uint64_t fingerprint(const struct dl_phdr_info *program)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &program->dlpi_phdr[i];
        hash = mix(mix(hash, h->p_type), h->p_flags);
        hash = mix(mix(mix(hash, h->p_vaddr), h->p_filesz), h->p_memsz);
        if (h->p_type != PT_NOTE) continue;
        const unsigned char *note = (const unsigned char *)(program->dlpi_addr + h->p_vaddr);
        for (size_t k = 0; k < h->p_memsz; k++) hash = mix(hash, note[k]);
    }
    return hash;
}

struct search {
    struct rs_static_data *data;
    int n_segments; /* writable ones that are not only for the dynamic linker */
};

/* The pages that the dynamic linker made read-only again lie at a segment's start: they stay as they are. */
static void add_segment(struct search *search, const struct dl_phdr_info *program, const ElfW(Phdr) * segment)
{
    uintptr_t start = program->dlpi_addr + segment->p_vaddr, end = page_up(start + segment->p_memsz);
    uintptr_t file_end = page_up(start + segment->p_filesz);
    start = page_down(start);
    for (int i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &program->dlpi_phdr[i];
        uintptr_t relro = program->dlpi_addr + h->p_vaddr, relro_end = page_down(relro + h->p_memsz);
        if (h->p_type == PT_GNU_RELRO && page_down(relro) <= start && relro_end > start) start = relro_end;
    }
    if (start >= end) return;
    search->n_segments++;
    search->data->base = start;
    search->data->nbytes = end - start;
    search->data->bss = file_end > start ? file_end : start;
}

static int look(struct dl_phdr_info *program, size_t size, void *arg)
{
    (void)size;
    struct search *search = arg;
    for (int i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &program->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && (h->p_flags & PF_W)) add_segment(search, program, h);
    }
    search->data->program = fingerprint(program);
    return 1; /* the first one is the executable; libraries' variables are not symmetric */
}

int rs_static_data_find(struct rs_static_data *data)
{
    *data = (struct rs_static_data){.fd = -1};
    struct search search = {.data = data};
    dl_iterate_phdr(look, &search);
    if (search.n_segments <= 1) return 0;
    *data = (struct rs_static_data){.fd = -1};
    return rs_fail(
        RS_E_UNSUPPORTED,
        "the program has %d writable data segments, so its static variables can't be made symmetric; link "
        "it without a linker script",
        search.n_segments);
}

struct owner {
    uintptr_t at;
    const char *name;
};

static int owns(struct dl_phdr_info *object, size_t size, void *arg)
{
    (void)size;
    struct owner *owner = arg;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &object->dlpi_phdr[i];
        if (h->p_type != PT_LOAD || owner->at - (object->dlpi_addr + h->p_vaddr) >= h->p_memsz) continue;
        owner->name = object->dlpi_name;
        return 1;
    }
    return 0;
}

const char *rs_static_data_object(const void *p)
{
    struct owner owner = {.at = (uintptr_t)p};
    dl_iterate_phdr(owns, &owner);
    return owner.name;
}

/* ---- sharing ---- */

/* Write this program's variables to where they belong in fd. By system calls of our own: the variables lie
 * side by side, so a checked copy of them all is an error to a sanitizer. */
static bool write_range(const struct rs_static_data *data, int fd, size_t at, size_t end)
{
    while (at < end) {
        long n = syscall(SYS_pwrite64, fd, data->base + at, end - at, data->offset + at);
        if (n <= 0) return false;
        at += (size_t)n;
    }
    return true;
}

/* All, but the pages of .bss that were never touched: the file is zero there, and stays sparse. */
static bool write_touched(const struct rs_static_data *data, int fd)
{
    enum { CHUNK = 512 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE), at = data->bss - data->base;
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    bool written = write_range(data, fd, 0, at);
    while (written && at < data->nbytes) {
        uint64_t entries[CHUNK];
        size_t n = (data->nbytes - at) / page < CHUNK ? (data->nbytes - at) / page : CHUNK;
        off_t where = (off_t)((data->base + at) / page * sizeof *entries);
        bool known = pagemap >= 0 &&
                     pread(pagemap, entries, n * sizeof *entries, where) == (ssize_t)(n * sizeof *entries);
        for (size_t i = 0; written && i < n; i++, at += page)
            if (!known || entries[i] >> 62) /* present, or swapped out */
                written = write_range(data, fd, at, at + page);
    }
    if (pagemap >= 0) close(pagemap);
    return written;
}

/* Read this PE's copy, as anyone wrote it; to is zero where nobody did. */
static bool read_written(const struct rs_static_data *data, unsigned char *to)
{
    off_t start = (off_t)data->offset, end = (off_t)(data->offset + data->nbytes);
    for (off_t at = start; (at = lseek(data->fd, at, SEEK_DATA)) >= 0 && at < end;) {
        off_t hole = lseek(data->fd, at, SEEK_HOLE);
        if (hole < 0 || hole > end) hole = end;
        while (at < hole) {
            ssize_t n = pread(data->fd, to + (at - start), (size_t)(hole - at), at);
            if (n <= 0) return false;
            at += n;
        }
    }
    return true;
}

/* A private copy of the variables, elsewhere; NULL without memory. */
static void *private_copy(const struct rs_static_data *data)
{
    void *copy = mmap(NULL, data->nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) return NULL;
    if (read_written(data, copy)) return copy;
    munmap(copy, data->nbytes);
    return NULL;
}

static void put_in_place(const struct rs_static_data *data, void *copy)
{
    /* By number: libraries that watch memory (UCX) put an mremap of four arguments in its place. */
    syscall(SYS_mremap, copy, data->nbytes, data->nbytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)data->base);
}

/* The shared variables of this process, for forks. W: share and unshare, under fork_lock, which a fork holds.
 * The copy for a child is its forking thread's, not a static: parent and child share those until the child
 * has its own. */
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rs_static_data shared; /* nbytes 0: none */
static _Thread_local void *snapshot;

static void before_fork(void)
{
    pthread_mutex_lock(&fork_lock);
    snapshot =
        shared.nbytes ? private_copy(&shared) : NULL; /* without memory, they stay shared with the child */
}

static void after_fork_in_parent(void)
{
    if (snapshot) munmap(snapshot, shared.nbytes);
    pthread_mutex_unlock(&fork_lock);
}

static void after_fork_in_child(void)
{
    if (snapshot) put_in_place(&shared, snapshot);
    shared.nbytes = 0;
    pthread_mutex_unlock(&fork_lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

int rs_static_data_share(struct rs_static_data *data, int fd, int n_local, int my_local)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    void *view, *in_place = MAP_FAILED;
    RS_TRY(rs_os_map_shared(fd, (size_t)n_local * data->nbytes, &view));
    pthread_once(&once, watch_forks);
    data->offset = (size_t)my_local * data->nbytes;
    pthread_mutex_lock(&fork_lock);
    data->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (data->fd >= 0 && write_touched(data, fd))
        in_place = mmap((void *)data->base, data->nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                        (off_t)data->offset);
    if (in_place != MAP_FAILED) shared = *data;
    pthread_mutex_unlock(&fork_lock);
    if (in_place == MAP_FAILED) {
        rs_os_unmap(view, (size_t)n_local * data->nbytes);
        if (data->fd >= 0) close(data->fd);
        return rs_fail(RS_E_UNSUPPORTED,
                       "the program's static variables (%zu bytes at %p) can't be mapped from shared memory",
                       data->nbytes, (void *)data->base);
    }
    data->view = view;
    data->n_local = n_local;
    return 0;
}

void rs_static_data_unshare(struct rs_static_data *data)
{
    if (!data->view) return;
    pthread_mutex_lock(&fork_lock);
    void *copy = private_copy(data);
    if (copy) { /* else they stay in shared memory, which nobody else looks at any more */
        put_in_place(data, copy);
        shared.nbytes = 0;
        close(data->fd);
    }
    pthread_mutex_unlock(&fork_lock);
    rs_os_unmap(data->view, (size_t)data->n_local * data->nbytes);
    data->view = NULL;
    data->nbytes = 0;
}
