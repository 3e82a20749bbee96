# SPDX-License-Identifier: MIT
#
# The front door. `make demo` and `make test` set up what a fresh Debian or Ubuntu lacks (scripts/setup.sh says what it
# installs). Everything that is built lies under build/; a second call does only what sources ask for.
#
#   make build   build/venv: a Python environment with the package installed, the tools in build/venv/bin
#   make demo    a heat equation on 4 PEs, the field in heat2d.png
#   make test    every test; the last line counts them
#   make check   format, warnings, clang-tidy, contracts, sanitizers, types; the last line counts them
#   make bench   the benchmarks, against peers where these can be had
#   make gpu     build, test and benchmark in one go on a machine with a GPU
SHELL := /bin/bash
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.PHONY: build demo test check bench gpu clean c-tests test-tools

JOBS ?= $(shell nproc)
VENV := build/venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
TORCH ?= 2.13.0

# What the wheel is made of. A stamp newer than all of it means that build/venv is up to date.
sources := CMakeLists.txt pyproject.toml $(shell find src include shmem mpi bindings python tools cmake -type f \
	\( -name '*.[ch]' -o -name '*.def' -o -name '*.py' -o -name '*.pyi' -o -name '*.typed' -o -name '*.cmake' -o -name '*.in' \))

build: build/.installed

# Each build re-makes the wheel; its CMake folder stays, so only what changed is compiled.
build/.installed: build/.venv $(sources)
	@$(PIP) install --no-build-isolation --no-deps --force-reinstall --config-settings=build-dir=build/wheel .
	@touch $@

build/.venv: scripts/setup.sh
	@scripts/setup.sh build
	@$$(scripts/setup.sh python) -m venv $(VENV)
	@echo "setup: pip install scikit-build-core into $(VENV)"
	@$(PIP) install 'scikit-build-core>=0.10'
	@touch $@

build/.numpy: build/.venv
	@echo "setup: pip install numpy into $(VENV)"
	@$(PIP) install 'numpy>=1.26'
	@touch $@

demo: build build/.numpy
	@$(VENV)/bin/rocshmem-run -n 4 $(PY) examples/03_heat2d.py

# What the tests need beside the package.
test-tools: build/.test-tools
build/.test-tools: build/.venv build/.numpy scripts/setup.sh scripts/test-tools.sh
	@scripts/setup.sh test
	@scripts/test-tools.sh $(PY) $(TORCH)
	@touch $@

c-tests: build/.test-tools
	@cmake -S . -B build/cmake -G Ninja -DRS_PYTHON=OFF >/dev/null
	@cmake --build build/cmake -j $(JOBS) >build/c-tests.log || { tail -60 build/c-tests.log; false; }

test: build c-tests
	@$(PY) scripts/suite.py test

check: build c-tests
	@$(PY) scripts/suite.py check

bench: build
	@$(PY) bench/compare.py

gpu:
	@scripts/gpu.sh

clean:
	rm -rf build dist
