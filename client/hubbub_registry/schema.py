"""Reads the common keys of a metric, strictly: every key is known, every problem is collected with its place."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from hubbub_registry.errors import Problem
from hubbub_registry.lists import ListError, read_list, tidy
from hubbub_registry.mechanisms import Key

MAX_EPSILON = 16
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_MISSING = object()


class Table:
    """A TOML table being read: ``take`` hands out keys with checks, ``finish`` reports those nobody took."""

    def __init__(self, where: str, table: Mapping[str, Any], problems: list[Problem]) -> None:
        self.where = where
        self._left = dict(table)
        self._problems = problems

    def problem(self, key: str, what: str, remedy: str) -> None:
        """Notes that ``key`` is wrong."""
        self._problems.append(Problem(f"{self.where}.{key}" if key else self.where, what, remedy))

    def has(self, key: str) -> bool:
        """Whether the key is there and not yet taken."""
        return key in self._left

    def take(self, key: str, default: Any = _MISSING) -> Any:
        """The raw value of ``key``; None (and a problem, unless there is a default) where it is missing."""
        if key in self._left:
            return self._left.pop(key)
        if default is _MISSING:
            self.problem(key, "is missing", "write it")
            return None
        return default

    def text(self, key: str, default: Any = _MISSING) -> str:
        """A text that is not blank; empty where there is none."""
        value = self.take(key, default)
        if value is None:
            return ""
        if not isinstance(value, str) or (not value.strip() and default is _MISSING):
            self.problem(key, f"{value!r} is not a text", "write a text that says something")
            return ""
        return value

    def number(self, key: str, default: Any = _MISSING) -> Fraction | None:
        """A positive epsilon, as the exact decimal that was written."""
        value = self.take(key, default)
        if value is None:
            return None
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, Decimal))
            or not Decimal(value).is_finite()
            or value <= 0
        ):
            self.problem(key, f"{value!s} is not a positive number", "write an epsilon above 0")
            return None
        return Fraction(value)

    def integer(self, key: str, low: int, high: int, default: Any = _MISSING) -> int | None:
        """An integer in [low, high]."""
        value = self.take(key, default)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.problem(key, f"{value!s} is not an integer from {low} to {high}", "write one")
            return None
        return value

    def by_key(self, name: str, key: Key) -> Any:
        """A mechanism's own key, by its description; None where it is missing or wrong."""
        default = _MISSING if key.required else key.default
        if key.kind == "integer":
            return self.integer(name, key.low, key.high, default)
        if key.kind == "power-of-two":
            number = self.integer(name, key.low, key.high, default)
            if number is not None and number & (number - 1):
                self.problem(
                    name,
                    f"{number} is no power of two",
                    f"write {1 << (number.bit_length() - 1)} or {1 << number.bit_length()}",
                )
                return None
            return number
        value = self.take(name, default)
        if value is None:
            return None
        if key.kind == "choice":
            if value not in key.choices:
                self.problem(name, f"{value!r} is not a choice", f"write one of {', '.join(key.choices)}")
                return None
            return value
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)) or not 0 < value < 1:
            self.problem(name, f"{value!s} is not a probability strictly between 0 and 1", "write one, such as 0.5")
            return None
        return Fraction(value)

    def finish(self, known: str) -> None:
        """Every key that is left is unknown: a mistyped key must not be a silent default."""
        for key in self._left:
            self.problem(key, "is not a key hubbub knows here", f"correct or remove it; known: {known}")


def read_period(table: Table) -> int | None:
    """``period`` in seconds."""
    value = table.text("period")
    if not value:
        return None
    match = re.fullmatch(r"([1-9][0-9]{0,8})([smhdw])", value)
    if match is None:
        table.problem(
            "period", f"{value!r} is not a period", 'write a number and a unit of s, m, h, d or w, such as "7d"'
        )
        return None
    return int(match[1]) * _UNITS[match[2]]


def read_expires(table: Table) -> datetime.date | None:
    """``expires``, a TOML date."""
    value = table.take("expires")
    if value is None:
        return None
    if isinstance(value, datetime.datetime) or not isinstance(value, datetime.date):
        table.problem("expires", f"{value!s} is not a date", "write a TOML date without quotes, such as 2027-06-30")
        return None
    return value


def read_epsilon(table: Table) -> Fraction | None:
    """``epsilon`` of one report."""
    value = table.number("epsilon")
    if value is not None and value > MAX_EPSILON:
        table.problem("epsilon", f"{float(value):g} protects nobody", f"write one of at most {MAX_EPSILON}")
        return None
    return value


def read_lifetime(table: Table) -> tuple[Fraction | None, str]:
    """``lifetime_epsilon`` (None for "unbounded") and the justification that "unbounded" needs."""
    unbounded = table.has("lifetime_epsilon") and table.take("lifetime_epsilon", None)
    if unbounded == "unbounded":
        return None, table.text("unbounded_justification")
    if table.has("unbounded_justification"):
        table.problem(
            "unbounded_justification", "justifies nothing", 'say lifetime_epsilon = "unbounded", or remove it'
        )
        table.take("unbounded_justification")
    probe = Table(table.where, {} if unbounded is False else {"lifetime_epsilon": unbounded}, table._problems)
    return probe.number("lifetime_epsilon"), ""


def read_salt(table: Table) -> int | None:
    """``salt`` as an integer, where the registry fixes it: sixteen hexadecimal digits."""
    if not table.has("salt"):
        return None
    value = table.text("salt")
    if value and re.fullmatch(r"[0-9a-f]{16}", value) is None:
        table.problem("salt", f"{value!r} is not a salt", "write sixteen hexadecimal digits, or leave it out")
        return None
    return int(value, 16) if value else None


def read_values(table: Table, key: str, folder: Path) -> tuple[str, ...]:
    """A list of values written in the registry, or the name of a UTF-8 file with one a line."""
    raw = table.take(key)
    if raw is None:
        return ()
    try:
        if isinstance(raw, str):
            return read_list(folder / raw)
        if isinstance(raw, list):
            return tidy(raw)
    except ListError as error:
        table.problem(key, error.what, error.remedy)
        return ()
    table.problem(key, f"{raw!r} is neither a list of texts nor a file name", "write one of the two")
    return ()


def read_silence(table: Table, known: frozenset[str]) -> dict[str, str]:
    """``[metrics.NAME.silence]``: lint -> the reason why it does not apply here."""
    raw = table.take("silence", {})
    if not isinstance(raw, dict):
        table.problem("silence", "is not a table", 'write a table of lint = "reason"')
        return {}
    for lint, reason in raw.items():
        if lint not in known:
            table.problem(
                f"silence.{lint}", "is not a check that can be silenced", f"name one of {', '.join(sorted(known))}"
            )
        elif not isinstance(reason, str) or len(reason.strip()) < 10:
            table.problem(
                f"silence.{lint}", "has no written reason", "write, in a sentence, why it does not apply here"
            )
    return raw
