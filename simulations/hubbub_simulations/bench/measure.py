"""Measures two things in turn, so that what slows the machine down slows both."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

Timer: TypeAlias = Callable[[int], float]
"""Seconds that one call took, over the given number of calls in a row."""


@dataclass(frozen=True)
class Comparison:
    """One line of the benchmark: ``subject`` took ``seconds``, the ``reference`` took ``reference_seconds``."""

    subject: str
    seconds: float
    reference: str
    reference_seconds: float | None
    """None where the reference could not be run: it is then reported as n/a."""
    wanted: str
    """The condition in words; empty where the figure is for information."""
    met: bool | None
    """Whether the condition holds; None where there is none, or it cannot be told."""

    @property
    def ratio(self) -> float | None:
        """``seconds / reference_seconds``."""
        return None if self.reference_seconds is None else self.seconds / self.reference_seconds

    def to_dict(self) -> dict[str, Any]:
        """The fields and the ratio, for JSON."""
        return {**asdict(self), "ratio": self.ratio}


def timer(call: Callable[[], object]) -> Timer:
    """Times ``call`` in this process, with the garbage collector off as ``timeit`` has it.

    In processor time: what the process waited for others is not counted, only what they took out of its cache.
    """
    return lambda number: timeit.timeit(call, timer=time.process_time, number=number) / number


def in_rounds(*timers: Timer, number: int, repeats: int) -> list[tuple[float, ...]]:
    """The seconds of each in each of ``repeats`` rounds; a round measures all of them, one right after the other."""
    rounds = [[seconds(number) for seconds in timers] for _ in range(repeats)]
    return list(zip(*rounds, strict=True))


def in_turn(*timers: Timer, number: int, repeats: int) -> list[float]:
    """The least seconds of each over ``repeats`` rounds.

    The least is the figure that other processes disturbed least, so rounds should be many and short.
    """
    return [min(column) for column in in_rounds(*timers, number=number, repeats=repeats)]


def at_most(seconds: float, reference: float | None, factor: float) -> bool | None:
    """Whether ``seconds <= factor * reference``; None where there is no reference."""
    return None if reference is None else seconds <= factor * reference
