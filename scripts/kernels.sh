#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Device code: src/device/kernels/kernels.c to PTX text, by clang 14 and llc 14, as src/device/kernels/generated/kernels.ptx
# and, for the library, kernels_ptx.inc (the same text as a C string). These are committed, so that a build needs no clang;
#
#   scripts/kernels.sh          writes them
#   scripts/kernels.sh check    compares them with what it would write (exit status 77 without clang 14)
set -eu
cd "$(dirname "$0")/.."
kernels=src/device/kernels
out=$kernels/generated
if ! command -v clang-14 >/dev/null || ! command -v llc-14 >/dev/null; then
    echo "clang-14 and llc-14 are needed"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# sm_70 and PTX 6.3: the oldest with nanosleep and system-scope acquire and release. The calling convention of kernels has
# no attribute in this clang, so it is put into the intermediate text.
clang-14 --target=nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature -Xclang +ptx63 -nogpulib -nocudalib \
    -Wno-unknown-cuda-version -std=c11 -nostdlibinc -Isrc -O2 -Wall -Wextra -Werror -emit-llvm -S -o "$work/kernels.ll" $kernels/kernels.c
sed -E 's/^define (dso_local |protected |)(void @rs_kernel_)/define \1ptx_kernel \2/' "$work/kernels.ll" >"$work/marked.ll"
llc-14 -O3 -mcpu=sm_70 -mattr=+ptx63 "$work/marked.ll" -o - | sed '/^\/\//d; /^$/d' >"$work/kernels.ptx"
{
    echo "/* SPDX-License-Identifier: MIT"
    echo " *"
    echo " * Written by scripts/kernels.sh from kernels.c. */"
    sed -e 's/\\/\\\\/g; s/"/\\"/g; s/\t/\\t/g; s/^/"/; s/$/\\n"/' "$work/kernels.ptx"
} >"$work/kernels_ptx.inc"

if [ "${1:-}" = check ]; then
    cmp "$work/kernels.ptx" $out/kernels.ptx && cmp "$work/kernels_ptx.inc" $out/kernels_ptx.inc
    exit
fi
mkdir -p $out
cp "$work/kernels.ptx" "$work/kernels_ptx.inc" $out/
