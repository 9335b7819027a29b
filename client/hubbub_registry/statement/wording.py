"""How figures, lists and spans of time are put into words. Every figure is rounded up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from hubbub_registry.accounting import Spending
from hubbub_registry.metric import Metric
from hubbub_registry.statement.document import Code
from hubbub_registry.summary.for_people import decimal_up

DECIMALS = 4
_UNITS = (("week", 604800), ("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))
NOT_STATED = "not stated"
UNBOUNDED = "no bound"


def figure(epsilon: Fraction | None) -> str:
    """An epsilon as the statement prints it; ``UNBOUNDED`` where there is none."""
    return UNBOUNDED if epsilon is None else decimal_up(epsilon, DECIMALS)


def figures(spent: Spending) -> tuple[str, str, str, str]:
    """Per report, per period, per year, in a lifetime."""
    return figure(spent.per_report), figure(spent.per_period), figure(spent.per_year), figure(spent.lifetime)


def percent_up(share: Fraction) -> str:
    """A share of 1 in percent, rounded up to one decimal, but never to 100 where it is less."""
    if 999 < share * 1000 < 1000:
        return "over 99.9 %"
    return f"{decimal_up(share * 100, 1)} %"


def integer(number: int) -> str:
    """An integer with its thousands apart."""
    return f"{number:,}"


def count(number: int, noun: str) -> str:
    """``1 metric``, ``2 metrics``."""
    return f"{integer(number)} {noun}{'' if number == 1 else 's'}"


def every(seconds: int) -> str:
    """A period: ``day``, ``30 days``."""
    name, length = next((name, length) for name, length in _UNITS if seconds % length == 0)
    if name == "week" and seconds > length:
        name, length = "day", 86400  # 14 days, since few people count in weeks
    return name if seconds == length else count(seconds // length, name)


def named(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """The names of some metrics: ``a``, ``b`` and ``c``."""
    return listed([Code(metric.name) for metric in metrics])


def listed(words: Iterable[str]) -> tuple[str, ...]:
    """Some words with commas and an "and" between them."""
    words = list(words)
    pieces: list[str] = []
    for position, word in enumerate(words):
        if position:
            pieces.append(" and " if position == len(words) - 1 else ", ")
        pieces.append(word)
    return tuple(pieces)


def said(text: str) -> str:
    """What the registry says, or that it says nothing."""
    return text or NOT_STATED
