"""Periods, by number and by date."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

import numpy as np

from hubbub_decoder.errors import ArgumentError

_DAY = 86400
_NAMED = 12


def numbers_of(asked: object, seconds: int) -> range:
    """The numbers that ``asked`` stands for, with periods of ``seconds``: itself, or all that hold part of that day.

    Days are UTC, as periods are. Numbers may be numpy's. Raises ArgumentError for anything else.
    """
    if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool):
        return range(int(asked), int(asked) + 1)
    if isinstance(asked, datetime.datetime) or not isinstance(asked, datetime.date):
        raise ArgumentError(f"periods: {asked!r} is not a period's number (an int) or a datetime.date; pass these")
    start = (asked - datetime.date(1970, 1, 1)).days * _DAY
    return range(start // seconds, (start + _DAY - 1) // seconds + 1)


def named(periods: Iterable[int], seconds: int) -> str:
    """Periods for people: ``20787 (2026-11-30), 20788 (2026-12-01)``, the first few of them."""
    listed = sorted(periods)
    more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
    return ", ".join(f"{number} ({begins(number, seconds)})" for number in listed[:_NAMED]) + more


def begins(number: int, seconds: int) -> str:
    """When a period begins, for people: a date, and a time (UTC) where periods are no whole days."""
    start = start_of(number, seconds)
    if start is None:
        return "in no calendar"
    return start.strftime("%Y-%m-%d" if seconds % _DAY == 0 else "%Y-%m-%dT%H:%MZ")


def start_of(number: int, seconds: int) -> datetime.datetime | None:
    """When a period begins (UTC); None where that is in no calendar."""
    try:
        return datetime.datetime.fromtimestamp(number * seconds, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return None
