"""The file of values, one device a line, read as a stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hubbub_registry import Metric
from hubbub_simulations.errors import ValuesFileError


class Tabs:
    """How lines of ``metric`` are written, and the first one that has fewer tabs than that."""

    def __init__(self, metric: Metric) -> None:
        before = () if metric.dimension is None else (metric.dimension.name,)
        self._shape = (*before, *(("FIRST", "SECOND") if metric.parts else ("VALUE",)))
        self._first: int | None = None
        self._lines = 0

    def see(self, number: int, line: str) -> None:
        """Takes a line, and its number in the file."""
        if line.count("\t") < len(self._shape) - 1:
            self._first = number if self._first is None else self._first
            self._lines += 1

    def note(self) -> str | None:
        """What is wrong with the first such line; None where there is none."""
        if self._first is None:
            return None
        lacks = "no tab" if len(self._shape) == 2 else "too few tabs"
        more = f", and so have {self._lines - 1:,} more" if self._lines > 1 else ""
        return f"line {self._first} has {lacks}{more}: write {'<tab>'.join(self._shape)}"


@contextmanager
def open_values(path: Path) -> Iterator[BinaryIO]:
    """The file, open for reading bytes. Raises ValuesFileError where it cannot be."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise ValuesFileError(f"{path}: cannot be read ({error.strerror}); name a file with one value a line") from None
    with file:
        yield file


def read_values(file: BinaryIO, name: str, tabs: Tabs | None = None) -> Iterator[str]:
    """The value of each line of UTF-8; blank lines are passed over, and so is a byte order mark.

    ``tabs`` is told of each line. Raises ValuesFileError at the first line that is not UTF-8; ``name`` is what the
    message calls the file.
    """
    try:
        for number, line in enumerate(file, start=1):
            try:
                value = line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n").removesuffix("\r")
            except UnicodeDecodeError:
                raise ValuesFileError(f"{name}, line {number}: is not UTF-8; save the file as UTF-8") from None
            if value.strip():
                if tabs is not None:
                    tabs.see(number, value)
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
