"""The file of values, one device a line, read as a stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hubbub_simulations.errors import ValuesFileError


@contextmanager
def open_values(path: Path) -> Iterator[BinaryIO]:
    """The file, open for reading bytes. Raises ValuesFileError where it cannot be."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise ValuesFileError(f"{path}: cannot be read ({error.strerror}); name a file with one value a line") from None
    with file:
        yield file


def read_values(file: BinaryIO, name: str) -> Iterator[str]:
    """The value of each line of UTF-8; blank lines are passed over, and so is a byte order mark.

    Raises ValuesFileError at the first line that is not UTF-8; ``name`` is what the message calls the file.
    """
    try:
        for number, line in enumerate(file, start=1):
            try:
                value = line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n").removesuffix("\r")
            except UnicodeDecodeError:
                raise ValuesFileError(f"{name}, line {number}: is not UTF-8; save the file as UTF-8") from None
            if value.strip():
                yield value
    except OSError as error:
        raise ValuesFileError(f"{name}: cannot be read ({error.strerror}); name a file of text") from None


def in_two(line: str, split: bool) -> tuple[str | None, str]:
    """The value of the public dimension, before the first tab, and the line's own; None where ``split`` is not so."""
    cell, found, value = line.partition("\t")
    return (cell, value) if split and found else (None, line)


def count_values(path: Path) -> int:
    """How many values the file holds. Raises ValuesFileError, as ``read_values`` does."""
    with open_values(path) as file:
        return sum(1 for _ in read_values(file, str(path)))
