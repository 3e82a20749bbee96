# SPDX-License-Identifier: MIT
"""Others' build systems find us: CMake, pkg-config, oshcc and oshc++, in a prefix that was moved and in the wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from contract import ROOT, check, end, skip

BUILD = Path(os.environ.get("RS_BUILD", ROOT / "build" / "cmake"))
VENV = Path(os.environ.get("RS_VENV", ROOT / "build" / "venv"))

HEADER = """\
#ifdef __cplusplus
extern "C"
#endif
int next_of(int pe, int n);
"""
NEXT = '#include "next.h"\nint next_of(int pe, int n)\n{\n    return (pe + 1) % n;\n}\n'
SHMEM = """\
#include <shmem.h>
#include <stdio.h>
#include "next.h"
static long from_left; /* symmetric: a static variable of the program */
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_long_p(&from_left, me + 10, next_of(me, n));
    shmem_barrier_all();
    printf("PE %d of %d: %ld\\n", me, n, from_left);
    shmem_finalize();
    return 0;
}
"""
ROCSHMEM = """\
#include <rocshmem/rocshmem.h>
#include <stdio.h>
#include "next.h"
int main(void)
{
    rocshmem_init();
    int me = rocshmem_my_pe(), n = rocshmem_n_pes();
    long *from_left = (long *)rocshmem_malloc(sizeof *from_left);
    rocshmem_long_p(from_left, me + 10, next_of(me, n));
    rocshmem_barrier_all();
    printf("PE %d of %d: %ld\\n", me, n, *from_left);
    rocshmem_free(from_left);
    rocshmem_finalize();
    return 0;
}
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES C CXX)
find_package(rocshmem @VERSION@ REQUIRED COMPONENTS rocshmem shmem)
if(NOT EXISTS "${rocshmem_RUN}")
    message(FATAL_ERROR "no launcher at ${rocshmem_RUN}")
endif()
add_executable(by-shmem shmem.c next.c)
target_link_libraries(by-shmem PRIVATE rocshmem::shmem)
add_executable(by-rocshmem rocshmem.cc next.c)
target_link_libraries(by-rocshmem PRIVATE rocshmem::rocshmem)
"""
# Versions before 1.0 are compatible when major and minor agree.
VERSION = re.findall(r"project\(rocshmem4py VERSION (\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text())[0]
CMAKE = CMAKE.replace("@VERSION@", VERSION)
EXPECTED = ["PE 0 of 2: 11", "PE 1 of 2: 10"]


def run(*command: str | Path, cwd: Path | None = None, **env: str) -> tuple[int, str]:
    # What the caller's environment says about us, or about where to look, must not help.
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ROCSHMEM", "SHMEM", "OSHCC", "LD_", "CMAKE_"))}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, env={**clean, **env}, timeout=300
    )
    return done.returncode, (done.stdout + done.stderr).strip()


def steps(*commands: tuple[str | Path, ...], cwd: Path, **env: str) -> str:
    """Commands one after the other; what the first that fails printed. The last one's output must be EXPECTED."""
    text = ""
    for command in commands:
        status, text = run(*command, cwd=cwd, **env)
        if status != 0:
            return f"exit status {status} of {' '.join(map(str, command))}: {' | '.join(text.splitlines()[-4:])}"
    return "" if sorted(text.splitlines()) == EXPECTED else f"printed {text!r}"


def project(folder: Path) -> Path:
    folder.mkdir()
    files = {
        "next.h": HEADER, "next.c": NEXT, "shmem.c": SHMEM, "shmem.cc": SHMEM,
        "rocshmem.cc": ROCSHMEM, "rocshmem.c": ROCSHMEM, "CMakeLists.txt": CMAKE,
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def consume(where: str, prefix: Path, bin_: Path, lib: Path, folder: Path) -> None:
    """All the ways to build against one installation."""
    source = project(folder)
    start: tuple[str | Path, ...] = (bin_ / "oshrun", "-np", "2")
    if shutil.which("cmake"):
        configure = ("cmake", "-S", source, "-B", source / "build", f"-Drocshmem_DIR={lib / 'cmake' / 'rocshmem'}")
        build = ("cmake", "--build", source / "build")
        for name in ("by-shmem", "by-rocshmem"):
            problem = steps(configure, build, (*start, source / "build" / name), cwd=source)
            check(f"find_package in {where}, {name} runs", problem)
        problem = steps(
            ("cmake", "-S", source, "-B", source / "path", f"-DCMAKE_PREFIX_PATH={prefix}"),
            ("cmake", "--build", source / "path"), (*start, source / "path" / "by-shmem"), cwd=source,
        )  # fmt: skip
        check(f"find_package in {where}, CMAKE_PREFIX_PATH is enough", problem)
    else:
        skip(f"find_package in {where}", "no cmake here")
    if shutil.which("pkg-config"):
        path = str(lib / "pkgconfig")
        for name in ("shmem", "rocshmem"):
            status, flags = run("pkg-config", "--cflags", "--libs", name, PKG_CONFIG_PATH=path)
            problem = flags if status else steps(
                ("cc", f"{name}.c", "next.c", *flags.split(), "-o", f"pc-{name}"),
                (*start, source / f"pc-{name}"), cwd=source,
            )  # fmt: skip
            check(f"pkg-config in {where}, {name} runs", problem)
    else:
        skip(f"pkg-config in {where}", "no pkg-config here")
    for name in ("sma", "oshmem", "openshmem"):
        for way, words in (("-l", (f"-L{lib}", f"-l{name}")), ("its path", (str(lib / f"lib{name}.so"),))):
            program = source / f"{name}-by-{way[1:3]}"
            problem = steps(
                ("cc", f"-I{prefix / 'include'}", "shmem.c", "next.c", *words, f"-Wl,-rpath,{lib}", "-o", program),
                (*start, program), cwd=source,
            )  # fmt: skip
            check(f"lib{name}.so in {where}, linked with {way}", problem)
    for standard in ("c90", "gnu90", "c99", "c11", "c++98", "c++11", "c++20"):
        tool = bin_ / ("oshcxx" if "+" in standard else "oshcc")
        strict = ("-Wall", "-Wextra", "-pedantic", "-Wundef", "-Wshadow", "-Werror", "-fsyntax-only")
        language = "c++" if "+" in standard else "c"
        (source / "only.h").write_text("#include <pshmem.h>\n#include <mpp/shmem.h>\n#include <shmemx.h>\n")
        problem = run(tool, f"-std={standard}", *strict, "-x", language, "only.h", cwd=source)[1]
        check(f"the headers in {where} as {standard}, no warning", problem.partition("\n")[0])
    for compiler, extension in (("oshcc", "c"), ("oshc++", "cc")):
        tool, program = bin_ / compiler, source / f"with-{compiler}"
        as_c = () if compiler == "oshcc" else ("-x", "c")
        problem = steps((tool, f"shmem.{extension}", *as_c, "next.c", "-o", program), (*start, program), cwd=source)
        check(f"{compiler} in {where}, one command", problem)
        problem = steps(
            ("cc", "-c", "next.c", "-o", "next.o"), (tool, "-c", f"shmem.{extension}", "-o", "main.o"),
            (tool, "-Wall", "-Werror", "main.o", "next.o", "-o", program), (*start, program), cwd=source,
        )  # fmt: skip
        check(f"{compiler} in {where}, compiled and then linked", problem)
        for option, expected in (
            ("-showme:compile", f"-I{prefix / 'include'}"),
            ("--showme:link", f"-L{lib} -Wl,-rpath,{lib} -lshmem -lrocshmem -lm"),
            ("-compile_info:compile", f"-I{prefix / 'include'}"),
            ("-link-info:link", f"-L{lib} -Wl,-rpath,{lib} -lshmem -lrocshmem -lm"),
        ):
            word = option if "showme" in option else option.split(":")[0]
            text = run(tool, word)[1]
            if word != option:  # these begin with the compiler
                text = text.partition(" ")[2]
            check(
                f"{compiler} in {where}, what {word} says it adds when it {option.split(':')[1]}s",
                "" if text == expected else text,
            )
        text = run(tool, "-c", "x.c", "-showme", OSHCC_CC="my cc", OSHCC_CXX="my cc")[1]
        right = f"'my cc' -I{prefix / 'include'} -c x.c"
        check(f"{compiler} in {where}, -showme with -c names no library", "" if text == right else text)


with tempfile.TemporaryDirectory(prefix="rocshmem-consumers-") as name:
    top = Path(name).resolve()
    status, text = run("cmake", "--install", BUILD, "--prefix", top / "installed")
    check("cmake --install fills a prefix", text if status else "")
    if status == 0:
        (top / "installed").rename(top / "moved [1]")  # nothing may remember where it was; a shell's wildcards neither
        prefix = top / "moved [1]"
        status, text = run(prefix / "bin" / "oshcc", "--showme:libdirs")
        check("oshcc finds a prefix with brackets in its name", text if status else "")
        prefix = prefix.rename(top / "moved")
        lib = next(prefix.glob("lib*/**/librocshmem.so")).parent
        consume("a moved prefix", prefix, prefix / "bin", lib, top / "by-prefix")
    status, text = run(VENV / "bin" / "python", "-m", "rocshmem4py", "--prefix")
    check("python -m rocshmem4py --prefix names the package", text if status else "")
    if status == 0:
        package = Path(text)
        consume("the wheel", package, VENV / "bin", package / "lib", top / "by-wheel")
        status, text = run(VENV / "bin" / "python", "-m", "rocshmem4py", "--cmake-dir")
        there = Path(text, "rocshmemConfig.cmake").exists()
        check("python -m rocshmem4py --cmake-dir names the folder of the CMake package", "" if there else text)
sys.stdout.flush()
end()
