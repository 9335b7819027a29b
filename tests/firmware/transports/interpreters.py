"""The same program under CPython and under real MicroPython."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import hubbub_client
import hubbub_firmware

MICROPYTHON = Path(sys.executable).parent / "micropython"
CLIENT = str(Path(hubbub_client.__file__).parents[1])
FIRMWARE = str(Path(hubbub_firmware.__file__).parents[1])
_HEAD = f"import sys\nsys.path[:0] = [{CLIENT!r}, {FIRMWARE!r}]\n"
INTERPRETERS = ("cpython", "micropython")


def run(interpreter: str, program: str, *arguments: str, heap: str = "160k", cwd: Path | None = None) -> str:
    """What ``program`` prints; it finds the client and the firmware. Fails where it raises."""
    command = [sys.executable, "-c"] if interpreter == "cpython" else [str(MICROPYTHON), "-X", f"heapsize={heap}", "-c"]
    done = subprocess.run(
        [*command, _HEAD + program, *arguments], capture_output=True, text=True, cwd=cwd, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
