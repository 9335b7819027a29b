"""Descriptors held back, so that a worker whose connections have used up all others can still read its own files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

_NUMBER = 8


class SpareFiles:
    """Used on the event loop's thread, which is the one that accepts connections: none is accepted in between."""

    def __init__(self) -> None:
        self._held: list[int] = []
        self._hold()

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        """Lets the block open a few files, and holds as many again behind it."""
        self.close()
        try:
            yield
        finally:
            self._hold()

    def _hold(self) -> None:
        with contextlib.suppress(OSError):  # another thread took some; there are more the next time
            while len(self._held) < _NUMBER:
                self._held.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))

    def close(self) -> None:
        """Gives them back."""
        while self._held:
            os.close(self._held.pop())
