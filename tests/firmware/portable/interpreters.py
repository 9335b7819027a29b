"""The interpreters that the portable code must run under, each as a function that runs a program to its end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.firmware.portable.webassembly import install

REPOSITORY = Path(__file__).parents[3]
CLIENT = REPOSITORY / "client"
MICROPYTHON = Path(sys.executable).parent / "micropython"
RUNNER = Path(install.__file__).with_name("run.mjs")

# program, arguments, the folders it reads -> what it printed. Raises AssertionError with its output where it failed.
Run = Callable[[Path, Sequence[str], Sequence[Path]], str]


def _finished(command: Sequence[str | Path]) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def cpython(program: Path, arguments: Sequence[str] = (), folders: Sequence[Path] = ()) -> str:
    """Under this Python."""
    return _finished([sys.executable, program, *arguments])


def unix(program: Path, arguments: Sequence[str] = (), folders: Sequence[Path] = (), heap: str = "96k") -> str:
    """Under MicroPython for x64 Unix, in a heap of 96 KB: objects and integers twice as wide as on most boards."""
    return _finished([MICROPYTHON, "-X", f"heapsize={heap}", program, *arguments])


def webassembly(program: Path, arguments: Sequence[str] = (), folders: Sequence[Path] = (), heap: int = 96000) -> str:
    """Under MicroPython as WebAssembly: pointers and small integers of 32 bits, as on boards. Its heap may grow."""
    read = ":".join(map(str, [CLIENT / "hubbub_client", *folders]))
    return _finished([install.tool("node"), RUNNER, install.install(), str(heap), read, program, *arguments])


ALL: dict[str, Run] = {"cpython": cpython, "micropython-x64": unix, "micropython-32-bit": webassembly}
