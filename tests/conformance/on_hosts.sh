#!/bin/sh
# SPDX-License-Identifier: MIT
#
#   rocshmem-run -n N tests/conformance/on_hosts.sh K program args...
#
# Runs the program as a PE of a job that plays several hosts on this machine, K PEs on each, for tests of what goes over
# the network. Only tcp: UCX would find out that they share memory.
set -eu
per_host=$1
shift
ROCSHMEM_NODE_ID=host$((ROCSHMEM_RUN_RANK / per_host))
UCX_TLS=${UCX_TLS:-tcp}
export ROCSHMEM_NODE_ID UCX_TLS
exec "$@"
