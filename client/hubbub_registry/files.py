"""Writes a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Puts ``data`` at ``path``: after a crash at any point there is the old file or the new one, never a part.

    Written beside it, flushed to the disk, then renamed. A symbolic link keeps pointing where it did, and what is no
    regular file (a terminal, a pipe) is written straight to. Raises OSError, and leaves nothing behind.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        # The usual permissions for a new file, which a temporary file of the standard library would not have.
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            error.filename = str(path)  # the name the caller knows
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
