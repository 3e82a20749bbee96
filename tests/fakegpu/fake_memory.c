/* SPDX-License-Identifier: MIT
 *
 * The fake driver's memory: a list of blocks under one lock. A block has the address that users see and the
 * one that this driver uses; they differ in strict mode only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake.h"

struct reservation {
    struct reservation *next;
    unsigned char *base, *cpu; /* as of a block */
    size_t nbytes;
};
struct charge { /* memory that this process made, while a handle or a mapping holds it */
    int refs;
    size_t nbytes;
};
struct handle {
    struct handle *next;
    unsigned long long id;
    int fd;
    size_t nbytes;
    struct charge *charge; /* NULL: imported */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* everything here */
static struct block *blocks;
static struct reservation *reservations;
static struct handle *handles;
static unsigned long long next_handle = 1;
static size_t used; /* of the device's memory: what this process made and still holds */

int fake_devices(void)
{
    const char *text = getenv("FAKEGPU_DEVICES");
    return text && text[0] ? atoi(text) : 1;
}

bool fake_strict(void)
{
    const char *text = getenv("FAKEGPU_STRICT");
    return text && text[0] == '1';
}

int fake_can_reach(int *can, int device, int peer)
{
    const char *text = getenv("FAKEGPU_NO_PEER");
    if (device < 0 || device >= fake_devices() || peer < 0 || peer >= fake_devices()) return INVALID_DEVICE;
    *can = device != peer && !(text && text[0] == '1');
    return OK;
}

static int device_memory(int device)
{
    char name[32];
    snprintf(name, sizeof name, "fakegpu-%d", device);
    return memfd_create(name, MFD_CLOEXEC);
}

/* The file's name says whose it is. */
static int device_of(int fd)
{
    char path[64], name[128] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, name, sizeof name - 1) < 0) return -1;
    const char *at = strstr(name, "fakegpu-");
    return at ? atoi(at + 8) : -1;
}

static bool reaches(int device, int other)
{
    int can = 0;
    return device == other || (fake_can_reach(&can, device, other) == OK && can);
}

static size_t whole(size_t nbytes)
{
    return (nbytes + 4095) & ~(size_t)4095;
}

static struct block *around(uintptr_t ptr)
{
    for (struct block *b = blocks; b; b = b->next)
        if (ptr - (uintptr_t)b->base < b->nbytes) return b;
    return NULL;
}

void *fake_cpu(uintptr_t ptr, size_t nbytes)
{
    unsigned char *cpu = NULL;
    pthread_mutex_lock(&lock);
    struct block *b = around(ptr);
    if (b && (!b->mapped || b->accessible)) {
        size_t at = ptr - (uintptr_t)b->base;
        cpu = b->cpu + at;
        /* A range may go on in a block that lies behind this one. */
        for (uintptr_t end = (uintptr_t)b->base + b->nbytes; end - ptr < nbytes;) {
            struct block *next = around(end);
            if (!next || !next->mapped || !next->accessible || next->cpu - next->base != b->cpu - b->base) {
                cpu = NULL;
                break;
            }
            end = (uintptr_t)next->base + next->nbytes;
        }
    }
    pthread_mutex_unlock(&lock);
    return cpu;
}

int fake_kind(uintptr_t ptr)
{
    pthread_mutex_lock(&lock);
    struct block *b = around(ptr);
    int kind = !b ? 0 : b->kind == BLOCK_HOST ? 1 : 2;
    pthread_mutex_unlock(&lock);
    return kind;
}

static void add(const struct block *block)
{
    struct block *b = malloc(sizeof *b);
    if (!b) abort();
    *b = *block;
    pthread_mutex_lock(&lock);
    b->next = blocks;
    blocks = b;
    pthread_mutex_unlock(&lock);
}

/* Out of the list; NULL when no block of this kind begins there. */
static struct block *take(uintptr_t ptr, enum block_kind kind)
{
    pthread_mutex_lock(&lock);
    struct block **at = &blocks;
    while (*at && !((uintptr_t)(*at)->base == ptr && (*at)->kind == kind)) at = &(*at)->next;
    struct block *b = *at;
    if (b) *at = b->next;
    pthread_mutex_unlock(&lock);
    return b;
}

static size_t memory(void)
{
    const char *text = getenv("FAKEGPU_MEMORY");
    return (text && text[0] ? (size_t)atoi(text) : 2048) << 20;
}

void fake_memory_info(size_t *free_nbytes, size_t *all_nbytes)
{
    pthread_mutex_lock(&lock);
    *all_nbytes = memory();
    *free_nbytes = *all_nbytes - used;
    pthread_mutex_unlock(&lock);
}

static bool charge(size_t nbytes)
{
    pthread_mutex_lock(&lock);
    bool ok = nbytes <= memory() - used;
    if (ok) used += nbytes;
    pthread_mutex_unlock(&lock);
    return ok;
}

static void discharge(size_t nbytes)
{
    pthread_mutex_lock(&lock);
    used -= nbytes;
    pthread_mutex_unlock(&lock);
}

static struct charge *hold(struct charge *charge)
{
    pthread_mutex_lock(&lock);
    if (charge) charge->refs++;
    pthread_mutex_unlock(&lock);
    return charge;
}

static void let_go(struct charge *charge)
{
    pthread_mutex_lock(&lock);
    bool last = charge && --charge->refs == 0;
    if (last) used -= charge->nbytes;
    pthread_mutex_unlock(&lock);
    if (last) free(charge);
}

/* Addresses, aligned; MAP_FAILED when there are none. */
static void *reserve(size_t nbytes, size_t align)
{
    unsigned char *all =
        mmap(NULL, nbytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return all;
    unsigned char *base = (unsigned char *)(((uintptr_t)all + align - 1) & ~(uintptr_t)(align - 1));
    if (base > all) munmap(all, (size_t)(base - all));
    if (base < all + align) munmap(base + nbytes, (size_t)(all + align - base));
    return base;
}

/* Device memory behind a descriptor, at an address of the system's choice. */
static int map_device(int fd, size_t nbytes, bool imported, uintptr_t *ptr)
{
    struct block b = {.kind = BLOCK_DEVICE, .nbytes = whole(nbytes), .fd = fd, .imported = imported};
    void *base = reserve(b.nbytes, FAKE_GRANULARITY),
         *cpu = base; /* aligned as large ones are by real drivers */
    if (base != MAP_FAILED)
        cpu = mmap(fake_strict() ? NULL : base, b.nbytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | (fake_strict() ? 0 : MAP_FIXED), fd, 0);
    if (cpu == MAP_FAILED || base == MAP_FAILED) {
        close(fd);
        return OUT_OF_MEMORY;
    }
    b.base = base;
    b.cpu = cpu;
    add(&b);
    *ptr = (uintptr_t)base;
    return OK;
}

static void unmap(struct block *b)
{
    if (b->cpu != b->base) munmap(b->base, b->nbytes);
    munmap(b->cpu, b->nbytes);
    if (b->fd >= 0) close(b->fd);
    free(b);
}

int fake_alloc(uintptr_t *ptr, size_t nbytes, int device)
{
    if (nbytes == 0) return INVALID_VALUE;
    if (!charge(whole(nbytes))) return OUT_OF_MEMORY;
    int fd = device_memory(device);
    if (fd < 0 || ftruncate(fd, (off_t)whole(nbytes)) != 0) return OUT_OF_MEMORY;
    return map_device(fd, nbytes, false, ptr);
}

int fake_free(uintptr_t ptr)
{
    struct block *b = take(ptr, BLOCK_DEVICE);
    if (!b || b->imported) return INVALID_VALUE;
    discharge(b->nbytes);
    unmap(b);
    return OK;
}

int fake_host_alloc(void **ptr, size_t nbytes)
{
    if (nbytes == 0) return INVALID_VALUE;
    struct block b = {.kind = BLOCK_HOST, .nbytes = whole(nbytes), .fd = -1};
    void *base = mmap(NULL, b.nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return OUT_OF_MEMORY;
    b.base = b.cpu = base;
    add(&b);
    *ptr = base;
    return OK;
}

int fake_host_free(void *ptr)
{
    struct block *b = take((uintptr_t)ptr, BLOCK_HOST);
    if (!b || b->registered) return INVALID_VALUE;
    unmap(b);
    return OK;
}

int fake_host_register(void *ptr, size_t nbytes)
{
    if (!ptr || nbytes == 0) return INVALID_VALUE;
    if (fake_kind((uintptr_t)ptr)) return 712; /* registered already */
    add(&(struct block){
        .kind = BLOCK_HOST, .base = ptr, .cpu = ptr, .nbytes = nbytes, .fd = -1, .registered = true});
    return OK;
}

int fake_host_unregister(void *ptr)
{
    struct block *b = take((uintptr_t)ptr, BLOCK_HOST);
    if (!b || !b->registered) return 713; /* not registered */
    free(b);
    return OK;
}

/* ---- IPC: a handle is the exporter's pid and descriptor ---- */

struct ipc {
    char magic[8];
    int pid, fd;
    uint64_t nbytes;
};

int fake_ipc_get(void *handle64, uintptr_t ptr)
{
    struct ipc ipc = {.magic = "fakegpu", .pid = getpid()};
    pthread_mutex_lock(&lock);
    struct block *b = around(ptr);
    bool ok = b && b->kind == BLOCK_DEVICE && b->fd >= 0 && !b->imported && !b->mapped;
    if (ok) {
        ipc.fd = b->fd;
        ipc.nbytes = b->nbytes;
    }
    pthread_mutex_unlock(&lock);
    if (!ok) return INVALID_VALUE;
    memset(handle64, 0, 64);
    memcpy(handle64, &ipc, sizeof ipc);
    return OK;
}

int fake_ipc_open(uintptr_t *ptr, const void *handle64, int device)
{
    struct ipc ipc;
    char path[64];
    memcpy(&ipc, handle64, sizeof ipc);
    if (memcmp(ipc.magic, "fakegpu", 8) != 0) return INVALID_VALUE;
    if (ipc.pid == getpid()) return INVALID_CONTEXT; /* as the real ones refuse one's own */
    snprintf(path, sizeof path, "/proc/%d/fd/%d", ipc.pid, ipc.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return INVALID_HANDLE;
    if (!reaches(device, device_of(fd))) {
        close(fd);
        return NO_PEER;
    }
    return map_device(fd, ipc.nbytes, true, ptr);
}

int fake_ipc_close(uintptr_t ptr)
{
    struct block *b = take(ptr, BLOCK_DEVICE);
    if (!b || !b->imported) return INVALID_VALUE;
    unmap(b);
    return OK;
}

/* ---- virtual memory ---- */

static int add_handle(unsigned long long *out, int fd, size_t nbytes, struct charge *charge)
{
    struct handle *h = malloc(sizeof *h);
    if (!h) abort();
    pthread_mutex_lock(&lock);
    *h = (struct handle){handles, next_handle++, fd, nbytes, charge};
    handles = h;
    *out = h->id;
    pthread_mutex_unlock(&lock);
    return OK;
}

static int handle_fd(unsigned long long id, size_t *nbytes, struct charge **charge)
{
    int fd = -1;
    pthread_mutex_lock(&lock);
    for (struct handle *h = handles; h; h = h->next)
        if (h->id == id) {
            fd = h->fd;
            *nbytes = h->nbytes;
            *charge = h->charge;
        }
    pthread_mutex_unlock(&lock);
    return fd;
}

int fake_vmm_create(unsigned long long *handle, size_t nbytes, int device)
{
    if (nbytes == 0 || nbytes % FAKE_GRANULARITY) return INVALID_VALUE;
    if (!charge(nbytes)) return OUT_OF_MEMORY;
    struct charge *own = malloc(sizeof *own);
    if (!own) abort();
    *own = (struct charge){1, nbytes};
    int fd = device_memory(device);
    if (fd < 0 || ftruncate(fd, (off_t)nbytes) != 0) return OUT_OF_MEMORY;
    return add_handle(handle, fd, nbytes, own);
}

int fake_vmm_release(unsigned long long handle)
{
    pthread_mutex_lock(&lock);
    struct handle **at = &handles;
    while (*at && (*at)->id != handle) at = &(*at)->next;
    struct handle *h = *at;
    if (h) *at = h->next;
    pthread_mutex_unlock(&lock);
    if (!h) return INVALID_VALUE;
    close(h->fd);
    let_go(h->charge);
    free(h);
    return OK;
}

int fake_vmm_export(int *fd, unsigned long long handle)
{
    size_t nbytes;
    struct charge *charge;
    int own = handle_fd(handle, &nbytes, &charge);
    if (own < 0) return INVALID_VALUE;
    *fd = fcntl(own, F_DUPFD_CLOEXEC, 0);
    return *fd < 0 ? OUT_OF_MEMORY : OK;
}

int fake_vmm_import(unsigned long long *handle, int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return INVALID_VALUE;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return own < 0 ? OUT_OF_MEMORY : add_handle(handle, own, (size_t)info.st_size, NULL);
}

int fake_vmm_reserve(uintptr_t *ptr, size_t nbytes, size_t align)
{
    if (nbytes == 0 || nbytes % FAKE_GRANULARITY || (align & (align - 1))) return INVALID_VALUE;
    const char *small = getenv("FAKEGPU_SMALL_ALIGN"); /* a driver that ignores the wish */
    if (small && small[0] == '1') align = 0;
    if (align < FAKE_GRANULARITY) align = FAKE_GRANULARITY;
    unsigned char *base = reserve(nbytes, align);
    unsigned char *cpu = fake_strict() ? reserve(nbytes, align) : base;
    if (base == MAP_FAILED || cpu == MAP_FAILED) return OUT_OF_MEMORY;
    struct reservation *r = malloc(sizeof *r);
    if (!r) abort();
    pthread_mutex_lock(&lock);
    *r = (struct reservation){reservations, base, cpu, nbytes};
    reservations = r;
    pthread_mutex_unlock(&lock);
    *ptr = (uintptr_t)base;
    return OK;
}

int fake_vmm_unreserve(uintptr_t ptr, size_t nbytes)
{
    pthread_mutex_lock(&lock);
    struct reservation **at = &reservations;
    while (*at && ((uintptr_t)(*at)->base != ptr || (*at)->nbytes != nbytes)) at = &(*at)->next;
    struct reservation *r = *at;
    for (struct block *b = blocks; r && b; b = b->next)
        if (b->mapped && (uintptr_t)b->base - ptr < nbytes) r = NULL; /* something is still mapped */
    if (r) *at = r->next;
    pthread_mutex_unlock(&lock);
    if (!r) return INVALID_VALUE;
    if (r->cpu != r->base) munmap(r->cpu, r->nbytes);
    munmap(r->base, r->nbytes);
    free(r);
    return OK;
}

int fake_vmm_map(uintptr_t ptr, size_t nbytes, unsigned long long handle)
{
    size_t has = 0;
    struct charge *charge = NULL;
    int fd = handle_fd(handle, &has, &charge);
    bool reserved = false;
    unsigned char *cpu = NULL;
    pthread_mutex_lock(&lock);
    for (struct reservation *r = reservations; r; r = r->next) {
        size_t at = ptr - (uintptr_t)r->base;
        if (at >= r->nbytes || nbytes > r->nbytes - at) continue;
        reserved = true;
        cpu = r->cpu + at;
    }
    for (struct block *b = blocks; b; b = b->next)
        if ((uintptr_t)b->base - ptr < nbytes || ptr - (uintptr_t)b->base < b->nbytes) reserved = false;
    pthread_mutex_unlock(&lock);
    if (fd < 0 || nbytes != has || !reserved || ptr % FAKE_GRANULARITY) return INVALID_VALUE;
    struct block b = {.kind = BLOCK_DEVICE, .base = (unsigned char *)ptr, .nbytes = nbytes, .mapped = true};
    b.fd = -1;
    b.cpu =
        mmap(cpu, nbytes, fake_strict() ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0);
    if (b.cpu == MAP_FAILED) return OUT_OF_MEMORY;
    b.device = device_of(fd);
    b.charge = hold(charge);
    add(&b);
    return OK;
}

int fake_vmm_unmap(uintptr_t ptr, size_t nbytes)
{
    for (size_t done = 0; done < nbytes;) {
        struct block *b = take(ptr + done, BLOCK_DEVICE);
        if (!b || !b->mapped) return INVALID_VALUE;
        done += b->nbytes;
        mmap(b->cpu, b->nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        let_go(b->charge);
        free(b);
    }
    return OK;
}

int fake_vmm_access(uintptr_t ptr, size_t nbytes, int device)
{
    for (size_t done = 0; done < nbytes;) {
        pthread_mutex_lock(&lock);
        struct block *b = around(ptr + done);
        bool reached = b && b->mapped && reaches(device, b->device);
        if (reached) b->accessible = true;
        pthread_mutex_unlock(&lock);
        if (!b || !b->mapped || (uintptr_t)b->base != ptr + done) return INVALID_VALUE;
        if (!reached) return NO_PEER;
        if (b->cpu == b->base) mprotect(b->base, b->nbytes, PROT_READ | PROT_WRITE);
        done += b->nbytes;
    }
    return OK;
}
