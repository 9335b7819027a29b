"""Which code counted: an entry made by another version of the decoder is not used, whatever the version is called."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable


@cache
def code_digest() -> bytes:
    """SHA-256 over the decoder's own sources, file by file. A few milliseconds, once a process.

    A release that counts or screens in another way must not show figures that an older one counted, and a number that
    somebody has to remember to raise is one that is forgotten.
    """
    digest = hashlib.sha256()
    for name, source in sorted(_sources(files("hubbub_decoder"), "")):
        content = source.read_bytes()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.digest()


def _sources(folder: Traversable, path: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _sources(entry, f"{path}{entry.name}/")
        elif entry.name.endswith(".py"):
            found.append((path + entry.name, entry))
    return found
