"""A disk that fails on demand, under a real collector: see ``disk_faults.c``."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("disk_faults.c")


class Disk:
    """Its faults are files in ``folder``; ``data`` is the folder whose files they are of."""

    def __init__(self, folder: Path, data: Path) -> None:
        """Compiles the library. Fails the test where there is no C compiler: what it shows must not go unseen."""
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None:
            pytest.fail("these tests need a C compiler (Debian: apt-get install gcc libc6-dev)")
        self._folder = folder
        library = folder / "disk_faults.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
        self.environment = {
            **os.environ, "LD_PRELOAD": str(library), "HUBBUB_FAULTS": str(folder), "HUBBUB_FAULTS_DATA": str(data),
        }  # fmt: skip

    def fail(self, kind: str) -> None:
        """From now on: ``fsync`` or ``full``."""
        (self._folder / kind).touch()

    def recover(self, kind: str) -> None:
        """Not any more."""
        (self._folder / kind).unlink()

    def log(self) -> list[tuple[str, str]]:
        """Each fsync so far: ``synced`` or ``failed``, and the file's name."""
        lines = (self._folder / "log").read_text().splitlines()
        return [(outcome, name) for outcome, _, name in (line.partition(" ") for line in lines)]
