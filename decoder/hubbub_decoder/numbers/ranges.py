"""How many devices' values lie in ranges of integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard

import numpy as np

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.errors import ArgumentError, EstimateError
from hubbub_decoder.estimates import ConfidenceInterval
from hubbub_decoder.numbers.distribution import Distribution
from hubbub_decoder.numbers.law import Law
from hubbub_decoder.numbers.result import RangeResult, check_level
from hubbub_decoder.statistics.score import Moments
from hubbub_registry import Metric


@dataclass(frozen=True, eq=False, repr=False)
class Ranges(RangeResult):
    """Estimated counts of ``d`` ranges among ``n`` reports, in the order in which they were asked for.

    ``buckets`` are the first bucket of each and the one after its last. ``count``, ``std_error``, ``low`` and ``high``
    are in reports, and ``count`` is unbiased, so it may be negative. Every array has shape (d,).
    """

    buckets: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.buckets)

    @property
    def range(self) -> tuple[str, ...]:
        """The first and the last integer of each, such as ``"0..99"``."""
        first = self.distribution.first
        return tuple(f"{first[start]}..{first[end] - 1}" for start, end in self.buckets)

    @cached_property
    def moments(self) -> Moments:
        """How each count is distributed, by its first three moments."""
        return Law.together([self.distribution.law_of(start, end) for start, end in self.buckets]).moments(self.n)

    @property
    def count(self) -> FloatArray:
        """How many of the n reports' values lie in each range."""
        return self.n * self.frequency

    @property
    def frequency(self) -> FloatArray:
        """``count / n``."""
        return np.array([self.distribution.unbiased(start, end) for start, end in self.buckets])

    @property
    def std_error(self) -> FloatArray:
        """The standard error of ``count``: noise, and that each report speaks of one level."""
        moments, inside = self.moments, np.clip(self.count, 0, self.n)
        return np.sqrt(np.maximum(moments.null_variance + moments.slope * inside, 0.0))

    @property
    def low(self) -> FloatArray:
        """The lower end of each interval at ``level``, in reports; may be negative."""
        return self.confidence_interval().low

    @property
    def high(self) -> FloatArray:
        """The upper end of each interval at ``level``, in reports."""
        return self.confidence_interval().high

    def confidence_interval(self, level: float | None = None) -> ConfidenceInterval:
        """Intervals in reports that each cover the true count with probability ``level`` (default: ``self.level``).

        Every count that a two-sided test does not reject, with the variance and the skewness that go with it. How many
        all devices are is known, and that interval a point. Raises EstimateError for a level that is not strictly
        between 0 and 1.
        """
        level = self.level if level is None else level
        check_level(level)
        low, high = self.moments.interval(self.count, 1 - level)
        known = np.array([end - start == self.distribution.buckets for start, end in self.buckets])
        return ConfidenceInterval(np.where(known, self.count, low), np.where(known, self.count, high))

    def consistent(self) -> FloatArray:
        """Counts that are not negative, and add up over ranges that do: biased, for charts; beside ``count``."""
        below = self.distribution.likely_below
        return np.array([self.n * (below[end] - below[start]) for start, end in self.buckets])

    def columns(self, *, consistent: bool = False) -> dict[str, Sequence[Any]]:
        """Name -> column, in the order in which every output shows them."""
        low, high = self.confidence_interval()
        table: dict[str, Sequence[Any]] = {
            "range": list(self.range),
            "count": self.count.tolist(),
            "frequency": self.frequency.tolist(),
            "std_error": self.std_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
        }
        if consistent:
            table["consistent"] = self.consistent().tolist()
        return table


def ranges_of(distribution: Distribution, pairs: Iterable[tuple[int, int]]) -> Ranges:
    """The counts of ranges of integers, each from its first to before its second. Raises ArgumentError, EstimateError.

    A range ends where buckets end: an end inside a bucket is moved to the nearer end of that, and a note says so.
    """
    first = distribution.first
    found, notes = [], []
    for low, high in checked_pairs(distribution.metric, (int(first[0]), int(first[-1])), pairs):
        start, end = (int(np.argmin(np.abs(first - each))) for each in (low, high))
        if start == end:
            bucket = int(np.searchsorted(first, low, side="right")) - 1
            raise EstimateError(
                f"metric {distribution.metric}: range {low}:{high} is a small part of the bucket "
                f"{first[bucket]}:{first[bucket + 1]}, within which nothing is known; ask for whole buckets"
            )
        found.append((start, end))
        if (first[start], first[end]) != (low, high):
            notes.append(
                f"range {low}:{high} cuts a bucket, within which nothing is known; what is counted is "
                f"{first[start]}:{first[end]}"
            )
    return Ranges(distribution, tuple(found), notes=tuple(notes))


def checked_ranges(metric: Metric, pairs: object) -> list[tuple[int, int]]:
    """``pairs`` as pairs of integers in the range of ``metric``. Raises ArgumentError, EstimateError."""
    p = metric.device.parameters
    low = p["low"] - p["below_zero"]
    return checked_pairs(metric.name, (low, low + p["span"] + 1), pairs)


def checked_pairs(metric: str, whole: tuple[int, int], pairs: object) -> list[tuple[int, int]]:
    """``pairs`` as pairs of integers within ``whole``. Raises ArgumentError, EstimateError."""
    if isinstance(pairs, (str, bytes)) or not isinstance(pairs, Iterable) or getattr(pairs, "ndim", 1) == 0:
        raise ArgumentError(f"ranges: {pairs!r} is no list of pairs; pass [(0, 100), (100, 500)]")
    found = []
    for pair in pairs:
        if not _is_pair(pair) or not all(_is_integer(end) for end in pair):
            raise ArgumentError(f"ranges: {pair!r} is no pair of integers; pass [(0, 100), (100, 500)]")
        low, high = int(pair[0]), int(pair[1])
        name = f"metric {metric}: range {low}:{high}"
        if low >= high:
            raise EstimateError(f"{name} is empty: it goes from the first to before the second; swap or spread them")
        if low < whole[0] or high > whole[1]:
            raise EstimateError(
                f"{name} leaves the metric's own, {whole[0]}:{whole[1]} (whose last is {whole[1] - 1}); stay within"
            )
        found.append((low, high))
    if not found:
        raise EstimateError(f"metric {metric}: no range is asked for; name one, such as (0, 100)")
    return found


def _is_pair(pair: object) -> TypeGuard[Sequence[Any]]:
    if isinstance(pair, np.ndarray):
        return bool(pair.shape == (2,))
    return isinstance(pair, Sequence) and len(pair) == 2


def _is_integer(end: object) -> bool:
    return isinstance(end, (int, np.integer)) and not isinstance(end, bool)
