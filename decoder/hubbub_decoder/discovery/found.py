"""What is asked of a search, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hubbub_decoder.errors import ArgumentError

MOST_KEPT = 1 << 14


def _nothing(_share: float) -> None:
    """Nobody is told."""


@dataclass(frozen=True)
class Options:
    """``kept`` bounds the work: so many beginnings (or fragments of one place) are followed at a time, at most.

    ``progress`` is told which share of the search is done, from 0 to 1. ``alphabet`` holds the characters that strings
    are made of, for a mechanism that has to try them all; None is a usual one. Raises ArgumentError.
    """

    kept: int = 256
    progress: Callable[[float], None] = _nothing
    alphabet: str | None = None

    def __post_init__(self) -> None:
        if type(self.kept) is not int or not 1 <= self.kept <= MOST_KEPT:
            raise ArgumentError(f"kept is an integer from 1 to {MOST_KEPT}, not {self.kept!r}; 256 is usual")
        if self.alphabet is not None and not _is_text(self.alphabet):
            raise ArgumentError(f'an alphabet is a text of its characters, such as "abc", not {self.alphabet!r}')


def _is_text(alphabet: object) -> bool:
    """Whether it has a character, and no half of one (a lone surrogate)."""
    return isinstance(alphabet, str) and alphabet != "" and not any("\ud800" <= each <= "\udfff" for each in alphabet)


@dataclass(frozen=True)
class Found:
    """Strings that reports point to, still to be tested; ``notes`` say what a reader of the list must know."""

    values: tuple[str, ...]
    notes: tuple[str, ...] = ()
