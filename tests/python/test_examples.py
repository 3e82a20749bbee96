# SPDX-License-Identifier: MIT
"""Every example runs, with several numbers of PEs, and prints what its README says."""

from __future__ import annotations

import re
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Job, compile_c

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PES = (1, 2, 3, 4)

RunJob = Callable[..., Job]

#: An unbuffered Python writes a line's end by itself, behind another PE's line.
LINES = {"PYTHONUNBUFFERED": None}


@pytest.fixture(scope="module")
def hello(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """01_hello.c, compiled as the README says: with the headers and the library of the installed package."""
    return compile_c(EXAMPLES / "01_hello.c", tmp_path_factory.mktemp("hello"))


@pytest.mark.parametrize("n", PES)
def test_hello_compiles_and_every_pe_greets_the_next(run_job: RunJob, hello: Path, n: int) -> None:
    job = run_job(n, [str(hello)])
    greetings = [f"hello from PE {pe} of {n}: PE {(pe - 1) % n} wrote {100 + (pe - 1) % n}" for pe in range(n)]
    assert job.lines == sorted([*greetings, f"PE 0 counted {n} arrivals"])


@pytest.mark.parametrize("n", PES)
def test_ring_hands_the_token_around(run_job: RunJob, n: int) -> None:
    job = run_job(n, EXAMPLES / "02_ring.py", env=LINES)
    token = n * (n - 1) // 2
    assert job.lines == [
        f"PE {pe} of {n}: neighbour {(pe - 1) % n} wrote to me, the token came back as {token}" for pe in range(n)
    ]


def png_size(path: Path) -> tuple[int, int]:
    """(width, height) of an 8-bit RGB PNG, after checking its chunks' sums and the length of its data."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, []
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        body = data[at + 4 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(body)
        chunks.append((body[:4], body[4:]))
        at += 12 + length
    assert [kind for kind, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour = struct.unpack_from(">IIBB", chunks[0][1])
    assert (depth, colour) == (8, 2)
    assert len(zlib.decompress(chunks[1][1])) == height * (1 + 3 * width)
    return width, height


def traffic(job: Job) -> list[dict[str, int]]:
    """The table that 03_heat2d.py prints, one dict a PE."""
    lines = job.stdout.splitlines()
    (head,) = (i for i, line in enumerate(lines) if line.split()[:1] == ["PE"])
    names = lines[head].split()
    return [dict(zip(names, map(int, line.split()), strict=True)) for line in lines[head + 1 :]]


@pytest.mark.parametrize(
    ("n", "rows", "cols", "steps"),
    [
        (1, 40, 50, 30),
        (2, 41, 50, 31),
        (3, 60, 33, 50),
        (4, 50, 64, 100),
        (4, 6, 9, 40),  # one row a PE: both halos of the inner ones are others' rows
        (3, 30, 20, 1),
        (2, 30, 20, 0),
    ],
)
def test_heat2d_equals_one_process_bit_for_bit(
    run_job: RunJob, tmp_path: Path, n: int, rows: int, cols: int, steps: int
) -> None:
    pytest.importorskip("numpy")
    png = tmp_path / "field.png"
    job = run_job(
        n, EXAMPLES / "03_heat2d.py", "--rows", rows, "--cols", cols, "--steps", steps, "--png", png, timeout=120
    )
    assert f"{rows} x {cols} grid, {steps} steps, {n} PEs: bit for bit equal to one process" in job.stdout
    assert png_size(png) == (cols, rows)

    table = traffic(job)
    assert [line["PE"] for line in table] == list(range(n))
    for pe, line in enumerate(table):
        neighbours = (pe > 0) + (pe < n - 1)
        mine = (1 + (rows - 2) * (pe + 1) // n) - (1 + (rows - 2) * pe // n)
        assert line["puts"] == neighbours * steps + 1  # the halos, and the block at the end
        assert line["put_nbytes"] == 8 * cols * (neighbours * steps + mine)
        assert line["waits"] == neighbours * steps
        assert (line["gets"], line["get_nbytes"], line["amos"]) == (0, 0, 0)
        assert line["collectives"] >= 1


def test_heat2d_with_the_default_picture_writes_to_the_current_directory(
    run_job: RunJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    run_job(2, EXAMPLES / "03_heat2d.py", "--rows", 12, "--cols", 10, "--steps", 3)
    assert png_size(tmp_path / "heat2d.png") == (10, 12)


def test_heat2d_without_a_row_for_each_pe_says_so(run_job: RunJob) -> None:
    pytest.importorskip("numpy")
    job = run_job(3, EXAMPLES / "03_heat2d.py", "--rows", 4, check=False)
    assert job.returncode != 0
    assert re.search(r"a 4 x 320 grid has no inner row for each of 3 PEs", job.stderr)


def test_heat2d_with_a_wrong_field_ends_with_a_failure(run_job: RunJob, tmp_path: Path) -> None:
    """The comparison can fail: one number of one PE's block is changed after the last step."""
    pytest.importorskip("numpy")
    source = (EXAMPLES / "03_heat2d.py").read_text()
    broken = source.replace("\nmine = ", "\nfields[:, 1, 5] += 1e-12 * (me == n_pes - 1)\nmine = ")
    assert broken != source
    (tmp_path / "broken.py").write_text(broken)
    shutil.copy(EXAMPLES / "png.py", tmp_path)
    args = ("--rows", 20, "--cols", 20, "--steps", 5, "--png", tmp_path / "field.png")
    job = run_job(2, tmp_path / "broken.py", *args, check=False)
    assert "DIFFERENT FROM one process" in job.stdout
    assert job.returncode == 1


@pytest.mark.parametrize(
    ("launcher", "n"), [("rocshmem-run", 1), ("rocshmem-run", 3), ("rocshmem-run", 4), ("torchrun", 2)]
)
def test_torch_tokens_go_out_and_come_back(run_job: RunJob, launcher: str, n: int) -> None:
    pytest.importorskip("torch")
    job = run_job(n, EXAMPLES / "04_torch_alltoall.py", launcher=launcher, env=LINES, timeout=180)
    assert job.lines == [f"PE {pe} of {n}: tokens went out and came back on cpu" for pe in range(n)]


def test_every_example_is_in_the_readme_and_short_enough() -> None:
    readme = (EXAMPLES / "README.md").read_text()
    programs = sorted(EXAMPLES.glob("[0-9]*"))
    assert programs
    for program in programs:
        assert f"]({program.name})" in readme
        assert f"\n## {program.name}\n" in readme
        assert len(program.read_text().splitlines()) <= 80
