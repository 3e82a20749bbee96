# SPDX-License-Identifier: MIT
"""A PE dies between the two exchanges of init, where no launcher tells the others: the rendezvous does, at once."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from job_helpers import find_cc, free_port, job_env  # conftest.py has loaded it

#: Ends its process where init hands out, or fetches, the memory that the PEs of a host share.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void die_if_handed_out_by(const struct sockaddr_un *at)
{
    if (at->sun_family == AF_UNIX && strncmp(at->sun_path + 1, "rocshmem-", 9) == 0) _exit(9);
}
int connect(int fd, const struct sockaddr *to, socklen_t length)
{
    die_if_handed_out_by((const struct sockaddr_un *)to);
    return ((int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect"))(fd, to, length);
}
int accept4(int fd, struct sockaddr *from, socklen_t *length, int flags)
{
    struct sockaddr_un at = {0};
    socklen_t n = sizeof at;
    getsockname(fd, (struct sockaddr *)&at, &n);
    die_if_handed_out_by(&at);
    return ((int (*)(int, struct sockaddr *, socklen_t *, int))dlsym(RTLD_NEXT, "accept4"))(fd, from, length, flags);
}
"""

PROGRAM = """
import rocshmem4py as rs
try:
    rs.rocshmem_init()
    print("went on")
except rs.RocshmemError as error:
    print(error.status, error.pe, error)
"""
E_BOOTSTRAP = -10


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("shim") / "dies.c"
    source.write_text(SHIM)
    library = source.with_suffix(".so")
    subprocess.run([find_cc(), "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True, timeout=60)
    return library


@pytest.mark.parametrize(("n", "victim"), [(2, 1), (2, 0), (3, 2), (4, 1), (4, 0)])
def test_a_pe_that_dies_between_the_exchanges_of_init_is_an_error_on_all_others_at_once(
    shim: Path, n: int, victim: int
) -> None:
    env = job_env({"WORLD_SIZE": str(n), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())})
    pes: dict[int, subprocess.Popen[str]] = {}
    began = time.monotonic()
    for pe in range(n):
        env["RANK"], env["LD_PRELOAD"] = str(pe), str(shim) if pe == victim else ""
        pes[pe] = subprocess.Popen([sys.executable, "-c", PROGRAM], env=env, stdout=subprocess.PIPE, text=True)
    output = {pe: process.communicate(timeout=90)[0] for pe, process in pes.items()}
    seconds = time.monotonic() - began
    assert pes.pop(victim).returncode == 9
    for pe, process in pes.items():
        assert process.returncode == 0
        status, about, text = output[pe].split(" ", 2)
        assert int(status) == E_BOOTSTRAP and int(about) == victim, output[pe]
        assert re.search(rf"\b(PE|rank) {victim}\b", text), text
    assert seconds < 20, f"{seconds:.1f} s, the deadline is 60 s"
