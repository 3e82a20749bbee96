#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Installs what a bare Debian or Ubuntu lacks, and says what. Nothing is touched when all is there, so a second call
# takes milliseconds.
#
#   scripts/setup.sh build    a C compiler, CMake, Python with headers and venv, UCX: enough for `make build` and `make demo`
#   scripts/setup.sh test     and what the tests and checks use: cmocka, clang with its tools, Open MPI
set -eu
what=${1:-build}

have() { command -v "$1" >/dev/null 2>&1; }
# The interpreter for the environment: PYTHON if given, else the first CPython of at least 3.11 on PATH.
find_python() {
    for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
        if have "$candidate" && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}
python_can_build() {
    "$1" - <<'PY' 2>/dev/null
import ensurepip, os, sysconfig, venv
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
PY
}

if [ "$what" = python ]; then # for the Makefile: prints the interpreter
    find_python || { echo "no CPython >= 3.11 found; run scripts/setup.sh build" >&2; exit 1; }
    exit 0
fi

packages=""
need() { packages="$packages $*"; }
maybe="" # packages that only some releases have
want() { maybe="$maybe $*"; }

have cc || need gcc libc6-dev
have cmake || need cmake
have ninja || need ninja-build
[ -e /usr/include/ucp/api/ucp.h ] || want libucx-dev # jobs over several hosts
python=$(find_python || true)
if [ -z "$python" ]; then
    # The release's own python3 where it is new enough (Debian 12, Ubuntu 24.04), else Ubuntu 22.04's second one.
    if . /etc/os-release 2>/dev/null && [ "${ID:-}" = ubuntu ] && [ "${VERSION_ID%%.*}" -lt 24 ]; then
        need python3.11 python3.11-venv python3.11-dev
    else
        need python3 python3-venv python3-dev
    fi
elif ! python_can_build "$python"; then
    case $(readlink -f "$(command -v "$python")") in
    /usr/bin/python3.*) v=$(basename "$(readlink -f "$(command -v "$python")")") && need "$v-venv" "$v-dev" ;;
    *) echo "$python has no Python.h, venv or ensurepip; install them, or set PYTHON to another interpreter" >&2 && exit 1 ;;
    esac
fi
if [ "$what" = test ]; then
    have git || need git
    have setarch || need util-linux
    have tc || need iproute2
    [ -e /usr/include/cmocka.h ] || need libcmocka-dev
    have g++ || need g++
    have clang-14 || have clang || need clang
    have clang-tidy-14 || have clang-tidy || need clang-tidy
    # ThreadSanitizer's library for clang: a package of its own on Debian, part of clang on older Ubuntu.
    clang=$(command -v clang-14 || command -v clang || true)
    if [ -z "$clang" ] || [ -z "$(find "$("$clang" -print-resource-dir)/lib/" -name 'libclang_rt.tsan*' 2>/dev/null)" ]; then
        want libclang-rt-dev
    fi
    have mpirun || need openmpi-bin
    have mpicc || need libopenmpi-dev
    # Other launchers. Open MPI keeps mpirun and mpicc: Debian's alternatives prefer it to MPICH.
    have mpiexec.hydra || want mpich
    have srun || want slurm-wlm
    have munged || want munge
    ls /usr/lib/*/pmix2/include/pmix.h >/dev/null 2>&1 || want libpmix-dev
fi

if [ -z "$packages$maybe" ]; then
    exit 0
fi
if ! have apt-get; then
    echo "missing:$packages (names of Debian packages); this system has no apt-get, install them by its own means" >&2
    exit 1
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    have sudo || { echo "missing:$packages; run as root or install sudo, or: apt-get install$packages" >&2; exit 1; }
    as_root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
for package in $maybe; do
    if apt-cache show "$package" >/dev/null 2>&1; then need "$package"; fi
done
[ -n "$packages" ] || exit 0
echo "setup: installing with apt-get:$packages"
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
