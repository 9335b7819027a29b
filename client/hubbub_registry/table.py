"""Reads one TOML table strictly: every key is known, and every problem is collected with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hubbub_registry.errors import Problem

# What stands in for a reason must at least be able to be one.
_SHORTEST_REASON = 10


class Table:
    """A TOML table being read: ``take`` hands out keys with checks, ``finish`` reports those nobody took.

    ``where`` is its TOML path, ``problems`` the caller's list, one for all tables of a file. A reader returns
    None (``text`` and ``reason``: an empty text) where its key is missing or wrong, and notes the problem.
    """

    def __init__(self, where: str, table: object, problems: list[Problem]) -> None:
        self.where = where
        self.problems = problems
        self._left: dict[str, Any] = {}
        if isinstance(table, Mapping):
            self._left.update(table)
        else:
            self.problems.append(Problem(where, "is not a table", f"write [{where}]"))

    def problem(self, key: str, what: str, remedy: str) -> None:
        """Notes that ``key`` is wrong."""
        self.problems.append(Problem(f"{self.where}.{path_of(key)}" if key else self.where, what, remedy))

    def has(self, key: str) -> bool:
        """Whether the key is there and not yet taken."""
        return key in self._left

    def peek(self, key: str) -> Any:
        """The raw value of ``key``, which stays to be taken; None where it is missing."""
        return self._left.get(key)

    def take(self, key: str) -> Any:
        """The raw value of ``key``; None, and a problem, where it is missing."""
        if key not in self._left:
            self.problem(key, "is missing", "write it")
        return self._left.pop(key, None)

    def text(self, key: str) -> str:
        """A text that is not blank."""
        value = self.take(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.problem(key, f"{shown(value)} is not a text", "write a text that says something")
            value = None
        return value or ""

    def reason(self, key: str, remedy: str) -> str:
        """A written reason: a text long enough to be one."""
        value = self._left.pop(key, None)
        if not isinstance(value, str) or len(value.strip()) < _SHORTEST_REASON:
            self.problem(key, "has no written reason", remedy)
            return ""
        return value

    def positive(self, key: str, high: int, too_high: str, remedy: str) -> Fraction | None:
        """A number in (0, ``high``], as the exact decimal that was written. ``too_high`` says what is wrong above."""
        value = self.take(key)
        if value is None:
            return None
        if not _is_number(value) or value <= 0:
            self.problem(key, f"{shown(value)} is not a positive number", remedy)
        elif value > high:
            self.problem(key, f"{shown(value)} {too_high}", remedy)
        elif isinstance(value, Decimal) and value.adjusted() < -12:
            self.problem(key, f"{shown(value)} is as good as 0", remedy)
        else:
            return Fraction(value)
        return None

    def probability(self, key: str) -> Fraction | None:
        """A number strictly between 0 and 1, as the exact decimal that was written."""
        value = self.take(key)
        if value is None:
            return None
        # Closer to 0 or 1 than this no 32-bit threshold can tell it from them; and an exponent could be any size.
        if not _is_number(value) or not 0 < value < 1 or Decimal(value).adjusted() < -12:
            self.problem(key, f"{shown(value)} is not a probability strictly between 0 and 1", "write one, such as 0.5")
            return None
        return Fraction(value)

    def integer(self, key: str, low: int, high: int) -> int | None:
        """An integer in [low, high]."""
        value = self.take(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.problem(key, f"{shown(value)} is not an integer from {low} to {high}", "write one")
            return None
        return value

    def power_of_two(self, key: str, low: int, high: int) -> int | None:
        """A power of two in [low, high]."""
        value = self.integer(key, low, high)
        if value is None or value & (value - 1) == 0:
            return value
        below, above = 1 << (value.bit_length() - 1), 1 << value.bit_length()
        self.problem(key, f"{value} is no power of two", f"write {below} or {above}")
        return None

    def choice(self, key: str, choices: tuple[str, ...]) -> str | None:
        """One of ``choices``."""
        value = self.take(key)
        if value is None or (isinstance(value, str) and value in choices):
            return value
        self.problem(key, f"{shown(value)} is not a choice", f"write one of {', '.join(choices)}")
        return None

    def finish(self, known: str) -> None:
        """Every key that is left is unknown: a mistyped key must not be a silent default."""
        for key in self._left:
            self.problem(key, "is not a key hubbub knows here", f"correct or remove it; known: {known}")


def path_of(*keys: str) -> str:
    """A TOML path: keys joined by dots, in quotes where TOML needs them."""
    return ".".join(
        key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False) for key in keys
    )


def shown(value: object) -> str:
    """A raw TOML value as a message shows it: on one line, and short."""
    text = repr(str(value)) if isinstance(value, str) else str(value)
    if isinstance(value, bool):
        text = text.lower()
    return text if len(text) <= 60 else text[:57] + "..."


def _is_number(value: object) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, Decimal) and value.is_finite()
    )
