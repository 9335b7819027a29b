"""Runs a measuring program under either interpreter, from byte code, in a folder of its own.

Paths are relative to that folder, since the name of a loaded file is kept in memory: a figure must not depend on where
the folder lies.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.firmware.portable import interpreters
from tests.firmware.portable.byte_code import compile_file
from tests.firmware.portable.webassembly import install
from tests.portable.faults import BOARDS, portable_files

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
LIBRARY = "lib"


def compile_library(folder: Path) -> Path:
    """What a board may be given, as .mpy in ``folder/lib``, which is returned. Raises AssertionError where it fails."""
    library = folder / LIBRARY
    for path in portable_files():
        if path.is_relative_to(BOARDS):
            continue
        # The packages lie in client/ and firmware/; a board has them side by side.
        name = path.relative_to(interpreters.REPOSITORY).with_suffix(".mpy")
        said = compile_file(path, library.joinpath(*name.parts[1:]))
        assert not said, said
    return library


def unix(folder: Path, program: str, arguments: Sequence[str], heap: str, library: str = LIBRARY) -> Mapping[str, int]:
    """Label -> bytes, under MicroPython of 64 bits with ``heap`` of memory. Raises AssertionError where it fails."""
    command = [interpreters.MICROPYTHON, "-X", f"heapsize={heap}", HERE / "measure.py", library, PROGRAMS / program]
    return _figures([*map(str, command), *arguments], folder)


def least_heap(folder: Path, program: str, arguments: Sequence[str], library: str = LIBRARY) -> int:
    """The smallest heap in which a program runs to its end, in bytes: a whole number of KiB, on 64 bits."""
    too_small, enough = 8, 1024
    while enough - too_small > 1:
        heap = (too_small + enough) // 2
        try:
            unix(folder, program, arguments, f"{heap}k", library)
            enough = heap
        except AssertionError:
            too_small = heap
    return enough * 1024


def webassembly(folder: Path, program: str, arguments: Sequence[str], library: str = LIBRARY) -> Mapping[str, int]:
    """The same of 32 bits."""
    command = [install.tool("node"), HERE / "measure.mjs", install.install(), library, PROGRAMS / program]
    return _figures([*map(str, command), *arguments], folder)


def _figures(command: Sequence[str], folder: Path) -> Mapping[str, int]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return {label: int(size) for label, size in (line.split() for line in done.stdout.splitlines())}
