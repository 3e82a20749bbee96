#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Installs, with pip but for the last, what the tests use beside the package: scripts/test-tools.sh PYTHON TORCH_VERSION
# Versions of the checkers are fixed, so that a new release of theirs does not change our verdict.
set -eu
python=$1
torch=$2
pip() { "$python" -m pip --disable-pip-version-check --quiet "$@"; }
has() { "$python" -c "import importlib.metadata as m, sys; sys.exit(not m.version('$1').startswith('$2'))" 2>/dev/null; }

echo "setup: pip install pytest hypothesis mypy ruff clang-format mpi4py into $(dirname "$(dirname "$python")")"
pip install 'numpy>=1.26' 'pytest>=8,<10' 'hypothesis>=6.100,<7' 'mypy==1.18.2' 'ruff==0.14.3' 'clang-format==14.0.6' 'mpi4py>=4.0,<5'

# The CPU build of torch (200 MB), not the one that PyPI gives first on Linux, which brings gigabytes of CUDA libraries.
# Order: a wheel that pip's own configuration offers without a network, torch's own index, and whatever pip's index has.
if ! has torch "$torch"; then
    echo "setup: pip install torch==$torch (CPU) into $(dirname "$(dirname "$python")")"
    pip install --no-index --no-deps "torch==$torch" 2>/dev/null ||
        pip install --no-deps --retries 1 --index-url https://download.pytorch.org/whl/cpu "torch==$torch" 2>/dev/null ||
        pip install --no-deps "torch==$torch"
fi
# Its dependencies, as far as they are no GPU's.
pip install filelock typing-extensions sympy networkx jinja2 fsspec 'setuptools>=77.0.3'

# HIP's headers, for contract/driver, without its libraries: much here is about machines that have none.
if [ ! -e /usr/include/hip/hip_runtime_api.h ] && [ ! -e build/hip/usr/include/hip/hip_runtime_api.h ]; then
    echo "setup: unpacking Debian's libamdhip64-dev into build/hip"
    mkdir -p build/hip
    (cd build/hip && apt-get download -qq libamdhip64-dev && dpkg-deb -x libamdhip64-dev_*.deb .) 2>/dev/null ||
        echo "setup: it is not to be had here, so HIP's prototypes are not compared"
fi
