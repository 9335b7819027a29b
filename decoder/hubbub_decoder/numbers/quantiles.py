"""Quantiles of a number, with intervals that hold wherever its values lie."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.errors import ArgumentError, EstimateError
from hubbub_decoder.numbers.distribution import Distribution
from hubbub_decoder.numbers.result import RangeResult, check_level, deviations

IntArray = npt.NDArray[np.int64]
USUAL = (0.05, 0.25, 0.5, 0.75, 0.95)
# No level is gone down to past the one at which an interval has so many nodes.
_NODES = 3


class QuantileInterval(NamedTuple):
    """Lower and upper ends, integers of the range; arrays of shape (d,)."""

    low: IntArray
    high: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Quantiles(RangeResult):
    """For each of ``d`` probabilities p the smallest value that a share p of the devices' values does not exceed.

    All arrays have shape (d,), and all but ``probability`` are in the unit of the values, integers of the range. A
    bucket's values are taken to be spread evenly over its integers where a quantile lies in it; intervals hold wherever
    in it they are.
    """

    probability: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.probability)

    @property
    def quantile(self) -> IntArray:
        """The likeliest: where the shares that are not negative reach p; held within the interval at ``level``."""
        below, first = self.distribution.likely_below, self.distribution.first
        found = []
        for p in self.probability:
            bucket = int(np.searchsorted(below[1:-1], p, side="left"))
            inside = min(max((p - below[bucket]) / (below[bucket + 1] - below[bucket]), 0.0), 1.0)
            integers = int(first[bucket + 1] - first[bucket])
            found.append(int(first[bucket]) + max(math.ceil(inside * integers), 1) - 1)
        low, high = self.confidence_interval()
        return np.clip(np.array(found, np.int64), low, high)

    @property
    def std_error(self) -> FloatArray:
        """Half the interval of level 0.95 in normal deviations of that level, whatever ``level`` is."""
        low, high = self.confidence_interval(0.95)
        return (high - low) / (2 * deviations(0.95))

    @property
    def low(self) -> IntArray:
        """The lower end of each interval at ``level``."""
        return self.confidence_interval().low

    @property
    def high(self) -> IntArray:
        """The upper end of each interval at ``level``."""
        return self.confidence_interval().high

    def confidence_interval(self, level: float | None = None) -> QuantileInterval:
        """Intervals that each cover the true quantile with probability ``level`` at least (default: ``self.level``).

        A bucket can hold the quantile unless the share below it is surely above p, or the share up to its end surely
        below: by more than the standard errors of a two-sided test. That is a test of each bucket by itself, so it is
        right whether many values, few or none lie around the quantile. But the shares of neighbours scatter, and of all
        buckets that pass the first may be far out by chance. So nodes are tested from the top of the tree down, each
        level within what the one above leaves, until the interval is a few nodes long; then only its first and last
        node are looked into. Raises EstimateError for a level that is not strictly between 0 and 1.
        """
        level = self.level if level is None else level
        check_level(level)
        error = self.distribution.below_error
        found = [buckets_within(self.distribution, error, p, deviations(level)) for p in self.probability]
        start, end = np.array(found, np.int64).T
        return QuantileInterval(self.distribution.first[start], self.distribution.first[end] - 1)

    def columns(self, *, consistent: bool = False) -> dict[str, Sequence[Any]]:  # noqa: ARG002 - one signature
        """Name -> column; none for ``consistent``, since quantiles lie in the range, and in order, anyway."""
        low, high = self.confidence_interval()
        return {
            "probability": list(self.probability),
            "quantile": self.quantile.tolist(),
            "std_error": self.std_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
        }


def buckets_within(distribution: Distribution, error: FloatArray, p: float, deviation: float) -> tuple[int, int]:
    """The first bucket that can hold the quantile at p, and the one after the last.

    ``error`` are the standard errors of the shares below each bucket, shape (buckets + 1,). ``confidence_interval``
    says how the buckets are found.
    """
    below, reach = distribution.below, deviation * error
    not_above, not_below = below - reach <= p, below + reach >= p

    def passing(start: int, end: int, size: int) -> tuple[int, int]:
        """The first node from ``start`` to ``end`` that passes, and the last one's end; all if none does."""
        nodes = np.flatnonzero(not_above[start:end:size] & not_below[start + size : end + 1 : size])
        return (start + int(nodes[0]) * size, start + int(nodes[-1] + 1) * size) if len(nodes) else (start, end)

    start, end, size = 0, distribution.buckets, distribution.buckets
    for level in distribution.levels:
        size = distribution.buckets // level.nodes
        start, end = passing(start, end, size)
        if end - start >= _NODES * size:
            break
    return passing(start, start + size, 1)[0], passing(end - size, end, 1)[1]


def quantiles_of(distribution: Distribution, probabilities: Iterable[float]) -> Quantiles:
    """The quantiles at these probabilities. Raises ArgumentError, EstimateError."""
    return Quantiles(distribution, tuple(check_probabilities(distribution.metric, probabilities)))


def check_probabilities(metric: str, probabilities: object) -> list[float]:
    """As a list of floats. Raises ArgumentError, and EstimateError for none or one that is not between 0 and 1."""
    single = isinstance(probabilities, (str, bytes)) or getattr(probabilities, "ndim", 1) == 0
    if single or not isinstance(probabilities, Iterable):
        raise ArgumentError(f"quantiles: probabilities are {probabilities!r}, not a list of numbers; pass [0.5, 0.9]")
    chosen = []
    for p in probabilities:
        if isinstance(p, bool) or not isinstance(p, (int, float, np.floating, np.integer)):
            raise ArgumentError(f"quantiles: a probability is {p!r}, not a number; pass [0.5, 0.9]")
        if not 0 < p < 1:
            raise EstimateError(
                f"metric {metric}: quantile {p!r} is not strictly between 0 and 1; the median is 0.5, and the lowest "
                "and the highest value of all cannot be told"
            )
        chosen.append(float(p))
    if not chosen:
        raise EstimateError(f"metric {metric}: no quantile is asked for; name one, such as 0.5")
    return chosen
