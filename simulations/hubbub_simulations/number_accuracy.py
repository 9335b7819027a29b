"""Do the intervals of quantiles and ranges cover? Many seeded runs of encode and decode over populations of each shape.

A population is fixed; a run draws every device's noise anew. An interval of a quantile is right where the true one is
in it. Where many values are equal, or none lie near, no interval of buckets can cover just so often as it says: there
it must cover at least so often.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub_decoder import partial, quantiles, ranges
from hubbub_decoder.numbers import Quantiles, Ranges
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, Floats
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

Values = NDArray[np.int64]
Answers = tuple[Quantiles, Ranges]
PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class NumberStudy:
    """A population of ``reports`` devices over ``buckets`` integers from 0 on, and how private they are."""

    population: str
    epsilon: float
    buckets: int
    reports: int

    @property
    def metric(self) -> Metric:
        """The metric, with the levels that the registry chooses."""
        keys = {"low": 0, "high": self.buckets - 1, "buckets": self.buckets}
        return define("hierarchical-histogram", epsilon=self.epsilon, **keys)

    @property
    def values(self) -> Values:
        """Each device's value; the same every time."""
        drawn = POPULATIONS[self.population](np.random.default_rng(11), self.buckets, self.reports)
        return np.clip(drawn, 0, self.buckets - 1).astype(np.int64)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Ranges of all widths: halves, ones that cut every level, a bucket, and around the population's middle."""
        d, middle = self.buckets, int(np.median(self.values))
        return [
            (0, d // 2), (d // 3, 2 * d // 3 + 1), (1, d - 1), (d // 5, d // 5 + 1), (0, 1), (middle, middle + 1),
            (max(0, middle - d // 16), min(d, middle + d // 16 + 1)),
        ]  # fmt: skip


@dataclass(frozen=True)
class NumberOutcome:
    """What the runs of a study gave: whether each nominal 95 % interval covered, ``(runs, d)``."""

    study: NumberStudy
    quantiles: NDArray[np.bool_]
    ranges: NDArray[np.bool_]
    ratio: Floats
    """Of each range, the measured standard error over the stated one; ``(d,)``, 0 where both are 0."""
    widths: Floats
    """The quantiles' mean interval widths, as a share of the range; ``(d,)``."""

    def to_dict(self) -> dict[str, Any]:
        """The figures, for CSV and JSON."""
        return {
            "population": self.study.population,
            "epsilon": self.study.epsilon,
            "buckets": self.study.buckets,
            "reports": self.study.reports,
            "runs": len(self.ranges),
            "ranges_95": float(self.ranges.mean()),
            "least_range_95": float(self.ranges.mean(axis=0).min()),
            "most_range_95": float(self.ranges.mean(axis=0).max()),
            "quantiles_95": float(self.quantiles.mean()),
            "least_quantile_95": float(self.quantiles.mean(axis=0).min()),
            "least_ratio": float(self.ratio[self.ratio > 0].min()),
            "most_ratio": float(self.ratio.max()),
            "widths": [round(float(width), 5) for width in self.widths],
        }


def run_numbers(
    study: NumberStudy, runs: int, seed: int, decoder: Callable[[NumberStudy, Metric, Bytes], Answers] | None = None
) -> NumberOutcome:
    """``runs`` independent runs, the same for the same ``seed``. ``decoder`` is given so that a broken one can be."""
    decoder = decoder or decode_numbers
    metric, values, rng = study.metric, study.values, np.random.default_rng(seed)
    items = [b"%d" % value for value in range(study.buckets)]
    in_order = np.sort(values)
    true_quantiles = in_order[np.ceil(np.array(PROBABILITIES) * len(values)).astype(np.int64) - 1]
    true_counts = np.array([np.count_nonzero((values >= low) & (values < high)) for low, high in study.pairs])
    covered, held, errors, stated, widths = [], [], [], [], []
    for _ in range(runs):
        found, counts = decoder(study, metric, encode(metric, items, values.astype(np.intp), rng))
        low, high = found.confidence_interval(0.95)
        covered.append((low <= true_quantiles) & (true_quantiles <= high))
        widths.append((high - low + 1) / study.buckets)
        interval = counts.confidence_interval(0.95)
        held.append((interval.low <= true_counts) & (true_counts <= interval.high))
        errors.append(counts.count - true_counts)
        stated.append(counts.std_error)
    measured, claimed = np.sqrt(np.mean(np.square(errors), axis=0)), np.sqrt(np.mean(np.square(stated), axis=0))
    ratio = np.divide(measured, claimed, out=np.zeros(len(claimed)), where=claimed > 0)
    return NumberOutcome(study, np.array(covered), np.array(held), ratio, np.mean(widths, axis=0))


def decode_numbers(study: NumberStudy, metric: Metric, records: Bytes) -> Answers:
    """The decoder itself."""
    state = partial(metric, records)
    return quantiles(metric, state, PROBABILITIES), ranges(metric, state, study.pairs)


def _half(value: float, others: Floats, rng: np.random.Generator) -> Floats:
    return np.where(rng.random(len(others)) < 0.5, value, others)


POPULATIONS: dict[str, Callable[[np.random.Generator, int, int], Floats]] = {
    "uniform": lambda rng, d, n: rng.integers(0, d, n).astype(np.float64),
    "log-normal": lambda rng, d, n: np.floor(rng.lognormal(np.log(d / 10), 0.8, n)),
    "point mass": lambda rng, d, n: _half(d // 3, rng.integers(0, d, n).astype(np.float64), rng),
    "two ends": lambda _, d, n: np.where(np.arange(n) < n // 2, 0.0, d - 1.0),
    "one bucket": lambda _, d, n: np.full(n, d // 5, np.float64),
    # Two thirds of the devices at 0 and 1, the others at ten values, and nobody in between.
    "few values": lambda rng, d, n: rng.choice(np.concatenate([[0] * 10, [1] * 10, rng.integers(0, d, 10)]), n) * 1.0,
}


def number_studies(reports: int) -> Sequence[NumberStudy]:
    """Every population at three epsilons, and the sizes of a small and of a large range."""
    return [
        NumberStudy(population, epsilon, buckets, reports)
        for epsilon, buckets in ((1.0, 256), (2.0, 1024), (4.0, 256), (4.0, 4096))
        for population in POPULATIONS
    ]
