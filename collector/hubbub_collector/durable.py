"""Files that are either wholly there after a crash, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

TEMPORARY = ".tmp"
"""Ends the name of a file that is still being written; a crash may leave one, and it is never read."""


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Writes ``path`` through a temporary name: content on stable storage first, then the name. Raises OSError."""
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Puts the names in ``path`` on stable storage."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_directories(path: Path, below: Path) -> None:
    """Makes ``path`` and its parents under ``below``, which exists, and puts their names on stable storage."""
    path.mkdir(parents=True, exist_ok=True)
    while path != below:
        path = path.parent
        sync_directory(path)
