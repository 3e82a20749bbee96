/* SPDX-License-Identifier: MIT
 *
 * Two processes on one GPU: what small copies from the host to its memory cost as rows, and whether a word that is
 * polled meanwhile is ever seen half written. These facts are what src/device/gpu_small.c is built on.
 *
 *     cc -O2 bench/gpu/rows.c -I/usr/local/cuda/include -lcuda -o rows && ./rows
 *
 * For each way: the round trip of a ping-pong (copy from the device to the host, back to the other one's memory, signal)
 * and what a kernel of the first process saw of the second one's copies: words whose halves differ, and changes.
 */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { N_BYTES = 1 << 20, SOURCE = 1 << 19, DEST = 65536, FLAG = 8192, TIMES = 280, WARM = 20 };
enum way { HALVES, HALVES_AT_ONCE, PITCHED, SLICES, PAIR, ONE_ROW, SOME_ROWS, WAYS };
static const char *const names[] = {"8 B in rows of 4, read as rows",
                                    "8 B in rows of 4, read at once",
                                    "8 B, a row far before",
                                    "8 B, a slice far before",
                                    "16 B in rows of 8",
                                    "8 B as one row",
                                    "4 KiB in rows of 2 KiB"};

static struct shared {
    volatile int arrived[100], stop;
    CUipcMemHandle handles[2];
} * shared;
static int me, code;
static char *pinned;
static CUstream stream;
static CUdeviceptr mine, other;

static void meet(int i)
{
    __atomic_add_fetch(&shared->arrived[i], 1, __ATOMIC_SEQ_CST);
    while (shared->arrived[i] < 2) continue;
}
static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}
static void rows(CUdeviceptr dst, size_t dst_pitch, size_t src_pitch, size_t width, size_t n)
{
    CUDA_MEMCPY2D r = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = pinned, .srcPitch = src_pitch};
    r.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    r.dstDevice = dst;
    r.dstPitch = dst_pitch;
    r.WidthInBytes = width;
    r.Height = n;
    code |= (int)cuMemcpy2DAsync(&r, stream);
}
static void slices(CUdeviceptr dst, size_t distance, size_t width)
{
    CUDA_MEMCPY3D r = {
        .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = pinned, .srcPitch = 64, .srcHeight = 1};
    r.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    r.dstDevice = dst;
    r.dstPitch = 64;
    r.dstHeight = distance / 64;
    r.WidthInBytes = width;
    r.Height = 1;
    r.Depth = 2;
    code |= (int)cuMemcpy3DAsync(&r, stream);
}
static void read_source(size_t at, CUdeviceptr src, size_t n)
{
    code |= (int)cuMemcpyDtoHAsync(pinned + at, src, n, stream);
}
static void put(enum way way, CUdeviceptr dst, CUdeviceptr src)
{
    switch (way) {
    case HALVES:
        read_source(0, src, 4);
        read_source(8, src + 4, 4);
        rows(dst, 4, 8, 4, 2);
        break;
    case HALVES_AT_ONCE:
        read_source(0, src, 8);
        rows(dst, 4, 4, 4, 2);
        break;
    case PITCHED:
        read_source(64, src, 8);
        rows(other, dst - other, 64, 8, 2);
        break;
    case SLICES:
        read_source(64, src, 8);
        slices(other, dst - other, 8);
        break;
    case PAIR:
        read_source(0, src, 16);
        rows(dst, 8, 8, 8, 2);
        break;
    case ONE_ROW:
        read_source(0, src, 8);
        rows(dst, 8, 8, 8, 1);
        break;
    default:
        read_source(0, src, 4096);
        rows(dst, 2048, 2048, 2048, 2);
    }
}

static void ping_pong(enum way way, uint64_t *k)
{
    double begin = 0;
    code = 0;
    meet(10 + way);
    for (int i = 0; i < TIMES + WARM; i++) {
        if (i == WARM) {
            cuStreamSynchronize(stream);
            meet(20 + way);
            begin = now_us();
        }
        ++*k;
        if (me) cuStreamWaitValue64(stream, mine + FLAG, *k, 0);
        put(way, other + DEST, mine + SOURCE);
        cuStreamWriteValue64(stream, other + FLAG, *k, 0);
        if (!me) cuStreamWaitValue64(stream, mine + FLAG, *k, 0);
    }
    cuStreamSynchronize(stream);
    if (!me) printf("%-32s round trip %6.2f us, code %d", names[way], (now_us() - begin) / TIMES, code);
}

static void watch(enum way way, CUfunction function, uint64_t *seen)
{
    shared->stop = 0;
    meet(30 + way);
    if (!me) {
        CUdeviceptr word = mine + DEST, out = (CUdeviceptr)seen;
        uint64_t n = 3000000;
        void *arguments[] = {&word, &out, &n};
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
        cuStreamSynchronize(stream);
        shared->stop = 1;
        printf(", %llu words half written, %llu changes seen\n", (unsigned long long)seen[0],
               (unsigned long long)seen[1]);
        fflush(stdout);
    }
    for (unsigned i = 0; me && !shared->stop; i++) {
        put(way, other + DEST, mine + SOURCE + 4096 * (i & 1));
        cuStreamSynchronize(stream);
    }
    meet(40 + way);
}

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry watch(.param .u64 word,.param .u64 out,.param .u64 times){\n"
                          ".reg .b64 %r<9>; .reg .pred %p<3>; .reg .b32 %a<4>;\n"
                          "ld.param.u64 %r1,[word]; ld.param.u64 %r2,[out]; ld.param.u64 %r3,[times];\n"
                          "mov.u64 %r4,0; mov.u64 %r7,0; mov.u64 %r8,0;\n"
                          "L: ld.volatile.global.u64 %r5,[%r1]; mov.b64 {%a1,%a2},%r5;\n"
                          "setp.ne.u32 %p1,%a1,%a2; @%p1 add.u64 %r4,%r4,1;\n"
                          "setp.ne.u64 %p2,%r5,%r8; @%p2 add.u64 %r7,%r7,1; mov.u64 %r8,%r5;\n"
                          "sub.u64 %r3,%r3,1; setp.ne.u64 %p1,%r3,0; @%p1 bra L;\n"
                          "st.global.u64 [%r2],%r4; st.global.u64 [%r2+8],%r7; ret; }";

int main(void)
{
    CUcontext context;
    CUmodule module;
    CUfunction function;
    uint64_t *seen, k = 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    me = fork() == 0;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    cuMemAlloc(&mine, N_BYTES);
    cuMemsetD8(mine, 0, N_BYTES);
    cuMemsetD8(mine + SOURCE + 4096, 255, 4096);
    cuMemHostAlloc((void **)&pinned, 65536, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    cuMemHostAlloc((void **)&seen, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    cuIpcGetMemHandle(&shared->handles[me], mine);
    meet(0);
    cuIpcOpenMemHandle(&other, shared->handles[!me], CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    if (cuModuleLoadData(&module, ptx) || cuModuleGetFunction(&function, module, "watch")) return 1;
    meet(1);
    for (enum way way = 0; way < WAYS; way++) {
        ping_pong(way, &k);
        watch(way, function, seen);
    }
    return 0;
}
