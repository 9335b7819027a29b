"""What is damaged."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """Damage in ``file``, at ``where`` in it (a page, a row, a frame of the log, or nothing), and ``what`` it is."""

    file: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.where + ': ' if self.where else ''}{self.what}"
