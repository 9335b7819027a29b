"""What is asked of a registry: over how long, at which delta, in how large a batch, for whom, against which prior."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from hubbub_registry.composition.errors import AccountingError

DEFAULT_HORIZON = "1y"
DEFAULT_DELTA = "1e-6"
MOST_SECONDS = 100 * 365 * 86400
SMALLEST_DELTA, LARGEST_DELTA = Fraction(1, 10**12), Fraction(1, 10)
LARGEST_BATCH = 10**7
LARGEST_HOUSEHOLD = 1000
_UNITS = {"y": 365 * 86400, "w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}
_DECIMAL = re.compile(r"\d{1,20}(\.\d{1,30})?([eE][+-]?\d{1,2})?|\.\d{1,30}")


@dataclass(frozen=True)
class Question:
    """``horizon`` in seconds; ``delta`` exact; ``batch`` and ``prior`` None where not asked for."""

    horizon: int
    delta: Fraction
    batch: int | None = None
    household: int = 1
    prior: Fraction | None = None


def read_horizon(text: str) -> int:
    """Seconds of ``5y``, ``52w``, ``90d``, ``12h``, ``30m`` or ``3600s``; a year has 365 days. At most 100 years."""
    match = re.fullmatch(r"(\d{1,10})([ywdhms])", text, re.ASCII)
    seconds = int(match[1]) * _UNITS[match[2]] if match else 0
    if not 0 < seconds <= MOST_SECONDS:
        raise AccountingError(f"--horizon: {text!r} is not a time up to 100 years; write one such as 5y, 52w or 90d")
    return seconds


def read_delta(text: str) -> Fraction:
    """A delta from 1e-12 to 0.1, as the exact decimal that was written."""
    value = _decimal(text)
    if value is None or not SMALLEST_DELTA <= value <= LARGEST_DELTA:
        raise AccountingError(
            f"--delta: {text!r} is not a number from 1e-12 to 0.1; write one far below 1 over the number of devices"
        )
    return value


def read_prior(text: str) -> Fraction:
    """A probability strictly between 0 and 1, as the exact decimal that was written."""
    value = _decimal(text)
    if value is None or not 0 < value < 1:
        raise AccountingError(f"--prior: {text!r} is not a probability strictly between 0 and 1; write one such as 0.1")
    return value


def read_batch(text: str) -> int:
    """How many reports of different devices are shuffled together: 2 to 10,000,000.

    A larger batch hides at least as well as the largest that can be asked for."""
    return _integer("--shuffled-batch", text, 2, LARGEST_BATCH, "reports in a batch")


def read_household(text: str) -> int:
    """How many devices change together: 1 to 1,000."""
    return _integer("--household", text, 1, LARGEST_HOUSEHOLD, "devices")


def _decimal(text: str) -> Fraction | None:
    return Fraction(text) if re.fullmatch(_DECIMAL, text) and text.isascii() else None


def _integer(option: str, text: str, low: int, high: int, noun: str) -> int:
    value = int(text) if re.fullmatch(r"\d{1,12}", text, re.ASCII) else -1
    if not low <= value <= high:
        raise AccountingError(f"{option}: {text!r} is not a number of {noun}; write an integer from {low} to {high}")
    return value
