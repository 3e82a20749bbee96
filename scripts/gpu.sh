#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Build, test and benchmark on a machine with a GPU, in one go, without the network: cmake, ninja and a C compiler are all
# it needs. The tests run with 1, 2, 4 and 8 PEs, which share the GPUs there are; results go to $RESULTS (default
# build/gpu-results): bench.jsonl, and a log of each step. What a machine can't run is a line "skip NAME: why". The last
# line says how many steps failed.
#
#   scripts/gpu.sh            everything
#   scripts/gpu.sh test       without the benchmarks
#   scripts/gpu.sh bench      the benchmarks alone
#   PES="1 2" scripts/gpu.sh  other numbers of PEs
#   SECONDS_MAX=1800 ...      the time that all of it may take (default 530 s); what is left over then has failed
set -u
cd "$(dirname "$0")/.." || exit 2
what=${1:-all}
case $what in
all | test | bench) ;;
*)
    echo "scripts/gpu.sh: '$what' is none of test, bench and all" >&2
    exit 2
    ;;
esac
pes=${PES:-1 2 4 8}
build=build/gpu
results=${RESULTS:-build/gpu-results}
deadline=$(($(date +%s) + ${SECONDS_MAX:-530}))
failed=0
skipped=0
mkdir -p "$results"

skip() {
    skipped=$((skipped + 1))
    echo "skip $1: $2"
}

# step NAME SECONDS COMMAND...: the end of its output is shown, all of it is kept
step() {
    name=$1
    limit=$2
    shift 2
    rm -f "$results/$name.log"
    begin=$(date +%s)
    left=$((deadline - begin))
    if [ $left -lt 10 ]; then
        failed=$((failed + 1))
        echo "FAIL $name: no time was left for it (SECONDS_MAX)"
        return 1
    fi
    [ "$limit" -lt "$left" ] || limit=$left
    timeout -k 5 "$limit" "$@" >"$results/$name.log" 2>&1
    status=$?
    took=$(($(date +%s) - begin))
    if [ $status -eq 0 ]; then
        echo "ok $name ($(grep -c '^ok' "$results/$name.log") cases, $took s)"
        return 0
    fi
    failed=$((failed + 1))
    echo "FAIL $name: status $status after $took s"
    grep -v '^ok' "$results/$name.log" | tail -25
    return 1
}

finish() {
    echo "== $failed steps failed, $skipped skipped; results in $results"
    [ $failed -eq 0 ]
    exit
}

echo "== machine"
uname -srm
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null ||
    rocm-smi --showproductname --showdriverversion 2>/dev/null || echo "no GPU tool found (nvidia-smi, rocm-smi)"

echo "== build"
make_all() {
    cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DRS_TESTS=OFF -DRS_GPU_TESTS=ON -DRS_PYTHON="$1" \
        >"$results/cmake.log" 2>&1 && cmake --build $build >"$results/build.log" 2>&1
}
python=on
if ! make_all ON; then
    python=off # without Python's headers
    echo "no Python extension: $(grep -m1 -i error "$results/cmake.log" "$results/build.log")"
    make_all OFF || {
        tail -30 "$results/cmake.log" "$results/build.log"
        echo "FAIL build"
        exit 1
    }
fi
run=$build/bin/rocshmem-run
$build/bin/rocshmem-info | head -20

export ROCSHMEM_DEVICE=${ROCSHMEM_DEVICE:-cuda} ROCSHMEM_TIMEOUT=60
if [ "$what" != bench ]; then
    echo "== tests"
    for n in $pes; do
        step test-$n 60 $run -n "$n" $build/bin/rocshmem-gpu-test
    done
    step test-ipc-2 60 env ROCSHMEM_HEAP_SHARING=ipc $run -n 2 $build/bin/rocshmem-gpu-test
fi

torch=off # torch with CUDA is there
if [ $python = on ] && python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then torch=on; fi

if [ "$what" != test ]; then
    echo "== benchmark (median of many, all PEs at once)"
    : >"$results/bench.jsonl"
    # rows NAME SECONDS COMMAND...: a step whose output has rows
    rows() {
        step "$@"
        grep '^{' "$results/$1.log" 2>/dev/null | tee -a "$results/bench.jsonl"
    }
    for n in $pes; do
        rows context-$n 30 $run -n "$n" $build/bin/rocshmem-gpu-bench context
        rows bench-$n 60 env ROCSHMEM_HEAP_SIZE=2G $run -n "$n" $build/bin/rocshmem-gpu-bench
        [ $python = off ] ||
            rows bench-python-$n 30 env PYTHONPATH="$PWD/python:$PWD/$build/lib" $run -n "$n" python3 bench/gpu/python_calls.py
    done
    # The peers, with as many PEs as they take.
    nvcc=$(PATH=$PATH:$(echo /usr/local/cuda*/bin | tr ' ' ':') command -v nvcc)
    nvshmem=$(python3 -c 'import nvidia.nvshmem as n; print(list(n.__path__)[0])' 2>/dev/null)
    if [ -z "$nvcc" ] || [ -z "$nvshmem" ]; then
        skip nvshmem "no nvcc, or no package nvidia.nvshmem"
    elif step build-nvshmem 120 "$nvcc" -O2 -std=c++17 -rdc=true -arch="${NVCC_ARCH:-native}" -I"$nvshmem/include" \
        bench/gpu/nvshmem.cu "$nvshmem/lib/libnvshmem_device.a" -o $build/bin/nvshmem-bench \
        -Xlinker "$nvshmem/lib/libnvshmem_host.so.3" -Xlinker -rpath -Xlinker "$nvshmem/lib"; then
        for n in 1 2; do
            rm -f "$results/nvshmem-id"
            rows nvshmem-$n 60 $run -n $n $build/bin/nvshmem-bench "$results/nvshmem-id"
        done
    fi
    if [ $torch = on ]; then
        for n in 1 2; do
            rows torch-symm-$n 60 $run -n $n python3 bench/gpu/torch_symm.py
        done
    fi
    python3 scripts/gpu_table.py "$results/bench.jsonl" >"$results/bench.md" && echo "the table is $results/bench.md"
fi

[ "$what" != bench ] || finish

echo "== suites"
# The conformance suite. The blocks above 2 GiB need a heap of 3 GiB.
for n in $pes; do
    heap=256M
    [ "$n" -gt 2 ] || heap=3G
    step conformance-$n 120 env ROCSHMEM_HEAP_SIZE=$heap ROCSHMEM_SIGNAL_EXACT=1 $run -n "$n" $build/bin/rocshmem-conformance
    grep '^skip' "$results/conformance-$n.log" 2>/dev/null
done

if [ $torch = off ]; then
    skip torch "no extension, or no torch with CUDA"
else
    for n in $pes; do
        step torch-$n 60 env PYTHONPATH="$PWD/python:$PWD/$build/lib" $run -n "$n" python3 tests/gpu/torch_gpu.py
    done
fi
if [ $python = off ]; then
    skip python "the extension was not built"
elif ! python3 -c 'import pytest, numpy' 2>/dev/null; then
    skip python "no pytest, or no NumPy"
else
    step python 150 env PYTHONPATH="$PWD/python:$PWD/$build/lib" PYTHONDONTWRITEBYTECODE=1 ROCSHMEM_RUN="$PWD/$run" \
        ROCSHMEM_SIGNAL_EXACT=1 ROCSHMEM_HEAP_SIZE=256M \
        python3 -m pytest -p no:cacheprovider -q -rs --durations=5 tests/python/test_jobs_api.py tests/python/test_arrays.py \
        tests/python/test_buffer.py tests/python/test_jobs_property.py
    tail -1 "$results/python.log" 2>/dev/null
    if [ $torch = on ]; then
        step python-torch 90 env PYTHONPATH="$PWD/python:$PWD/$build/lib" PYTHONDONTWRITEBYTECODE=1 ROCSHMEM_RUN="$PWD/$run" \
            python3 -m pytest -p no:cacheprovider -q -rs "tests/python/test_torch.py::test_init_with_torch_under[env-3]" \
            tests/python/test_torch.py::test_tensors_without_torch_distributed
        tail -1 "$results/python-torch.log" 2>/dev/null
    fi
fi

# What the library asks of the driver (is this memory pageable?) may fail by right: the errors of calls are its business.
sanitizer=$(PATH=$PATH:$(echo /usr/local/cuda*/bin | tr ' ' ':') command -v compute-sanitizer)
if [ -n "$sanitizer" ]; then
    step memcheck-2 120 $run -n 2 "$sanitizer" --tool memcheck --report-api-errors no --error-exitcode 9 \
        $build/bin/rocshmem-gpu-test
else
    skip memcheck "no compute-sanitizer on PATH or in /usr/local/cuda*/bin"
fi

# The runtime's HIP side, over libcuda: a shim has HIP's rules and names.
hip() {
    major=$1
    name=$2
    limit=$3
    shift 3
    step "$name" "$limit" env ROCSHMEM_DEVICE=hip ROCSHMEM_GPU_LIBRARY="$PWD/$build/tests/hipshim/$major/libamdhip64.so.$major" \
        ROCSHMEM_GPU_KERNELS="$PWD/src/device/kernels/generated/kernels.ptx" "$@"
}
if [ "$ROCSHMEM_DEVICE" = cuda ]; then
    for major in 5 6; do
        step hipshim-rules-$major 30 $build/bin/hipshim-rules-$major
        for n in $pes; do
            hip $major hip-$major-$n 60 $run -n "$n" $build/bin/rocshmem-gpu-test
        done
    done
else
    skip hip "the shim is for GPUs of NVIDIA"
fi

if [ "$ROCSHMEM_DEVICE" = cuda ]; then
    hip 6 hip-conformance-2 120 env ROCSHMEM_HEAP_SIZE=256M HIPSHIM_EXACT=1 ROCSHMEM_SIGNAL_EXACT=1 \
        $run -n 2 $build/bin/rocshmem-conformance
fi
finish
